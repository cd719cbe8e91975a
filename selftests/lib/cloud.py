# SPDX-License-Identifier: GPL-2.0
"""Two hosts with an IPv4 router between them, for tests of tunnels.

    [ A ] a0 ---- r1 [ R ] r2 ---- b0 [ B ]
    192.0.2.1   192.0.2.2  198.51.100.2   198.51.100.1

All three are native IPv4; net6 is what runs in A and B (native IPv6 for `sit`).
"""
import json
import os
import socket
import threading

import ktap

CTL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/net6ctl")
ADDRESS_A, ADDRESS_B = "192.0.2.1", "198.51.100.1"
A = B = R = None


def ctl(ns, *words, **options):
    return ns.run(CTL, *words, **options)


def show(ns, *words):
    return json.loads(ctl(ns, "-j", "show", *words))


def tunnel(ns, dev):
    return next(t for t in show(ns, "tunnels") if t["dev"] == dev)


def drops(ns, reason):
    return next(d["value"] for d in show(ns, "drops") if d["name"] == reason)


def preferred(ns, address):
    return any(e["address"] == address and e["state"] == "preferred"
               for e in show(ns, "addresses"))


def add_address(ns, dev, address, length=64):
    ctl(ns, "add", "address", f"{address}/{length}", "dev", dev)
    ktap.wait_for(20, f"{address} is preferred", lambda: preferred(ns, address))


def setup():
    global A, B, R
    ktap.net6_load()
    A, R, B = ktap.Netns("A"), ktap.Netns("R"), ktap.Netns("B")
    ktap.veth(A, "a0", R, "r1")
    ktap.veth(R, "r2", B, "b0")
    A.ip("addr", "add", ADDRESS_A + "/24", "dev", "a0")
    R.ip("addr", "add", "192.0.2.2/24", "dev", "r1")
    R.ip("addr", "add", "198.51.100.2/24", "dev", "r2")
    B.ip("addr", "add", ADDRESS_B + "/24", "dev", "b0")
    A.ip("route", "add", "default", "via", "192.0.2.2")
    B.ip("route", "add", "default", "via", "198.51.100.2")
    R.run("sysctl", "-qw", "net.ipv4.ip_forward=1")


def net6(ns, kind=socket.SOCK_STREAM):
    sock = ktap.net6_socket(kind, 0, ns)
    sock.settimeout(30 * ktap.SCALE)
    return sock


def native(ns, kind=socket.SOCK_STREAM):
    with ns:
        sock = socket.socket(socket.AF_INET6, kind)
    sock.settimeout(30 * ktap.SCALE)
    return sock


def pattern(size):
    return bytes(range(251)) * (size // 251 + 1)


def tcp(client, server, address, size=200000):
    """@size bytes each way between two unconnected sockets; both ends verify."""
    server.bind((address, 0))
    server.listen(1)
    data = pattern(size)[:size]
    wrong = []

    def transfer(sock):
        sender = threading.Thread(target=lambda: sock.sendall(data))
        sender.start()
        got = b""
        while len(got) < size:
            piece = sock.recv(65536)
            if not piece:
                break
            got += piece
        sender.join()
        if got != data:
            wrong.append(len(got))

    def serve():
        sock = server.accept()[0]
        sock.settimeout(60 * ktap.SCALE)
        transfer(sock)
        sock.close()
    thread = threading.Thread(target=serve)
    thread.start()
    client.connect(server.getsockname()[:2])
    client.settimeout(60 * ktap.SCALE)
    transfer(client)
    thread.join()
    client.close()
    server.close()
    ktap.equal(wrong, [], "transfers with wrong contents")


def udp(client, server, address, sizes=(1, 500, 1200, 1400, 5000)):
    """Datagrams there and back, retried, for there may be loss."""
    server.bind((address, 0))
    client.settimeout(1)
    server.settimeout(1)
    client.connect(server.getsockname()[:2])
    for size in sizes:
        data = pattern(size)[:size]

        def round_trip():
            try:
                client.send(data)
                got, peer = server.recvfrom(65536)
                server.sendto(got, peer)
                return client.recv(65536) == data
            except (socket.timeout, OSError):
                return False
        ktap.wait_for(20, f"a datagram of {size} bytes returns", round_trip)
    client.close()
    server.close()
