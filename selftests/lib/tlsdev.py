# SPDX-License-Identifier: GPL-2.0
"""/dev/khttpd as a daemon that is not to be trusted uses it."""

# pylint: disable=missing-function-docstring
import ctypes
import fcntl
import os
import select
import socket
import struct
import sys

sys.path.insert(0, os.path.dirname(__file__))
import ktap  # pylint: disable=wrong-import-position

BEGIN, TAKE, DONE, SAYS = 0xbc42, 0xc050bc43, 0x4010bc44, 0x4010bc48
SAYS_MAX = 512	# KHTTPD_TLS_SAYS_MAX
_TCP_ULP, _SOL_TLS, _TLS_TX, _TLS_RX = 31, 282, 1, 2


class Device:
    """A descriptor of it."""

    def __init__(self, begin=True):
        self.fd = os.open("/dev/khttpd", os.O_RDWR)
        if begin:
            fcntl.ioctl(self.fd, BEGIN)

    def take(self):
        ktap.true(select.select([self.fd], [], [], 20)[0], "a connection waits")
        arg = fcntl.ioctl(self.fd, TAKE, bytes(80))
        site, fd, number, left, _ = struct.unpack("64siIII", arg)
        ktap.equal(site.rstrip(b"\0"), b"default", "site")
        ktap.true(0 < left <= 10000 * ktap.SCALE, "time")
        return fd, number

    def says(self, number, value, length=None):
        buffer = ctypes.create_string_buffer(value, max(len(value), 1))
        fcntl.ioctl(self.fd, SAYS, struct.pack("IIQ", number,
                                               len(value) if length is None else length,
                                               ctypes.addressof(buffer)))

    def done(self, fd, number, failed=0, flags=0):
        fcntl.ioctl(self.fd, DONE, struct.pack("iIII", fd, number, failed, flags))

    def refuses(self, error, *args):
        ktap.raises(error, self.done, *args)


def agree_on_zeros(fd, receives=True):
    """Records of TLS 1.2 with AES-GCM 128 and a key of zeros (linux/tls.h), without a handshake."""
    key = struct.pack("HH", 0x0303, 51) + bytes(8 + 16 + 4 + 8)
    with socket.socket(fileno=os.dup(fd)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, _TCP_ULP, b"tls")
        sock.setsockopt(_SOL_TLS, _TLS_TX, key)
        if receives:
            sock.setsockopt(_SOL_TLS, _TLS_RX, key)
