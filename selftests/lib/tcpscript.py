# SPDX-License-Identifier: GPL-2.0
"""Scripts of TCP's packets: what a program and a peer do, what net6 sends, and when.

    [ A: the script plays the peer ] a0 ------ b0 [ B: net6 ]

For virtual time (scripts/guest --virtual-time), where waiting is free and times are exact.
A file holds cases; a case is a title and a line per event:

    == limited transmit: two duplicates let new data out (RFC 3042)
    open mss=1000 sack		# the peer opens, the program accepts
    write 12000
    > . 0:10000/1000		# ten segments come at once
    +20 < . ack 0 sack 2000:3000	# 20 ms later the peer answers
    > . 10000:11000

Time: +N is N ms after the event before (of a segment: after it was seen on the wire),
none is at once; +A..B allows a range. A segment may be late by what the kernel's timer
wheel allows (an eighth, of the silence before it too) and a few ms. Sequence numbers are
relative in both directions: the SYN is -1, the first byte of data 0. Data are a fixed
pattern, checked wherever they go.

Segments. FLAGS are letters of "FSRP.UEW" ("." is ACK); in what is expected P is only
judged when written, what is not named is not judged.
    < FLAGS [SEQ:END | SEQ] [ack N] [win N] [urg N] [mss N] [sackok] [ws N] [sack A:B,C:D]
            [ts+N | ts-N] [ecr MARK] [nots] [ce | ect0 | ect1] [opt HEX] [cookie] [badsum]
    > FLAGS [SEQ:END[/SIZE]] [the same; N may be N, <N, >N, A..B] [nosack] [noect] [nocookie]
            "cookie" is Fast Open's: the last one that net6 gave, or any
    silent N		nothing comes for N ms
    any [N]		whatever came until now, or comes for N ms, is ignored
    mark NAME		remembers both clocks, for ecr
    ptb MTU [SEQ]	Packet Too Big about the last segment, or the one with SEQ
    icmp TYPE CODE INFO [SEQ]
    flow NAME		what follows is about another connection of the peer
Opening, with mss= sack ts ws= win= ecn isn= rtt= (ms):
    open		listen, three segments, accept
    active		connect, three segments
Calls; an errno's name as last word is what they have to fail with:
    socket  bind [PORT]  listen [N]  unlisten  accept  connect  close  shutdown rd|wr|rdwr
    write N [more] [oob]	read N | eof | ERRNO [oob]	peek N
    set OPTION N  get OPTION N  so OPTION|IPV6_RECVERR N [N]  cc NAME  sysctl NAME VALUE
    error ERRNO|0  poll in|out|hup|err|rdhup (with ! for not)  inq N  outq N
    watch		an epoll waits for the socket from here on
    jam on | soft | off	net6's device refuses what is to be sent, or loses it and says that it
			is congested, or takes it again
    mtu N		net6's device has another MTU
    tick		waits until the kernel's next tick: nothing it does comes before another one
    state NAME		TCP state
    info FIELD N ...	fields of TCP_INFO
    ccinfo starts|in_flight N	what the module net6_cc (cc net6_cc) was told
"""

import errno
import fcntl
import os
import re
import select
import socket
import struct
import time

import ktap
import nl
import tcpwire
from tcpwire import PEER, US, STATE, NS, checksum, frame, pseudo

MS = 1_000_000
SO_TIMESTAMPNS, CLOCK_MONOTONIC_COARSE = 35, 6	# not in every Python
SIOCSIFMTU = 0x8922
SLACK = 10 * (3 if ktap.CHECKING else 1)
FLAGS = "FSRP.UEW"
# After these, what comes next is still what the event before them started.
WATCHING = {"silent", "mark", "state", "info", "ccinfo", "poll", "inq", "outq", "get", "error",
            "accept"}
