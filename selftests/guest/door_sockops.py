#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Programs of a control group that are told of its TCP connections and have a say in their
# handshakes (BPF_PROG_TYPE_SOCK_OPS). The same on both stacks, native's are the judge.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: both
# timeout: 120
import contextlib
import errno
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
import netpair as p

TCP = socket.SOCK_STREAM
PORT = 7900
NOBODY = "fd00::dead"
# struct bpf_sock_ops
OP, ARGS, FULL, DATA, DATA_END = 0, 4, 72, 192, 200
CB_FLAGS_SET, SETSOCKOPT, GETSOCKOPT = 59, 49, 57
TIMEOUT_INIT, RWND_INIT, CONNECT, ACTIVE, PASSIVE, NEEDS_ECN = 1, 2, 3, 4, 5, 6
RTO, RETRANS, STATE_CHANGE, LISTEN, RTT = 8, 9, 10, 11, 12
NAMES = {TIMEOUT_INIT: "timeout", RWND_INIT: "window", CONNECT: "connect", ACTIVE: "active",
         PASSIVE: "passive", NEEDS_ECN: "ecn", LISTEN: "listen"}
# Places of what is counted: an operation, an operation about a request, a change of state
REQUEST, CHANGE, PLACES = 32, 64, 64 + 256
TCP_BPF_SYN = 1005
root, group = ktap.CGROUPS


def setup():
    p.setup()
    p.A.ip("neigh", "add", NOBODY, "lladdr", "02:00:00:00:de:ad", "dev", "a0", "nud", "permanent")
    p.ctl(p.A, "add", "neighbor", NOBODY, "lladdr", "02:00:00:00:de:ad", "dev", "a0")
    ktap.cgroup()
    ktap.at_exit(os.rmdir, group)


def load(dst, offset):
    """A field of the context, which r6 has."""
    return bpf.insn(0x61, dst, 6, offset)


