#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A server gives a connection of a proxy's client back: khttpd knows the client again, in its log,
# in rules and limits, and the server reads the proxy's header once more.
#
#	[ client as proxy, khttpd and server on lo, net6 between two namespaces ]
#
# guest: stock+
# timeout: 90
# pylint: disable=missing-function-docstring
import contextlib
import ctypes
import errno
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
from proxyhead import version1, version2  # pylint: disable=wrong-import-position

sys.path.insert(0, f"{khttpd.TOP}/tools/giveback")
import example  # pylint: disable=wrong-import-position

GET = khttpd.get
PORT = 8090
TRUSTED = "127.0.0.0/8 ::/0"
RULES = "pass /private/\nblock 192.0.2.99\n"
PLACE = khttpd.net6_later()
HEADERS = ((version1("192.0.2.1"), "192.0.2.1"), (version2("2001:db8::3"), "2001:db8::3"),
           (version2("192.0.2.4", more=b"\xea\x0f\xa0" + bytes(4000)), "192.0.2.4"))


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    khttpd.write("a.txt", b"public")
    khttpd.write("private/a", b"secret")
    khttpd.let_files_settle()


def attribute(name, value):
    with open(f"{khttpd.CONFIG}/default/{name}", "w", encoding="ascii") as file:
        file.write(value)


@contextlib.contextmanager
def server(place=khttpd.V4, trusted=TRUSTED):
    """An attached one, whose site trusts."""
    with khttpd.Server(place, PORT) as one:
        attribute("proxy_protocol", trusted)
        attribute("rules", RULES)
        attribute("enabled", "1")
        yield one


def accepted(one, data):
    """The next connection, from which the server reads @data."""
    conn = one.accept()
    ktap.equal(ktap.take(conn, len(data)), data, "what the server reads")
    return conn


@ktap.test
def the_log_names_the_client():
    log, lines = khttpd.Log(), 0
    try:
        for place in (khttpd.V4, PLACE):
            for header, address in HEADERS:
                with server(place) as one, place.connect(PORT) as sock:
                    reader = khttpd.Reader(sock)
                    sock.sendall(header + GET("/private/a"))
                    for turn in range(3):
                        # The header is there each time.
                        conn = accepted(one, header + GET("/private/a"))
                        example.give_back(one.sock, conn, header + GET("/private/a"))
                        ktap.equal(reader.reply().body, b"secret", f"{place.name} {turn}")
                        sock.sendall(GET("/a.txt") + GET("/private/a"))
                        ktap.equal(reader.reply().body, b"public", "the kernel's own")
                    conn = accepted(one, header + GET("/private/a"))
                    conn.close()
                    reader.closed()
                lines += 6
                ktap.equal({line.split()[0] for line in log.lines(lines)[lines - 6:]}, {address},
                           f"{place.name}: whom the log names")
    finally:
        log.stop()
    ktap.wait_for(20, "no connection is left", lambda: not khttpd.count("connections"))


@ktap.test
def rules_and_limits_see_the_client():
    with server() as one, khttpd.V4.connect(PORT) as sock:
        header = version1("192.0.2.1")
        sock.sendall(header + GET("/private/a"))
        conn = accepted(one, header + GET("/private/a"))
        attribute("rules", RULES + "block 192.0.2.1\n")
        attribute("enabled", "1")
        example.give_back(one.sock, conn, header + GET("/private/a"))
        ktap.equal(khttpd.Reader(sock).reply().status, 403, "one that is blocked now")
    with server() as one, khttpd.limited("max_per_address", 1), khttpd.V4.connect(PORT) as sock, \
            khttpd.V4.connect(PORT) as other:
        header = version1("192.0.2.1")
        sock.sendall(header + GET("/private/a"))
        conn = accepted(one, header + GET("/private/a"))
        for client, error in (("192.0.2.2", 0), ("192.0.2.1", errno.EUSERS)):
            with khttpd.V4.connect(PORT) as other:
                other.sendall(version1(client) + GET("/a.txt"))
                ktap.equal(khttpd.Reader(other).reply().status, 200, "another connection")
                if error:
                    ktap.raises(error, example.give_back, one.sock, conn,
                                header + GET("/private/a"))
                    continue
                example.give_back(one.sock, conn, header + GET("/private/a"))
                reader = khttpd.Reader(sock)
                ktap.equal(reader.reply().body, b"secret", "beside another client's")
                sock.sendall(GET("/private/a"))
                conn = accepted(one, header + GET("/private/a"))
        conn.close()


@ktap.test
def a_header_is_given_where_one_was_read():
    header, head = version1("192.0.2.1"), GET("/private/a")
    with server() as one:
        with khttpd.V4.connect(PORT) as sock:
            sock.sendall(header + head)
            conn = accepted(one, header + head)
            for bad in (head, header, header[:-1] + head, header + header + head,
                        header + head + b"x", version2("192.0.2.1")[:-1] + head):
                ktap.raises(errno.EINVAL, example.give_back, one.sock, conn, bad)
            # The longest that can have been read is what has come.
            long = version2("192.0.2.1", more=b"\xea\x0b\xb8" + bytes(3000))
            ktap.raises(errno.EINVAL, example.give_back, one.sock, conn, long + head)
            ktap.raises(errno.EINVAL, example.give_back, one.sock, conn,
                        header + GET("/private/a", "X: " + "y" * 9000 + "\r\n"))
            attribute("proxy_protocol", "192.0.2.9")
            attribute("enabled", "1")
            ktap.raises(errno.EINVAL, example.give_back, one.sock, conn, header + head)
            attribute("proxy_protocol", TRUSTED)
            attribute("enabled", "1")
            example.give_back(one.sock, conn, header + head)
            ktap.equal(khttpd.Reader(sock).reply().body, b"secret", "after all that")
        with khttpd.V4.connect(PORT) as sock:
            sock.sendall(header + head)
            conn = one.accept()
            ktap.wait_for(10, "it is there", lambda: conn.recv(4096, socket.MSG_PEEK))
            ktap.raises(errno.EINVAL, example.give_back, one.sock, conn, header + head)
            conn.close()
    with server(trusted="") as one, khttpd.V4.connect(PORT) as sock:
        sock.sendall(head)
        conn = accepted(one, head)
        ktap.raises(errno.EINVAL, example.give_back, one.sock, conn, header + head)
        conn.close()


@ktap.test
def the_c_library_knows_the_header():
    library = ctypes.CDLL(f"{khttpd.TOP}/tools/libkhttpd-giveback.so", use_errno=True)
    for header, _ in HEADERS:
        with server() as one, khttpd.V4.connect(PORT) as sock:
            data = header + GET("/private/ask")
            sock.sendall(data + GET("/a.txt"))
            conn = one.accept()
            conn.setblocking(True)
            text = ctypes.create_string_buffer(8192)
            ktap.equal(library.khttpd_giveback_read(conn.fileno(), text, 8192), len(data), "length")
            ktap.equal(text.raw[:len(data)], data, "header and head")
            ktap.equal(library.khttpd_giveback_file(one.sock.fileno(), conn.fileno(), text,
                                                    len(data), b"/private/a"), 0, "given back")
            conn.detach()
            reader = khttpd.Reader(sock)
            ktap.equal([reader.reply().body for _ in range(2)], [b"secret", b"public"], "replies")


ktap.main(setup=setup)
