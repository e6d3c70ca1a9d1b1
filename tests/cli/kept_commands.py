"""What commands print, in numbers, with one option after another, of which a table is kept.

``python -m tests.cli.kept_commands`` writes the table anew; what then differs from the last commit was changed.
"""

import contextlib
import csv
import io
import json
import os
import re
import tempfile
from pathlib import Path

import numpy as np

from stakes.cli import main
from tests.answers import summed

KEPT = Path(__file__).with_name("kept_commands.json")
ROWS = 240


def columns():
    """Return labels, scores, weights, groups, amounts, times and classes of the rows."""
    rng = np.random.default_rng(6)
    risk = rng.beta(1.0, 4.0, ROWS).round(3)
    ill = (rng.random(ROWS) < risk).astype(int)
    time = np.ceil(10.0 * rng.exponential(2.0 * (1.2 - risk))) / 10.0
    three = rng.dirichlet([2.0, 1.0, 1.0], ROWS).round(3)
    three[:, 0] = (1.0 - three[:, 1] - three[:, 2]).round(3)
    kinds = np.array(["low", "mid", "top"])[(rng.random((ROWS, 1)) > three.cumsum(axis=1)).sum(axis=1).clip(max=2)]
    return {
        "ill": ill,
        "sharp": risk,
        "coarse": risk.round(1),
        "inner": risk.clip(0.01, 0.99),
        "doubt": rng.random(ROWS).round(2),
        "weight": 1.0 + np.arange(ROWS) % 3,
        "ward": np.where(np.arange(ROWS) % 4, "many", "few"),
        "owner": np.arange(ROWS) // 4,
        "fp": np.full(ROWS, 7.0),
        "fn": 20.0 + np.arange(ROWS) % 11,
        "time": time,
        "event": np.where(time > 2.5, 0, ill),
        "seen": np.where((risk > 0.3) | (np.arange(ROWS) % 2 == 0), ill.astype(str), ""),
        "kind": kinds,
        **{f"own_{name}": three[:, k] for k, name in enumerate(("low", "mid", "top"))},
    }


