#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What is sent to an address of one's own is received on the interface that has the address
# (RFC 4007 section 5), not on lo. It is so for TCP, UDP, raw sockets and ICMPv6 errors,
# and if two interfaces have the same link-local address. Each test runs on the native
# stack as well.
#
#	A [a0, a1] ------ [b0, b1] B	(lib/netpair.py); fe80::77 is on a0 and on a1
#
# guest: both
# timeout: 120
# guest-options: --kmemleak
import errno
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p
from ktap import failing

TCP, UDP, RAW = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
V6, ICMP6, SOL = socket.IPPROTO_IPV6, socket.IPPROTO_ICMPV6, socket.SOL_SOCKET
RECVERR, ERRQUEUE = 25, socket.MSG_ERRQUEUE
SHARED = "fe80::77"
zone, link_local = {}, {}


def native_link_local():
    """That of a0, or none as long as it is tentative."""
    found = p.A.ip("-6", "-o", "addr", "show", "dev", "a0", "scope", "link", "-tentative")
    return [line.split("inet6 ")[1].split("/")[0] for line in found.splitlines()
            if SHARED not in line]


def setup():
    p.setup()
    zone.update((dev, p.index(p.A, dev)) for dev in ("a0", "a1", "lo"))
    for dev in ("a0", "a1"):
        p.A.ip("addr", "add", SHARED + "/64", "dev", dev, "nodad")
        p.ctl(p.A, "add", "address", "fe80::78/64", "dev", dev)
    for dev in ("a0", "a1"):
        ktap.wait_for(15, f"fe80::78 on {dev}", lambda d=dev: p.preferred(p.A, d, "fe80::78"))
    own = ktap.wait_for(15, "native's link-local address", native_link_local)[0]
    link_local.update({p.native: own, p.net6: next(
        e["address"] for e in p.addresses(p.A, "a0")
        if e["origin"] == "link-local" and e["state"] == "preferred")})


GLOBAL = {p.native: p.NATIVE_A, p.net6: p.NET6_A}
TWICE = {p.native: SHARED, p.net6: "fe80::78"}


def both(function):
    """Registers a test: function(maker) holds on both stacks."""
    def test():
        for make in (p.native, p.net6):
            try:
                function(make)
            except Exception as error:
                raise ktap.Fail(f"{make.__name__}: {error!r}") from error
    ktap.test(function.__name__.replace("_", " "))(test)
    return function


def on(sock, dev):
    sock.setsockopt(SOL, socket.SO_BINDTODEVICE, dev.encode())
    return sock


def tcp_pair(make, listener, to):
    """A connection to where @listener listens; its accepted end, and who that says it is."""
    listener.listen()
    client = make(TCP)
    client.settimeout(10 * ktap.SCALE)
    client.connect(to)
    accepted, peer = listener.accept()
    return client, accepted, peer


def exchange(client, accepted):
    client.sendall(b"there")
    ktap.equal(accepted.recv(10), b"there", "one way")
    accepted.sendall(b"back")
    ktap.equal(client.recv(10), b"back", "the other way")
    for sock in (client, accepted):
        sock.close()


def arrived(sock):
    """A datagram: data, interface by IPV6_PKTINFO, name of who sent it."""
    data, control, _, name = sock.recvmsg(100, 100)
    level, kind, info = control[0]
    ktap.equal((level, kind), (V6, socket.IPV6_PKTINFO), "ancillary data")
    return data, struct.unpack("=i", info[16:20])[0], name


def receiver(make, address=("::", 0)):
    sock = make(UDP)
    sock.setsockopt(V6, socket.IPV6_RECVPKTINFO, 1)
    sock.bind(address)
    return sock


@both
def TCP_to_the_own_link_local_address(make):
    with make(TCP) as listener:
        listener.bind(("::", 0))
        to = (link_local[make], listener.getsockname()[1], 0, zone["a0"])
        client, accepted, peer = tcp_pair(make, listener, to)
        ktap.equal((peer[0], peer[3]), (link_local[make], zone["a0"]), "the peer and its zone")
        ktap.equal(accepted.getsockname(), to, "the server's own name")
        exchange(client, accepted)


@both
def a_TCP_server_on_a_link_local_address_serves_its_own_host(make):
    with make(TCP) as listener:
        listener.bind((link_local[make], 0, 0, zone["a0"]))
        client, accepted, _ = tcp_pair(make, listener, listener.getsockname())
        exchange(client, accepted)


@both
def UDP_to_the_own_link_local_address(make):
    with receiver(make) as server, make(UDP) as client:
        to = (link_local[make], server.getsockname()[1], 0, zone["a0"])
        client.connect(to)
        client.send(b"there")
        data, ifindex, name = arrived(server)
        ktap.equal((data, ifindex), (b"there", zone["a0"]), "data and interface")
        ktap.equal(name, client.getsockname(), "who sent it, with the zone")
        server.sendto(b"back", name)
        ktap.equal(client.recvfrom(10), (b"back", to), "the answer")


