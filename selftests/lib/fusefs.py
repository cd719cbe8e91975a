#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A file system of a program's, for tests, of files that can be read, or not to their
end, or of which some question is never answered.

    fusefs.py DIRECTORY [OPTION=SECONDS]...     until it is killed

"whole": can be read. "group*": by one group only. "broken": EIO in its middle. "hung*": reading
it never ends. "unknown*": looking for it never ends. "late": can be read; once there is a file
HOLD, what it is is never told. Each question that is left open makes QUESTIONS a byte longer.
"""

import contextlib
import errno
import mmap
import os
import random
import stat
import subprocess
import sys
import threading

import fusepy
import ktap

HOLD, QUESTIONS = "/tmp/fusefs.hold", "/tmp/fusefs.questions"
DATA = random.Random(6).randbytes(1_000_001)
BROKEN = 600_000


def never():
    with open(QUESTIONS, "ab") as file:
        file.write(b"?")
    threading.Event().wait()


class Files(fusepy.Operations):
    """What the kernel asks, the kernel's arguments."""

    def getattr(self, path, fh=None):
        """Ownership and size, or that there is no such file."""
        if path == "/":
            # Linux looks for the access list of a directory that its group may use, and has
            # none without asking: then nothing below is found without waiting.
            return {"st_mode": stat.S_IFDIR | 0o705, "st_nlink": 2}
        if path.startswith("/unknown") or (path == "/late" and os.path.exists(HOLD)):
            never()
        if not path.startswith(("/whole", "/group", "/broken", "/hung", "/late")):
            raise fusepy.FuseOSError(errno.ENOENT)
        return {"st_mode": stat.S_IFREG | (0o640 if path.startswith("/group") else 0o644),
                "st_gid": 65534, "st_nlink": 1, "st_size": len(DATA),
                "st_mtime": 1_000_000_000, "st_ctime": 1_000_000_000}

    def read(self, path, size, offset, fh):
        """Its bytes."""
        if path.startswith("/hung"):
            never()
        if path == "/broken" and offset + size > BROKEN:
            raise fusepy.FuseOSError(errno.EIO)
        return DATA[offset:offset + size]

    def readdir(self, path, fh):
        """Names that can be asked for without harm."""
        return [".", "..", "whole", "broken"]


def questions():
    """How many have no answer."""
    return os.path.getsize(QUESTIONS) if os.path.exists(QUESTIONS) else 0


@contextlib.contextmanager
def endless_send(sock, directory):
    """While in here a program sends with sock from memory that never comes, and owns it."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(QUESTIONS)
    os.makedirs(directory, exist_ok=True)
    files = subprocess.Popen([sys.executable, __file__, directory])
    sender = 0
    try:
        ktap.wait_for(20, "it is mounted", lambda: os.path.ismount(directory))
        sender = os.fork()
        if not sender:
            with contextlib.suppress(BaseException), \
                    open(f"{directory}/hung", "rb") as file:
                sock.send(mmap.mmap(file.fileno(), 65536, prot=mmap.PROT_READ))
            os._exit(0)
        ktap.wait_for(20, "it waits for its first page", questions)
        yield
    finally:
        files.kill()
        files.wait()
        ktap.run("umount", "-l", directory, check=False)
        if sender:
            os.waitpid(sender, 0)


def ask_while_owned(sock, ask):
    """What ask() returns; it must not wait for the socket, which a program owns."""
    ktap.kmod("fuse")
    answer = []
    asker = threading.Thread(target=lambda: answer.append(ask()))
    with endless_send(sock, "/tmp/fuse"):
        asker.start()
        asker.join(20 * ktap.SCALE)
        held_up = asker.is_alive()
    asker.join()
    ktap.true(not held_up, "the answer comes while the socket is owned")
    return answer[0]


def main():
    """Mounts it and stays."""
    times = dict(word.split("=") for word in sys.argv[2:])
    fusepy.FUSE(Files(), sys.argv[1], foreground=True, allow_other=True,
                default_permissions=True, **times)


if __name__ == "__main__":
    main()
