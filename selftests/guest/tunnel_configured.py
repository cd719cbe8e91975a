#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Configured tunnels (RFC 4213) across an IPv4 router: between two net6 hosts, and
# against the kernel's sit both ways; path MTU, unreachability, ingress checks, ECN,
# change of an address while TCP runs. The topology is drawn in lib/cloud.py.
# guest: both
# timeout: 300
import os
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
from cloud import ADDRESS_A, ADDRESS_B, ctl, tunnel  # pylint: disable=wrong-import-position

NET6_A, NET6_B = "2001:db8:1::a", "2001:db8:1::b"
FAR_B = "2001:db8:ffff::b"
BULK = 300000 if ktap.CHECKING else 2000000     # bytes


def setup():
    cloud.setup()
    ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B, "local", ADDRESS_A)
    ctl(cloud.B, "tunnel", "add", "t0", "remote", ADDRESS_A)
    cloud.add_address(cloud.A, "t0", NET6_A)
    cloud.add_address(cloud.B, "t0", NET6_B)
    cloud.add_address(cloud.B, "t0", FAR_B, 128)


def raw(ns, inner, source, destination, tos=0):
    """An IPv4 packet of protocol 41 with a source of our choice."""
    with ns:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + len(inner), 0, 0, 64, 41, 0,
                         socket.inet_aton(source), socket.inet_aton(destination))
    sock.sendto(header + inner, (destination, 0))
    sock.close()


def inner(source, destination, tclass=0, payload=b"x" * 16, proto=59, length=None):
    return struct.pack("!IHBB", 6 << 28 | tclass << 20,
                       len(payload) if length is None else length, proto, 64) + \
        socket.inet_pton(socket.AF_INET6, source) + \
        socket.inet_pton(socket.AF_INET6, destination) + payload


@ktap.test
def a_tunnel_says_what_it_is():
    t = tunnel(cloud.A, "t0")
    ktap.equal((t["kind"], t["remote"], t["local"], t["ttl"], t["pmtu"], t["router"]),
               ("configured", ADDRESS_B, ADDRESS_A, 64, True, True), "tunnel of A")
    ktap.true("local" not in tunnel(cloud.B, "t0") or not tunnel(cloud.B, "t0")["local"],
              "B's tunnel has no fixed local address")
    ktap.equal(cloud.show(cloud.A, "interfaces", "dev", "t0")[0]["mtu"], 1480, "MTU")


@ktap.test
def the_far_end_is_a_default_router_whose_neighbor_is_permanent():
    router = cloud.show(cloud.A, "routers", "dev", "t0")
    ktap.equal([(r["address"], r["neigh_state"], r["preference"]) for r in router],
               [("fe80::c633:6401", "permanent", -1)], "routers")
    neighbor = [n for n in cloud.show(cloud.A, "neighbors", "dev", "t0")
                if n["address"] == "fe80::c633:6401"]
    ktap.equal([(n["state"], n["lladdr"]) for n in neighbor],
               [("permanent", "c6:33:64:01")], "neighbor")


@ktap.test
def native_ipv6_stays_off_the_device():
    text = cloud.A.run("ip", "-6", "addr", "show", "dev", "t0")
    ktap.equal(text.strip(), "", "native addresses on t0")


@ktap.test
def tcp_between_two_hosts():
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), NET6_B, BULK)


@ktap.test
def tcp_to_what_is_behind_the_far_end():
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), FAR_B)


@ktap.test
def udp_between_two_hosts():
    cloud.udp(cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2), NET6_B)


@ktap.test
def counters_count():
    t = tunnel(cloud.A, "t0")
    ktap.true(t["rx_packets"] > 10 and t["tx_packets"] > 10, f"packets of t0: {t}")
    ktap.equal([t[k] for k in t if k.startswith(("rx_inner", "rx_outer", "tx_no"))],
               [0] * 4, "nothing was wrong")


