#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# With native IPv6 switched off, iproute2 and /proc/net show net6's addresses, routes,
# neighbors, groups and sockets as they show native's, field by field (lib/ip6views.py).
#
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 120
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import ip6views


def setup():
    ktap.net6_load()
    ip6views.setup(native=False)


ip6views.tests()
ktap.main(setup=setup)
