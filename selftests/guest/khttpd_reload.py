#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Settings of a site that runs are changed without losing a connection. What cannot be
# leaves all as it was. Listeners come and go. Options of their sockets. Stopping lets
# replies under way be sent, for a while.
#
#	[ clients, khttpd and server on lo ]
#	[ client ] c0 ------ s0 [ server: khttpd ], net6
#
# guest: stock+
# timeout: 120
# pylint: disable=missing-function-docstring
import os
import re
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
DATA = os.urandom(3_000_003)
SITE = f"{khttpd.CONFIG}/default"
PLACE = khttpd.net6_later()


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    # Replies under way are read in small pieces: that takes time on a slow machine.
    ktap.at_exit(khttpd.limit, "stop_timeout",
                 khttpd.limit("stop_timeout", 5000 * ktap.SCALE))
    khttpd.write("a.txt", b"one")
    khttpd.write("big", DATA)
    khttpd.write("../two/a.txt", b"two")
    khttpd.write("../two/big", DATA)
    khttpd.write("../behind/a.txt", b"behind")


def serve(*more, listen=khttpd.V4.listen):
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", listen, *more)


def change(check=True, site=SITE, **values):
    """Attributes are written, and take effect."""
    for name, value in list(values.items()) + [("enabled", "1")]:
        try:
            with open(f"{site}/{name}", "w", encoding="ascii") as file:
                file.write(value or "\n")
        except OSError as error:
            if check:
                raise
            return error.errno
    return 0


def slow(port=8080):
    """A reply under way that the client does not take yet."""
    sock = khttpd.V4.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(khttpd.TIMEOUT)
    sock.connect(("127.0.0.1", port))
    before = khttpd.count("requests")
    sock.sendall(GET("/big"))
    ktap.wait_for(20, "the reply is under way", lambda: khttpd.count("requests") > before)
    return sock


@ktap.test
def what_is_written_takes_effect_when_enabled():
    serve()
    with khttpd.V4.connect() as sock:
        reader = khttpd.Reader(sock)

        def ask(path="/a.txt"):
            sock.sendall(GET(path))
            return reader.reply()

        ktap.equal(ask().body, b"one", "before")
        with open(f"{SITE}/docroot", "w", encoding="ascii") as file:
            file.write("/srv/two")
        ktap.equal(ask().body, b"one", "written, not in effect")
        big = slow()
        change(rules="cache *.txt max-age=5\ndeny /x\n")
        reply = ask()
        ktap.equal((reply.body, reply.fields["cache-control"]), (b"two", "max-age=5"),
                   "after")
        ktap.equal(ask("/x").status, 403, "denied")
        change(rules="", docroot=khttpd.WWW)
        ktap.equal("cache-control" in ask().fields, False, "rules are gone")
        ktap.equal(ask("/x").status, 404, "not denied")
        ktap.true(khttpd.Reader(big).reply().body == DATA, "the reply under way is whole")
        big.close()
    khttpd.ctl("stop")
    ktap.equal((khttpd.count("cache_entries"), khttpd.count("connections")), (0, 0), "left")


@ktap.test
def what_cannot_be_changes_nothing():
    serve()
    with khttpd.V4.connect() as sock, socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 8081))
        taken.listen()
        reader = khttpd.Reader(sock)
        ktap.equal(change(False, docroot="/nowhere"), 2, "no such directory")
        ktap.equal(change(False, docroot=khttpd.WWW, behind="nobody"), 2, "no such site")
        for port in ("8083", "8081"):
            os.mkdir(f"{SITE}/listen{port}")
            for name, value in (("family", "inet"), ("address", "127.0.0.1"),
                                ("port", port)):
                with open(f"{SITE}/listen{port}/{name}", "w", encoding="ascii") as file:
                    file.write(value)
        ktap.equal(change(False, behind="", docroot="/srv/two"), 98, "address in use")
        ktap.true(refused(8083), "the new listener was closed again")
        for _ in range(2):
            sock.sendall(GET("/a.txt"))
            ktap.equal(reader.reply().body, b"one", "as before")
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"one", "new ones too")
        os.rmdir(f"{SITE}/listen8081")
        change()
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt"), 8083).body, b"two", "now")
        sock.sendall(GET("/a.txt"))
        ktap.equal(reader.reply().body, b"two", "for the old connection too")
        # A listener goes; replies under way there are sent.
        big = slow(8083)
        thread = threading.Thread(target=os.rmdir, args=(f"{SITE}/listen8083",))
        thread.start()
        ktap.wait_for(10, "it listens no more", lambda: refused(8083))
        ktap.true(khttpd.Reader(big).reply().body == DATA, "whole")
        thread.join()
        big.close()
        sock.sendall(GET("/a.txt"))
        ktap.equal(reader.reply().body, b"two", "the other listener's stay")
    khttpd.ctl("stop")


