#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Files and connections by raw sockets, on native IPv4 and IPv6: fields, bodies,
# splitting at every byte, pipelining, clients that leave, files that change,
# limits. What odd requests get is khttpd_rows.py's.
#
#	[ client and server on lo ]
#
# guest: stock+
# timeout: 240
# pylint: disable=missing-function-docstring
import email.utils
import hashlib
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

PLACES = (khttpd.V4, khttpd.V6)
DATA = os.urandom(3_000_001)


def setup():
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("index.html", b"<p>index")
    khttpd.write("dir/index.html", b"<p>dir")
    khttpd.write("big.bin", DATA)
    khttpd.write("zero", b"")
    for size in (1, 4095, 4096, 4097, 8192, 8193):
        khttpd.write(f"size{size}", DATA[:size])
    khttpd.ctl("serve", "--docroot", khttpd.WWW,
               *[word for place in PLACES for word in ("--listen", place.listen)])


def everywhere(function):
    def test():
        for place in PLACES:
            try:
                function(place)
            except ktap.Fail as error:
                raise ktap.Fail(f"{place.name}: {error}") from error
    ktap.test(function.__name__.replace("_", " "))(test)
    return test


def expect(place, request, status, closed=None, head_only=False):
    reply = khttpd.exchange(place, request, head_only=head_only)
    ktap.equal(reply.status, status, f"status of {request[:60]!r}")
    if closed is not None:
        ktap.equal(reply.closed, closed, f"closed after {request[:60]!r}")
    return reply


@everywhere
def get_answers_with_file_and_fields(place):
    # What has changed just now gets a weak tag.
    reply = ktap.wait_for(5, "ETag is strong", lambda: next(
        (reply for reply in [expect(place, khttpd.get("/a.txt"), 200, False)]
         if reply.fields["etag"].startswith('"')), None))
    ktap.equal(reply.body, b"hello\n", "body")
    fields = reply.fields
    ktap.equal(fields["content-type"], "text/plain", "Content-Type")
    stat = os.stat(f"{khttpd.WWW}/a.txt")
    ktap.equal(fields["last-modified"],
               email.utils.formatdate(int(stat.st_mtime), usegmt=True),
               "Last-Modified")
    ktap.true(fields["etag"].endswith('"'), "ETag is quoted")
    date = email.utils.parsedate_to_datetime(fields["date"]).timestamp()
    ktap.true(abs(date - time.time()) < 3, f"Date {fields['date']} is now")
    ktap.true("connection" not in fields, "no Connection on 1.1 keep-alive")


@everywhere
def head_is_get_without_body(place):
    with_body = khttpd.exchange(place, khttpd.get("/big.bin"))
    without = khttpd.exchange(place, khttpd.get("/big.bin", method="HEAD"),
                              head_only=True)
    for name in ("content-length", "content-type", "etag", "last-modified"):
        ktap.equal(without.fields[name], with_body.fields[name], name)
    reply = expect(place, khttpd.get("/nope", method="HEAD"), 404, False, True)
    ktap.true(int(reply.fields["content-length"]) > 0, "length of 404 on HEAD")


@everywhere
def files_of_all_sizes_arrive_whole(place):
    for name, data in [("zero", b""), ("big.bin", DATA)] + [
            (f"size{size}", DATA[:size])
            for size in (1, 4095, 4096, 4097, 8192, 8193)]:
        reply = expect(place, khttpd.get("/" + name), 200, False)
        ktap.equal(hashlib.sha256(reply.body).hexdigest(),
                   hashlib.sha256(data).hexdigest(), name)


@everywhere
def packets_of_few_pages_are_no_harm(place):
    path = "/proc/sys/net/core/max_skb_frags"
    with open(path, encoding="ascii") as file:
        old = file.read()
    try:
        for most in (1, 2, 5):
            with open(path, "w", encoding="ascii") as file:
                file.write(str(most))
            for request in (khttpd.get("/big.bin"), khttpd.get("/size8193")):
                reply = expect(place, request, 200)
                ktap.true(reply.body == DATA[:len(reply.body)], f"{most} pages a packet")
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(old)


