#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What tunnels do not take, and do not send: each reason has its counter, the tunnel's
# own, and its tracepoint; what IPv4 refuses before them has IPv4's. ICMPv4 errors are
# counted, traced and translated. The topology is drawn in lib/cloud.py.
# guest: stock+
# timeout: 200
import json
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
from cloud import (  # pylint: disable=wrong-import-position
    ADDRESS_A, ADDRESS_B, checksum, ctl, inner, outer, send_raw, tunnel)

NET6_A, NET6_B = "2001:db8:1::a", "2001:db8:1::b"
AUTO_B = "::" + ADDRESS_B
TRACING = "/sys/kernel/tracing"


def setup():
    cloud.setup()
    if not os.path.isdir(TRACING + "/events"):
        ktap.run("mount", "-t", "tracefs", "none", TRACING)
    ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B, "local", ADDRESS_A)
    ctl(cloud.B, "tunnel", "add", "t0", "remote", ADDRESS_A, "local", ADDRESS_B)
    cloud.add_address(cloud.A, "t0", NET6_A)
    cloud.add_address(cloud.B, "t0", NET6_B)


def packet(source=NET6_A, destination=NET6_B, **how):
    return inner(source, destination, **how)


def raw(what, source=ADDRESS_A, tos=0):
    """From R to B, as if it had come through the cloud."""
    send_raw(cloud.R, ADDRESS_B, outer(what, source, ADDRESS_B, tos))


def send_from_a():
    sock = cloud.net6(cloud.A, 2)
    try:
        sock.sendto(b"into the tunnel", (NET6_B, 9))
    except OSError:
        pass
    sock.close()


def ifindex(ns, dev):
    with ns:
        return socket.if_nametoindex(dev)


class Trace:
    """What an event has said since the with block began."""

    def __init__(self, event, only=None):
        self.event = event
        self.base = f"{TRACING}/events/{event}"
        self.only = only

    @staticmethod
    def write(path, word):
        with open(path, "w", encoding="ascii") as file:
            file.write(word)

    def __enter__(self):
        self.write(TRACING + "/trace", "")      # opened for writing it is emptied
        if self.only:
            self.write(self.base + "/filter", self.only)
        self.write(self.base + "/enable", "1")
        return self

    def __exit__(self, *_):
        self.write(self.base + "/enable", "0")
        if self.only:
            self.write(self.base + "/filter", "0")

    def lines(self):
        mark = f": {self.event.split('/')[1]}: "
        with open(TRACING + "/trace", encoding="ascii", errors="replace") as file:
            return [line.split(mark, 1)[1].strip() for line in file if mark in line]


def refused(ns, *cases):
    """Each (reason, counter, device, action): the action leads to one drop with this
    reason, seen in three places: the tracepoint says which, the counters how many.
    """
    def counters():
        return {d["name"]: d["value"] for d in cloud.dump(ns, "drop-get")} | {
            (t["name"], key.replace("-", "_")): value
            for t in cloud.dump(ns, "tunnel-get") for key, value in t.items()}
    wanted = counters()
    with Trace("net6/net6_tunnel_drop") as trace:
        for number, (reason, counter, dev, action) in enumerate(cases, 1):
            action()
            ktap.wait_for(10, f"drop {number}, {reason}",
                          lambda n=number: len(trace.lines()) >= n)
            where = ifindex(ns, dev if counter else "b0")
            ktap.equal(trace.lines()[number - 1:], [f"ifindex={where} reason={reason}"],
                       f"drop {number}")
            wanted[reason] += 1
            if counter:
                wanted[dev, counter] += 1
    seen = counters()
    for reason, counter, dev, _ in cases:
        for key in (reason, (dev, counter)) if counter else (reason,):
            ktap.equal(seen[key], wanted[key], f"counter {key}")


