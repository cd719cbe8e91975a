# SPDX-License-Identifier: GPL-2.0
"""Two hosts that have IPv6 only, and one that has IPv4 only, behind a NAT64: net6xlat's addresses for
hosts, and the kernel's masquerade.

    [ C ] c0 ---- r0 [ R ] r1 ---- s0 [ S ]
    [ D ] d0 ---- r2
    2001:db8:c::1, 2001:db8:d::1          198.51.100.9
"""
import json
import socket

import ktap
from cloud import ctl, net6, sysctl

C, D, R, S = map(ktap.later, "CDRS")
IN_C, IN_D = "2001:db8:c::1", "2001:db8:d::1"
PREFIX, OUTSIDE, SERVER = "2001:db8:64::", "198.51.100.1", "198.51.100.9"
TO_SERVER = PREFIX + "c633:6409"
INSIDE = "192.168.240.0/20"


def load():
    ktap.net6_load()
    ktap.run("insmod", f"{ktap.BUILD}/xlat/net6xlat.ko")
    ktap.at_exit(ktap.unload, "net6xlat")


def preferred(ns, address):
    return any(a["address"] == address and a["state"] == "preferred"
               for a in json.loads(ctl(ns, "-j", "show", "addresses")))


def translator(*words, inside=INSIDE):
    """Another NAT64 in the place of the one before."""
    if json.loads(ctl(R, "-j", "show", "xlat")):
        ctl(R, "xlat", "del", "nat64")
    ctl(R, "xlat", "add", "nat64", "nat64", "prefix64", PREFIX + "/96", "inside4", inside, *words)
    R.ip("route", "add", inside, "dev", "nat64")
    ctl(R, "add", "route", PREFIX + "/96", "dev", "nat64")


def setup():
    load()
    ktap.kmod("nf_tables", "nft_chain_nat", "nft_masq")
    for host, dev, port, own in ((C, "c0", "r0", IN_C), (D, "d0", "r2", IN_D)):
        ktap.veth(host, dev, R, port)
        router = own[:-1] + "2"
        for ns, name, address in ((host, dev, own), (R, port, router)):
            ctl(ns, "set", "dev", name, "dad-transmits", "0")
            ctl(ns, "add", "address", address + "/64", "dev", name)
        ctl(R, "set", "dev", port, "forwarding", "on")
        ctl(host, "add", "route", PREFIX + "/96", "via", router, "dev", dev)
        for ns, address in ((host, own), (R, router)):
            ktap.wait_for(15, f"{address} is preferred", lambda n=ns, a=address: preferred(n, a))
    ktap.veth(R, "r1", S, "s0")
    R.ip("addr", "add", OUTSIDE + "/24", "dev", "r1")
    S.ip("addr", "add", SERVER + "/24", "dev", "s0")
    sysctl(R, "net.ipv4.ip_forward", "1")
    R.run("nft", "-f", "-", input="table ip nat {\nchain post { type nat hook postrouting "
          "priority 100; ip saddr 192.168.240.0/20 oif r1 masquerade; }\n}\n")
    translator()


def shown():
    found, = json.loads(ctl(R, "-j", "show", "xlat", "nat64"))
    return found


def hosts():
    """{address: IPv4 address that it has}."""
    return {h["address6"]: h["address4"]
            for h in json.loads(ctl(R, "-j", "show", "xlat", "nat64", "hosts"))}


def ipv4(ns, kind=socket.SOCK_STREAM):
    with ns:
        sock = socket.socket(socket.AF_INET, kind)
    sock.settimeout(30 * ktap.SCALE)
    return sock


def asks(ns=C, source=None, to=TO_SERVER, word=b"a word", wait=30):
    """A datagram of a host's, answered by the server. Return: who the server saw, and the answer."""
    with ipv4(S, socket.SOCK_DGRAM) as server, net6(ns, socket.SOCK_DGRAM) as client:
        server.bind((SERVER, 7000))
        server.settimeout(wait * ktap.SCALE)
        client.settimeout(wait * ktap.SCALE)
        if source:
            client.bind((source, 0))
        client.sendto(word, (to, 7000))
        data, peer = server.recvfrom(65536)
        server.sendto(data[::-1], peer)
        return peer, client.recv(65536)
