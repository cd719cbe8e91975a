#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The daemon of HTTPS: one that dies, what khttpdctl says of it, what its workers cannot do, who
# watches it; and daemons that lie. khttpd_tls_renewed.py is about certificates that change.
#
#	[ clients, khttpd, khttpd-tlsd and server on lo ]
#
# timeout: 240
# pylint: disable=missing-function-docstring
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import https   # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
# pylint: disable-next=wrong-import-position
from tlsdev import BEGIN, DONE, SAYS, TAKE, Device, agree_on_zeros

GET = khttpd.get
WATCH, ASK = 0xc008bc46, 0x4004bc47


@ktap.test
def the_daemon_dies():
    with https.connect() as kept:
        reader = khttpd.Reader(kept)
        kept.sendall(GET("/a.txt"))
        ktap.equal(reader.reply().status, 200, "before")
        with https.counting(tls_lost=3, closed=3):
            socks = [khttpd.V4.connect(https.PORT) for _ in range(3)]
            ktap.wait_for(10, "three wait", lambda: khttpd.count("tls_pending") == 3)
            old = https.workers()
            https.DAEMON[0].kill()
            https.DAEMON.pop().wait()
            for worker in old:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
            for sock in socks:
                ktap.true(https.ended(sock), "it went with the daemon")
                sock.close()
        ktap.wait_for(10, "no daemon", lambda: not khttpd.count("tls_daemons"))
        with https.counting(tls_lost=1, closed=1):
            ktap.true(https.refused(khttpd.V4), "without a daemon")
        https.start_daemon()
        kept.sendall(GET("/a.txt"))
        ktap.equal(reader.reply().status, 200, "after")
    # One of its https.workers only: another takes its place.
    worker = min(https.workers())
    os.kill(worker, signal.SIGKILL)
    ktap.wait_for(20, "another worker",
                  lambda: khttpd.count("tls_daemons") == 2 and worker not in https.workers())
    with https.connect() as sock:
        https.fetches(sock)
    https.at_rest()


@ktap.test
def who_has_not_begun_waits_for_another_daemon():
    """For a short while, and then no more."""
    https.stop_daemon()
    os.close(Device().fd)
    with khttpd.V4.connect(https.PORT):
        ktap.wait_for(10, "it waits", lambda: khttpd.count("tls_pending") == 1)
        ktap.equal(khttpd.count("tls_daemons"), 0, "daemons")
        device = Device()
        fd, number = device.take()
        with https.counting(tls_failed=1, tls_lost=0, closed=1):
            device.done(fd, number, 1)
            os.close(fd)
    # In its hands, and behind it.
    with https.counting(tls_lost=2, closed=2):
        with khttpd.V4.connect(https.PORT) as first, khttpd.V4.connect(https.PORT) as second:
            fd, _ = device.take()
            for one in (device.fd, fd):
                os.close(one)
            ktap.true(https.ended(first), "it went with the daemon")
            ktap.true(https.ended(second), "no other daemon has come")
    with https.counting(tls_lost=1, closed=1):
        ktap.true(https.refused(khttpd.V4), "at once by now")
    https.start_daemon()


def status():
    return json.loads(khttpd.ctl("tls", "status", "-j"))


