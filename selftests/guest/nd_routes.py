#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The routing table, Route Information options (RFC 4191), what routers say of resolvers
# (RFC 8106). Redirects for sockets that insist on an interface (RFC 4861 8.3), the secret
# of identifiers (RFC 7217), and limits on extension headers (RFC 8504 5.3).
#
#	A [a0 net6] ------ [b0 raw frames, several routers] B
# guest: stock+
# timeout: 120

import json
import os
import select
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

OURS = "2001:db8::6"
R1, R2, R3 = "fe80::1", "fe80::2", "fe80::3"
MAC = {R1: "02:00:00:00:00:01", R2: "02:00:00:00:00:02", R3: "02:00:00:00:00:03"}
A, B, wire = nd.ends()


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")
    nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
    nd.linklocal(A)


def route_option(prefix, plen, lifetime=1800, preference=0, length=None):
    length = (0 if not plen else 1 if plen <= 64 else 2) if length is None else length
    return struct.pack("!BBBBI", 24, length + 1, plen, (preference & 3) << 3,
                       lifetime) + nd.packed(prefix)[:8 * length]


def advertise(router, options=b"", **values):
    wire.send(nd.ra(router, options=nd.lladdr_option(nd.SLLA, MAC[router]) + options, **values))


def next_hop(remote):
    """The link-layer address that an answer to this one goes to."""
    number = nd.ping(wire, remote, OURS, hlim=64)
    frame = wire.expect(nd.replies(number), f"echo reply to {remote}")
    return next((r for r, mac in MAC.items() if mac == frame.dst), frame.dst)


def forget():
    for router in (R1, R2, R3):
        advertise(router, route_option("2001:db8:a::", 48, 0)
                  + route_option("2001:db8:a:b::", 64, 0), lifetime=0)
    nd.barrier(wire, OURS)
    ktap.equal(nd.show(A, "routes"), [], "routes")
    ktap.equal(nd.show(A, "routers"), [], "routers")


@ktap.test
def routes_by_hand_and_the_longest_prefix():
    for router in (R1, R2, R3):
        nd.net6ctl(A, "add", "neighbor", router, "lladdr", MAC[router], "dev", "a0")
    nd.net6ctl(A, "add", "route", "default", "via", R1, "dev", "a0")
    ktap.equal(next_hop("2001:db8:a:b::1"), R1, "by default")
    nd.net6ctl(A, "add", "route", "2001:db8:a::/48", "via", R2, "dev", "a0")
    ktap.equal(next_hop("2001:db8:a:b::1"), R2, "/48")
    nd.net6ctl(A, "add", "route", "2001:db8:a:b::/64", "via", R3, "dev", "a0")
    ktap.equal(next_hop("2001:db8:a:b::1"), R3, "/64")
    ktap.equal(next_hop("2001:db8:a:c::1"), R2, "beside it")
    ktap.equal(next_hop("2001:db8:b::1"), R1, "elsewhere")
    ktap.equal([(r["address"], r["prefix_len"], r["gateway"], r["manual"])
                for r in nd.show(A, "routes")],
               [("2001:db8:a::", 48, R2, True), ("2001:db8:a:b::", 64, R3, True)], "routes")
    nd.net6ctl(A, "del", "route", "2001:db8:a:b::/64", "via", R3, "dev", "a0")
    ktap.equal(next_hop("2001:db8:a:b::1"), R2, "/48 again")
    nd.net6ctl(A, "del", "route", "2001:db8:a::/48", "via", R2, "dev", "a0")
    nd.net6ctl(A, "del", "route", "default", "via", R1, "dev", "a0")
    for wrong in (("add", "route", "2001:db8:a::1/48", "via", R2, "dev", "a0"),
                  ("add", "route", "fe80::/64", "dev", "a0"),
                  ("del", "route", "2001:db8:a::/48", "via", R2, "dev", "a0")):
        try:
            nd.net6ctl(A, *wrong)
        except ktap.Fail:
            continue
        raise ktap.Fail(f"accepted: {wrong}")


