#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The guest's half of an experiment: two namespaces (drawn in lib.sh), a router between
them on request, netbench, and rows of results. Those are on the host's disk as soon as they
are known. Run in a guest by guests.py:  lab.py EXPERIMENT [--quick]
"""
import contextlib
import importlib
import json
import os
import subprocess
import sys
import time
from statistics import median

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ.get("NET6_OUT", "/tmp")
COPY = os.environ.get("NET6_COPY", "/run/net6/copy")
STACKS = ("ipv4", "native", "net6")
FAMILY = {"ipv4": "2", "native": "10", "net6": "19"}
# The server's address by way: straight over the veth pair, through a router with the native
# stacks, or through one that forwards with net6.
ADDRESS = {
    "direct": {"ipv4": "10.1.0.2", "native": "fd00:1::2", "net6": "fd00:2::2"},
    "routed": {"ipv4": "10.3.0.2", "native": "fd00:4::2", "net6": "fd00:6::2"},
    "forwarded": {"native": "fd00:8::2", "net6": "fd00:a::2"},
}


# What a lack begins with when nothing was measured behind it.
EARLY = "ended early: "


class Failed(Exception):
    """A measurement that cannot be made; the text says why."""


class Lab:
    """One boot's measurements."""

    def __init__(self, quick):
        self.quick = quick
        self.tool = {name: f"{COPY}/tools/{name}" for name in ("net6ctl", "net6-run", "khttpdctl")}
        self.netbench_program = f"{COPY}/netbench"
        self.servers = []
        self.rows = open(f"{OUT}/rows.jsonl", "a", buffering=1)
        self.done = self.total = 0
        self.env = dict(os.environ, NETBENCH=self.netbench_program,
                        NET6CTL=self.tool["net6ctl"], NET6RUN=self.tool["net6-run"],
                        results="/dev/null", LC_ALL="C")

    # ---- results ----

    def write(self, entry):
        """One line in the host's file. A full disk ends the experiment at once."""
        self.rows.write(json.dumps(entry) + "\n")
        self.rows.flush()

    def row(self, figure, case, stack, unit, values):
        """Values of one cell: figure, what was varied, which stack or server."""
        if not isinstance(values, (list, tuple)):
            values = [values]
        self.write({"figure": figure, "case": case, "stack": stack, "unit": unit,
                    "values": [round(v, 4) for v in values]})

    def lack(self, why):
        """Something is missing: the experiment goes on and is marked partial."""
        print(f"lacking: {why}", flush=True)
        self.write({"lack": why})

    @contextlib.contextmanager
    def attempt(self, what):
        """A failure in here is recorded and the next measurement follows."""
        try:
            yield
        except (Failed, ValueError, subprocess.SubprocessError) as error:
            self.lack(f"{what}: {error}")

    def plan(self, steps):
        self.total = steps

    def step(self, text):
        self.done += 1
        with open(f"{OUT}/progress", "w") as f:
            f.write(f"{self.done} {max(self.total, self.done)} {text}\n")
        print(f"[{time.monotonic():8.1f}] {self.done}/{self.total} {text}", flush=True)

    # ---- commands ----

    def run(self, *command, ns=None, timeout=None, check=True):
        """Output of a command, in a namespace if one is named."""
        command = [str(word) for word in command]
        if ns:
            command = ["ip", "netns", "exec", ns] + command
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout, env=self.env, check=False)
        if check and done.returncode:
            says = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise Failed(f"{' '.join(command[:12])}: status {done.returncode}: {' '.join(says)}")
        return done.stdout

    def lib(self, script):
        """A piece of shell with lib.sh's functions at hand."""
        return self.run("bash", "-c", f"set -e; . {HERE}/lib.sh; {script}")

    def background(self, *command, ns="server"):
        with open("/tmp/background.log", "a") as log:
            server = subprocess.Popen(["ip", "netns", "exec", ns] + [str(w) for w in command],
                                      stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                      env=self.env, start_new_session=True)
        self.servers.append(server)
        return server

    def wrap(self, stack, *options):
        """What goes in front of a program to have it on a stack."""
        return [self.tool["net6-run"], *options] if stack == "net6" else []

    def stop(self, *servers):
        for server in servers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, 15)
        for server in servers:
            server.wait()
            self.servers.remove(server)

    def wait_for(self, what, condition, tries=400):
        """Counted in tries: waiting for the host's files makes the clock jump. Each asks the host
        for something, so that what waits for it, too (a program that is loaded), gets its turn."""
        for _ in range(tries):
            if condition():
                return
            os.statvfs(OUT)
            time.sleep(0.05)
        raise Failed(f"time-out: {what}")

    def listening(self, port, udp=False, ns="server"):
        """Somebody listens; net6's sockets are not in ss, so ask net6 too."""
        return (f":{port} " in self.run("ss", "-Hlnu" if udp else "-Hlnt", ns=ns, check=False)
                or f":{port} " in self.run(self.tool["net6ctl"], "show", "sockets", ns=ns,
                                           check=False) + " ")

    # ---- the network ----

    def network(self):
        """Both modules' stacks in the two namespaces."""
        for module in ("veth", "sch_tbf", "sch_netem", "sch_prio", "cls_flower", "cls_u32"):
            self.run("modprobe", "-q", module, check=False)
        self.run("insmod", f"{os.environ['NET6_BUILD']}/net6/net6.ko")
        self.lib("make_link; make_link_net6")
        self.sysctls()
        self.keep_neighbors()

    def khttpd(self):
        """The web server. Its files stay in its cache for an hour: the clock jumps by minutes while
        a program is loaded from the host. A connection whose first request meets a file that has
        left the cache is a thread's for five."""
        self.run("insmod", f"{os.environ['NET6_BUILD']}/khttpd/khttpd.ko")
        with open("/sys/kernel/config/khttpd/cache_idle", "w") as f:
            f.write("3600000")

    def sysctls(self):
        for name in ("rmem_max", "wmem_max"):
            with open(f"/proc/sys/net/core/{name}", "w") as f:
                f.write("8388608")

    def keep_neighbors(self):
        """Neighbors stay reachable for an hour: while one is stale, each packet costs more."""
        for ns in self.run("ip", "netns", "list").splitlines():
            self.run("sh", "-c", "for file in /proc/sys/net/*/neigh/*/base_reachable_time_ms; do "
                     "echo 3600000 >$file; done", ns=ns.split()[0])

    def router(self):
        """A second way, through a namespace that forwards with the native stacks.

          client c2 --- rc router rs --- s2 server   10.2.0, fd00:3, fd00:5 / 10.3.0, fd00:4, fd00:6
        """
        ip = lambda words: self.run("ip", *words.split())
        ip("netns add router")
        ip("-n router link set lo up")
        for side, dev, port, v4, v6, net6 in (("client", "c2", "rc", "10.2.0", "fd00:3:", "fd00:5:"),
                                              ("server", "s2", "rs", "10.3.0", "fd00:4:", "fd00:6:")):
            host = "1" if side == "client" else "2"
            ip(f"link add {dev} netns {side} type veth peer name {port} netns router")
            ip(f"-n router link set {port} up")
            ip(f"-n {side} link set {dev} up")
            ip(f"-n {side} addr add {v4}.{host}/24 dev {dev}")
            ip(f"-n {side} addr add {v6}:{host}/64 dev {dev} nodad")
            ip(f"-n router addr add {v4}.254/24 dev {port}")
            for prefix in (v6, net6):
                ip(f"-n router addr add {prefix}:fe/64 dev {port} nodad")
            ip(f"-n router addr add fe80::fe/64 dev {port} nodad")
            ip(f"-n {side} route add 10.0.0.0/8 via {v4}.254")
            ip(f"-n {side} -6 route add fd00::/16 via {v6}:fe")
            self.run(self.tool["net6ctl"], "add", "address", f"{net6}:{host}/64", "dev", dev, ns=side)
            self.run(self.tool["net6ctl"], "add", "route", "default", "via", "fe80::fe", "dev", dev,
                     ns=side)
            self.lib(f"wait_for 20 address_ready {side} {net6}:{host}")
        self.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1",
                 ns="router")
        self.keep_neighbors()

    def router_net6(self):
        """A third way, through a namespace in which only net6 forwards.

          client c3 --- nc forwarder ns --- s3 server       fd00:7, fd00:9 / fd00:8, fd00:a
        """
        ip = lambda words: self.run("ip", *words.split())
        net6ctl = lambda ns, words: self.run(self.tool["net6ctl"], *words.split(), ns=ns)
        ip("netns add forwarder")
        self.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                 "net.ipv6.conf.default.disable_ipv6=1", ns="forwarder")
        for side, dev, port, native, net6 in (("client", "c3", "nc", "fd00:7:", "fd00:9:"),
                                              ("server", "s3", "ns", "fd00:8:", "fd00:a:")):
            host = "1" if side == "client" else "2"
            ip(f"link add {dev} netns {side} type veth peer name {port} netns forwarder")
            ip(f"-n forwarder link set {port} up")
            ip(f"-n {side} link set {dev} up")
            for prefix in (native, net6):
                net6ctl("forwarder", f"add address {prefix}:fe/64 dev {port}")
            net6ctl("forwarder", f"set dev {port} forwarding on")
            ip(f"-n {side} addr add {native}:{host}/64 dev {dev} nodad")
            net6ctl(side, f"add address {net6}:{host}/64 dev {dev}")
            for ns, address in (("forwarder", f"{native}:fe"), ("forwarder", f"{net6}:fe"),
                                (side, f"{net6}:{host}")):
                self.lib(f"wait_for 20 address_ready {ns} {address}")
        for side, native, net6, dev in (("client", ("7", "8"), ("9", "a"), "c3"),
                                        ("server", ("8", "7"), ("a", "9"), "s3")):
            ip(f"-n {side} -6 route add fd00:{native[1]}::/64 via fd00:{native[0]}::fe")
            net6ctl(side, f"add route fd00:{net6[1]}::/64 via fd00:{net6[0]}::fe dev {dev}")
        self.keep_neighbors()

    def shape(self, rate, kind="tbf"):
        """Both directions of the direct link at a rate ("10mbit"), or as fast as can be (None).

        The burst is two full frames, so that large segments are cut as a card does; the queue
        holds more than any window here.
        """
        for ns, dev in (("client", "c1"), ("server", "s1")):
            self.run("tc", "-n", ns, "qdisc", "del", "dev", dev, "root", check=False)
            if rate:
                self.run("tc", "-n", ns, "qdisc", "add", "dev", dev, "root", kind, "rate", rate,
                         "burst", "3100", "limit", "600000")

    def backlog(self, ns, dev):
        """Bytes that wait in a device's queue."""
        out = self.run("tc", "-n", ns, "-j", "-s", "qdisc", "show", "dev", dev, "root")
        return json.loads(out)[0]["backlog"]

    # ---- netbench ----

    def serve(self, mode, stack, port, *options, size=1, way="direct", at_once=False):
        """A netbench server that listens; @at_once: it runs as soon as something has come for
        it, as on a machine of its own. Otherwise the scheduler decides whether it or the client
        goes on, differently each time: Nagle's algorithm and ACKs make much of that."""
        server = self.background(*(["chrt", "-f", "1"] if at_once else []),
                                 self.netbench_program, "-f", FAMILY[stack], "-a",
                                 ADDRESS[way][stack], "-p", port, "-s", size, *options, mode)
        udp = mode in ("serve-udp", "serve-udp-rest", "serve-usink", "send-udp-sink")
        self.wait_for(f"{mode} on {stack} port {port}", lambda: self.listening(port, udp))
        return server

    def netbench(self, mode, stack, port, count, size, *options, way="direct", ns="client"):
        """Its runs as a list of (nanoseconds per operation, idle nanoseconds or None, count)."""
        out = self.run(self.netbench_program, "-f", FAMILY[stack], "-a", ADDRESS[way][stack],
                       "-p", port, "-n", count, "-s", size, *options, mode, ns=ns)
        runs = []
        for line in out.splitlines():
            words = line.split()
            if words[0] == "idle":
                runs[-1] = (runs[-1][0], float(words[1]), runs[-1][2])
            else:
                runs.append((float(words[-1]), None, int(words[3])))
        return runs

    def instructions(self, *args, **kwargs):
        """The same as instructions per operation: one is two nanoseconds."""
        return [ns / 2 for ns, _, _ in self.netbench(*args, **kwargs)]

    def usual_instructions(self, *args, **kwargs):
        """The median of seven measures: in some a tick frees what was closed before."""
        return median(self.instructions(*args, **kwargs) for _ in range(7))


def main():
    name = sys.argv[1]
    sys.path.insert(0, HERE)
    # Instructions are told apart by their addresses: two tasks of one program need two places.
    with open("/proc/sys/kernel/randomize_va_space", "w") as f:
        f.write("2\n")
    lab = Lab("--quick" in sys.argv)
    try:
        importlib.import_module(name).run(lab)
    except Exception as error:	# pylint: disable=broad-except
        what = str(error) if isinstance(error, Failed) else f"{type(error).__name__}: {error}"
        # On a full disk the driver says why.
        with contextlib.suppress(OSError):
            lab.lack(EARLY + what)
            with open("/tmp/background.log") as log:
                print(log.read()[-2000:])
        return 1
    finally:
        lab.stop(*lab.servers)
    lab.write({"complete": True})
    return 0


if __name__ == "__main__":
    sys.exit(main())
