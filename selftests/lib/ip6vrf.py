# SPDX-License-Identifier: GPL-2.0
"""VRFs: devices whose ports have a routing table of their own. ip6_native.py runs these tests on the
native stack, ip6_takeover.py on net6: both are to give the same answers.

    H [h0] ---- [r0] red, table 10      fd70::1/64 on r0 and on b0, fd70::2 on h0 and on k0:
    K [k0] ---- [b0] blue, table 20     both have the same addresses
    L [l0] ---- [r1] red                fd72::/64
    D [d0] ---- [m0] V, in no VRF       fd71::/64
"""
import contextlib
import functools
import json
import os
import re
import socket
import struct

import ktap

BINDTODEVICE, IPV6_PKTINFO, IPV6_RECVPKTINFO = 25, 50, 49
PORT = 7070
D, H, K, L, V = (ktap.later(f"vrf-{name}") for name in "DHKLV")
CABLES = ((H, "h0", "r0", "red", "fd70"), (K, "k0", "b0", "blue", "fd70"),
          (L, "l0", "r1", "red", "fd72"), (D, "d0", "m0", None, "fd71"))


@functools.cache
def cables():
    """The namespaces, for the first test that wants them."""
    ktap.need("vrf")
    V.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1",
          "net.ipv6.conf.all.keep_addr_on_down=1")
    # Local addresses of no VRF are not for VRFs.
    V.ip("-6", "rule", "add", "pref", "32765", "table", "local")
    for name, table in (("red", 10), ("blue", 20)):
        V.ip("link", "add", name, "up", "type", "vrf", "table", str(table))
    V.ip("-6", "rule", "del", "pref", "0")
    for ns, dev, port, vrf, net in CABLES:
        ktap.veth(V, port, ns, dev)
        if vrf:
            V.ip("link", "set", port, "master", vrf)
        V.ip("-6", "addr", "add", f"{net}::1/64", "dev", port, "nodad")
        ns.ip("-6", "addr", "add", f"{net}::2/64", "dev", dev, "nodad")
        ns.ip("-6", "route", "add", "default", "via", f"{net}::1", "dev", dev)
    for ns, _, _, _, net in CABLES:
        reached(ns, f"{net}::1")


def pings(ns, *words):
    return " 0% packet loss" in ns.run("ping", "-c1", "-W1", *words, check=False)


def reached(ns, *words):
    ktap.wait_for(15, f"an echo from {words[-1]}", lambda: pings(ns, *words))


def index(ns, dev):
    with ns:
        return socket.if_nametoindex(dev)


def sock(ns, kind=socket.SOCK_STREAM, dev=None, bind=None):
    with ns:
        s = socket.socket(socket.AF_INET6, kind)
    s.settimeout(10 * ktap.SCALE)
    if dev:
        s.setsockopt(socket.SOL_SOCKET, BINDTODEVICE, dev.encode())
    if bind is not None:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((bind, PORT))
    return s


def listener(ns, dev=None, bind="::"):
    s = sock(ns, dev=dev, bind=bind)
    s.listen()
    return s


def device(s):
    return s.getsockopt(socket.SOL_SOCKET, BINDTODEVICE, 16).rstrip(b"\0").decode()


def connects(ns, address):
    """The connected socket, or why there is none."""
    s = sock(ns)
    try:
        s.connect((address, PORT))
    except OSError as error:
        s.close()
        return type(error).__name__
    return s


def shown(*words):
    """{(destination, device)} of what "ip route show" lists."""
    routes = json.loads(V.run("ip", "-6", "-j", "route", "show", *words) or "[]")
    return {(r["dst"], r.get("dev")) for r in routes}


@contextlib.contextmanager
def route(*words):
    V.ip("-6", "route", "add", *words)
    try:
        yield
    finally:
        V.ip("-6", "route", "del", *words)


