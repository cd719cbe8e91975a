#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What rules of nftables other than those of ip_netfilter.py make of net6's packets and sockets in
# takeover mode. Those that read the sender's socket know it, those that look sockets up in
# native's tables find none, and those that send by native's routes send nothing. None of them
# stops a packet that it is not to stop, and none falls over what native does not have.
#
#	A [a0] ------ [r0] R [r1] ------ [b0] B	(lib/nft.py)
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 180
import os
import re
import socket
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
import nft
from nft import A, B, IN_A, IN_B, R, R0, Rules, chain, make, pings, serve, table

TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
SO_MARK, V6_TRANSPARENT, PORT = 36, 75, 7600
root, group = ktap.CGROUPS


def setup():
    nft.setup()
    ktap.cgroup()
    ktap.at_exit(os.rmdir, group)


def counted(ns, hook, rule, traffic, priority="0"):
    """How often a rule that lets all through held for this traffic."""
    with Rules(ns, table(chain(hook, f"{rule} counter", priority))) as rules:
        traffic()
        return rules.packets(hook)


def datagram(ns=None, to=IN_B, prepare=lambda s: None, port=PORT):
    """One of A's to B that arrives."""
    with make(ns or A) as s, make(B if to == IN_B else R, bind=("::", port)) as there:
        prepare(s)
        s.sendto(b"words", (to, port))
        ktap.equal(there.recv(9), b"words", "what arrives")


def connection(client=None, server=None, prepare=lambda s: None, size=50000):
    """A client that sends and is answered."""
    with make(server or B, TCP) as listener, make(client or A, TCP) as s:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("::", PORT))
        listener.listen()
        thread = serve(listener, lambda n: str(n).encode())
        prepare(s)
        s.connect(({B: IN_B, R: R0, A: IN_A}[server or B], PORT))
        s.sendall(bytes(size))
        s.shutdown(socket.SHUT_WR)
        ktap.equal(s.recv(100), str(size).encode(), "bytes that came")
        thread.join()


def marked(s):
    s.setsockopt(socket.SOL_SOCKET, SO_MARK, 7)


def transparent(s):
    s.setsockopt(socket.IPPROTO_IPV6, V6_TRANSPARENT, 1)


@ktap.test
def rules_know_the_sender():
    udp = "udp dport 7600 "
    for rule, prepare in ((udp + "meta mark 7", marked), (udp + "meta skuid 0", None),
                          (udp + "meta skgid 0", None)):
        ktap.equal(counted(A, "output", rule, lambda p=prepare: datagram(prepare=p or (
            lambda s: None))), 1, rule)
    for rule in ("meta mark 7", "meta skuid 1", "meta skgid 1"):
        ktap.equal(counted(A, "output", udp + rule, datagram), 0, rule)
        ktap.equal(counted(A, "output", "tcp dport 7600 " + rule, connection), 0, rule)
    ktap.true(counted(A, "output", "tcp dport 7600 meta mark 7",
                      lambda: connection(prepare=marked)) > 3, "segments with a mark")


@ktap.test
def rules_know_the_sender_s_socket():
    ktap.need("nft_socket")
    name = os.path.basename(group)
    for rule, prepare, wanted in (
            ("socket mark 7", marked, True), ("socket mark 7", None, False),
            ("socket transparent 1", transparent, True), ("socket transparent 0", None, True),
            ("socket transparent 1", None, False)):
        for traffic, proto in ((datagram, "udp"), (connection, "tcp")):
            seen = counted(A, "output", f"{proto} dport 7600 {rule}",
                           lambda t=traffic, p=prepare: t(prepare=p or (lambda s: None)))
            ktap.equal(bool(seen), wanted, f"{proto} {rule} {prepare}")
    with bpf.inside(root, group):
        for traffic, proto in ((datagram, "udp"), (connection, "tcp")):
            rule = f'{proto} dport 7600 socket cgroupv2 level 1 "{name}"'
            if "not" in subprocess.run(["nft", "-c", "-f", "-"], input=table(chain(
                    "output", rule)), text=True, capture_output=True, check=False).stderr:
                raise ktap.Skip("nft finds no cgroup2")
            ktap.true(counted(A, "output", rule, traffic), rule)


