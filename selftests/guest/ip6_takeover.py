#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# With native IPv6 switched off, iproute2 and /proc/net show net6's addresses, routes,
# neighbors, groups and sockets as they show native's, field by field (lib/ip6views.py).
# What managers ask for gets native's answers (lib/ip6asks.py).
#
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 180
import os
import re
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import ip6asks
import ip6views


def setup():
    ktap.net6_load()
    ip6views.setup(native=False)


@ktap.test
def a_route_that_expires_or_cannot_be():
    def add(*words):
        return ip6views.A.run("ip", "-6", "route", "add", "fd0a::/48", "via", "fd00::b",
                              "dev", "a0", *words, check=False)
    for words in (("initcwnd", "9"), ("src", "fd00::a"), ("encap", "ip6", "dst", "fd00::c")):
        ktap.true("net6" in add(*words), f"it says what is missing: {words[0]}")
        ktap.equal(ip6views.A.run("ip", "-6", "route", "show", "fd0a::/48"), "",
                   f"route with {words[0]}")
    add("expires", "60")
    shown = ip6views.A.run("ip", "-6", "route", "show", "fd0a::/48")
    ktap.true(re.search(r" expires [56]\dsec", shown), f"it expires: {shown}")
    ip6views.A.ip("-6", "route", "del", "fd0a::/48")


ip6views.tests()
ip6asks.tests()
ktap.main(setup=setup)