E = "evaluate rows.csv --label ill --models sharp,coarse"
C = "compare rows.csv --label ill --models sharp,coarse"
K = "check rows.csv --label ill --models sharp,coarse"
U = "update rows.csv --label ill --models inner -o out.csv"
B = "boundary fit rows.csv --label ill --score sharp --uncertainty doubt"
R = "--costs 0.05:0.4"
COMMANDS = [
    *(f"{E} {R} {more}" for more in (
        "", "--details", "--calibration", "--weight weight", "--groups ward", "--clusters owner", "--lags 2",
        "--incumbent coarse", "--n-tried 9", "--rule optimal", "--rule 0.3", "--harm 0.01", "--harm sharp=0.02",
        "--scale integral", "--prevalence 0.1", "--confidence-level 0.8", "--unit-cost 50 --per 1000",
        "--metric h_measure_score", "--metric net_benefit_score:threshold=0.3", "--weighting log-odds",
        "--deferral 0.02", "--more-rows 100,1000", "--pos-label 0",
    )),
    f"evaluate rows.csv --models sharp,coarse --unlabelled {R}",
    f"{E} --costs 0.2 --deferral 0.02 --capacity 0.2",
    f"{E} --costs 0.2 --more-rows 100 --decisions 1000 --unit-cost 50 --row-cost 10 --discount 0.03",
    f"{E} --odds 1/9:1/4",
    f"{E} --false-alarms-per-miss 2:9",
    f"{E} --false-positive-cost fp --false-negative-cost fn --unit EUR",
    f"evaluate rows.csv --models sharp,coarse --time time --event event --horizon 1.5 {R}",
    f"evaluate rows.csv --label seen --models sharp,coarse --verified-by ward {R}",
    "evaluate rows.csv --label kind --models own --classes low,mid,top --cost-matrix matrix.csv",
    "evaluate rows.csv --label kind --models own --classes low,mid,top --cost-matrix matrix.csv --clusters owner",
    *(f"{C} {R} {more}" for more in ("", "--weight weight", "--clusters owner", "--lags 2", "--prevalence 0.1")),
    *(f"{C} {R} {more}" for more in ("--confidence-level 0.8", "--unit-cost 50 --per 1000", "--rule 0.3")),
    *(f"{K} {R} {more}" for more in ("", "--groups ward", "--weight weight", "--fail-on not-better")),
    "correct rows.csv --models sharp --positive-share 0.6 --label ill -o out.csv",
    "correct rows.csv --models inner --scale-pos-weight 3 --suffix _new -o out.csv",
    "correct rows.csv --models inner --class-weights 0:1,1:4 -o out.csv",
    "correct rows.csv --models inner --keep 0:0.2,1:1 -o out.csv",
    "correct rows.csv --models inner --prior 0.1 --training-prior 0.3 -o out.csv",
    *(f"{U} {more}" for more in ("", "--method logistic", "--method isotonic", "--weight weight", f"{R}")),
    "decide rows.csv --models sharp --measure f1 -o out.csv",
    "decide rows.csv --models sharp --measure f1 --groups ward --sensitivity -o out.csv",
    "decide rows.csv --models sharp --measure jaccard --positive-share 0.6 -o out.csv",
    "decide rows.csv --models sharp --costs 0.2 --deferral 0.02 --capacity 0.1 -o out.csv",
    "decide rows.csv --models sharp --costs 0.2 --deferral 0.02 --capacity 1 -o out.csv",
    "decide rows.csv --models sharp --costs 0.05:0.4 --deferral 0.02 -o out.csv",
    "decide rows.csv --models sharp --false-positive-cost fp --false-negative-cost fn --unit EUR -o out.csv",
    f"{B} --min-precision 0.4 -o out.json",
    f"{B} --goal precision --min-recall 0.6 -o out.json",
    f"{B} --capacity 30 --levels 2 -o out.json",
    f"{B} --goal cost --costs 0.2 -o out.json",
    "boundary certify rows.csv --label ill --score sharp --uncertainty doubt --min-precision 0.2 -o out.json",
    "plan net_benefit --prevalence 0.2 --sensitivity 0.8 --specificity 0.7 --threshold 0.1 --width 0.04",
    "plan auc --prevalence 0.2 --auc 0.75 --width 0.1",
    "plan o_to_e --prevalence 0.2 --width 0.2",
    "plan slope --linear-predictor=-1.8,0.9 --width 0.3",
    "plan regret --standard-deviation 0.2 --difference 0.01 --power 0.8",
    "plan certificate --error 0.05 --max-error 0.1 --power 0.8",
    "advise --decisions independent --knowledge range --costs 0.05:0.3",
    "advise --decisions independent --knowledge known --costs 0.2 --prevalence 0.1",
    "advise --decisions budget --knowledge known --capacity 100 --ranking-only",
    "demo",
]  # fmt: skip
JSON = [command for command in COMMANDS[::4] if not command.startswith(("demo", "correct"))]


def write_rows(folder):
    """Write the files that the commands read."""
    rows = columns()
    with (Path(folder) / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([list(rows), *zip(*rows.values(), strict=True)])
    (Path(folder) / "matrix.csv").write_text(",low,mid,top\nwait,0,5,9\nlook,4,0,3\nact,30,6,0\n", encoding="utf-8")


def run(command):
    """Run a command in the current folder: its code, and the numbers that it prints and writes, summed up."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command.split())
    written = Path("out.csv" if "out.csv" in command else "out.json")
    wrote = written.read_text("utf-8") if "-o out" in command and written.exists() else ""
    written.unlink(missing_ok=True)
    return [code, *(summed(_numbers(text)) for text in (out.getvalue(), err.getvalue() if code else "", wrote))]


def _numbers(text):
    text = text.replace(str(Path.cwd()), "")
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]?|\d\d:\d\d(:\d\d)?|stakes \d[\w.+]*|(?<![\d.])[0-9a-f]{16,}", "", text)
    found = re.findall(r"(?<![\w.])-?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?", text)
    return [float(each.replace(",", "").rstrip(".")) for each in found]


def commands():
    """Every command, and those that print JSON once more so."""
    return [*COMMANDS, *(f"{command} --json" for command in JSON if "-o out.json" not in command)]


def write():
    """Write the table of all commands."""
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_rows(folder)
        kept = {command: run(command) for command in commands()}
    KEPT.write_text(json.dumps(kept, separators=(",", ":")).replace(']],"', ']],\n"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
