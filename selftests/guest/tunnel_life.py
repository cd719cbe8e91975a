#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The life of a configured tunnel: no Neighbor Discovery but answers to probes, a TTL that
# runs out, an end that changes and a device that goes down under TCP. A device below that
# vanishes, and who may move and delete it. The topology is drawn in lib/cloud.py.
# guest: stock+
# timeout: 200
import errno
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
import nd  # pylint: disable=wrong-import-position
from cloud import (  # pylint: disable=wrong-import-position
    ADDRESS_A, ADDRESS_B, ctl, devices, outer, send_raw, show, tunnel)

NET6_A, NET6_B = "2001:db8:1::a", "2001:db8:1::b"
FAR_B = "2001:db8:ffff::b"
OTHER_A = "192.0.2.77"
ELSEWHERE = "203.0.113.1"


def setup():
    cloud.setup()
    ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B)
    ctl(cloud.B, "tunnel", "add", "t0", "remote", ADDRESS_A, "local", ADDRESS_B)
    cloud.add_address(cloud.A, "t0", NET6_A)
    cloud.add_address(cloud.B, "t0", NET6_B)
    cloud.add_address(cloud.B, "t0", FAR_B, 128)


class Capture:
    """The ICMPv6 messages from A that R forwards, while the with block runs."""

    def __enter__(self):
        with cloud.R:
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.sock.bind(("r1", 0x0800))
        self.sock.settimeout(0.2)
        return self

    def __exit__(self, *_):
        self.sock.close()

    def messages(self):
        """(type, source, body) of each that has not been asked for yet."""
        found = []
        try:
            while True:
                packet, where = self.sock.recvfrom(70000)
                if where[2] != 4 and packet[9] == 41 and packet[26] == 58:
                    found.append((packet[60], packet[28:44], packet[60:]))
        except socket.timeout:
            return found


@ktap.test
def no_neighbor_is_asked_for_but_probes_are_answered():
    with Capture() as capture:
        ctl(cloud.A, "flush", "neighbors")
        ctl(cloud.A, "flush", "destinations")
        for address in (NET6_B, FAR_B):
            cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), address, 5000)
        ktap.equal([kind for kind, _, _ in capture.messages() if kind in (nd.RS, nd.NS)], [],
                   "solicitations of A")
        # RFC 4213 3.8: "MUST at least accept and respond to the probe packets used by NUD"
        probe = nd.ns(NET6_B, NET6_A, dest=NET6_A)
        answers = []

        def answered():
            send_raw(cloud.B, ADDRESS_A, outer(probe, ADDRESS_B, ADDRESS_A))
            answers.extend(m for m in capture.messages() if m[0] == nd.NA)
            return answers
        ktap.wait_for(10, "the probe is answered", answered)
    kind, source, message = answers[0]
    ktap.equal((kind, source, message[8:24]), (nd.NA, nd.packed(NET6_A), nd.packed(NET6_A)),
               "advertisement")
    ktap.true(message[4] & 0x40, "it is solicited")
    ktap.equal(len(message), 24, "no link-layer address option")


@ktap.test
def the_ttl_runs_out_and_the_sender_learns_it():
    ctl(cloud.A, "tunnel", "set", "t0", "ttl", "1")
    before = tunnel(cloud.A, "t0")["icmp_unreachable"]
    with cloud.net6(cloud.A, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, 25, 1)       # IPV6_RECVERR
        sock.connect((NET6_B, 9))

        def told():
            try:
                sock.send(b"too far")
            except OSError as error:
                return error.errno == errno.EHOSTUNREACH
            return False
        ktap.wait_for(15, "a send says EHOSTUNREACH", told)
    ktap.true(tunnel(cloud.A, "t0")["icmp_unreachable"] > before, "it is counted")
    ctl(cloud.A, "tunnel", "set", "t0", "ttl", "64")
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), NET6_B, 5000)


@ktap.test
def our_end_changes_under_tcp():
    cloud.A.ip("addr", "add", OTHER_A + "/24", "dev", "a0")
    ctl(cloud.A, "tunnel", "set", "t0", "local", ADDRESS_A)
    with cloud.connection(cloud.A, cloud.B, NET6_B) as (near, far):
        cloud.say(near, far, b"before")
        for address in (OTHER_A, ADDRESS_A):
            ctl(cloud.A, "tunnel", "set", "t0", "local", address)
            near.sendall(b"between")
            ctl(cloud.B, "tunnel", "set", "t0", "remote", address)
            ktap.equal(far.recv(100), b"between", f"from {address}")
            cloud.say(far, near, b"after")
    cloud.A.ip("addr", "del", OTHER_A + "/24", "dev", "a0")


