#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The configuration file: judged as a whole, loaded again without harm to what has
# not changed, saved.
#
#	[ clients, khttpd and server on lo ]
#
# guest: stock+
# timeout: 120
# pylint: disable=missing-function-docstring
import json
import os
import re
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
CONF = "/tmp/khttpd.conf"
LIMITS = "[limits]\nmax_connections = 1000\nidle_timeout = 50000\n"
ONE = f"""
# the first
[site one]
docroot = {khttpd.WWW}
listen = 127.0.0.1:8080
listen = [::1]:8080
user = nobody
rule = deny /secret/
rule = cache /a.txt max-age=3
listing = 1
"""
TWO = """
[site two]
  docroot=/srv/two
listen   =   127.0.0.1:8082
index = a.txt
types = @/tmp/types
"""
THREE = """
[site three]
docroot = /srv/three
behind = one
names = three.example *.three.example
"""


def setup():
    khttpd.fresh()
    khttpd.write("a.txt", b"one")
    khttpd.write("secret/x", b"x")
    khttpd.write("../two/a.txt", b"two")
    khttpd.write("../three/a.txt", b"three")
    with open("/tmp/types", "w", encoding="ascii") as file:
        file.write("text/strange txt\n")


def load(text, command="load", check=True):
    with open(CONF, "w", encoding="ascii") as file:
        file.write(text)
    return khttpd.ctl(command, CONF, check=check)


def fails(text):
    """What load says, and that it has failed."""
    try:
        said = load(text)
    except ktap.Fail as error:
        return str(error)
    raise ktap.Fail(f"load has not failed: {said}")


def body(path="/a.txt", port=8080, host="a.example"):
    request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    reply = khttpd.exchange(khttpd.V4, request, port)
    return reply.body.decode() if reply.status == 200 else reply.status


def works():
    ktap.equal((body(), body("/secret/x"), body("/", 8082),
                body(host="x.three.example")), ("one", 403, "two", "three"), "bodies")
    ktap.equal(khttpd.exchange(khttpd.V4, GET("/")).status, 200, "listing")
    reply = khttpd.exchange(khttpd.V6, GET("/a.txt"))
    ktap.equal(reply.fields["cache-control"], "max-age=3", "rule")
    reply = khttpd.exchange(khttpd.V4, GET("/a.txt"), 8082)
    ktap.equal(reply.fields["content-type"], "text/strange", "type")


@ktap.test
def mistakes_are_named_and_nothing_is_done():
    for text, line, what in (
            ("x = 1", 1, "before any section"), ("[site]", 1, "neither"),
            ("[other x]", 1, "neither"), ("[site a/b]", 1, "name"),
            ("[site a]\nfoo", 2, "neither"), ("[site a]\nfoo = 1", 2, "setting"),
            ("[limits]\nfoo = 1", 2, "limit"), ("[limits]\ncache_idle = x", 2, "number"),
            ("[site a]\ndocroot = /nowhere", 2, "No such"),
            ("[site a]\nlisten = 1.2.3.4", 2, "listener"),
            ("[site a]\nlisten = [::1:80", 2, "listener"),
            ("[site a]\nuser = nobodyatall", 2, "user"),
            ("[site a]\nuser = root", 2, "never read as root"),
            ("[site a]\nattach = pid 80", 2, "PIDFILE"),
            ("[site a]\nattach = /run/pid 0", 2, "PIDFILE"),
            ("[site a]\ndocroot = /srv", 1, "without"),
            ("[site a]\nlisten = 1.2.3.4:80", 1, "docroot"),
            ("[site a]\n[site b]\n[site a]", 3, "second"),
            ("[site a]\ndocroot = /srv\nlisten = 1.2.3.4:80,tls", 1, "no certificate"),
            ("[site a]\ndocroot = /srv\nlisten = 1.2.3.4:80\n[site b]\ndocroot = /srv\n"
             "behind = a\nclient_ca = /srv/x", 4, "site with the listener"),
            ("[site a]\n" + "listen = 1.2.3.4:80\n" * 17, 18, "many")):
        for command in ("check", "load"):
            said = load(text, command, check=False)
            ktap.true(f"{CONF}:{line}:" in said and what in said, f"{text!r}: {said}")
    ktap.equal([name for name in os.listdir(khttpd.CONFIG)
                if os.path.isdir(f"{khttpd.CONFIG}/{name}")], [], "sites")
    ktap.equal(load(LIMITS + ONE + TWO + THREE, "check"), "", "a good one")
    ktap.true("No such" in khttpd.ctl("load", "/nowhere", check=False), "no file")


