# SPDX-License-Identifier: GPL-2.0
"""IPv6 over devices whose packets have no link-layer header. ip6_native.py runs these tests on
the native stack, link_raw.py on net6: both are to give the same answers.

    [ L ] link ==== link [ R ] r1 ------ e0 [ E ]	link: tun, WireGuard, GRE, sit, PPP
      \\ l0 ---- r0 /					10.9.0.1, 10.9.0.2: what they run over

A link's ends are fd90:N::1 and fd90:N::2, behind R there is fd91::/64.
"""
import contextlib
import fcntl
import os
import select
import socket
import struct
import subprocess
import termios
import threading

import ktap
import nl

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454ca, 1, 0x1000
PPPIOCGCHAN, PPPIOCATTCHAN, PPPIOCNEWUNIT = 0x80047437, 0x40047438, 0xc004743e
PPPIOCCONNECT, PPPIOCSNPMODE, N_PPP, PPP_IPV6 = 0x4004743a, 0x4008744b, 3, 0x57
RS, RA, NS, NA, ECHO, ECHO_REPLY = 133, 134, 135, 136, 128, 129
FAR = "fd91::e"
PORT = 51820
L, R, E = map(ktap.later, "LRE")
SIOCSIFNAME, ICMP6_FILTER, IFA_F_TENTATIVE = 0x8923, 1, 0x40
POINT_TO_POINT = ("gre9", "sit9", "ppp9")
TUNS = {}		# file descriptors of tun devices, each with where its packets go
NEXT = iter(range(1, 100))
MADE = []


def need(*modules):
    modules = [module for module in modules if not os.path.isdir(f"/sys/module/{module}")]
    if modules and subprocess.run(["modprobe", "-q", "-a", *modules], check=False).returncode and \
            not ktap.CHECKING:
        raise ktap.Skip(f"no modules {modules}")


