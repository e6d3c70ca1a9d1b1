"""Regret and net benefit of four published risk models over the threshold, from the paper's own predictions.

Flores et al. (arXiv:2504.04528), for its Figures 2 and 3, in kind: the four models of its Table 2,
over thresholds from 0.5% to 10%, per 1,000 women, beside acting on all and on nobody; `--output FOLDER` draws both.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from replications._kept import markdown
from replications.published import BOUNDS, MODELS, read
from stakes import net_benefit_curve, regret_curve

THRESHOLDS = (0.005, 0.01, *BOUNDS, 0.05, 0.1)
PER = 1000


def curves(make):
    """Return the curve of each model."""
    data = read("bcsc_predictions/bcsc_predictions")
    cancer = data["cancer"].to_numpy()
    return {name: make(cancer, data[name].to_numpy(), name=name) for name in MODELS}


def rows(make):
    """Return a line for each model and each constant decision: its height at each threshold, per 1,000 women."""
    found = curves(make)
    every = found | next(iter(found.values())).references
    return [[name, *(f"{PER * float(curve.at(t)):.3f}" for t in THRESHOLDS)] for name, curve in every.items()]


def draw(folder):
    """Draw both curves with the range of Table 2 shaded."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    from stakes.display import DecisionCurveDisplay, RegretCurveDisplay

    folder.mkdir(parents=True, exist_ok=True)
    for name, make, display in (
        ("risk_curves_regret", regret_curve, RegretCurveDisplay),
        ("risk_curves_net_benefit", net_benefit_curve, DecisionCurveDisplay),
    ):
        figure, ax = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
        display(list(curves(make).values())).plot(ax, bounds=BOUNDS, x_scale="log-odds")
        figure.savefig(folder / f"{name}.png", dpi=110)
        plt.close(figure)


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m replications risk_curves", description=__doc__)
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to draw the curves")
    options = parser.parse_args(list(arguments))
    for title, make in (("Regret", regret_curve), ("Net benefit", net_benefit_curve)):
        print(
            f"\n{title} per 1,000 women at each threshold; Table 2 averages from {BOUNDS[0]:.2%} to {BOUNDS[1]:.2%}\n"
        )
        print(markdown(["decision", *(f"{t:.2%}" for t in THRESHOLDS)], rows(make)))
    if options.output is not None:
        draw(options.output)
