# SPDX-License-Identifier: GPL-2.0
"""Web servers, what fetches from them and what loads them. nginx and lighttpd are clients,
too: as proxies of a server at the other end.
"""
import os
import shutil
import struct
import zlib

import khttpd
import ktap
import programs as p

PNG = b"\x89PNG\r\n\x1a\n"
GREEN, RED = (16, 96, 48), (200, 30, 20)	# of the browser's page and picture


def nginx(number, ns=None, address=p.SERVER, upstream=None):
    """Serves the folder of the tests, and what the upstream has under /proxied/."""
    p.need("nginx")
    name = f"nginx-{number}"
    proxied = f"location /proxied/ {{ proxy_pass {upstream}; }}" if upstream else ""
    config = p.write(name, f"""
daemon off; master_process on; worker_processes 1; user root;
pid {p.path(name)}.pid; error_log {p.path(name)}.err; events {{}}
http {{ access_log off; client_body_temp_path {p.path('body')}; proxy_temp_path {p.path('proxy')};
fastcgi_temp_path {p.path('fcgi')}; uwsgi_temp_path {p.path('uwsgi')};
scgi_temp_path {p.path('scgi')}; sendfile on;
server {{ listen [{address}]:{number} ipv6only=on; root {p.folder}; {proxied} }}
}}
""")
    p.server("nginx", "-c", config, ns=ns)
    p.listening(number, ns=ns)


def lighttpd(number, ns=None, address=p.SERVER, upstream=None):
    """As nginx(); the upstream is a port at the client's end."""
    proxied = f"""
server.modules = ( "mod_proxy" )
$HTTP["url"] =~ "^/proxied/" {{
    proxy.server = ( "" => (( "host" => "{p.CLIENT}", "port" => {upstream} )) )
    proxy.header = ( "map-urlpath" => ( "/proxied/" => "/" ) )
}}
""" if upstream else ""
    config = p.write(f"lighttpd-{number}", f"""
server.document-root = "{p.folder}"
server.bind = "[{address}]"
server.port = {number}
{proxied}
""")
    p.server("lighttpd", "-D", "-f", config, ns=ns)
    p.listening(number, ns=ns)


def curl(number):
    """Fetches a file of the server itself, and one that it has to fetch."""
    for name in ("data", "proxied/data"):
        p.client("curl", "-sgf", "--noproxy", "*", "-o", p.path("curl"), p.url(number, name))
        p.same("curl")


def curl_nginx():
    p.need("curl")
    behind, number = p.port(), p.port()
    nginx(behind, p.A, p.CLIENT)
    nginx(number, upstream=p.url(behind, "", p.CLIENT))
    curl(number)


def curl_lighttpd():
    p.need("curl", "lighttpd")
    behind, number = p.port(), p.port()
    lighttpd(behind, p.A, p.CLIENT)
    lighttpd(number, upstream=behind)
    curl(number)


def wget_python():
    """Python's http.server, with wget and with its own client."""
    p.need("wget", "python3")
    number = p.port()
    p.server("/usr/bin/python3", "-m", "http.server", "--bind", "::", "-d",
             p.folder, number)
    p.listening(number)
    p.client("wget", "-q", "--tries", "5", "--no-proxy", "-O", p.path("wget"), p.url(number))
    p.same("wget")
    p.client("/usr/bin/python3", "-c", "import sys, urllib.request as r\n"
             "r.install_opener(r.build_opener(r.ProxyHandler({})))\n"
             "r.urlretrieve(*sys.argv[1:])", p.url(number), p.path("urllib"))
    p.same("urllib")


def load(name, *command, good):
    """A program that loads nginx with requests for a small file, and says so at its end."""
    p.need(name)
    number = p.port()
    nginx(number)
    out = p.client(name, *command, p.url(number, "small"))
    ktap.true(good in out, out)


def wrk():
    load("wrk", "-t", "1", "-c", "4", "-d", "2s", "--latency", good="requests in")


def ab():
    load("ab", "-n", "100", "-c", "4", "-k", good="Failed requests:        0")


def h2load():
    load("h2load", "--h1", "-n", "100", "-c", "4", good="100 succeeded")


def httperf():
    """Knows IPv4 only: in both modes net6-run translates its addresses."""
    p.need("httperf")
    number = p.port()
    nginx(number)
    out = p.A.run(p.net6_run(), "-m", f"{p.V4_SERVER}={p.SERVER}", "httperf", "--hog", "--server",
                  p.V4_SERVER, "--port", number, "--uri", "/small", "--num-conns", "20",
                  "--num-calls", "5")
    ktap.true("Reply status: 1xx=0 2xx=100 " in out, out)


def png(width, height, pixel):
    """A picture of one colour."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))
    rows = (b"\0" + bytes(pixel) * width) * height
    head = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    return (PNG + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def unfiltered(kind, row, above, step):
    """A row of a PNG as it was before the filter of this kind (its specification, 9.2)."""
    row = bytearray(row)
    for i in range(len(row)) if kind else ():
        left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[i]
        elif kind == 3:
            guess = (left + above[i]) // 2
        else:
            whole = left + above[i] - corner
            guess = min((left, above[i], corner), key=lambda near, whole=whole: abs(whole - near))
        row[i] = (row[i] + guess) & 0xff
    return bytes(row)


def pixels(data):
    """Rows of colours of a PNG, as browsers write them: 8 bits, not interlaced."""
    ktap.equal(data[:8], PNG, "signature")
    packed, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours, _, _, interlaced = struct.unpack(">2I5B", body)
            ktap.true(depth == 8 and colours in (2, 6) and not interlaced, f"can be read: {body}")
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    step = 4 if colours == 6 else 3
    raw, rows, row = zlib.decompress(packed), [], bytes(width * step)
    for start in range(0, len(raw), width * step + 1):
        row = unfiltered(raw[start], raw[start + 1:start + 1 + width * step], row, step)
        rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), step)])
    ktap.equal((len(rows), len(rows[0])), (height, width), "size of the picture")
    return rows


def chromium():
    """A page of khttpd with a style sheet and a picture of their own; the screenshot is kept."""
    browser = next(filter(shutil.which, ("chromium-headless-shell", "chromium")), None)
    if not browser:
        raise ktap.Skip("no chromium")
    khttpd.fresh()
    khttpd.write("index.html", b"""<!DOCTYPE html><title>net6</title>
<link rel="stylesheet" href="style.css"><h1>khttpd over net6</h1><img src="red.png">\n""")
    khttpd.write("style.css", b"body { background: rgb(%d,%d,%d); color: white; }\n"
                 b"img { position: absolute; left: 50px; top: 90px; }\n" % GREEN)
    khttpd.write("red.png", png(40, 40, RED))
    number = p.port()
    with p.B:
        khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", f"[{p.SERVER}]:{number},net6")
    shot = os.path.join(ktap.OUT, "chromium-side.png" if p.wrap else "chromium-takeover.png")
    out = p.client(browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-zygote",
                   "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                   "--disable-crash-reporter", "--no-proxy-server", "--window-size=240,160",
                   f"--user-data-dir={p.path('chromium')}", f"--screenshot={shot}",
                   p.url(number, "index.html"), timeout=600)
    ktap.true(os.path.exists(shot), out)
    with open(shot, "rb") as file:
        rows = pixels(file.read())
    ktap.equal((len(rows[0]), len(rows)), (240, 160), "size of the screenshot")
    ktap.equal((rows[155][235], rows[120][70]), (GREEN, RED), "colours of page and picture")
    ktap.true(khttpd.count("replies_file") >= 3, "khttpd has served page, style and picture")
