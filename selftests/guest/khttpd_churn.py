#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Files of which one is replaced and one is cut or grown a thousand times a second, while
# clients ask for them and for others. What arrives is whole, or ends short if it was cut.
# In virtual time, where a thousand a second is no question of the machine. On a checking
# kernel, where 620 of each are all of its CPU, half of that: a thousand in sum.
#
#	[ clients and server on lo ]    [ client ] c0 ------ s0 [ server ] with net6
#
# guest: stock+
# guest-options: --virtual-time
# timeout: 400
# pylint: disable=missing-function-docstring
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

RATE, COUNT = (1000, 6_000) if not ktap.CHECKING else (500, 2_000)
DATA = os.urandom(300_001)
VERSIONS = [bytes([65 + n]) * (100 * (1 + n) ** 3) for n in range(8)]
PATHS = (("/c/churn", VERSIONS), ("/c/cut", None), ("/small", (b"small",)), ("/big", (DATA,)))
PLACES = [khttpd.V4]


def setup():
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    khttpd.write("small", b"small")
    khttpd.write("big", DATA)


def churned(place):
    khttpd.serve(place)
    churn = khttpd.Churn("c", VERSIONS, COUNT, len(DATA), RATE)
    clients = khttpd.Clients(place, PATHS)
    try:
        rate = churn.end()
        ktap.diag(f"{clients.replies} replies meanwhile")
        ktap.true(rate > 0.99 * RATE, f"{RATE} times a second: {rate}")
        ktap.true(clients.replies > 100, "clients were served")
    finally:
        clients.stop()
        khttpd.ctl("stop")
    ktap.equal(khttpd.count("cache_entries"), 0, "files held open")


@ktap.test
def native():
    churned(PLACES[0])


@ktap.test
def net6():
    churned(PLACES[1])


ktap.main(setup)
