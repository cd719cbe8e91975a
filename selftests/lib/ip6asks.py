# SPDX-License-Identifier: GPL-2.0
"""What network managers and routing daemons ask of rtnetlink for IPv6. ip6_native.py runs
these tests on the native stack, ip6_takeover.py on net6: both are to give the same answers.

    C [c0] ------ [d0] D        fd20::c/64, fd20::d/64
    C [c1] ------ [d1] D        fd21::c/64, fd21::d/64
"""
import errno
import functools
import json
import os
import socket
import struct

import ktap
import nl

NEWROUTE = 24
NEWADDR = 20
IFA_ADDRESS, IFA_LOCAL, IFA_CACHEINFO, IFA_FLAGS, IFA_RT_PRIORITY, IFA_PROTO = 1, 2, 6, 8, 9, 11
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_METRICS = 1, 4, 5, 8
RECVHOPLIMIT, HOPLIMIT, MTU = 51, 52, 24
C, D = ktap.later("C"), ktap.later("D")


def ip(*words):
    out = C.run("ip", "-6", "-j", *words)
    return json.loads(out) if out.strip() else []


def said(*words):
    """What ip answers to a request: "" or an error."""
    return C.run("ip", "-6", *words, check=False).strip()


def routes(*words):
    """[(destination, gateway, device, metric, protocol)]"""
    return [(r["dst"], r.get("gateway"), r["dev"], r.get("metric"), r.get("protocol", "boot"))
            for r in ip("route", "show", *words)]


def way(dst):
    """By which gateway a destination is reached."""
    return ip("route", "get", dst)[0].get("gateway")


def settled(ns):
    shown = [a for d in json.loads(ns.run("ip", "-6", "-j", "addr") or "[]")
             for a in d.get("addr_info", [])]
    return len(shown) == 5 and not any(a.get("tentative") for a in shown)


@functools.cache
def cables():
    """The two namespaces, for the first test that wants them."""
    for ns in (C, D):
        ns.up("lo")
    for i in range(2):
        ktap.veth(C, f"c{i}", D, f"d{i}")
        C.ip("-6", "addr", "add", f"fd2{i}::c/64", "dev", f"c{i}")
        D.ip("-6", "addr", "add", f"fd2{i}::d/64", "dev", f"d{i}")
    for ns in (C, D):
        ktap.wait_for(15, "addresses", lambda n=ns: settled(n))


def protocols():
    """Daemons know their routes by the protocol."""
    cables()
    for dst, *words in (("fd31::/48", "proto", "bird", "metric", "32"),
                        ("fd32::/48", "proto", "static"), ("fd33::/48", "proto", "188"),
                        ("fd34::/48",)):
        C.ip("-6", "route", "add", dst, "via", "fd20::d", "dev", "c0", *words)
    C.ip("-6", "route", "add", "fd35::/64", "dev", "c0", "proto", "bird")
    C.ip("-6", "route", "add", "default", "via", "fd20::d", "dev", "c0", "proto", "bird")
    bird = [("default", "fd20::d", "c0", 1024, "bird"), ("fd31::/48", "fd20::d", "c0", 32, "bird"),
            ("fd35::/64", None, "c0", 1024, "bird")]
    ktap.equal(sorted((r for r in routes() if r[4] == "bird"), key=str), bird, "routes of bird")
    # ip does not say what it was asked for
    ktap.equal(sorted(r[0] for r in routes("proto", "bird")), [r[0] for r in bird], "alone")
    ktap.equal([r[:4] for r in routes("proto", "static")], [("fd32::/48", "fd20::d", "c0", 1024)],
               "static route")
    ktap.equal(routes("fd34::/48"), [("fd34::/48", "fd20::d", "c0", 1024, "boot")], "no protocol")
    ktap.true("No such process" in said("route", "del", "fd32::/48", "proto", "bird"),
              "another's route is not removed")
    for who in ("bird", "188"):
        said("route", "flush", "proto", who)
    left = [r[0] for r in routes() if r[0].startswith(("fd3", "default"))]
    ktap.equal(sorted(left), ["fd32::/48", "fd34::/48"], "after the flush")
    for dst in left:
        C.ip("-6", "route", "del", dst)


