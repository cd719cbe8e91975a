#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# nd_proxy.py where net6 is the host's only IPv6: packets come another way (core/hook.c).
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 150

import os
import runpy

runpy.run_path(os.path.join(os.path.dirname(__file__), "nd_proxy.py"), run_name="__main__")
