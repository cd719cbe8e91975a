#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What replies say, beyond their status: parts of files byte by byte, validators
# and conditions, variants by Accept-Encoding, types, rules, error pages,
# listings.
#
#	[ client and server on lo ]
#
# timeout: 120
# guest: stock+
# pylint: disable=missing-function-docstring
import contextlib
import email.utils
import json
import mmap
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd      # pylint: disable=wrong-import-position
import khttpfiles  # pylint: disable=wrong-import-position
import ktap        # pylint: disable=wrong-import-position

DATA = os.urandom(300_007)
RULES = """
# what tests need
serve /app/static.php
pass *.php
deny /private/
cache /assets/ public, max-age=31536000, immutable
cache *.html no-cache
error 404 /errors/404.html
error 403 /errors/403.html
"""
TYPES = "text/x-special  special SPC\nimage/x-own png\n"
OLD = (1_000_000_000, 1_000_000_000)


def setup():
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("big", DATA)
    khttpd.write("x.special", b"s")
    khttpd.write("x.png", b"s")
    khttpd.write("x.css", b"s")
    khttpd.write("app/static.php", b"<?")
    khttpd.write("app/dynamic.php", b"<?")
    khttpd.write("private/key", b"secret")
    khttpd.write("assets/logo", b"l")
    khttpd.write("page.html", b"<p>page")
    khttpd.write("errors/404.html", b"<h1>gone fishing")
    khttpd.write("list/b&<i>.txt", b"x")
    khttpd.write('list/q"uote', b"x")
    khttpd.write("list/.hidden", b"x")
    khttpd.write("list/sub/deep", b"x")
    khttpd.write("v.js", b"plain " * 100)
    for suffix in (".gz", ".br", ".zst"):
        khttpd.write("v.js" + suffix, b"packed" + suffix.encode())
    khttpd.write("stale.js", b"new")
    khttpd.write("stale.js.gz", b"old")
    os.utime(f"{khttpd.WWW}/stale.js.gz", OLD)
    for name in ("a.txt", "big", "v.js"):
        os.utime(f"{khttpd.WWW}/{name}", OLD)
    for name, text in (("rules", RULES), ("types", TYPES)):
        with open(f"/srv/{name}", "w", encoding="ascii") as file:
            file.write(text)
    khttpd.serve(khttpd.V4, "--set", "listing=1", "--set", "precompressed=1",
                 "--set", "rules=@/srv/rules", "--set", "types=@/srv/types")
    # What has changed just now gets weak tags.
    khttpd.let_files_settle()


def ask(path, *lines, method="GET"):
    extra = "".join(line + "\r\n" for line in lines)
    return khttpd.exchange(khttpd.V4, khttpd.get(path, extra, method),
                           head_only=method == "HEAD")


def expect(status, path, *lines, **options):
    reply = ask(path, *lines, **options)
    ktap.equal(reply.status, status, f"status of {path} {lines}")
    return reply


@ktap.test
def parts_are_the_right_bytes():
    chance = random.Random(7)
    for _ in range(60):
        start = chance.randrange(len(DATA))
        end = min(len(DATA), start + chance.choice((1, 100, 4096, 8192, 8193,
                                                    70000)))
        reply = expect(206, "/big", f"Range: bytes={start}-{end - 1}")
        ktap.true(reply.body == DATA[start:end], f"bytes {start} to {end}")
        ktap.equal(reply.fields["content-range"],
                   f"bytes {start}-{end - 1}/{len(DATA)}", "Content-Range")
    ktap.true(expect(206, "/big", "Range: bytes=-5").body == DATA[-5:], "last 5")
    reply = expect(416, "/big", "Range: bytes=400000-")
    ktap.equal(reply.fields["content-range"], f"bytes */{len(DATA)}", "416")
    reply = expect(200, "/big", "Range: bytes=0-1", method="HEAD")
    ktap.equal(int(reply.fields["content-length"]), len(DATA), "HEAD ignores Range")
    ktap.equal(reply.fields["accept-ranges"], "bytes", "Accept-Ranges")


