# SPDX-License-Identifier: GPL-2.0
"""Branten 2005: web servers in and out of the kernel under httperf, by link and by load."""
import os
import re
import shutil
import time

from lab import Failed

TITLE = "Web servers under load"
PAPER = "Brantén, kernel web servers, thesis, 2005"
NEEDS = ["httperf", "wrk", "nginx", "lighttpd", "curl"]

# Server: stack, port, page. Handed over: khttpd is in front, nginx makes the page.
SERVERS = {
    "nginx": ("ipv4", 8000, "/1k.html"),
    "lighttpd": ("ipv4", 8001, "/1k.html"),
    "khttpd": ("ipv4", 8080, "/1k.html"),
    "khttpd on net6": ("net6", 8080, "/1k.html"),
    "handed over": ("ipv4", 80, "/dynamic"),
    "handed over on net6": ("net6", 80, "/dynamic"),
}
# Offered connections per second, a request each, up to and over what fits.
LINKS = {
    "10 Mb/s": ("10mbit", [200, 400, 600, 1000]),
    "100 Mb/s": ("100mbit", [1000, 3000, 5000]),
    "1000 Mb/s": ("1000mbit", [1000, 3000, 5000]),
    "unlimited": (None, [1000, 2000, 3000, 4000, 6000, 8000]),
}
# From so many on what is answered differs from one run to the next: more runs, and longer ones,
# most with the most. In half a second nginx and lighttpd are in one of two states then, a twentieth
# apart; in a second half of that is left.
ROUNDS = ((8000, 16), (4000, 10), (3000, 6), (0, 2))
SECONDS = ((4000, 1), (0, 0.5))
# Connections of the runs before wait for their end no longer: their ports are free again, and
# their end does not fall into the next run.
TIME_WAIT = 61
QUICK = {"unlimited": (None, [1000, 4000])}
# Files by size, one connection after the other: how many.
SIZES = {64: 400, 1024: 400, 4096: 300, 16384: 200, 65536: 100, 262144: 40, 1048576: 20}
SIZE_ROUNDS = 4
QUICK_SIZES = {1024: 200, 65536: 50}
FILES = [name for name, (_, _, page) in SERVERS.items() if page != "/dynamic"]
# Kept connections, and how many runs.
CONCURRENCY = {1: 2, 4: 2, 16: 2, 64: 2}
QUICK_CONCURRENCY = {4: 1}
URL = {"ipv4": "10.1.0.2", "net6": "[fd00:2::2]"}


def run(lab):
    links = QUICK if lab.quick else LINKS
    sizes = QUICK_SIZES if lab.quick else SIZES
    concurrency = QUICK_CONCURRENCY if lab.quick else CONCURRENCY
    rounds = lambda load: 1 if lab.quick else by_load(ROUNDS, load)
    size_rounds = 1 if lab.quick else SIZE_ROUNDS
    lab.network()
    # httperf's own choice of ports (--hog) asks the kernel for every one in turn, those in
    # TIME-WAIT too: that would cost more than the connection.
    lab.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=1024 65535", ns="client")
    servers = start_servers(lab)
    for tool, what in (("httperf", "sweeps"), ("wrk", "kept connections")):
        if not shutil.which(tool):
            lab.lack(f"{what}: no {tool} on this machine")
    links, sizes = (links, sizes) if shutil.which("httperf") else ({}, {})
    concurrency = concurrency if shutil.which("wrk") else {}
    files = [name for name in FILES if name in servers]
    lab.plan(len(servers) * (sum(rounds(load) for _, loads in links.values() for load in loads)
                             + sum(concurrency.values())) + size_rounds * len(sizes) * len(files))
    for link, (rate, loads) in links.items():
        lab.shape(rate)
        for load in loads:
            time.sleep(TIME_WAIT)
            for name in rounds(load) * list(servers):
                lab.step(f"{link}, {load}/s, {name}")
                with lab.attempt(f"httperf, {name}, {load}/s at {link}"):
                    sweep(lab, link, load, name)
    lab.shape(None)
    time.sleep(TIME_WAIT)
    for size, count in sizes.items():
        for name in size_rounds * files:
            lab.step(f"{size} B, {name}")
            with lab.attempt(f"httperf, {name}, {size} B"):
                by_size(lab, size, count, name)
    for clients, count in concurrency.items():
        for name in count * list(servers):
            lab.step(f"{clients} connections, {name}")
            with lab.attempt(f"wrk, {name}, {clients} connections"):
                warm(lab, name)
                stack, port, page = SERVERS[name]
                out = lab.run(*lab.wrap(stack), "wrk", "-t1", f"-c{clients}", "-d1",
                              f"http://{URL[stack]}:{port}{page}", ns="client")
                if re.search("Non-2xx|Socket errors", out):
                    lab.lack(f"wrk, {name}, {clients} connections: errors")
                lab.row("concurrency", {"connections": clients}, name, "requests/s",
                        float(re.search(r"Requests/sec:\s*([\d.]+)", out)[1]))


