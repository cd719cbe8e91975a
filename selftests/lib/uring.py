# SPDX-License-Identifier: GPL-2.0
"""io_uring for accept(), as bare system calls: what programs built on it do."""

import ctypes
import mmap
import os
import select
import struct

SETUP, ENTER = 425, 426
OP_ACCEPT = 13
GETEVENTS = 1
CQ_RING, SQES = 0x8000000, 0x10000000


def _syscall(*args):
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(*args)
    if result < 0:
        raise OSError(ctypes.get_errno(), "io_uring")
    return result


class Uring:
    """A ring; one request at a time."""

    def __init__(self):
        params = bytearray(120)
        self.fd = _syscall(SETUP, 8, (ctypes.c_char * 120).from_buffer(params))
        sq_entries, cq_entries = struct.unpack_from("II", params)
        (_, self.sq_tail, self.sq_mask, _, _, _, self.sq_array) = \
            struct.unpack_from("7I", params, 40)
        (self.cq_head, self.cq_tail, self.cq_mask, _, _, self.cqes) = \
            struct.unpack_from("6I", params, 80)
        self.sq = mmap.mmap(self.fd, self.sq_array + 4 * sq_entries)
        self.cq = mmap.mmap(self.fd, self.cqes + 16 * cq_entries, offset=CQ_RING)
        self.entries = mmap.mmap(self.fd, 64 * sq_entries, offset=SQES)

    @staticmethod
    def _get(ring, at):
        return struct.unpack_from("I", ring, at)[0]

    def accept(self, fd):
        """Asks for the next connection of a listener."""
        tail = self._get(self.sq, self.sq_tail)
        index = tail & self._get(self.sq, self.sq_mask)
        struct.pack_into("=BBHiQQIIQ24x", self.entries, 64 * index,
                         OP_ACCEPT, 0, 0, fd, 0, 0, 0, 0, 0)
        struct.pack_into("I", self.sq, self.sq_array + 4 * index, index)
        struct.pack_into("I", self.sq, self.sq_tail, (tail + 1) & 0xffffffff)
        _syscall(ENTER, self.fd, 1, 0, 0, None, 0)

    def done(self, timeout=0):
        """The result of the request, or None if it is not done in that time."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return None
        head = self._get(self.cq, self.cq_head)
        if head == self._get(self.cq, self.cq_tail):
            return None
        at = self.cqes + 16 * (head & self._get(self.cq, self.cq_mask))
        result = struct.unpack_from("i", self.cq, at + 8)[0]
        struct.pack_into("I", self.cq, self.cq_head, (head + 1) & 0xffffffff)
        return result

    def close(self):
        for ring in (self.sq, self.cq, self.entries):
            ring.close()
        os.close(self.fd)
