# SPDX-License-Identifier: GPL-2.0
"""Parameters of interfaces and limits, as the netlink specification has them: each attribute
with a `setting`. scripts/netlink-gen writes what is made of them here.

    setting:
      default: 0            what a namespace begins with
      group: ra             interfaces only: its table in Documentation/sysctl.rst; those of
                            neigh are files of net.net6.neigh, all others of net.net6.conf
      word: reachable       net6ctl's, if it is not the attribute's name
      value: number         net6ctl's, if it is not what its bounds suggest: on-off, number
      files: [...]          of sysctl, if it is not one of the attribute's name: name, unit, doc
      bounds:, initial:     in the pages, if these are no numbers

Beside it an attribute may have a `unit` and a `column`, the title in net6ctl's tables.
"""

import re

WIDTH = 100
PLACES = {"octets": "OCTETS", "seconds": "SECONDS", "milliseconds": "MS", None: "N"}
UNITS = {"octets": "Octets", "seconds": "Seconds", "milliseconds": "Milliseconds",
         "ticks": "Hundredths of a second"}
# A file's unit in that of the parameter: as a number, and in C.
TIMES = {("milliseconds", "seconds"): (1000, "MSEC_PER_SEC"),
         ("milliseconds", "ticks"): (10, "MSEC_PER_SEC / USER_HZ")}


def under(name):
    return name.replace("-", "_")


class File:
    """One file of a parameter."""

    def __init__(self, setting, name, unit=None, doc=None):
        self.name = name
        self.unit = unit or setting.unit
        self.times, self.c_times = TIMES.get((setting.unit, self.unit), (1, "1"))
        self.doc = doc or " ".join(filter(None, (
            UNITS[self.unit] + "." if self.unit else "", setting.doc)))
        self.bounds = setting.bounds or span(-(-setting.least // self.times),
                                             setting.most // self.times)
        self.initial = setting.initial or str(setting.default // self.times)


class Setting:
    """An attribute that can be set."""

    def __init__(self, attr):
        own = attr["setting"]
        checks = attr.get("checks", {})
        self.attr = attr["name"]
        self.signed = attr["type"] == "s32"
        self.least, self.most = checks.get("min", 0), checks["max"]
        self.default = own["default"]
        self.unit = attr.get("unit")
        self.doc = " ".join(attr["doc"].split())
        self.group = own.get("group")
        self.word = own.get("word", self.attr)
        self.on_off = own.get("value", "on-off" if (self.least, self.most) == (0, 1)
                              else "number") == "on-off"
        self.bounds, self.initial = own.get("bounds"), own.get("initial")
        self.files = [File(self, **f) for f in
                      own.get("files", [{"name": under(self.attr)}])]
        if not self.least <= self.default <= self.most:
            raise ValueError(f"{self.attr}: {self.default} is out of its bounds")

    def values(self):
        """The words that may follow net6ctl's, or None if these are too many."""
        if self.on_off:
            return ["on", "off", "2"][:self.most + 1]
        if self.most - self.least <= 3:
            return [str(n) for n in range(self.least, self.most + 1)]
        return None

    def place(self):
        values = self.values() or [PLACES[self.unit]] + ["-1"] * (self.least == -1)
        return "|".join(values)


def span(least, most):
    return "0, 1" if (least, most) == (0, 1) else f"{least}..{most}"


def settings(spec, name):
    attrs = next(s for s in spec["attribute-sets"] if s["name"] == name)["attributes"]
    return [Setting(a) for a in attrs if "setting" in a]


def macro(name, arguments, lines):
    return " \\\n\t".join([f"#define {name}{arguments}"] + lines).split("\n") + [""]


# The kernel's

def first_sentence(setting):
    return re.match(r".*?\.(?= |$)", setting.doc)[0].replace("``", "")


def c_lists(spec):
    params, limits = settings(spec, "iface"), settings(spec, "limits")
    lines = ["/* X(name, least, largest, initial) */"]
    lines += macro("NET6_PARAM_LIST", "(X)", [line for s in params for line in (
        f"/* {first_sentence(s)} */",
        f"X({under(s.attr).upper()}, {s.least}, {s.most}, {s.default})")])
    for folder in ("conf", "neigh"):
        lines += [f"/* X(file of net.net6.{folder}, parameter, its unit in the parameter's) */"]
        lines += macro(f"NET6_PARAM_{folder.upper()}_FILES", "(X)", [
            f'X("{f.name}", {under(s.attr).upper()}, {f.c_times})' for s in params
            for f in s.files if (s.group == "neigh") == (folder == "neigh")])
    lines += ["/* Bounds on what the network and users can make us remember, per namespace or",
              " * interface, that `net6ctl set limits` changes.", " */", "struct net6_limits {"]
    for s in limits:
        lines += [f"\t/* {first_sentence(s)} */", f"\tu32 {under(s.attr)};"]
    lines += ["};", "", "/* X(field, attribute, least, largest, initial) */"]
    lines += macro("NET6_LIMIT_LIST", "(X)", [
        f"X({under(s.attr)}, {under(s.attr).upper()}, {s.least}, {s.most}, {s.default})"
        for s in limits])
    return lines
