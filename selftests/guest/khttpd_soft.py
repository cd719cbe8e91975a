#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Cached files answered in softirq on net6, and what must not be: requests in pieces,
# pipelined beyond the send buffer, for files that changed, for other servers. Idle
# connections, full queues, ends of all kinds.
#
#	[ client ] c0 ------ s0 [ server: khttpd, and this process's server ]
#
# guest: stock+
# timeout: 240
# pylint: disable=missing-function-docstring
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

DATA = os.urandom(1_000_003)
SIZES = (0, 1, 64, 1024, 1700, 1800, 4096, 4097, 65536)
GET = khttpd.get
PLACE = khttpd.net6_later()


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    for size in SIZES:
        khttpd.write(f"size{size}", DATA[:size])
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("index.html", b"<p>index")
    khttpd.write("large", DATA[:100_000])
    khttpd.write("big", DATA)
    serve()


def serve(*more):
    khttpd.serve(PLACE, *more)


def again(*more):
    khttpd.ctl("stop")
    serve(*more)


def hits():
    return khttpd.count("soft_hits")


def is_hit(request, port=8080, head_only=False):
    """The reply, and was it made in softirq?"""
    before = hits()
    reply = khttpd.exchange(PLACE, request, port, head_only)
    return reply, hits() > before


def warm(*paths, port=8080, fields=""):
    """Asks until the files are answered in softirq; ends connections itself."""
    for path in paths:
        ktap.wait_for(20, f"{path} is answered in softirq",
                      lambda path=path: is_hit(GET(path, fields), port)[1])


def connections(number):
    """Waits until there are so many: the last step of a handshake is the peer's."""
    ktap.wait_for(20, f"{number} connections",
                  lambda: khttpd.count("connections") == number)


def gone():
    connections(0)


@ktap.test
def cached_files_are_answered_there():
    warm(*[f"/size{size}" for size in SIZES])
    with PLACE.connect() as sock:
        reader = khttpd.Reader(sock)
        before = hits()
        for size in SIZES:
            sock.sendall(GET(f"/size{size}"))
            reply = reader.reply()
            ktap.equal(reply.status, 200, f"status of {size}")
            ktap.true(reply.body == DATA[:size], f"{size} bytes are equal")
        ktap.equal(hits() - before, len(SIZES), "answered in softirq")
    reply, hit = is_hit(GET("/big"))
    ktap.true(reply.body == DATA and not hit, "a large one is a thread's")
    reply, hit = is_hit(GET("/"))
    ktap.true(reply.body == b"<p>index", "index file")
    reply, hit = is_hit(GET("/"))
    ktap.true(reply.body == b"<p>index" and hit, "index file, cached")


@ktap.test
def heads_in_turn_get_their_own_replies():
    """More of them than a processor remembers; each three times, so that most are known."""
    warm(*[f"/size{size}" for size in SIZES])
    heads = [(f"/size{SIZES[n % len(SIZES)]}", f"Cookie: {n}\r\n", DATA[:SIZES[n % len(SIZES)]])
             for n in range(300 if not ktap.CHECKING else 60)]
    heads += [("/size0?" + "q" * 2000, "", b""), ("/nowhere", "", None)]
    with PLACE.connect() as sock:
        reader = khttpd.Reader(sock)
        for turn in range(3):
            for path, fields, body in heads + heads[:4]:
                for _ in range(2 if turn == 1 else 1):
                    sock.sendall(GET(path, extra=fields))
                    reply = reader.reply()
                    ktap.equal(reply.body if reply.status == 200 else None, body, path)
    # Two heads at once: only the first is looked for.
    with PLACE.connect() as sock:
        reader = khttpd.Reader(sock)
        for one, two in zip(heads[:20], heads[1:21]):
            sock.sendall(b"".join(GET(path, extra=fields) for path, fields, _ in (one, two)))
            for _, _, body in (one, two):
                ktap.equal(reader.reply().body, body, "of two at once")


