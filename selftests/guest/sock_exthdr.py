#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Extension headers of datagrams (RFC 3542): sticky options and ancillary data with right
# and wrong contents give the native stack's results. The same headers are on the wire, in
# order and in fragments. They come back as ancillary data on receipt. Where the native
# stack has no routing headers at all (CONFIG_IPV6_MIP6), those of net6 are only seen to go.
#
#	A [a0] ------ [b0] B	(lib/netpair.py); frames are read on b0
#
# guest: both
# timeout: 120
import contextlib
import ctypes
import errno
import itertools
import os
import socket
import struct
import sys
import types
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p
from ktap import failing

V6, UDP_SEGMENT = socket.IPPROTO_IPV6, 103
DGRAM, RAW, STREAM = socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_STREAM
HOPOPTS, RTHDRDSTOPTS, RTHDR, DSTOPTS = STICKY = (54, 55, 57, 59)
OLD_HOPOPTS, OLD_DSTOPTS, OLD_RTHDR = 3, 4, 5
HOP, ROUTING, FRAGMENT, DEST = 0, 43, 44, 60
STACKS = ((p.net6, p.NET6_A), (p.native, p.NATIVE_A))
libc = ktap._libc
shared = types.SimpleNamespace()	# tap: what is sent; mobile: native takes type 2


