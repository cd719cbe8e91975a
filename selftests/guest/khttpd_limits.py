#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What one client may have: connections and requests by its address, and time to
# take a reply. Others beside it notice nothing.
#
#	[ clients, khttpd on lo ]	native IPv4, native IPv6
#	[ client ] c0 ------ s0 [ server: khttpd ]	net6
#
# guest: stock+
# timeout: 240
# pylint: disable=missing-function-docstring
import contextlib
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
CLOSE = "Connection: close\r\n"
MIDDLE = os.urandom(60_000)
PLACES = [khttpd.V4, khttpd.V6]
# For each place a second address, and is it another client's?
OTHER = {"IPv4": ("127.0.0.2", True), "IPv6": ("fd09::2", True),
         "net6": ("fd02::3", False)}


def setup():
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("page", bytes(8000))
    # More than is answered in softirq.
    khttpd.write("large", bytes(100_000))
    # As much as a send buffer takes, and is answered in softirq.
    khttpd.write("middle", MIDDLE)
    # More than any send buffer takes.
    os.truncate(khttpd.write("big", b"x"), 32 << 20)
    ktap.run("ip", "address", "add", "fd09::2/128", "dev", "lo", "nodad")
    net6 = PLACES[2]
    khttpd.net6ctl(net6.client, "add", "address", "fd02::3/64", "dev", "c0")
    ktap.wait_for(15, "fd02::3 is preferred",
                  lambda: khttpd.net6_preferred(net6.client, "c0", "fd02::3"))
    serve()


def serve(*sites):
    if "default" in sites or not sites:
        khttpd.serve(khttpd.V4, "--listen", khttpd.V6.listen)
    if "net6" in sites or not sites:
        khttpd.serve(PLACES[2], site="net6")


@contextlib.contextmanager
def limits(**values):
    gone()
    old = {name: khttpd.limit(name, value) for name, value in values.items()}
    try:
        yield
    finally:
        for name, value in old.items():
            khttpd.limit(name, value)


def gone():
    ktap.wait_for(20, "no connection is left",
                  lambda: khttpd.count("connections") == 0)


def connect(place, address=None):
    """From the other address of a place, or the usual one."""
    if not address:
        return place.connect()
    sock = place.socket()
    sock.settimeout(khttpd.TIMEOUT)
    sock.bind((address, 0))
    sock.connect((place.address, 8080))
    return sock


def works(sock):
    sock.sendall(GET("/a.txt"))
    ktap.equal(khttpd.Reader(sock).reply().body, b"hello\n", "body")


def refused(place, address=None):
    before = khttpd.count("address_full")
    try:
        with connect(place, address) as sock:
            ktap.equal(sock.recv(1), b"", f"{place.name}: refused")
    except ConnectionResetError:
        pass
    ktap.wait_for(10, "it is counted", lambda: khttpd.count("address_full") == before + 1)


@ktap.test
def connections_of_an_address():
    for place in PLACES:
        address, another = OTHER[place.name]
        with limits(max_per_address=5):
            socks = [connect(place) for _ in range(5)]
            for number, sock in enumerate(socks):
                works(sock)
                # A request for what is not there is a thread's, on net6 too.
                if number % 2:
                    sock.sendall(GET("/nope"))
                    ktap.equal(khttpd.Reader(sock).reply().status, 404, "status")
            refused(place)
            if another:
                with connect(place, address) as sock:
                    works(sock)
            else:
                # Of an IPv6 client all addresses with the same 64 bits.
                refused(place, address)
            for sock in socks:
                works(sock)
            socks.pop().close()
            ktap.wait_for(10, "one has ended",
                          lambda: khttpd.count("connections") == 4)
            socks.append(connect(place))
            works(socks[-1])
            for sock in socks:
                sock.close()
            gone()
            with connect(place) as sock:
                works(sock)


