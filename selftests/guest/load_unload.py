#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Both modules are loaded and unloaded a hundred times, every tenth time with traffic
# running until the moment they go. Afterwards the kernel has its memory, its device
# references and its module references back.
#
#   [ A ] a0 ------ b0 [ B ]
#
# NET6_ROUNDS: how often (100; 20 on the checking kernel).
# guest: stock
# timeout: 900
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
ROUNDS = int(os.environ.get("NET6_ROUNDS") or (20 if ktap.CHECKING else 100))
MODULES = [name for name in ("net6", "khttpd")
           if os.path.exists(f"{ktap.BUILD}/{name}/{name}.ko")]
NS = {}

# TCP, UDP and echoes on ::1 and over the cable, until killed.
TRAFFIC = """
import os, socket, sys, threading
def new(kind):
    return socket.socket(socket.AF_INET6, kind, fileno=socket.socket(19, kind).detach())
def serve(listener):
    while True:
        sock = listener.accept()[0]
        threading.Thread(target=drain, args=(sock,), daemon=True).start()
def drain(sock):
    while sock.recv(65536):
        pass
listener = new(1)
listener.bind(("::1", 0))
listener.listen(20)
threading.Thread(target=serve, args=(listener,), daemon=True).start()
bulk = new(1)
bulk.connect(listener.getsockname())
there, here = new(2), new(2)
there.bind(("::1", 0))
here.connect(there.getsockname())
group = new(2)
started = False
while True:
    bulk.send(b"x" * 50000)
    here.send(b"y" * 500)
    there.recv(1000)
    short = new(1)
    short.connect(listener.getsockname())
    short.close()
    try:
        group.sendto(b"z" * 1000, ("ff02::1", 9, 0, socket.if_nametoindex(sys.argv[1])))
    except OSError:
        pass
    if not started:
        print("running", flush=True)
        started = True
"""


def memory():
    """Unreclaimable slab and per-CPU memory in KB, after what is lazy has been done."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")
    with open("/proc/meminfo", encoding="ascii") as file:
        info = {line.split(":")[0]: int(line.split()[1]) for line in file}
    return info["SUnreclaim"] + info["Percpu"] + info.get("VmallocUsed", 0)


def users(module):
    with open("/proc/modules", encoding="ascii") as file:
        for line in file:
            if line.startswith(module + " "):
                return int(line.split()[2])
    return None


def unload(module):
    def gone():
        return not subprocess.run(["rmmod", module], capture_output=True,
                                  check=False).returncode
    # Connections of the killed program close on their own first.
    ktap.wait_for(90, f"{module} can be unloaded (users {users(module)})", gone)


def traffic():
    running = []
    for name, device in (("A", "a0"), ("B", "b0")):
        process = NS[name].popen("python3", "-c", TRAFFIC, device, stdout=subprocess.PIPE)
        ktap.equal(process.stdout.readline(), b"running\n", "traffic")
        running.append(process)
    return running


def one_round(busy):
    for module in MODULES:
        ktap.run("insmod", f"/tmp/{module}.ko")
    if busy:
        running = traffic()
        time.sleep(0.3)
        refused = subprocess.run(["rmmod", "net6"], capture_output=True, check=False)
        ktap.true(refused.returncode, "rmmod is refused under traffic")
        for process in running:
            process.kill()
        for process in running:
            process.wait()
    for module in reversed(MODULES):
        unload(module)


def setup():
    ktap.run("modprobe", "-q", "-a", "libsha256", "tunnel4", check=False)
    # Without what only debuggers read they load ten times as fast.
    for module in MODULES:
        ktap.run("strip", "--strip-debug", "-o", f"/tmp/{module}.ko",
                 f"{ktap.BUILD}/{module}/{module}.ko")
    NS["A"], NS["B"] = ktap.Netns("A"), ktap.Netns("B")
    ktap.veth(NS["A"], "a0", NS["B"], "b0")
    # What is loaded once and stays: congestion control, CPU-local caches.
    for busy in (False, True, False):
        one_round(busy)


@ktap.test("load and unload, every tenth time under traffic")
def many_rounds():
    before = memory()
    for i in range(1, ROUNDS + 1):
        one_round(i % 10 == 0)
    # Freed by RCU and by workers: it takes a moment.
    grown = 0
    for _ in range(20):
        grown = memory() - before
        if grown < ROUNDS * 8:
            break
        time.sleep(0.5)
    ktap.diag(f"{ROUNDS} rounds: kernel memory {grown:+d} KB of {before} KB")
    # Less than two pages a round: nothing that a round must leave is that small.
    ktap.true(grown < ROUNDS * 8, f"memory is back, not {grown} KB more")


@ktap.test
def devices_are_free():
    NS["A"].ip("link", "del", "a0")
    ktap.true("b0" not in NS["B"].ip("link"), "the cable could be removed")


@ktap.test
def address_family_is_free():
    family = subprocess.run(["python3", "-c", "import socket; socket.socket(19, 1)"],
                            capture_output=True, check=False)
    ktap.true(b"97" in family.stderr, "EAFNOSUPPORT once net6 is gone")


ktap.main(setup)
