# SPDX-License-Identifier: GPL-2.0
"""MLD messages (RFC 2710, RFC 3810), written and read byte by byte."""

import ipaddress
import struct

import nd

QUERY, V1_REPORT, V1_DONE, REPORT = 130, 131, 132, 143
V2_ROUTERS = "ff02::16"
ALERT = bytes([58, 0, 5, 2, 0, 0, 1, 0])
TYPES = {1: "IS_IN", 2: "IS_EX", 3: "TO_IN", 4: "TO_EX", 5: "ALLOW", 6: "BLOCK"}


def message(source, dest, kind, body, hlim=1, alert=ALERT):
    """An MLD message; body is what follows the checksum."""
    icmp = struct.pack("!BBH", kind, 0, 0) + body
    value = nd.checksum(source, dest, 58, icmp) or 0xffff
    icmp = icmp[:2] + struct.pack("!H", value) + icmp[4:]
    return nd.ipv6(source, dest, 0 if alert else 58, alert + icmp, hlim)


def query(source, group="::", sources=(), delay=1000, robustness=2, interval=125, dest=None,
          **ip):
    body = struct.pack("!HH", delay, 0) + nd.packed(group) + struct.pack(
        "!BBH", robustness, interval, len(sources)) + b"".join(map(nd.packed, sources))
    dest = dest or (nd.ALL_NODES if group == "::" else group)
    return message(source, dest, QUERY, body, **ip)


def query_v1(source, group="::", delay=1000, **ip):
    dest = nd.ALL_NODES if group == "::" else group
    return message(source, dest, QUERY, struct.pack("!HH", delay, 0) + nd.packed(group), **ip)


def report_v1(source, group):
    return message(source, group, V1_REPORT, bytes(4) + nd.packed(group))


class Told:
    """What a frame says in MLD, or .type None. records: {group: [(type, {sources})]}."""

    def __init__(self, frame):
        self.frame, self.type, self.records = frame, None, {}
        if frame.proto or frame.payload[:8] != ALERT or frame.hlim != 1:
            return
        icmp = frame.payload[8:]
        if nd.checksum(frame.source, frame.dest, 58, icmp):
            return
        self.type = icmp[0]
        if self.type in (V1_REPORT, V1_DONE):
            self.group = str(ipaddress.IPv6Address(icmp[8:24]))
        if self.type == REPORT:
            left, at = struct.unpack("!H", icmp[6:8])[0], 8
            while left:
                kind, _, n = struct.unpack("!BBH", icmp[at:at + 4])
                group = str(ipaddress.IPv6Address(icmp[at + 4:at + 20]))
                sources = {str(ipaddress.IPv6Address(icmp[at + 20 + 16 * i:at + 36 + 16 * i]))
                           for i in range(n)}
                self.records.setdefault(group, []).append((TYPES[kind], sources))
                at += 20 + 16 * n
                left -= 1
            assert at == len(icmp), "length of the report"

    def of(self, group):
        """[(type, sources)] about a group; for MLDv1 the type alone."""
        if self.type in (V1_REPORT, V1_DONE):
            return [("v1", set())] if self.group == group else []
        return self.records.get(group, [])
