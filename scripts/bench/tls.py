# SPDX-License-Identifier: GPL-2.0
"""HTTPS: what a kept request and a full handshake cost web servers, the server's side told apart
from the client's. TLS 1.3 with AES-128-GCM, a certificate of P-256, native IPv6. No paper's; run by
name only."""
import os
import shutil
import time

import sides
from servers import begun, by_part
from sides import (CLIENT, OTHER, SERVER, TASK, code_of, kernel_ranges, tag_packets)
from xie1999 import Symbols, dumps

TITLE = "HTTPS"
PAPER = "none: web servers are compared with each other"
NEEDS = ["wrk", "nginx", "lighttpd", "h2o", "haproxy", "openssl", "curl", "count.so"]
COUNTED = True		# this guest runs under the counting plugin

ADDRESS, SUITE, DIR = "fd00:1::2", "TLS_AES_128_GCM_SHA256", "/tmp/tls"
# Milliseconds counted, of a processor that does 500 million instructions a second.
KEPT = {1024: 150, 65536: 300, 1048576: 900}
HANDSHAKES = 1500
# In front of each kernel function at which a request begins: wrk writes each with one call, and
# s_time makes a connection for each.
HOOKS = ("ksys_write", "__sys_connect")
PORTS = {"khttpd": 8443, "nginx": 9001, "nginx, kTLS": 9002, "lighttpd": 9003,
         "lighttpd, kTLS": 9004, "h2o": 9005, "haproxy": 9006}
# What haproxy sends itself is as long as its buffer at most.
HAPROXY_MAX = 65536

# What all must agree on is what the client says.
OPENSSL_CONF = f"""openssl_conf = begin
[begin]
ssl_conf = ssl
[ssl]
system_default = all
[all]
MinProtocol = TLSv1.3
Ciphersuites = {SUITE}
"""

NGINX = """worker_processes 1;
daemon off;
user root;
pid {dir}/nginx{port}.pid;
error_log {dir}/nginx{port}.log;
events {{ worker_connections 1024; }}
http {{
	access_log off;
	sendfile on;
	tcp_nopush on;
	keepalive_requests 1000000000;
	keepalive_timeout 300;
	open_file_cache max=1000 inactive=300s;
	client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3;
	uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
	server {{
		listen [{address}]:{port} ssl;
		ssl_certificate {dir}/pem; ssl_certificate_key {dir}/key;
		ssl_protocols TLSv1.3;
		{more}
		root /srv/www;
	}}
}}
"""

LIGHTTPD = """server.modules = ("mod_openssl")
server.document-root = "/srv/www"
server.bind = "[{address}]"
server.port = {port}
server.errorlog = "{dir}/lighttpd{port}.log"
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 300
mimetype.assign = (".html" => "text/html")
ssl.engine = "enable"
ssl.pemfile = "{dir}/pem"
ssl.privkey = "{dir}/key"
ssl.openssl.ssl-conf-cmd = ("MinProtocol" => "TLSv1.3", "Options" => "{more}KTLS")
"""

H2O = """user: root
num-threads: 1
pid-file: {dir}/h2o.pid
error-log: {dir}/h2o.log
http1-request-timeout: 300
listen:
  host: "{address}"
  port: {port}
  ssl:
    certificate-file: {dir}/pem
    key-file: {dir}/key
    neverbleed: OFF
    ocsp-update-interval: 0
hosts:
  default:
    paths:
      "/":
        file.dir: /srv/www
"""

HAPROXY = """global
	nbthread 1
	tune.bufsize 131072
defaults
	mode http
	timeout client 300s
	timeout http-request 300s
	timeout http-keep-alive 300s
frontend f
	bind [{address}]:{port} ssl crt {dir}/both ssl-min-ver TLSv1.3
{returns}
"""


def cases(quick):
    """(what, bytes, window); what takes longest comes last"""
    return [("kept", 1024, KEPT[1024]), ("a handshake and a request", 1024, HANDSHAKES),
            ("kept", 65536, KEPT[65536])] + ([] if quick else [("kept", 1048576, KEPT[1048576])])


