#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Virtual hosts, the access log in both formats with rotation and what it loses, counters
# for machines, the live view, attaching by descriptor.
#
#	[ clients and server on lo ]
#
# timeout: 120
# guest: stock+
# pylint: disable=missing-function-docstring
import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

PLACES = (khttpd.V4, khttpd.V6)
LOG = khttpd.LOG


def setup():
    khttpd.fresh()
    khttpd.write("who", b"front")
    for name in ("one", "two"):
        khttpd.write(f"../{name}/who", name.encode())
    khttpd.write("a.txt", b"hello\n")


def serve(*more):
    khttpd.serve(khttpd.V4, "--listen", khttpd.V6.listen, *more)


def behind(name, names):
    khttpd.ctl("serve", "--site", name, "--docroot", f"/srv/{name}", "--set",
               "behind=default", "--set", f"names={names}")


def who(host, target="/who", place=khttpd.V4):
    request = f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    return khttpd.exchange(place, request).body.decode()


@ktap.test
def virtual_hosts_by_name():
    serve()
    behind("one", "one.example *.wild.example")
    behind("two", "two.example a.wild.example [::1]")
    try:
        for place in PLACES:
            for host, site in (
                    ("one.example", "one"), ("ONE.Example.:8080", "one"),
                    ("two.example:1", "two"), ("x.wild.example", "one"),
                    ("a.wild.example", "two"), ("wild.example", "front"),
                    ("other", "front"), ("[::1]:8080", "two")):
                ktap.equal(who(host, place=place), site, host)
            ktap.equal(who("other", "http://two.example/who", place), "two",
                       "the target's host wins")
            ktap.equal(khttpd.exchange(place, b"GET /who HTTP/1.0\r\n\r\n").body,
                       b"front", "without Host")
        with khttpd.V4.connect() as sock:
            names = ("one.example", "two.example", "x") * 20
            sock.sendall(b"".join(
                f"GET /who HTTP/1.1\r\nHost: {name}\r\n\r\n".encode()
                for name in names))
            reader = khttpd.Reader(sock)
            for name in names:
                ktap.equal(reader.reply().body.decode(),
                           name.split(".", maxsplit=1)[0] if name != "x" else "front",
                           "pipelined")
        khttpd.ctl("stop", "--site", "two")
        ktap.equal(who("two.example"), "front", "after two has stopped")
        ktap.equal(who("one.example"), "one", "one goes on")
    finally:
        khttpd.ctl("stop", "--all")
    ktap.equal(khttpd.count("cache_entries"), 0, "no file is held open")


def chosen(sites, host):
    """Its own name, else the first site's with a * for it, else the one in front."""
    host = host.lower().rstrip(".")
    for site, names in sites.items():
        if host in names:
            return site
    for site, names in sites.items():
        if any(n.startswith("*") and host.endswith(n[1:]) and len(host) >= len(n) for n in names):
            return site
    return "front"


