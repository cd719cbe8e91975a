#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Conformance of the neighbor cache: what each Neighbor Solicitation, Neighbor Advertisement,
# Router Advertisement and Redirect makes of an entry in each state, RFC 4861 7.2.3 to 7.2.5,
# 6.3.4, 8.3 and appendix C. Invalid ones make nothing of it. A case is a neighbor of its own; all
# neighbors of a state are brought there together.
#
#	A [a0 net6] ------ [b0 raw frames, a host a case] B
# guest: stock+
# timeout: 150

import itertools
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

OURS = "fd00::6"
ROUTER = "fe80::1"
STATES = ("none", "incomplete", "reachable", "stale", "probe")
A, B, wire = nd.ends()
serial = itertools.count(1)


class Case:
    """A message about a neighbor in a state, and what is to come of it."""

    def __init__(self, name, state, message, expected, lladdr="old", router=False):
        self.name, self.state, self.message = name, state, message
        # A packet that waited goes out through the entry: a stale one is in DELAY then.
        if (state, expected) == ("incomplete", "stale"):
            expected = "delay"
        self.expected, self.lladdr, self.router = expected, lladdr, router
        self.number = next(serial)
        self.address = f"fd00::1:{self.number:x}"
        if name.startswith(("RA", "Redirect")):
            self.address = f"fe80::1:{self.number:x}"
        self.old = f"02:00:00:01:{self.number >> 8:02x}:{self.number & 255:02x}"
        self.new = f"02:00:00:02:{self.number >> 8:02x}:{self.number & 255:02x}"

    def mac(self, which):
        return {"none": None, "same": self.old, "other": self.new}[which]

    def check(self):
        entry = entries.get(self.address)
        if self.expected == "absent":
            ktap.equal(entry and entry["state"], None, "state")
            return
        ktap.true(entry, "there is an entry")
        seen = entry["state"]
        # The delay of 5 s may be over on a loaded machine.
        ktap.equal("delay" if self.expected == "delay" and seen == "probe" else seen,
                   self.expected, "state")
        if self.expected not in ("none", "incomplete"):
            ktap.equal(entry["lladdr"], self.old if self.lladdr == "old" else self.new,
                       "link-layer address")
        ktap.equal("is-router" in entry["flags"], self.router, "IsRouter")


def advertisement(state, solicited, override, tlla, router):
    """RFC 4861 7.2.5: (state, link-layer address, IsRouter)."""
    if state == "none":
        return "absent", "old", False
    if state == "incomplete":
        if tlla == "none":
            return state, "old", False
        return ("reachable" if solicited else "stale"), \
            ("new" if tlla == "other" else "old"), router
    if tlla == "other" and not override:
        return ("stale" if state == "reachable" else state), "old", False
    lladdr = "new" if tlla == "other" else "old"
    if solicited:
        return "reachable", lladdr, router
    return ("stale" if tlla == "other" else state), lladdr, router


def advertisements():
    for state, s, o, tlla, r in itertools.product(STATES, (1, 0), (1, 0),
                                                  ("none", "same", "other"), (1, 0)):
        expected, lladdr, router = advertisement(state, s, o, tlla, r)
        flags = s * nd.SOLICITED | o * nd.OVERRIDE | r * nd.ROUTER
        yield Case(f"NA S={s} O={o} R={r} address {tlla}, entry {state}", state,
                   lambda c, flags=flags, tlla=tlla: nd.na(c.address, c.address, OURS, flags,
                                                           c.mac(tlla)),
                   expected, lladdr, bool(router))


def solicitations():
    for state, slla, multicast in itertools.product(STATES, ("none", "same", "other"), (1, 0)):
        if slla == "none":
            expected = "incomplete" if state == "none" else state
        elif state in ("none", "incomplete"):
            expected = "stale"
        else:
            expected = "stale" if slla == "other" else state
        # The answer is sent through the entry: a stale one then waits in DELAY.
        if expected == "stale":
            expected = "delay"
        yield Case(f"NS {'to the group' if multicast else 'to us'}, address {slla}, entry {state}",
                   state,
                   lambda c, slla=slla, dest=None if multicast else OURS:
                   nd.ns(c.address, OURS, dest, c.mac(slla)),
                   expected, "new" if slla == "other" else "old")


