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
# guest-options: --kmemleak
# pylint: disable=missing-function-docstring
import array
import contextlib
import errno
import fcntl
import os
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import faults  # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
# pylint: disable-next=wrong-import-position
from faults import failing, failing_tasks, fault, no_pages, only_kmalloc, put

sys.path.insert(0, f"{khttpd.TOP}/tools/giveback")
import example  # pylint: disable=wrong-import-position

DATA = os.urandom(65536)
FILES = (("/small", (DATA[:1000],)), ("/pages", (DATA,)), ("/nope", None))
# Asked for once each: a worker opens them.
# Each day fewer.
FULL = bool(os.environ.get("NET6_FULL"))
COLD = 200 if FULL else 80
PLACES = []
REPLIES = 60 if FULL else 30


def setup():
    faults.setup()
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    khttpd.write("small", DATA[:1000])
    khttpd.write("pages", DATA)
    for number in range(COLD):
        khttpd.write(f"cold/{number}", b"cold")
    serve()


def serve():
    khttpd.serve(PLACES[0], "--listen", "127.0.0.1:8080")


def answered(place, port=8080, path="/pages", data=DATA):
    """Requests are answered in softirq again, and no connection is left over."""
    before = khttpd.count("soft_hits")

    def hit():
        ktap.true(khttpd.exchange(place, khttpd.get(path), port).body == data, "body")
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
        # Without failures, or those who wait for the last reply wait long. A reset that could not
        # be sent is never sent: who waits for it has others only make the machine slow.
        fault(probability=0)
        for one in clients:
            one.over = True
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


def khttpd_threads():
    threads = ktap.run("pgrep", "^khttpd/").split()
    ktap.true(threads, "there are threads")
    return threads


@contextlib.contextmanager
def failing_threads(share=10):
    before = khttpd.count("no_memory")
    with failing_tasks(khttpd_threads(), share):
        yield
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
    """What was counted as accepted in softirq, and waits, is counted as closed."""
    net6 = PLACES[0]
    before = khttpd.counters()
    with khttpd.Server(net6, 8093, "att6") as server, failing_threads(100), \
            not_accepted(net6, 8093, "late/theirs"), not_accepted(net6, 8080, "late/ours"):
        server.sock.close()
        khttpd.ctl("stop")
    counted = [khttpd.count(name) - before[name] for name in ("accepted", "closed")]
    serve()
    ktap.equal(counted, [2, 2], "accepted, closed")
    answered(net6)


@ktap.test
def detached_while_there_is_no_memory_to_accept():
    """What was counted as accepted, and the server has accepted itself, is handed over."""
    net6 = PLACES[0]
    khttpd.write("long", bytes(8 << 20))
    before = khttpd.counters()
    with contextlib.ExitStack() as stack:
        # All of the reply is wanted, however slow the machine is.
        stack.callback(khttpd.limit, "stop_timeout", khttpd.limit("stop_timeout", 300_000))
        server = stack.enter_context(khttpd.Server(net6, 8093, "att6"))
        slow = stack.enter_context(net6.connect(8093))
        slow.sendall(khttpd.get("/long"))
        ktap.wait_for(20, "a reply is under way",
                      lambda: khttpd.count("send_blocked") > before["send_blocked"])
        with failing_threads(100), not_accepted(net6, 8093, "late/detached"):
            detach = threading.Thread(target=khttpd.ctl, args=("detach", "--site", "att6"))
            detach.start()
            server.accept().close()
            server.sock.close()
            counted = {name: khttpd.count(name) - before[name]
                       for name in ("accepted", "closed", "handed_over")}
        ktap.equal(khttpd.Reader(slow).reply().body, bytes(8 << 20), "whole")
        detach.join()
    ktap.equal(counted, {"accepted": 2, "closed": 0, "handed_over": 1}, "while it detaches")
    answered(net6)


def fail_nth(threads, number):
    for thread in threads:
        put(f"/proc/{thread}/fail-nth", number)


