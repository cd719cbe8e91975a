#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Certificates of HTTPS that are renewed: as ACME clients do it, by links, by directories in the place
# of others and by mounts. khttpd-tlsd waits until it is told, and looks each second where nobody can
# tell.
#
#	[ clients, khttpd and khttpd-tlsd on lo ]
#
# timeout: 240
# pylint: disable=missing-function-docstring
import os
import shutil
import signal
import ssl
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
import https   # pylint: disable=wrong-import-position
import khttpd  # pylint: disable=wrong-import-position
import ktap    # pylint: disable=wrong-import-position

GET = khttpd.get
# As certbot has them, and a site with these.
CERTBOT = f"{https.DIR}/certbot"
LIVE, ARCHIVE = f"{CERTBOT}/live/a", f"{CERTBOT}/archive/a"
FILES = {"pem": "fullchain", "key": "privkey"}


@ktap.test
def a_certificate_is_renewed():
    def serial(sock):
        return sock.getpeercert()["serialNumber"]
    with https.connect() as kept:
        reader = khttpd.Reader(kept)
        old, before = https.context(), https.workers()
        https.certificate("a.example")

        def renewed():
            try:
                with https.connect() as sock:
                    return serial(sock) != serial(kept)
            except ssl.SSLError:
                return False
        ktap.wait_for(30, "the new certificate", renewed)
        # Until then both take connections.
        ktap.wait_for(20, "the old workers end", lambda: not https.workers() & before)
        kept.sendall(GET("/a.txt"))
        ktap.equal(reader.reply().status, 200, "a connection from before")
        ktap.true(https.shunned(old), "the old one")
    # One that is no good changes nothing.
    os.rename(f"{https.DIR}/a.example.pem", f"{https.DIR}/kept")
    ktap.wait_for(20, "it is seen", lambda: https.refusals() == 1)
    https.DAEMON[0].send_signal(signal.SIGHUP)
    ktap.wait_for(20, "it is tried", lambda: https.refusals() == 2)
    with https.connect(ctx=https.context(name=None)) as sock:
        https.fetches(sock)
    before = https.workers()
    os.rename(f"{https.DIR}/kept", f"{https.DIR}/a.example.pem")
    ktap.wait_for(20, "workers with the good one", lambda: not https.workers() & before)


def linked(kind, turn):
    """As certbot does: the file's name is a link to one of an archive."""
    os.rename(f"{https.DIR}/new.{kind}", f"{https.DIR}/{kind}{turn}")
    os.symlink(f"{kind}{turn}", f"{https.DIR}/link")
    os.rename(f"{https.DIR}/link", f"{https.DIR}/a.example.{kind}")


def written(kind, _):
    """As lego does."""
    with open(f"{https.DIR}/new.{kind}", "rb") as new, \
            open(f"{https.DIR}/a.example.{kind}", "wb") as file:
        file.write(new.read())


@ktap.test
def as_acme_clients_renew_them():
    """One file after the other, with a look of the daemon's between them."""
    with https.connect() as kept:
        for turn, way in enumerate((linked, linked, written, written)):
            https.new_certificate("a.example")
            old, seen = https.context(), https.refusals()
            way("key", turn)
            ktap.wait_for(20, "they do not belong together", lambda s=seen: https.refusals() > s)
            ktap.true(not https.shunned(old), "the old one")
            way("pem", turn)
            ktap.wait_for(30, "the new one", lambda: not https.shunned(https.context()))
        kept.sendall(GET("/a.txt"))
        ktap.equal(khttpd.Reader(kept).reply().status, 200, "a connection from before")
    https.certificate("a.example")
    ktap.wait_for(30, "files again", lambda: not https.shunned(https.context()))


@ktap.test
def a_worker_that_cannot_begin_is_tried_again():
    """Not so a certificate that is no good, above: nothing changes here meanwhile."""
    group = f"{pids_cgroup()}/tlsd"
    os.mkdir(group)
    https.write_line(f"{group}/cgroup.procs", str(https.DAEMON[0].pid))
    https.write_line(f"{group}/pids.max", "1")
    before, seen = https.workers(), https.refusals()
    https.certificate("a.example")
    ktap.wait_for(20, "no new worker", lambda: https.refusals() > seen)
    ktap.equal(https.workers(), before, "the old ones go on")
    ktap.true(https.shunned(https.context()), "with the old certificate")
    ktap.wait_for(30, "it is tried again", lambda: processes_refused(group) > 2)
    ktap.equal(https.refusals(), seen + 1, "it is said once")
    https.write_line(f"{group}/pids.max", "max")
    ktap.wait_for(20, "the new certificate", lambda: not https.shunned(https.context()))
    ktap.wait_for(20, "the old workers end", lambda: not https.workers() & before)
    with https.connect() as sock:
        https.fetches(sock)
    https.stop_daemon()
    ktap.wait_for(20, "all have gone", lambda: not ktap.failing(os.rmdir, group))
    https.start_daemon()


def pids_cgroup():
    """The root of cgroup2, whose groups can have few processes."""
    root = ktap.CGROUPS[0]
    os.makedirs(root, exist_ok=True)
    ktap.run("mount", "-t", "cgroup2", "none", root)
    ktap.at_exit(ktap.run, "umount", root)
    try:
        https.write_line(f"{root}/cgroup.subtree_control", "+pids")
    except OSError as error:
        raise ktap.Skip("no controller of processes") from error
    return root


def processes_refused(group):
    with open(f"{group}/pids.events", encoding="ascii") as file:
        return int(file.read().split()[1])


