# SPDX-License-Identifier: GPL-2.0
"""Routes that ask for a source address, as they are told and as sockets obey them. ip6_native.py
runs these tests on the native stack, ip6_takeover.py on net6: both are to give the same answers.

    Y [s0] ------ [t0] Z        fd70::1/64, fd70::2/64; Y: fd70::a; Z: fd72::1, fd75::1
    Y [s1] (down) [t1] Z        Y: fd73::1/64, tentative
"""
import contextlib
import functools
import json
import os
import socket
import subprocess

import ktap

ADDR_PREFERENCES, PREFER_SRC_PUBLIC = 72, 2
BY = ("via", "fd70::2", "dev", "s0")
Y, Z = ktap.later("Y"), ktap.later("Z")


@functools.cache
def cable():
    """The namespaces, for the first test that wants them."""
    for ns in (Y, Z):
        ns.up("lo")
    ktap.veth(Y, "s0", Z, "t0")
    for address in ("fd70::1/64", "fd70::a/128"):
        Y.ip("-6", "addr", "add", address, "dev", "s0", "nodad")
    Y.ip("-6", "addr", "add", "fd76::1/128", "dev", "lo", "nodad")
    Z.ip("-6", "addr", "add", "fd70::2/64", "dev", "t0", "nodad")
    for address in ("fd72::1/128", "fd75::1/128"):
        Z.ip("-6", "addr", "add", address, "dev", "lo", "nodad")
    Z.ip("-6", "route", "add", "fd76::/64", "via", "fd70::1", "dev", "t0")
    ktap.wait_for(15, "the other end", lambda: Y.run("ping", "-c1", "-W1", "fd70::2",
                                                     check=False).find(" 0% packet loss") > 0)
    ktap.veth(Y, "s1", Z, "t1")
    Y.ip("link", "set", "s1", "down")
    Y.ip("-6", "addr", "add", "fd73::1/64", "dev", "s1")


def said(*words):
    return Y.run("ip", "-6", "route", *words, check=False).strip()


def told(dst):
    """The source that each route to a destination asks for."""
    out = Y.run("ip", "-6", "-j", "route", "show", dst)
    return [route.get("prefsrc") for route in json.loads(out or "[]")]


def got(dst, *words):
    return json.loads(Y.run("ip", "-6", "-j", "route", "get", dst, *words))[0].get("prefsrc")


@contextlib.contextmanager
def route(dst, *words):
    cable()
    Y.ip("-6", "route", "add", dst, *words)
    try:
        yield
    finally:
        said("del", dst)


def connected(to, own=None, preferences=None):
    """The source that a socket has which is connected to it."""
    with Y, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        if preferences:
            sock.setsockopt(socket.IPPROTO_IPV6, ADDR_PREFERENCES, preferences)
        if own:
            sock.bind((own, 0))
        sock.connect((to, 4170))
        return sock.getsockname()[0]


def shown():
    """It is told, also of a default route and of several next hops; a new one takes its place."""
    for dst in ("fd72::/48", "default"):
        with route(dst, *BY, "src", "fd70::a"):
            ktap.equal(told(dst), ["fd70::a"], f"{dst}: shown")
            ktap.equal(got("fd72::1"), "fd70::a", f"{dst}: the way")
            ktap.equal(got("fd72::1", "from", "fd70::1"), "fd70::a", f"{dst}: the way from another")
            said("replace", dst, *BY, "src", "fd70::1")
            ktap.equal(told(dst), ["fd70::1"], f"{dst}: another")
            ktap.true("File exists" in said("add", dst, *BY, "src", "fd70::a"), f"{dst}: twice")
            said("replace", dst, *BY)
            ktap.equal(told(dst), [None], f"{dst}: none")
    with route("fd72::/48", "src", "fd70::a", "nexthop", *BY,
               "nexthop", "via", "fd70::3", "dev", "s0"):
        ktap.equal(told("fd72::/48"), ["fd70::a"], "of two next hops")
        ktap.equal(got("fd72::1"), "fd70::a", "by one of two")
    for words in (("dev", "s0"), ("unreachable",)):
        kind = words[:1] if len(words) == 1 else ()
        rest = () if kind else words
        Y.ip("-6", "route", "add", *kind, "fd74::/48", *rest, "src", "fd70::a")
        ktap.equal(told("fd74::/48"), ["fd70::a"], " ".join(words))
        said("del", *kind, "fd74::/48")
    with route("fd74::/48", *BY, "src", "::"):
        ktap.equal(told("fd74::/48"), [None], "no address is none")


