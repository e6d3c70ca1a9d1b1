"""The result of a fit, ``Boundary``: its JSON, its notebook view, and what explains it by features."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.formulas import Dialect, Missing, column_of, onnx_column, rounded, sql_column
from stakes.base.validation import Bools, Floats, as_fraction, by_name, check_same_order, to_array, to_floats
from stakes.boundary._certificate import Certificate, read_certificate
from stakes.boundary._out_of_fold import FOLDS, Gain, Optimism, Settings, estimate_gain, estimate_optimism
from stakes.boundary._problem import GOALS, BinCounts, BoundaryProblem, BoundaryRows, Ints, level_of, read_covariates
from stakes.boundary._rules import LevelRule, RankedRule, Rule, ShiftedRule, read_rule
from stakes.boundary._solvers import goal_value, scaled_value
from stakes.outputs.files import delivered, json_ready
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import CellStyle, ResultTable, TableColumn, Tabular, cell_text, plain, table
from stakes.outputs.serialization import JsonReader
from stakes.outputs.text import threshold_name

# A boundary in a notebook: summary, levels, and the evidence behind the counts.

COUNTS = ("rows", "positives", "selected", "true_positives")
_COLUMNS = (
    *(TableColumn("level", "uncertainty", "text"), TableColumn("threshold", "from score", "threshold")),
    *(TableColumn(key, {"positives": "positive"}.get(key, key), "count") for key in COUNTS[:3]),
    *(TableColumn(key, key, "share") for key in ("precision", "recall")),
)
_NOTEBOOK = CellStyle(lambda value, _: cell_text(value), {"threshold": lambda value, _: threshold_name(value)})


def level_names(cuts: Floats) -> list[str]:
    """Name the levels of uncertainty by the cuts between them."""
    shown = [f"{cut:.4g}" for cut in cuts]
    if not shown:
        return ["all"]
    return [f"up to {shown[0]}", *(f"{low} to {high}" for low, high in pairwise(shown)), f"above {shown[-1]}"]


def inner(representation: str) -> str:
    """Return the text within the parentheses of a ``repr``."""
    return representation.partition("(")[2].removesuffix(")")


def trust(certificate: Any, threshold: float, *, fitted_here: bool) -> str:
    """Describe the rows behind the counts, and where to find whether uncertainty helps."""
    if certificate is not None:
        return plain(f"Certificate: {inner(repr(certificate))}.")
    single = f"Best single threshold on the score: {threshold_name(threshold)}. "
    counts = "Counts of the rows that it was fitted to, where they are optimistic"
    if not fitted_here:
        return plain(f"{single}{counts}.")
    return f"{plain(single)}{counts}; whether uncertainty helps at all: <code>.report()</code>."


# Checks that the entries of a kept boundary, certificate or monitor are consistent.

_ROUNDING = 1e-9


def check_counts(content: JsonReader, counts: dict[str, Ints], cells: BinCounts) -> None:
    """Refuse counts of levels and of cells that cannot be of the same rows."""
    rows, positives, selected, found = counts.values()
    _refuse(content, "levels.positives", positives > rows, "at most levels.rows", positives)
    _refuse(content, "levels.selected", selected > rows, "at most levels.rows", selected)
    most = np.minimum(selected, positives)
    _refuse(content, "levels.true_positives", found > most, "at most levels.selected and levels.positives", found)
    spare = selected - found > rows - positives
    _refuse(content, "levels.true_positives", spare, "such that the negatives selected are at most all", found)
    if len(cells.edges) < 2 or np.any(np.diff(cells.edges) <= 0.0):
        raise content.broken("cells.edges", "two or more numbers, strictly increasing")
    even = np.linspace(cells.edges[0], cells.edges[-1], len(cells.edges))
    if not np.allclose(cells.edges, even, rtol=0.0, atol=_ROUNDING * float(even[-1] - even[0])):
        raise content.broken("cells.edges", "numbers at equal distances")
    _check_span(content, cells, rows)
    _refuse(content, "cells.positives", np.any(cells.positives > cells.totals, axis=1), "at most cells.totals", None)
    for name, of, inside in (("totals", "rows", cells.totals), ("positives", "positives", cells.positives)):
        sums = inside.sum(axis=1)
        _refuse(content, f"cells.{name}", sums != counts[of], f"counts that add up to levels.{of}", sums)


def _check_span(content: JsonReader, cells: BinCounts, rows: Ints) -> None:
    """Check that the range of the uncertainty starts in the first level with rows and ends in the last."""
    if cells.span.shape != (2,) or cells.span[0] > cells.span[1]:
        raise content.broken("cells.span", "two numbers in order")
    filled = np.flatnonzero(rows)
    levels = level_of(content.numbers("levels", "cuts"), cells.span)
    if not len(filled) or levels.tolist() != [filled[0], filled[-1]]:
        got = ", ".join(f"{end:.10g}" for end in cells.span)
        raise content.broken(
            "cells.span and levels.cuts", f"such that the range ends in levels that have rows, got {got}"
        )


def check_value(content: JsonReader, problem: BoundaryProblem, counts: dict[str, Ints]) -> None:
    """Refuse a value or bound that does not follow from the goal and the counts."""
    total, ups, chosen, found = (int(count.sum()) for count in counts.values())
    wanted = scaled_value(problem, goal_value(problem, found, chosen, ups), ups, total)
    value = content.number_or_none("value")
    if not _same(value, wanted):
        raise content.broken("value", f"{wanted}, as the counts say, got {value}")
    bound = content.number_or_none("upper_bound")
    best = {"recall": 1.0, "precision": 1.0, "f_beta": 1.0}.get(problem.goal, 0.0)
    if bound is not None and not (value is not None and value <= bound <= best):
        raise content.broken("upper_bound", f"from value to {best:g}, got {bound}")
    tuned = content.number_or_none("tuned_precision")
    if tuned is not None and not 0.0 < tuned <= 1.0:
        raise content.broken("tuned_precision", f"in (0, 1], got {tuned}")


def check_constraints(content: JsonReader, problem: BoundaryProblem, counts: dict[str, Ints]) -> None:
    """Refuse constraints that the fitted counts violate."""
    total, ups, chosen, found = (int(count.sum()) for count in counts.values())
    most = problem.rows_selected(total)
    if most is not None and chosen > most:
        raise content.broken("problem.capacity", f"at least what levels.selected adds up to, {chosen}, got {most}")
    least = problem.min_precision
    if chosen and least is not None and content.at("tuned_precision") is None and found < least * chosen:
        raise content.broken("problem.min_precision", f"at most the precision of the levels, {found} of {chosen}")
    if chosen and found < problem.least_positives(ups):
        raise content.broken("problem.min_recall", f"at most the recall of the levels, {found} of {ups}")


def check_rule(content: JsonReader, rule: Rule, cells: BinCounts, counts: dict[str, Ints], *, certified: bool) -> None:
    """Refuse a region that is inconsistent with the counts of the cells."""
    if isinstance(rule, LevelRule):
        cuts = content.numbers("levels", "cuts")
        if not np.array_equal(rule.cuts, cuts):
            raise content.broken("rule.cuts", "levels.cuts")
        thresholds, moves = rule.thresholds, (0.0, 0.0)
    elif isinstance(rule, ShiftedRule):
        if not certified and not np.array_equal(cells.span, [rule.low, rule.high]):
            raise content.broken("rule.low and rule.high", "cells.span, the range of the uncertainty")
        thresholds = np.full(len(cells.totals), rule.threshold)
        moves = min(0.0, rule.weight), max(0.0, rule.weight)
    else:
        knots = rule.ranker.knots
        if not certified and not np.array_equal(cells.span, knots[[0, -1]]):
            raise content.broken("rule.ranker.knots", "numbers from the least to the largest of cells.span")
        _check_ranked(content, rule, counts)
        return
    width = _ROUNDING * float(cells.edges[-1] - cells.edges[0])
    whole = cells.edges[:-1] + moves[0] - width >= thresholds[:, None]
    some = cells.edges[1:] + moves[1] + width >= thresholds[:, None]
    for name, inside in (("selected", cells.totals), ("true_positives", cells.positives)):
        least, most = ((inside * mask).sum(axis=1) for mask in (whole, some))
        bad = (counts[name] < least) | (counts[name] > most)
        _refuse(content, f"levels.{name}", bad, "what the rule selects of the cells", counts[name])


def _check_ranked(content: JsonReader, rule: RankedRule, counts: dict[str, Ints]) -> None:
    """Check a learned ranking: its values lie in [0, 1], so a threshold outside selects all or nothing."""
    ranks = rule.ranker.ranks
    if np.any(np.diff(ranks) < 0.0) or not 0.0 <= ranks[0] <= ranks[-1] <= 1.0:
        raise content.broken("rule.ranker.ranks", "numbers in order, from 0 to 1")
    selected = counts["selected"]
    if rule.threshold > 1.0:
        _refuse(content, "levels.selected", selected > 0, "0, as rule.threshold is above every value", selected)
    elif rule.threshold <= 0.0:
        least = "levels.rows, as no value is below rule.threshold"
        _refuse(content, "levels.selected", selected < counts["rows"], least, selected)


def check_threshold(content: JsonReader, cells: BinCounts, *, certified: bool) -> None:
    """Refuse a single threshold beyond the scores of the rows."""
    threshold = content.number("threshold", infinite=True)
    inside = float(cells.edges[0]) <= threshold <= float(cells.edges[-1])
    if not (threshold == math.inf or inside or (certified and math.isfinite(threshold))):
        edges = f"{cells.edges[0]:.10g} to {cells.edges[-1]:.10g}"
        raise content.broken("threshold", f'a score of the rows ({edges}) or "inf", got {threshold}')


def check_certified(
    content: JsonReader, certificate: Certificate, problem: BoundaryProblem, counts: dict[str, Ints]
) -> None:
    """Refuse a certificate for other rows, another precision or another region."""
    total, _, chosen, found = (int(count.sum()) for count in counts.values())
    promise = float(problem.min_precision or 0)
    expected: dict[str, float] = {"min_precision": promise, "tested_rows": total}
    if not certificate.abstained:
        expected |= {"selected": chosen, "true_positives": found}
    elif chosen:
        raise content.broken("levels.selected", "0 where the certificate abstained")
    for name, wanted in expected.items():
        got = getattr(certificate, name)
        if got != wanted:
            raise content.broken(f"certificate.{name}", f"{wanted}, as problem and levels say, got {got}")


def _same(one: float | None, other: float | None) -> bool:
    """Whether two numbers agree up to rounding; nan is stored as None."""
    missing = [value is None or math.isnan(value) for value in (one, other)]
    if any(missing):
        return all(missing)
    return math.isclose(one or 0.0, other or 0.0, rel_tol=_ROUNDING)


def _refuse(content: JsonReader, name: str, bad: NDArray[np.bool_], rule: str, values: Floats | Ints | None) -> None:
    if np.any(bad):
        level = int(np.argmax(bad))
        got = "" if values is None else f", got {values[level]}"
        raise content.broken(name, f"{rule} in level {level}{got}")


# Boundaries as JSON: a fixed schema, checked on reading since the file may come from an untrusted source.

FORMAT = "stakes-boundary-2"
_FACTS = ("goal", "solver", "value", "upper_bound", "threshold", "tuned_precision")


def from_text(text: str) -> dict[str, Any]:
    """Check JSON and return the fields of a boundary; a ValueError names the first damaged entry."""
    content = JsonReader.read(text, "boundary", FORMAT)
    cuts = content.numbers("levels", "cuts")
    counts = {name: content.counts("levels", name, shape=(len(cuts) + 1,)) for name in COUNTS}
    if np.any(np.diff(cuts) <= 0.0):
        raise content.broken("levels.cuts", "strictly increasing numbers")
    edges = content.numbers("cells", "edges")
    inside = [content.counts("cells", name, shape=(len(cuts) + 1, len(edges) - 1)) for name in ("positives", "totals")]
    cells = BinCounts(edges, inside[0], inside[1], content.numbers("cells", "span"))
    certificate = None
    if content.at("certificate") is not None:
        certificate = read_certificate(content.inside("certificate"))
    problem, rule = _problem(content), read_rule(content.inside("rule"))
    check_counts(content, counts, cells)
    check_value(content, problem, counts)
    if certificate is None:
        check_constraints(content, problem, counts)
    check_threshold(content, cells, certified=certificate is not None)
    check_rule(content, rule, cells, counts, certified=certificate is not None)
    if certificate is not None:
        check_certified(content, certificate, problem, counts)
    value = content.number_or_none("value")
    return {
        **{name: content.text(name) for name in ("goal", "solver")},
        **{name: content.number_or_none(name) for name in ("upper_bound", "tuned_precision")},
        "value": math.nan if value is None else value,
        "threshold": content.number("threshold", infinite=True),
        "cuts": cuts,
        **counts,
        "certificate": certificate,
        "_rule": rule,
        "_problem": problem,
        "_counts": cells,
    }


def _written(value: Any) -> Any:
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else value


def _problem(content: JsonReader) -> BoundaryProblem:
    goal = content.at("problem", "goal")
    if goal not in GOALS:
        raise content.broken("problem.goal", f"one of {', '.join(GOALS)}")
    shares = {name: _share(content, name) for name in ("min_precision", "min_recall")}
    most = content.at("problem", "capacity")
    if not (most is None or (isinstance(most, int) and not isinstance(most, bool) and most >= 0)):
        most = _share(content, "capacity")
    beta2, cost = (_fraction(content, name) for name in ("beta2", "cost"))
    if beta2 <= 0 or not 0 <= cost <= 1:
        raise content.broken("problem", "made of beta2 > 0 and a cost in [0, 1]")
    return BoundaryProblem(goal, **shares, capacity=most, beta2=beta2, cost=cost)


def _share(content: JsonReader, name: str) -> Fraction | None:
    if content.at("problem", name) is None:
        return None
    share = _fraction(content, name)
    if not 0 < share <= 1:
        raise content.broken(f"problem.{name}", "a fraction in (0, 1]")
    return share


def _fraction(content: JsonReader, name: str) -> Fraction:
    value = content.at("problem", name)
    try:
        if isinstance(value, str):
            return as_fraction(value, name)
    except ValueError:
        pass
    raise content.broken(f"problem.{name}", 'a fraction such as "9/10"')


# The result: the region of score and uncertainty that is labelled positive, its value, and the evidence for it.


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
        No boundary made of the same levels and cuts has a larger value; None where the solver proves no bound,
        or one for a higher precision that was aimed at.
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
    _problem: BoundaryProblem
    _counts: BinCounts
    _data: BoundaryRows | None = None
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
        """Whether the value is proved optimal among all boundaries with these levels and cuts."""
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
            Uncertainties; larger is less certain. Values of single or half precision meet cuts and thresholds rounded
            to it, unless the rule shifts scores by their uncertainty; engines and ONNX compare in double precision.
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

    def to_sql(
        self,
        score: str,
        uncertainty: str,
        path: str | os.PathLike[str] | None = None,
        *,
        dialect: Dialect = "duckdb",
        missing: Missing = "refuse",
    ) -> str:
        """Return :meth:`predict` as an expression of plain SQL.

        Parameters
        ----------
        score, uncertainty : str
            Names of the columns, of doubles.
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
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
        return delivered(str(self.predict(*columns, missing=missing)), path)

    def to_onnx(
        self,
        score: str = "score",
        uncertainty: str = "uncertainty",
        path: str | os.PathLike[str] | None = None,
        *,
        missing: Missing = "refuse",
    ) -> bytes:
        """Return :meth:`predict` as a model of ONNX.

        Parameters
        ----------
        score, uncertainty : str, default "score" and "uncertainty"
            Names of the inputs, of doubles.
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
        missing : {"refuse", "act", "wait"}, default "refuse"
            What rows get where the score or the uncertainty is NaN: -1, 1 or 0.

        Returns
        -------
        bytes of an onnx.ModelProto
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
        >>> model = boundary.to_onnx("risk", "spread", "rule.onnx")  # doctest: +SKIP
        """
        columns: Any = onnx_column(score), onnx_column(uncertainty)
        found: Any = self.predict(*columns, missing=missing)
        return delivered(found.model().SerializeToString(), path)

    def gain(self, *, confidence_level: float = 0.95, cv: int = FOLDS, random_state: Any = 0) -> Gain:
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
        """By how much the precision on these rows promises too much: by the cube-root law, of one level out of fold.

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

    def _fitted_to(self) -> tuple[BoundaryRows, Settings]:
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
        if rows.weight is not None or len(rows.y) < FOLDS:
            few = f"{len(rows.y)} row{' is' if len(rows.y) == 1 else 's are'} too few for {FOLDS} folds"
            why = few if rows.weight is None else "weighted rows are not independent"
            return f"Whether uncertainty helps is not known: {why}.\n{self!r}"
        gain = self.gain(random_state=random_state)
        lines = [gain.verdict, str(gain), repr(self)]
        if self.certificate is not None:
            lines.append(str(self.certificate))
        elif self.solver == "exact" and self._problem.bounds_precision_alone:
            lines.append(str(self.optimism()))
        return "\n".join(lines)

    def explain(
        self, X: Any, *, score: ArrayLike | None = None, uncertainty: ArrayLike | None = None
    ) -> BoundaryExplanation:
        """Say which rows change sides between this boundary and the best single threshold, and how they differ.

        Parameters
        ----------
        X : DataFrame, mapping of str to array_like, or array_like of shape (n, n_features)
            Features, finite numbers: of the rows that the boundary was fitted to, in their order, without those of
            weight zero.
        score, uncertainty : array_like of shape (n,), optional
            Of other rows, of which X then holds the features.

        Returns
        -------
        BoundaryExplanation
            The rows that the boundary adds and drops, and the standardised differences of their features from each
            other and from all other rows.

        Raises
        ------
        ValueError
            For features that are not finite numbers or not of as many rows, for one of score and uncertainty without
            the other, and for a boundary read from JSON (its rows are not stored) without both.

        Notes
        -----
        After Figure 7 of arXiv:2311.11723, which shows features of the bins where boundary and threshold differ.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes.boundary import fit_boundary
        >>> rng = np.random.default_rng(0)
        >>> score, noise, age = rng.random(4000), rng.random(4000), rng.normal(50, 10, 4000)
        >>> boundary = fit_boundary(rng.random(4000) < score ** (0.5 + noise), score, noise, min_precision=0.9)
        >>> boundary.explain({"age": age, "noise": noise})
        BoundaryExplanation(... of 4000 rows added, ... dropped, most apart in 'noise': -... standard deviations)
        """
        check_same_order(X=X, score=score, uncertainty=uncertainty)
        if (score is None) != (uncertainty is None):
            raise ValueError("score and uncertainty must be given together, or neither for the rows of the fit.")
        weight = None
        if score is None or uncertainty is None:
            rows, _ = self._fitted_to()
            score, uncertainty = rows.score, rows.uncertainty
            weight = None if rows.weight is None else rows.weight.astype(np.float64)
        decided = self.predict(score, uncertainty) == 1
        given = read_covariates(score, uncertainty)["score"]
        single = to_floats(given, "score") >= rounded(self.threshold, given)
        return explain(X, decided, single, weight)

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

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the boundary as JSON, without the rows it was fitted to.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

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
        content = {
            "format": FORMAT,
            **{name: getattr(self, name) for name in _FACTS},
            "problem": {name: _written(value) for name, value in vars(self._problem).items()},
            "rule": self._rule.to_dict(),
            "levels": {name: getattr(self, name).tolist() for name in ("cuts", *COUNTS)},
            "cells": {name: values.tolist() for name, values in vars(self._counts).items()},
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
        }
        return delivered(json.dumps(json_ready(content), indent=1), path)

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
        ValueError: text must be a boundary of format 'stakes-boundary-2', got format None.
        """
        return cls(**from_text(text))

    def _records(self) -> list[dict[str, Any]]:
        with np.errstate(divide="ignore", invalid="ignore"):
            columns = {
                "uncertainty_above": np.r_[-np.inf, self.cuts],
                "uncertainty_up_to": np.r_[self.cuts, np.inf],
                "threshold": np.full(len(self.rows), None) if self.thresholds is None else self.thresholds,
                **{name: getattr(self, name) for name in COUNTS},
                "precision": self.true_positives / self.selected,
                "recall": self.true_positives / self.positives,
            }
        lines = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, line, strict=True)) for line in lines]

    def tables(self) -> dict[str, ResultTable]:
        """Return the table that the terminal and notebooks show, as raw numbers.

        Returns
        -------
        dict of str to ResultTable
            "levels": counts, precision and recall of each level of uncertainty and, where there are several, of all;
            no column "threshold" where the region is made of no thresholds.

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> [(row["level"], row["threshold"], row["selected"]) for row in boundary.tables()["levels"].rows]
        [('up to 0', 0.9, 1), ('above 0', 0.6, 1), ('all levels', None, 2)]
        """
        columns = _COLUMNS if self.thresholds is not None else (_COLUMNS[0], *_COLUMNS[2:])
        return {"levels": ResultTable("Levels of uncertainty", columns, self._level_rows)}

    def _level_rows(self) -> list[dict[str, Any]]:
        rows = [{"level": name} | record for name, record in zip(self.level_names, self._records(), strict=True)]
        if len(rows) > 1:
            totals = {name: int(getattr(self, name).sum()) for name in COUNTS}
            every = {"level": "all levels", "threshold": None, "precision": self.precision, "recall": self.recall}
            rows.append(every | totals)
        return rows

    def _repr_html_(self) -> str:
        found = self.tables()["levels"]
        heads = ["positives" if each.key == "positives" else each.head for each in found.columns]
        shown = table(heads, _NOTEBOOK.rows(found.rows, found.columns), inner(repr(self)))
        return f"{shown}<p>{trust(self.certificate, self.threshold, fitted_here=self._data is not None)}</p>"

    def __repr__(self) -> str:
        chosen, total = int(self.selected.sum()), int(self.rows.sum())
        found = f"recall {self.recall:.4g}, precision {self.precision:.4g}, {chosen} of {total} rows selected"
        if chosen == 0:
            found = f"no row of {total} selected"
        proof = "proved optimal" if self.optimal else f"solver {self.solver}"
        if self.upper_bound is not None and not self.optimal:
            proof += f", at best {self.upper_bound:.6g}"
        if self.tuned_precision is not None:
            proof += f", aims at precision {self.tuned_precision:.4g}"
        if self.certificate is not None:
            proof = "abstained" if self.certificate.abstained else f"certified at {self.certificate.confidence_level:g}"
        return f"Boundary({self.goal}: {found}, {proof})"


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
        columns = by_name({name: to_array(X[name], f"column {name!r} of X") for name in named}, "X")
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
