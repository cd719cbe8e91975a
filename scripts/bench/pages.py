# SPDX-License-Identifier: GPL-2.0
"""The tables of figures in README.md and Documentation/cost.rst, from results.

A page has a table between two comments, "figures begin: NAME" and "figures end". Below the first
is a line that says where the figures come from. Both that line and the table are written anew.
The prose around them is not.
"""
import os
import re

import results

BEGIN = re.compile(r"^(<!-- figures begin: (.+) -->|\.\. figures begin: (.+))$")
END = re.compile(r"^(<!-- figures end -->|\.\. figures end)$")
IPS = ("ipv4", "native", "net6")
TWO = ("native", "net6")
WEB = ("nginx", "khttpd")
BULK, SOCKET = "iperf3 TCP, per KB", "socket() + close()"
TCP = (BULK, "TCP round trip, 1 B", "TCP round trip, 1 KB", "TCP round trip, 64 KB",
       "TCP connect, exchange 1 B, close", "TCP connect, close", SOCKET)
UDP = ("UDP round trip, 1 B", "UDP connect, exchange 1 B, close", "UDP socket() + close()",
       "UDP 44 * 1452 B by GSO, GRO", "UDP 44 * 1452 B by GSO")
NEW = ("the same again", "new destination", "new neighbor")
SIDES = ("sender", "receiver")
KEPT, EACH, HEADS = "keep-alive", "connection a request", "keep-alive, 100 heads"


class Figures:
    """What one experiment has found."""

    def __init__(self, kept, name):
        self.entry = kept["experiments"][name]
        self.rows = self.entry["rows"]

    def value(self, figure, stack, **case):
        for row in self.rows:
            if row.get("figure") == figure and row["stack"] == stack and row["case"] == case:
                return results.value_of(row)
        return None

    def cases(self, figure, **part):
        """Those of a figure that contain @part, in the order in which they were found."""
        found = []
        for row in self.rows:
            case = row.get("case")
            if row.get("figure") == figure and part.items() <= case.items() and \
                    case not in found:
                found.append(case)
        return found


def number(value, digits=None):
    if value is None:
        return "-"
    return f"{value:,.{(1 if value < 1000 else 0) if digits is None else digits}f}"


def ratio(over, under):
    return f"{over / under:.2f}" if over and under else "-"


def grid(lines):
    """Cells in columns: the first to the left, others to the right."""
    wide = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join([line[0].ljust(wide[0]), *map(str.rjust, line[1:], wide[1:])]).rstrip()
            for line in lines]


def by_stack(figures, operations, label=str):
    lines = [["instructions, both ends", *IPS, "ipv4/net6", "native/net6"]]
    for operation in operations:
        values = [figures.value("whole", stack, operation=operation) for stack in IPS]
        lines.append([label(operation), *map(number, values), ratio(values[0], values[2]),
                      ratio(values[1], values[2])])
    return grid(lines)


def cost(kept):
    return by_stack(Figures(kept, "cost"), TCP)


def udp(kept):
    return by_stack(Figures(kept, "cost"), UDP)


def new(kept):
    figures = Figures(kept, "cost")
    base = {s: figures.value("whole", s, operation=f"UDP round trip, 1 B, {NEW[0]}") for s in TWO}
    lines = [["UDP round trip, 1 B", *TWO, "more: native", "net6"]]
    for what in NEW:
        values = [figures.value("whole", s, operation=f"UDP round trip, 1 B, {what}") for s in TWO]
        more = ["", ""] if what == NEW[0] else [number(v - base[s]) for s, v in zip(TWO, values)]
        lines.append([what, *map(number, values), *more])
    return grid(lines)


def parts(figures, operation, columns):
    """[part, value...] for (stack, sides) columns; those of the most instructions first."""
    found = []
    for name in dict.fromkeys(c["part"] for c in figures.cases("parts", operation=operation)):
        values = [sum(figures.value("parts", stack, operation=operation, side=side, part=name) or 0
                      for side in sides) for stack, sides in columns]
        if any(values):
            found.append((name, values))
    found.sort(key=lambda line: -line[1][-1] if line[0] != "the rest" else 1)
    found.append(("sum", [sum(column) for column in zip(*(values for _, values in found))]))
    return found


