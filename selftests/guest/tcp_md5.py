#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Segments signed with MD5 (RFC 2385), with native's TCP at the other end: either opens, data under
# loss, the last segments of a connection, resets, SYN cookies, prefixes, keys that change; and
# what is not signed, or wrongly, is not believed.
#
#	[ A: native fd00::a ] a0 ------ b0 [ B: net6 fd00::b ]
#
# guest: both
# timeout: 240
import errno
import json
import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
ADDRESS = {"native": "fd00::a", "net6": "fd00::b"}
OTHER = {"native": "net6", "net6": "native"}
NS = {"native": ktap.later("A"), "net6": ktap.later("B")}
TCP_MD5SIG, TCP_MD5SIG_EXT, TCP_INFO, TCP_FASTOPEN = 14, 32, 11, 23
PREFIX, IFINDEX = 1, 2
KEY = b"a key that both ends know"
PATIENCE = 20 * ktap.SCALE
# As long as a SYN that is not answered goes unanswered.
MOMENT = 0.5 * ktap.SCALE
DATA = bytes(i * 7 & 255 for i in range(1 << 16)) * 4


def ctl(*args):
    return NS["net6"].run(f"{TOP}/tools/net6ctl", *args)


def setup():
    ktap.kmod("sch_netem")
    ktap.net6_load()
    ktap.veth(NS["native"], "a0", NS["net6"], "b0")
    NS["native"].ip("addr", "add", "fd00::a/64", "dev", "a0", "nodad")
    ktap.wait_for(20, "net6 on b0", lambda: "b0" in ctl("show", "addresses"))
    ctl("set", "dev", "b0", "dad-transmits", "0")
    ctl("add", "address", "fd00::b/64", "dev", "b0")
    # Native's answers come at once.
    ktap.wait_for(20, "both know each other", lambda: opens("native", "net6", None, None))


def counters():
    return {item["name"]: item["value"] for item in json.loads(ctl("-j", "show", "counters", "all"))
            if "MD5" in item["name"]}


class Grown:
    """By how much the counters of signatures grow."""

    def __init__(self):
        self.start = counters()

    def __call__(self):
        return {name[6:]: value - self.start[name] for name, value in counters().items()
                if value != self.start[name]}


def sock_of(stack):
    if stack == "net6":
        sock = ktap.net6_socket(ns=NS["net6"])
    else:
        with NS["native"]:
            sock = socket.socket(socket.AF_INET6)
    sock.settimeout(PATIENCE)
    return sock


def command(address, key, flags=0, length=0, ifindex=0, family=socket.AF_INET6):
    sin6 = struct.pack("=HHI16sI", family, 0, 0, socket.inet_pton(socket.AF_INET6, address), 0)
    return struct.pack("=128sBBHi80s", sin6, flags, length, len(key or b""), ifindex, key or b"")


def set_key(sock, address, key, option=TCP_MD5SIG, **more):
    sock.setsockopt(socket.IPPROTO_TCP, option, command(address, key, **more))


def listener(stack, key, **more):
    sock = sock_of(stack)
    sock.bind((ADDRESS[stack], 0))
    if key:
        set_key(sock, more.pop("peer", ADDRESS[OTHER[stack]]), key, **more)
    sock.listen(8)
    return sock


def client(stack, key):
    sock = sock_of(stack)
    if key:
        set_key(sock, ADDRESS[OTHER[stack]], key)
    return sock


def opens(stack, other, key, others_key, wait=PATIENCE):
    """Whether a connection from @stack comes to be."""
    server, sock = listener(other, others_key), client(stack, key)
    sock.settimeout(wait)
    try:
        sock.connect(server.getsockname()[:2])
        return True
    except (socket.timeout, ConnectionError):
        return False
    finally:
        sock.close()
        server.close()


def pair(stack, key=KEY, before=lambda server: None, **more):
    """A connection that @stack opens: its end and the other's."""
    server = listener(OTHER[stack], key, **more)
    before(server)
    sock = client(stack, key)
    sock.connect(server.getsockname()[:2])
    peer = server.accept()[0]
    peer.settimeout(PATIENCE)
    server.close()
    return sock, peer