@ktap.test
def a_route_leads_into_it_without_a_router():
    ctl(cloud.A, "tunnel", "set", "t0", "router", "off")
    ktap.equal(cloud.datagram(cloud.A, FAR_B), errno.ENETUNREACH, "nothing leads there")
    ctl(cloud.A, "add", "route", "2001:db8:ffff::/48", "dev", "t0")
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), FAR_B, 5000)
    ctl(cloud.A, "del", "route", "2001:db8:ffff::/48", "dev", "t0")
    ctl(cloud.A, "tunnel", "set", "t0", "router", "on")
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), FAR_B, 5000)


@ktap.test
def it_goes_down_and_comes_up_under_tcp():
    def routers():
        return [(r["address"], r["neigh_state"]) for r in show(cloud.A, "routers", "dev", "t0")]
    before = routers()
    with cloud.connection(cloud.A, cloud.B, NET6_B) as (near, far):
        cloud.say(near, far, b"before")
        cloud.A.down("t0")
        ktap.equal(cloud.datagram(cloud.A, FAR_B), errno.ENETUNREACH, "nothing leads there")
        dropped = cloud.drops(cloud.A, "IFACE_DOWN")
        far.sendall(b"during")
        ktap.wait_for(10, "nothing is taken in", lambda: cloud.drops(
            cloud.A, "IFACE_DOWN") > dropped)
        cloud.A.up("t0")
        ktap.equal(near.recv(100), b"during", "after it is up again")
        ktap.equal(routers(), before, "default routers")
        cloud.say(near, far, b"after")


@ktap.test
def the_device_below_vanishes():
    """A 6over4 interface vanishes, too; a configured tunnel waits for another way."""
    def way():
        ktap.veth(cloud.A, "x0", cloud.R, "rx")
        cloud.A.ip("addr", "add", "198.18.0.1/24", "dev", "x0")
        cloud.A.ip("route", "add", ELSEWHERE, "via", "198.18.0.2", "dev", "x0")
    cloud.A.ip("route", "add", "unreachable", ELSEWHERE, "metric", "4278198272")
    way()
    ctl(cloud.A, "tunnel", "add", "t1", "remote", ELSEWHERE)
    ctl(cloud.A, "add", "route", "2001:db8:7::/48", "dev", "t1")
    cloud.add_address(cloud.A, "t1", "2001:db8:7::a")
    cloud.transition(cloud.A, "auto")

    def below():
        return sorted(t.get("local") for t in show(cloud.A, "tunnels") if t["kind"] == "6over4")
    ktap.wait_for(20, "both IPv4 addresses have 6over4",
                  lambda: below() == [ADDRESS_A, "198.18.0.1"])
    ktap.equal(cloud.datagram(cloud.A, "2001:db8:7::b"), 0, "a datagram")
    for round_ in range(2):
        sent = tunnel(cloud.A, "t1")["tx_packets"]
        ktap.wait_for(10, "it goes into the tunnel", lambda s=sent: (
            cloud.datagram(cloud.A, "2001:db8:7::b"), tunnel(cloud.A, "t1")["tx_packets"] > s)[1])
        lost = tunnel(cloud.A, "t1")["tx_no_route"]
        cloud.A.ip("link", "del", "x0")
        ktap.wait_for(20, "its 6over4 interface is gone", lambda: below() == [ADDRESS_A])
        cloud.datagram(cloud.A, "2001:db8:7::b")
        ktap.true(tunnel(cloud.A, "t1")["tx_no_route"] > lost, "there is no way")
        if not round_:
            way()
    cloud.transition(cloud.A, "off")
    ktap.wait_for(20, "6over4 is off", lambda: sorted(devices(cloud.A)) == ["t0", "t1"])
    cloud.A.ip("route", "del", "unreachable", ELSEWHERE, "metric", "4278198272")
    ctl(cloud.A, "tunnel", "del", "t1")


@ktap.test
def it_stays_in_its_namespace():
    for how in (("link", "set", "t0", "netns", cloud.R.name),
                ("link", "add", "t9", "type", "net6tunnel")):
        try:
            cloud.A.ip(*how)
        except ktap.Fail:
            continue
        raise ktap.Fail(f"possible: {how}")
    cloud.A.down("t0")
    cloud.A.ip("link", "set", "t0", "name", "far")
    cloud.A.up("far")
    ktap.equal(devices(cloud.A), ["far"], "after it was renamed")
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), NET6_B, 5000)


@ktap.test
def ip_deletes_it_too_under_traffic():
    with cloud.connection(cloud.A, cloud.B, NET6_B) as (near, far):
        cloud.say(near, far, b"before")
        near.sendall(b"nobody hears the answer")
        cloud.A.ip("link", "del", "far")
        ktap.equal(devices(cloud.A), [], "tunnels")
        ktap.equal(show(cloud.A, "routers"), [], "routers")
        for sock in (near, far):    # nobody would acknowledge their FINs
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ctl(cloud.A, "tunnel", "add", "far", "remote", ADDRESS_B)
    cloud.add_address(cloud.A, "far", NET6_A)
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), NET6_B, 5000)


ktap.main(setup=setup)