def tables():
    """A VRF's table has what main and local have for the others. One rule leads to all of them."""
    cables()
    rules = V.run("ip", "-6", "rule", "show")
    ktap.equal(re.findall(r"^(\d+):.*lookup \[l3mdev-table\]", rules, re.M), ["1000"], "the rule")
    red, main = shown("vrf", "red"), shown("table", "main")
    for one in (("fd70::/64", "r0"), ("fe80::/64", "r0"), ("fd72::/64", "r1"), ("ff00::/8", "r1")):
        ktap.true(one in red, f"{one} is in red: {red}")
    ktap.true(("fd70::1", "r0") in shown("vrf", "red", "type", "local"), "an address")
    ktap.true(("fd71::/64", "m0") in main, f"main: {main}")
    local = shown("table", "local", "type", "local")
    ktap.true(not {r for r in main | local if r[1] in ("r0", "r1", "b0")},
              f"ports in main or local: {main | local}")
    ktap.true(("fd70::/64", "b0") in shown("vrf", "blue"), "blue")
    got = json.loads(V.run("ip", "-6", "-j", "route", "get", "vrf", "blue", "fd70::9"))[0]
    ktap.equal((got["dev"], got.get("table"), got["prefsrc"]), ("b0", "20", "fd70::1"),
               "route get in blue")
    got = json.loads(V.run("ip", "-6", "-j", "route", "get", "fd70::9", "oif", "r0"))[0]
    ktap.equal((got["dev"], got.get("table")), ("r0", "10"), "route get by the port")
    out = V.run("ip", "-6", "route", "get", "fd70::9", check=False)
    ktap.true("unreachable" in out, f"of none: {out}")


def echoes():
    """Each VRF has its own neighbors, with the same addresses."""
    cables()
    for vrf, ns, port in (("red", H, "r0"), ("blue", K, "b0")):
        reached(V, "-I", vrf, "fd70::2")
        reached(V, "-I", port, "fd70::2")
        reached(ns, "fd70::1")
        reached(V, "-I", vrf, "fd70::1")		# its own address
    ktap.true("unreachable" in V.run("ping", "-c1", "-W1", "fd70::2", check=False), "of none")
    ktap.true(not pings(V, "fd70::1"), "an address of a VRF is none of the others'")
    ktap.true(not pings(V, "-I", "red", "fd71::1"), "and none of theirs is a VRF's")
    linklocal = json.loads(H.run("ip", "-j", "-6", "addr", "show", "dev", "h0", "scope", "link"))
    address = [a["local"] for entry in linklocal for a in entry.get("addr_info", ())
               if "local" in a][0]
    reached(V, f"{address}%r0")
    for target in (f"{address}%red", "ff02::1%red"):
        out = V.run("ping", "-c1", "-W1", target, check=False)
        ktap.true("100% packet loss" in out, f"the VRF's device is no link: {out}")


def listeners():
    """A listener without a device has no connections of VRFs. One of a VRF has those of its ports,
    and its connections are the VRF's; it shares the port with the others.
    """
    cables()
    with listener(V):
        ktap.equal(connects(H, "fd70::1"), "ConnectionRefusedError", "of no VRF")
        with listener(V, "red") as red, listener(V, "blue") as blue:
            for ns, server, vrf in ((H, red, "red"), (K, blue, "blue")):
                with connects(ns, "fd70::1") as client:
                    taken = server.accept()[0]
                    with taken:
                        ktap.equal(device(taken), vrf, "its device")
                        taken.sendall(vrf.encode())
                        ktap.equal(client.recv(9), vrf.encode(), "what it sends")
                        ktap.equal(taken.getpeername()[0], "fd70::2", "the peer")
            with connects(D, "fd71::1") as client:
                ktap.equal(client.getpeername()[0], "fd71::1", "of none")
    with listener(V, "r0") as port, connects(H, "fd70::1") as client:
        with port.accept()[0] as taken:
            ktap.equal(device(taken), "r0", "a listener on the port itself")
        ktap.equal(client.recv(1), b"", "its end")
        ktap.equal(connects(L, "fd72::1"), "ConnectionRefusedError", "another port")
    # A connection ends in TIME-WAIT here, and answers in its VRF.
    reached(V, "-I", "red", "fd70::2")


def clients():
    """A connection of a VRF leaves by it. Two of different VRFs may have the same name."""
    cables()
    with listener(H, bind="fd70::2") as h, listener(K, bind="fd70::2") as k:
        made = []
        for vrf, server in (("red", h), ("blue", k)):
            s = sock(V, dev=vrf)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("fd70::1", 7071))
            s.connect(("fd70::2", PORT))
            taken, peer = server.accept()
            ktap.equal(peer[:2], ("fd70::1", 7071), f"who comes by {vrf}")
            made.append((s, taken, vrf))
        for s, taken, vrf in made:
            taken.sendall(vrf.encode())
            ktap.equal(s.recv(9), vrf.encode(), f"by {vrf}")
            taken.close()
            s.close()
        with sock(V) as s:
            ktap.raises(101, s.connect, ("fd70::2", PORT))


