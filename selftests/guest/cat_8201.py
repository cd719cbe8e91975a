#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A host's catalogue, RFC 8201: the path MTU of each destination, what lowers it, what must not,
# and its return to the link's. Titles say section and case.
#
# guest: stock+
# guest-options: --virtual-time
# timeout: 200

import itertools
import os
import socket
import struct
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import catalogue  # noqa: E402
import ktap  # noqa: E402
import nd  # noqa: E402
from catalogue import OURS, Node, Router  # noqa: E402

FRAGMENT, TOO_BIG = 44, 2
IPV6_MTU_DISCOVER = 23	# not in every Python
LINK = 1500
row = catalogue.rows(8201)
shared = types.SimpleNamespace()	# router: who tells the MTU
destinations = (f"2001:db8:ff::{number:x}" for number in itertools.count(1))


def setup():
    catalogue.setup()
    shared.router = Router()
    nd.net6ctl(catalogue.A, "add", "neighbor", shared.router.linklocal, "lladdr", shared.router.mac,
               "dev", "a0")
    shared.router.ra(lifetime=9000)


class Path:
    """A way to somewhere: behind the router, or to a node on the link."""

    def __init__(self, onlink=False):
        self.node = Node() if onlink else Node(me=next(destinations))
        if onlink:
            nd.net6ctl(catalogue.A, "add", "neighbor", self.node.me, "lladdr", self.node.mac,
                       "dev", "a0")

    def ping(self, size=LINK):
        """Packets of the reply to a request of this size, its IPv6 header included."""
        catalogue.wire.flush()
        self.node.echo(data=bytes(size - 48))
        packets, total = [], 0
        while total < size - 40:
            frame = catalogue.wire.expect(lambda f: nd.same(f.dest, self.node.me) and
                                          (f.proto == FRAGMENT or f.type == nd.REPLY),
                                          f"rest of the reply behind {packets}")
            packets.append(frame.packet[:40 + frame.length])
            total += frame.length - (8 if frame.proto == FRAGMENT else 0)
        ktap.equal(total, size - 40, "octets of the reply")
        return packets

    def too_big(self, packet, mtu, code=0):
        """A router's word that this packet of net6's did not fit."""
        router = shared.router
        source = router.linklocal if self.node.me == self.node.address else router.address
        message = nd.icmp(source, OURS, TOO_BIG, struct.pack("!I", mtu) + packet[:1232], code,
                          hlim=64)
        router.send(message)

    def is_(self, mtu):
        """Replies of 1500 octets are sent in packets for this path MTU, filled as can be."""
        sizes = [len(packet) for packet in self.ping()]
        first = LINK if mtu == LINK else 48 + (mtu - 48) // 8 * 8
        ktap.equal(sizes[0], first, f"size of the first packet of {sizes}")
        ktap.true(max(sizes) <= mtu, f"{sizes} fit the path")


def ping(size):
    ktap.equal([len(packet) for packet in Path().ping(size)], [size], "reply")


def stored():
    """Each destination has its own."""
    one, two, three = Path(), Path(), Path()
    one.too_big(one.ping()[0], 1400)
    two.too_big(two.ping()[0], 1280)
    for _ in range(2):
        one.is_(1400)
        two.is_(1280)
        three.is_(LINK)


def reduced(onlink, mtu, code):
    path = Path(onlink)
    packet = path.ping()[0]
    path.too_big(packet, mtu, code)
    path.is_(mtu)


def unbelieved(mtu):
    """RFC 8201 section 4: less than the minimum link MTU is discarded."""
    path = Path()
    path.too_big(path.ping()[0], mtu)
    path.is_(LINK)


def not_raised(mtu):
    path = Path()
    packet = path.ping()[0]
    path.too_big(packet, 1400)
    path.is_(1400)
    path.too_big(packet, mtu)
    path.is_(1400)


def advertised():
    """RFC 4861 6.3.4: a link MTU that a router advertises is that of all paths."""
    path = Path()
    shared.router.ra(lifetime=9000, options=nd.mtu_option(1300))
    path.is_(1300)
    shared.router.ra(lifetime=9000, options=nd.mtu_option(LINK))
    path.is_(LINK)


def forgotten():
    """Not before five minutes (section 5.3: "MUST NOT"), after ten as recommended."""
    path = Path()
    path.too_big(path.ping()[0], 1300)
    for minutes in (0, 4, 5):
        time.sleep(60 * minutes)		# its age is what is looked at
        path.is_(1300)
    time.sleep(90)		# older than ten minutes
    path.is_(LINK)


def group(dest, *mtus):
    """The smallest of what routers on the way say (section 5.2)."""
    with catalogue.A:
        index = socket.if_nametoindex("a0")
    with ktap.net6_socket(socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6, catalogue.A) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, 0)

        def sent():
            catalogue.wire.flush()
            sock.sendto(bytes([nd.ECHO]) + bytes(LINK - 41), (dest, 0))
            frames = catalogue.wire.collect(lambda f: nd.same(f.dest, dest), 0.5)
            return [frame.packet[:40 + frame.length] for frame in frames]
        whole = sent()
        ktap.equal([len(packet) for packet in whole], [LINK], "packet before")
        for mtu in mtus:
            Path().too_big(whole[0], mtu)
        sizes = [len(packet) for packet in sent()]
        ktap.equal(sizes, [48 + (min(mtus) - 48) // 8 * 8,
                           LINK + 8 - (min(mtus) - 48) // 8 * 8], "fragments")


for octets in (64, 1280, LINK):
    row("3", f"an echo request of {octets} octets is answered with as many", ping, octets)
row("4", "each destination has a path MTU of its own", stored, daily=True)
row("4", "Packet Too Big with a code that is not 0", reduced, False, 1400, 0xff)
row("4", "Packet Too Big about a neighbor", reduced, True, 1400, 0)
row("4", "Packet Too Big about a node behind the router", reduced, False, 1400, 0, daily=True)
for small in (56, 1279):
    row("4", f"Packet Too Big with MTU {small}: discarded", unbelieved, small, daily=small == 1279)
for large in (LINK, 0x1fffffff):
    row("4", f"Packet Too Big with MTU {large}: no increase", not_raised, large)
row("3", "a router advertises a link MTU", advertised)
row("5.3", "not tried larger within five minutes, but after ten", forgotten, daily=True)
row("5.2", "a group behind one router", group, "ff1e::1:2", 1350)
row("5.2", "a group behind two routers: the smaller one counts", group, "ff1e::1:3",
    1450, 1350)
ktap.main(setup=lambda: catalogue.patiently(setup))
