#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# How net6's TCP takes what arrives: acknowledgements and their delay, out-of-order data
# and SACK, windows, PAWS, resets and other attacks from off the path, urgent data. A
# packet socket plays the peer.
#
#	[ A: the peer, by hand ] a0 ------ b0 [ B: net6 ]
#
# guest: stock
# guest-options: --virtual-time
# timeout: 200
import errno
import fcntl
import os
import random
import select
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
from tcpwire import ACK, FIN, PSH, RST, SYN, URG, Connection, setup  # noqa: E402

TCP_QUICKACK = 12
SIOCATMARK = 0x8905


def last(segments):
    ktap.true(segments, "at least one segment")
    return segments[-1]


@ktap.test
def first_segments_are_acknowledged_at_once():
    conn = Connection()
    for i in range(1, 4):
        conn.data(b"x" * 1000)
        ktap.equal(conn.expect(0, 0, ACK, 0.5 * ktap.SCALE).ack, 1000 * i, "ACK")
    conn.close()


@ktap.test
def later_ones_every_second_or_after_a_delay():
    conn = Connection()
    conn.data(b"x" * 1000)
    conn.all()
    conn.sock.setsockopt(socket.IPPROTO_TCP, TCP_QUICKACK, 0)
    conn.sock.recv(100000)
    conn.drain()
    # One small segment: an ACK within 500 ms (RFC 9293 MUST-59), but not at once.
    conn.data(b"y" * 10)
    conn.silent(0.015)
    ktap.equal(conn.expect(0, 0, ACK, 0.5 * ktap.SCALE).ack, 1010, "delayed ACK")
    conn.close()


def waiting(conn, then):
    """A thread that sleeps in recv() and then calls @then."""
    def program():
        conn.sock.recv(100)
        then(conn.sock)
    conn.sock.settimeout(None)
    conn.thread = threading.Thread(target=program, daemon=True)
    conn.thread.start()
    ktap.wait_for(10, "the program waits in recv()", lambda: ktap.asleep(conn.thread))


def waiting_again(sock):
    sock.recv(100)


def polling(sock):
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    poll.poll()


def ends(conn, reply=0):
    """The program waits again, or has ended; whatever it waits for now comes."""
    ktap.wait_for(10, "the program does nothing more",
                  lambda: not conn.thread.is_alive() or ktap.asleep(conn.thread))
    conn.data(b"end", ack=reply)
    conn.thread.join(10 * ktap.SCALE)
    ktap.true(not conn.thread.is_alive(), "the program went on")
    conn.close()


@ktap.test
def an_answer_carries_the_first_acknowledgment():
    conn = Connection()
    waiting(conn, lambda sock: sock.send(b"answer"))
    conn.data(b"x" * 10)
    ktap.equal(conn.expect(0, 6, ACK).ack, 10, "what the answer acknowledges")
    conn.ack(6)
    conn.silent()
    ends(conn, 6)


@ktap.test
def a_program_that_waits_again_acknowledges_at_once():
    for then in (waiting_again, polling):
        took = []
        # In the first round pages of Python are read, for which virtual time does not stop.
        for _ in range(7):
            conn = Connection()
            waiting(conn, then)
            start = time.monotonic()
            conn.data(b"x" * 10)
            seg = conn.expect(0, 0, ACK)
            ktap.equal(seg.ack, 10, "ACK")
            took.append(seg.time - start)
            ends(conn)
        # The tick, of 4 ms or more, would have been as quick now and then only.
        ktap.true(max(took[1:]) < 0.0025, f"before the tick: {took}")


@ktap.test
def a_program_that_does_neither_acknowledges_with_the_tick():
    conn = Connection()
    waiting(conn, lambda _: time.sleep(0.5))
    start = time.monotonic()
    conn.data(b"x" * 10)
    seg = conn.expect(0, 0, ACK)
    ktap.true(seg.time - start < 0.025, f"after {seg.time - start} s")
    ends(conn)


@ktap.test
def whole_segments_do_not_wait_for_the_program():
    conn = Connection()
    waiting(conn, lambda sock: sock.send(b"answer"))
    conn.data(b"x" * 1440)
    ktap.equal(conn.expect(0, 0, ACK).ack, 1440, "ACK")
    conn.expect(0, 6)
    ends(conn, 6)


@ktap.test
def data_is_delivered_in_order():
    conn = Connection()
    conn.data(b"one ")
    conn.data(b"two")
    got = b""
    while len(got) < 7:
        got += conn.sock.recv(100)
    ktap.equal(got, b"one two", "stream")
    conn.close()


