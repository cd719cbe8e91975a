#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Every socket option of IPv6 and UDP that net6 has, with every length and with bad
# pointers, gives the native stack's result. What net6 does not have is unknown to it.
#
#	A: one native and one net6 socket, call by call
#
# guest: both
# timeout: 120
# guest-options: --kmemleak
import ctypes
import errno
import os
import random
import socket
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p

IPV4, V6, UDP = socket.IPPROTO_IP, socket.IPPROTO_IPV6, socket.IPPROTO_UDP
INTS = (-2147483648, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 64, 255, 256, 1279, 1280, 65535, 65536,
        999999, 2147483647)
if ktap.CHECKING:
    INTS = INTS[::3]
# name: number; those that take an int
OPTIONS = {
    "UNICAST_HOPS": 16, "MULTICAST_IF": 17, "MULTICAST_HOPS": 18, "MULTICAST_LOOP": 19,
    "MTU_DISCOVER": 23, "MTU": 24, "RECVERR": 25, "V6ONLY": 26, "MULTICAST_ALL": 29,
    "RECVERR_RFC4884": 31, "FLOWINFO": 11, "2292PKTINFO": 2, "2292HOPLIMIT": 8,
    "2292HOPOPTS": 3, "2292DSTOPTS": 4, "2292RTHDR": 5,
    "RECVPKTINFO": 49, "RECVHOPLIMIT": 51, "RECVHOPOPTS": 53, "RECVRTHDR": 56,
    "RECVDSTOPTS": 58, "RECVPATHMTU": 60, "DONTFRAG": 62, "RECVTCLASS": 66, "TCLASS": 67,
    "AUTOFLOWLABEL": 70, "ADDR_PREFERENCES": 72, "MINHOPCOUNT": 73, "ORIGDSTADDR": 74,
    "TRANSPARENT": 75, "UNICAST_IF": 76, "FREEBIND": 78, "FLOWINFO_SEND": 33,
}
IPV4_OPTIONS = {"TOS": 1, "TTL": 2, "MTU_DISCOVER": 10, "RECVERR": 11, "FREEBIND": 15,
                "TRANSPARENT": 19, "BIND_ADDRESS_NO_PORT": 24, "RECVERR_RFC4884": 26}
STRUCTS = {"ADD_MEMBERSHIP": 20, "DROP_MEMBERSHIP": 21, "PKTINFO": 50,
           "MCAST_JOIN_GROUP": 42, "MCAST_LEAVE_GROUP": 45}
# Not built: unknown to net6. Those of IPPROTO_IP are OPTIONS, RECVTTL, ADD_MEMBERSHIP.
ABSENT_IPV4 = (4, 12, 35)
ABSENT = {"ADDRFORM": 1, "2292PKTOPTIONS": 6, "ROUTER_ALERT": 22, "FLOWLABEL_MGR": 32,
          "RECVFRAGSIZE": 77, "ROUTER_ALERT_ISOLATE": 30,
          "nothing": 9999}
libc = ktap._libc


def setopt(sock, level, option, pointer, length):
    if libc.setsockopt(sock.fileno(), level, option, pointer, length):
        return errno.errorcode[ctypes.get_errno()]
    return 0


def getopt(sock, level, option, room):
    """Result, length and value of getsockopt()."""
    buf = ctypes.create_string_buffer(b"\xaa" * 64, 64)
    length = ctypes.c_int(room)
    if libc.getsockopt(sock.fileno(), level, option, buf, ctypes.byref(length)):
        return errno.errorcode[ctypes.get_errno()]
    return length.value, buf.raw[:max(0, min(length.value, 64))], \
        buf.raw[max(0, min(length.value, 64)):] == b"\xaa" * (64 - max(0, min(length.value, 64)))


def compare(name, kind, function):
    proto = 253 if kind == socket.SOCK_RAW else 0
    a, b = p.net6(kind, proto), p.native(kind, proto)
    try:
        seen, wanted = function(a), function(b)
        for one, two in zip(seen, wanted):
            ktap.equal(one, two, f"{name} on type {int(kind)}")
    finally:
        a.close()
        b.close()


def int_option(level, option):
    def calls(sock):
        out = [("initial", getopt(sock, level, option, room)) for room in (4,)]
        for value in INTS:
            raw = struct.pack("=i", value) + b"\xff" * 28
            for length in (4, 5, 8, 20):
                out.append((value, length, setopt(sock, level, option, raw, length),
                            getopt(sock, level, option, 4)))
        for length in (-1, 0, 1, 2, 3):
            out.append(("length", length, setopt(sock, level, option, b"\1" * 4, length)))
        for pointer in (None, ctypes.c_void_p(1), ctypes.c_void_p(0xffff888000000000)):
            for length in (0, 3, 4, 32):
                out.append(("pointer", pointer, length,
                            setopt(sock, level, option, pointer, length)))
        for room in (-1, 0, 1, 2, 3, 4, 5, 64):
            out.append(("room", room, getopt(sock, level, option, room)))
        return [(o if not isinstance(o[1], ctypes.c_void_p) else (o[0], o[1].value) + o[2:])
                for o in out]
    return calls


