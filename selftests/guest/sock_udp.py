#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# UDP sockets of net6 behave as native ones: sizes and fragments, names and addresses, flags of
# send and receive, segmentation, corking, limits. Which socket has a datagram: sock_udp_ports.py;
# errors and ancillary data: sock_udp_told.py.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: both
# timeout: 120
import errno
import json
import os
import select
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p
from ktap import failing
from netpair import both, udp_pair
import uring

SOL_UDP, UDP_CORK, UDP_SEGMENT, UDP_GRO = 17, 1, 103, 104
V6 = socket.IPPROTO_IPV6
MAX = 65527		# payload of the largest datagram


@ktap.test
def datagrams_of_all_sizes_arrive_whole_in_both_directions():
    a, b = udp_pair()
    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    for size in (0, 1, 2, 7, 100, 1231, 1451, 1452, 1453, 1460, 2900, 2901, 5000, 9000,
                 20000, 40000, 65507, MAX - 1, MAX):
        data = os.urandom(size)
        for src, dst in ((a, b), (b, a)):
            src.send(data)
            ktap.true(dst.recv(70000) == data, f"{size} bytes arrive")


@ktap.test
def the_largest_datagram_plus_one_is_refused():
    a, _ = udp_pair()
    ktap.raises(errno.EMSGSIZE, a.send, b"x" * (MAX + 1))
    ktap.raises(errno.EMSGSIZE, a.send, b"x" * 1000000)


@ktap.test
def unconnected_sockets_tell_who_sent():
    a, b = udp_pair(connected=False)
    a.sendto(b"one", b.getsockname())
    data, who = b.recvfrom(10)
    ktap.equal((data, who[:2]), (b"one", a.getsockname()[:2]), "B sees A")
    b.sendto(b"two", who)
    data, who = a.recvfrom(10)
    ktap.equal((data, who[:2]), (b"two", b.getsockname()[:2]), "A sees B")


@ktap.test
def link_local_peers_need_a_zone():
    a, b = p.net6(), p.native(ns=p.B)
    b.bind(("::", 0))
    with p.B:
        ll = ktap.run("ip", "-6", "-o", "addr", "show", "dev", "b0", "scope", "link")
    ll = ll.split("inet6 ")[1].split("/")[0]
    port, zone = b.getsockname()[1], p.index(p.A, "a0")
    ktap.raises(errno.EINVAL, a.sendto, b"x", (ll, port))
    ktap.raises(errno.EINVAL, a.connect, (ll, port))
    a.connect((ll, port, 0, zone))
    ktap.equal(a.getpeername(), (ll, port, 0, zone), "peer with zone")
    a.send(b"x")
    data, who = b.recvfrom(10)
    b.sendto(b"y", who)
    data, who = a.recvfrom(10)
    ktap.equal((data, who), (b"y", (ll, port, 0, zone)), "answer with zone")


@ktap.test
def of_flow_information_only_the_label_is_sent():
    def classes(make):
        with p.native(ns=p.B) as b, make() as a:
            b.bind((p.NATIVE_B, 0))
            b.setsockopt(V6, socket.IPV6_RECVTCLASS, 1)
            a.setsockopt(V6, socket.IPV6_TCLASS, 0x20)
            a.sendmsg([b"x"], [(V6, 11, struct.pack("!I", 0x0ff12345))], 0, b.getsockname())
            return [control[2] for control in b.recvmsg(10, 100)[1]]
    both(classes)


@ktap.test
def own_addresses_and_loopback_work():
    for address in ("::1", p.NET6_A):
        b = p.net6()
        b.bind((address, 0))
        b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        a = p.net6()
        for size in (0, 1, 5000, MAX):
            data = os.urandom(size)
            a.sendto(data, b.getsockname())
            got, who = b.recvfrom(70000)
            ktap.true(got == data, f"{size} bytes over {address}")
            ktap.equal(who[0], address, "source")
    a, b = p.net6(), p.net6()
    b.bind(("::", 0))
    a.sendto(b"any", ("::", b.getsockname()[1]))
    ktap.equal(b.recvfrom(10)[1][0], "::1", ":: means the loopback")


