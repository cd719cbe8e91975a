#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Routing tables and rules beside native IPv6, by net6ctl: they are told, saved and loaded, and
# packets of net6's sockets go by them. Native's own rules are not touched.
#
#	A [a0 net6 fd70::1] ------ [b0 net6 fd70::2] B	B has fd72::1
#	A [a1 net6 fd71::1] ------ [b1 net6 fd71::2] B
#
# guest: both
# timeout: 120
import json
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

A, B = ktap.later("A"), ktap.later("B")
FAR, PKTINFO, RECVPKTINFO = "fd72::1", 50, 49
BEGIN = ["preference 0 lookup local", "preference 32766 lookup main"]


def setup():
    ktap.net6_load()
    for ns in (A, B):
        ns.up("lo")
    for i in range(2):
        ktap.veth(A, f"a{i}", B, f"b{i}")
        for ns, dev, host in ((A, f"a{i}", 1), (B, f"b{i}", 2)):
            nd.net6ctl(ns, "set", "dev", dev, "dad-transmits", "0")
            nd.net6ctl(ns, "add", "address", f"fd7{i}::{host}/64", "dev", dev)
    nd.net6ctl(B, "add", "address", f"{FAR}/128", "dev", "b0")
    nd.net6ctl(A, "add", "route", "fd72::/64", "via", "fd70::2", "dev", "a0")


def rules():
    return [one["rule"] for one in json.loads(nd.net6ctl(A, "-j", "show", "rules"))]


def refused(*words):
    try:
        nd.net6ctl(A, *words)
    except ktap.Fail as fail:
        return str(fail)
    return ""


def native():
    return A.run("ip", "-6", "rule", "show")


@ktap.test
def told_as_they_were_added():
    before = native()
    ktap.equal(rules(), BEGIN, "at the beginning")
    more = ("preference 10 from fd70::/64 lookup 100", "preference 11 to fd72::1/128 lookup 100",
            "preference 12 iif a0 oif a1 lookup 1000", "preference 13 fwmark 0x10/0xf0 lookup 100",
            "preference 14 uidrange 1000-1001 lookup 100", "preference 15 not tos 16 prohibit",
            "preference 16 ipproto 17 sport 10-20 dport 53-53 blackhole",
            "preference 17 lookup main suppress_prefixlength 0", "preference 18 goto 32766",
            "preference 19 unreachable", "preference 20 nop")
    for one in more:
        nd.net6ctl(A, "add", "rule", *one.split())
    ktap.equal(rules(), [BEGIN[0], *more, BEGIN[1]], "rules")
    ktap.true("exists" in refused("add", "rule", *more[0].split()), "once only")
    for one in more:
        nd.net6ctl(A, "del", "rule", *one.split())
    ktap.equal(rules(), BEGIN, "none is left")
    for wrong in ("lookup 0", "from fd70::1", "sport 5-3 lookup 100", "tos 1 lookup 100",
                  "lookup 100 nop", "goto 5 preference 10", "fwmark x lookup 100", "from"):
        ktap.true(refused("add", "rule", *wrong.split()), f"refused: {wrong}")
    ktap.true("No such file" in refused("del", "rule", "preference", "77"), "nothing to remove")
    ktap.equal(native(), before, "native's rules")


def sent(mark, wanted, what):
    """By which device a datagram with a mark arrives."""
    with B:
        names = {socket.if_nametoindex(f"b{i}"): f"b{i}" for i in range(2)}
        far = ktap.net6_socket(socket.SOCK_DGRAM)
        far.setsockopt(socket.IPPROTO_IPV6, RECVPKTINFO, 1)
        far.settimeout(10 * ktap.SCALE)
    with A:
        near = ktap.net6_socket(socket.SOCK_DGRAM)
    with far, near:
        far.bind(("::", 7070))
        near.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
        near.sendto(b"x", (FAR, 7070))
        _, ancillary, _, _ = far.recvmsg(100, 100)
        info = next(d for _, kind, d in ancillary if kind == PKTINFO)
        ktap.equal(names[struct.unpack("=16sI", info)[1]], wanted, what)


@ktap.test
def packets_go_by_them():
    nd.net6ctl(A, "add", "route", "default", "via", "fd71::2", "dev", "a1", "table", "100")
    ktap.equal([(r["address"], r["prefix_len"], r.get("table")) for r in nd.show(A, "routes")],
               [("::", 0, 100), ("fd72::", 64, None)], "routes")
    sent(5, "b0", "no rule")
    nd.net6ctl(A, "add", "rule", "fwmark", "5", "lookup", "100")
    sent(5, "b1", "by a mark")
    sent(6, "b0", "by another one")
    nd.net6ctl(A, "del", "rule", "fwmark", "5", "lookup", "100")
    sent(5, "b0", "no rule any more")
    nd.net6ctl(A, "del", "route", "default", "via", "fd71::2", "dev", "a1", "table", "100")


@ktap.test
def saved_and_loaded():
    for words in ("route default via fd71::2 dev a1 table 100",
                  "route fd72::/64 dev a1 table 101", "rule fwmark 5 lookup 100",
                  "rule from fd70::/64 lookup 101 preference 9"):
        nd.net6ctl(A, "add", *words.split())
    nd.net6ctl(A, "del", "rule", "preference", "32766")
    state = rules(), nd.show(A, "routes")
    nd.net6ctl(A, "save", "/tmp/rules.conf")
    nd.net6ctl(A, "del", "rule", "fwmark", "5", "lookup", "100")
    nd.net6ctl(A, "del", "rule", "preference", "9")
    nd.net6ctl(A, "add", "rule", *BEGIN[1].split())
    for words in ("default via fd71::2 dev a1 table 100", "fd72::/64 dev a1 table 101"):
        nd.net6ctl(A, "del", "route", *words.split())
    ktap.equal(rules(), BEGIN, "none is left")
    for _ in range(2):
        nd.net6ctl(A, "load", "/tmp/rules.conf")
        ktap.equal((rules(), nd.show(A, "routes")), state, "as saved")


ktap.main(setup=setup)
