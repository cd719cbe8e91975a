# SPDX-License-Identifier: GPL-2.0
"""Scenarios of TCP's socket API that are played on the native stack and on net6.

Everything that the program sees (results, errnos, poll masks, option values) must be the
same. What a scenario asserts itself is checked on both.

    [ one namespace: native ::1 on lo | net6 ::1 on the pseudo-loopback ]
"""

import array
import errno
import fcntl
import select
import socket
import struct
import time

import ktap

TCP_CORK, TCP_LINGER2, TCP_DEFER_ACCEPT, TCP_WINDOW_CLAMP = 3, 8, 9, 10
TCP_INFO, TCP_QUICKACK, TCP_CONGESTION = 11, 12, 13
TCP_USER_TIMEOUT, TCP_NOTSENT_LOWAT, TCP_SAVE_SYN, TCP_SAVED_SYN = 18, 25, 27, 28
TCP_INQ = 36
SIOCINQ, SIOCOUTQ, SIOCATMARK = 0x541B, 0x5411, 0x8905
STATES = ("", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",
          "TIME_WAIT", "CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING")
PATIENCE = 10 * ktap.SCALE
# Long enough for a segment to come up, short enough to wait for nothing.
MOMENT = 0.2 * ktap.SCALE

NAMES = {getattr(select, name): name for name in
         ("POLLIN", "POLLPRI", "POLLOUT", "POLLERR", "POLLHUP", "POLLRDHUP",
          "POLLRDNORM", "POLLWRNORM")}


class Place:
    """Where a scenario is played."""

    def __init__(self, name):
        self.name = name
        self.open = []
        self.port = 20000

    def socket(self):
        sock = (ktap.net6_socket() if self.name == "net6"
                else socket.socket(socket.AF_INET6))
        sock.settimeout(PATIENCE)
        self.open.append(sock)
        return sock

    def listener(self, backlog=16, **options):
        sock = self.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for name, value in options.items():
            sock.setsockopt(socket.IPPROTO_TCP, globals()[name], value)
        sock.bind(("::1", 0))
        sock.listen(backlog)
        return sock

    def client(self, listener):
        sock = self.socket()
        sock.connect(listener.getsockname())
        return sock

    def accept(self, listener):
        sock = listener.accept()[0]
        sock.settimeout(PATIENCE)
        self.open.append(sock)
        return sock

    def pair(self):
        """A connected pair and its listener."""
        listener = self.listener()
        client = self.client(listener)
        return client, self.accept(listener), listener

    def close(self):
        for sock in self.open:
            sock.close()
        self.open = []


def scenario(function):
    """Plays a scenario on both stacks and compares what was noted."""
    name = function.__name__.replace("_", " ")

    def play():
        seen = {}
        for place in (Place("native"), Place("net6")):
            notes = seen[place.name] = []
            try:
                function(place, lambda what, value, notes=notes:
                         notes.append((what, value)))
            except Exception as error:
                raise ktap.Fail(f"on {place.name}, after {notes[-3:]}: "
                                f"{type(error).__name__}: {error}") from error
            finally:
                place.close()
        for native, net6 in zip(seen["native"], seen["net6"]):
            ktap.equal(net6, native, "net6 against native")
        ktap.equal(len(seen["net6"]), len(seen["native"]), "length of the scenario")
        ktap.true(seen["native"], "something was observed")
    ktap.test(name)(play)
    return function


def outcome(function, *args):
    """A call's result, or the name of its errno."""
    try:
        return function(*args)
    except BlockingIOError as error:
        return errno.errorcode[error.errno]
    except socket.timeout:
        return "timeout"
    except OSError as error:
        return errno.errorcode.get(error.errno, error.errno)


def at_once(sock, function, *args):
    """As outcome(), for a call that has nothing to wait for. Python would poll first."""
    sock.setblocking(False)
    result = outcome(function, *args)
    sock.settimeout(PATIENCE)
    return result


def done(function, *args):
    """As outcome(), for calls whose result says nothing."""
    result = outcome(function, *args)
    return result if isinstance(result, str) else "ok"


def events(sock, wait=None):
    """What poll() says; waits for the events named first."""
    poll = select.poll()
    poll.register(sock, wait or 0xffff & ~select.POLLNVAL)
    if wait:
        poll.poll(PATIENCE * 1000)
        return events(sock)
    found = dict(poll.poll(0)).get(sock.fileno(), 0)
    return "+".join(name for bit, name in sorted(NAMES.items()) if found & bit)


def settled(function):
    """The value a function takes once segments have come up."""
    time.sleep(MOMENT)
    return function()


def unacknowledged(sock):
    """tcpi_unacked"""
    return struct.unpack_from("=I", sock.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 28), 24)[0]


def fill(sock, data):
    """Nothing more can be sent: what was sent is acknowledged, and there is still no room. One
    EAGAIN alone says little: what is on its way will still make room.
    """
    sock.setblocking(False)
    while outcome(sock.send, data) != "EAGAIN" or unacknowledged(sock) or \
            outcome(sock.send, data) != "EAGAIN":
        pass
    sock.setblocking(True)


def state(sock):
    return STATES[sock.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 1)[0]]


def wait_state(sock, *wanted):
    ktap.wait_for(10, f"state {wanted}", lambda: state(sock) in wanted)
    return state(sock)


def arrived(sock, total):
    """Waits until so many bytes have come on a connection since it began."""
    def received():
        info = sock.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 136)
        return struct.unpack_from("Q", info, 128)[0]	# tcpi_bytes_received
    ktap.wait_for(10, f"{total} bytes have come", lambda: received() >= total)


def acknowledged(sock):
    """Waits until the peer has all that was sent."""
    ktap.wait_for(10, "all is acknowledged", lambda: not ioctl(sock, SIOCOUTQ))


def urgent(sock, flags=0):
    """The urgent byte. A time-out would make Python wait for ordinary data."""
    sock.setblocking(False)
    result = outcome(sock.recv, 1, socket.MSG_OOB | flags)
    sock.settimeout(PATIENCE)
    return result


def wait_all(sock, n):
    sock.settimeout(None)
    result = sock.recv(n, socket.MSG_WAITALL)
    sock.settimeout(PATIENCE)
    return result


def ioctl(sock, request):
    value = array.array("i", [0])
    fcntl.ioctl(sock, request, value)
    return value[0]


def so_error(sock):
    return errno.errorcode.get(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), "0")


def reset(sock):
    """Aborts a connection."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def setup():
    ktap.net6_load()
    ktap.run("ip", "link", "set", "lo", "up")
