#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A packet to a destination that the router has never heard of costs the same however many
# addresses the router has. The same holds for the answer to a host it has never heard of.
# Strangers choose both. A sweep leaves few destinations in the cache; where the others go is looked up for each
# packet. In virtual time, where time is instructions.
#
#	B [b0 raw] --- [a0 net6, forwarding] A [c0 net6] --- [d0, net6 off] D
#
# guest: stock
# guest-options: --virtual-time
# timeout: 200
import functools
import itertools
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd
import nl

OURS, SOURCE = "2001:db8:b::1", "2001:db8:b::9"
GATEWAY, GATEWAY_MAC = "fe80::d", "02:00:00:00:0d:0d"
ADDRESSES, BATCHES, PACKETS = 300, 12, 50
DESTINATIONS, SWEEP = 256, 1000
NONE = 59
strangers = itertools.count(1)


@functools.cache
class Router:
    """The one in A, with a route to everything by c0."""

    def __init__(self):
        ktap.net6_load()
        self.net, other, self.wire = nd.ends()
        nd.cable(self.net, other, self.wire)
        self.far = far = ktap.Netns("D")
        nd.quiet(far)
        ktap.run("ip", "link", "add", "c0", "netns", self.net.name, "type", "veth", "peer",
                 "name", "d0", "netns", far.name)
        nd.net6ctl(far, "detach", "dev", "d0")
        far.up("d0")
        self.net.up("c0")
        for dev, address in (("a0", f"{OURS}/64"), ("c0", "fd00::1/64")):
            nd.net6ctl(self.net, "set", "dev", dev, "dad-transmits", "0", "forwarding", "on")
            nd.net6ctl(self.net, "add", "address", address, "dev", dev)
            nd.linklocal(self.net, dev)
        nd.net6ctl(self.net, "set", "limits", "max-dests", str(DESTINATIONS))
        nd.net6ctl(self.net, "add", "neighbor", GATEWAY, "lladdr", GATEWAY_MAC, "dev", "c0")
        nd.net6ctl(self.net, "add", "neighbor", SOURCE, "lladdr", self.wire.mac, "dev", "a0")
        nd.net6ctl(self.net, "add", "route", "2001:db8::/32", "via", GATEWAY, "dev", "c0")

    def add_addresses(self, count):
        """To the interface that packets leave by."""
        with self.net:
            family, ifindex = nl.Family(), socket.if_nametoindex("c0")
            for number in range(count):
                family.request("addr-add", family.encode(
                    "addr-add", ifindex=ifindex, prefix_len=64,
                    address=nl.address(f"fd00::1:{number:x}")))

    def send(self, packets):
        """From B, one after the other."""
        head = nd.mac_bytes(self.wire.peer) + nd.mac_bytes(self.wire.mac) + b"\x86\xdd"
        frames = [head + packet for packet in packets]
        for frame in frames:
            self.wire.sock.send(frame)

    def fill(self):
        """The destination cache, with strangers."""
        while len(nd.show(self.net, "destinations")) < DESTINATIONS:
            self.send(new_ones(SWEEP))

    def counted(self, name):
        """How much a counter rises until this is asked again."""
        before = nd.counter(self.net, name)
        return lambda: nd.counter(self.net, name) - before

    def cost(self, packet, counter):
        """Nanoseconds of virtual time for one packet about a new host, sent by B and dealt with by
        A: the least of many batches. All of them raise the counter.
        """
        before, least = nd.counter(self.net, counter), None
        for _ in range(BATCHES):
            batch = new_ones(PACKETS, packet)
            start = time.perf_counter_ns()
            self.send(batch)
            took = time.perf_counter_ns() - start
            least = took if least is None else min(least, took)
        ktap.equal(nd.counter(self.net, counter) - before, BATCHES * PACKETS, counter)
        return least / PACKETS


def to_stranger(stranger):
    return nd.ipv6(SOURCE, stranger, NONE, b"")


def from_stranger(stranger):
    return nd.echo(stranger, OURS)


def new_ones(count, packet=to_stranger, prefix="2001:db8:ff:"):
    return [packet(f"{prefix}:{next(strangers):x}") for _ in range(count)]


CASES = ((to_stranger, "Ip6OutForwDatagrams"), (from_stranger, "Icmp6OutEchoReplies"))