@ktap.test
def what_is_written_is_pending():
    def pending():
        with open(f"{SITE}/pending", encoding="ascii") as file:
            return file.read()

    def put(name, value):
        with open(f"{SITE}/{name}", "w", encoding="ascii") as file:
            file.write(value)
    os.mkdir(SITE)
    put("docroot", khttpd.WWW)
    ktap.equal(pending(), "0\n", "nothing runs")
    put("enabled", "1")
    for name, value in (("docroot", "/srv/two"), ("index", "x"), ("listing", "1"),
                        ("precompressed", "1"), ("rules", "deny /x\n"), ("names", "a"),
                        ("behind", "nobody"), ("uid", "7"), ("gid", "7"),
                        ("types", "text/x x\n")):
        ktap.equal(pending(), "0\n", f"before {name}")
        put(name, value)
        ktap.equal(pending(), "1\n", name)
        if name == "behind":
            ktap.equal(change(False), 2, "cannot be")
            ktap.equal(pending(), "1\n", "still")
            put("behind", "\n")
        put("enabled", "1")
    try:
        put("uid", "x")
    except OSError:
        pass
    ktap.equal(pending(), "0\n", "refused")
    khttpd.ctl("stop")


@ktap.test
def a_listener_is_closed_and_opened():
    def put(name, value):
        with open(f"{SITE}/{name}", "w", encoding="ascii") as file:
            file.write(value)

    def is_open(name):
        with open(f"{SITE}/{name}/open", encoding="ascii") as file:
            return file.read()
    serve()
    ktap.equal(is_open("listen0"), "1\n", "open")
    put("listen0/open", "1")
    big = slow()
    put("listen0/open", "0")
    ktap.equal(is_open("listen0"), "0\n", "closed")
    ktap.true(refused(8080), "nobody listens")
    # Another one in its place, while the reply is under way.
    os.mkdir(f"{SITE}/other")
    ktap.equal(is_open("other"), "0\n", "not opened yet")
    for name, value in (("family", "inet"), ("address", "0.0.0.0"), ("port", "8080"),
                        ("open", "1")):
        put(f"other/{name}", value)
    ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"one", "the other one")
    change(docroot="/srv/two")
    ktap.equal(is_open("listen0"), "0\n", "still closed")
    ktap.true(khttpd.Reader(big).reply().body == DATA, "the reply under way is whole")
    big.close()
    ktap.raises(98, put, "listen0/open", "1")
    os.rmdir(f"{SITE}/other")
    put("listen0/open", "1")
    ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"two", "open again")
    put("enabled", "0")
    ktap.equal(is_open("listen0"), "0\n", "stopped")
    ktap.raises(2, put, "listen0/open", "1")
    khttpd.ctl("stop")


def refused(port):
    try:
        khttpd.V4.connect(port).close()
        return False
    except OSError:
        return True


@ktap.test
def sites_behind_and_in_front():
    serve()
    khttpd.ctl("serve", "--site", "b", "--docroot", "/srv/behind", "--set",
               "behind=default", "--set", "names=b.example")

    def body(host):
        return khttpd.exchange(khttpd.V4, f"GET /a.txt HTTP/1.1\r\nHost: {host}\r\n\r\n"
                               .encode()).body
    ktap.equal((body("a"), body("b.example")), (b"one", b"behind"), "before")
    change(docroot="/srv/two")
    ktap.equal((body("a"), body("b.example")), (b"two", b"behind"), "the front changed")
    change(site=f"{khttpd.CONFIG}/b", names="c.example")
    ktap.equal((body("b.example"), body("c.example")), (b"two", b"behind"), "names changed")
    change(site=f"{khttpd.CONFIG}/b", docroot=khttpd.WWW)
    ktap.equal(body("c.example"), b"one", "its files changed")
    khttpd.ctl("stop")
    khttpd.ctl("stop", "--all")
    ktap.equal(khttpd.count("cache_entries"), 0, "files held open")


