#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The policy table of RFC 6724 section 2.1: its defaults, entries that come, change and go,
# the longest prefix, bounds and refusals, each namespace its own. The source address
# follows at once, also of a socket that has sent to the destination before.
#
#	A [a0 net6, global and unique local] ------ [b0 raw frames, a router] B
# guest: stock+
# timeout: 120

import errno
import os
import socket
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd
import nl

ROUTER, MAC = "fe80::1", "02:00:00:00:00:01"
GLOBAL, LOCAL = "2001:db8:1::a", "fd00:1::a"
FAR = "2001:db8:9::1"
# RFC 6724 section 2.1: prefix, length, precedence, label
DEFAULTS = [("::1", 128, 50, 0), ("::", 0, 40, 1), ("::ffff:0.0.0.0", 96, 35, 4),
            ("2002::", 16, 30, 2), ("2001::", 32, 5, 5), ("fc00::", 7, 3, 13),
            ("::", 96, 1, 3), ("fec0::", 10, 1, 11), ("3ffe::", 16, 1, 12)]
A, B, wire = nd.ends()
shared = types.SimpleNamespace()	# sock: whose sources are looked at


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")
    for address in (GLOBAL, LOCAL):
        nd.net6ctl(A, "add", "address", address + "/64", "dev", "a0")
    nd.linklocal(A)
    nd.net6ctl(A, "add", "neighbor", ROUTER, "lladdr", MAC, "dev", "a0")
    nd.net6ctl(A, "add", "route", "default", "via", ROUTER, "dev", "a0")
    shared.sock = ktap.net6_socket(socket.SOCK_DGRAM, ns=A)
    ktap.at_exit(shared.sock.close)


def table(ns=None):
    return [(e["address"], e["prefix_len"], e["precedence"], e["label"])
            for e in nd.show(ns or A, "policy")]


def source(dest=FAR):
    """Of a datagram that a socket sends which has sent there before."""
    wire.flush()
    shared.sock.sendto(b"x", (dest, 4711))
    return wire.expect(lambda f: f.proto == 17 and f.dest == dest, "datagram").source


def refused(words, *command):
    try:
        nd.net6ctl(A, *command)
    except ktap.Fail as fail:
        ktap.true(words in str(fail), f"{' '.join(command)}: {fail}")
        return
    raise ktap.Fail(f"possible: {' '.join(command)}")


@ktap.test
def the_table_of_rfc6724():
    ktap.equal(sorted(table()), sorted(DEFAULTS), "defaults")
    lengths = [entry[1] for entry in table()]
    ktap.equal(lengths, sorted(lengths, reverse=True), "longest prefixes first")


@ktap.test
def the_source_follows_the_labels():
    ktap.equal(source(), GLOBAL, "by the default table")
    nd.net6ctl(A, "add", "policy", "2001:db8:9::/48", "label", "13")
    ktap.equal(source(), LOCAL, "of the destination's label")
    with ktap.net6_socket(socket.SOCK_DGRAM, ns=A) as other:
        other.connect((FAR, 4711))
        ktap.equal(other.getsockname()[0], LOCAL, "of a connected socket")
    ktap.equal(source("2001:db8:a::1"), GLOBAL, "to another destination")
    nd.net6ctl(A, "add", "policy", "2001:db8:9::/48", "label", "1")
    ktap.equal(source(), GLOBAL, "changed")
    nd.net6ctl(A, "add", "policy", "2001:db8:9::/48", "label", "13")
    nd.net6ctl(A, "del", "policy", "2001:db8:9::/48")
    ktap.equal(source(), GLOBAL, "removed")


@ktap.test
def the_longest_prefix_counts():
    nd.net6ctl(A, "add", "policy", "2001:db8:9::/64", "label", "1")
    nd.net6ctl(A, "add", "policy", "2001:db8::/32", "label", "13")
    # a source address of the same /32 has the label, too
    ktap.equal(source("2001:db8:a::1"), GLOBAL, "both labels are 13: then the longest match")
    nd.net6ctl(A, "add", "policy", "2001:db8:1::/48", "label", "7")
    ktap.equal(source("2001:db8:a::1"), LOCAL, "/32")
    nd.net6ctl(A, "add", "policy", FAR + "/128", "label", "7")
    ktap.equal(source(), GLOBAL, "/128")
    nd.net6ctl(A, "del", "policy", FAR + "/128")
    nd.net6ctl(A, "add", "policy", "2001:db8:9::/64", "label", "13")
    ktap.equal(source(), LOCAL, "/64")


