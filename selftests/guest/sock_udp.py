#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# UDP sockets of net6 behave as native ones: sizes and fragments, flags of send and
# receive, ancillary data, errors and their queue, binding, groups, segmentation, corking.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: both
# timeout: 180
import errno
import json
import os
import select
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p
from ktap import failing
import uring

SOL_UDP, UDP_CORK, UDP_SEGMENT, UDP_GRO = 17, 1, 103, 104
V6 = socket.IPPROTO_IPV6
MAX = 65527		# payload of the largest datagram


def pair(connected=True, us=p.NET6_A):
    """A net6 socket in A and a native one in B, on ports of their own."""
    a, b = p.net6(), p.native(ns=p.B)
    a.bind((us, 0))
    b.bind((p.NATIVE_B, 0))
    if connected:
        a.connect(b.getsockname())
        b.connect(a.getsockname())
    return a, b


def both(function):
    """Runs function(socket maker) on both stacks; the results must be the same."""
    ktap.equal(function(p.net6), function(p.native), function.__name__)


@ktap.test
def datagrams_of_all_sizes_arrive_whole_in_both_directions():
    a, b = pair()
    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    for size in (0, 1, 2, 7, 100, 1231, 1451, 1452, 1453, 1460, 2900, 2901, 5000, 9000,
                 20000, 40000, 65507, MAX - 1, MAX):
        data = os.urandom(size)
        for src, dst in ((a, b), (b, a)):
            src.send(data)
            ktap.true(dst.recv(70000) == data, f"{size} bytes arrive")


@ktap.test
def the_largest_datagram_plus_one_is_refused():
    a, _ = pair()
    ktap.raises(errno.EMSGSIZE, a.send, b"x" * (MAX + 1))
    ktap.raises(errno.EMSGSIZE, a.send, b"x" * 1000000)


@ktap.test
def unconnected_sockets_tell_who_sent():
    a, b = pair(connected=False)
    a.sendto(b"one", b.getsockname())
    data, who = b.recvfrom(10)
    ktap.equal((data, who[:2]), (b"one", a.getsockname()[:2]), "B sees A")
    b.sendto(b"two", who)
    data, who = a.recvfrom(10)
    ktap.equal((data, who[:2]), (b"two", b.getsockname()[:2]), "A sees B")


@ktap.test
def link_local_peers_need_a_zone():
    a, b = p.net6(), p.native(ns=p.B)
    b.bind(("::", 0))
    with p.B:
        ll = ktap.run("ip", "-6", "-o", "addr", "show", "dev", "b0", "scope", "link")
    ll = ll.split("inet6 ")[1].split("/")[0]
    port, zone = b.getsockname()[1], p.index(p.A, "a0")
    ktap.raises(errno.EINVAL, a.sendto, b"x", (ll, port))
    ktap.raises(errno.EINVAL, a.connect, (ll, port))
    a.connect((ll, port, 0, zone))
    ktap.equal(a.getpeername(), (ll, port, 0, zone), "peer with zone")
    a.send(b"x")
    data, who = b.recvfrom(10)
    b.sendto(b"y", who)
    data, who = a.recvfrom(10)
    ktap.equal((data, who), (b"y", (ll, port, 0, zone)), "answer with zone")


@ktap.test
def of_flow_information_only_the_label_is_sent():
    def classes(make):
        with p.native(ns=p.B) as b, make() as a:
            b.bind((p.NATIVE_B, 0))
            b.setsockopt(V6, socket.IPV6_RECVTCLASS, 1)
            a.setsockopt(V6, socket.IPV6_TCLASS, 0x20)
            a.sendmsg([b"x"], [(V6, 11, struct.pack("!I", 0x0ff12345))], 0, b.getsockname())
            return [control[2] for control in b.recvmsg(10, 100)[1]]
    both(classes)


@ktap.test
def own_addresses_and_loopback_work():
    for address in ("::1", p.NET6_A):
        b = p.net6()
        b.bind((address, 0))
        b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        a = p.net6()
        for size in (0, 1, 5000, MAX):
            data = os.urandom(size)
            a.sendto(data, b.getsockname())
            got, who = b.recvfrom(70000)
            ktap.true(got == data, f"{size} bytes over {address}")
            ktap.equal(who[0], address, "source")
    a, b = p.net6(), p.net6()
    b.bind(("::", 0))
    a.sendto(b"any", ("::", b.getsockname()[1]))
    ktap.equal(b.recvfrom(10)[1][0], "::1", ":: means the loopback")


