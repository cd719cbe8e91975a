#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# transition=auto: 6over4 (RFC 2529) with three hosts on one IPv4 link that has
# multicast, duplicate detection and autoconfiguration from a router on the 6over4 link,
# which this test plays. Automatic tunnels (RFC 2893) across an IPv4 router. Clouds that
# lose, delay, reorder and duplicate, become narrower and go down under TCP. IPv4
# addresses that come and go. Nothing of it with transition=off.
#
#   [ X ] x0 --+            X, Y, Z: 10.6.4.1, .2, .3, net6 with transition=auto
#   [ Y ] y0 --+-- bridge   Z is native IPv4 only at first: it plays the router
#   [ Z ] z0 --+            X also has 192.0.2.1, see lib/cloud.py for A, R, B
# guest: stock+
# timeout: 300
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
    ctl, preferred, show, transition, wait_preferred)

X, Y, Z, hub = map(ktap.later, ("X", "Y", "Z", "hub"))
SLAAC_X, SLAAC_Y = "2001:db8:64::a06:401", "2001:db8:64::a06:402"


def sixover4(ns):
    return [t["dev"] for t in show(ns, "tunnels") if t["kind"] == "6over4"]


def setup():
    cloud.setup()
    ktap.kmod("bridge")
    hub.ip("link", "add", "hub0", "type", "bridge", "mcast_snooping", "0")
    hub.up("hub0")
    for n, (ns, dev) in enumerate(((X, "x0"), (Y, "y0"), (Z, "z0")), 1):
        ktap.veth(ns, dev, hub, "h" + dev)
        hub.ip("link", "set", "h" + dev, "master", "hub0")
        ns.ip("addr", "add", f"10.6.4.{n}/24", "dev", dev)


@ktap.test
def off_is_the_default_and_makes_nothing():
    ktap.equal(X.run("sysctl", "-n", "net.net6.transition").strip(), "off", "the switch")
    ktap.equal(show(X, "tunnels"), [], "tunnels")
    ktap.raises(errno.EINVAL, transition, X, "perhaps")
    ktap.equal(X.run("sysctl", "-n", "net.net6.transition").strip(), "off", "the switch")


@ktap.test
def auto_makes_an_interface_for_each_ipv4_address():
    for ns in (X, Y, Z):
        transition(ns, "auto")
    for n, ns in enumerate((X, Y, Z), 1):
        wait_preferred(ns, f"fe80::a06:40{n}")
        wait_preferred(ns, f"::10.6.4.{n}")
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
    """IPv4 brings nothing back of what is sent straight from a device's transmit
    function, but all that has waited in a qdisc of the device. Two interfaces on one
    link do not hear each other either.
    """
    X.ip("addr", "add", "10.6.4.78/24", "dev", "x0")
    wait_preferred(X, "fe80::a06:44e")
    ktap.kmod("sch_netem")
    both = sixover4(X)
    ktap.equal(len(both), 2, "6over4 interfaces of X")
    for n, dev in enumerate(both):
        X.run("tc", "qdisc", "add", "dev", dev, "root", "netem", "delay", "1ms")
        before = cloud.tunnel(X, dev)["rx_own"]
        cloud.add_address(X, dev, f"fd07:{n}::1")
        came = cloud.tunnel(X, dev)["rx_own"] > before
        # From 6.12.118 on tunnels count how deep they are, and IPv4 brings nothing back in one.
        ktap.true(came or ktap.KERNEL >= (6, 12), f"{dev}: own probes came back")
    counters = {c["name"]: c["value"] for c in show(X, "counters", "all")}
    ktap.true(counters["NdDadAttempts"] > 0, "probes were sent")
    ktap.equal(counters["NdDadLooped"], 0, "own probes heard")
    X.ip("addr", "del", "10.6.4.78/24", "dev", "x0")
    ktap.wait_for(20, "one interface is left", lambda: len(sixover4(X)) == 1)
    X.run("tc", "qdisc", "del", "dev", sixover4(X)[0], "root")


