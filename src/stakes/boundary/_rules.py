"""Regions of score and uncertainty, learned rankings, and isotonic calibration by uncertainty."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.formulas import (
    by_level,
    check_missing,
    decide_present,
    decided,
    is_expression,
    reaching,
    rounded,
    widened,
)
from stakes.base.numerics import fit_logistic, sigmoid
from stakes.base.validation import Bools, Floats, to_floats
from stakes.boundary import _problem
from stakes.boundary._problem import Ints, SortedLevel
from stakes.outputs.result_table import Tabular
from stakes.outputs.serialization import JsonReader

Integers = NDArray[np.int64]


# A learned ranking by score and uncertainty: logistic regression on [z, z^2, v, v z, v^2].
#
# z is the log-odds of the score (or the standardised score where it is no probability), v the rank of the
# uncertainty, in steps from one quantile to the next, so that at each of them the order is one of the score alone.
# The ranking only decides which regions are tested: no guarantee depends on the model.

N_COEFFICIENTS = 6
_WITHOUT_UNCERTAINTY = 3  # the first of them
_EDGE = 1e-6  # keeps the log-odds of scores 0 and 1 finite, and their order
_KNOTS = 101
_RIDGE = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Ranker:
    """Coefficients, and the transformations of score and uncertainty to z and v."""

    coefficients: Floats
    log_odds: bool
    centre: float
    scale: float
    knots: Floats
    ranks: Floats

    @classmethod
    def fit(cls, y: Bools, score: Floats, uncertainty: Floats, weight: Ints | None = None) -> Ranker:
        """Fit by Newton's method with a small ridge penalty; a row of weight k counts as k rows."""
        log_odds = bool(score.min() >= 0.0 and score.max() <= 1.0)
        z = _log_odds(score) if log_odds else score
        power = int(np.frexp(np.abs(z).max())[1])  # below 1 by a power of two, where squares do not overflow
        below_one = np.ldexp(z, -power)
        mean = np.average(below_one, weights=weight)
        centre = float(np.ldexp(mean, power))
        spread = float(np.ldexp(np.sqrt(np.average((below_one - mean) ** 2, weights=weight)), power))
        knots, ranks = _rank_scale(uncertainty, weight)
        model = cls(np.zeros(N_COEFFICIENTS), log_odds, centre, spread if spread > 0.0 else 1.0, knots, ranks)
        design = np.column_stack(model._columns(score, uncertainty))
        count = np.ones(len(y)) if weight is None else weight.astype(np.float64)
        return replace(model, coefficients=fit_logistic(design, count * y, count * ~y, ridge=_RIDGE).coefficients)

    def rank(self, score: Floats, uncertainty: Floats) -> Floats:
        """Estimate the probability of a positive."""
        return np.asarray(sigmoid(self.log_odds_of(score, uncertainty)))

    def log_odds_of(self, score: Floats, uncertainty: Floats) -> Floats:
        """Estimate the log-odds of a positive."""
        # column by column: a matrix product may round a row differently in another batch, and ties meet thresholds
        columns = self._columns(score, uncertainty)
        return np.asarray(sum(c * column for c, column in zip(self.coefficients, columns, strict=True)))

    def bearing_of_uncertainty(self, y: Bools, score: Floats, uncertainty: Floats) -> float:
        """Likelihood-ratio statistic of the terms in the uncertainty: chi-square, 3 degrees of freedom, without any."""
        design, counts = (
            np.column_stack(self._columns(score, uncertainty)),
            (y.astype(np.float64), (~y).astype(np.float64)),
        )
        without, whole = (
            fit_logistic(design[:, :k], *counts, start=self.coefficients[:k], ridge=_RIDGE).log_likelihood
            for k in (_WITHOUT_UNCERTAINTY, N_COEFFICIENTS)
        )
        return 2.0 * (whole - without)

    def level(self, uncertainty: Floats) -> NDArray[np.intp]:
        """Index of the first quantile >= the uncertainty; the last one beyond it."""
        return np.minimum(np.searchsorted(self.knots, uncertainty, side="left"), len(self.knots) - 1)

    def score_at(self, z: Floats) -> Floats:
        """Invert z: the score with this z, up to rounding."""
        place = self.centre + z * self.scale
        if not self.log_odds:
            return place
        return np.asarray(sigmoid(place) * (1.0 + 2.0 * _EDGE) - _EDGE)

    def standardised(self, score: Floats) -> Floats:
        """Return z, the standardised log-odds of the score, or the standardised score."""
        return np.asarray(((_log_odds(score) if self.log_odds else score) - self.centre) / self.scale)

    def _columns(self, score: Floats, uncertainty: Floats) -> list[Floats]:
        z = self.standardised(score)
        v = self.ranks[self.level(uncertainty)]
        return [np.ones_like(z), z, z * z, v, v * z, v * v]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}

    @classmethod
    def read(cls, described: JsonReader) -> Ranker:
        """Read the result of :meth:`to_dict` from an untrusted source."""
        arrays = {name: described.numbers(name) for name in ("coefficients", "knots", "ranks")}
        if len(arrays["coefficients"]) != N_COEFFICIENTS:
            raise described.broken("coefficients", f"{N_COEFFICIENTS} numbers")
        if not len(arrays["knots"]) or np.any(np.diff(arrays["knots"]) <= 0.0):
            raise described.broken("knots", "one or more numbers, strictly increasing")
        if len(arrays["ranks"]) != len(arrays["knots"]):
            raise described.broken("ranks", f"{len(arrays['knots'])} numbers, as knots are")
        centre, scale = described.number("centre"), described.number("scale")
        if scale <= 0.0:
            raise described.broken("scale", f"above 0, got {scale}")
        return cls(log_odds=described.flag("log_odds"), centre=centre, scale=scale, **arrays)