@ktap.test
def names_before_and_after_bind_and_connect():
    def names(make):
        s = make()
        out = [s.getsockname()[0], failing(s.getpeername)]
        s.bind(("::", 0))
        out += [s.getsockname()[0], s.getsockname()[1] > 0]
        s.connect(("::1", 9))
        out += [s.getsockname()[0], s.getpeername()]
        s.connect(("::1", 10))
        out += [s.getpeername()]
        return out
    both(names)


@ktap.test
def connect_to_nothing_undoes_connect():
    def disconnect(make):
        s = make()
        s.connect(("::1", 9))
        port = s.getsockname()[1]
        libc = ktap._libc
        rc = libc.connect(s.fileno(), struct.pack("=H26x", 0), 28)
        out = [rc, failing(s.getpeername), failing(s.send, b"x"), port != 0]
        out += [s.getsockname()[0], s.getsockname()[1] != 0]	# send() has bound it again
        return out
    both(disconnect)


@ktap.test
def errors_of_addresses_are_the_native_ones():
    def errors(make):
        s = make()
        out = [failing(s.send, b"x"), failing(s.sendto, b"x", ("::1", 0)),
               failing(s.bind, ("fd09::1", 0)), failing(s.bind, ("fe80::1", 0)),
               failing(s.connect, ("ff02::1", 9)), failing(s.connect, ("fe80::1", 9)),
               failing(s.listen, 1)]
        s.settimeout(None)
        out.append(failing(s.accept))
        libc = ktap._libc
        short = struct.pack("=HH20x", socket.AF_INET6, 0)[:23]
        for call in (libc.bind, libc.connect):
            out.append((call(s.fileno(), short, 23), ktap.ctypes.get_errno()))
            wrong = struct.pack("=H26x", 99)
            out.append((call(s.fileno(), wrong, 28), ktap.ctypes.get_errno()))
        s = make()
        s.bind(("::1", 0))
        out.append(failing(s.bind, ("::1", 0)))
        return out
    both(errors)
    s = p.net6()
    s.setsockopt(V6, socket.IPV6_V6ONLY, 1)
    ktap.raises(errno.EINVAL, s.bind, ("::ffff:127.0.0.1", 9))
    ktap.raises(errno.ENETUNREACH, s.sendto, b"x", ("::ffff:127.0.0.1", 9))
    ktap.raises(errno.ENETUNREACH, s.connect, ("::ffff:127.0.0.1", 9))
    ktap.raises(errno.ENETUNREACH, s.sendto, b"x", ("2001:db8::1", 9))


@ktap.test
def the_zone_of_a_destination_goes_before_the_device():
    """Of sendto(); connect() refuses it."""
    with p.native(ns=p.B) as b:
        b.bind(("::", 0))
        with p.B:
            ll = ktap.run("ip", "-6", "-o", "addr", "show", "dev", "b1", "scope", "link")
        to = (ll.split("inet6 ")[1].split("/")[0], b.getsockname()[1], 0, p.index(p.A, "a1"))

        def elsewhere(make):
            with make() as s, make(socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6) \
                    if make is p.net6 else make() as echo:
                for sock in (s, echo):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"a0")
                out = [failing(s.connect, to), failing(s.sendto, b"there", to), b.recv(10)]
                if make is p.net6:
                    ktap.equal(failing(echo.sendto, struct.pack("!BBHI", 128, 0, 0, 1), to),
                               "EINVAL", "of an echo socket")
                return out
        ktap.equal(elsewhere(p.net6), elsewhere(p.native), "net6 and native")


