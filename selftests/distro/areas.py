# SPDX-License-Identifier: GPL-2.0
"""What is tried on the machine, by areas. eth0 is systemd-networkd's, eth1 NetworkManager's, eth2
ifupdown's. A test is no more than a user would see; the native machine says whether it is true.
"""
import json
import os
import socket
import subprocess
import time

from common import (DOMAIN, ROUTER, SERVER, Failed, addresses, answers, equal, ip, run, start, true,
                    wait, write)

TESTS = {}
ENDS = {"networkd": ("systemd-networkd.socket", "systemd-networkd"), "manager": ("NetworkManager",)}


def test(function):
    """The area is what the name begins with."""
    area, name = function.__name__.split("_", 1)
    function.__name__ = name
    TESTS.setdefault(area, []).append(function)
    return function


def end(area):
    """The area's managers do not touch what the next one does."""
    if area in ENDS and area != "networkd":
        run("systemctl", "stop", *ENDS[area], check=False)


def slaac(dev, net):
    """Addresses of a prefix that the router advertises, by their flags."""
    return {a: i for a, i in addresses(dev).items()
            if a.startswith(f"2001:db8:a{net}:") and "tentative" not in i and i["prefixlen"] == 64}


# ---- systemd-networkd ----

NETWORK = """[Match]
Name=eth0
[Network]
DHCP=ipv6
IPv6AcceptRA=yes
IPv6PrivacyExtensions=prefer-public
VLAN=eth0.7
[IPv6AcceptRA]
UseDomains=yes
[Address]
Address=2001:db8:a0::77/64
[Route]
Destination=2001:db8:cc::/48
Gateway=2001:db8:a0::1
Metric=77
[RoutingPolicyRule]
From=2001:db8:a0::77
Table=177
Priority=1077
[Route]
Destination=2001:db8:dd::/48
Gateway=2001:db8:a0::1
Table=177
"""


def networkd_state(dev):
    out = run("networkctl", "--json=short", "status", dev, check=False)
    return json.loads(out).get("AdministrativeState") if out.startswith("{") else out


@test
def networkd_configures_its_links():
    write("/etc/systemd/network/10-eth0.network", NETWORK)
    write("/etc/systemd/network/20-vlan.netdev", "[NetDev]\nName=eth0.7\nKind=vlan\n[VLAN]\nId=7\n")
    write("/etc/systemd/network/20-vlan.network",
          "[Match]\nName=eth0.7\n[Network]\nAddress=2001:db8:7::77/64\nIPv6AcceptRA=no\n")
    write("/etc/systemd/network/30-lan.netdev", "[NetDev]\nName=lan0\nKind=bridge\n")
    write("/etc/systemd/network/30-port.netdev",
          "[NetDev]\nName=port0\nKind=dummy\n")
    write("/etc/systemd/network/30-port.network", "[Match]\nName=port0\n[Network]\nBridge=lan0\n")
    write("/etc/systemd/network/30-lan.network",
          "[Match]\nName=lan0\n[Network]\nIPv6AcceptRA=no\nDHCPPrefixDelegation=yes\n"
          "IPv6SendRA=yes\n[DHCPPrefixDelegation]\nUplinkInterface=eth0\nSubnetId=1\n")
    start("systemd-networkd")
    start("systemd-resolved")
    wait(240, f"eth0 is configured: {run('networkctl', 'list', check=False)}",
         lambda: networkd_state("eth0") == "configured")


@test
def networkd_forms_an_address_by_advertisement():
    wait(60, "one of EUI-64", lambda: [a for a in slaac("eth0", 0) if "ff:fe" in a])


@test
def networkd_forms_a_temporary_address():
    wait(60, "one", lambda: [a for a, i in slaac("eth0", 0).items() if i.get("temporary")])


@test
def networkd_gets_an_address_by_dhcp():
    wait(60, "one", lambda: [a for a in addresses("eth0") if a.startswith("2001:db8:a0::d")])


@test
def networkd_renews_its_lease():
    def left():
        found = [i["valid_life_time"] for a, i in addresses("eth0").items()
                 if a.startswith("2001:db8:a0::d")]
        return found[0] if found else 0
    wait(100, "it is about to be renewed", lambda: 0 < left() < 105)
    wait(60, "it begins anew", lambda: left() > 110)


