# SPDX-License-Identifier: GPL-2.0
"""Routes with several next hops, as they are told and as flows take them. ip6_native.py runs these
tests on the native stack, ip6_takeover.py on net6: both are to give the same answers.

    R [l0] -- [g2] P [g0] ------ [h0] Q     fd60::1/64, fd60::2/64; R: fd68::5, P: fd68::1
                   P [g1] ------ [h1] Q     fd61::1/64, fd61::2/64; Q: fd62::/64
"""
import contextlib
import errno
import functools
import json
import socket
import struct

import ktap

PKTINFO, RECVPKTINFO, AUTOFLOWLABEL = 50, 49, 70
BY_BOTH = ("nexthop", "via", "fd60::2", "dev", "g0", "nexthop", "via", "fd61::2", "dev", "g1")
# Of ip6_native.py, which has rawlinks.py too, this is another R.
P, Q, R = ktap.later("P"), ktap.later("Q"), ktap.later("hops-R")


@functools.cache
def cables():
    """The namespaces, for the first test that wants them."""
    for ns in (P, Q, R):
        ns.up("lo")
    for i in range(2):
        ktap.veth(P, f"g{i}", Q, f"h{i}")
        P.ip("-6", "addr", "add", f"fd6{i}::1/64", "dev", f"g{i}", "nodad")
        Q.ip("-6", "addr", "add", f"fd6{i}::2/64", "dev", f"h{i}", "nodad")
    ktap.veth(R, "l0", P, "g2")
    R.ip("-6", "addr", "add", "fd68::5/64", "dev", "l0", "nodad")
    P.ip("-6", "addr", "add", "fd68::1/64", "dev", "g2", "nodad")
    R.ip("-6", "route", "add", "default", "via", "fd68::1", "dev", "l0")
    Q.ip("-6", "route", "add", "fd68::/64", "via", "fd60::1", "dev", "h0")
    for i in range(1, 65):
        Q.ip("-6", "addr", "add", f"fd62::{i:x}/128", "dev", "lo", "nodad")
    for i in range(2):
        ktap.wait_for(15, "the other end", lambda i=i: P.run(
            "ping", "-c1", "-W1", f"fd6{i}::2", check=False).find(" 0% packet loss") > 0)


def hops(dst):
    """[(gateway, device, weight)] of a route, and how many routes there are."""
    out = P.run("ip", "-6", "-j", "route", "show", dst)
    shown = json.loads(out) if out.strip() else []
    if not shown:
        return [], 0
    if "nexthops" not in shown[0]:
        return [(shown[0].get("gateway"), shown[0]["dev"], None)], len(shown)
    return [(hop["gateway"], hop["dev"], hop["weight"]) for hop in shown[0]["nexthops"]], len(shown)


def said(*words):
    return P.run("ip", "-6", "route", *words, check=False).strip()


def told():
    """They are one route, in the order in which they came."""
    cables()
    a, b = ("fd60::2", "g0"), ("fd61::2", "g1")
    for dst in ("fd62::/64", "default"):
        P.ip("-6", "route", "add", dst, "nexthop", "via", "fd60::2", "dev", "g0", "weight", "3",
             "nexthop", "via", "fd61::2", "dev", "g1")
        ktap.equal(hops(dst), ([a + (3,), b + (1,)], 1), f"{dst}: added")
        ktap.true("File exists" in said("add", dst, *BY_BOTH), f"{dst}: added again")
        said("append", dst, "via", "fd60::9", "dev", "g0")
        ktap.equal(hops(dst), ([a + (3,), b + (1,), ("fd60::9", "g0", 1)], 1), f"{dst}: appended")
        ktap.true("File exists" in said("append", dst, "via", "fd60::9", "dev", "g0"),
                  f"{dst}: appended again")
        said("del", dst, "via", "fd61::2", "dev", "g1")
        ktap.equal(hops(dst)[0], [a + (3,), ("fd60::9", "g0", 1)], f"{dst}: without one")
        said("replace", dst, *BY_BOTH)
        ktap.equal(hops(dst), ([a + (1,), b + (1,)], 1), f"{dst}: replaced")
        said("del", dst, "nexthop", "via", "fd60::2", "dev", "g0")
        ktap.equal(hops(dst), ([b + (None,)], 1), f"{dst}: one is left")
        said("replace", dst, *BY_BOTH)
        said("del", dst)
        ktap.equal(hops(dst), ([], 0), f"{dst}: all are removed")
    said("add", "fd62::/64", "via", "fd60::2", "dev", "g0", "metric", "7")
    said("append", "fd62::/64", "via", "fd61::2", "dev", "g1", "metric", "8")
    ktap.equal(hops("fd62::/64"), ([a + (None,)], 2), "of two metrics")
    for metric in ("7", "8"):
        said("del", "fd62::/64", "metric", metric)


