# SPDX-License-Identifier: GPL-2.0
"""Programs that look at the network, or fill it: ping, traceroute, iperf3 and the like."""
import socket
import subprocess

import ktap
import programs as p


def ping():
    p.need("ping")
    out = p.client("ping", "-6", "-n", "-c", "3", "-i", "0.2", "-s", "3000", "-W", "10", p.SERVER)
    ktap.true(" 0% packet loss" in out, out)


def traceroute():
    p.need("traceroute")
    for method in ((), ("-I",), ("-T", "-p", "9")):
        out = p.client("traceroute", "-6", "-n", "-q", "1", "-w", "5", *method, p.SERVER)
        ktap.true(f" 1  {p.SERVER} " in out, f"{method}: {out}")


def tracepath():
    p.need("tracepath")
    out = p.client("tracepath", "-6", "-n", p.SERVER)
    ktap.true("reached" in out and "pmtu 1500" in out, out)


def mtr():
    p.need("mtr")
    out = p.client("mtr", "-6", "-n", "-r", "-c", "2", "-i", "0.3", p.SERVER)
    ktap.true(p.SERVER in out and " 0.0%" in out, out)


def tcpdump():
    p.need("tcpdump", "ping")
    process = p.A.popen("tcpdump", "-i", "a0", "-n", "-l", "-c", "2", "icmp6 and ip6[40] >= 128 "
                        "and ip6[40] <= 129", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        text=True)
    line = process.stderr.readline()
    while line and "listening" not in line:
        line = process.stderr.readline()
    p.client("ping", "-6", "-c", "1", "-W", "10", p.SERVER)
    out = process.communicate(timeout=30 * ktap.SCALE)[0]
    ktap.true("echo request" in out and "echo reply" in out, out)


def iperf3():
    p.need("iperf3")
    number = p.port()
    p.server("iperf3", "-6", "-s", "-p", number)
    p.listening(number)
    for how in (("-P", "8", "-n", "256K"), ("-Z", "-n", "1M"), ("-R", "-Z", "-n", "1M"),
                ("-u", "-b", "4M", "-n", "200K"), ("-u", "-R", "-b", "4M", "-n", "200K")):
        out = p.client("iperf3", "-6", "-c", p.SERVER, "-p", number, *how)
        ktap.true("iperf Done" in out, out)


def nuttcp():
    p.need("nuttcp")
    number = p.port()
    p.server("nuttcp", "-6", "-S", "--nofork", "-P", number)
    p.listening(number)
    out = p.client("nuttcp", "-6", "-P", number, "-p", p.port(), "-n", "16", p.SERVER)
    ktap.true("Mbps" in out, out)


def socat():
    p.need("socat")
    for kind, kernel in (("TCP6", socket.SOCK_STREAM), ("UDP6", socket.SOCK_DGRAM)):
        number = p.port()
        p.server("socat", f"{kind}-LISTEN:{number},fork", "PIPE")
        p.listening(number, kernel)
        out = p.client("bash", "-c", f"echo over {kind} | socat -t 10 - "
                       f"'{kind}:[{p.SERVER}]:{number}'")
        ktap.true(f"over {kind}" in out, out)


def ncat():
    p.need("ncat")
    number = p.port()
    with open(p.path("ncat"), "wb") as file:
        process = p.server("ncat", "-6", "-l", number, "--recv-only", stdout=file)
        p.listening(number)
        p.client("bash", "-c", f"ncat -6 --send-only {p.SERVER} {number} < {p.path('data')}")
        process.wait(60 * ktap.SCALE)
    p.same("ncat")
