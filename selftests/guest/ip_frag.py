#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Fragments both ways: reassembly in every order, overlaps, atomic fragments, impossible
# lengths, time-out, and what we send in fragments (RFC 8200 4.5, 5722, 6946, 7112).
#
#	A [a0 net6 fd00::6] ------ [b0 raw frames as fd00::b] B
# guest: both
# timeout: 120

import os
import random
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ip
import ktap
import nd
from ip import (DEST, FRAGMENT, HOP, ICMP, NONE, OURS, PEER, TCP, UDP, alive, echo_message,
                expect_nothing, expect_problem, fragment, fragments, ipv6, options)

DATA = bytes(i * 31 & 0xff for i in range(3000))


def reply_data(seq, what, seconds=5):
    """Collects the fragments of a reply and returns its data."""
    parts, total = {}, None
    end = time.monotonic() + seconds * ktap.SCALE
    ident = None
    while time.monotonic() < end:
        f = ip.wire.wait(lambda f: f.proto == FRAGMENT or ip.is_reply(f), 1)
        if not f:
            continue
        if ip.is_reply(f) and f.seq == seq:
            return f.payload[8:]
        if f.proto != FRAGMENT:
            continue
        proto, _, offset, got = struct.unpack("!BBHI", f.payload[:8])
        ktap.equal(proto, ICMP, "next header of a fragment")
        ktap.true(ident in (None, got), "one identification a packet")
        ident = got
        ktap.true(len(f.payload) + 40 <= 1500, "fragment fits the link")
        parts[offset & ~7] = f.payload[8:]
        if not offset & 1:
            total = (offset & ~7) + len(f.payload) - 8
        if total is not None and sum(map(len, parts.values())) == total:
            message = b"".join(parts[o] for o in sorted(parts))
            ktap.equal(nd.checksum(OURS, PEER, ICMP, message), 0, "checksum of the whole")
            ktap.equal(struct.unpack("!BBHHH", message[:8])[4], seq, "sequence number")
            return message[8:]
    raise ktap.Fail(f"no whole reply to {what}")


def setup():
    ip.setup()
    # Each processor has a queue of its own for what is received: one keeps the order.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@ktap.test
def fragments_in_every_order():
    rng = random.Random(1)
    for n, order in enumerate(("forward", "backward", "random", "twice")):
        seq = 100 + n
        parts = fragments(ICMP, echo_message(data=DATA, seq=seq), 1000 + n)
        if order == "backward":
            parts.reverse()
        if order == "random":
            rng.shuffle(parts)
        if order == "twice":        # exact duplicates may be ignored; the last ends it
            parts = [p for p in parts[:-1] for _ in (0, 1)] + parts[-1:]
        for part in parts:
            ip.wire.send(part)
        ktap.equal(reply_data(seq, order), DATA, f"data, {order}")


@ktap.test
def largest_packet_comes_whole():
    data = bytes(65535 - 8)
    for part in fragments(ICMP, echo_message(data=data, seq=7), 2000, 1448):
        ip.wire.send(part)
    ktap.equal(len(reply_data(7, "65535 bytes", 20)), len(data), "bytes returned")


@ktap.test
def identifications_cannot_be_foretold():
    idents = []
    for n in range(6):
        for part in fragments(ICMP, echo_message(data=DATA, seq=40 + n), 2100 + n):
            ip.wire.send(part)
        f = ip.wire.expect(lambda f: f.proto == FRAGMENT, "fragment")
        idents.append(struct.unpack("!I", f.payload[4:8])[0])
        ip.wire.collect(lambda f: True, 0.2)
    ktap.equal(len(set(idents)), 6, "different identifications")
    ktap.true(min(idents) > 255, f"they do not start near 0: {idents}")


@ktap.test
def overlapping_fragments_drop_the_packet():
    for n, shift in enumerate((-8, -256, 8 - 512)):
        message = echo_message(data=DATA[:1016], seq=200 + n)
        ip.wire.flush()
        before = ip.numbers("drops").get("FRAG_OVERLAP", 0)
        first, second = message[:512], message[512 + shift:]
        for part in ((0, True, first), (512 + shift, False, second), (512, False, message[512:])):
            ip.wire.send(ipv6(PEER, OURS, FRAGMENT,
                              fragment(ICMP, part[0], part[1], 3000 + n) + part[2], 64))
        ip.wire.silence(lambda f: ip.is_reply(f) or ip.is_error(f), "an answer to overlaps", 0.4)
        ktap.equal(ip.numbers("drops").get("FRAG_OVERLAP", 0) - before, 1, "drops FRAG_OVERLAP")
    alive()


