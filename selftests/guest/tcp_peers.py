#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# TCPs of other authors: net6 opens and accepts connections with smoltcp (Rust) and gVisor's
# netstack (Go), several at once. Each has random numbers of bytes both ways at the same time.
# The network is clean, or has loss, reordering, duplicates and corruption, or loss and a long
# way. Both ends tell the SHA-256 of what they sent and what they received.
#
#	[ A: net6 ] a0 ---- r0 [ P: bridge ] tap0 [ the other TCP, a program ]
#	 fd00::6          netem on r0 and tap0      fd00::1
#
# The programs are in selftests/peers/; scripts/peers builds them.
# Arguments: a pattern that titles have to match.
# guest: full
# timeout: 900
import hashlib
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
PEERS = f"{TOP}/build/peers"
OURS, THEIRS = "fd00::6", "fd00::1"
CONNECTIONS = 4
MOST = 150_000 if ktap.CHECKING else 1_500_000
PATIENCE = 120 * ktap.SCALE
RULES = (("a clean network", None),
         ("loss, reordering, duplication, corruption",
          "loss 1% delay 1ms reorder 95% 25% duplicate 1% corrupt 0.1%"),
         ("3 % loss, 20 ms with jitter", "loss 3% delay 20ms 2ms"))
WRITES = (1, 100, 1440, 5000, 65536, 300000)
NS = {}
ports = iter(range(7000, 8000))


def preferred():
    out = NS["A"].run(f"{TOP}/tools/net6ctl", "-j", "show", "addresses", "dev", "a0")
    return any(item["address"].split("/")[0] == OURS and item["state"] == "preferred"
               for item in json.loads(out))


