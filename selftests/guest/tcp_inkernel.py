#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Connections that belong to a module (include/net6/tcp.h), with the example module of
# selftests/modules. They are answered in softirq, handed to a program, closed in all
# ways, and taken away together with the module's file, the listener and the namespace.
#
#   [ A: client ] a0 ------ b0 [ B: program with listeners, module in front ]
#
# guest: both
# timeout: 200
# guest-options: --kmemleak
import fcntl
import json
import os
import select
import socket
import struct
import sys
import termios
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
US = "2001:db8:6::b"
PATIENCE = 10 * ktap.SCALE
SO_SNDBUFFORCE = 32
NS = {}


def ctl(name, *words):
    return NS[name].run(f"{TOP}/tools/net6ctl", *words)


def states(name, port):
    """States of the connections of a port, without TIME-WAIT."""
    return sorted(s["state"] for s in json.loads(ctl(name, "-j", "show", "sockets", "tcp"))
                  if port in (s["local_port"], s.get("remote_port"))
                  and s["state"] not in ("time-wait", "listen"))


def page(n):
    """What the example answers to "page N"."""
    one = bytes(ord("a") + i % 26 for i in range(4096))
    return f"{n} ".encode() + (one * (n // 4096 + 1))[:n]


def listener(backlog=50):
    sock = ktap.net6_socket(ns=NS["B"])
    sock.settimeout(PATIENCE)
    sock.bind((US, 0))
    sock.listen(backlog)
    return sock, sock.getsockname()[1]


def unacked(sock):
    return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0]


class Module:
    """The module in front of a listener."""

    def __init__(self, sock, other=None):
        self.file = os.open("/dev/net6_example", os.O_WRONLY)
        if other:
            os.write(self.file, f"other {other.fileno()}".encode())
        os.write(self.file, f"attach {sock.fileno()}".encode())

    def close(self):
        os.close(self.file)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def client(port):
    sock = ktap.net6_socket(ns=NS["A"])
    sock.settimeout(PATIENCE)
    sock.connect((US, port))
    return sock


def ask(sock, line, answer):
    sock.sendall(line + b"\n")
    ktap.equal(ktap.take(sock, len(answer)), answer, line)


def setup():
    ktap.net6_load()
    ktap.run("insmod", f"{ktap.BUILD}/selftests/modules/net6_tcp_example.ko")
    ktap.at_exit(ktap.unload, "net6_tcp_example")
    for name in "AB":
        NS[name] = ktap.Netns(name)
    ktap.veth(NS["A"], "a0", NS["B"], "b0")
    for name, dev in (("A", "a0"), ("B", "b0")):
        ktap.wait_for(20, "net6 on it", lambda name=name, dev=dev: dev in ctl(name, "show",
                                                                          "addresses"))
        ctl(name, "set", "dev", dev, "dad-transmits", "0")
        ctl(name, "add", "address", f"2001:db8:6::{name.lower()}/64", "dev", dev)
        ctl(name, "add", "prefix", "2001:db8:6::/64", "dev", dev)


@ktap.test
def lines_are_answered_without_a_process():
    sock, port = listener()
    with Module(sock):
        conn = client(port)
        for _ in range(5):
            ask(conn, b"hello", b"5 hello\n")
        conn.sendall(b"hel")
        conn.sendall(b"lo\nhello\n")
        ktap.equal(ktap.take(conn, 16), b"5 hello\n" * 2, "split and joined lines")
        ktap.true(not select.select([sock], [], [], 0)[0], "nothing for the program")
        ask(conn, b"page 10", page(10))
        ask(conn, b"page 0", page(0))
        ask(conn, b"page 4096", page(4096))
        ask(conn, b"bye", b"5 hello\n")
        ktap.equal(conn.recv(1), b"", "FIN")
        conn.close()
        ktap.wait_for(5, "it is gone", lambda: not states("B", port))
    sock.close()


@ktap.test
def more_than_the_send_buffer_comes_when_there_is_room():
    sock, port = listener()
    with Module(sock):
        conns = [client(port) for _ in range(4)]
        for conn in conns:
            conn.sendall(b"page 3000000\nhello\n")
        want = page(3000000) + b"5 hello\n"
        for conn in conns:
            ktap.true(ktap.take(conn, len(want)) == want, "the pages, then the next answer")
            conn.close()
        ktap.wait_for(5, "all are gone", lambda: not states("B", port))
    sock.close()


@ktap.test
def the_last_segment_of_the_handshake_may_carry_the_line():
    sock, port = listener()
    sock.setsockopt(socket.IPPROTO_TCP, 9, 5)
    with Module(sock):
        conn = ktap.net6_socket(ns=NS["A"])
        conn.settimeout(PATIENCE)
        conn.connect((US, port))
        ask(conn, b"hello", b"5 hello\n")
        conn.close()
    sock.close()


@ktap.test
def what_it_does_not_know_goes_to_the_program():
    sock, port = listener()
    other, _ = listener()
    with Module(sock, other):
        conn = client(port)
        ask(conn, b"hello", b"5 hello\n")
        conn.sendall(b"what is this?\nand more")
        server, peer = sock.accept()
        server.settimeout(PATIENCE)
        ktap.equal(peer[:2], conn.getsockname()[:2], "the peer")
        ktap.equal(server.getsockname()[1], port, "the port")
        ktap.equal(ktap.take(server, 22), b"what is this?\nand more", "untouched bytes")
        server.sendall(b"I see")
        ktap.equal(ktap.take(conn, 5), b"I see", "answer")
        conn.sendall(b"hello\n")
        ktap.equal(ktap.take(server, 6), b"hello\n", "it stays with the program")
        conn.close()
        ktap.equal(server.recv(1), b"", "end")
        server.close()
        conn = client(port)
        conn.sendall(b"other\n")
        server = other.accept()[0]
        server.settimeout(PATIENCE)
        ktap.equal(ktap.take(server, 6), b"other\n", "to the other listener")
        server.close()
        conn.close()
    conn = client(port)
    server = sock.accept()[0]
    conn.sendall(b"hello\n")
    server.settimeout(PATIENCE)
    ktap.equal(ktap.take(server, 6), b"hello\n", "detached: all goes to the program")
    for each in (conn, server, sock, other):
        each.close()


@ktap.test
def a_full_accept_queue_refuses():
    sock, port = listener(0)
    with Module(sock):
        conns = [client(port) for _ in range(4)]
        # The ACK of the last handshake does not wait for the line.
        ktap.true(not select.select(conns, [], [], 0)[0], "nothing to read")
        for conn in conns:
            conn.sendall(b"?\n")
        ends = []
        for conn in conns:
            try:
                conn.settimeout(ktap.SCALE)
                ends.append(conn.recv(1))
            except ConnectionResetError:
                ends.append("reset")
            except socket.timeout:
                ends.append("waits")
        ktap.equal(sorted(ends), ["reset"] * 3 + ["waits"], "one place")
        for conn in conns:
            conn.close()
    sock.close()


@ktap.test
def a_process_gives_a_connection_to_the_module():
    """net6_tcp_take(): only one at which nothing waits for whoever reads it."""
    sock, port = listener()
    file = os.open("/dev/net6_example", os.O_WRONLY)
    take = f"take {sock.fileno()}".encode()
    conn = client(port)
    os.write(file, take)
    ask(conn, b"hello", b"5 hello\n")
    ask(conn, b"page 100000", page(100000))
    conn.sendall(b"bye\n")
    ktap.equal(ktap.take(conn, 8), b"5 hello\n", "last answer")
    ktap.equal(conn.recv(1), b"", "FIN")
    conn.close()
    for end in (lambda conn: conn.sendall(b"hello\n"),
                lambda conn: conn.send(b"!", socket.MSG_OOB),
                lambda conn: conn.shutdown(socket.SHUT_WR)):
        conn = client(port)
        end(conn)
        ktap.wait_for(5, "it has come", lambda conn=conn: not unacked(conn))
        ktap.raises(11, os.write, file, take)
        # The module closes what it cannot have: with bytes unread that is a reset.
        try:
            ktap.equal(conn.recv(1), b"", "its end")
        except ConnectionResetError:
            pass
        conn.close()
    conns = [client(port) for _ in range(5)]
    for _ in conns:
        os.write(file, take)
    for conn in conns[:3]:
        ask(conn, b"hello", b"5 hello\n")
    # With it go those that it has.
    os.close(file)
    for conn in conns:
        ktap.raises(104, conn.recv, 1)
        conn.close()
    ktap.wait_for(5, "all are gone", lambda: not states("B", port))
    sock.close()


@ktap.test
def ends_of_all_kinds():
    sock, port = listener()
    with Module(sock):
        conn = client(port)
        conn.sendall(b"drop\n")
        ktap.raises(104, conn.recv, 1)
        conn.close()
        conn = client(port)
        conn.sendall(b"half a li")
        conn.shutdown(socket.SHUT_WR)
        ktap.raises(104, conn.recv, 1)
        conn.close()
        conn = client(port)
        conn.sendall(b"hello\n")
        conn.shutdown(socket.SHUT_WR)
        ktap.equal(ktap.take(conn, 9), b"5 hello\n", "answer, then the end")
        conn.close()
        for reset in (False, True):
            conn = client(port)
            ask(conn, b"hello", b"5 hello\n")
            if reset:
                conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            conn.close()
        conn = client(port)
        conn.sendall(b"x" * 300)
        ktap.raises(104, conn.recv, 1)
        conn.close()
        ktap.wait_for(5, "all are gone", lambda: not states("B", port))
    sock.close()


@ktap.test
def wrong_descriptors_are_refused():
    file = os.open("/dev/net6_example", os.O_WRONLY)
    plain = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    dgram = ktap.net6_socket(socket.SOCK_DGRAM)
    ktap.raises(22, os.write, file, f"attach {plain.fileno()}".encode())
    ktap.raises(22, os.write, file, f"attach {dgram.fileno()}".encode())
    ktap.raises(88, os.write, file, f"attach {file}".encode())
    ktap.raises(9, os.write, file, b"attach 9999")
    sock, port = listener()
    conn = client(port)
    ktap.raises(22, os.write, file, f"attach {conn.fileno()}".encode())
    os.write(file, f"attach {sock.fileno()}".encode())
    second = os.open("/dev/net6_example", os.O_WRONLY)
    ktap.raises(16, os.write, second, f"attach {sock.fileno()}".encode())
    for each in (plain, dgram, conn, sock):
        each.close()
    os.close(second)
    os.close(file)


@ktap.test
def the_file_goes_with_connections_alive():
    for _ in range(5):
        sock, port = listener()
        front = Module(sock)
        conns = [client(port) for _ in range(10)]
        stop = threading.Event()

        def talk(conn):
            try:
                while not stop.is_set():
                    ask(conn, b"page 20000", page(20000))
            except (OSError, ktap.Fail):
                pass
        threads = [threading.Thread(target=talk, args=(conn,)) for conn in conns]
        for thread in threads:
            thread.start()
        ask(client(port), b"hello", b"5 hello\n")
        front.close()
        stop.set()
        for thread in threads:
            thread.join()
        for conn in conns:
            conn.close()
        sock.close()


@ktap.test
def the_listener_goes_first():
    sock, port = listener()
    front = Module(sock)
    conn = client(port)
    ask(conn, b"hello", b"5 hello\n")
    sock.close()
    ask(conn, b"hello", b"5 hello\n")
    conn.sendall(b"for the program\n")
    ktap.raises(104, conn.recv, 1)
    conn.close()
    front.close()


@ktap.test
def a_listener_closes_while_it_is_given_a_connection():
    """The module's process owns the child that waits in the queue."""
    sock, port = listener()
    with Module(sock) as front:
        conn = client(port)
        ask(conn, b"hello", b"5 hello\n")
        hold = int(1000 * ktap.SCALE)
        giver = threading.Thread(target=os.write, args=(front.file, f"give {hold}".encode()))
        giver.start()
        ktap.true(select.select([sock], [], [], PATIENCE)[0], "it is in the queue")
        sock.close()
        ktap.raises(104, conn.recv, 1)
        giver.join()
        conn.close()
        ktap.wait_for(5, "it is gone", lambda: not states("B", port))


@ktap.test
def a_listener_that_became_a_connection_is_nobodys_when_it_is_closed():
    """The module is not called for it, though it is attached still."""
    sock, _ = listener()
    with Module(sock):
        target = ktap.net6_socket(ns=NS["A"])
        target.settimeout(PATIENCE)
        target.bind(("2001:db8:6::a", 0))
        target.listen()
        sock.shutdown(socket.SHUT_RDWR)
        sock.connect(target.getsockname())
        peer = target.accept()[0]
        peer.settimeout(PATIENCE)
        # A line for the module, had the connection been its own.
        peer.sendall(b"hello\n")
        ktap.equal(sock.recv(100), b"hello\n", "what the program reads")
        sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 20)
        sock.sendall(bytes(500_000))
        sock.close()
        # Acknowledgments come for what is before its FIN.
        got = 0
        while more := peer.recv(65536):
            got += len(more)
        ktap.equal(got, 500_000, "bytes")
        peer.close()
        target.close()


@ktap.test
def many_connections_at_once():
    sock, port = listener(200)
    with Module(sock):
        conns = [client(port) for _ in range(200)]
        for conn in conns:
            conn.sendall(b"page 1000\n")
        ktap.true(all(ktap.take(conn, 1005) == page(1000) for conn in conns), "all are answered")
        ktap.equal(len(states("B", port)), 200, "connections")
        for conn in conns:
            conn.close()
        ktap.wait_for(10, "all are gone", lambda: not states("B", port))
    sock.close()


ktap.main(setup)
