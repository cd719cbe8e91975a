#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Beginnings and ends under traffic: loading and unloading, stopping sites,
# files that change all the time, and network namespaces that go away.
#
#	[ clients and server on lo ]      [ netns: client and server on its lo ]
#	[ netns: client ] c0 ------ s0 [ netns: server ]
#
# guest-cpus: 2
# timeout: 330
# pylint: disable=missing-function-docstring
import contextlib
import errno
import os
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

DATA = os.urandom(1_000_001)
GET = khttpd.get


STATIC = (("/small", (b"small",)), ("/big", (DATA,)), ("/nope", None))


def setup():
    khttpd.fresh()
    khttpd.write("small", b"small")
    khttpd.write("big", DATA)


def serve():
    khttpd.serve(khttpd.V4)


@ktap.test
def stopped_and_unloaded_under_load_and_back():
    clients = khttpd.Clients(khttpd.V4, STATIC)
    try:
        for turn in range(10 if not ktap.CHECKING else 4):
            if not os.path.isdir("/sys/module/khttpd"):
                ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")
            serve()
            before = clients.replies
            ktap.wait_for(20, "clients are served",
                          lambda before=before: clients.replies > before + 20)
            if turn % 3 == 2:
                ktap.true("in use" in ktap.run("rmmod", "khttpd", check=False),
                          "a site holds the module")
            khttpd.ctl("stop")
            ktap.equal(khttpd.count("connections"), 0, "connections")
            ktap.run("rmmod", "khttpd")
    finally:
        clients.stop()
        if not os.path.isdir("/sys/module/khttpd"):
            ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")


@ktap.test
def loaded_and_unloaded_a_hundred_times():
    ktap.run("rmmod", "khttpd")
    for turn in range(100 if not ktap.CHECKING else 10):
        ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")
        if turn % 10 == 0:
            serve()
            khttpd.exchange(khttpd.V4, GET("/small"))
            khttpd.ctl("stop")
        ktap.run("rmmod", "khttpd")
    ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")


@ktap.test
def files_renamed_and_cut_all_the_time():
    serve()
    versions = [bytes([65 + n]) * (100 * (1 + n) ** 4) for n in range(8)]
    churn = khttpd.Churn("c", versions, 3_000 if not ktap.CHECKING else 300, len(DATA))
    # Cut files end short or mixed; renamed ones are whole.
    clients = khttpd.Clients(khttpd.V4, (("/c/churn", versions), ("/small", (b"small",)),
                                  ("/c/cut", None), ("/big", (DATA,))))
    try:
        churn.end()
        ktap.diag(f"{clients.replies} replies meanwhile")
        ktap.wait_for(20, "clients were served", lambda: clients.replies > 100)
    finally:
        clients.stop()
        khttpd.ctl("stop")
    ktap.true(khttpd.count("cache_entries") == 0, "no file is held open")


@ktap.test
def cache_stays_within_its_limit():
    old = khttpd.limit("cache_entries", 8)
    serve()
    try:
        for number in range(60):
            khttpd.write(f"many/{number}", b"x")
        for _ in range(2):
            for number in range(60):
                khttpd.exchange(khttpd.V4, GET(f"/many/{number}"))
                ktap.true(khttpd.count("cache_entries") <= 8, "entries")
        # Once each: those that are there stay. The second time they come in.
        ktap.true(khttpd.count("cache_refused") >= 50, "refused")
        ktap.true(khttpd.count("cache_evicted") >= 50, "evicted")
    finally:
        khttpd.limit("cache_entries", old)
        khttpd.ctl("stop")


def entries():
    return khttpd.count("cache_entries")


def warm(*names):
    for name in names:
        ktap.equal(khttpd.exchange(khttpd.V4, GET(f"/{name}")).status, 200, name)


