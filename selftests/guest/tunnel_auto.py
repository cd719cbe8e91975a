#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# transition=auto: 6over4 (RFC 2529) with three hosts on one IPv4 link that has
# multicast, duplicate detection and autoconfiguration from a router on the 6over4 link,
# which this test plays; automatic tunnels (RFC 2893) across an IPv4 router; IPv4
# addresses that come and go; nothing of it with transition=off.
#
#   [ X ] x0 --+            X, Y, Z: 10.6.4.1, .2, .3, net6 with transition=auto
#   [ Y ] y0 --+-- bridge   Z is native IPv4 only at first: it plays the router
#   [ Z ] z0 --+            X also has 192.0.2.1, see lib/cloud.py for A, R, B
# guest: both
# timeout: 300
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
from cloud import ctl, preferred, show  # pylint: disable=wrong-import-position

X = Y = Z = None


def transition(ns, word):
    ns.run("sysctl", "-qw", f"net.net6.transition={word}")


def sixover4(ns):
    return [t["dev"] for t in show(ns, "tunnels") if t["kind"] == "6over4"]


def setup():
    global X, Y, Z
    cloud.setup()
    ktap.kmod("bridge")
    X, Y, Z, hub = (ktap.Netns(name) for name in ("X", "Y", "Z", "hub"))
    hub.ip("link", "add", "hub0", "type", "bridge", "mcast_snooping", "0")
    hub.ip("link", "set", "hub0", "up")
    for n, (ns, dev) in enumerate(((X, "x0"), (Y, "y0"), (Z, "z0")), 1):
        ktap.veth(ns, dev, hub, "h" + dev)
        hub.ip("link", "set", "h" + dev, "master", "hub0")
        ns.ip("addr", "add", f"10.6.4.{n}/24", "dev", dev)


@ktap.test
def off_is_the_default_and_makes_nothing():
    ktap.equal(X.run("sysctl", "-n", "net.net6.transition").strip(), "off", "the switch")
    ktap.equal(show(X, "tunnels"), [], "tunnels")
    try:
        transition(X, "perhaps")
    except ktap.Fail:
        pass
    ktap.equal(X.run("sysctl", "-n", "net.net6.transition").strip(), "off", "the switch")


@ktap.test
def auto_makes_an_interface_for_each_ipv4_address():
    for ns in (X, Y, Z):
        transition(ns, "auto")
    for n, ns in enumerate((X, Y, Z), 1):
        ktap.wait_for(30, f"fe80::a06:40{n}", lambda i=n, s=ns: preferred(s, f"fe80::a06:40{i}"))
        ktap.wait_for(10, "the v4-compatible address",
                      lambda i=n, s=ns: preferred(s, f"::10.6.4.{i}"))
    dev = sixover4(X)
    ktap.equal(len(dev), 1, "6over4 interfaces")
    ktap.equal(show(X, "interfaces", "dev", dev[0])[0]["mtu"], 1480, "MTU")
    ktap.equal({i["dev"]: i["link"] for i in show(X, "interfaces")},
               {"lo": "loopback", "x0": "ethernet", dev[0]: "6over4", "automatic0": "automatic"},
               "kinds of links")
    groups = X.run("ip", "maddr", "show", "dev", "x0")
    for group in ("239.192.0.1", "239.192.4.1"):
        ktap.true(group in groups, f"{group} is joined: {groups}")


@ktap.test
def own_multicast_is_not_heard():
    """IPv4 does not bring back what is sent from a device's transmit function; what it
    did bring back would be counted as rx_own.
    """
    t = next(t for t in show(X, "tunnels") if t["kind"] == "6over4")
    counters = {c["name"]: c["value"] for c in show(X, "counters", "all")}
    ktap.true(t["tx_packets"] > 0 and counters["NdDadAttempts"] > 0, "probes were sent")
    ktap.equal(counters["NdDadLooped"], 0, "own probes heard")


@ktap.test
def neighbors_are_found_by_ipv4_multicast():
    dev = sixover4(X)[0]
    server = cloud.net6(Y)
    server.bind(("fe80::a06:402", 0, 0, cloud_index(Y, sixover4(Y)[0])))
    server.listen(1)
    client = cloud.net6(X)
    client.connect(("fe80::a06:402", server.getsockname()[1], 0, cloud_index(X, dev)))
    client.close()
    server.close()
    entry = [n for n in show(X, "neighbors", "dev", dev) if n["address"] == "fe80::a06:402"]
    ktap.equal([n["lladdr"] for n in entry], ["0a:06:04:02"], "Y's link-layer address")


def cloud_index(ns, dev):
    with ns:
        return socket.if_nametoindex(dev)


