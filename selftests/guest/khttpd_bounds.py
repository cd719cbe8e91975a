#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What of khttpd's grows with what an administrator or his server has made, where a stranger's
# request or any listen() walks it: by how much for each. In virtual time, where time is
# instructions.
#
#	[ client, khttpd and server on lo ]
#
# guest: stock
# guest-options: --virtual-time
# timeout: 200
# pylint: disable=missing-function-docstring
import os
import resource
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

BATCHES, CALLS = 20, 10
DEPTH, HOSTS, LISTENERS = 30, 500, 500
PORT, OTHER = 8090, 8091
ALIEN = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def least(call):
    return ktap.least(call, BATCHES, CALLS)


def setup():
    khttpd.fresh()
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))


@ktap.test
def a_kept_file_below_as_many_directories_as_are_watched():
    khttpd.serve(khttpd.V4)

    def fetched(name):
        khttpd.write(name, b"x")
        khttpd.let_files_settle()
        with khttpd.V4.connect() as sock:
            request, reader = khttpd.get("/" + name), khttpd.Reader(sock)

            def fetch():
                sock.sendall(request)
                ktap.equal(reader.reply().status, 200, name)
            for _ in range(3):
                fetch()
            misses = khttpd.count("cache_misses")
            took = least(fetch)
            ktap.equal(khttpd.count("cache_misses"), misses, "it stays in the cache")
            return took
    # Names as long: the head is parsed by the octet.
    few = fetched("d" * (2 * DEPTH) + "/f")
    ktap.each(few, fetched("d/" * DEPTH + "ff"), DEPTH - 1, "a directory on the way", 500)
    khttpd.ctl("stop")


@ktap.test
def a_head_without_host_where_there_are_many_virtual_hosts():
    with khttpd.Server(khttpd.V4, PORT) as server:
        def handed_over():
            with khttpd.V4.connect(PORT) as sock:
                sock.sendall(ALIEN)
                server.accept().close()
        few = least(handed_over)
        for number in range(HOSTS):
            khttpd.ctl("serve", "--site", f"h{number}", "--docroot", khttpd.WWW, "--set",
                       "behind=default", "--set", f"names=h{number}.example")
        before = khttpd.count("handed_over")
        many = least(handed_over)
        ktap.equal(khttpd.count("handed_over") - before, BATCHES * CALLS, "handed over")
    ktap.each(few, many, HOSTS, "a head without Host", 200)
    khttpd.ctl("stop", "--all")


def listening(port):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(("127.0.0.1", port))
    sock.listen(1)
    return sock


@ktap.test
def a_listener_of_anybody_where_many_are_attached():
    def listens():
        listening(OTHER).close()
    few = least(listens)
    socks = [listening(PORT) for _ in range(LISTENERS)]
    said = khttpd.ctl("attach", "--pid", str(os.getpid()), "--port", str(PORT), "--docroot",
                      khttpd.WWW)
    ktap.equal(said, f"attached to {LISTENERS} listeners\n", "attach")
    many = least(listens)
    khttpd.ctl("stop")
    for sock in socks:
        sock.close()
    ktap.each(few, many, LISTENERS, "listen()", 100)


ktap.main(setup)