@ktap.test
def options_of_IPPROTO_IPV6_that_are_a_number():
    for name, option in OPTIONS.items():
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            compare(name, kind, int_option(V6, option))


@ktap.test
def options_of_IPPROTO_IP():
    for name, option in IPV4_OPTIONS.items():
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_RAW):
            compare(name, kind, int_option(IPV4, option))


@ktap.test
def IP_TRANSPARENT_wants_a_capability():
    def unprivileged(sock):
        os.seteuid(65534)
        try:
            return [setopt(sock, IPV4, IPV4_OPTIONS["TRANSPARENT"], b"\1\0\0\0", 4)]
        finally:
            os.seteuid(0)
    compare("TRANSPARENT", socket.SOCK_STREAM, unprivileged)


@ktap.test
def options_of_IPPROTO_IP_are_those_of_IPPROTO_IPV6_too():
    def shared(sock):
        out = []
        for four, six in ((IPV4_OPTIONS["FREEBIND"], OPTIONS["FREEBIND"]),
                          (IPV4_OPTIONS["TRANSPARENT"], OPTIONS["TRANSPARENT"])):
            for value in (1, 0):
                sock.setsockopt(IPV4, four, value)
                out.append((four, sock.getsockopt(V6, six)))
        sock.setsockopt(IPV4, IPV4_OPTIONS["BIND_ADDRESS_NO_PORT"], 1)
        sock.bind(("::1", 0))
        out.append(("port after bind()", sock.getsockname()[1]))
        return out
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        compare("shared options", kind, shared)


@ktap.test
def IPv4_through_an_IPv6_socket_has_its_options():
    def tos(make):
        """Set before and after there is an IPv4 socket inside."""
        with make() as receiver, make() as sender:
            receiver.bind(("::", 0))
            with p.A:
                plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            plain.settimeout(10 * ktap.SCALE)
            plain.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
            plain.bind(("127.0.0.1", 0))
            out = []
            for value in (0x20, 0x48):
                sender.setsockopt(IPV4, IPV4_OPTIONS["TOS"], value)
                sender.sendto(b"x", ("::ffff:127.0.0.1", plain.getsockname()[1]))
                out.append(plain.recvmsg(10, 100)[1][0][2][:1])
            plain.close()
            return out
    ktap.equal(tos(p.net6), tos(p.native), "types of service that are received")
    ktap.equal(tos(p.net6), [b"\x20", b"\x48"], "those that were set")


@ktap.test
def a_socket_bound_to_an_IPv6_address_is_IPv6_only():
    def only(make, own, kind):
        out = []
        for address in ("::", own, "::1"):
            with make(kind) as sock, make(kind) as late:
                sock.bind((address, 0))
                out.append((address == own, sock.getsockopt(V6, OPTIONS["V6ONLY"])))
                try:
                    late.bind(sock.getsockname())
                except OSError as error:
                    out.append(error.errno)
                out.append(late.getsockopt(V6, OPTIONS["V6ONLY"]))
                if kind == socket.SOCK_STREAM:
                    sock.listen()
                    with make(kind) as client:
                        client.connect((own if address == "::" else address,
                                        sock.getsockname()[1]))
                        accepted = sock.accept()[0]
                        out.append(("accepted", accepted.getsockopt(V6, OPTIONS["V6ONLY"])))
                        accepted.close()
        return out
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        ktap.equal(only(p.net6, p.NET6_A, kind), only(p.native, p.NATIVE_A, kind), f"{kind!r}")


@ktap.test
def options_of_UDP():
    for name, option in (("CORK", 1), ("SEGMENT", 103), ("GRO", 104), ("nothing", 99)):
        compare(name, socket.SOCK_DGRAM, int_option(UDP, option))


def struct_option(option, values):
    def calls(sock):
        out = []
        for value in values:
            for length in tuple(range(0, 41)) + (127, 128, 135, 136, 137, 160):
                padded = value + b"\0" * max(0, length - len(value))
                out.append((value[:24].hex(), length, setopt(sock, V6, option, padded, length)))
        for pointer in (None, ctypes.c_void_p(1)):
            for length in (0, 4, 20, 136, 200):
                out.append((length, setopt(sock, V6, option, pointer, length)))
        return out
    return calls


