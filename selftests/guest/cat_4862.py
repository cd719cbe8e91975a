#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A host's catalogue, RFC 4862: duplicate address detection with messages that count and
# messages that do not, addresses from prefixes, lifetimes and the two-hour rule. One test a
# case, named by section. Time is virtual. Rows marked daily run in "make check", all
# with NET6_FULL.
#
#	A [a0 net6] ------ [b0 raw frames: another node, a router] B
#
# guest: stock
# guest-options: --virtual-time
# timeout: 300

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import catalogue
import ktap
import nd
from nd import NA, NS

HOUR = 3600
LATE = 30	# seconds that a lifetime may have run when it is looked at
row = catalogue.rows(4862)
A, B, wire = nd.ends()
prefixes = (f"2001:db8:{number:x}::" for number in range(1, 100))


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.linklocal(A)
    nd.net6ctl(A, "set", "limits", "max-addrs", "64")


def restart():
    """DAD of the link-local address from the beginning; it is the same each time."""
    nd.bounce(A, "a0", wire)
    return wire.expect(nd.is_probe, "DAD probe")


def answer(address, seconds=0.5):
    wire.send(nd.ns(wire.linklocal, address, slla=wire.mac))
    return wire.wait(lambda f: f.type == NA and f.target == address, seconds)


def assigned(probe):
    """Nobody objected: the address is answered for RetransTimer after the probe."""
    first = ktap.wait_for(5, "the address is assigned", lambda: answer(probe.target, 0.1))
    ktap.true(first.time - probe.time >= 0.95, f"after {first.time - probe.time} s, not before")


def refused(probe):
    """It is a duplicate: another one is tried, this one never answered for (5.4.5)."""
    other = wire.expect(lambda f: nd.is_probe(f) and f.target != probe.target, "another address")
    ktap.wait_for(5, "the other is assigned", lambda: answer(other.target, 0.1))
    ktap.equal(answer(probe.target, 3), None, "an answer for the duplicate")
    ktap.equal(nd.find(A, "addresses", probe.target), None, "its entry")


def basic():
    probe = restart()
    ktap.true(nd.packed(probe.target)[:8] == nd.packed("fe80::")[:8], "link-local")
    ktap.equal((probe.source, probe.dest, probe.hlim, probe.code),
               ("::", nd.solicited_node(probe.target), 255, 0), "header")
    ktap.equal((probe.dst, probe.option(nd.SLLA)), (nd.group_mac(probe.dest), None),
               "Ethernet destination, source link-layer address")
    ktap.true(probe.checksum_good(), "checksum")
    wire.silence(nd.is_probe, "a second probe, DupAddrDetectTransmits is 1", 0.9)
    assigned(probe)


def other_than(address):
    raw = bytearray(nd.packed(address))
    raw[8] ^= 1
    return nd.ipaddress.IPv6Address(bytes(raw)).compressed


def spoilt(packet):
    """With a checksum that is wrong."""
    return packet[:42] + bytes([packet[42] ^ 1]) + packet[43:]


def during_dad(message, verdict, reason=None, mac=None):
    """A message that comes between probe and assignment; reason: why it is dropped."""
    before = nd.drops(A)
    probe = restart()
    wire.send(message(probe.target), mac=mac and wire.peer)
    verdict(probe)
    if reason:
        after = nd.drops(A)
        ktap.true(after[reason] > before[reason], f"dropped for {reason}")


def ns_of(**more):
    return lambda target: nd.ns("::", target, **more)


def na_of(**more):
    return lambda target: nd.na(target, target, tlla=wire.mac, **more)


def body(kind, target, dest, reserved=bytes(4), options=b"", source="::"):
    return nd.icmp(source, dest or nd.solicited_node(target), kind,
                   reserved + nd.packed(target) + options)


def detection():
    row("5.4", "an address nobody objects to is assigned RetransTimer after one probe", basic,
        daily=True)
    row("5.4.3", "a probe for another address is no conflict", during_dad,
        lambda t: nd.ns("::", other_than(t)), assigned)
    row("5.4.3", "a probe for the tentative address is a conflict", during_dad, ns_of(), refused,
        daily=True)
    row("5.4.4", "an advertisement of another address is no conflict", during_dad,
        lambda t: nd.na(other_than(t), other_than(t), tlla=wire.mac), assigned)
    row("5.4.4", "an advertisement of the tentative address is a conflict", during_dad, na_of(),
        refused, daily=True)


