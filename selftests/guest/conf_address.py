#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What the files of net.net6.conf and net.net6.neigh about addresses, neighbors and groups
# change: the same is done with two values, and comes out otherwise. Those about routers are in
# conf_interface.py. Time is virtual: what is sent at intervals is counted.
#
#	A [a0 net6] ------ [b0 raw frames: hosts, a router, a querier] B
# guest: full
# guest-options: --virtual-time
# timeout: 400

import contextlib
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import conf
import ip
import ktap
import mld
import nd

OURS, PREFIX, GROUP = "fd00:9::a", "2001:db8:1::", "ff05::1234"
A, B, wire = nd.ends()


def setup():
    conf.cable(A, B, wire)


def fresh(dad=0):
    """Duplicates are looked for where a test wants it."""
    conf.write("dad_transmits", dad)
    nd.bounce(A, "a0", wire)
    return nd.linklocal(A)


def with_address():
    fresh()
    if not nd.find(A, "addresses", OURS):
        nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
    ktap.wait_for(8, "it is ours", lambda: state(OURS) == "preferred")


def state(address):
    return (nd.find(A, "addresses", address) or {}).get("state")


def answer(address, dest=None):
    wire.send(nd.ns(wire.linklocal, address, dest=dest, slla=wire.mac))
    return wire.wait(lambda f: f.type == nd.NA and nd.same(f.target, address), 1)


def barrier():
    ktap.true(answer(nd.linklocal(A)), "an answer")


def advertise(*prefixes, **values):
    wire.send(nd.ra(wire.linklocal, options=b"".join(
        nd.prefix_option(p, valid=100000, preferred=50000) for p in prefixes), **values))


@ktap.test
def disable_ipv6():
    with_address()
    advertise(PREFIX)
    ktap.wait_for(8, "there is an address of the prefix", lambda: nd.of_origin(A, "slaac"))
    conf.write("disable_ipv6", 1)
    ktap.equal([a["address"] for a in nd.show(A, "addresses") if a["dev"] == "a0"], [],
               "addresses as soon as it is written")
    ktap.equal(nd.show(A, "prefixes") + nd.show(A, "routers"), [], "prefixes and routers")
    ktap.equal((conf.read("disable_ipv6"), nd.is_up(A, "a0")), (1, False),
               "the file, the interface")
    ktap.equal(answer(OURS), None, "answer")
    ktap.true("Permission denied" in ktap.run(
        nd.NET6CTL, "-N", A.name, "add", "address", OURS + "/64", "dev", "a0", check=False),
        "no address can be added")
    nd.bounce(A, "a0", wire)
    wire.silence(lambda f: True, "something is sent", 3)
    conf.write("disable_ipv6", 0)
    ktap.true(answer(nd.linklocal(A)), "answer when it is on again")
    for word, up in (("on", False), ("off", True)):
        nd.net6ctl(A, "set", "dev", "a0", "disable-ipv6", word)
        ktap.equal(nd.is_up(A, "a0"), up, f"net6ctl's {word}")


@ktap.test
def what_is_remembered_of_an_address_that_goes_and_comes():
    with_address()
    # Where programs make time jump, a neighbor that answers no probe is forgotten in between.
    nd.net6ctl(A, "add", "neighbor", wire.linklocal, "lladdr", wire.mac, "dev", "a0")
    for _ in range(3):
        barrier()
        wire.expect(nd.replies(nd.ping(wire, wire.linklocal, OURS)), "echo reply")
        nd.net6ctl(A, "del", "address", OURS, "dev", "a0")
        for _ in range(2):
            unanswered = nd.replies(nd.ping(wire, wire.linklocal, OURS))
            answered = nd.replies(nd.ping(wire, wire.linklocal, nd.linklocal(A)))
            first = wire.expect(lambda f, a=answered, u=unanswered: a(f) or u(f), "echo reply")
            ktap.true(answered(first), "no reply for an address that is gone")
        nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
        ktap.wait_for(8, "it is ours again", lambda: state(OURS) == "preferred")
    nd.net6ctl(A, "del", "neighbor", wire.linklocal, "dev", "a0")


@ktap.test
def disable_ipv6_of_all_and_by_default():
    fresh()
    conf.write("disable_ipv6", 1, dev="all")
    ktap.equal(nd.show(A, "addresses"), [], "addresses, ::1 among them")
    # A module that is not there yet would be loaded from where virtual time jumps.
    A.ip("link", "add", "d0", "up", "type", "veth", "peer", "name", "d1")
    A.up("d1")
    ktap.equal((conf.read("disable_ipv6", dev="d0"), nd.show(A, "addresses")), (1, []), "later")
    conf.write("disable_ipv6", 0, dev="d0")
    nd.linklocal(A, "d0")
    A.ip("link", "del", "d0")
    conf.write("disable_ipv6", 0, dev="all")
    nd.linklocal(A)
    ktap.equal(state("::1"), "preferred", "::1")


