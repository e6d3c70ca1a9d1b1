"""The answer: which region of score and uncertainty is labelled positive, what it is worth, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes._results import Tabular
from stakes.boundary._exact import goal_value
from stakes.boundary._rows import check_covariates, level_of
from stakes.boundary._rules import LevelRule
from stakes.boundary._view import boundary_html

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from stakes.boundary._certificate import Certificate
    from stakes.boundary._gain import Gain
    from stakes.boundary._optimism import Optimism
    from stakes.boundary._options import Floats, Ints
    from stakes.boundary._problem import Problem
    from stakes.boundary._rows import Rows
    from stakes.boundary._rules import Rule
    from stakes.boundary._settings import Settings

_CELLS = 20


@dataclass(frozen=True)
class Cells:
    """Counts by uncertainty level and score interval, and the range of the uncertainty, for the picture."""

    edges: Floats
    positives: Ints
    totals: Ints
    span: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Boundary(Tabular):
    """Region of score and uncertainty that is labelled positive.

    Made by :func:`fit_boundary`. Counts are those of the rows it was fitted to, where they are optimistic; with a
    certificate they are those of the rows set aside to certify it, where they are not.

    Parameters
    ----------
    goal : str
        What was asked for, in words.
    solver : str
        How it was found.
    value : float
        Value of the goal, larger is better: recall, precision, minus false positives, F-beta, minus the cost per row.
    upper_bound : float or None
        No boundary made of the same levels and cuts has a larger value; None where the solver proves no bound.
    cuts : ndarray
        Uncertainty level k holds the values in (cuts[k - 1], cuts[k]].
    rows, positives, selected, true_positives : ndarray of int
        Counts of each level.
    threshold : float
        Best threshold on the score alone for the same goal (infinite: select nothing), for comparison.
    tuned_precision : float or None
        The precision aimed at after tuning.
    certificate : Certificate or None
        The promise about precision, if one was asked for.

    Examples
    --------
    >>> from stakes.boundary import fit_boundary
    >>> y = [1, 1, 0, 1, 0, 0, 1, 0]
    >>> score = [0.9, 0.8, 0.7, 0.6, 0.9, 0.8, 0.7, 0.6]
    >>> sure = [1, 1, 1, 1, 2, 2, 2, 2]
    >>> boundary = fit_boundary(y, score, sure, min_precision=0.75, levels=2)
    >>> boundary
    Boundary(most recall, precision >= 0.75: recall 0.75, precision 0.75, 4 of 8 rows selected, proved optimal)
    >>> boundary.predict([0.65, 0.65], [1, 2]).tolist()
    [1, 0]
    """

    goal: str
    solver: str
    value: float
    upper_bound: float | None
    cuts: Floats
    rows: Ints
    positives: Ints
    selected: Ints
    true_positives: Ints
    threshold: float
    tuned_precision: float | None
    certificate: Certificate | None
    _rule: Rule
    _problem: Problem
    _counts: Cells
    _data: Rows | None = None
    _settings: Settings | None = None

    @property
    def recall(self) -> float:
        """Share of the positives that are selected (nan without positives)."""
        total = int(self.positives.sum())
        return int(self.true_positives.sum()) / total if total else math.nan

    @property
    def precision(self) -> float:
        """Share of positives among the selected (nan where nothing is selected)."""
        chosen = int(self.selected.sum())
        return int(self.true_positives.sum()) / chosen if chosen else math.nan

    @property
    def optimal(self) -> bool:
        """Whether the value is proved to be the best of all boundaries made of these levels and cuts."""
        return self.upper_bound is not None and self.value >= self.upper_bound

    @property
    def thresholds(self) -> Floats | None:
        """Lowest selected score of each level (infinite: none); None where the region is no such threshold."""
        return self._rule.thresholds if isinstance(self._rule, LevelRule) else None

    def predict(self, score: ArrayLike, uncertainty: ArrayLike) -> NDArray[np.int64]:
        """Label rows: 1 inside the region, 0 outside.

        Parameters
        ----------
        score : array_like of shape (n,) or (n, 2)
            Scores.
        uncertainty : array_like of shape (n,)
            Uncertainties; larger is less certain.

        Returns
        -------
        ndarray of int, shape (n,)

        Raises
        ------
        ValueError
            For unequal lengths and values that are not finite.

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> boundary.predict([0.7, 0.5], [0.5, 1.0]).tolist()
        [1, 0]
        """
        clean, level = check_covariates(score, uncertainty)
        return self._rule.select(clean, level).astype(np.int64)

    def gain(self, *, confidence_level: float = 0.95, cv: int = 5, random_state: Any = None) -> Gain:
        """What uncertainty adds to a single threshold on rows that neither was fitted to.

        Parameters
        ----------
        confidence_level : float, default 0.95
            Of the interval of the difference.
        cv : int, default 5
            Number of folds.
        random_state : int, numpy Generator or None
            For the folds and the resampling.

        Returns
        -------
        Gain
            Value of the goal for both where their constraint just holds, the difference and its paired interval, and a
            verdict in words.

        Raises
        ------
        ValueError
            For a boundary that was read from JSON (its rows are not stored) or fitted to weighted rows (repeated rows
            are not independent).

        Examples
        --------
        >>> import numpy as np
        >>> from stakes.boundary import fit_boundary
        >>> rng = np.random.default_rng(0)
        >>> score, noise = rng.random(4000), rng.random(4000)
        >>> boundary = fit_boundary(rng.random(4000) < score, score, noise, min_precision=0.8)
        >>> boundary.gain(random_state=0).helps
        False
        """
        from stakes.boundary._gain import estimate_gain

        rows, settings = self._fitted_to()
        return estimate_gain(rows, settings, confidence_level=confidence_level, cv=cv, random_state=random_state)

    def optimism(self) -> Optimism:
        """By how much the precision on these rows promises too much, by the cube-root law.

        Returns
        -------
        Optimism
            Expected noise captured, and the precision to expect on new rows.

        Raises
        ------
        ValueError
            Unless the boundary was found by ``solver="exact"`` for recall under a precision bound alone, on rows
            without weights.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes.boundary import fit_boundary
        >>> rng = np.random.default_rng(0)
        >>> score, noise = rng.random(4000), rng.random(4000)
        >>> boundary = fit_boundary(rng.random(4000) < score, score, noise, min_precision=0.8)
        >>> boundary.optimism().expected_precision < boundary.precision
        True
        """
        from stakes.boundary._optimism import estimate_optimism

        rows, _ = self._fitted_to()
        return estimate_optimism(self, rows)

    def _fitted_to(self) -> tuple[Rows, Settings]:
        if self._data is None or self._settings is None:
            raise ValueError("a boundary read from JSON holds no rows: call this on the one that was fitted.")
        return self._data, self._settings

    def report(self, *, random_state: Any = None) -> str:
        """Say in words whether uncertainty helps here, what was found, and how far to trust it.

        Parameters
        ----------
        random_state : int, numpy Generator or None
            For the folds and the resampling of :meth:`gain`.

        Returns
        -------
        str
            The first line is the verdict on uncertainty.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes.boundary import fit_boundary
        >>> rng = np.random.default_rng(0)
        >>> score, noise = rng.random(4000), rng.random(4000)
        >>> boundary = fit_boundary(rng.random(4000) < score, score, noise, min_precision=0.8)
        >>> print(boundary.report(random_state=0).splitlines()[0])
        Uncertainty does not help on these data as far as they can tell: recall ...
        """
        rows, _ = self._fitted_to()
        if rows.weight is not None:
            return "\n".join(["Whether uncertainty helps is not known: weighted rows are not independent.", repr(self)])
        gain = self.gain(random_state=random_state)
        lines = [gain.verdict, str(gain), repr(self)]
        if self.certificate is not None:
            lines.append(str(self.certificate))
        elif self.solver == "exact" and self._problem.bounds_precision_alone:
            lines.append(str(self.optimism()))
        return "\n".join(lines)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw levels, thresholds and the observed rate of positives, beside the single threshold.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to :meth:`stakes.display.BoundaryDisplay.plot`.

        Returns
        -------
        BoundaryDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> boundary.plot().ax_.get_xlabel()
        'Score'
        """
        from stakes._faces import plot_boundary

        return plot_boundary(self, ax, **options)

    def to_json(self) -> str:
        """Return the boundary as JSON, without the rows it was fitted to.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes.boundary import Boundary, fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> Boundary.from_json(boundary.to_json()).predict([0.7, 0.5], [0.5, 1.0]).tolist()
        [1, 0]
        """
        from stakes.boundary._serial import to_text

        return to_text(self)

    @classmethod
    def from_json(cls, text: str) -> Boundary:
        """Read a boundary from JSON.

        Parameters
        ----------
        text : str
            What :meth:`to_json` returned.

        Returns
        -------
        Boundary

        Raises
        ------
        ValueError
            For text that is no JSON, of another format, or damaged; the message names the first entry that is.

        Examples
        --------
        >>> from stakes.boundary import Boundary
        >>> Boundary.from_json("{}")
        Traceback (most recent call last):
        ...
        ValueError: text must be a boundary of format 'stakes-boundary-1', got format None.
        """
        from stakes.boundary._serial import from_text

        return from_text(text, cls, Cells)

    def _records(self) -> list[dict[str, Any]]:
        low, high = np.r_[-np.inf, self.cuts], np.r_[self.cuts, np.inf]
        thresholds = self.thresholds
        records = []
        for k in range(len(self.rows)):
            tp, n = int(self.true_positives[k]), int(self.selected[k])
            ups, total = int(self.positives[k]), int(self.rows[k])
            records.append(
                {
                    "uncertainty_above": float(low[k]),
                    "uncertainty_up_to": float(high[k]),
                    "threshold": None if thresholds is None else float(thresholds[k]),
                    "rows": total,
                    "positives": ups,
                    "selected": n,
                    "true_positives": tp,
                    "precision": tp / n if n else math.nan,
                    "recall": tp / ups if ups else math.nan,
                }
            )
        return records

    def _repr_html_(self) -> str:
        return boundary_html(self)

    def __repr__(self) -> str:
        chosen, total = int(self.selected.sum()), int(self.rows.sum())
        found = f"recall {self.recall:.4g}, precision {self.precision:.4g}, {chosen} of {total} rows selected"
        if chosen == 0:
            found = f"no row of {total} selected"
        proof = "proved optimal" if self.optimal else f"solver {self.solver}"
        if self.upper_bound is not None and not self.optimal:
            proof += f", at best {self.upper_bound:.6g}"
        if self.certificate is not None:
            proof = "abstained" if self.certificate.abstained else f"certified at {self.certificate.confidence_level:g}"
        return f"Boundary({self.goal}: {found}, {proof})"


