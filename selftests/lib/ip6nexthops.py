# SPDX-License-Identifier: GPL-2.0
"""Next hop objects, and IPv6 routes that go by them. ip6_native.py runs these tests on the native
stack, ip6_takeover.py on net6: both are to give the same answers. Namespaces are ip6hops'.
"""
import contextlib
import json
import socket
import struct

import ip6hops
import ktap
from ip6hops import P, Q, cables, datagrams, forwarding, said, to_many, ways

DST = "fd62::/64"


def nexthop(*words):
    """A group has no family."""
    family = () if "group" in words else ("-6",)
    return P.run("ip", *family, "nexthop", *words, check=False).strip()


@contextlib.contextmanager
def objects():
    """Two next hops, on their own and as a group; afterwards there are none."""
    cables()
    try:
        for words in (("1", "via", "fd60::2", "dev", "g0"), ("2", "via", "fd61::2", "dev", "g1"),
                      ("10", "group", "1/2")):
            ktap.equal(nexthop("add", "id", *words), "", f"{words}")
        yield
    finally:
        ip6hops.policy(0)
        P.run("ip", "nexthop", "flush")
        ktap.equal(P.run("ip", "nexthop"), "", "no object is left")
        for dst in (DST, "default"):
            ktap.equal(shown(dst), [], "no route is left")


def shown(dst=DST):
    """(number of the object, next hops, type) of each route."""
    out = P.run("ip", "-6", "-j", "route", "show", dst)
    return [(r.get("nhid"), [(h["gateway"], h["dev"], h["weight"]) for h in r["nexthops"]]
             if "nexthops" in r else [(r.get("gateway"), r["dev"])], r.get("type", "unicast"))
            for r in (json.loads(out) if out.strip() else [])]


def told():
    """Routes by an object, alone and of a group; what is wrong with others."""
    by_one = [(1, [("fd60::2", "g0")], "unicast")]
    by_group = [(10, [("fd60::2", "g0", 1), ("fd61::2", "g1", 1)], "unicast")]
    with objects():
        for dst in (DST, "default"):
            said("add", dst, "nhid", "1")
            ktap.equal(shown(dst), by_one, f"{dst}: by one")
            ktap.true("File exists" in said("add", dst, "nhid", "1"), f"{dst}: again")
            ktap.equal(said("replace", dst, "nhid", "10"), "", f"{dst}: replace")
            ktap.equal(shown(dst), by_group, f"{dst}: by a group")
            ktap.true(said("del", dst, "nhid", "1"), f"{dst}: it goes by another one")
            ktap.equal(shown(dst), by_group, f"{dst}: still there")
            ktap.equal(said("del", dst, "nhid", "10"), "", f"{dst}: removed")
            ktap.equal(shown(dst), [], f"{dst}: nothing is left")
            said("add", dst, "nhid", "10")
            ktap.equal(said("del", dst), "", f"{dst}: removed without a word of the object")
            ktap.equal(shown(dst), [], f"{dst}: all of it")
        nexthop("add", "id", "3", "blackhole")
        said("add", DST, "nhid", "3", "metric", "7")
        ktap.equal([(r[0], r[2]) for r in shown()], [(3, "blackhole")], "a black hole")
        nexthop("add", "id", "4", "dev", "g0")
        said("add", DST, "nhid", "4", "metric", "8")
        ktap.equal(shown()[-1], (4, [(None, "g0")], "unicast"), "without a gateway")
        P.run("ip", "nexthop", "add", "id", "5", "via", "inet", "10.0.0.1", "dev", "g0", "onlink",
              check=False)
        for words, wanted in ((("nhid", "77"), "does not exist"),
                              (("nhid", "1", "dev", "g0"), "mutually exclusive"),
                              (("nhid", "1", "via", "fd60::2"), "mutually exclusive")):
            out = said("add", "fd63::/64", *words)
            ktap.true(wanted in out, f"{words}: {out}")


