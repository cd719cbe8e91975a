#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# khttpd over net6: files, pipelining, many sizes and clients, hand-over to a
# server with a net6 listener, and both stacks on one site at once.
#
#	[ client ] c0 ------ s0 [ server: khttpd, and this process's server ]
#
# guest: both
# timeout: 240
# pylint: disable=missing-function-docstring
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

DATA = os.urandom(2_000_003)
GET = khttpd.get
PLACE = khttpd.net6_later()


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("big.bin", DATA)
    for size in (0, 1, 1024, 4096, 8192, 8193, 65536):
        khttpd.write(f"size{size}", DATA[:size])
    PLACE.server.ip("addr", "add", "192.0.2.1/24", "dev", "s0")
    PLACE.client.ip("addr", "add", "192.0.2.2/24", "dev", "c0")
    khttpd.serve(PLACE, "--listen", "192.0.2.1:8080")


@ktap.test
def files_of_all_sizes_arrive_whole():
    for size in (0, 1, 1024, 4096, 8192, 8193, 65536):
        reply = khttpd.exchange(PLACE, GET(f"/size{size}"))
        ktap.equal(reply.status, 200, f"status of {size}")
        ktap.true(reply.body == DATA[:size], f"{size} bytes are equal")
    for _ in range(3):
        ktap.true(khttpd.exchange(PLACE, GET("/big.bin")).body == DATA, "2 MB")


@ktap.test
def errors_and_keep_alive():
    with PLACE.connect() as sock:
        reader = khttpd.Reader(sock)
        for path, status in (("/a.txt", 200), ("/nope", 404), ("/a.txt", 200),
                             ("/../x", 400)):
            sock.sendall(GET(path))
            ktap.equal(reader.reply().status, status, path)
        reader.closed()


@ktap.test
def pipelined_requests_are_answered_in_order():
    names = ["a.txt", "size1", "big.bin", "size8193", "size1024"] * 10
    with PLACE.connect() as sock:
        sock.sendall(b"".join(GET("/" + name) for name in names))
        reader = khttpd.Reader(sock)
        wanted = {"a.txt": b"hello\n", "big.bin": DATA}
        for name in names:
            body = wanted.get(name) or DATA[:int(name[4:])]
            ktap.true(reader.reply().body == body, name)


@ktap.test
def native_ipv4_serves_the_same_beside_it():
    place = khttpd.Place("IPv4", socket.AF_INET, "192.0.2.1", "")
    with PLACE.client:
        ktap.true(khttpd.exchange(place, GET("/big.bin")).body == DATA, "body")
    ktap.true(khttpd.exchange(PLACE, GET("/big.bin")).body == DATA, "body")


@ktap.test
def fifty_connections_at_once():
    socks = [PLACE.connect() for _ in range(50)]
    for sock in socks:
        sock.sendall(GET("/size65536"))
    for sock in socks:
        ktap.true(khttpd.Reader(sock).reply().body == DATA[:65536], "body")
        sock.close()


@ktap.test
def a_server_on_net6_gets_what_is_no_file():
    server = ktap.net6_socket(ns=PLACE.server)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("::", 8091))
    server.listen(16)
    server.settimeout(khttpd.TIMEOUT)
    khttpd.ctl("attach", "--site", "att", "--pid", str(os.getpid()), "--port",
               "8091", "--docroot", khttpd.WWW)
    try:
        ktap.equal(khttpd.exchange(PLACE, GET("/a.txt"), 8091).body, b"hello\n",
                   "static")
        with PLACE.connect(8091) as sock:
            sock.sendall(GET("/big.bin") + GET("/dyn?x") + b"rest")
            reader = khttpd.Reader(sock)
            ktap.true(reader.reply().body == DATA, "static before dynamic")
            conn = server.accept()[0]
            conn.settimeout(khttpd.TIMEOUT)
            request = b""
            while len(request) < len(GET("/dyn?x")) + 4:
                request += conn.recv(1000)
            ktap.equal(request, GET("/dyn?x") + b"rest", "byte for byte")
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            ktap.equal(reader.reply().body, b"ok", "answer of the server")
            conn.close()
        ktap.equal(khttpd.ctl("detach", "--site", "att"),
                   "detached from 1 listener\n", "detach")
        with PLACE.connect(8091) as sock:
            sock.sendall(GET("/a.txt"))
            conn = server.accept()[0]
            ktap.equal(conn.recv(6), b"GET /a", "after detach")
            conn.close()
    finally:
        server.close()


@ktap.test
def a_listener_that_became_a_client_over_ipv4_is_given_back():
    """Then another sock stands behind the server's descriptor: the one khttpd is attached to
    is that of before.
    """
    with PLACE.server, socket.create_server(("127.0.0.1", 0)) as other:
        for end in ("detach", "close"):
            server = ktap.net6_socket(ns=PLACE.server)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("::", 8092))
            server.listen(16)
            server.settimeout(khttpd.TIMEOUT)
            khttpd.ctl("attach", "--site", "att", "--pid", str(os.getpid()), "--port",
                       "8092", "--docroot", khttpd.WWW)
            with PLACE.connect(8092) as sock:
                sock.sendall(GET("/a.txt"))
                ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "attached")
                server.shutdown(socket.SHUT_RDWR)
                server.connect(("::ffff:127.0.0.1", other.getsockname()[1]))
                with other.accept()[0] as conn:
                    conn.settimeout(khttpd.TIMEOUT)
                    server.sendall(b"over IPv4")
                    ktap.equal(ktap.take(conn, 9), b"over IPv4", f"data before {end}")
                    if end == "detach":
                        ktap.equal(khttpd.ctl("detach", "--site", "att"),
                                   "detached from 1 listener\n", end)
                        server.sendall(b"still")
                        ktap.equal(ktap.take(conn, 5), b"still", f"data after {end}")
                    server.close()
                    ktap.equal(conn.recv(1), b"", f"the end after {end}")


@ktap.test
def the_namespace_of_the_server_goes_away():
    socks = [PLACE.connect() for _ in range(10)]
    for sock in socks:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(GET("/big.bin"))
    ktap.wait_for(10, "10 connections", lambda: khttpd.count("connections") == 10)
    PLACE.server.delete()
    ktap.wait_for(20, "connections are gone",
                  lambda: khttpd.count("connections") == 0)
    for sock in socks:
        sock.close()


ktap.main(setup)