def options(units, fill=0):
    """A header of options, 8 * units octets: one PadN, or one that says what it holds."""
    return bytes([0, units - 1, 1, 4]) + bytes([fill] * 4) if units == 1 else \
        bytes([0, units - 1]) + b"".join(bytes([0x1e, 4, fill, 0, 0, 0])
                                         for _ in range(units * 8 // 6))[:units * 8 - 2 - \
        (units * 8 - 2) % 6] + bytes((units * 8 - 2) % 6)


def route(via="fd00::b", kind=2, left=1, units=3):
    return (bytes([0, units - 1, kind, left, 0, 0, 0, 0]) +
            socket.inet_pton(socket.AF_INET6, via) + bytes(64))[:units * 8]


HEADERS = (b"", b"\0", options(1)[:7], options(1), options(1) + b"\0", options(1) + b"\0" * 8,
           options(2)[:8], options(2), b"\0\xff" + bytes(14), options(254), options(255),
           options(256), route(), route()[:16], route() + bytes(8), route(left=0), route(left=2),
           route(kind=0), route(kind=3), route(kind=4, left=2), route(units=5), route(units=1),
           route(units=5, left=2), b"\xff" * 24)


@contextlib.contextmanager
def unprivileged():
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def same(what, table):
    """table(socket maker) yields (names, ..., result); both stacks give the same."""
    mine, theirs = list(table(p.net6)), list(table(p.native))
    ktap.equal(len(mine), len(theirs), "number of results")
    for one, two in zip(mine, theirs):
        if shared.mobile or not {RTHDR, OLD_RTHDR} & {x for x in one[:-1] if isinstance(x, int)}:
            ktap.equal(one, two, what)


def getopt(sock, option, room):
    buf, length = ctypes.create_string_buffer(b"\xaa" * 2100, 2100), ctypes.c_int(room)
    if libc.getsockopt(sock.fileno(), V6, option, buf, ctypes.byref(length)):
        return errno.errorcode[ctypes.get_errno()]
    return length.value, buf.raw[:max(0, length.value)]


@ktap.test
def sticky_options_take_and_refuse_what_native_does():
    def table(make, kind, proto):
        for option, header in itertools.product(STICKY, HEADERS):
            s = make(kind, proto)
            for value in (header, options(3, 7) if option != RTHDR else route("fd00::1"), header):
                yield option, header.hex()[:40], failing(s.setsockopt, V6, option, value)
                for room in (2100, 24, 5, 0, -1):
                    yield option, room, getopt(s, option, room)
            s.close()
    for kind, proto in ((DGRAM, 0), (RAW, 253)):
        same(f"sticky option on type {int(kind)}", lambda make, k=kind, q=proto: table(make, k, q))


@ktap.test
def sticky_options_do_not_disturb_each_other():
    def table(make):
        s = make()
        for option in STICKY + STICKY:
            failing(s.setsockopt, V6, option, route() if option == RTHDR else options(2, option))
            for other in STICKY:
                yield option, other, getopt(s, other, 100)
        for option in (RTHDR, HOPOPTS, DSTOPTS, RTHDRDSTOPTS):
            failing(s.setsockopt, V6, option, b"")
            for other in STICKY:
                yield "removed", option, other, getopt(s, other, 100)
        s.close()
    same("several sticky options", table)


@ktap.test
def pointers_and_rights_are_as_native():
    def table(make):
        for option in STICKY:
            s = make()
            for pointer in (None, ctypes.c_void_p(1)):
                for length in (0, 3, 8, 24, 2048):
                    done = libc.setsockopt(s.fileno(), V6, option, pointer, length)
                    yield option, length, done and errno.errorcode[ctypes.get_errno()]
            with unprivileged():
                for header in (b"", options(1), route(), b"\0"):
                    yield option, header.hex(), failing(s.setsockopt, V6, option, header)
            s.close()
    same("sticky option", table)


@ktap.test
def streams_have_none():
    s = p.net6(STREAM)
    for option in STICKY:
        ktap.raises(errno.ENOPROTOOPT, s.setsockopt, V6, option, options(1))
        ktap.equal(getopt(s, option, 64), "ENOPROTOOPT", f"get {option}")
    s.close()


@ktap.test
def ancillary_data_is_taken_and_refused_as_by_native():
    kinds = STICKY + (OLD_HOPOPTS, OLD_DSTOPTS, OLD_RTHDR)

    def send(sock, *controls):
        return failing(sock.sendmsg, [b"data"], [(V6, k, v) for k, v in controls], 0,
                       (p.NATIVE_B, 9))

    def table(make):
        s = make()
        for kind, header in itertools.product(kinds, HEADERS):
            yield kind, header.hex()[:40], send(s, (kind, header))
        for one, two in itertools.product(kinds, kinds):
            pair = [(k, route() if k in (RTHDR, OLD_RTHDR) else options(1)) for k in (one, two)]
            yield one, two, send(s, *pair)
        with unprivileged():
            for kind, header in itertools.product(kinds, (b"", b"\0\0\0\0", options(1), route())):
                yield "nobody", kind, header.hex(), send(s, (kind, header))
        s.close()
    same("ancillary data", table)


class Tap:
    """IPv6 packets that come in on b0, as lists of headers."""

    def __init__(self):
        with p.B:
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x86dd))
            self.sock.bind(("b0", 0x86dd))
        self.sock.settimeout(10 * ktap.SCALE)

    def flush(self):
        self.sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.sock.recv(65536)
        self.sock.settimeout(10 * ktap.SCALE)

    def packet(self, source):
        """One packet of this source's that is not Neighbor Discovery's: destination and
        headers; the last one is (protocol, its bytes)."""
        while True:
            raw = self.sock.recv(65536)
            kind, at, chain = raw[6], 40, []
            if raw[8:24] != socket.inet_pton(socket.AF_INET6, source):
                continue
            ktap.equal(len(raw), 40 + struct.unpack("!H", raw[4:6])[0], "payload length")
            while kind in (HOP, ROUTING, FRAGMENT, DEST):
                size = 8 if kind == FRAGMENT else raw[at + 1] * 8 + 8
                header = raw[at + 1:at + size]
                chain.append((kind, header[:3] if kind == FRAGMENT else header))
                kind, at = raw[at], at + size
                if chain[-1][0] == FRAGMENT and chain[-1][1] > b"\0\0\1":
                    break
            if kind != 58 or raw[at] not in range(133, 138):
                return socket.inet_ntop(socket.AF_INET6, raw[24:40]), chain + [(kind, raw[at:])]

    def datagram(self, source):
        """All fragments of one packet, or the one packet."""
        out = [self.packet(source)]
        while any(k == FRAGMENT and h[2] & 1 for k, h in out[-1][1][:-1]):
            out.append(self.packet(source))
        return out


def seen_on_wire(make, source, send, *kind):
    """Headers and lengths of what send(socket) makes; the rest differs between stacks."""
    sock = make(*kind)
    sock.bind((source, 0))
    shared.tap.flush()
    send(sock)
    out = [(dst, chain[:-1], chain[-1][0], len(chain[-1][1]))
           for dst, chain in shared.tap.datagram(source)]
    sock.close()
    return out


def the_same_wire(what, send, *kind):
    """What send(socket) makes on both stacks. Fragments may differ in one way: natively
    Destination Options are in each even without a routing header; RFC 8200 4.5 has them
    behind the Fragment header then."""
    mine = seen_on_wire(*STACKS[0], send, *kind)
    if not shared.mobile and ROUTING in [kind for kind, _ in mine[0][1]]:
        return
    theirs = seen_on_wire(*STACKS[1], send, *kind)
    kinds = [[kind for kind, _ in part[1]] for part in mine]
    if len(mine) == 1 or DEST not in kinds[0] or ROUTING in kinds[0]:
        ktap.equal(mine, theirs, what)
        return
    ktap.equal([kind for part in kinds for kind in part if kind != HOP],
               [FRAGMENT, DEST] + [FRAGMENT] * (len(mine) - 1), f"order of {what}")
    ktap.equal(sorted(mine[0][1]), sorted(theirs[0][1]), f"headers of {what}")
    ktap.equal(sum(part[3] for part in mine), sum(part[3] for part in theirs), f"octets of {what}")


