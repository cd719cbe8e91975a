#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Datagrams that leave in fragments arrive whole, however they were written: fragments share
# the packet's pages, and the first is the packet itself. Memory is charged once, and given back.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: both
# timeout: 180
# guest-options: --kmemleak
import array
import errno
import fcntl
import itertools
import json
import os
import random
import socket
import struct
import sys
import termios
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p

V6 = socket.IPPROTO_IPV6
SNDBUFFORCE, RCVBUFFORCE = 32, 33
HOPOPTS, RTHDR, DSTOPTS = 54, 57, 59
MAX = 65527		# payload of the largest datagram
ROOM = 1448		# octets in a fragment without other headers
PAD = bytes((0, 0, 1, 4, 0, 0, 0, 0))
# Options for all nodes on the way, for the last one, and both: what each fragment has anew.
CHAINS = ((), (HOPOPTS,), (DSTOPTS,), (HOPOPTS, DSTOPTS))
SIZES = sorted({size + near for near in (-1, 0, 1)
                for size in ([k * room - 8 for room in (ROOM, ROOM - 8) for k in (1, 2, 3)]
                             + [k * 4096 for k in (1, 2, 8)] + [44 * ROOM - 8, 3520, MAX - 1])})


def pair():
    a, b = p.net6(), p.native(ns=p.B)
    a.bind((p.NET6_A, 0))
    b.bind((p.NATIVE_B, 0))
    b.setsockopt(socket.SOL_SOCKET, RCVBUFFORCE, 4 << 20)
    a.connect(b.getsockname())
    return a, b


def counters():
    entries = json.loads(p.ctl(p.A, "-j", "show", "counters", "all"))
    return {e["name"]: e["value"] for e in entries if e["name"].startswith("Ip6OutFrag")}


def charged(sock):
    """Octets of memory that what it sent has still (SIOCOUTQ)."""
    value = array.array("i", [0])
    fcntl.ioctl(sock, termios.TIOCOUTQ, value)
    return value[0]


def given_back(*socks):
    for sock in socks:
        ktap.wait_for(10, "what was sent is charged no more", lambda s=sock: not charged(s))


def pieces(data, rng):
    """Cut where chance will have it, also into nothing."""
    cuts = sorted(rng.choices(range(len(data) + 1), k=rng.randrange(9)))
    return [data[i:j] for i, j in zip([0] + cuts, cuts + [len(data)])]


@ktap.test
def every_size_arrives_whole():
    rng = random.Random(1)
    a, b = pair()
    for chain, size in itertools.product(CHAINS, SIZES):
        if size > MAX - 8 * len(chain):
            continue
        data = rng.randbytes(size)
        a.sendmsg(pieces(data, rng), [(V6, option, PAD) for option in chain])
        ktap.true(b.recv(70000) == data, f"{size} octets behind options {chain}")
    given_back(a)


@ktap.test
def pieces_of_one_datagram_arrive_whole():
    rng = random.Random(2)
    a, b = pair()
    a.setsockopt(socket.SOL_SOCKET, SNDBUFFORCE, 1 << 20)
    for size in SIZES:
        data = rng.randbytes(size)
        for piece in pieces(data, rng):
            a.send(piece, socket.MSG_MORE)
        a.send(b"")
        ktap.true(b.recv(70000) == data, f"{size} octets")
    given_back(a)


@ktap.test
def one_buffer_is_written_over_after_each_send():
    rng = random.Random(3)
    a, b = pair()
    buffer, sent = bytearray(20000), []
    for _ in range(30):
        size = rng.randrange(1, len(buffer))
        buffer[:size] = rng.randbytes(size)
        a.send(memoryview(buffer)[:size])
        sent.append(bytes(buffer[:size]))
    buffer[:] = bytes(len(buffer))
    for n, data in enumerate(sent):
        got = b.recv(70000)
        ktap.true(got == data, f"datagram {n}, {len(data)} octets, got {len(got)}, which are of "
                               f"{[m for m, other in enumerate(sent) if other == got]}")
    given_back(a)


@ktap.test
def files_are_sent_as_on_the_native_stack():
    name = "/tmp/frag"
    data = random.Random(4).randbytes(150000)
    with open(name, "wb") as file:
        file.write(data)

    def sendfile(make):
        sock, b = make(), p.native(ns=p.B)
        b.bind((p.NATIVE_B, 0))
        b.setsockopt(socket.SOL_SOCKET, RCVBUFFORCE, 4 << 20)
        sock.connect(b.getsockname())
        out = []
        with open(name, "rb") as file:
            for offset, size in ((0, 3000), (1, 20000), (4095, 30001)):
                at = 0
                while at < size:
                    at += os.sendfile(sock.fileno(), file.fileno(), offset + at, size - at)
                got = b""
                while len(got) < size:
                    got += b.recv(70000)
                out.append(got == data[offset:offset + size])
        return out
    ktap.equal(sendfile(p.net6), [True] * 3, "files of net6")
    ktap.equal(sendfile(p.native), [True] * 3, "files of the native stack")
    os.unlink(name)


