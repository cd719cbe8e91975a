# SPDX-License-Identifier: GPL-2.0
"""What operations cost with few and with many of something that they do not concern: sockets of
one port on other addresses. No paper's; run by name only.

It also leaves scale.tsv beside the results: row, size, ours, peer, of instructions for each. The
peer is the native stack. Of a row that costs over a tenth more at its largest size than at its
smallest it is said that something is lacking.
"""
import os

from lab import FAMILY
from results import mean

TITLE = "Costs that do not grow"
PAPER = "none: whether what is not concerned is paid for"
NEEDS = []

SIZES = (0, 1000, 4000)
MOST = 1.1		# largest/smallest
STACKS = ("native", "net6")
UDP, TCP, BIND = ("UDP round trip; sockets of one port on other addresses",
                  "TCP connect, exchange, close; listeners likewise",
                  "bind and listen of one of them")


def crowd(lab, mode, stack, port, size):
    """So many sockets of a port on other addresses; to be stopped."""
    if not size:
        return []
    server = lab.background(lab.netbench_program, "-f", FAMILY[stack], "-a", "::1",
                            "-p", port, "-n", size, mode)
    lab.wait_for(f"{size} sockets on {stack}",
                 lambda: lab.listening(port + 1, mode == "crowd-udp"))
    return [server]


def run(lab):
    lab.network()
    count = 100 if lab.quick else 500
    lab.plan(len(SIZES) * len(STACKS) * 2)
    port = 7100
    for size in SIZES:
        for stack in STACKS:
            port += 2
            lab.step(f"UDP, {size} sockets, {stack}")
            with lab.attempt(f"UDP, {size} sockets, {stack}"):
                others = crowd(lab, "crowd-udp", stack, port, size)
                server = lab.serve("serve-udp", stack, port)
                lab.row("cost", {"row": UDP, "size": size}, stack, "instructions",
                        lab.instructions("udp-rr", stack, port, 2 * count, 1))
                lab.stop(server, *others)
            port += 2
            lab.step(f"TCP, {size} listeners, {stack}")
            with lab.attempt(f"TCP, {size} listeners, {stack}"):
                others = crowd(lab, "crowd-tcp", stack, port, size)
                server = lab.serve("serve-tcp", stack, port)
                lab.row("cost", {"row": TCP, "size": size}, stack, "instructions",
                        lab.instructions("crr", stack, port, count, 1))
                lab.row("cost", {"row": BIND, "size": size}, stack, "instructions",
                        lab.instructions("bind", stack, port, count, 1, ns="server"))
                lab.stop(server, *others)


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
            cells = [f"{by[stack]:.0f}" if stack in by else "" for stack in reversed(STACKS)]
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
