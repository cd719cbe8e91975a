# SPDX-License-Identifier: GPL-2.0
"""BPF by hand: programs assembled from instructions, maps, and what attaches them to a group."""
import contextlib
import ctypes
import os
import platform
import struct

import ktap

MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, PROG_LOAD, PROG_ATTACH, PROG_DETACH = 0, 1, 2, 5, 8, 9
LINK_CREATE = 28
HASH, ARRAY = 1, 2
CGROUP_SKB, CGROUP_SOCK, SOCK_OPS, CGROUP_SOCK_ADDR, CGROUP_SOCKOPT, SK_LOOKUP = \
    8, 9, 13, 18, 25, 30
# Where they are attached (enum bpf_attach_type)
INGRESS, EGRESS, SOCK_CREATE, CGROUP_SOCK_OPS, POST_BIND6, SOCK_RELEASE = 0, 1, 2, 3, 13, 34
LOOKUP, ADD, LOAD_BYTES = 1, 0, 26

_libc = ktap._libc


def call(command, attr):
    number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
    result = _libc.syscall(number, command, attr, len(attr))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command})")
    return result


def insn(code, dst=0, src=0, off=0, imm=0):
    return struct.pack("=BBhi", code, dst | src << 4, off, imm)


def mov(dst, imm):
    return insn(0xb7, dst, imm=imm)


def copy(dst, src):
    return insn(0xbf, dst, src)


def frame(dst, off):
    """dst = frame pointer + off"""
    return copy(dst, 10) + insn(0x07, dst, imm=off)


def helper(number):
    return insn(0x85, imm=number)


def the_map(dst, fd):
    return insn(0x18, dst, 1, imm=fd) + insn(0)


EXIT = insn(0x95)


def count(fd, reg):
    """The value of an array at the index in a register goes up by one; r1 to r5 are lost."""
    return insn(0x63, 10, reg, -4) + the_map(1, fd) + frame(2, -4) + helper(LOOKUP) + \
        insn(0x15, 0, off=2) + mov(1, 1) + insn(0xdb, 0, 1)


def array(entries, kind=ARRAY, value=8):
    return call(MAP_CREATE, struct.pack("=IIIII", kind, 4, value, entries, 0) + bytes(52))


def counts(fd, entries):
    """{index: value} of what is not 0"""
    seen, value = {}, ctypes.create_string_buffer(8)
    for i in range(entries):
        key = ctypes.create_string_buffer(struct.pack("=I", i), 4)
        call(MAP_LOOKUP, struct.pack("=IIQQQ", fd, 0, ctypes.addressof(key),
                                     ctypes.addressof(value), 0))
        number = struct.unpack("=Q", value.raw)[0]
        if number:
            seen[i] = number
    return seen


def load(kind, attach, code):
    text, words = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
    log = ctypes.create_string_buffer(1 << 16)
    try:
        return call(PROG_LOAD, struct.pack("=IIQQIIQII16sII", kind, len(code) // 8,
                                           ctypes.addressof(text), ctypes.addressof(words), 1,
                                           len(log), ctypes.addressof(log), 0, 0, b"", 0, attach))
    except OSError:
        ktap.diag(log.value.decode())
        raise


def enter(where):
    with open(f"{where}/cgroup.procs", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


@contextlib.contextmanager
def attached(group, kind, attach, code):
    """A program of a group."""
    program, directory = load(kind, attach, code), os.open(group, os.O_RDONLY)
    attr = struct.pack("=IIII", directory, program, attach, 0)
    try:
        call(PROG_ATTACH, attr)
        try:
            yield
        finally:
            call(PROG_DETACH, attr)
    finally:
        os.close(directory)
        os.close(program)


@contextlib.contextmanager
def inside(root, group):
    """This process is in the group."""
    enter(group)
    try:
        yield
    finally:
        enter(root)
