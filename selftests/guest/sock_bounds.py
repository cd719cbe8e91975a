#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a user makes long with UDP sockets of one address and port: each datagram that could be for
# any of them asks them all, on Linux too. What one more costs is compared.
# In virtual time, where time is instructions.
#
#	[ one namespace: net6 on the pseudo-loopback, native IPv6 on lo ]
#
# guest: stock
# guest-options: --virtual-time
# timeout: 200
import os
import resource
import select
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

FEW, MANY, BATCHES, CALLS = 20, 1000, 20, 10
PORT, GROUP = 7000, "ff15::7"
LINK = {"net6": 1, "native": None}	# where groups are: what is sent there is looped back
IPV6_MULTICAST_ALL = 29
STACKS = {"net6": lambda: ktap.net6_socket(socket.SOCK_DGRAM),
          "native": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)}


def setup():
    ktap.run("ip", "link", "set", "lo", "up")
    ktap.kmod("dummy")
    ktap.run("ip", "link", "add", "d0", "type", "dummy")
    ktap.run("ip", "link", "set", "d0", "up")
    LINK["native"] = socket.if_nametoindex("d0")
    ktap.net6_load()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * MANY, 4 * MANY))


def opened(stack, address, options):
    sock = STACKS[stack]()
    for level, option, value in options:
        sock.setsockopt(level, option, value)
    sock.bind((address, PORT, 0, 0))
    return sock


def receivers(socks):
    found = []
    for start in range(0, len(socks), 500):
        found += select.select(socks[start:start + 500], [], [], 0.05)[0]
    return found


def cost(stack, number, bound, dest, options, join):
    """Of a datagram where @number sockets are bound alike; the last one may join the group."""
    socks = [opened(stack, bound, options) for _ in range(number)]
    if join:
        socks[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                             socket.inet_pton(socket.AF_INET6, dest)
                             + struct.pack("i", LINK[stack]))
    with STACKS[stack]() as sender:
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, LINK[stack])
        sender.sendto(b"x", (dest, PORT, 0, 0))
        takes = receivers(socks)
        ktap.equal(len(takes), 1, f"{stack}: sockets that get it")

        def once():
            sender.sendto(b"x", (dest, PORT, 0, 0))
            takes[0].recv(1)
        takes[0].recv(1)
        took = ktap.least(once, BATCHES, CALLS)
    for sock in socks:
        sock.close()
    return took


def compared(what, most, *args):
    more = {}
    for stack in STACKS:
        few, many = (cost(stack, number, *args) for number in (FEW, MANY))
        more[stack] = (many - few) / (MANY - FEW)
        ktap.diag(f"{what}, {stack}: {few:.0f} ns with {FEW}, {many:.0f} ns with {MANY}, "
                  f"{more[stack]:.1f} for each")
    ktap.true(more["net6"] < max(most * more["native"], 1),
              f"{what}: {more['net6']:.1f} ns for each, native {more['native']:.1f}")


@ktap.test
def sockets_of_one_address_and_port():
    compared("one address and port", 1.1, "::1", "::1",
             ((socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),), False)


@ktap.test
def sockets_of_one_reuseport_group():
    # Each sender has a port of its own, which chooses one of them.
    compared("one SO_REUSEPORT group", 1.1, "::1", "::1",
             ((socket.SOL_SOCKET, socket.SO_REUSEPORT, 1),), False)


@ktap.test
def sockets_of_a_groups_port_that_have_not_joined_it():
    compared("a group's port", 1.4, "::", GROUP,
             ((socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
              (socket.IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0)), True)


ktap.main(setup)
