#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Translators come and go: what is refused, what is shown, names and mappings, and their end in each
# way while packets are on their way: by hand, with the namespace, with net6's interface, with the
# module. The topology is drawn in lib/xlat.py.
# guest: both
# timeout: 300
# guest-options: --kmemleak
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import nd  # pylint: disable=wrong-import-position
import xlat  # pylint: disable=wrong-import-position
from xlat import A, B, P, Q, ctl, ipv4  # pylint: disable=wrong-import-position

S = ktap.later("xlat-S")
ROUNDS = 3 if ktap.CHECKING else 6
ADD = "xlat", "add", "siit"


def refused(*words, says):
    with P:
        done = subprocess.run((xlat.CTL, *words), text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ktap.true(done.returncode == 1 and says in done.stdout, f"{words}: {done.stdout}")


@ktap.test
def refusals():
    refused(*ADD, "x", says="a prefix or mappings")
    for prefix in ("2001:db8::/33", "2001:db8::1/64", "2001:db8:0:0:ff00::/96"):
        refused(*ADD, "x", "prefix64", prefix, says="RFC 6052")
    refused(*ADD, "x", "prefix64", "2001:db8::/12", says="out of range")
    refused(*ADD, "x", "map4", "192.0.2.0/24", "map6", "2001:db8::/121", says="RFC 6052")
    refused(*ADD, "x", "map4", "192.0.2.0/24", "map6", "2001:db8::/96", "map4", "192.0.2.0/24",
            "map6", "2001:db8:1::/96", says="twice")
    refused(*ADD, "x", "map4", "192.0.2.0/24", says="map6")
    refused(*ADD, "xlat0", "prefix64", "2001:db8::/96", says="name")
    refused("xlat", "add", "nat46", "x", says="kind")
    refused("xlat", "del", "p0", says="no translator")
    refused("show", "xlat", "p0", says="no translator")
    ktap.equal([x["dev"] for x in xlat.translators(P)], ["xlat0"], "translators")


@ktap.test
def only_administrators():
    with P:
        done = subprocess.run((nd.NET6CTL, *ADD, "x", "prefix64", "2001:db8::/96"), text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              user=65534, group=65534, extra_groups=[])
    ktap.true(done.returncode and "CAP_NET_ADMIN" in done.stdout, done.stdout)


@ktap.test
def what_is_shown():
    found, = xlat.translators(P)
    ktap.equal((found["kind"], found["prefix64"], found["pool4"]),
               ("siit", "2001:db8:64::/96", "203.0.113.128/25"), "what it is")
    ktap.equal([(m["map4"], m["map6"]) for m in found["maps"]],
               [("192.0.2.0/24", "2001:db8:a::/120"), ("198.51.100.0/24", "2001:db8:b::/120"),
                ("203.0.113.2/32", "2001:db8:6::2/128")], "mappings")
    text = ctl(P, "show", "xlat", "xlat0")
    ktap.true("map4 192.0.2.0/24 map6 2001:db8:a::/120" in text, text)
    link = P.ip("-d", "link", "show", "xlat0")
    ktap.true("net6xlat" in link and "mtu 1500" in link, link)


@ktap.test
def as_many_mappings_as_there_may_be():
    words = []
    for i in range(1024):
        words += ["map4", f"10.{i // 256}.{i % 256}.0/24", "map6", f"2001:db8:c:{i:x}::/120"]
    ctl(P, *ADD, "many%d", *words)
    found, = xlat.translators(P, "many0")
    ktap.equal([m["map4"] for m in found["maps"]], words[1::4], "mappings")
    ctl(P, "xlat", "del", "many0")
    refused(*ADD, "x", *words, "map4", "11.0.0.0/24", "map6", "2001:db8:d::/120", says="1024")


def saved():
    return ctl(S, "save")


def load(text, *options):
    with S:
        return subprocess.run((xlat.CTL, "load", *options, "-"), input=text, text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def index(dev):
    with S:
        return socket.if_nametoindex(dev)


@ktap.test
def saved_and_loaded():
    """One of each kind, and one with all mappings there may be. Twice is as once."""
    many = [word for i in range(1024) for word in
            ("map4", f"10.{i // 256}.{i % 256}.0/24", "map6", f"2001:db8:c:{i:x}::/120")]
    ctl(S, *ADD, "s0", "prefix64", "2001:db8:64::/96", "pool4", xlat.POOL, *xlat.MAPS)
    ctl(S, "xlat", "add", "nat64", "n0", "prefix64", "64:ff9b::/96", "inside4", "10.64.0.0/16",
        "idle", "77")
    ctl(S, *ADD, "m0", *many)
    for dev in "s0", "n0", "m0":
        S.up(dev)
    ctl(S, "add", "address", "2001:db8:77::1/64", "dev", "s0")
    ctl(S, "add", "route", "64:ff9b::/96", "dev", "n0")
    text, indexes = saved(), [index(dev) for dev in ("s0", "n0", "m0")]
    ktap.true("xlat add nat64 n0 prefix64 64:ff9b::/96 inside4 10.64.0.0/16 per64" in text, text)
    ktap.equal(load(text), "", "what load says")
    ktap.equal([index(dev) for dev in ("s0", "n0", "m0")], indexes, "nothing was made anew")
    for dev in "s0", "n0", "m0":
        ctl(S, "xlat", "del", dev)
    ktap.true("xlat add" not in saved(), "none is left")
    ktap.equal(load(text), "", "what load says without them")
    ktap.equal(saved(), text, "the same again")
    # Another one of that name takes its place, and is the only one that changes.
    others = [index("n0"), index("m0")]
    ktap.equal(load("xlat add siit s0 prefix64 2001:db8:65::/96\n"), "", "another s0")
    ktap.equal([x["prefix64"] for x in xlat.translators(S, "s0")], ["2001:db8:65::/96"], "s0")
    ktap.equal([index("n0"), index("m0")], others, "the others")
    S.ip("link", "add", "d0", "type", "dummy")
    before = saved()
    for line, says in (("xlat add siit d0 prefix64 2001:db8::/96", "no translator"),
                       ("xlat add nat46 x prefix64 2001:db8::/96", "kind"),
                       ("xlat add siit x prefix64 nonsense/96", "IPv6 address")):
        said = load(f"xlat del s0\n{line}\n")
        ktap.true(says in said and "nothing was changed" in said, f"{line}: {said}")
        ktap.equal(saved(), before, "nothing was changed")
    ktap.equal(load("xlat del s0\nxlat del s0\nxlat del n0\nxlat del m0\n"), "", "removed")
    ktap.true("xlat add" not in saved(), "none is left")


class Traffic:
    """Datagrams both ways, from many sockets, in a with block. A pause leaves a slow machine time
    for what is done meanwhile: each round is thirty packets on their way."""

    def __init__(self):
        self.going = True
        self.threads = [threading.Thread(target=self.send, args=ends)
                        for ends in ((A, xlat.ADDRESS_B), (B, xlat.ADDRESS_A)) * 2]

    def send(self, ns, address):
        with ipv4(ns, socket.SOCK_DGRAM) as sock:
            while self.going:
                for size in (10, 1400, 5000):
                    try:
                        sock.sendto(b"t" * size, (address, 9))
                    except OSError:
                        pass
                time.sleep(0.03 * ktap.SCALE)

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        self.going = False
        for thread in self.threads:
            thread.join()


def works():
    ktap.wait_for(30, "A reaches B", lambda: "1 received" in A.run(
        "ping", "-n", "-c", "1", "-W", "1", xlat.ADDRESS_B, check=False))


@ktap.test
def removed_and_made_again_under_traffic():
    works()
    with Traffic():
        for i in range(ROUNDS):
            if i % 2:
                P.ip("link", "del", "xlat0")
            else:
                ctl(P, "xlat", "del", "xlat0")
            xlat.translate(P, "a", "198.51.100.0/24")
    works()


@ktap.test
def net6_lets_go_of_it_under_traffic():
    with Traffic():
        for _ in range(ROUNDS):
            ctl(P, "detach", "dev", "xlat0")
            ctl(P, "attach", "dev", "xlat0")
            ctl(P, "add", "route", "2001:db8:a::/120", "dev", "xlat0")
    works()


@ktap.test
def the_module_goes_under_traffic():
    with Traffic():
        for _ in range(ROUNDS):
            ktap.run("rmmod", "net6xlat")
            ktap.run("insmod", f"{ktap.BUILD}/xlat/net6xlat.ko")
            xlat.translate(P, "a", "198.51.100.0/24")
            xlat.translate(Q, "b", "192.0.2.0/24")
    works()


@ktap.test
def a_namespace_goes_with_its_translators():
    for i in range(ROUNDS):
        gone = ktap.Netns(f"gone{i}")
        ctl(gone, *ADD, "xlat0", "prefix64", "2001:db8:64::/96")
        ctl(gone, *ADD, "other", "prefix64", "2001:db8:65::/96")
        gone.ip("route", "add", "198.51.100.0/24", "dev", "xlat0")
        with ipv4(gone, socket.SOCK_DGRAM) as sock:
            for _ in range(100):
                sock.sendto(b"x" * 1000, ("198.51.100.9", 9))
        gone.delete()


@ktap.test
def memory_comes_back():
    """Three hundred translators, one after the other. The checking kernel keeps what was freed for a
    while; what leaks it finds itself."""
    def rounds(n):
        for _ in range(n):
            ctl(P, *ADD, "brief", "prefix64", "2001:db8:66::/96", *xlat.MAPS)
            ctl(P, "xlat", "del", "brief")
    rounds(20)
    if ktap.CHECKING:
        return
    before = ktap.slabs()
    rounds(300)
    more = ktap.slabs() - before
    ktap.diag(f"{more} bytes more after 300 translators")
    ktap.true(more < 300 * 1024, "their memory came back")


ktap.main(setup=xlat.setup)
