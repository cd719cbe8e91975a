#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Forwarding and the router's side of Neighbor Discovery: hop limit, Packet Too Big, no route,
# scopes, Redirects (RFC 4861 8.2), Router Solicitations, all-routers groups. Two native hosts
# with a net6 router between them. The native stack beside a forwarding net6. No memory, the end
# of a device, of the namespace and of the module while packets of all kinds are forwarded.
#
#	B [b0 raw] --- [a0 net6] A [c0 net6] --- [d0 raw] D
#	N [n0 native] - [a1 net6] A [c1 net6, MTU 1400] - [m0 native] M
#	B [b1 raw] --- [e0 net6] E [e1 net6] --- [d1] D
# guest: stock+
# timeout: 180

import hashlib
import json
import os
import random
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

RB, RD = "2001:db8:b::1", "2001:db8:d::1"
HOST_B, HOST_B2, HOST_D = "2001:db8:b::9", "2001:db8:b::8", "2001:db8:d::9"
MAC_B2, MAC_D = "02:00:00:00:00:b8", "02:00:00:00:00:d9"
OTHER_ROUTER, MAC_OTHER = "fe80::beef", "02:00:00:00:be:ef"
DEST_UNREACH, TOO_BIG, TIME_EXCEEDED = 1, 2, 3
A, B, wire = nd.ends()
D, far = nd.second_end()


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.second_cable(A, D, far)
    # Only tests speak there, solicit routers above all.
    nd.net6ctl(B, "detach", "dev", "b0")
    addresses(A, "a0", "c0", wire)


def addresses(ns, near_dev, far_dev, near):
    """Of a router between a wire and D."""
    for dev, address in ((near_dev, RB), (far_dev, RD)):
        nd.net6ctl(ns, "set", "dev", dev, "dad-transmits", "0")
        nd.net6ctl(ns, "add", "address", address + "/64", "dev", dev)
        nd.linklocal(ns, dev)
    nd.net6ctl(ns, "add", "neighbor", HOST_D, "lladdr", MAC_D, "dev", far_dev)
    nd.net6ctl(ns, "add", "neighbor", HOST_B, "lladdr", near.mac, "dev", near_dev)


def forwarding(on, *devs):
    for dev in devs or ("a0", "c0"):
        nd.net6ctl(A, "set", "dev", dev, "forwarding", "on" if on else "off")


def ping(source=HOST_B, dest=HOST_D, hlim=64, data=b"net6"):
    """An echo request from B on its way; returns how to recognise it."""
    number = nd.ping(wire, source, dest, data=data, hlim=hlim)
    return lambda f: f.type == nd.ECHO and f.seq == number


def barrier(over=None):
    """What was sent before has been dealt with."""
    over = over or wire
    source, own = (HOST_B, RB) if over is wire else (HOST_D, RD)
    over.expect(nd.replies(nd.ping(over, source, own, hlim=64)), "answer of the router")


def error(kind, code, source=RB):
    """The ICMPv6 error that the sender gets; returns its last four octets of header."""
    frame = wire.expect(lambda f: f.type == kind, f"error {kind}")
    ktap.equal((frame.code, frame.source, frame.dest, frame.checksum_good()),
               (code, source, HOST_B, True), "error")
    ktap.true(frame.payload[8:9] == b"\x60", "the packet is in it")
    return struct.unpack("!I", frame.payload[4:8])[0]


def dropped(reason, count=1):
    return lambda before: ktap.equal(nd.drops(A)[reason] - before.get(reason, 0), count, reason)


@ktap.test
def a_host_forwards_nothing():
    before = nd.drops(A)
    passed = ping()
    barrier()
    far.silence(passed, "forwarded", 0.5)
    # beside native the packet is left to it, and native is off here
    ktap.equal(nd.counter(A, "Ip6OutForwDatagrams"), 0, "counter")
    ktap.equal(nd.drops(A)["NOT_OURS"], before["NOT_OURS"], "drop")


