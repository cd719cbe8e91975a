# SPDX-License-Identifier: GPL-2.0
"""Results as kept in JSON: merging, ratios, tables, comparison of two files. No I/O but of
the result files themselves; tested by selftests/unit/bench_test.py.

    {"format": 1, "made": {...}, "experiments": {NAME: {"status": "complete" | "partial",
     "lacks": [TEXT...], "made": {...}, "seconds": S, "rows": [ROW...]}}}

A ROW is one cell: {"figure", "case": {...}, "stack", "unit", "values": [...]}.
"""
import json
import math
import os

FORMAT = 1
STATUS = ("complete", "partial")
# What others are compared with: the first of these that a figure has.
BASES = ("net6", "khttpd on net6", "khttpd")
# Of so many runs the quarter at either end does not count.
MANY = 10
# Two runs agree when ratios differ by less, in per cent.
AGREE = 3.0
# A function's share of its side; and instructions that include the idle loop and the timers'
# interrupts until the device's queue lets go.
SHARE, WAITS = "% of the side", "instructions, waiting included"
# No ratios of these, of counts near zero, and of what is derived from other figures. None of
# httperf's response times: below saturation they are a tenth of a millisecond, its resolution, and
# above it the length of the queue.
NOT_COMPARED = ("errors", "connections", "% of IPv4", "ms", SHARE, WAITS)


# These are not compared by themselves either: what is derived, and the queue's lengths.
NOT_DIFFED = ("% of IPv4", "ms", "connections", SHARE, WAITS)


class BadResults(Exception):
    """A file that is no result file; the text says why."""


def mean(values):
    return sum(values) / len(values)


def deviation(values):
    """Standard deviation of a sample; 0 of one value."""
    if len(values) < 2:
        return 0.0
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1))


def kept(row):
    """The values of a cell that count: of ten runs or more not the quarter at either end. Under
    overload one run in thirty has a connection whose SYN is lost and repeated after a second, and
    of ten runs that are two at times."""
    values = sorted(row["values"])
    cut = len(values) // 4 if len(values) >= MANY else 0
    return values[cut:len(values) - cut]


def value_of(row):
    return mean(kept(row))


def spread_of(row):
    """How far the runs are apart, all of them."""
    return deviation(row["values"])


def error_of(row):
    """What a mean of so many runs may be off by: the standard error of value_of(). Of a mean without
    the ends that is by the values with the ends drawn in (Tukey and McLaughlin 1963)."""
    inner = kept(row)
    drawn = [min(max(v, inner[0]), inner[-1]) for v in row["values"]] \
        if len(inner) < len(row["values"]) else row["values"]
    return deviation(drawn) * len(drawn) / len(inner) / math.sqrt(len(drawn))


def fit(points):
    """The line through (x, y) by least squares of what it misses in shares of y, y > 0: (y at 0,
    slope). What is off by a part of a long message's cost would else be all of a short one's."""
    weight = [y ** -2 for _, y in points]
    mx = sum(w * x for w, (x, _) in zip(weight, points)) / sum(weight)
    my = sum(w * y for w, (_, y) in zip(weight, points)) / sum(weight)
    spread = sum(w * (x - mx) ** 2 for w, (x, _) in zip(weight, points))
    slope = (sum(w * (x - mx) * (y - my) for w, (x, y) in zip(weight, points)) / spread
             if spread else 0.0)
    return my - slope * mx, slope


def key_of(row):
    return row["figure"], json.dumps(row["case"], sort_keys=True), row["stack"]


def merge(rows):
    """Rows of one cell put together, in the order in which cells came first."""
    cells = {}
    for row in rows:
        cell = cells.setdefault(key_of(row), dict(row, values=[]))
        cell["values"] = cell["values"] + row["values"]
    return list(cells.values())


def collect(lines):
    """The guest's lines to (rows, lacks, complete, other entries). A torn last line, of a
    guest that died while it wrote, is left out."""
    rows, lacks, other, complete = [], [], [], False
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not isinstance(entry, dict):
            continue
        if "figure" in entry:
            rows.append(entry)
        elif "lack" in entry:
            lacks.append(entry["lack"])
        elif "complete" in entry:
            complete = True
        else:
            other.append(entry)
    return merge(rows), lacks, complete, other


def together(entries):
    """Entries of several boots of one experiment as one: its cells have the values of all."""
    return dict(entries[0], rows=merge(row for entry in entries for row in entry["rows"]),
                lacks=list(dict.fromkeys(lack for entry in entries for lack in entry["lacks"])),
                status=max((entry["status"] for entry in entries), key=STATUS.index),
                seconds=sum(entry["seconds"] for entry in entries))


def save(path, results):
    """All or nothing: a full disk leaves the old file."""
    part = f"{path}.part"
    try:
        with open(part, "w") as f:
            json.dump(results, f, indent=1)
            f.write("\n")
            f.flush()
            os.fsync(f.fileno())
        os.replace(part, path)
    except OSError:
        if os.path.exists(part):
            os.unlink(part)
        raise


