#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Address resolution, unreachability detection and validation, RFC 4861 sections 7
# and 8, seen from the wire and through net6ctl. Echo requests make net6 want to send.
#
#	A [a0 net6, fd00:1::a] ------ [b0 raw frames] B
# guest: stock+
# timeout: 180

import os
import socket
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

OURS = "fd00:1::a"
A, B, wire = nd.ends()
shared = types.SimpleNamespace()	# linklocal: A's address


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    shared.linklocal = nd.linklocal(A)
    nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
    ktap.wait_for(8, "the address is assigned", lambda: (
        nd.find(A, "addresses", OURS) or {}).get("state") == "preferred")


def neighbor(number):
    """A neighbor that nothing is known of."""
    return f"fd00:1::b:{number:x}"


def state(address):
    return (nd.find(A, "neighbors", address) or {}).get("state")


def advertise(address, flags=nd.SOLICITED | nd.OVERRIDE, mac=None, **more):
    wire.send(nd.na(address, address, dest=more.pop("dest", OURS), flags=flags,
                    tlla=wire.mac if mac is None else mac, **more))


def resolve(address):
    """Make it REACHABLE."""
    wire.send(nd.echo(address, OURS, 1))
    wire.expect(nd.solicits(address), "solicitation")
    advertise(address)
    wire.expect(nd.replies(1), "echo reply")
    ktap.equal(state(address), "reachable", "state")


@ktap.test
def solicitation_is_as_rfc4861_says():
    peer = neighbor(1)
    wire.send(nd.echo(peer, OURS, 5))
    seen = wire.expect(nd.solicits(peer), "solicitation")
    ktap.equal(seen.dest, nd.solicited_node(peer), "destination")
    ktap.equal(seen.dst, nd.group_mac(seen.dest), "Ethernet destination")
    ktap.equal(seen.source, OURS, "source is that of the packet that waits")
    ktap.equal(seen.hlim, 255, "hop limit")
    ktap.equal(seen.option(nd.SLLA), nd.mac_bytes(wire.peer), "our address")
    ktap.true(seen.checksum_good(), "checksum")
    ktap.equal(state(peer), "incomplete", "state")
    advertise(peer)
    reply = wire.expect(nd.replies(5), "the reply that waited")
    ktap.equal(reply.dst, wire.mac, "Ethernet destination of the reply")
    ktap.equal(state(peer), "reachable", "state")


@ktap.test
def three_solicitations_then_it_has_failed():
    peer = neighbor(2)
    wire.flush()
    wire.send(nd.echo(peer, OURS))
    seen = wire.exactly(3, nd.solicits(peer), "MAX_MULTICAST_SOLICIT solicitations")
    for one, two in zip(seen, seen[1:]):
        ktap.true(0.9 < two.time - one.time, "RetransTimer apart")
    ktap.equal(state(peer), "failed", "state")
    resolve(peer)


@ktap.test
def queue_is_bounded_and_keeps_the_newest():
    peer = neighbor(3)
    before = nd.drops(A)["NEIGH_QUEUE"]
    wire.flush()
    # 212,992 octets of memory are packets of at least 256.
    sent = 212992 // 256 + 100
    for seq in range(sent):
        wire.send(nd.echo(peer, OURS, seq))
    wire.expect(nd.solicits(peer), "solicitation")
    advertise(peer)
    got = []
    while sent - 1 not in got:
        got.append(wire.expect(lambda f: f.type == nd.REPLY, "echo replies").seq)
    ktap.true(got[0] > 16, "more than a few have waited")
    ktap.equal(got, list(range(got[0], sent)), "echo replies")
    ktap.equal(nd.drops(A)["NEIGH_QUEUE"] - before, got[0], "drops counted")


