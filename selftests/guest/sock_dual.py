#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# IPv4 through sockets of net6: each case is played on the native stack and on net6, and the
# results must be the same. Names, options, errors, poll, bind conflicts, threads; then what
# only net6 has to prove: module and namespace are held, and nothing is left.
#
#	A [a0] ------ [b0] B	(lib/netpair.py; here 192.0.2.1 and 192.0.2.2 as well)
#
# guest: stock+
# timeout: 240
import errno
import os
import select
import socket
import struct
import subprocess
import sys
import threading
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p

TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
V6, V6ONLY = socket.IPPROTO_IPV6, socket.IPV6_V6ONLY
SOL, REUSE = socket.SOL_SOCKET, socket.SO_REUSEADDR
HERE, THERE, HERE1 = "192.0.2.1", "192.0.2.2", "198.51.100.1"
LOCAL, PEER, NOBODY = "::ffff:127.0.0.1", "::ffff:" + THERE, "::ffff:203.0.113.1"
PORT = 7500


def setup():
    p.setup()
    for ns, dev, address in ((p.A, "a0", HERE), (p.B, "b0", THERE), (p.A, "a1", HERE1),
                             (p.B, "b1", "198.51.100.2")):
        ns.ip("addr", "add", address + "/24", "dev", dev)


def four(kind=TCP, ns=None, port=0, listen=False, address="0.0.0.0"):
    with ns or p.A:
        sock = socket.socket(socket.AF_INET, kind)
    sock.settimeout(10 * ktap.SCALE)
    sock.setsockopt(SOL, REUSE, 1)
    if port or listen:
        sock.bind((address, port))
    if listen:
        sock.listen(8)
    return sock


def failing(function, *args):
    """What the call returns, or the name of its error."""
    try:
        result = function(*args)
    except OSError as error:
        return errno.errorcode[error.errno] if error.errno else type(error).__name__
    return result if isinstance(result, (int, str, bytes, tuple, type(None))) else "ok"


def both(function):
    """Registers a test: function(maker) gives the same on both stacks."""
    def compare():
        native = function(p.native)
        ours = function(p.net6)
        for index, pair in enumerate(zip(ours, native)):
            ktap.equal(pair[0], pair[1], f"{function.__name__}, result {index}")
        ktap.equal(len(ours), len(native), "number of results")
    ktap.test(function.__name__.replace("_", " "))(compare)
    return function


def name(sock, peer=False):
    """Names with a port that was chosen by chance say so."""
    found = failing(sock.getpeername if peer else sock.getsockname)
    return found if isinstance(found, str) else (found[0], min(found[1], 9999)) + found[2:]


def names(sock):
    return name(sock), name(sock, True)


def server(make, port=PORT, address="::", v6only=None, kind=TCP):
    sock = make(kind)
    sock.setsockopt(SOL, REUSE, 1)
    if v6only is not None:
        sock.setsockopt(V6, V6ONLY, v6only)
    sock.bind((address, port))
    if kind == TCP:
        sock.listen(8)
    return sock


