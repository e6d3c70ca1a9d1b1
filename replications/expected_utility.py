"""Ways to decide for a measure, on the paper's public data: expected utility, plug-in threshold, one half.

arXiv:1505.01802 (Natarajan, Koyejo, Ravikumar, Dhillon), Tables 2 and 3, compares the decision-theoretic approach with
a population threshold on one split of each data set, without intervals. Here: logistic regression on 20 random halves
(by default), each approach for the same probabilities, and paired intervals for the differences. The comparison is
reproduced, not the digits. Expected utility is also shown for probabilities recalibrated on held-out folds (isotonic
regression): the plug-in threshold has seen the same labels, and needs no calibrated probabilities.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import sys
from pathlib import Path

import numpy as np
from scipy.stats import t as student
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stakes.utility import (
    F1,
    BalancedAccuracy,
    FowlkesMallows,
    Jaccard,
    expected_utility,
    optimal_decisions,
    population_threshold,
)

TARGETS = {
    "spambase": "spam",
    "breast_cancer_wisconsin": "malignant",
    "letter": "letter",
    "image_segmentation": "class",
}
MEASURES = {"F1": F1(), "Jaccard": Jaccard(), "AM": BalancedAccuracy(), "G-TP/PR": FowlkesMallows()}
APPROACHES = ("expected utility", "recalibrated", "plug-in", "one half")
PAIRS = (("expected utility", "plug-in"), ("recalibrated", "plug-in"), ("recalibrated", "one half"))
# Of Tables 2 and 3, what the errata quote: means over the 26 letters, one split, the decision-theoretic approach.
PRINTED = {("letter", "F1"): 0.71, ("letter", "Jaccard"): 0.43}
TEST_SHARE, FOLDS, LEVEL = 0.5, 3, 0.95


def read(folder, name):
    """Return the features, the labels of each one-vs-rest problem, and how many incomplete rows were left out."""
    with gzip.open(folder / "data" / name / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    complete = [row for row in rows if all(row.values())]
    target = TARGETS[name]
    labels = np.array([row[target] for row in complete])
    features = np.array([[float(v) for k, v in row.items() if k != target] for row in complete])
    classes = ["1"] if set(labels) == {"0", "1"} else sorted(set(labels))
    return features, {c: (labels == c).astype(int) for c in classes}, len(rows) - len(complete)


def classifier():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def decisions(X, y, other):
    """Return the decisions of each approach for each measure, from the same probabilities."""
    held_out = cross_val_predict(classifier(), X, y, cv=FOLDS, method="predict_proba")[:, 1]
    p = classifier().fit(X, y).predict_proba(other)[:, 1]
    calibrated = IsotonicRegression(out_of_bounds="clip").fit(held_out, y).predict(p)
    ranks = np.argsort(np.argsort(-p, kind="stable"))
    found = {}
    for name, measure in MEASURES.items():
        plug_in = population_threshold(y, held_out, measure, n_resamples=0).predict(p)
        # isotonic regression ties rows: among those the probabilities before it keep their say
        recalibrated = (ranks < expected_utility(calibrated, measure).best_k).astype(int)
        half = (p >= 0.5).astype(int)
        choices = (optimal_decisions(p, measure), recalibrated, plug_in, half)
        found[name] = dict(zip(APPROACHES, choices, strict=True))
    return found


def value(measure, decision, y):
    pairs = [np.sum((decision == d) & (y == t)) for d, t in ((1, 1), (1, 0), (0, 1), (0, 0))]
    return float(measure.value(*pairs))


def one_split(X, problems, train, test):
    """Return the mean over the one-vs-rest problems of each approach's value: measures by approaches."""
    out = np.zeros((len(MEASURES), len(APPROACHES)))
    for y in problems.values():
        for i, (name, by_approach) in enumerate(decisions(X[train], y[train], X[test]).items()):
            out[i] += [value(MEASURES[name], by_approach[a], y[test]) for a in APPROACHES]
    return out / len(problems)


def run(folder, name, splits):
    """Return the values of every split, and what to say about the data."""
    X, problems, dropped = read(folder, name)
    whole = np.sum([i * y for i, y in enumerate(problems.values(), start=1)], axis=0)
    cut = StratifiedShuffleSplit(splits, test_size=TEST_SHARE, random_state=1505)
    values = []
    for number, (train, test) in enumerate(cut.split(X, whole), start=1):
        print(f"\r{name}: split {number} of {splits}", end="", file=sys.stderr, flush=True)
        values.append(one_split(X, problems, train, test))
    print(file=sys.stderr)
    left_out = f", {dropped} incomplete rows left out" if dropped else ""
    kind = f"{len(problems)} one-vs-rest problems" if len(problems) > 1 else "one problem"
    return np.array(values), f"{len(X):,} rows{left_out}, {kind}"


def interval(difference):
    """Return mean and half width, corrected for the overlap of random splits (Nadeau and Bengio 2003)."""
    n = len(difference)
    if n < 2:
        return float(difference.mean()), float("nan")
    variance = np.var(difference, ddof=1) * (1 / n + TEST_SHARE / (1 - TEST_SHARE))
    return float(difference.mean()), float(student.ppf(0.5 + LEVEL / 2, n - 1) * np.sqrt(variance))


def table_rows(name, values):
    for i, measure in enumerate(MEASURES):
        means = [f"{v:.4f}" for v in values[:, i].mean(axis=0)]
        by_approach = dict(zip(APPROACHES, values[:, i].T, strict=True))
        gaps = [interval(by_approach[one] - by_approach[other]) for one, other in PAIRS]
        printed = PRINTED.get((name, measure))
        shown = [f"{mean:+.4f} +- {half:.4f}" for mean, half in gaps]
        yield [name, measure, *means, *shown, f"{printed:.2f}" if printed else ""]


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications expected_utility")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--data", nargs="+", choices=TARGETS, default=list(TARGETS))
    options = parser.parse_args(arguments)
    named = os.environ.get("STAKES_REFERENCE_DIR")
    if not named:
        sys.exit("the data are not in the repository: STAKES_REFERENCE_DIR must name the folder that holds data/.")
    header = [
        *("data", "measure", *APPROACHES),
        *(f"{one} less {other}" for one, other in PAIRS),
        "printed (one split)",
    ]
    lines, facts = [header, ["---"] * len(header)], []
    for name in options.data:
        values, fact = run(Path(named), name, options.splits)
        facts.append(f"- {name}: {fact}")
        lines += table_rows(name, values)
    print(f"Means over {options.splits} random halves; +- is half of a paired {LEVEL:.0%} interval.\n")
    print("\n".join(facts) + "\n")
    print("\n".join(f"| {' | '.join(line)} |" for line in lines))


if __name__ == "__main__":
    main(sys.argv[1:])
