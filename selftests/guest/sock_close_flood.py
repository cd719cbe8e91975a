#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Datagram sockets that are closed while datagrams come for them on another CPU. Receiving takes no
# reference to a socket, so the socket must outlive it by a grace period: KASAN says when it does
# not. A filter of 2,000 divisions makes receiving long, so that most closes meet it.
#
#	[ one namespace: ::1 and 127.0.0.1 on the loopbacks ]
#
# guest: checking
# guest-cpus: 2
# timeout: 240
import ctypes
import os
import select
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

SO_ATTACH_FILTER = 26
LOAD, DIVIDE, RETURN = 0x00, 0x34, 0x06		# BPF_LD | BPF_IMM, BPF_ALU | BPF_DIV, BPF_RET
OPTMEM = "/proc/sys/net/core/optmem_max"
CLOSES = 300


def setup():
    if len(os.sched_getaffinity(0)) < 2:
        raise ktap.Skip("one CPU only")
    ktap.run("ip", "link", "set", "lo", "up")
    ktap.net6_load()
    with open(OPTMEM, "w", encoding="ascii") as file:
        file.write("65536")


def slow(sock):
    """Makes receiving take long."""
    program = [(LOAD, 1)] + [(DIVIDE, 1)] * 2000 + [(RETURN, 0xffff)]
    code = b"".join(struct.pack("HBBI", op, 0, 0, value) for op, value in program)
    buffer = ctypes.create_string_buffer(code)
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                    struct.pack("HxxxxxxQ", len(program), ctypes.addressof(buffer)))


def flood(sock, address, ended):
    """From a CPU of its own; nobody may be there."""
    os.sched_setaffinity(0, {0})
    while not ended.is_set():
        try:
            sock.sendto(b"x", address)
        except OSError:
            pass


def closes(kind, proto, name, address):
    """Registers a test: sockets bound to @name, to whose @address datagrams come."""
    def run():
        sender = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) if "." in address[0]
                  else ktap.net6_socket(socket.SOCK_DGRAM))
        ended = threading.Event()
        flooding = threading.Thread(target=flood, args=(sender, address, ended))
        flooding.start()
        os.sched_setaffinity(0, {1})
        try:
            for n in range(CLOSES):
                sock = ktap.net6_socket(kind, proto)
                slow(sock)
                sock.bind(name)
                came = select.select([sock], [], [], 10 * ktap.SCALE)[0]
                sock.close()
                ktap.true(came, f"a datagram has come to socket {n}")
        finally:
            ended.set()
            flooding.join()
            sender.close()
            os.sched_setaffinity(0, {0, 1})
    ktap.test(f"{address[0]}, {kind.name}: nobody receives for a socket that is freed")(run)


closes(socket.SOCK_DGRAM, 0, ("::ffff:127.0.0.1", 7600), ("127.0.0.1", 7600))
closes(socket.SOCK_DGRAM, 0, ("::1", 7600), ("::1", 7600))
closes(socket.SOCK_RAW, socket.IPPROTO_UDP, ("::1", 0), ("::1", 7600))

if __name__ == "__main__":
    ktap.main(setup)