def reset(*socks):
    """Closes without TIME-WAIT, which would hold the ports of the next case."""
    for sock in socks:
        if sock.type == TCP:
            failing(sock.setsockopt, SOL, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()


def ready(sock, events=select.POLLIN | select.POLLOUT):
    poll = select.poll()
    poll.register(sock, events)
    return [what for _, what in poll.poll(0)]


def wait_ready(sock, events):
    poll = select.poll()
    poll.register(sock, events)
    found = poll.poll(10000 * ktap.SCALE)
    return found[0][1] if found else "nothing"


@both
def v6only_is_kept_and_fixed_by_bind(make):
    out = []
    for kind in (TCP, UDP):
        s = make(kind)
        out.append(s.getsockopt(V6, V6ONLY))
        for value in (1, 0, 2):
            out.append(failing(s.setsockopt, V6, V6ONLY, value))
            out.append(s.getsockopt(V6, V6ONLY))
        s.bind(("::", 0))
        for value in (0, 1):
            out.append(failing(s.setsockopt, V6, V6ONLY, value))
        out.append(s.getsockopt(V6, V6ONLY))
        s.close()
    return out


@both
def the_default_is_an_administrators(make):
    which = "ipv6" if make is p.native else "net6"
    p.A.run("sysctl", "-w", f"net.{which}.bindv6only=1")
    try:
        out = [failing(p.A.run, "sysctl", "-n", f"net.{which}.bindv6only")]
        for kind in (TCP, UDP):
            with make(kind) as s:
                out.append(s.getsockopt(V6, V6ONLY))
                out.append(failing(s.connect, (LOCAL, PORT)))
    finally:
        p.A.run("sysctl", "-w", f"net.{which}.bindv6only=0")
    return out


@both
def a_stream_connects_to_ipv4(make):
    out = []
    with four(ns=p.B, port=PORT, listen=True) as listener:
        s = make(TCP)
        out.append(names(s))
        s.connect((PEER, PORT))
        t, who = listener.accept()
        out += [names(s), who[0], who[1] == s.getsockname()[1], ready(s)]
        t.sendall(b"x" * 100000)
        got = b""
        while len(got) < 100000:
            got += s.recv(65536)
        out += [got == b"x" * 100000, s.send(b"hello"), t.recv(100)]
        out += [failing(s.connect, (PEER, PORT)), failing(s.connect, ("fd00::b", PORT)),
                failing(s.bind, ("::", 0)), failing(s.listen, 1)]
        out += [s.getsockopt(SOL, socket.SO_ERROR), s.getsockopt(SOL, socket.SO_TYPE),
                s.getsockopt(V6, V6ONLY), failing(s.setsockopt, V6, V6ONLY, 1),
                failing(s.setsockopt, V6, V6ONLY, 0)]
        s.shutdown(socket.SHUT_WR)
        out += [t.recv(10), failing(s.send, b"x"), ready(s)]
        t.send(b"last")
        out += [s.recv(100)]
        t.close()
        out += [s.recv(100), wait_ready(s, select.POLLIN), failing(s.shutdown, socket.SHUT_RDWR)]
        reset(s)
    return out


OPTIONS = ((SOL, socket.SO_SNDBUF, 30000), (SOL, socket.SO_RCVBUF, 40000),
           (SOL, socket.SO_KEEPALIVE, 1), (SOL, socket.SO_OOBINLINE, 1),
           (SOL, socket.SO_PRIORITY, 3), (SOL, socket.SO_MARK, 7), (SOL, REUSE, 1),
           (SOL, socket.SO_REUSEPORT, 1), (SOL, socket.SO_RCVLOWAT, 5),
           (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
           (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 77),
           (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 11),
           (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 4),
           (socket.IPPROTO_TCP, socket.TCP_SYNCNT, 3),
           (socket.IPPROTO_TCP, socket.TCP_LINGER2, 9),
           (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 12345),
           (socket.IPPROTO_TCP, 25, 4096),	# TCP_NOTSENT_LOWAT
           (V6, socket.IPV6_UNICAST_HOPS, 9), (V6, socket.IPV6_TCLASS, 32),
           (V6, socket.IPV6_RECVPKTINFO, 1), (V6, 23, 2))	# IPV6_MTU_DISCOVER


def option_values(s):
    return [failing(s.getsockopt, level, option) for level, option, _ in OPTIONS] + [
        s.getsockopt(SOL, socket.SO_LINGER, 8), s.getsockopt(SOL, socket.SO_RCVTIMEO, 16),
        s.getsockopt(SOL, socket.SO_SNDTIMEO, 16), s.getsockopt(SOL, socket.SO_BINDTODEVICE, 16),
        s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)]


def set_options(s):
    for level, option, value in OPTIONS:
        s.setsockopt(level, option, value)
    s.setsockopt(SOL, socket.SO_LINGER, struct.pack("ii", 1, 5))
    s.setsockopt(SOL, socket.SO_RCVTIMEO, struct.pack("ll", 60, 0))
    s.setsockopt(SOL, socket.SO_SNDTIMEO, struct.pack("ll", 61, 0))
    s.setsockopt(SOL, socket.SO_BINDTODEVICE, b"a0\0")
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")


@both
def options_set_before_hold_after(make):
    out = []
    with four(ns=p.B, port=PORT, listen=True):
        for when in ("before", "after"):
            s = make(TCP)
            s.settimeout(None)
            if when == "before":
                set_options(s)
            s.connect((PEER, PORT))
            if when == "after":
                set_options(s)
            out += option_values(s)
            reset(s)
    return out


@both
def listeners_hand_options_to_children(make):
    out = []
    for early in (True, False):
        s = make(TCP)
        s.setsockopt(SOL, REUSE, 1)
        if early:
            set_options(s)
        s.bind(("::", PORT))
        if not early:
            set_options(s)
        s.listen(8)
        with four(ns=p.B) as c:
            c.connect((HERE, PORT))
            t = s.accept()[0]
            out += option_values(t)[:9] + [t.getsockopt(SOL, socket.SO_LINGER, 8)]
            out += [t.getsockopt(socket.IPPROTO_TCP, o) for o in (
                socket.TCP_NODELAY, socket.TCP_KEEPIDLE, socket.TCP_USER_TIMEOUT)]
            out += [failing(t.setsockopt, V6, socket.IPV6_TCLASS, 8),
                    t.getsockopt(V6, socket.IPV6_TCLASS), t.getsockopt(V6, V6ONLY),
                    failing(t.setsockopt, V6, V6ONLY, 1),
                    failing(t.setsockopt, V6, 9999, 1)]
            reset(t, s)
    return out


@both
def errors_of_connect(make):
    out = []
    for kind in (TCP, UDP):
        s = make(kind)
        s.setsockopt(V6, V6ONLY, 1)
        out += [failing(s.connect, (LOCAL, PORT)), names(s)]
        s.close()
        s = make(kind)
        out += [failing(s.connect, (NOBODY, PORT)), name(s, True)]
        out += [failing(s.connect, (LOCAL, PORT)), name(s)[0]]
        out += [failing(s.connect, ("::ffff:255.255.255.255", PORT))]
        s.close()
        s = make(kind)
        s.bind((LOCAL, 0))
        out += [name(s), failing(s.connect, ("::1", PORT)), failing(s.bind, (LOCAL, 0))]
        s.close()
    return out


@both
def a_refused_connection(make):
    out = []
    s = make(TCP)
    out += [failing(s.connect, (PEER, PORT)), name(s, True), s.getsockopt(SOL, socket.SO_ERROR)]
    with four(ns=p.B, port=PORT, listen=True):
        out += [failing(s.connect, (PEER, PORT)), names(s)]
    reset(s)
    s = make(TCP)
    s.setblocking(False)
    out += [s.connect_ex((PEER, PORT))]
    out += [wait_ready(s, select.POLLOUT), s.getsockopt(SOL, socket.SO_ERROR),
            s.getsockopt(SOL, socket.SO_ERROR)]
    s.close()
    return out


@both
def connecting_without_blocking(make):
    out = []
    with four(ns=p.B, port=PORT, listen=True) as listener:
        for register in (False, True):
            s = make(TCP)
            s.setblocking(False)
            with select.epoll() as epoll:
                if register:
                    epoll.register(s, select.EPOLLOUT | select.EPOLLIN | select.EPOLLET)
                    epoll.poll(0)
                out += [s.connect_ex((PEER, PORT))]
                if not register:
                    epoll.register(s, select.EPOLLOUT | select.EPOLLIN)
                ktap.wait_for(10, "connected", lambda e=epoll: any(
                    what & select.EPOLLOUT and not what & select.EPOLLHUP
                    for _, what in e.poll(1)))
                out += [s.getsockopt(SOL, socket.SO_ERROR), failing(s.connect, (PEER, PORT)),
                        failing(s.connect, (PEER, PORT)), names(s)]
                t = listener.accept()[0]
                t.send(b"x")
                ktap.wait_for(10, "readable", lambda e=epoll: any(
                    what & select.EPOLLIN for _, what in e.poll(1)))
                out += [s.recv(10), failing(s.recv, 10)]
                reset(s, t)
    return out


@both
def undone_connections(make):
    out = []
    libc = ktap._libc
    with four(ns=p.B, port=PORT, listen=True):
        for kind in (TCP, UDP):
            s = make(kind)
            s.connect((PEER, PORT))
            out += [libc.connect(s.fileno(), struct.pack("=H14x", 0), 16), name(s)[0],
                    name(s, True)]
            out += [failing(s.connect, (PEER, PORT)), names(s)]
            reset(s)
    return out


@both
def a_listener_on_the_wildcard_takes_both(make):
    out = []
    s = server(make)
    six = "fd00::a" if make is p.native else p.NET6_A
    out += [name(s), ready(s)]
    for order in ("464", "646", "4466"):
        clients = []
        for version in order:
            c = p.native(TCP, ns=p.B) if version == "6" else four(ns=p.B)
            c.connect((six if version == "6" else HERE, PORT))
            clients.append(c)
        out.append(wait_ready(s, select.POLLIN))
        seen = []
        for _ in order:
            t, who = s.accept()
            client = [c for c in clients if c.getsockname()[1] == who[1]][0]
            peer = client.getsockname()[0]
            seen.append((who[0] == (peer if ":" in peer else "::ffff:" + peer), len(who),
                         t.family == socket.AF_INET6, t.getpeername() == who,
                         t.getsockname()[0] in (six, "::ffff:" + HERE), t.getsockname()[1]))
            client.send(b"ping")
            seen.append((t.recv(10), t.send(b"pong!"), client.recv(10)))
            reset(t)
        out += [sorted(seen, key=str), ready(s)]
        reset(*clients)
    out += [failing(s.listen, 20), failing(s.connect, (PEER, PORT)), name(s)]
    s.shutdown(socket.SHUT_RDWR)
    with four(ns=p.B) as c:
        out += [failing(c.connect, (HERE, PORT)), failing(s.accept)]
    s.close()
    return out


@both
def a_listener_for_ipv6_only_leaves_ipv4_alone(make):
    out = []
    s = server(make, v6only=1)
    with four(ns=p.B) as c:
        out.append(failing(c.connect, (HERE, PORT)))
    with four(port=PORT, listen=True):
        out.append(name(s))
    reset(s)
    return out


@both
def an_unbound_listener_takes_both(make):
    s = make(TCP)
    s.listen(4)
    with four(ns=p.B) as c:
        c.connect((HERE, s.getsockname()[1]))
        t, who = s.accept()
        out = [who[0], t.getsockname()[0], name(s)]
        reset(t, s)
    return out


@both
def a_listener_on_an_ipv4_address(make):
    out = []
    for address in ("::ffff:" + HERE, "::ffff:0.0.0.0"):
        s = server(make, address=address)
        out.append(name(s))
        with four(ns=p.B) as c:
            c.connect((HERE, PORT))
            out.append(wait_ready(s, select.POLLIN))
            t, who = s.accept()
            out += [who[0], len(who), t.getsockname(), t.getpeername() == who]
            reset(t)
        six = "fd00::a" if make is p.native else p.NET6_A
        with p.native(TCP, ns=p.B) as c:
            out.append(failing(c.connect, (six, PORT)))
        reset(s)
    return out


@both
def what_is_in_the_way_of_bind(make):
    out = []
    for kind in (TCP, UDP):
        def bind(address, v6only=0, reuse=0, port=PORT, kind=kind):
            with make(kind) as s:
                s.setsockopt(V6, V6ONLY, v6only)
                s.setsockopt(SOL, REUSE, reuse)
                result = failing(s.bind, (address, port))
                return result, name(s), failing(s.listen, 1) if kind == TCP else None
        for held in ("0.0.0.0", HERE):
            with p.A:
                holder = socket.socket(socket.AF_INET, kind)
            holder.bind((held, PORT))
            if kind == TCP:
                holder.listen(1)
            for address in ("::", "::ffff:0.0.0.0", "::ffff:" + HERE, LOCAL):
                for v6only in (0, 1):
                    for reuse in (0, 1):
                        out.append((held, address, bind(address, v6only, reuse)))
            out.append(bind("::", port=PORT + 1))
            holder.close()
        out += [bind(NOBODY), bind("::"), bind(LOCAL)]
        with make(kind) as s, four(kind) as t:
            s.bind(("::", PORT))
            t.setsockopt(SOL, REUSE, 0)
            out += [failing(t.bind, ("0.0.0.0", PORT)), failing(t.bind, (HERE, PORT)),
                    failing(s.bind, ("::", PORT)), failing(s.bind, (LOCAL, PORT))]
        with make(kind) as s, make(kind) as t:
            for u in (s, t):
                u.setsockopt(SOL, socket.SO_REUSEPORT, 1)
            out += [failing(s.bind, ("::", PORT)), failing(t.bind, ("::", PORT)),
                    names(s), names(t)]
        with make(kind) as s:
            s.bind(("::", 0))
            with four(kind) as t:
                t.setsockopt(SOL, REUSE, 0)
                out.append(failing(t.bind, ("0.0.0.0", s.getsockname()[1])))
    return out


@both
def addresses_of_wrong_length_or_family(make):
    out = []
    libc, four_ = ktap._libc, socket.inet_pton(socket.AF_INET, "127.0.0.1")
    six = struct.pack("=HHI16sI", socket.AF_INET6, socket.htons(PORT), 0,
                      socket.inet_pton(socket.AF_INET6, LOCAL), 0)
    inet = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(PORT), four_)
    odd = struct.pack("=H", 77) + six[2:]
    import ctypes
    with make(UDP) as s:
        s.setsockopt(V6, V6ONLY, 1)
        libc.connect(s.fileno(), inet, len(inet))
        out.append(ctypes.get_errno())
    for kind in (TCP, UDP):
        for call in ("bind", "connect"):
            for address in (six, six[:24], six[:23], six[:2], inet, inet[:15], odd):
                with make(kind) as s:
                    ctypes.set_errno(0)
                    result = getattr(libc, call)(s.fileno(), address, len(address))
                    out.append((call, len(address), result, ctypes.get_errno()))
    return out


