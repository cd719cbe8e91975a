#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Operations of io_uring on sockets, where they wait and where they do not, with descriptors and
# fixed files, with a program's buffers, registered and provided ones. Sockets that come to a
# process by pidfd_getfd() and SCM_RIGHTS. Played on the native stack and on net6.
#
#	[ one namespace: native ::1 on lo | net6 ::1 on the pseudo-loopback ]
#
# guest: stock
# timeout: 200
import array
import ctypes
import errno
import os
import select
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import uring as u  # noqa: E402
from tcpapi import PATIENCE, events, fill, outcome, reset, scenario, setup  # noqa: E402

POLL_MULTI, CANCEL_FD, CANCEL_ANY = 1, 2, 4
SIZE = 5000
CONTENT = bytes(i * 7 + (i >> 8) & 0xff for i in range(SIZE))
NAME = struct.Struct("!2xHI16sI")
PIDFD_OPEN, PIDFD_GETFD = 434, 438


class Ring(u.Uring):
    """A ring with a buffer that is registered with it."""

    def __init__(self):
        try:
            super().__init__(16)
        except OSError as error:
            raise ktap.Skip("no io_uring") from error
        self.area, self.address = u.pages(1 << 16)
        self.register_buffer(self.address, 1 << 16)
        self.kept = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def keep(self, data):
        """The address of memory with these bytes that lives as long as the ring."""
        buf, address = u.memory(data)
        self.kept.append(buf)
        return address

    def one(self, *args, **kwargs):
        """The result of a request, and whether more follow."""
        self.submit(*args, **kwargs)
        return self.wait()

    def wait(self):
        taken = self.take(PATIENCE)
        if taken is None:
            raise ktap.Fail("no completion")
        result, flags = taken
        return errno.errorcode[-result] if result < 0 else result, flags

    def idle(self):
        """Nothing has completed."""
        return self.take(0)


def nothing_left(ring, note):
    note("nothing more", ring.idle())


def udp(p, bind=True):
    if p.name == "net6":
        sock = ktap.net6_socket(socket.SOCK_DGRAM)
    else:
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sock.settimeout(PATIENCE)
    p.open.append(sock)
    if bind:
        sock.bind(("::1", 0))
    return sock


def family(p):
    return ktap.AF_NET6 if p.name == "net6" else socket.AF_INET6


def name_of(sock):
    """What a struct sockaddr_in6 of it says."""
    address, port = sock.getsockname()[:2]
    return struct.pack("=H", socket.AF_INET6) + struct.pack(
        "!HI16sI", port, 0, socket.inet_pton(socket.AF_INET6, address), 0)


def senders(ring, data):
    """(what, operation, arguments, further ones) of each that sends this."""
    ring.area[:len(data)] = data
    at, size = ring.keep(data), len(data)
    vector = ring.keep(struct.pack("=QQQQ", at, 100, at + 100, size - 100))
    kept, head = u.message(at, size)
    ring.kept.append(kept)
    return (("send", u.OP_SEND, (at, size), {}),
            ("write", u.OP_WRITE, (at, size), {}),
            ("writev", u.OP_WRITEV, (vector, 2), {}),
            ("write fixed", u.OP_WRITE_FIXED, (ring.address, size), {}),
            ("sendmsg", u.OP_SENDMSG, (head, 1), {}))


def receivers(ring, size):
    """The same of each that receives, and what has come then."""
    buf, at = u.memory(bytes(size))
    vector = ring.keep(struct.pack("=QQQQ", at, 100, at + 100, size - 100))
    kept, head = u.message(at, size)
    ring.kept.append(kept)

    def plain():
        return buf.raw

    def fixed():
        return bytes(ring.area[32768:32768 + size])
    return (("recv", u.OP_RECV, (at, size), {"op_flags": socket.MSG_WAITALL}, plain),
            ("read", u.OP_READ, (at, size), {}, plain),
            ("readv", u.OP_READV, (vector, 2), {}, plain),
            ("read fixed", u.OP_READ_FIXED, (ring.address + 32768, size), {}, fixed),
            ("recvmsg", u.OP_RECVMSG, (head, 1), {"op_flags": socket.MSG_WAITALL}, plain))


