#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Eight of the programs of lib/programs.py, unmodified, on net6 as the host's only IPv6.
#
#	A [a0] ------ [b0] B	fd00::a, fd00::b
#
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 180
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import programs


def setup():
    ktap.net6_load()
    a, b = ktap.Netns("A"), ktap.Netns("B")
    ktap.veth(a, "a0", b, "b0")
    for ns, dev, address in ((a, "a0", programs.CLIENT), (b, "b0", programs.SERVER)):
        ns.ip("-6", "addr", "add", address + "/64", "dev", dev)
        ktap.wait_for(15, "address", lambda n=ns, d=dev: "tentative" not in
                      n.ip("-6", "addr", "show", "dev", d))
    programs.setup(a, b)


programs.tests(programs.FEW)
ktap.main(setup=setup)
