# SPDX-License-Identifier: GPL-2.0
"""Allocations that fail: a share of them, those of some tasks only, or one after the other."""

# pylint: disable=missing-function-docstring
import contextlib
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
import ktap  # pylint: disable=wrong-import-position

_SLAB = "/sys/kernel/debug/failslab"
_PAGES = "/sys/kernel/debug/fail_page_alloc"


def put(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def fault(**values):
    for name, value in values.items():
        put(f"{_SLAB}/{name.replace('_', '-')}", value)


def setup():
    if not os.path.isdir(_SLAB):
        raise ktap.Skip("the kernel cannot inject faults")
    fault(probability=0, times=-1, verbose=0, interval=1)


@contextlib.contextmanager
def failing(**values):
    fault(**values)
    try:
        yield
    finally:
        fault(probability=0)


@contextlib.contextmanager
def failing_tasks(pids, share=10):
    """A share of what these ask for, of each 100."""
    for pid in pids:
        put(f"/proc/{pid}/make-it-fail", 1)
    try:
        with failing(ignore_gfp_wait="N", task_filter="Y", probability=share):
            yield
    finally:
        fault(task_filter="N")


@contextlib.contextmanager
def no_pages():
    """The pages behind an allocation do not fail: those are as they happen to be needed."""
    orders = f"{_PAGES}/min-order"
    with open(orders, encoding="ascii") as file:
        before = file.read()
    put(orders, "64")
    try:
        yield
    finally:
        put(orders, before)


@contextlib.contextmanager
def only_kmalloc():
    """What is asked for by kmalloc() fails, not what checkers note of it."""
    fault(cache_filter="Y")
    try:
        with no_pages():
            yield
    finally:
        fault(cache_filter="N")


def without_the_nth(number, function, *args):
    """Calls @function, and this thread's @number-th allocation fails. Return: whether one did, and
    the error, or 0.
    """
    error = 0
    with open("/proc/thread-self/fail-nth", "r+b", buffering=0) as nth:
        nth.write(b"%d" % number)
        try:
            function(*args)
        except OSError as err:
            error = err.errno
        left = os.pread(nth.fileno(), 20, 0)
        nth.write(b"0")
    return not int(left.rstrip(b"\0\n")), error