@ktap.test
def raw_sockets_and_echo_requests_arrive_whole():
    rng = random.Random(5)
    a, b = p.net6(socket.SOCK_RAW, 253), p.native(socket.SOCK_RAW, 253, p.B)
    echo = p.net6(socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6)
    b.setsockopt(socket.SOL_SOCKET, RCVBUFFORCE, 4 << 20)
    echo.setsockopt(socket.SOL_SOCKET, RCVBUFFORCE, 4 << 20)
    echo.connect((p.NATIVE_B, 0))
    for size in SIZES:
        data = rng.randbytes(size)
        a.sendto(data, (p.NATIVE_B, 0))
        ktap.true(b.recv(70000) == data, f"{size} octets of a raw socket")
        echo.send(bytes((128, 0, 0, 0, 0, 0, 0, 1)) + data[8:])
        ktap.true(echo.recv(70000)[8:] == data[8:], f"echo of {size} octets")
    given_back(a, echo)


@ktap.test
def a_group_and_our_own_member_get_the_same():
    rng = random.Random(6)
    group, port = "ff02::1:4444", 7301
    zone = p.index(p.A, "a0")
    own, b, a = p.net6(), p.native(ns=p.B), p.net6()
    for sock, at in ((own, zone), (b, p.index(p.B, "b0"))):
        sock.bind(("::", port))
        sock.setsockopt(V6, 20, socket.inet_pton(socket.AF_INET6, group) + struct.pack("=i", at))
        sock.setsockopt(socket.SOL_SOCKET, RCVBUFFORCE, 4 << 20)
    a.setsockopt(V6, 17, zone)				# IPV6_MULTICAST_IF
    for size in SIZES:
        data = rng.randbytes(size)
        a.sendto(data, (group, port))
        ktap.true(b.recv(70000) == data, f"{size} octets in B")
        ktap.true(own.recv(70000) == data, f"{size} octets looped back")
    given_back(a)


@ktap.test
def a_device_without_gathering_sends_them_too():
    rng = random.Random(7)
    a, b = pair()
    p.A.run("ethtool", "-K", "a0", "tx", "off", "sg", "off")
    for size in SIZES:
        data = rng.randbytes(size)
        a.send(data)
        ktap.true(b.recv(70000) == data, f"{size} octets")
    p.A.run("ethtool", "-K", "a0", "tx", "on", "sg", "on")
    given_back(a)


@ktap.test
def what_waits_in_a_queue_is_bounded_and_charged_once():
    ktap.kmod("sch_tbf")
    a, b = pair()
    a.send(b"x")		# the neighbor is known
    b.recv(10)
    given_back(a)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 100000)
    bound = a.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    a.setblocking(False)
    for size in (2000, 5000, 20000, 65000):
        p.A.run("tc", "qdisc", "add", "dev", "a0", "root", "tbf", "rate", "64bit",
                "burst", "1600", "limit", "10000000")
        # Takes what may leave within the next minutes, or waits behind a probe that did.
        a.send(bytes(1452))
        before = charged(a)
        a.send(bytes(size))
        first, count = charged(a) - before, 1
        # A page of the linear part, and half a KB for each head besides.
        most = size + 4096 + 1024 * -(-(size + 8) // ROOM)
        try:
            for count in range(2, 1000):
                a.send(bytes(size))
        except BlockingIOError:
            pass
        wait = charged(a)
        p.A.run("tc", "qdisc", "del", "dev", "a0", "root")
        ktap.diag(f"{size} octets: charged {first}, refused was datagram {count}")
        ktap.true(size < first < most, f"{size}: {first} are charged")
        ktap.true(bound <= wait < bound + most, f"{size}: {wait} octets wait")
        given_back(a)


@ktap.test
def without_memory_for_one_fragment_none_is_sent():
    """Each allocation of a send fails in its turn (fail-nth)."""
    if not os.path.isdir("/sys/kernel/debug/failslab"):
        raise ktap.Skip("the kernel cannot inject faults")
    for what, name, value in (("failslab", "verbose", 0), ("failslab", "probability", 0),
                              ("failslab", "times", -1), ("failslab", "ignore-gfp-wait", "N")):
        with open(f"/sys/kernel/debug/{what}/{name}", "w", encoding="ascii") as file:
            file.write(str(value))
    a, b = pair()
    a.send(b"x")
    b.recv(10)
    nth = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    refused = 0
    for size in (2000, 6000):
        fragments = -(-(size + 8) // ROOM)
        for n in itertools.count(1):
            before, error = counters(), None
            os.pwrite(nth, b"%d" % n, 0)
            try:
                a.send(bytes(size))
            except OSError as problem:
                error = problem.errno
            left = int(os.pread(nth, 20, 0).rstrip(b"\0\n") or 0)
            os.pwrite(nth, b"0", 0)
            made = counters()["Ip6OutFragCreates"] - before["Ip6OutFragCreates"]
            ktap.true(made in (0, fragments), f"{size}, allocation {n}: {made} fragments sent")
            if left:
                ktap.equal((error, made), (None, fragments), "with memory")
                break
            if error is not None:
                refused += 1
                ktap.true(error in (errno.ENOMEM, errno.ENOBUFS), f"error {error}")
    os.close(nth)
    ktap.true(refused > 4, f"refused {refused} times")
    given_back(a)


ktap.main(setup=p.setup)