def when(reg, value, code):
    """Code that runs if the register has this value."""
    return bpf.insn(0x55, reg, off=len(code) // 8, imm=value) + code


def reply(value):
    return bpf.mov(1, value) + bpf.insn(0x63, 6, 1, ARGS)


END = bpf.mov(0, 1) + bpf.EXIT


def program(*code):
    return bpf.copy(6, 1) + load(7, OP) + b"".join(code) + END


def flags(value):
    return bpf.copy(1, 6) + bpf.mov(2, value) + bpf.helper(CB_FLAGS_SET)


def telling(fd):
    """Counts operations, requests' apart, and changes of state; asks to be told of all."""
    place = load(8, FULL) + when(8, 0, bpf.insn(0x07, 7, imm=REQUEST))
    change = load(7, ARGS) + bpf.insn(0x67, 7, imm=4) + load(8, ARGS + 4) + \
        bpf.insn(0x0f, 7, 8) + bpf.insn(0x07, 7, imm=CHANGE) + bpf.count(fd, 7)
    ask = flags(0xf)
    return program(when(7, CONNECT, ask), when(7, LISTEN, ask), bpf.copy(9, 7), place,
                   bpf.count(fd, 7), when(9, STATE_CHANGE, change))


def attached(code):
    return bpf.attached(group, bpf.SOCK_OPS, bpf.CGROUP_SOCK_OPS, code)


def inside():
    return bpf.inside(root, group)


def own(make):
    return p.NATIVE_A if make is p.native else p.NET6_A


def exchange(client, server):
    """Data both ways, the client ends first; nothing of it is left when this returns."""
    client.sendall(b"ping" * 500)
    ktap.take(server, 2000)
    server.sendall(b"pong")
    ktap.take(client, 4)
    client.shutdown(socket.SHUT_WR)
    ktap.equal(server.recv(1), b"", "the end")
    server.close()
    ktap.equal(client.recv(1), b"", "the other end")
    client.close()


def told(fd):
    """What happened how often, and the changes of state."""
    seen = bpf.counts(fd, PLACES)
    changes = {((k - CHANGE) >> 4, k - CHANGE & 15): n for k, n in seen.items() if k >= CHANGE}
    requests = sorted(NAMES[k - REQUEST] for k in seen if REQUEST <= k < CHANGE)
    once = {NAMES[k]: seen.get(k, 0) for k in (CONNECT, ACTIVE, PASSIVE, LISTEN)}
    asked = sorted(NAMES[k] for k in (TIMEOUT_INIT, RWND_INIT, NEEDS_ECN) if k in seen)
    return once, asked, requests, changes, RTT in seen


def as_client(make):
    fd = bpf.array(PLACES)
    with p.listening(p.native, p.NATIVE_B, PORT, p.B) as listener, attached(telling(fd)):
        with inside():
            client = make(TCP)
        client.connect((p.NATIVE_B, PORT))
        exchange(client, listener.accept()[0])
    ktap.wait_for(10, "the last state", lambda: told(fd)[3].get((5, 7)))
    return told(fd)


@ktap.test
def a_program_is_told_of_a_client():
    native, net6 = as_client(p.native), as_client(p.net6)
    ktap.equal(net6, native, "calls")
    ktap.equal(native[0], {"connect": 1, "active": 1, "passive": 0, "listen": 0}, "native's")


def as_server(make):
    fd = bpf.array(PLACES)
    with attached(telling(fd)):
        with inside():
            listener = p.listening(make, own(make), PORT)
        with listener, p.native(TCP, ns=p.B) as client:
            client.connect((own(make), PORT))
            exchange(client, listener.accept()[0])
            # The client's FIN came first: LAST-ACK is left when ours is acknowledged.
            ktap.wait_for(10, "the last state", lambda: told(fd)[3].get((9, 7)))
    return told(fd)


@ktap.test
def a_program_is_told_of_a_server():
    native, net6 = as_server(p.native), as_server(p.net6)
    # Native asks about ECN when it makes a SYN-ACK, too, whoever it is for.
    for result in native, net6:
        for asked in result[1:3]:
            if "ecn" in asked:
                asked.remove("ecn")
    ktap.equal(net6, native, "calls")
    ktap.equal(native[0], {"connect": 0, "active": 0, "passive": 1, "listen": 1}, "native's")
    ktap.equal(native[2], ["timeout", "window"], "native's about a request")


def keep(fd, place, reg):
    """An array's entry becomes the value of the register; r1 to r5 are lost."""
    return bpf.insn(0x62, 10, off=-4, imm=place) + bpf.the_map(1, fd) + bpf.frame(2, -4) + \
        bpf.helper(bpf.LOOKUP) + bpf.insn(0x15, 0, off=1) + bpf.insn(0x7b, 0, reg)


def retransmitting(make):
    """Time-outs of a SYN that a program has set to 3 ticks: those told of, what is told."""
    fd = bpf.array(4)
    rto = load(8, ARGS + 4) + keep(fd, 0, 8) + bpf.mov(8, 1) + bpf.count(fd, 8)
    again = bpf.mov(8, 2) + bpf.count(fd, 8) + load(8, ARGS + 4) + keep(fd, 3, 8)
    code = program(when(7, CONNECT, flags(3)), when(7, TIMEOUT_INIT, reply(3)),
                   when(7, RTO, rto), when(7, RETRANS, again))
    with attached(code), inside(), make(TCP) as sock:
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            sock.connect((NOBODY, PORT))
        ktap.wait_for(10, "three retransmissions", lambda: bpf.counts(fd, 4).get(2, 0) >= 3)
        seen = bpf.counts(fd, 4)
    return seen[1] >= 3, seen[0] % 3, seen[0] >= 6, seen[3]


@ktap.test
def a_program_sets_the_first_time_out():
    # Native of 6.5 and later does not back off at first, unlike RFC 6298 (5.5), unless told.
    p.A.run("sysctl", "-qew", "net.ipv4.tcp_syn_linear_timeouts=0")
    native, net6 = retransmitting(p.native), retransmitting(p.net6)
    ktap.equal(net6, native, "told of, multiple of 3 ticks, doubled, segments")
    ktap.equal(native, (True, 0, True, 1), "native's")


def watching(source):
    """TCP headers of SYNs and SYN-ACKs from an address, as B sees them."""
    with p.B:
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x86dd))
    wire.bind(("b0", 0x86dd))
    wire.settimeout(10 * ktap.SCALE)

    def look():
        while True:
            packet, about = wire.recvfrom(2000)
            if about[2] != socket.PACKET_OUTGOING and packet[6] == socket.IPPROTO_TCP and \
                    packet[8:24] == socket.inet_pton(socket.AF_INET6, source) and packet[53] & 2:
                wire.close()
                return packet[53], struct.unpack_from("!H", packet, 54)[0]
    return look


def handshake(make, code, server):
    """Flags and window of the SYN or SYN-ACK of a connection that a program has a say in."""
    look = watching(own(make))
    p.B.run("sysctl", "-qw", "net.ipv4.tcp_ecn=1")
    with attached(code), contextlib.ExitStack() as stack:
        if server:
            with inside():
                stack.enter_context(p.listening(make, own(make), PORT))
            client = stack.enter_context(p.native(TCP, ns=p.B))
            client.connect((own(make), PORT))
        else:
            stack.enter_context(p.listening(p.native, p.NATIVE_B, PORT, p.B))
            with inside():
                client = stack.enter_context(make(TCP))
            client.connect((p.NATIVE_B, PORT))
        return look()


