#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What next hops and on-link prefixes are when more than one has a say in them: addresses, the
# administrator, several routers (RFC 4191), Redirects (RFC 4861 8.3). From which address and
# when a node speaks of itself (RFC 4861 7.2.2, 7.2.6). Time is virtual.
#
#	A [a0 net6] ------ [b0 raw frames, routers fe80::1 to fe80::4] B
#	A [a1 net6, no address but the link-local one] ------ [b1 raw frames] B
# guest: stock
# guest-options: --virtual-time
# timeout: 40000

import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd
import nl

OURS = "2001:db8::6"
R1, R2, R3, R4 = "fe80::1", "fe80::2", "fe80::3", "fe80::4"
MAC = {router: f"02:00:00:00:00:0{router[-1]}" for router in (R1, R2, R3, R4)}
PREFIX = "2001:db8:9::"
FAR = "2001:db8:f::"
PORT = 4711
A, B, wire = nd.ends()
other = nd.Wire(B, "b1", now=False)
numbers = iter(range(1, 10000))


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    ktap.veth(A, "a1", B, "b1")
    other.open()
    for dev in ("b0", "b1"):
        nd.net6ctl(B, "detach", "dev", dev)
    for dev in ("a0", "a1"):
        nd.net6ctl(A, "set", "dev", dev, "dad-transmits", "0")
        nd.linklocal(A, dev)
    other.peer = next(i["lladdr"] for i in nd.show(A, "interfaces") if i["dev"] == "a1")
    nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
    ktap.wait_for(8, "the address is assigned", lambda:
                  nd.find(A, "addresses", OURS)["state"] == "preferred")


def route_option(prefix, plen, lifetime=1800, preference=0):
    return struct.pack("!BBBBI", 24, 3, plen, (preference & 3) << 3, lifetime) + nd.packed(prefix)


def advertise(router, options=b"", slla=True, **values):
    options += nd.lladdr_option(nd.SLLA, MAC[router]) if slla else b""
    wire.send(nd.ra(router, options=options, **values))


def fresh(*to_be_known):
    """No routes and routers; of neighbors only those that are to be known."""
    for route in nd.show(A, "routes") + [dict(r, prefix_len=0, gateway=r["address"], address="::")
                                         for r in nd.show(A, "routers")]:
        if route.get("manual"):
            nd.net6ctl(A, "del", "route", f"{route['address']}/{route['prefix_len']}"
                       if route["prefix_len"] else "default", "via", route["gateway"],
                       "dev", "a0")
    for entry in nd.show(A, "addresses"):
        if entry["address"].startswith(PREFIX):
            nd.net6ctl(A, "del", "address", entry["address"], "dev", entry["dev"])
    for router in MAC:
        advertise(router, lifetime=0)
    tell(valid=0)
    ktap.equal(nd.show(A, "routers") + nd.show(A, "routes"), [], "routers and routes")
    for router in MAC:
        if nd.find(A, "neighbors", router):
            nd.net6ctl(A, "del", "neighbor", router, "dev", "a0")
    for router in to_be_known:
        nd.net6ctl(A, "add", "neighbor", router, "lladdr", MAC[router], "dev", "a0")


def far():
    """A node beyond the link that nothing was sent to before."""
    return f"{FAR}{next(numbers):x}"


def ask(remote, seq):
    wire.send(nd.echo(remote, OURS, seq, hlim=64))


def next_hop(remote, seconds=5):
    """The router that an answer to this one goes to."""
    seq = next(numbers)
    ask(remote, seq)
    frame = wire.expect(nd.replies(seq), f"echo reply to {remote}", seconds)
    return next((r for r, mac in MAC.items() if mac == frame.dst), frame.dst)


def prefix(dev="a0"):
    """Of the prefix's entry: is it by hand, and does it end? None if there is none."""
    entry = nd.find(A, "prefixes", PREFIX)
    return entry and (bool(entry.get("manual")), entry["valid"] < 4000)


def address(verb, *more, name=PREFIX + "6"):
    nd.net6ctl(A, verb, "address", *(name + "/64",) if verb == "add" else (name,), "dev", "a0",
               *more)