@ktap.test
def an_address_on_two_devices_has_one_interface():
    """Which is with one of them, and with the other when that has lost the address."""
    shared, other = "10.6.4.80", {"x0": "x1", "x1": "x0"}

    def link():
        return next((t["link"] for t in show(X, "tunnels") if t.get("local") == shared), None)
    X.ip("link", "add", "x1", "up", "type", "veth", "peer", "name", "x2")
    for dev in other:
        X.ip("addr", "add", shared + "/32", "dev", dev)
    wait_preferred(X, "fe80::a06:450")
    with_it = link()
    X.ip("addr", "del", shared + "/32", "dev", with_it)
    ktap.wait_for(20, "the other device has it", lambda: link() == other[with_it])
    wait_preferred(X, "fe80::a06:450")
    X.ip("addr", "del", shared + "/32", "dev", other[with_it])
    X.ip("link", "del", "x1")
    ktap.wait_for(20, "one interface is left", lambda: len(sixover4(X)) == 1)


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
    cloud.add_address(X, sixover4(X)[0], "fd06::1")
    ctl(Y, "add", "address", "fd06::1/64", "dev", sixover4(Y)[0])
    ktap.wait_for(20, "Y finds out", lambda: any(
        a["address"] == "fd06::1" and a["state"] == "duplicate" for a in show(Y, "addresses")))
    ctl(Y, "del", "address", "fd06::1", "dev", sixover4(Y)[0])


@ktap.test
def routers_are_solicited_over_ipv4_multicast():
    """To 239.192.0.2, with a TTL of 8 and an option of type IPv4 (RFC 2529 section 5)."""
    new, all_routers = "10.6.4.79", "239.192.0.2"
    with Z:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, 41)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                    socket.inet_aton(all_routers) + socket.inet_aton("10.6.4.3"))
    sock.settimeout(1)
    X.ip("addr", "add", new + "/24", "dev", "x0")
    option = b"\1\1\0\0" + socket.inet_aton(new)

    def solicited():
        try:
            packet, peer = sock.recvfrom(2000)
        except socket.timeout:
            return None
        if peer[0] != new or packet[26] != 58 or packet[60] != nd.RS or option not in packet:
            return None
        return packet
    packet = ktap.wait_for(30, "a solicitation with the option", solicited)
    sock.close()
    ktap.equal((packet[8], socket.inet_ntoa(packet[16:20])), (8, all_routers), "outer header")
    ktap.equal((packet[28:60], packet[68:]),
               (nd.packed("fe80::a06:44f") + nd.packed("ff02::2"), option), "solicitation")
    X.ip("addr", "del", new + "/24", "dev", "x0")
    ktap.wait_for(20, "one interface is left", lambda: len(sixover4(X)) == 1)


def advertise():
    """A Router Advertisement of Z in an IPv4 packet to all nodes, 239.192.0.1."""
    packet = nd.ra("fe80::a06:409", options=nd.mtu_option(1400) +
                   nd.prefix_option("2001:db8:64::") +
                   b"\1\1\0\0" + socket.inet_aton("10.6.4.9"))
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
        return preferred(X, SLAAC_X) and preferred(Y, SLAAC_Y)
    ktap.wait_for(30, "X and Y have addresses in the router's prefix", configured)
    dev = sixover4(X)[0]
    ktap.equal([(r["address"]) for r in show(X, "routers", "dev", dev)], ["fe80::a06:409"],
               "default router")
    ktap.equal(show(X, "interfaces", "dev", dev)[0]["mtu"], 1400, "MTU from the advertisement")
    entry = [n for n in show(X, "neighbors", "dev", dev) if n["address"] == "fe80::a06:409"]
    ktap.equal([n["lladdr"] for n in entry], ["0a:06:04:09"], "the router's option of type IPv4")


@ktap.test
def tcp_and_udp_over_6over4_between_three():
    cloud.tcp(cloud.net6(X), cloud.net6(Y), SLAAC_Y, 500000)
    cloud.udp(cloud.net6(X, 2), cloud.net6(Y, 2), SLAAC_Y)
    # Z has no address of the router's, for it is where the advertisement came from.
    dev = next(t["dev"] for t in show(Z, "tunnels") if t.get("local") == "10.6.4.3")
    cloud.add_address(Z, dev, "2001:db8:64::3")
    for ns in (X, Y):
        cloud.tcp(cloud.net6(ns), cloud.net6(Z), "2001:db8:64::3", 50000)


@ktap.test
def tcp_and_udp_over_6over4_when_the_link_is_bad():
    with cloud.netem((X, "x0"), (Y, sixover4(Y)[0])):
        cloud.tcp(cloud.net6(X), cloud.net6(Y), SLAAC_Y)
        cloud.udp(cloud.net6(X, 2), cloud.net6(Y, 2), SLAAC_Y)


def fragments(ns):
    """How many fragments IPv4 has made."""
    with ns, open("/proc/thread-self/net/snmp", encoding="ascii") as file:
        names, values = (line.split() for line in file if line.startswith("Ip:"))
    return int(values[names.index("FragCreates")])


