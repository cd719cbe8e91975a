# SPDX-License-Identifier: GPL-2.0
"""Asks a name server for an IPv6 address; no more of DNS than that."""
import socket
import struct


def ask(server, name):
    """The first AAAA of the answer, "" if there is none."""
    query = struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"".join(
        bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0\0\x1c\0\1"
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.settimeout(10)
        sock.sendto(query, (server, 53))
        answer = sock.recv(2000)
    at = answer.find(b"\0\x1c\0\1", len(query))
    return socket.inet_ntop(socket.AF_INET6, answer[at + 10:at + 26]) if at > 0 else ""