def tell(valid=3600):
    wire.send(nd.ra(R1, lifetime=0, options=nd.prefix_option(PREFIX, flags=0x80, valid=valid,
                                                            preferred=0)))
    nd.barrier(wire, OURS)


@ktap.test
def what_asks_for_a_neighbor_has_an_address_of_its_interface():
    node, own = PREFIX + "77", nd.linklocal(A, "a1")
    nd.net6ctl(A, "add", "prefix", PREFIX + "/64", "dev", "a1")
    with ktap.net6_socket(socket.SOCK_DGRAM, 0, A) as sock:
        other.flush()
        sock.sendto(b"x", (node, PORT))
        frame = other.expect(nd.solicits(node), "solicitation")
        other.send(nd.na(node, node, dest=own, flags=nd.SOLICITED | nd.OVERRIDE, tlla=other.mac))
        sent = other.expect(lambda f: f.proto == 17, "datagram")
    nd.net6ctl(A, "del", "neighbor", node, "dev", "a1")
    nd.net6ctl(A, "del", "prefix", PREFIX + "/64", "dev", "a1")
    ktap.equal((frame.source, sent.source), (own, OURS), "sources of solicitation and datagram")


@ktap.test
def what_answers_for_a_neighbor_has_an_address_of_its_interface():
    node, own = PREFIX + "78", nd.linklocal(A, "a1")
    nd.net6ctl(A, "set", "dev", "a1", "forwarding", "on", "proxy-ndp", "on")
    nd.net6ctl(A, "add", "proxy", node, "dev", "a1")
    other.flush()
    other.send(nd.ns(PREFIX + "79", node, slla=other.mac))
    frame = other.expect(lambda f: f.type == nd.NA and f.target == node, "advertisement")
    nd.net6ctl(A, "del", "proxy", node, "dev", "a1")
    nd.net6ctl(A, "set", "dev", "a1", "forwarding", "off", "proxy-ndp", "off")
    ktap.equal(frame.source, own, "its source")


@ktap.test
def a_prefix_that_is_told_stays_when_an_address_goes():
    fresh()
    tell()
    address("add")
    ktap.equal(prefix(), (True, False), "with the address")
    address("del")
    ktap.equal(prefix(), (False, True), "as the router has told it")
    address("add")
    tell(valid=200)
    address("del")
    ktap.equal(prefix(), (False, True), "told while there was an address")
    ktap.true(nd.find(A, "prefixes", PREFIX)["valid"] <= 200, "told last")
    time.sleep(200)		# the lifetime that was told last
    ktap.wait_for(10, "its lifetime is over", lambda: prefix() is None)
    tell()
    ktap.equal(prefix(), (False, True), "told again")
    tell(valid=0)
    ktap.equal(prefix(), None, "told no more")


@ktap.test
def a_prefix_that_is_told_no_more_stays_while_there_is_an_address():
    fresh()
    address("add")
    tell(valid=10)
    tell(valid=0)
    ktap.equal(prefix(), (True, False), "with the address")
    tell(valid=10)
    time.sleep(30)		# longer than was told
    ktap.equal(prefix(), (True, False), "after what was told")
    address("del")
    ktap.equal(prefix(), None, "without the address")


@ktap.test
def a_prefix_by_hand_stays_when_an_address_goes():
    fresh()
    nd.net6ctl(A, "add", "prefix", PREFIX + "/64", "dev", "a0")
    address("add")
    address("add", name=PREFIX + "7")
    address("del")
    address("del", name=PREFIX + "7")
    ktap.equal(prefix(), (True, False), "by hand")
    tell()
    nd.net6ctl(A, "del", "prefix", PREFIX + "/64", "dev", "a0")
    ktap.equal(prefix(), None, "removed by hand")
    address("add")
    address("add", name=PREFIX + "7")
    address("del")
    ktap.equal(prefix(), (True, False), "with the other address")
    address("del", name=PREFIX + "7")
    ktap.equal(prefix(), None, "without addresses")


@ktap.test
def a_prefix_ends_with_its_last_address():
    fresh()
    address("add", "valid", "5", "preferred", "5")
    address("add", "valid", "400", "preferred", "5", name=PREFIX + "7")
    ktap.wait_for(30, "the first is over", lambda: not nd.find(A, "addresses", PREFIX + "6"))
    ktap.equal(prefix(), (True, False), "while there is another")
    time.sleep(400)		# the second one's lifetime
    ktap.wait_for(30, "both are over", lambda: not nd.find(A, "addresses", PREFIX + "7"))
    ktap.equal(prefix(), None, "after that")


