#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a server's listeners are, and become, while khttpd is attached: listeners of Multipath TCP
# (Go listens so), more of them with SO_REUSEPORT, none any more.
#
#	[ client, khttpd and server on lo ]	[ client ] c0 ------ s0 [ server ]
#
# timeout: 120
# pylint: disable=missing-function-docstring
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

PORT = 8090
GET = khttpd.get
IPPROTO_MPTCP = 262
SO_PROTOCOL = 38			# not in Python's socket module


PLACES = []				# net6's


def setup():
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")
    khttpd.let_files_settle()


def protocol(sock):
    return sock.getsockopt(socket.SOL_SOCKET, SO_PROTOCOL)


class Multi(khttpd.Server):
    """A server in this process whose listener is one of MPTCP."""

    def __init__(self, place=khttpd.V4, *more, port=PORT, site="default", docroot=khttpd.WWW):
        self.place, self.port, self.site, self.docroot = place, port, site, docroot
        self.more = more
        self.sock = socket.socket(place.family, socket.SOCK_STREAM, IPPROTO_MPTCP)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind((place.address, port))
        self.sock.listen(64)
        self.sock.settimeout(khttpd.TIMEOUT)
        self.attach()

    def attach(self):
        said = khttpd.ctl("attach", "--site", self.site, "--pid", str(os.getpid()), "--port",
                          str(self.port), *(("--docroot", self.docroot) if self.docroot else ()),
                          *self.more)
        ktap.equal(said, "attached to 1 listener\n", "attach")

    def client(self):
        """A connection of MPTCP."""
        sock = socket.socket(self.place.family, socket.SOCK_STREAM, IPPROTO_MPTCP)
        sock.settimeout(khttpd.TIMEOUT)
        sock.connect((self.place.address, self.port))
        return sock

    def tcp_is_ours(self):
        """A client of TCP gets the file from the kernel, and the rest from the server."""
        reply = khttpd.exchange(self.place, GET("/a.txt"), self.port)
        ktap.equal((reply.status, reply.body), (200, b"hello\n"), "the file")
        ktap.true(b"khttpd" in reply.head, "from the kernel")
        with self.place.connect(self.port) as sock:
            sock.sendall(GET("/a.txt") + GET("/dyn"))
            ktap.equal(khttpd.Reader(sock).reply().status, 200, "the file before")
            with self.accept() as conn:
                ktap.equal(ktap.take(conn, len(GET("/dyn"))), GET("/dyn"), "request")
                ktap.equal(protocol(conn), socket.IPPROTO_TCP, "what the server has")
                conn.sendall(b"back")
                ktap.equal(ktap.take(sock, 4), b"back", "and back")


def both_ways(client, conn):
    client.sendall(b"to")
    ktap.equal(ktap.take(conn, 2), b"to", "to the server")
    conn.sendall(b"from" * 100000)
    ktap.equal(len(ktap.take(client, 400000)), 400000, "from the server")


@ktap.test
def mptcp_listener_serves_clients_of_tcp():
    for place in (khttpd.V4, khttpd.V6):
        with Multi(place) as server:
            server.tcp_is_ours()


@ktap.test
def mptcp_connections_are_the_servers():
    with Multi() as server:
        poll = select.epoll()
        poll.register(server.sock, select.EPOLLIN)
        ktap.equal(poll.poll(0), [], "nothing yet")
        before = khttpd.counters()
        with server.client() as one, server.client() as two:
            for client in (one, two):
                ktap.equal(len(poll.poll(khttpd.TIMEOUT)), 1, "epoll says so")
                with server.accept() as conn:
                    ktap.equal(protocol(conn), IPPROTO_MPTCP, "what the server has")
                    ktap.equal(conn.getpeername(), client.getsockname(), "of whom")
                    both_ways(client, conn)
        ktap.equal(poll.poll(0.2), [], "nothing more")
        after = khttpd.counters()
        for name in ("accepted", "handed_over"):
            ktap.equal(after[name] - before[name], 2, name)
        server.tcp_is_ours()


@ktap.test
def blocked_accept_is_woken_by_mptcp():
    with Multi() as server:
        server.sock.settimeout(None)
        got = []
        thread = threading.Thread(target=lambda: got.append(server.sock.accept()[0]))
        thread.start()
        with server.client() as client:
            thread.join(khttpd.TIMEOUT)
            both_ways(client, got[0])
            got[0].close()


@ktap.test
def queue_goes_on_behind_mptcp():
    """What comes after a connection of MPTCP is seen once the server has taken that."""
    with Multi() as server, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.client()) for _ in range(3)]
        plain = stack.enter_context(server.place.connect(server.port))
        plain.sendall(GET("/a.txt"))
        for client in clients:
            both_ways(client, stack.enter_context(server.accept()))
        ktap.equal(khttpd.Reader(plain).reply().body, b"hello\n", "the file")


