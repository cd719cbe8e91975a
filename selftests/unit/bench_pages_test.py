#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""scripts/bench/pages.py: tables of results in pages. KTAP on standard output."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "..", "scripts", "bench")]
import pages		# noqa: E402
import unitktap		# noqa: E402

PAGE = """before

.. figures begin: scale
By ``bench.py run scale`` at an older commit::

    old

.. figures end

<!-- figures begin: UDP -->
kept: no such experiment
<!-- figures end -->
after
"""


def row(figure, case, stack, *values):
    return {"figure": figure, "case": case, "stack": stack, "unit": "instructions",
            "values": list(values)}


def kept(name, rows, quick=False):
    made = {"commit": "0123456", "changed": "", "date": "2026-01-01 00:00 UTC", "kernel": "6.1"}
    return {"experiments": {name: {"rows": rows, "quick": quick, "made": made}}}


def scale(quick=False):
    rows = []
    for name, _ in pages.SCALE:
        peer, ours = ("nginx", "net6") if "khttpd" in name else ("native", "net6")
        for size in (1000, 0):
            rows += [row("cost", {"row": name, "size": size}, stack, size + value)
                     for stack, value in ((peer, 40000), (ours, 20000))]
    return kept("scale", rows, quick)


class Pages(unittest.TestCase):
    def filled(self, text, results):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "page")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = pages.fill(path, results)
            with open(path, encoding="utf-8") as file:
                return done, file.read()

    def test_only_what_was_measured_is_replaced(self):
        done, text = self.filled(PAGE, scale())
        self.assertEqual(done, 1)
        self.assertNotIn("old", text)
        self.assertIn("kept: no such experiment", text)
        self.assertEqual(text.split("\n")[0], "before")
        self.assertEqual(text.split("\n")[-2], "after")

    def test_twice_is_the_same(self):
        _, once = self.filled(PAGE, scale())
        self.assertEqual(self.filled(once, scale())[1], once)

    def test_commit_and_kind_of_run_are_said(self):
        self.assertIn("By ``bench.py run --quick scale`` at 0123456::",
                      self.filled(PAGE, scale(True))[1])

    def test_sizes_are_in_order(self):
        lines = pages.scale(scale())
        self.assertEqual(lines[0].split(), ["0", "1,000"])
        self.assertEqual(lines[1].split()[-4:], ["20,000", "(40,000)", "21,000", "(41,000)"])

    def test_a_ratio_of_what_is_absent(self):
        figures = [row("whole", {"operation": pages.BULK}, "native", 900.5),
                   row("whole", {"operation": pages.BULK}, "net6", 450.25)]
        line = pages.cost(kept("cost", figures))[1].split()
        self.assertEqual(line[-5:], ["-", "900.5", "450.2", "-", "2.00"])

    def test_shares_add_up(self):
        rows = [row("parts", {"operation": pages.SOCKET, "side": "both", "part": part}, stack, n)
                for stack in pages.IPS for part, n in (("memory", 2), ("the rest", 9), ("files", 5))]
        lines = [line.split() for line in pages.sockets(kept("cost", rows))]
        self.assertEqual([line[0] for line in lines[1:]], ["files", "memory", "the", "sum"])
        self.assertEqual(lines[-1], ["sum", "16", "16", "16"])

    def test_requests(self):
        rows = []
        for over in ("net6", "native"):
            for what in (pages.KEPT, pages.EACH, "6000 connections offered a second"):
                case = {"what": what, "bytes": 1024, "over": over}
                for server, n in (("nginx", 6000), ("khttpd", 2000)):
                    rows += [row(figure, case, server, n) for figure in ("whole", "server")]
                    rows.append(row("parts", dict(case, side="server", part="memory"), server, n))
                    rows += [row("moved", {"what": what, "bytes": 1024, "side": side}, server, n)
                             for side in ("whole", "server")]
        results = kept("servers", rows)
        self.assertEqual(len(pages.servers(results)), 5)
        self.assertEqual(pages.servers(results)[1].split(),
                         ["net6,", "kept,", "1", "KB", "6,000", "2,000", "3.00", "6,000", "2,000",
                          "3.00"])
        self.assertEqual(pages.moved(results)[2].split()[-2:], ["3.00", "3.00"])
        self.assertEqual(pages.requests(results)[-1].split(), ["sum"] + ["6,000", "2,000"] * 3)

    def test_the_cheapest_peer_is_a_web_server(self):
        case = {"what": pages.KEPT, "bytes": 1024, "over": "net6"}
        rows = [row("server", case, server, n) for server, n in (
            ("khttpd", 2000), ("nginx", 9000), ("lighttpd", 6000), ("epoll floor", 3000))]
        lines = [line.split() for line in pages.peers(kept("servers", rows))]
        self.assertEqual(len(lines), 9)
        self.assertEqual(lines[1][4:], ["2,000", "9,000", "-", "6,000", "-", "-", "3,000", "3.00"])
        self.assertEqual(lines[2][-1], "-")

    def test_all_names_in_the_pages_exist(self):
        names = []
        for page in ("README.md", "Documentation/cost.rst"):
            with open(os.path.join(HERE, "..", "..", page), encoding="utf-8") as file:
                found = [pages.BEGIN.match(line) for line in file.read().splitlines()]
            names += [m.group(2) or m.group(3) for m in found if m]
        self.assertEqual(set(names), set(pages.TABLES))


if __name__ == "__main__":
    sys.exit(unitktap.main())