@ktap.test
def accept_dad():
    with conf.Set(accept_dad=0, dad_transmits=1):
        nd.bounce(A, "a0", wire)
        nd.linklocal(A)
        wire.silence(nd.is_probe, "a probe", 3)
    fresh(1)
    typed = nd.linklocal_of(wire.peer)
    with conf.Set(accept_dad=1):
        nd.conflict_by_hand(A, "a0", wire, typed)
        ktap.wait_for(8, "it is a duplicate", lambda: state(typed) == "duplicate")
        time.sleep(1)		# for what must not happen
        ktap.true(nd.is_up(A, "a0"), "no more than that")
    nd.net6ctl(A, "del", "address", typed, "dev", "a0")
    nd.conflict_by_hand(A, "a0", wire, typed)
    ktap.wait_for(8, "the interface is off", lambda: not nd.is_up(A, "a0"))
    ktap.equal(conf.read("disable_ipv6"), 1, "disable_ipv6")
    nd.net6ctl(A, "del", "address", typed, "dev", "a0")
    conf.write("disable_ipv6", 0)
    ktap.true(nd.is_up(A, "a0"), "on again")


@ktap.test
def enhanced_dad():
    for value, length in ((1, 6), (0, 0)):
        with conf.Set(enhanced_dad=value, dad_transmits=1):
            nd.bounce(A, "a0", wire)
            probe = wire.expect(nd.is_probe, "probe")
            ktap.equal(len(probe.option(nd.NONCE) or b""), length, f"nonce with {value}")


@ktap.test
def addr_gen_mode():
    eui = nd.linklocal_of(wire.peer)
    for mode, linklocal, from_eui in ((0, True, True), (1, False, True), (2, True, False),
                                      (3, True, False)):
        with conf.Set(addr_gen_mode=mode, dad_transmits=0):
            nd.bounce(A, "a0", wire)
            ktap.wait_for(8, "it is up", lambda: nd.is_up(A, "a0"))
            advertise(PREFIX)
            address = ktap.wait_for(8, "there is an address of the prefix", lambda: [
                a for a in nd.of_origin(A, "slaac") if a["state"] == "preferred"])[0]["address"]
            ktap.equal(nd.packed(address)[8:] == nd.eui64(wire.peer), from_eui, f"EUI-64, {mode}")
            formed = [a["address"] for a in nd.of_origin(A, "link-local")]
            ktap.equal([a == eui for a in formed], [from_eui] if linklocal else [],
                       f"link-local addresses, {mode}")
            if mode == 1:
                conf.write("addr_gen_mode", 0)
                ktap.wait_for(8, "one is formed at once", lambda: state(eui) == "preferred")


@ktap.test
def regen_max_retry():
    for retries in (0, 2):
        with conf.Set(regen_max_retry=retries, addr_gen_mode=0, dad_transmits=1, use_tempaddr=1):
            fresh(1)
            advertise(PREFIX)
            tried = []
            while True:
                probe = wire.wait(lambda f: nd.is_probe(f) and f.target not in tried
                                  and nd.packed(f.target)[:8] == nd.packed(PREFIX)[:8]
                                  and nd.packed(f.target)[8:] != nd.eui64(wire.peer), 10)
                if not probe:
                    break
                tried.append(probe.target)
                wire.send(nd.na(probe.target, probe.target, tlla=wire.mac))
            ktap.equal(len(tried), retries + 1, "temporary addresses that were tried")


@ktap.test
def max_desync_factor():
    prefixes = [f"2001:db8:1:{n}::" for n in range(5)]
    for most, sooner in ((0, False), (400, True)):
        with conf.Set(max_desync_factor=most, use_tempaddr=1, temp_valid_lft=20000,
                      temp_prefered_lft=10000):
            fresh()
            start = time.monotonic()
            advertise(*prefixes)
            ktap.wait_for(8, "there are five", lambda: len(nd.of_origin(A, "temporary")) == 5)
            left = [a["preferred"] for a in nd.of_origin(A, "temporary")]
            # Where programs make time jump, seconds have gone by since they were made.
            gone = time.monotonic() - start + 1
            ktap.true(10000 - most - gone <= min(left) and max(left) <= 10000,
                      f"preferred for {left} s of 10000 less {most}, {gone:.0f} s ago")
            # Five times out of 400 the same ten: hardly ever.
            ktap.equal(max(left) - min(left) > 10, sooner, f"not the same: {left}")