def _log_odds(score: Floats) -> Floats:
    """Log-odds of scores in [0, 1], finite at the ends; scores outside are clipped."""
    share = np.clip(score, 0.0, 1.0)
    return np.asarray(np.log((share + _EDGE) / (1.0 - share + _EDGE)))


def _rank_scale(uncertainty: Floats, weight: Ints | None) -> tuple[Floats, Floats]:
    """Quantiles of the uncertainty and their relative midranks."""
    order = np.argsort(uncertainty, kind="stable")
    ordered = uncertainty[order]
    below = np.arange(len(order) + 1) if weight is None else np.r_[0, np.cumsum(weight[order])]
    places = np.linspace(0, below[-1] - 1, _KNOTS).astype(np.int64)
    knots = np.unique(ordered[np.searchsorted(below[1:], places, side="right")])
    around = below[np.searchsorted(ordered, knots, "left")] + below[np.searchsorted(ordered, knots, "right")]
    return knots, around / (2 * below[-1])


# Isotonic calibration by level of uncertainty: equal scores may have unequal rates of positives.


_CALIBRATION_FORMAT = "stakes-uncertainty-calibration-1"


@dataclass(frozen=True, eq=False, repr=False)
class UncertaintyCalibration(Tabular):
    """Calibrated probabilities by level of uncertainty.

    Made by :func:`uncertainty_calibrate`.

    Parameters
    ----------
    cuts : ndarray
        Between the levels; a level includes its upper cut.
    scores, values : tuple of ndarray
        For each level the lowest score of each block, ascending, and the rate of positives of the block. A score below
        the first takes the first value.

    Examples
    --------
    >>> from stakes.boundary import uncertainty_calibrate
    >>> calibration = uncertainty_calibrate([0, 1, 0, 0], [0.2, 0.9, 0.2, 0.9], [0, 0, 1, 1], levels=2)
    >>> calibration.predict([0.9, 0.9], [0, 1]).tolist()
    [1.0, 0.0]
    """

    cuts: Floats
    scores: tuple[Floats, ...]
    values: tuple[Floats, ...]

    def predict(self, score: ArrayLike, uncertainty: ArrayLike) -> Floats:
        """Probability of a positive.

        Parameters
        ----------
        score, uncertainty : array_like of shape (n,)
            Rows.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            For unequal lengths and values that are not finite.

        Examples
        --------
        >>> from stakes.boundary import uncertainty_calibrate
        >>> uncertainty_calibrate([0, 1], [0.3, 0.6], [1, 1]).predict([0.1, 0.7], [1, 1]).tolist()
        [0.0, 1.0]
        """
        given = _problem.read_covariates(score, uncertainty)
        clean, u = _problem.finite_covariates(**given)
        out = np.full(len(clean), math.nan)
        level = _problem.level_of(rounded(self.cuts, given["uncertainty"]), u)
        for k, (scores, values) in enumerate(zip(self.scores, self.values, strict=True)):
            rows = level == k
            if len(scores):
                out[rows] = values[
                    np.maximum(np.searchsorted(rounded(scores, given["score"]), clean[rows], side="right") - 1, 0)
                ]
        return out

    def _records(self) -> list[dict[str, Any]]:
        ends = np.r_[self.cuts, np.inf]
        return [
            {"level": k, "uncertainty_up_to": float(ends[k]), "score": score, "probability": value}
            for k, (scores, values) in enumerate(zip(self.scores, self.values, strict=True))
            for score, value in zip(scores.tolist(), values.tolist(), strict=True)
        ]

    def _content(self) -> dict[str, Any]:
        level = np.repeat(np.arange(len(self.scores)), [len(scores) for scores in self.scores])
        columns = {"level": level, "score": np.concatenate(self.scores), "probability": np.concatenate(self.values)}
        plain = {name: values.tolist() for name, values in {"cuts": self.cuts, **columns}.items()}
        return {"format": _CALIBRATION_FORMAT, **plain}

    @classmethod
    def from_json(cls, text: str) -> UncertaintyCalibration:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        UncertaintyCalibration

        Raises
        ------
        ValueError
            For another format, or entries that contradict each other.

        Examples
        --------
        >>> from stakes.boundary import UncertaintyCalibration, uncertainty_calibrate
        >>> text = uncertainty_calibrate([0, 1], [0.3, 0.6], [1, 1]).to_json()
        >>> UncertaintyCalibration.from_json(text).predict([0.1, 0.7], [1, 1]).tolist()
        [0.0, 1.0]
        """
        entries = JsonReader.read(text, "calibration", _CALIBRATION_FORMAT)
        cuts, level, score, probability = map(entries.numbers, ("cuts", "level", "score", "probability"))
        if np.any(np.diff(cuts) <= 0.0):
            raise entries.broken("cuts", "ascending")
        if not len(level) == len(score) == len(probability):
            raise entries.broken("score", "as long as level and probability")
        if np.any(level != np.floor(level)) or np.any((level < 0) | (level > len(cuts))) or np.any(np.diff(level) < 0):
            raise entries.broken("level", f"ascending whole numbers from 0 to {len(cuts)}")
        same = np.diff(level) == 0.0
        if np.any(np.diff(score)[same] <= 0.0):
            raise entries.broken("score", "ascending in each level")
        if np.any((probability < 0.0) | (probability > 1.0)) or np.any(np.diff(probability)[same] < 0.0):
            raise entries.broken("probability", "in [0, 1], and ascending in each level")
        mine = [level == k for k in range(len(cuts) + 1)]
        return cls(cuts, tuple(score[rows] for rows in mine), tuple(probability[rows] for rows in mine))

    def __repr__(self) -> str:
        return f"UncertaintyCalibration({len(self.scores)} levels, {sum(map(len, self.scores))} blocks)"


def uncertainty_calibrate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    uncertainty: ArrayLike,
    *,
    levels: int | ArrayLike = 3,
    binning: Literal["equal_weight", "equal_span"] = "equal_weight",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> UncertaintyCalibration:
    """Estimate how probable a positive is at each score, given how uncertain the score is.

    Parameters
    ----------
    y_true, y_score, uncertainty : array_like of shape (n,)
        As in :func:`fit_boundary`.
    levels, sample_weight, pos_label
        As in :func:`fit_boundary`.
    binning : {"equal_weight", "equal_span"}, default "equal_weight"
        How the uncertainty is cut into levels.

    Returns
    -------
    UncertaintyCalibration

    Raises
    ------
    ValueError
        For invalid arguments, and where given cuts leave a level without rows.

    Notes
    -----
    The isotonic fit of each level, ties pooled first: the calibrator within the boundary solver "isotonic".

    Examples
    --------
    >>> from stakes.boundary import uncertainty_calibrate
    >>> uncertainty_calibrate([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], [1, 1, 1, 1]).values[0].tolist()
    [0.0, 0.5, 1.0]
    """
    _problem.check_binning(binning, None)
    clean = _problem.check_levels(levels)
    rows = _problem.check_rows(y_true, y_score, uncertainty, sample_weight=sample_weight, pos_label=pos_label)
    cuts = _problem.level_cuts(rows, clean, binning)
    fits = [_fit_level(level, k) for k, level in enumerate(_problem.sorted_levels(rows, cuts))]
    return UncertaintyCalibration(cuts, tuple(fit[0] for fit in fits), tuple(fit[1] for fit in fits))


def _fit_level(level: SortedLevel, k: int) -> tuple[Floats, Floats]:
    from scipy.optimize import isotonic_regression

    if not len(level.score):
        raise ValueError(f"every level must hold rows, got none in level {k}: pass other cuts in levels=.")
    last = np.append(np.flatnonzero(level.score[1:] != level.score[:-1]), len(level.score) - 1)
    ups = np.diff(level.positives[last], prepend=0)[::-1]
    totals = np.diff(level.totals[last], prepend=0)[::-1]
    scores = level.score[last][::-1]
    fit = isotonic_regression(ups / totals, weights=totals.astype(np.float64))
    starts = np.asarray(fit.blocks[:-1])
    return scores[starts], np.add.reduceat(ups, starts) / np.add.reduceat(totals, starts)


# A learned ranking at a threshold, as scores: the ends of the region at each quantile of the uncertainty.
#
# At a fixed uncertainty the order is a logistic function of a quadratic in a rising function of the score, so the
# region is a half line, an interval, or what an interval leaves. Its ends are found among all doubles by halving.

TIED = 1e-13  # values this close differ by rounding, and a row at the threshold belongs to the region
_FARTHEST = 1e100  # in standardised scores; the quadratic has turned long before
_LARGEST = 2.0**1022  # in scores; twice as much is no double


def steps_of(ranker: Ranker, threshold: float) -> Floats:
    """Scores a <= b <= c for each quantile of the uncertainty: inside where a <= score < b, and from c on."""
    n = len(ranker.knots)
    if math.isinf(threshold):
        return np.tile([-np.inf, -np.inf, threshold], (n, 1))
    limit = threshold * (1.0 - TIED)

    def inside(score: Floats) -> NDArray[np.bool_]:
        return np.asarray(ranker.rank(score, ranker.knots) >= limit)

    low, high = (np.full(n, end) for end in _ends(ranker))
    turn = np.clip(_turning_points(ranker), low, high)
    at_low, at_turn, at_high = inside(low), inside(turn), inside(high)
    first = _first_change(inside, low, turn)
    second = _first_change(inside, turn, high)
    falls, rises = at_low & ~at_turn, ~at_low & at_turn
    down, up = at_turn & ~at_high, ~at_turn & at_high
    begins = np.where(rises, first, np.where(at_low, -np.inf, np.inf))
    ends = np.where(falls, first, np.where(down, second, np.inf))
    found = np.empty((n, 3))
    held = at_turn & at_high  # the region that holds the turn goes on for ever: it is the second one
    alone = held | (begins == np.inf)
    found[:, 0] = np.where(alone, -np.inf, begins)
    found[:, 1] = np.where(alone, -np.inf, ends)
    found[:, 2] = np.where(held, begins, np.where(up, second, np.inf))
    return found


def joined(values: Floats) -> Floats:
    """Replace values of a ranker that no threshold tells apart from their neighbours by the least of them."""
    order = np.argsort(-values)
    falling = values[order]
    starts = np.append(True, falling[1:] < falling[:-1] * (1.0 - 2.0 * TIED))
    least = np.minimum.reduceat(falling, np.flatnonzero(starts))
    found = np.empty_like(values)
    found[order] = least[np.cumsum(starts) - 1]
    return found


def _ends(ranker: Ranker) -> tuple[float, float]:
    """Scores beyond which the ranking is constant."""
    if ranker.log_odds:
        return 0.0, 1.0
    reach = min(ranker.scale * _FARTHEST, _LARGEST)
    return ranker.centre - reach, ranker.centre + reach


def _turning_points(ranker: Ranker) -> Floats:
    """Scores at the vertex of each quantile's quadratic, up to rounding; minus infinity if there is none."""
    _, linear, square, _, crossed, _ = ranker.coefficients
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        score = ranker.score_at(-(linear + crossed * ranker.ranks) / (2.0 * square))
    return np.where(np.isnan(score), -np.inf, score)


