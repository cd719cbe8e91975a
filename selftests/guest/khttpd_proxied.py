#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The PROXY protocol: khttpd believes proxies that a site trusts, and asks nobody else. The log,
# limits and the server hear of the client. Beside nginx, which hears the same alone and behind
# khttpd.
#
#	[ client as proxy, khttpd, khttpd-tlsd and servers on lo, net6 between two namespaces ]
#
# guest: stock+
# timeout: 120
# pylint: disable=missing-function-docstring
import contextlib
import errno
import glob
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
# pylint: disable-next=wrong-import-position
from proxyhead import PP2_TYPE_SSL, SIGNATURE, announced, tlvs, version1, version2

PORT, TLS, PROXIED = 8090, 8443, 8091
DIR = "/tmp/proxied"
GET = khttpd.get
PLACE = khttpd.net6_later()


def setup():
    khttpd.net6_place(PLACE)
    khttpd.fresh()
    khttpd.write("a.txt", b"file")
    khttpd.let_files_settle()
    os.makedirs(DIR, exist_ok=True)


# What a proxy says, and the address of the client in it.
HEADERS = ((version1("192.0.2.1"), "192.0.2.1"), (version1("2001:db8::1"), "2001:db8::1"),
           (version2("192.0.2.3"), "192.0.2.3"), (version2("2001:db8::3"), "2001:db8::3"),
           (version2("192.0.2.4", more=b"\x03\0\x04abcd" + b"\xea\x07\xd0" + bytes(2000)),
            "192.0.2.4"),
           # The proxy itself.
           (b"PROXY UNKNOWN\r\n", "127.0.0.1"), (version2("192.0.2.5", command=0x20), "127.0.0.1"))
BAD = (GET("/a.txt"), b"PROXY TCP4 192.0.2.1 192.0.2.2 1025\r\n", b"PROXY" + b"x" * 200,
       SIGNATURE + b"\x21\x11\xff\xff", SIGNATURE + b"\x31\x11\0\x0c" + bytes(12), b"\x16\x03\x01\0")


@contextlib.contextmanager
def site(*more, place=khttpd.V4, trusted="127.0.0.0/8 ::/0"):
    khttpd.serve(place, "--set", f"proxy_protocol={trusted}", *more)
    try:
        yield
    finally:
        khttpd.ctl("stop", "--site", "default")


def attribute(name, value):
    with open(f"{khttpd.CONFIG}/default/{name}", "w", encoding="ascii") as file:
        file.write(value)


@contextlib.contextmanager
def server(place=khttpd.V4, trusted="127.0.0.0/8 ::/0"):
    """An attached one, whose site trusts."""
    with khttpd.Server(place, PORT) as one:
        attribute("proxy_protocol", trusted)
        attribute("enabled", "1")
        yield one


@contextlib.contextmanager
def counted(name, number):
    before = khttpd.count(name)
    yield
    ktap.wait_for(10, f"{name} by {number}", lambda: khttpd.count(name) == before + number)


def take(sock, data):
    """@data comes next."""
    got = b""
    while len(got) < len(data):
        more = sock.recv(len(data) - len(got))
        if not more:
            break
        got += more
    ktap.equal(got, data, "bytes")


@ktap.test
def the_log_names_the_client():
    log = khttpd.Log()
    try:
        with site(), counted("proxied", 2 * len(HEADERS)):
            for header, _ in HEADERS:
                with khttpd.V4.connect() as sock:
                    sock.sendall(header + GET("/a.txt"))
                    reader = khttpd.Reader(sock)
                    ktap.equal(reader.reply().body, b"file", "the first reply")
                    sock.sendall(GET("/none"))
                    ktap.equal(reader.reply().status, 404, "the second")
                with khttpd.V4.connect() as sock:
                    for byte in header[:120]:
                        sock.sendall(bytes([byte]))
                    sock.sendall(header[120:] + GET("/a.txt"))
                    ktap.equal(khttpd.Reader(sock).reply().body, b"file", "byte by byte")
        seen = [line.split()[0] for line in log.lines(3 * len(HEADERS))]
        # A processor's lines come together.
        ktap.equal(sorted(seen), sorted(address for _, address in HEADERS for _ in range(3)),
                   "addresses")
    finally:
        log.stop()


