#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Connections as the wire sees them: what net6 answers to hand-made segments, before,
# during and after a connection (RFC 9293 3.10.7, RFC 5961, RFC 4987, RFC 6191, RFC 5461).
#
#   [ A: a packet socket plays the peer ] a0 ------ b0 [ B: net6, 2001:db8:6::b ]
#
# guest: stock+
# timeout: 400
import errno
import json
import os
import select
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import tcpwire  # pylint: disable=wrong-import-position
from tcpwire import ACK, CWR, ECE, FIN, PEER, PSH, RST, SYN, US

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
PEER_MAC = bytes.fromhex("020000000a0a")
MOMENT = 0.3 * ktap.SCALE
PATIENCE = 5 * ktap.SCALE
IPV6_RECVERR = 25
NS = {}


def ctl(*words):
    return NS["B"].run(f"{TOP}/tools/net6ctl", *words)


def show(what):
    return json.loads(ctl("-j", "show", *what.split()))


def counter(name):
    return [c["value"] for c in show("counters all") if c["name"] == name][0]


def states_of(peer_of):
    """The states of the connections with a peer's port."""
    return [s["state"] for s in show("sockets tcp") if s.get("remote_port") == peer_of.port]


def requests(port):
    return [s for s in show("sockets tcp")
            if s["local_port"] == port and s["state"] == "syn-recv"]


class Segment:
    """A received segment."""

    def __init__(self, packet):
        th = packet[40:]
        (self.sport, self.dport, self.seq, self.ack, off, self.flags,
         self.window) = struct.unpack_from("!HHIIBBH", th)
        self.options = th[20:(off >> 4) * 4]
        self.data = th[(off >> 4) * 4:]
        pseudo = packet[8:40] + struct.pack("!II", len(th), 6)
        self.sum_ok = tcpwire.checksum(pseudo + th) == 0
        self.tsval = None
        at = 0
        while at < len(self.options):
            kind = self.options[at]
            if kind == 0:
                break
            if kind == 1:
                at += 1
                continue
            if kind == 8:
                self.tsval = struct.unpack_from("!I", self.options, at + 2)[0]
            at += self.options[at + 1]

    def __repr__(self):
        names = "".join(n for n, bit in (("S", SYN), ("F", FIN), ("R", RST), ("P", PSH),
                                         (".", ACK)) if self.flags & bit)
        return f"[{names} {self.seq}:{self.ack} len {len(self.data)}]"


class Peer:
    """The other end, made by hand."""

    def __init__(self):
        with NS["A"]:
            self.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x86dd))
            self.wire.bind(("a0", 0))
        self.port = 30000 + os.getpid() % 1000
        link = json.loads(NS["B"].ip("-j", "link", "show", "dev", "b0"))[0]
        self.mac = bytes.fromhex(link["address"].replace(":", ""))

    def frame(self, dst, payload, protocol, src=PEER):
        source = socket.inet_pton(socket.AF_INET6, src)
        target = socket.inet_pton(socket.AF_INET6, dst)
        return (self.mac + PEER_MAC + b"\x86\xdd" +
                struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64) +
                source + target + payload), source, target

    def send(self, dport, flags, seq=0, ack=0, data=b"", sport=None, options=b"", window=65535,
             dst=US, src=PEER):
        options += b"\1" * (-len(options) % 4)
        header = struct.pack("!HHIIBBHHH", sport or self.port, dport, seq & 0xffffffff,
                             ack & 0xffffffff, (20 + len(options)) // 4 << 4, flags,
                             window, 0, 0) + options
        _, source, target = self.frame(dst, b"", 6, src)
        pseudo = source + target + struct.pack("!II", len(header) + len(data), 6)
        total = tcpwire.checksum(pseudo + header + data)
        header = header[:16] + struct.pack("!H", total) + header[18:]
        self.wire.send(self.frame(dst, header + data, 6, src)[0])

    def icmp(self, kind, code, info, inside):
        body = struct.pack("!BBHI", kind, code, 0, info) + inside[:1200]
        _, source, target = self.frame(US, b"", 58)
        total = tcpwire.checksum(source + target + struct.pack("!II", len(body), 58) + body)
        body = body[:2] + struct.pack("!H", total) + body[4:]
        self.wire.send(self.frame(US, body, 58)[0])

    def receive(self, sport=None, timeout=PATIENCE, packet=False, dport=None):
        """The next segment from us to the port in use (0: any), or None."""
        dport = self.port if dport is None else dport
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.wire], [], [], left)[0]:
                return None
            frame = self.wire.recv(70000)
            if frame[:6] != PEER_MAC or frame[20] != 6:
                continue
            seg = Segment(frame[14:])
            if (sport and seg.sport != sport) or (dport and seg.dport != dport):
                continue
            return (seg, frame[14:]) if packet else seg

    def silent(self, sport=None, timeout=MOMENT):
        got = self.receive(sport, timeout)
        ktap.true(got is None, f"silence, not {got}")

    def drain(self):
        while self.receive(timeout=0.01, dport=0):
            pass

    def next_port(self):
        self.port += 1
        self.drain()
        return self.port


