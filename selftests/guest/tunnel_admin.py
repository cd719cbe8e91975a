#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Tunnels as their administrator has them: arguments, defaults and refusals with their
# errno and words, what net6ctl, ip(8) and the shell's completion show, and what belongs
# to transition. The topology is drawn in lib/cloud.py.
# guest: stock+
# timeout: 200
import errno
import json
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
import nd  # pylint: disable=wrong-import-position
import nl  # pylint: disable=wrong-import-position
from cloud import (  # pylint: disable=wrong-import-position
    ADDRESS_A, ADDRESS_B, ctl, devices, inner, outer, send_raw, show, tunnel)

NET6_A, NET6_B = "2001:db8:1::a", "2001:db8:1::b"
ELSEWHERE = "203.0.113.1"
TOOLS = os.path.dirname(os.path.realpath(cloud.CTL))


def setup():
    cloud.setup()
    ctl(cloud.B, "tunnel", "add", "t0", "remote", ADDRESS_A, "local", ADDRESS_B)
    cloud.add_address(cloud.B, "t0", NET6_B)


def refused(ns, *words):
    """What net6ctl says when it fails."""
    try:
        ctl(ns, *words)
    except ktap.Fail as error:
        ktap.true(str(error).startswith("status 1 "), f"status 1: {error}")
        return str(error)
    raise ktap.Fail(f"accepted: {words}")


def ipv4(text):
    return socket.inet_aton(text)


def index(ns, dev):
    with ns:
        return socket.if_nametoindex(dev)


@ktap.test
def a_name_and_a_far_end_are_enough():
    ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B)
    cloud.add_address(cloud.A, "t0", NET6_A)
    found = show(cloud.A, "tunnels")
    ktap.equal(len(found), 1, "tunnels")
    said = {"dev": "t0", "kind": "configured", "remote": ADDRESS_B, "ttl": 64, "tos": 0,
            "pmtu": True, "router": True}
    ktap.equal({k: v for k, v in found[0].items() if k in said}, said, "defaults")
    ktap.true("local" not in found[0], "the route chooses our end")
    ktap.equal({k for k in found[0] if k.startswith(("rx_", "tx_", "icmp_"))},
               {k for k in tunnel(cloud.A, "t0") if k.startswith(("rx_", "tx_", "icmp_"))},
               "all counters are in JSON")
    head, row = ctl(cloud.A, "show", "tunnels").splitlines()
    ktap.equal(dict(zip(head.split(), row.split()))["REMOTE"], ADDRESS_B, "columns")
    iface = show(cloud.A, "interfaces", "dev", "t0")[0]
    ktap.equal((iface["link"], iface["mtu"]), ("configured", 1480), "interface")
    ktap.true(nd.linklocal(cloud.A, "t0"), "it has a link-local address, RFC 4213 3.7")
    cloud.tcp(cloud.net6(cloud.A), cloud.net6(cloud.B), NET6_B, 20000)


@ktap.test
def options_are_shown_as_they_were_given():
    ctl(cloud.A, "tunnel", "add", "t1", "remote", ELSEWHERE, "local", ADDRESS_A, "ttl", "255",
        "tos", "inherit", "pmtu", "off", "router", "off")
    said = {"remote": ELSEWHERE, "local": ADDRESS_A, "ttl": 255, "tos": "inherit",
            "pmtu": False, "router": False}

    def seen():
        found = show(cloud.A, "tunnels", "dev", "t1")
        ktap.equal(len(found), 1, "tunnels of that device")
        return {k: v for k, v in found[0].items() if k in said}
    ktap.equal(seen(), said, "tunnel")
    ktap.true(" inherit " in ctl(cloud.A, "show", "tunnels", "dev", "t1"), "columns")
    ktap.equal(show(cloud.A, "routers", "dev", "t1"), [], "no default router")
    # The ECN bits are not the administrator's.
    ctl(cloud.A, "tunnel", "set", "t1", "tos", "0x2f", "ttl", "1", "router", "on")
    said.update(tos=0x2c, ttl=1, router=True)
    ktap.equal(seen(), said, "after a change of some")
    ktap.equal([r["address"] for r in show(cloud.A, "routers", "dev", "t1")],
               ["fe80::cb00:7101"], "default router")
    ctl(cloud.A, "tunnel", "set", "t1", "local", "any", "router", "off")
    del said["local"]
    said["router"] = False
    ktap.equal(seen(), said, "the route chooses again")
    ktap.equal(show(cloud.A, "routers", "dev", "t1"), [], "no default router again")
    ctl(cloud.A, "tunnel", "del", "t1")