@ktap.test
def multipart_replies_have_all_parts():
    parts = ((0, 1), (200_000, 290_000), (5, 5), (8000, 17000))
    value = ",".join(f"{a}-{b}" for a, b in parts)
    reply = expect(206, "/big", f"Range: bytes={value}")
    kind, boundary = reply.fields["content-type"].split("; boundary=")
    ktap.equal(kind, "multipart/byteranges", "type")
    body = b""
    for a, b in parts:
        body += (f"\r\n--{boundary}\r\nContent-Type: application/octet-stream\r\n"
                 f"Content-Range: bytes {a}-{b}/{len(DATA)}\r\n\r\n").encode()
        body += DATA[a:b + 1]
    body += f"\r\n--{boundary}--\r\n".encode()
    ktap.true(reply.body == body, "body")
    ktap.equal(int(reply.fields["content-length"]), len(body), "length")
    with khttpd.V4.connect() as sock:
        request = khttpd.get("/big", f"Range: bytes={value}\r\n")
        sock.sendall(request + khttpd.get("/a.txt") + request)
        reader = khttpd.Reader(sock)
        ktap.equal(len(reader.reply().body), len(body), "first")
        ktap.equal(reader.reply().body, b"hello\n", "the connection goes on")
        ktap.equal(len(reader.reply().body), len(body), "third")


@ktap.test
def multipart_replies_do_not_wait_for_more():
    """A socket keeps what more is to follow for as long as it takes to retransmit."""
    def took():
        start = time.monotonic()
        sock.sendall(khttpd.get("/a.txt", "Range: bytes=0-0,2-3\r\n"))
        ktap.equal(reader.reply().status, 206, "status")
        return time.monotonic() - start
    with khttpd.V4.connect() as sock:
        reader = khttpd.Reader(sock)
        fastest = min(took() for _ in range(20))
    ktap.true(fastest < 0.15, f"{fastest} s")


@ktap.test
def validators_and_conditions():
    reply = expect(200, "/a.txt")
    tag, date = reply.fields["etag"], reply.fields["last-modified"]
    ktap.true(tag.startswith('"'), "an old file's tag is strong")
    for line, status in (
            (f"If-None-Match: {tag}", 304), (f"If-None-Match: W/{tag}", 304),
            (f'If-None-Match: "x", {tag}', 304), (f"If-Modified-Since: {date}", 304),
            (f"If-Match: {tag}", 200), (f"If-Match: W/{tag}", 412),
            (f"If-Unmodified-Since: {date}", 200)):
        reply = expect(status, "/a.txt", line)
        if status == 304:
            ktap.equal(reply.fields["etag"], tag, "304 has the tag")
            ktap.true("content-type" not in reply.fields, "304 is short")
        expect(status, "/a.txt", line, method="HEAD")
    for line, status in ((f"If-Range: {tag}", 206), (f"If-Range: {date}", 206),
                         (f"If-Range: W/{tag}", 200), ('If-Range: "x"', 200)):
        expect(status, "/a.txt", "Range: bytes=1-2", line)
    with khttpd.V4.connect() as sock:
        sock.sendall(khttpd.get("/a.txt", f"If-None-Match: {tag}\r\n") * 5
                     + khttpd.get("/a.txt"))
        reader = khttpd.Reader(sock)
        for _ in range(5):
            ktap.equal(reader.reply().status, 304, "pipelined 304")
        ktap.equal(reader.reply().body, b"hello\n", "and a file")


@ktap.test
def a_file_rewritten_at_once_has_another_tag_or_a_weak_one():
    for turn in range(10):
        path = khttpd.write("quick", b"%04d" % turn)
        first = expect(200, "/quick").fields["etag"]
        with open(path, "r+b") as file:
            file.write(b"%04d" % (turn + 1))
        reply = expect(200, "/quick")
        ktap.true(reply.fields["etag"] != first or first.startswith("W/"),
                  f"turn {turn}: {first}")
    ktap.wait_for(5, "the tag is strong", lambda: not expect(
        200, "/quick").fields["etag"].startswith("W/"))


def strong(path):
    """The tag, once it is a strong one."""
    return ktap.wait_for(10, "the tag is strong", lambda: next(
        (tag for tag in [expect(200, path).fields["etag"]] if not tag.startswith("W/")), None))