def _first_change(inside: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    """Find, by bisection, the smallest double in (low, high] where the condition differs from that at ``low``."""
    at_low = inside(low)
    left, right = _as_integers(low), _as_integers(high)
    while np.any(left + 1 < right):
        middle = (left >> 1) + (right >> 1) + (left & right & 1)
        same = inside(_as_doubles(middle)) == at_low
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return _as_doubles(right)


def _as_integers(values: Floats) -> Integers:
    """Map doubles to integers in the same order."""
    bits = (values + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _as_doubles(numbers: Integers) -> Floats:
    return np.where(numbers < 0, np.int64(-(2**63)) - numbers, numbers).view(np.float64)


# Regions of score and uncertainty that are labelled positive, as applied to new rows.


class _SelectingRule(ABC):
    """Base of the rules: decisions for unchecked rows."""

    @abstractmethod
    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""

    @abstractmethod
    def expression(self, score: Any, uncertainty: Any, missing: str = "refuse") -> Any:
        """Build the decision, 1 or 0, as an expression."""

    def rounded(self, score: NDArray[Any], uncertainty: NDArray[Any]) -> _SelectingRule:
        """Return the rule with its limits in the precision of scores and uncertainties, as far as they lie on these."""
        del score, uncertainty
        return self

    def decide(self, score: Any, uncertainty: Any, missing: str) -> Any:
        """Label rows 1 or 0, or build an expression from expressions."""
        if is_expression(score):
            return self.expression(widened(score), widened(uncertainty), check_missing(missing))
        given = _problem.read_covariates(score, uncertainty)
        columns, rule = {name: to_floats(column, name) for name, column in given.items()}, self.rounded(**given)
        return decide_present(
            columns, missing, lambda **clean: rule.select(*_problem.finite_covariates(**clean)).astype(np.int64)
        )


@dataclass(frozen=True, eq=False, repr=False)
class LevelRule(_SelectingRule):
    """Score >= the threshold of the row's uncertainty level (infinite: nothing is selected there)."""

    cuts: Floats
    thresholds: Floats
    kind = "levels"

    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""
        return np.asarray(score >= self.thresholds[_problem.level_of(self.cuts, uncertainty)])

    def rounded(self, score: NDArray[Any], uncertainty: NDArray[Any]) -> LevelRule:
        """Return the rule with its limits in the precision of scores and uncertainties."""
        return LevelRule(rounded(self.cuts, uncertainty), rounded(self.thresholds, score))

    def expression(self, score: Any, uncertainty: Any, missing: str = "refuse") -> Any:
        """The same, 1 or 0, as an expression of expressions."""
        levels = [reaching(score, threshold, 1, 0) for threshold in self.thresholds.tolist()]
        return decided(by_level(uncertainty, self.cuts.tolist(), levels), [score, uncertainty], missing)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"kind": self.kind, "cuts": self.cuts.tolist(), "thresholds": self.thresholds.tolist()}


@dataclass(frozen=True)
class ShiftedRule(_SelectingRule):
    """Score + weight * (uncertainty, scaled to [0, 1] on the rows it was fitted to) >= threshold."""

    low: float
    high: float
    weight: float
    threshold: float
    kind = "shifted"

    def shifted(self, score: Floats, uncertainty: Floats) -> Floats:
        """Shift the score by its uncertainty."""
        width = self.high - self.low
        with np.errstate(over="ignore"):
            return score + (self.weight * (uncertainty - self.low) / width if width > 0.0 else 0.0)

    def at(self, threshold: float) -> ShiftedRule:
        """The same with another threshold."""
        return replace(self, threshold=threshold)

    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""
        return np.asarray(self.shifted(score, uncertainty) >= self.threshold)

    def expression(self, score: Any, uncertainty: Any, missing: str = "refuse") -> Any:
        """The same, 1 or 0, as an expression of expressions."""
        found = reaching(self.shifted(score, uncertainty), self.threshold, 1, 0)
        return decided(found, [score, uncertainty], missing)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"kind": self.kind, **{name: getattr(self, name) for name in ("low", "high", "weight", "threshold")}}


