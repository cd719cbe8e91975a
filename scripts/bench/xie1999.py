# SPDX-License-Identifier: GPL-2.0
"""Xie 1999: what one send costs, by size, and where its instructions go."""
import bisect
import os
from itertools import groupby

from lab import STACKS
from results import SHARE, WAITS, fit, mean

TITLE = "Where a message's cost goes"
PAPER = ("P. P. Xie, Network Protocol Performance Evaluation of IPv6 for Windows NT, "
         "master's thesis, California Polytechnic State University, 1999")
NEEDS = ["ethtool", "count.so"]
COUNTED = True		# this guest runs under the counting plugin

SIZES = [1, 64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]
QUICK_SIZES = [1, 1024, 8192, 65536]
# What buffers cost a message depends on what the allocator's lists hold. After a boot they are in
# good order: buffers of 8 KB cost 8 % less than when some ten thousand packets have been moved.
# netbench moves them first. Then it is by chance, and most so for messages of a few packets, where
# connections are 5 % apart. So many boots of so many connections of so many messages, and netbench
# shakes the lists before each of them. The mean of them, without a twentieth at either end: now and
# then one meets an empty list. (One of four messages of 8 KB begins a new block of pages, which is
# no exception.)
BOOTS = 6
SHAKES = 30000
CONNECTIONS = 10
FEW_PACKETS = (4096, 8192)	# twice as many
MESSAGES = 8
EXCEPTIONS = 0.05
UDP_MAX = 65000		# 64 KB and its headers do not fit a datagram; shown as what it is

# Slots of the counting plugin: the send call; from its return until the receiving softirq
# starts (the device's queue); from there until the receiver has the message.
CALL, QUEUE, RECEIVER = 1, 2, 3
# The send call hands packets to the device's queue here, and receiving starts here. Interrupts
# are none of the sender's nor of the receiver's doing (mark.h).
ASIDE, BACK = 0x100 | 1 << CALL | 1 << RECEIVER, 0x200
HOOKS = [("netem_enqueue", 0), ("net_rx_action", RECEIVER), ("sysvec_apic_timer_interrupt", ASIDE),
         ("common_interrupt", ASIDE), ("irqentry_exit", BACK)]


def address_of(symbol):
    with open("/proc/kallsyms") as f:
        for line in f:
            words = line.split()
            if words[2] == symbol and words[1] in "tT":
                return words[0]
    return None


def run(lab):
    sizes = QUICK_SIZES if lab.quick else SIZES
    connections, messages = (2, 4) if lab.quick else (CONNECTIONS, MESSAGES)
    lab.network()
    for symbol, slot in HOOKS:
        lab.run(lab.netbench_program, "hook", address_of(symbol), slot)
    # Netbench shakes the allocator with packets like those that are measured.
    lab.run("ip", "-n", "client", "link", "set", "lo", "mtu", "1500")
    lab.run("ethtool", "-K", "lo", "tx", "off", "gso", "off", ns="client")
    lab.run(lab.netbench_program, "-n", SHAKES, "shake", ns="client")
    # Packets wait in the queue until the call has returned: what the sender does and what
    # the receiver does are apart. For no longer than it takes: the longer a round trip, the less
    # of a message TCP sends at once. A message is not to be cut by its pace. Without
    # checksum offload, as cards were.
    for ns, dev in (("client", "c1"), ("server", "s1")):
        lab.run("ethtool", "-K", dev, "tx", "off", ns=ns)
        lab.run("tc", "-n", ns, "qdisc", "add", "dev", dev, "root", "netem", "limit", "10000",
                "slot", "1ms", "1ms")
    cases = [(p, s) for p in ("tcp", "udp") for s in sizes]
    lab.plan(len(cases))
    label = 0
    for proto, size in cases:
        lab.step(f"{proto.upper()}, {size} B")
        for stack in STACKS:
            actual = min(size, UDP_MAX) if proto == "udp" else size
            with lab.attempt(f"{proto} {size} B over {stack}"):
                server = lab.serve(f"send-{proto}-sink", stack, 7000, "-b", 1 << 20, size=actual,
                                   at_once=True)
                label += 1
                try:
                    # Warmed up: windows are open, neighbors known, programs in memory.
                    lab.netbench(f"send-{proto}", stack, 7000, messages, actual, "-b", 1 << 20,
                                 "-r", connections * (1 + (size in FEW_PACKETS)), "-l", label)
                finally:
                    lab.stop(server)
                lab.write({"label": label, "proto": proto, "size": actual, "stack": stack})
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
                 "rmqueue", "__rmqueue", "clear_page", "cache_", "consume_skb", "skb_head",
                 "napi_skb", "skb_split", "skb_shift", "__memcg", "obj_cgroup", "page_counter")),
]
# Netem draws the length of its slots, and every 24th number costs as much as a short message.
DRAWN = ("chacha", "crng_", "get_random")
FEW = 10		# a part with fewer instructions is none
SIDES = {CALL: "send call", QUEUE: "device queue", RECEIVER: "receiver"}
SHOWN = 10		# functions named for each side, for these sizes
SHARED = (1024, UDP_MAX, 65536)


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


