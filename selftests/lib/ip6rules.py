# SPDX-License-Identifier: GPL-2.0
"""Routing tables and rules, as they are told and as packets take them. ip6_rules_native.py runs
these tests on the native stack, ip6_rules.py on net6: both are to give the same answers.

    S [s0] ------ [t0] T     fd70::1/64, fd70::2/64; T has fd72::1 to fd72::4
    S [s1] ------ [t1] T     fd71::1/64, fd71::2/64
    U [u0] ------ [s2] S     fd78::5/64, fd78::1/64
    T [t2] ------ [v0] V     fd76::1/64, fd76::2/64, 1400 octets
"""
import contextlib
import functools
import json
import os
import socket
import struct

import ktap
import nft

S, T, U, V = (ktap.later(name) for name in "STUV")
FAR, FARTHER = "fd72::1", "fd76::2"
PKTINFO, RECVPKTINFO, MTU = 50, 49, 24
NEWRULE, DELRULE, GROUP_RULE = 32, 33, 19


@functools.cache
def cables():
    """The namespaces, for the first test that wants them."""
    for ns in (S, T):
        ns.up("lo")
    for i in range(2):
        ktap.veth(S, f"s{i}", T, f"t{i}")
        S.ip("-6", "addr", "add", f"fd7{i}::1/64", "dev", f"s{i}", "nodad")
        T.ip("-6", "addr", "add", f"fd7{i}::2/64", "dev", f"t{i}", "nodad")
    for i in range(1, 5):
        T.ip("-6", "addr", "add", f"fd72::{i}/128", "dev", "lo", "nodad")
    for ns, dev, far, back, net, ends in ((U, "u0", S, "s2", "fd78", "51"),
                                          (T, "t2", V, "v0", "fd76", "12")):
        ns.up("lo")
        far.up("lo")
        ktap.veth(ns, dev, far, back)
        ns.ip("-6", "addr", "add", f"{net}::{ends[0]}/64", "dev", dev, "nodad")
        far.ip("-6", "addr", "add", f"{net}::{ends[1]}/64", "dev", back, "nodad")
    U.ip("-6", "route", "add", "default", "via", "fd78::1", "dev", "u0")
    T.ip("-6", "route", "add", "fd78::/64", "via", "fd70::1", "dev", "t0")
    T.ip("link", "set", "t2", "mtu", "1400")
    for ns in (S, T):
        ns.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
    for i in range(2):
        ktap.wait_for(15, "the other end", lambda i=i: S.run(
            "ping", "-c1", "-W1", f"fd7{i}::2", check=False).find(" 0% packet loss") > 0)


def said(*words):
    """What ip answers to a request: "" or an error."""
    return S.run("ip", "-6", *words, check=False).strip()


def shown(*words):
    out = S.run("ip", "-6", "-j", *words)
    return json.loads(out) if out.strip() else []


def routes(*words):
    """[(destination, gateway, device, metric, table)]"""
    return sorted(((r["dst"], r.get("gateway"), r.get("dev"), r.get("metric"), r.get("table"))
                   for r in shown("route", "show", *words)), key=str)


