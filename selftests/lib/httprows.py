# SPDX-License-Identifier: GPL-2.0
"""Hostile and odd requests, and what they must get: one table for all families.

A row is (what, request, status, closed, nginx agrees). The status may be a
tuple of allowed ones. Files of the document root are made by files().
"""

import os
import socket

import khttpd

get = khttpd.get
HOST = "Host: a.example\r\n"
POST = "POST"
RANGED = bytes(range(100)) * 100    # /ranged: 10000 bytes


def files():
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("index.html", b"<p>index")
    khttpd.write("dir/index.html", b"<p>dir")
    khttpd.write("empty.dir/x", b"x")
    khttpd.write("zero", b"")
    khttpd.write("ranged", RANGED)
    khttpd.write("sp ~ace", b"space")
    khttpd.write("\udcc3\udca4.txt", b"umlaut")
    khttpd.write("%2e%2e", b"percent")
    khttpd.write("noread.txt", b"secret", 0o600)
    khttpd.write("exec", b"plain", 0o755)
    khttpd.write("locked/file.txt", b"secret")
    os.chmod(f"{khttpd.WWW}/locked", 0o700)
    with open("/srv/secret", "w", encoding="ascii") as file:
        file.write("secret")
    for name, target in (("out", "../secret"), ("abs", "/srv/secret"),
                         ("in", "a.txt"), ("loop", "loop"),
                         ("dangling", "nowhere"), ("up", "dir/../a.txt"),
                         ("proc", "/proc/self/root/srv/secret")):
        if not os.path.islink(f"{khttpd.WWW}/{name}"):
            os.symlink(target, f"{khttpd.WWW}/{name}")
    os.mkfifo(f"{khttpd.WWW}/fifo", 0o644)
    os.mknod(f"{khttpd.WWW}/device", 0o020666, os.makedev(1, 5))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(f"{khttpd.WWW}/socket")


def host(value):
    return f"GET / HTTP/1.1\r\nHost: {value}\r\n\r\n".encode("latin-1")


def fields(*lines, path="/a.txt", method="GET"):
    return get(path, "".join(line + "\r\n" for line in lines), method)


def ranged(value, path="/ranged", *more):
    return fields(f"Range: {value}", *more, path=path)