@ktap.test
def what_lies_inside_what_is_there_overlaps_it():
    """RFC 8200 4.5: only an exact duplicate may be ignored, which has the same M flag too."""
    message = echo_message(data=DATA[:1016], seq=220)
    there = ((0, True, 256), (256, True, 512))      # their offset, M flag and end
    tail = (512, False, 1024)
    for n, (pieces, overlap) in enumerate((
            (there, (8, True, 16)), (there, (0, True, 248)), (there, (248, True, 264)),
            (there, (0, True, 512)), (there, (264, True, 512)), (there, (256, False, 512)),
            ((tail, there[0]), (512, True, 1024)), ((tail, there[0]), (768, False, 1024)))):
        ip.wire.flush()
        delta = ip.Delta()
        for start, more, end in pieces + (overlap,) + tuple(
                piece for piece in there + (tail,) if piece not in pieces):
            ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, start, more, 3200 + n)
                              + message[start:end], 64))
        alive()
        ktap.equal(delta.drops().get("FRAG_OVERLAP"), 1, f"drops FRAG_OVERLAP for {overlap}")
        ktap.true(not [f for f in ip.wire.seen if ip.is_reply(f) and f.seq == 220
                       or ip.is_error(f)], f"silence about {overlap}")


@ktap.test
def a_duplicate_of_the_last_is_ignored():
    for n, size in enumerate((1016, 1013)):
        message = echo_message(data=DATA[:size], seq=230 + n)
        for start, end in ((512, size + 8), (512, size + 8), (0, 512)):
            ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, start, not start, 3300 + n)
                              + message[start:end], 64))
        ktap.equal(reply_data(230 + n, "the last fragment twice"), DATA[:size], "data")


@ktap.test
def ends_that_contradict_drop_the_packet():
    message = echo_message(data=DATA[:1016], seq=210)
    ip.wire.flush()
    for at, more, size in ((0, True, 512), (512, False, 512), (512, False, 500)):
        if at == 512 and size == 512:
            continue
        ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, at, more, 3100)
                          + message[at:at + size], 64))
    delta = ip.Delta()
    for at, more, size in ((0, True, 512), (1024, False, 8), (1032, False, 8)):
        ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, at, more, 3101)
                          + bytes(message[:512] if not at else size), 64))
    ip.wire.silence(ip.is_reply, "an answer to contradicting ends", 0.4)
    ktap.equal(delta.drops().get("FRAG_INVALID"), 1, "drops FRAG_INVALID")
    alive()


@ktap.test
def atomic_fragment_stands_for_itself():
    parts = fragments(ICMP, echo_message(data=DATA, seq=300), 4000)
    ip.wire.send(parts[0])
    ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 0, False, 4000)
                      + echo_message(seq=301), 64))
    ip.wire.expect(lambda f: ip.is_reply(f) and f.seq == 301, "reply to an atomic fragment")
    for part in parts[1:]:
        ip.wire.send(part)
    ktap.equal(reply_data(300, "the packet with the same identification"), DATA, "data")


@ktap.test
def impossible_fragments_are_refused():
    ip.tokens()
    message = echo_message(data=bytes(60))
    expect_problem(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 0, True, 5000) + message[:61], 64),
                   0, 4, "a length that is no multiple of 8")
    expect_problem(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 65528, False, 5001) + message, 64),
                   0, 42, "an end beyond 65535")
    expect_problem(ipv6(PEER, OURS, FRAGMENT, fragment(DEST, 0, True, 5002)
                        + options(UDP), 64), 3, 0, "a first fragment without upper header")
    expect_nothing(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 8, True, 5003), 64),
                   "FRAG_INVALID", "an empty fragment")
    expect_nothing(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 0, True, 5004)[:5], 64),
                   "EXTHDR_SHORT", "half a fragment header")


def first(nexthdr, data, ident, dest=OURS):
    return ipv6(PEER, dest, FRAGMENT, fragment(nexthdr, 0, True, ident) + data, 64)


