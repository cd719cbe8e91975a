#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# File systems that go away, become read-only, fail or never answer while their files are
# served. Unmounting is possible, what is sent is right or ends short. Other requests are
# answered, and nothing but unloading waits for them. Files behind links and mounts are
# cached, and what stands in for them is right.
#
#	[ clients and server on lo ]    [ client ] c0 ------ s0 [ server ] with net6
#
# guest: stock+
# timeout: 240
# pylint: disable=missing-function-docstring
import contextlib
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import fusefs  # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

DATA = os.urandom(700_001)
GET = khttpd.get
PLACES = [khttpd.V4]
DISK, DOCROOT, BELOW = "/srv/disk", "/srv/docroot", f"{khttpd.WWW}/below"
FUSE = f"{khttpd.WWW}/fuse"
# KHTTPD_LANE_JOBS: how many may be at work for one file system at once; less than ask.
AT_WORK = 64
HUNG, UNKNOWN = 80, 20


def setup():
    ktap.kmod("loop", "ext4", "fuse")
    PLACES.append(khttpd.net6_place())
    khttpd.fresh()
    khttpd.write("small", b"small")
    for path in (DOCROOT, BELOW, FUSE):
        os.makedirs(path, exist_ok=True)
    for path in (DOCROOT, BELOW, FUSE):
        ktap.at_exit(lambda path=path: ktap.run("umount", "-l", path, check=False))


@contextlib.contextmanager
def serving(docroot=khttpd.WWW, *options):
    """A site everywhere, while in here."""
    for number, place in enumerate(PLACES):
        khttpd.serve(place, *options, site=f"site{number}", docroot=docroot)
    try:
        yield
    finally:
        stop()


def stop():
    khttpd.ctl("stop", "--all")


class Disk:
    """A file system with two files, mounted."""

    def __init__(self, at):
        self.at = at
        ktap.run("truncate", "-s", "32M", DISK)
        ktap.run("mkfs.ext4", "-q", DISK)
        ktap.run("mount", "-o", "loop", DISK, at)
        self.loop = os.path.basename(ktap.run("findmnt", "-no", "SOURCE", at).strip())
        os.chmod(at, 0o755)
        for name, data in (("small", b"small"), ("big", DATA)):
            with open(f"{at}/{name}", "wb") as file:
                file.write(data)

    def is_open(self):
        """It is until nothing of the file system is used any more."""
        return os.path.exists(f"/sys/block/{self.loop}/loop")

    def umount(self, *options):
        return ktap.run("umount", *options, self.at, check=False)

    def busy(self):
        return "busy" in self.umount()

    def gone(self):
        ktap.wait_for(20, "the file system is gone", lambda: not self.is_open())


class Load:
    """Clients everywhere, for files of a disk that is served below @path."""

    def __init__(self, path=""):
        files = ((f"{path}/small", (b"small",)), (f"{path}/big", (DATA,)), ("/nope", None))
        self.clients = [khttpd.Clients(place, files, threads=3) for place in PLACES]

    def served(self):
        """All of them get replies that come after this."""
        before = [clients.replies for clients in self.clients]
        ktap.wait_for(20, "clients are served", lambda: all(
            clients.replies > old + 20 for clients, old in zip(self.clients, before)),
                      look=lambda: self.look(before))

    def look(self, before):
        ktap.diag(f"replies {before}, now {[clients.replies for clients in self.clients]}")
        for place in PLACES:
            khttpd.look(place)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for clients in self.clients:
            clients.stop()


def drop_caches(what):
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write(str(what))


def status(place, path):
    return khttpd.exchange(place, GET(path)).status


@ktap.test
def the_document_root_is_unmounted_under_load():
    disk = Disk(DOCROOT)
    with serving(DOCROOT), Load() as load:
        load.served()
        ktap.true(disk.busy(), "its sites hold it")
        ktap.equal(disk.umount("-l"), "", "umount -l")
        load.served()
        for place in PLACES:
            ktap.equal(status(place, "/small"), 200, f"status on {place.name}")
        ktap.true(disk.is_open(), "its sites still have it")
        stop()
        disk.gone()


@ktap.test
def what_is_mounted_below_is_unmounted_under_load():
    old = khttpd.limit("cache_idle", 500)
    disk = Disk(BELOW)
    try:
        with serving(), Load("/below") as load:
            load.served()
            ktap.equal(disk.umount("-l"), "", "umount -l")
            for place in PLACES:
                ktap.wait_for(20, "it is missing", lambda p=place: status(p, "/below/small") == 404)
            disk.gone()
            load.served()
    finally:
        khttpd.limit("cache_idle", old)