def carries(sock, peer, data=DATA):
    """Data both ways at once, more than the buffers hold."""
    def sends(end):
        def run():
            end.sendall(data)
        return run
    with Beside(sends(sock), sends(peer)):
        for end in (sock, peer):
            ktap.true(ktap.take(end, len(data)) == data, "what was sent arrives")


class Beside:
    """Functions that run beside what is in the with block."""

    def __init__(self, *functions):
        self.threads = [threading.Thread(target=function) for function in functions]

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        for thread in self.threads:
            thread.join()


def ends(stack, closer):
    """@closer closes first; then both are gone, and no segment was refused."""
    grown = Grown()
    sock, peer = pair(stack)
    first, last = (sock, peer) if closer == stack else (peer, sock)
    first.close()
    ktap.equal(last.recv(1), b"", "the end")
    last_stack = OTHER[closer]
    port = last.getsockname()[1]
    last.close()
    ktap.wait_for(PATIENCE, f"{last_stack}'s FIN is acknowledged",
                  lambda: not left(last_stack, port))
    ktap.equal(grown(), {}, "segments refused")


def left(stack, port):
    """Connections on a port, those in TIME-WAIT left out."""
    if stack == "net6":
        return [s for s in json.loads(ctl("-j", "show", "sockets", "tcp"))
                if s["local_port"] == port and s["state"] != "time-wait"]
    found = NS["native"].run("ss", "-H", "-6", "-t", "-n", "-a", "exclude", "time-wait",
                             "sport", "=", f":{port}")
    return found.split()


@ktap.test("a connection that native opens carries data both ways, all signed")
def native_opens():
    grown = Grown()
    carries(*pair("native"))
    ktap.equal(grown(), {}, "segments refused")


@ktap.test("a connection that net6 opens carries data both ways, all signed")
def net6_opens():
    grown = Grown()
    carries(*pair("net6"))
    ktap.equal(grown(), {}, "segments refused")


@ktap.test("two net6 with a key reach each other")
def net6_alone():
    server = sock_of("net6")
    server.bind(("fd00::b", 0))
    set_key(server, "fd00::b", KEY)
    server.listen()
    sock = sock_of("net6")
    set_key(sock, "fd00::b", KEY)
    sock.connect(server.getsockname()[:2])
    carries(sock, server.accept()[0])


@ktap.test("under loss and reordering data arrive, segments sent again are signed anew")
def loss():
    grown = Grown()
    for name, device in (("native", "a0"), ("net6", "b0")):
        NS[name].run("tc", "qdisc", "add", "dev", device, "root", "netem", "loss", "3%",
                     "delay", "1ms", "reorder", "90%", "25%", "limit", "10000")
    try:
        for stack in ADDRESS:
            carries(*pair(stack))
    finally:
        for name, device in (("native", "a0"), ("net6", "b0")):
            NS[name].run("tc", "qdisc", "del", "dev", device, "root")
    ktap.equal(grown(), {}, "segments refused")


@ktap.test("with another key nobody answers, and it is counted")
def wrong_key():
    for stack in ADDRESS:
        grown = Grown()
        ktap.true(not opens(stack, OTHER[stack], KEY, b"another key", MOMENT), "no connection")
        seen = grown()
        ktap.equal(list(seen), ["Failure"] if stack == "native" else [], f"by {stack}")


@ktap.test("a listener with a key does not answer who has none")
def not_signed():
    for stack in ADDRESS:
        grown = Grown()
        ktap.true(not opens(stack, OTHER[stack], None, KEY, MOMENT), "no connection")
        ktap.equal(list(grown()), ["NotFound"] if stack == "native" else [], f"by {stack}")


@ktap.test("a listener without a key does not answer who signs")
def not_expected():
    for stack in ADDRESS:
        grown = Grown()
        ktap.true(not opens(stack, OTHER[stack], KEY, None, MOMENT), "no connection")
        ktap.equal(list(grown()), ["Unexpected"] if stack == "native" else [], f"by {stack}")