CHAINS = (
    {HOPOPTS: options(1)}, {DSTOPTS: options(2)}, {RTHDR: route()}, {RTHDRDSTOPTS: options(1)},
    {HOPOPTS: options(4), DSTOPTS: options(1)},
    {RTHDR: route(), RTHDRDSTOPTS: options(2, 1)},
    {HOPOPTS: options(1, 1), RTHDRDSTOPTS: options(2, 2), RTHDR: route(), DSTOPTS: options(3, 3)},
    {HOPOPTS: options(100)}, {OLD_HOPOPTS: options(2)},
    {OLD_DSTOPTS: options(2), OLD_RTHDR: route()}, {OLD_RTHDR: route(), OLD_DSTOPTS: options(2)},
)


@ktap.test
def the_wire_has_the_headers_in_native_order():
    for chain, size, final in itertools.product(CHAINS, (10, 1300, 4001), ("fd00::b", "fd00::99")):
        if final != "fd00::b" and not {RTHDR, OLD_RTHDR} & set(chain):
            continue
        the_same_wire(f"{size} bytes with {sorted(chain)} to {final}", lambda s: s.sendmsg(
            [bytes(size)], [(V6, k, v) for k, v in chain.items()], 0, (final, 9)))


@ktap.test
def sticky_options_go_with_every_datagram_until_ancillary_data_comes():
    sticky = [c for c in CHAINS if set(c) <= set(STICKY) and (shared.mobile or RTHDR not in c)]
    for chain, size in itertools.product(sticky, (10, 3000)):
        def send(sock, controls=(), connect=False):
            for option, value in chain.items():
                sock.setsockopt(V6, option, value)
            if connect:
                sock.connect((p.NATIVE_B, 9))
                sock.sendmsg([bytes(size)], controls)
            else:
                sock.sendmsg([bytes(size)], controls, 0, (p.NATIVE_B, 9))
        for controls, connect in (((), False), ((), True), ([(V6, DSTOPTS, options(1, 9))], False),
                                  ([(V6, 52, struct.pack("=i", 9))], True)):
            the_same_wire(f"{size} bytes with {sorted(chain)}, {controls}",
                          lambda s: send(s, controls, connect))


@ktap.test
def datagrams_put_together_keep_the_first_calls_headers():
    for sticky, size in itertools.product((False, True), (10, 2000)):
        def send(sock):
            if sticky:
                sock.setsockopt(V6, HOPOPTS, options(2))
                sock.sendto(bytes(size), socket.MSG_MORE, (p.NATIVE_B, 9))
                sock.setsockopt(V6, HOPOPTS, b"")
            else:
                sock.sendmsg([bytes(size)], [(V6, HOPOPTS, options(2)), (V6, DSTOPTS, options(1))],
                             socket.MSG_MORE, (p.NATIVE_B, 9))
            sock.sendto(bytes(size), (p.NATIVE_B, 9))
        the_same_wire(f"twice {size} bytes, sticky {sticky}", send)
    for _ in range(50):
        sock = p.net6()
        sock.sendmsg([b"x"], [(V6, HOPOPTS, options(255))], socket.MSG_MORE, (p.NATIVE_B, 9))
        sock.close()


@ktap.test
def raw_sockets_send_them_and_count_the_checksum_for_the_final_destination():
    for chain in CHAINS[:7]:
        def send(sock):
            sock.setsockopt(V6, socket.IPV6_CHECKSUM, 2)
            sock.sendmsg([b"\1\2\0\0" * 3], [(V6, k, v) for k, v in chain.items()], 0,
                         ("fd00::99" if RTHDR in chain else p.NATIVE_B, 0))
        the_same_wire(f"raw with {sorted(chain)}", send, RAW, 253)


@ktap.test
def echo_requests_carry_them_too():
    for chain in CHAINS[:2] + CHAINS[4:5]:
        for sticky in (False, True):
            def send(sock):
                if sticky:
                    for k, v in chain.items():
                        sock.setsockopt(V6, k, v)
                sock.sendmsg([b"\x80\0\0\0\0\0\0\1data"],
                             [] if sticky else [(V6, k, v) for k, v in chain.items()], 0,
                             (p.NATIVE_B, 0))
                ktap.equal(sock.recv(100)[8:], b"data", f"reply to echo with {sorted(chain)}")
            got = seen_on_wire(p.net6, p.NET6_A, send, DGRAM, socket.IPPROTO_ICMPV6)
            ktap.equal([h for _, h in got[0][1]],
                       [v[1:] for _, v in sorted(chain.items())], "headers")


