#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A namespace's programs that are asked before a socket is looked for (BPF_PROG_TYPE_SK_LOOKUP):
# they refuse what they refuse on native, and see the same of it.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: both
# timeout: 60
import os
import socket
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
import netpair as p
from ktap import failing

TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
PORT = 7920
# struct bpf_sk_lookup
FAMILY, PROTOCOL, REMOTE_PORT, LOCAL_PORT = 8, 12, 36, 60
DROP, PASS = 0, 1


def setup():
    p.setup()


def own(make):
    return p.NATIVE_A if make is p.native else p.NET6_A


def verdict(fd, value):
    """Counts what is for the port, by family and protocol; the value is what it is told."""
    ours = bpf.insn(0x61, 7, 6, FAMILY) + bpf.insn(0x67, 7, imm=8) + \
        bpf.insn(0x61, 8, 6, PROTOCOL) + bpf.insn(0x0f, 7, 8) + bpf.count(fd, 7) + \
        bpf.mov(0, value) + bpf.EXIT
    return bpf.copy(6, 1) + bpf.insn(0x61, 7, 6, LOCAL_PORT) + \
        bpf.insn(0x55, 7, off=len(ours) // 8, imm=PORT) + ours + bpf.mov(0, PASS) + bpf.EXIT


def server(make, kind):
    sock = make(kind)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((own(make), PORT))
    if kind == TCP:
        sock.listen()
    return sock


def calls(make):
    """A connection and a datagram, while a program refuses them and while it lets them be."""
    with server(make, TCP) as listener, server(make, UDP) as receiver:
        receiver.settimeout(10 * ktap.SCALE)
        for value in DROP, PASS:
            fd = bpf.array(1 << 12)
            with bpf.looking(p.A, verdict(fd, value)):
                with p.native(TCP, ns=p.B) as client:
                    yield value, failing(client.connect, (own(make), PORT))
                with p.native(UDP, ns=p.B) as client:
                    client.connect((own(make), PORT))
                    client.send(b"x")
                    yield answered(client) if value == DROP else receiver.recv(9)
                yield counted(fd)
        listener.accept()[0].close()


def answered(client):
    client.settimeout(2 * ktap.SCALE)
    try:
        return client.recv(1)
    except TimeoutError:
        return "nothing"
    except ConnectionRefusedError:
        return "ECONNREFUSED"


def counted(fd):
    seen = bpf.counts(fd, 1 << 12)
    return {(key >> 8, key & 255): n for key, n in seen.items()}


@ktap.test
def a_program_refuses_what_arrives():
    native, net6 = list(calls(p.native)), list(calls(p.net6))
    ktap.equal(net6, native, "connect(), datagram, calls; while refused and not")
    ktap.equal(native[:2], [(DROP, "ECONNREFUSED"), "ECONNREFUSED"], "native's")


@ktap.test
def a_connection_is_not_asked_about():
    """Only what has no socket of its own: not a connection's segments, nor a connected datagram
    socket's.
    """
    results = []
    for make in p.native, p.net6:
        fd = bpf.array(1 << 12)
        with server(make, TCP) as listener, p.native(TCP, ns=p.B) as client, \
                make(UDP) as here, p.native(UDP, ns=p.B) as there:
            client.connect((own(make), PORT))
            taken = listener.accept()[0]
            there.bind((p.NATIVE_B, PORT))
            here.bind((own(make), PORT))
            here.connect((p.NATIVE_B, PORT))
            with taken, bpf.looking(p.A, verdict(fd, DROP)):
                client.sendall(b"ping")
                ktap.equal(ktap.take(taken, 4), b"ping", "the stream")
                there.sendto(b"pong", (own(make), PORT))
                ktap.equal(here.recv(9), b"pong", "the datagram")
            results.append(counted(fd))
    ktap.equal(results, [{}, {}], "calls, native's and net6's")


@ktap.test
def no_socket_of_net6_can_be_chosen():
    """A program chooses out of a map for sockets: there is none of net6's in one."""
    fd = bpf.array(1, bpf.SOCKMAP)
    for kind in TCP, UDP:
        with server(p.native, kind) as native, server(p.net6, kind) as net6:
            ktap.equal(failing(bpf.put, fd, 0, native.fileno()), None, "native's")
            ktap.true(failing(bpf.put, fd, 0, net6.fileno()) in ("ENOTSUP", "EBUSY"),
                      "net6's is refused")


ktap.main(setup=setup)
