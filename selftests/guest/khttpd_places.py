#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a site's rules say beyond a file: other places (redirect, rewrite, fallback), added header
# fields, which clients are served. nginx with the same in its own words is asked the same.
#
#	[ clients, khttpd and nginx on lo; khttpd on net6 between two namespaces ]
#
# guest: stock+
# timeout: 120
# pylint: disable=missing-function-docstring
import contextlib
import errno
import os
import shutil
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
DIR = "/srv/places"
NGINX = 8090
GUARDED = 8091
CONF = """
user nobody nogroup; pid {dir}/pid; error_log {dir}/errors; worker_processes 1;
events {{ worker_connections 64; }}
http {{
    default_type application/octet-stream; access_log off;
    client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3;
    uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
    server {{
        listen 127.0.0.1:8090; root /srv/www;
        add_header X-Frame-Options DENY; add_header X-Of-Site "a; b";
        location = /moved {{ return 301 https://b.example/there; }}
        location = /query {{ return 307 https://b.example/q?x=1; }}
        location /old/ {{ rewrite ^/old/(.*)$ https://b.example/new/$1 redirect; }}
        location /gone/ {{ rewrite ^/gone/(.*)$ https://b.example/$1? permanent; }}
        location /v1/ {{ rewrite ^/v1/(.*)$ /v2/$1 break; }}
        location = /short {{ rewrite ^ /v2/a.txt break; }}
        location /app/ {{ try_files $uri $uri/ /app/index.html; }}
        location /docs/ {{ try_files $uri $uri.html =404; }}
        location ~ \\.woff2$ {{ add_header Access-Control-Allow-Origin *; }}
    }}
    server {{
        listen 127.0.0.1:8091; root /srv/www;
        allow 127.0.0.2; deny 127.0.0.0/8; deny all;
    }}
}}
"""
RULES = r"""
redirect 301 /moved https://b.example/there?
redirect 307 /query https://b.example/q?x=1
redirect 302 /old/ https://b.example/new/*
redirect 301 /gone/ https://b.example/*?
rewrite /v1/ /v2/*
rewrite /short /v2/a.txt
fallback /app/ /app/index.html
fallback /docs/ /docs/*.html
header *.woff2 Access-Control-Allow-Origin: *
header /v2/ X-Frame-Options: DENY
header /app/ X-Frame-Options: DENY
header /docs/ X-Frame-Options: DENY
header /v2/ X-Of-Site: a; b
header /app/ X-Of-Site: a; b
header /docs/ X-Of-Site: a; b
header /big.woff2 X-Long-One: LONG
""".replace("LONG", "x" * 200)
FILES = {"v2/a.txt": "a", "v2/dir/index.html": "index", "v1/b.txt": "not to be seen",
         "v2/b.txt": "b", "app/index.html": "app", "app/a.js": "js", "app/dir/x": "x",
         "docs/a.html": "a html", "docs/b": "b", "f.woff2": "font", "big.woff2": "big",
         "a.txt": "plain"}
ASKED = ("/moved", "/moved?q=1", "/moved/x", "/query?y", "/old/", "/old/x/y.html", "/old/x?q=1&r=2",
         "/old/a%20b%25c", "/old//evil.example", "/gone/x?q=1", "/gone/",
         "/v1/a.txt", "/v1/b.txt", "/v1/none", "/v1/dir/", "/short", "/v2/a.txt",
         "/app/", "/app/a.js", "/app/some/where", "/app/none.js", "/app/dir/", "/app/x/",
         "/docs/a", "/docs/b", "/docs/none", "/docs/x/", "/f.woff2", "/none")
SEEN = ("location", "x-frame-options", "x-of-site", "access-control-allow-origin", "content-length")
PLACE = khttpd.net6_later()


