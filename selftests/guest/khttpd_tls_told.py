#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What a server behind HTTPS is told of TLS by send_proxy: the client's certificate, the cipher, the
# site's own certificate. Beside haproxy, whose words they are. Names that would do harm are left
# out, and a daemon that lies is refused.
#
#	[ clients, khttpd or haproxy, khttpd-tlsd and a server on lo ]
#
# timeout: 240
# pylint: disable=missing-function-docstring
import contextlib
import errno
import fcntl
import os
import shutil
import socket
import ssl
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import https   # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position
import pki     # pylint: disable=wrong-import-position
from proxyhead import PP2_TYPE_SSL, announced, tlvs  # pylint: disable=wrong-import-position
# pylint: disable-next=wrong-import-position
from tlsdev import SAYS, SAYS_MAX, Device, agree_on_zeros

GET = khttpd.get
HAPROXY = 9443
SERVER = 9080
# Sub-types of PP2_TYPE_SSL, and bits of its first byte.
VERSION, CN, CIPHER, SIG_ALG, KEY_ALG = 0x21, 0x22, 0x23, 0x24, 0x25
CLIENT_SSL, CERT_CONN, CERT_SESS = 1, 2, 4
TLS1_2, TLS1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3

CONFIG = """
defaults
    mode tcp
    timeout connect 60s
    timeout client 600s
    timeout server 600s
frontend f
    bind 127.0.0.1:{port} ssl crt {dir}/both.pem ciphersuites TLS_AES_128_GCM_SHA256 {ask}
    default_backend b
backend b
    server s 127.0.0.1:{server} send-proxy-v2 proxy-v2-options {options}
"""
OPTIONS = "ssl,cert-cn,cert-key,cert-sig,ssl-cipher"


def setup():
    https.setup()
    pki.authority(f"{https.DIR}/ca")


class Client:
    """One with a certificate of ours for @name, DER of a DistinguishedName, or without one."""

    def __init__(self, version, name=None):
        self.session = None
        self.ctx = https.context(version)
        # One that both servers choose.
        if version == TLS1_2:
            self.ctx.set_ciphers("ECDHE+AES128+AESGCM")
        if name:
            pki.issue(f"{https.DIR}/ca", f"{https.DIR}/own", name)
            self.ctx.load_cert_chain(f"{https.DIR}/own.pem", f"{https.DIR}/own.key")

    @contextlib.contextmanager
    def connect(self, port):
        with socket.create_connection(("127.0.0.1", port), khttpd.TIMEOUT) as plain, \
                self.ctx.wrap_socket(plain, server_hostname="a.example",
                                     session=self.session) as sock:
            yield sock

    def told(self, one, port):
        """What a server hears of it: of PP2_TYPE_SSL the fixed part, and the rest by type."""
        resumed = self.session is not None
        with self.connect(port) as sock:
            sock.sendall(GET("/app"))
            with one.accept()[0] as conn:
                who, more = announced(conn)
                ktap.equal(who, sock.getsockname(), "the client")
                conn.sendall(b"back")
                ktap.equal(sock.recv(4), b"back", "the reply, and a session with it")
            ktap.equal(sock.session_reused, resumed, "resumed")
            self.session = sock.session
        value = more.pop(PP2_TYPE_SSL)
        ktap.equal(more, {}, "nothing else")
        return value[:5], tlvs(value[5:])


@contextlib.contextmanager
def listening():
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", SERVER))
        one.listen()
        one.settimeout(khttpd.TIMEOUT)
        yield one


@contextlib.contextmanager
def site(*more, front="default"):
    """It asks for certificates, and has a server behind."""
    khttpd.ctl("stop", "--all")
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", f"127.0.0.1:{https.PORT},tls",
               *https.pem("a.example"), *more)
    try:
        with listening() as one:
            khttpd.ctl("attach", "--site", front, "--pid", str(os.getpid()), "--port", str(SERVER))
            yield one
    finally:
        khttpd.ctl("stop", "--all")


