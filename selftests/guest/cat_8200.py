#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A host's catalogue, RFC 8200: fields of the header, extension headers and options, what
# is not recognised, routing headers, reassembly and its time-out. One test a case, named
# by section. Time is virtual. Rows marked daily run in "make check", all with NET6_FULL.
#
#	A [a0 net6 fd00::6] ------ [b0 raw frames as fd00::b] B
#
# guest: stock+
# guest-options: --virtual-time
# timeout: 300

import os
import struct
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import catalogue
import ip
import ktap
import nd
from ip import (DEST, FRAGMENT, HOP, ICMP, NONE, OURS, PEER, ROUTING, TIME, echo_message,
                fragment, fragments, ipv6, is_error, is_reply, options)

UNKNOWN = (138, 143, 200, 252)		# Next Header values that nobody has
row = catalogue.rows(8200)
shared = types.SimpleNamespace(seq=1, ident=100)	# the last; mine, say: link-local addresses
# Options that nobody knows (RFC 4727 6), by their two highest bits (4.2).
SKIP, DISCARD, TELL, TELL_UNICAST = (bytes([kind, 4]) + bytes(4) for kind in
                                     (0x1e, 0x5e, 0x9e, 0xde))


def setup():
    ip.setup()
    shared.mine, shared.say = nd.linklocal(ip.A), ip.wire.linklocal
    nd.net6ctl(ip.A, "add", "neighbor", shared.say, "lladdr", ip.wire.mac, "dev", "a0")


def request(data=b"net6", **more):
    """An echo request of its own number."""
    shared.seq += 1
    return echo_message(seq=shared.seq, data=data, **more)


def about(frame):
    return is_reply(frame) or is_error(frame)


def replied(*packets, source=PEER, dest=OURS, data=b"net6"):
    """The last of the requests is answered, and nothing else is said."""
    ip.wire.flush()
    for packet in packets:
        ip.wire.send(packet)
    frame = ip.wire.expect(about, "reply")
    ktap.true(is_reply(frame) and frame.seq == shared.seq, f"a reply to {shared.seq}: {frame}")
    ktap.equal((frame.source, frame.dest, frame.hlim), (dest, source, 64), "header of the reply")
    ktap.true(frame.checksum_good(), "checksum")
    ktap.equal(frame.payload[8:], data, "data")
    return frame


def silent(*packets, seconds=1):
    """Nobody says anything, and the host is well."""
    ip.wire.flush()
    for packet in packets:
        ip.wire.send(packet)
    ip.wire.silence(about, "an answer", seconds)
    ip.alive()


def problem(packet, code, pointer):
    ip.tokens()
    ip.expect_problem(packet, code, pointer, "it")
    ip.wire.silence(about, "a second answer", 0.5)


def plain(payload, proto=ICMP, hlim=64, source=PEER, dest=OURS):
    return ipv6(source, dest, proto, payload, hlim)


def header_fields():
    def first_word(word):
        return struct.pack("!I", word) + plain(request())[4:]

    def versions():
        for version in set(range(16)) - {6}:
            silent(first_word(version << 28), seconds=0.2)

    def flow_label():
        frame = replied(first_word(0x6003b375))
        word = struct.unpack("!I", frame.packet[:4])[0]
        ktap.equal(word >> 20, 0x600, "version and traffic class of the reply")

    def unknown():
        for number in UNKNOWN:
            problem(plain(request(), number), 1, 6)

    def unexpected():
        # A Fragment header where Destination Options are announced: its offset is read as
        # an option that is to be told of.
        problem(plain(bytes([ICMP, 0, 0x9e, 4, 0, 0, 0, 1]) + request(), DEST), 2, 42)

    def lengths(size):
        replied(plain(request(bytes(size))), data=bytes(size))

    row("3", "a version that is not 6 is discarded", versions, daily=True)
    row("3, 7", "a traffic class that is not zero is no obstacle",
        lambda: replied(first_word(0x62000000)))
    row("3, 6", "a flow label that is not zero is no obstacle", flow_label)
    row("3", "an even payload length", lengths, 4)
    row("3", "an odd payload length", lengths, 5)
    row("4.7", "no next header behind the IPv6 header: the rest is ignored",
        lambda: silent(plain(request(), NONE)))
    row("4", "an unrecognised next header in the IPv6 header is told of", unknown,
        daily=True)
    row("4", "an unexpected next header in the IPv6 header is told of", unexpected)
    row("3", "hop limit 0 is no obstacle at the destination",
        lambda: replied(plain(request(), hlim=0)))