@ktap.test
def replies_are_those_of_a_thread():
    warm("/size1024")
    for method, version, fields in (
            ("GET", "1.1", ""), ("HEAD", "1.1", ""), ("GET", "1.0", ""),
            ("GET", "1.1", "Connection: close\r\n"),
            ("GET", "1.0", "Connection: keep-alive\r\n"),
            ("GET", "1.1", 'If-None-Match: "x"\r\n'),
            ("GET", "1.1", "If-None-Match: *\r\n"),
            ("GET", "1.1", "If-Modified-Since: Mon, 01 Jan 2035 00:00:00 GMT\r\n")):
        request = GET("/size1024", fields, method, version)
        what = f"{method} {version} {fields}"
        reply, hit = is_hit(request, head_only=method == "HEAD")
        ktap.true(hit, f"{what}: in softirq")
        # A request in two pieces is a thread's.
        with PLACE.connect() as sock:
            given = khttpd.count("soft_given")
            sock.sendall(request[:9])
            ktap.wait_for(10, "it is a thread's",
                          lambda given=given: khttpd.count("soft_given") > given)
            sock.sendall(request[9:])
            reader = khttpd.Reader(sock)
            other = reader.reply(method == "HEAD")
            if other.fields.get("connection") == "close":
                reader.closed()
        for one in (reply, other):
            one.fields["date"] = one.fields["date"][:-12]
        ktap.equal((reply.status, reply.fields, reply.body),
                   (other.status, other.fields, other.body), what)
        ktap.equal(reply.closed, other.fields.get("connection") == "close", what)


@ktap.test
def anything_else_is_a_threads():
    warm("/a.txt")
    for request, status in (
            (GET("/a.txt", "Range: bytes=1-2\r\n"), 206),
            (GET("/a.txt", 'If-Match: "x"\r\n'), 412),
            (GET("/a.txt", "Content-Length: 1\r\n") + b"x", 200),
            (GET("/a.txt", method="OPTIONS"), 204), (GET("/nope"), 404),
            (GET("/a.txt", method="POST"), 405), (GET("/%zz"), 400),
            (GET("/a.txt", "X: " + "y" * 5000 + "\r\n"), 200),
            (b"nonsense\r\n\r\n", 400)):
        reply, hit = is_hit(request)
        ktap.equal((reply.status, hit), (status, False), str(request[:40]))
    for cut in range(1, len(GET("/a.txt"))):
        with PLACE.connect() as sock:
            request = GET("/a.txt")
            sock.sendall(request[:cut])
            sock.sendall(request[cut:])
            ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", f"cut at {cut}")
    gone()


class Kept:
    """One connection, which goes to a thread and back."""

    def __init__(self, port=8080):
        self.sock = PLACE.connect(port)
        self.reader = khttpd.Reader(self.sock)
        self.returned = khttpd.count("soft_returned")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def ask(self, path, status=200, **more):
        self.sock.sendall(GET(path, **more))
        reply = self.reader.reply()
        ktap.equal(reply.status, status, path)
        return reply.body

    def leave(self):
        """Asks for what only a thread answers."""
        given = khttpd.count("soft_given")
        ktap.equal(self.ask("/a.txt", 206, extra="Range: bytes=1-2\r\n"), b"el", "a part")
        ktap.equal(khttpd.count("soft_given"), given + 1, "it is a thread's")

    def back(self, path="/size1024", body=DATA[:1024]):
        """Asks until it is answered in softirq again."""
        for _ in range(3):
            ktap.true(self.ask(path) == body, "body")
        ktap.equal(khttpd.count("soft_returned"), self.returned, "not before the fourth")
        self.returned += 1
        ktap.wait_for(10, "it is given back", lambda: self.ask(path) == body and
                      khttpd.count("soft_returned") == self.returned)
        before = hits()
        ktap.true(self.ask(path) == body, "body")
        ktap.equal(hits(), before + 1, "in softirq")


