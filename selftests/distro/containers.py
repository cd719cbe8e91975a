# SPDX-License-Identifier: GPL-2.0
"""What else is tried on the machine: containers of three kinds, tunnels between hosts, and servers
of mail, data and names. A container is one static program with what it serves.
"""
import os
import smtplib
import socket
import struct
import subprocess

from areas import test
from common import SERVER, addresses, answers, equal, run, start, true, wait, write
from devices import box, inside

ROOT, PAGE = "/srv/container", "from the container\n"


def rootfs():
    """A container's files; returns an archive of them."""
    if not os.path.isdir(ROOT):
        write(f"{ROOT}/www/page", PAGE)
        write(f"{ROOT}/etc/passwd", "root:x:0:0::/:/bin/sh\n")
        # nspawn looks for it, and for /usr.
        write(f"{ROOT}/etc/os-release", "ID=test\n")
        os.makedirs(f"{ROOT}/usr")
        os.makedirs(f"{ROOT}/bin")
        run("cp", "/bin/busybox", f"{ROOT}/bin/busybox")
        for name in ("sh", "ping", "ping6", "httpd", "wget", "ip", "sleep"):
            os.symlink("busybox", f"{ROOT}/bin/{name}")
        run("tar", "-C", ROOT, "-cf", f"{ROOT}.tar", ".")
    return f"{ROOT}.tar"


def page(name, where):
    return inside(name, "curl", "-sS", "-6", "--max-time", "20", where)


def forwards():
    run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.eth0.accept_ra=2")


# ---- containers ----

