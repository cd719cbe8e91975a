# SPDX-License-Identifier: GPL-2.0
"""The kernel's tunnels over UDP and IPv6. ip6_native.py runs these tests on the native stack,
udp_tunnels.py on net6: both are to give the same answers.

    [ A ] a0 ---- r0 [ R ] r1 ==== b0 [ B ]	==== carries 1400 octets
      \\_______________ t0 ______________/

a0 is fd92:1::1, r0 fd92:1::2, r1 fd92:2::2, b0 fd92:2::1. Inside of a tunnel A is fd93::1 and
10.93.0.1, B ::2 and .2.
"""
import contextlib
import errno
import re
import socket
import subprocess
import threading

import ktap
import nft
import nl
import rawlinks

A, R, B = (ktap.later(f"udp-{name}") for name in "ARB")
OUTER = {A: "fd92:1::1", R: "fd92:1::2", B: "fd92:2::1"}
NARROW = 1400
IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO = 23, 2
MADE = []

# What is made at an end, of its own and its peer's address.
KINDS = {
    "VXLAN": ("vxlan", "vxlan id 7 local {own} remote {peer} dstport 4789"),
    "VXLAN without checksums": ("vxlan", "vxlan id 7 local {own} remote {peer} dstport 4789 "
                                "udp6zerocsumtx udp6zerocsumrx"),
    "GENEVE": ("geneve", "geneve id 7 remote {peer} dstport 6081"),
    "GENEVE without checksums": ("geneve", "geneve id 7 remote {peer} dstport 6081 "
                                 "udp6zerocsumtx udp6zerocsumrx"),
}


def world():
    """What tunnels go over, made by the first test that wants it."""
    if MADE:
        return
    MADE.append(True)
    ktap.veth(A, "a0", R, "r0")
    ktap.veth(R, "r1", B, "b0")
    rawlinks.batch(A, "addr add fd92:1::1/64 dev a0 nodad", "route add default via fd92:1::2")
    rawlinks.batch(R, "addr add fd92:1::2/64 dev r0 nodad", "addr add fd92:2::2/64 dev r1 nodad",
                   f"link set r1 mtu {NARROW}")
    rawlinks.batch(B, "addr add fd92:2::1/64 dev b0 nodad",
                   f"link set b0 mtu {NARROW}", "route add default via fd92:2::2")
    with R, open("/proc/sys/net/ipv6/conf/all/forwarding", "w", encoding="ascii") as file:
        file.write("1")
    for ns, dev in ((A, "a0"), (R, "r0"), (R, "r1"), (B, "b0")):
        ktap.wait_for(15, "link-local address", lambda n=ns, d=dev: rawlinks.linklocal(n, d))


def transfer(client, server, to, size=200000):
    """A connection carries octets; returns its peer's address as the server sees it."""
    family = socket.AF_INET6 if ":" in to else socket.AF_INET
    with server:
        listener = socket.create_server((to, 0), family=family)
    got = []

    def serve():
        conn, peer = listener.accept()
        with conn:
            total = 0
            while data := conn.recv(65536):
                total += len(data)
            got.extend((total, peer[0]))
            conn.sendall(b"yes")
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with client, socket.create_connection((to, listener.getsockname()[1]),
                                          timeout=60 * ktap.SCALE) as sock:
        sock.sendall(bytes(size))
        sock.shutdown(socket.SHUT_WR)
        ktap.equal(sock.recv(10), b"yes", "what comes back")
    thread.join()
    listener.close()
    ktap.equal(got[0], size, "octets")
    return got[1]


def inside(ns, number, mtu, dev="t0"):
    """An end's addresses."""
    lines = [f"link set {dev} up", f"addr add fd93::{number}/64 dev {dev} nodad",
             f"addr add 10.93.0.{number}/24 dev {dev}"]
    rawlinks.batch(ns, *([f"link set {dev} mtu {mtu}"] if mtu else []), *lines)