@ktap.test
def use_optimistic():

    with_address()
    with conf.Set(optimistic_dad=1, dad_transmits=16):
        advertise(PREFIX)
        address = ktap.wait_for(8, "an optimistic address", lambda: [
            a for a in nd.of_origin(A, "slaac") if a["state"] == "optimistic"])[0]["address"]
        ktap.equal(nd.source(A, PREFIX + "99"), OURS, "source: one that is preferred")
        with conf.Set(use_optimistic=1):
            ktap.equal(nd.source(A, PREFIX + "99"), address,
                       "source with it: the one in the prefix")


@ktap.test
def keep_addr_on_down():
    for value, left in ((1, 1), (0, 0), (-1, 0)):
        with_address()
        with conf.Set(keep_addr_on_down=value):
            A.down("a0")
            ktap.equal((len(nd.of_origin(A, "manual")), len(nd.show(A, "prefixes"))), (left, left),
                       f"addresses and their prefixes, {value}")


@ktap.test
def mcast_solicit():
    with_address()
    for number, count in ((1, 1), (2, 5)):
        with conf.Set("neigh", mcast_solicit=count):
            other = f"fd00:9::{number}"
            wire.send(nd.echo(other, OURS), source="02:00:00:00:00:77")
            wire.exactly(count, lambda f, o=other: f.type == nd.NS and f.target == o,
                         "solicitation")


@ktap.test
def ucast_solicit_and_delay_first_probe_time():
    with_address()
    for number, count, delay in ((3, 1, 1), (4, 4, 7)):
        with conf.Set("neigh", ucast_solicit=count, delay_first_probe_time=delay):
            other = f"fd00:9::{number}"
            wire.send(nd.ns(other, OURS, slla=wire.mac))
            wire.send(nd.echo(other, OURS, number))
            reply = wire.expect(lambda f, n=number: f.type == nd.REPLY and f.seq == n, "reply")

            def probe(frame, other=other):
                return frame.type == nd.NS and frame.dest == other
            after = wire.expect(probe, "probe", 30).time - reply.time
            ktap.true(delay - 0.1 < after < delay + 0.5, f"the first after {after:.2f} s")
            wire.exactly(count - 1, probe, "more probes")


@ktap.test
def ndisc_tclass():
    for value in (0, 0xe0):
        with conf.Set(ndisc_tclass=value):
            fresh()
            frame = answer(nd.linklocal(A))
            ktap.equal(struct.unpack("!I", frame.packet[:4])[0] >> 20 & 0xff, value, "class")


@ktap.test
def force_tllao():
    with_address()
    for value, to, has in ((1, OURS, True), (0, OURS, False), (0, None, True)):
        with conf.Set(force_tllao=value):
            frame = answer(OURS, to)
            ktap.equal((frame.option(nd.TLLA) is not None, bool(frame.flags & nd.OVERRIDE)),
                       (has, has), f"option, Override with {value}, solicited at {to}")


@ktap.test
def suppress_frag_ndisc():
    with_address()
    packet = nd.ns(wire.linklocal, OURS, slla=wire.mac, more=bytes([200, 8]) + bytes(62))
    for ident, (value, answered) in enumerate(((1, False), (0, True))):
        with conf.Set(suppress_frag_ndisc=value):
            for piece in ip.fragments(58, packet[40:], 600 + ident, size=48,
                                      source=wire.linklocal, dest=nd.solicited_node(OURS)):
                # All fragments have the hop limit of the message.
                wire.send(piece[:7] + b"\xff" + piece[8:])
            seen = wire.wait(lambda f: f.type == nd.NA and f.target == OURS, 2)
            ktap.equal(bool(seen), answered, f"an answer, with {value}")


@ktap.test
def drop_unsolicited_na():
    with_address()
    other, new = "fd00:9::5", "02:00:00:00:00:78"
    wire.send(nd.ns(other, OURS, slla=wire.mac))
    for value, mac in ((1, wire.mac), (0, new)):
        with conf.Set(drop_unsolicited_na=value):
            wire.send(nd.na(other, other, tlla=new))
            barrier()
            ktap.equal(nd.find(A, "neighbors", other)["lladdr"], mac, f"its address, {value}")


