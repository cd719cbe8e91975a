#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# What other code of the kernel does to devices that net6 uses and to packets on their way through
# them. There are devices on top of one another, a bridge that suppresses solicitations, and
# queueing disciplines that read sockets. There are tc's filters and actions, XDP, and devices that
# move to another namespace. Where net6 is the host's only IPv6 (door_devices_takeover.py), routes
# with tunnels in them, too.
#
#	A [a0] ------ [b0] B	both on net6, fd00::a and fd00::b
#
# guest: stock+
# timeout: 180
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import bpf
import ktap
import netpair
import nl
import programs
from ktap import failing
from programs import A, B, CLIENT, SERVER

TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
PORT, SO_TXTIME, SO_MAX_PACING_RATE, CLOCK_TAI = 7900, 61, 47, 11
TAKEOVER = os.path.exists("/sys/module/ipv6/parameters/disable") and \
    open("/sys/module/ipv6/parameters/disable", encoding="ascii").read().strip() == "1"


def setup():
    programs.takeover() if TAKEOVER else programs.side_by_side()


def said(ns, *command):
    """What a program says when it fails, None if it does not."""
    with ns:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stderr + done.stdout).strip() or "failed" if done.returncode else None


def make(ns, kind=UDP, bind=None, dev=None):
    s = ktap.net6_socket(kind, ns=ns)
    if dev:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, dev.encode())
    s.settimeout(10 * ktap.SCALE)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if bind:
        s.bind((bind, PORT))
    return s


def talk(client=None, server=None, address=SERVER, sizes=(1, 1000, 4000), dev=None):
    """Datagrams, whole and in fragments, and a connection, there and back."""
    client, server = client or A, server or B
    with make(client, dev=dev) as c, make(server, bind=address) as s:
        for size in sizes:
            data = os.urandom(size)
            c.sendto(data, (address, PORT))
            got, who = s.recvfrom(9000)
            ktap.true(got == data, f"{size} octets arrive")
            s.sendto(data, who)
            ktap.true(c.recv(9000) == data, f"{size} octets come back")
    with make(server, TCP, address) as listener, make(client, TCP, dev=dev) as c:
        listener.listen()
        c.connect((address, PORT))
        s = listener.accept()[0]
        with s:
            data = os.urandom(100000)
            thread = threading.Thread(target=c.sendall, args=(data,))
            thread.start()
            s.settimeout(10 * ktap.SCALE)
            ktap.true(ktap.take(s, len(data)) == data, "a stream arrives")
            thread.join()


def nothing(address=SERVER):
    """No datagram arrives any more."""
    with make(A) as c, make(B, bind=address) as s:
        failing(c.sendto, b"x", (address, PORT))
        s.settimeout(0.3)
        try:
            raise ktap.Fail(f"it arrives: {s.recv(9)}")
        except TimeoutError:
            pass


def addressed(ns, dev, address):
    netpair.ctl(ns, "set", "dev", dev, "dad-transmits", "0")
    netpair.ctl(ns, "add", "address", address + "/64", "dev", dev)
    ktap.wait_for(20, f"{address} is preferred",
                  lambda: any(e["address"] == address and e["state"] == "preferred"
                              for e in netpair.addresses(ns, dev)))


@contextlib.contextmanager
def cable():
    """A second one, a1 - b1."""
    ktap.veth(A, "a1", B, "b1")
    try:
        yield
    finally:
        said(A, "ip", "link", "del", "a1")
        said(A, "ip", "link", "del", "a2")


def on_top(number, *words, both=False):
    """A device on top of a1 (and one on b1) carries net6, goes, and a1 carries it again. ipvlan
    carries groups alone: it knows native's addresses.
    """
    net = f"fd0{number}::"
    with cable():
        for ns, dev, other, host in ((A, "a1", "a2", "a"), (B, "b1", "b2", "b")):
            name = dev
            if ns is A or both:
                name = other
                ns.ip("link", "add", "link", dev, "name", other, "type", *words)
                ns.up(other)
                ns.up(dev)
            addressed(ns, name, net + host)
        if words[0] != "ipvlan":
            talk(address=net + "b")
        A.ip("link", "del", "a2")
        if not both:
            addressed(A, "a1", net + "c")
            talk(address=net + "b")


