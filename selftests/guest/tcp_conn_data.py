#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The socket API of TCP in depth, data and options: scenarios that are
# played on the native stack and on net6 and have to give the same (lib/tcpapi.py).
#
#   [ one namespace: native ::1 on lo | net6 ::1 on the pseudo-loopback ]
#
# guest: stock+
# timeout: 300
import os
import select
import socket
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
from tcpapi import (MOMENT, SIOCATMARK, SIOCINQ, SIOCOUTQ, TCP_CONGESTION, TCP_CORK,
                    TCP_DEFER_ACCEPT, TCP_INFO, TCP_INQ, TCP_LINGER2, TCP_NOTSENT_LOWAT,
                    TCP_QUICKACK, TCP_SAVE_SYN, TCP_USER_TIMEOUT, TCP_WINDOW_CLAMP,
                    PATIENCE, acknowledged, arrived, at_once, done, events, ioctl, outcome, reset,
                    scenario, urgent, wait_all, wait_state, setup)  # noqa: E402

SO_ZEROCOPY, MSG_ZEROCOPY = 60, 0x4000000
SO_TIMESTAMPING, SO_INCOMING_CPU = 37, 49
SOF_SOFTWARE, SOF_OPT_ID, SOF_TX_ACK, SOF_OPT_TSONLY = 1 << 4, 1 << 7, 1 << 9, 1 << 11


@scenario
def receive_flags(p, note):
    client, server, _ = p.pair()
    server.sendall(b"abcdefgh")
    arrived(client, 8)
    note("peek", client.recv(3, socket.MSG_PEEK))
    note("peek again", client.recv(100, socket.MSG_PEEK))
    note("inq", ioctl(client, SIOCINQ))
    note("truncated away", client.recv_into(bytearray(3), 3, socket.MSG_TRUNC))
    note("rest", client.recv(2))
    note("not more", at_once(client, client.recv, 100))
    note("none", at_once(client, client.recv, 1))
    late = threading.Timer(MOMENT, server.sendall, (b"tail",))
    late.start()
    server.sendall(b"head")
    note("all", wait_all(client, 8))
    late.join()
    server.sendall(b"few")
    late = threading.Timer(MOMENT, server.shutdown, (socket.SHUT_WR,))
    late.start()
    note("all but the end comes", wait_all(client, 8))
    late.join()
    note("zero bytes", client.recv(0))


@scenario
def receive_times_out(p, note):
    client, _, _ = p.pair()
    client.settimeout(None)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 300000))
    before = time.monotonic()
    note("time-out", outcome(client.recv, 1))
    note("in time", time.monotonic() - before > 0.25)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 300000))
    while True:
        result = outcome(client.send, b"x" * 1000000)
        if isinstance(result, str):
            break
    note("send time-out", result)


def completions(sock, count):
    """Sends with MSG_ZEROCOPY that are done: (first, last) as told, joined; and how the
    kernel tells it.
    """
    told, forms = set(), set()
    poll = select.poll()
    poll.register(sock, 0)                                  # POLLERR comes anyhow
    while len(told) < count and poll.poll(PATIENCE * 1000):
        data, anc, flags, _ = sock.recvmsg(1, 512, socket.MSG_ERRQUEUE)
        for level, kind, value in anc:
            error, origin, _, _, _, first, last = struct.unpack_from("=IBBBBII", value)
            told |= set(range(first, last + 1))
            forms.add((data, flags & socket.MSG_ERRQUEUE != 0, level, kind, error, origin))
    return sorted(told), sorted(forms)


@scenario
def zerocopy(p, note):
    client, server, _ = p.pair()
    note("before it is switched on", client.send(b"x", MSG_ZEROCOPY))
    note("which tells nothing", at_once(client, client.recvmsg, 1, 512, socket.MSG_ERRQUEUE))
    note("on", done(client.setsockopt, socket.SOL_SOCKET, SO_ZEROCOPY, 1))
    note("is on", client.getsockopt(socket.SOL_SOCKET, SO_ZEROCOPY))
    total, sizes = 1, (1, 100, 4096, 100000, 300000)
    seen = bytearray()

    def read():
        while len(seen) < total + sum(sizes):
            seen.extend(server.recv(1 << 20))
    reader = threading.Thread(target=read)
    reader.start()
    buffers = [bytearray(os.urandom(n)) for n in sizes]
    wanted = b"x" + b"".join(buffers)
    sent = 0
    client.settimeout(None)
    for buffer in buffers:
        note("send", client.send(buffer, MSG_ZEROCOPY))
        sent += 1
    note("done", completions(client, sent))
    reader.join()
    note("all came", bytes(seen) == wanted)
    note("nothing more", outcome(client.recvmsg, 1, 512, socket.MSG_ERRQUEUE))
    note("empty", client.send(b"", MSG_ZEROCOPY))
    note("empty tells nothing", outcome(client.recvmsg, 1, 512, socket.MSG_ERRQUEUE))
    # What a reset throws away is done with, too.
    sent = 0
    while not isinstance(at_once(client, client.send, b"y" * 65536, MSG_ZEROCOPY), str):
        sent += 1
    reset(server)
    told, forms = completions(client, sent)
    note("thrown away", (told == list(range(len(sizes), len(sizes) + sent)), forms))


