# SPDX-License-Identifier: GPL-2.0
"""Files and databases: rsync, sftp, Redis, memcached and PostgreSQL."""
import glob
import os

import ktap
import programs as p

SFTP_COPIES = 100	# of the data file of 1 MB


def rsync():
    p.need("rsync")
    number = p.port()
    config = p.write("rsyncd.conf", f"uid=0\ngid=0\nuse chroot=no\npid file={p.path('rsync.pid')}\n"
                     f"[data]\npath={p.folder}\nread only=no\n")
    p.server("rsync", "--daemon", "--no-detach", "-6", f"--port={number}", f"--config={config}")
    p.listening(number)
    there = f"rsync://[{p.SERVER}]:{number}/data"
    p.client("rsync", "-6", f"{there}/data", p.path("rsync"))
    p.same("rsync")
    p.client("rsync", "-6", p.path("rsync"), f"{there}/rsync-back")
    p.same("rsync-back")


def sftp():
    p.need("sftp", "ssh-keygen", "/usr/sbin/sshd")
    number = p.port()
    for name in ("host", "user"):
        ktap.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", p.path(name))
    os.makedirs("/run/sshd", exist_ok=True)
    config = p.write("sshd.conf", f"AddressFamily inet6\nPort {number}\nListenAddress {p.SERVER}\n"
                     f"HostKey {p.path('host')}\nPidFile none\nUsePAM no\nStrictModes no\n"
                     f"AuthorizedKeysFile {p.path('user.pub')}\nPermitRootLogin yes\n"
                     "Subsystem sftp internal-sftp\n")
    p.server("/usr/sbin/sshd", "-D", "-e", "-f", config)
    p.listening(number)
    with open(p.path("data"), "rb") as file, open(p.path("big"), "wb") as big:
        data = file.read()
        for _ in range(SFTP_COPIES):
            big.write(data)
    p.client("sftp", "-q", "-P", number, "-i", p.path("user"), "-o", "StrictHostKeyChecking=no",
             "-o", "UserKnownHostsFile=/dev/null", f"root@[{p.SERVER}]:{p.path('big')}",
             p.path("got"), timeout=300)
    ktap.run("cmp", p.path("big"), p.path("got"))
    for name in ("big", "got"):
        os.unlink(p.path(name))


def redis():
    p.need("redis-server", "redis-benchmark")
    number = p.port()
    p.server("redis-server", "--port", number, "--bind", "::", "--protected-mode", "no",
             "--save", "", "--dir", p.folder)
    p.listening(number)
    out = p.client("redis-benchmark", "-h", p.SERVER, "-p", number, "-q", "-n", "500", "-c", "10",
                   "-t", "set,get")
    ktap.true("GET:" in out and "requests per second" in out, out)


def memcached():
    """It comes without a client: socat speaks for one."""
    p.need("memcached", "socat")
    number = p.port()
    p.server("memcached", "-u", "root", "-l", p.SERVER, "-p", number, "-t", "1")
    p.listening(number)
    out = p.client("bash", "-c", r"printf 'set k 0 0 5\r\nvalue\r\nget k\r\nquit\r\n' | "
                   f"socat -t 30 - 'TCP6:[{p.SERVER}]:{number}'")
    ktap.equal(out.split(), "STORED VALUE k 0 5 value END".split(), "answers")


def postgresql():
    """A new database, filled and used by pgbench from four connections."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not found:
        raise ktap.Skip("no PostgreSQL")

    def program(name):
        return os.path.join(found[-1], name)
    number, data = p.port(), p.path("postgresql")
    os.mkdir(data, 0o700)
    os.chown(data, 65534, 65534)
    ktap.run(*p.NOBODY, program("initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-N",
             "--no-locale", "-E", "SQL_ASCII", timeout=300)
    with open(os.path.join(data, "pg_hba.conf"), "a", encoding="ascii") as file:
        file.write("host all all fd00::/64 trust\n")
    settings = {"listen_addresses": p.SERVER, "unix_socket_directories": "", "fsync": "off",
                "shared_buffers": "16MB", "max_connections": "10", "autovacuum": "off"}
    p.server(*p.NOBODY, program("postgres"), "-D", data, "-p", number,
             *(word for name, value in settings.items() for word in ("-c", f"{name}={value}")))
    p.listening(number)
    there = ("-h", p.SERVER, "-p", number, "-U", "postgres")
    ktap.wait_for(90, "PostgreSQL takes connections", lambda: "accepting" in p.client(
        program("pg_isready"), *there, "-d", "postgres", check=False))
    p.client(program("pgbench"), *there, "-i", "-s", "1", "-q", "postgres", timeout=300)
    out = p.client(program("pgbench"), *there, "-c", "4", "-t", "20", "postgres", timeout=300)
    ktap.true("actually processed: 80/80" in out, out)
