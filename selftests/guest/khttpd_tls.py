#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# HTTPS: handshakes by khttpd-tlsd, everything after them by khttpd through the kernel's record
# layer. What clients of several kinds get; hostile bytes; a daemon that dies, or lies; limits;
# ends while handshakes are under way; pages of a server that knows nothing of TLS.
#
#	[ clients, khttpd, khttpd-tlsd and server on lo ]
#
# timeout: 240
# pylint: disable=missing-function-docstring
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
PORT = 8443
DIR = "/tmp/tls"
LOG = f"{DIR}/log"
BIG = os.urandom(1_000_003)
MID = BIG[:70_000]
BEGIN, TAKE, DONE, CIPHERS = 0xbc42, 0xc050bc43, 0x4010bc44, 0x8004bc45
WATCH, ASK = 0xc008bc46, 0x4004bc47
DAEMON = []


def setup():
    khttpd.fresh()
    if ktap.CHECKING:
        modprobe_never()
    # A handshake of a slow guest has its time, too.
    khttpd.limit("tls_timeout", 10000 * ktap.SCALE)
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("big", BIG)
    khttpd.write("mid", MID)
    os.makedirs(DIR, exist_ok=True)
    for name in ("a.example", "b.example"):
        certificate(name)
    start_daemon()
    ktap.at_exit(stop_daemon)
    serve()


def modprobe_never():
    """There each run takes seconds, and what TLS needs is built in, or not had at all."""
    path = "/proc/sys/kernel/modprobe"
    with open(path, encoding="ascii") as file:
        ktap.at_exit(write_line, path, file.read().strip())
    write_line(path, "")


def write_line(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "\n")


def certificate(name):
    """Made anew under another name first, as ACME clients do."""
    ktap.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj", f"/CN={name}",
             "-addext", f"subjectAltName=DNS:{name}", "-keyout", f"{DIR}/new.key",
             "-out", f"{DIR}/new.pem")
    for kind in ("key", "pem"):
        os.rename(f"{DIR}/new.{kind}", f"{DIR}/{name}.{kind}")


def pem(name):
    return ("--certificate", f"{DIR}/{name}.pem", "--key", f"{DIR}/{name}.key")


def serve():
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", f"127.0.0.1:{PORT},tls",
               "--listen", f"[::1]:{PORT},tls", "--listen", "127.0.0.1:8080",
               *pem("a.example"))
    # The daemon knows the site before it listens. Workers that do not know it take no more.
    connect().close()
    ktap.wait_for(20, "they have gone", lambda: khttpd.count("tls_daemons") == 2)
    at_rest()


def start_daemon(workers=2):
    # pylint: disable-next=consider-using-with
    with open(LOG, "a", encoding="ascii") as log:
        DAEMON.append(subprocess.Popen([f"{khttpd.TOP}/tools/khttpd-tlsd", "--workers",
                                        str(workers)], stderr=log))
    # The first one has modules loaded, which takes long on a machine that does other things.
    ktap.wait_for(120, "khttpd-tlsd is there",
                  lambda: khttpd.count("tls_daemons") == workers)


def processes():
    """Process id, name, and what /proc/PID/stat has behind it: each pgrep costs seconds on the
    checking kernel.
    """
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open(f"/proc/{pid}/stat", encoding="ascii") as file:
            name, fields = file.read().split("(", 1)[1].rsplit(")", 1)
            yield int(pid), name, fields.split()


def workers():
    return {pid for pid, _, fields in processes() if int(fields[1]) == DAEMON[0].pid}


def stop_daemon(how=signal.SIGTERM):
    while DAEMON:
        daemon = DAEMON.pop()
        daemon.send_signal(how)
        daemon.wait()
    ktap.wait_for(30, "khttpd-tlsd has gone", lambda: not khttpd.count("tls_daemons"))


def at_rest():
    for name in ("tls_pending", "connections"):
        ktap.wait_for(20, f"no {name}", lambda n=name: not khttpd.count(n))


@contextlib.contextmanager
def limits(**values):
    old = {name: khttpd.limit(name, value) for name, value in values.items()}
    try:
        yield
    finally:
        for name, value in old.items():
            khttpd.limit(name, value)


