#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The socket API of TCP in depth, closing connections, poll: scenarios that are
# played on the native stack and on net6 and have to give the same (lib/tcpapi.py).
#
#   [ one namespace: native ::1 on lo | net6 ::1 on the pseudo-loopback ]
#
# guest: both
# timeout: 300
# guest-options: --kmemleak
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
from tcpapi import (MOMENT, TCP_LINGER2, arrived, at_once, done, events, fill, outcome,
                    reset, scenario, settled, so_error, state, urgent, wait_state, setup)  # noqa: E402


@scenario
def half_close(p, note):
    client, server, _ = p.pair()
    client.shutdown(socket.SHUT_WR)
    note("client", wait_state(client, "FIN_WAIT2"))
    note("client events", events(client))
    note("server events", events(server, select.POLLRDHUP))
    note("server reads", server.recv(1))
    note("client writes", outcome(client.send, b"x", socket.MSG_NOSIGNAL))
    server.sendall(b"still")
    note("client reads", client.recv(100))
    server.shutdown(socket.SHUT_WR)
    note("client ends", client.recv(1))
    note("client events after", settled(lambda: events(client)))
    note("states after", (state(client), wait_state(server, "CLOSE")))
    note("server events after", events(server))
    note("shutdown again", done(client.shutdown, socket.SHUT_WR))


@scenario
def read_shutdown(p, note):
    client, server, _ = p.pair()
    client.shutdown(socket.SHUT_RD)
    note("events", events(client))
    note("read", client.recv(1))
    server.sendall(b"ignored?")
    arrived(client, 8)
    note("read after data", client.recv(100))
    note("write", client.send(b"x"))
    note("peer", server.recv(1))


@scenario
def abort(p, note):
    client, server, _ = p.pair()
    server.sendall(b"unread")
    arrived(client, 6)
    reset(client)
    note("events", events(server, select.POLLERR))
    note("state", state(server))
    note("error", so_error(server))
    note("read", outcome(server.recv, 1))
    note("write", outcome(server.send, b"x", socket.MSG_NOSIGNAL))
    client, server, _ = p.pair()
    reset(client)
    events(server, select.POLLERR)
    note("read reports", outcome(server.recv, 1))
    note("once", outcome(server.recv, 1))
    client, server, _ = p.pair()
    reset(client)
    events(server, select.POLLERR)
    note("write reports", outcome(server.send, b"x", socket.MSG_NOSIGNAL))
    note("then", outcome(server.send, b"x", socket.MSG_NOSIGNAL))


@scenario
def close_with_unread_data(p, note):
    client, server, _ = p.pair()
    client.sendall(b"never read")
    arrived(server, 10)
    server.close()
    note("reset", events(client, select.POLLERR))
    note("read", outcome(client.recv, 1))


@scenario
def data_in_flight_before_reset(p, note):
    client, server, _ = p.pair()
    server.sendall(b"kept")
    arrived(client, 4)
    reset(server)
    events(client, select.POLLERR)
    note("error comes before data", outcome(client.recv, 100))
    note("then the end", outcome(client.recv, 100))


@scenario
def linger_waits(p, note):
    client, server, _ = p.pair()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 5))
    client.sendall(b"x" * 1000)
    thread = threading.Thread(target=lambda: (time.sleep(MOMENT), server.recv(2000),
                                              server.close()))
    before = time.monotonic()
    thread.start()
    client.close()
    note("waited for the peer", time.monotonic() - before > 0.5 * MOMENT)
    thread.join()
    client, server, _ = p.pair()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1))
    before = time.monotonic()
    client.close()
    note("no longer than asked", 0.9 < time.monotonic() - before < 1 + 2 * ktap.SCALE)
    note("peer sees the end", server.recv(1))


@scenario
def data_after_both_shutdowns(p, note):
    client, server, _ = p.pair()
    client.shutdown(socket.SHUT_RDWR)
    note("end", server.recv(1))
    note("write", server.send(b"into the void"))
    note("is reset", events(server, select.POLLERR))
    note("error", so_error(server))
    note("here", wait_state(client, "CLOSE"))
    note("here too", so_error(client))