def addresses():
    """bind() takes addresses of the socket's VRF, or of no VRF."""
    cables()
    for dev, bind, allowed in ((None, "fd70::1", False), (None, "fd71::1", True),
                               ("red", "fd70::1", True), ("r1", "fd70::1", True),
                               ("red", "fd72::1", True), ("blue", "fd72::1", False),
                               ("red", "fd71::1", False), ("m0", "fd72::1", False)):
        with sock(V, dev=dev) as s:
            if allowed:
                s.bind((bind, 0))
            else:
                ktap.raises(99, s.bind, (bind, 0))


def accepts():
    """net.ipv4.tcp_l3mdev_accept and udp_l3mdev_accept: one socket for all VRFs."""
    cables()
    both = ("net.ipv4.tcp_l3mdev_accept", "net.ipv4.udp_l3mdev_accept")
    V.run("sysctl", "-qw", *(f"{name}=1" for name in both))
    try:
        with listener(V) as s:
            for ns, vrf in ((H, "red"), (K, "blue")):
                with connects(ns, "fd70::1") as client, s.accept()[0] as taken:
                    ktap.equal(device(taken), vrf, "its device")
                    taken.sendall(b"x")
                    ktap.equal(client.recv(1), b"x", f"by {vrf}")
        with sock(V, socket.SOCK_DGRAM, bind="::") as s:
            asked(s, H, b"one")
            asked(s, K, b"two")
    finally:
        V.run("sysctl", "-qw", *(f"{name}=0" for name in both))


def asked(s, ns, what):
    """A datagram from a neighbor comes, and tells the port that it came in on."""
    s.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)
    with sock(ns, socket.SOCK_DGRAM) as client:
        client.sendto(what, ("fd70::1", PORT))
        data, ancillary, _, peer = s.recvmsg(100, 100)
        ktap.equal((data, peer[0]), (what, "fd70::2"), "the datagram")
        came, = struct.unpack_from("=16xi", ancillary[0][2])
        ktap.equal(came, index(V, "r0" if ns is H else "b0"), "where it came in")
        return client.getsockname()[1]


def datagrams():
    """A socket of a VRF has what its ports receive; one without a device has not."""
    cables()
    with sock(V, socket.SOCK_DGRAM, bind="::") as none, \
            sock(V, socket.SOCK_DGRAM, "red", "::") as red, \
            sock(V, socket.SOCK_DGRAM, "blue", "::") as blue:
        asked(red, H, b"red")
        asked(blue, K, b"blue")
        none.setblocking(False)
        ktap.raises(11, none.recv, 1)
        with sock(H, socket.SOCK_DGRAM, bind="fd70::2") as h, \
                sock(K, socket.SOCK_DGRAM, bind="fd70::2") as k:
            for s, there in ((red, h), (blue, k), (red, h)):
                for _ in range(2):		# the second goes as the first went
                    s.sendto(b"out", ("fd70::2", PORT))
                    ktap.equal(there.recvfrom(9)[1][0], "fd70::1", "who has sent it")
            by_port = [(socket.IPPROTO_IPV6, IPV6_PKTINFO,
                        struct.pack("=16si", b"", index(V, "r0")))]
            red.sendmsg([b"port"], by_port, 0, ("fd70::2", PORT))
            ktap.equal(h.recv(9), b"port", "by the port that a message names")
            by_port[0] = by_port[0][:2] + (struct.pack("=16si", b"", index(V, "b0")),)
            ktap.raises(22, red.sendmsg, [b"port"], by_port, 0, ("fd70::2", PORT))
        ktap.raises(101, none.sendto, b"out", ("fd70::2", PORT))


def refused():
    """ICMPv6 errors of a VRF come from it and go back to it."""
    cables()
    with sock(H, socket.SOCK_DGRAM) as s:
        s.connect(("fd70::1", PORT + 1))
        s.send(b"nobody")
        ktap.raises(111, s.recv, 1)
    with sock(V, socket.SOCK_DGRAM, "blue") as s:
        s.connect(("fd70::2", PORT + 1))
        s.send(b"nobody")
        ktap.raises(111, s.recv, 1)
    with route("vrf", "red", "unreachable", "default", "metric", "4278198272"):
        out = H.run("ping", "-c1", "-W2", "fd71::2", check=False)
        ktap.true("fd70::1" in out and "No route" in out, f"what a VRF has no route to: {out}")


def forwarded():
    """From port to port of one VRF; to others by a route of its table."""
    cables()
    reached(H, "fd72::2")
    reached(L, "fd70::2")
    ktap.true(not pings(H, "fd71::2") and not pings(D, "fd70::2"), "to no other")
    with route("fd71::/64", "dev", "m0", "table", "10"), route("fd70::/64", "dev", "r0"):
        ktap.true(("fd71::/64", "m0") in shown("vrf", "red"), "the leak is red's")
        reached(H, "fd71::2")
        reached(D, "fd70::2")
    ktap.true(not pings(H, "fd71::2"), "without the route")


