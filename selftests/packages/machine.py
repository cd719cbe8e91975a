#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a Debian machine with the packages does: scripts/packages runs this in a guest, as a unit
of systemd. packages.mode= on the kernel's command line says which tests; each prints a line, and
"all done" is the last when none failed.

    [ clients, khttpd and nginx on lo ]
"""

import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

BOX = "/root/box"
WWW = "/srv/www"
PAGE = b"a page\n" * 100
TESTS = {"side": [], "takeover": []}


class Failed(Exception):
    """What a test says when it fails."""


def test(mode):
    """Marks a test of that mode; they run in the order of the file."""
    def add(function):
        TESTS[mode].append(function)
        return function
    return add


def run(*command, check=True):
    """A command's output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, check=False)
    if check and done.returncode:
        raise Failed(f"{' '.join(command)}: {done.returncode}: {done.stdout[-1500:]}")
    return done.stdout


def apt_get(*words):
    """What it says goes to the report: on an emulated machine it takes minutes."""
    start = time.monotonic()
    with subprocess.Popen(("apt-get", "-qy") + words, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True) as apt:
        for line in apt.stdout:
            print(f"## {time.monotonic() - start:4.0f} s {line.rstrip()}")
    true(apt.returncode == 0, f"apt-get {words}: {apt.returncode}")


def systemctl(*words):
    """Says what the unit said, too, when it fails."""
    try:
        return run("systemctl", *words)
    except Failed as error:
        said = run("journalctl", "-n", "12", "-o", "cat", "--no-pager", check=False)
        raise Failed(f"{error}\n{said}") from error


def true(value, what):
    """Fails unless value is true."""
    if not value:
        raise Failed(what)