def refused():
    """What is wrong with a next hop, and none is left of those before it."""
    cables()
    for words, wanted in (
            (("nexthop", "via", "fd60::2", "dev", "g0", "nexthop", "dev", "g1"), "Device only"),
            (BY_BOTH[:5] + ("nexthop", "via", "ff02::1", "dev", "g1"), "gateway"),
            (BY_BOTH[:5] * 2, "exists")):
        out = said("add", "fd62::/64", *words)
        ktap.true(wanted in out, f"{' '.join(words)}: {out}")
        ktap.equal(hops("fd62::/64"), ([], 0), "none is left")


def own():
    """This host is no router to itself. A link-local address is its own on one link only."""
    cables()

    def assigned():
        shown = json.loads(P.run("ip", "-j", "-6", "addr", "show", "dev", "g0", "scope", "link"))
        return [a["local"] for entry in shown for a in entry.get("addr_info", ())
                if "local" in a and not a.get("tentative")]
    ktap.wait_for(15, "a link-local address", assigned)
    linklocal = assigned()[0]
    for words in (("via", "fd60::1"), ("via", "fd60::1", "dev", "g0"),
                  ("via", "fd61::1", "dev", "g0"), ("via", linklocal, "dev", "g0")):
        out = said("add", "fd62::/64", *words)
        ktap.true("local address" in out or "Invalid" in out, f"{' '.join(words)}: {out}")
    out = said("add", "fd62::/64", "dsfield", "0x04", "via", "fd60::2")
    ktap.true("dsfield" in out, f"dsfield: {out}")
    ktap.equal(hops("fd62::/64"), ([], 0), "none is left")
    ktap.equal(said("add", "fd62::/64", "via", linklocal, "dev", "g1"), "", "another link's")
    said("del", "fd62::/64")


def early():
    """A gateway names its link before that has a carrier."""
    cables()
    P.ip("link", "add", "g7", "type", "veth", "peer", "name", "h7", "netns", Q.name)
    P.up("g7")
    P.ip("-6", "addr", "add", "fd6e::1/64", "dev", "g7", "nodad")
    ktap.equal(said("add", "fd62::/64", "via", "fd6e::2"), "", "without a carrier")
    Q.up("h7")
    Q.ip("-6", "addr", "add", "fd6e::2/64", "dev", "h7", "nodad")
    ktap.wait_for(10, "a carrier", lambda: "linkdown" not in said("show", "fd62::/64"))
    ktap.equal(hops("fd62::/64"), ([("fd6e::2", "g7", None)], 1), "the route")
    ktap.true("dev g7" in said("get", "fd62::1"), "it is taken")
    P.ip("link", "del", "g7")


def forgotten():
    """What was learnt of a path is a route's: one that is removed and set again knows nothing. So
    is a redirect's, whose path is another one.
    """
    cables()

    def mtu():
        got = json.loads(R.run("ip", "-6", "-j", "route", "get", "fd62::1"))[0]
        return [m["mtu"] for m in got.get("metrics", ()) if "mtu" in m]

    def learnt():
        R.run("ping", "-c1", "-W1", "-s1400", "-Mdo", "fd62::1", check=False)
        return mtu() == [1300]
    with forwarding(), by("via", "fd60::2", "dev", "g0"):
        P.ip("link", "set", "g0", "mtu", "1300")
        ktap.wait_for(15, "a path MTU", learnt)
        R.ip("-6", "route", "add", "fd63::/64", "via", "fd68::1", "dev", "l0")
        R.ip("-6", "route", "del", "fd63::/64")
        ktap.equal(mtu(), [1300], "another route comes and goes")
        R.ip("-6", "route", "del", "default")
        R.ip("-6", "route", "add", "default", "via", "fd68::1", "dev", "l0")
        ktap.equal(mtu(), [], "the default route is another one")
        ktap.wait_for(15, "a path MTU again", learnt)
        R.ip("-6", "route", "add", "fd62::/64", "via", "fd68::1", "dev", "l0")
        ktap.equal(mtu(), [], "a longer route")
        ktap.wait_for(15, "a path MTU of that", learnt)
        R.ip("-6", "route", "del", "fd62::/64")
        R.ip("-6", "route", "add", "fd62::/64", "via", "fd68::1", "dev", "l0")
        ktap.equal(mtu(), [], "set again")
        R.ip("-6", "route", "del", "fd62::/64")
        P.ip("link", "set", "g0", "mtu", "1500")


