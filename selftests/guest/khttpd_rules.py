#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Rules beyond those of khttpd_protocol.py: Expires, pages for errors of every kind, the page about
# the web server in its three forms, methods that are a server's, index files. Limits of a
# request's head.
#
#	[ clients and server on lo, net6 between two namespaces ]
#
# guest: stock+
# timeout: 120
# pylint: disable=missing-function-docstring
import contextlib
import email.utils
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
OLD = (1_000_000_000, 1_000_000_000)
RULES = """
expires /now/ 0
expires *.css 86400
cache *.css max-age=86400
deny /private/
pass /app/
status /status
error 400 /errors/any.html
error 403 /errors/any.html
error 404 /errors/any.html
error 405 /errors/any.html
error 412 /errors/any.html
error 413 /errors/any.html
error 414 /errors/any.html
error 416 /errors/any.html
error 429 /errors/any.html
error 431 /errors/any.html
error 503 /errors/any.html
error 505 /errors/any.html
error 501 /errors/none.html
"""
PAGE = b"<h1>our own"
PLACE = khttpd.net6_later()


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    khttpd.write("errors/any.html", PAGE)
    khttpd.write("private/x", b"x")
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("now/x", b"x")
    khttpd.write("x.css", b"body {}")
    khttpd.write("big.css", b"x" * 50000)
    for name in ("a.txt", "now/x", "x.css", "big.css"):
        os.utime(f"{khttpd.WWW}/{name}", OLD)
    with open("/srv/rules", "w", encoding="ascii") as file:
        file.write(RULES)
    PLACE.server.ip("addr", "add", "192.0.2.1/24", "dev", "s0")
    PLACE.client.ip("addr", "add", "192.0.2.2/24", "dev", "c0")
    khttpd.serve(PLACE, "--set", "rules=@/srv/rules")
    khttpd.serve(khttpd.V4, "--set", "rules=@/srv/rules", site="lo")
    khttpd.let_files_settle()


def ask(path, *lines, method="GET", place=khttpd.V4):
    extra = "".join(line + "\r\n" for line in lines)
    return khttpd.exchange(place, GET(path, extra, method), head_only=method == "HEAD")


def lifetime(reply):
    date, expires = (email.utils.parsedate_to_datetime(reply.fields[name])
                     for name in ("date", "expires"))
    return (expires - date).total_seconds()


@ktap.test
def expires_is_so_much_after_date():
    for place in (khttpd.V4, PLACE):
        for turn in range(3):
            for path, seconds in (("/now/x", 0), ("/x.css", 86400), ("/big.css", 86400)):
                what = f"{place.name} {path} {turn}"
                reply = ask(path, place=place)
                ktap.equal((reply.status, lifetime(reply)), (200, seconds), what)
                tag = reply.fields["etag"]
                for status, line in ((304, f"If-None-Match: {tag}"),
                                     (206, "Range: bytes=0-0")):
                    reply = ask(path, line, place=place)
                    ktap.equal((reply.status, lifetime(reply)), (status, seconds),
                               f"{what} {status}")
                reply = ask(path, method="HEAD", place=place)
                ktap.equal(lifetime(reply), seconds, f"{what} HEAD")
        reply = ask("/x.css", "Range: bytes=0-0,2-3", place=place)
        ktap.equal((reply.status, lifetime(reply)), (206, 86400), "multipart")
        ktap.equal(ask("/x.css", place=place).fields["cache-control"], "max-age=86400",
                   "beside Cache-Control")
        ktap.true("expires" not in ask("/a.txt", place=place).fields, "none without rule")
    ktap.true(khttpd.count("soft_hits") > 0, "some in softirq")
    with khttpd.V4.connect() as sock:
        names = ("x.css", "a.txt", "now/x", "big.css") * 10
        sock.sendall(b"".join(GET("/" + name) for name in names))
        reader = khttpd.Reader(sock)
        for name in names:
            reply = reader.reply()
            ktap.equal("expires" in reply.fields, name != "a.txt", f"pipelined {name}")
            ktap.equal(len(reply.body), os.path.getsize(f"{khttpd.WWW}/{name}"), name)