@contextlib.contextmanager
def counting(**wanted):
    """By how much these counters grow, sooner or later, and no more."""
    before = khttpd.counters()

    def grown():
        now = khttpd.counters()
        return {name: now[name] - before[name] for name in wanted}
    yield
    with contextlib.suppress(ktap.Fail):
        ktap.wait_for(20, "counters", lambda: grown() == wanted)
    ktap.equal(grown(), wanted, "counters")


def context(version=None, alpn=("http/1.1",), name="a.example"):
    ctx = ssl.create_default_context(cafile=f"{DIR}/{name}.pem" if name else f"{DIR}/kept")
    if version:
        ctx.minimum_version = ctx.maximum_version = version
    ctx.set_alpn_protocols(alpn)
    return ctx


def connect(place=khttpd.V4, ctx=None, name="a.example"):
    sock = place.connect(PORT)
    return (ctx or context()).wrap_socket(sock, server_hostname=name,
                                          suppress_ragged_eofs=False)


def shunned(ctx):
    """One of both sides does not want to talk like that."""
    try:
        connect(ctx=ctx).close()
    except ssl.SSLError:
        return True
    return False


def fetches(sock, large=False):
    """Several requests on one connection, one by one and together."""
    reader = khttpd.Reader(sock)
    sock.sendall(GET("/a.txt"))
    ktap.equal(reader.reply().body, b"hello\n", "small")
    if large:
        sock.sendall(GET("/big"))
        ktap.true(reader.reply().body == BIG, "1 MB")
    sock.sendall(GET("/big", "Range: bytes=16000-17000\r\n"))
    ktap.true(reader.reply().body == BIG[16000:17001], "range")
    sock.sendall(GET("/a.txt", method="HEAD"))
    ktap.equal(reader.reply(head_only=True).fields["content-length"], "6", "HEAD")
    sock.sendall(GET("/no"))
    ktap.equal(reader.reply().status, 404, "none")
    sock.sendall(GET("/a.txt") * 5 + GET("/mid") + GET("/a.txt", "Connection: close\r\n"))
    for _ in range(5):
        ktap.equal(reader.reply().body, b"hello\n", "pipelined")
    ktap.true(reader.reply().body == MID, "pipelined, of several records")
    ktap.equal(reader.reply().body, b"hello\n", "last")
    # Without close_notify this is an error here.
    ktap.equal(sock.recv(1), b"", "end")


@ktap.test
def files_over_tls():
    for place in (khttpd.V4, khttpd.V6):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with counting(tls_taken=1, tls_done=1, tls_refused=0, tls_failed=0,
                          accepted=1, closed=1):
                with connect(place, context(version)) as sock:
                    ktap.equal(sock.selected_alpn_protocol(), "http/1.1", "ALPN")
                    fetches(sock, large=True)
    ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"hello\n",
               "the listener without TLS")
    at_rest()


def has_chacha():
    """What khttpd says, which is to be what the kernel's own list says."""
    device = os.open("/dev/khttpd", os.O_RDWR)
    found, = struct.unpack("I", fcntl.ioctl(device, CIPHERS, bytes(4)))
    os.close(device)
    with open("/proc/crypto", encoding="ascii") as file:
        listed = "rfc7539(chacha20,poly1305)" in file.read()
    ktap.equal(found, 3 if listed else 1, "ciphers")
    return listed


@ktap.test
def every_cipher():
    chacha = has_chacha()
    every = (("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"),
             ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"),
             ("-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256"),
             ("-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"),
             ("-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"),
             ("-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384"))
    # Starting a program takes seconds there; AES-128 is in the other tests.
    for words in every[-2:] if ktap.CHECKING else every:
        out = ktap.run("openssl", "s_client", "-connect", f"127.0.0.1:{PORT}", "-quiet",
                       "-CAfile", f"{DIR}/a.example.pem", "-verify_return_error", *words,
                       input=GET("/a.txt", "Connection: close\r\n").decode(), check=False)
        if "CHACHA20" in words[-1] and not chacha:
            # What the kernel has not got is not offered, and nobody waits for it.
            ktap.true("handshake failure" in out, f"{words[-1]}: {out[-300:]}")
            continue
        ktap.true("200 OK" in out and "hello\n" in out, f"{words[-1]}: {out[-300:]}")
    for word in () if ktap.CHECKING else ("--tlsv1.2", "--tlsv1.3"):
        out = ktap.run("curl", "-sS", word, "--cacert", f"{DIR}/a.example.pem", "--resolve",
                       f"a.example:{PORT}:127.0.0.1", f"https://a.example:{PORT}/a.txt",
                       f"https://a.example:{PORT}/a.txt")
        ktap.equal(out, "hello\nhello\n", f"curl {word}")
    at_rest()