@ktap.test
def open_files_are_let_go_when_asked():
    """With caches that are dropped, or for what nobody has asked for of late."""
    with serving():
        for name in ("dropped", "idle"):
            disk = Disk(BELOW)
            for place in PLACES:
                ktap.equal(status(place, "/below/big"), 200, "status")
            ktap.true(disk.busy(), "the cache has a file of it")
            if name == "dropped":
                drop_caches(2)
            old = khttpd.limit("cache_idle", 200)
            ktap.wait_for(20, f"files are {name}", lambda d=disk: not d.umount())
            khttpd.limit("cache_idle", old)
            disk.gone()


@ktap.test
def remounted_and_reclaimed_under_load():
    """Pages go away all the time, and come back from the disk."""
    disk = Disk(BELOW)
    with serving(), Load("/below") as load:
        for turn in range(10 if not ktap.CHECKING else 4):
            ktap.run("mount", "-o", "remount," + ("ro", "rw")[turn % 2], BELOW)
            ktap.run("sync")
            drop_caches(1)
            load.served()
    ktap.equal(disk.umount(), "", "umount")
    disk.gone()


@ktap.test
def a_hole_is_zeros():
    disk = Disk(BELOW)
    with serving():
        for place in PLACES:
            before = khttpd.exchange(place, GET("/below/big"))
            ktap.run("fallocate", "-p", "-o", "100000", "-l", "200000", f"{BELOW}/big")
            after = khttpd.exchange(place, GET("/below/big"))
            ktap.true(before.body == DATA, "before")
            ktap.true(after.body == DATA[:100000] + bytes(200000) + DATA[300000:], "after")
            ktap.true(before.fields["etag"] != after.fields["etag"], "new ETag")
            with open(f"{BELOW}/big", "wb") as file:
                file.write(DATA)
    ktap.equal(disk.umount(), "", "umount")
    disk.gone()


class Program:
    """fusefs.py, mounted."""

    def __init__(self, *options):
        for path in (fusefs.HOLD, fusefs.QUESTIONS):
            if os.path.exists(path):
                os.unlink(path)
        self.process = subprocess.Popen([sys.executable, fusefs.__file__, FUSE, *options])
        ktap.wait_for(20, "it is mounted", lambda: os.path.ismount(FUSE))

    @staticmethod
    def questions():
        """How many have no answer."""
        return os.path.getsize(fusefs.QUESTIONS) if os.path.exists(fusefs.QUESTIONS) else 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        ktap.run("umount", "-l", FUSE)


def looked_up(place, path):
    """How often files are looked up for a request."""
    before = khttpd.count("lookups")
    ktap.equal(status(place, path), 200, path)
    return khttpd.count("lookups") - before


def kept(path, places):
    """Once nothing has changed for a while it is only found in the cache."""
    for place in places:
        ktap.wait_for(20, f"{path} is kept at {place.name}",
                      lambda p=place: not looked_up(p, path))


def standing_in(path, coding, places):
    """What stands in for it now."""
    for place in places:
        reply = khttpd.exchange(place, GET(path, "Accept-Encoding: gzip\r\n"))
        ktap.equal((reply.status, reply.fields.get("content-encoding")), (200, coding), path)


def variant_comes_and_goes(path, file):
    """At once, however little the time is in between."""
    kept(path, PLACES)
    standing_in(path, None, PLACES)
    for turn in range(10):
        with open(f"{file}.gz", "wb") as variant:
            variant.write(b"packed")
        standing_in(path, "gzip", PLACES)
        if not turn:
            kept(path, PLACES)
            standing_in(path, "gzip", PLACES)
        os.unlink(f"{file}.gz")
        standing_in(path, None, PLACES)
    kept(path, PLACES)


