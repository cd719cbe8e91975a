#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# TCP Fast Open (RFC 7413) between net6 and the native stack.
#
#   [ A: native fd00::a, net6 fd00::6 on a0 ] ----- [ b0: native fd00::b :B ]
#                 [ native fd01::a, net6 on a1 ] ----- [ b1: net6 fd01::c  ]
#
# guest: stock+
# timeout: 300
import errno
import json
import os
import select
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import netpair  # noqa: E402

TCP, TCP_INFO = socket.IPPROTO_TCP, 11
TCP_FASTOPEN, FASTOPEN_CONNECT, FASTOPEN_KEY, FASTOPEN_NO_COOKIE = 23, 30, 33, 34
COOKIE_UNAVAILABLE, DATA_NOT_ACKED, SYN_RETRANSMITTED = 1, 2, 3
SYN_DATA = 32
PORT = {"next": 20000}


class Info:
    """What TCP_INFO says about Fast Open."""

    def __init__(self, sock):
        info = sock.getsockopt(TCP, TCP_INFO, 104)
        self.data_acked = bool(info[5] & SYN_DATA)
        self.why = info[7] >> 1 & 3
        self.state = info[0]


def sysctl(ns, name, value):
    ns.run("sysctl", "-qw", f"net.ipv4.{name}={value}")


def counter(ns, name):
    rows = json.loads(netpair.ctl(ns, "-j", "show", "counters", "all"))
    return [row["value"] for row in rows if row["name"] == name][0]


class Server:
    """A listener with Fast Open in B: native on fd00::b, or net6 on fd01::c."""

    def __init__(self, make=netpair.native, addr=netpair.NATIVE_B, queue=16):
        PORT["next"] += 1
        self.sock = make(socket.SOCK_STREAM, ns=netpair.B)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if queue:
            self.sock.setsockopt(TCP, TCP_FASTOPEN, queue)
        self.sock.bind((addr, PORT["next"]))
        self.sock.listen(64)
        self.name = (addr, PORT["next"])

    def accept(self):
        sock = self.sock.accept()[0]
        sock.settimeout(10 * ktap.SCALE)
        return sock

    def read(self, n):
        """Accepts, reads n bytes, answers and closes; returns what was read."""
        sock = self.accept()
        data = ktap.take(sock, n)
        sock.sendall(b"answer")
        sock.close()
        return data


def fresh():
    """New cookies on every native and net6 server; clients find theirs wrong."""
    sysctl(netpair.B, "tcp_fastopen_key", "-".join(os.urandom(4).hex() for _ in range(4)))


def send(server, data, make=netpair.net6):
    """sendto() that connects and waits for the handshake; the socket."""
    sock = make(socket.SOCK_STREAM)
    sock.settimeout(None)
    ktap.equal(sock.sendto(data, socket.MSG_FASTOPEN, server.name), len(data), "bytes taken")
    sock.settimeout(10 * ktap.SCALE)
    return sock


def cookie(server, make=netpair.net6):
    """See that the client has the server's cookie."""
    sock = send(server, b"first", make)
    ktap.equal(server.read(5), b"first", "data of the first connection")
    ktap.equal(ktap.take(sock, 6), b"answer", "answer")
    sock.close()


def exchange(server, data, make=netpair.net6):
    """One connection with data in the SYN; what TCP_INFO says about it."""
    sock = send(server, data, make)
    ktap.equal(server.read(len(data)), data, "data")
    ktap.equal(ktap.take(sock, 6), b"answer", "answer")
    info = Info(sock)
    sock.close()
    return info


@ktap.test("client: the first connection brings the cookie, the next uses it")
def client_cookie():
    server = Server()
    fresh()
    before = counter(netpair.A, "TcpFastOpenActive")
    info = exchange(server, b"question")
    ktap.equal((info.data_acked, info.why), (False, COOKIE_UNAVAILABLE), "without a cookie")
    for _ in range(3):
        info = exchange(server, b"question")
        ktap.equal((info.data_acked, info.why), (True, 0), "with one")
    ktap.equal(counter(netpair.A, "TcpFastOpenActive"), before + 3, "counted")


