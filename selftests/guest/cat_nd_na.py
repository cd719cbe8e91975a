#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# RFC 4861 7.2.5 as a table: a Neighbor Advertisement in each state of the entry, with each
# combination of flags, address and destination. Titles say section, state, message, outcome.
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
from catalogue import Node, row  # noqa: E402

ADDRESSES = {"mine": "the same address", "other": "another address", "": "no address"}


def title(state, flags, tlla, group, outcome, mac):
    """How a row is called."""
    bits = " ".join(f"{name}={int(bool(flags & bit))}" for name, bit in (
        ("S", nd.SOLICITED), ("O", nd.OVERRIDE)))
    where = {"mine": "", "other": ", new address", None: ""}[mac]
    return (f"4861 7.2.5: {state.upper()}, {bits}, {ADDRESSES[tlla]}"
            f"{', to all nodes' if group else ''}: {outcome.upper()}{where}")


def known(state, flags, tlla):
    """7.2.5 for an entry with an address, in the RFC's words: (state, address)."""
    differs = tlla == "other"
    if not flags & nd.OVERRIDE and differs:
        return ("stale" if state == "reachable" else state), "mine"
    mac = "other" if differs else "mine"
    if flags & nd.SOLICITED:
        return "reachable", mac
    return ("stale" if differs else state), mac


def table():
    """Every advertisement that is valid in every state but INCOMPLETE."""
    for state, solicited, override, tlla, group in itertools.product(
            ("reachable", "stale", "probe"), (0, nd.SOLICITED), (0, nd.OVERRIDE),
            ADDRESSES, (False, True)):
        if not (group and solicited):
            flags = solicited | override
            yield (state, flags, tlla, group) + known(state, flags, tlla)


def add(state, flags, tlla, group, outcome, mac, daily):
    @row(title(state, flags, tlla, group, outcome, mac), daily)
    def _():
        node = Node()
        node.bring(state)
        node.na(flags, tlla, dest=nd.ALL_NODES if group else None)
        node.judge(outcome, mac)


for entry in table():
    add(*entry, daily=entry[3] is False and entry[2] == "other")

ktap.main(setup=catalogue.setup)
