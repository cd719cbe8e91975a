#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What the files of net.net6.conf about routers change: the same is done with two values of
# each, and comes out otherwise. The others are conf_address.py's subject, bounds and names
# admin_sysctl.py's. Time is virtual: what is sent at intervals is counted.
#
#	A [a0 net6] ------ [b0 raw frames: routers, hosts] B
# guest: stock
# guest-options: --virtual-time
# timeout: 400

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import conf
import ktap
import nd

MAC = "02:00:00:00:0e:01"
OTHER_MAC = "02:00:00:00:0e:02"
OURS, FAR = "fd00:9::a", "2001:db8:9::1"
ROUTER, BETTER = "fe80::1", "fe80::2"
A, B, wire = nd.ends()


def setup():
    conf.cable(A, B, wire)


def fresh():
    conf.write("dad_transmits", 0)
    nd.bounce(A, "a0", wire)
    return nd.linklocal(A)


def barrier(address=None):
    """What was sent before has been received. With net6's own link-local address: without a
    program that must be loaded to find it out.
    """
    address = address or nd.linklocal(A)
    wire.send(nd.ns(wire.linklocal, address, slla=wire.mac))
    wire.expect(lambda f: f.type == nd.NA and f.target == address, "answer")


def route_option(prefix, plen, lifetime):
    """RFC 4191 section 2.3"""
    return struct.pack("!BBBBI", 24, 3, plen, 0, lifetime) + nd.packed(prefix)


def routers():
    return {r["address"]: r["preference"] for r in nd.show(A, "routers")}


def prefixes():
    return [p["address"] for p in nd.show(A, "prefixes")]


def routes():
    return [r["address"] for r in nd.show(A, "routes")]


def advertise(source=ROUTER):
    """A router of high preference that tells a bit of everything."""
    wire.send(nd.ra(source, hop_limit=33, flags=0x08, lifetime=1800, options=nd.prefix_option(
        "2001:db8:1::", valid=3600) + nd.mtu_option(1400)
        + route_option("2001:db8:7::", 48, 600)))
    barrier()
    return {"routers": routers(), "prefixes": prefixes(), "routes": routes(),
            "hop_limit": nd.interface(A, "a0")["hop_limit"], "mtu": nd.interface(A, "a0")["mtu"]}


ALL = {"routers": {ROUTER: 1}, "prefixes": ["2001:db8:1::"], "routes": ["2001:db8:7::"],
       "hop_limit": 33, "mtu": 1400}
ADVERTISEMENTS = (
    ("accept_ra_defrtr", 0, {"routers": {}}),
    ("accept_ra_pinfo", 0, {"prefixes": []}),
    ("accept_ra_mtu", 0, {"mtu": 1500}),
    ("accept_ra_rtr_pref", 0, {"routers": {ROUTER: 0}, "routes": []}),
    ("accept_ra_min_hop_limit", 34, {"hop_limit": 64}),
    ("accept_ra_min_hop_limit", 33, {}),
    ("accept_ra_min_lft", 1801, {"routers": {}, "routes": []}),
    ("accept_ra_min_lft", 1800, {"routes": []}),
    ("accept_ra_min_lft", 3601, {"routers": {}, "routes": [], "prefixes": []}),
    ("accept_ra_rt_info_min_plen", 49, {"routes": []}),
    ("accept_ra_rt_info_min_plen", 48, {}),
    ("accept_ra_rt_info_max_plen", 47, {"routes": []}),
    ("accept_ra_rt_info_max_plen", 48, {}),
)


def taken_of_advertisements(name, value, differs):
    @ktap.test(f"{name} {value}")
    def _():
        fresh()
        conf.write("hop_limit", 64)
        ktap.equal(advertise(), ALL, "what is taken without it")
        fresh()
        conf.write("hop_limit", 64)
        with conf.Set(**{name: value}):
            ktap.equal(advertise(), {**ALL, **differs}, "what is taken with it")


