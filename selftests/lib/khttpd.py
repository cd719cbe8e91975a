# SPDX-License-Identifier: GPL-2.0
"""What the tests of khttpd share: where they talk to it (native IPv4, native
IPv6, net6), raw requests and their replies.

Topology, native:    [ client and server on lo ]
Topology, net6:      [ client fd02::2 ] c0 ------ s0 [ server fd02::1 ]
"""

import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import ktap  # pylint: disable=wrong-import-position

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
CONFIG = "/sys/kernel/config/khttpd"
WWW = "/srv/www"
LOG = "/tmp/access.log"
TIMEOUT = 20 * ktap.SCALE
CLOCK_REALTIME_COARSE = 5		# not in Python
_turn = itertools.count()


def ctl(*args, check=True):
    """Runs khttpdctl, built for the guest's architecture by make tools."""
    return ktap.run(f"{TOP}/tools/khttpdctl", *args, check=check)


def limit(name, value):
    """Sets a limit, to be set back at the end."""
    path = f"{CONFIG}/{name}"
    with open(path, encoding="ascii") as file:
        old = file.read().strip()
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))
    return old


@contextlib.contextmanager
def limited(name, value):
    """In here a limit has that value."""
    old = limit(name, value)
    try:
        yield
    finally:
        limit(name, old)


def counters():
    with open(f"{CONFIG}/stats", encoding="ascii") as file:
        return {name: int(value) for name, value in map(str.split, file)}


def count(name):
    return counters()[name]


def stacks(pid):
    """Where in the kernel the threads of a process wait."""
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/comm", encoding="ascii") as file:
                comm = file.read().strip()
            with open(f"/proc/{pid}/task/{task}/stack", encoding="ascii") as file:
                ktap.diag(f"{task} {comm}: " + " < ".join(
                    line.split()[-1] for line in file))
        except OSError:
            pass


def look(place, seconds=3):
    """Tells where things stand when they do not go on: what still counts, the sockets
    of net6, and where this process's and khttpd's threads wait.
    """
    before = counters()
    time.sleep(seconds)
    after = counters()
    ktap.diag("counters, and by how much more now: " + " ".join(
        f"{name}={value}" + (f"+{value - before[name]}" if value != before[name] else "")
        for name, value in after.items() if value))
    stacks("self")
    for pid in ktap.run("pgrep", "^khttpd/", check=False).split():
        stacks(pid)
    for ns in filter(None, (place.server, place.client)):
        ktap.diag(net6ctl(ns, "show", "sockets"))


def witness():
    """What khttpd has counted, and how native TCP came to reset connections."""
    ktap.diag("khttpd: " + " ".join(f"{name}={value}" for name, value in counters().items()
                                    if value))
    with open("/proc/net/netstat", encoding="ascii") as file:
        names, values = (line.split() for line in list(file)[:2])
    ktap.diag("native: " + " ".join(f"{name}={value}" for name, value in zip(names, values)
                                    if "Abort" in name and value != "0"))


def fresh():
    """Loads khttpd with an empty document root."""
    ktap.khttpd_load()
    ktap.on_failure(witness)
    shutil.rmtree("/srv/www", ignore_errors=True)
    os.makedirs(WWW)
    os.chmod(WWW, 0o755)
    ktap.at_exit(ctl, "stop", "--all")


def write(name, data, mode=0o644):
    path = f"{WWW}/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    return path


def let_files_settle():
    """What was written before is no news for khttpd, which goes by the clock that files' times
    are from: it may stand still while another CPU's timers go on.
    """
    written = time.time()
    ktap.wait_for(10, "the files' clock has gone on", lambda: time.clock_gettime(
        CLOCK_REALTIME_COARSE) > written + 0.05)