@ktap.test
def pages_are_copied_for_a_device_that_cannot_gather():
    server, client = ktap.Netns("copies"), ktap.Netns("reads")
    ktap.veth(server, "v0", client, "v1")
    server.run("ip", "address", "add", "10.9.0.1/24", "dev", "v0")
    client.run("ip", "address", "add", "10.9.0.2/24", "dev", "v1")
    server.run("ethtool", "-K", "v0", "sg", "off")
    place = khttpd.Place("IPv4 without gathering", socket.AF_INET, "10.9.0.1", "10.9.0.1:8080",
                         server=server)
    khttpd.serve(place, site="copies")
    try:
        with client:
            reply = expect(place, khttpd.get("/big.bin"), 200)
        ktap.true(reply.body == DATA, "body is whole")
    finally:
        khttpd.ctl("stop", "--site", "copies")


@everywhere
def curl_downloads_a_tree(place):
    names = ["a.txt", "big.bin", "size4097", "dir/index.html"]
    ktap.run("curl", "-sS", "--fail", "--globoff", "--create-dirs", "--output-dir",
             "/tmp/tree", *[word for name in names for word in
                            ("-o", name, place.url("/" + name))])
    for name in names:
        with open(f"/tmp/tree/{name}", "rb") as got, \
                open(f"{khttpd.WWW}/{name}", "rb") as wanted:
            ktap.true(got.read() == wanted.read(), f"{name} is equal")


@everywhere
def requests_split_at_every_byte_get_the_same(place):
    first = khttpd.get("/a.txt", "X: y\r\n")
    second = khttpd.get("/dir/?q", version="1.0")
    request = first + second
    for cut in range(1, len(request)):
        with place.connect() as sock:
            sock.sendall(request[:cut])
            # Wait until the first piece has been read, not merely sent.
            time.sleep(0.002)
            sock.sendall(request[cut:])
            reader = khttpd.Reader(sock)
            ktap.equal(reader.reply().body, b"hello\n", f"body 1, cut {cut}")
            ktap.equal(reader.reply().body, b"<p>dir", f"body 2, cut {cut}")
            reader.closed()


@everywhere
def requests_byte_by_byte_get_the_same(place):
    with place.connect() as sock:
        for byte in khttpd.get("/a.txt") + b"GET / HTTP/1.1\r\n\r\n":
            sock.sendall(bytes([byte]))
        reader = khttpd.Reader(sock)
        ktap.equal(reader.reply().body, b"hello\n", "body")
        ktap.equal(reader.reply().status, 400, "status without Host")
        reader.closed()


@everywhere
def redirect_keeps_query_and_encodes(place):
    os.makedirs(f"{khttpd.WWW}/d\r\nX: y", exist_ok=True)
    reply = expect(place, khttpd.get("/dir?a=b"), 301, False)
    ktap.equal(reply.fields["location"], "/dir/?a=b", "Location")
    reply = expect(place, khttpd.get("/d%0d%0aX:%20y"), 301, False)
    ktap.equal(reply.fields["location"], "/d%0D%0AX:%20y/", "Location")
    ktap.true("x" not in reply.fields, "no field was smuggled in")


