#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What UDP sockets of net6 are told, and say beside the data, as native ones: errors and their
# queue, ancillary data.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: both
# timeout: 90
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
from netpair import both, udp_pair

SOL_UDP, UDP_SEGMENT = 17, 103
V6 = socket.IPPROTO_IPV6


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
def ancillary_data_is_received():
    a, b = udp_pair(connected=False, us="::")
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
    a, b = udp_pair(connected=False, us="::")
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
    a, b = udp_pair()
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


ktap.main(setup=p.setup)
