#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The rest of the programs of lib/programs.py, unmodified, on net6 as the host's only IPv6.
#
#	A [a0] ------ [b0] B	fd00::a, fd00::b
#
# guest: named
# guest-append: ipv6.disable=1
# timeout: 600
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import programs

programs.tests(programs.MORE)
ktap.main(setup=programs.takeover)
