# SPDX-License-Identifier: GPL-2.0
"""The pair of namespaces that tests of sockets compare two stacks in:

    A [a0] ------ [b0] B        A: native fd00::a, net6 fd00::6
                                B: native fd00::b, net6 fd00::c (on b1)
A second cable a1 - b1 carries net6 on both ends: fd01::6 and fd01::c.
"""
import json
import os
import socket

import ktap

CTL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/net6ctl")
NATIVE_A, NET6_A, NATIVE_B = "fd00::a", "fd00::6", "fd00::b"
NET6_A1, NET6_B1 = "fd01::6", "fd01::c"
A, B = ktap.later("A"), ktap.later("B")


def ctl(ns, *words):
    return ns.run(CTL, *words)


def addresses(ns, dev):
    return json.loads(ctl(ns, "-j", "show", "addresses", "dev", dev))


def preferred(ns, dev, address):
    """The address is assigned, and so is the link-local one: it is who speaks to such peers."""
    ready = [e for e in addresses(ns, dev) if e["state"] == "preferred"]
    return any(e["address"] == address for e in ready) and any(
        e["origin"] == "link-local" for e in ready)


def setup():
    """Loads net6, makes both namespaces and waits for their addresses."""
    ktap.net6_load()
    ktap.veth(A, "a0", B, "b0")
    ktap.veth(A, "a1", B, "b1")
    ctl(B, "detach", "dev", "b0")
    for ns, dev, address in ((A, "a0", NATIVE_A), (B, "b0", NATIVE_B)):
        ns.ip("addr", "add", address + "/64", "dev", dev, "nodad")
    for ns, dev, address in ((A, "a0", NET6_A), (A, "a1", NET6_A1), (B, "b1", NET6_B1)):
        ctl(ns, "add", "address", address + "/64", "dev", dev)
    for ns, dev, address in ((A, "a0", NET6_A), (A, "a1", NET6_A1), (B, "b1", NET6_B1)):
        ktap.wait_for(15, f"{address} is preferred",
                      lambda n=ns, d=dev, a=address: preferred(n, d, a))


def native(kind=socket.SOCK_DGRAM, proto=0, ns=None):
    with ns or A:
        sock = socket.socket(socket.AF_INET6, kind, proto)
    sock.settimeout(10 * ktap.SCALE)
    return sock


def net6(kind=socket.SOCK_DGRAM, proto=0, ns=None):
    sock = ktap.net6_socket(kind, proto, ns or A)
    sock.settimeout(10 * ktap.SCALE)
    return sock


def udp_pair(connected=True, us=NET6_A):
    """A net6 socket in A and a native one in B, on ports of their own."""
    a, b = net6(), native(ns=B)
    a.bind((us, 0))
    b.bind((NATIVE_B, 0))
    if connected:
        a.connect(b.getsockname())
        b.connect(a.getsockname())
    return a, b


def both(function):
    """Runs function(socket maker) on both stacks; the results must be the same."""
    ktap.equal(function(net6), function(native), function.__name__)


def listening(make, address, port, ns=None):
    """A listener of native() or of net6()."""
    sock = make(socket.SOCK_STREAM, ns=ns)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, port))
    sock.listen()
    return sock


def index(ns, dev):
    with ns:
        return socket.if_nametoindex(dev)
