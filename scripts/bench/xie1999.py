# SPDX-License-Identifier: GPL-2.0
"""Xie 1999: what one send costs, by size, and where its instructions go."""
import bisect
import os
from statistics import median

from lab import STACKS
from results import SHARE, WAITS, fit, mean

TITLE = "Where a message's cost goes"
PAPER = ("P. P. Xie, Network Protocol Performance Evaluation of IPv6 for Windows NT, "
         "master's thesis, California Polytechnic State University, 1999")
NEEDS = ["ethtool", "count.so"]
COUNTED = True		# this guest runs under the counting plugin

SIZES = [1, 64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]
QUICK_SIZES = [1, 1024, 8192, 65536]
# Some messages find a page to put data in and some take a new one: enough for several rounds.
# A tenth at either end is left out, for timers' interrupts fall into some.
MESSAGES = 24
UDP_MAX = 65000		# 64 KB and its headers do not fit a datagram

# Slots of the counting plugin: the send call; from its return until the receiving softirq
# starts (the device's queue); from there until the receiver has the message.
CALL, QUEUE, RECEIVER = 1, 2, 3
# The send call hands packets to the device's queue here, and receiving starts here.
HOOKS = [("netem_enqueue", 0), ("net_rx_action", RECEIVER)]


def address_of(symbol):
    with open("/proc/kallsyms") as f:
        for line in f:
            words = line.split()
            if words[2] == symbol and words[1] in "tT":
                return words[0]
    return None


def run(lab):
    sizes = QUICK_SIZES if lab.quick else SIZES
    messages = 5 if lab.quick else MESSAGES
    lab.network()
    for symbol, slot in HOOKS:
        lab.run(lab.netbench_program, "hook", address_of(symbol), slot)
    # Packets wait in the queue until the call has returned: what the sender does and what
    # the receiver does are apart. Without checksum offload, as cards were.
    for ns, dev in (("client", "c1"), ("server", "s1")):
        lab.run("ethtool", "-K", dev, "tx", "off", ns=ns)
        lab.run("tc", "-n", ns, "qdisc", "add", "dev", dev, "root", "netem", "limit", "10000",
                "slot", "2ms", "2ms")
    cases = [(p, s) for p in ("tcp", "udp") for s in sizes]
    lab.plan(len(cases))
    label = 0
    for proto, size in cases:
        lab.step(f"{proto.upper()}, {size} B")
        for stack in STACKS:
            actual = min(size, UDP_MAX) if proto == "udp" else size
            with lab.attempt(f"{proto} {size} B over {stack}"):
                server = lab.serve(f"send-{proto}-sink", stack, 7000, "-b", 1 << 20, size=actual)
                # Warmed up: windows are open, neighbors known, programs in memory.
                label += 1
                lab.netbench(f"send-{proto}", stack, 7000, messages, actual, "-b", 1 << 20,
                             "-l", label)
                lab.write({"label": label, "proto": proto, "size": size, "stack": stack})
                lab.stop(server)
    with open("/proc/kallsyms") as f, open(f"{os.environ['NET6_OUT']}/kallsyms", "w") as out:
        out.writelines(line for line in f if line.split()[1] in "tTwW")


# ---- on the host: the plugin's counts to rows ----

# What a function does, by its name; the first that fits. The rest is protocol and calls.
PARTS = [
    ("checksum", ("csum", "checksum")),
    ("data movement", ("copy_user", "copy_from", "copy_to", "_copy", "memcpy", "memmove",
                       "rep_movs", "copy_page", "iov_iter", "copyin", "copyout",
                       "copy_datagram", "copy_bits", "csum_and_copy")),
    ("buffers", ("alloc", "kfree", "kmem_", "slab", "__free_", "free_unref", "skb_release",
                 "page_frag", "get_page", "put_page", "skb_free", "sock_wfree", "sock_rfree",
                 "sk_mem", "skb_segment", "skb_clone", "pskb_", "skb_put", "skb_push", "memset",
                 "rmqueue", "__rmqueue", "cache_", "consume_skb", "skb_head", "napi_skb",
                 "skb_split", "skb_shift", "__memcg", "obj_cgroup", "page_counter")),
]
SIDES = {CALL: "send call", QUEUE: "device queue", RECEIVER: "receiver"}
SHOWN = 10		# functions named for each side, for these sizes
SHARED = (1024, 65536)


def part_of(function):
    for part, words in PARTS:
        if any(word in function for word in words):
            return part
    return "the rest"


class Symbols:
    """Addresses to names, as /proc/kallsyms has them."""

    def __init__(self, path):
        self.table = []
        with open(path) as f:
            for line in f:
                words = line.split()
                self.table.append((int(words[0], 16), words[2]))
        self.table.sort()
        self.starts = [address for address, _ in self.table]

    def name(self, address):
        if not address:
            return "user space"
        at = bisect.bisect_right(self.starts, address) - 1
        return self.table[at][1] if at >= 0 else "unknown"


