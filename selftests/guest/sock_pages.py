#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A UDP socket that sends large datagrams fills its pages again when nobody else has them. What
# somebody still holds (a queue that nobody reads, cut segments, a device, a packet socket) stays as
# it was. The pages are given up when it sends none for a while, and when it is closed.
#
#	[ A: sender ] a1 ------ b1 [ B: receiver ]
#
# guest: both
# timeout: 200
import os
import random
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import netpair  # noqa: E402
from netpair import NET6_B1, net6  # noqa: E402

SOL_UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104
SEGMENT = 1400
# Of a datagram that is cut: just over a page. Its last segment is shorter: the receiver's GRO
# joins none of the next one's to it.
SIZE = 24 * SEGMENT - 100
PERIOD = 1048573		# a prime: no two datagrams are alike
STREAM = memoryview(2 * random.Random(11).randbytes(PERIOD))
KEEPS = 256 << 10		# a socket that has sent so much keeps pages
MB = 1 << 20
ETH_P_ALL = 3
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33


def counter(name):
    out = netpair.ctl(netpair.A, "show", "counters", "all")
    return next(int(line.split()[1]) for line in out.splitlines() if line.split()[0] == name)


def held():
    return counter("UdpPagesKept") - counter("UdpPagesGivenUp")


def datagram(number):
    at = number * SIZE % PERIOD
    return STREAM[at:at + SIZE]


class Flow:
    """Numbered datagrams from a socket that has them cut to one that may take them together."""

    def __init__(self, gro=1):
        self.sock, self.peer = net6(), net6(ns=netpair.B)
        self.peer.bind((NET6_B1, 0))
        self.peer.setsockopt(SOL_UDP, UDP_GRO, gro)
        self.peer.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 * MB)
        self.sock.connect(self.peer.getsockname())
        self.sock.setsockopt(SOL_UDP, UDP_SEGMENT, SEGMENT)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 * MB)
        self.port = self.sock.getsockname()[1]
        self.sent = self.read = 0

    def send(self, count=1):
        for _ in range(count):
            ktap.equal(self.sock.send(datagram(self.sent)), SIZE, "octets sent")
            self.sent += 1

    def compare(self, data, number, what):
        if datagram(number) != data:
            raise ktap.Fail(f"{what}: other octets than were sent in datagram {number}")

    def receive(self, count=1, flags=0):
        for number in range(self.read, self.read + count):
            data = b""
            while len(data) < SIZE:
                data += self.peer.recv(SIZE, flags)
            self.compare(data, number, "read")
        self.read += 0 if flags else count

    def pass_on(self, count=1):
        for _ in range(count):
            self.send()
            self.receive()

    def close(self):
        self.sock.close()
        self.peer.close()


def reuses(flow):
    before = counter("UdpPagesReused")
    flow.pass_on(40)
    return counter("UdpPagesReused") >= before + 20


def reusing(gro=1):
    """A flow that keeps pages."""
    flow = Flow(gro)
    ktap.wait_for(20, "pages are used again", lambda: reuses(flow))
    return flow


@ktap.test
def pages_are_used_again():
    for gro in 1, 0:
        reusing(gro).close()