@ktap.test
def what_is_too_long_is_refused_as_by_native():
    sink = p.native(ns=p.B)
    sink.bind((p.NATIVE_B, 0))

    def table(make):
        for discover, dontfrag in ((2, 0), (1, 1), (1, 0)):
            s = make()
            s.settimeout(None)
            s.connect(sink.getsockname())
            # RECVERR, MTU_DISCOVER, DONTFRAG, RECVPATHMTU
            for option, value in ((25, 1), (23, discover), (62, dontfrag), (60, 1)):
                s.setsockopt(V6, option, value)
            for units, size in itertools.product((1, 5, 178, 184), (0, 1000, 1404, 1412, 1413, 1444,
                                                                     1445, 65487, 65519, 65520)):
                if size > 1500 and (discover, dontfrag) != (1, 0):
                    continue
                done = failing(s.sendmsg, [bytes(size)], [(V6, HOPOPTS, options(units))])
                yield units, size, discover, dontfrag, done
                while True:
                    try:
                        _, controls, _, _ = s.recvmsg(100, 1000, 0x2000 | socket.MSG_DONTWAIT)
                    except BlockingIOError:
                        break
                    # errno, origin, type, code, pad, info
                    yield units, size, [(l, t, d[:12]) for l, t, d in controls]
            s.close()
    same("long datagram", table)


@ktap.test
def the_whole_header_chain_must_fit_the_first_fragment():
    """RFC 7112 section 5; the native stack forgets the Fragment header's 8 octets."""
    s = p.net6()
    for hop, dest, fits in ((90, 90, True), (90, 89, True), (90, 91, False), (255, 255, False)):
        controls = [(V6, HOPOPTS, options(hop)), (V6, DSTOPTS, options(dest))]
        done = failing(s.sendmsg, [bytes(1000)], controls, 0, (p.NATIVE_B, 9))
        ktap.equal(done, 1000 if fits else "EMSGSIZE", f"{8 * (hop + dest)} octets of options")
    s.close()


@ktap.test
def segments_have_no_extension_headers():
    def table(make):
        s = make()
        s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 100)
        # Linux 6.1 refuses one segment, too; 6.12 sends several.
        for size in (50, 100) if ktap.KERNEL >= (6, 12) else (1000,):
            yield size, failing(s.sendmsg, [bytes(size)], [(V6, DSTOPTS, options(1))], 0,
                                (p.NATIVE_B, 9))
        s.close()
    same("UDP_SEGMENT", table)


@ktap.test
def segments_go_where_no_header_is_sent():
    """Options for the stops of a route are not, without a route."""
    receiver = p.native(ns=p.B)
    receiver.bind((p.NATIVE_B, 9))
    s = p.net6()
    s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 100)
    for sticky in False, True:
        if sticky:
            s.setsockopt(V6, RTHDRDSTOPTS, options(1))
            sent = s.sendto(bytes(250), (p.NATIVE_B, 9))
        else:
            sent = s.sendmsg([bytes(250)], [(V6, RTHDRDSTOPTS, options(1))], 0, (p.NATIVE_B, 9))
        ktap.equal(sent, 250, "octets sent")
        ktap.equal([len(receiver.recv(300)) for _ in range(3)], [100, 100, 50], "segments")
    s.close()
    receiver.close()


@ktap.test
def received_headers_are_told():
    sender = p.native(ns=p.B)
    for chain, size in itertools.product(CHAINS[:2] + CHAINS[4:5], (5, 4000)):
        for wanted in ((53,), (58,), (53, 58), (OLD_HOPOPTS, OLD_DSTOPTS), (53, OLD_DSTOPTS, 56)):
            got = []
            for make, own in STACKS:
                s = make()
                s.bind((own, 0))
                for option in wanted:
                    s.setsockopt(V6, option, 1)
                sender.sendmsg([bytes(size)], [(V6, k, v) for k, v in chain.items()], 0,
                               s.getsockname()[:2])
                data, controls, _, _ = s.recvmsg(5000, 4000)
                ktap.equal(len(data), size, "datagram")
                # The Next Header field of a header before fragments differs in reassembly.
                got.append([(kind, value[1:]) for _, kind, value in controls])
                s.close()
            ktap.equal(got[0], got[1], f"{sorted(chain)} told to {wanted}, {size} bytes")


def setup():
    p.setup()
    shared.tap = Tap()
    s = p.native()
    shared.mobile = failing(s.setsockopt, V6, RTHDR, route()) is None
    s.close()


ktap.main(setup=setup)