def router_advertisements():
    for state, slla in itertools.product(STATES, ("none", "same", "other")):
        if slla == "none":
            expected = "absent" if state == "none" else state
        elif state in ("none", "incomplete"):
            expected = "stale"
        else:
            expected = "stale" if slla == "other" else state
        # RFC 4861 6.3.4, appendix C: IsRouter is set where there is an entry.
        yield Case(f"RA lifetime 0, address {slla}, entry {state}", state,
                   lambda c, slla=slla: nd.ra(c.address, lifetime=0,
                                              options=nd.lladdr_option(nd.SLLA, c.mac(slla))),
                   expected, "new" if slla == "other" else "old", expected != "absent")


def about(case):
    return f"2001:db8:1::{case.number:x}"


def redirects():
    for state, tlla in itertools.product(STATES, ("none", "same", "other")):
        if tlla == "none":
            # RFC 4861 8.3: made, and its address asked for when it is needed.
            expected = "none" if state == "none" else state
        elif state in ("none", "incomplete"):
            expected = "stale"
        else:
            expected = "stale" if tlla == "other" else state
        yield Case(f"Redirect to a router, address {tlla}, entry {state}", state,
                   lambda c, tlla=tlla: nd.redirect(ROUTER, OURS, c.address, about(c),
                                                    c.mac(tlla)),
                   expected, "new" if tlla == "other" else "old", True)


class Suspect(Case):
    """A Redirect that must change nothing."""

    def __init__(self, name, message):
        super().__init__(f"Redirect invalid: {name}", "none", message, "absent")

    def check(self):
        super().check()
        ktap.equal(hops.get(about(self)), ROUTER, "next hop")


def suspects():
    def good(case, source=ROUTER, **more):
        return nd.redirect(source, OURS, more.pop("target", case.address),
                           more.pop("about", about(case)), case.new)

    for what, how in INVALID.items():
        if what == "target a group":
            continue
        if "octets" in how and 25 in how["octets"]:
            how = {"octets": {41: 0}}
        if "cut" in how:
            how = {"cut": 40 + 36}
        yield Suspect(what, lambda c, how=how: spoiled(good(c), **how))
    yield Suspect("source is not link-local", lambda c: good(c, "2001:db8::1"))
    yield Suspect("source is not the first hop", lambda c: good(c, "fe80::2"))
    yield Suspect("destination is a group", lambda c: good(c, about="ff0e::1"))
    yield Suspect("target neither link-local nor the destination",
                  lambda c: good(c, target="2001:db8::77"))
    yield Suspect("in fragments", lambda c: fragmented(good(c)))


def spoiled(packet, **how):
    """The packet with octets of its ICMPv6 message changed and the checksum made right."""
    source, dest = packet[8:24], packet[24:40]
    message = bytearray(packet[40:how.get("cut", len(packet))])
    for at, value in how.get("octets", {}).items():
        message[at] = value
    message[2:4] = b"\0\0"
    value = nd.checksum(source, dest, 58, bytes(message))
    message[2:4] = struct.pack("!H", value ^ how.get("checksum", 0))
    return nd.ipv6(source, dest, 58, bytes(message), how.get("hlim", 255))


INVALID = {
    "hop limit 254": {"hlim": 254},
    "wrong checksum": {"checksum": 0x1234},
    "code 1": {"octets": {1: 1}},
    "target a group": {"octets": {8: 0xff}},
    "option of length 0": {"octets": {25: 0}},
    "cut short": {"cut": 40 + 20},
}


