#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The rules of TCP connections, a script each: what the program and the peer do, what net6
# sends and when, to the millisecond of virtual time. Scripts: tcp_conn/*.pkt, language:
# ../lib/tcpscript.py.
# Arguments: a pattern that titles have to match.
#
#	[ A: the script plays the peer ] a0 ------ b0 [ B: net6 ]
#
# guest: stock
# guest-options: --virtual-time
# timeout: 300
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position
import tcpscript  # noqa: E402

tcpscript.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tcp_conn"),
               sys.argv[1] if len(sys.argv) > 1 else None)
ktap.main(setup=tcpscript.setup)
