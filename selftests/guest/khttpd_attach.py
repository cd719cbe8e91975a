#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Attached to an unmodified nginx and to small servers: static files from the kernel,
# everything else byte for byte from the server's own accept(). Full queue, detach,
# reload, server closed and killed, all with connections open.
#
#	[ client, khttpd and server on lo ]
#
# guest-cpus: 2
# timeout: 240
# pylint: disable=missing-function-docstring
import contextlib
import os
import select
import signal
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

PORT = 8090
PLACES = (khttpd.V4, khttpd.V6)
DATA = os.urandom(2_000_003)
GET = khttpd.get


def setup():
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("index.html", b"<p>index")
    khttpd.write("big.bin", DATA)
    khttpd.write("dir/index.html", b"<p>dir")
    khttpd.write("noread.txt", b"secret", 0o600)


def attach(pid, port=PORT, site="default"):
    return khttpd.ctl("attach", "--site", site, "--pid", str(pid), "--port",
                      str(port), "--docroot", khttpd.WWW)


class Server(khttpd.Server):
    """A listener in this process."""

    def __init__(self):
        super().__init__(khttpd.V4, 8091)


@ktap.test
def nginx_gets_what_is_no_file():
    server = khttpd.Nginx([f"127.0.0.1:{PORT}", f"[::1]:{PORT}"], workers=2)
    try:
        ktap.equal(attach(server.pid), "attached to 2 listeners\n", "attach")
        for place in PLACES:
            for path, status, body in (
                    ("/a.txt", 200, b"hello\n"), ("/", 200, b"<p>index"),
                    ("/dir/", 200, b"<p>dir"), ("/big.bin", 200, DATA),
                    ("/dyn?x=%20y", 200, b"nginx GET /dyn?x=%20y\n"),
                    ("/dir", 200, b"nginx GET /dir\n"),
                    ("/noread.txt", 200, b"nginx GET /noread.txt\n"),
                    ("/a%2fb", 200, b"nginx GET /a%2fb\n")):
                reply = khttpd.exchange(place, GET(path), PORT)
                ktap.equal(reply.status, status, f"{place.name} {path}")
                ktap.true(reply.body == body, f"{place.name} {path}: body")
                ktap.equal("khttpd" in reply.head.decode(),
                           not body.startswith(b"nginx"), f"{path}: who")
            reply = khttpd.exchange(place, GET("/a.txt", "Content-Length: 3\r\n",
                                               "POST") + b"x=1", PORT)
            ktap.equal(reply.body, b"nginx POST /a.txt\n", "POST")
            reply = khttpd.exchange(place, b"GET / HTTP/1.1\nHost: a\n\n", PORT)
            ktap.true(b"khttpd" in reply.head and reply.status == 400,
                      "uncertain framing is never handed over")
            reply = khttpd.exchange(
                place, GET("/x", "Content-Length: 1\r\nTransfer-Encoding: "
                           "chunked\r\n", "POST"), PORT)
            ktap.true(b"khttpd" in reply.head and reply.status == 400,
                      "nor are two lengths")
        for _ in range(50):
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/n"), PORT).body,
                       b"nginx GET /n\n", "again and again")
    finally:
        khttpd.ctl("detach")
        reply = khttpd.exchange(khttpd.V4, GET("/a.txt"), PORT)
        server.kill()
    ktap.equal(reply.body, b"nginx GET /a.txt\n", "after detach")


@ktap.test
def static_dynamic_static_in_one_segment():
    server = khttpd.Nginx([f"127.0.0.1:{PORT}"])
    try:
        attach(server.pid)
        with khttpd.V4.connect(PORT) as sock:
            sock.sendall(GET("/a.txt") + GET("/big.bin") + GET("/dyn")
                         + GET("/a.txt"))
            reader = khttpd.Reader(sock)
            ktap.equal(reader.reply().body, b"hello\n", "first")
            ktap.true(reader.reply().body == DATA, "second")
            ktap.equal(reader.reply().body, b"nginx GET /dyn\n", "third")
            ktap.equal(reader.reply().body, b"nginx GET /a.txt\n",
                       "fourth: the connection is the server's now")
    finally:
        server.kill()
        khttpd.ctl("stop")