def nginx():
    with open(f"{DIR}/conf", "w", encoding="ascii") as file:
        file.write(CONF.format(dir=DIR))
    ktap.run("nginx", "-e", f"{DIR}/first", "-c", f"{DIR}/conf")
    pid = int(ktap.wait_for(10, "nginx has written its pid", lambda:
                            os.path.exists(f"{DIR}/pid") and open(f"{DIR}/pid").read().strip()))
    ktap.at_exit(lambda: (os.kill(pid, 15), ktap.wait_for(10, "nginx is gone",
                                                          lambda: khttpd.gone(pid))))


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    for name, text in FILES.items():
        khttpd.write(name, text.encode())
    os.makedirs(DIR)
    ktap.at_exit(shutil.rmtree, DIR)
    with open("/srv/rules", "w", encoding="ascii") as file:
        file.write(RULES)
    khttpd.serve(PLACE, "--set", "rules=@/srv/rules")
    khttpd.serve(khttpd.V4, "--set", "rules=@/srv/rules", site="lo")
    khttpd.let_files_settle()
    nginx()


def said(reply):
    """What nginx must say, too: its own text of an error or redirect is another one."""
    file = reply.status in (200, 206)
    seen = {name: reply.fields.get(name) for name in SEEN if file or name != "content-length"}
    if not file:
        # nginx adds fields to redirects; here they are for files.
        seen = {"location": seen["location"]}
    return reply.status, reply.body if file else None, seen


@ktap.test
def as_nginx_does():
    for path in ASKED:
        should = said(khttpd.exchange(khttpd.V4, GET(path), NGINX))
        ktap.diag(f"{path}: {should[0]} {should[2]['location'] or ''}")
        for place in (khttpd.V4, PLACE):
            for turn in range(3):
                ktap.equal(said(khttpd.exchange(place, GET(path))), should,
                           f"{place.name} {path} {turn}")


@ktap.test
def a_client_writes_no_field():
    """nginx's "." matches no newline: it answers 404."""
    for place in (khttpd.V4, PLACE):
        reply = khttpd.exchange(place, GET("/old/a%0d%0aX:%20y"))
        ktap.equal((reply.status, reply.fields["location"], "x" in reply.fields),
                   (302, "https://b.example/new/a%0D%0AX:%20y", False), place.name)
        for number, status in ((6, 302), (7, 414)):
            path = "/old/" + ("%20" * 100 + "/") * number
            ktap.equal(khttpd.exchange(place, GET(path)).status, status, "a long one")


@ktap.test
def on_one_connection():
    want = [khttpd.exchange(khttpd.V4, GET(path), NGINX).status for path in ASKED]
    for place in (khttpd.V4, PLACE):
        with place.connect() as sock:
            reader = khttpd.Reader(sock)
            for turn in range(3):
                for path, status in zip(ASKED, want):
                    sock.sendall(GET(path) * 2)
                    for _ in range(2):
                        ktap.equal(reader.reply().status, status, f"{place.name} {path} {turn}")
            sock.sendall(b"".join(map(GET, ASKED)))
            ktap.equal([reader.reply().status for _ in ASKED], want, f"{place.name} pipelined")


