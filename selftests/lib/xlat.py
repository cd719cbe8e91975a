# SPDX-License-Identifier: GPL-2.0
"""Two hosts that have IPv4 only, and between their routers a link that has IPv6 only.

    [ A ] a0 ---- p1 [ P ] p0 ======== q0 [ Q ] q1 ---- b0 [ B ]
    192.0.2.1          2001:db8:6::1    2001:db8:6::2      198.51.100.1

P and Q translate: A is 2001:db8:a::1 there, B is 2001:db8:b::1. Q itself is 203.0.113.2 to A, by
P's translator alone. A's other address, 10.9.9.9, is 2001:db8:64::10.9.9.9 to what runs on Q.
"""
import json
import socket

import ktap
from cloud import CTL, ctl, sysctl

A, P, Q, B = map(ktap.later, "APQB")
ADDRESS_A, ADDRESS_B = "192.0.2.1", "198.51.100.1"
NET6_P, NET6_Q = "2001:db8:6::1", "2001:db8:6::2"
ADDRESS_Q, OTHER_A, A_TO_Q = "203.0.113.2", "10.9.9.9", "2001:db8:64::a09:909"
POOL = "203.0.113.128/25"
MAPS = ("map4", "192.0.2.0/24", "map6", "2001:db8:a::/120",
        "map4", "198.51.100.0/24", "map6", "2001:db8:b::/120")


def load():
    ktap.net6_load()
    ktap.run("insmod", f"{ktap.BUILD}/xlat/net6xlat.ko")
    ktap.at_exit(ktap.unload, "net6xlat")


def translators(ns, *name):
    return json.loads(ctl(ns, "-j", "show", "xlat", *name))


def counters(ns, name="xlat0"):
    """Counters and drops of a translator, in one."""
    found, = translators(ns, name)
    return found["counters"] | found["drops"]


def preferred(ns, address):
    return any(a["address"] == address and a["state"] == "preferred"
               for a in json.loads(ctl(ns, "-j", "show", "addresses")))


def routers():
    for ns, dev, address, near, far in ((P, "p0", NET6_P, "b", NET6_Q),
                                        (Q, "q0", NET6_Q, "a", NET6_P)):
        sysctl(ns, "net.ipv4.ip_forward", "1")
        ctl(ns, "add", "address", f"{address}/64", "dev", dev)
        ctl(ns, "set", "dev", dev, "forwarding", "on")
        ctl(ns, "add", "route", f"2001:db8:{near}::/120", "via", far, "dev", dev)
    for ns, address in ((P, NET6_P), (Q, NET6_Q)):
        ktap.wait_for(15, f"{address} is preferred", lambda n=ns, a=address: preferred(n, a))


def translate(ns, near, far):
    """A translator for the IPv4 network behind it (a or b), with a route for the other."""
    ctl(ns, "xlat", "add", "siit", "xlat0", "prefix64", "2001:db8:64::/96", "pool4", POOL,
        *MAPS, "map4", ADDRESS_Q + "/32", "map6", NET6_Q + "/128")
    ns.ip("route", "add", far, "dev", "xlat0")
    ctl(ns, "add", "route", f"2001:db8:{near}::/120", "dev", "xlat0")


def setup():
    load()
    ktap.veth(A, "a0", P, "p1")
    ktap.veth(P, "p0", Q, "q0")
    ktap.veth(Q, "q1", B, "b0")
    for ns, dev, address in ((A, "a0", ADDRESS_A), (P, "p1", "192.0.2.2"),
                             (Q, "q1", "198.51.100.2"), (B, "b0", ADDRESS_B)):
        ns.ip("addr", "add", f"{address}/24", "dev", dev)
    A.ip("route", "add", "default", "via", "192.0.2.2")
    B.ip("route", "add", "default", "via", "198.51.100.2")
    routers()
    translate(P, "a", "198.51.100.0/24")
    translate(Q, "b", "192.0.2.0/24")
    # Q's own packets to A, and A's to Q, are P's to translate.
    A.ip("addr", "add", OTHER_A + "/32", "dev", "lo")
    P.ip("route", "add", OTHER_A + "/32", "via", ADDRESS_A)
    P.ip("route", "add", ADDRESS_Q + "/32", "dev", "xlat0")
    ctl(P, "add", "route", "2001:db8:64::/96", "dev", "xlat0")
    ctl(Q, "add", "route", "2001:db8:64::/96", "via", NET6_P, "dev", "q0")


def from_other_a():
    """A connection of A's to come, from the address that no mapping has."""
    sock = ipv4(A)
    sock.bind((OTHER_A, 0))
    return sock


def ipv4(ns, kind=socket.SOCK_STREAM):
    with ns:
        sock = socket.socket(socket.AF_INET, kind)
    sock.settimeout(30 * ktap.SCALE)
    return sock


__all__ = ["CTL", "A", "B", "P", "Q"]
