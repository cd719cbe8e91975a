#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Fifty thousand connections that have had a reply and say nothing more: what one of them
# costs nginx and khttpd on native IPv6, and khttpd on net6. Then each gets a second reply.
#
#	[ native ::1 on lo ]	[ client ] c0 ------ s0 [ server ] with net6
#
# NET6_CONNECTIONS: how many (50000).
# guest: full
# guest-options: --memory 4G
# timeout: 1500
# pylint: disable=missing-function-docstring
import os
import resource
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

COUNT = int(os.environ.get("NET6_CONNECTIONS") or (600 if ktap.CHECKING else 50000))
# A client's address has 28,000 ports for each of the server's.
PORTS = (8080, 8081, 8082)
DATA = os.urandom(64)
GET = khttpd.get("/small")
PLACES = {"native": khttpd.V6}
RESET = struct.pack("ii", 1, 0)
cost = {}


def setup():
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * COUNT + 1000, 2 * COUNT + 1000))
    PLACES["net6"] = khttpd.net6_place()
    khttpd.fresh()
    khttpd.write("small", DATA)
    for name in ("head_timeout", "idle_timeout"):
        khttpd.limit(name, 3_600_000)


def private(pids):
    """Bytes of programs that they share with nobody."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            total += sum(1024 * int(line.split()[1]) for line in file
                         if line.startswith("Private_"))
    return total


def exchange(sock):
    sock.sendall(GET)
    reply = b""
    while not reply.endswith(DATA):
        more = sock.recv(4096)
        ktap.true(more, "the connection stays")
        reply += more
    ktap.true(reply.startswith(b"HTTP/1.1 200"), "reply")


def clients(place, count):
    """Connections that have had a reply."""
    socks = []
    for number in range(count):
        sock = place.connect(PORTS[number % len(PORTS)], 60 * ktap.SCALE)
        exchange(sock)
        socks.append(sock)
    return socks


def drop(socks):
    """Ends them without TIME-WAIT entries, which would be counted."""
    for sock in socks:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        sock.close()


def pairs(place, count):
    """Connections of which both ends are a program's."""
    listener = ktap.net6_socket(ns=place.server) if place.server else socket.socket(place.family)
    listener.bind((place.address, 7000))
    listener.listen()
    socks = []
    for _ in range(count):
        sock = place.socket()
        sock.connect((place.address, 7000))
        socks += [sock, listener.accept()[0]]
    listener.close()
    return socks


def grown(make, count, pids=()):
    """Bytes by which memory grows with each connection; the first few show what stays."""
    drop(make(count // 5))
    before = ktap.slabs(), private(pids)
    socks = make(count)
    after = ktap.slabs(), private(pids)
    return [(b - a) / count for a, b in zip(before, after)], socks


def end_of(place):
    """Bytes of one end that a program has, file and all."""
    (both, _), socks = grown(lambda count: pairs(place, count), COUNT // 5)
    drop(socks)
    return both / 2


def measure(name, place, pids=()):
    """What a connection costs the server: all but the client's end. Then all are used again."""
    client = end_of(place)
    (slab, program), socks = grown(lambda count: clients(place, count), COUNT, pids)
    cost[name] = slab - client + program
    ktap.diag(f"{name}: {cost[name]:.0f} bytes a connection, {program:.0f} of them the program's; "
              f"a program's end {client:.0f}")
    for sock in socks:
        exchange(sock)
    drop(socks)


@ktap.test
def nginx_native():
    nginx = khttpd.Nginx([f"[::1]:{port}" for port in PORTS], root=khttpd.WWW,
                         connections=2 * COUNT + 100)
    workers = subprocess.run(["pgrep", "-P", str(nginx.pid)], check=True,
                             stdout=subprocess.PIPE).stdout.split()
    try:
        measure("nginx, native", PLACES["native"], [int(pid) for pid in workers])
    finally:
        nginx.kill()


def khttpd_on(stack):
    place = PLACES[stack]
    khttpd.serve(place, *(word for port in PORTS[1:] for word in
                          ("--listen", place.listen.replace("8080", str(port)))))
    try:
        measure(f"khttpd, {stack}", place)
        ktap.true(cost[f"khttpd, {stack}"] <= cost["nginx, native"], f"{cost}")
    finally:
        khttpd.ctl("stop")


@ktap.test
def khttpd_native():
    khttpd_on("native")


@ktap.test
def khttpd_net6():
    khttpd_on("net6")


ktap.main(setup)