@ktap.test
def outer_sources_that_are_no_hosts_or_our_own():
    """IPv4 refuses most of them as martians; 240/4 it lets in, and the others when it
    is told to. B has the kinds that believe anybody.
    """
    cloud.transition(cloud.B, "auto")
    cloud.wait_preferred(cloud.B, AUTO_B)
    devices = {t["kind"]: t["dev"] for t in cloud.show(cloud.B, "tunnels")}
    over4, automatic = devices["6over4"], devices["automatic"]
    for name in ("accept_local", "route_localnet"):
        cloud.sysctl(cloud.B, f"net.ipv4.conf.b0.{name}", "1")
    refused(cloud.B,
            ("TUNNEL_OUTER", "rx_outer", over4, lambda: raw(packet(), "240.0.0.1")),
            ("TUNNEL_OUTER", "rx_outer", automatic,
             lambda: raw(packet("::240.0.0.1", AUTO_B), "240.0.0.1")),
            ("TUNNEL_OUTER", "rx_outer", over4, lambda: raw(packet(), ADDRESS_B)),
            ("TUNNEL_OUTER", "rx_outer", over4, lambda: raw(packet(), "127.0.0.1")),
            ("TUNNEL_INNER_SOURCE", "rx_inner_source", automatic,
             lambda: raw(packet("::192.0.2.77", AUTO_B), "192.0.2.99")),
            ("TUNNEL_INNER_SOURCE", "rx_inner_source", automatic,
             lambda: raw(packet("::127.0.0.1", AUTO_B), "192.0.2.99")))
    for name in ("accept_local", "route_localnet"):
        cloud.sysctl(cloud.B, f"net.ipv4.conf.b0.{name}", "0")
    cloud.transition(cloud.B, "off")
    ktap.wait_for(20, "only t0 is left", lambda: len(cloud.dump(cloud.B, "tunnel-get")) == 1)


@ktap.test
def each_reason_not_to_receive():
    short, source, dest = "rx_short", "rx_inner_source", "rx_inner_dest"
    refused(cloud.B, *((reason, counter, "t0", lambda p=what, f=sender, t=tos: raw(p, f, t))
                       for reason, counter, what, sender, tos in (
        ("TUNNEL_SHORT", short, packet(version=4), ADDRESS_A, 0),
        ("TUNNEL_SOURCE", None, packet(), "192.0.2.99", 0),
        ("TUNNEL_INNER_SOURCE", source, packet("::224.1.2.3"), ADDRESS_A, 0),
        ("TUNNEL_INNER_SOURCE", source, packet("::255.255.255.255"), ADDRESS_A, 0),
        ("TUNNEL_INNER_SOURCE", source, packet("::127.0.0.1"), ADDRESS_A, 0),
        ("TUNNEL_INNER_SOURCE", source, packet("::0.1.2.3"), ADDRESS_A, 0),
        ("TUNNEL_INNER_SOURCE", source, packet("::ffff:192.0.2.1"), ADDRESS_A, 0),
        ("TUNNEL_INNER_SOURCE", source, packet("::1"), ADDRESS_A, 0),
        ("TUNNEL_INNER_SOURCE", source, packet("::"), ADDRESS_A, 0),
        ("TUNNEL_INNER_SOURCE", source, packet("ff02::1"), ADDRESS_A, 0),
        ("TUNNEL_INNER_DEST", dest, packet(NET6_A, "::1"), ADDRESS_A, 0),
        ("TUNNEL_INNER_DEST", dest, packet(NET6_A, "::ffff:1.2.3.4"), ADDRESS_A, 0),
        ("TUNNEL_ECN", "rx_ecn", packet(), ADDRESS_A, 3))))


# What IPv4 refuses before us

def not_taken(what, action):
    """After @action, B's tunnel has seen nothing but a packet sent behind it."""
    def seen():
        return {k: v for k, v in tunnel(cloud.B, "t0").items() if k.startswith("rx_")}
    before = seen()
    action()
    raw(packet(version=4))
    before["rx_short"] += 1
    ktap.wait_for(10, "what came after it is seen",
                  lambda: seen()["rx_short"] == before["rx_short"])
    ktap.equal(seen(), before, f"counters after {what}")


def snmp(name):
    """A counter of B's IPv4."""
    with cloud.B:
        lines = []
        for file in ("snmp", "netstat"):
            with open("/proc/thread-self/net/" + file, encoding="ascii") as text:
                lines += [line.split() for line in text]
    for names, values in zip(lines[::2], lines[1::2]):
        found = dict(zip((names[0] + n for n in names), values))
        if name in found:
            return int(found[name])
    raise ktap.Fail(f"no counter {name}")


def martian_sources():
    """in_martian_src of all CPUs."""
    with open("/proc/net/stat/rt_cache", encoding="ascii") as file:
        names, *rows = (line.split() for line in file)
    return sum(int(row[names.index("in_martian_src")], 16) for row in rows)


@ktap.test
def ipv4_itself_refuses_martian_sources():
    sources = (ADDRESS_B, "127.0.0.1", "224.0.0.1", "255.255.255.255")
    before = martian_sources()
    not_taken("martians", lambda: [raw(packet(), source) for source in sources])
    ktap.equal(martian_sources() - before, len(sources), "in_martian_src of rt_cache")