def listener(backlog=8, **options):
    sock = ktap.net6_socket(ns=NS["B"])
    sock.settimeout(PATIENCE)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((US, 0))
    sock.listen(backlog)
    return sock, sock.getsockname()[1]


PEERS = {}


def peer():
    p = PEERS["peer"]
    p.next_port()
    return p


def handshake(p, port, isn=1000, options=b""):
    """SYN and SYN-ACK; returns the latter."""
    p.send(port, SYN, isn, options=options)
    seg = p.receive(port)
    ktap.true(seg and seg.flags == SYN | ACK and seg.ack == isn + 1, f"SYN-ACK, got {seg}")
    return seg


def connected(p, sock, port, isn=1000):
    """An established connection: our socket, next sequence numbers of peer and us."""
    seg = handshake(p, port, isn)
    p.send(port, ACK, isn + 1, seg.seq + 1)
    conn = sock.accept()[0]
    conn.settimeout(PATIENCE)
    return conn, isn + 1, seg.seq + 1


def setup():
    ktap.net6_load()
    NS["A"], NS["B"] = ktap.Netns("A"), ktap.Netns("B")
    ktap.veth(NS["A"], "a0", NS["B"], "b0")
    ktap.wait_for(20, "net6 on b0", lambda: [a for a in show("addresses")
                                             if a.get("dev") == "b0"])
    ctl("set", "dev", "b0", "dad-transmits", "0")
    ctl("add", "address", US + "/64", "dev", "b0")
    ctl("add", "prefix", "2001:db8:6::/64", "dev", "b0")
    ctl("add", "neighbor", PEER, "lladdr", "02:00:00:00:0a:0a", "dev", "b0")
    # What a packet socket sees has its checksum: nothing is left to a device.
    NS["B"].run("ethtool", "-K", "b0", "tx", "off")
    # The peer is made by hand and never answers our last FIN.
    NS["B"].run("sysctl", "-qw", "net.ipv4.tcp_orphan_retries=1")
    ktap.at_exit(orphans_have_gone)
    PEERS["peer"] = Peer()


def orphans_have_gone():
    """Sockets that still close keep their namespace, and the module with it."""
    ktap.wait_for(20, "no connection is left", lambda: not
                  [s for s in show("sockets tcp") if s["state"] not in ("time-wait", "listen")])


@ktap.test
def closed_port_answers_with_reset():
    p = peer()
    p.send(9, SYN, 5000, data=b"xyz")
    seg = p.receive(9)
    ktap.equal((seg.flags, seg.seq, seg.ack), (RST | ACK, 0, 5004), "RST for a SYN with data")
    ktap.true(seg.sum_ok, "checksum")
    p.send(9, ACK, 5000, 777)
    seg = p.receive(9)
    ktap.equal((seg.flags, seg.seq), (RST, 777), "RST for an ACK")
    p.send(9, RST, 5000)
    p.send(9, RST | ACK, 5000, 6)
    p.silent(9)
    p.send(9, SYN, 5000, dst="ff02::1")
    p.silent(9)


@ktap.test
def bad_checksum_and_length_are_silent():
    p = peer()
    _, port = listener()
    before = counter("TcpInErrs")
    good = p.frame(US, struct.pack("!HHIIBBHHH", p.port, port, 1, 0, 0x50, SYN, 9, 0x1234, 0), 6)[0]
    p.wire.send(good)
    for header in (b"", b"\0" * 4, b"\0" * 19, struct.pack("!HHIIBBHHH", 1, port, 1, 0, 0x40,
                                                           SYN, 9, 0, 0),
                   struct.pack("!HHIIBBHHH", 1, port, 1, 0, 0xf0, SYN, 9, 0, 0)):
        p.wire.send(p.frame(US, header, 6)[0])
    p.silent()
    ktap.wait_for(10, "all are counted", lambda: counter("TcpInErrs") >= before + 6)


