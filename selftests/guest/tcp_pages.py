#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A connection fills the pages it sends with again when nobody else has them. What somebody still
# holds (a reader that is slow, a pipe, a packet socket) stays as it was, also in the buffers of
# short segments. A connection that does not send gives the pages up.
#
#	[ A: sender ] a1 ------ b1 [ B: receiver ]
#
# guest: both
# timeout: 200
import fcntl
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

# A prime: no two pages of the stream are alike.
PERIOD = 1048573
PATTERN = random.Random(7).randbytes(PERIOD)
STREAM = memoryview(PATTERN + PATTERN)
PAGE = 32768
MB = 1 << 20
ETH_P_ALL = 3
SO_SNDBUFFORCE = 32
SO_RCVBUFFORCE = 33
F_SETPIPE_SZ = 1031


def counter(name):
    out = netpair.ctl(netpair.A, "show", "counters", "all")
    return next(int(line.split()[1]) for line in out.splitlines() if line.split()[0] == name)


def held():
    return counter("TcpPagesKept") - counter("TcpPagesGivenUp")


class Transfer:
    """A connection that sends the stream, whose reader compares every byte."""

    def __init__(self):
        listener = net6(socket.SOCK_STREAM, ns=netpair.B)
        listener.bind((NET6_B1, 0))
        listener.listen(1)
        self.sock = net6(socket.SOCK_STREAM)
        self.sock.connect((NET6_B1, listener.getsockname()[1]))
        self.port = self.sock.getsockname()[1]
        self.peer = listener.accept()[0]
        self.peer.settimeout(30 * ktap.SCALE)
        self.sock.settimeout(30 * ktap.SCALE)
        listener.close()
        self.sent = self.read = self.goal = 0
        self.thread = None

    def send(self, size):
        """In a thread, so that somebody can read meanwhile."""
        self.goal += size

        def work():
            while self.sent < self.goal:
                at = self.sent % PERIOD
                self.sent += self.sock.send(STREAM[at:at + min(4 * PAGE,
                                                               self.goal - self.sent)])
        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def compare(self, data, at, what):
        at %= PERIOD
        if STREAM[at:at + len(data)] != data:
            raise ktap.Fail(f"{what}: other bytes than were sent at {at}")

    def receive(self, size):
        end = self.read + size
        while self.read < end:
            data = self.peer.recv(min(4 * PAGE, end - self.read))
            ktap.true(data, "more of the stream")
            self.compare(data, self.read, "read")
            self.read += len(data)

    def pass_on(self, size):
        self.send(size)
        self.receive(size)
        self.thread.join(30 * ktap.SCALE)
        ktap.true(not self.thread.is_alive(), "all is sent")

    def close(self):
        self.sock.close()
        self.peer.close()


def reuses(conn):
    """Whether more pages were used again after so much that was sent and read by turns."""
    before = counter("TcpPagesReused")
    for _ in range(20):
        conn.pass_on(4 * PAGE)
    return counter("TcpPagesReused") >= before + 20


def reusing():
    """A connection that keeps pages. On a slow machine they may be given up now and then."""
    conn = Transfer()
    ktap.wait_for(20, "pages are used again", lambda: reuses(conn))
    return conn


@ktap.test
def pages_are_used_again():
    reusing().close()


@ktap.test
def a_short_connection_keeps_none():
    kept = counter("TcpPagesKept")
    for _ in range(20):
        conn = Transfer()
        conn.pass_on(128 << 10)
        conn.close()
    ktap.equal(counter("TcpPagesKept"), kept, "pages kept")


@ktap.test
def a_reader_that_does_not_read():
    conn = reusing()
    for _ in range(3):
        conn.send(24 * MB)
        ktap.wait_for(20, "the sender waits for room", lambda: ktap.asleep(conn.thread))
        # Now and then a little: the sender goes on, and some pages are free.
        for _ in range(20):
            conn.receive(5 * PAGE + 77)
        conn.receive(conn.goal - conn.read)
        conn.thread.join(30 * ktap.SCALE)
        ktap.true(not conn.thread.is_alive(), "all is sent")
    conn.close()


