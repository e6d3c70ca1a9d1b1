"""Points of the steps that rates and values make over the threshold, from the counts of a threshold table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.curves import ThresholdTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RATES = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ppv": "PPV",
    "npv": "NPV",
    "share_flagged": "share flagged",
}
VALUES = {"net_benefit": "net benefit", "regret": "regret"}

_MOST_POINTS = 2000
_ALMOST_ONE = 1.0 - 1e-9  # net benefit has no value at a threshold of 1
_COUNTS = ("tp", "fp", "fn", "tn")


def is_probability(threshold: Floats) -> bool:
    """Whether all thresholds lie in [0, 1]."""
    return bool(np.all((threshold >= 0.0) & (threshold <= 1.0)))


def thinned(table: ThresholdTable) -> ThresholdTable:
    """About 2,000 thresholds, evenly by rank and by value, ascending."""
    order = np.argsort(table.threshold, kind="stable")
    at = table.threshold[order]
    if len(at) > _MOST_POINTS:
        by_rank = np.linspace(0, len(at) - 1, _MOST_POINTS // 2)
        by_value = np.searchsorted(at, np.linspace(at[0], at[-1], _MOST_POINTS // 2))
        order = order[np.unique(np.concatenate([by_rank, by_value]).astype(np.intp))]
    return ThresholdTable(*(getattr(table, name)[order] for name in ("threshold", *_COUNTS, "cost_ratio")))


def to_the_ends(table: ThresholdTable, *, upwards: bool) -> ThresholdTable:
    """The same up to the ends of [0, 1]: below the lowest score everyone is flagged, above the highest no one is."""
    low, high = float(table.threshold[0]), float(table.threshold[-1])
    own = bool(np.array_equal(table.cost_ratio, table.threshold))
    below = int(low > 0.0 and table.fn[0] == 0.0 and table.tn[0] == 0.0)
    above = int(upwards and high < _ALMOST_ONE)
    rows = np.concatenate([[0] * below, np.arange(len(table.threshold)), [-1] * above]).astype(np.intp)
    threshold, cost, tp, fp, fn, tn = (getattr(table, name)[rows] for name in ("threshold", "cost_ratio", *_COUNTS))
    if below:
        threshold[0] = 0.0
    if above:
        threshold[-1] = _ALMOST_ONE
        fn[-1], tn[-1] = fn[-1] + tp[-1], tn[-1] + fp[-1]
        tp[-1] = fp[-1] = 0.0
    return ThresholdTable(threshold, tp, fp, fn, tn, threshold if own else cost)


def ends(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each point of a line of steps, the row whose rates hold there and the row whose threshold it stands at."""
    doubled = np.repeat(np.arange(count), 2)
    return doubled[1:], doubled[:-1]


def value_points(table: ThresholdTable, value: str) -> tuple[Floats, Floats]:
    """Both ends of each piece: its counts are those of the higher threshold, its costs those along it."""
    piece, place = ends(len(table.threshold))
    tp, fp, fn, tn = (getattr(table, name)[piece] for name in _COUNTS)
    drawn = ThresholdTable(table.threshold[place], tp, fp, fn, tn, table.cost_ratio[place])
    return drawn.threshold, np.asarray(getattr(drawn, value))