@ktap.test
def every_error_of_a_request_may_have_a_page():
    for turn in range(2):
        for method, path, status in (("GET", "/private/x", 403), ("GET", "/app/x", 404),
                                     ("GET", "/no", 404), ("GET", "/a%2fb", 404),
                                     ("GET", "/no/", 404), ("GET", "/now/", 403),
                                     ("DELETE", "/a.txt", 405), ("POST", "/no", 405),
                                     ("GET", "/%zz", 400), ("HEAD", "/private/x", 403)):
            reply = ask(path, method=method)
            what = f"{method} {path} {turn}"
            ktap.equal((reply.status, reply.fields["content-type"]), (status, "text/html"),
                       what)
            if method != "HEAD":
                ktap.equal(reply.body, PAGE, what)
            ktap.equal("allow" in reply.fields, status == 405, what)
            ktap.equal(reply.closed, status == 400, what)
        reply = ask("/a.txt", method="BREW")
        ktap.equal(reply.status, 501, "a page that is not there")
        ktap.true(b"501" in reply.body, "its own text")
    # One after the other on a connection, with others in between.
    with khttpd.V4.connect() as sock:
        paths = ("/private/x", "/a.txt", "/app/x", "/x.css") * 8
        sock.sendall(b"".join(GET(path) for path in paths))
        reader = khttpd.Reader(sock)
        ktap.equal([reader.reply().status for _ in paths], [403, 200, 404, 200] * 8, "all")


def has_page(reply, status, what, close=True):
    ktap.equal((reply.status, reply.fields["content-type"], reply.body),
               (status, "text/html", PAGE), what)
    ktap.equal(reply.closed, close, f"{what}: closed")
    ktap.equal("retry-after" in reply.fields, status in (429, 503), f"{what}: Retry-After")
    return reply


def cold():
    """The page is not in the cache: a worker has to open it."""
    khttpd.write("errors/any.html", PAGE)


@ktap.test
def what_is_refused_early_has_a_page():
    heads = ((400, b"GET /a.txt HTTP/1.1\r\nHost: a\n\r\n"), (400, b"GET / HTTP/1.1\r\n\r\n"),
             (413, GET("/a.txt", f"Content-Length: {(1 << 63) - 1}\r\n", "POST")),
             (414, GET("/" + "a" * 9000)), (431, GET("/", "X: " + "y" * 9000 + "\r\n")),
             (505, b"GET / HTTP/2.0\r\nHost: a\r\n\r\n"))
    for place in (khttpd.V4, PLACE):
        for turn, before in enumerate((cold, lambda: None)):
            bad = khttpd.count("bad_heads")
            for status, head in heads:
                before()
                has_page(khttpd.exchange(place, head), status,
                         f"{place.name} {turn} {head[:30]}")
            ktap.equal(khttpd.count("bad_heads"), bad + len(heads), "each counted once")
    # Behind others, and cut.
    cold()
    with khttpd.V4.connect() as sock:
        sock.sendall(GET("/a.txt") * 40 + b"GET /a.txt HTTP/1.1\r\nHost: a\n")
        reader = khttpd.Reader(sock)
        ktap.equal([reader.reply().status for _ in range(41)], [200] * 40 + [400], "all")
        reader.closed()


@ktap.test
def conditions_and_ranges_have_a_page():
    for place in (khttpd.V4, PLACE):
        for turn, before in enumerate((cold, lambda: None)):
            for status, line in ((412, 'If-Match: "no"'), (416, "Range: bytes=50000-")):
                for path in ("/a.txt", "/big.css"):
                    before()
                    what = f"{place.name} {turn} {status} {path}"
                    reply = has_page(ask(path, line, place=place), status, what, close=False)
                    size = os.path.getsize(f"{khttpd.WWW}{path}")
                    ktap.equal(reply.fields.get("content-range"),
                               f"bytes */{size}" if status == 416 else None, what)
    reply = ask("/a.txt", 'If-Match: "no"', method="HEAD")
    ktap.equal((reply.status, int(reply.fields["content-length"])), (412, len(PAGE)), "HEAD")
    # Neither file nor page stays in the cache: still one answer each.
    old = khttpd.limit("cache_entries", 1)
    try:
        with khttpd.V4.connect() as sock:
            sock.sendall((GET("/a.txt", "Range: bytes=6-\r\n") + GET("/x.css") +
                          GET("/big.css", 'If-Match: "no"\r\n') + GET("/now/x")) * 10)
            reader = khttpd.Reader(sock)
            ktap.equal([reader.reply().status for _ in range(40)],
                       [416, 200, 412, 200] * 10, "all")
    finally:
        khttpd.limit("cache_entries", old)