def dropped_by(function, lines):
    """How many packets of a trace of kfree_skb() were dropped in this small function."""
    with open("/proc/kallsyms", encoding="ascii") as file:
        start = next(int(line.split()[0], 16) for line in file
                     if line.split()[2].split(".")[0] == function)

    def there(location):
        # Later kernels say it by name.
        name, plus, _ = location.partition("+")
        return name == function if plus else start <= int(location, 16) < start + 1024
    return sum(there(line.split("location=")[1].split()[0]) for line in lines)


@ktap.test
def tunnel4_refuses_what_is_shorter_than_a_header():
    """It has no counter, but tells drop monitors."""
    lengths = (1, 8, 39)
    Trace.write(TRACING + "/trace_options", "nohash-ptr")
    try:
        with Trace("skb/kfree_skb", "protocol == 0x800") as trace:
            not_taken("short packets", lambda: [raw(packet()[:n]) for n in lengths])
            lines = trace.lines()
    finally:
        Trace.write(TRACING + "/trace_options", "hash-ptr")
    ktap.equal(dropped_by("tunnel64_rcv", lines), len(lengths), f"dropped there: {lines}")


@ktap.test
def ipv4_refuses_outer_headers_that_lie():
    """Longer than the packet, longer than the header says, a wrong checksum."""
    with cloud.R:
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    mac = json.loads(cloud.B.ip("-j", "link", "show", "dev", "b0"))[0]["address"]
    where = ("r2", 0x0800, 0, 0, bytes.fromhex(mac.replace(":", "")))
    good = outer(packet(), ADDRESS_A, ADDRESS_B)
    wrong = good[:10] + bytes([good[10] ^ 1]) + good[11:]
    for what, counter, bad in (
            ("a cut packet", "IpExt:InTruncatedPkts",
             outer(packet(), ADDRESS_A, ADDRESS_B, total=len(good) + 1)),
            ("a length below the header's", "Ip:InHdrErrors",
             outer(packet(), ADDRESS_A, ADDRESS_B, total=19)),
            ("a wrong checksum", "IpExt:InCsumErrors", wrong)):
        before = snmp(counter)
        not_taken(what, lambda b=bad: wire.sendto(b, where))
        ktap.equal(snmp(counter), before + 1, counter)
    wire.close()


@ktap.test
def fragments_without_the_others_go_nowhere():
    """Bytes 16 to 31 are missing, then they overlap."""
    cloud.sysctl(cloud.B, "net.ipv4.ipfrag_time", "1")

    def fragments(ident, *offsets):
        send_raw(cloud.R, ADDRESS_B, *(
            outer(packet()[:16], ADDRESS_A, ADDRESS_B, flags=offset, ident=ident)
            for offset in offsets))
    fails, timeouts = snmp("Ip:ReasmFails"), snmp("Ip:ReasmTimeout")
    not_taken("fragments with a hole", lambda: fragments(77, 0x2000, 0x2004, 6))
    ktap.wait_for(20, "ReasmTimeout", lambda: snmp("Ip:ReasmTimeout") == timeouts + 1)
    ktap.true(snmp("Ip:ReasmFails") > fails, "ReasmFails")
    fails = snmp("Ip:ReasmFails")
    not_taken("fragments that overlap", lambda: fragments(78, 0x2000, 0x2001))
    ktap.wait_for(20, "ReasmFails", lambda: snmp("Ip:ReasmFails") > fails)


# Sending

@ktap.test
def each_reason_not_to_send():
    a = cloud.A
    a.ip("route", "add", "unreachable", ADDRESS_B + "/32")
    refused(a, ("TUNNEL_NO_ROUTE", "tx_no_route", "t0", send_from_a))
    a.ip("route", "del", "unreachable", ADDRESS_B + "/32")
    a.ip("route", "add", ADDRESS_B + "/32", "dev", "t0")
    refused(a, ("TUNNEL_LOOP", "tx_loop", "t0", send_from_a))
    a.ip("route", "del", ADDRESS_B + "/32", "dev", "t0")
    # The far end is ourselves.
    a.ip("addr", "add", ADDRESS_B + "/32", "dev", "lo")
    refused(a, ("TUNNEL_NO_ROUTE", "tx_no_route", "t0", send_from_a))
    a.ip("addr", "del", ADDRESS_B + "/32", "dev", "lo")
    with a:
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind(("t0", 0x86dd))
    far = socket.inet_aton(ADDRESS_B)
    large = far + packet(payload=b"l" * 1441)
    a.ip("link", "set", "t0", "mtu", "1490")
    refused(a, ("TUNNEL_DEST", "tx_dest", "t0", lambda: sock.send(far + packet(version=4))),
            ("TUNNEL_DEST", "tx_dest", "t0", lambda: sock.send(far + b"\x60" * 20)),
            ("OUT_TOO_BIG", "tx_too_big", "t0", lambda: sock.send(large)))
    a.ip("link", "set", "t0", "mtu", "1480")
    sock.close()


