#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a forwarded packet costs with 10 and with 100,000 routes, and with 10 and 10,000
neighbors, in counted instructions. In a guest:

	scripts/guest --virtual-time --memory 2G --copy scripts/bench -- \\
		python3 scripts/bench/routes.py

    B [b0 raw] --- [a0 net6, forwarding] A [c0 net6] --- [d0, native off] D

The sender's share is measured with frames for another station, which A passes over, and
subtracted. Packets go to ten destinations in turn; or to one of each route or neighbor, all of
which the destination cache holds; or each to a destination that it has never heard of. Ends
with an error if a large table costs over a tenth more than a small one.
"""

import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "../../selftests/lib"))
import ktap
import nd
import nl

FEW, ROUTES, NEIGHBORS = 10, 100000, 10000
CACHED = 10000
PACKETS = 20000
SOURCE, GATEWAY, GATEWAY_MAC = "2001:db8:b::9", "fe80::d", "02:00:00:00:0d:0d"
NOBODY = "02:00:00:00:99:99"


def route_prefix(number):
    """Prefixes of 64 bits, spread over 2001:db8::/32."""
    return nd.packed("2001:db8::")[:4] + struct.pack("!I", number * 2654435761 % 2**32)


def routed(number, host):
    return route_prefix(number) + struct.pack("!Q", host)


def neighbor(number, _host=0):
    return nd.packed("fd00::")[:8] + struct.pack("!Q", number + 16)


def ten(n, _entries):
    return n % FEW, 1


def each(n, entries):
    return n % min(entries, CACHED), 1


def new(n, entries):
    return n * 7919 % entries, n + 2


def frames(count, mac, destination, choose, entries):
    """Datagrams in order; made before anything is measured."""
    head = nd.mac_bytes(mac) + nd.mac_bytes("02:00:00:00:0b:01") + b"\x86\xdd"
    body = struct.pack("!HHHH", 9, 9, 8, 0)
    made = []
    for n in range(count):
        made.append(head + struct.pack("!IHBB", 6 << 28, 8, 17, 64) + nd.packed(SOURCE)
                    + destination(*choose(n, entries)) + body)
    return made


def send(wire, made):
    """Instructions for each."""
    push = wire.sock.send
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for frame in made:
        push(frame)
    return (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - begin) / 2 / len(made)


class Bench:
    def __init__(self):
        ktap.net6_load()
        self.a, _, self.wire = nd.cable()
        far = ktap.Netns("D")
        nd.quiet(far)
        ktap.run("ip", "link", "add", "c0", "netns", self.a.name, "type", "veth", "peer",
                 "name", "d0", "netns", far.name)
        far.run(nd.NET6CTL, "detach", "dev", "d0")
        far.ip("link", "set", "d0", "up")
        self.a.ip("link", "set", "c0", "up")
        for dev, address in (("a0", "2001:db8:b::1/64"), ("c0", "fd00::1/64")):
            nd.net6ctl(self.a, "set", "dev", dev, "dad-transmits", "0", "forwarding", "on")
            nd.net6ctl(self.a, "add", "address", address, "dev", dev)
            nd.linklocal(self.a, dev)
        nd.net6ctl(self.a, "set", "limits", "max-neighs", "16384",
                   "max-dests", "16384")
        nd.net6ctl(self.a, "add", "neighbor", GATEWAY, "lladdr", GATEWAY_MAC, "dev", "c0")
        with self.a:
            self.family = nl.Family()
            self.ifindex = socket.if_nametoindex("c0")

    def add_routes(self, begin, end):
        for n in range(begin, end):
            self.family.request("route-add", self.family.encode(
                "route-add", ifindex=self.ifindex, address=route_prefix(n) + bytes(8),
                prefix_len=64, gateway=nl.address(GATEWAY)))

    def add_neighbors(self, begin, end):
        for n in range(begin, end):
            self.family.request("neigh-add", self.family.encode(
                "neigh-add", ifindex=self.ifindex, address=neighbor(n),
                lladdr=nd.mac_bytes(GATEWAY_MAC)))

    def measure(self, destination, choose, entries):
        """Instructions of a forwarded packet, without its sender's."""
        idle = send(self.wire, frames(PACKETS, NOBODY, destination, choose, entries))
        made = frames(PACKETS, self.wire.peer, destination, choose, entries)
        send(self.wire, made)
        before = nd.counter(self.a, "Ip6OutForwDatagrams")
        cost = send(self.wire, made) - idle
        ktap.equal(nd.counter(self.a, "Ip6OutForwDatagrams") - before, PACKETS, "forwarded")
        return cost


def main():
    bench = Bench()
    rows = []
    for what, add, destination, many, choices in (
            ("routes", bench.add_routes, routed, ROUTES, (ten, each, new)),
            ("neighbors", bench.add_neighbors, neighbor, NEIGHBORS, (ten, each))):
        add(0, FEW)
        small = [bench.measure(destination, choose, FEW) for choose in choices]
        add(FEW, many)
        large = [bench.measure(destination, choose, many) for choose in choices]
        rows += [(f"{what}, {choose.__name__}", s, l, many)
                 for choose, s, l in zip(choices, small, large)]
    print(f"{'instructions per forwarded packet':44} {FEW:>13} {'many':>13} {'many/few':>15}")
    for name, few, many, count in rows:
        print(f"{name + f' ({count})':44} {few:13.0f} {many:13.0f} {many / few:15.2f}")
    worst = max(many / few for _, few, many, _ in rows)
    return 0 if worst <= 1.1 else 1


sys.exit(main())
