# SPDX-License-Identifier: GPL-2.0
"""Zeadally and Raicu 2003: throughput, round trip and CPU use by message size; sockets,
connections, and connections with a one-byte exchange."""
from lab import STACKS

TITLE = "Throughput, CPU use and connections"
PAPER = ("S. Zeadally, I. Raicu, Evaluating IPv6 on Windows and Solaris, "
         "IEEE Internet Computing 7(3), 2003")
NEEDS = []

SIZES = [64, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408]
QUICK_SIZES = [64, 512, 1408]
LINKS = {"unlimited": None, "100 Mb/s": "100mbit"}


def run(lab):
    sizes = QUICK_SIZES if lab.quick else SIZES
    rounds = 1 if lab.quick else 3
    lab.network()
    for stack in STACKS:
        lab.serve("serve-sink", stack, 7001, at_once=True)
        lab.serve("serve-usink", stack, 7002, "-b", 1 << 22, at_once=True)
        lab.serve("serve-tcp", stack, 7003, size=0)
        lab.serve("serve-udp", stack, 7003)
        lab.serve("serve-tcp", stack, 7004, size=1)
    lab.plan(rounds * (len(LINKS) * len(sizes) + len(sizes) + 1))
    for _ in range(rounds):
        for link, rate in LINKS.items():
            lab.shape(rate)
            for size in sizes:
                lab.step(f"throughput, {link}, {size} B")
                for stack in STACKS:
                    throughput(lab, link, size, stack)
        lab.shape(None)
        for size in sizes:
            lab.step(f"round trips, {size} B")
            for stack in STACKS:
                for proto in ("tcp", "udp"):
                    with lab.attempt(f"round trip {proto} {size} B over {stack}"):
                        round_trips(lab, proto, size, stack)
        lab.step("sockets and connections")
        for stack in STACKS:
            for what, mode, count in (("socket() and close()", "socket", 1000),
                                      ("connect() and close()", "connect", 300),
                                      ("connect, exchange 1 B, close", "crr", 300)):
                with lab.attempt(f"{what} over {stack}"):
                    lab.row("connections", {"operation": what}, stack, "instructions",
                            lab.instructions(mode, stack, 7004, count, 1))


def round_trips(lab, proto, size, stack):
    """Of three runs the middle one: a run may be one in which a tenth comes on top, as all
    runs have it after some hundred round trips more.
    """
    runs = 1 if lab.quick else 3
    values = sorted(lab.instructions(f"{proto}-rr", stack, 7003, 200, size,
                                     *(["-H"] if proto == "tcp" else []))[0]
                    for _ in range(runs))
    lab.row("roundtrip", {"protocol": proto.upper(), "bytes": size}, stack, "instructions",
            values[runs // 2])


def throughput(lab, link, size, stack):
    """Bulk of one message size: what arrives, and the share of the CPU that it takes."""
    for proto, mode, port in (("TCP", "stream", 7001), ("UDP", "udp-stream", 7002)):
        # A fifth of a second of the 100 Mb/s link, less for small messages.
        count = min(2500000 // size, 8000) if link != "unlimited" else 1500
        if lab.quick:
            count //= 2
        options = ["-c"] + (["-N"] if proto == "TCP" else ["-b", 1 << 18])
        case = {"protocol": proto, "link": link, "bytes": size}
        with lab.attempt(f"{case} over {stack}"):
            for ns, idle, _ in lab.netbench(mode, stack, port, count, size, *options):
                lab.row("throughput", case, stack, "Mb/s", size * 8000 / ns)
                if link != "unlimited":
                    lab.row("cpu", case, stack, "%", 100 * (1 - idle / ns))


WHERE = "IEEE Internet Computing 7(3), introduction"
NOT_FOUND = {"text": "its figures were not found."}
FIGURES = [
    {"figure": "throughput", "title": "Throughput by message size", "kind": "lines", "x": "bytes",
     "split": ["protocol", "link"], "overhead": True, "more_is_better": True,
     "paper": {"text": "figures by size were not found. It expects 1.32 % from the longer header "
                       "in frames of 1,514 bytes, and finds the real difference much larger than "
                       "predicted.", "where": WHERE}},
    {"figure": "cpu", "title": "Share of the CPU at 100 Mb/s, both ends", "kind": "lines",
     "x": "bytes", "split": ["protocol"], "paper": NOT_FOUND},
    {"figure": "roundtrip", "title": "Round trips by message size", "kind": "lines", "x": "bytes",
     "split": ["protocol"], "overhead": True, "paper": NOT_FOUND},
    {"figure": "connections", "title": "Sockets and connections", "kind": "bars", "open": True,
     "paper": NOT_FOUND},
]
TABLES = {"rate": {"title": "The same as operations per second of a 500 MIPS processor",
                   "more_is_better": True, "paper": NOT_FOUND}}


def finish(_log, _entries, rows):
    """Connections per second, as their table has them."""
    return [{"figure": "rate", "case": r["case"], "stack": r["stack"], "unit": "per second",
             "values": [round(5e8 / v, 1) for v in r["values"]]}
            for r in rows if r["figure"] == "connections"]
