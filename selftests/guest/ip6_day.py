#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A day and a night of a host and a router whose only IPv6 is net6, in virtual time: advertisements
# with short lifetimes, temporary addresses that are formed anew, connections, a firewall that is
# loaded again, links that flap, namespaces and tunnels that come and go. Nothing is to be said in the
# log, everything is to work at the end, and memory is to be what it was after the second hour.
#
#	[ H ] h0 ------ r0 [ R ] r1 ------ s0 [ S ]	R advertises fd97:1::/64 on r0
#
# guest: named
# guest-append: ipv6.disable=1
# guest-options: --virtual-time
# timeout: 3000
import os
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nl
import rawlinks

H, R, S = map(ktap.later, "HRS")
HOURS = int(os.environ.get("HOURS", 24))
STEP = 300			# seconds between two rounds
ADVERTISED = 100		# seconds between two advertisements
SERVER, PORT = "fd97:2::5", 8000
SPARE = 1 << 20			# octets that memory may grow by
RULES = """flush ruleset
table inet t {
    chain in { type filter hook input priority 0; policy accept;
        ct state established,related accept
        icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-advert } accept
        tcp dport 4444 reject with tcp reset
    }
}
"""


def sysctl(ns, **values):
    with ns:
        for name, value in values.items():
            with open(f"/proc/sys/net/ipv6/conf/{name.replace('__', '/')}", "w",
                      encoding="ascii") as file:
                file.write(str(value))


def setup():
    ktap.net6_load()
    ktap.veth(H, "h0", R, "r0")
    ktap.veth(R, "r1", S, "s0")
    sysctl(R, all__forwarding=1)
    rawlinks.batch(R, "addr add fd97:1::1/64 dev r0 nodad", "addr add fd97:2::1/64 dev r1 nodad")
    rawlinks.batch(S, f"addr add {SERVER}/64 dev s0 nodad", "route add default via fd97:2::1")
    sysctl(H, h0__use_tempaddr=2, h0__temp_valid_lft=7200, h0__temp_prefered_lft=3600)
    ktap.wait_for(30, "a link-local address", lambda: rawlinks.linklocal(R, "r0"))


def advertise(stop):
    """The router's program. Prefixes live for ten minutes, the router for fifteen."""
    source = rawlinks.linklocal(R, "r0")
    body = struct.pack("!BBHII", 64, 0, 900, 0, 0) + bytes((3, 4, 64, 0xc0)) + \
        struct.pack("!III", 600, 300, 0) + nl.address("fd97:1::")
    with R, socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
        index = socket.if_nametoindex("r0")
        sock.bind((source, 0, 0, index))
        while True:
            sock.sendto(bytes((rawlinks.RA, 0, 0, 0)) + body, ("ff02::1", 0, 0, index))
            if stop.wait(ADVERTISED):
                return


def serve(listener):
    while True:
        try:
            conn, _ = listener.accept()
        except OSError:
            return
        with conn:
            while data := conn.recv(65536):
                conn.sendall(data)


def temporary():
    """The host's temporary addresses that are preferred."""
    shown = H.run("ip", "-6", "addr", "show", "dev", "h0", "scope", "global", "temporary",
                  "-deprecated")
    return [line.split()[1] for line in shown.splitlines() if "inet6" in line]


def talk():
    """A connection, a datagram that finds nobody, and an echo."""
    with H:
        with socket.create_connection((SERVER, PORT), timeout=60) as sock:
            data = os.urandom(20000)
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            ktap.true(ktap.take(sock, len(data)) == data, "what comes back")
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"words", (SERVER, 9))
    rawlinks.ping(H, SERVER)


def flap():
    H.down("h0")
    time.sleep(2)
    H.up("h0")
    ktap.wait_for(3 * ADVERTISED, "an address again",
                  lambda: any(a.startswith("fd97:1:") for a in rawlinks.addresses(H, "h0")))


def visitors():
    """A namespace with a link to the host, a group, and a tunnel over the link."""
    guest = ktap.Netns("V")
    ktap.veth(H, "v0", guest, "v1")
    rawlinks.batch(H, "addr add fd98::1/64 dev v0 nodad")
    rawlinks.batch(guest, "addr add fd98::2/64 dev v1 nodad")
    rawlinks.ping(H, "fd98::2")
    with guest, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, nl.address("ff02::4711") +
                        struct.pack("=I", socket.if_nametoindex("v1")))
    if not subprocess.run(["modprobe", "-q", "vxlan"], check=False).returncode:
        for ns, own, peer in ((H, 1, 2), (guest, 2, 1)):
            ns.ip("link", "add", "x0", "up", "type", "vxlan", "id", "5", "local", f"fd98::{own}",
                  "remote", f"fd98::{peer}", "dstport", "4789")
            ns.ip("addr", "add", f"fd99::{own}/64", "dev", "x0", "nodad")
        rawlinks.ping(H, "fd99::2")
        H.ip("link", "del", "x0")
    guest.delete()


def a_round(number):
    talk()
    if number % 2 == 0:
        for ns in (H, R):
            ns.run("nft", "-f", "-", input=RULES)
    if number % 6 == 3:
        visitors()
    if number % 12 == 7:
        flap()


@ktap.test
def a_day():
    stop = threading.Event()
    router = threading.Thread(target=advertise, args=(stop,))
    router.start()
    with S:
        listener = socket.create_server(("::", PORT), family=socket.AF_INET6)
    server = threading.Thread(target=serve, args=(listener,), daemon=True)
    server.start()
    seen, before = set(), None
    try:
        ktap.wait_for(60, "an address", lambda: any(
            a.startswith("fd97:1:") for a in rawlinks.addresses(H, "h0")))
        per_hour = 3600 // STEP
        for number in range(HOURS * per_hour):
            a_round(number)
            seen.update(temporary())
            if number == 2 * per_hour:
                before = ktap.slabs()
            if number and number % (4 * per_hour) == 0:
                ktap.diag(f"hour {number // per_hour}: {ktap.slabs()} octets of slabs, "
                          f"{len(seen)} temporary addresses so far")
            time.sleep(STEP)
        after = ktap.slabs()
    finally:
        stop.set()
        router.join()
        listener.shutdown(socket.SHUT_RDWR)	# accept() holds it
        server.join()
        listener.close()
    ktap.diag(f"{before} octets after two hours, {after} at the end")
    ktap.true(after - before < SPARE, f"{after - before} octets more")
    ktap.true(len(seen) > HOURS * 2 // 3, f"temporary addresses: {len(seen)}")


ktap.main(setup=setup)