@ktap.test
def too_fast_and_no_server_have_a_page():
    for place in (khttpd.V4, PLACE):
        for turn, before in enumerate((cold, lambda: None)):
            old = khttpd.limit("request_rate", 1), khttpd.limit("request_burst", 1)
            try:
                ktap.wait_for(20, "the rate is rested",
                              lambda p=place: ask("/a.txt", place=p).status == 200)
                refused = khttpd.count("requests_refused")
                before()
                has_page(ask("/a.txt", place=place), 429, f"{place.name} {turn}")
                ktap.equal(khttpd.count("requests_refused"), refused + 1, "counted once")
            finally:
                khttpd.limit("request_rate", old[0])
                khttpd.limit("request_burst", old[1])
    with PLACE.server:
        khttpd.ctl("serve", "--site", "full", "--docroot", khttpd.WWW, "--listen",
                   "127.0.0.1:8094", "--set", "rules=@/srv/rules")
    khttpd.ctl("serve", "--site", "full4", "--docroot", khttpd.WWW, "--listen",
               "127.0.0.1:8095", "--set", "rules=@/srv/rules")
    old = khttpd.limit("handover_queue", 0)
    try:
        for place, site in ((PLACE, "full"), (khttpd.V4, "full4")):
            with khttpd.Server(place, 8091, site, docroot=None) as server:
                for turn, before in enumerate((cold, lambda: None)):
                    for head in (GET("/nothing"), GET("/a.txt", method="BREW"),
                                 GET("/app/x") + b"more"):
                        before()
                        has_page(khttpd.exchange(place, head, server.port), 503,
                                 f"{place.name} {turn} {head[:20]}")
                reply = khttpd.exchange(place, GET("/nothing", method="HEAD"), server.port,
                                        head_only=True)
                ktap.equal((reply.status, int(reply.fields["content-length"])),
                           (503, len(PAGE)), f"{place.name} HEAD")
                cold()
                socks = [place.connect(server.port) for _ in range(5)]
                for sock in socks:
                    sock.sendall(GET("/nothing"))
                    sock.close()
    finally:
        khttpd.limit("handover_queue", old)
    ktap.wait_for(20, "no connection is left", lambda: khttpd.count("connections") == 0)


@ktap.test
def no_server_any_more_has_no_page_for_head():
    """It waits in the queue of a server that closes its listener."""
    with PLACE.server:
        khttpd.ctl("serve", "--site", "gone", "--docroot", khttpd.WWW, "--listen",
                   "127.0.0.1:8097", "--set", "rules=@/srv/rules")
    khttpd.ctl("serve", "--site", "gone4", "--docroot", khttpd.WWW, "--listen",
               "127.0.0.1:8098", "--set", "rules=@/srv/rules")
    for place, site in ((PLACE, "gone"), (khttpd.V4, "gone4")):
        with khttpd.Server(place, 8091, site, docroot=None) as server:
            before = khttpd.count("handed_over")
            with place.connect(server.port) as sock:
                sock.sendall(GET("/nothing", method="HEAD"))
                ktap.wait_for(20, "it waits", lambda b=before: khttpd.count("handed_over") > b)
                server.sock.close()
                reader = khttpd.Reader(sock)
                ktap.equal(reader.reply(head_only=True).status, 503, place.name)
                reader.closed()