@ktap.test
def what_strangers_choose_costs_the_same_with_many_addresses():
    router = Router()
    costs = []
    for count in (0, ADDRESSES):
        router.add_addresses(count)
        for case in CASES:
            router.cost(*case)
        costs.append([router.cost(*case) for case in CASES])
    ktap.equal(sum(e["dev"] == "c0" for e in nd.show(router.net, "addresses")), ADDRESSES + 2,
               "addresses")
    for (_, what), few, many in zip(CASES, *costs):
        ktap.diag(f"{what}: {few:.0f} ns with 2 addresses, {many:.0f} ns with {ADDRESSES + 2}")
        ktap.true(many < 1.1 * few, f"{what}: {many:.0f} ns against {few:.0f} ns")


@ktap.test
def a_source_is_chosen_for_who_wants_one():
    router = Router()
    stranger = f"2001:db8:ff::{next(strangers):x}"

    def entry():
        return [e for e in nd.show(router.net, "destinations") if e["address"] == stranger][0]
    nd.net6ctl(router.net, "flush", "destinations")
    router.send([to_stranger(stranger)])
    ktap.wait_for(10, "it is forwarded", lambda: stranger in
                  [e["address"] for e in nd.show(router.net, "destinations")])
    ktap.equal((entry().get("source"), entry()["next_hop"]), (None, GATEWAY), "forwarded")
    with router.net, ktap.net6_socket(socket.SOCK_DGRAM) as sock:
        sock.connect((stranger, 9))
        ktap.equal(entry().get("source"), sock.getsockname()[0], "sent to")


@ktap.test
def a_sweep_is_not_remembered():
    router = Router()
    router.fill()
    created, forwarded = map(router.counted, ("Ip6DestCreated", "Ip6OutForwDatagrams"))
    router.send(new_ones(SWEEP))
    ktap.equal(forwarded(), SWEEP, "forwarded")
    ktap.diag(f"{created()} of {SWEEP} new destinations came into the cache")
    ktap.true(created() < SWEEP / 10, f"{created()} of them came into the cache")
    ktap.equal(len(nd.show(router.net, "destinations")), DESTINATIONS, "destinations")


@ktap.test
def what_is_not_remembered_goes_the_same_way():
    router = Router()
    router.fill()
    wire = nd.Wire(router.far, "d0")
    created, forwarded, neighbors = map(router.counted, (
        "Ip6DestCreated", "Ip6OutForwDatagrams", "NdNeighCreated"))
    dropped = nd.drops(router.net).get("NO_ROUTE", 0)
    router.send(new_ones(PACKETS))
    router.send(new_ones(PACKETS, prefix="fd00::5"))
    router.send(new_ones(PACKETS, prefix="2001:dbf:"))
    ktap.equal((forwarded(), neighbors()), (2 * PACKETS, PACKETS), "forwarded, neighbors")
    ktap.equal(nd.drops(router.net)["NO_ROUTE"] - dropped, PACKETS, "without a route")
    ktap.true(created() < PACKETS / 2, f"{created()} came into the cache")
    for _ in range(PACKETS):
        wire.expect(lambda f: f.dst == GATEWAY_MAC, "packet through the gateway")
    solicited = set()
    while len(solicited) < PACKETS:
        solicited.add(wire.expect(lambda f: f.type == nd.NS, "solicitation").target)


@ktap.test
def a_sweep_into_a_vrf_is_not_remembered():
    """A route leads to the VRF's device. The packet is routed again there."""
    router = Router()
    ktap.need("vrf")
    router.net.ip("link", "add", "red", "up", "type", "vrf", "table", "10")
    router.net.ip("link", "set", "c0", "master", "red")
    nd.net6ctl(router.net, "add", "neighbor", GATEWAY, "lladdr", GATEWAY_MAC, "dev", "c0")
    nd.net6ctl(router.net, "add", "route", "2001:db8:ff::/48", "via", GATEWAY, "dev", "c0",
               "table", "10")
    nd.net6ctl(router.net, "add", "route", "2001:db8:ff::/48", "dev", "red")
    router.fill()
    wire = nd.Wire(router.far, "d0")
    created, forwarded = map(router.counted, ("Ip6DestCreated", "Ip6OutForwDatagrams"))
    router.send(new_ones(SWEEP))
    ktap.equal(forwarded(), SWEEP, "forwarded")
    ktap.true(created() < SWEEP / 5, f"{created()} of them came into the cache")
    wire.flush()
    router.send(new_ones(PACKETS))
    for _ in range(PACKETS):
        wire.expect(lambda f: f.dst == GATEWAY_MAC, "packet through the gateway")


ktap.main()
