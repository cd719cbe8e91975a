# SPDX-License-Identifier: GPL-2.0
"""What programs see of IPv6's configuration: `ip -6`, `ss -6` and /proc/net, made equal
where two stacks may differ (identifiers, indexes, times), for one configuration:

    A [a0] ------ [b0] B        fd00::a/64, fd00::b/64, link-local addresses

ip6views.json holds what the native stack shows. ip6_native.py proves that, and
ip6_takeover.py that net6 shows the same. With NET6_RECORD=1 the former writes what it
sees to $NET6_OUT/ip6views.json instead.
"""
import json
import os
import re
import socket
import subprocess

import ktap

FILE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "ip6views.json")
A_MAC, B_MAC = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
A, B = ktap.later("A"), ktap.later("B")
_replace = {}		# link-local address to name
_keep = []		# sockets to be seen


def addresses(ns, dev):
    done = json.loads(ns.run("ip", "-6", "-j", "addr", "show", "dev", dev) or "[]")
    return [i for d in done for i in d.get("addr_info", [])]


def _ready(ns, dev, count):
    info = addresses(ns, dev)
    return len(info) == count and not any(i.get("tentative") for i in info)


def setup(native):
    """Makes the configuration with iproute2 alone."""
    # A tunnel module that another test has left would put its devices into both.
    ktap.run("sysctl", "-qw", "net.core.fb_tunnels_only_for_init_net=1")
    ktap.veth(A, "a0", B, "b0")
    for ns, dev, mac, address in ((A, "a0", A_MAC, "fd00::a"), (B, "b0", B_MAC, "fd00::b")):
        ns.down(dev)
        ns.ip("link", "set", dev, "address", mac)
        if native:	# identifiers of RFC 7217, as net6's always are
            ns.run("sysctl", "-qw", f"net.ipv6.conf.{dev}.stable_secret={address}")
        ns.up(dev)
        ktap.wait_for(15, "link-local address", lambda n=ns, d=dev: _ready(n, d, 1))
        ns.ip("-6", "addr", "add", address + "/64", "dev", dev)
    for ns, dev in ((A, "a0"), (B, "b0")):
        ktap.wait_for(15, "addresses", lambda n=ns, d=dev: _ready(n, d, 2))
        for info in addresses(ns, dev):
            if info["scope"] == "link":
                _replace[info["local"]] = "LL-" + dev
    A.run("ping", "-6", "-c", "1", "-W", "5", "fd00::b")
    A.ip("-6", "route", "add", "fd01::/64", "dev", "a0")
    A.ip("-6", "route", "add", "default", "via", "fd00::b", "dev", "a0")
    A.ip("-6", "neigh", "add", "fd00::77", "lladdr", "02:00:00:00:00:77", "dev", "a0")
    A.ip("-6", "neigh", "add", "proxy", "fd00::88", "dev", "a0")
    A.ip("-6", "neigh", "add", "proxy", "fd00::89", "dev", "a0", "router")
    _sockets()


def _sockets():
    with A:
        listener = socket.socket(socket.AF_INET6)
        listener.setsockopt(socket.IPPROTO_IPV6, 26, 1)
        listener.bind(("fd00::a", 4001))
        listener.listen(7)
        udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        udp.setsockopt(socket.IPPROTO_IPV6, 26, 1)
        udp.bind(("::", 4002))
        peer = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        peer.bind(("fd00::a", 4003))
        peer.connect(("fd00::b", 4004))
        raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 253)
    with B:
        client = socket.socket(socket.AF_INET6)
    client.bind(("fd00::b", 4005))
    client.connect(("fd00::a", 4001))
    server = listener.accept()[0]
    client.sendall(b"unread")
    ktap.wait_for(10, "bytes arrive", lambda: server.recv(10, socket.MSG_PEEK) == b"unread")
    _keep.extend((listener, udp, peer, raw, client, server))
    for sock in _keep:
        ktap.at_exit(sock.close)


def same(value):
    """Without what may differ from stack to stack and run to run."""
    if isinstance(value, dict):
        return {k: same(v) for k, v in value.items()
                if k not in ("ifindex", "link_index", "link_netnsid", "cacheinfo", "used",
                             "confirmed", "updated", "probes", "refcnt", "index")}
    if isinstance(value, list):
        value = [same(v) for v in value]
        if all(isinstance(v, (str, int)) for v in value):	# the columns of a line
            return value
        return sorted(value, key=lambda v: json.dumps(v, sort_keys=True))
    if isinstance(value, str):
        for address, name in _replace.items():
            value = value.replace(address, name)
            packed = socket.inet_pton(socket.AF_INET6, address).hex()
            value = value.replace(packed, name)
            # the group of its neighbor solicitations
            value = value.replace("ff0200000000000000000001ff" + packed[-6:], "SN-" + name)
        return re.sub(r"ff02::1:ff[0-9a-f:]+", "SN", value)
    return value


