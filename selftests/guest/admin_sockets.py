#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# net6ctl del socket ends the TCP connections and listeners that are meant and no others:
# by address, port, interface, and those that no process has, which hold the module.
#
#	A [a0] ------ [b0] B
#
# guest: both
# timeout: 240
# guest-options: --kmemleak
# pylint: disable=missing-function-docstring
import errno
import json
import os
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap    # pylint: disable=wrong-import-position
import nd      # pylint: disable=wrong-import-position

PORT = 4720
LOOPBACK, OTHER = "::1", "fd00:1::1"
A, B = ktap.later("A"), ktap.later("B")


def setup():
    ktap.net6_load()
    ktap.veth(A, "a0", B, "b0")
    for ns, dev, host in ((A, "a0", 1), (B, "b0", 2)):
        nd.net6ctl(ns, "set", "dev", dev, "dad-transmits", "0")
        nd.net6ctl(ns, "add", "address", f"fd00:1::{host}/64", "dev", dev)


def listener(ns, port, address="::", reuse=False):
    sock = ktap.net6_socket(ns=ns)
    sock.settimeout(20)
    if reuse:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind((address, port))
    sock.listen(50)
    return sock


def pair(server, address, ns=None, port=PORT):
    """A connection: (the client's end, the server's)."""
    client = ktap.net6_socket(ns=ns or A)
    client.settimeout(20)
    client.connect((address, port))
    return client, server.accept()[0]


def end(*words):
    nd.net6ctl(A, "del", "socket", *words)


def refused(*words):
    done = subprocess.run((nd.NET6CTL, "-N", A.name, "del", "socket") + words, text=True,
                          capture_output=True, check=False)
    ktap.equal((done.returncode, done.stdout), (1, ""), f"del socket {' '.join(words)}")
    return done.stderr


def failure(function, *args):
    try:
        function(*args)
    except OSError as error:
        return error.errno
    return 0


def works(ends):
    client, server = ends
    client.send(b"x")
    ktap.equal(ktap.take(server, 1), b"x", "the other connection works")


def close(*socks):
    for sock in socks:
        sock.close()


@ktap.test
def by_its_own_address_and_port():
    server = listener(A, PORT)
    mine, other = pair(server, LOOPBACK), pair(server, LOOPBACK)
    end("local", LOOPBACK, "lport", str(mine[0].getsockname()[1]))
    ktap.equal(failure(mine[0].recv, 1), errno.ECONNABORTED, "its owner is told")
    ktap.equal(failure(mine[1].recv, 1), errno.ECONNRESET, "so is its peer")
    works(other)
    works(pair(server, LOOPBACK))
    close(server, *mine, *other)


@ktap.test
def by_its_peer():
    server = listener(A, PORT)
    here, there = pair(server, LOOPBACK), pair(server, OTHER)
    end("remote", OTHER, "rport", str(PORT))
    ktap.equal(failure(there[0].recv, 1), errno.ECONNABORTED, "by the peer's address and port")
    works(here)
    port = str(here[0].getsockname()[1])
    end("rport", port)
    ktap.equal(failure(here[1].recv, 1), errno.ECONNABORTED, "by the peer's port alone")
    ktap.true("no such TCP socket" in refused("rport", port), "once")
    close(server, *here, *there)


@ktap.test
def by_the_interface_that_it_is_bound_to():
    server = listener(B, PORT)
    free = pair(server, "fd00:1::2")
    bound = ktap.net6_socket(ns=A)
    bound.settimeout(20)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"a0")
    bound.connect(("fd00:1::2", PORT))
    end("dev", "a0")
    ktap.equal(failure(bound.recv, 1), errno.ECONNABORTED, "the bound one")
    works(free)
    close(server, bound, *free)


@ktap.test
def listeners_all_of_a_port():
    """More than a walk takes from a chain at once: those behind are not missed."""
    servers = [listener(A, PORT + 1, reuse=True) for _ in range(50)]
    keeps = listener(A, PORT + 2)
    waits = ktap.net6_socket(ns=A)
    waits.settimeout(20)
    waits.connect((LOOPBACK, PORT + 1))
    end("lport", str(PORT + 1))
    for server in servers:
        ktap.equal(failure(server.accept), errno.EINVAL, "it listens no more")
    ktap.equal(failure(waits.recv, 1), errno.ECONNRESET, "who was not yet accepted")
    works(pair(keeps, LOOPBACK, port=PORT + 2))
    close(keeps, waits, *servers)


@ktap.test
def orphans_only_and_the_module_is_free():
    server = listener(B, PORT)
    kept, left = pair(server, "fd00:1::2"), [pair(server, "fd00:1::2") for _ in range(3)]
    ktap.kmod("sch_netem")
    A.run("tc", "qdisc", "add", "dev", "a0", "root", "netem", "loss", "100%")
    for client, _ in left:
        client.close()

    def states():
        return sorted((s["state"], s["inode"] == 0) for s in json.loads(
            nd.net6ctl(A, "-j", "show", "sockets", "tcp")) if s["state"] != "time-wait")
    ktap.equal(states(), [("established", False)] + 3 * [("fin-wait-1", True)],
               "their FINs are not answered")
    before = ktap.users("net6")
    end("orphan", "local", "fd00:1::1")
    ktap.equal(states(), [("established", False)], "only they are gone")
    ktap.wait_for(10, "they hold the module no more", lambda: ktap.users("net6") == before - 3)
    ktap.true("no such TCP socket" in refused("orphan"), "there is no other")
    for sock in (*kept, *(server_end for _, server_end in left)):
        # Nobody would answer a FIN.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    close(server)


@ktap.test
def what_is_not_said_or_wrong_is_refused():
    for words, says in (((), "which sockets?"), (("lport", "65536"), "port: 0 to 65535"),
                        (("lport", "x"), "no number"), (("local", "fd00::/64"), "no prefix"),
                        (("local",), "what local?"), (("dev", "none"), "no device none"),
                        (("state", "1"), "does not belong here")):
        ktap.true(says in (told := refused(*words)), f"{words}: {told}")


ktap.main(setup=setup)
