"""Draw the picture at the top of README: `python docs/front.py`, which writes front.png and front.gif.

What decisions cost over the threshold, per 1,000 applicants: by the model of the highest AUC, by the plain one, and by
the first after its class weights were undone. The animation drags the range over which the cost is averaged.
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

HERE = Path(__file__).parent
RANGE = (0.10, 0.25)
SHOWN = (0.05, 0.32)
PER = 1000
INK, GREY = "#222222", "#8a8a8a"
LINES = {"forest": "#d55e00", "logistic": "#0072b2", "forest, class weights undone": "#009e73"}
HEIGHTS = (148, 127, 105)  # of their names, which would overlap beside the ends of the lines
DRAGGED = [(low, low + 0.07) for low in np.linspace(0.05, 0.25, 11)]  # and back


def scores():
    """Return the outcomes and the scores by the name of their line."""
    data = pd.read_csv(files("stakes") / "data" / "german_credit.csv")
    corrected = undo_class_weight(data["forest"], class_weight={0: 3, 1: 7})
    return data["bad"], dict(zip(LINES, (data["forest"], data["logistic"], corrected), strict=True))


def draw(ax, between=RANGE):
    """Draw the curves, with the name, AUC and cost over the range of each to the right of its end."""
    bad, models = scores()
    thresholds = np.linspace(*SHOWN, 1000)
    ax.axvspan(*between, color="#ececec", zorder=0)
    worth = " to ".join(f"{1 / end - 1:.0f}" for end in between)
    says = f"one bad loan is as bad as\n{worth} good ones lost"
    ax.text(between[0] + 0.003, 4, says, color=INK, fontsize=9.5, va="bottom")
    ax.plot(thresholds, PER * (1 - bad.mean()) * thresholds, color=GREY, linewidth=1.2)
    ax.text(0.147, 111, "refuse everyone", color=GREY, ha="right", fontsize=10)
    for (name, score), height in zip(models.items(), HEIGHTS, strict=True):
        ax.plot(thresholds, PER * np.asarray(regret_curve(bad, score).at(thresholds)), color=LINES[name], linewidth=2.2)
        cost = PER * expected_regret(bad, score, costs=between)
        label = f"{name}\nAUC {roc_auc_score(bad, score):.3f}, costs {cost:.1f}"
        ax.text(SHOWN[1] + 0.006, height, label, color=LINES[name], va="center", fontsize=10.5)


def finish(ax, title):
    """Name the axes, and say above them what the curves show."""
    ax.set(xlim=SHOWN, ylim=(0, 165), xlabel="risk from which an applicant is refused")
    ax.set_ylabel(f"cost per {PER:,} applicants")
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(title, loc="left", fontsize=13, color=INK, fontweight="bold", pad=12)


def drag(figure, ax):
    """Return the animation in which the range moves to the right and back."""
    from matplotlib.animation import FuncAnimation

    def frame(between):
        ax.clear()
        draw(ax, between)
        finish(ax, "Which model costs least depends on where you decide.\nDrag the range.")

    return FuncAnimation(figure, frame, frames=[*DRAGGED, *DRAGGED[-2:0:-1]])


def main():
    """Write both pictures."""
    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(9.6, 4.6), layout="constrained")
    draw(ax)
    finish(ax, "The forest has the highest AUC and costs most.\nUndo its class weights, and it costs least.")
    figure.savefig(HERE / "front.png", dpi=140)
    figure, ax = plt.subplots(figsize=(9.6, 4.6))
    figure.subplots_adjust(left=0.07, right=0.74, top=0.85, bottom=0.12)
    drag(figure, ax).save(HERE / "front.gif", writer="pillow", fps=5, dpi=70)


if __name__ == "__main__":
    main()