@ktap.test
def many_virtual_hosts():
    """More names than are looked through, of each depth; as sites come, change and go."""
    names = {"one": [f"h{i}.example" for i in range(40)] + ["*.deep.a.b.c.example", "*.both.example",
                                                            "*." + "x" * 60 + ".example"],
             "two": [f"*.w{i}.example" for i in range(40)] + ["a.both.example", "*.example",
                                                              "x." * 100 + "example"],
             "three": ["*." + "y." * 70 + "example", "*." + "y." * 80 + "example", "H1.Both.Example",
                       "*.c.example", "*.both.example"]}
    hosts = ["h0.example", "H39.EXAMPLE.", "h40.example", "a.w7.example", "b.a.w7.example",
             "w7.example", "a.both.example", "b.both.example", "h1.both.example", "both.example",
             "q.deep.a.b.c.example", "deep.a.b.c.example", "c.example", "example", ".example",
             "a.c.example", "x." * 100 + "example", "z." + "y." * 70 + "example",
             "z." + "y." * 80 + "example", "y." * 90 + "example", "y." * 124 + "example",
             "n" * 300 + ".example", "a." + "x" * 60 + ".example", "none"]
    khttpd.write("../three/who", b"three")
    serve()
    running = {}
    try:
        for site in ("one", "two", "three", None, "-two", "-one"):
            if site and site[0] == "-":
                khttpd.ctl("stop", "--site", site[1:])
                del running[site[1:]]
            elif site:
                behind(site, " ".join(names[site]))
                running[site] = [n.lower() for n in names[site]]
            else:
                running["one"] = ["*.changed.example"] + running["one"][:30]
                for name, value in ("names", " ".join(running["one"])), ("enabled", "1"):
                    with open(f"{khttpd.CONFIG}/one/{name}", "w", encoding="ascii") as file:
                        file.write(value)
            for host in hosts + ["a.changed.example"]:
                ktap.equal(who(host), chosen(running, host),
                           f"{host[:30]}, {len(host)} bytes, {site}")
    finally:
        khttpd.ctl("stop", "--all")
    ktap.equal(khttpd.count("cache_entries"), 0, "no file is held open")


@ktap.test
def sites_behind_none_are_refused():
    ktap.true("No such" in khttpd.ctl(
        "serve", "--site", "one", "--docroot", "/srv/one", "--set",
        "behind=default", check=False), "no such site")
    ktap.true("Invalid" in khttpd.ctl(
        "serve", "--site", "one", "--docroot", "/srv/one", "--set", "behind=x",
        "--set", "names=*", check=False), "no such name")
    ktap.true("missing" in khttpd.ctl("serve", "--docroot", "/srv/one",
                                      check=False), "no listener")
    serve()
    behind("one", "one.example")
    ktap.true("No such" in khttpd.ctl(
        "serve", "--site", "two", "--docroot", "/srv/two", "--set", "behind=one",
        check=False), "behind one that is behind")
    # The one in front goes first.
    khttpd.ctl("stop")
    khttpd.ctl("stop", "--all")


@ktap.test
def combined_log():
    serve()
    log = khttpd.Log()
    try:
        for place in PLACES:
            khttpd.exchange(place, khttpd.get(
                "/a.txt?x=1", "User-Agent: probe/1\r\nReferer: http://r/\r\n"))
        khttpd.exchange(khttpd.V4, khttpd.get("/%1b[1m\"\\\xff", 'User-Agent: "\x09\r\n'))
        khttpd.exchange(khttpd.V4, b"nonsense\r\n\r\n")
        khttpd.exchange(khttpd.V4, khttpd.get("/a.txt", "Range: bytes=1-2\r\n"))
        khttpd.exchange(khttpd.V4, khttpd.get("/a.txt", "If-None-Match: *\r\n", "HEAD"),
                        head_only=True)
        lines = log.lines(6)
    finally:
        log.stop()
        khttpd.ctl("stop")
    date = r"\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]"
    wanted = (
        r'127\.0\.0\.1 - - %s "GET /a\.txt\?x=1 HTTP/1\.1" 200 6 "http://r/" '
        r'"probe/1"',
        r'::1 - - %s "GET /a\.txt\?x=1 HTTP/1\.1" 200 6 "http://r/" "probe/1"',
        r'127\.0\.0\.1 - - %s "GET /%%1b\[1m\\x22\\x5C\\xFF HTTP/1\.1" 404 \d+ "-" '
        r'"\\x22"',
        r'127\.0\.0\.1 - - %s "-" 400 \d+ "-" "-"',
        r'127\.0\.0\.1 - - %s "GET /a\.txt HTTP/1\.1" 206 2 "-" "-"',
        r'127\.0\.0\.1 - - %s "HEAD /a\.txt HTTP/1\.1" 304 0 "-" "-"')
    for pattern in wanted:
        ktap.true(any(re.fullmatch(pattern % date, line) for line in lines),
                  f"{pattern} in {lines}")