for case in ADVERTISEMENTS:
    taken_of_advertisements(*case)


@ktap.test
def accept_ra_from_local():
    own = fresh()
    ktap.equal(advertise(own)["routers"], {}, "of an address of its own")
    with conf.Set(accept_ra_from_local=1):
        ktap.equal(advertise(own)["routers"], {own: 1}, "with it")


@ktap.test
def accept_ra_min_lft_leaves_the_end_alone():
    fresh()
    advertise()
    with conf.Set(accept_ra_min_lft=100):
        wire.send(nd.ra(ROUTER, lifetime=50))
        barrier()
        ktap.equal(routers(), {ROUTER: 1}, "a lifetime that is too short changes nothing")
        wire.send(nd.ra(ROUTER, lifetime=0))
        barrier()
        ktap.equal(routers(), {}, "that of a router that goes is taken")


@ktap.test
def accept_redirects():
    def through(seq):
        wire.send(nd.echo(FAR, OURS, seq))
        return wire.expect(lambda f: f.type == nd.REPLY and f.seq == seq, "reply").dst

    fresh()
    nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
    linklocal = nd.linklocal(A)
    for number, (value, mac) in enumerate(((0, MAC), (1, OTHER_MAC))):
        with conf.Set(accept_redirects=value):
            # The router answers no solicitation: virtual time must not jump after this.
            wire.send(nd.ra(ROUTER, options=nd.lladdr_option(nd.SLLA, MAC)))
            barrier(linklocal)
            ktap.equal(through(2 * number), MAC, "before")
            wire.send(nd.redirect(ROUTER, OURS, BETTER, FAR, tlla=OTHER_MAC))
            barrier(linklocal)
            ktap.equal(through(2 * number + 1), mac, f"after a Redirect, with {value}")
    nd.net6ctl(A, "del", "address", OURS, "dev", "a0")


def solicitations(seconds, **values):
    """When Router Solicitations come, in seconds after the first frame, which tells of groups:
    what programs are loaded from may let virtual time jump.
    """
    with conf.Set(**values):
        conf.write("dad_transmits", 0)
        A.down("a0")
        wire.flush()
        A.up("a0")
        seen = wire.collect(lambda f: True, seconds)
        return [f.time - seen[0].time for f in seen if f.type == nd.RS]


@ktap.test
def router_solicitations():
    usual = {"router_solicitation_interval": 1, "router_solicitation_max_interval": 1}
    ktap.equal(len(solicitations(20, router_solicitations=0, **usual)), 0, "of 0")
    ktap.equal(len(solicitations(20, router_solicitations=2, **usual)), 2, "of 2")
    ktap.true(len(solicitations(20, router_solicitations=-1, **usual)) >= 15, "without end")


@ktap.test
def router_solicitation_delay():
    first = [solicitations(1, router_solicitation_delay=0)[0] for _ in range(3)]
    ktap.true(max(first) < 0.3, f"without delay: {first}")
    # A random part of it: hardly ever three times less than a hundredth.
    first = [(solicitations(120, router_solicitation_delay=100, router_solicitations=1))[0]
             for _ in range(3)]
    ktap.true(1 < max(first) < 101, f"up to 100 seconds: {first}")


@ktap.test
def router_solicitation_interval():
    for interval, most, gaps in ((2, 8, (2, 4, 8, 8)), (3, 3600, (3, 6, 12, 24))):
        seen = solicitations(60, router_solicitation_interval=interval,
                             router_solicitation_max_interval=most)
        for gap, usual in zip((b - a for a, b in zip(seen, seen[1:])), gaps):
            # RFC 7559 section 2: a tenth more or less, of this one or the one before
            ktap.true(0.7 * usual < gap < 1.3 * usual, f"{gap:.1f} s is about {usual} s")
        ktap.true(len(seen) > 4, f"{len(seen)} in a minute")


ktap.main(setup=setup)
