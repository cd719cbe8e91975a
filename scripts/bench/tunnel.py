# SPDX-License-Identifier: GPL-2.0
"""What a kilobyte through a tunnel over IPv4 costs: net6's configured tunnel beside the kernel's
sit, between the same namespaces. No paper's; run by name only."""
from cost import PORT, bulk, rate_of

TITLE = "TCP through a tunnel over IPv4"
PAPER = "none: net6's tunnel and the kernel's sit"
NEEDS = ["iperf3"]

# One IPv4 pair has one tunnel: net6's has addresses of its own.
ADDRESS = {"native": "fd00:3::2", "net6": "fd00:4::2"}
SECONDS = 2


def tunnels(lab):
    for ns, dev, own, other in (("client", "c1", 1, 2), ("server", "s1", 2, 1)):
        def ip(words, ns=ns):
            lab.run("ip", "-n", ns, *words.split())
        ip(f"tunnel add native mode sit local 10.1.0.{own} remote 10.1.0.{other} pmtudisc")
        ip("link set native up")
        ip(f"addr add fd00:3::{own}/64 dev native nodad")
        ip(f"addr add 10.2.0.{own}/24 dev {dev}")
    for ns, own, other in (("client", 1, 2), ("server", 2, 1)):
        net6ctl = lab.tool["net6ctl"]
        lab.run(net6ctl, "tunnel", "add", "net6", "remote", f"10.2.0.{other}", "local",
                f"10.2.0.{own}", ns=ns)
        lab.run(net6ctl, "add", "address", f"fd00:4::{own}/64", "dev", "net6", ns=ns)
        lab.lib(f"wait_for 20 address_ready {ns} fd00:4::{own}")


def run(lab):
    lab.run("modprobe", "-q", "sit", check=False)
    lab.network()
    tunnels(lab)
    for stack, address in ADDRESS.items():
        lab.background(*lab.wrap(stack), "iperf3", "-s", "-B", address, "-p", PORT[stack])
        lab.wait_for(f"iperf3 on {stack}", lambda stack=stack: lab.listening(PORT[stack]))
    rounds = 1 if lab.quick else 2
    ways = {"client to server": (), "server to client": ("-R",)}
    lab.plan(rounds * len(ways))
    for _ in range(rounds):
        for way, options in ways.items():
            lab.step(way)
            for stack, address in ADDRESS.items():
                with lab.attempt(f"{way} over {stack}"):
                    client = bulk(lab, stack, SECONDS, *options, address=address)
                    lab.row("bulk", {"way": way}, stack, "instructions", rate_of(client, stack))


FIGURES = [
    {"figure": "bulk", "title": "A kilobyte, both ends", "kind": "bars", "open": True,
     "paper": {"text": "no paper's experiment."}},
]
