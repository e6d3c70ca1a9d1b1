"""Damaged texts through everything that is read back, and odd words through every command line.

Allowed are a result or a ValueError of ours; of a command the exit codes 0, 2, 3 and 4, and no word of a bug.
"""

import contextlib
import inspect
import io
import json
import os
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from stakes import ScoreTable, boundary, correction, costs
from stakes.cli import main
from tests.soak_calls import PACKAGE

ODD = [
    "NaN",
    "null",
    "1e999",
    "-1",
    "1" * 500,
    "1e-400",
    "[[[[",
    "{}",
    '"',
    "\\ud800",
    "\\u0000",
    "true",
    "0.5",
    "1e300",
]
WORDS = ["", "-", "--", "0", "-1", "0.1:0.3", "0.3:0.1", "1e-20000000", "nan", "inf", "y", "m", "n", "no such", "1:9"]
WORDS += [
    "\0",
    "\udcff",
    "é☃",
    "x" * 5000,
    "../x.csv",
    "/",
    ".",
    "out.csv",
    "out.json",
    "out.html",
    "out.jsonl",
    "=1+1",
]
WORDS += ["f1", "recall", "0.5", "3", "auto", "drop", "raise", "regret", "brier", "c.toml", "\n", "y,m", "{}", "'", '"']
COMMANDS = {
    "evaluate": ["d.csv", "--label", "y", "--models", "m", "--costs", "0.1:0.3"],
    "compare": ["d.csv", "--label", "y", "--models", "m,n", "--costs", "0.2"],
    "check": ["d.csv", "--label", "y", "--models", "m", "--costs", "0.1:0.3"],
    "decide": ["d.csv", "--models", "m", "--measure", "f1"],
    "correct": ["d.csv", "--models", "m", "--scale-pos-weight", "3"],
    "update": ["d.csv", "--label", "y", "--models", "m"],
    "plan": ["--for", "auc", "--auc", "0.8", "--prevalence", "0.1", "--width", "0.1"],
    "advise": ["--decisions", "independent", "--knowledge", "range"],
    "boundary fit": ["d.csv", "--score", "m", "--uncertainty", "n", "--label", "y", "--min-precision", "0.5"],
    "export": ["b.json", "--to", "sql", "--score", "m", "--uncertainty", "n"],
    "boundary apply": ["b.json", "d.csv", "--score", "m", "--uncertainty", "n"],
}


def kept_texts():
    """Return what is written and how it is read back."""
    rng = np.random.default_rng(0)
    y, p, u = np.tile([0, 1, 0, 1], 5), rng.random(20), rng.random(20)
    fitted = boundary.fit_boundary(y, p, u, min_precision=0.4)
    watch = boundary.PrecisionMonitor(0.5)
    mixed = 2 * costs.Uniform(0.1, 0.2) + costs.Empirical([0.1, 0.4]) + costs.Triangular(0.1, 0.2, 0.3)
    return [
        (fitted.to_json(), boundary.Boundary.from_json),
        (
            correction.update(np.tile(y, 4), np.tile(p, 4), method="isotonic").to_json(),
            correction.ModelUpdate.from_json,
        ),
        (ScoreTable.from_predictions(y, p).to_json(), ScoreTable.from_json),
        (json.dumps(watch.to_dict()), lambda text: boundary.PrecisionMonitor.from_dict(json.loads(text))),
        (json.dumps(mixed.to_dict()), lambda text: costs.CostDistribution.from_dict(json.loads(text))),
    ]


def damaged(text, rng):
    """Change a text at up to three places."""
    for _ in range(int(rng.integers(1, 4))):
        at, size = int(rng.integers(len(text) + 1)), int(rng.integers(1, 12))
        new = [ODD[int(rng.integers(len(ODD)))], text[at : at + 40], "", "[" * 2000][
            int(rng.choice(4, p=[0.6, 0.2, 0.19, 0.01]))
        ]
        text = text[:at] + new + text[at + (size if rng.random() < 0.7 else 0) :]
    return text


def run_text(seed, kept):
    """Read one damaged text; return what became of it and the problem."""
    rng = np.random.default_rng(seed)
    whole, read = kept[int(rng.integers(len(kept)))]
    text = damaged(whole, rng)
    try:
        read(text)
    except ValueError as error:
        place = inspect.getinnerframes(error.__traceback__)[-1].filename
        ours = Path(place).resolve().is_relative_to(PACKAGE) or isinstance(error, json.JSONDecodeError)
        return "refused", None if ours else f"seed {seed} text: raised in {place}: {error!r:.200}"
    except Exception as error:  # noqa: BLE001  (that is the question)
        recursion = (
            isinstance(error, RecursionError) and "json" in inspect.getinnerframes(error.__traceback__)[-1].filename
        )
        return "refused", None if recursion else f"seed {seed} text: {error!r:.200}"
    return "read", None


def run_command(seed, options):
    """Run one odd command line; return its exit code and the problem."""
    rng = np.random.default_rng(seed)
    command = list(COMMANDS)[int(rng.integers(len(COMMANDS)))]
    argv = [*COMMANDS[command]]
    for _ in range(int(rng.integers(1, 4))):
        word = WORDS[int(rng.integers(len(WORDS)))]
        if rng.random() < 0.5:
            argv[int(rng.integers(len(argv)))] = word
        else:
            argv += [options[command][int(rng.integers(len(options[command])))], word]
    said, out = io.StringIO(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # bytes may be written too
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        code = main([*command.split(), *argv])
    bad = code not in (0, 2, 3, 4) or "probably a bug" in said.getvalue() or "Traceback" in said.getvalue()
    return code, f"seed {seed} {command} {argv!r:.300}: exit code {code}: {said.getvalue()[:300]}" if bad else None


@contextlib.contextmanager
def workplace():
    """Stand in a folder with a small file, and give back every option of every command."""
    from stakes.cli.program import PROGRAM

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rng = np.random.default_rng(1)
        rows = [
            f"{y},{p:.3f},{q:.3f}" for y, p, q in zip(np.tile([0, 1], 30), rng.random(60), rng.random(60), strict=True)
        ]
        Path("d.csv").write_text("y,m,n\n" + "\n".join(rows) + "\n", encoding="utf-8")
        Path("c.toml").write_text("[stakes]\nlabel = 'y'\n", encoding="utf-8")
        Path("b.json").write_text(kept_texts()[0][0], encoding="utf-8")
        found = PROGRAM.options_of_all()
        try:
            yield {key.replace(".", " "): [f"--{name}" for name in found[key] if name != "debug"] for key in found}
        finally:
            os.chdir(before)


def soak_texts(cases, start=0):
    """Run so many damaged texts; return what they came to, and the problems."""
    counts, problems, kept = Counter(), [], kept_texts()
    for seed in range(start, start + cases):
        what, problem = run_text(seed, kept)
        counts[what] += 1
        problems += [problem] if problem else []
    return counts, problems


def soak_commands(cases, start=0):
    """Run so many odd command lines; return their exit codes, and the problems."""
    counts, problems = Counter(), []
    with workplace() as options:
        for seed in range(start, start + cases):
            code, problem = run_command(seed, options)
            counts[code] += 1
            problems += [problem] if problem else []
    return counts, problems
