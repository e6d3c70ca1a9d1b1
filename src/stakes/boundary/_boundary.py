"""The answer: which region of score and uncertainty is labelled positive, what it is worth, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._gain import estimate_gain
from stakes.boundary._html import boundary_html, level_names, start, trust
from stakes.boundary._json import COUNTS, from_text, to_text
from stakes.boundary._optimism import estimate_optimism
from stakes.boundary._rules import LevelRule
from stakes.core.expressions import column_of, sql_column
from stakes.core.onnx import onnx_column
from stakes.shown.faces import draw
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from onnx import ModelProto

    from stakes.boundary._cells import Cells
    from stakes.boundary._certificate import Certificate
    from stakes.boundary._gain import Gain
    from stakes.boundary._html import Line
    from stakes.boundary._optimism import Optimism
    from stakes.boundary._options import Floats, Ints
    from stakes.boundary._problem import Problem
    from stakes.boundary._rows import Rows
    from stakes.boundary._rules import Rule
    from stakes.boundary._settings import Settings
    from stakes.core.expressions import Dialect, Missing


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

    @property
    def level_names(self) -> list[str]:
        """Name of each level of uncertainty, by the cuts between them."""
        return level_names(self.cuts)

    def predict(self, score: ArrayLike, uncertainty: ArrayLike, *, missing: Missing = "refuse") -> NDArray[np.int64]:
        """Label rows: 1 inside the region, 0 outside.

        Parameters
        ----------
        score : array_like of shape (n,) or (n, 2)
            Scores. An expression of narwhals, polars, SQL or ONNX, as the uncertainty is, gives an expression.
        uncertainty : array_like of shape (n,)
            Uncertainties; larger is less certain.
        missing : {"refuse", "act", "wait"}, default "refuse"
            Raise where a score or an uncertainty is missing (nan), label such rows 1, or 0.

        Returns
        -------
        ndarray of int, shape (n,)

        Raises
        ------
        ValueError
            For unequal lengths, infinite values, and missing ones unless ``missing`` says otherwise.

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> boundary.predict([0.7, 0.5], [0.5, 1.0]).tolist()
        [1, 0]
        >>> boundary.predict([0.7, float("nan")], [0.5, 1.0], missing="wait").tolist()
        [1, 0]
        """
        return self._rule.decide(score, uncertainty, missing)

    def to_expression(self, score: str, uncertainty: str, *, missing: Missing = "refuse") -> Any:
        """Return :meth:`predict` as an expression of narwhals, for a frame that stays in its engine.

        Parameters
        ----------
        score, uncertainty : str
            Names of the columns, of doubles.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score or the uncertainty is NULL or NaN: NULL, 1 or 0.

        Returns
        -------
        narwhals.Expr
            1 inside the region, 0 outside, as :meth:`predict` says to the last bit; NULL where it would raise.

        Raises
        ------
        ValueError
            For another value of ``missing``.

        Examples
        --------
        >>> import narwhals.stable.v2 as nw
        >>> import polars as pl
        >>> from stakes.boundary import fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> frame = nw.from_native(pl.LazyFrame({"risk": [0.7, 0.5, None], "spread": [0.5, 1.0, 1.0]}))
        >>> frame.with_columns(treat=boundary.to_expression("risk", "spread")).collect()["treat"].to_list()
        [1, 0, None]
        """
        return self.predict(column_of(score), column_of(uncertainty), missing=missing)

    def to_sql(self, score: str, uncertainty: str, *, dialect: Dialect = "duckdb", missing: Missing = "refuse") -> str:
        """Return :meth:`predict` as an expression of plain SQL.

        Parameters
        ----------
        score, uncertainty : str
            Names of the columns, of doubles.
        dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "sqlite"}, default "duckdb"
            Of the SQL.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score or the uncertainty is NULL or NaN: NULL, 1 or 0.

        Returns
        -------
        str
            1 inside the region, 0 outside, as :meth:`predict` says to the last bit; NULL where it would raise.

        Raises
        ------
        ValueError
            For an unknown dialect or another value of ``missing``.

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=1)
        >>> print(boundary.to_sql("risk", "spread"))
        CASE WHEN ... THEN CASE WHEN ("risk" >= CAST('0.6' AS DOUBLE)) THEN 1 ELSE 0 END END
        """
        columns: Any = sql_column(score, dialect), sql_column(uncertainty, dialect)
        return str(self.predict(*columns, missing=missing))

    def to_onnx(
        self, score: str = "score", uncertainty: str = "uncertainty", *, missing: Missing = "refuse"
    ) -> ModelProto:
        """Return :meth:`predict` as a model of ONNX.

        Parameters
        ----------
        score, uncertainty : str, default "score" and "uncertainty"
            Names of the inputs, of doubles.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score or the uncertainty is NaN: -1, 1 or 0.

        Returns
        -------
        onnx.ModelProto
            Its output ``decision`` is 1 inside the region, 0 outside, as :meth:`predict` says to the last bit; -1 where
            it would raise.

        Raises
        ------
        ValueError
            For another value of ``missing``.
        ImportError
            If onnx is not installed (``pip install 'stakes[onnx]'``).

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> [column.name for column in boundary.to_onnx("risk", "spread").graph.input]  # doctest: +SKIP
        ['risk', 'spread']
        """
        columns: Any = onnx_column(score), onnx_column(uncertainty)
        found: Any = self.predict(*columns, missing=missing)
        return found.model()

    def gain(self, *, confidence_level: float = 0.95, cv: int = 5, random_state: Any = 0) -> Gain:
        """What uncertainty adds to a single threshold on rows that neither was fitted to.

        Parameters
        ----------
        confidence_level : float, default 0.95
            Of the interval of the difference.
        cv : int, default 5
            Number of folds.
        random_state : int, numpy Generator or None, default 0
            For the folds and the resampling: the same at every call; None draws anew. Folds go by the place of the
            rows.

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
        rows, settings = self._fitted_to()
        if self.certificate is not None:
            raise ValueError("the counts of a certified boundary are of rows set aside: they are not optimistic.")
        return estimate_optimism(
            rows, settings, self.cuts, self.selected, precision=self.precision, tuned=self.tuned_precision
        )

    def _fitted_to(self) -> tuple[Rows, Settings]:
        if self._data is None or self._settings is None:
            raise ValueError("a boundary read from JSON holds no rows: call this on the one that was fitted.")
        return self._data, self._settings

    def report(self, *, random_state: Any = 0) -> str:
        """Say in words whether uncertainty helps here, what was found, and how far to trust it.

        Parameters
        ----------
        random_state : int, numpy Generator or None, default 0
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
        return draw(self, ax, **options)

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
        levels = {name: getattr(self, name) for name in ("cuts", *COUNTS)}
        facts = {name: getattr(self, name) for name in ("goal", "solver", "value", "upper_bound", "threshold")}
        facts["tuned_precision"] = self.tuned_precision
        return to_text(facts, levels, self._problem, self._rule, cells=self._counts, certificate=self.certificate)

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
        return cls(**from_text(text))

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
        thresholds = self.thresholds
        starts = [""] * len(self.rows) if thresholds is None else [start(float(t)) for t in thresholds]
        lines: list[Line] = [
            (
                name,
                begin,
                [record["rows"], record["positives"], record["selected"]],
                record["precision"],
                record["recall"],
            )
            for name, begin, record in zip(self.level_names, starts, self._records(), strict=True)
        ]
        if len(lines) > 1:
            totals = [int(counts.sum()) for counts in (self.rows, self.positives, self.selected)]
            lines.append(("all levels", "", totals, self.precision, self.recall))
        return boundary_html(
            repr(self), lines, trust(self.certificate, self.threshold, fitted_here=self._data is not None)
        )

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