@ktap.test
def what_is_set_by_hand_survives_the_link():
    nd.net6ctl(A, "add", "route", "default", "via", R1, "dev", "a0")
    nd.net6ctl(A, "add", "route", "2001:db8:a::/48", "via", R2, "dev", "a0")
    A.down("a0")
    A.up("a0")
    nd.linklocal(A)
    for router in (R2, R3):
        nd.net6ctl(A, "add", "neighbor", router, "lladdr", MAC[router], "dev", "a0")
    ktap.equal([r["address"] for r in nd.show(A, "routers")], [R1], "routers")
    ktap.equal([r["gateway"] for r in nd.show(A, "routes")], [R2], "routes")
    ktap.equal(next_hop("2001:db8:a::1"), R2, "the route's next hop")
    # a router by hand that does not answer is passed over as others are
    advertise(R3)
    wire.send(nd.echo("2001:db8:b::1", OURS, 901, hlim=64))
    wire.expect(lambda f: f.type == nd.NS and f.target == R1, "solicitation")
    ktap.wait_for(10, "R1 has failed",
                  lambda: nd.find(A, "neighbors", R1)["state"] == "failed")
    ktap.equal(next_hop("2001:db8:b::1"), R3, "by default, while R1 does not answer")
    nd.net6ctl(A, "add", "neighbor", R1, "lladdr", MAC[R1], "dev", "a0")
    advertise(R3, lifetime=0)
    nd.barrier(wire, OURS)
    ktap.equal(next_hop("2001:db8:b::1"), R1, "by default")
    nd.net6ctl(A, "del", "route", "2001:db8:a::/48", "via", R2, "dev", "a0")
    nd.net6ctl(A, "del", "route", "default", "via", R1, "dev", "a0")


@ktap.test
def a_routers_neighbor_set_by_hand_is_learned_after_the_link_was_down():
    nd.net6ctl(A, "add", "neighbor", R1, "lladdr", MAC[R1], "dev", "a0")
    nd.net6ctl(A, "add", "route", "default", "via", R1, "dev", "a0")
    nd.net6ctl(A, "flush", "neighbors")
    ktap.equal(nd.find(A, "neighbors", R1)["state"], "permanent", "what is set by hand")
    A.down("a0")
    A.up("a0")
    nd.linklocal(A)
    ktap.equal(nd.find(A, "neighbors", R1)["state"], "none", "it starts over")
    advertise(R1)
    nd.barrier(wire, OURS)
    ktap.equal(nd.find(A, "neighbors", R1)["state"], "stale", "learned")
    nd.net6ctl(A, "flush", "neighbors")
    ktap.equal(nd.find(A, "neighbors", R1)["state"], "none", "and forgotten")
    nd.net6ctl(A, "del", "route", "default", "via", R1, "dev", "a0")
    for router, mac in MAC.items():
        nd.net6ctl(A, "add", "neighbor", router, "lladdr", mac, "dev", "a0")


@ktap.test
def on_link_route():
    nd.net6ctl(A, "add", "route", "2001:db8:77::/48", "dev", "a0")
    wire.send(nd.echo("2001:db8:77::9", OURS, 900, hlim=64))
    wire.expect(lambda f: f.type == nd.NS and f.target == "2001:db8:77::9",
                "solicitation for the destination itself")
    nd.net6ctl(A, "del", "route", "2001:db8:77::/48", "dev", "a0")


@ktap.test
def route_information_options():
    advertise(R1)
    advertise(R2, route_option("2001:db8:a::", 48), lifetime=0)
    nd.barrier(wire, OURS)
    ktap.equal(next_hop("2001:db8:a::1"), R2, "a route of one that is no default router")
    ktap.equal(next_hop("2001:db8:b::1"), R1, "the rest")
    advertise(R3, route_option("2001:db8:a::", 48, preference=1), lifetime=0)
    nd.barrier(wire, OURS)
    ktap.equal(next_hop("2001:db8:a::2"), R3, "high preference wins")
    advertise(R3, route_option("2001:db8:a::", 48, preference=3), lifetime=0)
    nd.barrier(wire, OURS)
    ktap.equal(next_hop("2001:db8:a::3"), R2, "low preference loses")
    advertise(R1, route_option("2001:db8:a::", 48, preference=2))
    nd.barrier(wire, OURS)
    ktap.equal(len(nd.show(A, "routes")), 2, "routes: the reserved preference is ignored")
    forget()


