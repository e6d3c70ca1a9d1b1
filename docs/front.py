"""Draw the picture at the top of README and front page: `python docs/front.py`, which writes docs/front.png.

What decisions cost over the threshold, per 1,000 applicants: by the model of the highest AUC, by the plain one, and by
the first after its class weights were undone.
"""

from importlib.resources import files
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.ticker import PercentFormatter
from sklearn.metrics import roc_auc_score

from stakes import expected_regret, regret_curve
from stakes.correction import undo_class_weight

PICTURE = Path(__file__).parent / "front.png"
RANGE = (0.10, 0.25)
SHOWN = (0.05, 0.32)
PER = 1000
INK, GREY = "#222222", "#8a8a8a"
LINES = {"forest": "#d55e00", "logistic": "#0072b2", "forest, class weights undone": "#009e73"}


def scores():
    """Return the outcomes and the scores by the name of their line."""
    data = pd.read_csv(files("stakes") / "data" / "german_credit.csv")
    corrected = undo_class_weight(data["forest"], class_weight={0: 3, 1: 7})
    return data["bad"], dict(zip(LINES, (data["forest"], data["logistic"], corrected), strict=True))


def draw(ax):
    """Draw the curves, with the name, AUC and cost over the range of each to the right of its end."""
    bad, models = scores()
    thresholds = np.linspace(*SHOWN, 1000)
    ax.axvspan(*RANGE, color="#ececec", zorder=0)
    ax.text(
        RANGE[0] + 0.003, 4, "one bad loan is as bad as\n9 to 3 good ones lost", color=INK, fontsize=9.5, va="bottom"
    )
    ax.plot(thresholds, PER * (1 - bad.mean()) * thresholds, color=GREY, linewidth=1.2)
    ax.text(0.147, 111, "refuse everyone", color=GREY, ha="right", fontsize=10)
    for (name, score), height in zip(models.items(), (148, 127, 105), strict=True):
        ax.plot(thresholds, PER * np.asarray(regret_curve(bad, score).at(thresholds)), color=LINES[name], linewidth=2.2)
        cost = PER * expected_regret(bad, score, costs=RANGE)
        label = f"{name}\nAUC {roc_auc_score(bad, score):.3f}, costs {cost:.1f}"
        ax.text(SHOWN[1] + 0.006, height, label, color=LINES[name], va="center", fontsize=10.5)


def finish(ax):
    """Name the axes, and say above them what the curves show."""
    ax.set(xlim=SHOWN, ylim=(0, 165), xlabel="risk from which an applicant is refused")
    ax.set_ylabel(f"cost per {PER:,} applicants")
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.spines[["top", "right"]].set_visible(False)
    title = "The forest has the highest AUC and costs most.\nUndo its class weights, and it costs least."
    ax.set_title(title, loc="left", fontsize=13, color=INK, fontweight="bold", pad=12)


def main():
    """Write the picture."""
    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(9.6, 4.6), layout="constrained")
    draw(ax)
    finish(ax)
    figure.savefig(PICTURE, dpi=140)


if __name__ == "__main__":
    main()
