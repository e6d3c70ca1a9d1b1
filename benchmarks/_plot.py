"""Draw how many times as long as stakes each peer takes, from the measurements that `--json` wrote."""

import json
from itertools import groupby

ROW_HEIGHT = 0.22  # inches
COLORS = ("#0b5cad", "#c25a00", "#2a7a3b", "#8a3fa0", "#a3263a", "#5a5a5a", "#007c80")
MARKERS = "os^"  # of each round of colours


def races(folder):
    """Return (suite, row, rows, library, ratio, low, high) of every peer, at the largest size that it was measured."""
    found = []
    for path in sorted(folder.glob("*.json")):
        lines = json.loads(path.read_text(encoding="utf-8"))["lines"]
        for (row, rows), group in groupby(lines, key=lambda line: (line["row"], line["rows"])):
            ours, *others = group
            found += [(path.stem, row, rows, one["library"], *_ratios(ours, one), one["call"]) for one in others]
    largest = {(race[0], race[1], race[3], race[-1]): race[:-1] for race in sorted(found, key=lambda race: race[2])}
    return sorted((race for race in largest.values() if race[3] != "stakes"), key=lambda race: race[:4])


def _ratios(ours, one):
    return one["best"] / ours["best"], one["best"] / ours["median"], one["median"] / ours["best"]


def draw(races, path):
    """Write the picture; libraries differ in colour, the line at 1 is stakes."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys((suite, row, rows) for suite, row, rows, *_ in races))
    libraries = sorted({race[3] for race in races})
    looks = [{"color": color, "marker": marker} for marker in MARKERS for color in COLORS]
    look = dict(zip(libraries, looks, strict=False))
    figure = Figure(figsize=(11, 1.2 + ROW_HEIGHT * len(names)), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1.0, color="black", linewidth=1.0)
    for suite, row, rows, library, ratio, low, high in races:
        place = names.index((suite, row, rows))
        axes.plot([low, high], [place, place], color=look[library]["color"], linewidth=3.0, alpha=0.4)
        axes.plot(ratio, place, linestyle="", markersize=5.0, **look[library])
    axes.set(xscale="log", ylim=(len(names) - 0.4, -0.6), xlabel="processor time, in times that of stakes (1: as long)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_yticks(range(len(names)), [f"{row}, {rows:,}" for _, row, rows in names], fontsize=7)
    axes.grid(axis="x", alpha=0.3)
    for library in libraries:
        axes.plot([], [], linestyle="", label=library, **look[library])
    figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)
