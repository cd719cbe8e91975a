#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A server behind khttpd gives connections back, to have a file sent: what its client gets, what
# comes next on the connection, what is refused, and by whom it may be done. The C library, the
# example in Python and the adapter for WSGI.
#
#	[ clients and server on lo, net6 between two namespaces ]
#
# guest: stock+
# timeout: 120
# pylint: disable=missing-function-docstring
import contextlib
import ctypes
import errno
import os
import select
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
import uring   # pylint: disable=wrong-import-position

sys.path.insert(0, f"{khttpd.TOP}/tools/giveback")
import example  # pylint: disable=wrong-import-position

GET = khttpd.get
PORT = 8092
BIG = os.urandom(1 << 21)
PLACE = khttpd.net6_later()
LIBRARY = ctypes.CDLL(f"{khttpd.TOP}/tools/libkhttpd-giveback.so", use_errno=True)


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    khttpd.write("a.txt", b"public")
    khttpd.write("private/a", b"secret")
    khttpd.write("private/big", BIG)
    khttpd.write("private/a b", b"odd")
    khttpd.write("denied/a", b"denied")
    khttpd.let_files_settle()


@contextlib.contextmanager
def fronted(place):
    with place.server or contextlib.nullcontext():
        khttpd.ctl("serve", "--site", "front", "--docroot", khttpd.WWW, "--listen",
                   "127.0.0.1:8093", "--set", "rules=pass /private/\ndeny /denied/")
    with khttpd.Server(place, PORT, "front", docroot=None) as server:
        yield server


def accepted(server, head=None):
    """The next connection, and the head that was read from it."""
    conn = server.accept()
    got = example.read_head(conn)
    if head is not None:
        ktap.equal(got, head, "what the server reads")
    return conn, got


def give(server, conn, head):
    example.give_back(server.sock, conn, head)


@ktap.test
def the_file_and_what_comes_then():
    for place in (khttpd.V4, PLACE):
        with fronted(place) as server, place.connect(PORT) as sock:
            reader = khttpd.Reader(sock)
            given, handed = khttpd.count("given_back"), khttpd.count("handed_over")
            for turn in range(6):
                sock.sendall(GET("/private/a"))
                give(server, *accepted(server, GET("/private/a")))
                ktap.equal(reader.reply().body, b"secret", f"{place.name} {turn}")
                for _ in range(turn):
                    sock.sendall(GET("/a.txt"))
                    ktap.equal(reader.reply().body, b"public", "the kernel's own")
            ktap.equal((khttpd.count("given_back"), khttpd.count("handed_over")),
                       (given + 6, handed + 6), "counted")
            sock.sendall(GET("/none"))
            conn, _ = accepted(server, GET("/none"))
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nme")
            ktap.equal(reader.reply().body, b"me", "the server's own")
            conn.close()
            reader.closed()
        ktap.wait_for(20, "no connection is left", lambda: not khttpd.count("connections"))


@ktap.test
def answers_of_every_kind():
    for place in (khttpd.V4, PLACE):
        with fronted(place) as server:
            tag = None
            for method, path, extra, status, body in (
                    ("GET", "/private/a", "", 200, b"secret"),
                    ("HEAD", "/private/a", "", 200, b""),
                    ("GET", "/private/a", "Range: bytes=1-2\r\n", 206, b"ec"),
                    ("GET", "/private/a", "TAG", 304, b""),
                    ("GET", "/private/big", "", 200, BIG),
                    ("GET", "/private/none", "", 404, None),
                    ("GET", "/private/", "", 403, None),
                    ("GET", "/private/a", "Connection: close\r\n", 200, b"secret"),
                    ("GET", "/private/%zz", "", 400, None)):
                head = GET(path, extra.replace("TAG", f"If-None-Match: {tag}\r\n"), method)
                with place.connect(PORT) as sock:
                    # By any path that the server has, and answered by another.
                    sock.sendall(GET("/private/ask"))
                    conn, _ = accepted(server)
                    give(server, conn, head)
                    reader = khttpd.Reader(sock)
                    reply = reader.reply(head_only=method == "HEAD")
                    what = f"{place.name} {method} {path} {extra}"
                    ktap.equal(reply.status, status, what)
                    ktap.true(body in (None, reply.body), what)
                    tag = reply.fields.get("etag", tag)
                    if "close" in extra or status == 400:
                        reader.closed()
                    else:
                        sock.sendall(GET("/a.txt"))
                        ktap.equal(reader.reply().body, b"public", f"{what}: goes on")
            with place.connect(PORT) as sock:
                sock.sendall(GET("/private/ask"))
                conn, _ = accepted(server)
                give(server, conn, GET("/denied/a"))
                ktap.equal(khttpd.Reader(sock).reply().status, 403, "a rule that denies")


