#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Every socket call with wrong arguments and in wrong states gives the native stack's
# result: lengths, pointers, families, flags, order, for each type of socket.
#
#	A [a0] ------ [b0] B	(lib/netpair.py); results of both stacks are compared
#
# Sockets are made IPv6-only: net6 takes IPv4 addresses in another way. Fast Open is off for
# both. One difference is meant: RFC 4007 section 6, a link-local address without a zone is
# refused where native takes any interface.
# guest: stock
# timeout: 120
import ctypes
import errno
import os
import select
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p

libc = ktap._libc
STREAM, DGRAM, RAW = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
TYPES = ((STREAM, 0), (DGRAM, 0), (RAW, 253))
ECHO = (DGRAM, socket.IPPROTO_ICMPV6)
BAD = ctypes.c_void_p(1)
KERNEL = ctypes.c_void_p(0xffff888000000000)


def call(name, *args):
    """A system call by its C function: result, or the name of the error."""
    done = getattr(libc, name)(*args)
    return errno.errorcode[ctypes.get_errno()] if done < 0 else done


def sin6(address="::", port=0, family=socket.AF_INET6, scope=0):
    return struct.pack("=H", family) + struct.pack("!HI", port, 0) + \
        socket.inet_pton(socket.AF_INET6, address) + struct.pack("=I", scope)


def compare(what, function):
    """function(maker, own address) yields (name, result); both stacks the same."""
    mine = list(function(p.net6, p.NET6_A))
    theirs = list(function(p.native, p.NATIVE_A))
    for one, two in zip(mine, theirs):
        ktap.equal(one, two, what)
    ktap.equal(len(mine), len(theirs), "number of results")


def setup():
    p.setup()
    p.A.run("sysctl", "-qw", "net.ipv4.tcp_fastopen=0", "net.ipv4.ping_group_range=0 0")


def only_ipv6(make, kind, proto, **options):
    """A socket that takes no IPv4 address; raw ones have no such option."""
    sock = make(kind, proto, **options)
    if kind != RAW:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return sock


def each_type(function, types=TYPES + (ECHO,)):
    """Registers a table that is run for each type of socket."""
    for kind, proto in types:
        def run(kind=kind, proto=proto):
            compare(f"{function.__name__} of type {int(kind)}, protocol {proto}",
                    lambda make, own: function(lambda **o: only_ipv6(make, kind, proto, **o),
                                               own))
        ktap.test(f"{function.__name__.replace('_', ' ')} of type {int(kind)}, "
                  f"protocol {proto}")(run)
    return function


def not_echo(function):
    """Native's echo sockets have their own ideas of bind() and no ioctl()."""
    return each_type(function, TYPES)


@not_echo
def bind(make, own):
    for length in (-1, 0, 1, 2, 8, 16, 23, 24, 27, 28, 29, 128, 129):
        s = make()
        raw = sin6(own) + b"\0" * 101
        yield "length", length, call("bind", s.fileno(), raw, length)
        s.close()
    for pointer in (None, BAD, KERNEL):
        s = make()
        yield "pointer", call("bind", s.fileno(), pointer, 28)
        s.close()
    for family in (0, 1, 2, 10, 19, 65535):
        s = make()
        yield "family", family, call("bind", s.fileno(), sin6("::", 0, family), 28)
        s.close()
    for address in ("::", "fd00::dead", "fe80::1", "ff02::1", "::ffff:127.0.0.1", "::127.0.0.1"):
        for scope in (0, 12345):
            s = make()
            yield "address", address, scope, call("bind", s.fileno(), sin6(address, 0, 10, scope), 28)
            s.close()
    s = make()
    yield "twice", call("bind", s.fileno(), sin6(own), 28), call("bind", s.fileno(), sin6(own), 28)
    s.close()