@ktap.test
def tcp_and_udp_with_loss_and_reordering():
    ktap.kmod("sch_netem")
    cloud.R.run("tc", "qdisc", "add", "dev", "r1", "root", "netem", "delay", "2ms", "1ms",
                "loss", "2%", "duplicate", "1%", "reorder", "5%")
    cloud.A.run("tc", "qdisc", "add", "dev", "t0", "root", "netem", "loss", "1%")
    try:
        cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), NET6_B, 300000)
        cloud.udp(cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2), NET6_B)
    finally:
        cloud.R.run("tc", "qdisc", "del", "dev", "r1", "root")
        cloud.A.run("tc", "qdisc", "del", "dev", "t0", "root")


@ktap.test
def a_spoofed_outer_source_is_dropped():
    before = cloud.drops(cloud.B, "TUNNEL_SOURCE")
    raw(cloud.R, inner(NET6_A, NET6_B), "192.0.2.99", ADDRESS_B)
    ktap.wait_for(5, "the drop is counted",
                  lambda: cloud.drops(cloud.B, "TUNNEL_SOURCE") == before + 1)


@ktap.test
def martian_inner_addresses_are_dropped():
    for source in ("::127.0.0.1", "::224.0.0.1", "::255.255.255.255", "::ffff:192.0.2.1",
                   "::1", "::", "ff02::1"):
        before = tunnel(cloud.B, "t0")["rx_inner_source"]
        raw(cloud.A, inner(source, NET6_B), ADDRESS_A, ADDRESS_B)
        ktap.wait_for(5, f"{source} is refused",
                      lambda: tunnel(cloud.B, "t0")["rx_inner_source"] == before + 1)
    for destination in ("::1", "::ffff:198.51.100.1"):
        before = tunnel(cloud.B, "t0")["rx_inner_dest"]
        raw(cloud.A, inner(NET6_A, destination), ADDRESS_A, ADDRESS_B)
        ktap.wait_for(5, f"{destination} is refused",
                      lambda: tunnel(cloud.B, "t0")["rx_inner_dest"] == before + 1)


@ktap.test
def what_is_cut_or_no_ipv6_is_dropped():
    before = tunnel(cloud.B, "t0")["rx_short"]
    raw(cloud.A, b"\x45" + inner(NET6_A, NET6_B)[1:], ADDRESS_A, ADDRESS_B)
    ktap.wait_for(5, "a wrong version is refused",
                  lambda: tunnel(cloud.B, "t0")["rx_short"] == before + 1)
    before = cloud.drops(cloud.B, "HEADER_LENGTH")
    raw(cloud.A, inner(NET6_A, NET6_B, length=2000), ADDRESS_A, ADDRESS_B)
    ktap.wait_for(5, "a packet cut short is refused",
                  lambda: cloud.drops(cloud.B, "HEADER_LENGTH") == before + 1)


@ktap.test
def ecn_follows_rfc_6040():
    def datagram(tclass, tos):
        """Traffic class that a socket of B sees, None if the packet is dropped."""
        sock = cloud.net6(cloud.B, 2)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
        sock.bind((NET6_B, 0))
        sock.settimeout(3 * ktap.SCALE)
        port = sock.getsockname()[1]
        body = struct.pack("!HHHH", 9, port, 9, 0) + b"e"
        pseudo = socket.inet_pton(10, NET6_A) + socket.inet_pton(10, NET6_B) + \
            struct.pack("!II", 9, 17) + body + b"\0"
        total = sum(struct.unpack(f"!{len(pseudo) // 2}H", pseudo))
        while total >> 16:
            total = (total & 0xffff) + (total >> 16)
        body = body[:6] + struct.pack("!H", ~total & 0xffff or 0xffff) + b"e"
        raw(cloud.A, inner(NET6_A, NET6_B, tclass, body, 17), ADDRESS_A, ADDRESS_B, tos)
        try:
            ancillary = sock.recvmsg(100, 100)[1]
        except socket.timeout:
            return None
        finally:
            sock.close()
        return struct.unpack("i", ancillary[0][2])[0] & 3
    seen = {(i, o): datagram(i, o) for i in range(4) for o in range(4)}
    wanted = {(0, 0): 0, (0, 1): 0, (0, 2): 0, (0, 3): None,
              (1, 0): 1, (1, 1): 1, (1, 2): 1, (1, 3): 3,
              (2, 0): 2, (2, 1): 1, (2, 2): 2, (2, 3): 3,
              (3, 0): 3, (3, 1): 3, (3, 2): 3, (3, 3): 3}
    ktap.equal(seen, wanted, "ECN field by (inner, outer)")
    ktap.equal(tunnel(cloud.B, "t0")["rx_ecn"], 1, "dropped for ECN")


