#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# netfilter in takeover mode: nftables' rules see net6's packets at all five hooks and may
# drop, reject, track, translate and queue them. Fragments come whole. Namespaces and the
# module go with rules and queued packets there.
#
#	A [a0] ------ [r0] R [r1] ------ [b0] B	all on net6
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 240
import contextlib
import errno
import ipaddress
import json
import os
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nft
from nft import (A, B, CTL, HOOKS, IN_A, IN_B, R, R0, R1, Rules, chain, counting, make, pings,
                 preferred, serve, table)


def setup():
    nft.setup()


@ktap.test
def each_hook_sees_its_packets_once():
    for ns, address, seen in ((R, IN_B, "prerouting forward postrouting"),
                              (B, IN_B, "prerouting input"),
                              (A, IN_B, "output postrouting"),
                              (A, IN_A, "output postrouting prerouting input"),
                              (A, "::1", "output postrouting prerouting input")):
        with Rules(ns, counting()) as rules:
            ktap.true(pings(A, address), f"ping {address}")
            for hook in HOOKS:
                ktap.equal(rules.packets(hook), int(hook in seen.split()),
                           f"{hook} of {ns.name} for {address}")


@ktap.test
def drop_drops_and_accept_accepts():
    for ns, hooks in ((R, ("prerouting", "forward", "postrouting")),
                      (B, ("prerouting", "input")), (A, ("output", "postrouting"))):
        for hook in hooks:
            with Rules(ns, table(chain(hook, "icmpv6 type echo-request drop"))):
                ktap.true(not pings(A, IN_B, "-W", "1"), f"dropped at {hook} of {ns.name}")
            with Rules(ns, table(chain(hook, "icmpv6 type echo-request accept"))):
                ktap.true(pings(A, IN_B), f"accepted at {hook} of {ns.name}")


@ktap.test
def a_sender_is_told():
    s = make(A)
    for hook in ("output", "postrouting"):
        with Rules(A, table(chain(hook, "udp dport 7000 drop"))):
            ktap.raises(errno.EPERM, s.sendto, b"x", (IN_B, 7000))
        s.sendto(b"x", (IN_B, 7001))


@ktap.test
def lo_is_the_way_to_oneself():
    rule = 'iif "lo" accept; drop'
    with Rules(A, table(chain("input", rule), chain("output", 'oif "lo" accept; drop'))):
        ktap.true(pings(A, IN_A), "own address")
        ktap.true(pings(A, "::1"), "::1")
        ktap.true(not pings(A, IN_B, "-W", "1"), "nothing else")


@ktap.test
def tracked_connections_are_let_through():
    rules = table(chain("forward", "ct state established,related accept; "
                        "ct state new iif r0 accept; icmpv6 type { nd-neighbor-solicit } accept; "
                        "drop"))
    with Rules(R, rules):
        listener = make(B, socket.SOCK_STREAM, ("::", 7100))
        listener.listen()
        thread = serve(listener, lambda size: str(size).encode())
        s = make(A, socket.SOCK_STREAM)
        s.connect((IN_B, 7100))
        s.sendall(bytes(500000))
        s.shutdown(socket.SHUT_WR)
        ktap.equal(s.recv(100), b"500000", "bytes there and an answer back")
        thread.join()
        ktap.true(pings(A, IN_B), "an echo and its reply")
        ktap.true(not pings(B, IN_A, "-W", "1"), "nobody from outside")


def refused(ns, address, kind, port):
    s = make(ns, kind)
    try:
        s.connect((address, port))
        if kind == socket.SOCK_DGRAM:
            # On the way out it is dropped in the call; the error comes behind, as on native.
            with contextlib.suppress(PermissionError):
                s.send(b"x")
            s.recv(10)
    except OSError as error:
        return error.errno
    finally:
        s.close()
    return 0


