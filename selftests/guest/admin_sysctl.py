#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# net.net6.conf, net.net6.neigh and net.net6.limits: what net6ctl sets is read there and the
# other way round. Bounds, "default" and "all", names of devices that change, devices,
# namespaces and the module going while files are read and written.
#
#	A [a0 net6] ------ [b0] B
# guest: stock+
# timeout: 120

import os
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import nd

A, B, wire = nd.ends()
CONF = {"hop_limit": ("hop_limit", 33), "dad_transmits": ("dad_transmits", 2),
        "accept_ra": ("accept_ra", 0), "autoconf": ("autoconf", 0),
        "ndisc_notify": ("ndisc_notify", 1), "proxy_ndp": ("proxy_ndp", 1),
        "forwarding": ("forwarding", 1),
        "optimistic_dad": ("optimistic_dad", 1),
        "use_tempaddr": ("use_tempaddr", 1), "temp_valid_lft": ("temp_valid", 5000),
        "temp_prefered_lft": ("temp_preferred", 4000), "mtu": ("mtu", 1300)}
# These have the same name in both.
CONF.update({name: (name, value) for name, value in (
    ("accept_ra_defrtr", 0), ("accept_ra_pinfo", 0), ("accept_ra_mtu", 0),
    ("accept_ra_rtr_pref", 0), ("accept_ra_min_hop_limit", 256), ("accept_ra_min_lft", 0x7fffffff),
    ("accept_ra_rt_info_min_plen", 1), ("accept_ra_rt_info_max_plen", 127),
    ("accept_ra_from_local", 1), ("accept_redirects", 0),
    ("router_solicitations", -1), ("router_solicitation_delay", 3600),
    ("router_solicitation_interval", 86400), ("router_solicitation_max_interval", 1),
    ("accept_dad", 1), ("enhanced_dad", 0), ("addr_gen_mode", 2), ("regen_max_retry", 100),
    ("max_desync_factor", 31536000), ("use_optimistic", 1), ("keep_addr_on_down", -1),
    ("force_tllao", 0), ("ndisc_tclass", 255), ("suppress_frag_ndisc", 0),
    ("drop_unsolicited_na", 1), ("force_mld_version", 2),
    ("mldv1_unsolicited_report_interval", 3600000), ("mldv2_unsolicited_report_interval", 0),
    ("ra_defrtr_metric", 1), ("accept_untracked_na", 2), ("ndisc_evict_nocarrier", 0),
    ("ignore_routes_with_linkdown", 1))})
NEIGH = {"base_reachable_time_ms": ("base_reachable", 20000), "retrans_time_ms": ("retrans", 500),
         "mcast_solicit": ("mcast_solicit", 255), "ucast_solicit": ("ucast_solicit", 1),
         "delay_first_probe_time": ("delay_first_probe_time", 3600)}


def setup():
    ktap.net6_load()
    nd.cable(A, B, wire)


def path(*names):
    return "/".join(("/proc/sys/net/net6",) + names)


def read(*names, namespace=None):
    with namespace or A, open(path(*names), encoding="ascii") as file:
        return int(file.read())


def write(value, *names, namespace=None):
    with namespace or A, open(path(*names), "w", encoding="ascii") as file:
        file.write(str(value))


def refused(value, *names):
    try:
        write(value, *names)
    except OSError:
        return
    raise ktap.Fail(f"{'.'.join(names)} took {value}")


def exists(*names, namespace=None):
    with namespace or A:
        return os.path.exists(path(*names))


def shown(dev="a0"):
    return next(i for i in nd.show(A, "interfaces") if i["dev"] == dev)