@ktap.test
def the_largest_datagram_waits_whole():
    peer = neighbor(0x50)
    before = nd.drops(A)["NEIGH_QUEUE"]
    wire.flush()
    with ktap.net6_socket(socket.SOCK_DGRAM, ns=A) as sock:
        sock.sendto(bytes(65527), (peer, 9))
    wire.expect(nd.solicits(peer), "solicitation")
    advertise(peer)
    octets = 0
    while octets < 65535:
        frame = wire.expect(lambda f: f.source == OURS and f.proto == 44, "fragments")
        octets += frame.length - 8
    ktap.equal(octets, 65535, "octets of the datagram")
    ktap.equal(nd.drops(A)["NEIGH_QUEUE"], before, "drops counted")


@ktap.test
def advertisement_without_address_does_not_resolve():
    peer = neighbor(4)
    wire.send(nd.echo(peer, OURS, 1))
    wire.expect(nd.solicits(peer), "solicitation")
    advertise(peer, mac="")
    ktap.equal(state(peer), "incomplete", "state")
    advertise(peer, flags=0)
    wire.expect(nd.replies(1), "echo reply")
    ktap.true(state(peer) in ("stale", "delay"), "not reachable by an unsolicited one")


@ktap.test
def solicitation_teaches_stale_then_delay_probe_and_failure():
    peer = neighbor(5)
    wire.send(nd.ns(peer, OURS, slla=wire.mac))
    answer = wire.expect(lambda f: f.type == nd.NA and f.target == OURS, "answer")
    ktap.equal(answer.flags, nd.SOLICITED | nd.OVERRIDE, "flags")
    ktap.equal(answer.dest, peer, "destination")
    ktap.equal(answer.option(nd.TLLA), nd.mac_bytes(wire.peer), "our address")
    ktap.equal(state(peer), "delay", "stale until the answer went through it")
    probe = wire.expect(nd.solicits(peer), "probe after DELAY_FIRST_PROBE_TIME", 7)
    ktap.equal(probe.dest, peer, "the probe is unicast")
    ktap.equal(probe.dst, wire.mac, "to the address that is known")
    ktap.true(5 <= probe.time - answer.time + 0.2, "5 seconds later")
    ktap.equal(state(peer), "probe", "state")
    wire.exactly(2, nd.solicits(peer), "MAX_UNICAST_SOLICIT is 3")
    ktap.equal(state(peer), "failed", "state")
    resolve(peer)


@ktap.test
def override_flag_by_the_table_of_7_2_5():
    peer, other = neighbor(6), "02:00:00:00:0c:01"

    def known():
        entry = nd.find(A, "neighbors", peer)
        return entry["lladdr"], entry["state"]

    resolve(peer)
    advertise(peer, flags=nd.SOLICITED, mac=other)
    ktap.equal(known(), (wire.mac, "stale"), "O=0, another address: doubt")
    advertise(peer, flags=nd.SOLICITED, mac=other)
    ktap.equal(known(), (wire.mac, "stale"), "O=0 again: nothing")
    advertise(peer, flags=nd.SOLICITED | nd.OVERRIDE, mac=other)
    ktap.equal(known(), (other, "reachable"), "O=1 S=1: taken")
    advertise(peer, flags=nd.OVERRIDE)
    ktap.equal(known(), (wire.mac, "stale"), "O=1 S=0: taken, stale")
    advertise(peer, flags=nd.SOLICITED, mac="")
    ktap.equal(known(), (wire.mac, "reachable"), "S=1 without address: confirmed")


@ktap.test
def advertisement_nobody_asked_for_makes_no_entry():
    peer = neighbor(7)
    advertise(peer)
    advertise(peer, dest=nd.ALL_NODES, flags=nd.OVERRIDE)
    wire.send(nd.echo(neighbor(6), OURS, 9))
    wire.expect(nd.replies(9), "echo reply")
    ktap.equal(state(peer), None, "state")