def metrics():
    """Of several ways the one of the lowest metric is taken, and all are kept."""
    cables()
    for dst, address in (("fd36::/48", "fd36::1"), ("default", "2001:db8::1")):
        def change(verb, gateway, metric, d=dst):
            return said("route", verb, d, "via", gateway, "metric", str(metric))
        ktap.equal(change("add", "fd20::d", 100), "", "first")
        ktap.equal(change("add", "fd21::d", 50), "", "a better one by another device")
        ktap.equal(change("add", "fd20::d", 200), "", "the first once more, worse")
        ktap.equal(sorted(r[1:4] for r in routes(dst)),
                   [("fd20::d", "c0", 100), ("fd20::d", "c0", 200), ("fd21::d", "c1", 50)],
                   f"all routes to {dst}")
        ktap.equal(way(address), "fd21::d", "the lowest metric is taken")
        ktap.true("exists" in change("add", "fd20::77", 100), "no other one of the same metric")
        ktap.equal(change("replace", "fd20::77", 100), "", "but in its place")
        ktap.equal(sorted(r[1:4] for r in routes(dst)),
                   [("fd20::77", "c0", 100), ("fd20::d", "c0", 200), ("fd21::d", "c1", 50)],
                   "others of other metrics stay")
        ktap.true("No such file" in change("change", "fd20::d", 60), "nothing to change")
        C.ip("-6", "route", "del", dst, "metric", "50")
        ktap.equal(way(address), "fd20::77", "the next one")
        C.ip("-6", "route", "del", dst, "metric", "100")
        ktap.equal(way(address), "fd20::d", "the last one")
        C.ip("-6", "route", "del", dst, "via", "fd20::d", "dev", "c0")
        ktap.equal(routes(dst), [], "none")


def new_route(dst, metrics_, flags=0x600):
    """The result of RTM_NEWROUTE as systemd-networkd sends it."""
    with C, socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        body = struct.pack("=BBBBBBBBI", socket.AF_INET6, 48, 0, 0, 254, 16, 0, 1, 0) + \
            nl.attribute(RTA_DST, nl.address(dst)) + \
            nl.attribute(RTA_GATEWAY, nl.address("fd20::d")) + \
            nl.attribute(RTA_OIF, struct.pack("=I", socket.if_nametoindex("c0"))) + \
            nl.attribute(RTA_METRICS, metrics_)
        sock.send(struct.pack("=IHHII", 16 + len(body), NEWROUTE, 5 | flags, 1, 0) + body)
        error = -struct.unpack_from("=i", sock.recv(4096), 16)[0]
    return errno.errorcode.get(error, error)


def empty_metrics():
    """systemd-networkd sends RTA_METRICS with nothing in it."""
    cables()
    ktap.equal(new_route("fd37::", b""), 0, "empty")
    ktap.equal(new_route("fd37:1::", nl.attribute(10, struct.pack("=I", 0))), 0, "of 0")
    ktap.equal(new_route("fd37:2::", nl.attribute(77, struct.pack("=I", 1))), "EINVAL", "unknown")
    ktap.equal(new_route("fd37:3::", nl.attribute(2, b"\1\2")), "EINVAL", "short")
    ktap.equal(new_route("fd37::", b""), "EEXIST", "again")
    for dst in ("fd37::/48", "fd37:1::/48"):
        C.ip("-6", "route", "del", dst)


