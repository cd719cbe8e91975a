#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What comes from the wire: packets cut at every length, random bytes as every header,
# addresses that must not be. Extension headers in every order and number (RFC 8200
# section 4, RFC 4443 section 2.4). Nothing may crash, and each drop has its counter.
#
#	A [a0 net6 fd00::6] ------ [b0 raw frames as fd00::b] B
# guest: both
# timeout: 150

import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ip
import ktap
import nd
from ip import (DEST, FRAGMENT, HOP, ICMP, NONE, OURS, PEER, ROUTING, TCP, UDP, Delta, alive,
                echo_message, expect_nothing, expect_problem, ipv6, options, routing)


@ktap.test
def echo_returns_its_data_at_every_size_and_alignment():
    for size in (0, 1, 2, 3, 55, 56, 57, 1231, 1232, 1451, 1452):
        data = bytes(i * 7 & 0xff for i in range(size))
        ip.wire.send(ipv6(PEER, OURS, ICMP, echo_message(data=data, seq=size), 64))
        reply = ip.wire.expect(lambda f, s=size: ip.is_reply(f) and f.seq == s,
                               f"reply to {size} bytes")
        ktap.equal(reply.payload[8:], data, "data")
        ktap.true(reply.checksum_good(), "checksum")
        ktap.equal((reply.source, reply.dest, reply.hlim), (OURS, PEER, 64), "header")


@ktap.test
def echo_has_the_traffic_class_of_its_request():
    packet = bytearray(ipv6(PEER, OURS, ICMP, echo_message(seq=4712), 64))
    packet[0:2] = 0x6b, 0x90       # class 0xb9: EF, ECT(1)
    ip.wire.send(bytes(packet))
    reply = ip.wire.expect(lambda f: ip.is_reply(f) and f.seq == 4712, "reply")
    ktap.equal(reply.packet[0:4], bytes((0x6b, 0x90, 0, 0)), "version, class and label")


@ktap.test
def echo_to_a_group_is_answered_from_a_unicast_address():
    mine = nd.linklocal(ip.A)
    nd.net6ctl(ip.A, "add", "neighbor", ip.wire.linklocal, "lladdr", ip.wire.mac, "dev", "a0")
    ip.wire.send(nd.echo(ip.wire.linklocal, "ff02::1", seq=4711))
    reply = ip.wire.expect(lambda f: ip.is_reply(f) and f.seq == 4711, "reply")
    ktap.equal((reply.source, reply.dest), (mine, ip.wire.linklocal), "addresses")
    ktap.true(reply.checksum_good(), "checksum")


@ktap.test
def bad_checksum_is_dropped():
    message = bytearray(echo_message())
    message[-1] ^= 1
    expect_nothing(ipv6(PEER, OURS, ICMP, bytes(message), 64), "ICMP_CSUM", "a bad checksum")


@ktap.test
def frames_cut_at_every_length_are_dropped_and_counted():
    whole = ipv6(PEER, OURS, HOP, options(DEST) + options(ICMP, b"\x1e\x03abc")
                 + echo_message(data=bytes(40)), 64)
    ip.wire.flush()
    delta = Delta()
    for n in range(40, len(whole)):
        ip.wire.send(whole[:n])
    # Shorter than an IPv6 header it is nobody's: the native stack counts it.
    for n in range(40):
        ip.wire.sock.send(nd.mac_bytes(ip.wire.peer) + nd.mac_bytes(ip.wire.mac)
                          + b"\x86\xdd" + whole[:n])
    ip.wire.silence(ip.is_reply, "a reply to a cut request", 0.5)
    ktap.equal(delta.drops(), {"HEADER_LENGTH": len(whole) - 40}, "drops")
    alive()


@ktap.test
def payloads_cut_at_every_length_are_dropped_and_counted():
    body = options(DEST) + options(ICMP, b"\x1e\x03abc") + echo_message(data=bytes(16))
    ip.tokens()
    delta = Delta()
    for n in range(len(body)):
        ip.wire.send(ipv6(PEER, OURS, HOP, body[:n], 64))
    ip.wire.silence(ip.is_reply, "a reply to a cut request", 0.5)
    seen = delta.drops()
    ktap.equal(sum(seen.values()), len(body), f"drops in all, of {seen}")
    ktap.equal(set(seen), {"EXTHDR_SHORT", "ICMP_SHORT", "ICMP_CSUM"}, "reasons")
    alive()