@ktap.test
def first_fragments_without_all_headers_are_told_of():
    """RFC 8200 4.5, RFC 7112 5: code 3. The upper-layer header has to be whole."""
    for n, (nexthdr, data, what) in enumerate((
            (UDP, b"", "an empty first fragment"),
            (DEST, b"", "an empty one before options"),
            (DEST, options(TCP), "options only"),
            (DEST, options(DEST) * 2 + options(UDP), "options only, a long chain"),
            (DEST, bytes([UDP, 3]) + bytes(14), "half of the options"),
            (TCP, bytes(8), "8 octets of a TCP header"),
            (TCP, bytes(16), "16 octets of a TCP header"),
            (DEST, options(TCP) + bytes(16), "16 octets of it behind options"),
            (FRAGMENT, fragment(UDP, 0, False, 1), "a Fragment header only"))):
        ip.tokens()
        expect_problem(first(nexthdr, data, 5400 + n), 3, 0, what)


@ktap.test
def first_fragments_with_all_headers_are_kept():
    ip.tokens()
    late = ip.numbers("drops").get("FRAG_TIMEOUT", 0)
    limits(frag_timeout=1)
    for n, (nexthdr, data, what) in enumerate((
            (UDP, bytes(8), "a UDP header"), (TCP, bytes(24), "a TCP header"),
            (ICMP, bytes(8), "an ICMPv6 header"), (99, bytes(8), "an unknown one"),
            (NONE, bytes(8), "no next header"), (DEST, options(NONE), "none behind options"),
            (DEST, options(NONE) + bytes(8), "none behind options, and octets"),
            (FRAGMENT, fragment(DEST, 8, False, 1) + bytes(8), "a piece of another packet"))):
        before = ip.numbers("drops").get("FRAG_INVALID", 0)
        ip.wire.flush()
        ip.wire.send(first(nexthdr, data, 5500 + n))
        ip.wire.silence(lambda f: f.type == ip.PROBLEM, f"an error about {what}", 0.3)
        ktap.equal(ip.numbers("drops").get("FRAG_INVALID", 0) - before, 0, f"dropped: {what}")
    ktap.wait_for(15, "their time is over",
                  lambda: ip.numbers("drops").get("FRAG_TIMEOUT", 0) - late == 8)
    limits(frag_timeout=60)
    ip.tokens()
    expect_nothing(first(NONE, b"", 5520), "FRAG_INVALID", "an empty one that has no next header")


@ktap.test
def no_error_is_sent_about_a_fragment_to_a_group():
    """RFC 4443 2.4 (e.3)"""
    ip.tokens()
    for n, data in enumerate((b"", options(UDP))):
        expect_nothing(first(DEST, data, 5530 + n, nd.ALL_NODES), "FRAG_INVALID",
                       f"{len(data)} octets to a group")


@ktap.test
def errors_about_first_fragments_are_rate_limited():
    ip.tokens()
    ip.wire.flush()
    for n in range(100):
        ip.wire.send(first(UDP, b"", 5600 + n))
    told = len(ip.wire.collect(lambda f: f.type == ip.PROBLEM, 0.3))
    ktap.true(0 < told < 50, f"{told} errors about 100 fragments")
    ip.tokens()
    alive()


@ktap.test
def hop_by_hop_inside_a_fragment_is_refused():
    ip.tokens()
    ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(HOP, 0, False, 5100) + options(ICMP)
                      + echo_message(), 64))
    error = ip.wire.expect(lambda f: f.type == ip.PROBLEM, "Parameter Problem")
    ktap.equal((error.code, struct.unpack("!I", error.payload[4:8])[0]), (1, 40), "code, pointer")


@ktap.test
def nd_messages_in_fragments_are_dropped():
    message = nd.ns(ip.wire.linklocal, OURS, OURS, slla=ip.wire.mac)[40:]
    before = ip.numbers("drops").get("ND_FRAGMENTED", 0)
    ip.wire.send(ipv6(ip.wire.linklocal, OURS, FRAGMENT, fragment(ICMP, 0, False, 1) + message,
                      255))
    ip.wire.silence(lambda f: f.type == nd.NA, "an answer", 0.4)
    ktap.equal(ip.numbers("drops").get("ND_FRAGMENTED", 0) - before, 1, "drops ND_FRAGMENTED")


@ktap.test
def extension_headers_before_and_in_fragments():
    body = options(ICMP) + echo_message(data=DATA[:1000], seq=400)
    for at in range(0, len(body), 256):
        ip.wire.send(ipv6(PEER, OURS, DEST, options(FRAGMENT)
                          + fragment(DEST, at, at + 256 < len(body), 5200)
                          + body[at:at + 256], 64))
    ktap.equal(reply_data(400, "headers around fragments"), DATA[:1000], "data")


