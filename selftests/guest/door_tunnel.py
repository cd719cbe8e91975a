#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The kernel's own UDP tunnels find no IPv6 to run on in takeover mode and say so, whoever asks;
# what can do without comes up over IPv4. A tunnel does not get a program's socket either.
#
# guest: both
# guest-append: ipv6.disable=1
# timeout: 60
import errno
import os
import socket
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import l2tp

AF_RXRPC = 33
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
A = ktap.later("A")


def setup():
    ktap.net6_load()
    A.make()


def link(name, *words):
    """Makes a device, takes it up; the error, or None."""
    for command in (("add", name, "type") + words, ("set", name, "up")):
        done = subprocess.run(("ip", "-n", A.name, "link") + command, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            return done.stderr
    return None


def refuses(name, *words):
    error = link(name, *words)
    ktap.true(error and os.strerror(errno.EAFNOSUPPORT) in error,
              f"{' '.join(words)}: without IPv6, got {error}")
    subprocess.run(("ip", "-n", A.name, "link", "del", name), capture_output=True, check=False)


@ktap.test
def an_rxrpc_socket_of_anybody_is_not_bound():
    ktap.need("rxrpc")
    code = ("import ctypes, socket, struct\n"
            f"s = socket.socket({AF_RXRPC}, socket.SOCK_DGRAM, socket.AF_INET6)\n"
            f"a = struct.pack('=HHHH', {AF_RXRPC}, 0, socket.SOCK_DGRAM, 28) + "
            "struct.pack('=H', socket.AF_INET6) + struct.pack('!H', 7777) + bytes(24)\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "print(libc.bind(s.fileno(), a, len(a)), ctypes.get_errno())\n")
    done = subprocess.run(NOBODY + (sys.executable, "-c", code), capture_output=True, text=True,
                          check=True)
    ktap.equal(done.stdout.split(), ["-1", str(errno.EAFNOSUPPORT)], "bind()")


@ktap.test
def vxlan_comes_up_over_ipv4_alone():
    ktap.need("vxlan")
    refuses("vx0", "vxlan", "id", "1", "remote", "::1", "dstport", "4789")
    refuses("vx0", "vxlan", "id", "1", "group", "ff05::1", "dev", "lo", "dstport", "4789")
    ktap.equal(link("vx1", "vxlan", "external", "dstport", "4790"), None, "without an address")
    ktap.equal(link("vx2", "vxlan", "id", "2", "remote", "127.0.0.1", "dstport", "4791"), None,
               "to IPv4")


@ktap.test
def geneve_comes_up_over_ipv4_alone():
    ktap.need("geneve")
    refuses("gn0", "geneve", "id", "1", "remote", "::1")
    ktap.equal(link("gn1", "geneve", "external"), None, "without an address")


@ktap.test
def l2tp_is_refused():
    ktap.need("l2tp_eth")
    done = subprocess.run(("ip", "-n", A.name, "l2tp", "add", "tunnel", "tunnel_id", "1",
                           "peer_tunnel_id", "1", "encap", "udp", "local", "::1", "remote", "::1",
                           "udp_sport", "7101", "udp_dport", "7102"),
                          capture_output=True, text=True, check=False)
    ktap.true(done.returncode and os.strerror(errno.EAFNOSUPPORT) in done.stderr, done.stderr)


@ktap.test
def fou_is_refused():
    ktap.need("fou")
    done = subprocess.run(("ip", "-n", A.name, "fou", "add", "port", "7103", "ipproto", "41", "-6"),
                          capture_output=True, text=True, check=False)
    ktap.true(done.returncode, "a port for packets in UDP over IPv6")


@ktap.test
def l2tp_gets_no_socket_of_a_program():
    ktap.need("l2tp_ppp")
    l2tp.refused(socket.AF_INET6, ktap.AF_NET6)


ktap.main(setup=setup)