def leaks():
    """A route to a VRF's device leads to what that VRF knows. Errors come back by the same way."""
    cables()
    with route("fd70::/64", "dev", "red"), route("vrf", "red", "fd71::/64", "dev", "m0"):
        reached(D, "fd70::2")
        reached(H, "fd71::2")
        with listener(H, bind="fd70::2") as h, connects(D, "fd70::2") as client:
            with h.accept()[0] as taken:
                taken.sendall(bytes(100000))
                ktap.equal(len(ktap.take(client, 100000)), 100000, "octets")
                client.sendall(bytes(100000))
                ktap.equal(len(ktap.take(taken, 100000)), 100000, "octets back")
        V.ip("link", "set", "r0", "mtu", "1300")
        try:
            out = D.run("ping", "-c1", "-W2", "-s1400", "-Mdo", "fd70::2", check=False)
            ktap.true("mtu: 1300" in out or "mtu=1300" in out, f"a packet that is too big: {out}")
        finally:
            V.ip("link", "set", "r0", "mtu", "1500")
        out = D.run("ping", "-c1", "-W2", "-t1", "fd70::2", check=False)
        ktap.true("fd71::1" in out and "Hop limit" in out or "Time exceeded" in out,
                  f"out of hops: {out}")
    with route("fd75::/64", "dev", "red"), route("vrf", "red", "fd75::/64", "dev", "blue"), \
            route("vrf", "blue", "fd75::/64", "dev", "red"):
        ktap.true(not pings(D, "fd75::1"), "in a circle")
    ktap.true(not pings(D, "fd70::2"), "without the routes")


def gateways():
    """Default routes of a VRF, and a route that refuses behind them."""
    cables()
    H.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
    for ns in (H, K):
        ns.ip("-6", "addr", "add", "fd73::1/128", "dev", "lo", "nodad")
    with route("vrf", "red", "default", "via", "fd70::2"):
        got = json.loads(V.run("ip", "-6", "-j", "route", "get", "vrf", "red", "fd73::1"))[0]
        ktap.equal((got.get("gateway"), got["dev"]), ("fd70::2", "r0"), "route get")
        reached(V, "-I", "red", "fd73::1")
        reached(L, "fd73::1")
        ktap.true("unreachable" in V.run("ping", "-c1", "-W1", "-I", "blue", "fd73::1", check=False),
                  "not in the other VRF")
        ktap.true(("default", "r0") not in shown("table", "main"), "not in main")
        with route("vrf", "red", "default", "via", "fd72::2", "metric", "2000"):
            reached(V, "-I", "red", "fd73::1")
            ktap.equal(shown("vrf", "red", "default"), {("default", "r0"), ("default", "r1")},
                       "both")
    with route("vrf", "blue", "unreachable", "default", "metric", "4278198272"):
        out = V.run("ping", "-c1", "-W1", "-I", "blue", "fd73::1", check=False)
        ktap.true("No route to host" in out, f"refused: {out}")
    out = V.run("ip", "-6", "nexthop", "add", "id", "7", "via", "fd70::2", "dev", "r0")
    with route("vrf", "red", "fd73::/64", "nhid", "7"):
        reached(V, "-I", "red", "fd73::1")
    V.ip("nexthop", "del", "id", "7")
    for words, wanted in (
            ((("nexthop", "via", "fd79::1", "dev", "r0"), ("nexthop", "via", "fd79::2", "dev", "r1")), ""),
            ((("via", "fd72::9", "dev", "r0"),), "mismatch"), ((("via", "fd70::9", "dev", "r0"),), ""),
            ((("via", "fd71::9", "dev", "r0"),), "")):
        words = sum(words, ())
        out = V.run("ip", "-6", "route", "add", "vrf", "red", "fd76::/64", "onlink", *words,
                    check=False)
        ktap.true(wanted in out and bool(wanted) == bool(out), f"onlink {words}: {out}")
        if not wanted:
            V.ip("-6", "route", "del", "vrf", "red", "fd76::/64")
    out = V.run("ip", "-6", "route", "add", "fd76::/64", "via", "fd71::9", "dev", "lo", "onlink",
                check=False)
    ktap.true("mismatch" in out, f"onlink in main: {out}")
    with route("default", "via", "fd70::2", "dev", "r0"):
        ktap.true(("default", "r0") in shown("table", "main"), "by a port, but in main")
        ktap.true(("default", "r0") not in shown("vrf", "red"), "and not in the VRF's table")


