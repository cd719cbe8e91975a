#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# No memory for a connection with TLS: each allocation on its way from khttpd to a daemon and back
# fails in its turn, and a share of what khttpd-tlsd's workers, khttpd's threads and what must not
# sleep ask for. Connections may end; what arrives is right, and afterwards no connection, no
# descriptor and no keys are left, and all are served.
#
#	[ clients, khttpd, khttpd-tlsd, this process as a daemon and as a server on lo ]
#
# guest: checking
# timeout: 300
# guest-options: --kmemleak
# pylint: disable=missing-function-docstring
import contextlib
import errno
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import faults  # pylint: disable=wrong-import-position
import https   # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
from faults import without_the_nth          # pylint: disable=wrong-import-position
from proxyhead import PP2_TYPE_SSL, announced  # pylint: disable=wrong-import-position
from tlsdev import Device, agree_on_zeros   # pylint: disable=wrong-import-position

SAID = b"\1\0\0\0\1"
REPLIES = 20 if os.environ.get("NET6_FULL") else 8	# each day fewer
# Without memory Linux's TCP may never tell the peer of an end (TCPAbortFailed): so long it waits.
PATIENCE = 3


def setup():
    faults.setup()
    https.setup()


@contextlib.contextmanager
def site():
    """It has a server behind, which is told of TLS."""
    khttpd.ctl("stop", "--all")
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", f"127.0.0.1:{https.PORT},tls",
               *https.pem("a.example"), "--set", "send_proxy=1")
    try:
        with khttpd.Server(khttpd.V4, 9080, docroot=None) as server:
            yield server
    finally:
        https.serve()


def at_rest():
    https.at_rest()
    ktap.wait_for(20, "no keys", lambda: https.keys() == (0, 0))


def is_open(fd):
    with contextlib.suppress(OSError):
        os.fstat(fd)
        return True
    return False


class Way:
    """A connection to a daemon, which says of TLS what a server is to be told, and back: one of
    its steps has no memory for an allocation.
    """

    def __init__(self, device, server, step, number):
        self.device, self.server, self.step, self.number = device, server, step, number
        self.failed, self.error, self.taken = False, 0, None

    def do(self, step, function, *args):
        if step == self.step:
            self.failed, self.error = without_the_nth(self.number, function, *args)
            return not self.error
        function(*args)
        return True

    def take(self):
        self.taken = self.device.take()

    def go(self):
        """Return: was there an allocation to fail?"""
        with khttpd.V4.connect(https.PORT) as client:
            ktap.wait_for(20, "it waits", lambda: khttpd.count("tls_pending") == 1)
            # What fails leaves all as it was, and can be done again.
            if not self.do("take", self.take):
                self.take()
            fd, number = self.taken
            if not self.do("says", self.device.says, number, SAID):
                self.device.says(number, SAID)
            agree_on_zeros(fd)
            served = self.do("done", self.device.done, fd, number)
            ktap.true(not is_open(fd), "the descriptor is closed")
            if served:
                self.is_handed_over(client)
            else:
                ktap.true(https.ended(client), "the client sees the end")
        https.at_rest()
        return self.failed

    def is_handed_over(self, client):
        agree_on_zeros(client.fileno())
        client.sendall(khttpd.get("/app"))
        with self.server.accept() as conn:
            ktap.equal(announced(conn)[1], {PP2_TYPE_SSL: SAID}, "what is said of TLS")
            ktap.equal(conn.recv(4), b"GET ", "the request behind it")


@ktap.test
def each_allocation_on_the_way():
    """Of the socket and its file, of what the daemon says, of the header, of the connection."""
    with site() as server:
        https.stop_daemon()
        device = Device()
        with faults.no_pages():
            faults.fault(ignore_gfp_wait="N", probability=0)
            for step, least in (("take", 2), ("says", 1), ("done", 3)):
                fared = []
                while True:
                    refused = khttpd.count("tls_refused")
                    way = Way(device, server, step, len(fared) + 1)
                    if not way.go():
                        break
                    fared.append(way.error)
                    ktap.equal(khttpd.count("tls_refused") - refused,
                               int(step == "done" and way.error != 0), "refused")
                ktap.diag(f"{step}: {fared}")
                ktap.equal(way.error, 0, "with memory")
                # Others are nobody's business.
                ktap.true(fared.count(errno.ENOMEM) >= least and set(fared) <= {0, errno.ENOMEM},
                          f"{step}: {fared}")
        os.close(device.fd)
        https.start_daemon()
    at_rest()


