#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# First-hop router selection by source address, RFC 8028, and rule 5.5 of RFC 6724: two routers
# that tell a prefix each. What has a source of one prefix leaves by the router that told it,
# whoever sends it; a source is chosen that fits the router.
#
#	A [a0 net6] ------ [b0 raw frames, routers fe80::1, fe80::2, fe80::3] B
# guest: stock+
# timeout: 200

import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ip
import ktap
import nd

R1, R2, R3 = "fe80::1", "fe80::2", "fe80::3"
MAC = {R1: "02:00:00:00:00:01", R2: "02:00:00:00:00:02", R3: "02:00:00:00:00:03"}
P1, P2, P3 = "2001:db8:1::", "2001:db8:2::", "2001:db8:33::"
PORT = 4711
A, B, wire = nd.ends()
OWN = {}
sockets = {}
numbers = iter(range(1, 10000))


def far(prefix="2001:db8:f::"):
    """A node beyond the link that nothing was sent to before."""
    return f"{prefix}{next(numbers):x}"


def advertise(router, *prefixes, valid=3600, bits=0x40, more=b"", **values):
    """Prefixes are not on-link, but for addresses."""
    options = b"".join(nd.prefix_option(p, flags=bits, valid=valid, preferred=min(valid, 1800))
                       for p in prefixes)
    options = nd.lladdr_option(nd.SLLA, MAC[router]) + options + more
    wire.send(nd.ra(router, options=options, **values))


def barrier():
    """What was sent before has been received."""
    wire.flush()
    wire.send(nd.ns("fe80::99", OWN[P1], slla="02:00:00:00:00:99"))
    wire.expect(lambda f: f.type == nd.NA and f.target == OWN[P1], "answer")


def own_address(prefix):
    return next((a["address"].split("/")[0] for a in nd.show(A, "addresses")
                 if nd.packed(a["address"].split("/")[0])[:8] == nd.packed(prefix)[:8]
                 and a["state"] == "preferred"), None)


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)
    nd.net6ctl(A, "set", "dev", "a0", "dad-transmits", "0")
    nd.linklocal(A)
    for router, mac in MAC.items():
        nd.net6ctl(A, "add", "neighbor", router, "lladdr", mac, "dev", "a0")
    advertise(R1, P1)
    advertise(R2, P2)
    for prefix in (P1, P2):
        ktap.wait_for(10, f"an address of {prefix}", lambda p=prefix: own_address(p))
        OWN[prefix] = own_address(prefix)
        sockets[prefix] = ktap.net6_socket(socket.SOCK_DGRAM, ns=A)
        sockets[prefix].bind((OWN[prefix], PORT))
    sockets[None] = ktap.net6_socket(socket.SOCK_DGRAM, ns=A)
    for sock in sockets.values():
        ktap.at_exit(sock.close)


def router_of(frame):
    return next((r for r, mac in MAC.items() if mac == frame.dst), frame.dst)


def leaves(prefix, dest=None):
    """The router by which a datagram of this source goes, and its source."""
    dest = dest or far()
    wire.flush()
    sockets[prefix].sendto(b"x", (dest, PORT))
    frame = wire.expect(lambda f: f.proto == 17 and f.dest == dest, f"datagram to {dest}")
    return router_of(frame), frame.source


def fits(told=((P1, R1), (P2, R2))):
    for prefix, router in told:
        ktap.equal(leaves(prefix), (router, OWN[prefix]), f"what has a source in {prefix}")


@ktap.test
def a_bound_source_decides_which_router_it_is():
    fits()
    # the same destination for both, in turn
    dest = far()
    for _ in range(2):
        for prefix, router in ((P1, R1), (P2, R2)):
            ktap.equal(leaves(prefix, dest)[0], router, f"from {prefix}")


@ktap.test
def one_socket_that_changes_its_source():
    sock, dest = sockets[None], far()
    for prefix, router in ((P1, R1), (P2, R2), (P1, R1)):
        info = socket.inet_pton(socket.AF_INET6, OWN[prefix]) + struct.pack("=I", 0)
        wire.flush()
        sock.sendmsg([b"x"], [(socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, info)], 0, (dest, PORT))
        frame = wire.expect(lambda f: f.proto == 17 and f.dest == dest, "datagram")
        ktap.equal((router_of(frame), frame.source), (router, OWN[prefix]), "router and source")


@ktap.test
def a_source_is_chosen_that_the_router_has_told():
    """RFC 6724 section 5, rule 5.5 goes before the longest prefix, rule 8."""
    for preference, prefix, router in ((1, P1, R1), (3, P2, R2)):
        advertise(R1, P1, flags=preference << 3)
        barrier()
        for near in (P1, P2):
            ktap.equal(leaves(None, far(near[:-1] + "ffff::")), (router, OWN[prefix]),
                       f"to what is near {near}, preference of R1 {preference}")
    advertise(R1, P1)
    barrier()