@scenario
def zerocopy_that_nobody_reads(p, note):
    """To a receiver on the same host it is copied: who does not read keeps no sender waiting."""
    client, server, _ = p.pair()
    client.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    note("send", client.send(b"z" * 10000, MSG_ZEROCOPY))
    poll = select.poll()
    poll.register(client, 0)
    note("done", bool(poll.poll(PATIENCE * 1000)))
    _, anc, _, _ = client.recvmsg(1, 512, socket.MSG_ERRQUEUE)
    note("errno, origin, type, code", struct.unpack_from("=IBBB", anc[0][2]))
    note("all came", server.recv(10000, socket.MSG_WAITALL) == b"z" * 10000)


@scenario
def urgent_data(p, note):
    client, server, _ = p.pair()
    server.send(b"ab")
    server.send(b"!", socket.MSG_OOB)
    server.send(b"cd")
    arrived(client, 5)
    events(client, select.POLLPRI)
    note("at mark", ioctl(client, SIOCATMARK))
    note("up to the mark", client.recv(100))
    note("at mark now", ioctl(client, SIOCATMARK))
    note("peek urgent", urgent(client, socket.MSG_PEEK))
    note("urgent", urgent(client))
    note("once", urgent(client))
    note("behind", client.recv(100))
    note("none", urgent(client))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    server.send(b"xy!", socket.MSG_OOB)
    server.send(b"z")
    arrived(client, 9)
    note("in line", (client.recv(100), client.recv(100)))
    note("no urgent byte", urgent(client))


@scenario
def queue_lengths(p, note):
    client, server, _ = p.pair()
    note("empty", (ioctl(client, SIOCINQ), ioctl(client, SIOCOUTQ)))
    server.sendall(b"x" * 5000)
    arrived(client, 5000)
    acknowledged(server)
    note("in", ioctl(client, SIOCINQ))
    note("out", ioctl(server, SIOCOUTQ))
    server.shutdown(socket.SHUT_WR)
    wait_state(client, "CLOSE_WAIT")
    note("FIN is no byte", ioctl(client, SIOCINQ))
    client.recv(5000)
    note("all read", ioctl(client, SIOCINQ))
    note("listener", outcome(ioctl, p.listener(), SIOCINQ))


@scenario
def message_flags(p, note):
    client, server, _ = p.pair()
    # What is held back goes out by a timer as well: the order is all that is certain.
    server.send(b"held", socket.MSG_MORE)
    server.send(b"+sent")
    server.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 1)
    server.send(b"corked")
    server.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 0)
    got = b""
    while len(got) < 15:
        got += client.recv(100)
    note("all in order", got)
    note("vector", server.sendmsg([b"a", b"", b"bc", b"d" * 3000]))
    got = b""
    while len(got) < 3003:
        got += client.recv(9999)
    note("in order", got == b"abc" + b"d" * 3000)
    note("nothing", server.send(b""))


