#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Both modules are loaded and unloaded a hundred times, every tenth time with traffic
# running until the moment they go: TCP over the cable and on ::1, UDP, files served by
# khttpd, and frames that keep coming whether net6 is there or not. Among those are
# questions for a proxied address, whose answers wait. Afterwards the kernel has its memory,
# its device references and its module references back.
#
#   [ A: servers, khttpd ] a0 fd00::a ------ fd00::b b0 [ B: clients ]
#
# NET6_ROUNDS: how often (100; 20 on the checking kernel).
# guest: stock
# timeout: 600
import ctypes
import errno
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

ROUNDS = int(os.environ.get("NET6_ROUNDS") or (20 if ktap.CHECKING else 100))
MODULES = ("net6", "khttpd")
CTL = f"{khttpd.TOP}/tools/net6ctl"
FINIT_MODULE, DELETE_MODULE = 313, 176
PROXIED = "fd00::77"
NS = {}

COMMON = """
import os, socket, sys, threading
def new(kind):
    return socket.socket(socket.AF_INET6, kind, fileno=socket.socket(19, kind).detach())
def bulk(address):
    sock = new(1)
    sock.connect(address)
    def run():
        while True:
            sock.send(b"x" * 50000)
    threading.Thread(target=run, daemon=True).start()
"""
# TCP from everywhere is taken, ::1 talks to itself.
SERVER = COMMON + """
def serve(listener):
    while True:
        sock = listener.accept()[0]
        threading.Thread(target=drain, args=(sock,), daemon=True).start()
def drain(sock):
    while sock.recv(65536):
        pass
listener = new(1)
listener.bind(("::", 5001))
listener.listen(20)
threading.Thread(target=serve, args=(listener,), daemon=True).start()
bulk(("::1", 5001))
there, here = new(2), new(2)
there.bind(("::1", 0))
here.connect(there.getsockname())
started = False
while True:
    here.send(b"y" * 500)
    there.recv(1000)
    short = new(1)
    short.connect(("::1", 5001))
    short.close()
    if not started:
        print("running", flush=True)
        started = True
"""
CLIENT = COMMON + """
bulk(("fd00::a", 5001))
def fetch():
    web = new(1)
    web.connect(("fd00::a", 8080))
    for _ in range(10):
        web.send(b"GET /file HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
        got = b""
        while len(got) < 100000:
            part = web.recv(1 << 20)
            if not part:
                raise OSError("khttpd has closed")
            got += part
    web.close()
fetch()
print("running", flush=True)
try:
    while True:
        fetch()
except OSError:			# khttpd was stopped
    threading.Event().wait()
"""
# Frames for A, net6 there or not: echo requests to its address and to all nodes, and
# solicitations for an address that it is a proxy for, of more nodes than can wait.
FLOOD = """
import itertools, socket, sys, time
sys.path.insert(0, sys.argv[1])
import nd
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sock.bind(("b0", 0x86dd))
mac = sock.getsockname()[4]
def frame(dest, packet):
    return nd.mac_bytes(dest) + mac + b"\\x86\\xdd" + packet
echoes = [frame(dest, nd.echo("fd00::b", address))
          for dest, address in ((sys.argv[2], "fd00::a"), ("33:33:00:00:00:01", "ff02::1"))]
questions = itertools.cycle([
    frame(nd.group_mac(nd.solicited_node(sys.argv[3])),
          nd.ns(f"fd00::b:{number:x}", sys.argv[3], slla=mac.hex(":"))) for number in range(16)])
print("running", flush=True)
while True:
    try:
        for packet in echoes + [next(questions)]:
            sock.send(packet)
        time.sleep(0.002)	# the others have their turn
    except OSError:		# the cable is gone
        time.sleep(0.1)
"""