@ktap.test
def flushed_it_is_the_rfcs_again():
    nd.net6ctl(A, "flush", "policy")
    ktap.equal(sorted(table()), sorted(DEFAULTS), "defaults")
    ktap.equal(source(), GLOBAL, "source")


@ktap.test
def what_is_not_given_is_as_it_was():
    nd.net6ctl(A, "add", "policy", "2002:1::/32", "label", "77")
    nd.net6ctl(A, "add", "policy", "fd00:2::/32", "precedence", "4294967295")
    ktap.true(("2002:1::", 32, 30, 77) in table(), "precedence of 2002::/16")
    ktap.true(("fd00:2::", 32, 4294967295, 13) in table(), "label of fc00::/7")
    nd.net6ctl(A, "add", "policy", "2002:1::/32", "precedence", "2")
    ktap.true(("2002:1::", 32, 2, 77) in table(), "label stays")
    nd.net6ctl(A, "del", "policy", "::/0")
    nd.net6ctl(A, "add", "policy", "2a00::/16", "precedence", "9")
    ktap.true(("2a00::", 16, 9, 4294967295) in table(), "no label where there is no entry")
    ktap.equal(source(), GLOBAL, "by the longest match alone")
    nd.net6ctl(A, "flush", "policy")


@ktap.test
def wrong_requests():
    refused("bits beyond the prefix length", "add", "policy", "2001:db8::1/64", "label", "1")
    refused("no such entry", "del", "policy", "2001:db8::/64")
    refused("which label", "add", "policy", "2001:db8::/64")
    refused("does not belong", "del", "policy", "::/0", "label", "1")
    refused("is missing", "add", "policy", "2001:db8::", "label", "1")
    refused("flushed all at once", "flush", "policy", "dev", "a0")
    with A:
        family = nl.Family()
    prefix = nl.address("2001:db8::")
    for wrong in ({"address": prefix, "prefix_len": 129, "label": 1},
                  {"address": prefix, "prefix_len": 64},
                  {"address": prefix, "label": 1}, {"prefix_len": 64, "label": 1},
                  {"address": prefix[:15], "prefix_len": 64, "label": 1},
                  {"address": prefix, "prefix_len": 64, "label": 0xffffffff}):
        try:
            family.do("policy-add", **wrong)
        except nl.Refused as error:
            ktap.true(error.errno in (errno.EINVAL, errno.ERANGE), f"{wrong}: {error}")
            continue
        raise ktap.Fail(f"possible: {wrong}")
    ktap.equal(sorted(table()), sorted(DEFAULTS), "nothing has changed")


@ktap.test
def the_table_is_bounded():
    with A:
        family = nl.Family()
    added = 0
    try:
        for number in range(1000):
            family.do("policy-add", address=nl.address(f"2001:db8:{number:x}::"), prefix_len=48,
                      label=number)
            added += 1
    except nl.Refused as error:
        ktap.equal((error.errno, error.words), (errno.ENOSPC, "the policy table is full"),
                   "refused")
    ktap.equal(added, 256 - len(DEFAULTS), "entries")
    ktap.equal(len(table()), 256, "entries in all")
    family.do("policy-add", address=nl.address("2001:db8::"), prefix_len=48, label=5)
    ktap.equal(source(), GLOBAL, "which is found among them")


@ktap.test
def each_namespace_has_its_own():
    ktap.equal(sorted(table(B)), sorted(DEFAULTS), "B's")
    nd.net6ctl(B, "add", "policy", "2001:db8::/32", "label", "9")
    ktap.equal(len(table(B)), len(DEFAULTS) + 1, "B's")
    nd.net6ctl(A, "flush", "policy")
    ktap.equal(len(table(B)), len(DEFAULTS) + 1, "B's, which goes with the namespace")


ktap.main(setup=setup)
