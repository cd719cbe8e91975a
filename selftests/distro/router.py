# SPDX-License-Identifier: GPL-2.0
"""The router, with native IPv6: advertisements, DHCPv6 and delegated prefixes, DNS, a web server, a
clock and BGP. It runs until it is killed.

    2001:db8:aN::1/64 on ethN; 2001:db8:ff::1 is server.lan.test; delegates of 2001:db8:N00::/40
"""
import json
import time

from common import DOMAIN, ROUTER, SERVER, run, start, wait, write

LINKS = 3


def interfaces():
    for name, value in (("net.ipv6.conf.all.forwarding", 1), ("net.ipv6.conf.all.accept_ra", 0)):
        run("sysctl", "-qw", f"{name}={value}")
    run("ip", "-6", "addr", "add", SERVER + "/128", "dev", "lo")
    for n in range(LINKS):
        run("ip", "link", "set", f"eth{n}", "up")
        run("ip", "-6", "addr", "add", ROUTER.format(n) + "/64", "dev", f"eth{n}", "nodad")
        run("ip", "addr", "add", f"10.0.{n}.1/24", "dev", f"eth{n}")
    # Kea looks for link-local addresses once, and passes over those that are not sure yet.
    for n in range(LINKS):
        wait(60, f"eth{n} has one", lambda n=n: run(
            "ip", "-6", "addr", "show", "dev", f"eth{n}", "scope", "link", "-tentative"))


def advertisements():
    """Each link has its prefix; addresses are by DHCPv6, too."""
    write("/etc/radvd.conf", "".join(f"""
interface eth{n} {{
    AdvSendAdvert on; AdvManagedFlag on; AdvOtherConfigFlag on;
    MinRtrAdvInterval 5; MaxRtrAdvInterval 15; AdvLinkMTU 1480;
    prefix 2001:db8:a{n}::/64 {{ AdvOnLink on; AdvAutonomous on; }};
    route 2001:db8:ee::/48 {{ }};
    RDNSS {ROUTER.format(n)} {{ }};
    DNSSL {DOMAIN} {{ }};
}};
""" for n in range(LINKS)))
    start("radvd")


def dhcp():
    subnets = [{"id": n + 1, "subnet": f"2001:db8:a{n}::/64", "interface": f"eth{n}",
                "pools": [{"pool": f"2001:db8:a{n}::d000 - 2001:db8:a{n}::dfff"}],
                "pd-pools": [{"prefix": f"2001:db8:{n + 1}00::", "prefix-len": 40,
                              "delegated-len": 56}]} for n in range(LINKS)]
    write("/etc/kea/kea-dhcp6.conf", json.dumps({"Dhcp6": {
        "interfaces-config": {"interfaces": [f"eth{n}" for n in range(LINKS)]},
        "lease-database": {"type": "memfile", "persist": False},
        "valid-lifetime": 120, "preferred-lifetime": 100, "renew-timer": 20, "rebind-timer": 60,
        "subnet6": subnets}}))
    start("kea-dhcp6-server")


def services():
    write("/etc/unbound/unbound.conf.d/lan.conf", f"""server:
    module-config: "iterator"
    interface: ::0
    access-control: ::/0 allow
    local-zone: "{DOMAIN}." static
    local-data: "server.{DOMAIN}. AAAA {SERVER}"
    local-data: "server.{DOMAIN}. A 10.0.0.1"
""")
    start("unbound")
    write("/etc/chrony/chrony.conf", "local stratum 5\nallow\n")
    start("chrony")
    write("/var/www/html/page", "from the router\n")
    start("nginx")
    write("/etc/bird/bird.conf", f"""router id 10.0.0.1;
protocol device {{ }}
protocol static {{ ipv6; route 2001:db8:b9::/48 unreachable; route 2001:db8:ba::/48 unreachable; }}
protocol bgp machine {{
    local {ROUTER.format(0)} as 65001; neighbor range 2001:db8:a0::/64 as 65002;
    password "shared";
    ipv6 {{ import all; export all; }};
}}
""")
    start("bird")


def run_router():
    for part in (interfaces, advertisements, dhcp, services):
        part()
    print("router ready", flush=True)
    while True:
        time.sleep(60)