@ktap.test
def a_router_does():
    forwarding(True)
    for dev in ("a0", "c0"):
        ktap.true([i for i in nd.show(A, "interfaces") if i["dev"] == dev][0]["forwarding"], dev)
    frame = far.expect(ping(hlim=7, data=b"x" * 500), "packet")
    ktap.equal((frame.source, frame.dest, frame.hlim, frame.dst, frame.src, frame.checksum_good(),
                frame.payload[8:]), (HOST_B, HOST_D, 6, MAC_D, far.peer, True, b"x" * 500),
               "packet")
    ktap.equal(nd.counter(A, "Ip6OutForwDatagrams"), 1, "counter")


@ktap.test
def the_neighbor_is_asked_for():
    passed = ping(dest="2001:db8:d::77")
    ask = far.expect(lambda f: f.type == nd.NS and f.target == "2001:db8:d::77", "solicitation")
    ktap.equal(ask.source, nd.linklocal(A, "c0"), "from, however many addresses it has")
    far.send(nd.na("2001:db8:d::77", "2001:db8:d::77", dest=ask.source,
                   flags=nd.SOLICITED | nd.OVERRIDE, tlla="02:00:00:00:00:77"))
    ktap.equal(far.expect(passed, "packet").dst, "02:00:00:00:00:77", "to")


@ktap.test
def nobody_answers():
    ping(dest="2001:db8:d::dead")
    error(DEST_UNREACH, 3)


@ktap.test
def hop_limit_is_over():
    for hlim in (1, 0):
        before = nd.drops(A)
        passed = ping(hlim=hlim)
        error(TIME_EXCEEDED, 0)
        barrier()
        far.silence(passed, "forwarded", 0.2)
        dropped("FORWARD_HOP_LIMIT")(before)


@ktap.test
def an_error_says_by_which_link_the_packet_came():
    """Also if it goes by another one (RFC 4443 2.2): traceroute shows the packet's way."""
    nd.ping(far, HOST_B, "2001:db8:e::5", hlim=1)
    error(TIME_EXCEEDED, 0, source=RD)


@ktap.test
def no_route():
    before = nd.drops(A)
    ping(dest="2001:db8:ffff::1")
    error(DEST_UNREACH, 0)
    dropped("NO_ROUTE")(before)


@ktap.test
def too_big_for_the_next_link():
    A.ip("link", "set", "c0", "mtu", "1300")
    ktap.wait_for(5, "MTU", lambda: [i for i in nd.show(A, "interfaces")
                                     if i["dev"] == "c0"][0]["mtu"] == 1300)
    before = nd.drops(A)
    fits = ping(data=b"x" * (1300 - 48))
    far.expect(fits, "packet that fits")
    ping(data=b"x" * (1300 - 47))
    ktap.equal(error(TOO_BIG, 0), 1300, "MTU")
    dropped("FORWARD_TOO_BIG")(before)
    A.ip("link", "set", "c0", "mtu", "1500")
    far.expect(ping(data=b"x" * 1400), "packet")


@ktap.test
def what_must_stay():
    for source, dest, reason in (("::", HOST_D, "HEADER_SOURCE"),
                                 (HOST_B, "fe80::99", None),
                                 ("::1", HOST_D, "HEADER_SOURCE"),
                                 ("ff02::99", HOST_D, "HEADER_SOURCE"),
                                 (HOST_B, "ff0e::99", None)):
        before = nd.drops(A)
        passed = ping(source=source, dest=dest)
        barrier()
        far.silence(passed, f"forwarded from {source} to {dest}", 0.2)
        if reason:
            dropped(reason)(before)


@ktap.test
def a_frame_for_everybody_is_not_forwarded():
    number = nd.ping(wire, HOST_B, HOST_D, mac="33:33:00:00:00:01", hlim=64)
    barrier()
    far.silence(lambda f: f.type == nd.ECHO and f.seq == number, "forwarded", 0.2)


@ktap.test
def a_link_local_source_stays_on_its_link():
    before = nd.drops(A)
    nd.net6ctl(A, "add", "neighbor", "fe80::99", "lladdr", wire.mac, "dev", "a0")
    passed = ping(source="fe80::99")
    frame = wire.expect(lambda f: f.type == DEST_UNREACH, "error")
    ktap.equal((frame.code, frame.dest), (2, "fe80::99"), "beyond scope of source address")
    dropped("FORWARD_SCOPE")(before)
    barrier()
    far.silence(passed, "forwarded", 0.2)