@ktap.test
def what_a_thread_has_comes_back():
    warm("/size1024", "/size65536")
    gone()
    before = khttpd.counters()
    khttpd.write("cold", b"cold")
    with Kept() as kept:
        ktap.equal(kept.ask("/cold"), b"cold", "a miss is a thread's")
        ktap.equal(hits(), before["soft_hits"], "not in softirq")
        # A file that has just been changed is not for softirq yet.
        warm("/cold")
        kept.back("/cold", b"cold")
        seen = hits()
        for number in range(20):
            ktap.equal(kept.ask("/cold"), b"cold", "body")
            ktap.equal(hits(), seen + number + 1, "in softirq")
        for path, size in (("/size1024", 1024), ("/size65536", 65536)) * 3:
            kept.leave()
            kept.back(path, DATA[:size])
        # What interrupts a row begins it anew.
        kept.leave()
        for _ in range(4):
            for _ in range(3):
                kept.ask("/size1024")
            ktap.equal(kept.ask("/a.txt", 206, extra="Range: bytes=1-2\r\n"), b"el", "a part")
        ktap.equal(khttpd.count("soft_returned"), kept.returned, "it stays")
        for _ in range(6):
            ktap.true(kept.ask("/big") == DATA, "a large one")
        ktap.equal(khttpd.count("soft_returned"), kept.returned, "so it does with large ones")
        kept.back()
        connections(1)
    gone()
    for name in ("aborted", "lost"):
        ktap.equal(khttpd.count(name), before[name], name)
    ktap.equal(khttpd.count("accepted") - before["accepted"],
               khttpd.count("closed") - before["closed"], "each is counted once")


@ktap.test
def ends_of_what_has_come_back():
    warm("/size1024")
    before = khttpd.count("timeout_idle")
    old = khttpd.limit("idle_timeout", 500)
    try:
        with Kept() as kept:
            kept.leave()
            kept.back()
            kept.reader.closed()
    finally:
        khttpd.limit("idle_timeout", old)
    ktap.equal(khttpd.count("timeout_idle"), before + 1, "idle")
    for end in (lambda kept: kept.sock.shutdown(socket.SHUT_WR), lambda kept: again()):
        with Kept() as kept:
            kept.leave()
            kept.back()
            end(kept)
            kept.reader.closed()
        gone()
    # The last request that makes it come back, and the end, in one.
    for _ in range(20):
        with Kept() as kept:
            kept.leave()
            for _ in range(3):
                kept.ask("/size1024")
            kept.sock.sendall(GET("/size1024"))
            kept.sock.shutdown(socket.SHUT_WR)
            ktap.true(kept.reader.reply().body == DATA[:1024], "last body")
            kept.reader.closed()
    gone()


@ktap.test
def pipelined_requests_stay_in_order():
    warm("/a.txt", "/size1024")
    for names in (["a.txt", "size1024"] * 15, ["a.txt"] * 200,
                  ["a.txt", "size1024", "nope", "a.txt", "big", "size65536"] * 5):
        with PLACE.connect() as sock:
            sock.sendall(b"".join(GET("/" + name) for name in names))
            reader = khttpd.Reader(sock)
            for name in names:
                reply = reader.reply()
                ktap.equal(reply.status, 404 if name == "nope" else 200, name)
                if name.startswith("size"):
                    ktap.true(reply.body == DATA[:int(name[4:])], name)


@ktap.test
def a_reader_that_is_slower_than_the_cache():
    warm("/size65536")
    given = khttpd.count("soft_given")
    with PLACE.connect() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(GET("/size65536") * 60)
        ktap.wait_for(20, "the send buffer is full",
                      lambda: khttpd.count("soft_given") > given)
        reader = khttpd.Reader(sock)
        for number in range(60):
            ktap.true(reader.reply().body == DATA[:65536], f"reply {number}")
    with PLACE.connect() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(GET("/size65536") * 60)
    gone()