ECN = {"noect": 0, "ect1": 1, "ect0": 2, "ce": 3}
_PIECE = bytes((i * 73 + 41 * (i >> 5)) & 0xff for i in range(4093))
_PATTERN = _PIECE * 600
TCP_OPTIONS = {"NODELAY": 1, "MAXSEG": 2, "CORK": 3, "KEEPIDLE": 4, "KEEPINTVL": 5, "KEEPCNT": 6,
               "SYNCNT": 7, "LINGER2": 8, "DEFER_ACCEPT": 9, "WINDOW_CLAMP": 10, "QUICKACK": 12,
               "THIN_LINEAR_TIMEOUTS": 16,
               "USER_TIMEOUT": 18, "FASTOPEN": 23, "TIMESTAMP": 24, "NOTSENT_LOWAT": 25,
               "FASTOPEN_CONNECT": 30, "FASTOPEN_NO_COOKIE": 34, "INQ": 36}
IPV6_OPTIONS = {"IPV6_MTU_DISCOVER": 23, "IPV6_RECVERR": 25}
STATES = ("", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT",
          "CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING")
INFO = {"state": (0, "B"), "ca_state": (1, "B"), "retransmits": (2, "B"), "probes": (3, "B"),
        "backoff": (4, "B"), "options": (5, "B"), "wscale": (6, "B"),
        **{name: (8 + 4 * i, "I") for i, name in enumerate((
            "rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets",
            "last_data_sent", "last_ack_sent", "last_data_recv", "last_ack_recv", "pmtu",
            "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "advmss", "reordering",
            "rcv_rtt", "rcv_space", "total_retrans"))},
        **{name: (104 + 8 * i, "Q") for i, name in enumerate((
            "pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received"))},
        **{name: (136 + 4 * i, "I") for i, name in enumerate((
            "segs_out", "segs_in", "notsent_bytes", "min_rtt", "data_segs_in",
            "data_segs_out"))},
        "delivery_rate": (160, "Q"), "delivered": (192, "I"), "delivered_ce": (196, "I"),
        "bytes_sent": (200, "Q"), "bytes_retrans": (208, "Q"), "dsack_dups": (216, "I"),
        "reord_seen": (220, "I"), "rcv_ooopack": (224, "I"), "snd_wnd": (228, "I")}


def pattern(at, length):
    at %= len(_PIECE)
    ktap.true(at + length <= len(_PATTERN), "a script moves 2 MB at a time")
    return _PATTERN[at:at + length]


def fits(seen, wanted):
    """Whether a number is what N, <N, >N or A..B says."""
    if wanted[0] == "<":
        return seen < int(wanted[1:])
    if wanted[0] == ">":
        return seen > int(wanted[1:])
    low, _, high = wanted.partition("..")
    return int(low) <= seen <= int(high or low)


def now():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


class Segment(tcpwire.Segment):
    """A segment from net6 with everything a script may ask for."""

    def __init__(self, packet, stamp, flow):
        super().__init__(packet, flow.isn_us, flow.isn)
        self.stamp = stamp
        self.ecn = struct.unpack_from("!H", packet)[0] >> 4 & 3
        self.end = self.seq + len(self.data)
        self.wscale, self.sackok, self.cookie = None, False, None
        th = packet[40:]
        self.options = th[20:(th[12] >> 4) * 4]
        at = 0
        while at < len(self.options) and self.options[at]:
            kind = self.options[at]
            size = 1 if kind == 1 else self.options[at + 1]
            if kind == 3:
                self.wscale = self.options[at + 2]
            elif kind == 4:
                self.sackok = True
            elif kind == 34:
                self.cookie = self.options[at + 2:at + size]
            at += size

    @staticmethod
    def signed(number):
        return number - (1 << 32) if number > 0xf0000000 else number

    def letters(self):
        return "".join(name for i, name in enumerate(FLAGS) if self.flags & 1 << i)

    def __repr__(self):
        seq = self.signed(self.seq)
        text = f"> {self.letters() or '0'} {seq}:{seq + len(self.data)}"
        if self.flags & tcpwire.ACK:
            text += f" ack {self.signed(self.ack)}"
        text += f" win {self.window}"
        for name, value in (("mss", self.mss), ("ws", self.wscale), ("ts", self.tsval),
                            ("ecr", self.tsecr), ("urg", self.urgent)):
            if value is not None and (value or name != "urg"):
                text += f" {name} {value}"
        if self.sackok:
            text += " sackok"
        if self.sacks:
            text += " sack " + ",".join(f"{a}:{b}" for a, b in self.sacks)
        return text + (" ce" if self.ecn == 3 else f" ect{2 - self.ecn}" if self.ecn else "")


