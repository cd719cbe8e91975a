#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Floods of every kind from a link, while a neighbor on another one is pinged and sends over
# TCP. Every bound holds and is seen to (counters, drop reasons), no ping is lost, TCP keeps
# 0.7 of its pace, and memory is back afterwards.
#
#	B [b0 Wire] ------ [a0] A [a1] ------ [c1, 2 Mbit/s] C
#	strangers		fd00::6  fd01::6	fd01::c
#
# The flood runs at the lowest priority: what is tested is what it does to net6, not to the
# emulated processor.
# guest: full
# timeout: 420
import contextlib
import itertools
import os
import random
import signal
import socket
import struct
import sys
import threading
import time
import types
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ip
import ktap
import mld
import nd
from ip import OURS

A1, C1 = "fd01::6", "fd01::c"
PACKETS = 300 if ktap.CHECKING else 1500	# of each kind, sent again and again
BYTES = 200000 if ktap.CHECKING else 500000	# over TCP, two seconds' worth
RATE = "1mbit" if ktap.CHECKING else "2mbit"
LIMITS = {"max-addrs": 8, "max-prefixes": 16, "max-routers": 8, "max-neighs": 128,
          "max-dests": 128, "max-ra-routes": 16, "frag-memory": 262144, "frag-timeout": 5}
rng = random.Random(6)
C = ktap.later("C")
shared = types.SimpleNamespace()	# pace, slab: before the floods


def stranger():
    return f"fe80::{rng.getrandbits(48):x}"[:6] + ":".join(
        f"{rng.randrange(1, 65536):x}" for _ in range(4))


def mac():
    return "02:" + ":".join(f"{rng.randrange(256):02x}" for _ in range(5))


def global_address(net="fd00"):
    return f"{net}::" + ":".join(f"{rng.randrange(1, 65536):x}" for _ in range(4))


def advertisement():
    prefix = f"fd{rng.randrange(0x50, 256):02x}:{rng.randrange(65536):x}::"
    route = struct.pack("!BBBBI", 24, 2, 64, 0, 1800) + nd.packed(prefix)[:8]
    return nd.ra(stranger(), options=nd.lladdr_option(nd.SLLA, mac()) +
                 nd.prefix_option(prefix) + route)


def first_fragment(number=itertools.count(1)):
    return nd.ipv6(global_address(), OURS, ip.FRAGMENT, ip.fragment(
        ip.ICMP, 0, True, next(number)) + bytes(1400), 64)


def own_redirect():
    about = global_address("fd77")
    return nd.redirect(ip.wire.linklocal, OURS, stranger(), about, tlla=mac())


def query():
    group = rng.choice(("::", f"ff02::{rng.randrange(65536):x}"))
    return mld.query(ip.wire.linklocal, group,
                     [global_address() for _ in range(rng.randrange(20))],
                     delay=rng.randrange(2000), dest=nd.ALL_NODES)


def scan():
    return nd.echo(ip.PEER, global_address("fd01"), hlim=64)


def count(what, dev="a0"):
    return sum(e.get("dev", dev) == dev for e in nd.show(ip.A, what))


def ready(ns, address):
    return (nd.find(ns, "addresses", address) or {}).get("state") == "preferred"


def unreclaimable():
    """Kilobytes of slab, fragments' pages not counted; checks of the checking kernel keep
    what is freed, and look for leaks themselves."""
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("SUnreclaim"))


def setup():
    ip.setup()
    nd.quiet(C)
    ktap.veth(ip.A, "a1", C, "c1")
    for ns, dev, address in ((ip.A, "a1", A1), (C, "c1", C1)):
        nd.net6ctl(ns, "add", "address", address + "/64", "dev", dev)
        ktap.wait_for(15, f"{address} is preferred", lambda n=ns, a=address: ready(n, a))
    for name, value in LIMITS.items():
        nd.net6ctl(ip.A, "set", "limits", name, str(value))
    ktap.kmod("sch_netem")
    C.run("tc", "qdisc", "add", "dev", "c1", "root", "netem", "rate", RATE, "limit", "1000")
    shared.pace = transfer()
    shared.slab = unreclaimable()


def transfer():
    """Seconds that BYTES take from C to A."""
    server = ktap.net6_socket(ns=ip.A)
    server.bind((A1, 0))
    server.listen(1)
    client = ktap.net6_socket(ns=C)
    start = time.monotonic()
    client.connect((A1, server.getsockname()[1]))
    peer, _ = server.accept()
    sender = threading.Thread(target=client.sendall, args=(bytes(BYTES),))
    sender.start()
    left = BYTES
    peer.settimeout(60 * ktap.SCALE)
    while left:
        left -= len(peer.recv(65536))
    sender.join()
    for sock in (server, client, peer):
        sock.close()
    return time.monotonic() - start


