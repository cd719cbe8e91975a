# SPDX-License-Identifier: GPL-2.0
"""Names and the time: DNS with dig, dnsmasq and systemd-resolved, NTP with chrony."""
import os
import shutil
import socket

import ktap
import programs as p

NAME, ANSWER = "host.example.org", "2001:db8::5"


def dnsmasq(number, ns, address, *more):
    p.server("dnsmasq", "-k", "-C", "/dev/null", "-p", number, "--no-resolv", "--no-hosts",
             "--listen-address", address, "--bind-interfaces", "--user=root", "--pid-file=",
             *more, ns=ns)
    p.listening(number, socket.SOCK_DGRAM, ns)
    p.listening(number, ns=ns)


def dig(number):
    for how in ("+notcp", "+tcp"):
        out = p.client("dig", "-6", "-p", number, f"@{p.SERVER}", "+short", "+tries=3",
                       "+timeout=20", how, NAME, "AAAA")
        ktap.equal(out.strip(), ANSWER, f"answer with {how}")


def dig_dnsmasq():
    """Asks one that has to ask another."""
    p.need("dig", "dnsmasq")
    behind, number = p.port(), p.port()
    dnsmasq(behind, p.A, p.CLIENT, f"--host-record={NAME},{ANSWER}")
    dnsmasq(number, p.B, p.SERVER, f"--server={p.CLIENT}#{behind}")
    dig(number)


def resolved():
    """systemd-resolved asks dnsmasq, and answers at an address of net6. Not root, it needs
    neither a user of its own nor a system bus. Whether there is a network it asks rtnetlink,
    which beside native IPv6 has no addresses of net6.
    """
    p.need("dig", "dnsmasq")
    daemon = "/lib/systemd/systemd-resolved"
    if not os.path.exists(daemon):
        # The tree may be where only its owner can read.
        daemon = shutil.copy(p.made("systemd-resolved"), p.path("resolved"))
    behind, number = p.port(), p.port()
    os.makedirs("/run/systemd/resolved.conf.d", exist_ok=True)
    os.makedirs("/run/systemd/resolve", exist_ok=True)
    os.chown("/run/systemd/resolve", 65534, 65534)
    with open("/run/systemd/resolved.conf.d/net6.conf", "w", encoding="ascii") as file:
        file.write(f"[Resolve]\nDNS=[{p.CLIENT}]:{behind}\nDomains=~.\nLLMNR=no\nMulticastDNS=no\n"
                   f"DNSSEC=no\nDNSOverTLS=no\nCache=no\nReadEtcHosts=no\nDNSStubListener=no\n"
                   f"DNSStubListenerExtra=[{p.SERVER}]:{number}\n")
    dnsmasq(behind, p.A, p.CLIENT, f"--host-record={NAME},{ANSWER}")
    if p.wrap:
        p.B.ip("address", "replace", "192.0.2.2/24", "dev", "b0")
    p.server(*p.NOBODY, "env", "SYSTEMD_LOG_TARGET=console", daemon)
    p.listening(number, socket.SOCK_DGRAM)
    p.listening(number)
    dig(number)


def chrony():
    """A server that believes its own clock, and a client that asks once and sets nothing."""
    daemon = shutil.which("chronyd") or p.made("chronyd")
    number = p.port()
    for name, text in (("client", f"server {p.SERVER} port {number} iburst\n"),
                       ("server", f"bindaddress {p.SERVER}\nport {number}\n"
                                  "local stratum 8\nallow\n")):
        p.write(f"chrony-{name}", text + "cmdport 0\nbindcmdaddress /\n"
                f"pidfile {p.path('chrony-' + name)}.pid\n")
    p.server(daemon, "-d", "-x", "-u", "root", "-F", "0", "-f", p.path("chrony-server"))
    p.listening(number, socket.SOCK_DGRAM)
    out = p.client(daemon, "-Q", "-t", "60", "-u", "root", "-F", "0", "-f", p.path("chrony-client"))
    ktap.true("System clock wrong by" in out, out)