def _ip(*words):
    out = A.run("ip", "-6", "-j", *words)
    return same(json.loads(out)) if out.strip() else []


def _lines(ns, *command):
    return sorted(same([" ".join(line.split()) for line in ns.run(*command).splitlines()]))


def _proc_sockets(name):
    """Local and remote name, state, queues; and how many columns there are."""
    head, *lines = A.run("cat", f"/proc/net/{name}").splitlines()
    return {"head": head.split(),
            "lines": same([[f[1], f[2], f[3], f[4], f[7], len(f)] for f in
                           (line.split() for line in lines)])}


def _group(line):
    words = line.split()
    return [words[1], words[2], words[4]]


def _counters(ns, file):
    """Of a file of counters: name and value, in its order."""
    return {name: int(value) for name, value in
            (line.split() for line in ns.run("cat", f"/proc/net/{file}").splitlines())}


def views():
    """name: what programs see."""
    neigh = _ip("neigh", "show", "dev", "a0")
    for entry in neigh:
        entry.pop("router", None)	# native marks those that advertise, net6 those in use
        if entry["dst"] in ("fd00::b", "LL-b0"):
            entry["state"] = "of the moment"
    neigh = [n for n in neigh if n["dst"] != "LL-b0"]
    info = A.run("ss", "-6Htin", "src", "[fd00::a]:4001", "dst", "[fd00::b]:4005")
    return {
        "ip addr": [{"ifname": d["ifname"], "addr_info": d["addr_info"]}
                    for d in _ip("addr") if d.get("ifname")],
        "ip route": _ip("route", "show"),
        "ip route table all": [r for r in _ip("route", "show", "table", "all")
                               if r.get("type") != "anycast"],
        "ip route get on-link": _ip("route", "get", "fd00::b"),
        "ip route get by router": _ip("route", "get", "fd99::1"),
        "ip route get own": _ip("route", "get", "fd00::a"),
        "ip neigh": neigh,
        "ip neigh proxy": _ip("neigh", "show", "proxy"),
        "ip neigh proxy dev": _ip("neigh", "show", "proxy", "dev", "lo"),
        "ip rule": _ip("rule", "show"),
        "ip maddr": [m for d in _ip("maddr", "show", "dev", "a0") for m in d["maddr"]],
        "ss -6tan": _lines(A, "ss", "-6Htan"),
        "ss -6uan": _lines(A, "ss", "-6Huan"),
        "ss -6tin": sorted(w for w in ("cubic", "rto:", "rtt:", "mss:", "cwnd:", "bytes_received:",
                                       "segs_in:", "rcv_space:", "lastrcv:", "minrtt:")
                           if w in info),
        "tcp6": _proc_sockets("tcp6"),
        "udp6": _proc_sockets("udp6"),
        "raw6": _proc_sockets("raw6"),
        "icmp6": _proc_sockets("icmp6"),
        "if_inet6": same([line.split()[:1] + line.split()[2:] for line in
                          A.run("cat", "/proc/net/if_inet6").splitlines()]),
        "igmp6": same([_group(line) for line in A.run("cat", "/proc/net/igmp6").splitlines()]),
        "mcfilter6": A.run("cat", "/proc/net/mcfilter6").splitlines()[0].split(),
        "sockstat6": A.run("cat", "/proc/net/sockstat6").splitlines()[:4],
        "snmp6": [n for n in _counters(A, "snmp6") if "Type" not in n],
        "dev_snmp6": A.run("ls", "/proc/net/dev_snmp6").split(),
        "dev_snmp6/a0": [n for n in _counters(A, "dev_snmp6/a0") if "Type" not in n],
        "ipv6_route": same([[f[0], f[1], f[4], f[5], f[8], f[9]] for f in
                            (line.split() for line in
                             A.run("cat", "/proc/net/ipv6_route").splitlines())
                            if f[5] != "ffffffff"]),	# native's ends of tables
    }


