#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# khttpdctl import nginx: khttpd in front of an nginx answers as that nginx did alone, and what is
# static and public comes from the kernel.
#
#	[ client ] --- lo --- [ khttpd, nginx ]
#
# guest: stock+
# timeout: 90
# pylint: disable=missing-function-docstring
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

DIR = "/srv/import"
CONF = """
user nobody nogroup; pid {dir}/pid; error_log {dir}/errors; worker_processes 1;
events {{ worker_connections 64; }}
http {{
    include {dir}/types.conf; default_type application/octet-stream;
    access_log off; charset utf-8;
    client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3;
    uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
    include {dir}/sites/*.conf;
}}
"""
TYPES = """types { text/html html; text/css css; application/x-of-nginx js odd; image/png png;
    text/plain txt; }"""
SITES = {"a": r"""
server {
    listen 127.0.0.1:8090 default_server; listen 127.0.0.2:8090;
    root /srv/import/www; index index.php index.html;
    location / { try_files $uri $uri/ /index.php?$args; }
    location ~ \.php$ { return 200 "php $uri\n"; }
    location ~* \.(css|js)$ { expires 30d; }
    location /private/ { auth_basic "x"; auth_basic_user_file /srv/import/none; }
    location /inside/ { internal; }
    location = /exact { return 204; }
    location = /plain.txt { add_header X-Frame-Options DENY; }
    location = /varied.txt { add_header X-Of-Host $host; }
    location ^~ /assets/ { alias /srv/import/www/assets/; expires 1h;
        add_header X-Frame-Options "SAME, or so" always; add_header Access-Control-Allow-Origin *; }
    location /elsewhere/ { alias /srv/import/other/; }
    location ~ /\.ht { deny all; }
    location ^~ /immutable/ { add_header Cache-Control "max-age=60, immutable"; }
    location /old/ { rewrite ^/old/(.*)$ /$1 permanent; }
}
""", "b": r"""
server {
    listen 127.0.0.1:8090; listen 127.0.0.2:8090;
    server_name api.example *.api.example;
    location / { return 200 "api $host\n"; }
    location /files/ { root /srv/import/api; index index.html;
        add_header Cache-Control "max-age=60, immutable"; }
}
server {
    listen 127.0.0.1:8090; listen 127.0.0.2:8090; server_name *.w.example;
    root /srv/import/other;
}
server {
    listen 127.0.0.1:8090; listen 127.0.0.2:8090; server_name *.x.w.example .y.example y.example;
    location / { return 200 "longer\n"; }
}
server {
    listen 127.0.0.1:8090; server_name one.example;
    root /srv/import/other;
}
""", "c": r"""
server {
    listen 127.0.0.1:8091; server_name a.example;
    root /srv/import/www;
}
server {
    listen 127.0.0.1:8091; server_name ~^r\d+\.example$;
    location / { return 200 "by pattern\n"; }
}
"""}
FILES = {"www/index.html": "index", "www/a.html": "a", "www/a.css": "css", "www/b.CSS": "CSS",
         "www/b.js": "js", "www/x.odd": "odd", "www/x.php": "source", "www/private/a.html": "secret",
         "www/private/a.css": "public by the rules of nginx", "www/inside/a.html": "secret",
         "www/plain.txt": "plain", "www/varied.txt": "v", "www/assets/x.php": "an asset",
         "www/assets/a.css": "asset",
         "www/assets/a.png": "png", "www/.htpasswd": "secret", "www/.git/config": "secret",
         "www/immutable/a.css": "passed: *.css has Expires, too",
         "www/dir/index.html": "dir", "www/exact": "file", "www/old/a.html": "old",
         "other/a.html": "other", "other/b.html": "other b", "api/files/a.html": "file",
         "api/files/index.html": "index of files"}
# (port, host, path): does the kernel answer?
ASKED = {(8090, host, path): path in ("/a.html", "/a.css", "/b.CSS", "/b.js", "/x.odd",
                                      "/assets/a.css", "/assets/a.png", "/private/a.css",
                                      "/plain.txt")
         for host in ("x.example",)
         for path in ("/", "/a.html", "/a.css", "/b.CSS", "/b.js", "/x.odd", "/x.php", "/none",
                      "/private/a.html", "/private/a.css", "/inside/a.html", "/exact",
                      "/plain.txt", "/varied.txt", "/assets/x.php", "/assets/a.css", "/assets/a.png", "/assets/", "/immutable/a.css",
                      "/.htpasswd", "/.git/config", "/dir/", "/dir", "/old/a.html",
                      "/elsewhere/a.html", "/index.php", "/%61.html", "/dir/../a.html")}
ASKED.update({(8090, "x.example", "/%61.html"): True, (8090, "x.example", "/dir/../a.html"): True})
ASKED.update({(8090, host, path): path.startswith("/files/") for host in
              ("api.example", "v1.api.example", "API.example:8090")
              for path in ("/", "/a.html", "/files/a.html", "/files/")})
