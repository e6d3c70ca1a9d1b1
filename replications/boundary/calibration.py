"""Isotonic regression in each level of uncertainty against one for all rows: calibration errors on test rows."""

from __future__ import annotations

import numpy as np

from stakes.boundary import uncertainty_calibrate

BINS = 20
MEASURES = ("ECE", "ECE by level", "largest cumulative", "mean cumulative", "Brier")


def compare(hold_out, test, levels):
    """Errors of both calibrators: {calibrator: {measure: value}}."""
    rows = (hold_out.y, hold_out.score, hold_out.uncertainty)
    one = uncertainty_calibrate(*rows, levels=1, sample_weight=hold_out.weight)
    several = uncertainty_calibrate(*rows, levels=levels, sample_weight=hold_out.weight)
    place, level = bins_of(test.score, BINS), np.searchsorted(several.cuts, test.uncertainty, side="left")
    out = {}
    for name, fitted in (("isotonic", one), ("MIST", several)):
        prob = fitted.predict(test.score, test.uncertainty)
        out[name] = errors(test.y, prob, place, level)
    return out


def bins_of(score, bins):
    """Bins of equal weight, ties together."""
    cuts = np.unique(np.quantile(score, np.arange(1, bins) / bins))
    return np.searchsorted(cuts, score, side="left")


def errors(y, prob, place, level):
    """Expected calibration error by bin, and by bin and level; cumulative error over bins, largest and mean; Brier."""
    gap = y - prob
    by_bin = np.bincount(place, gap) / len(y)
    by_cell = np.bincount(level * (place.max() + 1) + place, gap) / len(y)
    walk = np.abs(np.cumsum(by_bin))
    values = (np.abs(by_bin).sum(), np.abs(by_cell).sum(), walk.max(), walk.mean(), np.mean(gap**2))
    return dict(zip(MEASURES, map(float, values), strict=True))