def tun(ns, name):
    try:
        with ns:
            fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise ktap.Skip("no tun devices") from error
    with ns:
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("=16sH14x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def addresses(ns, dev):
    """Those that can be used."""
    with ns, open("/proc/thread-self/net/if_inet6", encoding="ascii") as file:
        lines = [line.split() for line in file]
    return [text(bytes.fromhex(words[0])) for words in lines
            if words[5] == dev and not int(words[4], 16) & IFA_F_TENTATIVE]


def devices(ns):
    with ns:
        return [name for _, name in socket.if_nameindex()]


def linklocal(ns, dev):
    return next((a for a in addresses(ns, dev) if a.startswith("fe80:")), None)


@contextlib.contextmanager
def echo(ns, to, size, *kinds):
    """A socket that has sent an echo request, and hears of such ICMPv6 types. A program that is
    started costs a slow guest more.
    """
    passed = sum(1 << kind for kind in kinds)
    body = os.urandom(size)
    with ns, socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as sock:
        sock.setsockopt(socket.IPPROTO_ICMPV6, ICMP6_FILTER,
                        (~passed & (1 << 256) - 1).to_bytes(32, "little"))
        sock.settimeout(5 * ktap.SCALE)
        name = socket.getaddrinfo(to, None, socket.AF_INET6, socket.SOCK_DGRAM)[0][4]
        sock.sendto(bytes((ECHO, 0, 0, 0)) + body, name)
        yield sock, body


def ping(ns, to, size=60):
    with echo(ns, to, size, ECHO_REPLY) as (sock, body):
        while sock.recv(65536)[4:] != body:
            pass


def checksum(saddr, daddr, body, proto=socket.IPPROTO_ICMPV6):
    data = saddr + daddr + struct.pack("!II", len(body), proto) + body + bytes(len(body) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def icmp(saddr, daddr, kind, body, hops=255):
    """A whole packet; the type's rest comes in body."""
    saddr, daddr = nl.address(saddr), nl.address(daddr)
    message = bytes((kind, 0, 0, 0)) + body
    message = message[:2] + struct.pack("!H", checksum(saddr, daddr, message)) + message[4:]
    return struct.pack("!IHBB", 6 << 28, len(message), socket.IPPROTO_ICMPV6, hops) + \
        saddr + daddr + message


def text(packed):
    return socket.inet_ntop(socket.AF_INET6, packed)


class Program:
    """What a program at the other end of a tun device reads: (source, destination, header, type).
    """

    def __init__(self, fd):
        self.fd = fd
        self.kinds = []

    def packets(self, seconds=15):
        while True:
            if not select.select([self.fd], [], [], seconds * ktap.SCALE)[0]:
                raise ktap.Fail(f"no more packets; ICMPv6 types before: {self.kinds}")
            data = os.read(self.fd, 65536)
            ktap.equal(data[0] >> 4, 6, "an IPv6 packet, with nothing in front")
            if data[6] == socket.IPPROTO_ICMPV6:
                self.kinds.append(data[40])
            yield text(data[8:24]), text(data[24:40]), data[6], data[40]

    def until(self, header, kind=None):
        for saddr, daddr, got, first in self.packets():
            if got == header and kind in (None, first):
                return saddr, daddr
        return None


def a_program():
    """A VPN's daemon: a router that advertises, echoes, a datagram. Nobody is ever resolved."""
    need("tun")
    ns = ktap.Netns("T")
    peer = Program(tun(ns, "tun0"))
    ktap.at_exit(os.close, peer.fd)
    ns.up("tun0")
    ktap.wait_for(15, "a link-local address", lambda: linklocal(ns, "tun0"))
    own = linklocal(ns, "tun0")
    ktap.equal(peer.until(socket.IPPROTO_ICMPV6, RS), (own, "ff02::2"), "a solicitation")
    prefix = bytes((3, 4, 64, 0xc0)) + struct.pack("!III", 3600, 3600, 0) + nl.address("fd90::")
    os.write(peer.fd, icmp("fe80::99", "ff02::1", RA, struct.pack("!BBHII", 64, 0, 1800, 0, 0) +
                           bytes((1, 1, 2, 0, 0, 0, 0, 9)) + prefix))
    ktap.wait_for(15, "an address",
                  lambda: any(a.startswith("fd90:") for a in addresses(ns, "tun0")))
    address = next(a for a in addresses(ns, "tun0") if a.startswith("fd90:"))
    ktap.true("via fe80::99 dev tun0" in ns.run("ip", "-6", "route", "show", "default"), "router")
    os.write(peer.fd, icmp("2001:db8::9", address, ECHO, b"\0\1\0\1words", 64))
    ktap.equal(peer.until(socket.IPPROTO_ICMPV6, ECHO_REPLY), (address, "2001:db8::9"), "echo")
    with ns, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"words", ("2001:db8::7", 9))
        ktap.equal(peer.until(socket.IPPROTO_UDP), (address, "2001:db8::7"), "to the router")
        sock.sendto(b"words", ("fd90::7", 9))
        ktap.equal(peer.until(socket.IPPROTO_UDP), (address, "fd90::7"), "on the link")
    os.write(peer.fd, icmp("fe80::99", own, NS, bytes(4) + nl.address(own)))
    ktap.equal(peer.until(socket.IPPROTO_ICMPV6, NA), (own, "fe80::99"), "who asks is answered")
    ktap.true(NS not in peer.kinds, f"nobody is asked: {peer.kinds}")
    # Native's for this destination, or net6's for all that are reached directly.
    shown = ns.ip("-6", "neigh", "show", "nud", "noarp")
    ktap.true("fd90::7 dev tun0" in shown or "\n:: dev tun0" in f"\n{shown}", "a neighbor")
    ns.ip("link", "set", "tun0", "mtu", "1279")
    with ns, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        ktap.true(ktap.failing(sock.sendto, b"x", ("2001:db8::7", 9)) in
                  ("ENETUNREACH", "EADDRNOTAVAIL"), "below 1280 octets there is no IPv6")


def batch(ns, *lines):
    """Commands of ip(8), for the price of one."""
    ktap.run("ip", "-n", ns.name, "-batch", "-", input="\n".join(lines))


def world():
    """What is between the three namespaces, made by the first test that wants it."""
    if MADE:
        return
    MADE.append(True)
    need("veth")
    ktap.veth(L, "l0", R, "r0")
    ktap.veth(R, "r1", E, "e0")
    batch(L, "addr add 10.9.0.1/24 dev l0")
    batch(R, "addr add 10.9.0.2/24 dev r0", "addr add fd91::1/64 dev r1 nodad")
    batch(E, f"addr add {FAR}/64 dev e0 nodad", "route add default via fd91::1")
    with R, open("/proc/sys/net/ipv6/conf/all/forwarding", "w", encoding="ascii") as file:
        file.write("1")
    for ns, dev in ((R, "r1"), (E, "e0")):
        ktap.wait_for(15, "link-local address", lambda n=ns, d=dev: linklocal(n, d))


def open_connections(ns):
    """Those whose ends do not agree yet that it is over."""
    with ns, open("/proc/thread-self/net/tcp6", encoding="ascii") as file:
        return [line for line in file.readlines()[1:] if line.split()[3] not in ("06", "0A")]


def stream(server, to, size=100000):
    """So many octets arrive by TCP."""
    with server, socket.create_server((to, 0), family=socket.AF_INET6) as listener:
        with L, socket.socket(socket.AF_INET6) as client:
            client.settimeout(20 * ktap.SCALE)
            client.connect((to, listener.getsockname()[1]))
            accepted = listener.accept()[0]
            data = os.urandom(size)
            sender = threading.Thread(target=client.sendall, args=(data,))
            sender.start()
            with accepted:
                accepted.settimeout(20 * ktap.SCALE)
                ktap.true(ktap.take(accepted, size) == data, "what arrives")
            sender.join()
    for ns in (server, L):
        ktap.wait_for(15, "the connection's end", lambda n=ns: not open_connections(n))


def comes_back(net):
    """RFC 4443 3.1: to the other end's subnet, and nobody has the address. Code 3 is "Address
    unreachable"; native sends it to and fro.
    """
    with echo(L, net + "77", 60, 1) as (sock, _):
        data, source = sock.recvfrom(65536)
        ktap.equal((source[0], *data[:2]), (net + "2", 1, 3), "a packet that would come back")


def carries(dev, local, forms=True):
    """Both ways over a link that there is, through R to an Ethernet, and after a time down.
    @local: the ends' link-local addresses, if others give them.
    """
    net = f"fd90:{next(NEXT)}::"

    def address():
        for ns, end in ((L, 1), (R, 2)):
            ns.up(dev)
            lines = [f"addr replace {net}{end}/64 dev {dev}"]
            if local:
                lines.append(f"addr replace {local[end - 1]} peer {local[2 - end]} dev {dev}")
            if ns == L:
                lines.append(f"route replace fd91::/64 dev {dev}")
            batch(ns, *lines)
            ktap.wait_for(15, "addresses", lambda n=ns: len(addresses(n, dev)) ==
                          1 + (forms or bool(local)))
    address()
    ktap.equal(bool(linklocal(L, dev)), forms or bool(local), f"a link-local address of {dev}")
    ping(L, net + "2")
    ping(R, net + "1")
    if linklocal(R, dev):
        ping(L, linklocal(R, dev) + "%" + dev)
    ping(L, net + "2", 3000)
    if dev in POINT_TO_POINT and os.path.isdir("/sys/module/net6"):
        comes_back(net)
    with L, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.connect((FAR, 9))
        ktap.equal(sock.getsockname()[0], net + "1", "the source, of the route's device")
    ping(L, FAR)
    stream(R, net + "2")
    stream(E, FAR)
    L.down(dev)
    with L, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        ktap.equal(ktap.failing(sock.connect, (FAR, 9)), "ENETUNREACH", "while it is down")
    ktap.equal(addresses(L, dev), [], "addresses of a device that is down")
    R.down(dev)
    address()
    ping(L, net + "2")


def gone(dev):
    """One end goes. The other's namespace has it until its own end."""
    L.ip("link", "del", dev)
    with L, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        ktap.equal(ktap.failing(sock.connect, (FAR, 9)), "ENETUNREACH", "it is gone")


def pump():
    """Carries packets between tun devices until there are none."""
    while TUNS:
        for fd in select.select(list(TUNS), [], [], 0.2)[0]:
            try:
                os.write(TUNS[fd], os.read(fd, 65536))
            except (OSError, KeyError):
                pass


def two_tuns():
    need("tun")
    world()
    left, right = tun(L, "tun9"), tun(R, "tun9")
    TUNS.update({left: right, right: left})
    thread = threading.Thread(target=pump, daemon=True)
    thread.start()
    carries("tun9", None)
    gone("tun9")
    TUNS.clear()
    thread.join()
    os.close(left)
    os.close(right)


def tunnels():
    """The kernel's own over IPv4, to one peer."""
    world()
    for module, kind in (("ip_gre", "gre"), ("sit", "sit")):
        try:
            need(module)
            for ns, own, peer in ((L, 1, 2), (R, 2, 1)):
                ns.ip("link", "add", f"{kind}9", "type", kind, "local", f"10.9.0.{own}",
                      "remote", f"10.9.0.{peer}", "ttl", "64")
        except (ktap.Skip, ktap.Fail):
            if kind == "gre":
                raise
            ktap.diag(f"no {kind} here")
            continue
        carries(f"{kind}9", None)
        gone(f"{kind}9")


def wireguard_keys(ns, dev):
    """A private key is set, the public one is told."""
    with ns:
        family = nl.Family("wireguard")
    name = nl.attribute(2, dev.encode() + b"\0")
    family.request(1, name + nl.attribute(3, os.urandom(32)) + nl.attribute(6, struct.pack("=H", PORT)))
    for _, payload in family.request(0, name, nl.DUMP):
        return family, dict(nl.attributes(payload[4:]))[4]
    raise ktap.Fail("no such device")


def wireguard_peer(family, dev, key, endpoint, inside=("::",)):
    """@endpoint: an address, or None: it calls first. @inside: what comes from it, all of "::"."""
    def nested(kind, data):
        return nl.attribute(kind | 0x8000, data)

    def sockaddr(address):
        if ":" in address:
            return struct.pack("=H", socket.AF_INET6) + struct.pack("!HI", PORT, 0) + \
                nl.address(address) + bytes(4)
        return struct.pack("=H", socket.AF_INET) + struct.pack("!H", PORT) + \
            socket.inet_aton(address) + bytes(8)
    networks = b"".join(nested(0, nl.attribute(1, struct.pack(
        "=H", socket.AF_INET6 if ":" in net else socket.AF_INET)) +
        nl.attribute(2, nl.address(net) if ":" in net else socket.inet_aton(net)) +
        nl.attribute(3, b"\0")) for net in inside)
    where = nl.attribute(4, sockaddr(endpoint)) if endpoint else b""
    family.request(1, nl.attribute(2, dev.encode() + b"\0") + nested(8, nested(
        0, nl.attribute(1, key) + where + nested(9, networks))))
    family.close()


def wireguard():
    need("wireguard")
    world()
    ends = []
    for ns in (L, R):
        ns.ip("link", "add", "wg9", "type", "wireguard")
        ends.append(wireguard_keys(ns, "wg9"))
    wireguard_peer(ends[0][0], "wg9", ends[1][1], "10.9.0.2")
    wireguard_peer(ends[1][0], "wg9", ends[0][1], "10.9.0.1")
    carries("wg9", None, forms=False)
    gone("wg9")


def ppp_end(ns, name):
    """What pppd does with a line once both sides agree. Its files, the line's other end first."""
    master, slave = os.openpty()
    modes = termios.tcgetattr(slave)
    for i in range(4):
        modes[i] = 0
    modes[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    with ns:
        fcntl.ioctl(slave, termios.TIOCSETD, struct.pack("=i", N_PPP))
        channel = fcntl.ioctl(slave, PPPIOCGCHAN, bytes(4))
        line, unit = os.open("/dev/ppp", os.O_RDWR), os.open("/dev/ppp", os.O_RDWR)
        fcntl.ioctl(line, PPPIOCATTCHAN, channel)
        number = fcntl.ioctl(unit, PPPIOCNEWUNIT, struct.pack("=i", -1))
        fcntl.ioctl(line, PPPIOCCONNECT, number)
        fcntl.ioctl(unit, PPPIOCSNPMODE, struct.pack("=ii", PPP_IPV6, 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            fcntl.ioctl(sock, SIOCSIFNAME, struct.pack(
                "=16s16s8x", b"ppp%d" % struct.unpack("=i", number), name.encode()))
    return master, slave, line, unit


def ppp():
    """Over a serial line: two pseudo-terminals and a program that carries octets."""
    need("ppp_generic", "ppp_async")
    world()
    try:
        ends = [ppp_end(ns, "ppp9") for ns in (L, R)]
    except OSError as error:
        raise ktap.Skip(f"no PPP over a terminal: {error}") from error
    TUNS.update({ends[0][0]: ends[1][0], ends[1][0]: ends[0][0]})
    thread = threading.Thread(target=pump, daemon=True)
    thread.start()
    carries("ppp9", ("fe80::1:2", "fe80::3:4"), forms=False)
    TUNS.clear()
    thread.join()
    for fd in (fd for end in ends for fd in reversed(end)):
        os.close(fd)
    ktap.wait_for(10, "the device goes with its file",
                  lambda: "ppp9" not in devices(L))


def tests():
    ktap.test("a program at the end of a tun device")(a_program)
    ktap.test("two tun devices")(two_tuns)
    ktap.test("GRE and sit over IPv4")(tunnels)
    ktap.test("WireGuard over IPv4")(wireguard)
    ktap.test("PPP over a terminal")(ppp)
