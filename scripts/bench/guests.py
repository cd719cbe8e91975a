# SPDX-License-Identifier: GPL-2.0
"""The host's half of an experiment: builds what is measured and boots one guest for each
experiment, as many side by side as there are processors. Shows how far they are, and takes
what they left, however they ended."""
import concurrent.futures
import contextlib
import datetime
import errno
import functools
import importlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
import time

import results
from lab import EARLY

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
# Not below /tmp, which is the guest's own there.
BUILD = f"{TOP}/build/bench"
# In the order of the papers.
EXPERIMENTS = ("draves1998", "xie1999", "raicu2000", "zeadally2003", "branten2005")
# What a quick run without names measures as well.
QUICK = EXPERIMENTS + ("scale",)
# With those that are no paper's, and run by name only.
NAMES = EXPERIMENTS + ("loss", "servers", "cost", "tunnel", "forwarding", "clock", "scale",
                       "memory", "sweep", "cpus", "tls")
# The longest first, so that guests side by side end together.
LONGEST = ("branten2005", "xie1999", "raicu2000", "zeadally2003", "draves1998")
# Of real time, on a machine that does much else.
GUEST_TIMEOUT = 7200
GUEST_MEMORY = 2 << 30
# Without them nothing can be measured.
NEEDED_TOOLS = {"qemu-system-x86_64": "qemu-system-x86", "gcc": "gcc", "make": "make"}
# A guest's log and counts, and the pictures.
NEEDED_SPACE = 2 << 30
# Given back before results are written, which so find room on a disk that was full.
RESERVE = 16 << 20
FULL = 1 << 20
DIED = {120: "the kernel log has a report", 121: "the guest did not boot", 123: "the guest died",
        124: "the guest was killed when its time was up", 125: "the guest could not be started"}


class CannotRun(Exception):
    """Nothing can be measured; the text says why and what to do."""


class Terminal:
    """A line for each guest that runs, written over on a terminal."""

    def __init__(self):
        self.lock, self.lines, self.drawn = threading.Lock(), {}, 0
        self.live = sys.stderr.isatty()

    def draw(self, text=""):
        """What is said goes above the lines. With the lock held."""
        lines = list(self.lines.values()) if self.live else []
        width = shutil.get_terminal_size().columns - 1
        up = f"\033[{self.drawn}A\033[J" if self.drawn else ""
        sys.stderr.write(up + text + "".join(line[:width] + "\n" for line in lines))
        sys.stderr.flush()
        self.drawn = len(lines)

    def show(self, name, line):
        """None: its guest is gone."""
        with self.lock:
            if line is None:
                self.lines.pop(name, None)
            else:
                self.lines[name] = line
            if self.live:
                self.draw()

    def say(self, text):
        with self.lock:
            self.draw(text + "\n")


TERMINAL = Terminal()


def say(text):
    TERMINAL.say(f"bench: {text}")


def call(*command, **kwargs):
    done = subprocess.run(command, cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, **kwargs)
    if done.returncode:
        text = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise CannotRun(f"{' '.join(command[:4])} failed: {' / '.join(text)}")
    return done.stdout.strip()


def which(tool):
    """As the guest finds it: there the administrator's programs are in PATH."""
    return shutil.which(tool, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")


@functools.cache
def made():
    """What the figures are of; asked once, when it was built."""
    def maybe(*command):
        try:
            return call(*command)
        except (CannotRun, OSError):
            return ""
    kernel = maybe("scripts/find-kernel", "--guest")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": maybe("git", "rev-parse", "--short", "HEAD"),
        "changed": "with changes" if maybe("git", "status", "--porcelain", "-uno") else "",
        "kernel": read(f"{kernel}/include/config/kernel.release").strip(),
        "compiler": maybe("gcc", "-dumpfullversion"),
        "emulator": maybe("qemu-system-x86_64", "--version").splitlines()[0]
        if which("qemu-system-x86_64") else "",
        "host": f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, {platform.release()}",
    }


