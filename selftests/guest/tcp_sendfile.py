#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Files into a connection by reference: that the pages of one call share packets, and that
# they arrive whole where there is hardly room for one.
#
#	[ A: sender ] a1 ------ b1 [ B: receiver ]
#
# guest: stock
# guest-options: --virtual-time
# timeout: 120
import os
import random
import socket
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import netpair  # noqa: E402
from netpair import NET6_B1, net6  # noqa: E402

# What a pipe takes in: sendfile(2) gives it to the socket page by page.
PIPE = 65536
CONTENT = random.Random(11).randbytes(16 * PIPE)


def counter(name):
    out = netpair.ctl(netpair.A, "show", "counters", "all")
    return next(int(line.split()[1]) for line in out.splitlines() if line.split()[0] == name)


def file():
    found = tempfile.TemporaryFile()
    found.write(CONTENT)
    found.flush()
    return found


def connection(sndbuf=None):
    listener = net6(socket.SOCK_STREAM, ns=netpair.B)
    listener.bind((NET6_B1, 0))
    listener.listen(1)
    sock = net6(socket.SOCK_STREAM)
    if sndbuf:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)
    sock.connect((NET6_B1, listener.getsockname()[1]))
    peer = listener.accept()[0]
    listener.close()
    for end in (sock, peer):
        end.settimeout(30 * ktap.SCALE)
    return sock, peer


def read(peer, size):
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        ktap.true(more, "more of the stream")
        data += more
    return data


def pass_file(sock, peer, content, at=0):
    """A part of the file, @at from its beginning."""
    with file() as source:
        def send():
            sent = at
            while sent < at + content:
                sent += os.sendfile(sock.fileno(), source.fileno(), sent, at + content - sent)

        sock.setblocking(True)
        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        ktap.true(read(peer, content) == CONTENT[at:at + content], "the file's bytes")
        thread.join(30 * ktap.SCALE)
        ktap.true(not thread.is_alive(), "all is sent")


@ktap.test
def pages_of_a_call_share_packets():
    sock, peer = connection()
    pass_file(sock, peer, len(CONTENT))
    before = counter("TcpOutSegs"), counter("Ip6OutRequests")
    for at in range(0, len(CONTENT), PIPE):
        pass_file(sock, peer, PIPE, at)
    segments = counter("TcpOutSegs") - before[0]
    packets = counter("Ip6OutRequests") - before[1]
    # A page is three segments.
    ktap.true(segments > 8 * packets, f"{segments} segments in {packets} packets")
    sock.close()
    peer.close()


@ktap.test
def a_file_through_a_small_buffer():
    sock, peer = connection(sndbuf=4096)
    pass_file(sock, peer, len(CONTENT))
    pass_file(sock, peer, len(CONTENT) - 4321, 1234)
    sock.close()
    peer.close()


ktap.main(setup=netpair.setup)