@ktap.test
def no_socket_is_found_for_what_comes_in():
    """It is looked up in native's tables."""
    ktap.need("nft_socket", "nft_tproxy")
    for hook in ("prerouting", "input"):
        for proto, traffic in (("udp", datagram), ("tcp", connection)):
            for key in ("transparent 0", "transparent 1", "mark 0", "wildcard 0", "wildcard 1"):
                ktap.equal(counted(B, hook, f"{proto} dport 7600 socket {key}", traffic), 0,
                           f"{hook} {proto} {key}")


@ktap.test
def a_transparent_proxy_is_not_found():
    """What is for another goes on to it, and nothing is found for what is for ourselves."""
    ktap.need("nft_tproxy")
    for proto, kind, traffic in (("udp", UDP, datagram), ("tcp", TCP, connection)):
        with make(R, kind) as proxy:
            transparent(proxy)
            proxy.bind(("::", 7700))
            if kind == TCP:
                proxy.listen()
            rule = f"meta nfproto ipv6 {proto} dport 7600 tproxy ip6 to :7700 accept"
            with Rules(R, table(chain("prerouting", rule, "-150"))):
                traffic()
                (connection if kind == TCP else datagram)(
                    **({"server": R} if kind == TCP else {"to": R0}))
            proxy.setblocking(False)
            ktap.equal(ktap.failing(proxy.accept if kind == TCP else lambda p=proxy: p.recv(9)),
                       "EAGAIN", f"what the proxy for {proto} gets")


def follows(rule, hook="prerouting", priority="0", kind="filter", ns=None):
    with Rules(ns or R, "table ip6 t {\n" + chain(hook, rule, priority, kind) + "}\n"):
        datagram()
        connection()
        ktap.true(pings(A, IN_B), f"ping beside {rule}")


@ktap.test
def what_reads_a_route_reads_the_device_s():
    ktap.need("nft_ct")
    for hook, ns in (("output", A), ("forward", R), ("postrouting", R), ("input", B)):
        for rule in ("rt ip6 nexthop ::1 drop", "rt ipsec exists drop", "rt classid 5 drop",
                     "meta rtclassid 5 drop", "rt mtu 1 drop",
                     "tcp flags syn tcp option maxseg size set rt mtu"):
            # The segment size of a path is no matter of the receiver's.
            if "mtu" not in rule or hook != "input":
                follows(rule, hook, ns=ns)


@ktap.test
def connections_have_marks_zones_and_time_outs():
    ktap.need("nft_ct")
    ktap.equal(counted(R, "forward", "udp dport 7600 ct mark set 5 ct mark 5", datagram), 1, "mark")
    ktap.true(counted(R, "forward", "ct state established ct packets > 1", connection) > 3,
              "packets of a connection")
    follows("notrack", "prerouting", "-300")
    follows("ct zone set 5", "prerouting", "-300")
    ktap.need("nft_connlimit")
    follows("ct count over 100 drop", "forward")


@ktap.test
def a_copy_goes_the_packet_s_own_way():
    """By the interface of the router that the rule names, and there by net6's routes."""
    ktap.need("nft_dup_ipv6")
    for hook, ns, to, there in (("output", A, R0, R), ("prerouting", R, IN_B, B),
                                ("forward", R, IN_B, B)):
        with Rules(ns, "table ip6 t {\n" + chain(hook, f"udp dport 7600 dup to {to}") + "}\n"), \
                Rules(there, table(chain("prerouting", "udp dport 7600 counter"))) as rules:
            datagram()
            ktap.wait_for(10, "two arrive", lambda r=rules: r.packets("prerouting") == 2)
    for to in ("fe80::1", "ff02::1", "fd00:99::1", "::1", IN_A):
        for hook, ns in (("output", A), ("input", B), ("postrouting", R)):
            follows(f"udp dport 7600 dup to {to}", hook, ns=ns)


