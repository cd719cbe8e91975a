# SPDX-License-Identifier: GPL-2.0
"""A TCP peer made by hand, for tests of what net6's TCP puts on the wire:

    [ A: a packet socket plays the peer ] a0 ------ b0 [ B: net6 ]

    tcpwire.setup()
    c = tcpwire.Connection(sack=True)	# the peer opens, net6 accepts
    c.sock.send(b"x" * 1000)		# what net6 does
    seg = c.receive()			# what it sends: seg.seq 0, seg.data
    c.ack(1000)				# what the peer answers

Sequence numbers are relative: 0 is the first byte of data in either direction.
"""

import os
import select
import socket
import struct
import time

import ktap

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << i for i in range(8))
US, PEER = "2001:db8:6::b", "2001:db8:6::a"
PEER_MAC, OUR_MAC = bytes.fromhex("020000000a0a"), bytes.fromhex("020000000b0b")
ISN = 1000
PATIENCE = 10 * ktap.SCALE
MOMENT = 0.15 * ktap.SCALE
NS = {}
STATE = {"port": 30000}


def setup(gso=False):
    """Topology and module; without super-packets unless asked for."""
    # In virtual time a wait for the 9p root makes time jump: commands have no time-out.
    ktap.SCALE = 10000
    ktap.net6_load()
    NS["A"], NS["B"] = ktap.Netns("A"), ktap.Netns("B")
    ktap.veth(NS["A"], "a0", NS["B"], "b0")
    NS["B"].ip("link", "set", "b0", "address", OUR_MAC.hex(":"))
    if not gso:
        NS["B"].ip("link", "set", "b0", "gso_max_segs", "1")
    ctl = f"{TOP}/tools/net6ctl"
    ktap.wait_for(20, "net6 on b0", lambda: "b0" in NS["B"].run(ctl, "show", "addresses"))
    NS["B"].run(ctl, "set", "dev", "b0", "dad-transmits", "0")
    NS["B"].run(ctl, "add", "address", US + "/64", "dev", "b0")
    NS["B"].run(ctl, "add", "prefix", "2001:db8:6::/64", "dev", "b0")
    NS["B"].run(ctl, "add", "neighbor", PEER, "lladdr", "02:00:00:00:0a:0a", "dev", "b0")
    with NS["A"]:
        STATE["wire"] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x86dd))
        STATE["wire"].bind(("a0", 0))
    STATE["wire"].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def frame(payload, protocol):
    return (OUR_MAC + PEER_MAC + b"\x86\xdd" +
            struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64) +
            socket.inet_pton(socket.AF_INET6, PEER) + socket.inet_pton(socket.AF_INET6, US) +
            payload)


def pseudo(length, protocol):
    return (socket.inet_pton(socket.AF_INET6, PEER) + socket.inet_pton(socket.AF_INET6, US) +
            struct.pack("!II", length, protocol))


class Segment:
    """A segment from net6, numbers relative."""

    def __init__(self, packet, isn_us, isn_peer):
        th = packet[40:]
        self.packet = packet
        (self.sport, self.dport, seq, ack, off, self.flags, self.window, _,
         self.urgent) = struct.unpack_from("!HHIIBBHHH", th)
        self.seq = (seq - (isn_us or 0) - 1) & 0xffffffff
        self.ack = (ack - isn_peer - 1) & 0xffffffff
        self.raw_seq = seq
        self.data = th[(off >> 4) * 4:]
        self.time = time.monotonic()
        self.sacks, self.tsval, self.tsecr, self.mss = [], None, None, None
        options, at = th[20:(off >> 4) * 4], 0
        while at < len(options) and options[at]:
            if options[at] == 1:
                at += 1
                continue
            kind, size = options[at], options[at + 1]
            if kind == 2:
                self.mss = struct.unpack_from("!H", options, at + 2)[0]
            elif kind == 5:
                for i in range(at + 2, at + size, 8):
                    self.sacks.append(tuple((v - isn_peer - 1) & 0xffffffff for v in
                                            struct.unpack_from("!II", options, i)))
            elif kind == 8:
                self.tsval, self.tsecr = struct.unpack_from("!II", options, at + 2)
            at += size

    def __repr__(self):
        names = "".join(n for n, bit in (("S", SYN), ("F", FIN), ("R", RST), ("P", PSH),
                                         (".", ACK), ("U", URG)) if self.flags & bit)
        return (f"[{names} seq {self.seq} len {len(self.data)} ack {self.ack}"
                f" win {self.window}{' sack ' + str(self.sacks) if self.sacks else ''}]")