@ktap.test
def sessions_are_resumed():
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        ctx = context(version)
        with connect(ctx=ctx) as sock:
            fetches(sock)
            session = sock.session
        for _ in range(3):
            with ctx.wrap_socket(khttpd.V4.connect(PORT), server_hostname="a.example",
                                 session=session, suppress_ragged_eofs=False) as sock:
                fetches(sock)
                ktap.true(sock.session_reused, f"{version} reused")
    at_rest()


@ktap.test
def the_name_chooses_the_certificate():
    khttpd.ctl("serve", "--site", "b", "--docroot", khttpd.WWW, "--set", "behind=default",
               "--set", "names=b.example", *pem("b.example"))
    try:
        with connect(ctx=context(name="b.example"), name="b.example") as sock:
            sock.sendall(b"GET /a.txt HTTP/1.1\r\nHost: b.example\r\n\r\n")
            ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "b.example")
        with connect() as sock:
            fetches(sock)
    finally:
        khttpd.ctl("stop", "--site", "b")
    at_rest()


@ktap.test
def other_protocols_are_refused():
    with counting(tls_failed=1, closed=1):
        ktap.true(shunned(context(alpn=("h2",))), "h2 only")
    with counting(tls_failed=1, closed=1):
        with khttpd.V4.connect(PORT) as sock:
            sock.sendall(GET("/a.txt"))
            ktap.true(ended(sock), "plain HTTP")


@ktap.test
def records_that_are_not_data():
    # close_notify of the client: the server says it, too.
    with counting(closed=1, tls_records=0):
        sock = connect()
        sock.sendall(GET("/a.txt"))
        ktap.equal(khttpd.Reader(sock).reply().status, 200, "reply")
        sock.unwrap().close()
    # A FIN without it.
    with counting(closed=1, tls_records=0):
        sock = connect()
        sock.shutdown(socket.SHUT_WR)
        sock.close()
    # A key update (RFC 8446 section 4.6.3) cannot be had from the kernel.
    with counting(closed=1, tls_records=1):
        with subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{PORT}",
                               "-tls1_3"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as client:
            while b"Verify return code" not in client.stdout.readline():
                pass
            client.stdin.write(b"K\n")
            client.stdin.flush()
            client.communicate(timeout=60)
    # Bytes that are no record of this connection.
    for garbage in (b"\x17\x03\x03\x00\x20" + bytes(32), os.urandom(500),
                    b"\x17\x03\x03\xff\xff" + bytes(100), b"\x17\x03\x03\x00\x00"):
        with counting(closed=1):
            sock = connect()
            with socket.socket(fileno=os.dup(sock.fileno())) as raw:
                raw.settimeout(khttpd.TIMEOUT)
                raw.sendall(garbage)
                with contextlib.suppress(OSError):
                    raw.shutdown(socket.SHUT_WR)
                    while raw.recv(1000):
                        pass
            with contextlib.suppress(OSError):
                sock.close()
    at_rest()


@ktap.test
def part_of_a_record_costs_no_processor_time():
    with connect() as sock:
        with socket.socket(fileno=os.dup(sock.fileno())) as raw:
            raw.sendall(b"\x17\x03\x03\x10\x00" + bytes(100))
            before = ticks()
            select.select([], [], [], 0.5)
            ktap.true(ticks() - before < 0.25 * os.sysconf("SC_CLK_TCK"), "khttpd sleeps")
    at_rest()


def ticks():
    return sum(int(fields[11]) + int(fields[12]) for _, name, fields in processes()
               if name.startswith("khttpd/"))