def extension_headers():
    def zero():
        problem(plain(options(HOP) + options(ICMP) + request(), HOP), 1, 40)

    def none():
        silent(plain(options(NONE) + request(), DEST))

    def unknown():
        for number in UNKNOWN:
            problem(plain(options(number) + request(), DEST), 1, 40)

    def unexpected():
        problem(plain(options(DEST) + bytes([ICMP, 0, 0x9e, 4, 0, 0, 0, 1]) + request(), DEST),
                2, 50)

    def cut(nexthdr):
        """A fragment that is not the last, of a length that is no multiple of 8."""
        return fragment(nexthdr, 0, True, 11)

    row("4", "next header 0 in an extension header is told of", zero, daily=True)
    row("4.7", "no next header behind an extension header: the rest is ignored", none)
    row("4", "an unrecognised next header in an extension header is told of", unknown)
    row("4", "an unexpected next header in an extension header is told of", unexpected)
    row("4.1", "options before a fragment, both at fault: the options are told of",
        lambda: problem(plain(options(FRAGMENT, TELL) + cut(ICMP) + request(bytes(5)), DEST),
                        2, 42))
    row("4.1", "options before a fragment that is at fault: the fragment is told of",
        lambda: problem(plain(options(FRAGMENT, SKIP) + cut(ICMP) + request(bytes(5)), DEST),
                        0, 4))
    row("4.1", "a fragment before options, both at fault: the fragment is told of",
        lambda: problem(plain(cut(DEST) + options(ICMP, TELL) + request(bytes(5)), FRAGMENT),
                        0, 4))
    row("4.1", "a fragment before options that are at fault: the options are told of",
        lambda: problem(plain(fragment(DEST, 0, False, 12) + options(ICMP, TELL) + request(),
                              FRAGMENT), 2, 50))


def option_order():
    def packet(*opts):
        return plain(options(ICMP, b"".join(opts)) + request(), DEST)

    row("4.2", "options 00 01 10 11: the second discards",
        lambda: silent(packet(SKIP, DISCARD, TELL, TELL_UNICAST)))
    row("4.2", "options 00 10 11 01: the second is told of",
        lambda: problem(packet(SKIP, TELL, TELL_UNICAST, DISCARD), 2, 48))
    row("4.2", "options 00 11 01 10: the second is told of",
        lambda: problem(packet(SKIP, TELL_UNICAST, DISCARD, TELL), 2, 48))


def option_types():
    group = "ff02::1"

    def packet(head, opts, dest=OURS):
        return plain(options(ICMP, opts) + request(dest=dest), head, dest=dest)

    def group_silent(head):
        silent(packet(head, TELL_UNICAST, group))

    def told(head, *args):
        problem(packet(head, *args), 2, 42)

    for head, section in ((HOP, "4.3, hop-by-hop"), (DEST, "4.6, destination")):
        row(section, "Pad1 options", lambda h=head: replied(packet(h, bytes(6))))
        row(section, "a PadN option", lambda h=head: replied(packet(h, b"\1\4" + bytes(4))))
        row(section, "an option 00 is skipped", lambda h=head: replied(packet(h, SKIP)),
            daily=True)
        row(section, "an option 01 discards", lambda h=head: silent(packet(h, DISCARD)))
        row(section, "an option 10 is told of", told, head, TELL, daily=True)
        row(section, "an option 11 is told of", told, head, TELL_UNICAST)
        row(section, "an option 10 to a group is told of", told, head, TELL, group)
        row(section, "an option 11 to a group discards", group_silent, head)


def routing_headers():
    def packet(kind, left):
        return plain(ip.routing(ICMP, kind, left) + request(), ROUTING)

    for kind in (33, 0):
        row("4.4", f"routing type {kind}, no segments left: the header is ignored",
            lambda k=kind: replied(packet(k, 0)))
        row("4.4", f"routing type {kind}, a segment left: told of",
            lambda k=kind: problem(packet(k, 1), 0, 42), daily=kind == 33)




