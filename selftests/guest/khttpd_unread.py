#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Attached: heads longer than khttpd reads, and connections that do not begin as HTTP/1 does,
# are the server's, unless a rule that denies a path would be passed by.
#
#	[ client, khttpd and servers on lo, net6 between two namespaces ]
#
# guest: stock+
# timeout: 90
# pylint: disable=missing-function-docstring
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

PORT = 8090
GET = khttpd.get
# What khttpd refuses for its length when there is no server, and with which status.
LONG = (("a long line", GET("/app", f"X: {'x' * 9000}\r\n"), 431),
        ("a long cookie", GET("/app", f"Cookie: s={'c' * 12000}\r\n"), 431),
        ("many lines", GET("/app", "".join(f"X-{i}: v\r\n" for i in range(120))), 431),
        ("many lines that are noted", GET("/app", "Cookie: a=b\r\n" * 20), 431),
        ("a long query", GET(f"/app?q={'q' * 9000}"), 414),
        ("a long path", GET("/" + "a" * 9000), 414))
# Connections of other kinds, as they begin.
PROXY1 = b"PROXY TCP4 192.0.2.1 192.0.2.2 1025 80\r\n"
PROXY2 = (b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + socket.inet_aton("192.0.2.1") +
          socket.inet_aton("192.0.2.2") + struct.pack(">HH", 1025, 80))
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
TLS = b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"
ALIEN = (("proxy 1", PROXY1), ("proxy 2", PROXY2), ("http2", HTTP2), ("tls", TLS))
PLACE = khttpd.net6_later()


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    khttpd.write("a.txt", b"file")
    khttpd.let_files_settle()


def begins(server, data):
    """The server has the connection, and the first byte of it on."""
    with server.place.connect(server.port) as client:
        client.sendall(data)
        with server.accept() as sock:
            got = b""
            while len(got) < len(data):
                more = sock.recv(len(data) - len(got))
                if not more:
                    break
                got += more
            ktap.true(got == data, f"{len(got)} of {len(data)} bytes, from the first on")


def refused(place, port, data):
    with place.connect(port) as client:
        client.sendall(data)
        return khttpd.Reader(client).reply().status


def both():
    yield khttpd.Server(khttpd.V4, PORT)
    yield khttpd.Server(PLACE, PORT)


@ktap.test
def a_server_gets_long_heads():
    for server in both():
        with server:
            for name, head, _ in LONG:
                ktap.diag(f"{server.place.name}: {name}")
                begins(server, head)
            ktap.equal(khttpd.exchange(server.place, GET("/a.txt"), PORT).body, b"file", "a file")


@ktap.test
def a_server_gets_what_is_not_http_1():
    for server in both():
        with server:
            for name, data in ALIEN:
                ktap.diag(f"{server.place.name}: {name}")
                begins(server, data)


@ktap.test
def behind_a_reply_as_well():
    with khttpd.Server(khttpd.V4, PORT) as server, khttpd.V4.connect(PORT) as client:
        client.sendall(GET("/a.txt") + LONG[0][1])
        ktap.equal(khttpd.Reader(client).reply().body, b"file", "the file first")
        with server.accept() as sock:
            ktap.equal(sock.recv(9), LONG[0][1][:9], "the head that is long")


@ktap.test
def without_a_server_they_are_refused():
    khttpd.serve(khttpd.V4)
    try:
        for name, head, status in LONG:
            ktap.equal(refused(khttpd.V4, 8080, head), status, name)
        for name, data in ALIEN:
            ktap.equal(refused(khttpd.V4, 8080, data), 400, name)
    finally:
        khttpd.ctl("stop", "--site", "default")


@ktap.test
def no_rule_that_denies_is_passed_by():
    long = f"X: {'x' * 9000}\r\n"
    with khttpd.Server(khttpd.V4, PORT) as server:
        for name, value in (("rules", "deny /private/\n"), ("enabled", "1")):
            with open(f"{khttpd.CONFIG}/default/{name}", "w", encoding="ascii") as file:
                file.write(value)
        for name, data in ALIEN:
            ktap.equal(refused(khttpd.V4, PORT, data), 400, name)
        ktap.equal(refused(khttpd.V4, PORT, GET("/private/x", long)), 431, "a denied path")
        ktap.equal(refused(khttpd.V4, PORT, GET("/a/%2e./private/x", long)), 431,
                   "other words for it")
        ktap.equal(refused(khttpd.V4, PORT, GET("/" + "a" * 9000)), 414, "half a path")
        begins(server, GET("/app", long))
        begins(server, GET(f"/app?q={'q' * 9000}"))


def alone_and_attached(listen, client):
    """The same connection at nginx alone and with khttpd in front. Return: both answers."""
    got = []
    for attached in (False, True):
        server = khttpd.Nginx([f"127.0.0.1:{PORT} {listen}"])
        try:
            if attached:
                khttpd.ctl("attach", "--site", "default", "--pid", str(server.pid), "--port",
                           str(PORT), "--docroot", khttpd.WWW)
            got.append(client())
        finally:
            server.kill(15)
            khttpd.ctl("stop", "--site", "default", check=False)
    return got


def speak(data):
    with khttpd.V4.connect(PORT) as client:
        client.sendall(data)
        reply = khttpd.Reader(client).reply()
        return reply.status, reply.body


@ktap.test
def nginx_hears_of_the_client_from_a_proxy():
    for name, header in (("version 1", PROXY1), ("version 2", PROXY2)):
        alone, attached = alone_and_attached("proxy_protocol", lambda header=header:
                                             speak(header + GET("/app")))
        ktap.equal(attached, alone, name)
        ktap.equal(attached[0], 200, name)


def frame(kind, flags, stream, payload=b""):
    """RFC 9113 section 4.1"""
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def http2():
    """The kinds of frames up to the reply's head, and how that begins."""
    with khttpd.V4.connect(PORT) as client, client.makefile("rb") as reader:
        # GET http://a/ in HPACK (RFC 7541): three of the static table, :authority as a literal.
        client.sendall(HTTP2[:24] + frame(4, 0, 0) +
                       frame(1, 5, 1, b"\x82\x86\x84\x01\x01a"))
        kinds = []
        while True:
            head = reader.read(9)
            ktap.equal(len(head), 9, f"another frame behind {kinds}")
            payload = reader.read(int.from_bytes(head[:3], "big"))
            kinds.append(head[3])
            if head[3] == 1:
                return kinds, payload[:1]


@ktap.test
def nginx_speaks_http_2():
    alone, attached = alone_and_attached("http2", http2)
    ktap.equal(attached, alone, "the answer")
    ktap.equal(attached[1], b"\x88", ":status 200")


@ktap.test
def nginx_and_its_limits():
    for name, head in (("12 KB", LONG[1][1]), ("120 lines", LONG[2][1]), ("a path", LONG[5][1])):
        alone, attached = alone_and_attached("", lambda head=head: speak(head))
        ktap.equal(attached, alone, name)


ktap.main(setup=setup)