@ktap.test
def values_are_judged_before_anything_is_done():
    with open("/tmp/bad", "wb") as file:
        file.write(b"text/x\1 x\n")
    site = f"[site a]\ndocroot = {khttpd.WWW}\nlisten = 127.0.0.1:8080\n"
    for line, what in (
            ("docroot = /etc/passwd", "Not a directory"), ("index = a/b", "name of a file"),
            ("index = ..", "name of a file"), ("listing = maybe", "neither 0 nor 1"),
            ("precompressed = 2", "neither 0 nor 1"), ("rule = bogus /x", "not a rule"),
            ("rule = expires /x y", "not a rule"), ("rules = @/nowhere", "No such"),
            ("rules = @/tmp", "directory"), ("rules = @/tmp/types", "not a rule"),
            ("types = @/tmp/bad", "not types"), ("types = @/nowhere", "No such"),
            ("names = a/b", "not names"), ("names = " + "a" * 1024, "not names"),
            ("behind = b", "neither in the file nor running"),
            ("behind = a", "not before it"), ("behind = ../a", "neither"),
            ("behind = b\n[site b]\nbehind = c\n" + site[9:], "not before it"),
            ("listen = 1.2.3:80", "address"), ("listen = localhost:80", "address"),
            ("listen = [1.2.3.4]:80", "address"), ("listen = [::1%lo]:80", "address"),
            ("listen = 1.2.3.4:http", "number"), ("listen = 1.2.3.4:65536", "range"),
            ("listen = 1.2.3.4:80,backlog=0", "range"),
            ("listen = 1.2.3.4:80,tls,redirect=443", "cannot both"),
            ("hsts = 3600", "not max-age"), ("hsts = max-age=1; all", "not max-age")):
        for command in ("check", "load"):
            said = load("[limits]\nmax_connections = 77\n" + site + line, command,
                        check=False)
            ktap.true(f"{CONF}:6:" in said and what in said, f"{line!r}: {said}")
    said = load(site + "".join(f"rule = deny /{n}\n" for n in range(257)), check=False)
    ktap.true(f"{CONF}:1: too many rules" in said, said)
    said = load(ONE + THREE + "[site x]\ndocroot = /srv\nbehind = three\n", check=False)
    ktap.true("behind another one itself" in said, said)
    with open(f"{khttpd.CONFIG}/max_connections", encoding="ascii") as file:
        ktap.equal(file.read(), "65536\n", "no limit was set")
    # What is good in one way or another.
    load(ONE)
    for text in (THREE, site + "listing = on\nprecompressed = No\nindex =\n",
                 site + "listen = [fe80::1%eth9]:80\nlisten = [::]:080,backlog=007,net6\n",
                 site + "listen = [::]:81,redirect=443\nhsts = max-age=9; preload\n",
                 site + "names = a *.b [::1]\nbehind = one\ntypes = @/tmp/types\n"):
        ktap.equal(load(text, "check"), "", text)
    khttpd.ctl("stop", "--all")
    said = load(THREE, "check", check=False)
    ktap.true("neither in the file nor running" in said, said)
    text = site.replace(":8080", ":08080,backlog=077") + "listing = on\n"
    load(text)
    ktap.equal(load(text), "0 started, 0 changed, 1 unchanged\n", "in another form")
    khttpd.ctl("stop", "--all")


def kernel_takes(name, value):
    try:
        khttpd.limit(name, khttpd.limit(name, value))
        return True
    except OSError:
        return False


@ktap.test
def ranges_are_those_of_the_kernel():
    names = [name for name in os.listdir(khttpd.CONFIG) if name != "stats"]
    options = ("port", "backlog", "defer_accept", "fastopen", "redirect")
    os.makedirs(f"{khttpd.CONFIG}/x/y")
    for value in (0, 1, 63, 64, 100, 101, 3600, 3601, 8192, 8193, 65535, 65536, 1 << 20,
                  (1 << 20) + 1, (1 << 30) - 1, 1 << 30, 1 << 32, 1 << 64):
        lines = [f"{name} = {value}" for name in names] + ["[site a]"] + [
            f"listen = 1.2.3.4:{value}"] + [f"listen = 1.2.3.4:80,{name}={value}"
                                            for name in options[1:]]
        said = load("\n".join(["[limits]"] + lines), "check", check=False)
        bad = {lines[int(number) - 2]
               for number in re.findall(rf"{CONF}:(\d+): out of range", said)}
        paths = names + [""] + [f"x/y/{name}" for name in options]
        ktap.equal(bad, {line for line, path in zip(lines, paths)
                         if path and not kernel_takes(path, value)}, f"{value}: {said}")
    os.rmdir(f"{khttpd.CONFIG}/x/y")
    os.rmdir(f"{khttpd.CONFIG}/x")


