# SPDX-License-Identifier: GPL-2.0
"""Allocations of a system call that fail in their turn (fail-nth), on kernels that can."""
import errno
import itertools
import os
import types

import ktap

NO_MEMORY = {errno.ENOMEM, errno.ENOBUFS}
# Linux without memory for a device's name: netdev_register_kobject() does not ask whether
# dev_set_name() did it, and device_add() finds no name. Each new device, so lo as well.
DEVICE_SAYS = {errno.EINVAL}
FAULTS = ("failslab", "fail_page_alloc")
shared = types.SimpleNamespace()	# nth: fails this thread's allocations


def fault(what, name, value):
    with open(f"/sys/kernel/debug/{what}/{name}", "w", encoding="ascii") as file:
        file.write(str(value))


class Nth:
    """Makes the nth allocation of this thread fail."""

    def __init__(self):
        self.fd = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def arm(self, n):
        os.pwrite(self.fd, b"%d" % n, 0)

    def left(self):
        """What is left of n, and no more failures."""
        left = int(os.pread(self.fd, 20, 0).rstrip(b"\0\n") or 0)
        os.pwrite(self.fd, b"0", 0)
        return left


def once(n, function):
    """The errno that function gave when its nth allocation failed; was there an nth?"""
    error, value = None, None
    shared.nth.arm(n)
    try:
        value = function()
    except OSError as problem:
        error = problem.errno
    failed = not shared.nth.left()
    return failed, error, value


def sweep(name, prepare, call, undo=None, also=(), first=1, step=1):
    """call(prepare()) with each allocation failing in its turn, until none does."""
    refused = 0
    for n in itertools.count(first, step):
        thing = prepare()
        failed, error, value = once(n, lambda t=thing: call(t))
        if undo:
            undo(thing, value)
        if not failed:
            ktap.equal(error, None, f"{name} with memory")
            ktap.diag(f"{name}: {n - 1} allocations, refused {refused} times")
            return n - 1
        if error is not None:
            refused += 1
            ktap.true(error in NO_MEMORY | set(also),
                      f"{name}, allocation {n}: {errno.errorcode.get(error, error)}")


def setup():
    """Skips the file where the kernel injects no faults."""
    if not all(os.path.isdir(f"/sys/kernel/debug/{what}") for what in FAULTS):
        raise ktap.Skip("the kernel cannot inject faults")
    for what in FAULTS:
        fault(what, "verbose", 0)
        fault(what, "probability", 0)
        fault(what, "times", -1)
    fault("failslab", "ignore-gfp-wait", "N")
    shared.nth = Nth()
