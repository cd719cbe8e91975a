#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What net6's TCP sends, and when: windows, Nagle, slow start, retransmission, SACK and
# RACK recovery, probes, segment sizes. A packet socket plays the peer.
#
#	[ A: the peer, by hand ] a0 ------ b0 [ B: net6 ]
#
# guest: stock
# guest-options: --virtual-time
# timeout: 200
import errno
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
from tcpwire import ACK, FIN, RST, URG, Connection, setup  # noqa: E402

TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT = 1, 3, 4, 5, 6
TCP_INFO, TCP_USER_TIMEOUT = 11, 18


def option(conn, name, value):
    conn.sock.setsockopt(socket.IPPROTO_TCP, name, value)


def info(conn, at, fmt="I"):
    return struct.unpack_from(fmt, conn.sock.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 192), at)[0]


def rto_ms(conn):
    return info(conn, 8) / 1000


def full(conn, count, first=0, mss=1000):
    """So many full segments come, in sequence."""
    for i in range(count):
        conn.expect(first + i * mss, mss)


@ktap.test
def initial_window_is_ten_segments():
    conn = Connection()
    conn.sock.send(b"x" * 30000)
    full(conn, 10)
    conn.silent()
    conn.close()


@ktap.test
def slow_start_sends_two_for_one():
    conn = Connection()
    conn.sock.send(b"x" * 30000)
    full(conn, 10)
    conn.ack(2000)
    full(conn, 4, 10000)
    conn.silent()
    conn.ack(4000)
    full(conn, 4, 14000)
    conn.silent()
    conn.close()


@ktap.test
def segments_are_as_large_as_the_peer_takes():
    for mss, want in ((536, 536), (None, 1220), (9000, 1440)):
        conn = Connection(mss=mss)
        conn.sock.send(b"x" * (3 * want))
        full(conn, 3, 0, want)
        conn.close()
    conn = Connection(mss=9000, stamps=True)
    conn.close()


@ktap.test
def the_peers_window_is_respected():
    conn = Connection(window=2500)
    option(conn, TCP_NODELAY, 1)
    conn.sock.send(b"x" * 6000)
    got = conn.all()
    ktap.equal(sum(len(s.data) for s in got) <= 2500, True, f"2500 bytes at most: {got}")
    conn.ack(2000, window=60000)
    got = conn.all()
    ktap.true(got and got[-1].seq + len(got[-1].data) == 6000, f"the rest: {got}")
    conn.close()


@ktap.test
def a_scaled_window_is_scaled():
    conn = Connection(window=1000, wscale=3)
    conn.ack(0, window=1000)
    conn.sock.send(b"x" * 9000)
    got = conn.all()
    ktap.equal(sum(len(s.data) for s in got), 8000, f"bytes of {got}")
    conn.close()


@ktap.test
def zero_window_is_probed_and_reopens():
    conn = Connection()
    conn.sock.send(b"x" * 1000)
    conn.expect(0, 1000)
    conn.ack(1000, window=0)
    conn.sock.send(b"y" * 1000)
    first = conn.expect(999, 0, ACK, 3)
    conn.ack(1000, window=0)
    second = conn.expect(999, 0, ACK, 5)
    ktap.true(second.time - first.time > 0.3, "the second probe waits longer")
    conn.ack(1000, window=0)
    third = conn.expect(999, 0, ACK, 8)
    ktap.true(third.time - second.time > 1.4 * (second.time - first.time),
              f"back-off: {second.time - first.time:.2f} {third.time - second.time:.2f}")
    conn.ack(1000, window=4000)
    conn.expect(1000, 1000)
    conn.close()


@ktap.test
def nagle_holds_a_second_small_segment():
    conn = Connection()
    conn.sock.send(b"a" * 10)
    conn.expect(0, 10)
    conn.sock.send(b"b" * 10)
    conn.sock.send(b"c" * 10)
    conn.silent(0.1)
    conn.ack(10)
    conn.expect(10, 20)
    conn.close()


