# SPDX-License-Identifier: GPL-2.0
"""The frame of the tests of real programs: two namespaces, and how programs are run there.

    A [a0] ------ [b0] B        client fd00::a, server fd00::b

In takeover mode they run as they are; beside the native stack under net6-run, where the
native stack has no such addresses, so that whoever is native reaches nobody. A program that
is not installed is skipped: `scripts/setup programs` installs most of them, scripts/programs
makes the others. programs_*.py have a function for each; programs_all.py says which is where.

    NET6_PROGRAMS="curl ping"    runs those only whose name has one of these words
"""
import functools
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess

import ktap
import netpair

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
MADE = os.path.join(TOP, "build/programs")
CLIENT, SERVER = "fd00::a", "fd00::b"
V4_SERVER = "192.0.2.80"	# what programs without IPv6 call the server
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all")
A, B = ktap.later("A"), ktap.later("B")
wrap = []		# in front of each command
folder = f"/tmp/programs-{os.getpid()}"
_ports = itertools.count(8001)
_servers = []		# of the test that runs


def takeover():
    """The two namespaces, with addresses, where net6 is the host's only IPv6."""
    ktap.net6_load()
    ktap.veth(A, "a0", B, "b0")
    for ns, dev, address in ((A, "a0", CLIENT), (B, "b0", SERVER)):
        ns.ip("-6", "addr", "add", address + "/64", "dev", dev)
        ktap.wait_for(15, "address", lambda n=ns, d=dev: "tentative" not in
                      n.ip("-6", "addr", "show", "dev", d))
    _setup()


def side_by_side():
    """The same beside the native stack, which has link-local addresses only."""
    ktap.net6_load()
    ktap.true(os.path.exists("/proc/net/if_inet6"), "native IPv6 is on")
    ktap.veth(A, "a0", B, "b0")
    for ns, dev, address in ((A, "a0", CLIENT), (B, "b0", SERVER)):
        netpair.ctl(ns, "add", "address", address + "/64", "dev", dev)
        ktap.wait_for(15, f"{address} is preferred",
                      lambda n=ns, d=dev, w=address: netpair.preferred(n, d, w))
    _setup()
    wrap.append(net6_run())


def _setup():
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o755)
    ktap.at_exit(shutil.rmtree, folder)
    ktap.on_failure(_witness)
    with open(path("data"), "wb") as file:
        file.write(os.urandom(1 << 20))
    with open(path("small"), "wb") as file:
        file.write(b"x" * 1000)
    # Copies, because not everybody may look into the folder where they were built.
    for name in ("net6-run", "libnet6-run.so"):
        shutil.copy(os.path.join(TOP, "tools", name), path(name))


def net6_run():
    return path("net6-run")


def path(name):
    return os.path.join(folder, name)


def write(name, text):
    with open(path(name), "w", encoding="ascii") as file:
        file.write(text)
    return path(name)


def port():
    return str(next(_ports))


def need(*names):
    for name in names:
        if not shutil.which(name):
            raise ktap.Skip(f"no {name}")


def made(name):
    """The path of what scripts/programs made."""
    made_here = os.path.join(MADE, name)
    if not os.path.exists(made_here):
        raise ktap.Skip(f"no {name}: scripts/programs makes it")
    return made_here


def client(*command, ns=None, **options):
    """Runs a program, in A unless told, and returns what it says."""
    options.setdefault("timeout", 90)
    return (ns or A).run(*wrap, *command, **options)


def server(*command, ns=None, **options):
    """Starts a program, in B unless told, that ends with the test."""
    with open(path(f"server-{len(_servers)}.log"), "wb") as log:
        options.setdefault("stdout", log)
        options.setdefault("stderr", log)
        options.setdefault("stdin", subprocess.DEVNULL)
        process = (ns or B).popen(*wrap, *command, start_new_session=True, **options)
    _servers.append(process)
    return process


def _end_servers():
    """Each is a session of its own, with the processes that it started."""
    while _servers:
        process = _servers.pop()
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                process.wait(20 * ktap.SCALE)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass


def _witness():
    """What the servers said, and what net6 has."""
    for number in range(10):
        try:
            with open(path(f"server-{number}.log"), "rb") as log:
                said = log.read()[-1500:].decode(errors="replace")
        except FileNotFoundError:
            break
        if said:
            ktap.diag(f"server {number} said: {said}")
    for ns in (A, B):
        ktap.diag(netpair.ctl(ns, "show", "sockets"))


def listening(number, kind=socket.SOCK_STREAM, ns=None):
    """Waits until a socket of net6 listens there, in B unless told."""
    name, state = ("tcp", "listen") if kind == socket.SOCK_STREAM else ("udp", None)

    def there():
        return any(entry["local_port"] == int(number) and state in (None, entry["state"])
                   for entry in json.loads(netpair.ctl(ns or B, "-j", "show", "sockets", name)))
    ktap.wait_for(90, f"something listens on {name} port {number}", there)


def same(name):
    """What was fetched is what was served."""
    ktap.run("cmp", path("data"), path(name))


def url(number, name="data", address=SERVER):
    return f"http://[{address}]:{number}/{name}"


def tests(functions):
    """Registers them under their names; what a test has started ends with it."""
    only = os.environ.get("NET6_PROGRAMS", "").split()
    for function in functions:
        if only and not any(word in function.__name__ for word in only):
            continue

        @functools.wraps(function)
        def test(function=function):
            try:
                for number in range(10):
                    if os.path.exists(path(f"server-{number}.log")):
                        os.unlink(path(f"server-{number}.log"))
                function()
            finally:
                _end_servers()
        ktap.test(test)
