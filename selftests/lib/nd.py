# SPDX-License-Identifier: GPL-2.0
"""Frames of IPv6 and Neighbor Discovery, written and read byte by byte: the tests'
own idea of the RFCs, sent and seen on one end of a cable.

    wire = Wire(namespace, "b0")
    wire.send(ns(source, target, slla=wire.mac))
    wire.expect(lambda f: f.type == NA and f.target == target, "an answer")
"""

import ipaddress
import itertools
import json
import os
import select
import shutil
import socket
import struct
import time

import ktap
import nl

RS, RA, NS, NA, REDIRECT = 133, 134, 135, 136, 137
ECHO, REPLY = 128, 129
SLLA, TLLA, PREFIX, MTU, NONCE = 1, 2, 3, 5, 14
ROUTER, SOLICITED, OVERRIDE = 0x80, 0x40, 0x20
ANY, ALL_NODES, ALL_ROUTERS = "::", "ff02::1", "ff02::2"
# Not in every Python: SO_TIMESTAMPNS_OLD of asm-generic/socket.h.
SO_TIMESTAMPNS = 35
FOREVER = 0xffffffff
_pings = itertools.count(1)


def packed(address):
    return ipaddress.IPv6Address(address).packed


def solicited_node(address):
    return str(ipaddress.IPv6Address(packed("ff02::1:ff00:0")[:13]
                                     + packed(address)[13:]))


def same(one, two):
    return packed(one) == packed(two)


def mac_bytes(mac):
    return bytes.fromhex(mac.replace(":", ""))


def group_mac(address):
    return "33:33:" + ":".join(f"{b:02x}" for b in packed(address)[12:])


def linklocal_of(mac):
    return str(ipaddress.IPv6Address(packed("fe80::")[:8] + eui64(mac)))


def eui64(mac):
    raw = mac_bytes(mac)
    return bytes([raw[0] ^ 2]) + raw[1:3] + b"\xff\xfe" + raw[3:]


def checksum(source, dest, proto, payload):
    data = (packed(source) + packed(dest)
            + struct.pack("!II", len(payload), proto) + payload)
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ipv6(source, dest, proto, payload, hlim=255):
    return (struct.pack("!IHBB", 6 << 28, len(payload), proto, hlim)
            + packed(source) + packed(dest) + payload)


def icmp(source, dest, kind, body, code=0, hlim=255):
    """An ICMPv6 packet; body is everything behind the checksum."""
    message = struct.pack("!BBH", kind, code, 0) + body
    value = checksum(source, dest, 58, message) or 0xffff
    message = message[:2] + struct.pack("!H", value) + message[4:]
    return ipv6(source, dest, 58, message, hlim)


def lladdr_option(kind, mac):
    return bytes([kind, 1]) + mac_bytes(mac) if mac else b""


def nonce_option(nonce):
    return bytes([NONCE, 1]) + nonce if nonce else b""


def mtu_option(mtu):
    return struct.pack("!BBHI", MTU, 1, 0, mtu)


def prefix_option(prefix, plen=64, valid=3600, preferred=1800, flags=0xc0):
    return struct.pack("!BBBBIII", PREFIX, 4, plen, flags, valid, preferred,
                       0) + packed(prefix)


def ns(source, target, dest=None, slla=None, nonce=None, more=b"", **ip):
    dest = dest or solicited_node(target)
    return icmp(source, dest, NS, bytes(4) + packed(target)
                + lladdr_option(SLLA, slla) + nonce_option(nonce) + more, **ip)


def na(source, target, dest=ALL_NODES, flags=OVERRIDE, tlla=None, more=b"", **ip):
    return icmp(source, dest, NA, bytes([flags, 0, 0, 0]) + packed(target)
                + lladdr_option(TLLA, tlla) + more, **ip)


def ra(source, dest=ALL_NODES, hop_limit=64, flags=0, lifetime=1800,
       reachable=0, retrans=0, options=b"", **ip):
    return icmp(source, dest, RA, struct.pack("!BBHII", hop_limit, flags, lifetime,
                                              reachable, retrans) + options, **ip)


def redirect(source, dest, target, about, tlla=None, more=b"", **ip):
    return icmp(source, dest, REDIRECT, bytes(4) + packed(target) + packed(about)
                + lladdr_option(TLLA, tlla) + more, **ip)


def echo(source, dest, seq=1, data=b"net6", **ip):
    return icmp(source, dest, ECHO, struct.pack("!HH", 77, seq) + data, **ip)