INVALID = [
    ("ND_HOP_LIMIT", lambda p: nd.ns(p, OURS, slla=wire.mac, hlim=254)),
    ("ND_HOP_LIMIT", lambda p: nd.ns(p, OURS, slla=wire.mac, hlim=0)),
    ("ND_CODE", lambda p: nd.ns(p, OURS, slla=wire.mac, code=1)),
    ("ND_TARGET", lambda p: nd.ns(p, "ff02::1", dest=OURS, slla=wire.mac)),
    ("ND_OPTION", lambda p: nd.ns("::", OURS, slla=wire.mac)),
    ("ND_DEST", lambda p: nd.ns("::", OURS, dest=OURS)),
    ("ND_OPTION", lambda p: nd.ns(p, OURS, more=bytes([1, 0]) + bytes(6))),
    ("ND_OPTION", lambda p: nd.ns(p, OURS, more=bytes([1, 2]) + bytes(6))),
    ("ND_OPTION", lambda p: nd.ns(p, OURS, more=bytes([1, 2]) + bytes(14))),
    ("ND_OPTION", lambda p: nd.ns(p, OURS, slla="33:33:00:00:00:01")),
    ("ND_OPTION", lambda p: nd.ns(p, OURS, more=b"\x01")),
    ("ND_SHORT", lambda p: nd.icmp(p, OURS, nd.NS, bytes(4))),
    ("ND_SHORT", lambda p: nd.icmp(p, OURS, nd.NS, bytes(19))),
    ("ND_DEST", lambda p: nd.na(p, p, flags=nd.SOLICITED, tlla=wire.mac)),
    ("ND_TARGET", lambda p: nd.na(p, "ff02::2", dest=OURS, tlla=wire.mac)),
    ("ND_IGNORED", lambda p: nd.na(p, p, dest=OURS, tlla=wire.mac)),
    ("ND_IGNORED", lambda p: nd.icmp(p, OURS, nd.RS, bytes(4))),
    ("ND_SOURCE", lambda p: nd.redirect(p, OURS, wire.linklocal, "2001:db8::1")),
    ("ND_SOURCE", lambda p: nd.redirect(wire.linklocal, OURS, "fe80::1", "2001:db8::1")),
    ("ND_DEST", lambda p: nd.redirect(wire.linklocal, OURS, "fe80::1", "ff0e::1")),
    ("ND_TARGET", lambda p: nd.redirect(wire.linklocal, OURS, p, "2001:db8::1")),
    ("ND_SHORT", lambda p: nd.icmp(wire.linklocal, OURS, nd.REDIRECT, bytes(35))),
    ("ICMP_CSUM", lambda p: nd.ns(p, OURS)[:-1] + b"\x99"),
]


@ktap.test
def each_invalid_message_has_its_reason_and_no_effect():
    for number, (reason, make) in enumerate(INVALID):
        peer = neighbor(0x100 + number)
        before = nd.drops(A)[reason]
        wire.flush()
        wire.send(make(peer))
        ktap.wait_for(10, f"{reason} of message {number} is counted",
                      lambda r=reason, b=before: nd.drops(A)[r] == b + 1)
        ktap.equal(wire.wait(lambda f: f.type == nd.NA, 0), None, "an answer")
        ktap.equal(state(peer), None, f"entry after message {number}")


@ktap.test
def fragmented_solicitation_is_ignored():
    peer = neighbor(8)
    whole = nd.ns(peer, OURS, slla=wire.mac)[40:]
    before = nd.drops(A)["ND_FRAGMENTED"]
    wire.flush()
    for offset, part, more in ((0, whole[:24], 1), (24, whole[24:], 0)):
        header = bytes([58, 0]) + (offset | more).to_bytes(2, "big") + b"\0\0\0\x07"
        wire.send(nd.ipv6(peer, nd.solicited_node(OURS), 44, header + part))
    ktap.wait_for(10, "it is counted",
                  lambda: nd.drops(A)["ND_FRAGMENTED"] == before + 1)
    wire.silence(lambda f: f.type == nd.NA, "it was answered", 0.3)