@ktap.test
def hostile_bytes_instead_of_a_hello():
    hello = ssl_hello()
    cases = [os.urandom(n) for n in (1, 5, 300, 20_000)] + \
        [hello[:n] for n in (1, 5, 6, 100)] + \
        [hello[:9] + b"\xff" * 40, b"\x16\x03\x01\xff\xff" + bytes(70_000),
         b"\x15\x03\x01\x00\x02\x02\x28" * 2000, b"\x16\x03\x01\x00\x00" * 2000, b""]
    with counting(accepted=len(cases), closed=len(cases), tls_done=0):
        for case in cases:
            with khttpd.V4.connect(PORT) as sock, \
                    contextlib.suppress(OSError):
                sock.sendall(case)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(1000):
                    pass
    at_rest()
    with connect() as sock:
        fetches(sock)
    at_rest()


def ssl_hello():
    out = ssl.MemoryBIO()
    client = context().wrap_bio(ssl.MemoryBIO(), out, server_hostname="a.example")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


@ktap.test
def slow_handshakes_have_limits():
    with limits(tls_timeout=1000 * ktap.SCALE, tls_handshakes=6, tls_per_address=4):
        with counting(tls_full=2, timeout_tls=4, accepted=6, closed=6):
            socks = [khttpd.V4.connect(PORT) for _ in range(4)]
            ktap.wait_for(10, "four wait", lambda: khttpd.count("tls_pending") == 4)
            for _ in range(2):
                ktap.true(refused(khttpd.V4), "too many of an address")
            for sock in socks:
                sock.sendall(ssl_hello()[:20])
                ktap.true(ended(sock), "too slow")
                sock.close()
        at_rest()
        khttpd.limit("tls_per_address", 0)
        with counting(tls_full=1, timeout_tls=6):
            socks = [khttpd.V4.connect(PORT) for _ in range(6)]
            ktap.wait_for(10, "six wait", lambda: khttpd.count("tls_pending") == 6)
            ktap.true(refused(khttpd.V6), "too many in all")
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).status, 200,
                       "the listener without TLS")
            for sock in socks:
                ktap.true(ended(sock), "too slow")
                sock.close()
    at_rest()


def refused(place):
    try:
        with place.connect(PORT) as sock:
            return ended(sock)
    except ConnectionResetError:
        return True


def ended(sock):
    try:
        while sock.recv(1000):
            pass
    except ConnectionError:
        pass
    return True


@ktap.test
def the_daemon_dies():
    with connect() as kept:
        reader = khttpd.Reader(kept)
        kept.sendall(GET("/a.txt"))
        ktap.equal(reader.reply().status, 200, "before")
        with counting(tls_lost=3, closed=3):
            socks = [khttpd.V4.connect(PORT) for _ in range(3)]
            ktap.wait_for(10, "three wait", lambda: khttpd.count("tls_pending") == 3)
            old = workers()
            DAEMON[0].kill()
            DAEMON.pop().wait()
            for worker in old:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
            for sock in socks:
                ktap.true(ended(sock), "it went with the daemon")
                sock.close()
        ktap.wait_for(10, "no daemon", lambda: not khttpd.count("tls_daemons"))
        with counting(tls_lost=1, closed=1):
            ktap.true(refused(khttpd.V4), "without a daemon")
        start_daemon()
        kept.sendall(GET("/a.txt"))
        ktap.equal(reader.reply().status, 200, "after")
    # One of its workers only: another takes its place.
    worker = min(workers())
    os.kill(worker, signal.SIGKILL)
    ktap.wait_for(20, "another worker",
                  lambda: khttpd.count("tls_daemons") == 2 and worker not in workers())
    with connect() as sock:
        fetches(sock)
    at_rest()


@ktap.test
def a_certificate_is_renewed():
    def serial(sock):
        return sock.getpeercert()["serialNumber"]
    with connect() as kept:
        reader = khttpd.Reader(kept)
        old, before = context(), workers()
        certificate("a.example")

        def renewed():
            try:
                with connect() as sock:
                    return serial(sock) != serial(kept)
            except ssl.SSLError:
                return False
        ktap.wait_for(30, "the new certificate", renewed)
        # Until then both take connections.
        ktap.wait_for(20, "the old workers end", lambda: not workers() & before)
        kept.sendall(GET("/a.txt"))
        ktap.equal(reader.reply().status, 200, "a connection from before")
        ktap.true(shunned(old), "the old one")
    # One that is no good changes nothing.
    os.rename(f"{DIR}/a.example.pem", f"{DIR}/kept")
    ktap.wait_for(20, "it is seen", lambda: refusals() == 1)
    DAEMON[0].send_signal(signal.SIGHUP)
    ktap.wait_for(20, "it is tried", lambda: refusals() == 2)
    with connect(ctx=context(name=None)) as sock:
        fetches(sock)
    os.rename(f"{DIR}/kept", f"{DIR}/a.example.pem")


