#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# door_userns.py where net6 is the host's only IPv6: files of net.ipv6 as well.
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 120

import os
import runpy

runpy.run_path(os.path.join(os.path.dirname(__file__), "door_userns.py"), run_name="__main__")