@ktap.test
def a_gap_is_answered_at_once_with_sack():
    conn = Connection(sack=True)
    conn.send(ACK, 1000, 0, b"b" * 1000)
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal((seg.ack, seg.sacks), (0, [(1000, 2000)]), "duplicate ACK")
    conn.send(ACK, 3000, 0, b"d" * 1000)
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal((seg.ack, seg.sacks), (0, [(3000, 4000), (1000, 2000)]), "newest first")
    conn.send(ACK, 2000, 0, b"c" * 1000)
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal((seg.ack, seg.sacks), (0, [(1000, 4000)]), "joined")
    conn.send(ACK, 0, 0, b"a" * 1000)
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal((seg.ack, seg.sacks), (4000, []), "the gap is filled")
    got = b""
    while len(got) < 4000:
        got += conn.sock.recv(10000)
    ktap.equal(got, b"a" * 1000 + b"b" * 1000 + b"c" * 1000 + b"d" * 1000, "stream")
    conn.close()


@ktap.test
def three_blocks_fit_beside_timestamps():
    conn = Connection(sack=True, stamps=True)
    for i in range(1, 6):
        conn.send(ACK, 2000 * i, 0, b"x" * 1000)
    seg = last(conn.all())
    ktap.equal(seg.sacks, [(10000, 11000), (8000, 9000), (6000, 7000)], "blocks")
    conn.close()


@ktap.test
def without_sack_no_blocks():
    conn = Connection()
    conn.send(ACK, 1000, 0, b"b" * 1000)
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal((seg.ack, seg.sacks), (0, []), "duplicate ACK")
    conn.close()


@ktap.test
def any_cutting_and_order_gives_the_stream():
    rng = random.Random(7)
    for sack in (False, True):
        conn = Connection(sack=sack)
        stream = rng.randbytes(40000)
        pieces = [(0, 1)]
        for _ in range(150):
            at = rng.randrange(len(stream))
            pieces.append((at, min(at + rng.choice((1, 7, 500, 1400)), len(stream))))
        at = 0
        while at < len(stream):
            pieces.append((at, min(at + 1400, len(stream))))
            at += 1000
        rng.shuffle(pieces)
        for start, end in pieces:
            conn.send(ACK, start, 0, stream[start:end])
        conn.send(ACK | FIN, len(stream), 0)
        got = b""
        while True:
            more = conn.sock.recv(100000)
            if not more:
                break
            got += more
        ktap.true(got == stream, f"stream of {len(got)} bytes is what was sent")
        conn.close()


@ktap.test
def fin_ahead_of_its_turn_waits():
    conn = Connection(sack=True)
    conn.send(ACK | FIN, 1000, 0, b"b" * 100)
    conn.expect(0, 0, ACK)
    conn.sock.setblocking(False)
    ktap.raises(errno.EAGAIN, conn.sock.recv, 1)
    conn.sock.settimeout(5 * ktap.SCALE)
    conn.send(ACK, 0, 0, b"a" * 1000)
    ktap.equal(last(conn.all()).ack, 1101, "all of it, and the FIN")
    got = b""
    while len(got) < 1100:
        got += conn.sock.recv(2000)
    ktap.equal(conn.sock.recv(1), b"", "end of stream")
    conn.close()


@ktap.test
def what_lies_outside_the_window_is_refused():
    conn = Connection()
    for seq in (1 << 20, 0x7fffffff, 0xc0000000):
        conn.send(ACK, seq, 0, b"x" * 100)
        seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
        ktap.equal(seg.ack, 0, f"ACK for sequence number {seq}")
    conn.sock.setblocking(False)
    ktap.raises(errno.EAGAIN, conn.sock.recv, 1)
    conn.close()


@ktap.test
def an_unread_window_closes_and_reopens():
    def small(listener):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    conn = Connection(before_accept=small)
    sent, window = 0, conn.syn_ack.window
    for _ in range(100):
        if window < 1:
            break
        size = min(1000, window)
        conn.send(ACK, sent, 0, b"x" * size)
        seg = last(conn.all(0.3))
        sent, window = seg.ack, seg.window
    ktap.equal(window, 0, "window at last")
    # A window probe gets an answer and is not taken.
    conn.send(ACK, sent, 0, b"!")
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal((seg.ack, seg.window), (sent, 0), "answer to the probe")
    got = 0
    while got < sent:
        got += len(conn.sock.recv(100000))
    ktap.true(last(conn.all()).window > 1000, "window update when it was read")
    conn.close()