def limits():
    """A route's mtu, hop limit and segment size are kept, told and obeyed."""
    cables()
    D.ip("-6", "addr", "add", "fd38::d/128", "dev", "lo")
    words = ("via", "fd20::d", "dev", "c0", "mtu", "1400", "hoplimit", "7", "advmss", "1000")
    C.ip("-6", "route", "add", "fd38::/48", *words)
    shown = C.run("ip", "-6", "route", "show", "fd38::/48")
    ktap.true("mtu 1400" in shown and "advmss 1000" in shown and "hoplimit 7" in shown, shown)
    with D, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as got, \
            socket.socket(socket.AF_INET6) as listener:
        got.setsockopt(socket.IPPROTO_IPV6, RECVHOPLIMIT, 1)
        got.settimeout(10)
        got.bind(("fd38::d", 4100))
        listener.bind(("fd38::d", 4101))
        listener.listen()
        with C, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock, \
                socket.socket(socket.AF_INET6) as stream:
            sock.connect(("fd38::d", 4100))
            sock.send(b"x")
            ancillary = got.recvmsg(10, 100)[1]
            hops = [struct.unpack("=i", data)[0] for _, kind, data in ancillary
                    if kind == HOPLIMIT]
            ktap.equal(hops, [7], "hop limit")
            ktap.equal(sock.getsockopt(socket.IPPROTO_IPV6, MTU), 1400, "mtu")
            stream.connect(("fd38::d", 4101))
            with listener.accept()[0] as peer:
                mss = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
                ktap.equal(mss, 1000 - 12, "segments to who has announced 1000")
            mss = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
            ktap.equal(mss, 1400 - 60 - 12, "segments by the route's mtu")
            C.ip("-6", "route", "replace", "fd38::/48", *words[:4])
            sock.connect(("fd38::d", 4100))
            ktap.equal(sock.getsockopt(socket.IPPROTO_IPV6, MTU), 1500, "the link's again")
    C.ip("-6", "route", "del", "fd38::/48")


def address(dev, local, ns=None):
    """What ip says of an address, {} if there is none."""
    out = (ns or C).run("ip", "-6", "-j", "addr", "show", "dev", dev)
    found = [a for d in json.loads(out or "[]") for a in d.get("addr_info", [])
             if a.get("local") == local]
    return found[0] if found else {}


def renewals():
    """An address is changed in place."""
    cables()
    C.ip("-6", "addr", "add", "fd40::1/64", "dev", "c0", "nodad", "home")
    shown = address("c0", "fd40::1")
    ktap.true(shown.get("nodad") and shown.get("home") and "tentative" not in shown,
              f"at once, with its flags: {shown}")
    ktap.true("RTNETLINK answers: File exists" in said("addr", "add", "fd40::1/64", "dev", "c0") or
              "already assigned" in said("addr", "add", "fd40::1/64", "dev", "c0"), "not twice")
    ktap.equal(said("addr", "change", "fd40::1/64", "dev", "c0", "valid_lft", "1000",
                    "preferred_lft", "500"), "", "change")
    shown = address("c0", "fd40::1")
    ktap.true(990 < shown["valid_life_time"] <= 1000 and 490 < shown["preferred_life_time"] <= 500
              and shown.get("dynamic") and "home" not in shown, f"{shown}")
    ktap.equal(said("addr", "replace", "fd40::1/64", "dev", "c0", "preferred_lft", "0"), "",
               "deprecate")
    shown = address("c0", "fd40::1")
    ktap.true(shown.get("deprecated") and "dynamic" not in shown, f"{shown}")
    ktap.equal(said("addr", "replace", "fd40::1/64", "dev", "c0"), "", "replace")
    ktap.true("deprecated" not in address("c0", "fd40::1"), "preferred again")
    ktap.equal(routes("fd40::/64"), [("fd40::/64", None, "c0", 256, "kernel")], "its prefix")
    C.ip("-6", "addr", "del", "fd40::1/64", "dev", "c0")
    ktap.equal(routes("fd40::/64"), [], "goes with it")


