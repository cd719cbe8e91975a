#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Sockets that are made of other sockets, where these are net6's: SMC's and KCM's, which take TCP
# connections over. BPF's maps of sockets, upper-layer protocols, and MPTCP's listeners, which
# replace native's functions and are refused.
#
#	[ one namespace, ::1 ]
#
# guest: both
# guest-append: ipv6.disable=1
# timeout: 100
import ctypes
import errno
import fcntl
import os
import socket
import struct
import subprocess
import sys
import termios
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
from ktap import failing  # pylint: disable=wrong-import-position

TCP, STREAM, DGRAM = socket.IPPROTO_TCP, socket.SOCK_STREAM, socket.SOCK_DGRAM
PATIENCE = 10 * ktap.SCALE
AF_KCM, AF_SMC, SMCPROTO_SMC6 = 41, 43, 1
SIOCKCMATTACH, SIOCKCMUNATTACH = 0x89E0, 0x89E1
TCP_ULP, TCP_REPAIR, TCP_ZEROCOPY_RECEIVE = 31, 19, 35
IPPROTO_MPTCP = 262
libc = ktap._libc


def setup():
    ktap.net6_load()
    ktap.run("ip", "link", "set", "lo", "up")
    ktap.run("insmod", f"{ktap.BUILD}/selftests/modules/net6_native.ko")
    ktap.at_exit(ktap.unload, "net6_native")
    ktap.kmod("smc", "kcm")


def native(what, sock, value=0):
    """Calls native TCP's function on a socket (selftests/modules/net6_native.c)."""
    with open("/proc/net6_native", "w", encoding="ascii") as file:
        file.write(f"{what} {sock.fileno()} {value}")


def make(family=socket.AF_INET6, kind=STREAM, proto=0):
    """To Python it is an IPv6 socket, whatever it is."""
    fd = socket.socket(family, kind, proto).detach()
    sock = socket.socket(socket.AF_INET6, kind, fileno=fd)
    sock.settimeout(PATIENCE)
    return sock


def smc():
    try:
        return make(AF_SMC, STREAM, SMCPROTO_SMC6)
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT:
            raise ktap.Skip("no SMC") from error
        raise


def listen(sock):
    sock.bind(("::1", 0))
    sock.listen(5)
    return sock.getsockname()


def accept(listener):
    """accept() by its number: Python would ask for the address as SMC does not give it."""
    listener.setblocking(True)
    fd = libc.accept(listener.fileno(), None, None)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "accept")
    sock = socket.socket(socket.AF_INET6, STREAM, fileno=fd)
    sock.settimeout(PATIENCE)
    return sock


def pair():
    listener = make()
    client = make()
    client.connect(listen(listener))
    server = accept(listener)
    listener.close()
    return client, server


def talk(one, other):
    """What one sends is what the other gets, and nothing more."""
    for here, there in ((one, other), (other, one)):
        here.sendall(b"some words")
        ktap.equal(ktap.take(there, 10), b"some words", "words")
    one.close()
    ktap.equal(other.recv(100), b"", "at the end")
    other.close()


@ktap.test
def smc_speaks_tcp_to_who_does_not_know_it():
    """SMC begins with words of its own if the peer said in its SYN that it understands them."""
    listener, client = make(), smc()
    client.connect(listen(listener))
    talk(client, accept(listener))
    listener, client = smc(), make()
    client.connect(listen(listener))
    client.sendall(b"first")
    server = accept(listener)
    ktap.equal(ktap.take(server, 5), b"first", "before accept()")
    talk(server, client)
    listener, client = smc(), smc()
    client.connect(listen(listener))
    talk(client, accept(listener))


@ktap.test
def a_connection_outlives_the_smc_listener():
    """Which had functions of its own in its TCP socket, in its own memory."""
    for _ in range(5):
        listener, client = smc(), make()
        client.connect(listen(listener))
        server = accept(listener)
        listener.close()
        for _ in range(10):
            smc().close()
        native("cork", server, 1)
        server.sendall(b"held")
        native("cork", server, 0)
        ktap.equal(ktap.take(client, 4), b"held", "what was held")
        native("quickack", server, 1)
        talk(server, client)


def listen_drops():
    with open("/proc/net/netstat", encoding="ascii") as file:
        lines = [line.split() for line in file if line.startswith("TcpExt:")]
    return int(dict(zip(*lines))["ListenDrops"])


def has_arrived(client):
    """What it sent was acknowledged: there is somebody on the other side."""
    return not struct.unpack("=i", fcntl.ioctl(client, termios.TIOCOUTQ, bytes(4)))[0]


def admitted(family, proto, address):
    """How many of 20 connections a SMC listener with room for one admits while nobody accepts."""
    before = listen_drops()
    listener = make(AF_SMC, STREAM, proto) if family == socket.AF_INET6 else \
        socket.socket(socket.AF_INET, STREAM, fileno=socket.socket(AF_SMC, STREAM, proto).detach())
    listener.bind((address, 0))
    listener.listen(1)
    clients = []
    for _ in range(20):
        client = socket.create_connection(listener.getsockname()[:2], PATIENCE)
        client.send(b"x")
        clients.append(client)
    done = ktap.wait_for(10, "each connection is admitted or dropped", lambda:
                         listen_drops() - before + sum(map(has_arrived, clients)) >= 20 and
                         [has_arrived(client) for client in clients])
    for sock in clients + [listener]:
        sock.close()
    return sum(done)


@ktap.test
def smc_admits_no_more_than_it_has_room_for():
    smc().close()
    for args in (socket.AF_INET, 0, "127.0.0.1"), (socket.AF_INET6, SMCPROTO_SMC6, "::1"):
        ktap.true(admitted(*args) < 10, f"{args[2]}")


