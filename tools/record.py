"""Put what ``python -m replications all`` or ``python -m benchmarks all`` left in a folder on a page of the site.

``python -m tools.record benchmarks results/benchmarks/whole`` writes ``docs/records/benchmarks.md``, of every part or
not at all, and for benchmarks the picture of the races beside it. With ``--partial`` the page says what is missing.
"""

import argparse
import re
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import _all as benchmarks
from benchmarks._plot import draw, races
from replications import _all as replications

DOCS = Path(__file__).resolve().parents[1] / "docs" / "records"
TITLES = {
    "benchmarks": "Speed, beside other packages",
    "replications": "All replications and simulations, as they ran",
}
ABOUT = {
    "benchmarks": """\
Every question is put to `stakes` and to its peers in the same run, on the same rows, each in a process of its own. Each
peer is shown at the largest size that it was given. Right of the line `stakes` is faster. Lines of numpy, polars and
DuckDB are plain programs: some do less than was asked, such as a sort or a sum, some the same in a loop; the tables say
which. Bars reach from the best time beside the median of `stakes` to the median beside its best.

![Processor time of each peer, in times that of stakes](benchmarks.png)""",
    "replications": """\
What each command printed, but for the level of headings and the name of the folder. What it means and why it
differs from what the papers print stands on [the page of replications](../replications.md) and in the guides.""",
}
SAME = ("cpu", "system", "versions", "stakes")  # facts that are told once where all parts share them


def names_of(package):
    """Return the parts of a package, as its command runs them."""
    main = import_module(f"{package}.__main__")
    steps = {"benchmarks": benchmarks, "replications": replications}[package].steps
    return list(steps(main.suite_names() if package == "benchmarks" else main.NAMES, quick=False))


def page(package, parts, missing=()):
    """Return the page: the facts that all parts share, then each part under its name."""
    facts = {name: facts_of(text) for name, text in parts.items()}
    shared = {key: next(iter(facts.values())).get(key) for key in SAME}
    shared = {key: value for key, value in shared.items() if all(one.get(key) == value for one in facts.values())}
    made = sorted(one["made"] for one in facts.values())
    head = [f"# {TITLES[package]}", ABOUT[package], f"- made: {made[0]} to {made[-1]}"]
    head[-1] = "\n".join([head[-1], *(f"- {key}: {value}" for key, value in shared.items())])
    if missing:
        head.append(f"**Not run to the end yet: {', '.join(missing)}.**")
    return "\n\n".join([*head, *(part_of(text, shared) for text in parts.values())]) + "\n"


def facts_of(text):
    listed = text.split("\n\n")[2]
    return dict(line.removeprefix("- ").split(": ", 1) for line in listed.splitlines())


def part_of(text, shared):
    """Return a part with its headings one level down, its own facts on one line."""
    name, command, _, *rest = text.strip().split("\n\n")
    own = "; ".join(f"{key}: {value}" for key, value in facts_of(text).items() if key not in shared)
    body = re.sub(r"^#+ ", "### ", "\n\n".join(rest).removeprefix(name).strip(), flags=re.MULTILINE)
    lines = [line if line.startswith(("|", "#", "-", "!")) or not line else f"{line}  " for line in body.splitlines()]
    return "\n\n".join([name, f"{command} ({own})", "\n".join(lines)])


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.record", description=__doc__)
    parser.add_argument("package", choices=TITLES)
    parser.add_argument("folder", type=Path, help="where the parts are kept")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the page goes (docs/records)")
    parser.add_argument("--partial", action="store_true", help="also where parts are missing, which the page says")
    options = parser.parse_args(arguments)
    pages = {name: options.folder / f"{name}.md" for name in names_of(options.package)}
    missing = [name for name, path in pages.items() if not path.exists()]
    if missing and not options.partial:
        sys.exit(f"{options.folder} lacks {', '.join(missing)}: run `python -m {options.package} all` to its end.")
    parts = {name: path.read_text(encoding="utf-8") for name, path in pages.items() if path.exists()}
    text = page(options.package, parts, missing).replace(str(options.folder.absolute()), "FOLDER")
    options.docs.mkdir(parents=True, exist_ok=True)
    (options.docs / f"{options.package}.md").write_text(text, encoding="utf-8")
    if options.package == "benchmarks":
        draw(races(options.folder), options.docs / "benchmarks.png")


if __name__ == "__main__":
    main()
