# SPDX-License-Identifier: GPL-2.0
"""Draves, Mankin and Zill 1998, table 1: TCP throughput by link and socket buffer."""
from lab import STACKS

TITLE = "TCP throughput"
PAPER = ("R. P. Draves, A. Mankin, B. D. Zill, Implementing IPv6 for Windows NT, "
         "2nd USENIX Windows NT Symposium, 1998, table 1")
NEEDS = []

RATES = {"10 Mb/s": "10mbit", "100 Mb/s": "100mbit", "unlimited": None}
BUFFERS = [128, 64, 8]
WRITE = 8192
# Kilobytes of a run: a second of the slow link, enough to leave slow start behind.
AMOUNT = {"10 Mb/s": 1024, "100 Mb/s": 6144, "unlimited": 12288}


def run(lab):
    runs = 2 if lab.quick else 6
    lab.network()
    for buffer in BUFFERS:
        for stack in STACKS:
            lab.serve("serve-sink", stack, 7000 + buffer, "-b", buffer * 1024)
    lab.plan(len(RATES) * len(BUFFERS))
    for link, rate in RATES.items():
        lab.shape(rate)
        for buffer in BUFFERS:
            lab.step(f"{link}, buffers of {buffer} KB")
            found = {stack: ([], []) for stack in STACKS}
            count = AMOUNT[link] * 1024 // WRITE // (2 if lab.quick else 1)
            for _ in range(runs):
                for stack, (speed, busy) in found.items():
                    with lab.attempt(f"{link}, {buffer} KB over {stack}"):
                        for ns, idle, _ in lab.netbench("stream", stack, 7000 + buffer, count,
                                                        WRITE, "-N", "-c", "-b", buffer * 1024):
                            speed.append(WRITE * 8 * 1000 / ns)
                            busy.append(100 * (1 - idle / ns))
            case = {"link": link, "buffer": f"{buffer} KB"}
            for stack, (speed, busy) in found.items():
                if speed:
                    lab.row("throughput", case, stack, "Mb/s", speed)
                    lab.row("cpu", case, stack, "%", busy)


NOT_FOUND = {"text": "its figures were not found."}
# A full frame carries 1,460 bytes of TCP over IPv4 and 1,440 over IPv6.
HEADERS = 100 * 20 / 1460
FIGURES = [
    {"figure": "throughput", "title": "TCP throughput by socket buffer", "kind": "bars",
     "split": ["link"], "wide": 3, "open": True, "more_is_better": True,
     "paper": {"text": "table 1's figures were not found. To be expected from headers alone: "
                       "20 of 1,460 bytes, 1.4 % less over IPv6."}},
    {"figure": "cpu", "title": "Share of the CPU, both ends", "kind": "bars", "split": ["link"],
     "wide": 3, "paper": NOT_FOUND},
    {"figure": "loss", "title": "Loss of throughput against IPv4", "kind": "bars",
     "split": ["link"], "wide": 3, "open": True, "expected": (HEADERS, "the headers' share"),
     "paper": {"text": "not found; the headers' share is 1.4 %."}},
]


def finish(_log, _entries, rows):
    """Loss against IPv4 in per cent, beside throughput."""
    mean = {(str(r["case"]), r["stack"]): sum(r["values"]) / len(r["values"]) for r in rows
            if r["figure"] == "throughput"}
    return [{"figure": "loss", "case": r["case"], "stack": r["stack"], "unit": "% of IPv4",
             "values": [round(100 * (1 - v / mean[str(r["case"]), "ipv4"]), 3)
                        for v in r["values"]]}
            for r in rows if r["figure"] == "throughput" and r["stack"] != "ipv4"
            and (str(r["case"]), "ipv4") in mean]