@ktap.test
def khttpdctl_says_and_reloads():
    with https.connect() as sock:
        https.fetches(sock)
    https.at_rest()
    # Those of the last https.certificate end when their connections have.
    ktap.wait_for(20, "two workers", lambda: status()["workers"] == 2)
    now = status()
    ktap.equal({name: now[name] for name in ("workers", "done", "waiting")},
               {"workers": 2, "done": khttpd.count("tls_done"), "waiting": 0}, "counters")
    site, = now["sites"]
    ktap.equal((site["name"], site["certificate"], site["names"], "error" in site),
               ("default", f"{https.DIR}/a.example.pem", ["a.example"], False), "certificate")
    ktap.true(29 < (site["until"] - time.time()) / 86400 <= 30, f"end: {site}")
    out = khttpd.ctl("tls", "status")
    ktap.true("names a.example\n" in out and " 29 days\n" in out, out)
    old = https.workers()
    khttpd.ctl("tls", "reload")
    new = https.workers() - old
    ktap.equal(len(new), 2, "there are new workers at once")
    ktap.wait_for(20, "the old ones end", lambda: https.workers() == new)
    older = https.context()
    https.certificate("a.example")
    khttpd.ctl("tls", "reload")
    ktap.true(https.shunned(older), "nobody has the old one after the call")
    # What cannot be read is said, and nobody is told to read it.
    os.rename(f"{https.DIR}/a.example.pem", f"{https.DIR}/kept")
    out = khttpd.ctl("tls", "reload", check=False)
    ktap.true("site default: " in out and "No such file" in out, out)
    out = khttpd.ctl("tls", "status")
    ktap.true("no good: No such file" in out, out)
    with open(f"{https.DIR}/a.example.pem", "w", encoding="ascii") as file:
        file.write(ktap.run("cat", f"{https.DIR}/b.example.pem"))
    out = khttpd.ctl("tls", "reload", check=False)
    ktap.true("the key is another certificate's" in out, out)
    os.rename(f"{https.DIR}/kept", f"{https.DIR}/a.example.pem")
    https.stop_daemon()
    out = khttpd.ctl("tls", "reload", check=False)
    ktap.true("khttpd-tlsd does not run" in out, out)
    https.start_daemon()


def shown(*words):
    """The certificate that openssl's client gets, as PEM, and the kind of its signature."""
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{https.PORT}", *words],
                          input="", text=True, capture_output=True, check=False,
                          timeout=60 * ktap.SCALE)
    out = done.stdout
    kind = next((line.split(": ")[1] for line in out.splitlines()
                 if line.startswith("Peer signature type")), done.stderr)
    return kind, out[out.find("-----BEGIN"):out.find("-----END")]


def stored(name):
    text = ktap.run("cat", f"{https.DIR}/{name}.pem")
    return text[text.find("-----BEGIN"):text.find("-----END")]


@ktap.test
def certificates_of_two_kinds():
    """Each client gets one that it knows, and one of them is renewed without the other."""
    def made_rsa():
        https.new_certificate("a.example", "rsa:2048")
        for kind in ("key", "pem"):
            os.rename(f"{https.DIR}/new.{kind}", f"{https.DIR}/rsa.{kind}")
    made_rsa()
    khttpd.ctl("stop")
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", f"127.0.0.1:{https.PORT},tls",
               *https.pem("rsa"), *https.pem("a.example"))
    ecdsa, rsa = ("ECDSA+SHA256",), ("RSA-PSS+SHA256:RSA+SHA256",)
    for version in ("-tls1_2", "-tls1_3"):
        for algorithms, kind, name in ((ecdsa, "ECDSA", "a.example"), (rsa, "RSA-PSS", "rsa"),
                                       ((), "ECDSA", "a.example")):
            more = ("-sigalgs", *algorithms) if algorithms else ()
            ktap.equal(shown(version, *more), (kind, stored(name)), f"{version} {more}")
    sites = status()["sites"]
    ktap.equal([(site["certificate"], "error" in site) for site in sites],
               [(f"{https.DIR}/rsa.pem", False), (f"{https.DIR}/a.example.pem", False)], "status")
    made_rsa()
    ktap.wait_for(20, "the new one",
                  lambda: shown("-sigalgs", *rsa) == ("RSA-PSS", stored("rsa")))
    ktap.equal(shown(), ("ECDSA", stored("a.example")), "the other one")
    # As a file, which changes nothing that runs.
    saved = khttpd.ctl("save")
    ktap.equal([line.split(" = ")[1] for line in saved.splitlines()
                if line.startswith(("certificate", "key"))],
               [f"{https.DIR}/{name}.{kind}" for kind in ("pem", "key")
                for name in ("rsa", "a.example")], "saved")
    with open(f"{https.DIR}/conf", "w", encoding="ascii") as file:
        file.write(saved)
    kept = https.connect()
    khttpd.ctl("load", f"{https.DIR}/conf")
    https.fetches(kept)
    kept.close()
    # The keys in the other order are not theirs.
    with open(f"{https.DIR}/conf", "w", encoding="ascii") as file:
        file.write(saved.replace("rsa.key", "x").replace("a.example.key", "rsa.key")
                   .replace("= " + https.DIR + "/x", f"= {https.DIR}/a.example.key"))
    out = khttpd.ctl("load", f"{https.DIR}/conf", check=False)
    ktap.true("rsa.pem: the key is another certificate's" in out, out)
    ktap.raises(errno.EINVAL, https.write_line, "/sys/kernel/config/khttpd/default/key",
                "/a\nb")
    khttpd.ctl("stop")
    https.serve()