@test
def networkd_has_the_router_and_the_static_routes():
    wait(60, "a default route by advertisement", lambda: [
        r for r in ip("-6", "route", "show", "default", "dev", "eth0") if r["protocol"] == "ra"])
    route, = ip("-6", "route", "show", "2001:db8:cc::/48")
    equal((route["gateway"], route["metric"], route["protocol"]),
          (ROUTER.format(0), 77, "static"), "static")
    wait(30, "a route that the router advertises", lambda: ip("-6", "route", "show",
                                                              "2001:db8:ee::/48"))


@test
def networkd_sets_rules_and_their_table():
    true([r for r in ip("-6", "rule", "show") if r.get("table") == "177"], "a rule")
    true(ip("-6", "route", "show", "table", "177"), "its route")
    out, = ip("-6", "route", "get", "2001:db8:dd::1", "from", "2001:db8:a0::77")
    equal(out["dev"], "eth0", "what it decides")


@test
def networkd_hands_a_delegated_prefix_on():
    wait(120, "an address of it on lan0", lambda: [
        a for a in addresses("lan0") if a.startswith("2001:db8:1") and len(a) > 12])


@test
def networkd_tells_resolved_the_servers():
    wait(60, "the router", lambda: ROUTER.format(0) in run(
        "resolvectl", "dns", "eth0"))
    wait(60, "the domain", lambda: DOMAIN in run("resolvectl", "domain", "eth0"))


@test
def networkd_takes_the_mtu_of_the_link():
    wait(60, "1480", lambda: open("/proc/sys/net/ipv6/conf/eth0/mtu",
                                  encoding="ascii").read() == "1480\n")


@test
def networkd_has_a_vlan():
    true("2001:db8:7::77" in addresses("eth0.7"), "its address")
    equal(networkd_state("eth0.7"), "configured", "state")


@test
def networkd_takes_a_change():
    write("/etc/systemd/network/10-eth0.network",
          NETWORK.replace("2001:db8:a0::77/64", "2001:db8:a0::78/64"))
    run("networkctl", "reload")
    run("networkctl", "reconfigure", "eth0")
    wait(60, "the new address", lambda: "2001:db8:a0::78" in addresses("eth0"))
    true("2001:db8:a0::77" not in addresses("eth0"), "the old one is gone")
    wait(120, "it is configured", lambda: networkd_state("eth0") == "configured")


@test
def networkd_gets_over_a_link_that_goes_down():
    run("ip", "link", "set", "eth0", "down")
    time.sleep(2)
    run("ip", "link", "set", "eth0", "up")
    wait(120, "it is configured", lambda: networkd_state("eth0") == "configured")
    wait(60, "the static address", lambda: "2001:db8:a0::78" in addresses("eth0"))
    wait(60, "the server answers", lambda: answers(SERVER))


# ---- NetworkManager ----

def nmcli(*words):
    return run("nmcli", "-t", *words)


@test
def manager_brings_a_connection_up():
    write("/etc/NetworkManager/conf.d/ours.conf",
          "[keyfile]\nunmanaged-devices=*,except:interface-name:eth1\n")
    start("NetworkManager")
    nmcli("connection", "add", "type", "ethernet", "ifname", "eth1", "con-name", "wire",
          "ipv4.method", "disabled", "ipv6.method", "auto", "ipv6.ip6-privacy", "2",
          "ipv6.addr-gen-mode", "stable-privacy")
    nmcli("--wait", "120", "connection", "up", "wire")
    true("100" in nmcli("-f", "GENERAL.STATE", "device", "show", "eth1"), "connected")


@test
def manager_has_addresses_of_all_kinds():
    wait(60, "a stable one", lambda: [a for a, i in slaac("eth1", 1).items()
                                      if not i.get("temporary")])
    wait(60, "a temporary one", lambda: [a for a, i in slaac("eth1", 1).items()
                                         if i.get("temporary")])
    wait(60, "one by DHCP", lambda: [a for a in addresses("eth1")
                                     if a.startswith("2001:db8:a1::d")])


@test
def manager_knows_routes_and_servers():
    wait(60, "a default route", lambda: ip("-6", "route", "show", "default", "dev", "eth1"))
    wait(60, "the name server", lambda: ROUTER.format(1) in nmcli(
        "-f", "IP6.DNS", "device", "show", "eth1").replace("\\", ""))


@test
def manager_changes_to_addresses_by_hand():
    nmcli("connection", "modify", "wire", "ipv6.method", "manual", "ipv6.addresses",
          "2001:db8:a1::99/64", "ipv6.gateway", ROUTER.format(1), "ipv6.routes",
          f"2001:db8:c1::/48 {ROUTER.format(1)} 55")
    nmcli("--wait", "60", "connection", "up", "wire")
    wait(30, "it alone", lambda: list(slaac("eth1", 1)) == ["2001:db8:a1::99"])
    equal(ip("-6", "route", "show", "2001:db8:c1::/48")[0]["metric"], 55, "route")
    nmcli("connection", "down", "wire")
    wait(30, "none is left", lambda: not slaac("eth1", 1))


