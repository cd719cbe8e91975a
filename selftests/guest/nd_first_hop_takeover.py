#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# nd_first_hop.py where net6 is the host's only IPv6, and two that look up for a source there:
# netfilter and rtnetlink.
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 150

import os
import sys

HERE = os.path.dirname(__file__)
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
import ktap
import nd_first_hop as base


@ktap.test
def what_netfilter_sends_elsewhere():
    """It is looked up again, for the source that it has."""
    if ktap.CHECKING:
        raise ktap.Skip("no nft_chain_nat in this kernel")
    dest = base.far()
    base.A.run("nft", "-f", "-", input="table ip6 t { chain output { type nat hook output "
               f"priority -100\nudp dport {base.PORT} dnat to {dest}\n}}\n}}")
    ktap.at_exit(lambda: base.A.run("nft", "flush", "ruleset"))
    for preference in (1, 3):
        base.advertise(base.R1, base.P1, flags=preference << 3)
        base.barrier()
        for prefix, router in ((base.P1, base.R1), (base.P2, base.R2)):
            base.wire.flush()
            base.sockets[prefix].sendto(b"x", (base.far(), base.PORT))
            frame = base.wire.expect(lambda f: f.proto == 17 and f.dest == dest, "datagram")
            ktap.equal((base.router_of(frame), frame.source), (router, base.OWN[prefix]),
                       f"preference of R1 {preference}")
    base.A.run("nft", "flush", "ruleset")
    base.advertise(base.R1, base.P1)
    base.barrier()


@ktap.test
def ip_route_get_from_a_source():
    dest = base.far()
    for prefix, router in ((base.P1, base.R1), (base.P2, base.R2), (base.P1, base.R1)):
        out = base.A.ip("-6", "route", "get", dest, "from", base.OWN[prefix])
        words = out.split()
        ktap.equal((words[0], words[words.index("from") + 1], words[words.index("via") + 1],
                    words[words.index("src") + 1]),
                   (dest, base.OWN[prefix], router, base.OWN[prefix]), out)


ktap.main(setup=base.setup)
