#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The root of a user namespace makes many interfaces and tunnels, with indexes and addresses of his
# choice. They are such that a multiplicative hash without a key has one value for all. What a
# packet costs stays the same. In virtual time, where time is instructions.
#
#	A [a0 net6 and IPv4, and many devices and tunnels] ------ [b0 raw frames] B
#
# guest: stock
# guest-append: ipv6.disable=1
# guest-options: --virtual-time
# timeout: 200
import ipaddress
import os
import socket
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud
import ktap
import nd
import nl

MANY, BATCHES, CALLS = 400, 20, 40
GOLDEN_RATIO_32 = 0x61C88647
BITS = 6
NONE = 59
MAC, HERE = "02:00:00:00:0a:01", "192.0.2.1"
A, B, wire = nd.ends()
shared = types.SimpleNamespace()	# ours: A's link-local address; far: the first tunnel's end


def hashed(value):
    """The kernel's hash_32()."""
    return (value * GOLDEN_RATIO_32 & 0xffffffff) >> 32 - BITS


def word(address):
    """An IPv4 address as it is in memory here."""
    return int.from_bytes(ipaddress.IPv4Address(address).packed, "little")


def far_ends():
    """Addresses of one hash value, alone and together with ours."""
    turned = word(HERE) >> 16 | word(HERE) << 16 & 0xffffffff
    for number in range(1 << 24):
        address = str(ipaddress.IPv4Address("10.0.0.0") + number)
        if hashed(word(address) ^ turned) == 7 and number & 0xff not in (0, 255):
            yield address


def indexes(first):
    return (n for n in range(1000, 1 << 24) if hashed(n) == hashed(first))


def frames():
    """By what is looked up. Nothing in them is answered."""
    yield "an interface, by its packet", nd.ipv6("fe80::b", shared.ours, NONE, b""), b"\x86\xdd", MAC
    inner = nd.ipv6("2001:db8::b", "2001:db8::a", NONE, b"")
    yield "a tunnel", cloud.outer(inner, shared.far, HERE), b"\x08\x00", MAC
    yield "tunnels, by a group's packet", cloud.outer(inner, shared.far, "224.0.0.1"), \
        b"\x08\x00", "01:00:5e:00:00:01"


def least(call):
    return ktap.least(call, BATCHES, CALLS)


def bound():
    """A socket's link-local address has the index of an interface."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.bind((shared.ours, 0, 0, shared.index))


def costs():
    found = {}
    for what, packet, kind, mac in frames():
        frame = nd.mac_bytes(mac) + nd.mac_bytes(wire.mac) + kind + packet
        found[what] = least(lambda frame=frame: wire.sock.send(frame))
    with A:
        found["an interface, by its index"] = least(bound)
    return found


def add_tunnels(names, ends):
    local = ipaddress.IPv4Address(HERE).packed
    with A:
        family = nl.Family()
    for name, far in zip(names, ends):
        family.do("tunnel-add", name=name.encode() + b"\0", local=local,
                  remote=ipaddress.IPv4Address(far).packed)
    family.close()


def setup():
    ktap.kmod("dummy")
    ktap.net6_load()
    nd.cable(A, B, wire, mac_a=MAC)
    A.ip("addr", "add", HERE + "/24", "dev", "a0")
    A.ip("route", "add", "10.0.0.0/8", "dev", "a0")
    shared.ours = nd.linklocal(A)
    shared.index = nd.interface(A, "a0")["ifindex"]
    shared.ends = far_ends()
    shared.far = next(shared.ends)
    add_tunnels(["t"], [shared.far])
    nd.net6ctl(A, "add", "address", "2001:db8::a/64", "dev", "t")
    ktap.wait_for(20, "all are settled",
                  lambda: all(a["state"] == "preferred" for a in nd.show(A, "addresses")))
    costs()
    shared.before = costs()


@ktap.test
def packets_cost_the_same_with_many_interfaces_and_tunnels_of_chosen_keys():
    A.run("ip", "-batch", "-", timeout=600, input="".join(
        f"link add d{n} index {index} type dummy\n"
        for n, index in zip(range(MANY), indexes(shared.index))))
    add_tunnels([f"t{n}" for n in range(MANY)], shared.ends)
    ktap.equal(len(nd.show(A, "tunnels")), MANY + 1, "tunnels")
    costs()
    after = costs()
    for what, before in shared.before.items():
        ktap.diag(f"{what}: {before:.0f} ns, with {MANY} more of each {after[what]:.0f} ns")
    for what, before in shared.before.items():
        ktap.true(after[what] < before * 1.05, f"{what} costs the same: {after[what] / before:.3f}")


@ktap.test
def they_are_found_until_they_go():
    """Of a table that grows and shrinks none is lost."""
    received = cloud.tunnel(A, "t")["rx_packets"]
    wire.sock.send(nd.mac_bytes(MAC) + nd.mac_bytes(wire.mac) + b"\x08\x00"
                   + cloud.outer(nd.ipv6("2001:db8::b", "2001:db8::a", NONE, b""),
                                 shared.far, HERE))
    ktap.equal(cloud.tunnel(A, "t")["rx_packets"], received + 1, "packets of the first tunnel")
    A.run("ip", "-batch", "-", timeout=600, input="".join(
        f"link del d{n}\nlink del t{n}\n" for n in range(MANY)))
    ktap.equal([i["dev"] for i in nd.show(A, "interfaces") if i["dev"] not in ("lo", "a0")],
               ["t"], "interfaces that are left")
    ktap.true(nd.is_up(A, "t"), "the first tunnel is up")


ktap.main(setup)