@ktap.test("peers of which the listener has no key need none")
def others_need_none():
    server = listener("net6", KEY, peer="fd00::c")
    sock = client("native", None)
    sock.connect(server.getsockname()[:2])
    carries(sock, server.accept()[0], DATA[:1000])


@ktap.test("a key of a prefix is its hosts'; that of one host comes first")
def prefixes():
    server = listener("net6", b"the prefix's", peer="fd00::1", option=TCP_MD5SIG_EXT,
                      flags=PREFIX, length=64)
    for key in (b"the prefix's", KEY):
        sock = client("native", key)
        sock.connect(server.getsockname()[:2])
        carries(sock, server.accept()[0], DATA[:1000])
        set_key(server, "fd00::a", KEY)
    sock.close()


@ktap.test("SYN cookies are signed, too")
def cookies():
    grown = Grown()
    try:
        for name in NS:
            NS[name].run("sysctl", "-qw", "net.ipv4.tcp_syncookies=2")
        carries(*pair("native"))
        carries(*pair("net6"))
    finally:
        for name in NS:
            NS[name].run("sysctl", "-qw", "net.ipv4.tcp_syncookies=1")
    ktap.equal(grown(), {}, "segments refused")


@ktap.test("Fast Open gives way to the signature")
def fast_open():
    sock, peer = pair("native", before=lambda server: server.setsockopt(
        socket.IPPROTO_TCP, TCP_FASTOPEN, 5))
    carries(sock, peer, DATA[:1000])


@ktap.test("the last segments of a connection are signed, whoever closes first")
def last_segments():
    for stack in ADDRESS:
        for closer in ADDRESS:
            ends(stack, closer)


@ktap.test("native's FIN long after net6's close() is acknowledged by what is left of it")
def half_closed():
    sock, peer = pair("native")
    peer.close()
    ktap.equal(sock.recv(1), b"", "the end")
    grown = Grown()
    port = sock.getsockname()[1]
    sock.close()
    ktap.wait_for(PATIENCE, "native's FIN is acknowledged", lambda: not left("native", port))
    ktap.equal(grown(), {}, "segments refused")


@ktap.test("net6's reset is signed: native believes it")
def resets():
    for stack in ADDRESS:
        sock, peer = pair(stack)
        ours, theirs = (sock, peer) if stack == "net6" else (peer, sock)
        theirs.sendall(b"never read")
        ktap.wait_for(PATIENCE, "data have come", lambda: ours.recv(1, socket.MSG_PEEK))
        ours.close()
        ktap.raises(errno.ECONNRESET, theirs.recv, 1)


@ktap.test("data for a connection that is no more get a reset that is signed")
def reset_by_nobody():
    sock, peer = pair("native")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    drop = ["tc", "qdisc", "add", "dev", "b0", "root", "netem", "loss", "100%"]
    NS["net6"].run(*drop)
    peer.close()		# its reset is lost
    NS["net6"].run("tc", "qdisc", "del", "dev", "b0", "root")
    # Whose key? Of the listener on the port that the segment comes from, as native finds it.
    server = sock_of("net6")
    server.bind(("fd00::b", sock.getsockname()[1]))
    set_key(server, "fd00::a", KEY)
    server.listen()
    sock.sendall(b"anybody?")
    ktap.raises(errno.ECONNRESET, sock.recv, 1)