def stream(sender, receiver, total, chunk, buf):
    """Sends and checks a pattern; returns true if it arrived."""
    pattern = bytes(i * 7 % 251 for i in range(65536 + 251))
    bad = []

    def send():
        at = 0
        while at < total:
            piece = min(chunk, total - at)
            start = at % 251
            view = pattern[start:start + min(piece, 65536)]
            at += sender.send(view)
        sender.shutdown(socket.SHUT_WR)
    period = bytes(pattern[:251])
    thread = threading.Thread(target=send)
    thread.start()
    at = 0
    while True:
        data = receiver.recv(buf)
        if not data:
            break
        start = at % 251
        if data != (period * (len(data) // 251 + 2))[start:start + len(data)]:
            bad.append(at)
        at += len(data)
    thread.join()
    return not bad and at == total


@scenario
def streams_of_odd_sizes(p, note):
    for total, chunk, buf in ((1, 1, 1), (5000, 1, 4096), (200000, 333, 1000),
                              (200000, 1428, 17), (3000000, 65536, 65536),
                              (3000001, 50001, 1 << 20), (300000, 4097, 100)):
        client, server, _ = p.pair()
        note((total, chunk, buf), stream(client, server, total, chunk, buf))
        note(("back", total, chunk, buf), stream(server, client, total, chunk, buf))
        p.close()


@scenario
def streams_through_small_buffers(p, note):
    for size in (2304, 10000, 100000):
        listener = p.listener()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
        client = p.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
        client.connect(listener.getsockname())
        server = p.accept(listener)
        note("buffers", (client.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
                         server.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)))
        note(size, stream(client, server, 300000, 8192, 3000))


@scenario
def bytes_left_as_ancillary_data(p, note):
    client, server, _ = p.pair()
    client.setsockopt(socket.IPPROTO_TCP, TCP_INQ, 1)
    server.sendall(b"x" * 100)
    arrived(client, 100)
    data, anc, _, _ = client.recvmsg(30, 100)
    note("left", (len(data), [(level, kind, struct.unpack("i", value)[0])
                              for level, kind, value in anc]))


def stamps(sock, count):
    """So many transmit times: (key, what for, is it a time), in the order of the bytes."""
    found = []
    poll = select.poll()
    poll.register(sock, 0)
    while len(found) < count and poll.poll(PATIENCE * 1000):
        data, anc, flags, _ = sock.recvmsg(1, 512, socket.MSG_ERRQUEUE)
        is_time, reason, key, length = False, None, None, len(data)
        for level, kind, value in anc:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPING):
                is_time = struct.unpack("6q", value)[0] > 0
            else:
                error, origin, _, _, _, reason, key = struct.unpack_from("=IBBBBII", value)
                length = (length, level, kind, error, origin, flags & socket.MSG_ERRQUEUE != 0)
        found.append((key, reason, is_time, length))
    return sorted(found)


@scenario
def transmit_timestamps(p, note):
    client, server, _ = p.pair()
    acked = SOF_TX_ACK | SOF_SOFTWARE | SOF_OPT_ID | SOF_OPT_TSONLY
    note("on", done(client.setsockopt, socket.SOL_SOCKET, SO_TIMESTAMPING, acked))
    for size in (1, 100, 5000, 60000):
        note("send", client.send(b"x" * size))
        wait_all(server, size)
        note(("acknowledged", size), stamps(client, 1))
    with tempfile.TemporaryFile() as file:
        file.write(b"y" * 9000)
        note("sendfile", os.sendfile(client.fileno(), file.fileno(), 0, 9000))
    wait_all(server, 9000)
    note("acknowledged", stamps(client, 1))
    note("off", done(client.setsockopt, socket.SOL_SOCKET, SO_TIMESTAMPING,
                     SOF_SOFTWARE | SOF_OPT_ID | SOF_OPT_TSONLY))
    for asked in ((), ((socket.SOL_SOCKET, SO_TIMESTAMPING, struct.pack("I", SOF_TX_ACK)),)):
        note("one call", client.sendmsg([b"z" * 10], asked))
        wait_all(server, 10)
        note("acknowledged", stamps(client, len(asked)))
    note("nothing more", at_once(client, client.recvmsg, 1, 512, socket.MSG_ERRQUEUE))


@scenario
def bad_ancillary_data(p, note):
    client, _, _ = p.pair()
    for bad in ((socket.SOL_SOCKET, 9999, b""), (socket.SOL_SOCKET, socket.SO_MARK, b"")):
        note("open", done(client.sendmsg, [b"x"], [bad]))
    client.shutdown(socket.SHUT_WR)
    note("shut", done(client.sendmsg, [b"x"], [bad]))
    note("before connect()", done(p.socket().sendmsg, [b"x"], [bad]))


@scenario
def small_segments_below_the_mark(p, note):
    client, server, _ = p.pair()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 3000)
    for _ in range(100):
        client.send(b"x" * 100)
    note("ready, because no more can come", events(server, select.POLLIN))
    total = 0
    while total < 10000:
        total += len(server.recv(1 << 16))
    note("all came", total)


# ---- options ----

