#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""scripts/bench without a guest: results, comparison, the plugin's counts, and the page when
matplotlib is installed. KTAP on standard output."""
import glob
import json
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "..", "scripts", "bench")]
import bench		# noqa: E402
import cpus		# noqa: E402
import guests		# noqa: E402
import memory		# noqa: E402
import results		# noqa: E402
import sweep		# noqa: E402
import unitktap		# noqa: E402
import xie1999		# noqa: E402


def row(figure, case, stack, *values, unit="instructions"):
    return {"figure": figure, "case": case, "stack": stack, "unit": unit, "values": list(values)}


def kept(*rows, status="complete", lacks=()):
    made = {"date": "2026-01-01 00:00 UTC", "commit": "0123456", "changed": False, "kernel": "6.1"}
    return {"format": 1, "made": made, "experiments": {"zeadally2003": {
        "status": status, "lacks": list(lacks), "rows": list(rows), "seconds": 1, "made": made}}}


class Numbers(unittest.TestCase):
    def test_extremes_of_many_runs_do_not_count(self):
        cell = {"values": [5, 4, 6, 5, 900, 5, 4, 6, 5, 1]}
        self.assertEqual(results.value_of(cell), 5)
        # All runs are what is shown, and how far the mean may be off what is compared.
        self.assertGreater(results.spread_of(cell), 280)
        self.assertLess(results.error_of(cell), 0.5)
        few = {"values": cell["values"][:9]}
        self.assertEqual(results.value_of(few), sum(few["values"]) / 9)
        two = {"values": [3385, 2085, 3385, 3385, 3385, 3385, 3385, 3385, 2106, 3385]}
        self.assertEqual(results.value_of(two), 3385)
        many = {"values": [5] * 10 + [0, 1, 2, 100, 200, 300]}
        self.assertEqual(results.value_of(many), 5)

    def test_deviation(self):
        self.assertEqual(results.deviation([5]), 0)
        self.assertAlmostEqual(results.deviation([1, 2, 3, 4]), 1.290994, 5)

    def test_error_of_a_mean(self):
        self.assertEqual(results.error_of({"values": [7]}), 0)
        self.assertAlmostEqual(results.error_of({"values": [1, 2, 3, 4]}), 1.290994 / 2, 5)
        drawn_in = [3, 3, 3, 4, 5, 6, 7, 8, 8, 8]
        self.assertAlmostEqual(results.error_of({"values": list(range(1, 11))}),
                               results.deviation(drawn_in) * 10 / 6 / 10 ** 0.5)

    def test_fit(self):
        base, slope = results.fit([(0, 10), (1, 12), (2, 14)])
        self.assertAlmostEqual(base, 10)
        self.assertAlmostEqual(slope, 2)
        # A hundredth off at the far end moves the near one by no more.
        base, _ = results.fit([(0, 10), (1, 12), (2, 14), (1000, 2010 * 1.01)])
        self.assertLess(abs(base - 10), 0.1)

    def test_boots_together(self):
        cell = {"figure": "f", "case": {}, "stack": "net6", "unit": "us"}
        one = {"status": "complete", "lacks": [], "seconds": 3, "rows": [dict(cell, values=[1])]}
        two = {"status": "partial", "lacks": ["x"], "seconds": 4, "rows": [dict(cell, values=[2])]}
        found = results.together([one, two])
        self.assertEqual((found["status"], found["lacks"], found["seconds"]), ("partial", ["x"], 7))
        self.assertEqual([r["values"] for r in found["rows"]], [[1, 2]])
        self.assertEqual(results.together([one, one])["status"], "complete")

    def test_number(self):
        self.assertEqual([results.number(v) for v in (12345.6, 123.45, 1.2345)],
                         ["12346", "123.5", "1.23"])


class Collect(unittest.TestCase):
    def test_merges_cells(self):
        rows, lacks, complete, _ = results.collect([
            json.dumps(row("f", {"a": 1}, "net6", 1)), json.dumps(row("f", {"a": 1}, "net6", 3)),
            json.dumps({"lack": "x"}), json.dumps({"complete": True})])
        self.assertEqual(rows[0]["values"], [1, 3])
        self.assertEqual((len(rows), lacks, complete), (1, ["x"], True))

    def test_guest_that_died(self):
        rows, _, complete, _ = results.collect([json.dumps(row("f", {}, "net6", 1)), '{"figure": "f'])
        self.assertEqual((len(rows), complete), (1, False))


class Files(unittest.TestCase):
    def test_round_trip(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/r.json"
            results.save(path, kept(row("f", {}, "net6", 1)))
            self.assertEqual(results.load(path)["experiments"]["zeadally2003"]["rows"][0]["values"],
                             [1])

    def test_full_disk_keeps_the_old(self):
        class Full:
            def __init__(self, *_, **__):
                raise OSError(28, "No space left on device")
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/r.json"
            results.save(path, kept())
            real, results.json.dump = results.json.dump, Full
            try:
                self.assertRaises(OSError, results.save, path, kept(row("f", {}, "net6", 1)))
            finally:
                results.json.dump = real
            self.assertEqual(results.load(path)["experiments"]["zeadally2003"]["rows"], [])
            self.assertEqual(os.listdir(folder), ["r.json"])

    def test_no_result_file(self):
        for text in ("hello", '{"format": 1}', '{"format": 2, "made": {}, "experiments": {}}', "[]"):
            with tempfile.NamedTemporaryFile("w") as f:
                f.write(text)
                f.flush()
                self.assertRaises(results.BadResults, results.load, f.name)


class Diff(unittest.TestCase):
    def compare(self, old, new, **options):
        return results.diff(kept(*old), kept(*new), **options)

    def test_same(self):
        rows = [row("f", {}, "ipv4", 100), row("f", {}, "net6", 90)]
        flagged, compared, single = self.compare(rows, rows)
        self.assertEqual((flagged, compared, single), ([], 3, []))

    def test_change_is_flagged(self):
        flagged, _, _ = self.compare([row("f", {}, "ipv4", 100), row("f", {}, "net6", 90)],
                                     [row("f", {}, "ipv4", 100), row("f", {}, "net6", 99)])
        self.assertEqual([round(item[3], 2) for item in flagged], [10.0, -9.09])
        self.assertEqual(flagged[1][0][0], "ratio")

    def test_within_the_error_is_not(self):
        old, new = (80, 100, 120), (90, 110, 130)
        flagged, _, _ = self.compare([row("f", {}, "net6", *old)], [row("f", {}, "net6", *new)])
        self.assertEqual(flagged, [])
        # The same spread of forty times as many runs leaves no doubt.
        flagged, _, _ = self.compare([row("f", {}, "net6", *40 * old)],
                                     [row("f", {}, "net6", *40 * new)])
        self.assertEqual([round(item[3], 2) for item in flagged], [10.0])

    def test_from_zero_and_to_zero(self):
        flagged, compared, _ = self.compare(
            [row("f", {}, "net6", 0), row("g", {}, "net6", 5), row("h", {}, "net6", 0)],
            [row("f", {}, "net6", 9), row("g", {}, "net6", 0), row("h", {}, "net6", 0)])
        self.assertEqual((sorted(item[3] for item in flagged), compared),
                         ([float("-inf"), float("inf")], 3))

    def test_errors_are_compared(self):
        flagged, _, _ = self.compare([row("f", {}, "net6", 0, unit="errors")],
                                     [row("f", {}, "net6", 5000, unit="errors")])
        self.assertEqual(len(flagged), 1)
        text, _ = results.diff_text(kept(row("f", {}, "net6", 0, unit="errors")),
                                    kept(row("f", {}, "net6", 5000, unit="errors")))
        self.assertIn("+inf %", text)

    def test_threshold(self):
        old, new = [row("f", {}, "net6", 100)], [row("f", {}, "net6", 102)]
        self.assertEqual(self.compare(old, new)[0], [])
        self.assertEqual(len(self.compare(old, new, over=1.0)[0]), 1)

    def test_in_one_only_and_partial(self):
        text, changed = results.diff_text(kept(row("f", {"bytes": 64}, "net6", 1)),
                                          kept(status="partial"))
        self.assertTrue(changed)
        self.assertIn("in one only", text)
        self.assertIn("64 bytes", text)
        self.assertIn("the new zeadally2003 is partial", text)

    def test_nothing_in_common_is_no_agreement(self):
        for old, new in ((kept(), kept()), (kept(), kept(row("f", {}, "net6", 1)))):
            self.assertTrue(results.diff_text(old, new)[1])
        same = kept(row("f", {}, "net6", 1))
        self.assertFalse(results.diff_text(same, same)[1])

    def test_zero_and_counts_have_no_ratio(self):
        rows = [row("f", {}, "ipv4", 0), row("f", {}, "net6", 1),
                row("g", {}, "ipv4", 5, unit="errors"), row("g", {}, "net6", 1, unit="errors")]
        self.assertEqual(results.ratios(kept(*rows)), {})

    def test_agreement_asks_for_every_ratio(self):
        rows = [row("f", {}, "ipv4", 90, 110), row("f", {}, "net6", 100)]
        other = [row("f", {}, "ipv4", 95, 115), row("f", {}, "net6", 100)]
        self.assertEqual(results.agreement(kept(*rows), kept(*rows)), ([], 1, [], []))
        self.assertTrue(results.agreement_text(kept(*rows), kept(*rows))[1])
        differ, compared, _, _ = results.agreement(kept(*rows), kept(*other))
        self.assertEqual((round(differ[0][0], 3), compared), (5.0, 1))
        self.assertEqual(results.agreement(kept(*rows), kept(*other), over=5.1)[0], [])

    def test_partial_and_missing_do_not_agree(self):
        rows = [row("f", {}, "ipv4", 100), row("f", {}, "net6", 100)]
        for new in (kept(*rows, status="partial"), kept(), dict(kept(*rows), experiments={}),
                    kept(*rows, row("g", {}, "ipv4", 1), row("g", {}, "net6", 1))):
            self.assertFalse(results.agreement_text(kept(*rows), new)[1])

    def test_boots(self):
        files = [kept(row("f", {"n": 1}, "ipv4", v - 1, v + 1), row("f", {"n": 1}, "net6", 100),
                      row("f", {"n": v}, "net6", 1)) for v in (100, 102)]
        text = results.boots_text(files).splitlines()
        self.assertEqual(text[0].split()[-3:], ["ipv4", "net6", "ipv4/net6"])
        self.assertEqual(text[1].split(), "1 n 101.0 ± 1.40 % 100.0 ± 0.00 % 1.01 ± 1.40 %".split())
        self.assertEqual(len(text), 2)

    def test_repeatability(self):
        files = [kept(row("f", {"n": 1}, "ipv4", v), row("f", {"n": 1}, "net6", 100))
                 for v in (100, 110)]
        count, median, most, key = results.repeatability(files)["zeadally2003"]
        self.assertEqual((count, key[1], round(median, 4)), (1, "f", 0.0673))
        self.assertEqual(median, most)


class Tables(unittest.TestCase):
    def test_ratio_column(self):
        table = results.tables([row("f", {"bytes": 1}, "ipv4", 300), row("f", {"bytes": 1}, "net6", 200)])
        text = results.table_text(*table[0])
        self.assertIn("ipv4/net6", text.splitlines()[0])
        self.assertTrue(text.splitlines()[1].endswith("1.50"))

    def test_long_names_stay_apart(self):
        table = results.tables([row("f", {"n": 1}, "handed over on native", 3),
                                row("f", {"n": 1}, "khttpd on net6", 2)])
        head, line = results.table_text(*table[0]).splitlines()
        self.assertIn(" handed over on native/khttpd on net6", head)
        self.assertEqual(len(head), len(line))

    def test_missing_cell(self):
        table = results.tables([row("f", {"n": 1}, "ipv4", 3), row("f", {"n": 2}, "net6", 2)])
        self.assertIn("-", results.table_text(*table[0]).splitlines()[1])


class Counts(unittest.TestCase):
    """The plugin's file: one message of each of two dumps, the second torn."""

    COUNTS = """dump 1
event 1 1 500
event 1 1 700
event 1 0 900
event 2 1 20
count 1 0 100
count 1 1010 300
count 1 2000 50
count 3 1000 10
end 1
dump 2
event 1 1 5
"""
    SYMBOLS = "0000000000001000 t skb_checksum\n0000000000002000 T kmem_cache_alloc\n"

    def finish(self, counts):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/out")
            for name, text in (("counts", counts), ("out/kallsyms", self.SYMBOLS)):
                with open(f"{folder}/{name}", "w") as f:
                    f.write(text)
            entries = [{"label": n, "proto": "tcp", "size": 1024, "stack": "net6"}
                       for n in (1, 2)]
            found = xie1999.finish(folder, entries, [])
        return ({(r["figure"],) + tuple(r["case"].values()): r["values"]
                 for r in found if "figure" in r}, [r["lack"] for r in found if "lack" in r])

    def test_torn_anywhere(self):
        """The first message is there as long as its end is; what is not there is lacking."""
        ends = self.COUNTS.index("end 1\n") + len("end 1\n")
        for at in range(len(self.COUNTS)):
            rows, lacks = self.finish(self.COUNTS[:at])
            self.assertEqual((("stop", "TCP", 1024) in rows, len(lacks)),
                             (at >= ends - 1, 1 if at >= ends - 1 else 2), self.COUNTS[:at])

    def test_a_boot_is_one_value(self):
        second = self.COUNTS.replace("1 0 900", "1 0 1100")
        self.assertEqual(self.finish(self.COUNTS[:-len("dump 2\nevent 1 1 5\n")] + second)[0][
            "stop", "TCP", 1024], [1000])

    def test_finish(self):
        rows, lacks = self.finish(self.COUNTS)
        self.assertEqual(lacks, ["no counts of tcp 1024 B over net6"])
        self.assertEqual(rows["start", "TCP", 1024], [500])
        self.assertEqual(rows["stop", "TCP", 1024], [900])
        self.assertEqual(rows["split", "TCP", 1024, "send call", "checksum"], [300])
        self.assertEqual(rows["split", "TCP", 1024, "send call", "buffers"], [50])
        self.assertEqual(rows["split", "TCP", 1024, "send call", "the rest"], [100])
        self.assertEqual(rows["functions", "TCP", 1024, "receiver", "skb_checksum"], [100])