def load(path):
    try:
        with open(path) as f:
            results = json.load(f)
    except ValueError as error:
        raise BadResults(f"{path}: {error}") from error
    if (not isinstance(results, dict) or results.get("format") != FORMAT
            or not isinstance(results.get("experiments"), dict)
            or not isinstance(results.get("made"), dict)):
        raise BadResults(f"{path}: not a result file of format {FORMAT}")
    return results


def whole(results):
    """There is something, and nothing is partial."""
    return bool(results["experiments"]) and all(e["status"] == "complete"
                                                for e in results["experiments"].values())


def cells(results):
    """{(experiment, figure, case, stack): row} of a result file."""
    return {(name,) + key_of(row): row for name, experiment in results["experiments"].items()
            for row in experiment["rows"]}


def ratios(results):
    """{(experiment, figure, case, "stack/base"): (ratio, its relative error)}."""
    found, table = {}, cells(results)
    for (name, figure, case, stack), row in table.items():
        for base in BASES:
            other = table.get((name, figure, case, base))
            if other:
                break
        if not other or other is row or row["unit"] in NOT_COMPARED:
            continue
        top, bottom = value_of(row), value_of(other)
        if top > 0 and bottom > 0:
            found[name, figure, case, f"{stack}/{base}"] = (
                top / bottom, math.hypot(error_of(row) / top, error_of(other) / bottom))
    return found


def diff(old, new, over=AGREE):
    """Changes between two result files: (flagged, compared, only in one).

    A ratio or a cell is flagged when it changed by more than @over per cent and by more than
    two standard errors of both. A cell that was zero or is zero now always is. Each is (what, old,
    new, change in per cent), largest change first.
    """
    flagged, compared, single = [], 0, []
    for a, b, what in ((ratios(old), ratios(new), "ratio"), (costs(old), costs(new), "cost")):
        single += [key for key in a.keys() ^ b.keys() if what == "cost"]
        for key in a.keys() & b.keys():
            (before, error), (after, other) = a[key], b[key]
            compared += 1
            if before > 0 and after > 0:
                change = 100 * (after / before - 1)
                noise = 200 * math.hypot(error, other)
            else:
                change, noise = math.copysign(math.inf, after - before), 0
                if before == after:
                    continue
            if abs(change) > over and abs(change) > noise:
                flagged.append(((what,) + key, before, after, change))
    flagged.sort(key=lambda item: -abs(item[3]))
    return flagged, compared, sorted(single)


def costs(results):
    """{cell: (mean, its relative error)} of what is no derived figure."""
    return {key: (value_of(row), error_of(row) / value_of(row) if value_of(row) > 0 else 0)
            for key, row in cells(results).items() if row["unit"] not in NOT_DIFFED}


def agreement(old, new, over=AGREE):
    """Whether all ratios agree, as four things. Those that differ by more than @over per cent,
    whatever their spread, largest difference first. How many were compared. Ratios in one file
    only. Experiments that are not complete or not in both."""
    a, b = ratios(old), ratios(new)
    changes = [(100 * (b[key][0] / a[key][0] - 1), key) for key in a.keys() & b.keys()]
    differ = sorted(((change, key, a[key], b[key]) for change, key in changes
                     if abs(change) > over), key=lambda item: -abs(item[0]))
    whole = [{n for n, e in f["experiments"].items() if e["status"] == "complete"}
             for f in (old, new)]
    names = old["experiments"].keys() | new["experiments"].keys()
    return differ, len(changes), sorted(a.keys() ^ b.keys()), sorted(names - (whole[0] & whole[1]))


def agreement_text(old, new, over=AGREE):
    """The same to read, and whether they agree."""
    differ, compared, single, partial = agreement(old, new, over)
    lines = [f"{change:+7.1f} %  {name} {figure}, {words_of(case)}, {stack}: "
             f"{before[0]:.3f} ± {100 * before[1]:.1f} % -> "
             f"{after[0]:.3f} ± {100 * after[1]:.1f} %"
             for change, (name, figure, case, stack), before, after in differ]
    lines += [f"in one only     {name} {figure}, {words_of(case)}, {stack}"
              for name, figure, case, stack in single]
    lines += [f"not complete in both: {name}" for name in partial]
    lines.append(f"{compared} ratios compared, {len(differ)} differ by more than {over:g} %")
    return "\n".join(lines), not (differ or single or partial) and compared > 0


