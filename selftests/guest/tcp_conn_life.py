#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What TCP leaves behind: nothing. Thousands of connections, namespaces that go away
# with connections in every state, and a module that cannot be pulled from under them.
#
#   [ A ] a0 ------ b0 [ B ]      and each alone with ::1
#
# NET6_CONNECTS: connections of the long loop (3000).
# guest: stock+
# timeout: 600
import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
CONNECTS = int(os.environ.get("NET6_CONNECTS") or (300 if ktap.CHECKING else 3000))
BENCH = "/tmp/netbench"
SLABS = ("NET6-TCP", "net6_tcp_request", "net6_tcp_tw")

# A connection in each state, and then nothing more.
CROWD = """
import socket, sys, time
def new():
    return socket.socket(socket.AF_INET6, fileno=socket.socket(19, 1).detach())
def pair(listener):
    client = new()
    client.connect(listener.getsockname())
    return client, listener.accept()[0]
listener = new()
listener.bind(("::1", 0))
listener.listen(50)
established = pair(listener)
established[0].send(b"x" * 100000)
half = pair(listener)
half[0].shutdown(1)
waiting = pair(listener)
waiting[1].close()
waiting[0].recv(1)
waiting[0].close()
finwait2 = pair(listener)
finwait2[0].close()
unaccepted = [new() for _ in range(5)]
for sock in unaccepted:
    sock.connect(listener.getsockname())
print("ready", flush=True)
time.sleep(1000)
"""


def protocol():
    """Sockets of this namespace that are in a table, and pages of memory of all."""
    with open("/proc/net/protocols", encoding="ascii") as file:
        for line in file:
            if line.startswith("NET6-TCP"):
                return tuple(int(n) for n in line.split()[2:4])
    return None


def objects():
    """Objects in our slabs after giving back what is cached."""
    seen = {}
    for name in SLABS:
        path = f"/sys/kernel/slab/{name}"
        if not os.path.isdir(path):
            continue
        with open(f"{path}/shrink", "w", encoding="ascii") as file:
            file.write("1")
        with open(f"{path}/objects", encoding="ascii") as file:
            seen[name] = int(file.read().split()[0])
    return seen


def nothing_left():
    # The kernel counts pages per processor, and adds up 256 of them at a time.
    sockets, pages = protocol()
    return not sockets and abs(pages) <= 256 * os.cpu_count() and not any(objects().values())


def states(ns):
    out = ns.run(f"{TOP}/tools/net6ctl", "-j", "show", "sockets", "tcp")
    return sorted({s["state"] for s in json.loads(out)})


def setup():
    ktap.run("make", "-s", "-C", f"{TOP}/scripts/bench/netbench", f"PROGRAM={BENCH}",
             "CFLAGS=-O1", timeout=300)
    ktap.net6_load()


def bench(ns, count):
    server = ns.popen(BENCH, "-f", "19", "-p", "7000", "serve-tcp")
    ktap.wait_for(10, "the server listens", lambda: "listen" in states(ns))
    ns.run(BENCH, "-f", "19", "-a", "::1", "-p", "7000", "-n", str(count), "crr", timeout=400)
    server.kill()
    server.wait()


@ktap.test
def slabs_can_be_counted():
    sock = ktap.net6_socket()
    sock.bind(("::1", 0))
    sock.listen(5)
    ktap.equal(protocol()[0], 1, "sockets in use")
    ktap.true(objects().get("NET6-TCP", 0) >= 1, f"objects: {objects()}")
    sock.close()
    ktap.wait_for(5, "nothing is left", nothing_left)


@ktap.test("many connections one after the other leave nothing")
def many_connections():
    ns = ktap.Netns("many")
    bench(ns, CONNECTS)
    ktap.true("time-wait" in states(ns), "TIME-WAIT entries")
    ktap.wait_for(10, "no full socket is left", lambda: not objects()["NET6-TCP"])
    ns.delete()
    ktap.wait_for(20, "nothing is left", nothing_left)


@ktap.test
def a_namespace_goes_with_its_connections():
    witness = ktap.Netns("witness")
    for _ in range(3):
        ns = ktap.Netns("crowd")
        ktap.veth(ns, "c0", witness, "w0")
        crowd = ns.popen("python3", "-c", CROWD, stdout=subprocess.PIPE)
        ktap.equal(crowd.stdout.readline(), b"ready\n", "the crowd")
        for state in ("listen", "established", "close-wait", "time-wait"):
            ktap.true(state in states(ns), f"somebody is in {state}: {states(ns)}")
        crowd.kill()
        crowd.wait()
        ns.delete()
        ktap.wait_for(90, "the namespace is gone", lambda: "w0" not in witness.ip("link"))
        ktap.wait_for(10, "its sockets are gone", lambda: not objects()["NET6-TCP"])
    ktap.wait_for(10, "nothing is left", nothing_left)


