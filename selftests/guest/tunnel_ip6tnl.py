#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Tunnels over IPv6, devices of kind ip6tnl: what they have in common with native's
# (lib/ip6tunnels.py), packets as nobody means them, no memory, and the module that goes.
#
# guest: both
# guest-append: ipv6.disable=1
# guest-options: --allow "Call Trace"
# timeout: 240
import json
import os
import random
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import failnth
import ip6tunnels
import ktap
import nd
from ip6tunnels import A, B, IN_A, IN_B, INNER_A, INNER_B, R, V4_B, pings, reached, tunnel

ROUNDS = 500 if ktap.CHECKING else 3000
NEWLINK, DELLINK = 16, 17
ip6tunnels.tests()


def outer(inner, proto=41):
    return nd.ipv6(IN_A, IN_B, proto, inner, hlim=9)


class Wire:
    """R's end of the cable to B, for packets of A's."""

    def __init__(self):
        with R:
            self.s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self.s.bind(("r1", 0x86dd))
            source = self.s.getsockname()[4]
        address = json.loads(B.run("ip", "-j", "link", "show", "b0"))[0]["address"]
        self.head = nd.mac_bytes(address) + source + b"\x86\xdd"

    def send(self, packet):
        self.s.send(self.head + packet)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.s.close()


def limit(value):
    return bytes((41, 0, 4, 1, value, 1, 1, 0))


@ktap.test
def what_is_no_packet_inside_is_dropped():
    with tunnel(), Wire() as wire:
        reached(A, INNER_B)
        before = nd.drops(B)
        echo = nd.echo(INNER_A, INNER_B)
        for packet, proto in ((b"", 41), (b"", 4), (echo[:39], 41), (b"\x45" + bytes(18), 4),
                              (b"\x45" + bytes(39), 41), (echo, 4)):
            wire.send(outer(packet, proto))
        for packet, proto in ((echo, 50), (limit(1)[:4], 60), (limit(1), 60)):
            wire.send(outer(packet, proto))
        reached(A, INNER_B)
        after = nd.drops(B)
        ktap.equal(after.get("TUNNEL_SHORT", 0) - before.get("TUNNEL_SHORT", 0), 7,
                   "packets without a packet")
        # A congestion mark on a packet that cannot have one (RFC 6040 4.2).
        marked = bytearray(outer(echo))
        marked[1] |= 0x30
        wire.send(bytes(marked))
        ktap.wait_for(10, "it is dropped", lambda: nd.drops(B).get("TUNNEL_ECN", 0) >
                      before.get("TUNNEL_ECN", 0))


@ktap.test
def packets_in_packets_in_packets_need_no_stack():
    with tunnel(), Wire() as wire:
        reached(A, INNER_B)
        packet = nd.echo(INNER_A, INNER_B)
        for _ in range(30):
            packet = outer(packet)
        for _ in range(20):
            wire.send(packet)
        reached(A, INNER_B)


@ktap.test
def noise_is_survived():
    rng = random.Random(2473)
    with tunnel(), Wire() as wire:
        reached(A, INNER_B)
        inner = (nd.echo(INNER_A, INNER_B), limit(0) + nd.echo(INNER_A, INNER_B),
                 outer(limit(0) + nd.echo(INNER_A, INNER_B), 60))
        errors = [nd.ipv6("fd81::1", IN_B, 58, struct.pack("!BBHI", kind, code, 0, info) +
                          nd.ipv6(IN_B, IN_A, proto, body))
                  for kind, code, info in ((2, 0, 1280), (2, 0, 0), (1, 0, 0), (3, 0, 0), (4, 0, 44))
                  for proto, body in ((41, nd.echo(INNER_B, INNER_A)), (4, b"\x45" + bytes(40)),
                                      (60, limit(0) + nd.echo(INNER_B, INNER_A)))]
        for _ in range(ROUNDS):
            packet = bytearray(outer(rng.choice(inner), rng.choice((41, 4, 60)))
                               if rng.random() < 0.6 else rng.choice(errors))
            for _ in range(rng.randrange(4)):
                packet[rng.randrange(40, len(packet))] = rng.randrange(256)
            if packet[6] == 58:
                packet[42:44] = b"\0\0"
                packet[42:44] = struct.pack("!H", nd.checksum("fd81::1", IN_B, 58, packet[40:]))
            wire.send(bytes(packet[:rng.randrange(40, len(packet) + 1)]
                            if rng.random() < 0.3 else packet))
        reached(A, INNER_B)
        reached(A, V4_B)


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def link(s, message, flags, body):
    """A request of rtnetlink's about one device."""
    s.send(struct.pack("=IHHII", 32 + len(body), message, 5 | flags, 1, 0) + bytes(16) + body)
    error = struct.unpack_from("=i", s.recv(4096), 16)[0]
    if error:
        raise OSError(-error, "rtnetlink")


@ktap.test
def without_memory_there_is_a_tunnel_or_none():
    failnth.setup()
    data = (attribute(2, socket.inet_pton(socket.AF_INET6, IN_A)) +
            attribute(3, socket.inet_pton(socket.AF_INET6, "fd81::77")))
    info = attribute(18, attribute(1, b"ip6tnl\0") + attribute(2, data))
    changed = attribute(18, attribute(1, b"ip6tnl\0") + attribute(2, data + attribute(4, b"\x07")))
    moved = attribute(18, attribute(1, b"ip6tnl\0") + attribute(
        2, data[:20] + attribute(3, socket.inet_pton(socket.AF_INET6, "fd81::78"))))
    name = attribute(3, b"t7\0")

    def rtnetlink():
        return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)

    def make(s):
        link(s, NEWLINK, 0x600, name + info)

    def made():
        s = rtnetlink()
        make(s)
        return s

    def gone(s, _):
        s.close()
        with rtnetlink() as other:
            ktap.failing(link, other, DELLINK, 0, name)
    ip6tunnels.cables()
    with A:
        failnth.sweep("make a tunnel", rtnetlink, make, gone, failnth.DEVICE_SAYS,
                      step=1 if os.environ.get("NET6_FULL") else 5)
        failnth.sweep("change it", made, lambda s: link(s, NEWLINK, 0, name + changed), gone)
        failnth.sweep("give it another end", made, lambda s: link(s, NEWLINK, 0, name + moved),
                      gone)
    with tunnel():
        reached(A, INNER_B)


@ktap.test
def the_module_goes_with_a_tunnel_in_use():
    """A packet socket on it keeps no module."""
    with tunnel():
        reached(A, INNER_B)
        with A:
            s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            s.bind(("t0", 0x86dd))
        stop = threading.Event()

        def send():
            while not stop.is_set():
                try:
                    s.send(nd.echo(INNER_A, INNER_B))
                except OSError:		# the device is gone
                    break
        thread = threading.Thread(target=send)
        thread.start()
        ktap.unload("net6")
        stop.set()
        thread.join()
        s.close()
        ktap.net6_load()
        ktap.true(not pings(A, INNER_B), "the tunnel is gone")


ktap.main(setup=ktap.net6_load)