def asked_for_certificates():
    """A site whose clients need one of an authority, and one behind it."""
    khttpd.ctl("stop")
    https.certificate("client")
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", f"127.0.0.1:{https.PORT},tls",
               "--listen", "127.0.0.1:8080", *https.pem("a.example"), "--set",
               f"client_ca={https.DIR}/client.pem")
    khttpd.ctl("serve", "--site", "b", "--docroot", khttpd.WWW, "--set", "behind=default",
               "--set", "names=b.example", *https.pem("b.example"))


def let_in(name, version, own=None):
    """Does a client get a reply? With TLS 1.3 it hears of a refusal no sooner."""
    ctx = https.context(version, name=name)
    if own:
        ctx.load_cert_chain(f"{https.DIR}/{own}.pem", f"{https.DIR}/{own}.key")
    try:
        with https.connect(ctx=ctx, name=name) as sock:
            sock.sendall(GET("/a.txt"))
            return khttpd.Reader(sock).reply().status == 200
    except (OSError, ktap.Fail):
        return False


@ktap.test
def clients_need_certificates():
    """By the site that listens, whichever name they ask for."""
    asked_for_certificates()
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        for name in ("a.example", "b.example"):
            what = f"{name} {version}"
            ktap.true(not let_in(name, version), f"{what}: none")
            ktap.true(not let_in(name, version, "b.example"), f"{what}: of another authority")
            ktap.true(let_in(name, version, "client"), f"{what}: its own")
    # Whom a listener lets in is not said by a site behind it.
    out = khttpd.ctl("serve", "--site", "c", "--docroot", khttpd.WWW, "--set", "behind=default",
                     "--set", f"client_ca={https.DIR}/client.pem", check=False)
    ktap.true("Invalid argument" in out, out)
    khttpd.ctl("stop", "--all")
    https.serve()


def resumed(name, session, *words):
    """Does openssl's client resume a session? Where it has none it keeps that of its handshake."""
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{https.PORT}",
                           "-servername", name, "-tls1_2", *words,
                           *(("-sess_in", session) if os.path.exists(session) else
                             ("-sess_out", session))], input=b"", capture_output=True,
                          check=False, timeout=60 * ktap.SCALE)
    return b"Reused, TLSv1.2" in done.stdout, not done.returncode


@ktap.test
def a_session_of_elsewhere_is_not_resumed():
    """It is of a listener that asks for nothing, with the same keys of tickets."""
    own = "-cert", f"{https.DIR}/client.pem", "-key", f"{https.DIR}/client.key"
    for name in ("a.example", "b.example"):
        kept = f"{https.DIR}/{name}.session"
        ktap.equal(resumed(name, kept), (False, True), "first")
        ktap.equal(resumed(name, kept), (True, True), "where it is from")
        asked_for_certificates()
        for ask in ("a.example", "b.example"):
            ktap.equal(resumed(ask, kept), (False, False), f"{name}, by {ask}")
        mine = f"{https.DIR}/{name}.mine"
        ktap.equal(resumed(name, mine, *own), (False, True), "with a certificate")
        ktap.equal(resumed(name, mine), (True, True), "its session is as good")
        khttpd.ctl("stop", "--all")
        https.serve()