class Frame:
    """A received Ethernet frame with IPv6 in it."""

    def __init__(self, data):
        self.data = data
        self.dst = ":".join(f"{b:02x}" for b in data[:6])
        self.src = ":".join(f"{b:02x}" for b in data[6:12])
        self.packet = data[14:]
        self.length, self.proto, self.hlim = struct.unpack("!HBB", self.packet[4:8])
        self.source = str(ipaddress.IPv6Address(self.packet[8:24]))
        self.dest = str(ipaddress.IPv6Address(self.packet[24:40]))
        self.payload = self.packet[40:40 + self.length]
        self.type = self.code = self.target = None
        self.options = []
        if self.proto == 58 and len(self.payload) >= 8:
            self._icmp()

    def _icmp(self):
        self.type, self.code = self.payload[:2]
        skip = {RS: 8, RA: 16, NS: 24, NA: 24, REDIRECT: 40}.get(self.type)
        if self.type in (NS, NA, REDIRECT):
            self.target = str(ipaddress.IPv6Address(self.payload[8:24]))
        if self.type in (ECHO, REPLY):
            self.seq = struct.unpack("!H", self.payload[6:8])[0]
        if self.type == NA:
            self.flags = self.payload[4]
        rest = self.payload[skip:] if skip else b""
        while len(rest) >= 8 and rest[1]:
            self.options.append((rest[0], rest[2:rest[1] * 8]))
            rest = rest[rest[1] * 8:]

    def option(self, kind):
        return next((body for k, body in self.options if k == kind), None)

    def checksum_good(self):
        return checksum(self.source, self.dest, 58, self.payload) == 0

    def __repr__(self):
        return (f"<{self.source} > {self.dest} proto {self.proto} type {self.type} "
                f"code {self.code} target {self.target} hlim {self.hlim}>")


def stamp(ancillary):
    """When the kernel had the frame, in seconds: not when the test came to it."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("qq", data)
            return seconds + nanoseconds / 1e9
    raise ktap.Fail("a frame without a time")


class Wire:
    """One end of a cable, whose native IPv6 is off: only tests speak here."""

    def __init__(self, namespace, dev, now=True):
        self.namespace, self.dev, self.seen = namespace, dev, []
        if now:
            self.open()

    def open(self):
        """From here on it sees what comes."""
        with self.namespace:
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                      socket.htons(0x0003))
            self.sock.bind((self.dev, 0))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.mac = ":".join(f"{b:02x}" for b in self.sock.getsockname()[4])
        self.linklocal = linklocal_of(self.mac)

    def send(self, packet, mac=None, source=None):
        dest = ipaddress.IPv6Address(packet[24:40])
        mac = mac or (group_mac(dest) if dest.is_multicast else self.peer)
        self.sock.send(mac_bytes(mac) + mac_bytes(source or self.mac)
                       + b"\x86\xdd" + packet)

    peer = "02:00:00:00:00:00"

    def _read(self, timeout):
        if not select.select([self.sock], [], [], max(timeout, 0))[0]:
            return None
        data, ancillary, _, address = self.sock.recvmsg(65536, 64)
        if address[2] == socket.PACKET_OUTGOING or data[12:14] != b"\x86\xdd":
            return False
        if len(data) < 54:
            return False
        frame = Frame(data)
        frame.time = stamp(ancillary)
        self.seen.append(frame)
        return frame

    def flush(self):
        while self._read(0) is not None:
            pass
        self.seen.clear()

    def wait(self, match, seconds=5):
        """The next frame that matches, or None."""
        end = time.monotonic() + seconds * ktap.SCALE
        while True:
            frame = self._read(end - time.monotonic())
            if frame is None:
                return None
            if frame and match(frame):
                return frame

    def expect(self, match, what, seconds=5):
        frame = self.wait(match, seconds)
        if not frame:
            raise ktap.Fail(f"no {what} in {seconds * ktap.SCALE} s; seen: "
                            f"{self.seen[-8:]}")
        return frame

    def silence(self, match, what, seconds=1.5):
        """Nothing that matches comes for so long; not scaled, but more is safer."""
        end = time.monotonic() + seconds
        while True:
            frame = self._read(end - time.monotonic())
            if frame is None:
                return
            if frame and match(frame):
                raise ktap.Fail(f"{what}: {frame}")

    def exactly(self, count, match, what):
        """So many matching frames, then none for longer than they are apart."""
        found = [self.expect(match, f"{what}, number {n + 1}") for n in range(count)]
        self.silence(match, f"more than {count}: {what}", 2.5)
        return found

    def collect(self, match, seconds):
        """All matching frames that come in this time."""
        found, end = [], time.monotonic() + seconds
        while True:
            frame = self._read(end - time.monotonic())
            if frame is None:
                return found
            if frame and match(frame):
                found.append(frame)


def ends(names="AB"):
    """What cable() joins, for the top of a file: two namespaces that are not made yet, and the
    Wire in the second.
    """
    a, b = map(ktap.later, names)
    return a, b, Wire(b, "b0", now=False)


def cable(a, b, wire, mac_a="02:00:00:00:0a:01", mac_b="02:00:00:00:0b:01", up=True):
    """Joins the ends(): net6 speaks on a0 in A, a Wire on b0 in B.

        A [a0 net6] ------ [b0 Wire] B
    """
    ktap.kmod("veth")
    quiet(a)
    quiet(b)
    ktap.run("ip", "link", "add", "a0", "netns", a.name, "address", mac_a, "type",
             "veth", "peer", "name", "b0", "netns", b.name, "address", mac_b)
    b.up("b0")
    wire.open()
    wire.peer = mac_a
    if up:
        a.up("a0")


def second_end():
    """What second_cable() joins to cable()'s A, as ends()."""
    d = ktap.later("D")
    return d, Wire(d, "d0", now=False)


