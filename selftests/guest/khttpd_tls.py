#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# HTTPS: handshakes by khttpd-tlsd, everything after them by khttpd through the kernel's record
# layer. What clients of several kinds get; hostile bytes; limits; ends while handshakes are under
# way; pages of a server that knows nothing of TLS.
#
#	[ clients, khttpd, khttpd-tlsd and server on lo ]
#
# timeout: 240
# pylint: disable=missing-function-docstring
import contextlib
import os
import select
import socket
import ssl
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import https   # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get


@ktap.test
def files_over_tls():
    for place in (khttpd.V4, khttpd.V6):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with https.counting(tls_taken=1, tls_done=1, tls_refused=0, tls_failed=0,
                                accepted=1, closed=1):
                with https.connect(place, https.context(version)) as sock:
                    ktap.equal(sock.selected_alpn_protocol(), "http/1.1", "ALPN")
                    https.fetches(sock, large=True)
    ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"hello\n",
               "the listener without TLS")
    https.at_rest()


@ktap.test
def every_cipher():
    chacha = https.has_chacha()
    every = (("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"),
             ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"),
             ("-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256"),
             ("-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"),
             ("-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"),
             ("-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384"))
    # Starting a program takes seconds there; AES-128 is in the other tests.
    for words in every[-2:] if ktap.CHECKING else every:
        out = ktap.run("openssl", "s_client", "-connect", f"127.0.0.1:{https.PORT}", "-quiet",
                       "-CAfile", f"{https.DIR}/a.example.pem", "-verify_return_error", *words,
                       input=GET("/a.txt", "Connection: close\r\n").decode(), check=False)
        if "CHACHA20" in words[-1] and not chacha:
            # What the kernel has not got is not offered, and nobody waits for it.
            ktap.true("handshake failure" in out, f"{words[-1]}: {out[-300:]}")
            continue
        ktap.true("200 OK" in out and "hello\n" in out, f"{words[-1]}: {out[-300:]}")
    for word in () if ktap.CHECKING else ("--tlsv1.2", "--tlsv1.3"):
        out = ktap.run("curl", "-sS", word, "--cacert", f"{https.DIR}/a.example.pem", "--resolve",
                       f"a.example:{https.PORT}:127.0.0.1", f"https://a.example:{https.PORT}/a.txt",
                       f"https://a.example:{https.PORT}/a.txt")
        ktap.equal(out, "hello\nhello\n", f"curl {word}")
    https.at_rest()


@ktap.test
def sessions_are_resumed():
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        ctx = https.context(version)
        with https.connect(ctx=ctx) as sock:
            https.fetches(sock)
            session = sock.session
        for _ in range(3):
            with ctx.wrap_socket(khttpd.V4.connect(https.PORT), server_hostname="a.example",
                                 session=session, suppress_ragged_eofs=False) as sock:
                https.fetches(sock)
                ktap.true(sock.session_reused, f"{version} reused")
    https.at_rest()


@ktap.test
def the_name_chooses_the_certificate():
    khttpd.ctl("serve", "--site", "b", "--docroot", khttpd.WWW, "--set", "behind=default",
               "--set", "names=b.example", *https.pem("b.example"))
    try:
        with https.connect(ctx=https.context(name="b.example"), name="b.example") as sock:
            sock.sendall(b"GET /a.txt HTTP/1.1\r\nHost: b.example\r\n\r\n")
            ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "b.example")
        with https.connect() as sock:
            https.fetches(sock)
    finally:
        khttpd.ctl("stop", "--site", "b")
    https.at_rest()


@ktap.test
def other_protocols_are_refused():
    with https.counting(tls_failed=1, closed=1):
        ktap.true(https.shunned(https.context(alpn=("h2",))), "h2 only")
    with https.counting(tls_failed=1, closed=1):
        with khttpd.V4.connect(https.PORT) as sock:
            sock.sendall(GET("/a.txt"))
            ktap.true(https.ended(sock), "plain HTTP")


