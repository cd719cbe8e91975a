#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a node on the link, and a user who joins groups, can make long: what timers do, what a join
# costs, and the choice of a source. Where the cost grows, it is shown by how much for each. In
# virtual time, where time is instructions.
#
#	A [a0 net6] ------ [b0 raw frames] B
#
# guest: stock
# guest-options: --virtual-time
# timeout: 240
import itertools
import os
import resource
import socket
import struct
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import mld
import nd
import nl

BATCHES, CALLS = 20, 10
ROUTERS, ADDRESSES, ROUTES, ALIKE, GROUPS, LEFT, HEADERS, KEPT = (
    16, 1000, 4000, 64, 4000, 240, 150, 4000)
TRACE = "/sys/kernel/tracing"
MAC = "02:00:00:00:0a:01"
FORWARDED = "2001:db8:ffff::1"
A, B, wire = nd.ends()
shared = types.SimpleNamespace()
numbers = itertools.count(1)


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire, mac_a=MAC)
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")
    nd.net6ctl(A, "add", "address", "fd00::a/64", "dev", "a0")
    nd.net6ctl(A, "add", "neighbor", "fe80::b", "lladdr", wire.mac, "dev", "a0")
    nd.net6ctl(A, "add", "route", "default", "via", "fe80::b", "dev", "a0")
    nd.net6ctl(A, "set", "limits", "max-dests", "64")
    shared.index = nd.interface(A, "a0")["ifindex"]
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    write(f"{TRACE}/buffer_size_kb", "4096")
    for event in ("timer_expire_entry", "timer_expire_exit"):
        write(f"{TRACE}/events/timer/{event}/enable", "1")
    write(f"{TRACE}/tracing_on", "0")


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(value)


def timer(function, seconds, cause):
    """How long a timer's function ran at most, so many seconds from @cause on: nanoseconds."""
    write(f"{TRACE}/trace", "")
    write(f"{TRACE}/tracing_on", "1")
    cause()
    time.sleep(seconds)
    write(f"{TRACE}/tracing_on", "0")
    began, most = None, 0
    with open(f"{TRACE}/trace", encoding="ascii") as file:
        for line in file:
            at = next((w for w in line.split() if w[:-1].replace(".", "").isdigit()
                       and w[-1] == ":"), None)
            if "timer_expire_entry" in line and f"function={function}" in line:
                began = float(at[:-1])
            elif "timer_expire_exit" in line and began is not None:
                most, began = max(most, float(at[:-1]) - began), None
    ktap.true(most, f"{function} has run")
    return most * 1e9


def thrice(measure):
    """The least of three: one may have a tick in it."""
    return min(measure() for _ in range(3))


def routes(count):
    for number in range(count):
        yield {"ifindex": shared.index, "address": nl.address(f"2001:db9:{number:x}::"),
               "prefix_len": 48, "gateway": nl.address("fe80::b")}


def tell(router="fe80::c", lifetime=1800, prefixes=()):
    """An advertisement of a router, or several for many prefixes."""
    prefixes = list(prefixes)
    while True:
        some, prefixes = prefixes[:40], prefixes[40:]
        wire.send(nd.ra(router, lifetime=lifetime, options=nd.lladdr_option(
            nd.SLLA, "02:00:00:00:00:0c") + b"".join(
                nd.prefix_option(prefix, flags=flags, valid=valid, preferred=valid)
                for prefix, flags, valid in some)))
        if not prefixes:
            return


@ktap.test
def ends_of_lifetimes_where_much_is_set_by_hand_and_told():
    """Two prefixes end; the others have longer to live, or for ever."""
    def ending():
        return timer("net6_nd_life_fn", 3, lambda: tell(prefixes=[
            ("2001:dbe::", 0x80, 1), ("2001:dbf::", 0x80, 1)]))
    nd.net6ctl(A, "set", "limits", "max-prefixes", "4096")
    few = thrice(ending)
    nd.admin(A, "route-add", routes(ROUTES))
    tell(prefixes=[(f"2001:db8:{n:x}::", 0, 3600) for n in range(KEPT)])
    ktap.true(len(nd.show(A, "routes")) >= ROUTES, "routes")
    ktap.flat(few, thrice(ending), f"ends, with {ROUTES} routes and {KEPT} told prefixes", 1.5)
    nd.admin(A, "route-del", routes(ROUTES))
    tell(lifetime=0)


def to_new_destinations(prefix):
    """What a datagram to an address costs that nothing was sent to."""
    with A, ktap.net6_socket(socket.SOCK_DGRAM) as sock:
        def send():
            number = next(numbers)
            sock.sendto(b"x", (f"{prefix}:{number >> 16:x}:{number & 0xffff:x}::1", 9))
        return ktap.least(send, BATCHES, CALLS, wire.flush)


@ktap.test
def a_new_destination_where_as_many_default_routers_are_learned_as_may_be():
    few = to_new_destinations("2001:dbc")
    for number in range(ROUTERS):
        tell(f"fe80::c:{number:x}")
    ktap.equal(len(nd.show(A, "routers")), ROUTERS + 1, "routers")
    ktap.each(few, to_new_destinations("2001:dbc"), ROUTERS, "a new destination, of routers", 500)
    for number in range(ROUTERS):
        tell(f"fe80::c:{number:x}", lifetime=0)