def bulk(kept):
    columns = [(stack, sides) for sides in (SIDES[:1], SIDES[1:], SIDES) for stack in TWO]
    lines = [["instructions per KB", "sender native", "net6", "receiver native", "net6",
              "both native", "net6"]]
    lines += [[name, *(number(v, 1) for v in values)]
              for name, values in parts(Figures(kept, "cost"), BULK, columns)]
    return grid(lines)


def sockets(kept):
    columns = [(stack, ("both",)) for stack in IPS]
    lines = [["instructions each", *IPS]]
    lines += [[name, *(number(v, 0) for v in values)]
              for name, values in parts(Figures(kept, "cost"), SOCKET, columns)]
    return grid(lines)


def functions(figures, operation, sides, stacks, own):
    """{function: [value...]} of the stack's own, or of the kernel's; by the most, others last."""
    found = {}
    for case in figures.cases("functions", operation=operation):
        if (case["part"] == "the stack") == own:
            column = sides.index(case["side"]) * len(stacks)
            for n, stack in enumerate(stacks):
                value = figures.value("functions", stack, **case)
                if value:
                    cells = found.setdefault(case["function"], [0] * len(sides) * len(stacks))
                    cells[column + n] += value
    return sorted(found.items(), key=lambda i: (i[0] == "all others", -sum(i[1])))


def beside(left, right, gap=4):
    """Two lists of lines side by side."""
    wide = max(map(len, left)) + gap
    left, right = left + [""] * (len(right) - len(left)), right + [""] * (len(left) - len(right))
    return [(one.ljust(wide) + other).rstrip() for one, other in zip(left, right)]


def few(value, least, digits):
    return number(value, digits) if value >= least else "-"


def bulk_stack(kept):
    halves = []
    for stack in TWO:
        lines = [[stack, *SIDES]]
        lines += [[name, *(few(v, 2, 1) for v in values)] for name, values in
                  functions(Figures(kept, "cost"), BULK, SIDES, [stack], True)
                  if name == "all others" or max(values) >= 2]
        halves.append(grid(lines))
    return beside(*halves)


def bulk_kernel(kept):
    lines = [["the kernel's own", "sender native", "net6", "receiver native", "net6"]]
    lines += [[name, *(number(v, 1) if v else "-" for v in values)] for name, values in
              functions(Figures(kept, "cost"), BULK, SIDES, TWO, False)
              if name != "all others" and max(values) >= 3]
    return grid(lines)


def sockets_stack(kept):
    found = functions(Figures(kept, "cost"), SOCKET, ("both",), TWO, True)
    return grid([["", *TWO]] + [[name, *(number(v, 0) if v else "-" for v in values)]
                                for name, values in found])


def sockets_kernel(kept):
    found = [[name, *(number(v, 0) if v else "-" for v in values)] for name, values in
             functions(Figures(kept, "cost"), SOCKET, ("both",), TWO, False)
             if name != "all others"]
    half = (len(found) + 1) // 2
    return beside(grid([["", *TWO]] + found[:half]), grid([["", *TWO]] + found[half:]))


def size(octets):
    if octets >= 1 << 20:
        return f"{octets >> 20} MB"
    return f"{octets >> 10} KB" if octets >= 1024 else f"{octets} B"


def request(case):
    what = {KEPT: "kept", HEADS: "kept, 100 heads", EACH: "connection each",
            f"handed over, {KEPT}": "handed over, kept",
            f"handed over, {EACH}": "handed over, connection"}[case["what"]]
    return f"{what}, {size(case['bytes'])}" if case["bytes"] else what


def shown(figures):
    return [case for case in figures.cases("whole") if "offered" not in case["what"]]


def servers(kept):
    figures = Figures(kept, "servers")
    lines = [["", "whole: nginx", "khttpd", "", "server: nginx", "khttpd", ""]]
    for case in shown(figures):
        line = [f"{case['over']}, {request(case)}"]
        for figure in ("whole", "server"):
            values = [figures.value(figure, server, **case) for server in WEB]
            line += [*map(number, values), ratio(*values)]
        lines.append(line)
    return grid(lines)


def web(kept):
    """Both sides, for README.md."""
    figures = Figures(kept, "servers")
    lines = [["instructions per request, both ends", *WEB, "nginx/khttpd"]]
    for case in shown(figures):
        if case["bytes"] in (1024, 65536, 1048576):
            values = [figures.value("whole", server, **case) for server in WEB]
            lines.append([f"{case['over']}, {request(case)}", *map(number, values),
                          ratio(*values)])
    return grid(lines)


