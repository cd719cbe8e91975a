#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Source filters of sockets (RFC 3678 section 5): every call does what native's does, packets
# of unwanted sources stay away, and what routers are told follows (RFC 3810 section 6.1).
#
#	A [a0 native fd00::a, net6 fd00::6] ------ [b0 native fd00::b, fd00::bb] B
# guest: stock+
# timeout: 120

import errno
import os
import socket
import struct
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import mld
import nd
import netpair as p

V6 = socket.IPPROTO_IPV6
JOIN, LEAVE = 42, 45
BLOCK, UNBLOCK, JOIN_SOURCE, LEAVE_SOURCE, FILTER = 43, 44, 46, 47, 48
EXCLUDE, INCLUDE = 0, 1
NOBODY = 65534
FULL = os.strerror(errno.ENOBUFS)
GROUP, ONE, TWO, THREE = "ff05::99", "fd00::b", "fd00::bb", "fd00::bbb"
wire = nd.Wire(p.B, "b0", now=False)
shared = types.SimpleNamespace()	# a0: its index


def setup():
    # On one CPU a datagram has come to all sockets before one of them is read.
    os.sched_setaffinity(0, {0})
    p.setup()
    for address in (TWO, THREE):
        p.B.ip("addr", "add", address + "/64", "dev", "b0", "nodad")
    wire.open()
    shared.a0 = p.index(p.A, "a0")


def storage(address, family=socket.AF_INET6):
    return (struct.pack("=HHI", family, 0, 0) + nd.packed(address)).ljust(128, b"\0")


def member(index=None, group=GROUP):
    return struct.pack("=I4x", shared.a0 if index is None else index) + storage(group)


def source(address, index=None, group=GROUP, family=socket.AF_INET6):
    return member(index, group) + storage(address, family)


def msfilter(mode, sources, index=None, group=GROUP, count=None):
    return member(index, group) + struct.pack("=II", mode, len(sources) if count is None
                                              else count) + b"".join(map(storage, sources))


def setopt(sock, option, raw):
    try:
        sock.setsockopt(V6, option, raw)
    except OSError as error:
        return os.strerror(error.errno)
    return 0


