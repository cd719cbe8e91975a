#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The table of hostile and odd requests (lib/httprows.py). Whole on native IPv4, native
# IPv6 and net6, byte by byte on IPv4 and net6 (both native families are one transport),
# and on nginx where it agrees. On a checking kernel each way once.
#
#	[ client and server on lo ]    [ client ] c0 ------ s0 [ server ]
#
# timeout: 300
# guest: stock+
# pylint: disable=missing-function-docstring
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import httprows  # pylint: disable=wrong-import-position
import khttpd    # pylint: disable=wrong-import-position
import ktap      # pylint: disable=wrong-import-position

PLACES = [khttpd.V4, khttpd.V6]
CONTROL = 8000


def setup():
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    httprows.files()
    khttpd.serve(khttpd.V4, "--listen", khttpd.V6.listen)
    khttpd.serve(PLACES[2], site="six")
    khttpd.Nginx([f"127.0.0.1:{CONTROL}"], root=khttpd.WWW)


def answer(place, pieces, port=8080, head=False):
    """Status of the reply to the pieces, and whether the connection ended."""
    with place.connect(port) as sock:
        try:
            for piece in pieces:
                sock.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass    # it had heard enough
        reader = khttpd.Reader(sock)
        reply = reader.reply(head)
        closed = reply.fields.get("connection") == "close"
        if closed and port != CONTROL:
            reader.closed()
        return reply.status, closed


def pieces_of(request):
    """One byte a piece; what is long, in 64 pieces."""
    step = max(1, len(request) // 64) if len(request) > 400 else 1
    return [request[at:at + step] for at in range(0, len(request), step)]


def differing(place, pieces, port=8080, control=False):
    wrong = []
    for number, what, request, wanted, closed, agrees in httprows.ROWS:
        if control and not agrees:
            continue
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        try:
            seen, ended = answer(place, pieces(request), port)
        except (ktap.Fail, OSError) as error:
            wrong.append(f"{number} {what}: {error}")
            continue
        if seen not in wanted or (ended != closed and not control):
            wrong.append(f"{number} {what}: {seen}, closed {ended}; wanted "
                         f"{wanted}, {closed}")
    return wrong


def rows_over(index, name, cut=None):
    @ktap.test(f"all rows over {name}" + (" byte by byte" if cut else ""))
    def _play():
        ktap.equal(differing(PLACES[index], cut or (lambda request: [request])), [], "rows")


rows_over(2, "net6")
rows_over(0, "IPv4", pieces_of)
if not ktap.CHECKING:
    rows_over(0, "IPv4")
    rows_over(1, "IPv6")
    rows_over(2, "net6", pieces_of)


@ktap.test
def nginx_agrees_where_it_should():
    ktap.equal(differing(khttpd.V4, lambda request: [request], CONTROL, True), [],
               "rows")


ktap.main(setup)