def both(p, kind):
    """A connected pair."""
    if kind == socket.SOCK_STREAM:
        return p.pair()[:2]
    one, other = udp(p), udp(p)
    one.connect(other.getsockname())
    other.connect(one.getsockname())
    return one, other


def exchange(p, note, kind):
    """Each operation that sends and each that receives, as a descriptor, as a fixed file, and
    by a worker; the receiver waits, and then does not.
    """
    with Ring() as ring:
        one, other = both(p, kind)
        ring.register_files(one.fileno(), other.fileno())
        for flags, fds in ((0, (one.fileno(), other.fileno())), (u.FIXED_FILE, (0, 1)),
                           (u.FIXED_FILE | u.ASYNC, (0, 1))):
            for (out, op_out, args_out, more_out), (name, op_in, args_in, more_in, came) in zip(
                    senders(ring, CONTENT[:1000]), receivers(ring, 1000)):
                ring.submit(op_in, fds[1], *args_in, flags=flags, data=1, **more_in)
                note(f"{name} waits", ring.idle())
                ring.submit(op_out, fds[0], *args_out, flags=flags, data=2, **more_out)
                note(f"{out} and {name}", sorted(ring.completion(PATIENCE) for _ in range(2)))
                note("came", came() == CONTENT[:1000])
                note(out, ring.one(op_out, fds[0], *args_out, flags=flags, **more_out))
                select.select([other], [], [], PATIENCE)
                note(name, ring.one(op_in, fds[1], *args_in, flags=flags, **more_in))
                note("came", came() == CONTENT[:1000])
        nothing_left(ring, note)


@scenario
def a_stream_is_written_and_read(p, note):
    exchange(p, note, socket.SOCK_STREAM)


@scenario
def datagrams_are_written_and_read(p, note):
    exchange(p, note, socket.SOCK_DGRAM)


@scenario
def a_message_has_names_and_ancillary_data(p, note):
    with Ring() as ring:
        one, other = udp(p), udp(p)
        other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
        buf, at = u.memory(bytes(100))
        kept, head = u.message(at, 100, bytes(28), 64)
        ring.submit(u.OP_RECVMSG, other.fileno(), head, 1)
        note("waits", ring.idle())
        to = name_of(other)
        sent, out = u.message(ring.keep(b"words"), 5, to)
        note("sendmsg", ring.one(u.OP_SENDMSG, one.fileno(), out, 1, data=0))
        note("recvmsg", ring.wait())
        note("words", buf.raw[:5])
        note("who", kept[2].raw[:28] == name_of(one))
        note("hop limit", struct.unpack_from("=QIIi", kept[3].raw)[1:])
        note("send with a name", ring.one(u.OP_SEND, one.fileno(), ring.keep(b"again"), 5,
                                          offset=ring.keep(to), file=len(to)))
        note("came", other.recvfrom(9)[0])
        short, shorter = u.message(at, 3)
        one.sendto(b"more than that", other.getsockname())
        note("cut", ring.one(u.OP_RECVMSG, other.fileno(), shorter, 1))
        note("cut, it says", struct.unpack_from("=I", short[0].raw, 48)[0])
        one.sendto(b"more than that", other.getsockname())
        note("length of it", ring.one(u.OP_RECV, other.fileno(), at, 3,
                                      op_flags=socket.MSG_TRUNC))
        note("nothing there", ring.one(u.OP_RECV, other.fileno(), at, 3,
                                       op_flags=socket.MSG_DONTWAIT))
        del sent


def provide(ring, group, count, size):
    """Buffers in the kernel's hand; the memory that they are."""
    buf, at = u.memory(bytes(count * size))
    ring.kept.append(buf)
    note = ring.one(u.OP_PROVIDE_BUFFERS, count, at, size, offset=0, index=group)
    ktap.equal(note[0], 0, "buffers")
    return buf, at