def prefixes():
    """What an address makes on-link is as is asked for."""
    cables()
    words = ("fd41::1/64", "dev", "c0")
    onlink = ("fd41::/64", None, "c0", 256, "kernel")
    C.ip("-6", "addr", "add", *words, "noprefixroute")
    ktap.true(address("c0", "fd41::1").get("noprefixroute"), "the flag is told")
    ktap.equal(routes("fd41::/64"), [], "noprefixroute")
    C.ip("-6", "addr", "replace", *words)
    ktap.equal(routes("fd41::/64"), [onlink], "without it")
    C.ip("-6", "addr", "replace", *words, "noprefixroute")
    ktap.equal(routes("fd41::/64"), [], "with it again")
    C.ip("-6", "addr", "del", *words)
    C.ip("-6", "addr", "add", *words, "metric", "77")
    ktap.equal(routes("fd41::/64"), [onlink[:3] + (77, "kernel")], "of another metric")
    ktap.equal(address("c0", "fd41::1").get("metric"), 77, "which is told")
    C.ip("-6", "addr", "replace", *words, "metric", "88")
    ktap.equal(routes("fd41::/64"), [onlink[:3] + (88, "kernel")], "of yet another")
    C.ip("-6", "addr", "del", *words)
    C.ip("-6", "addr", "add", "fd43::1", "peer", "fd43::2", "dev", "c0", "nodad")
    ktap.equal(address("c0", "fd43::1").get("address"), "fd43::2", "the peer is told")
    # native makes it when it has looked for duplicates, which takes its time without any
    ktap.wait_for(10, "it is on-link",
                  lambda: routes("fd43::2") == [("fd43::2", None, "c0", 256, "kernel")])
    ktap.equal(said("addr", "change", "fd43::1", "dev", "c0", "valid_lft", "900",
                    "preferred_lft", "900"), "", "the peer is not named")
    ktap.equal(address("c0", "fd43::1").get("address"), "fd43::2", "it is as it was")
    C.ip("-6", "addr", "change", "fd43::1", "peer", "fd43::3", "dev", "c0")
    ktap.wait_for(10, "another peer is on-link", lambda: [routes(f"fd43::{i}") for i in (2, 3)] ==
                  [[], [("fd43::3", None, "c0", 256, "kernel")]])
    C.ip("-6", "addr", "del", "fd43::1", "dev", "c0")
    ktap.equal(routes("fd43::3"), [], "as long as the address is there")


def new_address(*attributes):
    """What is told of an address that RTM_NEWADDR makes, {attribute: value}, or its errno."""
    with C, socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.setsockopt(nl.SOL_NETLINK, nl.NETLINK_ADD_MEMBERSHIP, 9)	# IPV6_IFADDR
        body = struct.pack("=BBBBI", socket.AF_INET6, 64, 2, 0, socket.if_nametoindex("c0")) + \
            b"".join(nl.attribute(*a) for a in attributes)
        sock.send(struct.pack("=IHHII", 16 + len(body), NEWADDR, 0x601, 1, 0) + body)
        sock.settimeout(10)
        data = sock.recv(4096)
    kind, = struct.unpack_from("=H", data, 4)
    if kind == nl.NLMSG_ERROR:
        return errno.errorcode.get(-struct.unpack_from("=i", data, 16)[0])
    return dict(nl.attributes(data[24:struct.unpack_from("=I", data)[0]]))


def protocols_of_addresses():
    """Who has set an address is told; what is short or long is refused."""
    cables()
    local = (IFA_LOCAL, nl.address("fd42::1"))
    told = new_address(local, (IFA_FLAGS, struct.pack("=I", 2)), (IFA_PROTO, b"\xbc"))
    ktap.equal(told.get(IFA_PROTO), b"\xbc", "protocol")
    ktap.equal(new_address(local), "EEXIST", "again")
    C.ip("-6", "addr", "del", "fd42::1/64", "dev", "c0")
    for kind, size in ((IFA_LOCAL, 15), (IFA_ADDRESS, 4), (IFA_FLAGS, 3), (IFA_PROTO, 0),
                       (IFA_CACHEINFO, 12), (IFA_RT_PRIORITY, 2)):
        ktap.true(new_address(local, (kind, bytes(size))) in ("EINVAL", "ERANGE"),
                  f"attribute {kind} of {size} bytes")