@ktap.test
def nodelay_does_not():
    conn = Connection()
    option(conn, TCP_NODELAY, 1)
    for i in range(3):
        conn.sock.send(b"a" * 10)
        conn.expect(i * 10, 10)
    conn.close()


@ktap.test
def cork_and_more_hold_partial_segments():
    conn = Connection()
    option(conn, TCP_CORK, 1)
    conn.sock.send(b"a" * 1500)
    conn.expect(0, 1000)
    conn.silent(0.1)
    option(conn, TCP_CORK, 0)
    conn.expect(1000, 500)
    conn.ack(1500)
    conn.sock.send(b"b" * 300, socket.MSG_MORE)
    conn.silent(0.1)
    conn.sock.send(b"c" * 300)
    conn.expect(1500, 600)
    conn.close()


@ktap.test
def timeout_doubles():
    conn = Connection()
    conn.sock.send(b"x" * 500)
    times = [conn.expect(0, 500).time]
    for _ in range(4):
        times.append(conn.expect(0, 500, timeout=20).time)
    gaps = [b - a for a, b in zip(times, times[1:])]
    ktap.true(gaps[0] > 0.19, f"at least 200 ms: {gaps}")
    for one, two in zip(gaps[1:], gaps[2:]):
        ktap.true(1.5 < two / one < 2.8, f"doubled: {gaps}")
    ktap.equal(info(conn, 4, "B") >= 3, True, "back-off in TCP_INFO")
    conn.ack(500)
    conn.close()


@ktap.test
def timeout_goes_back_n_in_slow_start():
    conn = Connection()
    conn.sock.send(b"x" * 5000)
    full(conn, 5)
    conn.expect(0, 1000, timeout=5)
    ktap.equal(info(conn, 80), 1, "cwnd after the time-out")
    conn.ack(1000)
    full(conn, 2, 1000)
    conn.ack(5000)
    conn.silent()
    conn.close()


@ktap.test
def limited_transmit():
    conn = Connection(sack=True)
    conn.sock.send(b"x" * 20000)
    full(conn, 10)
    conn.ack(0, [(1000, 2000)])
    conn.expect(10000, 1000, timeout=1)
    conn.ack(0, [(1000, 3000)])
    conn.expect(11000, 1000, timeout=1)
    conn.close()


@ktap.test
def sack_retransmits_only_the_holes():
    conn = Connection(sack=True)
    conn.sock.send(b"x" * 10000)
    full(conn, 10)
    conn.ack(0, [(1000, 4000), (5000, 10000)])
    again = sorted(s.seq for s in conn.all(0.1) if s.seq < 10000)
    ktap.equal(again[:2], [0, 4000], "holes")
    ktap.true(set(again) <= {0, 4000}, f"nothing that was sacked: {again}")
    conn.ack(10000)
    ktap.equal(info(conn, 36), 0, "lost after recovery")
    ktap.equal(info(conn, 32), 0, "sacked after recovery")
    conn.close()


@ktap.test
def recovery_reduces_the_window_once():
    conn = Connection(sack=True)
    conn.sock.send(b"x" * 100000)
    full(conn, 10)
    before = info(conn, 80)
    conn.ack(0, [(1000, 10000)])
    conn.all(0.1)
    conn.ack(20000)
    conn.all(0.05)
    after = info(conn, 76)
    ktap.true(after < 10 and before == 10, f"ssthresh {after} below the old window {before}")
    conn.close()


@ktap.test
def lies_in_sack_blocks_do_no_harm():
    conn = Connection(sack=True)
    conn.sock.send(b"x" * 5000)
    full(conn, 5)
    for blocks in ([(5000, 90000)], [(3000, 2000)], [(0, 0)], [(1 << 31, (1 << 31) + 5)],
                   [(4294967295, 7)], [(1, 2), (3, 4), (2500, 2600)], [(50000, 60000)] * 3):
        conn.ack(0, blocks)
    ktap.equal(info(conn, 32), 0, "sacked segments")
    conn.ack(5000)
    conn.sock.send(b"y" * 1000)
    while True:
        seg = conn.receive()
        ktap.true(seg, "the new data comes")
        if seg.seq == 5000:
            break
    conn.close()


