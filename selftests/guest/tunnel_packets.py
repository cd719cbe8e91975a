#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What tunnels put on the wire, captured: segments of large packets, cut by the sender
# or behind it, are whole, fit the path and have right checksums outside and inside. What
# tunnels do not take: each reason has its counter, the tunnel's own, and its tracepoint.
# The topology is drawn in lib/cloud.py.
# guest: stock
# timeout: 200
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
from cloud import ADDRESS_A, ADDRESS_B, ctl, tunnel  # pylint: disable=wrong-import-position

NET6_A, NET6_B = "2001:db8:1::a", "2001:db8:1::b"
TRACING = "/sys/kernel/tracing"
SIZE = 100000 if ktap.CHECKING else 400000


def setup():
    cloud.setup()
    if not os.path.isdir(TRACING + "/events"):
        ktap.run("mount", "-t", "tracefs", "none", TRACING)
    ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B, "local", ADDRESS_A)
    ctl(cloud.B, "tunnel", "add", "t0", "remote", ADDRESS_A, "local", ADDRESS_B)
    cloud.add_address(cloud.A, "t0", NET6_A)
    cloud.add_address(cloud.B, "t0", NET6_B)
    # The wire into B shows what a cable would: no packet larger than its MTU.
    offloads(cloud.R, "r2", "off")
    offloads(cloud.B, "b0", "off")


def offloads(ns, dev, word):
    ns.run("ethtool", "-K", dev, "tso", word, "gso", word, "gro", word, "tx", word)


class Capture:
    """IPv4 packets that a device receives, while the with block runs."""

    def __init__(self, ns, dev):
        with ns:
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.sock.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)      # SO_RCVBUFFORCE
        self.sock.bind((dev, 0x0800))
        self.packets = []

    def __enter__(self):
        self.packets = []
        return self.packets

    def __exit__(self, *_):
        self.sock.setblocking(False)
        try:
            while True:
                packet, where = self.sock.recvfrom(70000)
                if where[2] != 4:                                  # PACKET_OUTGOING
                    self.packets.append(packet)
        except BlockingIOError:
            pass
        self.sock.close()