@ktap.test
def accept_untracked_na():
    """RFC 9131 6.1.1: a router makes an entry for who announces himself, with its address."""
    with_address()

    def known(other, source, **setting):
        with conf.Set(**setting):
            wire.send(nd.na(source, other, tlla=wire.mac))
            barrier()
            found = [n for n in nd.show(A, "neighbors") if nd.same(n["address"], other)]
            return found[0]["state"] if found else None
    ktap.equal([known("fd00:9::21", "fd00:9::21", accept_untracked_na=0, forwarding=1),
                known("fd00:9::22", "fd00:9::22", accept_untracked_na=1, forwarding=0),
                known("fd00:9::23", "fd00:9::23", accept_untracked_na=1, forwarding=1),
                known("fd00:9::24", "fd00:9::24", accept_untracked_na=2, forwarding=1),
                known("fd00:9::25", "fd00:77::25", accept_untracked_na=1, forwarding=1),
                known("fd00:9::26", "fd00:77::26", accept_untracked_na=2, forwarding=1)],
               [None, None, "stale", "stale", "stale", None], "states")


@ktap.test
def ndisc_evict_nocarrier():
    with_address()
    nd.net6ctl(A, "flush", "neighbors")

    def left():
        wire.send(nd.ns(wire.linklocal, OURS, slla=wire.mac))
        barrier()
        B.down("b0")
        ktap.wait_for(10, "no carrier", lambda: "up" not in next(
            i["flags"] for i in nd.show(A, "interfaces") if i["dev"] == "a0"))
        found = any(nd.same(n["address"], wire.linklocal) for n in nd.show(A, "neighbors"))
        B.up("b0")
        ktap.wait_for(20, "a carrier", lambda: "up" in next(
            i["flags"] for i in nd.show(A, "interfaces") if i["dev"] == "a0"))
        with contextlib.suppress(OSError):
            wire.sock.recv(1, socket.MSG_DONTWAIT)      # that the network was down
        return found
    ktap.equal(left(), False, "forgotten")
    with conf.Set(ndisc_evict_nocarrier=0):
        ktap.equal(left(), True, "kept")


@ktap.test
def anycast_delay():
    def times(count):
        seen = []
        for _ in range(count):
            asked = time.time()
            wire.send(nd.ns(wire.linklocal, "fd00:9::", slla=wire.mac))
            seen.append(wire.expect(lambda f: f.type == nd.NA and f.target == "fd00:9::",
                                    "answer", 30).time - asked)
        return seen

    with_address()
    nd.net6ctl(A, "add", "neighbor", wire.linklocal, "lladdr", wire.mac, "dev", "a0")
    with conf.Set(forwarding=1):
        for ticks, least, most in ((0, 0, 0.1), (2000, 0.2, 23)):
            with conf.Set("neigh", anycast_delay=ticks):
                # Three times within a hundredth of it: hardly ever.
                longest = max(times(3))
                ktap.true(least <= longest <= most, f"up to {longest:.2f} s, {ticks} ticks")


def reports(seconds):
    return [mld.Told(f) for f in wire.collect(lambda f: f.proto == 0, seconds)]


def kinds(asked):
    """What version a group is told in, after the querier's query."""
    wire.flush()
    wire.send(asked)
    return {m.type for m in reports(3)}


@ktap.test
def force_mld_version():
    fresh()
    reports(15)
    one, two = mld.query_v1(wire.linklocal), mld.query(wire.linklocal)
    for value, v1, v2 in ((2, set(), {mld.REPORT}), (1, {mld.V1_REPORT}, {mld.V1_REPORT}),
                          (0, {mld.V1_REPORT}, {mld.V1_REPORT})):
        conf.write("force_mld_version", value)
        reports(15)
        ktap.equal((kinds(one), kinds(two)), (v1, v2), f"reports with {value}")
    # The querier of version 1 that was there last is believed, RFC 3810 8.2.1.
    conf.write("force_mld_version", 2)
    conf.write("force_mld_version", 0)
    ktap.equal(kinds(two), {mld.REPORT}, "version 2 of a querier of version 2")


def gaps(count):
    """Seconds between the two reports of a group that is joined, so many times."""
    found = []
    for _ in range(count):
        sock = ktap.net6_socket(socket.SOCK_DGRAM, 0, A)
        with A:
            index = socket.if_nametoindex("a0")
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                        nd.packed(GROUP) + struct.pack("@I", index))
        told = [m.frame.time for m in reports(70) if GROUP in m.records
                or getattr(m, "group", "") == GROUP]
        ktap.equal(len(told), 2, "reports of the join")
        found.append(told[1] - told[0])
        sock.close()
        reports(130)
    return found


def report_interval(version):
    name = f"mldv{version}_unsolicited_report_interval"

    @ktap.test(name)
    def _():
        fresh()
        with conf.Set(force_mld_version=version):
            for value, least, most in ((0, 0, 0.1), (60000, 0.6, 63)):
                with conf.Set(**{name: value}):
                    # Three times within a hundredth of it: hardly ever.
                    longest = max(gaps(3))
                    ktap.true(least <= longest <= most, f"{longest:.2f} s with {value}")


report_interval(1)
report_interval(2)

ktap.main(setup=setup)
