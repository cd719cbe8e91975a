#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The socket API of TCP in depth, opening connections and ports: scenarios that are
# played on the native stack and on net6 and have to give the same (lib/tcpapi.py).
#
#   [ one namespace: native ::1 on lo | net6 ::1 on the pseudo-loopback ]
#
# guest: both
# timeout: 300
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
from tcpapi import (MOMENT, TCP_DEFER_ACCEPT, TCP_INFO, TCP_SAVED_SYN, TCP_SAVE_SYN,
                    acknowledged, at_once, done, events, outcome, reset, scenario, settled,
                    so_error, state, wait_state, setup)  # noqa: E402


@scenario
def exchange_and_orderly_close(p, note):
    client, server, _ = p.pair()
    note("names", (client.getsockname()[0], client.getpeername()[0],
                   client.getpeername() == server.getsockname(),
                   client.getsockname() == server.getpeername()))
    client.sendall(b"question")
    note("question", server.recv(100))
    server.sendall(b"answer")
    note("answer", client.recv(100))
    note("states", (state(client), state(server)))
    client.close()
    note("end", server.recv(100))
    note("state", wait_state(server, "CLOSE_WAIT"))
    server.close()


@scenario
def server_closes_first(p, note):
    client, server, _ = p.pair()
    server.sendall(b"last")
    server.close()
    note("data before the end", client.recv(100))
    note("end", client.recv(100))
    note("end again", client.recv(100))
    note("state", state(client))
    note("write to it", client.send(b"x"))
    note("reset comes", events(client, select.POLLERR))
    note("write after reset", outcome(client.send, b"x", socket.MSG_NOSIGNAL))


@scenario
def both_close_at_once(p, note):
    for _ in range(20):
        client, server, _ = p.pair()
        threads = [threading.Thread(target=sock.shutdown, args=(socket.SHUT_WR,))
                   for sock in (client, server)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        note("ends", (client.recv(1), server.recv(1)))
        p.close()


def waiting(listener):
    """Connections that can be accepted, tcpi_unacked of a listener."""
    return struct.unpack_from("I", listener.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 104), 24)[0]


@scenario
def accept_keeps_the_order(p, note):
    listener = p.listener(16)
    clients = []
    for n in range(1, 9):
        clients.append(p.client(listener))
        # On two CPUs one handshake's last segment can pass the other's.
        ktap.wait_for(10, f"{n} connections wait", lambda n=n: waiting(listener) == n)
    accepted = [p.accept(listener) for _ in clients]
    note("order", [c.getsockname() == a.getpeername()
                   for c, a in zip(clients, accepted)])


@scenario
def data_before_accept(p, note):
    listener = p.listener()
    client = p.client(listener)
    client.sendall(b"early")
    client.shutdown(socket.SHUT_WR)
    wait_state(client, "FIN_WAIT2")
    server = p.accept(listener)
    note("state", wait_state(server, "CLOSE_WAIT"))
    note("data", (server.recv(100), server.recv(100)))


@scenario
def reset_before_accept(p, note):
    listener = p.listener()
    reset(p.client(listener))
    time.sleep(MOMENT)		# nothing shows what a child that waits has received
    note("listener", events(listener))
    server = p.accept(listener)
    note("read", outcome(server.recv, 1))
    note("peer", outcome(server.getpeername))


@scenario
def connect_without_blocking(p, note):
    listener = p.listener()
    client = p.socket()
    note("fresh", events(client))
    client.setblocking(False)
    first = outcome(client.connect, listener.getsockname())
    note("first", first in (None, "EINPROGRESS"))
    note("events", events(client, select.POLLOUT))
    note("error", so_error(client))
    note("again", done(client.connect, listener.getsockname()))
    note("and again", done(client.connect, listener.getsockname()))
    note("read", outcome(client.recv, 1))


@scenario
def connect_refused(p, note):
    listener = p.listener()
    nobody = listener.getsockname()
    listener.close()
    client = p.socket()
    note("blocking", outcome(client.connect, nobody))
    note("events", events(client))
    note("state", state(client))
    note("again", outcome(client.connect, nobody))
    other = p.socket()
    other.setblocking(False)
    result = outcome(other.connect, nobody)
    note("non-blocking", result in ("EINPROGRESS", "ECONNREFUSED"))
    if result == "EINPROGRESS":
        events(other, select.POLLERR)
        so_error(other)
    note("events after", events(other))
    note("read", outcome(other.recv, 1))
    note("write", outcome(other.send, b"x", socket.MSG_NOSIGNAL))


