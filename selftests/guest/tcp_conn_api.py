#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The socket API of TCP in depth: each scenario is played on the native stack and on
# net6, and everything that the program sees (results, errnos, poll masks, option
# values) must be the same. What a scenario asserts itself is checked on both.
#
#   [ one namespace: native ::1 on lo | net6 ::1 on the pseudo-loopback ]
#
# guest: stock
# timeout: 900
import array
import errno
import fcntl
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

TCP_CORK, TCP_LINGER2, TCP_DEFER_ACCEPT, TCP_WINDOW_CLAMP = 3, 8, 9, 10
TCP_INFO, TCP_QUICKACK, TCP_CONGESTION = 11, 12, 13
TCP_USER_TIMEOUT, TCP_NOTSENT_LOWAT, TCP_SAVE_SYN, TCP_SAVED_SYN = 18, 25, 27, 28
TCP_INQ = 36
SIOCINQ, SIOCOUTQ, SIOCATMARK = 0x541B, 0x5411, 0x8905
STATES = ("", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",
          "TIME_WAIT", "CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING")
PATIENCE = 10 * ktap.SCALE
# Long enough for a segment to come up, short enough to wait for nothing.
MOMENT = 0.2 * ktap.SCALE

NAMES = {getattr(select, name): name for name in
         ("POLLIN", "POLLPRI", "POLLOUT", "POLLERR", "POLLHUP", "POLLRDHUP",
          "POLLRDNORM", "POLLWRNORM")}


class Place:
    """Where a scenario is played."""

    def __init__(self, name):
        self.name = name
        self.open = []
        self.port = 20000

    def socket(self):
        sock = (ktap.net6_socket() if self.name == "net6"
                else socket.socket(socket.AF_INET6))
        sock.settimeout(PATIENCE)
        self.open.append(sock)
        return sock

    def listener(self, backlog=16, **options):
        sock = self.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for name, value in options.items():
            sock.setsockopt(socket.IPPROTO_TCP, globals()[name], value)
        sock.bind(("::1", 0))
        sock.listen(backlog)
        return sock

    def client(self, listener):
        sock = self.socket()
        sock.connect(listener.getsockname())
        return sock

    def accept(self, listener):
        sock = listener.accept()[0]
        sock.settimeout(PATIENCE)
        self.open.append(sock)
        return sock

    def pair(self):
        """A connected pair and its listener."""
        listener = self.listener()
        client = self.client(listener)
        return client, self.accept(listener), listener

    def close(self):
        for sock in self.open:
            sock.close()
        self.open = []


def scenario(function):
    """Plays a scenario on both stacks and compares what was noted."""
    name = function.__name__.replace("_", " ")

    def play():
        seen = {}
        for place in (Place("native"), Place("net6")):
            notes = seen[place.name] = []
            try:
                function(place, lambda what, value, notes=notes:
                         notes.append((what, value)))
            except Exception as error:
                raise ktap.Fail(f"on {place.name}, after {notes[-3:]}: "
                                f"{type(error).__name__}: {error}") from error
            finally:
                place.close()
        for native, net6 in zip(seen["native"], seen["net6"]):
            ktap.equal(net6, native, "net6 against native")
        ktap.equal(len(seen["net6"]), len(seen["native"]), "length of the scenario")
        ktap.true(seen["native"], "something was observed")
    ktap.test(name)(play)
    return function


def outcome(function, *args):
    """A call's result, or the name of its errno."""
    try:
        return function(*args)
    except BlockingIOError as error:
        return errno.errorcode[error.errno]
    except socket.timeout:
        return "timeout"
    except OSError as error:
        return errno.errorcode.get(error.errno, error.errno)


def done(function, *args):
    """As outcome(), for calls whose result says nothing."""
    result = outcome(function, *args)
    return result if isinstance(result, str) else "ok"


def events(sock, wait=None):
    """What poll() says; waits for the events named first."""
    poll = select.poll()
    poll.register(sock, wait or 0xffff & ~select.POLLNVAL)
    if wait:
        poll.poll(PATIENCE * 1000)
        return events(sock)
    found = dict(poll.poll(0)).get(sock.fileno(), 0)
    return "+".join(name for bit, name in sorted(NAMES.items()) if found & bit)


def settled(function):
    """The value a function takes once segments have come up."""
    time.sleep(MOMENT)
    return function()


def state(sock):
    return STATES[sock.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 1)[0]]


def wait_state(sock, *wanted):
    ktap.wait_for(10, f"state {wanted}", lambda: state(sock) in wanted)
    return state(sock)


def urgent(sock, flags=0):
    """The urgent byte. A time-out would make Python wait for ordinary data."""
    sock.setblocking(False)
    result = outcome(sock.recv, 1, socket.MSG_OOB | flags)
    sock.settimeout(PATIENCE)
    return result


def wait_all(sock, n):
    sock.settimeout(None)
    result = sock.recv(n, socket.MSG_WAITALL)
    sock.settimeout(PATIENCE)
    return result


def ioctl(sock, request):
    value = array.array("i", [0])
    fcntl.ioctl(sock, request, value)
    return value[0]


def so_error(sock):
    return errno.errorcode.get(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), "0")


