#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A NAT64: hosts that have IPv6 only reach one that has IPv4 only. What they lend and give back of
# IPv4 addresses, who makes room for whom, and errors. The topology is drawn in lib/nat64.py.
# guest: both
# timeout: 240
# guest-options: --kmemleak
# pylint: disable=missing-function-docstring
import errno
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap   # pylint: disable=wrong-import-position
import nat64  # pylint: disable=wrong-import-position
from nat64 import C, D, IN_C, IN_D, R, S, TO_SERVER, asks, ctl, hosts, ipv4, shown  # pylint: disable=wrong-import-position

IPV6_RECVERR = 25
INSIDE = ".".join(nat64.INSIDE.split(".")[:2]) + "."


def setup():
    nat64.setup()
    for address in OTHERS:
        ctl(C, "add", "address", address + "/64", "dev", "c0")
    ktap.wait_for(15, "the last is preferred", lambda: nat64.preferred(C, OTHERS[-1]))
    ktap.on_failure(lambda: [ktap.diag(ctl(R, "show", "xlat", "nat64")),
                             ktap.diag(ctl(R, "show", "xlat", "nat64", "hosts"))])


OTHERS = [f"2001:db8:c::a:{n:x}" for n in range(1, 9)]      # of C's, in its network


@ktap.test
def datagrams():
    peer, answer = asks()
    ktap.equal((peer[0], answer), (nat64.OUTSIDE, b"drow a"), "who asks, and what it hears")
    asks(D)
    lent = hosts()
    ktap.equal(set(lent), {IN_C, IN_D}, "who has an address")
    ktap.true(lent[IN_C] != lent[IN_D], "one each")
    ktap.true(all(a.startswith(INSIDE) for a in lent.values()), f"of those inside: {lent}")
    for size in (1, 500, 1400):
        ktap.equal(len(asks(word=b"x" * size)[1]), size, "there and back")


@ktap.test
def a_connection():
    data = cloud.pattern(500000)[:500000]
    wrong = []
    with ipv4(S) as listener, cloud.net6(C) as client:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((nat64.SERVER, 7001))
        listener.listen()

        def serve():
            with listener.accept()[0] as sock:
                sock.settimeout(30 * ktap.SCALE)
                got = b""
                while len(got) < len(data):
                    got += sock.recv(65536)
                wrong.append(got != data)
                sock.sendall(data)
        thread = threading.Thread(target=serve)
        thread.start()
        client.connect((TO_SERVER, 7001))
        client.sendall(data)
        got = b""
        while len(got) < len(data):
            got += client.recv(65536)
        thread.join()
    ktap.equal((wrong, got == data), ([False], True), "what came")


@ktap.test
def a_smaller_path_is_told():
    R.ip("route", "replace", "198.51.100.0/24", "dev", "r1", "mtu", "1300")
    try:
        before = shown()["counters"]["To6IcmpErrors"]
        a_connection()
        ktap.true(shown()["counters"]["To6IcmpErrors"] > before, "Packet Too Big")
    finally:
        R.ip("route", "replace", "198.51.100.0/24", "dev", "r1")


@ktap.test
def a_closed_port_is_told():
    with cloud.net6(C, socket.SOCK_DGRAM) as client:
        client.connect((TO_SERVER, 9))
        client.send(b"x")
        ktap.equal(ktap.failing(client.recv, 9), "ECONNREFUSED", "what the host hears")
    with cloud.net6(C) as client:
        ktap.equal(ktap.failing(client.connect, (TO_SERVER, 9)), "ECONNREFUSED", "and of TCP")


@ktap.test
def nobody_is_reached_by_the_address_that_is_lent():
    asks(D)
    lent = hosts()[IN_D]
    with cloud.net6(C, socket.SOCK_DGRAM) as client:
        client.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
        client.connect((nat64.PREFIX + "%x:%x" % tuple(
            int(a) * 256 + int(b) for a, b in (lent.split(".")[:2], lent.split(".")[2:])), 9))
        before = shown()["drops"]["DEST"]
        client.send(b"x")
        ktap.equal(ktap.failing(client.recv, 9), "EHOSTUNREACH", "by another host")
    ktap.equal(shown()["drops"]["DEST"], before + 1, "dropped")


@ktap.test
def a_network_takes_no_more_than_its_share():
    nat64.translator("per64", "3")
    asks(D)
    theirs = hosts()[IN_D]
    for source in OTHERS:
        asks(source=source)
    lent = hosts()
    ktap.equal(len([a for a in lent if a.startswith("2001:db8:c:")]), 3, "C's")
    ktap.equal(lent.get(IN_D), theirs, "D's")
    ktap.equal((shown()["hosts"], shown()["hosts_made"], shown()["hosts_taken"]), (4, 9, 5),
               "now, made, taken")
    ktap.true(OTHERS[-1] in lent, "the last one is served")