@ktap.test
def what_is_written_is_in_force():
    for folder, names in (("conf", CONF), ("neigh", NEIGH)):
        for name, (key, value) in names.items():
            write(value, folder, "a0", name)
            ktap.equal(read(folder, "a0", name), value, f"{folder}.a0.{name}")
            ktap.equal(int(shown()[key]), value, f"net6ctl's {key}")
    write(12, "neigh", "a0", "base_reachable_time")
    ktap.equal(read("neigh", "a0", "base_reachable_time_ms"), 12000, "seconds")
    write(30, "neigh", "a0", "retrans_time")
    ktap.equal(read("neigh", "a0", "retrans_time_ms"), 300, "hundredths of a second")
    write(25, "neigh", "a0", "anycast_delay")
    ktap.equal(int(shown()["anycast_delay"]), 250, "net6ctl's anycast_delay, milliseconds")
    write(0, "conf", "a0", "forwarding")
    write(0, "conf", "a0", "mtu")
    ktap.equal(read("conf", "a0", "mtu"), 1500, "the device's MTU again")


@ktap.test
def what_net6ctl_sets_is_read():
    nd.net6ctl(A, "set", "dev", "a0", "hop-limit", "44")
    ktap.equal(read("conf", "a0", "hop_limit"), 44, "hop_limit")
    nd.net6ctl(A, "set", "dev", "a0", "router-solicitations", "-1",
               "accept-ra-rt-info-min", "7")
    ktap.equal([read("conf", "a0", name) for name in ("router_solicitations",
                                                      "accept_ra_rt_info_min_plen")],
               [-1, 7], "minus one, and a word cut short")
    nd.net6ctl(A, "set", "limits", "max-neighs", "555")
    ktap.equal(read("limits", "max_neighs"), 555, "max_neighs")
    write(666, "limits", "max_neighs")
    ktap.equal(nd.show(A, "limits")[0]["max_neighs"], 666, "net6ctl's max_neighs")


@ktap.test
def what_is_out_of_bounds_is_refused():
    for value, *names in ((0, "conf", "a0", "hop_limit"), (256, "conf", "a0", "hop_limit"),
                          (1279, "conf", "a0", "mtu"), (1501, "conf", "a0", "mtu"),
                          (3, "conf", "a0", "use_tempaddr"),
                          (3, "conf", "a0", "accept_ra"), (-1, "conf", "a0", "autoconf"),
                          ("x", "conf", "a0", "autoconf"), (17, "conf", "a0", "dad_transmits"),
                          (0, "neigh", "a0", "retrans_time_ms"),
                          (-2, "conf", "a0", "router_solicitations"),
                          (129, "conf", "a0", "accept_ra_rt_info_max_plen"),
                          (-1, "conf", "a0", "accept_ra_min_lft"),
                          (0, "conf", "a0", "router_solicitation_interval"),
                          (2, "conf", "a0", "disable_ipv6"), (3, "conf", "a0", "accept_dad"),
                          (4, "conf", "a0", "addr_gen_mode"), (256, "conf", "a0", "ndisc_tclass"),
                          (0, "neigh", "a0", "mcast_solicit"),
                          (256, "neigh", "a0", "ucast_solicit"),
                          (3601, "neigh", "a0", "base_reachable_time"),
                          (15, "limits", "max_neighs"), (0, "limits", "frag_timeout")):
        before = read(*names)
        refused(value, *names)
        ktap.equal(read(*names), before, ".".join(names))


@ktap.test
def what_native_has_besides_is_documented():
    """Each name of net.ipv6 is ours, too, or in the list of what is not supported."""
    page = os.path.join(os.path.dirname(__file__), "../../Documentation/sysctl.rst")
    with open(page, encoding="utf-8") as file:
        missing = file.read().partition("\nNot supported\n")[2]
    listed = set(re.findall(r"``(?:[\w.]+\.)?(\w+)``", missing))

    def names(*folder):
        where = os.path.join("/proc/sys/net", *folder)
        with A:
            return {e.name for e in os.scandir(where) if e.is_file()} if os.path.isdir(where) \
                else set()
    for folder in (("conf", "a0"), ("neigh", "a0"), ("route",), ("icmp",), ()):
        has, native = names("net6", *folder), names("ipv6", *folder)
        ktap.true(native, f"there is a folder of native's, {folder}")
        ktap.equal(sorted(native - has - listed), [], f"neither ours nor listed, {folder}")
        ktap.equal(sorted(native & has & listed), [], f"ours, and listed as missing, {folder}")