def counted():
    """Every interface has counters of its own; together they are the namespace's."""
    before = {(ns, dev): _counters(ns, f"dev_snmp6/{dev}")
              for ns, dev in ((A, "a0"), (A, "lo"), (B, "b0"), (B, "lo"))}
    A.run("ping", "-6", "-c", "3", "-i", "0.2", "-W", "5", "fd00::b")
    A.run("ping", "-6", "-c", "2", "-i", "0.2", "-W", "5", "::1")
    for ns, dev, name, more in (
            (A, "a0", "Icmp6InEchoReplies", 3), (A, "a0", "Icmp6InEchos", 0),
            (B, "b0", "Icmp6InEchos", 3), (B, "b0", "Icmp6OutEchoReplies", 3),
            (B, "b0", "Icmp6InType128", 3), (B, "lo", "Ip6InReceives", 0),
            (A, "lo", "Icmp6InEchos", 2), (A, "lo", "Icmp6InEchoReplies", 2)):
        now = _counters(ns, f"dev_snmp6/{dev}")
        ktap.equal(now.get(name, 0) - before[ns, dev].get(name, 0), more, f"{dev}: {name}")
    for ns, dev in ((A, "a0"), (B, "b0")):
        now = _counters(ns, f"dev_snmp6/{dev}")
        with ns:
            ktap.equal(now["ifIndex"], socket.if_nametoindex(dev), "ifIndex")
        ktap.true(now["Ip6InOctets"] - before[ns, dev]["Ip6InOctets"] >= 3 * 104, "InOctets")
        ktap.true(now["Ip6OutOctets"] - before[ns, dev]["Ip6OutOctets"] >= 3 * 104, "OutOctets")
    for name in ("Ip6InReceives", "Ip6InDelivers", "Ip6OutRequests", "Icmp6InMsgs"):
        ktap.wait_for(10, f"{name}: the interfaces' sum is the namespace's", lambda n=name:
                      sum(_counters(A, f"dev_snmp6/{dev}")[n] for dev in ("a0", "lo")) ==
                      _counters(A, "snmp6")[n])


def named():
    """The files have the names of the devices, and go with them."""
    def files():
        return A.run("ls", "/proc/net/dev_snmp6").split()

    A.ip("link", "add", "x0", "type", "veth", "peer", "name", "x1")
    ktap.equal(files(), ["a0", "lo", "x0", "x1"], "two more")
    A.ip("link", "set", "x1", "name", "x9")
    ktap.equal(files(), ["a0", "lo", "x0", "x9"], "after a new name")
    with A:
        opened = open("/proc/thread-self/net/dev_snmp6/x9", encoding="ascii")
    with opened as file:
        A.ip("link", "del", "x0")
        try:
            gone = not file.read()
        except OSError:
            gone = True
    ktap.true(gone, "nothing to read of a device that is gone")
    ktap.equal(files(), ["a0", "lo"], "as before")


def monitored():
    """What ip monitor tells of an address and a route that come and go."""
    monitor = A.popen("stdbuf", "-oL", "ip", "-6", "monitor", "address", "route", "prefix",
                      stdout=subprocess.PIPE)
    os.set_blocking(monitor.stdout.fileno(), False)
    text = ""

    def heard(*words):
        nonlocal text
        try:
            text += os.read(monitor.stdout.fileno(), 65536).decode()
        except BlockingIOError:
            pass
        return all(w in text for w in words)

    def begun():
        A.ip("-6", "addr", "add", "fd02::a/64", "dev", "a0")
        A.ip("-6", "addr", "del", "fd02::a/64", "dev", "a0")
        return heard("Deleted", "fd02::a")
    # Until it listens an address is added in vain.
    ktap.wait_for(20, "the monitor listens", begun)
    text = ""
    for change, words in (
            (("addr", "add", "fd03::a/64"), ("inet6 fd03::a/64 scope global",
                                             "fd03::/64 dev a0 proto kernel metric 256")),
            (("addr", "del", "fd03::a/64"), ("Deleted fd03::/64 dev a0",)),
            (("route", "add", "fd04::/64"), ("fd04::/64 dev a0 metric 1024",)),
            (("route", "del", "fd04::/64"), ("Deleted fd04::/64 dev a0",)),
            (("route", "add", "fd04::/48", "via", "fd00::b"),
             ("fd04::/48 via fd00::b dev a0 metric 1024",)),
            (("route", "del", "fd04::/48"), ("Deleted fd04::/48 via fd00::b dev a0",))):
        A.ip("-6", *change, "dev", "a0")
        try:
            ktap.wait_for(20, f"it tells of {change}", lambda w=words: heard(*w))
        except ktap.Fail as error:
            raise ktap.Fail(f"{error}; it told: {text}") from None