@contextlib.contextmanager
def whole_seconds():
    """A file system that keeps no more of a time, at /seconds/."""
    if not os.path.exists("/sbin/mkfs.ext4"):
        raise ktap.Skip("no mkfs.ext4")
    ktap.kmod("loop", "ext4")
    ktap.run("truncate", "-s", "8M", "/srv/seconds")
    ktap.run("mkfs.ext4", "-q", "-I", "128", "/srv/seconds")
    with khttpfiles.mounted("seconds", "-o", "loop", "/srv/seconds"):
        yield


@ktap.test
def a_weak_tag_is_not_that_of_other_content():
    """Two versions with the same size and times: the first had a weak tag."""
    with whole_seconds():
        path = khttpd.write("seconds/x", b"1")
        # Its second is yet to come: another change then may go unseen.
        time.clock_settime(time.CLOCK_REALTIME, time.time() - 3)
        weak = expect(200, "/seconds/x").fields["etag"]
        ktap.true(weak.startswith("W/"), f"{weak} is weak")
        tag = strong("/seconds/x")
        ktap.equal(os.stat(path).st_size, 1, "size")
        expect(200, "/seconds/x", f"If-None-Match: {weak}")
        expect(304, "/seconds/x", f"If-None-Match: {tag}")


@ktap.test
def a_file_of_the_future_settles():
    """The clock was set back: downloads can be resumed, and a change is seen all the same."""
    with khttpfiles.mounted("ram", "-t", "ramfs", "none"):
        path = khttpd.write("ram/x", b"0123456789")
        with khttpfiles.clock_set_back(3600):
            tag = strong("/ram/x")
            ktap.true(os.stat(path).st_ctime > time.time() + 3500, "it is in the future")
            ktap.equal(expect(206, "/ram/x", "Range: bytes=3-", f"If-Range: {tag}").body,
                       b"3456789", "the rest")
            with open(path, "r+b") as file:
                file.write(b"9876543210")
            expect(200, "/ram/x", f"If-None-Match: {tag}")
            ktap.true(strong("/ram/x") != tag, "another tag")
        ktap.equal(expect(200, "/ram/x").body, b"9876543210", "with the clock set right")


@ktap.test
def a_file_of_an_overlay_that_is_written_by_a_mapping():
    """The overlay's times do not change, and the file system below may have no counter."""
    if not os.path.exists("/sbin/mkfs.ext4"):
        raise ktap.Skip("no mkfs.ext4")
    ktap.kmod("ext4")
    with khttpfiles.overlay("ext4", "-q"):
        for name in ("x", "y"):		# y is copied up when it is opened
            written_by_a_mapping(name)
            mode_and_times(name)


@ktap.test
def the_same_without_a_change_counter():
    if not os.path.exists("/sbin/mkfs.minix") or subprocess.run(
            ["modprobe", "-q", "minix"], check=False).returncode:
        raise ktap.Skip("no minix file system")
    with khttpfiles.overlay("minix", "-3"):
        written_by_a_mapping("x")
        mode_and_times("x")


def written_by_a_mapping(name):
    path, bodies = f"{khttpd.WWW}/over/{name}", (b"other", b"third", b"forth")
    with open(path, "rb") as file:
        file.read()	# the overlay takes over the times by that
    tag = strong(f"/over/{name}")
    expect(304, f"/over/{name}", f"If-None-Match: {tag}")
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 5) as pages:
        for body in bodies:
            second = int(time.time())
            ktap.wait_for(10, "the next second", lambda second=second: time.time() > second + 1)
            pages[:] = body
            pages.flush()
            os.fsync(file.fileno())
            ktap.equal(expect(200, f"/over/{name}", f"If-None-Match: {tag}").body, body,
                       f"{name}: content")
            old, tag = tag, strong(f"/over/{name}")
            ktap.true(tag != old, f"{name}: another tag")
            before = khttpd.count("lookups")
            for _ in range(5):
                expect(304, f"/over/{name}", f"If-None-Match: {tag}")
            ktap.equal(khttpd.count("lookups"), before, f"{name}: found without a lookup")


