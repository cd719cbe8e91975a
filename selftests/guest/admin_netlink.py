#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The netlink family against hostile programs: every attribute with every wrong length,
# unknown commands and attributes, random bytes, no capability. Against scale: dumps of
# thousands of entries, slow readers, tables that change while they are read.
#
#	A [a0] ------ [b0] B
#
# guest: stock+
# timeout: 240
import errno
import os
import random
import socket
import struct
import sys
import threading
import types
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import fusefs
import ktap
import nl

LIB = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib")
TOOL = os.path.realpath(os.path.join(LIB, "../../tools/net6ctl"))
MANY = 2000 if not ktap.CHECKING else 500
A, B = ktap.later("A"), ktap.later("B")
shared = types.SimpleNamespace()	# a0: its index


def setup():
    ktap.net6_load()
    ktap.veth(A, "a0", B, "b0")
    with A:
        shared.a0 = socket.if_nametoindex("a0")


def family(ns=None):
    with ns or A:
        return nl.Family()


def refused(wanted, function, *args, **values):
    """The kernel's words of a request that must fail with this errno, or one of them."""
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    try:
        function(*args, **values)
    except nl.Refused as error:
        if error.errno not in wanted:
            raise ktap.Fail(f"{args} {values}: errno {error.errno} ({error.words}), "
                            f"wanted {wanted}") from error
        return error.words
    raise ktap.Fail(f"{args} {values}: not refused, wanted errno {wanted}")


def requests(f):
    """(operation, kind, its attributes) of what programs may send."""
    for op in f.ops:
        for kind in ("do", "dump"):
            if kind in op:
                yield op["name"], kind, (op[kind].get("request") or {}).get("attributes", [])


def valid(f, op):
    """A value for each attribute that an operation takes."""
    values = {"ifindex": shared.a0, "address": nl.address("fd00:9::1"), "prefix-len": 64,
              "lladdr": b"\2\0\0\0\0\1", "valid": 100, "preferred": 50, "preference": 0,
              "object": 1, "protocol": 6, "mtu": 0, "hop-limit": 64, "dad-transmits": 1,
              "accept-ra": 1, "autoconf": 1, "base-reachable": 30000, "retrans": 1000}
    limits = f.do("limits-get")[0]
    return {**values, **limits} if op.startswith("limits") else values


@ktap.test
def every_attribute_is_refused_with_every_wrong_length():
    f = family()
    for op, kind, names in requests(f):
        numbers = {a["name"]: n for n, a in enumerate(f._set(op), 1)}
        attrs = {a["name"]: a for a in f._set(op)}
        for name in names:
            right = 0 if attrs[name]["type"] == "flag" else \
                attrs[name].get("checks", {}).get("exact-len", 4)
            most = attrs[name].get("checks", {}).get("max-len")
            for length in range(0, 70):
                if length == right and most is None or most and length <= most:
                    continue
                raw = nl.attribute(numbers[name], bytes(length))
                refused((errno.EINVAL, errno.ERANGE), f.request, op, raw,
                        nl.DUMP if kind == "dump" else nl.ACK)


@ktap.test
def an_attribute_that_runs_beyond_the_message_is_refused():
    f = family()
    for op, kind, names in requests(f):
        for length in (0, 1, 3, 9, 100, 65535):
            raw = nl.attribute(1, bytes(4), length=length)
            flags = nl.DUMP if kind == "dump" else nl.ACK
            refused((errno.EINVAL, errno.ERANGE, errno.EOPNOTSUPP), f.request, op, raw, flags)


@ktap.test
def attributes_that_an_operation_does_not_take_are_refused():
    f = family()
    for op, kind, names in requests(f):
        taken = {n for n, a in enumerate(f._set(op), 1) if a["name"] in names}
        flags = nl.DUMP if kind == "dump" else nl.ACK
        for number in list(range(0, 40)) + [0x3fff, 0x7fff, 0x8001, 0xffff]:
            if number in taken:
                continue
            refused((errno.EINVAL, errno.ERANGE), f.request, op,
                    nl.attribute(number, bytes(4)), flags)


