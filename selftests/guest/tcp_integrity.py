#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Every byte arrives, in order and once, in both directions at once, whatever the
# network does: loss, reordering, duplication, corruption, delay, in pieces of random
# size. Between two net6, and between net6 and native.
#
#	[ A ] a0 ------ b0 [ B ]	link-local addresses, netem on both ends
#
# NET6_INTEGRITY_MB: megabytes each way between two net6 under the worst netem (200,
# on a checking kernel 12). With NET6_FULL: 1500, which makes 5 GB of all runs together, and
# twenty runs more over networks made at random, the same ones each time.
# guest: both
# timeout: 600
import json
import os
import random
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
FULL = bool(os.environ.get("NET6_FULL"))
MEGABYTES = int(os.environ.get("NET6_INTEGRITY_MB") or
                (12 if ktap.CHECKING else 1500 if FULL else 200))
FEW = min(MEGABYTES, 3 if ktap.CHECKING else 200 if FULL else 20)
BAD = "loss 1% delay 1ms reorder 95% 25% duplicate 1% corrupt 0.1%"
# A prime, so that no piece of the stream lies on the same offset twice.
PERIOD = 1048573
PATTERN = random.Random(6).randbytes(PERIOD)
STREAM = memoryview(PATTERN + PATTERN)
PATIENCE = 120 * ktap.SCALE
NS = {}


def net6_address(device):
    """net6's own link-local address on a device of this namespace, or None."""
    out = ktap.run(f"{TOP}/tools/net6ctl", "-j", "show", "addresses")
    for item in json.loads(out):
        if item.get("dev") == device and item["address"].startswith("fe80:") \
                and item.get("state") == "preferred":
            return item["address"].split("/")[0]
    return None


def native_address(device):
    out = ktap.run("ip", "-j", "-6", "addr", "show", "dev", device, "scope", "link")
    for link in json.loads(out):
        for item in link.get("addr_info", ()):
            if not item.get("tentative"):
                return item["local"]
    return None


def setup():
    ktap.kmod("sch_netem")
    ktap.net6_load()
    NS["a0"], NS["b0"] = ktap.Netns("A"), ktap.Netns("B")
    ktap.veth(NS["a0"], "a0", NS["b0"], "b0")


def netem(rule):
    """Treats packets badly, segment by segment: no super-packets then."""
    for device, ns in NS.items():
        ns.ip("link", "set", device, "gso_max_segs", "1" if rule else "65535")
        ktap.run("ip", "netns", "exec", ns.name, "tc", "qdisc", "del", "dev", device,
                 "root", check=False)
        if rule:
            ktap.run("ip", "netns", "exec", ns.name, "tc", "qdisc", "add", "dev", device,
                     "root", "netem", "limit", "10000", *rule.split())


class End:
    """One end of a connection: a stack in a namespace."""

    def __init__(self, stack, device):
        self.stack, self.device, self.ns = stack, device, NS[device]
        with self.ns:
            self.scope = socket.if_nametoindex(device)
            find = net6_address if stack == "net6" else native_address
            self.address = ktap.wait_for(20, f"{stack} has an address on {device}",
                                         lambda: find(device))

    def socket(self):
        if self.stack == "net6":
            sock = ktap.net6_socket(ns=self.ns)
        else:
            with self.ns:
                sock = socket.socket(socket.AF_INET6)
        sock.settimeout(PATIENCE)
        return sock


def connect(client, server):
    listener = server.socket()
    listener.bind((server.address, 0, 0, server.scope))
    listener.listen(1)
    sock = client.socket()
    sock.connect((server.address, listener.getsockname()[1], 0, client.scope))
    peer = listener.accept()[0]
    peer.settimeout(PATIENCE)
    listener.close()
    return sock, peer


def send(sock, size, seed):
    rng = random.Random(seed)
    done = 0
    while done < size:
        want = min(rng.choice((1, 100, 1440, 5000, 65536, 300000)), size - done)
        at = done % PERIOD
        done += sock.send(STREAM[at:at + want])
        if rng.random() < 0.01:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, rng.randrange(2))
    sock.shutdown(socket.SHUT_WR)


def receive(sock, size, seed):
    rng = random.Random(seed)
    buffer = bytearray(400000)
    view = memoryview(buffer)
    done = 0
    while True:
        got = sock.recv_into(view, rng.choice((100, 5000, 65536, 400000)))
        if not got:
            break
        at = done % PERIOD
        if view[:got] != STREAM[at:at + got]:
            raise ktap.Fail(f"wrong byte between {done} and {done + got}")
        done += got
    ktap.equal(done, size, "bytes until the end of the stream")


