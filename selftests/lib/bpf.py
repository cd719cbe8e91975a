# SPDX-License-Identifier: GPL-2.0
"""BPF by hand: programs assembled from instructions, maps, and what attaches them to a group."""
import contextlib
import ctypes
import os
import platform
import struct

import ktap

MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, MAP_DELETE, PROG_LOAD, OBJ_PIN, PROG_ATTACH, PROG_DETACH = \
    0, 1, 2, 3, 5, 6, 8, 9
TEST_RUN, BTF_LOAD, LINK_CREATE, ITER_CREATE = 10, 18, 28, 33
HASH, ARRAY, SOCKMAP, SOCKHASH, REUSEPORT_SOCKARRAY, SK_STORAGE = 1, 2, 15, 18, 20, 24
SOCKET_FILTER, SCHED_CLS, XDP, SK_REUSEPORT, TRACING = 1, 3, 6, 21, 26
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


def load(kind, attach, code, function=0):
    """A program; @function: the type of what it is attached to, if it is one of tracing."""
    text, words = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
    log = ctypes.create_string_buffer(1 << 16)
    try:
        return call(PROG_LOAD, struct.pack("=IIQQIIQII16sII", kind, len(code) // 8,
                                           ctypes.addressof(text), ctypes.addressof(words), 1,
                                           len(log), ctypes.addressof(log), 0, 0, b"", 0, attach)
                    + struct.pack("=36xII", function, 0))
    except OSError:
        ktap.diag(log.value.decode())
        raise


def update(fd, key, value, flags=0):
    """An entry of a map, both of bytes."""
    key, value = ctypes.create_string_buffer(key, len(key)), ctypes.create_string_buffer(
        value, len(value))
    call(MAP_UPDATE, struct.pack("=IIQQQ", fd, 0, ctypes.addressof(key),
                                 ctypes.addressof(value), flags))


def lookup(fd, key, size):
    """The value of an entry."""
    key, value = ctypes.create_string_buffer(key, len(key)), ctypes.create_string_buffer(size)
    call(MAP_LOOKUP, struct.pack("=IIQQQ", fd, 0, ctypes.addressof(key),
                                 ctypes.addressof(value), 0))
    return value.raw


def delete(fd, key):
    key = ctypes.create_string_buffer(key, len(key))
    call(MAP_DELETE, struct.pack("=IIQ16x", fd, 0, ctypes.addressof(key)))


def run(program, packet=bytes(64)):
    """What a program of tc's returns for a frame that it is given."""
    data = ctypes.create_string_buffer(packet, len(packet))
    attr = ctypes.create_string_buffer(struct.pack(
        "=IIIIQQ48x", program, 0, len(packet), 0, ctypes.addressof(data), 0), 80)
    call(TEST_RUN, attr)
    return struct.unpack_from("=4xi", attr.raw)[0]


def pinned(program, name):
    """A path by which other programs find it."""
    top = "/tmp/ktap.bpf"
    if not os.path.isdir(top):
        os.mkdir(top)
        ktap.run("mount", "-t", "bpf", "bpf", top)
        ktap.at_exit(ktap.run, "umount", "-l", top)
    if os.path.exists(f"{top}/{name}"):
        os.unlink(f"{top}/{name}")
    path = ctypes.create_string_buffer(f"{top}/{name}".encode())
    call(OBJ_PIN, struct.pack("=QII", ctypes.addressof(path), program, 0))
    return f"{top}/{name}"


def store(data, at):
    """Octets to the stack, at frame pointer - at."""
    data += bytes(-len(data) % 4)
    return b"".join(insn(0x62, 10, off=-at + i, imm=struct.unpack_from("=i", data, i)[0])
                    for i in range(0, len(data), 4))


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
