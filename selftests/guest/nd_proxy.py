#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Neighbor Discovery for others (RFC 4861 7.2.8): when a router answers for an address of another
# node, how and how soon. Packets to it are forwarded. There is a limit on such addresses.
#
#	B [b0 raw frames] ------ [a0 net6, proxy] A [c0 net6] ------ [d0 raw frames] D: NODE
# guest: stock+
# timeout: 150

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import answers
import ktap
import nd

OURS, PEER = "2001:db8:1::a", "2001:db8:1::b"
FAR, PEER_FAR = "2001:db8:2::a", "2001:db8:2::d"
NODE, MAC_NODE = "2001:db8:1::77", "02:00:00:00:00:77"
TWIN = "2001:db8:1:0:1::77"		# with the same solicited-node group
A, B, wire = nd.ends()
D, far = nd.second_end()


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.second_cable(A, D, far)
    nd.net6ctl(B, "detach", "dev", "b0")
    begin("a0", OURS)
    begin("c0", FAR)
    nd.net6ctl(A, "add", "neighbor", PEER_FAR, "lladdr", far.mac, "dev", "c0")
    nd.net6ctl(A, "add", "neighbor", NODE, "lladdr", MAC_NODE, "dev", "c0")
    nd.net6ctl(A, "add", "route", NODE + "/128", "dev", "c0")


def begin(dev, address):
    """A router with an address that may answer for others."""
    nd.net6ctl(A, "set", "dev", dev, "dad-transmits", "0", "forwarding", "on", "proxy-ndp", "on")
    nd.net6ctl(A, "add", "address", address + "/64", "dev", dev)
    ready(dev)


def ready(dev):
    nd.linklocal(A, dev)
    if dev == "a0":
        nd.net6ctl(A, "add", "neighbor", PEER, "lladdr", wire.mac, "dev", dev)


def proxy(verb, address=NODE, dev="a0", *more):
    nd.net6ctl(A, verb, "proxy", address, "dev", dev, *more)


class proxied:
    """In a with block an address is answered for."""

    def __init__(self, address=NODE, *more, dev="a0"):
        self.words, self.more = (address, dev), more

    def __enter__(self):
        wire.flush()
        proxy("add", *self.words, *self.more)

    def __exit__(self, *_):
        proxy("del", *self.words)


def addresses(*what):
    return sorted((e["dev"], e["address"]) for e in nd.show(A, "proxies", *what))


def refused(*words):
    try:
        nd.net6ctl(A, *words)
    except ktap.Fail as error:
        return str(error)
    raise ktap.Fail(f"taken: {words}")


def ask(source=PEER, target=NODE, over=None, **ip):
    over = over or wire
    over.send(nd.ns(source, target, slla=over.mac, **ip))


def advert(dest=PEER, target=NODE):
    return lambda f: f.type == nd.NA and nd.same(f.target, target) and nd.same(f.dest, dest)


def mark(over=None):
    """Sends an echo request to the router; how to recognise the reply. In its order."""
    source, own = (PEER, OURS) if (over or wire) is wire else (PEER_FAR, FAR)
    return nd.replies(nd.ping(over or wire, source, own))


def barrier(over=None):
    """What was sent before has been dealt with."""
    (over or wire).expect(mark(over), "answer of the router")


def unanswered(why, reason="ND_IGNORED", **question):
    """A solicitation is dropped when it comes; nothing waits for later."""
    before = nd.drops(A)[reason]
    ask(**question)
    barrier()
    ktap.equal(nd.drops(A)[reason] - before, 1, why)


