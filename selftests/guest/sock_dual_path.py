#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The path of IPv4 datagrams through sockets of net6: its MTU, ICMP errors about it, what is
# told in the error queue, and what waits for more; the host itself. Each case is played on the native stack
# and on net6, and the results must be the same.
#
#	A [a0] ------ [b0] B	(lib/netpair.py; here 192.0.2.1 and 192.0.2.2 as well)
#
# guest: both
# timeout: 90
# guest-options: --kmemleak
import os
import select
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p
from cloud import checksum
from ktap import failing

V6, MTU, PATHMTU = socket.IPPROTO_IPV6, 24, 61
IP, MTU_DISCOVER, RECVERR, RECVERR_RFC4884 = socket.IPPROTO_IP, 10, 11, 26
DONT, WANT, DO = range(3)
DONTWAIT = socket.MSG_DONTWAIT
ERRQUEUE = socket.MSG_ERRQUEUE | DONTWAIT
STAMPING, TX_SOFTWARE, SOFTWARE, TSONLY = 37, 1 << 1, 1 << 4, 1 << 11
UNREACHABLE, TIME_EXCEEDED, PROBLEM = 3, 11, 12
HERE, THERE = "192.0.2.1", "192.0.2.2"
PEER = "::ffff:" + THERE
PORT = 7600


def setup():
    p.setup()
    for ns, dev, address in ((p.A, "a0", HERE), (p.B, "b0", THERE)):
        ns.ip("addr", "add", address + "/24", "dev", dev)


def both(function):
    """Registers a test: function(maker) gives the same on both stacks."""
    def compare():
        results = []
        for make in (p.native, p.net6):
            p.A.ip("route", "flush", "cache")
            results.append(function(lambda *kind, m=make: blocking(m(*kind))))
        ktap.equal(results[1], results[0], function.__name__)
    ktap.test(function.__name__.replace("_", " "))(compare)
    return function


def blocking(sock):
    """Python would wait for what is not there even if MSG_DONTWAIT says not to."""
    sock.settimeout(None)
    return sock


def peer():
    """Somebody to talk to: as long as he listens no error comes of itself."""
    with p.B:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(10 * ktap.SCALE)
    sock.bind((THERE, PORT))
    return sock


def tell(sock, kind, code, info=0, extension=b""):
    """B tells of an error with a datagram of the socket's; @info: bytes 4 to 7."""
    datagram = struct.pack("!HHHH", sock.getsockname()[1], PORT, 8 + 120, 0) + bytes(range(120))
    quoted = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 1, 0x4000, 64, 17, 0,
                         socket.inet_aton(HERE), socket.inet_aton(THERE))
    body = struct.pack("!BBHI", kind, code, 0, info) + quoted + datagram + extension
    body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
    with p.B, socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.sendto(body, (HERE, 0))


def wait_error(sock):
    poll = select.poll()
    poll.register(sock, 0)
    return [what for _, what in poll.poll(10000 * ktap.SCALE)]


def queued(sock):
    """All that is in the error queue."""
    found = []
    while True:
        told = failing(sock.recvmsg, 2000, 1000, ERRQUEUE)
        if told == "EAGAIN":
            return found
        found.append(told)


def mtus(sock):
    return failing(sock.getsockopt, V6, MTU), failing(sock.getsockopt, V6, PATHMTU, 32)


@both
def the_mtu_of_a_connected_socket_is_its_paths(make):
    with peer(), make() as s:
        out = [mtus(s)]
        s.connect((PEER, PORT))
        out.append(mtus(s))
        tell(s, UNREACHABLE, 4, 1400)
        out += [wait_error(s), mtus(s), failing(s.recv, 10, DONTWAIT), failing(s.recv, 10, DONTWAIT)]
        out += [failing(s.send, bytes(1372)), failing(s.send, bytes(1373))]
        s.setsockopt(IP, MTU_DISCOVER, DO)
        out += [failing(s.send, bytes(1372)), failing(s.send, bytes(1373))]
        return out


@both
def who_wants_no_path_mtu_is_told_nothing(make):
    with peer(), make() as s:
        s.setsockopt(IP, MTU_DISCOVER, DONT)
        s.connect((PEER, PORT))
        tell(s, UNREACHABLE, 4, 1300)
        ktap.wait_for(10, "the path has its MTU", lambda: s.getsockopt(V6, MTU) == 1300)
        return [failing(s.recv, 10, DONTWAIT), failing(s.send, bytes(1400))]


ERRORS = ((UNREACHABLE, 4, 1400), (UNREACHABLE, 1, 0), (UNREACHABLE, 3, 0), (UNREACHABLE, 13, 0),
          (UNREACHABLE, 77, 0), (TIME_EXCEEDED, 0, 0), (PROBLEM, 0, 7 << 24))
SOFT = ((UNREACHABLE, 1), (UNREACHABLE, 77), (TIME_EXCEEDED, 0))


@both
def hard_errors_are_told_to_connected_sockets(make):
    out = []
    for kind, code, info in ERRORS:
        with peer(), make() as s:
            s.connect((PEER, PORT))
            tell(s, kind, code, info)
            if (kind, code) in SOFT:
                tell(s, UNREACHABLE, 2)		# what is heard instead
            out += [(kind, code), wait_error(s), failing(s.recv, 10, DONTWAIT)]
    return out