@ktap.test
def what_is_wanted_once_drives_out_nothing():
    names = [f"often/{n}" for n in range(8)]
    serve()
    for name in names:
        khttpd.write(name, b"x")
    for number in range(40):
        khttpd.write(f"once/{number}", b"x")
    khttpd.let_files_settle()
    # On a machine that does much else this takes more than the usual minute.
    idle = khttpd.limit("cache_idle", 3600 * 1000)
    warm(*names)
    old = khttpd.limit("cache_entries", entries())
    try:
        warm(*[f"once/{number}" for number in range(40)])
        misses = khttpd.count("cache_misses")
        warm(*names)
        ktap.equal(khttpd.count("cache_misses"), misses, "misses")
    finally:
        khttpd.limit("cache_entries", old)
        khttpd.limit("cache_idle", idle)
        khttpd.ctl("stop")


@ktap.test
def files_that_change_are_let_go():
    names = [f"watched/{n}" for n in range(6)]
    serve()
    try:
        paths = [khttpd.write(name, b"x" * 1000) for name in names]
        khttpd.let_files_settle()
        warm(*names)
        held, changed = entries(), khttpd.count("cache_changed")
        os.unlink(paths[0])
        os.truncate(paths[1], 10)
        os.rename(khttpd.write("watched/new", b"new"), paths[2])
        os.chmod(paths[3], 0o600)
        with open(paths[4], "r+b") as file:
            file.write(b"y")
        ktap.wait_for(10, "five are let go", lambda: entries() == held - 5)
        ktap.equal(khttpd.count("cache_changed") - changed, 5, "counted")
        wanted = [(404, None), (200, b"x" * 10), (200, b"new"), (403, None),
                  (200, b"y" + b"x" * 999), (200, b"x" * 1000)]
        for name, (status, body) in zip(names, wanted):
            reply = khttpd.exchange(khttpd.V4, GET(f"/{name}"))
            ktap.equal(reply.status, status, name)
            ktap.true(body in (None, reply.body), name)
    finally:
        khttpd.ctl("stop")


@ktap.test
def short_memory_empties_the_cache():
    names = [f"shrunk/{n}" for n in range(30)]
    serve()
    try:
        for name in names:
            khttpd.write(name, b"x")
        khttpd.let_files_settle()
        clients = khttpd.Clients(khttpd.V4, [(f"/{name}", (b"x",)) for name in names])
        try:
            for _ in range(5):
                shrunk = khttpd.count("cache_shrunk")
                ktap.wait_for(10, "files are in the cache", lambda: entries() > 5)
                with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
                    file.write("2")
                ktap.true(khttpd.count("cache_shrunk") > shrunk, "some are let go")
        finally:
            clients.stop()
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
            file.write("2")
        ktap.equal(entries(), 0, "without clients all")
    finally:
        khttpd.ctl("stop")


@ktap.test
def unused_files_are_let_go():
    old = khttpd.limit("cache_idle", 200)
    serve()
    try:
        khttpd.exchange(khttpd.V4, GET("/small"))
        ktap.wait_for(10, "no file is held open",
                      lambda: khttpd.count("cache_entries") == 0)
    finally:
        khttpd.limit("cache_idle", old)
        khttpd.ctl("stop")


@ktap.test
def of_many_files_the_unused_ones_are_let_go():
    """More than are looked at in one piece, and used ones among them."""
    names = [f"swept/{n}" for n in range(300 if not ktap.CHECKING else 100)]
    serve()
    for name in names:
        khttpd.write(name, b"x")
    khttpd.let_files_settle()
    idle = khttpd.limit("cache_idle", 3600 * 1000)
    try:
        warm(*names)
        ktap.true(entries() >= len(names), f"{entries()} files are in the cache")
        used = names[7::70]
        clients = khttpd.Clients(khttpd.V4, [(f"/{name}", (b"x",)) for name in used])
        try:
            khttpd.limit("cache_idle", 3000 * ktap.SCALE)
            ktap.wait_for(30, "the others are let go", lambda: entries() == len(used))
            misses = khttpd.count("cache_misses")
            warm(*used)
            ktap.equal(khttpd.count("cache_misses"), misses, "misses")
        finally:
            clients.stop()
    finally:
        khttpd.limit("cache_idle", idle)
        khttpd.ctl("stop")


