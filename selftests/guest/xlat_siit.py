#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The stateless translator: hosts that have IPv4 only talk over a link that has IPv6 only, with
# programs that know nothing of it; and a host of IPv6 with one of IPv4. The topology is drawn in
# lib/xlat.py.
# guest: both
# timeout: 300
import errno
import os
import re
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
import xlat  # pylint: disable=wrong-import-position
from xlat import A, B, P, Q, ipv4  # pylint: disable=wrong-import-position

IP_RECVERR, IP_MTU_DISCOVER, IP_MTU, SO_NO_CHECK = 11, 10, 14, 11
DONT, DO = 0, 2


def setup():
    xlat.setup()
    ktap.on_failure(lambda: [ktap.diag(xlat.ctl(ns, "show", "xlat", "xlat0")) for ns in (P, Q)])


def answers(ns, *words):
    """ping's summary."""
    return ns.run("ping", "-n", "-i", "0.2", "-W", "5", *words, timeout=30)


@ktap.test
def ping_both_ways():
    ktap.wait_for(20, "A reaches B", lambda: "1 received" in A.run(
        "ping", "-n", "-c", "1", "-W", "1", xlat.ADDRESS_B, check=False))
    ktap.true("3 received" in answers(A, "-c", "3", xlat.ADDRESS_B), "A pings B")
    ktap.true("3 received" in answers(B, "-c", "3", "-s", "1200", xlat.ADDRESS_A), "B pings A")


@ktap.test
def tcp_both_ways():
    before = [xlat.counters(ns) for ns in (P, Q)]
    cloud.tcp(ipv4(A), ipv4(B), xlat.ADDRESS_B, 2000000)
    cloud.tcp(ipv4(B), ipv4(A), xlat.ADDRESS_A, 2000000)
    for ns, was in zip((P, Q), before):
        now = xlat.counters(ns)
        packets = now["To6"] - was["To6"]
        ktap.diag(f"4 MB to IPv6 in {packets} packets")
        ktap.true(0 < packets < 4000000 / 1400 * 0.9, "large packets went through as they were")
        ktap.equal(now["GsoSegmented"], was["GsoSegmented"], "packets cut before their time")


@ktap.test
def udp_both_ways():
    cloud.udp(ipv4(A, socket.SOCK_DGRAM), ipv4(B, socket.SOCK_DGRAM), xlat.ADDRESS_B, (1, 500, 1400))
    cloud.udp(ipv4(B, socket.SOCK_DGRAM), ipv4(A, socket.SOCK_DGRAM), xlat.ADDRESS_A, (1, 500, 1400))


@ktap.test
def fragments_both_ways():
    """Of IPv4's own, in front of the translators; they become IPv6's, and IPv4's again."""
    for size in (1600, 4000, 30000):
        cloud.udp(ipv4(A, 2), ipv4(B, 2), xlat.ADDRESS_B, (size,))
        cloud.udp(ipv4(B, 2), ipv4(A, 2), xlat.ADDRESS_A, (size,))


@ktap.test
def what_ipv4_may_cut_is_cut_to_1280_bytes():
    """RFC 7915 section 4; of a packet whose sender does not forbid it."""
    made = xlat.counters(P)["To6FragCreates"]
    client, server = ipv4(A, 2), ipv4(B, 2)
    client.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, DONT)
    cloud.udp(client, server, xlat.ADDRESS_B, (1400,))
    ktap.true(xlat.counters(P)["To6FragCreates"] >= made + 2, "fragments were made")


@ktap.test
def udp_without_checksum():
    made = xlat.counters(P)["To6UdpChecksums"]
    client, server = ipv4(A, 2), ipv4(B, 2)
    client.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
    cloud.udp(client, server, xlat.ADDRESS_B, (100, 1300))
    ktap.equal(xlat.counters(P)["To6UdpChecksums"], made + 2, "checksums that were computed")


def learned(ns, address, size):
    """What a host knows of the path when a datagram of @size does not fit; None if it does."""
    with ipv4(ns, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, DO)
        sock.connect((address, 9))
        try:
            sock.send(b"l" * size)
        except OSError as error:
            if error.errno != errno.EMSGSIZE:
                return None
            return sock.getsockopt(socket.IPPROTO_IP, IP_MTU)
    return None


@ktap.test
def path_mtu():
    """A link of 1500 bytes takes 1480 of IPv4; one that becomes narrower is learnt under TCP."""
    ktap.wait_for(20, "A knows that 1480 fit",
                  lambda: learned(A, xlat.ADDRESS_B, 1472) == 1480)
    with ipv4(B) as listener, ipv4(A) as near:
        listener.bind((xlat.ADDRESS_B, 0))
        listener.listen(1)
        near.connect(listener.getsockname())
        far = listener.accept()[0]

        def narrow():
            for ns, dev in ((P, "p0"), (Q, "q0")):
                ns.ip("link", "set", dev, "mtu", "1300")
        cloud.send_while(near, far, 400000, narrow)
        cloud.send_while(far, near, 400000, lambda: None)
        far.close()
    ktap.wait_for(20, "A knows that 1280 fit",
                  lambda: learned(A, xlat.ADDRESS_B, 1440) == 1280)
    for ns, dev in ((P, "p0"), (Q, "q0")):
        ns.ip("link", "set", dev, "mtu", "1500")
    for ns in (A, B):
        ns.ip("route", "flush", "cache")


