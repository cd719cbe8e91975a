# SPDX-License-Identifier: GPL-2.0
"""File systems below khttpd's document root, and a clock that is set back."""

import contextlib
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position


@contextlib.contextmanager
def mounted(name, *what):
    """A file system below the document root."""
    path = f"{khttpd.WWW}/{name}"
    os.makedirs(path, exist_ok=True)
    ktap.run("mount", *what, path)
    try:
        os.chmod(path, 0o755)
        yield path
    finally:
        ktap.run("umount", "-l", path)


@contextlib.contextmanager
def clock_set_back(seconds):
    """In here it is so much earlier."""
    time.clock_settime(time.CLOCK_REALTIME, time.time() - seconds)
    try:
        yield
    finally:
        time.clock_settime(time.CLOCK_REALTIME, time.time() + seconds)


@contextlib.contextmanager
def overlay(kind, *options):
    """At /over/, with both layers on a new file system of that kind: "x" is in the upper one,
    "y" in the lower one.
    """
    ktap.kmod("loop", "overlay")
    disk = f"/srv/{kind}"
    ktap.run("truncate", "-s", "8M", disk)
    ktap.run(f"mkfs.{kind}", *options, disk)
    with mounted("below", "-t", kind, "-o", "loop", disk) as below:
        for name in ("lower", "upper", "work"):
            os.mkdir(f"{below}/{name}")
            os.chmod(f"{below}/{name}", 0o755)
        khttpd.write("below/lower/y", b"first")
        layers = ",".join(f"{what}dir={below}/{what}" for what in ("lower", "upper", "work"))
        with mounted("over", "-t", "overlay", "-o", layers, "none"):
            khttpd.write("over/x", b"first")
            yield