class Memory(unittest.TestCase):
    """What the kernel has, by its own tables."""

    SLABINFO = """slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables
NET6-TCP              10     13   2496   13    8 : tunables    0    0    0 : slabdata      1      1      0
kmalloc-64            64     64     64   64    1 : tunables    0    0    0 : slabdata      3      3      0
"""
    ZONEINFO = """Node 0, zone      DMA
  pages free     90
        managed  100
        protection: (0, 2904, 3893, 3893)
  pagesets
    cpu: 0
              count: 5
              high:  28
"""
    VMSTAT = "nr_free_pages 50\nnr_anon_pages 10\nnr_file_pages 20\nnr_page_table_pages 1\n"

    def test_objects_and_pages_of_slabs(self):
        found, pages = memory.slabs(self.SLABINFO)
        self.assertEqual(found, {"NET6-TCP": 24960, "kmalloc-64": 4096})
        self.assertEqual(pages, 11)

    def test_pages_that_nobody_else_has(self):
        self.assertEqual(memory.elsewhere(self.VMSTAT, self.ZONEINFO, 11), 100 - 5 - 11 - 81)

    def test_one_of_many(self):
        self.assertEqual(memory.each({"a": 100, "b": 7}, {"a": 300, "c": 50}, 10),
                         {"a": 20, "b": -0.7, "c": 5})

    def test_what_is_made_is_counted_twice(self):
        made = []
        with mock.patch.object(memory, "now", lambda pids: {"a": 8 * len(made)}):
            found = memory.grown(lambda begin, end: made.extend(range(begin, end)), 10)
        self.assertEqual(found, [{"a": 8}, {"a": 8}])
        self.assertEqual(made, list(range(22)))


