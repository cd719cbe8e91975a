#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Rules about the owner of what leaves (nft's meta skuid) know net6's TCP in takeover mode. Data
# and pure ACKs, SYN and SYN-ACK, FIN, window probes and resets of a socket's are let out with
# nothing else.
#
#	A [a0] ------ [b0] B	both on net6; the rules are A's
#
# guest: both
# guest-append: ipv6.disable=1
# timeout: 90
import contextlib
import os
import re
import socket
import struct
import sys
import threading
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import programs

PORT, SIZE = 7300, 1 << 20
RULES = """table inet owner {
	chain out {
		type filter hook output priority 0; policy drop
		meta skuid %d accept
		icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
		meta l4proto tcp counter
	}
}
"""


def setup():
    ktap.kmod("nf_tables")
    programs.takeover()


@contextlib.contextmanager
def only(uid):
    """Of A's packets only those of this user leave."""
    programs.A.run("nft", "-f", "-", input=RULES % uid)
    try:
        yield
    finally:
        programs.A.run("nft", "delete", "table", "inet", "owner")


def refused():
    """TCP packets of A that no rule let out."""
    out = programs.A.run("nft", "list", "chain", "inet", "owner", "out")
    return int(re.search(r"counter packets (\d+)", out).group(1))


def tcp(ns):
    with ns:
        s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    s.settimeout(10 * ktap.SCALE)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return s


@contextlib.contextmanager
def connected(client, server, rcvbuf=0):
    """Both ends of a connection between two namespaces."""
    address = programs.CLIENT if server is programs.A else programs.SERVER
    with tcp(server) as listener, tcp(client) as c:
        if rcvbuf:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        listener.bind((address, PORT))
        listener.listen()
        c.connect((address, PORT))
        s, _ = listener.accept()
        s.settimeout(10 * ktap.SCALE)
        with s:
            yield c, s
            # Who closes first has a TIME-WAIT entry, whose ACKs are nobody's on native, too.
            (c if client is programs.B else s).close()


def move(sender, receiver):
    data = os.urandom(SIZE)
    thread = threading.Thread(target=sender.sendall, args=(data,))
    thread.start()
    ktap.true(ktap.take(receiver, SIZE) == data, "what arrives")
    thread.join()


@ktap.test
def a_client_and_a_server_work():
    with only(0):
        for client, server in ((programs.A, programs.B), (programs.B, programs.A)):
            with connected(client, server) as (c, s):
                move(c, s)
                move(s, c)
                ktap.equal(refused(), 0, f"refused, the client in {client.name}")


@ktap.test
def a_probe_of_a_window_leaves():
    with only(0), connected(programs.A, programs.B, rcvbuf=4096) as (c, s):
        data = os.urandom(SIZE)
        thread = threading.Thread(target=c.sendall, args=(data,))
        thread.start()
        # struct tcp_info: tcpi_state, _ca_state, _retransmits, _probes
        ktap.wait_for(20, "the window was probed",
                      lambda: c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 4)[3])
        ktap.true(ktap.take(s, SIZE) == data, "what arrives")
        thread.join()
        ktap.equal(refused(), 0, "refused")


@ktap.test
def a_reset_leaves():
    with only(0), connected(programs.A, programs.B) as (c, s):
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("=ii", 1, 0))
        c.close()
        try:
            ktap.equal(s.recv(1), "a reset", "recv()")
        except ConnectionResetError:
            pass
        ktap.equal(refused(), 0, "refused")


@ktap.test
def another_user_s_do_not():
    with only(65534):
        with tcp(programs.A) as c:
            c.settimeout(0.5)
            try:
                c.connect((programs.SERVER, PORT))
                raise ktap.Fail("it is connected")
            except TimeoutError:
                pass
        ktap.true(refused(), "SYNs are refused")


ktap.main(setup=setup)