def temporary():
    """Temporary addresses go with one that a manager has set."""
    cables()
    C.run("sysctl", "-qw", "net.ipv6.conf.c0.use_tempaddr=2")

    def made():
        out = C.run("ip", "-6", "addr", "show", "dev", "c0", "temporary")
        return "inet6 fd44:" in out
    ktap.true(said("addr", "add", "fd44::5/63", "dev", "c0", "mngtmpaddr"), "/63 is refused")
    C.ip("-6", "addr", "add", "fd44::5/64", "dev", "c0", "mngtmpaddr", "valid_lft", "90000",
         "preferred_lft", "80000")
    ktap.wait_for(10, "a temporary address", made)
    C.ip("-6", "addr", "del", "fd44::5/64", "dev", "c0")
    ktap.wait_for(10, "it goes", lambda: not made())
    C.run("sysctl", "-qw", "net.ipv6.conf.c0.use_tempaddr=0")


def heard(sock, seconds=10):
    """Netlink messages: (type, body)."""
    sock.settimeout(seconds)
    try:
        data = sock.recv(65536)
    except TimeoutError:
        raise ktap.Fail("nothing is told") from None
    while len(data) >= 16:
        length, kind = struct.unpack_from("=IH", data)
        yield kind, data[16:length]
        data = data[(length + 3) & ~3:]


def link_flags(body, index):
    """IFLA_INET6_FLAGS of a message about AF_INET6's part of a link."""
    if struct.unpack_from("=i", body, 4)[0] != index:
        return 0
    inside = dict(nl.attributes(dict(nl.attributes(body[16:])).get(12, b"")))
    return struct.unpack("=I", inside[1])[0] if 1 in inside else 0


def advertisements():
    """What routers say for programs reaches them."""
    g, h = ktap.Netns("G"), ktap.Netns("H")
    ktap.veth(g, "g0", h, "h0")
    for ns, dev in ((g, "g0"), (h, "h0")):
        ktap.wait_for(15, "link-local address", lambda n=ns, d=dev: "inet6 fe80" in
                      n.run("ip", "-6", "addr", "show", "dev", d, "-tentative"))
    prefix = bytes((3, 4, 64, 0x40)) + struct.pack("!III", 3600, 3600, 0) + nl.address("fd80::")
    options = [prefix,
               bytes((25, 3, 0, 0)) + struct.pack("!I", 600) + nl.address("fd80::53"),
               bytes((31, 2, 0, 0)) + struct.pack("!I", 600) + b"\3lan\0\0\0\0",
               bytes((37, 2)) + b"https://a.b/\0\0", bytes((38, 2)) + bytes(14)]

    def tell(flags):
        with h, socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as sock:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
            sock.sendto(struct.pack("!BBHBBHII", 134, 0, 0, 64, flags, 1800, 0, 0) +
                        b"".join(options), ("ff02::1", 0, 0, socket.if_nametoindex("h0")))

    with g, socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        index = socket.if_nametoindex("g0")
        sock.bind((0, 0))		# what the kernel sends is for others than 0
        for group in (20, 12):		# ND_USEROPT, IPV6_IFINFO
            sock.setsockopt(nl.SOL_NETLINK, nl.NETLINK_ADD_MEMBERSHIP, group)
        tell(0xc0)
        told, flags = [], 0
        while len(told) < len(options) or flags & 0xc0 != 0xc0:
            for kind, body in heard(sock):
                if kind == 68:
                    length = struct.unpack_from("=H", body, 2)[0]
                    told.append(bytes(body[16:16 + length]))
                elif kind == 16:
                    flags |= link_flags(body, index)
        ktap.equal(told, options, "options")
        sock.send(struct.pack("=IHHIIBBHiII", 32, 18, 0x301, 1, 0, 10, 0, 0, 0, 0, 0))
        got = [link_flags(body, index) for kind, body in heard(sock) if kind == 16]
        ktap.true(any(f & 0xe0 == 0xe0 for f in got), f"flags of a dump: {got}")
    for metric in (50, 2000):
        g.run("sysctl", "-qw", f"net.ipv6.conf.g0.ra_defrtr_metric={metric}")
        tell(0)
        ktap.wait_for(10, "the router, once, with the metric", lambda m=metric: [
            r["metric"] for r in json.loads(g.ip("-6", "-j", "route", "show", "default"))] == [m])
    g.run("ip", "token", "set", "::77", "dev", "g0")
    ktap.true("::77 dev g0" in g.run("ip", "token", "show"), "the token is told")
    tell(0)
    ktap.wait_for(10, "an address with the token",
                  lambda: address("g0", "fd80::77", g))
    g.run("ip", "token", "del", "dev", "g0")
    ktap.wait_for(10, "it goes with the token", lambda: not address("g0", "fd80::77", g))
    g.ip("link", "set", "g0", "addrgenmode", "none")
    shown = json.loads(g.ip("-d", "-j", "link", "show", "g0"))[0]
    ktap.equal(shown["inet6_addr_gen_mode"], "none", "addr_gen_mode")