@ktap.test
def answered_by_a_router_that_is_told_so():
    def conf(value):
        A.run("sysctl", "-q", "-w", f"net.net6.conf.a0.proxy_ndp={value}")

    with proxied():
        ask()
        wire.expect(advert(), "advertisement")
        nd.net6ctl(A, "set", "dev", "a0", "forwarding", "off")
        unanswered("by a host")
        nd.net6ctl(A, "set", "dev", "a0", "forwarding", "on")
        conf(0)
        unanswered("proxy_ndp is off")
        conf(1)
        ask()
        wire.expect(advert(), "advertisement")
        unanswered("what is not proxied", target=TWIN)
        unanswered("from afar", "ND_HOP_LIMIT", hlim=254)
    ktap.equal(nd.find(A, "groups", nd.solicited_node(NODE)), None, "membership afterwards")


@ktap.test
def only_where_it_is_proxied():
    with proxied(), proxied(TWIN, dev="c0"):
        for over, dev, dest in ((wire, "a0", PEER), (far, "c0", PEER_FAR)):
            ktap.equal(addresses("dev", dev), [(dev, NODE if dev == "a0" else TWIN)], "shown")
            before = nd.drops(A)["ND_IGNORED"]
            # both are in the group that is listened to
            ask(dest, TWIN if over is wire else NODE, over)
            barrier(over)
            ktap.equal(nd.drops(A)["ND_IGNORED"] - before, 1, f"not on {dev}")


@ktap.test
def solicited_node_group_is_joined():
    """7.2.8: "A proxy MUST join the solicited-node multicast address(es)"."""
    group = nd.solicited_node(NODE)
    ktap.equal(nd.find(A, "groups", group), None, "before")
    with proxied():
        report = wire.wait(lambda f: f.dest == "ff02::16" and nd.packed(group) in f.packet)
        ktap.true(report, "MLD reports it")
        ktap.equal(nd.find(A, "groups", group)["users"], 1, "one address")
        with proxied(TWIN):
            ktap.equal(nd.find(A, "groups", group)["users"], 2, "two")
            proxy("add", TWIN)
            ktap.equal(nd.find(A, "groups", group)["users"], 2, "added twice, it is one")
        ktap.equal(nd.find(A, "groups", group)["users"], 1, "one again")
    ktap.equal(nd.find(A, "groups", group), None, "left")


@ktap.test
def override_is_clear():
    """7.2.8: "All solicited proxy Neighbor Advertisement messages MUST have the Override flag set
    to zero." The Router flag is the node's; source and link-layer address are ours.
    """
    for more, flags in (((), 0), (("router", "on"), nd.ROUTER), (("router", "off"), 0)):
        with proxied(NODE, *more):
            ktap.equal([bool(e.get("router")) for e in nd.show(A, "proxies")], [bool(flags)],
                       "shown as a router")
            ask()
            frame = wire.expect(advert(), "advertisement")
            ktap.equal((frame.source, frame.flags, frame.hlim, frame.code, frame.checksum_good(),
                        frame.option(nd.TLLA), frame.dst),
                       (OURS, nd.SOLICITED | flags, 255, 0, True, nd.mac_bytes(wire.peer),
                        wire.mac), f"advertisement, {more}")


answers.tests(lambda: answers.Here(A, wire, OURS, PEER, NODE, proxied))


@ktap.test
def who_asks_is_learned_who_probes_is_not():
    """7.2.3: the source's link-layer address, unless the source is unspecified."""
    asker = "2001:db8:1::e:1"
    with proxied():
        ask(asker)
        wire.expect(advert(asker), "advertisement")
    entry = nd.find(A, "neighbors", asker)
    ktap.equal((entry["lladdr"], entry["dev"]), (wire.mac, "a0"), "neighbor")
    ktap.equal(nd.find(A, "neighbors", "::"), None, "unspecified")


def probe(target=NODE, hlim=255, headers=b""):
    """A unicast solicitation, as in the state PROBE, maybe behind extension headers."""
    packet = nd.ns(PEER, target, dest=target, slla=wire.mac, hlim=hlim)
    if headers:
        packet = nd.ipv6(PEER, target, 60, bytes([58]) + headers + packet[40:], hlim)
    wire.send(packet)