@ktap.test
def loaded_and_loaded_again():
    old = khttpd.limit("max_connections", 65536)
    ktap.equal(load(LIMITS + ONE + TWO + THREE), "3 started, 0 changed, 0 unchanged\n", "first")
    with open(f"{khttpd.CONFIG}/max_connections", encoding="ascii") as file:
        ktap.equal(file.read(), "1000\n", "limit")
    works()
    with khttpd.V4.connect() as one, khttpd.V4.connect(8082) as two:
        readers = khttpd.Reader(one), khttpd.Reader(two)

        def ask(number):
            (one, two)[number].sendall(GET("/a.txt"))
            return readers[number].reply().body

        ktap.equal((ask(0), ask(1)), (b"one", b"two"), "before")
        ktap.equal(load(LIMITS + ONE + TWO + THREE), "0 started, 0 changed, 3 unchanged\n", "same")
        ktap.equal((ask(0), ask(1)), (b"one", b"two"), "same connections")
        ktap.equal(load(LIMITS + TWO.replace("a.txt", "index.html")),
                   "0 started, 1 changed, 0 unchanged\n",
                   "one differs, two are not named")
        ktap.equal((ask(0), ask(1)), (b"one", b"two"), "the same connections")
        two.sendall(GET("/"))
        ktap.equal(readers[1].reply().status, 403, "changed for an old connection")
        ktap.equal(body("/", 8082), 403, "changed for a new one")
    ktap.equal(load(LIMITS + ONE.replace("secret", "other") + TWO + THREE),
               "0 started, 2 changed, 1 unchanged\n", "the one behind it stays")
    ktap.equal((body("/secret/x"), body(host="three.example")), ("x", "three"), "changed")
    for change in (("nobody", "daemon"), ("listing = 1\n", ""), ("8080", "8084"),
                   ("listen = [::1]:8080\n", ""), ("rule = deny /secret/\n", ""),
                   ("rule = deny /secret/\nrule = cache /a.txt max-age=3\n", "")):
        load(ONE + THREE)
        ktap.equal(load(ONE.replace(*change) + THREE),
                   "0 started, 1 changed, 1 unchanged\n", str(change))
        ktap.equal(load(ONE.replace(*change) + THREE),
                   "0 started, 0 changed, 2 unchanged\n", str(change))
    load(TWO)
    ktap.equal(load(TWO.replace("types = @/tmp/types\n", "")),
               "0 started, 1 changed, 0 unchanged\n", "without types")
    ktap.equal(load(TWO.replace("types = @/tmp/types\n", "")),
               "0 started, 0 changed, 1 unchanged\n", "again")
    ktap.true("plain" in khttpd.exchange(khttpd.V4, GET("/a.txt"), 8082).fields[
        "content-type"], "without types")
    khttpd.limit("max_connections", old)
    khttpd.ctl("stop", "--all")


@ktap.test
def what_is_saved_is_the_same():
    load(LIMITS + ONE + THREE)
    saved = khttpd.ctl("save")
    ktap.equal(load(saved), "0 started, 0 changed, 2 unchanged\n", "loaded on top")
    khttpd.ctl("stop", "--all")
    ktap.equal(load(saved), "2 started, 0 changed, 0 unchanged\n", "loaded")
    ktap.equal(khttpd.ctl("save"), saved, "saved again")
    load(TWO)
    works()
    khttpd.ctl("stop", "--all")


@ktap.test
def what_could_not_take_effect_is_not_taken_for_done():
    """All attributes are written before the site is changed, which may fail."""
    load(ONE)
    new = ONE.replace(khttpd.WWW, "/srv/two").replace("deny /secret/", "deny /a.txt") \
             .replace("user = nobody", "user = daemon")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 8085))
        taken.listen()
        said = load(new + "listen = 127.0.0.1:8085\n", check=False)
    ktap.true("in use" in said, said)
    ktap.equal((body(), body("/secret/x")), ("one", 403), "as before")
    ktap.equal(load(new), "0 started, 1 changed, 0 unchanged\n", "without that listener")
    ktap.equal(body(), 403, "the new rule")
    ktap.equal(load(new), "0 started, 0 changed, 1 unchanged\n", "again")
    # Only what makes it take effect failed.
    with open(f"{khttpd.CONFIG}/one/docroot", "w", encoding="ascii") as file:
        file.write(khttpd.WWW)
    ktap.equal(load(new.replace("/srv/two", khttpd.WWW)),
               "0 started, 1 changed, 0 unchanged\n", "written by hand")
    ktap.equal((body("/secret/x"), body()), ("x", 403), "now")
    load(ONE)
    # What is behind a site that was stopped serves nobody, and says that it does not differ.
    load(THREE)
    khttpd.ctl("stop", "--site", "one")
    ktap.equal(load(ONE + THREE), "1 started, 1 changed, 0 unchanged\n", "started again")
    khttpd.ctl("stop", "--site", "one")
    load(ONE)
    ktap.equal(load(THREE), "0 started, 1 changed, 0 unchanged\n", "the other one alone")
    ktap.equal(body(host="three.example"), "three", "behind")
    khttpd.ctl("stop", "--all")


