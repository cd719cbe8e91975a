#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The settings of a namespace under net.net6: what each changes, with two values of it. Time is
# virtual.
#
#	A [a0 net6 fd00::6] ------ [b0 raw frames as fd00::b] B
# guest: stock+
# guest-options: --virtual-time
# timeout: 200

import errno
import os
import socket
import struct
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import catalogue
import ip
import ktap
import mld
import nd
from ip import (DEST, FRAGMENT, HOP, ICMP, OURS, PEER, TOO_BIG, echo_message, fragment,
                ipv6, is_reply, options)

ANYCAST, OTHER = "fd00::77", "fd00::99"
JOIN_ANYCAST = 27
shared = types.SimpleNamespace(seq=1000)	# of the last request


def setup():
    catalogue.patiently(ip.setup)


def path(name):
    return "/proc/sys/net/net6/" + name


def read(name):
    with ip.A, open(path(name), encoding="ascii") as file:
        return int(file.read())


def write(name, value):
    with ip.A, open(path(name), "w", encoding="ascii") as file:
        file.write(str(value))


class Set:
    """A setting has a value, and then the one that it had."""

    def __init__(self, name, value):
        self.name, self.value, self.before = name, value, read(name)

    def __enter__(self):
        write(self.name, self.value)
        ktap.equal(read(self.name), self.value, self.name)

    def __exit__(self, *_):
        write(self.name, self.before)


def request(dest=OURS, data=b"net6"):
    shared.seq += 1
    return echo_message(dest=dest, data=data, seq=shared.seq)


def replied(packet):
    ip.wire.flush()
    ip.wire.send(packet)
    return ip.wire.expect(lambda f: is_reply(f) and f.seq == shared.seq, f"reply to {shared.seq}")


def refused(packet, code, pointer, what):
    ip.tokens()
    ip.expect_problem(packet, code, pointer, what)


def behind(head, opts):
    return ipv6(PEER, OURS, head, options(ICMP, opts) + request(), 64)


KNOWN = {HOP: b"\x05\x02\x00\x00", DEST: b"\x04\x01\x05"}	# Router Alert, encapsulation limit
UNKNOWN = b"\x1e\x04\x00\x00\x00\x00"			# action bits 00: passed over


@ktap.test
def number_of_options():
    for head, name in ((HOP, "max_hbh_opts_number"), (DEST, "max_dst_opts_number")):
        ktap.equal(read(name), 8, f"{name}, RFC 8504 5.3")
        replied(behind(head, UNKNOWN * 2))
        with Set(name, 1):
            replied(behind(head, UNKNOWN))
            refused(behind(head, UNKNOWN * 2), 9, 48, f"two options, {name} 1")
            replied(behind(HOP + DEST - head, UNKNOWN * 2))


@ktap.test
def unknown_options():
    for head, name in ((HOP, "max_hbh_opts_number"), (DEST, "max_dst_opts_number")):
        with Set(name, -8):
            replied(behind(head, KNOWN[head]))
            ip.expect_nothing(behind(head, UNKNOWN), "EXTHDR_OPTION", f"{name} -8")
            replied(behind(HOP + DEST - head, UNKNOWN))
            limit = nd.show(ip.A, "limits")[0]
            kind = "hbh" if head == HOP else "dst"
            ktap.equal((limit[f"max_{kind}_options"], limit[f"unknown_{kind}_options"]), (8, 0),
                       "net6ctl's")
        replied(behind(head, UNKNOWN))


@ktap.test
def length_of_headers():
    for head, name in ((HOP, "max_hbh_length"), (DEST, "max_dst_opts_length")):
        ktap.equal(read(name), 2 ** 31 - 1, f"{name}: any length, RFC 8504 5.3")
        replied(behind(head, UNKNOWN * 3))
        with Set(name, 16):
            replied(behind(head, UNKNOWN * 2))
            refused(behind(head, UNKNOWN * 3), 6, 40, f"24 octets, {name} 16")
            replied(behind(HOP + DEST - head, UNKNOWN * 3))