@ktap.test
def bytes_before_and_behind():
    """What the server has sent comes first, and what the client has sent is answered later."""
    for place in (khttpd.V4, PLACE):
        with fronted(place) as server, place.connect(PORT) as sock:
            sock.sendall(GET("/private/a") + GET("/a.txt") + GET("/private/a") + GET("/none") +
                         b"tail")
            conn, head = accepted(server)
            conn.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
            conn.setsockopt(socket.SOL_TCP, socket.TCP_CORK, 1)
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 100000)
            give(server, conn, head)
            conn, head = accepted(server)
            give(server, conn, head)
            with server.accept() as conn:
                want = GET("/none") + b"tail"
                ktap.equal(ktap.take(conn, len(want)), want, f"{place.name}: the server's")
                conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            reader = khttpd.Reader(sock)
            hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
            while len(reader.data) < len(hints):
                reader.data += sock.recv(100)
            ktap.true(reader.data.startswith(hints), "what the server sent comes first")
            reader.data = reader.data[len(hints):]
            ktap.equal([reader.reply().body for _ in range(4)],
                       [b"secret", b"public", b"secret", b""], place.name)


@ktap.test
def what_is_refused():
    for place in (khttpd.V4, PLACE):
        with fronted(place) as server, place.connect(PORT) as sock:
            head = GET("/private/a")
            sock.sendall(head)
            conn, _ = accepted(server)
            for bad in (b"", head[:-1], head + b"x", head + head, GET("/private/a", method="POST"),
                        GET("/private/a", "Content-Length: 1\r\n"), b"GET /\r\n\r\n",
                        GET("/private/a", "X: " + "y" * 9000 + "\r\n")):
                ktap.raises(errno.EINVAL, give, server, conn, bad)
            with socket.socket(fileno=os.dup(conn.fileno())):
                ktap.raises(errno.EBUSY, give, server, conn, head)
            one, other = socket.socketpair()
            with one, other:
                # In flight: its sender may have closed its own.
                socket.send_fds(one, [b"x"], [conn.fileno()])
                ktap.raises(errno.EBUSY, give, server, conn, head)
                os.close(socket.recv_fds(other, 1, 1)[1][0])
            ring = uring.Uring()
            ring.register_files(conn.fileno())
            ktap.raises(errno.EBUSY, give, server, conn, head)
            ring.unregister_files()
            ring.close()
            with select.epoll() as epoll:
                epoll.register(conn, select.EPOLLIN)
                ktap.raises(errno.EBUSY, give, server, conn, head)
                epoll.unregister(conn)
            ktap.raises(errno.EBUSY, give, server, server.sock, head)
            ktap.raises(errno.EINVAL, give, server, sock, head)
            one, other = socket.socketpair()
            with one, other:
                ktap.raises(errno.EINVAL, give, server, one, head)
            with open("/dev/null", "rb") as file:
                ktap.raises(errno.ENOTSOCK, give, server, file, head)
            ktap.raises(errno.ENOENT, example.give_back, conn, conn, head)
            gone = socket.socket()
            gone.detach()
            ktap.raises(errno.EBADF, give, server, gone, head)
            for name, number in (("max_connections", errno.ENOBUFS),
                                 ("max_per_address", errno.EUSERS)):
                with khttpd.limited(name, 1), place.connect(PORT) as filler:
                    filler.sendall(GET("/a.txt"))
                    khttpd.Reader(filler).reply()
                    ktap.raises(number, give, server, conn, head)
                ktap.wait_for(10, "it has gone", lambda: not khttpd.count("connections"))
            given = khttpd.count("given_back")
            give(server, conn, head)
            ktap.equal(khttpd.Reader(sock).reply().body, b"secret", "after all that")
            ktap.equal(khttpd.count("given_back"), given + 1, "counted")
        with fronted(place) as server:
            with place.connect(PORT) as sock:
                sock.sendall(GET("/private/a"))
                conn, head = accepted(server)
                conn.shutdown(socket.SHUT_WR)
                ktap.raises(errno.ENOTCONN, give, server, conn, head)
                conn.close()
            with place.connect(PORT) as sock:
                sock.sendall(GET("/private/a"))
                conn, head = accepted(server)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                sock.close()
                ktap.wait_for(10, "the connection is reset", lambda c=conn: c.getsockopt(
                    socket.SOL_TCP, socket.TCP_INFO, 1) == b"\7")
                ktap.raises(errno.ENOTCONN, give, server, conn, head)
                conn.close()
    with fronted(khttpd.V4) as server, khttpd.V4.connect(PORT) as sock:
        sock.sendall(GET("/private/a"))
        conn, head = accepted(server)
        khttpd.ctl("detach", "--site", "front")
        ktap.raises(errno.ENOENT, give, server, conn, head)
        conn.close()


