"""What estimates that fit a model again and again say of the model fitted to all rows, by simulation.

`logistic`: ten normal features of which five count, prevalence about 0.2; bias and root mean square error of eight
estimates of the regret averaged over 10 to 30%, and how often intervals hold what the fitted model costs on 20,000
other rows. `tree`: the same for a tree with two rows to a leaf, which interpolates. `selection`: of estimators that
cost the same on average, how often claims about the best are false.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from replications._kept import kept, markdown, spent
from stakes.core.options import Options
from stakes.costs import as_costs
from stakes.evaluation import evaluate_estimator, select_estimator
from stakes.evaluation._refit import _Task, plus632

COSTS = (0.1, 0.3)
EFFECTS = np.array([0.8, -0.6, 0.5, 0.4, 0.3])
SIZES, TREE_SIZES = (100, 250, 500), (100, 250)
FRESH = 20_000
NORMAL = 1.959964
PARTS = ("logistic", "tree", "selection")


class Logistic(ClassifierMixin, BaseEstimator):
    """Logistic regression with scikit-learn's default penalty, by Newton's steps, on some of the columns."""

    def __init__(self, columns=None):
        self.columns = columns

    def _design(self, X):
        return np.column_stack([np.ones(len(X)), X if self.columns is None else X[:, list(self.columns)]])

    def fit(self, X, y):
        design, self.classes_ = self._design(X), np.unique(y)
        penalty = np.eye(design.shape[1])
        penalty[0, 0] = 0.0
        beta = np.zeros(design.shape[1])
        beta[0] = np.log(y.mean() / (1.0 - y.mean()))
        for _ in range(20):
            p = 1.0 / (1.0 + np.exp(-design @ beta))
            slope = design.T @ (y - p) - penalty @ beta
            beta += np.linalg.solve((design.T * (p * (1.0 - p))) @ design + penalty, slope)
            if np.abs(slope).max() < 1e-8:
                break
        self.beta_ = beta
        return self

    def predict_proba(self, X):
        p = 1.0 / (1.0 + np.exp(-self._design(X) @ self.beta_))
        return np.column_stack([1.0 - p, p])


def drawn(rng, n, features=10):
    """Normal features of which the first five count."""
    X = rng.normal(size=(n, features))
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(1.9 - X[:, :5] @ EFFECTS))).astype(int)


def estimates(estimator, X, y, rng):
    """Eight estimates of one data set, from the same fits; and the row losses of one repeat."""
    asked = Options(costs=as_costs(COSTS)).checked()
    task = _Task(estimator, X, y, y == 1, asked, None, 0)
    everyone = np.arange(len(y))
    losses, *_ = task.cross_validated(list(task.splits(10, 5, None, rng)), 5)
    prob = task.scores(everyone, everyone)
    apparent = task.mean_loss(prob, task.y)
    resampled = task.bootstrap(100, None, rng)
    plus = plus632(apparent, resampled.out_of_bag, task.no_information(prob))
    order = rng.permutation(len(y))
    kept_back, rest = order[: int(0.3 * len(y))], order[int(0.3 * len(y)) :]
    held = task.mean_loss(task.scores(rest, kept_back), task.y[kept_back])
    found = (apparent, apparent + resampled.optimism, plus.plain, plus.estimate, losses[0].mean(), losses.mean())
    own = task.row_losses(prob, task.y)
    return (*found, resampled.out_of_bag, held), plus.overfitting, losses[0], own


NAMES = ("apparent", "Harrell", ".632", ".632+", "10-fold", "5 x 10-fold", "out of bag", "30% hold-out")


def study(make, n, draws):
    """Bias and error of the estimates, and coverage of intervals, over data sets."""
    fresh, outcome = drawn(np.random.default_rng(99), FRESH)
    gaps, truths, covered, overfitting = [], [], [], []
    for k in range(draws):
        rng = np.random.default_rng([3, n, k])
        X, y = drawn(rng, n)
        estimator = make()
        fitted = make().fit(X, y).predict_proba(fresh)[:, 1]
        truth = float(as_costs(COSTS).row_loss(outcome == 1, fitted).mean() / (COSTS[1] - COSTS[0]))
        found, ratio, losses, own = estimates(estimator, X, y, rng)
        given = evaluate_estimator(estimator, X, y, costs=COSTS, repeats=1, random_state=k)
        plain, looks = (NORMAL * each.std(ddof=1) / np.sqrt(n) for each in (losses, own))
        low, high = given.interval
        reach = ((abs(found[4] - truth), plain), (abs(found[5] - truth), plain), (abs(found[1] - truth), looks))
        covered.append([*(gap <= most for gap, most in reach), low <= truth <= high])
        gaps.append(np.array(found) - truth)
        truths.append(truth)
        overfitting.append(ratio)
    gaps = np.array(gaps)
    return {
        "truth": float(np.mean(truths)),
        "bias": gaps.mean(axis=0).tolist(),
        "rmse": np.sqrt((gaps**2).mean(axis=0)).tolist(),
        "spread": (gaps.std(axis=0) / np.sqrt(draws)).tolist(),
        "covered": np.mean(covered, axis=0).tolist(),
        "overfitting": float(np.mean(overfitting)),
    }


def logistic(n, draws):
    return study(Logistic, n, draws)


def tree(n, draws):
    return study(lambda: DecisionTreeClassifier(min_samples_leaf=2, random_state=0), n, draws)


class Tree(ClassifierMixin, BaseEstimator):
    """A tree with at least so many rows to a leaf, on some of the columns."""

    def __init__(self, columns=None, leaf=20):
        self.columns = columns
        self.leaf = leaf

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(min_samples_leaf=self.leaf, random_state=0).fit(X[:, list(self.columns)], y)
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, X):
        return self.tree_.predict_proba(X[:, list(self.columns)])


def three(j):
    return tuple(range(3 * j, 3 * j + 3))


# the five features that count for all and noise of their own, or each its own three of fifteen alike
WORLDS = {
    "the same features and five of noise": lambda j: Logistic((*range(5), *range(5 + 5 * j, 10 + 5 * j))),
    "three features each, alike": lambda j: Logistic(three(j)),
    "trees of three features each, 20 rows to a leaf": lambda j: Tree(three(j), 20),
    "trees of three features each, 2 rows to a leaf": lambda j: Tree(three(j), 2),
}


def alike(rng, n, world, count):
    """Rows on which the estimators are exchangeable."""
    if world.startswith("the same"):
        return drawn(rng, n, 5 + 5 * count)
    X = rng.normal(size=(n, 3 * count))
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(1.9 - 0.4 * X.sum(axis=1)))).astype(int)


def selection(world, count, n, draws):
    """How often claims about estimators that cost the same on average are false; all that is said of the best is."""
    told = np.zeros(4)
    for k in range(draws):
        X, y = alike(np.random.default_rng([4, n, count, k]), n, world, count)
        names = {f"e{j}": WORLDS[world](j) for j in range(count)}
        judged = {
            name: evaluate_estimator(each, X, y, costs=COSTS, repeats=1, random_state=k) for name, each in names.items()
        }
        found = select_estimator(judged, incumbent="e0", random_state=k)
        beaten = found.against.get("e0")
        gap = judged["e0"].compare(judged["e1"])
        told += [
            1.0 - len(set(found.possible) & set(names)) / count,
            found.possible == (found.chosen,) and found.chosen in names,
            beaten is not None and beaten.shown,
            gap.p_value < 0.05,
        ]
    keys = ("a given one left out", "only one possible", "incumbent beaten", "two differ")
    return dict(zip(keys, (told / draws).tolist(), strict=True))


def shown(record):
    """One line of the table of estimates."""
    n, _ = record["setting"]
    pairs = zip(record["bias"], record["rmse"], strict=True)
    return (
        f"{n}",
        f"{1e4 * record['truth']:.0f}",
        *(f"{1e4 * bias:+.0f} ({1e4 * error:.0f})" for bias, error in pairs),
    )


def main(options: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m replications refitting", description=__doc__)
    parser.add_argument("--draws", type=int, default=240)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--folder", type=Path, default=Path("results"), help="finished settings are kept and read here")
    chosen = parser.parse_args(options)
    for part, work, sizes in (("logistic", logistic, SIZES), ("tree", tree, TREE_SIZES)):
        if part in chosen.parts:
            draws = chosen.draws if part == "logistic" else chosen.draws // 4
            records = list(kept(chosen.folder / f"refitting_{part}.jsonl", [(n, draws) for n in sizes], work))
            print(f"## {part}: bias (root mean square error), in 1e-4\n")
            print(markdown(("rows", "truth", *NAMES), map(shown, records)) + "\n")
            heads = ("rows", "10-fold", "5 x 10-fold", "Harrell, apparent error", "Refit.interval", "overfitting")
            told = [(f"{r['setting'][0]}", *(f"{v:.3f}" for v in (*r["covered"], r["overfitting"]))) for r in records]
            print(f"{markdown(heads, told)}\n\n{draws:,} data sets, {spent(records)}\n", flush=True)
    if "selection" in chosen.parts:
        counts = {world: (2,) if world.startswith("trees") else (2, 5) for world in WORLDS}
        grid = [(world, k, n, chosen.draws) for world in WORLDS for k in counts[world] for n in (250, 1000)]
        records = list(kept(chosen.folder / "refitting_selection.jsonl", grid, selection))
        heads = (
            "world",
            "estimators",
            "rows",
            "a given one left out",
            "only one possible",
            "incumbent beaten",
            "two differ",
        )
        told = [
            (r["setting"][0], *map(str, r["setting"][1:3]), *(f"{r[key]:.3f}" for key in heads[3:])) for r in records
        ]
        print(f"## selection\n\n{markdown(heads, told)}\n\n{chosen.draws:,} data sets, {spent(records)}")
