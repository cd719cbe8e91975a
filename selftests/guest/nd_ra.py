#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Router discovery and address autoconfiguration: RFC 4861 section 6.3, RFC 4862 section
# 5.5, RFC 4191, with values that make sense and values that do not. Hours are checked
# by what is left of them. What takes seconds goes on in namespaces of its own while the
# other tests run, and is looked at when they are over.
#
#	A [a0 net6] ------ [b0 raw frames, several routers] B
#	C [a0 net6] ------ [b0 nobody answers] D
#	E [a0 net6] ------ [b0 a router that is heard of once] F
#
# guest: stock+
# timeout: 150

import os
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

HOUR = 3600
LATE = 15 * ktap.SCALE		# seconds that a lifetime may have run when it is looked at
SHORT = 5 * ktap.SCALE		# seconds of a lifetime that is over at the end
A, B, wire = nd.ends()
C, D, lonely = nd.ends("CD")
E, F, once = nd.ends("EF")
shared = types.SimpleNamespace()	# told: when the short lifetimes began


def setup():
    ktap.net6_load()
    nd.cable(C, D, lonely)
    nd.cable(E, F, once)
    nd.cable(A, B, wire)
    # Duplicates are the subject of nd_dad.py.
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")


def advertise(options=b"", router=None, **values):
    wire.send(nd.ra(router or wire.linklocal, options=options, **values))


def fresh():
    """Forget everything that was advertised."""
    A.down("a0")
    wire.flush()
    A.up("a0")
    return nd.linklocal(A)


def assigned(prefix):
    def done():
        found = [a for a in nd.slaac(A, prefix) if a["state"] == "preferred"]
        return found and found[0]
    return ktap.wait_for(8, f"an address in {prefix} is assigned", done)


def barrier():
    """What was sent before has been received."""
    address = nd.linklocal(A)
    wire.send(nd.ns(wire.linklocal, address, slla=wire.mac))
    wire.expect(lambda f: f.type == nd.NA and f.target == address, "answer")


@ktap.test
def short_lifetimes_begin():
    nd.net6ctl(E, "set", "dev", "a0", "dad-transmits", "0")
    once.expect(lambda f: f.type == nd.RS, "solicitation", 10)
    shared.told = time.monotonic()
    once.send(nd.ra(once.linklocal, lifetime=1800, options=nd.prefix_option(
        "2001:db8:1::", valid=HOUR, preferred=SHORT) + nd.prefix_option(
            "2001:db8:2::", valid=SHORT + 2, preferred=SHORT)))
    once.send(nd.ra("fe80::2", lifetime=SHORT))
    routers, prefixes = nd.show(E, "routers"), nd.show(E, "prefixes")
    if time.monotonic() < shared.told + SHORT - 1:
        ktap.equal((len(routers), len(prefixes)), (2, 2), "routers, prefixes before their time")
    ktap.wait_for(8, "both addresses are assigned", lambda: [
        a["state"] for a in nd.show(E, "addresses") if a["origin"] == "slaac"]
        == ["preferred"] * 2 or time.monotonic() > shared.told + SHORT - 1)
    once.flush()        # a second solicitation may have been under way


@ktap.test
def prefix_makes_an_address_and_is_on_link():
    fresh()
    advertise(nd.prefix_option("2001:db8:1::"))
    address = assigned("2001:db8:1::")
    ktap.true(nd.packed(address["address"])[8:] != nd.eui64(wire.peer), "not EUI-64")
    ktap.true(3600 - LATE <= address["valid"] <= 3600, "valid lifetime")
    ktap.true(1800 - LATE <= address["preferred"] <= 1800, "preferred lifetime")
    prefix = nd.find(A, "prefixes", "2001:db8:1::")
    ktap.equal(prefix["prefix_len"], 64, "on-link prefix length")
    wire.send(nd.echo("2001:db8:1::99", address["address"]))
    wire.expect(lambda f: f.type == nd.NS and f.target == "2001:db8:1::99",
                "solicitation for an on-link neighbor")


@ktap.test
def without_flags_a_prefix_does_nothing():
    fresh()
    advertise(nd.prefix_option("2001:db8:2::", flags=0))
    advertise(nd.prefix_option("2001:db8:3::", flags=0x80))
    advertise(nd.prefix_option("2001:db8:4::", flags=0x40))
    assigned("2001:db8:4::")
    ktap.equal(nd.slaac(A, "2001:db8:2::") + nd.slaac(A, "2001:db8:3::"), [], "addresses")
    ktap.equal([p["address"] for p in nd.show(A, "prefixes")], ["2001:db8:3::"],
               "on-link prefixes")