@ktap.test
def listener_answers_by_the_book():
    p = peer()
    _sock, port = listener()
    p.send(port, ACK, 1, 4242)
    seg = p.receive(port)
    ktap.equal((seg.flags, seg.seq), (RST, 4242), "ACK to a listener")
    p.send(port, SYN | ACK, 1, 4243)
    seg = p.receive(port)
    ktap.equal((seg.flags, seg.seq), (RST, 4243), "SYN-ACK to a listener")
    for flags in (RST, FIN, PSH, 0, SYN | FIN, SYN | RST):
        p.send(port, flags, 1)
    p.silent(port)


@ktap.test
def syn_ack_has_what_was_offered():
    p = peer()
    _sock, port = listener()
    seg = handshake(p, port, options=b"\2\4\5\xa0\4\2\x08\x0a\0\0\1\0\0\0\0\0\1\3\3\7")
    kinds = []
    at = 0
    while at < len(seg.options):
        kind = seg.options[at]
        if kind > 1:
            kinds.append(kind)
            at += seg.options[at + 1]
        else:
            at += 1
    ktap.equal(sorted(kinds), [2, 3, 4, 8], "MSS, window scale, SACK, timestamps")
    mss = struct.unpack_from("!H", seg.options, seg.options.index(b"\2\4") + 2)[0]
    ktap.equal(mss, 1440, "MSS of a link with MTU 1500")
    ktap.true(seg.sum_ok and seg.window > 1000, "checksum and window")
    p.next_port()
    seg = handshake(p, port)
    ktap.true(b"\2\4" in seg.options and seg.tsval is None and b"\3\3" not in seg.options,
              "MSS only to who offers nothing")


@ktap.test
def syn_ack_is_retransmitted():
    p = peer()
    _sock, port = listener()
    seg = handshake(p, port)
    first = time.monotonic()
    again = p.receive(port, 3 * ktap.SCALE)
    ktap.true(again and again.seq == seg.seq and again.flags == SYN | ACK, "again after a second")
    ktap.true(time.monotonic() - first > 0.5, "not too early")
    p.send(port, SYN, 1000)
    again = p.receive(port, MOMENT)
    ktap.true(again and again.seq == seg.seq, "and for a retransmitted SYN")
    p.send(port, RST, 1001)


@ktap.test
def embryonic_connection_checks_its_segments():
    p = peer()
    sock, port = listener()
    syn_ack = handshake(p, port)
    p.send(port, ACK, 1001, syn_ack.seq + 2)
    seg = p.receive(port)
    ktap.equal((seg.flags, seg.seq), (RST, syn_ack.seq + 2), "wrong ACK")
    p.send(port, RST, 1002)
    seg = p.receive(port)
    ktap.equal(seg.flags, ACK, "RST in the window, not exact: challenge ACK")
    p.send(port, RST, 900)
    p.silent(port, 0.1)
    ktap.equal(len(requests(port)), 1, "requests")
    p.send(port, ACK, 1001, syn_ack.seq + 1, b"data with the ACK")
    conn = sock.accept()[0]
    ktap.equal(conn.recv(100), b"data with the ACK", "data")
    ktap.equal(requests(port), [], "request is gone")
    p.next_port()
    handshake(p, port)
    p.send(port, RST, 1001)
    ktap.wait_for(10, "exact RST ends it", lambda: not requests(port))
    p.send(port, ACK, 1001, 99)
    ktap.equal(p.receive(port).flags, RST, "ACK for what is gone")


@ktap.test
def bare_fin_completes_and_closes():
    p = peer()
    sock, port = listener()
    seg = handshake(p, port)
    p.send(port, ACK | FIN, 1001, seg.seq + 1)
    conn = sock.accept()[0]
    ktap.equal(conn.recv(1), b"", "end of stream")
    seg = p.receive(port)
    ktap.equal((seg.flags & ACK, seg.ack), (ACK, 1002), "FIN is acknowledged")


@ktap.test
def requests_go_with_their_listener():
    p = peer()
    sock, port = listener()
    for _ in range(5):
        handshake(p, port)
        p.next_port()
    ktap.equal(len(requests(port)), 5, "requests")
    sock.close()
    ktap.wait_for(10, "requests are gone", lambda: not requests(port))