def carries(first=A, second=B):
    """Both ways."""
    rawlinks.ping(first, "fd93::2")
    rawlinks.ping(second, "fd93::1", 1000)
    for to in ("fd93::2", "10.93.0.2"):
        transfer(first, second, to)
    transfer(second, first, "fd93::1")


def ends(words, first=A, second=B, mtu=1300):
    for ns, peer, number in ((first, second, 1), (second, first, 2)):
        kind = words.format(own=OUTER[ns], peer=OUTER[peer])
        ns.ip("link", "add", "t0", "type", *kind.split())
        inside(ns, number, mtu)


def clean():
    """What a test before left behind."""
    world()
    for ns in (A, R, B):
        if "t0" in rawlinks.devices(ns):
            ns.ip("link", "del", "t0")


def gone(*namespaces):
    for ns in namespaces:
        ns.ip("link", "del", "t0")


def kind_carries(name):
    module, words = KINDS[name]
    ktap.need(module)
    clean()
    ends(words)
    carries()
    gone(A, B)


def told(ns, to):
    """The path's MTU that ip route get tells."""
    found = re.search(r" mtu (\d+)", ns.ip("-6", "route", "get", to))
    return int(found[1]) if found else None


def learned(ns):
    return ns.ip("-6", "-o", "route", "show", "cache").splitlines()


@contextlib.contextmanager
def narrow_tunnel():
    """Its packets are as large as the first link takes, not the second. Inside fit 1330 octets."""
    ktap.need("vxlan")
    clean()
    ends(KINDS["VXLAN"][1], mtu=1430)
    yield
    gone(A, B)


def path_mtu():
    """A router says that a tunnel's packet is too big, and quotes it. The tunnel tells who sends."""
    with narrow_tunnel():
        for to in ("10.93.0.2", "fd93::2"):
            transfer(A, B, to)
        ktap.equal(told(A, "fd93::2"), NARROW - 70, "the path's MTU in the tunnel")


def send_large(ns, to):
    """Datagrams that are not to be fragmented, until one is too large for the path."""
    with ns, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO)
        sock.connect((to, 9))

        def refused():
            try:
                sock.send(bytes(1370))
            except OSError as error:
                return error.errno == errno.EMSGSIZE
            return False
        ktap.wait_for(15, "a datagram is too large", refused)


def path_mtu_of_the_link():
    """The path's MTU grows with the own link's once that was the narrowest."""
    with narrow_tunnel():
        ktap.equal(told(A, "fd93::2"), None, "before")
        send_large(A, "fd93::2")
        for mtu, path in ((1430, 1330), (1320, 1320), (1400, 1400), (1430, 1430)):
            A.ip("link", "set", "t0", "mtu", str(mtu))
            ktap.equal(told(A, "fd93::2"), path, f"by a link of {mtu}")
        send_large(A, "fd93::2")
        ktap.equal(told(A, "fd93::2"), 1330, "learned again")


def path_mtu_forgotten():
    """What was learned of destinations is listed, and flushed."""
    with narrow_tunnel():
        A.ip("-6", "route", "flush", "cache")
        send_large(A, "fd93::2")
        # What is outside of the tunnel has been learned of, too.
        for to, mtu in (("fd93::2", 1330), (OUTER[B], NARROW)):
            lines = [line for line in learned(A) if line.startswith(to + " ")]
            ktap.equal(len(lines), 1, f"cached routes to {to}")
            ktap.true(f" mtu {mtu} " in lines[0], lines[0])
        ktap.equal(len(learned(A)), 2, "cached routes")
        A.ip("-6", "route", "flush", "cache")
        ktap.equal(learned(A), [], "when it is flushed")
        ktap.equal(told(A, "fd93::2"), None, "forgotten")