def prepare(out, experiments_=1, modules=True):
    """Everything that guests need, in BUILD. Missing packages are installed."""
    os.makedirs(out, exist_ok=True)
    free = shutil.disk_usage(out).free
    needed = NEEDED_SPACE * min(at_once(), experiments_)
    if free < needed:
        raise CannotRun(f"disk full: {out} has {free >> 20} MB, {needed >> 20} are needed")
    os.makedirs(BUILD, exist_ok=True)
    for tasks in (["build", "guest", "bench"], ["papers"]):
        try:
            call("scripts/setup", *tasks)
        except CannotRun as error:
            # What is missing then is said where it is used.
            say(error)
    for tool, package in NEEDED_TOOLS.items():
        if not which(tool):
            raise CannotRun(f"{tool} is missing; Debian has it in {package}")
    say("building modules and tools")
    if modules:
        # What scripts/guest boots, which need not be what runs here.
        call("make", "-s", "modules", "tools", f"KDIR={call('scripts/find-kernel', '--guest')}")
    call("make", "-s", "-C", f"{HERE}/netbench", f"PROGRAM={BUILD}/netbench")
    call("gcc", "-O2", "-Wall", "-shared", "-fPIC", "-fvisibility=hidden",
         "-o", f"{BUILD}/count.so", f"{HERE}/count.c")
    made()


class Bar:
    """How far a guest is: its line on a terminal, and lines now and then elsewhere."""

    def __init__(self, name, boots=1):
        self.name, self.start, self.last, self.shown = name, time.monotonic(), "", 0
        self.boot, self.boots = 0, boots

    def show(self, done, total, text):
        share = (self.boot + (done / total if total else 0)) / self.boots
        of = f"boot {self.boot + 1} of {self.boots}, " if self.boots > 1 else ""
        line = (f"{self.name:13} [{'#' * int(24 * share):24}] {done}/{total} "
                f"{time.monotonic() - self.start:5.0f} s  {of}{text}")
        if line == self.last:
            return
        self.last = line
        TERMINAL.show(self.name, line)
        if not TERMINAL.live and int(10 * share) > self.shown:
            self.shown = int(10 * share)
            TERMINAL.say(line)

    def end(self):
        TERMINAL.show(self.name, None)