# As servers.py and peers.py have them; the last one is none for HTTP.
PEERS = {"nginx": "nginx", "nginx, sendfile off": "without sendfile", "lighttpd": "lighttpd",
         "h2o": "h2o", "haproxy": "haproxy", "epoll floor": "floor"}
PEER_CASES = ((KEPT, 1024), (HEADS, 1024), (KEPT, 65536), (EACH, 1024))


def peers(kept):
    """The server's side of all servers, and the cheapest one that is for HTTP."""
    figures = Figures(kept, "servers")
    lines = [["", "khttpd", *PEERS.values(), "cheapest/khttpd"]]
    for over in ("net6", "native"):
        for what, octets in PEER_CASES:
            case = {"what": what, "bytes": octets, "over": over}
            ours, *values = [figures.value("server", server, **case)
                             for server in ("khttpd", *PEERS)]
            web = [value for value in values[:-1] if value]
            lines.append([f"{over}, {request(case)}", *(number(v, 0) for v in (ours, *values)),
                          ratio(min(web), ours) if web else "-"])
    return grid(lines)


def moved(kept):
    figures = Figures(kept, "servers")
    lines = [["native nginx / khttpd on net6", "whole", "server"]]
    for case in shown(figures):
        if case["over"] == "net6":
            more = {"what": case["what"], "bytes": case["bytes"]}
            lines.append([request(case), *(ratio(*(figures.value("moved", server, side=side, **more)
                                                   for server in WEB))
                                           for side in ("whole", "server"))])
    return grid(lines)


def requests(kept):
    """Where the instructions of a request for 1 KB are, on the server's side."""
    figures = Figures(kept, "servers")
    cases = [("net6", KEPT), ("native", KEPT), ("net6", EACH)]
    found = {}
    for over, what in cases:
        for case in figures.cases("parts", over=over, what=what, bytes=1024, side="server"):
            found.setdefault(case["part"], {})[over, what] = [
                figures.value("parts", server, **case) or 0 for server in WEB]
    empty = [0, 0]
    lines = [["", *(word for over, what in cases for word in WEB)]]
    order = sorted(found, key=lambda part: -sum(found[part].get(cases[0], empty))
                   if part != "the rest" else 1)
    table = [[part, *(v for case in cases for v in found[part].get(case, empty))]
             for part in order]
    lines += [[part, *(number(v, 0) for v in values)] for part, *values in table]
    sums = [sum(column) for column in list(zip(*table))[1:]]
    lines.append(["sum", *(number(v, 0) for v in sums)])
    lines = grid(lines)
    heads = [f"{over}, {'kept' if what == KEPT else 'connection each'}" for over, what in cases]
    return [f"nginx and khttpd in turn: {'; '.join(heads)}", *lines]


SCALE = (("UDP round trip; sockets of one port on other addresses", "UDP round trip"),
         ("UDP round trip; sockets of the same address and port with other peers",
          "UDP round trip, connected"),
         ("TCP connect, exchange, close; listeners likewise", "TCP connect, exchange, close"),
         ("bind and listen of one of them", "bind and listen"),
         ("forwarding to a new destination; addresses of the interface",
          "forwarding, new destination"),
         ("khttpd on net6, kept 1 KB; virtual hosts of two names", "kept 1 KB, virtual hosts"),
         ("khttpd on net6, kept 1 KB; different heads in turn", "kept 1 KB, heads in turn"))


def scale(kept):
    figures, lines, before = Figures(kept, "scale"), [], None
    for row, name in SCALE:
        sizes = [case["size"] for case in figures.cases("cost", row=row)]
        sizes = sorted(set(sizes))
        if sizes != before:
            lines.append(["", *(f"{n:,}" for n in sizes)])
            before = sizes
        web = figures.value("cost", "nginx", row=row, size=sizes[0]) is not None
        ours, peer = ("net6", "nginx") if web else ("net6", "native")
        lines.append([name, *(f"{number(figures.value('cost', ours, row=row, size=n), 0)} "
                              f"({number(figures.value('cost', peer, row=row, size=n), 0)})"
                              for n in sizes)])
    return grid(lines)


def memory(kept):
    figures = Figures(kept, "memory")
    lines = [["octets of one", *TWO, "native/net6"]]
    for case in figures.cases("stack"):
        values = [figures.value("stack", stack, **case) for stack in TWO]
        lines.append([case["of"], *(number(v, 0) for v in values), ratio(*values)])
    return grid(lines)


