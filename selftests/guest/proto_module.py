#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A protocol above IPv6 that another module brings (include/net6/proto.h). It is the example
# of Documentation/extending.rst, selftests/modules/net6_knock.c. Its packets come and go,
# errors reach it, values that are taken are refused, and it goes under traffic.
#
#	A [a0 net6 fd00::6] ------ [b0 raw frames as fd00::b] B
# guest: both
# timeout: 300
# guest-options: --kmemleak

import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ip
import ktap
import nd
from ip import OURS, PEER

KNOCK, ANSWER, PROTO = 1, 2, 253
MODULE = f"{ktap.BUILD}/selftests/modules/net6_knock.ko"
PROC = "/proc/net6_knock"


def message(kind, number, data=b"", source=PEER, dest=OURS):
    text = struct.pack("!BBHI", kind, 0, 0, number) + data
    value = nd.checksum(source, dest, PROTO, text)
    return text[:2] + struct.pack("!H", value) + text[4:]


def packet(kind, number, data=b"", source=PEER, dest=OURS):
    return nd.ipv6(source, dest, PROTO, message(kind, number, data, source, dest), 64)


def good(frame):
    return nd.checksum(frame.source, frame.dest, PROTO, frame.payload) == 0


def counts():
    """Knocks answered, answers, errors, messages refused."""
    with open(PROC, encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def knock(to, interface=0, size=0):
    with ip.A:
        fd = os.open(PROC, os.O_WRONLY)
        try:
            os.write(fd, f"{to} {interface} {size}".encode())
        finally:
            os.close(fd)


def setup():
    ip.setup()
    ktap.at_exit(unload)


def unload():
    if os.path.exists(PROC):
        ktap.unload("net6_knock")


@ktap.test
def before_it_comes_the_value_is_unknown():
    ip.expect_problem(packet(KNOCK, 7), 1, 6, "an unknown Next Header")
    ktap.run("insmod", MODULE)


@ktap.test
def a_knock_is_answered():
    for data in (b"", b"x", b"knock knock", bytes(1400)):
        ip.wire.send(packet(KNOCK, 7, data))
        frame = ip.wire.expect(lambda f: f.proto == PROTO, f"an answer to {len(data)} bytes")
        ktap.equal((frame.source, frame.dest, frame.hlim), (OURS, PEER, 64), "header")
        ktap.equal((frame.payload[0], frame.payload[4:]), (ANSWER, bytes([0, 0, 0, 7]) + data),
                   "message")
        ktap.true(good(frame), "checksum")
    ktap.equal(counts(), [4, 0, 0, 0], "counts")


@ktap.test
def what_is_no_message_is_refused():
    bad = bytearray(packet(KNOCK, 7, b"data"))
    bad[-1] ^= 1
    before = counts()
    ip.wire.flush()
    for wrong in (bytes(bad), packet(9, 7), nd.ipv6(PEER, OURS, PROTO, b"short", 64),
                  nd.ipv6(PEER, OURS, PROTO, b"", 64)):
        ip.wire.send(wrong)
    ktap.wait_for(5, "four are refused", lambda: counts()[3] == before[3] + 4)
    for source, dest in (("::", OURS), (PEER, "ff02::1")):
        ip.wire.send(packet(KNOCK, 7, source=source, dest=dest))
    ip.wire.silence(lambda f: f.proto == PROTO, "an answer to a group, nobody, or no message")
    ktap.equal(counts()[:3], before[:3], "others' counts")
    ip.alive()


@ktap.test
def what_it_sends_has_a_source_and_a_checksum():
    ip.wire.flush()
    knock(PEER, 0, 100)
    frame = ip.wire.expect(lambda f: f.proto == PROTO, "a knock")
    ktap.equal((frame.source, frame.dest, frame.hlim, len(frame.payload)),
               (OURS, PEER, 64, 108), "header and length")
    ktap.true(good(frame), "checksum")
    number = struct.unpack("!I", frame.payload[4:8])[0]
    before = counts()
    ip.wire.send(packet(ANSWER, number, bytes(100)))
    ktap.wait_for(5, "the answer", lambda: counts()[1] == before[1] + 1)


@ktap.test
def an_address_of_ours_can_be_knocked_at():
    before = counts()
    knock(OURS)
    ktap.wait_for(5, "the knock and its answer",
                  lambda: (counts()[0], counts()[1]) == (before[0] + 1, before[1] + 1))


@ktap.test
def where_it_cannot_go_the_sender_is_told():
    ktap.raises(22, knock, "fe80::b")               # EINVAL: on which interface?
    ktap.raises(101, knock, "2001:db8::1")          # ENETUNREACH
    ktap.raises(19, knock, "ff02::1", 4242)         # ENODEV


@ktap.test
def a_group_is_knocked_at_with_one_hop():
    ip.wire.flush()
    with ip.A:
        index = socket.if_nametoindex("a0")
    knock("ff02::1", index, 10)
    frame = ip.wire.expect(lambda f: f.proto == PROTO, "a knock at a group")
    ktap.equal((frame.source, frame.hlim), (nd.linklocal(ip.A), 1), "source and hop limit")
    ktap.true(good(frame), "checksum")


@ktap.test
def what_is_too_big_goes_in_fragments_of_the_path():
    ip.wire.flush()
    knock(PEER, 0, 3000)
    pieces = [ip.wire.expect(lambda f: f.proto == ip.FRAGMENT, "a fragment") for _ in range(3)]
    ktap.true(max(len(p.payload) for p in pieces) <= 1460, "pieces of 1500")
    knock(PEER, 0, 1400)
    whole = ip.wire.expect(lambda f: f.proto == PROTO, "1400 bytes in one")
    before = counts()
    forged = whole.packet[:44] + b"\xff\xff\xff\xff" + whole.packet[48:1000]
    for quoted in (forged, whole.packet[:1000]):
        ip.wire.send(nd.icmp(PEER, OURS, ip.TOO_BIG, struct.pack("!I", 1300) + quoted))
    ktap.wait_for(5, "the error", lambda: counts()[2] > before[2])
    ktap.equal(counts()[2] - before[2], 1, "errors: that about what was never sent is none")
    knock(PEER, 0, 1400)
    for _ in range(2):
        piece = ip.wire.expect(lambda f: f.proto == ip.FRAGMENT, "a fragment of 1300")
        ktap.true(len(piece.payload) <= 1260, "a path of 1300")


@ktap.test
def values_that_are_taken_are_refused():
    unload()
    for value in (6, 17, 58, 0, 43, 44, 59, 60, 256):
        try:
            ktap.run("insmod", MODULE, f"protocol={value}")
        except ktap.Fail:
            continue
        raise ktap.Fail(f"{value} was given to it")
    ktap.run("insmod", MODULE)
    try:
        ktap.run("rmmod", "net6")
    except ktap.Fail:
        return
    raise ktap.Fail("net6 went before who uses it")


@ktap.test
def it_goes_and_comes_under_traffic():
    stop = threading.Event()

    def send():
        while not stop.is_set():
            ip.wire.send(packet(KNOCK, 7, bytes(200)))
    thread = threading.Thread(target=send)
    thread.start()
    try:
        for _ in range(5):
            ktap.wait_for(20, "knocks are answered", lambda: counts()[0] > 20)
            unload()
            ktap.run("insmod", MODULE)
    finally:
        stop.set()
        thread.join()
    unload()
    ip.tokens()
    ip.expect_problem(packet(KNOCK, 7), 1, 6, "a Next Header that is unknown again")
    ip.alive()


ktap.main(setup=setup)