ASKING = ("--set", f"client_ca={https.DIR}/ca.pem")
TELLING = ("--set", "send_proxy=1")


@contextlib.contextmanager
def haproxy(asking):
    with open(f"{https.DIR}/both.pem", "w", encoding="ascii") as file:
        for kind in ("pem", "key"):
            file.write(ktap.run("cat", f"{https.DIR}/a.example.{kind}"))
    with open(f"{https.DIR}/haproxy.cfg", "w", encoding="ascii") as file:
        ask = f"ca-file {https.DIR}/ca.pem verify required" if asking else ""
        file.write(CONFIG.format(port=HAPROXY, server=SERVER, dir=https.DIR, ask=ask,
                                 options=OPTIONS))
    with listening() as one, \
            subprocess.Popen(["haproxy", "-db", "-f", f"{https.DIR}/haproxy.cfg"]) as daemon:
        try:
            ktap.wait_for(60, "haproxy listens", listens)
            yield one
        finally:
            daemon.terminate()


def listens():
    with open("/proc/net/tcp", encoding="ascii") as file:
        return f":{HAPROXY:04X} 00000000:0000 0A" in file.read()


@ktap.test
def haproxy_says_the_same():
    """Of full handshakes and resumed ones, with a certificate and without."""
    if not shutil.which("haproxy"):
        raise ktap.Skip("no haproxy")
    name = pki.name(pki.utf8("J\u00f6rg"), pki.utf8("second"))
    for asking in (True, False):
        clients = [Client(version, name if asking else None) for version in (TLS1_2, TLS1_3)]
        with haproxy(asking) as one:
            theirs = [client.told(one, HAPROXY) for client in clients for _ in range(2)]
        for client in clients:
            client.session = None
        with site(*TELLING, *(ASKING if asking else ())) as one:
            ours = [client.told(one, https.PORT) for client in clients for _ in range(2)]
        if not asking:
            # Nothing was verified, as proxy-protocol.txt has it. haproxy says that it was.
            theirs = [(bytes([fixed[0], 0, 0, 0, 1]), rest) for fixed, rest in theirs]
        ktap.equal(ours, theirs, f"asking: {asking}")
        bits = [fixed[0] for fixed, _ in ours]
        whole = CLIENT_SSL | CERT_CONN | CERT_SESS if asking else CLIENT_SSL
        ktap.equal(bits, [whole, whole & ~CERT_CONN] * 2, "in the connection, in the session")
        ktap.equal([rest.get(CN) for _, rest in ours],
                   ["J\u00f6rg".encode() if asking else None] * 4, "its name")
        ktap.equal(set(ours[0][1]) - {CN}, {VERSION, CIPHER, SIG_ALG, KEY_ALG}, "all there is")
    https.at_rest()


@ktap.test
def names_that_would_do_harm():
    """They are left out. The certificate is as good."""
    long = pki.utf8("x" * 255 + "y")
    with site(*TELLING, *ASKING) as one:
        for name, wanted in (
                (pki.name(long), b"x" * 255 + b"y"),
                (pki.name(pki.utf8("x" * 257)), None), (pki.name(pki.utf8("x" * 60000)), None),
                (pki.name(pki.utf8("a\0b")), None), (pki.name(pki.utf8("a\r\nX-User: root")), None),
                (pki.name(pki.utf8("\x7f")), None), (pki.name(pki.utf8("")), None),
                # Not in UTF-8 there; none at all.
                (pki.name((30, "J\u00f6".encode("utf-16-be"))), "J\u00f6".encode()),
                (pki.name((20, b"J\xf6")), "J\u00f6".encode()), (pki.name(), None)):
            for version in (TLS1_2, TLS1_3):
                fixed, rest = Client(version, name).told(one, https.PORT)
                ktap.equal(fixed, b"\x07\0\0\0\0", "verified")
                ktap.equal(rest.get(CN), wanted, repr(name[:60]))
                ktap.equal(len(rest), 4 + (wanted is not None), "all else is there")
    https.at_rest()