class Sweep(unittest.TestCase):
    def test_no_destination_comes_twice(self):
        made = sweep.batch("02:00:00:00:00:01", 0) + sweep.batch("02:00:00:00:00:01", sweep.AT_ONCE)
        self.assertEqual(len({frame[38:54] for frame in made}), 2 * sweep.AT_ONCE)


class Cpus(unittest.TestCase):
    """Who waited for a lock, by a histogram of stacks."""

    HIST = """# event histogram
#
# trigger info: hist:keys=stacktrace:vals=hitcount:sort=hitcount:size=2048 [active]
#

{ stacktrace:
         kprobe_ftrace_handler+0x10b/0x1b0
         0xffffffffc04a30c8
         native_queued_spin_lock_slowpath+0x5/0x200
         _raw_spin_lock_bh+0x2e/0x40
         khttpd_soft_move.part.0+0x21/0x90 [khttpd]
         net6_tcp_rcv+0x3a0/0x620 [net6]
} hitcount:         12
{ stacktrace:
         __mutex_lock.constprop.0+0x3c3/0x740
         do_epoll_wait+0x21/0x90
} hitcount:          3
{ stacktrace:
         native_queued_spin_lock_slowpath+0x5/0x200
         _raw_spin_lock+0x2e/0x40
         khttpd_soft_move+0x71/0x90 [khttpd]
} hitcount:          1
{ stacktrace:
         native_queued_spin_lock_slowpath+0x5/0x2a0
         _raw_spin_lock_irqsave+0x39/0x50
         prepare_to_wait_event+0x20/0x190
         p9_client_rpc+0x15c/0x430 [9pnet]
} hitcount:          9

Totals:
    Hits: 25
"""

    def test_by_who_wants_it(self):
        self.assertEqual(cpus.by_lock(self.HIST),
                         {"khttpd_soft_move [khttpd]": 13, "do_epoll_wait": 3})

    def test_table_has_both_sides(self):
        row = lambda figure, stack, value, **case: {
            "figure": figure, "stack": stack, "values": [value], "case": {"load": "x", **case}}
        rows = [row("sum", "native", 3), row("sum", "net6", 2), row("lock", "net6", 1, lock="f")]
        self.assertEqual(cpus.table(rows), [("x", "all", 2, 3), ("x", "f", 1, None)])


