#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Configured tunnels (RFC 4213) across an IPv4 router: between two net6 hosts, and
# against the kernel's sit both ways. ECN, path MTU, unreachability, a router that goes
# down and change of an address while TCP runs. What is refused is in tunnel_packets.py,
# the topology is drawn in lib/cloud.py.
# guest: stock+
# timeout: 300
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
import nd  # pylint: disable=wrong-import-position
from cloud import (  # pylint: disable=wrong-import-position
    ADDRESS_A, ADDRESS_B, ctl, inner, outer, send_raw, tunnel)

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


def raw(packet, tos=0):
    """From A to B, past A's tunnel."""
    send_raw(cloud.A, ADDRESS_B, outer(packet, ADDRESS_A, ADDRESS_B, tos))


@ktap.test
def a_tunnel_says_what_it_is():
    t = next(t for t in cloud.show(cloud.A, "tunnels") if t["dev"] == "t0")
    ktap.equal((t["kind"], t["remote"], t["local"], t["ttl"], t["pmtu"], t["router"]),
               ("configured", ADDRESS_B, ADDRESS_A, 64, True, True), "tunnel of A")
    ktap.true("local" not in tunnel(cloud.B, "t0"), "B's tunnel has no fixed local address")
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
def tcp_and_udp_over_a_bad_cloud():
    with cloud.netem((cloud.R, "r1"), (cloud.A, "t0")):
        cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), NET6_B, 300000)
        cloud.udp(cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2), NET6_B)


@ktap.test
def an_inner_packet_that_is_cut_is_dropped():
    before = cloud.drops(cloud.B, "HEADER_LENGTH")
    raw(inner(NET6_A, NET6_B, length=2000))
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
        value = nd.checksum(NET6_A, NET6_B, 17, body) or 0xffff
        body = body[:6] + struct.pack("!H", value) + b"e"
        raw(inner(NET6_A, NET6_B, body, 17, tclass), tos)
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
    with cloud.narrower(700) as narrow:
        narrow()
        cloud.udp(cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2), NET6_B, (1200,))
    ctl(cloud.A, "tunnel", "set", "t0", "pmtu", "on")


@ktap.test
def the_path_mtu_falls_while_tcp_runs():
    before = tunnel(cloud.A, "t0")["icmp_too_big"]
    with cloud.connection(cloud.A, cloud.B, NET6_B) as (near, far), \
            cloud.narrower(1400) as narrow:
        cloud.send_while(near, far, 400000, narrow)
        ktap.true(tunnel(cloud.A, "t0")["icmp_too_big"] > before, "ICMPv4 errors were taken in")
        entry = [d for d in cloud.show(cloud.A, "destinations") if d["address"] == NET6_B]
        ktap.equal([d.get("pmtu") for d in entry], [1380], "path MTU of B")


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
    with cloud.connection(cloud.A, cloud.B, NET6_B) as (near, far):
        cloud.say(near, far, b"before")
        cloud.cut(near, far, cloud.R, "r1")


def renumber(old, new):
    """B's IPv4 address. With the first one of a prefix go the others, unless the kernel
    is told to promote them.
    """
    cloud.sysctl(cloud.B, "net.ipv4.conf.all.promote_secondaries", "1")
    cloud.B.ip("addr", "add", new + "/24", "dev", "b0")
    cloud.B.ip("addr", "del", old + "/24", "dev", "b0")
    cloud.B.ip("route", "replace", "default", "via", "198.51.100.2")


@ktap.test
def an_ipv4_address_changes_under_tcp():
    new = "198.51.100.7"
    with cloud.connection(cloud.B, cloud.A, NET6_A) as (near, far):
        cloud.say(near, far, b"with the old address")
        renumber(ADDRESS_B, new)
        near.sendall(b"between")
        ctl(cloud.A, "tunnel", "set", "t0", "remote", new)
        ktap.equal(far.recv(100), b"between", "with the new address")
        cloud.say(far, near, b"the other way")
        router = cloud.show(cloud.A, "routers", "dev", "t0")
        ktap.equal([r["address"] for r in router], ["fe80::c633:6407"],
                   "router after the change")
        renumber(new, ADDRESS_B)
        ctl(cloud.A, "tunnel", "set", "t0", "remote", ADDRESS_B)
        cloud.say(near, far, b"and back")


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
    cloud.B.up("sit9")
    cloud.B.ip("addr", "add", NET6_B + "/64", "dev", "sit9", "nodad")
    cloud.tcp(cloud.net6(cloud.A), cloud.native(cloud.B), NET6_B, BULK // 2)
    cloud.tcp(cloud.native(cloud.B), cloud.net6(cloud.A), NET6_A, BULK // 2)
    cloud.udp(cloud.net6(cloud.A, 2), cloud.native(cloud.B, 2), NET6_B)
    cloud.B.run("ping", "-6", "-c", "2", "-W", "5", NET6_A)


ktap.main(setup=setup)
