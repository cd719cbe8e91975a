# SPDX-License-Identifier: GPL-2.0
"""io_uring for accept() and send(), as bare system calls: what programs built on it do."""

import ctypes
import mmap
import os
import select
import struct

SETUP, ENTER = 425, 426
OP_ACCEPT, OP_SEND_ZC = 13, 47
MORE = 2			# another completion of the same request follows
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

    def _submit(self, operation, fd, address=0, length=0):
        tail = self._get(self.sq, self.sq_tail)
        index = tail & self._get(self.sq, self.sq_mask)
        struct.pack_into("=BBHiQQIIQ24x", self.entries, 64 * index,
                         operation, 0, 0, fd, 0, address, length, 0, 0)
        struct.pack_into("I", self.sq, self.sq_array + 4 * index, index)
        struct.pack_into("I", self.sq, self.sq_tail, (tail + 1) & 0xffffffff)
        _syscall(ENTER, self.fd, 1, 0, 0, None, 0)

    def accept(self, fd):
        """Asks for the next connection of a listener."""
        self._submit(OP_ACCEPT, fd)

    def send_zc(self, fd, data, timeout=10):
        """Sends without a copy if the socket can; the results of all completions."""
        buf = ctypes.create_string_buffer(data, len(data))
        self._submit(OP_SEND_ZC, fd, ctypes.addressof(buf), len(data))
        results, flags = [], MORE
        while flags & MORE:
            result, flags = self._take(timeout) or (None, 0)
            results.append(result)
        return results

    def done(self, timeout=0):
        """The result of the request, or None if it is not done in that time."""
        taken = self._take(timeout)
        return taken and taken[0]

    def _take(self, timeout):
        """Result and flags of the next completion, or None."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return None
        head = self._get(self.cq, self.cq_head)
        if head == self._get(self.cq, self.cq_tail):
            return None
        at = self.cqes + 16 * (head & self._get(self.cq, self.cq_mask))
        found = struct.unpack_from("iI", self.cq, at + 8)
        struct.pack_into("I", self.cq, self.cq_head, (head + 1) & 0xffffffff)
        return found

    def close(self):
        for ring in (self.sq, self.cq, self.entries):
            ring.close()
        os.close(self.fd)
