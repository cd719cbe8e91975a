#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""X-Accel-Redirect, as nginx has it, for programs of WSGI behind khttpd: the program answers with a
path, and the kernel sends that file. Its field is read from what it hands to WSGI: no reply is
parsed.

	python3 accel.py 8080 MODULE:APPLICATION &
	khttpdctl attach --pid $! --port 8080 --docroot /srv/www --set "rules=pass /private/"

The path is one below the document root, percent-encoded. Other fields of such an answer are not
sent: khttpd says type, length and validators. Requests by GET and HEAD without content only.
"""
import importlib
import re
import sys
from wsgiref import simple_server

import example

# What a request's target may have.
PATH = re.compile(r"/[!-~]*")


class Answer(simple_server.ServerHandler):
    """An answer of the program's, or the connection goes back."""

    def finish_response(self):
        path = self.headers and not self.headers_sent and self.headers.get("X-Accel-Redirect")
        if not path:
            super().finish_response()
            return
        if not PATH.fullmatch(path):
            raise ValueError(f"no path: {path!r}")
        request = self.request_handler
        lines = [f"{request.command} {path} {request.request_version}"]
        lines += [f"{name}: {' '.join(value.split())}" for name, value in request.headers.items()]
        head = "\r\n".join(lines + ["", ""]).encode("latin-1")
        example.give_back(request.server.socket, request.connection, head)
        self.close()


class Handler(simple_server.WSGIRequestHandler):
    """A connection: one request, then it is closed or the kernel's again."""
    # Nothing behind the head is read.
    rbufsize = 0
    # Longest line, as wsgiref has it.
    LINE = 65537

    def handle(self):
        self.raw_requestline = self.rfile.readline(self.LINE)
        if len(self.raw_requestline) == self.LINE:
            self.requestline = self.request_version = self.command = ""
            self.send_error(414)
            return
        if not self.parse_request():
            return
        answer = Answer(self.rfile, self.wfile, self.get_stderr(), self.get_environ(),
                        multithread=False)
        answer.request_handler = self
        answer.run(self.server.get_app())


def serve(port, application):
    """One client after the other, as wsgiref does."""
    with simple_server.make_server("", port, application, handler_class=Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    sys.path.insert(0, ".")
    module, _, name = sys.argv[2].partition(":")
    serve(int(sys.argv[1]), getattr(importlib.import_module(module), name or "application"))
