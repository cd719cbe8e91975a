#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# No memory: each allocation of a system call fails in its turn (fail-nth), for sockets,
# options, netlink, devices, namespaces, khttpd and loading both modules. A share of all
# that must not sleep fails while traffic runs (receive path, timers, SLAAC). What is
# seen is an errno, never a report; afterwards everything works and all can be unloaded.
#
#	A [a0 net6 fd00::6] ------ [b0 Wire as fd00::b] B
#	A ::1 to ::1 for sockets
#
# The kernel shows its stack where its own part of a call finds no memory (vmalloc, sysctl,
# slab caches); that is no report. WARNING, BUG, KASAN and the like are, as ever. And it
# forgets the name of a slab cache that it could not show under /sys (sysfs_slab_add()).
# guest: full
# guest-options: --allow "Call Trace" --allow-leak "sysfs_slab_add\+" --kmemleak
# timeout: 150

import ctypes
import errno
import itertools
import json
import os
import random
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import failnth
import ip
import khttpd
import ktap
import mld
import nd
import nl
from failnth import DEVICE_SAYS, FAULTS, NO_MEMORY, fault, once, shared, sweep

FULL = bool(os.environ.get("NET6_FULL"))
# Without memory for a netlink socket of Linux's own: uevent_net_init() and fib_net_init().
LINUX_SAYS = DEVICE_SAYS | {errno.ENODEV, errno.EAFNOSUPPORT}
CONFIG = khttpd.CONFIG
libc = ktap._libc


def setup():
    failnth.setup()
    if not FULL:
        ktap.diag("a sample; make check-full tries each allocation")
    ip.setup()
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")


def close(thing, _=None):
    for sock in thing if isinstance(thing, tuple) else (thing,):
        if sock:
            sock.close()


def stream():
    sock = ktap.net6_socket(ns=ip.A)
    sock.settimeout(20 * ktap.SCALE)
    return sock


def dgram():
    return ktap.net6_socket(socket.SOCK_DGRAM, ns=ip.A)


def pair():
    """Two ends of a connection and the listener, which all are to be closed."""
    listener, client = stream(), stream()
    listener.bind(("::1", 0))
    listener.listen(5)
    client.connect(listener.getsockname())
    server = listener.accept()[0]
    server.settimeout(20 * ktap.SCALE)
    return client, server, listener


@ktap.test
def making_binding_and_listening():
    for kind, proto in ((socket.SOCK_STREAM, 0), (socket.SOCK_DGRAM, 0),
                        (socket.SOCK_DGRAM, ip.ICMP), (socket.SOCK_RAW, 253)):
        def make(_, kind=kind, proto=proto):
            return socket.socket(ktap.AF_NET6, kind, proto)

        with ip.A:
            sweep(f"socket of type {int(kind)}, {proto}", lambda: None, make,
                  lambda _, sock: close(sock), also={errno.ENFILE})
    sweep("bind TCP", stream, lambda s: s.bind(("::1", 0)), close)
    sweep("bind UDP", dgram, lambda s: s.bind(("::1", 0)), close)

    def bound():
        sock = stream()
        sock.bind(("::1", 0))
        return sock
    sweep("listen", bound, lambda s: s.listen(5), close)


@ktap.test
def connections_are_made_with_the_next_try():
    def listening():
        listener, client = stream(), stream()
        listener.bind(("::1", 0))
        listener.listen(5)
        return client, listener

    def connect(socks):
        socks[0].connect(socks[1].getsockname())
    sweep("connect", listening, connect, close)

    def connected():
        client, listener = listening()
        connect((client, listener))
        return client, listener

    def undo(socks, value):
        close(socks)
        if value:
            value[0].close()
    sweep("accept", connected, lambda socks: socks[1].accept(), undo, also={errno.ENFILE})


