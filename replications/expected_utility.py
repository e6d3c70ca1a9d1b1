"""Ways to decide for a measure, on the paper's public data: expected utility, plug-in threshold, one half.

arXiv:1505.01802 (Natarajan, Koyejo, Ravikumar, Dhillon), Tables 2 and 3, compares the decision-theoretic approach with
a population threshold on one split of each data set, without intervals. Here: logistic regression on 20 random halves
(by default), each approach for the same probabilities, and paired intervals for the differences. The comparison is
reproduced, not the digits. Expected utility is also shown for probabilities recalibrated on held-out folds (isotonic
regression): the plug-in threshold has seen the same labels, and needs no calibrated probabilities. A second table gives
our 48 numbers for the three approaches of the paper, with the range over the halves, beside the six that the texts used
here print. Three of the paper's data sets are not in the reference data; they are read where they are put there.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys

import numpy as np
from scipy.sparse import issparse
from scipy.stats import t as student
from sklearn.datasets import load_svmlight_file
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replications._classification import data_folder
from replications._kept import markdown
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
# Data sets of the paper that are read from data/NAME/NAME.svm (svmlight's format, labels with commas) if it is there.
ABSENT = {
    "reuters": "taken to be Reuters-21578, at the UCI Machine Learning Repository, as term counts",
    "scene": "taken to be Scene (Boutell et al. 2004), at OpenML and among the multi-label sets of LIBSVM",
    "webpage": "taken to be that of Platt (1998), among the binary sets of LIBSVM as w8a",
}
RARE = 30  # one-vs-rest problems with fewer events are left out, in the sets above
MEASURES = {"F1": F1(), "Jaccard": Jaccard(), "AM": BalancedAccuracy(), "G-TP/PR": FowlkesMallows()}
APPROACHES = ("expected utility", "recalibrated", "plug-in", "one half")
PAIRS = (("expected utility", "plug-in"), ("recalibrated", "plug-in"), ("recalibrated", "one half"))
PAPER = ("expected utility", "plug-in", "one half")
# The cells of Table 2 that the errata quote, all of expected utility (DTA): one split, means over one-vs-rest problems.
PRINTED = {
    ("spambase", "F1"): ".9636",
    ("spambase", "Jaccard"): ".7314",
    ("letter", "F1"): ".71",
    ("letter", "Jaccard"): ".43",
    ("image_segmentation", "F1"): ".9578",
    ("image_segmentation", "Jaccard"): ".7455",
}
TEST_SHARE, FOLDS, LEVEL = 0.5, 3, 0.95


def read(folder, name):
    """Return the features, the labels of each one-vs-rest problem, and what was left out."""
    if name in ABSENT:
        return read_sparse(folder, name)
    with gzip.open(folder / "data" / name / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    complete = [row for row in rows if all(row.values())]
    target = TARGETS[name]
    labels = np.array([row[target] for row in complete])
    features = np.array([[float(v) for k, v in row.items() if k != target] for row in complete])
    classes = ["1"] if set(labels) == {"0", "1"} else sorted(set(labels))
    dropped = len(rows) - len(complete)
    left_out = f", {dropped} incomplete rows left out" if dropped else ""
    return features, {c: (labels == c).astype(int) for c in classes}, left_out


def path_of(folder, name):
    return folder / "data" / name / f"{name}.svm"


def read_sparse(folder, name):
    """Return what `read` does, from a file in svmlight's format whose rows may have several labels, or none."""
    if not path_of(folder, name).exists():
        sys.exit(f"{path_of(folder, name)} is not there: {ABSENT[name]}.")
    X, labels = load_svmlight_file(str(path_of(folder, name)), multilabel=True)
    topics = sorted({topic for row in labels for topic in row})
    topics = [1.0] if topics == [-1.0, 1.0] else topics
    problems = {topic: np.array([int(topic in row) for row in labels]) for topic in topics}
    frequent = {topic: y for topic, y in problems.items() if y.sum() >= RARE}
    rare = len(problems) - len(frequent)
    return X, frequent, f", problems with fewer than {RARE} events left out: {rare}" if rare else ""


def classifier(X):
    return make_pipeline(StandardScaler(with_mean=not issparse(X)), LogisticRegression(max_iter=1000))


def decisions(X, y, other):
    """Return the decisions of each approach for each measure, from the same probabilities."""
    held_out = cross_val_predict(classifier(X), X, y, cv=FOLDS, method="predict_proba")[:, 1]
    p = classifier(X).fit(X, y).predict_proba(other)[:, 1]
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


def halves(X, problems, splits):
    """Return the rows of each random split: of the classes in proportion, where each row has one class."""
    classes = np.sum([i * y for i, y in enumerate(problems.values(), start=1)], axis=0)
    one_class = np.max(np.sum(list(problems.values()), axis=0)) == 1
    splitter = StratifiedShuffleSplit if one_class else ShuffleSplit
    return splitter(splits, test_size=TEST_SHARE, random_state=1505).split(X, classes)


def run(folder, name, splits):
    """Return the values of every split, and what to say about the data."""
    X, problems, left_out = read(folder, name)
    values = []
    for number, (train, test) in enumerate(halves(X, problems, splits), start=1):
        print(f"\r{name}: split {number} of {splits}", end="", file=sys.stderr, flush=True)
        values.append(one_split(X, problems, train, test))
    print(file=sys.stderr)
    kind = f"{len(problems)} one-vs-rest problems" if len(problems) > 1 else "one problem"
    return np.array(values), f"{X.shape[0]:,} rows{left_out}, {kind}"


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
        yield [name, measure, *means, *(f"{mean:+.4f} +- {half:.4f}" for mean, half in gaps)]


def cells(name, values):
    """A row for each measure: each approach of the paper as mean and range over the splits, and what is printed."""
    for i, measure in enumerate(MEASURES):
        by_approach = dict(zip(APPROACHES, values[:, i].T, strict=True))
        shown = [f"{v.mean():.4f} ({v.min():.4f} to {v.max():.4f})" for v in map(by_approach.get, PAPER)]
        yield [name, measure, shown[0], PRINTED.get((name, measure), ""), *shown[1:]]


def show(found, splits):
    """Print both tables of the data sets that were run."""
    print(f"Means over {splits} random halves; +- is half of a paired {LEVEL:.0%} interval.\n")
    heads = ["data", "measure", *APPROACHES, *(f"{one} less {other}" for one, other in PAIRS)]
    print(markdown(heads, [row for name, values in found.items() for row in table_rows(name, values)]))
    print("\nTable 2, cell by cell: mean (least to largest half), beside what is printed for one split.")
    print("The printed cells of plug-in and one half are not in the texts used here.\n")
    heads = ["data", "measure", f"{PAPER[0]} (DTA)", "printed (DTA)", *PAPER[1:]]
    print(markdown(heads, [row for name, values in found.items() for row in cells(name, values)]))


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications expected_utility")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--data", nargs="+", choices=[*TARGETS, *ABSENT], help="default: every one that is there")
    options = parser.parse_args(arguments)
    folder = data_folder()
    absent = [name for name in ABSENT if not path_of(folder, name).exists()]
    names = options.data or [*TARGETS, *(name for name in ABSENT if name not in absent)]
    found = {}
    for name in names:
        found[name], fact = run(folder, name, options.splits)
        print(f"- {name}: {fact}")
    for name in absent:
        print(f"- {name}: not in the reference data; {ABSENT[name]}; read from data/{name}/{name}.svm")
    print()
    show(found, options.splits)


if __name__ == "__main__":
    main(sys.argv[1:])
