# SPDX-License-Identifier: GPL-2.0
"""What operations of TCP and UDP cost, and for bulk by iperf3 and socket() with close() in which
functions the instructions are and what is left without the stack's own. No paper's; run by name
only."""
import itertools
import json
import os

from lab import ADDRESS, FAMILY, STACKS
from results import mean
from sides import (CLASSIFIERS, CLIENT, PARTS, REST, SERVER, STACK, TASK, code_of, kernel_ranges,
                   part_of, tag_packets)
from xie1999 import Symbols, dumps

TITLE = "What operations cost; bulk and sockets by function"
PAPER = "none: where the instructions are"
NEEDS = ["iperf3", "count.so"]
COUNTED = True		# this guest runs under the counting plugin

PORT = {"ipv4": 5204, "native": 5206, "net6": 5219}
SECONDS = 1		# of a whole run, of 500 million instructions
WINDOW = 400		# milliseconds that are split by function
# So much has gone through when a window begins: windows are open, buffers have grown.
WARM = 64 << 20
SOCKETS = 20000		# enough for all that is freed by RCU to be counted
BULK, SOCKET = "iperf3 TCP, per KB", "socket() + close()"
UDP_SOCKET = "UDP socket() + close()"
GSO, GSO_APART = "UDP 44 * 1452 B by GSO, GRO", "UDP 44 * 1452 B by GSO"
BATCH = 44 * 1452	# what one call sends, in datagrams that fit the link
# netbench's mode, how often, the bytes of a message, and options; a server's mode and options.
OPERATIONS = {
    "TCP round trip, 1 B": ("tcp-rr", 1000, 1),
    "TCP round trip, 1 KB": ("tcp-rr", 1000, 1024),
    "TCP connect, exchange 1 B, close": ("crr", 500, 1),
    SOCKET: ("socket", 2000, 1),
    UDP_SOCKET: ("socket-udp", 2000, 1),
    "TCP connect, close": ("connect", 500, 1),
    "TCP round trip, 64 KB": ("tcp-rr", 300, 65536),
    "UDP round trip, 1 B": ("udp-rr", 1000, 1),
    "UDP connect, exchange 1 B, close": ("udp-crr", 500, 1),
    GSO: ("udp-rest", 300, BATCH, "-g", 1452),
    GSO_APART: ("udp-rest", 300, BATCH, "-g", 1452),
}
SERVERS = {"udp-rr": ["serve-udp"], "udp-crr": ["serve-udp"], GSO: ["serve-udp-rest", "-G"],
           GSO_APART: ["serve-udp-rest"]}
# A datagram and its answer, with each of so many addresses that nothing was sent to before: those
# of the link, which are neighbors; behind a known router; and the latter again.
STRANGERS = 100
COLD_NEIGHBOR, COLD_DESTINATION, KNOWN = (f"UDP round trip, 1 B, {what}" for what in (
    "new neighbor", "new destination", "the same again"))
PREFIXES = {"native": ("fd00:1:", "fd00:e:"), "net6": ("fd00:2:", "fd00:f:")}
# Functions with fewer instructions on all stacks are one line.
SMALL = {BULK: 2, SOCKET: 40, UDP_SOCKET: 40, GSO: 200, GSO_APART: 200}
# Counted by function, both ends together, so often.
WHOLE = {SOCKET: SOCKETS, UDP_SOCKET: SOCKETS, GSO: 300, GSO_APART: 300}