@ktap.test
def what_was_sent_arrives():
    data = random.Random(1).randbytes(100000)

    def reader(sock, into):
        while True:
            part = sock.recv(65536)
            if not part:
                return
            into.append(part)

    def send(name, call):
        for n in itertools.count(1):
            client, server, listener = pair()
            got = []
            thread = threading.Thread(target=reader, args=(server, got))
            thread.start()
            failed, error, sent = once(n, lambda c=client: call(c))
            client.shutdown(socket.SHUT_WR)
            thread.join()
            close((client, server, listener))
            ktap.true(error is None or error in NO_MEMORY | {errno.EAGAIN},
                      f"{name}, allocation {n}: {error}")
            ktap.true(b"".join(got) == data[:sent or len(b"".join(got))],
                      f"{name}, allocation {n}: bytes that were accepted arrive, "
                      f"{len(b''.join(got))} of {sent}")
            if not failed:
                ktap.diag(f"{name}: {n - 1} allocations")
                return
    send("send of 1 byte", lambda s: s.send(data[:1]))
    send("send of 100000 bytes", lambda s: s.send(data))

    with open("/tmp/data", "wb") as file:
        file.write(data)
    with open("/tmp/data", "rb") as file:
        send("sendfile", lambda s: os.sendfile(s.fileno(), file.fileno(), 0, 100000))


def no_buffer_is_kept():
    """Takes the buffers that this CPU keeps for the next segment: what is corked holds them."""
    held = []
    for _ in range(20):
        held.append(pair())
        held[-1][0].send(b"x", socket.MSG_MORE)
    return [sock for socks in held for sock in socks]