def refusals():
    with open(LOG, encoding="ascii") as file:
        return file.read().count("the certificates are not changed")


def status():
    return json.loads(khttpd.ctl("tls", "status", "-j"))


@ktap.test
def khttpdctl_says_and_reloads():
    with connect() as sock:
        fetches(sock)
    at_rest()
    # Those of the last certificate end when their connections have.
    ktap.wait_for(20, "two workers", lambda: status()["workers"] == 2)
    now = status()
    ktap.equal({name: now[name] for name in ("workers", "done", "waiting")},
               {"workers": 2, "done": khttpd.count("tls_done"), "waiting": 0}, "counters")
    site, = now["sites"]
    ktap.equal((site["name"], site["certificate"], site["names"], "error" in site),
               ("default", f"{DIR}/a.example.pem", ["a.example"], False), "certificate")
    ktap.true(29 < (site["until"] - time.time()) / 86400 <= 30, f"end: {site}")
    out = khttpd.ctl("tls", "status")
    ktap.true("names a.example\n" in out and " 29 days\n" in out, out)
    old = workers()
    khttpd.ctl("tls", "reload")
    new = workers() - old
    ktap.equal(len(new), 2, "there are new workers at once")
    ktap.wait_for(20, "the old ones end", lambda: workers() == new)
    older = context()
    certificate("a.example")
    khttpd.ctl("tls", "reload")
    ktap.true(shunned(older), "nobody has the old one after the call")
    # What cannot be read is said, and nobody is told to read it.
    os.rename(f"{DIR}/a.example.pem", f"{DIR}/kept")
    out = khttpd.ctl("tls", "reload", check=False)
    ktap.true("site default: " in out and "No such file" in out, out)
    out = khttpd.ctl("tls", "status")
    ktap.true("no good: No such file" in out, out)
    with open(f"{DIR}/a.example.pem", "w", encoding="ascii") as file:
        file.write(ktap.run("cat", f"{DIR}/b.example.pem"))
    out = khttpd.ctl("tls", "reload", check=False)
    ktap.true("the key is another certificate's" in out, out)
    os.rename(f"{DIR}/kept", f"{DIR}/a.example.pem")
    stop_daemon()
    out = khttpd.ctl("tls", "reload", check=False)
    ktap.true("khttpd-tlsd does not run" in out, out)
    start_daemon()


class Traced:
    """A worker that makes a system call for us, in place of the one in which it waits."""

    REGISTERS = 27
    RAX, RIP, ORIG_RAX = 10, 16, 15
    ARGS = (14, 13, 12, 7, 9, 8)	# rdi, rsi, rdx, r10, r8, r9
    ATTACH, DETACH, GET, SET, STEP = 16, 17, 12, 13, 9

    def __init__(self, pid):
        self.pid = pid
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                                     ctypes.c_void_p)

    def ptrace(self, what, registers=None):
        if self.libc.ptrace(what, self.pid, None, registers):
            raise OSError(ctypes.get_errno(), f"ptrace {what}")

    def call(self, number, *args):
        was = (ctypes.c_long * self.REGISTERS)()
        now = (ctypes.c_long * self.REGISTERS)()
        self.ptrace(self.GET, was)
        ctypes.memmove(now, was, ctypes.sizeof(was))
        # Back to the instruction in which it waits.
        now[self.RIP] -= 2
        now[self.RAX], now[self.ORIG_RAX] = number, -1
        for place, arg in zip(self.ARGS, args):
            now[place] = arg
        self.ptrace(self.SET, now)
        self.ptrace(self.STEP)
        os.waitpid(self.pid, 0)
        self.ptrace(self.GET, now)
        self.ptrace(self.SET, was)
        return now[self.RAX]

    def __enter__(self):
        self.ptrace(self.ATTACH)
        os.waitpid(self.pid, 0)
        return self

    def __exit__(self, *_):
        self.ptrace(self.DETACH)


