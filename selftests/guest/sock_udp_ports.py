#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Which UDP socket of net6 has a datagram, and who may bind to what, as on the native stack: among
# few and many sockets of a port, in SO_REUSEPORT groups, for multicast groups.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: both
# timeout: 90
import errno
import os
import select
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p
from ktap import failing
from netpair import both

V6 = socket.IPPROTO_IPV6
# More sockets of one port than are looked through one by one.
CROWD = 40


@ktap.test
def ports_conflict_as_on_the_native_stack():
    def conflicts(make):
        out, opts = [], (None, socket.SO_REUSEADDR, socket.SO_REUSEPORT)
        for first in opts:
            for second in opts:
                for one, two in (("::", "::"), ("::", "::1"), ("::1", "::1")):
                    s, t = make(), make()
                    if first:
                        s.setsockopt(socket.SOL_SOCKET, first, 1)
                    if second:
                        t.setsockopt(socket.SOL_SOCKET, second, 1)
                    s.bind((one, 0))
                    out.append(failing(t.bind, (two, s.getsockname()[1])))
        return out
    both(conflicts)
    s = p.net6()
    s.bind(("::1", 0))
    t = p.net6()
    t.bind((p.NET6_A, s.getsockname()[1]))		# another address: no conflict


@ktap.test
def the_connected_socket_is_preferred():
    port = 7100
    socks = []
    for _ in range(2):
        s = p.net6()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("::1", port))
        socks.append(s)
    peer, other = p.net6(), p.net6()
    peer.bind(("::1", 0))
    socks[0].connect(peer.getsockname())
    peer.sendto(b"mine", ("::1", port))
    other.sendto(b"else", ("::1", port))
    ktap.equal(socks[0].recv(10), b"mine", "connected")
    ktap.equal(socks[1].recv(10), b"else", "not connected")


@ktap.test
def reuseport_spreads_flows_over_its_group():
    socks = []
    for _ in range(4):
        s = p.net6()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.bind(("::1", socks[0].getsockname()[1] if socks else 0))
        socks.append(s)
    senders = [p.net6() for _ in range(60)]
    for s in senders:
        s.sendto(b"x", socks[0].getsockname())
        s.sendto(b"x", socks[0].getsockname())
    counts = []
    for s in socks:
        flows = []
        s.setblocking(False)
        while True:
            try:
                flows.append(s.recvfrom(10)[1][1])
            except BlockingIOError:
                break
        for flow in flows:
            ktap.equal(flows.count(flow), 2, "datagrams of one flow at one socket")
        counts.append(len(flows))
    ktap.equal(sum(counts), 120, "all arrive")
    ktap.true(min(counts) > 0, f"each socket got some: {counts}")
    socks[0].close()
    senders[0].sendto(b"x", socks[1].getsockname())
    ready = select.select(socks[1:], [], [], 10)[0]
    ktap.equal(len(ready), 1, "one of the others took it")


@ktap.test
def groups_are_joined_and_left():
    group, port = "ff02::1:1234", 7200
    join = socket.inet_pton(socket.AF_INET6, group) + struct.pack("=i", p.index(p.A, "a0"))
    socks = [p.net6() for _ in range(2)]
    for s in socks:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("::", port))
        s.setsockopt(V6, 20, join)
    ktap.raises(errno.EADDRINUSE, socks[0].setsockopt, V6, 20, join)
    b = p.native(ns=p.B)
    zone = p.index(p.B, "b0")
    b.sendto(b"to all", (group, port, 0, zone))
    for s in socks:
        ktap.equal(s.recv(10), b"to all", "each member gets it")
    for s in socks:
        s.setsockopt(V6, 21, join)
        ktap.raises(errno.EADDRNOTAVAIL, s.setsockopt, V6, 21, join)
    b.sendto(b"nobody", (group, port, 0, zone))
    b.sendto(b"direct", (p.NET6_A, port))
    ktap.equal(socks[1].recv(10), b"direct", "not a member any more")