@ktap.test("client: data longer than a segment")
def client_long():
    server = Server()
    cookie(server)
    for n in (1300, 1441, 5000, 300000):
        data = os.urandom(n)
        sock = netpair.net6(socket.SOCK_STREAM)
        sock.setblocking(False)
        sent = sock.sendto(data, socket.MSG_FASTOPEN, server.name)
        ktap.true(0 < sent <= 1440, f"{sent} bytes go with the SYN")
        sock.settimeout(10 * ktap.SCALE)
        other = server.accept()
        got = ktap.take(other, sent)
        sock.sendall(data[sent:] if n < 100000 else data[sent:100000])
        got += ktap.take(other, (n if n < 100000 else 100000) - sent)
        ktap.equal(got, data[:len(got)], f"{n} bytes")
        ktap.true(Info(sock).data_acked, "the SYN's data were taken")
        sock.close()
        other.close()
    info = exchange(server, os.urandom(9000))
    ktap.true(info.data_acked, "in one blocking call")


@ktap.test("client: without blocking")
def client_nonblocking():
    server = Server()
    fresh()
    cookie(server)
    fresh()
    sock = netpair.net6(socket.SOCK_STREAM)
    sock.setblocking(False)
    ktap.equal(sock.sendto(b"12345", socket.MSG_FASTOPEN, server.name), 5, "cookie, if a wrong one")
    poll = select.poll()
    poll.register(sock, select.POLLOUT)
    ktap.true(poll.poll(10000 * ktap.SCALE), "it is connected")
    ktap.equal(server.read(5), b"12345", "data")
    info = Info(sock)
    ktap.equal((info.data_acked, info.why), (False, DATA_NOT_ACKED), "wrong cookie")
    sock.close()
    ktap.true(exchange(server, b"again").data_acked, "the new cookie is right")


@ktap.test("client: a server without Fast Open gets no data in its SYN")
def client_without():
    for make, addr in ((netpair.native, netpair.NATIVE_B), (netpair.net6, netpair.NET6_B1)):
        server = Server(make=make, addr=addr, queue=0)
        for _ in range(2):
            sock = netpair.net6(socket.SOCK_STREAM)
            sock.setblocking(False)
            # The native one's address has a cookie if another test got one.
            try:
                sent = sock.sendto(b"data", socket.MSG_FASTOPEN, server.name)
            except BlockingIOError as error:
                ktap.equal(error.errno, errno.EINPROGRESS, "errno without a cookie")
                sent = 0
            peer = server.accept()
            poll = select.poll()
            poll.register(sock, select.POLLOUT)
            ktap.true(poll.poll(10000 * ktap.SCALE), "it is connected")
            ktap.equal(sock.send(b"data"[sent:] + b"more"), 8 - sent, "send")
            ktap.equal(ktap.take(peer, 8), b"datamore", "data")
            ktap.equal(Info(sock).data_acked, False, "not with the SYN")
            sock.close()
            peer.close()


@ktap.test("client: TCP_FASTOPEN_CONNECT")
def client_connect():
    server = Server()
    fresh()
    cookie(server)
    sock = netpair.net6(socket.SOCK_STREAM)
    sock.setsockopt(TCP, FASTOPEN_CONNECT, 1)
    ktap.equal(sock.getsockopt(TCP, FASTOPEN_CONNECT), 1, "option")
    sock.setblocking(False)
    sock.connect(server.name)
    ktap.equal(Info(sock).state, 2, "SYN-SENT")
    poll = select.poll()
    poll.register(sock, select.POLLOUT | select.POLLIN)
    ktap.equal(poll.poll(0), [(sock.fileno(), select.POLLOUT)], "writable at once")
    ktap.raises(errno.EISCONN, sock.connect, server.name)
    ktap.equal(sock.send(b"question"), 8, "the first data")
    ktap.equal(server.read(8), b"question", "data")
    sock.settimeout(10 * ktap.SCALE)
    ktap.equal(ktap.take(sock, 6), b"answer", "answer")
    ktap.true(Info(sock).data_acked, "with the SYN")
    sock.close()
    # Closed before any data: nobody hears of it.
    sock = netpair.net6(socket.SOCK_STREAM)
    sock.setsockopt(TCP, FASTOPEN_CONNECT, 1)
    sock.connect(server.name)
    sock.close()
    server.sock.setblocking(False)
    ktap.raises(errno.EAGAIN, server.sock.accept)
    server.sock.settimeout(10 * ktap.SCALE)
    # What sendfile() sends is not copied: the SYN goes alone.
    sock = netpair.net6(socket.SOCK_STREAM)
    sock.settimeout(None)
    sock.setsockopt(TCP, FASTOPEN_CONNECT, 1)
    sock.connect(server.name)
    with open(__file__, "rb") as script:
        want = script.read(500)
        ktap.equal(os.sendfile(sock.fileno(), script.fileno(), 0, 500), 500, "sendfile")
    ktap.equal(server.read(500), want, "file")
    sock.close()


