"""Which rows a boundary decides otherwise than the one threshold on the score, and how their features differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes.base.arrays import Bools, Floats
from stakes.base.validation import to_array, to_floats
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import Tabular

_GROUPS = ("added", "dropped", "unchanged")


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryExplanation(Tabular):
    """Rows that change sides between a boundary and the best single threshold, and how their features differ.

    Made by :meth:`Boundary.explain`. A standardised difference is a difference of means over the root of the mean of
    both variances. It describes these rows: it has no interval, and does not say why.

    Parameters
    ----------
    features : tuple of str
        Names of the features.
    added, dropped : ndarray of bool
        Rows that the boundary selects and the threshold does not; rows that the threshold selects and the boundary does
        not.
    means, variances : ndarray of shape (3, n_features)
        Of each feature among the added, the dropped and all other rows; nan where there are none.

    Examples
    --------
    >>> from stakes.boundary import fit_boundary
    >>> y, score, noise = [1, 0, 1, 0] * 5, [0.9, 0.4, 0.6, 0.5] * 5, [0, 0, 1, 1] * 5
    >>> boundary = fit_boundary(y, score, noise, min_precision=1, levels=2)
    >>> boundary.explain({"age": [50, 40, 60, 30] * 5})
    BoundaryExplanation(0 of 20 rows added, 0 dropped)
    """

    features: tuple[str, ...]
    added: Bools
    dropped: Bools
    means: Floats
    variances: Floats

    def difference(self, group: str = "added", other: str = "dropped") -> Floats:
        """Standardised difference of each feature between two groups of rows.

        Parameters
        ----------
        group, other : {"added", "dropped", "unchanged"}, default "added" and "dropped"
            The groups: the mean of the first less that of the second.

        Returns
        -------
        ndarray of shape (n_features,)
            nan where a group has no rows; 0 where both have one and the same value, infinite for one value each.

        Raises
        ------
        ValueError
            For another group.

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> boundary.explain({"age": [50, 40, 60, 30]}).difference("added", "unchanged").tolist()
        [nan]
        """
        for name, value in (("group", group), ("other", other)):
            if value not in _GROUPS:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, _GROUPS))}, got {value!r}.")
        i, j = _GROUPS.index(group), _GROUPS.index(other)
        gap, spread = self.means[i] - self.means[j], np.sqrt(0.5 * (self.variances[i] + self.variances[j]))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((gap == 0.0) & (spread == 0.0), 0.0, gap / spread)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the standardised differences of added and dropped rows from all others, the largest first.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to :meth:`stakes.display.BoundaryExplanationDisplay.plot`.

        Returns
        -------
        BoundaryExplanationDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> boundary.explain({"age": [50, 40, 60, 30]}).plot().ax_.get_xlabel()
        'Standardised difference from rows that do not change sides'
        """
        return draw(self, ax, **options)

    def _records(self) -> list[dict[str, Any]]:
        columns = {
            "feature": list(self.features),
            **{f"mean_{name}": self.means[k].tolist() for k, name in enumerate(_GROUPS)},
            "added_less_dropped": self.difference().tolist(),
            "added_less_unchanged": self.difference("added", "unchanged").tolist(),
            "dropped_less_unchanged": self.difference("dropped", "unchanged").tolist(),
        }
        return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]

    def __repr__(self) -> str:
        added, dropped = int(self.added.sum()), int(self.dropped.sum())
        found = f"{added} of {len(self.added)} rows added, {dropped} dropped"
        apart = self.difference()
        if added and dropped and np.isfinite(apart).any():
            most = int(np.nanargmax(np.where(np.isfinite(apart), np.abs(apart), np.nan)))
            found += f", most apart in {self.features[most]!r}: {apart[most]:+.2f} standard deviations"
        return f"BoundaryExplanation({found})"


def explain(X: Any, decided: Bools, single: Bools, weight: Floats | None) -> BoundaryExplanation:
    """Compare the features of rows by how the boundary and the single threshold decide them."""
    names, values = read_features(X, len(decided))
    added, dropped = decided & ~single, single & ~decided
    weight = np.ones(len(decided)) if weight is None else weight
    found = [_moments(values[mine], weight[mine]) for mine in (added, dropped, ~(added | dropped))]
    return BoundaryExplanation(
        tuple(names), added, dropped, np.array([mean for mean, _ in found]), np.array([spread for _, spread in found])
    )


def _moments(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    if not len(values):
        nothing = np.full(values.shape[1], np.nan)
        return nothing, nothing
    mean = np.average(values, axis=0, weights=weight)
    alike = (values == values[0]).all(axis=0)
    return np.where(alike, values[0], mean), np.where(
        alike, 0.0, np.average((values - mean) ** 2, axis=0, weights=weight)
    )


def read_features(X: Any, rows: int) -> tuple[list[str], Floats]:
    """Read the named columns of a frame or a mapping, or the columns of an array, as finite numbers."""
    named = list(X) if isinstance(X, Mapping) else getattr(X, "column_names", getattr(X, "columns", None))
    if named is None:
        array = to_array(X, "X")
        if array.ndim != 2:
            raise ValueError(f"X must have rows and columns, got shape {array.shape}.")
        columns = {f"feature {k}": array[:, k] for k in range(array.shape[1])}
    else:
        columns = {str(name): to_array(X[name], f"column {name!r} of X") for name in named}
    if not columns:
        raise ValueError("X must have one or more columns, got none.")
    for name, column in columns.items():
        if column.shape != (rows,):
            raise ValueError(f"X must have {rows} rows, as the boundary decides, got shape {column.shape} in {name!r}.")
        columns[name] = numbers = to_floats(column, f"column {name!r} of X")
        bad = ~np.isfinite(numbers)
        if bad.any():
            first = int(np.argmax(bad))
            raise ValueError(
                f"X must hold finite numbers, got {numbers[first]} at index {first} of {name!r} ({int(bad.sum())} of "
                f"{rows}): fill in what is missing first."
            )
    return list(columns), np.column_stack(list(columns.values()))
