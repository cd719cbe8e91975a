# SPDX-License-Identifier: GPL-2.0
"""A sweep over a million destinations by way of a router with 1,000 addresses on the outgoing
interface: what a forwarded packet costs from the first to the last, and the memory that the sweep
leaves. No paper's; run by name only.

The network is that of forwarding.py. No destination comes twice. The first packets find an empty
table. It is said that something is lacking if the last tenth costs over a tenth more or less than
the first, or if the router keeps more destinations or memory than its limits allow.
"""
import forwarding
import memory
from results import mean

TITLE = "A sweep over a million destinations"
PAPER = "none: whether a stranger can make forwarding dearer, or fill the memory"
NEEDS = []

SWEEP, QUICK_SWEEP = 1000000, 100000
ADDRESSES = 1000
MAX_DESTS, MAX_NEIGHS = "4096", "1024"	# net6's own limits, Documentation/sysctl.rst
TENTHS = 10
AT_ONCE = 10000		# frames that are made before they are sent
MOST = 1.1		# of the last tenth and the first
ROOM = 4 << 20		# octets; 4,096 destinations of 285 octets take 1.2 MB


def numbered(n, _entries):
    """A destination that no other number has: the route and the host."""
    return n % forwarding.FEW, n + 2


def batch(mac, begin):
    return forwarding.frames(AT_ONCE, mac, lambda route, host: forwarding.routed(route, begin + host),
                             numbered, forwarding.FEW)


def tenths(lab, router, count):
    """Instructions of a packet in each tenth of the sweep, without its sender's."""
    idle = forwarding.send(router.wire, batch(forwarding.NOBODY, 0))
    before = router.forwarded()
    for tenth in range(TENTHS):
        lab.step(f"{type(router).__name__}, {tenth + 1} of {TENTHS}")
        begin = tenth * count // TENTHS
        yield mean([forwarding.send(router.wire, batch(router.wire.peer, at)) - idle
                    for at in range(begin, begin + count // TENTHS, AT_ONCE)])
    forwarded = router.forwarded() - before
    if forwarded != count:
        lab.lack(f"{type(router).__name__}: {forwarded} of {count} packets were forwarded")


def swept(lab, router, stack, count):
    """Its rows; what is not flat is said."""
    router.add_addresses(2, ADDRESSES)
    before = sum(memory.now().values())
    costs = list(tenths(lab, router, count))
    kept = sum(memory.now().values()) - before
    for tenth, cost in enumerate(costs):
        lab.row("packet", {"packets": f"{(tenth + 1) * count // TENTHS:,}"}, stack, "instructions",
                cost)
    lab.row("kept", {"of": "memory after the sweep"}, stack, "octets", kept)
    if kept > ROOM:
        lab.lack(f"{stack}: the sweep left {kept:,} octets")
    if max(costs[0], costs[-1]) > MOST * min(costs[0], costs[-1]):
        lab.lack(f"{stack}: the last tenth costs {costs[-1] / costs[0]:.2f} times the first")


def run(lab):
    count = QUICK_SWEEP if lab.quick else SWEEP
    lab.plan(2 * TENTHS)
    other = forwarding.Bench()
    other.add_routes(0, forwarding.FEW)
    other.nd.net6ctl(other.a, "set", "limits", "max-dests", MAX_DESTS, "max-neighs", MAX_NEIGHS)
    native = forwarding.Native(other)
    swept(lab, other, "net6", count)
    dests = other.nd.counter(other.a, "Ip6DestCreated")
    lab.row("created", {"of": "destinations that came into the table"}, "net6", "number", dests)
    swept(lab, native, "native", count)


NOT_FOUND = {"text": "no paper's experiment."}
FIGURES = [
    {"figure": "packet", "title": "A forwarded packet of the sweep", "kind": "bars", "open": True,
     "paper": NOT_FOUND},
]
TABLES = {name: {"title": title, "open": True, "paper": NOT_FOUND}
          for name, title in (("kept", "What the sweep leaves"), ("created", "Destinations"))}