def counters(*names):
    out = ktap.run(f"{TOP}/tools/net6ctl", "-j", "show", "counters", "all")
    values = {c["name"]: c["value"] for c in json.loads(out)}
    return [values[name] for name in names]


def close_at_once(listener, rounds):
    start = threading.Barrier(2)
    pairs = []

    def closer():
        for _ in range(rounds):
            start.wait()
            pairs[-1][1].close()
            start.wait()
    thread = threading.Thread(target=closer)
    thread.start()
    for _ in range(rounds):
        client = ktap.net6_socket()
        client.connect(listener.getsockname())
        pairs[:] = [(client, listener.accept()[0])]
        start.wait()
        client.close()
        start.wait()
    thread.join()


@ktap.test("both ends close at once: no segment meets a closed socket")
def both_close():
    listener = ktap.net6_socket()
    listener.bind(("::1", 0))
    listener.listen(5)
    names = ("TcpOutRsts", "TcpDelayedACKs", "TcpRetransSegs")
    for _ in range(20 if ktap.CHECKING else 60):
        before = counters(*names)
        close_at_once(listener, 5)
        resets, delayed, repeated = (n - b for n, b in zip(counters(*names), before))
        # An acknowledgment that a timer sends on one CPU may be overtaken by the FIN that
        # close() sends on another. It is then old in TIME-WAIT, which answers (RFC 9293
        # 3.10.7.4) an end that has closed: that reset is right. A reset is right, too,
        # after a FIN that was repeated because the machine stood still. There are no others.
        ktap.true(resets <= delayed + repeated,
                  f"{resets} resets, {delayed} delayed, {repeated} repeated")
    listener.close()


class Taps:
    """Packet sockets whose filters take long and take nothing: each packet of the
    device costs some milliseconds, with softirqs off.
    """

    def __init__(self, ns, dev, count):
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + 200, count + 200))
        code = ctypes.create_string_buffer(
            struct.pack("=HBBI", 0x04, 0, 0, 1) * 2000 + struct.pack("=HBBI", 0x06, 0, 0, 0))
        program = struct.pack("HxxxxxxP", 2001, ctypes.addressof(code))
        self.socks = []
        with ns:
            for _ in range(count):
                sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
                sock.setsockopt(socket.SOL_SOCKET, 26, program)     # SO_ATTACH_FILTER
                sock.bind((dev, 3))                                 # ETH_P_ALL
                self.socks.append(sock)

    def close(self):
        for sock in self.socks:
            sock.close()


def linklocal(ns, dev):
    out = ns.run(f"{TOP}/tools/net6ctl", "-j", "show", "addresses", "dev", dev)
    return next((a["address"].split("/")[0] for a in json.loads(out)
                 if a["state"] == "preferred"), None)


@ktap.test("a timer that fires while a connection is reset leaves no reference")
def reset_meets_timer():
    ktap.kmod("sch_netem")
    a, b = ktap.Netns("taps"), ktap.Netns("peer")
    ktap.veth(a, "a0", b, "b0")
    address = ktap.wait_for(20, "an address on b0", lambda: linklocal(b, "b0"))
    ktap.wait_for(20, "an address on a0", lambda: linklocal(a, "a0"))
    listener = ktap.net6_socket(ns=b)
    with b:
        listener.bind((address, 7002, 0, socket.if_nametoindex("b0")))
    listener.listen(5)
    with a:
        scope = socket.if_nametoindex("a0")
    taps = Taps(a, "a0", 600)
    # What is sent stays without an answer: a timer comes after 200 ms and a little more.
    # Sending the reset takes some milliseconds, in which it finds the socket in use.
    took = 0
    for wait in range(190, 290, 4):
        sock = ktap.net6_socket(ns=a)
        sock.connect((address, 7002, 0, scope))
        peer = listener.accept()[0]
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        b.run("tc", "qdisc", "add", "dev", "b0", "root", "netem", "loss", "100%")
        sock.send(b"x")
        time.sleep(wait / 1000)		# about when it is sent again
        start = time.monotonic()
        sock.close()
        took = max(took, time.monotonic() - start)
        b.run("tc", "qdisc", "del", "dev", "b0", "root")
        peer.close()
    ktap.diag(f"a reset took {took * 1000:.1f} ms at most")
    listener.close()
    taps.close()
    ktap.wait_for(20, "no socket is left", lambda: not objects()["NET6-TCP"])


