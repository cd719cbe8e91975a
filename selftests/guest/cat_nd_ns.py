#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# RFC 4861 7.2.2 to 7.2.4 and 7.3.3 as a table: solicitations that net6 sends, and those that
# it receives in each state of the sender's entry. Titles say section, state, message, outcome.
#
# guest: stock
# guest-options: --virtual-time
# timeout: 300

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import catalogue  # noqa: E402
import ktap  # noqa: E402
import nd  # noqa: E402
from catalogue import OURS, Node, Router, frames, row  # noqa: E402

SLLA = {"mine": "the same address", "other": "another address", "": "no address"}


def apart(seen, count, what):
    """So many solicitations, RetransTimer (1 s) apart."""
    ktap.equal(len(seen), count, what)
    for one, two in zip(seen, seen[1:]):
        gap = two.time - one.time
        ktap.true(1 - catalogue.EARLY <= gap <= 1 + catalogue.LATE, f"{gap:.2f} s is RetransTimer")


@row("4861 7.2.2: of packets that wait for one address the last ones are sent", daily=True)
def _():
    node = Node()
    node.incomplete()
    seqs = [node.echo() for _ in range(3)]
    node.na(nd.SOLICITED | nd.OVERRIDE)
    seen = [f.seq for f in frames(node.replies, 0.5)]
    ktap.equal(seen[-3:], seqs, "replies")


@row("4861 7.2.2: packets that wait for two addresses have queues of their own")
def _():
    one, two = Node(), Node()
    first = [one.incomplete(), one.echo()]
    second = [two.incomplete(), two.echo()]
    for node, seqs in ((one, first), (two, second)):
        node.na(nd.SOLICITED | nd.OVERRIDE)
        seen = frames(lambda f: f.type == nd.REPLY, 0.5)
        ktap.equal([(f.dst, f.seq) for f in seen], [(node.mac, seq) for seq in seqs], "replies")


def resolution(what, linklocal):
    @row(f"4861 7.2.2: {what} is solicited MAX_MULTICAST_SOLICIT times, no more", not linklocal)
    def _():
        node = Node(linklocal)
        catalogue.wire.flush()
        node.echo()
        seen = frames(node.solicits, 6)
        apart(seen, 3, "multicast solicitations")
        for frame in seen:
            node.check_ns(frame, unicast=False)
            ktap.equal(frame.source, node.ours, "SHOULD: source of what waits")


resolution("a link-local address", True)
resolution("a global address", False)


def reachability(me, ours):
    @row(f"4861 7.3.3: {me} to {ours}: DELAY_FIRST_PROBE_TIME, then MAX_UNICAST_SOLICIT probes",
         me == ours == "global")
    def _():
        node = Node(me == "link-local",
                    ours=catalogue.shared.linklocal if ours == "link-local" else OURS)
        node.stale()
        catalogue.wire.flush()
        seq = node.echo()
        reply = catalogue.wire.expect(lambda f: node.replies(f, seq), "reply in STALE")
        seen = frames(node.solicits, 12)
        apart(seen, 3, "unicast solicitations")
        after = seen[0].time - reply.time
        ktap.true(5 - catalogue.EARLY <= after <= 5 + catalogue.LATE, f"first after {after:.2f} s")
        for frame in seen:
            node.check_ns(frame, unicast=True)
            ktap.equal(frame.dst, node.mac, "Ethernet destination of a probe")
        node.judge("none")


for SOURCE, DEST in (("link-local", "link-local"), ("global", "global"),
                     ("link-local", "global"), ("global", "link-local")):
    reachability(SOURCE, DEST)


def invalid(what, make, daily=False):
    @row(f"4861 7.1.1: solicitation with {what} is ignored", daily)
    def _():
        node = Node()
        catalogue.wire.flush()
        node.send(make(node))
        catalogue.wire.silence(lambda f: f.type in (nd.NA, nd.NS), f"answer to {what}", 2)
        node.judge("none")


def asks(node, **more):
    return nd.ns(node.me, OURS, slla=node.mac, **more)


invalid("a multicast target", lambda n: nd.ns(n.me, nd.solicited_node(OURS), slla=n.mac,
                                              dest=nd.solicited_node(OURS)))
invalid("source :: and a unicast destination", lambda n: nd.ns(nd.ANY, OURS, dest=OURS))
invalid("source :: and a link-layer address", lambda n: nd.ns(nd.ANY, OURS, slla=n.mac), True)
invalid("hop limit 254", lambda n: asks(n, hlim=254), True)
invalid("a wrong checksum", lambda n: catalogue.spoiled(asks(n)))
invalid("code 1", lambda n: asks(n, code=1))
invalid("length 16", lambda n: catalogue.short(asks(n), 16))
invalid("an option of length 0", lambda n: nd.ns(n.me, OURS, more=bytes([nd.SLLA, 0]) + bytes(6)))


def answered(node, mac):
    """RFC 4861 7.2.4: the advertisement that answers."""
    seen = catalogue.wire.expect(lambda f: f.type == nd.NA and nd.same(f.target, node.ours),
                                 "advertisement", 2)
    ktap.equal((seen.source, seen.dest, seen.dst), (node.ours, node.me, mac), "addresses")
    ktap.equal(seen.flags, nd.SOLICITED | nd.OVERRIDE, "flags")
    ktap.equal(seen.option(nd.TLLA), nd.mac_bytes(catalogue.wire.peer), "MUST: our address")
    ktap.equal((seen.hlim, seen.code, seen.checksum_good()), (255, 0, True), "validity")


def received(state, group, slla, outcome, mac="mine", daily=False):
    """A solicitation from a node in this state; what becomes of its entry, and the answer."""
    how = "to the group" if group else "unicast"
    new = ", new address" if mac == "other" else ""

    @row(f"4861 7.2.3: {state.upper() if state != 'none' else 'no entry'}, {how}, {SLLA[slla]}: "
         f"{outcome.upper() if outcome != 'none' else 'asks for it'}{new}", daily)
    def _():
        node = Node()
        node.bring(state)
        node.ns(slla, dest=None if group else node.ours)
        if outcome not in ("none", "incomplete"):
            answered(node, getattr(node, {"mine": "mac", "other": "other"}[mac]))
            node.judge(outcome, mac)
            return
        # Without its address the answer waits for the resolution.
        node.expect_ns()
        node.na(nd.SOLICITED | nd.OVERRIDE)
        answered(node, node.mac)


for GROUP in (False, True):
    received("none", GROUP, "mine", "stale", daily=GROUP)
received("none", False, "", "none", daily=True)
for GROUP in (False, True):
    received("incomplete", GROUP, "mine", "stale")
received("incomplete", False, "", "incomplete", daily=True)
for STATE in ("reachable", "stale", "probe"):
    for GROUP in (False, True):
        received(STATE, GROUP, "mine", STATE)
        received(STATE, GROUP, "other", "stale", "other", daily=GROUP and STATE == "reachable")
    received(STATE, False, "", STATE)


def is_router(what, slla, group, daily=False):
    @row(f"4861 7.2.3: solicitation from the default router, {what}: it is a router still", daily)
    def _():
        with Router() as router:
            router.begin()
            router.ns(slla, dest=None if group else router.ours)
            answered(router, router.mac)
            ktap.equal(catalogue.first_hop(), router.mac, "first hop")


is_router("unicast", "mine", False)
is_router("to the group", "mine", True)
is_router("without address", "", False, daily=True)

ktap.main(setup=catalogue.setup)
