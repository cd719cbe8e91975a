#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# net6-run: unmodified programs over net6 - ping, Python with threads, fork and exec,
# programs that know only IPv4 - and clear words about those that it cannot run.
#
#	A [a0] ------ [b0] B	(lib/netpair.py)
#
# guest: stock+
# timeout: 180
import os
import socket
import struct
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap
import netpair as p

RUN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/net6-run")
PYTHON = "/usr/bin/python3"


def net6_run(*command, check=True, ns=None, **options):
    done = subprocess.run(("nsenter", f"--net=/run/netns/{(ns or p.A).name}", RUN) + command,
                          capture_output=True, text=True, check=False,
                          timeout=60 * ktap.SCALE, **options)
    if check and done.returncode:
        raise ktap.Fail(f"status {done.returncode}: {done.stderr[-800:]}")
    return done


def script(text):
    return "import os, socket, sys, threading\n" + text


@ktap.test
def ping_runs_over_net6():
    # The native stack of A does not have this address, so net6 must have sent.
    out = net6_run("ping", "-6", "-c", "3", "-i", "0.2", "-W", "5", "-I", p.NET6_A,
                   p.NATIVE_B).stdout
    ktap.true("3 received" in out, out)
    out = net6_run("ping", "-6", "-c", "2", "-i", "0.2", "-s", "5000", "-W", "5",
                   p.NATIVE_B).stdout
    ktap.true("2 received" in out, out)


@ktap.test
def udp_of_threads_and_children_is_net6s():
    b = p.native(ns=p.B)
    b.bind((p.NATIVE_B, 7300))
    child = script(f"""
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(({p.NET6_A!r}, 0))
s.sendto(b'exec', ({p.NATIVE_B!r}, 7300))
""")
    text = script(f"""
def send(what):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.bind(({p.NET6_A!r}, 0))
    s.sendto(what, ({p.NATIVE_B!r}, 7300))
t = threading.Thread(target=send, args=(b'thread',))
t.start()
t.join()
if not os.fork():
    send(b'fork')
    os.execv(sys.executable, [sys.executable, '-c', {child!r}])
os.wait()
""")
    net6_run(PYTHON, "-c", text)
    got = {b.recvfrom(20)[0] for _ in range(3)}
    ktap.equal(got, {b"thread", b"fork", b"exec"}, "all three")


@ktap.test
def programs_of_ipv4_get_their_addresses_translated():
    b = p.native(ns=p.B)
    b.bind((p.NATIVE_B, 7301))
    text = script("""
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('192.0.2.6', 0))
print(s.getsockname()[0])
s.sendto(b'hello', ('192.0.2.2', 7301))
print(s.recvfrom(10))
s.connect(('192.0.2.2', 7301))
print(s.getpeername())
s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 9)
print(s.getsockopt(socket.IPPROTO_IP, socket.IP_TTL), s.getsockopt(socket.SOL_SOCKET, 39))
s.sendmsg([b'two'])
try:
    s.connect(('192.0.2.3', 9))
except OSError as error:
    print(error.errno)
t = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
t.bind(('0.0.0.0', 0))
print(t.getsockname()[0])
""")
    proc = subprocess.Popen(("nsenter", f"--net=/run/netns/{p.A.name}", RUN,
                             "-m", f"192.0.2.2={p.NATIVE_B}", "-m", f"192.0.2.6={p.NET6_A}",
                             PYTHON, "-c", text), stdout=subprocess.PIPE, text=True)
    data, who = b.recvfrom(10)
    ktap.equal((data, who[0]), (b"hello", p.NET6_A), "arrives over IPv6")
    b.sendto(b"answer", who)
    ktap.equal(b.recv(10), b"two", "connected, with sendmsg()")
    out = proc.communicate(timeout=30 * ktap.SCALE)[0].splitlines()
    ktap.equal(out, ["192.0.2.6", "(b'answer', ('192.0.2.2', 7301))", "('192.0.2.2', 7301)",
                     "9 2", "101", "0.0.0.0"], "what the program sees")


