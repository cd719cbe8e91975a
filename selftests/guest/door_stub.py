#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What BPF programs do to a socket of IPv6 by helpers that go through native's table of
# functions: bpf_bind(), bpf_setsockopt(), bpf_getsockopt(). In takeover mode they are net6's.
#
# guest: both
# guest-append: ipv6.disable=1
# timeout: 60
import errno
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
from ktap import failing

TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
CONNECT6 = 11
BIND, SETSOCKOPT, GETSOCKOPT = 64, 49, 57
PORT = 7200
IPV6_TCLASS, IPV6_AUTOFLOWLABEL = 67, 70
root, group = ktap.CGROUPS


def setup():
    ktap.net6_load()
    ktap.run("ip", "addr", "add", "fd00::1/128", "dev", "lo")
    ktap.run("ip", "addr", "add", "fd00::2/128", "dev", "lo")
    ktap.cgroup()
    ktap.at_exit(os.rmdir, group)


def keep(fd):
    """r0 becomes the value of the array's only entry."""
    return bpf.insn(0xbf, 6, 0) + bpf.store(bytes(4), 4) + bpf.the_map(1, fd) + bpf.frame(2, -4) + \
        bpf.helper(bpf.LOOKUP) + bpf.insn(0x15, 0, off=1) + bpf.insn(0x7b, 0, 6)


def asked(code, kind, prepare=lambda s: None, to="fd00::1"):
    """What a program's code leaves in r0, what the connect() that it is asked about returns,
    and the socket, which is of the group that it was made in.
    """
    result = bpf.array(1)
    code = bpf.copy(7, 1) + code + keep(result) + bpf.mov(0, 1) + bpf.EXIT
    with socket.create_server(("::", PORT), family=socket.AF_INET6), \
            bpf.attached(group, bpf.CGROUP_SOCK_ADDR, CONNECT6, code), bpf.inside(root, group):
        s = socket.socket(socket.AF_INET6, kind)
        prepare(s)
        returned = failing(s.connect, (to, PORT))
    value = bpf.counts(result, 1).get(0, 0)
    os.close(result)
    return value - (1 << 64) if value >> 63 else value, returned, s


def binding(address, port):
    sockaddr = struct.pack("=H", socket.AF_INET6) + struct.pack("!HI", port, 0) + \
        socket.inet_pton(socket.AF_INET6, address) + bytes(4)
    return bpf.store(sockaddr, 32) + bpf.copy(1, 7) + bpf.frame(2, -32) + bpf.mov(3, 28) + \
        bpf.helper(BIND)


def option(helper, name, value=0, length=4):
    return bpf.store(struct.pack("=i", value), 8) + bpf.copy(1, 7) + bpf.mov(2, socket.IPPROTO_IPV6) + \
        bpf.mov(3, name) + bpf.frame(4, -8) + bpf.mov(5, length) + bpf.helper(helper)


def binds(kind, address, port):
    """What the helper says, what connect() says, our name."""
    said, returned, s = asked(binding(address, port), kind)
    with s:
        return said, returned, s.getsockname()[:2]


@ktap.test
def a_connecting_socket_is_bound():
    ktap.native_asks_nobody()
    for kind in (UDP, TCP):
        said, connected, name = binds(kind, "fd00::2", 0)
        ktap.equal((said, connected, name[0]), (0, None, "fd00::2"), "an address")
        ktap.equal(binds(kind, "fd00::2", 7201), (0, None, ("fd00::2", 7201)), "and a port")
        said, connected, name = binds(kind, "::", 0)
        ktap.equal((said, connected, name[0]), (0, None, "fd00::1"), "any address")
        said, connected, name = binds(kind, "fd00::3", 0)
        ktap.equal((said, connected, name[0]), (-errno.EADDRNOTAVAIL, None, "fd00::1"),
                   "somebody else's")


@ktap.test
def a_mapped_address_is_refused():
    ktap.native_asks_nobody()
    for kind in (UDP, TCP):
        said, connected, name = binds(kind, "::ffff:127.0.0.1", 0)
        ktap.equal((said, connected, name[0]), (-errno.EAFNOSUPPORT, None, "fd00::1"), "binding")


def sets(kind, name, value):
    """What the helper says, and the option afterwards."""
    said, connected, s = asked(option(SETSOCKOPT, name, value), kind)
    with s:
        ktap.equal(connected, None, "connect()")
        return said, s.getsockopt(socket.IPPROTO_IPV6, name)


@ktap.test
def options_are_set():
    for kind in (UDP, TCP):
        ktap.equal(sets(kind, IPV6_TCLASS, 0x20), (0, 0x20), "traffic class")
        ktap.equal(sets(kind, IPV6_AUTOFLOWLABEL, 0), (0, 0), "flow label")
        ktap.equal(sets(kind, IPV6_TCLASS, 256), (-errno.EINVAL, 0), "no traffic class")
        ktap.equal(sets(kind, socket.IPV6_V6ONLY, 1), (-errno.EINVAL, 0), "another option")


@ktap.test
def options_are_read():
    # A success is followed by the value itself.
    code = option(GETSOCKOPT, IPV6_TCLASS) + bpf.insn(0x55, 0, off=1) + bpf.insn(0x61, 0, 10, -8)
    for kind in (UDP, TCP):
        said, connected, s = asked(
            code, kind, lambda s: s.setsockopt(socket.IPPROTO_IPV6, IPV6_TCLASS, 0x40))
        s.close()
        ktap.equal((said, connected), (0x40, None), "traffic class")


ktap.main(setup=setup)