@ktap.test
def what_was_told_goes_with_the_carrier_and_the_address_keeps_its_prefix():
    fresh()
    address("add")
    tell()
    B.down("b0")
    ktap.wait_for(10, "a0 has no carrier", lambda: not any(
        a["dev"] == "a0" and a["origin"] != "manual" for a in nd.show(A, "addresses")))
    B.up("b0")
    wire.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    nd.linklocal(A)
    ktap.equal(prefix(), (True, False), "with the address")
    address("del")
    ktap.equal(prefix(), None, "without it")
    nd.barrier(wire, OURS)


@ktap.test
def a_redirect_gives_way_to_a_route():
    fresh(R1, R2, R3)
    advertise(R1)
    nd.barrier(wire, OURS)
    dest = far()
    ktap.equal(next_hop(dest), R1, "by default")
    wire.send(nd.redirect(R1, OURS, R2, dest, tlla=MAC[R2]))
    nd.barrier(wire, OURS)
    ktap.equal(next_hop(dest), R2, "redirected")
    nd.net6ctl(A, "add", "route", "2001:db8:77::/48", "via", R3, "dev", "a0")
    ktap.equal(next_hop(dest), R2, "it stays when another destination gets a route")
    wire.send(nd.redirect(R2, OURS, R4, dest, tlla=MAC[R4]))
    nd.barrier(wire, OURS)
    nd.net6ctl(A, "del", "route", "2001:db8:77::/48", "via", R3, "dev", "a0")
    ktap.equal(next_hop(dest), R4, "redirected by whom the Redirect led to")
    nd.net6ctl(A, "add", "route", dest + "/128", "via", R3, "dev", "a0")
    ktap.equal(next_hop(dest), R3, "the administrator's word")
    nd.net6ctl(A, "del", "route", dest + "/128", "via", R3, "dev", "a0")
    ktap.equal(next_hop(dest), R1, "by default again")
    dest = far()
    ktap.equal(next_hop(dest), R1, "another one by default")
    wire.send(nd.redirect(R1, OURS, R2, dest, tlla=MAC[R2]))
    nd.barrier(wire, OURS)
    ktap.equal(next_hop(dest), R2, "redirected")
    nd.net6ctl(A, "add", "prefix", FAR + "/64", "dev", "a0")
    seq = next(numbers)
    ask(dest, seq)
    wire.expect(nd.solicits(dest), "solicitation for what is on-link now")
    nd.net6ctl(A, "del", "prefix", FAR + "/64", "dev", "a0")


@ktap.test
def a_host_that_becomes_a_router_forgets_redirects():
    """RFC 4861 8.2: a router's tables are not made by Redirects."""
    fresh(R1, R2)
    nd.net6ctl(A, "add", "route", "default", "via", R1, "dev", "a0")
    dest = far()
    ktap.equal(next_hop(dest), R1, "by default")
    wire.send(nd.redirect(R1, OURS, R2, dest, tlla=MAC[R2]))
    nd.barrier(wire, OURS)
    ktap.equal(next_hop(dest), R2, "redirected")
    nd.net6ctl(A, "set", "dev", "a0", "forwarding", "on")
    ktap.equal(next_hop(dest), R1, "a router")
    nd.net6ctl(A, "set", "dev", "a0", "forwarding", "off")
    ktap.equal(next_hop(dest), R1, "a host again")


