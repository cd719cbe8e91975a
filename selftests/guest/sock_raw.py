#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Raw sockets of net6 behave as native ones: creation, options, what they are shown,
# filters and checksums, whole packets of the program's own, errors. With UDP the order
# of interfaces, and identifiers of echo sockets.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: stock+
# timeout: 120
import ctypes
import errno
import os
import socket
import struct
import sys
import time
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p
from ktap import failing

V6, RAW, ICMP6 = socket.IPPROTO_IPV6, 255, socket.IPPROTO_ICMPV6
CHECKSUM, FILTER, HDRINCL, RECVERR = 7, 1, 36, 25
PROTO = 253		# RFC 3692: for experiments
libc = ktap._libc


def both(function):
    """Runs function(socket maker, own address) on both stacks with the same result."""
    ktap.equal(function(p.net6, p.NET6_A), function(p.native, p.NATIVE_A), function.__name__)


def raw(make, proto=PROTO, **where):
    return make(socket.SOCK_RAW, proto, **where)


def block_all_but(sock, *types):
    bits = [0xffffffff] * 8
    for t in types:
        bits[t // 32] &= ~(1 << t % 32)
    sock.setsockopt(ICMP6, FILTER, struct.pack("=8I", *bits))


@ktap.test
def creation_as_native():
    def unprivileged(family):
        pid = os.fork()
        if not pid:
            os.setuid(65534)
            libc.socket(family, socket.SOCK_RAW, ICMP6)
            os._exit(ctypes.get_errno())
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with p.A:
        for proto in (0, -1, 255, 256, 262, 263, 1 << 20):
            got = []
            for family in (ktap.AF_NET6, socket.AF_INET6):
                fd = libc.socket(family, socket.SOCK_RAW, proto)
                got.append(ctypes.get_errno() if fd < 0 else 0)
                if fd >= 0:
                    os.close(fd)
            ktap.equal(got[0], got[1], f"errno of protocol {proto}")
        ktap.equal(unprivileged(ktap.AF_NET6), errno.EPERM, "errno without CAP_NET_RAW")
        ktap.equal(unprivileged(socket.AF_INET6), errno.EPERM, "errno of native")


@ktap.test
def calls_and_options_as_native():
    def calls(make, own):
        out = []
        for proto in (PROTO, ICMP6, RAW, 17, 6, 135, 256):
            s = raw(make, proto)
            out.append((s.getsockname(), failing(s.getpeername)))
            for level in (V6, RAW):
                for option in (CHECKSUM, HDRINCL, 99):
                    out.append(failing(s.getsockopt, level, option))
                    for value in (-1, 0, 1, 2, 3, 40, 1 << 20):
                        out.append((proto, level, option, value,
                                    failing(s.setsockopt, level, option, value),
                                    failing(s.getsockopt, level, option)))
                    out.append(failing(s.setsockopt, level, option, b"\0\0"))
            for size in (0, 1, 31, 32, 33, 64):
                out.append((size, failing(s.setsockopt, ICMP6, FILTER, b"\xa5" * size),
                            failing(s.getsockopt, ICMP6, FILTER, 64)))
            for size in (0, 3, 32):
                out.append(failing(s.getsockopt, ICMP6, FILTER, size))
            out.append(failing(s.getsockopt, ICMP6, 2))
            out.append(failing(s.setsockopt, V6, 26, 1))
            out.append(failing(s.listen))
            out.append(failing(s.bind, ("fd00::dead", 0)))
            out.append(failing(s.bind, ("fe80::1", 0)))
            out.append(failing(s.bind, ("::ffff:1.2.3.4", 0)))
            out.append(failing(s.bind, (own, 77)))
            out.append(s.getsockname()[1])
            out.append(failing(s.connect, ("::ffff:1.2.3.4", 0)))
            s.setsockopt(V6, HDRINCL, 0)
            out.append(failing(s.send, b"x"))
            for port in (0, 1, proto, 256):
                out.append((proto, port, failing(s.sendto, b"x" * 8, (p.NATIVE_B, port))))
            out.append(failing(s.send, b"x" * 8))
            out.append(failing(s.connect, (p.NATIVE_B, 5)))
            out.append((s.getpeername()[1], failing(s.send, b"y" * 8)))
            out.append(failing(s.sendto, b"", socket.MSG_OOB, (p.NATIVE_B, 0)))
            s.setblocking(False)    # Python waits for data first otherwise
            out.append(failing(s.recv, 1, socket.MSG_OOB))
            s.settimeout(10 * ktap.SCALE)
            out.append(failing(s.send, b"z" * 70000))
            s.close()
        return out
    mine, theirs = calls(p.net6, p.NET6_A), calls(p.native, p.NATIVE_A)
    for number, (one, two) in enumerate(zip(mine, theirs)):
        ktap.equal(one, two, f"result {number}")


@ktap.test
def a_protocol_of_ones_own_goes_both_ways():
    a, b = raw(p.net6), raw(p.native, ns=p.B)
    for sock in (a, b):
        sock.setsockopt(V6, CHECKSUM, 2)
    for size in (4, 5, 1000, 1452, 1453, 9000, 60000):
        data = b"\0\0\0\0" + os.urandom(size - 4)
        for src, dst, to in ((a, b, p.NATIVE_B), (b, a, p.NET6_A)):
            src.sendto(data, (to, 0))
            got, who = dst.recvfrom(65535)
            ktap.true(got[:2] == data[:2] and got[4:] == data[4:], f"{size} bytes arrive")
            ktap.true(size < 6 or got[2:4] != b"\0\0", "the checksum is filled in")
            ktap.equal(who[:2], (p.NET6_A if src is a else p.NATIVE_B, 0), "sender")
    # Without a checksum the receiver that wants one hears nothing.
    b.setsockopt(V6, CHECKSUM, -1)
    b.sendto(b"\0\0\0\0bad", (p.NET6_A, 0))
    b.setsockopt(V6, CHECKSUM, 2)
    b.sendto(b"\0\0\0\0good", (p.NET6_A, 0))
    ktap.equal(a.recv(100)[4:], b"good", "what arrives")
    ktap.equal(failing(a.sendto, b"abc", (p.NATIVE_B, 0)), "EINVAL", "no room for a checksum")


@ktap.test
def an_unknown_protocol_is_unknown_only_without_a_socket():
    def heard(present):
        icmp, tx = raw(p.native, ICMP6, ns=p.B), raw(p.native, PROTO - 1, ns=p.B)
        block_all_but(icmp, 4, 129)
        rx = raw(p.net6, PROTO - 1) if present else None
        tx.sendto(b"hello", (p.NET6_A, 0))
        if rx:
            ktap.equal(rx.recv(100), b"hello", "what arrives")
        # The answer to an echo comes behind everything else.
        icmp.sendto(struct.pack("!BBHHH", 128, 0, 0, 7, 7), (p.NET6_A, 0))
        types = []
        while not types or types[-1] != 129:
            types.append(icmp.recv(2000)[0])
        return types
    ktap.equal(heard(False), [4, 129], "types without a socket")
    ktap.equal(heard(True), [129], "types with one")


@ktap.test
def icmpv6_is_filtered_by_type():
    a = raw(p.net6, ICMP6)
    block_all_but(a, 129)
    b = raw(p.net6, ICMP6)
    for ident in (1, 2):
        a.sendto(struct.pack("!BBHHH", 128, 0, 0, ident, 1) + b"data", (p.NATIVE_B, 0))
        got, who = a.recvfrom(100)
        ktap.equal((got[0], got[4:6], got[8:], who[0]), (129, struct.pack("!H", ident), b"data",
                                                         p.NATIVE_B), "reply")
    # An echo to ourselves is seen both as request and as reply.
    a.sendto(struct.pack("!BBHHH", 128, 0, 0, 3, 1), (p.NET6_A, 0))
    ktap.equal(a.recv(100)[0], 129, "of our own echo the reply")
    seen = []
    while seen.count(129) < 3:
        seen.append(b.recv(2000)[0])
    ktap.true(128 in seen, "the other, without filter, sees the request too")


@ktap.test
def whole_packets_with_IPV6_HDRINCL():
    b = raw(p.native, PROTO, ns=p.B)
    b.setsockopt(V6, 51, 1)
    for proto in (RAW, PROTO):
        a = raw(p.net6, proto)
        a.setsockopt(V6, HDRINCL, 1)
        head = struct.pack("!IHBB", 0x6a500001, 5, PROTO, 9) + \
            socket.inet_pton(socket.AF_INET6, p.NET6_A) + \
            socket.inet_pton(socket.AF_INET6, p.NATIVE_B)
        a.sendto(head + b"whole", (p.NATIVE_B, 0))
        got, control, _, _ = b.recvmsg(100, 100)
        ktap.equal((got, struct.unpack("=i", control[0][2])[0]), (b"whole", 9), "packet, hops")
        ktap.equal(failing(a.sendto, head[:39], (p.NATIVE_B, 0)), "EINVAL", "half a header")
        ktap.equal(failing(a.sendto, head + b"x" * 1461, (p.NATIVE_B, 0)), "EMSGSIZE",
                   "more than the link carries")


@ktap.test
def errors_come_back():
    def errors(make, own):
        a = raw(make, PROTO - 2)
        a.setsockopt(V6, RECVERR, 1)
        a.bind((own, 0))
        a.sendto(b"0123456789", (p.NATIVE_B, 0))
        ktap.wait_for(10, "the error", lambda: a.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
        data, control, flags, name = a.recvmsg(100, 500, socket.MSG_ERRQUEUE)
        level, kind, body = control[0]
        return data, level, kind, struct.unpack("=IBBBBII", body[:16]), flags, name[:2], body[16:44]
    both(errors)

    def refused(make, own):
        a = raw(make, PROTO - 2)
        a.bind((own, 0))
        a.connect((p.NATIVE_B, 0))
        a.send(b"0123456789")
        return failing(a.recv, 100)
    both(refused)

    def too_big(make, own):
        a = raw(make)
        a.setsockopt(V6, RECVERR, 1)
        a.setsockopt(V6, 23, 2)
        out = [failing(a.sendto, b"x" * 2000, (p.NATIVE_B, 0))]
        _, control, _, name = a.recvmsg(100, 500, socket.MSG_ERRQUEUE)
        return out + [control[0][2][:16], name[:2]]
    both(too_big)


@ktap.test
def options_of_the_socket_layer():
    def options(make, own):
        with raw(make) as sock:
            reuse = sock.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
            # SO_PEEK_OFF
            return [reuse, failing(sock.setsockopt, socket.SOL_SOCKET, 42, 1),
                    failing(sock.getsockopt, socket.SOL_SOCKET, 42)]
    both(options)
    with p.net6(socket.SOCK_DGRAM, ICMP6) as echo:
        ktap.equal(failing(echo.setsockopt, socket.SOL_SOCKET, 42, 1), "ENOTSUP",
                   "SO_PEEK_OFF of an echo socket")


@ktap.test
def a_packet_waits_for_its_time():
    """SO_TXTIME, where a queueing discipline keeps it."""
    ktap.kmod("sch_fq")
    if "Unknown" in p.A.run("tc", "qdisc", "add", "dev", "a0", "root", "fq", check=False):
        raise ktap.Skip("no fq")

    def late(make, own, whole):
        with raw(make) as a, raw(p.native, ns=p.B) as b:
            a.setsockopt(socket.SOL_SOCKET, 61, struct.pack("=iI", time.CLOCK_MONOTONIC, 0))
            data = b"late"
            if whole:
                a.setsockopt(V6, HDRINCL, 1)
                data = struct.pack("!IHBB", 6 << 28, len(data), PROTO, 64) + \
                    socket.inet_pton(socket.AF_INET6, own) + \
                    socket.inet_pton(socket.AF_INET6, p.NATIVE_B) + data
            at = time.monotonic_ns() + 10 ** 9
            a.sendmsg([data], [(socket.SOL_SOCKET, 61, struct.pack("=Q", at))], 0,
                      (p.NATIVE_B, 0))
            return b.recv(100), time.monotonic_ns() >= at
    try:
        for whole in (False, True):
            for make, own in ((p.native, p.NATIVE_A), (p.net6, p.NET6_A)):
                ktap.equal(late(make, own, whole), (b"late", True), f"{make.__name__}, {whole}")
    finally:
        p.A.run("tc", "qdisc", "del", "dev", "a0", "root")


@ktap.test
def matching_by_address_and_peer():
    def heard(make, own):
        every, bound, other, linked = (raw(make, PROTO) for _ in range(4))
        b = raw(p.native, PROTO, ns=p.B)
        bound.bind((own, 0))
        other.bind(("::1", 0)) if make is p.native else other.bind((p.NET6_A1, 0))
        linked.connect((p.NATIVE_B, 0))
        b.sendto(b"one", (own, 0))
        out = [s.recv(10) for s in (every, bound, linked)]
        other.settimeout(0)
        out.append(failing(other.recv, 10))
        # ioctl SIOCINQ and poll agree that nothing is left
        every.settimeout(0)
        out.append(failing(every.recv, 10))
        return out
    both(heard)


@ktap.test
def a_full_queue_drops_and_goes_on():
    a, b = raw(p.net6), raw(p.native, ns=p.B)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(100):
        b.sendto(b"x" * 1000, (p.NET6_A, 0))
    ktap.equal(len(a.recv(2000)), 1000, "bytes of the first")
    a.settimeout(0)
    count = 0
    while failing(a.recv, 2000) != "EAGAIN":
        count += 1
    ktap.true(count < 50, f"{count} more were queued")
    b.sendto(b"again", (p.NET6_A, 0))
    a.settimeout(10 * ktap.SCALE)
    ktap.equal(a.recv(100), b"again", "then")


@ktap.test
def the_interface_in_ancillary_data_goes_before_options():
    """RFC 3542 6.7: IPV6_MULTICAST_IF counts when nothing else names an interface."""
    def sent(make, kind, proto, link_local):
        out = []
        for option, to in ((socket.IPV6_MULTICAST_IF, "ff02::77"), (76, "fd00::99"),
                           (None, link_local)):
            with make(kind, proto) as s:
                if option:
                    index = p.index(p.A, "a0")
                    s.setsockopt(V6, option, index if option == socket.IPV6_MULTICAST_IF
                                 else socket.htonl(index))
                info = struct.pack("=16si", b"", p.index(p.A, "a0" if to == link_local else "a1"))
                out.append(failing(s.sendmsg, [b"x"], [(V6, socket.IPV6_PKTINFO, info)], 0,
                                   (to, 9 if kind == socket.SOCK_DGRAM else 0)))
        return out
    with p.B:
        found = ktap.run("ip", "-6", "-o", "addr", "show", "dev", "b0", "scope", "link")
    link_local = found.split("inet6 ")[1].split("/")[0]
    for kind, proto in ((socket.SOCK_DGRAM, 0), (socket.SOCK_RAW, 253)):
        ktap.equal(sent(p.net6, kind, proto, link_local),
                   sent(p.native, kind, proto, link_local), f"type {kind}")


@ktap.test
def chosen_echo_identifiers_are_not_shared():
    ports = "/proc/sys/net/ipv4/ip_local_port_range"
    with p.A:
        with open(ports, encoding="ascii") as file:
            before = file.read()
        with open(ports, "w", encoding="ascii") as file:
            file.write("40000 40001")
        socks = [p.net6(socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6) for _ in range(3)]
        request = struct.pack("!BBHHH", 128, 0, 0, 0, 1)
        try:
            for sock in socks[:2]:
                sock.sendto(request, ("::1", 0))
            for sock in socks[:2]:
                ktap.equal(sock.recv(100)[0], 129, "its reply")
            ktap.equal({sock.getsockname()[1] for sock in socks[:2]}, {40000, 40001},
                       "identifiers")
            socks[2].setblocking(False)
            ktap.raises(errno.EAGAIN, socks[2].sendto, request, ("::1", 0))
            # Whoever insists shares one.
            socks[2].bind(("::", 40000))
        finally:
            with open(ports, "w", encoding="ascii") as file:
                file.write(before)
            for sock in socks:
                sock.close()


ktap.main(setup=p.setup)
