#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A router whose way to the rest of the world is a configured tunnel. TCP through it. The
# path MTU of the IPv4 cloud and its errors as the host behind the router learns them.
# What comes out of the tunnel and would go back into it. See lib/cloud.py; here A is a
# router for
#
#	C [c0 net6] ------ [a1 net6] A
# guest: stock
# timeout: 120
import errno
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
import nd  # pylint: disable=wrong-import-position
from cloud import ADDRESS_A, ADDRESS_B, ctl, show, tunnel  # pylint: disable=wrong-import-position

NET6_A, NET6_B, FAR_B = "2001:db8:1::a", "2001:db8:1::b", "2001:db8:ffff::b"
ROUTER, HOST = "2001:db8:c::1", "2001:db8:c::c"
C = ktap.later("C")
NAMED = 300		# destinations


def setup():
    cloud.setup()
    ktap.veth(cloud.A, "a1", C, "c0")
    ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B, "local", ADDRESS_A)
    ctl(cloud.B, "tunnel", "add", "t0", "remote", ADDRESS_A)
    for ns, dev, address in ((cloud.A, "t0", NET6_A), (cloud.B, "t0", NET6_B),
                             (cloud.A, "a1", ROUTER), (C, "c0", HOST)):
        cloud.add_address(ns, dev, address)
    cloud.add_address(cloud.B, "t0", FAR_B, 128)
    for dev in ("a1", "t0"):
        ctl(cloud.A, "set", "dev", dev, "forwarding", "on")
    ctl(C, "add", "route", "default", "via", nd.linklocal(cloud.A, "a1"), "dev", "c0")


def path_mtu():
    """What C has learned; errors are limited in rate, so it may take a while."""
    return [d.get("pmtu") for d in show(C, "destinations") if nd.same(d["address"], FAR_B)]


def fits(mtu):
    with cloud.net6(C, socket.SOCK_DGRAM) as sock:
        sock.connect((FAR_B, 9))

        def learned():
            try:
                sock.send(b"l" * 1440)
            except OSError:
                pass
            return path_mtu() == [mtu]
        ktap.wait_for(15, f"C knows that {mtu} bytes fit", learned)


@ktap.test
def tcp_and_udp_from_behind_the_router():
    cloud.tcp(cloud.net6(C), cloud.net6(cloud.B), FAR_B)
    fits(1480)
    cloud.tcp(cloud.net6(cloud.B), cloud.net6(C), HOST)
    cloud.udp(cloud.net6(C, 2), cloud.net6(cloud.B, 2), FAR_B)


@ktap.test
def destinations_are_no_neighbors_of_their_own():
    """What strangers name on the tunnel's prefix costs neighbors no memory: all is the far end's."""
    def neighbors():
        return {n["address"] for n in show(cloud.A, "neighbors", "dev", "t0")}
    before, received = neighbors(), tunnel(cloud.B, "t0")["rx_packets"]
    for ns in (C, cloud.A):
        with cloud.net6(ns, socket.SOCK_DGRAM) as sock:
            for i in range(1, NAMED + 1):    # 0: A's own address
                sock.sendto(b"x", (f"2001:db8:1::{i:x}:{ns.name[-1].lower()}", 9))
    ktap.wait_for(10, "all have come to the far end",
                  lambda: tunnel(cloud.B, "t0")["rx_packets"] >= received + 2 * NAMED)
    ktap.equal(neighbors() - before, {"::"} - before, "neighbors")


@ktap.test
def the_cloud_becomes_narrower_under_tcp():
    with cloud.connection(C, cloud.B, FAR_B) as (near, far), cloud.narrower(1400) as narrow:
        cloud.send_while(near, far, 200000, narrow)
        fits(1380)
    ctl(C, "flush", "destinations")


@ktap.test
def the_cloud_cannot_deliver_and_the_host_learns_it():
    cloud.R.ip("route", "add", "unreachable", ADDRESS_B + "/32")
    try:
        with cloud.net6(C, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.IPPROTO_IPV6, 25, 1)       # IPV6_RECVERR
            sock.connect((FAR_B, 9))

            def told():
                try:
                    sock.send(b"is anybody there?")
                except OSError as error:
                    return error.errno == errno.EHOSTUNREACH
                return False
            ktap.wait_for(15, "a send says EHOSTUNREACH", told)
    finally:
        cloud.R.ip("route", "del", "unreachable", ADDRESS_B + "/32")


@ktap.test
def nothing_goes_back_into_the_tunnel_that_it_came_out_of():
    """RFC 4443 3.1, for nobody's address of the tunnel's own prefix: both ends say that it
    is the other's.
    """
    ctl(cloud.B, "set", "dev", "t0", "forwarding", "on")
    before = tunnel(cloud.A, "t0")["rx_packets"]
    dropped = cloud.drops(cloud.B, "FORWARD_BACK")
    with cloud.net6(C, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, 25, 1)           # IPV6_RECVERR
        sock.connect(("2001:db8:1::77", 9))
        sock.send(b"to nobody")

        def told():
            try:
                sock.recv(1, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except OSError as error:
                return error.errno == errno.EHOSTUNREACH
            return False
        ktap.wait_for(10, "Destination Unreachable, code 3", told)
    ktap.equal(cloud.drops(cloud.B, "FORWARD_BACK"), dropped + 1, "reason")
    ktap.true(tunnel(cloud.A, "t0")["rx_packets"] - before < 5, "it did not go to and fro")
    ctl(cloud.B, "set", "dev", "t0", "forwarding", "off")


ktap.main(setup=setup)