@ktap.test
def a_daemon_begins_without_memory():
    """To open the device, and to say that it does handshakes."""
    https.stop_daemon()
    with faults.no_pages():
        faults.fault(ignore_gfp_wait="N", probability=0)
        fared = []
        while True:
            failed, error = without_the_nth(len(fared) + 1, lambda: os.close(Device().fd))
            # Device() does not close what cannot begin.
            for name in os.listdir("/proc/self/fd"):
                with contextlib.suppress(OSError):
                    if os.readlink(f"/proc/self/fd/{name}") == "/dev/khttpd":
                        os.close(int(name))
            ktap.equal(khttpd.count("tls_daemons"), 0, "daemons")
            if not failed:
                break
            fared.append(error)
    ktap.diag(f"{fared}")
    ktap.equal(error, 0, "with memory")
    ktap.true(fared.count(errno.ENOMEM) >= 2, f"{fared}")
    https.start_daemon()


class Secured:
    """Where clients find the site. To make a context takes longer than a handshake."""

    def __init__(self):
        self.ctx = https.context()

    def connect(self, _):
        return https.connect(ctx=self.ctx, timeout=PATIENCE)


def serve_app(server, over):
    """Says what it was asked for by clients of TLS. Without memory files are left to it, too."""
    bodies = {b"/app": b"app", b"/a.txt": b"hello\n", b"/mid": https.MID}
    server.sock.settimeout(0.1)
    while not over.is_set():
        # The connection may end at any time, too.
        with contextlib.suppress(OSError, ktap.Fail, IndexError), server.accept() as conn:
            conn.settimeout(PATIENCE)
            more = announced(conn)[1]
            path = conn.recv(1000).split(b" ")[1]
            body = bodies[path] if more[PP2_TYPE_SSL].startswith(b"\1") else b"wrong"
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


@contextlib.contextmanager
def serving(server):
    over = threading.Event()
    thread = threading.Thread(target=serve_app, args=(server, over))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


FILES = (("/a.txt", (b"hello\n",)), ("/mid", (https.MID,)))


def fetched():
    """Files on connections that are kept, and the server's replies, each on its own."""
    clients = [khttpd.Clients(Secured(), files, 1, turns=turns)
               for files, turns in ((FILES, 4), ((("/app", (b"app",)),), 1))]
    try:
        for one in clients:
            ktap.wait_for(60, f"{REPLIES} replies", lambda c=one: c.replies >= REPLIES)
    finally:
        # Without failures, or those who wait for the last reply wait long.
        faults.fault(probability=0)
        for one in clients:
            one.over = True
        for one in clients:
            one.stop()


def service_under(failing):
    with site() as server:
        ktap.wait_for(20, "two workers", lambda: len(https.descriptors()) == 2)
        at_rest()
        before, descriptors = khttpd.counters(), https.descriptors()
        with serving(server):
            began = time.monotonic()
            with failing():
                fetched()
            ktap.diag(f"{time.monotonic() - began:.0f} s")
            ktap.diag(", ".join(f"{name} {khttpd.count(name) - before[name]}" for name in (
                "no_memory", "tls_taken", "tls_done", "tls_failed", "tls_refused", "tls_lost",
                "handed_over")))
            # Nothing fails any more.
            with https.connect() as sock:
                reader = khttpd.Reader(sock)
                for path, body in (("/a.txt", b"hello\n"), ("/mid", https.MID), ("/app", b"app")):
                    sock.sendall(khttpd.get(path))
                    ktap.true(reader.reply().body == body, path)
            # One whose client is gone may come to the server last of all, and waits for it.
            at_rest()
        ktap.wait_for(20, "no descriptor is left", lambda: https.descriptors() == descriptors)


def tasks(name):
    return [pid for pid, comm, _ in https.processes() if comm.startswith(name)]


@ktap.test
def workers_without_memory():
    """Of a handshake some 40 allocations are theirs."""
    service_under(lambda: faults.failing_tasks(https.workers(), 3))


@ktap.test
def threads_without_memory():
    ktap.true(tasks("khttpd/"), "there are threads")
    service_under(lambda: faults.failing_tasks(tasks("khttpd/"), 3))


@ktap.test
def what_must_not_sleep():
    service_under(lambda: faults.failing(ignore_gfp_wait="Y", probability=2))


ktap.main(setup)