@scenario
def connect_to_itself(p, note):
    sock = p.socket()
    sock.bind(("::1", 0))
    note("simultaneous open", outcome(sock.connect, sock.getsockname()))
    note("state", state(sock))
    sock.sendall(b"monologue")
    note("heard", sock.recv(100))
    sock.shutdown(socket.SHUT_WR)
    note("end", sock.recv(1))


@scenario
def wrong_calls(p, note):
    sock = p.socket()
    note("accept", at_once(sock, sock.accept))
    note("read", at_once(sock, sock.recv, 1))
    note("write", at_once(sock, sock.send, b"x", socket.MSG_NOSIGNAL))
    note("shutdown", outcome(sock.shutdown, socket.SHUT_RDWR))
    note("peer", outcome(sock.getpeername))
    note("name", sock.getsockname()[:2])
    note("state", state(sock))
    listener = p.listener()
    note("read from a listener", at_once(listener, listener.recv, 1))
    note("write to a listener", at_once(listener, listener.send, b"x", socket.MSG_NOSIGNAL))
    note("connect a listener", done(listener.connect, ("::1", 9)))
    note("bind again", outcome(listener.bind, ("::1", 0)))
    note("listen again", outcome(listener.listen, 5))
    client, server, _ = p.pair()
    note("listen when connected", outcome(client.listen, 5))
    note("connect when connected", done(client.connect, listener.getsockname()))
    note("bind when connected", outcome(client.bind, ("::1", 0)))
    note("accept when connected", at_once(server, server.accept))
    note("multicast", done(p.socket().connect, ("ff02::1", 9, 0, 1)))
    note("IPv4-mapped bind", done(p.socket().bind, ("2001:db8::1", 0)))
    note("link-local without zone", done(p.socket().connect, ("fe80::1", 9)))
    note("no zone in bind", done(p.socket().bind, ("fe80::1", 0)))
    note("unknown zone", done(p.socket().bind, ("fe80::1", 0, 0, 9999)))
    note("unspecified means loopback",
         done(p.socket().connect, ("::", p.listener().getsockname()[1])))
    note("bad how", outcome(sock.shutdown, 7))


@scenario
def accept_without_blocking(p, note):
    listener = p.listener()
    listener.setblocking(False)
    note("nobody", done(listener.accept))
    note("events", events(listener))
    p.client(listener)
    note("somebody", events(listener, select.POLLIN))
    note("accepted", done(p.accept, listener))
    note("none left", done(listener.accept))


@scenario
def connected_is_acceptable_at_once(p, note):
    """Whatever a client has not sent yet because its program is about to write. Softirqs may be
    late on a busy machine, but not time after time."""
    def found(ask):
        listener = p.listener()
        listener.setblocking(False)
        clients = [p.socket() for _ in range(3)]
        for client in clients:
            client.setblocking(True)
            client.connect(listener.getsockname())
        return [ask(listener) for _ in clients]

    for ask in (lambda listener: done(listener.accept), events):
        rounds = (found(ask) for _ in range(20))
        note("connected", next((r for r in rounds if "EAGAIN" not in r and "" not in r), None))


@scenario
def accept_times_out_and_is_interrupted(p, note):
    listener = p.listener()
    listener.settimeout(None)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                        struct.pack("ll", 0, 200000))
    note("time-out", done(listener.accept))
    old = signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 0))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        listener.accept()
        note("interrupted", False)
    except ZeroDivisionError:
        note("interrupted", True)
    signal.signal(signal.SIGALRM, old)


@scenario
def several_threads_accept(p, note):
    listener = p.listener(64)
    got = []

    def take():
        for _ in range(10):
            got.append(p.accept(listener))
    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    clients = [p.client(listener) for _ in range(40)]
    for thread in threads:
        thread.join()
    note("each once", len({s.getpeername() for s in got}) == len(clients))


@scenario
def listener_closes_with_children_waiting(p, note):
    listener = p.listener()
    clients = [p.client(listener) for _ in range(3)]
    clients[0].sendall(b"x")
    acknowledged(clients[0])
    listener.close()
    for client in clients:
        note("reset", events(client, select.POLLERR))
        note("read", outcome(client.recv, 1))
        note("then", outcome(client.recv, 1))