@ktap.test
def a_router_that_is_being_resolved_keeps_its_prefix():
    """RFC 4191 3.2 goes past routers that are known not to answer, and only past these."""
    fresh(R1)
    advertise(R1)
    nd.barrier(wire, OURS)
    # What is looked at meanwhile waits for the host's files, for which the clock jumps.
    nd.retrans_time(A, "a0", 60000)
    nd.net6ctl(A, "add", "route", "2001:db8:a::/48", "via", R4, "dev", "a0")
    for seq in (9001, 9002):
        ask(f"2001:db8:a::{seq}", seq)
    wire.expect(nd.solicits(R4), "solicitation")
    ktap.equal(nd.find(A, "neighbors", R4)["state"], "incomplete", "state")
    wire.silence(lambda f: f.type == nd.REPLY and f.dst == MAC[R1], "it leaks", 0.5)
    wire.send(nd.na(R4, R4, dest=OURS, flags=nd.ROUTER | nd.SOLICITED | nd.OVERRIDE,
                    tlla=MAC[R4]))
    for seq in (9001, 9002):
        ktap.equal(wire.expect(nd.replies(seq), "reply").dst, MAC[R4], "where it goes")
    nd.net6ctl(A, "del", "neighbor", R4, "dev", "a0")
    nd.retrans_time(A, "a0", 1000)
    ask("2001:db8:a::9001", 9003)
    ktap.wait_for(10, "R4 has failed", lambda: nd.find(A, "neighbors", R4)["state"] == "failed")
    ktap.equal(next_hop("2001:db8:a::9001"), R1, "after that")


def lose(router, dest):
    """It does not answer: traffic that goes to it makes that known."""
    def moved():
        try:
            return next_hop(dest, 1) != router
        except ktap.Fail:
            return False
    ktap.wait_for(60, f"{router} is given up", moved)


def probes(router):
    return lambda f: f.type == nd.NS and f.target == router


def traffic(dest, seconds):
    """A packet every second; the solicitations for the router, and where the answers went."""
    asked, hops = [], set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        wire.flush()
        ask(dest, next(numbers))
        for frame in wire.collect(lambda f: f.type in (nd.NS, nd.REPLY), 1):
            if frame.type == nd.REPLY:
                hops.add(frame.dst)
            elif frame.target in MAC:
                asked.append(frame)
    return asked, hops


def a_better_router_is_probed(better, dest):
    lose(better, dest)
    asked, hops = traffic(dest, 40)
    ktap.equal((len(asked), hops), (0, {MAC[R2]}), "probes in the first minute, next hops")
    asked, hops = traffic(dest, 150)
    ktap.true(2 <= len(asked) <= 3, f"one probe a minute: {len(asked)}")
    ktap.equal({f.target for f in asked}, {better}, "who is asked")
    ktap.equal(asked[0].dest, nd.solicited_node(better), "destination")
    ktap.true(all(b.time - a.time >= 60 for a, b in zip(asked, asked[1:])),
              f"a minute apart: {[f.time for f in asked]}")
    ktap.equal(hops, {MAC[R2]}, "next hops meanwhile")
    wire.flush()
    wire.silence(probes(better), "a probe without traffic", 200)
    end = time.monotonic() + 90
    while True:
        ktap.true(time.monotonic() < end, "probed when there is traffic again")
        ask(dest, next(numbers))
        if wire.wait(probes(better), 1):
            break
    wire.send(nd.na(better, better, dest=OURS, flags=nd.ROUTER | nd.SOLICITED | nd.OVERRIDE,
                    tlla=MAC[better]))
    nd.barrier(wire, OURS)
    ktap.equal(next_hop(dest), better, "after it has answered")


@ktap.test
def a_better_default_router_is_probed_once_a_minute():
    """RFC 4191 section 3.5."""
    fresh(R2)
    nd.net6ctl(A, "add", "route", "default", "via", R2, "dev", "a0")
    advertise(R1, flags=1 << 3, lifetime=9000)
    nd.barrier(wire, OURS)
    a_better_router_is_probed(R1, far())


@ktap.test
def the_router_of_a_prefix_is_probed_once_a_minute():
    fresh(R2)
    nd.net6ctl(A, "add", "route", "default", "via", R2, "dev", "a0")
    nd.net6ctl(A, "add", "route", "2001:db8:a::/48", "via", R4, "dev", "a0")
    a_better_router_is_probed(R4, "2001:db8:a::1")


@ktap.test
def router_probe_interval():
    """RFC 4191 section 3.5 has a minute at least."""
    fresh(R2)
    nd.net6ctl(A, "set", "dev", "a0", "router-probe-interval", "120")
    nd.net6ctl(A, "add", "route", "default", "via", R2, "dev", "a0")
    advertise(R1, flags=1 << 3, lifetime=9000)
    nd.barrier(wire, OURS)
    dest = far()
    lose(R1, dest)
    asked, hops = traffic(dest, 90)
    ktap.equal((asked, hops), ([], {MAC[R2]}), "probes in 90 seconds, next hops")
    asked, hops = traffic(dest, 60)
    ktap.equal(([f.target for f in asked], hops), ([R1], {MAC[R2]}), "the probe, next hops")
    nd.net6ctl(A, "set", "dev", "a0", "router-probe-interval", "60")


