#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Duplicate address detection of the link-local address: RFC 4862 section 5.4, RFC
# 7217 identifiers, RFC 7527 nonces. One end speaks net6, the other end is the test.
#
#	A [a0 net6] ------ [b0 raw frames] B
# guest: stock+
# timeout: 120

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

# Probes of an address that a test wants to look at before DAD is over: the most there are.
LONG = "16"

A, B, wire = nd.ends()


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire, up=False)


def restart():
    nd.bounce(A, "a0", wire)
    return wire.expect(nd.is_probe, "DAD probe")


def answers(address):
    """Does A answer a solicitation for the address?"""
    wire.send(nd.ns(wire.linklocal, address, slla=wire.mac))
    return wire.wait(lambda f: f.type == nd.NA and f.target == address, 1)


@ktap.test
def probe_is_as_rfc4862_says():
    probe = restart()
    ktap.true(probe.target.startswith("fe80::"), "target is link-local")
    ktap.equal(probe.dest, nd.solicited_node(probe.target), "destination")
    ktap.equal(probe.dst, nd.group_mac(probe.dest), "Ethernet destination")
    ktap.equal(probe.hlim, 255, "hop limit")
    ktap.equal(probe.code, 0, "code")
    ktap.true(probe.checksum_good(), "checksum")
    ktap.equal(probe.option(nd.SLLA), None, "source link-layer address option")
    ktap.equal(len(probe.option(nd.NONCE) or b""), 6, "nonce bytes")


@ktap.test
def identifier_is_not_the_hardware_address():
    probe = restart()
    ktap.true(nd.packed(probe.target)[8:] != nd.eui64(wire.peer), "not EUI-64")
    again = restart()
    ktap.equal(again.target, probe.target, "the same after a restart")


@ktap.test
def address_is_answered_for_only_after_the_probe_time():
    probe = restart()
    ktap.equal(answers(probe.target), None, "answer while tentative")
    done = ktap.wait_for(5, "the address is assigned", lambda: answers(probe.target))
    ktap.true(done.time - probe.time >= 0.95, "RetransTimer waited for")


@ktap.test
def solicitation_from_a_unicast_source_is_no_conflict():
    probe = restart()
    wire.send(nd.ns(wire.linklocal, probe.target, slla=wire.mac))
    ktap.wait_for(5, "the address is assigned", lambda: answers(probe.target))


@ktap.test
def advertisement_is_a_conflict_and_another_address_is_tried():
    probe = restart()
    wire.send(nd.na(probe.target, probe.target, tlla=wire.mac))
    other = wire.expect(lambda f: nd.is_probe(f) and f.target != probe.target,
                        "probe for another address")
    ktap.wait_for(5, "the other address is assigned", lambda: answers(other.target))
    ktap.equal(answers(probe.target), None, "answer for the duplicate")


@ktap.test
def probe_of_another_node_is_a_conflict():
    A.down("a0")
    ktap.run("ip", "-n", A.name, "link", "set", "a0", "address", "02:00:00:00:0a:02")
    wire.peer = "02:00:00:00:0a:02"
    probe = restart()
    wire.send(nd.ns("::", probe.target, nonce=b"abcdef"))
    wire.expect(lambda f: nd.is_probe(f) and f.target != probe.target,
                "probe for another address")


@ktap.test
def own_probe_that_comes_back_is_no_conflict():
    A.down("a0")
    ktap.run("ip", "-n", A.name, "link", "set", "a0", "address", "02:00:00:00:0a:03")
    wire.peer = "02:00:00:00:0a:03"
    probe = restart()
    wire.send(nd.ns("::", probe.target, nonce=probe.option(nd.NONCE)))
    wire.exactly(3, lambda f: nd.is_probe(f) and f.target == probe.target,
                 "probes sent in addition (RFC 7527 4.1)")
    ktap.wait_for(5, "the address is assigned", lambda: answers(probe.target))


