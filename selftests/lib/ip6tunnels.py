# SPDX-License-Identifier: GPL-2.0
"""Tunnels over IPv6 (RFC 2473), devices of kind ip6tnl. ip6_native.py runs these tests on the native
stack, tunnel_ip6tnl.py on net6: both are to give the same answers.

    A [a0] ------ [r0] R [r1] ------ [b0] B         fd80::/64, fd81::/64
    A [t0] ================================ [t0] B  fd82::/64, 192.0.2.0/24
"""
import concurrent.futures
import contextlib
import functools
import json
import os
import re
import socket
import struct

import ktap

A, B, R = (ktap.later(f"tunnel-{name}") for name in "ABR")
IN_A, IN_B, INNER_A, INNER_B = "fd80::a", "fd81::b", "fd82::a", "fd82::b"
V4_A, V4_B = "192.0.2.1", "192.0.2.2"
PORT = 7080
DSTOPTS, TUNNEL_LIMIT = 60, 4


@functools.cache
def cables():
    """The namespaces, for the first test that wants them."""
    if not os.path.isdir("/sys/module/net6"):
        ktap.need("ip6_tunnel")
    R.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
    for ns, dev, port, near, far in ((A, "a0", "r0", IN_A, "fd80::1"),
                                     (B, "b0", "r1", IN_B, "fd81::1")):
        ktap.veth(R, port, ns, dev)
        R.ip("-6", "addr", "add", f"{far}/64", "dev", port, "nodad")
        ns.ip("-6", "addr", "add", f"{near}/64", "dev", dev, "nodad")
        ns.ip("-6", "route", "add", "default", "via", far, "dev", dev)
        ns.ip("link", "set", "lo", "up")
    ktap.wait_for(15, "the other end", lambda: pings(A, IN_B))


@contextlib.contextmanager
def tunnel(*words, mode="any"):
    """Between A and B. @words are of A's end."""
    cables()
    for ns, local, remote, more, v6, v4 in ((A, IN_A, IN_B, words, INNER_A, V4_A),
                                            (B, IN_B, IN_A, (), INNER_B, V4_B)):
        ns.ip("link", "add", "t0", "type", "ip6tnl", "mode", mode, "local", local, "remote", remote,
              *more)
        ns.ip("link", "set", "t0", "up")
        ns.ip("-6", "addr", "add", f"{v6}/64", "dev", "t0", "nodad")
        ns.ip("addr", "add", f"{v4}/24", "dev", "t0")
    try:
        yield
    finally:
        for ns in (A, B):
            ns.run("ip", "link", "del", "t0", check=False)


def pings(ns, *words):
    return " 0% packet loss" in ns.run("ping", "-c1", "-W1", *words, check=False)


def reached(ns, *words):
    ktap.wait_for(15, f"an echo from {words[-1]}", lambda: pings(ns, *words))


def said(ns, *words):
    return ns.run("ping", "-c1", "-W2", *words, check=False)


def details(ns, dev="t0"):
    return json.loads(ns.run("ip", "-d", "-j", "link", "show", dev))[0]


def talk(family, address, size=1000000):
    """By TCP to B, there and back."""
    with B:
        server = socket.create_server((address, PORT), family=family)
    with server, A:
        client = socket.socket(family)
        for s in (server, client):
            s.settimeout(20 * ktap.SCALE)
        client.connect((address, PORT))
        with client, server.accept()[0] as taken:
            taken.settimeout(20 * ktap.SCALE)
            for one, other in ((client, taken), (taken, client)):
                with concurrent.futures.ThreadPoolExecutor() as pool:
                    sent = pool.submit(one.sendall, bytes(size))
                    ktap.equal(len(ktap.take(other, size)), size, "octets")
                    sent.result()