def provide_ring(ring, group, count, size):
    """The same by a ring of them."""
    buf, at = u.memory(bytes(count * size))
    area, where = u.pages(4096)
    for i in range(count):
        struct.pack_into("=QIH", area, 16 * i, at + i * size, size, i)
    struct.pack_into("=H", area, 14, count)
    ring.kept += [buf, area]
    ring.register(u.REGISTER_PBUF_RING, struct.pack("=QIHH24x", where, count, group, 0), 1)
    return buf, at


@scenario
def provided_buffers_are_taken_when_there_is_something(p, note):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for how in (provide, provide_ring):
            with Ring() as ring:
                one, other = both(p, kind)
                buf, _ = how(ring, 7, 4, 64)
                for turn in range(4):
                    ring.submit(u.OP_RECV, other.fileno(), 0, 64, flags=u.BUFFER_SELECT, index=7)
                    note("waits", ring.idle())
                    one.send(b"turn %d" % turn)
                    result, flags = ring.wait()
                    note("recv", (result, flags & u.BUFFER))
                    at = 64 * (flags >> 16)
                    note("came", buf.raw[at:at + 6])
                one.send(b"no room")
                select.select([other], [], [], PATIENCE)
                note("no buffer", ring.one(u.OP_RECV, other.fileno(), 0, 64,
                                           flags=u.BUFFER_SELECT, index=7))
                note("it is still there", other.recv(99))


@scenario
def one_request_receives_again_and_again(p, note):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with Ring() as ring:
            one, other = both(p, kind)
            buf, _ = provide_ring(ring, 1, 8, 64)
            ring.submit(u.OP_RECV, other.fileno(), flags=u.BUFFER_SELECT, index=1,
                        ioprio=u.RECV_MULTISHOT)
            note("waits", ring.idle())
            for turn in range(8):
                one.send(b"turn %d" % turn)
                result, flags = ring.wait()
                note("recv", (result, flags & (u.BUFFER | u.MORE)))
                at = 64 * (flags >> 16)
                note("came", buf.raw[at:at + 6])
            one.send(b"no room")
            note("no buffer", ring.wait())
            note("it is still there", other.recv(99))
    with Ring() as ring:
        one, other = both(p, socket.SOCK_STREAM)
        provide_ring(ring, 1, 8, 64)
        ring.submit(u.OP_RECV, other.fileno(), flags=u.BUFFER_SELECT, index=1,
                    ioprio=u.RECV_MULTISHOT)
        one.close()
        note("the end", ring.wait())


@scenario
def one_request_receives_messages_with_names(p, note):
    with Ring() as ring:
        one, other = udp(p), udp(p)
        other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
        one.connect(other.getsockname())
        buf, _ = provide_ring(ring, 1, 4, 256)
        head = ring.keep(struct.pack("=QI4xQQQQi4x", 0, 28, 0, 0, 0, 64, 0))
        ring.submit(u.OP_RECVMSG, other.fileno(), head, 1, flags=u.BUFFER_SELECT, index=1,
                    ioprio=u.RECV_MULTISHOT)
        for turn in range(4):
            note("waits", ring.idle())
            one.send(b"turn %d" % turn)
            result, flags = ring.wait()
            note("recvmsg", (result, flags & (u.BUFFER | u.MORE)))
            data = buf.raw[256 * (flags >> 16):][:256]
            note("lengths", struct.unpack_from("=IIII", data))
            note("who", data[16:44] == name_of(one))
            note("hop limit", struct.unpack_from("=QIIi", data, 44)[1:])
            note("came", data[44 + 64:44 + 70])


