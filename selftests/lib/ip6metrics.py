# SPDX-License-Identifier: GPL-2.0
"""Metrics of routes, as they are told and as TCP obeys them. ip6_native.py runs these tests on the
native stack, ip6_takeover.py on net6: both are to give the same answers.

    M [e0] ------ [f0] N        fd50::e/64, fd50::f/64
"""
import contextlib
import errno
import functools
import socket
import struct
import time

import ktap

SERVER = ("fd50::f", 4150)
SYN, ACK, ECE, CWR = 0x02, 0x10, 0x40, 0x80
TCP_INFO, QUICKACK, CONGESTION, FASTOPEN, FASTOPEN_CONNECT = 11, 12, 13, 23, 30
SYN_DATA = 32
M, N = ktap.later("M"), ktap.later("N")

SHOWN = (
    (("mtu", "1400"), " mtu 1400 "), (("mtu", "lock", "1390"), " mtu lock 1390 "),
    (("window", "20000"), " window 20000 "), (("rtt", "300ms"), " rtt 300ms "),
    (("rttvar", "100ms"), " rttvar 100ms "), (("ssthresh", "lock", "7"), " ssthresh lock 7 "),
    (("cwnd", "lock", "4"), " cwnd lock 4 "), (("advmss", "1000"), " advmss 1000 "),
    (("reordering", "9"), " reordering 9 "), (("hoplimit", "77"), " hoplimit 77 "),
    (("initcwnd", "5"), " initcwnd 5 "), (("features", "ecn"), " features ecn "),
    (("rto_min", "500ms"), " rto_min lock 500ms "), (("initrwnd", "3"), " initrwnd 3 "),
    (("quickack", "1"), " quickack 1 "), (("congctl", "lock", "reno"), " congctl lock reno "),
    (("fastopen_no_cookie", "1"), " fastopen_no_cookie 1 "),
    (("mtu", "70000"), " mtu 65520 "), (("advmss", "65535"), " advmss 65495 "))


@functools.cache
def cable():
    """The two namespaces, for the first test that wants them."""
    for ns in (M, N):
        ns.up("lo")
    ktap.veth(M, "e0", N, "f0")
    M.ip("-6", "addr", "add", "fd50::e/64", "dev", "e0", "nodad")
    N.ip("-6", "addr", "add", "fd50::f/64", "dev", "f0", "nodad")
    ktap.wait_for(15, "the other end", lambda: M.run("ping", "-c1", "-W1", "fd50::f",
                                                      check=False).find(" 0% packet loss") > 0)


def told():
    """Each metric is shown as it was set, also of a default route."""
    cable()
    for words, shown in SHOWN:
        for dst in ("fd51::/48", "default"):
            M.ip("-6", "route", "add", dst, "via", "fd50::f", "dev", "e0", *words)
            line = M.run("ip", "-6", "route", "show", dst) + " "
            ktap.true(shown in line, f"{dst} {' '.join(words)}: {line}")
            got = M.run("ip", "-6", "route", "get", "fd51::1") + " "
            ktap.true(shown in got, f"the way by {dst} {' '.join(words)}: {got}")
            M.ip("-6", "route", "del", dst)
    every = ("window", "20000", "reordering", "9", "initcwnd", "5", "congctl", "reno", "rto_min",
             "500ms", "mtu", "lock", "1390")
    M.ip("-6", "route", "add", "fd51::/48", "via", "fd50::f", "dev", "e0", *every)
    line = M.run("ip", "-6", "route", "show", "fd51::/48")
    ktap.true("mtu lock 1390 window 20000 reordering 9 initcwnd 5 rto_min lock 500ms congctl reno"
              in line, f"all of them: {line}")
    M.ip("-6", "route", "replace", "fd51::/48", "via", "fd50::f", "dev", "e0", "initcwnd", "6")
    line = M.run("ip", "-6", "route", "show", "fd51::/48")
    ktap.true(" initcwnd 6 " in line and "window" not in line, f"replaced: {line}")
    M.ip("-6", "route", "del", "fd51::/48")