def mode_and_times(name):
    path = f"{khttpd.WWW}/over/{name}"
    os.chmod(path, 0o600)
    expect(403, f"/over/{name}")
    os.chmod(path, 0o644)
    os.utime(path, OLD)
    ktap.equal(expect(200, f"/over/{name}").fields["last-modified"],
               email.utils.formatdate(OLD[0], usegmt=True), "time that was set")


def set_versioned(value):
    for name, text in (("etag_version", value), ("enabled", "1")):
        with open(f"{khttpd.CONFIG}/default/{name}", "w", encoding="ascii") as file:
            file.write(text)


@contextlib.contextmanager
def versioned():
    """Tags tell versions apart."""
    set_versioned("1")
    try:
        yield
    finally:
        set_versioned("0")


@ktap.test
def a_tag_stays_as_long_as_the_content_does():
    """What is done to a file but writing, and the same file elsewhere."""
    os.utime(khttpd.write("copy/x.js", b"same bytes"), OLD)
    path = khttpd.write("x.js", b"same bytes")
    os.utime(path, OLD)
    tag = strong("/x.js")
    ktap.equal(strong("/copy/x.js"), tag, "a copy with its time")
    ktap.true(f"{os.stat(path).st_ino:x}" not in tag.strip('"').replace(".", "-").split("-"),
              f"no inode number in {tag}")
    for what, change in (("mode", lambda: os.chmod(path, 0o644)),
                         ("owner", lambda: os.chown(path, 0, 0)),
                         ("a link", lambda: os.link(path, f"{path}.link")),
                         ("a link less", lambda: os.unlink(f"{path}.link"))):
        change()
        ktap.equal(strong("/x.js"), tag, what)
    os.utime(khttpd.write("x.js", b"other size"[:9]), OLD)
    ktap.true(strong("/x.js") != tag, "another size")


@ktap.test
def a_tag_stays_where_reading_counts():
    """XFS of 6.1 counts a new access time as a change of the file."""
    if not os.path.exists("/sbin/mkfs.xfs"):
        raise ktap.Skip("no mkfs.xfs")
    ktap.kmod("loop", "xfs")
    ktap.run("truncate", "-s", "320M", "/srv/counts")
    ktap.run("mkfs.xfs", "-q", "/srv/counts")
    with khttpfiles.mounted("counts", "-o", "loop,strictatime", "/srv/counts"):
        path = khttpd.write("counts/x", b"content")

        def read_between():
            tag = strong("/counts/x")
            with open(path, "rb") as file:
                file.read()
            return tag == strong("/counts/x")
        ktap.true(read_between(), "it stays")
        with versioned():
            counted = not read_between()
        if not counted and ktap.KERNEL < (6, 2):
            raise ktap.Fail("reading is not counted: nothing was tested")
        ktap.true(read_between(), "and stays")


@ktap.test
def a_time_that_is_set_back_makes_no_old_tag_if_that_is_wanted():
    with khttpfiles.mounted("ram", "-t", "ramfs", "none"), versioned():
        tags = []
        for body in (b"old", b"new"):
            path = khttpd.write("ram/x", body)
            os.utime(path, OLD)
            tags.append(strong("/ram/x"))
            ktap.equal(expect(200, "/ram/x", f"If-None-Match: {tags[0]}").body
                       if body == b"new" else b"old", body, "content")
        ktap.true(tags[0] != tags[1], f"{tags}")


@ktap.test
def tags_are_weak_for_as_long_as_times_are_coarse():
    with whole_seconds():
        for _ in range(100):
            path = khttpd.write("seconds/x", b"1")
            tag = expect(200, "/seconds/x").fields["etag"]
            if int(time.time()) == os.stat(path).st_ctime:
                break
        ktap.true(tag.startswith("W/"), f"{tag} is weak")
        strong("/seconds/x")


@ktap.test
def last_modified_is_not_later_than_date():
    """RFC 9110 section 8.8.2.1."""
    path = khttpd.write("future", b"x")
    os.utime(path, (time.time() + 86400,) * 2)
    for _ in range(3):
        reply = expect(200, "/future")
        date, modified = (email.utils.parsedate_to_datetime(reply.fields[name])
                          for name in ("date", "last-modified"))
        ktap.true(modified <= date, f"{modified} <= {date}")
    modified = reply.fields["last-modified"]
    expect(304, "/future", f"If-Modified-Since: {modified}")
    expect(200, "/future", f"If-Unmodified-Since: {modified}")