@scenario
def sigpipe(p, note):
    client, server, _ = p.pair()
    hits = []
    old = signal.signal(signal.SIGPIPE, lambda *_: hits.append(1))
    client.shutdown(socket.SHUT_WR)
    note("with MSG_NOSIGNAL", (outcome(client.send, b"x", socket.MSG_NOSIGNAL), len(hits)))
    note("without", (outcome(client.send, b"x"), len(hits)))
    signal.signal(signal.SIGPIPE, old)
    note("peer", server.recv(1))


@scenario
def disconnect_and_connect_again(p, note):
    client, server, listener = p.pair()
    libc = ktap._libc  # pylint: disable=protected-access
    unspec = struct.pack("=H26x", socket.AF_UNSPEC)
    note("disconnect", libc.connect(client.fileno(), unspec, len(unspec)))
    note("state", state(client))
    note("peer is reset", events(server, select.POLLERR))
    note("name", client.getsockname()[0])
    note("peer name", outcome(client.getpeername))
    note("connect", outcome(client.connect, listener.getsockname()))
    server = p.accept(listener)
    note("works", (client.send(b"again"), server.recv(10)))


@scenario
def fin_wait2_orphans_go(p, note):
    client, server, _ = p.pair()
    client.setsockopt(socket.IPPROTO_TCP, TCP_LINGER2, 1)
    client.close()
    note("end", server.recv(1))
    time.sleep(1.5 + MOMENT)		# the orphan's second is over
    # Mostly the write is answered with a reset. If the last ACK of the FIN came while close()
    # still held the socket, either stack resets when the time is over.
    wrote = outcome(server.send, b"late")
    if wrote == 4:
        events(server, select.POLLERR)
        wrote = outcome(server.send, b"again")
    note("is reset", wrote)


# ---- poll ----

@scenario
def poll_through_a_life(p, note):
    fresh = p.socket()
    note("fresh", events(fresh))
    fresh.bind(("::1", 0))
    note("bound", events(fresh))
    client, server, listener = p.pair()
    note("listener", events(listener))
    note("connected", events(client))
    server.sendall(b"x")
    note("data", events(client, select.POLLIN))
    client.recv(1)
    note("read", events(client))
    server.send(b"!", socket.MSG_OOB)
    note("urgent", events(client, select.POLLPRI))
    note("urgent byte", urgent(client))
    note("after", events(client))
    fill(client, b"x" * 65536)
    note("full", settled(lambda: events(client)))
    server.setblocking(False)
    while not isinstance(outcome(server.recv, 1 << 20), str):
        time.sleep(0.01)	# more comes when what was taken is acknowledged
    note("room again", events(client, select.POLLOUT))


@scenario
def epoll_edges(p, note):
    client, server, _ = p.pair()
    ep = select.epoll()
    ep.register(client, select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET)
    note("first", [e for _, e in ep.poll(1)])
    note("no new edge", [e for _, e in ep.poll(0)])
    server.sendall(b"1")
    note("data", [e for _, e in ep.poll(5)])
    note("not again", [e for _, e in ep.poll(0)])
    server.sendall(b"2")
    note("more data", [e for _, e in ep.poll(5)])
    server.shutdown(socket.SHUT_WR)
    note("end", [e for _, e in ep.poll(5)])
    note("data", client.recv(10))
    reset(server)
    note("reset", [e for _, e in ep.poll(5)])
    ep.close()


@scenario
def low_water_mark(p, note):
    client, server, _ = p.pair()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 10)
    server.sendall(b"123")
    note("below", settled(lambda: events(client)))
    note("but a read without blocking", at_once(client, client.recv, 2))
    server.sendall(b"x" * 20)
    note("above", events(client, select.POLLIN))
    server.close()
    client.recv(100)
    note("the end counts", events(client, select.POLLIN))


ktap.main(setup)
