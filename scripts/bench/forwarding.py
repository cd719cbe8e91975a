# SPDX-License-Identifier: GPL-2.0
"""What a packet costs that net6 forwards, with 10 and with 100,000 routes, and with 10 and 10,000
neighbors. No paper's; run by name only.

    B [b0 raw] --- [a0 net6, forwarding] A [c0 net6] --- [d0, native off] D

The sender's share is measured with frames for another station, which A passes over, and
subtracted. Packets go to ten destinations in turn. Or they go to one of each route or neighbor, all
of which the destination cache holds; or each to a destination that it has never heard of. It is
said that something is lacking if a large table costs over a tenth more than a small one.
"""
import importlib
import os
import socket
import struct
import sys
import time

TITLE = "Forwarding with small and with large tables"
PAPER = "none: whether a table's size is paid for by each packet"
NEEDS = []

FEW, ROUTES, NEIGHBORS = 10, 100000, 10000
CACHED = 10000
PACKETS = 20000
MOST = 1.1		# many/few
SOURCE, GATEWAY, GATEWAY_MAC = "2001:db8:b::9", "fe80::d", "02:00:00:00:0d:0d"
NOBODY = "02:00:00:00:99:99"


def packed(address):
    return socket.inet_pton(socket.AF_INET6, address)


def mac_bytes(mac):
    return bytes.fromhex(mac.replace(":", ""))


def route_prefix(number):
    """Prefixes of 64 bits, spread over 2001:db8::/32."""
    return packed("2001:db8::")[:4] + struct.pack("!I", number * 2654435761 % 2**32)


def routed(number, host):
    return route_prefix(number) + struct.pack("!Q", host)


def neighbor(number, _host=0):
    return packed("fd00::")[:8] + struct.pack("!Q", number + 16)


def ten(n, _entries):
    return n % FEW, 1


def each(n, entries):
    return n % min(entries, CACHED), 1


def new(n, entries):
    return n * 7919 % entries, n + 2


def frames(count, mac, destination, choose, entries):
    """Datagrams in order; made before anything is measured."""
    head = mac_bytes(mac) + mac_bytes("02:00:00:00:0b:01") + b"\x86\xdd"
    body = struct.pack("!HHHH", 9, 9, 8, 0)
    made = []
    for n in range(count):
        made.append(head + struct.pack("!IHBB", 6 << 28, 8, 17, 64) + packed(SOURCE)
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
        # Only a guest has all that the tests' libraries want; it begins in the project's folder.
        sys.path.append(os.path.abspath("selftests/lib"))
        ktap, self.nd, self.nl = map(importlib.import_module, ("ktap", "nd", "nl"))
        nd = self.nd
        ktap.net6_load()
        self.a, b, self.wire = nd.ends()
        nd.cable(self.a, b, self.wire)
        far = ktap.Netns("D")
        nd.quiet(far)
        ktap.run("ip", "link", "add", "c0", "netns", self.a.name, "type", "veth", "peer",
                 "name", "d0", "netns", far.name)
        far.run(nd.NET6CTL, "detach", "dev", "d0")
        far.up("d0")
        self.a.up("c0")
        for dev, address in (("a0", "2001:db8:b::1/64"), ("c0", "fd00::1/64")):
            nd.net6ctl(self.a, "set", "dev", dev, "dad-transmits", "0", "forwarding", "on")
            nd.net6ctl(self.a, "add", "address", address, "dev", dev)
            nd.linklocal(self.a, dev)
        nd.net6ctl(self.a, "set", "limits", "max-neighs", "16384",
                   "max-dests", "16384")
        nd.net6ctl(self.a, "add", "neighbor", GATEWAY, "lladdr", GATEWAY_MAC, "dev", "c0")
        with self.a:
            self.family = self.nl.Family()
            self.ifindex = socket.if_nametoindex("c0")

    def add_routes(self, begin, end):
        for n in range(begin, end):
            self.family.request("route-add", self.family.encode(
                "route-add", ifindex=self.ifindex, address=route_prefix(n) + bytes(8),
                prefix_len=64, gateway=self.nl.address(GATEWAY)))

    def add_neighbors(self, begin, end):
        for n in range(begin, end):
            self.family.request("neigh-add", self.family.encode(
                "neigh-add", ifindex=self.ifindex, address=neighbor(n),
                lladdr=mac_bytes(GATEWAY_MAC)))

    def measure(self, destination, choose, entries):
        """Instructions of a forwarded packet, without its sender's."""
        idle = send(self.wire, frames(PACKETS, NOBODY, destination, choose, entries))
        made = frames(PACKETS, self.wire.peer, destination, choose, entries)
        send(self.wire, made)
        before = self.nd.counter(self.a, "Ip6OutForwDatagrams")
        cost = send(self.wire, made) - idle
        forwarded = self.nd.counter(self.a, "Ip6OutForwDatagrams") - before
        if forwarded != PACKETS:
            raise ValueError(f"{forwarded} of {PACKETS} packets were forwarded")
        return cost


def run(lab):
    bench = Bench()
    lab.plan(4)
    for what, add, destination, many, choices in (
            ("routes", bench.add_routes, routed, ROUTES, (ten, each, new)),
            ("neighbors", bench.add_neighbors, neighbor, NEIGHBORS, (ten, each))):
        found = {}
        for begin, end in ((0, FEW), (FEW, many)):
            lab.step(f"{end:,} {what}")
            add(begin, end)
            found[end] = {choose.__name__: bench.measure(destination, choose, end)
                          for choose in choices}
        for choice in found[FEW]:
            case = {"table": what, "destinations": choice}
            for entries, name in ((FEW, f"{FEW} entries"), (many, "many")):
                lab.row("packet", case, name, "instructions", found[entries][choice])
            growth = found[many][choice] / found[FEW][choice]
            lab.row("growth", case, "many/few", "ratio", growth)
            if growth > MOST:
                lab.lack(f"{many:,} {what}, {choice}: {growth:.2f} times the cost of {FEW}")


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [
    {"figure": "packet", "title": f"A forwarded packet; many: {ROUTES:,} routes, {NEIGHBORS:,} "
     "neighbors", "kind": "bars", "open": True, "paper": NOT_FOUND},
]
TABLES = {"growth": {"title": "Many over few", "open": True, "paper": NOT_FOUND}}