def program(length):
    """Whatever comes, a message has so many bytes."""
    return bpf.load(bpf.SOCKET_FILTER, 0, bpf.mov(0, length) + bpf.EXIT)


def kcm():
    try:
        sock = socket.socket(AF_KCM, DGRAM, 0)
    except OSError as error:
        raise ktap.Skip("no KCM") from error
    sock = socket.socket(socket.AF_UNIX, DGRAM, fileno=sock.detach())
    sock.settimeout(PATIENCE)
    return sock


@ktap.test
def kcm_cuts_a_stream_of_net6_in_messages():
    mux, (client, server), filter_ = kcm(), pair(), program(1000)
    fcntl.ioctl(mux.fileno(), SIOCKCMATTACH, struct.pack("ii", server.fileno(), filter_))
    body = os.urandom(1000 * 1000)
    writer = threading.Thread(target=client.sendall, args=(body,))
    writer.start()
    got = b"".join(mux.recv(5000) for _ in range(1000))
    writer.join()
    ktap.true(got == body, "the messages are the stream")
    mux.send(b"x" * 1000)
    ktap.equal(ktap.take(client, 1000), b"x" * 1000, "the other way")
    fcntl.ioctl(mux.fileno(), SIOCKCMUNATTACH, struct.pack("i", server.fileno()))
    talk(client, server)
    # Closed in every order, with something on the way.
    for order in ("mcs", "scm", "csm", "smc"):
        mux, (client, server) = kcm(), pair()
        fcntl.ioctl(mux.fileno(), SIOCKCMATTACH, struct.pack("ii", server.fileno(), filter_))
        client.sendall(b"x" * 1500)
        for who in order:
            {"m": mux, "c": client, "s": server}[who].close()
    os.close(filter_)


@ktap.test
def kcm_takes_connections_only():
    mux, filter_ = kcm(), program(10)
    listener, datagrams = make(), make(kind=DGRAM)
    listen(listener)
    for sock in (listener, make(), datagrams):
        ktap.true(failing(fcntl.ioctl, mux.fileno(), SIOCKCMATTACH,
                          struct.pack("ii", sock.fileno(), filter_)) in
                  ("ENOTSUP", "EINVAL"), "refused")
    os.close(filter_)


@ktap.test
def no_socket_of_net6_in_a_map_for_sockets():
    """It would get functions of native's TCP or UDP."""
    client, server = pair()
    datagrams = make(kind=DGRAM)
    datagrams.bind(("::1", 0))
    listener = make()
    listen(listener)
    for kind in (bpf.SOCKMAP, bpf.SOCKHASH):
        where = bpf.array(16, kind, 4)
        for sock in (client, server, datagrams, listener):
            ktap.equal(failing(bpf.update, where, struct.pack("=I", 1),
                               struct.pack("=I", sock.fileno())), "ENOTSUP", "refused")
        os.close(where)
    talk(client, server)


@ktap.test
def a_connection_over_ipv4_in_a_map_for_sockets():
    """A verdict sees each part that arrives, and passes it."""
    listener = socket.create_server(("127.0.0.1", 0))
    client = make()
    client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    client.connect(("::ffff:127.0.0.1", listener.getsockname()[1]))
    server, _ = listener.accept()
    seen = bpf.array(1)
    verdict = bpf.load(bpf.SK_SKB, bpf.SK_SKB_VERDICT,
                       bpf.mov(6, 0) + bpf.count(seen, 6) + bpf.mov(0, 1) + bpf.EXIT)
    where = bpf.array(1, bpf.SOCKMAP, 4)
    bpf.call(bpf.PROG_ATTACH, struct.pack("=IIII", where, verdict, bpf.SK_SKB_VERDICT, 0))
    bpf.update(where, struct.pack("=I", 0), struct.pack("=I", client.fileno()))
    for part in range(3):
        server.sendall(b"data")
        ktap.equal(client.recv(16), b"data", "passed on")
        ktap.equal(bpf.counts(seen, 1), {0: part + 1}, "verdicts")
    client.sendall(b"back")
    ktap.equal(server.recv(16), b"back", "the other way")
    for fd in (where, verdict, seen):
        os.close(fd)
    client.close()
    server.close()


@ktap.test
def no_protocol_on_top_of_a_connection():
    client, server = pair()
    for name in (b"tls\0", b"mptcp", b"espintcp", b"smc\0"):
        ktap.equal(failing(client.setsockopt, TCP, TCP_ULP, name), "ENOPROTOOPT", str(name))
    ktap.equal(failing(client.setsockopt, TCP, TCP_REPAIR, 1), "ENOPROTOOPT", "repair")
    ktap.equal(failing(client.getsockopt, TCP, TCP_ZEROCOPY_RECEIVE, 64), "ENOPROTOOPT",
               "zero copy")
    talk(client, server)


@ktap.test
def no_mptcp():
    """Neither a program's, nor what the kernel listens with for an address that it tells."""
    ktap.true(failing(socket.socket, socket.AF_INET6, STREAM, IPPROTO_MPTCP), "refused")
    for port in ((), ("port", "5000")):
        command = ["ip", "mptcp", "endpoint", "add", "::1", *port, "signal"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        ktap.diag(f"{' '.join(command)}: {done.returncode} {done.stderr.strip()}")
        if port:
            ktap.true(done.returncode, "no listener")
    with open("/proc/net/tcp6", encoding="ascii") as file:
        ktap.true(":1388 " not in file.read(), "nobody listens")


ktap.main(setup)
