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
import textwrap

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


# net6ctl's

def column(set_name, attr):
    title = attr.get("column")
    if set_name == "limits":
        title = attr["name"].upper()
    kind = "KIND_S32" if attr["type"] == "s32" else "KIND_U32"
    if title and attr.get("unit") == "milliseconds":
        kind = "KIND_AGE"
    if "setting" in attr and Setting(attr).on_off:
        kind = "KIND_BOOL"
    title = f'"{title}"' if title else "NULL"
    return (f'{{ NET6_A_{set_name.upper()}_{under(attr["name"]).upper()}, {kind}, '
            f'"{under(attr["name"])}", {title}, NULL }},')


def help_lines(text, some):
    words = [f"[{s.word} {s.place()}]" for s in some]
    # A word and its value stay together.
    wrapped = textwrap.wrap(text + " " + " ".join(w.replace(" ", "~") for w in words), 84,
                            initial_indent="  ", subsequent_indent="      ",
                            break_long_words=False, break_on_hyphens=False)
    return [f'"{line.replace("~", " ")}\\n"' for line in wrapped]


def ctl_lists(spec):
    lines = []
    for name, command in (("iface", "set dev DEV"), ("limits", "set limits")):
        attrs = next(s for s in spec["attribute-sets"] if s["name"] == name)["attributes"]
        some = settings(spec, name)
        lines += [f"/* What `{command}` takes: struct setting. */"]
        lines += macro(f"{name.upper()}_SETTINGS", "", [
            f'{{ "{s.word}", NET6_A_{name.upper()}_{under(s.attr).upper()}, '
            f'{s.most if s.on_off else "MINUS_ONE" if s.signed else 0}, '
            f'{s.least}, {s.most}, {s.default} }},' for s in some])
        lines += ["/* Its line of the usage. */"]
        lines += macro(f"{name.upper()}_HELP", "", help_lines(command + " [defaults]", some))
        lines += ["/* What is shown of it: struct column. */"]
        lines += macro(f"{name.upper()}_COLUMNS", "", [
            column(name, a) for a in attrs if "setting" in a or "column" in a])
    return lines


def completion(spec):
    lines, by_values = [], {}
    for name, variable in (("iface", "_net6ctl_dev"), ("limits", "_net6ctl_limits")):
        some = settings(spec, name)
        lines += textwrap.wrap(f'{variable}="{" ".join(s.word for s in some)}"', WIDTH - 10,
                               subsequent_indent="\t", break_on_hyphens=False)
        for s in some:
            by_values.setdefault(tuple(s.values() or ()), []).append(s.word)
    by_values.pop((), None)
    lines += ["", "# What may follow a word, if that is one of a few.", "_net6ctl_values() {", "\tcase $1 in"]
    for values, words in by_values.items():
        cases = textwrap.wrap("| ".join(words), WIDTH - 12, break_on_hyphens=False)
        lines += ["\t" + c.replace("| ", "|") + "\\" for c in cases[:-1]]
        lines += ["\t" + cases[-1].replace("| ", "|") + ")", f"\t\techo {' '.join(values)} ;;"]
    return lines + ["\tesac", "}"]


# The pages'

def table(files):
    rows = [("file", "bounds", "initial", "")]
    rows += [(f"``{f.name}``", f.bounds, f.initial, f.doc) for f in files]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    left = sum(widths) + 2 * len(widths)
    rule = "  ".join("=" * width for width in widths + [WIDTH - left])
    lines = [rule]
    for number, row in enumerate(rows):
        text = textwrap.wrap(row[3], WIDTH - left, break_on_hyphens=False) or [""]
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        lines.append(("  ".join(cells) + "  " + text[0]).rstrip())
        lines += [" " * left + line for line in text[1:]]
        if number == 0:
            lines.append(rule)
    return lines + [rule]


def tables(spec):
    params = settings(spec, "iface")
    out = {}
    for s in params:
        out.setdefault(s.group, []).extend(s.files)
    out["limits"] = [f for s in settings(spec, "limits") for f in s.files]
    return {name: [""] + table(files) + [""] for name, files in out.items()}


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def page_text(text, words):
    """A file's name becomes net6ctl's word for it, if there is one."""
    def name(match):
        word = words.get(match[1], match[1])
        return "\\fB" + roff(word).replace(" ", "~") + "\\fP"
    text = re.sub(r"(?<!\S)-(?=\d)", r"\\-", re.sub(r"``(.*?)``", name, text))
    lines = textwrap.wrap(text, WIDTH - 10, break_on_hyphens=False)
    return [("\\&" if line[0] in ".'" else "") + line.replace("~", " ") for line in lines]


def page(spec, name):
    words = {f.name: s.word for s in settings(spec, "iface") + settings(spec, "limits")
             for f in s.files}
    lines = [".RS"]
    for s in settings(spec, name):
        values, initial = s.values(), s.initial or str(s.default)
        if values:
            place = roff(" | ".join(values))
            if s.on_off:
                initial = ("off", "on", "2")[s.default]
        else:
            place = f"\\fI{PLACES[s.unit]}\\fP, {roff(s.bounds or span(s.least, s.most))}"
        lines += [".TP", f'.BR {roff(s.word)} " {place}, initially {roff(initial)}"']
        lines += page_text(s.doc, words)
    return lines + [".RE"]


def regions(text, parts, path):
    """`text`, each part of it between the lines that say where it begins and ends."""
    lines, inside = [], None
    for line in text.splitlines():
        if "end: scripts/netlink-gen" in line:
            inside = None
        if inside is None:
            lines.append(line)
        match = re.search(r"begin: scripts/netlink-gen (\w+)", line)
        if match:
            inside = match[1]
            lines += parts.pop(inside)
    if parts or inside is not None:
        raise ValueError(f"{path}: no place, or no end, for {inside or ', '.join(parts)}")
    return "\n".join(lines) + "\n"
