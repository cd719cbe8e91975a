#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Interfaces that come and go: with traffic on them, between namespaces, below a
# bridge, by hand.
#
#	A [a0 net6] ------ [b0 raw frames] B
# guest: both
# guest-cpus: 2
# timeout: 180

import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

ROUNDS = 3 if ktap.CHECKING else 5
A, B, wire = nd.ends()


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)


def devices(namespace=None):
    return {i["dev"] for i in nd.show(namespace or A, "interfaces")}


class Noise:
    """Sends all kinds of messages while in a with block."""

    def __init__(self, to):
        self.to, self.stop, self.sent = to, False, 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        rng = random.Random(7)
        while not self.stop:
            peer = f"fe80::{rng.randrange(1, 3000):x}"
            packets = (nd.echo(peer, self.to), nd.ns(peer, self.to, slla=wire.mac),
                       nd.ra(peer, lifetime=rng.choice((0, 1, 1800)), options=nd.prefix_option(
                           f"2001:db8:{rng.randrange(99):x}::", valid=3, preferred=1)),
                       nd.na(peer, peer, tlla=wire.mac), nd.ns("::", self.to))
            try:
                wire.send(rng.choice(packets))
                self.sent += 1
            except OSError:
                pass	# the other end is down
            time.sleep(0.002)		# pace of the messages

    def goes_on(self):
        before = self.sent
        ktap.wait_for(10, "more messages", lambda: self.sent > before + 5)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop = True
        self.thread.join()


@ktap.test
def every_ethernet_device_and_the_loopback_have_an_interface():
    ktap.equal(devices(), {"lo", "a0"}, "interfaces")
    A.ip("link", "add", "d0", "type", "dummy")
    ktap.equal(devices(), {"lo", "a0", "d0"}, "interfaces")
    A.ip("link", "del", "d0")
    ktap.equal(devices(), {"lo", "a0"}, "interfaces")


@ktap.test
def on_a_bridges_port_it_does_not_run():
    def runs(dev="d0"):
        return "up" in next(i["flags"] for i in nd.show(A, "interfaces") if i["dev"] == dev)
    ktap.kmod("bridge") if not ktap.CHECKING else None
    A.ip("link", "add", "d0", "type", "dummy")
    ktap.run("ip", "-n", A.name, "link", "add", "br0", "type", "bridge")
    ktap.equal(devices(), {"lo", "a0", "d0", "br0"}, "interfaces")
    A.up("d0")
    ktap.true(runs(), "before")
    A.ip("link", "set", "d0", "master", "br0")
    ktap.true(not runs(), "as a port")
    A.ip("link", "set", "d0", "nomaster")
    ktap.wait_for(10, "it runs again", runs)
    A.ip("link", "set", "d0", "master", "br0")
    ktap.true(not runs(), "as a port again")
    A.ip("link", "del", "br0")
    ktap.wait_for(10, "it runs when the bridge is gone", runs)
    A.ip("link", "del", "d0")


@ktap.test
def detach_and_attach_by_hand():
    nd.net6ctl(A, "detach", "dev", "a0")
    ktap.equal(devices(), {"lo"}, "interfaces")
    nd.net6ctl(A, "attach", "dev", "a0")
    nd.linklocal(A)


@ktap.test
def small_mtu_stops_ipv6_and_a_larger_one_starts_it():
    address = nd.linklocal(A)
    A.ip("link", "set", "a0", "mtu", "1279")
    wire.flush()
    wire.send(nd.ns(wire.linklocal, address, slla=wire.mac))
    wire.silence(lambda f: f.type == nd.NA, "answer below 1280 bytes", 0.5)
    A.ip("link", "set", "a0", "mtu", "1500")
    ktap.equal(nd.linklocal(A), address, "address")


@ktap.test
def new_hardware_address_is_told_at_once():
    address = nd.linklocal(A)
    old = wire.peer
    wire.peer = "02:00:00:00:0a:77"
    A.ip("link", "set", "a0", "address", wire.peer)
    wire.send(nd.ns(wire.linklocal, address, slla=wire.mac))
    answer = wire.expect(lambda f: f.type == nd.NA and f.target == address, "answer")
    ktap.equal(answer.option(nd.TLLA), nd.mac_bytes(wire.peer), "option")
    ktap.equal(answer.src, wire.peer, "Ethernet source")
    A.ip("link", "set", "a0", "address", old)
    wire.peer = old