@ktap.test
def invalid_route_information_is_ignored():
    advertise(R1, route_option("2001:db8:a::", 48, length=0)
              + route_option("2001:db8:a:b::", 65, length=1)
              + route_option("2001:db8:a:b::", 129, length=2)
              + route_option("fe80::", 64) + route_option("ff00::", 8))
    nd.barrier(wire, OURS)
    ktap.equal(nd.show(A, "routes"), [], "routes")
    advertise(R1, route_option("::", 0, preference=1), lifetime=100)
    nd.barrier(wire, OURS)
    ktap.equal([(r["address"], r["preference"], r["lifetime"] > 1000)
                for r in nd.show(A, "routers")], [(R1, 1, True)],
               "an option of no length speaks for the default router")
    forget()


@ktap.test
def routes_of_advertisements_are_bounded():
    def option(number, lifetime):
        return route_option(f"2001:db8:{number // 10:x}:{number % 10:x}::", 64, lifetime)

    before = nd.counter(A, "NdRouteLimit")
    for n in range(0, 1000, 10):
        advertise(R1, b"".join(option(n + m, 3600) for m in range(10)), lifetime=0)
    nd.barrier(wire, OURS)
    ktap.equal(len(nd.show(A, "routes")), 64, "routes")
    ktap.equal(nd.counter(A, "NdRouteLimit") - before, 1000 - 64, "NdRouteLimit")
    for n in range(0, 64, 8):
        advertise(R1, b"".join(option(n + m, 1) for m in range(8)), lifetime=0)
    ktap.wait_for(10, "their lifetime is over", lambda: nd.show(A, "routes") == [])


@ktap.test
def a_route_through_a_dead_router_gives_way():
    advertise(R1)
    wire.send(nd.ra(R2, options=nd.lladdr_option(nd.SLLA, MAC[R2])
                    + route_option("2001:db8:a::", 48), lifetime=0))
    nd.barrier(wire, OURS)
    nd.net6ctl(A, "del", "neighbor", R2, "dev", "a0")
    wire.send(nd.ns(R2, OURS, slla=MAC[R2]))
    nd.barrier(wire, OURS)
    ktap.equal(next_hop("2001:db8:a::1"), R2, "while it may be alive")
    # Nobody answers the probes: DELAY 5 s, three probes. What was to go to the router when
    # it was given up is lost.
    def moved():
        try:
            return next_hop("2001:db8:a::1") == R1
        except ktap.Fail:
            return False
    ktap.wait_for(20, "answers go through the default router", moved)
    wire.send(nd.na(R2, R2, dest=OURS, flags=nd.ROUTER | nd.SOLICITED | nd.OVERRIDE,
                    tlla=MAC[R2]))
    wire.send(nd.ns(R2, OURS, slla=MAC[R2]))
    nd.barrier(wire, OURS)
    ktap.equal(next_hop("2001:db8:a::1"), R2, "when it is heard of again")
    forget()


@ktap.test
def redirect_concerns_sockets_bound_to_the_interface():
    nd.net6ctl(A, "add", "neighbor", R2, "lladdr", MAC[R2], "dev", "a0")
    advertise(R1)
    nd.barrier(wire, OURS)
    sock = ktap.net6_socket(socket.SOCK_DGRAM, 0, A)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"a0")

    def goes_to(s):
        wire.flush()
        s.sendto(b"x", ("2001:db8:f::1", 9))
        return wire.expect(lambda f: f.proto == 17, "datagram").dst

    plain = ktap.net6_socket(socket.SOCK_DGRAM, 0, A)
    ktap.equal((goes_to(sock), goes_to(plain)), (MAC[R1], MAC[R1]), "before")
    wire.send(nd.redirect(R1, nd.linklocal(A), R2, "2001:db8:f::1", tlla=MAC[R2]))
    nd.barrier(wire, OURS)
    ktap.equal((goes_to(sock), goes_to(plain)), (MAC[R2], MAC[R2]), "after the Redirect")
    sock.close()
    plain.close()
    forget()


