# SPDX-License-Identifier: GPL-2.0
"""Hosts and routers played by hand around one node under test, for catalogues of what RFCs
ask of a host, a named test each. For virtual time: reachable times and reassembly cost nothing.

    A [a0 net6: OURS, link-local] ------ [b0 raw frames: each Node] B

Nobody answers but the test. Nodes are new for each row, so that no row sees another one's
neighbor entries; what net6 knows of a node is judged by its packets alone:

    @catalogue.row("4861 7.2.5: STALE, S=1 O=1: REACHABLE", daily=True)
    def _():
        node = catalogue.Node()
        node.stale()                                # or incomplete(), reachable(), probe()
        node.na(nd.SOLICITED | nd.OVERRIDE)
        node.judge("reachable")                     # what an echo request to OURS shows

Rows that are not "daily" run when NET6_FULL is set.
"""

import ipaddress
import itertools
import os
import time
import types

import ktap
import nd

PREFIX, OURS, OFFLINK = "2001:db8:1::", "2001:db8:1::6", "2001:db8:ff::1"
FULL, NATIVE = bool(os.environ.get("NET6_FULL")), bool(os.environ.get("NET6_NATIVE"))
# RFC 4861 section 10, seconds: MAX_RANDOM_FACTOR * REACHABLE_TIME, and the timer wheel's eighth.
REACHABLE_OVER = 45 * 9 / 8 + 1
DELAY, RETRANS = 5, 1
EARLY, LATE = 0.05, 0.7		# what a timer may be off by: ticks and the wheel

A, B, wire = nd.ends()
shared = types.SimpleNamespace()	# linklocal: A's address
_numbers = itertools.count(1)
_seq = itertools.count(1)


def row(name, daily=False):
    """Registers a test that makes part of the catalogue."""
    return ktap.test(name) if FULL or daily else lambda function: function


def rows(rfc):
    """A function that registers cases of an RFC by section, each a call of a function."""
    def register(section, what, function, *args, daily=False):
        row(f"{rfc} {section}: {what}", daily)(lambda: function(*args))
    return register


def patiently(function):
    """Runs what starts programs for the first time: in virtual time a wait for files of the
    host makes time jump, so commands have no time-out.
    """
    if os.environ.get("NET6_VIRTUAL_TIME"):
        ktap.SCALE = 10000
    function()
    ktap.SCALE = int(os.environ.get("NET6_SCALE") or 1)


def setup():
    """As begin(), with time for programs to start."""
    patiently(begin)


def begin():
    """net6 with OURS, in an on-link prefix set by hand, and a link-local address, both ready.
    NET6_NATIVE sets the native stack in its place, to see where the two differ.
    """
    if not NATIVE:
        ktap.net6_load()
    nd.cable(A, B, wire, up=not NATIVE)
    if NATIVE:
        native()
    else:
        shared.linklocal = nd.linklocal(A)
        nd.net6ctl(A, "add", "address", OURS + "/128", "dev", "a0")
        nd.net6ctl(A, "add", "prefix", PREFIX + "/64", "dev", "a0")
        ktap.wait_for(8, OURS + " is assigned", lambda: (
            nd.find(A, "addresses", OURS) or {}).get("state") == "preferred")
    # Router solicitations end when a router was heard of.
    Router().gone_after_ra()


def native():
    """The native stack in A, with the same addresses."""
    for what in ("all", "default", "a0"):
        A.run("sysctl", "-q", "-w", f"net.ipv6.conf.{what}.disable_ipv6=0",
              f"net.ipv6.conf.{what}.keep_addr_on_down=1")
    A.up("a0")
    A.ip("address", "add", OURS + "/64", "dev", "a0", "nodad")
    shared.linklocal = nd.linklocal_of(wire.peer)
    time.sleep(5)


def restart():
    """The link of the node under test goes down and up: it starts over, but for OURS."""
    nd.bounce(A, "a0", wire)


def spoiled(packet):
    """An ICMPv6 packet with a wrong checksum."""
    return packet[:42] + bytes([packet[42] ^ 0x55]) + packet[43:]


