# SPDX-License-Identifier: GPL-2.0
"""The kernel's own NFS server, told what exportfs, mountd and rpcbind would tell it."""
import os
import socket
import struct
import threading

import ktap

EXPORT, NFSD = "/srv/export", "/proc/fs/nfsd"
FOREVER = (1 << 31) - 1
# Any port, not only privileged ones; no waiting for disks; no check of subtrees; a number
# names it (NFSEXP_INSECURE_PORT, _ASYNC, _NOSUBTREECHECK, _FSID).
FLAGS = 0x2412


def tell(path, text):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _answer(sock):
    """Grants whatever rpcbind is asked for: RFC 5531, a record mark before each message."""
    with sock, sock.makefile("rb") as calls:
        while mark := calls.read(4):
            call = calls.read(struct.unpack("!I", mark)[0] & 0x7fffffff)
            xid, procedure = struct.unpack("!I16xI", call[:24])
            reply = struct.pack("!6I", xid, 1, 0, 0, 0, 0)
            if procedure:
                reply += struct.pack("!I", 1)
            sock.sendall(struct.pack("!I", 1 << 31 | len(reply)) + reply)


def _rpcbind():
    """The server does not start without one."""
    listener = socket.create_server(("127.0.0.1", 111))

    def serve():
        while True:
            threading.Thread(target=_answer, args=listener.accept()[:1], daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()


def export(client, mode, threads, port=""):
    """Files of EXPORT, which its user mounts beforehand if need be, to one client; @port: what
    the server is to listen on, by default what it chooses.
    """
    ktap.run("mount", "-t", "nfsd", "nfsd", NFSD)
    ktap.at_exit(ktap.run, "umount", "-l", NFSD)
    os.makedirs(EXPORT, exist_ok=True)
    os.chmod(EXPORT, mode)
    for name, line in (("auth.unix.ip", f"nfsd {client} {FOREVER} all"),
                       ("nfsd.export", f"all {EXPORT} {FOREVER} {FLAGS} 65534 65534 0"),
                       ("nfsd.fh", f"all 1 \\x00000000 {FOREVER} {EXPORT}")):
        tell(f"/proc/net/rpc/{name}/channel", line + "\n")
    _rpcbind()
    # The shortest time for which files cannot be opened at first.
    tell(f"{NFSD}/nfsv4gracetime", "10")
    if port:
        tell(f"{NFSD}/portlist", port)
    tell(f"{NFSD}/threads", str(threads))
    ktap.at_exit(tell, f"{NFSD}/threads", "0")
