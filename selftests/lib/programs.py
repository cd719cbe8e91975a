# SPDX-License-Identifier: GPL-2.0
"""Real programs as client and as server over net6, each in a function of its own:

    A [a0] ------ [b0] B        client fd00::a, server fd00::b

In takeover mode they run as they are; beside the native stack under net6-run. A program
that is not installed is skipped; `scripts/setup programs` installs them all.
"""
import hashlib
import os
import shutil
import socket
import subprocess
import time

import ktap

CLIENT, SERVER = "fd00::a", "fd00::b"
A = B = None
wrap = ()		# in front of each command
FAMILY = socket.AF_INET6
_tmp = "/tmp/programs"
_port = 8000


def takeover():
    """The two namespaces, with addresses, where net6 is the host's only IPv6."""
    ktap.net6_load()
    a, b = ktap.Netns("A"), ktap.Netns("B")
    ktap.veth(a, "a0", b, "b0")
    for ns, dev, address in ((a, "a0", CLIENT), (b, "b0", SERVER)):
        ns.ip("-6", "addr", "add", address + "/64", "dev", dev)
        ktap.wait_for(15, "address", lambda n=ns, d=dev: "tentative" not in
                      n.ip("-6", "addr", "show", "dev", d))
    setup(a, b)


def setup(ns_a, ns_b, *before):
    global A, B, wrap, _tmp
    A, B, wrap = ns_a, ns_b, before
    _tmp = f"/tmp/programs-{os.getpid()}"
    os.makedirs(_tmp, exist_ok=True)
    os.chmod(_tmp, 0o755)
    with open(path("data"), "wb") as file:
        file.write(os.urandom(1 << 20))


def path(name):
    return os.path.join(_tmp, name)


def port():
    global _port
    _port += 1
    return str(_port)


def need(*names):
    for name in names:
        if not shutil.which(name):
            raise ktap.Skip(f"no {name}")


def client(*command, **options):
    return A.run(*wrap, *command, timeout=90, **options)


def server(*command, **options):
    options.setdefault("stdout", subprocess.DEVNULL)
    options.setdefault("stderr", subprocess.STDOUT)
    options.setdefault("stdin", subprocess.DEVNULL)
    return B.popen(*wrap, *command, **options)


def listening(number, kind=socket.SOCK_STREAM):
    """Waits until something has the port in B: it cannot be bound any more."""
    def taken():
        with B:
            probe = socket.socket(FAMILY, kind).detach()
        probe = socket.socket(socket.AF_INET6, kind, fileno=probe)
        try:
            probe.bind((SERVER, int(number)))
        except OSError:
            return True
        finally:
            probe.close()
        return False
    ktap.wait_for(30, f"something listens on port {number}", taken)


def same(name):
    with open(path("data"), "rb") as one, open(path(name), "rb") as two:
        ktap.equal(hashlib.sha256(two.read()).hexdigest(),
                   hashlib.sha256(one.read()).hexdigest(), f"contents of {name}")


def url(number, name="data"):
    return f"http://[{SERVER}]:{number}/{name}"


def nginx(number):
    need("nginx")
    with open(path("nginx.conf"), "w", encoding="ascii") as file:
        file.write(f"daemon off; master_process on; worker_processes 1; pid {path('nginx.pid')};\n"
                   f"user root;\nerror_log {path('nginx.err')};\nevents {{}}\n"
                   f"http {{ access_log off; client_body_temp_path {path('body')};\n"
                   f"proxy_temp_path {path('proxy')}; fastcgi_temp_path {path('fcgi')};\n"
                   f"uwsgi_temp_path {path('uwsgi')}; scgi_temp_path {path('scgi')};\n"
                   f"sendfile on; server {{ listen [::]:{number} ipv6only=on; root {_tmp}; }} }}\n")
    process = server("nginx", "-c", path("nginx.conf"))
    listening(number)
    return process


def ping():
    need("ping")
    out = client("ping", "-6", "-n", "-c", "3", "-i", "0.2", "-s", "3000", "-W", "10", SERVER)
    ktap.true(" 0% packet loss" in out, out)


def traceroute():
    need("traceroute")
    for method in ((), ("-I",), ("-T", "-p", "9")):
        if wrap and method == ("-T", "-p", "9"):
            continue
        out = client("traceroute", "-6", "-n", "-q", "1", "-w", "5", *method, SERVER)
        ktap.true(f" 1  {SERVER} " in out, f"{method}: {out}")