@ktap.test
def groups_are_sent_to_and_looped_back():
    group, port = "ff02::1:4321", 7201
    b = p.native(ns=p.B)
    b.bind(("::", port))
    b.setsockopt(V6, 20, socket.inet_pton(socket.AF_INET6, group) +
                 struct.pack("=i", p.index(p.B, "b0")))
    zone = p.index(p.A, "a0")
    own = p.net6()
    own.bind(("::", port))
    own.setsockopt(V6, 20, socket.inet_pton(socket.AF_INET6, group) + struct.pack("=i", zone))
    a = p.net6()
    a.setsockopt(V6, 17, zone)				# IPV6_MULTICAST_IF
    a.setsockopt(V6, 18, 5)				# IPV6_MULTICAST_HOPS
    b.setsockopt(V6, 51, 1)
    a.sendto(b"hello", (group, port))
    data, cmsgs, _, _ = b.recvmsg(10, 100)
    ktap.equal((data, struct.unpack("=i", cmsgs[0][2])[0]), (b"hello", 5), "B, with hop limit")
    ktap.equal(own.recv(10), b"hello", "looped back")
    a.setsockopt(V6, 19, 0)				# IPV6_MULTICAST_LOOP
    a.sendto(b"again", (group, port))
    ktap.equal(b.recv(10), b"again", "B")
    own.setblocking(False)
    ktap.raises(errno.EAGAIN, own.recv, 10)


def crowd(make, port, reuse=True):
    """As many of a port on other addresses, that need not be there."""
    socks = [make() for _ in range(CROWD)]
    for n, s in enumerate(socks):
        s.setsockopt(V6, 78, 1)		# IPV6_FREEBIND
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
        s.bind((f"fd0c::{n:x}", port))
    return socks


def who_has(socks, sender, to):
    """Which of the sockets gets a datagram, by its place; they have nothing else to read."""
    sender.sendto(b"?", to)
    ready = select.select(socks, [], [], 10 * ktap.SCALE)[0]
    ktap.equal([s.recv(10) for s in ready], [b"?"], f"one socket has what is for {to}")
    return socks.index(ready[0])


def who_reads(socks):
    """What each has, None if there is nothing once one of them has something."""
    ktap.true(select.select(socks, [], [], 10 * ktap.SCALE)[0], "one has something")
    return [s.recv(10) if select.select([s], [], [], 0)[0] else None for s in socks]


def bound(make, to):
    s = make()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(to)
    return s


def first_choice(make, many):
    """Who is asked first: connected, bound to the address, to the device, to none."""
    from_, to = p.native(ns=p.B), (p.NET6_A if make is p.net6 else p.NATIVE_A, 4321)
    from_.bind((p.NATIVE_B, 0))
    others = crowd(make, to[1]) if many else []
    any_ = bound(make, ("::", to[1]))
    out = [who_has([any_], from_, to)]
    address = bound(make, to)
    device = make()
    device.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    device.setsockopt(socket.SOL_SOCKET, 25, b"a0\0")	# SO_BINDTODEVICE
    device.bind(("::", to[1]))
    connected = bound(make, ("::", to[1]))
    socks = [any_, address, device, connected]
    connected.connect(from_.getsockname())
    out.append(who_has(socks, from_, to))
    # It changes its address with each of these, and is found by the new one.
    ktap._libc.connect(connected.fileno(), struct.pack("=H26x", 0), 28)
    out += [connected.getsockname()[0], who_has(socks, from_, to)]
    connected.connect(from_.getsockname())
    out.append(who_has(socks, from_, to))
    connected.close()
    address.close()
    out.append(who_has([any_, device], from_, to))
    device.close()
    out.append(who_has([any_], from_, to))
    any_.close()
    from_.connect(to)
    from_.send(b"?")
    out.append(failing(from_.recv, 10))
    ktap.equal([s for s in others if select.select([s], [], [], 0)[0]], [], "what others have")
    return out


@ktap.test
def the_best_socket_of_a_port_has_a_datagram_among_few_and_many():
    for many in (False, True):
        ktap.equal(first_choice(p.net6, many), first_choice(p.native, many), f"many: {many}")