@ktap.test
def a_device_on_top_carries_it():
    for number, (kind, both, words) in enumerate((
            ("macvlan", False, ("macvlan", "mode", "bridge")),
            ("ipvlan", False, ("ipvlan", "mode", "l2")),
            ("8021q", True, ("vlan", "id", "5"))), 1):
        if subprocess.run(["modprobe", "-q", kind], check=False).returncode:
            ktap.diag(f"no {kind}")
            continue
        on_top(number, *words, both=both)


@contextlib.contextmanager
def switched(port):
    """A datapath of Open vSwitch in B: what comes from @port is ovs0's and the other way round."""
    with B:
        paths, ports, flows = (nl.Family(f"ovs_{name}") for name in ("datapath", "vport", "flow"))
    paths.request(1, struct.pack("=i", 0) + nl.attribute(1, b"ovs0\0") + nl.attribute(2, 0),
                  version=2)
    path = struct.pack("=i", netpair.index(B, "ovs0"))
    ports.request(1, path + nl.attribute(1, 1) + nl.attribute(2, 1) +
                  nl.attribute(3, port.encode() + b"\0") + nl.attribute(5, 0))

    def keys(number, exact):
        return nl.attribute(3, number) + nl.attribute(4, bytes(12)) + \
            nl.attribute(6, b"\xff\xff" if exact else b"\x86\xdd") + nl.attribute(8, bytes(40))
    for come, go in (0, 1), (1, 0):
        flows.request(1, path + nl.attribute(1, keys(come, False)) +
                      nl.attribute(2, nl.attribute(1, go)) + nl.attribute(7, keys(-1, True)))
    try:
        yield
    finally:
        paths.request(2, path, version=2)
        for family in paths, ports, flows:
            family.close()


@ktap.test
def a_switch_by_flows_carries_it():
    ktap.need("openvswitch")
    with cable(), switched("b1"):
        B.up("ovs0")
        B.up("b1")
        addressed(A, "a1", "fd09::a")
        addressed(B, "ovs0", "fd09::b")
        talk(address="fd09::b")


@ktap.test
def macsec_carries_it():
    ktap.need("macsec")
    key = "0123456789abcdef0123456789abcdef"
    with cable():
        macs = {}
        for ns, dev, other in ((A, "a1", "a2"), (B, "b1", "b2")):
            out = ns.ip("link", "show", dev)
            macs[ns] = re.search(r"ether ([0-9a-f:]+)", out)[1]
            ns.ip("link", "add", "link", dev, other, "type", "macsec", "encrypt", "off")
        for ns, dev, peer in ((A, "a2", macs[B]), (B, "b2", macs[A])):
            if said(ns, "ip", "macsec", "add", dev, "tx", "sa", "0", "pn", "1", "on", "key", "00",
                    key):
                raise ktap.Skip("no GCM")
            ns.ip("macsec", "add", dev, "rx", "port", "1", "address", peer)
            ns.ip("macsec", "add", dev, "rx", "port", "1", "address", peer, "sa", "0", "pn", "1",
                  "on", "key", "01", key)
            ns.up(dev)
        for ns, dev, address in ((A, "a2", "fd09::a"), (B, "b2", "fd09::b")):
            addressed(ns, dev, address)
        talk(address="fd09::b")


@ktap.test
def a_bond_carries_it():
    ktap.need("bonding")
    with cable():
        A.ip("link", "add", "a2", "type", "bond", "mode", "active-backup", "miimon", "100")
        A.down("a1")
        A.ip("link", "set", "a1", "master", "a2")
        A.up("a2")
        addressed(A, "a2", "fd05::a")
        addressed(B, "b1", "fd05::b")
        talk(address="fd05::b")
        A.ip("link", "del", "a2")
        A.up("a1")
        addressed(A, "a1", "fd05::c")
        talk(address="fd05::b")