@everywhere
def http_1_0_keeps_alive_on_demand(place):
    with place.connect() as sock:
        reader = khttpd.Reader(sock)
        for _ in range(3):
            sock.sendall(b"GET /a.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            reply = reader.reply()
            ktap.equal(reply.fields.get("connection"), "keep-alive", "Connection")
        sock.sendall(b"GET /a.txt HTTP/1.0\r\n\r\n")
        ktap.equal(reader.reply().fields.get("connection"), "close", "Connection")
        reader.closed()


@everywhere
def ten_thousand_pipelined_requests_are_answered_in_order(place):
    names = ["a.txt", "size1", "big.bin", "nope", "size4097", "dir/", "zero"]
    names = [names[i % 7 if i % 100 == 2 else i % 2] for i in range(10000)]
    request = b"".join(khttpd.get("/" + name) for name in names)
    with place.connect(timeout=120 * ktap.SCALE) as sock:
        sock.setblocking(False)
        reader = khttpd.Reader(sock)
        sent = 0
        wanted = {"a.txt": b"hello\n", "size1": DATA[:1], "big.bin": DATA,
                  "dir/": b"<p>dir", "zero": b"", "size4097": DATA[:4097]}
        # Nothing is read until the server has stopped reading: it must not
        # take it all into memory.
        deadline = time.monotonic() + 2
        while sent < len(request) and time.monotonic() < deadline:
            try:
                sent += sock.send(request[sent:sent + 65536])
            except BlockingIOError:
                time.sleep(0.05)	# replies that nobody reads may keep it full
        sock.settimeout(120 * ktap.SCALE)
        for number, name in enumerate(names):
            while sent < len(request):
                try:
                    sock.setblocking(False)
                    sent += sock.send(request[sent:sent + 65536])
                except BlockingIOError:
                    break
            sock.settimeout(120 * ktap.SCALE)
            reply = reader.reply()
            ktap.true(reply.body == wanted.get(name, reply.body),
                      f"reply {number}, {name}")
            ktap.equal(reply.status, 404 if name == "nope" else 200, "status")


@everywhere
def half_closed_client_gets_its_reply(place):
    with place.connect() as sock:
        sock.sendall(khttpd.get("/big.bin"))
        sock.shutdown(socket.SHUT_WR)
        reader = khttpd.Reader(sock)
        ktap.true(reader.reply().body == DATA, "body is whole")
        reader.closed()


@everywhere
def client_that_leaves_in_mid_head_is_no_harm(place):
    before = khttpd.count("requests")
    for _ in range(20):
        with place.connect() as sock:
            sock.sendall(b"GET /a.txt HTTP/1.1\r\nHo")
    with place.connect() as sock:
        sock.sendall(b"GET /a.tx")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        b"\1\0\0\0\0\0\0\0")
    ktap.wait_for(10, "connections are gone",
                  lambda: khttpd.count("connections") == 0)
    ktap.equal(khttpd.count("requests"), before, "requests")


def nothing_is_left():
    """What earlier tests have opened, and reset before it was accepted, is over: a connection that a
    thread serves, as each does whose head comes in two segments, is accepted after them."""
    for place in PLACES:
        with place.connect() as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.sendall(khttpd.get("/a.txt")[:10])
            sock.sendall(khttpd.get("/a.txt")[10:])
            ktap.equal(khttpd.Reader(sock).reply().status, 200, "status")
    ktap.wait_for(10, "no connection is left", lambda: not khttpd.count("connections"))


@everywhere
def client_that_resets_what_it_kept_is_counted(place):
    nothing_is_left()
    before = khttpd.count("lost")
    with place.connect() as sock:
        sock.sendall(khttpd.get("/a.txt"))
        ktap.equal(khttpd.Reader(sock).reply().status, 200, "status")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        b"\1\0\0\0\0\0\0\0")
    ktap.wait_for(10, "it is counted", lambda: khttpd.count("lost") == before + 1)


@everywhere
def client_that_leaves_in_mid_file_is_no_harm(place):
    for _ in range(5):
        with place.connect() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.sendall(khttpd.get("/big.bin"))
            sock.recv(100)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            b"\1\0\0\0\0\0\0\0")
    ktap.wait_for(10, "connections are gone",
                  lambda: khttpd.count("connections") == 0)


@everywhere
def client_that_resets_while_a_worker_looks_is_no_harm(place):
    for number in range(200 if not ktap.CHECKING else 20):
        with place.connect() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            b"\1\0\0\0\0\0\0\0")
            sock.sendall(khttpd.get(f"/never-{number}-{place.name}"))
    ktap.wait_for(10, "connections are gone",
                  lambda: khttpd.count("connections") == 0)


@everywhere
def urgent_data_does_not_stick(place):
    with place.connect() as sock:
        sock.sendall(b"GET /a.txt HTTP/1.1\r\n")
        sock.send(b"X", socket.MSG_OOB)
        sock.sendall(b"Host: a\r\n\r\n")
        ktap.equal(khttpd.Reader(sock).reply().status, 200, "status")


