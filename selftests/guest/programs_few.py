#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Eight of the programs of lib/programs_all.py, unmodified, on net6 as the host's only IPv6.
#
#	A [a0] ------ [b0] B	fd00::a, fd00::b
#
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 180
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import programs
import programs_all

programs.tests(programs_all.FEW)
ktap.main(setup=programs.takeover)
