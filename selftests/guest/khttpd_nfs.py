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
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
import nfs     # pylint: disable=wrong-import-position
from nfs import EXPORT  # pylint: disable=wrong-import-position

MOUNT = f"{khttpd.WWW}/nfs"


def setup():
    ktap.kmod("nfsd", "nfsv4")
    khttpd.fresh()
    nfs.export("127.0.0.1", 0o755, 4)
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
