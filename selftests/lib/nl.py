# SPDX-License-Identifier: GPL-2.0
"""A generic netlink client that says whatever a test wants said, right or wrong, to
the family of net6. Numbers come from the YAML specification.

    family = nl.Family()
    family.dump("addr-get")                   -> list of {name: value}
    family.do("addr-del", ifindex=3, address=nl.address("fe80::1"))
    family.request("flush", raw_attribute_bytes)
"""

import errno
import os
import socket
import struct

import yaml

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
with open(os.path.join(TOP, "Documentation/netlink/specs/net6.yaml"),
          encoding="utf-8") as _file:
    SPEC = yaml.load(_file, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _named(spec):
    """"all-settings" becomes the names that it stands for, as scripts/netlink-gen takes it."""
    names = {s["name"]: [a["name"] for a in s["attributes"] if "setting" in a]
             for s in spec["attribute-sets"]}
    for op in spec["operations"]["list"]:
        for way in (w for kind in ("do", "dump") if kind in op for w in op[kind].values()):
            listed = way.get("attributes", [])
            if "all-settings" in listed:
                way["attributes"] = [n for n in listed if n != "all-settings"] + \
                    names[op["attribute-set"]]


_named(SPEC)

REQUEST, MULTI, ACK, DUMP = 1, 2, 4, 0x300
DUMP_INTR = 0x10
NLMSG_ERROR, NLMSG_DONE = 2, 3
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 0x10, 3
SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, NETLINK_EXT_ACK = 270, 1, 11


class Refused(OSError):
    """What the kernel answered, with its own words."""

    def __init__(self, number, words, bad_offset):
        super().__init__(number, words or os.strerror(number))
        self.words = words
        self.bad_offset = bad_offset


def address(text):
    return socket.inet_pton(socket.AF_INET6, text)


def attribute(kind, data, length=None):
    """One attribute; a wrong length can be given."""
    if isinstance(data, int):
        data = struct.pack("=I", data & 0xffffffff)
    raw = struct.pack("=HH", 4 + len(data) if length is None else length, kind) + data
    return raw + b"\0" * (-len(raw) % 4)


def attributes(raw):
    """(type, payload) of a run of attributes, and the end of what makes sense."""
    at = 0
    while at + 4 <= len(raw):
        length, kind = struct.unpack_from("=HH", raw, at)
        if length < 4 or at + length > len(raw):
            break
        yield kind & 0x3fff, raw[at + 4:at + length]
        at += (length + 3) & ~3


class Family:
    """A socket to the family; namespace and rights are those of its maker. Of another family
    than net6's there are no names: request() takes numbers and bytes.
    """

    def __init__(self, name="net6"):
        self.sets = {s["name"]: s["attributes"] for s in SPEC["attribute-sets"]}
        self.ops = SPEC["operations"]["list"]
        self.cmds = {op["name"]: n for n, op in enumerate(self.ops, 1)}
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.settimeout(30)
        self.sock.bind((0, 0))
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.seq = 0
        self.id, self.monitor_group = self._resolve(name)

    def close(self):
        self.sock.close()

    def _resolve(self, name):
        body = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0)
        body += attribute(2, name.encode() + b"\0")
        family = group = None
        for _, payload in self.exchange(GENL_ID_CTRL, ACK, body):
            for kind, data in attributes(payload[4:]):
                if kind == 1:
                    family = struct.unpack("=H", data)[0]
                elif kind == 7:
                    for _, nested in attributes(data):
                        found = dict(attributes(nested))
                        group = struct.unpack("=I", found[2])[0]
        return family, group

    def exchange(self, kind, flags, body):
        """Sends one message; yields (flags, payload) of the answers."""
        self.seq += 1
        self.sock.send(struct.pack("=IHHII", 16 + len(body), kind, REQUEST | flags,
                                   self.seq, 0) + body)
        return self.answers(self.seq)

    def answers(self, seq):
        while True:
            raw = self.sock.recv(1 << 20)
            at = 0
            while at + 16 <= len(raw):
                length, kind, flags, got, _ = struct.unpack_from("=IHHII", raw, at)
                payload = raw[at + 16:at + length]
                at += (length + 3) & ~3
                if got != seq:
                    continue
                if kind == NLMSG_DONE:
                    self._refused(struct.unpack_from("=i", payload)[0], b"", 0)
                    return
                if kind == NLMSG_ERROR:
                    number, inner = struct.unpack_from("=iI", payload)
                    capped = flags & 0x100
                    tlvs = payload[20 if capped else 4 + inner:] if flags & 0x200 else b""
                    self._refused(number, tlvs, inner)
                    return
                yield flags, payload

    @staticmethod
    def _refused(number, tlvs, _):
        if not number:
            return
        found = dict(attributes(tlvs))
        words = found.get(1, b"").rstrip(b"\0").decode()
        offset = struct.unpack("=I", found[2])[0] if 2 in found else None
        raise Refused(-number, words, offset)

    def _set(self, op):
        return self.sets[self.ops[self.cmds[op] - 1]["attribute-set"]]

    def encode(self, op, **values):
        numbers = {a["name"]: n for n, a in enumerate(self._set(op), 1)}
        return b"".join(attribute(numbers[name.replace("_", "-")], value)
                        for name, value in values.items())

    def decode(self, op, raw):
        known = self._set(op)
        out = {}
        for kind, data in attributes(raw):
            attr = known[kind - 1]
            if attr["type"] == "u32":
                data = struct.unpack("=I", data)[0]
            elif attr["type"] == "s32":
                data = struct.unpack("=i", data)[0]
            elif attr["type"] == "u64":
                data = struct.unpack("=Q", data)[0]
            elif attr["type"] == "string":
                data = data.rstrip(b"\0").decode()
            elif attr.get("display-hint") == "ipv6":
                data = socket.inet_ntop(socket.AF_INET6, data)
            out[attr["name"]] = data
        return out

    def request(self, op, raw=b"", flags=ACK, version=1, reserved=0):
        """Any command number or name with any bytes behind it."""
        cmd = self.cmds[op] if isinstance(op, str) else op
        body = struct.pack("=BBH", cmd, version, reserved) + raw
        return list(self.exchange(self.id, flags, body))

    def do(self, op, **values):
        return [self.decode(op, payload[4:])
                for _, payload in self.request(op, self.encode(op, **values))]

    def dump(self, op, **values):
        return [self.decode(op, payload[4:])
                for _, payload in self.request(op, self.encode(op, **values), DUMP)]

    def join(self):
        self.sock.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, self.monitor_group)

    def event(self, seconds):
        """(operation, attributes) of the next notification, None after a while."""
        self.sock.settimeout(seconds)
        try:
            raw = self.sock.recv(1 << 20)
        except socket.timeout:
            return None
        except OSError as error:
            if error.errno == errno.ENOBUFS:
                return "lost", {}
            raise
        op = self.ops[raw[16] - 1]["name"]
        return op, self.decode(op, raw[20:])
