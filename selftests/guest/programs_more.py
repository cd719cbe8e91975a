#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The rest of the programs of lib/programs_all.py, unmodified, on net6 as the host's only IPv6.
#
#	A [a0] ------ [b0] B	fd00::a, fd00::b
#
# guest: named
# guest-append: ipv6.disable=1
# guest-options: --memory 3G
# timeout: 1500
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import programs
import programs_all

programs.tests(programs_all.MORE + programs_all.TAKEOVER)
ktap.main(setup=programs.takeover)
