#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Dumps of thousands of sockets in one chain: each is told once, in time that grows with their
# number and not with its square. Time is virtual, and counts instructions.
#
# guest: stock
# guest-append: ipv6.disable=1
# guest-options: --virtual-time
# timeout: 120
import os
import resource
import socket
import struct
import sys
import time
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

A = ktap.later("A")


def setup():
    ktap.net6_load()
    A.make()


def dump(ns, protocol):
    """Inodes that sock_diag tells of, and the seconds that it took the kernel."""
    with ns:
        diag = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
    diag.send(struct.pack("=IHHII", 72, 20, 0x301, 1, 0) +
              struct.pack("=BBBBI", socket.AF_INET6, protocol, 0, 0, 0xffffffff) + bytes(48))
    inodes, seconds = [], 0
    while True:
        start = time.monotonic()
        data = diag.recv(1 << 16)
        seconds += time.monotonic() - start
        while data:
            length, kind = struct.unpack_from("=IH", data)
            if kind == 3:
                diag.close()
                return inodes, seconds
            ktap.equal(kind, 20, "type of message")
            inodes.append(struct.unpack_from("=I", data, 16 + 68)[0])
            data = data[(length + 3) & ~3:]


def crowd(kind, n):
    """Sockets in one chain of net6's tables: so many ports with one hash value."""
    protocol = socket.IPPROTO_ICMPV6 if kind == socket.SOCK_RAW else 0
    made = []
    for i in range(n):
        with A:
            s = socket.socket(socket.AF_INET6, kind, protocol)
        made.append(s)
        if kind == socket.SOCK_RAW:
            continue
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.bind(("::", 1024 * (1 + i % 50)))
        if kind == socket.SOCK_STREAM:
            s.listen(1)
    return made


@ktap.test
def many_sockets_are_each_told_once_with_work_in_proportion():
    resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 15, 1 << 15))
    for kind, protocol in ((socket.SOCK_STREAM, socket.IPPROTO_TCP),
                           (socket.SOCK_DGRAM, socket.IPPROTO_UDP),
                           (socket.SOCK_RAW, socket.IPPROTO_RAW)):
        pace = []
        for n in (1000, 8000):
            made = crowd(kind, n)
            least = None
            for _ in range(3):
                told, seconds = dump(A, protocol)
                least = min(least or seconds, seconds)
            # Connections in TIME-WAIT have no inode.
            ktap.true(sorted(filter(None, told)) == sorted(os.fstat(s.fileno()).st_ino
                                                           for s in made),
                      f"{kind.name}: of {n} sockets {len(told)} told, each once")
            for s in made:
                s.close()
            pace.append(least / n)
            ktap.diag(f"{kind.name}: {n} in {least * 1000:.0f} ms")
        ktap.true(pace[1] < 3 * pace[0], "a socket costs not ever more")


ktap.main(setup)
