"""Read the values, ask stakes the same, and sort each value: agreed, explained, failed."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from conformance._answers import answer
from conformance._inputs import FOLDER, load, needs_folder
from conformance._record import VALUES

EXPLAINED = Path(__file__).parent / "explained.json"


@dataclass
class Tally:
    """What became of a package's values."""

    package: str
    version: str
    language: str
    source: str
    agreed: int = 0
    explained: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: int = 0

    @property
    def values(self):
        return self.agreed + self.explained + len(self.failed) + self.skipped


def packages():
    """Return the files of values, in the order of the alphabet."""
    return sorted(VALUES.glob("*.json"))


def kept_cases(stem, *, function=None, input=None, question=None, **options):  # noqa: A002 - as the files name it
    """Return the cases of a file of values that ask for this."""
    wanted = {"function": function, "input": input, "question": question}
    wanted = {key: value for key, value in wanted.items() if value is not None}
    cases = json.loads((VALUES / f"{stem}.json").read_text(encoding="utf-8"))["cases"]
    return [
        case
        for case in cases
        if all(case[key] == value for key, value in wanted.items())
        and all(case.get("options", {}).get(key) == value for key, value in options.items())
    ]


def explanations():
    """Return the differences that are understood, each with its reason and how large it is at most."""
    return json.loads(EXPLAINED.read_text(encoding="utf-8"))


def _covers(explanation, package, case):
    wanted = {"package": package, **{key: case.get(key) for key in ("function", "input", "question")}}
    said = {key: explanation[key] for key in wanted if key in explanation}
    options = explanation.get("options", {})
    same = all(case.get("options", {}).get(key) == value for key, value in options.items())
    return same and all(wanted[key] in np.atleast_1d(value) for key, value in said.items())


def apart(found, value):
    """Difference on the scale of the tolerance: absolute below one, relative above; nan only equals nan."""
    if np.isnan(found) or np.isnan(value):
        return 0.0 if np.isnan(found) and np.isnan(value) else np.inf
    return 0.0 if found == value else abs(found - value) / max(1.0, abs(value))


def _sort_value(tally, case, position, found, known):
    """Count one value; the explanation that covers it is marked as used."""
    value = case["values"][position]
    distance = apart(found, value)
    if distance <= case["tolerance"]:
        tally.agreed += 1
        return
    for explanation in known:
        points = case.get("options", {}).get("at")
        here = "at" not in explanation or (points is not None and points[position] in explanation["at"])
        limit = explanation["at_most"]
        if _covers(explanation, tally.package, case) and here and (limit is None or distance <= limit):
            explanation["seen"] = explanation.get("seen", 0) + 1
            explanation["largest"] = max(explanation.get("largest", 0.0), distance)
            tally.explained += 1
            return
    options = dict(case.get("options", {}))
    if "at" in options:
        options["at"] = options["at"][position]
    where = f"{case['function']} on {case['input']}, {case['question']} {options} [{position}]"
    tally.failed.append(f"{where}: {tally.package} {value!r}, stakes {float(found)!r}")


def check_package(path, known):
    """Ask stakes every question of a file of values."""
    return check_values(json.loads(path.read_text(encoding="utf-8")), known)


def check_values(content, known):
    """Ask stakes every question of a package."""
    tally = Tally(*(content[key] for key in ("package", "version", "language", "source")))
    for case in content["cases"]:
        if needs_folder(case["input"]) and FOLDER not in os.environ:
            tally.skipped += len(case["values"])
            continue
        found = answer(case["question"], load(case["input"]), case.get("options", {}))
        if len(found) != len(case["values"]):
            counts = f"{len(case['values'])} values, stakes {len(found)}"
            raise ValueError(f"{tally.package}: {case['function']} has {counts}.")
        for position, number in enumerate(found):
            _sort_value(tally, case, position, number, known)
    return tally