@ktap.test
def io_uring_sends_without_asking_for_a_copy():
    """IORING_OP_SEND_ZC is for sockets that have SOCK_SUPPORT_ZC."""
    try:
        ring = uring.Uring()
    except OSError as error:
        raise ktap.Skip("no io_uring") from error
    try:
        for make in (p.native, p.net6):
            for zerocopy in (0, 1):
                with make() as r, make() as s:
                    r.bind(("::1", 0))
                    s.setsockopt(socket.SOL_SOCKET, 60, zerocopy)	# SO_ZEROCOPY
                    s.connect(r.getsockname())
                    ktap.equal(ring.send_zc(s.fileno(), b"payload"), [7, 0],
                               f"{make.__name__}: sent, and the notification")
                    ktap.equal(r.recv(10), b"payload", "what arrives")
                    s.settimeout(0)
                    ktap.equal(failing(s.recvmsg, 10, 100, socket.MSG_ERRQUEUE), "EAGAIN",
                               "no notification of another kind")
    finally:
        ring.close()


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
def receive_flags_work_as_on_the_native_stack():
    def flags(make):
        r, s = make(), make()
        r.bind(("::1", 0))
        s.connect(r.getsockname())
        r.settimeout(None)
        out = [failing(r.recv, 10, socket.MSG_DONTWAIT)]
        s.send(b"0123456789")
        s.send(b"second")
        out += [r.recv(4, socket.MSG_PEEK), r.recv(20, socket.MSG_PEEK)]
        data, _, fl, _ = r.recvmsg(4)
        out += [data, fl & socket.MSG_TRUNC]
        buf = bytearray(3)
        out += [r.recv_into(buf, 0, socket.MSG_TRUNC), bytes(buf)]
        s.send(b"")
        out += [r.recv(10)]
        bufs = [bytearray(2), bytearray(3), bytearray(9)]
        s.sendmsg([b"ab", b"", b"cdef", b"gh"])
        out += [r.recvmsg_into(bufs)[0], [bytes(b) for b in bufs]]
        return out
    both(flags)


@ktap.test
def peek_offset_walks_over_datagrams():
    def peek(make):
        r, s = make(), make()
        r.bind(("::1", 0))
        s.connect(r.getsockname())
        r.setsockopt(socket.SOL_SOCKET, 42, 2)		# SO_PEEK_OFF
        s.send(b"abcdef")
        s.send(b"xyz")
        out = [r.recv(2, socket.MSG_PEEK), r.recv(2, socket.MSG_PEEK),
               r.recv(9, socket.MSG_PEEK), r.getsockopt(socket.SOL_SOCKET, 42)]
        out += [r.recv(9), r.getsockopt(socket.SOL_SOCKET, 42), r.recv(9)]
        return out
    both(peek)


@ktap.test
def shutdown_ends_reading():
    def down(make):
        s = make()
        s.settimeout(None)
        out = [failing(s.shutdown, socket.SHUT_RD)]
        s.connect(("::1", 9))
        s.shutdown(socket.SHUT_RD)
        out.append(s.recv(10))
        poll = select.poll()
        poll.register(s, select.POLLIN | select.POLLOUT | select.POLLRDHUP)
        out.append(poll.poll(0)[0][1])
        return out
    both(down)