def second_cable(a, d, far, mac_c="02:00:00:00:0c:01"):
    """A further link of A, for cable()'s A to be a router:

        A [c0 net6] ------ [d0 Wire] D
    """
    quiet(d)
    ktap.run("ip", "link", "add", "c0", "netns", a.name, "address", mac_c, "type", "veth",
             "peer", "name", "d0", "netns", d.name, "address", "02:00:00:00:0d:01")
    d.up("d0")
    a.up("c0")
    far.open()
    far.peer = mac_c
    net6ctl(d, "detach", "dev", "d0")	# only tests speak there


def quiet(namespace):
    """The native stack of a namespace says nothing. In takeover mode there is none."""
    with open("/sys/module/ipv6/parameters/disable", encoding="ascii") as file:
        if file.read().strip() == "1":
            return
    for what in ("all", "default"):
        namespace.run("sysctl", "-q", "-w", f"net.ipv6.conf.{what}.disable_ipv6=1")


# From tmpfs: waiting for files of the host makes virtual time jump.
NET6CTL = shutil.copy(os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                   "../../tools/net6ctl"), "/tmp/net6ctl")


def net6ctl(namespace, *words):
    return ktap.run(NET6CTL, "-N", namespace.name, *words)


def admin(namespace, call, requests):
    """Many requests of net6's family, each a dictionary: a program for each takes too long."""
    with namespace:
        family = nl.Family()
    for request in requests:
        family.do(call, **request)
    family.close()


def show(namespace, *what):
    """What net6ctl shows of a namespace, as Python data."""
    return json.loads(net6ctl(namespace, "-j", "show", *what))


def find(namespace, what, address):
    """The entry of one address in one of net6ctl's lists, or None."""
    for entry in show(namespace, what):
        if same(entry["address"], address):
            return entry
    return None


def counter(namespace, name, what="counters"):
    return next((entry["value"] for entry in show(namespace, what, "all")
                 if entry["name"] == name), None)


def drops(namespace):
    """Drop counters by reason."""
    return {entry["name"]: entry["value"]
            for entry in show(namespace, "drops", "all")}


def linklocal(namespace, dev="a0"):
    """The link-local address of a device, assigned."""
    def assigned():
        return [entry["address"] for entry in show(namespace, "addresses")
                if entry["dev"] == dev and entry["origin"] == "link-local"
                and entry["state"] == "preferred"]
    return ktap.wait_for(8, f"{dev} has its link-local address", assigned)[0]


def interface(namespace, dev):
    """What net6ctl shows of an interface."""
    return next(i for i in show(namespace, "interfaces") if i["dev"] == dev)


def is_up(namespace, dev):
    return "up" in interface(namespace, dev)["flags"]


def bounce(namespace, dev, wire):
    """The interface starts anew, and what the wire saw before is forgotten."""
    namespace.down(dev)
    wire.flush()
    namespace.up(dev)


def barrier(wire, address):
    """What was sent before has been received: the address answers."""
    wire.flush()
    wire.send(ns("fe80::99", address, slla="02:00:00:00:00:99"))
    wire.expect(lambda f: f.type == NA and f.target == address, "answer")


def of_origin(namespace, origin):
    """The addresses of an origin: "slaac", "temporary", ..."""
    return [a for a in show(namespace, "addresses") if a["origin"] == origin]


def slaac(namespace, prefix):
    """The addresses that were formed in a prefix of 64 bits."""
    return [a for a in of_origin(namespace, "slaac")
            if packed(a["address"])[:8] == packed(prefix)[:8]]


def source(namespace, dest):
    """The address that a socket would send from."""
    sock = ktap.net6_socket(socket.SOCK_DGRAM, 0, namespace)
    sock.connect((dest, 9))
    address = sock.getsockname()[0]
    sock.close()
    return address


def retrans_time(namespace, dev, milliseconds):
    with namespace, open(f"/proc/sys/net/net6/neigh/{dev}/retrans_time_ms", "w",
                         encoding="ascii") as file:
        file.write(str(milliseconds))


def is_probe(frame):
    """A probe of Duplicate Address Detection."""
    return frame.type == NS and frame.source == ANY


def solicits(address):
    return lambda f: f.type == NS and f.target == address


def replies(seq):
    return lambda f: f.type == REPLY and f.seq == seq


def ping(wire, source, dest, mac=None, **more):
    """Sends an echo request. Returns its sequence number, which no other ping() has."""
    seq = next(_pings)
    wire.send(echo(source, dest, seq, **more), mac=mac)
    return seq


def conflict_by_hand(namespace, dev, wire, address):
    """An address is set, and another node says that it is its own."""
    net6ctl(namespace, "add", "address", f"{address}/64", "dev", dev)
    wire.expect(lambda f: is_probe(f) and same(f.target, address), f"probe for {address}")
    wire.send(na(address, address, tlla=wire.mac))
