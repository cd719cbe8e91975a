# SPDX-License-Identifier: GPL-2.0
"""nginx and khttpd: what a request costs, and how much of it is the server's side, under a load
that fits and under one that does not. In four cases the other servers of peers.py, too. No paper's;
run by name only.

It also leaves servers.tsv beside the results: case, stack, server, and instructions a request on
the server's side.
"""
import functools
import os
import time

import heads
import peers
import sides
from results import mean
from sides import (CLASSIFIERS, CLIENT, OTHER, PARTS, REST, SERVER, TASK, code_of, kernel_ranges,
                   part_of, tag_packets)
from xie1999 import Symbols, dumps

TITLE = "The server's side of a request"
PAPER = "none: web servers are compared with each other"
NEEDS = ["wrk", "httperf", "nginx", "lighttpd", "h2o", "haproxy", "curl", "count.so"]
COUNTED = True		# this guest runs under the counting plugin

STACKS = ("net6", "native")
SIZES = (64, 1024, 4096, 65536, 1048576)
QUICK_SIZES = (1024, 65536)
URL = {"net6": "[fd00:2::2]", "native": "[fd00:1::2]"}
# Server: the port where it is asked itself, and where its pages are asked for by way of khttpd.
PORTS = {"nginx": 8000, "khttpd": 8080}
FRONT = {"nginx": 8000, "khttpd": 80}

# Milliseconds counted, of a processor that does 500 million instructions a second.
WINDOW = {65536: 300, 1048576: 600}
SHORT_WINDOW, OFFERED_WINDOW = 150, 1000
KEPT, EACH = "keep-alive", "connection a request"
HEADS = f"keep-alive, {heads.HEADS} heads"
# The names that cases with all servers have in servers.tsv.
PEERS = {(KEPT, 1024): "kept-1k", (HEADS, 1024): "kept-1k-heads100", (KEPT, 65536): "kept-64k",
         (EACH, 1024): "close-1k"}
# Connections offered in a second: what khttpd can answer on net6, and twice that.
OFFERED = (6000, 12000)
# wrk makes one call of the first for each request, httperf one of the other.
REQUEST = ("ksys_write", "do_writev")
SMALL = 40		# functions with fewer instructions for both servers are one line


def cases(quick):
    """(stack, what, bytes, page, ports, client, window)"""
    close = functools.partial(wrk, options=("-H", "Connection: close"))
    found = [(KEPT, size, f"/{size}.html", PORTS, wrk, WINDOW.get(size, SHORT_WINDOW))
             for size in (QUICK_SIZES if quick else SIZES)]
    found.append((HEADS, 1024, "/1024.html", PORTS, many_heads, SHORT_WINDOW))
    found.append((EACH, 1024, "/1024.html", PORTS, close, SHORT_WINDOW))
    if not quick:
        found.append((f"handed over, {KEPT}", 0, "/dynamic", FRONT, wrk, SHORT_WINDOW))
        found.append((f"handed over, {EACH}", 0, "/dynamic", FRONT, close, SHORT_WINDOW))
    found = [(stack, *case) for stack in STACKS for case in found]
    if not quick:
        found += [("net6", f"{rate} connections offered a second", 1024, "/1024.html", PORTS,
                   functools.partial(httperf, rate=rate), OFFERED_WINDOW) for rate in OFFERED]
    return found


def run(lab):
    for module in ("sch_ingress", "cls_matchall", "cls_u32"):
        lab.run("modprobe", "-q", module, check=False)
    lab.network()
    start_servers(lab)
    others = peers.start(lab, URL)
    tag_packets(lab)
    # All modules are there. What was counted is of use, however the guest ends.
    with open("/proc/kallsyms") as f, open(f"{os.environ['NET6_OUT']}/kallsyms", "w") as out:
        out.writelines(line for line in f if line.split()[1] in "tTwW")
    todo = [(case, server) for case in cases(lab.quick)
            for server in [*PORTS, *(others if case[1:3] in PEERS else ())]]
    lab.plan(len(todo))
    for start, _ in sides.functions(REQUEST).values():
        lab.run(lab.netbench_program, "hook", f"{start:x}", 0)
    for label, ((stack, what, size, page, ports, client, window), server) in enumerate(todo, 1):
        if server in others:
            port, pid = others[server](stack, size, what == EACH)
        else:
            port, pid = ports[server], nginx(stack)
        lab.step(f"{what}, {size} B, {server} over {stack}")
        with lab.attempt(f"{what}, {size} B, {server} over {stack}"):
            # A page that is not in khttpd's cache yet leaves its connection to a thread.
            for _ in range(4):
                lab.wait_for(page, lambda s=stack, p=port, f=page: answers(lab, s, p, f))
                time.sleep(0.02)
            count(lab, label, window, client(lab, stack, port, page), pid)
            lab.write({"label": label, "case": {"what": what, "bytes": size, "over": stack},
                       "server": server})


