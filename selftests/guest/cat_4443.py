#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A host's catalogue, RFC 4443: echo sent and answered, errors that are sent, and those that
# must not be. One test a case, named by section. Time is virtual. Rows marked daily run
# in "make check", all with NET6_FULL.
#
#	A [a0 net6 fd00::6] ------ [b0 raw frames as fd00::b] B
#
# guest: stock+
# guest-options: --virtual-time
# timeout: 200

import os
import socket
import struct
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import catalogue
import ip
import ktap
import nd
from ip import (DEST, FRAGMENT, ICMP, OURS, PEER, UNREACH, fragment, ipv6, is_error, is_reply,
                options, udp_message)

GROUP = "ff02::1"
TELL = bytes([0x9e, 4]) + bytes(4)	# an option that nobody knows (RFC 4727 6), to be told of
SITE = ("fec0::6", "fec0::b")		# RFC 3879: as any other unicast address
row = catalogue.rows(4443)
shared = types.SimpleNamespace(seq=1)	# of the last request; mine, say: link-local addresses


def setup():
    ip.setup()
    shared.mine, shared.say = nd.linklocal(ip.A), ip.wire.linklocal
    nd.net6ctl(ip.A, "add", "address", SITE[0] + "/64", "dev", "a0")
    for neighbor in (shared.say, SITE[1]):
        nd.net6ctl(ip.A, "add", "neighbor", neighbor, "lladdr", ip.wire.mac, "dev", "a0")
    ktap.wait_for(15, SITE[0] + " is preferred",
                  lambda: (nd.find(ip.A, "addresses", SITE[0]) or {}).get("state") == "preferred")


def request(source, dest, data=b"net6"):
    shared.seq += 1
    return ipv6(source, dest, ICMP, ip.echo_message(source, dest, data, shared.seq), 64)


def about(frame):
    return is_reply(frame) or is_error(frame)


def silent(*packets, seconds=1, mac=None):
    ip.tokens()
    ip.wire.flush()
    for packet in packets:
        ip.wire.send(packet, mac=mac)
    ip.wire.silence(about, "an answer", seconds)
    ip.alive()


def echo_sent():
    """4.1: code 0, an identifier and a sequence number of the sender's, its data."""
    with ktap.net6_socket(socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6, ip.A) as sock:
        ip.wire.flush()
        sock.sendto(bytes([nd.ECHO, 0, 0, 0, 0, 0, 1, 2]) + b"abcde", (PEER, 0))
        sent = ip.wire.expect(lambda f: f.type == nd.ECHO, "echo request")
        ktap.equal((sent.source, sent.dest, sent.code, sent.seq, sent.payload[8:]),
                   (OURS, PEER, 0, 258, b"abcde"), "request")
        ktap.true(sent.checksum_good(), "checksum")
        message = bytes([nd.REPLY]) + sent.payload[1:2] + bytes(2) + sent.payload[4:]
        value = nd.checksum(PEER, OURS, ICMP, message)
        ip.wire.send(ipv6(PEER, OURS, ICMP, message[:2] + struct.pack("!H", value) + message[4:]))
        sock.settimeout(10 * ktap.SCALE)
        ktap.equal(sock.recv(100)[8:], b"abcde", "data of the reply")


def echo_answered(source, dest, answer=None):
    """4.2: from the destination of the request, or for a group from an address of ours."""
    data = bytes(range(77))
    ip.wire.flush()
    ip.wire.send(request(source, dest, data))
    reply = ip.wire.expect(is_reply, "reply")
    ktap.equal((reply.source, reply.dest, reply.code, reply.seq),
               (answer or dest, source, 0, shared.seq), "reply")
    ktap.equal(reply.payload[4:6], struct.pack("!H", 77), "identifier")
    ktap.equal(reply.payload[8:], data, "data")
    ktap.true(reply.checksum_good(), "checksum")


def echo_not_ours(dest):
    silent(request(PEER, dest), mac=ip.wire.peer)


def datagram(source=PEER, dest=OURS):
    return ipv6(source, dest, ip.UDP, udp_message(source, dest, 5555, 9), 64)