@ktap.test
def on_net6():
    with site(place=PLACE, trusted="fd02::2"), counted("proxied", 2):
        for header in (version1("192.0.2.1"), version2("2001:db8::1")):
            with PLACE.connect() as sock:
                sock.sendall(header + GET("/a.txt") * 9)
                reader = khttpd.Reader(sock)
                for _ in range(9):
                    ktap.equal(reader.reply().body, b"file", "a reply")
    with site(place=PLACE, trusted="fd02::3"), counted("proxied", 0):
        ktap.equal(khttpd.exchange(PLACE, GET("/a.txt")).body, b"file", "another's")


@ktap.test
def rules_block_clients_not_the_proxy():
    with site(), counted("access_refused", 1):
        attribute("rules", "block 192.0.2.1\n")
        attribute("enabled", "1")
        for header, status in ((version1("192.0.2.1"), 403), (version1("192.0.2.9"), 200)):
            with khttpd.V4.connect() as sock:
                sock.sendall(header + GET("/a.txt"))
                ktap.equal(khttpd.Reader(sock).reply().status, status, "the status")


@ktap.test
def nobody_else_is_asked():
    with site(trusted="192.0.2.9 127.0.0.2"), counted("proxied", 0), counted("proxied_bad", 0):
        ktap.equal(khttpd.exchange(khttpd.V4, GET("/a.txt")).body, b"file", "a client")
        for header, _ in HEADERS:
            ktap.equal(khttpd.exchange(khttpd.V4, header + GET("/a.txt")).status, 400, "a header")


@ktap.test
def what_is_no_header_ends_the_connection():
    with site(), counted("proxied_bad", len(BAD) + 2):
        for data in BAD:
            with khttpd.V4.connect() as sock:
                sock.sendall(data)
                khttpd.Reader(sock).closed()
        for header in (version1("192.0.2.1"), version2("192.0.2.1")):
            with khttpd.V4.connect() as sock:
                sock.sendall(header[:-1])
                sock.shutdown(socket.SHUT_WR)
                khttpd.Reader(sock).closed()
        # One who says nothing and goes is none.
        with khttpd.V4.connect() as sock:
            sock.shutdown(socket.SHUT_WR)
            khttpd.Reader(sock).closed()


@ktap.test
def a_header_has_the_time_of_a_head():
    old = khttpd.limit("head_timeout", 1000)
    try:
        with site(), counted("timeout_head", 2):
            for data in (b"", version1("192.0.2.1")[:9]):
                with khttpd.V4.connect() as sock:
                    sock.sendall(data)
                    khttpd.Reader(sock).closed()
    finally:
        khttpd.limit("head_timeout", old)


@ktap.test
def limits_are_the_clients():
    old = khttpd.limit("max_per_address", 1)
    try:
        with site(), contextlib.ExitStack() as stack, counted("address_full", 1):
            for number in range(5):
                sock = stack.enter_context(khttpd.V4.connect())
                sock.sendall(version1(f"192.0.2.{number + 1}") + GET("/a.txt"))
                ktap.equal(khttpd.Reader(sock).reply().status, 200, "one of each")
            sock = stack.enter_context(khttpd.V4.connect())
            sock.sendall(version1("192.0.2.3") + GET("/a.txt"))
            khttpd.Reader(sock).closed()
    finally:
        khttpd.limit("max_per_address", old)
    rates = [(name, khttpd.limit(name, 1)) for name in ("request_rate", "request_burst")]
    try:
        with site():
            statuses = [khttpd.exchange(khttpd.V4, version1(f"192.0.2.{number}") + GET("/a.txt"))
                        .status for number in (1, 2, 3, 1)]
            ktap.equal(statuses, [200, 200, 200, 429], "statuses")
    finally:
        for name, value in rates:
            khttpd.limit(name, value)


