# SPDX-License-Identifier: GPL-2.0
"""Which locks several CPUs wait for. Four emulated CPUs run at once; each has a client, and a
server where they do not share one. No paper's; by name only.

Counted is how often a spinlock was not had at once (native_queued_spin_lock_slowpath, which the
kernel's own tracepoint misses where only one waits), and all that lock:contention_begin tells of
other locks. A wait belongs to the function that wanted the lock. The emulator's threads share the
host's processors. A thread that does not run may hold a lock, so that others wait for it more often
than for a real CPU. So how many there are is worth little; which locks there are is what counts.

It also leaves cpus.tsv beside the results: load, lock, and how often it was waited for in a
thousand operations, ours and the peer's.
"""
import os
import re
import subprocess

from lab import ADDRESS, FAMILY, Failed
from results import mean

TITLE = "Locks that several CPUs wait for"
PAPER = "none: whether CPUs wait for each other"
NEEDS = ["nginx", "taskset"]
CPUS = 4
PARALLEL = True

TRACING = "/sys/kernel/tracing"
# What is on the way from who wants a lock to where the wait is seen.
LOCKING = re.compile(r"0x|(native_)?queued_|_?raw_|do_raw_|__?pv_|.*_slowpath$|__?mutex|mutex_|rwsem_|"
                     r"down_|up_|__?down|percpu_|__lock_text|_?spin_|osq_|trace_|kprobe_|rt_mutex|"
                     r"queued_")
OURS = re.compile(r"\[(net6|khttpd)\]")
UDP, RR, CRR = "UDP round trip", "TCP round trip", "TCP connect, exchange, close; one listener"
FORWARD = "UDP round trip through a router"
KEPT, EACH = "web server, kept 1 KB", "web server, 1 KB on a connection each"


# ---- what waited ----

def waits(text):
    """[(how often, [function and perhaps its module, innermost first])] by a histogram's text."""
    found, stack = [], []
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("{ stacktrace"):
            stack = []
        elif line.startswith("}") and "hitcount:" in line:
            found.append((int(line.split("hitcount:")[1].split()[0]), stack))
        elif line and not line.startswith("#") and ":" not in line:
            name = line.split()[0].split("+")[0].split(".")[0]
            module = re.search(r"\[\w+\]", line)
            stack.append(f"{name} {module.group()}" if module else name)
    return found


def wanted_by(stack):
    """The function that wanted the lock."""
    for name in stack:
        if not LOCKING.match(name):
            return name
    return "?"


def by_lock(text):
    """{function: how often}, but for the guest's files, which come from the host over 9p"""
    found = {}
    for times, stack in waits(text):
        name = wanted_by(stack)
        if not any("[9p" in frame for frame in stack):
            found[name] = found.get(name, 0) + times
    return found


# ---- in the guest ----

class Watch:
    """Histograms of waits by stack."""

    EVENTS = {"kprobes/net6_bench_slow": "",
              "lock/contention_begin": " if flags != 1"}		# spinlocks are the other's

    def __init__(self, lab):
        if not os.path.exists(f"{TRACING}/events"):
            lab.run("mount", "-t", "tracefs", "tracefs", TRACING)
        self.write("kprobe_events", "p:net6_bench_slow native_queued_spin_lock_slowpath")
        for event, condition in self.EVENTS.items():
            self.write(f"events/{event}/trigger", f"hist:keys=stacktrace:size=16384:pause{condition}")

    @staticmethod
    def write(name, text):
        # Python's append mode seeks to the end, which these files refuse.
        file = os.open(f"{TRACING}/{name}", os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, f"{text}\n".encode())
        finally:
            os.close(file)

    def tell(self, word):
        for event, condition in self.EVENTS.items():
            self.write(f"events/{event}/trigger", f"hist:keys=stacktrace:{word}{condition}")

    def begin(self):
        self.tell("clear")
        self.tell("cont")

    def end(self):
        """{function: how often} since begin()"""
        self.tell("pause")
        found = {}
        for event in self.EVENTS:
            with open(f"{TRACING}/events/{event}/hist", encoding="ascii") as file:
                for name, times in by_lock(file.read()).items():
                    found[name] = found.get(name, 0) + times
        return found


def clients(lab, mode, stack, count, size, ports, address, ns="client"):
    """One on each CPU, all at once."""
    running = []
    for cpu in range(CPUS):
        command = ["ip", "netns", "exec", ns, "taskset", "-c", str(cpu), lab.netbench_program,
                   "-f", FAMILY[stack], "-a", address, "-p", str(ports[cpu]), "-n", str(count),
                   "-s", str(size), mode]
        running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True))
    for client in running:
        said = client.communicate()[0]
        if client.returncode:
            raise Failed(f"{mode}: {said.strip()[-100:]}")