@ktap.test
def unicast_solicitations_are_answered_at_once():
    """7.3.3: else those who use the address would find it unreachable."""
    with proxied():
        for headers in (b"", b"\0\1\4\0\0\0\0"):
            wire.flush()
            probe(headers=headers)
            replied = mark()
            frame = wire.expect(lambda f: advert()(f) or replied(f), "advertisement")
            ktap.true(advert()(frame), "before what was asked for later")
            ktap.equal((frame.source, frame.flags), (OURS, nd.SOLICITED), "advertisement")
        far.silence(lambda f: f.type == nd.NS and f.target == NODE, "forwarded", 0.2)
        before = nd.drops(A)["ND_HOP_LIMIT"]
        probe(hlim=254)
        barrier()
        ktap.equal(nd.drops(A)["ND_HOP_LIMIT"] - before, 1, "from afar")
    before = nd.counter(A, "Icmp6OutNeighborAdvertisements")
    probe()
    barrier()
    ktap.equal(nd.counter(A, "Icmp6OutNeighborAdvertisements"), before, "it is over")


@ktap.test
def packets_are_forwarded_not_received():
    """7.2.8: "packets not explicitly addressed to itself"."""
    with proxied():
        far.flush()
        wire.send(nd.echo(PEER, NODE, 700, hlim=9))
        frame = far.expect(lambda f: f.type == nd.ECHO and f.seq == 700, "request")
        ktap.equal((frame.source, frame.dest, frame.hlim, frame.dst, frame.checksum_good()),
                   (PEER, NODE, 8, MAC_NODE, True), "request")
        barrier()
        ktap.true(not any(nd.replies(700)(f) for f in wire.seen), "the proxy says nothing itself")
        far.send(nd.echo(NODE, PEER, 701, hlim=9), source=MAC_NODE)
        frame = wire.expect(lambda f: f.type == nd.ECHO and f.seq == 701, "the other way")
        ktap.equal((frame.source, frame.hlim), (NODE, 8), "the other way")
        # an advertisement for it is no less a packet
        wire.send(nd.na(PEER, PEER, dest=NODE, flags=nd.SOLICITED))
        far.expect(lambda f: f.type == nd.NA and f.dest == NODE, "advertisement")
        with A, ktap.net6_socket(socket.SOCK_DGRAM) as sock:
            try:
                sock.bind((NODE, 0))
            except OSError:
                return
            raise ktap.Fail("a socket was bound to it")


@ktap.test
def an_address_of_ours_goes_before():
    with proxied():
        nd.net6ctl(A, "add", "address", NODE + "/128", "dev", "a0")
        ask()
        ktap.equal(wire.expect(advert(), "advertisement").flags,
                   nd.ROUTER | nd.SOLICITED | nd.OVERRIDE, "flags of an address of ours")
        nd.net6ctl(A, "del", "address", NODE, "dev", "a0")
        ask()
        ktap.equal(wire.expect(advert(), "advertisement").flags, nd.SOLICITED, "proxied again")


@ktap.test
def link_local_addresses_are_defended():
    """They are answered for; what is sent to them goes nowhere (RFC 4291 2.5.6)."""
    local = "fe80::77"
    with proxied(local):
        ask(wire.linklocal, local)
        frame = wire.expect(advert(wire.linklocal, local), "advertisement")
        ktap.equal((frame.source, frame.flags), (nd.linklocal(A), nd.SOLICITED), "advertisement")
        probe(local)
        wire.expect(advert(PEER, local), "advertisement for a probe")
        far.flush()
        wire.send(nd.echo(PEER, local, 710))
        barrier()
        barrier(far)
        ktap.true(not any(f.type == nd.ECHO for f in far.seen), "forwarded")