@ktap.test
def cookies_when_the_queue_is_full():
    p = peer()
    sock, port = listener(4)
    sent = counter("TcpSyncookiesSent")
    for i in range(60):
        p.send(port, SYN, 7, sport=40000 + i)
    ktap.wait_for(5, "cookies are sent", lambda: counter("TcpSyncookiesSent") >= sent + 50)
    ktap.true(len(requests(port)) <= 4, "requests are bounded")
    p.drain()
    # Without and with timestamps, which carry window scale and SACK.
    for options in (b"", b"\2\4\5\xa0\4\2\x08\x0a\0\0\1\0\0\0\0\0\1\3\3\7"):
        p.next_port()
        recv = counter("TcpSyncookiesRecv")
        seg = handshake(p, port, options=options)
        stamp = b"\x08\x0a" + struct.pack("!II", 257, seg.tsval) if options else b""
        p.send(port, ACK, 1001, seg.seq + 1, b"baked", options=stamp)
        conn = sock.accept()[0]
        ktap.equal(conn.recv(10), b"baked", "data")
        ktap.equal(counter("TcpSyncookiesRecv"), recv + 1, "cookies accepted")
        info = conn.getsockopt(socket.IPPROTO_TCP, 11, 104)
        ktap.equal(info[5] & 7, 7 if options else 0, "options in TCP_INFO")
        ktap.equal(info[6] & 15, 7 if options else 0, "window scale of the peer")
        conn.close()
    failed = counter("TcpSyncookiesFailed")
    p.next_port()
    for guess in (0, 1, 0xdeadbeef, seg.seq + 1):
        p.send(port, ACK, 1001, guess)
        answer = p.receive(port)
        ktap.equal((answer.flags, answer.seq), (RST, guess & 0xffffffff), "forged cookie")
    ktap.true(counter("TcpSyncookiesFailed") >= failed + 4, "forgeries are counted")


@ktap.test
def no_cookies_when_switched_off():
    p = peer()
    NS["B"].run("sysctl", "-qw", "net.ipv4.tcp_syncookies=0")
    try:
        _sock, port = listener(2)
        before = counter("TcpReqQFullDrop")
        for i in range(20):
            p.send(port, SYN, 7, sport=41000 + i)
        ktap.wait_for(5, "SYNs are dropped", lambda: counter("TcpReqQFullDrop") >= before + 17)
        ktap.true(len(requests(port)) <= 3, "requests are bounded")
    finally:
        NS["B"].run("sysctl", "-qw", "net.ipv4.tcp_syncookies=1")
    p.drain()


@ktap.test
def full_accept_queue_makes_the_peer_wait():
    p = peer()
    sock, port = listener(1)
    for _ in range(2):
        seg = handshake(p, port)
        p.send(port, ACK, 1001, seg.seq + 1)
        p.next_port()
    drops = counter("TcpListenOverflows")
    p.send(port, SYN, 1000)
    p.silent(port)
    ktap.true(counter("TcpListenOverflows") > drops, "overflow is counted")
    sock.accept()[0].close()
    p.drain()
    p.next_port()
    conn, _, _ = connected(p, sock, port)
    conn.close()


@ktap.test
def time_wait_answers_and_gives_way():
    p = peer()
    sock, port = listener()
    conn, seq, ack = connected(p, sock, port)
    conn.close()
    fin = p.receive(port)
    ktap.true(fin.flags & FIN, f"our FIN, got {fin}")
    p.send(port, ACK | FIN, seq, ack + 1)
    seg = p.receive(port)
    ktap.equal((seg.flags, seg.ack), (ACK, seq + 1), "last ACK")
    ktap.equal(states_of(p), ["time-wait"], "state")
    time.sleep(0.6)		# such ACKs are limited to two a second
    p.send(port, ACK | FIN, seq, ack + 1)
    seg = p.receive(port)
    ktap.equal((seg.flags, seg.ack), (ACK, seq + 1), "FIN again is acknowledged again")
    p.send(port, RST, seq - 10)
    time.sleep(0.6)		# as above
    p.send(port, SYN, seq - 5)
    seg = p.receive(port)
    ktap.equal(seg.flags, ACK, "an old SYN does not begin anew")
    p.drain()
    p.send(port, SYN, seq + 100)
    seg = p.receive(port)
    ktap.equal((seg.flags, seg.ack), (SYN | ACK, seq + 101), "a new SYN does")
    ktap.true((seg.seq - ack) & 0xffffffff < 1 << 31, "beyond the old numbers")
    p.send(port, ACK, seq + 101, seg.seq + 1)
    sock.accept()[0].close()


@ktap.test
def orphan_is_reset_by_late_data():
    p = peer()
    sock, port = listener()
    conn, seq, ack = connected(p, sock, port)
    conn.close()
    ktap.true(p.receive(port).flags & FIN, "our FIN")
    p.send(port, ACK, seq, ack + 1)
    ktap.wait_for(10, "FIN-WAIT-2", lambda: states_of(p) == ["fin-wait-2"])
    p.send(port, ACK | PSH, seq, ack + 1, b"late")
    seg = p.receive(port)
    ktap.true(seg and seg.flags & RST, f"reset, got {seg}")


