#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# A tree of files is fetched from khttpd by the programs that people use, byte for byte. It
# goes over native IPv4, native IPv6 and, under net6-run, net6. go-fetch is static, so it
# does not go under net6-run.
#
#	[ clients and server on lo ]    [ client ] c0 ------ s0 [ server ] with net6
#
# guest: named
# guest-options: --memory 3G
# timeout: 900
# pylint: disable=missing-function-docstring
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

MADE = os.path.join(khttpd.TOP, "build/programs")
OUT = "/tmp/fetched"
SIZES = (0, 1, 63, 4095, 4096, 4097, 8192, 8193, 65536, 300_001, 3_000_001)
TREE = {f"{folder}{size}.bin": random.Random(size).randbytes(size)
        for folder in ("", "a/", "a/b c/") for size in SIZES}
PLACES = [khttpd.V4, khttpd.V6]

PYTHON = """if True:
    import os, sys, urllib.parse, urllib.request
    for name in sys.argv[3:]:
        to = os.path.join(sys.argv[2], urllib.parse.unquote(name))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        urllib.request.urlretrieve(f"{sys.argv[1]}/{name}", to)
"""
NODE = """
const fs = require('fs'), path = require('path'), http = require('http');
const [base, to, ...names] = process.argv.slice(1);
const agent = new http.Agent({keepAlive: true, maxSockets: 4});
for (const name of names)
    http.get(`${base}/${name}`, {agent}, reply => {
        const file = path.join(to, decodeURIComponent(name));
        if (reply.statusCode != 200) throw new Error(`${name}: ${reply.statusCode}`);
        fs.mkdirSync(path.dirname(file), {recursive: true});
        reply.pipe(fs.createWriteStream(file));
    });
"""
# A browser keeps what it fetches: for each file the page asks for one more, by whose name it
# tells what came.
PAGE = """<!DOCTYPE html><title>tree</title><body><script>
const table = [...Array(256).keys()].map(n => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ n >>> 1 : n >>> 1;
    return n;
});
for (const name of %s)
    (async () => {
        const reply = await fetch(name), bytes = new Uint8Array(await reply.arrayBuffer());
        let crc = -1;
        for (const byte of bytes) crc = table[(crc ^ byte) & 255] ^ crc >>> 8;
        return [reply.status, bytes.length, ~crc >>> 0];
    })().catch(error => [encodeURIComponent(error)]).then(
        told => fetch(`/found?${[name, ...told]}`));
</script></body>
"""


def setup():
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    for name, data in TREE.items():
        khttpd.write(name, data)
    khttpd.serve(khttpd.V4, "--listen", khttpd.V6.listen, "--set", "listing=1")
    khttpd.serve(PLACES[2], "--set", "listing=1", site="six")


def quoted(name):
    return name.replace(" ", "%20")


def run(place, *command):
    if place.client:
        return place.client.run(f"{khttpd.TOP}/tools/net6-run", *command, timeout=300)
    return ktap.run(*command, timeout=300)


def fetched(what, program, *command, names=tuple(TREE), places=None):
    """All files are there, with the bytes that they have, and were replies of khttpd."""
    if not shutil.which(program):
        raise ktap.Skip(f"no {program}")
    for place in places or PLACES:
        shutil.rmtree(OUT, ignore_errors=True)
        os.makedirs(OUT)
        before = khttpd.count("replies_file")
        run(place, program, *(word for part in command for word in
                              (part(place) if callable(part) else (part,))))
        for name in names:
            with open(f"{OUT}/{name}", "rb") as file:
                ktap.true(file.read() == TREE[name], f"{name} by {what} over {place.name}")
        ktap.true(khttpd.count("replies_file") >= before + len(names), "khttpd has served them")


def base(place):
    return (place.url(""),)


NAMES = [quoted(name) for name in TREE]


@ktap.test
def curl():
    """One connection; four at once."""
    for options in ((), ("--parallel", "--parallel-max", "4")):
        fetched("curl", "curl", "-sS", "--fail", "--globoff", "--create-dirs", "--output-dir", OUT,
                *options, lambda place: [word for name in TREE for word in
                                         ("-o", name, place.url("/" + quoted(name)))])


@ktap.test
def wget():
    """It finds them by the listings."""
    fetched("wget", "wget", "-q", "-r", "-l", "inf", "-np", "-nH", "-P", OUT,
            lambda place: (place.url("/"),))


@ktap.test
def python():
    fetched("Python", "/usr/bin/python3", "-c", PYTHON, base, OUT, *NAMES)


@ktap.test
def node():
    fetched("node", "node", "-e", NODE, base, OUT, *NAMES)


# These keep files by their names in the URL: names without blanks.
PLAIN = [name for name in TREE if " " not in name]


def made(name):
    """What scripts/programs compiles, for make check-programs."""
    path = os.path.join(MADE, name)
    if not os.path.exists(path):
        raise ktap.Skip(f"no {path}: scripts/programs makes it")
    return path


@ktap.test
def java():
    made("JavaFetch.class")
    fetched("Java", "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-cp",
            MADE, "JavaFetch", base, OUT, *PLAIN, names=PLAIN)


@ktap.test
def go():
    fetched("Go", made("go-fetch"), base, OUT, *PLAIN, names=PLAIN, places=PLACES[:2])


@contextlib.contextmanager
def visited(place, *browser):
    """A browser that has been told to go to the page."""
    command = [*browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-zygote",
               "--disable-dev-shm-usage", "--no-first-run", "--disable-crash-reporter",
               "--no-proxy-server", f"--user-data-dir=/tmp/chromium-{place.name}",
               "--remote-debugging-port=0", place.url("/page.html")]
    with place.client or contextlib.nullcontext():
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [f"{khttpd.TOP}/tools/net6-run", *command] if place.client else command,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def told():
    """By the log, what the page has told."""
    with open(khttpd.LOG, encoding="ascii") as file:
        return re.findall(r"GET /found\?(\S+) HTTP", file.read())


@ktap.test
def chromium():
    browser = next(filter(shutil.which, ("chromium-headless-shell", "chromium")), None)
    if not browser:
        raise ktap.Skip("no chromium")
    khttpd.write("page.html", (PAGE % json.dumps(NAMES)).encode())
    wanted = sorted(f"{quoted(name)},200,{len(data)},{zlib.crc32(data)}"
                    for name, data in TREE.items())
    for place in PLACES:
        log = khttpd.Log()
        with visited(place, browser):
            ktap.wait_for(300, f"the page over {place.name} has told of all",
                          lambda: len(told()) >= len(wanted),
                          look=lambda: ktap.diag(f"told: {told()}"))
        log.stop()
        ktap.equal(sorted(told()), wanted, f"what was fetched over {place.name}")


ktap.main(setup)
