#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What the native stack answers about routing tables and rules is what ip6_rules.py wants of net6:
# the proof that lib/ip6rules.py is true.
#
# guest: full
# timeout: 300
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import ip6rules

ip6rules.tests()
ktap.main()
