#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Devices on top of the host's own, where net6 is its only IPv6: the host keeps its addresses, and
# containers behind macvlan and ipvlan have theirs. What hands packets to native's routing table
# (ipvlan's layer 3) gets none: the kernel would not survive it.
#
#	H [h0] ------ [b0] B	both on net6, fd00::a and fd00::b
#	   | a device on top of it, in C
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 240
import contextlib
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import mld
import nd

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
H, B, C, D = (ktap.later(name) for name in "HBCD")
HOST, PEER = "fd00::a", "fd00::b"


def setup():
    ktap.net6_load()
    ktap.kmod("dummy")
    ktap.veth(H, "h0", B, "b0")
    for ns, dev, address in ((H, "h0", HOST), (B, "b0", PEER)):
        ns.ip("-6", "addr", "add", address + "/64", "dev", dev, "nodad")
    for ns in C, D:
        ns.up("lo")
    ktap.wait_for(20, "the peer answers", lambda: answers(H, PEER))


def said(ns, *words):
    """What `ip` says when it fails, None if it does not."""
    with ns:
        done = subprocess.run(("ip", *words), capture_output=True, text=True, check=False)
    return (done.stderr.strip() or "failed") if done.returncode else None


def answers(ns, address):
    with ns:
        return not subprocess.run(("ping", "-6", "-c", "1", "-W", str(3 * ktap.SCALE), address),
                                  capture_output=True, check=False).returncode


def reaches(ns, address):
    ktap.wait_for(20, f"{address} answers", lambda: answers(ns, address))


def doctor():
    done = subprocess.run((os.path.join(TOP, "tools/net6ctl"), "-j", "-N", H.name, "doctor"),
                          capture_output=True, text=True, check=False)
    return " ".join(entry["text"] for entry in json.loads(done.stdout))


def addresses(ns, dev):
    return ns.ip("-6", "addr", "show", "dev", dev)


@contextlib.contextmanager
def on_top(kind, *words, name="top", ns=None):
    """A device on top of H's, in @ns if given."""
    ktap.need(kind)
    H.ip("link", "add", "link", "h0", "name", name, "type", kind, *words)
    place = ns or H
    try:
        if ns:
            H.ip("link", "set", name, "netns", ns.name)
        yield place
    finally:
        said(place, "link", "del", name)


def keeps(kind, *words, address=None):
    """The host has its address before, while and after, and goes on to talk."""
    with on_top(kind, *words, ns=C):
        C.up("top")
        if address:
            C.ip("-6", "addr", "add", address + "/64", "dev", "top", "nodad")
            reaches(B, address)
            reaches(C, PEER)
        ktap.true(HOST in addresses(H, "h0"), f"with {kind}: {addresses(H, 'h0')}")
        reaches(B, HOST)
    ktap.true(HOST in addresses(H, "h0"), f"after {kind}: {addresses(H, 'h0')}")
    reaches(B, HOST)


@ktap.test
def the_host_keeps_its_address_under_macvlan():
    keeps("macvlan", "mode", "bridge", address="fd00::c1")


@ktap.test
def the_host_keeps_its_address_under_macvtap():
    keeps("macvtap", "mode", "bridge")


@ktap.test
def the_host_keeps_its_address_under_ipvlan():
    ktap.native_asks_nobody()
    keeps("ipvlan", "mode", "l2", address="fd00::c2")


@ktap.test
def the_host_keeps_its_address_under_macsec():
    keeps("macsec", "encrypt", "off")


@ktap.test
def two_of_ipvlan_have_addresses_of_their_own():
    """They share a hardware address: identifiers made of it differ, and reach the peer."""
    ktap.native_asks_nobody()
    with on_top("ipvlan", "mode", "l2", ns=C), \
            on_top("ipvlan", "mode", "l2", name="top2", ns=D):
        for ns, dev, address in ((C, "top", "fd00::c3"), (D, "top2", "fd00::c4")):
            ns.ip("link", "set", dev, "addrgenmode", "eui64")
            ns.up(dev)
            ns.ip("-6", "addr", "add", address + "/64", "dev", dev, "nodad")
        ktap.wait_for(20, "link-local addresses", lambda: all(
            "fe80" in addresses(ns, dev) and "tentative" not in addresses(ns, dev)
            for ns, dev in ((C, "top"), (D, "top2"))))
        local = [line.split()[1] for ns, dev in ((C, "top"), (D, "top2"))
                 for line in addresses(ns, dev).splitlines() if "fe80" in line]
        ktap.equal(len(set(local)), 2, f"link-local addresses that differ: {local}")
        for ns, address in ((C, "fd00::c4"), (D, "fd00::c3"), (C, PEER), (D, PEER)):
            reaches(ns, address)