@ktap.test
def reject_answers():
    for ns, hook in ((R, "prerouting"), (R, "forward"), (B, "input"), (A, "output")):
        with Rules(ns, table(chain(hook, "udp dport 7200 reject; tcp dport 7200 reject; "
                                   "tcp dport 7201 reject with tcp reset"))):
            who = f"{hook} of {ns.name}"
            ktap.equal(refused(A, IN_B, socket.SOCK_DGRAM, 7200), errno.ECONNREFUSED,
                       "udp at " + who)
            ktap.equal(refused(A, IN_B, socket.SOCK_STREAM, 7200), errno.ECONNREFUSED,
                       "tcp at " + who)
            ktap.equal(refused(A, IN_B, socket.SOCK_STREAM, 7201), errno.ECONNREFUSED,
                       "reset at " + who)


@ktap.test
def a_filter_sees_no_fragments():
    rules = table(chain("forward", "exthdr frag exists drop; ct state invalid drop; "
                        "udp dport 7300 counter"))
    b = make(B, bind=("::", 7300))
    a = make(A)
    for ns, hook in ((R, "forward"), (B, "input")):
        with Rules(ns, rules.replace("forward", hook)) as r:
            for size in (1000, 3000, 40000):
                data = os.urandom(size)
                a.sendto(data, (IN_B, 7300))
                ktap.true(b.recv(65536) == data, f"{size} bytes through {ns.name}")
            ktap.equal(r.packets(hook), 3, "packets")
    with Rules(A, table(chain("output", "udp dport 1 drop"))):
        with A:
            raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
        head = struct.pack("!IHBB", 6 << 28, 16, 44, 64)
        packet = (head + socket.inet_pton(socket.AF_INET6, IN_A) +
                  socket.inet_pton(socket.AF_INET6, IN_B) + struct.pack("!BBHI", 17, 0, 1, 7) +
                  bytes(8))
        ktap.raises(errno.EPERM, raw.sendto, packet, (IN_B, 0))


def piece(following, data, offset=0, more=True):
    """A Fragment header and what is behind it."""
    return struct.pack("!BBHI", following, 0, offset | more, 99) + data


def ahead(first, times, following, data):
    """Options or Authentication in front of data, by what Next Header they are named."""
    length = {DEST: 8, AUTH: 12}[first]
    rest = bytes([0, 1, 4]) + bytes(4) if first == DEST else bytes([1]) + bytes(10)
    return b"".join(bytes([following if last else first]) + rest[:length - 1]
                    for last in [False] * (times - 1) + [True]) + data


FRAGMENT, AUTH, DEST, UDP = 44, 51, 60, 17
DATA = struct.pack("!HHHH", 1, 9, 64, 0) + bytes(56)
PIECE = piece(UDP, DATA)
UNFINISHED = {
    "behind Authentication": [(AUTH, ahead(AUTH, 1, FRAGMENT, PIECE))],
    "behind nine headers": [(DEST, ahead(DEST, 9, FRAGMENT, PIECE))],
    "in fragments": [(FRAGMENT, piece(FRAGMENT, PIECE[:32])),
                     (FRAGMENT, piece(FRAGMENT, PIECE[32:], 32, False))],
    "without data": [(FRAGMENT, piece(UDP, b"", more=False))],
}


@ktap.test
def a_filter_keeps_no_fragments():
    """nf_defrag_ipv6 would, with a timer that needs more of native IPv6 than there is."""
    with A:
        frames = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x86dd))
    to = ("a0", 0x86dd, 0, 1, bytes.fromhex(
        json.loads(R.ip("-j", "link", "show", "r0"))[0]["address"].replace(":", "")))
    addresses = b"".join(socket.inet_pton(socket.AF_INET6, a) for a in (IN_A, R0))
    early = chain("prerouting", "exthdr frag exists counter", "-450").replace(
        "chain prerouting", "chain early")
    with frames, Rules(R, table(early, chain("prerouting", "ct state invalid drop"))) as r:
        for what, packets in UNFINISHED.items():
            for nexthdr, payload in packets:
                frames.sendto(struct.pack("!IHBB", 6 << 28, len(payload), nexthdr, 64) +
                              addresses + payload, to)
            ktap.true(pings(A, R0), "all have come")
            ktap.equal(r.packets("early"), 0, f"a fragment {what}")


