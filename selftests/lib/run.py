# SPDX-License-Identifier: GPL-2.0
"""Runs the tests and adds up their KTAP; called by selftests/lib/run.

Test files that want the same kernel and boot parameters share guests, in pieces
of some length; one guest more runs side by side than there are processors. When a
guest dies, the file that ran has failed and the rest runs in a new one. A report
in the kernel log fails the file during which it came.
"""

import argparse
import collections
import fcntl
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
TESTS = os.path.join(TOP, "selftests/guest")
LOGS = os.path.join(TOP, ".guest/check")
SCALE = {"stock": 1, "checking": 4, "newer": 1}
# A file's time-out ends what hangs; a machine that does other work is no reason.
ROOM = {"stock": 3, "checking": 5, "newer": 3}
# Files of one guest have time-outs of about this many seconds together, unscaled: enough
# for a boot to be worth it, and little enough to share the work out evenly.
PIECE = 2500
# Only the checking kernel can look for leaks, and each allocation is dear then: where a file asks
# for it, and everywhere with --full.
LEAKS = "--kmemleak"
# On the checking kernel a timer interrupt takes so long that a slow machine does little else. Files
# that do not say "# guest-cpus: 2" have one CPU there, whose time goes by instructions.
COUNTED = "--counted-time"
RESULT = re.compile(r"^(not )?ok (\d+)\s*(?:- )?(.*?)(?:\s+#\s*SKIP\b\s*(.*))?$",
                    re.IGNORECASE)


class Sum:
    """Results of everything, printed as they come, by one thread per kernel."""

    def __init__(self):
        self.lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.times = []		# of files: kernel, file, seconds, seconds of processors
        self.start = time.monotonic()
        self.boots = {kind: itertools.count(1) for kind in SCALE}
        self.spare = 2		# boots that may fail before anything of net6 runs

    def _line(self, word, name, why=""):
        seconds = int(time.monotonic() - self.start)
        print(f"[{seconds // 60:3}:{seconds % 60:02}] {word:4} {name}"
              + (f"  ({why})" if why else ""), flush=True)

    def ok(self, name):
        with self.lock:
            self.passed += 1
            self._line("ok", name)

    def skip(self, name, why):
        with self.lock:
            self.skipped += 1
            self._line("skip", name, why)

    def fail(self, name, why="", notes=()):
        with self.lock:
            self.failed += 1
            self.failures.append(name + (f"  ({why})" if why else ""))
            self.failures += ["    " + note for note in list(notes)[-8:]]
            for note in list(notes)[-80:]:
                print("        " + note, flush=True)
            self._line("FAIL", name, why)

    def note(self, text):
        with self.lock:
            self._line("--", text)

    def took(self, kind, file, seconds, processors):
        with self.lock:
            self.times.append((kind, file, seconds, processors))

    def keep_times(self, path):
        """The dearest first: on a busy machine only the last column means something."""
        with open(path, "w", encoding="utf-8") as file:
            file.write("kernel\tfile\tseconds\tprocessors\n")
            for row in sorted(self.times, key=lambda row: -row[3]):
                file.write("%s\t%s\t%.0f\t%.0f\n" % row)

    def excused(self, name):
        """Whether a kernel that came to nothing before any of ours ran is booted again."""
        with self.lock:
            self.spare -= 1
            if self.spare >= 0:
                self._line("--", f"{name}: did not boot, once more")
            return self.spare >= 0


total = Sum()


class Ktap:
    """Reads one KTAP stream line by line and reports what it says."""

    def __init__(self, name):
        self.name = name
        self.plan = None
        self.seen = 0
        self.failed = 0
        self.notes = []
        self.skipped_all = None

    def line(self, line):
        found = RESULT.match(line)
        if found:
            bad, _, name, why = found.groups()
            self.seen += 1
            name = f"{self.name}: {name}"
            if bad:
                self.failed += 1
                total.fail(name, notes=self.notes)
            elif why is not None:
                total.skip(name, why)
            else:
                total.ok(name)
            self.notes = []
        elif re.match(r"^1\.\.\d+", line):
            if self.plan is not None:
                self.failed += 1
                total.fail(self.name, "a second plan: two programs in one stream")
            self.plan = int(re.match(r"^1\.\.(\d+)", line).group(1))
            why = re.search(r"#\s*SKIP\s*(.*)", line, re.IGNORECASE)
            if self.plan == 0:
                self.skipped_all = why.group(1) if why else "no tests"
        elif line and not line.startswith("KTAP version"):
            self.notes.append(line)

    def end(self, status):
        """The stream is over; status is the program's, None when it died."""
        if self.skipped_all is not None and not self.seen and status in (0, 4):
            total.skip(self.name, self.skipped_all)
        elif status is None:
            total.fail(self.name, "the guest died", self.notes)
        elif status in (124, 137):
            total.fail(self.name, "time-out", self.notes)
        elif self.plan is None:
            total.fail(self.name, f"no results, status {status}", self.notes)
        elif self.seen != self.plan:
            total.fail(self.name, f"{self.seen} results of {self.plan}, "
                       f"status {status}", self.notes)
        elif status not in (0, 4) and not self.failed:
            total.fail(self.name, f"all ok, but status {status}", self.notes)