@ktap.test
def a_worse_router_is_not_probed():
    fresh(R2)
    nd.net6ctl(A, "add", "route", "default", "via", R2, "dev", "a0")
    advertise(R1, flags=1 << 3, lifetime=9000)
    nd.barrier(wire, OURS)
    dest = far()
    lose(R1, dest)
    advertise(R1, flags=3 << 3, lifetime=9000, slla=False)
    nd.barrier(wire, OURS)
    asked, hops = traffic(dest, 150)
    ktap.equal((asked, hops), ([], {MAC[R2]}), "probes, next hops")


@ktap.test
def routes_by_hand_do_not_make_advertisements_dear():
    """In virtual time seconds are instructions."""
    with A:
        family, ifindex = nl.Family(), socket.if_nametoindex("a0")
    options = b"".join(route_option(f"2001:db8:a:{n:x}::", 64) for n in range(40))

    def seconds():
        nd.barrier(wire, OURS)
        begin = time.monotonic()
        for _ in range(10):
            advertise(R1, options, lifetime=0)
        nd.barrier(wire, OURS)
        return time.monotonic() - begin

    fresh(R1)
    seconds()
    before = seconds()
    ktap.equal(len(nd.show(A, "routes")), 40, "routes that are told")
    for number in range(4000):
        family.do("route-add", ifindex=ifindex, prefix_len=64, gateway=nl.address(R2),
                  address=nl.address(f"2001:db8:b:{number:x}::"))
    after = seconds()
    ktap.diag(f"10 advertisements of 40 routes: {before:.3f} s, with 4000 by hand {after:.3f} s")
    for number in range(4000):
        family.do("route-del", ifindex=ifindex, prefix_len=64, gateway=nl.address(R2),
                  address=nl.address(f"2001:db8:b:{number:x}::"))
    family.close()
    advertise(R1, b"".join(route_option(f"2001:db8:a:{n:x}::", 64, 1) for n in range(40)),
              lifetime=0)
    ktap.wait_for(10, "what was told is over", lambda: nd.show(A, "routes") == [])
    ktap.true(after < 1.5 * before, "as dear as without them")


@ktap.test
def where_neighbors_are_not_asked_no_address_is_probed():
    """IFF_NOARP: as native."""
    A.ip("link", "set", "a1", "arp", "off")
    nd.net6ctl(A, "set", "dev", "a1", "dad-transmits", "1")
    other.flush()
    nd.net6ctl(A, "add", "address", PREFIX + "a1/64", "dev", "a1")
    state = nd.find(A, "addresses", PREFIX + "a1")["state"]
    asked = other.wait(nd.solicits(PREFIX + "a1"), 3)
    nd.net6ctl(A, "del", "address", PREFIX + "a1", "dev", "a1")
    ktap.equal((state, asked), ("preferred", None), "state at once, probe")
    A.ip("link", "set", "a1", "arp", "on")
    nd.net6ctl(A, "add", "address", PREFIX + "a2/64", "dev", "a1")
    other.expect(nd.solicits(PREFIX + "a2"), "probe with ARP")
    nd.net6ctl(A, "del", "address", PREFIX + "a2", "dev", "a1")
    nd.net6ctl(A, "set", "dev", "a1", "dad-transmits", "0")


