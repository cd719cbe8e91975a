# SPDX-License-Identifier: GPL-2.0
"""What the tests of HTTPS share: certificates, khttpd-tlsd, a site with TLS, clients, and what is
counted.
"""

# pylint: disable=missing-function-docstring
import contextlib
import fcntl
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
PORT = 8443
DIR = "/tmp/tls"
LOG = f"{DIR}/log"
BIG = os.urandom(1_000_003)
MID = BIG[:70_000]
DAEMON = []
# linux/socket.h, linux/tls.h, openssl/ssl.h
_SOL_TLS, _SET_RECORD_TYPE, _OP_ENABLE_KTLS = 282, 1, 1 << 3
# linux/khttpd.h
_CIPHERS = 0x8004bc45


def setup(name="a.example", key="ec"):
    """@name, @key: what the site's certificate is for, and openssl's word for its key."""
    khttpd.fresh()
    if ktap.CHECKING:
        modprobe_never()
    # A handshake of a slow guest has its time, too; and a connection that is kept while others
    # do something has all of it.
    khttpd.limit("tls_timeout", 10000 * ktap.SCALE)
    for limit in ("head_timeout", "idle_timeout"):
        khttpd.limit(limit, 3600_000)
    khttpd.write("a.txt", b"hello\n")
    khttpd.write("big", BIG)
    khttpd.write("mid", MID)
    os.makedirs(DIR, exist_ok=True)
    for one in {name, "a.example", "b.example"}:
        certificate(one, key)
    start_daemon()
    ktap.at_exit(stop_daemon)
    serve(name)


def modprobe_never():
    """There each run takes seconds, and what TLS needs is built in, or not had at all."""
    path = "/proc/sys/kernel/modprobe"
    with open(path, encoding="ascii") as file:
        ktap.at_exit(write_line, path, file.read().strip())
    write_line(path, "")


def write_line(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "\n")


def new_certificate(name, key="ec"):
    """At new.key and new.pem."""
    curve = ("-pkeyopt", "ec_paramgen_curve:prime256v1") if key == "ec" else ()
    ktap.run("openssl", "req", "-x509", "-newkey", key, *curve, "-nodes", "-days", "30",
             "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
             "-keyout", f"{DIR}/new.key", "-out", f"{DIR}/new.pem")


def certificate(name, key="ec"):
    """It is whole when it gets its place."""
    new_certificate(name, key)
    for kind in ("key", "pem"):
        os.rename(f"{DIR}/new.{kind}", f"{DIR}/{name}.{kind}")


def pem(name):
    return ("--certificate", f"{DIR}/{name}.pem", "--key", f"{DIR}/{name}.key")


def serve(name="a.example"):
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", f"127.0.0.1:{PORT},tls",
               "--listen", f"[::1]:{PORT},tls", "--listen", "127.0.0.1:8080",
               *pem(name))
    # The daemon knows the site before it listens. Workers that do not know it take no more.
    connect(ctx=context(name=name), name=name).close()
    ktap.wait_for(20, "they have gone", lambda: khttpd.count("tls_daemons") == 2)
    at_rest()


def start_daemon(workers=2, front=()):
    """@front: a command that becomes it."""
    # pylint: disable-next=consider-using-with
    with open(LOG, "a", encoding="ascii") as log:
        DAEMON.append(subprocess.Popen([*front, f"{khttpd.TOP}/tools/khttpd-tlsd", "--workers",
                                        str(workers)], stderr=log))
    # The first one has modules loaded, which takes long on a machine that does other things.
    ktap.wait_for(120, "khttpd-tlsd is there",
                  lambda: khttpd.count("tls_daemons") == workers)


def processes():
    """Process id, name, and what /proc/PID/stat has behind it: each pgrep costs seconds on the
    checking kernel.
    """
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open(f"/proc/{pid}/stat", encoding="ascii") as file:
            name, fields = file.read().split("(", 1)[1].rsplit(")", 1)
            yield int(pid), name, fields.split()


def workers():
    return {pid for pid, _, fields in processes() if int(fields[1]) == DAEMON[0].pid}


def descriptors():
    """Of each worker; 0 for one that has just gone."""
    found = []
    for pid in workers():
        with contextlib.suppress(FileNotFoundError):
            found.append(len(os.listdir(f"/proc/{pid}/fd")))
    return sorted(found)


def keys():
    """Connections that the kernel's record layer has keys for, sending and receiving."""
    with open("/proc/net/tls_stat", encoding="ascii") as file:
        values = dict(line.split() for line in file)
    return int(values["TlsCurrTxSw"]), int(values["TlsCurrRxSw"])