def invalid_probes():
    for what, message, reason in (
            ("of 20 octets", lambda t: nd.icmp("::", nd.solicited_node(t), NS, bytes(16)),
             "ND_SHORT"),
            ("with hop limit 254", ns_of(hlim=254), "ND_HOP_LIMIT"),
            ("to all nodes", ns_of(dest=nd.ALL_NODES), "ND_DEST"),
            ("with code 1", ns_of(code=1), "ND_CODE"),
            ("with a bad checksum", lambda t: spoilt(nd.ns("::", t)), "ICMP_CSUM"),
            ("for a group", lambda t: nd.ns("::", nd.solicited_node(t),
                                            dest=nd.solicited_node(t)), "ND_TARGET"),
            ("with a source link-layer address", lambda t: nd.ns("::", t, slla=wire.mac),
             "ND_OPTION"),
            ("with an option of length 0", ns_of(more=b"\x0e\0" + bytes(6)), "ND_OPTION")):
        row("5.4.3", f"a probe {what} is no conflict", during_dad, message, assigned, reason,
            daily="254" in what)
    row("5.4.3", "a probe to the tentative address itself is no conflict", during_dad,
        lambda t: nd.ns("::", t, dest=t), assigned, None, True)
    row("5.4.3", "a probe with reserved bits is a conflict", during_dad,
        lambda t: body(NS, t, None, b"\xff" * 4), refused)
    row("5.4.3", "a probe with a target link-layer address is a conflict", during_dad,
        lambda t: body(NS, t, None, options=nd.lladdr_option(nd.TLLA, wire.mac)), refused)


def invalid_advertisements():
    for what, message, reason in (
            ("of 20 octets", lambda t: nd.icmp(t, nd.ALL_NODES, NA, bytes(16)), "ND_SHORT"),
            ("with hop limit 254", na_of(hlim=254), "ND_HOP_LIMIT"),
            ("with code 1", na_of(code=1), "ND_CODE"),
            ("with a bad checksum", lambda t: spoilt(na_of()(t)), "ICMP_CSUM"),
            ("to a group, solicited,", na_of(flags=nd.SOLICITED | nd.OVERRIDE), "ND_DEST"),
            ("of a group", lambda t: nd.na(t, nd.solicited_node(t), tlla=wire.mac), "ND_TARGET"),
            ("with an option of length 0", na_of(more=b"\2\0" + bytes(6)), "ND_OPTION")):
        row("5.4.4", f"an advertisement {what} is no conflict", during_dad, message, assigned,
            reason, daily="group, sol" in what)
    row("5.4.4", "an advertisement with reserved bits is a conflict", during_dad,
        lambda t: body(NA, t, nd.ALL_NODES, b"\x3f\xff\xff\xff",
                       nd.lladdr_option(nd.TLLA, wire.mac), t), refused)
    row("5.4.4", "an advertisement with a source link-layer address is a conflict", during_dad,
        lambda t: body(NA, t, nd.ALL_NODES, b"\x20\0\0\0", nd.lladdr_option(nd.SLLA, wire.mac), t),
        refused)


def resolution_while_tentative():
    def asked(unicast):
        probe = restart()
        wire.send(nd.ns(wire.linklocal, probe.target, slla=wire.mac,
                        dest=probe.target if unicast else None), mac=unicast and wire.peer)
        wire.silence(lambda f: f.type == NA, "an answer while tentative", 0.8)
        assigned(probe)

    for unicast in (False, True):
        row("5.4.3", "a solicitation of one who resolves the tentative address, to "
            + ("the address" if unicast else "its group") + ": neither answer nor conflict",
            asked, unicast)


def advertise(*options, router=None):
    wire.send(nd.ra(router or wire.linklocal, options=b"".join(options)))


def formed(prefix, state="preferred"):
    def done():
        return next((a for a in nd.slaac(A, prefix) if a["state"] == state), None)
    return ktap.wait_for(8, f"an address in {prefix} is {state}", done)


def none_formed(prefix):
    wire.silence(nd.is_probe, "a probe", 3)
    ktap.equal(nd.slaac(A, prefix), [], "addresses")


def probed(prefix):
    return wire.expect(lambda f: nd.is_probe(f) and nd.packed(f.target)[:8] == nd.packed(prefix)[:8],
                       "probe for a global address")


def global_addresses():
    def detected(message, verdict):
        prefix = next(prefixes)
        wire.flush()
        advertise(nd.prefix_option(prefix))
        probe = probed(prefix)
        if message:
            wire.send(message(probe.target))
        verdict(probe)

    row("5.5.3", "a global address nobody objects to is assigned", detected, None, assigned,
        daily=True)
    row("5.4.5", "a global address that another node probes for is a duplicate", detected,
        ns_of(), refused)
    row("5.4.5", "a global address that another node advertises is a duplicate", detected,
        na_of(), refused)


def expiry():
    prefix = next(prefixes)
    advertise(nd.prefix_option(prefix, valid=30, preferred=20))
    address = formed(prefix)["address"]
    ktap.true(answer(address), "answered for while preferred")
    time.sleep(20)		# its preferred lifetime
    ktap.equal(nd.find(A, "addresses", address)["state"], "deprecated", "after 20 seconds")
    ktap.true(answer(address), "answered for while deprecated")
    time.sleep(10)		# and the rest of its valid one
    ktap.equal(answer(address, 2), None, "an answer when the valid lifetime is over")
    ktap.equal(nd.find(A, "addresses", address), None, "its entry")


