"""Real models trained with class weights or undersampling: before correction, after it, and after isotonic regression.

Logistic regression, XGBoost (200 trees, and stopped after 20), LightGBM, a random forest and a small network, on credit
default, bank marketing and adult income. Half of the rows train, a fifth calibrates the isotonic regression, the rest
judges. The correction knows only the weight; the isotonic regression sees labels.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from replications._classification import TARGETS, data_folder, read_classification
from stakes import ScoreTable
from stakes.correction import loss_calibration_test, undo_class_weight
from stakes.metrics import roc_auc_score

SHARES = {"unweighted": 0.5, "weight 0.9": 0.9, "weight 0.99": 0.99, "1 in 10 negatives": 10 / 11}
SAMPLED = "1 in 10 negatives"
KEPT = 0.1
HEADER = (
    *("data", "model", "trained", "AUC", "log loss before", "after", "isotonic", "unweighted"),
    *("Brier before", "after", "isotonic", "unweighted", "MCB before", "after", "isotonic", "unweighted"),
    *("implied share", "slope", "LR p after"),
)


def logistic(X, y, ratio):
    return LogisticRegression(max_iter=2000, class_weight={0: 1.0, 1: ratio}).fit(X, y)


def boosted(trees):
    def fit(X, y, ratio):
        from xgboost import XGBClassifier

        model = XGBClassifier(
            n_estimators=trees, max_depth=4, learning_rate=0.1, scale_pos_weight=ratio, n_jobs=1, random_state=0
        )
        return model.fit(X, y)

    return fit


def light(X, y, ratio):
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(
        n_estimators=200, learning_rate=0.05, scale_pos_weight=ratio, n_jobs=1, random_state=0, verbose=-1
    )
    return model.fit(X, y)


def forest(X, y, ratio):
    model = RandomForestClassifier(200, min_samples_leaf=5, class_weight={0: 1.0, 1: ratio}, random_state=0)
    return model.fit(X, y)


def network(X, y, ratio):
    weight = np.where(y == 1, ratio, 1.0)
    model = MLPClassifier((32,), alpha=1e-3, max_iter=25, random_state=0)
    return model.fit(X, y, sample_weight=weight * len(y) / weight.sum())


MODELS = {
    "logistic regression": logistic,
    "XGBoost, 200 trees": boosted(200),
    "XGBoost, 20 trees": boosted(20),
    "LightGBM, 200 trees": light,
    "random forest": forest,
    "network": network,
}


def scores_of(model, X):
    return model.predict_proba(X)[:, 1].astype(float)


def measures(y, prob):
    """Log loss, Brier score and its miscalibration."""
    found = loss_calibration_test(y, prob, n_resamples=0)
    return found.after.log_loss, found.after.brier, found.after.miscalibration


def study(folder, name, models):
    """Yield the rows of one data set."""
    X, y, _ = read_classification(folder, name)
    rest, train = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=2)
    test, validation = train_test_split(rest, test_size=0.4, stratify=y[rest], random_state=3)
    X = StandardScaler().fit(X[train]).transform(X)
    rng = np.random.default_rng(4)
    for kind in models:
        plain = None
        for trained, share in SHARES.items():
            started = time.perf_counter()
            rows, ratio = train, share / (1.0 - share)
            if trained == SAMPLED:
                rows, ratio = train[(y[train] == 1) | (rng.random(len(train)) < KEPT)], 1.0
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # networks are stopped after a fixed number of epochs
                model = MODELS[kind](X[rows], y[rows], ratio)
                raw, held = scores_of(model, X[test]), scores_of(model, X[validation])
            after = undo_class_weight(raw, positive_share=share)
            isotonic = IsotonicRegression(out_of_bounds="clip").fit(held, y[validation]).predict(raw)
            table = [measures(y[test], p) for p in (raw, after, isotonic)]
            plain = table[0] if plain is None else plain
            test_of = loss_calibration_test(y[test], raw, positive_share=share, n_resamples=0)
            print(f"{name}, {kind}, {trained}: {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
            auc = roc_auc_score(ScoreTable.from_predictions(y[test], raw))
            numbers = [f"{v:.4f}" for column in zip(*table, plain, strict=True) for v in column]
            implied = test_of.implied
            yield [
                *(name, kind, trained, f"{auc:.4f}", *numbers),
                *(f"{implied.positive_share:.4f}", f"{implied.slope:.2f}", f"{test_of.p_value:.2g}"),
            ]


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications correction_models")
    parser.add_argument("--data", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    options = parser.parse_args(arguments)
    folder = data_folder()
    for line in (HEADER, ["---"] * len(HEADER)):
        print(f"| {' | '.join(line)} |")
    for name in options.data:
        for line in study(folder, name, options.models):
            print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
