# SPDX-License-Identifier: GPL-2.0
"""What one of many things takes of the kernel's memory: connections, requests, sockets, neighbors,
routes, addresses, groups; a web server's connections, files and sites. No paper's; by name only.

So many are made, and as many again. All that the kernel has allocated meanwhile is divided by
their number, twice. That is objects of slabs, each with the room between it and the next, and
pages that are in no slab. The empty rest of a slab's page is not counted. Pages of the page
cache and of user space are not counted either. Of nginx what its processes have written to is counted, too.
"""
import contextlib
import ctypes
import glob
import os
import resource
import socket
import struct
import time

from lab import ADDRESS, Failed
from results import mean

TITLE = "Memory of one of many"
PAPER = "none: whether what many have is small"
NEEDS = ["nginx"]

STACKS = ("native", "net6")
MANY, MANY_SITES = 1000, 100
# Of a thousand path MTUs native did not keep all.
EXCEPTION, FEW = "destination: net6 of any, native with a path MTU", 200
HUGE, HUGE_FILES = 25000, 50000		# twice as many are there in the end
SHOWN = 8		# octets; smaller shares of a cache go under the others
FILES = "/srv/www/f"
PAGE = os.sysconf("SC_PAGESIZE")
PORTS = (8080, 8081, 8082)
LISTENS = 7000
GATEWAY, NOBODY, FAR = "fe80::d", "99", "2001:db9::"
# Where which server is, and on which stack its clients are.
SERVERS = {"nginx on native": "native", "nginx on net6": "net6", "khttpd on native": "native",
           "khttpd on net6": "net6"}
RESET = struct.pack("ii", 1, 0)
JOIN = 20		# socket option


# ---- what the kernel has ----

def slabs(text):
    """{cache: octets of its objects} and pages of all slabs, by /proc/slabinfo."""
    found, pages = {}, 0
    for line in text.splitlines()[2:]:
        words = line.split()
        found[words[0]] = int(words[1]) * int(words[3])
        pages += int(words[words.index("slabdata") + 2]) * int(words[5])
    return found, pages


def elsewhere(vmstat, zoneinfo, in_slabs):
    """Pages that are neither free nor of a slab, the page cache, or user space."""
    state = {name: int(value) for name, value in (line.split() for line in vmstat.splitlines())}
    zones = [line.split() for line in zoneinfo.splitlines()]
    managed = sum(int(words[1]) for words in zones if words[:1] == ["managed"])
    spare = sum(int(words[1]) for words in zones if words[:1] == ["count:"])
    return managed - spare - in_slabs - sum(state[name] for name in (
        "nr_free_pages", "nr_anon_pages", "nr_file_pages", "nr_page_table_pages"))


def each(before, after, count):
    """What one of @count has, by cache."""
    return {name: (after.get(name, 0) - before.get(name, 0)) / count
            for name in {**before, **after}}


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def written(pids):
    """Octets of user space that programs have for themselves; what they share is shared out."""
    return sum(1024 * int(line.split()[1]) for pid in pids
               for line in read(f"/proc/{pid}/smaps_rollup").splitlines()
               if line.startswith("Pss_Anon:"))


def now(pids=()):
    """{cache: octets}, when what was freed is free. Places that a CPU has kept for itself are
    given back, so that only objects in use are left."""
    time.sleep(3)
    for path in glob.glob("/sys/kernel/slab/*/shrink"):
        if not os.path.islink(os.path.dirname(path)):
            with open(path, "w", encoding="ascii") as file:
                file.write("1")
    with open("/proc/sys/vm/stat_refresh", "w", encoding="ascii") as file:
        file.write("1")
    found, pages = slabs(read("/proc/slabinfo"))
    found["pages in no slab"] = PAGE * elsewhere(read("/proc/vmstat"), read("/proc/zoneinfo"),
                                                 pages)
    if pids:
        found["user space"] = written(pids)
    return found


def grown(make, count, pids=()):
    """make(begin, end) makes things of these numbers; what each has, twice. The first few show
    what stays."""
    first = count // 5
    make(0, first)
    marks = [now(pids)]
    for begin in (first, first + count):
        make(begin, begin + count)
        marks.append(now(pids))
    return [each(a, b, count) for a, b in zip(marks, marks[1:])]