@ktap.test
def every_byte_reaches_the_server():
    request = (b"\r\n" + GET("/dyn", "X-Odd: \xff\t\"\r\n", "PUT")[:-2]
               + b"Content-Length: 300000\r\n\r\n")
    body = os.urandom(300000)
    with Server() as server:
        for cut in (None, 1, 5, 30, len(request) - 1, len(request)):
            with khttpd.V4.connect(server.port) as sock:
                if cut is None:
                    for byte in request:
                        sock.sendall(bytes([byte]))
                else:
                    sock.sendall(request[:cut])
                    time.sleep(0.05)	# nothing shows that it was looked at
                    sock.sendall(request[cut:])
                with server.accept() as conn:
                    sender = threading.Thread(target=sock.sendall, args=(body,))
                    sender.start()
                    seen = ktap.take(conn, len(request) + len(body))
                    sender.join()
                    ktap.true(seen == request + body, f"cut {cut}")
                    conn.sendall(b"back")
                    ktap.equal(ktap.take(sock, 4), b"back", "and back")
                    ktap.equal(conn.getpeername(), sock.getsockname(), "peer")


@ktap.test
def handed_over_socket_is_an_ordinary_one():
    with Server() as server, khttpd.V4.connect(server.port) as sock:
        sock.sendall(GET("/a.txt") + GET("/dyn"))
        ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "static")
        with server.accept() as conn:
            ktap.equal(ktap.take(conn, len(GET("/dyn"))), GET("/dyn"), "request")
            ktap.equal(conn.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY),
                       0, "TCP_NODELAY is as accept() gives it")
            poll = select.epoll()
            poll.register(conn, select.EPOLLIN | select.EPOLLET)
            ktap.equal(poll.poll(0), [], "epoll: nothing")
            sock.sendall(b"more")
            ktap.equal(len(poll.poll(khttpd.TIMEOUT)), 1, "epoll: data")
            ktap.equal(conn.recv(100), b"more", "data")
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            sock.shutdown(socket.SHUT_WR)
            ktap.equal(conn.recv(100), b"", "end of stream")
            conn.sendall(b"bye")
            ktap.equal(ktap.take(sock, 3), b"bye", "reply after half-close")


@ktap.test
def epoll_wakes_only_for_what_is_handed_over():
    with Server() as server:
        poll = select.epoll()
        poll.register(server.sock, select.EPOLLIN)
        for _ in range(20):
            khttpd.exchange(khttpd.V4, GET("/a.txt"), server.port)
        ktap.equal(poll.poll(0.3), [], "nothing for static requests")
        server.sock.setblocking(False)
        ktap.raises(11, server.sock.accept)
        with khttpd.V4.connect(server.port) as sock:
            sock.sendall(GET("/dyn"))
            ktap.equal(len(poll.poll(khttpd.TIMEOUT)), 1, "a dynamic one wakes")
            server.accept().close()


@ktap.test
def blocking_accept_is_woken_and_interrupted():
    with Server() as server:
        got = []
        server.sock.settimeout(None)
        thread = threading.Thread(
            target=lambda: got.append(server.sock.accept()[0].recv(10)))
        thread.start()
        ktap.wait_for(10, "it waits in accept()", lambda: ktap.asleep(thread))
        with khttpd.V4.connect(server.port) as sock:
            sock.sendall(GET("/dyn"))
            thread.join(khttpd.TIMEOUT)
        ktap.equal(got, [b"GET /dyn H"], "accept returned")
        signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            server.sock.accept()
            raise ktap.Fail("accept returned")
        except ZeroDivisionError:
            pass
        server.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                               b"\0" * 8 + (300000).to_bytes(8, "little"))
        ktap.raises(11, server.sock.accept)


def sleeps_in(thread, function):
    with open(f"/proc/self/task/{thread.native_id}/stack", encoding="ascii") as file:
        return function in file.read()


