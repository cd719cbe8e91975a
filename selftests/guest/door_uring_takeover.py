#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# door_uring.py where net6 is the host's only IPv6: what a socket of AF_INET6 gives against one of
# AF_NET6.
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 200

import os
import runpy

runpy.run_path(os.path.join(os.path.dirname(__file__), "door_uring.py"), run_name="__main__")