@ktap.test
def fragments_of_outer_packets_are_put_together():
    ctl(cloud.A, "tunnel", "set", "t0", "pmtu", "off")
    cloud.R.ip("link", "set", "r2", "mtu", "700")
    cloud.B.ip("link", "set", "b0", "mtu", "700")
    try:
        cloud.udp(cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2), NET6_B, (1200,))
    finally:
        cloud.R.ip("link", "set", "r2", "mtu", "1500")
        cloud.B.ip("link", "set", "b0", "mtu", "1500")
        ctl(cloud.A, "tunnel", "set", "t0", "pmtu", "on")


@ktap.test
def the_path_mtu_falls_while_tcp_runs():
    server, client = cloud.net6(cloud.B), cloud.net6(cloud.A)
    server.bind((NET6_B, 0))
    server.listen(1)
    client.connect(server.getsockname()[:2])
    peer = server.accept()[0]
    peer.settimeout(60 * ktap.SCALE)
    before = tunnel(cloud.A, "t0")["icmp_too_big"]
    data = cloud.pattern(400000)
    got = bytearray()

    def receive():
        while len(got) < len(data):
            piece = peer.recv(65536)
            if not piece:
                return
            got.extend(piece)
    thread = threading.Thread(target=receive)
    thread.start()
    client.sendall(data[:100000])
    cloud.R.ip("link", "set", "r2", "mtu", "1400")
    try:
        client.sendall(data[100000:])
        thread.join()
        ktap.equal(bytes(got), data, "what arrived")
        ktap.true(tunnel(cloud.A, "t0")["icmp_too_big"] > before, "ICMPv4 errors were taken in")
        entry = [d for d in cloud.show(cloud.A, "destinations") if d["address"] == NET6_B]
        ktap.equal([d.get("pmtu") for d in entry], [1380], "path MTU of B")
    finally:
        cloud.R.ip("link", "set", "r2", "mtu", "1500")
        for sock in (client, server, peer):
            sock.close()
        cloud.A.run("ip", "route", "flush", "cache")
        ctl(cloud.A, "flush", "destinations")


@ktap.test
def the_cloud_cannot_deliver_and_the_sender_learns_it():
    sock = cloud.net6(cloud.A, 2)
    sock.setsockopt(socket.IPPROTO_IPV6, 25, 1)       # IPV6_RECVERR
    sock.connect((NET6_B, 9))
    cloud.R.ip("route", "add", "unreachable", ADDRESS_B + "/32")
    before = tunnel(cloud.A, "t0")["icmp_unreachable"]
    try:
        def told():
            try:
                sock.send(b"hello" * 20)
                time.sleep(0.05)
                sock.send(b"hello" * 20)
            except OSError as error:
                return error.errno == 113             # EHOSTUNREACH
            return False
        ktap.wait_for(15, "a send says EHOSTUNREACH", told)
        ktap.true(tunnel(cloud.A, "t0")["icmp_unreachable"] > before, "it is counted")
    finally:
        cloud.R.ip("route", "del", "unreachable", ADDRESS_B + "/32")
        sock.close()


@ktap.test
def the_router_goes_down_and_comes_back_under_tcp():
    server, client = cloud.net6(cloud.B), cloud.net6(cloud.A)
    server.bind((NET6_B, 0))
    server.listen(1)
    client.connect(server.getsockname()[:2])
    peer = server.accept()[0]
    client.sendall(b"before")
    ktap.equal(peer.recv(100), b"before", "before")
    cloud.R.ip("link", "set", "r1", "down")
    client.sendall(b"during")
    time.sleep(0.5)
    cloud.R.ip("link", "set", "r1", "up")
    peer.settimeout(60 * ktap.SCALE)
    ktap.equal(peer.recv(100), b"during", "after the router is back")
    for sock in (client, server, peer):
        sock.close()