@test
def containers_nspawn():
    """systemd's, on a cable to us, masqueraded."""
    rootfs()
    forwards()
    # systemd-networkd brings a network of its own for such a cable, and removes other addresses.
    write("/run/systemd/network/10-nsp.network", "[Match]\nName=ve-nsp\n[Link]\nUnmanaged=yes\n")
    run("networkctl", "reload")
    run("nft", "-f", "-", input="""table ip6 nat {
    chain postrouting { type nat hook postrouting priority srcnat;
        ip6 saddr fd81::/64 oif eth0 masquerade
    }
}
""")
    inner = ("/bin/ip link set host0 up; /bin/ip -6 addr add fd81::2/64 dev host0; "
             "while ! /bin/ip -6 route add default via fd81::1; do /bin/sleep 1; done; "
             f"while ! /bin/ping6 -c 1 -W 5 {SERVER}; do /bin/sleep 1; done; /bin/sleep 1000")
    with subprocess.Popen(("systemd-nspawn", "-q", "-D", ROOT, "--network-veth", "-M", "nsp",
                           "--register=no", "--keep-unit", "/bin/sh", "-c", inner),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as container:
        try:
            wait(60, "its cable", lambda: os.path.exists("/sys/class/net/ve-nsp"))
            run("ip", "link", "set", "ve-nsp", "up")
            run("ip", "-6", "addr", "add", "fd81::1/64", "dev", "ve-nsp", "nodad")
            wait(60, "it answers", lambda: answers("fd81::2"))
            for line in container.stdout:
                if " 0% packet loss" in line:
                    break
            true(container.poll() is None, "it has reached the server")
        finally:
            container.kill()
            run("nft", "flush", "ruleset")


@test
def containers_podman():
    """netavark's network: the container reaches the world, and is reached by a published port."""
    archive = rootfs()
    forwards()
    box("pod", 82)
    run("podman", "import", archive, "test", timeout=300)
    run("podman", "network", "create", "--ipv6", "--subnet", "10.182.0.0/24", "--subnet",
        "fd83::/64", "--disable-dns", "net9", timeout=300)
    run("podman", "run", "-d", "--name", "c9", "--network", "net9", "-p", "[::]:8083:80",
        "--cgroups=disabled", "--cap-add", "NET_RAW", "test", "/bin/httpd", "-f", "-p", "[::]:80", "-h", "/www",
        timeout=300)
    try:
        wait(60, "the published port", lambda: page("pod", "http://[fd82::1]:8083/page") == PAGE)
        wait(60, "the server answers it", lambda: " 0% packet loss" in run(
            "podman", "exec", "c9", "/bin/ping6", "-c", "1", "-W", "5", SERVER, check=False,
            timeout=300))
    finally:
        run("podman", "rm", "-f", "-t", "0", "c9", check=False, timeout=300)
        run("podman", "network", "rm", "-f", "net9", check=False, timeout=300)
        run("ip", "netns", "del", "pod")


@test
def containers_docker():
    """ip6tables' NAT and a published port."""
    archive = rootfs()
    forwards()
    box("doc", 84)
    write("/etc/docker/daemon.json", '{"ipv6": true, "fixed-cidr-v6": "fd85::/64", '
          '"ip6tables": true, "experimental": true}\n')
    start("docker")
    run("docker", "import", archive, "test", timeout=300)
    run("docker", "run", "-d", "--name", "c9", "-p", "8085:80", "test", "/bin/httpd", "-f", "-p",
        "[::]:80", "-h", "/www", timeout=300)
    try:
        wait(60, "the published port", lambda: page("doc", "http://[fd84::1]:8085/page") == PAGE)
        wait(60, "the server answers it", lambda: " 0% packet loss" in run(
            "docker", "exec", "c9", "/bin/ping6", "-c", "1", "-W", "5", SERVER, check=False,
            timeout=300))
    finally:
        run("docker", "rm", "-f", "c9", check=False, timeout=300)
        run("systemctl", "stop", "docker", "docker.socket", "containerd", check=False)
        run("ip", "netns", "del", "doc")
        run("nft", "flush", "ruleset")


# ---- tunnels between hosts ----

def overlay(net, kind, *words):
    """A tunnel between us and a box, whose outer packets are IPv6; IPv6 and IPv4 go through."""
    box("far", net)
    for number, where in ((1, ()), (2, ("-n", "far"))):
        own, peer = f"fd{net}::{number}", f"fd{net}::{3 - number}"
        run("ip", *where, "link", "add", "tun9", "type", kind,
            *[word.format(own=own, peer=peer) for word in words])
        run("ip", *where, "link", "set", "tun9", "up")
        run("ip", *where, "-6", "addr", "add", f"fd{net}:1::{number}/64", "dev", "tun9", "nodad")
        run("ip", *where, "addr", "add", f"10.{net}.1.{number}/24", "dev", "tun9")
    try:
        wait(30, "IPv6 through it", lambda: answers(f"fd{net}:1::2"))
        wait(30, "IPv4 through it", lambda: " 0% packet loss" in run(
            "ping", "-n", "-c1", "-W5", f"10.{net}.1.2", check=False))
    finally:
        run("ip", "link", "del", "tun9", check=False)
        run("ip", "netns", "del", "far")


@test
def overlays_vxlan():
    overlay(86, "vxlan", "id", "9", "local", "{own}", "remote", "{peer}", "dstport", "4789")


@test
def overlays_geneve():
    overlay(87, "geneve", "id", "9", "remote", "{peer}")


# ---- servers ----

@test
def servers_postgresql():
    start("postgresql")
    wait(120, "it accepts connections", lambda: "accepting connections" in run(
        "pg_isready", "-h", "::1", check=False))
    run("systemctl", "stop", "postgresql")


@test
def servers_postfix():
    """A message to root, by IPv6, is in its mailbox."""
    run("postconf", "-e", "inet_interfaces=all", "inet_protocols=all", "mydestination=localhost",
        "mynetworks=[::1]/128", "myhostname=mail.lan.test", "alias_maps=", "local_recipient_maps=")
    start("postfix")

    def delivered():
        try:
            with smtplib.SMTP("::1", 25, timeout=60) as server:
                server.sendmail("root@localhost", ["root@localhost"], "Subject: words\n\nwords\n")
            return True
        except OSError:
            return False
    wait(60, "it takes a message", delivered)
    wait(60, "it is there", lambda: "Subject: words" in run("cat", "/var/mail/root", "/var/mail/nobody",
                                                          check=False))
    run("systemctl", "stop", "postfix")


@test
def servers_dovecot():
    start("dovecot")

    def greeting():
        try:
            with socket.create_connection(("::1", 143), timeout=30) as sock:
                return sock.recv(100)
        except OSError:
            return b""
    true(wait(60, "a greeting", greeting).startswith(b"* OK"), "it is IMAP's")
    run("systemctl", "stop", "dovecot", "dovecot.socket", check=False)


@test
def names_by_multicast():
    """avahi answers who asks the group for our name."""
    box("ask", 88)
    start("avahi-daemon")
    name = socket.gethostname().split(".")[0] + ".local"
    query = struct.pack("!6H", 0, 0, 1, 0, 0, 0) + b"".join(
        bytes([len(label)]) + label.encode() for label in name.split(".")) + \
        b"\0" + struct.pack("!HH", 28, 0x8001)
    code = ("import socket, sys\n"
            "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
            "s.settimeout(5)\n"
            f"s.sendto({query!r}, ('ff02::fb', 5353, 0, socket.if_nametoindex('ask1')))\n"
            "print(s.recvfrom(2000)[0].hex())\n")
    own = {socket.inet_pton(socket.AF_INET6, address).hex() for address in addresses("ask0")}

    def answered():
        said = inside("ask", "python3", "-c", code)
        return any(address in said for address in own)
    wait(60, "one of our addresses", answered)
    equal(run("systemctl", "is-active", "avahi-daemon", check=False).strip(), "active", "avahi")
    run("systemctl", "stop", "avahi-daemon", "avahi-daemon.socket", check=False)
    run("ip", "netns", "del", "ask")