@ktap.test
def a_learned_route_where_as_many_are_of_its_prefix_as_may_be_learned():
    """Those through other routers, all as good."""
    prefix = nd.packed("2001:dbd::")
    packets = [nd.ra("fe80::d", lifetime=0, options=struct.pack(
        "!BBBBI", 24, 3, 48, 0, lifetime) + prefix) for lifetime in (1800, 0)]

    def told():
        for packet in packets:
            wire.send(packet)
    few = ktap.least(told, BATCHES, CALLS, wire.flush)
    others = [{"ifindex": shared.index, "address": prefix, "prefix_len": 48,
               "gateway": nl.address(f"fe80::d:{n:x}")} for n in range(ALIKE)]
    nd.admin(A, "route-add", others)
    before = nd.counter(A, "NdRouteLimit")
    many = ktap.least(told, BATCHES, CALLS, wire.flush)
    ktap.each(few, many, ALIKE, "a route of the prefix", 100)
    ktap.equal(nd.counter(A, "NdRouteLimit"), before, "none refused")
    nd.admin(A, "route-del", others)


@ktap.test
def a_source_where_as_many_addresses_are_learned_as_may_be():
    def chosen():
        return to_new_destinations("2001:dba")

    def learn(first, last):
        tell(prefixes=[(f"2001:db8:{n:x}::", 0x40, 3600) for n in range(first, last)], lifetime=0)
        ktap.wait_for(20, f"{last} addresses", lambda: len(nd.of_origin(A, "slaac")) == last)
    few = chosen()
    learn(0, 16)
    ktap.each(few, chosen(), 16, "a source, of as many as may be by default", 800)
    nd.net6ctl(A, "set", "limits", "max-addrs", str(ADDRESSES))
    learn(16, ADDRESSES)
    ktap.each(few, chosen(), ADDRESSES, "a source", 800)


def membership(number):
    return socket.inet_pton(socket.AF_INET6, f"ff15::{number >> 16:x}:{number & 0xffff:x}") \
        + struct.pack("i", shared.index)


def change(sock, option, number):
    sock.setsockopt(socket.IPPROTO_IPV6, option, membership(number))


def members(first, last):
    """Sockets that have joined these groups."""
    made = []
    for number in range(first, last):
        if (number - first) % 20 == 0:
            made.append(ktap.net6_socket(socket.SOCK_DGRAM, 0, A))
        change(made[-1], socket.IPV6_JOIN_GROUP, number)
    return made


def left():
    """Groups that were left of late, and are told of seven times. Those of before are forgotten."""
    time.sleep(0.2)
    for sock in members(0, LEFT):
        sock.close()


@ktap.test
def a_join_where_as_many_groups_were_left_as_are_told_of():
    A.run("sysctl", "-q", "-w", "net.net6.conf.a0.mldv2_unsolicited_report_interval=1")
    wire.send(mld.query("fe80::b", robustness=7))
    with ktap.net6_socket(socket.SOCK_DGRAM, 0, A) as sock:
        def once():
            number = 0x100000 + next(numbers)
            change(sock, socket.IPV6_JOIN_GROUP, number)
            change(sock, socket.IPV6_LEAVE_GROUP, number)
        few = ktap.least(once, BATCHES, CALLS)
        limit = nd.counter(A, "MldLeaveLimit")
        many = ktap.least(once, BATCHES, CALLS, left)
        ktap.equal(nd.counter(A, "MldLeaveLimit"), limit, "groups beyond what is told of")
    ktap.flat(few, many, f"a join, with {LEFT} groups left")


@ktap.test
def what_a_querier_asks_for_where_there_are_many_groups():
    """A group, by its own query: the timer finds it among many."""
    nd.net6ctl(A, "set", "limits", "max-groups", "8192")

    def asked():
        return timer("net6_mld_timer_fn", 0.1, lambda: wire.send(
            mld.query("fe80::b", "ff15::1", delay=0)))

    def changed():
        with ktap.net6_socket(socket.SOCK_DGRAM, 0, A) as sock:
            return timer("net6_mld_timer_fn", 0.1, lambda: change(
                sock, socket.IPV6_JOIN_GROUP, 0x100000))
    made = members(0, 20)
    time.sleep(1)
    few = thrice(asked), thrice(changed)
    made += members(20, GROUPS)
    time.sleep(3)
    many = thrice(asked), thrice(changed)
    ktap.flat(few[0], many[0], f"a query for a group, of {GROUPS}", 1.5)
    ktap.flat(few[1], many[1], f"a change of a group, of {GROUPS}", 1.5)
    for sock in made:
        sock.close()


@ktap.test
def an_error_about_a_packet_of_many_headers():
    """Time Exceeded, about headers of eight octets each. A router does not look at them otherwise."""
    nd.net6ctl(A, "set", "dev", "a0", "forwarding", "on")
    nd.net6ctl(A, "set", "limits", "icmp-rate", "1000000")
    options = bytes([60, 0, 1, 4, 0, 0, 0, 0])

    def cost(headers, hlim=1):
        end = bytes([59]) + options[1:]
        packet = nd.ipv6(f"2001:dbb::{next(numbers):x}", FORWARDED, 60,
                         options * (headers - 1) + end + bytes(8 * (HEADERS - headers)), hlim)
        frame = nd.mac_bytes(MAC) + nd.mac_bytes(wire.mac) + b"\x86\xdd" + packet
        return ktap.least(lambda: wire.sock.send(frame), BATCHES, 1, wire.flush)
    ktap.each(cost(1), cost(HEADERS), HEADERS - 1, "an error", 200)


ktap.main(setup)