@ktap.test
def accept_that_slept_before_the_attachment_is_woken():
    """Of two that sleep in the family's accept() each gets one that is handed over."""
    with Server() as server:
        khttpd.ctl("stop")
        server.sock.settimeout(None)
        got = []
        threads = [threading.Thread(target=lambda: got.append(server.sock.accept()[0]),
                                    daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            ktap.wait_for(20, "it sleeps", lambda t=thread: sleeps_in(t, "inet_csk_accept"))
        server.attach()
        for number in range(1, 3):
            with khttpd.V4.connect(server.port) as sock:
                sock.sendall(GET("/a.txt") + GET("/dyn"))
                ktap.equal(khttpd.Reader(sock).reply().status, 200, "the file")
                ktap.wait_for(20, "accept returned", lambda n=number: len(got) == n)
                ktap.equal(ktap.take(got[-1], 10), b"GET /dyn H", "what it got")
        for conn in got:
            conn.close()


@ktap.test
def heads_end_early():
    with Server() as server:
        khttpd.heads_that_end_early(server)


@ktap.test
def queue_full_is_503():
    old = khttpd.limit("handover_queue", 3)
    try:
        with Server() as server:
            waiting = [khttpd.V4.connect(server.port) for _ in range(3)]
            for number, sock in enumerate(waiting):
                before = khttpd.count("handed_over")
                sock.sendall(GET(f"/{number}"))
                ktap.wait_for(10, "it is queued", lambda before=before:
                              khttpd.count("handed_over") > before)
            reply = khttpd.exchange(khttpd.V4, GET("/4"), server.port)
            ktap.equal((reply.status, reply.closed), (503, True), "the fourth")
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt"),
                                       server.port).status, 200, "static")
            for number in range(3):
                with server.accept() as conn:
                    ktap.equal(conn.recv(6), f"GET /{number}".encode(), "order")
    finally:
        khttpd.limit("handover_queue", old)
    ktap.true(khttpd.count("handover_full") > 0, "counted")


@ktap.test
def listener_closed_with_connections_waiting_is_503():
    with Server() as server:
        idle, waiting = [khttpd.V4.connect(server.port) for _ in range(2)]
        idle.sendall(GET("/a.txt"))
        khttpd.Reader(idle).reply()
        before = khttpd.count("handed_over")
        waiting.sendall(GET("/dyn"))
        ktap.wait_for(10, "it is queued",
                      lambda: khttpd.count("handed_over") > before)
        server.sock.close()
        ktap.equal(khttpd.Reader(waiting).reply().status, 503, "status")
        khttpd.Reader(idle).closed()
        ktap.raises(111, khttpd.V4.connect, server.port)
        with open(f"{khttpd.CONFIG}/default/attached", encoding="ascii") as file:
            ktap.equal(file.read(), "0\n", "attached")


@ktap.test
def detach_gives_open_connections_to_the_server():
    with Server() as server:
        idle, half = [khttpd.V4.connect(server.port) for _ in range(2)]
        idle.sendall(GET("/a.txt"))
        ktap.equal(khttpd.Reader(idle).reply().body, b"hello\n", "static")
        half.sendall(b"GET /a.txt HTTP/1.1\r\nHo")
        ktap.wait_for(10, "both are known",
                      lambda: khttpd.count("connections") == 2)
        time.sleep(0.3)		# nothing shows that the half head was looked at
        got = []

        def serve():
            for _ in range(3):
                got.append(server.accept())
        thread = threading.Thread(target=serve)
        thread.start()
        ktap.equal(khttpd.ctl("detach"), "detached from 1 listener\n", "detach")
        idle.sendall(b"1")
        half.sendall(b"2")
        with khttpd.V4.connect(server.port) as sock:
            sock.sendall(b"3")
            thread.join(khttpd.TIMEOUT)
            seen = sorted(ktap.take(conn, 1) for conn in got)
        ktap.equal(seen, [b"1", b"3", b"G"], "all three came to the server")
        for conn in got:
            conn.close()


@ktap.test
def detach_from_a_stopped_server_ends():
    server = khttpd.Nginx([f"127.0.0.1:{PORT}"])
    try:
        attach(server.pid)
        workers = ktap.run("pgrep", "-P", str(server.pid)).split()
        for pid in workers:
            os.kill(int(pid), signal.SIGSTOP)
        with khttpd.V4.connect(PORT) as sock:
            sock.sendall(GET("/dyn"))
            time.sleep(0.3)		# nothing shows what waits for a server
            khttpd.ctl("detach")
            ktap.equal(khttpd.Reader(sock).reply().status, 503, "status")
        for pid in workers:
            os.kill(int(pid), signal.SIGCONT)
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/x"), PORT).body,
                   b"nginx GET /x\n", "nginx goes on")
    finally:
        server.kill()