def requests():
    """Results of requests that are wrong or change something: exit status of ip."""
    out = {}
    for words in (("addr", "add", "fd00::a/64", "dev", "a0"),
                  ("addr", "add", "ff02::1/64", "dev", "a0"),
                  ("addr", "add", "::/64", "dev", "a0"),
                  ("addr", "del", "fd00::dead/64", "dev", "a0"),
                  ("addr", "add", "fd05::1/64", "dev", "nothing"),
                  ("addr", "add", "fd06::1/64", "dev", "a0", "valid_lft", "60",
                   "preferred_lft", "70"),
                  ("addr", "add", "fd06::1/64", "dev", "a0", "valid_lft", "600",
                   "preferred_lft", "300"),
                  ("addr", "del", "fd06::1/64", "dev", "a0"),
                  ("route", "add", "fd01::/64", "dev", "a0"),
                  ("route", "add", "fd07::/64", "dev", "a0"),
                  ("route", "del", "fd07::/64", "dev", "a0"),
                  ("route", "del", "fd07::/64", "dev", "a0"),
                  ("neigh", "add", "fd00::78", "lladdr", "02:00:00:00:00:78", "dev", "a0"),
                  ("neigh", "add", "fd00::78", "lladdr", "02:00:00:00:00:79", "dev", "a0"),
                  ("neigh", "replace", "fd00::78", "lladdr", "02:00:00:00:00:79", "dev", "a0"),
                  ("neigh", "del", "fd00::78", "dev", "a0"),
                  ("neigh", "add", "fd00::79", "dev", "a0"),
                  ("neigh", "add", "proxy", "fd00::88", "dev", "a0"),
                  ("neigh", "del", "proxy", "fd00::88", "dev", "a0"),
                  ("neigh", "del", "proxy", "fd00::88", "dev", "a0"),
                  ("neigh", "add", "proxy", "fd00::88", "dev", "nothing"),
                  ("route", "add", "fd08::/48", "via", "fd00::b"),
                  ("route", "add", "fd08::/48", "via", "fd00::b"),
                  ("route", "add", "fd08::/48", "via", "fd00::c"),
                  ("route", "add", "fd09::/48", "via", "ff02::1", "dev", "a0"),
                  ("route", "change", "fd09::/48", "via", "fd00::b"),
                  ("route", "replace", "fd08::/48", "via", "fd00::c"),
                  ("route", "del", "fd08::/48", "via", "fd00::b"),
                  ("route", "del", "fd08::/48"),
                  ("route", "del", "fd08::/48"),
                  ("addr", "del", "fd00::a/63", "dev", "a0"),
                  ("addr", "del", "fd00::a", "dev", "a0")):
        done = subprocess.run(("nsenter", f"--net=/run/netns/{A.name}", "ip", "-6") + words,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        out[" ".join(words) + f" #{len(out)}"] = done.returncode
    return out


def tests():
    """The tests of both files."""
    seen = {}

    def compare(name):
        def function():
            if not seen:
                seen.update(views())
                seen["requests"] = requests()
                if os.environ.get("NET6_RECORD"):
                    with open(os.path.join(ktap.OUT, "ip6views.json"), "w",
                              encoding="ascii") as file:
                        json.dump(seen, file, indent=1, sort_keys=True)
                        file.write("\n")
            if os.environ.get("NET6_RECORD"):
                return
            with open(FILE, encoding="ascii") as file:
                wanted = json.load(file)[name]
            got = json.loads(json.dumps(seen[name]))
            if isinstance(got, list) and isinstance(wanted, list):
                ktap.equal([g for g in got if g not in wanted], [], f"{name}: too much")
                ktap.equal([w for w in wanted if w not in got], [], f"{name}: missing")
            elif isinstance(got, dict):
                for key in {**got, **wanted}:
                    ktap.equal(got.get(key), wanted.get(key), f"{name}: {key}")
            ktap.equal(got, wanted, name)
        return function

    for name in ("ip addr", "ip route", "ip route table all", "ip route get on-link",
                 "ip route get by router", "ip route get own", "ip neigh", "ip neigh proxy",
                 "ip neigh proxy dev", "ip rule", "ip maddr",
                 "ss -6tan", "ss -6uan", "ss -6tin", "tcp6", "udp6", "raw6", "icmp6", "if_inet6",
                 "igmp6", "mcfilter6", "sockstat6", "snmp6", "dev_snmp6", "dev_snmp6/a0",
                 "ipv6_route", "requests"):
        ktap.test(f"as native: {name}")(compare(name))
    ktap.test("dev_snmp6 counts by interface")(counted)
    ktap.test("dev_snmp6 has the names of the devices")(named)
    ktap.test("ip monitor tells of changes")(monitored)