@both
def datagrams_to_and_from_ipv4(make):
    out = []
    with four(UDP, ns=p.B, port=PORT) as peer:
        for bound in (None, "::", "::ffff:0.0.0.0", "::ffff:" + HERE):
            s = make(UDP)
            if bound:
                s.bind((bound, PORT + 1))
            for size in (0, 1, 1472, 1473, 20000):
                data = os.urandom(size)
                out.append(s.sendto(data, (PEER, PORT)) == size)
                got, who = peer.recvfrom(65536)
                out.append((got == data, who[0], who[1] == s.getsockname()[1]))
                peer.sendto(got, who)
                out.append(wait_ready(s, select.POLLIN))
                got, who = s.recvfrom(65536)
                out.append((got == data, who))
            out += [names(s), ready(s), failing(s.send, b"x"),
                    failing(s.sendto, b"x", (PEER, 0)), failing(s.sendto, b"x", (NOBODY, 9)),
                    failing(s.sendto, b"x" * 65508, (PEER, PORT)),
                    failing(s.sendto, b"x", ("::ffff:255.255.255.255", PORT))]
            s.setsockopt(SOL, socket.SO_BROADCAST, 1)
            out.append(failing(s.sendto, b"all", ("::ffff:192.0.2.255", PORT)))
            out.append(peer.recv(100))
            s.close()
        s = make(UDP)
        s.setsockopt(V6, V6ONLY, 1)
        out += [failing(s.sendto, b"x", (PEER, PORT)), name(s)]
        s.close()
    return out