def stop_daemon(how=signal.SIGTERM):
    while DAEMON:
        daemon = DAEMON.pop()
        daemon.send_signal(how)
        daemon.wait()
    ktap.wait_for(30, "khttpd-tlsd has gone", lambda: not khttpd.count("tls_daemons"))


def refusals():
    """How often the daemon has not taken the certificates."""
    with open(LOG, encoding="ascii") as file:
        return file.read().count("the certificates are not changed")


def has_chacha():
    """What khttpd says, which is to be what the kernel's own list says."""
    device = os.open("/dev/khttpd", os.O_RDWR)
    found, = struct.unpack("I", fcntl.ioctl(device, _CIPHERS, bytes(4)))
    os.close(device)
    with open("/proc/crypto", encoding="ascii") as file:
        listed = "rfc7539(chacha20,poly1305)" in file.read()
    ktap.equal(found, 3 if listed else 1, "ciphers")
    return listed


def at_rest():
    for name in ("tls_pending", "connections"):
        ktap.wait_for(20, f"no {name}", lambda n=name: not khttpd.count(n))


@contextlib.contextmanager
def limits(**values):
    old = {name: khttpd.limit(name, value) for name, value in values.items()}
    try:
        yield
    finally:
        for name, value in old.items():
            khttpd.limit(name, value)


@contextlib.contextmanager
def counting(**wanted):
    """By how much these counters grow, sooner or later, and no more."""
    before = khttpd.counters()

    def grown():
        now = khttpd.counters()
        return {name: now[name] - before[name] for name in wanted}
    yield
    with contextlib.suppress(ktap.Fail):
        ktap.wait_for(20, "counters", lambda: grown() == wanted)
    ktap.equal(grown(), wanted, "counters")


def context(version=None, alpn=("http/1.1",), name="a.example"):
    ctx = ssl.create_default_context(cafile=f"{DIR}/{name}.pem" if name else f"{DIR}/kept")
    if version:
        ctx.minimum_version = ctx.maximum_version = version
    ctx.set_alpn_protocols(alpn)
    return ctx


def connect(place=khttpd.V4, ctx=None, name="a.example", timeout=None):
    sock = place.connect(PORT, timeout)
    return (ctx or context()).wrap_socket(sock, server_hostname=name,
                                          suppress_ragged_eofs=False)


@contextlib.contextmanager
def records(version):
    """A connection whose client sends records of any type and length: @send(type, bytes)."""
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.check_hostname = False
    ctx.verify_mode = ssl.CERT_NONE
    ctx.minimum_version = ctx.maximum_version = version
    ctx.options |= _OP_ENABLE_KTLS
    with socket.create_connection(("127.0.0.1", PORT), 60) as plain:
        # Of TLS 1.3's the record layer of the client encrypts only: nothing is read by it.
        sock = ctx.wrap_socket(plain, suppress_ragged_eofs=False)
        with socket.socket(fileno=os.dup(sock.fileno())) as raw:
            raw.settimeout(60)

            def send(kind, data):
                raw.sendmsg([data], [(_SOL_TLS, _SET_RECORD_TYPE, bytes([kind]))])
            yield sock, send
        with contextlib.suppress(OSError):
            sock.close()


def shunned(ctx):
    """One of both sides does not want to talk like that."""
    try:
        connect(ctx=ctx).close()
    except ssl.SSLError:
        return True
    return False


def fetches(sock, large=False):
    """Several requests on one connection, one by one and together."""
    reader = khttpd.Reader(sock)
    sock.sendall(GET("/a.txt"))
    ktap.equal(reader.reply().body, b"hello\n", "small")
    if large:
        sock.sendall(GET("/big"))
        ktap.true(reader.reply().body == BIG, "1 MB")
    sock.sendall(GET("/big", "Range: bytes=16000-17000\r\n"))
    ktap.true(reader.reply().body == BIG[16000:17001], "range")
    sock.sendall(GET("/a.txt", method="HEAD"))
    ktap.equal(reader.reply(head_only=True).fields["content-length"], "6", "HEAD")
    sock.sendall(GET("/no"))
    ktap.equal(reader.reply().status, 404, "none")
    sock.sendall(GET("/a.txt") * 5 + GET("/mid") + GET("/a.txt", "Connection: close\r\n"))
    for _ in range(5):
        ktap.equal(reader.reply().body, b"hello\n", "pipelined")
    ktap.true(reader.reply().body == MID, "pipelined, of several records")
    ktap.equal(reader.reply().body, b"hello\n", "last")
    # Without close_notify this is an error here.
    ktap.equal(sock.recv(1), b"", "end")


def refused(place):
    try:
        with place.connect(PORT) as sock:
            return ended(sock)
    except ConnectionResetError:
        return True


def ended(sock):
    try:
        while sock.recv(1000):
            pass
    except ConnectionError:
        pass
    return True
