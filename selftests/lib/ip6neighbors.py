# SPDX-License-Identifier: GPL-2.0
"""Neighbors that nobody asks for, and one neighbor that a program asks about. ip6_native.py runs
these tests on the native stack, ip6_takeover.py on net6: both are to give the same answers.
"""
import json
import socket
import time

import ktap

S = ktap.later("neighbors-S")
ETH_P_ALL, OTHER = 3, "02:00:00:00:00:99"


def frames(address, seconds=1.5):
    """Where the first frames go that a datagram to the address makes."""
    with S, socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as tap, \
            socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        tap.bind(("n0", ETH_P_ALL))
        tap.settimeout(0.2)
        end = time.monotonic() + seconds * ktap.SCALE
        sock.sendto(b"x", (address, 9))
        seen = []
        while time.monotonic() < end and not seen:
            try:
                frame = tap.recv(2000)
            except TimeoutError:
                continue
            # The datagram, or a solicitation: not a report of groups.
            if frame[20] == socket.IPPROTO_UDP or frame[20] == 58 and frame[54] == 135:
                seen.append((frame[20], frame[:6].hex(":")))
        return seen


def shown(*words):
    out = S.run("ip", "-6", "-j", *words)
    return json.loads(out) if out.strip() else []


def setup():
    if S.run("ip", "link", "show", "n0", check=False).find("does not exist") >= 0:
        ktap.kmod("dummy")
        S.up("lo")
        S.ip("link", "add", "n0", "address", "02:00:00:00:00:5a", "type", "dummy")
        S.up("n0")


def without_arp():
    """A dummy device: addresses are good at once, and packets go to its own address."""
    setup()
    S.ip("-6", "addr", "add", "fd6d::1/64", "dev", "n0")
    address = shown("addr", "show", "dev", "n0", "to", "fd6d::1")[0]["addr_info"][0]
    ktap.true("tentative" not in address, f"{address}")
    own = "02:00:00:00:00:5a"
    ktap.equal(frames("fd6d::9"), [(socket.IPPROTO_UDP, own)], "to its own address")
    S.ip("link", "set", "n0", "arp", "on")
    ktap.equal(frames("fd6d::9"), [(58, "33:33:ff:00:00:09")], "who has ARP is asked")
    S.ip("link", "set", "n0", "arp", "off")
    ktap.equal(frames("fd6d::9"), [(socket.IPPROTO_UDP, own)], "to its own address again")
    S.ip("link", "set", "n0", "address", "02:00:00:00:00:5b")
    ktap.equal(frames("fd6d::9"), [(socket.IPPROTO_UDP, "02:00:00:00:00:5b")], "to another one")
    S.ip("link", "set", "n0", "address", own)
    S.ip("-6", "addr", "del", "fd6d::1/64", "dev", "n0")


def asked():
    """One neighbor, one proxied address."""
    setup()
    for kind, words in (("", ("lladdr", OTHER, "nud", "permanent")), ("proxy", ())):
        kinds = (kind,) if kind else ()
        ktap.true("not found" in S.run("ip", "-6", "neigh", "get", *kinds, "fd6d::7", "dev", "n0",
                                       check=False), f"there is none: {kind}")
        S.ip("-6", "neigh", "add", *kinds, "fd6d::7", *words, "dev", "n0")
        found = S.run("ip", "-6", "neigh", "get", *kinds, "fd6d::7", "dev", "n0").split()
        ktap.equal(found, ["fd6d::7", "dev", "n0"] + (["proxy"] if kind else
                                                      ["lladdr", OTHER, "PERMANENT"]), "found")
        S.ip("-6", "neigh", "del", *kinds, "fd6d::7", "dev", "n0")


def states():
    """A neighbor is made in a state, and is changed; what it turns to by itself."""
    setup()
    S.ip("link", "set", "n0", "arp", "on")

    def now():
        found = [n for n in shown("neigh", "show", "dev", "n0") if n["dst"] == "fd6d::8"]
        return (found[0]["state"], found[0].get("lladdr")) if found else None

    def said(*words):
        return S.run("ip", "-6", "neigh", *words, "fd6d::8", "dev", "n0", check=False)
    S.ip("-6", "neigh", "add", "fd6d::8", "lladdr", OTHER, "nud", "stale", "dev", "n0")
    ktap.equal(now(), (["STALE"], OTHER), "added")
    ktap.true("File exists" in S.run("ip", "-6", "neigh", "add", "fd6d::8", "lladdr", OTHER, "dev",
                                     "n0", check=False), "added again")
    for nud, state in (("reachable", "REACHABLE"), ("permanent", "PERMANENT"),
                       ("stale", "STALE"), ("reachable", "REACHABLE")):
        S.ip("-6", "neigh", "change", "fd6d::8", "dev", "n0", "nud", nud)
        ktap.equal(now(), ([state], OTHER), f"changed to {nud}")
    S.ip("-6", "neigh", "replace", "fd6d::8", "lladdr", "02:00:00:00:00:98", "dev", "n0", "nud",
         "probe")
    ktap.equal(now()[1], "02:00:00:00:00:98", "another address")
    ktap.wait_for(15, "nobody has answered", lambda: now() is None or now()[0] == ["FAILED"])
    ktap.true("No such file" in S.run("ip", "-6", "neigh", "change", "fd6d::88", "dev", "n0", "nud",
                                      "stale", check=False), "there is no such neighbor")
    said("del")
    S.ip("link", "set", "n0", "arp", "off")


def tests():
    ktap.test("who has no arp is not asked")(without_arp)
    ktap.test("a neighbor that a program asks about")(asked)
    ktap.test("a neighbor in each state")(states)
