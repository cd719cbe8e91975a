#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The experiments of five papers on net6, native IPv6 and native IPv4, as commands.

  bench.py run [--quick] [--out DIR] [EXPERIMENT...]   measure, then make the page
  bench.py diff [--over PERCENT] OLD NEW               what changed between two results
  bench.py agree [--over PERCENT] OLD NEW              whether every ratio is the same in both
  bench.py repeat [--quick] [--out DIR] N EXPERIMENT   one in N boots, and its spread
  bench.py spread RESULTS RESULTS...                   how well figures repeat over files
  bench.py page [--out DIR] [RESULTS]                  pictures and page anew
  bench.py table RESULTS [EXPERIMENT...]               the figures in plain text
  bench.py fill RESULTS                                those in README.md and cost.rst anew
  bench.py list                                        the experiments

Results: DIR/results.json (bench/results). A run of some experiments replaces those only. The
file before it is kept as previous.json if it was complete. Status: 0; 1 something is partial,
or differs (diff, agree); 2 wrong usage; 3 nothing could be done.
"""
import argparse
import errno
import os
import sys

import guests
import pages
import results

OUT = os.path.join(guests.TOP, "bench", "results")


def begun(path, afresh):
    """What a run adds to; what was there is kept as previous.json if all of it is complete."""
    fresh = {"format": results.FORMAT, "experiments": {}}
    if not os.path.exists(path):
        return fresh
    try:
        before = results.load(path)
    except results.BadResults as error:
        if not afresh:
            raise
        guests.say(f"{error}; it is replaced")
        return fresh
    if results.whole(before):
        results.save(f"{os.path.dirname(path)}/previous.json", before)
    return fresh if afresh else before


def run(args):
    unknown = [n for n in args.experiment if n not in guests.NAMES]
    if unknown:
        print(f"bench: no experiment {unknown[0]}; there are {' '.join(guests.NAMES)}",
              file=sys.stderr)
        return 2
    names = args.experiment or (guests.QUICK if args.quick else guests.EXPERIMENTS)
    path, unsaved = f"{args.out}/results.json", None
    guests.prepare(args.out, len(set(names)))
    kept, ended = begun(path, not args.experiment), {}
    for name, entry in guests.experiments(names, args.out, args.quick):
        kept["experiments"][name] = ended[name] = entry
        kept["made"] = guests.made()
        order = [n for n in guests.NAMES if n in kept["experiments"]]
        kept["experiments"] = {n: kept["experiments"][n] for n in order}
        guests.say(f"{len(ended)} of {len(set(names))} experiments have ended")
        try:
            results.save(path, kept)
            unsaved = None
        except OSError as error:
            # The next one that ends has room of its own, and saves them all.
            unsaved = error
            guests.say(f"{name} is not saved yet: {error.strerror}")
    if unsaved:
        raise unsaved
    if not ended:
        guests.say("nothing was measured")
        return 3
    status = page(args)
    partial = [n for n in names if ended.get(n, {}).get("status") != "complete"]
    if partial:
        guests.say(f"partial: {' '.join(partial)}; what was measured is in {path}")
    return 1 if partial else status


def page(args):
    path = getattr(args, "results", None) or f"{args.out}/results.json"
    try:
        import plots
    except ImportError as error:
        guests.say(f"no pictures: {error} (Debian's python3-matplotlib); the figures are in {path}")
        return 1
    made = plots.make(results.load(path), args.out)
    guests.say(f"the page: {made}")
    return 0


def diff(args):
    text, changed = results.diff_text(results.load(args.old), results.load(args.new), args.over)
    print(text)
    return 1 if changed else 0


def agree(args):
    text, agreed = results.agreement_text(results.load(args.old), results.load(args.new),
                                          args.over)
    print(text)
    return 0 if agreed else 1


def spread(args):
    files = [results.load(path) for path in args.results]
    if args.each:
        print(results.boots_text(files))
    print(results.repeatability_text(files))
    return 0


def repeat(args):
    """One file for each boot; what is there when it is interrupted counts."""
    if args.experiment not in guests.NAMES or args.boots < 1:
        print(f"bench: repeat wants a number of boots and one of {' '.join(guests.NAMES)}",
              file=sys.stderr)
        return 2
    guests.prepare(args.out)
    files = []
    for n in range(args.boots):
        entry = dict(guests.experiments([args.experiment], args.out, args.quick))[args.experiment]
        files.append({"format": results.FORMAT, "made": guests.made(),
                      "experiments": {args.experiment: entry}})
        results.save(f"{args.out}/{args.experiment}-{n + 1}.json", files[-1])
        if "interrupted" in entry["lacks"]:
            break
    print(results.boots_text(files))
    print(results.repeatability_text(files))
    return int(any(f["experiments"][args.experiment]["status"] != "complete" for f in files))


def table(args):
    kept = results.load(args.results)
    unknown = [n for n in args.experiment if n not in kept["experiments"]]
    if unknown:
        print(f"bench: {args.results} has no {unknown[0]}; it has "
              f"{' '.join(kept['experiments'])}", file=sys.stderr)
        return 2
    for name, experiment in kept["experiments"].items():
        if args.experiment and name not in args.experiment:
            continue
        made = experiment["made"]
        print(f"{name} at {' '.join(filter(None, (made['commit'], made['changed'])))}, "
              f"{made['date']}, {made['kernel']}: {experiment['status']}")
        for figure in results.tables(experiment["rows"]):
            print(results.table_text(*figure))
            print()
    return 0


def fill(args):
    print(f"bench: {pages.fill_all(guests.TOP, results.load(args.results))} tables are written")
    return 0


def names(_args):
    import importlib
    for name in guests.NAMES:
        print(f"{name:15} {importlib.import_module(name).TITLE}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run")
    command.add_argument("--quick", action="store_true")
    command.add_argument("--out", default=OUT, type=os.path.abspath)
    command.add_argument("experiment", nargs="*")
    command.set_defaults(run=run)
    command = commands.add_parser("diff")
    command.add_argument("--over", type=float, default=results.AGREE)
    command.add_argument("old")
    command.add_argument("new")
    command.set_defaults(run=diff)
    command = commands.add_parser("agree")
    command.add_argument("--over", type=float, default=results.AGREE)
    command.add_argument("old")
    command.add_argument("new")
    command.set_defaults(run=agree)
    command = commands.add_parser("repeat")
    command.add_argument("--quick", action="store_true")
    command.add_argument("--out", default=f"{os.path.dirname(OUT)}/repeat", type=os.path.abspath)
    command.add_argument("boots", type=int)
    command.add_argument("experiment")
    command.set_defaults(run=repeat)
    command = commands.add_parser("spread")
    command.add_argument("--each", action="store_true")
    command.add_argument("results", nargs="+")
    command.set_defaults(run=spread)
    command = commands.add_parser("page")
    command.add_argument("--out", default=OUT, type=os.path.abspath)
    command.add_argument("results", nargs="?")
    command.set_defaults(run=page)
    command = commands.add_parser("table")
    command.add_argument("results")
    command.add_argument("experiment", nargs="*")
    command.set_defaults(run=table)
    command = commands.add_parser("fill")
    command.add_argument("results")
    command.set_defaults(run=fill)
    commands.add_parser("list").set_defaults(run=names)
    args = parser.parse_args()
    try:
        return args.run(args)
    except guests.CannotRun as error:
        guests.say(error)
    except results.BadResults as error:
        guests.say(error)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            guests.say(f"disk full at {error.filename or getattr(args, 'out', '')}; "
                       "what was saved before is kept")
        else:
            guests.say(f"{error.filename}: {error.strerror}" if error.filename else error)
    except KeyboardInterrupt:
        guests.say("interrupted")
    return 3


if __name__ == "__main__":
    sys.exit(main())
