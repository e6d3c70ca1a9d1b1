"""At which thresholds one decision is shown to cost less than another: a band around the difference of their curves.

The claim is about all thresholds asked for at once, at a level that the caller shares among many pairs of decisions.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.random_state import generator
from stakes.inference._band_counts import binned_pair
from stakes.inference._band_dependent import dependent_pieces
from stakes.inference._band_limits import combined_limits, critical_value, pointwise_value
from stakes.inference._band_pieces import difference_pieces
from stakes.inference._band_result import band_of, shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.inference._band_counts import Totals
    from stakes.inference._band_pieces import Pieces
    from stakes.inference._band_result import Band
    from stakes.inference._paired_rows import PairedRows

    Bins = NDArray[np.intp]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

_DRAWS = 10_000
_IN_TAIL = 10.0  # draws beyond a quantile, below which their noise makes it worse than Bonferroni's bound


def shown_less(
    rows: PairedRows,
    bins: tuple[Bins, Bins],
    thresholds: Floats,
    confidence_level: float,
    *,
    more: Floats | float = 0.0,
) -> tuple[Bools, Bools]:
    """Say at which thresholds the first of two decisions is shown to cost less, and at which the second.

    Parameters
    ----------
    rows : PairedRows
        Labels and weights of independent rows.
    bins : tuple of ndarray of int
        How many of the thresholds each row's score reaches, for both decisions.
    thresholds : ndarray of shape (m,)
        Ascending cost ratios in (0, 1].
    confidence_level : float
        Of all these claims at once.
    more : ndarray of shape (m,) or float, default 0
        What the first costs more at each threshold than the rows say, such as the harm of its test.

    Returns
    -------
    tuple of ndarray of bool of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.inference import PairedRows, shown_less
    >>> rows = PairedRows(np.array([True, False] * 50), [], None)
    >>> act, wait = np.full(100, 2), np.zeros(100, dtype=int)
    >>> [found.tolist() for found in shown_less(rows, (act, wait), np.array([0.1, 0.5]), 0.95)]
    [[True, False], [False, False]]
    """
    pieces, _ = _pieces(rows, bins, thresholds)
    bonferroni, least = (pointwise_value(pieces, confidence_level, count) for count in (len(thresholds), 1))
    certain = _outside(pieces, bonferroni, more)
    if np.array_equal(certain, _outside(pieces, least, more)):
        return certain  # whatever the critical value between these two
    return _outside(pieces, _critical(pieces, confidence_level), more)


def shown_band(
    rows: PairedRows,
    bins: tuple[Bins, Bins],
    thresholds: Floats,
    confidence_level: float,
    *,
    shared: float,
    name: str,
    more: Floats | float = 0.0,
) -> Band:
    """Return the band that :func:`shown_less` speaks of, and intervals at each threshold alone.

    Parameters
    ----------
    rows, bins, thresholds
        As there.
    confidence_level : float
        Of the intervals, and of the bands of all pairs at once.
    shared : float
        Of this band alone, as ``shown_less`` was given.
    name : str
        What the difference is of.
    more : ndarray of shape (m,) or float, default 0
        As there.

    Returns
    -------
    Band

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.inference import PairedRows, shown_band
    >>> rows = PairedRows(np.array([True, False] * 50), [], None)
    >>> act, wait = np.full(100, 2), np.zeros(100, dtype=int)
    >>> shown_band(rows, (act, wait), np.array([0.1, 0.5]), 0.95, shared=0.99, name="act - wait").excludes().tolist()
    [True, False]
    """
    pieces, totals = _pieces(rows, bins, thresholds)
    found = band_of(
        *(pieces, totals, _critical(pieces, shared)),
        kind="regret",
        thresholds=thresholds,
        level=confidence_level,
        name=name,
        is_difference=True,
        about="" if rows.origin is None else rows.origin.outcome.about,
    )
    return shifted(found, more)


def _pieces(rows: PairedRows, bins: tuple[Bins, Bins], thresholds: Floats) -> tuple[Pieces, Totals]:
    width = len(thresholds) + 1
    counts = binned_pair(rows.y, bins, rows.weight, width, fixed_prevalence=rows.fixed_prevalence)
    pieces = difference_pieces("regret", counts, thresholds, 1.0)
    fixed, codes = rows.fixed_prevalence, rows.clusters
    pieces = dependent_pieces(pieces, "regret", rows, bins, fixed_prevalence=fixed, codes=codes)
    return pieces, counts.totals


def _critical(pieces: Pieces, level: float) -> float:
    bonferroni = pointwise_value(pieces, level, len(pieces.estimate))
    if (1.0 - level) * _DRAWS < _IN_TAIL:
        return bonferroni
    return min(critical_value(pieces, level, _normals), bonferroni)


def _outside(pieces: Pieces, critical: float, more: Floats | float) -> tuple[Bools, Bools]:
    low, high = combined_limits(pieces, critical)
    return high + more < 0.0, low + more > 0.0


@cache
def _normals(count: int) -> NDArray[np.float32]:
    """Draws for so many thresholds, the same for every pair."""
    return generator(0).standard_normal((_DRAWS, count), dtype=np.float32)