def group():
    """Peers find each other by a group."""
    ktap.need("vxlan")
    clean()
    for ns, dev, number in ((A, "a0", 1), (R, "r0", 2)):
        ns.ip("link", "add", "t0", "type", "vxlan", "id", "8", "group", "ff05::77", "dev", dev,
              "dstport", "4790")
        inside(ns, number, None)
    carries(A, R)
    gone(A, R)


def wireguard_endpoint(family, dev):
    """The only peer's, as an IPv6 address."""
    for _, payload in family.request(0, nl.attribute(2, dev.encode() + b"\0"), nl.DUMP):
        for kind, peers in nl.attributes(payload[4:]):
            if kind & 0x7fff != 8:
                continue
            for _, peer in nl.attributes(peers):
                where = dict((k & 0x7fff, v) for k, v in nl.attributes(peer)).get(4)
                if where:
                    return rawlinks.text(where[8:24])
    return None


def wireguard():
    """Answers come from the address that was talked to, which is B's second one."""
    rawlinks.need("wireguard")
    clean()
    second = "fd92:2::9"
    B.ip("addr", "add", second + "/64", "dev", "b0", "nodad")
    keys = []
    for ns, number in ((A, 1), (B, 2)):
        ns.ip("link", "add", "t0", "type", "wireguard")
        keys.append(rawlinks.wireguard_keys(ns, "t0"))
    rawlinks.wireguard_peer(keys[0][0], "t0", keys[1][1], second, ("::", "0.0.0.0"))
    rawlinks.wireguard_peer(keys[1][0], "t0", keys[0][1], None, ("::", "0.0.0.0"))
    for ns, number in ((A, 1), (B, 2)):
        inside(ns, number, 1300)
    carries()
    for ns, address in ((A, second), (B, OUTER[A])):
        with ns:
            family = nl.Family("wireguard")
        ktap.equal(wireguard_endpoint(family, "t0"), address, "the peer's address")
        family.close()
    # Larger than the path: in fragments, which the tunnel asks for.
    for ns in (A, B):
        ns.ip("link", "set", "t0", "mtu", "1420")
    carries()
    gone(A, B)
    B.ip("addr", "del", second + "/64", "dev", "b0")


def bareudp():
    """IPv4 by routes that say where the tunnel's other end is."""
    ktap.need("bareudp")
    clean()
    for ns, peer, number in ((A, B, 1), (B, A, 2)):
        ns.ip("link", "add", "t0", "type", "bareudp", "dstport", "6635", "ethertype", "ipv4")
        inside(ns, number, 1300)
        ns.ip("route", "add", f"10.93.0.{3 - number}/32", "encap", "ip6", "id", "0", "src",
              OUTER[ns], "dst", OUTER[peer], "hoplimit", "9", "dev", "t0")
    transfer(A, B, "10.93.0.2")
    transfer(B, A, "10.93.0.1")
    gone(A, B)


def l2tp():
    ktap.need("l2tp_eth")
    clean()
    for ns, peer, number in ((A, B, 1), (B, A, 2)):
        ns.ip("l2tp", "add", "tunnel", "tunnel_id", "5", "peer_tunnel_id", "5", "encap", "udp",
              "local", OUTER[ns], "remote", OUTER[peer], "udp_sport", "7101",
              "udp_dport", "7101", "udp6_csum_tx", "on", "udp6_csum_rx", "on")
        ns.ip("l2tp", "add", "session", "name", "t0", "tunnel_id", "5", "session_id", "6",
              "peer_session_id", "6")
        inside(ns, number, 1300)
    carries()
    for ns in (A, B):
        ns.ip("l2tp", "del", "tunnel", "tunnel_id", "5")


def tipc():
    """Two nodes find each other, and there is a link between them."""
    ktap.need("tipc")
    clean()
    for ns, peer, number in ((A, B, 1), (B, A, 2)):
        ns.run("tipc", "node", "set", "identity", str(number))
        ns.run("tipc", "bearer", "enable", "media", "udp", "name", "U", "localip", OUTER[ns],
               "remoteip", OUTER[peer])
    ktap.wait_for(30, "a link", lambda: ": up" in A.run("tipc", "link", "list").split("\n", 1)[1])
    for ns in (A, B):
        ns.run("tipc", "bearer", "disable", "media", "udp", "name", "U")


