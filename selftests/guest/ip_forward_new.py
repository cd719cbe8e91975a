#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A packet to a destination that the router has never heard of costs the same however many
# addresses the router has. So does the answer to a host it has never heard of: strangers choose
# both. In virtual time, where time is instructions.
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
NONE = 59
strangers = itertools.count(1)


@functools.cache
class Router:
    """The one in A, with a route to everything by c0."""

    def __init__(self):
        ktap.net6_load()
        self.net, other, self.wire = nd.ends()
        nd.cable(self.net, other, self.wire)
        far = ktap.Netns("D")
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
        nd.net6ctl(self.net, "set", "limits", "max-dests", "256")
        nd.net6ctl(self.net, "add", "neighbor", GATEWAY, "lladdr", GATEWAY_MAC, "dev", "c0")
        nd.net6ctl(self.net, "add", "route", "2001:db8::/32", "via", GATEWAY, "dev", "c0")

    def add_addresses(self, count):
        """To the interface that packets leave by."""
        with self.net:
            family, ifindex = nl.Family(), socket.if_nametoindex("c0")
            for number in range(count):
                family.request("addr-add", family.encode(
                    "addr-add", ifindex=ifindex, prefix_len=64,
                    address=nl.address(f"fd00::1:{number:x}")))

    def cost(self, packet, counter):
        """Nanoseconds of virtual time for one packet about a new host, sent by B and dealt with by
        A: the least of many batches. All of them raise the counter.
        """
        head = nd.mac_bytes(self.wire.peer) + nd.mac_bytes(self.wire.mac) + b"\x86\xdd"
        before, least = nd.counter(self.net, counter), None
        for _ in range(BATCHES):
            batch = [head + packet(f"2001:db8:ff::{next(strangers):x}") for _ in range(PACKETS)]
            start = time.perf_counter_ns()
            for frame in batch:
                self.wire.sock.send(frame)
            took = time.perf_counter_ns() - start
            least = took if least is None else min(least, took)
        ktap.equal(nd.counter(self.net, counter) - before, BATCHES * PACKETS, counter)
        return least / PACKETS


def to_stranger(stranger):
    return nd.ipv6(SOURCE, stranger, NONE, b"")


def from_stranger(stranger):
    return nd.echo(stranger, OURS)


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
    head = nd.mac_bytes(router.wire.peer) + nd.mac_bytes(router.wire.mac) + b"\x86\xdd"
    router.wire.sock.send(head + to_stranger(stranger))
    ktap.wait_for(10, "it is forwarded", lambda: stranger in
                  [e["address"] for e in nd.show(router.net, "destinations")])
    ktap.equal((entry().get("source"), entry()["next_hop"]), (None, GATEWAY), "forwarded")
    with router.net, ktap.net6_socket(socket.SOCK_DGRAM) as sock:
        sock.connect((stranger, 9))
        ktap.equal(entry().get("source"), sock.getsockname()[0], "sent to")


ktap.main()
