#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Security modules are asked about connections: at the SYN, when the child is made, and when a
# client's connection is there. BPF programs stand for a module. The same on both stacks, native's
# are the judge.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: stock
# timeout: 60
import contextlib
import os
import socket
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
import netpair as p
from ktap import failing

TCP = socket.SOCK_STREAM
PORT = 7910
# struct sock_common
DPORT, NUM, FAMILY, SKC_STATE, DADDR, SADDR = 12, 14, 16, 18, 56, 72
HOOKS = {}


def setup():
    p.setup()
    if not os.path.exists("/sys/kernel/security/lsm"):
        ktap.run("mount", "-t", "securityfs", "none", "/sys/kernel/security")
    with open("/sys/kernel/security/lsm", encoding="ascii") as file:
        if "bpf" not in file.read().split(","):
            raise ktap.Skip("no programs in this kernel's security")
    names = "inet_conn_request", "inet_csk_clone", "inet_conn_established"
    HOOKS.update(zip(names, bpf.btf_functions(*("bpf_lsm_" + name for name in names))))


def when_ours(arg, offset, port, code, verdict=0):
    """Code that runs with a socket, or request, of the port in r6; what the hook is told then."""
    code += bpf.mov(0, verdict) + bpf.EXIT
    return bpf.insn(0x79, 6, 1, 8 * arg) + bpf.insn(0x69, 7, 6, offset) + \
        bpf.insn(0x55, 7, off=len(code) // 8, imm=port) + code + bpf.mov(0, 0) + bpf.EXIT


def keep(fd, place, offset, load=0x79):
    """An array's entry becomes a field of what r6 has."""
    return bpf.insn(load, 8, 6, offset) + bpf.insn(0x62, 10, off=-4, imm=place) + \
        bpf.the_map(1, fd) + bpf.frame(2, -4) + bpf.helper(bpf.LOOKUP) + \
        bpf.insn(0x15, 0, off=1) + bpf.insn(0x7b, 0, 8)


def counted(fd, place):
    return bpf.mov(8, place) + bpf.count(fd, 8)


def own(make):
    return p.NATIVE_A if make is p.native else p.NET6_A


@contextlib.contextmanager
def cookies(value):
    p.A.run("sysctl", "-qw", f"net.ipv4.tcp_syncookies={value}")
    try:
        yield
    finally:
        p.A.run("sysctl", "-qw", "net.ipv4.tcp_syncookies=1")


def refused(make):
    """What a client's connect() says when a program refuses its SYN, and without the program;
    and how often the program was asked.
    """
    fd = bpf.array(1)
    code = when_ours(2, NUM, PORT, counted(fd, 0), -1)
    with p.listening(make, own(make), PORT):
        with bpf.hooked(HOOKS["inet_conn_request"], code):
            with p.native(TCP, ns=p.B) as client:
                client.settimeout(0.5)
                try:
                    client.connect((own(make), PORT))
                    first = "connected"
                except TimeoutError:
                    first = "nothing"
        with p.native(TCP, ns=p.B) as client:
            return first, bpf.counts(fd, 1).get(0, 0) > 0, \
                failing(client.connect, (own(make), PORT))


@ktap.test
def a_syn_is_refused():
    for value in 1, 2:
        with cookies(value):
            native, net6 = refused(p.native), refused(p.net6)
        ktap.equal(net6, native, f"cookies {value}")
        ktap.equal(native, ("nothing", True, None), "native's")


def asked(make, value):
    """Calls of a server's hooks, and what they are shown of the request."""
    fd = bpf.array(8)
    request = when_ours(2, NUM, PORT, counted(fd, 0) + keep(fd, 2, FAMILY, 0x69) +
                        keep(fd, 3, SKC_STATE, 0x71) + keep(fd, 4, DADDR + 8) +
                        keep(fd, 5, SADDR + 8))
    clone = when_ours(1, NUM, PORT, counted(fd, 1) + keep(fd, 6, SKC_STATE, 0x71))
    with cookies(value), p.listening(make, own(make), PORT) as listener, \
            bpf.hooked(HOOKS["inet_conn_request"], request), \
            bpf.hooked(HOOKS["inet_csk_clone"], clone), p.native(TCP, ns=p.B) as client:
        client.connect((own(make), PORT))
        listener.accept()[0].close()
        seen = bpf.counts(fd, 8)
    ours = int.from_bytes(socket.inet_pton(socket.AF_INET6, own(make))[8:], "little")
    ktap.equal(seen.pop(5), ours, "our address")
    return seen


@ktap.test
def a_module_knows_a_connection_of_a_server():
    for value in 1, 2:
        native, net6 = asked(p.native, value), asked(p.net6, value)
        ktap.equal(net6, native, f"cookies {value}: calls, family, state, peer, state")
        # With a cookie a request is made twice.
        ktap.equal((native[0], native[1]), (value, 1), "native's")


@ktap.test
def a_module_knows_a_connection_of_a_client():
    for make in p.native, p.net6:
        fd = bpf.array(2)
        port = socket.htons(PORT)
        code = when_ours(0, DPORT, port, counted(fd, 0) + keep(fd, 1, SKC_STATE, 0x71))
        with p.listening(p.native, p.NATIVE_B, PORT, p.B), \
                bpf.hooked(HOOKS["inet_conn_established"], code), make(TCP) as client:
            client.connect((p.NATIVE_B, PORT))
        ktap.equal(bpf.counts(fd, 2), {0: 1, 1: 1}, f"{make.__name__}: calls, state")


ktap.main(setup=setup)