@ktap.test
def denied_path_is_not_reached_by_mptcp():
    with Multi(khttpd.V4, "--set", "rules=deny /secret/\n") as server:
        before = khttpd.count("mptcp_refused")
        with contextlib.suppress(ConnectionResetError), server.client() as client:
            ktap.equal(client.recv(1), "nothing", "it is reset")
        ktap.equal(khttpd.count("mptcp_refused"), before + 1, "counted")
        ktap.equal(khttpd.exchange(server.place, GET("/secret/a"), server.port).status, 403,
                   "by TCP")
        server.tcp_is_ours()


@ktap.test
def mptcp_server_behind_an_own_listener():
    for place in (khttpd.V4, khttpd.V6):
        khttpd.serve(place)
        with Multi(place, docroot=None) as server:
            with place.connect() as sock:
                sock.sendall(GET("/a.txt") + GET("/dyn"))
                ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "the file")
                with server.accept() as conn:
                    ktap.equal(ktap.take(conn, len(GET("/dyn"))), GET("/dyn"), "request")


@ktap.test
def mptcp_listener_is_given_back_or_closed():
    server = Multi()
    with server.client() as client:
        ktap.equal(khttpd.ctl("detach"), "detached from 1 listener\n", "detach")
        with server.accept() as conn:
            both_ways(client, conn)
    server.attach()
    with server.client() as client:
        server.sock.close()
        ktap.raises(104, client.recv, 1)
    khttpd.ctl("stop")
    ktap.wait_for(10, "no connection is left", lambda: not khttpd.count("connections"))
    ktap.run("rmmod", "khttpd")
    ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")


# ---- more of them ----

def attached(site="default"):
    with open(f"{khttpd.CONFIG}/{site}/attached", encoding="ascii") as file:
        return int(file.read())


def listener(place, port=PORT, proto=0, address=None):
    """One more listener of this process, with SO_REUSEPORT."""
    if place.server:
        sock = ktap.net6_socket(ns=place.server)
    else:
        sock = socket.socket(place.family, socket.SOCK_STREAM, proto)
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        sock.setsockopt(socket.SOL_SOCKET, option, 1)
    sock.bind((address or place.address, port))
    sock.listen(16)
    sock.setblocking(False)
    return sock


def attach_port(place, *more):
    with place.server or contextlib.nullcontext():
        return khttpd.ctl("attach", "--pid", str(os.getpid()), "--port", str(PORT), "--docroot",
                          khttpd.WWW, *more)


def all_are_ours(place, listeners):
    """Files come from the kernel, and a denied path is denied, whoever gets the connection."""
    for turn in range(8 * len(listeners)):
        with place.connect(PORT) as sock:
            sock.sendall(GET("/a.txt") + GET("/secret/"))
            reader = khttpd.Reader(sock)
            ktap.equal(reader.reply().body, b"hello\n", f"connection {turn}: the file")
            ktap.equal(reader.reply().status, 403, f"connection {turn}: denied")
    for sock in listeners:
        ktap.raises(11, sock.accept)


def follows(place, proto=0):
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(listener(place, proto=proto)) for _ in range(2)]
        ktap.equal(attach_port(place, "--set", "rules=deny /secret/\n"),
                   "attached to 2 listeners\n", "attach")
        stack.callback(khttpd.ctl, "stop", check=False)
        for number in range(3, 6):
            listeners.append(stack.enter_context(listener(place, proto=proto)))
            ktap.equal(attached(), number, "attached to, once listen() has returned")
        all_are_ours(place, listeners)
        other = "127.0.0.2" if place is khttpd.V4 else None
        if other:
            stack.enter_context(listener(place, address=other))
        stack.enter_context(listener(place, port=PORT + 1))
        ktap.equal(attached(), 5, "another address or port is not followed")
        for sock in listeners[:2]:
            sock.close()
        ktap.equal(attached(), 3, "the first ones are closed")
        listeners = listeners[2:]
        all_are_ours(place, listeners)
        ktap.equal(khttpd.ctl("detach"), "detached from 3 listeners\n", "detach")


@ktap.test
def further_listeners_are_attached():
    for place in (khttpd.V4, khttpd.V6):
        follows(place)


@ktap.test
def further_listeners_of_mptcp_are_attached():
    follows(khttpd.V4, IPPROTO_MPTCP)


@ktap.test
def further_listeners_of_net6_are_attached():
    follows(PLACES[0])