@both
def a_connected_datagram_socket(make):
    out = []
    other = "fd00::a" if make is p.native else p.NET6_A
    with four(UDP, ns=p.B, port=PORT) as peer, four(UDP, ns=p.B, port=PORT + 1) as stranger:
        s = make(UDP)
        s.connect((PEER, PORT))
        out += [names(s), s.send(b"one"), s.sendto(b"two", (PEER, PORT + 1))]
        got, who = peer.recvfrom(10)
        out += [got, who[0], stranger.recv(10)]
        stranger.sendto(b"not for us", who)
        peer.sendto(b"for us", who)
        out += [s.recvfrom(100), failing(s.sendto, b"x", (other, PORT)),
                failing(s.connect, (other, PORT)), name(s, True)]
        s.connect((PEER, PORT + 1))
        out += [names(s), s.send(b"three"), stranger.recv(10)]
    s.send(b"refused")
    out += [wait_ready(s, select.POLLIN), failing(s.recv, 10), s.getsockopt(SOL, socket.SO_ERROR)]
    s.shutdown(socket.SHUT_RDWR)
    s.setblocking(False)
    out += [failing(s.send, b"x"), failing(s.recv, 10), ready(s)]
    s.close()
    return out


@both
def a_datagram_socket_on_one_device(make):
    """SO_BINDTODEVICE after bind() holds for IPv4 as well, also before anything is sent."""
    out = []
    with four(UDP, ns=p.B) as peer, make(UDP) as s:
        s.bind(("::", PORT))
        s.setsockopt(SOL, socket.SO_BINDTODEVICE, b"a0")
        peer.sendto(b"by the other", (HERE1, PORT))
        peer.sendto(b"by this", (HERE, PORT))
        out.append(s.recv(100))
    with make(UDP) as s:
        s.setsockopt(SOL, socket.SO_BINDTODEVICE, b"a1")
        out += [failing(s.connect, (PEER, PORT)), name(s)[0]]
    return out