@ktap.test
def values_out_of_range_are_refused():
    f = family()
    for op, kind, names in requests(f):
        attrs = {a["name"]: a for a in f._set(op)}
        for name in names:
            checks = attrs[name].get("checks", {})
            for bad in ([checks["min"] - 1] if "min" in checks else []) + (
                    [checks["max"] + 1] if "max" in checks else []):
                raw = f.encode(op, **{name: bad})
                refused((errno.ERANGE, errno.EINVAL), f.request, op, raw,
                        nl.DUMP if kind == "dump" else nl.ACK)


@ktap.test
def unknown_commands_and_wrong_kinds_of_request_are_refused():
    f = family()
    used = {f.cmds[op] for op, _, _ in requests(f)}
    for cmd in set(range(256)) - used:
        refused(errno.EOPNOTSUPP, f.request, cmd)
        refused(errno.EOPNOTSUPP, f.request, cmd, b"", nl.DUMP)
    for op, kind, _ in requests(f):
        refused(errno.EOPNOTSUPP, f.request, op, b"", nl.ACK if kind == "dump" else nl.DUMP)
        refused(errno.EINVAL, f.request, op, b"", nl.DUMP if kind == "dump" else nl.ACK, 1, 7)


@ktap.test
def requests_without_what_they_need_are_refused():
    f = family()
    for op, kind, names in requests(f):
        if kind == "do" and op not in ("limits-get", "limits-set"):
            words = refused(errno.EINVAL, f.request, op)
            ktap.true(words, f"{op}: it says why")


@ktap.test
def interfaces_that_are_not_there_are_refused():
    f = family()
    for op, kind, names in requests(f):
        if kind != "do" or "ifindex" not in names:
            continue
        for index in (77777, 0x7fffffff, 0x80000000, 0xffffffff):
            values = {n: v for n, v in valid(f, op).items() if n in names}
            if op == "flush":
                values["object"] = 0
            if op.startswith("router"):
                values["address"] = nl.address("fe80::9")
            if op.startswith(("prefix", "route-")):
                values["address"] = nl.address("fd00:9::")
            values["ifindex"] = index
            refused(errno.ENODEV, f.do, op, **values)
    for op, kind, names in requests(f):
        if kind == "dump" and "ifindex" in names:
            ktap.equal(f.dump(op, ifindex=77777), [], f"{op} of no interface")


@ktap.test
def without_the_capability_every_change_is_EPERM():
    script = ("import sys; sys.path.insert(0, sys.argv[1]); import errno, nl\n"
              "f = nl.Family()\n"
              "for op in f.ops:\n"
              "    if 'uns-admin-perm' in op.get('flags', []):\n"
              "        try:\n"
              "            f.request(op['name'])\n"
              "            sys.exit(op['name'] + ': done')\n"
              "        except nl.Refused as e:\n"
              "            if e.errno != errno.EPERM:\n"
              "                sys.exit(f'{op[\"name\"]}: {e}')\n"
              "            print(op['name'])\n"
              "    elif 'dump' in op:\n"
              "        f.dump(op['name'])\n")
    said = A.run("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin",
                 "--no-new-privs", "python3", "-B", "-c", script, LIB)
    writers = [op["name"] for op in family().ops if op.get("flags")]
    ktap.equal(said.split(), writers, "operations that were refused")
    ktap.true(len(writers) >= 13, "there are that many")


@ktap.test
def the_owner_of_a_user_namespace_may_change_its_own_network():
    # A chroot makes no user namespaces, and our root may be one: go to the true root.
    said = ktap.run("chroot", "/proc/1/root", "unshare", "-Urn", "sh", "-ec",
                    f"{TOOL} set limits max-neighs 100; {TOOL} -j show limits")
    ktap.true('"max_neighs":100' in said, said)


