# SPDX-License-Identifier: GPL-2.0
"""L2TP that is offered a program's UDP socket."""

import ctypes
import errno
import socket
import struct

import ktap

AF_PPPOX, PX_PROTO_OL2TP = 24, 1


def connect(udp):
    """What connect() of an L2TP session over this socket says, None if it succeeds."""
    pppox = socket.socket(AF_PPPOX, socket.SOCK_DGRAM, PX_PROTO_OL2TP)
    address = struct.pack("=HIii", AF_PPPOX, PX_PROTO_OL2TP, 0, udp.fileno()) + \
        struct.pack("=H", socket.AF_INET) + struct.pack("!H", 7104) + \
        socket.inet_aton("127.0.0.1") + bytes(8) + struct.pack("=4H", 7, 0, 7, 0)
    with pppox:
        if not ktap._libc.connect(pppox.fileno(), address, len(address)):
            return None
        return errno.errorcode[ctypes.get_errno()]


def refused(*families):
    """By the sockets of these families; IPv4's is taken."""
    for family in families:
        with socket.socket(family, socket.SOCK_DGRAM) as udp:
            ktap.equal(connect(udp), "EBUSY", f"family {family}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 7105))
        udp.connect(("127.0.0.1", 7104))
        ktap.equal(connect(udp), None, "IPv4's")