@scenario
def connections_are_accepted(p, note):
    with Ring() as ring:
        listener = p.listener()
        name, size = u.memory(bytes(28)), u.memory(struct.pack("=I", 28))
        for when in ("before", "after"):
            if when == "before":
                ring.submit(u.OP_ACCEPT, listener.fileno(), name[1], offset=size[1])
                note("waits", ring.idle())
                client = p.client(listener)
                fd = ring.wait()[0]
            else:
                client = p.client(listener)
                fd = ring.one(u.OP_ACCEPT, listener.fileno(), name[1], offset=size[1],
                              op_flags=socket.SOCK_NONBLOCK)[0]
            note("who", name[0].raw == name_of(client))
            server = socket.socket(socket.AF_INET6, fileno=fd)
            note("blocking", os.get_blocking(fd))
            client.sendall(b"words")
            server.settimeout(PATIENCE)
            note("words", ktap.take(server, 5))
            server.close()
        listener.setblocking(False)
        ring.submit(u.OP_ACCEPT, listener.fileno())
        note("waits, does the listener block or not", ring.idle())
        p.client(listener)
        os.close(ring.wait()[0])
        ring.register_files(-1, -1, listener.fileno())
        ring.submit(u.OP_ACCEPT, listener.fileno(), file=2)
        client = p.client(listener)
        note("to a fixed place", ring.wait())
        client.sendall(b"words")
        buf, at = u.memory(bytes(5))
        note("which reads", ring.one(u.OP_RECV, 1, at, 5, flags=u.FIXED_FILE))
        note("the words", buf.raw)
        note("which is shut", ring.one(u.OP_SHUTDOWN, 1, 0, socket.SHUT_WR, flags=u.FIXED_FILE))
        note("the end", client.recv(9))
        note("and closed", ring.one(u.OP_CLOSE, 0, file=2))
        note("and is gone", ring.one(u.OP_RECV, 1, at, 5, flags=u.FIXED_FILE))


@scenario
def one_request_accepts_again_and_again(p, note):
    with Ring() as ring:
        listener = p.listener()
        ring.submit(u.OP_ACCEPT, listener.fileno(), ioprio=u.ACCEPT_MULTISHOT)
        note("waits", ring.idle())
        for _ in range(5):
            client = p.client(listener)
            fd, flags = ring.wait()
            note("flags", flags)
            server = socket.socket(socket.AF_INET6, fileno=fd)
            server.sendall(b"words")
            note("words", ktap.take(client, 5))
            server.close()
        nothing_left(ring, note)
        listener.shutdown(socket.SHUT_RD)
        note("no more", ring.wait())


@scenario
def connections_are_made(p, note):
    with Ring() as ring:
        listener = p.listener()
        name = ring.keep(name_of(listener))
        for flags, blocking in ((0, True), (0, False), (u.ASYNC, True)):
            client = p.socket()
            client.setblocking(blocking)
            note("connect", ring.one(u.OP_CONNECT, client.fileno(), name, offset=28, flags=flags))
            client.settimeout(PATIENCE)
            server = p.accept(listener)
            server.sendall(b"words")
            note("words", ktap.take(client, 5))
            note("again", ring.one(u.OP_CONNECT, client.fileno(), name, offset=28))
        client = p.socket()
        note("with a fixed file", ring.register_files(client.fileno()))
        note("connect", ring.one(u.OP_CONNECT, 0, name, offset=28, flags=u.FIXED_FILE))
        p.accept(listener)
        listener.close()
        for flags in (0, u.ASYNC):
            note("refused", ring.one(u.OP_CONNECT, p.socket().fileno(), name, offset=28,
                                     flags=flags))
        note("too short", ring.one(u.OP_CONNECT, p.socket().fileno(), name, offset=8))
        there = udp(p)
        note("datagrams", ring.one(u.OP_CONNECT, udp(p).fileno(), ring.keep(name_of(there)),
                                   offset=28))


