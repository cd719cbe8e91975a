#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Google's packetdrill: its own scripts of TCP over IPv6, unmodified, over its own tun, against the
# kernel that was booted: native, or with ipv6.disable=1 net6. Each is a test. Some need a newer
# kernel; scripts/packetdrill runs both and compares.
#
# Arguments: the folder gtests/net of a checkout with packetdrill built, then words that the
# scripts' paths have to contain one of.
# guest: named
# timeout: 1800
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

TOP, WORDS = sys.argv[1], sys.argv[2:]
# As run_all.py of packetdrill has them for IPv6; a guest of one slow processor is late.
OPTIONS = """--ip_version=ipv6 --mtu=1520 --local_ip=fd3d:0a0b:17d6::1
    --gateway_ip=fd3d:0a0b:17d6:8888::1 --remote_ip=fd3d:fa7b:d17d::1 -D TFO_COOKIE=c1d1e9742a47a9bc
    -D CMSG_LEVEL_IP=SOL_IPV6 -D CMSG_TYPE_RECVERR=IPV6_RECVERR --send_omit_free
    --tolerance_usecs=40000""".split()
PATIENCE = 120 * ktap.SCALE


def setup():
    with open("/proc/cmdline", encoding="ascii") as file:
        if "ipv6.disable=1" in file.read():
            ktap.net6_load()
    ktap.kmod("tun")
    os.makedirs("/dev/net", exist_ok=True)
    if not os.path.exists("/dev/net/tun"):
        os.mknod("/dev/net/tun", 0o20666, os.makedev(10, 200))


def play(script):
    done = subprocess.run(
        ["sh", f"{TOP}/packetdrill/in_netns.sh", f"{TOP}/packetdrill/packetdrill", *OPTIONS,
         os.path.basename(script)], cwd=os.path.dirname(script), text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    ktap.true(not done.returncode, done.stdout.strip()[:300])


def register():
    for script in sorted(glob.glob(f"{TOP}/tcp/**/*.pkt", recursive=True)):
        name = os.path.relpath(script, TOP)
        if not name.endswith("v4.pkt") and (not WORDS or any(word in name for word in WORDS)):
            ktap.test(name)(lambda script=script: play(script))


if __name__ == "__main__":
    register()
    ktap.main(setup)