def alone(mount):
    """A command that becomes another one, with mounts of its own."""
    return "unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"


def doctor():
    return khttpd.ctl("doctor", check=False)


@ktap.test
def configfs_is_not_there():
    """Where it can be mounted, it is, as after "ip netns exec". Where not, there is no daemon."""
    ktap.true("khttpd-tlsd" not in doctor(), doctor())
    https.stop_daemon()
    for out in (doctor(), khttpd.ctl("tls", "status")):
        ktap.true("khttpd-tlsd does not run: connections" in out, out)
    done = subprocess.run([*alone("mount -t tmpfs none /sys/kernel"),
                           f"{khttpd.TOP}/tools/khttpd-tlsd"], text=True, capture_output=True,
                          check=False, timeout=60 * ktap.SCALE)
    ktap.equal((done.returncode, done.stderr),
               (1, "khttpd-tlsd: /sys/kernel/config/khttpd is not there: configfs cannot be mounted "
                   "on /sys/kernel/config: No such file or directory\n"), "it is refused")
    https.start_daemon(front=alone("umount -l /sys && mount -t sysfs none /sys"))
    with https.connect() as sock:
        https.fetches(sock)
    # It goes under a daemon that runs: nothing changes until it is there again.
    enter = "nsenter", "-m", "-r", "-t", str(https.DAEMON[0].pid)
    before, seen = https.workers(), https.refusals()
    ktap.run(*enter, "umount", "/sys/kernel/config")
    ktap.wait_for(20, "it is seen", lambda: https.refusals() > seen)
    https.certificate("a.example")
    https.DAEMON[0].send_signal(signal.SIGHUP)
    ktap.wait_for(20, "it is tried", lambda: https.refusals() > seen + 1)
    ktap.equal(https.workers(), before, "the old ones go on")
    ktap.true(https.shunned(https.context()), "with the old certificate")
    ktap.run(*enter, "mount", "-t", "configfs", "none", "/sys/kernel/config")
    ktap.wait_for(20, "the new certificate", lambda: not https.shunned(https.context()))
    ktap.wait_for(20, "the old workers end", lambda: not https.workers() & before)
    https.stop_daemon()
    https.start_daemon()


@ktap.test
def doctor_judges_certificates():
    ktap.true("a.example.pem" not in doctor(), doctor())
    before = https.workers()
    os.rename(f"{https.DIR}/a.example.key", f"{https.DIR}/kept")
    out = doctor()
    os.rename(f"{https.DIR}/kept", f"{https.DIR}/a.example.key")
    ktap.true(f"{https.DIR}/a.example.pem: its key cannot be opened" in out, out)
    ktap.wait_for(20, "the daemon has seen it", lambda: not https.workers() & before)


class Traced:
    """A worker that makes a system call for us, in place of the one in which it waits."""

    REGISTERS = 27
    RAX, RIP, ORIG_RAX = 10, 16, 15
    ARGS = (14, 13, 12, 7, 9, 8)	# rdi, rsi, rdx, r10, r8, r9
    ATTACH, DETACH, GET, SET, STEP = 16, 17, 12, 13, 9

    def __init__(self, pid):
        self.pid = pid
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                                     ctypes.c_void_p)

    def ptrace(self, what, registers=None):
        if self.libc.ptrace(what, self.pid, None, registers):
            raise OSError(ctypes.get_errno(), f"ptrace {what}")

    def call(self, number, *args):
        was = (ctypes.c_long * self.REGISTERS)()
        now = (ctypes.c_long * self.REGISTERS)()
        self.ptrace(self.GET, was)
        ctypes.memmove(now, was, ctypes.sizeof(was))
        # Back to the instruction in which it waits.
        now[self.RIP] -= 2
        now[self.RAX], now[self.ORIG_RAX] = number, -1
        for place, arg in zip(self.ARGS, args):
            now[place] = arg
        self.ptrace(self.SET, now)
        self.ptrace(self.STEP)
        os.waitpid(self.pid, 0)
        self.ptrace(self.GET, now)
        self.ptrace(self.SET, was)
        return now[self.RAX]

    def __enter__(self):
        self.ptrace(self.ATTACH)
        os.waitpid(self.pid, 0)
        return self

    def __exit__(self, *_):
        self.ptrace(self.DETACH)


