#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Many TLS connections at once: idle ones stay while handshakes go on and processes of khttpd-tlsd
# are killed; slow handshakes by the thousand disturb nobody else; so do records that no client
# should send. Afterwards nothing is left: no connection, no keys in the kernel's record layer, no
# descriptor in the daemon.
#
#	[ clients, khttpd, khttpd-tlsd on lo ]
#
# With NET6_FULL 10,000 idle connections, 40 handshakes a second for ten minutes, and 4,000 slow
# ones. NET6_TLS_RATE and NET6_TLS_SECONDS say otherwise. Three of four resume a session. 200 a second
# need a processor that is twice as fast, "--qemu-arg -icount --qemu-arg shift=0,sleep=off", and an
# hour of real time for ten minutes.
#
# timeout: 400
# guest: full
# guest-options: --virtual-time
# pylint: disable=missing-function-docstring
import contextlib
import os
import random
import resource
import signal
import socket
import ssl
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import https   # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
import libssl  # pylint: disable=wrong-import-position

# The checking kernel takes minutes for the small size.
FULL = bool(os.environ.get("NET6_FULL")) and not ktap.CHECKING
IDLE = 10000 if FULL else 500
SECONDS = int(os.environ.get("NET6_TLS_SECONDS") or (600 if FULL else 20))
RATE = int(os.environ.get("NET6_TLS_RATE") or (40 if FULL else 10))
SLOW = 4000 if FULL else 1200
KILL_EVERY = 5
GET = khttpd.get("/a.txt")
RANDOM = random.Random(34)


def setup():
    # The clock may jump while khttpd has them loaded, over the time in which it looks for ciphers.
    for module in ("tls", "aesni_intel"):
        ktap.run("modprobe", "-q", module, check=False)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3 * IDLE + 4096,) * 2)
    https.setup()
    khttpd.limit("tls_per_address", 0)
    khttpd.ctl("stop")
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen",
               f"127.0.0.1:{https.PORT},tls,backlog=4096", "--listen", "127.0.0.1:8080",
               *https.pem("a.example"))


def there():
    ktap.wait_for(120, "khttpd-tlsd is there", lambda: khttpd.count("tls_daemons") == 2)


def at_rest():
    https.at_rest()
    ktap.wait_for(60, "no keys", lambda: https.keys() == (0, 0))


def kernel_memory():
    """MB of slab, and how much of that cannot be reclaimed."""
    with open("/proc/meminfo", encoding="ascii") as file:
        values = dict(line.split(":") for line in file)
    return tuple(int(values[name].split()[0]) >> 10 for name in ("Slab", "SUnreclaim"))


OLD, NEW = libssl.Context(libssl.TLS1_2), libssl.Context(libssl.TLS1_3)


def connect(ctx=NEW, resume=False):
    return ctx.connect(("127.0.0.1", https.PORT), 60, resume)


def answered(sock):
    sock.sendall(GET)
    ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "a reply")


def kill_one(killed):
    """One of the daemon's processes, at random; the parent's end is that of all. @killed: it is
    noted there which.
    """
    parent = https.DAEMON[0]
    rest = sorted(https.workers())
    pid = RANDOM.choice(rest + [parent.pid])
    for victim in [pid] + (rest if pid == parent.pid else []):
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    killed.append("all" if pid == parent.pid else "one")
    if pid != parent.pid:
        return
    https.DAEMON.pop().wait()
    ktap.wait_for(30, "no daemon", lambda: not khttpd.count("tls_daemons"))
    https.start_daemon()


def storm():
    """Handshakes at a rate, with a request each. Return: how many were served, and were not."""
    begin, served, lost, resumed, waited = time.monotonic(), 0, 0, 0, 0
    killer, killed, marks = None, [], []
    # By number: the clock jumps while a daemon is started.
    for number in range(SECONDS * RATE):
        if not number % (KILL_EVERY * RATE):
            if killer:
                killer.join()
            # At any time of a handshake, and others come while there is no daemon.
            killer = threading.Timer(RANDOM.random() / RATE, kill_one, [killed])
            killer.start()
            marks.append(lost)
        early = begin + number / RATE - time.monotonic()
        waited += early > 0
        time.sleep(max(0, early))
        # A full one of either version, and six that resume the older one's session.
        ctx = NEW if number % 8 == 4 else OLD
        try:
            with connect(ctx, resume=number % 4) as sock:
                answered(sock)
                resumed += sock.resumed()
                if not number % 8:
                    sock.keep()
            served += 1
        except (OSError, ktap.Fail):
            lost += 1
        # An hour of real time is long for who sees nothing.
        if not (number + 1) % (60 * RATE):
            ktap.diag(f"{number + 1} handshakes: {served} were served, {lost} lost")
    killer.join()
    ktap.diag(f"{SECONDS * RATE} handshakes in {time.monotonic() - begin:.0f} s: {served} were "
              f"served, {resumed} of them resumed, {lost} lost; {waited} began in time")
    costs = list(zip(killed, (after - one for one, after in zip(marks, marks[1:] + [lost]))))
    for which in ("one", "all"):
        each = [cost for name, cost in costs if name == which]
        ktap.diag(f"lost by each end of {which}: {each}")
        # After the end of all the clock may jump over the time that is waited for others.
        ktap.true(which == "all" or max(each, default=0) <= 1, "the handshake under way, at most")
    return served, lost