@each_type
def connect(make, own):
    peer = sin6(p.NATIVE_B, 9)
    for length in (-1, 0, 1, 2, 8, 16, 23, 129):
        s = make()
        yield "length", length, call("connect", s.fileno(), peer + b"\0" * 101, length)
        s.close()
    for pointer in (None, BAD, KERNEL):
        s = make()
        yield "pointer", call("connect", s.fileno(), pointer, 28)
        s.close()
    for family in (1, 2, 19, 65535):
        s = make()
        yield "family", family, call("connect", s.fileno(), sin6(p.NATIVE_B, 9, family), 28)
        s.close()
    for address in ("fe80::1", "ff02::1", "fd99::1"):
        s = make()
        s.setblocking(False)
        yield "address", address, call("connect", s.fileno(), sin6(address, 9), 28)
        s.close()
    s = make()
    yield "AF_UNSPEC first", call("connect", s.fileno(), sin6("::", 0, 0), 28)
    yield "connect", call("connect", s.fileno(), peer, 28)
    yield "again", call("connect", s.fileno(), peer, 28)
    yield "AF_UNSPEC", call("connect", s.fileno(), sin6("::", 0, 0), 28)
    yield "unconnected", call("getpeername", s.fileno(), ctypes.create_string_buffer(28),
                              ctypes.byref(ctypes.c_int(28)))
    s.close()


@each_type
def listen_and_accept(make, own):
    s = make()
    room, length = ctypes.create_string_buffer(28), ctypes.c_int(28)
    s.setblocking(False)
    yield "accept before listen", call("accept4", s.fileno(), None, None, 0)
    for backlog in (-1, 0, 1, 1 << 30):
        yield "backlog", backlog, call("listen", s.fileno(), backlog)
    yield "port taken by listen", s.getsockname()[1] != 0
    yield "nobody there", call("accept4", s.fileno(), None, None, 0)
    for flags in (1, 0x800000, -1):
        yield "flags", call("accept4", s.fileno(), None, None, flags)
    yield "name without length", call("accept4", s.fileno(), room, None, 0)
    length.value = -1
    yield "negative length", call("accept4", s.fileno(), room, ctypes.byref(length), 0)
    yield "connect of a listener", call("connect", s.fileno(), sin6(p.NATIVE_B, 9), 28)
    yield "bind of a listener", call("bind", s.fileno(), sin6(own, 5555), 28)
    yield "send of a listener", call("send", s.fileno(), b"x", 1, 0x4000)
    yield "receive of a listener", call("recv", s.fileno(), room, 1, 0x40)
    yield "shutdown of a listener", [call("shutdown", s.fileno(), how) for how in (0, 1, 2)]
    s.close()


@each_type
def names(make, own):
    s = make()
    for name in ("getsockname", "getpeername"):
        for connected in (False, True):
            if connected and s.type != STREAM:
                s.connect((p.NATIVE_B, 9))
            for room in (-1, 0, 1, 2, 8, 27, 28, 100):
                buf, length = ctypes.create_string_buffer(b"\xaa" * 128, 128), ctypes.c_int(room)
                done = call(name, s.fileno(), buf, ctypes.byref(length))
                touched = 128 - len(buf.raw[:128].rstrip(b"\xaa"))
                yield name, connected, room, done, length.value, touched if done == 0 else 0
            length = ctypes.c_int(28)
            yield name, "pointers", call(name, s.fileno(), None, ctypes.byref(length)), \
                call(name, s.fileno(), BAD, ctypes.byref(length)), \
                call(name, s.fileno(), buf, None), call(name, s.fileno(), buf, BAD)
    s.close()


@each_type
def send(make, own):
    s = make()
    data = b"x" * 100
    if s.proto == socket.IPPROTO_ICMPV6:
        yield "no request", call("sendto", s.fileno(), data, 100, 0, None, 0)
        data = b"\x80" + bytes(99)
    peer = sin6(p.NATIVE_B, 0 if s.type == RAW else 9)
    NOSIGNAL, DONTWAIT = 0x4000, 0x40
    yield "without a peer", call("send", s.fileno(), data, 100, NOSIGNAL)
    yield "nothing", call("send", s.fileno(), None, 0, NOSIGNAL)
    for pointer in (None, BAD, KERNEL):
        yield "pointer", call("sendto", s.fileno(), pointer, 10, NOSIGNAL, peer, 28)
        yield "address", call("sendto", s.fileno(), data, 10, NOSIGNAL, pointer, 28)
    for length in (-1, 1, 2, 8, 15, 23, 24, 28, 128, 129):
        yield "length", length, call("sendto", s.fileno(), data, 10, NOSIGNAL,
                                     peer + b"\0" * 101, length)
    for family in (1, 2, 19, 65535):
        yield "family", family, call("sendto", s.fileno(), data, 10, NOSIGNAL,
                                     sin6(p.NATIVE_B, 9, family), 28)
    yield "to IPv4", call("sendto", s.fileno(), data, 10, NOSIGNAL, sin6("::ffff:1.2.3.4", 9), 28)
    for flag in (1, 2, 4, 8, 0x10, 0x20, 0x80, 0x200, 0x400, 0x800, 0x2000, 0x10000, 0x20000000):
        yield "flag", flag, call("sendto", s.fileno(), data, 10, NOSIGNAL | DONTWAIT | flag,
                                 peer, 28)
    if s.type != STREAM:
        yield "too much", [call("sendto", s.fileno(), data * 1000, n, NOSIGNAL, peer, 28)
                           for n in (65528, 65536, 100000)]
    yield "shutdown", [call("shutdown", s.fileno(), how) for how in (-1, 0, 1, 2, 3)]
    s.close()