@scenario
def listener_is_shut_down(p, note):
    listener = p.listener()
    where = listener.getsockname()
    note("write half", outcome(listener.shutdown, socket.SHUT_WR))
    p.client(listener)
    note("still listens", events(listener, select.POLLIN))
    note("read half", outcome(listener.shutdown, socket.SHUT_RD))
    note("state", state(listener))
    note("accept", outcome(listener.accept))
    note("refused", outcome(p.socket().connect, where))
    note("listens again", outcome(listener.listen, 3))
    note("and accepts", done(p.client, listener))


@scenario
def backlog_is_a_bound(p, note):
    listener = p.listener(2)
    clients = []
    for _ in range(8):
        sock = p.socket()
        sock.setblocking(False)
        outcome(sock.connect, listener.getsockname())
        clients.append(sock)
    time.sleep(MOMENT)		# for those that must not get up
    up = [sock for sock in clients if state(sock) == "ESTABLISHED"]
    note("three wait", settled(lambda: len(up) >= 3))
    info = listener.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 104)
    note("TCP_INFO of a listener", struct.unpack_from("II", info, 24)[::-1])
    listener.setblocking(False)
    note("no more", len([1 for _ in range(3) if not isinstance(outcome(listener.accept), str)]))
    note("than that", done(listener.accept))


@scenario
def defer_accept(p, note):
    listener = p.listener(TCP_DEFER_ACCEPT=5)
    note("rounded", listener.getsockopt(socket.IPPROTO_TCP, TCP_DEFER_ACCEPT))
    client = p.client(listener)
    note("silent", settled(lambda: events(listener)))
    client.sendall(b"data")
    note("data wake", events(listener, select.POLLIN))
    note("data", p.accept(listener).recv(10))


@scenario
def saved_syn(p, note):
    listener = p.socket()
    listener.setsockopt(socket.IPPROTO_TCP, TCP_SAVE_SYN, 1)
    listener.bind(("::1", 0))
    listener.listen(5)
    client = p.client(listener)
    server = p.accept(listener)
    note("too small", outcome(server.getsockopt, socket.IPPROTO_TCP, TCP_SAVED_SYN, 10))
    syn = server.getsockopt(socket.IPPROTO_TCP, TCP_SAVED_SYN, 200)
    note("IPv6 and SYN", (syn[0] >> 4, syn[6], syn[40 + 13] & 0x3f))
    note("from the client", struct.unpack_from("!H", syn, 40)[0] == client.getsockname()[1])
    note("once", server.getsockopt(socket.IPPROTO_TCP, TCP_SAVED_SYN, 200))


# ---- ports ----

@scenario
def bind_conflicts(p, note):
    def bound(port, addr="::1", reuse=0, group=0, listen=False):
        sock = p.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, group)
        sock.bind((addr, port))
        if listen:
            sock.listen(5)
        return sock

    for first in range(16):
        reuse, group, listen, wild = (first >> i & 1 for i in range(4))
        one = bound(0, "::" if wild else "::1", reuse, group, listen)
        port = one.getsockname()[1]
        for second in range(16):
            reuse, group, listen, wild = (second >> i & 1 for i in range(4))
            result = outcome(bound, port, "::" if wild else "::1", reuse, group, listen)
            note((first, second), result if isinstance(result, str) else "ok")
            p.open.pop().close()
        p.close()


def bound(p, address, port, reuse=True):
    """A socket on an address that need not be there, or the error."""
    sock = p.socket()
    sock.setsockopt(socket.IPPROTO_IPV6, 78, 1)		# IPV6_FREEBIND
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
    return outcome(sock.bind, (address, port)) or sock


@scenario
def many_listeners_of_one_port_on_other_addresses(p, note):
    port, crowd = 4400, [bound(p, f"fd0c::{n:x}", 4400) for n in range(1, 40)]
    for sock in crowd:
        sock.listen(1)
    note("one of theirs", bound(p, "fd0c::3", port))
    note("none", bound(p, "::", port))
    listener = bound(p, "::1", port)
    listener.listen(4)
    client = p.client(listener)
    server = p.accept(listener)
    note("names", (server.getsockname()[:2], server.getpeername() == client.getsockname()))
    note("theirs is taken", bound(p, "fd0c::27", port, False))
    crowd[2].close()
    again = bound(p, "fd0c::3", port, False)
    note("theirs is free", again.getsockname()[0])
    again.close()
    for sock in crowd:
        sock.close()
    note("none beside a listener", bound(p, "::", port))
    listener.close()
    note("none beside a connection", bound(p, "::", port, False))
    last = bound(p, "::", port)
    last.listen(4)
    p.client(last)
    note("it listens", p.accept(last).getsockname()[:2])
    # An address comes to it by connect().
    mover = bound(p, "::", 4401)
    mover.connect(("::1", port))
    note("beside it", [type(bound(p, address, 4401, False)).__name__
                       for address in ("::1", "fd0c::1", "::")])