@ktap.test
def addresses_and_ports_are_translated():
    ktap.kmod("nft_chain_nat", "nft_nat")
    nat = ("table ip6 n {\n" +
           chain("prerouting", f"udp dport 7400 dnat to [{IN_B}]:7401", "dstnat", "nat") +
           chain("output", f"udp dport 7402 dnat to [{IN_B}]:7401", "-100", "nat") +
           chain("postrouting", f"udp dport 7401 snat to {R1}", "srcnat", "nat") + "}\n")
    b = make(B, bind=("::", 7401))
    with Rules(R, nat):
        for ns, port in ((A, 7400), (R, 7402)):
            s = make(ns)
            s.sendto(b"there", (R0, port))
            data, who = b.recvfrom(100)
            ktap.equal((data, who[0]), (b"there", R1), "what arrives")
            b.sendto(b"back", who)
            data, who = s.recvfrom(100)
            ktap.equal((data, who[:2]), (b"back", (R0, port)), "what comes back")


@ktap.test
def masquerade_finds_the_source_and_forgets_it_when_it_goes():
    ktap.kmod("nft_chain_nat", "nft_masq")
    b = make(B, bind=("::", 7410))
    a = make(A)

    def seen_as():
        a.sendto(b"there", (IN_B, 7410))
        data, who = b.recvfrom(100)
        b.sendto(b"back", who)
        ktap.equal((data, a.recv(100)), (b"there", b"back"), "there and back")
        return who[:2]
    with Rules(R, "table ip6 n {\n" + chain("postrouting", "oif r1 meta l4proto udp masquerade "
                                            "to :5000-5999", "srcnat", "nat") + "}\n"):
        first = seen_as()
        ktap.equal(first[0], R1, "the router's address there")
        ktap.true(5000 <= first[1] < 6000, f"port {first[1]}")
        ktap.equal(seen_as(), first, "the same again")
        R.ip("-6", "addr", "add", "fd00:b::3/64", "dev", "r1")
        R.ip("-6", "addr", "del", R1 + "/64", "dev", "r1")
        try:
            ktap.wait_for(15, "the other address", lambda: seen_as()[0] == "fd00:b::3")
        finally:
            R.ip("-6", "addr", "add", R1 + "/64", "dev", "r1")
            R.ip("-6", "addr", "del", "fd00:b::3/64", "dev", "r1")
            ktap.wait_for(15, f"{R1} is there", lambda: preferred(R, "r1", R1))


@ktap.test
def a_whole_packet_is_translated_to_a_narrower_link():
    """What is too long there is given up once (IPV6_HDRINCL)."""
    ktap.kmod("nft_chain_nat", "nft_nat")
    with R:
        raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
    head = struct.pack("!IHBB", 6 << 28, 1360, 253, 64)
    packet = (head + socket.inet_pton(socket.AF_INET6, R0) +
              socket.inet_pton(socket.AF_INET6, IN_A) + bytes(1360))
    R.ip("link", "set", "r1", "mtu", "1280")
    try:
        with raw, Rules(R, "table ip6 n {\n" + chain(
                "output", f"meta l4proto 253 dnat to {IN_B}", "-100", "nat") + "}\n"):
            for _ in range(100):
                ktap.raises(errno.EMSGSIZE, raw.sendto, packet, (IN_A, 0))
    finally:
        R.ip("link", "set", "r1", "mtu", "1500")


