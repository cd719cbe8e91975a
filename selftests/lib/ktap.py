# SPDX-License-Identifier: GPL-2.0
"""KTAP, namespaces and sockets of net6 for tests in Python.

    #!/usr/bin/python3
    # SPDX-License-Identifier: GPL-2.0
    # What this test proves (header lines as in ktap.sh).
    import os, sys
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
    import ktap

    @ktap.test
    def echo_is_answered():
        ktap.equal(1 + 1, 2, "sum")

    ktap.main(setup=ktap.net6_load)

A test is a function; it fails by an exception (ktap.Fail, or any other) and is
skipped by ktap.Skip. Names are the function's with spaces for underscores, or
the argument of @ktap.test("name"). Clean-up given to at_exit() runs at the end.
Namespaces stand at the top of a file, A = ktap.later("A"), and are made in its setup(). What
else that finds for the tests is in a types.SimpleNamespace(); no function says "global".
"""

import contextlib
import ctypes
import errno
import fcntl
import glob
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback

AF_NET6 = 19
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
MNT_DETACH = 2
SCALE = int(os.environ.get("NET6_SCALE") or 1)
CHECKING = os.environ.get("NET6_KERNEL") == "checking"
# Which kernel this is, as (6, 1): native has learnt more since then.
KERNEL = tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2])
VIRTUAL = bool(os.environ.get("NET6_VIRTUAL_TIME"))
BUILD = os.environ.get("NET6_BUILD", "")
OUT = os.environ.get("NET6_OUT", "/tmp")
CGROUPS = "/tmp/ktap.cgroup", "/tmp/ktap.cgroup/net6"

_libc = ctypes.CDLL(None, use_errno=True)
_tests = []
_cleanup = []
_witnesses = []


class Fail(Exception):
    """What was tested is not so."""


class Skip(Exception):
    """It cannot be tested here."""


def native_asks_nobody():
    """Skips what net6 cannot be asked where the kernel calls native IPv6 without a table."""
    if KERNEL >= (7, 1):
        raise Skip("Linux from 7.1 on asks native IPv6 only")


def test(what):
    """Registers a function as a test, with its own or a given name."""
    if callable(what):
        _tests.append((what.__name__.replace("_", " "), what))
        return what

    def register(function):
        _tests.append((what, function))
        return function
    return register


def equal(seen, wanted, what):
    if seen != wanted:
        raise Fail(f"{what}: got {seen!r}, wanted {wanted!r}")


def true(value, what):
    if not value:
        raise Fail(f"not so: {what}")


def raises(errno_, function, *args):
    """The call fails with this errno, and no other way."""
    try:
        function(*args)
    except OSError as error:
        if error.errno != errno_:
            raise Fail(f"errno {error.errno}, wanted {errno_}") from error
        return
    raise Fail(f"succeeded, wanted errno {errno_}")


def failing(function, *args):
    """What the call returns, or the name of its error."""
    try:
        return function(*args)
    except OSError as error:
        return errno.errorcode[error.errno]


def wait_for(seconds, what, function, look=None):
    """Polls until function() is true and returns its value. If it never is, look()
    says where things stand. In virtual time the clock jumps while a program is loaded from the
    host. There it polls as often as it would have, and asks the host for something each time.
    """
    end = time.monotonic() + seconds * SCALE
    tries = int(seconds * SCALE / 0.05) if VIRTUAL else 0
    while True:
        value = function()
        if value:
            return value
        if tries > 0:
            tries -= 1
            os.statvfs(OUT)
        elif time.monotonic() > end:
            if look:
                look()
            raise Fail(f"waited {seconds * SCALE} s in vain until {what}")
        time.sleep(0.05)


def at_exit(function, *args):
    _cleanup.append((function, args))


def diag(text):
    for line in str(text).splitlines():
        print("# " + line)


def run(*command, check=True, timeout=60, **options):
    """Runs a command, returns its standard output. In virtual time there is no time-out:
    the clock jumps while a program waits for files of a host that is slow.
    """
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.STDOUT,
                          timeout=None if VIRTUAL else timeout * SCALE, check=False, **options)
    if check and done.returncode:
        raise Fail(f"status {done.returncode} of {' '.join(command)}: "
                   f"{done.stdout[-1000:]}")
    return done.stdout