def refused():
    """What is wrong is said in native's words."""
    cable()
    said = M.run("ip", "-6", "route", "add", "fd51::/48", "via", "fd50::f", "dev", "e0",
                 "congctl", "nosuch", check=False)
    ktap.true("Unknown tcp congestion algorithm" in said, said)
    ktap.equal(M.run("ip", "-6", "route", "show", "fd51::/48").strip(), "", "none was made")


def info(sock):
    """What of struct tcp_info is of interest."""
    data = sock.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
    at = {"rto": 8, "unacked": 24, "ssthresh": 76, "cwnd": 80, "reordering": 88}
    seen = {name: struct.unpack_from("=I", data, offset)[0] for name, offset in at.items()}
    seen["options"] = data[5]
    return seen


@contextlib.contextmanager
def by(*words):
    """Both ends reach each other by a route with these metrics; a server listens."""
    cable()
    for ns, dev, dst in ((M, "e0", "fd50::f"), (N, "f0", "fd50::e")):
        ns.run("ip", "tcp_metrics", "flush")	# what native's cache has of a route is the first's
        ns.ip("-6", "route", "add", dst, "dev", dev, *words)
    try:
        with N, socket.socket(socket.AF_INET6) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.IPPROTO_TCP, FASTOPEN, 5)
            listener.bind(SERVER)
            listener.listen()
            listener.settimeout(20)
            yield listener
    finally:
        M.ip("-6", "route", "del", "fd50::f", "dev", "e0")
        N.ip("-6", "route", "del", "fd50::e", "dev", "f0")


@contextlib.contextmanager
def connection(listener, first=b""):
    """(client, server), both connected."""
    with M, socket.socket(socket.AF_INET6) as client:
        client.settimeout(20)
        if first:
            client.setsockopt(socket.IPPROTO_TCP, FASTOPEN_CONNECT, 1)
        client.connect(SERVER)
        if first:
            client.send(first)
        with listener.accept()[0] as server:
            server.settimeout(20)
            if first:
                ktap.equal(server.recv(100), first, "data")
            yield client, server


def ends(listener, *names):
    """Those of info() of both ends of a new connection, by which a byte has gone each way."""
    with connection(listener) as pair:
        seen = [{name: info(sock)[name] for name in names} for sock in pair]
        pair[0].send(b"x")
        pair[1].recv(1)
        pair[1].send(b"x")
        pair[0].recv(1)
    time.sleep(0.2)		# both have closed
    return seen


def windows():
    """The congestion window that a connection begins with."""
    with by("initcwnd", "5") as listener:
        ktap.equal(ends(listener, "cwnd"), [{"cwnd": 5}] * 2, "initcwnd 5")
    with by("initcwnd", "40", "cwnd", "lock", "4", "ssthresh", "lock", "7", "reordering",
            "lock", "9", "congctl", "reno") as listener:
        ends(listener, "cwnd")		# native has them in a cache for the next one
        ktap.equal(ends(listener, "cwnd", "ssthresh", "reordering"),
                   [{"cwnd": 4, "ssthresh": 0x7fffffff, "reordering": 9}] * 2, "without ssthresh")
        for ns in (M, N):
            ns.run("sysctl", "-qw", "net.ipv4.tcp_no_ssthresh_metrics_save=0")
        ktap.equal(ends(listener, "ssthresh"), [{"ssthresh": 4}] * 2, "with it")


def times():
    """The least time-out, and the one that a connection begins with."""
    with by("rto_min", "700ms") as listener:
        for seen in ends(listener, "rto"):
            ktap.true(700_000 <= seen["rto"] < 900_000, f"rto_min 700 ms: {seen}")


def frames(ns, dev, function):
    """TCP headers that a device has seen while the function ran: [(to port, flags, window, ...)]"""
    with ns, socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as tap:
        tap.bind((dev, 3))
        function()
        tap.settimeout(0.2)
        seen = []
        with contextlib.suppress(TimeoutError):
            while True:
                frame = tap.recv(2048)
                if frame[12:14] == b"\x86\xdd" and frame[20] == socket.IPPROTO_TCP:
                    port, = struct.unpack_from("!H", frame, 56)
                    window, = struct.unpack_from("!H", frame, 68)
                    seen.append((port, frame[67], window, frame[54 + (frame[66] >> 4) * 4:]))
        return seen


