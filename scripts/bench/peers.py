# SPDX-License-Identifier: GPL-2.0
"""Web servers that khttpd is compared with, each as its own documentation has it fastest: one
process or thread, no log, connections that are kept. measuring.rst shows what is set and why."""
import functools
import os
import shutil

DIR = "/tmp/peers"
PLAIN, OFF, LIGHTTPD, H2O, HAPROXY, FLOOR = ("nginx", "nginx, sendfile off", "lighttpd", "h2o",
                                             "haproxy", "epoll floor")
# The port of each; of the floor's, which has one file each, by what is asked.
PORTS = {OFF: 8001, LIGHTTPD: 8002, H2O: 8003, HAPROXY: 8004}
FLOOR_PORTS = {1024: 8005, 65536: 8006}
FLOOR_CLOSES = 8007	# with 1 KB, and each connection ends
# Where haproxy has from what it caches: nginx.
BEHIND = "127.0.0.1:8010"
PROGRAMS = {OFF: "nginx", LIGHTTPD: "lighttpd", H2O: "h2o", HAPROXY: "haproxy"}

# A buffer for a whole file: one read, one writev.
OFF_CONF = """worker_processes 1;
daemon off;
user root;
pid {dir}/nginx-{name}.pid;
error_log {dir}/nginx-{name}.log;
events {{ worker_connections 1024; }}
http {{
	access_log off;
	sendfile off;
	output_buffers 1 128k;
	keepalive_requests 1000000000;
	keepalive_timeout 300;
	open_file_cache max=1000 inactive=300s;
	client_body_temp_path {dir}/{name}1; proxy_temp_path {dir}/{name}2;
	fastcgi_temp_path {dir}/{name}3; uwsgi_temp_path {dir}/{name}4; scgi_temp_path {dir}/{name}5;
	server {{ listen {url}:{port}; root /srv/www; }}
}}
"""

LIGHTTPD_CONF = """server.document-root = "/srv/www"
server.bind = "{url}"
server.port = {port}
server.errorlog = "{dir}/lighttpd-{name}.log"
server.event-handler = "linux-sysepoll"
server.network-backend = "sendfile"
server.stat-cache-engine = "inotify"
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 300
mimetype.assign = (".html" => "text/html")
"""

H2O_CONF = """user: root
num-threads: 1
pid-file: {dir}/h2o-{name}.pid
error-log: {dir}/h2o-{name}.log
http1-request-timeout: 300
http1-upgrade-to-http2: OFF
file.send-compressed: OFF
listen:
  host: "{address}"
  port: {port}
hosts:
  default:
    paths:
      "/":
        file.dir: /srv/www
"""

HAPROXY_CONF = """global
	nbthread 1
	tune.bufsize 131072
cache files
	total-max-size 64
	max-object-size 2000000
	max-age 86400
defaults
	mode http
	timeout connect 300s
	timeout server 300s
	timeout client 300s
	timeout http-request 300s
	timeout http-keep-alive 300s
frontend f
	bind {url}:{port}
	http-request cache-use files
	http-response cache-store files
	default_backend b
backend b
	server s {behind}
"""


def start(lab, urls):
    """Starts them on each of @urls (by stack), those that are there. Returns {server: what gives
    its port and its process, by stack, octets, and whether connections end}."""
    os.makedirs(DIR, exist_ok=True)
    found = {}
    for server in PORTS:
        if not shutil.which(PROGRAMS[server]):
            lab.lack(f"no {PROGRAMS[server]}")
            continue
        pids = {name: begin(lab, server, name, url) for name, url in urls.items()}
        found[server] = functools.partial(_usual, PORTS[server], pids)
    pids = {}
    for name, url in urls.items():
        for port, size, mode in (*((port, size, "serve-floor")
                                   for size, port in FLOOR_PORTS.items()),
                                 (FLOOR_CLOSES, 1024, "serve-floor-close")):
            pids[name, port] = lab.serve(mode, name, port, size=size).pid
    found[FLOOR] = functools.partial(_floor, pids)
    return found


def begin(lab, server, name, url):
    """Its process on a stack."""
    port = PORTS[server]
    # h2o wants an address without brackets.
    words = {"dir": DIR, "name": name, "url": url, "address": url.strip("[]"), "port": port,
             "behind": BEHIND}
    conf, command, mark = {
        OFF: (OFF_CONF, ("nginx", "-c"), "nginx"),
        LIGHTTPD: (LIGHTTPD_CONF, ("lighttpd", "-D", "-f"), "lighttpd"),
        H2O: (H2O_CONF, ("h2o", "-c"), "h2o"),
        HAPROXY: (HAPROXY_CONF, ("haproxy", "-db", "-f"), "haproxy"),
    }[server]
    path = f"{DIR}/{mark}-{name}.conf"
    with open(path, "w", encoding="ascii") as f:
        f.write(conf.format(**words))
    process = lab.background(*lab.wrap(name), *command, path)
    lab.wait_for(f"{server} on {name}", lambda: lab.listening(port))
    return process.pid


def _usual(port, pids, stack, _size, _ends):
    return port, pids[stack]


def _floor(pids, stack, size, ends):
    port = FLOOR_CLOSES if ends else FLOOR_PORTS[size]
    return port, pids[stack, port]
