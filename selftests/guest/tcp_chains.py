#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a segment costs does not grow with listeners of one SO_REUSEPORT group. In virtual time,
# where time is instructions.
#
#	[ one namespace: net6 on the pseudo-loopback ]
#
# guest: stock
# guest-options: --virtual-time
# timeout: 200
# pylint: disable=missing-function-docstring
import os
import resource
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

MANY, BATCHES, TIMES = 1000, 20, 10
PORT = 7000


def setup():
    ktap.run("ip", "link", "set", "lo", "up")
    ktap.net6_load()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * MANY, 4 * MANY))
    with open("/proc/sys/net/core/somaxconn", "w", encoding="ascii") as file:
        file.write("4096")


def least(operation):
    """Nanoseconds of virtual time for one: the least of many batches."""
    took = []
    for _ in range(BATCHES):
        start = time.perf_counter_ns()
        for _ in range(TIMES):
            operation()
        took.append((time.perf_counter_ns() - start) / TIMES)
    return min(took)


def flat(few, many, what):
    ktap.true(many < few * 1.1, f"{what}: {few:.0f} ns with few, {many:.0f} ns with many")


def listener(port, *options):
    sock = ktap.net6_socket()
    for option, value in options:
        sock.setsockopt(socket.SOL_SOCKET, option, value)
    sock.bind(("::1", port))
    sock.listen(4096)
    return sock


def connects(port):
    """Connections that are made and ended; nobody accepts them."""
    def once():
        sock = ktap.net6_socket()
        sock.connect(("::1", port))
        sock.close()
    return least(once)


@ktap.test
def listeners_of_one_group():
    for what, first in (("group", ()), ("one with a device, and a group without",
                                        ((socket.SO_BINDTODEVICE, b"lo"),))):
        cost = {}
        for number in (2, MANY):
            group = (socket.SO_REUSEPORT, 1)
            made = [listener(PORT, group, *first)]
            made += [listener(PORT, group) for _ in range(number - 1)]
            cost[number] = connects(PORT)
            for sock in made:
                sock.close()
        flat(cost[2], cost[MANY], what)


ktap.main(setup)
