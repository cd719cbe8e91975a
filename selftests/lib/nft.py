# SPDX-License-Identifier: GPL-2.0
"""nftables' rules in takeover mode: two hosts and a router, all on net6, and rules in them.

    A [a0] ------ [r0] R [r1] ------ [b0] B
"""
import json
import os
import re
import socket
import threading

import ktap

CTL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/net6ctl")
IN_A, IN_B, R0, R1 = "fd00:a::1", "fd00:b::1", "fd00:a::2", "fd00:b::2"
A, B, R = map(ktap.later, "ABR")


def preferred(ns, dev, address):
    return any(e["address"] == address and e["state"] == "preferred"
               for e in json.loads(ns.run(CTL, "-j", "show", "addresses", "dev", dev)))


def setup():
    ktap.net6_load()
    ktap.kmod("nf_tables", "nft_ct", "nft_reject_inet")
    ktap.veth(A, "a0", R, "r0")
    ktap.veth(R, "r1", B, "b0")
    for ns, dev, address in ((A, "a0", IN_A), (R, "r0", R0), (R, "r1", R1), (B, "b0", IN_B)):
        ns.run(CTL, "set", "dev", dev, "dad-transmits", "0")
        ns.ip("-6", "addr", "add", address + "/64", "dev", dev)
        ktap.wait_for(15, f"{address} is there", lambda n=ns, d=dev, a=address:
                      preferred(n, d, a))
    for dev in "r0", "r1":
        R.run(CTL, "set", "dev", dev, "forwarding", "1")
    A.ip("-6", "route", "add", "default", "via", R0, "dev", "a0")
    B.ip("-6", "route", "add", "default", "via", R1, "dev", "b0")
    ktap.true(pings(A, IN_B), "the way through")


def pings(ns, address, *words):
    out = ns.run("ping", "-6", "-n", "-c", "1", "-W", str(2 * ktap.SCALE), *words, address,
                 check=False)
    return "1 received" in out


class Rules:
    """Rules of one namespace, gone at the end of the with block."""

    def __init__(self, ns, text):
        self.ns, self.text = ns, text

    def __enter__(self):
        self.ns.run("nft", "-f", "-", input=self.text)
        return self

    def __exit__(self, *_):
        self.ns.run("nft", "flush", "ruleset")

    def packets(self, hook):
        """What the counter in a chain has seen."""
        out = self.ns.run("nft", "list", "chain", "inet", "t", hook)
        return int(re.search(r"counter packets (\d+)", out).group(1))


HOOKS = ("prerouting", "input", "forward", "output", "postrouting")


def chain(hook, rule, priority="0", kind="filter"):
    return f"chain {hook} {{ type {kind} hook {hook} priority {priority}; {rule}; }}\n"


def table(*chains):
    return "table inet t {\n" + "".join(chains) + "}\n"


def counting():
    return table(*(chain(hook, "icmpv6 type echo-request counter") for hook in HOOKS))


def make(ns, kind=socket.SOCK_DGRAM, bind=None):
    with ns:
        s = socket.socket(socket.AF_INET6, kind)
    s.settimeout(10 * ktap.SCALE)
    if bind:
        s.bind(bind)
    return s


def serve(listener, answer):
    def run():
        c, _ = listener.accept()
        with c:
            size = 0
            while True:
                data = c.recv(65536)
                size += len(data)
                if not data:
                    break
            c.sendall(answer(size))
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
