#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# net6ctl does what it says, in columns and in JSON, tells why when the kernel refuses,
# and each namespace sees its own.
#
#	A [a0] ------ [b0] B
#
# guest: stock+
# timeout: 240
import ipaddress
import json
import os
import re
import socket
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

TOOL = nd.NET6CTL
TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
FOREVER = 0xffffffff
OBJECTS = ("interfaces", "addresses", "groups", "neighbors", "routers", "prefixes",
           "destinations", "sockets", "counters", "drops", "limits")
A, B = ktap.later("A"), ktap.later("B")


def setup():
    ktap.net6_load()
    ktap.veth(A, "a0", B, "b0")
    ktap.wait_for(10, "net6 runs on both ends",
                  lambda: link_local(A, "a0") and link_local(B, "b0"))


def ctl(ns, *words):
    return nd.net6ctl(ns, *words)


def show(ns, *words):
    return json.loads(ctl(ns, "-j", "show", *words))


def refused(ns, *words):
    """Standard error of a command that must fail, and how."""
    done = subprocess.run((TOOL, "-N", ns.name) + words, text=True, capture_output=True,
                          check=False)
    ktap.equal(done.returncode, 1, f"status of {' '.join(words)}")
    ktap.equal(done.stdout, "", "standard output")
    return done.stderr


