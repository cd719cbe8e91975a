#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Files of a server's, over NFS: what is cached of them is not sent any longer than the
# file system itself would.
#
#	[ client, khttpd, NFS client and server on lo ]
#
# guest: stock
# timeout: 120
# pylint: disable=missing-function-docstring
import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

EXPORT, MOUNT, NFSD = "/srv/export", f"{khttpd.WWW}/nfs", "/proc/fs/nfsd"
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
    os.chmod(EXPORT, 0o755)
    for name, line in (("auth.unix.ip", f"nfsd 127.0.0.1 {FOREVER} all"),
                       ("nfsd.export", f"all {EXPORT} {FOREVER} {FLAGS} 65534 65534 0"),
                       ("nfsd.fh", f"all 1 \\x00000000 {FOREVER} {EXPORT}")):
        tell(f"/proc/net/rpc/{name}/channel", line + "\n")
    rpcbind()
    # The shortest time for which files cannot be opened at first.
    tell(f"{NFSD}/nfsv4gracetime", "10")
    tell(f"{NFSD}/threads", "4")
    ktap.at_exit(tell, f"{NFSD}/threads", "0")


def setup():
    ktap.kmod("nfsd", "nfsv4")
    khttpd.fresh()
    export()
    os.makedirs(MOUNT)
    ktap.run("mount", "-i", "-t", "nfs4", "-o",
             "addr=127.0.0.1,clientaddr=127.0.0.1,vers=4.2,sec=sys,actimeo=1",
             "127.0.0.1:/", MOUNT)
    ktap.at_exit(ktap.run, "umount", "-l", MOUNT)
    khttpd.serve(khttpd.V4)
    ktap.at_exit(khttpd.ctl, "stop", "--all")


def change(body):
    """As another client of the server's."""
    with open(f"{EXPORT}/x", "wb") as file:
        file.write(body)


def ask():
    return khttpd.exchange(khttpd.V4, khttpd.get("/nfs/x"))


@ktap.test
def a_new_tag_comes_with_new_content():
    bodies = [bytes([65 + turn]) * 20000 for turn in range(4)]
    change(bodies[0])
    reply = ktap.wait_for(30, "files can be opened", ask)
    for turn, body in enumerate(bodies[1:]):
        tag = reply.fields["etag"]
        ktap.true(reply.body == bodies[turn], f"content {turn}")
        change(body)
        reply = ktap.wait_for(20, "it is another file", lambda t=tag: next(
            (new for new in [ask()] if new.fields["etag"] != t), None))
        # The first one that was wrong would be right in the end.
        ktap.true(reply.body == body, f"content with tag {turn}: {reply.body[:1]}")


@ktap.test
def a_file_with_variants_is_kept_while_the_file_system_knows():
    """That there are none is asked for no more often than what there is."""
    def reply(extra=""):
        return khttpd.exchange(khttpd.V4, khttpd.get("/nfs/x", extra), 8081)

    def kept():
        before = khttpd.count("lookups")
        ktap.equal(reply().status, 200, "status")
        return khttpd.count("lookups") == before

    def coding():
        return reply("Accept-Encoding: gzip\r\n").fields.get("content-encoding")
    khttpd.ctl("serve", "--site", "packed", "--docroot", khttpd.WWW, "--listen",
               "127.0.0.1:8081", "--set", "precompressed=1")
    change(b"x")
    ktap.wait_for(30, "it is kept", kept)
    ktap.equal(coding(), None, "coding")
    with open(f"{EXPORT}/x.gz", "wb") as file:
        file.write(b"packed")
    ktap.wait_for(20, "the variant is sent", lambda: coding() == "gzip")
    ktap.wait_for(20, "it is kept", kept)
    os.unlink(f"{EXPORT}/x.gz")
    ktap.wait_for(20, "it is sent itself", lambda: coding() is None)


ktap.main(setup)