@ktap.test
def idle_connections_outlast_the_daemon():
    there()
    with connect() as sock:
        answered(sock)
    at_rest()
    before, memory = https.descriptors(), kernel_memory()
    idle = []
    try:
        while len(idle) < IDLE:
            idle.append(connect())
        ktap.wait_for(60, "all have keys", lambda: https.keys() == (IDLE, IDLE))
        served, lost = storm()
        ktap.true(served > lost, "most of them are served")
        there()
        ktap.wait_for(60, "the idle ones have keys", lambda: https.keys() == (IDLE, IDLE))
        for sock in idle:
            answered(sock)
    finally:
        for sock in idle:
            sock.close()
    at_rest()
    ktap.wait_for(60, "no descriptor is left", lambda: https.descriptors() == before)
    ktap.diag(f"descriptors {before}, keys {https.keys()}; slab, and what of it stays, in MB: "
              f"{memory} before, {kernel_memory()} after")


@ktap.test
def slow_handshakes_by_the_thousand():
    """Above the limits they are closed and counted; who has none is served meanwhile."""
    most = 800
    old = {name: khttpd.limit(name, value) for name, value in
           (("tls_handshakes", most), ("tls_per_address", most // 2), ("tls_timeout", 600_000))}
    before = {name: khttpd.count(name) for name in ("tls_full", "timeout_tls", "tls_failed")}
    socks = []
    try:
        # Each address has half of what there is.
        for number in range(SLOW):
            sock = socket.socket()
            sock.bind((f"127.0.0.{2 + number % 4}", 0))
            sock.settimeout(60)
            socks.append(sock)
            # One that is refused may be reset at once.
            with contextlib.suppress(ConnectionError):
                sock.connect(("127.0.0.1", https.PORT))
                sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01")
        ktap.wait_for(60, "the others are refused", lambda: khttpd.count("tls_full") -
                      before["tls_full"] == SLOW - most)
        ktap.equal(khttpd.count("tls_pending"), most, "handshakes under way")
        with khttpd.V4.connect(8080) as sock:
            reader = khttpd.Reader(sock)
            for _ in range(20):
                sock.sendall(GET)
                ktap.equal(reader.reply().body, b"hello\n", "the listener without TLS")
        ktap.true(refused(), "nobody more")
        # One goes, and another one has its place.
        socks.pop(0).close()
        ktap.wait_for(60, "a place is free", lambda: khttpd.count("tls_pending") < most)
        with connect() as sock:
            answered(sock)
    finally:
        for sock in socks:
            sock.close()
        for name, value in old.items():
            khttpd.limit(name, value)
    at_rest()
    ktap.equal(khttpd.count("timeout_tls"), before["timeout_tls"], "none waited for its time-out")


def over(sock):
    """The connection is ended by khttpd, one way or the other."""
    with contextlib.suppress(OSError):
        while sock.recv(1000):
            pass


def flood(version, kind, data):
    with https.records(version) as (sock, send):
        with contextlib.suppress(OSError):
            for _ in range(300):
                send(kind, data)
        over(sock)


@ktap.test
def records_of_all_kinds():
    """Encrypted as they should be, by a client that means no good."""
    for version in (ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2):
        # A byte a record: a request like any other.
        with https.records(version) as (sock, send):
            for byte in GET:
                send(23, bytes([byte]))
            ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "a byte a record")
        # What is no data ends the connection, at the first.
        for kind, data in ((20, b"\1"), (21, b"\1\x5a"), (21, b"\2\x28"), (21, b"\1"),
                           (21, bytes(16384)), (22, b"\x18\0\0\1\0"), (22, bytes(100)),
                           (24, bytes(20)), (255, bytes(16384))):
            before = khttpd.count("tls_records")
            flood(version, kind, data)
            ktap.wait_for(60, f"type {kind} is counted once",
                          lambda b=before: khttpd.count("tls_records") == b + 1)
        # No type at all: TLS 1.3 takes 0 for padding, and "x" for the type. Linux reads no further.
        flood(version, 0, b"x")
        at_rest()
        # An end in the middle of a request, and more behind the end.
        before = khttpd.count("tls_records")
        with https.records(version) as (sock, send):
            send(23, GET[:9])
            with contextlib.suppress(OSError):
                send(21, b"\1\0")
                send(23, GET[9:])
            over(sock)
        at_rest()
        ktap.equal(khttpd.count("tls_records"), before, "close_notify is none of them")
    with connect() as sock:
        answered(sock)
    at_rest()


def refused():
    try:
        connect().close()
    except (OSError, ssl.SSLError):
        return True
    return False


ktap.main(setup=setup)
