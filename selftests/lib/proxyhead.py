# SPDX-License-Identifier: GPL-2.0
"""Headers of the PROXY protocol: what a proxy says in front of a client's bytes."""

import os
import socket
import struct
import sys

sys.path.insert(0, os.path.dirname(__file__))
import ktap  # pylint: disable=wrong-import-position

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
PP2_TYPE_SSL = 0x20


def version1(client, port=1025):
    kind, server = ("TCP6", "2001:db8::2") if ":" in client else ("TCP4", "192.0.2.2")
    return f"PROXY {kind} {client} {server} {port} 80\r\n".encode()


def version2(client, port=1025, more=b"", command=0x21):
    v6 = ":" in client
    family, server = (socket.AF_INET6, "2001:db8::2") if v6 else (socket.AF_INET, "192.0.2.2")
    block = socket.inet_pton(family, client) + socket.inet_pton(family, server) + \
        struct.pack(">HH", port, 80) + more
    return SIGNATURE + struct.pack(">BBH", command, 0x21 if v6 else 0x11, len(block)) + block


def tlvs(data):
    """Type-length-values by type."""
    found = {}
    while data:
        kind, length = struct.unpack(">BH", data[:3])
        found[kind] = data[3:3 + length]
        data = data[3 + length:]
    return found


def announced(sock):
    """A header of version 2 from khttpd: the client, and what follows the addresses."""
    fixed = sock.recv(16, socket.MSG_WAITALL)
    ktap.equal(fixed[:14], SIGNATURE + b"\x21\x11", "version 2, TCP over IPv4")
    block = sock.recv(struct.unpack(">H", fixed[14:])[0], socket.MSG_WAITALL)
    client = socket.inet_ntoa(block[:4]), struct.unpack(">H", block[8:10])[0]
    ktap.equal(socket.inet_ntoa(block[4:8]), "127.0.0.1", "the server")
    return client, tlvs(block[12:])