@ktap.test
def many_listeners_are_given_back_in_the_time_of_one():
    """Each has a connection that its server does not accept, and that then lingers."""
    seconds = 2 * ktap.SCALE
    old = khttpd.limit("stop_timeout", seconds * 1000)
    try:
        with contextlib.ExitStack() as stack:
            for number in range(6):
                server = stack.enter_context(khttpd.Server(
                    khttpd.V4, 8091 + number, "many", docroot=None if number else khttpd.WWW))
                before = khttpd.count("handed_over")
                sock = stack.enter_context(khttpd.V4.connect(server.port))
                sock.sendall(GET("/dyn"))
                ktap.wait_for(10, "it is queued",
                              lambda before=before: khttpd.count("handed_over") > before)
            began = time.monotonic()
            ktap.equal(khttpd.ctl("detach", "--site", "many"), "detached from 6 listeners\n",
                       "detach")
            took = time.monotonic() - began
            ktap.true(seconds <= took < 5 * seconds, f"it took {took:.1f} s")
    finally:
        khttpd.limit("stop_timeout", old)


@ktap.test
def reuseport_listeners_are_all_attached():
    server = khttpd.Nginx([f"127.0.0.1:{PORT} reuseport"], workers=2)
    try:
        ktap.equal(attach(server.pid), "attached to 2 listeners\n", "attach")
        for _ in range(30):
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt"), PORT).body,
                       b"hello\n", "static")
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/d"), PORT).body,
                       b"nginx GET /d\n", "dynamic")
    finally:
        server.kill()
        khttpd.ctl("stop")


@ktap.test
def reload_underneath_is_not_noticed():
    server = khttpd.Nginx([f"127.0.0.1:{PORT}"])
    try:
        attach(server.pid)
        old = ktap.run("pgrep", "-P", str(server.pid)).split()
        os.kill(server.pid, signal.SIGHUP)
        ktap.wait_for(15, "the workers are new ones", lambda: not set(old) & set(
            ktap.run("pgrep", "-P", str(server.pid), check=False).split()))
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt"), PORT).body,
                   b"hello\n", "static")
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/d"), PORT).body,
                   b"nginx GET /d\n", "dynamic")
    finally:
        server.kill()
        khttpd.ctl("stop")


@ktap.test
def server_killed_under_load():
    for _ in range(5 if not ktap.CHECKING else 2):
        server = khttpd.Nginx([f"127.0.0.1:{PORT}"], workers=2)
        attach(server.pid)
        before = khttpd.count("requests")
        # Once a connection is the server's, files are, too.
        load = khttpd.Clients(khttpd.V4, (("/a.txt", (b"hello\n", b"nginx GET /a.txt\n")),
                                          ("/d", (b"nginx GET /d\n",))), port=PORT, turns=3)
        try:
            ktap.wait_for(20, "the load is under way",
                          lambda old=before: khttpd.count("requests") > old + 20)
            server.kill()
        finally:
            load.stop()
        ktap.raises(111, khttpd.V4.connect, PORT)
        khttpd.ctl("stop")
    ktap.wait_for(10, "connections are gone",
                  lambda: khttpd.count("connections") == 0)


@ktap.test
def bad_attachments_are_refused():
    ktap.true("no listener" in khttpd.ctl("attach", "--pid", str(os.getpid()),
                                          "--port", "1", "--docroot", "/srv",
                                          check=False), "no such listener")
    ktap.true("No such process" in khttpd.ctl(
        "attach", "--pid", "999999", "--port", "1", "--docroot", "/srv",
        check=False), "no such process")
    with Server() as server:
        ktap.true("no listener" in khttpd.ctl(
            "attach", "--pid", str(os.getpid()), "--port", str(server.port),
            "--docroot", khttpd.WWW, check=False), "twice")
        ktap.true("in use" in ktap.run("rmmod", "khttpd", check=False),
                  "an attachment holds the module")


ktap.main(setup)
