#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The native stack does not notice net6: on one interface native TCP and ping lose
# nothing while net6 has traffic. Neither stack sends a RST, ICMPv6 error, Redirect or
# solicitation about the other's packets, on-link or off-link, forwarding or not.
#
#	A [a0: native fd00::a; net6 fd00::6 and fd77::6] ------ [b0 native fd00::b] B
#	A's native stack has no route to fd77::/64; B sends that to a0's MAC address.
# guest: both
# timeout: 150

import ctypes
import hashlib
import os
import re
import socket
import struct
import sys
import threading
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

NATIVE, NET6, OFFLINK, PEER = "fd00::a", "fd00::6", "fd77::6", "fd00::b"
MAC_A = "02:00:00:00:0a:01"
MINE = {NET6, OFFLINK}
BLOCK = bytes(range(256)) * 256
MEGABYTES = 4 if ktap.CHECKING else 24
A, B = ktap.later("A"), ktap.later("B")
shared = types.SimpleNamespace()	# watch: what B receives

# ICMPv6, and TCP with RST: little enough that no frame is missed.
FILTER = ((0x28, 0, 0, 12), (0x15, 0, 6, 0x86dd), (0x30, 0, 0, 20), (0x15, 3, 0, 58),
          (0x15, 0, 3, 6), (0x30, 0, 0, 67), (0x45, 0, 1, 4), (0x06, 0, 0, 65535),
          (0x06, 0, 0, 0))


class Watch:
    """All RSTs and ICMPv6 messages that leave A."""

    def __init__(self):
        with B:
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.sock.bind(("b0", 0))
        code = b"".join(struct.pack("HBBI", *i) for i in FILTER)
        self.buffer = ctypes.create_string_buffer(code)
        self.sock.setsockopt(socket.SOL_SOCKET, 26, struct.pack(
            "HL", len(FILTER), ctypes.addressof(self.buffer)))
        self.sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 23)    # SO_RCVBUFFORCE
        self.sock.setblocking(False)

    def read(self):
        frames = []
        while True:
            try:
                data, address = self.sock.recvfrom(65536)
            except BlockingIOError:
                lost = struct.unpack("II", self.sock.getsockopt(263, 6, 8))[1]
                ktap.equal(lost, 0, "frames that the capture missed")
                return frames
            if address[2] != socket.PACKET_OUTGOING and len(data) >= 54:
                frames.append(nd.Frame(data))


def setup():
    ktap.net6_load()
    ktap.kmod("veth")
    ktap.run("ip", "link", "add", "a0", "netns", A.name, "address", MAC_A, "type", "veth",
             "peer", "name", "b0", "netns", B.name)
    A.up("a0")
    B.up("b0")
    nd.net6ctl(B, "detach", "dev", "b0")
    A.ip("addr", "add", NATIVE + "/64", "dev", "a0", "nodad")
    B.ip("addr", "add", PEER + "/64", "dev", "b0", "nodad")
    B.ip("-6", "neigh", "add", "fe80::1234", "lladdr", MAC_A, "dev", "b0")
    B.ip("-6", "route", "add", "fd77::/64", "via", "fe80::1234", "dev", "b0")
    shared.watch = Watch()


def give_addresses():
    for address in MINE:
        nd.net6ctl(A, "add", "address", address + "/64", "dev", "a0")
    ktap.wait_for(15, "net6's addresses are preferred", lambda: all(
        (nd.find(A, "addresses", a) or {}).get("state") == "preferred" for a in MINE))


def forwarding(on):
    A.run("sysctl", "-q", "-w", f"net.ipv6.conf.all.forwarding={int(on)}")


def lost(output):
    found = re.search(r"(\d+) packets transmitted, (\d+) received", output)
    ktap.true(found, f"a summary of ping in: {output[-300:]}")
    return int(found.group(1)) - int(found.group(2))


