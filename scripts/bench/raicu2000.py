# SPDX-License-Identifier: GPL-2.0
"""Raicu 2000: round trips by message size, direct, through a native router and through
one that forwards with net6; traffic classes."""
from lab import ADDRESS, FAMILY, STACKS

TITLE = "Round trips by message size"
PAPER = ("I. Raicu, An Empirical Analysis of Internet Protocol version 6 (IPv6), "
         "Wayne State University, 2000 (arXiv, 2007)")
NEEDS = []

SIZES = [64 << n for n in range(11)]
QUICK_SIZES = [64, 1024, 8192, 65536]
BUFFERS = [8, 60]
PORTS = {"direct": 7000, "routed": 8000, "forwarded": 10000}
MARKED = 0xb8		# Expedited Forwarding
QUEUE = 200000		# bytes before the full link; full once three quarters were in it


def run(lab):
    sizes = QUICK_SIZES if lab.quick else SIZES
    runs = 3 if lab.quick else 10
    lab.network()
    lab.router()
    lab.router_net6()
    ways = tuple(PORTS)
    for way in ways:
        for buffer in BUFFERS:
            for stack in ADDRESS[way]:
                options = ("-b", buffer * 1024)
                port = PORTS[way] + buffer
                lab.serve("serve-tcp", stack, port, *options, size=0, way=way,
                          at_once=True)
                lab.serve("serve-udp", stack, port, *options, way=way, at_once=True)
    lab.plan(len(ways) * len(BUFFERS) * 2 * len(sizes) + 1)
    for way in ways:
        for proto in ("tcp", "udp"):
            for buffer in BUFFERS:
                for size in sizes:
                    round_trips(lab, way, proto, buffer, size, runs)
    lab.step("traffic class at the router")
    with lab.attempt("traffic class"):
        traffic_class(lab)


def round_trips(lab, way, proto, buffer, size, runs):
    # Whether an ACK is delayed differs from one round trip to the next: a mean of many repeats.
    count = 4 if lab.quick else 40 if size <= 8192 else 24
    lab.step(f"{proto.upper()} {way}, buffers of {buffer} KB, {size} B")
    case = {"protocol": proto.upper(), "way": way, "buffer": f"{buffer} KB", "bytes": size}
    if proto == "udp" and size > buffer * 1024:
        return		# does not fit the socket's buffer; nor do 64 KB a datagram
    port = PORTS[way] + buffer
    for stack in ADDRESS[way]:
        with lab.attempt(f"{case} over {stack}"):
            values = lab.netbench(f"{proto}-rr", stack, port, count, size, "-r", runs, "-b",
                                  buffer * 1024, *(["-H"] if proto == "tcp" else []), way=way)
            values = sorted(ns / 1000 for ns, _, _ in values)
            lab.row("roundtrip", case, stack, "us", values[1:-1] if runs > 2 else values)


def traffic_class(lab):
    """A 10 Mb/s link behind the router, filled by bulk; short round trips with and without a
    class that the router's prio qdisc sends first."""
    tc = lambda words: lab.run("tc", "-n", "router", *words.split())
    tc(f"qdisc add dev rs root handle 1: tbf rate 10mbit burst 3100 limit {QUEUE}")
    tc("qdisc add dev rs parent 1:1 handle 2: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1")
    tc(f"filter add dev rs parent 2: protocol ip prio 1 u32 match ip tos {MARKED} 0xff flowid 2:1")
    tc(f"filter add dev rs parent 2: protocol ipv6 prio 2 u32 match ip6 priority {MARKED} 0xff "
       "flowid 2:1")
    for n, stack in enumerate(STACKS):
        for port, name, options in ((9000 + n, "idle link", None),
                                    (9010 + n, "full link, best effort", []),
                                    (9020 + n, "full link, marked", ["-t", MARKED])):
            bulk = []
            with lab.attempt(f"traffic class over {stack}"):
                if options is not None:
                    bulk.append(lab.serve("serve-sink", stack, port, "-b", 1 << 18, way="routed"))
                    bulk.append(lab.background(
                        lab.netbench_program, "-f", FAMILY[stack], "-a",
                        ADDRESS["routed"][stack], "-p", port, "-b", 1 << 18, "-s", 8192,
                        "-n", 100000, "stream", ns="client"))
                    lab.wait_for("a full link", lambda: lab.backlog("router", "rs") > QUEUE * 3 / 4)
                # More than the router's token bucket lets pass at once, else the bucket is
                # measured; where each waits for the bulk, the bucket is empty anyway.
                count = 20 if options == [] else 200
                values = lab.netbench("tcp-rr", stack, 8060, count, 64, "-H", "-r",
                                      3 if lab.quick else 12,
                                      *(options or []), way="routed")
                lab.row("class", {"link": name}, stack, "us", [ns / 1000 for ns, _, _ in values])
            lab.stop(*bulk)
    tc("qdisc del dev rs root")


NOTE = ("A datagram that does not fit its socket's buffer is refused, and one of 64 KB fits no "
        "packet: those of UDP end below.")
WHERE = "abstract, arXiv, 2007"
NO_FIGURE = {"text": "figures of this were not found; it says that the performance of IPv6 in "
                     "many cases proved to be significantly worse than IPv4.", "where": WHERE}
FIGURES = [
    {"figure": "roundtrip", "title": f"Round trips, {proto}, {way}", "kind": "lines", "x": "bytes",
     "split": ["buffer"], "log": True, "overhead": True,
     "only": {"protocol": [proto], "way": [way]}, "paper": NO_FIGURE}
    for proto in ("TCP", "UDP") for way in ("direct", "routed", "forwarded")]
FIGURES += [
    {"figure": "class", "title": "Short round trips over a full 10 Mb/s link, by traffic class",
     "kind": "bars", "log": True, "open": True, "paper": {"text": "not found."}}]