@ktap.test("a reset that is not signed ends nothing")
def forged_reset():
    sock, peer = pair("native")
    with NS["native"]:
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        wire.bind(("a0", 0))
    wire.settimeout(PATIENCE)
    sock.sendall(b"x")
    ports = struct.pack("!HH", sock.getsockname()[1], sock.getpeername()[1])
    frame = wire.recv(2000)
    while frame[54:58] != ports or len(frame) - 54 == (frame[66] >> 4) * 4:
        frame = wire.recv(2000)
    ktap.equal(peer.recv(1), b"x", "the byte")
    grown = Grown()
    seq = struct.unpack_from("!I", frame, 58)[0] + 1
    header = ports + struct.pack("!IIBBHHH", seq, 0, 5 << 4, 4, 0, 0, 0)
    total = frame[22:54] + struct.pack("!II", len(header), 6) + header
    value = sum(struct.unpack(f"!{len(total) // 2}H", total))
    value = (value >> 16) + (value & 0xffff)
    value = ~(value + (value >> 16)) & 0xffff
    wire.send(frame[:18] + struct.pack("!H", len(header)) + frame[20:54]
              + header[:16] + struct.pack("!H", value) + header[18:])
    ktap.wait_for(PATIENCE, "it is refused", lambda: grown() == {"NotFound": 1})
    carries(sock, peer, DATA[:1000])


@ktap.test("a key that changes on both ends holds from the next segment on")
def changes():
    grown = Grown()
    sock, peer = pair("native")
    carries(sock, peer, DATA[:5000])
    # All is acknowledged: nothing old is on its way.
    ktap.wait_for(PATIENCE, "all is acknowledged", lambda: not any(
        struct.unpack_from("I", end.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 192), 24)[0]
        for end in (sock, peer)))
    set_key(sock, "fd00::b", b"the next one")
    set_key(peer, "fd00::a", b"the next one")
    carries(sock, peer)
    ktap.equal(grown(), {}, "segments refused")


@ktap.test("a connection takes a key in its midst and gives it up again")
def in_the_midst():
    sock, peer = pair("native", key=None)
    carries(sock, peer)
    for key in (KEY, None):
        ktap.wait_for(PATIENCE, "all is acknowledged", lambda: not any(
            struct.unpack_from("I", end.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 192), 24)[0]
            for end in (sock, peer)))
        set_key(sock, "fd00::b", key)
        set_key(peer, "fd00::a", key)
        carries(sock, peer)


@ktap.test("what cannot be set is refused as native does")
def refused():
    many = b"k" * 80
    bad = [
        ("short", command("fd00::a", KEY)[:-1], TCP_MD5SIG),
        ("another family", command("fd00::a", KEY, family=socket.AF_INET), TCP_MD5SIG),
        ("no key to take away", command("fd00::a", None), TCP_MD5SIG),
        ("a prefix too long", command("fd00::", KEY, flags=PREFIX, length=129), TCP_MD5SIG_EXT),
        ("no VRF", command("fd00::a", KEY, flags=IFINDEX, ifindex=1), TCP_MD5SIG_EXT),
        ("a key too long", command("fd00::a", many)[:130] + struct.pack("=H", 81)
         + command("fd00::a", many)[132:], TCP_MD5SIG),
    ]
    for what, value, option in bad:
        seen = {}
        for stack in ADDRESS:
            sock = sock_of(stack)
            try:
                sock.setsockopt(socket.IPPROTO_TCP, option, value)
                seen[stack] = "taken"
            except OSError as error:
                seen[stack] = errno.errorcode[error.errno]
        ktap.true(seen["net6"] == seen["native"] != "taken", f"{what}: {seen}")
    ktap.raises(errno.EAFNOSUPPORT, set_key, sock_of("net6"), "::ffff:192.0.2.1", KEY)
    ktap.raises(errno.ENOPROTOOPT, sock_of("net6").getsockopt, socket.IPPROTO_TCP, TCP_MD5SIG, 216)


@ktap.test("how many keys is bounded by the socket's memory for options")
def bounded():
    seen = {}
    for stack in ADDRESS:
        sock = sock_of(stack)
        for number in range(10000):
            try:
                set_key(sock, f"fd01::{number:x}", KEY)
            except OSError as error:
                ktap.equal(error.errno, errno.ENOMEM, "the errno")
                seen[stack] = number
                break
        set_key(sock, "fd01::1", b"in the place of another" if stack == "native" else None)
        set_key(sock, "fd01::2", None)
    ktap.equal(seen["net6"], seen["native"], "keys of a socket")


if __name__ == "__main__":
    ktap.main(setup)