@scenario
def port_of_a_connection(p, note):
    client, server, listener = p.pair()
    port = client.getsockname()[1]
    other = p.socket()
    note("ephemeral port is taken", outcome(other.bind, ("::1", port)))
    port = listener.getsockname()[1]
    listener.close()
    note("child keeps the port", outcome(other.bind, ("::1", port)))
    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    note("unless reused", outcome(other.bind, ("::1", port)))
    note("and listened on", outcome(other.listen, 5))
    note("child lives", (client.send(b"x"), server.recv(1)))


@scenario
def time_wait_keeps_the_port(p, note):
    client, server, listener = p.pair()
    port = listener.getsockname()[1]
    server.close()
    client.recv(1)
    client.close()
    listener.close()
    time.sleep(MOMENT)		# nothing shows that it is in TIME-WAIT
    other = p.socket()
    note("in use", outcome(other.bind, ("::1", port)))
    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    note("may be reused", outcome(other.bind, ("::1", port)))
    note("and listened on", outcome(other.listen, 5))
    note("and connected to", done(p.client, other))


@scenario
def same_connection_again(p, note):
    listener = p.listener()
    where = listener.getsockname()
    # The client closes first and waits: its port and address again, with timestamps.
    client = p.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    client.bind(("::1", 0))
    name = client.getsockname()
    client.connect(where)
    server = p.accept(listener)
    client.close()
    server.recv(1)
    server.close()
    time.sleep(MOMENT)		# as above
    again = p.socket()
    again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    note("bind", outcome(again.bind, name))
    time.sleep(1.5)		# before a second is over nobody takes the name over
    note("connect out of TIME-WAIT", outcome(again.connect, where))
    server = p.accept(listener)
    note("works", (again.send(b"x"), server.recv(1)))
    # The server closes first and waits: the client's SYN ends it (RFC 6191).
    server.close()
    again.recv(1)
    again.close()
    time.sleep(MOMENT)		# as above
    third = p.socket()
    third.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    third.bind(name)
    note("SYN into TIME-WAIT", outcome(third.connect, where))
    server = p.accept(listener)
    note("works too", (third.send(b"y"), server.recv(1)))


@scenario
def reuseport_spreads(p, note):
    group = []
    port = 0
    for _ in range(4):
        sock = p.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind(("::1", port))
        sock.listen(64)
        port = sock.getsockname()[1]
        group.append(sock)
    clients = []
    for _ in range(64):
        clients.append(p.socket())
        clients[-1].connect(("::1", port))
    counts = []
    for sock in group:
        sock.setblocking(False)
        n = 0
        while not isinstance(outcome(sock.accept), str):
            n += 1
        counts.append(n)
    note("all are accepted", sum(counts))
    note("each has some", min(counts) > 0)
    group[0].close()
    for _ in range(16):
        clients.append(p.socket())
        clients[-1].connect(("::1", port))
    note("without the first", sum(1 for sock in group[1:] for _ in range(16)
                                  if not isinstance(outcome(sock.accept), str)))


@scenario
def ephemeral_ports_differ(p, note):
    listener = p.listener(64)
    clients = [p.client(listener) for _ in range(50)]
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        low, high = map(int, file.read().split())
    used = [sock.getsockname()[1] for sock in clients]
    note("all different", len(set(used)))
    note("in range", all(low <= port <= high for port in used))
    binds = []
    for _ in range(20):
        sock = p.socket()
        sock.bind(("::1", 0))
        binds.append(sock.getsockname()[1])
    note("bound ones too", (len(set(binds)), all(low <= port <= high for port in binds)))


@scenario
def every_ephemeral_port_is_found(p, note):
    listener = p.listener(128)
    path = "/proc/sys/net/ipv4/ip_local_port_range"
    with open(path, encoding="ascii") as file:
        before = file.read()
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write("61000 61063")
        clients = [p.client(listener) for _ in range(64)]
        note("all of them", sorted(sock.getsockname()[1] for sock in clients) ==
             list(range(61000, 61064)))
        note("no more", outcome(p.client, listener))
        for number in (0, 1, 30, 63):
            port = clients[number].getsockname()[1]
            reset(clients[number])
            clients[number] = p.client(listener)
            note("the one that is free", clients[number].getsockname()[1] == port)
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


ktap.main(setup)
