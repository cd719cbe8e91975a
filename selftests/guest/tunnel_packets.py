#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What tunnels put on the wire, captured: segments of large packets, cut by the sender or
# behind it, are whole, over each kind of tunnel. They fit the path and have right
# checksums outside and inside. Options of configured tunnels. The topology is drawn in
# lib/cloud.py; here R has net6 too, for 6over4 on the link between A and R.
# guest: stock+
# timeout: 200
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
from cloud import (  # pylint: disable=wrong-import-position
    ADDRESS_A, ADDRESS_B, checksum, ctl, tunnel)

NET6_A, NET6_B = "2001:db8:1::a", "2001:db8:1::b"
AUTO_A, AUTO_B = "::" + ADDRESS_A, "::" + ADDRESS_B
OVER4_A, OVER4_R = "fd06::a", "fd06::2"
ADDRESS_R = "192.0.2.2"
SIZE = 100000 if ktap.CHECKING else 400000


def setup():
    cloud.setup()
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


def check_packet(packet, mtu, ends=(ADDRESS_A, ADDRESS_B), df=True):
    """The inner packet of an outer one; both must be right."""
    ktap.true(len(packet) <= mtu, f"{len(packet)} bytes on a wire of {mtu}")
    ktap.equal(packet[0], 0x45, "version and header length")
    ktap.equal(struct.unpack("!H", packet[2:4])[0], len(packet), "outer length")
    ktap.equal((packet[6] << 8 | packet[7]) & 0x7fff, 0x4000 if df else 0, "DF, no fragment")
    ktap.equal(checksum(packet[:20]), 0, "outer checksum")
    ktap.equal(packet[12:20], b"".join(map(socket.inet_aton, ends)), "outer addresses")
    packet = packet[20:]
    length, proto = struct.unpack("!HB", packet[4:7])
    ktap.equal((packet[0] >> 4, length), (6, len(packet) - 40), "inner version and length")
    ktap.equal(checksum(packet[8:40] + struct.pack("!II", length, proto) + packet[40:]), 0,
               f"inner checksum of protocol {proto}")
    return packet


def tunnelled(packets):
    """Those of protocol 41, without the groups of 6over4."""
    return [p for p in packets if p[9] == 41 and p[16] < 224]


def check_transfer(packets, mtu, **how):
    """All packets of a tunnel are right, and there is at least one full one."""
    packets = tunnelled(packets)
    segments = [i for i in (check_packet(p, mtu, **how) for p in packets) if i[6] == 6]
    ktap.equal(max(len(p) for p in packets), mtu, "largest packet")
    ktap.true(sum(len(i) - 40 - (i[52] >> 4) * 4 for i in segments) >= SIZE,
              "every byte was seen")
    return segments


def transfer(address=NET6_B, server=None):
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(server or cloud.B), address, SIZE)


@ktap.test
def segments_are_cut_behind_the_sender():
    before = tunnel(cloud.A, "t0")["tx_packets"]
    with Capture(cloud.B, "b0") as packets:
        transfer()
    segments = check_transfer(packets, 1500)
    ktap.true(tunnel(cloud.A, "t0")["tx_packets"] - before < len(segments),
              "packets of more than one segment went into the tunnel")


@ktap.test
def segments_are_cut_by_the_sender():
    offloads(cloud.A, "a0", "off")
    with Capture(cloud.R, "r1") as packets:
        transfer()
    check_transfer(packets, 1500)


@ktap.test
def the_tunnel_device_itself_can_do_without_offloads():
    cloud.A.run("ethtool", "-K", "t0", "tso", "off", "gso", "off", "tx", "off")
    with Capture(cloud.R, "r1") as packets:
        transfer()
    check_transfer(packets, 1500)
    cloud.A.run("ethtool", "-K", "t0", "tx", "on", "gso", "on", "tso", "on")


@ktap.test
def segments_fit_a_narrower_cloud():
    with cloud.narrower(1400) as narrow:
        narrow()
        transfer()              # learns it
        with Capture(cloud.R, "r1") as packets:
            transfer()
        check_transfer(packets, 1400)
        offloads(cloud.A, "a0", "on")
        with Capture(cloud.B, "b0") as packets:
            transfer()
        check_transfer(packets, 1400)


@ktap.test
def a_path_of_less_than_1300_bytes_is_left_to_ipv4():
    """RFC 4213 3.2.2: IPv6 packets of 1280 bytes, cut into fragments."""
    with cloud.narrower(1200) as narrow:
        narrow()
        transfer()              # learns it
        with Capture(cloud.R, "r1") as packets:
            transfer()
    outer = [p for p in packets if p[9] == 41]
    ktap.equal({p[6] >> 5 for p in outer}, {0, 1}, "last fragments and others; DF in none")
    ktap.true(max(len(p) for p in outer) <= 1200, "the path carries them")


def check_udp(ns, client, address, dev, **how):
    """Datagrams of every size to the MTU, as they come out of the cloud at (ns, dev)."""
    sock, server = cloud.net6(client, 2), cloud.net6(ns, 2)
    server.bind((address, 0))
    sizes = (0, 1, 7, 1231, 1232, 1233, 1431, 1432)
    with Capture(ns, dev) as packets:
        for size in sizes:
            sock.sendto(b"u" * size, server.getsockname()[:2])
            ktap.equal(len(server.recv(2000)), size, "datagram")
    seen = [check_packet(p, 1500, **how) for p in tunnelled(packets)]
    ktap.equal([len(i) - 48 for i in seen if i[6] == 17], list(sizes), "sizes on the wire")
    check_udp_segments(sock, server, ns, dev, **how)
    sock.close()
    server.close()