def python(ns, script):
    """Starts a program that opens sockets of net6 with net6(kind)."""
    return ns.popen("python3", "-c", "import socket, sys\n"
                    "def net6(kind):\n"
                    "    fd = socket.socket(19, kind).detach()\n"
                    "    return socket.socket(socket.AF_INET6, kind, fileno=fd)\n"
                    + script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def datagram(ns, to):
    """Sends one to the discard port."""
    with ktap.net6_socket(socket.SOCK_DGRAM, ns=ns) as sock:
        sock.sendto(b"x", to)


def link_local(ns, dev):
    for entry in show(ns, "addresses", "dev", dev):
        if entry["origin"] == "link-local" and entry["state"] == "preferred":
            return entry["address"]
    return None


def having(entries, **wanted):
    return [e for e in entries if all(e.get(k) == v for k, v in wanted.items())]


@ktap.test
def every_object_is_shown_in_columns_and_in_JSON():
    for what in OBJECTS:
        ktap.equal(type(show(A, what)), list, f"JSON of {what}")
        ktap.true("\t" not in ctl(A, "show", what), f"columns of {what}")


@ktap.test
def names_with_letters_of_all_languages_are_valid_in_JSON():
    """UTF-8 as it is; what is none has a letter for each byte."""
    for name, shown in (("h\u00e9\u20ac\U0001f600", None), ("q\"b\\", None),
                        (b"\xff\xc3", "\u00ff\u00c3"), (b"\xc0\xafx", "\u00c0\u00afx"),
                        (b"\xed\xbf\x80", "\u00ed\u00bf\u0080"),
                        (b"\xf4\x90\x80\x80", "\u00f4\u0090\u0080\u0080")):
        A.ip("link", "add", name, "up", "type", "veth", "peer", "name", "x9")
        raw = ktap.run(TOOL, "-j", "-N", A.name, "show", "interfaces", encoding="utf-8")
        ktap.true((shown or name) in [e["dev"] for e in json.loads(raw)], f"{name}: {raw}")
        A.ip("link", "del", "x9")


@ktap.test
def interfaces_are_the_pseudo_loopback_and_the_device():
    found = {e["dev"]: e for e in show(A, "interfaces")}
    ktap.equal(sorted(found), ["a0", "lo"], "interfaces")
    ktap.true("loopback" in found["lo"]["flags"], "lo is the loopback")
    ktap.true({"up", "nd", "multicast"} <= set(found["a0"]["flags"]), "a0 is up, with ND")
    ktap.equal(found["a0"]["mtu"], 1500, "MTU")
    ktap.equal(found["a0"]["hop_limit"], 64, "hop limit")
    ktap.equal(found["a0"]["lladdr"],
               json.loads(A.ip("-j", "link", "show", "a0"))[0]["address"], "MAC address")
    ktap.equal(len(show(A, "interfaces", "dev", "a0")), 1, "only one asked for")


@ktap.test
def the_loopback_address_and_the_solicited_node_group_are_there():
    ktap.equal(len(having(show(A, "addresses"), address="::1", dev="lo",
                          state="preferred", prefix_len=128, valid=FOREVER)), 1, "::1")
    last = ipaddress.IPv6Address(link_local(A, "a0")).packed[13:]
    group = str(ipaddress.IPv6Address(
        ipaddress.IPv6Address("ff02::1:ff00:0").packed[:13] + last))
    ktap.equal(len(having(show(A, "groups"), address=group, dev="a0",
                          type="multicast")), 1, "solicited-node group")
    ktap.equal(len(having(show(A, "groups"), address=link_local(A, "a0"),
                          type="unicast")), 1, "the address itself")


@ktap.test
def an_address_is_added_goes_through_DAD_and_is_deleted():
    ctl(A, "add", "address", "fd00:1::1/64", "dev", "a0", "valid", "1000", "preferred", "500")
    entry = ktap.wait_for(10, "DAD is done", lambda: having(
        show(A, "addresses"), address="fd00:1::1", state="preferred"))[0]
    ktap.equal((entry["dev"], entry["prefix_len"], entry["origin"]),
               ("a0", 64, "manual"), "address")
    ktap.true(980 <= entry["valid"] <= 1000, "valid lifetime runs")
    ktap.true(480 <= entry["preferred"] <= 500, "preferred lifetime runs")
    ktap.equal(len(having(show(A, "prefixes"), address="fd00:1::", prefix_len=64)), 1,
               "its prefix is on-link")
    words = refused(A, "add", "address", "fd00:1::1/64", "dev", "a0")
    ktap.true("has this address already" in words, words)
    words = refused(A, "del", "address", "fd00:1::1/63", "dev", "a0")
    ktap.true("does not have this address" in words, words)
    ctl(A, "del", "addr", "fd00:1::1/64", "dev", "a0")
    ktap.equal(having(show(A, "addresses"), address="fd00:1::1"), [], "it is gone")
    ktap.equal(having(show(A, "prefixes"), address="fd00:1::"), [], "its prefix is gone")
    words = refused(A, "del", "address", "fd00:1::1", "dev", "a0")
    ktap.true("does not have this address" in words, words)


@ktap.test
def addresses_that_no_interface_can_have_are_refused():
    for bad in ("ff02::1/128", "::/64", "::ffff:192.0.2.1/96", "::1/128"):
        words = refused(A, "add", "address", bad, "dev", "a0")
        ktap.true("not a unicast address" in words, f"{bad}: {words}")
    for bad in ("fd00::1", "fd00::1/129", "fd00::1/-1", "fd00::g/64", "1.2.3.4/24"):
        refused(A, "add", "address", bad, "dev", "a0")
    words = refused(A, "add", "address", "fd00::1/64", "dev", "a0",
                    "valid", "10", "preferred", "20")
    ktap.true("longer than the valid" in words, words)


@ktap.test
def a_neighbor_is_added_used_and_deleted():
    ctl(A, "add", "neighbor", "fd00:2::2", "lladdr", "02:00:00:00:00:02", "dev", "a0")
    entry = having(show(A, "neighbors"), address="fd00:2::2")[0]
    ktap.equal((entry["state"], entry["lladdr"]), ("permanent", "02:00:00:00:00:02"),
               "neighbor")
    ktap.true("manual" in entry["flags"], "it is marked as ours")
    ctl(A, "flush", "neighbors")
    ktap.equal(len(having(show(A, "neighbors"), address="fd00:2::2")), 1,
               "it survives a flush")
    ctl(A, "del", "neigh", "fd00:2::2", "dev", "a0")
    ktap.equal(having(show(A, "neighbors"), address="fd00:2::2"), [], "it is gone")
    ktap.true("no such neighbor" in refused(A, "del", "neighbor", "fd00:2::2", "dev", "a0"),
              "and cannot be deleted twice")
    for bad in ("02:00:00:00:00", "02:00:00:00:00:02:03", "zz:00:00:00:00:02", "02:"):
        refused(A, "add", "neighbor", "fd00:2::2", "lladdr", bad, "dev", "a0")
    refused(A, "add", "neighbor", "ff02::5", "lladdr", "02:00:00:00:00:02", "dev", "a0")


@ktap.test
def a_default_router_is_added_and_deleted():
    ctl(A, "add", "route", "default", "via", "fe80::99", "dev", "a0", "preference", "high")
    entry = having(show(A, "routers"), address="fe80::99")[0]
    ktap.equal((entry["dev"], entry["preference"], entry["lifetime"], entry["manual"]),
               ("a0", 1, FOREVER, True), "router")
    words = refused(A, "del", "neighbor", "fe80::99", "dev", "a0")
    ktap.true("default router" in words, words)
    ctl(A, "del", "route", "default", "via", "fe80::99", "dev", "a0")
    ktap.equal(having(show(A, "routers"), address="fe80::99"), [], "it is gone")
    ktap.true("no such router" in
              refused(A, "del", "route", "default", "via", "fe80::99", "dev", "a0"),
              "and cannot be deleted twice")
    refused(A, "add", "route", "default", "via", "fd00::1", "dev", "a0")
    refused(A, "add", "route", "default", "via", "fe80::1", "dev", "lo")
    refused(A, "add", "route", "fd00::1/64", "via", "fe80::1", "dev", "a0")


@ktap.test
def several_next_hops_of_a_route():
    hops = ("nexthop", "via", "fe80::91", "dev", "a0", "weight", "3",
            "nexthop", "via", "fe80::92", "dev", "a0")
    ctl(A, "add", "route", "fd00:78::/32", "preference", "high", *hops)
    seen = having(show(A, "routes"), address="fd00:78::", preference=1)
    ktap.equal([(r["gateway"], r.get("weight")) for r in seen],
               [("fe80::91", 3), ("fe80::92", None)], "routes")
    ctl(A, "del", "route", "fd00:78::/32", "nexthop", "via", "fe80::92", "dev", "a0",
        "nexthop", "via", "fe80::91", "dev", "a0")
    ktap.equal(having(show(A, "routes"), address="fd00:78::"), [], "they are gone")
    ctl(A, "add", "route", "default", *hops)
    ktap.equal(sorted((r["address"], r.get("weight")) for r in show(A, "routers") if r["manual"]),
               [("fe80::91", 3), ("fe80::92", None)], "default routers")
    ctl(A, "del", "route", "default", *hops)
    for bad in (("weight", "0"), ("weight", "257"), ("weight",), ("nexthop",)):
        refused(A, "add", "route", "fd00:78::/32", "via", "fe80::91", "dev", "a0", *bad)


@ktap.test
def a_source_that_a_route_asks_for():
    ctl(A, "add", "address", "fd00:79::1/128", "dev", "a0")
    for table, dst, address in (("routers", ("default",), "fe80::99"),
                                ("routes", ("fd00:77::/32",), "fd00:77::")):
        words = ("add", "route", *dst, "via", "fe80::99", "dev", "a0")
        # The address may still be probed for.
        ctl(A, *words, "src", "fd00:79::1")
        ktap.equal(having(show(A, table), address=address)[0]["source"], "fd00:79::1", table)
        ktap.wait_for(20, "DAD ends", lambda: having(show(A, "addresses"), address="fd00:79::1",
                                                     state="preferred"))
        with ktap.net6_socket(socket.SOCK_DGRAM, ns=A) as sock:
            sock.connect(("fd00:77::1", 9))
            ktap.equal(sock.getsockname()[0], "fd00:79::1", "a socket's")
        for bad in ("fd00:79::2", "fe80::99"):
            ktap.true("not an address of this host" in refused(A, *words, "src", bad), bad)
        ctl(A, *words)
        ktap.true("source" not in having(show(A, table), address=address)[0], "none")
        ctl(A, *words, "src", "fd00:79::1")
        ctl(A, "del", "address", "fd00:79::1", "dev", "a0")
        ktap.true("source" not in having(show(A, table), address=address)[0], "it is gone")
        ctl(A, "add", "address", "fd00:79::1/128", "dev", "a0")
        ctl(A, "del", "route", *dst, "via", "fe80::99", "dev", "a0")
    ctl(A, "del", "address", "fd00:79::1", "dev", "a0")


@ktap.test
def metrics_of_routes_in_the_words_of_ip():
    words = "mtu lock 1400 rtt lock 1.500ms initcwnd 20 features ecn rto_min 30ms congctl reno"
    for table, dst, address in (("routers", ("default",), "fe80::99"),
                                ("routes", ("fd00:77::/32",), "fd00:77::")):
        ctl(A, "add", "route", *dst, "via", "fe80::99", "dev", "a0", *words.split())
        ktap.equal(having(show(A, table), address=address)[0]["metrics"], words, table)
        ktap.true(words in ctl(A, "show", table), f"a table of {table}")
        for bad in (("mtu",), ("mtu", "lock"), ("initcwnd", "many"), ("rtt", "1h"),
                    ("features", "sack"), ("congctl", "nosuch")):
            refused(A, "add", "route", *dst, "via", "fe80::99", "dev", "a0", *bad)
        ctl(A, "add", "route", *dst, "via", "fe80::99", "dev", "a0", "rto_min", "2s")
        ktap.equal(having(show(A, table), address=address)[0]["metrics"], "rto_min 2000ms", "new")
        ctl(A, "add", "route", *dst, "via", "fe80::99", "dev", "a0")
        ktap.true("metrics" not in having(show(A, table), address=address)[0], "none")
        ctl(A, "del", "route", *dst, "via", "fe80::99", "dev", "a0")


@ktap.test
def a_prefix_is_added_and_deleted():
    ctl(A, "add", "prefix", "fd00:3::/48", "dev", "a0")
    entry = having(show(A, "prefixes"), address="fd00:3::", prefix_len=48)[0]
    ktap.equal((entry["valid"], entry["manual"]), (FOREVER, True), "prefix")
    words = refused(A, "add", "prefix", "fd00:3::1/48", "dev", "a0")
    ktap.true("bits beyond" in words, words)
    refused(A, "add", "prefix", "fe80::/64", "dev", "a0")
    refused(A, "add", "prefix", "ff00::/8", "dev", "a0")
    refused(A, "del", "prefix", "fd00:3::/49", "dev", "a0")
    ctl(A, "del", "prefix", "fd00:3::/48", "dev", "a0")
    ktap.equal(having(show(A, "prefixes"), address="fd00:3::"), [], "it is gone")


@ktap.test
def a_destination_appears_when_it_is_used_and_goes_when_flushed():
    peer = link_local(B, "b0")
    with A:
        datagram(A, (peer, 9, 0, socket.if_nametoindex("a0")))
    entry = ktap.wait_for(10, "neighbor resolved", lambda: having(
        show(A, "destinations"), address=peer))[0]
    ktap.equal(entry["dev"], "a0", "device")
    ktap.equal(entry["next_hop"], peer, "next hop")
    ktap.equal(entry["source"], link_local(A, "a0"), "source address")
    ktap.true("on-link" in entry["flags"], "link-local is on-link")
    ktap.wait_for(10, "neighbor resolved", lambda: having(
        show(A, "neighbors"), address=peer, state="reachable") or having(
        show(A, "neighbors"), address=peer, state="stale") or having(
        show(A, "neighbors"), address=peer, state="delay"))
    ctl(A, "flush", "destinations")
    ktap.equal(having(show(A, "destinations"), address=peer), [], "it is gone")
    ctl(A, "flush", "neighbors", "dev", "a0")
    ktap.equal(having(show(A, "neighbors"), address=peer), [], "so is the neighbor")


def info_of_connections():
    """TCP_INFO of what the test below has connected, in ss's words."""
    found = show(A, "sockets", "-i")
    ends = having(found, protocol="tcp", state="established")
    ktap.equal(len(ends), 2, "both ends")
    for end in ends:
        info = end["info"]
        ktap.equal((info["state"], info["snd_mss"], info["snd_cwnd"], info["segs_in"] > 0),
                   (1, end["mss"], end["cwnd"], True), "TCP_INFO")
    for other in having(found, protocol="udp") + having(found, state="listen"):
        ktap.true("info" not in other, f"no connection, no info: {other}")
    lines = ctl(A, "sockets", "-i").splitlines()
    below = [lines[n + 1] for n, line in enumerate(lines) if " established " in line]
    ktap.equal(len(below), 2, f"a line below each: {lines}")
    for line in below:
        ktap.true(re.match(r"\t(ts )?(sack )?\w+ wscale:\d+,\d+ rto:\d+ .* cwnd:\d+ ", line),
                  f"what ss says: {line}")


@ktap.test
def sockets_are_shown_with_their_ends():
    process = python(A, "t = net6(socket.SOCK_STREAM); t.bind(('::', 4711)); t.listen(7)\n"
                     "u = net6(socket.SOCK_DGRAM); u.bind(('::1', 4712))\n"
                     "c = net6(socket.SOCK_STREAM); c.connect(('::1', 4711))\n"
                     "print('ready', flush=True); sys.stdin.read()\n")
    ktap.equal(process.stdout.readline(), "ready\n", "the program")
    found = show(A, "sockets")
    listener = having(found, protocol="tcp", state="listen", local_port=4711)
    ktap.equal(len(listener), 1, "listener")
    ktap.equal((listener[0]["local_address"], listener[0]["tx_queue"],
                listener[0]["rx_queue"], listener[0]["uid"]), ("::", 7, 1, 0), "listener")
    ktap.true(listener[0]["inode"] > 0, "inode")
    ends = having(found, protocol="tcp", state="established")
    ktap.equal(sorted(e["local_port"] == 4711 for e in ends), [False, True], "both ends")
    for end in ends:
        ktap.true(end["mss"] > 0 and end["cwnd"] > 0 and end["congestion"], "TCP's figures")
    ktap.equal(len(having(found, protocol="udp", local_address="::1", local_port=4712)), 1,
               "UDP socket")
    ktap.equal({e["protocol"] for e in show(A, "sockets", "udp")}, {"udp"}, "only UDP")
    ktap.equal({e["protocol"] for e in show(A, "sockets", "tcp")}, {"tcp"}, "only TCP")
    ktap.true("[::]:4711" in ctl(A, "show", "sockets"), "columns")
    for end in ends:
        ktap.true("info" not in end, "TCP_INFO only for those who ask")
    info_of_connections()
    ktap.equal(show(B, "sockets"), [], "the other namespace sees none of it")
    process.communicate("")
    ktap.wait_for(10, "the sockets are closed", lambda: not having(
        show(A, "sockets"), state="listen"))


@ktap.test
def counters_and_drops_count():
    def value(what, name):
        return having(show(A, what), name=name)[0]["value"]
    sent = value("counters", "Ip6OutRequests")
    ktap.true(sent > 0, "packets were sent")
    dropped = value("drops", "NO_SOCKET")
    datagram(A, ("::1", 9))
    ktap.wait_for(5, "one more is sent", lambda: value("counters", "Ip6OutRequests") > sent)
    ktap.wait_for(5, "it is dropped", lambda: value("drops", "NO_SOCKET") > dropped)
    for entry in show(A, "drops"):
        ktap.true(entry["text"] and entry["name"].isupper(), "each has name and sentence")
    ktap.true("no socket for this port" in ctl(A, "show", "drops"), "columns show the reason")


@ktap.test
def parameters_of_an_interface_are_set_and_wrong_ones_refused():
    ctl(A, "set", "dev", "a0", "mtu", "1400", "hop-limit", "5", "dad-transmits", "0",
        "accept-ra", "off", "autoconf", "off", "reachable", "60000", "retrans", "500")
    entry = show(A, "interfaces", "dev", "a0")[0]
    ktap.equal([entry[k] for k in ("mtu", "hop_limit", "dad_transmits", "accept_ra", "autoconf",
                                   "base_reachable", "retrans")],
               [1400, 5, 0, False, False, 60000, 500], "parameters")
    ktap.true(29000 <= entry["reachable"] <= 91000, "ReachableTime within its bounds")
    ctl(A, "add", "address", "fd00:4::1/64", "dev", "a0")
    ktap.equal(len(having(show(A, "addresses"), address="fd00:4::1", state="preferred")), 1,
               "without DAD the address is there at once")
    ctl(A, "set", "dev", "a0", "mtu", "0", "hop-limit", "64", "dad-transmits", "1",
        "accept-ra", "on", "autoconf", "on", "reachable", "30000", "retrans", "1000")
    ktap.equal(show(A, "interfaces", "dev", "a0")[0]["mtu"], 1500, "the device's MTU is back")
    for bad in (("mtu", "1279"), ("mtu", "1501"), ("mtu", "70000"), ("hop-limit", "0"),
                ("hop-limit", "256"), ("dad-transmits", "17"), ("accept-ra", "maybe"),
                ("reachable", "0"), ("reachable", "3600001"), ("retrans", "0"),
                ("mtu", "x"), ("mtu",), ("color", "1")):
        refused(A, "set", "dev", "a0", *bad)
    ktap.true("1280" in refused(A, "set", "dev", "a0", "mtu", "1000"), "the words say why")


@ktap.test
def limits_are_set_and_wrong_ones_refused():
    before = show(A, "limits")[0]
    ctl(A, "set", "limits", "max-neighs", "2000", "icmp-rate", "0")
    after = show(A, "limits")[0]
    ktap.equal(after, {**before, "max_neighs": 2000, "icmp_rate": 0}, "limits")
    ktap.equal(show(B, "limits")[0], before, "the other namespace keeps its own")
    for bad in (("max-neighs", "15"), ("max-neighs", "65537"), ("max-addrs", "0"),
                ("neigh-queue", "0"), ("icmp-rate", "1000001"), ("max-dests", "-1"),
                ("frag-memory", "65535"), ("frag-timeout", "0"), ("frag-timeout", "61")):
        refused(A, "set", "limits", *bad)
    ctl(A, "set", "limits", "max-neighs", str(before["max_neighs"]),
        "icmp-rate", str(before["icmp_rate"]))


@ktap.test
def what_is_set_by_hand_has_a_limit():
    def fill():
        """How many addresses there is room for."""
        before = nd.counter(A, "NdManualLimit")
        for n in range(1, 32):
            if subprocess.run(
                    (TOOL, "-N", A.name, "add", "address", f"fd00:77::{n:x}/128", "dev", "a0"),
                    capture_output=True, check=False).returncode:
                break
        for kind, what in (("address", "fd00:77::99/128"), ("prefix", "fd00:79::/64")):
            refused(A, "add", kind, what, "dev", "a0")
        refused(A, "add", "route", "default", "via", "fe80::9a", "dev", "a0")
        ktap.equal(nd.counter(A, "NdManualLimit") - before, 4, "NdManualLimit")
        for i in range(1, n):
            ctl(A, "del", "address", f"fd00:77::{i:x}/128", "dev", "a0")
        return n - 1

    ctl(A, "set", "limits", "max-manual", "30")
    room = fill()
    ktap.true(0 < room <= 30, f"room for {room}")
    ktap.equal(fill(), room, "room when they are gone")
    for verb in ("add", "del"):
        ctl(A, verb, "prefix", "fd00:77::/64", "dev", "a0")
        ctl(A, verb, "route", "default", "via", "fe80::99", "dev", "a0")
        # An address has its prefix with it.
        ctl(A, verb, "address", "fd00:78::1/64", "dev", "a0")
        ktap.equal(fill(), room - 4 * (verb == "add"), f"room after {verb}")
    ctl(A, "set", "limits", "max-manual", "0")
    ktap.true("max-manual" in refused(A, "add", "address", "fd00:77::1/64", "dev", "a0"), "words")
    ctl(A, "add", "neighbor", "fd00:77::1", "lladdr", "02:00:00:00:00:77", "dev", "a0")
    ctl(A, "del", "neighbor", "fd00:77::1", "dev", "a0")
    ctl(A, "set", "limits", "max-manual", "16384")


@ktap.test
def addresses_are_flushed_but_for_the_link_local_one():
    ctl(A, "add", "address", "fd00:5::1/64", "dev", "a0")
    ctl(A, "add", "address", "fd00:5::2/64", "dev", "a0")
    ctl(A, "flush", "addresses", "dev", "a0")
    ktap.equal([e["origin"] for e in show(A, "addresses", "dev", "a0")], ["link-local"],
               "what is left")
    ktap.equal(len(having(show(A, "addresses"), address="::1")), 1, "::1 is left")


@ktap.test
def a_device_is_detached_and_attached():
    ctl(A, "detach", "dev", "a0")
    ktap.equal([e["dev"] for e in show(A, "interfaces")], ["lo"], "interfaces")
    ktap.equal([e["address"] for e in show(A, "addresses")], ["::1"], "addresses")
    ktap.true("does not run" in refused(A, "detach", "dev", "a0"), "cannot be detached twice")
    ktap.true("does not run" in refused(A, "add", "address", "fd00::1/64", "dev", "a0"),
              "no address on it")
    ctl(A, "attach", "dev", "a0")
    ktap.true("already" in refused(A, "attach", "dev", "a0"), "cannot be attached twice")
    ktap.wait_for(10, "it has a link-local address again", lambda: link_local(A, "a0"))
    ktap.true("pseudo-loopback" in refused(A, "detach", "dev", "lo"), "lo stays")


@ktap.test
def monitor_tells_of_changes():
    process = A.popen(TOOL, "-j", "monitor", stdout=subprocess.PIPE, text=True)

    def membership():
        lines = A.run("cat", "/proc/self/net/netlink").splitlines()
        return any(line.split()[1] == "16" and int(line.split()[3], 16) for line in lines[1:])
    ktap.wait_for(10, "it listens", membership)
    ctl(A, "add", "address", "fd00:6::1/64", "dev", "a0")
    seen = []
    while not having(seen, object="address", address="fd00:6::1", state="preferred"):
        seen.append(json.loads(process.stdout.readline()))
    ktap.equal(len(having(seen, event="new", object="address", address="fd00:6::1")), 1, "new")
    ktap.equal(len(having(seen, event="new", object="prefix", address="fd00:6::")), 1, "prefix")
    ctl(A, "add", "route", "default", "via", "fe80::7", "dev", "a0")
    ctl(A, "del", "route", "default", "via", "fe80::7", "dev", "a0")
    ctl(A, "add", "neighbor", "fd00:6::9", "lladdr", "02:00:00:00:00:09", "dev", "a0")
    ctl(A, "del", "neighbor", "fd00:6::9", "dev", "a0")
    ctl(A, "del", "address", "fd00:6::1", "dev", "a0")
    while not having(seen, event="del", object="address", address="fd00:6::1"):
        seen.append(json.loads(process.stdout.readline()))
    for event in ("new", "del"):
        ktap.equal(len(having(seen, event=event, object="router", address="fe80::7")), 1,
                   f"{event} router")
    ktap.equal(len(having(seen, event="change", object="neighbor", address="fd00:6::9",
                          state="permanent")), 1, "permanent neighbor")
    ktap.equal(len(having(seen, event="del", object="neighbor", address="fd00:6::9")), 1,
               "neighbor gone")
    process.kill()


@ktap.test
def module_and_tools_are_of_one_version_and_know_help():
    def text(path):
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    version = text(f"{TOP}/VERSION")
    ktap.equal(text("/sys/module/net6/version"), version, "net6")
    for name in ("net6ctl", "khttpdctl", "khttpd-tlsd", "net6-run"):
        tool = f"{TOP}/tools/{name}"
        ktap.equal(ktap.run(tool, "--version"), f"{name} {version}\n", f"{name} --version")
        ktap.true(ktap.run(tool, "--help").startswith(f"usage: {name} "), f"{name} --help")


@ktap.test
def another_namespace_is_reached_by_name():
    ktap.equal(json.loads(ktap.run(TOOL, "-j", "-N", B.name, "show", "interfaces", "dev",
                                   "b0"))[0]["dev"], "b0", "-N NAME")
    ktap.equal(having(show(B, "addresses"), dev="a0"), [], "B does not see A's")
    done = subprocess.run((TOOL, "-N", "no-such-one", "show", "limits"), text=True,
                          capture_output=True, check=False)
    ktap.equal(done.returncode, 1, "status for a namespace that is not there")


CONF = "/tmp/net6.conf"


def write(*lines):
    with open(CONF, "w", encoding="ascii") as file:
        file.write("".join(line + "\n" for line in lines))


def unlike_the_beginning():
    """Words and values of all parameters that have several, and of all limits, none as in the
    beginning.
    """
    with open(f"{TOP}/tools/ctl/settings_gen.h", encoding="ascii") as file:
        found = re.findall(r'{ "([\w-]+)", NET6_A_(\w+?)_\w+, \w+, (-?\d+), (\d+), (-?\d+) }',
                           file.read())
    words = {"IFACE": [], "LIMITS": []}
    for word, kind, least, most, initial in found:
        if word not in ("mtu", "disable-ipv6") and least != most:
            value = int(initial) + (1 if int(initial) < int(most) else -1)
            words[kind] += [word, str(value)]
    return words["IFACE"] + ["mtu", "1400"], words["LIMITS"]


def set_everything():
    iface, limits = unlike_the_beginning()
    ktap.true(len(iface) > 80 and len(limits) > 40, "parameters and limits are found")
    ctl(A, "set", "limits", *limits)
    ctl(A, "set", "dev", "a0", *iface)
    ctl(A, "set", "dev", "lo", "hop-limit", "33")
    ctl(A, "del", "policy", "3ffe::/16")
    ctl(A, "add", "policy", "2002::/16", "label", "7")
    ctl(A, "add", "policy", "fd00:8::/32", "label", "77", "precedence", "8")
    ctl(A, "tunnel", "add", "six", "remote", "192.0.2.7", "local", "192.0.2.1", "ttl", "9",
        "tos", "inherit", "pmtu", "off")
    ctl(A, "tunnel", "add", "seven", "remote", "192.0.2.8", "router", "off")
    ctl(A, "set", "dev", "six", "hop-limit", "7")
    ctl(A, "add", "address", "fd00:8::1/64", "dev", "a0")
    ctl(A, "add", "address", "fd00:9::1/128", "dev", "six")
    ctl(A, "add", "prefix", "fd00:a::/48", "dev", "a0")
    ctl(A, "add", "route", "default", "via", "fe80::8", "dev", "a0", "preference", "low",
        "initcwnd", "20", "congctl", "lock", "reno")
    ctl(A, "add", "route", "fd00:b::/32", "via", "fe80::9", "dev", "a0", "preference", "high",
        "mtu", "lock", "1400", "rtt", "2.125ms", "features", "ecn")
    ctl(A, "add", "route", "fd00:c::/32", "dev", "six", "src", "fd00:8::1")
    ctl(A, "add", "route", "fd00:d::/32", "mtu", "1400", "nexthop", "via", "fe80::9", "dev", "a0",
        "weight", "7", "nexthop", "via", "fe80::a", "dev", "a0")
    ctl(A, "add", "neighbor", "fe80::8", "lladdr", "02:00:00:00:00:08", "dev", "a0")
    ctl(A, "add", "proxy", "fd00:8::5", "dev", "a0", "router", "on")


WRONG = (
    "add address fd00::/200 dev a0", "add address ff02::9/64 dev a0",
    "add address ::1/128 dev a0", "add address fd00:8::9/64 dev a0 valid 5 preferred 6",
    "add address fd00:8::9/64 dev none", "add address fd00:8::9/64 dev a0 color blue",
    "add prefix fd00:a::1/64 dev a0", "add prefix fe80::/64 dev a0",
    "add route default via fd00::1 dev a0", "add route default via fe80::1 dev lo",
    "add route fd00:b::1/32 dev a0", "add route fd00:d::/32 via ff02::1 dev a0",
    "add route fd00:b::/32 dev a0 src fd00:8::1/64", "add route fd00:b::/32 dev a0 src",
    "add route fd00:b::/32 dev a0 mtu none", "add route fd00:b::/32 dev a0 initcwnd",
    "add neighbor fd00:8::7 lladdr 02:00:00:00:00 dev a0",
    "add neighbor fd00:8::7 lladdr 02:00:00:00:00:07 dev lo", "add proxy ff02::1 dev a0",
    "add policy fd00::1/8 label 1", "add policy fd00::/16", "set dev a0 mtu 70000",
    "set dev a0 mtu 1279", "set dev a0 hop-limit 0", "set dev a0 hop-limit", "set dev a0",
    "set dev a0 color 1", "set limits max-neighs 65537", "set limits max-neighs -1",
    "set secret -", "set secret 00", "tunnel add a0 remote 192.0.2.9", "tunnel add nine",
    "tunnel add nine remote 224.0.0.1", "tunnel add nine remote 192.0.2.9 local 192.0.2.9",
    "tunnel add nine remote 192.0.2.7 local 192.0.2.1", "tunnel set a0 ttl 5", "attach dev lo",
    "show addresses", "monitor", "load /tmp/net6.conf", "del socket orphan", "flush sockets",
    "nonsense")


def a_wrong_line_changes_nothing(text):
    good = ("add address fd00:99::1/64 dev a0", "# a comment")
    write(*good, *WRONG)
    words = refused(A, "load", CONF)
    for number, bad in enumerate(WRONG, len(good) + 1):
        ktap.equal(words.count(f"{CONF}:{number}: "), 1, f"{bad}: {words}")
    ktap.true("nothing was changed" in words, words)
    write(*good, WRONG[0])
    refused(A, "load", CONF)
    ktap.equal(ctl(A, "save"), text, "nothing was changed")


@ktap.test
def what_was_saved_is_loaded_again():
    set_everything()
    ctl(A, "save", CONF)
    with open(CONF, encoding="ascii") as file:
        text = file.read()
    ktap.equal(ctl(A, "save"), text, "in a file or not")
    for _ in range(2):
        ctl(A, "load", CONF)
        ktap.equal(ctl(A, "save"), text, "saved again")
    ktap.unload("net6")
    ktap.net6_load()
    ktap.true(ctl(A, "save") != text, "the settings are gone")
    ctl(A, "load", CONF)
    ktap.equal(ctl(A, "save"), text, "loaded, saved again")
    ktap.wait_for(20, "DAD ends", lambda: having(show(A, "addresses"), address="fd00:8::1",
                                                 state="preferred"))
    ctl(A, "load", CONF)
    ktap.equal(len(having(show(A, "addresses"), address="fd00:8::1", state="preferred")), 1,
               "what is as it should be is left alone")
    a_wrong_line_changes_nothing(text)
    # Other values than those of the file go, what the file does not name stays.
    ctl(A, "set", "dev", "a0", "hop-limit", "99")
    ctl(A, "tunnel", "set", "seven", "ttl", "3")
    ctl(A, "del", "address", "fd00:8::1", "dev", "a0")
    ctl(A, "add", "address", "fd00:8::1/72", "dev", "a0")
    write(*text.splitlines())
    ctl(A, "load", CONF)
    ktap.equal(ctl(A, "save"), text, "all is back")
    write("add address fd00:e::1/64 dev none", "add address fd00:f::1/64 dev a0")
    ctl(A, "load", "-m", CONF)
    ktap.equal(len(having(show(A, "addresses"), address="fd00:f::1")), 1, "-m loads the rest")


def doctor(ns):
    done = subprocess.run((TOOL, "-j", "-N", ns.name, "doctor"), text=True, capture_output=True,
                          check=False)
    found = json.loads(done.stdout)
    ktap.equal(done.returncode, int(any(e["level"] == "error" for e in found)), "status")
    return [(e["level"], e["about"], e["text"]) for e in found]


def told(found, level, about, text):
    ktap.true(any(e[:2] == (level, about) and text in e[2] for e in found), f"{text}: {found}")


@ktap.test
def doctor_says_what_is_in_the_way():
    found = doctor(B)
    ktap.equal([e for e in found if e[0] == "error"], [], "errors where all is well")
    told(found, "note", "native", "native IPv6 is on")
    B.run("ip", "link", "add", "br0", "type", "bridge")
    B.run("ip", "link", "add", "port", "master", "br0", "type", "dummy")
    B.run("ip", "link", "set", "port", "up")
    ctl(B, "set", "dev", "b0", "disable-ipv6", "on")
    found = doctor(B)
    told(found, "note", "device", "port is a port of a bridge")
    told(found, "error", "device", "IPv6 is off on b0")
    ktap.true("error: device: " in subprocess.run(
        (TOOL, "-N", B.name, "doctor"), text=True, capture_output=True, check=False).stdout,
              "for people")
    ctl(B, "set", "dev", "b0", "disable-ipv6", "off")
    B.run("ip", "link", "del", "br0")
    B.run("ip", "link", "del", "port")


@ktap.test
def changes_need_the_capability():
    def unprivileged(*words):
        return subprocess.run(("nsenter", f"--net=/run/netns/{A.name}", "setpriv",
                               "--bounding-set=-net_admin", "--inh-caps=-net_admin",
                               "--no-new-privs", TOOL) + words, text=True,
                              capture_output=True, check=False)
    done = unprivileged("add", "address", "fd00:7::1/64", "dev", "a0")
    ktap.equal((done.returncode, "CAP_NET_ADMIN" in done.stderr), (1, True), done.stderr)
    ktap.equal(unprivileged("show", "addresses").returncode, 0, "showing is for all")


@ktap.test
def without_the_module_it_says_so():
    ktap.unload("net6")
    done = subprocess.run((TOOL, "show", "addresses"), text=True, capture_output=True,
                          check=False)
    ktap.equal((done.returncode, done.stderr), (1, "net6ctl: net6 is not loaded "
                                                   "(modprobe net6)\n"), "words")
    told(doctor(A), "error", "module", "loaded")


ktap.main(setup=setup)