def tracepath():
    need("tracepath")
    out = client("tracepath", "-6", "-n", SERVER)
    ktap.true("reached" in out and "pmtu 1500" in out, out)


def mtr():
    need("mtr")
    out = client("mtr", "-6", "-n", "-r", "-c", "2", "-i", "0.3", SERVER)
    ktap.true(SERVER in out and " 0.0%" in out, out)


def curl_nginx():
    need("curl")
    number = port()
    process = nginx(number)
    client("curl", "-sgf", "--retry", "5", "--retry-connrefused", "-o", path("curl"), url(number))
    same("curl")
    process.terminate()
    process.wait()


def wget_python():
    need("wget", "python3")
    number = port()
    process = server("/usr/bin/python3", "-m", "http.server", "--bind", "::", "-d", _tmp, number)
    listening(number)
    client("wget", "-q", "--tries", "5", "--no-proxy", "-O", path("wget"), url(number))
    same("wget")
    process.kill()
    process.wait()


def iperf3():
    need("iperf3")
    number = port()
    process = server("iperf3", "-6", "-s", "-p", number)
    listening(number)
    for how in (("-P", "8", "-n", "256K"), ("-R", "-Z", "-n", "1M"), ("-u", "-b", "4M", "-n", "200K")):
        out = client("iperf3", "-6", "-c", SERVER, "-p", number, *how)
        ktap.true("iperf Done" in out, out)
    process.kill()
    process.wait()


def socat():
    need("socat")
    for kind, kernel in (("TCP6", socket.SOCK_STREAM), ("UDP6", socket.SOCK_DGRAM)):
        number = port()
        process = server("socat", f"{kind}-LISTEN:{number},fork", "PIPE")
        listening(number, kernel)
        out = client("bash", "-c", f"echo over {kind} | socat -t 3 - "
                     f"'{kind}:[{SERVER}]:{number}'")
        ktap.true(f"over {kind}" in out, out)
        process.kill()
        process.wait()


def dig_dnsmasq():
    need("dig", "dnsmasq")
    number = port()
    process = server("dnsmasq", "-k", "-C", "/dev/null", "-p", number, "--no-resolv", "--no-hosts",
                     "--listen-address", SERVER, "--bind-interfaces", "--user=root", "--pid-file=",
                     "--host-record=name.test,2001:db8::5")
    listening(number, socket.SOCK_DGRAM)
    for how in ("+notcp", "+tcp"):
        out = client("dig", "-6", "-p", number, f"@{SERVER}", "+short", "+tries=3", how,
                     "name.test", "AAAA")
        ktap.equal(out.strip(), "2001:db8::5", f"answer with {how}")
    process.kill()
    process.wait()


def ncat():
    need("ncat")
    number = port()
    with open(path("ncat"), "wb") as file:
        process = server("ncat", "-6", "-l", number, "--recv-only", stdout=file)
        listening(number)
        client("bash", "-c", f"ncat -6 --send-only {SERVER} {number} < {path('data')}")
        process.wait(60)
    same("ncat")


def rsync():
    need("rsync")
    number = port()
    with open(path("rsyncd.conf"), "w", encoding="ascii") as file:
        file.write(f"uid=0\ngid=0\nuse chroot=no\npid file={path('rsync.pid')}\n"
                   f"[data]\npath={_tmp}\nread only=yes\n")
    process = server("rsync", "--daemon", "--no-detach", "-6", f"--port={number}",
                     f"--config={path('rsyncd.conf')}")
    listening(number)
    client("rsync", "-6", f"rsync://[{SERVER}]:{number}/data/data", path("rsync"))
    same("rsync")
    process.kill()
    process.wait()


def sftp():
    need("sftp", "ssh-keygen", "/usr/sbin/sshd")
    number = port()
    for name in ("host", "user"):
        ktap.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(name))
    os.makedirs("/run/sshd", exist_ok=True)
    with open(path("sshd.conf"), "w", encoding="ascii") as file:
        file.write(f"AddressFamily inet6\nPort {number}\nListenAddress {SERVER}\n"
                   f"HostKey {path('host')}\nPidFile none\nUsePAM no\nStrictModes no\n"
                   f"AuthorizedKeysFile {path('user.pub')}\nPermitRootLogin yes\n"
                   "Subsystem sftp internal-sftp\n")
    process = server("/usr/sbin/sshd", "-D", "-f", path("sshd.conf"))
    listening(number)
    size = 100 << 20
    with open(path("big"), "wb") as file:
        file.truncate(size)
    client("sftp", "-q", "-P", number, "-i", path("user"), "-o", "StrictHostKeyChecking=no",
           "-o", "UserKnownHostsFile=/dev/null", f"root@[{SERVER}]:{path('big')}", path("got"))
    ktap.equal(os.path.getsize(path("got")), size, "bytes")
    for name in ("big", "got"):
        os.unlink(path(name))
    process.kill()
    process.wait()


