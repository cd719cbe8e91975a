#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Ten thousand slow clients in virtual time (of native IPv6 fewer), a third of each kind:
# heads that never end, replies that nobody reads, connections that say nothing. A
# thousand requests beside them lose nothing, and take about as long as without. Time-outs
# end such connections.
#
#	[ client ] c0 ------ s0 [ server: khttpd ]     and native IPv6 on lo
#
# guest: full
# guest-options: --virtual-time
# timeout: 400
# pylint: disable=missing-function-docstring
import os
import resource
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
COUNT = 9999 if not ktap.CHECKING else 600
FULL = bool(os.environ.get("NET6_FULL"))
GOOD = 1000 if not ktap.CHECKING else 100
DATA = os.urandom(65536)
PLACES = [khttpd.V6]
LIMITS = ("head_timeout", "idle_timeout", "send_timeout")


def setup():
    resource.setrlimit(resource.RLIMIT_NOFILE, (COUNT + 500, COUNT + 500))
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    khttpd.write("small", DATA[:1000])
    khttpd.write("big", DATA)


def start(place):
    khttpd.serve(place)
    for _ in range(5):
        khttpd.exchange(place, GET("/small"))
        khttpd.exchange(place, GET("/big"))
        time.sleep(0.1)		# nothing shows that everything rested


def good(place):
    """The time below which 99 of 100 requests stay, of GOOD that all succeed."""
    took = []
    for _ in range(10):
        with place.connect() as sock:
            reader = khttpd.Reader(sock)
            for _ in range(GOOD // 10):
                begin = time.monotonic()
                sock.sendall(GET("/small"))
                ktap.true(reader.reply().body == DATA[:1000], "reply")
                took.append(time.monotonic() - begin)
    return sorted(took)[len(took) * 99 // 100]


def slow(place, number):
    """A connection of one of the three kinds."""
    sock = place.socket()
    if number % 3 == 1:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    sock.settimeout(khttpd.TIMEOUT)
    sock.connect((place.address, 8080, 0, 0))
    if number % 3 == 0:
        sock.sendall(GET("/small")[:-3])
    elif number % 3 == 1:
        sock.sendall(GET("/big"))
    return sock


def beside_slow_clients(place, count):
    start(place)
    old = [khttpd.limit(name, 3_600_000) for name in LIMITS]
    try:
        alone = good(place)
        socks = [slow(place, number) for number in range(count)]
        ktap.wait_for(20, "all are connected",
                      lambda: khttpd.count("connections") == count)
        beside = good(place)
        ktap.diag(f"p99 alone {alone * 1e6:.0f} us, beside them {beside * 1e6:.0f} us")
        ktap.true(beside < 3 * alone, "p99 is less than three times as long")
    finally:
        khttpd.ctl("stop")
        for name, value in zip(LIMITS, old):
            khttpd.limit(name, value)
    ktap.wait_for(20, "all are ended", lambda: khttpd.count("connections") == 0)
    for sock in socks:
        sock.close()


@ktap.test
def native_ipv6():
    beside_slow_clients(PLACES[0], COUNT if FULL else COUNT // 6)


@ktap.test
def net6():
    beside_slow_clients(PLACES[1], COUNT)


@ktap.test
def time_outs_end_them():
    place = PLACES[1]
    start(place)
    old = [khttpd.limit(name, 2000) for name in LIMITS]
    before = [khttpd.count(f"timeout_{name}") for name in ("head", "idle", "send")]
    try:
        socks = [slow(place, number) for number in range(300)]
        ktap.wait_for(60, "all are ended", lambda: khttpd.count("connections") == 0)
        after = [khttpd.count(f"timeout_{name}") for name in ("head", "idle", "send")]
        ktap.diag(f"head, idle, send: {[a - b for a, b in zip(after, before)]}")
        ktap.true(after[0] - before[0] >= 200, "heads")
        for sock in socks:
            sock.close()
    finally:
        for name, value in zip(LIMITS, old):
            khttpd.limit(name, value)
        khttpd.ctl("stop")


ktap.main(setup)
