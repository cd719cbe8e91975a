#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a segment costs does not grow with listeners of one SO_REUSEPORT group, nor with
# connections whose names are much alike: one peer, the same ports, local addresses that differ in
# their middle only. What a bind() costs does not grow with the connections of a server that ended.
# In virtual time, where time is instructions.
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

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nl

MANY, ALIKE, BATCHES, TIMES = 1000, 400, 20, 10
PORT, PEER_PORT = 7000, 7001


def setup():
    ktap.run("ip", "link", "set", "lo", "up")
    ktap.net6_load()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * MANY, 4 * MANY))
    with open("/proc/sys/net/core/somaxconn", "w", encoding="ascii") as file:
        file.write("4096")


def least(operation):
    return ktap.least(operation, BATCHES, TIMES)


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


def address(number):
    return f"fd00:0:{number:x}::1"


def add_addresses():
    family = nl.Family()
    for number in range(1, ALIKE + 1):
        family.request("addr-add", family.encode(
            "addr-add", ifindex=1, address=socket.inet_pton(socket.AF_INET6, address(number)),
            prefix_len=128))


def pair(server, number):
    """A connection to one of the addresses, always from the same port."""
    client = ktap.net6_socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    client.bind(("::1", PEER_PORT))
    client.connect((address(number), PORT))
    return client, server.accept()[0]


@ktap.test
def connections_much_alike():
    add_addresses()
    server = ktap.net6_socket()
    server.bind(("::", PORT))
    server.listen(4096)
    pairs = [pair(server, 1)]

    def echo():
        for one, two in (pairs[0], pairs[0][::-1]):
            one.send(b"x")
            two.recv(1)

    echo()
    few = least(echo)
    pairs += [pair(server, number) for number in range(2, ALIKE + 1)]
    flat(few, least(echo), f"{ALIKE} connections")


@ktap.test
def connections_of_a_server_that_ended():
    reuse = (socket.SO_REUSEADDR, 1)

    def once():
        sock = ktap.net6_socket()
        sock.setsockopt(socket.SOL_SOCKET, *reuse)
        sock.bind(("::1", PORT))
        sock.close()

    cost = {}
    for number in (2, MANY):
        server = listener(PORT, reuse)
        pairs = []
        for _ in range(number):
            client = ktap.net6_socket()
            client.connect(("::1", PORT))
            pairs += [client, server.accept()[0]]
        server.close()
        cost[number] = least(once)
        for sock in pairs:
            sock.close()
    flat(cost[2], cost[MANY], "bind() with SO_REUSEADDR")


ktap.main(setup)