class Netns:
    """A network namespace; in a with block this thread is inside it."""

    _before = threading.local()

    def __init__(self, name, now=True):
        self._word, self._name = name, None
        if now:
            self.make()

    def make(self):
        self._name = f"{self._word}-{os.getpid()}"
        run("ip", "netns", "add", self._name)
        at_exit(self.delete)
        self.up("lo")

    @property
    def name(self):
        """Who asks for it means the namespace: see later()."""
        if not self._name:
            self.make()
        return self._name

    @property
    def path(self):
        return f"/run/netns/{self.name}"

    def _programs(self):
        """Those that are inside, this one left out."""
        inode = os.stat(self.path).st_ino
        for directory in glob.glob("/proc/[0-9]*"):
            pid = int(os.path.basename(directory))
            try:
                if pid != os.getpid() and os.stat(directory + "/ns/net").st_ino == inode:
                    yield pid
            except OSError:
                pass

    def delete(self):
        """As "ip netns del" does; a program that is started costs a slow guest much."""
        if not os.path.exists(self.path):
            return
        for pid in self._programs():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _libc.umount2(self.path.encode(), MNT_DETACH)
        os.unlink(self.path)

    def __enter__(self):
        there = os.open(self.path, os.O_RDONLY)
        here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        self._enter(there)
        self._before.__dict__.setdefault("stack", []).append(here)
        return self

    def __exit__(self, *_):
        self._enter(self._before.stack.pop())

    @staticmethod
    def _enter(fd):
        try:
            if _libc.setns(fd, 0x40000000):
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(fd)

    def ip(self, *args):
        return run("ip", "-n", self.name, *args)

    def up(self, dev):
        self._set_flag(dev, IFF_UP)

    def down(self, dev):
        self._set_flag(dev, 0)

    def _set_flag(self, dev, flag):
        """As ip(8) does. A program is read from the host when it starts, and in virtual time
        that may take longer than what then comes from the device is waited for.
        """
        with self, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            request = struct.pack("16sH22x", dev.encode(), 0)
            flags, = struct.unpack_from("16xH", fcntl.ioctl(sock, SIOCGIFFLAGS, request))
            fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH22x", dev.encode(),
                                                        flags & ~IFF_UP | flag))

    def run(self, *command, **options):
        """Without nsenter, which costs as much as most commands."""
        with self:
            return run(*command, **options)

    def popen(self, *command, **options):
        """Starts a program in the namespace, killed at the end."""
        with self:
            process = subprocess.Popen(command, **options)

        def end():
            process.kill()
            process.wait()
        at_exit(end)
        return process


def later(name):
    """A namespace that is made when it is first used, for the top of a file."""
    return Netns(name, now=False)


def veth(ns1, dev1, ns2, dev2):
    """A cable between two namespaces, both ends up."""
    kmod("veth")
    run("ip", "link", "add", dev1, "up", "netns", ns1.name, "type", "veth",
        "peer", "name", dev2, "netns", ns2.name)
    ns2.up(dev2)


def kmod(*names):
    """Loads modules of the guest's own kernel, built-in ones are fine."""
    for name in names:
        if not os.path.isdir(f"/sys/module/{name}"):
            # The checking kernel has no list of what is built in.
            run("modprobe", "-q", name, check=not CHECKING)


def need(*modules):
    """Loads modules of the guest's own kernel; without one of them the test is skipped."""
    for name in modules:
        if subprocess.run(["modprobe", "-q", name], check=False).returncode and \
                not os.path.isdir(f"/sys/module/{name}"):
            raise Skip(f"no module {name}")


def net6_load(*parameters):
    run("modprobe", "-q", "-a", "libsha256", check=False)
    run("insmod", f"{BUILD}/net6/net6.ko", *parameters)
    at_exit(unload, "net6")


def khttpd_load(*parameters):
    run("insmod", f"{BUILD}/khttpd/khttpd.ko", *parameters)
    at_exit(unload, "khttpd")


def cgroup():
    """Makes CGROUPS: the root of cgroup2, and a group of it with the memory controller. Its user
    removes the group.
    """
    root, group = CGROUPS
    os.makedirs(root, exist_ok=True)
    if subprocess.run(["mount", "-t", "cgroup2", "none", root], check=False).returncode:
        raise Skip("no cgroup2")
    at_exit(run, "umount", root)
    try:
        with open(f"{root}/cgroup.subtree_control", "w", encoding="ascii") as file:
            file.write("+memory")
    except OSError as error:
        raise Skip("no memory controller") from error
    os.mkdir(group)
    return CGROUPS