@ktap.test
def tail_loss_probe_comes_before_the_timeout():
    conn = Connection(sack=True)
    # Some round trips, so that there is an estimate.
    for i in range(4):
        conn.sock.send(b"x" * 1000)
        conn.expect(i * 1000, 1000)
        conn.ack((i + 1) * 1000)
    conn.sock.send(b"y" * 3000)
    last = [conn.expect() for _ in range(3)][-1]
    probe = conn.expect(6000, 1000, timeout=5)
    ktap.true(probe.time - last.time < 0.2 * ktap.SCALE + 0.15,
              f"probe after {probe.time - last.time:.3f} s")
    # Both copies arrived: no reduction.
    conn.ack(7000, [(6000, 7000)])
    ktap.equal(info(conn, 80) >= 10, True, "cwnd is kept")
    conn.close()


@ktap.test
def packet_too_big_cuts_segments():
    conn = Connection(mss=1440)
    conn.sock.send(b"x" * 2880)
    first = conn.expect(0, 1440)
    conn.expect(1440, 1440)
    conn.icmp(2, 0, 1280, first)
    got = conn.all()
    ktap.true(got and all(len(s.data) <= 1220 for s in got), f"segments for 1280: {got}")
    ktap.equal(got[0].seq, 0, "retransmitted at once")
    conn.ack(2880)
    conn.sock.send(b"y" * 1500)
    ktap.equal(len(conn.expect(2880).data), 1220, "later ones too")
    conn.close()


@ktap.test
def keepalive_probes_and_gives_up():
    conn = Connection()
    for name, value in ((TCP_KEEPIDLE, 1), (TCP_KEEPINTVL, 1), (TCP_KEEPCNT, 2)):
        option(conn, name, value)
    conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    probe = conn.expect(0xffffffff, 0, ACK, 5)
    conn.ack(0)
    again = conn.expect(0xffffffff, 0, ACK, 5)
    ktap.true(again.time - probe.time > 0.8, "an answer starts the time afresh")
    conn.expect(0xffffffff, 0, ACK, 5)
    seg = conn.receive(5)
    ktap.true(seg and seg.flags & RST, f"reset at the end: {seg}")
    ktap.raises(errno.ETIMEDOUT, conn.sock.recv, 1)
    conn.close()


@ktap.test
def user_timeout_ends_it():
    conn = Connection()
    option(conn, TCP_USER_TIMEOUT, 1000)
    conn.sock.send(b"x")
    ktap.raises(errno.ETIMEDOUT, conn.sock.recv, 1)
    conn.close()


@ktap.test
def urgent_data_is_pointed_to():
    conn = Connection()
    conn.sock.send(b"abc", socket.MSG_OOB)
    seg = conn.expect(0, 3)
    ktap.true(seg.flags & URG, "URG")
    ktap.equal(seg.urgent, 3, "pointer")
    conn.close()


@ktap.test
def fin_is_retransmitted():
    conn = Connection()
    conn.sock.shutdown(socket.SHUT_WR)
    conn.expect(0, 0, FIN | ACK)
    conn.expect(0, 0, FIN | ACK, 5)
    conn.ack(1)
    conn.silent()
    conn.close()


@ktap.test
def timestamps_follow_rfc7323():
    conn = Connection(stamps=True)
    ktap.equal(conn.syn_ack.tsecr, conn.clock - 1, "echo of the SYN")
    conn.sock.send(b"x" * 100)
    seg = conn.expect(0, 100)
    ktap.equal(seg.tsecr, conn.clock, "echo of the last in-order segment")
    conn.close()


ktap.main(setup=setup)
