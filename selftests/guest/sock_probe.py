#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# MSG_PROBE and MSG_CONFIRM: the former sends nothing (but for echo sockets, which ignore it),
# the latter says that the next hop is alive, with a datagram or without one.
#
#	A [a0] ------ [b0] B		(lib/netpair.py): both stacks do the same
#	C [a0 net6] ------ [b0 raw frames] D
#
# guest: both
# timeout: 60
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd
import netpair as p
from ktap import failing

UDP, RAW, ICMP6 = socket.SOCK_DGRAM, socket.SOCK_RAW, socket.IPPROTO_ICMPV6
CONFIRM, MORE, PROBE = 0x800, socket.MSG_MORE, 0x10
PROTO = 253		# RFC 3692: for experiments
OURS = "fd02::6"
C, D, wire = nd.ends("CD")


def setup():
    p.setup()
    p.A.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 0")
    nd.cable(C, D, wire)
    nd.net6ctl(C, "add", "address", OURS + "/64", "dev", "a0")
    ktap.wait_for(15, OURS + " is preferred",
                  lambda: (nd.find(C, "addresses", OURS) or {}).get("state") == "preferred")


def whole(payload, source, destination):
    return nd.ipv6(source, destination, PROTO, payload)


def echo(number):
    return struct.pack("!BBHHH", 128, 0, 0, 0, number)


def kinds(make, source):
    """(name, a socket, a reader in B, its address, a first and a second message)"""
    with p.B:
        there = socket.socket(socket.AF_INET6, RAW, PROTO)
    there.settimeout(10 * ktap.SCALE)
    far = p.native(ns=p.B)
    far.bind((p.NATIVE_B, 0))
    yield "UDP", make(UDP), far, far.getsockname(), b"first", b"second"
    yield "raw", make(RAW, PROTO), there, (p.NATIVE_B, 0), b"first", b"second"
    yield ("whole", make(RAW, socket.IPPROTO_RAW), there, (p.NATIVE_B, 0),
           whole(b"first", source, p.NATIVE_B), whole(b"second", source, p.NATIVE_B))
    us = make(UDP, ICMP6)
    yield "echo", us, us, (p.NATIVE_B, 0), echo(1), echo(2)


@ktap.test
def a_probe_sends_nothing():
    results = []
    for make, source in ((p.native, p.NATIVE_A), (p.net6, p.NET6_A)):
        out = []
        for name, us, far, where, first, second in kinds(make, source):
            for flags in (PROBE, PROBE | CONFIRM, PROBE | MORE):
                out.append((name, flags, failing(us.sendto, first, flags, where)))
            out += [failing(us.sendto, second, 0, where), far.recv(100)[-2:]]
            out += [failing(us.sendto, first, PROBE, ("2001:db8::1", where[1]))]
            us.close()
        results.append(out)
    ktap.equal(results[1], results[0], "results")


def state(address):
    return (nd.find(C, "neighbors", address) or {}).get("state")


def doubted(number):
    """A neighbor that has solicited us, and was answered; it will be asked in 5 seconds."""
    address = f"fd02::{number:x}"
    wire.flush()
    wire.send(nd.ns(address, OURS, slla=wire.mac))
    wire.expect(lambda f: f.type == nd.NA and f.target == OURS, "answer")
    ktap.equal(state(address), "delay", "before")
    return address


@ktap.test
def who_confirms_has_a_reachable_neighbor():
    number = 0x100
    for kind, proto, message in ((UDP, 0, b""), (UDP, 0, b"data"), (RAW, PROTO, b"data"),
                                 (UDP, ICMP6, echo(7))):
        for flags in (CONFIRM, CONFIRM | PROBE):
            number += 1
            address = doubted(number)
            with p.net6(kind, proto, ns=C) as sock:
                where = (address, 0 if kind == RAW or proto else 9)
                ktap.equal(sock.sendto(message, flags, where), len(message), "sent")
            ktap.equal(state(address), "reachable", f"after {kind}, {proto}, flags {flags:#x}")


ktap.main(setup=setup)