def membership_values():
    a0 = p.index(p.A, "a0")
    out = []
    for address in ("ff02::77", "ff05::77", "::", "fd00::1", "fe80::1"):
        raw = socket.inet_pton(socket.AF_INET6, address)
        for ifindex in (a0, 12345, -1):
            out.append(raw + struct.pack("=i", ifindex))
    return out


def group_values():
    a0 = p.index(p.A, "a0")
    out = []
    for family in (socket.AF_INET6, socket.AF_INET):
        for ifindex in (a0, 12345):
            sin6 = struct.pack("=HHI", family, 0, 0) + \
                socket.inet_pton(socket.AF_INET6, "ff02::78")
            out.append(struct.pack("=I4x", ifindex) + sin6 + b"\0" * 104)
    return out


@ktap.test
def options_that_are_structures():
    a0 = p.index(p.A, "a0")
    pktinfo = [b"\0" * 20, b"\0" * 16 + struct.pack("=i", a0)]
    for kind in (socket.SOCK_DGRAM,):
        compare("ADD_MEMBERSHIP", kind, struct_option(20, membership_values()))
        compare("DROP_MEMBERSHIP", kind, struct_option(21, membership_values()))
        compare("MCAST_JOIN_GROUP", kind, struct_option(42, group_values()))
        compare("MCAST_LEAVE_GROUP", kind, struct_option(45, group_values()))
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        compare("PKTINFO", kind, struct_option(50, pktinfo))


