# SPDX-License-Identifier: GPL-2.0
"""nginx and khttpd: what a request costs, and how much of it is the server's side. No paper's;
run by name only."""
import os
import time

from xie1999 import Symbols, dumps

TITLE = "The server's side of a request"
PAPER = "none: two web servers are compared with each other"
NEEDS = ["wrk", "nginx", "count.so"]
COUNTED = True		# this guest runs under the counting plugin

STACKS = ("net6", "native")
SIZES = (64, 1024, 4096, 65536, 1048576)
QUICK_SIZES = (1024, 65536)
URL = {"net6": "[fd00:2::2]", "native": "[fd00:1::2]"}
# Server: the port where it is asked itself, and where its pages are asked for by way of khttpd.
PORTS = {"nginx": 8000, "khttpd": 8080}
FRONT = {"nginx": 8000, "khttpd": 80}

# Slots of the counting plugin, and what ranges of code do (mark.h).
CLIENT, SERVER, OTHER = 1, 2, 3
TASK, RETURN, SWITCH = 0x10, 0x20, 0x40
# Milliseconds counted, of a processor that does 500 million instructions a second.
WINDOW = {65536: 300, 1048576: 600}
SHORT_WINDOW = 150
# wrk makes one such call for each request.
REQUEST = "ksys_write"
SHOWN = 60		# functions named of a side


def cases(quick):
    """(what, bytes, page, ports, wrk's options)"""
    close = ("-H", "Connection: close")
    found = [("keep-alive", size, f"/{size}.html", PORTS, ())
             for size in (QUICK_SIZES if quick else SIZES)]
    found.append(("connection a request", 1024, "/1024.html", PORTS, close))
    found.append(("handed over, keep-alive", 0, "/dynamic", FRONT, ()))
    found.append(("handed over, connection a request", 0, "/dynamic", FRONT, close))
    return found


def run(lab):
    for module in ("sch_ingress", "cls_matchall", "cls_u32"):
        lab.run("modprobe", "-q", module, check=False)
    lab.network()
    start_servers(lab)
    tag_packets(lab)
    todo = [(stack, case) for stack in STACKS for case in cases(lab.quick)]
    lab.plan(len(todo) * len(PORTS))
    lab.run(lab.netbench_program, "hook", f"{functions([REQUEST])[REQUEST][0]:x}", 0)
    label = 0
    for stack, (what, size, page, ports, options) in todo:
        for server, port in ports.items():
            label += 1
            lab.step(f"{what}, {size} B, {server} over {stack}")
            with lab.attempt(f"{what}, {size} B, {server} over {stack}"):
                # A page that is not in khttpd's cache yet leaves its connection to a thread.
                for _ in range(4):
                    lab.wait_for(page, lambda: answers(lab, stack, port, page))
                    time.sleep(0.02)
                sides(lab, label, WINDOW.get(size, SHORT_WINDOW),
                      wrk(lab, stack, port, page, options))
                lab.write({"label": label, "case": {"what": what, "bytes": size, "over": stack},
                           "server": server})
    with open("/proc/kallsyms") as f, open(f"{os.environ['NET6_OUT']}/kallsyms", "w") as out:
        out.writelines(line for line in f if line.split()[1] in "tTwW")


def wrk(lab, stack, port, page, options):
    wrap = [lab.tool["net6-run"]] if stack == "net6" else []
    return [*wrap, "wrk", "-t1", "-c4", "-d3", *options, f"http://{URL[stack]}:{port}{page}"]


def start_servers(lab):
    lab.run("insmod", f"{os.environ['NET6_BUILD']}/khttpd/khttpd.ko")
    for path in ("/srv/www", "/var/lib/nginx", "/var/log/nginx"):
        try:
            os.makedirs(path, exist_ok=True)
        except OSError:
            pass
    for size in SIZES:
        with open(f"/srv/www/{size}.html", "w") as f:
            f.write("x" * size)
    lab.run(lab.tool["khttpdctl"], "serve", "--site", "files", "--docroot", "/srv/www", "--listen",
            "[fd00:1::2]:8080", "--listen", "[fd00:2::2]:8080,net6", ns="server")
    for name, prefix in (("native", []), ("net6", [lab.tool["net6-run"]])):
        listen = f"listen {URL[name]}:80; listen {URL[name]}:8000;"
        with open(f"/tmp/nginx-{name}.conf", "w") as f:
            f.write(lab.lib(f"write_nginx_conf {name} '{listen}'"))
        lab.background(*prefix, "nginx", "-c", f"/tmp/nginx-{name}.conf")
        lab.wait_for(f"nginx on {name}", lambda: answers(lab, name, 8000))
        lab.run(lab.tool["khttpdctl"], "attach", "--pid", nginx(name), "--port", 80, "--docroot",
                "/srv/www", "--site", f"front-{name}", ns="server")