@ktap.test
def tcp_leaves_by_the_router_of_its_source():
    for prefix, router in ((P1, R1), (P2, R2)):
        dest = far()
        with ktap.net6_socket(socket.SOCK_STREAM, ns=A) as sock:
            sock.bind((OWN[prefix], 0))
            sock.setblocking(False)
            wire.flush()
            sock.connect_ex((dest, PORT))
            frame = wire.expect(lambda f, d=dest: f.proto == 6 and f.dest == d, "SYN")
            ktap.equal((router_of(frame), frame.source), (router, OWN[prefix]), "SYN")


def syn(source, dest, port):
    message = struct.pack("!HHIIBBHHH", 5000, port, 1, 0, 5 << 4, 2, 1000, 0, 0)
    value = nd.checksum(source, dest, 6, message)
    return nd.ipv6(source, dest, 6, message[:16] + struct.pack("!H", value) + message[18:])


@ktap.test
def answers_leave_by_the_router_of_the_address_that_was_asked():
    with ktap.net6_socket(socket.SOCK_STREAM, ns=A) as listener:
        listener.bind(("::", PORT))
        listener.listen()
        for prefix, router in ((P1, R1), (P2, R2)):
            for what, port in (("SYN-ACK", PORT), ("reset", PORT + 1)):
                remote = far()
                wire.flush()
                wire.send(syn(remote, OWN[prefix], port))
                frame = wire.expect(lambda f, r=remote: f.proto == 6 and f.dest == r, what)
                ktap.equal(router_of(frame), router, what)
            remote = far()
            wire.send(nd.echo(remote, OWN[prefix], 7, hlim=64))
            frame = wire.expect(lambda f, r=remote: f.type == nd.REPLY and f.dest == r, "reply")
            ktap.equal(router_of(frame), router, "echo reply")
            remote = far()
            wire.send(nd.ipv6(remote, OWN[prefix], 17,
                              ip.udp_message(remote, OWN[prefix], dport=9)))
            frame = wire.expect(lambda f, r=remote: f.type == 1 and f.dest == r, "error")
            ktap.equal(router_of(frame), router, "ICMPv6 error")


@ktap.test
def a_redirect_is_for_the_sources_of_the_router_that_sends_it():
    """RFC 8028 section 3.4."""
    dest = far()
    ktap.equal((leaves(P1, dest)[0], leaves(P2, dest)[0]), (R1, R2), "before")
    wire.send(nd.redirect(R2, OWN[P2], R3, dest, tlla=MAC[R3]))
    barrier()
    ktap.equal(leaves(P2, dest)[0], R3, "redirected")
    ktap.equal(leaves(P1, dest)[0], R1, "as before")


@ktap.test
def a_redirect_does_not_change_the_source():
    """By the longest prefix it would be the other one, and R3 has told neither."""
    advertise(R1, P1, flags=1 << 3)
    barrier()
    dest = far(P2[:-1] + "ffff::")
    ktap.equal(leaves(None, dest), (R1, OWN[P1]), "before")
    wire.send(nd.redirect(R1, OWN[P1], R3, dest, tlla=MAC[R3]))
    barrier()
    ktap.equal(leaves(None, dest), (R3, OWN[P1]), "redirected")
    advertise(R1, P1)
    barrier()


@ktap.test
def a_connected_socket():
    """It has the source that it was connected with, whatever is preferred later."""
    with ktap.net6_socket(socket.SOCK_DGRAM, ns=A) as sock:
        advertise(R2, P2, flags=1 << 3)
        barrier()
        dest = far()
        sock.connect((dest, PORT))
        advertise(R2, P2)
        for preference in (1, 3):
            advertise(R1, P1, flags=preference << 3)
            barrier()
            for _ in range(2):
                wire.flush()
                sock.send(b"x")
                frame = wire.expect(lambda f: f.proto == 17 and f.dest == dest, "datagram")
                ktap.equal((router_of(frame), frame.source), (R2, OWN[P2]), "router and source")
        advertise(R1, P1)
        barrier()


def meets_a_small_mtu(by):
    """A datagram leaves by R2, and Packet Too Big about it comes by the wire @by."""
    dest = far()
    for prefix in (P1, P2):
        leaves(prefix, dest)
    wire.flush()
    data = bytes(1400)
    sockets[P2].sendto(data, (dest, PORT))
    frame = wire.expect(lambda f: f.proto == 17 and f.dest == dest, "whole datagram")
    by.send(nd.icmp(R2, OWN[P2], 2, struct.pack("!I", 1280) + frame.data[14:14 + 1200],
                    hlim=64))
    barrier()
    sockets[P2].sendto(data, (dest, PORT))
    wire.expect(lambda f: f.proto == 44 and f.dest == dest, "fragments")


@ktap.test
def a_path_mtu_is_for_the_sources_that_have_met_it():
    meets_a_small_mtu(wire)