def reset(sock):
    """Aborts a connection."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


# ---- opening ----

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


@scenario
def accept_keeps_the_order(p, note):
    listener = p.listener(16)
    clients = [p.client(listener) for _ in range(8)]
    accepted = [p.accept(listener) for _ in clients]
    note("order", [c.getsockname() == a.getpeername()
                   for c, a in zip(clients, accepted)])


@scenario
def data_before_accept(p, note):
    listener = p.listener()
    client = p.client(listener)
    client.sendall(b"early")
    client.shutdown(socket.SHUT_WR)
    time.sleep(MOMENT)
    server = p.accept(listener)
    note("state", wait_state(server, "CLOSE_WAIT"))
    note("data", (server.recv(100), server.recv(100)))


@scenario
def reset_before_accept(p, note):
    listener = p.listener()
    reset(p.client(listener))
    time.sleep(MOMENT)
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
    note("accept", outcome(sock.accept))
    note("read", outcome(sock.recv, 1))
    note("write", outcome(sock.send, b"x", socket.MSG_NOSIGNAL))
    note("shutdown", outcome(sock.shutdown, socket.SHUT_RDWR))
    note("peer", outcome(sock.getpeername))
    note("name", sock.getsockname()[:2])
    note("state", state(sock))
    listener = p.listener()
    note("read from a listener", outcome(listener.recv, 1))
    note("write to a listener", outcome(listener.send, b"x", socket.MSG_NOSIGNAL))
    note("connect a listener", done(listener.connect, ("::1", 9)))
    note("bind again", outcome(listener.bind, ("::1", 0)))
    note("listen again", outcome(listener.listen, 5))
    client, server, _ = p.pair()
    note("listen when connected", outcome(client.listen, 5))
    note("connect when connected", done(client.connect, listener.getsockname()))
    note("bind when connected", outcome(client.bind, ("::1", 0)))
    note("accept when connected", outcome(server.accept))
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
    time.sleep(MOMENT)
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
    time.sleep(MOMENT)
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
    time.sleep(MOMENT)
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
    time.sleep(MOMENT)
    again = p.socket()
    again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    note("bind", outcome(again.bind, name))
    time.sleep(1.5)
    note("connect out of TIME-WAIT", outcome(again.connect, where))
    server = p.accept(listener)
    note("works", (again.send(b"x"), server.recv(1)))
    # The server closes first and waits: the client's SYN ends it (RFC 6191).
    server.close()
    again.recv(1)
    again.close()
    time.sleep(MOMENT)
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


# ---- closing ----

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
    time.sleep(MOMENT)
    note("read after data", client.recv(100))
    note("write", client.send(b"x"))
    note("peer", server.recv(1))


@scenario
def abort(p, note):
    client, server, _ = p.pair()
    server.sendall(b"unread")
    time.sleep(MOMENT)
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
    time.sleep(MOMENT)
    server.close()
    note("reset", events(client, select.POLLERR))
    note("read", outcome(client.recv, 1))


@scenario
def data_in_flight_before_reset(p, note):
    client, server, _ = p.pair()
    server.sendall(b"kept")
    time.sleep(MOMENT)
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
    thread.start()
    before = time.monotonic()
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
    time.sleep(1.5 + MOMENT)
    note("write", server.send(b"late"))
    note("is reset", events(server, select.POLLERR))


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
    client.setblocking(False)
    while not isinstance(outcome(client.send, b"x" * 65536), str):
        pass
    note("full", settled(lambda: events(client)))
    server.setblocking(False)
    while not isinstance(outcome(server.recv, 1 << 20), str):
        time.sleep(0.01)
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
    note("but a read without blocking", outcome(client.recv, 2, socket.MSG_DONTWAIT))
    server.sendall(b"x" * 20)
    note("above", events(client, select.POLLIN))
    server.close()
    client.recv(100)
    note("the end counts", events(client, select.POLLIN))


# ---- data ----

@scenario
def receive_flags(p, note):
    client, server, _ = p.pair()
    server.sendall(b"abcdefgh")
    time.sleep(MOMENT)
    note("peek", client.recv(3, socket.MSG_PEEK))
    note("peek again", client.recv(100, socket.MSG_PEEK))
    note("inq", ioctl(client, SIOCINQ))
    note("truncated away", client.recv_into(bytearray(3), 3, socket.MSG_TRUNC))
    note("rest", client.recv(2))
    note("not more", outcome(lambda: client.recv(100, socket.MSG_DONTWAIT)))
    note("none", outcome(client.recv, 1, socket.MSG_DONTWAIT))
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


@scenario
def urgent_data(p, note):
    client, server, _ = p.pair()
    server.send(b"ab")
    server.send(b"!", socket.MSG_OOB)
    server.send(b"cd")
    events(client, select.POLLPRI)
    time.sleep(MOMENT)
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
    time.sleep(MOMENT)
    note("in line", (client.recv(100), client.recv(100)))
    note("no urgent byte", urgent(client))


@scenario
def queue_lengths(p, note):
    client, server, _ = p.pair()
    note("empty", (ioctl(client, SIOCINQ), ioctl(client, SIOCOUTQ)))
    server.sendall(b"x" * 5000)
    time.sleep(MOMENT)
    note("in", ioctl(client, SIOCINQ))
    note("out", ioctl(server, SIOCOUTQ))
    server.shutdown(socket.SHUT_WR)
    time.sleep(MOMENT)
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
    time.sleep(MOMENT)
    data, anc, _, _ = client.recvmsg(30, 100)
    note("left", (len(data), [(level, kind, struct.unpack("i", value)[0])
                              for level, kind, value in anc]))


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
    for sock in (client, server, listener):
        for option in (socket.SO_TYPE, socket.SO_DOMAIN, socket.SO_PROTOCOL,
                       socket.SO_ACCEPTCONN, socket.SO_ERROR, socket.SO_RCVLOWAT):
            note(option, sock.getsockopt(socket.SOL_SOCKET, option))


def setup():
    ktap.net6_load()
    ktap.run("ip", "link", "set", "lo", "up")


ktap.main(setup)