def memory_servers(kept):
    figures = Figures(kept, "memory")
    where = [f"{server} on {stack}" for server in WEB for stack in TWO]
    lines = [["octets of one", *where]]
    lines += [[case["of"], *(number(figures.value("server", one, **case), 0) for one in where)]
              for case in figures.cases("server")]
    return grid(lines)


HTTPS = ("khttpd", "nginx", "nginx, kTLS", "lighttpd", "lighttpd, kTLS", "h2o", "haproxy")


def https(kept):
    """The server's side; a handshake's case has the request for 1 KB in it."""
    figures = Figures(kept, "tls")
    cases = sorted(figures.cases("server"), key=lambda case: (case["what"] != "kept", case["bytes"]))
    lines = [["instructions, the server's side",
              *(word for case in cases for word in (
                  f"kept {size(case['bytes'])}" if case["what"] == "kept" else "handshake",
                  "ratio"))]]
    ours = [figures.value("server", HTTPS[0], **case) for case in cases]
    for server in HTTPS:
        values = [figures.value("server", server, **case) for case in cases]
        lines.append([server, *(word for value, one in zip(values, ours) for word in (
            number(value, 0), "" if server == HTTPS[0] else ratio(value, one)))])
    return grid(lines)


def https_parts(kept):
    """Where they are, of a kept request for 1 KB and of a handshake with one."""
    figures = Figures(kept, "tls")
    columns = [(case, server) for case in figures.cases("server", bytes=1024)
               for server in HTTPS[:3]]
    table = {}
    for at, (case, server) in enumerate(columns):
        for part in figures.cases("parts", **case):
            line = table.setdefault(part["part"], [0] * len(columns))
            line[at] = figures.value("parts", server, **part) or 0
    lines = [["kept 1 KB, and a handshake with it", *HTTPS[:3] * (len(columns) // 3)]]
    lines += [[part, *(number(v, 0) for v in values)] for part, values in
              sorted(table.items(), key=lambda i: (i[0] == "the rest", -sum(i[1][:3])))
              if any(values)]
    return grid(lines)


TABLES = {"TCP": (cost, "cost"), "bulk": (bulk, "cost"), "bulk, the stack": (bulk_stack, "cost"),
          "bulk, the kernel": (bulk_kernel, "cost"), "sockets": (sockets, "cost"),
          "sockets, the stack": (sockets_stack, "cost"),
          "sockets, the kernel": (sockets_kernel, "cost"), "UDP": (udp, "cost"),
          "new": (new, "cost"), "servers": (servers, "servers"), "web": (web, "servers"),
          "peers": (peers, "servers"),
          "moved": (moved, "servers"),
          "requests": (requests, "servers"), "scale": (scale, "scale"),
          "memory": (memory, "memory"), "memory, servers": (memory_servers, "memory"),
          "HTTPS": (https, "tls"), "HTTPS, parts": (https_parts, "tls")}


def source(kept, experiment, code):
    entry = kept["experiments"][experiment]
    made, quick = entry["made"], "--quick " if entry["quick"] else ""
    commit = " ".join(filter(None, (made["commit"], made["changed"])))
    return f"By {code}bench.py run {quick}{experiment}{code} at {commit}"


def table(kept, name, markdown):
    """Its lines; None if the experiment is not among the results."""
    make, experiment = TABLES[name]
    if experiment not in kept["experiments"]:
        return None
    lines = make(kept)
    if markdown:
        return [source(kept, experiment, "`") + ":", "", "```", *lines, "```"]
    return ["", source(kept, experiment, "``") + "::", "",
            *(("    " + line).rstrip() for line in lines), ""]


def fill(path, kept):
    """Writes a page's tables anew. Returns how many; those of absent experiments stay."""
    with open(path, encoding="utf-8") as file:
        text = file.read().splitlines()
    out, inside, done = [], None, 0
    for line in text:
        begin, end = BEGIN.match(line), END.match(line)
        if begin:
            inside = table(kept, begin.group(2) or begin.group(3), bool(begin.group(2)))
            out += [line, *(inside or [])]
            done += bool(inside)
        elif end or not inside:
            inside = None if end else inside
            out.append(line)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")
    return done


def fill_all(top, kept):
    return sum(fill(os.path.join(top, page), kept)
               for page in ("README.md", "Documentation/cost.rst"))
