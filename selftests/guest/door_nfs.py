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
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

CTL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/net6ctl")
EXPORT, MOUNT, NFSD = "/srv/export", "/mnt/nfs", "/proc/fs/nfsd"
FOREVER = (1 << 31) - 1
# Any port, not only privileged ones; no waiting for disks; no check of subtrees; a number
# names it (NFSEXP_INSECURE_PORT, _ASYNC, _NOSUBTREECHECK, _FSID).
FLAGS = 0x2412
STATS, SIZE, PIECE = 1000, 64 << 20, 1 << 20
# A busy host may hold a guest up for longer than a time-out lasts, now and then.
# The checking kernel has the first version of NFSv4 alone.
VERSION = "4.0" if ktap.CHECKING else "4.2"
FEW = 20


def tell(path, text):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def answer(sock):
    """Grants whatever rpcbind is asked for: RFC 5531, a record mark before each message."""
    with sock, sock.makefile("rb") as calls:
        while mark := calls.read(4):
            call = calls.read(struct.unpack("!I", mark)[0] & 0x7fffffff)
            xid, procedure = struct.unpack("!I16xI", call[:24])
            reply = struct.pack("!6I", xid, 1, 0, 0, 0, 0)
            if procedure:
                reply += struct.pack("!I", 1)
            sock.sendall(struct.pack("!I", 1 << 31 | len(reply)) + reply)


def rpcbind():
    """The server does not start without one."""
    listener = socket.create_server(("127.0.0.1", 111))

    def serve():
        while True:
            threading.Thread(target=answer, args=listener.accept()[:1], daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()


def export():
    """The kernel's server, told what exportfs and mountd would tell it."""
    ktap.run("mount", "-t", "nfsd", "nfsd", NFSD)
    ktap.at_exit(ktap.run, "umount", "-l", NFSD)
    os.makedirs(EXPORT)
    ktap.run("mount", "-t", "tmpfs", "none", EXPORT)
    ktap.at_exit(ktap.run, "umount", "-l", EXPORT)
    os.chmod(EXPORT, 0o777)
    for name, line in (("auth.unix.ip", f"nfsd ::1 {FOREVER} all"),
                       ("nfsd.export", f"all {EXPORT} {FOREVER} {FLAGS} 65534 65534 0"),
                       ("nfsd.fh", f"all 1 \\x00000000 {FOREVER} {EXPORT}")):
        tell(f"/proc/net/rpc/{name}/channel", line + "\n")
    rpcbind()
    # The shortest time for which files cannot be opened at first.
    tell(f"{NFSD}/nfsv4gracetime", "10")
    tell(f"{NFSD}/portlist", "tcp 2049")
    tell(f"{NFSD}/threads", "2")
    ktap.at_exit(tell, f"{NFSD}/threads", "0")


def setup():
    for module in ("nfsd", "nfsv4"):
        if subprocess.run(["modprobe", "-q", module], check=False).returncode:
            raise ktap.Skip(f"no module {module}")
    ktap.net6_load()
    ktap.run("ip", "link", "set", "lo", "up")
    export()
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
    before, since = timeouts(), time.monotonic()
    mount()
    took = time.monotonic() - since
    ktap.diag(f"mounted in {took:.2f} s")
    ktap.equal(timeouts() - before, 0, "time-outs")
    # Half a second on a host that is idle; 11 where each record waits for a time-out.
    ktap.true(took < 8 * ktap.SCALE, "at once")
    with open("/proc/net/tcp6", encoding="ascii") as file:
        states = sorted(line.split()[3] for line in file.readlines()[1:] if ":0801 " in line)
    ktap.equal(states, ["01", "01", "0A"], "sockets of net6")


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