def matched():
    """The whole route to an address, which a program asks for (fibmatch)."""
    with by(*BY_BOTH):
        found = json.loads(P.run("ip", "-6", "-j", "route", "get", "fibmatch", "fd62::7"))
        ktap.equal([(r["dst"], len(r["nexthops"])) for r in found], [("fd62::/64", 2)], "by two")
    for target, wanted in (("fd60::7", ("fd60::/64", "g0", 256)),
                           ("fe80::7", ("fe80::/64", "g1", 256))):
        found = json.loads(P.run("ip", "-6", "-j", "route", "get", "fibmatch", target, "oif",
                                 wanted[1]))
        ktap.equal([(r["dst"], r["dev"], r["metric"]) for r in found], [wanted], target)
    with by("via", "fd61::2", dst=("default",)):
        found = json.loads(P.run("ip", "-6", "-j", "route", "get", "fibmatch", "2001:db8::1"))
        ktap.equal([(r["dst"], r["gateway"], r["dev"]) for r in found],
                   [("default", "fd61::2", "g1")], "the default route")


def single():
    """Addresses without a prefix are routes of main's as well; peers, too."""
    cables()
    for words, wanted in ((("fd6a::1/128", "metric", "300"), [("fd6a::1", "g0", 300)]),
                          (("fd6a::1", "peer", "fd6a::2"), [("fd6a::1", "g0", 256),
                                                           ("fd6a::2", "g0", 256)])):
        P.ip("-6", "addr", "add", *words, "dev", "g0", "nodad")
        shown = json.loads(P.run("ip", "-6", "-j", "route", "show", "root", "fd6a::/16"))
        ktap.equal(sorted((r["dst"], r["dev"], r["metric"]) for r in shown), wanted, f"{words}")
        P.ip("-6", "addr", "del", words[0] if len(words) < 3 or words[1] == "metric" else
             "fd6a::1/128", "dev", "g0")


def waiting():
    """A next hop whose device goes down is dead, and there again when the device is set up."""
    cables()
    P.run("sysctl", "-qw", "net.ipv6.conf.all.keep_addr_on_down=0")
    for i in (8, 9):
        ktap.veth(P, f"g{i}", Q, f"h{i}")
        P.ip("-6", "addr", "add", f"fd6b:{i}::1/64", "dev", f"g{i}", "nodad")

    def flags(dst):
        out = P.run("ip", "-6", "-j", "route", "show", dst)
        shown = json.loads(out) if out.strip() else []
        return [(hop["dev"], "dead" in hop["flags"]) for r in shown for hop in r["nexthops"]]
    routes = "fd6c::/64", "default"
    for dst in routes:
        said("add", dst, "nexthop", "via", "fd6b:8::2", "dev", "g8",
             "nexthop", "via", "fd6b:9::2", "dev", "g9")
    for _ in range(2):
        P.down("g8")
        for dst in routes:
            ktap.equal(flags(dst), [("g8", True), ("g9", False)], f"{dst}: one is down")
        P.up("g8")
        for dst in routes:
            ktap.equal(flags(dst), [("g8", False), ("g9", False)], f"{dst}: it is up again")
    P.down("g8")
    P.down("g9")
    for dst in routes:
        ktap.equal(flags(dst), [], f"{dst}: both are down")
    P.up("g8")
    for dst in routes:
        ktap.equal(flags(dst), [], f"{dst}: too late")
    for i in (8, 9):
        P.ip("link", "del", f"g{i}")


