#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# NFS over TCP and IPv6 whose client and server are the kernel's, where net6 is the host's only
# IPv6: sunrpc corks its sockets with native's functions. Nothing of it waits for a time-out, and
# files come back as they were written.
#
#	[ NFS client and server on lo, ::1 ]
#
# guest: both
# guest-append: ipv6.disable=1
# timeout: 200
import hashlib
import json
import mmap
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import nfs  # pylint: disable=wrong-import-position
from nfs import EXPORT  # pylint: disable=wrong-import-position

CTL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/net6ctl")
MOUNT = "/mnt/nfs"
STATS, SIZE, PIECE = 1000, 64 << 20, 1 << 20
# A busy host may hold a guest up for longer than a time-out lasts, now and then.
# The checking kernel has the first version of NFSv4 alone.
VERSION = "4.0" if ktap.CHECKING else "4.2"
FEW = 20


def setup():
    ktap.need("nfsd", "nfsv4")
    ktap.net6_load()
    ktap.run("ip", "link", "set", "lo", "up")
    os.makedirs(EXPORT)
    ktap.run("mount", "-t", "tmpfs", "none", EXPORT)
    ktap.at_exit(ktap.run, "umount", "-l", EXPORT)
    nfs.export("::1", 0o777, 2, "tcp 2049")
    os.makedirs(MOUNT)
    ktap.at_exit(subprocess.run, ["umount", "-l", MOUNT])


def timeouts():
    """Of net6's connections, which all are the mount's."""
    counters = json.loads(ktap.run(CTL, "-j", "show", "counters", "all"))
    return {c["name"]: c["value"] for c in counters}["TcpTimeouts"]


def without_waiting(what, function):
    before, since = timeouts(), time.monotonic()
    function()
    ktap.diag(f"{what}: {time.monotonic() - since:.2f} s, {timeouts() - before} time-outs")
    ktap.true(timeouts() - before < FEW, f"{what} does not wait for time-outs")


def mount():
    ktap.run("mount", "-i", "-t", "nfs4", "-o",
             f"addr=::1,clientaddr=::1,vers={VERSION},sec=sys,proto=tcp6,actimeo=0,noac",
             "[::1]:/", MOUNT)


@ktap.test
def a_file_system_is_mounted():
    """Without a time-out, and in less than 2 seconds; 11 where each record waits for one. A host
    that is busy may make one of a few slower. The checking kernel is slow by itself: there the
    time says nothing.
    """
    took = []
    for _ in range(1 if ktap.CHECKING else 5):
        before, since = timeouts(), time.monotonic()
        mount()
        took.append(time.monotonic() - since)
        ktap.equal(timeouts() - before, 0, "time-outs")
        if took[-1] < 2 * ktap.SCALE or ktap.CHECKING:
            break
        if len(took) < 5:
            ktap.run("umount", MOUNT)
    ktap.diag(f"mounted in {took} s")
    ktap.true(ktap.CHECKING or took[-1] < 2 * ktap.SCALE, "at once")
    with open("/proc/net/tcp6", encoding="ascii") as file:
        states = sorted(line.split()[3] for line in file.readlines()[1:] if ":0801 " in line)
    # A mount before that was slow has left a connection in TIME-WAIT.
    ktap.equal([state for state in states if state != "06"], ["01", "01", "0A"],
               "sockets of net6")


@ktap.test
def a_thousand_attributes():
    with open(f"{EXPORT}/f", "w", encoding="ascii") as file:
        file.write("x" * 100)

    def ask():
        for _ in range(STATS):
            ktap.equal(os.stat(f"{MOUNT}/f").st_size, 100, "length")
    without_waiting(f"{STATS} attributes", ask)


def opened():
    """The server gives files out once its clients of before have had time to come back."""
    try:
        os.close(os.open(f"{MOUNT}/big", os.O_RDWR | os.O_CREAT, 0o666))
    except OSError:
        return False
    return True


@ktap.test
def what_was_written_is_read_back():
    ktap.wait_for(60, "files can be opened", opened)
    wrote, read, at_server = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    fd = os.open(f"{MOUNT}/big", os.O_RDWR | os.O_DIRECT)
    page = mmap.mmap(-1, PIECE)		# aligned, as the option wants

    def write():
        for _ in range(SIZE // PIECE):
            page[:] = os.urandom(PIECE)
            ktap.equal(os.write(fd, page), PIECE, "written")
            wrote.update(page)

    def again():
        os.lseek(fd, 0, os.SEEK_SET)
        for _ in range(SIZE // PIECE):
            ktap.equal(os.readv(fd, [page]), PIECE, "read")
            read.update(page)
    try:
        without_waiting(f"{SIZE >> 20} MB written", write)
        without_waiting(f"{SIZE >> 20} MB read", again)
    finally:
        os.close(fd)
    with open(f"{EXPORT}/big", "rb") as file:
        while data := file.read(PIECE):
            at_server.update(data)
    ktap.equal(at_server.hexdigest(), wrote.hexdigest(), "what the server has")
    ktap.equal(read.hexdigest(), wrote.hexdigest(), "what was read")


@ktap.test
def it_goes_and_comes_again():
    ktap.run("umount", MOUNT)
    mount()
    ktap.equal(os.stat(f"{MOUNT}/f").st_size, 100, "length")
    ktap.run("umount", MOUNT)


ktap.main(setup)