@ktap.test
def a_duplicate_is_found():
    ctl(X, "add", "address", "fd06::1/64", "dev", sixover4(X)[0])
    ktap.wait_for(20, "X has it", lambda: preferred(X, "fd06::1"))
    ctl(Y, "add", "address", "fd06::1/64", "dev", sixover4(Y)[0])
    ktap.wait_for(20, "Y finds out", lambda: any(
        a["address"] == "fd06::1" and a["state"] == "duplicate" for a in show(Y, "addresses")))
    ctl(Y, "del", "address", "fd06::1", "dev", sixover4(Y)[0])


def advertise():
    """A Router Advertisement of Z in an IPv4 packet to all nodes, 239.192.0.1."""
    body = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
    body += struct.pack("!BBHI", 5, 1, 0, 1400)
    body += struct.pack("!BBBBIII", 3, 4, 64, 0xc0, 3600, 1800, 0) + \
        socket.inet_pton(10, "2001:db8:64::")
    body += struct.pack("!BBH", 1, 1, 0) + socket.inet_aton("10.6.4.9")
    source, group = socket.inet_pton(10, "fe80::a06:409"), socket.inet_pton(10, "ff02::1")
    pseudo = source + group + struct.pack("!II", len(body), 58) + body
    total = sum(struct.unpack(f"!{len(pseudo) // 2}H", pseudo))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    body = body[:2] + struct.pack("!H", ~total & 0xffff) + body[4:]
    packet = struct.pack("!IHBB", 6 << 28, len(body), 58, 255) + source + group + body
    with Z:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, 41)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.6.4.9"))
        sock.bind(("10.6.4.9", 0))
    sock.sendto(packet, ("239.192.0.1", 0))
    sock.close()


@ktap.test
def addresses_from_a_router_on_the_6over4_link():
    Z.ip("addr", "add", "10.6.4.9/24", "dev", "z0")

    def configured():
        advertise()
        time.sleep(0.1)
        return all(preferred(ns, a) for ns, a in ((X, "2001:db8:64::a06:401"),
                                                  (Y, "2001:db8:64::a06:402")))
    ktap.wait_for(30, "X and Y have addresses in the router's prefix", configured)
    dev = sixover4(X)[0]
    ktap.equal([(r["address"]) for r in show(X, "routers", "dev", dev)], ["fe80::a06:409"],
               "default router")
    ktap.equal(show(X, "interfaces", "dev", dev)[0]["mtu"], 1400, "MTU from the advertisement")
    entry = [n for n in show(X, "neighbors", "dev", dev) if n["address"] == "fe80::a06:409"]
    ktap.equal([n["lladdr"] for n in entry], ["0a:06:04:09"], "the router's option of type IPv4")


@ktap.test
def tcp_and_udp_over_6over4():
    cloud.tcp(cloud.net6(X), cloud.net6(Y), "2001:db8:64::a06:402", 500000)
    cloud.udp(cloud.net6(X, 2), cloud.net6(Y, 2), "2001:db8:64::a06:402")


@ktap.test
def tcp_and_udp_over_6over4_with_loss():
    ktap.kmod("sch_netem")
    X.run("tc", "qdisc", "add", "dev", "x0", "root", "netem", "delay", "1ms", "loss", "2%")
    try:
        cloud.tcp(cloud.net6(X), cloud.net6(Y), "2001:db8:64::a06:402")
        cloud.udp(cloud.net6(X, 2), cloud.net6(Y, 2), "2001:db8:64::a06:402")
    finally:
        X.run("tc", "qdisc", "del", "dev", "x0", "root")


def connected(client, server, address):
    """Two ends of a connection to @address."""
    listener = cloud.net6(server)
    listener.bind((address, 0, 0, 0))
    listener.listen(1)
    sock = cloud.net6(client)
    sock.connect(listener.getsockname()[:2])
    peer = listener.accept()[0]
    peer.settimeout(30 * ktap.SCALE)
    listener.close()
    return sock, peer


@ktap.test
def an_ipv4_address_takes_its_interface_along_while_tcp_runs():
    before = sixover4(X)
    stays = connected(Y, X, "2001:db8:64::a06:401")
    X.ip("addr", "add", "10.6.4.77/24", "dev", "x0")
    ktap.wait_for(20, "a second interface", lambda: len(sixover4(X)) == 2)
    ktap.wait_for(20, "its address", lambda: preferred(X, "fe80::a06:44d"))
    ktap.wait_for(20, "its v4-compatible address", lambda: preferred(X, "::10.6.4.77"))
    goes = connected(Y, X, "::10.6.4.77")
    for sock, peer in (stays, goes):
        sock.sendall(b"before")
        ktap.equal(peer.recv(100), b"before", "before")
    X.ip("addr", "del", "10.6.4.77/24", "dev", "x0")
    goes[0].sendall(b"nobody hears this")
    ktap.wait_for(20, "it is gone", lambda: sixover4(X) == before)
    ktap.wait_for(20, "its v4-compatible address is gone", lambda: not any(
        a["address"] == "::10.6.4.77" for a in show(X, "addresses")))
    for sock, peer in (stays, stays[::-1]):
        sock.sendall(b"after")
        ktap.equal(peer.recv(100), b"after", "after")
    for sock in goes:           # nobody would ever acknowledge their FINs
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for sock in stays + goes:
        sock.close()