def failed_nth(threads):
    """Has the allocation meant failed in some thread?"""
    left = []
    for thread in threads:
        with open(f"/proc/{thread}/fail-nth", encoding="ascii") as file:
            left.append(int(file.read().rstrip("\0\n")))
    return 0 in left


def asleep(threads):
    states = []
    for thread in threads:
        with open(f"/proc/{thread}/stat", encoding="ascii") as file:
            states.append(file.read().rsplit(")", 1)[1].split()[0])
    return not {"R", "D"}.intersection(states)


def without_the_nth(threads, number):
    """A thread has a connection that it is to give back, and has no memory for its
    @number-th allocation: how the connection fared, and whether one failed.
    """
    with PLACES[0].connect() as sock:
        reader = khttpd.Reader(sock)

        def ask(status=200, extra=""):
            sock.sendall(khttpd.get("/small", extra))
            ktap.equal(reader.reply().status, status, "status")
        ask(206, "Range: bytes=1-2\r\n")
        for _ in range(3):
            ask()
        before = khttpd.count("soft_returned")
        ktap.wait_for(10, "threads have done all", lambda: asleep(threads))
        fail_nth(threads, number)
        try:
            ask()
            ktap.wait_for(10, "threads have done all", lambda: asleep(threads))
            failed = failed_nth(threads)
        except (OSError, ktap.Fail):
            return "ended", failed_nth(threads)
        finally:
            fail_nth(threads, 0)
        if khttpd.count("soft_returned") > before:
            return "returned", failed
        ktap.wait_for(10, "it is given back later",
                      lambda: ask() or khttpd.count("soft_returned") > before)
        ask()
        return "stayed", failed


@ktap.test
def given_back_to_softirq_without_memory():
    """Each allocation on the way fails in its turn."""
    answered(PLACES[0], path="/small", data=DATA[:1000])
    fault(ignore_gfp_wait="N", probability=0)
    threads = khttpd_threads()
    fared = []
    with only_kmalloc():
        while True:
            how, failed = without_the_nth(threads, len(fared) + 1)
            if not failed:
                break
            fared.append(how)
    ktap.diag(" ".join(fared))
    ktap.equal(how, "returned", "with memory")
    # What the listener knows of it, and its owner; at times the reply's packet, before.
    ktap.true(len(fared) >= 2 and set(fared) == {"stayed"}, f"it stays the thread's: {fared}")
    answered(PLACES[0])


def give_without_the_nth(server, number):
    """A server gives a connection back, and its @number-th allocation fails: whether one did, and
    the error.
    """
    with PLACES[0].connect(8094) as sock:
        sock.sendall(khttpd.get("/theirs"))
        conn = server.accept()
        head = array.array("B", example.read_head(conn).replace(b"/theirs", b"/small"))
        address, length = head.buffer_info()
        arg = struct.pack("iiQII", server.sock.fileno(), conn.fileno(), address, length, 0)
        with open("/dev/khttpd_giveback", "rb", buffering=0) as device:
            failed, error = faults.without_the_nth(number, fcntl.ioctl, device, example.GIVEBACK,
                                                   arg)
        if error:
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nme")
            conn.close()
        else:
            conn.detach()
        ktap.equal(khttpd.Reader(sock).reply().body, b"me" if error else DATA[:1000], "body")
    return failed, error


@ktap.test
def a_server_gives_back_without_memory():
    """The connection stays the server's, whichever allocation fails."""
    with khttpd.Server(PLACES[0], 8094, "back") as server, no_pages():
        fault(ignore_gfp_wait="N", probability=0)
        fared = []
        while True:
            failed, error = give_without_the_nth(server, len(fared) + 1)
            if not failed:
                break
            fared.append(error)
    ktap.diag(f"{fared}")
    ktap.equal(error, 0, "with memory")
    # The head, what is parsed of it, the connection, its socket; others are nobody's business.
    ktap.true(fared.count(errno.ENOMEM) >= 4 and set(fared) <= {0, errno.ENOMEM}, f"{fared}")
    ktap.wait_for(20, "no connection is left", lambda: khttpd.count("connections") == 0)
    answered(PLACES[0])


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