@everywhere
def replaced_and_rewritten_files_are_noticed(place):
    name = f"change-{place.name}"
    path = khttpd.write(name, b"one")
    first = expect(place, khttpd.get(f"/{name}"), 200)
    khttpd.write(name + ".new", b"two")
    os.rename(path + ".new", path)
    second = expect(place, khttpd.get(f"/{name}"), 200)
    ktap.equal(second.body, b"two", "body after rename over it")
    # Both may be of one tick of the clock, and are as long as each other.
    ktap.true(first.fields["etag"] != second.fields["etag"], "new ETag")
    khttpd.write(name, b"longer than it was")
    ktap.equal(expect(place, khttpd.get(f"/{name}"), 200).body,
               b"longer than it was", "body after rewrite")
    os.chmod(path, 0o600)
    expect(place, khttpd.get(f"/{name}"), 403)
    os.chmod(path, 0o644)
    expect(place, khttpd.get(f"/{name}"), 200)
    os.unlink(path)
    expect(place, khttpd.get(f"/{name}"), 404)
    khttpd.write(name, b"again")
    ktap.equal(expect(place, khttpd.get(f"/{name}"), 200).body, b"again",
               "body after it came back")
    os.unlink(path)


@everywhere
def renamed_and_locked_directories_are_noticed(place):
    base = f"tree-{place.name}"
    khttpd.write(f"{base}/sub/file", b"deep")
    expect(place, khttpd.get(f"/{base}/sub/file"), 200)
    os.rename(f"{khttpd.WWW}/{base}", f"{khttpd.WWW}/{base}.moved")
    expect(place, khttpd.get(f"/{base}/sub/file"), 404)
    os.rename(f"{khttpd.WWW}/{base}.moved", f"{khttpd.WWW}/{base}")
    expect(place, khttpd.get(f"/{base}/sub/file"), 200)
    os.chmod(f"{khttpd.WWW}/{base}/sub", 0o700)
    expect(place, khttpd.get(f"/{base}/sub/file"), 403)
    os.chmod(f"{khttpd.WWW}/{base}/sub", 0o755)
    expect(place, khttpd.get(f"/{base}/sub/file"), 200)
    os.rename(f"{khttpd.WWW}/{base}/sub", f"{khttpd.WWW}/{base}/other")
    os.symlink("other", f"{khttpd.WWW}/{base}/sub")
    expect(place, khttpd.get(f"/{base}/sub/file"), 200)
    os.unlink(f"{khttpd.WWW}/{base}/sub")
    os.symlink("/etc", f"{khttpd.WWW}/{base}/sub")
    expect(place, khttpd.get(f"/{base}/sub/file"), 403)
    os.unlink(f"{khttpd.WWW}/{base}/sub")
    os.rename(f"{khttpd.WWW}/{base}/other", f"{khttpd.WWW}/{base}/sub")
    expect(place, khttpd.get(f"/{base}/sub/file"), 200)
    ktap.run("rm", "-r", f"{khttpd.WWW}/{base}")


@everywhere
def changed_links_are_noticed(place):
    base = f"links-{place.name}"
    for name in ("one", "two"):
        khttpd.write(f"{base}/{name}/file", name.encode())
    os.makedirs(f"{khttpd.WWW}/{base}/away")
    link = f"{khttpd.WWW}/{base}/away/link"
    # The directory with the link is not on the way from the file to the root.
    for name in ("one", "two", "one"):
        os.symlink(f"../{name}", link)
        for _ in range(3):
            reply = expect(place, khttpd.get(f"/{base}/away/link/file"), 200)
            ktap.equal(reply.body, name.encode(), "body")
            khttpd.let_files_settle()
        os.unlink(link)
        expect(place, khttpd.get(f"/{base}/away/link/file"), 404)
    ktap.run("rm", "-r", f"{khttpd.WWW}/{base}")


