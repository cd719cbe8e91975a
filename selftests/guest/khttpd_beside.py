#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What operators of other servers have reported as bugs, on khttpd and on nginx as the control: a
# document root that is switched, tags that change by looking, how long an idle client and one that
# takes nothing are waited for, a file that is cut while it is sent, types by extension.
#
#	[ client, khttpd and nginx on lo ]
#
# guest: stock+
# guest-options: --virtual-time
# timeout: 90
# pylint: disable=missing-function-docstring
import os
import re
import shutil
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
ROOT = "/srv/beside"
TYPES = "/etc/nginx/mime.types"
NGINX = """
user nobody nogroup; daemon on; worker_processes 1; pid {dir}/pid; error_log {dir}/error;
events {{ worker_connections 64; }}
http {{
    access_log off; include {types}; sendfile on;
    client_body_temp_path {dir}/1; proxy_temp_path {dir}/2; fastcgi_temp_path {dir}/3;
    uwsgi_temp_path {dir}/4; scgi_temp_path {dir}/5;
    server {{ listen 127.0.0.1:{port}; root {root}/current; }}
}}
"""
PORTS = {"nginx": 8000, "khttpd": 8080}


class Nginx(khttpd.Nginx):
    """With its own time-outs and types."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.dir = f"{ROOT}/nginx"
        os.makedirs(self.dir)
        with open(f"{self.dir}/conf", "w", encoding="ascii") as file:
            file.write(NGINX.format(dir=self.dir, types=TYPES, root=ROOT, port=PORTS["nginx"]))
        self.start()
        ktap.at_exit(self.kill)


def release(name, **files):
    os.makedirs(f"{ROOT}/{name}", exist_ok=True)
    for file, data in files.items():
        write(f"{name}/{file}", data)


def write(path, data):
    with open(f"{ROOT}/{path}", "wb") as file:
        file.write(data)


def switch(target):
    os.symlink(target, f"{ROOT}/new")
    os.rename(f"{ROOT}/new", f"{ROOT}/current")


def setup():
    khttpd.fresh()
    shutil.rmtree(ROOT, ignore_errors=True)
    release("one", which=b"one", big=os.urandom(1 << 20) * 8)
    release("two", which=b"two")
    switch("one")
    khttpd.let_files_settle()
    Nginx()
    khttpd.ctl("serve", "--docroot", f"{ROOT}/current", "--listen",
               f"127.0.0.1:{PORTS['khttpd']}")


def ask(server, path, extra=""):
    return khttpd.exchange(khttpd.V4, GET(path, extra), PORTS[server])


def both(path):
    """Replies by server."""
    return {server: ask(server, path) for server in PORTS}


@ktap.test
def a_release_is_switched():
    for target, wanted in (("two", b"two"), ("one", b"one")):
        switch(target)
        for server in PORTS:
            # nginx notices at once; khttpd 50 ms after the change.
            ktap.wait_for(2, f"{server} serves {target}",
                          lambda s=server, w=wanted: ask(s, "/which").body == w)
    os.rename(f"{ROOT}/one", f"{ROOT}/old")
    try:
        release("one", which=b"anew")
        for server in PORTS:
            ktap.wait_for(2, f"{server} serves what was made anew",
                          lambda s=server: ask(s, "/which").body == b"anew")
    finally:
        shutil.rmtree(f"{ROOT}/one")
        os.rename(f"{ROOT}/old", f"{ROOT}/one")
    for server in PORTS:
        ktap.wait_for(2, f"{server} is back", lambda s=server: ask(s, "/which").body == b"one")


@ktap.test
def a_tag_stays_when_nothing_was_written():
    path = f"{ROOT}/one/tagged"
    write("one/tagged", b"content")
    khttpd.let_files_settle()
    before = both("/tagged")
    os.chmod(path, 0o644)
    with open(path, "rb") as file:
        file.read()
    os.link(path, f"{ROOT}/one/other")
    shutil.copy2(path, f"{ROOT}/one/copy")
    # Until what has changed settles, khttpd's are weak.
    khttpd.let_files_settle()
    for what in ("/tagged", "/other", "/copy"):
        for server, reply in both(what).items():
            ktap.equal(reply.fields["etag"], before[server].fields["etag"], f"{server}: {what}")
    khttpd.let_files_settle()
    write("one/tagged", b"another")
    for server, reply in both("/tagged").items():
        ktap.equal(reply.body, b"another", f"{server}: what was written")
        if server == "khttpd":
            # nginx's has the time in seconds: the same second, the same length, the same tag.
            ktap.true(reply.fields["etag"] != before[server].fields["etag"], "another tag")


def ended_after(server, data=GET("/which")):
    """Seconds until a client that says nothing more is let go."""
    with khttpd.V4.connect(PORTS[server], 200) as sock:
        sock.sendall(data)
        reader = khttpd.Reader(sock)
        ktap.equal(reader.reply().status, 200, f"{server}: a reply")
        begin = time.monotonic()
        reader.closed()
        return time.monotonic() - begin


@ktap.test
def an_idle_client_has_more_than_a_minute():
    for server in PORTS:
        seconds = ended_after(server)
        ktap.diag(f"{server}: {seconds:.1f} s")
        ktap.true(74 < seconds < 76, f"{server} waits for 75 s")


def slow(server, then, pause):
    """A client of a large file that reads some, then pauses. Return: announced, received, end."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        sock.settimeout(100)
        sock.connect(("127.0.0.1", PORTS[server]))
        sock.sendall(GET("/big"))
        data = b""
        while b"\r\n\r\n" not in data:
            data += sock.recv(1000)
        head, data = data.split(b"\r\n\r\n", 1)
        announced = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
        then()
        time.sleep(pause)
        received, end = len(data), "in order"
        try:
            while received < announced:
                more = len(sock.recv(1 << 20))
                if not more:
                    break
                received += more
        except ConnectionResetError:
            end = "reset"
        return announced, received, end