@ktap.test
def what_comes_with_a_fin_is_answered():
    warm("/a.txt")
    for request in (GET("/a.txt"), GET("/a.txt") * 3, GET("/a.txt") + b"GET /a"):
        with PLACE.connect() as sock:
            sock.sendall(request)
            sock.shutdown(socket.SHUT_WR)
            reader = khttpd.Reader(sock)
            for _ in range(request.count(b"\r\n\r\n")):
                ktap.equal(reader.reply().body, b"hello\n", "body")
            reader.closed()
    with PLACE.connect() as sock:
        sock.sendall(GET("/a.txt", "Connection: close\r\n") + GET("/a.txt"))
        reader = khttpd.Reader(sock)
        ktap.equal(reader.reply().body, b"hello\n", "last reply")
        reader.closed()
    gone()


@ktap.test
def a_changed_file_is_not_answered_from_before():
    path = khttpd.write("changes", b"first")
    warm("/changes")
    with PLACE.connect() as sock:
        reader = khttpd.Reader(sock)
        for body, change in (
                (b"second", lambda: khttpd.write("changes", b"second")),
                (b"third", lambda: os.rename(khttpd.write("new", b"third"), path)),
                (b"thi", lambda: os.truncate(path, 3)),
                (None, lambda: os.chmod(path, 0)),
                (b"thi", lambda: os.chmod(path, 0o644)),
                (None, lambda: os.unlink(path))):
            warm("/a.txt")
            change()
            sock.sendall(GET("/changes"))
            reply = reader.reply()
            ktap.equal(reply.body if reply.status == 200 else None, body, "body")
    khttpd.write("d/e/f", b"one")
    warm("/d/e/f")
    os.rename(f"{khttpd.WWW}/d", f"{khttpd.WWW}/g")
    ktap.equal(is_hit(GET("/d/e/f"))[0].status, 404, "directory renamed")


@ktap.test
def rules_hosts_and_variants_count():
    khttpd.write("v.css", b"plain")
    khttpd.let_files_settle()
    khttpd.write("v.css.gz", b"gzipped")
    khttpd.write("secret/x", b"secret")
    khttpd.write("../other/who", b"other")
    khttpd.write("who", b"front")
    again("--set", "precompressed=1", "--set", "rules=deny /secret/")
    with PLACE.server:
        khttpd.ctl("serve", "--site", "other", "--docroot", "/srv/other", "--set",
                   "behind=default", "--set", "names=other.example")
    warm("/v.css", "/who")
    warm("/v.css", fields="Accept-Encoding: gzip\r\n")
    reply, hit = is_hit(GET("/v.css", "Accept-Encoding: gzip\r\n"))
    ktap.equal((reply.body, hit), (b"gzipped", True), "variant")
    reply, hit = is_hit(GET("/v.css"))
    ktap.equal((reply.body, hit), (b"plain", True), "no variant")
    reply, hit = is_hit(GET("/secret/x"))
    ktap.equal((reply.status, hit), (403, False), "denied")
    request = b"GET /who HTTP/1.1\r\nHost: other.example\r\n\r\n"
    ktap.wait_for(20, "the other host is answered in softirq",
                  lambda: is_hit(request)[1])
    ktap.equal(is_hit(request)[0].body, b"other", "other host")
    ktap.equal(is_hit(GET("/who"))[0].body, b"front", "host in front")
    khttpd.ctl("stop", "--site", "other")
    ktap.equal(is_hit(request)[0].body, b"front", "other host stopped")
    again()


@ktap.test
def connections_that_say_nothing_end():
    warm("/a.txt")
    for name, limit in (("timeout_head", "head_timeout"),
                        ("timeout_idle", "idle_timeout")):
        before = khttpd.count(name)
        # It counts for connections that come after.
        old = khttpd.limit(limit, 300)
        try:
            with PLACE.connect() as sock:
                reader = khttpd.Reader(sock)
                if name == "timeout_idle":
                    sock.sendall(GET("/a.txt"))
                    reader.reply()
                reader.closed()
        finally:
            khttpd.limit(limit, old)
        ktap.equal(khttpd.count(name), before + 1, name)
    gone()


