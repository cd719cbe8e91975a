# SPDX-License-Identifier: GPL-2.0
"""Pictures (SVG and PNG) and the HTML page of a result file. The page holds everything and
needs no network."""
import html
import importlib
import io
import math
import os
import re

import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

import guests
import results

COLOURS = {"ipv4": "#4878a8", "native": "#e08a3c", "net6": "#3a8f5c", "nginx": "#4878a8",
           "lighttpd": "#8a6bb0", "khttpd": "#e08a3c", "khttpd on net6": "#3a8f5c",
           "handed over": "#b0504a", "handed over on net6": "#7a7a7a"}
NAMES = {"ipv4": "native IPv4", "native": "native IPv6", "net6": "net6"}
plt.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False,
                     "svg.fonttype": "none", "axes.titlesize": 9, "svg.hashsalt": "net6"})

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em;
       color: #222; }
h1 { font-size: 1.6em; } h2 { border-top: 2px solid #ccc; padding-top: 1em; margin-top: 2em; }
table { border-collapse: collapse; font-size: 12.5px; margin: .6em 0 1.6em; }
td, th { padding: 2px 9px; text-align: right; border-bottom: 1px solid #e4e4e4; }
td { white-space: nowrap; }
td:first-child, th:first-child { text-align: left; }
th { background: #f4f4f4; } .better { color: #23703f; } .worse { color: #a33; }
.paper { background: #f6f3e8; border-left: 4px solid #c8b560; padding: .5em 1em; margin: .6em 0; }
.partial { background: #fbe9e7; border-left: 4px solid #b33; padding: .5em 1em; }
.made { color: #666; font-size: 13px; }
.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
@media (max-width: 700px) { .wide svg { max-width: none; } }
details { margin: .4em 0 1.4em; } summary { cursor: pointer; color: #335; }
"""


def panels(rows, split):
    """Rows by the values of the case's keys in @split."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row["case"].get(k) for k in split), []).append(row)
    return found


def short(value):
    """A number on an axis: 64, 1K, 64K, 65k, 0.5."""
    if value >= 1024 and value % 1024 == 0:
        return f"{value / 1024:g}K" if value < 1 << 20 else f"{value / (1 << 20):g}M"
    return f"{value / 1000:g}k" if value >= 10000 and value % 1000 == 0 else f"{value:g}"


def lines(axis, rows, spec):
    """Values over a number, a line for each stack; the overhead of IPv6 on a second axis. With
    "fit", points and the lines fitted to them."""
    x = spec["x"]
    by_stack = {}
    for row in rows:
        by_stack.setdefault(row["stack"], []).append((row["case"][x], results.value_of(row),
                                                      results.spread_of(row)))
    for stack, points in by_stack.items():
        points.sort()
        axis.errorbar([p[0] for p in points], [p[1] for p in points], yerr=[p[2] for p in points],
                      marker="o", markersize=3, linewidth=0 if spec.get("fit") else 1.2,
                      elinewidth=1, capsize=2, color=COLOURS.get(stack),
                      label=NAMES.get(stack, stack))
        if spec.get("fit") and len(points) > 2:
            base, slope = results.fit([p[:2] for p in points])
            axis.plot([0, points[-1][0]], [base, base + slope * points[-1][0]], linestyle="--",
                      linewidth=1, color=COLOURS.get(stack))
    sizes = sorted({row["case"][x] for row in rows})
    if spec.get("log"):
        axis.set_xscale("log", base=2)
        log_values(axis)
    else:
        axis.set_ylim(bottom=0)
    if spec.get("log") or len(sizes) < 3:
        shown = sizes[::-(-len(sizes) // 7)]
        axis.set_xticks(shown, map(short, shown))
    axis.set_xlabel(spec.get("xlabel", x))
    if spec.get("overhead") and "ipv4" in by_stack:
        base = {p[0]: p[1] for p in by_stack["ipv4"]}
        second = axis.twinx()
        second.spines["right"].set_visible(True)
        for stack in ("native", "net6"):
            points = [(p[0], 100 * (p[1] / base[p[0]] - 1)) for p in by_stack.get(stack, ())
                      if base.get(p[0])]
            second.plot([p[0] for p in points], [p[1] for p in points], linestyle=":",
                        linewidth=1, color=COLOURS[stack])
        second.axhline(0, color="#bbb", linewidth=0.6)
        second.set_ylabel("over IPv4, % (dotted)", fontsize=7)


def log_values(axis):
    """A logarithmic axis of values, in plain numbers."""
    axis.set_yscale("log")
    few = math.log10(axis.get_ylim()[1] / axis.get_ylim()[0]) < 2
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())


def bars(axis, rows, spec):
    """Groups of bars, one for each case."""
    keys = [k for k in rows[0]["case"] if k not in spec.get("split", ())]
    cases, stacks = [], []
    for row in rows:
        case = "\n".join(str(row["case"][k]) for k in keys)
        if case not in cases:
            cases.append(case)
        if row["stack"] not in stacks:
            stacks.append(row["stack"])
    for n, stack in enumerate(stacks):
        found = {"\n".join(str(r["case"][k]) for k in keys): r for r in rows if r["stack"] == stack}
        at = [c for c in range(len(cases)) if cases[c] in found]
        cells = [found[cases[c]] for c in at]
        axis.bar([c + (n - (len(stacks) - 1) / 2) * 0.8 / len(stacks) for c in at],
                 [results.value_of(row) for row in cells], 0.76 / len(stacks),
                 yerr=[results.spread_of(row) for row in cells], capsize=2,
                 color=COLOURS.get(stack), label=NAMES.get(stack, stack))
    axis.set_xticks(range(len(cases)), cases, fontsize=7)
    if "expected" in spec:
        axis.axhline(spec["expected"][0], color="#b33", linewidth=1, linestyle="--",
                     label=spec["expected"][1])
    if any(results.value_of(row) < 0 for row in rows):
        axis.axhline(0, color="#888", linewidth=0.6)
    if spec.get("log"):
        log_values(axis)


def stacked(axis, rows, spec):
    """One bar for each case and stack, cut into parts."""
    part = spec["part"]
    bottoms, ticks, parts = {}, [], []
    shades = ["#b0504a", "#4878a8", "#e08a3c", "#9aa0a6"]
    for row in rows:
        where = (row["case"][spec["x"]], row["stack"])
        if where not in ticks:
            ticks.append(where)
        if row["case"][part] not in parts:
            parts.append(row["case"][part])
    ticks.sort(key=lambda t: (t[0], list(NAMES).index(t[1])))
    for row in rows:
        where = (row["case"][spec["x"]], row["stack"])
        n = parts.index(row["case"][part])
        value, bottom = results.value_of(row), bottoms.get(where, 0)
        axis.bar(ticks.index(where), value, 0.75, bottom=bottom, color=shades[n % 4],
                 label=row["case"][part])
        bottoms[where] = bottom + value
    axis.set_xticks(range(len(ticks)), [f"{s}\n{short(x)}B" for x, s in ticks], fontsize=7)


KINDS = {"lines": lines, "bars": bars, "stacked": stacked}


def draw(spec, rows):
    """A figure with a panel for each value of what it is split by."""
    rows = [r for r in rows if r["figure"] == spec["figure"]
            and all(r["case"].get(k) in v for k, v in spec.get("only", {}).items())]
    if not rows:
        return None
    found = panels(rows, spec.get("split", ()))
    wide = min(len(found), spec.get("wide", 2))
    high = -(-len(found) // wide)
    figure, axes = plt.subplots(high, wide, squeeze=False,
                                figsize=(max(5.2, (4.6 if wide < 3 else 3.4) * wide), 2.9 * high))
    flat = [a for line in axes for a in line]
    for axis, (values, part) in zip(flat, found.items()):
        KINDS[spec["kind"]](axis, part, spec)
        axis.set_title(", ".join(str(v) for v in values) or spec["title"])
        axis.set_ylabel(part[0]["unit"])
    for axis in flat[len(found):]:
        axis.set_visible(False)
    handles = dict(zip(*reversed(flat[0].get_legend_handles_labels())))
    columns = min(6, 3 * wide)
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=columns,
                  frameon=False)
    foot = 0.15 + 0.2 * -(-len(handles) // columns)
    figure.tight_layout(w_pad=3, rect=(0, foot / figure.get_size_inches()[1], 1, 1))
    return figure


def ratio_class(ratio):
    return "better" if ratio > 1.02 else "worse" if ratio < 0.98 else ""


def table_html(figure, unit, stacks, table, more_is_better):
    base, others = results.table_header(stacks, unit)
    head = [figure] + [NAMES.get(s, s) for s in stacks]
    head += [f"{NAMES.get(s, s)} / {NAMES.get(base, base)}" for s in others]
    out = ["<table><tr>", *(f"<th>{html.escape(h)}</th>" for h in head), "</tr>"]
    for case, row in table:
        out.append(f"<tr><td>{html.escape(results.words_of(case))}</td>")
        out += [f"<td>{html.escape(results.cell_text(row.get(s)))}</td>" for s in stacks]
        for s in others:
            if row.get(s) and row.get(base) and results.value_of(row[base]) > 0:
                ratio = results.value_of(row[s]) / results.value_of(row[base])
                shown = ratio_class(1 / ratio if more_is_better and ratio else ratio)
                out.append(f'<td class="{shown}">{ratio:.2f}</td>')
            else:
                out.append("<td>-</td>")
        out.append("</tr>")
    runs = {len(row["values"]) for _, by_stack in table for row in by_stack.values()}
    of = ""
    if len(runs) == 1 and runs != {1}:
        count = runs.pop()
        inner = " of the middle half" if count >= results.MANY else ""
        of = f", mean{inner} ± deviation of {count} values"
    return (f'<p>In {html.escape(unit)}{of}:</p><div class="wide">' + "".join(out)
            + "</table></div>")


def paper_html(says):
    """What the paper had: beside each figure, or that it was not found."""
    text = html.escape(says["text"])
    where = f" <small>({html.escape(says['where'])})</small>" if says.get("where") else ""
    return f'<div class="paper">The paper: {text}{where}</div>'


def svg_text(figure):
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg"):]


def prefixed(svg, prefix):
    """Names inside one picture must not meet those of another on the page."""
    svg = re.sub(r'id="([^"]+)"', lambda m: f'id="{prefix}{m[1]}"', svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', lambda m: f'xlink:href="#{prefix}{m[1]}"', svg)
    return re.sub(r'url\(#([^)]+)\)', lambda m: f'url(#{prefix}{m[1]})', svg)


def section(name, experiment, out):
    """An experiment's part of the page; its pictures are files too."""
    module = importlib.import_module(name)
    made = experiment["made"]
    text = [f'<h2 id="{name}">{html.escape(module.TITLE)}</h2>',
            f"<p>After {html.escape(module.PAPER)}.</p>",
            f'<p class="made">{html.escape(made["date"])}, commit {made["commit"]}'
            f'{" " + made["changed"] if made["changed"] else ""}, kernel {made["kernel"]}, '
            f'{experiment["seconds"]} s{", quick" if experiment.get("quick") else ""}.</p>']
    if hasattr(module, "NOTE"):
        text.append(f"<p>{html.escape(module.NOTE)}</p>")
    if experiment["status"] != "complete":
        lacks = "".join(f"<li>{html.escape(lack)}</li>" for lack in experiment["lacks"])
        text.append(f'<div class="partial"><b>Partial.</b><ul>{lacks}</ul></div>')
    tables = {t[0]: t for t in results.tables(experiment["rows"])}
    shown = set()
    for n, spec in enumerate(module.FIGURES):
        figure = draw(spec, experiment["rows"])
        text.append(f'<h3>{html.escape(spec["title"])}</h3>')
        text.append(paper_html(spec["paper"]))
        if figure is None:
            text.append("<p>Not measured in this run.</p>")
            continue
        figure.savefig(f"{out}/{name}-{n + 1}.png", dpi=110)
        figure.savefig(f"{out}/{name}-{n + 1}.svg", metadata={"Date": None})
        text.append(f'<div class="wide">{prefixed(svg_text(figure), f"{name}{n}-")}</div>')
        plt.close(figure)
        if spec["figure"] in tables and spec["figure"] not in shown:
            shown.add(spec["figure"])
            text.append(f'<details{" open" if spec.get("open") else ""}><summary>figures</summary>'
                        + table_html(*tables[spec["figure"]], spec.get("more_is_better"))
                        + "</details>")
    for figure, table in tables.items():
        if figure not in shown:
            title = module.TABLES.get(figure, {}) if hasattr(module, "TABLES") else {}
            text.append(f'<h3>{html.escape(title.get("title", figure))}</h3>')
            if "paper" in title:
                text.append(paper_html(title["paper"]))
            text.append(f'<details{" open" if title.get("open") else ""}><summary>figures</summary>'
                        + table_html(*table, title.get("more_is_better")) + "</details>")
    return "\n".join(text)


def make(kept, out):
    """Writes the pictures and index.html; the page's path."""
    os.makedirs(out, exist_ok=True)
    made = kept["made"]
    text = ['<!doctype html><html lang="en"><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            "<title>net6: the papers' experiments</title>", f"<style>{STYLE}</style>",
            "<h1>The papers' experiments on net6, native IPv6 and native IPv4</h1>",
            f'<p class="made">{html.escape(", ".join(str(v) for v in made.values() if v))}</p>',
            "<p>Guest time counts instructions: one instruction is two nanoseconds of a processor "
            "that executes 500 million a second, and waiting costs nothing. Both ends run on one "
            "virtual CPU, in turn in one boot. Only ratios say something about other machines: "
            "a ratio is a column over the last one named. Green is in favour of the last one.</p>",
            "<ul>"]
    text += [f'<li><a href="#{n}">{html.escape(importlib.import_module(n).TITLE)}</a></li>'
             for n in kept["experiments"] if n in guests.NAMES]
    text.append("</ul>")
    text += [section(n, e, out) for n, e in kept["experiments"].items()
             if n in guests.NAMES]
    path = f"{out}/index.html"
    with open(path + ".part", "w") as f:
        f.write("\n".join(text) + "</html>\n")
    os.replace(path + ".part", path)
    return path