def own():
    """An address of a VRF's device is the VRF's, on all of its ports."""
    cables()
    V.ip("-6", "addr", "add", "fd7f::1/128", "dev", "red", "nodad")
    V.ip("-6", "addr", "add", "::1/128", "dev", "red", "nodad")
    reached(H, "fd7f::1")
    reached(L, "fd7f::1")
    ktap.true(not pings(K, "fd7f::1"), "not the other VRF's")
    reached(V, "-I", "red", "fd7f::1")
    reached(V, "-I", "red", "::1")
    # From the address itself, not from the device's.
    reached(V, "-I", "r0", "fd70::1")
    reached(V, "::1")
    with listener(V, "red", "fd7f::1") as s, connects(H, "fd7f::1") as client:
        with s.accept()[0] as taken:
            ktap.equal((taken.getsockname()[0], client.getpeername()[0]), ("fd7f::1",) * 2,
                       "a connection to it")
    for address in ("fd7f::1/128", "::1/128"):
        V.ip("-6", "addr", "del", address, "dev", "red")


def executed():
    """ "ip vrf exec": a program of the control group binds each socket to the VRF's device."""
    cables()
    os.rmdir(ktap.cgroup()[1])		# the root is what it wants
    for vrf, port in (("red", "r0"), ("blue", "b0")):
        out = V.run("ip", "vrf", "exec", vrf, "ping", "-c1", "-W5", "fd70::2")
        ktap.true(" 0% packet loss" in out, f"in {vrf}: {out}")
        out = V.run("ip", "vrf", "exec", vrf, "ip", "-6", "route", "show", "table", "all")
        ktap.true(port in out, f"routes: {out}")
    out = V.run("ip", "vrf", "exec", "red", "ping", "-c1", "-W1", "-I", "fd70::1", "fd70::1")
    ktap.true(" 0% packet loss" in out, f"an address of the VRF: {out}")


def filtered():
    """netfilter's rules see a VRF's device as the one that its packets came in on."""
    cables()
    V.run("nft", "-f", "-", input="""table ip6 vrf {
        chain in {
            type filter hook input priority 0;
            iifname "red" icmpv6 type echo-request counter
        }
        chain through {
            type filter hook forward priority 0;
            iifname "red" oifname "r1" counter
        }
    }""")
    try:
        reached(H, "fd70::1")
        reached(K, "fd70::1")
        reached(H, "fd72::2")
        counted = re.findall(r"packets (\d+)", V.run("nft", "list", "table", "ip6", "vrf"))
        ktap.true(counted[0] == "1" and int(counted[1]) >= 1, f"packets: {counted}")
    finally:
        V.run("nft", "delete", "table", "ip6", "vrf")


def moved():
    """A port that leaves its VRF has its addresses in main, and no routes of the VRF."""
    cables()
    V.ip("-6", "route", "add", "vrf", "red", "fd74::/64", "via", "fd72::2")
    V.ip("link", "set", "r1", "nomaster")
    ktap.wait_for(10, "its prefix in main", lambda: ("fd72::/64", "r1") in shown("table", "main"))
    ktap.true(not {r for r in shown("vrf", "red") if r[1] == "r1"}, "none in red")
    reached(V, "fd72::2")
    reached(L, "fd72::1")
    ktap.true(not pings(L, "fd70::2"), "not to red any more")
    V.ip("link", "set", "r1", "master", "blue")
    ktap.wait_for(10, "its prefix in blue", lambda: ("fd72::/64", "r1") in shown("vrf", "blue"))
    reached(V, "-I", "blue", "fd72::2")
    V.ip("link", "set", "r1", "master", "red")
    ktap.wait_for(10, "its prefix in red", lambda: ("fd72::/64", "r1") in shown("vrf", "red"))
    reached(L, "fd70::2")


def gone():
    """A VRF goes: its ports are as others."""
    cables()
    with sock(V, socket.SOCK_DGRAM, "blue", "::") as s:
        V.ip("link", "del", "blue")
        ktap.wait_for(10, "its prefix in main",
                      lambda: ("fd70::/64", "b0") in shown("table", "main"))
        reached(V, "fd70::2")
        reached(K, "fd70::1")
        ktap.true(ktap.failing(s.sendto, b"x", ("fd70::2", PORT)), "its device is gone")
    rules = V.run("ip", "-6", "rule", "show")
    ktap.true("l3mdev-table" in rules, "the rule stays")


def tests():
    for function in (tables, echoes, listeners, clients, addresses, accepts, datagrams, refused,
                     forwarded, leaks, gateways, own, executed, filtered, moved, gone):
        ktap.test(f"VRF: {function.__name__}")(function)
