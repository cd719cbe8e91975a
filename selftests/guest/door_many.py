#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a packet costs does not grow with the number of interfaces that receive for its address.
# Such are groups that all have, link-local addresses of devices with one hardware address
# (VLANs), and what a Neighbor Solicitation looks up. In virtual time, where time is
# instructions.
#
#	A [a0 net6, and many dummy devices like it] ------ [b0 raw frames] B
#
# guest: stock
# guest-options: --virtual-time
# timeout: 200
import os
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

DEVICES, BATCHES, FRAMES = 300, 20, 40
NONE = 59
MAC = "02:00:00:00:0a:01"
A, B, wire = nd.ends()
shared = types.SimpleNamespace()	# ours: A's link-local address
before = {}


def frames():
    """By what is looked up. Nothing in them is answered."""
    source = "fe80::b"
    yield "a group that all have", nd.ipv6(source, nd.ALL_NODES, NONE, b"")
    yield "a solicited-node group", nd.ipv6(source, nd.solicited_node(shared.ours), NONE, b"")
    yield "a link-local address", nd.ipv6(source, shared.ours, NONE, b"")
    # RFC 4861 7.1.1: dropped, for its hop limit is not 255.
    yield "what a solicitation asks for", nd.ns(source, shared.ours, hlim=64)


def cost(packet):
    """Nanoseconds of virtual time for one frame, sent and received: the least of many batches."""
    dest = nd.ipaddress.IPv6Address(packet[24:40])
    frame = (nd.mac_bytes(nd.group_mac(dest) if dest.is_multicast else MAC)
             + nd.mac_bytes(wire.mac) + b"\x86\xdd" + packet)
    send, least = wire.sock.send, None
    for _ in range(BATCHES):
        start = time.perf_counter_ns()
        for _ in range(FRAMES):
            send(frame)
        took = time.perf_counter_ns() - start
        least = took if least is None else min(least, took)
    return least / FRAMES


def settled():
    """Nobody is in DAD any more."""
    return all(e["state"] == "preferred" for e in nd.show(A, "addresses"))


def setup():
    ktap.kmod("dummy")
    ktap.net6_load()
    nd.cable(A, B, wire, mac_a=MAC)
    shared.ours = nd.linklocal(A)
    ktap.wait_for(20, "a0 is settled", settled)
    for what, packet in frames():
        cost(packet)
        before[what] = cost(packet)


def add_devices():
    lines = []
    for n in range(DEVICES):
        lines.append(f"link add d{n} address {MAC} type dummy")
        lines.append(f"link set d{n} up")
    A.run("ip", "-batch", "-", input="\n".join(lines) + "\n", timeout=600)
    ktap.wait_for(60, f"{DEVICES} devices have {shared.ours}",
                  lambda: sum(e["address"] == shared.ours for e in nd.show(A, "addresses"))
                  == DEVICES + 1 and settled())


@ktap.test
def packets_cost_the_same_with_many_interfaces():
    add_devices()
    for what, packet in frames():
        after = cost(packet)
        ktap.diag(f"{what}: {before[what]:.0f} ns, with {DEVICES} devices more {after:.0f} ns")
        ktap.true(after < before[what] * 1.05, f"{what} costs the same: {after / before[what]:.3f}")


def answers(address):
    wire.flush()
    wire.send(nd.echo("fd00::b", address))
    return bool(wire.wait(lambda f: f.type == nd.REPLY, 2))


@ktap.test
def an_address_of_several_interfaces_is_ours_until_the_last_goes():
    nd.net6ctl(A, "add", "neighbor", "fd00::b", "lladdr", wire.mac, "dev", "a0")
    nd.net6ctl(A, "add", "address", "fd00::6/64", "dev", "a0")
    for address, order in (("fd00::71", "210"), ("fd00::72", "012"), ("fd00::73", "102")):
        for dev in ("d0", "d1", "d2"):
            nd.net6ctl(A, "add", "address", address + "/128", "dev", dev)
        ktap.wait_for(20, "they are settled", settled)
        for dev in order:
            ktap.true(answers(address), f"{address} answers before it leaves d{dev}")
            nd.net6ctl(A, "del", "address", address, "dev", f"d{dev}")
        ktap.equal(answers(address), False, f"{address} answers when all have left it")
    A.run("ip", "-batch", "-", input="".join(f"link del d{n}\n" for n in range(DEVICES)))
    accepted = [e["dev"] for e in nd.show(A, "groups") if e["address"] == shared.ours]
    ktap.equal(accepted, ["a0"], f"who receives for {shared.ours}")


ktap.main(setup)