@both
def ancillary_data_of_datagrams(make):
    out = []
    s = server(make, kind=UDP)
    for option in (socket.IPV6_RECVPKTINFO, socket.IPV6_RECVHOPLIMIT, socket.IPV6_RECVTCLASS):
        s.setsockopt(V6, option, 1)
    with four(UDP, ns=p.B, port=PORT) as peer:
        peer.sendto(b"hello", (HERE, PORT))
        data, control, flags, who = s.recvmsg(100, 1000)
        out += [data, control, flags, who]
        index = p.index(p.A, "a0")
        for address, where in (("::ffff:" + HERE, index), ("::ffff:0.0.0.0", index),
                               ("::ffff:" + HERE, 0), ("::ffff:192.0.2.77", index),
                               (p.NET6_A if make is p.net6 else p.NATIVE_A, index)):
            info = struct.pack("=16sI", socket.inet_pton(socket.AF_INET6, address), where)
            out.append(failing(s.sendmsg, [b"x"], [(V6, socket.IPV6_PKTINFO, info),
                                                   (V6, socket.IPV6_TCLASS, struct.pack("i", 4))],
                               0, (PEER, PORT)))
            if out[-1] == 1:
                out.append(peer.recvfrom(10))
    s.close()
    return out


@both
def more_to_come_of_a_datagram(make):
    out = []
    with four(UDP, ns=p.B, port=PORT) as peer:
        s = make(UDP)
        s.connect((PEER, PORT))
        out += [s.send(b"one ", socket.MSG_MORE), s.send(b"two"), peer.recv(100)]
        s.setsockopt(17, 1, 1)
        out += [s.send(b"three "), s.send(b"four")]
        s.setsockopt(17, 1, 0)
        out += [peer.recv(100)]
        s.close()
    return out


