"""Is a loss proper? Every truth against every report on a lattice of probabilities, by the definition."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.validation import check_number, check_whole, to_array, to_floats
from stakes.costs import as_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_GRIDS = (24, 12)  # for two classes, and for more: both hold many exact ties
_ROUNDING = 1e-14  # a report that costs more by less than this may cost the same


@dataclass(frozen=True)
class Propriety:
    """Whether honest probabilities are the best report, and the truth and report that come closest to denying it.

    Parameters
    ----------
    proper : bool
        Whether no report has a lower expected loss than the truth.
    strict : bool
        Whether, within the range asked for, every other report has a higher one.
    excess : float
        Least expected loss of a report beyond that of the truth; below zero where the report gains.
    truth, report : tuple of float
        The probabilities of the classes for which this is so.

    Examples
    --------
    >>> from stakes.metrics import check_proper
    >>> check_proper(lambda p, k: abs(1 - p[k])).proper
    False
    """

    proper: bool
    strict: bool
    excess: float
    truth: tuple[float, ...]
    report: tuple[float, ...]


def check_proper(
    loss: Callable[[tuple[float, ...], int], float],
    n_classes: int = 2,
    *,
    low: float = 0.0,
    high: float = 1.0,
    grid: int | None = None,
    points: Iterable[float] = (),
    atol: float = 1e-12,
) -> Propriety:
    """Say whether a loss is proper, by comparing every truth with every report on a lattice.

    Parameters
    ----------
    loss : callable
        ``loss(p, k)``, what reporting the probabilities ``p`` costs where class ``k`` comes true; lower is better, and
        ``inf`` is allowed. A score is passed with its sign reversed.
    n_classes : int, default 2
        Number of classes.
    low, high : float, default 0 and 1
        Range of probabilities within which the loss is to be strictly proper.
    grid : int, optional
        The lattice holds all probabilities that are multiples of ``1 / grid``: by default 24 for two classes, else 12.
    points : iterable of float, optional
        For two classes: further probabilities of the second class, such as thresholds, which are tried with their two
        neighbouring numbers, as ``low``, ``high`` and 1/2 are.
    atol : float, default 1e-12
        How much less than the truth a report may cost and the loss still count as proper.

    Returns
    -------
    Propriety

    Raises
    ------
    ValueError
        For fewer than two classes, a range out of order or without a point of the lattice, or a grid that is no whole
        number.

    Notes
    -----
    Proper: E_q loss(p) >= E_q loss(q) for every truth q and report p (Gneiting and Raftery 2007,
    doi:10.1198/016214506000001437). For two classes a violation between any two reports implies one between neighbours,
    so the lattice misses only what lies between its points.

    Examples
    --------
    >>> from stakes.metrics import check_proper
    >>> check_proper(lambda p, k: (1 - p[k]) ** 2).strict
    True
    """
    low, high = as_bounds((low, high), "low, high")
    if not callable(loss):
        raise TypeError(f"loss must be a function of the probabilities and the class, got {loss!r}.")
    atol, points = check_number(atol, "atol"), to_floats(to_array(points, "points"), "points").ravel()
    lattice = _lattice(n_classes, grid)
    if n_classes == 2:
        lattice = np.unique(np.concatenate([lattice, _pairs([low, high])]), axis=0)
    inside = np.all((lattice >= low) & (lattice <= high), axis=1) if n_classes > 2 else _between(lattice, low, high)
    if not inside.any():
        raise ValueError(f"low, high must leave a point of the lattice of {n_classes} classes, got {low}, {high}.")
    everywhere = lattice
    if n_classes == 2:
        ends = np.array([low, high, 0.5, *points], dtype=np.float64)
        near = np.clip(np.concatenate([ends, np.nextafter(ends, 0.0), np.nextafter(ends, 1.0)]), 0.0, 1.0)
        everywhere = np.concatenate([lattice, _pairs(near)])
    excess = _excess(everywhere, loss)
    ours = np.flatnonzero(inside)
    within = excess[np.ix_(ours, ours)]
    proper, strict = bool(excess.min() >= -atol), bool(within.min() > _ROUNDING)
    truth, report = np.unravel_index(int(np.argmin(excess)), excess.shape)
    if proper:
        truth, report = (ours[i] for i in np.unravel_index(int(np.argmin(within)), within.shape))
    pair = (tuple(everywhere[i].tolist()) for i in (truth, report))
    return Propriety(proper, proper and strict, float(excess[truth, report]), *pair)


def _lattice(n_classes: Any, grid: Any) -> Floats:
    """All probability vectors whose entries are multiples of 1 / grid."""
    n_classes = check_whole(n_classes, "n_classes", 2)
    grid = _GRIDS[n_classes > 2] if grid is None else check_whole(grid, "grid", 1)
    bars = list(combinations(range(grid + n_classes - 1), n_classes - 1))
    edges = np.column_stack([np.full(len(bars), -1), np.array(bars), np.full(len(bars), grid + n_classes - 1)])
    return (np.diff(edges, axis=1) - 1) / grid


def _pairs(second: Floats | list[float]) -> Floats:
    """Both probabilities of two classes, from that of the second."""
    p = np.asarray(second, dtype=np.float64)
    return np.column_stack([1.0 - p, p])


def _between(lattice: Floats, low: float, high: float) -> NDArray[np.bool_]:
    return np.asarray((lattice[:, 1] >= low) & (lattice[:, 1] <= high))


def _excess(points: Floats, loss: Callable[[tuple[float, ...], int], float]) -> Floats:
    """Expected loss of each report (column) less that of the truth (row); inf where both are the same point."""
    losses = np.array([[loss(p, k) for k in range(len(p))] for p in map(tuple, points.tolist())], dtype=np.float64)
    excess = np.zeros((len(points), len(points)))
    for k, share in enumerate(points.T):
        possible = share > 0.0  # what cannot come true costs nothing, even where it would cost infinitely much
        with np.errstate(invalid="ignore"):
            further = losses[None, :, k] - losses[possible, k][:, None]
        excess[possible] += share[possible][:, None] * np.where(np.isnan(further), np.inf, further)
    np.fill_diagonal(excess, np.inf)
    return excess
