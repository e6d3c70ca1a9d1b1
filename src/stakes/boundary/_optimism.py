"""How much noise an optimal boundary captures: the cube-root law.

Near the optimum the Lagrangian of a level is a two-sided random walk minus a parabola; the height of its maximum scales
with the cube root of the rows. 1.328 is four times E[T^2] times the cube root of 2, T the place of the maximum of a
two-sided Brownian motion minus t^2 (E[T^2] = 0.2636).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.boundary._knapsack import Level, relaxed, undominated
from stakes.boundary._ranker import Ranker
from stakes.boundary._rows import level_of
from stakes.core.exact import as_fraction, next_fraction

if TYPE_CHECKING:
    from fractions import Fraction

    from stakes.boundary._options import Floats, Ints, Options
    from stakes.boundary._rows import Rows
    from stakes.boundary._settings import Settings

_CONSTANT = 1.328
_MOST_ROWS = 200_000  # enough for the slopes
_WINDOW = 0.5  # of the selected rows of a level, on both sides of its threshold


@dataclass(frozen=True, repr=False)
class Optimism:
    """Noise captured by a boundary, and the precision to expect on new rows.

    Parameters
    ----------
    captured : float
        Expected number of positives among the selected rows beyond what new rows would hold.
    precision : float
        On the rows the boundary was fitted to.
    expected_precision : float
        On new rows: ``precision`` less ``captured`` divided by the selected rows.

    Examples
    --------
    >>> from stakes.boundary import Optimism
    >>> Optimism(12.0, 0.8, 0.77)
    Optimism(precision 0.8 on these rows, about 0.77 on new ones)
    """

    captured: float
    precision: float
    expected_precision: float

    def __repr__(self) -> str:
        return (
            f"Optimism(precision {self.precision:.4g} on these rows, about {self.expected_precision:.4g} on new ones)"
        )


def estimate_optimism(
    rows: Rows, settings: Settings, cuts: Floats, selected: Ints, *, precision: float, tuned: float | None
) -> Optimism:
    """Sum the captured noise over the levels; one level's worth is lost to the constraint itself."""
    bound = settings.problem.min_precision
    if bound is None or settings.solver != "exact" or not settings.problem.bounds_precision_alone:
        raise ValueError('optimism needs solver="exact" and goal="recall" under min_precision= alone.')
    if rows.weight is not None:
        raise ValueError("optimism needs rows without weights: repeated rows are not independent.")
    chosen = int(selected.sum())
    if not chosen or rows.y.all() or not rows.y.any():
        return Optimism(0.0, precision, precision)
    rate = marginal_rate(
        settings.prepare(rows).options, bound if tuned is None else as_fraction(tuned, "tuned_precision")
    )
    terms = _noise_by_level(rows, cuts, selected, (rate * (1.0 - rate)) ** 2)
    levels = len(terms)
    captured = _CONSTANT * float(np.sum(terms)) * (levels - 1) / levels
    return Optimism(captured, precision, precision - captured / chosen)


def _noise_by_level(rows: Rows, cuts: Floats, selected: Ints, spread: float) -> list[float]:
    """Cube-root term of each level that selects anything."""
    size = np.bincount(level_of(cuts, rows.uncertainty), minlength=len(cuts) + 1)
    some = rows.take(np.arange(0, len(rows), max(1, len(rows) // _MOST_ROWS)))
    ranked = Ranker.fit(some.y, some.score, some.uncertainty).rank(some.score, some.uncertainty)
    level = level_of(cuts, some.uncertainty)
    terms = []
    for k in np.flatnonzero(selected):
        inside = np.flatnonzero(level == k)
        by_score = ranked[inside[np.argsort(-some.score[inside], kind="stable")]]
        slope = _slope(by_score, selected[k] / size[k])
        terms.append((spread * size[k] / slope) ** (1.0 / 3.0) if slope > 0.0 else 0.0)
    return terms


def marginal_rate(options: Options, precision: Fraction) -> float:
    """Rate of positives at the thresholds: where a row's worth to the Lagrangian is zero."""
    bound = next_fraction(precision, max(options.total, 1))
    slack = options.slack(bound)
    levels, capacity = [], 0
    for rows in options.slices():
        kept = undominated(options.positives[rows], slack[rows])
        value, rest = options.positives[rows][kept], slack[rows][kept]
        levels.append(Level(kept, value, rest[0] - rest))
        capacity += int(rest[0])
    if sum(int(level.cost[-1]) for level in levels) <= capacity:
        return options.total_positives / max(options.total, 1)
    _, rise, cost = relaxed(levels, capacity)
    mu = bound.denominator * rise / cost
    return float(mu * bound / (1.0 + mu))


def _slope(rates: np.ndarray, share: float) -> float:
    """Fall of the fitted rate per unit of rank around a share of the rows, by least squares."""
    n = len(rates)
    if n < 3:
        return 0.0
    half = max(_WINDOW * share, 2.0 / n)
    low, high = max(0, int((share - half) * n)), min(n, int((share + half) * n) + 2)
    x = np.arange(low, high) / n
    x = x - x.mean()
    y = rates[low:high]
    return float(-(x @ (y - y.mean())) / (x @ x))
