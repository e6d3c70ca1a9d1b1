"""Populations of rows for the ledger: models fitted to open data, published predictions, and simulated rows.

A population is finite and known, so that the truth of every claim about a sample of it is known too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from replications._classification import data_folder, read_classification

MOST_ROWS = 20_000
SIMULATED_ROWS = 40_000


@dataclass(frozen=True)
class Population:
    """Labels (n,), risks (n, k), the names of the k models, and clusters and weights of rows where there are any."""

    y: np.ndarray
    risks: np.ndarray
    names: tuple[str, ...]
    clusters: np.ndarray | None = None
    weight: np.ndarray | None = None


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def log_odds(p):
    p = np.clip(p, 1e-6, 1.0 - 1e-6)
    return np.log(p) - np.log1p(-p)


@cache
def fitted(name):
    """Logistic regression, three boostings, a forest, naive Bayes, fitted to a third of the rows; the rest is left."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.preprocessing import StandardScaler

    X, y, _ = read_classification(data_folder(), name)
    X, y = StandardScaler().fit_transform(X), y.astype(bool)
    order = np.random.default_rng(7).permutation(len(y))
    train, rest = order[: len(y) // 3], order[len(y) // 3 :][:MOST_ROWS]
    models = {
        "logistic": LogisticRegression(max_iter=1000),
        "balanced": LogisticRegression(max_iter=1000, class_weight="balanced"),
        "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
        "boosting b": HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=20, random_state=1),
        "overfit": HistGradientBoostingClassifier(max_iter=300, learning_rate=0.3, random_state=2),
        "forest": RandomForestClassifier(100, min_samples_leaf=3, random_state=0),
        "bayes": GaussianNB(),
    }
    risks = [model.fit(X[train], y[train]).predict_proba(X[rest])[:, 1] for model in models.values()]
    return Population(y[rest], np.column_stack(risks), tuple(models))


@cache
def published(path, target, models):
    """Risks that come with the data."""
    import pandas as pd

    frame = pd.read_csv(data_folder() / "data" / f"{path}.csv.gz")
    return Population(frame[target].to_numpy().astype(bool), frame[list(models)].to_numpy(float), models)


def twins(source, noise, count=4, seed=3):
    """The first model of a population and copies of it whose log-odds carry a little noise: nearly equal models."""
    rng = np.random.default_rng([seed, round(1000 * noise), count])
    z = log_odds(source.risks[:, :1]) + noise * rng.standard_normal((len(source.y), count))
    return Population(source.y, sigmoid(z), tuple(f"twin {k}" for k in range(count)), source.clusters)


@cache
def simulated(prevalence, count, common, kind, clustered=False, weighted=False):  # noqa: FBT002, PLR0917
    """Rows whose risk is known, and models that see its log-odds with noise; ``common`` is the share of it they share.

    ``kind`` says how unlike they are: "equal", "one better", "spread" (noise from .1 to 1), or "useless" (no signal).
    """
    rng = np.random.default_rng([round(1e4 * prevalence), count, round(100 * common), len(kind), clustered, weighted])
    n = SIMULATED_ROWS
    clusters = np.sort(rng.integers(0, n // 8, n)) if clustered else None
    shift = 0.7 * rng.standard_normal(n // 8)[clusters] if clustered else 0.0
    base = 1.3 * rng.standard_normal(n) + shift
    truth = base + _intercept(base, prevalence)
    y = rng.random(n) < sigmoid(truth)
    scale = {"equal": np.full(count, 0.6), "spread": np.linspace(0.1, 1.0, count), "useless": np.full(count, 0.6)}
    scale["one better"] = np.r_[0.3, np.full(count - 1, 0.6)]
    noise = np.sqrt(common) * rng.standard_normal((n, 1)) + np.sqrt(1 - common) * rng.standard_normal((n, count))
    signal = np.full(n, log_odds(prevalence)) if kind == "useless" else truth
    risks = sigmoid(signal[:, None] + scale[kind] * noise)
    weight = np.exp(0.7 * rng.standard_normal(n)) if weighted else None
    return Population(y, risks, tuple(f"m{k}" for k in range(count)), clusters, weight)


def _intercept(base, prevalence):
    """Shift of the log-odds at which their mean risk is the prevalence, by bisection."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if sigmoid(base + middle).mean() < prevalence else (low, middle)
    return middle