@both
def sockets_bound_to_a_device_and_its_own_address(make):
    own = GLOBAL[make]
    with on(make(TCP), "a0") as listener:
        listener.bind((own, 0))
        listener.listen()
        client = on(make(TCP), "a0")
        client.connect(listener.getsockname())
        exchange(client, listener.accept()[0])
    with on(make(UDP), "a0") as server, on(make(UDP), "a0") as client:
        server.bind((own, 0))
        client.connect(server.getsockname())
        client.send(b"there")
        data, name = server.recvfrom(10)
        server.sendto(b"back", name)
        ktap.equal((data, client.recv(10)), (b"there", b"back"), "datagrams")


@both
def a_socket_bound_to_lo_does_not_hear_what_is_for_an_address_elsewhere(make):
    with on(make(UDP), "lo") as server, make(UDP) as client:
        server.bind(("::", 0))
        port = server.getsockname()[1]
        client.connect((GLOBAL[make], port))
        client.send(b"x")
        ktap.raises(errno.ECONNREFUSED, client.recv, 10)
        client.connect(("::1", port))
        client.send(b"y")
        ktap.equal(server.recv(10), b"y", "what is for ::1")


@both
def IPV6_PKTINFO_says_who_has_the_address(make):
    with receiver(make) as server, make(UDP) as client:
        port = server.getsockname()[1]
        for address, dev in ((GLOBAL[make], "a0"), ("::1", "lo")):
            client.sendto(b"x", (address, port))
            ktap.equal(arrived(server)[1], zone[dev], f"interface of {address}")


@both
def ICMPv6_errors_come_to_sockets_bound_to_a_device(make):
    for address in (GLOBAL[make], link_local[make], TWICE[make]):
        for dev in ("a0", "a1") if address == TWICE[make] else ("a0",):
            with make(UDP) as closed, on(make(UDP), dev) as sock:
                closed.bind(("::", 0))
                to = (address, closed.getsockname()[1], 0,
                      zone[dev] if address.startswith("fe80") else 0)
                closed.close()
                sock.setsockopt(V6, RECVERR, 1)
                sock.connect(to)
                sock.send(b"x")
                ktap.raises(errno.ECONNREFUSED, sock.recv, 10)
                _, control, _, name = sock.recvmsg(100, 200, ERRQUEUE)
                ktap.equal(name, to, "where it was to go")
                offender = control[0][2][16:44]
                ktap.equal(struct.unpack("=i", offender[24:28])[0], to[3],
                           f"zone of who reports it, of {to}")


@both
def an_echo_of_the_own_host_comes_to_a_raw_socket_bound_to_a_device(make):
    for address in (GLOBAL[make], link_local[make], TWICE[make]):
        for dev in ("a0", "a1") if address == TWICE[make] else ("a0",):
            with on(make(RAW, ICMP6), dev) as sock:
                bits = [0xffffffff] * 8
                bits[129 // 32] &= ~(1 << 129 % 32)		# echo replies only
                sock.setsockopt(ICMP6, 1, struct.pack("=8I", *bits))
                scope = zone[dev] if address.startswith("fe80") else 0
                sock.sendto(struct.pack("!BBHHH", 128, 0, 0, 77, 1), (address, 0, 0, scope))
                data, name = sock.recvfrom(100)
                ktap.equal((data[:1], name[0], name[3]), (b"\x81", address, scope), "the reply")


@both
def one_link_local_address_on_two_interfaces(make):
    address = TWICE[make]
    with receiver(make) as server:
        port = server.getsockname()[1]
        for dev in ("a0", "a1", "a0"):
            with make(UDP) as client:
                client.connect((address, port, 0, zone[dev]))
                client.send(dev.encode())
                data, ifindex, name = arrived(server)
                ktap.equal((data, ifindex, name[3]), (dev.encode(), zone[dev], zone[dev]),
                           f"a datagram to {address} on {dev}")
                server.sendto(b"back", name)
                ktap.equal(client.recv(10), b"back", f"answer to {dev}")
    listeners = {dev: make(TCP) for dev in ("a0", "a1")}
    first = listeners["a0"]
    first.bind((address, 0, 0, zone["a0"]))
    listeners["a1"].bind((address, first.getsockname()[1], 0, zone["a1"]))
    for dev, listener in listeners.items():
        client, accepted, peer = tcp_pair(make, listener, listener.getsockname())
        ktap.equal(peer[3], zone[dev], f"the peer's zone on {dev}")
        exchange(client, accepted)
    for listener in listeners.values():
        listener.close()


@ktap.test
def the_loopback_address_is_not_on_other_devices():
    def bound(make):
        out = []
        for dev, address in ((b"a0", "::1"), (b"lo", "::1"), (b"a1", p.NET6_A)):
            with make() as s:
                s.setsockopt(SOL, socket.SO_BINDTODEVICE, dev)
                out.append(failing(s.bind, (address, 0)))
            with make() as s:
                source = struct.pack("=16si", socket.inet_pton(socket.AF_INET6, address),
                                     p.index(p.A, dev.decode()))
                out.append(failing(s.sendmsg, [b"x"], [(V6, socket.IPV6_PKTINFO, source)], 0,
                                   ("fd00::99", 9)))
        return out
    seen = bound(p.net6)
    # A wider address may be bound to on any device; native's is another one.
    ktap.equal(seen[4], None, "a global address of another device")
    ktap.equal(seen[:4:2], bound(p.native)[:4:2], "bind()")
    ktap.equal(seen[1], bound(p.native)[1], "IPV6_PKTINFO of ::1 on a0")


ktap.main(setup=setup)