def memory():
    """Unreclaimable slab, per-CPU and vmalloc memory in KB, caches emptied."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("2")
    with open("/proc/meminfo", encoding="ascii") as file:
        info = {line.split(":")[0]: int(line.split()[1]) for line in file}
    return info["SUnreclaim"] + info["Percpu"] + info.get("VmallocUsed", 0)


def references():
    """Users of each module that is loaded."""
    with open("/proc/modules", encoding="ascii") as file:
        return {line.split()[0]: int(line.split()[2]) for line in file}


def syscall(number, *args):
    """0 or errno. Without programs to start, rounds are short."""
    if ktap._libc.syscall(number, *args):
        return ctypes.get_errno()
    return 0


def load(module):
    fd = os.open(f"/tmp/{module}.ko", os.O_RDONLY)
    ktap.equal(syscall(FINIT_MODULE, fd, b"", 0), 0, f"errno of loading {module}")
    os.close(fd)


def unload(module):
    def gone():
        error = syscall(DELETE_MODULE, module.encode(), os.O_NONBLOCK)
        ktap.true(error in (0, errno.EWOULDBLOCK), f"errno {error} of unloading {module}")
        return not error
    # Connections of killed programs close on their own first.
    ktap.wait_for(60, f"{module} can be unloaded (users {references().get(module)})", gone)


def start(name, program, *args):
    process = NS[name].popen("python3", "-c", program, *args, stdout=subprocess.PIPE)
    ktap.equal(process.stdout.readline(), b"running\n", "traffic")
    return process


def traffic():
    for name, device in (("A", "a0"), ("B", "b0")):
        NS[name].run(CTL, "set", "dev", device, "dad-transmits", "0")
        NS[name].run(CTL, "add", "address", f"fd00::{name.lower()}/64", "dev", device)
    NS["A"].run(CTL, "set", "dev", "a0", "forwarding", "on", "proxy-ndp", "on")
    NS["A"].run(CTL, "add", "proxy", PROXIED, "dev", "a0")
    with NS["A"]:
        khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", "[::]:8080,net6")
    return [start("A", SERVER), start("B", CLIENT)]


def answers():
    """Advertisements that A has sent: more than can wait at a time."""
    return next((entry["value"] for entry in json.loads(NS["A"].run(CTL, "-j", "show", "counters"))
                 if entry["name"] == "Icmp6OutNeighborAdvertisements"), 0) > 8


def one_round(busy):
    for module in MODULES:
        load(module)
    if busy:
        running = traffic()
        for module in MODULES:
            ktap.equal(syscall(DELETE_MODULE, module.encode(), os.O_NONBLOCK),
                       errno.EWOULDBLOCK, f"errno of unloading {module} in use")
        ktap.true(khttpd.count("requests") >= 10, "files are served")
        ktap.wait_for(20, "answers for the proxied address are sent", answers)
        ktap.equal([process.poll() for process in running], [None, None], "traffic goes on")
        khttpd.ctl("stop", "--all")
        unload("khttpd")
        for process in running:
            process.kill()
        for process in running:
            process.wait()
    for module in reversed(MODULES):
        if module in references():
            unload(module)


def setup():
    ktap.run("modprobe", "-q", "-a", "libsha256", check=False)
    # Without what only debuggers read they load ten times as fast.
    for module in MODULES:
        ktap.run("strip", "--strip-debug", "-o", f"/tmp/{module}.ko",
                 f"{ktap.BUILD}/{module}/{module}.ko")
    os.makedirs(khttpd.WWW, mode=0o755, exist_ok=True)
    khttpd.write("file", b"x" * 100000)
    NS["A"], NS["B"] = ktap.Netns("A"), ktap.Netns("B")
    ktap.veth(NS["A"], "a0", NS["B"], "b0")
    mac = json.loads(NS["A"].ip("-j", "link", "show", "dev", "a0"))[0]["address"]
    start("B", FLOOD, f"{khttpd.TOP}/selftests/lib", mac, PROXIED)
    # What is loaded once and stays: congestion control, CPU-local caches.
    for busy in (False, True, False):
        one_round(busy)


@ktap.test("load and unload, every tenth time under traffic")
def many_rounds():
    before, users = memory(), references()
    for i in range(1, ROUNDS + 1):
        one_round(i % 10 == 0)
    # Freed by RCU and by workers: it takes a moment.
    def back():
        back.grown = memory() - before
        return back.grown < ROUNDS * 8
    back.grown = 0
    try:
        # Less than two pages a round: nothing that a round must leave is that small.
        ktap.wait_for(20, "memory is back", back)
    finally:
        ktap.diag(f"{ROUNDS} rounds: kernel memory {back.grown:+d} KB of {before} KB")
    ktap.equal(references(), users, "users of all modules")


@ktap.test
def no_cache_is_left():
    with open("/proc/slabinfo", encoding="ascii") as file:
        names = [line.split()[0] for line in file]
    ktap.equal([name for name in names if "net6" in name.lower() or "khttpd" in name], [],
               "slab caches")


@ktap.test
def devices_are_free():
    NS["A"].ip("link", "del", "a0")
    ktap.true(" b0@" not in NS["B"].ip("link"), "the cable could be removed")


@ktap.test
def address_family_is_free():
    family = subprocess.run(["python3", "-c", "import socket; socket.socket(19, 1)"],
                            capture_output=True, check=False)
    ktap.true(b"97" in family.stderr, "EAFNOSUPPORT once net6 is gone")


ktap.main(setup)