def report(lab, figure, what, stack, found, less=0):
    """Rows of what grown() has found; @less: octets that are another's."""
    if min(sum(one.values()) for one in found) <= less:
        raise Failed("they are not there any more")
    lab.row(figure, {"of": what}, stack, "octets", [sum(one.values()) - less for one in found])
    for name in found[0]:
        share = [one.get(name, 0) for one in found]
        if mean(share) >= SHOWN:
            lab.row("parts", {"of": what, "cache": name}, stack, "octets", share)


# ---- things of a stack ----

@contextlib.contextmanager
def inside(ns):
    """This process is in a namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", encoding="ascii") as here, \
            open(f"/run/netns/{ns}", encoding="ascii") as there:
        if libc.setns(there.fileno(), 0):
            raise Failed(f"setns: {os.strerror(ctypes.get_errno())}")
        try:
            yield
        finally:
            libc.setns(here.fileno(), 0)


def new(stack, ns, kind=socket.SOCK_STREAM):
    """A socket, to Python one of IPv6."""
    with inside(ns):
        if stack == "native":
            return socket.socket(socket.AF_INET6, kind)
        return socket.socket(socket.AF_INET6, kind, 0, fileno=socket.socket(19, kind).detach())


def drop(socks):
    """Closes them; connections leave no TIME-WAIT."""
    for sock in socks:
        if sock.type == socket.SOCK_STREAM:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        sock.close()
    socks.clear()


def listener(stack, port):
    sock = new(stack, "server")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((ADDRESS["direct"][stack], port))
    sock.listen(65535)
    return sock


class Pairs:
    """Connections whose ends are both this process's."""

    def __init__(self, stack):
        self.stack, self.clients, self.servers = stack, [], []
        # To one port alone native takes ever longer to find the client's.
        self.listeners = [listener(stack, LISTENS + n) for n in range(4)]

    def make(self, begin, end):
        for n in range(begin, end):
            waits = self.listeners[n % len(self.listeners)]
            self.clients.append(new(self.stack, "client"))
            self.clients[-1].connect(waits.getsockname())
            self.servers.append(waits.accept()[0])

    def talk(self):
        """A byte there and back on each."""
        for client, server in zip(self.clients, self.servers):
            client.send(b"x")
            server.send(server.recv(1))
            if client.recv(1) != b"x":
                raise Failed("another byte has come back")

    def drop(self):
        drop(self.servers)
        drop(self.clients)

    def end(self):
        self.drop()
        drop(self.listeners)


@contextlib.contextmanager
def deaf(lab):
    """Nothing of the client's comes to the server."""
    lab.run("tc", "-n", "client", "qdisc", "add", "dev", "c1", "root", "netem", "loss", "100%")
    try:
        yield
    finally:
        lab.run("tc", "-n", "client", "qdisc", "del", "dev", "c1", "root")