@ktap.test
def files_with_variants_behind_links_and_mounts_are_kept():
    here = khttpd.write("releases/1/a.txt", b"first")
    other = khttpd.write("releases/2/a.txt", b"second")
    os.symlink("releases/1", f"{khttpd.WWW}/current")
    os.symlink("releases/1/a.txt", f"{khttpd.WWW}/alias.txt")
    disk = Disk(BELOW)
    with serving(khttpd.WWW, "--set", "precompressed=1"):
        variant_comes_and_goes("/releases/2/a.txt", other)
        variant_comes_and_goes("/current/a.txt", here)
        variant_comes_and_goes("/alias.txt", f"{khttpd.WWW}/alias.txt")
        variant_comes_and_goes("/below/small", f"{BELOW}/small")
        # What it leads to has none.
        with open(f"{here}.gz", "wb") as variant:
            variant.write(b"packed")
        standing_in("/current/a.txt", "gzip", PLACES)
        standing_in("/alias.txt", None, PLACES)
        os.symlink("releases/2", f"{khttpd.WWW}/next")
        os.rename(f"{khttpd.WWW}/next", f"{khttpd.WWW}/current")
        standing_in("/current/a.txt", None, PLACES)
    ktap.equal(disk.umount(), "", "umount")
    disk.gone()


@ktap.test
def files_with_variants_of_a_program_are_kept():
    """As long as it says that what it has said is so."""
    forever = [f"{what}_timeout=100000" for what in ("attr", "entry", "negative")]
    with serving(khttpd.WWW, "--set", "precompressed=1"), Program(*forever):
        # Also what was read before, and what an access list could allow.
        for path in ("/fuse/whole", "/fuse/group"):
            kept(path, PLACES)
            standing_in(path, "gzip", PLACES)
            kept(path, PLACES)


def asked(place, path, port=8080):
    sock = place.connect(port)
    sock.sendall(GET(path, "Connection: close\r\n"))
    return sock


def until_its_end(sock):
    """All that a connection gives before it ends, in one way or the other."""
    got = b""
    try:
        while more := sock.recv(65536):
            got += more
    except ConnectionResetError:
        pass
    return got


def others_are_served(what):
    """What is cached, what is not yet, what is missing: everywhere."""
    for number, place in enumerate(PLACES):
        name = khttpd.write(f"new-{what}-{number}", b"new").rsplit("/", 1)[1]
        for _ in range(3):
            for path, body in (("/small", b"small"), (f"/{name}", b"new")):
                ktap.equal(khttpd.exchange(place, GET(path)).body, body, f"{path} {what}")
            ktap.equal(status(place, f"/nope-{what}"), 404, f"missing {what}")


def ended(socks):
    """All connections come to an end, without the files."""
    for sock in socks:
        with sock:
            ktap.true(len(until_its_end(sock)) < len(fusefs.DATA), "no file")
    ktap.wait_for(20, "connections are gone", lambda: khttpd.count("connections") == 0)


@ktap.test
def files_of_a_program():
    with serving(), Program():
        for place in PLACES:
            for _ in range(2):
                ktap.true(khttpd.exchange(place, GET("/fuse/whole")).body == fusefs.DATA,
                          "all of it")
            part = khttpd.exchange(place, GET("/fuse/whole", "Range: bytes=5-300004\r\n"))
            ktap.true(part.body == fusefs.DATA[5:300005], "a part of it")
            ktap.equal(status(place, "/fuse/none"), 404, "status of what is missing")


@ktap.test
def a_read_error_ends_the_reply_short():
    with serving(), Program():
        for place in PLACES:
            errors = khttpd.count("read_errors")
            with asked(place, "/fuse/broken") as sock:
                head, body = until_its_end(sock).split(b"\r\n\r\n", 1)
            ktap.true(f"Content-Length: {len(fusefs.DATA)}".encode() in head, "announced")
            ktap.true(len(body) <= fusefs.BROKEN and fusefs.DATA.startswith(body),
                      f"{len(body)} bytes, and right ones")
            ktap.equal(khttpd.count("read_errors"), errors + 1, "read errors")


def hang(program):
    """More requests than may be at work at once, for what never answers: their sockets."""
    before = khttpd.count("jobs_waited")
    socks = [asked(PLACES[n % 2], f"/fuse/hung{n}") for n in range(HUNG)]
    ktap.wait_for(20, "readers hang", lambda: program.questions() > 8)
    socks += [asked(PLACES[n % 2], f"/fuse/unknown{n}") for n in range(UNKNOWN)]
    ktap.wait_for(20, "some wait for those at work",
                  lambda: khttpd.count("jobs_waited") >= before + HUNG + UNKNOWN - AT_WORK)
    return socks


@ktap.test
def a_file_system_that_hangs_stops_nobody_else():
    with serving():
        with Program() as program:
            socks = hang(program)
            others_are_served("beside-hung-files")
        ended(socks)