@ktap.test
def a_duplicate_is_an_address_of_a_neighbor():
    fresh()
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "8")
    # As many seconds for the answer, of which a busy host may need more than one.
    wire.flush()
    nd.net6ctl(A, "add", "address", R1 + "/64", "dev", "a0")
    wire.expect(nd.solicits(R1), "probe")
    wire.send(nd.na(R1, R1, tlla=MAC[R1]))
    ktap.wait_for(8, "it is a duplicate", lambda: nd.find(A, "addresses", R1)["state"]
                  == "duplicate")
    advertise(R1)
    nd.barrier(wire, OURS)
    ktap.equal([r["address"] for r in nd.show(A, "routers")], [R1], "a router has it")
    nd.net6ctl(A, "flush", "neighbors")
    seq = next(numbers)
    ask(far(), seq)
    wire.expect(nd.solicits(R1), "solicitation")
    wire.send(nd.na(R1, R1, dest=OURS, flags=nd.ROUTER | nd.SOLICITED | nd.OVERRIDE,
                    tlla=MAC[R1]))
    ktap.equal(wire.expect(nd.replies(seq), "reply").dst, MAC[R1], "where it goes")
    nd.net6ctl(A, "del", "address", R1, "dev", "a0")
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")


@ktap.test
def another_link_layer_address_is_told_if_that_is_wanted():
    """RFC 4861 7.2.6."""
    own, before, after = nd.linklocal(A, "a1"), other.peer, "02:00:00:00:a1:02"
    for wanted in ("off", "on"):
        nd.net6ctl(A, "set", "dev", "a1", "ndisc-notify", wanted)
        A.ip("link", "set", "a1", "address", before)
        time.sleep(3)		# what this change says has come
        other.flush()
        A.ip("link", "set", "a1", "address", after)
        said = [(f.source, f.dest, f.payload[4] & 0xe0, f.option(nd.TLLA))
                for f in other.collect(lambda f: f.type == nd.NA, 3)]
        ktap.equal(said, [(own, nd.ALL_NODES, nd.OVERRIDE, nd.mac_bytes(after))]
                   if wanted == "on" else [], f"advertisements, ndisc-notify {wanted}")
    nd.net6ctl(A, "set", "dev", "a1", "ndisc-notify", "off")
    other.peer = after


def bond():
    """A bond of two in A, and a Wire on the other end of each."""
    ktap.kmod("bonding")
    try:
        A.ip("link", "add", "bond0", "type", "bond", "mode", "active-backup", "miimon", "100",
             "num_unsol_na", "1", "fail_over_mac", "none")
    except ktap.Fail as error:
        raise ktap.Skip("there is no bonding") from error
    wires = []
    for number in (1, 2):
        ktap.run("ip", "link", "add", f"s{number}", "netns", A.name, "type", "veth", "peer",
                 "name", f"t{number}", "netns", B.name)
        A.ip("link", "set", f"s{number}", "master", "bond0")
        B.up(f"t{number}")
        wires.append(nd.Wire(B, f"t{number}"))
    nd.net6ctl(A, "set", "dev", "bond0", "dad-transmits", "0")
    A.up("bond0")
    ktap.wait_for(120, "the bond carries packets", lambda: [
        a for a in nd.show(A, "addresses") if a["dev"] == "bond0" and a["state"] == "preferred"])
    return wires


@ktap.test
def a_device_that_is_elsewhere_in_the_network_says_so():
    """NETDEV_NOTIFY_PEERS, NETDEV_RESEND_IGMP: RFC 4861 7.2.6, RFC 4541."""
    _, second = bond()
    own = nd.linklocal(A, "bond0")
    nd.net6ctl(A, "add", "address", PREFIX + "b0/64", "dev", "bond0")
    ktap.wait_for(8, "it is assigned", lambda: nd.find(A, "addresses", PREFIX + "b0")["state"]
                  == "preferred")
    A.ip("link", "set", "bond0", "type", "bond", "active_slave", "s1")
    time.sleep(20)		# what this change says has come
    second.flush()
    A.ip("link", "set", "bond0", "type", "bond", "active_slave", "s2")
    frames = second.collect(lambda f: True, 5)
    for target in (own, PREFIX + "b0"):
        said = [(f.source, f.dest, f.payload[4] & 0xe0, f.option(nd.TLLA)) for f in frames
                if f.type == nd.NA and f.target == target]
        ktap.equal(said, [(target, nd.ALL_NODES, nd.OVERRIDE, nd.mac_bytes(frames[0].src))],
                   f"advertisements of {target}: source, destination, flags, address")
    ktap.true([f for f in frames if f.dest == "ff02::16"], "groups are reported anew")
    A.ip("link", "del", "bond0")


if __name__ == "__main__":
    ktap.main(setup=setup)