@ktap.test
def the_routing_table_is_asked():
    ktap.kmod("nft_fib_inet")
    with Rules(R, table(chain(
            "prerouting", "icmpv6 type echo-request fib saddr . iif oif missing counter "
            "drop"))) as rules:
        ktap.true(pings(A, IN_B), "from where it should come")
        ktap.equal(rules.packets("prerouting"), 0, "missing")
        A.ip("-6", "addr", "add", "fd00:ee::1/128", "dev", "a0")
        ktap.wait_for(10, "another source", lambda: preferred(A, "a0", "fd00:ee::1"))
        ktap.true(not pings(A, IN_B, "-I", "fd00:ee::1", "-W", "1"), "a source without route")
        ktap.true(rules.packets("prerouting"), "missing")
    with Rules(B, table(chain("input", "fib daddr type local accept; drop"))):
        ktap.true(pings(A, IN_B), "an address of its own")


class Queue:
    """A program that answers for NFQUEUE 0 of a namespace."""

    def __init__(self, ns):
        with ns:
            self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
        self.s.bind((0, 0))
        self.s.settimeout(10 * ktap.SCALE)
        self.send(2, self.attr(1, struct.pack("!BxH", 1, socket.AF_INET6)))
        self.send(2, self.attr(2, struct.pack("!IB", 0xffff, 2)))

    @staticmethod
    def attr(kind, data):
        length = 4 + len(data)
        return struct.pack("=HH", length, kind) + data + bytes(-length % 4)

    def send(self, message, data):
        body = struct.pack("!BBH", 0, 0, 0) + data
        self.s.send(struct.pack("=IHHII", 16 + len(body), (3 << 8) | message, 1, 0, 0) + body)

    def get(self):
        """The next packet's number."""
        while True:
            data = self.s.recv(70000)
            at = 20
            if struct.unpack_from("=H", data, 4)[0] != (3 << 8):
                continue
            while at < len(data):
                length, kind = struct.unpack_from("=HH", data, at)
                if kind & 0x3fff == 1:
                    return struct.unpack_from("!I", data, at + 4)[0]
                at += length + -length % 4

    def accept(self, number):
        self.send(1, self.attr(2, struct.pack("!II", 1, number)))


QUEUED = "icmpv6 type echo-request queue num 0"


@ktap.test
def queued_packets_go_on():
    ktap.kmod("nft_queue", "nfnetlink_queue")
    for ns, hooks in ((R, HOOKS[:1] + HOOKS[2:3] + HOOKS[4:]), (B, HOOKS[:2]), (A, HOOKS[3:])):
        queue = Queue(ns)
        for hook in hooks:
            for words in ((), ("-s", "4000")):
                with Rules(ns, table(chain(hook, QUEUED))):
                    ping = ns_ping(A, IN_B, *words)
                    queue.accept(queue.get())
                    ktap.true("1 received" in ping.communicate()[0],
                              f"{hook} of {ns.name} {words}")
        queue.s.close()


@ktap.test
def queued_packets_leave_by_the_interface_they_were_meant_for():
    """A sender is bound to one that the routes would not choose; and what goes to a group for
    Neighbor Discovery's or MLD's sake does not come back.
    """
    ktap.kmod("nft_queue", "nfnetlink_queue")
    ktap.veth(A, "a1", B, "b1")
    for ns, dev, address in ((A, "a1", "fd00:c::1"), (B, "b1", "fd00:c::2")):
        ns.run(CTL, "set", "dev", dev, "dad-transmits", "0")
        ns.ip("-6", "addr", "add", address + "/64", "dev", dev)
        ktap.wait_for(15, f"{address} is there", lambda n=ns, d=dev, a=address:
                      preferred(n, d, a))
    b = make(B, bind=("::", 7500))
    b.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    a = make(A)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"a1")
    A.ip("-6", "route", "add", "fd00:b::/64", "via", R0, "dev", "a0")
    A.ip("-6", "route", "add", "fd00::/16", "via", "fd00:c::2", "dev", "a1")
    queue = Queue(A)
    for hook in "output", "postrouting":
        with Rules(A, table(chain(hook, "udp dport 7500 queue num 0"))):
            a.sendto(b"x", (IN_B, 7500))
            queue.accept(queue.get())
            _, ancillary, _, _ = b.recvmsg(10, 100)
            with B:
                ktap.equal(struct.unpack("16xI", ancillary[0][2])[0], socket.if_nametoindex("b1"),
                           f"interface, queued at {hook}")
    solicits = "icmpv6 type nd-neighbor-solicit"
    with Rules(A, table(chain("output", solicits + " queue num 0"),
                        chain("input", "ip6 daddr ff02::/16 " + solicits + " counter"))) as rules:
        ping = ns_ping(A, "fd00:c::5:0:1")     # a group of A's, too
        queue.accept(queue.get())
        queue.accept(queue.get())
        ktap.equal(rules.packets("input"), 0, "solicitations that came back")
        ping.kill()
        ping.wait()
    queue.s.close()
    A.ip("-6", "route", "del", "fd00:b::/64", "via", R0, "dev", "a0")
    A.ip("link", "del", "a1")


