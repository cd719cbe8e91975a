#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# No memory for khttpd: a share of what must not sleep fails while requests are
# answered in softirq, and a share of all that its threads ask for. Connections may
# end; what arrives is right, nothing hangs, and afterwards all is as before.
#
#	[ client ] c0 ------ s0 [ server: khttpd, and this process's server ]
#
# guest: checking
# timeout: 200
# pylint: disable=missing-function-docstring
import contextlib
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

FAULT = "/sys/kernel/debug/failslab"
DATA = os.urandom(65536)
FILES = (("/small", (DATA[:1000],)), ("/pages", (DATA,)), ("/nope", None))
# Asked for once each: a worker opens them.
COLD = 400
PLACES = []
REPLIES = 60


def fault(**values):
    for name, value in values.items():
        with open(f"{FAULT}/{name.replace('_', '-')}", "w", encoding="ascii") as file:
            file.write(str(value))


def setup():
    if not os.path.isdir(FAULT):
        raise ktap.Skip("the kernel cannot inject faults")
    fault(probability=0, times=-1, verbose=0, interval=1)
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    khttpd.write("small", DATA[:1000])
    khttpd.write("pages", DATA)
    for number in range(COLD):
        khttpd.write(f"cold/{number}", b"cold")
    serve()


def serve():
    khttpd.serve(PLACES[0], "--listen", "127.0.0.1:8080")


@contextlib.contextmanager
def failing(**values):
    fault(**values)
    try:
        yield
    finally:
        fault(probability=0)


def answered(place, port=8080):
    """Requests are answered in softirq again, and no connection is left over."""
    before = khttpd.count("soft_hits")

    def hit():
        ktap.true(khttpd.exchange(place, khttpd.get("/pages"), port).body == DATA, "body")
        return khttpd.count("soft_hits") > before
    ktap.wait_for(20, "it is answered in softirq", hit)
    ktap.wait_for(20, "no connection is left",
                  lambda: khttpd.count("connections") == 0)


def fetched(place, port=8080, turns=5, files=FILES, replies=REPLIES):
    """Clients, until they have what they wanted or all tries failed for a while."""
    clients = [khttpd.Clients(place, files, 2, port, n) for n in (turns, 0)]
    try:
        ktap.wait_for(60, f"{replies} replies", lambda: sum(
            c.replies for c in clients) >= replies)
    finally:
        # Without failures, or those who wait for the last reply wait long.
        fault(probability=0)
        for one in clients:
            one.stop()


@ktap.test
def what_must_not_sleep():
    place = PLACES[0]
    answered(place)
    for share in (2, 20):
        before = {name: khttpd.count(name) for name in ("soft_hits", "soft_given")}
        with failing(ignore_gfp_wait="Y", probability=share):
            fetched(place)
        ktap.diag(f"{share} of 100: " + ", ".join(
            f"{name} {khttpd.count(name) - old}" for name, old in before.items()))
        answered(place)


@contextlib.contextmanager
def failing_threads(share=10):
    threads = ktap.run("pgrep", "^khttpd/").split()
    ktap.true(threads, "there are threads")
    for pid in threads:
        with open(f"/proc/{pid}/make-it-fail", "w", encoding="ascii") as file:
            file.write("1")
    before = khttpd.count("no_memory")
    try:
        with failing(ignore_gfp_wait="N", task_filter="Y", probability=share):
            yield
    finally:
        fault(task_filter="N")
    ktap.diag(f"no memory: {khttpd.count('no_memory') - before}")


@ktap.test
def what_threads_ask_for():
    with failing_threads():
        fetched(PLACES[0])
    answered(PLACES[0])


@ktap.test
def what_threads_ask_for_while_a_worker_opens_the_file():
    files = [(f"/cold/{number}", (b"cold",)) for number in range(COLD)]
    with failing_threads():
        fetched(PLACES[0], files=files, replies=COLD)
    answered(PLACES[0])


@ktap.test
def a_server_behind_it():
    place = PLACES[0]
    over = threading.Event()

    def refuse(sock):
        """Ends what comes to the server."""
        sock.settimeout(0.1)
        while not over.is_set():
            with contextlib.suppress(OSError):
                sock.accept()[0].close()

    with khttpd.Server(place, 8091, "att") as server:
        thread = threading.Thread(target=refuse, args=(server.sock,))
        thread.start()
        try:
            answered(place, 8091)
            with failing(ignore_gfp_wait="Y", probability=10):
                fetched(place, 8091)
        finally:
            over.set()
            thread.join()
    ktap.wait_for(20, "no connection is left",
                  lambda: khttpd.count("connections") == 0)


@contextlib.contextmanager
def not_accepted(place, port, name):
    """A connection that is in the accept queue: there was no memory to accept it."""
    # Not in the cache: on net6, too, it is for a thread.
    khttpd.write(name, b"late")
    before = khttpd.count("no_memory")
    with place.connect(port) as sock:
        sock.sendall(khttpd.get(f"/{name}"))
        ktap.wait_for(10, "there is no memory", lambda: khttpd.count("no_memory") > before)
        yield sock


@ktap.test
def accepted_as_soon_as_there_is_memory():
    """No other connection comes to have it accepted."""
    net6 = PLACES[0]
    khttpd.serve(khttpd.V4, site="native")
    with khttpd.Server(khttpd.V4, 8092, "att4"), khttpd.Server(net6, 8093, "att6"):
        for place, port in ((khttpd.V4, 8080), (net6, 8080), (khttpd.V4, 8092), (net6, 8093)):
            with contextlib.ExitStack() as stack:
                with failing_threads(100):
                    sock = stack.enter_context(
                        not_accepted(place, port, f"late/{place.name}-{port}"))
                reply = khttpd.Reader(sock).reply()
                ktap.equal((reply.status, reply.body), (200, b"late"), f"{place.name} {port}")
    khttpd.ctl("stop", "--site", "native")


@ktap.test
def stopped_while_there_is_no_memory_to_accept():
    net6 = PLACES[0]
    with khttpd.Server(net6, 8093, "att6") as server, failing_threads(100), \
            not_accepted(net6, 8093, "late/theirs"), not_accepted(net6, 8080, "late/ours"):
        server.sock.close()
        khttpd.ctl("stop")
    serve()
    answered(net6)


@ktap.test
def stopped_without_memory():
    with failing(ignore_gfp_wait="Y", probability=20):
        socks = []
        for _ in range(20):
            with contextlib.suppress(OSError):
                socks.append(PLACES[0].connect(timeout=2))
        khttpd.ctl("stop")
    ktap.equal(khttpd.count("connections"), 0, "connections")
    for sock in socks:
        sock.close()
    serve()
    answered(PLACES[0])


ktap.main(setup)
