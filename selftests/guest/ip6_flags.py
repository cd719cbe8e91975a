#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# With native IPv6 switched off: what iproute2 and configuration daemons ask of rtnetlink
# about addresses and interfaces follows the settings; and a route's reserved preference.
#
#	A [a0 net6] ------ [b0 raw frames, a router] B
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 90

import errno
import json
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import conf
import ktap
import nd
import nl

PREFIX = "2001:db8:21::"
NEWROUTE, GETLINK = 24, 18
ACK, CREATE = 5, 0x400
AF_SPEC, INET6_CONF = 26, 2
# DEVCONF_* of linux/ipv6.h
CONF = {"accept_redirects": 4, "router_solicitations": 7, "accept_ra_defrtr": 17,
        "accept_ra_pinfo": 18, "accept_dad": 27}
A, B, wire = nd.ends()


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    conf.use(A, "a0")
    nd.linklocal(A)


def shown():
    """{address: what ip says of it}"""
    return {item["local"]: item for link in json.loads(A.ip("-j", "-6", "addr", "show", "a0"))
            for item in link["addr_info"]}


@ktap.test
def temporary_and_stable_addresses_are_told_apart():
    for mode, private in ((2, True), (0, False)):
        A.down("a0")
        with conf.Set(addr_gen_mode=mode, use_tempaddr=2):
            A.up("a0")
            nd.linklocal(A)
            wire.send(nd.ra(wire.linklocal, options=nd.prefix_option(PREFIX)))
            origins = ktap.wait_for(10, "both addresses are there", both)
            for address, origin in origins.items():
                item = shown()[address]
                ktap.equal(bool(item.get("temporary")), origin == "temporary", f"{item}")
                ktap.equal(bool(item.get("stable-privacy")), private and origin != "temporary",
                           f"mode {mode}: {item}")


def both():
    found = {a["address"]: a["origin"] for a in nd.show(A, "addresses")
             if a.get("dev") == "a0" and a["origin"] in ("slaac", "temporary", "link-local")}
    return found if {"slaac", "temporary"} <= set(found.values()) else None


def request(kind, body):
    with A, socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        flags = ACK | CREATE if kind == NEWROUTE else 1
        sock.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        return sock.recv(65536)


def index():
    with A:
        return socket.if_nametoindex("a0")


def link_conf():
    answer = request(GETLINK, struct.pack("=BBHiII", 0, 0, 0, index(), 0, 0))
    spec = dict(nl.attributes(answer[32:]))[AF_SPEC]
    inet6 = dict(nl.attributes(spec))[socket.AF_INET6]
    raw = dict(nl.attributes(inet6))[INET6_CONF]
    return struct.unpack(f"={len(raw) // 4}i", raw)


@ktap.test
def a_link_tells_its_settings():
    for name, place in CONF.items():
        for value in (0, 1):
            conf.write(name, value)
            ktap.equal(link_conf()[place], value, name)
    for mode, word in ((0, "eui64"), (1, "none"), (3, "random"), (2, "stable_secret")):
        conf.write("addr_gen_mode", mode)
        said = json.loads(A.ip("-d", "-j", "link", "show", "a0"))[0]["inet6_addr_gen_mode"]
        ktap.equal(said, word, f"addr_gen_mode {mode}")


@ktap.test
def the_reserved_preference_is_medium():
    gateway, far = "fe80::77", "2001:db8:99::1"
    body = struct.pack("=BBBBBBBBI", socket.AF_INET6, 0, 0, 0, 254, 4, 0, 1, 0)
    body += nl.attribute(5, nd.packed(gateway)) + nl.attribute(4, index())
    body += nl.attribute(20, b"\2")
    answer = request(NEWROUTE, body)
    ktap.equal(struct.unpack_from("=i", answer, 16)[0], 0, "route is added")
    routers = [r for r in nd.show(A, "routers") if r["address"] == gateway]
    ktap.equal([r["preference"] for r in routers], [0], f"{routers}")
    with ktap.net6_socket(socket.SOCK_DGRAM, ns=A) as sock:
        for _ in range(2):
            try:
                sock.sendto(b"x", (far, 9))
            except OSError as error:
                ktap.true(error.errno != errno.ENETUNREACH, f"{error}")
            wire.collect(lambda f: f.type == nd.NS, 4)


ktap.main(setup=setup)