@ktap.test
def a_site_that_fails_does_not_keep_others_from_being_done():
    def attached_to(name, pid):
        with open(f"/tmp/{name}.pid", "w", encoding="ascii") as file:
            file.write(f"{pid}\n")
        return f"[site {name}]\ndocroot = {khttpd.WWW}\nattach = /tmp/{name}.pid 8090\n"
    with subprocess.Popen(["true"]) as ended:
        pass
    none = attached_to("none", "")
    stale = attached_to("stale", ended.pid)
    busy = f"[site busy]\ndocroot = {khttpd.WWW}\nlisten = 127.0.0.1:8085\n"
    text = none + ONE + stale + TWO + busy + THREE
    with listener("127.0.0.1", 8085), listener("127.0.0.1", 8090):
        for wanted in ("3 started, 0 changed, 0 unchanged, 3 failed\n",
                       "0 started, 0 changed, 3 unchanged, 3 failed\n"):
            said = fails(text)
            ktap.true(said.endswith(wanted), said)
            ktap.equal(re.findall("site '(.*)' is not what the file says", said),
                       ["none", "stale", "busy"], said)
            works()
        # Of those that run, too.
        said = fails(ONE.replace("8080", "8085") + TWO.replace("a.txt", "index.html"))
        ktap.true("site 'one'" in said and said.endswith(
            "0 started, 1 changed, 0 unchanged, 1 failed\n"), said)
        ktap.equal((body(), body("/", 8082)), ("one", 403), "bodies")
    with listener("127.0.0.1", 8090):
        attached_to("stale", os.getpid())
        said = fails(text)
        # What could not be changed is written all the same, and pending.
        ktap.true(said.endswith("2 started, 2 changed, 1 unchanged, 1 failed\n"), said)
        ktap.equal((body(port=8085), attached("stale")), ("one", 1), "what was missing")
    works()
    khttpd.ctl("stop", "--all")


@ktap.test
def a_listener_takes_the_place_of_another():
    """At the same port, with other options or an address that overlaps."""
    data = os.urandom(3_000_003)
    khttpd.write("big", data)
    old = khttpd.limit("stop_timeout", 5000 * ktap.SCALE)
    site = f"[site a]\ndocroot = {khttpd.WWW}\n"
    load(site + "listen = 0.0.0.0:8080\nlisten = [::]:8080\n")
    for listen in (("127.0.0.1:8080", "[::]:8080"), ("0.0.0.0:8080,backlog=77", "[::1]:8080"),
                   ("127.0.0.1:8080,reuseport", "[0::1]:8080"),
                   ("127.0.0.1:8080,reuseport,backlog=9", "[::1]:8080,backlog=9"),
                   ("0.0.0.0:8080,reuseport", "[::]:8080,backlog=9")):
        text = site + "".join(f"listen = {one}\n" for one in listen)
        with khttpd.V4.connect() as sock:
            before = khttpd.count("requests")
            sock.sendall(GET("/big"))
            ktap.wait_for(20, "the reply is under way",
                          lambda b=before: khttpd.count("requests") > b)
            said = []
            thread = threading.Thread(target=lambda t=text, s=said: s.append(load(t)))
            thread.start()
            ktap.true(khttpd.Reader(sock).reply().body == data, f"{listen}: whole")
            thread.join()
        ktap.equal(said, ["0 started, 1 changed, 0 unchanged\n"], f"{listen}")
        ktap.equal(load(text), "0 started, 0 changed, 1 unchanged\n", f"{listen}, again")
        for place in (khttpd.V4, khttpd.V6):
            ktap.equal(khttpd.exchange(place, GET("/a.txt")).body, b"one", f"{listen}")
    # What cannot be opened leaves what was there.
    last = text
    said = load(site + "listen = 192.0.2.1:8080\nlisten = [::1]:8080\n", check=False)
    ktap.true("cannot listen at 192.0.2.1" in said, said)
    for place in (khttpd.V4, khttpd.V6):
        ktap.equal(khttpd.exchange(place, GET("/a.txt")).body, b"one", "as it was")
    ktap.equal(load(last), "0 started, 0 changed, 1 unchanged\n", "as it was")
    # One that somebody closed is missing.
    for name in os.listdir(f"{khttpd.CONFIG}/a"):
        if os.path.isdir(f"{khttpd.CONFIG}/a/{name}"):
            with open(f"{khttpd.CONFIG}/a/{name}/open", "w", encoding="ascii") as file:
                file.write("0")
    ktap.equal(load(last), "0 started, 1 changed, 0 unchanged\n", "closed ones")
    ktap.equal(body(), "one", "opened")
    khttpd.limit("stop_timeout", old)
    khttpd.ctl("stop", "--all")