@contextlib.contextmanager
def settled():
    """What is connected in here is a connection for native's listener, too, afterwards.

    Linux finds a connection without a lock. A segment may meet the request just as
    the handshake's ACK, on another CPU, puts the connection in its place. It is taken for
    one of no connection and reset (__inet_lookup_established(), "goto out"); net6 looks
    again. On one CPU segments are received in their order: a datagram that has come
    back comes after the ACK.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(before)[next(_turn) % len(before)]})
    try:
        yield
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as echo:
            echo.settimeout(TIMEOUT)
            echo.bind(("127.0.0.1", 0))
            echo.connect(echo.getsockname())
            echo.send(b"x")
            echo.recv(1)
    finally:
        os.sched_setaffinity(0, before)


class Place:
    """An address family and how a client reaches the server in it."""

    def __init__(self, name, family, address, listen, client=None, server=None):
        self.name = name
        self.family = family
        self.address = address
        self.listen = listen
        self.client = client
        self.server = server

    def socket(self):
        if self.name == "net6":
            return ktap.net6_socket(ns=self.client)
        return socket.socket(self.family)

    def connect(self, port=8080, timeout=None):
        sock = self.socket()
        sock.settimeout(timeout or TIMEOUT)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.nullcontext() if self.client else settled():
            sock.connect((self.address, port) if self.family == socket.AF_INET
                         else (self.address, port, 0, 0))
        return sock

    def url(self, path, port=8080):
        host = self.address if ":" not in self.address else f"[{self.address}]"
        return f"http://{host}:{port}{path}"


def net6_later():
    """What net6_place() makes, for the top of a file."""
    return Place("net6", socket.AF_INET6, "fd02::1", "[::]:8080,net6", ktap.later("client"),
                 ktap.later("server"))


def net6_place(place=None):
    """Two namespaces with net6 between them; the server's is place.server."""
    ktap.net6_load()
    place = place or net6_later()
    ktap.veth(place.server, "s0", place.client, "c0")
    for ns, dev, address in ((place.server, "s0", "fd02::1"), (place.client, "c0", "fd02::2")):
        net6ctl(ns, "add", "address", address + "/64", "dev", dev)
        ktap.wait_for(15, f"{address} is preferred",
                      lambda n=ns, d=dev, a=address: net6_preferred(n, d, a))
    return place


def net6ctl(ns, *words):
    return ns.run(f"{TOP}/tools/net6ctl", *words)


def net6_preferred(ns, dev, address):
    out = net6ctl(ns, "-j", "show", "addresses", "dev", dev)
    return any(item["address"] == address and item["state"] == "preferred"
               for item in json.loads(out))


V4 = Place("IPv4", socket.AF_INET, "127.0.0.1", "127.0.0.1:8080")
V6 = Place("IPv6", socket.AF_INET6, "::1", "[::1]:8080")


def serve(place, *more, site="default", docroot=WWW):
    """Starts a site at @place, in its namespace if it has one of its own."""
    with place.server or contextlib.nullcontext():
        ctl("serve", "--site", site, "--docroot", docroot, "--listen", place.listen, *more)


class Reply:
    """A reply read to its end: status, fields by lower-case name, body."""

    def __init__(self, status, fields, body, head):
        self.status = status
        self.fields = fields
        self.body = body
        self.head = head


class Reader:
    """Takes replies, one after the other, from a connection."""

    def __init__(self, sock):
        self.sock = sock
        self.data = b""

    def _more(self):
        data = self.sock.recv(65536)
        self.data += data
        return bool(data)

    def reply(self, head_only=False):
        while b"\r\n\r\n" not in self.data:
            if not self._more():
                raise ktap.Fail(f"connection ended in head: {self.data!r}")
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        if not lines[0].startswith("HTTP/1.1 "):
            raise ktap.Fail(f"no status line: {lines[0]!r}")
        fields = {}
        for line in lines[1:]:
            name, value = line.split(": ", 1)
            if name.lower() in fields:
                raise ktap.Fail(f"field {name} twice")
            fields[name.lower()] = value
        status = int(lines[0].split()[1])
        # RFC 9110 section 8.6: no length with 204; 304 has no body.
        length = 0 if head_only or status in (204, 304) else int(
            fields["content-length"])
        while len(self.data) < length:
            if not self._more():
                raise ktap.Fail(f"connection ended in body at "
                                f"{len(self.data)} of {length}")
        body, self.data = self.data[:length], self.data[length:]
        return Reply(status, fields, body, head)

    def closed(self):
        """The peer ends the connection, with nothing more to say."""
        try:
            while self._more():
                pass
        except ConnectionResetError:
            pass
        ktap.equal(self.data, b"", "bytes after the last reply")
        return True


