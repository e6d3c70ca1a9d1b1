"""Update a model to new data: fitted recalibration, and the shares of the classes in a new population."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stakes.base import formulas, validation
from stakes.base.numerics import fit_logistic, sigmoid
from stakes.base.validation import BinarySample, Bools, Floats
from stakes.core.options import EvaluationData, evaluation_data
from stakes.core.score_table import LogisticFit, ScoreTable, fit_recalibration, row_losses
from stakes.correction._loss_calibration import chi2_tail, design_effect, log_likelihood, robust_covariance, sandwich
from stakes.correction._weights import classes_of, read_scores, shift_odds
from stakes.costs import CostsLike, as_costs, check_scale
from stakes.outputs.files import delivered, json_ready
from stakes.outputs.result_table import Tabular
from stakes.outputs.serialization import JsonReader
from stakes.outputs.text import level_name, number, p_value
from stakes.variance.dependence import Design
from stakes.variance.sums import Estimate, Moments

# The map from old scores to new ones, for arrays and for expressions of a data engine.
#
# All methods but the isotonic one are logit(new) = c + a ln(s) - b ln(1 - s): the logistic update has a = b, the
# intercept a = b = 1.

COEFFICIENTS = {"none": (), "intercept": ("intercept",), "logistic": ("intercept", "slope"), "beta": ("c", "a", "b")}
METHODS = ("auto", *COEFFICIENTS, "isotonic")
_FORMAT = "stakes-update-1"
_FEW_EVENTS = 100
_NARROW = 10.0  # times smaller than their level are p-values of rejections that are not narrow
_LEAST_FOLDS = 2
_ROWS_NEEDED = 20  # of each class
_WHOLE = 1e-6  # from a whole number of rows
_LARGEST = 1e100  # of a coefficient that is read: its product with a logarithm is finite


class _ScoreMap(NamedTuple):
    """One fitted map of probabilities; ``cuts`` and ``values`` are those of isotonic steps."""

    method: str
    c: float = 0.0
    a: float = 1.0
    b: float = 1.0
    cuts: Floats = np.empty(0)
    values: Floats = np.empty(0)

    @property
    def ends(self) -> tuple[float, float]:
        """New scores of 0 and of 1."""
        still = float(sigmoid(self.c))
        low = still if self.a == 0.0 else float(self.a < 0.0)
        return low, still if self.b == 0.0 else float(self.b > 0.0)

    def apply(self, score: Floats) -> Floats:
        """Map an array of probabilities."""
        if self.method == "none":
            return score
        if self.method == "isotonic":
            return np.asarray(self.values[np.searchsorted(self.cuts, score, side="left")])
        if self.method == "intercept":
            return shift_odds(score, math.exp(self.c))
        with np.errstate(invalid="ignore"):
            inside = self._curve(score)
        return np.where(score <= 0.0, self.ends[0], np.where(score >= 1.0, self.ends[1], inside))

    def expression(self, score: Any) -> Any:
        """Map an expression; NULL where an array would be refused."""
        return formulas.decided(self._inside(score), [score], within=(0.0, 1.0), kind=float)

    def _inside(self, score: Any) -> Any:
        if self.method == "none":
            return score
        if self.method == "isotonic":
            return formulas.by_level(score, self.cuts.tolist(), self.values.tolist())
        if self.method == "intercept":
            return score / ((1.0 - score) * (1.0 / math.exp(self.c)) + score)
        low, high = self.ends
        return formulas.choose(
            formulas.at_most(score, 0.0), low, formulas.choose(formulas.at_least(score, 1.0), high, self._curve(score))
        )

    def _curve(self, score: Any) -> Any:
        return _sigmoid(self.c + self.a * formulas.ln(score) - self.b * formulas.ln(1.0 - score))


def _sigmoid(logit: Any) -> Any:
    return 1.0 / (1.0 + formulas.exp(0.0 - logit))


# Fits of the map to a table of scores, and the tests between them.


@dataclass(frozen=True)
class UpdateTest:
    """A likelihood ratio test of a smaller update against a new intercept and slope.

    Parameters
    ----------
    hypothesis : {"original", "intercept"}
        What is tested: the scores as they are, or a new intercept alone.
    statistic : float
        Twice the gain in log likelihood, of weighted rows divided by the design effect.
    degrees : int
        Degrees of freedom.
    p_value : float
        Of chi-squared.

    Examples
    --------
    >>> from stakes.correction import update
    >>> y_true = [0, 0, 1, 0, 1, 1, 0, 1] * 10
    >>> update(y_true, [0.2, 0.4, 0.5, 0.6, 0.7, 0.9, 0.1, 0.3] * 10).tests[0].degrees
    2
    """

    hypothesis: str
    statistic: float
    degrees: int
    p_value: float


class _NotFittedError(ValueError):
    """The rows determine no update of the kind."""


class _FittedMap(NamedTuple):
    """A map, the values and the covariance of its coefficients, and the tests of smaller updates."""

    map: _ScoreMap
    values: Floats
    covariance: Floats
    tests: tuple[UpdateTest, ...]


_LARGEST_INTERCEPT = math.log(np.finfo(float).max)  # beyond, its factor of the odds overflows


def _fit(table: ScoreTable, method: str, alpha: float) -> _FittedMap:
    """Fit one method; "auto" takes the smallest update that the tests do not reject."""
    tests: tuple[UpdateTest, ...] = ()
    inside = table.scores[0] > 0.0 and table.scores[-1] < 1.0
    slope = fit_recalibration(table) if inside else None
    if slope is not None and not slope.status:
        tests = _tests(table, slope)
    if method == "auto":
        _require(table, slope, method)
        kept = [test.hypothesis for test in tests if test.p_value >= alpha]
        method = {"original": "none", "intercept": "intercept"}[kept[0]] if kept else "logistic"
    nothing = np.empty(0), np.empty((0, 0)), tests
    if method == "none":
        return _FittedMap(_ScoreMap("none"), *nothing)
    if method == "isotonic":
        return _FittedMap(_steps(table), *nothing)
    _require(table, slope, method)
    if method == "beta":
        return _beta(table, tests)
    fit = fit_recalibration(table, slope=1.0) if method == "intercept" or slope is None else slope
    if method == "intercept" and fit.intercept > _LARGEST_INTERCEPT:
        raise _NotFittedError(
            f"y_prob must lie nearer to the share of events, got scores exp({fit.intercept:.0f}) times too low: "
            'pass log-odds less a constant with logits=True, or method="isotonic".'
        )
    values = np.array([fit.intercept, fit.slope][: len(fit.covariance)])
    return _FittedMap(_ScoreMap(method, fit.intercept, fit.slope, fit.slope), values, sandwich(table, fit), tests)


def _require(table: ScoreTable, slope: LogisticFit | None, method: str) -> None:
    """Refuse rows that determine no finite coefficients."""
    asked = f"method={method!r}"
    if slope is None:
        outside = (table.scores <= 0.0) | (table.scores >= 1.0)
        found = float(table.scores[outside][0])
        raise _NotFittedError(
            f"y_prob must lie strictly between 0 and 1 for {asked}, got {found:g}: its log-odds are infinite. Pass "
            'method="isotonic"; where the model rounded it, pass its log-odds with logits=True.'
        )
    if slope.status and method != "intercept":
        why = "separates the classes of y_true" if math.isinf(slope.slope) else "must hold different scores"
        raise _NotFittedError(
            f'y_prob {why}, so that {asked} has no finite slope: pass method="intercept", or more rows in which '
            "scores of the two classes overlap."
        )
    if method == "beta" and len(table.scores) < len(COEFFICIENTS["beta"]):
        raise _NotFittedError(f"y_prob must hold at least 3 different scores for {asked}, got {len(table.scores)}.")


def _tests(table: ScoreTable, slope: LogisticFit) -> tuple[UpdateTest, ...]:
    """Likelihood ratios of the original scores and of a new intercept, both against a new intercept and slope."""
    intercept = fit_recalibration(table, slope=1.0)
    effects = design_effect(table, slope), float(sandwich(table, slope)[1, 1] / slope.covariance[1, 1])
    smaller = {"original": log_likelihood(table), "intercept": intercept.log_likelihood}
    found = []
    for degrees, effect, (name, likelihood) in zip((2, 1), effects, smaller.items(), strict=True):
        statistic = max(2.0 * (slope.log_likelihood - likelihood) / effect, 0.0)
        found.append(UpdateTest(name, statistic, degrees, chi2_tail(statistic, degrees)))
    return tuple(found)


def _steps(table: ScoreTable) -> _ScoreMap:
    """Isotonic event rates, cut midway between the scores at the ends of neighbouring blocks."""
    starts = table.pav_starts[1:-1]
    below, above = table.scores[starts - 1], table.scores[starts]
    middle = 0.5 * (below + above)
    return _ScoreMap("isotonic", cuts=np.where(middle < above, middle, below), values=table.pav_values)


def _beta(table: ScoreTable, tests: tuple[UpdateTest, ...]) -> _FittedMap:
    """Beta calibration: the largest likelihood with a, b >= 0, over which of them is zero."""
    design = np.column_stack([np.ones(len(table.scores)), np.log(table.scores), -np.log1p(-table.scores)])
    best, chosen = None, np.ones(3, dtype=bool)
    for used in product((True, False), repeat=2):
        free = np.array([True, *used])
        found = fit_logistic(design[:, free], table.positives, table.negatives)
        feasible = bool(np.all(found.coefficients[1:] >= 0.0))
        if feasible and (best is None or found.log_likelihood > best.log_likelihood):
            best, chosen = found, free
        if best is not None and all(used):
            break  # the maximum without bounds
    if best is None:  # the constant is always feasible
        raise _NotFittedError("y_prob and y_true determine no beta calibration.")
    values, covariance = np.zeros(3), np.full((3, 3), np.nan)
    values[chosen] = best.coefficients
    p, inverse = sigmoid(design @ values), np.asarray(np.linalg.inv(best.information), dtype=np.float64)
    covariance[np.ix_(chosen, chosen)] = robust_covariance(table, design[:, chosen], p, inverse)
    c, a, b = values.tolist()
    return _FittedMap(_ScoreMap("beta", c, a, b), values, covariance, tests)


# What the update saves on rows that it was not fitted to.


def _level_after_rejection(original: UpdateTest, level: float) -> float:
    """Level at which intervals hold a gain often enough among samples that rejected the original scores.

    Where nothing is to be gained, those are few, and errors must be as much rarer: by the power of the test, at the
    least noncentrality that a tenth of the errors leaves plausible.
    """
    from scipy.special import chdtri, chndtr, chndtrinc

    error, degrees = 1.0 - level, original.degrees
    narrow = original.p_value > error / _NARROW
    least = 0.0 if narrow else chndtrinc(original.statistic, degrees, 1.0 - error / _NARROW)
    power = 1.0 - chndtr(chdtri(degrees, error), degrees, least)
    return 1.0 - error * float(power)


def _gains(sample: BinarySample, fitted: _ScoreMap, request: _Request, level: float) -> tuple[Estimate, ...]:
    """Mean fall of each loss where every row is judged by a map fitted to the other folds."""
    order = validation.settled_order(sample.score, sample.y, sample.weight)
    rows = sample.arranged(order)
    # not stratified: fits to the other folds would then know the event rate of the fold left out
    fold = request.rng.permutation(len(rows.y)) % request.cv
    others = np.empty(len(rows.y))
    for k in range(request.cv):
        mine = fold == k
        try:
            found = _fit(ScoreTable.from_sample(rows.arranged(np.flatnonzero(~mine))), request.method, request.alpha)
        except _NotFittedError:
            return tuple(_undefined_gain(name, level) for name in request.losses)
        others[mine] = found.map.apply(rows.score[mine])
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    design, own = Design(rows.y, weight, fixed=request.fixed), fitted.apply(rows.score)
    gains = []
    for name, loss in request.losses.items():
        losses = tuple(loss(rows.y, score) for score in (rows.score, others, own))
        gains.append(_gain(name, losses, design, level))
    return tuple(gains)


def _gain(name: str, losses: tuple[Floats, ...], design: Design, level: float) -> Estimate:
    """Estimate the mean fall of a loss from losses before, by the fits to the other folds, and by the fit itself.

    With a fit that hardly moves the scores, the rows' falls are alike, and most of the error is that of the fit: for
    log loss and k coefficients (chi-squared_k - k) / n. The square of the optimism, k / n, allows for it.
    """
    before, after, own = losses
    with np.errstate(invalid="ignore"):
        saved = before - after
    if not np.all(np.isfinite(saved)):
        sign = float(np.isinf(before).any()) - float(np.isinf(after).any())
        value = math.copysign(math.inf, sign) if sign else math.nan
        note = "a score of 0 or 1 was wrong, which costs infinitely much"
        return Estimate(name, value, math.nan, (math.nan, math.nan), level, note)
    value, optimism = (float(np.average(each, weights=design.weight)) for each in (saved, after - own))
    variance, degrees, reason = design.variance_of(design.contributions(design.centred(saved)))
    moments = Moments(value, float(variance) + optimism**2, float(degrees), reason=reason)
    return Estimate(name, value, moments.standard_error, moments.interval(level), level, moments.note)


def _undefined_gain(name: str, level: float) -> Estimate:
    note = "the rows of some folds determine no update"
    return Estimate(name, math.nan, math.nan, (math.nan, math.nan), level, note)


def _log_loss(y: Bools, score: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.where(y, -np.log(score), -np.log1p(-score))


def _brier(y: Bools, score: Floats) -> Floats:
    return np.asarray((y - score) ** 2)


class _Request(NamedTuple):
    """The settings of :func:`update`, checked."""

    method: str
    level: float
    cv: int
    rng: np.random.Generator
    losses: dict[str, Any]
    fixed: bool

    @property
    def alpha(self) -> float:
        """Level of the tests."""
        return 1.0 - self.level


# The result.


@dataclass(frozen=True, eq=False, repr=False)
class ModelUpdate(Tabular):
    """A fitted update of a model's scores, the tests that chose it, and what it saves on other rows.

    Parameters
    ----------
    method : {"none", "intercept", "logistic", "isotonic", "beta"}
        What was fitted; "none" keeps the scores.
    requested : str
        What was asked for; with "auto" the tests chose ``method``.
    coefficients : tuple of Estimate
        "intercept" and "slope" of the log-odds, or "a", "b" and "c" of beta calibration; empty for the other methods.
    cuts, values : ndarray
        Of isotonic steps: scores up to ``cuts[k]``, and above the cut before, become ``values[k]``.
    tests : tuple of UpdateTest
        Empty where scores of exactly 0 or 1, or equal scores, leave no likelihood ratio.
    gains : tuple of Estimate
        What the update saves per row where each row is judged by a fit to the other folds, tests included: of
        "log_loss", "brier_score" and, if costs were given, "regret". 0 where the tests keep the scores.
    n_rows, n_events : int
        Rows it was fitted to, and positives among them.
    confidence_level : float
        Of the intervals; the tests' level is 1 less it.
    logits : bool
        Whether it takes log-odds. It returns probabilities.
    note : str
        What to know of the fit; empty if there is nothing to say.

    Examples
    --------
    >>> from stakes.correction import update
    >>> y_true = [0, 0, 1, 0, 1, 0, 0, 0] * 20
    >>> found = update(y_true, [0.4, 0.6, 0.7, 0.8, 0.9, 0.7, 0.2, 0.5] * 20, method="intercept")
    >>> found
    ModelUpdate(intercept -1.83 on the log-odds; 160 rows, 40 events; saves 0.304 of log loss)
    >>> found.predict([0.5, 0.9]).round(3).tolist()
    [0.139, 0.592]
    """

    method: str
    requested: str
    coefficients: tuple[Estimate, ...]
    cuts: Floats
    values: Floats
    tests: tuple[UpdateTest, ...]
    gains: tuple[Estimate, ...]
    n_rows: int
    n_events: int
    confidence_level: float
    logits: bool = False
    note: str = ""

    @property
    def _map(self) -> _ScoreMap:
        known = {each.metric: each.value for each in self.coefficients}
        if self.method == "beta":
            return _ScoreMap("beta", known["c"], known["a"], known["b"])
        slope = known.get("slope", 1.0)
        return _ScoreMap(self.method, known.get("intercept", 0.0), slope, slope, self.cuts, self.values)

    def predict(self, y_prob: ArrayLike) -> Any:
        """Update scores.

        Parameters
        ----------
        y_prob : array_like of shape (n,) or (n, 2)
            Scores of new rows, log-odds if it was fitted to such. An expression of narwhals, polars, SQL
            (:func:`stakes.tables.sql_column`) or ONNX gives an expression, NULL (NaN) where an array would raise.

        Returns
        -------
        ndarray of shape (n,)
            Probabilities. Expressions for "none", "intercept" and "isotonic" have the same bits; those for "logistic"
            and "beta", and all of log-odds, agree to 1e-12, as engines differ in the last bits of exp and ln.

        Raises
        ------
        ValueError
            For invalid scores.

        Examples
        --------
        >>> from stakes.correction import update
        >>> from stakes.tables import sql_column
        >>> found = update([0, 0, 1, 0, 1] * 20, [0.2, 0.6, 0.4, 0.5, 0.9] * 20, method="isotonic")
        >>> found.predict([0.1, 0.5, 0.9]).round(3).tolist()
        [0.0, 0.333, 1.0]
        """
        if formulas.is_expression(y_prob):
            values = formulas.widened(y_prob)
            if not self.logits:
                return self._map.expression(values)
            return formulas.decided(self._map.expression(_sigmoid(values)), [values], kind=float)
        column = formulas.positive_scores(y_prob)
        score = validation.check_scores(column, "y_prob", probability=not self.logits, logits=self.logits)
        return self._map.apply(np.asarray(score, dtype=np.float64))

    def to_sql(
        self, score: str, path: str | os.PathLike[str] | None = None, *, dialect: formulas.Dialect = "duckdb"
    ) -> str:
        """Return the update as an expression of plain SQL.

        Parameters
        ----------
        score : str
            Name of the column, of doubles.
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
        dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "sqlite"}, default "duckdb"
            Of the SQL. SQLite must be built with its mathematical functions for "logistic" and "beta".

        Returns
        -------
        str
            NULL where :meth:`predict` would raise.

        Raises
        ------
        ValueError
            For an unknown dialect.

        Examples
        --------
        >>> from stakes.correction import update
        >>> found = update([0, 0, 1, 0, 1] * 20, [0.2, 0.6, 0.4, 0.5, 0.9] * 20, method="none")
        >>> print(found.to_sql("risk"))
        CASE WHEN (((("risk" - "risk") <= CAST('0.0' AS DOUBLE)) AND ...) THEN "risk" END
        """
        return delivered(str(self.predict(formulas.sql_column(score, dialect))), path)  # type: ignore[arg-type]

    def to_onnx(self, score: str = "score", path: str | os.PathLike[str] | None = None) -> bytes:
        """Return the update as a model of ONNX.

        Parameters
        ----------
        score : str, default "score"
            Name of the input, of doubles.
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        bytes of an onnx.ModelProto
            Its output ``updated`` holds the scores of :meth:`predict`; NaN where that would raise.

        Raises
        ------
        ImportError
            If onnx is not installed (``pip install 'stakes[onnx]'``).

        Examples
        --------
        >>> from stakes.correction import update
        >>> found = update([0, 0, 1, 0, 1] * 20, [0.2, 0.6, 0.4, 0.5, 0.9] * 20, method="isotonic")
        >>> model = found.to_onnx("risk", "update.onnx")  # doctest: +SKIP
        """
        model: Any = self.predict(formulas.onnx_column(score))  # type: ignore[arg-type]
        return delivered(model.model("updated").SerializeToString(), path)

    def describe(self) -> str:
        """Return what was done and found, in a few sentences.

        Examples
        --------
        >>> from stakes.correction import update
        >>> found = update([0, 0, 1, 0, 1, 0, 0, 0] * 20, [0.4, 0.6, 0.7, 0.8, 0.9, 0.7, 0.2, 0.5] * 20)
        >>> print(found.describe().partition(".")[0])
        A new intercept and slope of the log-odds were fitted to 160 rows with 40 events
        """
        rows = f"{self.n_rows:,} rows with {self.n_events:,} events"
        what = {
            "none": f"The scores were kept as they are, after a look at {rows}.",
            "intercept": f"A new intercept of the log-odds was fitted to {rows}.",
            "logistic": f"A new intercept and slope of the log-odds were fitted to {rows}.",
            "beta": f"Beta calibration, logit = c + a ln(s) - b ln(1 - s), was fitted to {rows}.",
            "isotonic": f"Isotonic regression was fitted to {rows}: {len(self.values):,} steps.",
        }
        sentences = [what[self.method], *map(_coefficient_words, self.coefficients), *map(_test_words, self.tests)]
        if self.requested == "auto":
            sentences.append(f"The tests, at level {1.0 - self.confidence_level:.2g}, chose the method.")
        if self.method != "none":
            sentences.append(f"On other rows, per row: {'; '.join(map(_gain_words, self.gains))}.")
        return " ".join([*sentences, *([f"Note: {self.note}."] if self.note else [])])

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return everything as JSON that :meth:`from_json` reads.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes.correction import ModelUpdate, update
        >>> found = update([0, 0, 1, 0, 1] * 20, [0.2, 0.6, 0.4, 0.5, 0.9] * 20)
        >>> ModelUpdate.from_json(found.to_json()).predict([0.4]) == found.predict([0.4])
        array([ True])
        """
        facts = {name: getattr(self, name) for name in ("method", "requested", "logits", "confidence_level", "note")}
        content = {
            "format": _FORMAT,
            **facts,
            **{name: {each.metric: _kept(each) for each in getattr(self, name)} for name in ("coefficients", "gains")},
            "cuts": self.cuts.tolist(),
            "values": self.values.tolist(),
            "tests": {
                t.hypothesis: {"statistic": t.statistic, "degrees": t.degrees, "p_value": t.p_value} for t in self.tests
            },
            "n_rows": self.n_rows,
            "n_events": self.n_events,
        }
        return delivered(json.dumps(json_ready(content), indent=1), path)

    @classmethod
    def from_json(cls, text: str) -> ModelUpdate:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        ModelUpdate

        Raises
        ------
        ValueError
            For another format, or a damaged text, naming the first entry that is wrong.

        Examples
        --------
        >>> from stakes.correction import ModelUpdate
        >>> ModelUpdate.from_json("{}")
        Traceback (most recent call last):
        ...
        ValueError: text must be a model update of format 'stakes-update-1', got format None.
        """
        return _read(JsonReader.read(text, "model update", _FORMAT))

    def _records(self) -> list[dict[str, Any]]:
        every = (*self.coefficients, *(_renamed(gain) for gain in self.gains))
        return [{"quantity": each.pop("metric"), **each} for each in (e._records()[0] for e in every)]

    def __repr__(self) -> str:
        shown = ", ".join(f"{each.metric} {number(each.value)}" for each in self.coefficients)
        how = {"none": "the scores are kept", "isotonic": f"isotonic, {len(self.values):,} steps"}
        what = how.get(self.method, f"{shown} on the log-odds")
        saved = self.gains[0]
        gain = f"saves {number(saved.value)} of log loss" if math.isfinite(saved.value) else _gain_words(saved)
        gain = "" if self.method == "none" else f"; {gain}"
        return f"ModelUpdate({what}; {self.n_rows:,} rows, {self.n_events:,} events{gain})"


def _renamed(gain: Estimate) -> Estimate:
    return Estimate(f"gain in {gain.metric}", *list(vars(gain).values())[1:])


def _coefficient_words(each: Estimate) -> str:
    low, high = each.interval
    span = "" if math.isnan(low) else f" ({level_name(each.confidence_level)} interval {number(low)} to {number(high)})"
    return f"{each.metric.capitalize()}: {number(each.value)}{span}."


def _test_words(test: UpdateTest) -> str:
    what = {"original": "The original scores", "intercept": "A new intercept alone"}[test.hypothesis]
    statistic = f"likelihood ratio {number(test.statistic)}, {test.degrees} df"
    return f"{what} against a new intercept and slope: {statistic}, p {p_value(test.p_value)}."


def _gain_words(gain: Estimate) -> str:
    """Say by how much a loss falls or rises."""
    what = {"log_loss": "log loss", "brier_score": "Brier score"}.get(gain.metric, gain.metric)
    if not math.isfinite(gain.value):
        known = (
            "undefined" if math.isnan(gain.value) else "infinite with it" if gain.value < 0.0 else "infinite without it"
        )
        return f"{what} is {known}, as {gain.note}"
    sign, moves = (1.0, "falls") if gain.value >= 0.0 else (-1.0, "rises")
    low, high = sorted(sign * end for end in gain.interval)
    span = "" if math.isnan(low) else f" ({level_name(gain.confidence_level)} interval {number(low)} to {number(high)})"
    return f"{what} {moves} by {number(abs(gain.value))}{span}"


# The result as JSON: every entry is checked on reading.


def _kept(each: Estimate) -> dict[str, Any]:
    low, high = each.interval
    return {
        "value": each.value,
        "standard_error": each.standard_error,
        "ci_low": low,
        "ci_high": high,
        "note": each.note,
    }


def _read(entries: JsonReader) -> ModelUpdate:
    method, requested = entries.text("method"), entries.text("requested")
    if method not in METHODS[1:]:
        raise entries.broken("method", f"one of {', '.join(METHODS[1:])}, got {method!r}")
    if requested not in {"auto", method}:
        raise entries.broken("requested", f"'auto' or {method!r}, got {requested!r}")
    level = entries.number("confidence_level")
    if not 0.0 < level < 1.0:
        raise entries.broken("confidence_level", f"in (0, 1), got {level:g}")
    n_rows, n_events = entries.count("n_rows"), entries.count("n_events")
    if not 0 < n_events < n_rows:
        raise entries.broken("n_events", f"between 0 and n_rows, got {n_events}")
    coefficients = _read_coefficients(entries, method, level)
    gains = tuple(_read_estimate(entries.inside("gains"), name, level) for name in _names(entries, "gains"))
    if [gain.metric for gain in gains[:2]] != ["log_loss", "brier_score"] or len(gains) > 3:
        raise entries.broken("gains", "of log_loss, brier_score and at most one of costs")
    steps = _read_steps(entries, method)
    known: dict[str, Any] = {
        "n_rows": n_rows,
        "n_events": n_events,
        "confidence_level": level,
        "note": entries.text("note"),
    }
    logits, tests = entries.flag("logits"), _read_tests(entries)
    return ModelUpdate(method, requested, coefficients, *steps, tests, gains, **known, logits=logits)


def _names(entries: JsonReader, name: str) -> list[str]:
    return list(entries.inside(name).content)


def _read_coefficients(entries: JsonReader, method: str, level: float) -> tuple[Estimate, ...]:
    expected = list(COEFFICIENTS.get(method, ()))
    if _names(entries, "coefficients") != expected:
        raise entries.broken("coefficients", f"those of {method}: {', '.join(expected) or 'none'}")
    inside = entries.inside("coefficients")
    found = tuple(_read_estimate(inside, name, level) for name in expected)
    most = _LARGEST_INTERCEPT if method == "intercept" else _LARGEST
    for each in found:
        least = 0.0 if each.metric in {"a", "b"} else -most
        if not least <= each.value <= most:
            raise inside.broken(f"{each.metric}.value", f"from {least:g} to {most:g}, got {each.value:g}")
    return found


def _read_estimate(entries: JsonReader, name: str, level: float) -> Estimate:
    each = entries.inside(name)
    names = ("value", "standard_error", "ci_low", "ci_high")
    value, error, low, high = (math.nan if each.at(key) is None else each.number(key, infinite=True) for key in names)
    return Estimate(name, value, error, (low, high), level, each.text("note"))


def _read_steps(entries: JsonReader, method: str) -> tuple[Floats, Floats]:
    cuts, values = entries.numbers("cuts"), entries.numbers("values")
    wanted = len(cuts) + 1 if method == "isotonic" else 0
    if len(values) != wanted or (len(cuts) and method != "isotonic"):
        raise entries.broken("values", f"{wanted:,} numbers, got {len(values):,}")
    for name, column in (("cuts", cuts), ("values", values)):
        if np.any(np.diff(column) <= 0.0) or np.any((column < 0.0) | (column > 1.0)):
            raise entries.broken(name, "strictly increasing numbers in [0, 1]")
    return cuts, values


def _read_tests(entries: JsonReader) -> tuple[UpdateTest, ...]:
    names = _names(entries, "tests")
    if names not in ([], ["original", "intercept"]):
        raise entries.broken("tests", "empty, or of original and intercept")
    found = []
    for name in names:
        test = entries.inside("tests").inside(name)
        statistic, p = test.number("statistic"), test.number("p_value")
        if statistic < 0.0 or not 0.0 <= p <= 1.0:
            raise test.broken("p_value", "in [0, 1], with a statistic >= 0")
        found.append(UpdateTest(name, statistic, test.count("degrees"), p))
    return tuple(found)


# The function.


def update(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    cv: int = 10,
    costs: CostsLike | None = None,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> ModelUpdate:
    """Update a model's scores to the rows of a new place or time, by no more than the rows ask for.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Scores of the positive class as the model gives them.
    method : {"auto", "intercept", "logistic", "isotonic", "beta", "none"}, default "auto"
        "intercept" shifts the log-odds (recalibration in the large), "logistic" fits their intercept and slope,
        "beta" fits c + a ln(s) - b ln(1 - s) with a, b >= 0, "isotonic" non-decreasing steps. "auto" tests: it keeps
        the scores, or takes "intercept" or "logistic".
    sample_weight : array_like of shape (n,), optional
        Weights >= 0. Intervals and tests take them for sampling weights, not for repeated rows.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data. Intervals and tests take the shares
        as estimated from the rows, which makes them cautious; intervals of gains take them as known.
    logits : bool, default False
        Whether the scores are log-odds; beyond about 37 they round to a probability of 1.
    cv : int, default 10
        Folds of the gain, 2 to 20.
    costs : CostDistribution, tuple of float, or float, optional
        Cost ratios: the gain in regret per decision, as in :func:`stakes.evaluate`.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1); tests reject at 1 less it.
    random_state : int, numpy Generator or None, default 0
        For the folds.

    Returns
    -------
    ModelUpdate

    Raises
    ------
    ValueError
        For invalid data, fewer than 20 rows of a class (of weighted rows, their effective number), scores of exactly
        0 or 1 where log-odds are needed, scores that separate the classes, and outcomes whose weights are estimated.

    Notes
    -----
    "auto" is the closed test of Vergouwe and others (2017, doi:10.1002/sim.7179), reduced to what scores alone allow:
    the likelihood ratio of the original scores against a new intercept and slope (2 degrees of freedom); if that does
    not reject, the original is kept. Then a new intercept alone against intercept and slope (1 degree of freedom). The
    paper's last step, refitting the model's own coefficients, is not among the options: only scores are known.

    Likelihood ratios of weighted rows are divided by their design effect (Rao and Scott 1984). Gains repeat the whole
    procedure, tests included, without each fold in turn. The variance of their intervals is that of the rows plus the
    square of the optimism. Samples in which "auto" updates scores that are right look as if an update were needed: the
    level of its intervals is raised by the power that the test has at the least effect that its statistic leaves
    plausible. Simulated 95% intervals hold in 93 to 100% of samples, and in 97% of those.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.correction import apply_sampling, update
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(2, 5, 2000)
    >>> y = rng.random(2000) < p
    >>> update(y, p).method, update(y, apply_sampling(p, keep={0: 0.2})).method
    ('none', 'intercept')
    """
    validation.check_choice(method, "method", METHODS)
    data = _checked_rows(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
    fixed = prevalence is not None or (data.sample is None and data.table.fixed_prevalence)
    request = _request(method, confidence_level, cv, random_state, costs, fixed=fixed)
    sample = _rows(data)
    fit = _fit(data.table, method, request.alpha)
    if fit.map.method == "none":
        gains = tuple(Estimate(name, 0.0, 0.0, (0.0, 0.0), request.level) for name in request.losses)
    else:
        level = _level_after_rejection(fit.tests[0], request.level) if method == "auto" else request.level
        gains = tuple(replace(gain, confidence_level=request.level) for gain in _gains(sample, fit.map, request, level))
    z = NormalDist().inv_cdf(0.5 + request.level / 2.0)
    coefficients = []
    for name, value, error in zip(COEFFICIENTS.get(fit.map.method, ()), fit.values, _errors(fit), strict=True):
        note = "" if math.isfinite(error) else "at its bound 0, where it has no interval"
        span = float(value - z * error), float(value + z * error)
        coefficients.append(Estimate(name, float(value), error, span, request.level, note))
    rows = len(sample.y), int(np.count_nonzero(sample.y))
    steps = fit.map.cuts, fit.map.values
    known: dict[str, Any] = {"confidence_level": request.level, "logits": logits, "note": _note(fit, rows, request)}
    return ModelUpdate(fit.map.method, method, tuple(coefficients), *steps, fit.tests, gains, *rows, **known)


def _rows(data: EvaluationData) -> BinarySample:
    """The rows, or those that an unweighted table counts."""
    if data.sample is not None:
        return data.sample
    from stakes.inference import expanded_rows

    return expanded_rows(data)


def _errors(fit: _FittedMap) -> list[float]:
    return [math.sqrt(each) for each in np.diag(fit.covariance)]


def _checked_rows(
    y_true: Any, y_prob: Any, sample_weight: Any, pos_label: object, prevalence: float | None, *, logits: bool
) -> EvaluationData:
    """Validate the rows, and refuse too few of a class."""
    if getattr(y_true, "estimated_weights", False) or getattr(y_true, "estimated", False):
        raise ValueError(
            f"update takes weights as known, and those of {type(y_true).__name__} are estimated: its errors would be "
            "wrong. Pass the labels of the rows whose class is known, with sample_weight= (1 / probability of being "
            "known), and read the coefficients without their intervals."
        )
    how: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    formulas.refuse_first_column(y_true, y_prob, pos_label, "y_prob")
    data = evaluation_data(y_true, y_prob, **how, logits=logits)
    table = data.table
    for name in ("positives", "negatives"):
        weight, squared = getattr(table, name).sum(), getattr(table, f"{name}_squared").sum()
        rows = float(weight * (weight / squared)) if squared > 0.0 else 0.0
        if rows < _ROWS_NEEDED - _WHOLE:
            kind = "" if abs(rows - round(rows)) < _WHOLE else " effective"
            raise ValueError(
                f"y_true must hold at least {_ROWS_NEEDED}{kind} {name} to update a model, got {rows:.6g} of "
                f"{table.n_rows:,} rows."
            )
    return data


def _request(method: str, level: float, cv: Any, random_state: Any, costs: Any, *, fixed: bool) -> _Request:
    folds = validation.check_whole(cv, "cv", _LEAST_FOLDS)
    if folds > _ROWS_NEEDED:
        raise ValueError(f"cv must be a whole number from {_LEAST_FOLDS} to {_ROWS_NEEDED}, got {cv!r}.")
    losses: dict[str, Any] = {"log_loss": _log_loss, "brier_score": _brier}
    if costs is not None:
        ratios = as_costs(costs)
        scale, factor = check_scale(None, ratios)
        losses[scale] = lambda y, score: factor * row_losses(y, score, ratios, "score")
    return _Request(method, validation.check_level(level), folds, validation.generator(random_state), losses, fixed)


def _note(fit: _FittedMap, rows: tuple[int, int], request: _Request) -> str:
    said = []
    fewest = min(rows[1], rows[0] - rows[1])
    if fewest < _FEW_EVENTS:
        said.append(f"the rarer class has {fewest} rows, fewer than the {_FEW_EVENTS} that a validation should have")
    if request.method == "auto" and fit.map.method != "none" and fit.tests[0].p_value > request.alpha / _NARROW:
        said.append(
            "the original scores are rejected narrowly: the intervals of the gains are wider, to allow for that"
        )
    if fit.map.method == "logistic" and fit.map.a < 0.0:
        said.append("the slope is negative: higher scores go with fewer events, so check that they are not inverted")
    if fit.map.method == "isotonic" and (fit.map.values[0] == 0.0 or fit.map.values[-1] == 1.0):
        said.append("the lowest or highest step is exactly 0 or 1, which a log loss cannot forgive")
    return "; ".join(said)


# The shares of the classes in a new population, estimated from unlabelled probabilities.

_EM_STEPS = 20
_RIDGE = 1e-13
_HALVINGS = 60
_LEAST_GAP = 1e-14
_INSIDE = 1e-3  # least share that a maximisation starts from


@dataclass(frozen=True, eq=False, repr=False)
class PriorEstimate(Tabular):
    """Estimated shares of the classes, and how far they are to be believed.

    Parameters
    ----------
    prior : float or ndarray of shape (K,)
        Share of positives, or of every class.
    ci_low, ci_high : float or ndarray of shape (K,)
        Interval: the shares that a likelihood-ratio test does not reject; nan with ``n_resamples=0``.
    log_likelihood_gain : float
        By how much the log likelihood exceeds that of the old shares, of weighted rows divided by the design effect.
    p_value : float
        Likelihood-ratio test that the shares have not changed.
    gap : float
        Bound on what a better optimum could add to the mean log likelihood, 1e-14 or more.
    converged : bool
        Whether the gap fell below the tolerance.
    n_iterations : int
        Steps taken, of expectation-maximisation and of Newton's method together.
    at_boundary : bool
        Whether a class has share zero: the interval and p-value are then approximate.
    confidence_level : float
        Of the interval.
    n_resamples : int
        As asked for: 0 for no interval.

    Examples
    --------
    >>> from stakes.correction import estimate_prior
    >>> estimate_prior([0.2, 0.4, 0.7, 0.9, 0.6], training_prior=0.3, n_resamples=0).converged
    True
    """

    prior: Any
    ci_low: Any
    ci_high: Any
    log_likelihood_gain: float
    p_value: float
    gap: float
    converged: bool
    n_iterations: int
    at_boundary: bool
    confidence_level: float
    n_resamples: int

    @property
    def interval(self) -> tuple[Any, Any]:
        """Interval of ``prior``: two numbers, or two arrays by class."""
        return self.ci_low, self.ci_high

    def _records(self) -> list[dict[str, Any]]:
        columns = (np.atleast_1d(value).tolist() for value in (self.prior, self.ci_low, self.ci_high))
        rows = list(zip(*columns, strict=True))
        first = 1 if len(rows) == 1 else 0
        return [
            {"class": k, "prior": prior, "ci_low": low, "ci_high": high}
            for k, (prior, low, high) in enumerate(rows, start=first)
        ]

    def __repr__(self) -> str:
        shown = np.array2string(np.asarray(self.prior), precision=4, separator=", ")
        state = "converged" if self.converged else f"NOT converged, gap {self.gap:.2g}"
        span = ""
        if self.n_resamples and np.ndim(self.prior) == 0:
            span = f", {level_name(self.confidence_level)} interval {self.ci_low:.4g} to {self.ci_high:.4g}"
        return f"PriorEstimate({shown}{span}, {state}, test of no shift: p = {self.p_value:.3g})"


def estimate_prior(
    y_prob: ArrayLike,
    *,
    training_prior: float | Mapping[Any, float] | ArrayLike,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_resamples: int = 200,
    confidence_level: float = 0.95,
    tolerance: float = 1e-10,
    max_iterations: int = 500,
) -> PriorEstimate:
    """Estimate the shares of the classes in a new population from probabilities alone, without labels.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Probabilities for rows of the new population, right where the classes have the shares ``training_prior``. Undo
        class weights and sampling first.
    training_prior : float, mapping of label to share, or array_like of shape (K,)
        Share of positives, or of every class, in the population that the probabilities are right for.
    labels : array_like of shape (K,), optional
        The classes in the order of the columns, where ``training_prior`` is a mapping.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    n_resamples : int, default 200
        0 for no interval, which takes longer with many classes. Other numbers are alike: nothing is resampled.
    confidence_level : float, default 0.95
        Of the interval, at least 0.5 and less than 1.
    tolerance : float, default 1e-10
        Bound on what a better optimum could add to the mean log likelihood, 1e-14 or more.
    max_iterations : int, default 500
        Steps at most; ``converged`` says whether they sufficed.

    Returns
    -------
    PriorEstimate

    Raises
    ------
    ValueError
        For invalid probabilities, shares or settings.

    Notes
    -----
    Saerens, Latinne and Decaestecker (2002): expectation-maximisation of the concave likelihood
    sum_i log sum_y g_iy prior_y / training_prior_y. Its first steps are followed by sequential quadratic programming
    (Kim, Carbonetto, Stephens and Anitescu 2020), which ends in the same maximum and does not creep. A class may get
    share 0.

    The interval of a share holds what a likelihood-ratio test does not reject, with the other shares free: of two
    classes it holds ``training_prior`` where ``p_value`` is at least 1 - ``confidence_level``, and it has a width where
    the estimate is 0. It takes the probabilities as right: it does not cover a model's errors.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.correction import estimate_prior
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(2, 5, 4000)  # right where 2/7 of the cases are positive
    >>> y = rng.random(4000) < p
    >>> fewer = rng.random(4000) < np.where(y, 0.3, 1.0)  # positives are rarer here, and not otherwise different
    >>> estimate = estimate_prior(p[fewer], training_prior=2 / 7)
    >>> bool(estimate.ci_low < y[fewer].mean() < estimate.ci_high)
    True
    """
    validation.check_same_order(y_prob=y_prob, sample_weight=sample_weight)
    n_resamples = validation.check_whole(n_resamples, "n_resamples")
    stop = validation.check_number(tolerance, "tolerance"), validation.check_whole(max_iterations, "max_iterations")
    if not stop[0] >= _LEAST_GAP:
        raise ValueError(f"tolerance must be {_LEAST_GAP:g} or more, as rounding hides a smaller gap, got {tolerance}.")
    level = validation.check_level(confidence_level)
    scores = read_scores(y_prob)
    binary = scores.values.ndim == 1
    rows = np.column_stack([1.0 - scores.values, scores.values]) if binary else scores.values
    before = classes_of(scores, labels).prior(training_prior, "training_prior")
    if before.min() < validation.SQUARED_WELL[0]:  # rows are divided by it
        rule = f"training_prior must give every class a share of at least {validation.SQUARED_WELL[0]:g}"
        raise ValueError(f"{rule}, got {training_prior!r}.")
    weight = validation.check_weights(sample_weight, len(rows))
    if weight is not None:
        rows, weight = rows[weight > 0.0], weight[weight > 0.0]
    order = validation.settled_order(*rows.T, weight)
    density, share = rows[order] / before, np.ones(len(rows)) if weight is None else weight[order]
    best, gap, steps = _maximise(density, share, before, stop)
    ends = np.full((len(before), 2), np.nan)
    for k in range(int(binary), len(before)) if n_resamples else ():
        ends[k] = _share_interval(density, share, best, k, level=level, stop=stop)
    prior, low, high = (float(values[1]) if binary else values for values in (best, *ends.T))
    size = share.sum() / (1.0 if weight is None else _prior_effect(density[:, 1:] - density[:, :1], share))
    gain = size * (_mean_log(density @ best, share) - _mean_log(density @ before, share))
    p_value, at_boundary = chi2_tail(2.0 * gain, len(before) - 1), bool(np.any(best <= 0.0))
    fit = (gain, p_value, gap, gap <= stop[0], steps, at_boundary)
    return PriorEstimate(prior, low, high, *fit, level, n_resamples)


def _prior_effect(slope: Floats, share: Floats) -> float:
    """Mean factor by which weights inflate the variance of shares, from slopes of the log mixture (Rao, Scott 1984)."""
    information, meat = (slope.T @ (slope * weight[:, None]) for weight in (share, share**2))
    effect = float(np.trace(np.linalg.lstsq(information, meat, rcond=None)[0])) / slope.shape[1]
    return effect or 1.0


def _share_interval(
    density: Floats, share: Floats, best: Floats, k: int, *, level: float, stop: tuple[float, int]
) -> tuple[float, float]:
    """Ends of the shares of class k that a likelihood-ratio test with free shares of the others does not reject."""
    from scipy.optimize import brentq

    value, top = float(best[k]), _mean_log(density @ best, share)
    start, others = np.maximum(np.delete(best, k), _INSIDE), np.delete(density, k, axis=1)
    limit = -NormalDist().inv_cdf((1.0 - level) / 2.0)

    @cache
    def excess(fixed: float) -> float:
        """By how much the root of the statistic, nearly linear in the share, exceeds its limit."""
        parts = fixed * density[:, [k]] + (1.0 - fixed) * others
        ruled_out = bool(parts.max(axis=1).min() < validation.SQUARED_WELL[0])  # by some row
        if fixed == value or ruled_out:
            return -limit if fixed == value else limit
        free, _, _ = _maximise(parts, share, start, stop, em_steps=0)
        size = share.sum() / (1.0 if np.all(share == 1.0) else _free_effect(density[:, k], others, free, fixed, share))
        return math.sqrt(2.0 * size * max(top - _mean_log(parts @ free, share), 0.0)) - limit

    low, high = (end if excess(end) <= 0.0 else float(brentq(excess, end, value)) for end in (0.0, 1.0))
    return low, high


def _free_effect(own: Floats, others: Floats, free: Floats, fixed: float, share: Floats) -> float:
    """Factor by which weights inflate the variance of one share where the others are free."""
    rest, root = others @ free, np.sqrt(share)
    slopes = np.column_stack([own, others[:, free > 0.0]]) - rest[:, None]
    slopes *= (root / (fixed * own + (1.0 - fixed) * rest))[:, None]
    slope = slopes[:, 0] - slopes[:, 1:] @ np.linalg.lstsq(slopes[:, 1:], slopes[:, 0], rcond=None)[0]
    return _prior_effect((slope / root)[:, None], share)


def _maximise(
    density: Floats, share: Floats, start: Floats, stop: tuple[float, int], *, em_steps: int = _EM_STEPS
) -> tuple[Floats, float, int]:
    """Maximise the mean log of the mixture over the shares of its components; return them, their gap and the steps."""
    tolerance, max_steps = stop
    share = share / share.sum()
    prior = start / start.sum()
    gap, steps, settled = math.inf, 0, False
    while steps < max_steps:
        mixture = density @ prior
        gradient = (share / mixture) @ density
        # by concavity no share can gain more than this
        gap = float(gradient.max()) - 1.0
        if gap <= tolerance and settled:
            break
        # expectation-maximisation never reaches a share of exactly zero, Newton's step does
        settled = steps >= em_steps or gap <= tolerance
        prior = _newton(density, share, prior, mixture, gradient) if settled else prior * gradient
        prior = prior / prior.sum()
        steps += 1
    return prior, max(gap, 0.0), steps


def _newton(density: Floats, share: Floats, prior: Floats, mixture: Floats, gradient: Floats) -> Floats:
    """One Newton step under non-negativity, halved until the likelihood increases."""
    from scipy.optimize import nnls

    scaled = density * (np.sqrt(share) / mixture)[:, None]
    hessian = scaled.T @ scaled
    hessian[np.diag_indices_from(hessian)] += _RIDGE * np.trace(hessian)
    root = np.linalg.cholesky(hessian)
    # the total share enters through its multiplier, which is 1
    target, _ = nnls(root.T, np.linalg.solve(root, hessian @ prior + gradient - 1.0))
    # near the maximum a step adds less than rounding takes away
    before = _mean_log(mixture, share) - prior.sum() - _LEAST_GAP
    for _ in range(_HALVINGS):
        if target.sum() > 0.0:
            after = density @ target
            if np.all(after > 0.0) and _mean_log(after, share) - target.sum() >= before:
                return np.asarray(target)
        target = 0.5 * (target + prior)
    return prior * gradient


def _mean_log(mixture: Floats, share: Floats) -> float:
    return float(np.dot(np.log(mixture), share) / share.sum())
