#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Routes by the thousand, with native IPv6 switched off. What is asked of one route costs the same
# with many others, in virtual time, where time is instructions. Who reads all of them in pieces
# finds each once, whatever comes and goes meanwhile.
#
#	A [a0 net6] ------ [b0 net6] B
#
# guest: stock
# guest-append: ipv6.disable=1
# guest-options: --virtual-time
# timeout: 300
import ipaddress
import itertools
import json
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

FEW, MANY, BATCHES, CALLS = 100, 20000, 8, 50
AF_INET6 = 10
NEWROUTE, DELROUTE, GETROUTE = 24, 25, 26
REQUEST, ACK, DUMP, CREATE, EXCL = 1, 4, 0x300, 0x400, 0x200
SOL_NETLINK, STRICT = 270, 12
DST, OIF, GATEWAY, PRIORITY, TABLE = 1, 4, 5, 6, 15
A, B = ktap.Netns("A"), ktap.Netns("B")
numbers = itertools.count(1)


def setup():
    ktap.net6_load()
    ktap.veth(A, "a0", B, "b0")
    A.ip("-6", "addr", "add", "fd00::a/64", "dev", "a0", "nodad")
    B.ip("-6", "addr", "add", "fd00::b/64", "dev", "b0", "nodad")


class Netlink:
    """Requests for routes, without a program in between."""

    def __init__(self, ns, strict=False):
        with ns:
            self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
            self.oif = socket.if_nametoindex("a0")
        self.sock.bind((0, 0))
        self.sock.setsockopt(SOL_NETLINK, STRICT, int(strict))

    def send(self, kind, flags, prefix=None, table=254, gateway=True, metric=1024):
        attrs, plen = b"", 0
        if prefix:
            address, plen = prefix
            attrs += struct.pack("=HH16s", 20, DST, address)
        if prefix and kind != GETROUTE:
            attrs += struct.pack("=HHI", 8, PRIORITY, metric)
            if gateway:
                attrs += struct.pack("=HH16s", 20, GATEWAY, socket.inet_pton(AF_INET6, "fd00::b"))
        if table > 255:
            attrs += struct.pack("=HHI", 8, TABLE, table)
        body = struct.pack("=8BI", AF_INET6, plen, 0, 0, table if table < 256 else 252, 3, 0,
                           0 if kind == GETROUTE else 1, 0) + attrs
        self.sock.send(struct.pack("=IHHII", 16 + len(body), kind, REQUEST | flags, 1, 0) + body)

    def ask(self, kind, flags, prefix, **words):
        self.send(kind, flags, prefix, **words)
        answer = self.sock.recv(8192)
        if struct.unpack_from("=H", answer, 4)[0] == 2:
            error = -struct.unpack_from("=i", answer, 16)[0]
            if error:
                raise OSError(error, os.strerror(error))

    def add(self, prefix, **words):
        self.ask(NEWROUTE, ACK | CREATE | EXCL, prefix, **words)

    def remove(self, prefix, **words):
        self.ask(DELROUTE, ACK, prefix, gateway=False, **words)

    def dump(self, table=254):
        """(table, destination, length, metric) of each route, a list for each message."""
        self.send(GETROUTE, DUMP, table=table)
        while True:
            found, done = [], False
            data = self.sock.recv(8192)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind == 3:
                    done = True
                elif kind == NEWROUTE:
                    found.append(parse(data[16:length]))
                data = data[(length + 3) & ~3:]
            yield found
            if done:
                return


def parse(message):
    plen, at, got = message[1], 12, {}
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        got[kind & 0x3fff] = message[at + 4:at + length]
        at += (length + 3) & ~3
    return (struct.unpack("=I", got[TABLE])[0], got.get(DST, bytes(16)), plen,
            struct.unpack("=I", got[PRIORITY])[0])


def prefix(number):
    """The first bits differ most: they are spread over the table."""
    spread = int(f"{number:032b}"[::-1], 2)
    return ipaddress.IPv6Address(0xfd10 << 112 | spread << 64).packed, 64