@ktap.test
def a_path_mtu_may_come_by_another_interface():
    """The router there has told another prefix: packets of this source do not leave by it."""
    ktap.veth(A, "a1", B, "b1")
    nd.net6ctl(B, "detach", "dev", "b1")
    other = nd.Wire(B, "b1")
    nd.net6ctl(A, "set", "dev", "a1", "dad-transmits", "0")
    nd.linklocal(A, "a1")
    other.peer = next(i["lladdr"] for i in nd.show(A, "interfaces") if i["dev"] == "a1")
    other.send(nd.ra(R3, options=nd.lladdr_option(nd.SLLA, MAC[R3])
                     + nd.prefix_option("2001:db8:3::", flags=0, valid=3600, preferred=1800)))
    ktap.wait_for(10, "a router on a1",
                  lambda: any(r["dev"] == "a1" for r in nd.show(A, "routers")))
    meets_a_small_mtu(other)
    A.ip("link", "del", "a1")
    fits()


@ktap.test
def a_router_that_tells_no_more_is_none_for_the_prefix():
    advertise(R1, P1, flags=1 << 3)
    advertise(R2, P2, valid=0)
    barrier()
    ktap.equal(leaves(P2), (R1, OWN[P2]), "the one of high preference")
    advertise(R2, P2)
    barrier()
    fits()
    advertise(R2, P2, lifetime=0)
    barrier()
    ktap.equal(leaves(P2), (R1, OWN[P2]), "the only router")
    advertise(R2, P2)
    advertise(R1, P1)
    barrier()
    fits()


@ktap.test
def flags_of_the_option_do_not_matter():
    """RFC 8028 section 3.1: a prefix with neither L nor A, told for this alone."""
    advertise(R3, P2, bits=0)
    advertise(R2, P2, lifetime=0)
    barrier()
    ktap.equal(leaves(P2)[0], R3, "who tells it still")
    advertise(R3, lifetime=0)
    advertise(R2, P2)
    barrier()
    fits()


@ktap.test
def a_default_route_in_an_option_is_a_router_for_what_stands_before_it():
    """RFC 4191 section 3.1: it overrides the header's lifetime, here none."""
    option = struct.pack("!BBBBI", 24, 1, 0, 0, 1800)
    advertise(R1, P1, flags=1 << 3)
    for _ in range(2):
        advertise(R3, P2, bits=0, more=option, lifetime=0)
        advertise(R2, P2, lifetime=0)
        barrier()
        ktap.equal(leaves(P2)[0], R3, "who has told it")
    advertise(R3, lifetime=0)
    advertise(R2, P2)
    advertise(R1, P1)
    barrier()
    fits()


@ktap.test
def a_lifetime_of_its_own():
    advertise(R1, P1, flags=1 << 3)
    advertise(R3, P2, valid=2, bits=0)
    advertise(R2, P2, lifetime=0)
    barrier()
    ktap.equal(leaves(P2)[0], R3, "while it lasts")
    ktap.wait_for(15, "it is over", lambda: leaves(P2)[0] == R1)
    advertise(R3, lifetime=0)
    advertise(R2, P2)
    advertise(R1, P1)
    barrier()
    fits()


def way_of(prefix):
    """The router of a datagram of this source, None if it waits for one."""
    dest = far()
    wire.flush()
    sockets[prefix].sendto(b"x", (dest, PORT))
    frame = wire.wait(lambda f: f.proto == 17 and f.dest == dest, 1)
    return frame and router_of(frame)


@ktap.test
def a_router_that_does_not_answer_gives_way_until_it_does():
    nd.net6ctl(A, "del", "neighbor", R3, "dev", "a0")
    wire.send(nd.ra(R3, options=nd.prefix_option(P3, flags=0x40, valid=3600, preferred=1800)))
    OWN[P3] = ktap.wait_for(10, f"an address of {P3}", lambda: own_address(P3))
    sockets[P3] = ktap.net6_socket(socket.SOCK_DGRAM, ns=A)
    sockets[P3].bind((OWN[P3], PORT))
    ktap.wait_for(30, "another one is taken", lambda: way_of(P3) in (R1, R2))
    fits()

    def answered():
        if way_of(P3) == R3:
            return True
        ask = wire.wait(lambda f: f.type == nd.NS and f.target == R3, 1)
        if ask:
            wire.send(nd.na(R3, R3, ask.source, nd.SOLICITED | nd.OVERRIDE | nd.ROUTER,
                            MAC[R3]))
        return False
    ktap.wait_for(90, "it is taken again", answered)
    sockets.pop(P3).close()
    advertise(R3, lifetime=0)
    barrier()
    fits()


@ktap.test
def there_is_a_bound():
    before = nd.counter(A, "NdPrefixLimit")
    nd.net6ctl(A, "set", "limits", "max-prefixes", "4")
    for number in range(8):
        advertise(R1, f"2001:db8:b{number:x}::", bits=0)
    barrier()
    ktap.equal(nd.counter(A, "NdPrefixLimit") - before, 5, "three found room beside P1")
    for number in range(8):
        advertise(R1, f"2001:db8:b{number:x}::", bits=0, valid=0)
    barrier()
    fits()


if __name__ == "__main__":
    ktap.main(setup=setup)