@ktap.test
def ports_of_a_team_come_back():
    ktap.need("team")
    with cable():
        A.ip("link", "add", "a2", "type", "team")
        A.down("a1")
        ktap.diag(f"team: {said(A, 'ip', 'link', 'set', 'a1', 'master', 'a2')}")
        for dev in "a2", "a1":
            A.up(dev)
        ktap.diag(netpair.ctl(A, "show", "interfaces"))
        talk()
        A.ip("link", "del", "a2")
        A.down("a1")
        A.up("a1")
        addressed(A, "a1", "fd06::a")
        addressed(B, "b1", "fd06::b")
        talk(address="fd06::b")


@ktap.test
def a_vrfs_port_carries_what_is_the_vrfs():
    """More in ip6vrf.py. Beside native IPv6 rules of net6's own lead to the VRF's table."""
    ktap.need("vrf")
    with cable():
        A.ip("link", "add", "a2", "up", "type", "vrf", "table", "9")
        A.ip("link", "set", "a1", "master", "a2")
        addressed(A, "a1", "fd07::a")
        addressed(B, "b1", "fd07::b")
        ktap.equal(netpair.ctl(A, "show", "rules").count("l3mdev"), 1, "a rule leads there")
        talk(dev="a2", address="fd07::b")
        talk(dev="a1", address="fd07::b")
        ktap.equal(failing(talk, None, None, "fd07::b"), "ENETUNREACH", "from no VRF")
        talk()
        A.ip("link", "del", "a2")
        talk(address="fd07::b")


@ktap.test
def a_bridge_that_suppresses_solicitations_carries_it():
    ktap.need("bridge")
    switch = ktap.Netns("S")
    switch.ip("link", "add", "br0", "type", "bridge")
    for ns, dev, port in ((A, "a1", "p0"), (B, "b1", "p1")):
        ktap.veth(ns, dev, switch, port)
        switch.ip("link", "set", port, "master", "br0")
        switch.run("bridge", "link", "set", "dev", port, "neigh_suppress", "on")
    switch.up("br0")
    for dev in "p0", "p1":
        switch.up(dev)
    ktap.diag(said(switch, "ip", "-6", "neigh", "add", "fd08::b", "lladdr", "02:00:00:00:00:05",
                   "dev", "br0", "nud", "permanent"))
    addressed(A, "a1", "fd08::a")
    addressed(B, "b1", "fd08::b")
    talk(address="fd08::b")
    A.ip("link", "del", "a1")
    B.ip("link", "del", "b1")


@ktap.test
def routes_with_more_in_them_are_refused():
    """Tunnels of a route or of a next hop object, IPv4 by way of IPv6."""
    if not TAKEOVER:
        raise ktap.Skip("the routes are native's")
    for name in ("mpls_router", "mpls_iptunnel", "ip6_tunnel"):
        subprocess.run(["modprobe", "-q", name], check=False)
    via = ("via", SERVER, "dev", "a0")
    for command in (
            ("-6", "route", "add", "fd00:9::/64", "encap", "mpls", "100", *via),
            ("-6", "route", "add", "fd00:9::/64", "encap", "ip6", "id", "5", "dst", "fd00::b",
             *via),
            ("-6", "route", "add", "fd00:9::/64", "encap", "seg6", "mode", "encap", "segs",
             "fd00::c", "dev", "a0"),
            ("-6", "nexthop", "add", "id", "1", "encap", "mpls", "100", *via),
            ("-6", "route", "add", "fd00:9::/64", "nhid", "1"),
            ("route", "add", "192.0.2.0/24", "via", "inet6", SERVER, "dev", "a0")):
        error = said(A, "ip", *command)
        ktap.diag(f"{' '.join(command)}: {error}")
        ktap.true(error, f"refused: {' '.join(command)}")
        ktap.true(any(word in error for word in (
            "not supported", "not enabled", "does not exist", "Nexthop id", "CONFIG",
            "Permission denied", "net6 has no ")), error)
    ktap.equal(A.ip("-6", "route", "show", "fd00:9::/64"), "", "routes that are left")
    # A next hop object of IPv4 is native's, and nothing of net6's goes by it.
    A.ip("addr", "add", "192.0.2.1/24", "dev", "a0")
    A.ip("nexthop", "add", "id", "3", "via", "192.0.2.2", "dev", "a0")
    ktap.diag(said(A, "ip", "-6", "route", "add", "fd00:9::/64", "nhid", "3"))
    talk()
    A.ip("nexthop", "del", "id", "3")


