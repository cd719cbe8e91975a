# SPDX-License-Identifier: GPL-2.0
"""Two hosts with an IPv4 router between them, for tests of tunnels.

    [ A ] a0 ---- r1 [ R ] r2 ---- b0 [ B ]
    192.0.2.1   192.0.2.2  198.51.100.2   198.51.100.1

All three are native IPv4; net6 is what runs in A and B (native IPv6 for `sit`).
"""
import contextlib
import json
import os
import socket
import struct
import threading
import time

import ktap
import nd
import nl

CTL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/net6ctl")
ADDRESS_A, ADDRESS_B = "192.0.2.1", "198.51.100.1"
A, B, R = map(ktap.later, "ABR")


def ctl(ns, *words, **options):
    return ns.run(CTL, *words, **options)


def show(ns, *words):
    return json.loads(ctl(ns, "-j", "show", *words))


def dump(ns, op):
    """As show(), but without the price of a program: for what is looked at often."""
    with ns:
        family = nl.Family()
    try:
        return family.dump(op)
    finally:
        family.close()


def tunnel(ns, dev):
    """Counters of a tunnel, and the rest of it as netlink has it."""
    found = next(t for t in dump(ns, "tunnel-get") if t["name"] == dev)
    return {key.replace("-", "_"): value for key, value in found.items()}


def devices(ns):
    """The tunnels' names."""
    return [t["dev"] for t in show(ns, "tunnels")]


def drops(ns, reason):
    return next(d["value"] for d in dump(ns, "drop-get") if d["name"] == reason)


def preferred(ns, address):
    return any(nd.same(a["address"], address) and a["state"] == 1
               for a in dump(ns, "addr-get"))


def wait_preferred(ns, address):
    ktap.wait_for(30, f"{address} is preferred", lambda: preferred(ns, address))


def add_address(ns, dev, address, length=64):
    ctl(ns, "add", "address", f"{address}/{length}", "dev", dev)
    wait_preferred(ns, address)


def sysctl(ns, name, value):
    with ns, open("/proc/sys/" + name.replace(".", "/"), "w", encoding="ascii") as file:
        file.write(value)


def transition(ns, word):
    sysctl(ns, "net.net6.transition", word)


def batch(ns, *lines):
    """Commands of ip(8), for the price of one."""
    ktap.run("ip", "-n", ns.name, "-batch", "-", input="\n".join(lines) + "\n")


def setup():
    ktap.net6_load()
    ktap.kmod("veth")
    batch(R, f"link add r1 type veth peer name a0 netns {A.name}",
          f"link add r2 type veth peer name b0 netns {B.name}",
          "link set r1 up", "link set r2 up",
          "addr add 192.0.2.2/24 dev r1", "addr add 198.51.100.2/24 dev r2")
    for ns, dev, address, via in ((A, "a0", ADDRESS_A, "192.0.2.2"),
                                  (B, "b0", ADDRESS_B, "198.51.100.2")):
        batch(ns, f"link set {dev} up", f"addr add {address}/24 dev {dev}",
              f"route add default via {via}")
    sysctl(R, "net.ipv4.ip_forward", "1")


# Packets

def inner(source, destination, payload=b"x" * 16, proto=59, tclass=0, version=6, length=None):
    """An IPv6 packet, good but for what is asked for."""
    return struct.pack("!IHBB", version << 28 | tclass << 20,
                       len(payload) if length is None else length, proto, 64) + \
        nd.packed(source) + nd.packed(destination) + payload


def outer(packet, source, destination, tos=0, flags=0, ident=0, total=None):
    """An IPv4 packet of protocol 41 around it; @flags with the fragment offset."""
    header = struct.pack("!BBHHHBBH4s4s", 0x45, tos, total or 20 + len(packet), ident, flags,
                         64, 41, 0, socket.inet_aton(source), socket.inet_aton(destination))
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + packet


def checksum(data):
    """RFC 1071, over @data; 0 when it includes a right one."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def send_raw(ns, destination, *packets):
    """IPv4 packets with headers of ours, over IPv4's own output."""
    with ns:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    for packet in packets:
        sock.sendto(packet, (destination, 0))
    sock.close()


# Transfers

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


def datagram(ns, address):
    """errno of one to the discard port of @address, 0 if it went."""
    with net6(ns, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect((address, 9))
            sock.send(b"a datagram")
        except OSError as error:
            return error.errno
    return 0


@contextlib.contextmanager
def netem(*ends):
    """Loss, delay, duplicates and reordering at each (namespace, device)."""
    ktap.kmod("sch_netem")
    for ns, dev in ends:
        ns.run("tc", "qdisc", "add", "dev", dev, "root", "netem", "delay", "2ms", "1ms",
               "loss", "2%", "duplicate", "1%", "reorder", "5%")
    try:
        yield
    finally:
        for ns, dev in ends:
            ns.run("tc", "qdisc", "del", "dev", dev, "root")


@contextlib.contextmanager
def connection(client, server, address):
    """(near end, far end) of a net6 connection to @address, closed at the end."""
    listener, near = net6(server), net6(client)
    far = None
    try:
        listener.bind((address, 0))
        listener.listen(1)
        near.connect(listener.getsockname()[:2])
        far = listener.accept()[0]
        for sock in (near, far):
            sock.settimeout(60 * ktap.SCALE)
        yield near, far
    finally:
        for sock in (near, listener, far):
            if sock:
                sock.close()


def say(sock, peer, word):
    """@word goes from one end to the other."""
    sock.sendall(word)
    ktap.equal(peer.recv(100), word, "what arrived")


def send_while(near, far, size, action):
    """@size bytes through a connection; @action() is called when a quarter is sent."""
    data = pattern(size)[:size]
    got = bytearray()

    def receive():
        while len(got) < len(data):
            piece = far.recv(65536)
            if not piece:
                return
            got.extend(piece)
    thread = threading.Thread(target=receive)
    thread.start()
    near.sendall(data[:size // 4])
    action()
    near.sendall(data[size // 4:])
    thread.join()
    ktap.equal(bytes(got), data, "what arrived")


def cut(near, far, ns, dev):
    """What is said while a device on the way is down arrives when it is up again."""
    ns.down(dev)
    near.sendall(b"during")
    time.sleep(0.3)		# what is sent meanwhile is lost
    ns.up(dev)
    ktap.equal(far.recv(100), b"during", "after the way is back")
    say(far, near, b"after")


def narrow(mtu):
    """What R and B can send each other."""
    R.ip("link", "set", "r2", "mtu", str(mtu))
    B.ip("link", "set", "b0", "mtu", str(mtu))


@contextlib.contextmanager
def narrower(mtu):
    """The link between R and B is wide again at the end, and nobody remembers."""
    try:
        yield lambda: narrow(mtu)
    finally:
        narrow(1500)
        for ns in (A, B):
            ns.run("ip", "route", "flush", "cache")
            ctl(ns, "flush", "destinations")