@ktap.test
def while_the_listener_is_detached():
    """That gives an idle connection to the server, and waits until it is taken."""
    for place in (khttpd.V4, PLACE):
        with fronted(place) as server, place.connect(PORT) as sock, place.connect(PORT) as idle:
            sock.sendall(GET("/private/a"))
            conn, head = accepted(server)
            idle.sendall(GET("/a.txt"))
            ktap.equal(khttpd.Reader(idle).reply().status, 200, "before it is idle")
            detach = threading.Thread(target=khttpd.ctl, args=("detach", "--site", "front"))
            detach.start()
            ktap.true(select.select([server.sock], [], [], khttpd.TIMEOUT)[0], "it is the server's")
            result = 0
            try:
                give(server, conn, head)
            except OSError as error:
                result = error.errno
            server.accept().close()
            detach.join()
            ktap.equal(result, errno.ESHUTDOWN, place.name)
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nme")
            ktap.equal(khttpd.Reader(sock).reply().body, b"me", "it is the server's still")
            conn.close()


@ktap.test
def a_thread_that_reads_at_the_same_time():
    """Whatever happens to it, the kernel goes on. Another thread is in recv() or poll()."""
    for place in (khttpd.V4, PLACE):
        with fronted(place) as server:
            for turn in range(60):
                with place.connect(PORT) as sock:
                    sock.sendall(GET("/private/a"))
                    conn, head = accepted(server)
                    number, over = conn.fileno(), threading.Event()

                    def meddle(fd=number, done=over):
                        with contextlib.suppress(OSError):
                            while not done.is_set():
                                select.select([fd], [], [], 0)
                                os.fstat(fd)

                    other = threading.Thread(target=meddle)
                    other.start()
                    result = None
                    try:
                        give(server, conn, head)
                    except OSError as error:
                        result = error.errno
                    over.set()
                    other.join()
                    if result is None:
                        ktap.equal(khttpd.Reader(sock).reply().body, b"secret", f"{turn}")
                    else:
                        ktap.true(result in (errno.EBUSY, errno.ECANCELED), f"errno {result}")
                        if result == errno.ECANCELED:
                            conn.detach()
                        conn.close()
    ktap.wait_for(20, "no connection is left", lambda: not khttpd.count("connections"))