def measure(lab, watch, load, side, stack, mode, count, size, ports, address):
    """Twice: what is made once is made the first time."""
    lab.step(f"{load}, {side}")
    with lab.attempt(f"{load}, {side}"):
        clients(lab, mode, stack, count // 10, size, ports, address)
        watch.begin()
        clients(lab, mode, stack, count, size, ports, address)
        found = watch.end()
        total = count * CPUS * 11 // 10		# with those of netbench that warm up
        lab.row("sum", {"load": load}, side, "waits in 1,000 operations",
                1000 * sum(found.values()) / total)
        lab.row("stack", {"load": load}, side, "waits in 1,000 operations",
                1000 * sum(n for name, n in found.items() if OURS.search(name)) / total)
        for name, times in sorted(found.items(), key=lambda pair: -pair[1])[:12]:
            lab.row("lock", {"load": load, "lock": name}, side, "waits in 1,000 operations",
                    1000 * times / total)


def pinned(lab, cpu, *args, **kwargs):
    """A server that has a CPU to itself."""
    all_cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        return lab.serve(*args, **kwargs)
    finally:
        os.sched_setaffinity(0, all_cpus)


def pairs(lab, watch, load, kind, mode, count, stack, way="direct", side=None):
    """A client and a server on each CPU."""
    ports = [7000 + cpu for cpu in range(CPUS)]
    servers = []
    with lab.attempt(f"{load}, {side or stack}"):
        for cpu in range(CPUS):
            servers.append(pinned(lab, cpu, f"serve-{kind}", stack, ports[cpu], way=way))
        measure(lab, watch, load, side or stack, stack, mode, count, 1, ports, ADDRESS[way][stack])
    lab.stop(*servers)


def run(lab):
    count = 2000 if lab.quick else 20000
    lab.network()
    lab.router()
    lab.router_net6()
    lab.plan(14)
    watch = Watch(lab)
    for stack in ("native", "net6"):
        pairs(lab, watch, UDP, "udp", "udp-rr", count, stack)
        pairs(lab, watch, RR, "tcp", "tcp-rr", count, stack)
        with lab.attempt(f"{CRR}, {stack}"):
            server = lab.serve("serve-tcp", stack, 7100, "-w", CPUS)
            measure(lab, watch, CRR, stack, stack, "crr", count // 4, 1, [7100] * CPUS,
                    ADDRESS["direct"][stack])
            lab.stop(server)
    # The hosts are native's; the routers differ.
    pairs(lab, watch, FORWARD, "udp", "udp-rr", count, "native", "routed", "native")
    pairs(lab, watch, FORWARD, "udp", "udp-rr", count, "native", "forwarded", "net6")
    web_servers(lab, watch, count)


def web_servers(lab, watch, count):
    lab.khttpd()
    os.makedirs("/srv/www", exist_ok=True)
    with open("/srv/www/1024.html", "w", encoding="ascii") as file:
        file.write("x" * 1024)
    lab.run(lab.tool["khttpdctl"], "serve", "--site", "files", "--docroot", "/srv/www",
            "--listen", "[fd00:2::2]:8080,net6", "--listen", "[fd00:1::2]:8080", ns="server")
    nginx = start_nginx(lab)
    for side, stack, port in (("khttpd on net6", "net6", 8080), ("nginx on net6", "net6", 8000),
                              ("khttpd on native", "native", 8080)):
        for load, mode, share in ((KEPT, "http", 1), (EACH, "http-each", 4)):
            measure(lab, watch, load, side, stack, mode, count // share, 1024, [port] * CPUS,
                    ADDRESS["direct"][stack])
    lab.stop(nginx)


def start_nginx(lab):
    """A worker for each CPU."""
    text = lab.lib("write_nginx_conf cpus 'listen [fd00:2::2]:8000;'")
    with open("/tmp/nginx-cpus.conf", "w", encoding="ascii") as file:
        file.write(text.replace("worker_processes 1;", f"worker_processes {CPUS};"))
    server = lab.background(*lab.wrap("net6"), "nginx", "-c", "/tmp/nginx-cpus.conf")
    lab.wait_for("nginx", lambda: lab.listening(8000))
    return server


# ---- on the host ----

PEER = {"net6": "native", "khttpd on net6": "nginx on net6"}


def table(rows):
    """[(load, lock, ours, peer's)]: what is not among the first of a side is empty there."""
    found = {}
    for row in rows:
        if row["figure"] in ("sum", "stack", "lock"):
            lock = {"sum": "all", "stack": "of net6 and khttpd"}.get(row["figure"]) \
                or row["case"]["lock"]
            by = found.setdefault(row["case"]["load"], {}).setdefault(lock, {})
            by[row["stack"]] = mean(row["values"])
    lines = []
    for load, locks in found.items():
        sides = {side for by in locks.values() for side in by}
        ours = next((side for side in PEER if side in sides), None)
        for lock, by in locks.items():
            lines.append((load, lock, by.get(ours), by.get(PEER.get(ours))))
    return lines


def finish(log, _entries, rows):
    """Writes the table."""
    with open(os.path.join(log, "..", "..", "cpus.tsv"), "w", encoding="utf-8") as file:
        file.write("load\tlock\tours\tpeer\n")
        for load, lock, *by in table(rows):
            cells = ["" if n is None else f"{n:.2f}" for n in by]
            file.write("\t".join([load, lock, *cells]) + "\n")
    return []


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [
    {"figure": "sum", "title": "Waits for locks", "kind": "bars", "open": True, "paper": NOT_FOUND},
]
TABLES = {
    "stack": {"title": "Waits for locks of net6 and khttpd", "open": True, "paper": NOT_FOUND},
    "lock": {"title": "Waits by who wants the lock", "paper": NOT_FOUND},
}
