#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Temporary addresses, RFC 8981: made beside the stable one, preferred as source, replaced in
# time, bounded by the prefix's lifetimes and by their own. Time is virtual.
#
#	A [a0 net6] ------ [b0 raw frames, a router] B
# guest: stock+
# guest-options: --virtual-time
# timeout: 40000

import os
import socket
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

PREFIX = "2001:db8:1::"
VALID, PREFERRED = 2000, 1000
A, B, wire = nd.ends()
shared = types.SimpleNamespace()	# stable: the address that is not temporary


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.linklocal(A)


def configure(use, valid=VALID, preferred=PREFERRED):
    nd.net6ctl(A, "set", "dev", "a0", "use-tempaddr", str(use), "temp-valid", str(valid),
               "temp-preferred", str(preferred))


def advertise(**values):
    wire.send(nd.ra(wire.linklocal, options=nd.prefix_option(PREFIX, **values)))


def assigned(count):
    return ktap.wait_for(10, f"{count} temporary addresses are preferred", lambda: [
        t for t in [[a for a in nd.of_origin(A, "temporary") if a["state"] == "preferred"]]
        if len(t) == count])[0]


def fresh():
    nd.net6ctl(A, "set", "dev", "a0", "retrans", "1000")
    A.down("a0")
    A.up("a0")
    nd.linklocal(A)


@ktap.test
def none_unless_asked_for():
    advertise(valid=100000, preferred=50000)
    shared.stable = ktap.wait_for(10, "the stable address is there", lambda: [
        a for a in nd.of_origin(A, "slaac") if a["state"] == "preferred"])[0]["address"]
    ktap.equal(nd.of_origin(A, "temporary"), [], "temporary addresses")


@ktap.test
def one_beside_the_stable_address_with_bounded_lifetimes():
    configure(2)
    advertise(valid=100000, preferred=50000)
    address = assigned(1)[0]
    ktap.equal(nd.packed(address["address"])[:8], nd.packed(PREFIX)[:8], "prefix")
    ktap.true(address["address"] != shared.stable, "another identifier")
    ktap.true(VALID - 20 <= address["valid"] <= VALID, f"valid lifetime {address['valid']}")
    ktap.true(PREFERRED * 0.6 - 20 <= address["preferred"] <= PREFERRED,
              f"preferred lifetime less a random part {address['preferred']}")
    ktap.equal(nd.source(A, PREFIX + "99"), address["address"], "source with use-tempaddr 2")
    configure(1)
    ktap.equal(nd.source(A, PREFIX + "99"), shared.stable, "source with use-tempaddr 1")
    configure(2)
    advertise(valid=100000, preferred=50000)
    time.sleep(2)		# for what must not happen
    ktap.equal(len(nd.of_origin(A, "temporary")), 1, "no second one for the next advertisement")


@ktap.test
def a_sockets_preference_goes_before():
    temporary = assigned(1)[0]["address"]
    for use in (1, 2):
        configure(use)
        for preference, wanted in ((1, temporary), (2, shared.stable),
                                   (0x100, temporary if use == 2 else shared.stable)):
            for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
                sock = ktap.net6_socket(kind, 0, A)
                sock.setsockopt(socket.IPPROTO_IPV6, 72, preference)
                sock.setblocking(False)
                sock.connect_ex((PREFIX + "99", 9))
                ktap.equal(sock.getsockname()[0], wanted,
                           f"source with preference {preference}, use-tempaddr {use}")
                sock.close()
    wire.flush()
    nd.net6ctl(A, "add", "neighbor", PREFIX + "99", "lladdr", wire.mac, "dev", "a0")
    sock = ktap.net6_socket(socket.SOCK_DGRAM, 0, A)
    for preference, wanted in ((1, temporary), (2, shared.stable)):
        sock.setsockopt(socket.IPPROTO_IPV6, 72, preference)
        sock.sendto(b"x", (PREFIX + "99", 9))
        frame = wire.expect(lambda f: f.proto == 17, "datagram of a socket without address")
        ktap.equal(frame.source, wanted, f"source with preference {preference}")
    sock.close()