class Flow:
    """One connection as the peer sees it."""

    def __init__(self):
        STATE["port"] += 1
        self.port, self.isn, self.isn_us = STATE["port"], tcpwire.ISN, None
        self.sock = self.epoll = None
        self.queue, self.seen = [], []
        self.next, self.acked = -1, -1		# our next byte, end of what net6 sent
        self.stamps, self.window, self.wscale = False, 65535, 0
        self.clock, self.tsval, self.echo = now(), 0, 0
        self.written = self.taken = 0
        self.marks = {}


class Case:
    """Plays one script."""

    def __init__(self, lines):
        self.lines, self.flows, self.flow, self.record = lines, {}, None, []
        self.listener, self.dport, self.sysctls, self.flush = None, None, {}, False
        self.cookie = b""
        self.jammed, self.mtu = False, 1500
        self.begun = self.last = now()
        self.quiet = 0				# ms of silence since net6 was given a reason

    # ---- time and the wire ----

    def note(self, stamp, text):
        self.record.append(f"{(stamp - self.begun) / MS:9.2f}  {text}")

    def pump(self, until):
        """Waits for a frame until then and gives it to its flow; False when none came."""
        left = (until - now()) / 1e9
        wire = STATE["wire"]
        if not select.select([wire], [], [], max(left, 0))[0]:
            return False
        got, anc, _, _ = wire.recvmsg(70000, 256)
        if got[:6] != tcpwire.PEER_MAC or got[20] != 6:
            return True
        sport, port = struct.unpack_from("!HH", got, 54)
        for flow in self.flows.values():
            if flow.port != port or self.dport not in (None, sport):
                continue
            stamp = now()
            for _, kind, data in anc:
                if kind == SO_TIMESTAMPNS:
                    seconds, nano = struct.unpack("qq", data)
                    stamp = seconds * 1000000000 + nano
            if flow.isn_us is None:
                flow.isn_us = struct.unpack_from("!I", got, 58)[0]
            seg = Segment(got[14:], stamp, flow)
            if seg.flags & tcpwire.SYN:
                flow.isn_us = seg.raw_seq
                seg.seq, seg.end = 0xffffffff, len(seg.data)
                self.dport = sport
            if seg.tsval is not None:
                flow.echo = seg.tsval
            if not seg.flags & tcpwire.RST:
                end = seg.end + bool(seg.flags & tcpwire.FIN)
                flow.acked = max(flow.acked, end if end < 1 << 31 else end - (1 << 32))
            flow.queue.append(seg)
            flow.seen.append(seg)
            self.note(stamp, repr(seg))
        return True

    def next_segment(self, until):
        while not self.flow.queue:
            if not self.pump(until):
                return None
        return self.flow.queue.pop(0)

    def wait(self, delay):
        """Until it is time for what the script does next."""
        until = self.last + int(delay * MS)
        while now() < until:
            self.pump(until)
        self.last = now()

    # ---- segments ----

    def do_in(self, words):
        """< ...: the peer sends."""
        flow = self.flow
        flags = sum(1 << FLAGS.index(c) for c in words.pop(0) if c != "0")
        seq = end = None
        if words and re.fullmatch(r"-?\d+(:-?\d+)?", words[0]):
            seq, _, end = words.pop(0).partition(":")
            seq = int(seq)
            end = int(end or seq)
        if seq is None:
            seq = end = -1 if flags & tcpwire.SYN else flow.next
        ack, window, urgent, tclass, bad = flow.acked, flow.window, 0, 0, False
        options, stamps, ecr, shift = b"", flow.stamps, flow.echo, 0
        while words:
            word = words.pop(0)
            if word == "ack":
                ack = int(words.pop(0))
            elif word == "win":
                window = int(words.pop(0))
            elif word == "urg":
                urgent = int(words.pop(0))
            elif word == "mss":
                options += struct.pack("!BBH", 2, 4, int(words.pop(0)))
            elif word == "sackok":
                options += b"\4\2"
            elif word == "ws":
                options += bytes((3, 3, int(words.pop(0))))
            elif word == "sack":
                blocks = [b.split(":") for b in words.pop(0).split(",")]
                options += b"\1\1\5" + bytes((2 + 8 * len(blocks),)) + b"".join(
                    struct.pack("!I", (flow.isn_us + 1 + int(v)) & 0xffffffff)
                    for block in blocks for v in block)
            elif word[:3] in ("ts+", "ts-"):
                shift = int(word[2:])
            elif word == "ts":
                stamps = True
            elif word == "ecr":
                word = words.pop(0)
                ecr = int(word) if word.isdigit() else flow.marks[word][0]
            elif word == "nots":
                stamps = False
            elif word in ECN:
                tclass = ECN[word]
            elif word == "opt":
                options += bytes.fromhex(words.pop(0))
            elif word == "cookie":
                options += bytes((34, 2 + len(self.cookie))) + self.cookie
            elif word == "badsum":
                bad = True
            else:
                raise ktap.Fail(f"unknown word {word}")
        if stamps:
            flow.tsval = 100000 + (now() - flow.clock) // MS + shift
            options = struct.pack("!BBBBII", 1, 1, 8, 10, flow.tsval & 0xffffffff,
                                  ecr if flags & tcpwire.ACK else 0) + options
        options += b"\1" * (-len(options) % 4)
        data = pattern(seq, end - seq) if end > seq and not flags & tcpwire.SYN \
            else pattern(0, end) if end > max(seq, 0) and flags & tcpwire.SYN else b""
        number = (flow.isn_us + 1 + ack) & 0xffffffff if flags & tcpwire.ACK else 0
        th = struct.pack("!HHIIBBHHH", flow.port, self.dport or 0,
                         (flow.isn + 1 + seq) & 0xffffffff, number,
                         (20 + len(options)) // 4 << 4, flags, window, 0, urgent) + options + data
        total = checksum(pseudo(len(th), 6) + th) ^ bad
        packet = frame(th[:16] + struct.pack("!H", total) + th[18:], 6)
        if tclass:
            packet = packet[:14] + bytes((0x60 | tclass >> 4, tclass << 4 & 0xff)) + packet[16:]
        STATE["wire"].send(packet)
        end = max(end, 0) if flags & tcpwire.SYN else end
        flow.next = max(flow.next, end + bool(flags & tcpwire.FIN))

    def do_out(self, words, low, high):
        """> ...: net6 sends, one segment or a run of equal ones."""
        flags = words.pop(0)
        seq = end = size = None
        if words and re.fullmatch(r"-?\d+(:-?\d+(/\d+)?)?", words[0]):
            part, _, size = words.pop(0).partition("/")
            seq, _, end = part.partition(":")
            seq = int(seq)
            end = int(end or seq)
        if not size:
            return self.one(flags, seq, end, words, low, high)
        for at in range(seq, end, int(size)):
            self.one(flags, at, min(at + int(size), end), words, low, high)
            low = high = 0
        return None

    def one(self, flags, seq, end, words, low, high):
        flow, before = self.flow, self.last
        late = (self.quiet + high) * 0.13 + SLACK
        seg = self.next_segment(before + int((high + late) * MS))
        what = f"{flags} {seq}:{end} {' '.join(words)}"
        ktap.true(seg, f"no segment within {high} ms, wanted > {what}")
        after = (seg.stamp - before) / MS
        ktap.true(after >= low - 1.1, f"{seg} after {after:.2f} ms, wanted {low}")
        self.last, self.quiet = seg.stamp, 0
        letters = seg.letters() if "P" in flags else seg.letters().replace("P", "")
        ktap.true(set(letters) == set(flags.replace("0", "")), f"flags of {seg}, wanted > {what}")
        if seq is not None:
            first = seg.signed(seg.seq)
            ktap.equal((first, first + len(seg.data)), (seq, end), f"bytes of {seg}")
        if seg.data:
            at = 0 if seg.flags & tcpwire.SYN else seg.seq
            ktap.true(seg.data == pattern(at, len(seg.data)), f"content of {seg}")
        self.judge(flow, seg, list(words))

    def judge(self, flow, seg, words):
        """The named properties of a segment."""
        plain = {"sackok": seg.sackok, "nosackok": not seg.sackok, "nosack": not seg.sacks,
                 "ts": seg.tsval is not None, "nots": seg.tsval is None,
                 "nocookie": seg.cookie is None, "nows": seg.wscale is None, "nomss": seg.mss is None}
        values = {"ack": seg.signed(seg.ack), "win": seg.window << (
            0 if seg.flags & tcpwire.SYN else flow.wscale), "urg": seg.urgent, "mss": seg.mss,
            "ws": seg.wscale}
        while words:
            word = words.pop(0)
            if word in plain:
                ktap.true(plain[word], f"{word} of {seg}")
            elif word in values:
                wanted = words.pop(0)
                ktap.true(values[word] is not None and fits(values[word], wanted),
                          f"{word} {values[word]} of {seg}, wanted {wanted}")
            elif word == "sack":
                ktap.equal(",".join(f"{a}:{b}" for a, b in seg.sacks), words.pop(0),
                           f"SACK blocks of {seg}")
            elif word == "ecr":
                word = words.pop(0)
                wanted = (flow.tsval if word == "last" else int(word) if word.isdigit()
                          else flow.marks[word][1])
                ktap.equal(seg.tsecr, wanted & 0xffffffff, f"echoed timestamp of {seg}")
            elif word in ECN:
                ktap.equal(seg.ecn, ECN[word], f"ECN of {seg}")
            elif word == "cookie":
                ktap.true(seg.cookie, f"a cookie in {seg}")
                self.cookie = seg.cookie
            elif word == "opt":
                ktap.true(bytes.fromhex(words.pop(0)) in seg.options,
                          f"options {seg.options.hex()} of {seg}")
            else:
                raise ktap.Fail(f"unknown word {word}")

    def do_silent(self, words):
        until = self.last + int(float(words[0]) * MS)
        seg = self.next_segment(until)
        ktap.true(seg is None, f"silence for {words[0]} ms, not {seg}")
        self.quiet += float(words[0])
        self.last = until

    def do_any(self, words):
        until = self.last + int(float(words[0]) * MS) if words else now() + 2 * MS
        while self.pump(until):
            pass
        self.flow.queue.clear()
        self.last = until

    def do_mark(self, words):
        self.flow.marks[words[0]] = (self.flow.echo, self.flow.tsval)

    def do_flow(self, words):
        if words[0] not in self.flows:
            self.flows[words[0]] = Flow()
        self.flow = self.flows[words[0]]

    def do_icmp(self, words):
        kind, code, info = (int(w) for w in words[:3])
        about = [s for s in self.flow.seen
                 if len(words) < 4 or s.signed(s.seq) == int(words[3])][-1]
        body = struct.pack("!BBHI", kind, code, 0, info) + about.packet[:1200]
        total = checksum(pseudo(len(body), 58) + body)
        STATE["wire"].send(frame(body[:2] + struct.pack("!H", total) + body[4:], 58))

    def do_ptb(self, words):
        self.do_icmp(["2", "0"] + words)
        self.flush = True

    # ---- opening ----

    @staticmethod
    def syn_options(args, flow):
        words = []
        if args.get("mss", "1000") != "0":
            words += ["mss", args.get("mss", "1000")]
        if "sack" in args:
            words.append("sackok")
        if "ts" in args:
            words.append("ts")
            flow.stamps = True
        if "ws" in args:
            words += ["ws", args["ws"]]
        return words

    def opening(self, words):
        args = dict(w.partition("=")[::2] for w in words)
        flow = self.flow
        flow.window = int(args.get("win", "65535"))
        flow.isn = int(args.get("isn", str(flow.isn)))
        return args

    def opened(self, args):
        """The shift of our window counts only when both sides have the option."""
        seg = self.flow.seen[-1]
        self.flow.wscale = seg.wscale or 0 if "ws" in args else 0

    def do_open(self, words):
        args = self.opening(words)
        if not self.listener:
            self.do_listen([])
        self.do_in(["SEW" if "ecn" in args else "S"] + self.syn_options(args, self.flow))
        self.one("S.E" if "ecn" in args else "S.", None, None, [], 0, 0)
        self.opened(args)
        self.wait(float(args.get("rtt", "0")))
        self.do_in(["."])
        self.wait(1)
        self.do_accept([])

    def do_active(self, words):
        args = self.opening(words)
        self.do_connect(["EINPROGRESS"])
        self.one("SEW" if "ecn" in args else "S", None, None, [], 0, 0)
        self.opened(args)
        self.wait(float(args.get("rtt", "0")))
        self.do_in(["S.E" if "ecn" in args else "S."] + self.syn_options(args, self.flow))
        self.one(".", 0, 0, [], 0, 0)

    # ---- calls ----

    def call(self, words, function, *args):
        """A call; the last word may be the errno that it fails with."""
        wanted = words.pop() if words and re.fullmatch(r"E[A-Z0-9]+", words[-1]) else None
        self.note(now(), f"{function.__name__}{args if len(str(args)) < 60 else ''}")
        try:
            value = function(*args)
        except OSError as error:
            name = errno.errorcode[error.errno].replace("EWOULDBLOCK", "EAGAIN")
            ktap.equal(name, wanted, f"{function.__name__} fails")
            return None
        ktap.true(not wanted, f"{function.__name__} gave {value!r}, wanted {wanted}")
        return value

    def do_socket(self, _):
        self.flow.sock = ktap.net6_socket(ns=NS["B"])
        self.flow.sock.setblocking(False)

    def do_bind(self, words):
        self.call(words, self.flow.sock.bind, (US, int(words[0]) if words else 0))

    def do_listen(self, words):
        if not self.flow.sock:
            self.do_socket([])
        sock = self.flow.sock
        if not sock.getsockname()[1]:
            sock.bind((US, 0))
        sock.listen(int(words[0]) if words else 8)
        self.listener, self.flow.sock = sock, None
        self.dport = sock.getsockname()[1]

    def do_unlisten(self, _):
        self.listener.close()

    def do_accept(self, words):
        got = self.call(words, self.listener.accept)
        if got:
            self.flow.sock = got[0]
            self.flow.sock.setblocking(False)
            self.flow.port = got[1][1]

    def do_connect(self, words):
        if not self.flow.sock:
            self.do_socket([])
        self.call(words, self.flow.sock.connect, (PEER, self.flow.port))
        self.dport = self.flow.sock.getsockname()[1] or None

    def do_close(self, _):
        self.flow.sock.close()

    def do_shutdown(self, words):
        how = {"rd": socket.SHUT_RD, "wr": socket.SHUT_WR, "rdwr": socket.SHUT_RDWR}[words.pop(0)]
        self.call(words, self.flow.sock.shutdown, how)

    def do_write(self, words):
        flow, length, flags = self.flow, int(words.pop(0)), 0
        for name, bit in (("more", socket.MSG_MORE), ("oob", socket.MSG_OOB)):
            if name in words:
                words.remove(name)
                flags |= bit
        wanted = words.pop(0) if words and words[0][0] != "E" else str(length)
        done = self.call(words, flow.sock.send, pattern(flow.written, length), flags)
        if done is not None:
            ktap.true(fits(done, wanted), f"write took {done}, wanted {wanted}")
            flow.written += done

    def do_read(self, words, flags=0):
        flow = self.flow
        if "oob" in words:
            words.remove("oob")
            flags |= socket.MSG_OOB
        length = int(words[0]) if words[0].isdigit() else 1
        data = self.call(words, flow.sock.recv, length, flags)
        if data is None:
            return
        wanted = 0 if words[0] == "eof" else length
        ktap.equal(len(data), wanted, "bytes read")
        if not flags & socket.MSG_OOB:
            ktap.true(data == pattern(flow.taken, length)[:len(data)], "content of what was read")
        if not flags:
            flow.taken += len(data)

    def do_peek(self, words):
        self.do_read(words, socket.MSG_PEEK)

    def option(self):
        return self.flow.sock or self.listener

    def do_set(self, words):
        name, value = words[:2]
        self.call(words, self.option().setsockopt, socket.IPPROTO_TCP, TCP_OPTIONS[name],
                  int(value))

    def do_get(self, words):
        value = self.call(words, self.option().getsockopt, socket.IPPROTO_TCP,
                          TCP_OPTIONS[words[0]])
        if value is not None:
            ktap.true(fits(value, words[1]), f"{words[0]} is {value}, wanted {words[1]}")

    def do_so(self, words):
        word = words.pop(0)
        level, name = ((socket.IPPROTO_IPV6, IPV6_OPTIONS[word]) if word in IPV6_OPTIONS else
                       (socket.SOL_SOCKET, getattr(socket, "SO_" + word)))
        error = words.pop() if words[-1][0] == "E" else None
        value = struct.pack(f"{len(words)}i", *(int(w) for w in words))
        self.call([error] if error else [], self.option().setsockopt, level, name, value)

    def do_cc(self, words):
        self.call(words, self.option().setsockopt, socket.IPPROTO_TCP, socket.TCP_CONGESTION,
                  words[0].encode())

    def do_sysctl(self, words):
        path = "/proc/sys/net/ipv4/" + words[0]
        with NS["B"]:
            with open(path, encoding="ascii") as file:
                self.sysctls.setdefault(path, file.read())
            with open(path, "w", encoding="ascii") as file:
                file.write(" ".join(words[1:]))

    def do_error(self, words):
        seen = self.flow.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        ktap.equal(errno.errorcode.get(seen, "0"), words[0], "SO_ERROR")

    def do_poll(self, words):
        bits = {"in": select.POLLIN, "out": select.POLLOUT, "hup": select.POLLHUP,
                "err": select.POLLERR, "rdhup": select.POLLRDHUP, "pri": select.POLLPRI}
        poll = select.poll()
        poll.register(self.option(), sum(bits.values()))
        seen = dict(poll.poll(0)).get(self.option().fileno(), 0)
        for word in words:
            ktap.equal(bool(seen & bits[word.lstrip("!")]), word[0] != "!",
                       f"poll {word} in {seen:#x}")

    def do_jam(self, words):
        """A queue at the device's root that takes nothing; or the one that was there."""
        on = words[0] != "off"
        with NS["B"]:
            index = socket.if_nametoindex("b0")
            rtnl = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        body = struct.pack("=BxxxiIII", 0, index, 0, 0xffffffff, 0)	# the root
        if words[0] == "on":
            body += nl.attribute(1, b"pfifo\0") + nl.attribute(2, struct.pack("=I", 0))
        elif on:
            body += nl.attribute(1, b"fq_codel\0") + nl.attribute(2, nl.attribute(2, 0))
        rtnl.send(struct.pack("=IHHII", 16 + len(body), 36 if on else 37,
                              nl.REQUEST | nl.ACK | (0x500 if on else 0), 1, 0) + body)
        failed = struct.unpack_from("=i", rtnl.recv(4096), 16)[0]
        rtnl.close()
        ktap.equal(failed, 0, "errno of the queue's change")
        self.jammed = on

    def do_mtu(self, words):
        self.mtu = int(words[0])
        with NS["B"], socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            fcntl.ioctl(sock, SIOCSIFMTU, struct.pack("16sI12x", b"b0", self.mtu))

    def do_watch(self, _):
        self.flow.epoll = select.epoll()
        self.flow.epoll.register(self.flow.sock, select.EPOLLIN | select.EPOLLOUT)

    @staticmethod
    def do_tick(_):
        before = time.clock_gettime_ns(CLOCK_MONOTONIC_COARSE)
        while time.clock_gettime_ns(CLOCK_MONOTONIC_COARSE) == before:
            pass

    def queue_length(self, words, request):
        value = struct.unpack("i", fcntl.ioctl(self.flow.sock, request, bytes(4)))[0]
        ktap.true(fits(value, words[0]), f"{value} bytes in the queue, wanted {words[0]}")

    def do_inq(self, words):
        self.queue_length(words, 0x541b)

    def do_outq(self, words):
        self.queue_length(words, 0x5411)

    def tcp_info(self, name):
        at, kind = INFO[name]
        return struct.unpack_from(kind, self.option().getsockopt(
            socket.IPPROTO_TCP, socket.TCP_INFO, 256), at)[0]

    def do_state(self, words):
        ktap.equal(STATES[self.tcp_info("state")], words[0], "state")

    def do_info(self, words):
        for name, wanted in zip(words[::2], words[1::2]):
            seen = self.tcp_info(name)
            ktap.true(fits(seen, wanted), f"{name} is {seen}, wanted {wanted}")

    def do_ccinfo(self, words):
        told = struct.unpack_from("=II", self.option().getsockopt(
            socket.IPPROTO_TCP, 26, 16))		# TCP_CC_INFO
        seen = told[("starts", "in_flight").index(words[0])]
        ktap.true(fits(seen, words[1]), f"{words[0]} is {seen}, wanted {words[1]}")

    # ---- the whole ----

    def event(self, text):
        words = text.split()
        low = high = 0
        if re.fullmatch(r"\+[\d.]+", words[0]):
            low, _, high = words.pop(0)[1:].partition("..")
            low = float(low)
            high = float(high or low)
        verb = words.pop(0)
        if verb == ">":
            return self.do_out(words, low, high)
        if low or verb not in WATCHING:	# to look takes time, too, and starts nothing
            self.wait(low)
        if verb not in WATCHING:
            self.quiet = 0
        if verb not in (">", "silent", "any"):
            self.note(self.last, text)
        return getattr(self, "do_" + {"<": "in"}.get(verb, verb))(words)

    def play(self):
        tcpwire.Connection.drain(None)
        self.do_flow(["first"])
        self.begun = self.last = now()
        at = 0
        try:
            for at, text in self.lines:
                self.event(text)
            self.do_silent_end()
        except (ktap.Fail, OSError, KeyError, IndexError, ValueError) as error:
            for line in self.record[-40:]:
                ktap.diag(line)
            raise ktap.Fail(f"line {at}: {error}") from error
        finally:
            self.end()

    def do_silent_end(self):
        """Every segment was expected."""
        while self.pump(now() + 2 * MS):
            pass
        for flow in self.flows.values():
            ktap.true(not flow.queue, f"at the end, unexpected: {flow.queue}")

    def end(self):
        for sock in [flow.sock for flow in self.flows.values()] + [self.listener]:
            if sock and sock.fileno() >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.close()
        if self.jammed:
            self.do_jam(["off"])
        if self.mtu != 1500:
            self.do_mtu(["1500"])
        for path, value in self.sysctls.items():
            with NS["B"], open(path, "w", encoding="ascii") as file:
                file.write(value)
        if self.flush:
            NS["B"].run(f"{tcpwire.TOP}/tools/net6ctl", "flush", "destinations")


def load(folder, only=None):
    """Makes a test of each case in the files of a folder."""
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".pkt"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read().splitlines()
        title, lines = None, []
        for at, line in enumerate(text + ["== "], 1):
            if line.startswith("=="):
                if title and (not only or re.search(only, title)):
                    register(title, lines)
                title, lines = f"{name[:-4]}: {line[2:].strip()}", []
                continue
            line = line.split("#")[0].strip()
            if line:
                lines.append((at, line))


def register(title, lines):
    ktap.test(title)(lambda: Case(lines).play())


def setup():
    """Topology; every module and file that a script needs is there before it runs."""
    ktap.kmod("tcp_dctcp", "sch_fq_codel")
    module = f"{ktap.BUILD}/selftests/modules/net6_cc.ko"
    if os.path.exists(module):
        ktap.run("insmod", module)
        # Before net6 is loaded: after it is unloaded nobody holds it.
        ktap.at_exit(ktap.unload, "net6_cc")
    tcpwire.setup()
    STATE["wire"].setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    Case([(0, "open"), (0, "write 10"), (0, "any"), (0, "close"), (0, "any 50")]).play()
