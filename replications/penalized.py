"""Tables 2 and 3 and Figure 3 of arXiv:2407.17697 on the reference data: what choosing the epoch by a criterion gives.

Small networks (a 1-D CNN on windows of the chest sensor, one hidden layer on the tables), each trained anew for every
seed, which also draws the split. The criteria are computed on validation data, F1 (macro) and accuracy of the chosen
epoch on test data. Intervals are of paired differences over the seeds.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from replications._networks import CRITERIA, TASKS, history
from stakes.training import compare_monitors

REPORT = ("test_f1", "test_accuracy", "test_brier")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m replications penalized", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="runs of each task (default 10)")
    parser.add_argument("--epochs", type=int, default=80, help="epochs of each run (default 80)")
    parser.add_argument("--patience", type=int, default=5, help="of early stopping (default 5)")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="draw the first run of each task there")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the histories to a file as well")
    return parser.parse_args(arguments)


def compared(records, patience):
    columns = {name: [record[name] for record in records] for name in records[0]}
    return compare_monitors(columns, criteria=CRITERIA, report=REPORT, patience=patience, run="seed")


def summary(comparison):
    """Means over the runs, one line for each criterion."""
    lines = ["| criterion | correlation with F1 | rule | epoch | test F1 | test accuracy | test Brier |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for rule in ("early stopping", "checkpoint"):
        for criterion in CRITERIA:
            chosen = [c for c in comparison.choices if (c.criterion, c.rule) == (criterion, rule)]
            mean = {of: np.mean([c.report[of] for c in chosen]) for of in REPORT}
            r, epoch = np.mean([c.correlation for c in chosen]), np.mean([c.epoch for c in chosen])
            values = " | ".join(f"{mean[of]:.4f}" for of in REPORT)
            lines.append(f"| {criterion} | {r:.3f} | {rule} | {epoch:.1f} | {values} |")
    return "\n".join(lines)


PAIRS = (
    *(("pbs", "brier"), ("accuracy", "brier"), ("pbs", "accuracy")),
    *(("pll", "log"), ("accuracy", "log"), ("pll", "accuracy")),
)


def differences(comparison):
    """Mean paired differences with 95% intervals, each penalized score beside the plain one and beside accuracy."""
    cells = [("", "correlation with f1")]
    cells += [(rule, of) for of in REPORT[:2] for rule in ("early stopping", "checkpoint")]
    heads = [f"{of.replace('_', ' ')}, {rule}".removesuffix(", ") for rule, of in cells]
    lines = ["| difference | " + " | ".join(heads) + " |", "| --- " * (len(cells) + 1) + "|"]
    for criterion, baseline in PAIRS:
        rows = comparison.differences(baseline)._records()
        by_cell = {(row["rule"], row["of"]): row for row in rows if row["criterion"] == criterion}
        texts = ["{difference:+.4f} ({ci_low:+.4f}, {ci_high:+.4f})".format(**by_cell[cell]) for cell in cells]
        lines.append(f"| {criterion} less {baseline} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def main(arguments):
    import torch

    options = parse(arguments)
    torch.set_num_threads(1)
    found = {}
    for task in options.tasks:
        start = time.perf_counter()
        records = [record for seed in range(options.seeds) for record in history(task, seed, options.epochs)]
        found[task] = records
        comparison = compared(records, options.patience)
        print(f"\n## {task}: {TASKS[task].__doc__}\n")
        print(f"{options.seeds} seeds, {options.epochs} epochs, patience {options.patience}, ", end="")
        print(f"{time.perf_counter() - start:.0f} s\n")
        print(summary(comparison), differences(comparison), sep="\n\n", flush=True)
        if options.figures:
            options.figures.mkdir(parents=True, exist_ok=True)
            comparison.plot().figure_.savefig(options.figures / f"{task}.png", dpi=110)
    if options.json:
        options.json.write_text(json.dumps(found), encoding="utf-8")