class Guest(unittest.TestCase):
    """The driver against a stand-in for scripts/guest: what a guest leaves is kept."""

    GUEST = """#!/bin/bash
while [ "$1" != --log ]; do shift; done
mkdir -p "$2/out" && cat >"$2/out/rows.jsonl" <<'END'
%s
END
exit %d
"""

    def run_one(self, status, *entries):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/scripts")
            with open(f"{folder}/scripts/guest", "w") as f:
                f.write(self.GUEST % ("\n".join(json.dumps(e) for e in entries), status))
            os.chmod(f"{folder}/scripts/guest", 0o755)
            top, said, made = guests.TOP, guests.say, guests.made
            guests.TOP, self.said = folder, []
            guests.say, guests.made = self.said.append, dict
            try:
                return dict(guests.experiments(["zeadally2003"], f"{folder}/out", True))[
                    "zeadally2003"]
            finally:
                guests.TOP, guests.say, guests.made = top, said, made

    def test_complete(self):
        entry = self.run_one(0, row("connections", {"operation": "x"}, "net6", 1000),
                             {"complete": True})
        self.assertEqual((entry["status"], entry["lacks"]), ("complete", []))
        self.assertEqual(entry["rows"][1]["values"], [500000.0])

    def test_died(self):
        entry = self.run_one(123, row("f", {}, "net6", 1))
        self.assertEqual((entry["status"], len(entry["rows"])), ("partial", 1))
        self.assertIn("the guest died", entry["lacks"][0])

    def test_killed_before_anything(self):
        entry = self.run_one(124)
        self.assertEqual((entry["status"], entry["rows"]), ("partial", []))
        self.assertIn("its time was up", entry["lacks"][0])

    def test_what_the_guest_has_said_is_enough(self):
        entry = self.run_one(1, {"lack": "no lighttpd"}, {"lack": "ended early: a time-out"})
        self.assertEqual(entry["lacks"], ["no lighttpd", "ended early: a time-out"])
        entry = self.run_one(1, {"lack": "no lighttpd"})
        self.assertEqual(len(entry["lacks"]), 2)
        self.assertIn("status 1, see ", entry["lacks"][1])

    def test_counts_that_cannot_be_read(self):
        with mock.patch("zeadally2003.finish", side_effect=IndexError("list index")):
            entry = self.run_one(0, row("f", {}, "net6", 1), {"complete": True})
        self.assertEqual((entry["status"], len(entry["rows"]), entry["lacks"]),
                         ("partial", 1, ["its counts cannot be read: IndexError: list index"]))

    def test_lacks_something(self):
        entry = self.run_one(0, {"lack": "no lighttpd on this machine"}, {"complete": True})
        self.assertEqual((entry["status"], entry["lacks"]),
                         ("partial", ["no lighttpd on this machine"]))

    def test_disk_full_while_it_runs(self):
        class Usage:
            free = 0
        real, guests.shutil.disk_usage = guests.shutil.disk_usage, lambda path: Usage
        try:
            entry = self.run_one(121, row("f", {}, "net6", 1))
        finally:
            guests.shutil.disk_usage = real
        self.assertEqual((entry["status"], len(entry["rows"]), len(entry["lacks"])),
                         ("partial", 1, 1))
        self.assertIn("disk full at ", entry["lacks"][0])

    def test_room_is_kept_for_results(self):
        with tempfile.TemporaryDirectory() as folder:
            guests.reserve(folder, "xie1999")
            self.assertEqual(os.path.getsize(f"{folder}/.reserve-xie1999"), guests.RESERVE)
            guests.give_back(folder, "xie1999")
            self.assertEqual(os.listdir(folder), [])

    def test_no_emulator(self):
        with (tempfile.TemporaryDirectory() as folder, mock.patch.object(guests, "call"),
              mock.patch.object(guests, "BUILD", f"{folder}/build"),
              mock.patch.object(guests, "NEEDED_SPACE", 0),
              mock.patch.dict(os.environ, PATH="/nowhere"),
              self.assertRaisesRegex(guests.CannotRun, "qemu-system-x86_64 is missing")):
            guests.prepare(f"{folder}/out", modules=False)

    def test_disk_full_before_it_starts(self):
        class Usage:
            free = 1 << 20
        real, guests.shutil.disk_usage = guests.shutil.disk_usage, lambda path: Usage
        try:
            with tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(guests.CannotRun, "disk full: .* has 1 MB"):
                    guests.prepare(f"{folder}/out", modules=False)
        finally:
            guests.shutil.disk_usage = real