@scenario
def what_waits_is_polled(p, note):
    wanted = select.POLLIN | select.POLLOUT | select.POLLRDHUP | select.POLLPRI
    with Ring() as ring:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            one, other = both(p, kind)
            note("at once", ring.one(u.OP_POLL_ADD, other.fileno(), op_flags=wanted))
            ring.submit(u.OP_POLL_ADD, other.fileno(), op_flags=select.POLLIN)
            note("waits", ring.idle())
            one.send(b"words")
            note("there", ring.wait())
            other.recv(9)
        one, other = both(p, socket.SOCK_STREAM)
        ring.submit(u.OP_POLL_ADD, other.fileno(), op_flags=select.POLLRDHUP)
        note("waits", ring.idle())
        one.shutdown(socket.SHUT_WR)
        note("half", ring.wait())
        reset(one)
        events(other, select.POLLERR)
        note("reset", ring.one(u.OP_POLL_ADD, other.fileno(), op_flags=wanted))
        listener = p.listener()
        ring.submit(u.OP_POLL_ADD, listener.fileno(), op_flags=select.POLLIN)
        note("waits", ring.idle())
        p.client(listener)
        note("a connection", ring.wait())


@scenario
def one_request_polls_again_and_again(p, note):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with Ring() as ring:
            one, other = both(p, kind)
            ring.submit(u.OP_POLL_ADD, other.fileno(), 0, POLL_MULTI, op_flags=select.POLLIN,
                        data=5)
            for _ in range(5):
                note("waits", ring.idle())
                one.send(b"words")
                note("there", ring.wait())
                note("words", other.recv(9))
            note("removed", ring.one(u.OP_POLL_REMOVE, -1, 5, data=6)[0])
            note("the end", ring.wait())


@scenario
def pages_are_spliced(p, note):
    with Ring() as ring:
        one, other = both(p, socket.SOCK_STREAM)
        out, into = os.pipe()
        ring.register_files(one.fileno(), other.fileno(), out, into)
        for fixed in (0, 1):
            os.write(into, CONTENT[:3000])
            here, there = (2, 0) if fixed else (out, one.fileno())
            flags = {"flags": u.FIXED_FILE, "op_flags": u.SPLICE_FD_IN_FIXED} if fixed else {}
            # Of both files there is no position.
            note("out", ring.one(u.OP_SPLICE, there, (1 << 64) - 1, 3000, offset=(1 << 64) - 1,
                                 file=here, **flags))
            here, there = (1, 3) if fixed else (other.fileno(), into)
            select.select([other], [], [], PATIENCE)
            note("in", ring.one(u.OP_SPLICE, there, (1 << 64) - 1, 3000, offset=(1 << 64) - 1,
                                file=here, **flags))
            note("came", os.read(out, 5000) == CONTENT[:3000])
        one.close()
        note("at the end", ring.one(u.OP_SPLICE, into, (1 << 64) - 1, 3000,
                                    offset=(1 << 64) - 1, file=other.fileno()))
        os.close(out)
        os.close(into)
        ring.register(3, None, 0)		# the files are given back


@scenario
def sockets_are_made_shut_and_closed(p, note):
    with Ring() as ring:
        listener = p.listener()
        fd = ring.one(u.OP_SOCKET, family(p), 0, 0, offset=socket.SOCK_STREAM)[0]
        client = socket.socket(socket.AF_INET6, fileno=fd)
        client.settimeout(PATIENCE)
        client.connect(listener.getsockname())
        server = p.accept(listener)
        note("shut", ring.one(u.OP_SHUTDOWN, fd, 0, socket.SHUT_WR))
        note("the end", server.recv(9))
        note("shut again", ring.one(u.OP_SHUTDOWN, fd, 0, socket.SHUT_WR))
        note("how", ring.one(u.OP_SHUTDOWN, fd, 0, 9))
        note("closed", ring.one(u.OP_CLOSE, client.detach()))
        server.sendall(b"x")
        ktap.wait_for(10, "it is reset", lambda: "POLLERR" in events(server))
        note("not connected", ring.one(u.OP_SHUTDOWN, p.socket().fileno(), 0, socket.SHUT_WR))
        note("unknown kind", ring.one(u.OP_SOCKET, family(p), 0, 0, offset=77))
        note("unknown protocol", ring.one(u.OP_SOCKET, family(p), 0, 200,
                                          offset=socket.SOCK_STREAM))
        ring.register_files(-1, -1)
        note("to a fixed place", ring.one(u.OP_SOCKET, family(p), 0, 0,
                                          offset=socket.SOCK_STREAM, file=1))
        note("connect", ring.one(u.OP_CONNECT, 0, ring.keep(name_of(listener)), offset=28,
                                 flags=u.FIXED_FILE))
        server = p.accept(listener)
        note("send", ring.one(u.OP_SEND, 0, ring.keep(b"words"), 5, flags=u.FIXED_FILE))
        note("words", ktap.take(server, 5))
        note("closed", ring.one(u.OP_CLOSE, 0, file=1))
        note("the end", server.recv(9))


