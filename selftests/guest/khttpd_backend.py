#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Listeners of khttpd's own with a server behind them: files from the kernel, everything
# else byte for byte out of the server's accept(), by family and network namespace.
# Servers that come, go and die.
#
#	[ clients, khttpd and server on lo ]
#	[ client ] c0 ------ s0 [ server: khttpd, and this process's server ]
#
# guest: stock
# timeout: 120
# pylint: disable=missing-function-docstring
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
BACK = 8081
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
DATA = os.urandom(300_001)
PLACES = [khttpd.V4, khttpd.V6]


def setup():
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("big", DATA)
    khttpd.write("rules/x", b"x")


class Server(khttpd.Server):
    """Listens for @place; khttpd has a listener of its own and this one."""

    def __init__(self, place, serve=True):
        if serve:
            start(place)
        super().__init__(place, BACK, docroot=None)


def start(*places):
    khttpd.serve(places[0], *(word for place in places[1:]
                              for word in ("--listen", place.listen)))


@ktap.test
def files_are_the_kernels_the_rest_the_servers():
    for place in PLACES:
        with Server(place) as server:
            for before in (b"", GET("/a.txt"), GET("/a.txt") * 3 + GET("/big")):
                for rest in (b"", b"rest", GET("/a.txt")):
                    with place.connect() as sock:
                        sock.sendall(before + GET("/dyn?x") + rest)
                        reader = khttpd.Reader(sock)
                        for n in range(before.count(b"\r\n\r\n")):
                            ktap.equal(reader.reply().body,
                                       DATA if n == 3 else b"hello\n", "file")
                        conn = server.accept()
                        wanted = GET("/dyn?x") + rest
                        ktap.equal(ktap.take(conn, len(wanted)), wanted,
                                   f"{place.name}: byte for byte")
                        ktap.equal((conn.getsockname()[1], conn.getpeername()[:2]),
                                   (8080, sock.getsockname()[:2]), "addresses")
                        conn.sendall(OK)
                        ktap.equal(reader.reply().body, b"ok", "server's answer")
                        conn.close()
            for request in (GET("/a.txt", "Content-Length: 1\r\n", "POST") + b"x",
                            GET("/a.txt", method="OPTIONS"),
                            GET("/a.txt", "Connection: Upgrade\r\nUpgrade: websocket\r\n")):
                with place.connect() as sock:
                    sock.sendall(request)
                    conn = server.accept()
                    ktap.equal(ktap.take(conn, len(request)), request, "another method")
                    conn.close()
            reply = khttpd.exchange(place, b"GET / HTTP/1.1\nHost: a\n\n")
            ktap.equal(reply.status, 400, "uncertain framing is not handed over")


@ktap.test
def its_own_port_works_as_before():
    with Server(khttpd.V4) as server:
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt"), BACK).body, b"hello\n",
                   "file")
        with khttpd.V4.connect(BACK) as sock:
            sock.sendall(GET("/dyn"))
            conn = server.accept()
            ktap.equal(ktap.take(conn, 8), b"GET /dyn", "request")
            conn.close()


@ktap.test
def another_family_has_no_server():
    start(khttpd.V4, khttpd.V6)
    with Server(khttpd.V4, serve=False):
        ktap.equal(khttpd.exchange(khttpd.V6, GET("/dyn")).status, 404, "IPv6")
        with khttpd.V6.connect() as sock:
            sock.sendall(GET("/a.txt", "Content-Length: 1\r\n") + b"x")
            ktap.equal(khttpd.Reader(sock).reply().status, 200, "body")


@ktap.test
def servers_come_and_go():
    start(khttpd.V4)
    early = khttpd.V4.connect()
    early.sendall(GET("/dyn"))
    readers = {early: khttpd.Reader(early)}
    ktap.equal(readers[early].reply().status, 404, "no server yet")
    with Server(khttpd.V4, serve=False) as server:
        late = khttpd.V4.connect()
        late.sendall(GET("/a.txt"))
        readers[late] = khttpd.Reader(late)
        ktap.equal(readers[late].reply().body, b"hello\n", "file")
        # A connection from before the server has bytes read already.
        early.sendall(GET("/dyn"))
        ktap.equal(readers[early].reply().status, 404, "from before")
        khttpd.ctl("detach")
        late.sendall(GET("/dyn"))
        ktap.equal(readers[late].reply().status, 503, "detached")
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/dyn")).status, 404,
                   "no server any more")
        server.attach()
        held = khttpd.V4.connect()
        held.sendall(GET("/dyn"))
        conn = server.accept()
        left = khttpd.V4.connect()
        handed = khttpd.count("handed_over")
        left.sendall(GET("/dyn"))
        ktap.wait_for(10, "it is in the queue",
                      lambda: khttpd.count("handed_over") > handed)
        server.sock.close()
        # Accepted is accepted.
        ktap.equal(ktap.take(conn, 8), b"GET /dyn", "request")
        conn.sendall(OK)
        ktap.equal(khttpd.Reader(held).reply().body, b"ok", "reply")
        conn.close()
        ktap.equal(khttpd.Reader(left).reply().status, 503, "server closed")
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"hello\n",
                   "files go on")
        for sock in (early, late, held, left):
            sock.close()


@ktap.test
def nginx_behind_listeners_of_both_families():
    start(khttpd.V4, khttpd.V6)
    server = khttpd.Nginx([f"127.0.0.1:{BACK}", f"[::1]:{BACK}"], workers=2)
    try:
        ktap.equal(khttpd.ctl("attach", "--pid", str(server.pid), "--port", str(BACK)),
                   "attached to 2 listeners\n", "attach")
        for place in (khttpd.V4, khttpd.V6):
            for _ in range(20):
                ktap.equal(khttpd.exchange(place, GET("/dyn?x")).body,
                           b"nginx GET /dyn?x\n", place.name)
                ktap.equal(khttpd.exchange(place, GET("/a.txt")).body, b"hello\n",
                           place.name)
        server.kill()
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"hello\n", "file")
        ktap.true(khttpd.exchange(khttpd.V4, GET("/dyn")).status in (404, 503),
                  "killed")
    finally:
        khttpd.ctl("stop")


@ktap.test
def stopped_with_connections_on_their_way():
    with Server(khttpd.V4) as server:
        socks = [khttpd.V4.connect() for _ in range(10)]
        for sock in socks:
            sock.sendall(GET("/dyn"))
        conn = server.accept()
        khttpd.ctl("stop")
        ktap.equal(ktap.take(conn, 8), b"GET /dyn", "what was accepted")
        conn.close()
        for sock in socks:
            sock.close()
    ktap.wait_for(10, "no connection is left",
                  lambda: khttpd.count("connections") == 0)


@ktap.test
def an_accepted_connection_holds_its_namespace():
    place = PLACES[2]
    with Server(place) as server:
        sock = place.connect()
        sock.sendall(GET("/dyn"))
        conn = server.accept()
        server.sock.close()
        khttpd.ctl("stop")
        place.server.delete()
        ktap.equal(ktap.take(conn, 8), b"GET /dyn", "request")
        conn.sendall(OK)
        ktap.equal(khttpd.Reader(sock).reply().body, b"ok", "reply")
        conn.close()
        sock.close()


ktap.main(setup)