def renumbering():
    """New connections are from the new prefix while the old one still works (5.5.4)."""
    old, new, remote = next(prefixes), next(prefixes), "2001:db8:ffff::1"

    def source():
        with ktap.net6_socket(nd.socket.SOCK_DGRAM, ns=A) as sock:
            sock.connect((remote, 9))
            return sock.getsockname()[0]
    for other in nd.show(A, "addresses"):
        if other["origin"] == "slaac":
            nd.net6ctl(A, "del", "address", other["address"], "dev", "a0")
    advertise(nd.prefix_option(old, valid=60, preferred=60), nd.lladdr_option(nd.SLLA, wire.mac))
    first = formed(old)["address"]
    ktap.equal(source(), first, "source")
    advertise(nd.prefix_option(old, valid=60, preferred=0), nd.prefix_option(new))
    second = formed(new)["address"]
    ktap.equal((source(), nd.find(A, "addresses", first)["state"]), (second, "deprecated"),
               "source of what is new, state of the old one")
    wire.send(nd.echo(wire.linklocal, first, 7))
    ktap.equal(wire.expect(lambda f: f.type == nd.REPLY, "reply").source, first, "source")
    time.sleep(61)		# the old one's valid lifetime
    ktap.equal(answer(first, 2), None, "an answer for the old address")
    ktap.true(answer(second), "answered for the new one")


def prefix_options():
    def several():
        some = [next(prefixes) for _ in range(3)]
        advertise(*(nd.prefix_option(p) for p in some))
        ktap.equal(len({formed(p)["address"] for p in some}), 3, "addresses")

    def ignored(prefix=None, **values):
        prefix = prefix or next(prefixes)
        wire.flush()
        advertise(nd.prefix_option(prefix, **values))
        none_formed(prefix)

    def lengths(*some):
        for plen in some:
            ignored(plen=plen)

    def infinite():
        prefix = next(prefixes)
        advertise(nd.prefix_option(prefix, valid=nd.FOREVER, preferred=nd.FOREVER))
        address = formed(prefix)
        time.sleep(HOUR / 6)		# for what must not happen
        now = nd.find(A, "addresses", address["address"])
        ktap.equal((now["valid"], now["preferred"], now["state"]),
                   (nd.FOREVER, nd.FOREVER, "preferred"), "after ten minutes")

    def deprecated():
        prefix = next(prefixes)
        advertise(nd.prefix_option(prefix, preferred=0))
        ktap.true(answer(formed(prefix, "deprecated")["address"]), "answered for")

    row("5.5.3", "each of several prefixes makes an address", several)
    row("5.5.3 a", "a prefix without the autonomous flag makes none", lambda: ignored(flags=0x80),
        daily=True)
    row("5.5.3 b", "the link-local prefix makes none", ignored, "fe80::")
    row("5.5.3 c", "preferred above valid lifetime: ignored",
        lambda: ignored(valid=100, preferred=101))
    row("5.5.3 d", "a prefix longer than an address: ignored", lengths, 129, 255)
    row("5.5.3 d", "a prefix shorter than 64 bits makes none", lengths, 1, 63)
    row("5.5.3 d", "a prefix longer than 64 bits makes none", lengths, 65, 128)
    row("5.5.3", "lifetimes of all ones never end", infinite)
    row("5.5.3 d", "a new prefix of valid lifetime 0 makes none",
        lambda: ignored(valid=0, preferred=0))
    row("5.5.4", "a new prefix of preferred lifetime 0 makes a deprecated address", deprecated)


def two_hours():
    def lifetimes(first, then, wanted):
        prefix = next(prefixes)
        advertise(nd.prefix_option(prefix, valid=first, preferred=first))
        formed(prefix)
        advertise(nd.prefix_option(prefix, valid=then, preferred=min(then, 600)))
        seen = ktap.wait_for(8, "the preferred lifetime is taken", lambda: next(
            (a for a in nd.slaac(A, prefix) if a["preferred"] <= 600), None))
        ktap.true(wanted - LATE <= seen["valid"] <= wanted, f"valid for {seen['valid']} seconds")

    for what, *values in (("longer than what is left is taken", HOUR, 90 * 60, 90 * 60),
                          ("above two hours is taken", 4 * HOUR, 3 * HOUR, 3 * HOUR),
                          ("shorter than what is left, which is below two hours, is not taken",
                           HOUR, 60, HOUR),
                          ("below two hours, with more left, leaves two hours",
                           4 * HOUR, 60, 2 * HOUR)):
        row("5.5.3 e", f"a valid lifetime {what}", lifetimes, *values,
            daily="leaves" in what)


for table in (detection, invalid_probes, invalid_advertisements, resolution_while_tentative,
              global_addresses):
    table()
row("5.5.4", "an address is deprecated, then invalid", expiry)
row("5.5.4", "a network is renumbered", renumbering)
prefix_options()
two_hours()
ktap.main(setup=lambda: catalogue.patiently(setup))