def dumps(path):
    """{label: [([(slot, hook, at)], [(slot, address, instructions)]) of each message]}; whole
    dumps only."""
    found, events, counts = {}, [], []
    with open(path) as f:
        for line in f:
            words = line.split()
            if words[0] == "dump":
                events, counts = [], []
            elif words[0] == "event":
                events.append(tuple(int(w) for w in words[1:4]))
            elif words[0] == "count":
                counts.append((int(words[1]), int(words[2], 16), int(words[3])))
            elif words[0] == "end":
                found.setdefault(int(words[1]), []).append((events, counts))
    return found


def latency(events):
    """(start, stop) of a message: instructions from the call to the first packet in the
    device's queue, and to the call's return."""
    call = [(hook, at) for slot, hook, at in events if slot == CALL]
    return (next((at for hook, at in call if hook == 1), None),
            next((at for hook, at in call if hook == 0), None))


def shares(messages, symbols):
    """{slot: {function: instructions}}. Medians: a timer's interrupt falls into some messages."""
    found = {}
    for n, (_, counts) in enumerate(messages):
        for slot, address, instructions in counts:
            name = symbols.name(address)
            one = found.setdefault(slot, {}).setdefault(name, [0] * len(messages))
            one[n] += instructions
    return {slot: {name: median(values) for name, values in functions.items() if median(values)}
            for slot, functions in found.items()}


def finish(log, entries, _rows):
    """Rows of what the plugin counted."""
    symbols, found, rows = Symbols(f"{log}/out/kallsyms"), dumps(f"{log}/counts"), []

    def row(figure, case, stack, unit, values):
        rows.append({"figure": figure, "case": case, "stack": stack, "unit": unit,
                     "values": values})

    for entry in entries:
        if entry.get("label") not in found:
            continue
        messages, stack = found[entry["label"]], entry["stack"]
        case = {"protocol": entry["proto"].upper(), "bytes": entry["size"]}
        for figure, which in (("start", 0), ("stop", 1)):
            times = sorted(t for t in (latency(events)[which] for events, _ in messages) if t)
            if times:
                cut = max(1, len(times) // 10) if len(times) > 3 else 0
                row(figure, case, stack, "instructions", times[cut:len(times) - cut])
        for slot, share in shares(messages, symbols).items():
            side, total = SIDES[slot], sum(share.values())
            parts = {part: 0 for part, _ in PARTS}
            parts["the rest"] = 0
            for name, instructions in share.items():
                parts[part_of(name)] += instructions
            for part, instructions in parts.items():
                row("split", dict(case, side=side, part=part), stack,
                    WAITS if slot == QUEUE else "instructions", [round(instructions, 1)])
            if entry["size"] not in SHARED:
                continue
            for name in sorted(share, key=share.get, reverse=True)[:SHOWN]:
                row("functions", dict(case, side=side, function=name), stack, SHARE,
                    [round(100 * share[name] / total, 2)])
    for proto in ("TCP", "UDP"):
        for figure in ("start", "stop"):
            for stack in STACKS:
                points = [(r["case"]["bytes"], mean(r["values"])) for r in rows
                          if r["figure"] == figure and r["stack"] == stack
                          and r["case"]["protocol"] == proto]
                if len(points) > 2:
                    base, slope = fit(points)
                    row("line", {"protocol": proto, "line": figure, "of": "at 0 B"}, stack,
                        "instructions", [round(base, 1)])
                    row("line", {"protocol": proto, "line": figure, "of": "per KB"}, stack,
                        "instructions", [round(slope * 1024, 2)])
    return rows


NOT_FOUND = {"text": "its figures were not found."}
FIGURES = [
    {"figure": "start", "title": "Start: from the call to the first packet in the device's queue",
     "kind": "lines", "x": "bytes", "split": ["protocol"], "paper": NOT_FOUND},
    {"figure": "stop", "title": "Stop: from the call to its return, all packets queued",
     "kind": "lines", "x": "bytes", "split": ["protocol"], "open": True, "paper": NOT_FOUND},
    {"figure": "split", "title": "What the instructions of 1 KB and of 64 KB are for",
     "kind": "stacked", "x": "bytes", "part": "part", "split": ["protocol", "side"], "wide": 3,
     "only": {"bytes": SHARED}, "paper": NOT_FOUND},
]
TABLES = {
    "line": {"title": "Fitted lines: instructions at 0 bytes and for each KB more", "open": True,
             "paper": NOT_FOUND},
    "functions": {"title": "Functions by their share",
                  "paper": {"text": "the sender's were measured and the receiver's planned; "
                                    "figures were not found."}},
}