def qdisc(ns, dev, *words):
    error = said(ns, "tc", "qdisc", "replace", "dev", dev, "root", *words)
    if error and "unknown" in error.lower():
        raise ktap.Skip(f"{words[0]}: {error}")
    ktap.equal(error, None, " ".join(words))


def mac(ns, dev):
    return bytes.fromhex(json.loads(ns.ip("-j", "link", "show", dev))[0]["address"]
                         .replace(":", ""))


def frames(ns, dev, kind):
    """A packet socket for the frames of one EtherType."""
    with ns:
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(kind))
    sock.bind((dev, kind))
    sock.settimeout(0.3 * ktap.SCALE)
    return sock


@ktap.test
def a_label_by_way_of_ipv6_goes_nowhere():
    """MPLS resolves a next hop of IPv6 in native's table of neighbors, which is not there."""
    if not TAKEOVER:
        raise ktap.Skip("the neighbors are native's")
    ktap.need("mpls_router")
    A.run("sysctl", "-qw", "net.mpls.platform_labels=1000", "net.mpls.conf.a0.input=1")
    refused = said(A, "ip", "-f", "mpls", "route", "add", "100", "via", "inet6", SERVER,
                   "dev", "a0")
    ktap.diag(f"route of a label: {refused}")
    labelled, plain = frames(B, "b0", 0x8847), frames(B, "b0", 0x86dd)
    with labelled, plain:
        head = mac(A, "a0") + mac(B, "b0") + b"\x88\x47" + \
            struct.pack("!I", 100 << 12 | 0x100 | 64)
        inner = struct.pack("!IHBB", 6 << 28, 8, 59, 64) + \
            socket.inet_pton(socket.AF_INET6, SERVER) * 2 + b"labelled"
        labelled.send(head + inner)
        for sock in labelled, plain:
            with contextlib.suppress(TimeoutError):
                while True:
                    frame, about = sock.recvfrom(2000)
                    ktap.true(about[2] == socket.PACKET_OUTGOING or b"labelled" not in frame,
                              "it comes back")
    if not refused:
        A.ip("-f", "mpls", "route", "del", "100")
    talk()


@ktap.test
def disciplines_pass_it_on():
    for words in (("fq",), ("fq", "maxrate", "100mbit"), ("fq_codel",), ("cake",), ("prio",),
                  ("tbf", "rate", "100mbit", "burst", "32k", "latency", "400ms"),
                  ("netem", "delay", "1ms"), ("sfq",), ("pfifo",)):
        try:
            qdisc(A, "a0", *words)
        except ktap.Skip as reason:
            ktap.diag(reason)
            continue
        talk()
        with make(A, TCP) as paced, make(B, TCP, SERVER) as listener:
            listener.listen()
            paced.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1 << 20)
            paced.connect((SERVER, PORT))
            paced.sendall(bytes(20000))
            s = listener.accept()[0]
            s.settimeout(10 * ktap.SCALE)
            ktap.equal(len(ktap.take(s, 20000)), 20000, "at a pace")
            s.close()
        A.run("tc", "qdisc", "del", "dev", "a0", "root")


