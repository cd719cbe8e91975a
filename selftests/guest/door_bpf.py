#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Programs that sit on a socket or look at sockets. Filters (SO_ATTACH_BPF, SO_ATTACH_FILTER), the
# choice among sockets of one port (SO_ATTACH_REUSEPORT_EBPF), maps of sockets, storage that
# belongs to a socket, iterators. The same rows on both stacks, native's are the judge.
#
#	[ one namespace: native ::1 on lo | net6 ::1 on the pseudo-loopback ]
#
# guest: stock
# timeout: 90
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
import tcpapi
import uring
from ktap import failing
from tcpapi import PATIENCE, scenario

TCP, UDP, RAW = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
SO_ATTACH_FILTER, SO_DETACH_FILTER, SO_LOCK_FILTER, SO_ATTACH_BPF = 26, 27, 44, 50
SO_REUSEPORT, SO_ATTACH_REUSEPORT_EBPF, SO_DETACH_REUSEPORT_BPF = 15, 52, 68
SELECT_REUSEPORT, SK_REUSEPORT_SELECT = 82, 39
NET_OFF = -0x100000
NO_PREALLOC, CLONE = 1, 1 << 9
TRACE_ITER = 28


def make(p, kind=UDP, proto=0, bind=True, reuse=False):
    sock = ktap.net6_socket(kind, proto) if p.name == "net6" else socket.socket(
        socket.AF_INET6, kind, proto)
    sock.settimeout(PATIENCE)
    p.open.append(sock)
    if reuse:
        sock.setsockopt(socket.SOL_SOCKET, SO_REUSEPORT, 1)
    if bind:
        sock.bind(("::1", bind if reuse else 0))
    return sock


def returns(value):
    return bpf.load(bpf.SOCKET_FILTER, 0, bpf.mov(0, value) + bpf.EXIT)


def attach(sock, program, option=SO_ATTACH_BPF):
    return failing(sock.setsockopt, socket.SOL_SOCKET, option, program)


def heard(sock, sender, data, to, behind):
    """What of it comes. A datagram behind it, by the same processor, always does."""
    sender.sendto(data, to)
    behind.sendto(b"behind", behind.getsockname())
    ktap.equal(behind.recv(9), b"behind", "what is behind it")
    sock.setblocking(False)
    result = failing(sock.recv, 99)
    sock.settimeout(PATIENCE)
    return result


@scenario
def a_filter_cuts_and_drops_datagrams(p, note):
    there, here, behind = make(p), make(p), make(p)
    raw, out = make(p, RAW, 253), make(p, RAW, 253)
    for length in (0, 1, 5, 8, 9, 12, 100):
        program = returns(length)
        note("attached", attach(there, program))
        note(f"{length}: datagram", heard(there, here, b"0123456789", there.getsockname(), behind))
        note("attached", attach(raw, program))
        note(f"{length}: packet", heard(raw, out, b"0123456789", ("::1", 0), behind))
        os.close(program)
    for sock in there, raw:
        note("detached", failing(sock.setsockopt, socket.SOL_SOCKET, SO_DETACH_FILTER, 0))
        note("again", failing(sock.setsockopt, socket.SOL_SOCKET, SO_DETACH_FILTER, 0))
    note("whole", heard(there, here, b"0123456789", there.getsockname(), behind))
    program = returns(9)
    attach(there, program)
    there.setsockopt(socket.SOL_SOCKET, SO_LOCK_FILTER, 1)
    note("locked", attach(there, program))
    note("locked", failing(there.setsockopt, socket.SOL_SOCKET, SO_DETACH_FILTER, 0))
    note("no program", attach(here, there.fileno()))
    os.close(program)


def byte_at(offset):
    """A program that lets through what has a 17 there: one of IPv6's or of UDP's."""
    # r6 = context; BPF_LD | BPF_ABS | BPF_B
    code = bpf.copy(6, 1) + bpf.insn(0x30, imm=offset) + bpf.copy(7, 0) + bpf.mov(0, 99) + \
        bpf.insn(0x15, 7, off=1, imm=17) + bpf.mov(0, 0) + bpf.EXIT
    return bpf.load(bpf.SOCKET_FILTER, 0, code)


