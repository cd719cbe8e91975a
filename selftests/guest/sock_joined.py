#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Datagrams that arrive joined (UDP_SEGMENT) and are read one by one. net6 cuts them when they are
# read, native before they are queued. A program sees no difference.
#
#	[ A: lo ]	both stacks at ::1
#
# guest: both
# timeout: 120
import ctypes
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import termios
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import netpair  # noqa: E402

SOL_UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104
SO_ATTACH_FILTER, SO_PEEK_OFF, SO_RXQ_OVFL = 26, 42, 40
IPV6_RECVPKTINFO = 49
SEGMENT = 1000
WHOLE = os.urandom(4 * SEGMENT + 300)	# five datagrams
SIZES = [SEGMENT] * 4 + [300]
F_SETSIG = 10


def pair(make):
    """A sender whose datagrams are joined, and its receiver."""
    sender, receiver = make(), make()
    receiver.bind(("::1", 0))
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sender.connect(receiver.getsockname())
    sender.setsockopt(SOL_UDP, UDP_SEGMENT, SEGMENT)
    return sender, receiver


def same(function):
    """What both stacks say is the same; it is returned."""
    native, net6 = function(netpair.native), function(netpair.net6)
    ktap.equal(net6, native, "net6 and native")
    return net6


def queued(sock):
    return struct.unpack("=i", fcntl.ioctl(sock, termios.FIONREAD, b"\0" * 4))[0]


def drained(sock):
    sock.setblocking(False)
    ktap.raises(errno.EAGAIN, sock.recv, 1)


@ktap.test
def each_read_has_one():
    def seen(make):
        sender, receiver = pair(make)
        sender.send(WHOLE)
        # Too little room takes the rest of that one only.
        out = [(queued(receiver), receiver.recvmsg(100)[::2]) for _ in range(2)]
        out.append(receiver.recv_into(bytearray(50), 50, socket.MSG_TRUNC))
        out += [receiver.recvmsg(4000)[::2] for _ in range(2)]
        out.append(queued(receiver))
        drained(receiver)
        return out
    out = same(seen)
    ktap.equal([out[0][0], out[2], out[3][0], out[4][0], out[5]],
               [SEGMENT, SEGMENT, WHOLE[3 * SEGMENT:4 * SEGMENT], WHOLE[4 * SEGMENT:], 0],
               "what was read")


@ktap.test
def so_many_are_joined_at_most():
    def seen(make):
        sender, receiver = pair(make)
        sender.setsockopt(SOL_UDP, UDP_SEGMENT, 1)
        out = [ktap.failing(sender.send, b"m" * n) for n in (64, 65, 128, 129)]
        return out, [len(receiver.recv(9)) for _ in range(64)]
    same(seen)


@ktap.test
def what_is_peeked_at_stays():
    def seen(make):
        sender, receiver = pair(make)
        sender.send(WHOLE)
        out = []
        for _ in SIZES:
            out += [receiver.recv(4000, socket.MSG_PEEK) for _ in range(2)]
            out.append(receiver.recv(4000))
            ktap.true(len(set(out[-3:])) == 1, "peeked twice, then read")
        drained(receiver)
        return out
    ktap.true(b"".join(same(seen)[::3]) == WHOLE, "all of it")


@ktap.test
def peeking_goes_on_behind_what_was_seen():
    def seen(make):
        sender, receiver = pair(make)
        receiver.setsockopt(socket.SOL_SOCKET, SO_PEEK_OFF, 0)
        for _ in range(2):
            sender.send(WHOLE)
        out = [receiver.recv(300, socket.MSG_PEEK) for _ in range(7)]
        # One read takes as much from the offset.
        out.append(receiver.recv(4000))
        out.append(receiver.getsockopt(socket.SOL_SOCKET, SO_PEEK_OFF))
        receiver.setblocking(False)
        try:
            while True:
                out.append(receiver.recv(700, socket.MSG_PEEK))
        except BlockingIOError:
            pass
        for at in 0, 999, 1000, 3000, 3299, 3300, 7599, 7600:
            receiver.setsockopt(socket.SOL_SOCKET, SO_PEEK_OFF, at)
            out.append(ktap.failing(lambda: out.append(receiver.recv(4000, socket.MSG_PEEK))))
        out += [receiver.recv(4000) for _ in range(9)]
        drained(receiver)
        return out
    same(seen)


@ktap.test
def each_of_several_readers_has_one():
    for make in netpair.native, netpair.net6:
        sender, receiver = pair(make)
        got = []
        readers = [threading.Thread(target=lambda: got.append(receiver.recv(4000)), daemon=True)
                   for _ in SIZES]
        for reader in readers:
            reader.start()
        for reader in readers:
            ktap.wait_for(10, "it waits", lambda r=reader: ktap.asleep(r))
        sender.send(WHOLE)
        for reader in readers:
            reader.join(10 * ktap.SCALE)
        ktap.equal(sorted(got), sorted(WHOLE[at:at + SEGMENT] for at in range(0, 4300, SEGMENT)),
                   "each datagram once")
        drained(receiver)