@ktap.test
def a_server_gets_the_header_as_it_came():
    for place in (khttpd.V4, PLACE):
        with server(place) as one:
            for header, _ in HEADERS:
                with place.connect(PORT) as client:
                    client.sendall(header + GET("/app"))
                    with one.accept() as sock:
                        take(sock, header + GET("/app"))
                        client.sendall(b"more" * 9000)
                        take(sock, b"more" * 9000)
                        sock.sendall(b"back")
                        take(client, b"back")
                        client.shutdown(socket.SHUT_WR)
                        ktap.equal(sock.recv(1), b"", "the end")


@ktap.test
def after_replies_as_well():
    for place in (khttpd.V4, PLACE):
        with server(place) as one:
            for header, _ in HEADERS:
                with place.connect(PORT) as client:
                    reader = khttpd.Reader(client)
                    client.sendall(header)
                    for _ in range(3):
                        client.sendall(GET("/a.txt"))
                        ktap.equal(reader.reply().body, b"file", "a file")
                    client.sendall(GET("/a.txt") + GET("/app") + b"behind")
                    ktap.equal(reader.reply().body, b"file", "the last file")
                    with one.accept() as sock:
                        ktap.equal(sock.recv(5, socket.MSG_PEEK), header[:5], "a look at it")
                        take(sock, header + GET("/app") + b"behind")
                        client.sendall(b"more")
                        take(sock, b"more")


@ktap.test
def a_detached_server_gets_it_too():
    """With nothing behind it: what comes next joins it in the queue."""
    for place in (khttpd.V4, PLACE):
        with server(place) as one, place.connect(PORT) as client:
            header = HEADERS[0][0]
            client.sendall(header + GET("/a.txt"))
            ktap.equal(khttpd.Reader(client).reply().body, b"file", "a file")
            # It waits until the server has taken what is the server's.
            detach = threading.Thread(target=khttpd.ctl, args=("detach", "--site", "default"))
            detach.start()
            with one.accept() as sock:
                detach.join()
                client.sendall(GET("/a.txt"))
                take(sock, header + GET("/a.txt"))


@ktap.test
def a_connection_that_no_server_takes():
    """The header that waited for it goes with it."""
    old = khttpd.limit("handover_queue", 0)
    try:
        with server(), khttpd.V4.connect(PORT) as client:
            client.sendall(HEADERS[0][0] + GET("/app", method="HEAD"))
            ktap.equal(khttpd.Reader(client).reply(True).status, 503, "status")
    finally:
        khttpd.limit("handover_queue", old)
    ktap.wait_for(10, "no connections", lambda: not khttpd.count("connections"))


class Nginx(khttpd.Nginx):
    """Says whom it has heard of."""
    DYNAMIC = 'location / { return 200 "$proxy_protocol_addr $proxy_protocol_port\\n"; }'


def answers(header):
    """Of nginx to two requests on a connection; between them khttpd may send a file."""
    with khttpd.V4.connect(PORT) as sock:
        try:
            sock.sendall(header + GET("/app"))
            reader = khttpd.Reader(sock)
            return [reader.reply().body, sock.sendall(GET("/app")) or reader.reply().body]
        except (ktap.Fail, ConnectionResetError, BrokenPipeError):
            return "closed without a reply"