@ktap.test
def queues_of_classes_pass_it_on():
    ktap.need("sch_mqprio")
    run = ("ip", "link", "add", "a1", "numtxqueues", "4", "numrxqueues", "4", "netns", A.name,
           "up", "type", "veth", "peer", "name", "b1", "numtxqueues", "4", "numrxqueues", "4",
           "netns", B.name)
    ktap.run(*run)
    B.up("b1")
    qdisc(A, "a1", "mqprio", "num_tc", "2", "map", *"0110000000000000", "queues", "2@0", "2@2",
          "hw", "0")
    addressed(A, "a1", "fd04::a")
    addressed(B, "b1", "fd04::b")
    talk(address="fd04::b")
    with make(A) as c, make(B, bind="fd04::b") as s:
        for priority in range(7):
            c.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
            c.sendto(b"x", ("fd04::b", PORT))
            ktap.equal(s.recv(9), b"x", f"priority {priority}")
    A.ip("link", "del", "a1")


@ktap.test
def what_has_its_time_leaves_then():
    """etf drops all that has none, and whose socket has not asked for it."""
    ktap.need("sch_etf")
    with make(A) as c, make(B, bind=SERVER) as s:
        c.sendto(b"first", (SERVER, PORT))
        ktap.equal(s.recv(9), b"first", "a neighbor that is known")
        qdisc(A, "a0", "etf", "clockid", "CLOCK_TAI", "delta", "300000000")
        try:
            s.settimeout(0.3)
            c.sendto(b"no time", (SERVER, PORT))
            ktap.equal(failing_recv(s), "timeout", "what has no time")
            c.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack("=iI", CLOCK_TAI, 0))
            s.settimeout(3 * ktap.SCALE)

            def sent():
                """A guest that stands still for long is too late, and it is dropped."""
                when = time.clock_gettime_ns(CLOCK_TAI) + 1000000000
                c.sendmsg([b"its time"], [(socket.SOL_SOCKET, SO_TXTIME, struct.pack("=Q", when))],
                          0, (SERVER, PORT))
                return failing_recv(s) == b"its time"
            ktap.wait_for(30, "one arrives", sent)
        finally:
            A.run("tc", "qdisc", "del", "dev", "a0", "root")


def failing_recv(s):
    try:
        return s.recv(99)
    except TimeoutError:
        return "timeout"


@contextlib.contextmanager
def filtered(ns, dev, way, *words):
    """A filter of tc's at a device's ingress or egress."""
    subprocess.run(["modprobe", "-q", "-a", "sch_ingress", "cls_matchall", "cls_bpf", "cls_flower",
                    "act_mirred", "act_bpf", "act_ct", "ifb"], check=False)
    ns.run("tc", "qdisc", "add", "dev", dev, "clsact")
    try:
        error = said(ns, "tc", "filter", "add", "dev", dev, way, *words)
        if error and ("not found" in error or "isn't enabled" in error):
            raise ktap.Skip(error)
        ktap.equal(error, None, " ".join(words))
        yield
    finally:
        ns.run("tc", "qdisc", "del", "dev", dev, "clsact")


@ktap.test
def tc_s_programs_see_each_packet():
    fd = bpf.array(1)
    counting = bpf.mov(6, 0) + bpf.count(fd, 6)
    verdicts = {"through": 0, "drop": 2}
    for name, verdict in verdicts.items():
        program = bpf.load(bpf.SCHED_CLS, 0, counting + bpf.mov(0, verdict) + bpf.EXIT)
        path = bpf.pinned(program, f"tc-{name}")
        for ns, dev, way in ((A, "a0", "egress"), (B, "b0", "ingress")):
            talk()
            before = bpf.counts(fd, 1).get(0, 0)
            with filtered(ns, dev, way, "bpf", "da", "object-pinned", path):
                nothing() if verdict else talk()
            ktap.true(bpf.counts(fd, 1).get(0, 0) > before, f"{name}: packets seen at {way}")
        os.close(program)
    os.close(fd)


