#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# RFC 4861 7.1.2 and 7.2.5 as a table: a Neighbor Advertisement in each state of the entry, with
# each combination of flags, address and destination. A router that is none any more sends it,
# too. Titles say section, state, message, outcome.
#
# guest: stock
# guest-options: --virtual-time
# timeout: 300

import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import catalogue  # noqa: E402
import ktap  # noqa: E402
import nd  # noqa: E402
from catalogue import Node, Router, row  # noqa: E402

ADDRESSES = {"mine": "the same address", "other": "another address", "": "no address"}


def title(state, flags, tlla, group, outcome, mac):
    """How a row is called."""
    bits = " ".join(f"{name}={int(bool(flags & bit))}" for name, bit in (
        ("S", nd.SOLICITED), ("O", nd.OVERRIDE)))
    where = ", new address" if mac == "other" else ""
    name = {"none": "no entry"}
    return (f"4861 7.2.5: {name.get(state, state.upper())}, {bits}, {ADDRESSES[tlla]}"
            f"{', to all nodes' if group else ''}: {name.get(outcome, outcome.upper())}{where}")


def known(state, flags, tlla):
    """7.2.5 in the RFC's words: (state, address)."""
    if state == "none" or state == "incomplete" and not tlla:
        return state, "mine"
    if state == "incomplete":
        return "reachable" if flags & nd.SOLICITED else "stale", "mine"
    differs = tlla == "other"
    if not flags & nd.OVERRIDE and differs:
        return ("stale" if state == "reachable" else state), "mine"
    mac = "other" if differs else "mine"
    if flags & nd.SOLICITED:
        return "reachable", mac
    return ("stale" if differs else state), mac


FLAGS = [s | o for s in (0, nd.SOLICITED) for o in (0, nd.OVERRIDE)]


def table():
    """Every valid advertisement in every state."""
    for state, flags, tlla in itertools.product(("none", "incomplete"), FLAGS, ("mine", "")):
        yield (state, flags, tlla, False) + known(state, flags, tlla)
    for state, flags, tlla, group in itertools.product(
            ("reachable", "stale", "probe"), FLAGS, ADDRESSES, (False, True)):
        if not (group and flags & nd.SOLICITED):
            yield (state, flags, tlla, group) + known(state, flags, tlla)


def add(state, flags, tlla, group, outcome, mac):
    daily = not group and tlla == {"none": "mine", "incomplete": ""}.get(state, "other")

    @row(title(state, flags, tlla, group, outcome, mac), daily and flags != nd.OVERRIDE)
    def _():
        node = Node()
        waits = node.bring(state)
        node.na(flags, tlla, dest=nd.ALL_NODES if group else None)
        if state == "none":
            catalogue.wire.silence(node.solicits, "solicitation for who advertises", 1)
        elif waits and outcome != state:
            reply = catalogue.wire.expect(lambda f: node.replies(f, waits), "reply that waited", 1)
            ktap.equal(reply.dst, node.mac, "Ethernet destination")
        node.judge(outcome, mac)


for entry in table():
    add(*entry)


def invalid(what, make, daily=False):
    @row(f"4861 7.1.2: advertisement with {what} is ignored", daily)
    def _():
        node = Node()
        node.incomplete()
        node.send(make(node))
        node.judge("incomplete")


def tells(node, **more):
    more.setdefault("dest", node.ours)
    return nd.na(node.me, node.me, flags=nd.SOLICITED | nd.OVERRIDE, tlla=node.mac, **more)


invalid("a multicast target", lambda n: nd.na(
    n.me, nd.solicited_node(n.me), dest=n.ours, flags=nd.SOLICITED | nd.OVERRIDE, tlla=n.mac))
invalid("S=1 to all nodes", lambda n: tells(n, dest=nd.ALL_NODES), True)
invalid("hop limit 254", lambda n: tells(n, hlim=254), True)
invalid("a wrong checksum", lambda n: catalogue.spoiled(tells(n)))
invalid("code 1", lambda n: tells(n, code=1))
invalid("length 16", lambda n: catalogue.short(tells(n), 16))
invalid("an option of length 0", lambda n: nd.na(
    n.me, n.me, dest=n.ours, flags=nd.SOLICITED | nd.OVERRIDE,
    more=bytes([nd.TLLA, 0]) + bytes(6)))


def no_router(flags, tlla, stays):
    bits = f"S={int(bool(flags & nd.SOLICITED))} O={int(bool(flags & nd.OVERRIDE))}"

    @row(f"4861 7.2.5: R=0 from the default router, {bits}, {ADDRESSES[tlla]}: "
         f"{'nothing but doubt' if stays else 'none any more'}", daily=flags == nd.SOLICITED)
    def _():
        with Router() as router:
            router.begin(slla="")
            router.na(flags, tlla)
            ktap.equal(catalogue.first_hop(), router.mac if stays else None, "first hop")
            router.judge("stale" if stays else "reachable")


for FLAG in FLAGS:
    for TLLA in ("mine", ""):
        no_router(FLAG, TLLA, False)
    if not FLAG & nd.OVERRIDE:
        no_router(FLAG, "other", True)


@row("4861 7.2.5: R=0 from one of two default routers: the other one is used")
def _():
    with Router() as one, Router() as two:
        one.begin()
        two.reachable(nd.ROUTER)
        two.ra()
        one.na(nd.OVERRIDE)
        ktap.equal(catalogue.first_hop(), two.mac, "first hop")


ktap.main(setup=catalogue.setup)