@ktap.test
def random_bytes_are_survived():
    rng = random.Random(6)
    f = family()
    for _ in range(3000 // ktap.SCALE):
        raw = b"".join(nl.attribute(rng.randrange(0, 20),
                                    rng.randbytes(rng.choice((0, 1, 4, 4, 6, 8, 16, 16, 33))))
                       for _ in range(rng.randrange(0, 6)))
        if rng.random() < 0.3:
            raw = rng.randbytes(rng.randrange(0, 64))
        # What is valid by chance may be done, so only dumps and lethal nonsense.
        op, kind, _ = rng.choice(list(requests(f)))
        try:
            f.request(op, raw, nl.DUMP if kind == "dump" else nl.ACK)
        except nl.Refused:
            pass
    ktap.true(f.dump("counter-get"), "it still answers")
    with A:
        socket.if_nametoindex("a0")


def enter(group):
    with open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


@ktap.test
def what_is_made_is_charged_to_the_makers_memory_cgroup():
    f = family()
    root, group = ktap.cgroup()
    f.do("iface-set", ifindex=shared.a0, dad_transmits=0)

    def charged():
        with open(f"{group}/memory.stat", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file
                        if line.startswith("slab_unreclaimable "))
    count = 900
    # What one takes at least, with what comes with it.
    kinds = (("addr", 250, {"prefix_len": 128}), ("prefix", 64, {"prefix_len": 127}),
             ("route", 100, {"prefix_len": 127}), ("proxy", 60, {}),
             ("neigh", 250, {"lladdr": b"\2\0\0\0\0\2"}))
    try:
        for kind, size, values in kinds:
            enter(group)
            before = charged()
            for n in range(count):
                f.do(f"{kind}-add", ifindex=shared.a0,
                     address=nl.address(f"fd00:e:{n:x}::2"), **values)
            enter(root)
            ktap.wait_for(10, f"{count} of {kind} are charged",
                          lambda before=before, size=size: charged() - before > count * size,
                          look=lambda before=before: ktap.diag(f"{charged() - before} bytes"))
            which = {"prefix_len": 127} if kind in ("prefix", "route") else {}
            for n in range(count):
                f.do(f"{kind}-del", ifindex=shared.a0,
                     address=nl.address(f"fd00:e:{n:x}::2"), **which)
            # They are freed after a grace period, and would be missed in the next kind's sum.
            ktap.wait_for(20, f"{kind}: nothing is charged any more",
                          lambda before=before, size=size: charged() - before < count * size // 10)
    finally:
        enter(root)
        os.rmdir(group)
    f.close()


@ktap.test
def thousands_of_addresses_and_neighbors_are_dumped_once_each():
    f = family()
    f.do("flush", object=2)
    f.do("limits-set", max_neighs=4 * MANY)
    f.do("iface-set", ifindex=shared.a0, dad_transmits=0)
    wanted = [f"fd00:a::{n:x}" for n in range(1, MANY + 1)]
    for text in wanted:
        f.do("addr-add", ifindex=shared.a0, address=nl.address(text), prefix_len=128)
        f.do("neigh-add", ifindex=shared.a0, address=nl.address(text.replace("a::", "b::")),
             lladdr=b"\2\0\0\0\0\1")
    seen = [a["address"] for a in f.dump("addr-get") if a["address"].startswith("fd00:a::")]
    ktap.equal(sorted(seen), sorted(wanted), "addresses")
    seen = [a["address"] for a in f.dump("neigh-get") if a["address"].startswith("fd00:b::")]
    ktap.equal(len(seen), MANY, "neighbors")
    ktap.equal(len(set(seen)), MANY, "neighbors, once each")
    ktap.true(len(f.dump("accept-get")) > MANY, "accepted addresses and groups")
    ktap.equal(len([a for a in family(B).dump("addr-get")
                    if a["address"].startswith("fd00:a::")]), 0, "B has none of them")


@ktap.test
def a_slow_reader_gets_what_was_there_when_it_asked():
    f, slow = family(), family()
    slow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    answers = slow.exchange(slow.id, nl.DUMP,
                            struct.pack("=BBH", slow.cmds["addr-get"], 1, 0))
    seen = [slow.decode("addr-get", next(answers)[1][4:])["address"]]
    f.do("flush", object=2)
    f.do("neigh-add", ifindex=shared.a0, address=nl.address("fd00:b::1"), lladdr=b"\2\0\0\0\0\2")
    seen += [slow.decode("addr-get", payload[4:])["address"] for _, payload in answers]
    ktap.equal(len([a for a in seen if a.startswith("fd00:a::")]), MANY, "addresses")
    ktap.equal([a for a in f.dump("addr-get") if a["address"].startswith("fd00:a::")], [],
               "they are gone since")


@ktap.test
def a_reader_that_goes_away_leaves_nothing_behind():
    for _ in range(50):
        f = family()
        f.exchange(f.id, nl.DUMP, b"")
        f.sock.send(struct.pack("=IHHIIBBH", 20, f.id, nl.REQUEST | nl.DUMP, 1, 0,
                                f.cmds["neigh-get"], 1, 0))
        f.close()


@ktap.test
def tables_change_while_they_are_dumped():
    end = threading.Event()
    failed = []

    def guard(function):
        def run():
            f = family_in_thread()
            try:
                while not end.is_set():
                    function(f)
            except Exception as error:  # pylint: disable=broad-except
                failed.append(repr(error))
        return threading.Thread(target=run)

    made = threading.Lock()

    def family_in_thread():
        with made:
            return nl_families.pop()

    def change(f):
        text = f"fd00:c::{random.randrange(1, 400):x}"
        for op, values in (
                ("addr-add", {"prefix_len": 128}), ("neigh-add", {"lladdr": b"\2\0\0\0\0\3"}),
                ("addr-del", {}), ("neigh-del", {})):
            try:
                f.do(op, ifindex=shared.a0, address=nl.address(text), **values)
            except nl.Refused as error:
                if error.errno not in (errno.EEXIST, errno.EADDRNOTAVAIL, errno.ENOENT,
                                       errno.ENODEV):
                    raise

    def dump(f):
        for op in ("addr-get", "neigh-get", "accept-get", "prefix-get", "router-get",
                   "dest-get", "iface-get", "sock-get"):
            f.dump(op)

    def shake(f):
        for op in ("iface-detach", "iface-attach"):
            f.do(op, ifindex=shared.a0)
        end.wait(0.2)

    nl_families = [family() for _ in range(4)]
    threads = [guard(change), guard(dump), guard(dump), guard(shake)]
    for thread in threads:
        thread.start()
    end.wait(10)
    end.set()
    for thread in threads:
        thread.join(60)
        ktap.true(not thread.is_alive(), "a request came to its end")
    ktap.equal(failed, [], "requests")


@ktap.test
def a_sender_that_waits_for_its_memory_holds_up_no_dump():
    f = family()
    with ktap.net6_socket(ns=A) as server, ktap.net6_socket(ns=A) as client:
        server.bind(("::1", 0))
        server.listen()
        client.connect(server.getsockname())
        answer = fusefs.ask_while_owned(client, lambda: f.dump("sock-get", want_info=b""))
        mine = [s for s in answer if s["local-port"] == client.getsockname()[1]]
        ktap.equal([s["info"][0] for s in mine], [1], "state in the information")


@ktap.test
def a_device_vanishes_under_a_dump_and_a_listener():
    f, listener, slow = family(), family(), family()
    listener.join()
    if not [i for i in f.dump("iface-get") if i["ifindex"] == shared.a0]:
        f.do("iface-attach", ifindex=shared.a0)
    f.do("addr-add", ifindex=shared.a0, address=nl.address("fd00:d::1"), prefix_len=64)
    slow.sock.send(struct.pack("=IHHIIBBH", 20, slow.id, nl.REQUEST | nl.DUMP, 99, 0,
                               slow.cmds["iface-get"], 1, 0))
    A.ip("link", "del", "a0")
    seen = []
    while True:
        event = listener.event(2)
        if event is None:
            break
        seen.append(event)
    ktap.true(any(op == "addr-ntf" and e.get("address") == "fd00:d::1" and e.get("event") == 2
                  for op, e in seen), f"the address went: {seen}")
    ktap.true(len(list(slow.answers(99))) == 2, "the snapshot still has the device")
    ktap.equal(len(f.dump("iface-get")), 1, "only the pseudo-loopback is left")


@ktap.test
def a_namespace_ends_while_requests_are_open():
    script = ("import ctypes, struct, sys; sys.path.insert(0, sys.argv[1]); import nl\n"
              "for _ in range(20):\n"
              "    if ctypes.CDLL(None).unshare(0x40000000):\n"
              "        sys.exit('unshare')\n"
              "    f = nl.Family()\n"
              "    f.join()\n"
              "    f.sock.send(struct.pack('=IHHIIBBH', 20, f.id, 0x301, 1, 0,\n"
              "                            f.cmds['counter-get'], 1, 0))\n")
    ktap.run(sys.executable, "-B", "-c", script, LIB)


ktap.main(setup=setup)