@ktap.test
def a_fin_that_nothing_can_carry_is_sent_later():
    """All that was sent is acknowledged when the connection is closed."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    for name, end in (("shutdown", lambda s: s.shutdown(socket.SHUT_WR)),
                      ("close", socket.socket.close)):
        for n in itertools.count(1):
            front, back, listener = pair()
            held = no_buffer_is_kept()
            failed, error, _ = once(n, lambda s=front, e=end: e(s))
            close(tuple(held))
            ktap.equal(error, None, f"{name}, allocation {n}")
            ktap.equal(back.recv(1), b"", f"{name}, allocation {n}: the end")
            back.shutdown(socket.SHUT_WR)
            if name == "shutdown":
                ktap.equal(front.recv(1), b"", f"{name}, allocation {n}: the other end")
            close((front, back, listener))
            if not failed:
                break
        ktap.true(n > 2, f"{name}: {n - 1} allocations")
    os.sched_setaffinity(0, cpus)


@ktap.test
def receiving_loses_nothing():
    def filled():
        client, server, listener = pair()
        client.sendall(b"x" * 30000)
        return client, server, listener

    def receive(socks):
        return socks[1].recv(30000)
    sweep("recv", filled, receive, close)

    def splice(socks):
        read, write = os.pipe()
        try:
            return os.splice(socks[1].fileno(), write, 30000)
        finally:
            os.close(read)
            os.close(write)
    if hasattr(os, "splice"):
        sweep("splice", filled, splice, close, also={errno.EAGAIN, errno.EMFILE, errno.ENFILE})


@ktap.test
def datagrams():
    def two():
        there, here = dgram(), dgram()
        there.bind(("::1", 0))
        there.settimeout(20)
        here.settimeout(20)
        return here, there

    def connected():
        here, there = two()
        here.connect(there.getsockname())
        return here, there
    tclass = [(socket.IPPROTO_IPV6, 67, struct.pack("=i", 4))]
    sweep("connect UDP", two, lambda s: s[0].connect(s[1].getsockname()), close)
    sweep("send UDP", connected, lambda s: s[0].send(b"x"), close)
    sweep("sendto UDP", two, lambda s: s[0].sendto(b"x", s[1].getsockname()), close)
    sweep("60000 bytes on the cable", two,
          lambda s: s[0].sendto(b"x" * 60000, (ip.PEER, 9)), close)
    sweep("sendmsg with a traffic class", two,
          lambda s: s[0].sendmsg([b"x"], tclass, 0, s[1].getsockname()), close)

    def corked():
        here, there = connected()
        here.setsockopt(socket.IPPROTO_UDP, 1, 1)
        here.send(b"x" * 3000)
        return here, there
    sweep("uncork", corked, lambda s: s[0].setsockopt(socket.IPPROTO_UDP, 1, 0), close)

    def raw():
        there = ktap.net6_socket(socket.SOCK_RAW, 253, ip.A)
        here = ktap.net6_socket(socket.SOCK_RAW, 253, ip.A)
        return here, there
    sweep("send raw", raw, lambda s: s[0].sendto(b"x" * 3000, ("::1", 0)), close)
    sweep("segments", connected, lambda s: s[0].sendmsg(
        [b"x" * 20000], [(socket.IPPROTO_UDP, 103, struct.pack("=H", 1000))]), close)


@ktap.test
def options():
    with ip.A:
        zone = struct.pack("=i", socket.if_nametoindex("a0"))
    group = socket.inet_pton(socket.AF_INET6, "ff02::4242") + zone
    v6 = socket.IPPROTO_IPV6
    program = (ctypes.c_ubyte * 8)(6, 0, 0, 0, 0xff, 0xff, 0, 0)
    fprog = struct.pack("=HxxxxxxQ", 1, ctypes.addressof(program))

    def joined():
        sock = dgram()
        sock.setsockopt(v6, 20, group)
        return sock
    sweep("join a group", dgram, lambda s: s.setsockopt(v6, 20, group), close)
    sweep("leave a group", joined, lambda s: s.setsockopt(v6, 21, group), close)
    # Where programs have to be compiled the kernel says so if it cannot (524, ENOTSUPP).
    sweep("filter", dgram, lambda s: s.setsockopt(socket.SOL_SOCKET, 26, fprog), close, (524,))
    sweep("congestion control", stream,
          lambda s: s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic"), close)
    for option, size in ((16, 4), (26, 4), (49, 4), (50, 20), (67, 4), (76, 4)):
        sweep(f"option {option}", dgram,
              lambda s, o=option, n=size: s.setsockopt(v6, o, bytes(n)), close)


def drain(sock):
    """All answers, or that some were lost."""
    sock.settimeout(0.05)
    while True:
        try:
            sock.recv(1 << 18)
        except socket.timeout:
            return
        except BlockingIOError:
            return
        except OSError as error:
            ktap.true(error.errno in NO_MEMORY, f"answer is {error}")


class Admin:
    """net6's family of namespace A; what is asked is answered, with an error or not."""

    def __init__(self):
        with ip.A:
            self.family = nl.Family()

    def say(self, op, flags=0, **values):
        """Only sends, because the request is worked on while it is sent."""
        raw = struct.pack("=BBH", self.family.cmds[op], 1, 0) + self.family.encode(op, **values)
        self.family.sock.send(struct.pack("=IHHII", 16 + len(raw), self.family.id,
                                          nl.REQUEST | nl.ACK | flags, 1, 0) + raw)

    def do(self, op, **values):
        self.say(op, **values)
        drain(self.family.sock)

    def comes_and_goes(self, what, values, which=None, step=1):
        """Adding and removing; which() names the thing that is to be removed."""
        def remove(*_):
            drain(self.family.sock)
            try:
                self.do(what + "-del", **(which() if which else values))
            except OSError as error:
                # Python's own error of a device that is not there has no number.
                ktap.true(error.errno in (None, errno.ENODEV), f"nothing to remove: {error}")
        sweep(what + "-add", lambda: None, lambda _: self.say(what + "-add", **values), remove,
              step=step)

        def there():
            self.do(what + "-add", **values)
            return which() if which else values
        sweep(what + "-del", there, lambda named: self.say(what + "-del", **named), remove,
              step=step)

    def close(self):
        self.family.close()


