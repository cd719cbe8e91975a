#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# RFC 4861 6.1.2, 6.3.4 to 6.3.7 and 5.2 as a table: what a host learns from Router
# Advertisements, when it solicits them, and where it sends then. Titles say section and rule.
#
# guest: stock
# guest-options: --virtual-time
# timeout: 300

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import catalogue  # noqa: E402
import ktap  # noqa: E402
import nd  # noqa: E402
from catalogue import Node, Router, first_hop, frames, off_link, row  # noqa: E402

OTHER = "2001:db8:2::"	# a prefix that only advertisements tell of


def on_link(router, prefix=OTHER, flags=0x80, **values):
    router.ra(lifetime=values.pop("lifetime", 1800),
              options=nd.prefix_option(prefix, flags=flags, **values))


def solicited_directly(what):
    node = off_link(OTHER)
    ktap.equal(first_hop(node), node, what)


def is_rs(frame):
    return frame.type == nd.RS


def check_rs(frame):
    """RFC 4861 4.1."""
    ktap.equal((frame.dest, frame.dst), (nd.ALL_ROUTERS, nd.group_mac(nd.ALL_ROUTERS)),
               "destination")
    ktap.equal((frame.hlim, frame.code, frame.checksum_good()), (255, 0, True), "validity")
    ktap.true(frame.source in (nd.ANY, catalogue.shared.linklocal), f"source {frame.source}")
    ktap.equal(frame.option(nd.SLLA), nd.mac_bytes(catalogue.wire.peer)
               if frame.source != nd.ANY else None, "source link-layer address")


# Next hops: 5.2, 6.3.4

@row("4861 5.2: a link-local destination is on-link")
def _():
    with Router() as router:
        router.begin()
        node = Node(linklocal=True)
        ktap.equal(first_hop(node.me, node.ours), node.me, "who is solicited")


@row("4861 5.2: a destination that an on-link prefix covers is solicited", daily=True)
def _():
    with Router() as router:
        router.begin()
        on_link(router)
        solicited_directly("who is solicited")
        on_link(router, valid=0, preferred=0)


@row("4861 5.2: a destination that no on-link prefix covers goes to the default router")
def _():
    with Router() as router:
        router.begin()
        on_link(router)
        ktap.equal(first_hop(off_link()), router.mac, "first hop")
        on_link(router, valid=0, preferred=0)


@row("4861 6.3.4: L=0 does not make a prefix on-link", daily=True)
def _():
    with Router() as router:
        router.begin()
        on_link(router, flags=0)
        ktap.equal(first_hop(off_link(OTHER)), router.mac, "first hop")


@row("4861 6.3.4: L=0 does not end an on-link prefix")
def _():
    with Router() as router:
        router.begin()
        on_link(router)
        on_link(router, flags=0, valid=0, preferred=0)
        solicited_directly("who is solicited")
        on_link(router, valid=0, preferred=0)


@row("4861 6.3.5: an on-link prefix lasts as long as its valid lifetime")
def _():
    with Router() as router:
        router.begin()
        on_link(router, valid=10, preferred=10)
        time.sleep(8)		# before its lifetime's end
        solicited_directly("who is solicited after 8 s")
        time.sleep(4)		# after it
        ktap.equal(first_hop(off_link(OTHER)), router.mac, "first hop after 12 s")


@row("4861 6.3.4: an on-link prefix is renewed by what is advertised next", daily=True)
def _():
    with Router() as router:
        router.begin()
        for _ in range(2):
            on_link(router, valid=10, preferred=10)
            time.sleep(6)		# of a lifetime of 10 s
        solicited_directly("who is solicited after 12 s")
        time.sleep(6)		# now it is over
        ktap.equal(first_hop(off_link(OTHER)), router.mac, "first hop after 18 s")


@row("4861 6.3.4: a prefix of 96 bits is on-link, though of no use for an address")
def _():
    with Router() as router:
        router.begin()
        catalogue.wire.flush()
        router.ra(options=nd.prefix_option(OTHER, plen=96))
        own = frames(lambda f: f.type == nd.NS and f.source == nd.ANY, 3)
        ktap.equal(own, [], "probes for an address of this prefix")
        solicited_directly("who is solicited")
        ktap.equal(first_hop(off_link(OTHER + "1:0:")), router.mac, "first hop beyond the 96 bits")
        router.ra(options=nd.prefix_option(OTHER, plen=96, valid=0, preferred=0))


@row("4861 6.3.6: the default router that is heard of is the next hop")
def _():
    with Router() as router:
        router.ra(lifetime=600)
        ktap.equal(first_hop(), router.mac, "first hop")