@ktap.test
def what_a_program_of_ours_sends_is_no_conflict():
    """RFC 4862 5.4.3, 5.4.4: another node's is. Who adds an address may announce it at once."""
    address = "fd00::a1"
    with A:
        index = socket.if_nametoindex("a0")
    sock = ktap.net6_socket(socket.SOCK_RAW, 58, A)
    sock.setsockopt(41, socket.IPV6_MULTICAST_HOPS, 255)
    whole = ktap.net6_socket(socket.SOCK_RAW, 255, A)
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "3")
    nd.net6ctl(A, "add", "address", f"{address}/64", "dev", "a0")
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "1")
    wire.expect(lambda f: nd.is_probe(f) and nd.same(f.target, address), "probe")
    before = nd.counter(A, "Icmp6InNeighborAdvertisements")
    sock.sendto(nd.na(address, address, tlla=wire.peer)[40:], (nd.ALL_NODES, 0, 0, index))
    whole.sendto(nd.ns("::", address), (nd.solicited_node(address), 0, 0, index))
    ktap.wait_for(5, "it has come back", lambda: nd.counter(
        A, "Icmp6InNeighborAdvertisements") > before)
    ktap.wait_for(20, "the address is good",
                  lambda: nd.find(A, "addresses", address)["state"] != "tentative")
    ktap.equal(nd.find(A, "addresses", address)["state"], "preferred", "state")
    # and afterwards
    sock.sendto(nd.na(address, address, tlla=wire.peer)[40:], (nd.ALL_NODES, 0, 0, index))
    ktap.true(answers(address), "answered for")
    nd.net6ctl(A, "del", "address", f"{address}/64", "dev", "a0")


@ktap.test
def an_optimistic_address_is_used_at_once():
    """RFC 4429: answered for without Override, no solicitation from it, a conflict ends it."""
    A.down("a0")
    ktap.run("ip", "-n", A.name, "link", "set", "a0", "address", "02:00:00:00:0a:04")
    wire.peer = "02:00:00:00:0a:04"
    nd.net6ctl(A, "set", "dev", "a0", "optimistic-dad", "on", "dad-transmits", LONG)
    probe = restart()
    ktap.equal(nd.find(A, "addresses", probe.target)["state"], "optimistic", "state")
    answer = answers(probe.target)
    ktap.true(answer, "answered for during DAD")
    ktap.equal(answer.flags, nd.SOLICITED, "flags of the advertisement")
    other = nd.linklocal_of("02:00:00:00:00:77")
    wire.send(nd.echo(other, probe.target, 9), source="02:00:00:00:00:77")
    wire.silence(lambda f: f.type == nd.NS and f.source != "::", "solicitation in DAD", 0.3)
    wire.send(nd.na(probe.target, probe.target, tlla=wire.mac))
    again = wire.expect(lambda f: nd.is_probe(f) and f.target != probe.target, "another address")
    ktap.equal(nd.find(A, "addresses", again.target)["state"], "tentative", "after a conflict")
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "1")
    probe = restart()
    wire.send(nd.echo(other, probe.target, 10), source="02:00:00:00:00:77")
    ask = wire.expect(lambda f: f.type == nd.NS and f.target == other, "solicitation after DAD", 20)
    ktap.equal((ask.source, nd.find(A, "addresses", probe.target)["state"]),
               (probe.target, "preferred"), "when DAD is over")
    nd.net6ctl(A, "set", "dev", "a0", "optimistic-dad", "off")


@ktap.test
def a_router_has_no_optimistic_address():
    """RFC 4429 is for hosts: the address is tentative until DAD, which goes on, is over."""
    nd.net6ctl(A, "set", "dev", "a0", "optimistic-dad", "on", "dad-transmits", LONG)
    probe = restart()
    ktap.equal(nd.find(A, "addresses", probe.target)["state"], "optimistic", "of a host")
    nd.net6ctl(A, "set", "dev", "a0", "forwarding", "on")
    ktap.equal(nd.find(A, "addresses", probe.target)["state"], "tentative", "of a router")
    ktap.equal(answers(probe.target), None, "answer while tentative")
    wire.expect(lambda f: nd.is_probe(f) and f.target == probe.target, "next probe")
    again = restart()
    ktap.equal(nd.find(A, "addresses", again.target)["state"], "tentative", "from the beginning")
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "1")
    again = restart()
    ktap.wait_for(10, "the address is assigned", lambda: answers(again.target))
    nd.net6ctl(A, "set", "dev", "a0", "forwarding", "off", "optimistic-dad", "off")


