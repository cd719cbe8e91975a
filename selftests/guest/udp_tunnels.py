#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The kernel's tunnels over UDP on net6 as a host's only IPv6: they carry what they carry on native
# (lib/udptunnels.py), and go with devices, namespaces and the module.
#
# guest: stock+
# guest-append: ipv6.disable=1
# timeout: 120
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import udptunnels


def setup():
    ktap.net6_load()


udptunnels.tests()
ktap.main(setup=setup)