@ktap.test
def poll_and_epoll_tell_when_to_read_and_write():
    a, b = pair()
    ep = select.epoll()
    ep.register(a, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
    ktap.equal(ep.poll(5), [(a.fileno(), select.EPOLLOUT)], "writable at once")
    ktap.equal(ep.poll(0), [], "edge: told once")
    b.send(b"1")
    ktap.true(ep.poll(10 * ktap.SCALE)[0][1] & select.EPOLLIN, "readable")
    ktap.equal(ep.poll(0), [], "edge: not again")
    b.send(b"2")
    ktap.true(ep.poll(10 * ktap.SCALE)[0][1] & select.EPOLLIN, "readable again")
    ktap.equal((a.recv(5), a.recv(5)), (b"1", b"2"), "both there")
    a.setblocking(False)
    ktap.raises(errno.EAGAIN, a.recv, 1)


@ktap.test
def a_closed_port_is_told_to_connected_sockets():
    for connect in (True, False):
        a = p.net6()
        gone = p.native(ns=p.B)
        gone.bind((p.NATIVE_B, 0))
        name = gone.getsockname()
        gone.close()
        if connect:
            a.connect(name)
            a.send(b"x")
            ktap.raises(errno.ECONNREFUSED, a.recv, 10)
        else:
            a.sendto(b"x", name)
            a.settimeout(0.5)
            try:
                a.recv(10)
                raise ktap.Fail("received something")
            except TimeoutError:
                pass
    n = p.native(ns=p.B)
    n.connect((p.NET6_A, 7999))
    n.send(b"x")
    ktap.raises(errno.ECONNREFUSED, n.recv, 10)


def queue_entry(sock):
    """What MSG_ERRQUEUE says: payload, errno, origin, type, code, offender, name."""
    data, cmsgs, flags, name = sock.recvmsg(100, 1000, socket.MSG_ERRQUEUE)
    ktap.true(flags & socket.MSG_ERRQUEUE, "flag MSG_ERRQUEUE")
    for level, kind, body in cmsgs:
        if (level, kind) == (V6, 25):			# IPV6_RECVERR
            ee = struct.unpack("=IBBBBII", body[:16])
            offender = socket.inet_ntop(socket.AF_INET6, body[24:40])
            return data, ee[0], ee[1], ee[2], ee[3], ee[5], offender, name[:2]
    raise ktap.Fail("no IPV6_RECVERR in the error queue")


@ktap.test
def the_error_queue_has_what_came_back():
    a = p.net6()
    a.setsockopt(V6, 25, 1)
    a.sendto(b"payload", (p.NATIVE_B, 7998))
    poll = select.poll()
    poll.register(a, 0)
    ktap.true(poll.poll(10000 * ktap.SCALE), "POLLERR")
    ktap.equal(queue_entry(a), (b"payload", errno.ECONNREFUSED, 3, 1, 4, 0, p.NATIVE_B,
                                (p.NATIVE_B, 7998)), "entry of the error queue")
    a.setblocking(False)
    ktap.raises(errno.EAGAIN, a.recvmsg, 100, 1000, socket.MSG_ERRQUEUE)
    a.setsockopt(V6, 23, 2)				# IPV6_MTU_DISCOVER: DO
    ktap.raises(errno.EMSGSIZE, a.sendto, b"x" * 3000, (p.NATIVE_B, 7998))
    ktap.equal(queue_entry(a), (b"", errno.EMSGSIZE, 1, 0, 0, 1500, "::",
                                (p.NATIVE_B, 7998)), "local entry with the MTU")


def extended_error(source, port, quoted, kind, units, extension):
    """An ICMPv6 error with the length attribute of RFC 4884 and what follows the datagram."""
    udp = struct.pack("!HHHH", port, 7997, 8 + quoted, 0)
    head = struct.pack("!IHBB", 6 << 28, 8 + quoted, 17, 64) + \
        socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, p.NATIVE_B)
    return struct.pack("!BBHB3x", kind, 0, 0, units) + head + udp + b"q" * quoted + extension


@ktap.test
def extensions_of_errors_are_pointed_at():
    """RFC 4884: IPV6_RECVERR_RFC4884 tells where they begin in the payload."""
    body = b"\0\x08\x01\x01data"
    good = b"\x20\0\0\0" + body			# no checksum
    errors = [(104, kind, units, extension)
              for kind in (1, 2, 3, 4) for units in (0, 15, 16, 18, 19, 255)
              for extension in (good, b"", b"\x20\0\1\1" + body, b"\x10\0\0\0" + body,
                                b"\x20")]
    b = p.native(socket.SOCK_RAW, socket.IPPROTO_ICMPV6, ns=p.B)
    b.bind((p.NATIVE_B, 0))

    def told(make, own):
        for on in (1, 0):
            a = make()
            a.bind((own, 0))
            a.setsockopt(V6, 25, 1)
            a.setsockopt(V6, 31, on)			# IPV6_RECVERR_RFC4884
            poll = select.poll()
            poll.register(a, 0)
            for quoted, kind, units, extension in errors:
                b.sendto(extended_error(own, a.getsockname()[1], quoted, kind, units, extension),
                         (own, 0))
                ktap.true(poll.poll(10000 * ktap.SCALE), "POLLERR")
                data, cmsgs, _, _ = a.recvmsg(1000, 1000, socket.MSG_ERRQUEUE)
                yield on, kind, units, extension, data, cmsgs[0][2][:16]
            a.close()
    seen, wanted = list(told(p.net6, p.NET6_A)), list(told(p.native, p.NATIVE_A))
    for one, two in zip(seen, wanted):
        ktap.equal(one, two, "entry of the error queue")
    ktap.true(any(entry[5][12:15] == b"\x68\0\0" for entry in wanted), "one is valid")


