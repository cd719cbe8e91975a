#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Prefixes of NAT64 that routers tell (RFC 8781): which are taken, for how long, and who withdraws
# them. What translators make of them is not looked at.
#
#	A [a0 net6] ------ [b0 raw frames, several routers] B
#
# guest: stock+
# timeout: 90
# pylint: disable=missing-function-docstring

import json
import os
import select
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import nd    # pylint: disable=wrong-import-position

A, B, wire = nd.ends()
R1, R2 = "fe80::1", "fe80::2"
CODES = {96: 0, 64: 1, 56: 2, 48: 3, 40: 4, 32: 5}
MOST = 8
SHORT = 8       # seconds; one unit, the shortest that can be told


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")


def option(prefix, code=0, lifetime=600, units=2):
    data = struct.pack("!BBH", 38, units, lifetime & 0xfff8 | code) + nd.packed(prefix)[:12]
    return (data + bytes(8 * units))[:8 * units]


def advertise(*options, router=R1):
    """Its effect is there when this returns."""
    wire.send(nd.ra(router, lifetime=1800, options=b"".join(options)))
    address = nd.linklocal(A)
    wire.send(nd.ns(wire.linklocal, address, slla=wire.mac))
    wire.expect(lambda f: f.type == nd.NA and f.target == address, "answer")


def fresh():
    A.down("a0")
    ktap.equal(nd.show(A, "pref64"), [], "all go with the link")
    wire.flush()
    A.up("a0")
    nd.linklocal(A)


def told(what="address"):
    return [p[what] for p in nd.show(A, "pref64")]


@ktap.test
def every_length_that_there_is():
    fresh()
    for plen, code in CODES.items():
        advertise(option("2001:db8:ffff:ffff:ff:ffff::", code))
        seen = nd.show(A, "pref64")[-1]
        ktap.equal((seen["prefix_len"], seen["router"], seen["dev"]), (plen, R1, "a0"), f"/{plen}")
    ktap.equal(told(), ["2001:db8:ffff:ffff:ff:ffff::", "2001:db8:ffff:ffff::",
                        "2001:db8:ffff:ff00::", "2001:db8:ffff::", "2001:db8:ff00::",
                        "2001:db8::"], "bits beyond the length are cleared")


@ktap.test
def what_is_none_is_ignored():
    fresh()
    advertise(option("64:ff9b::", 6), option("64:ff9b::", 7), option("64:ff9b::", units=1),
              option("64:ff9b::", units=3), option("ff0e::"), option("fe80::", 1),
              option("2001:db8::100:0:0:0"), option("2001:db8:1::", lifetime=0))
    ktap.equal(told(), [], "length codes, sizes, groups, link-local prefixes, octet 8")
    advertise(option("64:ff9b::"))
    ktap.equal(told(), ["64:ff9b::"], "the well-known prefix")


@ktap.test
def a_lifetime_is_in_units_of_eight_seconds():
    fresh()
    late = 15 * ktap.SCALE
    advertise(option("64:ff9b::", lifetime=65528))
    ktap.true(65528 - late <= told("lifetime")[0] <= 65528, "the longest")
    advertise(option("64:ff9b::", lifetime=1800))
    ktap.true(1800 - late <= told("lifetime")[0] <= 1800, "renewed")
    nd.net6ctl(A, "set", "dev", "a0", "accept-ra-min-lft", "601")
    advertise(option("64:ff9b::", lifetime=600), option("2001:db8:1::", lifetime=600))
    ktap.equal(told(), ["64:ff9b::"], "one that is too short is not taken")
    ktap.true(told("lifetime")[0] > 600, "nor does it shorten another")
    nd.net6ctl(A, "set", "dev", "a0", "accept-ra-min-lft", "0")


@ktap.test
def a_router_withdraws_its_own():
    fresh()
    advertise(option("64:ff9b::"), option("2001:db8:1::", 3))
    advertise(option("64:ff9b::"), router=R2)
    ktap.equal(len(told()), 3, "two of one, one of another")
    advertise(option("64:ff9b::", lifetime=0))
    ktap.equal([(p["address"], p["router"]) for p in nd.show(A, "pref64")],
               [("2001:db8:1::", R1), ("64:ff9b::", R2)], "the first router's is gone")
    advertise(option("2001:db8:1::", 4, lifetime=0))
    ktap.equal(len(told()), 2, "one of another length is another")


@ktap.test
def their_number_is_bounded():
    fresh()
    before = nd.counter(A, "NdPref64Limit")
    advertise(*(option(f"2001:db8:{n:x}::", 3) for n in range(1, 60)))
    ktap.equal(len(told()), MOST, "what is kept")
    ktap.equal(nd.counter(A, "NdPref64Limit") - before, 59 - MOST, "what is not")
    advertise(option("2001:db8:1::", 3, lifetime=0), option("64:ff9b::"))
    ktap.true("64:ff9b::" in told(), "there is room again")


@ktap.test
def it_is_told_and_ends():
    fresh()
    with subprocess.Popen([nd.NET6CTL, "-N", A.name, "-j", "monitor"],
                          stdout=subprocess.PIPE) as monitor:
        ktap.at_exit(monitor.kill)
        said = b""

        def heard(wanted):
            """What the monitor has said, line by line; until it listens, that is told again."""
            nonlocal said
            if select.select([monitor.stdout], [], [], 0.3)[0]:
                said += os.read(monitor.stdout.fileno(), 65536)
            elif wanted == "new":
                advertise(option("64:ff9b::", lifetime=0), option("64:ff9b::", lifetime=SHORT))
            return [e for line in said.split(b"\n")[:-1] for e in [json.loads(line)]
                    if e["object"] == "pref64" and e["event"] == wanted]
        event = ktap.wait_for(20, "it is new", lambda: heard("new"))[-1]
        ktap.equal((event["address"], event["prefix_len"], event["router"], event["dev"]),
                   ("64:ff9b::", 96, R1, "a0"), "what is said")
        ended = len(heard("del"))
        ktap.wait_for(SHORT + 15, "it is over", lambda: len(heard("del")) > ended)
        monitor.kill()
    ktap.equal(told(), [], "what is left")


@ktap.test
def who_is_no_host_believes_none():
    fresh()
    advertise(option("64:ff9b::"))
    nd.net6ctl(A, "set", "dev", "a0", "forwarding", "1")
    ktap.equal(told(), [], "a router's")
    advertise(option("64:ff9b::"))
    ktap.equal(told(), [], "told to a router")
    nd.net6ctl(A, "set", "dev", "a0", "accept-ra", "2")
    advertise(option("64:ff9b::"))
    ktap.equal(told(), ["64:ff9b::"], "to a router that is a host here")
    nd.net6ctl(A, "set", "dev", "a0", "forwarding", "0")
    nd.net6ctl(A, "set", "dev", "a0", "accept-ra", "1")


ktap.main(setup)
