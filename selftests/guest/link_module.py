#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The link-layer contract, used by another module (selftests/modules/net6_wire.c): its
# devices get interfaces with addresses, Neighbor Discovery and TCP. The module is pinned
# while there are interfaces. The link layer is taken away and brought back under
# traffic. A namespace goes with its end of the wire.
#
#   [ A ] wire0 === this program === wire0 [ B ]
# guest: both
# timeout: 300
# guest-options: --kmemleak
import os
import select
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
import rawlinks  # pylint: disable=wrong-import-position
from cloud import show  # pylint: disable=wrong-import-position

REGISTERED = "/sys/module/net6_wire/parameters/registered"
ROUNDS = 4 if ktap.CHECKING else 10
A, B = ktap.later("A"), ktap.later("B")
ENDS = {}


def pump():
    """Carries frames between the ends until there are none."""
    pairs = {ENDS["A"]: ENDS["B"], ENDS["B"]: ENDS["A"]}
    while ENDS:
        for fd in select.select(list(pairs), [], [], 0.5)[0]:
            try:
                os.write(pairs[fd], os.read(fd, 65536))
            except OSError:
                pass


PUMP = threading.Thread(target=pump, daemon=True)


def setup():
    ktap.net6_load()
    ktap.run("insmod", f"{ktap.BUILD}/selftests/modules/net6_wire.ko")
    ktap.at_exit(ktap.unload, "net6_wire")
    for name, ns in (("A", A), ("B", B)):
        with ns:
            ENDS[name] = os.open("/dev/net6-wire", os.O_RDWR | os.O_NONBLOCK)
        ns.up("wire0")
    PUMP.start()


def link_local(ns):
    return [a["address"] for a in show(ns, "addresses", "dev", "wire0")
            if a["address"].startswith("fe80") and a["state"] == "preferred"]


@ktap.test
def the_device_has_an_interface_of_that_link():
    iface = show(A, "interfaces", "dev", "wire0")[0]
    ktap.equal((iface["link"], iface["mtu"], len(iface["lladdr"])), ("wire", 1500, 5),
               "interface")
    for ns in (A, B):
        ktap.wait_for(30, "a link-local address", lambda n=ns: link_local(n))


@ktap.test
def tcp_over_the_wire():
    for ns, address in ((A, "fd0a::1"), (B, "fd0a::2")):
        cloud.add_address(ns, "wire0", address)
    cloud.tcp(cloud.net6(A), cloud.net6(B), "fd0a::2", 100000)
    neighbor = [n for n in show(A, "neighbors", "dev", "wire0") if n["address"] == "fd0a::2"]
    ktap.equal([len(n["lladdr"]) for n in neighbor], [5], "a link-layer address of 16 bits")


@ktap.test
def a_duplicate_is_found_over_the_wire():
    cloud.ctl(B, "add", "address", "fd0a::1/64", "dev", "wire0")
    ktap.wait_for(20, "B finds out", lambda: any(
        a["address"] == "fd0a::1" and a["state"] == "duplicate" for a in show(B, "addresses")))
    cloud.ctl(B, "del", "address", "fd0a::1", "dev", "wire0")


@ktap.test
def the_module_is_pinned():
    for module in ("net6_wire", "net6"):
        try:
            ktap.run("rmmod", module)
        except ktap.Fail:
            continue
        raise ktap.Fail(f"{module} went")


@ktap.test
def the_link_layer_goes_and_comes_under_traffic():
    server, client = cloud.net6(B, 2), cloud.net6(A, 2)
    server.bind(("::", 4141))
    client.setblocking(False)
    stop = threading.Event()

    def send():
        while not stop.is_set():
            try:
                client.sendto(b"x" * 1000, ("fd0a::2", 4141))
            except OSError:
                pass
    thread = threading.Thread(target=send)
    thread.start()
    try:
        for _ in range(5):
            for word in "NY":
                with open(REGISTERED, "w", encoding="ascii") as file:
                    file.write(word)
                ktap.equal([i["dev"] for i in show(A, "interfaces") if i["dev"] == "wire0"],
                           ["wire0"] if word == "Y" else [], f"interfaces after {word}")
    finally:
        stop.set()
        thread.join()
        client.close()
        server.close()
    for ns, address in ((A, "fd0a::1"), (B, "fd0a::2")):
        cloud.add_address(ns, "wire0", address)
    cloud.tcp(cloud.net6(A), cloud.net6(B), "fd0a::2", 20000)


@ktap.test
def random_frames():
    for n in range(1, 400):
        try:
            os.write(ENDS["A"], b"\xff\xff\0\1" + os.urandom(n * 7 % 1400))
        except OSError:
            pass
    cloud.tcp(cloud.net6(A), cloud.net6(B), "fd0a::2", 20000)


@ktap.test
def a_namespace_goes_with_its_end():
    B.delete()
    ktap.wait_for(20, "the device is gone", lambda: write_fails(ENDS["B"]))
    ends = list(ENDS.values())
    ENDS.clear()
    PUMP.join()                 # or it would use what has these numbers next
    for fd in ends:
        os.close(fd)
    ktap.wait_for(20, "the last interface is let go",
                  lambda: not ktap.users("net6_wire"))
    ktap.unload("net6_wire")


@ktap.test
def a_file_is_closed_while_its_namespace_goes():
    """The device goes for one of two reasons, and for one only, whichever comes first."""
    ktap.run("insmod", f"{ktap.BUILD}/selftests/modules/net6_wire.ko")
    for n in range(ROUNDS):
        ns = ktap.Netns(f"C{n}")
        with ns:
            fd = os.open("/dev/net6-wire", os.O_RDWR | os.O_NONBLOCK)
        ns.up("wire0")
        ns.delete()
        if n % 2:
            ktap.wait_for(20, "the device goes", lambda end=fd: write_fails(end))
            time.sleep(n / 1000)		# another moment of its end each time
        os.close(fd)
    # Making a namespace waits for those that are being removed.
    ktap.Netns("last")
    ktap.wait_for(20, "the last interface is let go", lambda: not ktap.users("net6_wire"))
    ktap.unload("net6_wire")


def write_fails(fd):
    try:
        os.write(fd, b"\xff\xff\0\1" + bytes(40))
    except OSError:
        return True
    return False


@ktap.test
def a_device_without_a_header_is_attached_by_hand():
    """The built-in raw link, beside native."""
    rawlinks.need("tun")
    ns = ktap.Netns("T")
    fd = rawlinks.tun(ns, "tun0")
    ns.up("tun0")
    ktap.equal([i["dev"] for i in show(ns, "interfaces")], ["lo"], "interfaces")
    cloud.ctl(ns, "attach", "dev", "tun0")
    cloud.ctl(ns, "add", "address", "fd90:98::1/64", "dev", "tun0")
    iface = show(ns, "interfaces", "dev", "tun0")[0]
    ktap.equal((iface["link"], iface["mtu"], iface.get("lladdr", "")), ("raw", 1500, ""), "tun0")
    os.write(fd, rawlinks.icmp("fd90:98::9", "fd90:98::1", rawlinks.ECHO, b"\0\1\0\1", 64))
    peer = rawlinks.Program(fd)
    ktap.equal(peer.until(socket.IPPROTO_ICMPV6, rawlinks.ECHO_REPLY),
               ("fd90:98::1", "fd90:98::9"), "echo")
    os.close(fd)


ktap.main(setup=setup)