def changed_while_sent(place, change):
    """The body of a file of which @change has been made something else meanwhile."""
    path = khttpd.write("sent.bin", DATA)
    blocked = khttpd.count("send_blocked")
    with place.connect() as sock:
        # Less than one segment of the loopback would drain by the timer for small windows.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        sock.sendall(khttpd.get("/sent.bin", "Connection: close\r\n"))
        got = sock.recv(1000)
        ktap.wait_for(10, "the sender is blocked",
                      lambda: khttpd.count("send_blocked") > blocked)
        change(path)
        # It ends in order: a reset would lose what was sent and not read yet.
        while data := sock.recv(65536):
            got += data
    head, body = got.split(b"\r\n\r\n", 1)
    ktap.true(f"Content-Length: {len(DATA)}".encode() in head, "announced")
    return body


@everywhere
def file_cut_while_sent_ends_short(place):
    body = changed_while_sent(place, lambda path: os.truncate(path, 0))
    ktap.true(len(body) < len(DATA), "the body is shorter than announced")
    ktap.true(DATA.startswith(body), "no byte of it is wrong")
    # What is there still is sent: in the middle of a page, and as nginx does.
    left = len(DATA) - 5001
    body = changed_while_sent(place, lambda path: os.truncate(path, left))
    ktap.true(body == DATA[:left], "all that the file has")


def appended(path):
    with open(path, "ab") as file:
        file.write(b"more")


def replaced(path):
    os.rename(khttpd.write("other.bin", b"other"), path)


@everywhere
def file_that_is_another_while_sent_is_the_old_one(place):
    for change in (appended, replaced, os.unlink):
        ktap.true(changed_while_sent(place, change) == DATA, f"all of it, then {change.__name__}")


@everywhere
def file_rewritten_while_sent_is_of_both(place):
    """As much as announced, and each byte the old one or the new one of its place."""
    new = bytes(byte ^ 255 for byte in DATA)

    def rewrite(path):
        with open(path, "r+b") as file:
            file.write(new)
    body = changed_while_sent(place, rewrite)
    ktap.equal(len(body), len(DATA), "length")
    kept = next((at for at in range(len(DATA)) if body[at] != DATA[at]), len(DATA))
    ktap.true(0 < kept < len(DATA), f"old up to {kept}, new then")
    wrong = [at for at in range(kept, len(DATA)) if body[at] not in (DATA[at], new[at])]
    ktap.equal(wrong, [], "places of wrong bytes")


@ktap.test
def clients_over_the_limit_are_turned_away():
    old = khttpd.limit("max_connections", 3)
    try:
        socks = [khttpd.V4.connect() for _ in range(3)]
        for sock in socks:
            sock.sendall(khttpd.get("/a.txt"))
            ktap.equal(khttpd.Reader(sock).reply().status, 200, "status")
        try:
            with khttpd.V4.connect() as sock:
                khttpd.Reader(sock).closed()
        except ConnectionResetError:
            pass
        ktap.true(khttpd.count("connections_full") > 0, "counted")
        for sock in socks:
            sock.close()
    finally:
        khttpd.limit("max_connections", old)
    ktap.wait_for(10, "connections are gone",
                  lambda: khttpd.count("connections") == 0)
    expect(khttpd.V4, khttpd.get("/a.txt"), 200)


@ktap.test
def each_deadline_closes():
    old = {name: khttpd.limit(name, 400 * ktap.SCALE) for name in
           ("head_timeout", "idle_timeout", "send_timeout")}
    try:
        before = {name: khttpd.count(f"timeout_{name}")
                  for name in ("head", "idle", "send")}
        slow = khttpd.V4.connect()
        idle = khttpd.V4.connect()
        idle.sendall(khttpd.get("/a.txt"))
        ktap.equal(khttpd.Reader(idle).reply().status, 200, "before it is idle")
        stuck = khttpd.V4.connect()
        stuck.sendall(khttpd.get("/big.bin"))
        start = time.monotonic()
        try:
            for byte in khttpd.get("/a.txt", "X: " + "a" * 200 + "\r\n"):
                slow.sendall(bytes([byte]))
                time.sleep(0.1)		# slower than a head may come
            raise ktap.Fail("a slow head was accepted")
        except (BrokenPipeError, ConnectionResetError):
            pass
        ktap.true(time.monotonic() - start < 10 * ktap.SCALE, "in time")
        khttpd.Reader(idle).closed()
        ktap.wait_for(10, "each was counted", lambda: all(
            khttpd.count(f"timeout_{name}") > value
            for name, value in before.items()))
        for sock in (slow, idle, stuck):
            sock.close()
    finally:
        for name, value in old.items():
            khttpd.limit(name, value)