# a rule begins at the first score, ends before the last, and begins again
_STEPS = ("first", "last", "again")
_STEP_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class RankedRule(_SelectingRule):
    """Value of a learned ranker >= threshold, stored as score intervals at each rank of the uncertainty.

    The ranker takes logarithms, which machines and engines round differently, so the scores at which its value crosses
    the threshold are found once, to the last bit; they are the rule.
    """

    ranker: Ranker
    threshold: float
    steps: Floats
    kind = "ranked"

    @classmethod
    def of(cls, ranker: Ranker, threshold: float) -> RankedRule:
        """Find the scores at which the ranker's value crosses a threshold."""
        return cls(ranker, threshold, steps_of(ranker, threshold))

    def at(self, threshold: float) -> RankedRule:
        """The same with another threshold."""
        return RankedRule.of(self.ranker, threshold)

    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""
        first, last, again = self.steps[self.ranker.level(uncertainty)].T
        return np.asarray(((score >= first) & (score < last)) | (score >= again))

    def rounded(self, score: NDArray[Any], uncertainty: NDArray[Any]) -> RankedRule:
        """Return the rule with its limits in the precision of scores and uncertainties."""
        first, last, again = self.steps.T
        beyond = np.nextafter(rounded(np.nextafter(last, -np.inf), score), np.inf)  # the largest score before it is in
        steps = np.column_stack([rounded(first, score), beyond, rounded(again, score)])
        return replace(self, steps=steps, ranker=replace(self.ranker, knots=rounded(self.ranker.knots, uncertainty)))

    def expression(self, score: Any, uncertainty: Any, missing: str = "refuse") -> Any:
        """The same, 1 or 0, as an expression of expressions."""
        levels = [
            reaching(score, again, 1, reaching(score, last, 0, reaching(score, first, 1, 0)))
            for first, last, again in self.steps.tolist()
        ]
        return decided(by_level(uncertainty, self.ranker.knots[:-1].tolist(), levels), [score, uncertainty], missing)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        steps = {name: column.tolist() for name, column in zip(_STEPS, self.steps.T, strict=True)}
        return {"kind": self.kind, "ranker": self.ranker.to_dict(), "threshold": self.threshold, "steps": steps}


