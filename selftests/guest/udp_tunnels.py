#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The kernel's tunnels over UDP on net6 as a host's only IPv6: they carry what they carry on native
# (lib/udptunnels.py), and go with devices, namespaces and the module, under traffic and without
# memory.
#
# guest: both
# guest-append: ipv6.disable=1
# timeout: 180
import contextlib
import errno
import os
import socket
import struct
import subprocess
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import faults
import ktap
import l2tp
import nl
import rawlinks
import udptunnels
from udptunnels import A, B, KINDS, OUTER, R

AF_RXRPC = 33
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
ROUNDS = 3


def setup():
    ktap.native_asks_nobody()
    ktap.net6_load()


@contextlib.contextmanager
def shouting(ns, to="fd93::2"):
    """A program that sends into the tunnel, whatever becomes of it."""
    stop = threading.Event()
    with ns:
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)

    def shout():
        while not stop.wait(0.002):
            for _ in range(10):
                with contextlib.suppress(OSError):
                    sock.sendto(bytes(1000), (to, 9))
    thread = threading.Thread(target=shout)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        sock.close()


def tunnel(kind="VXLAN"):
    ktap.need(KINDS[kind][0])
    udptunnels.clean()
    udptunnels.ends(KINDS[kind][1])


udptunnels.tests()


@ktap.test
def an_interface_goes_under_a_tunnel():
    """The tunnel keeps a route by it, which keeps the device from going if it is not taken back."""
    tunnel()
    udptunnels.carries()
    for _ in range(ROUNDS):
        with shouting(A):
            A.ip("link", "del", "a0")
            ktap.veth(A, "a0", R, "r0")
            rawlinks.batch(A, "addr add fd92:1::1/64 dev a0 nodad",
                           "route add default via fd92:1::2")
            rawlinks.batch(R, "addr add fd92:1::2/64 dev r0 nodad")
    log = subprocess.run("dmesg", capture_output=True, text=True, check=True).stdout
    ktap.true("waiting for a0 to become free" not in log, "the device is free at once")
    ktap.wait_for(15, "an address", lambda: OUTER[A] in rawlinks.addresses(A, "a0"))
    with R, open("/proc/sys/net/ipv6/conf/r0/forwarding", "w", encoding="ascii") as file:
        file.write("1")
    udptunnels.carries()


@ktap.test
def a_tunnel_goes_under_traffic():
    for kind in ("VXLAN", "GENEVE"):
        for _ in range(ROUNDS):
            tunnel(kind)
            with shouting(A):
                udptunnels.gone(A, B)


def wireguard(ns, peer):
    """One whose peer never answers. Handshakes go to it."""
    ns.ip("link", "add", "t0", "type", "wireguard")
    family, key = rawlinks.wireguard_keys(ns, "t0")
    rawlinks.wireguard_peer(family, "t0", os.urandom(32) if key else key, peer)
    ns.ip("link", "set", "t0", "up")


def namespace_goes():
    """The tunnel's socket is in it; the tunnel's device is not."""
    ktap.need("vxlan")
    ktap.kmod("veth")
    for kind in ("vxlan", "wireguard"):
        first, other = ktap.Netns("G"), ktap.Netns("O")
        first.ip("link", "add", "d0", "up", "type", "veth", "peer", "name", "d1")
        rawlinks.batch(first, "addr add fd94::1/64 dev d0 nodad",
                       "neigh add fd94::2 lladdr 02:00:00:00:00:02 dev d0")
        if kind == "vxlan":
            first.ip("link", "add", "t0", "type", "vxlan", "id", "9", "local", "fd94::1", "remote",
                     "fd94::2", "dstport", "4789")
        else:
            rawlinks.need("wireguard")
            wireguard(first, "fd94::2")
        first.ip("link", "set", "t0", "netns", other.name)
        udptunnels.inside(other, 1, None)
        with shouting(other):
            time.sleep(0.1)
            first.delete()
            # vxlan's device goes with the namespace of its socket.
            ktap.wait_for(20, "the namespace has gone",
                          lambda: kind != "vxlan" or "t0" not in rawlinks.devices(other))
        other.delete()


