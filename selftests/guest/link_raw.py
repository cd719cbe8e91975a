#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# net6 as a host's only IPv6 on devices whose packets have no link-layer header: tun, WireGuard,
# GRE, sit and PPP (lib/rawlinks.py, where native is the judge). They come and go under traffic,
# with their namespaces and with the module.
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 120
import contextlib
import os
import socket
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud
import ktap
import rawlinks

ADDRESS = "fd90:99::1"
ROUNDS = 2
NAMED = 300		# destinations


def setup():
    ktap.net6_load()


@contextlib.contextmanager
def shouting(fd):
    """A program at a tun device's end that sends what is answered, and reads nothing."""
    stop = threading.Event()
    packet = rawlinks.icmp("fd90:99::9", ADDRESS, rawlinks.ECHO, b"\0\1\0\1" + bytes(1000), 64)

    def shout():
        while not stop.wait(0.005):
            for _ in range(10):
                with contextlib.suppress(OSError):
                    os.write(fd, packet)
    thread = threading.Thread(target=shout)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def answered(fd):
    """An echo comes back, whatever else waits to be read."""
    with contextlib.suppress(BlockingIOError):
        while os.read(fd, 65536):
            pass
    os.write(fd, rawlinks.icmp("fd90:99::9", ADDRESS, rawlinks.ECHO, b"\0\1\0\1", 64))
    peer = rawlinks.Program(fd)
    ktap.equal(peer.until(socket.IPPROTO_ICMPV6, rawlinks.ECHO_REPLY), (ADDRESS, "fd90:99::9"),
               "echo")


@ktap.test
def the_module_goes_and_comes_under_traffic():
    rawlinks.need("tun")
    ns = ktap.Netns("M")
    fd = rawlinks.tun(ns, "tun0")
    ns.up("tun0")
    for _ in range(ROUNDS):
        ns.ip("-6", "addr", "add", ADDRESS + "/64", "dev", "tun0")
        answered(fd)
        with shouting(fd):
            ns.down("tun0")
            ns.up("tun0")
            ktap.unload("net6")
            ktap.run("insmod", f"{ktap.BUILD}/net6/net6.ko")
    ns.ip("-6", "addr", "add", ADDRESS + "/64", "dev", "tun0")
    answered(fd)
    with shouting(fd):
        ns.delete()
    os.close(fd)


@ktap.test
def a_device_goes_under_traffic():
    rawlinks.need("tun")
    ns = ktap.Netns("N")
    for _ in range(ROUNDS):
        fd = rawlinks.tun(ns, "tun0")
        ns.up("tun0")
        ns.ip("-6", "addr", "add", ADDRESS + "/64", "dev", "tun0")
        with shouting(fd):
            ns.ip("link", "del", "tun0")
        os.close(fd)


@ktap.test
def a_neighbor_is_known_to_be_in_use():
    """Those of no use are evicted first. All that is reached directly is one neighbor."""
    rawlinks.need("tun")
    ns = ktap.Netns("U")
    fd = rawlinks.tun(ns, "tun0")
    ns.up("tun0")
    ns.ip("-6", "addr", "add", ADDRESS + "/64", "dev", "tun0")
    with ns, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"words", ("fd90:99::9", 9))
        time.sleep(0.3)		# far longer than the 20 ms that are allowed below
        before = time.monotonic()
        sock.sendto(b"words", ("fd90:99::9", 9))
        seen = next(n["used"] for n in cloud.show(ns, "neighbors", "dev", "tun0")
                    if n["address"] == "::")
    ktap.true(seen <= (time.monotonic() - before) * 1000 + 20, f"{seen} ms without use")
    os.close(fd)


@ktap.test
def destinations_are_no_neighbors_of_their_own():
    """A default route by the device: what strangers name costs neighbors no memory."""
    rawlinks.need("tun")
    ns = ktap.Netns("O")
    fd = rawlinks.tun(ns, "tun0")
    ns.up("tun0")
    ns.ip("-6", "addr", "add", ADDRESS + "/64", "dev", "tun0")
    ns.ip("-6", "route", "add", "default", "dev", "tun0")
    ns.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
    before = {n["address"] for n in cloud.show(ns, "neighbors", "dev", "tun0")}
    with ns, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        for i in range(NAMED):
            sock.sendto(b"x", (f"2001:db8:{i:x}::1", 9))
    for i in range(NAMED):
        os.write(fd, rawlinks.icmp("fd90:99::9", f"2001:db8:f:{i:x}::1", rawlinks.ECHO,
                                   b"\0\1\0\1"))
    after = {n["address"] for n in cloud.show(ns, "neighbors", "dev", "tun0")}
    ktap.equal(after - before, {"::"}, "neighbors")
    os.close(fd)


rawlinks.tests()
ktap.main(setup=setup)