def checksum(data):
    """RFC 1071, over @data; 0 when it includes a right one."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def check_packet(packet, mtu):
    """The inner packet of an outer one; both must be right."""
    ktap.true(len(packet) <= mtu, f"{len(packet)} bytes on a wire of {mtu}")
    ktap.equal(packet[0], 0x45, "version and header length")
    ktap.equal(struct.unpack("!H", packet[2:4])[0], len(packet), "outer length")
    ktap.equal((packet[6] << 8 | packet[7]) & 0x5fff, 0x4000, "DF, no fragment")
    ktap.equal(checksum(packet[:20]), 0, "outer checksum")
    ktap.equal(packet[12:20], socket.inet_aton(ADDRESS_A) + socket.inet_aton(ADDRESS_B),
               "outer addresses")
    inner = packet[20:]
    length, proto = struct.unpack("!HB", inner[4:7])
    ktap.equal((inner[0] >> 4, length), (6, len(inner) - 40), "inner version and length")
    ktap.equal(checksum(inner[8:40] + struct.pack("!II", length, proto) + inner[40:]), 0,
               f"inner checksum of protocol {proto}")
    return inner


def check_transfer(packets, mtu, least):
    """All packets of protocol 41 are right, and there is at least one full one."""
    outer = [p for p in packets if p[9] == 41]
    inner = [check_packet(p, mtu) for p in outer]
    segments = [i for i in inner if i[6] == 6]
    ktap.equal(max(len(p) for p in outer), mtu, "largest packet")
    ktap.true(sum(len(i) - 40 - (i[52] >> 4) * 4 for i in segments) >= least,
              "every byte was seen")
    return segments


def transfer():
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), NET6_B, SIZE)


@ktap.test
def segments_are_cut_behind_the_sender():
    before = tunnel(cloud.A, "t0")["tx_packets"]
    with Capture(cloud.B, "b0") as packets:
        transfer()
    segments = check_transfer(packets, 1500, SIZE)
    ktap.true(tunnel(cloud.A, "t0")["tx_packets"] - before < len(segments),
              "packets of more than one segment went into the tunnel")


@ktap.test
def segments_are_cut_by_the_sender():
    offloads(cloud.A, "a0", "off")
    with Capture(cloud.R, "r1") as packets:
        transfer()
    check_transfer(packets, 1500, SIZE)


@ktap.test
def the_tunnel_device_itself_can_do_without_offloads():
    cloud.A.run("ethtool", "-K", "t0", "tso", "off", "gso", "off", "tx", "off")
    with Capture(cloud.R, "r1") as packets:
        transfer()
    check_transfer(packets, 1500, SIZE)
    cloud.A.run("ethtool", "-K", "t0", "tx", "on", "gso", "on", "tso", "on")


def narrow(mtu):
    """What R and B can send each other."""
    cloud.R.ip("link", "set", "r2", "mtu", mtu)
    cloud.B.ip("link", "set", "b0", "mtu", mtu)


@ktap.test
def segments_fit_a_narrower_cloud():
    narrow("1400")
    try:
        transfer()              # learns it
        with Capture(cloud.R, "r1") as packets:
            transfer()
        check_transfer(packets, 1400, SIZE)
        offloads(cloud.A, "a0", "on")
        with Capture(cloud.B, "b0") as packets:
            transfer()
        check_transfer(packets, 1400, SIZE)
    finally:
        narrow("1500")
        for ns in (cloud.A, cloud.B):
            ns.run("ip", "route", "flush", "cache")
            ctl(ns, "flush", "destinations")


@ktap.test
def udp_of_every_size_to_the_mtu():
    sock, server = cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2)
    server.bind((NET6_B, 0))
    sizes = (0, 1, 7, 1231, 1232, 1233, 1431, 1432)
    with Capture(cloud.B, "b0") as packets:
        for size in sizes:
            sock.sendto(b"u" * size, server.getsockname()[:2])
            ktap.equal(len(server.recv(2000)), size, "datagram")
    ktap.equal([len(check_packet(p, 1500)) - 48 for p in packets if p[9] == 41], list(sizes),
               "sizes on the wire")
    sock.close()
    server.close()


# What is not taken

def inner(source=NET6_A, destination=NET6_B, version=6, tclass=0):
    return struct.pack("!IHBB", version << 28 | tclass << 20, 16, 59, 64) + \
        socket.inet_pton(10, source) + socket.inet_pton(10, destination) + b"x" * 16


def raw(ns, packet, source=ADDRESS_A, tos=0):
    with ns:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + len(packet), 0, 0, 64, 41, 0,
                         socket.inet_aton(source), socket.inet_aton(ADDRESS_B))
    sock.sendto(header + packet, (ADDRESS_B, 0))
    sock.close()


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


def trace(event, word):
    with open(f"{TRACING}/events/net6/{event}/enable", "w", encoding="ascii") as file:
        file.write(word)


def traced():
    with open(TRACING + "/trace", encoding="ascii", errors="replace") as file:
        return [line.split(": ", 1)[1].strip() for line in file if ": net6_tunnel_" in line]


def refused(ns, reason, counter, action, dev="t0"):
    """@action leads to one drop with this reason, seen in three places."""
    def seen():
        return (cloud.drops(ns, reason), tunnel(ns, dev)[counter] if counter else 0)
    with open(TRACING + "/trace", "w", encoding="ascii"):
        pass                    # opened for writing it is emptied
    before = seen()
    trace("net6_tunnel_drop", "1")
    try:
        action()
        wanted = before[0] + 1, before[1] + bool(counter)
        ktap.wait_for(10, f"{reason} and {counter} are counted", lambda: seen() >= wanted)
        ktap.equal(seen(), wanted, f"{reason}, {counter}")
        where = ifindex(ns, dev if counter else "b0")
        line = f"net6_tunnel_drop: ifindex={where} reason={reason}"
        ktap.true(line in traced(), f"'{line}' in {traced()}")
    finally:
        trace("net6_tunnel_drop", "0")


@ktap.test
def each_reason_not_to_receive():
    short, source, dest = "rx_short", "rx_inner_source", "rx_inner_dest"
    for reason, counter, packet, outer, tos in (
            ("TUNNEL_SHORT", short, inner(version=4), ADDRESS_A, 0),
            ("TUNNEL_SOURCE", None, inner(), "192.0.2.99", 0),
            ("TUNNEL_INNER_SOURCE", source, inner("::224.1.2.3"), ADDRESS_A, 0),
            ("TUNNEL_INNER_SOURCE", source, inner("::255.255.255.255"), ADDRESS_A, 0),
            ("TUNNEL_INNER_SOURCE", source, inner("::127.0.0.1"), ADDRESS_A, 0),
            ("TUNNEL_INNER_SOURCE", source, inner("::0.1.2.3"), ADDRESS_A, 0),
            ("TUNNEL_INNER_SOURCE", source, inner("::ffff:192.0.2.1"), ADDRESS_A, 0),
            ("TUNNEL_INNER_SOURCE", source, inner("ff02::1"), ADDRESS_A, 0),
            ("TUNNEL_INNER_DEST", dest, inner(NET6_A, "::1"), ADDRESS_A, 0),
            ("TUNNEL_INNER_DEST", dest, inner(NET6_A, "::ffff:1.2.3.4"), ADDRESS_A, 0),
            ("TUNNEL_ECN", "rx_ecn", inner(), ADDRESS_A, 3)):
        refused(cloud.B, reason, counter, lambda p=packet, o=outer, t=tos: raw(cloud.R, p, o, t))


@ktap.test
def an_outer_source_that_is_no_host():
    """IPv4 itself refuses most of them as martians; 240/4 it lets in."""
    cloud.B.run("sysctl", "-qw", "net.net6.transition=auto")
    ktap.wait_for(30, "the v4-compatible address",
                  lambda: cloud.preferred(cloud.B, "::" + ADDRESS_B))
    dev = {t["kind"]: t["dev"] for t in cloud.show(cloud.B, "tunnels")}
    refused(cloud.B, "TUNNEL_OUTER", "rx_outer",
            lambda: raw(cloud.R, inner(), "240.0.0.1"), dev["6over4"])
    refused(cloud.B, "TUNNEL_OUTER", "rx_outer",
            lambda: raw(cloud.R, inner("::240.0.0.1", "::" + ADDRESS_B), "240.0.0.1"),
            dev["automatic"])
    cloud.B.run("sysctl", "-qw", "net.net6.transition=off")
    ktap.wait_for(20, "only t0 is left", lambda: len(cloud.show(cloud.B, "tunnels")) == 1)


def not_taken(what, action):
    """After @action, B's tunnel has seen nothing but a packet sent behind it."""
    def seen():
        return {k: v for k, v in tunnel(cloud.B, "t0").items() if k.startswith("rx_")}
    before = seen()
    action()
    raw(cloud.R, inner(version=4))
    before["rx_short"] += 1
    ktap.wait_for(10, "what came after it is seen",
                  lambda: seen()["rx_short"] == before["rx_short"])
    ktap.equal(seen(), before, f"counters after {what}")