@ktap.test
def what_another_connection_of_the_task_holds():
    conn, other = reusing(), Transfer()
    # Nobody reads what it sends.
    other.sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 64 * MB)
    conn.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def reused():
        before = counter("TcpPagesReused")
        for _ in range(20):
            for _ in range(4):
                # Would both fill a page by turns, none were free again. Together it is more
                # than a page: either may be the one that finds it full, as conn has to when
                # its pages were given up while the counter was read.
                other.sock.sendall(STREAM[:PAGE // 8])
                at = conn.sent % PERIOD
                conn.sent += conn.sock.send(STREAM[at:at + PAGE])
            conn.receive(conn.sent - conn.read)
        return counter("TcpPagesReused") >= before + 20
    ktap.wait_for(20, "pages are used again", reused)
    for each in (conn, other):
        each.close()


@ktap.test
def what_a_pipe_holds():
    conn = reusing()
    into, out = [], []
    for _ in range(4):
        read_end, write_end = os.pipe()
        fcntl.fcntl(write_end, F_SETPIPE_SZ, MB)
        into.append(write_end)
        out.append(read_end)
    held_bytes = []
    conn.peer.setblocking(True)
    for pipe in into:
        conn.send(MB)
        at, got = conn.read, 0
        # A pipe has a place for each fragment: it may be full of fewer bytes.
        while got < MB // 2:
            more = os.splice(conn.peer.fileno(), pipe, MB // 2 - got)
            ktap.true(more, "more of the stream")
            got += more
        held_bytes.append((at, got))
        conn.read += got
        conn.receive(MB - got)
        conn.thread.join(30 * ktap.SCALE)
    conn.pass_on(24 * MB)
    ktap.wait_for(20, "other pages are used again meanwhile", lambda: reuses(conn))
    for pipe, (at, got) in zip(out, held_bytes):
        data = b""
        while len(data) < got:
            data += os.read(pipe, got - len(data))
        conn.compare(data, at, "in the pipe")
    for pipe in into + out:
        os.close(pipe)
    conn.close()


def tapped():
    """A packet socket that keeps what comes to the receiver's device."""
    with netpair.B:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.bind(("b1", ETH_P_ALL))
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 * MB)
    tap.setblocking(False)
    return tap


def segments(tap, port):
    """(first byte's place in the stream, bytes) of each segment from @port that it has kept."""
    first = None
    while True:
        try:
            frame = tap.recv(1 << 17)
        except BlockingIOError:
            return
        if frame[12:14] != b"\x86\xdd" or frame[20] != socket.IPPROTO_TCP:
            continue
        source, _, seq, _, offset, flags = struct.unpack_from("!HHIIBB", frame, 54)
        if source != port:
            continue
        if flags & 2:
            first = seq + 1
            continue
        length = struct.unpack_from("!H", frame, 18)[0]
        yield (seq - first) & 0xffffffff, frame[54 + (offset >> 4) * 4:54 + length]


@ktap.test
def what_a_packet_socket_holds():
    tap, conn = tapped(), Transfer()
    conn.pass_on(24 * MB)
    ktap.wait_for(20, "other pages are used again meanwhile", lambda: reuses(conn))
    seen = 0
    for at, payload in segments(tap, conn.port):
        conn.compare(payload, at, "in the packet socket")
        seen += len(payload)
    ktap.true(seen > MB, f"bytes held past the first {256 << 10}: {seen}")
    tap.close()
    conn.close()


@ktap.test
def short_segments_that_a_packet_socket_holds():
    """The buffers of acknowledged segments are used again (skbcache.c), but not these."""
    tap, conn = tapped(), Transfer()
    sent = [f"{n:04}".encode() * 16 for n in range(64)]
    for data in sent:
        conn.sock.sendall(data)
        ktap.equal(conn.peer.recv(len(data), socket.MSG_WAITALL), data, "what the peer reads")
        conn.peer.sendall(b"!")
        ktap.equal(conn.sock.recv(1), b"!", "its answer, which acknowledges it")
    seen = [payload for _, payload in segments(tap, conn.port) if payload]
    ktap.equal(seen, sent, "in the packet socket")
    tap.close()
    conn.close()


@ktap.test
def pages_are_given_up_when_nothing_is_sent():
    ktap.wait_for(10, "no connection keeps pages", lambda: not held())
    conn = reusing()
    ktap.wait_for(10, "none are kept", lambda: not held())
    # And it goes on as before.
    ktap.wait_for(20, "pages are used again", lambda: reuses(conn))
    conn.close()


def memory():
    """Pages that all TCP sockets of net6 are charged for, as far as processors have told."""
    with open("/proc/net/protocols", encoding="ascii") as file:
        return next(int(line.split()[3]) for line in file if line.startswith("NET6-TCP"))


@ktap.test
def what_they_were_charged_comes_back():
    # Each processor keeps to itself up to a megabyte of what was charged or came back.
    untold = 2 * (MB // 4096) * os.cpu_count()
    before, given_up = memory(), counter("TcpPagesGivenUp")
    conn = reusing()
    # Each is eight pages of memory: four times what processors may keep to themselves.
    while 8 * (counter("TcpPagesGivenUp") - given_up) < 4 * untold:
        conn.send(24 * MB)
        ktap.wait_for(20, "the sender waits for room", lambda: ktap.asleep(conn.thread))
        conn.receive(24 * MB)
        conn.thread.join(30 * ktap.SCALE)
        ktap.wait_for(10, "none are kept", lambda: not held())
    conn.close()
    ktap.wait_for(20, f"memory as before: {before}, {memory()} pages now",
                  lambda: memory() <= before + untold)


@ktap.test
def pages_are_given_up_with_the_connection():
    def shutdown(conn):
        conn.sock.shutdown(socket.SHUT_WR)
        ktap.equal(conn.peer.recv(1), b"", "the end of the stream")

    def reset(conn):
        conn.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        conn.peer.close()
        ktap.raises(104, conn.sock.recv, 1)

    def abort(conn):
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        conn.sock.close()

    for how in (shutdown, reset, abort):
        conn = reusing()
        conn.send(24 * MB)
        conn.receive(24 * MB)
        conn.thread.join(30 * ktap.SCALE)
        how(conn)
        ktap.equal(held(), 0, f"pages kept after {how.__name__}")
        conn.close()


ktap.main(setup=netpair.setup)