def run(lab):
    # While khttpd has a cipher's module loaded from the host, the clock may jump over its patience.
    for module in ("sch_ingress", "cls_matchall", "cls_u32", "tls", "aesni_intel"):
        lab.run("modprobe", "-q", module, check=False)
    lab.network()
    prepare(lab)
    programs = start_servers(lab)
    tag_packets(lab)
    found = sides.functions(HOOKS)
    for name in HOOKS:
        lab.run(lab.netbench_program, "hook", f"{found[name][0]:x}", 0)
    todo = cases(lab.quick)
    lab.plan(len(todo) * len(programs))
    label = 0
    for what, size, window in todo:
        for server, pids in programs.items():
            if server == "haproxy" and size > HAPROXY_MAX:
                continue
            label += 1
            lab.step(f"{what}, {size} B, {server}")
            with lab.attempt(f"{what}, {size} B, {server}"):
                for _ in range(2):
                    lab.wait_for(f"{size} B of {server}",
                                 lambda s=server, n=size: answers(lab, PORTS[s], n))
                    time.sleep(0.02)
                client = wrk if what == "kept" else s_time
                count(lab, label, window, client(PORTS[server], size), pids())
                lab.write({"label": label, "case": {"what": what, "bytes": size}, "server": server,
                           "hook": 1 if what == "kept" else 2})
    with open("/proc/kallsyms", encoding="ascii") as f, \
            open(f"{os.environ['NET6_OUT']}/kallsyms", "w", encoding="ascii") as out:
        out.writelines(line for line in f if line.split()[1] in "tTwW")


def prepare(lab):
    """Files, a certificate, and what OpenSSL's clients are told."""
    for path in ("/srv/www", DIR, "/var/lib/nginx", "/var/log/nginx"):
        try:
            os.makedirs(path, exist_ok=True)
        except OSError:
            pass
    for size in KEPT:
        with open(f"/srv/www/{size}.html", "w", encoding="ascii") as f:
            f.write("x" * size)
    lab.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "30", "-subj", "/CN=server", "-keyout", f"{DIR}/key",
            "-out", f"{DIR}/pem")
    with open(f"{DIR}/both", "w", encoding="ascii") as out:
        for name in ("pem", "key"):
            with open(f"{DIR}/{name}", encoding="ascii") as f:
                out.write(f.read())
    with open(f"{DIR}/openssl.cnf", "w", encoding="ascii") as f:
        f.write(OPENSSL_CONF)


def wrk(port, size):
    """Four connections, on each a request when there is a reply. Stopped long before its end,
    but the clock may jump while it is loaded."""
    return ["env", f"OPENSSL_CONF={DIR}/openssl.cnf", "wrk", "-t1", "-c4", "-d600",
            f"https://[{ADDRESS}]:{port}/{size}.html"]


def s_time(port, size):
    """A connection after the other, each with a handshake of its own: no session is resumed. It
    looks for no authorities: while it waits for files of the host the clock jumps."""
    return ["env", f"SSL_CERT_DIR={DIR}/none", f"SSL_CERT_FILE={DIR}/none", "openssl", "s_time",
            "-new", "-time", "600", "-ciphersuites", SUITE, "-connect", f"[{ADDRESS}]:{port}",
            "-www", f"/{size}.html"]


