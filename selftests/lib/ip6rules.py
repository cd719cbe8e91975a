# SPDX-License-Identifier: GPL-2.0
"""Routing tables and rules, as they are told and as packets take them. ip6_rules_native.py runs
these tests on the native stack, ip6_rules.py on net6: both are to give the same answers.

    S [s0] ------ [t0] T     fd70::1/64, fd70::2/64; T has fd72::1 to fd72::4
    S [s1] ------ [t1] T     fd71::1/64, fd71::2/64
"""
import functools
import json

import ktap

S, T = ktap.later("S"), ktap.later("T")
FAR = "fd72::1"


@functools.cache
def cables():
    """The namespaces, for the first test that wants them."""
    for ns in (S, T):
        ns.up("lo")
    for i in range(2):
        ktap.veth(S, f"s{i}", T, f"t{i}")
        S.ip("-6", "addr", "add", f"fd7{i}::1/64", "dev", f"s{i}", "nodad")
        T.ip("-6", "addr", "add", f"fd7{i}::2/64", "dev", f"t{i}", "nodad")
    for i in range(1, 5):
        T.ip("-6", "addr", "add", f"fd72::{i}/128", "dev", "lo", "nodad")
    for i in range(2):
        ktap.wait_for(15, "the other end", lambda i=i: S.run(
            "ping", "-c1", "-W1", f"fd7{i}::2", check=False).find(" 0% packet loss") > 0)


def said(*words):
    """What ip answers to a request: "" or an error."""
    return S.run("ip", "-6", *words, check=False).strip()


def shown(*words):
    out = S.run("ip", "-6", "-j", *words)
    return json.loads(out) if out.strip() else []


def routes(*words):
    """[(destination, gateway, device, metric, table)]"""
    return sorted(((r["dst"], r.get("gateway"), r.get("dev"), r.get("metric"), r.get("table"))
                   for r in shown("route", "show", *words)), key=str)


def tables():
    """Routes of a table are its own, and listed with it."""
    cables()
    for words in (("fd72::/64", "via", "fd70::2", "table", "100"),
                  ("fd72::/64", "via", "fd71::2", "dev", "s1", "table", "1000"),
                  ("default", "via", "fd71::2", "table", "100"),
                  ("fd73::/64", "dev", "s0", "table", "100", "metric", "7"),
                  ("unreachable", "fd74::/64", "table", "100")):
        ktap.equal(said("route", "add", *words), "", f"added: {' '.join(words)}")
    hundred = [("default", "fd71::2", "s1", 1024, None), ("fd72::/64", "fd70::2", "s0", 1024, None),
               ("fd73::/64", None, "s0", 7, None), ("fd74::/64", None, "lo", 1024, None)]
    ktap.equal(routes("table", "100"), hundred, "table 100")
    ktap.equal(routes("table", "1000"), [("fd72::/64", "fd71::2", "s1", 1024, None)], "table 1000")
    ktap.equal(routes("fd72::/64"), [], "main has none")
    ktap.equal([r[4] for r in routes("table", "all", "root", "fd72::/64") if r[0] == "fd72::/64"],
               ["100", "1000"], "of all tables")
    ktap.true("File exists" in said("route", "add", "fd72::/64", "via", "fd70::2", "table", "100"),
              "once only")
    ktap.equal(said("route", "replace", "fd72::/64", "via", "fd71::2", "table", "100"), "", "other")
    ktap.equal(routes("table", "100", "fd72::/64"), [("fd72::/64", "fd71::2", "s1", 1024, None)],
               "replaced")
    ktap.true("No such process" in said("route", "del", "fd72::/64"), "none of main to remove")
    ktap.true(said("route", "del", "fd72::/64", "table", "101"), "nor of 101")
    ktap.equal(shown("route", "get", "fd72::1") if not said("route", "get", "fd72::1").startswith(
        "RTNETLINK") else [], [], "main is looked at alone")
    said("route", "flush", "table", "100")
    ktap.equal(routes("table", "100"), [], "flushed")
    ktap.equal(len(routes("table", "1000")), 1, "the other table is not")
    ktap.equal(said("route", "del", "fd72::/64", "table", "1000"), "", "removed")


def table_of_several_hops():
    """A default route and a prefix with several next hops, in a table."""
    cables()
    both = ("nexthop", "via", "fd70::2", "dev", "s0", "nexthop", "via", "fd71::2", "dev", "s1")
    for dst in ("default", "fd72::/64"):
        ktap.equal(said("route", "add", dst, "table", "200", *both), "", f"{dst}: added")
        one, = shown("route", "show", dst, "table", "200")
        ktap.equal([hop["gateway"] for hop in one["nexthops"]], ["fd70::2", "fd71::2"], dst)
    said("route", "flush", "table", "200")


def table_goes_with_its_device():
    """Routes of a device that goes do not stay in a table."""
    cables()
    S.ip("link", "add", "s9", "type", "dummy")
    S.up("s9")
    ktap.equal(said("route", "add", "fd75::/64", "dev", "s9", "table", "300"), "", "added")
    ktap.equal(len(routes("table", "300")), 1, "there")
    S.ip("link", "del", "s9")
    ktap.equal(routes("table", "all", "root", "fd75::/64"), [], "gone")


def tests():
    for function in (tables, table_of_several_hops, table_goes_with_its_device):
        ktap.test(function.__name__.replace("_", " "))(function)
