#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Requests that equal the one before get the message before, on net6, and the file before,
# from threads. It must still be the right one after the file, the directories above it, the
# cache, the site, its rules, the date or the limits have changed. It is logged and counted
# as any other.
#
#	[ client ] c0 ------ s0 [ server: khttpd ]	and in the first namespace over IPv6
#
# guest: stock+
# timeout: 240
# pylint: disable=missing-function-docstring
import contextlib
import functools
import json
import os
import re
import socket
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
# So long that TIMES replies fit a connection's first send buffer, also with the checking
# kernel's larger structures: else a thread goes on.
SIZES = (0, 1, 64, 512, 513, 1024, 4096, 4097)
TIMES = 8	# of one segment, so of one processor: the third is a repetition
shared = types.SimpleNamespace(place=khttpd.net6_later())
TESTS = []


def setup():
    khttpd.net6_place(shared.place)
    khttpd.fresh()
    khttpd.write("a", b"first")
    serve()


def everywhere(function):
    TESTS.append(function)
    return function


def over_net6(function):
    function()


def over_ipv6(function):
    if shared.place is not khttpd.V6:
        khttpd.ctl("stop")
        shared.place = khttpd.V6
        serve()
    function()


def serve(*more):
    khttpd.serve(shared.place, *more)


def sent():
    """What a thread has sent is counted when the client may have it."""
    ktap.wait_for(10, "all is over", lambda: not khttpd.count("connections"))
    return khttpd.count("bytes_sent")


def hits():
    return khttpd.count("cache_hits" if shared.place is khttpd.V6 else "soft_hits")


def ask(request, head_only=False):
    """Many times the same: what came, all alike but for the date, and for the tag of what has
    changed just now, a weak one at first.
    """
    with shared.place.connect() as sock:
        sock.sendall(request * TIMES)
        reader = khttpd.Reader(sock)
        replies = [reader.reply(head_only) for _ in range(TIMES)]
    for reply in replies[1:]:
        first, other = dict(replies[0].fields), dict(reply.fields)
        for fields in first, other:
            del fields["date"]
            if "etag" in fields:
                fields["etag"] = re.match(r'(?:W/"w|")([^-"]+-[^-"]+)', fields["etag"])[1]
        ktap.equal((reply.status, other, reply.body),
                   (replies[0].status, first, replies[0].body), "one like the other")
    return replies[-1]


def repeated(request, head_only=False):
    """The same, once all of them are answered in softirq, or from the cache by a thread; twice,
    on a new connection."""
    def all_hits():
        before = hits()
        reply = ask(request, head_only)
        return reply if hits() - before == TIMES else None
    ktap.wait_for(20, f"{request[:40]} is a hit", all_hits)
    return ask(request, head_only)


def is_body(body, request=GET("/a")):
    """At the first time, and when it is repeated again."""
    for reply in (ask(request), repeated(request)):
        ktap.equal((reply.status, reply.body), (200, body), "reply")


def is_status(status, request=GET("/a")):
    for _ in range(2):
        ktap.equal(ask(request).status, status, "status")


@everywhere
def files_of_all_sizes():
    data = os.urandom(max(SIZES))
    for size in SIZES:
        khttpd.write(f"size{size}", data[:size])
    for size in SIZES:
        reply = repeated(GET(f"/size{size}"))
        ktap.true(reply.body == data[:size], f"{size} bytes are equal")
        bytes_before, before = sent(), hits()
        ask(GET(f"/size{size}"))
        header = (sent() - bytes_before) / (hits() - before) - size
        ktap.true(150 < header < 400, f"{header} bytes of header are counted")


@everywhere
def one_after_the_other():
    khttpd.write("b", b"other")
    for request in (GET("/a"), GET("/b")):
        repeated(request)
    turns = [(GET("/a"), b"first"), (GET("/b"), b"other"), (GET("/a"), b"first"),
             (GET("/a"), b"first"), (GET("/a"), b"first"), (GET("/b"), b"other")] * 4
    with shared.place.connect() as sock:
        sock.sendall(b"".join(request for request, _ in turns))
        reader = khttpd.Reader(sock)
        for _, body in turns:
            ktap.equal(reader.reply().body, body, "body")
    for request, head_only, status in (
            (GET("/a", method="HEAD"), True, 200), (GET("/a"), False, 200),
            (GET("/a", "If-None-Match: *\r\n"), False, 304),
            (GET("/a", 'If-None-Match: "x"\r\n'), False, 200),
            (GET("/a", "Connection: keep-alive\r\n", version="1.0"), False, 200)):
        ktap.equal(repeated(request, head_only).status, status, str(request))


@everywhere
def a_connection_each():
    request = GET("/a", "Connection: close\r\n")
    for more in (b"", b"", b"", request, b"", b"GET"):
        for _ in range(3):
            with shared.place.connect() as sock:
                sock.sendall(request + more)
                reader = khttpd.Reader(sock)
                reply = reader.reply()
                ktap.equal((reply.body, reply.fields["connection"]), (b"first", "close"),
                           "reply")
                reader.closed()


