# SPDX-License-Identifier: GPL-2.0
"""What operations cost with few and with many of something that they do not concern: sockets of
one port with other addresses or peers, addresses of a router, other sites of a web server. No
paper's; run by name, and by a quick run of all.

It also leaves scale.tsv beside the results: row, size, ours, peer, of instructions for each. The
peer is the native stack, or nginx on net6. Of a row that costs over a tenth more at its largest
size than at its smallest it is said that something is lacking.
"""
import os
import time

import forwarding
from lab import ADDRESS, FAMILY
from results import mean

TITLE = "Costs that do not grow"
PAPER = "none: whether what is not concerned is paid for"
NEEDS = ["nginx"]

SIZES = (0, 1000, 4000)
BIND_SIZES = (1, 1000, 4000)	# the first of a port costs less
MOST = 1.1		# largest/smallest
STACKS = ("native", "net6")
UDP, PEERS, TCP, BIND = ("UDP round trip; sockets of one port on other addresses",
                  "UDP round trip; sockets of the same address and port with other peers",
                  "TCP connect, exchange, close; listeners likewise",
                  "bind and listen of one of them")
FORWARD, ADDRESSES = "forwarding to a new destination; addresses of the interface", (2, 100, 1000)
HOSTS, HOST_SIZES = "khttpd on net6, kept 1 KB; virtual hosts of two names", (0, 10, 100)
HEADS, HEAD_SIZES = "khttpd on net6, kept 1 KB; different heads in turn", (1, 10, 100)


def crowd(lab, mode, stack, port, size):
    """So many sockets of a port with other addresses or peers; to be stopped."""
    if not size:
        return []
    connected = mode == "crowd-connected"
    server = lab.background(lab.netbench_program, "-f", FAMILY[stack], "-a",
                            ADDRESS["direct"][stack] if connected else "::1",
                            "-p", port, "-n", size, mode)
    lab.wait_for(f"{size} sockets on {stack}",
                 lambda: lab.listening(port + 1, mode != "crowd-tcp"))
    return [server]


def beside(lab, name, size, stack, port, mode, *rows, others=None):
    """Each of @rows, its name, netbench mode and more, beside so many @others of the port."""
    lab.step(f"{name}, {size} sockets, {stack}")
    with lab.attempt(f"{name}, {size} sockets, {stack}"):
        others = crowd(lab, f"crowd-{others or mode}", stack, port, size)
        server = lab.serve(f"serve-{mode}", stack, port)
        for row, what, count, more in rows:
            lab.row("cost", {"row": row, "size": size}, stack, "instructions",
                    lab.usual_instructions(what, stack, port, count, 1, **more))
        lab.stop(server, *others)


def run(lab):
    lab.network()
    count = 100 if lab.quick else 500
    lab.plan(len(SIZES) * len(STACKS) * 4 + len(ADDRESSES) * len(STACKS)
             + len(HEAD_SIZES) * 2 + len(HOST_SIZES) * 2)
    ports = iter(range(7100, 7200, 2))
    for stack in STACKS:
        for size in SIZES:
            beside(lab, "UDP", size, stack, next(ports), "udp", (UDP, "udp-rr", 2 * count, {}))
        for size in SIZES:
            beside(lab, "UDP, connected", size, stack, next(ports), "udp",
                   (PEERS, "udp-rr", 2 * count, {}), others="connected")
        for size in SIZES:
            beside(lab, "TCP", size, stack, next(ports), "tcp", (TCP, "crr", count, {}))
        for size in BIND_SIZES:
            beside(lab, "bind", size, stack, next(ports), "tcp",
                   (BIND, "bind", count, {"ns": "server"}))
    forwarded(lab, count)
    web_server(lab, count)


def forwarded(lab, count):
    """Each packet has a destination that the router has not heard of lately."""
    other = forwarding.Bench()
    other.add_routes(0, forwarding.FEW)
    other.nd.net6ctl(other.a, "set", "limits", "max-dests", "64")
    for stack, router in (("net6", other), ("native", forwarding.Native(other))):
        there = 2
        for size in ADDRESSES:
            lab.step(f"{size} addresses, {stack}")
            router.add_addresses(there, size)
            there = size
            lab.row("cost", {"row": FORWARD, "size": size}, stack, "instructions",
                    router.measure(forwarding.routed, forwarding.new, forwarding.FEW, 4 * count))