def handshake_messages():
    """Of TLS 1.3: key updates that are none have alerts of their own."""
    for message, alert in ((b"\x18\0\0\1\2", "ILLEGAL_PARAMETER"),
                           (b"\x18\0\0\1\xff", "ILLEGAL_PARAMETER"),
                           (b"\x18\0\0\0", "DECODE_ERROR"),
                           (b"\x18\0\0\2\0\0", "DECODE_ERROR"),
                           (b"\x18\1\0\1\0", "DECODE_ERROR"),
                           (b"\x18\0\0\1\0", "UNEXPECTED_MESSAGE"),
                           (b"\x18\0\0", "UNEXPECTED_MESSAGE"),
                           (b"\x04\0\0\1\2", "UNEXPECTED_MESSAGE")):
        with https.counting(closed=1, tls_records=1), \
                https.records(ssl.TLSVersion.TLSv1_3) as (sock, send):
            send(22, message)
            ktap.true(alert in why_not(sock), f"{message}: {alert}")


def why_not(sock):
    """The alert that ends a connection, in OpenSSL's words."""
    try:
        return str(sock.recv(1))
    except OSError as error:
        return str(getattr(error, "reason", None) or error)


@ktap.test
def records_that_are_not_data():
    # close_notify of the client: the server says it, too.
    with https.counting(closed=1, tls_records=0):
        sock = https.connect()
        sock.sendall(GET("/a.txt"))
        ktap.equal(khttpd.Reader(sock).reply().status, 200, "reply")
        sock.unwrap().close()
    # A FIN without it.
    with https.counting(closed=1, tls_records=0):
        sock = https.connect()
        sock.shutdown(socket.SHUT_WR)
        sock.close()
    # A key update (RFC 8446 section 4.6.3) cannot be had from the kernel.
    with https.counting(closed=1, tls_records=1):
        with subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{https.PORT}",
                               "-tls1_3"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as client:
            while b"Verify return code" not in client.stdout.readline():
                pass
            client.stdin.write(b"K\n")
            client.stdin.flush()
            # It reads until it is told; at the end of its input it would not wait for that.
            out = client.stdout.read()
            ktap.true(b"alert unexpected message" in out, f"it is told: {out[-500:]}")
    handshake_messages()
    # Bytes that are no record of this connection.
    for garbage, alert in ((b"\x17\x03\x03\x00\x20" + bytes(32), "BAD_RECORD_MAC"),
                           (b"\x17\x03\x03\xff\xff" + bytes(100), "RECORD_OVERFLOW"),
                           (b"\x17\x03\x03\x00\x00" + bytes(16), "BAD_RECORD_MAC"),
                           (b"\x17\x03\x02\x00\x20" + bytes(32), "PROTOCOL_VERSION")):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with https.counting(closed=1), https.connect(ctx=https.context(version)) as sock:
                with socket.socket(fileno=os.dup(sock.fileno())) as raw:
                    raw.sendall(garbage)
                found = why_not(sock)
                ktap.true(alert in found, f"{garbage[:5]}, {version}: {found}")
    https.at_rest()


@ktap.test
def part_of_a_record_costs_no_processor_time():
    with https.connect() as sock:
        with socket.socket(fileno=os.dup(sock.fileno())) as raw:
            raw.sendall(b"\x17\x03\x03\x10\x00" + bytes(100))
            before = ticks()
            select.select([], [], [], 0.5)
            ktap.true(ticks() - before < 0.25 * os.sysconf("SC_CLK_TCK"), "khttpd sleeps")
    https.at_rest()


def ticks():
    return sum(int(fields[11]) + int(fields[12]) for _, name, fields in https.processes()
               if name.startswith("khttpd/"))


@ktap.test
def hostile_bytes_instead_of_a_hello():
    hello = ssl_hello()
    cases = [os.urandom(n) for n in (1, 5, 300, 20_000)] + \
        [hello[:n] for n in (1, 5, 6, 100)] + \
        [hello[:9] + b"\xff" * 40, b"\x16\x03\x01\xff\xff" + bytes(70_000),
         b"\x15\x03\x01\x00\x02\x02\x28" * 2000, b"\x16\x03\x01\x00\x00" * 2000, b""]
    with https.counting(accepted=len(cases), closed=len(cases), tls_done=0):
        for case in cases:
            with khttpd.V4.connect(https.PORT) as sock, \
                    contextlib.suppress(OSError):
                sock.sendall(case)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(1000):
                    pass
    https.at_rest()
    with https.connect() as sock:
        https.fetches(sock)
    https.at_rest()


