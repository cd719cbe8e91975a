#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Beside native IPv6: who brings net6 into the kernel, and what it brings along. A kernel tunnel
# gets no UDP socket of a program.
#
# guest: both
# timeout: 60
import errno
import glob
import os
import shutil
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import l2tp

NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
RELEASE = os.uname().release


HERE = os.path.dirname(__file__)
# Where the modules are installed, as far as the kernel knows.
ROOT = "/run/net6/installed"


def loaded():
    with open("/proc/modules", encoding="ascii") as file:
        return [line.split()[0] for line in file]


def install():
    """The kernel's own modprobe, which it runs in its first root, finds them here."""
    where = f"{ROOT}/lib/modules/{RELEASE}"
    os.makedirs(where)
    own = glob.glob(f"/lib/modules/{RELEASE}/kernel/net/ipv4/tunnel4.ko*")
    for path in own + [f"{ktap.BUILD}/{name}.ko" for name in (
            "net6/net6", "net6/net6_tunnel4", "khttpd/khttpd")]:
        shutil.copy(path, where)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        with open(f"{where}/{name}", "wb"):
            pass
    ktap.run("depmod", "-b", ROOT, RELEASE)
    with open("/tmp/modprobe", "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\nexec chroot /run/root /sbin/modprobe -d {ROOT} \"$@\"\n")
    os.chmod("/tmp/modprobe", 0o755)
    with open("/proc/sys/kernel/modprobe", "r+", encoding="ascii") as file:
        before = file.read()
        ktap.at_exit(modprobe, before)
    modprobe("/run/root/tmp/modprobe")
    with open(f"{where}/modules.alias", encoding="ascii") as file:
        return [line.split()[1] for line in file if line.startswith("alias")]


def modprobe(path):
    with open("/proc/sys/kernel/modprobe", "w", encoding="ascii") as file:
        file.write(path)


def setup():
    # As after a fresh boot.
    for module in ("net6_tunnel4", "tunnel4"):
        subprocess.run(["rmmod", module], stderr=subprocess.DEVNULL, check=False)
    ktap.equal([name for name in loaded() if "tunnel4" in name or "net6" in name], [],
               "modules that are loaded")


@ktap.test
def insmod_on_a_fresh_boot_loads_it():
    ktap.run("insmod", f"{ktap.BUILD}/net6/net6.ko")
    ktap.true("tunnel4" not in loaded(), "what only tunnels need is not there")


def tunnel():
    return subprocess.run([f"{HERE}/../../tools/net6ctl", "tunnel", "add", "t0", "remote",
                           "192.0.2.2", "local", "192.0.2.1"], capture_output=True, text=True,
                          check=False)


@ktap.test
def a_tunnel_is_refused_without_its_module():
    ktap.run("ip", "addr", "add", "192.0.2.1/24", "dev", "lo")
    done = tunnel()
    ktap.true(done.returncode and "net6_tunnel4" in done.stderr, done.stderr)
    setting = "/proc/sys/net/net6/transition"
    with open(setting, encoding="ascii") as file:
        before = file.read()
    with open(setting, "wb", buffering=0) as file:
        ktap.raises(errno.EOPNOTSUPP, file.write, b"auto")
    with open(setting, encoding="ascii") as file:
        ktap.equal(file.read(), before, "automatic tunnels")
    ktap.unload("net6")


@ktap.test
def a_socket_of_anybody_does_not_load_it():
    ktap.equal([a for a in install() if not a.startswith("symbol:")], [],
               "names by which a call loads it")
    code = f"import socket\nsocket.socket({ktap.AF_NET6}, socket.SOCK_STREAM)"
    done = subprocess.run(NOBODY + (sys.executable, "-c", code), capture_output=True, text=True,
                          check=False)
    ktap.true(os.strerror(errno.EAFNOSUPPORT) in done.stderr, done.stderr)
    ktap.true("net6" not in loaded(), "it is not loaded")


@ktap.test
def a_tunnel_brings_what_it_needs():
    ktap.net6_load()
    done = tunnel()
    ktap.equal(done.returncode, 0, done.stderr)
    ktap.true("net6_tunnel4" in loaded(), "it came with the tunnel")
    ktap.equal(subprocess.run(["rmmod", "net6_tunnel4"], stderr=subprocess.DEVNULL,
                              check=False).returncode, 1, "rmmod of what is in use")
    ktap.run("ip", "link", "del", "t0")


@ktap.test
def l2tp_gets_no_socket_of_a_program():
    ktap.kmod("l2tp_ppp")
    l2tp.refused(ktap.AF_NET6)


ktap.main(setup=setup)