@ktap.test("client: TCP_FASTOPEN_CONNECT without a cookie gets one")
def client_connect_first():
    # Another address of the server's has no cookie yet.
    netpair.B.ip("addr", "add", "fd00::b1/64", "dev", "b0", "nodad")
    server = Server(addr="fd00::b1")
    sock = netpair.net6(socket.SOCK_STREAM)
    sock.setsockopt(TCP, FASTOPEN_CONNECT, 1)
    sock.settimeout(None)
    sock.connect(server.name)
    ktap.equal(Info(sock).state, 1, "connected")
    other = server.accept()
    for each in (sock, other):
        each.close()
    ktap.true(exchange(server, b"question").data_acked, "afterwards it has one")
    netpair.B.ip("addr", "del", "fd00::b1/64", "dev", "b0")


@ktap.test("client: switched off, and errors")
def client_errors():
    server = Server()
    sock = netpair.net6(socket.SOCK_STREAM)
    sock.settimeout(None)
    sysctl(netpair.A, "tcp_fastopen", 2)
    try:
        ktap.raises(errno.EOPNOTSUPP, sock.sendto, b"x", socket.MSG_FASTOPEN, server.name)
        ktap.raises(errno.EOPNOTSUPP, sock.setsockopt, TCP, FASTOPEN_CONNECT, 1)
    finally:
        sysctl(netpair.A, "tcp_fastopen", 3)
    ktap.raises(errno.EINVAL, sock.setsockopt, TCP, FASTOPEN_CONNECT, 2)
    ktap.raises(errno.EINVAL, sock.setsockopt, TCP, FASTOPEN_NO_COOKIE, 2)
    sock.connect(server.name)
    ktap.raises(errno.EINVAL, sock.setsockopt, TCP, FASTOPEN_CONNECT, 1)
    ktap.raises(errno.EINVAL, sock.setsockopt, TCP, FASTOPEN_NO_COOKIE, 1)
    ktap.raises(errno.EISCONN, sock.sendto, b"x", socket.MSG_FASTOPEN, server.name)
    sock.close()
    server.accept().close()
    server.sock.close()
    sock = netpair.net6(socket.SOCK_STREAM)
    sock.settimeout(None)
    for _ in range(2):
        ktap.raises(errno.ECONNREFUSED, sock.sendto, b"x", socket.MSG_FASTOPEN, server.name)
    sock.close()
    # The same without waiting: the data were taken, the reset comes afterwards.
    cookie(Server())
    sock = netpair.net6(socket.SOCK_STREAM)
    sock.setblocking(False)
    ktap.equal(sock.sendto(b"x", socket.MSG_FASTOPEN, server.name), 1, "taken")
    poll = select.poll()
    poll.register(sock, select.POLLERR)
    ktap.true(poll.poll(10000 * ktap.SCALE), "an error comes")
    ktap.raises(errno.ECONNREFUSED, sock.recv, 1)
    # And the socket is as good as new, once connect() has told of the failure, too.
    server = Server()
    ktap.raises(errno.ECONNABORTED, sock.connect, server.name)
    sock.setsockopt(TCP, FASTOPEN_CONNECT, 1)
    sock.settimeout(None)
    sock.connect(server.name)
    ktap.equal(sock.send(b"question"), 8, "next try")
    ktap.equal(server.read(8), b"question", "data")
    sock.close()
    sock = netpair.net6(socket.SOCK_STREAM)
    ktap.raises(errno.EINVAL, sock.sendmsg, [b"x"], [], socket.MSG_FASTOPEN)
    ktap.raises(errno.EOPNOTSUPP, sock.sendto, b"x", socket.MSG_FASTOPEN,
                ("::ffff:127.0.0.1", 9))
    sock.close()