@row("4861 5.2: without a default router nothing is taken to be on-link (RFC 5942)", daily=True)
def _():
    ktap.equal(first_hop(), None, "first hop")


@row("4861 6.3.6, 7.3.3: a default router that does not answer gives way to another one",
     daily=True)
def _():
    with Router() as one, Router() as two:
        one.begin()
        two.ra()
        time.sleep(catalogue.REACHABLE_OVER)	# what the router said is STALE then
        catalogue.wire.flush()
        ktap.equal(first_hop(), one.mac, "first hop in STALE")
        ktap.equal(len(frames(one.solicits, 10)), 3, "probes")
        ktap.equal(first_hop(), two.mac, "first hop when the probes are over")


# Solicitations: 6.3.7

@row("4861 6.3.7: solicitations begin within a second, intervals as RFC 7559 says")
def _():
    catalogue.restart()
    begin = time.time()
    seen = frames(is_rs, 40)
    ktap.true(seen[0].time - begin <= 1 + catalogue.LATE, "MAX_RTR_SOLICITATION_DELAY")
    gaps = [two.time - one.time for one, two in zip(seen, seen[1:])]
    ktap.equal(len(gaps), 3, f"gaps {gaps} of about 4, 8 and 16 s in 40 s")
    # A timer may be an eighth late; RT is at least 1.9 and at most 2.1 times the one before.
    low, high = 0.9 * 4, 1.1 * 4
    for gap in gaps:
        ktap.true(low - catalogue.EARLY <= gap <= high * 9 / 8 + catalogue.EARLY,
                  f"gap {gap:.2f} s is between {low:.2f} and {high:.2f} s")
        low, high = 1.9 * gap * 8 / 9, 2.1 * gap
    for frame in seen:
        check_rs(frame)
    Router().gone_after_ra()


def solicited(what, make, enough, daily=False):
    @row(f"4861 6.3.7: after {what} the host solicits {'no more' if enough else 'on'}", daily)
    def _():
        with Router() as router:
            catalogue.restart()
            check_rs(catalogue.wire.expect(is_rs, "solicitation"))
            time.sleep(2)	# the link-local address is ready
            router.send(make(router))
            seen = frames(is_rs, 8)
            ktap.equal(not seen, enough, f"silence, seen: {seen}")
            router.ra()


def valid(router, **values):
    """An advertisement with nothing wrong, but for these values."""
    return nd.ra(values.pop("source", router.linklocal),
                 options=nd.lladdr_option(nd.SLLA, router.mac), **values)


solicited("an advertisement without address", lambda r: nd.ra(r.linklocal), True)
solicited("an advertisement with address", valid, True, daily=True)
solicited("a unicast advertisement", lambda r: valid(r, dest=catalogue.shared.linklocal), True)
solicited("one of a global source", lambda r: valid(r, source=r.address), False)
solicited("one of hop limit 254", lambda r: valid(r, hlim=254), False)
solicited("one with a wrong checksum", lambda r: catalogue.spoiled(valid(r)), False)
solicited("one of code 1", lambda r: valid(r, code=1), False)


def host_ignores_rs(what, dest):
    @row(f"4861 6.2.6: a host ignores solicitations {what}", daily=what == "to itself")
    def _():
        node = Node(linklocal=True)
        catalogue.wire.flush()
        node.send(nd.icmp(node.me, dest or catalogue.shared.linklocal, nd.RS,
                          bytes(4) + nd.lladdr_option(nd.SLLA, node.mac)))
        catalogue.wire.silence(lambda f: f.type in (nd.RA, nd.NS, nd.NA), "answer", 3)
        node.judge("none")


host_ignores_rs("to all routers", nd.ALL_ROUTERS)
host_ignores_rs("to all nodes", nd.ALL_NODES)
host_ignores_rs("to itself", None)


# Validity: 6.1.2

def invalid(what, make, daily=False):
    @row(f"4861 6.1.2: advertisement with {what} is ignored", daily)
    def _():
        router = Router()
        router.send(make(router))
        ktap.equal(first_hop(), None, "first hop")
        router.judge("none")


invalid("a global source", lambda r: valid(r, source=r.address), True)
invalid("hop limit 254", lambda r: valid(r, hlim=254))
invalid("a wrong checksum", lambda r: catalogue.spoiled(valid(r)))
invalid("code 1", lambda r: valid(r, code=1))
invalid("length 14", lambda r: catalogue.short(valid(r), 14))
invalid("an option of length 0", lambda r: nd.ra(r.linklocal,
                                                 options=bytes([nd.SLLA, 0]) + bytes(6)), True)


# Values: 6.3.4

