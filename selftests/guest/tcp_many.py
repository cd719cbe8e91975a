#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Many TCP connections: ten thousand at the same time, each with bytes of its own that come
# back. What one that is idle costs beside native's. Hundreds of thousands one after the
# other.
#
#	[ one namespace: native ::1 on lo | net6 ::1 on the pseudo-loopback ]
#
# NET6_CONNECTIONS: open at the same time (10000); NET6_CONNECTS: one after the other (200000).
# guest: full
# timeout: 2400
import json
import os
import random
import resource
import select
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
CONNECTIONS = int(os.environ.get("NET6_CONNECTIONS") or (500 if ktap.CHECKING else 10000))
CONNECTS = int(os.environ.get("NET6_CONNECTS") or (2000 if ktap.CHECKING else 200000))
BENCH = "/tmp/netbench"
BATCH = 200
PATIENCE = 60 * ktap.SCALE
SLABS = ("NET6-TCP", "net6_tcp_request", "net6_tcp_tw")
kept = {}


def setup():
    ktap.run("ip", "link", "set", "lo", "up")
    ktap.run("make", "-s", "-C", f"{TOP}/scripts/bench/netbench", f"PROGRAM={BENCH}",
             "CFLAGS=-O1", timeout=300)
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * CONNECTIONS + 100, 2 * CONNECTIONS + 100))
    ktap.net6_load()


def new(stack):
    return ktap.net6_socket() if stack == "net6" else socket.socket(socket.AF_INET6)


def crowd(stack, count):
    """Pairs of connected sockets."""
    listener = new(stack)
    listener.bind(("::1", 0))
    listener.listen(BATCH)
    pairs = []
    while len(pairs) < count:
        clients = [new(stack) for _ in range(min(BATCH, count - len(pairs)))]
        for client in clients:
            client.settimeout(PATIENCE)
            client.connect(listener.getsockname())
        by_port = {client.getsockname()[1]: client for client in clients}
        for _ in clients:
            conn, peer = listener.accept()
            pairs.append((by_port.pop(peer[1]), conn))
    listener.close()
    return pairs


def objects():
    seen = {}
    for name in SLABS:
        path = f"/sys/kernel/slab/{name}"
        if os.path.isdir(path):
            with open(f"{path}/shrink", "w", encoding="ascii") as file:
                file.write("1")
            with open(f"{path}/objects", encoding="ascii") as file:
                seen[name] = int(file.read().split()[0])
    return seen


@ktap.test("an idle connection costs no more than native's")
def memory():
    cost = {}
    for stack in ("native", "net6"):
        # Once for what stays: caches, tables that grow.
        for pair in crowd(stack, CONNECTIONS // 5):
            for sock in pair:
                sock.close()
        before = ktap.slabs()
        pairs = crowd(stack, CONNECTIONS)
        cost[stack] = (ktap.slabs() - before) / (2 * CONNECTIONS)
        if stack == "net6":
            kept["pairs"] = pairs
        else:
            for pair in pairs:
                for sock in pair:
                    sock.close()
    ktap.diag(f"bytes of slabs an end, file and all: native {cost['native']:.0f}, "
              f"net6 {cost['net6']:.0f}")
    ktap.true(cost["net6"] <= cost["native"], f"{cost}")


def echo(socks, over):
    poll = select.epoll()
    by_fd = {sock.fileno(): sock for sock in socks}
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    while not over.is_set():
        for fd, _ in poll.poll(0.1):
            by_fd[fd].sendall(by_fd[fd].recv(65536))
    poll.close()


@ktap.test("all are served, each gets its own bytes")
def integrity():
    pairs = kept["pairs"]
    rng = random.Random(CONNECTIONS)
    over = threading.Event()
    server = threading.Thread(target=echo, args=([pair[1] for pair in pairs], over))
    server.start()
    try:
        for _ in range(2):
            order = rng.sample(range(len(pairs)), len(pairs))
            for first in range(0, len(order), BATCH):
                batch = {n: rng.randbytes(rng.randrange(1, 5000))
                         for n in order[first:first + BATCH]}
                for n, data in batch.items():
                    pairs[n][0].sendall(data)
                for n, data in batch.items():
                    back = b""
                    while len(back) < len(data):
                        back += pairs[n][0].recv(65536)
                    ktap.true(back == data, f"bytes of connection {n}")
    finally:
        over.set()
        server.join()


@ktap.test("all are gone when they are closed")
def gone():
    for pair in kept.pop("pairs"):
        for sock in pair:
            sock.close()
    ktap.wait_for(90, "no full socket is left", lambda: not objects()["NET6-TCP"])


def states(ns):
    return {s["state"] for s in
            json.loads(ns.run(f"{TOP}/tools/net6ctl", "-j", "show", "sockets", "tcp"))}


@ktap.test("one connection after the other, each with a byte there and back")
def many():
    ns = ktap.Netns("many")
    server = ns.popen(BENCH, "-f", "19", "-p", "7000", "serve-tcp")
    ktap.wait_for(10, "the server listens", lambda: "listen" in states(ns))
    ns.run(BENCH, "-f", "19", "-a", "::1", "-p", "7000", "-n", str(CONNECTS), "crr",
           timeout=CONNECTS // 100)
    server.kill()
    server.wait()
    ktap.wait_for(30, "no full socket is left", lambda: not objects()["NET6-TCP"])
    ns.delete()
    ktap.wait_for(30, "nothing is left", lambda: not any(objects().values()))


ktap.main(setup)
