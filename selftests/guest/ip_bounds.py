#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Tables that strangers and users fill: what an operation costs when the bound is reached is what it
# costs at a small bound. In virtual time, where time is instructions.
#
#	A [a0 net6] ------ [b0 raw frames] B
#
# guest: stock
# guest-options: --virtual-time
# timeout: 200
import itertools
import os
import resource
import socket
import struct
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd
import nl

BATCHES, CALLS = 20, 20
FEW, NEIGHBORS, DESTINATIONS, GROUPS, PREFIXES = 16, 1024, 4096, 4000, 4000
MAC = "02:00:00:00:0a:01"
A, B, wire = nd.ends()
shared = types.SimpleNamespace(sockets=[])
numbers = itertools.count(1)


def least(call):
    return ktap.least(call, BATCHES, CALLS, wire.flush)


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire, mac_a=MAC)
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")
    nd.net6ctl(A, "add", "address", "fd00::a/64", "dev", "a0")
    shared.ours = nd.linklocal(A)
    shared.index = nd.interface(A, "a0")["ifindex"]
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))


def count(what):
    return len(nd.show(A, what))


def solicitations(count_of):
    """Frames of neighbors that are new: who solicits our address is remembered. They are made
    beforehand, for that takes longer than what is measured.
    """
    ethernet = nd.mac_bytes(MAC) + nd.mac_bytes(wire.mac) + b"\x86\xdd"
    for number in [next(numbers) for _ in range(count_of)]:
        yield ethernet + nd.ns(f"fe80::{number >> 16:x}:{number & 0xffff:x}:1", shared.ours,
                               shared.ours, slla="02:00:00:00:0b:01")


def limited(name, bound, call, what):
    """Cost of @call when a table has as many as @bound says."""
    nd.net6ctl(A, "set", "limits", name, str(bound))
    for _ in range(bound + FEW):
        call()
    ktap.true(count(what) >= bound, f"{what}: {count(what)} of {bound}")
    return least(call)


@ktap.test
def a_new_neighbor_where_there_are_as_many_as_may_be():
    frames = iter(list(solicitations(FEW + NEIGHBORS + 2 * (FEW + BATCHES * CALLS))))

    def solicit():
        wire.sock.send(next(frames))
    few = limited("max-neighs", FEW, solicit, "neighbors")
    ktap.flat(few, limited("max-neighs", NEIGHBORS, solicit, "neighbors"), "a new neighbor")


def among_those_set_by_hand(by_hand, others):
    """All that are made count: one may be evicted by a long search, but the others are not."""
    frames = iter(list(solicitations(2 * (NEIGHBORS + others))))

    def solicit():
        wire.sock.send(next(frames))

    def many():
        return ktap.least(solicit, 1, NEIGHBORS, wire.flush)
    nd.net6ctl(A, "set", "limits", "max-neighs", str(others))
    for _ in range(others // 2):
        solicit()
    few = many()
    nd.net6ctl(A, "set", "limits", "max-neighs", str(by_hand + others))
    made = [{"ifindex": shared.index, "address": nl.address(f"fd00::{n:x}:2")}
            for n in range(by_hand)]
    nd.admin(A, "neigh-add", [{**one, "lladdr": nd.mac_bytes(wire.mac)} for one in made])
    for _ in range(others // 2):
        solicit()
    ktap.flat(few, many(), f"a new neighbor, where {by_hand} are set by hand")
    nd.admin(A, "neigh-del", made)


@ktap.test
def a_new_neighbor_where_half_are_set_by_hand():
    among_those_set_by_hand(NEIGHBORS // 2, NEIGHBORS // 2)


@ktap.test
def a_new_neighbor_where_nearly_all_are_set_by_hand():
    among_those_set_by_hand(NEIGHBORS, FEW)


@ktap.test
def a_new_destination_where_there_are_as_many_as_may_be():
    nd.net6ctl(A, "add", "neighbor", "fe80::b", "lladdr", wire.mac, "dev", "a0")
    nd.net6ctl(A, "add", "route", "default", "via", "fe80::b", "dev", "a0")
    with A, ktap.net6_socket(socket.SOCK_DGRAM) as sock:
        def send():
            number = next(numbers)
            sock.sendto(b"x", (f"2001:db8:{number >> 16:x}:{number & 0xffff:x}::1", 9))
        few = limited("max-dests", FEW, send, "destinations")
        ktap.flat(few, limited("max-dests", DESTINATIONS, send, "destinations"), "a new destination")
    nd.net6ctl(A, "del", "route", "default", "via", "fe80::b", "dev", "a0")


def advertise(router, mac, prefixes):
    """A default router tells prefixes, which are neither on-link nor for addresses."""
    while prefixes:
        some, prefixes = prefixes[:40], prefixes[40:]
        wire.send(nd.ra(router, options=nd.lladdr_option(nd.SLLA, mac) + b"".join(
            nd.prefix_option(prefix, flags=0) for prefix in some)))


@ktap.test
def an_answer_where_routers_have_told_as_many_prefixes_as_they_may():
    nd.net6ctl(A, "set", "limits", "max-prefixes", "4096")
    nd.net6ctl(A, "add", "address", "2001:db8:ffff::a/64", "dev", "a0")
    packet = nd.echo("2001:db8:eeee::1", "2001:db8:ffff::a")
    others = [f"2001:db8:{n:x}::" for n in range(PREFIXES)]

    def answered():
        for _ in range(FEW):
            wire.send(packet)
        wire.flush()
        wire.send(packet)
        wire.expect(lambda f: f.type == nd.REPLY, "answer")
        return least(lambda: wire.send(packet))
    advertise("fe80::2", "02:00:00:00:00:02", others[:1])
    advertise("fe80::1", "02:00:00:00:00:01", ["2001:db8:ffff::"])
    ktap.equal(count("routers"), 2, "routers")
    few = answered()
    advertise("fe80::2", "02:00:00:00:00:02", others)
    advertise("fe80::1", "02:00:00:00:00:01", [o.replace("db8", "db9") for o in others])
    ktap.flat(few, answered(), f"an answer, with {PREFIXES} prefixes told by each of two routers")


def membership(number):
    return socket.inet_pton(socket.AF_INET6, f"ff15::{number >> 16:x}:{number & 0xffff:x}") \
        + struct.pack("i", shared.index)


def member(count_of, first):
    """Sockets that have joined so many groups."""
    made = []
    for number in range(first, first + count_of):
        if (number - first) % 20 == 0:
            made.append(ktap.net6_socket(socket.SOCK_DGRAM, 0, A))
        made[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership(number))
    return made


def joins():
    """Joins a group and leaves it."""
    with ktap.net6_socket(socket.SOCK_DGRAM, 0, A) as sock:
        def once():
            name = membership(0x100000)
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, name)
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_LEAVE_GROUP, name)
        return least(once)


@ktap.test
def a_group_where_a_user_has_as_many_as_he_may():
    nd.net6ctl(A, "set", "limits", "max-groups", "8192")
    few = joins()
    made = member(GROUPS, 1)
    many = joins()
    ktap.flat(few, many, f"a group, with {GROUPS} more")
    for sock in made:
        sock.close()


ktap.main(setup)