def policy(number):
    P.run("sysctl", "-qw", f"net.ipv6.fib_multipath_hash_policy={number}")


@contextlib.contextmanager
def by(*words, dst=("fd62::/64",)):
    cables()
    for prefix in dst:
        P.ip("-6", "route", "add", prefix, *words)
    try:
        yield
    finally:
        policy(0)
        for prefix in dst:
            said("del", prefix)


def receiver(kind=socket.SOCK_DGRAM, proto=0):
    with Q:
        sock = socket.socket(socket.AF_INET6, kind, proto)
        sock.setsockopt(socket.IPPROTO_IPV6, RECVPKTINFO, 1)
        sock.bind(("::", 0 if proto else 4160))
        sock.settimeout(10)
        return sock, {socket.if_nametoindex(f"h{i}"): i for i in range(2)}


def ways(ns, sends, kind=socket.SOCK_DGRAM, proto=0):
    """Over which link each datagram arrived, in turn."""
    sock, links = receiver(kind, proto)
    came = []
    with sock:
        for send in sends:
            with ns:
                send()
            ancillary = sock.recvmsg(200, 200)[1]
            came += [links[struct.unpack("=16si", data)[1]] for _, k, data in ancillary
                     if k == PKTINFO]
    return came


def datagrams(source, targets):
    """Sends of a datagram each, from the address and ports to the addresses."""
    def send(port, target):
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.IPPROTO_IPV6, AUTOFLOWLABEL, 0)
            sock.bind((source, port))
            sock.sendto(b"x", (target, 4160))
    return [functools.partial(send, port, target) for port, target in targets]


def to_many(n=64):
    return [(5000, f"fd62::{i:x}") for i in range(1, n + 1)]


def by_ports(target="fd62::7"):
    return [(5000 + i, target) for i in range(64)]


def flows():
    """Datagrams of our own, by each policy."""
    with by(*BY_BOTH):
        seen = ways(P, datagrams("fd60::1", to_many()))
        ktap.true(12 <= sum(seen) <= 52, f"to many: {seen}")
        ktap.equal(ways(P, datagrams("fd60::1", to_many())), seen, "the same again")
        ktap.equal(len(set(ways(P, datagrams("fd60::1", by_ports())))), 1, "of one pair")
        policy(1)
        seen = ways(P, datagrams("fd60::1", by_ports()))
        ktap.true(12 <= sum(seen) <= 52, f"of many ports: {seen}")
        ktap.equal(ways(P, datagrams("fd60::1", by_ports())), seen, "the same again")
        policy(2)
        ktap.equal(len(set(ways(P, datagrams("fd60::1", by_ports())))), 1, "of one pair")
    with by(*BY_BOTH[:5], "weight", "3", *BY_BOTH[5:]):
        seen = ways(P, datagrams("fd60::1", to_many()))
        ktap.true(1 <= sum(seen) <= 36, f"with weights: {seen}")
    with by(*BY_BOTH, dst=("default",)):
        seen = ways(P, datagrams("fd60::1", to_many()))
        ktap.true(12 <= sum(seen) <= 52, f"by the default route: {seen}")


def unconnected():
    """One socket that sends to one address from one port, by two ports of the peer's."""
    with by(*BY_BOTH):
        policy(1)
        sock, links = receiver()
        with sock, P, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as out:
            out.bind(("fd60::1", 5000))
            seen = []
            for i in range(64):
                out.sendto(b"x", (f"fd62::{i // 2 + 1:x}", 4160))
                ancillary = sock.recvmsg(200, 200)[1]
                seen += [links[struct.unpack("=16si", data)[1]] for _, k, data in ancillary
                         if k == PKTINFO]
        ktap.true(0 < sum(seen) < 64, f"{seen}")
        ktap.equal(seen[::2], seen[1::2], "each pair the same way")


@contextlib.contextmanager
def forwarding():
    P.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
    try:
        yield
    finally:
        P.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=0")


