#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Where net6 is the host's only IPv6 it keeps a route for a device, and the counters that
# other kernel code looks for. Both are charged to the memory cgroup of who makes the device.
#
#	[ one namespace with many dummy devices ]
#
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 120
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap

DEVICES = 100
# Octets for a device on each processor: both what net6 counts itself, 688, and what others look
# for, 592, must be among them.
COUNTERS = 1000
A = ktap.later("A")


def setup():
    ktap.kmod("dummy")
    ktap.net6_load()
    A.make()


def enter(group):
    with open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


@ktap.test
def the_counters_of_devices_are_charged_to_their_maker():
    root, group = ktap.cgroup()

    def charged():
        with open(f"{group}/memory.stat", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("percpu "))
    try:
        enter(group)
        before = charged()
        for n in range(DEVICES):
            A.ip("link", "add", f"d{n}", "type", "dummy")
        enter(root)
        wanted = DEVICES * COUNTERS * os.cpu_count()
        ktap.wait_for(10, f"{wanted} bytes are charged", lambda: charged() - before >= wanted,
                      look=lambda: ktap.diag(f"{charged() - before} bytes"))
        for n in range(DEVICES):
            A.ip("link", "del", f"d{n}")
        ktap.wait_for(20, "nothing is charged any more",
                      lambda: charged() - before <= wanted // 10,
                      look=lambda: ktap.diag(f"{charged() - before} bytes"))
    finally:
        enter(root)
        os.rmdir(group)


ktap.main(setup)