def tables():
    """Routes of a table are its own, and listed with it."""
    cables()
    for words in (("fd72::/64", "via", "fd70::2", "table", "100"),
                  ("fd72::/64", "via", "fd71::2", "dev", "s1", "table", "1000"),
                  ("default", "via", "fd71::2", "table", "100"),
                  ("fd73::/64", "dev", "s0", "table", "100", "metric", "7"),
                  ("unreachable", "fd74::/64", "table", "100")):
        ktap.equal(said("route", "add", *words), "", f"added: {' '.join(words)}")
    hundred = [("default", "fd71::2", "s1", 1024, None), ("fd72::/64", "fd70::2", "s0", 1024, None),
               ("fd73::/64", None, "s0", 7, None), ("fd74::/64", None, "lo", 1024, None)]
    ktap.equal(routes("table", "100"), hundred, "table 100")
    ktap.equal(routes("table", "1000"), [("fd72::/64", "fd71::2", "s1", 1024, None)], "table 1000")
    ktap.equal(routes("fd72::/64"), [], "main has none")
    ktap.equal([r[4] for r in routes("table", "all", "root", "fd72::/64") if r[0] == "fd72::/64"],
               ["100", "1000"], "of all tables")
    ktap.true("File exists" in said("route", "add", "fd72::/64", "via", "fd70::2", "table", "100"),
              "once only")
    ktap.equal(said("route", "replace", "fd72::/64", "via", "fd71::2", "table", "100"), "", "other")
    ktap.equal(routes("table", "100", "fd72::/64"), [("fd72::/64", "fd71::2", "s1", 1024, None)],
               "replaced")
    ktap.true("No such process" in said("route", "del", "fd72::/64"), "none of main to remove")
    ktap.true(said("route", "del", "fd72::/64", "table", "101"), "nor of 101")
    ktap.equal(shown("route", "get", "fd72::1") if not said("route", "get", "fd72::1").startswith(
        "RTNETLINK") else [], [], "main is looked at alone")
    said("route", "flush", "table", "100")
    ktap.equal(routes("table", "100"), [], "flushed")
    ktap.equal(len(routes("table", "1000")), 1, "the other table is not")
    ktap.equal(said("route", "del", "fd72::/64", "table", "1000"), "", "removed")


def table_of_several_hops():
    """A default route and a prefix with several next hops, in a table."""
    cables()
    both = ("nexthop", "via", "fd70::2", "dev", "s0", "nexthop", "via", "fd71::2", "dev", "s1")
    for dst in ("default", "fd72::/64"):
        ktap.equal(said("route", "add", dst, "table", "200", *both), "", f"{dst}: added")
        one, = shown("route", "show", dst, "table", "200")
        ktap.equal([hop["gateway"] for hop in one["nexthops"]], ["fd70::2", "fd71::2"], dst)
    said("route", "flush", "table", "200")


def table_goes_with_its_device():
    """Routes of a device that goes do not stay in a table."""
    cables()
    S.ip("link", "add", "s9", "type", "dummy")
    S.up("s9")
    ktap.equal(said("route", "add", "fd75::/64", "dev", "s9", "table", "300"), "", "added")
    ktap.equal(len(routes("table", "300")), 1, "there")
    S.ip("link", "del", "s9")
    ktap.equal(routes("table", "all", "root", "fd75::/64"), [], "gone")


@contextlib.contextmanager
def ruled(*rules):
    """FAR and all else is reached by s0, in table 100 by s1. The rules go again."""
    cables()
    S.ip("-6", "route", "add", "default", "via", "fd70::2", "dev", "s0")
    S.ip("-6", "route", "add", "default", "via", "fd71::2", "dev", "s1", "table", "100")
    try:
        for words in rules:
            S.ip("-6", "rule", "add", *words)
        yield
    finally:
        said("rule", "flush")
        for words in (("pref", "0", "lookup", "local"), ("pref", "32766", "lookup", "main")):
            if not shown("rule", "show", *words):
                S.ip("-6", "rule", "add", *words)
        said("route", "flush", "table", "100")
        said("route", "del", "default")


def by(*words):
    """The device by which a destination is reached, or why it is not."""
    out = S.run("ip", "-6", "-j", "route", "get", *words, check=False)
    if not out.startswith("["):
        return out.strip().rsplit(": ", 1)[-1]
    return json.loads(out)[0]["dev"]