@ktap.test
def close_with_unread_data_resets():
    p = peer()
    sock, port = listener()
    conn, seq, ack = connected(p, sock, port)
    p.send(port, ACK | PSH, seq, ack, b"unread")
    ktap.true(p.receive(port).flags & ACK, "data acknowledged")
    conn.close()
    seg = p.receive(port)
    ktap.true(seg.flags & RST and seg.seq == ack, f"reset, got {seg}")


def connecting(p, port=4000):
    """Our socket in SYN-SENT towards the peer, and the packet with its SYN."""
    sock = ktap.net6_socket(ns=NS["B"])
    sock.setblocking(False)
    ktap.equal(sock.connect_ex((PEER, port)), errno.EINPROGRESS, "connect")
    seg, packet = p.receive(packet=True, dport=port)
    ktap.equal(seg.flags & ~(ECE | CWR), SYN, "a SYN")
    return sock, seg, packet


def error_of(sock):
    poll = select.poll()
    poll.register(sock, select.POLLERR)
    poll.poll(MOMENT * 1000)
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


@ktap.test
def errors_during_the_handshake_are_hard():
    p = peer()
    for code, wanted in ((0, errno.ENETUNREACH), (1, errno.EACCES), (3, errno.EHOSTUNREACH),
                         (4, errno.ECONNREFUSED)):
        sock, _, packet = connecting(p)
        p.icmp(1, code, 0, packet)
        ktap.equal(error_of(sock), wanted, f"destination unreachable, code {code}")
        sock.close()
        p.drain()
    sock, _, packet = connecting(p)
    forged = bytearray(packet)
    forged[44:48] = b"abcd"
    p.icmp(1, 4, 0, bytes(forged))
    ktap.equal(error_of(sock), 0, "about a number that was never sent")
    sock.close()


@ktap.test
def errors_during_the_handshake_are_told_whole():
    p = peer()
    for kind, code, wanted in ((1, 4, errno.ECONNREFUSED), (3, 0, errno.EHOSTUNREACH)):
        sock, seg, packet = connecting(p)
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
        p.icmp(kind, code, 0, packet)
        poll = select.poll()
        poll.register(sock, select.POLLERR)
        ktap.true(poll.poll(MOMENT * 1000), f"an error of type {kind} is there")
        data, anc, flags, name = sock.recvmsg(100, 512, socket.MSG_ERRQUEUE)
        ktap.equal((name[:2], flags & socket.MSG_ERRQUEUE), ((PEER, 4000), socket.MSG_ERRQUEUE),
                   "about whom")
        ktap.equal(data[:8], struct.pack("!HHI", sock.getsockname()[1], 4000, seg.seq),
                   "the segment's header")
        (_, option, value), = anc
        ktap.equal((option, struct.unpack_from("=IBBB", value)),
                   (IPV6_RECVERR, (wanted, 3, kind, code)), "what it is")
        sock.close()
        p.drain()


@ktap.test
def errors_after_the_handshake_are_soft():
    p = peer()
    sock, port = listener()
    conn, seq, ack = connected(p, sock, port)
    conn.sendall(b"in flight")
    seg, packet = p.receive(port, packet=True)
    p.icmp(1, 4, 0, packet)
    p.icmp(4, 1, 6, packet)
    # It comes behind them, on the same way.
    p.send(port, ACK | PSH, seq, ack + 9, b"alive")
    ktap.equal(conn.recv(10), b"alive", "the connection lives")
    conn.close()


@ktap.test
def reset_in_syn_sent_needs_the_right_ack():
    p = peer()
    sock, seg, _ = connecting(p)
    p.send(seg.sport, RST | ACK, 0, seg.seq + 7, sport=4000)
    ktap.equal(error_of(sock), 0, "wrong ACK is ignored")
    p.send(seg.sport, RST | ACK, 0, seg.seq + 1, sport=4000)
    ktap.equal(error_of(sock), errno.ECONNREFUSED, "right one refuses")
    sock.close()


@ktap.test
def sequence_numbers_are_not_predictable():
    p = peer()
    _sock, port = listener(64)
    numbers, stamps = [], []
    for _ in range(12):
        p.next_port()
        seg = handshake(p, port, options=b"\x08\x0a\0\0\1\0\0\0\0\0")
        numbers.append(seg.seq)
        stamps.append(seg.tsval)
        p.send(port, RST, 1001)
    gaps = sorted((b - a) & 0xffffffff for a, b in zip(numbers, numbers[1:]))
    ktap.true(gaps[-1] - gaps[0] > 1 << 24, f"initial numbers of different ports: {gaps}")
    ktap.true(len(set(stamps)) > 8, f"time stamp offsets: {stamps}")


ktap.main(setup)
