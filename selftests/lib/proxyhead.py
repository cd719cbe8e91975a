# SPDX-License-Identifier: GPL-2.0
"""Headers of the PROXY protocol: what a proxy says in front of a client's bytes."""

import socket
import struct

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def version1(client, port=1025):
    kind, server = ("TCP6", "2001:db8::2") if ":" in client else ("TCP4", "192.0.2.2")
    return f"PROXY {kind} {client} {server} {port} 80\r\n".encode()


def version2(client, port=1025, more=b"", command=0x21):
    v6 = ":" in client
    family, server = (socket.AF_INET6, "2001:db8::2") if v6 else (socket.AF_INET, "192.0.2.2")
    block = socket.inet_pton(family, client) + socket.inet_pton(family, server) + \
        struct.pack(">HH", port, 80) + more
    return SIGNATURE + struct.pack(">BBH", command, 0x21 if v6 else 0x11, len(block)) + block