def answers(lab, stack, port, page="/64.html"):
    wrap = [lab.tool["net6-run"]] if stack == "net6" else []
    return lab.run(*wrap, "curl", "-gsS", "-o", "/dev/null", "-w", "%{http_code}",
                   f"http://{URL[stack]}:{port}{page}", ns="client", check=False) == "200"


def nginx(name):
    with open(f"/tmp/nginx-{name}.pid") as f:
        return f.read().strip()


# ---- whose work is it? ----

def tag_packets(lab):
    """What comes to either end passes a classifier of its own; it matches nothing."""
    for ns, dev, match in (("client", "c1", ("u32", "match", "u32", "0", "0xffffffff")),
                           ("server", "s1", ("matchall", "classid", "1:1"))):
        lab.run("tc", "-n", ns, "qdisc", "add", "dev", dev, "ingress")
        lab.run("tc", "-n", ns, "filter", "add", "dev", dev, "ingress", *match)


def functions(wanted):
    """{name: (first address, the next function's)}; a name's compiled copy counts."""
    with open("/proc/kallsyms") as f:
        table = sorted((int(line.split()[0], 16), line.split()[2]) for line in f
                       if line.split()[1] in "tT")
    found = {}
    for at, (start, name) in enumerate(table):
        base = name.split(".")[0]
        if base in wanted and base not in found and not name.endswith(".cold"):
            found[base] = (start, next(a for a, _ in table[at:] if a > start))
    # Newer kernels have it behind the other, and there the work is done.
    missing = set(wanted) - found.keys() - {"handle_softirqs"}
    if missing:
        raise ValueError(f"not in this kernel: {', '.join(missing)}")
    return found


def code_of(pid):
    """Address ranges of a program's code, in hexadecimal."""
    found = []
    with open(f"/proc/{pid}/maps") as f:
        for line in f:
            words = line.split()
            if "x" in words[1] and words[-1] != "[vsyscall]":
                found.append(words[0])
    return found


def sides(lab, label, window, command):
    """Counts while the command is under way: in user space by the program, in the kernel by
    the task that runs or by the end that a packet has come to."""
    what = {"u32_classify": CLIENT, "mall_classify": SERVER, "__do_softirq": RETURN,
            "handle_softirqs": RETURN, "finish_task_switch": SWITCH,
            "khttpd_thread_main": TASK | SERVER}
    ranges = [f"{start:x}-{end:x}:{what[name]}"
              for name, (start, end) in functions(what).items()]
    client = lab.background(*command, ns="client")
    # It has begun its thread when all of its code is mapped.
    lab.wait_for("wrk", lambda: len(os.listdir(f"/proc/{client.pid}/task")) > 1)
    time.sleep(0.1)
    ranges += [f"{code}:{TASK | CLIENT}" for code in code_of(client.pid)]
    for name in ("native", "net6"):
        ranges += [f"{code}:{TASK | SERVER}" for code in code_of(nginx(name))]
    lab.run(lab.netbench_program, "-l", label, "-n", window, "sides", *ranges)
    if client.poll() is not None:
        raise ValueError(f"{' '.join(command)} has ended before its time")
    lab.stop(client)


# ---- on the host: the plugin's counts to rows ----

def finish(log, entries, _rows):
    symbols, found, rows = Symbols(f"{log}/out/kallsyms"), dumps(f"{log}/counts"), []

    def row(figure, case, server, value):
        rows.append({"figure": figure, "case": case, "stack": server, "unit": "instructions",
                     "values": [round(value, 1)]})

    for entry in entries:
        if entry.get("label") not in found:
            continue
        events, counts = found[entry["label"]][0]
        requests = sum(hook and slot == CLIENT for slot, hook, _ in events)
        sums = {slot: sum(n for s, _, n in counts if s == slot) for slot in (CLIENT, SERVER, OTHER)}
        if not requests:
            raise ValueError(f"no request was seen: {entry}")
        scale, case, server = 1 / requests, entry["case"], entry["server"]
        row("whole", case, server, scale * (sums[CLIENT] + sums[SERVER]))
        for side, slot in (("server", SERVER), ("client", CLIENT)):
            row(side, case, server, scale * sums[slot])
            if case["bytes"] != 1024:
                continue
            share = {}
            for s, address, n in counts:
                if s == slot:
                    name = symbols.name(address)
                    share[name] = share.get(name, 0) + n
            for name in sorted(share, key=share.get, reverse=True)[:SHOWN]:
                row("functions", dict(case, side=side, function=name), server,
                    scale * share[name])
        row("others", case, server, scale * sums[OTHER])
    return rows


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [
    {"figure": figure, "title": title, "kind": "bars", "split": ["over"], "open": True,
     "paper": NOT_FOUND}
    for figure, title in (("whole", "A request, both sides"), ("server", "The server's side"))
]
TABLES = {
    "client": {"title": "The client's side", "paper": NOT_FOUND},
    "others": {"title": "Other tasks meanwhile", "paper": NOT_FOUND},
    "functions": {"title": "Functions by their share, 1 KB", "paper": NOT_FOUND},
}