@ktap.test
def traceroute_sees_all_routers():
    """RFC 6791: P, which has no mapping, has an address of the pool there. Q has one."""
    text = A.run("traceroute", "-n", "-q", "1", "-w", "5", "-m", "8", xlat.ADDRESS_B, timeout=60)
    hops = re.findall(r"^ *\d+ +(\S+)", text, re.M)
    ktap.diag(f"hops: {hops}")
    ktap.equal(hops[0], "192.0.2.2", "the first router")
    ktap.equal(hops[-1], xlat.ADDRESS_B, "the end")
    ktap.equal(len(hops), 5, "hops")
    ktap.true(hops[1].startswith("203.0.113.") and int(hops[1].split(".")[-1]) >= 128,
              f"{hops[1]} is of the pool")
    ktap.equal(hops[2:4], [xlat.ADDRESS_Q, "198.51.100.2"], "Q, by its IPv6 and its IPv4")


def told(sock, wanted):
    """Does the socket hear of this error?"""
    def ask():
        try:
            sock.send(b"is anybody there?")
            sock.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError as error:
            return error.errno == wanted
        return False
    ktap.wait_for(20, f"{errno.errorcode[wanted]} is told", ask)


def asking(ns, address):
    sock = ipv4(ns, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
    sock.connect((address, 9))
    return sock


@ktap.test
def errors_reach_the_program():
    """A closed port, a host that is not there, and an address that nobody can translate."""
    with asking(A, xlat.ADDRESS_B) as sock:
        told(sock, errno.ECONNREFUSED)
    with asking(B, "192.0.2.99") as sock:
        told(sock, errno.EHOSTUNREACH)
    errors = xlat.counters(P)
    ktap.true(errors["To4IcmpErrors"] > 0, "errors were translated")
    with ipv4(A) as sock:
        ktap.raises(errno.ECONNREFUSED, sock.connect, (xlat.ADDRESS_B, 9))
    before = xlat.counters(P)["DEST"]
    P.ip("route", "add", "169.254.0.0/16", "dev", "xlat0")
    with asking(A, "169.254.9.9") as sock:
        told(sock, errno.EHOSTUNREACH)
    ktap.true(xlat.counters(P)["DEST"] > before, "reason")


@ktap.test
def nothing_is_translated_back():
    """An IPv4 address that P maps to one that it has mapped from IPv4 itself."""
    P.ip("route", "add", "192.0.2.77/32", "dev", "xlat0")
    A.ip("route", "add", "192.0.2.77/32", "via", "192.0.2.2")
    before = cloud.drops(P, "FORWARD_BACK")
    with asking(A, "192.0.2.77") as sock:
        told(sock, errno.EHOSTUNREACH)
    ktap.true(cloud.drops(P, "FORWARD_BACK") > before, "reason")


@ktap.test
def a_host_of_ipv6_and_one_of_ipv4():
    """One translator: A and a program of net6's on Q."""
    listener = cloud.net6(Q)
    listener.bind((xlat.NET6_Q, 0))
    listener.listen(2)
    with xlat.from_other_a() as near:
        near.connect((xlat.ADDRESS_Q, listener.getsockname()[1]))
        far, peer = listener.accept()
        ktap.equal(peer[0], xlat.A_TO_Q, "who calls")
        cloud.send_while(near, far, 300000, lambda: None)
        cloud.send_while(far, near, 300000, lambda: None)
        far.close()
    listener.close()
    with ipv4(A) as listener, cloud.net6(Q) as near:
        listener.bind((xlat.OTHER_A, 0))
        listener.listen(1)
        near.connect((xlat.A_TO_Q, listener.getsockname()[1]))
        far, peer = listener.accept()
        ktap.equal(peer[0], xlat.ADDRESS_Q, "who calls")
        cloud.send_while(near, far, 300000, lambda: None)
        far.close()


@ktap.test
def a_routing_header_that_is_not_at_its_end():
    """RFC 7915 5.1: Parameter Problem, its pointer at Segments Left."""
    before = xlat.counters(P)["SOURCE_ROUTE"]
    raw = ktap.net6_socket(socket.SOCK_RAW, socket.IPPROTO_RAW, Q)
    heard = ktap.net6_socket(socket.SOCK_RAW, socket.IPPROTO_ICMPV6, Q)
    heard.settimeout(10 * ktap.SCALE)
    routing = struct.pack("!BBBBI", 59, 0, 253, 1, 0)
    packet = cloud.inner(xlat.NET6_Q, xlat.A_TO_Q, routing + b"x" * 16, proto=43)
    raw.sendto(packet, (xlat.A_TO_Q, 0))
    while True:
        message = heard.recv(2000)
        if message[0] == 4:
            break
    ktap.equal(struct.unpack_from("!BBxxI", message), (4, 0, 43), "type, code, pointer")
    ktap.equal(xlat.counters(P)["SOURCE_ROUTE"], before + 1, "reason")
    raw.close()
    heard.close()


@ktap.test
def iperf3_both_ways():
    """An unmodified program that measures."""
    B.popen("iperf3", "-s", "-B", xlat.ADDRESS_B, stdout=-3)
    for words in ((), ("-R",), ("-u", "-b", "5M", "-l", "1200")):
        ktap.wait_for(30, f"iperf3 {' '.join(words)} runs", lambda w=words: "iperf Done" in A.run(
            "iperf3", "-c", xlat.ADDRESS_B, "-t", "2", *w, check=False, timeout=60))


@ktap.test
def many_senders_at_a_time():
    threads = [threading.Thread(target=cloud.tcp, args=(ipv4(a), ipv4(b), address, 100000))
               for a, b, address in ((A, B, xlat.ADDRESS_B), (B, A, xlat.ADDRESS_A)) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


ktap.main(setup=setup)