@ktap.test
def the_6over4_link_becomes_narrower_and_goes_down_under_tcp():
    """Packets of 6over4 may be cut (RFC 2529 section 3): connections need not notice."""
    def narrow(mtu="1200"):
        for ns, dev in ((X, "x0"), (Y, "y0")):
            ns.ip("link", "set", dev, "mtu", mtu)
    with cloud.connection(X, Y, SLAAC_Y) as (near, far):
        before = fragments(X)
        cloud.send_while(near, far, 200000, narrow)
        ktap.true(fragments(X) > before, "IPv4 has made fragments")
        narrow("1500")
        cloud.cut(near, far, hub, "hx0")


@ktap.test
def an_ipv4_address_takes_its_interface_along_while_tcp_runs():
    before = sixover4(X)
    with cloud.connection(Y, X, SLAAC_X) as stays:
        X.ip("addr", "add", "10.6.4.77/24", "dev", "x0")
        ktap.wait_for(20, "a second interface", lambda: len(sixover4(X)) == 2)
        wait_preferred(X, "fe80::a06:44d")
        wait_preferred(X, "::10.6.4.77")
        with cloud.connection(Y, X, "::10.6.4.77") as goes:
            for near, far in (stays, goes):
                cloud.say(near, far, b"before")
            X.ip("addr", "del", "10.6.4.77/24", "dev", "x0")
            goes[0].sendall(b"nobody hears this")
            ktap.wait_for(20, "it is gone", lambda: sixover4(X) == before)
            ktap.wait_for(20, "its v4-compatible address is gone", lambda: not any(
                a["address"] == "::10.6.4.77" for a in show(X, "addresses")))
            cloud.say(*stays, b"after")
            cloud.say(*stays[::-1], b"after")
            for sock in goes:   # nobody would ever acknowledge their FINs
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


THERE = "::" + cloud.ADDRESS_B


@ktap.test
def automatic_tunnels_across_a_router():
    for ns, address in ((cloud.A, cloud.ADDRESS_A), (cloud.B, cloud.ADDRESS_B)):
        transition(ns, "auto")
        wait_preferred(ns, "::" + address)
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), THERE, 500000)
    cloud.udp(cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2), THERE)
    dev = next(t["dev"] for t in show(cloud.A, "tunnels") if t["kind"] == "automatic")
    with cloud.netem((cloud.R, "r1"), (cloud.A, dev)):
        cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), THERE)
        cloud.udp(cloud.net6(cloud.A, 2), cloud.net6(cloud.B, 2), THERE)


@ktap.test
def the_cloud_becomes_narrower_and_goes_down_under_tcp_of_an_automatic_tunnel():
    dev = next(t["dev"] for t in show(cloud.A, "tunnels") if t["kind"] == "automatic")
    before = cloud.tunnel(cloud.A, dev)["icmp_too_big"]
    with cloud.connection(cloud.A, cloud.B, THERE) as (near, far):
        with cloud.narrower(1400) as narrow:
            cloud.send_while(near, far, 400000, narrow)
            ktap.true(cloud.tunnel(cloud.A, dev)["icmp_too_big"] > before,
                      "ICMPv4 errors were taken in")
            ktap.equal([d.get("pmtu") for d in show(cloud.A, "destinations")
                        if nd.same(d["address"], THERE)], [1380], "path MTU of B")
        cloud.cut(near, far, cloud.R, "r1")


@ktap.test
def automatic_tunnels_believe_only_matching_addresses():
    dev = next(t["dev"] for t in show(cloud.B, "tunnels") if t["kind"] == "automatic")
    with cloud.A:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, 41)
    for source in ("::192.0.2.77", "::127.0.0.1", "2001:db8::1"):
        before = cloud.tunnel(cloud.B, dev)["rx_inner_source"]
        sock.sendto(cloud.inner(source, THERE), (cloud.ADDRESS_B, 0))
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
    else:
        raise ktap.Fail("transition=perhaps was accepted")
    ktap.net6_load("transition=auto")
    late = ktap.Netns("late")           # made when the module is there already
    ktap.veth(late, "l0", Z, "z1")
    late.ip("addr", "add", "10.6.5.1/24", "dev", "l0")
    Z.ip("addr", "add", "10.6.5.2/24", "dev", "z1")
    for ns, words in ((X, ("fe80::a06:401", "::10.6.4.1")), (Z, ("fe80::a06:403", "::10.6.5.2")),
                      (late, ("fe80::a06:501", "::10.6.5.1"))):
        for address in words:
            wait_preferred(ns, address)
        ktap.equal(ns.run("sysctl", "-n", "net.net6.transition").strip(), "auto", "the switch")
    cloud.tcp(cloud.net6(late), cloud.net6(Z), "::10.6.5.2", 50000)
    unload()                            # with all of it up
    for ns in (X, Z, late):
        ktap.true("239.192" not in ns.run("ip", "maddr"), "groups are left")


ktap.main(setup=setup)