def two_sites(one, two, turned):
    """Sites of the names, with those listeners, in this order or the other."""
    texts = [f"[site {name}]\ndocroot = {docroot}\n" +
             "".join(f"listen = {listen}\n" for listen in listens)
             for name, docroot, listens in (("a", khttpd.WWW, one), ("b", "/srv/two", two))]
    return "".join(reversed(texts) if turned else texts)


def ports(*numbers):
    return [f"127.0.0.1:{number}" for number in numbers]


class Knocker:
    """Connects to a port all the time, and counts how often nobody was there."""

    def __init__(self, port):
        self.port, self.over, self.refused, self.turns = port, False, 0, 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over:
            try:
                khttpd.V4.connect(self.port).close()
            except ConnectionRefusedError:
                self.refused += 1
            self.turns += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()


@ktap.test
def ports_move_from_site_to_site():
    for turned in (False, True):
        load(two_sites(ports(8089, 8080), ports(8081), turned))
        with Knocker(8089) as knocker:
            for one, two in ((8081, 8080), (8080, 8081)):
                text = two_sites(ports(8089, one), ports(two), turned)
                ktap.equal(load(text), "0 started, 2 changed, 0 unchanged\n", f"{one}, {two}")
                ktap.equal((body(port=one), body(port=two)), ("one", "two"), f"{one}, {two}")
                ktap.equal(load(text), "0 started, 0 changed, 2 unchanged\n", "again")
            # One has it no more, the other has it now; or has an address that overlaps.
            for listen in (ports(8081, 8080), ["127.0.0.1:8081", "0.0.0.0:8080"]):
                load(two_sites(ports(8089), listen, turned))
                ktap.equal((body(port=8089), body()), ("one", "two"), f"{listen}")
                load(two_sites(ports(8089, 8080), ports(8081), turned))
                ktap.equal((body(port=8089), body()), ("one", "one"), "back")
            # One that has not been there before.
            khttpd.ctl("stop", "--site", "b")
            ktap.equal(load(two_sites(ports(8089), ports(8080), turned)),
                       "1 started, 1 changed, 0 unchanged\n", "a new one")
            ktap.equal(body(), "two", "a new one")
            turns = knocker.turns
            ktap.wait_for(10, "one more turn", lambda t=turns, k=knocker: k.turns > t + 1)
        ktap.equal(knocker.refused, 0, "the listener that stays was away")
        khttpd.ctl("stop", "--all")


@ktap.test
def a_port_that_moves_waits_for_no_reply():
    data = os.urandom(3_000_003)
    khttpd.write("big", data)
    khttpd.write("../two/big", data)
    old = khttpd.limit("stop_timeout", 60_000 * ktap.SCALE)
    load(two_sites(ports(8080), ports(8081), False))
    socks = [khttpd.V4.socket() for _ in range(2)]
    for port, sock in zip((8080, 8081), socks):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(khttpd.TIMEOUT)
        sock.connect(("127.0.0.1", port))
        blocked = khttpd.count("send_blocked")
        sock.sendall(GET("/big"))
        ktap.wait_for(20, "a reply is under way",
                      lambda b=blocked: khttpd.count("send_blocked") > b)
    said = []
    text = two_sites(ports(8081), ports(8080), False)
    thread = threading.Thread(target=lambda: said.append(load(text)))
    thread.start()

    def bodies():
        try:
            return body(port=8081), body(port=8080)
        except (OSError, ktap.Fail):
            return None	# taken by one that stops, before it had asked
    ktap.wait_for(20, "both have moved", lambda: bodies() == ("one", "two"))
    ktap.equal(said, [], "the old listeners are still there")
    for sock in socks:
        ktap.true(khttpd.Reader(sock).reply().body == data, "whole")
        sock.close()
    thread.join()
    ktap.equal(said, ["0 started, 2 changed, 0 unchanged\n"], "said")
    khttpd.limit("stop_timeout", old)
    khttpd.ctl("stop", "--all")