@ktap.test
def network_namespace_goes_away_under_load():
    for family, listen, address in ((socket.AF_INET, "127.0.0.1:8080", "127.0.0.1"),
                                    (socket.AF_INET6, "[::1]:8080", "::1")):
        net = ktap.Netns("gone")
        with net:
            khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", listen)
            socks = []
            for number in range(20):
                sock = socket.socket(family)
                sock.settimeout(khttpd.TIMEOUT)
                sock.connect((address, 8080))
                sock.sendall(GET("/big" if number % 2 else "/small"))
                socks.append(sock)
            ktap.equal(khttpd.Reader(socks[0]).reply().status, 200, "status")
            for sock in socks:
                sock.close()
        net.delete()
        ktap.wait_for(20, "connections are gone",
                      lambda: khttpd.count("connections") == 0)
        khttpd.ctl("stop")


@ktap.test
def network_namespace_goes_away_while_its_site_stops():
    """It is not freed before the connections are closed whose replies stopping waits for."""
    net, far = ktap.Netns("gone"), ktap.Netns("far")
    ktap.veth(net, "g0", far, "f0")
    net.ip("addr", "add", "192.0.2.1/24", "dev", "g0")
    far.ip("addr", "add", "192.0.2.2/24", "dev", "f0")
    os.truncate(khttpd.write("huge", b""), 64 << 20)
    old = {name: khttpd.limit(name, 600_000) for name in ("stop_timeout", "send_timeout")}
    with net:
        khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", "192.0.2.1:8080")
    with far:
        sock = socket.socket()
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("192.0.2.1", 8080))
        blocked = khttpd.count("send_blocked")
        sock.sendall(GET("/huge"))
        ktap.wait_for(10, "a reply is under way", lambda: khttpd.count("send_blocked") > blocked)
        # pylint: disable-next=consider-using-with
        stopping = subprocess.Popen([f"{khttpd.TOP}/tools/khttpdctl", "stop"])
        ktap.wait_for(10, "nobody listens",
                      lambda: ":8080" not in net.run("ss", "-Htln"))
        ktap.equal((stopping.poll(), khttpd.count("connections")), (None, 1), "still stopping")
        net.delete()
        ktap.wait_for(10, "the connection is gone", lambda: khttpd.count("connections") == 0)
        ktap.equal(stopping.wait(20 * ktap.SCALE), 0, "status of stopping")
    finally:
        sock.close()
        for name, value in old.items():
            khttpd.limit(name, value)
        far.delete()


@ktap.test
def a_family_comes_and_goes_beneath_it():
    """More often than families are expected, and not always to the same place."""
    others = ("dummy", "ifb", "nlmon", "vcan", "vxlan", "macvlan", "geneve", "bonding",
              "macsec", "ipvlan")
    for other in others if not ktap.CHECKING else others[:3]:
        ktap.net6_load()
        with ktap.net6_socket() as sock:
            sock.bind(("::", 8090))
            sock.listen()
            ktap.equal(khttpd.ctl("attach", "--pid", str(os.getpid()), "--port", "8090",
                                  "--docroot", khttpd.WWW), "attached to 1 listener\n", other)
            khttpd.ctl("stop")
        ktap.unload("net6")
        ktap.kmod(other)