def waits():
    """How often the daemon's parent has waited."""
    with open(f"/proc/{https.DAEMON[0].pid}/status", encoding="ascii") as file:
        return int(dict(line.split(":") for line in file)["voluntary_ctxt_switches"])


def woken(seconds=4):
    """How often it is woken in that time, when it has done what there was to do."""
    time.sleep(1.5)
    before = waits()
    time.sleep(seconds)
    return waits() - before


@ktap.test
def nobody_is_woken_while_nothing_changes():
    ktap.equal(woken(), 0, "with good ones")
    seen = https.refusals()
    os.rename(f"{https.DIR}/a.example.pem", f"{https.DIR}/kept")
    ktap.wait_for(20, "it is seen", lambda: https.refusals() > seen)
    ktap.equal(woken(), 0, "with one that is no good")
    os.rename(f"{https.DIR}/kept", f"{https.DIR}/a.example.pem")
    ktap.wait_for(20, "the good one", lambda: not https.shunned(https.context()))


def archive(turn, live=LIVE):
    """New ones of the archive, and links to them."""
    https.new_certificate("a.example")
    for path in (ARCHIVE, live):
        os.makedirs(path, exist_ok=True)
    shutil.copy(f"{https.DIR}/new.pem", f"{https.DIR}/a.example.pem")
    for kind, name in FILES.items():
        os.rename(f"{https.DIR}/new.{kind}", f"{ARCHIVE}/{name}{turn}.pem")
        if os.path.lexists(f"{live}/{name}.pem"):
            os.unlink(f"{live}/{name}.pem")
        os.symlink(f"../../archive/a/{name}{turn}.pem", f"{live}/{name}.pem")


def linked_anew():
    archive(2)


def moved_and_made_again():
    seen = https.refusals()
    os.rename(CERTBOT, f"{CERTBOT}.old")
    ktap.wait_for(20, "nothing is there", lambda: https.refusals() > seen)
    archive(1)


def removed_and_made_again():
    shutil.rmtree(CERTBOT)
    archive(1)


def a_link_on_the_way_leads_elsewhere():
    """As volumes of Kubernetes are renewed: with one rename()."""
    os.rename(f"{CERTBOT}/live", f"{CERTBOT}/live1")
    os.symlink("live1", f"{CERTBOT}/live")
    archive(2, f"{CERTBOT}/live2/a")
    os.symlink("live2", f"{CERTBOT}/link")
    os.rename(f"{CERTBOT}/link", f"{CERTBOT}/live")


def behind_a_link():
    """The directory to which it leads is on the way, too."""
    os.rename(f"{CERTBOT}/live2", f"{CERTBOT}/live1.old")
    archive(3, f"{CERTBOT}/live2/a")


def mounted():
    """On the directory of links: what it covers has none of its names changed."""
    seen = https.refusals()
    ktap.run("mount", "-t", "tmpfs", "none", f"{CERTBOT}/live2/a")
    ktap.wait_for(20, "nothing is there", lambda: https.refusals() > seen)
    archive(4)
    served_by("what was mounted")
    ktap.run("umount", f"{CERTBOT}/live2/a")
    shutil.copy(f"{ARCHIVE}/fullchain3.pem", f"{https.DIR}/a.example.pem")


def served_by(what):
    ktap.wait_for(20, f"the new one, {what}", lambda: not https.shunned(https.context()))


def serve_of_certbot(*more):
    shutil.rmtree(CERTBOT, ignore_errors=True)
    archive(1)
    khttpd.ctl("stop")
    khttpd.ctl("serve", "--docroot", khttpd.WWW, "--listen", f"127.0.0.1:{https.PORT},tls",
               "--certificate", f"{LIVE}/fullchain.pem", "--key", f"{LIVE}/privkey.pem", *more)
    served_by("the first")


@ktap.test
def what_is_on_the_way_changes():
    serve_of_certbot()
    for way in (linked_anew, moved_and_made_again, removed_and_made_again,
                a_link_on_the_way_leads_elsewhere, behind_a_link, mounted):
        way()
        served_by(way.__name__)
        ktap.equal(woken(2), 0, f"woken after {way.__name__}")


@ktap.test
def what_cannot_be_watched_is_looked_at():
    """And is watched when it can be."""
    serve_of_certbot()
    path = "/proc/sys/fs/inotify/max_user_watches"
    with open(path, encoding="ascii") as file:
        before = file.read().strip()
    https.write_line(path, "1")
    try:
        for turn in (2, 3):
            archive(turn)
            served_by(f"looked at, {turn}")
        ktap.true(woken() >= 3, "each second")
        with open(https.LOG, encoding="ascii") as file:
            ktap.equal(file.read().count("No space left on device: files are looked at each second"),
                       1, "it is said once")
    finally:
        https.write_line(path, before)
    ktap.equal(woken(), 0, "watched again")
    archive(4)
    served_by("watched")


@ktap.test
def what_another_machine_may_change_is_looked_at():
    """The guest's own files are the host's, by 9p."""
    path = "/etc/ssl/certs/ca-certificates.crt"
    if not os.path.exists(path) or os.major(os.stat(path).st_dev):
        raise ktap.Skip(f"no {path} of the host's")
    serve_of_certbot("--set", f"client_ca={path}")
    ktap.true(woken() >= 3, "each second")
    with open(https.LOG, encoding="ascii") as file:
        said = file.read()
    ktap.equal(said.count(f"{path}: Object is remote: files are looked at"), 1, said)
    serve_of_certbot()
    ktap.equal(woken(), 0, "watched again")


ktap.main(https.setup)
