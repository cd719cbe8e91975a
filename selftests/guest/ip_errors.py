#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# ICMPv6 errors: which we send and which we must not, how many, and what we make of
# those that others send (RFC 4443 section 2.4, RFC 8201 section 4).
#
#	A [a0 net6 fd00::6] ------ [b0 raw frames as fd00::b] B
# guest: stock+
# timeout: 120

import errno
import os
import random
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ip
import ktap
import nd
from ip import FRAGMENT, ICMP, OURS, PEER, TOO_BIG, UDP, UNREACH, alive, fragment, ipv6, udp_message

BROADCAST = "ff:ff:ff:ff:ff:ff"


def error_about(quoted, kind=UNREACH, code=4, info=0, source=PEER, dest=OURS):
    return nd.icmp(source, dest, kind, struct.pack("!I", info) + quoted, code=code, hlim=64)


def datagram(source=PEER, dest=OURS, dport=9, data=b"net6"):
    return ipv6(source, dest, UDP, udp_message(source, dest, dport=dport, data=data), 64)


def silent(packet, what, mac=None):
    ip.wire.flush()
    ip.wire.send(packet, mac=mac)
    ip.wire.silence(ip.is_error, f"an error about {what}", 0.4)


@ktap.test
def closed_port_is_told_with_all_that_fits():
    ip.tokens()
    for size in (0, 4, 1183, 1184, 1185, 1400):
        packet = datagram(data=bytes(size))
        ip.wire.flush()
        ip.wire.send(packet)
        error = ip.wire.expect(lambda f: f.type == UNREACH, f"port unreachable, {size} bytes")
        ktap.equal((error.code, error.source, error.dest), (4, OURS, PEER), "code, addresses")
        ktap.equal(error.payload[8:], packet[:1280 - 48], "what is quoted")
        ktap.true(error.checksum_good(), "checksum")


@ktap.test
def nothing_is_said_where_rfc4443_forbids_it():
    ip.tokens()
    quoted = datagram(OURS, PEER)
    silent(error_about(quoted, UNREACH, 0), "an error")
    silent(error_about(quoted, 99, 0), "an error of unknown type")
    silent(ipv6(PEER, OURS, 60, ip.options(253) + b"x" * 8, 64)[:6] + b"\xff"
           + ipv6("::", OURS, 60, b"", 64)[7:40] + b"x" * 16, "a packet from ::")
    silent(datagram(source="::"), "a packet from ::")
    silent(datagram(dest="ff02::1"), "a packet to a group")
    silent(datagram(), "a packet in a broadcast frame", BROADCAST)
    silent(datagram(), "a packet in a group's frame", "33:33:00:00:00:01")
    silent(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 8, False, 1) + bytes(16), 64),
           "a later fragment")
    alive()


@ktap.test
def errors_are_limited_per_destination():
    time.sleep(1.5)		# its bucket fills
    ip.wire.flush()
    delta = ip.Delta()
    start = time.monotonic()
    for _ in range(300):
        ip.wire.send(datagram())
    got = len(ip.wire.collect(lambda f: f.type == UNREACH, 0.5))
    seconds = time.monotonic() - start
    ktap.true(10 <= got <= 10 + 10 * seconds + 1, f"{got} errors in {seconds:.2f} s")
    ktap.equal(delta.read().get("Icmp6OutRateLimited", 0), 300 - got, "limited errors")
    alive("echo is not limited with errors")


@ktap.test
def errors_are_limited_per_namespace():
    nd.net6ctl(ip.A, "set", "limits", "icmp-rate", "50")
    time.sleep(1.1)		# its bucket fills
    ip.wire.flush()
    sources = [f"fd00::{n:x}:1" for n in range(1, 101)]
    for source in sources:
        nd.net6ctl(ip.A, "add", "neighbor", source, "lladdr", ip.wire.mac, "dev", "a0")
    start = time.monotonic()
    for source in sources:
        ip.wire.send(datagram(source=source))
    got = len(ip.wire.collect(lambda f: f.type == UNREACH, 0.5))
    seconds = time.monotonic() - start
    nd.net6ctl(ip.A, "set", "limits", "icmp-rate", "1000")
    ktap.true(5 <= got <= 5 + 50 * seconds + 1, f"{got} errors in {seconds:.2f} s")