@scenario
def a_filter_reads_the_packet(p, note):
    """From its transport header on, and from its network header on."""
    there, here, behind = make(p), make(p), make(p)
    for offset in (NET_OFF + 6, NET_OFF + 7, 8, 9, 40, 1000):
        program = byte_at(offset)
        attach(there, program)
        note(offset, heard(there, here, b"\x11" + b"x" * 9, there.getsockname(), behind))
        os.close(program)


@scenario
def a_filter_holds_for_a_stream_and_its_children(p, note):
    program = returns(0)
    listener = p.listener()
    note("attached", attach(listener, program))
    client = p.socket()
    client.settimeout(0.3)
    note("dropped", tcpapi.outcome(client.connect, listener.getsockname()))
    note("detached", failing(listener.setsockopt, socket.SOL_SOCKET, SO_DETACH_FILTER, 0))
    client, server, _ = p.pair()
    attach(server, program)
    client.sendall(b"words")
    server.settimeout(0.3)
    note("dropped", tcpapi.outcome(server.recv, 9))
    server.settimeout(PATIENCE)
    server.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
    note("sent again", server.recv(9))
    os.close(program)
    program = returns(1 << 20)
    listener = p.listener()
    attach(listener, program)
    client = p.client(listener)
    server = p.accept(listener)
    note("a child has it", failing(server.setsockopt, socket.SOL_SOCKET, SO_DETACH_FILTER, 0))
    os.close(program)


@scenario
def a_program_chooses_among_sockets(p, note):
    group = [make(p, reuse=True, bind=7300 + (p.name == "net6"))]
    for _ in range(3):
        group.append(make(p, reuse=True, bind=group[0].getsockname()[1]))
    here = make(p)
    for index in (0, 1, 2, 3, 4, 99):
        program = returns(index)
        note("attached", attach(group[2], program, SO_ATTACH_REUSEPORT_EBPF))
        os.close(program)
        for turn in range(3):
            here.sendto(b"x", group[0].getsockname())
            ready = tcpapi.select.select(group, [], [], PATIENCE)[0]
            for sock in ready:
                sock.recv(9)
            # A program that names none leaves it to the hash, which is each stack's own.
            note(f"{index}, {turn}", [group.index(s) for s in ready] if index < 4 else len(ready))
    note("detached", failing(group[0].setsockopt, socket.SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, 0))
    note("of no group", attach(here, 0, SO_ATTACH_REUSEPORT_EBPF))


@scenario
def a_map_takes_listeners_to_choose_from(p, note):
    """And of native's stack datagrams: net6's have their user data set, lest a tunnel take them."""
    fd, key = bpf.array(4, bpf.REUSEPORT_SOCKARRAY, 8), bytes(4)
    for kind in UDP, TCP:
        sock = p.socket() if kind == TCP else make(p, bind=False)
        note("not bound", failing(bpf.update, fd, key, struct.pack("=Q", sock.fileno())))
        sock.setsockopt(socket.SOL_SOCKET, SO_REUSEPORT, 1)
        sock.bind(("::1", 0))
        if kind == TCP:
            sock.listen()
        seen = failing(bpf.update, fd, key, struct.pack("=Q", sock.fileno()))
        if kind == UDP:
            ktap.equal(seen, "EBUSY" if p.name == "net6" else None, "datagrams")
        else:
            note("a listener", seen)
            note("it is there", len(bpf.lookup(fd, key, 8)))
        sock.close()
        note("it is gone", failing(bpf.lookup, fd, key, 8))
    os.close(fd)