@ktap.test
def jumbograms_and_lengths():
    before = nd.drops(A)
    packet = bytearray(nd.echo(HOST_B, HOST_D, 4711, hlim=64))
    packet[4:6], packet[6] = b"\0\0", 0
    wire.send(bytes(packet))
    packet = bytearray(nd.echo(HOST_B, HOST_D, 4711, hlim=64))
    packet[4:6] = b"\7\0"
    wire.send(bytes(packet))
    barrier()
    far.silence(lambda f: f.type == nd.ECHO and f.seq == 4711, "forwarded", 0.2)
    dropped("HEADER_LENGTH", 2)(before)


@ktap.test
def behind_another_router_and_by_the_longest_prefix():
    nd.net6ctl(A, "add", "neighbor", "fe80::d", "lladdr", "02:00:00:00:dd:dd", "dev", "c0")
    nd.net6ctl(A, "add", "route", "2001:db8:e::/48", "via", "fe80::d", "dev", "c0")
    ktap.equal(far.expect(ping(dest="2001:db8:e::1"), "packet").dst, "02:00:00:00:dd:dd", "to")
    nd.net6ctl(A, "del", "route", "2001:db8:e::/48", "via", "fe80::d", "dev", "c0")
    ping(dest="2001:db8:e::1")
    error(DEST_UNREACH, 0)


def redirected(dest):
    frame = wire.expect(lambda f: f.type == nd.REDIRECT, "Redirect")
    ktap.equal((frame.source, frame.dest, frame.hlim, frame.checksum_good(),
                frame.payload[24:40]),
               (nd.linklocal(A), HOST_B, 255, True, nd.packed(dest)), "Redirect")
    packet = frame.option(4)
    ktap.true(packet and packet[6:46][24:] == nd.packed(dest), "Redirected Header option")
    return frame


@ktap.test
def redirect_to_a_host_on_the_link():
    nd.net6ctl(A, "add", "neighbor", HOST_B2, "lladdr", MAC_B2, "dev", "a0")
    before = nd.counter(A, "Icmp6OutRedirects")
    passed = ping(dest=HOST_B2, data=b"y" * 1400)
    frame = redirected(HOST_B2)
    ktap.equal((frame.target, frame.option(nd.TLLA)), (HOST_B2, nd.mac_bytes(MAC_B2)), "target")
    ktap.true(frame.length + 40 <= 1280, "size")
    ktap.equal(wire.expect(passed, "the packet itself").dst, MAC_B2, "to")
    ktap.equal(nd.counter(A, "Icmp6OutRedirects"), before + 1, "counter")


@ktap.test
def redirect_to_a_better_router():
    nd.net6ctl(A, "add", "neighbor", OTHER_ROUTER, "lladdr", MAC_OTHER, "dev", "a0")
    nd.net6ctl(A, "add", "route", "2001:db8:f::/48", "via", OTHER_ROUTER, "dev", "a0")
    ping(dest="2001:db8:f::1")
    frame = redirected("2001:db8:f::1")
    ktap.equal((frame.target, frame.option(nd.TLLA)), (OTHER_ROUTER, nd.mac_bytes(MAC_OTHER)),
               "target")


@ktap.test
def redirect_to_a_neighbor_that_nobody_has_asked_yet():
    """Its link-layer address is not known: the Redirect says none (RFC 4861 8.2, "if known")."""
    ping(dest="2001:db8:b::77")
    frame = redirected("2001:db8:b::77")
    ktap.equal((frame.target, frame.option(nd.TLLA)), ("2001:db8:b::77", None), "target")


@ktap.test
def no_redirect_for_who_is_no_neighbor():
    nd.net6ctl(A, "add", "neighbor", "fe80::d", "lladdr", MAC_OTHER, "dev", "a0")
    nd.net6ctl(A, "add", "route", "2001:db8:9::/48", "via", "fe80::d", "dev", "a0")
    before = nd.counter(A, "Icmp6OutRedirects")
    passed = ping(source="2001:db8:9::1", dest="2001:db8:f::1")
    wire.expect(passed, "packet")
    ktap.equal(nd.counter(A, "Icmp6OutRedirects"), before, "Redirects")