@ktap.test
def the_page_about_the_web_server():
    html = ask("/status", "Accept: text/html,*/*;q=0.8")
    ktap.equal(html.fields["content-type"], "text/html; charset=utf-8", "for people")
    data = ask("/status", "Accept: application/json")
    ktap.equal(data.fields["content-type"], "application/json", "for programs")
    text = ask("/status", "Accept: application/openmetrics-text;version=1.0.0,"
               "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
    ktap.true(text.fields["content-type"].startswith("text/plain; version=0.0.4"),
              "for Prometheus")
    for reply in (html, data, text):
        ktap.equal((reply.status, reply.fields["cache-control"]), (200, "no-cache"), "head")
    counters = json.loads(data.body)
    with open(f"{khttpd.CONFIG}/stats", encoding="ascii") as file:
        names = [line.split()[0] for line in file]
    ktap.equal(sorted(counters), sorted(names), "all counters")
    ktap.true(counters["requests"] > 0 and counters["connections"] >= 1, "values")
    values = {}
    for line in text.body.decode().splitlines():
        if line.startswith("#"):
            kind, name = line.split()[1:3]
            ktap.true(kind in ("HELP", "TYPE"), line)
        else:
            name, value = line.split()
            values[name] = int(value)
    for name in names:
        gauge = name in ("connections", "cache_entries", "tls_pending", "tls_daemons")
        suffix = "" if gauge else "_total"
        ktap.true(f"khttpd_{name}{suffix}" in values, name)
        ktap.true(f"<td>{name}<td>".encode() in html.body, f"{name} for people")
    reply = ask("/status", method="HEAD")
    ktap.true(int(reply.fields["content-length"]) > 1000, "HEAD")
    ktap.equal(ask("/status", method="POST").status, 405, "POST")
    ktap.equal(ask("/status", "Accept: application/json", place=PLACE).status, 200, "net6")


@ktap.test
def methods_may_be_a_servers():
    with PLACE.server:
        khttpd.ctl("serve", "--site", "att", "--docroot", khttpd.WWW, "--listen",
                   "127.0.0.1:8092", "--set", "rules=method HEAD")
    khttpd.ctl("serve", "--site", "att4", "--docroot", khttpd.WWW, "--listen",
               "127.0.0.1:8093", "--set", "rules=method HEAD")
    for place, site in ((PLACE, "att"), (khttpd.V4, "att4")):
        with khttpd.Server(place, 8091, site, docroot=None) as server:
            ktap.equal(khttpd.exchange(place, GET("/a.txt"), 8091).body, b"hello\n", "GET")
            with place.connect(8091) as sock:
                sock.sendall(GET("/a.txt", method="HEAD"))
                conn = server.accept()
                ktap.equal(ktap.take(conn, 5), b"HEAD ", place.name)
                conn.close()


INDEX_RULES = """
deny /denied/*.php
serve /served/index.php
status /about/index.php
error 403 /errors/any.html
pass *.php
"""


@ktap.test
def rules_see_the_index_file():
    """A script is not sent as the index file of its directory, in front of a server or
    without one.
    """
    for name in ("denied", "passed", "served", "about"):
        khttpd.write(f"{name}/index.php", name.encode())
        os.utime(f"{khttpd.WWW}/{name}/index.php", OLD)
    for place, listen, site in ((khttpd.V4, "127.0.0.1:8096", "index4"),
                                (PLACE, "[::]:8096,net6", "index")):
        with place.server or contextlib.nullcontext():
            khttpd.ctl("serve", "--site", site, "--docroot", khttpd.WWW, "--listen", listen,
                       "--set", "index=index.php", "--set", f"rules={INDEX_RULES}")
        for turn in range(2):
            for path, status, body in (("/denied/", 403, PAGE), ("/passed/", 404, None),
                                       ("/served/", 200, b"served"), ("/about/", 200, None)):
                for name in (path, path + "index.php"):
                    reply = khttpd.exchange(place, GET(name), 8096)
                    ktap.equal(reply.status, status, f"{place.name} {turn} {name}")
                    ktap.true(body in (None, reply.body), f"{reply.body} of {name}")
        with khttpd.Server(place, 8091, site, docroot=None) as server:
            for turn in range(2):
                for path, status in (("/denied/", 403), ("/served/", 200), ("/about/", 200)):
                    ktap.equal(khttpd.exchange(place, GET(path), 8091).status, status,
                               f"{place.name} {turn} {path} in front of a server")
                with place.connect(8091) as sock:
                    sock.sendall(GET("/served/") + GET("/passed/"))
                    ktap.equal(khttpd.Reader(sock).reply().body, b"served", "the one before")
                    conn = server.accept()
                    ktap.equal(ktap.take(conn, 13), b"GET /passed/ ", place.name)
                    conn.close()


@ktap.test
def without_index_files_a_directory_is_there_or_not():
    khttpd.ctl("serve", "--site", "none", "--docroot", khttpd.WWW, "--listen",
               "127.0.0.1:8099", "--set", "index=", "--set",
               "rules=error 404 /errors/any.html")
    for turn in range(2):
        for path, status in (("/nothing/", 404), ("/now/", 403), ("/a.txt/", 404),
                             ("/", 403), ("/now", 301)):
            reply = khttpd.exchange(khttpd.V4, GET(path), 8099)
            ktap.equal(reply.status, status, f"{path} {turn}")
            ktap.equal(reply.body == PAGE, status == 404, f"{path} {turn}: its page")
    with khttpd.Server(khttpd.V4, 8091, "none", docroot=None) as server:
        for path in ("/nothing/", "/now/"):
            with khttpd.V4.connect(server.port) as sock:
                sock.sendall(GET(path))
                with server.accept() as conn:
                    ktap.equal(ktap.take(conn, 6), GET(path)[:6], f"{path} is the server's")


@ktap.test
def limits_of_the_head():
    old = khttpd.limit("head_bytes", 200), khttpd.limit("head_fields", 5)
    try:
        for place in (khttpd.V4, PLACE):
            for fields, status, name in (
                    ("X: y\r\n" * 4, 200, None), ("X: y\r\n" * 5, 431, "head_fields_over"),
                    ("X: " + "y" * 100 + "\r\n", 200, None),
                    ("X: " + "y" * 300 + "\r\n", 431, "head_bytes_over")):
                before = khttpd.count(name) if name else 0
                reply = ask("/a.txt", *fields.splitlines(), place=place)
                ktap.equal(reply.status, status, f"{place.name} {fields[:20]!r}")
                if name:
                    ktap.equal(khttpd.count(name), before + 1, name)
            ktap.equal(ask("/" + "a" * 300, place=place).status, 414, "target")
        for name, value in (("head_bytes", 8193), ("head_bytes", 0), ("head_fields", 101)):
            ktap.raises(34, khttpd.limit, name, value)
    finally:
        khttpd.limit("head_bytes", old[0])
        khttpd.limit("head_fields", old[1])
    ktap.equal(ask("/a.txt", "X: " + "y" * 300).status, 200, "as before")


ktap.main(setup)
