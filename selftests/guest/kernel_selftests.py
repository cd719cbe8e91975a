#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The kernel's own tests of its IPv6 (tools/testing/selftests), unmodified, against the kernel that
# was booted: native, or with ipv6.disable=1 net6. Each script is a test here and says of each of
# its own whether it passed. scripts/kernel-selftests runs both and compares.
#
# Arguments: the folder tools/testing/selftests with its programs, then scripts in it.
# guest: named
# timeout: 7200
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import ktap  # pylint: disable=wrong-import-position

TOP, SCRIPTS = sys.argv[1], sys.argv[2:]
PATIENCE = 1500 * ktap.SCALE
# What a script says of one of its tests: "TEST: name [ OK ]", "PASS: name", "not ok 1 name".
SAID = re.compile(r"^\s*(?:TEST: *(?P<a>.*?)\s*\[\s*(?P<b>OK|PASS|FAIL|SKIP|XFAIL)\s*\]"
                  r"|(?P<c>PASS|FAIL|OK|ok|not ok|SKIP)\s*:?\s+(?P<d>.+?))\s*$")
PASSED = "OK", "PASS", "ok"


def setup():
    with open("/proc/cmdline", encoding="ascii") as file:
        if "ipv6.disable=1" in file.read():
            ktap.net6_load()
    ktap.run("ip", "link", "set", "lo", "up")


def play(script, words):
    """Its output goes to a file: what it leaves running may hold a pipe open."""
    log = f"/tmp/{os.path.basename(script)}.log"
    environment = dict(os.environ, PATH=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    with open(log, "w", encoding="utf-8") as file:
        try:
            status = subprocess.run(["bash", os.path.basename(script), *words], env=environment,
                                    cwd=os.path.join(TOP, os.path.dirname(script)), check=False,
                                    stdin=subprocess.DEVNULL, stdout=file,
                                    stderr=subprocess.STDOUT, timeout=PATIENCE).returncode
        except subprocess.TimeoutExpired:
            status = "none: it ran out of time"
    failed, name = 0, None
    with open(log, encoding="utf-8", errors="replace") as file:
        text = re.sub(r"\x1b\[[0-9;]*m", "", file.read())
    for line in text.splitlines():
        said = SAID.match(line)
        if said:
            verdict, name = said["b"] or said["c"], said["a"] or said["d"]
            kind = "ok" if verdict in PASSED else "skip" if verdict == "SKIP" else "FAIL"
            failed += kind == "FAIL"
            ktap.diag(f"{script} {' '.join(words)}|{kind}|{name}")
    if not name:
        kind = {0: "ok", 4: "skip"}.get(status, "FAIL")
        ktap.diag(f"{script} {' '.join(words)}|{kind}|as a whole")
    if status not in (0, 4) or failed:
        for line in text.splitlines()[-12:]:
            ktap.diag(f"  {line}")
    ktap.true(status in (0, 4) and not failed, f"status {status}, {failed} failed")


def register():
    for script in SCRIPTS:
        name, *words = script.split(",")
        ktap.test(script)(lambda name=name, words=words: play(name, words))


if __name__ == "__main__":
    register()
    ktap.main(setup)