@ktap.test
def groups_of_one_socket_are_bounded():
    with open("/proc/sys/net/core/optmem_max", encoding="ascii") as file:
        limit = int(file.read())
    s = p.net6()
    zone = struct.pack("=i", p.index(p.A, "a0"))
    joined = 0
    for n in range(limit // 40):
        group = bytes.fromhex("ff02") + b"\0" * 10 + struct.pack("!I", n + 1)
        result = setopt(s, V6, 20, group + zone, 20)
        if result:
            break
        joined += 1
    ktap.equal(result, "ENOMEM", f"after {joined} groups")
    s.close()
    s = p.net6()
    ktap.equal(setopt(s, V6, 20, bytes.fromhex("ff02") + b"\0" * 13 + b"\1" + zone, 20), 0,
               "a new socket can join")


@ktap.test
def options_that_are_not_built_are_unknown():
    s = p.net6()
    for name, option in ABSENT.items():
        ktap.equal(setopt(s, V6, option, b"\0" * 64, 64), "ENOPROTOOPT", f"set {name}")
        ktap.equal(getopt(s, V6, option, 64), "ENOPROTOOPT", f"get {name}")
    for option in ABSENT_IPV4:
        ktap.equal(setopt(s, IPV4, option, b"\0" * 64, 64), "ENOPROTOOPT", f"set IPv4's {option}")
        ktap.equal(getopt(s, IPV4, option, 64), "ENOPROTOOPT", f"get IPv4's {option}")
    for level in (1234, 58, 132):
        ktap.equal(setopt(s, level, 1, b"\0" * 4, 4), "ENOPROTOOPT", f"level {level}")


@ktap.test
def a_connection_tells_its_address_and_interface():
    # By IPV6_2292PKTOPTIONS; systemd-resolved asks each of its connections.
    option, rooms = 6, (0, 8, 16, 20, 36, 40, 64)
    got = []
    for make, address in ((p.native, p.NATIVE_A), (p.net6, p.NET6_A)):
        idle = make(socket.SOCK_STREAM)
        listener = make(socket.SOCK_STREAM)
        listener.bind((address, 0))
        listener.listen()
        found = [getopt(sock, V6, option, 64) for sock in (make(), idle, listener)]
        for value in (0, 1):
            listener.setsockopt(V6, OPTIONS["RECVPKTINFO"], value)
            client = p.native(socket.SOCK_STREAM, ns=p.B)
            client.connect(listener.getsockname()[:2])
            accepted, _ = listener.accept()
            found += [getopt(accepted, V6, option, room) for room in rooms]
            accepted.close()
            client.close()
        mine = socket.inet_pton(socket.AF_INET6, address)
        ktap.equal(found[-1][1][:36], struct.pack("=QII", 36, V6, OPTIONS["RECVPKTINFO"] + 1)
                   + mine + struct.pack("=i", p.index(p.A, "a0")), f"of {address}")
        got.append([item if isinstance(item, str) else
                    (item[0], item[1].replace(mine, b"address"), item[2]) for item in found])
    ktap.equal(got[1], got[0], "net6 and native")


@ktap.test
def connected_sockets_know_their_path():
    for kind in (socket.SOCK_DGRAM,):
        a, b = p.net6(kind), p.native(kind)
        for s in (a, b):
            s.connect((p.NATIVE_B, 9))
        for option in (16, 24, 61, 18):
            got = [getopt(s, V6, option, 64)[:2] for s in (a, b)]
            ktap.equal(got[0], got[1], f"option {option}")


@ktap.test
def options_of_the_socket_layer_work():
    def sol_socket(sock):
        out = []
        for option in tuple(range(1, 80)):
            if option in (25, 26, 27, 31, 33, 50, 51, 52, 56, 57):	# devices, filters, peers
                continue
            if option == 42 and kind == socket.SOCK_STREAM and ktap.KERNEL >= (6, 9):
                continue	# SO_PEEK_OFF: later kernels have it for TCP, net6 has not
            for raw in (struct.pack("=i", 0), struct.pack("=i", 1), struct.pack("=ii", 1, 1),
                        struct.pack("=qq", 1, 0)):
                out.append((option, raw, setopt(sock, socket.SOL_SOCKET, option, raw, len(raw))))
            value = getopt(sock, socket.SOL_SOCKET, option, 4)
            # cookies and memory addresses differ
            out.append((option, value if isinstance(value, str) else value[0]))
        return out
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        compare("SOL_SOCKET", kind, sol_socket)


@ktap.test
def every_option_of_every_level_with_every_length_does_no_harm():
    """Those that net6 knows and those that nobody does."""
    lengths = (-2147483648, -1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 20, 24, 31, 32, 33, 40, 64,
               128, 136, 264, 4096, 65536, 2147483647)[::2 if ktap.CHECKING else 1]
    levels = {V6: range(0, 82), socket.IPPROTO_TCP: range(0, 48), socket.SOL_SOCKET: range(0, 80),
              UDP: (0, 1, 2, 100, 101, 102, 103, 104, 105), 0: range(0, 53), 58: (1,), 255: (1,),
              -1: (1,)}
    # A name of a congestion control makes the kernel look for a module.
    left_out = {(V6, 34), (V6, 35), (socket.IPPROTO_TCP, 13), (socket.IPPROTO_TCP, 31)}
    rng = random.Random(4)
    known = set()
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        for level, option in ((l, o) for l in levels for o in levels[l] if (l, o) not in left_out):
            sock = p.net6(kind)
            for n, length in enumerate(lengths):
                raw = rng.randbytes(4096) if n % 2 else bytes(4096)
                known.add(setopt(sock, level, option, raw, min(length, 4096)))
                if length >= 4096:
                    known.add(setopt(sock, level, option, ctypes.c_void_p(1), length))
                got = getopt(sock, level, option, min(length, 64))
                if isinstance(got, str):
                    known.add(got)
                else:
                    what = f"level {level} option {option} room {length}: {got[0]}"
                    # Native takes a negative room for a large one where it takes a number.
                    ktap.true(0 <= got[0] <= (length if length >= 0 else 64) and got[2], what)
            sock.close()
    ktap.true({0, "EINVAL", "ENOPROTOOPT", "EFAULT"} <= known, f"results {known}")
    sock = p.net6()
    sock.bind(("::1", 0))
    sock.sendto(b"x", sock.getsockname())
    ktap.equal(sock.recv(10), b"x", "a socket works")
    sock.close()


@ktap.test
def the_family_is_AF_INET6_to_everyone():
    for kind, proto in ((socket.SOCK_DGRAM, 17), (socket.SOCK_STREAM, 6)):
        s = p.net6(kind)
        ktap.equal(s.getsockopt(socket.SOL_SOCKET, 39), socket.AF_INET6, "SO_DOMAIN")
        ktap.equal(s.getsockopt(socket.SOL_SOCKET, 38), proto, "SO_PROTOCOL")
        ktap.equal(s.getsockname()[:2], ("::", 0), "name before bind")


@ktap.test
def socket_types_that_do_not_exist_are_refused():
    wanted = {(socket.SOCK_SEQPACKET, 0): errno.ESOCKTNOSUPPORT,
              (socket.SOCK_DGRAM, 6): errno.EPROTONOSUPPORT,
              (socket.SOCK_DGRAM, 136): errno.EPROTONOSUPPORT,
              (socket.SOCK_STREAM, 17): errno.EPROTONOSUPPORT,
              (socket.SOCK_STREAM, 132): errno.EPROTONOSUPPORT,
              (socket.SOCK_DGRAM, 256): errno.EPROTONOSUPPORT,
              (socket.SOCK_DGRAM, -1): errno.EINVAL,
              (socket.SOCK_DGRAM, 1 << 20): errno.EINVAL}
    for (kind, proto), code in wanted.items():
        if libc.socket(ktap.AF_NET6, int(kind), proto) >= 0:
            raise ktap.Fail(f"socket of type {kind}, protocol {proto}")
        ktap.equal(ctypes.get_errno(), code, f"errno of type {kind}, protocol {proto}")


ktap.main(setup=p.setup)
