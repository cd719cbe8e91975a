#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# More of what operators of other servers have reported, with nginx as the control: files of an
# overlay that are written by a mapping, a clock that is set back, a container's files by way of
# /proc, hosts as programs write them, listings as JSON; and a server whose listener is one of
# Multipath TCP, which is its own control.
#
#	[ client, khttpd and servers on lo ]
#
# guest: stock+
# timeout: 90
# pylint: disable=missing-function-docstring
import contextlib
import json
import mmap
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd      # pylint: disable=wrong-import-position
import khttpfiles  # pylint: disable=wrong-import-position
import ktap        # pylint: disable=wrong-import-position

GET = khttpd.get
PORTS = {"nginx": 8000, "khttpd": 8080}
ATTACHED = 8001
MULTI = 8090
IPPROTO_MPTCP = 262
NGINX = """
user {user}; daemon on; worker_processes 1; pid {dir}/pid; error_log {dir}/error;
events {{ worker_connections 64; }}
http {{
    access_log off; default_type application/octet-stream;
    client_body_temp_path {dir}/1; proxy_temp_path {dir}/2; fastcgi_temp_path {dir}/3;
    uwsgi_temp_path {dir}/4; scgi_temp_path {dir}/5;
    server {{
        listen 127.0.0.1:8000; listen 127.0.0.1:8001; root {root};
        location /list/ {{ autoindex on; autoindex_format json; }}
        location /dyn {{ return 200 "dyn"; }}
    }}
}}
"""


class Nginx(khttpd.Nginx):
    """Serves files of @root, on two ports."""

    def __init__(self, root, user):  # pylint: disable=super-init-not-called
        self.dir = f"/tmp/beside-{os.getpid()}"
        os.makedirs(self.dir, exist_ok=True)
        with open(f"{self.dir}/conf", "w", encoding="ascii") as file:
            file.write(NGINX.format(dir=self.dir, root=root, user=user))
        self.start()


@contextlib.contextmanager
def servers(root=khttpd.WWW, user="nobody nogroup"):
    nginx = Nginx(root, user)
    try:
        khttpd.ctl("serve", "--docroot", root, "--listen", f"127.0.0.1:{PORTS['khttpd']}",
                   "--set", "listing=1")
        yield nginx
    finally:
        khttpd.ctl("stop", "--all")
        nginx.kill(15)


def setup():
    khttpd.fresh()
    khttpd.write("a.txt", b"hello\n")
    khttpd.let_files_settle()


def ask(server, path, extra=""):
    return khttpd.exchange(khttpd.V4, GET(path, extra), PORTS[server])


def tag(server, path):
    """It is a strong one, at khttpd when what has changed has settled."""
    return ktap.wait_for(10, f"{server}: a strong tag", lambda: next(
        (found for found in [ask(server, path).fields["etag"]] if not found.startswith("W/")),
        None))


@ktap.test
def a_mapping_of_an_overlays_file_is_written():
    if not os.path.exists("/sbin/mkfs.minix") or subprocess.run(
            ["modprobe", "-q", "minix"], check=False).returncode:
        raise ktap.Skip("no minix file system")
    # It has no change counter.
    with khttpfiles.overlay("minix", "-3"), servers():
        path = f"{khttpd.WWW}/over/x"
        with open(path, "rb") as file:
            file.read()
        tags = {server: tag(server, "/over/x") for server in PORTS}
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 5) as pages:
            second = int(time.time())
            ktap.wait_for(10, "the next second", lambda: time.time() > second + 1)
            pages[:] = b"other"
            pages.flush()
            os.fsync(file.fileno())
            for server, old in tags.items():
                reply = ask(server, "/over/x", f"If-None-Match: {old}\r\n")
                ktap.equal((reply.status, reply.body), (200, b"other"), f"{server}: once written")


@ktap.test
def a_file_is_of_the_future():
    with khttpfiles.mounted("ram", "-t", "ramfs", "none"), servers():
        khttpd.write("ram/x", b"0123456789")
        with khttpfiles.clock_set_back(3600):
            for server in PORTS:
                found = tag(server, "/ram/x")
                reply = ask(server, "/ram/x", f"Range: bytes=3-\r\nIf-Range: {found}\r\n")
                ktap.equal((reply.status, reply.body), (206, b"3456789"), f"{server}: the rest")
                ktap.equal(ask(server, "/ram/x", f"If-None-Match: {found}\r\n").status, 304,
                           f"{server}: unchanged")


