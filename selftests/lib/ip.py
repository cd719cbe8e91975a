# SPDX-License-Identifier: GPL-2.0
"""IPv6 packets beyond what nd.py writes: extension headers, fragments, UDP; and the
namespace that tests of the IP layer send them to.

    A [a0 net6 fd00::6] ------ [b0 Wire as fd00::b] B
"""

import itertools
import struct
import time

import ktap
import nd
from nd import checksum, ipv6, packed  # pylint: disable=unused-import

HOP, TCP, UDP, ROUTING, FRAGMENT, ICMP, NONE, DEST = 0, 6, 17, 43, 44, 58, 59, 60
OURS, PEER = "fd00::6", "fd00::b"
UNREACH, TOO_BIG, TIME, PROBLEM = 1, 2, 3, 4

A, B, wire = nd.ends()
_seq = itertools.count(1)


def setup():
    """net6 with a global address on a0, the peer's link address told by hand."""
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
    nd.net6ctl(A, "add", "neighbor", PEER, "lladdr", wire.mac, "dev", "a0")
    ktap.wait_for(15, OURS + " is preferred",
                  lambda: (nd.find(A, "addresses", OURS) or {}).get("state") == "preferred")
    nd.linklocal(A)
    time.sleep(0.2)		# nothing shows that the last report has left
    wire.flush()


def numbers(what):
    return {e["name"]: e["value"] for e in nd.show(A, what)}


class Delta:
    """How counters and drop reasons grow from here on."""

    def __init__(self):
        self.start = dict(numbers("counters"), **{"drop " + k: v for k, v in
                                                  numbers("drops").items()})

    def read(self):
        now = dict(numbers("counters"), **{"drop " + k: v for k, v in numbers("drops").items()})
        return {k: v - self.start.get(k, 0) for k, v in now.items()
                if v != self.start.get(k, 0)}

    def drops(self):
        return {k[5:]: v for k, v in self.read().items() if k.startswith("drop ")}


def echo_message(source=PEER, dest=OURS, data=b"net6", seq=None, ident=77):
    """An echo request without its IPv6 header."""
    seq = next(_seq) if seq is None else seq
    message = struct.pack("!BBHHH", nd.ECHO, 0, 0, ident, seq & 0xffff) + data
    value = checksum(source, dest, ICMP, message) or 0xffff
    return message[:2] + struct.pack("!H", value) + message[4:]


def udp_message(source=PEER, dest=OURS, sport=5555, dport=9, data=b"net6"):
    message = struct.pack("!HHHH", sport, dport, 8 + len(data), 0) + data
    value = checksum(source, dest, UDP, message) or 0xffff
    return message[:6] + struct.pack("!H", value) + message[8:]


def options(nexthdr, opts=b""):
    """A Hop-by-Hop or Destination Options header, padded to 8 octets."""
    pad = -(len(opts) + 2) % 8
    if pad == 1:
        opts += b"\0"
    elif pad:
        opts += bytes([1, pad - 2]) + bytes(pad - 2)
    return bytes([nexthdr, (len(opts) + 2) // 8 - 1]) + opts


def routing(nexthdr, kind=0, left=0):
    return bytes([nexthdr, 2, kind, left, 0, 0, 0, 0]) + packed("fd00::99")


def fragment(nexthdr, offset, more, ident, reserved=0):
    return struct.pack("!BBHI", nexthdr, reserved, offset | (1 if more else 0), ident)


def fragments(proto, message, ident, size=512, source=PEER, dest=OURS):
    """Whole packets, in order."""
    return [ipv6(source, dest, FRAGMENT,
                 fragment(proto, at, at + size < len(message), ident) + message[at:at + size],
                 64) for at in range(0, len(message), size)]


def is_reply(frame):
    return frame.type == nd.REPLY


def is_error(frame):
    return frame.type is not None and frame.type < 128


def alive(what="a good echo request is still answered"):
    seq = next(_seq) & 0xffff
    wire.send(ipv6(PEER, OURS, ICMP, echo_message(seq=seq), 64))
    wire.expect(lambda f: is_reply(f) and f.seq == seq, what)


def expect_problem(packet, code, pointer, what):
    """The packet is answered with a Parameter Problem that quotes it."""
    wire.flush()
    wire.send(packet)
    error = wire.expect(lambda f: f.type == PROBLEM, f"Parameter Problem about {what}")
    ktap.equal((error.code, struct.unpack("!I", error.payload[4:8])[0]), (code, pointer),
               f"code and pointer about {what}")
    ktap.true(error.checksum_good(), "checksum")
    quoted = packet[:1280 - 48]
    ktap.equal(error.payload[8:], quoted, f"what is quoted of {what}")


def expect_nothing(packet, reason, what, seconds=0.4):
    """The packet is dropped for this reason and nobody says anything."""
    wire.flush()
    before = numbers("drops").get(reason, 0)
    wire.send(packet)
    wire.silence(lambda f: is_reply(f) or is_error(f), f"an answer to {what}", seconds)
    ktap.equal(numbers("drops").get(reason, 0) - before, 1, f"drops {reason} for {what}")


def tokens():
    """Waits until the bucket of errors to the peer is full again."""
    time.sleep(1.1)
