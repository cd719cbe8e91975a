#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Requests that are a server's are given to it where their segment is received, without a
# thread. It is told by method, content, rule, cookie, or because it is known that there
# is no such file. Files which come to be there are served at once. Full queues, ends and
# detaching while connections wait for the server.
#
#	[ client ] c0 ------ s0 [ server: khttpd, and this process's server ]
#
# guest: both
# timeout: 240
# pylint: disable=missing-function-docstring
import errno
import os
import select
import shutil
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
import uring   # pylint: disable=wrong-import-position

GET = khttpd.get
PLACE = khttpd.net6_later()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("dir/a.txt", b"below\n")
    khttpd.write("secret/a.txt", b"secret\n")


class Server(khttpd.Server):
    """A listener on net6 in this process, with khttpd in front."""

    def __init__(self, *more):
        if more:
            # The site is made here, with settings.
            with PLACE.server:
                khttpd.ctl("serve", "--site", "att", "--docroot", khttpd.WWW, "--listen",
                           "127.0.0.1:8092", *more)
        super().__init__(PLACE, 8091, "att", docroot=None if more else khttpd.WWW)

    def answer(self, wanted):
        """The oldest connection is @wanted's; it is answered and ended."""
        conn = self.accept()
        ktap.equal(ktap.take(conn, len(wanted)), wanted, "byte for byte")
        conn.sendall(ANSWER)
        conn.close()

    def asked(self, request):
        """Sends a request that the server must get. Was it given in softirq?"""
        before, given = khttpd.count("soft_handed"), khttpd.count("soft_given")
        with PLACE.connect(self.port) as sock:
            sock.sendall(request)
            self.answer(request)
            ktap.equal(khttpd.Reader(sock).reply().body, b"ok", "answer of the server")
        soft = khttpd.count("soft_handed") - before
        ktap.equal(soft + khttpd.count("soft_given") - given, 1, "one or the other")
        return soft == 1

    def warm(self, path):
        ktap.wait_for(20, f"{path} is known not to be there",
                      lambda: self.asked(GET(path)))


def gone():
    ktap.wait_for(20, "no connection is left",
                  lambda: khttpd.count("connections") == 0)