def invalid():
    for what, how in INVALID.items():
        yield Case(f"invalid NA: {what}", "incomplete",
                   lambda c, how=how: spoiled(nd.na(c.address, c.address, OURS,
                                                    nd.SOLICITED | nd.OVERRIDE, c.new), **how),
                   "incomplete")
        yield Case(f"invalid NS: {what}", "reachable",
                   lambda c, how=how: spoiled(nd.ns(c.address, OURS, OURS, c.new), **how),
                   "reachable")
        if what != "target a group":
            yield Case(f"RA invalid: {what}", "reachable",
                       lambda c, how=how: spoiled(
                           nd.ra(c.address, options=nd.lladdr_option(nd.SLLA, c.new)),
                           **dict(how, octets={17: 0}) if "25" in str(how) else
                           dict(how, cut=40 + 12) if "cut" in how else how),
                       "reachable")
    yield Case("invalid NA: Solicited to a group", "incomplete",
               lambda c: nd.na(c.address, c.address, nd.ALL_NODES, nd.SOLICITED, c.new),
               "incomplete")
    yield Case("invalid NA: in fragments", "incomplete",
               lambda c: fragmented(nd.na(c.address, c.address, OURS,
                                          nd.SOLICITED | nd.OVERRIDE, c.new)), "incomplete")
    yield Case("invalid NS: in fragments", "reachable",
               lambda c: fragmented(nd.ns(c.address, OURS, OURS, c.new)), "reachable")


def fragmented(packet):
    """RFC 6980: in one (atomic) fragment."""
    return (packet[:4] + struct.pack("!HB", len(packet) - 32, 44) + packet[7:40]
            + struct.pack("!BBHI", 58, 0, 0, 7) + packet[40:])


CASES = [*advertisements(), *solicitations(), *router_advertisements(), *redirects(),
         *invalid(), *suspects()]
entries = {}
hops = {}


def neighbors():
    return {e["address"]: e for e in nd.show(A, "neighbors")}


def all_in(cases, state):
    def there():
        known = neighbors()
        return all(known.get(c.address, {}).get("state") == state for c in cases)
    ktap.wait_for(25, f"{len(cases)} neighbors are {state}", there)


def ask(cases):
    """Each neighbor sends an echo request, so that we want to answer it."""
    for case in cases:
        wire.send(nd.echo(case.address, OURS, hlim=64), source=case.old)


def bring(cases, state):
    if state == "none":
        return
    if state in ("incomplete", "reachable"):
        ask(cases)
        all_in(cases, "incomplete")
    if state == "reachable":
        for case in cases:
            wire.send(nd.na(case.address, case.address, OURS, nd.SOLICITED | nd.OVERRIDE,
                            case.old))
        all_in(cases, "reachable")
    if state in ("stale", "probe"):
        # An entry that is asked for, then answered for without being confirmed.
        ask(cases)
        all_in(cases, "incomplete")
        for case in cases:
            wire.send(nd.na(case.address, case.address, OURS, 0, case.old))
        # What waited for it went out: that began the delay, and probes follow it.
        all_in(cases, "probe")
    if state == "stale":
        for case in cases:
            wire.send(nd.na(case.address, case.address, OURS, nd.OVERRIDE, case.new))
            wire.send(nd.na(case.address, case.address, OURS, nd.OVERRIDE, case.old))
        all_in(cases, "stale")


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    # DAD waits for RetransTimer, so it is over first.
    nd.linklocal(A)
    # No state ends by time while cases wait in it.
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0", "retrans", "60000",
               "reachable", "3000000")
    nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
    nd.net6ctl(A, "add", "neighbor", ROUTER, "lladdr", wire.mac, "dev", "a0")
    nd.net6ctl(A, "add", "route", "default", "via", ROUTER, "dev", "a0")
    for state in STATES:
        cases = [c for c in CASES if c.state == state]
        bring(cases, state)
        for case in cases:
            wire.send(case.message(case))
        wire.flush()
        wire.send(nd.ns("fd00::99", OURS, slla="02:00:00:00:00:99"))
        wire.expect(lambda f: f.type == nd.NA and f.dst == "02:00:00:00:00:99", "barrier")
        known = neighbors()
        entries.update((c.address, known.get(c.address)) for c in cases)
    for case in CASES:
        if isinstance(case, Suspect):
            wire.send(nd.echo(about(case), OURS, hlim=64))
    wire.send(nd.ns("fd00::99", OURS, slla="02:00:00:00:00:99"))
    wire.expect(lambda f: f.type == nd.NA and f.dst == "02:00:00:00:00:99", "barrier")
    hops.update((d["address"], d.get("next_hop")) for d in nd.show(A, "destinations"))


for one in CASES:
    ktap.test(one.name)(one.check)
ktap.main(setup)