@ktap.test
def entries_are_added_and_removed():
    admin = Admin()
    with ip.A:
        a0 = socket.if_nametoindex("a0")
    on = {"ifindex": a0, "address": nl.address("fd00::99")}
    net = {"ifindex": a0, "address": nl.address("fd00:9::"), "prefix_len": 64}
    admin.comes_and_goes("addr", {"ifindex": a0, "address": nl.address("fd00::77"),
                                  "prefix_len": 64},
                         lambda: {"ifindex": a0, "address": nl.address("fd00::77")})
    # 7.2.8: with the group of those who are asked for it
    admin.comes_and_goes("proxy", on)
    ktap.equal((nd.show(ip.A, "proxies"), nd.find(ip.A, "groups", nd.solicited_node("fd00::99"))),
               ([], None), "neither proxied nor listened to")
    admin.comes_and_goes("neigh", {**on, "lladdr": bytes.fromhex("020000000099")}, lambda: on)
    route = {**net, "gateway": nl.address("fe80::9")}
    admin.comes_and_goes("route", route)
    admin.comes_and_goes("route", {**route, "source": nl.address("fd00::6")}, lambda: route)

    def changed(_, __):
        drain(admin.family.sock)
        ktap.equal([r["prefix_len"] for r in nd.show(ip.A, "routes")
                    if r["address"] == "fd00:9::"], [64], "the route is there, changed or not")
        admin.do("route-add", **route)
    admin.do("route-add", **route)
    sweep("route of another preference", lambda: None,
          lambda _: admin.say("route-add", **route, preference=1), changed)
    admin.do("route-del", **route)
    admin.close()


@ktap.test
def connections_are_ended_by_an_administrator():
    """Without memory for the reset, too."""
    admin = Admin()

    def end(socks, say):
        say("sock-del", remote_port=socks[2].getsockname()[1])

    def ended(socks, _):
        drain(admin.family.sock)
        end(socks, admin.do)	# if it could not be said
        try:
            socks[0].recv(1)
            told = 0
        except OSError as error:
            told = error.errno
        ktap.equal(told, errno.ECONNABORTED, "its owner is told")
        close(socks)
    sweep("end a connection", pair, lambda socks: end(socks, admin.say), ended)
    admin.close()


@ktap.test
def tables_are_listed():
    admin = Admin()
    for op in ("iface-get", "addr-get", "neigh-get", "proxy-get", "route-get", "tunnel-get",
               "sock-get", "dest-get", "counter-get"):
        sweep(op, lambda: None, lambda _, o=op: admin.say(o, nl.DUMP),
              lambda *_: drain(admin.family.sock))
    admin.close()


@ktap.test
def tunnels_come_and_go():
    admin = Admin()

    def which():
        with ip.A:
            return {"ifindex": socket.if_nametoindex("t6")}
    admin.comes_and_goes("tunnel", {"name": b"t6\0", "remote": bytes([192, 0, 2, 2]),
                                    "local": bytes([192, 0, 2, 1])}, which,
                         1 if FULL else 101)
    admin.close()


@ktap.test
def devices_come_with_an_interface_or_without():
    tunsetiff, siocsifflags = 0x400454ca, 0x8914
    request = struct.pack("=16sH22x", b"t0", 0x1002)
    up = struct.pack("=16sH22x", b"t0", 1)

    def tun():
        return os.open("/dev/net/tun", os.O_RDWR), socket.socket(socket.AF_INET,
                                                                   socket.SOCK_DGRAM)

    def make(things):
        libc_ioctl(things[0], tunsetiff, request)

    def made():
        things = tun()
        make(things)
        return things

    def undo(things, _):
        os.close(things[0])
        things[1].close()

    with ip.A:
        step = 1 if FULL else 9
        sweep("make a device", tun, make, undo, DEVICE_SAYS, step=step)
        sweep("set it up", made, lambda t: libc_ioctl(t[1].fileno(), siocsifflags, up), undo)
    ip.wire.flush()
    ip.alive()


def libc_ioctl(fd, number, data):
    if libc.ioctl(fd, ctypes.c_ulong(number), data) < 0:
        raise OSError(ctypes.get_errno(), "ioctl")


def unshare(_):
    if libc.unshare(0x40000000):
        raise OSError(ctypes.get_errno(), "unshare")