@ktap.test
def variants_by_accept_encoding():
    for value, coding in (("gzip", "gzip"), ("gzip, br", "br"), ("zstd", "zstd"),
                          ("gzip;q=0", None), ("br;q=0.1, gzip", "gzip"),
                          ("identity", None), ("*", "br")):
        for _ in range(2):
            reply = expect(200, "/v.js", f"Accept-Encoding: {value}")
            ktap.equal(reply.fields.get("content-encoding"), coding, value)
            ktap.equal(reply.fields["vary"], "Accept-Encoding", "Vary")
            ktap.equal(reply.fields["content-type"], "text/javascript", "type")
            ktap.equal(reply.body.startswith(b"packed"), coding is not None, "body")
    ktap.equal(expect(200, "/v.js").fields["vary"], "Accept-Encoding",
               "Vary on the file itself")
    plain = expect(200, "/v.js").fields["etag"]
    packed = expect(200, "/v.js", "Accept-Encoding: gzip").fields["etag"]
    ktap.true(plain != packed, "tags differ")
    expect(304, "/v.js", "Accept-Encoding: gzip", f"If-None-Match: {packed}")
    expect(200, "/v.js", f"If-None-Match: {packed}")
    reply = expect(206, "/v.js", "Accept-Encoding: gzip", "Range: bytes=0-3")
    ktap.equal((reply.body, reply.fields["content-encoding"]), (b"pack", "gzip"),
               "a part of the variant")
    reply = expect(200, "/v.js.gz")
    ktap.equal((reply.fields["content-type"], reply.fields.get("content-encoding")),
               ("application/gzip", None), "asked for by its own name")


@ktap.test
def variants_come_and_go():
    reply = expect(200, "/stale.js", "Accept-Encoding: gzip")
    ktap.equal(reply.body, b"new", "an older variant is not used")
    khttpd.write("late.js", b"plain")
    ktap.equal(expect(200, "/late.js", "Accept-Encoding: gzip").body, b"plain", "1")
    khttpd.write("late.js.gz", b"packed")
    ktap.wait_for(5, "the new variant is used", lambda: expect(
        200, "/late.js", "Accept-Encoding: gzip").body == b"packed")
    os.unlink(f"{khttpd.WWW}/late.js.gz")
    ktap.wait_for(5, "it is no longer used", lambda: expect(
        200, "/late.js", "Accept-Encoding: gzip").body == b"plain")


@ktap.test
def types_from_a_file_come_first():
    for name, kind in (("x.special", "text/x-special"), ("x.png", "image/x-own"),
                       ("x.css", "text/css"), ("big", "application/octet-stream")):
        ktap.equal(expect(200, "/" + name).fields["content-type"], kind, name)


@ktap.test
def rules_decide():
    expect(200, "/app/static.php")
    expect(404, "/app/dynamic.php")
    expect(404, "/app/none.php")
    expect(403, "/private/key")
    expect(403, "/private/")
    ktap.equal(expect(200, "/assets/logo").fields["cache-control"],
               "public, max-age=31536000, immutable", "Cache-Control")
    ktap.equal(expect(200, "/page.html").fields["cache-control"], "no-cache", "2")
    ktap.true("cache-control" not in expect(200, "/a.txt").fields, "none")
    tag = expect(200, "/page.html").fields["etag"]
    ktap.equal(expect(304, "/page.html", f"If-None-Match: {tag}").fields[
        "cache-control"], "no-cache", "on 304 too")


@ktap.test
def error_pages():
    for method in ("GET", "HEAD"):
        for _ in range(2):
            reply = expect(404, "/none/at/all", method=method)
            ktap.equal(reply.fields["content-type"], "text/html", "type")
            if method == "GET":
                ktap.equal(reply.body, b"<h1>gone fishing", "body")
    ktap.true(b"403" in expect(403, "/private/x").body, "a page that is missing")
    ktap.equal(expect(200, "/errors/404.html").body, b"<h1>gone fishing", "itself")


