#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The stateless translator where net6 is the host's only IPv6: what unmodified programs see of it.
# The topology is drawn in lib/xlat.py.
# guest: stock
# guest-append: ipv6.disable=1
# timeout: 200
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import cloud  # pylint: disable=wrong-import-position
import ktap  # pylint: disable=wrong-import-position
import xlat  # pylint: disable=wrong-import-position
from xlat import A, B, Q, ipv4  # pylint: disable=wrong-import-position


@ktap.test
def programs_of_ipv4():
    ktap.wait_for(20, "A reaches B", lambda: "1 received" in A.run(
        "ping", "-n", "-c", "1", "-W", "1", xlat.ADDRESS_B, check=False))
    cloud.tcp(ipv4(A), ipv4(B), xlat.ADDRESS_B)
    cloud.tcp(ipv4(B), ipv4(A), xlat.ADDRESS_A)
    cloud.udp(ipv4(A, 2), ipv4(B, 2), xlat.ADDRESS_B)


@ktap.test
def a_trace():
    text = A.run("traceroute", "-n", "-q", "1", "-w", "5", "-m", "8", xlat.ADDRESS_B, timeout=60)
    ktap.diag(text)
    ktap.equal(len(re.findall(r"^ *\d+ +\d+\.", text, re.M)), 5, "hops")


@ktap.test
def programs_of_ipv6_with_one_of_ipv4():
    ktap.wait_for(20, "Q reaches A", lambda: "1 received" in Q.run(
        "ping", "-6", "-n", "-c", "1", "-W", "1", xlat.A_TO_Q, check=False))
    listener = cloud.native(Q)
    listener.bind((xlat.NET6_Q, 0))
    listener.listen(1)
    with xlat.from_other_a() as near:
        near.connect((xlat.ADDRESS_Q, listener.getsockname()[1]))
        far, peer = listener.accept()
        ktap.equal(peer[0], xlat.A_TO_Q, "who calls")
        cloud.send_while(near, far, 300000, lambda: None)
        cloud.send_while(far, near, 300000, lambda: None)
        far.close()
    listener.close()
    with ipv4(A) as listener:
        listener.bind((xlat.OTHER_A, 0))
        listener.listen(1)
        near = cloud.native(Q)
        near.connect((xlat.A_TO_Q, listener.getsockname()[1]))
        far, peer = listener.accept()
        ktap.equal(peer[0], xlat.ADDRESS_Q, "who calls")
        near.sendall(b"from IPv6")
        ktap.equal(ktap.take(far, 9), b"from IPv6", "what comes")
        near.shutdown(socket.SHUT_RDWR)
        far.close()
        near.close()


ktap.main(setup=xlat.setup)