@ktap.test
def a_worker_can_call_little():
    with open("/proc/self/status", encoding="ascii") as file:
        if "Seccomp_filters:" not in file.read() or os.uname().machine != "x86_64":
            raise ktap.Skip("no seccomp, or another processor")
    https.at_rest()
    for pid in https.workers():
        with Traced(pid) as worker:
            ktap.equal(worker.call(39), pid, "getpid")
            for name, number, *args in (
                    ("socket", 41, socket.AF_INET, socket.SOCK_STREAM, 0),
                    ("socket of x32", 1 << 30 | 41, socket.AF_UNIX, socket.SOCK_STREAM, 0),
                    ("connect", 42, 0, 0, 0), ("openat", 257, -100, 0, 0), ("execve", 59, 0, 0, 0),
                    ("kill", 62, pid, 0), ("ptrace", 101, 0, 0, 0), ("dup", 32, 2),
                    ("ioctl", 16, 2, 0x5401, 0), ("BEGIN", 16, 2, BEGIN, 0),
                    ("mmap of code", 9, 0, 4096, 5, 0x22, -1, 0)):
                ktap.equal(worker.call(number, *args), -errno.EPERM, name)
            for number in (TAKE, SAYS, DONE):
                ktap.equal(worker.call(16, 1000, number, 0), -errno.EBADF, "a worker's calls")
            ktap.true(worker.call(9, 0, 4096, 3, 0x22, -1, 0) > 0, "mmap")
    for _ in range(4):
        with https.connect() as sock:
            https.fetches(sock)
    https.at_rest()


@ktap.test
def a_daemon_that_lies():
    https.stop_daemon()
    silent = Device(begin=False)
    ktap.raises(errno.EPERM, fcntl.ioctl, silent.fd, TAKE, bytes(80))
    ktap.raises(errno.EPERM, silent.done, 0, 1)
    device, other = Device(), Device()
    ktap.raises(errno.EBUSY, fcntl.ioctl, device.fd, BEGIN)
    ktap.raises(errno.EAGAIN, fcntl.ioctl, device.fd, TAKE, bytes(80))
    ktap.raises(errno.EINVAL, fcntl.ioctl, device.fd, TAKE, b"\xff" * 80)
    socks = []

    def fresh():
        socks.append(khttpd.V4.connect(https.PORT))
        return device.take()
    with https.counting(tls_refused=6, tls_failed=1, tls_lost=2, tls_done=0, accepted=9, closed=9):
        fd, number = fresh()
        for wrong in (0, number + 1, 1 << 31):
            device.refuses(errno.ENOENT, fd, wrong)
        other.refuses(errno.ENOENT, fd, number)
        device.refuses(errno.EINVAL, fd, number, 2)
        device.refuses(errno.EINVAL, fd, number, 0, 1)
        device.refuses(errno.EBADF, socks[-1].fileno(), number)
        device.refuses(errno.ENOENT, fd, number)
        os.close(fd)
        fd, number = fresh()
        device.refuses(errno.EBADF, -1, number)
        os.close(fd)
        # Nothing is on, or one direction is.
        fd, number = fresh()
        device.refuses(errno.EINVAL, fd, number)
        ktap.raises(errno.EBADF, os.fstat, fd)
        fd, number = fresh()
        agree_on_zeros(fd, receives=False)
        device.refuses(errno.EINVAL, fd, number)
        # Somebody else has it, or watches it.
        fd, number = fresh()
        again = os.dup(fd)
        device.refuses(errno.EBUSY, fd, number)
        os.close(again)
        fd, number = fresh()
        with select.epoll() as epoll:
            epoll.register(fd)
            device.refuses(errno.EBUSY, fd, number)
        fd, number = fresh()
        device.done(fd, number, 1)
        os.close(fd)
        # It goes with what it has.
        fd, number = fresh()
        fresh()
        os.close(device.fd)
        other.refuses(errno.ENOENT, fd, number)
    os.close(other.fd)
    os.close(silent.fd)
    for sock in socks:
        sock.close()
    https.at_rest()
    https.start_daemon()