class SideBySide(unittest.TestCase):
    """Guests that run at once, and what an interrupt leaves."""

    NAMES = ("draves1998", "raicu2000", "loss")
    # Ends when that many have begun.
    GUEST = """#!/bin/bash
while [ "$1" != --log ]; do shift; done
mkdir -p "$2/out" && echo '{"complete": true}' >"$2/out/rows.jsonl"
touch "${2%%/*/*}/begun.${2##*/}"
count() { set -- "$1"/begun.*; echo $#; }
while [ $(count "${2%%/*/*}") -lt %d ]; do sleep 0.05; done
"""

    def run_all(self, folder, beside):
        os.mkdir(f"{folder}/scripts")
        with open(f"{folder}/scripts/guest", "w") as f:
            f.write(self.GUEST % beside)
        os.chmod(f"{folder}/scripts/guest", 0o755)
        with (mock.patch.object(guests, "TOP", folder), mock.patch.object(guests, "made", dict),
              mock.patch.object(guests, "say"), mock.patch.object(guests, "at_once", lambda: 2)):
            return dict(guests.experiments(self.NAMES, f"{folder}/out", True))

    def test_two_run_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            found = self.run_all(folder, 2)
        self.assertEqual({n: e["status"] for n, e in found.items()},
                         dict.fromkeys(self.NAMES, "complete"))

    def test_no_room_for_one_leaves_the_others(self):
        """The disk is full when the third is to begin."""
        real = os.posix_fallocate
        begun = []

        def allocate(*args):
            begun.append(args)
            if len(begun) > 2:
                raise OSError(28, "No space left on device")
            real(*args)
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch("os.posix_fallocate", allocate):
                found = self.run_all(folder, 2)
            self.assertEqual(glob.glob(f"{folder}/out/.reserve*"), [])
        self.assertEqual(sorted((e["status"], "disk full" in str(e["lacks"]))
                                for e in found.values()),
                         [("complete", False), ("complete", False), ("partial", True)])

    def test_what_has_ended_is_saved_on_a_full_disk(self):
        """A full disk while it is saved: the next one that ends saves both."""
        real, refused, said = results.save, [], []

        def save(path, kept_):
            if not refused:
                refused.append(path)
                raise OSError(28, "No space left on device")
            real(path, kept_)
        entry = {"status": "complete", "lacks": [], "rows": [], "quick": True, "seconds": 1,
                 "made": {}}
        with (tempfile.TemporaryDirectory() as folder, mock.patch.object(results, "save", save),
              mock.patch.object(guests, "prepare"), mock.patch.object(guests, "made", dict),
              mock.patch.object(guests, "say", said.append),
              mock.patch.object(bench, "page", lambda args: 0),
              mock.patch.object(guests, "experiments",
                                lambda *_: iter([("loss", entry), ("cost", entry)]))):
            args = mock.Mock(experiment=["loss", "cost"], out=folder, quick=True)
            self.assertEqual(bench.run(args), 0)
            self.assertEqual(list(results.load(f"{folder}/results.json")["experiments"]),
                             ["loss", "cost"])
        self.assertIn("loss is not saved yet: No space left on device", said)

    def test_what_is_partial_does_not_replace_what_was_whole(self):
        with (tempfile.TemporaryDirectory() as folder, mock.patch.object(guests, "say")):
            path = f"{folder}/results.json"
            results.save(path, kept(row("f", {}, "net6", 1)))
            self.assertEqual(list(bench.begun(path, False)["experiments"]), ["zeadally2003"])
            results.save(path, kept(status="partial"))
            self.assertEqual(bench.begun(path, True)["experiments"], {})
            self.assertTrue(results.whole(results.load(f"{folder}/previous.json")))
            with open(path, "w") as f:
                f.write("torn")
            self.assertEqual(bench.begun(path, True)["experiments"], {})
            self.assertRaises(results.BadResults, bench.begun, path, False)

    def test_interrupt_ends_them_and_begins_no_more(self):
        for number in guests.ENDS:
            self.interrupted_by(number)

    def interrupted_by(self, number):
        def interrupt():
            while len(glob.glob(f"{folder}/out/begun.*")) < 2:
                time.sleep(0.01)
            os.kill(os.getpid(), number)

        before = signal.getsignal(number)
        with tempfile.TemporaryDirectory() as folder:
            begun = threading.Thread(target=interrupt)
            begun.start()
            found = self.run_all(folder, 3)
            begun.join()
        self.assertIs(signal.getsignal(number), before)
        self.assertEqual({n: (e["status"], e["lacks"][:1]) for n, e in found.items()},
                         dict.fromkeys(self.NAMES[:2], ("partial", ["interrupted"])))

    def test_order_has_all(self):
        self.assertEqual(sorted(guests.LONGEST), sorted(guests.EXPERIMENTS))


