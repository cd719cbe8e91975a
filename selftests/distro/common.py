# SPDX-License-Identifier: GPL-2.0
"""Helpers of the machine and of its router: programs, files, and waiting for states."""
import json
import os
import subprocess
import time

ROUTER, SERVER, DOMAIN = "2001:db8:a{}::1", "2001:db8:ff::1", "lan.test"


class Failed(Exception):
    """What a test says when it fails."""


def say(text):
    print(text, flush=True)


def parameter(name):
    """distro.NAME= of the kernel's command line."""
    with open("/proc/cmdline", encoding="ascii") as file:
        for word in file.read().split():
            if word.startswith(f"distro.{name}="):
                return word.split("=", 1)[1]
    return ""


def run(*command, check=True, timeout=120, **options):
    """A command's output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=None if "input" in options else subprocess.DEVNULL,
                          check=False, timeout=timeout, **options)
    if check and done.returncode:
        raise Failed(f"{' '.join(command)}: {done.returncode}: {done.stdout[-400:]}")
    return done.stdout


def start(unit):
    """Says what the unit said, too, when it fails."""
    try:
        run("systemctl", "restart", unit)
    except Failed as error:
        said = run("journalctl", "-u", unit, "-n", "8", "-o", "cat", "--no-pager", check=False)
        raise Failed(f"{error} {said}") from error


def write(path, text, mode=0o644):
    """The file, with its folder."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def wait(seconds, what, function):
    """Until it is true; returns it."""
    end = time.monotonic() + seconds
    while True:
        value = function()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"in {seconds} s: {what}")
        time.sleep(1)


def equal(found, wanted, what):
    if found != wanted:
        raise Failed(f"{what}: {found}, not {wanted}")


def true(value, what):
    if not value:
        raise Failed(what)


def ip(*words):
    """What `ip -j` tells."""
    return json.loads(run("ip", "-j", *words) or "[]")


def addresses(dev, *words):
    """{address: what is told of it}"""
    return {info["local"]: info for entry in ip("-6", "addr", "show", "dev", dev, *words)
            for info in entry.get("addr_info", ()) if "local" in info}


def answers(address, *words):
    return " 0% packet loss" in run("ping", "-6", "-n", "-c1", "-W5", *words, address, check=False)
