#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Routing tables and rules of net6 in native's place (lib/ip6rules.py): the same answers as
# native's, which ip6_rules_native.py gets. Their limits, and what happens without memory.
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 300
import errno
import itertools
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import faults
import ip6rules
import nd
import nl

S, said = ip6rules.S, ip6rules.said
NEWROUTE, DELROUTE, NEWRULE, DELRULE = 24, 25, 32, 33
ADD = 0x600


def ask(kind, flags, body):
    """A request of rtnetlink; an error is raised."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.settimeout(10 * ktap.SCALE)
        sock.send(struct.pack("=IHHII", 16 + len(body), kind, 5 | flags, 1, 0) + body)
        error = -struct.unpack_from("=i", sock.recv(4096), 16)[0]
    if error:
        raise OSError(error, os.strerror(error))


def rule():
    return struct.pack("=BBBBBBBBI", socket.AF_INET6, 0, 64, 0, 0, 0, 0, 1, 0) + \
        nl.attribute(2, nl.address("fd79::")) + nl.attribute(15, struct.pack("=I", 100)) + \
        nl.attribute(6, struct.pack("=I", 99))


def route():
    return struct.pack("=BBBBBBBBI", socket.AF_INET6, 64, 0, 0, 0, 4, 0, 1, 0) + \
        nl.attribute(1, nl.address("fd79::")) + nl.attribute(15, struct.pack("=I", 77)) + \
        nl.attribute(4, struct.pack("=I", socket.if_nametoindex("s0")))


def there():
    return len(ip6rules.shown("rule", "show")) - 2 + len(ip6rules.routes("table", "77"))


@ktap.test
def limits():
    """Of rules and of tables, with a counter."""
    ip6rules.cables()
    nd.net6ctl(S, "set", "limits", "max-rules", "3", "max-tables", "1")
    try:
        for counter, words in (("RouteRuleLimit", ("rule", "add", "lookup", "100", "pref")),
                               ("RouteTableLimit", ("route", "add", "fd79::/64", "dev", "s0",
                                                    "table"))):
            before = nd.counter(S, counter)
            ktap.equal(said(*words, "100"), "", "the first")
            ktap.true(said(*words, "101"), "no second one")
            ktap.equal(nd.counter(S, counter) - before, 1, counter)
    finally:
        nd.net6ctl(S, "set", "limits", "defaults")
        said("rule", "del", "pref", "100")
        said("route", "flush", "table", "100")
    ktap.equal(there(), 0, "left")


@ktap.test
def without_memory():
    """Each allocation of a request fails in its turn: it is refused, or done."""
    faults.setup()
    ip6rules.cables()
    with S:
        for new, old, body in ((NEWRULE, DELRULE, rule()), (NEWROUTE, DELROUTE, route())):
            for number in itertools.count(1):
                failed, error = faults.without_the_nth(number, ask, new, ADD, body)
                ktap.true(error in (0, errno.ENOMEM, errno.ENOBUFS), f"{number}: {error}")
                # The answer may have been lost, too.
                if there():
                    ask(old, 0, body)
                ktap.equal(there(), 0, f"{number}: nothing is left")
                if not failed:
                    break
            ktap.true(number > 2, f"there were {number} allocations")


@ktap.test
def what_is_link_local_stays_on_its_link():
    """Native sends it to the default router of a table."""
    with ip6rules.ruled(("lookup", "100", "pref", "100")):
        shown, = ip6rules.shown("route", "get", "fe80::9", "oif", "s1")
        ktap.equal((shown["dev"], shown.get("gateway")), ("s1", None), "fe80::9")


@ktap.test
def a_namespace_goes_with_them():
    """Rules, tables and destinations that were found by them."""
    for _ in range(3):
        gone = ktap.Netns("gone")
        gone.up("lo")
        gone.ip("link", "add", "x0", "type", "dummy")
        gone.up("x0")
        gone.ip("-6", "addr", "add", "fd7a::1/64", "dev", "x0", "nodad")
        for table in range(100, 140):
            gone.ip("-6", "route", "add", "default", "dev", "x0", "table", str(table))
            gone.ip("-6", "rule", "add", "fwmark", str(table), "lookup", str(table))
        gone.ip("-6", "route", "get", "fd7b::1", "mark", "120")
        gone.delete()


ip6rules.tests()
ktap.main(setup=ktap.net6_load)