def listed():
    """The two that there are at the beginning, and what is told of others."""
    cables()
    begin = ["0:\tfrom all lookup local", "32766:\tfrom all lookup main"]

    def lines():
        return [line.rstrip() for line in S.run("ip", "-6", "rule", "show").splitlines()]
    ktap.equal(lines(), begin, "at the beginning")
    more = {
        ("from", "fd70::/64", "lookup", "100", "pref", "10"): "from fd70::/64 lookup 100",
        ("to", FAR, "lookup", "1000", "pref", "11"): f"from all to {FAR} lookup 1000",
        ("iif", "s0", "lookup", "100", "pref", "12"): "from all iif s0 lookup 100",
        ("oif", "s1", "lookup", "100", "pref", "13"): "from all oif s1 lookup 100",
        ("iif", "none0", "lookup", "100", "pref", "14"):
            "from all iif none0 [detached] lookup 100",
        ("fwmark", "0x10/0xf0", "lookup", "100", "pref", "15"):
            "from all fwmark 0x10/0xf0 lookup 100",
        ("fwmark", "7", "lookup", "100", "pref", "16"): "from all fwmark 0x7 lookup 100",
        ("uidrange", "1000-1001", "lookup", "100", "pref", "17"):
            "from all uidrange 1000-1001 lookup 100",
        ("ipproto", "udp", "sport", "10-20", "dport", "53", "lookup", "100", "pref", "18"):
            "from all ipproto udp sport 10-20 dport 53 lookup 100",
        ("tos", "0x10", "lookup", "100", "pref", "19"): "from all tos 0x10 lookup 100",
        ("lookup", "main", "suppress_prefixlength", "0", "pref", "20"):
            "from all lookup main suppress_prefixlength 0",
        ("goto", "32766", "pref", "21"): "from all goto 32766",
        ("goto", "30000", "pref", "22"): "from all goto 30000 [unresolved]",
        ("nop", "pref", "23"): "from all nop",
        ("unreachable", "pref", "24"): "from all unreachable",
        ("prohibit", "pref", "25"): "from all prohibit",
        ("blackhole", "pref", "26"): "from all blackhole",
        ("not", "from", "fd70::/64", "lookup", "100", "pref", "27"):
            "not from fd70::/64 lookup 100",
        ("lookup", "100", "pref", "28", "protocol", "static"): "from all lookup 100 proto static",
    }
    try:
        told_in_turn(more, lines)
    finally:
        for words in more:
            said("rule", "del", *words)
    ktap.equal(lines(), begin, "again")
    S.ip("-6", "rule", "add", "lookup", "100")
    ktap.equal(lines()[1], "32765:\tfrom all lookup 100", "before main, if nothing is said")
    S.ip("-6", "rule", "del", "lookup", "100")


def told_in_turn(more, lines):
    for words in more:
        ktap.equal(said("rule", "add", *words), "", f"added: {' '.join(words)}")
    told = [line.split("\t")[1].strip() for line in lines()[1:-1]]
    ktap.equal(told, list(more.values()), "rules")
    for words in more:
        ktap.true("File exists" in said("rule", "add", *words), f"once only: {' '.join(words)}")
    for words in more:
        ktap.equal(said("rule", "del", *words), "", f"removed: {' '.join(words)}")


def rules_that_are_refused():
    cables()
    for words, why in ((("lookup", "100", "pref", "77"), "No such file"),
                       (("from", "fd79::/64", "lookup", "main", "pref", "0"), "No such file")):
        ktap.true(why in said("rule", "del", *words), f"nothing to remove: {' '.join(words)}")
    ktap.true("Backward goto" in said("rule", "add", "goto", "5", "pref", "10"), "backwards")
    ktap.true("ECN bits" in said("rule", "add", "tos", "0x11", "lookup", "100"), "tos")
    ktap.equal(len(shown("rule", "show")), 2, "none is left")


def selectors():
    """Each finds its packets, and others go as before."""
    table = ("lookup", "100")
    yes_no = (
        (("from", "fd71::1"), ("from", "fd71::1"), ("from", "fd70::1")),
        (("from", "fd71::/64"), ("from", "fd71::1"), ()),
        (("not", "from", "fd70::/64"), ("from", "fd71::1"), ("from", "fd70::1")),
        (("fwmark", "0x10/0xf0"), ("mark", "0x1f"), ("mark", "0x2f")),
        (("fwmark", "7"), ("mark", "7"), ("mark", "0x17")),
        (("fwmark", "0/1"), ("mark", "2"), ("mark", "3")),
        (("uidrange", "1000-1001"), ("uid", "1001"), ("uid", "1002")),
        (("ipproto", "tcp"), ("ipproto", "tcp"), ("ipproto", "udp")),
        (("sport", "10-20"), ("ipproto", "udp", "sport", "20"), ("ipproto", "udp", "sport", "21")),
        (("ipproto", "udp", "dport", "53"), ("ipproto", "udp", "dport", "53"),
         ("ipproto", "tcp", "dport", "53")),
        (("tos", "0x10"), ("tos", "0x10"), ("tos", "0x20")),
        (("iif", "lo"), (), ("from", "fd78::5", "iif", "s2")),
        (("iif", "s2"), ("from", "fd78::5", "iif", "s2"), ()),
        (("oif", "s1"), ("oif", "s1"), ()),
    )
    for rule, yes, no in yes_no:
        with ruled(rule + table):
            # Twice: looked for, and remembered.
            for _ in range(2):
                ktap.equal(by(FAR, *yes), "s1", f"{' '.join(rule)}: {' '.join(yes)}")
                ktap.equal(by(FAR, *no), "s0", f"{' '.join(rule)}: not {' '.join(no)}")
    with ruled(("to", "fd72::2/127") + table):
        ktap.equal([by(f"fd72::{i}") for i in range(1, 5)], ["s0", "s1", "s1", "s0"], "to")
    ktap.true("Network" in said("route", "get", FAR), "none is left")