def setup():
    ktap.kmod("tun", "bridge", "sch_netem")
    ktap.net6_load()
    NS["A"], NS["P"] = ktap.Netns("A"), ktap.Netns("P")
    # In P there is nothing but cables.
    for where in ("all", "default"):
        with NS["P"], open(f"/proc/sys/net/ipv6/conf/{where}/disable_ipv6", "w",
                           encoding="ascii") as file:
            file.write("1")
    ktap.veth(NS["A"], "a0", NS["P"], "r0")
    NS["P"].ip("link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
    NS["P"].ip("tuntap", "add", "dev", "tap0", "mode", "tap")
    for device in ("r0", "tap0"):
        NS["P"].ip("link", "set", device, "master", "br0", "up")
    NS["P"].up("br0")
    NS["A"].run(f"{TOP}/tools/net6ctl", "add", "address", OURS + "/64", "dev", "a0")
    ktap.wait_for(20, f"{OURS} is preferred", preferred)


def netem(rule):
    """Treats packets badly, segment by segment: no super-packets then."""
    NS["A"].ip("link", "set", "a0", "gso_max_segs", "1" if rule else "65535")
    for device in ("r0", "tap0"):
        NS["P"].run("tc", "qdisc", "del", "dev", device, "root", check=False)
        if rule:
            NS["P"].run("tc", "qdisc", "add", "dev", device, "root", "netem", "limit", "10000",
                        *rule.split())


class Peer:
    """The other TCP's program, and what it tells."""

    def __init__(self, name, *args):
        self.lines, self.results, self.is_ready = [], {}, threading.Event()
        self.process = NS["P"].popen(f"{PEERS}/{name}-peer", "tap0", THEIRS, *args,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     stdin=subprocess.DEVNULL, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            self.lines.append(line.rstrip())
            if words == ["ready"]:
                self.is_ready.set()
            elif words and words[0].isdigit():
                self.results[int(words[0])] = words[1:]

    def alive(self):
        ktap.true(self.process.poll() is None, f"the program runs; it said {self.lines[-5:]}")
        return True

    def ready(self):
        ktap.wait_for(30, "the program is ready", lambda: self.alive() and self.is_ready.is_set())

    def result(self, seed):
        """(bytes received, their SHA-256, bytes sent, their SHA-256) of a connection."""
        ktap.wait_for(60, f"the program is done with connection {seed}",
                      lambda: self.alive() and seed in self.results)
        words = self.results[seed]
        ktap.equal(len(words), 4, f"what the program says of connection {seed}, {words}")
        return int(words[0]), words[1], int(words[2]), words[3]

    def end(self):
        self.process.kill()
        self.reader.join()


class Exchange:
    """Our end of one connection; sizes, and how they are cut, come from the seed."""

    def __init__(self, sock, seed):
        self.sock, self.seed, self.errors = sock, seed, []
        rng = random.Random(seed)
        # The first two are small, where what ends and what begins meet.
        most = (0, 1)[seed % CONNECTIONS] if seed % CONNECTIONS < 2 else MOST
        self.size, self.wanted = rng.randint(most // 2, most), rng.randint(most // 2, most)
        self.sent, self.sent_sum = 0, hashlib.sha256()
        self.received, self.received_sum = 0, hashlib.sha256()
        sock.settimeout(PATIENCE)
        self.threads = [threading.Thread(target=self.work, args=(function,))
                        for function in (self.send, self.receive)]
        for thread in self.threads:
            thread.start()

    def work(self, function):
        try:
            function()
        except OSError as error:
            self.errors.append(f"{function.__name__}: {error}")

    def put(self, data, flags=0):
        self.sent_sum.update(data)
        self.sent += len(data)
        while data:
            data = data[self.sock.send(data, flags):]

    def send(self):
        rng = random.Random(self.seed + 1)
        self.put(struct.pack("!QQ", self.seed, self.wanted))
        left = self.size
        while left:
            data = rng.randbytes(min(rng.choice(WRITES), left))
            self.put(data, socket.MSG_MORE if rng.random() < 0.1 else 0)
            left -= len(data)
            if rng.random() < 0.05:
                self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, rng.randrange(2))
        self.sock.shutdown(socket.SHUT_WR)

    def receive(self):
        rng = random.Random(self.seed + 2)
        while True:
            data = self.sock.recv(rng.choice(WRITES))
            if not data:
                break
            self.received_sum.update(data)
            self.received += len(data)

    def end(self):
        for thread in self.threads:
            thread.join()
        self.sock.close()

    def compare(self, peer):
        ktap.equal(self.errors, [], f"errors of connection {self.seed}")
        ktap.equal(self.received, self.wanted, "bytes until the end of the stream")
        ktap.equal(peer.result(self.seed),
                   (self.sent, self.sent_sum.hexdigest(),
                    self.received, self.received_sum.hexdigest()),
                   f"what connection {self.seed} moved")


def connect(name, port):
    """net6 opens; the program listens."""
    peer = Peer(name, "listen", str(port), str(CONNECTIONS))
    peer.ready()
    for _ in range(CONNECTIONS):
        sock = ktap.net6_socket(ns=NS["A"])
        sock.settimeout(PATIENCE)
        sock.connect((THEIRS, port))
        yield peer, sock


def accept(name, port):
    """The program opens; net6 listens."""
    with ktap.net6_socket(ns=NS["A"]) as listener:
        listener.bind((OURS, port))
        listener.listen(CONNECTIONS)
        listener.settimeout(PATIENCE)
        peer = Peer(name, "connect", OURS, str(port), str(CONNECTIONS))
        for _ in range(CONNECTIONS):
            yield peer, listener.accept()[0]


def exchange(name, opening, rule):
    need(name)
    netem(rule)
    port = next(ports)
    exchanges, peer = [], None
    try:
        for peer, sock in opening(name, port):
            exchanges.append(Exchange(sock, port * CONNECTIONS + len(exchanges)))
        for one in exchanges:
            one.end()
        for one in exchanges:
            one.compare(peer)
        ktap.diag(f"{sum(one.sent + one.received for one in exchanges)} bytes")
    except (ktap.Fail, OSError):
        ktap.diag("\n".join(peer.lines[-20:] if peer else ()))
        raise
    finally:
        if peer:
            peer.end()
        netem(None)


def need(name):
    """Skipped only where the program could not be built for want of something."""
    try:
        with open(f"{PEERS}/{name}.missing", encoding="utf-8") as file:
            raise ktap.Skip(file.read().strip())
    except FileNotFoundError:
        ktap.true(os.path.exists(f"{PEERS}/{name}-peer"), f"scripts/peers has built {name}")


ONLY = sys.argv[1] if len(sys.argv) > 1 else ""
for program in ("smoltcp", "gvisor"):
    for way, does in ((connect, "accepts"), (accept, "connects")):
        for what, how in RULES:
            title = f"{program} {does}, {what}"
            if re.search(ONLY, title):
                ktap.test(title)(lambda args=(program, way, how): exchange(*args))

ktap.main(setup=setup)
