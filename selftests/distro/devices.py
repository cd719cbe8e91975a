# SPDX-License-Identifier: GPL-2.0
"""More of what is tried on the machine: devices, routing daemons, and programs in front of others.
Namespaces stand for other machines.
"""
import socket

from areas import test
from common import ROUTER, SERVER, addresses, answers, equal, ip, run, start, true, wait, write


def box(name, net, dev=None):
    """A namespace at the other end of a veth, or with @dev; ours has 1, it has 2 of @net."""
    run("ip", "netns", "add", name)
    run("ip", "-n", name, "link", "set", "lo", "up")
    if dev:
        run("ip", "link", "set", dev, "netns", name, "up")
        return
    run("ip", "link", "add", f"{name}0", "type", "veth", "peer", "name", f"{name}1", "netns", name)
    run("ip", "link", "set", f"{name}0", "up")
    run("ip", "-n", name, "link", "set", f"{name}1", "up")
    run("ip", "addr", "add", f"10.{net}.0.1/24", "dev", f"{name}0")
    run("ip", "-n", name, "addr", "add", f"10.{net}.0.2/24", "dev", f"{name}1")
    run("ip", "-6", "addr", "add", f"fd{net}::1/64", "dev", f"{name}0", "nodad")
    run("ip", "-n", name, "-6", "addr", "add", f"fd{net}::2/64", "dev", f"{name}1", "nodad")


def inside(name, *words):
    return run("ip", "netns", "exec", name, *words, check=False)


def pings(name, address):
    return " 0% packet loss" in inside(name, "ping", "-6", "-n", "-c1", "-W5", address)


# ---- devices ----

@test
def devices_macvlan_is_a_host_of_its_own():
    run("ip", "link", "add", "link", "eth0", "name", "mac9", "type", "macvlan", "mode", "bridge")
    box("mac", 0, "mac9")
    wait(60, "an address by advertisement", lambda: "2001:db8:a0:" in inside(
        "mac", "ip", "-6", "addr", "show", "dev", "mac9", "scope", "global", "-tentative"))
    wait(30, "the server answers it", lambda: pings("mac", SERVER))
    wait(30, "and us", lambda: answers(SERVER))
    run("ip", "netns", "del", "mac")


@test
def devices_ipvlan_is_a_host_of_its_own():
    run("ip", "link", "add", "link", "eth0", "name", "ipv9", "type", "ipvlan", "mode", "l2")
    box("ipv", 0, "ipv9")
    run("ip", "-n", "ipv", "-6", "addr", "add", "2001:db8:a0::99/64", "dev", "ipv9", "nodad")
    wait(30, "the router answers it", lambda: pings("ipv", ROUTER.format(0)))
    run("ip", "netns", "del", "ipv")


@test
def devices_bond_goes_on_without_a_port():
    box("far", 71)
    run("ip", "link", "add", "far2", "type", "veth", "peer", "name", "far3", "netns", "far")
    run("ip", "-n", "far", "link", "add", "br9", "type", "bridge")
    for dev in ("far1", "far3"):
        run("ip", "-n", "far", "link", "set", dev, "master", "br9", "up")
    run("ip", "-n", "far", "link", "set", "br9", "up")
    run("ip", "-n", "far", "-6", "addr", "add", "fd72::2/64", "dev", "br9", "nodad")
    run("ip", "link", "add", "bond9", "type", "bond", "mode", "active-backup", "miimon", "100")
    for dev in ("far0", "far2"):
        run("ip", "link", "set", dev, "down")
        run("ip", "link", "set", dev, "master", "bond9")
    run("ip", "link", "set", "bond9", "up")
    run("ip", "-6", "addr", "add", "fd72::1/64", "dev", "bond9", "nodad")
    wait(30, "by both", lambda: answers("fd72::2"))
    run("ip", "-n", "far", "link", "set", "far1", "down")
    wait(30, "by the other one", lambda: answers("fd72::2"))
    run("ip", "link", "del", "bond9")
    run("ip", "netns", "del", "far")


@test
def devices_keep_addresses_under_another_name():
    run("ip", "link", "add", "old9", "type", "dummy")
    run("ip", "link", "set", "old9", "up")
    run("ip", "-6", "addr", "add", "fd73::1/64", "dev", "old9", "nodad")
    run("ip", "link", "set", "old9", "name", "new9")
    true("fd73::1" in addresses("new9"), "it is there")
    run("ip", "link", "set", "new9", "mtu", "1400")
    run("ip", "link", "del", "new9")
    equal(ip("-6", "route", "show", "fd73::/64"), [], "nothing is left")


def wireguard(net, endpoint):
    """A tunnel between us and a box; true if IPv6 goes through."""
    keys = {}
    box("wgb", net)
    for name in ("us", "box"):
        keys[name] = run("wg", "genkey").strip()
        write(f"/run/wg.{name}", keys[name], 0o600)
    public = {name: run("wg", "pubkey", input=key).strip() for name, key in keys.items()}
    run("ip", "link", "add", "wg9", "type", "wireguard")
    run("ip", "-n", "wgb", "link", "add", "wg9", "type", "wireguard")
    try:
        run("wg", "set", "wg9", "private-key", "/run/wg.us", "listen-port", "51820", "peer",
            public["box"], "allowed-ips", "fd75::/64", "endpoint", f"{endpoint}:51821")
        run("ip", "netns", "exec", "wgb", "wg", "set", "wg9", "private-key", "/run/wg.box",
            "listen-port", "51821", "peer", public["us"], "allowed-ips", "fd75::/64")
        for words in ((), ("-n", "wgb")):
            run("ip", *words, "link", "set", "wg9", "up")
            run("ip", *words, "-6", "addr", "add", f"fd75::{1 + len(words) // 2}/64", "dev", "wg9")
        wait(30, "through the tunnel", lambda: answers("fd75::2"))
    finally:
        run("ip", "link", "del", "wg9", check=False)
        run("ip", "netns", "del", "wgb", check=False)