def repeatability(files):
    """{experiment: (ratios in all files, median and largest relative deviation, which)}."""
    found, tables_ = {}, [ratios(f) for f in files]
    for key in tables_[0].keys() & set.intersection(*(set(t) for t in tables_)):
        values = [t[key][0] for t in tables_]
        found.setdefault(key[0], []).append((deviation(values) / mean(values), key))
    return {name: (len(all_), sorted(d for d, _ in all_)[len(all_) // 2], *max(all_))
            for name, all_ in found.items()}


def repeatability_text(files):
    lines = [f"{len(files)} files; deviation of ratios"]
    for name, (count, median, most, key) in repeatability(files).items():
        lines.append(f"{name:13} {count:5} ratios, median {100 * median:.2f} %, largest "
                     f"{100 * most:.2f} % ({key[1]}, {words_of(key[2])}, {key[3]})")
    return "\n".join(lines)


def boots(files):
    """Rows of all files as one: the values of a cell are its means, file by file. Cells that
    some file lacks are left out."""
    tables_ = [cells(f) for f in files]
    common = set.intersection(*(set(t) for t in tables_))
    return [dict(row, values=[value_of(t[key]) for t in tables_])
            for key, row in tables_[0].items() if key in common]


def boots_text(files):
    """For each cell and each ratio the mean over the files and its deviation in per cent."""
    def cell(values):
        return f"{number(mean(values))} ± {100 * deviation(values) / mean(values):.2f} %"

    out = []
    for figure, unit, stacks, lines in tables(boots(files)):
        base, others = table_header(stacks, unit)
        out.append(f"{f'{figure} ({unit}), {len(files)} boots':46}"
                   + "".join(f"{s:>20}" for s in stacks + [f"{s}/{base}" for s in others]))
        for case, row in lines:
            found = [row[s]["values"] if s in row else [0] for s in stacks]
            found += [[a / b for a, b in zip(row[s]["values"], row[base]["values"])]
                      if s in row and base in row and min(row[base]["values"]) > 0 else [0]
                      for s in others]
            out.append(f"{words_of(case):46}"
                       + "".join(f"{cell(v) if mean(v) > 0 else '-':>20}" for v in found))
        out.append("")
    return "\n".join(out)


def words_of(case):
    return ", ".join(f"{v}" if isinstance(v, str) else f"{v} {k}"
                     for k, v in json.loads(case).items())


def diff_text(old, new, over=AGREE):
    """The comparison to read, and whether anything is flagged."""
    flagged, compared, single = diff(old, new, over)
    lines = []
    for (what, name, figure, case, stack), a, b, change in flagged:
        lines.append(f"{change:+7.1f} %  {what:5}  {name} {figure}, {words_of(case)}, {stack}: "
                     f"{number(a)} -> {number(b)}")
    for name, figure, case, stack in single:
        lines.append(f"in one only     {name} {figure}, {words_of(case)}, {stack}")
    for results, which in ((old, "old"), (new, "new")):
        for name, experiment in results["experiments"].items():
            if experiment["status"] != "complete":
                lines.append(f"the {which} {name} is {experiment['status']}")
    lines.append(f"{compared} figures compared, {len(flagged)} changed by more than {over:g} % "
                 "and more than twice their error")
    partial = not (whole(old) and whole(new))
    return "\n".join(lines), bool(flagged or single or partial or not compared)


def number(value):
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


def tables(rows):
    """Per figure (figure, unit, stacks, [(case, {stack: row})])."""
    found = {}
    for row in rows:
        _, _, stacks, lines = found.setdefault(row["figure"], (row["figure"], row["unit"], [], {}))
        if row["stack"] not in stacks:
            stacks.append(row["stack"])
        lines.setdefault(json.dumps(row["case"]), {})[row["stack"]] = row
    return [(figure, unit, stacks, list(lines.items()))
            for figure, unit, stacks, lines in found.values()]


def cell_text(row):
    """Mean, and deviation when there is one."""
    if not row:
        return "-"
    text = number(value_of(row))
    spread = spread_of(row)
    return text if spread <= 0.0005 * abs(value_of(row)) else f"{text} ± {number(spread)}"


def table_header(stacks, unit):
    """The column that others are compared with, and those."""
    base = next((b for b in BASES if b in stacks), None) if unit not in NOT_COMPARED else None
    return base, [s for s in stacks if base and s != base]


def table_text(figure, unit, stacks, lines):
    """A table in plain text with the ratios to the base."""
    base, others = table_header(stacks, unit)
    heads = list(stacks) + [f"{s}/{base}" for s in others]
    wide = [max(20, len(head) + 2) for head in heads]
    out = [f"{figure + ' (' + unit + ')':46}" + "".join(map(str.rjust, heads, wide))]
    for case, row in lines:
        cells = [cell_text(row.get(s)) for s in stacks]
        for s in others:
            ok = row.get(s) and row.get(base) and value_of(row[base]) > 0
            cells.append(f"{value_of(row[s]) / value_of(row[base]):.2f}" if ok else "-")
        out.append(f"{words_of(case):46}" + "".join(map(str.rjust, cells, wide)))
    return "\n".join(out)