@ktap.test
def a_link_local_address_without_zone_means_nothing():
    for kind, proto in TYPES:
        s = only_ipv6(p.net6, kind, proto)
        ktap.equal(call("sendto", s.fileno(), b"\x80" + bytes(7), 8, socket.MSG_NOSIGNAL,
                        sin6("fe80::1", 9), 28),
                   "EPIPE" if kind == STREAM else "EINVAL", f"sendto() of type {kind}")
        ktap.equal(call("connect", s.fileno(), sin6("fe80::1", 9), 28), "EINVAL",
                   f"connect() of type {kind}")
        s.close()


def control(level, kind, data):
    return struct.pack("=Qii", 16 + len(data), level, kind) + data + b"\0" * (-len(data) % 8)


@ktap.test
def ancillary_data_of_a_datagram():
    a0 = {p.net6: p.index(p.A, "a0"), p.native: p.index(p.A, "a0")}

    def table(make, own):
        s = make(DGRAM)
        own_raw = socket.inet_pton(socket.AF_INET6, own)
        for kind, values in (
                (50, (own_raw + struct.pack("=i", a0[make]), own_raw + struct.pack("=i", 0),
                      own_raw + struct.pack("=i", 9999), b"\xfd" + b"\0" * 19, b"\0" * 19,
                      b"\0" * 20, b"")),
                (52, (struct.pack("=i", 9), struct.pack("=i", -1), struct.pack("=i", -2),
                      struct.pack("=i", 256), b"\0\0", b"")),
                (67, (struct.pack("=i", 9), struct.pack("=i", -1), struct.pack("=i", 256), b"")),
                (62, (struct.pack("=i", 0), struct.pack("=i", 1), struct.pack("=i", 2))),
                (11, (struct.pack("!I", 0), b"", b"\0\0")),
                (9999, (b"", b"\0" * 4))):
            for data in values:
                try:
                    done = s.sendmsg([b"data"], [(41, kind, data)], 0, (p.NATIVE_B, 9))
                except OSError as error:
                    done = errno.errorcode[error.errno]
                yield kind, data[16:].hex(), len(data), done
        for level, kind in ((0, 8), (1, 1), (1, 99), (6, 1), (17, 103), (17, 1), (255, 1)):
            try:
                done = s.sendmsg([b"data"], [(level, kind, b"\0\0\0\0")], 0, (p.NATIVE_B, 9))
            except OSError as error:
                done = errno.errorcode[error.errno]
            yield level, kind, done
        s.close()
    compare("ancillary data", table)


@each_type
def receive(make, own):
    s = make()
    s.setblocking(False)
    room = ctypes.create_string_buffer(100)
    yield "nothing there", call("recv", s.fileno(), room, 100, 0)
    for flag in (1, 2, 4, 8, 0x10, 0x20, 0x80, 0x100, 0x2000, 0x40000000):
        yield "flag", flag, call("recv", s.fileno(), room, 100, flag)
    yield "pointer", call("recv", s.fileno(), BAD, 10, 0)
    yield "poll", [e for _, e in _poll(s)]
    s.close()


def _poll(s):
    poll = select.poll()
    poll.register(s, 0x7fff)
    return poll.poll(0)


@not_echo
def controls(make, own):
    s = make()
    room = ctypes.create_string_buffer(64)
    # SIOCINQ, SIOCOUTQ, SIOCATMARK, SIOCGSTAMP, and what does not exist
    for request in (0x541b, 0x5411, 0x8905, 0x8906, 0x5401, 0x12345):
        yield hex(request), call("ioctl", s.fileno(), ctypes.c_ulong(request), room)
    for request in (0x541b, 0x5411):
        yield hex(request), "pointer", call("ioctl", s.fileno(), ctypes.c_ulong(request), BAD)
    s.close()


ktap.main(setup=setup)