@ktap.test
def default_is_for_interfaces_to_come_all_for_every_one():
    before = read("conf", "a0", "hop_limit")
    write(77, "conf", "default", "hop_limit")
    ktap.equal(read("conf", "a0", "hop_limit"), before, "an interface that there is")
    A.ip("link", "add", "d0", "type", "dummy")
    ktap.equal(read("conf", "d0", "hop_limit"), 77, "a new one")
    write(88, "conf", "all", "hop_limit")
    ktap.equal([read("conf", name, "hop_limit") for name in ("a0", "d0", "lo", "default", "all")],
               [88] * 5, "hop_limit after all was written")
    ktap.equal(read("conf", "default", "hop_limit", namespace=B), 64, "another namespace's")


@ktap.test
def files_follow_the_names_of_devices():
    A.ip("link", "set", "d0", "name", "e0")
    ktap.equal((exists("conf", "d0"), read("conf", "e0", "hop_limit")), (False, 88), "renamed")
    nd.net6ctl(A, "detach", "dev", "e0")
    ktap.equal(exists("conf", "e0"), False, "files of a device that net6 does not run on")
    nd.net6ctl(A, "attach", "dev", "e0")
    ktap.equal(read("neigh", "e0", "retrans_time_ms"), 1000, "attached again")
    A.ip("link", "set", "e0", "netns", B.name)
    ktap.equal((exists("conf", "e0"), exists("conf", "e0", namespace=B)), (False, True),
               "moved to another namespace")
    ktap.equal(read("conf", "e0", "hop_limit", namespace=B), 64, "with that one's default")
    B.ip("link", "del", "e0")
    ktap.equal(exists("conf", "e0", namespace=B), False, "deleted")


@ktap.test
def new_addresses_are_announced_to_routers():
    """RFC 9131: three times, RetransTimer apart, Override clear."""
    write(0, "conf", "a0", "dad_transmits")
    write(300, "neigh", "a0", "retrans_time_ms")
    for notify, count in ((1, 3), (0, 0)):
        write(notify, "conf", "a0", "ndisc_notify")
        wire.flush()
        nd.net6ctl(A, "add", "address", f"2001:db8::{notify + 1}/64", "dev", "a0")
        ktap.wait_for(10, "the address is ours", lambda n=notify: [
            a for a in nd.show(A, "addresses") if a["address"] == f"2001:db8::{n + 1}"
            and a["state"] == "preferred"])
        seen = [wire.expect(lambda f: f.type == nd.NA, "announcement") for _ in range(count)]
        wire.send(nd.ns("fe80::99", f"2001:db8::{notify + 1}", slla="02:00:00:00:00:99"))
        last = wire.expect(lambda f: f.type == nd.NA, "answer")
        ktap.equal(last.dest, "fe80::99", "no more of them")
        for frame in seen:
            ktap.equal((frame.dest, frame.target, frame.flags, frame.option(nd.TLLA)),
                       (nd.ALL_ROUTERS, "2001:db8::2", 0, nd.mac_bytes(frame.src)), "announcement")
            ktap.equal(frame.source, "2001:db8::2", "its source")


@ktap.test
def devices_go_while_their_files_are_used():
    stop = threading.Event()
    done = [0, 0]

    def use(number, namespace):
        with namespace:
            while not stop.is_set():
                try:
                    with open(path("conf", "d0", "hop_limit"), "r+", encoding="ascii") as file:
                        file.write("9")
                        done[number] += 1
                except OSError:
                    pass
    users = [threading.Thread(target=use, args=(i, A), daemon=True) for i in range(2)]
    for user in users:
        user.start()
    try:
        for _ in range(10 if ktap.CHECKING else 20):
            A.ip("link", "add", "d0", "type", "dummy")
            seen = done[0]
            ktap.wait_for(10, "the file is used", lambda seen=seen: done[0] > seen)
            A.ip("link", "del", "d0")
    finally:
        stop.set()
    for user in users:
        user.join()


@ktap.test
def nothing_is_left_when_the_module_goes():
    ktap.unload("net6")
    ktap.equal(exists(), False, "net.net6")
    ktap.net6_load()
    ktap.equal(read("conf", "a0", "hop_limit"), 64, "defaults again")


ktap.main(setup)