def parts(message, size=80, **where):
    shared.ident += 1
    return fragments(ICMP, message, shared.ident, size, **where)


def reassembly():
    data = bytes(range(200))

    def mixed(**where):
        """Fragments of one request, each second one of another packet."""
        message = request(data)
        mine, other = parts(message), parts(message)
        if where:
            other = fragments(ICMP, message, shared.ident - 1, 80, **where)
        ip.wire.flush()
        for number, part in enumerate(mine):
            ip.wire.send(other[number] if number % 2 else part)
        ip.wire.silence(is_reply, "a reply", 50)
        ip.alive()
        time.sleep(12)			# what is left is given up

    def whole(size):
        payload = bytes(size)
        replied(*parts(request(payload), 1240), data=payload)

    row("4.5", "fragments in order", lambda: replied(*parts(request(data)), data=data),
        daily=True)
    row("4.5", "fragments backwards", lambda: replied(*parts(request(data))[::-1], data=data))
    row("4.5", "fragments of two identifications are two packets", mixed)
    row("4.5", "fragments of two sources are two packets", lambda: mixed(source="fd00::c"))
    row("4.5", "fragments to two destinations are two packets", lambda: mixed(dest=shared.mine))
    row("4.5", "a packet of 1500 octets comes whole", whole, 1500 - 48)


def time_exceeded():
    def kept(wait):
        first, last = parts(request(bytes(100)))
        ip.wire.flush()
        ip.wire.send(first)
        start = time.monotonic()
        time.sleep(wait)		# of the minute that they are kept
        return first, last, start

    def in_time():
        _, last, _ = kept(55)
        replied(last, data=bytes(100))

    def told(first, start, source, dest):
        error = ip.wire.expect(lambda f: f.type == TIME, "Time Exceeded", 70)
        after = time.monotonic() - start
        ktap.true(59 <= after <= 66 or start < 0, f"after 60 seconds, not {after}")
        ktap.equal((error.code, error.source, error.dest), (1, dest, source), "code, addresses")
        ktap.true(error.checksum_good(), "checksum")
        ktap.equal(error.payload[8:], first, "what is quoted")

    def late():
        first, last, _ = kept(65)
        ip.wire.send(last)
        told(first, -100, PEER, OURS)
        ip.wire.silence(is_reply, "a reply", 1)
        ip.alive()
        time.sleep(65)		# what is left is given up

    def first_only(source, dest):
        first = parts(request(bytes(100), source=source, dest=dest), source=source, dest=dest)[0]
        ip.tokens()
        ip.wire.flush()
        start = time.monotonic()
        ip.wire.send(first)
        told(first, start, source, dest)

    def second_only():
        silent(parts(request(bytes(100)))[1], seconds=70)

    row("4.5", "fragments 55 seconds apart are put together", in_time)
    row("4.5", "fragments 65 seconds apart are not, and Time Exceeded is sent", late)
    row("4.5", "only the first fragment comes: Time Exceeded", lambda: first_only(PEER, OURS),
        daily=True)
    row("4.5", "only the first fragment comes, link-local: Time Exceeded",
        lambda: first_only(shared.say, shared.mine))
    row("4.5", "only the second fragment comes: silence", second_only)


def odd_fragments():
    def invalid():
        problem(plain(fragment(ICMP, 0, True, 13) + request(bytes(5)), FRAGMENT), 0, 4)

    def atomic():
        """RFC 6946: processed apart from other fragments, be they of the same packet."""
        message = request(bytes(100))
        first, last = parts(message)
        ip.wire.send(first)
        replied(plain(fragment(ICMP, 0, False, shared.ident) + request(), FRAGMENT))
        ip.wire.send(last)
        frame = ip.wire.expect(is_reply, "reply to the packet in fragments")
        ktap.equal(frame.payload[8:], message[8:], "its data")

    row("4.5", "a fragment that is not the last, of no multiple of 8 octets, is told of", invalid,
        daily=True)
    row("4.5", "an atomic fragment is a packet", atomic)


for table in (header_fields, extension_headers, option_order, option_types, routing_headers,
              reassembly, time_exceeded, odd_fragments):
    table()
ktap.main(setup=lambda: catalogue.patiently(setup))