@ktap.test
def requests_of_an_address():
    for place in PLACES:
        address, another = OTHER[place.name]
        # The file is in the cache, and everything rested: nothing shows that.
        for _ in range(3):
            with connect(place) as sock:
                works(sock)
            time.sleep(0.1)
        with limits(request_rate=1, request_burst=3):
            before = khttpd.count("requests_refused")
            with connect(place) as sock:
                reader = khttpd.Reader(sock)
                sock.sendall(GET("/a.txt") * 5)
                ktap.equal([reader.reply().status for _ in range(3)], [200] * 3,
                           f"{place.name}: the burst")
                reply = reader.reply()
                ktap.equal((reply.status, reply.fields.get("retry-after"),
                            reply.fields.get("connection")), (429, "1", "close"),
                           "one more")
                reader.closed()
            ktap.equal(khttpd.count("requests_refused"), before + 1, "counted")
            with connect(place, address if another else None) as sock:
                if another:
                    works(sock)
            # Closed and come back it is the same client, and has to wait.
            def served():
                with connect(place) as sock:
                    sock.sendall(GET("/a.txt"))
                    return khttpd.Reader(sock).reply().status == 200
            ktap.wait_for(10, "it may ask again", served)
            # Its connections end; that it asked is remembered for a while.
            with connect(place) as sock:
                sock.sendall(GET("/a.txt", "Content-Length: 5\r\n", "POST") + b"x" * 5
                             + GET("/a.txt") * 2)
                ktap.true(khttpd.Reader(sock).reply().status in (405, 429), "a body")


@ktap.test
def limits_of_the_limits():
    for name, least in (("max_per_address", 0), ("request_rate", 0),
                        ("request_burst", 1), ("send_rate", 0)):
        old = khttpd.limit(name, least)
        khttpd.limit(name, old)
        ktap.raises(34, khttpd.limit, name, 2 ** 31 - 1)
    ktap.raises(34, khttpd.limit, "request_burst", 0)


def connect_narrow(place, port=8080):
    """Of a client that has not much room for what comes."""
    sock = place.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(khttpd.TIMEOUT)
    sock.connect((place.address, port))
    return sock


def read_slowly(place, piece, pause, seconds, request=GET("/big")):
    """Takes pieces of a reply; did the connection live for so long? After a reset
    there is still something to read.
    """
    before = khttpd.count("timeout_send")
    with connect_narrow(place) as sock:
        sock.sendall(request)
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                if not sock.recv(piece) or khttpd.count("timeout_send") > before:
                    return False
                time.sleep(pause)		# how slowly the client reads
        except ConnectionResetError:
            return False
        return True


@ktap.test
def a_reply_is_taken_fast_enough_or_not_at_all():
    for place in PLACES:
        with limits(send_timeout=3000, send_rate=700):
            before = khttpd.count("timeout_send")
            ktap.true(read_slowly(place, 4096, 0.05, 4),
                      f"{place.name}: one that reads on is served")
            ktap.equal(khttpd.count("timeout_send"), before, "no time-out")
            ktap.true(not read_slowly(place, 10, 0.1, 60),
                      f"{place.name}: one that takes a byte now and then is not")
            ktap.equal(khttpd.count("timeout_send"), before + 1, "counted")
        with limits(send_timeout=3000, send_rate=0):
            ktap.true(read_slowly(place, 1500, 0.2, 4),
                      f"{place.name}: without a rate a little is enough")


def warm(place):
    """On net6 the file is answered in softirq from now on."""
    def answered():
        before = khttpd.count("soft_hits")
        khttpd.exchange(place, GET("/middle"))
        return place.name != "net6" or khttpd.count("soft_hits") > before
    ktap.wait_for(20, "the file is in the cache", answered)


def asked(place, request, half_closed=False):
    """Asks for a file that the socket takes all of; the client has no room for it."""
    before = khttpd.count("replies_file")
    sock = connect_narrow(place)
    sock.sendall(request)
    if half_closed:
        sock.shutdown(socket.SHUT_WR)
    ktap.wait_for(10, "it is answered", lambda: khttpd.count("replies_file") > before)
    return sock


# Whoever ends the connection, or nobody.
ENDS = (("", False), (CLOSE, False), ("", True), (CLOSE, True))


@ktap.test
def what_fits_in_the_send_buffer_is_taken_too():
    """A reply that is all in the socket is no reason to forget it, not even the last one."""
    for place in PLACES:
        warm(place)
        gone()
        for fields, half_closed in ENDS:
            what = f"{place.name} {fields.strip()} {'half-closed' if half_closed else ''}"
            with limits(send_timeout=1000):
                before = khttpd.counters()
                with asked(place, GET("/middle", fields), half_closed):
                    ktap.equal(khttpd.count("connections"), 1, f"{what}: it is there")
                    ktap.wait_for(15, f"{what}: it is ended",
                                  lambda: khttpd.count("connections") == 0)
                ktap.equal(khttpd.count("timeout_send"), before["timeout_send"] + 1,
                           f"{what}: for that reason")
                ktap.equal(khttpd.count("timeout_idle"), before["timeout_idle"], what)
        with limits(send_timeout=1000, send_rate=700):
            for fields, _ in ENDS[:2]:
                ktap.true(not read_slowly(place, 10, 0.1, 20, GET("/middle", fields)),
                          f"{place.name} {fields}: a byte now and then is not enough")
                gone()