@ktap.test
def names_before_and_after_bind_and_connect():
    def names(make):
        s = make()
        out = [s.getsockname()[0], failing(s.getpeername)]
        s.bind(("::", 0))
        out += [s.getsockname()[0], s.getsockname()[1] > 0]
        s.connect(("::1", 9))
        out += [s.getsockname()[0], s.getpeername()]
        s.connect(("::1", 10))
        out += [s.getpeername()]
        return out
    both(names)


@ktap.test
def connect_to_nothing_undoes_connect():
    def disconnect(make):
        s = make()
        s.connect(("::1", 9))
        port = s.getsockname()[1]
        libc = ktap._libc
        rc = libc.connect(s.fileno(), struct.pack("=H26x", 0), 28)
        out = [rc, failing(s.getpeername), failing(s.send, b"x"), port != 0]
        out += [s.getsockname()[0], s.getsockname()[1] != 0]	# send() has bound it again
        return out
    both(disconnect)


@ktap.test
def errors_of_addresses_are_the_native_ones():
    def errors(make):
        s = make()
        out = [failing(s.send, b"x"), failing(s.sendto, b"x", ("::1", 0)),
               failing(s.bind, ("fd09::1", 0)), failing(s.bind, ("fe80::1", 0)),
               failing(s.connect, ("ff02::1", 9)), failing(s.connect, ("fe80::1", 9)),
               failing(s.listen, 1)]
        s.settimeout(None)
        out.append(failing(s.accept))
        libc = ktap._libc
        short = struct.pack("=HH20x", socket.AF_INET6, 0)[:23]
        for call in (libc.bind, libc.connect):
            out.append((call(s.fileno(), short, 23), ktap.ctypes.get_errno()))
            wrong = struct.pack("=H26x", 99)
            out.append((call(s.fileno(), wrong, 28), ktap.ctypes.get_errno()))
        s = make()
        s.bind(("::1", 0))
        out.append(failing(s.bind, ("::1", 0)))
        return out
    both(errors)
    s = p.net6()
    s.setsockopt(V6, socket.IPV6_V6ONLY, 1)
    ktap.raises(errno.EINVAL, s.bind, ("::ffff:127.0.0.1", 9))
    ktap.raises(errno.ENETUNREACH, s.sendto, b"x", ("::ffff:127.0.0.1", 9))
    ktap.raises(errno.ENETUNREACH, s.connect, ("::ffff:127.0.0.1", 9))
    ktap.raises(errno.ENETUNREACH, s.sendto, b"x", ("2001:db8::1", 9))


@ktap.test
def the_zone_of_a_destination_goes_before_the_device():
    """Of sendto(); connect() refuses it."""
    with p.native(ns=p.B) as b:
        b.bind(("::", 0))
        with p.B:
            ll = ktap.run("ip", "-6", "-o", "addr", "show", "dev", "b1", "scope", "link")
        to = (ll.split("inet6 ")[1].split("/")[0], b.getsockname()[1], 0, p.index(p.A, "a1"))

        def elsewhere(make):
            with make() as s, make(socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6) \
                    if make is p.net6 else make() as echo:
                for sock in (s, echo):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"a0")
                out = [failing(s.connect, to), failing(s.sendto, b"there", to), b.recv(10)]
                if make is p.net6:
                    ktap.equal(failing(echo.sendto, struct.pack("!BBHI", 128, 0, 0, 1), to),
                               "EINVAL", "of an echo socket")
                return out
        ktap.equal(elsewhere(p.net6), elsewhere(p.native), "net6 and native")