def reset_peer():
    """Nobody listens at the other end: the tunnel is told, and goes on."""
    ktap.need("vxlan")
    clean()
    A.ip("link", "add", "t0", "type", *KINDS["VXLAN"][1].format(own=OUTER[A],
                                                                 peer=OUTER[B]).split())
    inside(A, 1, 1300)
    with A, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        for _ in range(20):
            sock.sendto(b"words", ("fd93::2", 9))
    B.ip("link", "add", "t0", "type", *KINDS["VXLAN"][1].format(own=OUTER[B],
                                                                 peer=OUTER[A]).split())
    inside(B, 2, 1300)
    carries()
    gone(A, B)


def rules():
    """netfilter sees a tunnel's packets at the usual hooks, and may change their source."""
    rawlinks.need("vxlan", "nf_tables")
    clean()
    ends(KINDS["VXLAN"][1])
    hooks = ("output", "postrouting", "input")
    with nft.Rules(A, nft.table(*(nft.chain(hook, "udp dport 4789 counter") for hook in hooks))) \
            as seen:
        carries()
        for hook in hooks:
            ktap.true(seen.packets(hook) > 20, f"{hook}: {seen.packets(hook)}")
    gone(A, B)
    # B knows A by another address, which only the rule makes.
    own, peer = OUTER[A], OUTER[B]
    A.ip("addr", "add", "fd92:1::7/64", "dev", "a0", "nodad")
    A.ip("link", "add", "t0", "type", *f"geneve id 7 remote {peer} dstport 6081".split())
    B.ip("link", "add", "t0", "type", *f"geneve id 7 remote {own[:-1]}7 dstport 6081".split())
    for ns, number in ((A, 1), (B, 2)):
        inside(ns, number, 1300)
    snat = nft.chain("postrouting", "udp dport 6081 snat to fd92:1::7", "100", "nat")
    with nft.Rules(A, nft.table(snat).replace("inet t", "ip6 t")):
        rawlinks.ping(A, "fd93::2")
    gone(A, B)
    A.ip("addr", "del", "fd92:1::7/64", "dev", "a0")


def programs_see_the_ports():
    """A tunnel's port is taken; it is its own, whatever a program asks for."""
    ktap.need("vxlan")
    clean()
    ends(KINDS["VXLAN"][1])
    with A, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ktap.equal(ktap.failing(sock.bind, ("::", 4789)), "EADDRINUSE", "bind()")
        with open("/proc/thread-self/net/udp6", encoding="ascii") as file:
            ktap.true(":12B5 " in file.read(), "the port in /proc")
    shown = subprocess.run(("ip", "netns", "exec", A.name, "ss", "-6uan"), capture_output=True,
                           text=True, check=False).stdout
    ktap.true(":4789" in shown, f"the port in ss: {shown}")
    gone(A, B)


def tests():
    for name in KINDS:
        ktap.test(f"{name} carries")(lambda name=name: kind_carries(name))
    ktap.test("VXLAN learns the path's MTU")(path_mtu)
    ktap.test("the path's MTU and the own link's")(path_mtu_of_the_link)
    ktap.test("what is learned of paths is listed and flushed")(path_mtu_forgotten)
    ktap.test("VXLAN by a group")(group)
    ktap.test("VXLAN to a port that is closed")(reset_peer)
    ktap.test("a tunnel's port is taken")(programs_see_the_ports)
    ktap.test("rules of netfilter see a tunnel's packets")(rules)
    ktap.test("WireGuard over IPv6")(wireguard)
    ktap.test("bareudp over IPv6")(bareudp)
    ktap.test("L2TP over UDP and IPv6")(l2tp)
    ktap.test("TIPC over IPv6")(tipc)