@ktap.test
def a_site_that_begins_to_tell():
    """Of connections that were there before a server hears what the kernel knows."""
    with site(*ASKING) as one:
        client = Client(TLS1_3, pki.name(pki.utf8("client")))
        with client.connect(https.PORT) as sock:
            https.write_line("/sys/kernel/config/khttpd/default/send_proxy", "1")
            https.write_line("/sys/kernel/config/khttpd/default/enabled", "1")
            sock.sendall(GET("/app"))
            with one.accept()[0] as conn:
                value = announced(conn)[1][PP2_TYPE_SSL]
                ktap.equal((value[:5], tlvs(value[5:])[VERSION]),
                           (b"\1\0\0\0\1", b"TLSv1.3"), "TLS")

        def told():
            client.session = None
            return CN in client.told(one, https.PORT)[1]
        ktap.wait_for(20, "the daemon knows", told)
        # And one that ends it.
        with client.connect(https.PORT) as sock:
            https.write_line("/sys/kernel/config/khttpd/default/send_proxy", "0")
            https.write_line("/sys/kernel/config/khttpd/default/enabled", "1")
            sock.sendall(GET("/app"))
            with one.accept()[0] as conn:
                ktap.equal(conn.recv(4), b"GET ", "no header")
    https.at_rest()


def tlv(kind, value):
    return struct.pack(">BH", kind, len(value)) + value


@ktap.test
def a_daemon_that_lies():
    """What it says has an end, and is of the header's form."""
    good = b"\1\0\0\0\1"
    with site(*TELLING) as one:
        https.stop_daemon()
        silent, device, other = Device(begin=False), Device(), Device()
        for bad in (b"", good[:4], good + b"\x21", good + b"\x21\0", good + tlv(CN, b"a")[:-1],
                    good + tlv(CN, b"a") + b"\0\0", good + tlv(CN, b"x" * (SAYS_MAX - 7))):
            with khttpd.V4.connect(https.PORT):
                fd, number = device.take()
                ktap.raises(errno.EINVAL, device.says, number, bad)
                device.done(fd, number, 1)
                os.close(fd)
        with khttpd.V4.connect(https.PORT) as client:
            fd, number = device.take()
            ktap.raises(errno.EPERM, silent.says, number, good)
            for length in (SAYS_MAX + 1, 1 << 31, 0xffffffff):
                ktap.raises(errno.EINVAL, device.says, number, good, length)
            ktap.raises(errno.EFAULT, fcntl.ioctl, device.fd, SAYS,
                        struct.pack("IIQ", number, 5, 4096))
            for wrong in (0, number + 1, 1 << 31):
                ktap.raises(errno.ENOENT, device.says, wrong, good)
            ktap.raises(errno.ENOENT, other.says, number, good)
            # The last one counts; as long as it may be.
            longest = good + tlv(CN, b"x" * (SAYS_MAX - 8))
            for value in (good, longest, longest[:5] + tlv(CN, b"y" * (SAYS_MAX - 8))):
                device.says(number, value)
            agree_on_zeros(fd)
            device.done(fd, number)
            ktap.raises(errno.ENOENT, device.says, number, good)
            agree_on_zeros(client.fileno())
            client.sendall(GET("/app"))
            with one.accept()[0] as conn:
                value = announced(conn)[1][PP2_TYPE_SSL]
                ktap.equal(value, good + tlv(CN, b"y" * (SAYS_MAX - 8)), "the last")
                ktap.equal(conn.recv(4), b"GET ", "the request behind it")
        # What it has said of one that fails goes with it.
        with khttpd.V4.connect(https.PORT):
            fd, number = device.take()
            device.says(number, longest)
            os.close(fd)
            for fd in (device.fd, other.fd, silent.fd):
                os.close(fd)
        https.start_daemon()
    https.at_rest()


ktap.main(setup)