@ktap.test
def a_worker_can_call_little():
    with open("/proc/self/status", encoding="ascii") as file:
        if "Seccomp_filters:" not in file.read() or os.uname().machine != "x86_64":
            raise ktap.Skip("no seccomp, or another processor")
    at_rest()
    for pid in workers():
        with Traced(pid) as worker:
            ktap.equal(worker.call(39), pid, "getpid")
            for name, number, *args in (
                    ("socket", 41, socket.AF_INET, socket.SOCK_STREAM, 0),
                    ("socket of x32", 1 << 30 | 41, socket.AF_UNIX, socket.SOCK_STREAM, 0),
                    ("connect", 42, 0, 0, 0), ("openat", 257, -100, 0, 0), ("execve", 59, 0, 0, 0),
                    ("kill", 62, pid, 0), ("ptrace", 101, 0, 0, 0), ("dup", 32, 2),
                    ("ioctl", 16, 2, 0x5401, 0), ("BEGIN", 16, 2, BEGIN, 0),
                    ("mmap of code", 9, 0, 4096, 5, 0x22, -1, 0)):
                ktap.equal(worker.call(number, *args), -errno.EPERM, name)
            ktap.equal(worker.call(16, 1000, TAKE, 0), -errno.EBADF, "TAKE")
            ktap.true(worker.call(9, 0, 4096, 3, 0x22, -1, 0) > 0, "mmap")
    for _ in range(4):
        with connect() as sock:
            fetches(sock)
    at_rest()


class Device:
    """/dev/khttpd as a daemon that is not to be trusted uses it."""

    def __init__(self, begin=True):
        self.fd = os.open("/dev/khttpd", os.O_RDWR)
        if begin:
            fcntl.ioctl(self.fd, BEGIN)

    def take(self):
        ktap.true(select.select([self.fd], [], [], 20)[0], "a connection waits")
        arg = fcntl.ioctl(self.fd, TAKE, bytes(80))
        site, fd, number, left, _ = struct.unpack("64siIII", arg)
        ktap.equal(site.rstrip(b"\0"), b"default", "site")
        ktap.true(0 < left <= 10000 * ktap.SCALE, "time")
        return fd, number

    def done(self, fd, number, failed=0, flags=0):
        fcntl.ioctl(self.fd, DONE, struct.pack("iIII", fd, number, failed, flags))

    def refuses(self, error, *args):
        ktap.raises(error, self.done, *args)


@ktap.test
def a_daemon_that_lies():
    stop_daemon()
    silent = Device(begin=False)
    ktap.raises(errno.EPERM, fcntl.ioctl, silent.fd, TAKE, bytes(80))
    ktap.raises(errno.EPERM, silent.done, 0, 1)
    device, other = Device(), Device()
    ktap.raises(errno.EBUSY, fcntl.ioctl, device.fd, BEGIN)
    ktap.raises(errno.EAGAIN, fcntl.ioctl, device.fd, TAKE, bytes(80))
    ktap.raises(errno.EINVAL, fcntl.ioctl, device.fd, TAKE, b"\xff" * 80)
    socks = []

    def fresh():
        socks.append(khttpd.V4.connect(PORT))
        return device.take()
    with counting(tls_refused=6, tls_failed=1, tls_lost=2, tls_done=0, accepted=9, closed=9):
        fd, number = fresh()
        for wrong in (0, number + 1, 1 << 31):
            device.refuses(errno.ENOENT, fd, wrong)
        other.refuses(errno.ENOENT, fd, number)
        device.refuses(errno.EINVAL, fd, number, 2)
        device.refuses(errno.EINVAL, fd, number, 0, 1)
        device.refuses(errno.EBADF, socks[-1].fileno(), number)
        device.refuses(errno.ENOENT, fd, number)
        os.close(fd)
        fd, number = fresh()
        device.refuses(errno.EBADF, -1, number)
        os.close(fd)
        # Nothing is on, or one direction is.
        fd, number = fresh()
        device.refuses(errno.EINVAL, fd, number)
        ktap.raises(errno.EBADF, os.fstat, fd)
        fd, number = fresh()
        with socket.socket(fileno=os.dup(fd)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, 31, b"tls")
            sock.setsockopt(282, 1, key())
        device.refuses(errno.EINVAL, fd, number)
        # Somebody else has it, or watches it.
        fd, number = fresh()
        again = os.dup(fd)
        device.refuses(errno.EBUSY, fd, number)
        os.close(again)
        fd, number = fresh()
        with select.epoll() as epoll:
            epoll.register(fd)
            device.refuses(errno.EBUSY, fd, number)
        fd, number = fresh()
        device.done(fd, number, 1)
        os.close(fd)
        # It goes with what it has.
        fd, number = fresh()
        fresh()
        os.close(device.fd)
        other.refuses(errno.ENOENT, fd, number)
    os.close(other.fd)
    os.close(silent.fd)
    for sock in socks:
        sock.close()
    at_rest()
    start_daemon()


