#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Good packets of every kind, changed at random: 200,000 of them, the same in each run. The
# checksum is mended in most, so that what is behind it is reached. Then ping is answered,
# TCP and UDP work, bounds have held and memory is back.
#
#	A [a0 net6 fd00::6] ------ [b0 raw frames as fd00::b] B
# guest: full
# timeout: 1200
import os
import random
import socket
import struct
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ip
import ktap
import mld
import nd
from ip import DEST, FRAGMENT, HOP, ICMP, OURS, PEER, ROUTING, TCP, UDP, ipv6, options

EACH = 200000 // 20	# of each kind
PORT = 4711
BOUNDS = {"neighbors": 128, "destinations": 256, "addresses": 24, "prefixes": 16, "routers": 8}
LIMITS = {"max-neighs": 128, "max-dests": 256, "max-addrs": 8, "max-prefixes": 16,
          "max-routers": 8, "frag-memory": 262144, "frag-timeout": 5}
rng = random.Random(200000)
shared = types.SimpleNamespace()	# udp, tcp, connection: sockets; slab: before it all


def unreclaimable():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("SUnreclaim"))


def tcp_message(flags, seq=1, data=b"", opts=b"\x02\x04\x05\xa0\x01\x03\x03\x07"):
    message = struct.pack("!HHIIBBHHH", rng.randrange(1024, 65536), PORT, seq, 0,
                          (20 + len(opts)) // 4 << 4, flags, 1000, 0, 0) + opts + data
    value = nd.checksum(PEER, OURS, TCP, message)
    return message[:16] + struct.pack("!H", value) + message[18:]


def quoting(kind, code, word):
    """An error about an echo request, a datagram or a segment of ours."""
    inner = rng.choice((
        ipv6(OURS, PEER, ICMP, ip.echo_message(OURS, PEER), 64),
        ipv6(OURS, PEER, UDP, ip.udp_message(OURS, PEER, PORT, 5555), 64),
        ipv6(OURS, PEER, TCP, struct.pack("!HHIIBBHHH", PORT, shared.connection.getpeername()[1],
                                          1, 1, 0x50, 16, 1000, 0, 0), 64)))
    return nd.icmp(PEER, OURS, kind, struct.pack("!I", word) + inner, code, hlim=64)


def chain():
    body, head = ip.echo_message(), ICMP
    for _ in range(rng.randrange(1, 5)):
        kind = rng.choice((DEST, DEST, ROUTING, FRAGMENT))
        front = (options(head, b"\x1e\x03abc") if kind == DEST else ip.routing(head)
                 if kind == ROUTING else ip.fragment(head, 0, False, rng.getrandbits(32)))
        body, head = front + body, kind
    return ipv6(PEER, OURS, HOP, options(head, b"\x05\x02\0\0") + body, 64)


def some_ra():
    opts = nd.lladdr_option(nd.SLLA, ip.wire.mac) + nd.mtu_option(1400) + nd.prefix_option(
        f"fd{rng.randrange(0x50, 256):02x}::") + struct.pack(
            "!BBBBI", 24, 2, 64, 0, 1800) + bytes(8) + struct.pack(
                "!BBHI", 25, 3, 0, 600) + nd.packed(PEER)
    return nd.ra(ip.wire.linklocal, options=opts, lifetime=rng.choice((0, 1800)))


KINDS = {
    "echo": lambda: ipv6(PEER, OURS, ICMP, ip.echo_message(), 64),
    "NS": lambda: nd.ns(PEER, OURS, slla=ip.wire.mac, nonce=bytes(6)),
    "NA": lambda: nd.na(PEER, PEER, dest=OURS, flags=0x60, tlla=ip.wire.mac),
    "RS": lambda: nd.icmp(ip.wire.linklocal, OURS, nd.RS, bytes(4)
                          + nd.lladdr_option(nd.SLLA, ip.wire.mac)),
    "RA": some_ra,
    "redirect": lambda: nd.redirect(ip.wire.linklocal, OURS, PEER, "fd77::1", tlla=ip.wire.mac),
    "MLD query": lambda: mld.query(ip.wire.linklocal, "::", [], delay=1000, dest=nd.ALL_NODES),
    "MLD sources": lambda: mld.query(ip.wire.linklocal, "ff02::77", ["fd00::1", "fd00::2"],
                                     delay=100, dest="ff02::77"),
    "unreachable": lambda: quoting(ip.UNREACH, rng.randrange(7), 0),
    "too big": lambda: quoting(ip.TOO_BIG, 0, rng.choice((1280, 1400, 600))),
    "time exceeded": lambda: quoting(ip.TIME, rng.randrange(2), 0),
    "problem": lambda: quoting(ip.PROBLEM, rng.randrange(3), 40),
    "chain": chain,
    "first fragment": lambda: ip.fragments(ICMP, ip.echo_message(data=bytes(1000)),
                                           rng.randrange(200))[0],
    "last fragment": lambda: ip.fragments(ICMP, ip.echo_message(data=bytes(1000)),
                                          rng.randrange(200))[-1],
    "datagram": lambda: ipv6(PEER, OURS, UDP, ip.udp_message(dport=PORT), 64),
    "SYN": lambda: ipv6(PEER, OURS, TCP, tcp_message(2), 64),
    "segment": lambda: ipv6(PEER, OURS, TCP, tcp_message(rng.randrange(64), rng.getrandbits(32),
                                                         bytes(rng.randrange(64))), 64),
    "to a group": lambda: nd.echo(PEER, "ff02::1", hlim=64),
    "tunnelled": lambda: ipv6(PEER, OURS, 41, ipv6(PEER, OURS, ICMP, ip.echo_message(), 64), 64),
}
CHECKSUM_AT = {ICMP: 2, UDP: 6, TCP: 16}


def mend(packet):
    """The checksum of what follows the IPv6 header, if it is there."""
    at = CHECKSUM_AT.get(packet[6])
    if at is None or len(packet) < 40 + at + 2:
        return packet
    packet[40 + at:42 + at] = b"\0\0"
    source, dest = (socket.inet_ntop(socket.AF_INET6, bytes(packet[n:n + 16])) for n in (8, 24))
    value = nd.checksum(source, dest, packet[6], bytes(packet[40:]))
    packet[40 + at:42 + at] = struct.pack("!H", value or 0xffff)
    return packet


def mutated(packet):
    packet = bytearray(packet)
    for _ in range(rng.choice((1, 1, 2, 4))):
        # Addresses are hit less: nobody would hear most of those.
        at = rng.randrange(40, len(packet)) if rng.random() < 0.9 else rng.randrange(40)
        match rng.randrange(6):
            case 0:
                packet[at] ^= 1 << rng.randrange(8)
            case 1:
                packet[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
            case 2:
                packet[at:at + 2] = rng.randbytes(2)
            case 3:
                del packet[max(at, 48):]
            case 4:
                packet[at:at] = packet[at:at + rng.choice((1, 4, 8, 16))]
            case 5:
                packet += rng.randbytes(rng.choice((1, 8, 64)))
    if rng.random() < 0.8:
        packet[4:6] = struct.pack("!H", len(packet) - 40)
        packet = mend(packet)
    return bytes(packet[:1514])


def setup():
    ip.setup()
    for name, value in LIMITS.items():
        nd.net6ctl(ip.A, "set", "limits", name, str(value))
    shared.udp = ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A)
    shared.udp.bind((OURS, PORT))
    shared.tcp = ktap.net6_socket(ns=ip.A)
    shared.tcp.bind((OURS, PORT))
    shared.tcp.listen(16)
    shared.connection = ktap.net6_socket(ns=ip.A)
    shared.connection.connect((OURS, PORT))
    shared.tcp.accept()[0].close()
    # A group that queries can be about.
    with ip.A:
        member = nd.packed("ff02::77") + struct.pack("@I", socket.if_nametoindex("a0"))
    shared.udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, member)
    for sock in (shared.udp, shared.tcp, shared.connection):
        ktap.at_exit(sock.close)
    shared.slab = unreclaimable()


