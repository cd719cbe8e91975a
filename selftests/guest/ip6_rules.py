#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Routing tables and rules of net6 in native's place (lib/ip6rules.py): the same answers as
# native's, which ip6_rules_native.py gets.
#
# guest-append: ipv6.disable=1
# timeout: 300
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import ip6rules

ip6rules.tests()
ktap.main(setup=ktap.net6_load)
