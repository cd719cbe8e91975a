# SPDX-License-Identifier: GPL-2.0
"""Goodput over a path that loses packets: 50 ms there and back, 20 Mb/s, by congestion
control. No paper's; run by name only."""

TITLE = "Goodput under loss"
PAPER = "none: the two stacks are compared with each other"
NEEDS = []

STACKS = ("native", "net6")
CONTROLS = ("cubic", "bbr")
LOSSES = ("0.1%", "1%", "3%")
RATE, DELAY = "20mbit", "25ms"
WRITE = 8192
# Kilobytes of a run: half a minute and more of the slowest. One run differs from the next by
# tens of per cent, as the loss does: the mean of many is what can be compared.
AMOUNT = {"0.1%": 32768, "1%": 16384, "3%": 8192}


def lossy(lab, loss):
    """Loses what the client sends, segment by segment; the way back is only long."""
    for ns, dev, words in (("client", "c1", ("loss", loss)), ("server", "s1", ())):
        lab.run("ip", "-n", ns, "link", "set", dev, "gso_max_segs", "1")
        lab.run("tc", "-n", ns, "qdisc", "replace", "dev", dev, "root", "netem", "limit", "1000",
                "delay", DELAY, "rate", RATE, *words)


def run(lab):
    runs = 3 if lab.quick else 20
    lab.network()
    for control in CONTROLS:
        lab.run("modprobe", "-q", f"tcp_{control}", check=False)
    for stack in STACKS:
        lab.serve("serve-sink", stack, 7000)
    lab.plan(len(CONTROLS) * len(LOSSES))
    for control in CONTROLS:
        lab.run("sysctl", "-qw", f"net.ipv4.tcp_congestion_control={control}", ns="client")
        for loss in LOSSES:
            lab.step(f"{control}, {loss} lost")
            lossy(lab, loss)
            found = {stack: [] for stack in STACKS}
            for _ in range(runs):
                for stack, speed in found.items():
                    with lab.attempt(f"{control}, {loss} over {stack}"):
                        for ns, _, _ in lab.netbench("stream", stack, 7000,
                                                     AMOUNT[loss] * 1024 // WRITE, WRITE):
                            speed.append(WRITE * 8 * 1000 / ns)
            for stack, speed in found.items():
                if speed:
                    lab.row("goodput", {"control": control, "loss": loss}, stack, "Mb/s", speed)


FIGURES = [
    {"figure": "goodput", "title": "Goodput by loss", "kind": "bars", "split": ["control"],
     "open": True, "more_is_better": True, "paper": {"text": "no paper's experiment."}}]