class Watch:
    """/dev/khttpd as the daemon's parent uses it."""

    def __init__(self):
        self.fd = os.open("/dev/khttpd", os.O_RDWR)
        self.asked = 0
        self.call()

    def call(self, asked=None, failed=0):
        arg = struct.pack("II", self.asked if asked is None else asked, failed)
        self.asked, _ = struct.unpack("II", fcntl.ioctl(self.fd, WATCH, arg))

    def told(self, timeout=20):
        return bool(select.select([self.fd], [], [], timeout)[0])


def ask(timeout=20_000):
    device = os.open("/dev/khttpd", os.O_RDWR)
    try:
        fcntl.ioctl(device, ASK, struct.pack("I", timeout))
    finally:
        os.close(device)


def asks(result):
    """Ask in another thread, and note how that ends: 0 or an errno."""
    def run():
        try:
            ask()
            result.append(0)
        except OSError as err:
            result.append(err.errno)
    thread = threading.Thread(target=run)
    thread.start()
    return thread


@ktap.test
def who_watches_is_told():
    stop_daemon()
    ask()
    one, two = Watch(), Watch()
    ktap.true(not one.told(0), "nothing yet")
    ktap.raises(errno.ETIME, ask, 1)
    for failed, error in ((0, 0), (1, errno.EKEYREJECTED)):
        result = []
        for watch in (one, two):
            watch.call()
        thread = asks(result)
        for watch in (one, two):
            ktap.true(watch.told(), "asked for")
            watch.call()
            ktap.true(not watch.told(0), "known")
            ktap.equal(result, [], "all must have done it")
            watch.call(failed=failed)
        thread.join()
        ktap.equal(result, [error], "answer")
    # Who goes, or says what it was not asked for, keeps nobody.
    result = []
    one.call()
    two.call(failed=0)
    thread = asks(result)
    ktap.true(one.told(), "asked for")
    one.call()
    ktap.raises(errno.EINVAL, one.call, one.asked + 1)
    ktap.raises(errno.EINVAL, one.call, None, 2)
    ktap.raises(errno.EBUSY, fcntl.ioctl, one.fd, BEGIN)
    one.call(failed=0)
    os.close(two.fd)
    thread.join()
    ktap.equal(result, [0], "answer")
    device = Device()
    ktap.raises(errno.EBUSY, fcntl.ioctl, device.fd, WATCH, bytes(8))
    os.close(device.fd)
    # A site that is changed or removed by hand.
    khttpd.ctl("serve", "--site", "hand", "--docroot", khttpd.WWW, "--set", "behind=default")
    ktap.true(one.told(), "a new site")
    one.call()
    one.call()
    khttpd.ctl("stop", "--site", "hand")
    ktap.true(one.told(), "one less")
    os.close(one.fd)
    start_daemon()


def key():
    """TLS 1.2, AES-GCM 128, a key of zeros (linux/tls.h)."""
    return struct.pack("HH", 0x0303, 51) + bytes(8 + 16 + 4 + 8)


@ktap.test
def a_liar_with_keys_of_its_own():
    """All is on, but nothing was agreed upon: what the client sends is no record."""
    stop_daemon()
    device = Device()
    with counting(tls_done=1, closed=1):
        with khttpd.V4.connect(PORT) as client:
            fd, number = device.take()
            with socket.socket(fileno=os.dup(fd)) as sock:
                sock.setsockopt(socket.IPPROTO_TCP, 31, b"tls")
                sock.setsockopt(282, 1, key())
                sock.setsockopt(282, 2, key())
                # A socket that would make whoever closes it wait.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                struct.pack("ii", 1, 1000))
            device.done(fd, number)
            client.sendall(GET("/a.txt"))
            ktap.true(ended(client), "closed")
    os.close(device.fd)
    at_rest()
    start_daemon()