def ssl_hello():
    out = ssl.MemoryBIO()
    client = https.context().wrap_bio(ssl.MemoryBIO(), out, server_hostname="a.example")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


@ktap.test
def slow_handshakes_have_limits():
    # The first must not be over before the last has begun, on a busy machine.
    with https.limits(tls_timeout=5000, tls_handshakes=6, tls_per_address=4):
        with https.counting(tls_full=2, timeout_tls=4, accepted=6, closed=6):
            socks = [khttpd.V4.connect(https.PORT) for _ in range(4)]
            ktap.wait_for(10, "four wait", lambda: khttpd.count("tls_pending") == 4)
            for _ in range(2):
                ktap.true(https.refused(khttpd.V4), "too many of an address")
            for sock in socks:
                sock.sendall(ssl_hello()[:20])
                ktap.true(https.ended(sock), "too slow")
                sock.close()
        https.at_rest()
        khttpd.limit("tls_per_address", 0)
        with https.counting(tls_full=1, timeout_tls=6):
            socks = [khttpd.V4.connect(https.PORT) for _ in range(6)]
            ktap.wait_for(10, "six wait", lambda: khttpd.count("tls_pending") == 6)
            ktap.true(https.refused(khttpd.V6), "too many in all")
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).status, 200,
                       "the listener without TLS")
            for sock in socks:
                ktap.true(https.ended(sock), "too slow")
                sock.close()
    https.at_rest()


def talks(what):
    """A connection that has been answered."""
    sock = https.connect()
    sock.sendall(GET("/a.txt"))
    ktap.equal(khttpd.Reader(sock).reply().status, 200, what)
    return sock


@ktap.test
def ends_while_handshakes_are_under_way():
    kept = talks("before")
    with https.limits(tls_timeout=1000):
        socks = [khttpd.V4.connect(https.PORT) for _ in range(3)]
        with https.counting(closed=4):
            khttpd.ctl("stop")
            ktap.equal(khttpd.count("tls_pending"), 0, "none waits")
            ktap.true(https.ended(kept), "kept connection")
        for sock in socks:
            with contextlib.suppress(OSError):
                sock.sendall(ssl_hello())
            ktap.true(https.ended(sock), "given up")
            sock.close()
        kept.close()
        https.at_rest()
    # A namespace goes: with connections, and when its handshakes are over.
    ns = ktap.Netns("tls")
    with ns:
        https.serve()
        kept = talks("in the namespace")
    with https.limits(tls_timeout=1000):
        with ns:
            socks = [khttpd.V4.connect(https.PORT) for _ in range(3)]
            for sock in socks + [kept]:
                sock.close()
            socks = [khttpd.V4.connect(https.PORT) for _ in range(3)]
            ktap.wait_for(10, "three wait", lambda: khttpd.count("tls_pending") == 3)
        ns.delete()
        for sock in socks:
            sock.close()
        https.at_rest()
    khttpd.ctl("stop")
    https.stop_daemon()
    ktap.unload("khttpd")
    ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")
    khttpd.limit("tls_timeout", 10000 * ktap.SCALE)
    https.start_daemon()
    https.serve()
    with https.connect() as sock:
        https.fetches(sock)


@ktap.test
def what_is_not_a_file_is_the_servers():
    with khttpd.Server(khttpd.V4, 8081, docroot=None) as server:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with https.connect(ctx=https.context(version)) as sock:
                reader = khttpd.Reader(sock)
                sock.sendall(GET("/a.txt"))
                ktap.equal(reader.reply().body, b"hello\n", "a file first")
                body = os.urandom(100_000)
                request = GET("/dyn", f"Content-Length: {len(body)}\r\n", "POST")
                sock.sendall(request + body)
                conn = server.accept()
                ktap.true(ktap.take(conn, len(request) + len(body)) == request + body,
                          "byte for byte")
                conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" +
                             body * 2)
                ktap.true(reader.reply().body == body * 2, "the server's answer")
                conn.close()
    https.serve()
    with https.connect() as sock:
        sock.sendall(GET("/dyn"))
        ktap.equal(khttpd.Reader(sock).reply().status, 404, "no server")


ktap.main(https.setup)
