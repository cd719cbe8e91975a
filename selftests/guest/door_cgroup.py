#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What the administrator attached to a control group holds for net6's sockets as for native's.
# Programs that see each packet out (BPF_CGROUP_INET_EGRESS) and in, and each socket made, bound
# and closed. The same rows on both stacks, native's are the judge.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: both
# timeout: 120
import contextlib
import fcntl
import os
import socket
import struct
import sys
import termios
import threading
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
import netpair as p
from ktap import failing

TCP, UDP, RAW = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
ECHO = struct.pack("!BBHHH", 128, 0, 0, 0, 1)
V6, SOL_UDP, UDP_CORK, UDP_SEGMENT, IPV6_MTU = socket.IPPROTO_IPV6, 17, 1, 103, 24
IPV6_RECVERR = 25
HOPOPTS = (V6, socket.IPV6_HOPOPTS, struct.pack("=BBBBBBBB", 0, 0, 1, 4, 0, 0, 0, 0))
PORT = 7800
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
KINDS = 512
root, group = ktap.CGROUPS


def setup():
    p.setup()
    p.A.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 0")
    ktap.cgroup()
    ktap.at_exit(os.rmdir, group)


def verdict(value):
    return bpf.mov(0, value) + bpf.EXIT


def watching(fd):
    """Counts TCP packets by their flags, others by their next header + 256; lets all through."""
    load = bpf.frame(3, -16) + bpf.mov(4, 1) + bpf.helper(bpf.LOAD_BYTES)
    flags = bpf.copy(1, 6) + bpf.mov(2, 53) + load + bpf.insn(0x71, 8, 10, -16)
    return bpf.copy(6, 1) + bpf.insn(0x7a, 10, off=-16) + bpf.mov(2, 6) + load + \
        bpf.insn(0x71, 7, 10, -16) + bpf.copy(8, 7) + bpf.insn(0x07, 8, imm=256) + \
        bpf.insn(0x55, 7, off=len(flags) // 8, imm=socket.IPPROTO_TCP) + flags + \
        bpf.count(fd, 8) + verdict(1)


def skb(attach, code):
    return bpf.attached(group, bpf.CGROUP_SKB, attach, code)


def inside():
    return bpf.inside(root, group)


def own(make):
    return p.NATIVE_A if make is p.native else p.NET6_A


def corked(sock, to):
    sock.setsockopt(SOL_UDP, UDP_CORK, 1)
    sock.sendto(b"one", to)
    sock.sendto(b"two", to)
    return failing(sock.setsockopt, SOL_UDP, UDP_CORK, 0)


def segments(sock, to):
    return failing(sock.sendmsg, [b"x" * 400], [(SOL_UDP, UDP_SEGMENT, struct.pack("=H", 100))],
                   0, to)


def in_pieces(sock, to):
    sock.setsockopt(V6, IPV6_MTU, 1280)
    return failing(sock.sendto, b"x" * 1400, to)


def connected(sock, to):
    sock.connect(to)
    return failing(sock.send, b"x"), failing(sock.send, b"x" * 4000)


def whole(sock, to):
    packet = struct.pack("!IHBB", 6 << 28, 4, 253, 64) + socket.inet_pton(
        socket.AF_INET6, own(make_of[sock])) + socket.inet_pton(socket.AF_INET6, to[0]) + b"abcd"
    return failing(sock.sendto, packet, (to[0], 0))


make_of = {}
WAYS = (
    ("a datagram", UDP, 0, lambda s, to: failing(s.sendto, b"x", to)),
    ("an empty one", UDP, 0, lambda s, to: failing(s.sendto, b"", to)),
    ("fragments", UDP, 0, lambda s, to: failing(s.sendto, b"x" * 4000, to)),
    ("IPV6_MTU", UDP, 0, in_pieces),
    ("connected", UDP, 0, connected),
    ("corked", UDP, 0, corked),
    ("segments", UDP, 0, segments),
    ("options", UDP, 0, lambda s, to: failing(s.sendmsg, [b"x"], [HOPOPTS], 0, to)),
    ("raw", RAW, 253, lambda s, to: failing(s.sendto, b"abcd", (to[0], 0))),
    ("raw, whole", RAW, socket.IPPROTO_RAW, whole),
    ("raw ICMPv6", RAW, socket.IPPROTO_ICMPV6, lambda s, to: failing(s.sendto, ECHO, (to[0], 0))),
    ("ping", UDP, socket.IPPROTO_ICMPV6, lambda s, to: failing(s.sendto, ECHO, (to[0], 0))),
)


def sent(make):
    """What each way of sending one packet returns, to the other host and to ourselves; there is
    a receiver, so that no error comes back between two sends.
    """
    with p.native(UDP, ns=p.B) as there, make(UDP) as here:
        there.bind((p.NATIVE_B, PORT))
        here.bind((own(make), PORT))
        for address in p.NATIVE_B, own(make):
            yield from sent_to(make, address)
    with make(UDP) as sock:
        sock.setsockopt(V6, socket.IPV6_MULTICAST_IF, p.index(p.A, "a0"))
        yield "a group", failing(sock.sendto, b"x", ("ff02::1234", PORT))


def sent_to(make, address):
    for name, kind, proto, send in WAYS:
        for recverr in 0, 1:
            with make(kind, proto) as sock:
                make_of[sock] = make
                sock.setsockopt(V6, IPV6_RECVERR, recverr)
                yield name, address == p.NATIVE_B, recverr, send(sock, (address, PORT))
                del make_of[sock]


@ktap.test
def a_program_refuses_each_packet():
    for value, what in ((0, "no"), (2, "no, and slower"), (3, "yes, and slower")):
        with inside(), skb(bpf.EGRESS, verdict(value)):
            native, net6 = list(sent(p.native)), list(sent(p.net6))
        ktap.equal("EPERM" in str(native), value == 0, f"{what}: native is told")
        for seen, wanted in zip(net6, native):
            # Native's ping tells nobody.
            if value or wanted[0] != "ping":
                ktap.equal(seen, wanted, what)


@ktap.test
def what_is_refused_arrives_nowhere():
    for make in p.native, p.net6:
        with p.native(UDP, ns=p.B) as there, make(UDP) as here, inside():
            there.bind((p.NATIVE_B, PORT))
            here.bind((own(make), PORT))
            with make(UDP) as sock:
                with skb(bpf.EGRESS, verdict(0)):
                    for name, kind, proto, send in WAYS:
                        if kind == UDP and not proto:
                            with make(UDP) as other:
                                send(other, (p.NATIVE_B, PORT))
                            with make(UDP) as other:
                                send(other, (own(make), PORT))
                sock.sendto(b"the first", (p.NATIVE_B, PORT))
                sock.sendto(b"the first", (own(make), PORT))
            for receiver in there, here:
                ktap.equal(receiver.recv(99), b"the first", make.__name__)


@ktap.test
def a_program_sees_each_packet_once():
    """A fragmented datagram, and one in segments, whole."""
    results = []
    for make in p.native, p.net6:
        fd = bpf.array(KINDS)
        with inside(), skb(bpf.EGRESS, watching(fd)):
            list(sent(make))
        results.append(bpf.counts(fd, KINDS))
        os.close(fd)
    ktap.equal(results[1], results[0], "by next header")
    ktap.true(results[0], "something was seen")


def outq(sock):
    return struct.unpack("=i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0]


def talk(make, listener, address, ns):
    """Connection, exchange, close by the client; one that is reset; one that nobody takes."""
    def serve():
        for _ in range(2):
            sock, _ = listener.accept()
            with sock:
                sock.settimeout(10 * ktap.SCALE)
                sock.sendall(ktap.take(sock, 4))
                ktap.take(sock, 1)
                failing(sock.recv, 1)
    thread = threading.Thread(target=serve)
    thread.start()
    for linger in 0, 1:
        with make(TCP, ns=ns) as sock:
            sock.connect((address, PORT))
            sock.sendall(b"ping")
            ktap.equal(ktap.take(sock, 4), b"ping", "the echo")
            # Acknowledged by an ACK alone: the server has nothing more to say.
            sock.sendall(b".")
            ktap.wait_for(10, "it is acknowledged", lambda s=sock: not outq(s))
            if linger:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("=ii", 1, 0))
    thread.join()
    with make(TCP, ns=ns) as sock:
        ktap.equal(failing(sock.connect, (address, PORT + 1)), "ECONNREFUSED", "nobody there")


def flags(seen):
    return sorted(seen)


@ktap.test
def a_program_sees_the_segments_of_a_client():
    results = []
    with p.native(TCP, ns=p.B) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((p.NATIVE_B, PORT))
        listener.listen()
        for make in p.native, p.net6:
            out, back = bpf.array(KINDS), bpf.array(KINDS)
            with inside(), skb(bpf.EGRESS, watching(out)), skb(bpf.INGRESS, watching(back)):
                talk(make, listener, p.NATIVE_B, p.A)
            results.append([flags(bpf.counts(fd, KINDS)) for fd in (out, back)])
    ktap.equal(results[1], results[0], "flags seen out and in")
    ktap.equal({SYN, ACK, PSH | ACK, RST | ACK, FIN | ACK} - set(results[0][0]), set(), "native's")


@ktap.test
def a_program_sees_the_segments_of_a_server():
    results = []
    for make in p.native, p.net6:
        out, back = bpf.array(KINDS), bpf.array(KINDS)
        with contextlib.ExitStack() as stack:
            stack.enter_context(skb(bpf.EGRESS, watching(out)))
            stack.enter_context(skb(bpf.INGRESS, watching(back)))
            with inside():
                listener = stack.enter_context(make(TCP))
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((own(make), PORT))
                listener.listen()
            talk(p.native, listener, own(make), p.B)
            results.append([flags(bpf.counts(fd, KINDS)) for fd in (out, back)])
    # Native asks about a SYN-ACK from 6.5 on.
    ktap.true(SYN | ACK in results[1][0], "the SYN-ACK is seen")
    results[0][0] = sorted({*results[0][0], SYN | ACK})
    ktap.equal(results[1], results[0], "flags seen out and in")
    ktap.true({ACK, PSH | ACK} <= set(results[0][0]), "native's")


@ktap.test
def a_program_refuses_a_connection():
    """The SYN does not leave; nor does what a connection sends once there is a program, which
    goes on when it is gone."""
    results = []
    for make in p.native, p.net6:
        with p.native(TCP, ns=p.B) as listener, inside():
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((p.NATIVE_B, PORT))
            listener.listen()
            with skb(bpf.EGRESS, verdict(0)), make(TCP) as sock:
                sock.settimeout(0.5)
                syn = refused_connect(sock)
            with make(TCP) as sock:
                sock.connect((p.NATIVE_B, PORT))
                there = listener.accept()[0]
                there.settimeout(0.5)
                with there:
                    with skb(bpf.EGRESS, verdict(0)):
                        sent_ = failing(sock.send, b"later")
                        try:
                            early = there.recv(9)
                        except TimeoutError:
                            early = "nothing"
                    there.settimeout(20 * ktap.SCALE)
                    results.append((syn, sent_, early, ktap.take(there, 5)))
    ktap.equal(results[1], results[0], "connect(), send(), while and after it is refused")
    ktap.equal(results[0], ("timeout", 5, "nothing", b"later"), "native's")


def refused_connect(sock):
    try:
        sock.connect((p.NATIVE_B, PORT))
    except TimeoutError:
        return "timeout"
    return "connected"


def incoming(make):
    """What arrives of one datagram, echo, packet while all is refused, and what after that."""
    kinds = ((UDP, 0, b"x", PORT), (RAW, 253, b"abcd", 0))
    for kind, proto, body, port in kinds:
        with make(kind, proto) as sock, p.native(kind, proto, ns=p.B) as there:
            sock.bind((own(make), port))
            with skb(bpf.INGRESS, verdict(0)):
                there.sendto(body, (own(make), port))
                sock.settimeout(0.5)
                try:
                    yield kind, sock.recv(99)
                except TimeoutError:
                    yield kind, "nothing"
            sock.settimeout(10 * ktap.SCALE)
            there.sendto(body, (own(make), port))
            yield kind, sock.recv(99)
    with make(UDP, socket.IPPROTO_ICMPV6) as sock:
        with skb(bpf.INGRESS, verdict(0)):
            sock.sendto(ECHO, (p.NATIVE_B, 0))
            sock.settimeout(0.5)
            try:
                yield "ping", sock.recv(99)
            except TimeoutError:
                yield "ping", "nothing"
    with make(TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((own(make), PORT))
        listener.listen()
        with p.native(TCP, ns=p.B) as client:
            client.settimeout(0.5)
            with skb(bpf.INGRESS, verdict(0)):
                try:
                    client.connect((own(make), PORT))
                    yield "SYN", "connected"
                except TimeoutError:
                    yield "SYN", "nothing"


@ktap.test
def a_program_refuses_what_comes_in():
    with inside():
        native, net6 = list(incoming(p.native)), list(incoming(p.net6))
    ktap.equal(net6, native, "in")
    ktap.true(("SYN", "nothing") in native, "native's")


def life(make):
    """Calls of the programs of a socket's life: made, bound, closed."""
    for kind, proto in ((TCP, 0), (UDP, 0), (RAW, 253)):
        fd = bpf.array(3)
        with contextlib.ExitStack() as stack:
            stack.enter_context(inside())
            for i, attach in enumerate((bpf.SOCK_CREATE, bpf.POST_BIND6, bpf.SOCK_RELEASE)):
                code = bpf.mov(6, i) + bpf.count(fd, 6) + verdict(1)
                stack.enter_context(bpf.attached(group, bpf.CGROUP_SOCK, attach, code))
            with make(kind, proto) as sock:
                sock.bind((own(make), 0))
        yield kind, bpf.counts(fd, 3)
        os.close(fd)
    for attach in bpf.SOCK_CREATE, bpf.POST_BIND6:
        with inside(), bpf.attached(group, bpf.CGROUP_SOCK, attach, verdict(0)):
            sock = None
            try:
                sock = make(UDP)
            except OSError as error:
                yield attach, error.errno
                continue
            with sock:
                yield attach, failing(sock.bind, (own(make), PORT))


@ktap.test
def programs_see_a_socket_s_life():
    ktap.equal(list(life(p.net6)), list(life(p.native)), "calls")


ktap.main(setup=setup)
