#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A file and a page of the server behind are fetched over HTTPS by the programs that people use, on
# one connection where they keep one, with TLS 1.2 and 1.3 where they can be told. The certificate
# is checked by each. The server is nginx without TLS.
#
#	[ clients, khttpd, khttpd-tlsd and nginx on lo ]
#
# guest: named
# guest-options: --memory 3G
# timeout: 400
# pylint: disable=missing-function-docstring
import base64
import hashlib
import os
import shutil
import ssl
import subprocess
import sys
import urllib.request
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import https     # pylint: disable=wrong-import-position
import khttpd    # pylint: disable=wrong-import-position
import ktap      # pylint: disable=wrong-import-position
import programs  # pylint: disable=wrong-import-position

OUT = "/tmp/fetched"
BASE = f"https://localhost:{https.PORT}"
PEM = f"{https.DIR}/localhost.pem"
PAGES = {"big": https.BIG, "dyn": b"nginx GET /dyn\n"}
VERSIONS = ("1.2", "1.3")

NODE = """
const fs = require('fs'), https = require('https'), [base, to, ...names] = process.argv.slice(1);
const agent = new https.Agent({keepAlive: true, maxSockets: 1});
for (const name of names)
    https.get(`${base}/${name}`, {agent}, reply => {
        if (reply.statusCode != 200) throw new Error(`${name}: ${reply.statusCode}`);
        reply.pipe(fs.createWriteStream(`${to}/${name}`));
    });
"""
# What the page has fetched is in the document when it is loaded.
PAGE = """<!DOCTYPE html><title>pages</title><body><script>
const table = [...Array(256).keys()].map(n => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ n >>> 1 : n >>> 1;
    return n;
});
for (const name of ['big', 'dyn']) {
    const ask = new XMLHttpRequest();
    ask.open('GET', name, false);
    ask.overrideMimeType('text/plain; charset=x-user-defined');
    ask.send();
    let crc = -1;
    for (const byte of ask.responseText) crc = table[(crc ^ byte.charCodeAt()) & 255] ^ crc >>> 8;
    document.write(`[${name} ${ask.status} ${ask.responseText.length} ${~crc >>> 0}]`);
}
</script></body>
"""


def setup():
    https.setup("localhost")
    khttpd.write("page.html", PAGE.encode())
    nginx = khttpd.Nginx(["127.0.0.1:8081", "[::1]:8081"])
    khttpd.ctl("attach", "--site", "default", "--pid", str(nginx.pid), "--port", "8081")


def fetched(what, *command, **more):
    """Both pages are in OUT, byte for byte: khttpd has served one and handed the other over."""
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    before = khttpd.counters()
    ktap.run(*command, timeout=300, env={**os.environ, **more})
    for name, data in PAGES.items():
        with open(f"{OUT}/{name}", "rb") as file:
            ktap.true(file.read() == data, f"{name} by {what}")
    same(what, before)


def same(what, before):
    now = khttpd.counters()
    for name in ("replies_file", "handed_over", "tls_done"):
        ktap.true(now[name] > before[name], f"{name} has grown by {what}")
    # One that the client has reset meanwhile is among them: a browser asks both addresses.
    if what != "Chromium":
        ktap.equal(now["tls_refused"], before["tls_refused"], "connections that were refused")


@ktap.test
def curl():
    programs.need("curl")
    for version in VERSIONS:
        fetched(f"curl {version}", "curl", "-sS", "--fail", f"--tlsv{version}", "--tls-max", version,
                "--cacert", PEM, "--output-dir", OUT, "-o", "big", "-o", "dyn",
                *(f"{BASE}/{name}" for name in PAGES))


@ktap.test
def wget():
    """With GnuTLS, as Debian has it."""
    programs.need("wget")
    for version in VERSIONS:
        fetched(f"wget {version}", "wget", "-q", "--ca-certificate", PEM,
                f"--secure-protocol=TLSv{version.replace('.', '_')}", "-P", OUT,
                *(f"{BASE}/{name}" for name in PAGES))


@ktap.test
def python():
    before = khttpd.counters()
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        ctx = ssl.create_default_context(cafile=PEM)
        ctx.minimum_version = ctx.maximum_version = version
        for name, data in PAGES.items():
            with urllib.request.urlopen(f"{BASE}/{name}", context=ctx) as reply:
                ktap.true(reply.read() == data, f"{name} by {version}")
    same("Python", before)


@ktap.test
def openssl():
    """Both on one connection."""
    before = khttpd.counters()
    asked = khttpd.get("/big") + khttpd.get("/dyn", "Connection: close\r\n")
    for version in ("-tls1_2", "-tls1_3"):
        out = subprocess.run(["openssl", "s_client", version, "-connect", f"localhost:{https.PORT}",
                              "-servername", "localhost", "-verify_return_error", "-CAfile", PEM,
                              "-quiet"], input=asked, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, check=False,
                             timeout=60 * ktap.SCALE).stdout
        ktap.true(all(data in out for data in PAGES.values()), f"both by {version}")
    same("openssl", before)


@ktap.test
def node():
    programs.need("node")
    for version in VERSIONS:
        fetched(f"node {version}", "node", f"--tls-min-v{version}", f"--tls-max-v{version}", "-e",
                NODE, BASE, OUT, *PAGES, NODE_EXTRA_CA_CERTS=PEM)


@ktap.test
def java():
    programs.made("JavaFetch.class")
    store = f"{https.DIR}/store"
    ktap.run("keytool", "-importcert", "-noprompt", "-file", PEM, "-keystore", store, "-storepass",
             "secret", timeout=300)
    for version in VERSIONS:
        fetched(f"Java {version}", "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=secret",
                f"-Djdk.tls.client.protocols=TLSv{version}", "-cp", programs.MADE, "JavaFetch", BASE, OUT,
                *PAGES)


@ktap.test
def go():
    fetched("Go", programs.made("go-fetch"), BASE, OUT, *PAGES, SSL_CERT_FILE=PEM)


def fingerprint():
    """Of the certificate's key: Chromium takes it for one that is signed."""
    with open(PEM, encoding="ascii") as file:
        key = subprocess.run(["openssl", "x509", "-pubkey", "-noout"], stdin=file, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    der = base64.b64decode("".join(key.splitlines()[1:-1]))
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


@ktap.test
def chromium():
    browser = next(filter(shutil.which, ("chromium-headless-shell", "chromium")), None)
    if not browser:
        raise ktap.Skip("no chromium")
    before = khttpd.counters()
    out = ktap.run(browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-zygote",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-crash-reporter",
                   "--no-proxy-server", "--user-data-dir=/tmp/chromium",
                   f"--ignore-certificate-errors-spki-list={fingerprint()}", "--dump-dom",
                   f"{BASE}/page.html", timeout=350)
    for name, data in PAGES.items():
        ktap.true(f"[{name} 200 {len(data)} {zlib.crc32(data)}]" in out, f"{name} in {out[-500:]}")
    same("Chromium", before)


ktap.main(setup)