def talks(what):
    """A connection that has been answered."""
    sock = connect()
    sock.sendall(GET("/a.txt"))
    ktap.equal(khttpd.Reader(sock).reply().status, 200, what)
    return sock


@ktap.test
def ends_while_handshakes_are_under_way():
    kept = talks("before")
    with limits(tls_timeout=1000):
        socks = [khttpd.V4.connect(PORT) for _ in range(3)]
        with counting(closed=4):
            khttpd.ctl("stop")
            ktap.equal(khttpd.count("tls_pending"), 0, "none waits")
            ktap.true(ended(kept), "kept connection")
        for sock in socks:
            with contextlib.suppress(OSError):
                sock.sendall(ssl_hello())
            ktap.true(ended(sock), "given up")
            sock.close()
        kept.close()
        at_rest()
    # A namespace goes: with connections, and when its handshakes are over.
    ns = ktap.Netns("tls")
    with ns:
        serve()
        kept = talks("in the namespace")
    with limits(tls_timeout=1000):
        with ns:
            socks = [khttpd.V4.connect(PORT) for _ in range(3)]
            for sock in socks + [kept]:
                sock.close()
            socks = [khttpd.V4.connect(PORT) for _ in range(3)]
            ktap.wait_for(10, "three wait", lambda: khttpd.count("tls_pending") == 3)
        ns.delete()
        for sock in socks:
            sock.close()
        at_rest()
    khttpd.ctl("stop")
    stop_daemon()
    ktap.unload("khttpd")
    ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")
    khttpd.limit("tls_timeout", 10000 * ktap.SCALE)
    start_daemon()
    serve()
    with connect() as sock:
        fetches(sock)


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
        ktap.raises(errno.EINVAL, write_line, f"{site}/hsts", bad)
    write_line(f"{site}/rules", "expires /a.txt 60")
    for value in ("max-age=9999999999; includeSubDomains; preload", "max-age=0", ""):
        write_line(f"{site}/hsts", value)
        write_line(f"{site}/enabled", "1")
        with connect() as sock:
            says_hsts("TLS", sock, value or None)
        with khttpd.V4.connect() as sock:
            says_hsts("plain", sock, None)
    write_line(f"{site}/rules", "")
    write_line(f"{site}/enabled", "1")
    at_rest()


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
    at_rest()
    with counting(replies_redirect=4, closed=1), v4.connect(8088) as sock:
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
                     "127.0.0.1:8090,tls,redirect=443", *pem("a.example"), check=False)
    ktap.true("cannot both" in out, out)
    both = f"{khttpd.CONFIG}/x/both"
    khttpd.ctl("serve", "--site", "x", "--docroot", khttpd.WWW, "--set", "behind=default")
    os.mkdir(both)
    write_line(f"{both}/tls", "1")
    write_line(f"{both}/redirect", "443")
    ktap.raises(errno.EINVAL, write_line, f"{khttpd.CONFIG}/x/enabled", "1")
    khttpd.ctl("stop", "--site", "x")


@ktap.test
def net6_sends_to_https_as_native_does():
    place = khttpd.net6_place()
    place.listen = "[::]:8088,net6,redirect=443"
    khttpd.serve(place, site="n")
    with counting(replies_redirect=5, soft_hits=0, closed=3):
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
                     "[::]:8444,net6,tls", *pem("a.example"), check=False)
    ktap.true("has not got an option" in out, out)
    out = khttpd.ctl("serve", "--site", "n", "--docroot", khttpd.WWW, "--listen",
                     "[::]:8444,tls", check=False)
    ktap.true("--certificate is missing" in out, out)


@ktap.test
def what_is_not_a_file_is_the_servers():
    with khttpd.Server(khttpd.V4, 8081, docroot=None) as server:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with connect(ctx=context(version)) as sock:
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
    serve()
    with connect() as sock:
        sock.sendall(GET("/dyn"))
        ktap.equal(khttpd.Reader(sock).reply().status, 404, "no server")


ktap.main(setup)