@ktap.test
def IPV6_MTU_lowers_the_size_of_fragments():
    def counter(name):
        entries = json.loads(p.ctl(p.A, "-j", "show", "counters", "all"))
        return [e["value"] for e in entries if e["name"] == name][0]
    a, b = pair()
    for mtu, fragments in ((0, 3), (1280, 4), (1400, 3)):
        a.setsockopt(V6, 24, mtu)
        before = counter("Ip6OutFragCreates")
        a.send(b"x" * 4000)
        ktap.equal(len(b.recv(5000)), 4000, "bytes")
        ktap.equal(counter("Ip6OutFragCreates") - before, fragments, f"fragments at {mtu}")
    a.setsockopt(V6, 24, 1280)
    a.send(b"x" * 1400)
    ktap.equal(len(b.recv(5000)), 1400, "bytes")
    a.setsockopt(V6, 62, 1)				# IPV6_DONTFRAG
    ktap.raises(errno.EMSGSIZE, a.send, b"x" * 1400)


@ktap.test
def ancillary_data_is_received():
    a, b = pair(connected=False, us="::")
    for option in (49, 51, 66, 74):	# RECVPKTINFO RECVHOPLIMIT RECVTCLASS RECVORIGDSTADDR
        a.setsockopt(V6, option, 1)
    b.setsockopt(V6, 67, 0xb8)
    b.setsockopt(V6, 16, 33)
    a_name = (p.NET6_A, a.getsockname()[1])
    b.sendto(b"x", a_name)
    cmsgs = {c[1]: c[2] for c in a.recvmsg(10, 500)[1]}
    ktap.equal(struct.unpack("=i", cmsgs[52])[0], 33, "hop limit")
    ktap.equal(struct.unpack("=i", cmsgs[67])[0], 0xb8, "traffic class")
    ktap.equal(socket.inet_ntop(socket.AF_INET6, cmsgs[50][:16]), p.NET6_A, "destination")
    ktap.equal(struct.unpack("=i", cmsgs[50][16:])[0], p.index(p.A, "a0"), "interface")
    ktap.equal(struct.unpack("!H", cmsgs[74][2:4])[0], a_name[1], "original port")


@ktap.test
def ancillary_data_is_obeyed():
    a, b = pair(connected=False, us="::")
    for option in (49, 51, 66):
        b.setsockopt(V6, option, 1)
    info = socket.inet_pton(socket.AF_INET6, p.NET6_A) + struct.pack("=i", 0)
    a.sendmsg([b"x"], [(V6, 52, struct.pack("=i", 7)), (V6, 67, struct.pack("=i", 0x20)),
                       (V6, 50, info)], 0, b.getsockname())
    data, cmsgs, _, who = b.recvmsg(10, 500)
    cmsgs = {c[1]: c[2] for c in cmsgs}
    ktap.equal(who[0], p.NET6_A, "source as asked for")
    ktap.equal(struct.unpack("=i", cmsgs[52])[0], 7, "hop limit")
    ktap.equal(struct.unpack("=i", cmsgs[67])[0], 0x20, "traffic class")


@ktap.test
def traffic_class_is_a_priority():
    """In qdiscs, as IPv4's type of service is, unless SO_PRIORITY says another."""
    ktap.kmod("sch_prio")
    interactive, bulk = 0x10, 0x08		# bands 0 and 2 of a prio qdisc; else 1
    count = 10		# more than Neighbor Discovery sends meanwhile
    a, b = pair()
    native = p.native(socket.SOCK_STREAM, ns=p.B)
    native.bind((p.NATIVE_B, 0))
    native.listen(1)
    stream = p.net6(socket.SOCK_STREAM)
    stream.setsockopt(V6, 67, bulk)
    p.A.run("tc", "qdisc", "add", "dev", "a0", "root", "handle", "1:", "prio")
    # each band's own packets
    for band in (1, 2, 3):
        p.A.run("tc", "qdisc", "add", "dev", "a0", "parent", f"1:{band}", "pfifo")

    def packets():
        qdiscs = json.loads(p.A.run("tc", "-s", "-j", "qdisc", "show", "dev", "a0"))
        return [next(q["packets"] for q in qdiscs if q.get("parent") == f"1:{band}")
                for band in (1, 2, 3)]

    def band(tclass=None, size=10):
        before = packets()
        for _ in range(count):
            a.sendmsg([bytes(size)],
                      [] if tclass is None else [(V6, 67, struct.pack("=i", tclass))])
            ktap.equal(len(b.recv(5000)), size, "bytes")
        return [n for n, (then, now) in enumerate(zip(before, packets())) if now - then >= count]

    try:
        ktap.equal(band(), [1], "no class")
        ktap.equal(band(interactive), [0], "interactive")
        ktap.equal(band(bulk, 4000), [2], "bulk, in fragments")
        a.setsockopt(V6, 67, bulk)
        ktap.equal(band(), [2], "the socket's class")
        a.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 6)
        ktap.equal(band(), [0], "its SO_PRIORITY")
        before = packets()
        stream.connect(native.getsockname())
        ktap.true(packets()[2] - before[2] >= 2, "a TCP connection's SYN and acknowledgement")
    finally:
        p.A.run("tc", "qdisc", "del", "dev", "a0", "root")
    for sock in (a, b, native, stream):
        sock.close()