def handshake(*words, first=b""):
    """(SYN, SYN-ACK) of a connection."""
    with by(*words) as listener:
        def talk():
            with connection(listener, first) as pair:
                pair[0].recv(0)
        seen = frames(N, "f0", talk)
    return ([f for f in seen if f[1] & (SYN | ACK) == SYN][0],
            [f for f in seen if f[1] & (SYN | ACK) == SYN | ACK][0])


def offers():
    """What a connection offers: its window and ECN."""
    plain = handshake("mtu", "1500")
    ktap.true(all(not f[1] & ECE for f in plain), "no ECN")
    for words, wanted in ((("initrwnd", "3"), (3 * 1440, 3 * 1428)),
                          (("window", "20000"), (1440 * (20000 // 1440), 1428 * (20000 // 1428)))):
        seen = handshake(*words)
        ktap.equal((seen[0][2], seen[1][2]), wanted, f"{' '.join(words)}: windows")
    seen = handshake("features", "ecn")
    ktap.equal([f[1] & (ECE | CWR) for f in seen], [ECE | CWR, ECE], "features ecn")
    ktap.kmod("tcp_dctcp")
    for ns in (M, N):
        ns.run("sysctl", "-qw", "net.ipv4.tcp_ecn=0")
    for words, wanted in (("reno", [0, 0]), ("dctcp", [ECE | CWR, ECE])):
        seen = handshake("congctl", words)
        ktap.equal([f[1] & (ECE | CWR) for f in seen], wanted, f"congctl {words}")
    for ns in (M, N):
        ns.run("sysctl", "-qw", "net.ipv4.tcp_ecn=2")


def fastopen():
    """Data go with the first SYN, without a cookie."""
    for ns in (M, N):
        ns.run("sysctl", "-qw", "net.ipv4.tcp_fastopen=3")
    ktap.equal(handshake("mtu", "1500", first=b"hello")[0][3], b"", "without a cookie")
    ktap.equal(handshake("fastopen_no_cookie", "1", first=b"hello")[0][3], b"hello", "with it")


def quickack():
    """Who would wait with an ACK does not."""
    def waited(listener):
        with connection(listener) as (client, server):
            taken = []
            for _ in range(5):
                client.setsockopt(socket.IPPROTO_TCP, QUICKACK, 0)
                begin = time.monotonic()
                server.send(b"x")
                while info(server)["unacked"]:
                    time.sleep(0.001)
                taken.append(time.monotonic() - begin)
            return min(taken)
    with by("mtu", "1500") as listener:
        ktap.true(waited(listener) > 0.03, "it waits")
    with by("quickack", "1") as listener:
        ktap.true(waited(listener) < 0.03, "it does not")


def congestion():
    """The route's congestion control, which a program does not change if it is locked."""
    def name(sock):
        return sock.getsockopt(socket.IPPROTO_TCP, CONGESTION, 16).rstrip(b"\0").decode()
    with by("mtu", "1500") as listener, connection(listener) as pair:
        ktap.true("reno" not in [name(sock) for sock in pair], "default")
    with by("congctl", "reno") as listener, connection(listener) as pair:
        ktap.equal([name(sock) for sock in pair], ["reno"] * 2, "congctl reno")
        pair[0].setsockopt(socket.IPPROTO_TCP, CONGESTION, b"cubic")
        ktap.equal(name(pair[0]), "cubic", "a program chooses")
    with by("congctl", "lock", "reno") as listener, connection(listener) as pair:
        for sock in pair:
            ktap.raises(errno.EPERM, sock.setsockopt, socket.IPPROTO_TCP, CONGESTION, b"cubic")
        ktap.equal([name(sock) for sock in pair], ["reno"] * 2, "congctl lock reno")


def tests():
    ktap.test("metrics are told")(told)
    ktap.test("metrics that are refused")(refused)
    ktap.test("a route's congestion window")(windows)
    ktap.test("a route's time-outs")(times)
    ktap.test("a route's windows and ECN")(offers)
    ktap.test("a route without Fast Open's cookies")(fastopen)
    ktap.test("a route with quick acknowledgments")(quickack)
    ktap.test("a route's congestion control")(congestion)
