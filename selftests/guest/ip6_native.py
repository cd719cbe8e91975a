#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What the native stack shows of IPv6 is what ip6_takeover.py wants net6 to show: the proof
# that lib/ip6views.json is true.
#
# guest: full
# timeout: 300
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import ip6asks
import ip6hops
import ip6neighbors
import ip6nexthops
import ip6metrics
import ip6source
import ip6views
import ip6tunnels
import ip6vrf
import rawlinks
import udptunnels

ip6views.tests()
ip6asks.tests()
ip6metrics.tests()
ip6source.tests()
ip6hops.tests()
ip6nexthops.tests()
ip6neighbors.tests()
ip6vrf.tests()
ip6tunnels.tests(native=True)
rawlinks.tests()
udptunnels.tests()
ktap.main(setup=lambda: ip6views.setup(native=True))