def forwarded():
    """Packets of others, remembered or not, by each policy."""
    cables()
    with forwarding(), by(*BY_BOTH):
        seen = ways(R, datagrams("fd68::5", to_many()))
        ktap.true(12 <= sum(seen) <= 52, f"to many: {seen}")
        ktap.equal(ways(R, datagrams("fd68::5", to_many())), seen, "the same again")
        ktap.equal(len(set(ways(R, datagrams("fd68::5", by_ports())))), 1, "of one pair")
        policy(1)
        seen = ways(R, datagrams("fd68::5", by_ports()))
        ktap.true(12 <= sum(seen) <= 52, f"of many ports: {seen}")

        def tunneled(i):
            inner = struct.pack("!IHBB16s16s", 6 << 28, 0, 59, 64,
                                socket.inet_pton(socket.AF_INET6, f"fd77::{i:x}"),
                                socket.inet_pton(socket.AF_INET6, "fd78::1"))
            with socket.socket(socket.AF_INET6, socket.SOCK_RAW, 41) as sock:
                sock.setsockopt(socket.IPPROTO_IPV6, AUTOFLOWLABEL, 0)
                sock.sendto(inner, ("fd62::7", 0))
        sends = [functools.partial(tunneled, i) for i in range(1, 65)]
        policy(0)
        ktap.equal(len(set(ways(R, sends, socket.SOCK_RAW, 41))), 1, "one tunnel")
        policy(2)
        seen = ways(R, sends, socket.SOCK_RAW, 41)
        ktap.true(12 <= sum(seen) <= 52, f"flows in a tunnel: {seen}")


def connections():
    """Connections by many ports, and what comes back to each."""
    with by(*BY_BOTH):
        Q.ip("-6", "route", "add", "fd69::/64", "via", "fd60::1", "dev", "h0")
        P.ip("-6", "addr", "add", "fd69::1/128", "dev", "lo", "nodad")
        policy(1)
        with Q, socket.socket(socket.AF_INET6) as listener:
            listener.bind(("fd62::7", 4161))
            listener.listen(64)
            listener.settimeout(10)
            for i in range(16):
                with P, socket.socket(socket.AF_INET6) as client:
                    client.settimeout(10)
                    client.bind(("fd69::1", 5000 + i))
                    client.connect(("fd62::7", 4161))
                    with listener.accept()[0] as server:
                        client.sendall(b"x" * 100000)
                        left = 100000
                        server.settimeout(10)
                        while left:
                            left -= len(server.recv(left))
        Q.ip("-6", "route", "del", "fd69::/64")
        P.ip("-6", "addr", "del", "fd69::1/128", "dev", "lo")


def lost():
    """A next hop that does not answer is left out when that is known."""
    with by(*BY_BOTH[:5], "nexthop", "via", "fd61::9", "dev", "g1"):
        def all_arrive():
            sock, _ = receiver()
            with sock, P:
                for send in datagrams("fd60::1", to_many(32)):
                    send()
                sock.settimeout(0.3)
                came = 0
                with contextlib.suppress(TimeoutError):
                    while came < 32:
                        sock.recv(1)
                        came += 1
                return came == 32
        ktap.wait_for(30, "all go by the one that answers", all_arrive)


def numbers():
    """Policies that there are, and one that there is not."""
    cables()
    for number in range(3):
        policy(number)
        ktap.equal(P.run("sysctl", "-n", "net.ipv6.fib_multipath_hash_policy").strip(),
                   str(number), "policy")
    policy(0)
    with P:
        with open("/proc/sys/net/ipv6/fib_multipath_hash_policy", "wb", buffering=0) as file:
            ktap.raises(errno.EINVAL, file.write, b"9")


def tests():
    ktap.test("several next hops are told")(told)
    ktap.test("next hops that are refused")(refused)
    ktap.test("this host is no router to itself")(own)
    ktap.test("a gateway of a link without a carrier")(early)
    ktap.test("a path MTU goes with its route")(forgotten)
    ktap.test("the route that matches")(matched)
    ktap.test("addresses without a prefix as routes")(single)
    ktap.test("a next hop whose device is down waits")(waiting)
    ktap.test("flows take one of several next hops")(flows)
    ktap.test("each datagram of a socket takes its own")(unconnected)
    ktap.test("packets of others take one of several next hops")(forwarded)
    ktap.test("connections by several next hops")(connections)
    ktap.test("a next hop that is lost")(lost)
    ktap.test("policies of several next hops")(numbers)