@ktap.test
def by_method_content_and_target():
    with Server() as server:
        for request in (GET("/a.txt", method="POST", extra="Content-Length: 3\r\n") + b"x=1",
                        GET("/a.txt", method="DELETE"), GET("/a.txt", method="BREW"),
                        GET("/a.txt", "Content-Length: 1\r\n") + b"x",
                        GET("/a.txt", "Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n",
                        GET("*", method="OPTIONS"), GET("/a%2ftxt"),
                        GET("/a.txt", "Connection: Upgrade\r\nUpgrade: websocket\r\n")):
            ktap.true(server.asked(request), f"{request[:30]} in softirq")
        # Not so what is in pieces, or too long to be looked at there.
        ktap.true(not server.asked(GET("/no", "X: " + "y" * 5000 + "\r\n")), "long head")
    gone()


@ktap.test
def requests_that_come_with_a_syn():
    for ns in (PLACE.client, PLACE.server):
        ns.run("sysctl", "-qw", "net.ipv4.tcp_fastopen=3")
    with Server() as server:
        server.sock.setsockopt(socket.IPPROTO_TCP, 23, 16)
        server.warm("/no")

        def ask():
            """Did the request go with the SYN, and was it given in softirq?"""
            handed = khttpd.count("soft_handed")
            with PLACE.socket() as sock:
                sock.sendto(GET("/no"), 0x20000000, (PLACE.address, 8091))
                server.answer(GET("/no"))
                ktap.equal(khttpd.Reader(sock).reply().body, b"ok", "answer of the server")
                fast = sock.getsockopt(socket.IPPROTO_TCP, 11, 104)[5] & 32
            return fast and khttpd.count("soft_handed") > handed
        ktap.wait_for(20, "the first one is given in softirq", ask)
        for _ in range(10):
            ktap.true(ask(), "with the SYN, in softirq")
    gone()


@ktap.test
def by_rule_and_cookie():
    with Server("--set", "rules=serve /dir/\npass *.txt\ndeny /secret/\ncookie sid\n") as server:
        for request, soft in ((GET("/a.txt"), True), (GET("/nope.txt"), True),
                              (GET("/dir/a.txt", "Cookie: a=b; sid=1\r\n"), True),
                              (GET("/x/../a.txt"), True)):
            ktap.equal(server.asked(request), soft, str(request[:30]))
        for request, status in ((GET("/secret/"), 403), (GET("/dir/a.txt"), 200),
                                (GET("/dir/a.txt", "Cookie: sid2=1\r\n"), 200)):
            reply = khttpd.exchange(PLACE, request, 8091)
            ktap.equal(reply.status, status, str(request[:40]))
            ktap.true(b"khttpd" in reply.head, "khttpd's")
    gone()


@ktap.test
def framing_that_is_not_certain_is_never_given():
    with Server():
        given = khttpd.count("handed_over")
        for request in (b"GET /no HTTP/1.1\r\nHost: a\n\r\n", b"GET /no HTTP/1.1\r\n\r\n",
                        GET("/no", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
                        GET("/%zz"), GET("/../no")):
            reply = khttpd.exchange(PLACE, request, 8091)
            ktap.equal((reply.status, reply.closed), (400, True), str(request[:40]))
        ktap.equal(khttpd.count("handed_over"), given, "nothing was handed over")
    gone()


@ktap.test
def what_is_missing():
    with Server() as server:
        for path in ("/no", "/no/below", "/dir/no", "/", "/dir/", "/dir/no/x/y"):
            server.warm(path)
        for request in (GET("/no/other?x=1"), GET("/no", "Range: bytes=0-1\r\n"),
                        GET("/no", method="HEAD"), GET("/no", version="1.0"),
                        GET("/no", "Connection: close\r\n") + b"more"):
            if request.startswith(b"HEAD"):
                with PLACE.connect(8091) as sock:
                    sock.sendall(request)
                    server.answer(request)
                continue
            ktap.true(server.asked(request), f"{request[:30]} in softirq")
        ktap.true(khttpd.count("negative_hits") > 0, "counted")
        for path, body in (("/a.txt", b"hello\n"), ("/dir/a.txt", b"below\n")):
            ktap.equal(khttpd.exchange(PLACE, GET(path), 8091).body, body, path)
    gone()


def make(path, body):
    """Ways in which a path that led to nothing comes to lead to @body."""
    full = f"{khttpd.WWW}{path}"

    def moved():
        os.rename(khttpd.write("new", body), full)

    def linked():
        os.link(khttpd.write("other", body), full)

    def symlinked():
        khttpd.write("other", body)
        os.symlink("/".join([".."] * path.count("/", 1) + ["other"]), full)
    return (("written", lambda: khttpd.write(path[1:], body)), ("moved", moved),
            ("linked", linked), ("symlinked", symlinked))


@ktap.test
def what_comes_to_be_there_is_served():
    with Server() as server:
        for path in ("/new.txt", "/dir/new.txt"):
            for how, change in make(path, b"new"):
                server.warm(path)
                change()
                reply = khttpd.exchange(PLACE, GET(path), 8091)
                ktap.equal((reply.status, reply.body), (200, b"new"), f"{path} {how}")
                os.unlink(f"{khttpd.WWW}{path}")
        for how in ("made", "moved"):
            server.warm("/sub/f")
            khttpd.write("sub/f" if how == "made" else "tree/f", b"f")
            if how == "moved":
                os.rename(f"{khttpd.WWW}/tree", f"{khttpd.WWW}/sub")
            ktap.equal(khttpd.exchange(PLACE, GET("/sub/f"), 8091).body, b"f", how)
            shutil.rmtree(f"{khttpd.WWW}/sub")
        # The directory above goes elsewhere, and another one comes.
        khttpd.write("one/x", b"x")
        khttpd.write("two/no", b"there")
        server.warm("/one/no")
        os.rename(f"{khttpd.WWW}/one", f"{khttpd.WWW}/three")
        os.rename(f"{khttpd.WWW}/two", f"{khttpd.WWW}/one")
        ktap.equal(khttpd.exchange(PLACE, GET("/one/no"), 8091).body, b"there", "renamed")
        shutil.rmtree(f"{khttpd.WWW}/one")
        khttpd.write("three/no", b"again")
        os.rename(f"{khttpd.WWW}/three", f"{khttpd.WWW}/one")
        ktap.equal(khttpd.exchange(PLACE, GET("/one/no"), 8091).body, b"again", "and back")
        server.warm("/")
        khttpd.write("index.html", b"index")
        ktap.equal(khttpd.exchange(PLACE, GET("/"), 8091).body, b"index", "index file")
        os.unlink(f"{khttpd.WWW}/index.html")
    gone()


@ktap.test
def own_listeners_know_what_is_missing_too():
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", khttpd.V4.listen, "--set",
               "listing=0")
    try:
        def known():
            before = khttpd.count("negative_hits"), khttpd.count("lookups")
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/no/f")).status, 404, "/no/f")
            return khttpd.count("negative_hits") > before[0] and \
                khttpd.count("lookups") == before[1]
        ktap.wait_for(20, "it is known without a lookup", known)
        khttpd.write("no/f", b"f")
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/no/f")).body, b"f", "made")
        for path, status in (("/none/", 404), ("/dir/", 403), ("/a.txt/", 404),
                             ("/none/", 404)):
            ktap.equal(khttpd.exchange(khttpd.V4, GET(path)).status, status, path)
        shutil.rmtree(f"{khttpd.WWW}/no")
    finally:
        khttpd.ctl("stop")


@ktap.test
def many_missing_paths_push_out_the_oldest():
    # Eight at a time have room wherever their digests lead: none pushes out another.
    with Server() as server:
        for _ in range(40 if not ktap.CHECKING else 5):
            paths = [f"/{os.urandom(4).hex()}" for _ in range(8)]
            for path in paths:
                server.warm(path)
            ktap.equal([path for path in paths if not server.asked(GET(path))], [],
                       "forgotten")
        server.warm("/a/b/c/d/e/f")
    gone()


@ktap.test
def a_full_queue_is_503():
    with Server() as server:
        server.warm("/no")
        old = khttpd.limit("handover_queue", 2)
        full = khttpd.count("handover_full")
        try:
            socks = [PLACE.connect(8091) for _ in range(3)]
            before = khttpd.count("soft_handed")
            for sock in socks[:2]:
                sock.sendall(GET("/no"))
            ktap.wait_for(20, "two wait",
                          lambda: khttpd.count("soft_handed") == before + 2)
            socks[2].sendall(GET("/no"))
            reader = khttpd.Reader(socks[2])
            ktap.equal(reader.reply().status, 503, "the third")
            reader.closed()
            ktap.equal(khttpd.count("handover_full"), full + 1, "counted")
            for sock in socks[:2]:
                server.answer(GET("/no"))
                ktap.equal(khttpd.Reader(sock).reply().body, b"ok", "answer")
        finally:
            khttpd.limit("handover_queue", old)
        for sock in socks:
            sock.close()
    gone()


def hand(server, number, request):
    """That many connections that wait for the server."""
    before = khttpd.count("soft_handed")
    socks = [PLACE.connect(server.port) for _ in range(number)]
    for sock in socks:
        sock.sendall(request)
    ktap.wait_for(20, "they wait", lambda: khttpd.count("soft_handed") == before + number)
    return socks


@ktap.test
def a_server_that_closes_its_listener():
    with Server() as server:
        server.warm("/no")
        socks = hand(server, 5, GET("/no"))
        refused = khttpd.count("handover_gone")
        server.sock.close()
        for sock in socks:
            reader = khttpd.Reader(sock)
            ktap.equal(reader.reply().status, 503, "refused")
            reader.closed()
            sock.close()
        ktap.equal(khttpd.count("handover_gone"), refused + 5, "counted")
    gone()


@ktap.test
def detached_while_they_wait():
    with Server() as server:
        server.warm("/no")
        socks = hand(server, 5, GET("/no") + b"rest")
        thread = threading.Thread(target=khttpd.ctl, args=("detach", "--site", "att"))
        thread.start()
        for _ in socks:
            server.answer(GET("/no") + b"rest")
        thread.join()
        for sock in socks:
            ktap.equal(khttpd.Reader(sock).reply().body, b"ok", "answer")
            sock.close()
    gone()


@ktap.test
def what_comes_while_they_wait():
    with Server() as server:
        server.warm("/no")
        for end in ("more", "fin", "reset"):
            sock, = hand(server, 1, GET("/no"))
            if end == "more":
                sock.sendall(b"more")
            elif end == "fin":
                sock.shutdown(socket.SHUT_WR)
            else:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                struct.pack("ii", 1, 0))
                sock.close()
            conn = server.accept()
            if end == "more":
                ktap.equal(ktap.take(conn, len(GET("/no")) + 4), GET("/no") + b"more",
                           end)
            elif end == "fin":
                ktap.equal(ktap.take(conn, 10000), GET("/no"), end)
            else:
                ktap.raises(errno.ECONNRESET, ktap.take, conn, 10000)
            conn.close()
            sock.close()
    gone()