def port_unreachable():
    ip.tokens()
    packet = datagram()
    ip.wire.flush()
    ip.wire.send(packet)
    error = ip.wire.expect(is_error, "error")
    ktap.equal((error.type, error.code, error.source, error.dest), (UNREACH, 4, OURS, PEER),
               "type, code, addresses")
    ktap.equal(error.payload[4:8], bytes(4), "unused octets")
    ktap.equal(error.payload[8:], packet, "what is quoted")
    ktap.true(error.checksum_good(), "checksum")


def told(packet, code, pointer):
    ip.tokens()
    ip.expect_problem(packet, code, pointer, "it")


def unknown_next(source=PEER, dest=OURS):
    return ipv6(source, dest, 254, b"12345678", 64)


def unknown_option(source=PEER, dest=OURS):
    return ipv6(source, dest, DEST, options(ICMP, TELL)
                + ip.echo_message(source, dest), 64)


def cut_fragment(source=PEER, dest=OURS):
    """Not the last, and no multiple of 8 octets long."""
    return ipv6(source, dest, FRAGMENT, fragment(ICMP, 0, True, shared.seq)
                + ip.echo_message(source, dest, bytes(5)), 64)


def first_fragment(source=PEER, dest=OURS):
    return ipv6(source, dest, FRAGMENT, fragment(ICMP, 0, True, shared.seq + 1000)
                + ip.echo_message(source, dest, bytes(8)), 64)


def unknown_informational():
    for kind in (200, 201, 254):
        silent(nd.icmp(PEER, OURS, kind, bytes(12), hlim=64))


def reassembly_fails(source, dest):
    silent(first_fragment(source, dest), seconds=70)


row("4.1", "an echo request is sent as the RFC says", echo_sent, daily=True)
row("4.2", "echo to a link-local address is answered",
    lambda: echo_answered(shared.say, shared.mine))
row("4.2", "echo to a global address is answered", echo_answered, PEER, OURS, daily=True)
row("4.2", "echo to a group is answered from a unicast address",
    lambda: echo_answered(shared.say, GROUP, shared.mine))
row("4.2", "echo to the unspecified address is not answered", echo_not_ours, "::")
row("4.2", "echo to the loopback address from the wire is not answered", echo_not_ours, "::1")
row("4.2", "echo to a site-local address is answered", echo_answered, SITE[1], SITE[0])

row("3.1", "a datagram to a closed port is told of", port_unreachable, daily=True)
row("3.1", "a datagram for a group to a closed port is not",
    lambda: silent(datagram(dest=GROUP)))
row("3.4", "an erroneous header field is told of: payload length of a fragment",
    lambda: told(cut_fragment(), 0, 4), daily=True)
row("3.4", "an erroneous header field is told of: fragment offset",
    lambda: told(ipv6(PEER, OURS, FRAGMENT, fragment(ICMP, 65528, False, 5001) + bytes(16), 64),
                 0, 42))
row("3.4", "an unrecognised next header is told of", lambda: told(unknown_next(), 1, 6))
row("2.4 (b)", "an informational message of unknown type is discarded", unknown_informational)

row("2.4 (e.3)", "to a group: no error about a closed port", lambda: silent(datagram(dest=GROUP)))
row("2.4 (e.3)", "to a group: no error about a packet that does not come whole",
    reassembly_fails, PEER, GROUP)
row("2.4 (e.3)", "to a group: no error about an erroneous header field",
    lambda: silent(cut_fragment(dest=GROUP)), daily=True)
for person, address in (("the unspecified address", "::"), ("a group", "ff02::2")):
    row("2.4 (e.6)", f"from {person}: no error about a closed port",
        lambda a=address: silent(datagram(a)), daily=True)
    row("2.4 (e.6)", f"from {person}: no error about a packet that does not come whole",
        reassembly_fails, address, OURS)
    row("2.4 (e.6)", f"from {person}: no error about an unrecognised next header",
        lambda a=address: silent(unknown_next(a)))
    row("2.4 (e.6)", f"from {person}: no error about an unrecognised option",
        lambda a=address: silent(unknown_option(a)))
ktap.main(setup=lambda: catalogue.patiently(setup))
