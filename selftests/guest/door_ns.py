#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What the root of a user namespace reaches of the kernel's IPv6 by modules that make UDP tunnels
# or devices, where net6 is the host's only one: AMT, bareudp, TIPC, WireGuard, FOU's encapsulation,
# L2TP and PPP over it, VXLAN's proxy, GTP. Each works, or is refused, or comes up and carries
# nothing; and all of it goes with the namespace.
#
#	[ a network namespace of a user namespace ]
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 120
import os
import socket
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import l2tp

UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c")
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def setup():
    ktap.net6_load()
    ktap.run("ip", "link", "set", "lo", "up")
    subprocess.run(["modprobe", "-q", "-a", "inet_diag", "tcp_diag"], check=False)


def as_root(*lines):
    """Commands of a user namespace's root; what they say, and how the last one ends."""
    script = "ip link set lo up; ip -6 addr add fd00::1/64 dev lo; " + "; ".join(lines)
    # A chroot makes no user namespaces.
    done = subprocess.run(("chroot", "/proc/1/root") + NOBODY + UNSHARE + (script,), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env=dict(os.environ, PATH="/usr/sbin:/usr/bin:/sbin:/bin"))
    ktap.diag(f"{lines[-1][:80]}: {done.returncode} {done.stdout.strip()[-300:]}")
    return done.returncode, done.stdout


def comes_up(*lines):
    status, out = as_root(*lines)
    ktap.equal(status, 0, f"{lines[-1]}: {out}")


@ktap.test
def there_is_a_root():
    comes_up("ip -6 addr show dev lo | grep -q fd00::1")


@ktap.test
def bareudp_comes_up():
    """It asks whether native IPv6 is on, and net6 answers."""
    ktap.native_asks_nobody()
    ktap.need("bareudp")
    comes_up("ip link add b0 type bareudp dstport 7000 ethertype ipv6", "ip link set b0 up",
             "grep -q ':1B58 ' /proc/net/udp6")


@ktap.test
def amt():
    ktap.need("amt")
    comes_up("ip link add a0 type amt mode relay local 127.0.0.1 dev lo relay_port 2268 max_tunnels 4",
             "ip link set a0 up")


@ktap.test
def a_bearer_of_tipc():
    ktap.need("tipc")
    for address in ("fd00::1", "127.0.0.1")[ktap.KERNEL >= (7, 1):]:
        comes_up(f"tipc node set identity 2; tipc bearer enable media udp name U localip {address}")
    status, out = as_root("tipc node set identity 1 2>&1; tipc bearer enable media udp name U "
                          "localip fd00::77")
    ktap.true(status or "rror" in out, f"an address that is not there: {out}")


@ktap.test
def a_tunnel_of_a_user_namespace_s_root():
    ktap.native_asks_nobody()
    ktap.need("wireguard", "vxlan")
    comes_up("ip link add w0 type wireguard", "ip link set w0 up",
             "ip -6 addr add fd00:7::1/64 dev w0", "ip link show w0")
    comes_up("ip link add t0 type ip6tnl mode any remote fd00::2 local fd00::1",
             "ip link set t0 up", "ip -6 addr add fd00:9::1/64 dev t0",
             "ping -6 -c 3 -i 0.2 -W 1 fd00:9::2; ip link set t0 type ip6tnl hoplimit 3; "
             "ip -d link show t0")
    comes_up("ip link add x0 type vxlan id 5 local fd00::1 remote fd00::1 dstport 4799",
             "ip link set x0 up", "ip -6 addr add fd00:8::1/64 dev x0",
             "ping -6 -c 3 -i 0.2 -W 1 fd00:8::2; ping -6 -c 1 fd00::1")


@ktap.test
def tunnels_of_ip_in_udp():
    ktap.need("fou")
    for module in "ip_gre", "ip6_gre", "sit":
        subprocess.run(["modprobe", "-q", module], check=False)
    for kind in ("ip6tnl external", "ip6tnl remote fd00::2 local fd00::1 encap fou",
                 "ip6gre remote fd00::2 local fd00::1", "vti6 remote fd00::2 local fd00::1"):
        status, out = as_root(f"ip link add t0 type {kind}")
        ktap.true(status, f"{kind}: {out}")
    ktap.native_asks_nobody()
    # What comes is dropped: a packet for IPv6 itself, in one, in one.
    code = ("import socket, struct\n"
            "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
            "for n in range(1, 40): s.sendto(struct.pack('!HHHH', 7103, 7103, 8, 0) * n, "
            "('fd00::1', 7103))\n")
    comes_up("modprobe -q fou6; ip fou add port 7103 ipproto 17 -6", f'python3 -c "{code}"',
             "ping -6 -c 1 fd00::1")