def actions():
    """The first rule that knows the way is followed."""
    mark = ("fwmark", "1")
    for action, why in (("unreachable", "Network is unreachable"), ("prohibit", "Permission denied"),
                        ("blackhole", "Invalid argument")):
        with ruled((action,) + mark):
            ktap.equal(by(FAR, "mark", "1"), why, action)
            ktap.equal(by(FAR), "s0", f"beside {action}")
    with ruled(("goto", "200", "pref", "100") + mark, ("unreachable", "pref", "150") + mark,
               ("nop", "pref", "200"), ("lookup", "100", "pref", "201") + mark):
        ktap.equal(by(FAR, "mark", "1"), "s1", "goto passes a rule over")
        S.ip("-6", "rule", "del", "pref", "200")
        ktap.equal(by(FAR, "mark", "1"), "Network is unreachable", "goto to none is none")
    with ruled(("lookup", "main", "suppress_prefixlength", "0", "pref", "100"),
               ("lookup", "100", "pref", "101")):
        ktap.equal(by(FAR), "s1", "main's default route is suppressed")
        ktap.equal(by("fd70::2"), "s0", "its prefixes are not")
        ktap.equal(by("fd70::1"), "lo", "nor are own addresses")
    with ruled(("lookup", "100", "pref", "100")):
        S.ip("-6", "route", "add", "throw", "fd72::2/128", "table", "100")
        S.ip("-6", "route", "add", "prohibit", "fd72::3/128", "table", "100")
        ktap.equal([by(f"fd72::{i}") for i in range(1, 4)], ["s1", "s0", "Permission denied"],
                   "a table throws, and refuses")
        S.ip("-6", "route", "del", "default", "table", "100")
        ktap.equal(by(FAR), "s0", "a table without a way is passed over")
    with ruled(("lookup", "100", "pref", "100"), ("lookup", "local", "pref", "200")):
        S.ip("-6", "rule", "del", "pref", "0")
        ktap.equal(by("fd70::1"), "s1", "local comes later")
    with ruled():
        S.ip("-6", "rule", "del", "pref", "32766")
        ktap.equal(by(FAR), "Network is unreachable", "without main")


def receiver():
    with T:
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sock.setsockopt(socket.IPPROTO_IPV6, RECVPKTINFO, 1)
        sock.bind(("::", 7070))
        sock.settimeout(10 * ktap.SCALE)
        return sock, {socket.if_nametoindex(f"t{i}"): f"t{i}" for i in range(2)}


def arrives(sock, names):
    """By which device a datagram comes."""
    data, ancillary, _, _ = sock.recvmsg(100, 100)
    info = next(d for _, kind, d in ancillary if kind == PKTINFO)
    return names[struct.unpack("=16sI", info)[1]], data.decode()