def carrier():
    """Without a carrier a host's own addresses are its own."""
    e, f = ktap.Netns("asks-E"), ktap.Netns("asks-F")
    ktap.veth(e, "e0", f, "f0")
    e.up("lo")
    e.ip("-6", "addr", "add", "fd50::e/64", "dev", "e0")
    f.ip("-6", "addr", "add", "fd50::f/64", "dev", "f0", "nodad")
    ktap.wait_for(15, "address", lambda: address("e0", "fd50::e", e) and
                  "tentative" not in address("e0", "fd50::e", e))
    f.down("f0")
    ktap.wait_for(10, "no carrier", lambda: "NO-CARRIER" in e.run("ip", "link", "show", "e0"))
    e.ip("-6", "addr", "add", "fd51::e/64", "dev", "e0", "nodad")
    e.ip("-6", "addr", "add", "fd52::e/64", "dev", "e0")
    for local in ("fd50::e", "fd51::e"):
        ktap.true("tentative" not in address("e0", local, e), f"{local} is ours")
        e.run("ping", "-6", "-c", "1", "-W", "5", local)
        with e, socket.socket(socket.AF_INET6) as listener, \
                socket.socket(socket.AF_INET6) as client:
            listener.bind((local, 4200))
            listener.listen()
            client.connect((local, 4200))
    # Native asks into the void, and takes it a second later.
    if os.path.isdir("/sys/module/net6"):
        ktap.true("tentative" in address("e0", "fd52::e", e), "what nobody was asked for is not")
    f.up("f0")
    f.ip("-6", "addr", "replace", "fd50::f/64", "dev", "f0", "nodad")
    ktap.wait_for(15, "all are ours", lambda: "tentative" not in address("e0", "fd52::e", e))
    e.run("ping", "-6", "-c", "1", "-W", "5", "fd50::f")
    f.down("f0")
    ktap.wait_for(10, "no carrier", lambda: "NO-CARRIER" in e.run("ip", "link", "show", "e0"))
    e.run("sysctl", "-qw", "net.ipv6.conf.e0.keep_addr_on_down=0")
    e.down("e0")
    ktap.equal(address("e0", "fd50::e", e), {}, "of a device that is down it is not")
    e.up("e0")
    e.ip("-6", "addr", "add", "fd50::e/64", "dev", "e0")
    e.down("e0")
    ktap.equal(address("e0", "fd50::e", e), {}, "nor if there was no carrier at all")