@ktap.test
def a_port_that_cannot_move_stays():
    for there in ("a", "ab"):
        load(two_sites(["0.0.0.0:8080"], ports(8081), False))
        if there == "a":
            khttpd.ctl("stop", "--site", "b")
        with listener("127.0.0.1", 8085):
            said = fails(two_sites(ports(8085), ["192.0.2.1:8080"], True))
        ktap.true("requested address" in said and "in use" in said, said)
        ktap.true("0 started, 0 changed, 0 unchanged, 2 failed" in said, said)
        ktap.equal(body(), "one", f"{there}: as it was")
        khttpd.ctl("stop", "--all")


def is_saved():
    """What is saved is a good file; the same as what is there, which does not change."""
    saved = khttpd.ctl("save")
    ktap.equal(load(saved, "check"), "", "it is a good file")
    ktap.true("0 started, 0 changed" in load(saved), "and what is there")
    ktap.equal(khttpd.ctl("save"), saved, "saved again")
    return saved


@ktap.test
def whoever_reads_files_is_saved():
    for user, group in (("12345", "23456"), ("12345", None), ("nobody", "daemon"),
                        ("daemon", None), ("daemon", "23456")):
        lines = f"user = {user}\n" + (f"group = {group}\n" if group else "")
        load(ONE.replace("user = nobody\n", lines))
        ktap.true(f"\n{lines}listen" in is_saved(), f"{user}, {group}")
        saved = khttpd.ctl("save")
        khttpd.ctl("stop", "--all")
        load(saved)
        ktap.equal(khttpd.ctl("save"), saved, "after all was stopped")
    with open(f"{khttpd.CONFIG}/one/uid", encoding="ascii") as file:
        ktap.equal(file.read(), "1\n", "the id")
    khttpd.ctl("stop", "--all")
    load(ONE.replace("user = nobody", "group = 7"))
    with open(f"{khttpd.CONFIG}/one/gid", encoding="ascii") as file:
        ktap.equal(file.read(), "7\n", "a group without user")
    for lines in ("user = 0", "group = 0", "group = root", "user = 4294967295",
                  "group = nobodyatall"):
        said = load(ONE + lines, "check", check=False)
        ktap.true(" root" in said or "of that name" in said, said)
    khttpd.ctl("stop", "--all")


@ktap.test
def sites_that_would_not_be_the_same_are_saved_as_comment():
    load(ONE)
    with khttpd.Server(khttpd.V4, 8090, site="two", docroot="/srv/two"):
        khttpd.ctl("serve", "--site", "three", "--docroot", "/srv/three", "--set",
                   "behind=two", "--set", "names=three.example")
        saved = is_saved()
        for name in ("two", "three"):
            ktap.true(f":\n# [site {name}]\n# docroot = /srv/{name}\n" in saved, saved)
        khttpd.ctl("stop", "--site", "three")
    with open(f"{khttpd.CONFIG}/one/enabled", "w", encoding="ascii") as file:
        file.write("0")
    ktap.true("# disabled:\n# [site one]\n" in is_saved(), "disabled")
    with open(f"{khttpd.CONFIG}/one/enabled", encoding="ascii") as file:
        ktap.equal(file.read(), "0\n", "still disabled")
    load(ONE)
    khttpd.ctl("serve", "--site", "three", "--docroot", "/srv/three", "--set",
               "behind=one", "--set", "names=x.example\n\ny.example")
    ktap.true("names = x.example  y.example\n" in khttpd.ctl("save"), "names in lines")
    load(khttpd.ctl("save"))
    is_saved()
    khttpd.ctl("stop", "--all")


def many(first):
    """A site with nine listeners."""
    return f"[site many]\ndocroot = {khttpd.WWW}\n" + "".join(
        f"listen = 127.0.0.1:{port}\n" for port in range(first, first + 9))


@ktap.test
def listeners_are_saved_whatever_their_number():
    """Those of a site that has got others come after those that they replace."""
    for first in (8100, 8200, 8300):
        load(many(first))
        saved = khttpd.ctl("save")
        ktap.equal([line for line in saved.splitlines() if line.startswith("listen")],
                   [f"listen = 127.0.0.1:{port}" for port in range(first, first + 9)],
                   "saved")
        ktap.equal(load(saved), "0 started, 0 changed, 1 unchanged\n", "loaded on top")
    khttpd.ctl("stop", "--all")


