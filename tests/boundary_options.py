"""The options of a boundary from a grid of counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stakes.boundary._problem import FitOptions


def options_of_grid(positives, totals):
    """Build options from counts by level and score bin, in ascending score order; skip empty bins."""
    levels, by_bins = [], []
    for p, n in zip(np.asarray(positives, np.int64), np.asarray(totals, np.int64), strict=True):
        some = np.flatnonzero(n[::-1])
        levels.append((np.cumsum(p[::-1])[some], np.cumsum(n[::-1])[some], some + 1.0))
        by_bins.append(np.cumsum(np.r_[0, n[::-1] > 0]))
    return replace(FitOptions.from_levels(levels, 0.0), by_bins=tuple(by_bins))