@ktap.test
def after_three_retries_no_more_is_tried():
    A.down("a0")
    ktap.run("ip", "-n", A.name, "link", "set", "a0", "address", "02:00:00:00:0a:04")
    wire.peer = "02:00:00:00:0a:04"
    probe = restart()
    tried = [probe.target]
    while len(tried) < 4:
        wire.send(nd.na(tried[-1], tried[-1], tlla=wire.mac))
        probe = wire.expect(lambda f: nd.is_probe(f) and f.target not in tried,
                            f"probe number {len(tried) + 1}")
        tried.append(probe.target)
    wire.send(nd.na(tried[-1], tried[-1], tlla=wire.mac))
    wire.silence(lambda f: nd.is_probe(f) and f.target not in tried,
                 "IDGEN_RETRIES is 3, but a fifth address was tried", 4)
    for address in tried:
        ktap.equal(answers(address), None, "answer for a duplicate")


@ktap.test
def invalid_messages_are_no_conflict():
    A.down("a0")
    ktap.run("ip", "-n", A.name, "link", "set", "a0", "address", "02:00:00:00:0a:05")
    wire.peer = "02:00:00:00:0a:05"
    probe = restart()
    target = probe.target
    wire.send(nd.na(target, target, tlla=wire.mac, hlim=254))
    wire.send(nd.na(target, target, tlla=wire.mac, code=1))
    wire.send(nd.na(target, target, flags=nd.SOLICITED, tlla=wire.mac))
    wire.send(nd.na(target, target, more=bytes(8)))
    wire.send(nd.ns("::", target, slla=wire.mac))
    wire.send(nd.ns("::", target, dest=nd.ALL_NODES))
    wire.send(nd.ns("::", target, hlim=64))
    wire.send(nd.ns("::", target, more=b"\x0e\x02" + bytes(6)))
    ktap.wait_for(5, "the address is assigned", lambda: answers(target))


@ktap.test
def ip_is_off_where_the_hardware_address_is_another_ones_too():
    """RFC 4862 5.4.5: which only an address that was set by hand can show."""
    A.down("a0")
    ktap.run("ip", "-n", A.name, "link", "set", "a0", "address", "02:00:00:00:0a:06")
    wire.peer = "02:00:00:00:0a:06"
    formed, typed = restart().target, nd.linklocal_of(wire.peer)
    ktap.wait_for(10, "the address is assigned", lambda: answers(formed))

    nd.conflict_by_hand(A, "a0", wire, "fe80::6")
    ktap.wait_for(5, "it is a duplicate",
                  lambda: nd.find(A, "addresses", "fe80::6")["state"] == "duplicate")
    ktap.true(nd.is_up(A, "a0") and answers(formed), "any other address: no more than that")
    nd.conflict_by_hand(A, "a0", wire, typed)
    ktap.wait_for(10, "the interface is down", lambda: not nd.is_up(A, "a0"))
    ktap.equal(answers(formed), None, "answer")

    # until it is started anew
    formed = restart().target
    ktap.wait_for(10, "the address is assigned", lambda: answers(formed))
    ktap.wait_for(10, "and the other one", lambda: answers(typed))
    nd.net6ctl(A, "del", "address", f"{typed}/64", "dev", "a0")
    nd.conflict_by_hand(A, "a0", wire, typed)
    ktap.wait_for(10, "the interface is down", lambda: not nd.is_up(A, "a0"))
    # or has another hardware address
    ktap.run("ip", "-n", A.name, "link", "set", "a0", "address", "02:00:00:00:0a:07")
    wire.peer = "02:00:00:00:0a:07"
    ktap.wait_for(10, "the interface is up", lambda: nd.is_up(A, "a0"))


ktap.main(setup=setup)