class Steady:
    """Threads on kept connections, and on new ones, that forgive nothing."""

    def __init__(self, wanted, place=khttpd.V4):
        self.place = place
        self.over = False
        self.replies = 0
        self.wrong = []
        self.wanted = wanted
        self.threads = [threading.Thread(target=self.run, args=(kept,))
                        for kept in (True, True, False)]
        for thread in self.threads:
            thread.start()

    def run(self, kept):
        sock = None
        while not self.over:
            try:
                sock = sock or self.place.connect()
                sock.sendall(GET("/a.txt"))
                body = khttpd.Reader(sock).reply().body
                if body not in self.wanted:
                    self.wrong.append(body)
                self.replies += 1
            except (OSError, ktap.Fail) as error:
                self.wrong.append(repr(error))
            if not kept:
                sock.close()
                sock = None

    def stop(self):
        self.over = True
        for thread in self.threads:
            thread.join()
        ktap.equal(self.wrong, [], "lost or wrong")


def changed_under_load(place):
    load = Steady((b"one", b"two"), place)
    try:
        for turn in range(30 if not ktap.CHECKING else 10):
            before = load.replies
            change(docroot="/srv/two" if turn % 2 else khttpd.WWW,
                   rules="" if turn % 3 else "cache / no-cache")
            ktap.wait_for(20, "replies", lambda b=before: load.replies > b + 5)
    finally:
        load.stop()
        khttpd.ctl("stop")
    ktap.equal(khttpd.count("cache_entries"), 0, "files held open")


@ktap.test
def nothing_is_lost_under_load():
    serve()
    changed_under_load(khttpd.V4)


@ktap.test
def nothing_is_lost_in_softirq():
    place = PLACE
    with place.server:
        serve(listen=place.listen)

    def hit():
        before = khttpd.count("soft_hits")
        khttpd.exchange(place, GET("/a.txt"))
        return khttpd.count("soft_hits") > before
    ktap.wait_for(20, "it is answered in softirq", hit)
    with place.connect() as sock:
        reader = khttpd.Reader(sock)
        for docroot, body in ((khttpd.WWW, b"one"), ("/srv/two", b"two")):
            change(docroot=docroot)
            sock.sendall(GET("/a.txt"))
            ktap.equal(reader.reply().body, body, docroot)
    changed_under_load(place)


@ktap.test
def an_attachment_stays():
    with khttpd.Server(khttpd.V4, 8091) as server:
        for docroot, body in (("/srv/two", b"two"), (khttpd.WWW, b"one")):
            waiting = khttpd.V4.connect(8091)
            change(docroot=docroot)
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt"), 8091).body, body, docroot)
            waiting.sendall(GET("/dyn"))
            conn = server.accept()
            ktap.equal(ktap.take(conn, len(GET("/dyn"))), GET("/dyn"), "is the server's")
            conn.close()
            waiting.close()
        ktap.true("attached to 1" in khttpd.ctl("status"), "status")
        ktap.equal(khttpd.ctl("detach"), "detached from 1 listener\n", "detach")


@ktap.test
def stopping_lets_replies_be_sent():
    serve()
    idle, half = khttpd.V4.connect(), khttpd.V4.connect()
    half.sendall(b"GET /a.t")
    big = slow()
    thread = threading.Thread(target=khttpd.ctl, args=("stop",))
    thread.start()
    khttpd.Reader(idle).closed()
    khttpd.Reader(half).closed()
    ktap.true(refused(8080), "nobody listens")
    reader = khttpd.Reader(big)
    ktap.true(reader.reply().body == DATA, "the reply under way is whole")
    reader.closed()
    thread.join()
    ktap.equal(khttpd.count("connections"), 0, "connections")
    # One that takes nothing does not hold it up for ever.
    old = khttpd.limit("stop_timeout", 300)
    try:
        serve()
        big = slow()
        start = time.monotonic()
        khttpd.ctl("stop")
        ktap.true(time.monotonic() - start < 20 * ktap.SCALE, "in time")
        ktap.equal(khttpd.count("connections"), 0, "connections")
        big.close()
    finally:
        khttpd.limit("stop_timeout", old)


def listening(port):
    """Lines of ss for the listeners on that port."""
    out = ktap.run("ss", "-Htln", f"sport = :{port}")
    return [line.split() for line in out.splitlines()]