@ktap.test
def redirects_are_limited():
    before = nd.counter(A, "Icmp6OutRedirects")
    limited = nd.counter(A, "Icmp6OutRateLimited")
    for _ in range(100):
        ping(dest=HOST_B2)
    barrier()
    sent = nd.counter(A, "Icmp6OutRedirects") - before
    ktap.true(sent < 100 and sent + nd.counter(A, "Icmp6OutRateLimited") - limited == 100,
              f"{sent} of 100 were sent")


@ktap.test
def a_router_takes_no_redirect():
    before = nd.drops(A)
    far.send(nd.redirect("fe80::d", RD, "fe80::e", "2001:db8:e::5"))
    barrier(far)
    dropped("ND_IGNORED")(before)


@ktap.test
def it_says_that_it_is_a_router():
    wire.send(nd.ns(HOST_B, RB, slla=wire.mac))
    frame = wire.expect(lambda f: f.type == nd.NA and f.target == RB, "advertisement")
    ktap.equal(frame.flags, nd.ROUTER | nd.SOLICITED | nd.OVERRIDE, "flags")
    wire.send(nd.echo(HOST_B, nd.ALL_ROUTERS, 4712, hlim=1))
    wire.expect(lambda f: f.type == nd.REPLY and f.seq == 4712, "answer of all routers")


@ktap.test
def router_solicitations_are_heard():
    mac = "02:00:00:00:50:50"
    count = nd.counter(A, "Icmp6InRouterSolicits")
    wire.send(nd.icmp("fe80::50", nd.ALL_ROUTERS, nd.RS, bytes(4)
                      + nd.lladdr_option(nd.SLLA, mac)))
    barrier()
    entry = nd.find(A, "neighbors", "fe80::50")
    ktap.equal((entry["lladdr"], entry["state"]), (mac, "stale"), "neighbor")
    before = nd.drops(A)
    wire.send(nd.icmp("::", nd.ALL_ROUTERS, nd.RS, bytes(4) + nd.lladdr_option(nd.SLLA, mac)))
    wire.send(nd.icmp("fe80::51", nd.ALL_ROUTERS, nd.RS, bytes(4)
                      + nd.lladdr_option(nd.SLLA, mac), hlim=64))
    barrier()
    dropped("ND_OPTION")(before)
    dropped("ND_HOP_LIMIT")(before)
    ktap.equal(nd.find(A, "neighbors", "fe80::51"), None, "neighbor")
    ktap.equal(nd.counter(A, "Icmp6InRouterSolicits"), count + 3, "counter")


@ktap.test
def a_solicitation_in_pieces_is_heard():
    """What is longer than a page is not in one piece when a packet socket sends it."""
    mac = "02:00:00:00:52:52"
    unknown = 3 * (bytes([200, 200]) + bytes(200 * 8 - 2))
    rs = bytes(4) + unknown + nd.lladdr_option(nd.SLLA, mac)
    for ns, dev in ((A, "a0"), (B, "b0")):
        ns.ip("link", "set", dev, "mtu", "9000")
    before = nd.drops(A)
    wire.send(nd.icmp("fe80::52", nd.ALL_ROUTERS, nd.RS, rs))
    wire.send(nd.icmp("::", nd.ALL_ROUTERS, nd.RS, rs))
    barrier()
    for ns, dev in ((A, "a0"), (B, "b0")):
        ns.ip("link", "set", dev, "mtu", "1500")
    entry = nd.find(A, "neighbors", "fe80::52")
    ktap.equal((entry["lladdr"], entry["state"]), (mac, "stale"), "neighbor")
    dropped("ND_OPTION")(before)


@ktap.test
def a_router_learns_nothing_from_routers():
    before = nd.drops(A)
    wire.send(nd.ra(OTHER_ROUTER, options=nd.prefix_option("2001:db8:77::")))
    barrier()
    dropped("ND_IGNORED")(before)
    ktap.equal(nd.show(A, "routers"), [], "routers")