@ktap.test
def namespaces():
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)

    def back(*_):
        libc.setns(home, 0x40000000)
    rng = random.Random(int(time.time()) if FULL else 6)
    shared.nth.arm(1 << 20)
    unshare(None)
    count = (1 << 20) - shared.nth.left()
    back()
    refused = 0
    tries = range(1, count + 1) if FULL else rng.sample(range(1, count + 1), min(20, count))
    for n in tries:
        _, error, _ = once(n, lambda: unshare(None))
        back()
        refused += error is not None
        ktap.true(error is None or error in NO_MEMORY | LINUX_SAYS, f"allocation {n}: {error}")
    os.close(home)
    ktap.diag(f"namespace: {count} allocations, {len(tries)} tried, refused {refused} times")


@ktap.test
def khttpd_starts_or_not():
    path = f"{CONFIG}/fail"

    def mkdir(name):
        return lambda _: os.mkdir(f"{path}/{name}" if name else path)

    def store(name, value):
        def call(_):
            fd = os.open(f"{path}/{name}", os.O_WRONLY)
            try:
                os.write(fd, value)
            finally:
                os.close(fd)
        return call

    def rmdir(name):
        def undo(*_):
            if os.path.isdir(f"{path}/{name}"):
                os.rmdir(f"{path}/{name}")
        return undo

    sweep("mkdir site", lambda: None, mkdir(""), rmdir(""))
    os.mkdir(path)
    listeners = [n for n in os.listdir(path) if os.path.isdir(f"{path}/{n}")]
    sub = (listeners[0] + "/" if listeners else "") + "l"
    sweep("mkdir listener", lambda: None, mkdir(sub), rmdir(sub))
    os.mkdir(f"{path}/{sub}")
    sweep("docroot", lambda: None, store("docroot", khttpd.WWW.encode()))
    for name, value in (("family", b"net6"), ("address", b"::"), ("port", b"8088")):
        sweep(name, lambda: None, store(f"{sub}/{name}", value))

    def stop(*_):
        with open(f"{path}/enabled", "rb+", buffering=0) as file:
            if file.read().strip() == b"1":
                file.write(b"0")
    with ip.A:
        sweep("enable", lambda: None, store("enabled", b"1"), stop, also={errno.ENFILE})
        store("enabled", b"1")(None)
    with stream() as sock:
        sock.connect(("::1", 8088))
        sock.sendall(khttpd.get("/a.txt"))
        ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "a file after all")