class Connection:
    """Established, the peer's side in our hands."""

    def __init__(self, mss=1000, sack=False, stamps=False, window=65535, wscale=None,
                 before_accept=None):
        self.isn_us, self.stamps, self.window = None, stamps, window
        self.clock, self.echo = 1000, 0
        STATE["port"] += 1
        self.port = STATE["port"]
        listener = ktap.net6_socket(ns=NS["B"])
        listener.bind((US, 0))
        if before_accept:
            before_accept(listener)
        listener.listen(1)
        self.dport = listener.getsockname()[1]
        options = struct.pack("!BBH", 2, 4, mss) if mss else b""
        if sack:
            options += b"\4\2"
        if wscale is not None:
            options += bytes((3, 3, wscale))
        self.drain()
        self.send(SYN, -1, None, options=options)
        seg = self.receive()
        ktap.true(seg and seg.flags & SYN, f"SYN-ACK, not {seg}")
        self.syn_ack = seg
        self.isn_us = seg.raw_seq
        self.send()
        listener.settimeout(PATIENCE)
        self.sock = listener.accept()[0]
        self.sock.settimeout(PATIENCE)
        listener.close()
        self.mine = 0		# next byte of the peer

    def send(self, flags=ACK, seq=None, ack=0, data=b"", options=b"", window=None, urgent=0,
             tsval=None):
        """A segment from the peer; seq None for what comes next."""
        if seq is None:
            seq = getattr(self, "mine", 0)
        if self.stamps:
            self.clock += 1
            options = (b"\1\1\x08\x0a" + struct.pack("!II", tsval or self.clock, self.echo) +
                       options)
        options += b"\1" * (-len(options) % 4)
        ack = 0 if ack is None else ((self.isn_us or 0) + 1 + ack) & 0xffffffff
        th = struct.pack("!HHIIBBHHH", self.port, self.dport, (ISN + 1 + seq) & 0xffffffff, ack,
                         (20 + len(options)) // 4 << 4, flags,
                         self.window if window is None else window, 0, urgent) + options + data
        total = checksum(pseudo(len(th), 6) + th)
        STATE["wire"].send(frame(th[:16] + struct.pack("!H", total) + th[18:], 6))

    def ack(self, number, sacks=(), **more):
        """A pure ACK, with SACK blocks."""
        options = b""
        if sacks:
            options = b"\1\1\5" + bytes((2 + 8 * len(sacks),))
            for block in sacks:
                options += struct.pack("!II", *((self.isn_us + 1 + v) & 0xffffffff
                                                for v in block))
        self.send(ACK, ack=number, options=options, **more)

    def data(self, data, ack=0):
        """The next bytes of the peer's stream."""
        self.send(ACK | PSH, self.mine, ack, data)
        self.mine += len(data)

    def receive(self, timeout=PATIENCE):
        """The next segment of this connection, or None."""
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([STATE["wire"]], [], [], left)[0]:
                return None
            got = STATE["wire"].recv(70000)
            if got[:6] != PEER_MAC or got[20] != 6:
                continue
            seg = Segment(got[14:], self.isn_us, ISN)
            if (seg.sport, seg.dport) != (self.dport, self.port):
                continue
            if seg.tsval is not None:
                self.echo = seg.tsval
            return seg

    def expect(self, seq=None, length=None, flags=None, timeout=PATIENCE):
        """The next segment has these values."""
        seg = self.receive(timeout)
        ktap.true(seg is not None, f"a segment seq {seq} len {length}, got none")
        if seq is not None:
            ktap.equal(seg.seq, seq, f"sequence number of {seg}")
        if length is not None:
            ktap.equal(len(seg.data), length, f"length of {seg}")
        if flags is not None:
            ktap.equal(seg.flags & ~PSH, flags, f"flags of {seg}")
        return seg

    def all(self, quiet=MOMENT):
        """Everything until nothing comes for a moment."""
        found = []
        while True:
            seg = self.receive(quiet)
            if not seg:
                return found
            found.append(seg)

    def silent(self, timeout=MOMENT):
        seg = self.receive(timeout)
        ktap.true(seg is None, f"silence, not {seg}")

    def drain(self):
        while select.select([STATE["wire"]], [], [], 0.01)[0]:
            STATE["wire"].recv(70000)

    def icmp(self, kind, code, info, about):
        """An ICMPv6 error from the peer about a segment of net6."""
        body = struct.pack("!BBHI", kind, code, 0, info) + about.packet[:1200]
        total = checksum(pseudo(len(body), 58) + body)
        STATE["wire"].send(frame(body[:2] + struct.pack("!H", total) + body[4:], 58))

    def close(self):
        """Leaves nothing behind."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        self.drain()
