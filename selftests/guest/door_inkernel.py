#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Functions of native TCP that the kernel's own users of sockets call on whatever socket they have
# (tcp_sock_set_cork(), tcp_read_sock(), ...), called on net6's. What they are to do happens, and
# nothing that native believes to have sent. Played on the native stack and on net6; both have to
# give the same, and the same as the socket option for a program.
#
#   [ one namespace: native ::1 on lo | net6 ::1 on the pseudo-loopback ]
#
# guest: both
# timeout: 180
import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import tcpapi  # pylint: disable=wrong-import-position
from tcpapi import TCP_CORK, TCP_INFO, TCP_QUICKACK, TCP_USER_TIMEOUT, \
    outcome, scenario  # pylint: disable=wrong-import-position

TCP = socket.IPPROTO_TCP
# Where they are in struct tcp_info, and how long.
FIELDS = {"unacked": (24, "I"), "retrans": (36, "I"), "total_retrans": (100, "I"),
          "notsent": (144, "I"), "data_segs_out": (156, "I"), "segs_out": (136, "I"),
          "bytes_sent": (200, "Q"), "bytes_retrans": (208, "Q")}


def setup():
    tcpapi.setup()
    ktap.run("insmod", f"{ktap.BUILD}/selftests/modules/net6_native.ko")
    ktap.at_exit(ktap.unload, "net6_native")


def call(what, sock, value=0):
    """As the kernel would; how many bytes, for "read"."""
    fd = os.open("/proc/net6_native", os.O_WRONLY)
    try:
        return os.write(fd, f"{what} {sock.fileno()} {value}".encode())
    finally:
        os.close(fd)


def info(sock, *names):
    data = sock.getsockopt(TCP, TCP_INFO, 256)
    return {name: struct.unpack_from("=" + FIELDS[name][1], data, FIELDS[name][0])[0]
            for name in names}


def program_cork(sock, value):
    sock.setsockopt(TCP, TCP_CORK, value)


def kernel_cork(sock, value):
    call("cork", sock, value)


def acked(sock):
    return not info(sock, "unacked")["unacked"]


@scenario
def what_a_cork_held_is_sent_at_once(p, note):
    """Once: a segment that is lost would be sent again, and counted twice."""
    for cork in (program_cork, kernel_cork):
        client, server, _ = p.pair()
        for turn in range(20):
            cork(client, 1)
            client.sendall(b"mark")
            client.sendall(b"record %02d" % turn)
            note("held", info(client, "notsent"))
            cork(client, 0)
            note("record", ktap.take(server, 13))
            server.sendall(b"answer")
            note("answer", ktap.take(client, 6))
        note("counted", info(client, "data_segs_out", "bytes_sent", "total_retrans"))


@scenario
def what_nagle_held_is_sent_at_once(p, note):
    def program(sock):
        sock.setsockopt(TCP, socket.TCP_NODELAY, 1)

    for nodelay in (program, lambda sock: call("nodelay", sock)):
        client, server, _ = p.pair()
        client.sendall(b"x")
        nodelay(client)
        client.sendall(b"y")
        note("both", ktap.take(server, 2))
        note("counted", info(client, "data_segs_out", "bytes_sent", "total_retrans"))
        note("option", bool(client.getsockopt(TCP, socket.TCP_NODELAY)))