@ktap.test
def listings():
    reply = expect(200, "/list/")
    text = reply.body.decode()
    ktap.equal(reply.fields["content-type"], "text/html; charset=utf-8", "type")
    for part in ('<a href="./b&%3Ci%3E.txt">b&amp;&lt;i&gt;.txt</a>',
                 '<a href="./q%22uote">q&quot;uote</a>',
                 '<a href="./sub/">sub/</a>', '<a href="../">'):
        ktap.true(part in text, f"{part} in {text}")
    ktap.true("hidden" not in text, "names with a dot are left out")
    reply = expect(200, "/list/", "Accept: application/json")
    ktap.equal([(item["name"], item["type"], item.get("size"))
                for item in json.loads(reply.body)],
               [("sub", "directory", None), ("b&<i>.txt", "file", 1), ('q"uote', "file", 1)], "JSON")
    reply = expect(200, "/list/", method="HEAD")
    ktap.equal(int(reply.fields["content-length"]), len(text), "HEAD")
    ktap.equal(expect(301, "/list").fields["location"], "/list/", "redirect")
    for name in (b"\xff", b"a\xc3\xa9\xc3", b"b\xed\xa0\x80", b"c\xf0\x9f\x98\x80"):
        with open(os.fsencode(khttpd.WWW) + b"/list/sub/" + name, "wb"):
            pass
    reply = expect(200, "/list/sub/", "Accept: application/json")
    ktap.equal([item["name"] for item in json.loads(reply.body.decode())],
               ["a\xe9\ufffd", "b" + 3 * "\ufffd", "c\U0001f600", "deep", "\ufffd"],
               "names that are not UTF-8")
    os.makedirs(f"{khttpd.WWW}/many", exist_ok=True)
    for number in range(5000):
        with open(f"{khttpd.WWW}/many/{number}", "w", encoding="ascii"):
            pass
    reply = expect(200, "/many/")
    ktap.true(b"and more" in reply.body, "a long one says that it is cut")
    ktap.equal(expect(200, "/").status, 200, "the root")


@ktap.test
def options_and_errors_say_what_is_allowed():
    for path in ("*", "/a.txt"):
        reply = expect(204, path, method="OPTIONS")
        ktap.equal(reply.fields["allow"], "GET, HEAD, OPTIONS", "Allow")
    reply = expect(405, "/a.txt", method="DELETE")
    ktap.equal(reply.fields["allow"], "GET, HEAD, OPTIONS", "Allow")


@ktap.test
def files_over_four_gib():
    path = f"{khttpd.WWW}/huge"
    size = (5 << 30) + 3
    with open(path, "wb") as file:
        file.truncate(size)
        file.seek((4 << 30) + 7)
        file.write(b"needle")
    os.chmod(path, 0o644)
    reply = ask("/huge", method="HEAD")
    ktap.equal(int(reply.fields["content-length"]), size, "length")
    reply = expect(206, "/huge", f"Range: bytes={(4 << 30) + 5}-{(4 << 30) + 14}")
    ktap.equal(reply.body, b"\0\0needle\0\0", "bytes beyond 4 GiB")
    reply = expect(206, "/huge", "Range: bytes=-3")
    ktap.equal(reply.fields["content-range"], f"bytes {size - 3}-{size - 1}/{size}",
               "the end")
    os.unlink(path)


@ktap.test
def settings_that_are_none_are_refused():
    for setting, why in (("rules=frobnicate /", "Invalid"), ("nothing=1", "No such"),
                         ("listing=maybe", "Invalid"), ("x", "form"),
                         ("rules=@/nowhere", "No such")):
        ktap.true(why in khttpd.ctl("serve", "--site", "two", "--docroot", khttpd.WWW,
                                    "--listen", "127.0.0.1:8081", "--set", setting,
                                    check=False), setting)
    with open("/srv/bad", "w", encoding="ascii") as file:
        file.write("text/html\r\n")
    ktap.true("not taken" in khttpd.ctl(
        "serve", "--site", "two", "--docroot", khttpd.WWW, "--listen",
        "127.0.0.1:8081", "--set", "types=@/srv/bad", check=False), "types")
    ktap.true(not os.path.isdir(f"{khttpd.CONFIG}/two"), "nothing is left")


ktap.main(setup)