@both
def threads_that_wait_are_woken(make):
    out = []

    def waiting(function, *args):
        found = []
        thread = threading.Thread(target=lambda: found.append(failing(function, *args)))
        thread.start()
        return thread, found

    s = server(make)
    s.settimeout(None)
    thread, found = waiting(lambda: s.accept()[1][0])
    ktap.wait_for(10, "accept() waits", lambda: ktap.asleep(thread))
    with four(ns=p.B) as c:
        c.connect((HERE, PORT))
        thread.join(10 * ktap.SCALE)
        out.append(list(found))
        reset(c)
    thread, found = waiting(lambda: s.accept()[1][0])
    ktap.wait_for(10, "accept() waits", lambda: ktap.asleep(thread))
    s.shutdown(socket.SHUT_RDWR)
    thread.join(10 * ktap.SCALE)
    out.append(list(found))
    s.close()

    with four(ns=p.B, port=PORT, listen=True) as listener:
        s = make(TCP)
        s.settimeout(None)
        s.connect((PEER, PORT))
        t = listener.accept()[0]
        thread, found = waiting(s.recv, 10)
        ktap.wait_for(10, "recv() waits", lambda: ktap.asleep(thread))
        t.send(b"x")
        thread.join(10 * ktap.SCALE)
        out.append(list(found))
        thread, found = waiting(s.recv, 10)
        ktap.wait_for(10, "recv() waits", lambda: ktap.asleep(thread))
        s.shutdown(socket.SHUT_RDWR)
        thread.join(10 * ktap.SCALE)
        out.append(list(found))
        thread, found = waiting(s.recv, 10)
        thread.join(10 * ktap.SCALE)
        reset(s, t)
    return out