@ktap.test
def two_hour_rule():
    fresh()

    def after(valid, preferred):
        advertise(nd.prefix_option("2001:db8:1::", valid=valid, preferred=preferred))
        barrier()
        return nd.slaac(A, "2001:db8:1::")[0]

    advertise(nd.prefix_option("2001:db8:1::", valid=10 * HOUR, preferred=5 * HOUR))
    assigned("2001:db8:1::")
    entry = after(20, 10)
    ktap.true(2 * HOUR - LATE <= entry["valid"] <= 2 * HOUR, "not below two hours")
    ktap.true(entry["preferred"] <= 10, "the preferred lifetime is taken")
    entry = after(0, 0)
    ktap.true(2 * HOUR - 2 * LATE <= entry["valid"] <= 2 * HOUR, "zero neither")
    ktap.equal(entry["state"], "deprecated", "state")
    time.sleep(2.1)		# of a lifetime
    entry = after(HOUR // 2, 10)
    ktap.true(2 * HOUR - 3 * LATE <= entry["valid"] <= 2 * HOUR - 2, "what is left is kept")
    entry = after(3 * HOUR, HOUR)
    ktap.true(3 * HOUR - LATE <= entry["valid"] <= 3 * HOUR, "more than two hours is taken")
    ktap.equal(entry["state"], "preferred", "state")


@ktap.test
def absurd_lifetimes():
    fresh()
    advertise(nd.prefix_option("2001:db8:1::", valid=100, preferred=200))
    advertise(nd.prefix_option("2001:db8:2::", valid=0, preferred=0))
    advertise(nd.prefix_option("2001:db8:3::", valid=nd.FOREVER, preferred=nd.FOREVER))
    advertise(nd.prefix_option("2001:db8:4::", valid=nd.FOREVER - 1,
                               preferred=nd.FOREVER - 1))
    advertise(nd.prefix_option("2001:db8:5::", valid=nd.FOREVER, preferred=0))
    assigned("2001:db8:3::")
    assigned("2001:db8:4::")
    ktap.wait_for(8, "deprecated from birth", lambda: [
        a for a in nd.slaac(A, "2001:db8:5::") if a["state"] == "deprecated"])
    ktap.equal(nd.slaac(A, "2001:db8:1::"), [], "preferred above valid: ignored")
    ktap.equal(nd.slaac(A, "2001:db8:2::"), [], "valid 0: ignored")
    time.sleep(2.1)		# of lifetimes
    ktap.equal(nd.slaac(A, "2001:db8:3::")[0]["valid"], nd.FOREVER, "for ever after a while")
    left = nd.slaac(A, "2001:db8:4::")[0]["valid"]
    ktap.true(nd.FOREVER - 3 * LATE < left < nd.FOREVER - 2, f"136 years, {left} s left")
    for prefix in ("2001:db8:1::", "2001:db8:3::"):
        advertise(nd.prefix_option(prefix, valid=0, preferred=0))
    barrier()
    ktap.equal(nd.find(A, "prefixes", "2001:db8:3::"), None,
               "on-link prefix of lifetime 0 is gone at once")


@ktap.test
def every_prefix_length():
    fresh()
    for plen in range(256):
        advertise(nd.prefix_option("2001:db8:77:1::", plen=plen, flags=0xc0, valid=300,
                                   preferred=300), lifetime=0)
    assigned("2001:db8:77:1::")
    ktap.equal(len([a for a in nd.show(A, "addresses") if a["origin"] == "slaac"]), 1,
               "addresses: only of 64 bits")
    prefixes = nd.show(A, "prefixes")
    ktap.true(len(prefixes) <= 64, "at most max_prefixes")
    ktap.true(all(p["prefix_len"] <= 128 for p in prefixes), "none beyond 128")
    ktap.true(nd.counter(A, "NdPrefixLimit") > 0, "what was left out is counted")


@ktap.test
def what_is_set_by_hand_takes_no_place_of_a_routers():
    fresh()
    by_hand = (("prefix", "2001:db8:66::/64", "dev", "a0"),
               ("route", "default", "via", "fe80::66", "dev", "a0"))
    for words in by_hand:
        nd.net6ctl(A, "add", *words)
    for name in ("max-prefixes", "max-routers"):
        nd.net6ctl(A, "set", "limits", name, "1")
    try:
        advertise(nd.prefix_option("2001:db8:67::", flags=0x80))
        barrier()
        ktap.equal(len(nd.show(A, "prefixes")), 2, "prefixes")
        ktap.equal(len(nd.show(A, "routers")), 2, "routers")
        advertise(nd.prefix_option("2001:db8:68::", flags=0x80), router="fe80::68")
        barrier()
        ktap.equal(len(nd.show(A, "prefixes")), 2, "prefixes: a router's second one")
        ktap.equal(len(nd.show(A, "routers")), 2, "routers: a second one")
        # One that was learned becomes the administrator's: its place is free.
        nd.net6ctl(A, "add", "prefix", "2001:db8:67::/64", "dev", "a0")
        advertise(nd.prefix_option("2001:db8:68::", flags=0x80))
        barrier()
        ktap.equal(len(nd.show(A, "prefixes")), 3, "prefixes: another one now")
        nd.net6ctl(A, "del", "prefix", "2001:db8:67::/64", "dev", "a0")
    finally:
        for name, value in (("max-prefixes", 64), ("max-routers", 16)):
            nd.net6ctl(A, "set", "limits", name, str(value))
        for words in by_hand:
            nd.net6ctl(A, "del", *words)


@ktap.test
def prefixes_that_are_none():
    fresh()
    for prefix in ("fe80::", "fe80:0:0:1::", "ff02::", "ff0e:1::"):
        advertise(nd.prefix_option(prefix))
    barrier()
    ktap.equal(nd.show(A, "prefixes"), [], "on-link prefixes")
    ktap.equal([a for a in nd.show(A, "addresses") if a["origin"] == "slaac"], [],
               "addresses")


@ktap.test
def number_of_addresses_is_bounded():
    fresh()
    before = nd.counter(A, "NdAddrLimit")
    for number in range(200):
        advertise(nd.prefix_option(f"2001:db8:0:{number:x}::"))
    barrier()
    ktap.equal(len([a for a in nd.show(A, "addresses") if a["origin"] == "slaac"]), 16,
               "addresses")
    ktap.equal(nd.counter(A, "NdAddrLimit") - before, 184, "left out")


@ktap.test
def parameters_are_taken_within_bounds():
    fresh()
    for values, key, wanted in (
            ({"hop_limit": 33}, "hop_limit", 33),
            ({"hop_limit": 0}, "hop_limit", 33),
            ({"hop_limit": 255}, "hop_limit", 255),
            ({"reachable": 10000}, "base_reachable", 10000),
            ({"reachable": 0}, "base_reachable", 10000),
            ({"reachable": 3600001}, "base_reachable", 10000),
            ({"reachable": 0xffffffff}, "base_reachable", 10000),
            ({"reachable": 1}, "base_reachable", 1),
            ({"retrans": 2000}, "retrans", 2000),
            ({"retrans": 0}, "retrans", 2000),
            ({"retrans": 0xffffffff}, "retrans", 2000),
            ({"options": nd.mtu_option(1400)}, "mtu", 1400),
            ({"options": nd.mtu_option(0)}, "mtu", 1400),
            ({"options": nd.mtu_option(1279)}, "mtu", 1400),
            ({"options": nd.mtu_option(1501)}, "mtu", 1400),
            ({"options": nd.mtu_option(0xffffffff)}, "mtu", 1400),
            ({"options": nd.mtu_option(1280)}, "mtu", 1280),
            ({"options": nd.mtu_option(1500)}, "mtu", 1500)):
        advertise(**values)
        barrier()
        ktap.equal(nd.interface(A, "a0")[key], wanted, f"{key} after {values}")
    advertise(retrans=1)
    barrier()
    ktap.true(nd.interface(A, "a0")["retrans"] >= 8, "RetransTimer of 1 ms would be a flood")
    advertise(retrans=1000, reachable=30000, hop_limit=64)
    barrier()


@ktap.test
def invalid_advertisements_have_no_effect():
    fresh()
    good = nd.prefix_option("2001:db8:1::")
    for options, values in (
            (good, {"hlim": 254}), (good, {"code": 1}),
            (good, {"router": "2001:db8::1"}), (good, {"router": nd.ANY}),
            (good + bytes(8), {}), (bytes([3, 0]) + good, {}),
            (good[:-8], {}), (good + b"\x01", {}),
            (good + bytes([1, 2]) + bytes(14), {})):
        advertise(options, **values)
    wire.send(nd.icmp(wire.linklocal, nd.ALL_NODES, nd.RA, bytes(8)))
    advertise(bytes([3, 3]) + good[2:24], lifetime=0)
    barrier()
    ktap.equal(nd.show(A, "prefixes") + nd.show(A, "routers"), [], "what was learned")


@ktap.test
def router_lifetime_of_zero_ends_it_at_once():
    fresh()
    advertise(lifetime=65535, router="fe80::1")
    advertise(lifetime=1800, router="fe80::3")
    barrier()
    ktap.equal({r["address"] for r in nd.show(A, "routers")}, {"fe80::1", "fe80::3"}, "routers")
    advertise(lifetime=0, router="fe80::3")
    barrier()
    ktap.equal(nd.find(A, "routers", "fe80::3"), None, "lifetime 0")
    left = nd.find(A, "routers", "fe80::1")["lifetime"]
    ktap.true(65535 - LATE < left <= 65535, f"lifetime 65535, {left} s left")


@ktap.test
def number_of_routers_is_bounded():
    fresh()
    for number in range(1, 100):
        advertise(lifetime=600, router=f"fe80::{number:x}")
    barrier()
    ktap.equal(len(nd.show(A, "routers")), 16, "routers")
    ktap.true(nd.counter(A, "NdRouterLimit") >= 83, "left out")


@ktap.test
def preference_and_reachability_choose_the_router():
    fresh()
    ours = "fd00:9::a"
    nd.net6ctl(A, "add", "address", ours + "/64", "dev", "a0")
    routers = {}
    for number, flags in ((1, 0x18), (2, 0x00), (3, 0x08), (4, 0x10)):
        mac = f"02:00:00:00:0e:0{number}"
        routers[mac] = f"fe80::{number}"
        advertise(nd.lladdr_option(nd.SLLA, mac), router=f"fe80::{number}", flags=flags,
                  lifetime=60000, retrans=200)
    ktap.wait_for(8, "the address is assigned", lambda: (
        nd.find(A, "addresses", ours) or {}).get("state") == "preferred")
    wanted = {"fe80::1": -1, "fe80::2": 0, "fe80::3": 1, "fe80::4": 0}
    ktap.equal({r["address"]: r["preference"] for r in nd.show(A, "routers")}, wanted,
               "preferences (RFC 4191 2.2; the reserved value is medium)")

    def through(seq):
        wire.send(nd.echo("2001:db8:9::1", ours, seq))
        return wire.expect(lambda f: f.type == nd.REPLY and f.seq == seq, "reply").dst

    def unreachable(mac):
        """Nobody answers the probes; each is sought by its own address."""
        return ktap.wait_for(15, f"{mac} is given up", lambda: nd.find(
            A, "routers", routers[mac])["neigh_state"] == "failed")

    medium = {"02:00:00:00:0e:02", "02:00:00:00:0e:04"}
    ktap.equal(through(1), "02:00:00:00:0e:03", "router of high preference")
    unreachable("02:00:00:00:0e:03")
    second = through(2)
    ktap.true(second in medium, "then a medium one")
    unreachable(second)
    third = through(3)
    ktap.equal({second, third}, medium, "then the other medium one")
    unreachable(third)
    ktap.equal(through(4), "02:00:00:00:0e:01", "then the low one")
    advertise(nd.lladdr_option(nd.SLLA, "02:00:00:00:0e:33"), router="fe80::3",
              flags=0x08, lifetime=60000)
    barrier()
    ktap.equal(through(5), "02:00:00:00:0e:33", "the first one is back")
    nd.net6ctl(A, "del", "address", ours, "dev", "a0")


@ktap.test
def accept_ra_off_means_off():
    fresh()
    nd.net6ctl(A, "set", "dev", "a0", "accept-ra", "off")
    advertise(nd.prefix_option("2001:db8:1::"))
    barrier()
    ktap.equal(nd.show(A, "prefixes") + nd.show(A, "routers"), [], "what was learned")
    nd.net6ctl(A, "set", "dev", "a0", "accept-ra", "on")


@ktap.test
def short_lifetimes_have_ended():
    ktap.wait_for(15, "the router is gone", lambda: not nd.find(E, "routers", "fe80::2"))
    ktap.wait_for(15, "the on-link prefix is gone",
                  lambda: not nd.find(E, "prefixes", "2001:db8:2::"))
    ktap.wait_for(15, "one address is deprecated, the other is gone", lambda: [
        (a["state"], nd.packed(a["address"])[:8] == nd.packed("2001:db8:1::")[:8])
        for a in nd.show(E, "addresses") if a["origin"] == "slaac"] == [("deprecated", True)])
    ktap.true(nd.find(E, "prefixes", "2001:db8:1::"), "the other on-link prefix")
    ktap.true(nd.find(E, "routers", once.linklocal), "the other router")


@ktap.test
def solicitations_back_off_until_a_router_is_there():
    seen = [lonely.expect(lambda f: f.type == nd.RS, "solicitation", 20) for _ in range(3)]
    gaps = [two.time - one.time for one, two in zip(seen, seen[1:])]
    for gap, usual in zip(gaps, (4, 8)):
        # What is late is the machine; the next gap is then as much shorter.
        ktap.true(0.85 * usual - (ktap.SCALE - 1) <= gap <= 1.25 * usual + ktap.SCALE,
                  f"gap of {gap:.1f} s is about {usual} s (RFC 7559)")
    for frame in seen:
        ktap.equal(frame.dest, nd.ALL_ROUTERS, "destination")
        ktap.equal(frame.hlim, 255, "hop limit")
    ktap.equal(seen[-1].option(nd.SLLA), nd.mac_bytes(lonely.peer), "our address")


@ktap.test
def no_solicitation_once_a_router_is_there():
    once.silence(lambda f: f.type == nd.RS, "a solicitation after a router was found",
                 max(shared.told + 18 - time.monotonic(), 0.1))


ktap.main(setup=setup)