class Transfer(threading.Thread):
    """B sends to a listener in A; the sums must be equal."""

    def __init__(self, listener, address, port):
        super().__init__()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen()
        listener.settimeout(30 * ktap.SCALE)
        self.listener, self.target = listener, (address, port)
        with B:
            self.client = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        self.client.settimeout(30 * ktap.SCALE)
        self.sent, self.received = hashlib.md5(), hashlib.md5()
        self.bytes, self.error = 0, None

    def receive(self):
        try:
            conn, _ = self.listener.accept()
            conn.settimeout(30 * ktap.SCALE)
            while data := conn.recv(1 << 16):
                self.received.update(data)
                self.bytes += len(data)
            conn.close()
        except OSError as error:
            self.error = error

    def run(self):
        reader = threading.Thread(target=self.receive)
        reader.start()
        try:
            self.client.connect(self.target)
            for _ in range(MEGABYTES * 16):
                self.client.sendall(BLOCK)
                self.sent.update(BLOCK)
            self.client.close()
        except OSError as error:
            self.error = error
        reader.join()
        self.listener.close()

    def check(self, what):
        self.join()
        ktap.equal(self.error, None, f"error of {what}")
        ktap.equal(self.bytes, MEGABYTES << 20, f"bytes of {what}")
        ktap.equal(self.received.digest(), self.sent.digest(), f"sum of {what}")


def native_listener():
    with A:
        return socket.socket(socket.AF_INET6, socket.SOCK_STREAM)


def native_counters():
    """What A's native stack would count if it noticed anything."""
    counters = {}
    for line in A.run("cat", "/proc/net/snmp6").splitlines():
        name, value = line.split()
        counters[name] = int(value)
    return {n: counters[n] for n in ("Ip6InNoRoutes", "Ip6InAddrErrors", "Ip6OutForwDatagrams",
                                     "Icmp6OutDestUnreachs", "Icmp6OutRedirects",
                                     "Icmp6OutParmProblems", "Udp6NoPorts")}


def resets_counted():
    """How many RSTs each of A's stacks says that it sent."""
    names, values = (line.split() for line in A.run("cat", "/proc/net/snmp").splitlines()
                     if line.startswith("Tcp:"))
    return {"net6": nd.counter(A, "TcpOutRsts"),
            "native": int(values[names.index("OutRsts")])}


def refused(address):
    with B, socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
        sock.settimeout(10 * ktap.SCALE)
        ktap.raises(111, sock.connect, (address, 81))


def strangers():
    """To net6, where no socket is: answers are net6's to give."""
    with B:
        for address in MINE:
            for port in (1, 2, 3):
                with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
                    sock.sendto(b"anybody?", (address, port))
    for address in MINE:
        refused(address)                                          # net6's own RST


def owner(address):
    ktap.true(address in MINE or address == NATIVE, f"{address} is an address of A")
    return "net6" if address in MINE else "native"


def judge_resets(before, seconds=5):
    """An address's RSTs are its own stack's: both ends count as many as were seen. One
    of native's is not wrong as such: an acknowledgment that comes again after a close,
    because a FIN was repeated, gets it (RFC 9293 3.10.7.1).
    """
    seen, others = {"net6": 0, "native": 0}, []

    def agree():
        for f in shared.watch.read():
            if f.proto == 6:
                seen[owner(f.source)] += 1
            else:
                others.append(f)
        return seen == {n: v - before[n] for n, v in resets_counted().items()}
    ktap.wait_for(seconds, "each stack sent the RSTs that come from its addresses", agree,
                  look=lambda: ktap.diag(f"seen {seen}, {before} then {resets_counted()}"))
    return seen, others


def judge(frames):
    """Each ICMPv6 message is about its own stack's packets."""
    subjects = {"net6": 0, "native": 0}
    for f in frames:
        if f.type == nd.REDIRECT:
            raise ktap.Fail(f"Redirect: {f}")
        elif f.type == nd.NS and f.target in MINE:
            ktap.equal(f.source, "::", f"who asks for net6's address: {f}")
        elif f.type is not None and f.type < 128:
            about = socket.inet_ntop(socket.AF_INET6, f.payload[8 + 24:8 + 40])
            ktap.equal(f.source, about, f"source of an error about a packet to {about}")
            subjects["net6" if about in MINE else "native"] += 1
    return subjects