@ktap.test
def bind_of_family_unspec_means_any_ipv4_address():
    # Linux' IPv4 allows it, and httperf does it.
    text = script("""
import ctypes, struct
s = socket.socket()
addr = struct.pack('=H', 0) + struct.pack('>H', 7304) + bytes(12)
print(ctypes.CDLL(None).bind(s.fileno(), addr, len(addr)), s.getsockname())
""")
    out = net6_run("-m", f"192.0.2.2={p.NATIVE_B}", PYTHON, "-c", text).stdout
    ktap.equal(out, "0 ('0.0.0.0', 7304)\n", "bound")


@ktap.test
def tcp_servers_of_ipv4_see_ipv4_peers():
    text = script("""
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('0.0.0.0', 7302))
s.listen()
print('ready', flush=True)
for _ in range(2):
    c, a = s.accept()
    print(a[0], c.getsockname()[0], c.getpeername()[0], c.recv(10), flush=True)
    c.close()
""")
    proc = subprocess.Popen(("nsenter", f"--net=/run/netns/{p.A.name}", RUN,
                             "-m", f"192.0.2.2={p.NATIVE_B}", "-m", f"192.0.2.6={p.NET6_A}",
                             PYTHON, "-c", text), stdout=subprocess.PIPE, text=True)
    ktap.equal(proc.stdout.readline(), "ready\n", "listening")
    for source in (p.NATIVE_B, "fd00::b2"):
        if source != p.NATIVE_B:
            p.B.ip("addr", "add", source + "/64", "dev", "b0", "nodad")
        c = p.native(socket.SOCK_STREAM, ns=p.B)
        c.bind((source, 0))
        c.connect((p.NET6_A, 7302))
        c.send(b"x")
        line = proc.stdout.readline().split()
        ktap.equal(line[0], line[2], "accept() and getpeername() agree")
        ktap.equal(line[1:2] + line[3:], ["192.0.2.6", "b'x'"], "our name, data")
        if source == p.NATIVE_B:
            ktap.equal(line[0], "192.0.2.2", "peer of the table")
        else:
            ktap.true(line[0].startswith("240.0.0."), f"peer without name: {line[0]}")
        c.close()
    proc.wait(30 * ktap.SCALE)


@ktap.test
def what_cannot_be_run_is_said():
    # A static program: an ELF header and one program header that is no interpreter.
    elf = b"\x7fELF\2\1\1" + b"\0" * 9 + \
        struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0) + \
        struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120, 120, 4096)
    with open("/tmp/static", "wb") as file:
        file.write(elf)
    os.chmod("/tmp/static", 0o755)
    done = net6_run("/tmp/static", check=False)
    ktap.equal(done.returncode, 126, "status")
    ktap.true("/tmp/static is statically linked" in done.stderr, done.stderr)
    with open("/tmp/script", "w", encoding="ascii") as file:
        file.write("#!/tmp/static\n")
    os.chmod("/tmp/script", 0o755)
    done = net6_run("/tmp/script", check=False)
    ktap.true("/tmp/static is statically linked" in done.stderr, done.stderr)
    done = net6_run("nosuchprogram", check=False)
    ktap.equal(done.returncode, 127, "status of what is not there")
    for wrong in ("1.2.3.4", "1.2.3=::1", "1.2.3.4=xyz", "1.2.3.4=fe80::1",
                  "1.2.3.4=fe80::1%nosuch", "=", "1" * 5000):
        done = net6_run("-m", wrong, "true", check=False)
        ktap.equal(done.returncode, 2, f"status of -m {wrong[:20]}")
    ktap.equal(net6_run("sh", "-c", "exit 7", check=False).returncode, 7, "status passed on")
    ktap.unload("net6")
    done = net6_run("true", check=False)
    ktap.true("net6 is not loaded" in done.stderr, done.stderr)
    ktap.net6_load()


ktap.main(setup=p.setup)