@ktap.test("client: no cookie wanted")
def client_no_cookie():
    server = Server()
    fresh()
    sysctl(netpair.B, "tcp_fastopen", 0x203)
    try:
        sock = netpair.net6(socket.SOCK_STREAM)
        sock.setsockopt(TCP, FASTOPEN_NO_COOKIE, 1)
        ktap.equal(sock.sendto(b"question", socket.MSG_FASTOPEN, server.name), 8, "bytes taken")
        ktap.equal(server.read(8), b"question", "data")
        ktap.equal(ktap.take(sock, 6), b"answer", "answer")
        ktap.true(Info(sock).data_acked, "with the SYN")
        sock.close()
    finally:
        sysctl(netpair.B, "tcp_fastopen", 3)


@ktap.test("client: SYNs with data are lost on the way: the plain one, then no more of them")
def client_blackhole():
    netpair.B.ip("addr", "add", "fd00::b2/64", "dev", "b0", "nodad")
    server = Server(addr="fd00::b2")
    cookie(server)
    ktap.true(exchange(server, b"question").data_acked, "it works")
    before = counter(netpair.A, "TcpFastOpenBlackhole")
    netpair.B.run("nft", "add table ip6 hole")
    netpair.B.run("nft", "add chain ip6 hole input { type filter hook input priority 0; }")
    netpair.B.run("nft", "add rule ip6 hole input tcp flags & (syn|ack) == syn "
                  "ip6 length > 48 counter drop")
    info = exchange(server, b"question")
    ktap.equal((info.data_acked, info.why), (False, SYN_RETRANSMITTED), "the SYN again")
    ktap.equal(counter(netpair.A, "TcpFastOpenBlackhole"), before + 1, "noted")
    netpair.B.run("nft", "delete table ip6 hole")
    info = exchange(server, b"question")
    ktap.equal(info.data_acked, False, "an ordinary SYN")
    ktap.equal(counter(netpair.A, "TcpFastOpenBlackhole"), before + 1, "no loss")
    netpair.B.ip("addr", "del", "fd00::b2/64", "dev", "b0")


# ---- listeners of net6; clients are net6 and native ----

CLIENTS = {"net6": netpair.net6, "native": netpair.native}


def listener(queue=16):
    return Server(netpair.net6, netpair.NET6_B1, queue)


@ktap.test("server: the first connection brings the cookie, the next are open with their SYN")
def server_cookie():
    for name, make in CLIENTS.items():
        server = listener()
        fresh()
        # It may have one of another test's, which is wrong now.
        ktap.equal(exchange(server, b"question", make).data_acked, False, f"{name}, without")
        before = counter(netpair.B, "TcpFastOpenPassive")
        for n in (1, 8, 1000, 30000):
            data = os.urandom(n)
            sock = send(server, data, make)
            other = server.accept()
            ktap.equal(ktap.take(other, n), data, f"{n} bytes")
            ktap.true(Info(other).data_acked, f"{name}: the listener took them with the SYN")
            ktap.true(Info(sock).data_acked, f"{name}: which the client knows")
            other.sendall(data[::-1])
            other.close()
            ktap.equal(ktap.take(sock, n), data[::-1], "answer")
            ktap.equal(sock.recv(1), b"", "end")
            sock.close()
        ktap.equal(counter(netpair.B, "TcpFastOpenPassive"), before + 4, "counted")