# The number is the row of the catalogue. The last column: nginx 1.22 gives the
# same status.
ROWS = (
    (1, "1.1 without Host", b"GET / HTTP/1.1\r\n\r\n", 400, True, True),
    (2, "two Hosts", get("/", HOST), 400, True, True),
    (2, "two Hosts, other", get("/", "Host: b\r\n"), 400, True, True),
    (3, "Host with space", host("a b"), 400, True, True),
    (3, "Host with comma", host("a,b"), 400, True, False),
    (3, "Host with path", host("../../etc"), 400, True, True),
    (3, "Host with half an address", host("[::1"), 400, True, False),
    (3, "Host with port", host("a:99999999"), 400, True, False),
    (4, "empty Host", host(""), 400, True, True),
    (5, "Host IPv6 and port", host("[2001:db8::1]:80"), 200, False, True),
    (5, "Host IPv6", host("[::1]"), 200, False, True),
    (5, "Host upper case, dot", host("A.EXAMPLE."), 200, False, True),
    (6, "absolute form", get("http://b.example/a.txt"), 200, False, True),
    (6, "absolute form without path", get("http://b.example"), 200, False, True),
    (7, "no leading slash", get("index.html"), 400, True, True),
    (8, "OPTIONS *", get("*", method="OPTIONS"), 204, False, False),
    (8, "OPTIONS /", get("/", method="OPTIONS"), 204, False, False),
    (8, "CONNECT", get("a:80", method="CONNECT"), 405, False, False),
    (8, "TRACE", get("/", method="TRACE"), 405, False, True),
    (9, "unknown method", get("/", method="FOO"), 501, False, False),
    (9, "lower-case method", get("/", method="get"), 501, False, False),
    (10, "DELETE", get("/a.txt", method="DELETE"), 405, False, True),
    (10, "POST with body", fields("Content-Length: 5", method=POST) + b"GET /",
     405, True, True),
    (10, "POST chunked", fields("Transfer-Encoding: chunked", method=POST)
     + b"zz\r\n", 405, True, False),
    (11, "long method", b"A" * 9000, 400, True, False),
    (11, "no space at all", b"G" * 100 + b"\r\n\r\n", 400, True, False),
    (12, "HTTP/1.2", get("/", version="1.2"), 200, False, True),
    (12, "HTTP/2.0", get("/", version="2.0"), 505, True, True),
    (12, "HTTP/0.9", b"GET /\r\n", 400, True, False),
    (12, "version lower case", b"GET / http/1.1\r\n\r\n", 400, True, True),
    (12, "version 01.1", b"GET / HTTP/01.1\r\nHost: a\r\n\r\n", 400, True, True),
    (13, "HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, True, True),
    (13, "TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, True, False),
    (13, "bytes", bytes(range(128, 256)) + b"\r\n\r\n", 400, True, True),
    (14, "two spaces", b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400, True, False),
    (14, "tab", b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, True, True),
    (14, "space at the end", b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400, True,
     False),
    (15, "empty lines", b"\r\n\r\n" + get("/"), 200, False, True),
    (15, "many empty lines", b"\r\n" * 1000 + get("/"), 400, True, False),
    (17, "bare LF", b"GET / HTTP/1.1\nHost: a\n\n", 400, True, False),
    (18, "bare CR", fields("X: a\rb"), 400, True, False),
    (18, "CR at the end", fields("X: a\r"), 400, True, False),
    (19, "folded", fields("X: a", " b"), 400, True, True),
    (20, "space before colon", fields("X : a"), 400, True, True),
    (20, "TE with space", fields("Transfer-Encoding : chunked", method=POST), 400,
     True, True),
    (21, "space before the first line", b"GET / HTTP/1.1\r\n X: a\r\n" +
     HOST.encode() + b"\r\n", 400, True, True),
    (22, "no colon", fields("abc"), 400, True, False),
    (22, "empty name", fields(": a"), 400, True, False),
    (22, "name with bracket", fields("a(b: c"), 400, True, False),
    (23, "NUL", fields("X: a\0b"), 400, True, True),
    (23, "DEL", fields("X: a\x7fb"), 400, True, False),
    (23, "control", fields("X: a\x01b"), 400, True, False),
    (23, "8-bit name", fields("X\xe4: a"), 400, True, False),
    (23, "8-bit value", fields("X: \xe4"), 200, False, True),
    (24, "CL and TE", fields("Content-Length: 5", "Transfer-Encoding: chunked",
                             method=POST), 400, True, True),
    (25, "two CL", fields("Content-Length: 5", "Content-Length: 5", method=POST),
     400, True, True),
    (25, "two CL, different", fields("Content-Length: 5", "Content-Length: 6",
                                     method=POST), 400, True, True),
    (25, "CL list", fields("Content-Length: 5, 5", method=POST), 400, True, True),
) + tuple(
    (26, f"CL {value!r}", fields(f"Content-Length: {value}", method=POST), 400,
     True, True)
    for value in ("+5", "-1", "0x5", "5 5", "", "12345678901234567890")
) + (
    (26, "CL 2^63-1", fields("Content-Length: 9223372036854775807", method=POST),
     413, True, True),
    (27, "TE xchunked", fields("Transfer-Encoding: xchunked", method=POST), 501,
     True, True),
    (27, "TE identity", fields("Transfer-Encoding: identity", method=POST), 501,
     True, True),
    (27, "TE chunked, identity", fields("Transfer-Encoding: chunked, identity",
                                        method=POST), (400, 501), True, True),
    (28, "TE twice", fields("Transfer-Encoding: chunked, chunked", method=POST),
     (400, 501), True, True),
    (28, "TE two lines", fields("Transfer-Encoding: chunked",
                                "Transfer-Encoding: chunked", method=POST), 400,
     True, True),
    (28, "TE after tab", fields("Transfer-Encoding:\tchunked", method=POST), 405,
     True, False),
    (28, "TE in mixed case", fields("Transfer-Encoding: cHuNkEd", method=POST),
     405, True, False),
    (29, "TE in 1.0", get("/a.txt", "Transfer-Encoding: chunked\r\n", POST, "1.0"),
     400, True, True),
    (30, "chunk size", fields("Transfer-Encoding: chunked", method=POST)
     + b"f" * 16 + b"\r\n", 405, True, False),
    (31, "chunk with bare LF", fields("Transfer-Encoding: chunked", method=POST)
     + b"1\nx\n0\n\n", 405, True, False),
    (32, "GET with body", fields("Content-Length: 5") + b"12345" + get("/a.txt"),
     200, True, True),
    (33, "request in a body", fields("Content-Length: 12") + b"GET /secret ",
     200, True, True),
    (34, "Expect with refused body", fields("Expect: 100-continue",
                                            "Content-Length: 5", method=POST),
     405, True, False),
    (34, "unknown Expect", fields("Expect: miracles"), 200, False, True),
    (35, "Upgrade h2c", fields("Upgrade: h2c", "Connection: upgrade"), 200, False,
     True),
    (35, "Upgrade websocket", fields("Upgrade: websocket", "Connection: upgrade"),
     200, False, True),
    (36, "Connection list", fields("Connection: TE,,Keep-Alive"), 200, False, True),
    (36, "close wins", fields("Connection: close, keep-alive"), 200, True, True),
    (36, "5000 tokens", fields("Connection: " + "a," * 3900 + "close"), 200, True,
     False),
    (37, "1.0 closes", b"GET /a.txt HTTP/1.0\r\n\r\n", 200, True, True),
    (38, "above the root", get("/../etc/passwd"), 400, True, True),
    (38, "above the root, encoded", get("/%2e%2e/"), 400, True, True),
    (38, "above the root, later", get("/dir/%2E./../x"), 400, True, True),
    (39, "inside again", get("/dir/../a.txt"), 200, False, True),
    (39, "double slash", get("//a.txt"), 200, False, True),
    (39, "dot", get("/./a.txt"), 200, False, True),
    (40, "%2f", get("/dir%2findex.html"), 404, False, False),
    (40, "%5c", get("/dir%5cindex.html"), 404, False, True),
    (40, "backslash", get("/\\.."), 404, False, True),
    (41, "%00", get("/a.txt%00"), 400, True, True),
    (41, "raw NUL", get("/a.txt\0"), 400, True, True),
    (41, "%zz", get("/%zz"), 400, True, True),
    (41, "lone %", get("/%"), 400, True, True),
    (41, "cut %4", get("/%4"), 400, True, True),
    (42, "decoded once", get("/%252e%252e"), 200, False, True),
    (42, "overlong UTF-8", get("/%c0%ae%c0%ae/secret"), 404, False, True),
    (43, "%0d%0a", get("/a%0d%0aX: y".replace(" ", "%20")), 404, False, True),
    (44, "raw control", get("/a\x01"), 400, True, True),
    (44, "raw 8-bit", get("/\xc3\xa4.txt"), 200, False, True),
    (44, "encoded 8-bit", get("/%c3%a4.txt"), 200, False, True),
    (44, "fragment", get("/a.txt#x"), 400, True, False),
    (44, "space", get("/sp ~ace"), 400, True, True),
    (44, "encoded space", get("/sp%20~ace"), 200, False, True),
    (45, "long target", get("/" + "a" * 9000), 414, True, True),
    (45, "long name", get("/" + "a" * 300), 404, False, True),
    (45, "long path", get("/" + "a/" * 3000), 404, False, True),
    (46, "long header", fields("X: " + "a" * 9000), 431, True, False),
    (46, "many headers", get("/", "A: b\r\n" * 200), 431, True, False),
    (47, "link out of the root", get("/out"), 403, False, False),
    (47, "absolute link", get("/abs"), 403, False, False),
    (48, "link through proc", get("/proc"), 403, False, False),
    (47, "link inside", get("/in"), 200, False, True),
    (47, "link with ..", get("/up"), 200, False, True),
    (47, "link loop", get("/loop"), 404, False, False),
    (47, "dangling link", get("/dangling"), 404, False, True),
    (49, "FIFO", get("/fifo"), 404, False, True),
    (49, "device", get("/device"), 404, False, True),
    (49, "socket", get("/socket"), 404, False, False),
    (50, "directory", get("/dir"), 301, False, True),
    (50, "directory with index", get("/dir/"), 200, False, True),
    (50, "directory without index", get("/empty.dir/"), 403, False, True),
    (50, "file with slash", get("/a.txt/"), 404, False, True),
    (50, "file as directory", get("/a.txt/b"), 404, False, True),
    (51, "unreadable file", get("/noread.txt"), 403, False, True),
    (51, "unreadable directory", get("/locked/file.txt"), 403, False, True),
    (51, "executable file", get("/exec"), 200, False, True),
    (52, "empty file", get("/zero"), 200, False, True),
    (53, "10-19", ranged("bytes=10-19"), 206, False, True),
    (53, "-10", ranged("bytes=-10"), 206, False, True),
    (53, "1000-", ranged("bytes=1000-"), 206, False, True),
    (53, "0-0", ranged("bytes=0-0"), 206, False, True),
    (53, "suffix over size", ranged("bytes=-20000"), 206, False, True),
    (53, "end over size", ranged("bytes=9000-20000"), 206, False, True),
    (54, "start at the end", ranged("bytes=10000-"), 416, False, True),
    (54, "-0", ranged("bytes=-0"), 416, False, True),
    (54, "of an empty file", ranged("bytes=0-", "/zero"), 416, False, False),
    (54, "the end of an empty file", ranged("bytes=-5", "/zero"), 200, False, False),
    (55, "inverted", ranged("bytes=20-10"), 200, False, False),
    (55, "words", ranged("bytes=abc"), 200, False, False),
    (55, "no range", ranged("bytes="), 200, False, False),
    (55, "two minus", ranged("bytes=--1"), 200, False, False),
    (55, "spaces inside", ranged("bytes=1 - 2"), 200, False, False),
    (56, "to 2^64-1", ranged("bytes=0-18446744073709551615"), 206, False, False),
    (56, "from 2^64-1", ranged("bytes=18446744073709551615-"), 416, False, True),
    (56, "30 digits", ranged("bytes=0-" + "9" * 30), 206, False, False),
    (57, "other unit", ranged("lines=0-1"), 200, False, True),
    (57, "unit in upper case", ranged("BYTES=0-1"), 206, False, True),
    (58, "multipart", ranged("bytes=0-1,4-5"), 206, False, True),
    (58, "out of order", ranged("bytes=40-50,0-1"), 206, False, True),
    (58, "adjacent", ranged("bytes=0-1,2-3"), 206, False, True),
    (59, "300 overlapping", ranged("bytes=" + ",".join(["0-"] * 300)), 200, False,
     True),
    (59, "many of one byte", ranged("bytes=" + ",".join(
        f"{n}-{n}" for n in range(200))), 200, False, False),
    (60, "two Range lines", ranged("bytes=0-1", "/ranged", "Range: bytes=4-5"),
     200, False, False),
    (60, "Range on POST", fields("Range: bytes=0-1", "Content-Length: 0",
                                 method=POST), 405, False, True),
    (61, "If-Range stale", ranged("bytes=0-1", "/ranged", 'If-Range: "x"'), 200,
     False, True),
    (61, "If-Range weak", ranged("bytes=0-1", "/ranged", 'If-Range: W/"x"'), 200,
     False, True),
    (61, "If-Range garbage", ranged("bytes=0-1", "/ranged", "If-Range: ?"), 200,
     False, True),
    (62, "If-None-Match *", fields("If-None-Match: *"), 304, False, True),
    (62, "If-None-Match miss", fields('If-None-Match: "x", W/"y"'), 200, False,
     True),
    (62, "If-None-Match unquoted", fields("If-None-Match: x"), 200, False, True),
    (62, "8 KB of commas", fields("If-None-Match: " + "," * 7900), 200, False,
     False),
    (63, "tag misses, date hits", fields(
        'If-None-Match: "x"', "If-Modified-Since: Sun, 06 Nov 2094 08:49:37 GMT"),
     200, False, True),
    (64, "later date", fields("If-Modified-Since: Sun, 06 Nov 2094 08:49:37 GMT"),
     304, False, False),
    (64, "earlier date", fields("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
     200, False, True),
    (64, "garbage", fields("If-Modified-Since: yesterday"), 200, False, True),
    (64, "two-digit year", fields(
        "If-Modified-Since: Sunday, 06-Nov-44 08:49:37 GMT"), 304, False, False),
    (64, "asctime", fields("If-Modified-Since: Sun Nov  6 08:49:37 2094"), 304,
     False, False),
    (64, "year 99999", fields("If-Modified-Since: Sun, 06 Nov 99999 08:49:37 GMT"),
     200, False, True),
    (65, "If-Match fails", fields('If-Match: "x"'), 412, False, True),
    (65, "If-Unmodified-Since fails", fields(
        "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"), 412, False, True),
    (66, "no coding", fields("Accept-Encoding: identity;q=0, *;q=0"), 200, False,
     True),
    (66, "1000 codings", fields("Accept-Encoding: " + ",".join(["x;q=1"] * 1000)),
     200, False, True),
    (84, "quotes and escapes", get("/%1b%5b1m%22%3cb%3e%0a"), 404, False, True),
)
