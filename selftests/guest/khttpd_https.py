#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Clients are sent from HTTP to HTTPS: Strict-Transport-Security, and listeners that redirect, on
# native sockets and on net6, which has no TLS.
#
#	[ clients, khttpd, khttpd-tlsd and server on lo ]
#
# timeout: 240
# pylint: disable=missing-function-docstring
import errno
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import https   # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get


def says_hsts(place, sock, wanted):
    """Replies of each kind."""
    reader = khttpd.Reader(sock)
    tag = None
    for request, status in (
            (GET("/a.txt"), 200), (GET("/mid"), 200), (GET("/big", method="HEAD"), 200),
            (GET("/big", "Range: bytes=1-2\r\n"), 206),
            (GET("/no"), 404), (GET("/dir"), 301), (GET("/", method="OPTIONS"), 204),
            (GET("/a.txt", "If-None-Match: %s\r\n"), 304),
            (GET("/big", "Range: bytes=9999999-\r\n"), 416)):
        sock.sendall(request.replace(b"%s", (tag or "").encode()))
        reply = reader.reply(head_only=request.startswith(b"HEAD"))
        tag = tag or reply.fields.get("etag")
        ktap.equal((reply.status, reply.fields.get("strict-transport-security")),
                   (status, wanted), f"{place}: {request!r}")
        if request == GET("/a.txt"):
            ktap.true("expires" in reply.fields and reply.body == b"hello\n", "the rest is there")
    sock.sendall(GET("/a.txt") * 3 + GET("/a.txt", method="POST") + b"!\r\n\r\n")
    for status in (200, 200, 200, 405, 400):
        reply = reader.reply()
        ktap.equal((reply.status, reply.fields.get("strict-transport-security")),
                   (status, wanted), f"{place}: pipelined")


@ktap.test
def hsts_is_said_over_tls_only():
    site = f"{khttpd.CONFIG}/default"
    os.makedirs(f"{khttpd.WWW}/dir", exist_ok=True)
    for bad in ("3600", "max-age=1; all", "max-age=1\nX: y", "max-age=1; preload; preload"):
        ktap.raises(errno.EINVAL, https.write_line, f"{site}/hsts", bad)
    https.write_line(f"{site}/rules", "expires /a.txt 60")
    for value in ("max-age=9999999999; includeSubDomains; preload", "max-age=0", ""):
        https.write_line(f"{site}/hsts", value)
        https.write_line(f"{site}/enabled", "1")
        with https.connect() as sock:
            says_hsts("TLS", sock, value or None)
        with khttpd.V4.connect() as sock:
            says_hsts("plain", sock, None)
    https.write_line(f"{site}/rules", "")
    https.write_line(f"{site}/enabled", "1")
    https.at_rest()


def sent_to(place, request, port, status, where):
    reply = khttpd.exchange(place, request, port, request.startswith(b"HEAD"))
    ktap.equal((reply.status, reply.fields.get("location")), (status, where), f"{request!r}")
    return reply


@ktap.test
def http_is_sent_to_https():
    khttpd.ctl("serve", "--site", "r", "--docroot", khttpd.WWW, "--listen",
               "127.0.0.1:8088,redirect=443", "--listen", "[::1]:8088,redirect=8443")
    v4, v6 = khttpd.V4, khttpd.V6
    for method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS", "BREW"):
        sent_to(v4, GET("/a%20b/../c?d=/e&f", method=method), 8088,
                301 if method in ("GET", "HEAD") else 308, "https://a.example/a%20b/../c?d=/e&f")
    sent_to(v6, GET("//b.example/"), 8088, 301, "https://a.example:8443//b.example/")
    for host, name in (("a.example:8088", "a.example"), ("[::1]:8088", "[::1]"),
                       ("127.0.0.1", "127.0.0.1"), ("A-b_c.:", "A-b_c.")):
        sent_to(v4, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode(), 8088, 301,
                f"https://{name}/")
    sent_to(v4, b"GET http://b.example:1?x HTTP/1.1\r\nHost: a.example\r\n\r\n", 8088, 301,
            "https://b.example/?x")
    # Nobody is sent to what is no host's name.
    for host in ("a%2eexample", "a!b", "a'b", "a,b", "[fe80::1%25lo]", "[v1.x]", "a@b", "a/b", ""):
        reply = sent_to(v4, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode(), 8088, 400, None)
        ktap.true(reply.closed, "closed")
    sent_to(v4, b"GET / HTTP/1.0\r\n\r\n", 8088, 400, None)
    sent_to(v4, b"OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n", 8088, 400, None)
    # A connection goes on, unless a body would have to be read.
    https.at_rest()
    with https.counting(replies_redirect=4, closed=1), v4.connect(8088) as sock:
        sock.sendall(GET("/1") + GET("/2") + GET("/3") +
                     GET("/4", "Content-Length: 9\r\n", "POST") + b"GET /5 HT")
        reader = khttpd.Reader(sock)
        for path in "1234":
            ktap.equal(reader.reply().fields["location"], f"https://a.example/{path}", "kept")
        ktap.true(reader.closed(), "closed")
    # A server behind the site gets nothing of it.
    with khttpd.Server(v4, 8089, site="r", docroot=None):
        sent_to(v4, GET("/dyn"), 8088, 301, "https://a.example/dyn")
        sent_to(v4, GET("/dyn", "Content-Length: 0\r\n", "POST"), 8088, 308,
                "https://a.example/dyn")
    out = khttpd.ctl("serve", "--site", "x", "--docroot", khttpd.WWW, "--listen",
                     "127.0.0.1:8090,tls,redirect=443", *https.pem("a.example"), check=False)
    ktap.true("cannot both" in out, out)
    both = f"{khttpd.CONFIG}/x/both"
    khttpd.ctl("serve", "--site", "x", "--docroot", khttpd.WWW, "--set", "behind=default")
    os.mkdir(both)
    https.write_line(f"{both}/tls", "1")
    https.write_line(f"{both}/redirect", "443")
    ktap.raises(errno.EINVAL, https.write_line, f"{khttpd.CONFIG}/x/enabled", "1")
    khttpd.ctl("stop", "--site", "x")


@ktap.test
def net6_sends_to_https_as_native_does():
    place = khttpd.net6_place()
    place.listen = "[::]:8088,net6,redirect=443"
    khttpd.serve(place, site="n")
    with https.counting(replies_redirect=5, soft_hits=0, closed=3):
        sent_to(place, GET("/a.txt"), 8088, 301, "https://a.example/a.txt")
        sent_to(place, GET("/a.txt", method="POST"), 8088, 308, "https://a.example/a.txt")
        with place.connect(8088) as sock:
            sock.sendall(GET("/a.txt") * 3)
            reader = khttpd.Reader(sock)
            for _ in range(3):
                ktap.equal(reader.reply().status, 301, "pipelined")
    khttpd.ctl("stop", "--site", "n")


@ktap.test
def net6_has_no_tls():
    out = khttpd.ctl("serve", "--site", "n", "--docroot", khttpd.WWW, "--listen",
                     "[::]:8444,net6,tls", *https.pem("a.example"), check=False)
    ktap.true("has not got an option" in out, out)
    out = khttpd.ctl("serve", "--site", "n", "--docroot", khttpd.WWW, "--listen",
                     "[::]:8444,tls", check=False)
    ktap.true("--certificate is missing" in out, out)


ktap.main(https.setup)
