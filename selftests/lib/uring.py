# SPDX-License-Identifier: GPL-2.0
"""io_uring as bare system calls: what programs built on it do with sockets."""

import ctypes
import mmap
import os
import select
import struct

SETUP, ENTER, REGISTER = 425, 426, 427
(OP_NOP, OP_READV, OP_WRITEV, OP_READ_FIXED, OP_WRITE_FIXED, OP_POLL_ADD, OP_POLL_REMOVE,
 OP_SENDMSG, OP_RECVMSG, OP_ACCEPT, OP_CANCEL, OP_LINK_TIMEOUT, OP_CONNECT, OP_CLOSE, OP_READ,
 OP_WRITE, OP_SEND, OP_RECV, OP_SPLICE, OP_PROVIDE_BUFFERS, OP_SHUTDOWN, OP_SOCKET, OP_SEND_ZC,
 OP_SENDMSG_ZC) = (0, 1, 2, 4, 5, 6, 7, 9, 10, 13, 14, 15, 16, 19, 22, 23, 26, 27, 30, 31, 34,
                   45, 47, 48)
OP_URING_CMD, OP_READ_MULTISHOT, OP_BIND, OP_LISTEN = 46, 49, 56, 57	# 6.1, 6.7, 6.11, 6.11
REGISTER_BUFFERS, UNREGISTER_BUFFERS, REGISTER_FILES, UNREGISTER_FILES = 0, 1, 2, 3
REGISTER_PBUF_RING = 22
FIXED_FILE, LINK, ASYNC, BUFFER_SELECT = 1, 4, 16, 32	# flags of a request
POLL_FIRST, RECV_MULTISHOT, FIXED_BUF = 1, 2, 4		# its ioprio: sends and receives
ACCEPT_MULTISHOT = 1					# its ioprio: accept
# Flags of a completion. MORE: another one of the same request follows.
BUFFER, MORE, SOCK_NONEMPTY, NOTIF = 1, 2, 4, 8
SPLICE_FD_IN_FIXED = 1 << 31
CQ_RING, SQES = 0x8000000, 0x10000000


def _syscall(*args):
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(*args)
    if result < 0:
        raise OSError(ctypes.get_errno(), "io_uring")
    return result


def memory(data):
    """Memory with these bytes, and its address."""
    buf = ctypes.create_string_buffer(bytes(data), len(data))
    return buf, ctypes.addressof(buf)


def pages(size):
    """Memory of its own pages, and its address."""
    area = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return area, ctypes.addressof(ctypes.c_char.from_buffer(area))


def message(address, size, name=b"", control=0):
    """A struct msghdr of one piece of memory, kept by what is returned with its address."""
    iov, iov_at = memory(struct.pack("QQ", address, size))
    room, name_at = memory(name or bytes(128))
    ancillary, control_at = memory(bytes(control or 1))
    head, head_at = memory(struct.pack(
        "QI4xQQQQi4x", name_at if name else 0, len(name), iov_at, 1,
        control_at if control else 0, control, 0))
    return (head, iov, room, ancillary), head_at


class Uring:
    """A ring."""

    def __init__(self, entries=8):
        params = bytearray(120)
        self.fd = _syscall(SETUP, entries, (ctypes.c_char * 120).from_buffer(params))
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

    def queue(self, operation, fd, address=0, length=0, *, offset=0, flags=0, ioprio=0,
              op_flags=0, data=0, index=0, file=0, third=0):
        """One request, to go with the next enter(). @index: of a registered buffer, or the group
        of provided ones; @file: file_index, splice_fd_in or the address's length; @third: addr3.
        """
        tail = self._get(self.sq, self.sq_tail)
        at = tail & self._get(self.sq, self.sq_mask)
        struct.pack_into("=BBHiQQIIQHHIQ8x", self.entries, 64 * at, operation, flags, ioprio,
                         fd, offset, address, length, op_flags, data, index, 0, file, third)
        struct.pack_into("I", self.sq, self.sq_array + 4 * at, at)
        struct.pack_into("I", self.sq, self.sq_tail, (tail + 1) & 0xffffffff)

    def enter(self, count=1):
        """Submits what was queued."""
        return _syscall(ENTER, self.fd, count, 0, 0, None, 0)

    def submit(self, *args, **kwargs):
        """One request at once; arguments as for queue()."""
        self.queue(*args, **kwargs)
        self.enter()

    def register(self, what, argument, count):
        """io_uring_register(); @argument: bytes or None."""
        _syscall(REGISTER, self.fd, what, argument, count)

    def register_buffer(self, address, size):
        """One registered buffer, of index 0."""
        self.register(REGISTER_BUFFERS, struct.pack("QQ", address, size), 1)

    def unregister_buffers(self):
        self.register(UNREGISTER_BUFFERS, None, 0)

    def register_files(self, *fds):
        """Fixed files; -1 is an empty place."""
        self.register(REGISTER_FILES, struct.pack(f"{len(fds)}i", *fds), len(fds))

    def unregister_files(self):
        self.register(UNREGISTER_FILES, None, 0)

    def accept(self, fd):
        """Asks for the next connection of a listener."""
        self.submit(OP_ACCEPT, fd)

    def send_zc(self, fd, data, timeout=10):
        """Sends without a copy if the socket can; the results of all completions."""
        buf, address = memory(data)
        self.submit(OP_SEND_ZC, fd, address, len(data))
        results, flags = [], MORE
        while flags & MORE:
            result, flags = self.take(timeout) or (None, 0)
            results.append(result)
        del buf
        return results

    def done(self, timeout=0):
        """The result of the request, or None if it is not done in that time."""
        taken = self.take(timeout)
        return taken and taken[0]

    def take(self, timeout=0):
        """Result and flags of the next completion, or None."""
        taken = self.completion(timeout)
        return taken and taken[1:]

    def completion(self, timeout=0):
        """Data, result and flags of the next completion, or None."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return None
        head = self._get(self.cq, self.cq_head)
        if head == self._get(self.cq, self.cq_tail):
            return None
        at = self.cqes + 16 * (head & self._get(self.cq, self.cq_mask))
        found = struct.unpack_from("QiI", self.cq, at)
        struct.pack_into("I", self.cq, self.cq_head, (head + 1) & 0xffffffff)
        return found

    def close(self):
        for ring in (self.sq, self.cq, self.entries):
            ring.close()
        os.close(self.fd)
