#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The search for a local port when all are in use. Softirqs may run between any two ports, as
# a probe counts how often they were allowed again, and it ends with the right error. One
# port that is free is found.
#
#	[ one namespace: net6 ::1 on the pseudo-loopback ]
#
# guest: stock
# timeout: 120
import errno
import os
import resource
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

LOW, PORTS = 20000, 1000
TRACE = "/sys/kernel/tracing"
ENABLE = "__local_bh_enable_ip"


def write_file(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def setup():
    ktap.run("ip", "link", "set", "lo", "up")
    ktap.net6_load()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * PORTS, 4 * PORTS))
    write_file("/proc/sys/net/ipv4/ip_local_port_range", f"{LOW} {LOW + PORTS - 1}")
    write_file(f"{TRACE}/kprobe_events", f"p:doors/softirqs {ENABLE}")


def hits():
    with open(f"{TRACE}/kprobe_profile", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if "softirqs" in line)


def enabled(function, *args):
    """How often softirqs were allowed again on any processor during a call, and its error."""
    write_file(f"{TRACE}/events/doors/softirqs/enable", 1)
    before = hits()
    said = ktap.failing(function, *args)
    after = hits()
    write_file(f"{TRACE}/events/doors/softirqs/enable", 0)
    return after - before, said


def bound(kind=socket.SOCK_STREAM, port=0):
    sock = ktap.net6_socket(kind)
    sock.bind(("::1", port))
    return sock


def fill(kind):
    return [bound(kind, port) for port in range(LOW, LOW + PORTS)]


@ktap.test
def connect_lets_softirqs_run_between_ports():
    listener = bound(port=LOW - 1)
    listener.listen()
    owners = fill(socket.SOCK_STREAM)
    times, said = enabled(ktap.net6_socket().connect, ("::1", LOW - 1))
    ktap.equal(said, "EADDRNOTAVAIL", "connect")
    ktap.true(times >= PORTS, f"softirqs were allowed again {times} times in {PORTS} ports")
    for at in (0, 1, PORTS // 2, PORTS - 1):
        owners[at].close()
        sock = ktap.net6_socket()
        sock.connect(("::1", LOW - 1))
        ktap.equal(sock.getsockname()[1], LOW + at, "the one port that was free")
        other = ktap.net6_socket()
        ktap.raises(errno.EADDRNOTAVAIL, other.connect, ("::1", LOW - 1))
        other.close()
        owners[at] = sock
    for sock in owners:
        sock.close()


@ktap.test
def bind_lets_softirqs_run_between_ports():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        owners = fill(kind)
        times, said = enabled(bound, kind)
        ktap.equal(said, "EADDRINUSE", "bind")
        ktap.true(times >= PORTS, f"softirqs were allowed again {times} times in {PORTS} ports")
        owners.pop().close()
        ktap.equal(bound(kind).getsockname()[1], LOW + PORTS - 1, "the one port that was free")
        for sock in owners:
            sock.close()


ktap.main(setup)