def web_server(lab, count):
    """Requests on a kept connection: with other heads in turn, and to the last of many sites."""
    lab.khttpd()
    os.makedirs("/srv/www", exist_ok=True)
    with open("/srv/www/1024.html", "w", encoding="ascii") as f:
        f.write("x" * 1024)
    site(lab, "files", "--listen", "[fd00:2::2]:8080,net6")
    for size in HEAD_SIZES:
        with lab.attempt(f"{size} heads"):
            both(lab, HEADS, size, 0, 10 * count, "-m", size)
    made = 0
    for size in HOST_SIZES:
        for n in range(made, size):
            site(lab, f"h{n}", "--set", "behind=files", "--set", f"names=h{n}.example *.w{n}.example")
        made = size
        with lab.attempt(f"{size} virtual hosts"):
            both(lab, HOSTS, size, size, 10 * count, "-h", f"h{size - 1}.example" if size else "localhost")


def both(lab, row, size, hosts, count, *words):
    """A row of khttpd, and of nginx with so many other hosts."""
    lab.step(f"{row}: {size}, khttpd")
    requests(lab, row, size, "net6", 8080, count, words)
    lab.step(f"{row}: {size}, nginx")
    server = nginx(lab, hosts)
    requests(lab, row, size, "nginx", 8000, count, words)
    lab.stop(server)


def site(lab, name, *words):
    lab.run(lab.tool["khttpdctl"], "serve", "--site", name, "--docroot", "/srv/www", *words,
            ns="server")


def nginx(lab, hosts):
    """With as many servers; it listens."""
    listen = "listen [fd00:2::2]:8000"
    text = lab.lib(f"write_nginx_conf scale '{listen} default_server;'").rstrip().rstrip("}")
    more = "".join(f"server {{ {listen}; server_name h{n}.example *.w{n}.example; root /srv/www; }}\n"
                   for n in range(hosts))
    with open("/tmp/nginx-scale.conf", "w", encoding="ascii") as f:
        f.write(text + more + "}\n")
    server = lab.background(*lab.wrap("net6"), "nginx", "-c", "/tmp/nginx-scale.conf")
    lab.wait_for("nginx", lambda: lab.listening(8000))
    return server


def requests(lab, row, size, server, port, count, words):
    """On a kept connection. The first ones bring the file into the cache."""
    for _ in range(4):
        lab.netbench("http", "net6", port, 1, 1024, *words)
        time.sleep(0.02)	# it settles in three ticks, and is kept from then on
    lab.row("cost", {"row": row, "size": size}, server, "instructions",
            lab.instructions("http", "net6", port, count, 1024, *words))


# ---- on the host ----

def finish(log, _entries, rows):
    """Writes the table; what of it is lacking."""
    found = {}
    for row in rows:
        key = row["case"]["row"], row["case"]["size"]
        found.setdefault(key, {})[row["stack"]] = mean(row["values"])
    with open(os.path.join(log, "..", "..", "scale.tsv"), "w", encoding="utf-8") as f:
        f.write("row\tsize\tours\tpeer\n")
        for (name, size), by in found.items():
            peer = by.get("native", by.get("nginx"))
            cells = [f"{cost:.0f}" if cost else "" for cost in (by.get("net6"), peer)]
            f.write("\t".join([name, str(size), *cells]) + "\n")
    lacks = []
    for name in dict.fromkeys(name for name, _ in found):
        ours = [by["net6"] for (row, _), by in found.items() if row == name and "net6" in by]
        if ours and ours[-1] > MOST * ours[0]:
            lacks.append({"lack": f"{name}: {ours[-1] / ours[0]:.2f} times the smallest's cost"})
    return lacks


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [
    {"figure": "cost", "title": "Cost by size", "kind": "bars", "open": True,
     "paper": NOT_FOUND},
]
TABLES = {}