def waiting(p, ring, what):
    """A request that waits, and the socket that it waits for."""
    buf = ring.keep(bytes(100))
    if what == "accept":
        sock = p.listener()
        ring.submit(u.OP_ACCEPT, sock.fileno(), data=9)
        return sock, None
    kind = socket.SOCK_DGRAM if "datagram" in what else socket.SOCK_STREAM
    one, other = both(p, kind)
    if what == "send":
        fill(one, CONTENT)
        ring.submit(u.OP_SEND, one.fileno(), ring.keep(CONTENT), SIZE, data=9)
        return one, other
    if what == "poll":
        ring.submit(u.OP_POLL_ADD, other.fileno(), op_flags=select.POLLPRI, data=9)
    else:
        ring.submit(u.OP_RECV, other.fileno(), buf, 100, data=9)
    return other, one


WAITING = ("recv", "datagram", "accept", "send", "poll")


@scenario
def what_waits_is_cancelled(p, note):
    for what in WAITING:
        for how in ("request", "descriptor", "link"):
            with Ring() as ring:
                if how == "link":
                    sock, _ = both(p, socket.SOCK_STREAM)
                    buf = ring.keep(bytes(9))
                    ring.queue(u.OP_RECV, sock.fileno(), buf, 9, data=9, flags=u.LINK)
                    ring.queue(u.OP_LINK_TIMEOUT, -1, ring.keep(struct.pack("=qq", 0, 10000000)),
                               1, data=8)
                    ring.enter(2)
                else:
                    sock, _ = waiting(p, ring, what)
                    note("waits", ring.idle())
                    if how == "request":
                        ring.submit(u.OP_CANCEL, -1, 9, data=8)
                    else:
                        ring.submit(u.OP_CANCEL, sock.fileno(), op_flags=CANCEL_FD, data=8)
                note(f"{what} by {how}", sorted(ring.completion(PATIENCE) for _ in range(2)))
                p.close()


@scenario
def what_waits_is_told_of_the_end(p, note):
    for what in WAITING:
        if what != "poll":
            with Ring() as ring:
                sock, peer = waiting(p, ring, what)
                sock.shutdown(socket.SHUT_RDWR)
                note(f"{what}, shut", ring.wait())
                p.close()
        if peer and what not in ("datagram", "poll"):
            with Ring() as ring:
                sock, peer = waiting(p, ring, what)
                reset(peer)
                note(f"{what}, reset", ring.wait())
                p.close()
        # The ring goes with the program: what waits has the file.
        ring = Ring()
        sock, peer = waiting(p, ring, what)
        p.close()
        note(f"{what}, closed", ring.idle())
        ring.close()