@ktap.test
def a_program_sets_the_first_window():
    code = program(when(7, RWND_INIT, reply(3)))
    for server in False, True:
        for make in p.native, p.net6:
            window = handshake(make, code, server)[1]
            ktap.true(3 * 1400 <= window <= 3 * 1440, f"{make.__name__} {server}: {window}")


@ktap.test
def a_program_asks_for_ecn():
    p.A.run("sysctl", "-qw", "net.ipv4.tcp_ecn=0")
    try:
        for server in False, True:
            for value in 0, 1:
                code = program(when(7, NEEDS_ECN, reply(value)))
                native, net6 = (handshake(make, code, server)[0] for make in (p.native, p.net6))
                ktap.equal(net6, native, f"flags, {server}, {value}")
                ktap.equal(native & 0x40, 0x40 * value, "native's")
    finally:
        p.A.run("sysctl", "-qw", "net.ipv4.tcp_ecn=2")


@ktap.test
def a_request_has_no_copy_of_its_syn():
    """What a program asks of a request is not taken from behind it."""
    ask = bpf.copy(1, 6) + bpf.mov(2, socket.IPPROTO_TCP) + bpf.mov(3, TCP_BPF_SYN) + \
        bpf.insn(0x7a, 10, off=-32) + bpf.insn(0x7a, 10, off=-24) + bpf.frame(4, -32) + \
        bpf.mov(5, 16) + bpf.helper(GETSOCKOPT)
    results = []
    for make in p.native, p.net6:
        fd = bpf.array(1)
        code = program(when(7, TIMEOUT_INIT, ask + bpf.copy(8, 0) + keep(fd, 0, 8)))
        handshake(make, code, True)
        results.append(bpf.counts(fd, 1)[0] - (1 << 64))
    ktap.equal(results, [-errno.ENOENT] * 2, "native's and net6's")


@ktap.test
def the_header_of_the_last_segment_can_be_read():
    """By its flags: the client's SYN-ACK, the server's ACK."""
    read = bpf.insn(0x71, 8, 2, 13) + keep(fd := bpf.array(2), 0, 8)
    peek = bpf.insn(0x79, 2, 6, DATA) + bpf.insn(0x79, 3, 6, DATA_END) + bpf.copy(4, 2) + \
        bpf.insn(0x07, 4, imm=20) + bpf.insn(0x2d, 4, 3, len(read) // 8) + read
    code = program(when(7, ACTIVE, peek), when(7, PASSIVE, peek))
    results = []
    for make in p.native, p.net6:
        for server in False, True:
            handshake(make, code, server)
            results.append(ktap.wait_for(10, "it is seen", lambda: bpf.counts(fd, 2).get(0)))
            bpf.put(fd, 0, 0)
    ktap.equal(results, [0x12, 0x10] * 2, "native's and net6's")


def asked_to_set(name, value, size):
    """What bpf_setsockopt() of level IPPROTO_TCP says in a program on net6's socket."""
    ask = bpf.insn(0x62, 10, off=-16, imm=value) + bpf.insn(0x62, 10, off=-12, imm=0) + \
        bpf.copy(1, 6) + bpf.mov(2, socket.IPPROTO_TCP) + bpf.mov(3, name) + \
        bpf.frame(4, -16) + bpf.mov(5, size) + bpf.helper(SETSOCKOPT)
    fd = bpf.array(1)
    code = program(when(7, CONNECT, ask + bpf.copy(8, 0) + keep(fd, 0, 8)))
    with attached(code), inside(), p.net6(TCP) as sock:
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            sock.connect((NOBODY, PORT))
        said = struct.unpack("i", struct.pack("I", bpf.counts(fd, 1).get(0, 0) & 0xffffffff))[0]
        name = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        return said, name.rstrip(b"\0").decode(), \
            sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@ktap.test
def options_of_tcp_are_refused_or_harmless():
    """Older kernels refuse what has not native's calls; newer ones ask for TCP only."""
    said, _, nodelay = asked_to_set(socket.TCP_NODELAY, 1, 4)
    ktap.true((said, nodelay) in ((-errno.EINVAL, 0), (0, 1)), f"no delay: {said}, {nodelay}")
    # Native would count users of modules that net6 does not know.
    refused = -errno.EPERM if said == 0 else -errno.EINVAL
    said, name, _ = asked_to_set(socket.TCP_CONGESTION, int.from_bytes(b"reno", "little"), 5)
    ktap.true(said == refused and name != "reno", f"congestion control: {said}, {name}")


ktap.main(setup=setup)