@ktap.test
def wrong_ancillary_data_is_refused_as_by_the_native_stack():
    def wrong(make):
        s = make()
        to = ("::1", 9)
        out = []
        for kind in (50, 52, 62, 67, 11, 1000):
            for body in (b"", b"\0\0", struct.pack("=i", -2), struct.pack("=i", 256),
                         struct.pack("=i", 1), b"\xfd\x09" + b"\0" * 18,
                         b"\0" * 16 + struct.pack("=i", 12345), b"\0" * 40):
                out.append((kind, len(body), failing(s.sendmsg, [b"x"], [(V6, kind, body)],
                                                     0, to)))
        for body in (b"", b"\0", b"\0\0\0", b"\0" * 8):
            out.append(failing(s.sendmsg, [b"x"], [(SOL_UDP, UDP_SEGMENT, body)], 0, to))
        out.append(failing(s.sendmsg, [b"x"], [(SOL_UDP, 77, b"\0\0")], 0, to))
        out.append(failing(s.sendmsg, [b"x"], [(12345, 1, b"\0\0")], 0, to))
        return out
    both(wrong)


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


@ktap.test
def segmentation_cuts_one_send_into_many():
    a, b = pair()
    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    data = os.urandom(10000)
    a.setsockopt(SOL_UDP, UDP_SEGMENT, 1200)
    a.send(data)
    got = [b.recv(70000) for _ in range(9)]
    ktap.true(b"".join(got) == data, "data")
    ktap.equal([len(g) for g in got], [1200] * 8 + [400], "sizes")
    ktap.raises(errno.EMSGSIZE, a.sendmsg, [data],
                [(SOL_UDP, UDP_SEGMENT, struct.pack("=H", 1453))])
    ktap.raises(errno.EINVAL, a.sendmsg, [data],
                [(SOL_UDP, UDP_SEGMENT, struct.pack("=H", 100))])


@ktap.test
def joined_datagrams_are_cut_again_unless_asked_for():
    for gro in (0, 1):
        a, b = p.net6(), p.net6()
        b.bind(("::1", 0))
        b.setsockopt(SOL_UDP, UDP_GRO, gro)
        a.connect(b.getsockname())
        data = os.urandom(3000)
        a.sendmsg([data], [(SOL_UDP, UDP_SEGMENT, struct.pack("=H", 1000))])
        if gro:
            got, cmsgs, _, _ = b.recvmsg(70000, 100)
            ktap.true(got == data, "joined data")
            ktap.equal(cmsgs, [(SOL_UDP, UDP_GRO, struct.pack("=i", 1000))], "its size")
        else:
            ktap.true(b"".join(b.recv(70000) for _ in range(3)) == data, "three datagrams")


@ktap.test
def corked_pieces_become_one_datagram():
    a, b = pair()
    for piece in (b"one ", b"", b"two " * 1000):
        a.send(piece, socket.MSG_MORE)
    a.send(b"end")
    ktap.true(b.recv(70000) == b"one " + b"two " * 1000 + b"end", "MSG_MORE")
    a.setsockopt(SOL_UDP, UDP_CORK, 1)
    a.send(b"x" * 30000)
    a.send(b"y" * 30000)
    a.setsockopt(SOL_UDP, UDP_CORK, 0)
    ktap.true(b.recv(70000) == b"x" * 30000 + b"y" * 30000, "UDP_CORK")
    a.setsockopt(SOL_UDP, UDP_CORK, 1)
    a.send(b"x" * 60000)
    ktap.raises(errno.EMSGSIZE, a.send, b"x" * 6000)
    a.setsockopt(SOL_UDP, UDP_CORK, 0)
    a.send(b"fresh")
    ktap.equal(b.recv(70000), b"fresh", "what was too long is gone")
    a.send(b"never sent", socket.MSG_MORE)
    a.close()