def redis():
    need("redis-server", "redis-benchmark")
    number = port()
    process = server("redis-server", "--port", number, "--bind", "::", "--protected-mode", "no",
                     "--save", "", "--dir", _tmp)
    listening(number)
    out = client("redis-benchmark", "-h", SERVER, "-p", number, "-q", "-n", "500", "-c", "10",
                 "-t", "set,get")
    ktap.true("GET:" in out and "requests per second" in out, out)
    process.kill()
    process.wait()


def memcached():
    need("memcached")
    number = port()
    process = server("memcached", "-u", "root", "-l", SERVER, "-p", number, "-t", "1")
    listening(number)
    with A:
        fd = socket.socket(FAMILY).detach()
    sock = socket.socket(socket.AF_INET6, fileno=fd)
    sock.settimeout(20 * ktap.SCALE)
    sock.connect((SERVER, int(number)))
    sock.sendall(b"set k 0 0 5\r\nvalue\r\nget k\r\n")
    got = b""
    while not got.endswith(b"END\r\n"):
        got += sock.recv(100)
    ktap.equal(got, b"STORED\r\nVALUE k 0 5\r\nvalue\r\nEND\r\n", "answers")
    process.kill()
    process.wait()


def load_generators():
    number = port()
    process = nginx(number)
    with open(path("small"), "wb") as file:
        file.write(b"x" * 1000)
    small = url(number, "small")
    tried = 0
    for name, command, good in (
            ("wrk", ("wrk", "-t", "1", "-c", "4", "-d", "2s", small), "requests in"),
            ("ab", ("ab", "-n", "100", "-c", "4", "-k", small), "Failed requests:        0"),
            ("h2load", ("h2load", "--h1", "-n", "100", "-c", "4", small), "100 succeeded")):
        if not shutil.which(name):
            continue
        tried += 1
        out = client(*command)
        ktap.true(good in out, f"{name}: {out}")
    process.terminate()
    process.wait()
    if not tried:
        raise ktap.Skip("no load generator")


def nuttcp():
    need("nuttcp")
    number = port()
    process = server("nuttcp", "-6", "-S", "--nofork", "-P", number)
    time.sleep(1)
    out = client("nuttcp", "-6", "-P", number, "-p", port(), "-n", "16", SERVER)
    ktap.true("Mbps" in out, out)
    process.kill()
    process.wait()


def asyncio():
    number = port()
    process = server("/usr/bin/python3", os.path.join(os.path.dirname(__file__), "programs_aio.py"),
                     "serve", SERVER, number)
    listening(number)
    out = client("/usr/bin/python3", os.path.join(os.path.dirname(__file__), "programs_aio.py"),
                 "ask", SERVER, number)
    ktap.equal(out.strip(), "20 answers", "asyncio says")
    process.kill()
    process.wait()


def node():
    need("node")
    number = port()
    code = (f"require('http').createServer((q,s)=>s.end('from node')).listen({number},'{SERVER}')")
    process = server("node", "-e", code)
    listening(number)
    out = client("node", "-e", f"require('http').get('{url(number, '')}',"
                 "r=>r.on('data',d=>process.stdout.write(d)))")
    ktap.true("from node" in out, out)
    process.kill()
    process.wait()


def tcpdump():
    need("tcpdump", "ping")
    process = A.popen("tcpdump", "-i", "a0", "-n", "-l", "-c", "2", "icmp6 and ip6[40] >= 128 "
                      "and ip6[40] <= 129", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                      text=True)
    process.stderr.readline()
    ktap.wait_for(20, "tcpdump listens",
                  lambda: "listening" in process.stderr.readline())
    client("ping", "-6", "-c", "1", "-W", "10", SERVER)
    out = process.communicate(timeout=30 * ktap.SCALE)[0]
    ktap.true("echo request" in out and "echo reply" in out, out)


FEW = (ping, traceroute, tracepath, curl_nginx, wget_python, iperf3, socat, dig_dnsmasq)
MORE = (mtr, ncat, rsync, sftp, redis, memcached, load_generators, nuttcp, asyncio, node, tcpdump)


def tests(functions):
    for function in functions:
        ktap.test(function.__name__.replace("_", " with "))(function)