def short(packet, length):
    """The first octets of an ICMPv6 message, with a good checksum."""
    source, dest = (str(ipaddress.IPv6Address(packet[at:at + 16])) for at in (8, 24))
    return nd.icmp(source, dest, packet[40], packet[44:40 + length])


def frames(match, seconds):
    """Matching frames of this time, each with .after, the seconds from now."""
    start = time.time()
    found = wire.collect(match, seconds)
    for frame in found:
        frame.after = frame.time - start
    return found


class Node:
    """A host on the link. Its messages go out from `mac`. `other` is an address that it changes
    to. `address` is on-link and global, `linklocal` the other one; `me` is the one of the two
    that it uses."""

    def __init__(self, linklocal=False, me=None, ours=None):
        number = next(_numbers)
        self.mac = f"02:00:00:01:{number >> 8:02x}:{number & 255:02x}"
        self.other = f"02:00:00:02:{number >> 8:02x}:{number & 255:02x}"
        self.linklocal = nd.linklocal_of(self.mac)
        self.address = f"{PREFIX}1:{number:x}"
        self.me = me or (self.linklocal if linklocal else self.address)
        self.ours = ours or (shared.linklocal if linklocal else OURS)

    def send(self, packet, mac=None):
        """A packet from this node; mac is the Ethernet destination."""
        wire.send(packet, mac=mac, source=self.mac)

    def echo(self, source=None, dest=None, **more):
        """Makes net6 want to send to us: returns the sequence number of the request."""
        seq = next(_seq) & 0xffff
        self.send(nd.echo(source or self.me, dest or self.ours, seq, **more))
        return seq

    def ns(self, slla="mine", dest=None, **more):
        """A solicitation for their address; slla is an address, "mine", "other" or ""."""
        self.send(nd.ns(self.me, self.ours, dest=dest, slla=self._mac(slla), **more))

    def na(self, flags=0, tlla="mine", dest=None, **more):
        """An advertisement of ours, to them unless told otherwise."""
        self.send(nd.na(self.me, self.me, dest=dest or self.ours, flags=flags,
                        tlla=self._mac(tlla), **more))

    def _mac(self, which):
        return {"mine": self.mac, "other": self.other}.get(which, which)

    def solicits(self, frame):
        return frame.type == nd.NS and nd.same(frame.target, self.me)

    def replies(self, frame, seq=None):
        return (frame.type == nd.REPLY and nd.same(frame.dest, self.me)
                and (seq is None or frame.seq == seq))

    def expect_ns(self, unicast=False, seconds=8):
        """The next solicitation for us, judged by RFC 4861 4.3, 7.2.2, 7.3.3."""
        seen = wire.expect(self.solicits, f"solicitation of {self.me}", seconds)
        self.check_ns(seen, unicast)
        return seen

    def check_ns(self, seen, unicast):
        dest = self.me if unicast else nd.solicited_node(self.me)
        ktap.equal(seen.dest, dest, "destination of the solicitation")
        ktap.true(nd.same(seen.source, OURS) or nd.same(seen.source, shared.linklocal),
                  f"source {seen.source} of the solicitation is an address of the node")
        ktap.equal((seen.hlim, seen.code, seen.checksum_good()), (255, 0, True),
                   "hop limit, code, checksum")
        if not unicast:
            ktap.equal(seen.dst, nd.group_mac(dest), "Ethernet destination")
            ktap.equal(seen.option(nd.SLLA), nd.mac_bytes(wire.peer), "MUST: our address")

    def incomplete(self):
        """An entry INCOMPLETE: returns the number of the echo request that waits."""
        wire.flush()
        seq = self.echo()
        self.expect_ns()
        return seq

    def reachable(self, flags=0):
        """REACHABLE since now; flags: nd.ROUTER for a router."""
        seq = self.incomplete()
        self.na(nd.SOLICITED | nd.OVERRIDE | flags)
        reply = wire.expect(lambda f: self.replies(f, seq), "reply that waited")
        ktap.equal(reply.dst, self.mac, "Ethernet destination of the reply")

    def stale(self, flags=0):
        """STALE, because its reachable time is over."""
        self.reachable(flags)
        wire.silence(self.solicits, "solicitation while nothing is sent", REACHABLE_OVER)

    def probe(self, flags=0):
        """PROBE: its first probe has been seen."""
        self.stale(flags)
        seq = self.echo()
        wire.expect(lambda f: self.replies(f, seq), "reply in STALE")
        self.expect_ns(unicast=True)

    def bring(self, state, flags=0):
        """Into the state of this name, "none" being one; the number of what waits there."""
        if state == "none":
            wire.flush()
            return None
        return self.incomplete() if state == "incomplete" else getattr(self, state)(flags)

    def state(self):
        """What packets tell: (state, link-layer address that is used). DELAY is "stale"."""
        start, seq = time.time(), self.echo()
        seen = frames(lambda f: self.solicits(f) or self.replies(f), DELAY + 2.5)
        asked = [f for f in seen if f.type == nd.NS]
        reply = [f for f in seen if self.replies(f, seq)]
        first = asked[0].time - start if asked else None
        if not reply:
            ktap.true(asked, f"neither a reply nor a solicitation: {seen}")
            for frame in asked:
                self.check_ns(frame, False)
            return ("incomplete" if first > RETRANS / 4 else "none"), None
        used = {f.dst for f in seen}
        ktap.equal(len(used), 1, f"addresses that replies and probes went to, {used}")
        for frame in asked:
            self.check_ns(frame, True)
        if not asked:
            return "reachable", used.pop()
        if first < RETRANS + LATE:
            return "probe", used.pop()
        ktap.true(DELAY - EARLY - LATE <= first <= DELAY + LATE,
                  f"probe {first:.2f} s after DELAY began")
        return "stale", used.pop()

    def judge(self, state, mac="mine"):
        """The entry is in this state with this address: "mine", "other" or what is given."""
        wanted = (state, None if state in ("none", "incomplete") else self._mac(mac))
        ktap.equal(self.state(), wanted, f"state and address of {self.me} by its packets")


