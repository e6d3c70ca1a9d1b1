"""Put what ``python -m replications all`` or ``python -m benchmarks all`` left in a folder on pages of the site.

``python -m tools.record benchmarks results/benchmarks/whole`` writes ``docs/records/benchmarks.md``, of every part or
not at all, and the picture of the races beside it; replications have a page for each part in
``docs/records/replications``, and one that lists them. With ``--partial`` the page says what is missing.
"""

import argparse
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import _all as benchmarks
from benchmarks._plot import draw, races
from replications import __main__ as replicated
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
PICTURES = {"loss_calibration": "figure_*.png"}  # what parts leave in the folder besides


def names_of(package):
    """Return the parts of a package, as its command runs them."""
    main = import_module(f"{package}.__main__")
    steps = {"benchmarks": benchmarks, "replications": replications}[package].steps
    return list(steps(main.suite_names() if package == "benchmarks" else main.NAMES, quick=False))


def whole(package, parts, missing=()):
    """Return the page that holds every part below the facts that all share."""
    shared, head = head_of(package, parts, missing)
    return "\n\n".join([*head, *(part_of(text, shared) for text in parts.values())]) + "\n"


def apart(package, parts, missing=()):
    """Return the page that lists the parts, and a page of each by its name."""
    shared, head = head_of(package, parts, missing)
    lines = ["| part | what it shows | made | processor seconds |", "| --- | --- | --- | --- |"]
    for name, text in parts.items():
        facts, shows = facts_of(text), replicated.NAMES.get(text.split("`")[1].split()[3], "")
        lines.append(f"| [{name}]({package}/{name}.md) | {shows} | {facts['made']} | {facts['CPU seconds']} |")
    inner = "\n".join(["```{toctree}", ":hidden:", "", *(f"{package}/{name}" for name in parts), "```"])
    pages = {name: part_of(text, shared, level=1) + "\n" for name, text in parts.items()}
    return "\n\n".join([*head, "\n".join(lines), inner]) + "\n", pages


def head_of(package, parts, missing):
    """Return the facts that all parts share, and the first paragraphs of the page."""
    facts = [facts_of(text) for text in parts.values()]
    shared = {key: facts[0].get(key) for key in SAME}
    shared = {key: value for key, value in shared.items() if all(one.get(key) == value for one in facts)}
    made = sorted(one["made"] for one in facts)
    listed = [f"- made: {made[0]} to {made[-1]}", *(f"- {key}: {value}" for key, value in shared.items())]
    head = [f"# {TITLES[package]}", ABOUT[package], "\n".join(listed)]
    if missing:
        head.append(f"**Not run to the end yet: {', '.join(missing)}.**")
    return shared, head


def facts_of(text):
    listed = text.split("\n\n")[2]
    return dict(line.removeprefix("- ").split(": ", 1) for line in listed.splitlines())


def part_of(text, shared, level=2):
    """Return a part with its heading at this level, those within one below, its own facts on one line."""
    name, command, _, *rest = text.strip().split("\n\n")
    inner = "#" * (level + 1)
    own = "; ".join(f"{key}: {value}" for key, value in facts_of(text).items() if key not in shared)
    body = re.sub(r"^#+ ", f"{inner} ", "\n\n".join(rest).removeprefix(name).strip(), flags=re.MULTILINE)
    lines = [line if line.startswith(("|", "#", "-", "!")) or not line else f"{line}  " for line in body.splitlines()]
    return "\n\n".join([re.sub("^#+", "#" * level, name), f"{command} ({own})", "\n".join(lines)])


def write_apart(package, folder, docs, parts, missing):
    """Write the page that lists the parts, theirs, and their pictures; what is there of others goes."""
    listing, pages = apart(package, parts, missing)
    inner = docs / package
    shutil.rmtree(inner, ignore_errors=True)
    inner.mkdir(parents=True)
    for name, text in pages.items():
        pictures = sorted(folder.glob(PICTURES[name])) if name in PICTURES else []
        for picture in pictures:
            shutil.copy(picture, inner)
        shown = "".join(f"\n![{picture.stem.replace('_', ' ').capitalize()}]({picture.name})\n" for picture in pictures)
        (inner / f"{name}.md").write_text(without(folder, text) + shown, encoding="utf-8")
    (docs / f"{package}.md").write_text(listing, encoding="utf-8")


def without(folder, text):
    return text.replace(str(folder.absolute()), "FOLDER")


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
    options.docs.mkdir(parents=True, exist_ok=True)
    if options.package == "replications":
        write_apart(options.package, options.folder, options.docs, parts, missing)
    else:
        text = without(options.folder, whole(options.package, parts, missing))
        (options.docs / f"{options.package}.md").write_text(text, encoding="utf-8")
        draw(races(options.folder), options.docs / "benchmarks.png")


if __name__ == "__main__":
    main()