@ktap.test
def wrong_requests_are_refused():
    for address in ("ff02::77", "::", "::1", "::ffff:192.0.2.1"):
        ktap.true("not a unicast address" in refused("add", "proxy", address, "dev", "a0"), address)
    ktap.true("no Neighbor Discovery" in refused("add", "proxy", NODE, "dev", "lo"), "lo")
    ktap.true("not proxied" in refused("del", "proxy", NODE, "dev", "a0"), "absent")
    refused("add", "proxy", NODE + "/64", "dev", "a0")
    refused("add", "proxy", NODE)
    refused("del", "proxy", NODE, "dev", "a0", "router", "on")
    ktap.equal(addresses(), [], "none was made")


@ktap.test
def there_is_a_limit():
    before = nd.counter(A, "NdProxyLimit")
    nd.net6ctl(A, "set", "limits", "max-proxies", "3")
    for number in range(3):
        proxy("add", f"2001:db8:1::f:{number}", "a0" if number < 2 else "c0")
    ktap.true("too many" in refused("add", "proxy", NODE, "dev", "a0"), "refused")
    proxy("add", "2001:db8:1::f:0", "a0", "router", "on")
    ktap.equal(nd.counter(A, "NdProxyLimit") - before, 1, "NdProxyLimit")
    proxy("del", "2001:db8:1::f:2", "c0")
    proxy("add")
    ktap.equal(addresses(), sorted([("a0", "2001:db8:1::f:0"), ("a0", "2001:db8:1::f:1"),
                                    ("a0", NODE)]), "proxied")
    nd.net6ctl(A, "set", "limits", "max-proxies", "1024")
    for address in ("2001:db8:1::f:0", "2001:db8:1::f:1", NODE):
        proxy("del", address)
    ktap.equal(addresses(), [], "in the end")


@ktap.test
def the_link_and_the_interface_go():
    nd.net6ctl(A, "set", "limits", "max-proxies", "2")
    proxy("add")
    proxy("add", TWIN, "c0")
    A.down("a0")
    ktap.equal(addresses("dev", "a0"), [("a0", NODE)], "the link is down")
    A.up("a0")
    ready("a0")
    ask()
    wire.expect(advert(), "advertisement")
    for _ in range(3):
        for number in range(8):
            ask(f"2001:db8:1::d:{number:x}")
        nd.net6ctl(A, "detach", "dev", "a0")
        ktap.equal(addresses(), [("c0", TWIN)], "the interface is gone")
        nd.net6ctl(A, "attach", "dev", "a0")
        proxy("add")		# there is room again
        begin("a0", OURS)
    nd.net6ctl(A, "set", "limits", "max-proxies", "1024")
    ask()
    wire.expect(advert(), "advertisement")
    proxy("del")
    proxy("del", TWIN, "c0")


def asked(names):
    """Two namespaces; in the first one a0 answers for NODE, and more answers wait than fit."""
    ns, other, over = nd.ends(names)
    nd.cable(ns, other, over)
    nd.net6ctl(ns, "set", "dev", "a0", "dad-transmits", "0", "forwarding", "on",
               "proxy-ndp", "on")
    nd.net6ctl(ns, "add", "address", OURS + "/64", "dev", "a0")
    for number in range(200):
        over.send(nd.ns(f"2001:db8:1::d:{number:x}", NODE, slla=over.mac))
        if number == 100:
            nd.net6ctl(ns, "add", "proxy", NODE, "dev", "a0")
    over.expect(lambda f: f.type == nd.NA and f.target == NODE, "advertisement")
    return ns, other


@ktap.test
def a_device_goes_while_answers_wait():
    for dev in ("a0", "b0"):		# this end of the cable, or the other one
        ns, other = asked(("E" + dev, "F" + dev))
        ktap.equal(len(nd.show(ns, "proxies")), 1, "proxied")
        (ns if dev == "a0" else other).ip("link", "del", dev)
        ktap.equal(nd.show(ns, "proxies"), [], "gone with the device")
        ns.delete()
        other.delete()


@ktap.test
def a_namespace_goes_while_answers_wait():
    for namespace in asked(("E", "F")):
        namespace.delete()


ktap.main(setup=setup)