def transfer(ends, seconds, rng):
    """Over a pair() on ::1; all that was accepted arrives. Bytes."""
    client, server, listener = ends
    data, got = rng.randbytes(65536), []
    total, end = 0, time.monotonic() + seconds

    def read():
        while True:
            try:
                part = server.recv(1 << 20)
            except OSError as error:
                if error.errno in NO_MEMORY:
                    continue
                raise
            if not part:
                return
            got.append(part)
    thread = threading.Thread(target=read)
    thread.start()
    while time.monotonic() < end and total < 4 << 20:
        try:
            total += client.send(data[total % 65536:])
        except OSError as error:
            if error.errno not in NO_MEMORY:
                raise
    client.shutdown(socket.SHUT_WR)
    thread.join()
    close((client, server, listener))
    whole = b"".join(got)
    ktap.equal(len(whole), total, "bytes received of those sent")
    ktap.true(whole == (data * (total // 65536 + 1))[:total], "bytes are equal")
    return total


def noise(stop, rng):
    """What makes net6 allocate when it receives: routers, neighbors, fragments, errors."""
    while not stop.is_set():
        n = rng.randrange(1 << 16)
        ip.wire.send(nd.ra(ip.wire.linklocal, options=nd.prefix_option(
            f"2001:db8:{n % 40:x}::", valid=rng.choice((0, 7300, 9000)), preferred=0)
            + struct.pack("!BBBBI", 24, 2, 64, 0, rng.choice((0, 1800)))
            + nd.packed(f"fd00:9:{n % 40:x}::")[:8]))
        ip.wire.send(mld.query(ip.wire.linklocal, "ff02::4242", (ip.PEER, ip.OURS), delay=1))
        ip.wire.send(nd.ns(f"fe80::{n:x}", ip.OURS, slla="02:00:00:00:00:07"))
        for packet in ip.fragments(ip.ICMP, ip.echo_message(data=bytes(2000)), n):
            ip.wire.send(packet)
        ip.wire.send(ip.ipv6(ip.PEER, ip.OURS, ip.UDP, ip.udp_message(dport=7), 64))
        ip.wire.send(ip.ipv6(ip.PEER, ip.OURS, ip.ICMP, ip.echo_message(), 64))
        ip.wire.flush()


@ktap.test
def without_sleep_under_traffic():
    rng = random.Random(9)
    stop = threading.Event()
    before = ip.numbers("drops").get("NO_MEMORY", 0)
    raw = ktap.net6_socket(socket.SOCK_RAW, ip.ICMP, ip.A)
    member = dgram()
    with ip.A:
        member.setsockopt(socket.IPPROTO_IPV6, 20, nd.packed("ff02::4242") + struct.pack(
            "=i", socket.if_nametoindex("a0")))
    ends = pair()
    maker = threading.Thread(target=noise, args=(stop, rng))
    maker.start()
    try:
        for what in FAULTS:
            fault(what, "ignore-gfp-wait", "Y")
            fault(what, "probability", 4)
        total = transfer(ends, 20 if FULL else 4, rng)
    finally:
        for what in FAULTS:
            fault(what, "probability", 0)
        fault("failslab", "ignore-gfp-wait", "N")
        stop.set()
        maker.join()
        close((raw, member))
    drops = ip.numbers("drops").get("NO_MEMORY", 0) - before
    ktap.diag(f"{total} bytes arrived; {drops} packets dropped for want of memory")
    ip.alive()
    ktap.true(transfer(pair(), 2, rng) > 0, "a connection afterwards")


@ktap.test
def sockets_and_entries_are_gone():
    ktap.wait_for(30, "no socket but khttpd's is left", lambda: not [
        s for s in json.loads(nd.net6ctl(ip.A, "-j", "show", "sockets"))
        if s.get("state") not in ("time-wait", "TIME-WAIT", "listen", "LISTEN")])
    khttpd.ctl("stop", "--all")
    ip.A.ip("link", "del", "a0")


def load(path, parameters):
    fd = os.open(path, os.O_RDONLY)
    try:
        if libc.syscall(313, fd, parameters, 0):
            raise OSError(ctypes.get_errno(), "finit_module")
    finally:
        os.close(fd)


@ktap.test
def modules_are_loaded_or_not():
    ktap.unload("khttpd")
    ktap.unload("net6")
    for module, wrong in (("net6", b"attach=" + b"x" * 1100), ("khttpd", None)):
        path = f"/tmp/{module}.ko"
        ktap.run("strip", "--strip-debug", "-o", path, f"{ktap.BUILD}/{module}/{module}.ko")
        # Reading, relocating and linking it is the kernel's business.
        first = 0
        if wrong:
            shared.nth.arm(1 << 20)
            try:
                load(path, wrong)
            except OSError:
                pass
            first = (1 << 20) - shared.nth.left()
        shared.nth.arm(1 << 20)
        load(path, b"")
        last = (1 << 20) - shared.nth.left()
        ktap.unload(module)
        if not first:
            first = last * 3 // 4
        refused, tries = 0, range(first + 1, last + 1)
        if not FULL:
            tries = sorted(random.Random(3).sample(tries, min(8, len(tries))))
        for n in tries:
            _, error, _ = once(n, lambda p=path: load(p, b""))
            ktap.true(error is None or error in NO_MEMORY, f"{module}, allocation {n}: {error}")
            refused += error is not None
            ktap.unload(module)
        ktap.diag(f"{module}: allocations {first} to {last}, refused {refused} "
                  f"of {len(tries)} times")
        load(path, b"")


ktap.main(setup=setup)