def command(name, *args, env=None):
    """One test that is a command: ok when it succeeds and says no warning."""
    done = subprocess.run(args, cwd=TOP, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          env={**os.environ, **(env or {})}, check=False)
    warnings = [line for line in done.stdout.splitlines()
                if re.search(r"\bwarning:|\berror:|\*\*\*", line)
                and "Skipping BTF" not in line]
    if done.returncode or warnings:
        total.fail(name, f"status {done.returncode}",
                   done.stdout.splitlines() if done.returncode else warnings)
        return False
    total.ok(name)
    return True


def streams(lines, what):
    """Reads the streams of several programs, each begun by '# NAME'; the last is not ended."""
    ktap = None
    for line in lines:
        line = line.rstrip()
        name = re.match(r"^# ([\w/]+_test)$", line)
        if name or not ktap:
            if ktap:
                ktap.end(0)
            ktap = Ktap(name.group(1) if name else what)
        if not name:
            ktap.line(line)
    return ktap


def user_space(folder, what, *args):
    """KTAP of all programs of a folder: '# NAME' starts a new stream."""
    if not [f for f in os.listdir(os.path.join(TOP, folder))
            if f.endswith(f"_{what}.c")]:
        return
    if not command(f"{what}: compiles", "make", "-s", "-C", folder, "all"):
        return
    with subprocess.Popen(("make", "-s", "-C", folder, "check") + args,
                          cwd=TOP, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL) as process:
        ktap = streams(process.stdout, what)
        if ktap:
            ktap.end(process.wait())


def headers(path):
    """The '# guest...:' lines in a test file's opening comment."""
    found = {"guest": "both", "timeout": "120", "cpus": "", "append": "", "options": ""}
    with open(path, encoding="utf-8") as file:
        for line in file.readlines()[:60]:
            match = re.match(r"^#\s*guest-(append|cpus|options):\s*(.*\S)", line) \
                or re.match(r"^#\s*(guest|timeout):\s*(\S+)", line)
            if match:
                found[match.group(1)] = match.group(2)
    return found


def wanted(where, kind, kinds, chosen, full):
    """Whether a file with '# guest: WHERE' runs on this one of the kernels; where it is named,
    always. The stock kernel has the source of the checking one. Every day what the checking one
    has is not done there again, but on the newer one, which is another kernel.
    """
    if where in ("full", "named"):
        return chosen or full and where == "full"
    if chosen or kind == "checking":
        return chosen or where in ("both", kind) or full and where in ("stock+", "each")
    if where == "checking" or full:
        return full and where != "checking"
    if where == "both" and "checking" in kinds:
        return kind == "newer"
    return kind == "stock" or where == "each" or not {"checking", "stock"} <= set(kinds)