@ktap.test
def nginx_hears_of_the_same_client():
    nginx = Nginx([f"127.0.0.1:{PORT} proxy_protocol"])
    asked = [header for header, _ in HEADERS] + list(BAD)
    try:
        alone = [answers(header) for header in asked]
        khttpd.ctl("attach", "--site", "default", "--pid", str(nginx.pid), "--port", str(PORT),
                   "--docroot", khttpd.WWW)
        attribute("proxy_protocol", "127.0.0.1")
        attribute("enabled", "1")
        for header, before in zip(asked, alone):
            ktap.equal(answers(header), before, repr(header[:40]))
        for header, before in zip(asked, alone):
            if isinstance(before, list):
                with khttpd.V4.connect(PORT) as sock:
                    reader = khttpd.Reader(sock)
                    sock.sendall(header + GET("/a.txt"))
                    ktap.equal(reader.reply().body, b"file", "khttpd's")
                    sock.sendall(GET("/app"))
                    ktap.equal(reader.reply().body, before[0], "behind a file")
    finally:
        nginx.kill(15)
        khttpd.ctl("stop", "--site", "default", check=False)


@contextlib.contextmanager
def tls_site(*more):
    ktap.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-nodes", "-days", "30", "-subj", "/CN=a.example", "-keyout", f"{DIR}/key",
             "-out", f"{DIR}/pem")
    with open(f"{DIR}/log", "a", encoding="ascii") as log, \
            subprocess.Popen([f"{khttpd.TOP}/tools/khttpd-tlsd", "--workers", "1"],
                             stderr=log) as daemon:
        try:
            ktap.wait_for(120, "khttpd-tlsd is there", lambda: khttpd.count("tls_daemons"))
            khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", f"127.0.0.1:{TLS},tls",
                       "--certificate", f"{DIR}/pem", "--key", f"{DIR}/key", *more)
            yield
            khttpd.ctl("stop", "--site", "default")
        finally:
            daemon.terminate()


def tls_connect(first=b"", version=ssl.TLSVersion.TLSv1_3):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    sock = khttpd.V4.connect(TLS, 10 * ktap.SCALE)
    try:
        sock.sendall(first)
        return context.wrap_socket(sock)
    except OSError:
        sock.close()
        raise


@ktap.test
def in_front_of_tls():
    log = khttpd.Log()
    try:
        with tls_site("--set", "proxy_protocol=127.0.0.1"):
            for header, _ in HEADERS:
                with tls_connect(header) as sock:
                    sock.sendall(GET("/a.txt"))
                    ktap.equal(khttpd.Reader(sock).reply().body, b"file", "a file")
            with counted("proxied_bad", 1), khttpd.V4.connect(TLS) as sock:
                sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
                khttpd.Reader(sock).closed()
            # One of which nothing more comes, while the site stops.
            khttpd.V4.connect(TLS).sendall(version1("192.0.2.1"))
        seen = [line.split()[0] for line in log.lines(len(HEADERS))]
        ktap.equal(sorted(seen), sorted(address for _, address in HEADERS), "addresses")
    finally:
        log.stop()
    for name in ("tls_pending", "connections"):
        ktap.wait_for(20, f"no {name}", lambda n=name: not khttpd.count(n))