@ktap.test
def random_bytes_as_every_header_do_no_harm():
    rng = random.Random(6)
    delta, sent, chains = Delta(), 0, 0
    for proto in range(256):
        for dest in (OURS, "ff02::1"):
            for _ in range(4):
                ip.wire.send(ipv6(PEER, dest, proto, rng.randbytes(rng.randrange(0, 200)),
                                  rng.randrange(256)))
                sent += 1
                # These may end well: nothing follows, or more fragments are waited for.
                chains += proto in (HOP, DEST, ROUTING, FRAGMENT, NONE)
        if not proto % 32:
            ip.wire.flush()
    ktap.wait_for(10, "all are received",
                  lambda: delta.read().get("Ip6InReceives", 0) >= sent)
    drops = delta.drops()
    ktap.true(sent - chains <= sum(drops.values()) <= sent, f"a reason for each of {sent}: {drops}")
    ktap.true({"NEXTHDR_UNKNOWN", "EXTHDR_SHORT", "ICMP_CSUM", "UDP_SHORT", "TCP_SHORT"}
              <= set(drops), f"reasons {drops}")
    alive()


@ktap.test
def transport_headers_cut_at_every_length_are_dropped_and_counted():
    """With a checksum that is right for what is left, and with the whole one's."""
    tcp = struct.pack("!HHIIBBHHH", 5555, 9, 1, 0, 0x80, 2, 1000, 0, 0) + bytes(12)
    for proto, whole, short, csum, counter in (
            (UDP, ip.udp_message(data=bytes(8)), "UDP_SHORT", "UDP_CSUM", "Udp6InErrors"),
            (TCP, tcp, "TCP_SHORT", "TCP_CSUM", "TcpInErrs")):
        ip.wire.flush()
        delta, at = Delta(), 16 if proto == TCP else 6
        for n in range(len(whole)):
            ip.wire.send(ipv6(PEER, OURS, proto, whole[:n], 64))
            part = bytearray(whole[:n])
            if n >= at + 2:
                part[at:at + 2] = b"\0\0"
                value = nd.checksum(PEER, OURS, proto, bytes(part)) or 0xffff
                part[at:at + 2] = value.to_bytes(2, "big")
            ip.wire.send(ipv6(PEER, OURS, proto, bytes(part), 64))
        ip.wire.send(ipv6(PEER, OURS, proto, whole[:-1] + b"\xff", 64))
        ip.wire.silence(lambda f: ip.is_error(f) or f.proto == TCP, "an answer", 0.5)
        seen = delta.read()
        ktap.equal(delta.drops(), {short: 2 * len(whole), csum: 1}, "drops")
        ktap.equal(seen.get(counter), 2 * len(whole) + 1, counter)
    alive()


@ktap.test
def random_bytes_behind_good_headers_do_no_harm():
    rng = random.Random(7)
    ip.wire.flush()
    delta, sent = Delta(), 0
    for head in (HOP, DEST, ROUTING, FRAGMENT, ICMP, TCP, UDP):
        for _ in range(150):
            body = bytearray(rng.randbytes(rng.choice((8, 16, 24, 64, 300))))
            if head in (HOP, DEST, ROUTING, FRAGMENT):
                body[0] = rng.choice((HOP, DEST, ROUTING, FRAGMENT, ICMP, TCP, UDP, NONE))
            if head in (HOP, DEST, ROUTING):
                body[1] = rng.randrange(4)
            if head == ICMP:
                body[0] = rng.choice((1, 2, 3, 4, 128, 129, 130, 133, 134, 135, 136, 137, 143))
                body[2:4] = b"\0\0"
                body[2:4] = nd.checksum(PEER, OURS, ICMP, bytes(body)).to_bytes(2, "big")
            ip.wire.send(ipv6(PEER, OURS, head, bytes(body), rng.choice((64, 255))))
            sent += 1
        ip.wire.flush()
    ktap.wait_for(10, "all are received",
                  lambda: delta.read().get("Ip6InReceives", 0) >= sent)
    drops = delta.drops()
    ktap.true({"EXTHDR_SHORT", "EXTHDR_OPTION", "EXTHDR_ROUTING", "FRAG_INVALID", "ND_HOP_LIMIT",
               "ND_CODE", "ICMP_ERROR_OTHER", "TCP_SHORT", "UDP_SHORT"} <= set(drops),
              f"reasons {drops}")
    alive()