@ktap.test
def io_uring_gets_only_what_is_handed_over():
    for place in (khttpd.V4, PLACE):
        ring = uring.Uring()
        try:
            with khttpd.Server(place, 8091, "att") as server:
                for _ in range(3):
                    io_uring_round(place, server, ring)
        finally:
            ring.close()


def io_uring_round(place, server, ring):
    ring.accept(server.sock.fileno())
    for _ in range(5):
        khttpd.exchange(place, GET("/a.txt"), server.port)
    ktap.equal(ring.done(), None, f"{place.name}: nothing for static requests")
    with place.connect(server.port) as sock:
        sock.sendall(GET("/dyn"))
        fd = ring.done(khttpd.TIMEOUT)
        ktap.true(fd is not None and fd >= 0, f"{place.name}: accepted: {fd}")
        with socket.socket(fileno=fd) as conn:
            conn.settimeout(khttpd.TIMEOUT)
            ktap.equal(ktap.take(conn, 8), b"GET /dyn", f"{place.name}: the request")


@ktap.test
def too_fast_a_client_is_refused():
    old = khttpd.limit("request_rate", 1), khttpd.limit("request_burst", 3)
    try:
        with Server() as server:
            statuses = []
            for _ in range(6):
                with PLACE.connect(8091) as sock:
                    sock.sendall(GET("/a.txt", method="POST"))
                    ready = select.select([server.sock, sock], [], [], khttpd.TIMEOUT)[0]
                    if sock in ready:
                        statuses.append(khttpd.Reader(sock).reply().status)
                    else:
                        server.answer(GET("/a.txt", method="POST"))
                        statuses.append(200)
            ktap.equal(statuses[:3], [200] * 3, "the first")
            ktap.true(429 in statuses, "refused then")
    finally:
        khttpd.limit("request_rate", old[0])
        khttpd.limit("request_burst", old[1])
    gone()