@ktap.test
def an_address_of_another_of_ipvlan_is_refused():
    ktap.native_asks_nobody()
    with on_top("ipvlan", "mode", "l2", ns=C), \
            on_top("ipvlan", "mode", "l2", name="top2", ns=D):
        C.up("top")
        D.up("top2")
        C.ip("-6", "addr", "add", "fd00::c5/64", "dev", "top", "nodad")
        error = said(D, "-6", "addr", "add", "fd00::c5/64", "dev", "top2", "nodad")
        ktap.true(error and "already assigned to an ipvlan device" in error, f"says: {error}")
        ktap.equal(said(C, "-6", "addr", "replace", "fd00::c5/64", "dev", "top", "valid_lft",
                        "600", "preferred_lft", "300"), None, "its own is changed")
        C.ip("-6", "addr", "del", "fd00::c5/64", "dev", "top")
        ktap.equal(said(D, "-6", "addr", "add", "fd00::c5/64", "dev", "top2", "nodad"), None,
                   "it is free")
        reaches(B, "fd00::c5")


@ktap.test
def a_namespace_ends_with_addresses_on_ipvlan():
    """What ipvlan has heard of it forgets: the next one gets the same address."""
    ktap.native_asks_nobody()
    ktap.need("ipvlan")
    for number in range(3):
        ended = ktap.Netns(f"E{number}")
        H.ip("link", "add", "link", "h0", "name", "top", "netns", ended.name, "type", "ipvlan",
             "mode", "l2")
        ended.up("top")
        ktap.wait_for(20, "the address can be had", lambda ns=ended: not said(
            ns, "-6", "addr", "add", "fd00::c6/64", "dev", "top", "nodad"))
        reaches(B, "fd00::c6")
        ended.delete()


@ktap.test
def ipvlan_of_layer_3_sends_nothing():
    """Its mode may change at any time, and IFF_NOARP with it or alone."""
    with on_top("ipvlan", "mode", "l3"):
        H.up("top")
        H.ip("-6", "addr", "add", "fd01::1/64", "dev", "top", "nodad")

        def sends(whether, what):
            H.ip("-6", "neigh", "replace", "fd01::2", "lladdr", "02:00:00:00:00:01", "nud",
                 "permanent", "dev", "top")
            with H:
                done = subprocess.run(("ping", "-6", "-c", "1", "-W", "1", "fd01::2"),
                                      capture_output=True, text=True, check=False)
            ktap.equal("unreachable" not in done.stderr, whether, f"{what}: {done.stderr}")
        sends(False, "in mode l3")
        H.ip("link", "set", "top", "arp", "on")
        sends(False, "in mode l3 with ARP")
        H.ip("link", "set", "top", "type", "ipvlan", "mode", "l2")
        ktap.wait_for(20, "it runs in mode l2", lambda: "fe80" in addresses(H, "top"))
        sends(True, "in mode l2")
        for mode in "l3s", "l2", "l3":
            H.ip("link", "set", "top", "type", "ipvlan", "mode", mode)
            if mode == "l2":
                ktap.wait_for(20, "it runs again", lambda: "fe80" in addresses(H, "top"))
            sends(mode == "l2", f"in mode {mode}")


def conf(dev, name, value=None):
    """A parameter of an interface of H's; with @value it is set first."""
    with H, open(f"/proc/sys/net/ipv6/conf/{dev}/{name}", "r+", encoding="ascii") as file:
        if value is not None:
            file.write(str(value))
            file.flush()
            file.seek(0)
        return int(file.read())