@both
def pages_and_pipes(make):
    out = []
    data = os.urandom(200000)
    with open("/tmp/dual.data", "wb+") as file, four(ns=p.B, port=PORT, listen=True) as listener:
        file.write(data)
        file.flush()
        s = make(TCP)
        s.connect((PEER, PORT))
        t = listener.accept()[0]
        reader = []
        thread = threading.Thread(target=lambda: reader.append(t.recv(len(data),
                                                                      socket.MSG_WAITALL)))
        thread.start()
        out.append(s.sendfile(file))
        thread.join(20 * ktap.SCALE)
        out.append(reader[0] == data)
        t.send(b"through a pipe")
        wait_ready(s, select.POLLIN)
        r, w = os.pipe()
        s.setblocking(True)
        out += [os.splice(s.fileno(), w, 100) if hasattr(os, "splice") else 14, ]
        out += [os.read(r, 100) if hasattr(os, "splice") else b"through a pipe"]
        os.close(r)
        os.close(w)
        reset(s, t)
    return out


@both
def a_file_that_ends_before_sendfile_does(make):
    """What waited for more of it goes out."""
    out = []
    with open("/tmp/dual.data", "wb+") as file, four(ns=p.B, port=PORT, listen=True) as listener:
        file.write(b"short")
        file.flush()
        for cork in (0, 1):
            s = make(TCP)
            s.connect((PEER, PORT))
            t = listener.accept()[0]
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, cork)
            out.append(os.sendfile(s.fileno(), file.fileno(), 0, 4096))
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
            out.append(t.recv(4096))
            reset(s, t)
    return out


@ktap.test
def threads_share_a_socket_that_changes_its_stack():
    """What they get does not matter; that nothing breaks does."""
    stop = threading.Event()
    current = [p.net6(TCP)]

    def use(*calls):
        while not stop.is_set():
            for call in calls:
                failing(call, current[0])

    uses = ((lambda s: s.getsockname(), lambda s: s.getpeername()),
            (ready, lambda s: s.setsockopt(V6, socket.IPV6_TCLASS, 4)),
            (lambda s: s.bind(("::", 0)), lambda s: s.setsockopt(SOL, socket.SO_KEEPALIVE, 1)),
            (lambda s: s.send(b"x", socket.MSG_DONTWAIT), lambda s: s.recv(9, socket.MSG_DONTWAIT)),
            (lambda s: s.connect_ex((PEER, PORT)), lambda s: s.connect_ex((p.NATIVE_B, PORT))))
    with four(ns=p.B, port=PORT, listen=True) as listener:
        listener.setblocking(False)
        threads = [threading.Thread(target=use, args=calls) for calls in uses]
        for thread in threads:
            thread.start()
        for _ in range(60):
            s = p.net6(TCP)
            s.setblocking(False)
            old, current[0] = current[0], s
            failing(s.connect, (PEER, PORT))
            wait_ready(s, select.POLLOUT)
            for _ in range(8):
                failing(lambda: reset(listener.accept()[0]))
            reset(old)
        stop.set()
        for thread in threads:
            thread.join()
        reset(current[0])