@ktap.test
def paws_refuses_old_timestamps():
    conn = Connection(stamps=True)
    conn.data(b"a" * 100)
    conn.all()
    conn.clock += 1000
    conn.data(b"b" * 100)
    conn.all()
    conn.send(ACK, 200, 0, b"old" * 10, tsval=500)
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal(seg.ack, 200, "ACK, and the data is not taken")
    # Also from a timestamp clock that wrapped.
    conn.data(b"c" * 100)
    ktap.equal(last(conn.all()).ack, 300, "a current one is")
    conn.close()


@ktap.test
def only_the_exact_reset_counts():
    conn = Connection()
    conn.data(b"x" * 10)
    conn.all()
    conn.send(RST, 5000)
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal(seg.ack, 10, "challenge ACK (RFC 5961 3.2)")
    conn.send(RST, 1 << 30)
    conn.silent()
    ktap.equal(conn.sock.recv(100), b"x" * 10, "alive")
    conn.send(RST, 10)
    ktap.raises(errno.ECONNRESET, conn.sock.recv, 1)
    conn.close()


@ktap.test
def challenges_are_rate_limited():
    conn = Connection()
    conn.all()
    for _ in range(20):
        conn.send(RST, 5000)
    ktap.equal(len(conn.all(0.1)), 1, "challenge ACKs for 20 resets within 500 ms")
    conn.close()


@ktap.test
def a_syn_is_challenged():
    conn = Connection()
    conn.all()
    conn.send(SYN, 100, None)
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal(seg.ack, 0, "challenge ACK (RFC 5961 4.2)")
    conn.data(b"alive")
    ktap.equal(conn.sock.recv(10), b"alive", "data")
    conn.close()


@ktap.test
def acks_of_what_was_never_sent_are_answered():
    conn = Connection()
    conn.all()
    conn.ack(50000)
    seg = conn.expect(0, 0, ACK, 0.5 * ktap.SCALE)
    ktap.equal((seg.seq, seg.ack), (0, 0), "ACK (RFC 9293 3.10.7.4)")
    conn.data(b"alive")
    ktap.equal(conn.sock.recv(10), b"alive", "data")
    conn.close()


@ktap.test
def segments_without_ack_are_dropped():
    conn = Connection()
    conn.all()
    conn.send(PSH, 0, None, b"no ack")
    conn.silent()
    conn.sock.setblocking(False)
    ktap.raises(errno.EAGAIN, conn.sock.recv, 1)
    conn.close()


@ktap.test
def urgent_byte_is_out_of_band():
    conn = Connection()
    conn.send(ACK | URG, 0, 0, b"abc!def", urgent=4)
    conn.mine = 7
    ktap.equal(conn.sock.recv(100), b"abc", "up to the mark")
    mark = fcntl.ioctl(conn.sock, SIOCATMARK, struct.pack("i", 0))
    ktap.equal(struct.unpack("i", mark)[0], 1, "at the mark")
    ktap.equal(conn.sock.recv(1, socket.MSG_OOB), b"!", "urgent byte")
    ktap.equal(conn.sock.recv(100), b"def", "behind the mark")
    conn.close()


@ktap.test
def urgent_pointers_far_away_do_no_harm():
    conn = Connection()
    for pointer in (0, 1, 65535):
        conn.send(ACK | URG, conn.mine, 0, b"x" * 10, urgent=pointer)
        conn.mine += 10
    conn.data(b"y" * 10)
    got = b""
    while len(got) < 39:
        got += conn.sock.recv(100)
    ktap.true(len(got) in (38, 39, 40), f"{len(got)} of 40 bytes in band")
    conn.close()


@ktap.test
def broken_options_do_not_break_the_connection():
    conn = Connection(sack=True)
    for options in (b"\x05\x00\0\0", b"\x05\xff\0\0", b"\x08\x02\1\1", b"\x05\x04\1\1",
                    b"\xfe" * 40, b"\2\4\0\1", b"\3\3\x0e\1"):
        conn.send(ACK, conn.mine, 0, b"z" * 10, options=options)
        conn.mine += 10
    got = b""
    while len(got) < 70:
        got += conn.sock.recv(100)
    conn.close()


@ktap.test
def flags_in_every_combination():
    conn = Connection(sack=True)
    for flags in range(256):
        if flags & (RST | FIN):
            continue
        conn.send(flags, 3000, 0, b"x" * (flags % 3), urgent=flags)
    conn.all()
    conn.data(b"alive")
    ktap.equal(conn.sock.recv(5), b"alive", "data")
    conn.close()


ktap.main(setup=setup)