@ktap.test
def padding():
    padded = b"\x01\x06" + bytes(6) + b"\x01\x04" + bytes(4)
    refused(behind(DEST, padded), 9, 42, "14 octets of padding in a row")
    with Set("limits/max_padding", 14):
        replied(behind(DEST, padded))


@ktap.test
def number_of_headers():
    def packet():
        return ipv6(PEER, OURS, DEST, options(DEST) + options(ICMP) + request(), 64)
    replied(packet())
    with Set("limits/max_exthdrs", 1):
        refused(packet(), 8, 40, "two headers")


@ktap.test
def memory_for_fragments():
    def flood(ident):
        delta = ip.Delta()
        for number in range(100):
            ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 0, True, ident + number)
                              + request(data=bytes(1392)), 64))
        ktap.wait_for(10, "they are received",
                      lambda: delta.read().get("Ip6ReasmReqds", 0) == 100)
        return delta.drops().get("FRAG_LIMIT", 0)
    ktap.equal(read("ip6frag_high_thresh"), read("limits/frag_memory"), "the same value")
    with Set("ip6frag_high_thresh", 65536):
        ktap.true(flood(1000) > 0, "dropped with 64 kB")
    ktap.equal(flood(2000), 0, "dropped with what there is else")


@ktap.test
def time_of_fragments():
    def waited(ident):
        ip.tokens()
        ip.wire.flush()
        start = time.time()
        ip.wire.send(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 0, True, ident)
                          + request(data=bytes(56)), 64))
        frame = ip.wire.expect(lambda f: f.type == ip.TIME and
                               f.payload[52:56] == struct.pack("!I", ident), "Time Exceeded", 90)
        return frame.time - start
    time.sleep(70)		# what other tests sent is given up
    for value in (60, 5):
        with Set("ip6frag_time", value):
            ktap.equal(read("limits/frag_timeout"), value, "the same value")
            took = waited(5000 + value)
            ktap.true(value - 0.5 <= took <= value * 9 / 8 + 1, f"{took} s with {value}")


@ktap.test
def echo_requests_are_ignored():
    everywhere = {"all": (OURS, "ff02::1", ANYCAST), "multicast": ("ff02::1",),
                  "anycast": (ANYCAST,)}
    with ip.A:
        index = socket.if_nametoindex("a0")
    with ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, JOIN_ANYCAST,
                        nd.packed(ANYCAST) + struct.pack("=i", index))
        for name, ignored in everywhere.items():
            for value in (0, 1):
                with Set("icmp/echo_ignore_" + name, value):
                    for dest in everywhere["all"]:
                        packet = ipv6(PEER, dest, ICMP, request(dest), 64)
                        if value and dest in ignored:
                            ip.expect_nothing(packet, "ECHO_IGNORED", f"{dest}, {name}")
                        else:
                            ktap.equal(replied(packet).source, OURS, "source")
        with Set("anycast_src_echo_reply", 1):
            for dest, source in ((ANYCAST, ANYCAST), ("ff02::1", OURS)):
                frame = replied(ipv6(PEER, dest, ICMP, request(dest), 64))
                ktap.equal(frame.source, source, "source with anycast_src_echo_reply")
                ktap.true(frame.checksum_good(), "checksum")


def whole():
    """Is the reply to 1400 octets sent in one piece?"""
    ip.wire.flush()
    ip.wire.send(ipv6(PEER, OURS, ICMP, request(data=bytes(1400)), 64))
    return is_reply(ip.wire.expect(lambda f: is_reply(f) or f.proto == FRAGMENT, "reply"))


def too_big():
    frame = replied(ipv6(PEER, OURS, ICMP, request(data=bytes(1400)), 64))
    ip.wire.send(nd.icmp(PEER, OURS, TOO_BIG, struct.pack("!I", 1280) + frame.packet[:1232],
                         hlim=64))
    ktap.equal(whole(), False, "whole after Packet Too Big")