def asleep(thread):
    """Whether a thread waits in the kernel, and not for Python's own lock."""
    task = f"/proc/self/task/{thread.native_id}/"
    try:
        with open(task + "stat", encoding="ascii") as stat, open(task + "wchan",
                                                                 encoding="ascii") as wchan:
            return (stat.read().rsplit(")", 1)[1].split()[0] == "S"
                    and "futex" not in wchan.read())
    except FileNotFoundError:
        return False


def least(call, batches, calls, before=lambda: None):
    """Nanoseconds of a call: the least mean of many batches. In virtual time these are instructions.
    @before is called in front of each batch.
    """
    took = []
    for _ in range(batches):
        before()
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        took.append((time.perf_counter_ns() - start) / calls)
    return min(took)


def flat(few, many, what, most=1.05):
    """Nanoseconds with many others are less than @most times those with few."""
    diag(f"{what}: {few:.0f} ns with few, {many:.0f} ns with many")
    true(many < few * most, f"{what}: {many / few:.3f}")


def each(few, many, number, what, most):
    """It grows with so many more, by less than @most nanoseconds for each."""
    more = (many - few) / number
    diag(f"{what}: {few:.0f} ns with few, {many:.0f} ns with {number} more, {more:.1f} each")
    true(more < most, f"{what}: {more:.1f} ns for each")


def slabs():
    """Bytes in the kernel's slabs after caches were emptied."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("2")
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("Slab:"))


def users(module):
    """How many hold the module."""
    with open(f"/sys/module/{module}/refcnt", encoding="ascii") as file:
        return int(file.read())


def unload(module):
    """Sockets that were closed just now hold the module for a grace period more."""
    if os.path.isdir(f"/sys/module/{module}"):
        # Where SCALE is for commands that have no time-out, a minute is enough.
        wait_for(min(10, 60 / SCALE), f"nobody uses {module}", lambda: not users(module))
        run("rmmod", module)


def net6_socket(kind=socket.SOCK_STREAM, proto=0, ns=None):
    """A socket of net6; to Python it is an ordinary IPv6 socket."""
    if ns:
        with ns:
            fd = socket.socket(AF_NET6, kind, proto).detach()
    else:
        fd = socket.socket(AF_NET6, kind, proto).detach()
    return socket.socket(socket.AF_INET6, kind, proto, fileno=fd)


def take(sock, length):
    """So many bytes of a connection, fewer at its end."""
    data = b""
    while len(data) < length:
        more = sock.recv(length - len(data))
        if not more:
            break
        data += more
    return data


def on_failure(function):
    """Has function() say where things stand after a test that failed, once."""
    if function not in _witnesses:
        _witnesses.append(function)


def _testify():
    for function in _witnesses:
        try:
            function()
        except Exception as error:  # pylint: disable=broad-except
            diag(f"{function.__name__}: {error}")


def main(setup=None):
    """Runs all tests in the order of the file and ends the program."""
    failed = skipped = 0
    sys.stdout.reconfigure(line_buffering=True)
    print("KTAP version 1")
    print(f"1..{len(_tests)}")
    why = None
    try:
        if setup:
            setup()
    except Skip as reason:
        why = Skip(reason)
    except Exception as error:  # pylint: disable=broad-except
        diag(f"set-up failed: {error}")
        diag(traceback.format_exc())
        why = error
    for number, (name, function) in enumerate(_tests, 1):
        try:
            if why:
                raise why
            function()
            print(f"ok {number} {name}")
        except Skip as reason:
            skipped += 1
            print(f"ok {number} {name} # SKIP {reason}")
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            if why:
                pass
            elif not isinstance(error, Fail):
                diag(traceback.format_exc())
            else:
                where = traceback.extract_tb(error.__traceback__)[0 if len(
                    traceback.extract_tb(error.__traceback__)) < 2 else 1]
                diag(f"{os.path.basename(where.filename)}:{where.lineno}: {error}")
            _testify()
            print(f"not ok {number} {name}")
    for function, args in reversed(_cleanup):
        try:
            function(*args)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            diag(f"clean-up failed: {error}")
    sys.exit(1 if failed else 4 if skipped and skipped == len(_tests) else 0)