@ktap.test
def the_limit_of_connections_counts_them():
    warm("/a.txt")
    gone()
    old = khttpd.limit("max_connections", 5)
    try:
        socks = [PLACE.connect() for _ in range(5)]
        connections(5)
        refused = khttpd.count("connections_full")
        try:
            with PLACE.connect() as sock:
                khttpd.Reader(sock).closed()
        except ConnectionResetError:
            pass
        ktap.equal(khttpd.count("connections_full"), refused + 1, "refused")
        # A thread's work is within the same limit.
        for sock in socks:
            sock.sendall(GET("/nope") + GET("/a.txt"))
        for sock in socks:
            reader = khttpd.Reader(sock)
            ktap.equal([reader.reply().status for _ in range(2)], [404, 200], "all")
            sock.close()
        gone()
    finally:
        khttpd.limit("max_connections", old)


class Server(khttpd.Server):
    """A listener on net6 in this process."""

    def __init__(self, backlog=64):
        super().__init__(PLACE, 8091, "att", backlog=backlog)
        warm("/a.txt", port=8091)


@ktap.test
def a_server_gets_the_connection_in_mid_stream():
    with Server() as server:
        for rest in (b"", b"rest", GET("/a.txt")):
            with PLACE.connect(8091) as sock:
                before = hits()
                sock.sendall(GET("/a.txt") * 3 + GET("/dyn?x") + rest)
                reader = khttpd.Reader(sock)
                for _ in range(3):
                    ktap.equal(reader.reply().body, b"hello\n", "static")
                ktap.equal(hits() - before, 3, "in softirq")
                conn = server.accept()
                wanted = GET("/dyn?x") + rest
                ktap.equal(ktap.take(conn, len(wanted)), wanted, "byte for byte")
                conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                ktap.equal(reader.reply().body, b"ok", "answer of the server")
                sock.sendall(GET("/a.txt"))
                ktap.equal(ktap.take(conn, 10), GET("/a.txt")[:10], "is the server's now")
                conn.close()
        with Kept(8091) as kept:
            kept.leave()
            kept.back()
            kept.sock.sendall(GET("/dyn?x"))
            conn = server.accept()
            ktap.equal(ktap.take(conn, len(GET("/dyn?x"))), GET("/dyn?x"), "also after a thread")
            ktap.equal(conn.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), 0,
                       "as accept() would give it")
            conn.close()
        with PLACE.connect(8091) as sock:
            sock.sendall(GET("/a.txt", method="POST", extra="Content-Length: 1\r\n") + b"x")
            conn = server.accept()
            ktap.equal(ktap.take(conn, 4), b"POST", "a body is the server's")
            conn.close()
    gone()


@ktap.test
def detach_gives_idle_connections_to_the_server():
    with Server() as server:
        before = khttpd.count("accepted")
        socks = [PLACE.connect(8091) for _ in range(20)]
        for sock in socks[10:]:
            sock.sendall(GET("/a.txt"))
            ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "before")
        connections(20)
        ktap.equal(khttpd.count("accepted"), before + 20, "each counts once")
        ktap.equal(khttpd.ctl("detach", "--site", "att"),
                   "detached from 1 listener\n", "detach")
        ktap.equal(khttpd.count("connections"), 0, "connections after it")
        ktap.equal(khttpd.count("accepted"), before + 20, "they were accepted all the same")
        conns = [server.accept() for _ in socks]
        for sock in socks:
            sock.sendall(b"x")
        for conn in conns:
            ktap.equal(ktap.take(conn, 1), b"x", "the server has it")
            conn.close()
        for sock in socks:
            sock.close()


