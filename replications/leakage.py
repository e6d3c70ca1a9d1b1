"""What leakage does to model selection: h-blocks beside plain folds on ordered sensor readings.

Ahmadian et al. (arXiv:2407.17697), Algorithm 4, end to end: which of 12 trials or of 13 people a window of readings is
from, with the blocks and windows of the settings published beside the paper's data (`datasets/*/args` of
Ruhallah93/superior-scoring-rules at 696787f): 15 blocks and windows of 4 readings for the chest sensor, 10 blocks and
windows of 128 for walking, each a quarter of its width after the one before.

In each fold several models are fitted twice. Plain: windows are cut first and drawn at random to train and to validate.
h-block: rows are split into blocks in time first. Both times the model of the least loss in validation is chosen, and
the choice is judged on the test block, which is apart in time from both, by the model that was fitted on h-blocks.

The walking data, of the UCI Machine Learning Repository, are not in the reference data; they are read where
data/user_identification_from_walking/ holds them.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replications._classification import data_folder
from replications._kept import markdown
from replications._networks import read
from stakes.metrics import penalized_brier_loss
from stakes.training import HBlockSplit, segment_windows

MODELS = {
    "1 neighbour": lambda: KNeighborsClassifier(1),
    "15 neighbours": lambda: KNeighborsClassifier(15),
    "200 neighbours": lambda: KNeighborsClassifier(200),
    "trees, leaves of 1": lambda: ExtraTreesClassifier(40, random_state=0),
    "trees, leaves of 100": lambda: ExtraTreesClassifier(40, min_samples_leaf=100, random_state=0),
    "logistic regression": lambda: LogisticRegression(max_iter=300),
}
LOSSES = ("Brier", "penalized Brier")
SCHEMES = ("plain", "h-block")
WALKING = "user_identification_from_walking"


@dataclass(frozen=True)
class Task:
    """Readings in the order of time, whose they are, and how they are cut."""

    values: NDArray[np.float64]
    group: NDArray[np.intp]
    n_blocks: int
    width: int

    def windows(self, rows, groups):
        return segment_windows(rows, width=self.width, step=self.width // 4, groups=groups)

    def part(self, windows):
        """Features and labels of windows: of each axis mean, spread, ends, and mean step from reading to reading."""
        x = self.values[windows]
        steps = np.abs(np.diff(x, axis=1)).mean(axis=1)
        features = [x.mean(axis=1), x.std(axis=1), x.min(axis=1), x.max(axis=1), steps]
        return np.column_stack(features), self.group[windows[:, 0]]


def chest_sensor():
    data = read("healthy_older_people")
    values = data[["acc_frontal", "acc_vertical", "acc_lateral"]].to_numpy()
    return Task(values, data["trial"].to_numpy() - 1, 15, 4)


def walking():
    """Read the files of each person: time step and three axes, under a line of names or none."""
    files = sorted((data_folder() / "data" / WALKING).glob("*.csv"))
    if not files:
        sys.exit(f"data/{WALKING} has no files: get User Identification From Walking Activity from the UCI repository.")
    people = []
    for file in files:
        with file.open(encoding="utf-8") as lines:
            rows = [row for row in csv.reader(lines) if row]
        people.append(np.array([row[1:4] for row in rows if not row[0].startswith("time")], dtype=float))
    return Task(np.concatenate(people), np.repeat(np.arange(len(people)), [len(rows) for rows in people]), 10, 128)


TASKS = {"healthy_older_people": chest_sensor, "walking": walking}


def measured(model, part):
    """Losses, accuracy and macro-F1 of a model on a part."""
    X, y = part
    prob = model.predict_proba(X)
    top = model.classes_[prob.argmax(axis=1)]
    return {
        "Brier": float(penalized_brier_loss(y, prob, labels=model.classes_, penalty=0)),
        "penalized Brier": float(penalized_brier_loss(y, prob, labels=model.classes_)),
        "accuracy": float(accuracy_score(y, top)),
        "F1": float(f1_score(y, top, average="macro")),
    }


def parts(task, fold):
    """Return the parts of both schemes to train and to validate on, and the test block."""
    split = HBlockSplit(task.n_blocks, gap=task.width)
    rows = list(split.split_with_validation(task.values, groups=task.group))[fold]
    blocks = split.blocks(task.values, groups=task.group)
    train, validation, test = (task.windows(part, blocks) for part in rows)
    every = task.windows(np.sort(np.concatenate(rows[:2])), task.group)
    drawn = np.random.default_rng(fold).permutation(len(every)) < len(validation)
    plain = (every[~drawn], every[drawn])
    found = {"plain": plain, "h-block": (train, validation)}
    return {scheme: [task.part(w) for w in two] for scheme, two in found.items()}, task.part(test)


def one_fold(task, fold):
    """Return what each model shows in validation by each scheme, and on the test block."""
    by_scheme, test = parts(task, fold)
    found = {}
    for name, make in MODELS.items():
        found[name] = {}
        for scheme, (train, validation) in by_scheme.items():
            model = make_pipeline(StandardScaler(), make()).fit(*train)
            found[name][scheme] = measured(model, validation)
        found[name]["test"] = measured(model, test)  # the model that was fitted on h-blocks
    return found


def chosen(found, scheme, loss):
    return min(found, key=lambda name: found[name][scheme][loss])


def by_model(folds):
    """A row for each model: means over the folds."""
    for name in MODELS:
        means = [
            np.mean([found[name][where][of] for found in folds])
            for of in ("Brier", "accuracy")
            for where in (*SCHEMES, "test")
        ]
        yield [name, *(f"{mean:.4f}" for mean in means)]


def agreement(folds, scheme):
    """Rank correlation, over the models, of the mean Brier score of a scheme with that on the test blocks."""
    means = [
        [np.mean([found[name][where]["Brier"] for found in folds]) for name in folds[0]] for where in (scheme, "test")
    ]
    return float(spearmanr(*means).statistic)


def choices(folds):
    """A row for each loss and scheme: what was chosen how often, what it promised, and what it gave on test."""
    for loss in LOSSES:
        for scheme in (*SCHEMES, "test"):
            names = [chosen(found, scheme, loss) for found in folds]
            often = ", ".join(f"{name} ({count})" for name, count in Counter(names).most_common())
            ours = [found[name] for found, name in zip(folds, names, strict=True)]
            promised = np.mean([one[scheme][loss] for one in ours])
            gave = [np.mean([one["test"][of] for one in ours]) for of in (loss, "accuracy", "F1")]
            yield [loss, scheme, often, f"{promised:.4f}", *(f"{value:.4f}" for value in gave)]


def differences(folds):
    """What the plain choice costs on the test block beyond the h-block choice, by each loss."""
    for loss in LOSSES:
        gaps = [
            found[chosen(found, "plain", loss)]["test"][loss] - found[chosen(found, "h-block", loss)]["test"][loss]
            for found in folds
        ]
        counts = [str(sum(sign * gap > 0 for gap in gaps)) for sign in (1, -1)]
        yield [loss, f"{np.mean(gaps):+.4f}", f"{min(gaps):+.4f} to {max(gaps):+.4f}", *counts]


def show(name, task, folds):
    sizes = np.bincount(task.group)
    print(
        f"\n## {name}\n\n{len(task.group):,} readings of {len(sizes)}, at most {sizes.max() / sizes.sum():.1%} of one;"
    )
    print(f"{task.n_blocks} blocks, windows of {task.width}. Means over {len(folds)} folds:\n")
    heads = [f"{of}, {where}" for of in ("Brier", "accuracy") for where in (*SCHEMES, "test")]
    print(markdown(["model", *heads], by_model(folds)))
    agreed = ", ".join(f"{scheme} {agreement(folds, scheme):+.2f}" for scheme in SCHEMES)
    print(f"\nRank correlation of the models' mean Brier score with that on test: {agreed}.")
    print("\nWhat each scheme chooses; `test` is the choice of one who knew the test block:\n")
    heads = ["least", "scheme", "chosen (folds)", "in validation", "on test", "accuracy on test", "F1 on test"]
    print(markdown(heads, choices(folds)))
    print("\nLoss on test of the plain choice less that of the h-block choice:\n")
    print(markdown(["least", "mean", "over the folds", "plain worse", "plain better"], differences(folds)), flush=True)


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications leakage", description=__doc__)
    parser.add_argument("--folds", type=int, help="how many folds of each to run (default: all, 15 and 10)")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, help="default: those whose data are there")
    options = parser.parse_args(list(arguments))
    there = (data_folder() / "data" / WALKING).is_dir()
    for name in options.tasks or (TASKS if there else ["healthy_older_people"]):
        task = TASKS[name]()
        show(name, task, [one_fold(task, fold) for fold in range(task.n_blocks)[: options.folds]])
    if not there:
        print("\nThe walking data are not in the reference data: User Identification From Walking Activity, of UCI,")
        print(f"goes to data/{WALKING}/.")
