#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Anycast addresses: who may join them, how they are asked for (RFC 4861 7.2.7), that they
# are never a source, how long they stay. Then the subnet-router anycast addresses of a
# router (RFC 4291 2.6.1).
#
#	A [a0 net6 2001:db8:1::a] ------ [b0 raw frames] B
# guest: stock+
# timeout: 120

import errno
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import answers
import ktap
import nd

OURS, ANYCAST, FAR = "2001:db8:1::a", "2001:db8:1::77", "2001:db8:2::77"
PEER = "2001:db8:1::b"
JOIN, LEAVE = 27, 28
UNREACHABLE, NO_PORT = 1, 4
A, B, wire = nd.ends()


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.net6ctl(B, "detach", "dev", "b0")
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")
    nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
    nd.linklocal(A)
    nd.net6ctl(A, "add", "neighbor", PEER, "lladdr", wire.mac, "dev", "a0")


def index(dev="a0"):
    with A:
        return socket.if_nametoindex(dev)


def udp():
    return ktap.net6_socket(socket.SOCK_DGRAM, ns=A)


def change(sock, what, address, ifindex):
    sock.setsockopt(socket.IPPROTO_IPV6, what, nd.packed(address) + struct.pack("=i", ifindex))


def joined(address=ANYCAST):
    sock = udp()
    change(sock, JOIN, address, index())
    return sock


def users(address=ANYCAST):
    """How many have joined an anycast address; 0: nobody."""
    return sum(e["users"] for e in nd.show(A, "groups")
               if e["type"] == "anycast" and nd.same(e["address"], address))


def ask(source=PEER, target=ANYCAST):
    wire.send(nd.ns(source, target, slla=wire.mac))


def advert(source=PEER, target=ANYCAST):
    return lambda f: f.type == nd.NA and f.target == target and f.dest == source


def barrier():
    """What was sent before has been dealt with."""
    wire.expect(nd.replies(nd.ping(wire, PEER, OURS)), "echo reply")


@ktap.test
def who_may_join_what():
    with udp() as sock:
        for wanted, address, ifindex in (
                (errno.EINVAL, "ff02::77", index()), (errno.EINVAL, OURS, index()),
                (errno.EINVAL, "::", index()), (errno.EINVAL, "::ffff:1.2.3.4", index()),
                (errno.EADDRNOTAVAIL, FAR, index()), (errno.EADDRNOTAVAIL, FAR, 0),
                (errno.ENODEV, ANYCAST, 4711)):
            ktap.raises(wanted, change, sock, JOIN, address, ifindex)
        ktap.raises(errno.ENOENT, change, sock, LEAVE, ANYCAST, index())
        ktap.raises(errno.EINVAL, sock.setsockopt, socket.IPPROTO_IPV6, JOIN, bytes(19))
        ktap.equal(users() + users(FAR), 0, "users")
    a0 = index()
    pid = os.fork()
    if not pid:
        try:
            with A:
                sock = socket.socket(ktap.AF_NET6, socket.SOCK_DGRAM)
                os.setuid(65534)
                change(sock, JOIN, ANYCAST, a0)
                os._exit(0)
        except OSError as error:
            os._exit(error.errno)
        os._exit(255)
    ktap.equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), errno.EPERM, "without the right")


@ktap.test
def joined_as_often_as_left():
    with udp() as one, ktap.net6_socket(socket.SOCK_STREAM, ns=A) as two:
        change(one, JOIN, ANYCAST, index())
        change(one, JOIN, ANYCAST, 0)
        change(two, JOIN, ANYCAST, 0)
        ktap.equal(users(), 3, "users")
        group = nd.solicited_node(ANYCAST)
        ktap.true(nd.find(A, "groups", group), "solicited-node group")
        change(one, LEAVE, ANYCAST, index())
        change(one, LEAVE, ANYCAST, 0)
        ktap.raises(errno.ENOENT, change, one, LEAVE, ANYCAST, 0)
        ktap.equal(users(), 1, "users")
        barrier()
        ask()
        wire.expect(advert(), "advertisement")
    ktap.wait_for(5, "nobody has it any more", lambda: not users())
    ktap.true(not nd.find(A, "groups", group), "left the solicited-node group")
    before = nd.drops(A)["ND_IGNORED"]
    ask()
    wire.silence(advert(), "answered for afterwards", 1.2)
    ktap.equal(nd.drops(A)["ND_IGNORED"] - before, 0, "it is not even heard")


@ktap.test
def advertisements_come_late_and_override_nothing():
    with joined():
        for number in range(3):
            ask()
            frame = wire.expect(advert(), "advertisement")
            ktap.equal((frame.source, frame.flags, frame.hlim, frame.checksum_good(),
                        frame.option(nd.TLLA)),
                       (OURS, nd.SOLICITED, 255, True, nd.mac_bytes(wire.peer)),
                       f"advertisement {number}")


answers.tests(lambda: answers.Here(A, wire, OURS, PEER, ANYCAST, joined))


