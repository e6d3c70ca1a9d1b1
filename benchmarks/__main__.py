"""Run a benchmark and print its table: `python -m benchmarks NAME`, or all of them: `python -m benchmarks all`.

`python -m benchmarks record FOLDER` puts what `all` left in a folder on a page of the site.
"""

import argparse
import json
import os
import pkgutil
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from benchmarks._all import steps
from benchmarks._data import DESCRIPTION
from benchmarks._plot import draw, races
from benchmarks._run import run_rows
from benchmarks._table import goal_records, to_markdown
from tools import every, record

SIZES = (10**4, 10**6, 10**7)
TITLE = "Speed, beside other packages"
ABOUT = """\
Every question is put to `stakes` and to its peers in the same run, on the same rows, each in a process of its own. Each
peer is shown at the largest size that it was given. Right of the line `stakes` is faster. Lines of numpy, polars and
DuckDB are plain programs: some do less than was asked, such as a sort or a sum, some the same in a loop; the tables say
which. Bars reach from the best time beside the median of `stakes` to the median beside its best.

![Processor time of each peer, in times that of stakes](benchmarks.png)"""


def suite_names():
    """Return the benchmarks: every module of this folder without an underscore."""
    return [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name[0] != "_"]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure stakes beside its peers.")
    parser.add_argument("name", nargs="?", choices=suite_names(), help="which benchmark to run, or all")
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    parser.add_argument("--sizes", nargs="+", type=lambda text: int(float(text)), metavar="ROWS")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs of each line, at least (default 5)")
    parser.add_argument("--only", metavar="TEXT", default="", help="run only rows whose name contains TEXT")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="measure peers too")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the measurements to a file as well")
    parser.add_argument("--small", action="store_true", help="cliffs: a hundredth of the sizes")
    parser.add_argument("--check", action="store_true", help="cliffs: fail where a ratio rose by more than a third")
    parser.add_argument("--write", action="store_true", help="cliffs: write the committed table anew")
    options = parser.parse_args(arguments)
    if options.name is None and not options.list:
        parser.error("NAME is missing; --list says what there is.")
    return options


def list_suites():
    for name in suite_names():
        module = import_module(f"benchmarks.{name}")
        print(f"{name}: {module.__doc__.splitlines()[0]}")
        for row in module.ROWS:
            against = ", ".join(f"{peer.library} {peer.call}" for peer in row.peers)
            print(f"  {row.name}" + (f" (beside {against})" if against else ""))


def chosen_rows(options):
    rows = [row for row in import_module(f"benchmarks.{options.name}").ROWS if options.only in row.name]
    if not rows:
        sys.exit(f"no row of {options.name} has {options.only!r} in its name; --list shows them.")
    return rows if options.peers else [replace(row, peers=()) for row in rows]


def write_json(path, about, lines, notes):
    goals = [{**record, "goal": record["goal"].text} for record in goal_records(lines)]
    page = {"about": about, "lines": [line.record() for line in lines], "goals": goals, "notes": notes}
    path.write_text(json.dumps(page, indent=1) + "\n", encoding="utf-8")


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["all"]:
        names = suite_names()
        sys.exit(every.main("benchmarks", arguments[1:], steps(names, quick=False), steps(names, quick=True)))
    if arguments[:1] == ["record"]:
        options = record.parse("benchmarks", arguments[1:])
        page = record.Page("benchmarks", TITLE, ABOUT, list(steps(suite_names(), quick=False)))
        record.write_whole(page, options)
        draw(races(options.folder), options.docs / "benchmarks.png")
        return
    options = parse(arguments)
    if options.list:
        list_suites()
        return
    if options.name == "cliffs":
        import_module("benchmarks.cliffs").run(options)
        return
    rows = chosen_rows(options)
    sizes = options.sizes or getattr(import_module(f"benchmarks.{options.name}"), "SIZES", SIZES)
    about = every.describe_run({"numpy", "scipy"} | {entry.library for row in rows for entry in row.entries}) | {
        "data": DESCRIPTION
    }
    load_before = os.getloadavg()[0]
    lines, notes = run_rows(options.name, rows, sizes, repeat=options.repeat)
    about["load average"] = f"{load_before:.2f} before, {os.getloadavg()[0]:.2f} after, this run included"
    if options.json:
        write_json(options.json, about, lines, notes)
    print(to_markdown(options.name, about, lines, notes))
    due = sum(size <= row.ours.max_rows for row in rows for size in set(sizes))
    if len({(line.row.name, line.rows) for line in lines}) < due:
        sys.exit("a row failed: see the notes.")


if __name__ == "__main__":
    main()