@ktap.test
def when_they_run_short_the_silent_make_room():
    nat64.translator("per64", "6", inside="192.168.240.0/29")
    asks(D)
    for number, source in enumerate(OTHERS[:6]):
        asks(source=source)
        ktap.equal(len(hosts()), 2 + number, "each has one")
    time.sleep(0.1)         # jiffies that count as silence
    for source in OTHERS[1:6]:
        asks(source=source)
    asks(D)
    before = hosts()
    asks(source=OTHERS[6])
    lent = hosts()
    ktap.equal(set(before) - set(lent), {OTHERS[0]}, "who has been silent the longest")
    ktap.true(lent[OTHERS[6]] not in {lent[a] for a in lent if a != OTHERS[6]}, "one each")
    ktap.equal(len(lent), 7, "a sixteenth, one at least, stays free")
    nat64.translator()


@ktap.test
def who_is_silent_has_none_any_more():
    nat64.translator("idle", "1")
    asks()
    ktap.wait_for(20, "it is given back", lambda: not hosts())
    ktap.equal((shown()["hosts"], shown()["hosts_ended"]), (0, 1), "now, ended")
    asks()
    nat64.translator()
    asks()
    ktap.equal(len(hosts()), 1, "it has another")


@ktap.test
def refusals():
    def refused(*words, says):
        with R:
            done = subprocess.run((cloud.CTL, "xlat", "add", *words), text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        ktap.true(done.returncode == 1 and says in done.stdout, f"{words}: {done.stdout}")
    refused("nat64", "x", "prefix64", "2001:db8::/96", says="addresses inside")
    refused("nat64", "x", "inside4", "10.0.0.0/20", says="a prefix")
    refused("siit", "x", "prefix64", "2001:db8::/96", "inside4", "10.0.0.0/20", says="stateless")
    refused("siit", "x", "prefix64", "2001:db8::/96", "idle", "5", says="stateless")
    for inside in ("10.0.0.1/20", "127.0.0.0/20", "224.0.0.0/20"):
        refused("nat64", "x", "prefix64", "2001:db8::/96", "inside4", inside, says="bits behind")
    for inside in ("10.0.0.0/11", "10.0.0.0/30"):
        refused("nat64", "x", "prefix64", "2001:db8::/96", "inside4", inside, says="out of range")
    refused("nat64", "x", "prefix64", "2001:db8::/96", "inside4", "10.0.0.0", says="length")
    refused("nat64", "x", "prefix64", "2001:db8::/96", "inside4", "10.0.0.0/20", "idle", "0",
            says="out of range")
    with R:
        done = subprocess.run((cloud.CTL, "show", "xlat", "nat64", "hosts"), text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              user=65534, group=65534, extra_groups=[])
    ktap.true(done.returncode and "CAP_NET_ADMIN" in done.stdout, done.stdout)


class Traffic:
    """Datagrams from ever new hosts of C's network, in a with block."""

    def __init__(self):
        self.going = True
        self.thread = threading.Thread(target=self.send)

    def send(self):
        while self.going:
            for source in OTHERS:
                with cloud.net6(C, socket.SOCK_DGRAM) as sock:
                    try:
                        sock.bind((source, 0))
                        sock.sendto(b"x" * 100, (TO_SERVER, 9))
                    except OSError as error:
                        if error.errno not in (errno.EHOSTUNREACH, errno.ENETUNREACH):
                            raise
            time.sleep(0.02 * ktap.SCALE)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.going = False
        self.thread.join()


@ktap.test
def it_goes_under_traffic():
    with Traffic():
        for number in range(3 if ktap.CHECKING else 10):
            nat64.translator("per64", "2", "idle", "1")
            if number % 3 == 2:
                ktap.run("rmmod", "net6xlat")
                ktap.run("insmod", f"{ktap.BUILD}/xlat/net6xlat.ko")
    nat64.translator()
    asks()


@ktap.test
def a_namespace_goes_with_its_hosts():
    for number in range(3):
        gone = ktap.Netns(f"gone{number}")
        ctl(gone, "xlat", "add", "nat64", "n0", "prefix64", "2001:db8:64::/96", "inside4",
            "10.0.0.0/12", "idle", "1")
        gone.delete()


ktap.main(setup)