@ktap.test
def io_uring_sends_without_asking_for_a_copy():
    """IORING_OP_SEND_ZC is for sockets that have SOCK_SUPPORT_ZC."""
    try:
        ring = uring.Uring()
    except OSError as error:
        raise ktap.Skip("no io_uring") from error
    try:
        for make in (p.native, p.net6):
            for zerocopy in (0, 1):
                with make() as r, make() as s:
                    r.bind(("::1", 0))
                    s.setsockopt(socket.SOL_SOCKET, 60, zerocopy)	# SO_ZEROCOPY
                    s.connect(r.getsockname())
                    ktap.equal(ring.send_zc(s.fileno(), b"payload"), [7, 0],
                               f"{make.__name__}: sent, and the notification")
                    ktap.equal(r.recv(10), b"payload", "what arrives")
                    s.settimeout(0)
                    ktap.equal(failing(s.recvmsg, 10, 100, socket.MSG_ERRQUEUE), "EAGAIN",
                               "no notification of another kind")
    finally:
        ring.close()


@ktap.test
def receive_flags_work_as_on_the_native_stack():
    def flags(make):
        r, s = make(), make()
        r.bind(("::1", 0))
        s.connect(r.getsockname())
        r.settimeout(None)
        out = [failing(r.recv, 10, socket.MSG_DONTWAIT)]
        s.send(b"0123456789")
        s.send(b"second")
        out += [r.recv(4, socket.MSG_PEEK), r.recv(20, socket.MSG_PEEK)]
        data, _, fl, _ = r.recvmsg(4)
        out += [data, fl & socket.MSG_TRUNC]
        buf = bytearray(3)
        out += [r.recv_into(buf, 0, socket.MSG_TRUNC), bytes(buf)]
        s.send(b"")
        out += [r.recv(10)]
        bufs = [bytearray(2), bytearray(3), bytearray(9)]
        s.sendmsg([b"ab", b"", b"cdef", b"gh"])
        out += [r.recvmsg_into(bufs)[0], [bytes(b) for b in bufs]]
        return out
    both(flags)


@ktap.test
def peek_offset_walks_over_datagrams():
    def peek(make):
        r, s = make(), make()
        r.bind(("::1", 0))
        s.connect(r.getsockname())
        r.setsockopt(socket.SOL_SOCKET, 42, 2)		# SO_PEEK_OFF
        s.send(b"abcdef")
        s.send(b"xyz")
        out = [r.recv(2, socket.MSG_PEEK), r.recv(2, socket.MSG_PEEK),
               r.recv(9, socket.MSG_PEEK), r.getsockopt(socket.SOL_SOCKET, 42)]
        out += [r.recv(9), r.getsockopt(socket.SOL_SOCKET, 42), r.recv(9)]
        return out
    both(peek)


@ktap.test
def shutdown_ends_reading():
    def down(make):
        s = make()
        s.settimeout(None)
        out = [failing(s.shutdown, socket.SHUT_RD)]
        s.connect(("::1", 9))
        s.shutdown(socket.SHUT_RD)
        out.append(s.recv(10))
        poll = select.poll()
        poll.register(s, select.POLLIN | select.POLLOUT | select.POLLRDHUP)
        out.append(poll.poll(0)[0][1])
        return out
    both(down)