@ktap.test
def ipv4_itself_refuses_what_is_cut_or_comes_from_nobody():
    for source in (ADDRESS_B, "127.0.0.1", "224.0.0.1", "255.255.255.255"):
        not_taken(f"a packet from {source}", lambda a=source: raw(cloud.R, inner(), a))
    for length in (0, 1, 8, 39):
        not_taken(f"{length} bytes", lambda n=length: raw(cloud.R, inner()[:n]))


def fragments():
    with cloud.R:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    for offset in (0x2000, 0x2004, 6):        # bytes 16 to 31 are missing
        header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 36, 77, offset, 64, 41, 0,
                             socket.inet_aton(ADDRESS_A), socket.inet_aton(ADDRESS_B))
        sock.sendto(header + inner()[:16], (ADDRESS_B, 0))
    sock.close()


@ktap.test
def fragments_without_the_others_go_nowhere():
    not_taken("fragments", fragments)


@ktap.test
def each_reason_not_to_send():
    cloud.A.ip("route", "add", "unreachable", ADDRESS_B + "/32")
    refused(cloud.A, "TUNNEL_NO_ROUTE", "tx_no_route", send_from_a)
    cloud.A.ip("route", "del", "unreachable", ADDRESS_B + "/32")
    cloud.A.ip("route", "add", ADDRESS_B + "/32", "dev", "t0")
    refused(cloud.A, "TUNNEL_LOOP", "tx_loop", send_from_a)
    cloud.A.ip("route", "del", ADDRESS_B + "/32", "dev", "t0")
    with cloud.A:
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind(("t0", 0x86dd))
    far = socket.inet_aton(ADDRESS_B)
    for what in (inner(version=4), b"\x60" * 20):
        refused(cloud.A, "TUNNEL_DEST", "tx_dest", lambda w=what: sock.send(far + w))
    sock.close()


@ktap.test
def a_packet_is_wrapped_three_times_at_most():
    """The path to B's end leads into a native tunnel whose packets go through t0."""
    ktap.kmod("ip6_tunnel")
    a = cloud.A
    try:
        a.ip("link", "add", "n0", "type", "ip6tnl", "mode", "ipip6", "encaplimit", "none",
             "local", "2001:db8:77::2", "remote", "2001:db8:77::1")
    except ktap.Fail as error:
        raise ktap.Skip("this kernel has no ip6tnl") from error
    a.ip("addr", "add", "2001:db8:77::2/128", "dev", "lo", "nodad")
    a.run("sysctl", "-qw", "net.ipv6.conf.t0.disable_ipv6=0")
    a.ip("-6", "route", "add", "2001:db8:77::1/128", "dev", "t0")
    a.ip("link", "set", "n0", "up")
    a.ip("route", "add", ADDRESS_B + "/32", "dev", "n0")
    before = tunnel(a, "t0")["tx_packets"]
    refused(a, "TUNNEL_NESTED", "tx_nested", send_from_a)
    a.ip("link", "del", "n0")
    ktap.true(tunnel(a, "t0")["tx_packets"] - before <= 3, "times it went into t0")
    a.run("sysctl", "-qw", "net.ipv6.conf.t0.disable_ipv6=1")
    transfer()


@ktap.test
def an_error_is_traced():
    with open(TRACING + "/trace", "w", encoding="ascii"):
        pass
    trace("net6_tunnel_error", "1")
    cloud.R.ip("route", "add", "unreachable", ADDRESS_B + "/32")
    line = f"net6_tunnel_error: ifindex={ifindex(cloud.A, 't0')} type=3 code=1 info=0"

    def told():
        send_from_a()
        return line in traced()
    try:
        ktap.wait_for(15, f"'{line}'", told)
    finally:
        trace("net6_tunnel_error", "0")
        cloud.R.ip("route", "del", "unreachable", ADDRESS_B + "/32")


ktap.main(setup=setup)