def write(path, text):
    """The file, with its folder."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def modules():
    """Those of ours that are loaded."""
    with open("/proc/modules", encoding="ascii") as file:
        return {line.split()[0] for line in file} & {"net6", "net6_tunnel4", "khttpd"}


def version(module):
    """That of the loaded module."""
    with open(f"/sys/module/{module}/version", encoding="ascii") as file:
        return file.read().strip()


def active(*units):
    """Fails unless they are all active, or soon: a unit follows another one without being waited
    for."""
    for unit in units:
        end = time.monotonic() + 60
        while True:
            state = run("systemctl", "is-active", unit, check=False).strip()
            if state != "activating" or time.monotonic() > end:
                break
            time.sleep(0.2)
        true(state == "active", f"{unit} is {state}")


def requests_of_khttpd():
    """How many khttpd has answered."""
    with open("/sys/kernel/config/khttpd/stats", encoding="ascii") as file:
        return int(dict(map(str.split, file))["requests"])


class Load:
    """Clients that ask for PAGE all the time, half of them on connections that they keep.

    What is lost: a request on a new connection without its whole answer. A kept connection may
    be closed when idle (RFC 9112 9.3.1): a request that met this is sent once more, on a new one.
    """

    def __init__(self, port=80):
        self.port = port
        # After each answer. An emulated machine does little else than ask without it.
        self.pause = 0
        self.lost = []
        self.answered = 0
        self.again = 0
        self.ended = threading.Event()
        self.clients = [threading.Thread(target=self.client, args=(keep,), daemon=True)
                        for keep in (True, False, True, False)]

    def ask(self, link, more):
        """One answer, which is the page. May the connection be used again?"""
        link.request("GET", "/a.txt", headers={} if more else {"Connection": "close"})
        reply = link.getresponse()
        body = reply.read()
        if (reply.status, body) != (200, PAGE):
            raise Failed(f"status {reply.status}, {len(body)} octets")
        return not reply.will_close

    def client(self, keep):
        """One client."""
        link, used = None, False
        while not self.ended.is_set():
            if not link:
                link, used = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60), False
            try:
                used = self.ask(link, keep)
                self.answered += 1
            except (OSError, http.client.HTTPException, Failed) as error:
                # Nothing of an answer has come: the connection was idle to the server.
                if used and isinstance(error, (http.client.RemoteDisconnected,
                                               ConnectionResetError, BrokenPipeError)):
                    self.again += 1
                else:
                    self.lost.append(f"{time.monotonic():.2f} {error!r}")
                used = False
            if not used:
                link.close()
                link = None
            time.sleep(self.pause)

    def __enter__(self):
        for client in self.clients:
            client.start()
        self.more()
        return self

    def more(self):
        """Waits until a hundred more are answered."""
        aim, end = self.answered + 100, time.monotonic() + 120
        while self.answered < aim:
            true(time.monotonic() < end, f"answered {self.answered}, lost {self.lost[:5]}")
            time.sleep(0.1)

    def __exit__(self, *what):
        self.ended.set()
        for client in self.clients:
            client.join()
        print(f"# {self.answered} answered, {self.again} sent again on a new connection, "
              f"{len(self.lost)} lost")
        if not what[0]:
            true(not self.lost, f"lost {self.lost[:8]}")


@test("side")
def nothing_was_loaded():
    true(not modules(), f"loaded: {modules()}")
    for unit in ("net6", "khttpd", "khttpd-tlsd", "khttpd-log"):
        state = run("systemctl", "is-active", unit, check=False).strip()
        true(state == "inactive", f"{unit} is {state}")


@test("side")
def modprobe_and_a_page_by_net6():
    run("modprobe", "net6")
    run("modprobe", "khttpd")
    run("khttpdctl", "serve", "--docroot", WWW, "--listen", "[::]:8080,net6")
    body = run("net6-run", "curl", "-sS", "-g", "http://[::1]:8080/a.txt")
    true(body.encode() == PAGE, f"the page: {body[:200]}")
    run("khttpdctl", "stop", "--all")
    run("modprobe", "-r", "khttpd", "net6")


@test("side")
def units_start_and_serve():
    run("modprobe", "net6")
    saved = run("net6ctl", "save")
    run("modprobe", "-r", "net6")
    write("/etc/net6/net6.conf", saved)
    write("/etc/khttpd/khttpd.conf", f"[site default]\ndocroot = {WWW}\n"
          "listen = 127.0.0.1:8080\nlisten = [::]:8080,net6\n")
    systemctl("start", "net6", "khttpd")
    active("net6", "khttpd")
    body = run("net6-run", "curl", "-sS", "-g", "http://[::1]:8080/a.txt")
    true(body.encode() == PAGE, f"the page: {body[:200]}")


@test("side")
def reload_keeps_a_connection():
    link = http.client.HTTPConnection("127.0.0.1", 8080, timeout=60)

    def ask():
        link.request("GET", "/a.txt")
        reply = link.getresponse()
        true(reply.read() == PAGE, "the page")
        return reply.getheader("cache-control")

    link.connect()
    before = ask(), link.sock.getsockname()
    with open("/etc/khttpd/khttpd.conf", "a", encoding="ascii") as file:
        file.write("rule = cache *.txt max-age=5\n")
    systemctl("reload", "khttpd", "net6")
    after = ask(), link.sock.getsockname()
    true(before[1] == after[1], "another connection")
    true((before[0], after[0]) == (None, "max-age=5"), f"{before}, {after}")
    link.close()
    # A file that is wrong changes nothing.
    with open("/etc/khttpd/khttpd.conf", "a", encoding="ascii") as file:
        file.write("nonsense\n")
    run("systemctl", "reload", "khttpd", check=False)
    active("khttpd")
    ask()
    link.close()


@test("side")
def stop_unloads():
    systemctl("stop", "khttpd")
    true(modules() <= {"net6", "net6_tunnel4"}, f"loaded: {modules()}")
    systemctl("stop", "net6")
    true(not modules(), f"loaded: {modules()}")


@test("side")
def attached_to_nginx():
    write("/etc/khttpd/nginx.conf", f"[site nginx]\ndocroot = {WWW}\nattach = /run/nginx.pid 80\n")
    systemctl("start", "nginx")
    systemctl("start", "khttpd@nginx")
    active("nginx", "khttpd@nginx")
    with Load() as load:
        load.more()
        systemctl("reload", "nginx")
        load.more()
    systemctl("restart", "nginx")
    active("nginx", "khttpd@nginx")
    before = requests_of_khttpd()
    run("curl", "-sS", "-f", "http://127.0.0.1/a.txt")
    true(requests_of_khttpd() > before, f"nginx answered: {run('khttpdctl', 'status')}")


@test("side")
def upgraded_under_load():
    old, new = open(f"{BOX}/versions", encoding="ascii").read().split()
    release = os.uname().release
    # The compiling was done before, of the same source by the same dkms.
    for name, mods in (("net6", ("net6", "net6_tunnel4")), ("khttpd", ("khttpd",))):
        copies = " && ".join(f"cp {BOX}/built/{mod}.ko {name}/" for mod in mods)
        write(f"/etc/dkms/{name}-{new}.conf", f'MAKE[0]="{copies}"\nPOST_BUILD=""\n')
    systemctl("start", "net6")
    # To make an initramfs takes longer than all the rest here; scripts/packages looks at it.
    os.unlink("/etc/net6/initramfs")
    packages = [f"{BOX}/newer/{name}" for name in os.listdir(f"{BOX}/newer")]
    with Load() as load:
        before = requests_of_khttpd()
        load.pause = 0.5
        apt_get("install", *packages)
        load.pause = 0
        load.more()
        active("nginx", "khttpd@nginx", "net6")
        true((version("khttpd"), version("net6")) == (old, old), "what runs is no more the old")
        true(requests_of_khttpd() > before, "khttpd answers no more")
        load.more()
        systemctl("restart", "khttpd@nginx", "net6")
        load.more()
        true((version("khttpd"), version("net6")) == (new, new),
             f"after the restart: {version('khttpd')}, {version('net6')}")
        true(requests_of_khttpd() > 0, "the new khttpd does not answer")
    for module in ("net6", "khttpd"):
        path = run("modinfo", "-n", module)
        true(f"/lib/modules/{release}/updates/dkms/" in path, path)


@test("side")
def purge_under_load_leaves_nothing():
    with Load() as load:
        load.pause = 0.2
        apt_get("purge", "net6-dkms", "khttpd-dkms", "net6-tools", "net6-dev")
        load.pause = 0
        load.more()
    true(not modules(), f"loaded: {modules()}")
    for path in ("/etc/net6", "/etc/khttpd", "/var/log/khttpd", "/dev/khttpd"):
        true(not os.path.exists(path), f"there is {path}")
    true("khttpd" not in run("systemctl", "list-units", "--all", "--plain"), "units are left")


@test("takeover")
def net6_is_there_before_the_first_program():
    log = run("dmesg")
    net6 = re.search(r"\[ *([\d.]+)\] net6: ", log)
    init = re.search(r"\[ *([\d.]+)\] systemd\[1\]: ", log)
    true(net6 and init, "no line of net6 or of systemd:\n" + log[-1000:])
    true(float(net6.group(1)) < float(init.group(1)), f"{net6.group()}, {init.group()}")
    # Not by the unit: it is not enabled.
    true(run("systemctl", "is-enabled", "net6", check=False).strip() == "disabled", "enabled")


@test("takeover")
def unmodified_programs_use_it():
    active("nginx")
    body = run("curl", "-sS", "-g", "http://[::1]/a.txt")
    true(body.encode() == PAGE, f"the page: {body[:200]}")
    with socket.socket(socket.AF_INET6) as sock:
        sock.bind(("::1", 0))
    systemctl("start", "net6")
    active("net6")


def fewer_modules():
    """Without the kernel's drivers and file systems, whose work is done. dkms calls depmod for each
    module that comes and goes, and that reads all: emulated it took three minutes each time."""
    for folder in ("drivers", "fs", "sound", "arch", "crypto"):
        shutil.rmtree(f"/lib/modules/{os.uname().release}/kernel/{folder}")
    run("depmod")


def main():
    with open("/proc/cmdline", encoding="ascii") as file:
        mode = re.search(r"packages\.mode=(\S+)", file.read()).group(1)
    write(f"{WWW}/a.txt", PAGE)
    # The server could answer all that khttpd does.
    shutil.rmtree("/var/www/html", ignore_errors=True)
    os.makedirs("/var/www", exist_ok=True)
    os.symlink(WWW, "/var/www/html")
    if mode == "side":
        fewer_modules()
    failed = False
    for function in TESTS[mode]:
        start = time.monotonic()
        try:
            function()
        except (Failed, OSError) as error:
            failed = True
            print(f"not ok {function.__name__}: {error}")
        else:
            print(f"ok {function.__name__} ({time.monotonic() - start:.0f} s)")
    if not failed:
        print("all done")


if __name__ == "__main__":
    sys.exit(main())
