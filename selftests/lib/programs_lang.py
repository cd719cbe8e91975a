# SPDX-License-Identifier: GPL-2.0
"""What languages bring along, as client and as server: Python's asyncio, node, Go, Java."""
import os

import ktap
import programs as p

ASYNCIO = os.path.join(os.path.dirname(__file__), "programs_aio.py")
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
ECHOES = "8 answers of 100000 bytes"	# what the programs in selftests/programs/ say


def pair(program, good):
    """The program as "serve ADDRESS PORT" in B and as "ask ADDRESS PORT" in A."""
    number = p.port()
    p.server(*program, "serve", p.SERVER, number)
    p.listening(number)
    out = p.client(*program, "ask", p.SERVER, number, timeout=300)
    ktap.equal(out.strip(), good, "what the client says")


def asyncio():
    pair(("/usr/bin/python3", ASYNCIO), "20 answers")


def node():
    p.need("node")
    number = p.port()
    p.server("node", "-e", "require('http').createServer((q,s)=>s.end('from node'))"
             f".listen({number},'{p.SERVER}')")
    p.listening(number)
    out = p.client("node", "-e", f"require('http').get('{p.url(number, '')}',"
                   "r=>r.on('data',d=>process.stdout.write(d)))")
    ktap.equal(out, "from node", "answer")


def go():
    """net/http in a static program."""
    pair((p.made("go-http"),), ECHOES)


def go_is_refused():
    """Under net6-run it would go native unnoticed; it is refused, with the reason."""
    out = p.client(p.made("go-http"), "ask", p.SERVER, "1", check=False)
    ktap.true("go-http is statically linked: its socket calls cannot be redirected" in out, out)


def java():
    """com.sun.net.httpserver and HttpClient."""
    p.need("java")
    p.made("JavaHttp.class")
    pair(JAVA + ("-cp", p.MADE, "JavaHttp"), ECHOES)