@ktap.test
def solicitation_cut_at_every_length():
    whole = nd.ns(neighbor(9), OURS, slla=wire.mac)
    for length in range(len(whole)):
        wire.send(whole[:length] if length > 40 else whole[:40] + bytes(length),
                  mac=nd.group_mac(nd.solicited_node(OURS)))
    wire.send(nd.ns(neighbor(9), OURS, slla=wire.mac))
    wire.expect(lambda f: f.type == nd.NA and f.dest == neighbor(9), "answer to the whole")


@ktap.test
def address_probe_of_another_node_is_answered_to_all():
    wire.flush()
    wire.send(nd.ns("::", OURS, nonce=b"123456"))
    answer = wire.expect(lambda f: f.type == nd.NA and f.target == OURS, "answer")
    ktap.equal(answer.dest, nd.ALL_NODES, "destination")
    ktap.equal(answer.flags, nd.OVERRIDE, "flags")


@ktap.test
def router_that_says_it_is_none_is_forgotten():
    router = wire.linklocal
    wire.send(nd.ra(router, lifetime=600, options=nd.lladdr_option(nd.SLLA, wire.mac)))
    ktap.wait_for(10, "the router is known", lambda: nd.find(A, "routers", router))
    wire.send(nd.na(router, router, dest=OURS, flags=nd.OVERRIDE, tlla=wire.mac))
    ktap.wait_for(10, "the router is gone", lambda: not nd.find(A, "routers", router))


@ktap.test
def table_is_bounded_under_a_flood():
    nd.net6ctl(A, "set", "limits", "max-neighs", "64")
    evicted = nd.counter(A, "NdNeighEvicted")
    resolve(neighbor(0x20))
    for number in range(1000, 2000):
        wire.send(nd.ns(neighbor(number), OURS, slla=wire.mac))
    ktap.wait_for(5, "entries were evicted",
                  lambda: nd.counter(A, "NdNeighEvicted") - evicted > 500)
    ktap.true(len(nd.show(A, "neighbors")) <= 64, "at most 64 neighbors")
    nd.net6ctl(A, "set", "limits", "max-neighs", "1024")
    wire.flush()
    wire.send(nd.ns(neighbor(3000), OURS, slla=wire.mac))
    wire.expect(lambda f: f.type == nd.NA and f.dest == neighbor(3000), "an answer")


@ktap.test
def scan_of_the_prefix_leaves_the_neighbors_that_are_known():
    nd.net6ctl(A, "set", "limits", "max-neighs", "64")
    nd.net6ctl(A, "flush", "neighbors")
    known = [neighbor(0x30 + number) for number in range(20)]
    for peer in known:
        resolve(peer)
    evicted = nd.counter(A, "NdNeighEvicted")
    for number in range(5000, 5300):
        wire.send(nd.echo(neighbor(number), OURS))
    ktap.wait_for(5, "entries were evicted",
                  lambda: nd.counter(A, "NdNeighEvicted") - evicted > 200)
    ktap.equal([peer for peer in known if state(peer) != "reachable"], [], "forgotten")
    nd.net6ctl(A, "set", "limits", "max-neighs", "1024")
    nd.net6ctl(A, "flush", "neighbors")


@ktap.test
def solicitations_of_strangers_leave_the_neighbors_that_are_asked():
    nd.net6ctl(A, "set", "limits", "max-neighs", "64")
    peer = neighbor(6)
    nd.retrans_time(A, "a0", 60000)
    wire.flush()
    wire.send(nd.echo(peer, OURS, 9))
    wire.expect(nd.solicits(peer), "solicitation")
    evicted = nd.counter(A, "NdNeighEvicted")
    for number in range(6000, 6300):
        wire.send(nd.ns(neighbor(number), OURS, slla=wire.mac))
    ktap.wait_for(5, "entries were evicted",
                  lambda: nd.counter(A, "NdNeighEvicted") - evicted > 200)
    wire.flush()
    advertise(peer)
    wire.expect(nd.replies(9), "the reply that waited")
    nd.retrans_time(A, "a0", 1000)
    nd.net6ctl(A, "set", "limits", "max-neighs", "1024")


ktap.main(setup=setup)