@ktap.test
def replaced_before_it_is_deprecated_then_removed():
    # The next one is made 2 + 3 * 20 seconds before (REGEN_ADVANCE). Programs that are
    # started cost seconds of virtual time.
    nd.net6ctl(A, "set", "dev", "a0", "retrans", "20000")
    advertise(valid=100000, preferred=50000)
    first = nd.of_origin(A, "temporary")[0]
    time.sleep(first["preferred"] - 30)		# REGEN_ADVANCE has begun
    second = [a for a in assigned(2) if a["address"] != first["address"]][0]
    time.sleep(60)		# the first one's preferred lifetime ends
    states = {a["address"]: a["state"] for a in nd.of_origin(A, "temporary")}
    ktap.equal(states[first["address"]], "deprecated", "state of the first")
    ktap.equal(nd.source(A, PREFIX + "99"), second["address"], "source")
    first = [a for a in nd.of_origin(A, "temporary") if a["address"] == first["address"]][0]
    time.sleep(first["valid"] + 30)		# and its valid one
    ktap.true(first["address"] not in [a["address"] for a in nd.of_origin(A, "temporary")],
              "the first is gone")
    ktap.true(len(nd.of_origin(A, "temporary")) <= 3, "a bounded number at a time")


@ktap.test
def prefix_lifetimes_bound_it():
    fresh()
    advertise(valid=500, preferred=300)
    address = assigned(1)[0]
    ktap.true(address["valid"] <= 500 and address["preferred"] <= 300, "lifetimes")
    advertise(valid=100000, preferred=50000)
    address = ktap.wait_for(10, "it is longer again", lambda: [
        a for a in nd.of_origin(A, "temporary") if a["valid"] > 500])[0]
    ktap.true(VALID - 60 <= address["valid"] <= VALID, "up to its own bound")


@ktap.test
def too_short_a_preferred_lifetime_makes_none():
    fresh()
    advertise(valid=100, preferred=4)
    time.sleep(3)		# for what must not happen
    ktap.equal(nd.of_origin(A, "temporary"), [], "temporary addresses")


def duplicates(count):
    """Answers so many probes for temporary addresses in turn; returns their targets."""
    fresh()
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "1", "retrans", "20000")
    wire.flush()
    advertise(valid=100000, preferred=50000)
    seen = []
    for _ in range(count):
        probe = wire.expect(lambda f: f.type == nd.NS and f.source == nd.ANY
                            and f.target not in seen + [shared.stable]
                            and f.target.startswith("2001:db8:1:"),
                            "probe for a temporary address", 60)
        seen.append(probe.target)
        wire.send(nd.na(probe.target, probe.target, tlla=wire.mac))
    return seen


@ktap.test
def duplicate_is_replaced():
    seen = duplicates(2)
    found = ktap.wait_for(60, "a temporary address is preferred", lambda: [
        a["address"] for a in nd.of_origin(A, "temporary") if a["state"] == "preferred"])
    ktap.true(len(found) == 1 and found[0] not in seen, "an address that nobody else has")


@ktap.test
def nothing_more_is_tried_when_four_were_duplicates():
    duplicates(4)
    time.sleep(30)		# twice for what must not happen
    advertise(valid=100000, preferred=50000)
    time.sleep(30)
    ktap.equal([a["state"] for a in nd.of_origin(A, "temporary")], ["duplicate"],
               "temporary addresses")


def ours(address):
    sock = ktap.net6_socket(socket.SOCK_DGRAM, 0, A)
    try:
        sock.bind((address, 0))
    except OSError:
        return False
    finally:
        sock.close()
    return True


@ktap.test
def an_end_that_is_far_off_is_met():
    """To the second: the kernel's timers would be minutes late."""
    configure(0)
    fresh()
    start = time.monotonic()
    advertise(valid=4000, preferred=3000)
    wire.send(nd.ra(wire.linklocal, options=nd.prefix_option("2001:db8:2::", valid=nd.FOREVER,
                                                             preferred=nd.FOREVER)))
    ktap.wait_for(10, "both addresses are there", lambda: len([
        a for a in nd.of_origin(A, "slaac") if a["state"] == "preferred"]) == 2)

    def until(seconds):
        time.sleep(start + seconds - time.monotonic())
    until(2998)
    ktap.equal(nd.source(A, PREFIX + "99"), shared.stable,
               "source before the preferred lifetime's end")
    until(3002)
    ktap.true(nd.source(A, PREFIX + "99") != shared.stable, "another one after it")
    until(3998)
    ktap.true(ours(shared.stable), "ours before the valid lifetime's end")
    until(4002)
    ktap.true(not ours(shared.stable), "not after it")
    configure(2)


@ktap.test
def bounded_by_the_limit_on_addresses():
    fresh()
    for n in range(40):
        wire.send(nd.ra(wire.linklocal, options=nd.prefix_option(f"2001:db8:{n:x}::",
                                                                 valid=9000, preferred=5000)))
    ktap.wait_for(10, "some are refused", lambda: nd.counter(A, "NdAddrLimit") > 0)
    ktap.equal(len(nd.of_origin(A, "temporary")) + len(nd.of_origin(A, "slaac")), 16,
               "addresses (limits max-addrs)")


ktap.main(setup)