@ktap.test
def pmtu_decides_the_mtu_until_the_administrator_does():
    def mtu(dev="t0"):
        return show(cloud.A, "interfaces", "dev", dev)[0]["mtu"]
    cloud.A.ip("link", "set", "a0", "mtu", "1400")
    ctl(cloud.A, "tunnel", "add", "t1", "remote", ELSEWHERE)
    ktap.equal(mtu("t1"), 1380, "the way begins with 1400")
    ctl(cloud.A, "tunnel", "del", "t1")
    cloud.A.ip("link", "set", "a0", "mtu", "1500")
    for word, wanted in (("off", 1280), ("on", 1480), ("off", 1280)):
        ctl(cloud.A, "tunnel", "set", "t0", "pmtu", word)
        ktap.equal(mtu(), wanted, f"MTU with pmtu {word}")
    cloud.A.ip("link", "set", "t0", "mtu", "1400")
    ctl(cloud.A, "tunnel", "set", "t0", "ttl", "65", "pmtu", "off")
    ktap.equal(mtu(), 1400, "the administrator's stays")
    for wrong in ("1279", "65516"):
        try:
            cloud.A.ip("link", "set", "t0", "mtu", wrong)
        except ktap.Fail:
            continue
        raise ktap.Fail(f"MTU {wrong} was accepted")
    ctl(cloud.A, "tunnel", "set", "t0", "ttl", "64", "pmtu", "on")
    ktap.equal(mtu(), 1480, "MTU that follows the path")


@ktap.test
def words_that_make_no_sense_are_refused():
    for words, why in (
            (("add",), "tunnel add NAME remote ADDRESS"),
            (("add", "t9"), "a tunnel needs a name and a far end (Invalid argument)"),
            (("add", "t9", "local", ADDRESS_A), "a tunnel needs a name and a far end"),
            (("add", "t9", "remote"), "what remote?"),
            (("add", "t9", "remote", "far"), "'far' is no IPv4 address"),
            (("add", "t9", "remote", NET6_B), f"'{NET6_B}' is no IPv4 address"),
            (("add", "t9", "remote", "any"), "the far end must be one host"),
            (("add", "t9", "remote", "224.1.2.3"), "the far end must be one host"),
            (("add", "t9", "remote", ELSEWHERE, "local", "224.1.2.3"), "must be one host's"),
            (("add", "t9", "remote", ELSEWHERE, "via", ADDRESS_A), "'via' does not belong here"),
            (("add", "a-name-that-is-too-long", "remote", ELSEWHERE), "is no name for a device"),
            (("add", "", "remote", ELSEWHERE), "is no name for a device"),
            (("add", "a/b", "remote", ELSEWHERE), "that is no name for a device"),
            (("add", "t0", "remote", ELSEWHERE), "there is a device of this name (File exists)"),
            (("add", "a0", "remote", ELSEWHERE), "there is a device of this name"),
            (("add", "t9", "remote", ADDRESS_B),
             "there is a tunnel between these ends (File exists)"),
            (("set", "t0"), "to what?"),
            (("set", "t9", "ttl", "9"), "no device t9"),
            (("set", "a0", "ttl", "9"), "that is no tunnel (No such device)"),
            (("set", "t0", "ttl", "0"), "ttl: 1 to 255, not '0'"),
            (("set", "t0", "ttl", "256"), "ttl: 1 to 255, not '256'"),
            (("set", "t0", "ttl", "-1"), "ttl: 1 to 255, not '-1'"),
            (("set", "t0", "ttl", "1x"), "ttl: 1 to 255, not '1x'"),
            (("set", "t0", "tos", "256"), "tos: 0 to 255, not '256'"),
            (("set", "t0", "pmtu", "perhaps"), "pmtu is on or off, not 'perhaps'"),
            (("set", "t0", "router", "1"), "router is on or off, not '1'"),
            (("set", "t0", "local", ADDRESS_B), "both ends are the same"),
            (("del", "t9"), "no device t9"),
            (("del", "lo"), "that is no tunnel"),
            (("del", "t0", "now"), "'now' does not belong here"),
            (("dig", "t0"), "'dig' is nothing that can be done to a tunnel")):
        said = refused(cloud.A, "tunnel", *words)
        ktap.true(why in said, f"{words}: {said}")
    ktap.equal(devices(cloud.A), ["t0"], "tunnels afterwards")


