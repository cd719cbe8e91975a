#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Protocol 41 as nobody means it: random, cut and mangled packets, ICMPv4 errors about
# packets that never were, floods, while TCP runs. Then everything is taken away under
# traffic, in the worst order: addresses, namespaces, module. See lib/cloud.py; here R has
# net6 too, for 6over4 on the link between A and R.
#
# NET6_SEED: of the random numbers (41). NET6_ROUNDS: packets (3000; 600 on the
# checking kernel).
# guest: both
# timeout: 300
import os
import random
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
from cloud import (  # pylint: disable=wrong-import-position
    ADDRESS_A, ADDRESS_B, checksum, ctl, inner, outer, send_raw)

SEED = int(os.environ.get("NET6_SEED") or 41)
ROUNDS = int(os.environ.get("NET6_ROUNDS") or (600 if ktap.CHECKING else 3000))
NET6_A, NET6_B = "2001:db8:1::a", "2001:db8:1::b"

# Bulk TCP to argv[2:] until killed; "serve" receives. With pauses, or nothing else would run.
# Connections end with a reset: what still retransmits to somebody who is gone would hold
# the module for minutes.
TRAFFIC = """
import socket, struct, sys, threading, time
def new():
    sock = socket.socket(10, 1, fileno=socket.socket(19, 1).detach())
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return sock
def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
def drain(sock):
    reset(sock)
    while sock.recv(65536):
        pass
def accept(sock):
    while True:
        threading.Thread(target=drain, args=(sock.accept()[0],), daemon=True).start()
def send(sock):
    while True:
        sock.send(b"x" * 50000)
        time.sleep(0.02)	# some megabytes a second, so that others have their turn
verb, work = sys.argv[1], []
for address in sys.argv[2:]:
    sock = new()
    if verb == "serve":
        sock.bind((address, 4141))
        sock.listen(9)
    else:
        reset(sock)
        sock.connect((address, 4141))
        sock.send(b"x")
    work.append(threading.Thread(target=accept if verb == "serve" else send, args=(sock,)))
print("ready", flush=True)
for thread in work:
    thread.start()
"""


def setup():
    cloud.setup()
    ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B, "local", ADDRESS_A)
    ctl(cloud.B, "tunnel", "add", "t0", "remote", ADDRESS_A, "local", ADDRESS_B)
    cloud.add_address(cloud.A, "t0", NET6_A)
    cloud.add_address(cloud.B, "t0", NET6_B)
    for ns, address in ((cloud.A, ADDRESS_A), (cloud.B, ADDRESS_B)):
        cloud.transition(ns, "auto")
        cloud.wait_preferred(ns, "::" + address)