@ktap.test("server: a cookie of the native stack is good for net6 and the other way")
def server_same_cookie():
    # An address of B is one stack's, then the other's; the namespace has one key.
    def native():
        netpair.B.ip("addr", "add", "fd01::b/64", "dev", "b1", "nodad")
        return Server(addr="fd01::b")

    def net6():
        netpair.B.ip("addr", "del", "fd01::b/64", "dev", "b1")
        netpair.ctl(netpair.B, "add", "address", "fd01::b/64", "dev", "b1")
        ktap.wait_for(15, "fd01::b is preferred",
                      lambda: netpair.preferred(netpair.B, "b1", "fd01::b"))
        return Server(netpair.net6, "fd01::b")
    fresh()
    cookie(native())
    server = net6()
    ktap.true(exchange(server, b"question").data_acked, "native, then net6")
    fresh()
    cookie(server)
    netpair.ctl(netpair.B, "del", "address", "fd01::b/64", "dev", "b1")
    ktap.true(exchange(native(), b"question").data_acked, "net6, then native")
    netpair.B.ip("addr", "del", "fd01::b/64", "dev", "b1")


@ktap.test("server: keys of a listener, and their rotation")
def server_keys():
    server = listener()
    sock = server.sock
    one, two = os.urandom(16), os.urandom(16)
    ktap.equal(sock.getsockopt(TCP, FASTOPEN_KEY, 32), b"", "none of its own")
    for bad in (b"", bytes(8), bytes(15), bytes(17), bytes(31), bytes(33)):
        ktap.raises(errno.EINVAL, sock.setsockopt, TCP, FASTOPEN_KEY, bad)
    sock.setsockopt(TCP, FASTOPEN_KEY, one)
    ktap.equal(sock.getsockopt(TCP, FASTOPEN_KEY, 32), one, "one")
    cookie(server)
    fresh()
    ktap.true(exchange(server, b"question").data_acked, "the namespace's are not asked")
    sock.setsockopt(TCP, FASTOPEN_KEY, two + one)
    ktap.equal(sock.getsockopt(TCP, FASTOPEN_KEY, 32), two + one, "two")
    ktap.equal(sock.getsockopt(TCP, FASTOPEN_KEY, 16), two, "as much as there is room")
    before = counter(netpair.B, "TcpFastOpenPassiveAltKey")
    for _ in range(2):
        ktap.true(exchange(server, b"question").data_acked, "the older one, then a fresh one")
    ktap.equal(counter(netpair.B, "TcpFastOpenPassiveAltKey"), before + 1, "the first time")
    sock.setsockopt(TCP, FASTOPEN_KEY, two)
    ktap.true(exchange(server, b"question").data_acked, "the older one is not needed")
    failed = counter(netpair.B, "TcpFastOpenPassiveFail")
    sock.setsockopt(TCP, FASTOPEN_KEY, one)
    ktap.equal(exchange(server, b"question").data_acked, False, "and now is wrong")
    ktap.equal(counter(netpair.B, "TcpFastOpenPassiveFail"), failed + 1, "counted")


@ktap.test("server: the option TCP_FASTOPEN")
def server_option():
    for make in (netpair.net6, netpair.native):
        sock = make(socket.SOCK_STREAM, ns=netpair.B)
        ktap.equal(sock.getsockopt(TCP, TCP_FASTOPEN), 0, "at first")
        sock.setsockopt(TCP, TCP_FASTOPEN, 7)
        ktap.equal(sock.getsockopt(TCP, TCP_FASTOPEN), 7, "set")
        sock.setsockopt(TCP, TCP_FASTOPEN, 1 << 20)
        with netpair.B, open("/proc/sys/net/core/somaxconn", encoding="ascii") as file:
            ktap.equal(sock.getsockopt(TCP, TCP_FASTOPEN), int(file.read()), "somaxconn at most")
        ktap.raises(errno.EINVAL, sock.setsockopt, TCP, TCP_FASTOPEN, -1)
        sock.close()
    server = listener()
    sock = send(server, b"data")
    other = server.accept()
    for each in (sock, other):
        ktap.raises(errno.EINVAL, each.setsockopt, TCP, TCP_FASTOPEN, 1)
        each.close()


