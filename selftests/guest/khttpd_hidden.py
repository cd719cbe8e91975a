#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Names that a server hides: dot names and programs' sources. khttpd leaves them to the server
# behind it, and has nothing there without one, unless a rule serves them.
#
#	[ client, khttpd and servers on lo, net6 between two namespaces ]
#
# guest: stock+
# timeout: 90
# pylint: disable=missing-function-docstring
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

PORT = 8090
GET = khttpd.get
HIDDEN = (".git/config", ".env", "a/.htpasswd", "index.php", "a/b.PHP", "a.php~", "a.html.bak",
          "cgi.pl", ".well-known/.x")
SHOWN = (".well-known/acme/token", "a.php.txt", "example.pl/x.html", "a/x.html")
# Other words for the same names.
SAME = ("/%2egit/config", "/./.git//config", "/a/../.env", "/%2Eenv", "/index%2ephp",
        "/index.php?x=1")
PLACE = khttpd.net6_later()


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    for name in HIDDEN + SHOWN:
        khttpd.write(name, b"file " + name.encode())
    khttpd.let_files_settle()


def ask(place, path, port=8080):
    return khttpd.exchange(place, GET(path), port)


def twice(place, path, port=8080):
    """What is remembered of a path makes no difference."""
    first, second = (ask(place, path, port) for _ in range(2))
    ktap.equal((first.status, first.body), (second.status, second.body), f"{path} again")
    return first


@ktap.test
def a_server_behind_gets_them():
    server = khttpd.Nginx([f"127.0.0.1:{PORT}"])
    try:
        khttpd.ctl("attach", "--site", "default", "--pid", str(server.pid), "--port", str(PORT),
                   "--docroot", khttpd.WWW)
        for name in HIDDEN:
            ktap.true(twice(khttpd.V4, f"/{name}", PORT).body.startswith(b"nginx GET"), name)
        for path in SAME + ("/.git/", "/.git", "/index.php/info"):
            ktap.true(twice(khttpd.V4, path, PORT).body.startswith(b"nginx GET"), path)
        for name in SHOWN:
            ktap.equal(twice(khttpd.V4, f"/{name}", PORT).body, b"file " + name.encode(), name)
    finally:
        server.kill(15)
        khttpd.ctl("stop", "--site", "default")


@ktap.test
def without_one_nothing_is_there():
    khttpd.serve(khttpd.V4, "--set", "listing=1")
    khttpd.serve(PLACE, site="net6")
    for place in (khttpd.V4, PLACE):
        for path in tuple(f"/{name}" for name in HIDDEN) + SAME + ("/.git/", "/.git"):
            ktap.equal(twice(place, path).status, 404, f"{place.name} {path}")
        for name in SHOWN:
            ktap.equal(twice(place, f"/{name}").body, b"file " + name.encode(), name)
    listing = ask(khttpd.V4, "/").body
    for name, there in ((b".git", False), (b"index.php", False), (b"a.php~", False),
                        (b"example.pl/", True), (b"a.php.txt", True)):
        ktap.equal(name in listing, there, f"{name} is listed")
    khttpd.ctl("stop", "--site", "default")
    khttpd.ctl("stop", "--site", "net6")


@ktap.test
def a_rule_serves_them():
    with open("/srv/rules", "w", encoding="ascii") as file:
        file.write("serve /.git/\nserve *.php\ndeny /a/\n")
    khttpd.serve(khttpd.V4, "--set", "rules=@/srv/rules")
    khttpd.serve(PLACE, "--set", "rules=@/srv/rules", site="net6")
    for place in (khttpd.V4, PLACE):
        for name in (".git/config", "index.php"):
            ktap.equal(twice(place, f"/{name}").body, b"file " + name.encode(), name)
        for name, status in ((".env", 404), ("a/.htpasswd", 403), ("cgi.pl", 404)):
            ktap.equal(twice(place, f"/{name}").status, status, name)


ktap.main(setup=setup)