@ktap.test
def counters_are_right_and_only_grow():
    """Who goes to a thread was accepted before; who is let go of in order is not lost."""
    warm("/a.txt")
    gone()
    before = khttpd.counters()
    socks = [PLACE.connect() for _ in range(20)]
    for sock in socks[5:]:
        sock.sendall(GET("/a.txt"))
        ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "body")
    seen = before["accepted"]
    for sock in socks[10:]:
        sock.sendall(GET("/nope"))
        ktap.equal(khttpd.Reader(sock).reply().status, 404, "a thread's")
        ktap.true(khttpd.count("accepted") >= seen, "no fewer than before")
        seen = khttpd.count("accepted")
    connections(20)
    ktap.equal(khttpd.count("accepted"), before["accepted"] + 20, "each counts once")
    again()
    for sock in socks:
        khttpd.Reader(sock).closed()
        sock.close()
    for name, more in (("accepted", 20), ("closed", 20), ("aborted", 0), ("lost", 0)):
        ktap.equal(khttpd.count(name), before[name] + more, name)


@ktap.test
def a_server_that_closes_its_listener():
    warm("/size65536")
    with Server() as server:
        warm("/size65536", port=8091)
        idle = PLACE.connect(8091)
        busy = PLACE.connect(8091)
        busy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        before = hits()
        busy.sendall(GET("/size65536"))
        ktap.wait_for(20, "it is answered", lambda: hits() > before)
        server.sock.close()
        khttpd.Reader(idle).closed()
        ktap.true(khttpd.Reader(busy).reply().body == DATA[:65536], "reply under way")
        idle.close()
        busy.close()
    gone()


@ktap.test
def a_full_accept_queue_loses_nobody():
    with Server(backlog=1) as server:
        waited = khttpd.count("soft_waited")
        # A head that is too long for softirq is a thread's in any case.
        request = GET("/dyn", "X: " + "y" * 5000 + "\r\n")
        socks = [PLACE.connect(8091) for _ in range(60)]
        # The thread that empties the queue waits until all have come.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        try:
            for sock in socks:
                sock.sendall(request)
        finally:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        for _ in socks:
            conn = server.accept()
            ktap.equal(ktap.take(conn, len(request)), request, "request")
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            conn.close()
        for sock in socks:
            ktap.equal(khttpd.Reader(sock).reply().body, b"ok", "reply")
            sock.close()
        ktap.true(khttpd.count("soft_waited") > waited, "some had to wait")
    gone()


TURNS = 5 if not ktap.CHECKING else 2
STATIC = (("/a.txt", (b"hello\n",)), ("/size4096", (DATA[:4096],)),
          ("/size65536", (DATA[:65536],)), ("/nope", None))
LARGE = (("/large", (DATA[:100_000],)),)


class Load:
    """Connections that ask for cached files only, others, and some that come and go between
    softirq and threads.
    """

    def __init__(self, more=(), port=8080):
        self.returned = khttpd.count("soft_returned")
        self.all = [khttpd.Clients(PLACE, STATIC[:3], 2, port),
                    khttpd.Clients(PLACE, STATIC[:3] + more, 2, port, 7),
                    khttpd.Clients(PLACE, STATIC[:3] * 3 + LARGE, 2, port)]

    def come_back(self):
        ktap.wait_for(20, "some come back from a thread",
                      lambda: khttpd.count("soft_returned") > self.returned + 3)
        self.returned = khttpd.count("soft_returned")

    def stop(self):
        for clients in self.all:
            clients.stop()


@ktap.test
def files_change_under_load():
    versions = [bytes([65 + n]) * (100 * (1 + n) ** 3) for n in range(8)]
    # What changes in a directory is no concern of the one above it.
    churn = khttpd.Churn("c", versions, 2_000 if not ktap.CHECKING else 1_000, 65536)
    load = Load((("/c/churn", versions), ("/c/cut", None), STATIC[3]))
    try:
        before = hits()
        churn.end()
        ktap.wait_for(20, "hits", lambda: hits() > before + 50)
        load.come_back()
        ktap.diag(f"{hits() - before} hits meanwhile")
    finally:
        load.stop()
    gone()