def get(path, extra="", method="GET", version="1.1"):
    return (f"{method} {path} HTTP/{version}\r\nHost: a.example\r\n{extra}\r\n"
            ).encode("latin-1")


def exchange(place, request, port=8080, head_only=False):
    """One request on a connection of its own: the reply, and was it closed?"""
    with place.connect(port) as sock:
        sock.sendall(request)
        reader = Reader(sock)
        reply = reader.reply(head_only)
        reply.closed = reply.fields.get("connection") == "close"
        if reply.closed:
            reader.closed()
        return reply


class Server:
    """This process as a server: a listener with @site of khttpd in front. What it
    accepts can be looked at. Without @docroot the site is one that runs already.
    """

    def __init__(self, place, port, site="default", docroot=WWW, backlog=64):
        self.place, self.port, self.site = place, port, site
        self.docroot = docroot
        self.sock = ktap.net6_socket(ns=place.server) if place.server else \
            socket.socket(place.family)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind(("" if place.family == socket.AF_INET else "::", port))
        self.sock.listen(backlog)
        self.sock.settimeout(TIMEOUT)
        self.attach()

    def attach(self):
        ctl("attach", "--site", self.site, "--pid", str(os.getpid()), "--port",
            str(self.port), *(("--docroot", self.docroot) if self.docroot else ()))

    def accept(self):
        sock = self.sock.accept()[0]
        sock.settimeout(TIMEOUT)
        return sock

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()
        ctl("stop", "--site", self.site, check=False)


def heads_that_end_early(server):
    """A client that goes in the middle of a head is let go of at once, and by no timer."""
    timers = ("timeout_head", "timeout_idle")
    before = [count(name) for name in timers]
    for kept in (False, True):
        for reset in (False, True):
            with server.place.connect(server.port) as sock:
                reader = Reader(sock)
                if kept:
                    sock.sendall(get("/a.txt"))
                    ktap.equal(reader.reply().status, 200, "the request before")
                sock.sendall(b"GET /a.txt HTTP/1.1\r\nHo")
                if reset:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                    struct.pack("ii", 1, 0))
                else:
                    sock.shutdown(socket.SHUT_WR)
                    reader.closed()
    ktap.wait_for(30, "all connections end", lambda: not count("connections"))
    ktap.equal([count(name) for name in timers], before, str(timers))


class Clients:
    """Threads that fetch files for as long as they are wanted. Connections may
    end at any time; what arrives must be right. A connection is used for @turns
    rounds, 0 for any number.
    """

    def __init__(self, place, paths, threads=4, port=8080, turns=0):
        self.place, self.paths, self.port = place, paths, port
        self.turns = turns
        self.over = False
        self.replies = 0
        self.wrong = []
        self.threads = [threading.Thread(target=self.run, args=(n,))
                        for n in range(threads)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        while not self.over:
            try:
                with self.place.connect(self.port) as sock:
                    self.fetch(sock, number)
            except (OSError, ktap.Fail):
                time.sleep(0.01)	# the server may be away just now
            except Exception as error:  # pylint: disable=broad-except
                self.wrong.append(repr(error))

    def fetch(self, sock, number):
        reader = Reader(sock)
        turns = 0
        while not self.over and (turns < self.turns or not self.turns):
            turns += 1
            path, wanted = self.paths[(self.replies + number) % len(self.paths)]
            sock.sendall(get(path) * (1 + number))
            for _ in range(1 + number):
                reply = reader.reply()
                self.replies += 1
                if wanted is not None and reply.status == 200 and \
                        reply.body not in wanted:
                    self.wrong.append((path, reply.body[:40]))

    def stop(self):
        self.over = True
        for thread in self.threads:
            thread.join()
        ktap.equal(self.wrong, [], "wrong replies")


class Churn:
    """A process that changes two files of a directory, @count times, each @rate times a
    second unless the machine is slower: "churn" by a rename, to the next of @versions, and
    the length of "cut", to less than @size. Clients do not keep it from that.
    """

    PROGRAM = """if True:
        import os, sys, time
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.chdir(sys.argv[1])
        count, size, rate = map(int, sys.argv[2:])
        cut = os.open("cut", os.O_WRONLY)
        for turn in range(-100, count):
            if turn <= 0:
                start = time.monotonic()
            os.link(f"version{turn % 8}", "churn.new")
            os.rename("churn.new", "churn")
            os.ftruncate(cut, turn * 7919 % size)
            time.sleep(max(0, start + turn / rate - time.monotonic()))
        print(count / (time.monotonic() - start))"""

    def __init__(self, directory, versions, count, size, rate=1000):
        for number in range(8):
            write(f"{directory}/version{number}", versions[number % len(versions)])
        write(f"{directory}/churn", versions[0])
        write(f"{directory}/cut", bytes(size))
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.PROGRAM, f"{WWW}/{directory}", str(count), str(size),
             str(rate)], stdout=subprocess.PIPE, text=True)

    def end(self):
        """Waits for it. Returns how often a second it changed each of them."""
        said = self.process.communicate()[0]
        ktap.equal(self.process.returncode, 0, "status of the process that changes files")
        ktap.diag(f"{float(said):.0f} changes a second of each of two files")
        return float(said)