def datagrams():
    """Marks, devices, owners and ports of a socket's datagrams."""
    sock, names = receiver()

    def sent(send, data, wanted, what):
        send(data.encode())
        ktap.equal(arrives(sock, names), (wanted, data), what)
    with sock, ruled(("fwmark", "5", "lookup", "100")), S:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as plain:
            def to(data):
                plain.sendto(data, (FAR, 7070))

            def marked(data):
                plain.sendmsg([data], [(socket.SOL_SOCKET, socket.SO_MARK, struct.pack("=I", 5))],
                              0, (FAR, 7070))
            sent(to, "a", "t0", "no mark")
            sent(marked, "b", "t1", "the mark of a call")
            sent(to, "c", "t0", "no mark again")
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 5)
            sent(to, "d", "t1", "the socket's mark")
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as joined:
            joined.connect((FAR, 7070))
            sent(joined.send, "e", "t0", "connected")
            joined.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 5)
            sent(joined.send, "f", "t1", "connected, with a mark since")
            joined.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 0)
            sent(joined.send, "g", "t0", "and without")
    with ruled(("uidrange", "1000-1000", "lookup", "100")), S:
        for uid, device in ((1000, "t1"), (1001, "t0")):
            os.seteuid(uid)
            try:
                made = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            finally:
                os.seteuid(0)
            with made:
                sock, names = receiver()
                with sock:
                    made.sendto(str(uid).encode(), (FAR, 7070))
                    ktap.equal(arrives(sock, names), (device, str(uid)), f"of user {uid}")


def connections():
    """A mark and a device choose the way of a connection, and its source."""
    with T:
        server = socket.create_server((FAR, 7071), family=socket.AF_INET6)
    server.settimeout(10 * ktap.SCALE)
    with server, ruled(("fwmark", "6", "lookup", "100"), ("oif", "s1", "lookup", "100")), S:
        for option, value, wanted in ((None, None, "fd70::1"), (socket.SO_MARK, 6, "fd71::1"),
                                      (socket.SO_BINDTODEVICE, b"s1", "fd71::1")):
            with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as client:
                if option:
                    client.setsockopt(socket.SOL_SOCKET, option, value)
                client.settimeout(10 * ktap.SCALE)
                client.connect((FAR, 7071))
                peer, address = server.accept()
                with peer:
                    ktap.equal(address[0], wanted, f"source with {option}")
                    client.sendall(b"x" * 5000)
                    got = b""
                    while len(got) < 5000:
                        got += peer.recv(5000)


def others_packets():
    """What is forwarded: by where it came in, its source and its ports."""
    sock, names = receiver()
    with sock, socket_of(U) as far:
        def sent(wanted, what):
            far.sendto(what.encode(), (FAR, 7070))
            ktap.equal(arrives(sock, names), (wanted, what), what)
        with ruled():
            sent("t0", "no rule")
        for words in (("iif", "s2"), ("from", "fd78::/64"), ("ipproto", "udp", "dport", "7070")):
            with ruled(words + ("lookup", "100")):
                for _ in range(2):
                    sent("t1", " ".join(words))
        for words in (("iif", "s0"), ("from", "fd70::/64"), ("dport", "7071")):
            with ruled(words + ("lookup", "100")):
                sent("t0", " ".join(words))


def socket_of(ns):
    with ns:
        return socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)


def marks_of_a_firewall():
    """A mark that a chain sets chooses the way: of own packets in a chain of type route alone."""
    ktap.kmod("nf_tables")
    sock, names = receiver()

    def sent(far, wanted, what):
        far.sendto(what.encode(), (FAR, 7070))
        ktap.equal(arrives(sock, names), (wanted, what), what)
    mark = "udp dport 7070 meta mark set 5"
    with sock, socket_of(S) as own, socket_of(U) as others, ruled(
            ("fwmark", "5", "lookup", "100")):
        for hook, kind, of_own, of_others in (
                ("output", "route", "t1", "t0"), ("output", "filter", "t0", "t0"),
                ("prerouting", "filter", "t0", "t1"), ("forward", "filter", "t0", "t0"),
                ("postrouting", "filter", "t0", "t0")):
            with nft.Rules(S, "table ip6 t {" + nft.chain(hook, mark, "mangle", kind) + "}"):
                for _ in range(2):
                    sent(own, of_own, f"own, marked in {hook} of type {kind}")
                    sent(others, of_others, f"others', marked in {hook} of type {kind}")
            sent(own, "t0", "own, and without")
        off = nft.chain("output", "udp dport 7070 meta mark set 0", "mangle", "route")
        with nft.Rules(S, f"table ip6 t {{{off}}}"):
            own.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 5)
            sent(own, "t0", "the socket's mark is taken off")
        sent(own, "t1", "the socket's mark")