def refusals():
    """Routes that lead nowhere, each with its error."""
    cables()
    for i, (kind, error) in enumerate((("unreachable", "EHOSTUNREACH"), ("blackhole", "EINVAL"),
                                       ("prohibit", "EACCES"), ("throw", "ENETUNREACH"))):
        dst = f"fd6{i}::/48"
        C.ip("-6", "route", "add", kind, dst, "metric", "33", "proto", "bird")
        shown = ip("route", "show", dst)
        ktap.equal([(r["type"], r["dev"], r["metric"], r["protocol"]) for r in shown],
                   [(kind, "lo", 33, "bird")], kind)
        with C, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            ktap.equal(ktap.failing(sock.connect, (f"fd6{i}::1", 9)), error, kind)
            C.ip("-6", "route", "add", f"fd6{i}::1", "via", "fd20::d")
            sock.connect((f"fd6{i}::1", 9))
        C.ip("-6", "route", "del", f"fd6{i}::1")
        ktap.true("exists" in said("route", "add", dst, "via", "fd20::d", "metric", "33"),
                  "its place is taken")
        C.ip("-6", "route", "del", kind, dst)
        ktap.equal(ip("route", "show", dst), [], f"{kind} is removed")
    C.ip("-6", "route", "add", "unreachable", "default", "metric", "4294967295")
    C.ip("-6", "route", "add", "default", "via", "fd20::d")
    ktap.equal(way("2001:db8::1"), "fd20::d", "a router goes before")
    C.ip("-6", "route", "del", "default")
    with C, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        ktap.equal(ktap.failing(sock.connect, ("2001:db8::1", 9)), "EHOSTUNREACH", "without it")
    C.ip("-6", "route", "del", "unreachable", "default", "metric", "4294967295")


def default_by_device():
    """A default route without a router, as tunnels have it."""
    cables()
    C.ip("-6", "route", "add", "default", "via", "fd20::d")
    C.ip("-6", "route", "add", "default", "dev", "c1", "metric", "50")
    got = ip("route", "get", "2001:db8::1")[0]
    ktap.equal((got.get("gateway"), got["dev"]), (None, "c1"), "the lower metric")
    C.ip("-6", "route", "del", "default", "dev", "c1")
    ktap.equal(way("2001:db8::1"), "fd20::d", "the router")
    C.ip("-6", "route", "del", "default")


def forwarded_refusals():
    """A router says which kind of route it was."""
    cables()
    D.ip("-6", "route", "add", "fd70::/16", "via", "fd20::c")
    C.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
    for kind, error in (("unreachable", "ENETUNREACH"), ("prohibit", "EACCES")):
        C.ip("-6", "route", "add", kind, "fd70::/48")
        with D, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.IPPROTO_IPV6, 25, 1)		# IPV6_RECVERR
            sock.settimeout(10)
            sock.connect(("fd70::1", 9))
            sock.send(b"x")
            ktap.equal(ktap.failing(sock.recv, 1), error, kind)
        C.ip("-6", "route", "del", kind, "fd70::/48")
    C.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=0")
    D.ip("-6", "route", "del", "fd70::/16")


def tests():
    ktap.test("a route keeps its protocol")(protocols)
    ktap.test("routes of several metrics")(metrics)
    ktap.test("empty and wrong metrics")(empty_metrics)
    ktap.test("a route's mtu, hop limit and segment size")(limits)
    ktap.test("an address is changed in place")(renewals)
    ktap.test("what an address makes on-link")(prefixes)
    ktap.test("an address keeps its protocol")(protocols_of_addresses)
    ktap.test("temporary addresses of one that was set")(temporary)
    ktap.test("advertisements are handed on")(advertisements)
    ktap.test("addresses without a carrier")(carrier)
    ktap.test("routes that refuse")(refusals)
    ktap.test("a default route without a router")(default_by_device)
    ktap.test("a router that refuses")(forwarded_refusals)