def start(ns, verb, *addresses):
    process = ns.popen("/usr/bin/python3", "-c", TRAFFIC, verb, *addresses,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    ktap.equal(process.stdout.readline(), b"ready\n", f"{verb} on {addresses}")
    return process


def traffic():
    return [start(cloud.B, "serve", NET6_B), start(cloud.A, "send", NET6_B)]


def seed_packets():
    """Good packets to start from: echo, NS, RA, UDP, with the addresses of the tunnels."""
    places = [(NET6_A, NET6_B), ("::" + ADDRESS_A, "::" + ADDRESS_B),
              ("fe80::c000:201", "ff02::1"), ("::", "ff02::1:ff00:b"), (NET6_A, "::1")]
    bodies = [(58, b"\x80\0\0\0\0\1\0\1" + b"e" * 40), (58, b"\x87" + b"\0" * 23 +
                                                        b"\1\1\0\0\xc0\0\2\1"),
              (58, b"\x86" + b"\0" * 15 + b"\3\4\x40\xc0" + b"\xff" * 28), (41, b"\x60" * 60),
              (17, struct.pack("!HHHH", 9, 9, 20, 0) + b"u" * 12), (44, b"\x3a" + b"\1" * 30),
              (0, b"\x2b\0\1\4" + b"\0" * 20), (43, b"\x3a\0\0\1" + b"\0" * 20)]
    for source, destination in places:
        for proto, body in bodies:
            yield inner(source, destination, body, proto)


def mangle(rng, packet):
    packet = bytearray(packet)
    for _ in range(rng.choice((0, 1, 1, 2, 8))):
        packet[rng.randrange(len(packet))] = rng.choice((0, 0xff, 0x80, rng.randrange(256)))
    return bytes(packet[:rng.choice((len(packet), len(packet), rng.randrange(len(packet)))) or 1])


@ktap.test
def mangled_packets_of_protocol_41():
    rng = random.Random(SEED)
    running = traffic()
    seeds = list(seed_packets())
    with cloud.A:
        good = socket.socket(socket.AF_INET, socket.SOCK_RAW, 41)
    with cloud.R:
        group = socket.socket(socket.AF_INET, socket.SOCK_RAW, 41)
    group.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("192.0.2.2"))
    for n in range(ROUNDS):
        packet = mangle(rng, rng.choice(seeds))
        if n % 4 == 1:
            group.sendto(packet, ("239.192.0.1", 0))    # heard by A's 6over4
            continue
        if n % 4:
            good.sendto(packet, (ADDRESS_B, 0))
            continue
        source = rng.choice((ADDRESS_A, "192.0.2.9", "127.0.0.1", "224.0.0.1", ADDRESS_B))
        forged = outer(packet, source, ADDRESS_B, rng.randrange(256),
                       rng.choice((0, 0, 0x2000)), rng.randrange(65536))
        try:
            send_raw(cloud.A, ADDRESS_B, forged)
        except OSError:
            pass
    good.close()
    group.close()
    ktap.equal([p.poll() for p in running], [None, None], "TCP goes on")
    for process in running:
        process.kill()
    dropped = {d["name"]: d["value"] for d in cloud.show(cloud.B, "drops")}
    for reason in ("TUNNEL_SHORT", "TUNNEL_INNER_SOURCE", "HEADER_LENGTH"):
        ktap.true(dropped[reason] > 0, f"{reason} was seen: {dropped[reason]}")
    heard = next(t for t in cloud.show(cloud.A, "tunnels") if t["kind"] == "6over4")
    for counter in ("rx_packets", "rx_short", "rx_inner_dest"):
        ktap.true(heard[counter] > 0, f"{counter} of 6over4: {heard[counter]}")


@ktap.test
def errors_about_packets_that_never_were():
    rng = random.Random(SEED + 1)
    seeds = list(seed_packets())
    with cloud.R:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    for _ in range(ROUNDS // 2):
        packet = mangle(rng, rng.choice(seeds))
        quoted = struct.pack("!BBHHHBBH4s4s", rng.choice((0x45, 0x45, 0x45, 0x46, 0x4f)), 0,
                             20 + len(packet), 0, 0, 64, 41, 0, socket.inet_aton(ADDRESS_B),
                             socket.inet_aton(ADDRESS_A)) + packet[:rng.choice((0, 8, 48, 1000))]
        kind, code = rng.choice(((3, 1), (3, 4), (3, 13), (11, 0), (5, 1), (12, 0), (4, 0)))
        body = struct.pack("!BBHHH", kind, code, 0, 0, rng.choice((0, 68, 600, 1300, 1400,
                                                                   65535))) + quoted
        sock.sendto(body[:2] + struct.pack("!H", checksum(body)) + body[4:], (ADDRESS_A, 0))
    sock.close()
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), NET6_B, 20000)


@ktap.test
def a_flood_from_strangers():
    # 6over4 believes every sender; a configured tunnel alone does not.
    cloud.transition(cloud.B, "off")
    ktap.wait_for(20, "only t0 is left", lambda: len(cloud.show(cloud.B, "tunnels")) == 1)
    with cloud.R:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, 41)
    before = cloud.drops(cloud.B, "TUNNEL_SOURCE")
    packet = inner(NET6_A, NET6_B)
    for _ in range(ROUNDS):
        sock.sendto(packet, (ADDRESS_B, 0))
    sock.close()
    # A full backlog may have taken some before IPv4 saw them.
    ktap.wait_for(10, "they are dropped with their reason",
                  lambda: cloud.drops(cloud.B, "TUNNEL_SOURCE") >= before + ROUNDS // 10)
    cloud.transition(cloud.B, "auto")


@ktap.test
def addresses_and_tunnels_go_under_traffic():
    for _ in range(1 if ktap.CHECKING else 3):
        running = traffic()
        cloud.A.ip("addr", "del", ADDRESS_A + "/24", "dev", "a0")
        cloud.B.down("b0")
        ctl(cloud.A, "tunnel", "del", "t0")
        cloud.A.ip("addr", "add", ADDRESS_A + "/24", "dev", "a0")
        cloud.A.run("ip", "route", "replace", "default", "via", "192.0.2.2")
        cloud.B.up("b0")
        cloud.B.run("ip", "route", "replace", "default", "via", "198.51.100.2")
        ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B, "local", ADDRESS_A)
        cloud.add_address(cloud.A, "t0", NET6_A)
        for process in running:
            process.kill()
            process.wait()


