#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a virtual machine leaves to the device: datagrams to be sent in fragments (UFO), or one
# after the other (USO), and TCP segments, come in whole through a tap. Native is the judge.
#
#	[tap0] A	the test writes what the machine behind the tap sends
#
# guest: both
# timeout: 60
# guest-options: --kmemleak
import fcntl
import json
import os
import socket
import struct
import sys
import types
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair

TUNSETIFF, IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x400454ca, 2, 0x1000, 0x4000
# linux/virtio_net.h
NEEDS_CSUM, GSO_UDP, GSO_UDP_L4 = 1, 3, 5
SOL_UDP, UDP_GRO = 17, 104
NATIVE, NET6, PEER = "fd00::1", "fd00::2", "fd00::9"
PORT, SIZE = 7400, 1448
A = ktap.later("A")
shared = types.SimpleNamespace()	# tap: its file descriptor; mac: tap0's


def setup():
    ktap.kmod("tun")
    ktap.net6_load()
    with A:
        shared.tap = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(shared.tap, TUNSETIFF, struct.pack("=16sH14x", b"tap0",
                                                IFF_TAP | IFF_NO_PI | IFF_VNET_HDR))
    A.up("tap0")
    A.ip("-6", "addr", "add", NATIVE + "/64", "dev", "tap0", "nodad")
    netpair.ctl(A, "add", "address", NET6 + "/64", "dev", "tap0")
    ktap.wait_for(15, "net6's address is preferred",
                  lambda: netpair.preferred(A, "tap0", NET6))
    shared.mac = bytes.fromhex(json.loads(A.ip("-j", "link", "show", "dev", "tap0"))[0]["address"]
                        .replace(":", ""))


def pseudo(to, length):
    """The sum of the pseudo-header, which the machine leaves in the checksum's place."""
    words = socket.inet_pton(socket.AF_INET6, PEER) + socket.inet_pton(socket.AF_INET6, to) + \
        struct.pack("!II", length, socket.IPPROTO_UDP)
    total = sum(struct.unpack(f"!{len(words) // 2}H", words))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def inject(to, body, gso):
    length = 8 + len(body)
    packet = shared.mac + b"\x02\x00\x00\x00\x00\x09" + struct.pack("!H", 0x86dd) + \
        struct.pack("!IHBB", 6 << 28, length, socket.IPPROTO_UDP, 64) + \
        socket.inet_pton(socket.AF_INET6, PEER) + socket.inet_pton(socket.AF_INET6, to) + \
        struct.pack("!HHHH", 9999, PORT, length, pseudo(to, length)) + body
    head = struct.pack("=BBHHHH", NEEDS_CSUM, gso, 62, SIZE if gso else 0, 54, 6)
    os.write(shared.tap, head + packet)


def received(make, address, gso, gro):
    """Lengths of the datagrams that come of 20,000 octets, what is said of segments, the rest."""
    body = os.urandom(20000)
    with make(socket.SOCK_DGRAM, ns=A) as sock:
        sock.bind((address, PORT))
        sock.setsockopt(SOL_UDP, UDP_GRO, gro)
        sock.settimeout(10 * ktap.SCALE)
        inject(address, body, gso)
        inject(address, b"end", 0)
        lengths, told, got = [], set(), b""
        while True:
            data, cmsgs, _, _ = sock.recvmsg(65535, 64)
            if data == b"end":
                return lengths, told, got == body
            lengths.append(len(data))
            told |= {struct.unpack("=i", value)[0] for level, kind, value in cmsgs
                     if (level, kind) == (SOL_UDP, UDP_GRO)}
            got += data


def same(gso, wanted):
    for gro in 0, 1:
        native = received(netpair.native, NATIVE, gso, gro)
        ktap.equal(native, wanted[gro], f"native, UDP_GRO {gro}")
        ktap.equal(received(netpair.net6, NET6, gso, gro), native, f"net6, UDP_GRO {gro}")


@ktap.test
def a_datagram_to_be_fragmented_is_one():
    same(GSO_UDP, (([20000], set(), True), ([20000], set(), True)))


@ktap.test
def datagrams_in_one_are_several():
    if ktap.KERNEL < (6, 2):
        raise ktap.Skip("taps of this kernel take no such packets")
    count, rest = divmod(20000, SIZE)
    same(GSO_UDP_L4, (([SIZE] * count + [rest], set(), True), ([20000], {SIZE}, True)))


ktap.main(setup=setup)