def wrk(lab, stack, port, page, options=()):
    """Four connections, on each a request when there is a reply. Stopped long before its end,
    but the clock may jump while it is loaded."""
    return [*lab.wrap(stack), "wrk", "-t1", "-c4", "-d600", *options,
            f"http://{URL[stack]}:{port}{page}"]


def many_heads(lab, stack, port, page):
    """The same with another head in each request."""
    script = f"/tmp/heads-{stack}-{port}.lua"
    with open(script, "w", encoding="ascii", newline="") as f:
        f.write(heads.wrk_script(f"{URL[stack]}:{port}", page))
    return wrk(lab, stack, port, page, ("-s", script))


def httperf(lab, stack, port, page, rate):
    """Connections with a request each; httperf knows IPv4 only."""
    return [*lab.wrap(stack, "-m", "10.1.0.2=fd00:2::2"), "httperf", "--server", "10.1.0.2",
            "--port", port, "--uri", page, "--rate", rate, "--num-conns", 600 * rate,
            "--timeout", 2]


def begun(pid):
    """A client is what runs there (no longer "ip netns exec"), and it has a socket."""
    clients = "wrk", "httperf", "openssl"
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) in clients and any(
            os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:")
            for name in os.listdir(f"/proc/{pid}/fd"))
    except FileNotFoundError:	# closed meanwhile
        return False


def start_servers(lab):
    lab.khttpd()
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
    for name in ("native", "net6"):
        listen = f"listen {URL[name]}:80; listen {URL[name]}:8000;"
        if name == "native":
            listen += f" listen {peers.BEHIND};"
        with open(f"/tmp/nginx-{name}.conf", "w") as f:
            f.write(lab.lib(f"write_nginx_conf {name} '{listen}'"))
        lab.background(*lab.wrap(name), "nginx", "-c", f"/tmp/nginx-{name}.conf")
        lab.wait_for(f"nginx on {name}", lambda: answers(lab, name, 8000))
        lab.run(lab.tool["khttpdctl"], "attach", "--pid", nginx(name), "--port", 80, "--docroot",
                "/srv/www", "--site", f"front-{name}", ns="server")


def answers(lab, stack, port, page="/64.html"):
    return lab.run(*lab.wrap(stack), "curl", "-gsS", "-o", "/dev/null", "-w", "%{http_code}",
                   f"http://{URL[stack]}:{port}{page}", ns="client", check=False) == "200"


def nginx(name):
    with open(f"/tmp/nginx-{name}.pid") as f:
        return f.read().strip()


# ---- whose work is it? ----

def count(lab, label, window, command, server):
    """Counts while the command is under way; @server: a program that answers. In user space it
    counts by the program, in the kernel by the task that runs or by the end that a packet has come
    to."""
    ranges = kernel_ranges(khttpd_thread_main=TASK | SERVER)
    client = lab.background(*command, ns="client")
    try:
        lab.wait_for(f"{command}", lambda: begun(client.pid))
        # All of its code is mapped then, and as many connections are open as will be.
        time.sleep(0.5)
        ranges += [f"{code}:{TASK | CLIENT}" for code in code_of(client.pid)]
        ranges += [f"{code}:{TASK | SERVER}" for code in code_of(server)]
        lab.run(lab.netbench_program, "-l", label, "-n", window, "sides", *ranges)
        if client.poll() is not None:
            raise ValueError(f"{' '.join(str(w) for w in command)} has ended before its time")
    finally:
        lab.stop(client)


# ---- on the host: the plugin's counts to rows ----