def refused():
    """It is to be an address of this host's that is not probed for."""
    cable()
    for source in ("fd70::2", "fd73::1", "ff02::1", "fe80::1"):
        out = said("add", "fd72::/48", *BY, "src", source)
        ktap.true("Invalid source address" in out, f"{source}: {out}")
        ktap.equal(told("fd72::/48"), [], f"{source}: none is made")
    with route("fd72::/48", *BY, "src", "fd76::1"):
        ktap.equal(told("fd72::/48"), ["fd76::1"], "of another interface")


def obeyed():
    """By who has no source."""
    for dst in ("fd72::/48", "default"):
        with route(dst, *BY, "src", "fd76::1"):
            ktap.equal(connected("fd72::1"), "fd76::1", f"{dst}: a socket without")
            ktap.equal(connected("fd72::1", own="fd70::1"), "fd70::1", f"{dst}: a socket with one")
            ktap.equal(connected("fd72::1", preferences=PREFER_SRC_PUBLIC), "fd76::1",
                       f"{dst}: a socket with wishes")
    ktap.true(connected("fd70::2") in ("fd70::1", "fd70::a"), "another destination")
    with route("fd72::/48", *BY, "src", "fd76::1"):
        with Z, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            sock.bind(("fd72::1", 4171))
            sock.settimeout(10)
            with Y, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as out:
                for to in ("fd72::1", "fd72::1"):
                    out.sendto(b"x", (to, 4171))
                    ktap.equal(sock.recvfrom(1)[1][0], "fd76::1", "a datagram")
        with Z, socket.socket(socket.AF_INET6) as listener:
            listener.bind(("fd72::1", 4172))
            listener.listen()
            listener.settimeout(10)
            with Y, socket.socket(socket.AF_INET6) as client:
                client.settimeout(10)
                client.connect(("fd72::1", 4172))
                with listener.accept()[0] as server:
                    ktap.equal(server.getpeername()[0], "fd76::1", "a connection")
        ktap.true(" 0% packet loss" in Y.run("ping", "-c1", "-W2", "fd72::1"), "ping")


def gone():
    """An address that goes takes it along, and does not bring it back. The route stays."""
    for dst in ("fd72::/48", "default"):
        with route(dst, *BY, "src", "fd70::a"):
            Y.ip("-6", "addr", "del", "fd70::a/128", "dev", "s0")
            ktap.equal(told(dst), [None], f"{dst}: no source")
            ktap.equal(got("fd72::1"), "fd70::1", f"{dst}: the way")
            Y.ip("-6", "addr", "add", "fd70::a/128", "dev", "s0", "nodad")
            ktap.equal(told(dst), [None], f"{dst}: the address is back")
            said("replace", dst, *BY, "src", "fd70::a")
            ktap.equal(told(dst), ["fd70::a"], f"{dst}: a new route")


def heard():
    """Who listens is told of it."""
    cable()
    monitor = Y.popen("stdbuf", "-oL", "ip", "-6", "monitor", "route", stdout=subprocess.PIPE)
    os.set_blocking(monitor.stdout.fileno(), False)
    told_so_far = ""

    def both():
        nonlocal told_so_far
        with route("fd72::/48", *BY, "src", "fd70::a"):
            pass
        with contextlib.suppress(BlockingIOError):
            told_so_far += os.read(monitor.stdout.fileno(), 65536).decode()
        lines = [line for line in told_so_far.splitlines() if " src fd70::a " in line + " "]
        return {line.startswith("Deleted") for line in lines} == {True, False}
    # Until it listens a route is added in vain.
    ktap.wait_for(20, "the monitor tells of both", both)


def tests():
    ktap.test("a source that a route asks for is told")(shown)
    ktap.test("a source that a route cannot ask for")(refused)
    ktap.test("a source that a route asks for is obeyed")(obeyed)
    ktap.test("a source that a route asks for goes")(gone)
    ktap.test("a source that a route asks for is heard of")(heard)