class Costs:
    """Of what is asked of one route."""

    def __init__(self, netlink):
        self.netlink = netlink
        self.there = prefix(next(numbers))
        netlink.add(self.there)

    def add_and_remove(self):
        one = prefix(next(numbers) | 1 << 31)
        self.netlink.add(one)
        self.netlink.remove(one)

    def get(self):
        self.netlink.ask(GETROUTE, 0, (self.there[0], 128))

    def show(self):
        """As a program does that asks for a table's routes, strictly."""
        ktap.equal(sum(map(len, self.netlink.dump(table=77))), 1, "the table's only route")

    def measure(self):
        return {what.__name__: ktap.least(what, BATCHES, CALLS)
                for what in (self.add_and_remove, self.get, self.show)}


@ktap.test
def one_route_costs_the_same_with_many_others():
    netlink = Netlink(A, strict=True)
    netlink.add(prefix(next(numbers)), table=77)
    costs = Costs(netlink)
    for _ in range(FEW):
        netlink.add(prefix(next(numbers)))
    costs.measure()
    few = costs.measure()
    for _ in range(MANY):
        netlink.add(prefix(next(numbers)))
    many = costs.measure()
    for what, before in few.items():
        # A deeper table costs a little more: 15 steps where there were 7.
        ktap.flat(before, many[what], what, most=1.15)


@ktap.test
def a_dump_has_each_once_whatever_comes_and_goes():
    """Three tables, and one prefix with many routes. Others come and go between the messages."""
    netlink, other = Netlink(A), Netlink(A)
    stay = {(table, *prefix(1 << 20 | n), 1024) for table in (254, 3, 4000) for n in range(1500)}
    same = (ipaddress.IPv6Address("fd20::").packed, 48)
    stay |= {(254, *same, metric) for metric in range(1, 200)}
    for table, *where, metric in stay:
        other.add(tuple(where), table=table, metric=metric)
    changed = itertools.cycle(prefix(1 << 21 | n) for n in range(64))
    here, found, messages = [], [], 0
    for message in netlink.dump():
        found += message
        messages += 1
        for table in (254, 3, 4000):
            one = next(changed), table
            if one in here:
                here.remove(one)
                other.remove(one[0], table=table)
            else:
                here.append(one)
                other.add(one[0], table=table)
        for table, dst, plen, _ in message[-1:]:
            # The one that the dump has come to goes, if it is none of those that stay.
            if ((dst, plen), table) in here:
                here.remove(((dst, plen), table))
                other.remove((dst, plen), table=table)
    ktap.true(messages > 30, f"in {messages} pieces")
    counts = {}
    for one in found:
        counts[one] = counts.get(one, 0) + 1
    ktap.equal([one for one in stay if counts.get(one) != 1], [], "not once")
    shown = json.loads(A.run("ip", "-6", "-j", "route", "show", "table", "4000"))
    ktap.equal(len(shown), 1500 + sum(table == 4000 for _, table in here), "of one table")
    tables = [one for message in netlink.dump() for one in message
              if one[1][:2] in (b"\xfd\x10", b"\xfd\x20")]
    ktap.equal(len(nd.show(A, "routes")), len(tables), "net6ctl shows as many")


@ktap.test
def proc_is_read_in_pieces():
    with A, open("/proc/net/ipv6_route", "rb", buffering=0) as file:
        whole = b""
        while piece := file.read(32768):
            whole += piece
        lines = whole.splitlines()
        ktap.equal(len(lines), sum(map(len, Netlink(A).dump())), "a line for each")
        file.seek(0)
        again = b""
        while piece := file.read(777):
            again += piece
        ktap.equal(again == whole, True, "the same in small pieces")
        for at in (1, len(whole) // 2, len(whole) - 1, len(whole), len(whole) + 1):
            file.seek(at)
            ktap.equal(file.read(500), whole[at:at + 500], f"from {at}")


ktap.main(setup=setup)