def getfilter(sock, room, index=None, group=GROUP):
    """Mode, number and what there was room for; or the error."""
    libc = ktap._libc
    import ctypes   # pylint: disable=import-outside-toplevel
    buf = ctypes.create_string_buffer(msfilter(0, [], index, group, room).ljust(144 + 128 * room,
                                                                              b"\xaa"))
    length = ctypes.c_int(144 + 128 * room)
    if libc.getsockopt(sock.fileno(), V6, FILTER, buf, ctypes.byref(length)):
        return os.strerror(ctypes.get_errno())
    mode, number = struct.unpack("=II", buf.raw[136:144])
    sources = [buf.raw[144 + 128 * i:][:24] for i in range((length.value - 144) // 128)]
    return mode, number, length.value, sorted(sources)


def steps(sock):
    """What is called and what comes of it."""
    for option, raw in (
            (LEAVE_SOURCE, source(ONE)), (BLOCK, source(ONE)), (UNBLOCK, source(ONE)),
            (FILTER, msfilter(INCLUDE, [ONE])), (FILTER, msfilter(INCLUDE, [])),
            (JOIN_SOURCE, source(ONE)), (JOIN_SOURCE, source(ONE)), (JOIN_SOURCE, source(TWO)),
            (JOIN, member()), (BLOCK, source(ONE)), (UNBLOCK, source(ONE)),
            (LEAVE_SOURCE, source(THREE)), (LEAVE_SOURCE, source(ONE)),
            (LEAVE_SOURCE, source(TWO)), (LEAVE_SOURCE, source(TWO)),
            (JOIN, member()), (UNBLOCK, source(ONE)), (BLOCK, source(ONE)),
            (BLOCK, source(ONE)), (JOIN_SOURCE, source(TWO)), (BLOCK, source(TWO)),
            (UNBLOCK, source(ONE)), (UNBLOCK, source(TWO)), (LEAVE, member()),
            (JOIN, member()), (JOIN_SOURCE, source(ONE)), (FILTER, msfilter(EXCLUDE, [])),
            (JOIN_SOURCE, source(TWO)), (FILTER, msfilter(EXCLUDE, [ONE, TWO])),
            (FILTER, msfilter(INCLUDE, [THREE])),
            (FILTER, msfilter(2, [ONE])), (FILTER, msfilter(INCLUDE, [ONE], group=ONE)),
            (FILTER, msfilter(INCLUDE, [ONE], index=12345)),
            (FILTER, msfilter(INCLUDE, [ONE], count=2)),
            (FILTER, msfilter(INCLUDE, [], count=65)),
            # With those that routers are still told about 64 at most.
            (FILTER, msfilter(INCLUDE, [f"fd00::{n:x}" for n in range(1, 60)])),
            (JOIN_SOURCE, source("fd00::999")), (FILTER, msfilter(INCLUDE, [])),
            (FILTER, msfilter(INCLUDE, [])), (JOIN_SOURCE, source(ONE, group=ONE)),
            (JOIN_SOURCE, source(ONE, index=12345)), (BLOCK, source(ONE, index=12345)),
            (JOIN_SOURCE, source(ONE, family=socket.AF_INET)),
            (JOIN_SOURCE, source(ONE)[:-1]), (FILTER, msfilter(INCLUDE, [])[:-1]),
            (FILTER, b""), (JOIN_SOURCE, b"")):
        yield option, setopt(sock, option, raw), getfilter(sock, 0), getfilter(sock, 1), \
            getfilter(sock, 70)
    yield getfilter(sock, 1, 0), getfilter(sock, 1, group=ONE), getfilter(sock, 1, 12345)


@ktap.test
def every_call_does_what_natives_does():
    one, two = p.net6(), p.native()
    for number, (seen, wanted) in enumerate(zip(steps(one), steps(two))):
        ktap.equal(seen, wanted, f"step {number}")
    one.close()
    two.close()


def say(sender, text, port):
    with p.native(ns=p.B) as sock:
        sock.setsockopt(V6, socket.IPV6_MULTICAST_IF, p.index(p.B, "b0"))
        sock.bind((sender, 0))
        sock.sendto(text, (GROUP, port))


def heard(sock, port):
    """Which sources the socket hears: the last one is heard by another, too."""
    other = p.net6()
    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    other.bind(("::", port))
    ktap.equal(setopt(other, JOIN, member()), 0, "another socket joins")
    for sender in (ONE, TWO, THREE):
        say(sender, sender.encode(), port)
    for sender in (ONE, TWO, THREE):
        ktap.equal(other.recv(100).decode(), sender, "what a socket without filter hears")
    other.close()
    found = []
    sock.setblocking(False)
    try:
        while True:
            found.append(sock.recv(100).decode())
    except BlockingIOError:
        return found


@ktap.test
def a_group_of_wider_scope_is_sent_to_somewhere():
    """Without an interface and without a default router: to the first one."""
    with p.native(ns=p.B) as b:
        b.bind(("::", 0))
        setopt(b, JOIN, member(p.index(p.B, "b0")))
        for make in (p.native, p.net6):
            with make() as sock:
                sock.sendto(make.__name__.encode(), (GROUP, b.getsockname()[1]))
                ktap.equal(b.recv(10), make.__name__.encode(), "what is heard")


@ktap.test
def only_wanted_sources_are_heard():
    port = 7300
    sock = p.net6()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("::", port))
    for option, raw, wanted in (
            (JOIN_SOURCE, source(ONE), [ONE]), (JOIN_SOURCE, source(THREE), [ONE, THREE]),
            (LEAVE_SOURCE, source(ONE), [THREE]),
            (FILTER, msfilter(EXCLUDE, [TWO]), [ONE, THREE]),
            (BLOCK, source(ONE), [THREE]), (UNBLOCK, source(TWO), [TWO, THREE]),
            (UNBLOCK, source(ONE), [ONE, TWO, THREE]),
            (FILTER, msfilter(INCLUDE, [TWO, TWO]), [TWO])):
        ktap.equal(setopt(sock, option, raw), 0, f"option {option}")
        ktap.equal(heard(sock, port), wanted, f"sources heard after option {option}")
    sock.close()


def told(kind, sources):
    frame = wire.expect(lambda f: f.proto == 0 and (kind, set(sources)) in mld.Told(f).of(GROUP),
                        f"report {kind} {sources}", 20)
    ktap.equal(frame.dest, mld.V2_ROUTERS, "destination of the report")


@ktap.test
def routers_are_told():
    wire.flush()
    one, two = p.net6(), p.net6()
    setopt(one, JOIN_SOURCE, source(ONE))
    told("ALLOW", [ONE])
    setopt(two, JOIN_SOURCE, source(TWO))
    told("ALLOW", [TWO])
    setopt(two, LEAVE_SOURCE, source(TWO))
    told("BLOCK", [TWO])
    setopt(two, JOIN, member())
    told("TO_EX", [])
    setopt(two, BLOCK, source(ONE))
    setopt(two, BLOCK, source(TWO))
    told("BLOCK", [TWO])
    two.close()
    told("TO_IN", [ONE])
    one.close()
    told("BLOCK", [ONE])


def limit(groups):
    nd.net6ctl(p.A, "set", "limits", "max-groups", str(groups))


def of(user, number):
    """That many sockets of a user."""
    socks = [p.net6() for _ in range(number)]
    for sock in socks:
        os.fchown(sock.fileno(), user, user)
    return socks


def joined(sock, number, groups=20):
    """What a socket is told that joins so many groups of its own."""
    return [setopt(sock, JOIN, member(group=f"ff05::{number}:{i:x}"))
            for i in range(1, groups + 1)]


@ktap.test
def groups_of_a_user_on_an_interface_have_a_limit():
    limit(40)
    ktap.at_exit(limit, 4096)
    before = nd.counter(p.A, "MldGroupLimit")
    socks = of(NOBODY, 4)
    ktap.equal([joined(sock, n) for n, sock in enumerate(socks, 1)],
               [[0] * 20] * 2 + [[FULL] * 20] * 2, "four times 20 of 40")
    ktap.equal(nd.counter(p.A, "MldGroupLimit") - before, 40, "MldGroupLimit")
    ktap.equal(setopt(socks[3], JOIN, member(group="ff05::1:1")), 0, "the user has joined it")
    ktap.equal(setopt(socks[3], JOIN_SOURCE, source(ONE, group="ff05::9:1")), FULL, "by source")
    ktap.equal(setopt(socks[3], JOIN, member(p.index(p.A, "a1"))), 0, "on another interface")
    socks[0].close()
    ktap.equal(joined(socks[3], 4), [0] * 19 + [FULL], "there is room, but for the shared one")
    for sock in socks:
        sock.close()


@ktap.test
def one_user_shuts_out_nobody():
    limit(40)
    greedy, other = of(NOBODY, 3), of(NOBODY - 1, 2)
    ktap.equal([joined(sock, n) for n, sock in enumerate(greedy, 1)],
               [[0] * 20] * 2 + [[FULL] * 20], "40 of one user")
    ktap.equal([joined(other[0], 1), joined(other[1], 7)], [[0] * 20] * 2,
               "40 of another, 20 of them the same")
    # What one of them leaves is not his any more, though the other has joined it, too.
    greedy[0].close()
    ktap.equal(joined(greedy[2], 3), [0] * 20, "40 of the first again")
    os.fchown(greedy[2].fileno(), NOBODY - 1, NOBODY - 1)
    ktap.equal(setopt(greedy[2], JOIN, member(group="ff05::9:9")), FULL,
               "a socket that was given to the other")
    greedy[2].close()
    greedy[0] = of(NOBODY, 1)[0]
    ktap.equal(joined(greedy[0], 5), [0] * 20, "it was the first one's who joined")
    for sock in greedy + other:
        sock.close()


@ktap.test
def what_net6_joins_itself_has_no_limit():
    limit(0)
    ktap.equal(joined(p.net6(), 1, 1), [FULL], "a socket's")
    p.ctl(p.A, "detach", "dev", "a1")
    p.ctl(p.A, "attach", "dev", "a1")
    p.ctl(p.A, "add", "address", "fd01::77/64", "dev", "a1")
    ktap.wait_for(15, "fd01::77 is preferred", lambda: p.preferred(p.A, "a1", "fd01::77"))
    seen = {e["address"] for e in nd.show(p.A, "groups") if e["dev"] == "a1"}
    for group in (nd.ALL_NODES, "ff01::1", nd.solicited_node("fd01::77"), "fd01::77"):
        ktap.true(str(group) in seen, f"{group} is received on a1: {seen}")
    limit(4096)


@ktap.test
def anycast_addresses_of_a_user_count_too():
    limit(2)
    sock = p.net6()
    join = [setopt(sock, 27, nd.packed(f"fd00::a:{i}") + struct.pack("=I", shared.a0))
            for i in (1, 2, 3)]
    ktap.equal(join, [0, 0, FULL], "JOIN_ANYCAST")
    ktap.equal(setopt(sock, JOIN, member()), FULL, "a group then")
    ktap.equal(setopt(sock, 28, nd.packed("fd00::a:1") + struct.pack("=I", shared.a0)), 0, "left")
    ktap.equal(setopt(sock, JOIN, member()), 0, "a group now")
    sock.close()
    limit(4096)


@ktap.test
def memberships_of_an_interface_that_went_harm_nobody():
    one, two = p.net6(), p.net6()
    setopt(one, JOIN_SOURCE, source(ONE))
    p.ctl(p.A, "detach", "dev", "a0")
    ktap.equal(setopt(one, JOIN_SOURCE, source(TWO)), os.strerror(19), "its interface is gone")
    p.ctl(p.A, "attach", "dev", "a0")
    setopt(two, JOIN_SOURCE, source(TWO))
    one.close()
    wire.flush()
    two.close()
    told("BLOCK", [TWO])


ktap.main(setup)