@ktap.test
def never_a_source():
    with joined() as sock:
        wire.send(nd.echo(PEER, ANYCAST, 900))
        frame = wire.expect(lambda f: f.type == nd.REPLY and f.seq == 900, "echo reply")
        ktap.equal((frame.source, frame.checksum_good()), (OURS, True), "echo reply")
        datagram = struct.pack("!HHHH", 1000, 4711, 12, 0) + b"anyc"
        value = nd.checksum(PEER, ANYCAST, 17, datagram)
        datagram = datagram[:6] + struct.pack("!H", value) + datagram[8:]
        wire.send(nd.ipv6(PEER, ANYCAST, 17, datagram, 64))
        frame = wire.expect(lambda f: f.type == UNREACHABLE, "error")
        ktap.equal((frame.code, frame.source), (NO_PORT, OURS), "no socket for the port")
        with udp() as server:
            server.bind(("::", 4711))
            server.settimeout(5 * ktap.SCALE)
            wire.send(nd.ipv6(PEER, ANYCAST, 17, datagram, 64))
            data, sender = server.recvfrom(100)
            ktap.equal((data, sender[0]), (b"anyc", PEER), "received")
            server.sendto(b"back", sender)
            frame = wire.expect(lambda f: f.proto == 17, "answer")
            ktap.equal((frame.source, frame.dest), (OURS, PEER), "answer")
        ktap.raises(errno.EADDRNOTAVAIL, sock.bind, (ANYCAST, 0))
        info = nd.packed(ANYCAST) + struct.pack("=i", 0)
        ktap.raises(errno.EINVAL, sock.sendmsg, [b"x"],
                    [(socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, info)], 0, (PEER, 9))


@ktap.test
def no_connections():
    before = nd.drops(A)["NO_SOCKET"]
    with joined(), ktap.net6_socket(socket.SOCK_STREAM, ns=A) as server:
        server.bind(("::", 80))
        server.listen(1)
        segment = struct.pack("!HHIIBBHHH", 1000, 80, 1, 0, 0x50, 2, 1000, 0, 0)
        value = nd.checksum(PEER, ANYCAST, 6, segment)
        wire.send(nd.ipv6(PEER, ANYCAST, 6, segment[:16] + struct.pack("!H", value)
                          + segment[18:], 64))
        barrier()
        ktap.true(not any(f.proto == 6 for f in wire.seen), "no segment comes back")
    ktap.equal(nd.drops(A)["NO_SOCKET"] - before, 1, "dropped")


@ktap.test
def our_own_packets_to_it():
    with joined(), udp() as server, udp() as client:
        server.bind(("::", 4712))
        server.settimeout(5 * ktap.SCALE)
        client.sendto(b"self", (ANYCAST, 4712))
        data, sender = server.recvfrom(100)
        ktap.equal((data, sender[0]), (b"self", OURS), "received")


@ktap.test
def a_unicast_address_of_the_same_bits_goes_before():
    with joined():
        nd.net6ctl(A, "add", "address", ANYCAST + "/64", "dev", "a0")
        ktap.equal(nd.find(A, "addresses", ANYCAST)["state"], "preferred", "state")
        ask()
        ktap.equal(wire.expect(advert(), "advertisement").flags, nd.SOLICITED | nd.OVERRIDE,
                   "flags of a unicast address")
        nd.net6ctl(A, "del", "address", ANYCAST, "dev", "a0")
        ask()
        ktap.equal(wire.expect(advert(), "advertisement").flags, nd.SOLICITED, "anycast again")


@ktap.test
def a_router_has_its_subnets_anycast_addresses():
    ktap.equal(users("2001:db8:1::"), 0, "a host")
    nd.net6ctl(A, "set", "dev", "a0", "forwarding", "on")
    ktap.equal((users("2001:db8:1::"), users("fe80::")), (1, 1), "a router")
    ask(target="2001:db8:1::")
    frame = wire.expect(advert(target="2001:db8:1::"), "advertisement")
    ktap.equal((frame.source, frame.flags), (OURS, nd.SOLICITED | nd.ROUTER), "advertisement")
    wire.send(nd.echo(PEER, "2001:db8:1::", 901))
    frame = wire.expect(lambda f: f.type == nd.REPLY and f.seq == 901, "echo reply")
    ktap.equal(frame.source, OURS, "from")
    for address in ("2001:db8:1::aa/64", "2001:db8:3::1/127", "2001:db8:4::2/126"):
        nd.net6ctl(A, "add", "address", address, "dev", "a0")
    ktap.equal((users("2001:db8:1::"), users("2001:db8:3::"), users("2001:db8:4::")), (2, 0, 1),
               "of two addresses in one subnet; of a link between two routers (RFC 6164); of /126")
    nd.net6ctl(A, "del", "address", "2001:db8:1::aa", "dev", "a0")
    ktap.equal(users("2001:db8:1::"), 1, "one address is left")
    with joined(FAR):
        ktap.equal(users(FAR), 1, "a router may have those of other subnets")
    nd.net6ctl(A, "set", "dev", "a0", "forwarding", "off")
    ktap.equal([users(a) for a in ("2001:db8:1::", "fe80::", "2001:db8:4::")], [0, 0, 0],
               "a host again")
    wire.send(nd.echo(PEER, "2001:db8:1::", 902))
    barrier()
    ktap.true(not any(f.type == nd.REPLY and f.seq == 902 for f in wire.seen), "no answer")


@ktap.test
def the_link_and_the_interface_go():
    one, two = joined(), joined()
    A.down("a0")
    ktap.equal(users(), 2, "the link is down")
    A.up("a0")
    nd.linklocal(A)
    nd.net6ctl(A, "add", "neighbor", PEER, "lladdr", wire.mac, "dev", "a0")
    ask()
    wire.expect(advert(), "advertisement")
    for _ in range(3):
        for number in range(8):
            ask(f"2001:db8:1::d:{number:x}")
        nd.net6ctl(A, "detach", "dev", "a0")
        nd.net6ctl(A, "attach", "dev", "a0")
    ktap.equal(users(), 0, "the interface is another")
    change(one, LEAVE, ANYCAST, 0)
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")
    nd.net6ctl(A, "add", "address", OURS + "/64", "dev", "a0")
    change(one, JOIN, ANYCAST, 0)
    two.close()
    ktap.equal(users(), 1, "who closes leaves what it has joined")
    one.close()


ktap.main(setup=setup)