def octets(dev):
    """How many a device of S has sent."""
    return json.loads(S.run("ip", "-j", "-s", "link", "show", dev))[0]["stats64"]["tx"]["bytes"]


def connection_marked_by_a_firewall():
    """The mark of a connection goes with its packets, both ways."""
    ktap.kmod("nf_tables", "nft_ct")
    with T:
        server = socket.create_server((FAR, 7071), family=socket.AF_INET6)
    server.settimeout(10 * ktap.SCALE)
    text = "table ip6 t {" + nft.chain(
        "output", "tcp dport 7071 ct mark set 6; ct mark 6 meta mark set ct mark", "mangle",
        "route") + "}"
    if "not supported" in S.run("nft", "-c", "-f", "-", input=text, check=False):
        raise ktap.Skip("this kernel's connections have no marks")
    with server, ruled(("fwmark", "6", "lookup", "100")), nft.Rules(S, text), S:
        before = octets("s1")
        with socket.create_connection((FAR, 7071), 10 * ktap.SCALE) as client:
            peer, _ = server.accept()
            with peer:
                client.sendall(b"x" * 50000)
                got = 0
                while got < 50000:
                    got += len(peer.recv(50000))
    ktap.true(octets("s1") - before > 50000, "all of it left by s1")


def path_mtu():
    """A Packet Too Big message is for the way that a mark has chosen."""
    with ruled(("fwmark", "9", "lookup", "101")):
        S.ip("-6", "route", "add", "fd76::/64", "via", "fd71::2", "dev", "s1", "table", "101")
        with socket_of(S) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 9)
            sock.connect((FARTHER, 9))
            ktap.equal(sock.getsockopt(socket.IPPROTO_IPV6, MTU), 1500, "at first")

            def learned():
                with contextlib.suppress(OSError):
                    sock.send(b"x" * 1440)
                return sock.getsockopt(socket.IPPROTO_IPV6, MTU) == 1400
            ktap.wait_for(15, "the path's MTU is known", learned)
        S.ip("-6", "route", "del", "fd76::/64", "table", "101")


def listeners_are_told():
    """RTM_NEWRULE and RTM_DELRULE, to who listens."""
    cables()
    with S, socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.bind((0, 0))
        sock.setsockopt(270, 1, GROUP_RULE)
        sock.settimeout(10 * ktap.SCALE)
        for verb, kind in (("add", NEWRULE), ("del", DELRULE)):
            said("rule", verb, "from", "fd79::/64", "lookup", "100", "pref", "99")
            heard = sock.recv(4096)
            ktap.equal(struct.unpack_from("=IH", heard)[1], kind, verb)
            ktap.equal(heard[16:20], bytes([socket.AF_INET6, 0, 64, 0]), "family and source")
            ktap.true(socket.inet_pton(socket.AF_INET6, "fd79::") in heard, "the source")


def many_rules():
    """With a thousand of them the last one is found, and the one that is remembered."""
    cables()
    with open("/tmp/rules", "w", encoding="ascii") as file:
        file.writelines(f"rule add fwmark {i} lookup 100 pref {i}\n" for i in range(1, 1001))
    with ruled():
        S.run("ip", "-6", "-batch", "/tmp/rules")
        ktap.equal(len(shown("rule", "show")), 1002, "rules")
        for mark, device in (("1000", "s1"), ("1001", "s0"), ("1", "s1")):
            for _ in range(2):
                ktap.equal(by(FAR, "mark", mark), device, f"mark {mark}")


def tests():
    for function in (tables, table_of_several_hops, table_goes_with_its_device, listed,
                     rules_that_are_refused, selectors, actions, datagrams, connections,
                     others_packets, marks_of_a_firewall, connection_marked_by_a_firewall,
                     path_mtu, listeners_are_told, many_rules):
        ktap.test(function.__name__.replace("_", " "))(function)