@ktap.test
def options_of_sockets():
    for path in ("ipv4/tcp_fastopen", "core/somaxconn"):
        with open(f"/proc/sys/net/{path}", "w", encoding="ascii") as file:
            file.write("3" if "fast" in path else "4096")
    serve(listen=khttpd.V4.listen + ",backlog=77,fastopen=16")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 8085))
        other.listen(55)
        # A kernel without inet_diag does not say.
        if listening(8085)[0][2] == "55":
            ktap.equal([line[2] for line in listening(8080)], ["77"], "backlog")

    def fast():
        """Does a SYN carry the request? The first one gets the cookie."""
        with khttpd.V4.socket() as sock:
            sock.sendto(GET("/a.txt"), 0x20000000, ("127.0.0.1", 8080))
            ktap.equal(khttpd.Reader(sock).reply().body, b"one", "body")
        return int(re.search(r"TCPFastOpenPassive\s+(\d+)",
                             ktap.run("nstat", "-az", "TcpExtTCPFastOpenPassive"))[1])
    ktap.wait_for(10, "a request comes with a SYN", fast)
    khttpd.ctl("stop")
    serve(listen=khttpd.V4.listen + ",defer_accept=30")
    accepted = khttpd.count("accepted")
    with khttpd.V4.connect() as one, khttpd.V4.connect() as two:
        two.sendall(GET("/a.txt"))
        ktap.equal(khttpd.Reader(two).reply().body, b"one", "body")
        ktap.equal(khttpd.count("accepted"), accepted + 1, "the silent one is not accepted")
        one.sendall(GET("/a.txt"))
        ktap.equal(khttpd.Reader(one).reply().body, b"one", "body")
    khttpd.ctl("stop")
    serve(listen=khttpd.V4.listen + ",reuseport")
    ktap.equal(len(listening(8080)), os.cpu_count(), "a socket a CPU")
    for _ in range(20):
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"one", "body")
    saved = khttpd.ctl("save")
    ktap.true("listen = 127.0.0.1:8080,reuseport\n" in saved, "saved")
    khttpd.ctl("stop")
    for bad, why in ((",backlog=0", "backlog"), (",backlog", "follow the port"),
                     (",reuseport=1", "follow the port"), (",frob=1", "follow the port"),
                     (",fastopen=x", "follow the port")):
        ktap.true(why in khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen",
                                    khttpd.V4.listen + bad, check=False), bad)
    ktap.equal(listening(8080), [], "nobody listens")


@ktap.test
def options_of_net6():
    serve(listen="[::]:8080,net6,reuseport,backlog=9,defer_accept=1")
    khttpd.ctl("stop")


@ktap.test
def a_request_in_a_syn_is_answered_in_softirq():
    for ns in (PLACE.client, PLACE.server):
        ns.run("sysctl", "-qw", "net.ipv4.tcp_fastopen=3")
    with PLACE.server:
        serve(listen=PLACE.listen + ",fastopen=16")

    def ask(request):
        """Asks with the SYN. The reply, was it a hit, and did the data go with the SYN?"""
        hits = khttpd.count("soft_hits")
        with PLACE.socket() as sock:
            sock.sendto(request, 0x20000000, (PLACE.address, 8080))
            reader = khttpd.Reader(sock)
            reply = reader.reply()
            fast = bool(sock.getsockopt(socket.IPPROTO_TCP, 11, 104)[5] & 32)
            if b"close" in request:
                reader.closed()
        return reply, khttpd.count("soft_hits") > hits, fast
    ktap.wait_for(20, "a hit with a SYN", lambda: all(ask(GET("/a.txt"))[1:]))
    for extra in ("", "Connection: close\r\n") * 10:
        reply, hit, fast = ask(GET("/a.txt", extra))
        ktap.equal((reply.body, hit, fast), (b"one", True, True), f"answer, {extra}")
    for extra in ("", "Connection: close\r\n"):
        reply, _, fast = ask(GET("/big", extra))
        ktap.true(reply.body == DATA and fast, "a file longer than the windows")
    # A thread's: half a request comes with the SYN.
    with PLACE.socket() as sock:
        request = GET("/a.txt")
        sock.sendto(request[:9], 0x20000000, (PLACE.address, 8080))
        sock.sendall(request[9:])
        ktap.equal(khttpd.Reader(sock).reply().body, b"one", "in two pieces")
    khttpd.ctl("stop")
    ktap.wait_for(20, "no connection is left", lambda: khttpd.count("connections") == 0)


ktap.main(setup)