@ktap.test
def a_reply_is_logged_once():
    """Those too that are made again because others before them filled the socket."""
    many = 1000
    khttpd.write("page", bytes(8000))
    serve()
    log = khttpd.Log()
    try:
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.settimeout(khttpd.TIMEOUT)
            sock.connect((khttpd.V4.address, 8080))
            blocked = khttpd.count("send_blocked")
            sock.sendall(khttpd.get("/page") * many)
            ktap.wait_for(10, "replies wait for room",
                          lambda: khttpd.count("send_blocked") > blocked)
            reader = khttpd.Reader(sock)
            for _ in range(many):
                ktap.equal(reader.reply().status, 200, "status")
        khttpd.exchange(khttpd.V4, khttpd.get("/last"))
        lines = log.lines(many + 1)
        ktap.true("/last" in lines[-1], "no more lines before the last one's")
        ktap.equal(len(lines), many + 1, "lines")
    finally:
        log.stop()
        khttpd.ctl("stop")


@ktap.test
def json_log_and_rotation():
    serve()
    log = khttpd.Log("-j")
    try:
        khttpd.exchange(khttpd.V4, khttpd.get("/a.txt", 'Referer: "\xe4\r\n'))
        record = json.loads(log.lines(1)[0])
        for name, value in (("site", "default"), ("host", "a.example"),
                            ("method", "GET"), ("target", "/a.txt"), ("status", 200),
                            ("bytes", 6), ("referer", '"\xe4'), ("agent", ""),
                            ("address", "127.0.0.1")):
            ktap.equal(record[name], value, name)
        ktap.true(abs(record["time"] - time.time()) < 30 * ktap.SCALE, "time")
        os.rename(LOG, LOG + ".1")
        log.process.send_signal(signal.SIGHUP)
        ktap.wait_for(10, "a new file is there", lambda: os.path.exists(LOG))
        khttpd.exchange(khttpd.V4, khttpd.get("/a.txt"))
        ktap.equal(len(log.lines(1)), 1, "the next line is in the new file")
        ktap.true("already" in khttpd.ctl("log", check=False), "one reader at a time")
    finally:
        log.stop()
        khttpd.ctl("stop")


@ktap.test
def the_log_rotates_itself():
    serve()
    ktap.true("needs" in khttpd.ctl("log", "--rotate", "1K", check=False), "without file")
    for number in range(5):
        with open(f"{LOG}.{number}", "w", encoding="ascii"):
            pass
    log = khttpd.Log("--rotate", "1K", "--keep", "2")
    try:
        def turned():
            for _ in range(20):
                khttpd.exchange(khttpd.V4, khttpd.get("/a.txt"))
            return os.path.getsize(LOG + ".2") >= 1024
        ktap.wait_for(20, "two files are full", turned)
        with open(LOG + ".1", encoding="ascii") as file:
            lines = file.read().splitlines()
        ktap.true(all("GET /a.txt" in line for line in lines), "whole lines")
    finally:
        log.stop()
        khttpd.ctl("stop")
    ktap.equal(os.path.getsize(LOG + ".3"), 0, "no third one is touched")
    for number in range(5):
        os.unlink(f"{LOG}.{number}")


@ktap.test
def what_goes_on_now():
    serve()
    process = subprocess.Popen([f"{khttpd.TOP}/tools/khttpdctl", "top", "--count", "3"],
                               stdout=subprocess.PIPE, text=True)
    try:
        while process.poll() is None:
            khttpd.exchange(khttpd.V4, khttpd.get("/a.txt"))
            khttpd.exchange(khttpd.V4, b"nonsense\r\n\r\n")
        out = process.stdout.read()
    finally:
        process.kill()
        khttpd.ctl("stop")
    views = out.strip().split("\n\n")
    ktap.equal(len(views), 3, out)
    rates = [float(rate) for rate in re.findall(r"^requests +([0-9.]+)/s", out, re.M)]
    ktap.true(len(rates) == 3 and min(rates) > 0, f"{rates}")
    ktap.true("bad_heads" in views[1], "trouble is shown")
    ktap.true(re.search(r"^connections \d+ now, [1-9]", views[1], re.M), views[1])