@ktap.test
def a_site_that_cannot_start_leaves_nothing():
    with socket.socket(socket.AF_INET) as busy:
        # Connections of the tests before may be in TIME-WAIT on this port.
        busy.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        busy.bind(("127.0.0.1", 8080))
        busy.listen()
        ktap.true("in use" in khttpd.ctl(
            "serve", "--docroot", khttpd.WWW, "--listen", "[::1]:8080",
            "--listen", "127.0.0.1:8080", check=False), "address in use")
    ktap.equal([name for name in os.listdir(khttpd.CONFIG)
                if os.path.isdir(f"{khttpd.CONFIG}/{name}")], [], "sites")
    for args, why in ((("--docroot", "/nowhere", "--listen", "[::1]:80"), "No such"),
                      (("--docroot", khttpd.WWW, "--listen", "nonsense"), "form"),
                      (("--docroot", khttpd.WWW, "--listen", "[::1:80"), "bracket"),
                      (("--docroot", khttpd.WWW, "--listen", "1.2.3.4:99999"), "port"),
                      (("--docroot", khttpd.WWW, "--listen", "a.b.c.d:80"), "cannot"),
                      (("--docroot", khttpd.WWW, "--user", "nobodyatall",
                        "--listen", "[::1]:80"), "no user"),
                      (("--docroot", khttpd.WWW, "--user", "root",
                        "--listen", "[::1]:80"), "never read as root"),
                      (("--docroot", khttpd.WWW, "--set", "uid=0",
                        "--listen", "[::1]:80"), "out of range")):
        ktap.true(why in khttpd.ctl("serve", *args, check=False), f"{args}")
    serve()
    ktap.true("already" in khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen",
                                      "[::1]:80", check=False), "twice")
    khttpd.ctl("stop")


@ktap.test
def attributes_refuse_nonsense():
    os.mkdir(f"{khttpd.CONFIG}/site")
    os.mkdir(f"{khttpd.CONFIG}/site/one")
    try:
        for name, value in (("site/docroot", "relative"), ("site/docroot", ""),
                            ("site/index", "a/b"), ("site/index", ".."),
                            ("site/index", "x" * 100), ("site/uid", "-1"),
                            ("site/uid", "4294967295"), ("site/gid", "x"),
                            ("site/uid", "0"), ("site/gid", "0"),
                            ("site/enabled", "maybe"), ("site/one/family", "ipx"),
                            ("site/one/port", "65536"), ("site/one/port", "-1"),
                            ("site/one/address", "x" * 100),
                            ("head_timeout", "0"), ("cache_entries", "-1"),
                            ("max_connections", "99999999999")):
            try:
                with open(f"{khttpd.CONFIG}/{name}", "w", encoding="ascii") as file:
                    file.write(value)
                if value:
                    raise ktap.Fail(f"{name} took {value!r}")
            except OSError:
                pass
        with open(f"{khttpd.CONFIG}/site/one/address", "w", encoding="ascii") as f:
            f.write("not an address")
        with open(f"{khttpd.CONFIG}/site/docroot", "w", encoding="ascii") as file:
            file.write("/srv")
        ktap.raises(22, khttpd.limit, "site/enabled", "1")
    finally:
        os.rmdir(f"{khttpd.CONFIG}/site/one")
        os.rmdir(f"{khttpd.CONFIG}/site")


class Apart(khttpd.Place):
    """Native IPv4 from namespace to namespace; the server's has only sockets of khttpd."""

    def __init__(self):
        server, client = ktap.Netns("server4"), ktap.Netns("client4")
        ktap.veth(server, "s0", client, "c0")
        server.ip("addr", "add", "192.0.2.1/24", "dev", "s0")
        client.ip("addr", "add", "192.0.2.2/24", "dev", "c0")
        super().__init__("apart", socket.AF_INET, "192.0.2.1", "192.0.2.1:8080", client, server)

    def socket(self):
        with self.client:
            return socket.socket(self.family)


def net6_apart():
    """The same with net6, loaded anew."""
    if os.path.isdir("/sys/module/net6"):
        ktap.unload("net6")
    return khttpd.net6_place()


def put(name, value):
    with open(f"{khttpd.CONFIG}/{name}", "w", encoding="ascii") as file:
        file.write(value)