@ktap.test
def who_takes_a_last_reply_is_not_kept():
    """Nor does the connection wait for a time-out then."""
    for place in PLACES:
        warm(place)
        for fields, half_closed in ENDS[1:]:
            gone()
            before = khttpd.counters()
            with asked(place, GET("/middle", fields), half_closed) as sock:
                reader = khttpd.Reader(sock)
                ktap.true(reader.reply().body == MIDDLE, f"{place.name}: all of it")
                reader.closed()
                ktap.wait_for(10, "the connection is ended, though not by the client",
                              lambda: khttpd.count("connections") == 0)
            after = khttpd.counters()
            for name in ("timeout_send", "timeout_idle", "timeout_head", "timeout_linger",
                         "aborted", "lost"):
                ktap.equal(after[name], before[name], f"{place.name}: {name}")


@ktap.test
def a_stopped_site_waits_for_a_last_reply_but_not_for_ever():
    for place in PLACES:
        with limits(stop_timeout=1000):
            warm(place)
            gone()
            before = khttpd.count("aborted")
            site = "net6" if place.name == "net6" else "default"
            with asked(place, GET("/middle")), asked(place, GET("/middle", CLOSE)):
                ktap.equal(khttpd.count("connections"), 2, f"{place.name}: two")
                try:
                    khttpd.ctl("stop", "--site", site)
                    ktap.equal(khttpd.count("connections"), 0, f"{place.name}: none")
                finally:
                    serve(site)
            ktap.equal(khttpd.count("aborted"), before + 2, f"{place.name}: counted")


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


@ktap.test
def a_client_that_resets_in_mid_reply_is_counted():
    for place in PLACES:
        warm(place)
        for request in (GET("/big"), GET("/middle", CLOSE)):
            gone()
            before = khttpd.counters()
            reset(asked(place, request))
            gone()
            after = khttpd.counters()
            ktap.equal((after["aborted"] - before["aborted"], after["lost"] - before["lost"]),
                       (1, 0), f"{place.name} {request[:12]}")


@ktap.test
def who_says_nothing_has_the_time_for_a_head():
    for place in PLACES:
        with limits(head_timeout=500, idle_timeout=600_000):
            before = khttpd.counters()
            with place.connect() as sock:
                khttpd.Reader(sock).closed()
            after = khttpd.counters()
            ktap.equal((after["timeout_head"] - before["timeout_head"],
                        after["timeout_idle"] - before["timeout_idle"]), (1, 0), place.name)


@ktap.test
def urgent_data_is_no_request():
    """It wakes whoever waits for one, and that is all."""
    for place in PLACES:
        with limits(head_timeout=2000, idle_timeout=2000), connect(place) as sock:
            sock.sendall(GET("/nope"))
            ktap.equal(khttpd.Reader(sock).reply().status, 404, place.name)
            end = time.monotonic() + 20 * ktap.SCALE
            try:
                while khttpd.count("connections"):
                    ktap.true(time.monotonic() < end, f"{place.name}: it is ended")
                    sock.send(b"x", socket.MSG_OOB)
                    time.sleep(0.3)		# urgent data all the while
            except (BrokenPipeError, ConnectionResetError):
                pass


@ktap.test
def lines_that_are_noted_have_a_limit():
    for name in ("Cookie: a=b", "Accept: text/html", 'If-None-Match: "a"'):
        for count, status, over in ((16, 200, 0), (17, 431, 1)):
            before = khttpd.counters()
            reply = khttpd.exchange(khttpd.V4, GET("/a.txt", f"{name}\r\n" * count))
            after = khttpd.counters()
            ktap.equal((reply.status, after["head_fields_over"] - before["head_fields_over"],
                        after["head_bytes_over"] - before["head_bytes_over"]),
                       (status, over, 0), f"{count} {name}")