def run(lab):
    for module in ("sch_ingress", "cls_matchall", "cls_u32"):
        lab.run("modprobe", "-q", module, check=False)
    lab.network()
    servers = {stack: lab.background(*lab.wrap(stack), "iperf3", "-s", "-B",
                                     ADDRESS["direct"][stack], "-p", PORT[stack])
               for stack in STACKS}
    for stack in STACKS:
        lab.wait_for(f"iperf3 on {stack}", lambda stack=stack: lab.listening(PORT[stack]))
    ports = {}
    for n, (what, (mode, _, size, *_)) in enumerate(OPERATIONS.items()):
        server, *options = SERVERS.get(what) or SERVERS.get(mode, ["serve-tcp"])
        for m, stack in enumerate(STACKS):
            ports[what, stack] = 7000 + len(STACKS) * n + m
            lab.serve(server, stack, ports[what, stack], *options, size=size)
    rounds = 1 if lab.quick else 2
    lab.plan(rounds * (len(OPERATIONS) + 1) + (len(WHOLE) + 1) * len(STACKS) + len(PREFIXES))
    for _ in range(rounds):
        lab.step(f"{BULK}, whole")
        for stack in STACKS:
            with lab.attempt(f"{BULK} over {stack}"):
                client = bulk(lab, stack, SECONDS)
                lab.row("whole", {"operation": BULK}, stack, "instructions",
                        rate_of(client, stack))
        for what, (mode, count, size, *options) in OPERATIONS.items():
            lab.step(f"{what}, whole")
            for stack in STACKS:
                measure = lab.usual_instructions if mode.startswith("udp") else lab.instructions
                with lab.attempt(f"{what} over {stack}"):
                    lab.row("whole", {"operation": what}, stack, "instructions",
                            measure(mode, stack, ports[what, stack], count, size, *options))
    for stack in PREFIXES:
        lab.step(f"new neighbors and destinations, {stack}")
        with lab.attempt(f"new neighbors and destinations over {stack}"):
            strangers(lab, stack)
    labels = itertools.count(1)
    for operation, count in WHOLE.items():
        mode, _, size, *options = OPERATIONS[operation]
        for stack, label in zip(STACKS, labels):
            lab.step(f"{operation}, by function, {stack}")
            with lab.attempt(f"{operation} over {stack}, counted"):
                lab.netbench(mode, stack, ports[operation, stack], count, size, "-l", label,
                             *options)
                lab.write({"label": label, "operation": operation, "stack": stack})
    # After all else: the classifiers that tell the sides apart cost, too.
    tag_packets(lab)
    for stack, label in zip(STACKS, labels):
        lab.step(f"{BULK}, by function, {stack}")
        with lab.attempt(f"{BULK} over {stack}, counted"):
            count_bulk(lab, label, stack, servers[stack])
            lab.write({"label": label, "operation": BULK, "stack": stack})
    with open("/proc/kallsyms") as f, open(f"{os.environ['NET6_OUT']}/kallsyms", "w") as out:
        out.writelines(line for line in f if line.split()[1] in "tTwW")


def strangers(lab, stack):
    """The server has all those addresses, and one socket."""
    near, far = (f"{prefix}:1:" for prefix in PREFIXES[stack])
    addresses = [f"{prefix}{n:x}" for prefix in (near, far) for n in range(STRANGERS)]
    route = f"{PREFIXES[stack][1]}:/64"
    router, port = ADDRESS["direct"][stack], 7900 + len(stack)
    if stack == "native":
        lab.run("ip", "-n", "client", "-6", "route", "add", route, "via", router)
        for address in addresses:
            lab.run("ip", "-n", "server", "addr", "add", address + "/128", "dev", "s1", "nodad")
    else:
        tool = lab.tool["net6ctl"]
        lab.run(tool, "add", "route", route, "via", router, "dev", "c1", ns="client")
        for address in addresses:
            lab.run(tool, "add", "address", address + "/128", "dev", "s1", ns="server")
        # The device has others, too: so many that are preferred may leave the last ones out.
        lab.wait_for("the addresses", lambda: "tentative" not in lab.run(
            tool, "show", "addresses", "dev", "s1", ns="server"))
    lab.background(lab.netbench_program, "-f", FAMILY[stack], "-p", port, "serve-udp")
    lab.wait_for(f"a server on {stack} port {port}", lambda: lab.listening(port, True))
    for what, first in ((COLD_NEIGHBOR, near), (COLD_DESTINATION, far), (KNOWN, far)):
        lab.row("whole", {"operation": what}, stack, "instructions",
                lab.instructions("udp-each", stack, port, STRANGERS, 1, "-a", first + "0"))


def bulk(lab, stack, seconds, *options, address=None):
    """iperf3 that sends, or receives with "-R", under way."""
    report = f"/tmp/iperf3-{stack}.json"
    if os.path.exists(report):
        os.unlink(report)
    return lab.background(*lab.wrap(stack), "iperf3", "-c", address or ADDRESS["direct"][stack],
                          "-p", PORT[stack], "-J", "--logfile", report, "-t", seconds, "-O", 0.3,
                          *options, ns="client")