@scenario
def what_newer_kernels_have(p, note):
    """Options and queues by a command (6.7), reading again and again, bind and listen."""
    note("kernel", ktap.KERNEL)
    if ktap.KERNEL < (6, 7):
        return
    with Ring() as ring:
        one, other = both(p, socket.SOCK_STREAM)
        one.sendall(b"words")
        select.select([other], [], [], PATIENCE)
        note("SIOCINQ", ring.one(u.OP_URING_CMD, other.fileno(), offset=0))
        note("SIOCOUTQ", ring.one(u.OP_URING_CMD, other.fileno(), offset=1))
        value, at = u.memory(struct.pack("=i", 1))
        for level, name in ((socket.SOL_SOCKET, socket.SO_KEEPALIVE),
                            (socket.IPPROTO_TCP, socket.TCP_NODELAY),
                            (socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT)):
            option = level | name << 32
            note("set", ring.one(u.OP_URING_CMD, other.fileno(), option, offset=3, file=4,
                                 third=at))
            note("is set", other.getsockopt(level, name))
            note("got", ring.one(u.OP_URING_CMD, other.fileno(), option, offset=2, file=4,
                                 third=at))
            note("value", value.raw)
        provide_ring(ring, 1, 8, 64)
        ring.submit(u.OP_READ_MULTISHOT, one.fileno(), flags=u.BUFFER_SELECT, index=1)
        for _ in range(3):
            note("waits", ring.idle())
            other.sendall(b"words")
            result, flags = ring.wait()
            note("read", (result, flags & (u.BUFFER | u.MORE)))
        if ktap.KERNEL < (6, 11):
            return
        sock, other = p.socket(), udp(p, False)
        name = name_of(one)[:2] + bytes(2) + name_of(one)[4:]
        for each in (sock, other):
            note("bind", ring.one(u.OP_BIND, each.fileno(), ring.keep(name), offset=28))
        note("listen", ring.one(u.OP_LISTEN, sock.fileno(), 0, 5))
        note("not of datagrams", ring.one(u.OP_LISTEN, other.fileno(), 0, 5))
        note("bound", sock.getsockname()[0])
        p.client(sock)
        note("taken", p.accept(sock) is not None)


def by_getfd(sock):
    """From a process that has it, and ends."""
    here, there = socket.socketpair()
    pid = os.fork()
    if not pid:
        here.close()
        there.recv(1)
        os._exit(0)
    there.close()
    fd = sock.detach()
    libc = ktap._libc
    pidfd = libc.syscall(PIDFD_OPEN, pid, 0)
    os.close(fd)
    got = libc.syscall(PIDFD_GETFD, pidfd, fd, 0)
    if got < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    here.close()
    os.waitpid(pid, 0)
    os.close(pidfd)
    return got


def by_message(sock):
    """Sent when nobody else has it any more."""
    here, there = socket.socketpair()
    here.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i",
                                                                             [sock.fileno()]))])
    sock.close()
    here.close()
    _, ancillary, _, _ = there.recvmsg(1, socket.CMSG_SPACE(4))
    there.close()
    return array.array("i", ancillary[0][2])[0]


@scenario
def a_socket_comes_from_another_process(p, note):
    for how in (by_getfd, by_message):
        for what in ("connection", "listener", "datagrams"):
            other = None
            if what == "listener":
                sock = p.listener()
            else:
                sock, other = both(p, socket.SOCK_STREAM if what == "connection"
                                   else socket.SOCK_DGRAM)
            name = sock.getsockname()
            got = socket.socket(socket.AF_INET6, sock.type, fileno=how(sock))
            got.settimeout(PATIENCE)
            p.open.append(got)
            note("name", got.getsockname() == name)
            if other is None:
                other = p.client(got)
                got = p.accept(got)
            got.send(b"words")
            note("out", other.recv(9))
            other.send(b"answer")
            note("in", got.recv(9))
            got.close()
            if what == "connection":
                note("the end", other.recv(9))


@scenario
def a_socket_that_nobody_takes_is_closed(p, note):
    """It is on its way to a process that ends."""
    here, there = socket.socketpair()
    one, other = both(p, socket.SOCK_STREAM)
    here.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i",
                                                                             [one.fileno()]))])
    one.close()
    here.close()
    note("open", outcome(other.send, b"x"))
    there.close()
    note("events", ktap.wait_for(10, "the end", lambda: "POLLERR" in events(other)))


ktap.main(setup)
