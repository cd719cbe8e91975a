#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# BPF programs of a cgroup that refuse to bind, to connect and to send: each is asked for what
# native's sockets ask it for, addresses of IPv4 included.
#
#	A [a0] ------ [b0] B	(lib/netpair.py; here 192.0.2.1 and 192.0.2.2 as well)
#
# guest: both
# timeout: 60
# guest-options: --kmemleak
import contextlib
import ctypes
import errno
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
import netpair as p
from ktap import failing

TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
HERE, THERE = "192.0.2.1", "192.0.2.2"
PORT = 7700
HOOKS = {"bind4": 8, "bind6": 9, "connect4": 10, "connect6": 11, "sendmsg4": 14, "sendmsg6": 15}
libc = ktap._libc
root, group = ktap.CGROUPS


def setup():
    p.setup()
    for ns, dev, address in ((p.A, "a0", HERE), (p.B, "b0", THERE)):
        ns.ip("addr", "add", address + "/24", "dev", dev)
    ktap.cgroup()
    ktap.at_exit(os.rmdir, group)


@contextlib.contextmanager
def refused(hook):
    """In the group, where such calls are refused."""
    with bpf.attached(group, bpf.CGROUP_SOCK_ADDR, HOOKS[hook], bpf.mov(0, 0) + bpf.EXIT), \
            bpf.inside(root, group):
        yield


def connect4(sock):
    """With an address of AF_INET, which Python would not give such a socket."""
    address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", PORT,
                                                              socket.inet_aton(THERE))
    ctypes.set_errno(0)
    libc.connect(sock.fileno(), address, len(address))
    return errno.errorcode.get(ctypes.get_errno())


def results(make):
    """(what, outcome)"""
    there = (("mapped", "::ffff:" + THERE), ("IPv6", p.NATIVE_B))
    own = p.NATIVE_A if make is p.native else p.NET6_A
    for kind in (TCP, UDP):
        for what, address in there:
            with make(kind) as sock:
                yield kind, "connect", what, failing(sock.connect, (address, PORT))
        with make(kind) as sock:
            yield kind, "connect", "AF_INET", connect4(sock)
        for what, address in (("mapped", "::ffff:" + HERE), ("IPv6", own), ("any", "::")):
            with make(kind) as sock:
                yield kind, "bind", what, failing(sock.bind, (address, PORT))
    with make(socket.SOCK_RAW, 253) as sock:
        yield "raw", failing(sock.bind, (own, 0)), failing(sock.connect, (p.NATIVE_B, 0))
    for what, address in there:
        with make(UDP) as sock:
            yield "send", what, failing(sock.sendto, b"x", (address, PORT))


@ktap.test
def a_program_is_asked_as_by_native():
    free = list(results(p.native))
    ktap.equal(list(results(p.net6)), free, "without one")
    for hook in HOOKS:
        with refused(hook):
            native = list(results(p.native))
            # To bind, IPv6's sockets ask IPv6's programs only.
            ktap.equal("EPERM" in str(native), hook != "bind4", f"{hook} refuses something")
            ours = list(results(p.net6))
        for seen, wanted in zip(ours, native):
            ktap.equal(seen, wanted, hook)


ktap.main(setup=setup)
