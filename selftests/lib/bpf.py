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
TEST_RUN, RAW_TRACEPOINT_OPEN, BTF_LOAD, LINK_CREATE, ITER_CREATE = 10, 17, 18, 28, 33
HASH, ARRAY, SOCKMAP, SOCKHASH, REUSEPORT_SOCKARRAY, SK_STORAGE = 1, 2, 15, 18, 20, 24
SOCKET_FILTER, SCHED_CLS, XDP, SK_SKB, SK_REUSEPORT, TRACING = 1, 3, 6, 14, 21, 26
CGROUP_SKB, CGROUP_SOCK, SOCK_OPS, CGROUP_SOCK_ADDR, CGROUP_SOCKOPT, SK_LOOKUP = \
    8, 9, 13, 18, 25, 30
LSM = 29
# Where they are attached (enum bpf_attach_type)
INGRESS, EGRESS, SOCK_CREATE, CGROUP_SOCK_OPS, POST_BIND6, SOCK_RELEASE = 0, 1, 2, 3, 13, 34
NETNS_SK_LOOKUP, LSM_MAC, SK_SKB_VERDICT = 36, 27, 38
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


def put(fd, index, value):
    """An entry of an array gets a value of 8 octets."""
    key = ctypes.create_string_buffer(struct.pack("=I", index), 4)
    octets = ctypes.create_string_buffer(struct.pack("=Q", value), 8)
    call(MAP_UPDATE, struct.pack("=IIQQQ", fd, 0, ctypes.addressof(key),
                                 ctypes.addressof(octets), 0))


def load(kind, attach, code, function=0):
    """A program; function: which one of the kernel it is for, if any (btf_function())."""
    text, words = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
    log = ctypes.create_string_buffer(1 << 16)
    try:
        return call(PROG_LOAD, struct.pack("=IIQQIIQII16sIIIIQIIQII", kind, len(code) // 8,
                                           ctypes.addressof(text), ctypes.addressof(words), 1,
                                           len(log), ctypes.addressof(log), 0, 0, b"", 0, attach,
                                           0, 0, 0, 0, 0, 0, 0, function))
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


def btf_functions(*names):
    """Numbers of functions in the kernel's description of itself, in the order of their names."""
    with open("/sys/kernel/btf/vmlinux", "rb") as file:
        raw = file.read()
    size, kinds, length, strings = struct.unpack_from("=IIII", raw, 4)
    strings += size
    wanted = {}
    for name in names:
        wanted[raw.index(b"\0" + name.encode() + b"\0", strings) + 1 - strings] = name
    # What follows a type, by kind: octets, octets for each member
    more = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0),
            15: (0, 12), 17: (4, 0), 19: (0, 12)}
    found, number, at, end = {}, 0, size + kinds, size + kinds + length
    while at < end:
        number += 1
        name, info = struct.unpack_from("=II", raw, at)
        kind = info >> 24 & 31
        if kind == 12 and name in wanted:
            found[wanted[name]] = number
        once, each = more.get(kind, (0, 0))
        at += 12 + once + each * (info & 0xffff)
    return [found[name] for name in names]


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
def linked(program, attr):
    """A program that is attached for as long as this lasts, by a command with its arguments."""
    try:
        link = call(*attr)
        try:
            yield
        finally:
            os.close(link)
    finally:
        os.close(program)


def hooked(function, code):
    """A program of a security module's hook (btf_functions() of bpf_lsm_...)."""
    program = load(LSM, LSM_MAC, code, function)
    return linked(program, (RAW_TRACEPOINT_OPEN, struct.pack("=QI4x", 0, program)))


def looking(ns, code):
    """A program that is asked about what arrives in a namespace."""
    program = load(SK_LOOKUP, NETNS_SK_LOOKUP, code)
    with ns, open("/proc/thread-self/ns/net", "rb") as file:
        fd = os.dup(file.fileno())
    return linked(program, (LINK_CREATE, struct.pack("=IIII", program, fd, NETNS_SK_LOOKUP, 0)))


@contextlib.contextmanager
def inside(root, group):
    """This process is in the group."""
    enter(group)
    try:
        yield
    finally:
        enter(root)