def answers(lab, port, size):
    return lab.run("curl", "-gksS", "-o", "/dev/null", "-w", "%{http_code}",
                   f"https://[{ADDRESS}]:{port}/{size}.html", ns="client", check=False) == "200"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def start_servers(lab):
    """{server: what gives its processes, in whose code it is at work}"""
    programs = {}
    lab.khttpd()
    # It says which sites there are; "ip netns exec" has a /sys of its own, without it.
    daemon = lab.background("sh", "-c", 'mount -t configfs none /sys/kernel/config && exec "$@"', "sh",
                            f"{os.path.dirname(lab.tool['khttpdctl'])}/khttpd-tlsd", "--workers", "1")
    lab.run(lab.tool["khttpdctl"], "serve", "--site", "tls", "--docroot", "/srv/www", "--listen",
            f"[{ADDRESS}]:{PORTS['khttpd']},tls", "--certificate", f"{DIR}/pem", "--key",
            f"{DIR}/key", ns="server")
    lab.wait_for("khttpd", lambda: answers(lab, PORTS["khttpd"], 1024))
    programs["khttpd"] = lambda: children(daemon.pid)

    def configured(server, text, *command, worker):
        """One that reads @text; @worker: a process of its own does the work."""
        if not shutil.which(command[0]):
            lab.lack(f"no {command[0]}")
            return
        port = PORTS[server]
        path = f"{DIR}/{port}.conf"
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        process = lab.background(*command, path)
        try:
            lab.wait_for(server, lambda: answers(lab, port, 1024))
        except Exception as error:	# pylint: disable=broad-except
            lab.lack(f"{server}: {error}")
            return
        programs[server] = (lambda: children(process.pid)) if worker else (lambda: [process.pid])

    for server, more in (("nginx", ""), ("nginx, kTLS", "ssl_conf_command Options KTLS;")):
        configured(server, NGINX.format(dir=DIR, address=ADDRESS, port=PORTS[server], more=more),
                   "nginx", "-c", worker=True)
    for server, more in (("lighttpd", "-"), ("lighttpd, kTLS", "")):
        configured(server, LIGHTTPD.format(dir=DIR, address=ADDRESS, port=PORTS[server], more=more),
                   "lighttpd", "-D", "-f", worker=False)
    configured("h2o", H2O.format(dir=DIR, address=ADDRESS, port=PORTS["h2o"]), "h2o", "-c",
               worker=False)
    returns = "\n".join(f"\thttp-request return status 200 content-type text/html file "
                        f"/srv/www/{size}.html if {{ path /{size}.html }}"
                        for size in KEPT if size <= HAPROXY_MAX)
    configured("haproxy", HAPROXY.format(dir=DIR, address=ADDRESS, port=PORTS["haproxy"],
                                         returns=returns), "haproxy", "-db", "-f", worker=False)
    return programs


def count(lab, label, window, command, pids):
    """As in servers.py. In user space it counts by the program, in the kernel by the task that runs
    or by the end that a packet has come to."""
    ranges = kernel_ranges(khttpd_thread_main=TASK | SERVER)
    client = lab.background(*command, ns="client")
    try:
        lab.wait_for(f"{command}", lambda: begun(client.pid))
        # All of its code is mapped then, and as many connections are open as will be.
        time.sleep(0.5)
        ranges += [f"{code}:{TASK | CLIENT}" for code in code_of(client.pid)]
        for pid in pids:
            ranges += [f"{code}:{TASK | SERVER}" for code in code_of(pid)]
        lab.run(lab.netbench_program, "-l", label, "-n", window, "sides", *ranges)
        if client.poll() is not None:
            raise ValueError(f"{' '.join(command)} has ended before its time")
    finally:
        lab.stop(client)


# ---- on the host: the plugin's counts to rows ----

def finish(log, entries, _rows):
    symbols, found, rows, shares = Symbols(f"{log}/out/kallsyms"), dumps(f"{log}/counts"), [], {}

    def row(figure, case, server, value):
        rows.append({"figure": figure, "case": case, "stack": server, "unit": "instructions",
                     "values": [round(value, 1)]})

    for entry in entries:
        if entry.get("label") not in found:
            rows.append({"lack": f"no counts of {entry}"})
            continue
        events, counts = found[entry["label"]][0]
        requests = sum(hook == entry["hook"] and slot == CLIENT for slot, hook, _ in events)
        if not requests:
            rows.append({"lack": f"no request was seen: {entry}"})
            continue
        case, server, share = entry["case"], entry["server"], {}
        for slot, address, n in counts:
            if slot == SERVER:
                name = symbols.name(address)
                share[name] = share.get(name, 0) + n / requests
        row("server", case, server, sum(share.values()))
        row("client", case, server, sum(n for s, _, n in counts if s == CLIENT) / requests)
        row("others", case, server, sum(n for s, _, n in counts if s == OTHER) / requests)
        row("requests", case, server, requests)
        shares.setdefault(tuple(case.items()), {})[server] = share
    for case, by_server in shares.items():
        for server, share in by_server.items():
            for part, sums in by_part(share, by_server.values()).items():
                row("parts", dict(case, part=part), server, sum(sums.values()))
    return rows


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [{"figure": "server", "title": "The server's side of a request over HTTPS",
            "kind": "bars", "split": ["what"], "open": True, "paper": NOT_FOUND}]
TABLES = {
    "client": {"title": "The client's side", "paper": NOT_FOUND},
    "others": {"title": "Other tasks meanwhile", "paper": NOT_FOUND},
    "requests": {"title": "Requests that were counted", "paper": NOT_FOUND},
    "parts": {"title": "What the instructions are for", "open": True, "paper": NOT_FOUND},
}