def count_bulk(lab, label, stack, server):
    client = bulk(lab, stack, 600)
    try:
        lab.wait_for("bulk", lambda: sent(client.pid) > WARM)
        ranges = kernel_ranges()
        for pid, side in ((client.pid, CLIENT), (server.pid, SERVER)):
            ranges += [f"{code}:{TASK | side}" for code in code_of(pid)]
        lab.run(lab.netbench_program, "-l", label, "-n", WINDOW, "sides", *ranges)
        if client.poll() is not None:
            raise ValueError("iperf3 has ended before its window")
    finally:
        lab.stop(client)


def rate_of(client, stack):
    """Instructions for each KB that the server has received, when iperf3 is done."""
    client.wait()
    with open(f"/tmp/iperf3-{stack}.json") as f:
        report = json.load(f)
    if "error" in report:
        raise ValueError(f"iperf3 says: {report['error']}")
    return 1024 * 8e9 / report["end"]["sum_received"]["bits_per_second"] / 2


def sent(pid):
    """Bytes that a process has written to whatever."""
    with open(f"/proc/{pid}/io") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("wchar"))


# ---- on the host: the plugin's counts to rows ----

SIDES = {CLIENT: "sender", SERVER: "receiver"}


def shares(entry, counts, symbols, whole):
    """{(side, function): instructions per operation}. What the sides of bulk did is taken to be
    what a kilobyte costs without classifiers."""
    found = {}
    for slot, address, n in counts:
        name = symbols.name(address)
        side = SIDES.get(slot) if entry["operation"] == BULK else "both"
        if side and not name.startswith(CLASSIFIERS):
            found[side, name] = found.get((side, name), 0) + n
    scale = 1 / WHOLE[entry["operation"]] if entry["operation"] != BULK else (
        whole / sum(found.values()))
    return {key: scale * n for key, n in found.items()}


def finish(log, entries, rows):
    """Rows of what the plugin counted."""
    symbols, found, made = Symbols(f"{log}/out/kallsyms"), dumps(f"{log}/counts"), []
    whole = {(row["case"]["operation"], row["stack"]): mean(row["values"]) for row in rows
             if row["figure"] == "whole"}

    def row(figure, case, stack, value):
        made.append({"figure": figure, "case": case, "stack": stack, "unit": "instructions",
                     "values": [round(value, 1)]})

    missing = [{"lack": "no counts of {operation} over {stack}".format(**entry)}
               for entry in entries if entry["label"] not in found]
    for operation in (BULK, *WHOLE):
        by_stack = {entry["stack"]: shares(entry, found[entry["label"]][0][1], symbols,
                                           whole[operation, entry["stack"]])
                    for entry in entries if entry["operation"] == operation
                    and entry["label"] in found and (operation, entry["stack"]) in whole}
        keys = {key for share in by_stack.values() for key in share}
        large = {key for key in keys
                 if any(share.get(key, 0) >= SMALL[operation] for share in by_stack.values())}
        for stack, share in by_stack.items():
            for side in sorted({side for side, _ in share}):
                case, parts = {"operation": operation, "side": side}, {}
                for (_, name), n in (i for i in share.items() if i[0][0] == side):
                    one = parts.setdefault(part_of(name), {})
                    one[name if (side, name) in large else "all others"] = (
                        one.get(name if (side, name) in large else "all others", 0) + n)
                for part in [*(part for part, _ in PARTS), REST]:
                    row("parts", dict(case, part=part), stack,
                        sum(parts.get(part, {}).values()))
                    for name, n in sorted(parts.get(part, {}).items(), key=lambda i: -i[1]):
                        row("functions", dict(case, part=part, function=name), stack, n)
            # If all that is not the stack's stayed and the stack's own cost nothing.
            row("least", {"operation": operation}, stack,
                sum(n for (_, name), n in share.items() if part_of(name) != STACK))
    return made + missing


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [
    {"figure": "whole", "title": "The whole operation, both ends", "kind": "bars", "open": True,
     "paper": NOT_FOUND},
]
TABLES = {
    "least": {"title": "What is left without the stack's own code", "open": True,
              "paper": NOT_FOUND},
    "parts": {"title": "What the instructions are for", "open": True, "paper": NOT_FOUND},
    "functions": {"title": "Functions", "paper": NOT_FOUND},
}