class Router(Node):
    """A router on the link, known by its link-local address."""

    def __init__(self):
        super().__init__(linklocal=True, ours=OURS)

    def ra(self, slla="mine", options=b"", **values):
        """An advertisement; values as of nd.ra()."""
        self.send(nd.ra(self.linklocal, options=options + nd.lladdr_option(
            nd.SLLA, self._mac(slla)), **values))

    def gone_after_ra(self):
        """Heard of, and gone: nothing is left but its neighbor entry."""
        self.ra()
        self.ra(lifetime=0)

    present = []

    def __enter__(self):
        self.present.append(self.linklocal)
        return self

    def __exit__(self, *_):
        """Its time as a router is over; what it may have set is as it was."""
        self.present.remove(self.linklocal)
        self.ra(lifetime=0, hop_limit=64, reachable=30000, retrans=1000)

    def begin(self, **values):
        """A default router, its entry REACHABLE."""
        self.reachable(nd.ROUTER)
        self.ra(**values)
        ktap.equal(first_hop(), self.mac, "first hop of what is off-link")


def off_link(prefix="2001:db8:ff::"):
    """An address beyond the link that nothing was sent to before, so that it is not solicited."""
    return f"{prefix}{next(_numbers):x}"


def first_hop(dest=OFFLINK, ours=None):
    """Where a packet to this destination goes: an Ethernet address, the IPv6 address that is
    solicited (its own or that of a router in a with block), or None: nowhere.
    """
    node = Node(me=dest, ours=ours)
    targets = [dest] + Router.present
    wire.flush()
    seq = node.echo()
    frame = wire.wait(lambda f: node.replies(f, seq) or (
        f.type == nd.NS and f.dest != f.target and f.target in targets), 1 + LATE)
    if not frame:
        return None
    return frame.dst if frame.type == nd.REPLY else frame.target
