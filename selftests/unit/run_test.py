#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/lib/run.py: how KTAP is added up, and what runs where. KTAP on standard output."""
import contextlib
import io
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import run		# noqa: E402
import unitktap		# noqa: E402


class Streams(unittest.TestCase):
    def added(self, text, status=0):
        """What the programs of a folder that print this come to: passed, and the failures."""
        run.total = run.Sum()
        with contextlib.redirect_stdout(io.StringIO()):
            run.streams(text.splitlines(), "test").end(status)
        return run.total.passed, run.total.failures

    def test_each_program_is_a_stream(self):
        self.assertEqual(self.added("# a_test\n1..1\nok 1 x\n# b_test\n1..1\nok 1 y\n"), (2, []))

    def test_a_program_of_a_folder_is_one_too(self):
        self.assertEqual(self.added("# a_test\n1..1\nok 1 x\n# kernel/b_test\n1..1\nok 1 y\n"),
                         (2, []))

    def test_two_plans_in_a_stream_fail(self):
        passed, failures = self.added("# a_test\n1..1\nok 1 x\n1..2\nok 1 y\n")
        self.assertEqual((passed, len(failures)), (2, 1))
        self.assertIn("second plan", failures[0])

    def test_too_few_results_fail(self):
        passed, failures = self.added("# a_test\n1..2\nok 1 x\n# b_test\n1..1\nok 1 y\n")
        self.assertEqual((passed, len(failures)), (2, 1))
        self.assertIn("a_test", failures[0])

    def test_no_plan_fails(self):
        self.assertEqual(len(self.added("# a_test\nok 1 x\n")[1]), 1)

    def test_a_status_without_a_failed_result_fails(self):
        self.assertEqual(len(self.added("# a_test\n1..1\nok 1 x\n", 1)[1]), 1)


class Kernels(unittest.TestCase):
    ALL = ("checking", "newer", "stock")

    def where(self, word, kinds=ALL, chosen=False, full=False):
        """The kernels that a file with '# guest: WORD' runs on."""
        return [kind for kind in kinds if run.wanted(word, kind, kinds, chosen, full)]

    def test_each_day_a_file_has_one_of_debians_kernels(self):
        self.assertEqual(self.where("both"), ["checking", "newer"])
        self.assertEqual(self.where("stock"), ["stock"])
        self.assertEqual(self.where("stock+"), ["stock"])
        self.assertEqual(self.where("checking"), ["checking"])

    def test_some_have_both_of_debians(self):
        self.assertEqual(self.where("each"), ["newer", "stock"])

    def test_a_full_run_leaves_none_out(self):
        for word in ("both", "stock+", "each", "full"):
            self.assertEqual(self.where(word, full=True), list(self.ALL))
        self.assertEqual(self.where("stock", full=True), ["newer", "stock"])

    def test_a_kernel_alone_has_all_that_is_not_for_another(self):
        for word in ("both", "stock", "stock+", "each"):
            self.assertEqual(self.where(word, kinds=("newer",)), ["newer"])
            self.assertEqual(self.where(word, kinds=("stock",)), ["stock"])
        self.assertEqual(self.where("checking", kinds=("newer",)), [])

    def test_nothing_is_done_on_two_kernels_of_one_source(self):
        kinds = ("checking", "stock")
        self.assertEqual(self.where("both", kinds), ["checking"])
        for word in ("stock", "stock+", "each"):
            self.assertEqual(self.where(word, kinds), ["stock"])

    def test_only_who_is_named_or_asked_for_runs_then(self):
        for word in ("full", "named"):
            self.assertEqual(self.where(word), [])
            self.assertEqual(self.where(word, chosen=True), list(self.ALL))
        self.assertEqual(self.where("named", full=True), [])
        self.assertEqual(self.where("checking", chosen=True), list(self.ALL))


if __name__ == "__main__":
    sys.exit(unitktap.main())