@ktap.test
def a_bridges_port_keeps_what_was_set():
    """Container managers write parameters of the ports that they make (podman: accept_dad)."""
    ktap.need("bridge")
    conf("h0", "accept_ra", 0)
    H.ip("link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
    H.ip("link", "set", "h0", "master", "br0")
    H.up("br0")
    ktap.equal(conf("h0", "accept_ra"), 0, "accept_ra of the port")
    ktap.equal(conf("h0", "accept_dad", 0), 0, "accept_dad of the port")
    ktap.true(HOST in addresses(H, "h0"), f"the port's address: {addresses(H, 'h0')}")
    reaches(H, HOST)
    ktap.true(not answers(H, PEER), "nothing is sent by the port")
    H.ip("-6", "addr", "add", HOST + "/64", "dev", "br0", "nodad")
    reaches(H, PEER)
    H.ip("-6", "addr", "del", HOST + "/64", "dev", "br0")
    ktap.true("h0 is a port of a bridge" in doctor(), f"doctor: {doctor()}")
    H.ip("link", "set", "h0", "nomaster")
    reaches(B, HOST)
    ktap.equal((conf("h0", "accept_ra", 1), conf("h0", "accept_dad", 1)), (1, 1), "again")
    H.ip("link", "del", "br0")


@ktap.test
def br_netfilter_drops_nothing_or_doctor_says_so():
    ktap.need("br_netfilter")
    drops = ktap.KERNEL >= (7, 1)
    asked = "/proc/sys/net/bridge/bridge-nf-call-ip6tables"
    H.ip("link", "add", "br0", "type", "bridge")
    H.ip("link", "set", "h0", "master", "br0")
    H.up("br0")
    H.ip("-6", "addr", "add", HOST + "/64", "dev", "br0", "nodad")
    for value in "0", "1":
        with H, open(asked, "w", encoding="ascii") as file:
            file.write(value)
        wrong = drops and value == "1"
        ktap.equal("br_netfilter drops" in doctor(), wrong, f"with {value}: {doctor()}")
        if not wrong:
            reaches(B, HOST)
        else:
            ktap.true(not answers(B, HOST), "nothing comes through")
    with H, open(asked, "w", encoding="ascii") as file:
        file.write("0")
    H.ip("link", "del", "br0")
    reaches(B, HOST)


@ktap.test
def a_bridge_asks_for_groups():
    """Its own MLD queries have the source that net6 chooses, a link-local one (RFC 3810 5.1.14)."""
    ktap.need("bridge")
    H.ip("link", "add", "br1", "type", "bridge", "mcast_querier", "1",
         "mcast_startup_query_interval", "200", "mcast_query_interval", "200")
    ktap.veth(H, "q0", B, "q1")
    wire = nd.Wire(B, "q1")
    H.ip("link", "set", "q0", "master", "br1")
    H.up("br1")

    def linklocal():
        shown = json.loads(H.ip("-j", "-6", "addr", "show", "dev", "br1", "scope", "link",
                                "-tentative"))
        return [info["local"] for entry in shown for info in entry.get("addr_info", ())]
    ktap.wait_for(15, "the bridge has a link-local address", linklocal)
    query = wire.expect(lambda f: f.dest == nd.ALL_NODES and f.payload[8:9] == bytes([mld.QUERY]),
                        "a query", 40)
    ktap.equal(query.source, linklocal()[0], "its source")
    H.ip("link", "del", "br1")
    H.ip("link", "del", "q0")


@ktap.test
def net6_goes_and_comes_under_ipvlan():
    """ipvlan forgets all addresses: they can be set anew."""
    ktap.native_asks_nobody()
    with on_top("ipvlan", "mode", "l2", ns=C):
        for _ in range(2):
            C.up("top")
            C.ip("-6", "addr", "add", "fd00::c7/64", "dev", "top", "nodad")
            H.ip("-6", "addr", "replace", HOST + "/64", "dev", "h0", "nodad")
            B.ip("-6", "addr", "replace", PEER + "/64", "dev", "b0", "nodad")
            reaches(B, "fd00::c7")
            ktap.unload("net6")
            ktap.net6_load()
    for ns, dev, address in ((H, "h0", HOST), (B, "b0", PEER)):
        ns.ip("-6", "addr", "replace", address + "/64", "dev", dev, "nodad")


if __name__ == "__main__":
    ktap.main(setup)