@ktap.test
def khttpd_goes_while_clients_are_remembered():
    with limits(request_rate=1, request_burst=100):
        for place in PLACES:
            for _ in range(3):
                with connect(place) as sock:
                    works(sock)
        gone()
        khttpd.ctl("stop", "--all")
        ktap.run("rmmod", "khttpd")
        ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")


def read_all(place, port, many):
    """Takes the replies to @many requests sent at once: how many are served before the
    429, and in how many seconds?
    """
    start = time.monotonic()
    with connect_narrow(place, port) as sock:
        sock.sendall(GET("/page") * many)
        reader = khttpd.Reader(sock)
        for served in range(many):
            reply = reader.reply()
            if reply.status != 200:
                ktap.equal(reply.status, 429, f"{place.name}: reply {served}")
                reader.closed()
                return served, time.monotonic() - start
        raise ktap.Fail(f"{place.name}: all {many} are served")


@ktap.test
def who_reads_slowly_asks_no_faster():
    """Replies go out one at a time, so that a 429 never fits behind the last that is
    served: the request it was for is judged once more, and refused again.
    """
    burst = 5
    try:
        for port, place in enumerate(PLACES, 8090):
            with limits(request_rate=1, request_burst=burst), \
                    khttpd.Server(place, port, f"slow{port}") as server:
                # The least there is, and less than a reply; for what is accepted, too.
                server.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
                blocked = khttpd.count("send_blocked")
                served, spent = read_all(place, port, 60)
                ktap.diag(f"{place.name}: {served} in {spent:.3f} seconds")
                ktap.true(burst <= served <= burst + spent, f"{place.name}: {served} served")
                ktap.true(khttpd.count("send_blocked") > blocked, "replies waited for room")
    finally:
        # What they have asked is forgotten when that time has gone by.
        time.sleep(burst + 1)


@ktap.test
def a_request_counts_once():
    """Whoever looks at it, and however often: what is answered in softirq, what is left to
    a thread there, and what comes again because replies before it filled the socket.
    """
    serve()
    many = 1000
    for place in PLACES:
        for name in ("/page", "/large"):
            # Open, and in the cache; nothing shows that everything rested.
            for _ in range(3):
                khttpd.exchange(place, GET(name))
                time.sleep(0.1)
            with limits(request_rate=1, request_burst=2):
                with connect(place) as sock:
                    reader = khttpd.Reader(sock)
                    for _ in range(2):
                        sock.sendall(GET(name))
                        ktap.equal(reader.reply().status, 200, f"{place.name} {name}")
            # What it has asked is forgotten when that time has gone by.
            time.sleep(2.1)
        with limits(request_rate=1, request_burst=many), connect_narrow(place) as sock:
            reader = khttpd.Reader(sock)
            blocked = khttpd.count("send_blocked")
            sock.sendall(GET("/page") * many)
            ktap.wait_for(10, "replies wait for room",
                          lambda old=blocked: khttpd.count("send_blocked") > old)
            for number in range(many):
                ktap.equal(reader.reply().status, 200, f"{place.name}: request {number}")


def raw_buffer(sock, receive, send):
    """Beyond what sysctls allow."""
    sock.setsockopt(socket.SOL_SOCKET, 33, receive)		# SO_RCVBUFFORCE
    sock.setsockopt(socket.SOL_SOCKET, 32, send)		# SO_SNDBUFFORCE


@ktap.test
def a_connection_at_work_is_not_idle():
    """It takes longer to answer what has come than a client has to send more. All has come
    when khttpd gets the connection.
    """
    count = 100_000
    with limits(idle_timeout=100), khttpd.Server(khttpd.V4, 8091, "busy") as server:
        raw_buffer(server.sock, 16 << 20, 16 << 20)
        khttpd.ctl("detach", "--site", "busy")
        with khttpd.V4.socket() as sock:
            raw_buffer(sock, 64 << 20, 16 << 20)
            sock.settimeout(khttpd.TIMEOUT)
            sock.connect((khttpd.V4.address, server.port))
            sock.sendall(GET("/a.txt", method="HEAD") * count)
            server.attach()
            got, left = 0, b""
            while got < count:
                data = sock.recv(1 << 20)
                ktap.true(data, f"it goes on after {got} replies")
                left += data
                got += left.count(b"\r\n\r\n")
                left = left[left.rfind(b"\r\n\r\n") + 4 if b"\r\n\r\n" in left else 0:]


ktap.main(setup)