@ktap.test
def sockets_of_a_port_stand_in_each_others_way_among_many_as_well():
    def conflicts(make):
        others, port = crowd(make, 4322, reuse=False), 4322
        out = []
        for n, reuse in ((3, False), (3, True), (CROWD, False)):
            s = make()
            s.setsockopt(V6, 78, 1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
            out.append(failing(s.bind, (f"fd0c::{n:x}", port)))
        out.append(failing(make().bind, ("::", port)))
        for s in others:
            s.close()
        any_ = make()
        any_.bind(("::", port))
        s = make()
        out += [failing(s.bind, ("::1", port)), failing(s.bind, ("::1", port + 1))]
        group = [make() for _ in range(CROWD)]
        for s in group:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            s.bind(("::1", port + 2))
        s = make()
        out.append(failing(s.bind, ("::1", port + 2)))
        # All are of one group: each has some of what many send.
        senders = [make() for _ in range(20)]
        for s in senders:
            s.sendto(b"x", ("::1", port + 2))
        out.append(len(select.select(group, [], [], 10 * ktap.SCALE)[0]) > 1)
        return out
    both(conflicts)


@ktap.test
def all_sockets_of_a_group_have_their_copy_among_many():
    def copies(make):
        port, group = 4324, "ff02::1234"
        others = crowd(make, port)
        zone = p.index(p.A, "a0")
        socks = [bound(make, (to, port, 0, zone)) for to in ("::", group, "::", group)]
        for s in socks[:3]:
            s.setsockopt(V6, socket.IPV6_JOIN_GROUP,
                         socket.inet_pton(socket.AF_INET6, group) + struct.pack("=I", zone))
        sender = make()
        sender.sendto(b"all", (group, port, 0, zone))
        had = []
        for s in socks[:3]:
            had.append(s.recv(10))
        return had + [len(others)]
    both(copies)


@ktap.test
def each_of_many_connected_sockets_has_its_peers():
    def owners(make):
        to = ("::1", 4330)
        peers = [make() for _ in range(CROWD + 1)]
        for s in peers:
            s.bind(("::1", 0))
        rest = bound(make, to)
        mine = [bound(make, to) for _ in range(CROWD)]
        for s, peer in zip(mine, peers):
            s.connect(peer.getsockname())
        socks, stranger = mine + [rest], peers[-1]
        out = [who_has(socks, peer, to) for peer in peers]
        ktap.equal(out, list(range(CROWD + 1)), "each has its peer's, one the stranger's")
        # Another peer, and none: it is found by what it is now.
        mine[0].connect(stranger.getsockname())
        out += [who_has(socks, stranger, to), who_has(socks, peers[0], to)]
        rest.close()
        ktap._libc.connect(mine[1].fileno(), struct.pack("=H26x", 0), 28)
        out += [who_has(mine, peers[n], to) for n in (0, 1, 2)]
        # They are in the way of others as any.
        s = make()
        out += [failing(s.bind, to), failing(s.bind, ("::", to[1])), failing(s.bind, ("::1", 4331))]
        # What is for nobody is answered to who has sent it.
        mine[1].close()
        peers[1].connect(to)
        peers[1].send(b"?")
        out.append(failing(peers[1].recv, 10))
        return out
    both(owners)


@ktap.test
def a_connected_socket_has_a_groups_packets_among_many():
    def copies(make):
        port, group = 4332, "ff02::1234"
        others, zone = crowd(make, port), p.index(p.A, "a0")
        sender, other = make(), make()
        for s in sender, other:
            s.bind(("::", 0))
            s.setsockopt(V6, 17, struct.pack("=i", zone))	# IPV6_MULTICAST_IF
        socks = [bound(make, (group, port, 0, zone)) for _ in range(2)]
        sender.connect((group, port, 0, zone))
        address = sender.getsockname()[0].partition("%")[0]
        for s, peer in zip(socks, (sender, other)):
            s.setsockopt(V6, socket.IPV6_JOIN_GROUP,
                         socket.inet_pton(socket.AF_INET6, group) + struct.pack("=I", zone))
            s.connect((address, peer.getsockname()[1], 0, zone))
        sender.send(b"all")
        ktap.equal(who_reads(socks), [b"all", None], "who is connected to the sender has it")
        return len(others)
    both(copies)


ktap.main(setup=p.setup)