def refused():
    """Objects that cannot be."""
    cables()
    for words, wanted in ((("via", "fd60::1", "dev", "g0"), "ateway"),
                          (("via", "ff02::1", "dev", "g0"), "ateway"),
                          (("via", "fd60::2", "dev", "nowhere"), "nowhere"),
                          (("via", "fd61::2", "dev", "g0"), ""),
                          (("via", "fd61::2", "dev", "g0", "onlink"), "ateway"),
                          (("via", "fd69::2", "dev", "g0"), ""),
                          (("group", "1/2"), "Invalid nexthop id")):
        out = nexthop("add", "id", "9", *words)
        ktap.true(out and wanted in out, f"{words}: {out}")
    ktap.equal(nexthop("add", "id", "9", "via", "fd69::2", "dev", "g0", "onlink"), "", "on-link")
    ktap.equal(nexthop("del", "id", "9"), "", "removed")
    P.run("ip", "link", "add", "dm9", "type", "dummy")
    out = nexthop("add", "id", "9", "dev", "dm9")
    ktap.true("not up" in out, f"a device that is down: {out}")
    P.run("ip", "link", "del", "dm9")
    ktap.equal(P.run("ip", "nexthop"), "", "none of them is there")


class Monitor:
    """What is told of routes to a destination: (comes or goes, how many next hops) of each."""

    def __init__(self, ns, dst, plen):
        self.dst, self.plen = socket.inet_pton(socket.AF_INET6, dst), plen
        with ns:
            self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.sock.bind((0, 0))
        self.sock.setsockopt(270, 1, 11)                # SOL_NETLINK, RTNLGRP_IPV6_ROUTE
        self.sock.setblocking(False)

    @staticmethod
    def attributes(data):
        while len(data) >= 4:
            size, kind = struct.unpack_from("=HH", data)
            yield kind, data[4:size]
            data = data[size + 3 & ~3:]

    def message(self, kind, data):
        attributes = dict(self.attributes(data[12:]))
        if data[1] != self.plen or (self.plen and attributes.get(1) != self.dst):
            return []
        hops, n = attributes.get(9, b""), 0             # RTA_MULTIPATH
        while len(hops) >= 8:
            hops, n = hops[struct.unpack_from("=H", hops)[0] + 3 & ~3:], n + 1
        return [("new" if kind == 24 else "del", n or 1)]

    def heard(self):
        """What has come since the last time."""
        out = []
        with contextlib.suppress(BlockingIOError):
            while True:
                data = self.sock.recv(65536)
                while len(data) >= 16:
                    size, kind = struct.unpack_from("=IH", data)
                    out += self.message(kind, data[16:size])
                    data = data[size + 3 & ~3:]
        return out


def told_at_once():
    """Who listens hears of a route with all of its next hops, once for each change."""
    one, both = ("via", "fd60::2", "dev", "g0"), ip6hops.BY_BOTH
    seen = []
    with objects():
        for dst, prefix, plen in ((DST, "fd62::", 64), ("default", "::", 0)):
            monitor = Monitor(P, prefix, plen)
            for words in (("add", dst, *both), ("replace", dst, *one), ("replace", dst, *both),
                          ("del", dst), ("add", dst, "nhid", "10"), ("del", dst),
                          ("add", dst, "nhid", "10")):
                seen.append((words[0], said(*words), monitor.heard()))
            for compat in "1", "0":
                P.run("sysctl", "-qw", f"net.ipv4.nexthop_compat_mode={compat}")
                for group in "1", "1/2":
                    nexthop("replace", "id", "10", "group", group)
                    seen.append((group, "", monitor.heard()))
            P.run("sysctl", "-qw", "net.ipv4.nexthop_compat_mode=1")
            said("del", dst)
    new, gone = [("new", 2)], [("del", 2)]
    ktap.equal(seen, [("add", "", new), ("replace", "", [("new", 1)]), ("replace", "", new),
                      ("del", "", gone), ("add", "", new), ("del", "", gone), ("add", "", new),
                      ("1", "", [("new", 1)]), ("1/2", "", new),
                      # Who knows of objects need not be told.
                      ("1", "", []), ("1/2", "", [])] * 2, "what was told")


def links():
    return set(ways(P, datagrams("fd68::1", to_many())))