@ktap.test
def fragments_within_fragments_come_whole():
    inner = fragment(ICMP, 0, False, 1) + echo_message(data=DATA[:600], seq=401)
    for part in fragments(FRAGMENT, inner, 5300, 128):
        ip.wire.send(part)
    ktap.equal(reply_data(401, "an atomic fragment in fragments"), DATA[:600], "data")


def limits(**values):
    for name, value in values.items():
        nd.net6ctl(ip.A, "set", "limits", name.replace("_", "-"), str(value))


@ktap.test
def time_exceeded_quotes_the_first_fragment():
    ktap.equal(nd.show(ip.A, "limits")[0]["frag_timeout"], 60, "seconds, RFC 8200 4.5")
    limits(frag_timeout=1)
    before = ip.numbers("drops").get("FRAG_TIMEOUT", 0)
    ip.tokens()
    start = time.monotonic()
    for offset in (0, 64):      # what has no first fragment is not told of
        ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, offset, True, 0xdead + offset)
                          + echo_message(data=bytes(56)), 64))
    error = ip.wire.expect(lambda f: f.type == ip.TIME, "Time Exceeded", 15)
    ktap.true(time.monotonic() - start >= 1, "not before its time")
    ktap.equal(error.code, 1, "code")
    ktap.true(error.checksum_good(), "checksum")
    ktap.equal(error.payload[8:48][24:40], nd.packed(OURS), "destination of what is quoted")
    ktap.wait_for(15, "both are dropped",
                  lambda: ip.numbers("drops").get("FRAG_TIMEOUT", 0) - before >= 2)
    ip.wire.silence(lambda f: f.type == ip.TIME and f.payload[52:56] != error.payload[52:56],
                    "a second Time Exceeded", 0.2)
    limits(frag_timeout=60)


@ktap.test
def what_follows_a_refused_packet_is_refused_in_silence():
    """RFC 5722 section 4: "including those not yet received". Then the time is over."""
    message = echo_message(data=DATA[:1016], seq=240)
    first, rest = (0, True, 512), (512, False, 1024)
    limits(frag_timeout=3)
    ip.tokens()
    for n, pieces in enumerate((
            (first, (8, True, 520), first), (first, (8, True, 520), first, rest),
            ((512, True, 520), (512, False, 516), first),
            (rest, (1024, True, 1024 + 8), first, rest))):
        ident, drops = 3300 + n, ip.Delta()
        ip.wire.flush()
        for start, more, end in pieces:
            ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, start, more, ident)
                              + message[start:end].ljust(end - start, b"x"), 64))
        alive()
        # Another packet's Time Exceeded says that the time of the refused one was over.
        ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 0, True, ident + 100)
                          + message[:64], 64))
        error = ip.wire.expect(lambda f: f.type == ip.TIME, "a Time Exceeded", 30)
        ktap.equal(struct.unpack("!I", error.payload[52:56])[0], ident + 100,
                   f"the packet that is told of, not that of {pieces}")
        ip.wire.silence(lambda f: f.type == ip.TIME, "a second Time Exceeded", 0.3)
        ktap.true(not [f for f in ip.wire.seen if ip.is_reply(f) and f.seq == 240],
                  f"silence about {pieces}")
        ktap.equal(drops.drops().get("FRAG_TIMEOUT"), 1, "drops FRAG_TIMEOUT")
        # The identification is free again.
        for start, more, end in (first, rest):
            ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, start, more, ident)
                              + message[start:end], 64))
        ktap.equal(reply_data(240, "the next packet of that identification"), message[8:], "data")
    limits(frag_timeout=60)


@ktap.test
def flood_of_first_fragments_is_bounded_and_passes():
    message = echo_message(data=bytes(1392))
    limits(frag_memory=262144, frag_timeout=5)
    delta = ip.Delta()
    count = 1000 if ktap.CHECKING else 4000
    for n in range(count):
        ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 0, True, 100000 + n)
                          + message, 64))
    ktap.wait_for(20, "they are received",
                  lambda: delta.read().get("Ip6ReasmReqds", 0) > count * 3 // 4)
    ktap.true(delta.drops().get("FRAG_LIMIT", 0) > 0, "some were over the memory limit")
    alive()
    ktap.wait_for(30, "what was kept is given up", lambda: delta.drops().get(
        "FRAG_TIMEOUT", 0) + delta.drops()["FRAG_LIMIT"] >= delta.read()["Ip6ReasmReqds"])
    ip.wire.flush()
    for part in fragments(ICMP, echo_message(data=DATA, seq=500), 6000):
        ip.wire.send(part)
    ktap.equal(reply_data(500, "a packet after the flood"), DATA, "data")


ktap.main(setup=setup)