def hop_limits(*steps):
    """(advertised, used after it)"""
    with Router() as router:
        for said, used in steps:
            router.ra(hop_limit=said)
            node = Node()
            seq = node.incomplete()
            node.na(nd.SOLICITED | nd.OVERRIDE)
            reply = catalogue.wire.expect(lambda f, n=node, s=seq: n.replies(f, s), "reply")
            ktap.equal(reply.hlim, used, f"hop limit after {said} was advertised")


@row("4861 6.3.4: current hop limit 0 is unspecified, the one before stays")
def _():
    hop_limits((0, 64), (100, 100), (0, 100))


@row("4861 6.3.4: current hop limit is taken", daily=True)
def _():
    hop_limits((65, 65), (15, 15), (255, 255))


@row("4861 6.3.4: router lifetime is renewed by the next advertisement", daily=True)
def _():
    with Router() as router:
        router.begin()
        for _ in range(2):
            router.ra(lifetime=10)
            time.sleep(6)		# of a lifetime of 10 s
        ktap.equal(first_hop(), router.mac, "first hop after 12 s")


@row("4861 6.3.4: router lifetime 0 ends it at once")
def _():
    with Router() as router:
        router.begin()
        router.ra(lifetime=0)
        ktap.equal(first_hop(), None, "first hop")


@row("4861 6.3.5: a router is one as long as its lifetime")
def _():
    with Router() as router:
        router.begin(lifetime=10)
        time.sleep(8)		# before its lifetime's end
        ktap.equal(first_hop(), router.mac, "first hop after 8 s")
        time.sleep(4)		# after it
        ktap.equal(first_hop(), None, "first hop after 12 s")


def reachable_for(router, said, seconds, state):
    """The state of an entry that was confirmed so long ago, after this was advertised."""
    router.ra(reachable=said)
    node = Node()
    node.reachable()
    time.sleep(seconds)
    node.judge(state)


@row("4861 6.3.2, 6.3.4: a longer reachable time is taken, half of it to one and a half")
def _():
    with Router() as router:
        reachable_for(router, 200_000, 95, "reachable")


@row("4861 6.3.2, 6.3.4: a shorter reachable time is taken, half of it to one and a half",
     daily=True)
def _():
    with Router() as router:
        reachable_for(router, 4000, 8, "stale")


@row("4861 6.3.4: reachable time 0 is unspecified, the one before stays")
def _():
    with Router() as router:
        reachable_for(router, 200_000, 95, "reachable")
        reachable_for(router, 0, 95, "reachable")


@row("4861 6.3.4: retransmission time is taken, 0 is unspecified")
def _():
    with Router() as router:
        for said in (3000, 0):
            router.ra(retrans=said)
            node = Node()
            catalogue.wire.flush()
            node.echo()
            seen = frames(node.solicits, 12)
            gaps = [round(two.time - one.time, 1) for one, two in zip(seen, seen[1:])]
            ktap.true(len(gaps) == 2 and all(2.9 <= gap <= 3.5 for gap in gaps), f"gaps {gaps}")


# The router's neighbor entry: 6.3.4

NAMES = {"mine": "the same address", "other": "another address", "": "no address"}


def cached(state, slla, outcome, mac="mine", daily=False):
    new = ", new address" if mac == "other" else ""
    name = "no entry"

    @row(f"4861 6.3.4: {state.upper() if state != 'none' else name}, advertisement with "
         f"{NAMES[slla]}: {outcome.upper() if outcome != 'none' else name}{new}", daily)
    def _():
        router = Router()
        router.bring(state, nd.ROUTER)
        router.ra(slla, lifetime=0)
        router.judge(outcome, mac)


for STATE in ("none", "incomplete"):
    cached(STATE, "mine", "stale", daily=True)
    cached(STATE, "", STATE)
for STATE in ("reachable", "stale", "probe"):
    cached(STATE, "other", "stale", "other", daily=STATE == "probe")
    cached(STATE, "mine", STATE)
    cached(STATE, "", STATE)


def is_router(slla, daily=False):
    @row(f"4861 6.3.4: an advertisement with {NAMES[slla]} makes a neighbor a router", daily)
    def _():
        with Router() as router:
            router.reachable()		# R=0
            router.ra(slla, lifetime=600)
            mac = router.other if slla == "other" else router.mac
            ktap.equal(first_hop(), mac, "first hop")
            # Only who was a router can cease to be one (7.2.5).
            router.na(nd.OVERRIDE, slla)
            ktap.equal(first_hop(), None, "first hop after R=0")


is_router("")
is_router("mine", daily=True)
is_router("other")

ktap.main(setup=catalogue.setup)
