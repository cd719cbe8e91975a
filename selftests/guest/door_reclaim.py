#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Sockets by which memory is got back, as NFS has them. Whoever sends may be in the middle of
# something of the same task, so its page is left alone, and nothing is asked for that writes
# files back. Of IPv6 and of the IPv4 socket beside it.
#
#	[ one namespace: net6 ::1 on the pseudo-loopback ]
#
# guest: stock+
# timeout: 60
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

TRACE = "/sys/kernel/tracing"
EVENTS = ("kmem/kmalloc", "kmem/kmem_cache_alloc", "kmem/kmalloc_node",
          "kmem/kmem_cache_alloc_node")
MAPPED = "::ffff:127.0.0.1"


def setup():
    ktap.run("ip", "link", "set", "lo", "up")
    ktap.net6_load()
    ktap.run("insmod", f"{ktap.BUILD}/selftests/modules/net6_native.ko")
    ktap.at_exit(ktap.unload, "net6_native")


def call(what, sock, value=0):
    """What native_call() of selftests/modules/net6_native.c returns, 0 if that is 0."""
    text = f"{what} {sock.fileno()} {value}".encode()
    fd = os.open("/proc/net6_native", os.O_WRONLY)
    try:
        got = os.write(fd, text)
    finally:
        os.close(fd)
    return 0 if got == len(text) else got


def pair():
    """A socket and its peer on ::1."""
    peer, sock = ktap.net6_socket(socket.SOCK_DGRAM), ktap.net6_socket(socket.SOCK_DGRAM)
    peer.settimeout(10 * ktap.SCALE)
    peer.bind(("::1", 0))
    sock.connect(peer.getsockname()[:2])
    return sock, peer


@ktap.test
def the_page_of_the_task_is_left_alone():
    sock, peer = pair()
    ktap.equal(call("send", sock, 9000), 1, "the task's page is used by others")
    call("reclaims", sock)
    for length in (9000, 1, 4096, 60000, 65527):
        ktap.equal(call("send", sock, length), 0, f"the task's page, {length} octets")
    for length in (9000, 9000, 1, 4096, 60000, 65527):
        ktap.equal(peer.recv(70000), bytes(length), f"{length} octets come")


def write_file(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def asked_for(function):
    """Who of the network allocates during a call, and with which flags."""
    write_file(f"{TRACE}/trace", "")
    write_file(f"{TRACE}/set_event_pid", os.getpid())
    there = [event for event in EVENTS if os.path.exists(f"{TRACE}/events/{event}")]
    for event in there:
        write_file(f"{TRACE}/events/{event}/enable", 1)
    try:
        function()
    finally:
        for event in there:
            write_file(f"{TRACE}/events/{event}/enable", 0)
    with open(f"{TRACE}/trace", encoding="ascii") as file:
        lines = [dict(word.split("=", 1) for word in line.split() if "=" in word)
                 for line in file if "call_site=" in line]
    return {(e["call_site"].split("+")[0], e["gfp_flags"]) for e in lines
            if any(w in e["call_site"] for w in ("net6_", "alloc_skb", "kmalloc_reserve"))}


@ktap.test
def nothing_is_asked_for_that_writes_files_back():
    sock = ktap.net6_socket(socket.SOCK_DGRAM)
    sock.bind(("::", 0))
    info = [(socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, socket.inet_pton(socket.AF_INET6, MAPPED)
             + struct.pack("=I", 0))]

    def send():
        sock.sendmsg([b"net6"], info, 0, (MAPPED, sock.getsockname()[1]))
    seen = asked_for(send)
    ktap.true({site for site, flags in seen if "GFP_KERNEL" in flags} >= {
        "net6_mapped_dgram_sendmsg"}, f"seen are allocations: {seen}")
    call("reclaims", sock)
    seen = asked_for(send)
    ktap.true(seen, "allocations are seen")
    ktap.equal({(site, flags) for site, flags in seen if "GFP_KERNEL" in flags}, set(),
               "allocations that may write files back")


ktap.main(setup)