@ktap.test
def reload_of_nginx_with_more_workers():
    server = khttpd.Nginx([f"127.0.0.1:{PORT} reuseport"])
    try:
        ktap.equal(khttpd.ctl("attach", "--pid", str(server.pid), "--port", str(PORT),
                              "--docroot", khttpd.WWW, "--set", "rules=deny /secret/\n"),
                   "attached to 1 listener\n", "attach")
        old = ktap.run("pgrep", "-P", str(server.pid)).split()
        ktap.run("sed", "-i", "s/worker_processes 1/worker_processes 3/", f"{server.dir}/conf")
        os.kill(server.pid, signal.SIGHUP)
        ktap.wait_for(15, "there are three new workers", lambda: len(set(ktap.run(
            "pgrep", "-P", str(server.pid), check=False).split()) - set(old)) == 3)
        ktap.equal(attached(), 3, "attached to")
        for _ in range(30):
            with khttpd.V4.connect(PORT) as sock:
                sock.sendall(GET("/a.txt") + GET("/secret/") + GET("/d"))
                reader = khttpd.Reader(sock)
                ktap.equal(reader.reply().body, b"hello\n", "the file")
                ktap.equal(reader.reply().status, 403, "denied")
                ktap.equal(reader.reply().body, b"nginx GET /d\n", "nginx's")
    finally:
        server.kill()
        khttpd.ctl("stop")


# ---- none any more ----

def enabled(site="default"):
    with open(f"{khttpd.CONFIG}/{site}/enabled", encoding="ascii") as file:
        return file.read() == "1\n"


@contextlib.contextmanager
def file_system():
    """A document root that is a file system of its own, and is busy while a site has it."""
    root = "/srv/container"
    os.makedirs(root, exist_ok=True)
    ktap.run("mount", "-t", "tmpfs", "none", root)
    with open(f"{root}/a.txt", "wb") as file:
        file.write(b"hello\n")
    os.chmod(root, 0o755)
    try:
        yield root
    finally:
        ktap.run("umount", "-l", root, check=False)


@ktap.test
def site_ends_with_its_last_server():
    with file_system() as root:
        first, second = khttpd.Server(khttpd.V4, PORT, docroot=root), None
        try:
            second = khttpd.Server(khttpd.V6, PORT + 1, docroot=None)
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt"), PORT).status, 200, "the file")
            first.sock.close()
            ktap.equal(khttpd.exchange(khttpd.V6, GET("/a.txt"), PORT + 1).status, 200,
                       "at the other one")
            ktap.true(enabled(), "the site goes on")
        finally:
            first.sock.close()
            if second:
                second.sock.close()
        ktap.wait_for(10, "the site ends", lambda: not enabled())
        ktap.run("umount", root)
        ktap.run("mount", "-t", "tmpfs", "none", root)
        os.chmod(root, 0o755)
        with open(f"{root}/a.txt", "wb") as file:
            file.write(b"again\n")
        with khttpd.Server(khttpd.V4, PORT, docroot=None):
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt"), PORT).body, b"again\n",
                       "attached again, it is as it was")


@ktap.test
def site_that_is_to_stay_stays():
    """It was told to, or has a listener of its own, or was there before the server."""
    with khttpd.Server(khttpd.V4, PORT) as server:
        with open(f"{khttpd.CONFIG}/default/until_closed", "w", encoding="ascii") as file:
            file.write("0")
        with open(f"{khttpd.CONFIG}/default/enabled", "w", encoding="ascii") as file:
            file.write("1")
        khttpd.serve(khttpd.V6, site="own")
        other = khttpd.Server(khttpd.V4, PORT + 1, site="own", docroot=None)
        server.sock.close()
        other.sock.close()
        # A third one's end is noticed after theirs.
        khttpd.Server(khttpd.V4, PORT + 2, site="third").sock.close()
        ktap.wait_for(10, "the third one ends", lambda: not enabled("third"))
        ktap.true(enabled() and enabled("own"), "both are there")
        ktap.equal(khttpd.exchange(khttpd.V6, GET("/a.txt")).status, 200, "own listener")
    khttpd.ctl("stop", "--all")


@ktap.test
def servers_that_go_at_once():
    """Each attached to a site of its own, killed together: no site and no module use is left."""
    children = []
    for number in range(6):
        child = subprocess.Popen([sys.executable, "-c", f"""if True:
            import signal, socket
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("127.0.0.1", {PORT + number}))
            sock.listen()
            print(flush=True)
            signal.pause()"""], stdout=subprocess.PIPE)
        child.stdout.readline()
        khttpd.ctl("attach", "--site", f"s{number}", "--pid", str(child.pid), "--port",
                   str(PORT + number), "--docroot", khttpd.WWW)
        children.append(child)
    for child in children:
        child.kill()
    for number, child in enumerate(children):
        child.communicate()
        ktap.wait_for(10, "its site ends", lambda number=number: not enabled(f"s{number}"))
    khttpd.ctl("stop", "--all")
    ktap.run("rmmod", "khttpd")
    ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")


ktap.main(setup)