@ktap.test
def what_a_vrf_has_routed_once_more_is_seen_once_more():
    """A route leads to the VRF's device; the packet leaves by a port of the VRF."""
    ktap.need("vrf")
    ktap.kmod("nft_queue", "nfnetlink_queue")
    near, far = (str(ipaddress.ip_network(f"{address}/64", strict=False)) for address in (R0, R1))
    R.ip("link", "add", "red", "up", "type", "vrf", "table", "10")
    R.ip("link", "set", "r1", "master", "red")
    R.ip("-6", "route", "add", far, "dev", "red")
    R.ip("-6", "route", "add", "vrf", "red", near, "dev", "r0")
    ktap.wait_for(15, "the other side answers", lambda: pings(A, IN_B, "-W", "1"))
    hook = "icmpv6 type echo-request oifname {} "
    queue = Queue(R)
    with Rules(R, table(chain("postrouting", hook.format("r1") + "queue num 0"),
                        chain("forward", hook.format("red") + "counter"))) as rules:
        for _ in range(2):
            ping = ns_ping(A, IN_B)
            queue.accept(queue.get())
            ktap.true("1 received" in ping.communicate()[0], "a queued packet")
        ktap.true(pings(A, IN_B, "-s", "4000"), "fragments, which were seen as a packet before")
        ktap.equal(rules.packets("forward"), 3, "packets to the VRF")
    with Rules(R, table(chain("postrouting", hook.format("r1") + "drop"))):
        ktap.true(not pings(A, IN_B, "-W", "1"), "dropped")
    queue.s.close()
    R.ip("link", "del", "red")
    ktap.wait_for(15, "the other side answers without the VRF", lambda: pings(A, IN_B, "-W", "1"))


def ns_ping(ns, address, *words):
    return ns.popen("ping", "-6", "-n", "-c", "1", "-W", str(10 * ktap.SCALE), *words, address,
                    stdout=-1, text=True)


@ktap.test
def no_rules_no_hooks():
    with Rules(R, counting()):
        pass
    ktap.true(pings(A, IN_B), "the way is as it was")


@ktap.test
def namespace_and_module_go_with_rules_and_queued_packets():
    if not ktap.CHECKING:
        queue = Queue(R)
        R.run("nft", "-f", "-", input=table(chain("forward", QUEUED)))
        ping = ns_ping(A, IN_B)
        queue.get()
        second = Queue(B)
        B.run("nft", "-f", "-", input=table(chain("input", QUEUED)))
        mine = ns_ping(R, IN_B)
        second.get()
        for process in ping, mine:
            process.kill()
            process.wait()
        queue.s.close()
    else:
        second = None
    A.run("nft", "-f", "-", input=table(chain("output", "ct state new reject")))
    R.delete()
    ktap.unload("net6")
    if second:
        second.s.close()
    ktap.net6_load()


ktap.main(setup=setup)