@everywhere
def in_two_pieces():
    request = GET("/a")
    for cut in range(1, len(request)):
        repeated(request) if cut % 16 == 1 else None  # pylint: disable=expression-not-assigned
        with shared.place.connect() as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.sendall(request + request[:cut])
            sock.sendall(request[cut:])
            reader = khttpd.Reader(sock)
            for _ in range(2):
                ktap.equal(reader.reply().body, b"first", f"cut at {cut}")


@everywhere
def the_date_goes_on():
    dates = set()
    for _ in range(4):
        dates.add(repeated(GET("/a")).fields["date"])
        second = int(time.time())
        ktap.wait_for(5, "the next second", lambda old=second: int(time.time()) > old)
    ktap.equal(len(dates), 4, f"dates {dates}")


@everywhere
def the_file_changes():
    path = f"{khttpd.WWW}/a"
    for body, change in (
            (b"second", lambda: khttpd.write("a", b"second")),
            (b"third", lambda: os.rename(khttpd.write("new", b"third"), path)),
            (b"thi", lambda: os.truncate(path, 3)),
            (None, lambda: os.chmod(path, 0)),
            (b"thi", lambda: os.chmod(path, 0o644)),
            (None, lambda: os.rename(path, f"{khttpd.WWW}/moved")),
            (b"thi", lambda: os.rename(f"{khttpd.WWW}/moved", path)),
            (None, lambda: os.unlink(path)),
            (b"first", lambda: khttpd.write("a", b"first"))):
        change()
        if body is None:
            ktap.true(ask(GET("/a")).status in (403, 404), "it is away")
        else:
            is_body(body)


@everywhere
def a_directory_changes():
    khttpd.write("d/e/f", b"deep")
    request, top = GET("/d/e/f"), f"{khttpd.WWW}/d"
    is_body(b"deep", request)
    os.rename(top, f"{khttpd.WWW}/g")
    is_status(404, request)
    os.rename(f"{khttpd.WWW}/g", top)
    is_body(b"deep", request)
    os.chmod(top, 0o700)
    is_status(403, request)
    os.chmod(top, 0o755)
    is_body(b"deep", request)
    os.chown(top, 1, 1)
    is_body(b"deep", request)


@everywhere
def the_cache_lets_it_go():
    old = khttpd.limit("cache_entries", 4)
    try:
        for turn in range(4):
            is_body(b"first")
            for number in range(20):
                khttpd.write(f"many/{number}", b"%d" % turn)
                for _ in range(2):
                    khttpd.exchange(shared.place, GET(f"/many/{number}"))
            khttpd.write("a", b"turn%d" % turn)
            is_body(b"turn%d" % turn)
            khttpd.write("a", b"first")
    finally:
        khttpd.limit("cache_entries", old)


@everywhere
def the_site_changes():
    khttpd.write("../other/a", b"other")
    request = b"GET /a HTTP/1.1\r\nHost: other.example\r\n\r\n"
    is_body(b"first", request)
    with shared.place.server or contextlib.nullcontext():
        khttpd.ctl("serve", "--site", "other", "--docroot", "/srv/other", "--set",
                   "behind=default", "--set", "names=other.example")
    is_body(b"other", request)
    is_body(b"first")
    khttpd.ctl("stop", "--site", "other")
    is_body(b"first", request)
    khttpd.ctl("stop")
    serve("--set", "rules=deny /a")
    is_status(403)
    khttpd.ctl("stop")
    serve()
    is_body(b"first")


@everywhere
def limits_are_set():
    is_body(b"first")
    old = khttpd.limit("head_bytes", 64)
    try:
        long = GET("/a", "X: " + "y" * 50 + "\r\n")
        ktap.equal(khttpd.exchange(shared.place, long).status, 431, "a longer head")
        khttpd.limit("head_bytes", old)
        is_body(b"first", long)
        khttpd.limit("head_bytes", 64)
        ktap.equal(khttpd.exchange(shared.place, long).status, 431, "one that was known")
    finally:
        khttpd.limit("head_bytes", old)
    old = khttpd.limit("request_rate", 1), khttpd.limit("request_burst", 4)
    try:
        with shared.place.connect() as sock:
            sock.sendall(GET("/a") * TIMES)
            reader = khttpd.Reader(sock)
            for number in range(5):
                ktap.equal(reader.reply().status, 200 if number < 4 else 429,
                           f"status {number}")
    finally:
        khttpd.limit("request_rate", old[0])
        khttpd.limit("request_burst", old[1])


@everywhere
def each_is_logged():
    repeated(GET("/a?q"))
    log = khttpd.Log("-j")
    try:
        ask(GET("/a?q"))
        records = [json.loads(line) for line in log.lines(TIMES)]
    finally:
        log.stop()
    for record in records:
        record.pop("time", None)
        ktap.equal(record, records[0], "one like the other")
    ktap.true("/a?q" in json.dumps(records[0]), f"{records[0]}")


for where in (over_net6, over_ipv6):
    for what in TESTS:
        ktap.test(f"{what.__name__} {where.__name__}".replace("_", " "))(
            functools.partial(where, what))

ktap.main(setup)