@ktap.test
def the_namespace_of_its_socket_goes():
    namespace_goes()


@ktap.test
def the_module_stays_while_there_is_a_tunnel():
    tunnel()
    udptunnels.carries()
    done = subprocess.run(("rmmod", "net6"), capture_output=True, text=True, check=False)
    ktap.true(done.returncode and "in use" in done.stderr, f"rmmod: {done.stderr}")
    with shouting(A):
        udptunnels.gone(A, B)
    ktap.unload("net6")
    udptunnels.MADE.clear()
    for ns, dev in ((A, "a0"), (R, "r1")):
        ns.ip("link", "del", dev)
    ktap.run("insmod", f"{ktap.BUILD}/net6/net6.ko")


@ktap.test
def the_namespace_goes_after_net6_s_part_of_it():
    """The tunnels' modules were there before net6: their parts of a namespace end later."""
    namespace_goes()


RXRPC = f"""
import ctypes, os, select, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
RXRPC, SOL_RXRPC, USER_CALL_ID, NET_ERROR = {AF_RXRPC}, 272, 1, 5


def address(service, port, host):
    return struct.pack("=HHHH", RXRPC, service, socket.SOCK_DGRAM, 28) + \\
        struct.pack("=H", socket.AF_INET6) + struct.pack("!HI", port, 0) + \\
        socket.inet_pton(socket.AF_INET6, host) + bytes(4)


def message(name, data, control):
    \"\"\"struct msghdr, and what it points to.\"\"\"
    parts = [ctypes.create_string_buffer(part, len(part)) for part in (name, data, control)]
    at = [ctypes.addressof(part) for part in parts]
    parts.append(ctypes.create_string_buffer(struct.pack("=QQ", at[1], len(data)), 16))
    head = struct.pack("=QI4xQQQQi4x", at[0], len(name), ctypes.addressof(parts[3]), 1, at[2],
                       len(control), 0)
    parts.append(ctypes.create_string_buffer(head, len(head)))
    return parts


def sock(service, port):
    fd = socket.socket(RXRPC, socket.SOCK_DGRAM, socket.AF_INET6)
    own = address(service, port, "::")
    print("bind", libc.bind(fd.fileno(), own, len(own)), ctypes.get_errno())
    return fd


server, client = sock(5, 7777), sock(0, 0)
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
for size in range(200):
    udp.sendto(os.urandom(size), ("::1", 7777))
# A call to a port that is closed: whoever called is told.
call = message(address(5, 7009, "::1"), b"words", struct.pack("=QiiQ", 24, SOL_RXRPC,
                                                              USER_CALL_ID, 7))
print("send", libc.sendmsg(client.fileno(), call[4], 0), ctypes.get_errno())
print("told", len(select.select([client], [], [], 20)[0]))
got = message(bytes(64), bytes(100), bytes(200))
libc.recvmsg(client.fileno(), got[4], 0)
control, at, kinds = bytes(got[2]), 0, dict()
while at + 16 <= len(control):
    size, level, kind = struct.unpack_from("=Qii", control, at)
    if size < 16:
        break
    kinds[kind] = control[at + 16:at + size]
    at += size + 7 & ~7
print("error", struct.unpack("=I", kinds.get(NET_ERROR, bytes(4)))[0])
"""


@ktap.test
def an_rxrpc_socket_of_anybody():
    """It is bound; packets of the wire that are nothing to it do no harm; a caller is told that
    nobody listens.
    """
    ktap.need("rxrpc")
    done = subprocess.run(NOBODY + (sys.executable, "-c", RXRPC), capture_output=True, text=True,
                          check=False)
    lines = done.stdout.splitlines()
    # In sendmsg() already, or when a thread has sent it; then perhaps not again.
    refused = f"send -1 {errno.ECONNREFUSED}"
    sent = lines.pop(2)
    ktap.true(sent in ("send 5 0", refused), sent)
    if sent == refused and lines[-1] == "error 0":
        lines[-1] = f"error {errno.ECONNREFUSED}"
    ktap.equal(lines, ["bind 0 0", "bind 0 0", "told 1", f"error {errno.ECONNREFUSED}"],
               done.stderr)