def connections(lab, stack, count):
    """Both ends, and the server's alone when the clients' are gone; the client's octets."""
    pairs = Pairs(stack)
    pairs.make(0, count // 5)
    pairs.drop()
    before = now()
    pairs.make(0, 2 * count)
    both = now()
    with deaf(lab):
        drop(pairs.clients)
        alone = now()
    ends = {"client": [each(alone, both, 2 * count)], "server": [each(before, alone, 2 * count)]}
    for end, found in ends.items():
        report(lab, "stack", f"idle TCP connection, {end}'s end", stack, found)
    pairs.end()
    return sum(ends["client"][0].values())


def huge_connections(lab, stack):
    pairs = Pairs(stack)
    report(lab, "huge", f"idle TCP connection, both ends; {2 * HUGE:,}", stack,
           grown(pairs.make, HUGE))
    pairs.talk()
    pairs.end()


def closed(stack, first):
    """Connections that the client or the server closes first, which has TIME-WAIT then."""
    pairs = Pairs(stack)

    def make(begin, end):
        for _ in range(begin, end):
            pairs.make(0, 1)
            ends = [pairs.clients.pop(), pairs.servers.pop()]
            for sock in ends if first == "client" else reversed(ends):
                sock.close()
    yield make
    pairs.end()
    time.sleep(70)


def checksum(source, dest, proto, payload):
    data = source + dest + struct.pack("!II", len(payload), proto) + payload
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack("!H", ~total & 0xffff or 0xffff)


def packed(address):
    return socket.inet_pton(socket.AF_INET6, address)


def numbered(prefix, number):
    """The address of a number; not 0 in any case."""
    return packed(prefix)[:8] + struct.pack("!Q", number + 0x10000)


class Wire:
    """Frames from the client's end of the cable to the server."""

    def __init__(self, lab):
        def mac(ns, dev):
            words = lab.run("ip", "-n", ns, "-o", "link", "show", "dev", dev).split()
            return words[words.index("link/ether") + 1]
        self.mac = mac("client", "c1")
        self.head = bytes.fromhex((mac("server", "s1") + self.mac).replace(":", "")) + b"\x86\xdd"
        with inside("client"):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.sock.bind(("c1", 0))

    def send(self, source, dest, proto, payload, at):
        """The checksum is at @at."""
        payload = payload[:at] + checksum(source, dest, proto, payload) + payload[at + 2:]
        self.sock.send(self.head + struct.pack("!IHBB", 6 << 28, len(payload), proto, 255)
                       + source + dest + payload)


def half_open(wire, stack):
    """Requests for a connection from a host that says nothing more."""
    waits = listener(stack, LISTENS)
    ours = packed(ADDRESS["direct"][stack])
    nobody = ours[:-1] + bytes([int(NOBODY, 16)])

    def make(begin, end):
        for n in range(begin, end):
            # With the options that a host of our own sends: MSS, SACK, timestamps, window scale.
            wire.send(nobody, ours, 6, struct.pack("!HHIIBBHHH", 1024 + n, LISTENS, n, 0, 0xa0, 2,
                                                   64800, 0, 0)
                      + bytes.fromhex("020405a00402080a0000000100000000 01030307"), 16)
    yield make
    waits.close()


def datagram_sockets(stack):
    socks = []

    def make(begin, end):
        for _ in range(begin, end):
            socks.append(new(stack, "server", socket.SOCK_DGRAM))
            socks[-1].bind((ADDRESS["direct"][stack], 0))
    yield make
    drop(socks)


def groups(stack, count, index):
    """Ten groups a socket; the sockets are there before."""
    socks = [new(stack, "server", socket.SOCK_DGRAM) for _ in range(3 * count // 10)]

    def make(begin, end):
        for n in range(begin, end):
            socks[n // 10].setsockopt(socket.IPPROTO_IPV6, JOIN, struct.pack(
                "16sI", numbered("ff05::", n), index))
    yield make
    drop(socks)


def batch(lab, lines):
    with open("/tmp/batch", "w", encoding="ascii") as file:
        file.writelines(line + "\n" for line in lines)
    lab.run("ip", "-n", "server", "-6", "-batch", "/tmp/batch")


def text(address):
    return socket.inet_ntop(socket.AF_INET6, address)


def tables(lab, wire, index):
    """What an administrator sets: {what: {stack: make}}."""
    import sys
    # Only a guest has all that the tests' libraries want; it begins in the project's folder.
    sys.path.append(os.path.abspath("selftests/lib"))
    import nl
    with inside("server"):
        family = nl.Family()
    mac = bytes.fromhex(wire.mac.replace(":", ""))

    def native(line):
        return lambda begin, end: batch(lab, (line(n) for n in range(begin, end)))

    def net6(op, values):
        def make(begin, end):
            for n in range(begin, end):
                family.request(op, family.encode(op, ifindex=index, **values(n)))
        return make
    return {
        "neighbor": {
            "native": native(lambda n: f"neigh add {text(numbered('fd00:1::', n))} lladdr "
                             f"{wire.mac} nud permanent dev s1"),
            "net6": net6("neigh-add", lambda n: {"address": numbered("fd00:2::", n),
                                                 "lladdr": mac})},
        "route": {
            "native": native(lambda n: f"route add {text(route(n))}/64 via {GATEWAY} dev s1"),
            "net6": net6("route-add", lambda n: {"address": route(n), "prefix_len": 64,
                                                 "gateway": packed(GATEWAY)})},
        "address": {
            "native": native(lambda n: f"addr add {text(numbered('fd00:e::', n))}/64 dev s1 nodad"),
            "net6": net6("addr-add", lambda n: {"address": numbered("fd00:f::", n),
                                                "prefix_len": 64})}}


def route(number):
    return packed("2001:db8::")[:4] + struct.pack("!I", number * 2654435761 % 2**32) + bytes(8)


def destinations():
    """Packets to others through one router."""
    sock = new("net6", "server", socket.SOCK_DGRAM)

    def make(begin, end):
        for n in range(begin, end):
            sock.sendto(b"", (text(numbered(FAR, n)), 9))
    yield make
    sock.close()


def exceptions(wire):
    """Packets to others that were too big: native keeps what it has learned of a destination."""
    ours = packed(ADDRESS["direct"]["native"])
    router = ours[:-1] + b"\1"

    def make(begin, end):
        for n in range(begin, end):
            sent = struct.pack("!IHBB", 6 << 28, 1400, 58, 64) + ours + numbered(FAR, n) \
                + struct.pack("!BBHHH", 128, 0, 0, 1, n)
            wire.send(router, ours, 58, struct.pack("!BBHI", 2, 0, 0, 1280) + sent + bytes(512), 2)
    yield make


def stack_things(lab, count):
    """All but connections. With each of them, which of its makers begins when it is measured."""
    with inside("server"):
        index = socket.if_nametoindex("s1")
    wire = Wire(lab)
    prepare(lab, wire)
    made = tables(lab, wire, index)
    for stack in STACKS:
        for end in ("client", "server"):
            yield f"TIME-WAIT, the {end} has closed first", stack, closed(stack, end)
        yield "request for a connection (SYN received)", stack, half_open(wire, stack)
        yield "UDP socket, bound", stack, datagram_sockets(stack)
        yield "group that a socket has joined", stack, groups(stack, count, index)
        yield "neighbor", stack, iter([made["neighbor"][stack]])
        yield "route", stack, iter([made["route"][stack]])
    yield EXCEPTION, "net6", destinations()
    yield EXCEPTION, "native", exceptions(wire)
    # The last: of so many addresses each packet may choose its source.
    for stack in STACKS:
        yield "address", stack, iter([made["address"][stack]])


def prepare(lab, wire):
    """Nobody answers for the addresses that packets come from or go to."""
    def net6ctl(*words):
        lab.run(lab.tool["net6ctl"], *words, ns="server")
    for name, value in (("net.ipv4.tcp_max_syn_backlog", 65536), ("net.ipv4.tcp_syncookies", 0),
                        ("net.ipv4.tcp_max_tw_buckets", 65536)):
        for ns in ("client", "server"):
            lab.run("sysctl", "-qw", f"{name}={value}", ns=ns)
    net6ctl("set", "limits", "max-neighs", "16384", "max-dests", "16384")
    net6ctl("set", "dev", "s1", "dad-transmits", "0")
    lines = []
    for address in (f"fd00:1::{NOBODY}", GATEWAY):
        lines.append(f"neigh add {address} lladdr {wire.mac} nud permanent dev s1")
    batch(lab, lines + [f"route add {FAR}/32 via {GATEWAY} dev s1"])
    for address in (f"fd00:2::{NOBODY}", GATEWAY):
        net6ctl("add", "neighbor", address, "lladdr", wire.mac, "dev", "s1")
    net6ctl("add", "route", f"{FAR}/32", "via", GATEWAY, "dev", "s1")


def measure(lab, figure, what, stack, things, count):
    lab.step(f"{what}, {stack}")
    with lab.attempt(f"{what}, {stack}"):
        report(lab, figure, what, stack, grown(next(things), count))
    for _ in things:
        pass


# ---- web servers ----

def start_nginx(lab, name, stack, most, more=""):
    """Its processes, when it listens; @more: servers beside the one."""
    listen = "".join(f"listen [{ADDRESS['direct'][stack]}]:{port + 10};" for port in PORTS)
    conf = lab.lib(f"write_nginx_conf {name} '{listen}'").rstrip().rstrip("}")
    for a, b in (("worker_connections 1024", f"worker_connections {most}"),
                 ("max=1000 inactive=300s", "max=200000 inactive=36000s"),
                 ("keepalive_timeout 300", "keepalive_timeout 36000")):
        conf = conf.replace(a, b)
    with open(f"/tmp/nginx-{name}.conf", "w", encoding="ascii") as file:
        file.write(f"{conf}server_names_hash_max_size 65536;\n{more}}}\n")
    def processes():
        return lab.run("pgrep", "-x", "nginx", check=False).split()
    lab.wait_for("the nginx before ends", lambda: not processes())
    server = lab.background(*lab.wrap(stack), "nginx", "-c", f"/tmp/nginx-{name}.conf")
    lab.wait_for("nginx", lambda: lab.listening(PORTS[0] + 10) and len(processes()) == 2)
    return server, processes()


def port_of(server, number):
    return PORTS[number % len(PORTS)] + (10 if server.startswith("nginx") else 0)


def start_khttpd(lab):
    lab.khttpd()
    for name, value in (("max_connections", 200000), ("cache_entries", 200000),
                        ("head_timeout", 36000000), ("idle_timeout", 36000000)):
        with open(f"/sys/kernel/config/khttpd/{name}", "w", encoding="ascii") as file:
            file.write(str(value))
    listens = []
    for port in PORTS:
        listens += ["--listen", f"[fd00:1::2]:{port}", "--listen", f"[fd00:2::2]:{port},net6"]
    lab.run(lab.tool["khttpdctl"], "serve", "--site", "files", "--docroot", "/srv/www", *listens,
            ns="server")


def khttpd_counts():
    return {name: int(value) for name, value in
            map(str.split, read("/sys/kernel/config/khttpd/stats").splitlines())}


def ask(sock, path):
    """A request and its reply, which ends with the file."""
    sock.send(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    reply = b""
    while not reply.endswith(b"x" * 64):
        more = sock.recv(4096)
        if not more:
            raise Failed(f"the connection has ended: {reply[:80]}")
        reply += more
    if not reply.startswith(b"HTTP/1.1 200"):
        raise Failed(f"the reply: {reply[:80]}")


def connect(server, number):
    stack = SERVERS[server]
    sock = new(stack, "client")
    sock.settimeout(100)
    sock.connect((ADDRESS["direct"][stack], port_of(server, number)))
    return sock


def kept_connections(lab, figure, server, count, client, pids=()):
    """Connections that have had a reply, without the clients' ends."""
    socks, before = [], None
    with contextlib.closing(connect(server, 0)) as sock:
        for _ in range(8):
            ask(sock, "64.html")
            time.sleep(0.02)	# a file settles in three ticks, and is kept from then on

    def make(begin, end):
        for number in range(begin, end):
            socks.append(connect(server, number))
            ask(socks[-1], "64.html")
    name = "kept connection"
    if figure == "huge":
        name += f"; {2 * count:,}"
    if server.startswith("khttpd"):
        before = khttpd_counts()
    report(lab, figure, name, server, grown(make, count, pids), client)
    if before:
        gone_on = {n: v - before[n] for n, v in khttpd_counts().items() if v != before[n]}
        print(f"{server}: {gone_on}", flush=True)
    # They live.
    for sock in socks:
        ask(sock, "64.html")
    drop(socks)


def files(lab, figure, server, count, pids=()):
    """Each file is asked for once."""
    name = "cached file"
    if figure == "huge":
        name += f"; {2 * count:,}"
    before = khttpd_counts()["cache_entries"]
    with contextlib.closing(connect(server, 0)) as sock:
        def make(begin, end):
            for number in range(begin, end):
                ask(sock, f"f/{number}.html")
        report(lab, figure, name, server, grown(make, count, pids))
    there = khttpd_counts()["cache_entries"] - before
    if server.startswith("khttpd") and there < 2 * count:
        raise Failed(f"{there:,} files are in the cache")


def make_files(begin, end):
    os.makedirs(FILES, exist_ok=True)
    for number in range(begin, end):
        with open(f"{FILES}/{number}.html", "w", encoding="ascii") as file:
            file.write("x" * 64)
    time.sleep(3)


def empty_caches():
    """khttpd's, too."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("2")


def sites(lab, count):
    """Virtual hosts of two names."""
    def make(begin, end):
        for n in range(begin, end):
            lab.run(lab.tool["khttpdctl"], "serve", "--site", f"h{n}", "--docroot", "/srv/www",
                    "--set", "behind=files", "--set", f"names=h{n}.example *.w{n}.example",
                    ns="server")
    measure(lab, "server", "virtual host", "khttpd on net6", iter([make]), count)
    lab.step("virtual host, nginx")
    with lab.attempt("virtual host, nginx"):
        lab.row("server", {"of": "virtual host"}, "nginx on native", "octets",
                started(lab, count, lambda n: {"hosts": n}))
    lab.step("connection that may come, nginx")
    with lab.attempt("connection that may come, nginx"):
        lab.row("server", {"of": "connection that may come"}, "nginx on native", "octets",
                started(lab, 10 * count, lambda n: {"most": 1024 + n}))


def started(lab, count, options):
    """What nginx takes at its start for each of what it is told of."""
    marks = []
    for n in (0, count, 2 * count):
        words = {"most": 1024, "hosts": 0, **options(n)}
        listen = f"listen [fd00:1::2]:{PORTS[0] + 10}"
        more = "".join(f"server {{ {listen}; server_name h{k}.example *.w{k}.example; "
                       "root /srv/www; }\n" for k in range(words["hosts"]))
        server, pids = start_nginx(lab, "sites", "native", words["most"], more)
        time.sleep(1)
        marks.append(written(pids))
        lab.stop(server)
    return [(b - a) / count for a, b in zip(marks, marks[1:])]


def web(lab, count, client):
    os.makedirs(FILES, exist_ok=True)
    with open("/srv/www/64.html", "w", encoding="ascii") as file:
        file.write("x" * 64)
    make_files(0, 3 * count)
    start_khttpd(lab)
    for server, stack in SERVERS.items():
        lab.step(f"kept connections and files, {server}")
        with lab.attempt(server):
            running, pids = None, ()
            if server.startswith("nginx"):
                running, pids = start_nginx(lab, stack, stack, 3 * count)
            # First the files, so that they get no memory that nginx has freed.
            files(lab, "server", server, count, pids)
            kept_connections(lab, "server", server, count, client[stack], pids)
            empty_caches()
            if running:
                lab.stop(running)
    sites(lab, MANY_SITES if not lab.quick else 20)


def huge(lab, client):
    for stack in STACKS:
        lab.step(f"{2 * HUGE:,} connections, {stack}")
        with lab.attempt(f"{2 * HUGE:,} connections, {stack}"):
            huge_connections(lab, stack)
    server = "khttpd on net6"
    lab.step(f"{2 * HUGE:,} kept connections, {server}")
    with lab.attempt(f"{2 * HUGE:,} kept connections, {server}"):
        kept_connections(lab, "huge", server, HUGE, client["net6"])
    lab.step(f"{2 * HUGE_FILES:,} files, {server}")
    with lab.attempt(f"{2 * HUGE_FILES:,} files, {server}"):
        make_files(0, 11 * HUGE_FILES // 5)
        files(lab, "huge", server, HUGE_FILES)


def run(lab):
    count = 200 if lab.quick else MANY
    lab.plan(2 + 9 * 2 + len(SERVERS) + 3 + (0 if lab.quick else 4))
    lab.network()
    for ns in ("client", "server"):
        lab.run("sysctl", "-qw", "net.core.somaxconn=65535",
                "net.ipv4.ip_local_port_range=1024 65000", ns=ns)
    # The table of descriptors has its size from now on.
    resource.setrlimit(resource.RLIMIT_NOFILE, (200000, 200000))
    os.close(os.dup2(0, 150000))
    client = {}
    for stack in STACKS:
        lab.step(f"idle TCP connections, {stack}")
        client[stack] = connections(lab, stack, count)
    web(lab, count, client)
    for what, stack, things in stack_things(lab, count):
        few = what == EXCEPTION and stack == "native"
        measure(lab, "stack", what, stack, things, FEW if few else count)
    if not lab.quick:
        huge(lab, client)


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [
    {"figure": figure, "title": title, "kind": "bars", "open": True, "paper": NOT_FOUND}
    for figure, title in (("stack", "Octets of one, by stack"),
                          ("server", "Octets of one, by web server"))
]
TABLES = {
    "huge": {"title": "With very many", "open": True, "paper": NOT_FOUND},
    "parts": {"title": "By the slab's cache", "paper": NOT_FOUND},
}