@ktap.test
def refusals_have_their_errno():
    ctl(cloud.A, "tunnel", "add", "t1", "remote", ELSEWHERE)
    with cloud.A:
        family = nl.Family()
    t0, t1, a0 = (index(cloud.A, dev) for dev in ("t0", "t1", "a0"))
    far, near = ipv4("203.0.113.9"), ipv4(ADDRESS_A)
    for wanted, op, how in (
            (errno.EINVAL, "tunnel-add", {"name": b"t9\0"}),
            (errno.EINVAL, "tunnel-add", {"remote": far}),
            (errno.EINVAL, "tunnel-add", {"name": b"t9\0", "remote": ipv4("0.0.0.0")}),
            (errno.EINVAL, "tunnel-add", {"name": b"t9\0", "remote": ipv4("127.0.0.1")}),
            (errno.EINVAL, "tunnel-add", {"name": b"t9\0", "remote": ipv4("255.255.255.255")}),
            (errno.EINVAL, "tunnel-add", {"name": b"t9\0", "remote": near, "local": near}),
            (errno.EINVAL, "tunnel-add", {"name": b"a b\0", "remote": far}),
            (errno.EINVAL, "tunnel-add", {"name": b"t%s\0", "remote": far}),
            (errno.EEXIST, "tunnel-add", {"name": b"t0\0", "remote": far}),
            (errno.EEXIST, "tunnel-add", {"name": b"t9\0", "remote": ipv4(ADDRESS_B)}),
            (errno.ERANGE, "tunnel-add", {"name": b"t9\0", "remote": far, "ttl": 0}),
            (errno.ERANGE, "tunnel-add", {"name": b"t9\0", "remote": far, "ttl": 256}),
            (errno.ERANGE, "tunnel-add", {"name": b"t9\0", "remote": far, "tos": 256}),
            (errno.ERANGE, "tunnel-add", {"name": b"t9\0", "remote": far, "pmtu": 2}),
            (errno.EINVAL, "tunnel-set", {"ttl": 9}),
            (errno.ENODEV, "tunnel-set", {"ifindex": 4141, "ttl": 9}),
            (errno.ENODEV, "tunnel-set", {"ifindex": a0, "ttl": 9}),
            (errno.EEXIST, "tunnel-set", {"ifindex": t1, "remote": ipv4(ADDRESS_B)}),
            (errno.EINVAL, "tunnel-set", {"ifindex": t0, "remote": ipv4("224.0.0.1")}),
            (errno.EINVAL, "tunnel-del", {}),
            (errno.ENODEV, "tunnel-del", {"ifindex": 4141}),
            (errno.ENODEV, "tunnel-del", {"ifindex": a0})):
        try:
            family.do(op, **how)
        except nl.Refused as error:
            ktap.equal(errno.errorcode[error.errno], errno.errorcode[wanted], f"{op} {how}")
        else:
            raise ktap.Fail(f"accepted: {op} {how}")
    family.do("tunnel-add", name=b"n%d\0", remote=far)
    family.close()
    ktap.equal(devices(cloud.A), ["t0", "t1", "n0"], "tunnels, one with a number")
    for dev in ("t1", "n0"):
        ctl(cloud.A, "tunnel", "del", dev)


@ktap.test
def who_has_no_rights_may_look_only():
    def as_nobody(*words):
        return cloud.A.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                           cloud.CTL, *words)
    ktap.equal([t["dev"] for t in json.loads(as_nobody("-j", "show", "tunnels"))], ["t0"],
               "what nobody sees")
    for words in (("add", "t9", "remote", ELSEWHERE), ("set", "t0", "ttl", "9"), ("del", "t0")):
        try:
            as_nobody("tunnel", *words)
        except ktap.Fail as error:
            ktap.true("CAP_NET_ADMIN" in str(error), str(error))
        else:
            raise ktap.Fail(f"nobody may {words}")