@ktap.test
def attached_and_detached_under_load():
    over = threading.Event()

    def serve(sock):
        sock.settimeout(0.1)
        while not over.is_set():
            try:
                conn = sock.accept()[0]
            except OSError:
                continue
            with conn:
                conn.settimeout(khttpd.TIMEOUT)
                try:
                    if conn.recv(1000):
                        conn.sendall(ANSWER)
                except OSError:
                    pass

    with Server() as server:
        thread = threading.Thread(target=serve, args=(server.sock,))
        thread.start()
        clients = khttpd.Clients(PLACE, (("/a.txt", (b"hello\n", b"ok")),
                                         ("/no", (b"ok",)), ("/dir/no", (b"ok",))),
                                 1, 8091)
        try:
            for _ in range(5 if not ktap.CHECKING else 2):
                before = khttpd.count("soft_handed")
                ktap.wait_for(30, "some are given in softirq",
                              lambda b=before: khttpd.count("soft_handed") > b + 10,
                              lambda: khttpd.look(PLACE))
                khttpd.ctl("detach", "--site", "att")
                server.attach()
        finally:
            clients.stop()
            over.set()
            thread.join()
    gone()


@ktap.test
def heads_end_early():
    with Server() as server:
        khttpd.heads_that_end_early(server)


ktap.main(setup)