@contextlib.contextmanager
def behind():
    """A server behind listeners of the site."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", PORT))
        one.listen()
        one.settimeout(khttpd.TIMEOUT)
        khttpd.ctl("attach", "--site", "default", "--pid", str(os.getpid()), "--port", str(PORT))
        yield one


@ktap.test
def a_server_behind_is_told():
    with site("--set", "send_proxy=1", trusted="192.0.2.1"), behind() as one, \
            khttpd.V4.connect() as client:
        client.sendall(GET("/a.txt") + GET("/app"))
        ktap.equal(khttpd.Reader(client).reply().body, b"file", "a file")
        with one.accept()[0] as sock:
            ktap.equal(announced(sock), (client.getsockname(), {}), "the client")
            take(sock, GET("/app"))
    with site("--set", "send_proxy=1"), behind() as one, khttpd.V4.connect() as client:
        client.sendall(version1("192.0.2.1", 77) + GET("/app"))
        with one.accept()[0] as sock:
            ktap.equal(announced(sock), (("192.0.2.1", 77), {}), "the proxy's client")
            take(sock, GET("/app"))
    with site(), behind() as one, khttpd.V4.connect() as client:
        client.sendall(version1("192.0.2.1") + GET("/app"))
        with one.accept()[0] as sock:
            take(sock, GET("/app"))


@ktap.test
def a_server_behind_is_told_of_tls():
    with tls_site("--set", "send_proxy=1"), behind() as one:
        for version, name in ((ssl.TLSVersion.TLSv1_3, b"TLSv1.3"),
                              (ssl.TLSVersion.TLSv1_2, b"TLSv1.2")):
            with tls_connect(version=version) as client:
                client.sendall(GET("/a.txt"))
                ktap.equal(khttpd.Reader(client).reply().body, b"file", "a file")
                client.sendall(GET("/app"))
                with one.accept()[0] as sock:
                    who, more = announced(sock)
                    ktap.equal(who, client.getsockname(), "the client")
                    ktap.equal(more[PP2_TYPE_SSL][:5], b"\1\0\0\0\1", "TLS, nothing verified")
                    inner = tlvs(more[PP2_TYPE_SSL][5:])
                    ktap.equal((inner[0x21], inner[0x23]), (name, client.cipher()[0].encode()),
                               "version and cipher")
                    take(sock, GET("/app"))
                    client.sendall(b"more")
                    take(sock, b"more")
                    sock.sendall(b"back")
                    take(client, b"back")


@ktap.test
def lists_that_are_none_are_refused():
    with site():
        for bad in ("a.example", "10.0.0.0/33", "::1,::2", "1.2.3.4/", " ".join(["::1"] * 33)):
            ktap.raises(errno.EINVAL, attribute, "proxy_protocol", bad)
        attribute("proxy_protocol", "10.0.0.0/8 2001:db8::/32")
        saved = ktap.run(f"{khttpd.TOP}/tools/khttpdctl", "save")
        ktap.true("proxy_protocol = 10.0.0.0/8 2001:db8::/32\n" in saved, "saved")
    with open(f"{DIR}/conf", "w", encoding="ascii") as file:
        file.write(f"[site default]\ndocroot = {khttpd.WWW}\nlisten = 127.0.0.1:8080\n"
                   "proxy_protocol = 127.0.0.1/8\nsend_proxy = on\n")
    khttpd.ctl("check", f"{DIR}/conf")
    khttpd.ctl("load", f"{DIR}/conf")
    try:
        with counted("proxied", 1):
            ktap.equal(khttpd.exchange(khttpd.V4, HEADERS[0][0] + GET("/a.txt")).body, b"file",
                       "a file")
    finally:
        khttpd.ctl("stop", "--all")


NGINX = """
events {{}}
http {{ server {{
    listen 127.0.0.1:{port} proxy_protocol; root /srv/www;
    {trust}
}} }}
"""


@ktap.test
def nginxs_configuration_is_imported():
    found = glob.glob(f"{os.environ['NET6_PYTHON']}/crossplane*/crossplane")
    if not found:
        raise ktap.Skip("no crossplane: scripts/setup test")
    os.environ["PYTHONPATH"] = os.path.dirname(found[0])
    for trust, line in (
            ("set_real_ip_from 10.0.0.0/8; set_real_ip_from ::1; real_ip_header proxy_protocol;",
             "proxy_protocol = 10.0.0.0/8 ::1"),
            ("", None), ("set_real_ip_from 10.0.0.0/8;", None),
            ("set_real_ip_from proxy.example; real_ip_header proxy_protocol;", None)):
        with open(f"{DIR}/nginx.conf", "w", encoding="ascii") as file:
            file.write(NGINX.format(port=PROXIED, trust=trust))
        out = ktap.run(f"{khttpd.TOP}/tools/khttpdctl", "import", "nginx", f"{DIR}/nginx.conf",
                       check=False)
        ktap.equal(line in out.splitlines() if line else "[site" in out, bool(line), trust)


ktap.main(setup=setup)
