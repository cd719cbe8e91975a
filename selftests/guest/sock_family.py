#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Which address families net6 takes: its own beside native IPv6; bad input to insmod is
# refused with the right error and a clear line in the log.
#
# guest: stock+
# timeout: 60
import os
import subprocess
import socket
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

MODULE = f"{ktap.BUILD}/net6/net6.ko"


def setup():
    ktap.run("modprobe", "-q", "-a", "libsha256", check=False)


def insmod(*parameters):
    """Standard error of insmod and what the kernel logged meanwhile."""
    with open("/dev/kmsg", "rb", buffering=0) as kmsg:
        os.lseek(kmsg.fileno(), 0, os.SEEK_END)
        os.set_blocking(kmsg.fileno(), False)
        done = subprocess.run(("insmod", MODULE) + parameters, capture_output=True,
                              text=True, check=False)
        log = ""
        while True:
            try:
                log += os.read(kmsg.fileno(), 8192).decode()
            except BlockingIOError:
                break
    return done.stderr, log


def can(family):
    try:
        socket.socket(family, socket.SOCK_DGRAM).close()
        return True
    except OSError:
        return False


@ktap.test
def an_unknown_family_is_refused():
    for value in ("nonsense", "", "NET6", "net66", "x" * 900):
        error, log = insmod(f"family={value}")
        # insmod's words for EINVAL
        ktap.true("Invalid parameters" in error, f"EINVAL for {value[:20]!r}: {error}")
        ktap.true("is unknown: use auto, net6 or inet6" in log, f"a clear line: {log}")
        ktap.true(not os.path.isdir("/sys/module/net6"), "not loaded")
    ktap.true(not can(ktap.AF_NET6), "no family 19")


@ktap.test
def the_native_stacks_family_is_not_taken_from_it():
    error, log = insmod("family=inet6")
    ktap.true("File exists" in error, f"EEXIST: {error}")
    ktap.true("address family 10 is taken by the native IPv6 stack" in log, f"log: {log}")
    ktap.true(can(socket.AF_INET6), "native sockets are made")
    ktap.true(not can(ktap.AF_NET6), "family 19 was given back")


@ktap.test
def a_taken_slot_is_told():
    slot = f"{ktap.BUILD}/selftests/modules/net6_slot.ko"
    if not os.path.exists(slot):
        raise ktap.Skip("built without NET6_SELFTESTS=m")
    ktap.run("insmod", slot)
    try:
        for value in ("auto", "net6", "inet6"):
            error, log = insmod(f"family={value}")
            ktap.true("File exists" in error, f"EEXIST for family={value}: {error}")
            ktap.true("address family 19 is taken by another module" in log, f"log: {log}")
            ktap.true(not os.path.isdir("/sys/module/net6"), "not loaded")
    finally:
        ktap.run("rmmod", "net6_slot")
    error, _ = insmod()
    ktap.equal(error, "", "loaded when it is free")
    ktap.unload("net6")


@ktap.test
def an_unknown_way_to_attach_is_refused():
    for value in ("nonsense", ""):
        error, log = insmod(f"attach={value}")
        ktap.true("Invalid parameters" in error, f"EINVAL for {value!r}: {error}")
        ktap.true("neither auto nor manual" in log, f"a clear line: {log}")
        ktap.true(not os.path.isdir("/sys/module/net6"), "not loaded")


@ktap.test
def both_ways_beside_native_give_family_19():
    for value in ("auto", "net6"):
        error, _ = insmod(f"family={value}")
        ktap.equal(error, "", f"family={value}")
        s = ktap.net6_socket(socket.SOCK_DGRAM)
        ktap.equal(s.getsockname()[:2], ("::", 0), "a socket")
        n = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        n.bind(("::1", 0))
        rm = subprocess.run(("rmmod", "net6"), capture_output=True, text=True, check=False)
        ktap.true("in use" in rm.stderr, f"a socket pins the module: {rm.stderr}")
        s.close()
        n.close()
        ktap.wait_for(5, "the module can go",
                      lambda: not subprocess.run(("rmmod", "net6"), check=False,
                                                 capture_output=True).returncode)


ktap.main(setup=setup)