def clients_of(place):
    """Those that get no answer try again soon, and leave nothing that still waits for one."""
    connect = place.connect

    def connect_briefly(port):
        sock = connect(port, 2 * ktap.SCALE)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return sock
    place.connect = connect_briefly
    return khttpd.Clients(place, STATIC)


def are_served(clients):
    before = clients.replies
    ktap.wait_for(20, "clients are served", lambda: clients.replies > before + 20)


def remove(place):
    """Its namespaces, whose interfaces go last."""
    place.server.delete()
    ktap.wait_for(20, "the namespace is gone",
                  lambda: "c0" not in place.client.run("ip", "-o", "link"))
    place.client.delete()


def closed_and_opened(site):
    with contextlib.suppress(OSError):
        put(f"{site}/listen0/open", "0")
        # Here, if its address is here.
        put(f"{site}/listen0/open", "1")


@ktap.test
def a_listener_is_closed_while_its_namespace_goes_under_load():
    for number, make in enumerate((Apart, net6_apart)):
        for turn in range(4) if not ktap.CHECKING else (number,):
            place = make()
            khttpd.serve(place)
            clients = clients_of(place)
            thread = threading.Thread(target=closed_and_opened, args=("default",))
            try:
                are_served(clients)
                for step in (thread.start, place.server.delete)[::1 if turn % 2 else -1]:
                    step()
                remove(place)
            finally:
                clients.stop()
            thread.join()
            khttpd.ctl("stop")
            ktap.equal(khttpd.count("connections"), 0, "connections")


class Switch:
    """Closes and opens the listener of a site all the time, until the site stops."""

    def __init__(self, place, site):
        self.place, self.site = place, site
        self.turns, self.error = 0, None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            with self.place.server:
                while True:
                    for value in "01":
                        put(f"{self.site}/listen0/open", value)
                    self.turns += 1
        except OSError as error:
            self.error = error.errno


@ktap.test
def listeners_are_closed_and_opened_until_the_module_goes():
    places = [Apart(), net6_apart()]
    load = [clients_of(place) for place in places]
    try:
        for _ in range(4 if not ktap.CHECKING else 1):
            # Replies under way are waited for before a listener is opened again.
            khttpd.limit("stop_timeout", 300)
            for place in places:
                khttpd.serve(place, site=place.name)
            for clients in load:
                are_served(clients)
            switches = [Switch(place, place.name) for place in places]
            ktap.wait_for(20, "they are closed and opened",
                          lambda s=switches: all(switch.turns > 5 for switch in s))
            ktap.true("in use" in ktap.run("rmmod", "khttpd", check=False), "rmmod")
            khttpd.ctl("stop", "--all")
            for switch in switches:
                switch.thread.join()
                ktap.equal(switch.error, errno.ENOENT, "the site is stopped")
            ktap.equal(khttpd.count("connections"), 0, "connections")
            ktap.run("rmmod", "khttpd")
            ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")
    finally:
        for clients in load:
            clients.stop()
    for place in places:
        remove(place)


def not_taken(place, count):
    """Connections whose reply was sent in softirq; the clients have no room for it. Every
    other one has asked for the end.
    """
    def hit():
        before = khttpd.count("soft_hits")
        khttpd.exchange(place, GET("/middle"))
        return khttpd.count("soft_hits") > before
    ktap.wait_for(20, "the file is in the cache", hit)
    ktap.wait_for(20, "others are gone", lambda: not khttpd.count("connections"))
    socks = []
    for number in range(count):
        hits = khttpd.count("soft_hits")
        sock = place.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(khttpd.TIMEOUT)
        sock.connect((place.address, 8080))
        sock.sendall(GET("/middle", "Connection: close\r\n" if number % 2 else ""))
        ktap.wait_for(10, "it is answered", lambda h=hits: khttpd.count("soft_hits") > h)
        socks.append(sock)
    return socks


def closed_listener(_):
    """A thread gets each at once."""
    put("default/listen0/open", "0")