@ktap.test
def an_ipv4_address_changes_under_tcp():
    server, client = cloud.net6(cloud.A), cloud.net6(cloud.B)
    server.bind((NET6_A, 0))
    server.listen(1)
    client.connect(server.getsockname()[:2])
    peer = server.accept()[0]
    peer.settimeout(60 * ktap.SCALE)
    client.sendall(b"one")
    ktap.equal(peer.recv(100), b"one", "with the old address")
    cloud.B.ip("addr", "add", "198.51.100.7/24", "dev", "b0")
    cloud.B.ip("addr", "del", ADDRESS_B + "/24", "dev", "b0")
    cloud.B.run("sh", "-c", "ip addr show dev b0 | grep -q 198.51.100.7 || "
                "ip addr add 198.51.100.7/24 dev b0")
    cloud.B.run("ip", "route", "replace", "default", "via", "198.51.100.2")
    client.sendall(b"two")
    ctl(cloud.A, "tunnel", "set", "t0", "remote", "198.51.100.7")
    ktap.equal(peer.recv(100), b"two", "with the new address")
    peer.sendall(b"three")
    client.settimeout(60 * ktap.SCALE)
    ktap.equal(client.recv(100), b"three", "the other way")
    router = cloud.show(cloud.A, "routers", "dev", "t0")
    ktap.equal([r["address"] for r in router], ["fe80::c633:6407"], "router after the change")
    cloud.B.ip("addr", "add", ADDRESS_B + "/24", "dev", "b0")
    cloud.B.ip("addr", "del", "198.51.100.7/24", "dev", "b0")
    cloud.B.run("sh", "-c", f"ip addr show dev b0 | grep -q {ADDRESS_B} || "
                f"ip addr add {ADDRESS_B}/24 dev b0")
    cloud.B.run("ip", "route", "replace", "default", "via", "198.51.100.2")
    ctl(cloud.A, "tunnel", "set", "t0", "remote", ADDRESS_B)
    for sock in (client, server, peer):
        sock.close()


@ktap.test
def a_route_into_the_tunnel_itself_is_a_loop():
    cloud.A.ip("route", "add", ADDRESS_B + "/32", "dev", "t0")
    sock = cloud.net6(cloud.A, 2)
    before = tunnel(cloud.A, "t0")["tx_loop"]
    try:
        sock.sendto(b"round and round", (NET6_B, 9))
        ktap.true(tunnel(cloud.A, "t0")["tx_loop"] > before, "the loop is found")
    finally:
        cloud.A.ip("route", "del", ADDRESS_B + "/32", "dev", "t0")
        sock.close()


@ktap.test
def requests_that_make_no_sense_are_refused():
    for words in (("remote", "0.0.0.0"), ("remote", "224.0.0.1"), ("remote", "127.0.0.1"),
                  ("remote", ADDRESS_B, "local", ADDRESS_B), ("remote", ADDRESS_B, "local",
                                                              ADDRESS_A)):
        try:
            ctl(cloud.A, "tunnel", "add", "t9", *words)
        except ktap.Fail:
            continue
        raise ktap.Fail(f"accepted {words}")


@ktap.test
def against_sit_both_ways():
    ktap.kmod("sit")
    ctl(cloud.B, "tunnel", "del", "t0")
    cloud.B.ip("tunnel", "add", "sit9", "mode", "sit", "remote", ADDRESS_A, "local", ADDRESS_B)
    cloud.B.ip("link", "set", "sit9", "up")
    cloud.B.ip("addr", "add", NET6_B + "/64", "dev", "sit9", "nodad")
    cloud.tcp(cloud.net6(cloud.A), cloud.native(cloud.B), NET6_B, BULK // 2)
    cloud.tcp(cloud.native(cloud.B), cloud.net6(cloud.A), NET6_A, BULK // 2)
    cloud.udp(cloud.net6(cloud.A, 2), cloud.native(cloud.B, 2), NET6_B)
    cloud.B.run("ping", "-6", "-c", "2", "-W", "5", NET6_A)


ktap.main(setup=setup)