@ktap.test
def a_file_system_that_hangs_has_half_of_the_connections():
    most = 200
    old = khttpd.limit("max_connections", most)
    try:
        with serving():
            with Program():
                waited, refused = khttpd.count("jobs_waited"), khttpd.count("jobs_refused")
                socks = [asked(PLACES[n % 2], f"/fuse/hung{n}") for n in
                         range(AT_WORK + most // 2)]
                ktap.wait_for(20, "half of them wait", lambda: khttpd.count("jobs_waited") >=
                              waited + most // 2)
                for number in range(40):
                    ktap.equal(status(PLACES[number % 2], f"/fuse/more{number}"), 503, "status")
                ktap.equal(khttpd.count("jobs_refused"), refused + 40, "refused")
                others_are_served("beside-too-many")
            ended(socks)
    finally:
        khttpd.limit("max_connections", old)


@ktap.test
def a_permission_that_is_never_told_stops_nobody_else():
    """The event loops ask nobody whether a file of theirs may still be read."""
    seconds = 3 * ktap.SCALE
    with serving():
        with Program(f"attr_timeout={seconds}", "entry_timeout=1000") as program:
            for place in PLACES:
                ktap.equal(status(place, "/fuse/late"), 200, "status")
            # What is known of the file is too old now; of its directory it is not.
            time.sleep(seconds + 0.2)
            os.stat(FUSE)
            with open(fusefs.HOLD, "wb"):
                pass
            socks = [asked(PLACES[n % 2], "/fuse/late") for n in range(8)]
            ktap.wait_for(20, "somebody waits", lambda: program.questions() > 0)
            others_are_served("beside-a-late-answer")
        ended(socks)


def start(*args):
    """Starts a program, which may never end."""
    # pylint: disable-next=consider-using-with
    return subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def told(*args):
    """What khttpdctl says; it must not wait for what hangs."""
    process = start(f"{khttpd.TOP}/tools/khttpdctl", *args)
    out = process.communicate(timeout=20 * ktap.SCALE)[0]
    ktap.equal(process.returncode, 0, f"status of {' '.join(args)}: {out}")
    return out


@ktap.test
def listeners_are_stopped_and_given_back_while_jobs_hang():
    """What was configured goes, and what is configured later works."""
    place = PLACES[0]
    old = khttpd.limit("stop_timeout", 500)
    try:
        with serving():
            with Program() as program:
                socks = hang(program)
                with khttpd.Server(place, 8091, "behind"):
                    waited = khttpd.count("jobs_waited")
                    socks.append(asked(place, "/fuse/hung", 8091))
                    ktap.wait_for(20, "it waits, too",
                                  lambda: khttpd.count("jobs_waited") > waited)
                    told("detach", "--site", "behind")
                told("stop", "--site", "site0")
                ktap.true("site1" in told("status"), "the other one runs")
                for sock in socks[0:HUNG:2] + socks[-1:]:
                    with sock:
                        ktap.true(len(until_its_end(sock)) < len(fusefs.DATA), "no file")
                told("serve", "--site", "site0", "--docroot", khttpd.WWW, "--listen",
                     place.listen)
                others_are_served("beside-what-was-stopped")
                socks = socks[1:HUNG:2] + socks[HUNG:-1]
            ended(socks)
    finally:
        khttpd.limit("stop_timeout", old)


@ktap.test
def namespace_and_sites_end_while_jobs_hang_and_the_module_after_them():
    old = khttpd.limit("stop_timeout", 500)
    with serving():
        with Program() as program:
            socks = hang(program)
            client = PLACES[1].client
            PLACES[1].server.delete()
            # Interfaces go after the sockets of a namespace, and both ends at once.
            ktap.wait_for(20, "the namespace is gone",
                          lambda: "c0" not in client.run("ip", "-o", "link"))
            told("stop", "--all")
            khttpd.limit("stop_timeout", old)
            ktap.true(khttpd.count("connections") > 0, "the workers' are counted")
            unloading = start("rmmod", "khttpd")
            khttpd.quiet_for(1)
            ktap.equal(unloading.poll(), None, "unloading waits")
        out = unloading.communicate(timeout=20 * ktap.SCALE)[0]
        ktap.equal((unloading.returncode, out), (0, ""), "unloading")
        ktap.run("insmod", f"{ktap.BUILD}/khttpd/khttpd.ko")
    for sock in socks:
        sock.close()


ktap.main(setup)