@ktap.test
def header_fields_out_of_bounds_are_dropped_with_their_reason():
    good = ipv6(PEER, OURS, ICMP, echo_message(), 64)
    expect_nothing(b"\x40" + good[1:], "HEADER_VERSION", "version 4")
    expect_nothing(good[:4] + b"\xff\xff" + good[6:], "HEADER_LENGTH", "length 65535")
    for source in ("ff02::1", "ff0e::5", "::1", "::ffff:10.0.0.1"):
        expect_nothing(ipv6(source, OURS, ICMP, echo_message(source), 64), "HEADER_SOURCE",
                       f"source {source}")
    expect_nothing(ipv6("::", OURS, ICMP, echo_message("::"), 64), "HEADER_SOURCE",
                   "an echo request from ::")


@ktap.test
def loopback_address_is_not_reached_from_the_wire():
    ip.wire.flush()
    for dest in ("::1", "ff01::1"):
        ip.wire.send(ipv6(PEER, dest, ICMP, echo_message(dest=dest), 64), mac=ip.wire.peer)
    ip.wire.silence(ip.is_reply, "a reply from the loopback", 0.5)


@ktap.test
def bytes_behind_the_payload_are_ignored():
    ip.wire.send(ipv6(PEER, OURS, ICMP, echo_message(seq=99), 64) + b"trailer")
    reply = ip.wire.expect(lambda f: ip.is_reply(f) and f.seq == 99, "reply")
    ktap.equal(reply.payload[8:], b"net6", "data")


@ktap.test
def unknown_next_header_is_answered_with_its_place():
    ip.tokens()
    expect_problem(ipv6(PEER, OURS, 253, b"12345678", 64), 1, 6, "next header 253")
    expect_problem(ipv6(PEER, OURS, DEST, options(254) + b"12345678", 64), 1, 40,
                   "next header 254 behind options")
    expect_nothing(ipv6(PEER, "ff02::1", 253, b"12345678", 64), "NEXTHDR_UNKNOWN",
                   "next header 253 to a group")
    ip.wire.flush()
    ip.wire.send(ipv6(PEER, OURS, NONE, b"ignored", 64))
    ip.wire.silence(ip.is_error, "an error about No Next Header", 0.3)


@ktap.test
def hop_by_hop_is_only_first():
    ip.tokens()
    ip.wire.send(ipv6(PEER, OURS, HOP, options(ICMP) + echo_message(seq=31), 64))
    ip.wire.expect(lambda f: ip.is_reply(f) and f.seq == 31, "reply behind hop-by-hop options")
    expect_problem(ipv6(PEER, OURS, DEST, options(HOP) + options(ICMP) + echo_message(), 64),
                   1, 40, "hop-by-hop behind destination options")
    expect_problem(ipv6(PEER, OURS, HOP, options(HOP) + options(ICMP) + echo_message(), 64),
                   1, 40, "hop-by-hop twice")


def of_no_length(packet):
    return packet[:4] + bytes(2) + packet[6:]


@ktap.test
def jumbograms_are_refused_for_their_option():
    """RFC 2675 section 3: option 0xC2, for nodes that do not know it (RFC 8200 4.2: told of,
    unless the packet was for a group). A length of 0 without it is told of, too.
    """
    ip.tokens()
    jumbo = options(ICMP, struct.pack("!BBI", 0xc2, 4, 70000)) + echo_message(data=bytes(400))
    expect_problem(of_no_length(ipv6(PEER, OURS, HOP, jumbo, 64)), 2, 42, "a jumbogram")
    expect_problem(ipv6(PEER, OURS, HOP, jumbo, 64), 2, 42, "its option with a length")
    expect_problem(of_no_length(ipv6(PEER, OURS, HOP, options(ICMP) + echo_message(), 64)),
                   0, 4, "no length and no such option")
    expect_nothing(of_no_length(ipv6(PEER, "ff02::1", HOP, jumbo, 64)), "EXTHDR_OPTION",
                   "a jumbogram for a group")
    expect_nothing(of_no_length(ipv6(PEER, OURS, HOP, options(ICMP)[:7], 64)), "EXTHDR_SHORT",
                   "no length and a header that is cut")
    expect_nothing(of_no_length(ipv6(PEER, OURS, UDP, ip.udp_message(dport=7), 64)), "UDP_SHORT",
                   "no length and no header for it")
    alive()