@both
def the_error_queue_has_ICMP_errors(make):
    out = []
    for connected in (True, False):
        for kind, code, info in ERRORS:
            with peer(), make() as s:
                for option in (RECVERR, RECVERR_RFC4884):
                    out += [failing(s.setsockopt, IP, option, 1), failing(s.getsockopt, IP, option)]
                s.setsockopt(V6, socket.IPV6_RECVPKTINFO, 1)
                if connected:
                    s.connect((PEER, PORT))
                else:
                    s.sendto(b"x", (PEER, PORT))
                tell(s, kind, code, info)
                if code == 77:
                    tell(s, UNREACHABLE, 2)	# what is heard instead
                out += [(kind, code), wait_error(s), failing(s.recv, 10, DONTWAIT), queued(s),
                        failing(s.recv, 10, DONTWAIT)]
                if info:
                    tell(s, kind, code, info)
                    out += [wait_error(s), s.setsockopt(IP, RECVERR, 0), queued(s)]
    return out


@both
def the_error_queue_has_what_was_refused_here(make):
    out = []
    for early in (True, False):
        with peer(), make() as s:
            if early:
                s.setsockopt(IP, RECVERR, 1)
            s.sendto(b"x", (PEER, PORT))
            s.setsockopt(IP, RECVERR, 1)
            s.setsockopt(IP, MTU_DISCOVER, DO)
            out += [failing(s.sendto, bytes(3000), (PEER, PORT)), wait_error(s), queued(s)]
            s.connect((PEER, PORT))
            out += [failing(s.send, bytes(4000)), wait_error(s), queued(s),
                    failing(s.recv, 10, DONTWAIT)]
    return out


@both
def the_error_queue_has_the_time_of_departure(make):
    """Asked for with one datagram; and one leaves when its socket has gone."""
    out = []
    asked = [(socket.SOL_SOCKET, STAMPING, struct.pack("=I", TX_SOFTWARE))]
    with peer() as far, make() as s:
        s.setsockopt(socket.SOL_SOCKET, STAMPING, SOFTWARE | TSONLY)
        out.append(s.sendmsg([b"x"], asked, 0, (PEER, PORT)))
        wait_error(s)
        out += [[(level, kind, len(body)) for level, kind, body in told[1]] for told in queued(s)]
        ktap.kmod("sch_netem")
        p.A.run("tc", "qdisc", "add", "dev", "a0", "root", "netem", "delay", "300ms")
        out += [far.recv(10), s.sendmsg([b"late"], asked, 0, (PEER, PORT)), s.close(),
                far.recv(10)]
        p.A.run("tc", "qdisc", "del", "dev", "a0", "root")
    return out


@both
def a_cork_from_before_the_first_datagram_holds(make):
    out = []
    with peer() as far, make() as s:
        s.setsockopt(17, 1, 1)
        s.connect((PEER, PORT))
        out += [s.send(b"three "), s.send(b"four")]
        out.append(select.select([far], [], [], 0)[0])
        s.setsockopt(17, 1, 0)
        out.append(far.recv(100))
    with peer() as far, make() as s:
        s.setsockopt(17, 1, 1)
        out += [s.sendto(b"five ", (PEER, PORT)), s.sendto(b"six", (PEER, PORT))]
        s.setsockopt(17, 1, 0)
        out.append(far.recv(100))
    return out


@both
def the_unspecified_address_is_this_host(make):
    """By IPv4 for who is bound to an address of IPv4."""
    out = []
    for address in (HERE, "127.0.0.1", "0.0.0.0"):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with p.A, socket.socket(socket.AF_INET, kind) as far:
                far.settimeout(10 * ktap.SCALE)
                far.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                far.bind(("0.0.0.0", PORT))
                if kind == socket.SOCK_STREAM:
                    far.listen()
                with make(kind) as s:
                    s.bind(("::ffff:" + address, 0))
                    out += [failing(s.connect, ("::", PORT)), failing(s.getpeername),
                            s.getsockname()[0]]
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with p.A, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far, \
                make(socket.SOCK_DGRAM) as s:
            far.settimeout(10 * ktap.SCALE)
            far.bind(("0.0.0.0", PORT))
            s.bind(("::ffff:" + address, 0))
            out += [failing(s.sendto, b"x", ("::", PORT)), far.recvfrom(10)[1][0]]
    return out


@both
def what_is_told_of_a_datagram(make):
    """RFC 2292's options are for IPv6 alone."""
    with make() as s:
        s.setsockopt(V6, 2, 1)		# IPV6_2292PKTINFO
        s.bind(("::", PORT))
        with p.B, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
            far.sendto(b"x", (HERE, PORT))
        out = [s.recvmsg(10, 1000)[:3]]
        s.setsockopt(V6, socket.IPV6_RECVPKTINFO, 1)
        with p.B, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
            far.sendto(b"x", (HERE, PORT))
        return out + [s.recvmsg(10, 1000)[:3]]


ktap.main(setup=setup)