@ktap.test
def sctp_in_udp_meets_ipv6():
    """SCTP opens a port for IPv6, too. What a stranger sends there does no harm."""
    ktap.need("sctp")
    udptunnels.clean()
    with B:
        port = "/proc/sys/net/sctp/encap_port"
        if not os.path.exists(port):
            raise ktap.Skip("no SCTP in UDP")
        try:
            with open(port, "w", encoding="ascii") as file:
                file.write("9899")
        except OSError as error:
            ktap.diag(f"refused: {error}")
            return
    init = struct.pack("!HHIIBBHIIHHI", 7, 8, 0, 0, 1, 0, 20, 1, 65536, 1, 1, 1)
    with A, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.sendto(init[:8] + struct.pack("<I", crc32c(init)) + init[12:], (OUTER[B], 9899))
        for size in range(0, 100):
            sock.sendto(os.urandom(size), (OUTER[B], 9899))
    rawlinks.ping(A, OUTER[B])
    with B, open(port, "w", encoding="ascii") as file:
        file.write("0")


def crc32c(data):
    """SCTP's checksum, RFC 9260 appendix A."""
    crc = 0xffffffff
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


@ktap.test
def what_a_stranger_sends_to_a_tunnel():
    """Datagrams that no tunnel makes, with and without a checksum, and errors about none."""
    tunnel("VXLAN without checksums")
    with B, socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as icmp, \
            socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        src, dst = nl.address(OUTER[B]), nl.address(OUTER[A])
        for size in range(0, 120):
            body = os.urandom(size)
            udp = struct.pack("!HHHH", 4789, 4789, 8 + size, 0)
            packet = struct.pack("!IHBB", 6 << 28, 8 + size, 17, 64)
            raw.sendto(packet + src + dst + udp + body, (OUTER[A], 0))
            quoted = packet + dst + src + udp + body
            for kind, code in ((1, 4), (2, 0), (3, 0), (4, 1)):
                icmp.sendto(bytes((kind, code, 0, 0)) + struct.pack("!I", 1280) + quoted,
                            (OUTER[A], 0))
    udptunnels.carries()
    udptunnels.gone(A, B)


@ktap.test
def a_zero_checksum_is_for_who_asked_for_it():
    """RFC 8200 8.1: no program gets it, and no tunnel that has not asked."""
    tunnel()
    with A, open("/proc/thread-self/net/snmp6", encoding="ascii") as file:
        before = dict(line.split() for line in file)["Udp6InCsumErrors"]
    with A, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.bind(("::", 7105))
        sock.settimeout(0.3)
        with B, socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
            for port in (7105, 4789, 7106):
                udp = struct.pack("!HHHH", 4789, port, 13, 0) + b"words"
                raw.sendto(struct.pack("!IHBB", 6 << 28, len(udp), 17, 64) +
                           nl.address(OUTER[B]) + nl.address(OUTER[A]) + udp, (OUTER[A], 0))
        with contextlib.suppress(TimeoutError):
            raise ktap.Fail(f"came in: {sock.recv(10)}")
    with A, open("/proc/thread-self/net/snmp6", encoding="ascii") as file:
        after = dict(line.split() for line in file)["Udp6InCsumErrors"]
    ktap.equal(int(after) - int(before), 3, "counted")
    udptunnels.gone(A, B)


@ktap.test
def without_memory():
    """Of what is asked for where nobody waits a share fails: packets are lost, nothing else."""
    faults.setup()
    for kind in ("VXLAN", "GENEVE"):
        tunnel(kind)
        udptunnels.carries()
        with shouting(A), shouting(B, "fd93::1"), faults.no_pages(), \
                faults.failing(ignore_gfp_wait="Y", probability=20):
            for _ in range(20):
                # Each time routes are looked for anew.
                subprocess.run(("ip", "-n", A.name, "-6", "route", "replace", "fd95::/64", "dev",
                                "a0"), capture_output=True, check=False)
        udptunnels.carries()
        udptunnels.gone(A, B)


@ktap.test
def l2tp_gets_no_socket_of_a_program():
    ktap.need("l2tp_ppp")
    l2tp.refused(socket.AF_INET6, ktap.AF_NET6)


ktap.main(setup=setup)