@ktap.test
def rules_that_are_too_long_are_not_cut():
    rules = "".join(f"deny /{'x' * 50}/{number:04}\n" for number in range(80))
    with open("/tmp/rules", "w", encoding="ascii") as file:
        file.write(rules)
    lines = "".join(f"rule = {line}\n" for line in rules.splitlines())
    for said in (load(many(8100) + lines, check=False),
                 load(many(8100) + "rules = @/tmp/rules\n", check=False),
                 khttpd.ctl("serve", "--site", "many", "--docroot", khttpd.WWW, "--listen",
                            "127.0.0.1:8100", "--set", "rules=@/tmp/rules", check=False)):
        ktap.true("File too large" in said or "too many rules" in said or
                  "not a rule" in said, said)
    ktap.raises(111, khttpd.V4.connect, 8100)


def unit(key):
    """The commands of that key of the systemd unit, as they are run here."""
    commands = []
    with open(f"{khttpd.TOP}/tools/systemd/khttpd.service.in", encoding="ascii") as file:
        for line in file:
            if line.startswith(f"{key}=@PREFIX@/sbin/khttpdctl"):
                commands.append(line.split()[1:])
    return [[CONF if word == "/etc/khttpd/khttpd.conf" else word for word in words]
            for words in commands]


@ktap.test
def the_systemd_unit_does_what_it_is_for():
    with open(f"{khttpd.TOP}/tools/httpctl/khttpd.conf.example", encoding="ascii") as file:
        example = file.read()
    said = load(example.replace("/srv/www", khttpd.WWW).replace(":80\n", ":8080\n"),
                "check")
    ktap.equal(said, "", "the example")

    def run(key):
        return [khttpd.ctl(*words) for words in unit(key)]
    load(example.replace("/srv/www", khttpd.WWW).replace(":80\n", ":8080\n"), "check")
    ktap.equal(run("ExecStartPre"), [""], "before the start")
    ktap.equal(run("ExecStart"), ["1 started, 0 changed, 0 unchanged\n"], "start")
    ktap.equal(body(), "one", "file")
    with khttpd.V4.connect() as sock:
        sock.sendall(GET("/a.txt"))
        reader = khttpd.Reader(sock)
        reader.reply()
        ktap.equal(run("ExecReload"), ["", "0 started, 0 changed, 1 unchanged\n"], "reload")
        sock.sendall(GET("/a.txt"))
        ktap.equal(reader.reply().body, b"one", "the same connection")
    run("ExecStop")
    ktap.equal([name for name in os.listdir(khttpd.CONFIG)
                if os.path.isdir(f"{khttpd.CONFIG}/{name}")], [], "sites")
    khttpd.limit("max_per_address", 0)


def completed(*words):
    """What zsh and fish are told by the bash completion."""
    tools = f"{khttpd.TOP}/tools"
    if not os.path.exists("/dev/fd"):       # udev would have made it
        os.symlink("/proc/self/fd", "/dev/fd")
    done = subprocess.run((f"{tools}/complete", f"{tools}/khttpdctl.bash", "khttpdctl", *words),
                          env={"PATH": f"{tools}:{os.environ['PATH']}"}, text=True,
                          capture_output=True, check=True)
    return set(done.stdout.split())


@ktap.test
def the_shell_completes_commands_and_options():
    ktap.equal(completed("st"), {"status", "stop"}, "commands")
    ktap.true({"load", "attach", "--help"} <= completed(""), "all commands")
    ktap.equal(completed("log", "--r"), {"--rotate"}, "options of log")
    ktap.equal(completed("stop", ""), {"--site", "--all"}, "options of stop")
    ktap.equal(completed("load", "/etc/hostn"), {"/etc/hostname"}, "files")
    load(ONE)
    ktap.equal(completed("stop", "--site", ""), {"one"}, "sites")
    ktap.equal(completed("serve", "--set", "pre"), {"precompressed="}, "attributes")
    site = f"{khttpd.CONFIG}/one"
    writable = {name + "=" for name in os.listdir(site) if os.path.isfile(f"{site}/{name}") and
                os.stat(f"{site}/{name}").st_mode & 0o200}
    ktap.equal(writable - completed("serve", "--set", ""), {"docroot=", "enabled=", "index="},
               "attributes that are not set so")
    ktap.equal(completed("serve", "--set", "") - writable, set(), "no others")
    khttpd.ctl("stop", "--all")