@ktap.test
def resolvers_are_told_to_listeners():
    servers = struct.pack("!BBHI", 25, 5, 0, 600) + nd.packed("2001:db8::53") \
        + nd.packed("fe80::53")
    names = b"\x07example\x03org\0\x02in\x07example\0"
    names += bytes(-len(names) % 8)
    search = struct.pack("!BBHI", 31, 1 + len(names) // 8, 0, 0) + names
    evil = b"\x05a;$(b\0\x3f12"
    evil += bytes(-len(evil) % 8)
    evil = struct.pack("!BBHI", 31, 1 + len(evil) // 8, 0, 9) + evil
    listener = subprocess.Popen([nd.NET6CTL, "-N", A.name, "-j", "monitor"],
                                stdout=subprocess.PIPE)
    ktap.at_exit(listener.wait)
    ktap.at_exit(listener.kill)
    said = b""

    def heard():
        """Advertisements are repeated until the listener has begun to listen."""
        nonlocal said
        advertise(R1, servers + search + evil)
        while select.select([listener.stdout], [], [], 0.3)[0]:
            said += os.read(listener.stdout.fileno(), 65536)
        events = [json.loads(line) for line in said.split(b"\n")[:-1]]
        events = [e for e in events if e["object"] == "dns"]
        while events and "servers" not in events[0]:
            events.pop(0)
        return events
    events = ktap.wait_for(20, "three options are told", lambda: (heard()[2:] and heard()))
    found = [{k: e.get(k) for k in ("router", "lifetime", "servers", "search")}
             for e in events[:3]]
    ktap.equal(found, [
        {"router": R1, "lifetime": 600, "servers": "2001:db8::53 fe80::53", "search": None},
        {"router": R1, "lifetime": 0, "servers": None, "search": "example.org in.example"},
        {"router": R1, "lifetime": 9, "servers": None, "search": "a???b"},
    ], "what was told")
    forget()


@ktap.test
def limits_of_extension_headers_are_settings():
    options = bytes([58, 0, 0x1e, 1, 0, 0x1e, 1, 0])
    request = nd.echo("2001:db8::99", OURS, 5, hlim=64)
    nd.net6ctl(A, "add", "neighbor", "2001:db8::99", "lladdr", wire.mac, "dev", "a0")
    packet = nd.ipv6("2001:db8::99", OURS, 60, options + request[40:], 64)
    for limit, kind in (("8", nd.REPLY), ("1", 4), ("2", nd.REPLY)):
        nd.net6ctl(A, "set", "limits", "max-dst-options", limit)
        wire.flush()
        wire.send(packet)
        wire.expect(lambda f, kind=kind: f.type == kind, f"answer with max-dst-options {limit}")
    nd.net6ctl(A, "set", "limits", "max-exthdrs", "0")
    wire.send(packet)
    frame = wire.expect(lambda f: f.type == 4, "Parameter Problem")
    ktap.equal(frame.code, 8, "code: extension header chain too long (RFC 8883)")
    nd.net6ctl(A, "set", "limits", "max-exthdrs", "8", "max-dst-options", "8")


@ktap.test
def secret_makes_identifiers_that_survive():
    def address_with(secret):
        nd.net6ctl(A, "set", "secret", secret)
        A.down("a0")
        A.up("a0")
        return nd.linklocal(A)

    one = address_with("00112233445566778899aabbccddeeff")
    two = address_with("f0112233445566778899aabbccddeeff")
    ktap.true(one != two, "another secret, another address")
    ktap.unload("net6")
    ktap.net6_load()
    ktap.equal(address_with("00112233445566778899aabbccddeeff"), one,
               "address after the module was loaded anew")


ktap.main(setup)