class Page(unittest.TestCase):
    def test_page(self):
        try:
            import plots
        except ImportError:
            self.skipTest("no matplotlib")
        rows = [row("roundtrip", {"protocol": "TCP", "bytes": n}, s, n + k)
                for n in (64, 128) for k, s in enumerate(("ipv4", "native", "net6"))]
        with tempfile.TemporaryDirectory() as folder:
            found = kept(*rows, status="partial", lacks=["no <disk>"])
            found["experiments"]["of another day"] = found["experiments"]["zeadally2003"]
            path = plots.make(found, folder)
            with open(path) as f:
                page = f.read()
            self.assertIn("zeadally2003-3.png", os.listdir(folder))
        self.assertIn("<b>Partial.</b>", page)
        self.assertIn("no &lt;disk&gt;", page)
        self.assertIn("Not measured in this run", page)
        self.assertEqual(page.count("The paper:"), 5 - 1)
        self.assertNotIn('src="http', page)
        self.assertNotIn("<script", page)

    def test_axis_numbers(self):
        try:
            import plots
        except ImportError:
            self.skipTest("no matplotlib")
        self.assertEqual([plots.short(v) for v in (1, 64, 1000, 1024, 65536, 1 << 20, 65000)],
                         ["1", "64", "1000", "1K", "64K", "1M", "65k"])

    def test_fitted_lines_and_what_is_expected(self):
        try:
            import plots
        except ImportError:
            self.skipTest("no matplotlib")
        spec = {"figure": "f", "kind": "lines", "x": "bytes", "title": "", "fit": True}
        rows = [row("f", {"bytes": n}, "net6", 100 + n) for n in (1, 2, 3)]
        found = plots.draw(spec, rows).axes[0].get_lines()[-1]
        self.assertEqual(list(found.get_xdata()), [0, 3])
        self.assertAlmostEqual(found.get_ydata()[0], 100)
        spec = {"figure": "f", "kind": "bars", "title": "", "expected": (1.4, "headers")}
        labels = plots.draw(spec, rows).axes[0].get_legend_handles_labels()[1]
        self.assertIn("headers", labels)


if __name__ == "__main__":
    sys.exit(unitktap.main())