def httperf(lab, name, page, *options):
    """What one run of it says."""
    stack, port, _ = SERVERS[name]
    return lab.run(*lab.wrap(stack, "-m", "10.1.0.2=fd00:2::2"), "httperf", "--server", "10.1.0.2",
                   "--port", port, "--uri", page, *options, ns="client", timeout=3600)


def number(out, pattern):
    match = re.search(pattern, out)
    if not match:
        raise ValueError(f"httperf says: {out.strip()[:200]}")
    return float(match[1])


REPLIES = r"Total: connections \d+ requests \d+ replies (\d+)"
DURATION = r"test-duration ([\d.]+)"
RATE = r"Connection rate: ([\d.]+) conn/s"
NET_IO = r"Net I/O: ([\d.]+) KB/s"
ERRORS = r"Errors: total (\d+)"


def by_load(table, load):
    return next(value for least, value in table if load >= least)


def sweep(lab, link, load, name):
    """Connections at the offered rate for a while."""
    out = httperf(lab, name, SERVERS[name][2], "--rate", load, "--num-conns",
                  int(load * by_load(SECONDS, load)), "--timeout", 2)
    case = {"link": link, "offered": load}
    lab.row("reply", case, name, "replies/s", number(out, REPLIES) / number(out, DURATION))
    lab.row("io", case, name, "KB/s", number(out, NET_IO))
    lab.row("response", case, name, "ms", number(out, r"Reply time \[ms\]: response ([\d.]+)"))
    lab.row("concurrent", case, name, "connections",
            number(out, r"<=(\d+) concurrent connections"))
    lab.row("errors", case, name, "errors", number(out, ERRORS))


def by_size(lab, size, count, name):
    """One connection after the other, a file each, as fast as they go."""
    page = f"/{size}.html"
    httperf(lab, name, page, "--num-conns", 5)	# the file is in caches then
    out = httperf(lab, name, page, "--num-conns", count)
    if number(out, ERRORS) or number(out, REPLIES) != count:
        raise ValueError(f"httperf says: {out.strip()[:200]}")
    lab.row("filerate", {"bytes": size}, name, "connections/s", number(out, RATE))
    lab.row("fileio", {"bytes": size}, name, "KB/s", number(out, NET_IO))


LIGHTTPD = """server.document-root = "/srv/www"
server.port = 8001
server.bind = "10.1.0.2"
server.max-keep-alive-requests = 1000000000
server.max-connections = 2048
server.max-fds = 4096
mimetype.assign = ( ".html" => "text/html" )
"""