@ktap.test
def with_accept_ra_2_a_router_does():
    """A router at the end of a provider's line: a host there that forwards."""
    nd.net6ctl(A, "set", "dev", "a0", "accept-ra", "2")
    wire.expect(lambda f: f.type == nd.RS, "solicitation")
    ktap.equal([i["accept_ra"] for i in nd.show(A, "interfaces", "dev", "a0")], [2], "accept_ra")
    ktap.equal(A.run("sysctl", "-n", "net.net6.conf.a0.accept_ra").strip(), "2", "sysctl")
    wire.send(nd.ra(OTHER_ROUTER, options=nd.prefix_option("2001:db8:77::")))
    barrier()
    ktap.equal([r["address"] for r in nd.show(A, "routers")], [OTHER_ROUTER], "routers")
    ktap.true([a for a in nd.show(A, "addresses") if a["origin"] == "slaac"
               and a["address"].startswith("2001:db8:77:")], "address of the prefix")
    far.send(nd.echo(HOST_D, "2001:db8:ffff::5", 4720, hlim=64))
    frame = wire.expect(lambda f: f.type == nd.ECHO and f.seq == 4720, "packet by default")
    ktap.equal(frame.dst, MAC_OTHER, "to")
    far.expect(ping(), "packet to the other side")
    before = nd.drops(A)
    wire.send(nd.redirect(OTHER_ROUTER, RB, "fe80::e", "2001:db8:ffff::5"))
    barrier()
    dropped("ND_IGNORED")(before)
    forwarding(False, "a0")
    forwarding(True, "a0")
    ktap.equal([r["address"] for r in nd.show(A, "routers")], [OTHER_ROUTER], "they stay")
    nd.net6ctl(A, "set", "dev", "a0", "accept-ra", "on")
    wire.send(nd.ra(OTHER_ROUTER, lifetime=0))
    barrier()
    ktap.equal([r["address"] for r in nd.show(A, "routers")], [OTHER_ROUTER], "not believed")
    forwarding(False, "a0")
    forwarding(True, "a0")
    ktap.equal(nd.show(A, "routers"), [], "forgotten with accept-ra 1")


@ktap.test
def only_where_it_is_on():
    forwarding(False, "c0")
    far.expect(ping(), "from a0 it goes on")
    before = nd.counter(A, "Ip6OutForwDatagrams")
    far.send(nd.echo(HOST_D, HOST_B, 4713, hlim=64))
    barrier(far)
    wire.silence(lambda f: f.type == nd.ECHO and f.seq == 4713, "forwarded", 0.2)
    ktap.equal(nd.counter(A, "Ip6OutForwDatagrams"), before, "counter")
    forwarding(True, "c0")
    far.send(nd.echo(HOST_D, HOST_B, 4714, hlim=64))
    wire.expect(lambda f: f.type == nd.ECHO and f.seq == 4714, "packet")


@ktap.test
def sysctl_and_a_host_again():
    name = "net.net6.conf.a0.forwarding"
    ktap.equal(A.run("sysctl", "-n", name).strip(), "1", name)
    A.run("sysctl", "-q", "-w", name + "=0")
    wire.send(nd.ns(HOST_B, RB, slla=wire.mac))
    frame = wire.expect(lambda f: f.type == nd.NA and f.target == RB, "advertisement")
    ktap.equal(frame.flags, nd.SOLICITED | nd.OVERRIDE, "flags")
    wire.expect(lambda f: f.type == nd.RS, "solicitation of a host")
    wire.send(nd.echo(HOST_B, nd.ALL_ROUTERS, 4715, hlim=1))
    barrier()
    ktap.true(not any(f.type == nd.REPLY and f.seq == 4715 for f in wire.seen), "left the group")
    wire.send(nd.ra(OTHER_ROUTER))
    barrier()
    ktap.equal([r["address"] for r in nd.show(A, "routers")], [OTHER_ROUTER], "a host's router")
    A.run("sysctl", "-q", "-w", name + "=1")
    ktap.equal(nd.show(A, "routers"), [], "routers of a router")