@ktap.test
def readers_side_by_side_share_them():
    sender, receiver = pair(netpair.net6)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("=qq", 1, 0))
    receiver.setblocking(True)
    got, rounds = [], 60

    def work():
        try:
            while True:
                got.append(receiver.recv(4000))
        except BlockingIOError:
            pass
    readers = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(rounds):
        sender.send(b"".join(struct.pack("=HH", number, part) * 250 for part in range(5)))
    for reader in readers:
        reader.join(60 * ktap.SCALE)
    ktap.equal(sorted(got), sorted(struct.pack("=HH", number, part) * 250
                                   for number in range(rounds) for part in range(5)),
               "each datagram once")


@ktap.test
def a_poll_is_true_until_the_last():
    def seen(make):
        sender, receiver = pair(make)
        poll, epoll, out = select.poll(), select.epoll(), []
        poll.register(receiver, select.POLLIN)
        epoll.register(receiver, select.EPOLLIN | select.EPOLLET)
        sender.send(WHOLE)
        out.append(len(epoll.poll(5 * ktap.SCALE)))
        for _ in SIZES:
            out.append(len(poll.poll(0)))
            receiver.recv(4000)
        out.append(len(poll.poll(0)))
        return out
    ktap.equal(same(seen), [1] * 6 + [0], "readable")


@ktap.test
def one_signal_for_each():
    number = signal.SIGRTMIN

    def seen(make):
        sender, receiver = pair(make)
        signal.pthread_sigmask(signal.SIG_BLOCK, [number])
        for command, arg in (F_SETSIG, number), (fcntl.F_SETOWN, os.getpid()), \
                (fcntl.F_SETFL, os.O_ASYNC | fcntl.fcntl(receiver, fcntl.F_GETFL)):
            fcntl.fcntl(receiver, command, arg)
        sender.send(WHOLE)
        got = 0
        while signal.sigtimedwait([number], 0):
            got += 1
        return got
    ktap.equal(same(seen), len(SIZES), "signals")


@ktap.test
def a_filter_sees_each():
    def seen(make):
        sender, receiver = pair(make)
        # Each is cut to 100 octets behind its header.
        code = ctypes.create_string_buffer(struct.pack("=HBBI", 0x06, 0, 0, 108))
        receiver.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack(
            "=H6xQ", 1, ctypes.addressof(code)))
        sender.send(WHOLE)
        return [receiver.recv(4000) for _ in SIZES]
    ktap.equal([len(data) for data in same(seen)], [100] * 5, "sizes")


@ktap.test
def gro_is_for_what_comes_afterwards():
    def seen(make):
        sender, receiver = pair(make)
        sender.send(WHOLE)
        out = [receiver.recvmsg(8000, 100)[:2]]
        receiver.setsockopt(SOL_UDP, UDP_GRO, 1)
        out += [receiver.recvmsg(8000, 100)[:2] for _ in SIZES[1:]]
        sender.send(WHOLE)
        out.append(receiver.recvmsg(8000, 100)[:2])
        drained(receiver)
        return out
    out = same(seen)
    ktap.equal(out[-1], (WHOLE, [(SOL_UDP, UDP_GRO, struct.pack("=i", SEGMENT))]), "joined")


@ktap.test
def what_is_told_of_each():
    def seen(make):
        sender, receiver = pair(make)
        for level, option in (socket.SOL_SOCKET, SO_RXQ_OVFL), \
                (socket.IPPROTO_IPV6, IPV6_RECVPKTINFO), (socket.SOL_SOCKET, 29):
            receiver.setsockopt(level, option, 1)
        sender.send(WHOLE)
        out = [receiver.recvmsg(8000, 200) for _ in SIZES]
        ktap.equal([a[3] for a in out], [sender.getsockname()] * 5, "who sent it")
        return [(len(data), [(level, kind, len(value) if kind == 29 else value)
                             for level, kind, value in cmsgs])
                for data, cmsgs, _, _ in out]
    ktap.equal([len(cmsgs) for _, cmsgs in same(seen)], [2] * 5, "of each the same")


@ktap.test
def what_has_no_room_counts_each():
    def seen(make):
        sender, receiver = pair(make)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
        receiver.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
        for _ in range(20):
            sender.send(WHOLE)
        receiver.setblocking(False)
        got = 0
        while isinstance(ktap.failing(receiver.recv, 4000), bytes):
            got += 1
        # The next one that has room says how many had none.
        sender.send(b"end")
        cmsgs = receiver.recvmsg(4000, 100)[1]
        return got + struct.unpack("=I", cmsgs[0][2])[0], 0 < got < 100
    ktap.equal(same(seen), (100, True), "read and dropped")


@ktap.test
def a_socket_is_closed_while_some_wait():
    for reads in range(len(SIZES)):
        sender, receiver = pair(netpair.net6)
        sender.send(WHOLE)
        for _ in range(reads):
            receiver.recv(4000, socket.MSG_PEEK)
            receiver.recv(4000)
        receiver.close()
        sender.close()


ktap.main(setup=netpair.setup)
