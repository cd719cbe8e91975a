# SPDX-License-Identifier: GPL-2.0
"""Files of net.net6.conf and net.net6.neigh, of one device of one namespace.

    conf.use(A, "a0")
    with conf.Set(accept_ra_mtu=0):
        ...
"""

import ktap
import nd

_where = []


def cable(a, b, wire):
    """nd.cable() with its interface down, and its files in use."""
    ktap.net6_load()
    nd.cable(a, b, wire, up=False)
    use(a, "a0")


def use(namespace, dev):
    _where[:] = [namespace, dev]


def _open(name, folder, mode, dev=None):
    with _where[0]:
        return open(f"/proc/sys/net/net6/{folder}/{dev or _where[1]}/{name}", mode,
                    encoding="ascii")


def read(name, folder="conf", dev=None):
    with _open(name, folder, "r", dev) as file:
        return int(file.read())


def write(name, value, folder="conf", dev=None):
    with _open(name, folder, "w", dev) as file:
        file.write(str(value))


class Set:
    """Files that have other values for a time."""

    def __init__(self, folder="conf", **values):
        self.folder, self.values, self.before = folder, values, {}

    def __enter__(self):
        for name, value in self.values.items():
            self.before[name] = read(name, self.folder)
            write(name, value, self.folder)

    def __exit__(self, *exc):
        for name, value in self.before.items():
            write(name, value, self.folder)
