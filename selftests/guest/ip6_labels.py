#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# With native IPv6 switched off, `ip addrlabel` shows and changes the labels of net6's policy
# table, with native's errors; and anycast addresses are where native has them.
#
#	A [a0 net6, a router] ------ [b0] A
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 60

import errno
import json
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

# RFC 6724 section 2.1
DEFAULTS = [("::/0", 1), ("::/96", 3), ("::1/128", 0), ("::ffff:0.0.0.0/96", 4), ("2001::/32", 5),
            ("2002::/16", 2), ("3ffe::/16", 12), ("fc00::/7", 13), ("fec0::/10", 11)]
NEWADDRLABEL, DELADDRLABEL, GETADDRLABEL = 72, 73, 74
ACK, REPLACE, EXCL, CREATE = 5, 0x100, 0x200, 0x400
A = ktap.later("A")


def setup():
    ktap.net6_load()
    A.make()


def labels():
    return sorted((f"{e['address']}/{e['prefixlen']}" if "prefixlen" in e else e["prefix"],
                   e["label"]) for e in json.loads(A.ip("-j", "addrlabel", "list")))


def request(kind, prefix, plen, label=None, flags=CREATE | EXCL, index=0, family=10):
    """rtnetlink says what it is asked for: errno, or the label of the answer."""
    with A, socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        body = struct.pack("=BBBBII", family, 0, plen, 0, index, 0)
        if prefix is not None:
            body += struct.pack("=HH", 20, 1) + nd.packed(prefix)
        if label is not None:
            body += struct.pack("=HHI", 8, 2, label)
        sock.send(struct.pack("=IHHII", 16 + len(body), kind, ACK | flags, 1, 0) + body)
        answer = sock.recv(4096)
    if struct.unpack_from("=H", answer, 4)[0] == 2:
        return -struct.unpack_from("=i", answer, 16)[0]
    return struct.unpack_from("=I", answer, 16 + 12 + 20 + 4)[0]


@ktap.test
def the_table_of_rfc6724():
    ktap.equal(labels(), sorted(DEFAULTS), "labels")


@ktap.test
def labels_come_and_go():
    A.ip("addrlabel", "add", "prefix", "2001:db8::/32", "label", "77")
    ktap.equal(labels(), sorted(DEFAULTS + [("2001:db8::/32", 77)]), "labels")
    ktap.true(("2001:db8::", 32, 77, 40) in [
        (e["address"], e["prefix_len"], e["label"], e["precedence"])
        for e in nd.show(A, "policy")], "net6ctl shows it, with the precedence of ::/0")
    A.ip("addrlabel", "del", "prefix", "2001:db8::/32", "label", "77")
    ktap.equal(labels(), sorted(DEFAULTS), "labels")
    A.ip("addrlabel", "flush")
    ktap.equal(labels(), [], "labels")
    nd.net6ctl(A, "flush", "policy")
    ktap.equal(labels(), sorted(DEFAULTS), "labels")


@ktap.test
def replaced_and_asked_for():
    ktap.equal(request(NEWADDRLABEL, "2001:db8::", 32, 5), 0, "added")
    ktap.equal(request(NEWADDRLABEL, "2001:db8::", 32, 6), errno.EEXIST, "again")
    ktap.equal(request(NEWADDRLABEL, "2001:db8::", 32, 6, REPLACE), 0, "replaced")
    ktap.equal(request(GETADDRLABEL, "2001:db8::1", 128, flags=0), 6, "label of an address")
    ktap.equal(request(GETADDRLABEL, "2a00::1", 128, flags=0), 1, "label of another")
    # native takes the bits of the prefix, whatever is behind them
    ktap.equal(request(DELADDRLABEL, "2001:db8::77", 32, flags=0), 0, "removed")


@ktap.test
def wrong_requests_have_natives_errors():
    for wanted, args in ((errno.ESRCH, (DELADDRLABEL, "2001:db8::", 32, None, 0)),
                         (errno.EINVAL, (NEWADDRLABEL, "2001:db8::", 129, 1)),
                         (errno.EINVAL, (NEWADDRLABEL, "2001:db8::", 32)),
                         (errno.EINVAL, (NEWADDRLABEL, None, 32, 1)),
                         (errno.EINVAL, (NEWADDRLABEL, "2001:db8::", 32, 0xffffffff)),
                         (errno.EINVAL, (NEWADDRLABEL, "::1", 64, 1)),
                         (errno.EINVAL, (NEWADDRLABEL, "::ffff:1.2.3.4", 128, 1)),
                         (errno.EINVAL, (NEWADDRLABEL, "::1.2.3.4", 128, 1)),
                         (errno.EINVAL, (GETADDRLABEL, "2001:db8::1", 64, None, 0))):
        ktap.equal(request(*args), wanted, str(args))
    ktap.equal(request(NEWADDRLABEL, "2001:db8::", 32, 1, index=1), errno.EOPNOTSUPP, "of lo")
    ktap.equal(labels(), sorted(DEFAULTS), "labels")


@ktap.test
def only_for_who_may():
    said = A.run("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin", "ip",
                 "addrlabel", "add", "prefix", "2001:db8::/32", "label", "1", check=False)
    ktap.true("Operation not permitted" in said, said)
    ktap.equal(labels(), sorted(DEFAULTS), "labels")


@ktap.test
def anycast_addresses():
    """/proc/net/anycast6 and RTM_GETANYCAST of a router."""
    ktap.veth(A, "a0", A, "b0")
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0", "forwarding", "on")
    nd.net6ctl(A, "add", "address", "2001:db8::1/64", "dev", "a0")
    with A, open("/proc/net/anycast6", encoding="ascii") as file:
        lines = file.read().splitlines()
    with A:
        index = socket.if_nametoindex("a0")
    ktap.true(f"{index:4d} {'a0':15} {nd.packed('2001:db8::').hex()} {1:5d}" in lines, lines)
    with A, socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.send(struct.pack("=IHHIIBxxxi", 24, 62, 0x301, 1, 0, 10, 0))
        answer = sock.recv(65536)
    ktap.equal(struct.unpack_from("=H", answer, 4)[0], 62, "message")
    ktap.true(struct.pack("=HH", 20, 5) + nd.packed("2001:db8::") in answer, "IFA_ANYCAST")


ktap.main(setup=setup)