@ktap.test
def files_are_read_from_ext4_and_overlay():
    ktap.kmod("loop", "ext4", "overlay")
    for name in ("image", "ext4", "lower", "upper", "work", "merged"):
        os.makedirs(f"/srv/fs/{name}", exist_ok=True)
    if not os.path.exists("/sbin/mkfs.ext4"):
        raise ktap.Skip("no mkfs.ext4")
    ktap.run("truncate", "-s", "48M", "/srv/fs/disk")
    ktap.run("mkfs.ext4", "-q", "/srv/fs/disk")
    ktap.run("mount", "-o", "loop", "/srv/fs/disk", "/srv/fs/ext4")
    try:
        with open("/srv/fs/ext4/file", "wb") as file:
            file.write(DATA)
        os.chmod("/srv/fs/ext4", 0o755)
        with open("/srv/fs/lower/file", "wb") as file:
            file.write(DATA)
        ktap.run("mount", "-t", "overlay", "overlay", "-o",
                 "lowerdir=/srv/fs/lower,upperdir=/srv/fs/upper,"
                 "workdir=/srv/fs/work", "/srv/fs/merged")
        try:
            for site, port in (("ext4", 8081), ("merged", 8082)):
                cold_file(site, port)
        finally:
            ktap.run("umount", "/srv/fs/merged")
    finally:
        ktap.run("umount", "/srv/fs/ext4")


@ktap.test
def large_folios_are_sent_piece_by_piece():
    """Memory in 2 MB pieces: parts that begin and end anywhere in one, and beyond the next."""
    os.makedirs("/srv/large", exist_ok=True)
    if ktap.run("mount", "-t", "tmpfs", "-o", "huge=always", "none", "/srv/large", check=False):
        raise ktap.Skip("no transparent huge pages in this kernel")
    try:
        os.chmod("/srv/large", 0o755)
        with open("/srv/large/file", "wb") as file:
            file.write(2 * DATA)
        with open("/proc/meminfo", encoding="ascii") as file:
            huge = next(int(line.split()[1]) for line in file if line.startswith("ShmemHuge"))
        ktap.true(huge >= 4096, f"the file is in large pages: {huge} KB")
        khttpd.ctl("serve", "--site", "large", "--docroot", "/srv/large",
                   "--listen", "127.0.0.1:8083")
        try:
            for first, last in ((0, 2 * len(DATA) - 1), (5, 4098), (123_456, 345_678),
                                (2_097_151, 2_097_152), (2_000_000, 5_000_000)):
                reply = khttpd.exchange(
                    khttpd.V4, khttpd.get("/file", f"Range: bytes={first}-{last}\r\n"), 8083)
                ktap.equal(reply.status, 206, "status")
                ktap.true(reply.body == (2 * DATA)[first:last + 1], f"bytes {first} to {last}")
        finally:
            khttpd.ctl("stop", "--site", "large")
    finally:
        ktap.run("umount", "/srv/large")


def cold_file(site, port):
    ktap.run("sync")
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")
    khttpd.ctl("serve", "--site", site, "--docroot", f"/srv/fs/{site}",
               "--listen", f"127.0.0.1:{port}")
    try:
        for _ in range(2):
            reply = khttpd.exchange(khttpd.V4, khttpd.get("/file"), port)
            ktap.equal(reply.status, 200, f"status on {site}")
            ktap.true(reply.body == DATA, f"{site}: body is whole")
    finally:
        khttpd.ctl("stop", "--site", site)


ktap.main(setup)
