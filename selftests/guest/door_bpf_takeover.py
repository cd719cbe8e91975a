#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What programs of tc's ask about IPv6 where net6 is the host's only one: sockets
# (bpf_sk_lookup_udp(), bpf_sk_lookup_tcp()), routes (bpf_fib_lookup()), and a socket of their own
# choice for a packet (bpf_sk_assign()).
#
#	A [a0] ------ [r0] R [r1] ------ [b0] B	(lib/nft.py)
#
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 90
import errno
import os
import socket
import struct
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
import nft
from nft import A, B, IN_A, IN_B, R, R0, Rules, chain, make, pings, table

TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
SO_MARK, PORT = 36, 7500
FIB_LOOKUP, LOOKUP_TCP, LOOKUP_UDP, RELEASE, ASSIGN, SKC_LOOKUP_TCP = 69, 84, 85, 86, 124, 99
FWD_DISABLED = 5


def setup():
    nft.setup()


def packed(address):
    return socket.inet_pton(socket.AF_INET6, address)


def looking(helper, source, dest, found):
    """The socket of a packet in r6, and what is done with it; 0 if there is none."""
    key = packed(source[0]) + packed(dest[0]) + struct.pack("!HH", source[1], dest[1])
    release = bpf.copy(1, 6) + bpf.helper(RELEASE)
    body = bpf.copy(6, 0) + found + release
    return bpf.copy(8, 1) + bpf.store(key, 40) + bpf.copy(1, 8) + bpf.frame(2, -40) + \
        bpf.mov(3, 36) + bpf.mov(4, -1) + bpf.mov(5, 0) + bpf.helper(helper) + bpf.mov(7, 0) + \
        bpf.insn(0x15, 0, off=len(body) // 8) + body


def mark_of(helper, source, dest):
    """SO_MARK of the socket that a program finds."""
    code = looking(helper, source, dest, bpf.insn(0x61, 7, 6, 16)) + bpf.copy(0, 7) + bpf.EXIT
    program = bpf.load(bpf.SCHED_CLS, 0, code)
    with R:
        value = bpf.run(program)
    os.close(program)
    return value


def marked(mark, bind, kind=UDP, peer=None):
    s = make(R, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, SO_MARK, mark)
    s.bind(bind)
    if peer:
        s.connect(peer)
    return s


@ktap.test
def the_socket_of_a_datagram_is_found():
    """The one that would get it."""
    ktap.native_asks_nobody()
    there = (IN_A, 5000)
    with marked(1, ("::", PORT)), marked(2, (R0, PORT)), marked(3, (R0, PORT), peer=there):
        ktap.equal(mark_of(LOOKUP_UDP, there, (R0, PORT)), 3, "a connected one")
        ktap.equal(mark_of(LOOKUP_UDP, (IN_A, 5001), (R0, PORT)), 2, "one with an address")
        ktap.equal(mark_of(LOOKUP_UDP, there, ("fd00:b::2", PORT)), 1, "one without")
        ktap.equal(mark_of(LOOKUP_UDP, there, (R0, PORT + 1)), 0, "of another port")
    ktap.equal(mark_of(LOOKUP_UDP, there, (R0, PORT)), 0, "when all are closed")


@ktap.test
def the_socket_of_a_segment_is_not_found():
    """It would be looked for in native's table."""
    with marked(5, (R0, PORT), TCP) as s:
        s.listen()
        for helper in LOOKUP_TCP, SKC_LOOKUP_TCP:
            code = looking(helper, (IN_A, 5000), (R0, PORT), bpf.mov(7, 1)) + bpf.copy(0, 7) + \
                bpf.EXIT
            program = bpf.load(bpf.SCHED_CLS, 0, code)
            with R:
                ktap.equal(bpf.run(program), 0, f"helper {helper}")
            os.close(program)


@ktap.test
def a_route_is_not_found():
    for flags in 0, 1, 2:
        # struct bpf_fib_lookup: family, ..., ifindex at 8, source at 16, destination at 32
        with R:
            index = socket.if_nametoindex("r0")
        key = struct.pack("=BBHHHII", socket.AF_INET6, 17, 0, 0, 0, index, 0) + packed(IN_A) + \
            packed(IN_B) + bytes(16)
        code = bpf.store(key, 64) + bpf.frame(2, -64) + bpf.mov(3, 64) + bpf.mov(4, flags) + \
            bpf.helper(FIB_LOOKUP) + bpf.EXIT
        program = bpf.load(bpf.SCHED_CLS, 0, code)
        with R:
            ktap.equal(bpf.run(program), FWD_DISABLED, f"flags {flags}")
        os.close(program)


class Assigning:
    """Every packet that R gets from A is given the socket of port 7500, if it may be."""

    def __init__(self):
        self.said = bpf.array(1)
        keep = bpf.copy(9, 0) + bpf.store(bytes(4), 4) + bpf.the_map(1, self.said) + \
            bpf.frame(2, -4) + bpf.helper(bpf.LOOKUP) + bpf.insn(0x15, 0, off=1) + \
            bpf.insn(0x7b, 0, 9)
        found = bpf.copy(1, 8) + bpf.copy(2, 6) + bpf.mov(3, 0) + bpf.helper(ASSIGN) + keep
        code = looking(LOOKUP_UDP, (IN_A, 5000), (R0, PORT), found) + bpf.mov(0, 0) + bpf.EXIT
        self.program = bpf.load(bpf.SCHED_CLS, 0, code)
        self.path = bpf.pinned(self.program, "assign")

    def __enter__(self):
        subprocess.run(["modprobe", "-q", "-a", "sch_ingress", "cls_bpf"], check=False)
        bpf.update(self.said, bytes(4), struct.pack("=q", 1))
        R.run("tc", "qdisc", "add", "dev", "r0", "clsact")
        R.run("tc", "filter", "add", "dev", "r0", "ingress", "bpf", "da", "object-pinned",
              self.path)
        return self

    def __exit__(self, *_):
        R.run("tc", "qdisc", "del", "dev", "r0", "clsact")

    def result(self):
        return struct.unpack("=q", bpf.lookup(self.said, bytes(4), 8))[0]


@ktap.test
def a_packet_goes_where_it_is_for_whatever_a_program_assigns():
    ktap.native_asks_nobody()
    assign = Assigning()
    with marked(1, (R0, PORT)) as chosen, make(R, bind=(R0, PORT + 1)) as there, \
            make(B, bind=(IN_B, PORT)) as beyond, make(A) as s:
        s.sendto(b"first", (R0, PORT + 1))
        ktap.equal(there.recv(9), b"first", "without it")
        with assign:
            s.sendto(b"words", (R0, PORT + 1))
            ktap.equal(there.recv(9), b"words", "to ourselves")
            ktap.equal(assign.result(), 0, "bpf_sk_assign()")
            s.sendto(b"words", (IN_B, PORT))
            ktap.equal(beyond.recv(9), b"words", "to another")
            ktap.true(pings(A, IN_B), "ping")
            chosen.setblocking(False)
            ktap.equal(ktap.failing(chosen.recv, 9), "EAGAIN", "what the chosen one gets")


@ktap.test
def a_packet_on_its_way_is_nobody_s():
    """A rule about senders does not hold for what a router passes on; nor does the packet keep a
    socket that may be closed while it waits for a neighbor.
    """
    ktap.native_asks_nobody()
    assign = Assigning()
    rule = "udp dport 7600 meta skuid 0 counter"
    with Rules(R, table(chain("forward", rule), chain("postrouting", rule))) as rules, \
            make(B, bind=(IN_B, 7600)) as beyond, make(A) as s:
        chosen = marked(1, (R0, PORT))
        with assign:
            s.sendto(b"words", (IN_B, 7600))
            ktap.equal(beyond.recv(9), b"words", "what arrives")
            ktap.equal(assign.result(), 0, "bpf_sk_assign()")
            for hook in "forward", "postrouting":
                ktap.equal(rules.packets(hook), 0, f"packets of a sender at {hook}")
            R.run("tc", "qdisc", "replace", "dev", "r1", "root", "fq")
            s.sendto(b"waits", ("fd00:b::99", 7600))
            ktap.wait_for(10, "it waits", lambda: "fd00:b::99" in R.ip("-6", "neigh", "show"))
            chosen.close()
        R.ip("-6", "neigh", "replace", "fd00:b::99", "lladdr", "02:00:00:00:00:99", "dev", "r1")
        ktap.true(pings(A, IN_B), "ping")
        R.run("tc", "qdisc", "del", "dev", "r1", "root")


@ktap.test
def assigning_is_for_those_that_came_in():
    ktap.native_asks_nobody()
    with marked(1, (R0, PORT)):
        code = looking(LOOKUP_UDP, (IN_A, 5000), (R0, PORT), bpf.copy(1, 8) + bpf.copy(2, 6) +
                       bpf.mov(3, 0) + bpf.helper(ASSIGN) + bpf.copy(7, 0)) + bpf.copy(0, 7) + \
            bpf.EXIT
        program = bpf.load(bpf.SCHED_CLS, 0, code)
        with R:
            ktap.equal(bpf.run(program), -errno.EOPNOTSUPP, "not at ingress")
        os.close(program)


@ktap.test
def a_map_of_sockets_to_choose_from_takes_none_of_datagrams():
    """A tunnel would take a datagram socket whose user data is not set; the map needs it so."""
    fd = bpf.array(4, bpf.REUSEPORT_SOCKARRAY, 8)
    for kind in UDP, TCP:
        with make(R, kind) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            s.bind((R0, PORT))
            if kind == TCP:
                s.listen()
            seen = ktap.failing(bpf.update, fd, bytes(4), struct.pack("=Q", s.fileno()))
            ktap.diag(f"{kind}: {seen}")
            if kind == UDP:
                ktap.equal(seen, "EBUSY", "datagrams")
    os.close(fd)


ktap.main(setup=setup)