def both_ways(pair, size):
    """Transfers size bytes in each direction at once; returns seconds."""
    errors = []

    def work(function, *args):
        try:
            function(*args)
        except Exception as error:  # pylint: disable=broad-except
            errors.append(f"{function.__name__}: {type(error).__name__} {error}")

    start = time.monotonic()
    jobs = [threading.Thread(target=work, args=(function, sock, size, seed))
            for seed, (function, sock) in enumerate(
                ((send, pair[0]), (receive, pair[1]), (send, pair[1]), (receive, pair[0])))]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    for sock in pair:
        sock.close()
    ktap.equal(errors, [], "errors")
    return time.monotonic() - start


def transfer(name, client, server, rule, size, early=False):
    """A test; early: connects first, where the rule may lose all Neighbor Solicitations."""
    @ktap.test(name)
    def _play():
        ends = End(client, "a0"), End(server, "b0")
        pair = connect(*ends) if early else None
        netem(rule)
        try:
            seconds = both_ways(pair or connect(*ends), size)
            ktap.diag(f"{size} bytes each way in {seconds:.1f} s")
        finally:
            netem(None)


def counters():
    rows = json.loads(NS["a0"].run(f"{TOP}/tools/net6ctl", "-j", "show", "counters", "all"))
    return {row["name"]: row["value"] for row in rows if row["name"].startswith("TcpMTUP")}


@ktap.test("net6 to net6, the path begins to swallow long packets, and tells nobody")
def the_path_narrows():
    """A veth drops without a word what is longer than its peer's MTU and its header: A finds
    out (RFC 4821), first that nothing passes, then how much does.
    """
    for ns in NS.values():
        ktap.run("ip", "netns", "exec", ns.name, "sysctl", "-qw", "net.ipv4.tcp_mtu_probing=1")
    pair = connect(End("net6", "a0"), End("net6", "b0"))
    netem("delay 1ms")
    NS["b0"].ip("link", "set", "b0", "mtu", "1350")
    try:
        seconds = both_ways(pair, 2 << 20)
        ktap.diag(f"{2 << 20} bytes each way in {seconds:.1f} s")
        seen = counters()
        ktap.true(seen["TcpMTUPSuccess"] and seen["TcpMTUPFail"],
                  f"probes that passed and that did not: {seen}")
    finally:
        netem(None)
        NS["b0"].ip("link", "set", "b0", "mtu", "1500")
        for ns in NS.values():
            ktap.run("ip", "netns", "exec", ns.name, "sysctl", "-qw",
                     "net.ipv4.tcp_mtu_probing=0")


def networks(count):
    """Networks made at random: (rule for netem, bytes that pass in reasonable time)."""
    rng = random.Random(9293)
    for _ in range(count):
        loss, delay = rng.choice((0, 0.1, 1, 3, 10, 20)), rng.choice((0, 1, 10, 50, 200))
        rule = f"loss {loss}% delay {delay}ms {delay // 5}ms"
        if delay and rng.random() < 0.5:
            rule += f" reorder {rng.choice((50, 95))}% 25%"
        if rng.random() < 0.5:
            rule += f" duplicate {rng.choice((0.5, 5))}%"
        if rng.random() < 0.5:
            rule += f" corrupt {rng.choice((0.1, 1))}%"
        if rng.random() < 0.3:
            rule += f" rate {rng.choice((2, 20))}mbit"
        most = 3_000_000 if loss < 1 else 400_000 if loss <= 3 else 60_000
        yield rule, rng.randint(1, most // 5 if ktap.CHECKING else most)


transfer("net6 to net6, clean network", "net6", "net6", None, FEW << 20)
transfer("net6 to native, clean network", "net6", "native", None, FEW << 20)
transfer("native to net6, clean network", "native", "net6", None, FEW << 20)
transfer("net6 to net6, loss, reordering, duplication, corruption",
         "net6", "net6", BAD, MEGABYTES << 20)
transfer("net6 to native, the same", "net6", "native", BAD, FEW << 20)
transfer("native to net6, the same", "native", "net6", BAD, FEW << 20)
# Two minutes on a checking kernel, which "make check-full" takes.
if not ktap.CHECKING or FULL:
    transfer("net6 to net6, 5 % loss, 20 ms with jitter", "net6", "net6",
             "loss 5% delay 20ms 5ms", 1 << 20)
    transfer("net6 to net6, half the packets reordered", "net6", "net6",
             "delay 5ms reorder 50% 50%", (2 if ktap.CHECKING else 5) << 20)
    transfer("net6 to net6, 10 Mb/s with a short queue", "net6", "net6",
             "rate 10mbit delay 10ms", (1 if ktap.CHECKING else 3) << 20)
if FULL:
    PAIRS = (("net6", "net6"), ("net6", "native"), ("native", "net6"))
    for number, (network, length) in enumerate(networks(20)):
        one, other = PAIRS[number % len(PAIRS)]
        transfer(f"{one} to {other}, {network}", one, other, network, length,
                 early=True)

ktap.main(setup=setup)