def drain():
    """What the peer heard, and what programs would have read by now."""
    ip.wire.flush()
    shared.udp.setblocking(False)
    shared.tcp.setblocking(False)
    try:
        while shared.udp.recv(2000) is not None:
            pass
    except OSError:
        pass
    try:
        while True:
            shared.tcp.accept()[0].close()
    except OSError:
        pass


def survives(kind, make):
    def run():
        delta = ip.Delta()
        for n in range(EACH):
            try:
                ip.wire.send(mutated(make()))
            except OSError:
                pass	# longer than the link takes, or its queue is full
            if not n % 200:
                drain()
        for what, most in BOUNDS.items():
            seen = len(nd.show(ip.A, what))
            ktap.true(seen <= most, f"{seen} {what}, at most {most}")
        seen = delta.read()
        ktap.true(seen.get("Ip6InReceives", 0) > EACH // 3, f"only {seen} came in")
        ktap.true(delta.drops(), f"not one was dropped of {kind}")
    ktap.test(f"{EACH} of {kind}, changed")(run)


for name, maker in KINDS.items():
    survives(name, maker)


@ktap.test
def afterwards_everything_works():
    nd.net6ctl(ip.A, "flush", "neighbors", "dev", "a0")
    nd.net6ctl(ip.A, "add", "neighbor", PEER, "lladdr", ip.wire.mac, "dev", "a0")
    drain()
    ip.alive()
    drain()
    ip.wire.send(ipv6(PEER, OURS, UDP, ip.udp_message(dport=PORT, data=b"still"), 64))
    shared.udp.settimeout(5 * ktap.SCALE)
    ktap.equal(shared.udp.recv(100), b"still", "a datagram")
    client = ktap.net6_socket(ns=ip.A)
    client.connect((OURS, PORT))
    shared.tcp.settimeout(5 * ktap.SCALE)
    peer, _ = shared.tcp.accept()
    client.sendall(b"still")
    ktap.equal(peer.recv(100), b"still", "over TCP")
    client.close()
    peer.close()


@ktap.test
def memory_is_back():
    nd.net6ctl(ip.A, "flush", "neighbors")
    nd.net6ctl(ip.A, "flush", "destinations")
    if not ktap.CHECKING:	# its allocator keeps what is freed; leaks it looks for itself
        ktap.wait_for(90, "at most 4 MB more than before",
                      lambda: unreclaimable() - shared.slab < 4096,
                      lambda: ktap.diag(f"{unreclaimable() - shared.slab} KB more"))


ktap.main(setup=setup)
