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
NOBODY, ROUTER_MAC = "02:00:00:00:99:99", "02:00:00:00:0a:01"


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
        if not os.path.isdir("/sys/module/net6"):
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

    def add_addresses(self, begin, end):
        """To the interface that packets leave by, beside the two that it has."""
        for n in range(begin, end):
            self.family.request("addr-add", self.family.encode(
                "addr-add", ifindex=self.ifindex, address=packed(f"fd00::1:{n:x}"), prefix_len=64))

    def forwarded(self):
        return self.nd.counter(self.a, "Ip6OutForwDatagrams")

    def warm(self, made, known):
        """Once, or until all are in the destination cache: so many come into it in a tick."""
        before = None
        while before != self.nd.counter(self.a, "Ip6DestCreated"):
            before = self.nd.counter(self.a, "Ip6DestCreated")
            send(self.wire, made)
            if not known:
                break

    def measure(self, destination, choose, entries, count=PACKETS):
        """Instructions of a forwarded packet, without its sender's."""
        idle = send(self.wire, frames(count, NOBODY, destination, choose, entries))
        made = frames(count, self.wire.peer, destination, choose, entries)
        self.warm(made, choose is not new)
        before = self.forwarded()
        cost = send(self.wire, made) - idle
        forwarded = self.forwarded() - before
        if forwarded != count:
            raise ValueError(f"{forwarded} of {count} packets were forwarded")
        return cost


class Native(Bench):
    """The same with native as the router; it has no such tables."""

    def __init__(self, _other):
        # The other has set up what both use, and has the names A, B and D.
        ktap, self.nd = map(importlib.import_module, ("ktap", "nd"))
        self.a, far, sender = (ktap.Netns(name) for name in ("E", "F", "G"))
        for dev, peer, there in (("a0", "b0", sender), ("c0", "d0", far)):
            self.nd.quiet(there)
            ktap.run("ip", "link", "add", dev, "netns", self.a.name, "address", ROUTER_MAC, "type",
                     "veth", "peer", "name", peer, "netns", there.name)
            self.nd.net6ctl(self.a, "detach", "dev", dev)
            self.nd.net6ctl(there, "detach", "dev", peer)
            there.up(peer)
            self.a.up(dev)
        self.a.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
        self.a.ip("-6", "addr", "add", "2001:db8:b::1/64", "dev", "a0", "nodad")
        self.a.ip("-6", "addr", "add", "fd00::1/64", "dev", "c0", "nodad")
        self.a.ip("-6", "neigh", "add", GATEWAY, "lladdr", GATEWAY_MAC, "dev", "c0")
        self.a.ip("-6", "route", "add", "2001:db8::/32", "via", GATEWAY, "dev", "c0")
        self.wire = self.nd.Wire(sender, "b0")
        self.wire.peer = ROUTER_MAC

    def add_addresses(self, begin, end):
        with open("/tmp/addresses", "w", encoding="ascii") as file:
            for n in range(begin, end):
                file.write(f"addr add fd00::1:{n:x}/64 dev c0 nodad\n")
        self.a.ip("-6", "-batch", "/tmp/addresses")

    def forwarded(self):
        with self.a, open("/proc/thread-self/net/snmp6", encoding="ascii") as file:
            return int(dict(line.split() for line in file)["Ip6OutForwDatagrams"])


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
