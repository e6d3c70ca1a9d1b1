"""Figures 3 and 4 of Caplin, Martin and Marx (2022), redrawn on adult income.

Networks trained with positive weights 0.5, 0.9 and 0.99: event rates against their scores, beside the theoretical curve
of each weight (Figure 3), and after the inverse map (Figure 4). The paper trains 80 networks on chest X-rays and
averages them first; here a few small ones, averaged alike. Its data and digits are not reproduced, its claim is.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from replications._classification import data_folder, read_classification
from stakes.correction import loss_calibration_curve, loss_calibration_test

SHARES = (0.5, 0.9, 0.99)


def fit(X, y, share, seed):
    """One network; without sample weights in this scikit-learn, rows are drawn with the weights."""
    weight = np.where(y == 1, share, 1.0 - share)
    weight = weight * len(y) / weight.sum()
    model = MLPClassifier((32,), alpha=1e-3, max_iter=15, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stopped after a fixed number of epochs
        if "sample_weight" in inspect.signature(model.fit).parameters:
            return model.fit(X, y, sample_weight=weight)
        drawn = np.random.default_rng(seed).choice(len(y), len(y), p=weight / len(y))
        return model.fit(X[drawn], y[drawn])


def curves(folder, networks, rows=None):
    """Return, for each weight, its curve and its test on the test split of the data."""
    X, y, excluded = read_classification(folder, "adult")
    train = excluded["split"] == "train"
    X = StandardScaler().fit(X[train]).transform(X)
    seen = np.flatnonzero(train)[:rows]
    found = {}
    for share in SHARES:
        members = [fit(X[seen], y[seen], share, seed).predict_proba(X[~train])[:, 1] for seed in range(networks)]
        scores = np.mean(members, axis=0)
        name = f"positive share {share:g}"
        found[name] = (
            loss_calibration_curve(y[~train], scores, positive_share=share, name=name),
            loss_calibration_test(y[~train], scores, positive_share=share, n_resamples=0),
        )
    return found


def draw(found, output):
    """Write both figures."""
    import matplotlib as mpl

    mpl.use("Agg")
    from stakes.display import LossCalibrationDisplay

    shown = LossCalibrationDisplay([curve for curve, _ in found.values()])
    for number, corrected in ((3, False), (4, True)):
        for scale in ("log", "logit"):
            path = output / f"figure_{number}_{scale}.png"
            shown.plot(corrected=corrected, scale=scale).figure_.savefig(path, dpi=150)
            print(f"{path} written", file=sys.stderr)


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications loss_calibration")
    parser.add_argument("--output", type=Path, default=Path(), help="folder for the figures (default: this one)")
    parser.add_argument("--networks", type=int, default=5)
    options = parser.parse_args(arguments)
    if not options.output.is_dir():
        parser.error(f"--output must name a folder that exists, got {str(options.output)!r}")
    found = curves(data_folder(), options.networks)
    print(
        "| trained with | log loss before | after | Brier before | after | MCB before | after | implied share | slope |"
    )
    print(f"| {' | '.join(['---'] * 9)} |")
    for name, (_, test) in found.items():
        numbers = [
            getattr(part, key) for key in ("log_loss", "brier", "miscalibration") for part in (test.before, test.after)
        ]
        implied = test.implied
        span = f"{implied.positive_share:.4f} ({implied.ci_low:.4f} to {implied.ci_high:.4f})"
        print(f"| {name} | {' | '.join(f'{v:.4f}' for v in numbers)} | {span} | {implied.slope:.2f} |")
    draw(found, options.output)


if __name__ == "__main__":
    main(sys.argv[1:])
