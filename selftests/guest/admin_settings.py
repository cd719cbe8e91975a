#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Each parameter of an interface and each limit that Documentation/netlink/specs/net6.yaml has:
# what it begins with, its bounds, and that its file, net6ctl and the shell's completion know it.
# A new one is tested by being listed there; what it does is another test's subject.
#
#	A [d0 dummy, net6]
# guest: stock+
# timeout: 120

import os
import socket
import sys
import types

sys.dont_write_bytecode = True
TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path[:0] = [os.path.join(TOP, "selftests/lib"), os.path.join(TOP, "scripts")]
import ktap  # pylint: disable=wrong-import-position
import nd  # pylint: disable=wrong-import-position
import nl  # pylint: disable=wrong-import-position
import settings  # pylint: disable=wrong-import-position

A = ktap.later("a")
shared = types.SimpleNamespace()	# family: of netlink; ifindex: of d0
PARAMS = settings.settings(nl.SPEC, "iface")
LIMITS = settings.settings(nl.SPEC, "limits")
# Its least and largest values are those of the device: admin_sysctl.py.
BOUNDED = [s for s in PARAMS if s.attr != "mtu"]
COMPLETE = """
source "$1/net6ctl.bash"
PATH=$1:$PATH
while read -ra COMP_WORDS; do
	COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_net6ctl
	echo "${COMPREPLY[@]}"
done <<<"$2"
"""


def setup():
    ktap.net6_load()
    A.ip("link", "add", "d0", "type", "dummy")
    A.up("d0")
    with A:
        shared.family, shared.ifindex = nl.Family(), socket.if_nametoindex("d0")


def where(setting, file, dev="d0"):
    """The path of a parameter's or limit's file."""
    folder = f"{'neigh' if setting.group == 'neigh' else 'conf'}/{dev}" if setting.group \
        else "limits"
    return f"/proc/sys/net/net6/{folder}/{file.name}"


def read(path):
    with A, open(path, encoding="ascii") as file:
        return int(file.read())


def write(path, value):
    """Whether the file takes it."""
    try:
        with A, open(path, "w", encoding="ascii") as file:
            file.write(str(value))
    except OSError:
        return False
    return True


def told(some):
    """{attribute: value} of all parameters, or all limits, over netlink."""
    if some is LIMITS:
        return shared.family.do("limits-get")[0]
    return shared.family.dump("iface-get", ifindex=shared.ifindex)[0]


def same(setting, got, value, what):
    """RetransTimer is kept in jiffies, of 10 ms at most."""
    if setting.attr == "retrans":
        ktap.true(value <= got < value + 10, f"{what}: {got}, {value} was set")
    else:
        ktap.equal(got, value, what)


@ktap.test
def they_begin_with_what_the_specification_says():
    for some in (PARAMS, LIMITS):
        values = told(some)
        for s in some:
            for file in s.files:
                ktap.equal(read(where(s, file, "default")), s.default // file.times, file.name)
            if s.attr != "mtu":
                ktap.equal(values[s.attr], s.default, f"{s.attr} over netlink")


@ktap.test
def files_take_what_is_within_bounds_and_nothing_else():
    for some, s in ((some, s) for some in (PARAMS, LIMITS) for s in some if s.attr != "mtu"):
        for file in s.files:
            path, least, most = where(s, file), -(-s.least // file.times), s.most // file.times
            for value in (least, most):
                ktap.true(write(path, value), f"{file.name} takes {value}")
                same(s, read(path) * file.times, value * file.times, file.name)
                same(s, told(some)[s.attr], value * file.times, f"{s.attr} over netlink")
            for value in (least - 1, most + 1, "x"):
                ktap.true(not write(path, value), f"{file.name} refuses {value}")
                ktap.equal(read(path), most, f"{file.name} after {value} was refused")
            ktap.true(write(path, s.default // file.times), f"{file.name} is as it was")


def net6ctl_sets(some, target, which):
    """All of them with one command, which is what then is shown."""
    words = []
    for s in some:
        value = getattr(s, which)
        words += [s.word, ("off", "on", "2")[value] if s.on_off else str(value)]
    nd.net6ctl(A, "set", *target, *words)
    shown = nd.show(A, *(("limits",) if some is LIMITS else ("interfaces", "dev", "d0")))[0]
    for s in some:
        same(s, int(shown[s.attr.replace("-", "_")]), getattr(s, which), f"{s.word}, {which}")


@ktap.test
def net6ctl_sets_and_shows_them():
    for which in ("least", "most", "default"):
        net6ctl_sets(BOUNDED, ("dev", "d0"), which)
        net6ctl_sets(LIMITS, ("limits",), which)


@ktap.test
def netlink_refuses_what_is_out_of_bounds():
    for op, some, more in (("iface-set", BOUNDED, {"ifindex": shared.ifindex}),
                           ("limits-set", LIMITS, {})):
        for s in some:
            for value in (s.least - 1, s.most + 1):
                try:
                    shared.family.do(op, **more, **{s.attr: value})
                except nl.Refused:
                    continue
                raise ktap.Fail(f"{s.attr} took {value}")
        values = told(some)
        for s in some:
            ktap.equal(values[s.attr], s.default, f"{s.attr} after that")


@ktap.test
def the_shell_completes_their_words_and_values():
    if not os.path.exists("/dev/fd"):       # udev would have made it
        os.symlink("/proc/self/fd", "/dev/fd")
    wanted = {}
    for some, line in ((PARAMS, "net6ctl set dev d0"), (LIMITS, "net6ctl set limits")):
        words = [s.word for s in some]
        wanted[line] = ["defaults"] + words
        wanted[f"{line} {some[0].word} 1"] = wanted[f"{line} defaults"] = words
        wanted.update((f"{line} {s.word}", s.values() or []) for s in some)
    seen = A.run("bash", "-c", COMPLETE, "complete", os.path.join(TOP, "tools"),
                 "\n".join(wanted))
    for (line, words), found in zip(wanted.items(), seen.split("\n")):
        ktap.equal(found.split(), words, f"what may follow '{line}'")


@ktap.test
def the_usage_has_them_all():
    text = nd.net6ctl(A, "-h")
    for s in PARAMS + LIMITS:
        ktap.true(f"[{s.word} {s.place()}]" in text, s.word)


ktap.main(setup)