# What a line of the plugin has.
WORDS = {"": 2, "count": 4, "event": 4, "dump": 2, "end": 2}


def each_dump(path):
    """(label, [(slot, hook, at)], [(slot, address, instructions)]) of each message; whole dumps
    only. A line that is torn is the last one, and its dump has no end."""
    events, counts = [], []
    with open(path) as f:
        for line in f:
            words = line.split()
            if len(words) < WORDS.get(words[0] if words else "", 1):
                return
            if words[0] == "count":
                counts.append((int(words[1]), int(words[2], 16), int(words[3])))
            elif words[0] == "event":
                events.append(tuple(int(w) for w in words[1:4]))
            elif words[0] == "dump":
                events, counts = [], []
            elif words[0] == "end":
                yield int(words[1]), events, counts


def dumps(path):
    """{label: [(events, counts) of each message]}, as each_dump() has them."""
    found = {}
    for label, events, counts in each_dump(path):
        found.setdefault(label, []).append((events, counts))
    return found


class Message:
    """What one message cost: @start and @stop, instructions from the call to the first packet in
    the device's queue and to the call's return, None if they were not seen; @functions, {slot:
    {function: instructions}}."""

    def __init__(self, events, counts, symbols):
        self.functions, drawn = {}, 0
        for slot, address, instructions in counts:
            name = symbols.name(address)
            if any(word in name for word in DRAWN):
                drawn += instructions if slot == CALL else 0
            elif slot in SIDES:
                functions = self.functions.setdefault(slot, {})
                functions[name] = functions.get(name, 0) + instructions
        call = [(hook, at) for slot, hook, at in events if slot == CALL]
        self.start = next((at for hook, at in call if hook == 1), None)
        self.stop = next((at - drawn for hook, at in call if hook == 0), None)


def trimmed(values, key=None):
    """Sorted, without exceptions."""
    cut = int(len(values) * EXCEPTIONS)
    return sorted(values, key=key)[cut:len(values) - cut]


def shares(messages):
    """{slot: {function: instructions}}, means of the messages that are no exceptions."""
    found = {}
    for slot in SIDES:
        kept = trimmed([m.functions[slot] for m in messages if slot in m.functions],
                       key=lambda functions: sum(functions.values()))
        means = found.setdefault(slot, {})
        for functions in kept:
            for name, instructions in functions.items():
                means[name] = means.get(name, 0) + instructions / len(kept)
    return {slot: means for slot, means in found.items() if means}


def finish(log, entries, _rows):
    """Rows of what the plugin counted."""
    symbols, rows = Symbols(f"{log}/out/kallsyms"), []
    cells = {entry["label"]: entry for entry in entries if "label" in entry}
    missing = set(cells)

    def row(figure, case, stack, unit, values):
        rows.append({"figure": figure, "case": case, "stack": stack, "unit": unit,
                     "values": values})

    # A label at a time: all of them together are some gigabytes.
    for label, found in groupby(each_dump(f"{log}/counts"), key=lambda dump: dump[0]):
        if label not in cells:
            continue
        messages = [Message(events, counts, symbols) for _, events, counts in found]
        entry = cells[label]
        stack = entry["stack"]
        case = {"protocol": entry["proto"].upper(), "bytes": entry["size"]}
        missing.discard(label)
        for figure in ("start", "stop"):
            times = trimmed([t for t in (getattr(m, figure) for m in messages) if t])
            if times:
                row(figure, case, stack, "instructions", [round(mean(times), 1)])
        for slot, share in shares(messages).items():
            side, total = SIDES[slot], sum(share.values())
            parts = {part: 0 for part, _ in PARTS}
            parts["the rest"] = 0
            for name, instructions in share.items():
                parts[part_of(name)] += instructions
            for part, instructions in parts.items():
                row("split", dict(case, side=side, part=part), stack,
                    WAITS if slot == QUEUE else "instructions",
                    [round(instructions, 1) if instructions >= FEW else 0])
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
    # Functions of one side together, whichever stack has them.
    sides = list(SIDES.values())
    rows.sort(key=lambda r: (r["case"]["protocol"], r["case"]["bytes"],
                             sides.index(r["case"]["side"])) if r["figure"] == "functions"
              else ("", 0, 0))
    return rows + [{"lack": "no counts of {proto} {size} B over {stack}".format(**cells[label])}
                   for label in sorted(missing)]


NOT_FOUND = {"text": "its figures were not found."}
FIGURES = [
    {"figure": "start", "title": "Start: from the call to the first packet in the device's queue",
     "kind": "lines", "x": "bytes", "split": ["protocol"], "fit": True, "paper": NOT_FOUND},
    {"figure": "stop", "title": "Stop: from the call to its return, all packets queued",
     "kind": "lines", "x": "bytes", "split": ["protocol"], "fit": True, "open": True,
     "paper": NOT_FOUND},
    {"figure": "split", "title": "What the instructions of 1 KB and of the largest message are for",
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