@ktap.test
def automatic_tunnels_across_a_router():
    for ns, address in ((cloud.A, cloud.ADDRESS_A), (cloud.B, cloud.ADDRESS_B)):
        transition(ns, "auto")
        ktap.wait_for(30, f"::{address}", lambda n=ns, a=address: preferred(n, "::" + a))
    there = "::" + cloud.ADDRESS_B
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), there, 500000)
    cloud.udp(cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2), there)
    ktap.kmod("sch_netem")
    cloud.R.run("tc", "qdisc", "add", "dev", "r1", "root", "netem", "loss", "2%")
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), there)
    cloud.udp(cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2), there)
    cloud.R.run("tc", "qdisc", "del", "dev", "r1", "root")


@ktap.test
def automatic_tunnels_believe_only_matching_addresses():
    dev = next(t["dev"] for t in show(cloud.B, "tunnels") if t["kind"] == "automatic")
    with cloud.A:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, 41)
    for source in ("::192.0.2.77", "::127.0.0.1", "2001:db8::1"):
        before = cloud.tunnel(cloud.B, dev)["rx_inner_source"]
        sock.sendto(struct.pack("!IHBB", 6 << 28, 0, 59, 64) + socket.inet_pton(10, source) +
                    socket.inet_pton(10, "::" + cloud.ADDRESS_B), (cloud.ADDRESS_B, 0))
        ktap.wait_for(5, f"{source} is refused", lambda b=before: cloud.tunnel(
            cloud.B, dev)["rx_inner_source"] == b + 1)
    sock.close()


@ktap.test
def no_tunnel_to_what_is_no_host():
    sock = cloud.net6(cloud.A, 2)
    for address in ("::224.0.0.1", "::255.255.255.255", "::127.0.0.1"):
        before = cloud.drops(cloud.A, "TUNNEL_DEST")
        try:
            sock.sendto(b"x", (address, 9))
        except OSError:
            pass
        ktap.true(cloud.drops(cloud.A, "TUNNEL_DEST") > before, f"{address} is refused")
    sock.close()


@ktap.test
def off_takes_it_all_away():
    for ns in (X, cloud.A):
        transition(ns, "off")
        ktap.wait_for(20, "no tunnel is left", lambda n=ns: not show(n, "tunnels"))
    ktap.true("239.192" not in X.run("ip", "maddr", "show", "dev", "x0"), "groups are left")


@ktap.test
def the_end_of_a_namespace_with_everything_up():
    Y.delete()
    cloud.B.delete()


def unload():
    """As soon as connections have closed."""
    ktap.wait_for(20, "nobody uses net6", lambda: not ktap.users("net6"))
    ktap.unload("net6")


@ktap.test
def the_module_parameter_does_it_without_a_word():
    unload()
    module = f"{ktap.BUILD}/net6/net6.ko"
    try:
        ktap.run("insmod", module, "transition=perhaps")
    except ktap.Fail as error:
        ktap.true("Invalid parameters" in str(error), f"EINVAL: {error}")
    ktap.net6_load("transition=auto")
    late = ktap.Netns("late")           # made when the module is there already
    ktap.veth(late, "l0", Z, "z1")
    late.ip("addr", "add", "10.6.5.1/24", "dev", "l0")
    Z.ip("addr", "add", "10.6.5.2/24", "dev", "z1")
    for ns, words in ((X, ("fe80::a06:401", "::10.6.4.1")), (Z, ("fe80::a06:403", "::10.6.5.2")),
                      (late, ("fe80::a06:501", "::10.6.5.1"))):
        for address in words:
            ktap.wait_for(30, address, lambda n=ns, a=address: preferred(n, a))
        ktap.equal(ns.run("sysctl", "-n", "net.net6.transition").strip(), "auto", "the switch")
    cloud.tcp(cloud.net6(late), cloud.net6(Z), "::10.6.5.2", 50000)
    unload()                            # with all of it up
    for ns in (X, Z, late):
        ktap.true("239.192" not in ns.run("ip", "maddr"), "groups are left")


ktap.main(setup=setup)