@ktap.test
def option_action_bits_decide():
    ip.tokens()
    for head in (HOP, DEST):
        ip.wire.send(ipv6(PEER, OURS, head, options(ICMP, b"\x1e\x01x")
                          + echo_message(seq=head + 500), 64))
        ip.wire.expect(lambda f, s=head + 500: ip.is_reply(f) and f.seq == s,
                       "reply behind a skipped option")
        expect_nothing(ipv6(PEER, OURS, head, options(ICMP, b"\x5e\x01x") + echo_message(), 64),
                       "EXTHDR_OPTION", "option 0x5e")
        expect_problem(ipv6(PEER, OURS, head, options(ICMP, b"\x9e\x01x") + echo_message(), 64),
                       2, 42, "option 0x9e")
        expect_problem(ipv6(PEER, OURS, head, options(ICMP, b"\xde\x01x") + echo_message(), 64),
                       2, 42, "option 0xde")
        expect_problem(ipv6(PEER, "ff02::1", head, options(ICMP, b"\x9e\x01x")
                            + echo_message(dest="ff02::1"), 64), 2, 42, "option 0x9e to a group")
        expect_nothing(ipv6(PEER, "ff02::1", head, options(ICMP, b"\xde\x01x")
                            + echo_message(dest="ff02::1"), 64), "EXTHDR_OPTION",
                       "option 0xde to a group")
    ip.tokens()
    expect_problem(ipv6(PEER, OURS, DEST, bytes([ICMP, 0, 0x1e, 9, 0, 0, 0, 0])
                        + echo_message(), 64), 0, 42, "an option beyond its header")


@ktap.test
def routing_headers_are_ignored_or_refused():
    ip.tokens()
    for kind in (0, 2, 3, 4, 99):
        ip.wire.send(ipv6(PEER, OURS, ROUTING, routing(ICMP, kind)
                          + echo_message(seq=600 + kind), 64))
        ip.wire.expect(lambda f, s=600 + kind: ip.is_reply(f) and f.seq == s,
                       f"reply behind routing type {kind} with nothing left")
        expect_problem(ipv6(PEER, OURS, ROUTING, routing(ICMP, kind, 1) + echo_message(), 64),
                       0, 42, f"routing type {kind} with a segment left")


@ktap.test
def chains_of_every_length_up_to_the_mtu():
    ip.tokens()
    for n in range(0, 9):
        body = b"".join(options(DEST) for _ in range(n - 1)) + (options(ICMP) if n else b"")
        ip.wire.send(ipv6(PEER, OURS, DEST if n else ICMP, body + echo_message(seq=700 + n), 64))
        ip.wire.expect(lambda f, s=700 + n: ip.is_reply(f) and f.seq == s,
                       f"reply behind {n} headers")
    before = ip.numbers("drops").get("EXTHDR_LIMIT", 0)
    for n in range(9, 170):
        body = b"".join(options(DEST) for _ in range(n - 1)) + options(ICMP)
        ip.wire.send(ipv6(PEER, OURS, DEST, body + echo_message(seq=700 + n), 64))
    ip.wire.silence(ip.is_reply, "a reply behind more than 8 headers", 0.5)
    ktap.equal(ip.numbers("drops")["EXTHDR_LIMIT"] - before, 161, "drops EXTHDR_LIMIT")
    ip.tokens()
    body = b"".join(options(DEST) for _ in range(8)) + options(ICMP)
    expect_problem(ipv6(PEER, OURS, DEST, body + echo_message(), 64), 8, 40 + 7 * 8,
                   "nine headers")
    long = bytes([ICMP, 150]) + (bytes([0x1e, 253]) + bytes(253)) * 4 + bytes([0x1e, 184]) \
        + bytes(184)
    ip.wire.send(ipv6(PEER, OURS, DEST, long + echo_message(seq=800), 64))
    ip.wire.expect(lambda f: ip.is_reply(f) and f.seq == 800, "reply behind 1208 octets of options")
    alive()


ktap.main(setup=ip.setup)