@ktap.test
def who_takes_nothing_for_40_s_gets_it_all():
    for server in PORTS:
        announced, received, _ = slow(server, lambda: None, 40)
        ktap.equal((announced, received), (8 << 20, 8 << 20), server)


@ktap.test
def a_file_that_is_cut_while_it_is_sent():
    """What is there is sent, and the connection ends in order; the length says what is missing."""
    path = f"{ROOT}/one/big"
    with open(path, "rb") as file:
        whole = file.read()
    for server in PORTS:
        write("one/big", whole)
        khttpd.let_files_settle()
        announced, received, end = slow(server, lambda: os.truncate(path, 6 << 20), 1)
        ktap.diag(f"{server}: {received} of {announced}, {end}")
        ktap.equal((announced, end), (8 << 20, "in order"), server)
        ktap.equal(received, 6 << 20, f"{server}: what is there")


@ktap.test
def every_type_of_nginxs_is_known():
    """Some differ by taste; none that nginx knows is unknown here."""
    with open(TYPES, encoding="ascii") as file:
        extensions = {word for line in file if "/" in line.split(";")[0].split(" ")[0] or
                      re.match(r"\s+[\w.+-]+/", line)
                      for word in line.strip().rstrip(";").split()[1:]}
    ktap.true(len(extensions) > 90, f"{len(extensions)} extensions")
    unknown, other = [], []
    for extension in sorted(extensions):
        name = f"x.{extension}"
        write(f"one/{name}", b"x")
        kinds = {server: reply.fields["content-type"].split(";")[0]
                 for server, reply in both("/" + name).items()}
        if kinds["khttpd"] == kinds["nginx"]:
            continue
        (unknown if kinds["khttpd"] == "application/octet-stream" else other).append(extension)
    ktap.diag(f"of {len(extensions)} extensions another type: {' '.join(other)}")
    ktap.equal(unknown, [], "unknown extensions")


ktap.main(setup=setup)