@ktap.test
def a_socket_that_sends_little_keeps_none():
    kept = counter("UdpPagesKept")
    for _ in range(20):
        flow = Flow()
        flow.pass_on(KEEPS // SIZE)
        flow.close()
    ktap.equal(counter("UdpPagesKept"), kept, "pages kept")


@ktap.test
def what_waits_to_be_read():
    for gro in 1, 0:
        flow = reusing(gro)
        for count in 1, 2, 3, 5, 40:
            flow.send(count)
            if gro:
                flow.receive(flags=socket.MSG_PEEK)
            flow.send(count)
            # Some pages are free, others are not.
            flow.receive(count // 2)
            flow.send(count)
            flow.receive(flow.sent - flow.read)
        flow.close()


@ktap.test
def what_waits_in_a_device():
    flow = reusing()
    with netpair.A:
        ktap.run("tc", "qdisc", "add", "dev", "a1", "root", "tbf", "rate", "100mbit",
                 "burst", "70000", "limit", str(4 * MB))
    try:
        for _ in range(4):
            flow.send(12)
            flow.receive(12)
    finally:
        with netpair.A:
            ktap.run("tc", "qdisc", "del", "dev", "a1", "root")
    flow.close()


def payloads(tap, port):
    """Of each packet from the port that the packet socket has kept."""
    while True:
        try:
            frame = tap.recv(1 << 17)
        except BlockingIOError:
            return
        if frame[12:14] == b"\x86\xdd" and frame[20] == socket.IPPROTO_UDP and \
                struct.unpack_from("!H", frame, 54)[0] == port:
            yield frame[62:]


@ktap.test
def what_a_packet_socket_holds():
    with netpair.B:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.bind(("b1", ETH_P_ALL))
    tap.setblocking(False)
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 * MB)
    flow = Flow()
    flow.pass_on(60)
    # More than the tap has room for: what it does not take is free to be used again.
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4096)
    ktap.wait_for(20, "other pages are used again meanwhile", lambda: reuses(flow))
    seen = 0
    for payload in payloads(tap, flow.port):
        flow.compare(payload, seen, "in the packet socket")
        seen += 1
    ktap.true(seen * SIZE > 2 * KEEPS, f"datagrams held: {seen}")
    tap.close()
    flow.close()


@ktap.test
def several_senders_of_one_socket():
    flow = reusing()
    marks = [bytes([n]) * SIZE for n in range(1, 5)]

    def work(mark):
        for _ in range(40):
            flow.sock.send(mark)
    threads = [threading.Thread(target=work, args=(mark,), daemon=True) for mark in marks]
    for thread in threads:
        thread.start()
    got = {mark: 0 for mark in marks}
    for _ in range(40 * len(marks)):
        data = flow.peer.recv(SIZE)
        ktap.true(data in got, "a datagram is one sender's")
        got[data] += 1
    ktap.equal(set(got.values()), {40}, "datagrams of each")
    for thread in threads:
        thread.join(30 * ktap.SCALE)
    flow.close()


@ktap.test
def pages_are_given_up_when_nothing_is_sent():
    ktap.wait_for(10, "no socket keeps pages", lambda: not held())
    flow = reusing()
    ktap.wait_for(10, "none are kept", lambda: not held())
    # And it goes on as before.
    ktap.wait_for(20, "pages are used again", lambda: reuses(flow))
    flow.close()


@ktap.test
def pages_are_given_up_with_the_socket():
    ktap.wait_for(10, "no socket keeps pages", lambda: not held())
    for how in ("close", "while it waits to be read"):
        flow = reusing()
        if how != "close":
            flow.send(20)
        flow.sock.close()
        ktap.equal(held(), 0, f"pages kept after {how}")
        flow.receive(flow.sent - flow.read)
        flow.close()


def memory():
    """Pages that all UDP sockets of net6 are charged for, as far as processors have told."""
    with open("/proc/net/protocols", encoding="ascii") as file:
        return next(int(line.split()[3]) for line in file if line.startswith("NET6-UDP"))


@ktap.test
def what_they_were_charged_comes_back():
    # Each processor keeps to itself up to a megabyte of what was charged or came back.
    untold = 2 * (MB // 4096) * os.cpu_count()
    before, given_up = memory(), counter("UdpPagesGivenUp")
    flow = reusing()
    # Each is eight pages of memory: four times what processors may keep to themselves.
    while 8 * (counter("UdpPagesGivenUp") - given_up) < 4 * untold:
        flow.send(60)
        flow.receive(60)
        ktap.wait_for(10, "none are kept", lambda: not held())
    flow.close()
    ktap.wait_for(20, f"memory as before: {before}, {memory()} pages now",
                  lambda: memory() <= before + untold)


ktap.main(setup=netpair.setup)