NGINX = """
user {user}; daemon on; worker_processes {workers}; pid {dir}/pid;
error_log {dir}/error;
events {{ worker_connections {connections}; }}
worker_rlimit_nofile {connections};
http {{
    access_log off; keepalive_requests 1000000; keepalive_timeout 3600;
    client_body_temp_path {dir}/1; proxy_temp_path {dir}/2;
    fastcgi_temp_path {dir}/3; uwsgi_temp_path {dir}/4; scgi_temp_path {dir}/5;
    server {{
        {listen}
        {what}
    }}
}}
"""


def gone(pid):
    """Has the process ended, waited for or not?"""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return "Z (zombie)" in file.read()
    except OSError:
        return True


class Nginx:
    """nginx that answers everything dynamically, or with files of @root."""

    DYNAMIC = 'location / { return 200 "nginx $request_method $request_uri\\n"; }'

    def __init__(self, listen, workers=1, netns=None, root=None, connections=1024):
        self.dir = f"/tmp/nginx-{os.getpid()}"
        self.netns = netns
        os.makedirs(self.dir, exist_ok=True)
        with open(f"{self.dir}/conf", "w", encoding="ascii") as file:
            file.write(NGINX.format(dir=self.dir, workers=workers,
                                    connections=connections,
                                    user="nobody nogroup" if root else "root",
                                    what=f"root {root}; etag on;" if root else
                                    self.DYNAMIC,
                                    listen=" ".join(f"listen {item};"
                                                    for item in listen)))
        self.start()
        ktap.at_exit(self.kill)

    def start(self):
        ktap.run("nginx", "-e", f"{self.dir}/first", "-c", f"{self.dir}/conf")
        self.pid = ktap.wait_for(10, "nginx has written its pid", self._pid)

    def _pid(self):
        try:
            with open(f"{self.dir}/pid", encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return 0

    def kill(self, sig=9):
        if not self.pid:
            return
        workers = subprocess.run(["pgrep", "-P", str(self.pid)], check=False,
                                 stdout=subprocess.PIPE).stdout.split()
        for pid in [self.pid] + [int(pid) for pid in workers]:
            try:
                os.kill(pid, sig)
            except ProcessLookupError:
                pass
        for pid in [self.pid] + [int(pid) for pid in workers]:
            ktap.wait_for(10, "nginx is gone", lambda pid=pid: gone(pid))
        self.pid = 0


def quiet_for(seconds):
    """Lets time pass: for what must not happen."""
    time.sleep(seconds)


class Log:
    """khttpdctl log in the background."""

    def __init__(self, *args):
        # Another test's would say that this one's reader has opened the device.
        if os.path.exists(LOG):
            os.unlink(LOG)
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([f"{TOP}/tools/khttpdctl", "log", "--output", LOG,
                                         *args])
        ktap.wait_for(10, "the log is open", lambda: os.path.exists(LOG))

    def lines(self, number):
        """All lines, once there are so many."""
        def enough():
            with open(LOG, encoding="ascii") as file:
                lines = file.read().splitlines()
            return lines if len(lines) >= number else None
        return ktap.wait_for(10, f"{number} lines are there", enough)

    def stop(self):
        """Ends the reader."""
        self.process.send_signal(signal.SIGTERM)
        ktap.equal(self.process.wait(10 * ktap.SCALE), 0, "status of the reader")