def pieces(files):
    """Cuts a list of (file, seconds) into pieces of about the same length."""
    whole = sum(seconds for _, seconds in files)
    count = max(1, round(whole / PIECE))
    cut, passed = [[] for _ in range(count)], 0
    for file, seconds in files:
        cut[min(count - 1, passed * count // whole)].append((file, seconds))
        passed += seconds
    return [piece for piece in cut if piece]


def boots(kind, kinds, only, full):
    """What to boot on this one of the kernels, the longest first so that guests end together:
    [(append, options, [(file, seconds)])].
    """
    groups = {}
    for name in sorted(os.listdir(TESTS)) if os.path.isdir(TESTS) else []:
        if not name.endswith((".sh", ".py")) or only and name not in only:
            continue
        head = headers(os.path.join(TESTS, name))
        if not wanted(head["guest"], kind, kinds, name in only, full):
            continue
        options = [word for word in head["options"].split() if word != LEAKS]
        if kind == "checking" and (full or LEAKS in head["options"].split()):
            options.append(LEAKS)
        if kind == "checking" and not (full or head["cpus"] or "--virtual-time" in options):
            options.append(COUNTED)
        key = (head["append"], " ".join(options))
        groups.setdefault(key, []).append((name, int(head["timeout"])))
    work = [key + ([(file, seconds * ROOM[kind]) for file, seconds in piece],)
            for key in sorted(groups) for piece in pieces(groups[key])]
    return sorted(work, key=lambda boot: -sum(seconds for _, seconds in boot[2]))


def trace(lines):
    """Where a report was made, in one line: what the first stack in it goes through."""
    where = [re.sub(r"^\[ *[\d.]+\] *(\[ *T\d+\])? *", "", line).strip() for line in lines]
    frames = [re.match(r"(?:RIP: [0-9a-f]+:)?([\w.]+)\+0x[\da-f]+/0x", line) for line in where]
    return " < ".join([frame.group(1) for frame in frames if frame][:20])


def blame(kind, log):
    """Reports in the kernel log, by the file during which they came."""
    try:
        with open(os.path.join(log, "reports"), encoding="utf-8") as file:
            reports = [line.rstrip() for line in file if ":" in line]
        with open(os.path.join(log, "kernel.log"), encoding="utf-8",
                  errors="replace") as file:
            lines = file.readlines()
    except FileNotFoundError:
        return
    guilty = {}
    for report in reports:
        number = int(report.split(":", 1)[0])
        files = [re.search(r"net6-test: (\S+)", line) for line in lines[:number]]
        files = [match.group(1) for match in files if match]
        found = guilty.setdefault(files[-1] if files else "boot", [])
        found.append(report)
        if "hangs" in report:
            found += [line.rstrip() for line in lines[number:number + 60]]
    for file, found in guilty.items():
        number = int(found[0].split(":", 1)[0])
        total.fail(f"{kind}/{file}: kernel log is clean", f"{log}/kernel.log:{number}",
                   [line[:150] for line in found[:72]] + [trace(lines[number:number + 100])])


class Watchdog:
    """Kills a guest in which nothing ends any more, not even its own watch."""

    def __init__(self, log):
        self.pidfile = os.path.join(log, "qemu.pid")
        self.timer = None

    def wait(self, seconds):
        """From now on the guest has this long; None: as long as it likes."""
        if self.timer:
            self.timer.cancel()
        self.timer = seconds and threading.Timer(seconds, self.kill)
        if self.timer:
            self.timer.daemon = True
            self.timer.start()

    def kill(self):
        with open(self.pidfile, encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)


def processors(pidfile):
    """Seconds of processors that a guest has used so far; 0 of one that is gone."""
    try:
        with open(pidfile, encoding="ascii") as file:
            pid = int(file.read())
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except (OSError, ValueError):
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def boot(kind, kernel, append, options, files, number):
    """Boots one guest for these files; returns those that have yet to run."""
    log = os.path.join(LOGS, f"{kind}-{number}")
    shutil.rmtree(log, ignore_errors=True)
    args = [os.path.join(TOP, "scripts/guest"), "--log", log, "--timeout",
            str(sum(seconds + 90 for _, seconds in files) + 600)]
    if kernel:
        args += ["--kernel", kernel]
    if append:
        args += ["--append", append]
    args += shlex.split(options) + ["--", "selftests/lib/in-guest"]
    # In virtual time hours pass at once: there only the guest as a whole has a time-out.
    virtual = "--virtual-time" in options
    args += [f"{file}:{seconds * (10000 if virtual else 1)}" for file, seconds in files]
    watchdog = Watchdog(log)
    watchdog.wait(600)
    total.note(f"booting the {kind} kernel" + (f" with {append}" if append else "")
               + (f" ({options})" if options else "") + f", {len(files)} files")

    waiting = [file for file, _ in files]
    ktap, said = None, []
    os.makedirs(log, exist_ok=True)
    with open(log + ".output", "w", encoding="utf-8") as record, \
            subprocess.Popen(args, cwd=TOP, text=True, errors="replace",
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL,
                             env={**os.environ, "NET6_SCALE": str(SCALE[kind])}
                             ) as process:
        for line in process.stdout:
            record.write(line)
            record.flush()
            line = line.rstrip()
            mark = re.match(r"^#@ (begin|end|stuck) (\S+) ?(\d*)$", line)
            if line.startswith("guest: "):
                total.note(line)
                said.append(line)
            elif not mark:
                if ktap:
                    ktap.line(line)
            elif mark.group(1) == "begin":
                ktap = Ktap(f"{kind}/{mark.group(2)}")
                waiting.remove(mark.group(2))
                began, used = time.monotonic(), processors(watchdog.pidfile)
                watchdog.wait(None if virtual else dict(files)[mark.group(2)] + 300)
            elif mark.group(1) == "stuck" and ktap:
                total.fail(f"{ktap.name}: {mark.group(2)} can be unloaded",
                           notes=ktap.notes)
            elif ktap:
                ktap.end(int(mark.group(3)))
                ktap = None
                total.took(kind, mark.group(2), time.monotonic() - began,
                           processors(watchdog.pidfile) - used)
                # After the last one leaks are looked for.
                watchdog.wait(600)
        status = process.wait()
    watchdog.wait(None)
    if ktap:
        ktap.end(None)
    name = f"{kind} kernel, boot {number}"
    if status == 120:
        blame(kind, log)
    elif status == 121:
        if total.excused(name):
            return boot(kind, kernel, append, options, files, next(total.boots[kind]))
        total.fail(f"{name}: boots", f"{log}/kernel.log", said)
        return []
    elif status == 122:
        with open(os.path.join(log, "kmemleak.log"), encoding="utf-8") as file:
            total.fail(f"{name}: no memory is leaked", notes=file.read()
                       .splitlines()[:40])
    elif status == 0:
        total.ok(f"{name}: kernel log is clean"
                 + (", no memory is leaked" if LEAKS in options else ""))
    else:
        total.fail(f"{name}: ends by itself", f"status {status}")
    return [(file, seconds) for file, seconds in files if file in waiting]


def build(kind, kdir, check):
    """Both modules for one kernel, with W=1 and no warning."""
    how = ("-s", f"KDIR={kdir}", "W=1", "NET6_SELFTESTS=m")
    # A kernel of another release of Debian wants that one's compiler: scripts/debian-kernel.
    own = os.path.join(os.path.dirname(kdir), "make")
    make = (own,) + how[:1] + how[2:] if os.path.exists(own) else ("make",) + how
    done = command(f"build: modules for the {kind} kernel, W=1, no warnings", *make, "modules")
    if os.path.exists(os.path.join(os.path.dirname(kdir), "machine")):
        command(f"build: tools for the {kind} kernel, no warnings", own, "-s", "cross-tools")
    if check:	# what is compiled already is not compiled again
        command("build: sparse finds nothing", "make", "sparse", *how)
    return done


def natively(full):
    """What needs no kernel: beside the builds and the first guest."""
    user_space("selftests/unit", "test")
    user_space("selftests/fuzz", "fuzz", "FUZZ_SECONDS=60" if full
               else "FUZZ_RUNS=20000")
    command("netlink: header and tables are what the specification says",
            "scripts/netlink-gen", "--check")


def guests(work):
    """Takes what is to be booted from a queue until nothing is left."""
    while True:
        try:
            kind, kernel, append, options, files = work.popleft()
        except IndexError:
            return
        while files:
            left = boot(kind, kernel, append, options, files, next(total.boots[kind]))
            if len(left) == len(files):
                for file, _ in left:
                    total.fail(f"{kind}/{file}", "did not run")
                left = []
            files = left


def more_guests(threads, work, count):
    """Threads that boot guests, until so many run."""
    while work and sum(thread.is_alive() for thread in threads) < count:
        threads.append(threading.Thread(target=guests, args=(work,)))
        threads[-1].start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stock", default="")
    parser.add_argument("--checking", default="")
    parser.add_argument("--newer", default="")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--guests-only", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if args.full:
        os.environ["NET6_FULL"] = "1"
    only = {os.path.basename(file) for file in args.files}
    for name in sorted(only - set(os.listdir(TESTS))):
        sys.exit(f"there is no selftests/guest/{name}")
    kernels = {"stock": args.stock,
               "checking": os.path.join(args.checking, "build"),
               "newer": os.path.join(args.newer, "build")}
    boot_from = {"stock": "", "checking": args.checking, "newer": args.newer}
    kinds = [kind for kind in os.environ["KERNELS"].split() if kind in kernels]

    os.makedirs(LOGS, exist_ok=True)
    lock = open(os.path.join(LOGS, "lock"), "w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("another run is under way in this tree")

    threads = []
    if not only and not args.guests_only:
        threads.append(threading.Thread(target=natively, args=(args.full,)))
    for thread in threads:
        thread.start()
    command("build: tools, no warnings", "make", "-s", "tools")
    work = collections.deque()
    booting = []
    # The slow kernel first: what is left at the end is short.
    for kind in sorted(kinds):
        if build(kind, kernels[kind], kind == "stock" and not only):
            work += [(kind, boot_from[kind]) + what
                     for what in boots(kind, kinds, only, args.full)]
            more_guests(booting, work, 1)
    # Tests wait for times to pass: as many guests as processors leave these idle.
    more_guests(booting, work, int(os.environ.get("GUESTS", (os.cpu_count() or 1) + 1)))
    for thread in threads + booting:
        thread.join()

    total.keep_times(os.path.join(LOGS, "times.tsv"))
    if total.failures:
        print("\nFailed:")
        for failure in total.failures:
            print("  " + failure)
    print(f"{total.passed} passed, {total.failed} failed, "
          f"{total.skipped} skipped", flush=True)
    sys.exit(1 if total.failed else 0)


if __name__ == "__main__":
    main()