@ktap.test
def fields_go_with_a_file_only():
    for place in (khttpd.V4, PLACE):
        for turn in range(2):
            for path, long in (("/f.woff2", None), ("/big.woff2", "x" * 200)):
                reply = khttpd.exchange(place, GET(path))
                tag = reply.fields["etag"]
                for status, line in ((200, ""), (304, f"If-None-Match: {tag}\r\n"),
                                     (206, "Range: bytes=0-0\r\n"),
                                     (206, "Range: bytes=0-0,2-2\r\n")):
                    reply = khttpd.exchange(place, GET(path, line))
                    what = f"{place.name} {path} {status} {turn}"
                    ktap.equal(reply.status, status, what)
                    ktap.equal(reply.fields.get("access-control-allow-origin"), "*", what)
                    ktap.equal(reply.fields.get("x-long-one"), long, what)
                    if path == "/f.woff2" and "," not in line:
                        of = khttpd.exchange(khttpd.V4, GET(path), NGINX).fields["etag"]
                        reply = khttpd.exchange(khttpd.V4, GET(path, line.replace(tag, of)), NGINX)
                        ktap.equal((reply.status, reply.fields["access-control-allow-origin"]),
                                   (status, "*"), f"nginx {status}")
            reply = khttpd.exchange(place, GET("/f.woff2", 'If-Match: "x"\r\n'))
            ktap.equal((reply.status, "access-control-allow-origin" in reply.fields),
                       (412, False), "an error")
        reply = khttpd.exchange(place, GET("/f.woff2", "Origin: https://b.example\r\n"
                                           "Access-Control-Request-Method: GET\r\n", "OPTIONS"))
        ktap.equal((reply.status, reply.fields["access-control-allow-origin"]), (204, "*"),
                   "what a browser asks before")
        reply = khttpd.exchange(place, GET("/a.txt", method="OPTIONS"))
        ktap.true("access-control-allow-origin" not in reply.fields, "of another path")
        reply = khttpd.exchange(place, b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
        ktap.equal((reply.status, len(reply.body)), (204, 0), "of all paths")


@ktap.test
def what_is_there_comes_first_again():
    """Nothing remembers that a file stood in for another one."""
    for place in (khttpd.V4, PLACE):
        with place.connect() as sock:
            reader = khttpd.Reader(sock)

            def body(path):
                sock.sendall(GET(path))  # pylint: disable=cell-var-from-loop
                return reader.reply().body  # pylint: disable=cell-var-from-loop

            for _ in range(6):
                ktap.equal(body("/app/new"), b"app", "stands in")
            khttpd.write("app/new", b"new")
            for _ in range(6):
                ktap.equal(body("/app/new"), b"new", "it is there")
            os.unlink(f"{khttpd.WWW}/app/new")
            for _ in range(6):
                ktap.equal(body("/app/new"), b"app", "it is gone")
            os.rename(f"{khttpd.WWW}/app/index.html", f"{khttpd.WWW}/app/x")
            sock.sendall(GET("/app/new") * 3)
            ktap.equal([reader.reply().status for _ in range(3)], [404] * 3, "nor is the other")
            os.rename(f"{khttpd.WWW}/app/x", f"{khttpd.WWW}/app/index.html")
            ktap.equal(body("/app/new"), b"app", "both again")


@ktap.test
def in_front_of_a_server():
    """Only what is left is the server's, with the bytes that the client sent."""
    for place, site in ((PLACE, "default"), (khttpd.V4, "lo")):
        with place.server or contextlib.nullcontext():
            khttpd.ctl("serve", "--site", f"front-{site}", "--docroot", khttpd.WWW, "--listen",
                       "127.0.0.1:8093", "--set", "rules=@/srv/rules")
        with khttpd.Server(place, 8092, f"front-{site}", docroot=None) as server:
            for turn in range(3):
                for path, status in (("/moved", 301), ("/old/x", 302), ("/v1/a.txt", 200),
                                     ("/app/no", 200), ("/f.woff2", 200)):
                    ktap.equal(khttpd.exchange(place, GET(path), 8092).status, status,
                               f"{place.name} {path} {turn}")
                for head in (GET("/v1/none"), GET("/docs/none"), GET("/app/dir/"),
                             GET("/moved", method="DELETE"), GET("/none")):
                    with place.connect(8092) as sock:
                        sock.sendall(GET("/v1/b.txt") + head)
                        ktap.equal(khttpd.Reader(sock).reply().body, b"b", "the one before")
                        with server.accept() as conn:
                            ktap.equal(ktap.take(conn, len(head)), head, f"{place.name} {turn}")


def from_address(place, address, head, port=8080):
    """As khttpd.exchange(), by a client of that address."""
    with contextlib.closing(place.socket()) as sock:
        sock.settimeout(khttpd.TIMEOUT)
        sock.bind((address, 0) if place.family == socket.AF_INET else (address, 0, 0, 0))
        with contextlib.nullcontext() if place.client else khttpd.settled():
            sock.connect((place.address, port))
        sock.sendall(head)
        return khttpd.Reader(sock).reply()


@ktap.test
def clients_by_address():
    khttpd.net6ctl(PLACE.client, "add", "address", "fd02::3/64", "dev", "c0")
    ktap.wait_for(15, "fd02::3 is preferred",
                  lambda: khttpd.net6_preferred(PLACE.client, "c0", "fd02::3"))
    heads = (GET("/a.txt"), GET("/none"), GET("/a.txt", method="POST"),
             GET("/a.txt", "Content-Length: 1\r\n", "PUT") + b"x")
    for place, good, bad, rules in (
            (khttpd.V4, "127.0.0.2", "127.0.0.1", "allow 127.0.0.2\nblock 127.0.0.0/8\nblock all"),
            (PLACE, "fd02::3", "fd02::2", "allow fd02::3\nblock fd02::/16\n")):
        site = f"guard-{place.name}"
        with place.server or contextlib.nullcontext():
            khttpd.ctl("serve", "--site", site, "--docroot", khttpd.WWW, "--listen",
                       place.listen.replace("8080", str(8094)), "--set", f"rules={rules}")
        refused = khttpd.count("access_refused")
        for turn in range(3):
            # The same head of both, so that what is remembered of it is not the answer.
            for address, status in ((good, 200), (bad, 403)) * 2:
                ktap.equal(from_address(place, address, heads[0], 8094).status, status,
                           f"{address} {turn}")
            for head in heads[1:]:
                ktap.equal(from_address(place, bad, head, 8094).status, 403, f"{head[:20]}")
        ktap.equal(khttpd.count("access_refused"), refused + 15, "counted once each")
        with khttpd.Server(place, 8095, site, docroot=None) as server:
            for head in heads:
                ktap.equal(from_address(place, bad, head, 8095).status, 403,
                           f"{place.name}, a server's: {head[:20]}")
            ktap.equal(from_address(place, bad, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 8095).status,
                       400, "another protocol")
            ktap.equal(from_address(place, good, heads[0], 8095).status, 200, "of the kernel")
            with contextlib.closing(place.socket()) as sock:
                sock.bind((good, 0))
                sock.connect((place.address, 8095))
                sock.sendall(heads[1])
                with server.accept() as conn:
                    ktap.equal(ktap.take(conn, len(heads[1])), heads[1], "the server's")
    for address, status in (("127.0.0.2", 200), ("127.0.0.1", 403)):
        ktap.equal(from_address(khttpd.V4, address, heads[0], GUARDED).status, status, "nginx")


@contextlib.contextmanager
def behind(front, number, rules=""):
    """A virtual host."""
    site = f"behind-{number}"
    khttpd.ctl("serve", "--site", site, "--docroot", khttpd.WWW, "--set", f"behind={front}",
               "--set", f"names=h{number}.example", *(("--set", f"rules={rules}") if rules else ()))
    try:
        yield site
    finally:
        khttpd.ctl("stop", "--site", site)


def to_host(number, method="POST"):
    return f"{method} /a.txt HTTP/1.1\r\nHost: h{number}.example\r\n\r\n".encode()


def reaches(place, server, head):
    with place.connect(8096) as sock:
        sock.sendall(head)
        with server.accept() as conn:
            ktap.equal(ktap.take(conn, len(head)), head, f"{place.name}: the server's")


@ktap.test
def a_virtual_host_of_which_some_are_blocked():
    """What is the server's at once is not, as long as one of the sites blocks clients: few names
    and many, a site that comes, changes its rules and goes.
    """
    for place, net in ((khttpd.V4, "127.0.0.0/8"), (PLACE, "fd02::/16")):
        for many in (0, 8):
            with contextlib.ExitStack() as stack, khttpd.Server(place, 8096, "front") as server:
                for number in range(10, 10 + many):
                    stack.enter_context(behind("front", number))
                reaches(place, server, to_host(1))
                with behind("front", 1, f"block {net}") as site:
                    for head in (to_host(1), to_host(1, "GET")):
                        ktap.equal(khttpd.exchange(place, head, 8096).status, 403,
                                   f"{place.name} {many} {head[:4]}")
                    reaches(place, server, to_host(2))
                    for rules, status in (("pass /x/", None), (f"block {net}", 403)):
                        for name, value in (("rules", rules), ("enabled", "1")):
                            with open(f"{khttpd.CONFIG}/{site}/{name}", "w",
                                      encoding="ascii") as file:
                                file.write(value)
                        if status:
                            ktap.equal(khttpd.exchange(place, to_host(1), 8096).status, status,
                                       f"{place.name} {many}: changed")
                        else:
                            reaches(place, server, to_host(1))
                reaches(place, server, to_host(1))


@ktap.test
def what_is_no_rule_is_refused():
    for rule in ("redirect 301 /a //b", "rewrite /a /b/../c", "block 1.2.3", "header /a Date: x",
                 "fallback / /b/"):
        file = os.open(f"{khttpd.CONFIG}/lo/rules", os.O_WRONLY)
        try:
            ktap.raises(errno.EINVAL, os.write, file, rule.encode())
        finally:
            os.close(file)


ktap.main(setup)