def describe_region(
    rows: Rows,
    cuts: Floats,
    rule: Rule,
    problem: Problem,
    *,
    solver: str,
    bound: Fraction | None,
    single: LevelRule,
    tuned: Fraction | None = None,
    certificate: Certificate | None = None,
    settings: Settings | None = None,
    data: Rows | None = None,
) -> Boundary:
    """Count what a rule selects in each level and put the result together."""
    level, inside = level_of(cuts, rows.uncertainty), rule.select(rows.score, rows.uncertainty)
    weight = None if rows.weight is None else rows.weight.astype(np.float64)  # exact below 2^53

    def by_level(mask: NDArray[np.bool_] | None) -> Ints:
        places = level if mask is None else level[mask]
        heavy = weight if mask is None or weight is None else weight[mask]
        return np.bincount(places, weights=heavy, minlength=len(cuts) + 1).astype(np.int64)

    counts = [by_level(mask) for mask in (None, rows.y, inside, inside & rows.y)]
    total, ups, chosen, found = (int(count.sum()) for count in counts)
    value = goal_value(problem, found, chosen, ups)
    if bound is not None:  # a solution at its bound stays there whatever the rounding
        bound = max(bound, value)
    shown, limit = (_scaled(problem, one, ups, total) for one in (value, bound))
    return Boundary(
        goal=problem.describe(),
        solver=solver,
        value=math.nan if shown is None else shown,
        upper_bound=None if limit is None or math.isnan(limit) else limit,
        cuts=cuts,
        rows=counts[0],
        positives=counts[1],
        selected=counts[2],
        true_positives=counts[3],
        threshold=float(single.thresholds[0]),
        tuned_precision=None if tuned is None else float(tuned),
        certificate=certificate,
        _rule=rule,
        _problem=problem,
        _counts=_count_cells(rows, cuts),
        _data=rows if data is None else data,
        _settings=settings,
    )


