# SPDX-License-Identifier: GPL-2.0
"""The operations of cost.py with two CPUs and by the clock: the client has one, the server the
other. Nothing is counted, and on a shared, emulated machine a figure is worth little; what can be
seen is the order of the three stacks. They take turns at each operation, another one first in
each round. No paper's; run by name only, and best with nothing beside it."""
import os

from cost import BULK, OPERATIONS, PORT, bulk, rate_of
from lab import ADDRESS, STACKS

TITLE = "The same operations with two CPUs, by the clock"
PAPER = "none: whether the order of the stacks is that of the counts"
NEEDS = ["iperf3"]
CPUS = 2		# and no virtual time

ROUNDS = 15
CLIENT, SERVER = {0}, {1}


def start(lab):
    """Servers, which keep to their CPU; what is started afterwards has the other."""
    os.sched_setaffinity(0, SERVER)
    ports = {}
    for stack in STACKS:
        lab.background(*lab.wrap(stack), "iperf3", "-s", "-B", ADDRESS["direct"][stack], "-p",
                       PORT[stack])
        lab.wait_for(f"iperf3 on {stack}", lambda stack=stack: lab.listening(PORT[stack]))
        for n, (what, (_, _, size)) in enumerate(OPERATIONS.items()):
            ports[what, stack] = 7000 + n
            lab.serve("serve-tcp", stack, 7000 + n, size=size)
    os.sched_setaffinity(0, CLIENT)
    return ports


def nanoseconds(lab, what, stack, ports):
    if what == BULK:
        return 2 * rate_of(bulk(lab, stack, 1), stack)
    mode, count, size = OPERATIONS[what]
    return lab.netbench(mode, stack, ports[what, stack], count, size)[0][0]


def run(lab):
    rounds = 3 if lab.quick else ROUNDS
    lab.network()
    ports = start(lab)
    operations, order, found = (BULK, *OPERATIONS), list(STACKS), {}
    lab.plan(rounds)
    for n in range(rounds):
        lab.step(f"round {n + 1} of {rounds}")
        for what in operations:
            for stack in order:
                found.setdefault((what, stack), []).append(nanoseconds(lab, what, stack, ports))
        order.append(order.pop(0))
    for what in operations:
        for stack in STACKS:
            lab.row("time", {"operation": what}, stack, "ns", found[what, stack])
    # What else the host does changes more slowly than a round.
    for what in operations:
        for stack in STACKS[:-1]:
            pairs = list(zip(found[what, stack], found[what, "net6"]))
            lab.row("rounds", {"operation": what}, f"{stack}/net6", "ratio",
                    [other / own for other, own in pairs])
            lab.row("less", {"operation": what}, f"than {stack}", f"of {rounds} rounds",
                    sum(own < other for other, own in pairs))


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [
    {"figure": "rounds", "title": "Round by round", "kind": "bars", "open": True,
     "expected": (1, "as net6"), "paper": NOT_FOUND},
]
TABLES = {
    "less": {"title": "Rounds in which net6 took less", "open": True, "paper": NOT_FOUND},
    "time": {"title": "Time by the clock", "paper": NOT_FOUND},
}
