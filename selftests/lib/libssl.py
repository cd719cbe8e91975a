# SPDX-License-Identifier: GPL-2.0
"""OpenSSL's client by its own interface. Python's costs the processor several times as much: each
time that it gives or takes a session it encodes and decodes the server's certificate.
"""
import ctypes
import socket
import struct

TLS1_2, TLS1_3 = 0x0303, 0x0304
_ZERO_RETURN = 6	# SSL_ERROR_ZERO_RETURN
_SHUTDOWN = 3		# SSL_SENT_SHUTDOWN, SSL_RECEIVED_SHUTDOWN
_MIN, _MAX = 123, 124	# SSL_CTRL_SET_*_PROTO_VERSION

_lib = ctypes.CDLL("libssl.so.3")
for _name, _result, *_args in (
        ("TLS_client_method", "p"), ("SSL_CTX_new", "p", "p"), ("SSL_CTX_ctrl", "l", *"pilp"),
        ("SSL_new", "p", "p"), ("SSL_free", None, "p"), ("SSL_set_fd", "i", *"pi"),
        ("SSL_set_session", "i", *"pp"), ("SSL_get1_session", "p", "p"),
        ("SSL_SESSION_free", None, "p"), ("SSL_session_reused", "i", "p"),
        ("SSL_connect", "i", "p"), ("SSL_read", "i", *"ppi"), ("SSL_write", "i", *"ppi"),
        ("SSL_set_shutdown", None, *"pi"), ("SSL_get_error", "i", *"pi"), ("ERR_clear_error", None)):
    _types = {"p": ctypes.c_void_p, "i": ctypes.c_int, "l": ctypes.c_long, None: None}
    _function = getattr(_lib, _name)
    _function.restype, _function.argtypes = _types[_result], [_types[_arg] for _arg in _args]


class Context:
    """For clients of one version. The server's certificate is not looked at."""

    def __init__(self, version):
        self.ctx = _lib.SSL_CTX_new(_lib.TLS_client_method())
        self.session = None
        for which in (_MIN, _MAX):
            _lib.SSL_CTX_ctrl(self.ctx, which, version, None)

    def connect(self, address, timeout, resume=False):
        """@resume: the session of the last client that was kept by keep()."""
        return _Client(self, address, timeout, resume and self.session)


class _Client:
    """As much of a socket as khttpd.Reader wants."""

    def __init__(self, context, address, timeout, session):
        self.context, self.ssl, self.sock = context, None, socket.socket()
        wait = struct.pack("ll", timeout, 0)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self.sock.setsockopt(socket.SOL_SOCKET, option, wait)
        # With TLS 1.2 who resumes speaks last, and the request would wait for the ACK of that.
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.sock.connect(address)
            self.ssl = _lib.SSL_new(context.ctx)
            _lib.SSL_set_fd(self.ssl, self.sock.fileno())
            if session:
                _lib.SSL_set_session(self.ssl, session)
            if _lib.SSL_connect(self.ssl) != 1:
                raise ConnectionError("handshake")
        except OSError:
            self.close()
            raise

    def keep(self):
        """Others can resume its session. With TLS 1.3 it comes with the first reply."""
        if self.context.session:
            _lib.SSL_SESSION_free(self.context.session)
        self.context.session = _lib.SSL_get1_session(self.ssl)

    def resumed(self):
        return bool(_lib.SSL_session_reused(self.ssl))

    def sendall(self, data):
        if _lib.SSL_write(self.ssl, data, len(data)) != len(data):
            raise ConnectionError("write")

    def recv(self, size):
        buffer = ctypes.create_string_buffer(size)
        _lib.ERR_clear_error()
        got = _lib.SSL_read(self.ssl, buffer, size)
        if got > 0:
            return ctypes.string_at(buffer, got)
        if _lib.SSL_get_error(self.ssl, got) != _ZERO_RETURN:
            raise ConnectionError("read")
        return b""

    def close(self):
        if self.ssl:
            # As if both had said close_notify: else its session is no good any more.
            _lib.SSL_set_shutdown(self.ssl, _SHUTDOWN)
            _lib.SSL_free(self.ssl)
        self.ssl = None
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
