#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# All programs of lib/programs_all.py under net6-run, beside native IPv6.
#
#	A [a0] ------ [b0] B	fd00::a, fd00::b
#
# guest: named
# guest-options: --memory 3G
# timeout: 1800
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import programs
import programs_all

programs.tests(programs_all.FEW + programs_all.MORE + programs_all.SIDE)
ktap.main(setup=programs.side_by_side)
