#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What an unprivileged user and the root of a user namespace may change: an unprivileged user
# nothing. A user namespace's root its own network only, and no limit above what each namespace
# begins with, by netlink or by sysctl. The host's root may raise them there.
#
#	[ the host's namespace ]   [ a network namespace of an unprivileged user's own ]
#
# guest: stock+
# timeout: 120
import ctypes
import errno
import multiprocessing
import os
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nl

TAKEOVER = os.path.exists("/sys/module/ipv6/parameters/disable") and \
    open("/sys/module/ipv6/parameters/disable", encoding="ascii").read().strip() == "1"
NOBODY = 65534
NEWUSER, NEWNET = 0x10000000, 0x40000000
CHECKS = {a["name"]: a["checks"] for s in nl.SPEC["attribute-sets"] if s["name"] == "limits"
          for a in s["attributes"]}
FOLDERS = ["/proc/sys/net/net6"] + ["/proc/sys/net/ipv6"] * TAKEOVER
LIMITS = "/proc/sys/net/net6/limits/"
WORDS = "only the host's root raises a limit above its default"
libc = ctypes.CDLL(None, use_errno=True)
initial = {}
shared = types.SimpleNamespace()	# user, root: the two processes


def unshare(flags):
    if libc.unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")


def write_file(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def read_file(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: /proc/self is its own again


def become_root():
    """Of a user namespace with a network of its own."""
    os.chroot("/proc/1/root")  # a chroot makes no user namespaces
    become_nobody()
    unshare(NEWUSER | NEWNET)
    write_file("/proc/self/setgroups", "deny")
    write_file("/proc/self/uid_map", f"0 {NOBODY} 1")
    write_file("/proc/self/gid_map", f"0 {NOBODY} 1")


class Other:
    """A process that is somebody else, and calls functions of this file for the tests."""

    def __init__(self, become):
        self.pipe, end = multiprocessing.Pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                become()
                end.send(None)
                while True:
                    function, args = end.recv()
                    end.send(self._call(globals()[function], args))
            except BaseException as error:  # pylint: disable=broad-except
                end.send(error)
            os._exit(0)
        end.close()
        self._answer()
        ktap.at_exit(self.end)

    @staticmethod
    def _call(function, args):
        try:
            return function(*args)
        except OSError as error:
            return OSError(error.errno, getattr(error, "words", None) or str(error))

    def _answer(self):
        said = self.pipe.recv()
        if isinstance(said, BaseException):
            raise said
        return said

    def __call__(self, function, *args):
        self.pipe.send((function.__name__, args))
        return self._answer()

    def end(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def get_limits():
    return nl.Family().do("limits-get")[0]


def set_limits(values):
    nl.Family().do("limits-set", **values)


def try_all():
    """What each operation that changes something answers to a request without attributes."""
    family = nl.Family()
    said = {}
    for op in family.ops:
        if op.get("flags"):
            try:
                family.request(op["name"])
                said[op["name"]] = 0
            except nl.Refused as error:
                said[op["name"]] = error.errno
    return said


def try_files():
    """Those that could be opened to write, of how many."""
    opened, count = [], 0
    for top in FOLDERS:
        for folder, _, files in os.walk(top):
            for name in files:
                count += 1
                try:
                    os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
                    opened.append(os.path.join(folder, name))
                except PermissionError:
                    pass
    return opened, count


def by_host(function, *args):
    """Called by the host's root in the network of the user namespace."""
    pid = os.fork()
    if not pid:
        fd = os.open(f"/proc/{shared.root.pid}/ns/net", os.O_RDONLY)
        failed = libc.setns(fd, NEWNET)
        try:
            function(*args)
        except OSError as error:
            print("#", error, flush=True)
            failed = 1
        os._exit(bool(failed))
    ktap.equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, f"the host's root: {args}")


def raisable():
    """name: (default, a value above it)"""
    return {name: (initial[name], checks["max"]) for name, checks in CHECKS.items()
            if checks["max"] > initial[name]}


def file_of(name):
    return LIMITS + name.replace("-", "_")


def setup():
    ktap.net6_load()
    initial.update(get_limits())
    shared.user, shared.root = Other(become_nobody), Other(become_root)


@ktap.test
def a_user_without_rights_changes_nothing():
    said = shared.user(try_all)
    ktap.true(len(said) >= 13, "there are operations that change something")
    ktap.equal({name: error for name, error in said.items() if error != errno.EPERM}, {},
               "operations that were not refused with EPERM")
    opened, count = shared.user(try_files)
    ktap.true(count > 50, "there are files")
    ktap.equal(opened, [], "files that were opened to write")


@ktap.test
def a_new_namespace_begins_with_the_same_limits():
    ktap.equal(shared.root(get_limits), initial, "limits")


@ktap.test
def no_limit_is_raised_by_netlink():
    ktap.true(len(raisable()) >= 12, "there are limits to raise")
    for name, (default, most) in raisable().items():
        for value in (default + 1, most):
            said = ktap.failing(shared.root, set_limits, {name: value})
            ktap.equal(said, "EPERM", f"{name} {value}")
    try:
        shared.root(set_limits, {"max-neighs": 65536})
    except OSError as error:
        ktap.true(WORDS in str(error), f"the words are {error}")
    ktap.equal(shared.root(get_limits), initial, "limits")


@ktap.test
def no_limit_is_raised_by_sysctl():
    for name, (default, most) in raisable().items():
        for value in (default + 1, most):
            ktap.equal(ktap.failing(shared.root, write_file, file_of(name), value), "EPERM",
                       f"{name} {value}")
    aliases = {"ip6frag_high_thresh": 8 << 20, "max_dst_opts_number": 9,
               "max_hbh_opts_number": -9}
    for name, value in aliases.items():
        for top in FOLDERS:
            ktap.equal(ktap.failing(shared.root, write_file, f"{top}/{name}", value), "EPERM",
                       f"{top}/{name} {value}")
    ktap.equal(shared.root(get_limits), initial, "limits")


@ktap.test
def all_limits_of_a_request_or_none():
    ktap.equal(ktap.failing(shared.root, set_limits, {"max-addrs": 5, "max-neighs": 2000,
                                               "max-dests": 100}), "EPERM", "one is a raise")
    ktap.equal(shared.root(get_limits), initial, "limits")


@ktap.test
def limits_are_lowered_and_set_back():
    for name, checks in CHECKS.items():
        shared.root(set_limits, {name: checks.get("min", 0)})
        ktap.equal(shared.root(get_limits)[name], checks.get("min", 0), name)
        shared.root(write_file, file_of(name), initial[name])
        ktap.equal(shared.root(get_limits)[name], initial[name], name)
        shared.root(write_file, file_of(name), checks.get("min", 0))
        shared.root(set_limits, {name: initial[name]})
    ktap.equal(shared.root(get_limits), initial, "limits")


@ktap.test
def what_the_hosts_root_gave_may_be_kept_and_lowered():
    for how in (lambda n, v: set_limits({n: v}), lambda n, v: write_file(file_of(n), v)):
        by_host(how, "max-neighs", 4096)
        ktap.equal(shared.root(get_limits)["max-neighs"], 4096, "as the host's root set it")
        ktap.equal(ktap.failing(shared.root, set_limits, {"max-neighs": 4097}), "EPERM", "more")
        shared.root(set_limits, {"max-neighs": 4096})
        shared.root(write_file, file_of("max-neighs"), 3000)
        ktap.equal(ktap.failing(shared.root, write_file, file_of("max-neighs"), 3001), "EPERM",
                   "more than is left")
        shared.root(set_limits, {"max-neighs": 1024})
        ktap.equal(ktap.failing(shared.root, set_limits, {"max-neighs": 1025}), "EPERM", "above")


@ktap.test
def the_hosts_own_limits_are_not_touched():
    shared.root(set_limits, {"max-neighs": 16, "max-addrs": 1})
    shared.root(write_file, "/proc/sys/net/net6/conf/default/hop_limit", 77)
    ktap.equal(get_limits(), initial, "limits of the host")
    ktap.true(read_file("/proc/sys/net/net6/conf/default/hop_limit") != "77",
              "hop_limit of the host is its own")
    shared.root(set_limits, {"max-neighs": 1024, "max-addrs": 16})


@ktap.test
def the_hosts_root_raises_its_own():
    for name, (default, most) in raisable().items():
        set_limits({name: most})
        write_file(file_of(name), default)
        write_file(file_of(name), most)
        set_limits({name: default})
    ktap.equal(get_limits(), initial, "limits")


ktap.main(setup)