@contextlib.contextmanager
def flood(make):
    packets = [make() for _ in range(PACKETS)]
    pid = os.fork()
    if not pid:
        os.nice(19)
        with contextlib.suppress(BaseException):
            for n, packet in enumerate(itertools.cycle(packets)):
                with contextlib.suppress(OSError):
                    ip.wire.send(packet)
                if not n % 20:
                    time.sleep(0.002)		# pace of the flood
        os._exit(0)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


class Ping(threading.Thread):
    """Echo requests from C to A, one after the other; lost is how many had no reply."""

    def __init__(self):
        super().__init__()
        self.sock = ktap.net6_socket(socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6, C)
        self.sock.settimeout(10 * ktap.SCALE)
        self.sent = self.lost = 0
        self.stop = False

    def run(self):
        while not self.stop:
            self.sent += 1
            self.sock.sendto(struct.pack("!BBHHH", 128, 0, 0, 0, self.sent & 0xffff) + b"x" * 56,
                             (A1, 0))
            try:
                self.sock.recv(200)
            except TimeoutError:
                self.lost += 1
            time.sleep(0.02)		# pace of the pings
        self.sock.close()


def survive(what, make, grows, bounds=()):
    """The flood, with one transfer and pings beside it. grows: counters and drop reasons
    that must say so; bounds: (list, device, at most so many)."""
    delta = ip.Delta()
    ping = Ping()
    with flood(make):
        ping.start()
        try:
            ktap.wait_for(60, f"{what}: {grows} grow", lambda: all(
                delta.read().get(name, 0) >= least for name, least in grows.items()))
            seconds = [transfer() for _ in range(2)]
            grown = unreclaimable() - shared.slab
            for kind, dev, most in bounds:
                ktap.true(count(kind, dev) <= most, f"{what}: {count(kind, dev)} {kind}")
        finally:
            ping.stop = True
            ping.join()
    ktap.diag(f"{what}: {ping.sent} pings, {min(seconds):.2f} s for what took {shared.pace:.2f} s, "
              f"{({k: delta.read().get(k) for k in grows})}, {grown} KB more")
    ktap.true(ktap.CHECKING or grown < 32768, f"{what}: {grown} KB more")
    ktap.equal(ping.lost, 0, f"{what}: pings lost of {ping.sent}")
    ktap.true(min(seconds) <= shared.pace / 0.7, f"{what}: {min(seconds):.2f} s over TCP")
    nd.net6ctl(ip.A, "flush", "neighbors", "dev", "a0")
    nd.net6ctl(ip.A, "add", "neighbor", ip.PEER, "lladdr", ip.wire.mac, "dev", "a0")
    ip.wire.flush()
    ip.alive(f"{what}: an echo request afterwards")


@ktap.test
def router_advertisements():
    # The prefix of our own address was set by hand, and counts apart.
    survive("RA", advertisement, {"NdRouterLimit": 100, "NdPrefixLimit": 100, "NdRouteLimit": 100},
            (("routers", "a0", 8), ("prefixes", "a0", 16 + 1), ("addresses", "a0", 2 * 8 + 3),
             ("neighbors", "a0", 128)))


@ktap.test
def neighbor_solicitations():
    survive("NS", lambda: nd.ns(global_address(), OURS, slla=mac()), {"NdNeighEvicted": 100},
            (("neighbors", "a0", 128),))


@ktap.test
def neighbor_advertisements():
    def unasked():
        target = global_address()
        return nd.na(target, target, tlla=mac())
    survive("NA", unasked, {"drop ND_IGNORED": 100}, (("neighbors", "a0", 128),))


@ktap.test
def redirects():
    ip.wire.send(nd.ra(ip.wire.linklocal, options=nd.lladdr_option(nd.SLLA, ip.wire.mac)))
    ktap.wait_for(10, "the router is known",
                  lambda: nd.find(ip.A, "routers", ip.wire.linklocal) or count("routers") >= 8)
    survive("redirects", own_redirect, {"Icmp6InRedirects": 200},
            (("neighbors", "a0", 128), ("destinations", "a0", 128)))


@ktap.test
def queries_of_multicast_listeners():
    survive("MLD", query, {"Icmp6InGroupMembQueries": 200})


@ktap.test
def fragments():
    survive("fragments", first_fragment, {"drop FRAG_LIMIT": 100})


@ktap.test
def a_scan_of_a_prefix_through_the_router():
    for dev in ("a0", "a1"):
        nd.net6ctl(ip.A, "set", "dev", dev, "forwarding", "on")
    survive("scan", scan, {"NdNeighEvicted": 100},
            (("neighbors", "a1", 128), ("destinations", "a1", 128)))
    for dev in ("a0", "a1"):
        nd.net6ctl(ip.A, "set", "dev", dev, "forwarding", "off")


@ktap.test
def memory_is_back():
    nd.net6ctl(ip.A, "flush", "neighbors")
    nd.net6ctl(ip.A, "flush", "destinations")
    if not ktap.CHECKING:
        ktap.wait_for(30, "at most 4 MB more than before the floods",
                      lambda: unreclaimable() - shared.slab < 4096, unreclaimable)


ktap.main(setup=setup)