# In a memory cgroup: accepts, and lets data pile up unread.
HOARDER = """
import os, socket, sys
with open(sys.argv[1] + "/cgroup.procs", "w") as file:
    file.write(str(os.getpid()))
def new():
    return socket.socket(socket.AF_INET6, fileno=socket.socket(19, 1).detach())
listener = new()
listener.bind(("::1", 7001))
listener.listen(5)
print("ready", flush=True)
conn = listener.accept()[0]
print("accepted", flush=True)
sys.stdin.read()
"""


@ktap.test("an accepted connection's memory is charged to its process's cgroup")
def memory_cgroup():
    group = ktap.cgroup()[1]
    with subprocess.Popen(["python3", "-c", HOARDER, group], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as hoarder:
        ktap.equal(hoarder.stdout.readline(), b"ready\n", "the hoarder")
        sock = ktap.net6_socket()
        sock.connect(("::1", 7001))
        ktap.equal(hoarder.stdout.readline(), b"accepted\n", "the hoarder")
        sock.setblocking(False)
        total = 0
        try:
            while total < 1 << 20:
                total += sock.send(b"x" * 65536)
        except BlockingIOError:
            pass

        def charged():
            with open(f"{group}/memory.stat", encoding="ascii") as file:
                return [int(line.split()[1]) for line in file if line.startswith("sock ")][0]
        ktap.wait_for(10, f"of {total} bytes much is charged", lambda: charged() > 50000)
        hoarder.stdin.close()
        hoarder.wait()
        sock.close()
        ktap.wait_for(10, "nothing is charged any more", lambda: not charged())
    os.rmdir(group)


@ktap.test
def a_reader_does_not_go_on_with_another_connection():
    """Disconnected and connected again while it slept, it ends with what it has."""
    listener, client, got = ktap.net6_socket(), ktap.net6_socket(), []
    listener.bind(("::1", 0))
    listener.listen()
    client.connect(listener.getsockname())
    first = listener.accept()[0]
    first.sendall(b"first")
    reader = threading.Thread(target=lambda: got.append(client.recv(100, socket.MSG_WAITALL)))
    # It does not run before this thread has done all.
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    reader.start()
    ktap.wait_for(10, "the reader waits", lambda: ktap.asleep(reader) and not struct.unpack(
        "i", fcntl.ioctl(client, termios.FIONREAD, bytes(4)))[0])
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        unspec = struct.pack("=H26x", socket.AF_UNSPEC)
        ktap.equal(ctypes.CDLL(None).connect(client.fileno(), unspec, len(unspec)), 0,
                   "disconnect")
        client.connect(listener.getsockname())
        second = listener.accept()[0]
        second.sendall(b"s" * 200)
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, before)
    reader.join(10 * ktap.SCALE)
    ktap.equal(got, [b"first"], "what was read")
    for sock in (listener, client, first, second):
        sock.close()


@ktap.test
def the_module_stays_while_a_socket_is_open():
    sock = ktap.net6_socket()
    refused = subprocess.run(["rmmod", "net6"], capture_output=True, check=False)
    ktap.true(refused.returncode, "rmmod is refused")
    ktap.true(b"in use" in refused.stderr, f"because it is in use: {refused.stderr}")
    sock.close()


@ktap.test
def the_module_goes_after_its_connections():
    ns = ktap.Netns("gone")
    bench(ns, 50)
    with ns:
        listener = ktap.net6_socket()
        listener.bind(("::1", 0))
        listener.listen(5)
        client = ktap.net6_socket()
        client.connect(listener.getsockname())
    ktap.true("time-wait" in states(ns), "TIME-WAIT entries")
    refused = subprocess.run(["rmmod", "net6"], capture_output=True, check=False)
    ktap.true(refused.returncode, "rmmod is refused")
    client.close()
    listener.close()
    ktap.wait_for(70, "rmmod succeeds with TIME-WAIT entries alive",
                  lambda: not subprocess.run(["rmmod", "net6"], capture_output=True,
                                             check=False).returncode)
    ktap.equal([name for name in SLABS if os.path.isdir(f"/sys/kernel/slab/{name}")], [],
               "slabs that remain")
    ktap.run("insmod", f"{ktap.BUILD}/net6/net6.ko")



ktap.main(setup)