class Outer:
    """What goes by R's cable to A: packets in packets of A's."""

    def __init__(self, dev="r0"):
        with R:
            self.s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x86dd))
            self.s.bind((dev, 0x86dd))
        self.s.settimeout(10 * ktap.SCALE)

    def next(self):
        """The next one: outer header, options or None, what is inside."""
        while True:
            data, where = self.s.recvfrom(2000)
            if where[2] == socket.PACKET_OUTGOING or data[8:24] != socket.inet_pton(
                    socket.AF_INET6, IN_A) or data[6] not in (DSTOPTS, 41, 4):
                continue
            if data[6] == DSTOPTS:
                return data[:40], data[40:48], data[48:]
            return data[:40], None, data[40:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.s.close()


def carried():
    """IPv6 and IPv4 in one tunnel, or one of them."""
    for mode, v6, v4 in (("any", True, True), ("ip6ip6", True, False), ("ipip6", False, True)):
        with tunnel(mode=mode):
            for works, address in ((v6, INNER_B), (v4, V4_B)):
                if works:
                    reached(A, address)
                else:
                    ktap.true(not pings(A, address), f"{address} by {mode}")
    with tunnel():
        reached(A, INNER_B)
        talk(socket.AF_INET6, INNER_B)
        talk(socket.AF_INET, V4_B)


def shown():
    """What was asked for is told, and may be changed."""
    cables()
    with tunnel("hoplimit", "7", "encaplimit", "2", "tclass", "0x20"):
        info = details(A)["linkinfo"]
        ktap.equal(info["info_kind"], "ip6tnl", "kind")
        data = info["info_data"]
        ktap.equal((data["proto"], data["local"], data["remote"], data["ttl"], data["encap_limit"]),
                   ("any", IN_A, IN_B, 7, 2), "data")
        ktap.equal(details(A)["mtu"], 1452, "MTU")
        A.ip("link", "set", "t0", "type", "ip6tnl", "encaplimit", "none", "local", IN_A,
             "remote", "fd81::c")
        ktap.equal(details(A)["linkinfo"]["info_data"]["remote"], "fd81::c", "changed")
        ktap.true(not pings(A, INNER_B), "it leads elsewhere")
        A.ip("link", "set", "t0", "type", "ip6tnl", "remote", IN_B, "local", IN_A)
        reached(A, INNER_B)
        out = A.run("ip", "link", "add", "t1", "type", "ip6tnl", "local", IN_A, "remote", IN_B,
                    check=False)
        ktap.true("File exists" in out or "between these ends" in out, f"the same ends: {out}")


def outer():
    """The header in front: hop limit, traffic class, encapsulation limit."""
    with tunnel("hoplimit", "9", "tclass", "0x20"), Outer() as wire:
        reached(A, INNER_B)
        header, options, inner = wire.next()
        ktap.equal(header[7], 9, "hop limit")
        ktap.equal(struct.unpack("!I", header[:4])[0] >> 20 & 0xff, 0x20, "traffic class")
        ktap.equal(options, bytes((41, 0, TUNNEL_LIMIT, 1, 4, 1, 1, 0)), "options")
        ktap.equal(inner[0] >> 4, 6, "IPv6 inside")
    with tunnel("hoplimit", "inherit", "tclass", "inherit", "encaplimit", "none"), Outer() as wire:
        reached(A, "-t", "77", "-Q", "0x48", INNER_B)
        header, options, _ = wire.next()
        while header[7] != 77:		# not the echo
            header, options, _ = wire.next()
        ktap.equal(struct.unpack("!I", header[:4])[0] >> 20 & 0xff, 0x48, "traffic class")
        ktap.equal(options, None, "no options")


def too_big():
    """A narrower link on the path: senders learn of it; what may be cut is cut."""
    with tunnel():
        reached(A, INNER_B)
        reached(A, V4_B)
        for ns, dev in ((R, "r1"), (B, "b0")):
            ns.ip("link", "set", dev, "mtu", "1400")
        try:
            ktap.wait_for(15, "the path's MTU by ICMPv6",
                          lambda: re.search("mtu(: |=)1352", said(A, "-s", "1380", "-Mdo", INNER_B)))
            ktap.wait_for(15, "the path's MTU by ICMP",
                          lambda: re.search("mtu ?= ?1352", said(A, "-s", "1380", "-Mdo", V4_B)))
            talk(socket.AF_INET6, INNER_B)
            talk(socket.AF_INET, V4_B)
        finally:
            for ns, dev in ((R, "r1"), (B, "b0")):
                ns.ip("link", "set", dev, "mtu", "1500")


def narrow():
    """A packet of 1280 octets goes through a path of 1280 octets, in pieces."""
    with tunnel():
        reached(A, INNER_B)
        for ns, dev in ((R, "r1"), (B, "b0")):
            ns.ip("link", "set", dev, "mtu", "1280")
        try:
            reached(A, "-s", "1232", INNER_B)
        finally:
            for ns, dev in ((R, "r1"), (B, "b0")):
                ns.ip("link", "set", dev, "mtu", "1500")


def errors():
    """What routers say of outer packets is told to who has sent the inner ones."""
    with tunnel("hoplimit", "1"):
        for address in (INNER_B, V4_B):
            ktap.wait_for(15, "the hop limit is too small", lambda a=address: "nreachable" in
                          said(A, a))
    with tunnel(), route(R, "unreachable", f"{IN_B}/128"):
        for address in (INNER_B, V4_B):
            ktap.wait_for(15, "no way", lambda a=address: "nreachable" in said(A, a))


@contextlib.contextmanager
def route(ns, *words):
    ns.ip("-6", "route", "add", *words)
    try:
        yield
    finally:
        ns.ip("-6", "route", "del", *words)


def limits():
    """A tunnel in a tunnel, as far as the outer one's limit lets it."""
    for limit, works in ((1, True), (0, False)):
        with tunnel():
            reached(A, INNER_B)
            for ns, local, remote, address in ((A, INNER_A, INNER_B, "fd83::a"),
                                               (B, INNER_B, INNER_A, "fd83::b")):
                ns.ip("link", "add", "t1", "type", "ip6tnl", "mode", "ip6ip6", "local", local,
                      "remote", remote, "encaplimit", str(limit))
                ns.ip("link", "set", "t1", "up")
                ns.ip("-6", "addr", "add", f"{address}/64", "dev", "t1", "nodad")
            if works:
                with Outer() as wire:
                    reached(A, "fd83::b")
                    ktap.equal(wire.next()[1][4], 0, "the outer limit is one less")
            else:
                ktap.wait_for(15, "an error", lambda: "nreachable" in said(A, "fd83::b"))
            for ns in (A, B):
                ns.ip("link", "del", "t1")


def strangers():
    """A packet in a packet of somebody who is not the far end is not taken."""
    with tunnel():
        reached(A, INNER_B)
        R.ip("link", "add", "t1", "type", "ip6tnl", "mode", "any", "local", "fd81::1", "remote",
             IN_B)
        R.ip("link", "set", "t1", "up")
        R.ip("-6", "addr", "add", "fd82::c/64", "dev", "t1", "nodad")
        ktap.wait_for(15, "it is refused", lambda: "nreachable" in said(R, INNER_B))
        R.ip("link", "del", "t1")
        reached(A, INNER_B)


def any_local():
    """A tunnel without an address at our end takes the one that the route has."""
    cables()
    with tunnel():
        A.ip("link", "set", "t0", "type", "ip6tnl", "local", "::", "remote", IN_B)
        reached(A, INNER_B)
        reached(A, V4_B)


def forwarded():
    """A packet that A forwards into the tunnel, and one that is too big for it."""
    with tunnel():
        A.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
        R.ip("-6", "route", "add", "fd82::/64", "via", IN_A, "dev", "r0")
        B.ip("-6", "route", "add", "fd80::1/128", "dev", "t0")
        reached(R, "-I", "fd80::1", INNER_B)
        out = said(R, "-s", "1440", "-Mdo", "-I", "fd80::1", INNER_B)
        ktap.true("1452" in out, f"too big: {out}")
        R.ip("-6", "route", "del", "fd82::/64", "via", IN_A, "dev", "r0")
        A.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=0")


def gone():
    """It goes with packets on their way, and with its namespace."""
    for _ in range(3):
        with tunnel():
            reached(A, INNER_B)
            process = A.popen("ping", "-f", "-c", "2000", INNER_B, stdout=-3)
        process.kill()
        process.wait()
    other = ktap.Netns("tunnel-gone")
    other.ip("link", "add", "t0", "up", "type", "ip6tnl", "mode", "any", "local", IN_A, "remote",
             IN_B)
    other.delete()
    reached(A, IN_B)


def under():
    """The device that its packets leave by goes, and comes again."""
    cables()
    for again in (False, True):
        ktap.veth(A, "a9", B, "b9")
        for ns, dev, local, remote, inner in ((A, "a9", "fd84::a", "fd84::b", "fd85::a"),
                                              (B, "b9", "fd84::b", "fd84::a", "fd85::b")):
            ns.ip("-6", "addr", "add", f"{local}/64", "dev", dev, "nodad")
            if not again:
                ns.ip("link", "add", "t9", "type", "ip6tnl", "mode", "ip6ip6", "local", local,
                      "remote", remote)
                ns.ip("link", "set", "t9", "up")
                ns.ip("-6", "addr", "add", f"{inner}/64", "dev", "t9", "nodad")
        reached(A, "fd85::b")
        A.ip("link", "del", "a9")
        ktap.true(not pings(A, "fd85::b"), "no way")
    for ns in (A, B):
        ns.ip("link", "del", "t9")


def tests(native=False):
    """Linux loses a packet of 1280 octets on such a path, and keeps the source that it had."""
    for function in (carried, shown, outer, too_big, errors, limits, strangers, forwarded, under, gone,
                     *(() if native else (narrow, any_local))):
        ktap.test(f"tunnels over IPv6: {function.__name__}")(function)
