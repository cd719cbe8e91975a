#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Frames with a priority but no VLAN (IEEE 802.1Q: VLAN identifier 0) are received as those
# without a tag, and answered without one. What belongs to a VLAN is left alone. VLAN 0
# is left alone, too, when somebody has made a device for it.
#
#	A [a0 net6 fd00::6] ------ [b0 raw frames as fd00::b] B		(lib/ip.py)
#	[a0.0: a VLAN device]
# guest: both
# timeout: 60
# guest-options: --kmemleak
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ip
import ktap
import nd
from ip import OURS, PEER


def tagged(packet, tag, mac=None):
    """Sends a frame with such a tag: priority in the upper 3 bits, VLAN in the lower 12."""
    ip.wire.sock.send(nd.mac_bytes(mac or ip.wire.peer) + nd.mac_bytes(ip.wire.mac)
                      + struct.pack("!HHH", 0x8100, tag, 0x86dd) + packet)


def echo(number):
    return ip.ipv6(PEER, OURS, ip.ICMP, ip.echo_message(seq=number), 64)


def answered(number, tag):
    ip.wire.flush()
    tagged(echo(number), tag)
    ip.wire.expect(lambda f: ip.is_reply(f) and f.seq == number, f"reply to tag {tag:#x}")


def unanswered(number, tag):
    """A later frame is answered, this one is not."""
    ip.wire.flush()
    tagged(echo(number), tag)
    ip.alive()
    ktap.true(not [f for f in ip.wire.seen if ip.is_reply(f) and f.seq == number],
              f"no reply to tag {tag:#x}")


@ktap.test
def a_priority_is_no_vlan():
    answered(1001, 5 << 13)
    answered(1002, 0)


@ktap.test
def a_group_hears_of_it_too():
    ip.wire.flush()
    tagged(nd.ns(PEER, OURS, nd.solicited_node(OURS), slla=ip.wire.mac), 6 << 13,
           nd.group_mac(nd.solicited_node(OURS)))
    ip.wire.expect(lambda f: f.type == nd.NA and f.target == OURS, "advertisement")


@ktap.test
def a_vlan_is_not_ours():
    unanswered(1003, 7)
    unanswered(1004, 5 << 13 | 7)


@ktap.test
def a_device_of_vlan_0_has_its_frames():
    ktap.kmod("8021q")
    ip.A.ip("link", "add", "link", "a0", "name", "a0.0", "type", "vlan", "id", "0")
    ip.A.up("a0.0")
    nd.net6ctl(ip.A, "detach", "dev", "a0.0")
    with ip.A, socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x86dd)) as tap:
        tap.bind(("a0.0", 0x86dd))
        tap.settimeout(10 * ktap.SCALE)
        unanswered(1005, 5 << 13)
        packet = echo(1006)
        tagged(packet, 5 << 13)
        while tap.recv(2000)[14:] != packet:
            pass
    ip.A.ip("link", "del", "a0.0")
    answered(1007, 5 << 13)


ktap.main(setup=ip.setup)
