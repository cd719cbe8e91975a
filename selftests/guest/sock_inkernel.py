#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A disk over NVMe/TCP whose initiator and target are the kernel's, each with sockets of its own
# (sock_create()): where net6 is the host's only IPv6 they are net6's.
#
#	A [a0] ------ [b0] B	fd00::a has the disk, fd00::b its storage
#
# guest: full
# guest-append: ipv6.disable=1
# timeout: 200
import hashlib
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import programs

PORT, NAME, SIZE = "4420", "net6-disk", 16 << 20
TARGET = "/sys/kernel/config/nvmet"
STORAGE = "/tmp/storage"


def put(ns, path, value):
    """Sockets are in the namespace of whoever writes."""
    with ns, open(path, "w", encoding="ascii") as file:
        file.write(value)


def setup():
    ktap.need("nvmet-tcp", "nvme-tcp")
    programs.takeover()
    with open(STORAGE, "wb") as file:
        file.truncate(SIZE)
    subsystem, port = f"{TARGET}/subsystems/{NAME}", f"{TARGET}/ports/1"
    os.makedirs(f"{subsystem}/namespaces/1")
    os.makedirs(port)
    for path, value in ((f"{subsystem}/attr_allow_any_host", "1"),
                        (f"{subsystem}/namespaces/1/device_path", STORAGE),
                        (f"{subsystem}/namespaces/1/buffered_io", "1"),
                        (f"{subsystem}/namespaces/1/enable", "1"),
                        (f"{port}/addr_trtype", "tcp"), (f"{port}/addr_adrfam", "ipv6"),
                        (f"{port}/addr_traddr", programs.SERVER),
                        (f"{port}/addr_trsvcid", PORT)):
        put(programs.B, path, value)


def controllers():
    return sorted(os.listdir("/sys/class/nvme")) if os.path.isdir("/sys/class/nvme") else []


def disk():
    for name in os.listdir("/sys/block"):
        if name.startswith("nvme") and os.path.exists(f"/dev/{name}"):
            return f"/dev/{name}"
    return None


def connections(ns):
    with ns, open("/proc/net/tcp6", encoding="ascii") as file:
        return [line.split()[3] for line in file.readlines()[1:]]


@ktap.test
def a_listener_of_the_kernel():
    with programs.B:
        os.symlink(f"{TARGET}/subsystems/{NAME}", f"{TARGET}/ports/1/subsystems/{NAME}")
    ktap.equal(connections(programs.B), ["0A"], "sockets of B")


@ktap.test
def a_client_of_the_kernel():
    put(programs.A, "/dev/nvme-fabrics",
        f"transport=tcp,traddr={programs.SERVER},trsvcid={PORT},nqn={NAME},nr_io_queues=2,"
        "hdr_digest,data_digest")
    ktap.wait_for(30, "the disk", disk)
    # one for the administration, two for data
    ktap.equal(connections(programs.A), ["01"] * 3, "sockets of A")


@ktap.test
def what_is_written_is_read():
    data = os.urandom(SIZE)
    name = disk()
    with open(name, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    # past the client's page cache
    ktap.run("blockdev", "--flushbufs", name)
    for path in (name, STORAGE):
        with open(path, "rb") as file:
            ktap.equal(hashlib.sha256(file.read()).hexdigest(),
                       hashlib.sha256(data).hexdigest(), path)


@ktap.test
def it_goes():
    for name in controllers():
        put(programs.A, f"/sys/class/nvme/{name}/delete_controller", "1")
    ktap.wait_for(30, "the disk is gone", lambda: not disk() and not controllers())
    os.unlink(f"{TARGET}/ports/1/subsystems/{NAME}")
    ktap.wait_for(30, "no connection is left",
                  lambda: not [s for s in connections(programs.B) if s in ("0A", "01")])
    os.rmdir(f"{TARGET}/ports/1")
    put(programs.B, f"{TARGET}/subsystems/{NAME}/namespaces/1/enable", "0")
    os.rmdir(f"{TARGET}/subsystems/{NAME}/namespaces/1")
    os.rmdir(f"{TARGET}/subsystems/{NAME}")


ktap.main(setup=setup)