class Watch:
    """/dev/khttpd as the daemon's parent uses it."""

    def __init__(self):
        self.fd = os.open("/dev/khttpd", os.O_RDWR)
        self.asked = 0
        self.call()

    def call(self, asked=None, failed=0):
        arg = struct.pack("II", self.asked if asked is None else asked, failed)
        self.asked, _ = struct.unpack("II", fcntl.ioctl(self.fd, WATCH, arg))

    def told(self, timeout=20):
        return bool(select.select([self.fd], [], [], timeout)[0])


def ask(timeout=20_000):
    device = os.open("/dev/khttpd", os.O_RDWR)
    try:
        fcntl.ioctl(device, ASK, struct.pack("I", timeout))
    finally:
        os.close(device)


def asks(result):
    """Ask in another thread, and note how that ends: 0 or an errno."""
    def run():
        try:
            ask()
            result.append(0)
        except OSError as err:
            result.append(err.errno)
    thread = threading.Thread(target=run)
    thread.start()
    return thread


@ktap.test
def who_watches_is_told():
    https.stop_daemon()
    ask()
    one, two = Watch(), Watch()
    ktap.true(not one.told(0), "nothing yet")
    ktap.raises(errno.ETIME, ask, 1)
    for failed, error in ((0, 0), (1, errno.EKEYREJECTED)):
        result = []
        for watch in (one, two):
            watch.call()
        thread = asks(result)
        for watch in (one, two):
            ktap.true(watch.told(), "asked for")
            watch.call()
            ktap.true(not watch.told(0), "known")
            ktap.equal(result, [], "all must have done it")
            watch.call(failed=failed)
        thread.join()
        ktap.equal(result, [error], "answer")
    # Who goes, or says what it was not asked for, keeps nobody.
    result = []
    one.call()
    two.call(failed=0)
    thread = asks(result)
    ktap.true(one.told(), "asked for")
    one.call()
    ktap.raises(errno.EINVAL, one.call, one.asked + 1)
    ktap.raises(errno.EINVAL, one.call, None, 2)
    ktap.raises(errno.EBUSY, fcntl.ioctl, one.fd, BEGIN)
    one.call(failed=0)
    os.close(two.fd)
    thread.join()
    ktap.equal(result, [0], "answer")
    device = Device()
    ktap.raises(errno.EBUSY, fcntl.ioctl, device.fd, WATCH, bytes(8))
    os.close(device.fd)
    # A site that is changed or removed by hand.
    khttpd.ctl("serve", "--site", "hand", "--docroot", khttpd.WWW, "--set", "behind=default")
    ktap.true(one.told(), "a new site")
    one.call()
    one.call()
    khttpd.ctl("stop", "--site", "hand")
    ktap.true(one.told(), "one less")
    os.close(one.fd)
    https.start_daemon()


@ktap.test
def a_liar_with_keys_of_its_own():
    """All is on, but nothing was agreed upon: what the client sends is no record."""
    https.stop_daemon()
    device = Device()
    with https.counting(tls_done=1, closed=1):
        with khttpd.V4.connect(https.PORT) as client:
            fd, number = device.take()
            agree_on_zeros(fd)
            with socket.socket(fileno=os.dup(fd)) as sock:
                # A socket that would make whoever closes it wait.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                struct.pack("ii", 1, 1000))
            device.done(fd, number)
            client.sendall(GET("/a.txt"))
            ktap.true(https.ended(client), "closed")
    os.close(device.fd)
    https.at_rest()
    https.start_daemon()


ktap.main(https.setup)