# ---- ifupdown ----

@test
def ifupdown_sets_an_address_by_hand():
    write("/etc/network/interfaces", f"""auto lo
iface lo inet loopback
iface eth2 inet6 static
    address 2001:db8:a2::55/64
    gateway {ROUTER.format(2)}
    up ip -6 route add 2001:db8:c2::/48 via {ROUTER.format(2)}
""")
    run("ifup", "eth2")
    true("2001:db8:a2::55" in addresses("eth2"), "the address")
    true(ip("-6", "route", "show", "default", "dev", "eth2"), "a default route")
    run("ifdown", "eth2")
    true("2001:db8:a2::55" not in addresses("eth2"), "it goes")


@test
def ifupdown_waits_for_an_advertisement():
    write("/etc/network/interfaces", "iface eth2 inet6 auto\n    privext 2\n")
    run("ifup", "eth2", timeout=240)
    wait(60, "an address", lambda: slaac("eth2", 2))
    run("ifdown", "eth2", timeout=120)


# ---- routing ----

@test
def routing_learns_by_bgp():
    write("/etc/bird/bird.conf", f"""router id 10.0.0.77;
protocol device {{ }}
protocol kernel {{ ipv6 {{ import all; export all; }}; learn; metric 64; }}
protocol static {{ ipv6; route 2001:db8:77::/48 unreachable; }}
protocol bgp router {{
    local 2001:db8:a0::78 as 65002; neighbor {ROUTER.format(0)} as 65001;
    password "shared";
    ipv6 {{ import all; export where source = RTS_STATIC; }};
}}
""")
    start("bird")
    wait(180, "it is established", lambda: "Established" in run("birdc", "show", "protocols",
                                                                        check=False))
    route = wait(60, "a route of bird's", lambda: ip("-6", "route", "show", "2001:db8:b9::/48"))[0]
    equal((route["protocol"], route["metric"]), ("bird", 64), "it")
    run("systemctl", "stop", "bird")
    wait(30, "it goes with bird", lambda: not ip("-6", "route", "show", "2001:db8:b9::/48"))


@test
def routing_has_several_next_hops():
    run("ip", "-6", "route", "add", "2001:db8:5::/48", "nexthop", "via", ROUTER.format(0), "dev",
        "eth0", "weight", "2", "nexthop", "via", "2001:db8:a0::2", "dev", "eth0")
    equal(len(ip("-6", "route", "show", "2001:db8:5::/48")[0]["nexthops"]), 2, "hops")
    run("ip", "-6", "route", "del", "2001:db8:5::/48")


@test
def routing_has_next_hop_objects():
    run("ip", "nexthop", "add", "id", "7", "via", ROUTER.format(0), "dev", "eth0")
    run("ip", "-6", "route", "add", "2001:db8:6::/48", "nhid", "7")
    equal(ip("-6", "route", "show", "2001:db8:6::/48")[0]["nhid"], 7, "its object")


@test
def routing_has_a_vrf():
    run("ip", "link", "add", "red", "type", "vrf", "table", "99")
    run("ip", "link", "set", "red", "up")
    run("ip", "link", "add", "red0", "type", "dummy")
    run("ip", "link", "set", "red0", "master", "red", "up")
    run("ip", "-6", "addr", "add", "2001:db8:9::1/64", "dev", "red0", "nodad")
    true(ip("-6", "route", "show", "vrf", "red"), "routes of its own")


# ---- firewall ----

@test
def firewall_masquerades_for_a_container():
    for words in (("netns", "add", "box"), ("link", "add", "v0", "type", "veth", "peer", "name",
                                            "v1", "netns", "box"), ("link", "set", "v0", "up"),
                  ("-6", "addr", "add", "fd99::1/64", "dev", "v0", "nodad"),
                  ("-n", "box", "link", "set", "lo", "up"), ("-n", "box", "link", "set", "v1", "up"),
                  ("-n", "box", "-6", "addr", "add", "fd99::2/64", "dev", "v1", "nodad"),
                  ("-n", "box", "-6", "route", "add", "default", "via", "fd99::1")):
        run("ip", *words)
    run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.eth0.accept_ra=2")
    run("nft", "-f", "-", input="""table ip6 nat {
    chain postrouting { type nat hook postrouting priority srcnat;
        ip6 saddr fd99::/64 oif eth0 masquerade
    }
    chain prerouting { type nat hook prerouting priority dstnat;
        tcp dport 8080 dnat to [fd99::2]:80
    }
}
""")
    wait(30, "the server answers it", lambda: " 0% packet loss" in run(
        "ip", "netns", "exec", "box", "ping", "-6", "-c1", "-W5", SERVER, check=False))