def types():
    """BTF of a map whose values are int."""
    names = b"\0int\0"
    ints = struct.pack("=IIII", 1, 1 << 24, 4, 1 << 24 | 32)
    head = struct.pack("=HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(ints), len(ints), len(names))
    data, at = uring.memory(head + ints + names)
    fd = bpf.call(bpf.BTF_LOAD, struct.pack("=QQIII4x", at, 0, len(data), 0, 0))
    return fd


def storage(flags):
    """A map of values that belong to sockets."""
    btf = types()
    # ... map_flags, inner_map_fd, numa_node, map_name[16], map_ifindex, btf_fd, key, value types
    fd = bpf.call(bpf.MAP_CREATE, struct.pack("=IIIIIII16sIIII", bpf.SK_STORAGE, 4, 4, 0, flags, 0,
                                              0, b"", 0, btf, 1, 1))
    os.close(btf)
    return fd


@scenario
def a_socket_keeps_what_programs_store_with_it(p, note):
    for flags in (NO_PREALLOC, NO_PREALLOC | CLONE):
        fd = storage(flags)
        listener = p.listener()
        for sock in (listener, make(p), make(p, RAW, 253, False)):
            key = struct.pack("=i", sock.fileno())
            note("none", failing(bpf.lookup, fd, key, 4))
            note("stored", failing(bpf.update, fd, key, struct.pack("=i", 42)))
            note("found", failing(bpf.lookup, fd, key, 4))
            if sock is not listener:
                note("deleted", failing(bpf.delete, fd, key))
                note("none", failing(bpf.lookup, fd, key, 4))
                bpf.update(fd, key, struct.pack("=i", 43))
        client = p.client(listener)
        server = p.accept(listener)
        note("of a child", failing(bpf.lookup, fd, struct.pack("=i", server.fileno()), 4))
        note("of its client", failing(bpf.lookup, fd, struct.pack("=i", client.fileno()), 4))
        # Sockets first, then the map, and the other way round.
        if flags & CLONE:
            p.close()
        os.close(fd)
        p.close()


def function(name):
    """The number of a kernel function's type."""
    try:
        with open("/sys/kernel/btf/vmlinux", "rb") as file:
            data = file.read()
    except FileNotFoundError as error:
        raise ktap.Skip("no BTF") from error
    _, _, _, head, start, _, names, _ = struct.unpack_from("=HBBIIIII", data)
    at, end, number = head + start, head + names, 0
    strings = head + names
    wanted = data.index(b"\0" + name.encode() + b"\0", strings) + 1 - strings
    # How long what follows a type is, each of its members, by its kind.
    fixed = {1: 4, 3: 12, 14: 4, 17: 4}
    each = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
    while at < end:
        number += 1
        which, info = struct.unpack_from("=II", data, at)
        kind, members = info >> 24 & 31, info & 0xffff
        if kind == 12 and which == wanted:
            return number
        at += 12 + fixed.get(kind, 0) + each.get(kind, 0) * members
    raise ktap.Skip(f"no {name}")


def walked(kind):
    """How often an iterator over sockets calls its program."""
    fd = bpf.array(1)
    # r1 = {meta, socket}: the last call has none.
    code = bpf.insn(0x79, 7, 1, 8) + bpf.insn(0x15, 7, off=len(bpf.count(fd, 6)) // 8 + 1) + \
        bpf.mov(6, 0) + bpf.count(fd, 6) + bpf.mov(0, 0) + bpf.EXIT
    program = bpf.load(bpf.TRACING, TRACE_ITER, code, function(f"bpf_iter_{kind}"))
    link = bpf.call(bpf.LINK_CREATE, struct.pack("=IIII", program, 0, TRACE_ITER, 0) + bytes(16))
    iterator = bpf.call(bpf.ITER_CREATE, struct.pack("=II", link, 0))
    while os.read(iterator, 4096):
        pass
    seen = bpf.counts(fd, 1).get(0, 0)
    for each in (iterator, link, program, fd):
        os.close(each)
    return seen


@ktap.test
def iterators_walk_native_s_sockets():
    """Of net6's there are none in native's tables, open, listening, connected or closing."""
    before = [walked(kind) for kind in ("tcp", "udp")]
    place = tcpapi.Place("net6")
    place.pair()
    make(place)
    ktap.equal([walked(kind) for kind in ("tcp", "udp")], before, "beside net6's")
    place.close()
    place = tcpapi.Place("native")
    place.pair()
    make(place)
    ktap.equal([walked(kind) for kind in ("tcp", "udp")], [before[0] + 3, before[1] + 1],
               "beside native's")
    place.close()


def setup():
    tcpapi.setup()
    # What one processor sends to itself comes in the order in which it was sent.
    os.sched_setaffinity(0, {0})


ktap.main(setup)