@ktap.test
def doctor_says_what_is_in_the_way():
    def doctor():
        done = subprocess.run((khttpd.TOP + "/tools/khttpdctl", "doctor", "-j"), text=True,
                              capture_output=True, check=False)
        found = json.loads(done.stdout)
        ktap.equal(done.returncode, int(any(e["level"] == "error" for e in found)), "status")
        return "\n".join(f"{e['level']}: {e['about']}: {e['text']}" for e in found)
    os.makedirs("/srv/locked/www", exist_ok=True)
    os.chmod("/srv/locked", 0o700)
    load(f"[site well]\ndocroot = {khttpd.WWW}\nlisten = 127.0.0.1:8110\n"
         "[site locked]\ndocroot = /srv/locked/www\nlisten = 127.0.0.1:8111\n")
    found = doctor()
    ktap.true("error: well:" not in found, found)
    ktap.true("error: locked: user 65534 cannot use /srv/locked: Permission denied" in found, found)
    with open(f"{khttpd.CONFIG}/well/enabled", "w", encoding="ascii") as file:
        file.write("0")
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 8110))
        other.listen()
        found = doctor()
    ktap.true("error: well: the site is not enabled" in found, found)
    ktap.true("error: well: 127.0.0.1 port 8110: Address already in use" in found, found)
    khttpd.ctl("stop", "--all")
    os.makedirs(f"{khttpd.CONFIG}/alone")
    ktap.true("error: alone: it has no listener and is attached to none" in doctor(), "alone")
    khttpd.ctl("stop", "--all")


@ktap.test
def servers_are_attached_to():
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 8090))
        server.listen()
        server.settimeout(khttpd.TIMEOUT)
        with open("/tmp/server.pid", "w", encoding="ascii") as file:
            file.write(f"{os.getpid()}\n")
        text = f"[site a]\ndocroot = {khttpd.WWW}\nattach = /tmp/server.pid 8090\n"
        load(text)
        ktap.equal(body("/a.txt", 8090), "one", "file")
        with khttpd.V4.connect(8090) as sock:
            sock.sendall(GET("/dyn"))
            with server.accept()[0] as conn:
                ktap.equal(conn.recv(8), b"GET /dyn", "server")
        ktap.true("0 changed, 1 unchanged" in load(text), "again")
        ktap.true("1 changed" in load(text + "listen = 127.0.0.1:8080\n"), "and listens")
        with khttpd.V4.connect(8080) as sock:
            sock.sendall(GET("/dyn"))
            with server.accept()[0] as conn:
                ktap.equal(conn.recv(8), b"GET /dyn", "is the backend")
    khttpd.ctl("stop", "--all")


def attached(site):
    with open(f"{khttpd.CONFIG}/{site}/attached", encoding="ascii") as file:
        return int(file.read())


def listener(address, port):
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    server.bind((address, port))
    server.listen()
    server.settimeout(khttpd.TIMEOUT)
    return server


@ktap.test
def servers_are_followed():
    """One that has got more listeners, or others, is attached to there, too."""
    with open("/tmp/server.pid", "w", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    text = f"[site a]\ndocroot = {khttpd.WWW}\nattach = /tmp/server.pid 8090\n"
    other = khttpd.Place("other", socket.AF_INET, "127.0.0.2", None)
    with listener("127.0.0.1", 8090):
        load(text)
        with listener("127.0.0.2", 8090), listener("127.0.0.2", 8090):
            ktap.equal(load(text), "0 started, 1 changed, 0 unchanged\n", "two more")
            ktap.equal(attached("a"), 3, "attached to")
            for place in (khttpd.V4, other) * 4:
                ktap.equal(khttpd.exchange(place, GET("/a.txt"), 8090).body, b"one", "file")
            ktap.equal(load(text), "0 started, 0 changed, 1 unchanged\n", "no more")
    ktap.wait_for(10, "the attachments end", lambda: attached("a") == 0)
    ktap.true("no listener on port 8090" in load(text, check=False), "none")
    with listener("127.0.0.2", 8090):
        # Another site's are not its own.
        load(text.replace("[site a]", "[site b]"))
        ktap.true("no listener on port 8090" in load(text, check=False), "another site's")
        khttpd.ctl("stop", "--site", "b")
        ktap.equal(load(text), "0 started, 1 changed, 0 unchanged\n", "started again")
        ktap.equal(khttpd.exchange(other, GET("/a.txt"), 8090).body, b"one", "file")
    khttpd.ctl("stop", "--all")


ktap.main(setup)
