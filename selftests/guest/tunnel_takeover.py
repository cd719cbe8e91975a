#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Tunnels where net6 is the host's only IPv6: ip(8), ping and ordinary sockets on a
# configured tunnel, on automatic ones and on 6over4. The topology is drawn in
# lib/cloud.py; here R has net6 too, for 6over4 on the link between A and R.
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 120
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
from cloud import ADDRESS_A, ADDRESS_B, ctl, native  # pylint: disable=wrong-import-position

NET6_A, NET6_B, FAR_B = "2001:db8:1::a", "2001:db8:1::b", "2001:db8:ffff::b"


def setup():
    cloud.setup()
    ctl(cloud.A, "tunnel", "add", "t0", "remote", ADDRESS_B, "local", ADDRESS_A)
    ctl(cloud.B, "tunnel", "add", "t0", "remote", ADDRESS_A, "local", ADDRESS_B)
    for ns, address in ((cloud.A, NET6_A + "/64"), (cloud.B, NET6_B + "/64"),
                        (cloud.B, FAR_B + "/128")):
        ns.ip("-6", "addr", "add", address, "dev", "t0")
        cloud.wait_preferred(ns, address.split("/")[0])


def ping(ns, address):
    ns.run("ping", "-6", "-c", "2", "-W", "5", address)


@ktap.test
def ip_shows_a_configured_tunnel():
    ktap.true(NET6_A in cloud.A.ip("-6", "addr", "show", "dev", "t0"), "address")
    ktap.true("default via fe80::c633:6401 dev t0" in cloud.A.ip("-6", "route"), "default route")
    neighbor = cloud.A.ip("-6", "neigh", "show", "fe80::c633:6401", "dev", "t0")
    ktap.true("PERMANENT" in neighbor, f"permanent neighbor: {neighbor}")


@ktap.test
def a_configured_tunnel_carries_ordinary_programs():
    for address in (NET6_B, FAR_B):
        ping(cloud.A, address)
        cloud.tcp(native(cloud.A), native(cloud.B), address, 50000)
    cloud.udp(native(cloud.A, 2), native(cloud.B, 2), NET6_B)


@ktap.test
def so_do_those_that_configure_themselves():
    for ns in (cloud.A, cloud.B, cloud.R):
        cloud.transition(ns, "auto")
    for ns, address in ((cloud.A, "::" + ADDRESS_A), (cloud.B, "::" + ADDRESS_B),
                        (cloud.A, "fe80::c000:201"), (cloud.R, "fe80::c000:202")):
        cloud.wait_preferred(ns, address)
    ping(cloud.A, "::" + ADDRESS_B)
    cloud.tcp(native(cloud.A), native(cloud.B), "::" + ADDRESS_B, 50000)
    for ns, local, address in ((cloud.A, ADDRESS_A, "fd06::a"), (cloud.R, "192.0.2.2", "fd06::2")):
        dev = next(t["dev"] for t in cloud.show(ns, "tunnels")
                   if t["kind"] == "6over4" and t["local"] == local)
        ns.ip("-6", "addr", "add", address + "/64", "dev", dev)
        cloud.wait_preferred(ns, address)
    ping(cloud.A, "fd06::2")
    cloud.tcp(native(cloud.A), native(cloud.R), "fd06::2", 50000)


ktap.main(setup=setup)