ASKED.update({(8090, host, "/a.html"): False for host in
              ("a.w.example", "a.x.w.example", "y.example", "a.y.example")})
ASKED.update({(8090, "one.example", "/b.html"): False, (8090, "one.example", "/a.html"): False,
              (8091, "r1.example", "/a.html"): False, (8091, "other.example", "/a.html"): False})


def setup():
    khttpd.fresh()
    for name, text in FILES.items():
        path = os.path.join(DIR, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text + "\n")
    os.makedirs(f"{DIR}/sites")
    for name, text in SITES.items():
        with open(f"{DIR}/sites/{name}.conf", "w", encoding="ascii") as file:
            file.write(text)
    with open(f"{DIR}/types.conf", "w", encoding="ascii") as file:
        file.write(TYPES)
    with open(f"{DIR}/conf", "w", encoding="ascii") as file:
        file.write(CONF.format(dir=DIR))
    ktap.at_exit(shutil.rmtree, DIR)
    found = glob.glob(f"{os.environ['NET6_PYTHON']}/crossplane*/crossplane")
    if not found:
        raise ktap.Skip("no crossplane: scripts/setup test")
    os.environ["PYTHONPATH"] = os.path.dirname(found[0])
    khttpd.let_files_settle()
    ktap.run("nginx", "-e", f"{DIR}/first", "-c", f"{DIR}/conf")
    pid = int(ktap.wait_for(10, "nginx has written its pid", lambda:
                            os.path.exists(f"{DIR}/pid") and open(f"{DIR}/pid").read().strip()))
    ktap.at_exit(lambda: (os.kill(pid, 15), ktap.wait_for(10, "nginx is gone",
                                                          lambda: khttpd.gone(pid))))


def ask(port, host, path):
    reply = khttpd.exchange(khttpd.V4, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode(),
                            port)
    seen = {name: reply.fields.get(name) for name in
            ("content-type", "cache-control", "location", "x-frame-options", "x-of-host",
             "access-control-allow-origin", "www-authenticate")}
    # A table of types has no room for the space.
    seen["content-type"] = (seen["content-type"] or "").replace("; ", ";")
    seen["expires"] = "expires" in reply.fields
    return (reply.status, reply.body, seen), reply.fields["server"] == "khttpd"


def imported(*words):
    command = [f"{khttpd.TOP}/tools/khttpdctl", "import", "nginx", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@ktap.test
def nginx_answers_as_before_and_does_less():
    before = {what: ask(*what) for what in ASKED}
    with open(f"{DIR}/dump", "w", encoding="ascii") as file:
        subprocess.run(["nginx", "-T", "-e", f"{DIR}/first", "-c", f"{DIR}/conf"], check=True,
                       stdout=file, stderr=subprocess.DEVNULL)
    status, _, errors = imported("-T", f"{DIR}/dump", "--output", f"{DIR}/khttpd.conf",
                                 "--types", f"{DIR}/types")
    ktap.equal((status, errors), (0, ""), "import")
    with open(f"{DIR}/khttpd.conf", encoding="ascii") as file:
        for line in file:
            ktap.diag(line.rstrip())
    khttpd.ctl("check", f"{DIR}/khttpd.conf")
    khttpd.ctl("load", f"{DIR}/khttpd.conf")
    try:
        for what, kernel in ASKED.items():
            for turn in ("first", "again"):
                after = ask(*what)
                ktap.equal(after[0], before[what][0], f"{what}, {turn}")
                ktap.equal(after[1], kernel, f"{what} by the kernel")
    finally:
        khttpd.ctl("stop", "--all")


@ktap.test
def from_the_files_themselves():
    one = imported(f"{DIR}/conf", "--types", f"{DIR}/types")
    with open(f"{DIR}/khttpd.conf", encoding="ascii") as file:
        # Only lines of the directives are counted otherwise.
        ktap.equal(re.sub(r", line \d+", "", one[1]), re.sub(r", line \d+", "", file.read()),
                   "as from nginx -T")


@ktap.test
def what_cannot_be_imported():
    ktap.equal(imported("-T", f"{DIR}/types.conf")[0], 1, "no output of nginx -T")
    ktap.equal(imported(f"{DIR}/absent")[0], 1, "no such file")
    ktap.equal(ktap.run(f"{khttpd.TOP}/tools/khttpdctl", "import", "apache", check=False)
               .startswith("khttpdctl: import whose"), True, "another server's")
    with open(f"{DIR}/dynamic.conf", "w", encoding="ascii") as file:
        file.write("http { server { location / { return 204; } } }")
    status, out, _ = imported(f"{DIR}/dynamic.conf")
    ktap.equal((status, "[site" in out), (1, False), "nothing to serve")


ktap.main(setup=setup)