@ktap.test
def up_and_down_under_traffic():
    with Noise(nd.linklocal(A)) as noise:
        for _ in range(ROUNDS):
            noise.goes_on()
            A.down("a0")
            A.up("a0")
    nd.linklocal(A)


@ktap.test
def to_another_namespace_and_back_under_traffic():
    other = ktap.Netns("C")
    nd.quiet(other)
    with Noise(nd.linklocal(A)) as noise:
        for _ in range(ROUNDS):
            noise.goes_on()
            A.ip("link", "set", "a0", "netns", other.name)
            ktap.equal(devices(), {"lo"}, "interfaces behind it")
            other.up("a0")
            noise.goes_on()
            other.ip("link", "set", "a0", "netns", A.name)
            A.up("a0")
    nd.linklocal(A)


@ktap.test
def vrfs_come_and_go_under_traffic():
    """A port is in and out of them, or goes with one; so does a namespace, and the module."""
    ktap.need("vrf")
    with Noise(nd.linklocal(A)) as noise:
        for i in range(ROUNDS):
            A.ip("link", "add", "red", "up", "type", "vrf", "table", "10")
            A.ip("link", "set", "a0", "master", "red")
            nd.linklocal(A)
            noise.goes_on()
            nd.net6ctl(A, "add", "address", f"2001:db8:77::{i}/64", "dev", "a0")
            nd.net6ctl(A, "add", "address", "2001:db8:78::1/128", "dev", "red")
            nd.net6ctl(A, "add", "route", "2001:db8:79::/48", "via", wire.linklocal, "dev", "a0",
                       "table", "10")
            if i % 2:
                A.ip("link", "set", "a0", "nomaster")
                ktap.equal(nd.show(A, "routes"), [], "routes of the VRF")
            A.ip("link", "del", "red")
            nd.linklocal(A)
            noise.goes_on()
            nd.net6ctl(A, "del", "address", f"2001:db8:77::{i}/64", "dev", "a0")
    other = ktap.Netns("vrfs")
    other.ip("link", "add", "red", "up", "type", "vrf", "table", "10")
    other.ip("link", "add", "d0", "master", "red", "type", "dummy")
    other.up("d0")
    ktap.unload("net6")
    ktap.net6_load()
    nd.net6ctl(other, "add", "address", "2001:db8:78::1/64", "dev", "d0")
    other.delete()


@ktap.test
def a_vrf_beyond_the_limit_of_tables_has_no_interfaces():
    def runs(dev="a0"):
        return "up" in next(i["flags"] for i in nd.show(A, "interfaces") if i["dev"] == dev)
    ktap.need("vrf")
    nd.net6ctl(A, "set", "limits", "max-tables", "1")
    for name, table in (("red", "10"), ("blue", "20")):
        A.ip("link", "add", name, "up", "type", "vrf", "table", table)
    ktap.equal(devices(), {"lo", "a0", "red"}, "interfaces")
    A.ip("link", "set", "a0", "master", "blue")
    ktap.true(not runs(), "it runs in no other VRF")
    A.ip("link", "set", "a0", "master", "red")
    ktap.true(runs(), "in one that has a table")
    A.ip("link", "set", "a0", "master", "blue")
    A.ip("link", "del", "blue")
    ktap.wait_for(10, "it runs again", runs)
    A.ip("link", "del", "red")
    nd.net6ctl(A, "set", "limits", "defaults")
    nd.linklocal(A)


@ktap.test
def ports_go_with_their_namespace_and_with_the_module():
    """A device in a bridge has an interface that does not run."""
    ktap.kmod("bridge") if not ktap.CHECKING else None
    for _ in range(ROUNDS):
        ports = ktap.Netns("ports")
        ports.ip("link", "add", "br0", "type", "bridge")
        ports.ip("link", "add", "d0", "master", "br0", "type", "dummy")
        ports.up("d0")
        ktap.unload("net6")
        ktap.net6_load()
        flags = next(i["flags"] for i in nd.show(ports, "interfaces") if i["dev"] == "d0")
        ktap.true("up" not in flags and "hooked" not in flags, f"{flags}")
        ports.ip("link", "set", "d0", "nomaster")
        ktap.wait_for(10, "it runs", lambda: "up" in next(
            i["flags"] for i in nd.show(ports, "interfaces") if i["dev"] == "d0"))
        ports.ip("link", "set", "d0", "master", "br0")
        ports.delete()


ktap.main(setup=setup)
