#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# With native IPv6 switched off at boot, net6 is the IPv6 of unmodified programs: AF_INET6
# sockets and ping between two namespaces, both on net6.
#
#	A [a0] ------ [b0] B	link-local addresses only
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 120
import json
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import fusefs
import ktap

CTL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/net6ctl")
A, B = ktap.later("A"), ktap.later("B")


def link_local(ns, dev):
    for entry in json.loads(ns.run(CTL, "-j", "show", "addresses", "dev", dev)):
        if entry["origin"] == "link-local" and entry["state"] == "preferred":
            return entry["address"]
    return None


def setup():
    try:
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close()
    except OSError:
        pass
    else:
        raise ktap.Fail("native IPv6 is on")
    ktap.net6_load()
    ktap.veth(A, "a0", B, "b0")
    for ns, dev in ((A, "a0"), (B, "b0")):
        ktap.wait_for(15, "link-local address", lambda n=ns, d=dev: link_local(n, d))


def make(ns, kind=socket.SOCK_DGRAM):
    with ns:
        s = socket.socket(socket.AF_INET6, kind)
    s.settimeout(10 * ktap.SCALE)
    return s


@ktap.test
def the_socket_is_net6s():
    with A:
        names = [line.split()[0] for line in
                 ktap.run("cat", "/proc/net/protocols").splitlines()]
    ktap.true("NET6-UDP" in names, "protocol registered")
    s = make(A)
    ktap.equal(s.getsockopt(socket.SOL_SOCKET, 39), socket.AF_INET6, "SO_DOMAIN")


@ktap.test
def settings_have_both_names():
    other = ktap.Netns("S")
    for name, value in (("max_dst_opts_number", -3), ("max_hbh_opts_number", 5),
                        ("max_dst_opts_length", 64), ("max_hbh_length", 48),
                        ("ip6frag_high_thresh", 1 << 20), ("ip6frag_time", 30),
                        ("idgen_retries", 2), ("idgen_delay", 2), ("mld_qrv", 3),
                        ("fib_multipath_hash_policy", 1),
                        ("ip_nonlocal_bind", 1), ("anycast_src_echo_reply", 1),
                        ("icmp/echo_ignore_all", 1), ("icmp/echo_ignore_multicast", 1),
                        ("icmp/echo_ignore_anycast", 1), ("route/mtu_expires", 300)):
        with other:
            with open("/proc/sys/net/ipv6/" + name, "w", encoding="ascii") as file:
                file.write(str(value))
            with open("/proc/sys/net/net6/" + name, encoding="ascii") as file:
                ktap.equal(int(file.read()), value, name)


@ktap.test
def datagrams_go_both_ways():
    a, b = make(A), make(B)
    b.bind(("::", 7400))
    with A:
        zone = socket.if_nametoindex("a0")
    peer = (link_local(B, "b0"), 7400, 0, zone)
    for size in (0, 1, 1452, 1453, 20000):
        data = os.urandom(size)
        a.sendto(data, peer)
        got, who = b.recvfrom(70000)
        ktap.true(got == data, f"{size} bytes there")
        b.sendto(got, who)
        ktap.true(a.recv(70000) == data, f"{size} bytes back")


@ktap.test
def unmodified_ping_works():
    out = A.run("ping", "-6", "-c", "3", "-i", "0.2", "-W", "5", link_local(B, "b0") + "%a0")
    ktap.true("3 received" in out, out)
    out = A.run("ping", "-6", "-c", "1", "-W", "5", "::1")
    ktap.true("1 received" in out, out)


@ktap.test
def tcp_goes_through():
    server, client = make(B, socket.SOCK_STREAM), make(A, socket.SOCK_STREAM)
    server.bind(("::", 7401))
    server.listen()
    with A:
        zone = socket.if_nametoindex("a0")
    client.connect((link_local(B, "b0"), 7401, 0, zone))
    conn, who = server.accept()
    ktap.equal(who[0], link_local(A, "a0"), "peer")
    client.sendall(b"x" * 100000)
    client.shutdown(socket.SHUT_WR)
    got = b""
    while True:
        piece = conn.recv(65536)
        if not piece:
            break
        got += piece
    ktap.equal(len(got), 100000, "bytes")


def diag(sock):
    """TCP sockets by local port, with their struct tcp_info: what "ss -6ti" asks for."""
    info, seen = 2, {}
    request = struct.pack("=BBBBI48x", socket.AF_INET6, socket.IPPROTO_TCP, 1 << (info - 1), 0,
                          0xffffffff)
    sock.send(struct.pack("=IHHII", 16 + len(request), 20, 0x301, 1, 0) + request)
    while True:
        raw = sock.recv(1 << 20)
        while raw:
            length, kind = struct.unpack_from("=IH", raw)
            if kind != 20:
                ktap.equal(kind, 3, "the end of the dump")
                return seen
            port, at = struct.unpack_from("!H", raw, 20)[0], 16 + 72
            while at + 4 <= length:
                size, attr = struct.unpack_from("=HH", raw, at)
                if attr == info:
                    seen[port] = raw[at + 4:at + size]
                at += (size + 3) & ~3
            raw = raw[(length + 3) & ~3:]


@ktap.test
def a_sender_that_waits_for_its_memory_holds_up_no_ss():
    server, client = make(A, socket.SOCK_STREAM), make(A, socket.SOCK_STREAM)
    server.bind(("::1", 0))
    server.listen()
    client.connect(server.getsockname())
    with A:
        netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
    with netlink, server, client:
        seen = fusefs.ask_while_owned(client, lambda: diag(netlink))
        ktap.equal(seen[client.getsockname()[1]][0], 1, "state in the information")


@ktap.test
def it_cannot_be_unloaded_while_a_program_has_a_socket():
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        s = make(A, kind)
        out = ktap.run("rmmod", "net6", check=False)
        ktap.true("in use" in out, out)
        s.close()
    with A:
        zone = socket.if_nametoindex("a0")
    # A connection in TIME-WAIT has no socket any more and holds up nobody; the end of
    # the file unloads.
    server, client = make(B, socket.SOCK_STREAM), make(A, socket.SOCK_STREAM)
    server.bind(("::", 7402))
    server.listen()
    client.connect((link_local(B, "b0"), 7402, 0, zone))
    server.accept()[0].close()
    out = ktap.run("rmmod", "net6", check=False)
    ktap.true("in use" in out, out)
    client.close()
    server.close()


ktap.main(setup=setup)