SIDES = {"server": SERVER, "client": CLIENT}
APART = "telling sides apart"	# the classifiers


def finish(log, entries, _rows):
    symbols, found, rows = Symbols(f"{log}/out/kallsyms"), dumps(f"{log}/counts"), []

    def row(figure, case, server, value):
        rows.append({"figure": figure, "case": case, "stack": server, "unit": "instructions",
                     "values": [round(value, 1)]})

    shares = {}
    for entry in entries:
        if entry.get("label") not in found:
            rows.append({"lack": f"no counts of {entry}"})
            continue
        events, counts = found[entry["label"]][0]
        requests = sum(hook and slot == CLIENT for slot, hook, _ in events)
        sums = {slot: sum(n for s, _, n in counts if s == slot) for slot in (CLIENT, SERVER, OTHER)}
        if not requests:
            rows.append({"lack": f"no request was seen: {entry}"})
            continue
        scale, case, server = 1 / requests, entry["case"], entry["server"]
        row("whole", case, server, scale * (sums[CLIENT] + sums[SERVER]))
        for side, slot in SIDES.items():
            row(side, case, server, scale * sums[slot])
            share = shares.setdefault((*case.items(), ("side", side)), {}).setdefault(server, {})
            for s, address, n in counts:
                if s == slot:
                    name = symbols.name(address)
                    share[name] = share.get(name, 0) + scale * n
        row("others", case, server, scale * sums[OTHER])
    table(f"{log}/../../servers.tsv", rows)
    rows += moved(rows)
    for case, by_server in shares.items():
        for server, share in by_server.items():
            for part, sums in by_part(share, by_server.values()).items():
                row("parts", dict(case, part=part), server, sum(sums.values()))
                for name, n in sorted(sums.items(), key=lambda i: -i[1]):
                    row("functions", dict(case, part=part, function=name), server, n)
    return rows


def table(path, rows):
    """The server's side of the cases that all servers have."""
    with open(path, "w", encoding="ascii") as f:
        f.write("case\tstack\tserver\tinstructions\n")
        for row in rows:
            case = row.get("figure") == "server" and row["case"]
            name = case and PEERS.get((case["what"], case["bytes"]))
            if name:
                f.write(f"{name}\t{case['over']}\t{row['stack']}\t{mean(row['values']):.0f}\n")


def moved(rows):
    """Rows of the same cases with nginx on the system's own IPv6 and khttpd on net6."""
    values = {(r["figure"], r["case"]["what"], r["case"]["bytes"], r["case"]["over"], r["stack"]):
              r["values"] for r in rows if r.get("figure") in ("whole", "server")}
    for (figure, what, size, over, server), n in values.items():
        khttpd = values.get((figure, what, size, "net6", "khttpd"))
        if (over, server) == ("native", "nginx") and khttpd:
            for stack, found in (("nginx", n), ("khttpd", khttpd)):
                yield {"figure": "moved", "case": {"what": what, "bytes": size, "side": figure},
                       "stack": stack, "unit": "instructions", "values": found}


def by_part(share, shares):
    """{part: {function: instructions}}; functions that are small in all of @shares together."""
    found = {part: {} for part in (*(part for part, _ in PARTS), REST, APART)}
    for name, n in share.items():
        sums = found[APART if name.startswith(CLASSIFIERS) else part_of(name)]
        shown = name if any(one.get(name, 0) >= SMALL for one in shares) else "all others"
        sums[shown] = sums.get(shown, 0) + n
    return found


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [
    {"figure": figure, "title": title, "kind": "bars", "split": ["over"], "open": True,
     "paper": NOT_FOUND}
    for figure, title in (("whole", "A request, both sides"), ("server", "The server's side"))
]
TABLES = {
    "moved": {"title": "nginx on the system's own IPv6, and khttpd on net6 in its place",
              "open": True, "paper": NOT_FOUND},
    "client": {"title": "The client's side", "paper": NOT_FOUND},
    "others": {"title": "Other tasks meanwhile", "paper": NOT_FOUND},
    "parts": {"title": "What the instructions are for", "open": True, "paper": NOT_FOUND},
    "functions": {"title": "Functions", "paper": NOT_FOUND},
}
