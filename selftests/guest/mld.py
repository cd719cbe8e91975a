#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Multicast Listener Discovery as a listener: RFC 3810 with its fall-back to RFC 2710, and
# RFC 3590. Time is virtual: reports that are repeated after random times are all seen.
#
#	A [a0 net6] ------ [b0 raw frames, the querier] B
# guest: full
# guest-options: --virtual-time
# timeout: 4000

import os
import random
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import mld
import nd

GROUP = "ff05::1234"
A, B, wire = nd.ends()


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire, up=False)


def told(group, seconds):
    """(when, type, sources) of all that is told about a group in this time."""
    found = []
    start = time.time()
    for frame in wire.collect(lambda f: f.proto == 0, seconds):
        message = mld.Told(frame)
        ktap.true(message.type, f"router alert, hop limit 1 and checksum of {frame}")
        found += [(frame.time - start, message, *record) for record in message.of(group)]
    return found


def types(found):
    return [entry[2] for entry in found]


def join(sock, group=GROUP, dev="a0", leave=False):
    with A:
        index = socket.if_nametoindex(dev)
    option = socket.IPV6_LEAVE_GROUP if leave else socket.IPV6_JOIN_GROUP
    sock.setsockopt(socket.IPPROTO_IPV6, option, nd.packed(group) + struct.pack("@I", index))


def datagram():
    return ktap.net6_socket(socket.SOCK_DGRAM, 0, A)


@ktap.test
def solicited_node_group_is_told_before_the_address_is_asked_for():
    wire.flush()
    A.up("a0")
    probe = wire.expect(lambda f: f.type == nd.NS, "probe of DAD", 10)
    group = nd.solicited_node(probe.target)
    before = [mld.Told(f) for f in wire.seen[:-1] if f.proto == 0]
    ktap.true(any(m.of(group) for m in before), "the group was told before")
    for message in before:
        ktap.equal(message.frame.source, "::", "source while there is no address (RFC 3590)")
        ktap.equal(message.frame.dest, mld.V2_ROUTERS, "destination")
        ktap.equal(message.of(nd.ALL_NODES), [], "nothing about ff02::1")
        ktap.equal(message.of("ff01::1"), [], "nothing about interface-local groups")


@ktap.test
def groups_are_told_again_from_the_link_local_address():
    address = nd.linklocal(A)
    found = told(nd.solicited_node(address), 3)
    valid = [e for e in found if e[1].frame.source == address]
    ktap.true(len(valid) >= 2, f"reports from {address}: {found}")
    ktap.equal(set(types(valid)), {"TO_EX"}, "record types")


@ktap.test
def join_is_told_twice_and_leave_is_told_twice():
    told(GROUP, 5)
    sock = datagram()
    join(sock)
    found = told(GROUP, 5)
    ktap.equal(types(found), ["TO_EX", "TO_EX"], "reports of the join")
    ktap.true(found[0][0] < 0.1, "the first at once")
    ktap.true(found[1][0] - found[0][0] <= 1.05, "the second within a second")
    second = datagram()
    join(second)
    ktap.equal(told(GROUP, 3), [], "reports of a second member")
    second.close()
    ktap.equal(told(GROUP, 3), [], "reports when it leaves")
    join(sock, leave=True)
    found = told(GROUP, 5)
    ktap.equal(types(found), ["TO_IN", "TO_IN"], "reports of the leave")
    sock.close()


@ktap.test
def interface_local_groups_are_not_told():
    sock = datagram()
    join(sock, "ff01::77")
    ktap.equal(told("ff01::77", 3), [], "reports")
    sock.close()


@ktap.test
def general_query_is_answered_for_every_group_within_the_delay():
    sock = datagram()
    join(sock)
    told(GROUP, 3)
    for delay in (1000, 5000):
        wire.send(mld.query(wire.linklocal, delay=delay))
        start = time.time()
        frames = wire.collect(lambda f: f.proto == 0, delay / 1000 + 2)
        ktap.equal(len(frames), 1, f"reports {frames}")
        ktap.true(frames[0].time - start <= delay / 1000 + 0.1, "in time")
        message = mld.Told(frames[0])
        ktap.equal(message.of(GROUP), [("IS_EX", set())], "record of the group")
        ktap.equal(message.of(nd.solicited_node(nd.linklocal(A))), [("IS_EX", set())],
                   "record of the solicited-node group")
        ktap.equal(message.of(nd.ALL_NODES), [], "none of ff02::1")
    sock.close()
    told(GROUP, 3)


@ktap.test
def group_query_and_source_query():
    sock = datagram()
    join(sock)
    told(GROUP, 3)
    wire.send(mld.query(wire.linklocal, GROUP))
    found = told(GROUP, 3)
    ktap.equal(types(found), ["IS_EX"], "answer to a group query")
    wire.send(mld.query(wire.linklocal, GROUP, ["fd00::1", "fd00::2"]))
    found = told(GROUP, 3)
    ktap.equal([e[2:] for e in found], [("IS_IN", {"fd00::1", "fd00::2"})],
               "answer to a query about sources")
    wire.send(mld.query(wire.linklocal, "ff05::4321", dest=nd.ALL_NODES))
    ktap.equal(told("ff05::4321", 3), [], "answers about a group that is not joined")
    sock.close()
    told(GROUP, 3)


