# SPDX-License-Identifier: GPL-2.0
"""table.py FOLDER KNOWN: the table of areas from native.log and net6.log of a folder, and each test
that one of them failed. Ends with 1 if native passes something that net6 does not and that KNOWN
does not name, a line "AREA: NAME" each.
"""
import collections
import os
import re
import sys

LINE = re.compile(r"^(not )?ok ((\w+): [^#]*?)\s*(?:# (.*))?$")


def read(path):
    """{test: why it failed, "" if it did not}, and whether it came to its end."""
    found = {}
    if not os.path.exists(path):
        return found, False
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    for line in lines:
        match = LINE.match(line)
        if match:
            found[match.group(2)] = (match.group(4) or "failed") if match.group(1) else ""
    return found, "all done" in lines


def main(folder, known):
    with open(known, encoding="utf-8") as file:
        named = {line.strip() for line in file if line.strip() and not line.startswith("#")}
    (native, native_ended), (net6, net6_ended) = (
        read(os.path.join(folder, f"{name}.log")) for name in ("native", "net6"))
    areas = collections.defaultdict(lambda: [0, 0, 0])
    for test in list(native) + [test for test in net6 if test not in native]:
        row = areas[test.split(":")[0]]
        row[0] += 1
        row[1] += native.get(test) == ""
        row[2] += net6.get(test) == ""
    print(f"{'area':16}{'tests':>8}{'native':>8}{'net6':>8}")
    for area, row in areas.items():
        print(f"{area:16}{row[0]:8}{row[1]:8}{row[2]:8}")
    print(f"{'all':16}" + "".join(f"{sum(column):8}" for column in zip(*areas.values())))
    worse = []
    for test, why in native.items():
        here = net6.get(test, "not run")
        if why:
            print(f"native: {test}: {why}")
        if here:
            print(f"net6: {test}{' (known)' if test in named else ''}: {here}")
        if here and not why and test not in named:
            worse.append(test)
    for name, ended in (("native", native_ended), ("net6", net6_ended)):
        if not ended:
            print(f"{name}: did not come to its end")
    return bool(worse) or not (native_ended and net6_ended)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
