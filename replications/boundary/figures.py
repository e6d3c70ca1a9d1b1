"""The figures, drawn into a folder: positivity by score and evidence, and the sweeps."""

from __future__ import annotations

import numpy as np
from scipy import stats

from replications.boundary.designs import DESIGNS
from replications.boundary.positivity import SCORES, SLICES, curve, slices
from replications.boundary.sweeps import columns
from stakes.display._axes import LINE_STYLES, MARKERS, PALETTE, REFERENCE_COLOUR
from stakes.uncertainty import estimation_bias

LABELS = {
    "bins": "score bins in each of 3 levels",
    "levels": "levels of uncertainty, 500 bins each",
    "undersampling": "one negative in so many trained on",
}


def figure(columns_, width=4.6, height=4.2):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    return plt.subplots(1, columns_, figsize=(width * columns_, height), layout="constrained")


def save(fig, folder, name):
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    fig.savefig(path, dpi=130)
    plt.close(fig)
    return path


def interval(rate, rows):
    """Wilson's interval at 95%, as distances from the rate."""
    z2 = 1.96**2
    centre = (rate + z2 / (2 * rows)) / (1 + z2 / rows)
    half = 1.96 * np.sqrt(rate * (1 - rate) / rows + z2 / (4 * rows**2)) / (1 + z2 / rows)
    return np.maximum([rate - (centre - half), centre + half - rate], 0.0)


def draw_theory(design, name, folder, seed=0):
    """Positivity by score in regions of one size, and the bias of a score by the size; lines are the closed form."""
    fig, (left, right) = figure(2)
    grid = np.linspace(0.001, 0.999, 400)
    for k, (n, score, rows, observed, _) in enumerate(slices(design, seed)):
        left.plot(grid, curve(design, grid, n), color=PALETTE[k], lw=1.3, zorder=2)
        some = np.flatnonzero(rows >= 30)
        few = some[np.unique(np.linspace(0, len(some) - 1, 15).astype(int))]
        bars = interval(observed[few], rows[few])
        style = {"color": PALETTE[k], "marker": MARKERS[k], "ms": 4.5, "lw": 0, "elinewidth": 0.9}
        left.errorbar(score[few], observed[few], bars, label=f"{n} examples", zorder=3, **style)
    left.plot([0, 1], [0, 1], color=REFERENCE_COLOUR, lw=0.8, ls=":", zorder=1)
    left.set(xlabel="score", ylabel="rate of positives", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    left.legend(
        frameon=False, title=f"points: design {name}, simulated\nlines: closed form", alignment="left", loc="upper left"
    )
    draw_bias(design, right, seed)
    return save(fig, folder, f"positivity_{name}")


def draw_bias(design, ax, seed):
    sizes = np.unique(np.round(np.geomspace(max(design.fewest, 2), design.most, 40)))
    chosen = sorted({int(n) for n in (*SLICES, *sizes[::5])})
    found = {n: (score, rows, observed) for n, score, rows, observed, _ in slices(design, seed + 1, chosen)}
    priors = {"true_prior": design.true_prior, "model_prior": design.model_prior}
    b1, b = design.model_prior[0], sum(design.model_prior)
    for k, at in enumerate(SCORES):
        fits = sizes[(at * (b + sizes) - b1 >= 0) & (at * (b + sizes) - b1 <= sizes)]
        bias = estimation_bias(at, fits, undersampling=design.undersampling, **priors)
        ax.plot(fits, bias, color=PALETTE[k], lw=1.3)
        points = [(n, *nearest(at, *found[n])) for n in chosen if fits.size and n >= fits.min()]
        points = np.array(
            [(n, s - o, r, o) for n, s, r, o in points if abs(s - at) <= 0.5 / (b + n) + 1e-9 and r >= 100]
        )
        if len(points):
            # the score nearest to the one asked for: its bias is moved along the closed form
            scores = points[:, 1] + points[:, 3]
            there = estimation_bias(scores, points[:, 0], undersampling=design.undersampling, **priors)
            here = estimation_bias(at, points[:, 0], undersampling=design.undersampling, **priors)
            shifted = points[:, 1] + here - there
            bars = interval(points[:, 3], points[:, 2])[::-1]
            ax.errorbar(points[:, 0], shifted, bars, color=PALETTE[k], marker=MARKERS[k], ms=4.5, lw=0, elinewidth=0.9)
        ax.plot([], [], color=PALETTE[k], marker=MARKERS[k], ms=4.5, label=f"score {at:g}")
    ax.axhline(0.0, color=REFERENCE_COLOUR, lw=0.8, ls=":")
    ax.set(xscale="log", xlabel="examples behind the score", ylabel="score less rate of positives")
    ax.legend(frameon=False)


def nearest(at, score, rows, observed):
    k = int(np.argmin(np.abs(score - at)))
    return score[k], rows[k], observed[k]


def draw_cells(found, title, name, folder):
    """Observed rates by score and level of evidence, on real data; lines are the theorem with a fitted prior."""
    rows, score, observed, expected = found
    fig, ax = figure(1, width=5.2)
    words = ("most evidence", *[""] * (len(rows) - 2), "least evidence")
    for k in range(len(rows)):
        keep, some = rows[k] >= 30, rows[k] > 0
        bars = interval(observed[k][keep], rows[k][keep])
        label = words[k] or "between"
        style = {"color": PALETTE[k], "marker": MARKERS[k], "ms": 4.5, "lw": 0, "elinewidth": 0.9, "label": label}
        ax.errorbar(score[k][keep], observed[k][keep], bars, **style)
        ax.plot(score[k][some], expected[k][some], color=PALETTE[k], lw=1.3, ls=LINE_STYLES[k])
    ax.plot([0, 1], [0, 1], color=REFERENCE_COLOUR, lw=0.8, ls=":")
    ax.set(xlabel="score", ylabel="rate of positives", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(frameon=False, title=title, alignment="left", loc="upper left")
    return save(fig, folder, name)


def draw_sweeps(records, name, folder):
    """Gain in recall over one threshold: mean over the seeds and 95% intervals of the mean of paired gains."""
    fig, axes = figure(3, width=4.2, height=3.9)
    for ax, sweep in zip(axes, LABELS, strict=True):
        for k, (method, cells) in enumerate(columns(records, name, sweep).items()):
            values = np.array(list(cells), float)
            gaps = [np.subtract(*cell) for cell in cells.values()]
            mean = np.array([gap.mean() for gap in gaps])
            half = np.array([stats.t.ppf(0.975, len(gap) - 1) * stats.sem(gap) for gap in gaps])
            style = {"color": PALETTE[k], "marker": MARKERS[k], "ms": 4, "lw": 1.2, "ls": LINE_STYLES[k], "capsize": 2}
            ax.errorbar(values * (1 + 0.04 * (k - 1.5)), mean, half, elinewidth=0.8, label=method, **style)
        ax.axhline(0.0, color=REFERENCE_COLOUR, lw=0.8, ls=":")
        ax.set(xscale="log", xlabel=LABELS[sweep])
        ax.set_xticks(list(cells), [f"{value:g}" for value in cells], minor=False)
        ax.minorticks_off()
    axes[0].set_ylabel("gain in recall over one threshold")
    handles, labels = axes[0].get_legend_handles_labels()
    what = f"design {name}" if name in DESIGNS else name
    title = f"{what}: recall at precision 0.8 (bars: 95% intervals of the mean)"
    fig.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, title=title)
    return save(fig, folder, f"sweeps_{name.replace(', ', '_').replace(' ', '_')}")