def fails(what, judgement, *args):
    try:
        judgement(*args)
    except ktap.Fail:
        return
    raise ktap.Fail(f"the judge lets pass: {what}")


def together(on):
    forwarding(on)
    shared.watch.read()
    before, resets = native_counters(), resets_counted()
    transfers = [(Transfer(native_listener(), NATIVE, 5001), "native TCP"),
                 (Transfer(ktap.net6_socket(ns=A), NET6, 5001), "net6 TCP"),
                 (Transfer(ktap.net6_socket(ns=A), OFFLINK, 5002), "net6 TCP, off-link")]
    for transfer, _ in transfers:
        transfer.start()
    pings = {}

    def ping(address):
        pings[address] = B.run("ping", "-6", "-c", "100", "-i", "0.02", "-W", "10", address,
                               check=False)
    threads = [threading.Thread(target=ping, args=(a,)) for a in (NATIVE, NET6, OFFLINK)]
    for thread in threads:
        thread.start()
    strangers()
    refused(NATIVE)
    for transfer, what in transfers:
        transfer.check(what)
    for thread in threads:
        thread.join()
    for address, output in pings.items():
        ktap.equal(lost(output), 0, f"echoes lost of {address}")
    rsts, others = judge_resets(resets)
    ktap.true(rsts["net6"] >= 2 and rsts["native"] >= 1, f"own RSTs were seen: {rsts}")
    errors = judge(others)
    ktap.true(errors["net6"] >= 2, f"net6's own errors were seen: {errors}")
    ktap.equal(errors["native"], 0, "native errors")
    ktap.equal(native_counters(), before, "native counters")
    nd_drops = nd.drops(A)
    ktap.equal(nd_drops.get("NOT_OURS", 0), 0, "packets of others that net6 took")


@ktap.test
def without_net6_native_does_answer():
    """The control: the capture sees what the other tests must not see."""
    nd.net6ctl(A, "detach", "dev", "a0")
    forwarding(False)
    shared.watch.read()
    with B, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"anybody?", (OFFLINK, 1))
    frames = []
    ktap.wait_for(5, "native says no route", lambda: frames.extend(shared.watch.read()) or any(
        f.type == 1 and f.source != OFFLINK for f in frames))
    fails("native's error", judge, frames)
    nd.net6ctl(A, "attach", "dev", "a0")
    give_addresses()


@ktap.test
def a_reset_that_nobody_counts_is_seen():
    """The control: what a stack would send in the other's name."""
    for address in (NATIVE, NET6):
        shared.watch.read()
        before = resets_counted()
        segment = struct.pack("!HHIIBBHHH", 5001, 5001, 1, 1, 0x50, 0x14, 0, 0, 0)
        with A, socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
            sock.bind(("a0", 0x86dd))
            sock.send(b"\xff" * 6 + nd.mac_bytes(MAC_A) + b"\x86\xdd"
                      + nd.ipv6(address, PEER, 6, segment))
        fails(f"a RST in the name of {address}", judge_resets, before, 0.5)


@ktap.test
def side_by_side_without_forwarding():
    together(False)


@ktap.test
def side_by_side_with_forwarding():
    together(True)


@ktap.test
def native_answers_for_its_own_address_only():
    """Closed ports: native's for native's address, beside net6's for net6's."""
    forwarding(False)
    shared.watch.read()
    refused(NATIVE)
    strangers()
    resets = sorted(f.source for f in shared.watch.read()
                    if f.proto == 6 and f.payload[:2] == b"\0\x51")
    ktap.equal(resets, sorted([NET6, OFFLINK, NATIVE]), "who sent a RST")


@ktap.test
def groups_reach_both_stacks():
    replies = B.run("ping", "-6", "-c", "2", "-i", "0.3", "ff02::1%b0", check=False)
    ours = nd.linklocal(A)
    ktap.true(ours in replies, f"net6 answered the group: {replies}")
    theirs = re.search(r"inet6 (fe80\S+)/64", A.ip("addr", "show", "dev", "a0")).group(1)
    ktap.true(theirs in replies, f"native answered the group: {replies}")


ktap.main(setup=setup)