def stream(p, size, window=None):
    """A stream in pieces of all sizes, corked; its reader is slow to begin with."""
    listener = p.listener()
    if window:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    client = p.client(listener)
    server = p.accept(listener)
    body = os.urandom(size)
    seen = []
    reader = threading.Thread(target=lambda: seen.append(ktap.take(server, size)))
    at, turn = 0, 0
    reader.start()
    while at < size:
        turn += 1
        length = 1 + turn * 7919 % 150000
        call("cork", client, 1)
        client.sendall(body[at:at + length // 3])
        client.sendall(body[at + length // 3:at + length])
        call("cork", client, 0)
        at += length
    reader.join()
    ktap.wait_for(20, "all is acknowledged", lambda: acked(client))
    if seen[0] != body:
        raise ktap.Fail("other bytes")
    return info(client, "bytes_sent", "bytes_retrans")


@scenario
def long_records_arrive_as_they_are(p, note):
    for window in (None, 20000):
        counts = stream(p, 4 << 20, window)
        note("sent", counts["bytes_sent"] - counts["bytes_retrans"])


@scenario
def records_beside_probes_for_the_path_arrive_as_they_are(p, note):
    path = "/proc/sys/net/ipv4/tcp_mtu_probing"
    with open(path, encoding="ascii") as file:
        before = file.read()
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write("2")
        counts = stream(p, 2 << 20)
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)
    note("sent", counts["bytes_sent"] - counts["bytes_retrans"])


@scenario
def an_acknowledgment_is_sent_at_once(p, note):
    """Or else the sender sends again: the one that waited is forgotten."""
    for _ in range(10):
        client, server, _ = p.pair()
        server.setsockopt(TCP, TCP_QUICKACK, 0)
        client.sendall(b"x" * 100)
        note("data", ktap.take(server, 100))
        call("quickack", server, 1)
        ktap.wait_for(10, "acknowledged", lambda: acked(client))
        note("again", info(client, "total_retrans"))
        note("quick", server.getsockopt(TCP, TCP_QUICKACK))


@scenario
def a_stream_read_by_the_kernel_goes_on(p, note):
    """The window opens by what it reads."""
    size = 4 << 20
    listener = p.listener()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 30000)
    client = p.client(listener)
    server = p.accept(listener)
    writer = threading.Thread(target=client.sendall, args=(bytes(size),))
    writer.start()
    done = 0
    while done < size:
        tcpapi.events(server, tcpapi.select.POLLIN)
        done += call("read", server, 10000)
    writer.join()
    note("all", done)
    ktap.wait_for(20, "all is acknowledged", lambda: acked(client))
    counts = info(client, "bytes_sent", "bytes_retrans")
    note("sent", counts["bytes_sent"] - counts["bytes_retrans"])


@scenario
def settings_are_those_of_the_options(p, note):
    client, _, listener = p.pair()
    for sock in (client, listener, p.socket()):
        call("keepalive", sock)
        note("on", sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
        for name, option, good, bad in (("keepidle", socket.TCP_KEEPIDLE, 5, 0),
                                        ("keepintvl", socket.TCP_KEEPINTVL, 7, 40000),
                                        ("keepcnt", socket.TCP_KEEPCNT, 3, 128),
                                        ("syncnt", socket.TCP_SYNCNT, 2, 128)):
            call(name, sock, good)
            note(name, sock.getsockopt(TCP, option))
            note(f"{name} {bad}", outcome(call, name, sock, bad))
            note(name, sock.getsockopt(TCP, option))
        call("user_timeout", sock, 1234)
        note("user_timeout", sock.getsockopt(TCP, TCP_USER_TIMEOUT))


@scenario
def a_socket_without_a_connection_sends_nothing(p, note):
    listener, fresh = p.listener(), p.socket()
    for sock in (listener, fresh):
        for what, value in (("cork", 1), ("cork", 0), ("nodelay", 0), ("quickack", 1)):
            note(what, outcome(call, what, sock, value) > 0)
        note("read", outcome(call, "read", sock, 100))
    note("still", p.client(listener).send(b"x"))


@scenario
def a_cork_is_pulled_after_the_end(p, note):
    """The peer is gone, or we have said that nothing more comes."""
    client, server, _ = p.pair()
    call("cork", client, 1)
    client.sendall(b"last")
    client.shutdown(socket.SHUT_WR)
    call("cork", client, 0)
    note("last", ktap.take(server, 100))
    server.sendall(b"answer")
    ktap.take(client, 6)
    call("quickack", client, 1)
    ktap.wait_for(10, "acknowledged", lambda: acked(server))
    note("again", info(server, "total_retrans"))
    client, server, _ = p.pair()
    call("cork", client, 1)
    client.sendall(b"lost")
    tcpapi.reset(server)
    tcpapi.events(client, tcpapi.select.POLLERR)
    call("cork", client, 0)
    note("error", outcome(client.send, b"x"))


ktap.main(setup)
