"""Damaged files through every command that copies a file.

Allowed are exit codes 0 (done, and then the copy holds every field of the original, as an independent reader sees
it), 2 and 3 (refused, and then nothing was written).
"""

import contextlib
import io
import os
import tempfile
from collections import Counter
from pathlib import Path

from stakes.boundary import fit_boundary
from stakes.cli import main
from tests.file_cases import ENDINGS, make_case, random, read_back, unchanged

NEW = {"decide": ["decision"], "correct": ["risk_corrected"], "apply": ["decision"]}
OTHERS = ["csv", "parquet", "arrow", "jsonl"]


def argv_of(command, source, target, boundary):
    """Return the command line that copies a file."""
    if command == "decide":
        return ["decide", source, "--models", "risk", "--measure", "accuracy", "-o", target]
    if command == "correct":
        return ["correct", source, "--models", "risk", "--scale-pos-weight", "3", "-o", target]
    columns = ["--score", "risk", "--uncertainty", "spread"]
    return ["boundary", "apply", boundary, source, *columns, "-o", target]


def run_case(seed, folder, boundary):
    """Run one case and return its exit code and what is wrong with it, if anything."""
    rng = random(seed)
    command = list(NEW)[seed % len(NEW)]
    case = make_case(rng, command)
    source = folder / f"source{ENDINGS[case.kind]}"
    source.write_bytes(case.data)
    out = folder / "out"
    out.mkdir(exist_ok=True)
    kind = "csv" if case.kind == "gzip" else case.kind
    if command != "decide" and rng.random() < 0.15:  # into another format: it must be done or refused
        kind = str(rng.choice(OTHERS))
    target = out / f"copy.{kind}"
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = main([str(part) for part in argv_of(command, source, target, boundary)])
    left = sorted(path.name for path in out.iterdir())
    problem = _problem(case, command, code, left, target)
    for path in out.iterdir():
        path.unlink()
    text = said.getvalue().strip().replace(str(folder), "")
    return code, case.kind, command, problem and f"seed {seed} {command} {case.kind}: {problem}: {text[:300]}"


def _problem(case, command, code, left, target):
    kind = target.suffix.removeprefix(".")
    if code not in (0, 2, 3):
        return f"exit code {code}"
    if left != ([target.name] if code == 0 else []):
        return f"exit code {code} left {left}"
    if code or kind != ("csv" if case.kind == "gzip" else case.kind):
        return None
    try:
        before = read_back(case.data, case.kind)
    except Exception as error:  # noqa: BLE001  (then this reader is stricter, and there is nothing to compare with)
        return None if case.kind in ("parquet", "arrow") else f"the other reader refuses it: {error!r}"
    after = read_back(target.read_bytes(), kind)
    return None if unchanged(before, after, case.kind, NEW[command]) else "a field was changed"


@contextlib.contextmanager
def workplace():
    """Yield a folder, and a boundary in it."""
    with tempfile.TemporaryDirectory() as name:
        boundary = Path(name) / "boundary.json"
        found = fit_boundary([0, 1, 1, 0], [0.1, 0.5, 0.6, 0.4], [1, 2, 3, 4], min_precision=0.5)
        boundary.write_text(found.to_json(), encoding="utf-8")
        yield Path(name), boundary


@contextlib.contextmanager
def quiet_engine():
    """Keep what the engine writes of its panics, past Python, from the terminal."""
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def soak(cases, start=0):
    """Run so many cases; return how often each exit code came for each kind and command, and the problems."""
    codes, problems = Counter(), []
    with workplace() as (folder, boundary), quiet_engine():
        for seed in range(start, start + cases):
            code, kind, command, problem = run_case(seed, folder, boundary)
            codes[kind, command, code] += 1
            if problem:
                problems.append(problem)
    return codes, problems