@ktap.test
def stopped_and_unloaded_under_load_and_back():
    load = Load(STATIC[3:])
    try:
        for _ in range(TURNS):
            khttpd.ctl("stop")
            ktap.equal(khttpd.count("connections"), 0, "connections")
            ktap.equal(khttpd.count("cache_entries"), 0, "files held open")
            ktap.run("rmmod", "khttpd")
            ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")
            serve()
            ktap.wait_for(20, "clients are served in softirq", lambda: hits() > 20)
            load.returned = 0
            load.come_back()
    finally:
        load.stop()
    gone()


@ktap.test
def attached_and_detached_under_load():
    with Server() as server:
        server.sock.setblocking(False)
        load = Load(port=8091)
        try:
            for _ in range(TURNS):
                before = hits()
                ktap.wait_for(20, "hits", lambda before=before: hits() > before + 20)
                load.come_back()
                khttpd.ctl("detach", "--site", "att")
                # What the server has now it ends.
                try:
                    while True:
                        server.sock.accept()[0].close()
                except BlockingIOError:
                    pass
                khttpd.ctl("stop", "--site", "att", check=False)
                server.attach()
        finally:
            load.stop()
    gone()


def net6ctl(*words):
    return PLACE.server.run(f"{khttpd.TOP}/tools/net6ctl", *words, check=False)


def end(sock):
    """As an administrator does, from the server's side."""
    net6ctl("del", "socket", "rport", str(sock.getsockname()[1]))
    try:
        while sock.recv(65536):
            pass
    except ConnectionResetError:
        return
    raise ktap.Fail("it was not reset")


@ktap.test
def ended_by_the_administrator():
    warm("/size1024", "/size65536")
    gone()
    before = khttpd.counters()
    with Kept() as soft, Kept() as thread, Kept() as other, PLACE.connect() as slow:
        soft.ask("/size1024")
        thread.leave()
        given = khttpd.count("soft_given")
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(GET("/size65536") * 60)
        ktap.wait_for(20, "its send buffer is full",
                      lambda: khttpd.count("soft_given") > given)
        for number, sock in enumerate((soft.sock, thread.sock, slow)):
            end(sock)
            connections(3 - number)
        net6ctl("del", "socket", "lport", "8080", "rport", "0")
        try:
            PLACE.connect().close()
            raise ktap.Fail("it listens still")
        except ConnectionRefusedError:
            pass
        other.ask("/size1024")
    gone()
    ktap.equal(khttpd.count("accepted") - before["accepted"],
               khttpd.count("closed") - before["closed"], "each is counted once")
    again()
    warm("/size1024")


def stalled():
    before = hits()
    time.sleep(0.1)		# for what does not happen
    return hits() == before


@ktap.test
def the_interface_goes_down_and_comes_back_under_load():
    load = Load(STATIC[3:])
    try:
        for _ in range(TURNS):
            before = hits()
            ktap.wait_for(20, "hits", lambda before=before: hits() > before + 20)
            PLACE.server.down("s0")
            ktap.wait_for(20, "nobody is served", stalled)
            PLACE.server.up("s0")
            net6ctl("add", "address", f"{PLACE.address}/64", "dev", "s0")
            ktap.wait_for(20, "the address is there again", lambda: khttpd.net6_preferred(
                PLACE.server, "s0", PLACE.address))
    finally:
        load.stop()
    gone()


@ktap.test
def the_namespace_goes_away_under_load():
    warm("/size65536", "/a.txt", "/size1024")
    kept = Kept()
    kept.leave()
    kept.back()
    socks = [PLACE.connect() for _ in range(20)]
    for number, sock in enumerate(socks):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(GET("/size65536" if number % 2 else "/a.txt") * 2)
    connections(21)
    PLACE.server.delete()
    gone()
    for sock in (kept.sock, *socks):
        # Nobody is there to answer a FIN.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()


ktap.main(setup)
