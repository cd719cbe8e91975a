#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/lib/run.py: how KTAP is added up. KTAP on standard output."""
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


if __name__ == "__main__":
    sys.exit(unitktap.main())
