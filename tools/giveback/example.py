#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A server behind khttpd that decides who gets a file, and has the kernel send it.

	python3 example.py 8080 &
	khttpdctl attach --pid $! --port 8080 --docroot /srv/www --set "rules=pass /private/"
	curl -H "Cookie: key=secret" http://localhost:8080/private/report.pdf

Files below /private/ are asked for here, because of the rule. Others are the kernel's at once.
"""
import array
import fcntl
import socket
import struct
import sys

# _IOW(0xbc, 0x50, struct khttpd_giveback) of <linux/khttpd.h>
GIVEBACK = 1 << 30 | 24 << 16 | 0xbc << 8 | 0x50


def give_back(listener, connection, head):
    """Has the kernel answer @head, and go on with @connection, which is closed here."""
    text = array.array("B", head)
    address, length = text.buffer_info()
    with open("/dev/khttpd_giveback", "rb", buffering=0) as device:
        fcntl.ioctl(device, GIVEBACK, struct.pack("iiQII", listener.fileno(), connection.fileno(),
                                                  address, length, 0))
    connection.detach()


def read_head(connection):
    """The head of a request, and nothing of what may come behind it."""
    while True:
        seen = connection.recv(8192, socket.MSG_PEEK)
        end = seen.find(b"\r\n\r\n")
        if end >= 0:
            return connection.recv(end + 4, socket.MSG_WAITALL)
        if not seen or len(seen) == 8192:
            return b""


def serve(listener):
    """One client after the other, for the sake of brevity."""
    while True:
        connection = listener.accept()[0]
        connection.settimeout(10)
        try:
            head = read_head(connection)
            if b"key=secret" in head:
                give_back(listener, connection, head)
            elif head:
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n"
                                   b"Connection: close\r\n\r\n")
        except OSError as error:
            print(error, file=sys.stderr)
        connection.close()


if __name__ == "__main__":
    with socket.create_server(("", int(sys.argv[1]))) as server:
        serve(server)