@ktap.test
def redirect_finds_an_address_of_the_device():
    """redirect asks native's devices, which net6 answers for. The module that asks may come later
    than net6, and again.
    """
    rule = "udp dport 7600 redirect to :7601"
    modules = ("nft_redir", "nft_chain_nat", "nf_nat")
    for _ in range(1 if ktap.CHECKING else 2):
        ktap.kmod(*reversed(modules))
        with Rules(B, "table ip6 t {\n" + chain("prerouting", rule, "0", "nat") + "}\n"), \
                make(A) as s, make(B, bind=("::", PORT)) as there, \
                make(B, bind=("::", 7601)) as instead:
            s.sendto(b"words", (IN_B, PORT))
            data, peer = instead.recvfrom(9)
            ktap.equal(data, b"words", rule)
            instead.sendto(b"answer", peer)
            ktap.equal(s.recvfrom(9), (b"answer", (IN_B, PORT, 0, 0)), "from where it was sent to")
            connection()
            ktap.true(pings(A, IN_B), f"ping beside {rule}")
            there.setblocking(False)
            ktap.equal(ktap.failing(there.recv, 9), "EAGAIN", rule)
        subprocess.run(("modprobe", "-q", "-r", *modules), check=False)
    ktap.kmod(*reversed(modules))
    # To ourselves there is an address.
    with Rules(A, "table ip6 t {\n" + chain("output", "udp dport 7600 redirect to :7601", "-100",
                                             "nat") + "}\n"), \
            make(A, bind=("::1", 7601)) as here, make(A) as s:
        s.sendto(b"words", (IN_B, PORT))
        ktap.equal(here.recv(9), b"words", "what is redirected on its way out")


@ktap.test
def a_flow_is_not_taken_off_the_router():
    """Its routes would be native's; it goes on packet by packet."""
    ktap.need("nf_flow_table", "nft_flow_offload")
    ktap.need("nf_flow_table_inet")
    text = ("table inet t {\nflowtable f { hook ingress priority 0; devices = { r0, r1 }; }\n" +
            chain("forward", "meta l4proto { tcp, udp } flow add @f; counter") + "}\n")
    with Rules(R, text) as rules:
        connection(size=500000)
        datagram()
        ktap.true(rules.packets("forward") > 10, "packets that the router's rules saw")


@ktap.test
def a_proxy_for_syns_answers_them():
    """And makes the connection to the server when the client has answered."""
    ktap.need("nft_synproxy")
    R.run("sysctl", "-qw", "net.netfilter.nf_conntrack_tcp_loose=0")
    text = ("table ip6 t {\n" + chain("prerouting", "tcp flags syn tcp dport 7600 notrack", "-300") +
            chain("forward", "tcp dport 7600 ct state invalid,untracked synproxy mss 1440 "
                  "wscale 7 timestamp sack-perm; ct state invalid drop") + "}\n")
    with Rules(R, text):
        connection()
        connection(size=1)
    connection()


@ktap.test
def other_statements_do_what_they_say():
    ktap.need("nft_log", "nft_limit", "nft_quota", "nft_numgen", "nft_hash")
    for rule in ('log prefix "net6: " level debug', "limit rate over 1000/second drop",
                 "quota over 100 mbytes drop", "numgen inc mod 2 offset 5 1 drop",
                 "jhash ip6 saddr mod 2 offset 5 1 drop", "ip6 hoplimit set 60", "ip6 dscp set cs1",
                 "udp dport set 7600", "exthdr hbh exists drop", "ip6 flowlabel set 5"):
        follows(rule, "forward")


@ktap.test
def logged_rules_know_the_sender():
    """nflog with the uid reads the socket, too."""
    ktap.need("nft_log", "nf_log_syslog")
    follows('log prefix "net6: " flags skuid level debug', "output", ns=A)


@ktap.test
def devices_packets_are_seen_before_and_behind():
    """netdev's ingress and egress hooks are no protocol's."""
    ktap.need("nf_tables")
    for ns, dev, hook in ((A, "a0", "egress"), (B, "b0", "ingress")):
        text = (f"table netdev t {{ chain c {{ type filter hook {hook} device {dev} priority 0; "
                "udp dport 7600 counter drop; }\n}\n")
        with Rules(ns, text), make(A) as s, make(B, bind=("::", PORT)) as there:
            s.sendto(b"words", (IN_B, PORT))
            ktap.true(pings(A, IN_B), "ping")
            there.setblocking(False)
            ktap.equal(ktap.failing(there.recv, 9), "EAGAIN", hook)
            out = ns.run("nft", "list", "ruleset")
            ktap.equal(re.search(r"counter packets (\d+)", out).group(1), "1", "packets")


ktap.main(setup=setup)
