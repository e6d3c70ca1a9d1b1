"""Make the oracles' reference values anew from a seed of the day, and run the tests that take them.

``python -m tools.fresh_oracles`` prints the seed; ``STAKES_SEED=20261124 python -m tools.fresh_oracles`` repeats it.
The oracles lie in the folder that ``STAKES_REFERENCE_DIR`` names; what they write goes to a temporary copy.
``STAKES_ORACLES="actions outcomes"`` runs these alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# oracles that take a seed: the arguments that write the values, by the name that the tests read
ORACLES = {
    "actions": ("--seed", "{seed}", "--out", "{out}"),
    "intervals": ("--seed", "{seed}", "--out", "{out}"),
    "outcomes": ("{seed}", "--write", "{out}"),
}
LARGEST = 2**31 - 1


def seed_of(environ, today=None):
    """Return the seed that STAKES_SEED names, or the date in UTC as eight digits."""
    said = environ.get("STAKES_SEED", "")
    if not said:
        return int((today or datetime.now(UTC)).strftime("%Y%m%d"))
    if not (said.isascii() and said.isdecimal() and int(said) <= LARGEST):
        raise ValueError(f"STAKES_SEED must be a whole number from 0 to {LARGEST}, got {said!r}.")
    return int(said)


def chosen(environ):
    """Return the oracles that STAKES_ORACLES names, or all."""
    names = environ.get("STAKES_ORACLES", "").split() or [*ORACLES]
    if unknown := set(names) - set(ORACLES):
        raise ValueError(f"STAKES_ORACLES must name some of {', '.join(ORACLES)}, got {', '.join(sorted(unknown))}.")
    return names


def fixtures():
    """Return the fixtures that hold what the chosen oracles write."""
    return [f"{name}_reference" for name in chosen(os.environ)]


def readers(tests):
    """Return the test files that read reference values made from a seed."""
    names = fixtures()
    files = sorted(tests.rglob("test_*.py"))
    return [path for path in files if any(name in path.read_text(encoding="utf-8") for name in names)]


def make(reference, seed, folder):
    """Copy a reference folder, and write the values of the oracles anew."""
    shutil.copytree(reference / "reference", folder / "reference", copy_function=shutil.copyfile)
    (folder / "reference").chmod(0o755)
    (folder / "data").symlink_to(reference / "data", target_is_directory=True)
    made = {}
    for name in chosen(os.environ):
        out = folder / "reference" / f"{name}_reference.json"
        filled = [argument.format(seed=seed, out=out) for argument in ORACLES[name]]
        program = [sys.executable, str(folder / "reference" / f"{name}_oracle.py"), *filled]
        made[name] = subprocess.Popen(program, cwd=folder / "reference", stdout=subprocess.DEVNULL)
    failed = [name for name, process in made.items() if process.wait()]
    if failed:
        raise SystemExit(f"oracles failed at STAKES_SEED={seed}: {', '.join(failed)}.")


def pytest_collection_modifyitems(config, items):
    """Leave out the other tests of these files, as a plugin of their run."""
    made = set(fixtures())
    others = [item for item in items if made.isdisjoint(getattr(item, "fixturenames", ()))]
    items[:] = [item for item in items if not made.isdisjoint(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=others)


def main():
    seed = seed_of(os.environ)
    print(f"STAKES_SEED={seed}", flush=True)
    named = os.environ.get("STAKES_REFERENCE_DIR")
    if not named:
        raise SystemExit("STAKES_REFERENCE_DIR must name the folder that holds reference/ and data/.")
    with tempfile.TemporaryDirectory() as folder:
        make(Path(named).resolve(), seed, Path(folder))
        tests = [str(path.relative_to(ROOT)) for path in readers(ROOT / "tests")]
        kinds = "-m=not simulation and not thorough"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.fresh_oracles", kinds, *tests, *sys.argv[1:]]
        env = os.environ | {"STAKES_REFERENCE_DIR": folder, "STAKES_SEED": str(seed)}
        code = subprocess.run(command, cwd=ROOT, env=env, check=False)
    if code.returncode:
        raise SystemExit(f"failed at STAKES_SEED={seed}: set it to repeat these cases.")


if __name__ == "__main__":
    main()
