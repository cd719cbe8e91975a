#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# With native IPv6 switched off, iproute2 and /proc/net show net6's addresses, routes,
# neighbors, groups and sockets as they show native's, field by field (lib/ip6views.py).
# What managers ask for gets native's answers (lib/ip6asks.py).
#
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 300
import json
import os
import re
import socket
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
import ip6vrf


def setup():
    ktap.net6_load()
    ip6views.setup(native=False)


@ktap.test
def a_route_that_expires_or_cannot_be():
    def add(*words):
        return ip6views.A.run("ip", "-6", "route", "add", "fd0a::/48", "via", "fd00::b",
                              "dev", "a0", *words, check=False)
    ktap.true("net6" in add("encap", "ip6", "dst", "fd00::c"), "it says what is missing")
    ktap.equal(ip6views.A.run("ip", "-6", "route", "show", "fd0a::/48"), "", "no route")
    add("expires", "60")
    shown = ip6views.A.run("ip", "-6", "route", "show", "fd0a::/48")
    ktap.true(re.search(r" expires [56]\dsec", shown), f"it expires: {shown}")
    ip6views.A.ip("-6", "route", "del", "fd0a::/48")


@ktap.test
def a_router_that_is_lost_is_not_replaced_by_a_refusal():
    """Of a shorter prefix, or of its own with a higher metric. Native is so when it forwards."""
    far = ktap.Netns("U")
    ktap.veth(far, "u0", ktap.Netns("V"), "v0")
    far.ip("-6", "addr", "add", "fd90::1/64", "dev", "u0", "nodad")
    for words in (("blackhole", "fd91::/32"), ("fd91::/40", "via", "fd90::3"),
                  ("fd91:0:1::/48", "via", "fd90::2"),
                  ("unreachable", "fd91:0:1::/48", "metric", "2000")):
        far.ip("-6", "route", "add", *words)
    with far, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        for to in ("fd91:0:9::1", "fd91:0:1::1"):
            sock.connect((to, 9))
            sock.send(b"x")
        for router in ("fd90::3", "fd90::2"):
            ktap.wait_for(15, f"{router} does not answer", lambda r=router: not far.run(
                "ip", "-6", "neigh", "show", r, "nud", "incomplete"))
        for to, router in (("fd91:0:9::1", "fd90::3"), ("fd91:0:1::1", "fd90::2")):
            got = json.loads(far.run("ip", "-6", "-j", "route", "get", to))[0]
            ktap.equal(got.get("gateway"), router, f"the way to {to}")


@ktap.test
def neighbors_in_many_messages_are_listed_once_each():
    far = ktap.Netns("W")
    ktap.veth(far, "w0", ktap.Netns("X"), "x0")
    made = [f"fd92::{number:x}" for number in range(1, 1001)]
    with open("/tmp/neighbors", "w", encoding="ascii") as file:
        file.writelines(f"neigh add {address} lladdr 02:00:00:00:00:01 dev w0\n"
                        for address in made)
    far.run("ip", "-6", "-batch", "/tmp/neighbors")
    for _ in range(3):
        listed = json.loads(far.run("ip", "-6", "-j", "neigh", "show", "nud", "permanent"))
        ktap.equal(sorted(one["dst"] for one in listed), sorted(made), "neighbors")


@ktap.test
def next_hop_objects_without_native():
    """They keep net6 until they go. IPv4's packets find no neighbor by them."""
    far = ktap.Netns("nh-Y")
    ktap.veth(far, "y0", ktap.Netns("nh-Z"), "z0")
    far.ip("-6", "addr", "add", "fd93::1/64", "dev", "y0", "nodad")
    far.ip("addr", "add", "10.93.0.1/24", "dev", "y0")

    def refused(*words):
        return far.run("ip", *words, check=False)
    before = ktap.users("net6")
    far.ip("-6", "nexthop", "add", "id", "1", "via", "fd93::2", "dev", "y0")
    ktap.true(ktap.users("net6") > before, "it keeps net6")
    far.ip("route", "add", "10.94.0.0/24", "nhid", "1")
    ktap.true("100% packet loss" in far.run("ping", "-c1", "-W1", "10.94.0.1", check=False),
              "an IPv4 packet is lost")
    ktap.true(refused("route", "add", "10.95.0.0/24", "via", "inet6", "fd93::2", "dev", "y0"),
              "an IPv4 route by an IPv6 gateway")
    far.ip("nexthop", "add", "id", "2", "group", "1", "type", "resilient", "buckets", "4")
    ktap.true("resilient" in refused("-6", "route", "add", "fd94::/64", "nhid", "2"),
              "net6 says what it has not")
    far.ip("-6", "route", "add", "fd94::/64", "nhid", "1")
    far.run("sysctl", "-qw", "net.ipv4.nexthop_compat_mode=0")
    ktap.equal(far.run("ip", "-6", "route", "show", "fd94::/64").split()[:3],
               ["fd94::/64", "nhid", "1"], "the object alone")
    far.delete()
    ktap.wait_for(20, "the namespace has gone with its objects",
                  lambda: ktap.users("net6") <= before)


ip6views.tests()
ip6asks.tests()
ip6metrics.tests()
ip6source.tests()
@ktap.test
def a_neighbor_that_need_not_stay_any_more_gives_way():
    """The table is full of permanent entries. One is made stale: the next one takes its place."""
    ns = ktap.Netns("full")
    ns.ip("link", "add", "n0", "type", "dummy")
    ns.up("n0")

    def said(verb, number, nud):
        return ns.run("ip", "-6", "neigh", verb, f"fd6d::{number}", "lladdr", "02:00:00:00:00:01",
                      "nud", nud, "dev", "n0", check=False)
    with ns, open("/proc/sys/net/net6/limits/max_neighs", "w", encoding="ascii") as file:
        file.write("16")
    for number in range(10, 26):
        ktap.equal(said("add", number, "permanent"), "", f"{number}")
    ktap.true("buffer" in said("add", 26, "permanent"), "there is room for sixteen")
    ktap.equal(said("change", 12, "stale"), "", "changed")
    ktap.equal(said("add", 26, "permanent"), "", "one more")
    left = {n["dst"] for n in json.loads(ns.ip("-6", "-j", "neigh", "show", "dev", "n0"))}
    ktap.true("fd6d::26" in left and "fd6d::12" not in left, f"who is left: {left}")


ip6hops.tests()
ip6nexthops.tests()
ip6neighbors.tests()
ip6vrf.tests()
ktap.main(setup=setup)