@test
def firewall_tracks_and_rejects():
    run("nft", "-f", "-", input="""table inet filter {
    chain input { type filter hook input priority 0; policy accept;
        ct state established,related accept; tcp dport 4444 reject with tcp reset
    }
}
""")
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
        sock.settimeout(10)
        try:
            sock.connect(("::1", 4444))
            raise Failed("connected")
        except ConnectionRefusedError:
            pass
    run("nft", "flush", "ruleset")


# ---- services ----

@test
def services_resolve_names():
    wait(60, "resolved", lambda: SERVER in run("resolvectl", "query", f"server.{DOMAIN}",
                                               check=False))
    wait(60, "the library", lambda: SERVER in run("getent", "ahosts", f"server.{DOMAIN}",
                                                  check=False))


@test
def services_fetch_pages():
    equal(run("curl", "-sS", "-6", "--max-time", "60", f"http://[{SERVER}]/page"),
          "from the router\n", "of the server's")


@test
def services_nginx():
    start("nginx")
    true("Welcome to nginx" in run("curl", "-sS", "-6", "--max-time", "60", "http://[::1]/"), "page")


@test
def services_sshd():
    if not os.path.exists("/root/.ssh/id_ed25519"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/root/.ssh/id_ed25519")
    with open("/root/.ssh/id_ed25519.pub", encoding="ascii") as file:
        write("/root/.ssh/authorized_keys", file.read(), 0o600)
    start("ssh")
    out = run("ssh", "-6", "-o", "StrictHostKeyChecking=no", "-o", "BatchMode=yes", "::1",
              "echo $SSH_CONNECTION")
    true("::1 " in out, out)


@test
def services_chrony():
    write("/etc/chrony/chrony.conf", f"server {SERVER} iburst\nmakestep 1 -1\n")
    start("chrony")
    wait(120, "the clock is the server's", lambda: "^*" in run("chronyc", "-n", "sources"))


@test
def services_unbound():
    write("/etc/unbound/unbound.conf.d/lan.conf", f"""server:
    module-config: "iterator"
    interface: ::1
    do-not-query-localhost: no
    local-zone: "test." nodefault
forward-zone:
    name: "{DOMAIN}."
    forward-addr: {ROUTER.format(0)}
""")
    start("unbound")
    wait(60, "its answer", lambda: SERVER in run(
        "python3", "-c", "import socket, sys; sys.path.insert(0, '/root/test'); import dns; "
        f"print(dns.ask('::1', 'server.{DOMAIN}'))", check=False))


# ---- seeing ----

@test
def seeing_sockets():
    true("[::]:22" in run("ss", "-6", "-l", "-t", "-n"), "ss -6")
    true("[::]:80" in run("ss", "-6", "-l", "-t", "-n"), "nginx")
    true("users:((\"sshd\"" in run("ss", "-6", "-l", "-t", "-n", "-p"), "whose they are")


@test
def seeing_counters():
    true("Ip6InReceives" in run("nstat", "-a", "-s"), "nstat")
    with open("/proc/net/snmp6", encoding="ascii") as file:
        true(int(dict(line.split() for line in file)["Ip6InReceives"]) > 100, "snmp6")


@test
def seeing_changes():
    # What routers and leases change on other links is not asked for.
    with subprocess.Popen(("ip", "-6", "monitor", "address", "dev", "lo"), stdout=subprocess.PIPE,
                          text=True) as monitor:
        time.sleep(3)
        run("ip", "-6", "addr", "add", "2001:db8:fe::1/128", "dev", "lo")
        try:
            true("2001:db8:fe::1" in monitor.stdout.readline(), "the address")
        finally:
            monitor.kill()


@test
def seeing_packets():
    with subprocess.Popen(("tcpdump", "-lni", "eth0", "-c1", "icmp6 and ip6[40] == 128"),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as dump:
        time.sleep(5)
        # There may be default routes on other links, too.
        answers(SERVER, "-I", "eth0")
        try:
            true("echo request" in dump.communicate(timeout=60)[0], "a ping")
        finally:
            dump.kill()
