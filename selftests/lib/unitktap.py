# SPDX-License-Identifier: GPL-2.0
"""Python's unittest with KTAP on standard output, for selftests/unit/*_test.py."""
import sys
import unittest


class Ktap(unittest.TestResult):
    """A line for each case."""

    def line(self, test, ok="ok", more=""):
        print(f"{ok} {self.testsRun} {test.id().split('.', 1)[1]}{more}", flush=True)

    def addSuccess(self, test):
        self.line(test)

    def addSkip(self, test, reason):
        self.line(test, more=f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print("\n".join(f"# {line}" for line in self.failures[-1][1].splitlines()))
        self.line(test, "not ok")

    def addError(self, test, err):
        super().addError(test, err)
        print("\n".join(f"# {line}" for line in self.errors[-1][1].splitlines()))
        self.line(test, "not ok")


def main():
    cases = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    print(f"KTAP version 1\n1..{cases.countTestCases()}")
    result = Ktap()
    cases.run(result)
    return not result.wasSuccessful()