@ktap.test("server: many at once, more than the option allows")
def server_many():
    server = listener(queue=4)
    fresh()
    cookie(server)
    before = [counter(netpair.B, "TcpFastOpen" + name) for name in ("Passive", "ListenOverflow")]
    socks = []
    for at in range(40):
        sock = netpair.net6(socket.SOCK_STREAM)
        sock.setblocking(False)
        ktap.equal(sock.sendto(b"%4d" % at, socket.MSG_FASTOPEN, server.name), 4, "bytes taken")
        socks.append(sock)
    seen = set()
    for _ in socks:
        other = server.accept()
        seen.add(int(ktap.take(other, 4)))
        other.close()
    ktap.equal(seen, set(range(40)), "the data of each")
    after = [counter(netpair.B, "TcpFastOpen" + name) for name in ("Passive", "ListenOverflow")]
    ktap.equal(sum(after) - sum(before), 40, f"each by its SYN or in the ordinary way: {after}")
    for sock in socks:
        sock.close()


class Deaf:
    """A namespace with a net6 listener whose answers get lost, for a native client in A."""

    def __init__(self, name):
        self.ns = ktap.Netns(name)
        ktap.veth(netpair.A, "d0", self.ns, "d1")
        netpair.A.ip("addr", "add", "fd02::a/64", "dev", "d0", "nodad")
        netpair.ctl(netpair.A, "detach", "dev", "d0")
        netpair.ctl(self.ns, "add", "address", "fd02::d/64", "dev", "d1")
        ktap.wait_for(15, "fd02::d is preferred",
                      lambda: netpair.preferred(self.ns, "d1", "fd02::d"))
        sysctl(self.ns, "tcp_fastopen", 0x203)
        self.sock = netpair.net6(socket.SOCK_STREAM, ns=self.ns)
        self.sock.setsockopt(TCP, TCP_FASTOPEN, 8)
        self.sock.bind(("fd02::d", 9))
        self.sock.listen(8)
        netpair.A.run("nft", "add table ip6 deaf")
        netpair.A.run("nft", "add chain ip6 deaf input { type filter hook input priority 0; }")
        netpair.A.run("nft", "add rule ip6 deaf input ip6 saddr fd02::d tcp flags syn,ack drop")

    def client(self):
        """Sends a SYN with data that is answered in vain."""
        sock = netpair.native(socket.SOCK_STREAM)
        sock.setblocking(False)
        sock.setsockopt(TCP, FASTOPEN_NO_COOKIE, 1)
        ktap.equal(sock.sendto(b"question", socket.MSG_FASTOPEN, ("fd02::d", 9)), 8, "taken")
        return sock

    def close(self):
        """The namespace goes away with what is in it: its cable tells."""
        netpair.A.run("nft", "delete table ip6 deaf")
        self.ns.delete()
        ktap.wait_for(60, "the namespace is gone", lambda: " d0@" not in netpair.A.ip("link"))


@ktap.test("server: its namespace goes away with children whose handshake is not done")
def server_netns():
    deaf = Deaf("D")
    clients = [deaf.client() for _ in range(3)]
    # One is closed by its process, one kept to the last, one never accepted.
    first = deaf.sock.accept()[0]
    ktap.equal(ktap.take(first, 8), b"question", "data")
    ktap.equal(Info(first).state, 3, "SYN-RECEIVED")
    first.sendall(b"answer")
    first.close()
    second = deaf.sock.accept()[0]
    deaf.sock.close()
    ktap.equal(ktap.take(second, 8), b"question", "data of one whose listener is closed")
    second.close()
    deaf.close()
    for client in clients:
        client.close()


@ktap.test("client: its namespace goes away with a connection that waits for data")
def client_netns():
    deaf = Deaf("E")
    sock = netpair.net6(socket.SOCK_STREAM, ns=deaf.ns)
    sock.setsockopt(TCP, FASTOPEN_CONNECT, 1)
    sock.setsockopt(TCP, FASTOPEN_NO_COOKIE, 1)
    sock.connect(("fd02::a", 9))
    ktap.equal(Info(sock).state, 2, "SYN-SENT")
    deaf.sock.close()
    # Its socket is the last that holds the namespace.
    deaf.ns.delete()
    sock.close()
    deaf.close()


def setup():
    netpair.setup()
    netpair.A.ip("addr", "add", "fd01::a/64", "dev", "a1", "nodad")
    for ns in (netpair.A, netpair.B):
        sysctl(ns, "tcp_fastopen", 3)


ktap.main(setup=setup)