@ktap.test
def no_memory_for_the_inner_socket():
    if not os.path.isdir("/sys/kernel/debug/failslab"):
        raise ktap.Skip("the kernel cannot inject faults")
    for file, value in (("verbose", "0"), ("probability", "0"), ("times", "-1"),
                        ("ignore-gfp-wait", "N")):
        with open(f"/sys/kernel/debug/failslab/{file}", "w", encoding="ascii") as setting:
            setting.write(value)
    # What an allocation's failure is called by native IPv4, which makes most of them.
    known = ("ENOMEM", "ENOBUFS", "EADDRINUSE")
    calls = ((TCP, lambda s: s.bind(("::", 0))), (TCP, lambda s: s.bind((LOCAL, 0))),
             (TCP, lambda s: s.listen(1)), (TCP, lambda s: s.connect((PEER, PORT))),
             (UDP, lambda s: s.bind(("::", 0))), (UDP, lambda s: s.bind((LOCAL, 0))),
             (UDP, lambda s: s.connect((PEER, PORT))),
             (UDP, lambda s: s.sendto(b"x", (PEER, PORT))))
    with four(ns=p.B, port=PORT, listen=True) as listener:
        listener.setblocking(False)
        for which, (kind, call) in enumerate(calls):
            refused = 0
            for n in range(1, 100):
                s = p.net6(kind)
                nth = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
                os.pwrite(nth, b"%d" % n, 0)
                result = failing(call, s)
                left = int(os.pread(nth, 20, 0).rstrip(b"\0\n") or 0)
                os.pwrite(nth, b"0", 0)
                os.close(nth)
                reset(s)
                # Connections that came about must not fill its queue.
                failing(lambda: reset(listener.accept()[0]))
                if left:
                    break
                refused += result in known
                ktap.true(result in known + (None, 1), f"call {which}, allocation {n}: {result}")
            ktap.true(left and refused, f"call {which}: {n} allocations, {refused} refused")


@ktap.test
def the_module_is_held_by_what_is_open():
    before = ktap.users("net6")
    with four(ns=p.B, port=PORT, listen=True) as listener:
        client = p.net6(TCP)
        client.connect((PEER, PORT))
        listener.accept()[0].close()
        bound, datagrams = server(p.net6, PORT + 1), server(p.net6, PORT + 1, kind=UDP)
        with four(ns=p.B) as c:
            c.connect((HERE, PORT + 1))
            child = bound.accept()[0]
            child.setsockopt(V6, socket.IPV6_TCLASS, 4)
        for sock in (datagrams, bound, client, child):
            ktap.true(ktap.users("net6") > before, "the module is in use")
            done = subprocess.run(("rmmod", "net6"), capture_output=True, text=True, check=False)
            ktap.true("in use" in done.stderr, f"rmmod: {done.stderr}")
            reset(sock)
    ktap.wait_for(10, "nobody holds it any more", lambda: ktap.users("net6") <= before)


@ktap.test
def a_namespace_goes_with_its_sockets():
    ns = ktap.Netns("C")
    socks = []
    with ns:
        listener = ktap.net6_socket(TCP)
        listener.bind(("::", PORT))
        listener.listen(4)
        for _ in range(4):
            client = ktap.net6_socket(TCP)
            client.connect((LOCAL, PORT))
            client.send(b"unread")
            socks.append(client)
        socks.append(listener.accept()[0])
        datagrams = ktap.net6_socket(UDP)
        datagrams.bind(("::", PORT))
        datagrams.sendto(b"unread", (LOCAL, PORT))
    ns.delete()
    ktap.equal(socks[0].getpeername()[0], LOCAL, "sockets keep it alive")
    ktap.equal(datagrams.recv(10), b"unread", "and working")
    datagrams.sendto(b"unread again", (LOCAL, PORT))
    for sock in socks + [listener, datagrams]:
        reset(sock)


ktap.main(setup=setup)
