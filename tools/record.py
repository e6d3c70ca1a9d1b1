"""Put what ``python -m replications all`` or ``python -m benchmarks all`` left in a folder on pages of the site.

``python -m benchmarks record results/benchmarks/whole`` writes ``docs/records/benchmarks.md``, of every part or not at
all; ``python -m replications record FOLDER`` writes a page for each part into ``docs/records/replications``, and one
that lists them. With ``--partial`` the page says what is missing.
"""

import argparse
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs" / "records"
SAME = ("cpu", "system", "versions", "stakes")  # facts that are told once where all parts share them


@dataclass(frozen=True)
class Page:
    """What a page says beside its parts; ``shows`` has a line about the command of a part, ``pictures`` its files."""

    package: str
    title: str
    about: str
    names: list
    shows: dict = field(default_factory=dict)
    pictures: dict = field(default_factory=dict)


def whole(page, parts, missing=()):
    """Return the page that holds every part below the facts that all share."""
    shared, head = head_of(page, parts, missing)
    return "\n\n".join([*head, *(part_of(text, shared) for text in parts.values())]) + "\n"


def apart(page, parts, missing=()):
    """Return the page that lists the parts, and a page of each by its name."""
    shared, head = head_of(page, parts, missing)
    lines = ["| part | what it shows | made | processor seconds |", "| --- | --- | --- | --- |"]
    for name, text in parts.items():
        facts, shows = facts_of(text), page.shows.get(text.split("`")[1].split()[3], "")
        lines.append(f"| [{name}]({page.package}/{name}.md) | {shows} | {facts['made']} | {facts['CPU seconds']} |")
    inner = "\n".join(["```{toctree}", ":hidden:", "", *(f"{page.package}/{name}" for name in parts), "```"])
    pages = {name: part_of(text, shared, level=1) + "\n" for name, text in parts.items()}
    return "\n\n".join([*head, "\n".join(lines), inner]) + "\n", pages


def head_of(page, parts, missing):
    """Return the facts that all parts share, and the first paragraphs of the page."""
    facts = [facts_of(text) for text in parts.values()]
    shared = {key: facts[0].get(key) for key in SAME}
    shared = {key: value for key, value in shared.items() if all(one.get(key) == value for one in facts)}
    made = sorted(one["made"] for one in facts)
    listed = [f"- made: {made[0]} to {made[-1]}", *(f"- {key}: {value}" for key, value in shared.items())]
    head = [f"# {page.title}", page.about, "\n".join(listed)]
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


def parse(package, arguments):
    parser = argparse.ArgumentParser(prog=f"python -m {package} record", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the parts are kept")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the page goes (docs/records)")
    parser.add_argument("--partial", action="store_true", help="also where parts are missing, which the page says")
    return parser.parse_args(arguments)


def read_parts(page, options):
    """Return the parts that are finished, by name, and the names of those that are missing, if that is allowed."""
    files = {name: options.folder / f"{name}.md" for name in page.names}
    missing = [name for name, path in files.items() if not path.exists()]
    if missing and not options.partial:
        sys.exit(f"{options.folder} lacks {', '.join(missing)}: run `python -m {page.package} all` to its end.")
    options.docs.mkdir(parents=True, exist_ok=True)
    return {name: path.read_text(encoding="utf-8") for name, path in files.items() if path.exists()}, missing


def write_whole(page, options):
    """Write the page of all parts."""
    text = without(options.folder, whole(page, *read_parts(page, options)))
    (options.docs / f"{page.package}.md").write_text(text, encoding="utf-8")


def write_apart(page, options):
    """Write the page that lists the parts, theirs, and their pictures; what is there of others goes."""
    listing, pages = apart(page, *read_parts(page, options))
    inner = options.docs / page.package
    shutil.rmtree(inner, ignore_errors=True)
    inner.mkdir(parents=True)
    for name, text in pages.items():
        pictures = sorted(options.folder.glob(page.pictures[name])) if name in page.pictures else []
        for picture in pictures:
            shutil.copy(picture, inner)
        shown = "".join(f"\n![{picture.stem.replace('_', ' ').capitalize()}]({picture.name})\n" for picture in pictures)
        (inner / f"{name}.md").write_text(without(options.folder, text) + shown, encoding="utf-8")
    (options.docs / f"{page.package}.md").write_text(listing, encoding="utf-8")


def without(folder, text):
    return text.replace(str(folder.absolute()), "FOLDER")