Rule = LevelRule | ShiftedRule | RankedRule


def read_rule(described: JsonReader) -> Rule:
    """Read a rule from an untrusted source."""
    kind = described.text("kind")
    if kind == "levels":
        cuts, thresholds = described.numbers("cuts"), described.numbers("thresholds", infinite=True)
        if np.any(np.diff(cuts) <= 0.0):
            raise described.broken("cuts", "strictly increasing numbers")
        if len(thresholds) != len(cuts) + 1:
            raise described.broken("thresholds", f"{len(cuts) + 1} numbers, one more than cuts")
        return LevelRule(cuts, thresholds)
    threshold = described.number("threshold", infinite=True)
    if kind == "shifted":
        low, high, weight = (described.number(name) for name in ("low", "high", "weight"))
        return ShiftedRule(low, high, weight, threshold)
    if kind == "ranked":
        return _read_ranked(described, threshold)
    raise described.broken("kind", f"levels, shifted or ranked, got {kind!r}")


def _read_ranked(described: JsonReader, threshold: float) -> RankedRule:
    """Read a learned ranking and its score intervals, which must agree up to rounding."""
    ranker = Ranker.read(described.inside("ranker"))
    columns = [described.numbers("steps", name, infinite=True) for name in _STEPS]
    for name, column in zip(_STEPS, columns, strict=True):
        if len(column) != len(ranker.knots):
            raise described.broken(f"steps.{name}", f"{len(ranker.knots)} numbers, as ranker.knots are")
    near = _STEP_ROUNDING * (1.0 if ranker.log_odds else abs(ranker.centre) + ranker.scale)
    for name, column, wanted in zip(_STEPS, columns, steps_of(ranker, threshold).T, strict=True):
        bad = ~np.isclose(column, wanted, rtol=_STEP_ROUNDING, atol=near)
        if np.any(bad):
            place = int(np.argmax(bad))
            raise described.broken(
                f"steps.{name}", f"{wanted[place]} at place {place}, as ranker and threshold say, got {column[place]}"
            )
    return RankedRule(ranker, threshold, np.column_stack(columns))