def told(sock, wanted):
    """The error that a sender is told sooner or later."""
    return ktap.wait_for(20, f"a sender learns {errno.errorcode[wanted]}", lambda:
                         sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == wanted)


@ktap.test
def what_we_tell_ourselves_is_not_limited():
    """Nothing is sent: RFC 4443 2.4 (f) has no reason. A neighbor that is not there is told of
    by us, too, to each sender.
    """
    delta = ip.Delta()
    for address in (OURS, "::1"):
        with ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A) as sock:
            sock.connect((address, 9))
            for _ in range(50):
                sock.send(b"x")
                told(sock, errno.ECONNREFUSED)
    senders = [ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A) for _ in range(40)]
    for n, sock in enumerate(senders):
        sock.setsockopt(socket.IPPROTO_IPV6, 25, 1)     # IPV6_RECVERR
        sock.connect((f"fd00::dead:{n:x}:0", 9))
        sock.send(b"x")
    for sock in senders:
        told(sock, errno.EHOSTUNREACH)
        sock.close()
    ktap.equal(delta.read().get("Icmp6OutRateLimited", 0), 0, "limited errors")


@ktap.test
def who_is_bound_to_an_interface_is_told_wherever_the_address_is():
    ktap.veth(ip.A, "a1", ip.B, "b1")
    nd.net6ctl(ip.A, "add", "route", "fd00:9::/64", "dev", "a1")
    with ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A) as sock:
        sock.bind((OURS, 0))
        sock.setsockopt(socket.IPPROTO_IPV6, 25, 1)     # IPV6_RECVERR
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"a1")
        sock.connect(("fd00:9::1", 9))
        sock.send(b"x")
        told(sock, errno.EHOSTUNREACH)
    ip.A.ip("link", "del", "a1")


@ktap.test
def what_the_limit_leaves_unsaid_makes_no_destinations():
    nd.net6ctl(ip.A, "set", "limits", "icmp-rate", "0")
    delta = ip.Delta()
    for n in range(1, 101):
        ip.wire.send(datagram(source=f"fd00::{n:x}:2"))
    ktap.wait_for(5, "all are received",
                  lambda: delta.read().get("Icmp6OutRateLimited", 0) == 100)
    known = {d["address"] for d in nd.show(ip.A, "destinations")}
    nd.net6ctl(ip.A, "set", "limits", "icmp-rate", "1000")
    ktap.equal([a for a in known if a.endswith(":2")], [], "destinations")
    ktap.true("fd00::1:1" in known, "those of the test before are there")


@ktap.test
def quoted_packets_cut_at_every_length_do_no_harm():
    quoted = datagram(OURS, PEER, data=bytes(20))
    delta = ip.Delta()
    for n in range(len(quoted) + 1):
        ip.wire.send(error_about(quoted[:n]))
    seen = ktap.wait_for(5, "all are received", lambda: (
        delta.read() if delta.read().get("Icmp6InDestUnreachs", 0) > len(quoted) else None))
    ktap.equal(seen.get("drop ICMP_SHORT"), 48, "too short to tell whose it was")
    alive()


@ktap.test
def errors_about_packets_of_others_are_dropped():
    delta = ip.Delta()
    for source in ("fd00::77", "::1", "ff02::1", "::", PEER):
        ip.wire.send(error_about(datagram(source, PEER)))
    ip.wire.send(error_about(b"\x45" + datagram(OURS, PEER)[1:]))
    inner = ipv6(OURS, PEER, FRAGMENT, fragment(UDP, 512, True, 7) + bytes(64), 64)
    ip.wire.send(error_about(inner))
    ip.wire.send(error_about(ipv6(OURS, PEER, 200, bytes(64), 64)))
    ktap.wait_for(10, "seven drops ICMP_ERROR_OTHER",
                  lambda: delta.drops().get("ICMP_ERROR_OTHER", 0) >= 7)
    alive()


