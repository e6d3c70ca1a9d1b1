"""How often a wrong forecast scores better than a right one, by Monte Carlo, and that penalized scores never let it.

Ahmadian et al. (arXiv:2407.17697), Figures 4 and 5, in kind. They give neither the law of the forecasts nor the numbers
of classes, so several of each are drawn here: pairs of a right forecast x and a wrong forecast q of the same class i,
both from one law. Pairs in which q gives class i no more than x does (q_i <= x_i) are counted apart from those in which
it gives more: that is how we read the two printed shares. `--output FOLDER` draws them over the number of classes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from replications._kept import markdown
from stakes.metrics import penalized_brier_loss, penalized_log_loss

CLASSES = (3, 5, 10, 20)
PRINTED = "The paper prints 99.996% and 63%, of the Brier score."
SCORES = {
    "Brier": (penalized_brier_loss, 0),
    "log": (penalized_log_loss, 0),
    "penalized Brier": (penalized_brier_loss, None),
    "penalized log": (penalized_log_loss, None),
}
CASES = ("q_i <= x_i", "q_i > x_i")


def simplex(weights):
    return weights / weights.sum(axis=1, keepdims=True)


LAWS = {
    "uniform on the simplex": lambda rng, shape: simplex(rng.standard_exponential(shape)),
    "scaled uniforms": lambda rng, shape: simplex(rng.random(shape)),
    "scaled absolute normals": lambda rng, shape: simplex(np.abs(rng.standard_normal(shape))),
    "softmax of normals": lambda rng, shape: simplex(np.exp(rng.standard_normal(shape))),
}


def pairs(law, classes, draws, seed):
    """Return forecasts x with class 0 on top and forecasts q with another on top; the laws know no order of classes."""
    rng = np.random.default_rng([2407, classes, seed])
    x, q = (LAWS[law](rng, (draws, classes)) for _ in range(2))
    rows, top = np.arange(draws), x.argmax(axis=1)
    x[rows, top], x[:, 0] = x[:, 0].copy(), x[rows, top]
    wrong = q.argmax(axis=1) != 0
    return x[wrong], q[wrong]


def shares(x, q):
    """Return the share of pairs of each case, and of each score the share of them in which the wrong q scores worse."""
    labels, truth = np.arange(x.shape[1]), np.zeros(len(x), dtype=int)
    masks = dict(zip(CASES, (q[:, 0] <= x[:, 0], q[:, 0] > x[:, 0]), strict=True))
    found = {case: {"pairs": float(mask.mean())} for case, mask in masks.items()}
    for name, (loss, penalty) in SCORES.items():
        of_x, of_q = (loss(truth, p, labels=labels, penalty=penalty, per_sample=True) for p in (x, q))
        for case, mask in masks.items():
            found[case][name] = float(np.mean((of_q > of_x)[mask]))
    return found


def draw(found, folder):
    """Draw the share of pairs in which the wrong forecast's Brier score is worse, over the number of classes."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained")
    for ax, case in zip(axes, CASES, strict=True):
        for law in LAWS:
            ax.plot(CLASSES, [found[law, c][case]["Brier"] for c in CLASSES], marker="o", label=law)
        least = [min(found[law, c][case]["penalized Brier"] for law in LAWS) for c in CLASSES]
        ax.plot(CLASSES, least, color="black", linestyle="--", label="penalized: least of the laws")
        ax.set(title=case, xlabel="classes", xticks=CLASSES, ylabel="wrong forecast scores worse, share of pairs")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(folder / "penalized_shares.png", dpi=110)
    plt.close(figure)


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications penalized_shares", description=__doc__)
    parser.add_argument("--draws", type=int, default=1_000_000, help="pairs of each law and number of classes")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to draw the shares")
    options = parser.parse_args(list(arguments))
    settings = [(law, c) for law in LAWS for c in CLASSES]
    found = {(law, c): shares(*pairs(law, c, options.draws, 0)) for law, c in settings}
    print(f"{options.draws:,} draws of two forecasts each. Share of pairs in which the wrong forecast scores worse.\n")
    heads = ["law", "classes", "pairs with q_i > x_i", *(f"Brier, {case}" for case in CASES)]
    print(markdown(heads, [[law, str(c), *by_brier(found[law, c])] for law, c in settings]))
    print("\nLeast and largest of these shares, over all laws and numbers of classes:\n")
    print(markdown(["score", *CASES], [[name, *ends(found, name)] for name in SCORES]))
    print(f"\n{PRINTED}")
    if options.output is not None:
        draw(found, options.output)


def by_brier(by_case):
    return [f"{by_case[CASES[1]]['pairs']:.3%}", *(f"{by_case[case]['Brier']:.3%}" for case in CASES)]


def ends(found, name):
    values = [[by_case[case][name] for by_case in found.values()] for case in CASES]
    return [f"{min(of_case):.3%} to {max(of_case):.3%}" for of_case in values]