@test
def devices_wireguard_carries_it():
    wireguard(74, "10.74.0.2")


@test
def devices_wireguard_is_carried_by_it():
    wireguard(76, "[fd76::2]")


# ---- routing daemons ----

@test
def daemons_frr_learns_by_bgp():
    write("/etc/frr/frr.conf", f"""log file /tmp/frr.log
router bgp 65002
 bgp router-id 10.0.0.77
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 neighbor {ROUTER.format(0)} remote-as 65001
 neighbor {ROUTER.format(0)} password shared
 address-family ipv6 unicast
  neighbor {ROUTER.format(0)} activate
 exit-address-family
""")
    run("sed", "-i", "s/^bgpd=no/bgpd=yes/", "/etc/frr/daemons")
    start("frr")
    route = wait(180, "a route of frr's", lambda: ip("-6", "route", "show", "2001:db8:ba::/48"))[0]
    equal(route["protocol"], "bgp", "whose it is")
    true("nhid" in route, f"by a next hop object: {route}")
    run("systemctl", "stop", "frr")
    wait(30, "it goes with frr", lambda: not ip("-6", "route", "show", "2001:db8:ba::/48"))


@test
def daemons_keepalived_has_the_address():
    write("/etc/keepalived/keepalived.conf", """vrrp_instance V {
    state MASTER
    interface eth0
    virtual_router_id 51
    priority 200
    advert_int 1
    native_ipv6
    virtual_ipaddress { fe80::51:1/64 }
    virtual_ipaddress_excluded { 2001:db8:a0::aa/64 }
}
""")
    start("keepalived")
    wait(60, "it is the master's", lambda: "2001:db8:a0::aa" in addresses("eth0"))
    run("systemctl", "stop", "keepalived")
    wait(30, "it goes", lambda: "2001:db8:a0::aa" not in addresses("eth0"))


# ---- firewalls ----

@test
def nftables_translates_a_whole_prefix():
    box("npt", 77)
    run("ip", "-n", "npt", "-6", "route", "add", "default", "via", "fd77::1")
    run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.eth0.accept_ra=2")
    run("nft", "-f", "-", input="""table ip6 npt {
    chain out { type nat hook postrouting priority srcnat;
        oif eth0 snat ip6 prefix to ip6 saddr map { fd77::/64 : 2001:db8:a0::/64 }
    }
}
""")
    run("ip", "-6", "addr", "add", "2001:db8:a0::2/64", "dev", "eth0", "nodad")
    wait(30, "the server answers it", lambda: pings("npt", SERVER))
    run("nft", "flush", "ruleset")
    run("ip", "-6", "addr", "del", "2001:db8:a0::2/64", "dev", "eth0")
    run("ip", "netns", "del", "npt")


@test
def nftables_redirects():
    box("rdr", 78)
    start("nginx")
    run("nft", "-f", "-", input="""table ip6 red {
    chain in { type nat hook prerouting priority dstnat;
        tcp dport 81 redirect to :80
    }
}
""")
    try:
        wait(30, "the page behind it", lambda: "nginx" in inside(
            "rdr", "curl", "-sS", "-6", "--max-time", "10", "http://[fd78::1]:81/"))
    finally:
        run("nft", "flush", "ruleset")
        run("ip", "netns", "del", "rdr")


@test
def ufw_lets_in_what_it_is_told_to():
    box("ufw", 79)
    start("nginx")
    for words in (("--force", "enable"), ("allow", "proto", "tcp", "to", "any", "port", "80")):
        run("ufw", *words)
    wait(30, "a page", lambda: "nginx" in inside(
        "ufw", "curl", "-sS", "-6", "--max-time", "10", "http://[fd79::1]/"))
    true("timed out" in inside("ufw", "curl", "-sS", "-6", "--max-time", "5",
                               "http://[fd79::1]:22/"), "no more")
    run("ufw", "disable")
    run("ip", "netns", "del", "ufw")


# ---- servers ----

@test
def servers_haproxy_in_front():
    start("nginx")
    write("/etc/haproxy/haproxy.cfg", """defaults
    mode http
    timeout connect 10s
    timeout client 30s
    timeout server 30s
frontend front
    bind [::]:8082 v6only
    default_backend back
backend back
    server nginx [::1]:80
""")
    start("haproxy")
    wait(30, "the page behind it", lambda: "nginx" in run(
        "curl", "-sS", "-6", "--max-time", "30", "http://[::1]:8082/", check=False))


@test
def servers_redis():
    start("redis-server")
    equal(run("redis-cli", "-h", "::1", "ping").strip(), "PONG", "its answer")


@test
def servers_inetd_socket_units():
    """systemd listens, and starts the server when somebody comes."""
    write("/etc/systemd/system/hello.socket", "[Socket]\nListenStream=[::]:4446\n"
          "BindIPv6Only=ipv6-only\nAccept=yes\n")
    write("/etc/systemd/system/hello@.service",
          "[Service]\nExecStart=/bin/echo hello\nStandardOutput=socket\n")
    run("systemctl", "daemon-reload")
    start("hello.socket")
    with socket.create_connection(("::1", 4446), timeout=30) as sock:
        equal(sock.recv(100), b"hello\n", "what it says")
    run("systemctl", "stop", "hello.socket")