def changed():
    """Routes follow an object that is changed, and go with it."""
    with objects(), forwarding():
        Q.ip("-6", "route", "replace", "fd68::/64", "via", "fd60::1", "dev", "h0")
        said("add", DST, "nhid", "1", "mtu", "1400")
        ktap.equal(links(), {0}, "by the first")
        ktap.equal(nexthop("replace", "id", "1", "via", "fd61::2", "dev", "g1"), "", "replace")
        ktap.equal(shown(), [(1, [("fd61::2", "g1")], "unicast")], "it is changed")
        ktap.true("mtu 1400" in P.run("ip", "-6", "route", "show", DST), "it keeps what was said")
        ktap.equal(links(), {1}, "by the other one")
        nexthop("replace", "id", "1", "via", "fd60::2", "dev", "g0")
        ktap.equal(links(), {0}, "back")
        said("replace", DST, "nhid", "10")
        ktap.equal(links(), {0, 1}, "by both")
        nexthop("del", "id", "2")
        ktap.equal(shown()[0][0], 10, "the group has one left")
        ktap.equal(links(), {0}, "by that")
        nexthop("add", "id", "2", "via", "fd61::2", "dev", "g1")
        ktap.equal(nexthop("replace", "id", "10", "group", "1,3/2,1"), "", "weights")
        ktap.equal(shown(), [(10, [("fd60::2", "g0", 3), ("fd61::2", "g1", 1)], "unicast")],
                   "weights")
        ktap.equal(links(), {0, 1}, "by both again")
        nexthop("replace", "id", "10", "group", "2")
        ktap.equal(links(), {1}, "by the second alone")
        nexthop("del", "id", "10")
        ktap.equal(shown(), [], "the route has gone with the object")


def many_routes():
    """All routes by an object are moved, and no other."""
    with objects():
        made = [f"fd70:{n:x}::/48" for n in range(1, 301)]
        lines = [f"route add {dst} nhid {1 + n % 2}" for n, dst in enumerate(made)]
        lines += [f"route add {dst} via fd60::9 dev g0 metric 2000" for dst in made[:20]]
        P.run("ip", "-6", "-batch", "-", input="\n".join(lines) + "\n")

        def devices(number):
            out = json.loads(P.run("ip", "-6", "-j", "route", "show", "root", "fd70::/16"))
            return sorted((r["dst"], r["dev"]) for r in out if r.get("nhid") == number)
        nexthop("replace", "id", "1", "via", "fd61::2", "dev", "g1")
        ktap.equal(devices(1), sorted((dst, "g1") for dst in made[::2]), "moved")
        ktap.equal(devices(2), sorted((dst, "g1") for dst in made[1::2]), "the others")
        ktap.equal(len(devices(None)), 20, "those without")
        nexthop("del", "id", "1")
        ktap.equal(devices(1), [], "gone")
        ktap.equal(len(devices(2)), 150, "the others")
        P.run("ip", "-6", "-batch", "-", input="".join(
            f"route del {dst} metric 2000\n" for dst in made[:20]))


def downed():
    """With its interface an object goes, and its routes."""
    with objects():
        said("add", DST, "nhid", "10")
        said("add", "default", "nhid", "2")
        P.run("ip", "link", "set", "g1", "down")
        ktap.equal(shown("default"), [], "by the one that has gone")
        ktap.equal(shown()[0][:1], (10,), "by the group")
        ktap.equal({h[:2] for h in shown()[0][1]}, {("fd60::2", "g0")}, "what is left of it")
        P.run("ip", "link", "set", "g1", "up")
        P.ip("-6", "addr", "replace", "fd61::1/64", "dev", "g1", "nodad")
        ktap.wait_for(15, "the other end", lambda: P.run(
            "ping", "-c1", "-W1", "fd61::2", check=False).find(" 0% packet loss") > 0)


def tests():
    ktap.test("several next hops are told at once")(told_at_once)
    ktap.test("routes by next hop objects are told")(told)
    ktap.test("next hop objects that are refused")(refused)
    ktap.test("routes follow next hop objects")(changed)
    ktap.test("all routes of a next hop object follow it")(many_routes)
    ktap.test("a next hop object goes with its interface")(downed)