@ktap.test
def zero_copy_sends_are_notified_as_copied():
    r, s = p.net6(), p.net6()
    r.bind(("::1", 0))
    s.setsockopt(socket.SOL_SOCKET, 60, 1)		# SO_ZEROCOPY
    s.connect(r.getsockname())
    for n in range(2):
        s.send(b"x" * 9000, 0x4000000)			# MSG_ZEROCOPY
        ktap.equal(len(r.recv(10000)), 9000, "arrives")
        cmsgs = s.recvmsg(10, 1000, socket.MSG_ERRQUEUE)[1]
        ee = struct.unpack("=IBBBBII", cmsgs[0][2][:16])
        ktap.equal(ee, (0, 5, 0, 1, 0, n, n), "notification")


@ktap.test
def a_full_receive_buffer_drops_and_counts():
    r, s = p.net6(), p.net6()
    r.bind(("::1", 0))
    r.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    r.setsockopt(socket.SOL_SOCKET, 40, 1)		# SO_RXQ_OVFL
    s.connect(r.getsockname())
    for _ in range(200):
        s.send(b"x" * 1000)
    count = 0
    r.setblocking(False)
    while True:
        try:
            r.recv(2000)
            count += 1
        except BlockingIOError:
            break
    ktap.true(0 < count < 50, f"{count} of 200 kept")
    s.send(b"y")
    cmsgs = r.recvmsg(10, 100)[1]
    ktap.equal(struct.unpack("=I", cmsgs[0][2])[0], 200 - count, "SO_RXQ_OVFL")


@ktap.test
def ioctls_tell_queue_lengths():
    import array
    import fcntl
    r, s = p.net6(), p.net6()
    r.bind(("::1", 0))
    s.connect(r.getsockname())
    value = array.array("i", [7])
    fcntl.ioctl(r, 0x541b, value)			# SIOCINQ
    ktap.equal(value[0], 0, "empty")
    s.send(b"x" * 123)
    s.send(b"x" * 5)
    fcntl.ioctl(r, 0x541b, value)
    ktap.equal(value[0], 123, "first datagram")
    fcntl.ioctl(s, 0x5411, value)			# SIOCOUTQ
    ktap.equal(value[0], 0, "nothing on its way")


@ktap.test
def timestamps_and_filters_of_the_socket_layer_work():
    r, s = p.net6(), p.net6()
    r.bind(("::1", 0))
    s.connect(r.getsockname())
    r.setsockopt(socket.SOL_SOCKET, 29, 1)		# SO_TIMESTAMP
    s.send(b"x")
    ktap.equal(r.recvmsg(10, 100)[1][0][1], 29, "time stamp")
    # A filter that returns 8 + 3: header and three bytes are kept.
    code = struct.pack("=HBBI", 6, 0, 0, 11)
    buf = ktap.ctypes.create_string_buffer(code)
    prog = struct.pack("=H6xQ", 1, ktap.ctypes.addressof(buf))
    r.setsockopt(socket.SOL_SOCKET, 26, prog)
    s.send(b"abcdef")
    ktap.equal(r.recv(10), b"abc", "filtered")


# More sockets of one port than are looked through one by one.
CROWD = 40


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


@ktap.test
def memory_is_given_back():
    def protocols():
        with p.A:
            for line in ktap.run("cat", "/proc/net/protocols").splitlines():
                words = line.split()
                if words[0] == "NET6-UDP":
                    return int(words[2]), int(words[3])
        raise ktap.Fail("NET6-UDP is not in /proc/net/protocols")
    import gc
    gc.collect()
    before = protocols()[0]
    socks = [p.net6() for _ in range(100)]
    for s in socks:
        s.bind(("::1", 0))
    for s in socks:
        for t in socks[:20]:
            s.sendto(b"z" * 1500, t.getsockname())
    ktap.equal(protocols()[0], before + 100, "sockets in use")
    for s in socks:
        s.close()
    ktap.wait_for(10, "the sockets are gone", lambda: protocols()[0] == before)
    # The rest is what each CPU keeps aside: at most a megabyte.
    ktap.wait_for(10, "memory is back", lambda: abs(protocols()[1]) <= 256 * os.cpu_count())


ktap.main(setup=p.setup)