@ktap.test
def invalid_queries_are_dropped():
    sock = datagram()
    join(sock)
    told(GROUP, 3)
    before = nd.drops(A)
    wire.send(mld.query(wire.linklocal, hlim=2))
    wire.send(mld.query(wire.linklocal, alert=b""))
    wire.send(mld.query("fd00::1"))
    wire.send(mld.message(wire.linklocal, nd.ALL_NODES, mld.QUERY, bytes(22)))
    wire.send(mld.message(wire.linklocal, nd.ALL_NODES, mld.QUERY, bytes(10)))
    wire.send(mld.message(wire.linklocal, nd.ALL_NODES, mld.QUERY,
                          bytes(20) + struct.pack("!BBH", 2, 125, 9)))
    ktap.equal(told(GROUP, 3), [], "answers")
    after = nd.drops(A)
    ktap.equal(after["MLD_HEADER"] - before["MLD_HEADER"], 3, "drops MLD_HEADER")
    ktap.equal(after["MLD_SHORT"] - before["MLD_SHORT"], 3, "drops MLD_SHORT")
    sock.close()
    told(GROUP, 3)


@ktap.test
def robustness_of_the_querier_is_used():
    wire.send(mld.query(wire.linklocal, robustness=4))
    told(GROUP, 3)
    sock = datagram()
    join(sock)
    ktap.equal(types(told(GROUP, 8)), ["TO_EX"] * 4, "reports of the join")
    wire.send(mld.query(wire.linklocal, robustness=2))
    told(GROUP, 3)
    sock.close()
    told(GROUP, 3)


@ktap.test
def mldv1_querier_is_followed_and_forgotten():
    sock = datagram()
    join(sock)
    told(GROUP, 3)
    wire.send(mld.query_v1(wire.linklocal))
    found = told(GROUP, 3)
    ktap.equal([(e[1].type, e[1].frame.dest) for e in found], [(mld.V1_REPORT, GROUP)],
               "MLDv1 report to the group")
    join(sock, leave=True)
    frames = wire.collect(lambda f: f.proto == 0, 3)
    ktap.equal([(mld.Told(f).type, f.dest) for f in frames], [(mld.V1_DONE, nd.ALL_ROUTERS)],
               "MLDv1 Done")
    join(sock)
    found = told(GROUP, 15)
    ktap.equal([e[1].type for e in found], [mld.V1_REPORT] * 2, "MLDv1 reports of a join")
    # Older Version Querier Present Timeout: 2 * 125 s + 1 s.
    time.sleep(250)
    join(sock, leave=True)
    ktap.equal(types(told(GROUP, 3)), ["TO_IN", "TO_IN"], "MLDv2 again")
    sock.close()


@ktap.test
def mldv1_report_of_another_member_suppresses_ours():
    sock = datagram()
    join(sock)
    told(GROUP, 3)
    wire.send(mld.query_v1(wire.linklocal, delay=10000))
    wire.send(mld.report_v1("fe80::99", GROUP))
    ktap.equal(told(GROUP, 12), [], "reports")
    join(sock, leave=True)
    ktap.equal(told(GROUP, 3), [], "Done: the last report was another member's")
    sock.close()
    time.sleep(262)		# the older querier is forgotten
    told(GROUP, 1)


@ktap.test
def more_groups_than_are_told_of_at_a_time():
    groups = [f"ff05::{n:x}" for n in range(1, 201)]
    socks = [datagram() for _ in range(5)]
    for number, group in enumerate(groups):
        join(socks[number % 5], group)
    told(GROUP, 5)
    wire.send(mld.query(wire.linklocal, delay=1))
    records = [group for frame in wire.collect(lambda f: f.proto == 0, 3) for group in groups
               if mld.Told(frame).of(group)]
    ktap.equal(sorted(records), sorted(groups), "records")
    wire.send(mld.query_v1(wire.linklocal, delay=0))
    frames = wire.collect(lambda f: f.proto == 0, 3)
    ktap.equal(sorted(f.dest for f in frames if f.dest in groups), sorted(groups), "reports")
    for sock in socks:
        sock.close()
    frames = wire.collect(lambda f: f.proto == 0, 3)
    ktap.equal([mld.Told(f).type for f in frames], [mld.V1_DONE] * len(groups), "what is left")
    time.sleep(262)		# the older querier is forgotten
    told(GROUP, 1)


@ktap.test
def queries_and_memberships_at_random_leave_nothing():
    """A flood of queries is answered at a bounded rate, and all that was joined goes."""
    random.seed(3810)
    sock = [datagram() for _ in range(4)]
    groups = [f"ff05::{i:x}" for i in range(1, 40)]
    joined = set()
    wire.flush()
    for _ in range(400):
        what = random.random()
        if what < 0.3:
            entry = (random.choice(sock), random.choice(groups))
            join(*entry, leave=entry in joined)
            joined ^= {entry}
        elif what < 0.6:
            wire.send(mld.query(wire.linklocal, random.choice(groups + ["::"]),
                                ["fd00::%x" % i for i in range(random.randrange(80))],
                                delay=random.randrange(3000), dest=nd.ALL_NODES))
        elif what < 0.9:
            body = bytes(random.randrange(256) for _ in range(random.randrange(4, 200)))
            wire.send(mld.message(wire.linklocal, nd.ALL_NODES, mld.QUERY, body))
        else:
            time.sleep(random.random())		# timers go by
    for s in sock:
        s.close()
    told(GROUP, 270)
    wire.send(mld.query(wire.linklocal))
    frames = wire.collect(lambda f: f.proto == 0, 3)
    ktap.equal(len(frames), 1, "answers to a query at the end")
    left = set(mld.Told(frames[0]).records)
    ktap.true(not left & set(groups), f"groups that are left: {left}")


ktap.main(setup)