def read(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def end_session(session):
    """Ends all processes of a session: timeout(1) puts QEMU into a group of its own."""
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            if os.getsid(pid) == session:
                os.kill(pid, signal.SIGTERM)
        except OSError:
            continue


# Nothing takes the room that was given back for results before they are written.
ROOM = threading.Lock()


def reserve(out, name):
    """Keeps room for an experiment's results until give_back()."""
    os.makedirs(out, exist_ok=True)
    with ROOM, open(f"{out}/.reserve-{name}", "wb") as f:
        os.posix_fallocate(f.fileno(), 0, RESERVE)


def give_back(out, name):
    with contextlib.suppress(OSError):
        os.unlink(f"{out}/.reserve-{name}")


def at_once():
    """How many guests run side by side: one a processor, if there is memory for them. Their
    time is counted in instructions, so they do not disturb each other's figures."""
    memory = [line.split()[1] for line in read("/proc/meminfo").splitlines()
              if line.startswith("MemAvailable:")]
    room = int(memory[0]) * 1024 // (GUEST_MEMORY * 5 // 4) if memory else 1
    return max(1, min(len(os.sched_getaffinity(0)), room))


ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def experiments(names, out, quick):
    """Runs them side by side; gives each name with its entry when it has ended, and room for its
    results. Interrupted, it ends what runs, whose entries are given still, and begins no more;
    for the main thread."""
    stop = threading.Event()
    order = [n for n in LONGEST if n in names]
    order += [n for n in dict.fromkeys(names) if n not in LONGEST]

    def interrupted(number, frame):
        """No exception, which would come anywhere; but for who does it again."""
        if stop.is_set():
            signal.default_int_handler(number, frame)
        stop.set()

    with concurrent.futures.ThreadPoolExecutor(at_once()) as pool:
        before = {number: signal.signal(number, interrupted) for number in ENDS}
        try:
            running = {pool.submit(experiment, name, out, quick, stop): name for name in order}
            for future in concurrent.futures.as_completed(running):
                with ROOM:
                    give_back(out, running[future])
                    if future.result():
                        yield running[future], future.result()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            stop.set()


def nothing(quick, why):
    """The entry of an experiment that has nothing."""
    return {"status": "partial", "lacks": [why], "rows": [], "quick": quick, "made": made(),
            "seconds": 0}


def experiment(name, out, quick, stop):
    """One experiment with room kept for its results, in as many boots as it wants; the first
    that is not complete is the last. It ends when stop is set; None if it was before. Whatever
    happens here, the others go on."""
    if stop.is_set():
        return None
    entries, bar = [], None
    try:
        boots = 1 if quick else getattr(importlib.import_module(name), "BOOTS", 1)
        bar = Bar(name, boots)
        reserve(out, name)
        while len(entries) < boots and all(e["status"] == "complete" for e in entries):
            bar.boot = len(entries)
            entries.append(boot(name, out, quick, stop, bar))
        found = results.together(entries)
        if len(entries) < boots:
            found["lacks"].append(f"{len(entries)} of {boots} boots")
        return found
    except Exception as error:		# pylint: disable=broad-except
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        why = f"disk full at {error.filename or out}" if full else f"{type(error).__name__}: {error}"
        say(f"{name}: {why}")
        return results.together([*entries, nothing(quick, why)])
    finally:
        if bar:
            bar.end()


def timing(module):
    """How a guest's time goes: by instructions, or by the clock with several CPUs. With ERMS an
    emulated copy takes a step for each byte."""
    if hasattr(module, "CPUS"):
        parallel = ["--parallel"] if getattr(module, "PARALLEL", False) else []
        return ["--cpus", str(module.CPUS), *parallel,
                "--qemu-arg", "-cpu", "--qemu-arg", "max,-erms,-fsrm"]
    return ["--virtual-time"]


def boot(name, out, quick, stop, bar):
    """Boots a guest for one experiment; its entry for the results, whatever happened."""
    module = importlib.import_module(name)
    log = f"{out}/guests/{name}"
    shutil.rmtree(log, ignore_errors=True)
    os.makedirs(log)
    entry = {"status": "partial", "lacks": [], "rows": [], "quick": quick, "made": made()}
    missing = [tool for tool in module.NEEDS if not tool.endswith(".so") and not which(tool)]
    for tool in missing:
        say(f"{name}: {tool} is missing on this machine; its part is left out")
    command = [f"{TOP}/scripts/guest", *timing(module), "--memory", f"{GUEST_MEMORY >> 20}M",
               "--quiet", "--timeout", str(GUEST_TIMEOUT), "--log", log,
               "--copy", f"{BUILD}/netbench", "--copy", HERE, "--copy", f"{TOP}/tools"]
    if getattr(module, "COUNTED", False):
        command += ["--qemu-arg", "-plugin", "--qemu-arg",
                    f"{BUILD}/count.so,out={log}/counts"]
    command += ["--", "bash", "-c", 'exec python3 "$NET6_COPY/bench/lab.py" "$@"', "lab", name]
    if quick:
        command.append("--quick")
    start = time.monotonic()
    with open(f"{log}/driver.log", "w") as f:
        guest = subprocess.Popen(command, cwd=TOP, stdin=subprocess.DEVNULL, stdout=f, stderr=f,
                                 start_new_session=True)
        while guest.poll() is None:
            words = read(f"{log}/out/progress").split(None, 2)
            if len(words) == 3:
                bar.show(int(words[0]), int(words[1]), words[2].strip())
            else:
                bar.show(0, 1, "the guest boots")
            if stop.wait(0.5):
                end_session(guest.pid)
                guest.wait()
                entry["lacks"].append("interrupted")
    entry["seconds"] = round(time.monotonic() - start)
    rows, lacks, complete, other = results.collect(read(f"{log}/out/rows.jsonl").splitlines())
    entry["lacks"] += lacks
    if hasattr(module, "finish"):
        try:
            found = list(module.finish(log, other, rows))
            rows += [row for row in found if "figure" in row]
            entry["lacks"] += [row["lack"] for row in found if "lack" in row]
        except Exception as error:	# pylint: disable=broad-except
            entry["lacks"].append(f"its counts cannot be read: {type(error).__name__}: {error}")
            complete = False
    entry["rows"] = rows
    if guest.returncode and shutil.disk_usage(log).free < FULL:
        # The kernel log is cut short then, and says nothing.
        entry["lacks"].append(f"disk full at {log}")
    elif guest.returncode in DIED or (guest.returncode and not any(EARLY in l for l in lacks)):
        entry["lacks"].append(f"{DIED.get(guest.returncode, f'status {guest.returncode}')}, "
                              f"see {log}/driver.log")
    if complete and not guest.returncode and not entry["lacks"]:
        entry["status"] = "complete"
        shutil.rmtree(log, ignore_errors=True)
    for lack in entry["lacks"]:
        say(f"{name}: {lack}")
    say(f"{name}: {entry['status']}, {len(rows)} figures in {entry['seconds']} s")
    return entry