def check_udp_segments(sock, server, ns, dev, **how):
    """One send() of many datagrams is cut behind the sender, or by the device."""
    sock.setsockopt(socket.IPPROTO_UDP, 103, 1000)                 # UDP_SEGMENT
    with Capture(ns, dev) as packets:
        sock.sendto(bytes(range(250)) * 41, server.getsockname()[:2])
        seen = [server.recv(2000) for _ in range(11)]
    ktap.equal(b"".join(seen), bytes(range(250)) * 41, "datagrams")
    ktap.equal([len(data) for data in seen], [1000] * 10 + [250], "sizes")
    seen = [check_packet(p, 1500, **how) for p in tunnelled(packets)]
    ktap.equal([len(i) - 48 for i in seen if i[6] == 17], [1000] * 10 + [250],
               "sizes on the wire")


@ktap.test
def udp_of_every_size_to_the_mtu():
    check_udp(cloud.B, cloud.A, NET6_B, "b0")


# The kinds that configure themselves

@ktap.test
def automatic_tunnels_and_6over4_are_there():
    for ns in (cloud.A, cloud.B, cloud.R):
        cloud.transition(ns, "auto")
    for ns, address in ((cloud.A, AUTO_A), (cloud.B, AUTO_B), (cloud.A, "fe80::c000:201"),
                        (cloud.R, "fe80::c000:202")):
        cloud.wait_preferred(ns, address)
    for ns, address in ((cloud.A, OVER4_A), (cloud.R, OVER4_R)):
        link = next(t["dev"] for t in cloud.show(ns, "tunnels")
                    if t["kind"] == "6over4" and t["local"].startswith("192.0.2."))
        cloud.add_address(ns, link, address)


@ktap.test
def segments_of_automatic_tunnels():
    for word in ("on", "off"):
        offloads(cloud.A, "a0", word)
        with Capture(cloud.B, "b0") as packets:
            transfer(AUTO_B)
        check_transfer(packets, 1500)
    check_udp(cloud.B, cloud.A, AUTO_B, "b0")


@ktap.test
def segments_of_automatic_tunnels_fit_a_narrower_cloud():
    with cloud.narrower(1400) as narrow:
        narrow()
        transfer(AUTO_B)
        with Capture(cloud.R, "r1") as packets:
            transfer(AUTO_B)
        check_transfer(packets, 1400)


@ktap.test
def segments_of_6over4():
    """RFC 2529 section 3: no Don't Fragment, whatever the path."""
    how = {"ends": (ADDRESS_A, ADDRESS_R), "df": False}
    with Capture(cloud.R, "r1") as packets:
        transfer(OVER4_R, cloud.R)
    check_transfer(packets, 1500, **how)
    check_udp(cloud.R, cloud.A, OVER4_R, "r1", **how)
    offloads(cloud.A, "a0", "on")
    with Capture(cloud.R, "r1") as packets:
        transfer(OVER4_R, cloud.R)
    ktap.true(any(len(p) > 1500 for p in packets),
              "packets of more than one segment go to a device that cuts them")


# Options

@ktap.test
def options_of_a_configured_tunnel_on_the_wire():
    server = cloud.net6(cloud.B, 2)
    server.bind((NET6_B, 0))

    def header(**wanted):
        with Capture(cloud.R, "r1") as packets:
            sock = cloud.net6(cloud.A, 2)
            sock.setsockopt(socket.IPPROTO_IPV6, 67, 0xb8)         # IPV6_TCLASS
            sock.sendto(b"options", server.getsockname()[:2])
            server.recv(100)
            sock.close()
        seen = [{"ttl": p[8], "tos": p[1], "df": p[6] >> 6 & 1} for p in packets
                if p.endswith(b"options")]
        ktap.equal(seen, [wanted], "outer header")
    header(ttl=64, tos=0, df=1)
    ctl(cloud.A, "tunnel", "set", "t0", "ttl", "7", "tos", "32", "pmtu", "off")
    header(ttl=7, tos=0x20, df=0)
    ctl(cloud.A, "tunnel", "set", "t0", "tos", "inherit")
    header(ttl=7, tos=0xb8, df=0)
    ctl(cloud.A, "tunnel", "del", "t0")
    ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B, "local", ADDRESS_A, "ttl", "9",
        "tos", "inherit", "pmtu", "off", "router", "off")
    ktap.equal(cloud.show(cloud.A, "interfaces", "dev", "t0")[0]["mtu"], 1280, "MTU")
    ktap.equal(cloud.show(cloud.A, "routers", "dev", "t0"), [], "no default router")
    cloud.add_address(cloud.A, "t0", NET6_A)
    header(ttl=9, tos=0xb8, df=0)
    server.close()
    for words in (("ttl", "0"), ("ttl", "256"), ("tos", "256"), ("pmtu", "perhaps")):
        try:
            ctl(cloud.A, "tunnel", "set", "t0", *words)
        except ktap.Fail:
            continue
        raise ktap.Fail(f"accepted {words}")


ktap.main(setup=setup)