@ktap.test
def attached_by_descriptor():
    with socket.socket() as server, socket.socket() as other:
        for sock, port in ((server, 8090), (other, 8091)):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("127.0.0.1", port))
            sock.listen()
        ktap.equal(khttpd.ctl("attach", "--pid", str(os.getpid()), "--fd",
                              str(server.fileno()), "--docroot", khttpd.WWW),
                   "attached to 1 listener\n", "of a process")
        ktap.equal(khttpd.exchange(khttpd.V4, khttpd.get("/a.txt"), 8090).body, b"hello\n",
                   "file")
        ktap.true("already" in khttpd.ctl("attach", "--pid", str(os.getpid()), "--fd",
                                          str(server.fileno()), check=False), "twice")
        out = subprocess.run([f"{khttpd.TOP}/tools/khttpdctl", "attach", "--fd",
                              str(other.fileno())], pass_fds=[other.fileno()], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        ktap.equal(out, "attached to 1 listener\n", "inherited")
        ktap.equal(khttpd.exchange(khttpd.V4, khttpd.get("/a.txt"), 8091).body, b"hello\n",
                   "file")
        for fd, why in ((99, "Bad file"), (0, "cannot attach")):
            ktap.true(why in khttpd.ctl("attach", "--pid", str(os.getpid()), "--fd",
                                        str(fd), check=False), f"descriptor {fd}")
        ktap.true("needed" in khttpd.ctl("attach", "--fd", "3", "--port", "80",
                                         check=False), "both")
        ktap.equal(khttpd.ctl("detach"), "detached from 2 listeners\n", "detach")


@ktap.test
def a_log_that_nobody_reads_loses_and_counts():
    serve()
    before = khttpd.count("log_lost")
    fd = os.open("/dev/khttpd_log", os.O_RDONLY | os.O_NONBLOCK)
    try:
        ktap.raises(errno.EAGAIN, os.read, fd, 65536)
        ktap.raises(errno.EINVAL, os.read, fd, 100)
        ktap.true("in use" in ktap.run("rmmod", "khttpd", check=False), "busy")
        request = khttpd.get("/" + "a" * 3000, "User-Agent: " + "b" * 2000 + "\r\n")
        with khttpd.V4.connect() as sock:
            reader = khttpd.Reader(sock)
            for _ in range(400):
                sock.sendall(request)
                ktap.equal(reader.reply().status, 404, "status")
        lost = khttpd.count("log_lost") - before
        ktap.true(0 < lost < 400, f"{lost} of 400 are lost")
        data, records = b"", 0
        try:
            while True:
                data += os.read(fd, 65536)
        except BlockingIOError:
            pass
        while data:
            size = int.from_bytes(data[:4], sys.byteorder)
            ktap.equal(int.from_bytes(data[4:6], sys.byteorder), 404, "status")
            data, records = data[size:], records + 1
        ktap.equal(records + lost, 400, "records and lost ones")
    finally:
        os.close(fd)
        khttpd.ctl("stop")


@ktap.test
def counters_for_machines():
    serve()
    try:
        khttpd.exchange(khttpd.V4, khttpd.get("/a.txt"))
        counters = json.loads(khttpd.ctl("status", "-j"))["counters"]
        text = khttpd.ctl("status", "--prometheus")
    finally:
        khttpd.ctl("stop")
    values = dict(line.split() for line in text.splitlines()
                  if not line.startswith("#"))
    ktap.true(int(values["khttpd_replies_file_total"]) > 0, "files")
    ktap.equal(set(values) - {f"khttpd_{name}_total" for name in counters},
               {"khttpd_connections", "khttpd_cache_entries"}, "gauges")
    ktap.true("# TYPE khttpd_requests_total counter" in text, "types")


ktap.main(setup)
