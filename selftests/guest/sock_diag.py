#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# sock_diag where native IPv6 is off: ss finds net6's sockets whether inet_diag is there or not, and
# whichever was first; one socket is looked for, and ended, by who may.
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 120
import contextlib
import errno
import os
import socket
import struct
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

PORT = 7900
BY_FAMILY, DESTROY = 20, 21
LISTEN, ESTABLISHED = 10, 1
MODULES = ("tcp_diag", "udp_diag", "raw_diag", "inet_diag")


def setup():
    ktap.net6_load()
    ktap.run("ip", "link", "set", "lo", "up")


@contextlib.contextmanager
def connection():
    """Both ends and the listener."""
    with socket.create_server(("::1", PORT), family=socket.AF_INET6) as listener, \
            socket.create_connection(("::1", PORT)) as client:
        server = listener.accept()[0]
        with server:
            yield client, server, listener


def ss(*words):
    return [line.split() for line in ktap.run("ss", "-H", "-n", *words).splitlines()]


def finds_both():
    """An IPv4 listener, and one of net6's."""
    with socket.create_server(("127.0.0.1", PORT + 1)), \
            socket.create_server(("::1", PORT), family=socket.AF_INET6):
        lines = ss("-t", "-l")
        return {f"127.0.0.1:{PORT + 1}", f"[::1]:{PORT}"} <= {line[3] for line in lines}


def loaded():
    return [name for name in MODULES if os.path.isdir(f"/sys/module/{name}")]


@ktap.test
def inet_diag_comes_and_goes():
    """ss loads it by itself when it asks about IPv4."""
    builtin = loaded()
    for _ in range(2):
        ktap.true(finds_both(), f"with {loaded()}")
        if builtin:
            break
        ktap.true("inet_diag" in loaded(), "it has been loaded")
        ktap.run("rmmod", *loaded())
        with connection():
            lines = [line for line in ss("-6", "-t", "-a", "exclude", "time-wait")
                     if str(PORT) in line[3] + line[4]]
            ktap.equal(len(lines), 3, f"without it: {lines}")


@ktap.test
def net6_goes_and_comes():
    ktap.run("modprobe", "-a", "inet_diag", "tcp_diag")
    for _ in range(2):
        ktap.unload("net6")
        ktap.equal([line for line in ss("-t", "-l") if "::1" in line[3]], [], "without net6")
        ktap.net6_load()
        ktap.run("ip", "link", "set", "lo", "up")
        ktap.true(finds_both(), "with it again")


def ask(kind, source, destination, cookie=(0xffffffff, 0xffffffff), flags=5,
        protocol=socket.IPPROTO_TCP):
    """A request about one socket: what is told of it, as a number the error."""
    body = struct.pack("=BBBxI", socket.AF_INET6, protocol, 0, 0) + struct.pack(
        "!HH", source[1], destination[1]) + socket.inet_pton(socket.AF_INET6, source[0]) + \
        socket.inet_pton(socket.AF_INET6, destination[0]) + struct.pack("=III", 0, *cookie)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as sock:
        sock.settimeout(10 * ktap.SCALE)
        sock.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        answer = sock.recv(8192)
    found = struct.unpack_from("=IHHII", answer)
    if found[1] == 2:
        return -struct.unpack_from("=i", answer, 16)[0]
    ktap.equal(found[1:4], (BY_FAMILY, 0, 1), "header of the answer")
    return answer[16:]


def cookie_of(told):
    return struct.unpack_from("=II", told, 44)


@ktap.test
def one_socket_is_told_of():
    with connection() as (client, server, listener):
        names = client.getsockname(), client.getpeername()
        for sock, name, state in ((client, names, ESTABLISHED), (server, names[::-1], ESTABLISHED),
                                  (listener, (listener.getsockname(), ("::", 0)), LISTEN)):
            told = ask(BY_FAMILY, *name)
            ktap.equal(tuple(told[:2]), (socket.AF_INET6, state), f"{name}")
            ktap.equal(struct.unpack_from("=I", told, 68)[0], os.fstat(sock.fileno()).st_ino,
                       "inode")
            cookie = cookie_of(told)
            ktap.true(not isinstance(ask(BY_FAMILY, *name, cookie), int), "by its cookie")
            ktap.equal(ask(BY_FAMILY, *name, (cookie[0] + 1, cookie[1])), errno.ESTALE,
                       "another's cookie")
        ktap.equal(ask(BY_FAMILY, ("::1", PORT), ("::2", 9)), errno.ENOENT, "no such connection")
        ktap.equal(ask(BY_FAMILY, *names, protocol=socket.IPPROTO_UDP), errno.EOPNOTSUPP, "UDP")


@ktap.test
def a_connection_is_ended():
    ktap.run("modprobe", "-a", "inet_diag", "tcp_diag")
    with connection() as (client, server, listener):
        ss("-K", "-6", "-t", "dst", "[::1]", "dport", "=", str(PORT))
        ktap.equal(ktap.failing(client.recv, 9), "ECONNABORTED", "the one that was named")
        ktap.equal(ktap.failing(server.recv, 9), "ECONNRESET", "its peer")
        ktap.equal(ask(DESTROY, listener.getsockname(), ("::", 0)), 0, "a listener")
        ktap.equal(ktap.failing(listener.accept), "EINVAL", "is none any more")


@ktap.test
def not_by_everybody():
    with connection() as (client, server, _):
        names = client.getsockname(), client.getpeername()
        os.seteuid(65534)
        try:
            ktap.equal(ask(DESTROY, *names), errno.EPERM, "nobody")
            ktap.true(not isinstance(ask(BY_FAMILY, *names), int), "may look")
        finally:
            os.seteuid(0)
        ktap.equal(ask(DESTROY, *names, (1, 1)), errno.ESTALE, "another's cookie")
        client.sendall(b"words")
        ktap.equal(server.recv(9), b"words", "it is there")


@ktap.test
def what_is_too_short_is_refused():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as sock:
        sock.settimeout(10 * ktap.SCALE)
        for kind, flags in ((BY_FAMILY, 5), (BY_FAMILY, 0x305), (DESTROY, 5)):
            for size in (2, 20, 55):
                sock.send(struct.pack("=IHHIIBB", 16 + size, kind, flags, 1, 0, socket.AF_INET6,
                                      socket.IPPROTO_TCP) + bytes(size - 2))
                ktap.equal(struct.unpack_from("=i", sock.recv(8192), 16)[0], -errno.EINVAL,
                           f"{kind} of {size} octets")


if __name__ == "__main__":
    subprocess.run(["modprobe", "-q", "-r", "-a", *MODULES[:3]], check=False)
    ktap.main(setup=setup)