# Packets for the tunnel t0 of A, as its far end sends them, until killed.
FLOOD = """
import socket
sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
packet = bytes.fromhex("%s")
print("ready", flush=True)
while True:
    sock.sendto(packet, ("192.0.2.1", 0))
""" % outer(inner(NET6_B, NET6_A, b"\x80\0\0\0\0\1\0\1" + b"e" * 16, 58),
            ADDRESS_B, ADDRESS_A).hex()


KINDS = ["6over4", "automatic", "configured"]


def kinds(ns):
    return sorted({t["kind"] for t in cloud.show(ns, "tunnels")})


def packets(ns):
    """Both ways, by tunnel. Between A and B the configured one takes in what the
    automatic one of the other end has sent.
    """
    return {t["name"]: t["rx-packets"] + t["tx-packets"] for t in cloud.dump(ns, "tunnel-get")}


def over4(ns, local, address):
    """Gives the 6over4 interface of an IPv4 address one more IPv6 address."""
    cloud.add_address(ns, next(t["dev"] for t in cloud.show(ns, "tunnels")
                               if t["kind"] == "6over4" and t["local"] == local), address)


@ktap.test
def everything_goes_with_tunnels_up_and_traffic_on():
    """An IPv4 address, a namespace, the module, in this order."""
    cloud.transition(cloud.R, "auto")
    for ns, address in ((cloud.R, "::192.0.2.2"), (cloud.A, "::" + ADDRESS_A),
                        (cloud.B, "::" + ADDRESS_B)):
        cloud.wait_preferred(ns, address)
    for ns, wanted in ((cloud.R, KINDS[:2]), (cloud.A, KINDS), (cloud.B, KINDS)):
        ktap.wait_for(10, f"{wanted} are up", lambda n=ns, w=wanted: kinds(n) == w)
    over4(cloud.A, ADDRESS_A, "fd06::a")
    over4(cloud.R, "192.0.2.2", "fd06::2")
    running = [start(cloud.B, "serve", NET6_B, "::" + ADDRESS_B),
               start(cloud.R, "serve", "fd06::2"),
               start(cloud.A, "send", NET6_B, "::" + ADDRESS_B, "fd06::2")]
    before = packets(cloud.A)
    ktap.wait_for(20, "packets go through all three", lambda: all(
        number > before[name] + 5 for name, number in packets(cloud.A).items()))

    cloud.B.ip("addr", "del", ADDRESS_B + "/24", "dev", "b0")
    ktap.wait_for(20, "what followed from it is gone",
                  lambda: kinds(cloud.B) == KINDS[2:])
    cloud.B.delete()
    for process in running:     # their sockets hold the module
        process.kill()
        process.wait()
    ktap.wait_for(30, "their sockets are gone", lambda: not ktap.users("net6"))
    ktap.equal(kinds(cloud.A), KINDS, "tunnels of A")
    before = cloud.tunnel(cloud.A, "t0")["rx_packets"]
    flood = cloud.R.popen("/usr/bin/python3", "-c", FLOOD, stdout=subprocess.PIPE)
    ktap.equal(flood.stdout.readline(), b"ready\n", "flood")
    ktap.wait_for(10, "packets come in",
                  lambda: cloud.tunnel(cloud.A, "t0")["rx_packets"] > before + 20)
    ktap.unload("net6")
    ktap.equal(flood.poll(), None, "the flood goes on")
    flood.kill()
    for ns in (cloud.A, cloud.R):
        links = ns.run("ip", "link")
        ktap.true(not any(f": {name}" in links for name in ("t0", "automatic", "6over4")),
                  f"no tunnel is left: {links}")
        ktap.true("239.192" not in ns.run("ip", "maddr"), "no IPv4 group is left")


ktap.main(setup=setup)