@ktap.test
def random_bytes_as_quoted_packet_do_no_harm():
    rng = random.Random(3)
    for _ in range(600):
        quoted = bytearray(rng.randbytes(rng.randrange(40, 400)))
        quoted[0] = 0x60
        quoted[6] = rng.choice((0, 6, 17, 43, 44, 58, 60, rng.randrange(256)))
        quoted[8:24] = nd.packed(OURS)
        ip.wire.send(error_about(bytes(quoted), rng.randrange(1, 128), rng.randrange(8),
                                 rng.randrange(1 << 32)))
    alive()


def connected(sport=7000):
    sock = ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A)
    sock.bind((OURS, sport))
    sock.connect((PEER, 9))
    sock.settimeout(10 * ktap.SCALE)
    return sock


def sent_by(sock, data=b"x"):
    ip.wire.flush()
    sock.send(data)
    return ip.wire.expect(lambda f: f.proto == UDP and f.source == OURS, "datagram").packet


@ktap.test
def port_unreachable_reaches_the_socket_that_sent():
    with connected() as sock, connected(7001) as other:
        ip.wire.send(error_about(sent_by(sock)))
        ktap.wait_for(10, "the error is there",
                      lambda: sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                      == errno.ECONNREFUSED)
        ktap.equal(other.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0, "the other's error")


def path_mtu():
    entry = next((d for d in nd.show(ip.A, "destinations")
                  if nd.same(d.get("address", d.get("destination", "::")), PEER)), None)
    ktap.true(entry, f"a destination's entry in {nd.show(ip.A, 'destinations')}")
    return entry.get("pmtu")


@ktap.test
def some_sockets_do_not_care_for_packet_too_big():
    """IPV6_MTU_DISCOVER INTERFACE and OMIT; what a later message does shows that it was seen."""
    for value in (4, 5):
        with connected() as sock:
            sock.setsockopt(socket.IPPROTO_IPV6, 23, value)
            packet = sent_by(sock, bytes(1400))
            before = path_mtu()
            ip.wire.send(error_about(packet, TOO_BIG, 0, 1350))
            ip.wire.send(error_about(packet))
            ktap.raises(errno.ECONNREFUSED, sock.recv, 10)
            ktap.equal(path_mtu(), before, f"path MTU with IPV6_MTU_DISCOVER {value}")


@ktap.test
def packet_too_big_lowers_the_path_mtu():
    with connected() as sock:
        packet = sent_by(sock, bytes(1400))
        before = path_mtu()
        for mtu in (0, 68, 1279, 1500, 65535, 0xffffffff):
            ip.wire.send(error_about(packet, TOO_BIG, 0, mtu))
        ip.wire.send(error_about(ipv6(OURS, PEER, UDP, udp_message(OURS, PEER, 7777, 9), 64),
                                 TOO_BIG, 0, 1290))
        alive()
        ktap.equal(path_mtu(), before, "path MTU after messages that are not to be believed")
        ip.wire.send(error_about(packet, TOO_BIG, 0, 1300))
        ktap.wait_for(10, "path MTU is 1300", lambda: path_mtu() == 1300)
        ip.wire.send(error_about(packet, TOO_BIG, 0, 1400))
        alive()
        ktap.equal(path_mtu(), 1300, "path MTU after a larger value")
    with ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, 23, 0)     # IPV6_MTU_DISCOVER: DONT
        ip.wire.flush()
        sock.sendto(bytes(1400), (PEER, 9))
        sizes = [len(f.packet) for f in ip.wire.collect(lambda f: f.proto == FRAGMENT, 0.5)]
        ktap.equal(len(sizes), 2, f"fragments ({sizes})")
        ktap.true(max(sizes) <= 1300, f"fragments fit the path: {sizes}")


ktap.main(setup=ip.setup)