@ktap.test
def age_of_path_mtus():
    ktap.equal(read("route/mtu_expires"), 600, "RFC 8201 5.3")
    for value, after in ((600, False), (300, True)):
        with Set("route/mtu_expires", value):
            too_big()
            time.sleep(290)		# its age is what is looked at
            ktap.equal(whole(), False, f"whole after 290 s, mtu_expires {value}")
            time.sleep(20)		# the same
            ktap.equal(whole(), after, f"whole after 310 s, mtu_expires {value}")
            time.sleep(300)		# the same
            ktap.equal(whole(), True, "whole after ten minutes")


@ktap.test
def destinations_are_forgotten():
    too_big()
    ktap.equal(whole(), False, "whole")
    write("route/flush", 1)
    ktap.equal(whole(), True, "whole after route.flush")
    with ip.A:
        ktap.equal(os.stat(path("route/flush")).st_mode & 0o777, 0o200, "it is write-only")


@ktap.test
def sockets_bind_to_addresses_of_others():
    def bound():
        sock = ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A)
        sock.bind((OTHER, 0))
        return sock
    ktap.raises(errno.EADDRNOTAVAIL, bound)
    with Set("ip_nonlocal_bind", 1), bound() as sock:
        ip.wire.flush()
        sock.sendto(b"x", (PEER, 9))
        frame = ip.wire.expect(lambda f: f.proto == ip.UDP, "datagram")
        ktap.equal(frame.source, OTHER, "its source")


@ktap.test
def groups_are_told_as_often_as_robustness_says():
    with ip.A:
        index = socket.if_nametoindex("a0")
    for value in (1, 2, 4):
        group = f"ff05::{value}"
        with Set("mld_qrv", value), ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A) as sock:
            ip.wire.flush()
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                            nd.packed(group) + struct.pack("@I", index))
            frames = ip.wire.collect(lambda f: f.proto == 0, 15)
            told = [f for f in frames if mld.Told(f).of(group)]
            ktap.equal(len(told), value, f"reports with mld_qrv {value}")
        time.sleep(10)		# what is told when it leaves


def is_probe(frame):
    return frame.type == nd.NS and frame.source == "::" and frame.target.startswith("fe80::")


def conflict(seconds):
    """a0's first link-local address is a duplicate: what is tried next, and how much later."""
    ip.A.down("a0")
    ip.wire.flush()
    ip.A.up("a0")
    first = ip.wire.expect(is_probe, "probe", 10)
    ip.wire.send(nd.na(first.target, first.target, tlla=ip.wire.mac))
    found = ip.wire.wait(lambda f: is_probe(f) and f.target != first.target, seconds)
    return found and found.time - first.time


@ktap.test
def other_identifiers_are_tried():
    with Set("idgen_retries", 0):
        ktap.equal(conflict(5), None, "another try")
    with Set("idgen_retries", 1):
        took = conflict(10)
        ktap.true(took and 0.9 <= took < 3.5, f"tried after {took} s")
        with Set("idgen_delay", 6):
            took = conflict(20)
            ktap.true(took and 5.9 <= took < 9, f"tried after {took} s with idgen_delay 6")


@ktap.test
def bounds():
    for name, *values in (("bindv6only", -1, 2), ("mld_qrv", 0, 8),
                          ("fib_multipath_hash_policy", -1, 3), ("idgen_retries", 256),
                          ("route/mtu_expires", 299), ("icmp/echo_ignore_all", 2),
                          ("ip6frag_time", 0, 61), ("ip6frag_high_thresh", 65535),
                          ("max_hbh_length", -1), ("max_dst_opts_number", 2 ** 31),
                          ("max_dst_opts_number", -2 ** 31)):
        before = read(name)
        for value in values:
            ktap.raises(errno.EINVAL, write, name, value)
            ktap.equal(read(name), before, name)


ktap.main(setup)