def time_passes(socks):
    """A thread gets each after a second or so. So it has when the time of the first is over;
    the others take a little.
    """
    timed_out = khttpd.count("timeout_send")

    def over():
        for sock in socks[1:]:
            sock.recv(100)
        return khttpd.count("timeout_send") > timed_out
    ktap.wait_for(20, "the time of the first is over", over)


CPU1 = "/sys/devices/system/cpu/cpu1/online"


def threads():
    """On which CPUs each of khttpd's threads may run."""
    found = {}
    for pid in ktap.run("pgrep", "^khttpd/").split():
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        found[fields["Name"]] = fields["Cpus_allowed_list"]
    return found


def cpu1(online):
    with open(CPU1, "w", encoding="ascii") as file:
        file.write(str(int(online)))


def served_on_each_cpu():
    before = os.sched_getaffinity(0)
    try:
        for cpu in before:
            os.sched_setaffinity(0, {cpu})
            for _ in range(20):
                ktap.equal(khttpd.exchange(khttpd.V4, GET("/small")).body, b"small", "body")
    finally:
        os.sched_setaffinity(0, before)


@ktap.test
def processors_that_come_and_go_have_their_thread():
    if not os.path.exists(CPU1):
        raise ktap.Skip("one CPU, or it cannot be switched off")
    both = {"khttpd/0": "0", "khttpd/1": "1"}
    ktap.equal(threads(), both, "at first")
    serve()
    with contextlib.ExitStack() as stack:
        stack.callback(cpu1, True)
        readers = [khttpd.Reader(stack.enter_context(khttpd.V4.connect())) for _ in range(8)]

        def kept():
            """Connections of both threads go on."""
            for reader in readers:
                reader.sock.sendall(GET("/small"))
                ktap.equal(reader.reply().body, b"small", "on an old connection")

        kept()
        for turn in range(3):
            cpu1(False)
            served_on_each_cpu()
            kept()
            cpu1(True)
            ktap.equal(threads(), both, f"back for the {turn + 1}. time")
            served_on_each_cpu()
            kept()
        khttpd.ctl("stop")
        ktap.run("rmmod", "khttpd")
        cpu1(False)
        ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")
        serve()
        ktap.equal(threads(), {"khttpd/0": "0"}, "loaded with one CPU")
        served_on_each_cpu()
        cpu1(True)
        ktap.equal(threads(), both, "the other one comes")
        served_on_each_cpu()
    khttpd.ctl("stop")


def at_once(_):
    """Softirq has them."""


@ktap.test
def replies_that_nobody_takes_end_with_namespace_and_module():
    """Those that were sent in softirq, for which threads look after the connections."""
    khttpd.write("middle", bytes(60_000))
    places = []
    for before in (at_once, closed_listener, time_passes):
        for after in ("namespace", "module"):
            old = {name: khttpd.limit(name, value) for name, value in
                   (("stop_timeout", 60_000), ("send_timeout", max(8000, 3000 * ktap.SCALE)),
                    ("send_rate", 0), ("idle_timeout", 1000))}
            place = places.pop() if places else net6_apart()
            khttpd.serve(place)
            socks = not_taken(place, 20 if not ktap.CHECKING else 8)
            before(socks)
            ktap.true(khttpd.count("connections") >= len(socks) // 2,
                      f"{before.__name__}, {after}")
            if after == "namespace":
                remove(place)
                ktap.wait_for(10, "no connection is left",
                              lambda: not khttpd.count("connections"))
                khttpd.ctl("stop")
            else:
                khttpd.limit("stop_timeout", 100)
                khttpd.ctl("stop")
                ktap.equal(khttpd.count("connections"), 0, "connections")
                ktap.run("rmmod", "khttpd")
                ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")
                places.append(place)
            for sock in socks:
                sock.close()
            for name, value in old.items():
                khttpd.limit(name, value)


ktap.main(setup)