def start_servers(lab):
    """Every server that is there; one that is not is lacking."""
    lab.khttpd()
    os.makedirs("/srv/www", exist_ok=True)
    for path in ("/var/lib/nginx", "/var/log/nginx"):
        try:
            os.makedirs(path, exist_ok=True)
        except OSError:
            pass
    with open("/srv/www/1k.html", "w") as f:
        f.write("0123456789abcdef" * 64)
    for size in SIZES:
        with open(f"/srv/www/{size}.html", "w") as f:
            f.write("x" * size)
    servers = list(SERVERS)
    lab.run(lab.tool["khttpdctl"], "serve", "--site", "files", "--docroot", "/srv/www",
            "--listen", "10.1.0.2:8080", "--listen", "[fd00:2::2]:8080,net6", ns="server")
    if not shutil.which("curl"):
        raise Failed("no curl on this machine, which asks whether servers answer")
    if shutil.which("nginx"):
        for name, listen, prefix in (("native", "listen 10.1.0.2:8000; listen 10.1.0.2:80;", []),
                                     ("net6", "listen [fd00:2::2]:80;", lab.wrap("net6"))):
            conf = lab.lib(f"write_nginx_conf {name} '{listen}' '{'x' * 1023}'")
            with open(f"/tmp/nginx-{name}.conf", "w") as f:
                f.write(conf)
            lab.background(*prefix, "nginx", "-c", f"/tmp/nginx-{name}.conf")
    if shutil.which("lighttpd"):
        with open("/tmp/lighttpd.conf", "w") as f:
            f.write(LIGHTTPD)
        lab.background("lighttpd", "-D", "-f", "/tmp/lighttpd.conf")
    for name in list(servers):
        stack, port, page = SERVERS[name]
        program = "nginx" if name.startswith("handed") else name.split()[0]
        if program != "khttpd" and not shutil.which(program):
            lab.lack(f"{name}: no {program} on this machine")
            servers.remove(name)
            continue
        servers.remove(name)
        with lab.attempt(name):
            lab.wait_for(name, lambda name=name: answers(lab, name))
            if name.startswith("handed"):
                which = "net6" if stack == "net6" else "native"
                with open(f"/tmp/nginx-{which}.pid") as f:
                    lab.run(lab.tool["khttpdctl"], "attach", "--pid", f.read().strip(), "--port",
                            80, "--docroot", "/srv/www", "--site", f"front-{which}", ns="server")
            servers.append(name)
    return servers


def warm(lab, name):
    """The page is in khttpd's cache: a connection whose first request meets one that is not is a
    thread's for five, which cost more."""
    for _ in range(4):
        lab.wait_for(name, lambda: answers(lab, name))
        time.sleep(0.02)


def answers(lab, name):
    """It serves its page, of the right size."""
    stack, port, page = SERVERS[name]
    out = lab.run(*lab.wrap(stack), "curl", "-gsS", "-w", "%{http_code} %{size_download}", "-o",
                  "/dev/null", f"http://{URL[stack]}:{port}{page}", ns="client", check=False)
    return out.split() == ["200", "1024"]


NOTE = ("httperf knows IPv4 only: all columns are native IPv4 but those that name net6, to which "
        "net6-run maps its address. nginx and khttpd on native IPv6 are in the experiment servers.")
NOT_FOUND = {"text": "its figures were not found."}
FIGURES = [
    {"figure": "reply", "title": "Replies by offered load, a connection each", "kind": "lines",
     "x": "offered", "xlabel": "connections offered per second", "split": ["link"],
     "more_is_better": True, "open": True, "paper": NOT_FOUND},
    {"figure": "io", "title": "Throughput by offered load", "kind": "lines", "x": "offered",
     "xlabel": "connections offered per second", "split": ["link"], "more_is_better": True,
     "paper": NOT_FOUND},
    {"figure": "response", "title": "Response time by offered load", "kind": "lines",
     "x": "offered", "xlabel": "connections offered per second", "split": ["link"],
     "paper": NOT_FOUND},
    {"figure": "concurrent", "title": "Connections open at once by offered load", "kind": "lines",
     "x": "offered", "xlabel": "connections offered per second", "split": ["link"],
     "paper": NOT_FOUND},
    {"figure": "filerate", "title": "Connections by file size, one after the other",
     "kind": "lines", "x": "bytes", "log": True, "more_is_better": True, "open": True,
     "paper": NOT_FOUND},
    {"figure": "fileio", "title": "Throughput by file size", "kind": "lines", "x": "bytes",
     "log": True, "more_is_better": True, "paper": NOT_FOUND},
    {"figure": "concurrency", "title": "Requests on kept connections, by their number",
     "kind": "lines", "x": "connections", "more_is_better": True, "open": True,
     "paper": NOT_FOUND},
]
TABLES = {"errors": {"title": "Overload: connections that failed", "paper": NOT_FOUND}}