@ktap.test
def a_packet_is_wrapped_three_times_at_most():
    """The path to B's end leads into somebody else's tunnel, whose packets go through t0."""
    a = cloud.A
    ktap.run("insmod", f"{ktap.BUILD}/selftests/modules/net6_nest.ko")
    ktap.at_exit(ktap.unload, "net6_nest")
    a.ip("link", "add", "link", "t0", "name", "n0", "type", "net6nest")
    a.up("n0")
    a.ip("route", "add", ADDRESS_B + "/32", "dev", "n0")
    nested, through = tunnel(a, "t0")["tx_nested"], tunnel(a, "t0")["tx_packets"]
    try:
        if ktap.KERNEL < (6, 12):
            refused(a, ("TUNNEL_NESTED", "tx_nested", "t0", send_from_a))
            ktap.equal(tunnel(a, "t0")["tx_nested"], nested + 1, "packets wrapped too often")
            ktap.equal(tunnel(a, "t0")["tx_packets"] - through, 3, "times it was wrapped")
        else:
            # IPv4's own limit for tunnels (6.12.118) comes first, and tells nobody.
            send_from_a()
            ktap.equal(tunnel(a, "t0")["tx_nested"], nested, "packets wrapped too often")
            ktap.equal(tunnel(a, "t0")["tx_packets"] - through, 2, "times it was wrapped")
    finally:
        a.ip("link", "del", "n0")
    cloud.tcp(cloud.net6(a), cloud.net6(cloud.B), NET6_B, 20000)


# ICMPv4 errors

def too_big(mtu, sock):
    """R tells A that a packet of t0's, sent by @sock, is too big for somebody's link."""
    payload = struct.pack("!HHHH", sock.getsockname()[1], 9, 1440, 0) + b"q" * 1432
    quoted = outer(packet(payload=payload, proto=17), ADDRESS_A, ADDRESS_B, flags=0x4000)
    body = struct.pack("!BBHHH", 3, 4, 0, 0, mtu) + quoted[:548]
    body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
    with cloud.R:
        wire = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    wire.sendto(body, (ADDRESS_A, 0))
    wire.close()


def path_mtu():
    return [d.get("pmtu") for d in cloud.show(cloud.A, "destinations")
            if d["address"] == NET6_B]


@ktap.test
def too_big_becomes_path_mtu_unless_the_tunnel_follows_none():
    where = f"ifindex={ifindex(cloud.A, 't0')}"
    for word, said, wanted in (("on", 1400, 1380), ("off", 1400, None), ("on", 600, 1280)):
        ctl(cloud.A, "tunnel", "set", "t0", "pmtu", word)
        cloud.A.run("ip", "route", "flush", "cache")
        ctl(cloud.A, "flush", "destinations")
        sock = cloud.net6(cloud.A, 2)
        sock.connect((NET6_B, 9))
        before = tunnel(cloud.A, "t0")["icmp_too_big"]
        with Trace("net6/net6_tunnel_error") as trace:
            too_big(said, sock)
            ktap.wait_for(10, "it is counted", lambda b=before: tunnel(
                cloud.A, "t0")["icmp_too_big"] == b + 1)
            ktap.equal(trace.lines(), [f"{where} type=3 code=4 info={said}"], "tracepoint")
        if wanted:
            ktap.wait_for(5, f"the path MTU is {wanted} after {said}",
                          lambda w=wanted: path_mtu() == [w])
        else:
            ktap.true(1380 not in path_mtu(), "with pmtu off there is no path MTU")
        sock.close()
    ctl(cloud.A, "flush", "destinations")
    cloud.A.run("ip", "route", "flush", "cache")


@ktap.test
def an_unreachable_far_end_is_traced():
    cloud.R.ip("route", "add", "unreachable", ADDRESS_B + "/32")
    line = f"ifindex={ifindex(cloud.A, 't0')} type=3 code=1 info=0"
    before = tunnel(cloud.A, "t0")["icmp_unreachable"]
    with Trace("net6/net6_tunnel_error") as trace:
        def told():
            send_from_a()
            return line in trace.lines()
        try:
            ktap.wait_for(15, f"'{line}'", told)
        finally:
            cloud.R.ip("route", "del", "unreachable", ADDRESS_B + "/32")
    ktap.true(tunnel(cloud.A, "t0")["icmp_unreachable"] > before, "it is counted")


ktap.main(setup=setup)