@ktap.test
def a_containers_files_by_way_of_proc():
    for name in ("one", "two"):
        khttpd.write(f"{name}/which", name.encode())
    khttpd.let_files_settle()
    mount = f"mount --bind {khttpd.WWW}/two {khttpd.WWW}/one; echo; exec sleep 1000"
    with subprocess.Popen(["unshare", "-m", "sh", "-c", mount],
                          stdout=subprocess.PIPE) as container:
        try:
            container.stdout.readline()
            # nginx goes there with each request: nobody might not.
            with servers(f"/proc/{container.pid}/root{khttpd.WWW}/one", user="root"):
                for server in PORTS:
                    ktap.equal(ask(server, "/which").body, b"two", f"{server}: the container's")
        finally:
            container.kill()


HOSTS = ("[fe80::1%eth0]", "[fe80::1%25eth0]:8080", "my_service:8080", "a.example.", "a%2eb", "A!b",
         "a:", "1.2.3.4:80", "a..b", "-a", "[::ffff:1.2.3.4]:80")


def by_host(port, path, host):
    data = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin-1")
    return khttpd.exchange(khttpd.V4, data, port).status


@ktap.test
def hosts_as_programs_write_them():
    with servers() as nginx:
        alone = {(path, host): by_host(PORTS["nginx"], path, host)
                 for path in ("/a.txt", "/dyn") for host in HOSTS}
        khttpd.ctl("attach", "--site", "front", "--pid", str(nginx.pid), "--port", str(ATTACHED),
                   "--docroot", khttpd.WWW)
        for (path, host), status in alone.items():
            ktap.equal(by_host(ATTACHED, path, host), status, f"{path} {host}")


def listing(server):
    """Its bytes: nginx says no length."""
    with khttpd.V4.connect(PORTS[server]) as sock:
        sock.sendall(GET("/list/", "Accept: application/json\r\n", version="1.0"))
        with sock.makefile("rb") as file:
            head, body = file.read().split(b"\r\n\r\n", 1)
    ktap.true(head.startswith(b"HTTP/1.1 200 ") and
              b"content-type: application/json\r\n" in head.lower() + b"\r\n", f"{head}")
    return body


@ktap.test
def listings_as_json():
    for name, data in (("list/b.txt", b"12345"), ("list/a dir/x", b""), ("list/q\"u\\o", b"x" * 70000),
                       ("list/\xe9.txt", b""), ("list/c/x", b""), ("list/Z", b"")):
        khttpd.write(name, data)
    os.utime(f"{khttpd.WWW}/list/b.txt", (0, 0))
    os.utime(f"{khttpd.WWW}/list/Z", (2_000_000_000, 2_000_000_000))
    for target, name in (("b.txt", "link"), ("c", "to c")):
        os.symlink(target, f"{khttpd.WWW}/list/{name}")
    os.mkfifo(f"{khttpd.WWW}/list/pipe")
    with servers():
        bodies = {server: listing(server) for server in PORTS}
        ktap.diag(bodies["khttpd"].decode())
        ktap.equal(json.loads(bodies["khttpd"]), json.loads(bodies["nginx"]), "the same")
        ktap.equal(bodies["khttpd"], bodies["nginx"], "byte for byte")
        # What leads nowhere or out is not served, and not listed.
        for target, name in (("none", "nowhere"), ("/etc/passwd", "out")):
            os.symlink(target, f"{khttpd.WWW}/list/{name}")
        names = [item["name"] for item in json.loads(listing("khttpd"))]
        ktap.true("link" in names and "out" not in names and "nowhere" not in names, f"{names}")


class Multi:
    """Answers with what it is asked for; its listener is one of MPTCP."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind(("127.0.0.1", MULTI))
        self.sock.listen(16)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            try:
                conn = self.sock.accept()[0]
            except ConnectionAbortedError:
                # It slept while khttpd went away.
                continue
            with conn:
                data = conn.recv(4096)
                if data == b"end":
                    return
                path = data.split()[1]
                body = b"hello\n" if path == b"/a.txt" else b"of the server " + path
                conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                             % len(body) + body)


@ktap.test
def a_server_that_listens_with_mptcp():
    server = Multi()
    try:
        def answers():
            return [khttpd.exchange(khttpd.V4, GET(path), MULTI).body
                    for path in ("/a.txt", "/dyn", "/a.txt")]

        alone = answers()
        before = khttpd.count("replies_file")
        khttpd.ctl("attach", "--pid", str(os.getpid()), "--port", str(MULTI), "--docroot",
                   khttpd.WWW)
        ktap.equal(answers(), alone, "the same")
        ktap.equal(khttpd.count("replies_file"), before + 2, "files are the kernel's")
    finally:
        khttpd.ctl("stop", "--all")
        with khttpd.V4.connect(MULTI) as sock:
            sock.sendall(b"end")
        server.thread.join()
        server.sock.close()


ktap.main(setup=setup)