@ktap.test
def poll_and_epoll_tell_when_to_read_and_write():
    a, b = udp_pair()
    ep = select.epoll()
    ep.register(a, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
    ktap.equal(ep.poll(5), [(a.fileno(), select.EPOLLOUT)], "writable at once")
    ktap.equal(ep.poll(0), [], "edge: told once")
    b.send(b"1")
    ktap.true(ep.poll(10 * ktap.SCALE)[0][1] & select.EPOLLIN, "readable")
    ktap.equal(ep.poll(0), [], "edge: not again")
    b.send(b"2")
    ktap.true(ep.poll(10 * ktap.SCALE)[0][1] & select.EPOLLIN, "readable again")
    ktap.equal((a.recv(5), a.recv(5)), (b"1", b"2"), "both there")
    a.setblocking(False)
    ktap.raises(errno.EAGAIN, a.recv, 1)


@ktap.test
def IPV6_MTU_lowers_the_size_of_fragments():
    def counter(name):
        entries = json.loads(p.ctl(p.A, "-j", "show", "counters", "all"))
        return [e["value"] for e in entries if e["name"] == name][0]
    a, b = udp_pair()
    for mtu, fragments in ((0, 3), (1280, 4), (1400, 3)):
        a.setsockopt(V6, 24, mtu)
        before = counter("Ip6OutFragCreates")
        a.send(b"x" * 4000)
        ktap.equal(len(b.recv(5000)), 4000, "bytes")
        ktap.equal(counter("Ip6OutFragCreates") - before, fragments, f"fragments at {mtu}")
    a.setsockopt(V6, 24, 1280)
    a.send(b"x" * 1400)
    ktap.equal(len(b.recv(5000)), 1400, "bytes")
    a.setsockopt(V6, 62, 1)				# IPV6_DONTFRAG
    ktap.raises(errno.EMSGSIZE, a.send, b"x" * 1400)


@ktap.test
def segmentation_cuts_one_send_into_many():
    a, b = udp_pair()
    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    data = os.urandom(10000)
    a.setsockopt(SOL_UDP, UDP_SEGMENT, 1200)
    a.send(data)
    got = [b.recv(70000) for _ in range(9)]
    ktap.true(b"".join(got) == data, "data")
    ktap.equal([len(g) for g in got], [1200] * 8 + [400], "sizes")
    ktap.raises(errno.EMSGSIZE, a.sendmsg, [data],
                [(SOL_UDP, UDP_SEGMENT, struct.pack("=H", 1453))])
    ktap.raises(errno.EINVAL, a.sendmsg, [data],
                [(SOL_UDP, UDP_SEGMENT, struct.pack("=H", 70))])


@ktap.test
def joined_datagrams_are_cut_again_unless_asked_for():
    for gro in (0, 1):
        a, b = p.net6(), p.net6()
        b.bind(("::1", 0))
        b.setsockopt(SOL_UDP, UDP_GRO, gro)
        a.connect(b.getsockname())
        data = os.urandom(3000)
        a.sendmsg([data], [(SOL_UDP, UDP_SEGMENT, struct.pack("=H", 1000))])
        if gro:
            got, cmsgs, _, _ = b.recvmsg(70000, 100)
            ktap.true(got == data, "joined data")
            ktap.equal(cmsgs, [(SOL_UDP, UDP_GRO, struct.pack("=i", 1000))], "its size")
        else:
            ktap.true(b"".join(b.recv(70000) for _ in range(3)) == data, "three datagrams")


@ktap.test
def corked_pieces_become_one_datagram():
    a, b = udp_pair()
    for piece in (b"one ", b"", b"two " * 1000):
        a.send(piece, socket.MSG_MORE)
    a.send(b"end")
    ktap.true(b.recv(70000) == b"one " + b"two " * 1000 + b"end", "MSG_MORE")
    a.setsockopt(SOL_UDP, UDP_CORK, 1)
    a.send(b"x" * 30000)
    a.send(b"y" * 30000)
    a.setsockopt(SOL_UDP, UDP_CORK, 0)
    ktap.true(b.recv(70000) == b"x" * 30000 + b"y" * 30000, "UDP_CORK")
    a.setsockopt(SOL_UDP, UDP_CORK, 1)
    a.send(b"x" * 60000)
    ktap.raises(errno.EMSGSIZE, a.send, b"x" * 6000)
    a.setsockopt(SOL_UDP, UDP_CORK, 0)
    a.send(b"fresh")
    ktap.equal(b.recv(70000), b"fresh", "what was too long is gone")
    a.send(b"never sent", socket.MSG_MORE)
    a.close()


@ktap.test
def zero_copy_sends_are_notified_as_copied():
    r, s = p.net6(), p.net6()
    r.bind(("::1", 0))
    s.setsockopt(socket.SOL_SOCKET, 60, 1)		# SO_ZEROCOPY
    s.connect(r.getsockname())
    for n in range(2):
        s.send(b"x" * 9000, 0x4000000)			# MSG_ZEROCOPY
        ktap.equal(len(r.recv(10000)), 9000, "arrives")
        cmsgs = s.recvmsg(10, 1000, socket.MSG_ERRQUEUE)[1]
        ee = struct.unpack("=IBBBBII", cmsgs[0][2][:16])
        ktap.equal(ee, (0, 5, 0, 1, 0, n, n), "notification")


@ktap.test
def a_full_receive_buffer_drops_and_counts():
    r, s = p.net6(), p.net6()
    r.bind(("::1", 0))
    r.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    r.setsockopt(socket.SOL_SOCKET, 40, 1)		# SO_RXQ_OVFL
    s.connect(r.getsockname())
    for _ in range(200):
        s.send(b"x" * 1000)
    count = 0
    r.setblocking(False)
    while True:
        try:
            r.recv(2000)
            count += 1
        except BlockingIOError:
            break
    ktap.true(0 < count < 50, f"{count} of 200 kept")
    s.send(b"y")
    cmsgs = r.recvmsg(10, 100)[1]
    ktap.equal(struct.unpack("=I", cmsgs[0][2])[0], 200 - count, "SO_RXQ_OVFL")


@ktap.test
def ioctls_tell_queue_lengths():
    import array
    import fcntl
    r, s = p.net6(), p.net6()
    r.bind(("::1", 0))
    s.connect(r.getsockname())
    value = array.array("i", [7])
    fcntl.ioctl(r, 0x541b, value)			# SIOCINQ
    ktap.equal(value[0], 0, "empty")
    s.send(b"x" * 123)
    s.send(b"x" * 5)
    fcntl.ioctl(r, 0x541b, value)
    ktap.equal(value[0], 123, "first datagram")
    fcntl.ioctl(s, 0x5411, value)			# SIOCOUTQ
    ktap.equal(value[0], 0, "nothing on its way")


@ktap.test
def timestamps_and_filters_of_the_socket_layer_work():
    r, s = p.net6(), p.net6()
    r.bind(("::1", 0))
    s.connect(r.getsockname())
    r.setsockopt(socket.SOL_SOCKET, 29, 1)		# SO_TIMESTAMP
    s.send(b"x")
    ktap.equal(r.recvmsg(10, 100)[1][0][1], 29, "time stamp")
    # A filter that returns 8 + 3: header and three bytes are kept.
    code = struct.pack("=HBBI", 6, 0, 0, 11)
    buf = ktap.ctypes.create_string_buffer(code)
    prog = struct.pack("=H6xQ", 1, ktap.ctypes.addressof(buf))
    r.setsockopt(socket.SOL_SOCKET, 26, prog)
    s.send(b"abcdef")
    ktap.equal(r.recv(10), b"abc", "filtered")


@ktap.test
def memory_is_given_back():
    def protocols():
        with p.A:
            for line in ktap.run("cat", "/proc/net/protocols").splitlines():
                words = line.split()
                if words[0] == "NET6-UDP":
                    return int(words[2]), int(words[3])
        raise ktap.Fail("NET6-UDP is not in /proc/net/protocols")
    import gc
    gc.collect()
    before = protocols()[0]
    socks = [p.net6() for _ in range(100)]
    for s in socks:
        s.bind(("::1", 0))
    for s in socks:
        for t in socks[:20]:
            s.sendto(b"z" * 1500, t.getsockname())
    ktap.equal(protocols()[0], before + 100, "sockets in use")
    for s in socks:
        s.close()
    ktap.wait_for(10, "the sockets are gone", lambda: protocols()[0] == before)
    # The rest is what each CPU keeps aside: at most a megabyte.
    ktap.wait_for(10, "memory is back", lambda: abs(protocols()[1]) <= 256 * os.cpu_count())


ktap.main(setup=p.setup)