@ktap.test
def damaged_packets_do_no_harm():
    """Headers with a few octets changed, of every length, for somebody else."""
    rng = random.Random(8)
    before, forwarded = sum(nd.drops(A).values()), nd.counter(A, "Ip6OutForwDatagrams")
    count = 2000
    for n in range(count):
        packet = bytearray(nd.echo(HOST_B, HOST_D, n, data=b"z" * (n % 200), hlim=n % 5))
        for _ in range(rng.randrange(4)):
            # not the destination, without which it would not be a packet to forward
            packet[rng.choice((0, 1, 4, 5, 6, 7, 8, 9, 15, 23, 41, 44))] = rng.randrange(256)
        wire.send(bytes(packet[:rng.randrange(40, len(packet) + 1)]
                        if n % 7 == 0 else packet))
    barrier()
    far.flush()         # what was forwarded may fill its buffer
    far.expect(ping(), "a good one")
    dealt = (sum(nd.drops(A).values()) - before
             + nd.counter(A, "Ip6OutForwDatagrams") - forwarded)
    ktap.true(dealt >= count, f"{dealt} of {count} were dropped or forwarded")


def native_host(name, dev, gateway_dev, net, mtu=1500):
    """A native host on a cable to the router, with a default route to it."""
    ns = ktap.Netns(name)
    ktap.run("ip", "link", "add", gateway_dev, "netns", A.name, "mtu", str(mtu), "type", "veth",
             "peer", "name", dev, "netns", ns.name, "mtu", str(mtu))
    ns.run(nd.NET6CTL, "detach", "dev", dev)
    A.up(gateway_dev)
    ns.up(dev)
    ns.ip("addr", "add", net + "::9/64", "dev", dev, "nodad")
    # So that the other end's segments fit its own link, not this one.
    ns.ip("-6", "route", "add", "default", "via", net + "::1", "dev", dev, "advmss", "1440")
    nd.net6ctl(A, "set", "dev", gateway_dev, "dad-transmits", "0")
    nd.net6ctl(A, "add", "address", net + "::1/64", "dev", gateway_dev)
    nd.linklocal(A, gateway_dev)
    forwarding(True, gateway_dev)
    return ns