@ktap.test
def the_c_library():
    with fronted(khttpd.V4) as server, khttpd.V4.connect(PORT) as sock:
        reader = khttpd.Reader(sock)
        sock.sendall(GET("/private/ask") + GET("/private/more"))
        for _ in range(2):
            conn = server.accept()
            conn.setblocking(True)
            text = ctypes.create_string_buffer(4096)
            n = LIBRARY.khttpd_giveback_read(conn.fileno(), text, 4096)
            ktap.true(text.raw[:n].endswith(b"\r\n\r\n") and text.raw[:n].count(b"GET") == 1,
                      "one head")
            for path in (b"private/a", b""):
                ktap.equal(LIBRARY.khttpd_giveback_file(server.sock.fileno(), conn.fileno(), text,
                                                        n, path), -1, "no path")
            ktap.equal(LIBRARY.khttpd_giveback_file(server.sock.fileno(), conn.fileno(), text, n,
                                                    b"/private/a b"), 0, "given back")
            conn.detach()
            ktap.equal(reader.reply().body, b"odd", "another path")


@ktap.test
def the_example_and_a_user_without_privileges():
    def begin():
        os.setgid(65534)
        os.setuid(65534)

    with subprocess.Popen([sys.executable, f"{khttpd.TOP}/tools/giveback/example.py", "8095"],
                          preexec_fn=begin) as program:
        try:
            ktap.wait_for(60, "it listens", lambda: ktap.run(
                "ss", "-Htln", "sport = 8095") or program.poll() is not None)
            khttpd.ctl("attach", "--site", "example", "--pid", str(program.pid), "--port", "8095",
                       "--docroot", khttpd.WWW, "--set", "rules=pass /private/")
            with socket.create_connection(("127.0.0.1", 8095)) as sock:
                sock.settimeout(khttpd.TIMEOUT)
                reader = khttpd.Reader(sock)
                for path, extra, status in (("/a.txt", "", 200),
                                            ("/private/a", "Cookie: key=secret\r\n", 200),
                                            ("/a.txt", "", 200), ("/private/a", "", 403)):
                    sock.sendall(GET(path, extra))
                    ktap.equal(reader.reply().status, status, f"{path} {extra}")
        finally:
            program.kill()
    khttpd.ctl("stop", "--site", "example", check=False)


PROGRAM = """def application(environ, start_response):
    path = environ["PATH_INFO"]
    if "key=secret" in environ.get("HTTP_COOKIE", ""):
        start_response("200 OK", [("X-Accel-Redirect", path.replace("/private/to/", "/private/"))])
        return [b"not seen"]
    start_response("403 Forbidden", [("Content-Length", "2")])
    return [b"no"]
"""


@ktap.test
def an_accel_redirect_of_a_program():
    with open("/srv/program.py", "w", encoding="ascii") as file:
        file.write(PROGRAM)
    with subprocess.Popen([sys.executable, f"{khttpd.TOP}/tools/giveback/accel.py", "8096",
                           "program"], cwd="/srv", stderr=subprocess.DEVNULL) as program:
        try:
            ktap.wait_for(60, "it listens", lambda: ktap.run(
                "ss", "-Htln", "sport = 8096") or program.poll() is not None)
            khttpd.ctl("attach", "--site", "accel", "--pid", str(program.pid), "--port", "8096",
                       "--docroot", khttpd.WWW, "--set", "rules=pass /private/")
            given, cookie = khttpd.count("given_back"), "Cookie: key=secret\r\n"
            with socket.create_connection(("127.0.0.1", 8096)) as sock:
                sock.settimeout(khttpd.TIMEOUT)
                reader = khttpd.Reader(sock)
                sock.sendall(GET("/private/to/a", cookie) + GET("/a.txt"))
                ktap.equal([reader.reply().body for _ in range(2)], [b"secret", b"public"],
                           "the file, and what came behind")
                sock.sendall(GET("/private/a", cookie + "Range: bytes=1-2\r\n"))
                ktap.equal(reader.reply().body, b"ec", "a part")
            ktap.equal(khttpd.count("given_back"), given + 2, "counted")
            for path, more, status in (("/private/a", "", b"403"),
                                       ("/private/to/%20", cookie, b"500"),
                                       ("/private/none", cookie, b"404")):
                with socket.create_connection(("127.0.0.1", 8096)) as sock:
                    sock.settimeout(khttpd.TIMEOUT)
                    sock.sendall(GET(path, more))
                    ktap.equal(sock.recv(4096).split()[1], status, path)
        finally:
            program.kill()
    khttpd.ctl("stop", "--site", "accel", check=False)


ktap.main(setup)
