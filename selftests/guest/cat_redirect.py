#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A host's catalogue, Redirects of RFC 4861 section 8: to the destination itself and to another
# router, with messages that are valid, odd or invalid. Then what they make of the target's
# neighbor entry. Titles say section and case.
#
# guest: stock+
# guest-options: --virtual-time
# timeout: 300

import itertools
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import catalogue  # noqa: E402
import ktap  # noqa: E402
import nd  # noqa: E402
from catalogue import OURS, Node, Router  # noqa: E402

REDIRECTED = 4		# option, RFC 4861 4.6.3
ANSWER = nd.SOLICITED | nd.OVERRIDE
row = catalogue.rows(4861)
destinations = (f"2001:db8:ff::{number:x}" for number in itertools.count(1))
OPTIONS = {"no option": "", "the packet": "p", "the target's address": "a",
           "the packet and the target's address": "pa"}


def redirected_header(about):
    """Of an echo reply, a multiple of 8 octets long."""
    packet = nd.icmp(OURS, about, nd.REPLY, struct.pack("!HH", 77, 1) + bytes(8), hlim=64)
    return struct.pack("!BB6x", REDIRECTED, 1 + len(packet) // 8) + packet


def redirect(router, target, about, mac="", packet=False, more=b"", source=None, **ip):
    """From the router; mac is the target's link-layer address."""
    more += redirected_header(about) if packet else b""
    return nd.redirect(source or router.linklocal, OURS, target, about, tlla=mac, more=more, **ip)


def spoilt(message):
    """With a checksum that is wrong."""
    return message[:42] + bytes([message[42] ^ 1]) + message[43:]


def stay(router, about):
    """Packets to the destination go to this router still."""
    ktap.equal(catalogue.first_hop(about), router.mac, f"where {about} is sent to")


def moved(node, about, known):
    """Packets to the destination go to the node now, whose address is known or asked for."""
    if known:
        stay(node, about)
        return
    asked = Node(me=about)
    catalogue.wire.flush()
    seq = asked.echo()
    node.expect_ns()
    node.na(ANSWER)
    reply = catalogue.wire.expect(lambda f: asked.replies(f, seq), "reply")
    ktap.equal(reply.dst, node.mac, "Ethernet destination of the reply")


def better(onlink, about):
    """The better first hop: the destination itself, or another router."""
    return Node(me=about) if onlink else Router()


def valid(onlink, options):
    with Router() as router:
        about = next(destinations)
        router.ra()
        stay(router, about)
        node = better(onlink, about)
        router.send(redirect(router, node.me, about, "a" in options and node.mac or "",
                             "p" in options))
        moved(node, about, "a" in options)


def odd(onlink, what):
    with Router() as router:
        about = next(destinations)
        router.ra()
        stay(router, about)
        node = better(onlink, about)
        message = redirect(router, node.me, about, node.mac,
                           more=b"\xff\1" + bytes(6) if what == "option" else b"")
        if what == "reserved":
            raw = message[40:44] + b"\xff" * 4 + message[48:]
            message = nd.icmp(router.linklocal, OURS, nd.REDIRECT, raw[4:])
        router.send(message)
        moved(node, about, True)


# What is wrong: (router, target's address, destination, link-layer address) to message.
INVALID = {
    "from a global address": lambda r, t, d, mac: redirect(r, t, d, mac, source=r.address),
    "from another than the first hop": lambda r, t, d, mac: redirect(
        r, t, d, mac, source=Router().linklocal),
    "with hop limit 254": lambda r, t, d, mac: redirect(r, t, d, mac, hlim=254),
    "with code 1": lambda r, t, d, mac: redirect(r, t, d, mac, code=1),
    "with a bad checksum": lambda r, t, d, mac: spoilt(redirect(r, t, d, mac)),
    "about a group": lambda r, t, d, mac: redirect(r, t, "ff0e::1:2", mac),
    "to a target that is neither link-local nor the destination": lambda r, t, d, mac: redirect(
        r, f"{catalogue.PREFIX}fffe", d, mac),
    "of 24 octets": lambda r, t, d, mac: nd.icmp(r.linklocal, OURS, nd.REDIRECT,
                                                 bytes(4) + nd.packed(t)),
    "with an option of length 0": lambda r, t, d, mac: redirect(
        r, t, d, mac, more=b"\4\0" + bytes(6)),
}


def invalid(onlink, make):
    with Router() as router:
        about = next(destinations)
        router.ra()
        stay(router, about)
        node = better(onlink, about)
        router.send(make(router, node.me, about, node.mac))
        stay(router, about)


def twice():
    with Router() as first:
        about, second, third = next(destinations), Router(), Router()
        first.ra()
        stay(first, about)
        first.send(redirect(first, second.linklocal, about, second.mac))
        stay(second, about)
        second.send(redirect(second, third.linklocal, about, third.mac))
        stay(third, about)
        first.send(redirect(first, second.linklocal, about, second.mac))
        stay(third, about)


def foreign_option(option):
    """Options of other messages are ignored, the Redirect is not."""
    with Router() as router:
        about, other, inside = next(destinations), Router(), "2001:db8:eeee::1"
        router.ra()
        stay(router, about)
        router.send(redirect(router, other.linklocal, about, more=option))
        moved(other, about, False)
        stay(router, inside)
        ktap.equal(next(i["mtu"] for i in nd.show(catalogue.A, "interfaces")
                        if i["dev"] == "a0"), 1500, "MTU of the interface")


def no_destination():
    with Router() as router:
        about, other = next(destinations), Router()
        router.ra()
        router.send(redirect(router, other.linklocal, about, other.mac, True))
        stay(other, about)


def entry(state, options, which, wanted, used):
    """What a Redirect to a target whose entry is in this state makes of the entry."""
    with Router() as router:
        about, target = next(destinations), Router()
        router.ra(lifetime=9000)
        waits = target.bring(state, nd.ROUTER)
        mac = {"": "", "mine": target.mac, "other": target.other}[which]
        router.send(redirect(router, target.linklocal, about, mac, "p" in options))
        if state == "incomplete" and mac:
            sent = catalogue.wire.expect(lambda f: target.replies(f, waits), "reply that waited")
            ktap.equal(sent.dst, mac, "its Ethernet destination")
        target.judge(wanted, used)


def nothing_changes(make):
    with Router() as router:
        about, target = next(destinations), Router()
        router.ra()
        target.reachable(nd.ROUTER)
        router.send(make(router, target.linklocal, about, target.other))
        target.judge("reachable", "mine")


for is_onlink, name in ((True, "the destination is on-link"), (False, "another router")):
    for what, letters in OPTIONS.items():
        row("8.3", f"{name}, valid, with {what}", valid, is_onlink, letters,
            daily=letters == "pa")
    row("8.1", f"{name}, an unknown option is ignored", odd, is_onlink, "option")
    row("8.1", f"{name}, reserved bits are ignored", odd, is_onlink, "reserved")
    if is_onlink:
        row("8.3", f"{name}, though no prefix says so", odd, True, "prefix")
    for what, maker in INVALID.items():
        row("8.1", f"{name}, {what}: discarded", invalid, is_onlink, maker,
            daily="first hop" in what)
row("8.3", "redirected twice, then by one that is no first hop any more", twice, daily=True)
row("8.1", "an MTU option is ignored", foreign_option, nd.mtu_option(1280))
row("8.1", "a prefix option is ignored", foreign_option, nd.prefix_option("2001:db8:eeee::"))
row("8.1", "a source link-layer address is ignored", foreign_option,
    nd.lladdr_option(nd.SLLA, "02:00:00:00:00:77"))
row("8.3", "a destination that nothing was sent to yet", no_destination)

for old in ("none", "incomplete"):
    for what, letters in OPTIONS.items():
        row("8.3", f"target's entry {old}, with {what}", entry, old, letters,
            "mine" if "a" in letters else "", "stale" if "a" in letters else old, "mine")
for old in ("reachable", "stale", "probe"):
    for what, letters, which in (
            ("no option", "", ""), ("the packet", "p", ""),
            ("the address that is known", "a", "mine"), ("another address", "a", "other"),
            ("the packet and another address", "pa", "other")):
        row("8.3", f"target's entry {old}, with {what}", entry, old, letters, which,
            "stale" if which == "other" else old, which or "mine",
            daily=old == "reachable" and letters == "a")
for what, maker in INVALID.items():
    row("8.1", f"the target's entry is not changed by a Redirect {what}", nothing_changes, maker)
ktap.main(setup=catalogue.setup)
