#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# br_netfilter's rules for the IPv6 frames of a bridge (net.bridge.bridge-nf-call-ip6tables=1), where
# net6 is the host's only IPv6. Without ipv6.disable=1 native is, and is to give the same answers.
# The checking kernel has no br_netfilter.
#
#	[ A ] a0 --- p0 [ R: br0 fd00:b::1 ] p1 --- b0 [ B ]	A is fd00:b::a, B fd00:b::b
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 120
import os
import socket
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nft
import rawlinks
from nft import Rules, chain, make, table

A, B, R = map(ktap.later, "ABR")
ADDRESS = {A: "fd00:b::a", B: "fd00:b::b", R: "fd00:b::1"}
ECHO = "icmpv6 type echo-request counter"
PORT = 7300


def setup():
    with open("/proc/cmdline", encoding="ascii") as file:
        if "ipv6.disable=1" in file.read():
            ktap.native_asks_nobody()
            ktap.net6_load()
    ktap.kmod("bridge", "br_netfilter")
    R.ip("link", "add", "br0", "up", "type", "bridge", "mcast_snooping", "0")
    for ns, port, dev in ((A, "p0", "a0"), (B, "p1", "b0")):
        ktap.veth(R, port, ns, dev)
        R.ip("link", "set", port, "master", "br0")
    for ns, dev in ((A, "a0"), (B, "b0"), (R, "br0")):
        ns.ip("-6", "addr", "add", ADDRESS[ns] + "/64", "dev", dev, "nodad")
    with R, open("/proc/sys/net/bridge/bridge-nf-call-ip6tables", "w", encoding="ascii") as file:
        file.write("1")
    ktap.wait_for(30, "B answers A", lambda: nft.pings(A, ADDRESS[B]))


def need_rules():
    if subprocess.run(["nft", "list", "ruleset"], capture_output=True, check=False).returncode:
        raise ktap.Skip("no nf_tables")


@ktap.test
def frames_pass():
    rawlinks.ping(A, ADDRESS[B], 1000)
    rawlinks.ping(B, ADDRESS[A])
    rawlinks.ping(A, ADDRESS[R])
    rawlinks.ping(R, ADDRESS[B])


@ktap.test
def rules_see_what_is_bridged():
    need_rules()
    hooks = ("prerouting", "forward", "postrouting")
    with Rules(R, table(*(chain(hook, ECHO) for hook in hooks))) as seen:
        rawlinks.ping(A, ADDRESS[B])
        ktap.equal([seen.packets(hook) for hook in hooks], [1, 1, 1], "once each")


@ktap.test
def rules_see_once_what_is_for_the_bridge_itself():
    need_rules()
    hooks = ("prerouting", "input", "forward")
    with Rules(R, table(*(chain(hook, ECHO) for hook in hooks))) as seen:
        rawlinks.ping(A, ADDRESS[R])
        ktap.equal([seen.packets(hook) for hook in hooks], [1, 1, 0], "packets")


@ktap.test
def a_rule_drops():
    need_rules()
    with Rules(R, table(chain("forward", "icmpv6 type echo-request drop"))):
        ktap.true(not nft.pings(A, ADDRESS[B]), "an echo passes")
    ktap.true(nft.pings(A, ADDRESS[B]), "without the rule")


@ktap.test
def connections_are_tracked():
    """And fragments are put together before, and taken apart behind."""
    need_rules()
    ktap.need("nf_conntrack", "nft_ct")
    rule = "ct state established counter"
    with Rules(R, table(chain("forward", rule))) as seen:
        with make(B, socket.SOCK_STREAM, (ADDRESS[B], PORT)) as listener:
            listener.listen()
            thread = nft.serve(listener, lambda size: b"%d" % size)
            with make(A, socket.SOCK_STREAM) as sock:
                sock.connect((ADDRESS[B], PORT))
                sock.sendall(bytes(300000))
                sock.shutdown(socket.SHUT_WR)
                ktap.equal(sock.recv(20), b"300000", "octets")
            thread.join()
        ktap.true(seen.packets("forward") > 4, "packets of the connection")
        data = os.urandom(9000)
        with make(B, bind=(ADDRESS[B], PORT)) as there, make(A) as here:
            here.sendto(data, (ADDRESS[B], PORT))
            ktap.true(there.recv(10000) == data, "a datagram of seven fragments")


@ktap.test
def what_is_translated_goes_where_it_is_for():
    """To the bridge's own address, and by routing to another host of the bridge."""
    need_rules()
    ktap.need("nft_chain_nat")
    rule = f"ip6 daddr {ADDRESS[B]} udp dport {PORT} dnat to {ADDRESS[R]}"
    with Rules(R, table(chain("prerouting", rule, "-100", "nat")).replace("inet t", "ip6 t")), \
            make(R, bind=(ADDRESS[R], PORT)) as there, make(A) as here:
        here.sendto(b"words", (ADDRESS[B], PORT))
        data, peer = there.recvfrom(9)
        ktap.equal(data, b"words", "to the bridge")
        there.sendto(b"answer", peer)
        ktap.equal(here.recvfrom(9), (b"answer", (ADDRESS[B], PORT, 0, 0)), "who answers")
    with R, open("/proc/sys/net/ipv6/conf/all/forwarding", "w", encoding="ascii") as file:
        file.write("1")
    rule = f"ip6 daddr {ADDRESS[R]} udp dport {PORT} dnat to {ADDRESS[B]}"
    with Rules(R, table(chain("prerouting", rule, "-100", "nat")).replace("inet t", "ip6 t")), \
            make(B, bind=(ADDRESS[B], PORT)) as there, make(A) as here:
        here.sendto(b"words", (ADDRESS[R], PORT))
        ktap.equal(there.recv(9), b"words", "to a host of the bridge")


@ktap.test
def nobody_is_there():
    """A rule translates to what has no route: the frame goes nowhere."""
    need_rules()
    ktap.need("nft_chain_nat")
    rule = f"ip6 daddr {ADDRESS[B]} udp dport {PORT} dnat to 2001:db8:77::1"
    with Rules(R, table(chain("prerouting", rule, "-100", "nat")).replace("inet t", "ip6 t")), \
            make(A) as here:
        for _ in range(10):
            here.sendto(b"words", (ADDRESS[B], PORT))
        rawlinks.ping(A, ADDRESS[B])


@ktap.test
def the_bridge_goes_under_traffic():
    need_rules()
    with Rules(R, table(chain("forward", "icmpv6 type echo-request counter"))):
        with A, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            for number in range(2000):
                sock.sendto(bytes(1000), (ADDRESS[B], 9))
                if number == 1000:
                    R.ip("link", "del", "br0")


ktap.main(setup=setup)