def _scaled(problem: Problem, value: Fraction | None, positives: int, total: int) -> float | None:
    """Value of the goal as it is shown: recall for true positives, cost per row."""
    if value is None:
        return None
    if problem.goal == "recall":
        return float(value / positives) if positives else math.nan
    return float(value / total) if problem.goal == "cost" else float(value)


def _count_cells(rows: Rows, cuts: Floats) -> Cells:
    """Counts in equal intervals of the score, by level."""
    low, high = float(rows.score.min()), float(rows.score.max())
    low, high = (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high if high > low else low + 1.0)
    edges = np.linspace(low, high, _CELLS + 1)
    column = np.clip(((rows.score - low) * (_CELLS / (high - low))).astype(np.int64), 0, _CELLS - 1)
    place = level_of(cuts, rows.uncertainty) * _CELLS + column
    weight = None if rows.weight is None else rows.weight.astype(np.float64)
    size = (len(cuts) + 1) * _CELLS
    totals = np.bincount(place, weights=weight, minlength=size)
    ups = np.bincount(place[rows.y], weights=None if weight is None else weight[rows.y], minlength=size)
    shape = (len(cuts) + 1, _CELLS)
    span = np.array([rows.uncertainty.min(), rows.uncertainty.max()])
    return Cells(edges, ups.astype(np.int64).reshape(shape), totals.astype(np.int64).reshape(shape), span)
