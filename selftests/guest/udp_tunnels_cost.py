#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a packet costs that a tunnel of the kernel carries over UDP and IPv6, from sendto() at one end
# to the socket at the other, both on one processor. In the tunnel is IPv4, which is native's on all.
# Where native IPv6 is on, the tunnel is on native; with --append ipv6.disable=1 it is on net6. Both
# are told side by side in takeover.rst. In virtual time: two nanoseconds are an instruction.
#
#	[ A ] a0 ---- b0 [ B ]
#
# guest: named
# guest-append: ipv6.disable=1
# guest-options: --virtual-time
# timeout: 600
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

A, B = ktap.later("A"), ktap.later("B")
OUTER = {A: "fd94::1", B: "fd94::2"}
KINDS = {
    "no tunnel": "",
    "VXLAN": "vxlan id 7 local {own} remote {peer} dstport 4789",
    "VXLAN without checksums": "vxlan id 7 local {own} remote {peer} dstport 4789 udp6zerocsumtx "
                               "udp6zerocsumrx",
    "GENEVE": "geneve id 7 remote {peer} dstport 6081",
}
SIZES = (1, 1000)
BATCHES, CALLS = 10, 500


def setup():
    with open("/proc/cmdline", encoding="ascii") as file:
        if "ipv6.disable=1" in file.read():
            ktap.net6_load()
    ktap.veth(A, "a0", B, "b0")
    for ns, number in ((A, 1), (B, 2)):
        dev = "a0" if ns == A else "b0"
        ns.ip("addr", "add", f"{OUTER[ns]}/64", "dev", dev, "nodad")
        ns.ip("addr", "add", f"10.94.0.{number}/24", "dev", dev)


def bulk(kind, to):
    """A connection; the device joins and cuts segments where it can."""
    with B:
        listener = socket.create_server((to, 0))
    with A:
        sender = socket.create_connection(listener.getsockname()[:2])
    receiver = listener.accept()[0]
    data = bytes(1 << 16)

    def piece():
        sender.sendall(data)
        ktap.take(receiver, len(data))
    took = ktap.least(piece, BATCHES, CALLS // 10)
    ktap.diag(f"{kind}, TCP: {took / 2 / 64:.0f} instructions a kilobyte")
    for sock in (sender, receiver, listener):
        sock.close()


def measure(kind):
    words = KINDS[kind]
    if words:
        ktap.kmod(words.split(maxsplit=1)[0])
        for ns, peer, number in ((A, B, 1), (B, A, 2)):
            ns.ip("link", "add", "t0", "up", "mtu", "1300", "type",
                  *words.format(own=OUTER[ns], peer=OUTER[peer]).split())
            ns.ip("addr", "add", f"10.95.0.{number}/24", "dev", "t0")
    to = "10.95.0.2" if words else "10.94.0.2"
    with B:
        there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with A:
        here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    there.bind((to, 9))
    there.settimeout(20)
    here.connect((to, 9))
    here.send(b"known")
    ktap.equal(there.recv(9), b"known", "the first")
    for size in SIZES:
        data = bytes(size)

        def packet(data=data):
            here.send(data)
            there.recv(2000)
        took = ktap.least(packet, BATCHES, CALLS)
        ktap.diag(f"{kind}, {size} octets: {took / 2:.0f} instructions")
    here.close()
    there.close()
    bulk(kind, to)
    if words:
        A.ip("link", "del", "t0")
        B.ip("link", "del", "t0")


for name in KINDS:
    ktap.test(name)(lambda name=name: measure(name))
ktap.main(setup=setup)