@scenario
def tcp_options(p, note):
    sock = p.socket()
    values = (-1, 0, 1, 2, 5, 10, 63, 64, 87, 88, 127, 128, 255, 256, 1000, 1220, 32767,
              32768, 40000, 65535, 65536, 1 << 20, (1 << 31) - 1, -(1 << 31))
    options = (1, 2, TCP_CORK, 4, 5, 6, 7, TCP_LINGER2, TCP_DEFER_ACCEPT,
               TCP_WINDOW_CLAMP, TCP_QUICKACK, 16, 17, TCP_USER_TIMEOUT,
               TCP_NOTSENT_LOWAT, TCP_SAVE_SYN, TCP_INQ)
    for option in options:
        note((option, "default"), outcome(sock.getsockopt, socket.IPPROTO_TCP, option))
        for value in values:
            note((option, value), outcome(sock.setsockopt, socket.IPPROTO_TCP, option, value))
            note((option, value, "reads"), outcome(sock.getsockopt, socket.IPPROTO_TCP, option))


@scenario
def option_lengths(p, note):
    sock = p.socket()
    for option in (1, 2, TCP_CORK, 4, TCP_LINGER2, TCP_USER_TIMEOUT, TCP_CONGESTION, 9999, 0):
        for size in (0, 1, 2, 3, 4, 5, 8, 100, 5000):
            note((option, size), outcome(sock.setsockopt, socket.IPPROTO_TCP, option,
                                         b"\1" * size))
    for option in (1, TCP_INFO, TCP_CONGESTION, 9999, 0):
        for size in (1, 2, 3, 4, 5, 8, 16, 100, 300, 1024):
            result = outcome(sock.getsockopt, socket.IPPROTO_TCP, option, size)
            note((option, size, "get"), result if isinstance(result, str) else len(result))


@scenario
def congestion_control(p, note):
    listener = p.listener()
    name = listener.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16)
    note("default", name)
    note("unknown", outcome(listener.setsockopt, socket.IPPROTO_TCP, TCP_CONGESTION, b"nosuch"))
    note("reno", outcome(listener.setsockopt, socket.IPPROTO_TCP, TCP_CONGESTION, b"reno"))
    note("is reno", listener.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16))
    client = p.client(listener)
    server = p.accept(listener)
    note("child inherits", server.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16))
    note("client does not", client.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16))
    note("in flight", outcome(client.setsockopt, socket.IPPROTO_TCP, TCP_CONGESTION, b"reno"))
    note("works", stream(client, server, 500000, 60000, 60000))


@scenario
def children_inherit(p, note):
    listener = p.socket()
    sol, tcp, six = socket.SOL_SOCKET, socket.IPPROTO_TCP, socket.IPPROTO_IPV6
    options = ((tcp, 1, 1), (tcp, 4, 77), (tcp, 5, 7), (tcp, 6, 3), (tcp, TCP_USER_TIMEOUT, 4321),
               (tcp, TCP_LINGER2, 9), (tcp, 2, 1000), (tcp, TCP_NOTSENT_LOWAT, 5555),
               (sol, socket.SO_KEEPALIVE, 1), (sol, socket.SO_RCVBUF, 50000),
               (sol, socket.SO_SNDBUF, 60000), (sol, socket.SO_PRIORITY, 3),
               (sol, socket.SO_MARK, 42), (sol, socket.SO_RCVLOWAT, 2),
               (sol, socket.SO_OOBINLINE, 1), (sol, socket.SO_REUSEADDR, 1),
               (six, socket.IPV6_TCLASS, 0x28), (six, socket.IPV6_UNICAST_HOPS, 33),
               (six, socket.IPV6_V6ONLY, 1))
    for level, option, value in options:
        listener.setsockopt(level, option, value)
    listener.setsockopt(sol, socket.SO_LINGER, struct.pack("ii", 1, 3))
    listener.bind(("::1", 0))
    listener.listen(5)
    p.client(listener)
    server = p.accept(listener)
    for level, option, _ in options:
        note((level, option), server.getsockopt(level, option))
    note("linger", server.getsockopt(sol, socket.SO_LINGER, 8))
    note("accepting", server.getsockopt(sol, socket.SO_ACCEPTCONN))


@scenario
def socket_level_queries(p, note):
    client, server, listener = p.pair()
    server.send(b"x")
    client.recv(1)
    note("a processor", client.getsockopt(socket.SOL_SOCKET, SO_INCOMING_CPU) >= 0)
    for sock in (client, server, listener):
        for option in (socket.SO_TYPE, socket.SO_DOMAIN, socket.SO_PROTOCOL,
                       socket.SO_ACCEPTCONN, socket.SO_ERROR, socket.SO_RCVLOWAT):
            note(option, sock.getsockopt(socket.SOL_SOCKET, option))


ktap.main(setup)
