#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Time stamps (SO_TIMESTAMP, SO_TIMESTAMPING) of what a host sends to itself: when it arrived,
# not when it was read, for every protocol. When it was sent, in the error queue. Times that
# programs give (SO_TXTIME): when a datagram is to leave, fragments and all.
#
#	A: sockets of net6 over ::1	(lib/netpair.py)
#	A [a0] ------ [b0] B		what is fragmented
#
# guest: both
# timeout: 60
# guest-options: --kmemleak
import errno
import os
import select
import socket
import struct
import sys
import time
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p

TCP, UDP, RAW = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
ICMP6, SOL = socket.IPPROTO_ICMPV6, socket.SOL_SOCKET
STAMP, STAMPNS, STAMPING, TXTIME = 29, 35, 37, 61
TX_SOFTWARE, RX_SOFTWARE, SOFTWARE = 1 << 1, 1 << 3, 1 << 4
OPT_ID, TX_SCHED, TSONLY = 1 << 7, 1 << 8, 1 << 11
SND, SCHED = 0, 1
PROTO = 253		# RFC 3692: for experiments


def now():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


def stamp(control, option):
    """Nanoseconds of the time stamp in a message's ancillary data."""
    found = [body for level, kind, body in control if (level, kind) == (SOL, option)]
    ktap.equal(len(found), 1, f"time stamps of option {option} in {control}")
    seconds, rest = struct.unpack("=qq", found[0][:16])
    return seconds * 10 ** 9 + (rest * 1000 if option == STAMP else rest)


def udp():
    a, b = p.net6(UDP), p.net6(UDP)
    b.bind(("::1", 0))
    a.connect(b.getsockname())
    return a, b, b"a datagram"


def large_udp():
    a, b, _ = udp()
    return a, b, bytes(40000)


def fragmented_udp(make=p.net6):
    a, b = make(UDP), p.native(UDP, ns=p.B)
    b.bind((p.NATIVE_B, 0))
    a.connect(b.getsockname())
    return a, b, bytes(4000)


def group():
    a, b = p.net6(UDP), p.net6(UDP)
    zone = p.index(p.A, "a0")
    b.bind(("::", 0))
    b.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                 socket.inet_pton(socket.AF_INET6, "ff02::77") + struct.pack("=i", zone))
    a.connect(("ff02::77", b.getsockname()[1], 0, zone))
    return a, b, b"to a group"


def raw():
    a = p.net6(RAW, PROTO)
    a.bind(("::1", 0))
    a.connect(("::1", 0))
    return a, a, b"a packet"		# its own


def echo():
    a = p.net6(UDP, ICMP6)
    a.connect(("::1", 0))
    return a, a, struct.pack("!BBHHH", 128, 0, 0, 0, 1)


def tcp():
    with p.net6(TCP) as listener:
        listener.bind(("::1", 0))
        listener.listen()
        a = p.net6(TCP)
        a.connect(listener.getsockname())
        return a, listener.accept()[0], b"a segment"


KINDS = (udp, large_udp, group, raw, echo, tcp)


@ktap.test
def packets_have_the_time_of_their_arrival():
    options = {STAMP: 1, STAMPNS: 1, STAMPING: RX_SOFTWARE | SOFTWARE}
    for make in KINDS:
        for option, value in options.items():
            sender, reader, data = make()
            reader.setsockopt(SOL, option, value)
            before = now()
            sender.send(data)
            ktap.true(select.select([reader], [], [], 10 * ktap.SCALE)[0], "it arrives")
            after = now()
            control = reader.recvmsg(65536, 1000)[1]
            at = stamp(control, option)
            # Microseconds are cut off.
            ktap.true(before - 1000 <= at <= after, f"{make.__name__}, option {option}: "
                      f"sent after {before}, there before {after}, stamped {at}")
            sender.close()
            reader.close()


@ktap.test
def a_listener_gives_its_wish_to_connections():
    with p.net6(TCP) as listener, p.net6(TCP) as client:
        listener.setsockopt(SOL, STAMPNS, 1)
        listener.bind(("::1", 0))
        listener.listen()
        client.connect(listener.getsockname())
        before = now()
        client.send(b"x")
        server = listener.accept()[0]
        control = server.recvmsg(10, 1000)[1]
        ktap.true(before <= stamp(control, STAMPNS) <= now(), "the first segment's time")
        server.close()


@ktap.test
def who_does_not_ask_gets_no_time():
    for make in KINDS:
        sender, reader, data = make()
        sender.send(data)
        ktap.equal(reader.recvmsg(65536, 1000)[1], [], make.__name__)
        sender.close()
        reader.close()


def sent(sock):
    """What the error queue says of a packet: {when: (its number, nanoseconds)}."""
    found = {}
    poll = select.poll()
    poll.register(sock, 0)		# POLLERR is told unasked
    for _ in range(2):
        ktap.true(poll.poll(10000 * ktap.SCALE), "the packet has left")
        control = sock.recvmsg(100, 1000, socket.MSG_ERRQUEUE)[1]
        error = [body for level, kind, body in control if (level, kind) ==
                 (socket.IPPROTO_IPV6, 25)][0]		# IPV6_RECVERR
        _, origin, _, _, _, info, data = struct.unpack("=IBBBBII", error[:16])
        ktap.equal(origin, 4, "origin: SO_EE_ORIGIN_TIMESTAMPING")
        found[info] = (data, stamp(control, STAMPING))
    return found


@ktap.test
def senders_are_told_the_time_of_departure():
    for make in (udp, large_udp, fragmented_udp, raw, echo):
        sender, reader, data = make()
        sender.setsockopt(SOL, STAMPING, TX_SOFTWARE | TX_SCHED | SOFTWARE | OPT_ID | TSONLY)
        for number in range(3):
            before = now()
            sender.send(data)
            told = sent(sender)
            after = now()
            ktap.equal(sorted(told), [SND, SCHED], f"events of {make.__name__}")
            for event, (key, at) in told.items():
                ktap.equal(key, number, f"{make.__name__}: number")
                ktap.true(before <= at <= after, f"{make.__name__}: event {event}: sent after "
                          f"{before}, before {after}, stamped {at}")
            reader.settimeout(10 * ktap.SCALE)
            reader.recv(65536)
        sender.setblocking(False)
        ktap.raises(errno.EAGAIN, sender.recvmsg, 100, 1000, socket.MSG_ERRQUEUE)
        sender.close()
        reader.close()


@ktap.test
def all_fragments_leave_at_the_time_that_was_given():
    ktap.kmod("sch_fq")
    p.A.run("tc", "qdisc", "add", "dev", "a0", "root", "fq")
    for make in (p.native, p.net6):
        sender, reader, data = fragmented_udp(make)
        sender.send(data)		# the neighbor is known
        reader.recv(65536)
        sender.setsockopt(SOL, TXTIME, struct.pack("=iI", time.CLOCK_MONOTONIC, 0))
        leaves = time.monotonic_ns() + 500000000
        sender.sendmsg([data], [(SOL, TXTIME, struct.pack("=Q", leaves))])
        reader.recv(65536)
        ktap.true(time.monotonic_ns() >= leaves, f"{make.__name__}: not before its time")
        sender.close()
        reader.close()
    p.A.run("tc", "qdisc", "del", "dev", "a0", "root")


ktap.main(setup=p.setup)
