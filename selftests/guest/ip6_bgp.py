#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A router learns a million routes by BGP, with bird from its package. Where native IPv6 is on, it is
# native's; with --append ipv6.disable=1 it is net6. Both are told side by side in forwarding.rst.
# In virtual time: two nanoseconds are an instruction.
#
#	P [p0: bird that tells] ------ [r0: bird that learns] R [s0] ------ [q0] Q
#
# guest: named
# guest-append: ipv6.disable=1
# guest-options: --virtual-time --memory 6G
# timeout: 3000
import ipaddress
import itertools
import os
import random
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

ROUTES = int(os.environ.get("ROUTES", 1000000))
NATIVE = os.path.exists("/proc/sys/net/ipv6") and "ipv6.disable=1" not in open(
    "/proc/cmdline", encoding="ascii").read()
P, R, Q = ktap.later("P"), ktap.later("R"), ktap.later("Q")
PEER = """router id 10.0.0.{id};
protocol device {{ }}
protocol bgp session {{
    local fd00::{own} as 6500{id}; neighbor fd00::{other} as 6500{peer}; direct;
    ipv6 {{ import {imported}; export {exported}; next hop self; }};
}}
"""


def prefixes(count=ROUTES):
    """/48 of the whole of 2001::/16, the same each time."""
    return (f"2001:{n >> 16:x}:{n & 0xffff:x}::/48"
            for n in sorted(random.Random(1).sample(range(1 << 32), count)))


def setup():
    if not shutil.which("bird"):
        raise ktap.Skip("no bird")
    if not NATIVE:
        ktap.net6_load()
    ktap.veth(P, "p0", R, "r0")
    ktap.veth(R, "s0", Q, "q0")
    for ns, dev, address in ((P, "p0", "fd00::a"), (R, "r0", "fd00::b"), (R, "s0", "fd01::b"),
                             (Q, "q0", "fd01::c")):
        ns.ip("-6", "addr", "add", address + "/64", "dev", dev, "nodad")
    # As native begins: what is set goes with the interface.
    R.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1",
          "net.ipv6.conf.r0.keep_addr_on_down=0")
    Q.ip("-6", "route", "add", "default", "via", "fd01::b")


def bird(ns, name, text):
    """A daemon; it is ready when it answers."""
    with open(f"/tmp/{name}.conf", "w", encoding="ascii") as file:
        file.write(text)
    with ns:
        daemon = subprocess.Popen(("bird", "-f", "-c", f"/tmp/{name}.conf", "-s", f"/tmp/{name}",
                                   "-P", f"/tmp/{name}.pid"))
    ktap.at_exit(stop, daemon)
    ktap.wait_for(600, f"{name} answers", lambda: "Daemon" in said(name, "show", "status"))
    return daemon


def stop(daemon):
    """At once: what it has set stays."""
    daemon.kill()
    daemon.wait()


def said(name, *words):
    return ktap.run("birdc", "-s", f"/tmp/{name}", *words, check=False, timeout=600)


def learned():
    """Routes that the kernel has from bird."""
    words = said("learns", "show", "protocols", "all", "kernel1")
    for line in words.splitlines():
        if "Routes:" in line:
            return int(line.split("exported")[0].split()[-1].strip(","))
    return 0


def measure(what, sock, targets):
    """Datagrams to one destination, and to ever new ones."""
    new = itertools.cycle(targets)
    sock.connect((targets[0], 9))
    same = ktap.least(lambda: sock.send(b"x"), 8, 200)
    each = ktap.least(lambda: sock.sendto(b"x", (next(new), 9)), 8, 100)
    ktap.diag(f"{what}: {same / 2:.0f} instructions a datagram to one, {each / 2:.0f} to new ones")


@ktap.test
def a_million_routes_by_bgp():
    stack = "native" if NATIVE else "net6"
    chosen = list(prefixes())
    some = [str(ipaddress.IPv6Network(p)[7]) for p in random.Random(2).sample(chosen, 2000)]
    with R:
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    R.ip("-6", "route", "add", "2001::/16", "via", "fd00::a", "dev", "r0")
    P.ip("-6", "route", "add", "blackhole", "2001::/16")
    measure(f"{stack}, one route", sock, some)
    R.ip("-6", "route", "del", "2001::/16")
    tells = bird(P, "tells", PEER.format(id=1, own="a", other="b", peer=2, imported="none", exported="all")
         + "protocol static { ipv6;\n" + "".join(f"route {p} unreachable;\n" for p in chosen) + "}\n")
    slabs, start = ktap.slabs(), time.monotonic()
    learns = bird(R, "learns", PEER.format(id=2, own="b", other="a", peer=1, imported="all", exported="none")
         + "protocol kernel kernel1 { ipv6 { import none; export all; }; }\n")
    ktap.wait_for(2400, "all are learned", lambda: learned() == len(chosen))
    took = time.monotonic() - start
    ktap.diag(f"{stack}: {took * 1e9 / 2 / len(chosen):.0f} instructions a route, bird's too; "
              f"{(ktap.slabs() - slabs) / len(chosen):.0f} octets of slabs a route")
    measure(f"{stack}, {len(chosen)} routes", sock, some)
    start = time.monotonic()
    shown = R.run("sh", "-c", "ip -6 route show proto bird | wc -l", timeout=900)
    ktap.equal(int(shown), len(chosen), "shown")
    ktap.diag(f"{stack}: {(time.monotonic() - start) * 1e9 / 2 / len(chosen):.0f} instructions a "
              "route to show, ip's too")
    stop(learns)
    stop(tells)
    start = time.monotonic()
    R.run("ip", "link", "set", "r0", "down", timeout=900)
    ktap.diag(f"{stack}: {(time.monotonic() - start) * 1e9 / 2 / len(chosen):.0f} instructions a "
              "route when the interface goes down")
    sock.close()


ktap.main(setup=setup)
