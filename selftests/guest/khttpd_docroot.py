#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The path of a document root comes to name another directory, as deployments do it: the site
# goes there, on every way of serving, without a connection lost.
#
#	[ client, khttpd and servers on lo, net6 between two namespaces ]
#
# guest: both
# timeout: 120
# pylint: disable=missing-function-docstring
import os
import shutil
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

BASE = "/srv/deploy"
PORT = 8090
GET = khttpd.get
PLACES = [khttpd.V4]


def setup():
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()


def release(path, text):
    os.makedirs(path, exist_ok=True)
    for name in ("a.txt", f"only-{text}.txt"):
        with open(f"{path}/{name}", "w", encoding="ascii") as file:
            file.write(text)


def link(target, path):
    """Atomically, as deployments do."""
    os.symlink(target, f"{path}.new")
    os.rename(f"{path}.new", path)


def fresh_base():
    shutil.rmtree(BASE, ignore_errors=True)
    release(f"{BASE}/releases/1", "one")
    release(f"{BASE}/releases/2", "two")


class Served:
    """The path as the root of sites on native and net6, one behind another, and one attached."""

    WAYS = ((0, 8080), (1, 8080), (0, PORT))

    def __init__(self, docroot):
        self.docroot = docroot

    def forget(self, number):
        if self.ends[number]:
            self.ends[number][0].close()
        self.ends[number] = None

    def __enter__(self):
        khttpd.ctl("serve", "--site", "own", "--docroot", self.docroot, "--listen",
                   PLACES[0].listen)
        khttpd.serve(PLACES[1], site="six", docroot=self.docroot)
        khttpd.ctl("serve", "--site", "behind", "--docroot", self.docroot, "--set", "behind=own",
                   "--set", "names=b.example")
        self.server = khttpd.Server(khttpd.V4, PORT, docroot=self.docroot)
        self.ends = [None] * len(self.WAYS)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.close_what_is_handed_over)
        self.thread.start()
        return self

    def close_what_is_handed_over(self):
        self.server.sock.settimeout(0.2)
        while not self.over.is_set():
            try:
                self.server.accept().close()
            except socket.timeout:
                pass

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        for number in range(len(self.WAYS)):
            self.forget(number)
        self.server.__exit__()
        for site in ("behind", "own", "six"):
            khttpd.ctl("stop", "--site", site, check=False)

    def bodies(self, path="/a.txt"):
        """What comes on connections that stay, and what the site behind has. One that is
        handed over for want of a file is made anew.
        """
        got = []
        for number, (place, port) in enumerate(self.WAYS):
            if not self.ends[number]:
                conn = PLACES[place].connect(port)
                self.ends[number] = conn, khttpd.Reader(conn)
            conn, reader = self.ends[number]
            try:
                conn.sendall(GET(path))
                got.append(reader.reply().body)
            except (OSError, ktap.Fail):
                got.append(None)
                self.forget(number)
        got.append(khttpd.exchange(khttpd.V4, GET(path).replace(b"a.example", b"b.example")).body)
        return got

    def becomes(self, text, what):
        ktap.wait_for(10, what, lambda: self.bodies() == [text] * 4)


@ktap.test
def a_link_is_replaced():
    fresh_base()
    link("releases/1", f"{BASE}/current")
    with Served(f"{BASE}/current") as served:
        served.becomes(b"one", "the first release")
        moves = khttpd.count("docroot_moves")
        link("releases/2", f"{BASE}/current")
        served.becomes(b"two", "the second release")
        # It is served before it is counted.
        ktap.wait_for(10, "moves of four sites",
                      lambda: khttpd.count("docroot_moves") - moves == 4)
        shutil.rmtree(f"{BASE}/releases/1")
        ktap.equal(served.bodies("/only-two.txt"), [b"two"] * 4, "files of its own")


@ktap.test
def a_directory_is_made_anew():
    fresh_base()
    release(f"{BASE}/public", "one")
    with Served(f"{BASE}/public") as served:
        served.becomes(b"one", "the first build")
        shutil.rmtree(f"{BASE}/public")
        release(f"{BASE}/public", "two")
        served.becomes(b"two", "the second build")


@ktap.test
def links_behind_links_and_directories_above():
    fresh_base()
    os.makedirs(f"{BASE}/a/b")
    link("../../releases/latest", f"{BASE}/a/b/www")
    link(f"{BASE}/releases/1", f"{BASE}/releases/latest")
    with Served(f"{BASE}/a/./b/../b/www/") as served:
        served.becomes(b"one", "through two links")
        link(f"{BASE}/releases/2", f"{BASE}/releases/latest")
        served.becomes(b"two", "the second link says something else")
        os.makedirs(f"{BASE}/c/b")
        link("../../releases/1", f"{BASE}/c/b/www")
        os.rename(f"{BASE}/a", f"{BASE}/was")
        os.rename(f"{BASE}/c", f"{BASE}/a")
        served.becomes(b"one", "another directory above")


@ktap.test
def a_site_stays_where_it_was_while_there_is_nothing():
    fresh_base()
    link("releases/1", f"{BASE}/current")
    with Served(f"{BASE}/current") as served:
        served.becomes(b"one", "the release")
        moves = khttpd.count("docroot_moves")
        os.unlink(f"{BASE}/current")
        khttpd.quiet_for(0.3)
        ktap.equal(served.bodies(), [b"one"] * 4, "without the link")
        link("nowhere", f"{BASE}/current")
        khttpd.quiet_for(0.3)
        ktap.equal(served.bodies(), [b"one"] * 4, "with one that leads nowhere")
        ktap.equal(khttpd.count("docroot_moves"), moves, "moves")
        link("releases/2", f"{BASE}/current")
        served.becomes(b"two", "the next release")


@ktap.test
def it_flaps_under_load():
    fresh_base()
    link("releases/1", f"{BASE}/current")
    over = threading.Event()

    def flap():
        number = 0
        # Faster than a site follows, and the clients get processors as well.
        while not over.wait(0.005):
            number += 1
            link(f"releases/{number % 2 + 1}", f"{BASE}/current")

    with Served(f"{BASE}/current") as served:
        thread = threading.Thread(target=flap)
        thread.start()
        try:
            for turn in range(40 if not ktap.CHECKING else 10):
                ktap.true(set(served.bodies()) <= {b"one", b"two"}, "one release or the other")
                if turn % 5 == 4:
                    khttpd.ctl("status")
        finally:
            over.set()
            thread.join()
        link("releases/2", f"{BASE}/current")
        served.becomes(b"two", "the last release")


@ktap.test
def a_path_through_proc_is_looked_up_by_the_kernel():
    """The way to a container's files: that process's root, whatever the link's text says."""
    fresh_base()
    mount = f"mount --bind {BASE}/releases/2 {BASE}/releases/1; echo; exec sleep 1000"
    with subprocess.Popen(["unshare", "-m", "sh", "-c", mount],
                          stdout=subprocess.PIPE) as other:
        try:
            other.stdout.readline()
            khttpd.ctl("serve", "--site", "own", "--docroot",
                       f"/proc/{other.pid}/root{BASE}/releases/1", "--listen", PLACES[0].listen)
            ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"two", "the other's file")
        finally:
            khttpd.ctl("stop", "--site", "own", check=False)
            other.kill()


ktap.main(setup=setup)