@ktap.test
def vxlan_s_own_answers_to_solicitations():
    """proxy, l2miss and l3miss ask native's neighbors about what is in the tunnel."""
    ktap.need("vxlan")
    comes_up("ip link add x0 type vxlan id 5 local 127.0.0.1 dstport 4799 proxy l2miss l3miss rsc",
             "ip link set x0 up", "ip -6 addr add fd00:8::1/64 dev x0",
             "ping -6 -c 1 -W 1 fd00:8::2; true")


@ktap.test
def tunnels_of_l2tp_s_own():
    ktap.need("l2tp_ip6")
    ktap.need("l2tp_eth")
    status, _ = as_root("ip l2tp add tunnel tunnel_id 1 peer_tunnel_id 1 encap ip local fd00::1 "
                        "remote fd00::2")
    ktap.true(status, "over IPv6 itself")


@ktap.test
def ppp_over_l2tp_gets_no_socket():
    """A program's UDP socket of IPv6, bound, connected or neither."""
    ktap.need("l2tp_ppp")
    for prepare in (lambda s: None, lambda s: s.bind(("::1", 0)),
                    lambda s: s.connect(("::1", 7104))):
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as udp:
            prepare(udp)
            ktap.equal(l2tp.connect(udp), "EBUSY", "connect()")


@ktap.test
def encapsulation_that_a_program_asks_for():
    """UDP_ENCAP: ESP in UDP twice, L2TP, GTP (two versions), RxRPC, UDP's own"""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as udp:
        for kind in range(0, 9):
            ktap.equal(ktap.failing(udp.setsockopt, socket.IPPROTO_UDP, 100, kind), "ENOPROTOOPT",
                       f"kind {kind}")


@ktap.test
def policies_of_ipsec():
    """A program's own for its socket (IPV6_XFRM_POLICY), and a namespace's root's."""
    subprocess.run(["modprobe", "-q", "-a", "xfrm_user", "esp6"], check=False)
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as udp:
        seen = ktap.failing(udp.setsockopt, socket.IPPROTO_IPV6, 35, bytes(168))
        ktap.true(seen in ("ENOPROTOOPT", "EOPNOTSUPP", "ENOTSUP", "EPERM"), seen)
    as_root("ip xfrm policy add src fd00::1/128 dst fd00::2/128 dir out tmpl src fd00::1 dst "
            "fd00::2 proto esp mode transport",
            "ip xfrm state add src fd00::1 dst fd00::2 proto esp spi 5 mode transport enc "
            "'cbc(aes)' 0x00000000000000000000000000000000 ",
            "ping -6 -c 1 -W 1 fd00::1")


@ktap.test
def multicast_routing_and_labels():
    """Sockets and netlink of native's other parts."""
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as raw:
        # MRT6_INIT
        seen = ktap.failing(raw.setsockopt, socket.IPPROTO_IPV6, 200, 1)
        ktap.true(seen in ("ENOPROTOOPT", "EOPNOTSUPP", "ENOTSUP"), seen)
    as_root(*[f"{line} || :" for line in (
        "ip -6 mroute show", "ip -6 rule add from fd00::/64 table 5",
        "ip -6 rule show", "ip sr tunsrc set fd00::1", "ip ioam namespace add 1",
        "ip -6 maddr show", "ip -6 tunnel show", "ip -6 token list", "ip -6 netconf show",
        "ip -6 ntable show", "ip -6 monitor --help")])


@ktap.test
def sysctls_of_a_user_namespace():
    """Those that are there can be read, all of them."""
    code = ("import os, sys\n"
            "count = 0\n"
            "for top in '/proc/sys/net', '/proc/self/net':\n"
            "    for folder, _, names in os.walk(top):\n"
            "        for name in names:\n"
            "            try:\n"
            "                fd = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)\n"
            "                count += len(os.read(fd, 100000)) > 0\n"
            "                os.close(fd)\n"
            "            except OSError:\n"
            "                pass\n"
            "sys.exit(count < 100)\n")
    comes_up(f'python3 -c "{code}"')


ktap.main(setup=setup)