COMPLETE = """
source "$1/net6ctl.bash"
PATH=$1:$PATH
shift
COMP_WORDS=(net6ctl "$@")
COMP_CWORD=$#
_net6ctl
echo "${COMPREPLY[@]}"
"""


@ktap.test
def the_shell_completes_them():
    if not os.path.exists("/dev/fd"):       # udev would have made it
        os.symlink("/proc/self/fd", "/dev/fd")
    options = "remote local ttl tos pmtu router"
    for words, wanted in (("tunnel ", "add set del"), ("tunnel set ", "t0"),
                          ("tunnel del ", "t0"), ("tunnel add t9 ", options),
                          ("tunnel add t9 remote ", ""), ("tunnel set t0 ", options),
                          ("tunnel add t9 remote 192.0.2.1 p", "pmtu"),
                          ("tunnel add t9 remote 192.0.2.1 pmtu ", "on off"),
                          ("tunnel set t0 tos ", "inherit"), ("tunnel set t0 local ", "any"),
                          ("show tun", "tunnels"), ("show tunnels ", "dev")):
        seen = cloud.A.run("bash", "-c", COMPLETE, "complete", TOOLS, *words.split(" "))
        ktap.equal(seen.split(), wanted.split(), f"what may follow '{words}'")


@ktap.test
def ip_counts_what_was_dropped_as_errors():
    def errors():
        link = json.loads(cloud.A.ip("-s", "-j", "link", "show", "dev", "t0"))[0]["stats64"]
        return link["rx"]["errors"], link["tx"]["errors"]
    received, sent = errors()
    send_raw(cloud.B, ADDRESS_A, outer(inner("ff02::1", NET6_A), ADDRESS_B, ADDRESS_A),
             outer(inner(NET6_B, NET6_A, version=4), ADDRESS_B, ADDRESS_A))
    ktap.wait_for(10, "both are counted", lambda: errors() == (received + 2, sent))
    cloud.A.ip("route", "add", "unreachable", ADDRESS_B + "/32")
    cloud.datagram(cloud.A, NET6_B)
    cloud.A.ip("route", "del", "unreachable", ADDRESS_B + "/32")
    ktap.equal(errors(), (received + 2, sent + 1), "errors of reception and sending")


@ktap.test
def what_transition_has_made_is_its_own():
    cloud.transition(cloud.A, "auto")
    made = ktap.wait_for(20, "two tunnels are made", lambda: [
        d for d in devices(cloud.A) if d != "t0"][1:] and [
            d for d in devices(cloud.A) if d != "t0"])
    for dev in made:
        for words in (("del", dev), ("set", dev, "ttl", "9")):
            said = refused(cloud.A, "tunnel", *words)
            ktap.true("follows from an IPv4 address (transition) (Invalid argument)" in said,
                      said)
    cloud.transition(cloud.A, "off")
    ktap.wait_for(20, "they are gone", lambda: devices(cloud.A) == ["t0"])


@ktap.test
def transition_takes_notice_of_64_addresses():
    if ktap.CHECKING:
        raise ktap.Skip("it makes 64 devices")
    with cloud.A:
        family = nl.Family()

    def made():
        return sum(t["kind"] == 2 for t in family.dump("tunnel-get"))
    cloud.batch(cloud.A, *(f"addr add 10.9.{n // 250}.{n % 250 + 1}/32 dev a0"
                           for n in range(65)))
    cloud.transition(cloud.A, "auto")
    ktap.wait_for(60, "64 interfaces of 6over4", lambda: made() == 64)
    counters = {c["name"]: c["value"] for c in show(cloud.A, "counters", "all")}
    ktap.true(counters["TransitionAddrLimit"] >= 2, "what is beyond is counted")
    cloud.transition(cloud.A, "off")
    ktap.wait_for(60, "they are gone", lambda: made() == 0)
    family.close()
    cloud.batch(cloud.A, *(f"addr del 10.9.{n // 250}.{n % 250 + 1}/32 dev a0"
                           for n in range(65)))


ktap.main(setup=setup)