def stream(size):
    block = bytes(range(256)) * 256
    return block * (size // len(block))


@ktap.test
def native_hosts_through_the_router():
    """Segments of 64 KB come in, and the next link takes 1400 octets."""
    near = native_host("N", "n0", "a1", "fd10")
    there = native_host("M", "m0", "c1", "fd20", mtu=1400)
    data = stream(4 << 20)
    with there:
        listener = socket.create_server(("fd20::9", 7000), family=socket.AF_INET6)
    result = {}

    def serve():
        conn, _ = listener.accept()
        with conn:
            digest, left = hashlib.sha256(), len(data)
            while left:
                got = conn.recv(1 << 16)
                if not got:
                    return
                digest.update(got)
                left -= len(got)
            result["there"] = digest.digest()
            conn.sendall(data)

    thread = threading.Thread(target=serve)
    thread.start()
    with near:
        sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    sock.settimeout(60 * ktap.SCALE)
    sock.connect(("fd20::9", 7000))
    before = nd.counter(A, "Icmp6OutPktTooBigs")
    sock.sendall(data)
    digest, left = hashlib.sha256(), len(data)
    while left:
        got = sock.recv(1 << 16)
        ktap.true(got, "connection goes on")
        digest.update(got)
        left -= len(got)
    thread.join(60 * ktap.SCALE)
    wanted = hashlib.sha256(data).digest()
    ktap.equal((result.get("there"), digest.digest()), (wanted, wanted), "checksums")
    ktap.true(nd.counter(A, "Icmp6OutPktTooBigs") > before, "Packet Too Big was sent")
    near.run("ping", "-6", "-c", "2", "-i", "0.2", "-W", "5", "fd20::9")


@ktap.test
def what_is_for_native_stays_native():
    """Native and a forwarding net6 on one device."""
    A.run("sysctl", "-q", "-w", "net.ipv6.conf.a0.disable_ipv6=0")
    A.ip("addr", "add", "2001:db8:b::7/64", "dev", "a0", "nodad")
    wire.send(nd.echo(HOST_B, "2001:db8:b::7", 4716, hlim=64))
    ask = wire.expect(lambda f: f.type == nd.NS and f.target == HOST_B, "native's solicitation")
    wire.send(nd.na(HOST_B, HOST_B, dest=ask.source, flags=nd.SOLICITED | nd.OVERRIDE,
                    tlla=wire.mac))
    frame = wire.expect(lambda f: f.type == nd.REPLY and f.seq == 4716, "native's answer")
    ktap.equal(frame.source, "2001:db8:b::7", "from")
    far.expect(ping(), "and net6 forwards")
    A.run("sysctl", "-q", "-w", "net.ipv6.conf.a0.disable_ipv6=1")


class Flood:
    """Packets of all kinds that a router has something to do with, until the block ends."""

    def __init__(self, over):
        self.over = over
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        rng = random.Random(3)
        while not self.stop.is_set():
            n = rng.randrange(1 << 16)
            packets = (nd.echo(HOST_B, HOST_D, n, hlim=64),
                       nd.echo(HOST_B, HOST_D, n, hlim=1),
                       nd.echo(HOST_B, f"2001:db8:d::{n:x}", n, hlim=64),   # nobody has it
                       nd.echo(f"2001:db8:b::{n:x}", "2001:db8:ffff::1", n, hlim=64),
                       nd.echo(HOST_B, HOST_B2, n, hlim=64),            # a Redirect
                       nd.ns(f"2001:db8:b::{n:x}", RB, slla=self.over.mac))
            try:
                for packet in packets:
                    self.over.send(packet)
            except OSError:         # the other end has gone, or goes: then this one does
                time.sleep(0.05)		# until it is there again, or the test ends
            time.sleep(0.001)		# pace of the load

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def goes_on(ns=None):
    """Packets are forwarded at this moment."""
    ns = ns or A
    before = nd.counter(ns, "Ip6OutForwDatagrams")
    ktap.wait_for(10, "packets are forwarded",
                  lambda: nd.counter(ns, "Ip6OutForwDatagrams") > before + 20)


def calm():
    wire.flush()
    far.flush()
    far.expect(ping(), "a packet afterwards")


@ktap.test
def without_memory():
    """One allocation of ten fails that must not sleep."""
    fault = "/sys/kernel/debug/failslab"
    if not os.path.isdir(fault):
        raise ktap.Skip("the kernel cannot inject faults")

    def write(name, value):
        with open(f"{fault}/{name}", "w", encoding="ascii") as file:
            file.write(value)
    before = nd.drops(A)
    for name, value in (("verbose", "0"), ("times", "-1"), ("ignore-gfp-wait", "Y")):
        write(name, value)
    with Flood(wire):
        goes_on()
        write("probability", "10")
        try:
            ktap.wait_for(20, "packets were dropped", lambda: nd.drops(A)["NO_MEMORY"]
                          >= before["NO_MEMORY"] + 20)
        finally:
            write("probability", "0")
        goes_on()
    calm()


def second_router():
    """The router E, its wire to B and its far device."""
    there = ktap.Netns("E")
    nd.quiet(there)
    for dev, peer, ns in (("e0", "b1", B), ("e1", "d1", D)):
        ktap.run("ip", "link", "add", dev, "netns", there.name, "type", "veth", "peer", "name",
                 peer, "netns", ns.name)
        ns.up(peer)
        there.up(dev)
    near = nd.Wire(B, "b1")
    near.peer = json.loads(there.ip("-j", "link", "show", "e0"))[0]["address"]
    addresses(there, "e0", "e1", near)
    for dev in ("e0", "e1"):
        nd.net6ctl(there, "set", "dev", dev, "forwarding", "on")
    return there, near


def gone(ns, dev):
    return not any(link["ifname"] == dev for link in json.loads(ns.ip("-j", "link")))


@ktap.test
def the_device_and_the_namespace_go():
    for _ in range(3):
        there, near = second_router()
        with Flood(near):
            goes_on(there)
            there.ip("link", "del", "e1")
            before = nd.drops(there)["NO_ROUTE"]
            ktap.wait_for(10, "there is no route any more",
                          lambda: nd.drops(there)["NO_ROUTE"] > before + 20)
            there.delete()
            ktap.wait_for(30, "the namespace has gone", lambda: gone(B, "b1"))
        near.sock.close()
    calm()


@ktap.test
def the_module_goes():
    with Flood(wire):
        for _ in range(3):
            goes_on()
            ktap.unload("net6")
            ktap.net6_load()
            addresses(A, "a0", "c0", wire)
            forwarding(True)
        goes_on()
    calm()


ktap.main(setup=setup)