@ktap.test
def xdp_s_programs_see_each_packet():
    fd = bpf.array(1)
    for name, verdict in (("pass", 2), ("drop", 1)):
        program = bpf.load(bpf.XDP, 0, bpf.mov(6, 0) + bpf.count(fd, 6) + bpf.mov(0, verdict) +
                           bpf.EXIT)
        path = bpf.pinned(program, f"xdp-{name}")
        for mode in "xdpgeneric", "xdpdrv":
            talk()
            before = bpf.counts(fd, 1).get(0, 0)
            B.ip("link", "set", "b0", mode, "pinned", path)
            nothing() if verdict == 1 else talk()
            B.ip("link", "set", "b0", mode, "off")
            ktap.true(bpf.counts(fd, 1).get(0, 0) > before, f"{name}: packets seen by {mode}")
        os.close(program)
    os.close(fd)
    talk()


@ktap.test
def packets_come_back_from_an_ifb():
    """Behind the hook where net6 takes them from native IPv6, if that is there."""
    ktap.need("ifb", "act_mirred")
    B.ip("link", "add", "ifb0", "type", "ifb")
    B.up("ifb0")
    with filtered(B, "b0", "ingress", "protocol", "all", "matchall", "action", "mirred", "egress",
                  "redirect", "dev", "ifb0"):
        talk() if TAKEOVER else nothing()
        out = B.ip("-s", "link", "show", "ifb0")
    ktap.true(int(re.findall(r"^\s+\d+\s+(\d+)", out, re.M)[-1]) > 0, "packets through ifb0")
    B.ip("link", "del", "ifb0")


@ktap.test
def tc_s_tracking_of_connections_passes_it_on():
    """Fragments that come in are put together for it by native's code, which gives them up in
    time. Such as leave are not tried: Linux 6.1 goes on with what act_ct has kept of them, and
    panics, whose packets they ever are.
    """
    ktap.need("act_ct")
    for ns, dev, way in ((A, "a0", "egress"), (B, "b0", "ingress")):
        with filtered(ns, dev, way, "protocol", "ipv6", "matchall", "action", "ct", "zone", "5"):
            talk(sizes=(1, 1000) if way == "egress" else (1, 1000, 4000))
            if way == "ingress":
                one_fragment()
    talk()


def one_fragment():
    """The others never come: the timer of native's reassembly runs out."""
    setting = "net.netfilter.nf_conntrack_frag6_timeout"
    error = said(B, "sysctl", "-qw", f"{setting}=1")
    if error:
        ktap.diag(error)
        return
    with A:
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x86dd))
    packet = struct.pack("!IHBB", 6 << 28, 72, 44, 64) + \
        socket.inet_pton(socket.AF_INET6, CLIENT) + socket.inet_pton(socket.AF_INET6, SERVER) + \
        struct.pack("!BBHI", 17, 0, 1, 99) + struct.pack("!HHHH", 1, 9, 64, 0) + bytes(56)
    out = B.ip("link", "show", "b0")
    mac = bytes.fromhex(re.search(r"ether ([0-9a-f:]+)", out)[1].replace(":", ""))
    with raw:
        raw.sendto(packet, ("a0", 0x86dd, 0, 1, mac))
    # Nothing shows what waits there; a second of it, and the scheduler's.
    time.sleep(2)


@ktap.test
def a_device_moves_to_another_namespace_and_back():
    other = ktap.Netns("C")
    with cable():
        addressed(A, "a1", "fd0a::a")
        addressed(B, "b1", "fd0a::b")
        stop = threading.Event()

        def flood():
            with make(A) as c, make(A, TCP) as t:
                t.settimeout(0.1)
                while not stop.is_set():
                    failing(c.sendto, bytes(3000), ("fd0a::b", PORT))
                    with contextlib.suppress(OSError):
                        t.connect(("fd0a::b", PORT))
        thread = threading.Thread(target=flood)
        thread.start()
        try:
            for _ in range(10):
                A.ip("link", "set", "a1", "netns", other.name)
                other.up("a1")
                addressed(other, "a1", "fd0a::c")
                talk(other, address="fd0a::b", sizes=(1, 3000))
                other.ip("link", "set", "a1", "netns", A.name)
                A.up("a1")
                addressed(A, "a1", "fd0a::a")
        finally:
            stop.set()
            thread.join()
        talk(address="fd0a::b")


ktap.main(setup=setup)
