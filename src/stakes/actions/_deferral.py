"""Deferral: zones of scores, pairs of thresholds, cost curves, and certificates of the error rate."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.formulas import (
    DecidesByScore,
    Onnx,
    check_missing,
    decide_present,
    decided,
    is_expression,
    reaching,
    refuse_first_column,
    rounded,
    widened,
)
from stakes.base.numerics import rows_within
from stakes.base.validation import (
    SQUARED_WELL,
    BinarySample,
    Bools,
    Floats,
    Integers,
    as_fraction,
    check_capacity,
    check_choice,
    check_flag,
    check_level,
    check_scores,
    check_unit,
    check_whole,
    to_array,
    to_floats,
)
from stakes.core.options import evaluation_data
from stakes.core.score_table import ScoreTable, losses_by_score
from stakes.costs import CostDistribution, CostsLike, Deferral, Fixed, as_costs, as_deferral
from stakes.curves import Curve, RatioCurve, ratio_of, straight
from stakes.outputs.files import delivered, json_ready
from stakes.outputs.result_table import Tabular
from stakes.outputs.serialization import JsonReader
from stakes.outputs.text import count, level_name, percent

Actions = NDArray[np.int8]


# Which rows are acted on, not acted on or deferred, at the score's face value: Chow's rule, and under a capacity.

ACT, WAIT, DEFER = 1, 0, -1
MissingOrDefer = Literal["refuse", "act", "wait", "defer"]
DEFERRING = get_args(MissingOrDefer)
_DECIMALS = 14  # two scores of equal confidence, one on either side, differ by rounding


def deferral_zone(costs: CostsLike, deferral: Deferral | float) -> tuple[float, float] | None:
    """Return the probabilities between which a case is left to someone else.

    Parameters
    ----------
    costs : CostDistribution, tuple of float, or float
        The cost ratio c, in [0, 1]: without the option, act from this probability on. Of several the mean counts,
        since one decision is made for all of them.
    deferral : Deferral or float
        What deferring costs, or its fee alone.

    Returns
    -------
    tuple of float or None
        Defer where low < p < high, act from high on; None where deferring never pays.

    Raises
    ------
    ValueError
        For invalid costs, such as a ratio outside [0, 1], or an invalid fee.

    Notes
    -----
    Chow (1970), doi:10.1109/TIT.1970.1054406. The zone holds c, and is centred on it only at 1/2.

    Examples
    --------
    >>> from stakes.actions import deferral_zone
    >>> low, high = deferral_zone(0.2, 0.05)
    >>> round(low, 12), round(high, 12)
    (0.0625, 0.75)
    >>> deferral_zone(0.2, 0.16) is None
    True
    """
    low, high = as_deferral(deferral).zone(ratio_of_costs(costs))
    return None if low == high else (float(low), float(high))


def ratio_of_costs(costs: CostsLike) -> float:
    """Cost ratio of one decision for all of the costs: their mean."""
    return as_costs(costs).mean()


def apply_deferral(
    y_prob: ArrayLike,
    *,
    costs: CostsLike,
    deferral: Deferral | float,
    capacity: float | None = None,
    missing: MissingOrDefer = "refuse",
) -> Actions:
    """Decide about rows whose labels are not known: act, do not act, or defer.

    Parameters
    ----------
    y_prob : array_like of shape (n,)
        Calibrated probabilities of the positive class. An expression of narwhals, polars, SQL
        (:func:`stakes.tables.sql_column`) or ONNX gives an expression.
    costs : CostDistribution, tuple of float, or float
        The cost ratio c, in [0, 1]; of several the mean, since one decision is made for all of them.
    deferral : Deferral or float
        What deferring costs, or its fee alone.
    capacity : int or float, optional
        How many of these rows are deferred at most, or which share of them in (0, 1): those that gain most by it, rows
        of one score together. Not with an expression, which sees one row at a time, and not with missing scores.
    missing : {"refuse", "act", "wait", "defer"}, default "refuse"
        Raise where a score is missing (nan), or decide so there; an expression is NULL where this would raise.

    Returns
    -------
    ndarray of shape (n,)
        1 to act, 0 not to, -1 to defer.

    Raises
    ------
    ValueError
        For scores outside [0, 1], missing ones unless ``missing`` says otherwise, or invalid costs, fee or
        capacity.

    Examples
    --------
    >>> from stakes.actions import apply_deferral
    >>> apply_deferral([0.05, 0.1, 0.3, 0.8], costs=0.2, deferral=0.05).tolist()
    [0, -1, -1, 1]
    """
    c, option = ratio_of_costs(costs), as_deferral(deferral)
    check_missing(missing, DEFERRING)
    if (is_expression(y_prob) or missing != "refuse") and capacity is not None:
        raise ValueError(
            f'capacity must be None for an expression, and where missing= is not "refuse", got {capacity}: it is '
            "about all rows, but an expression sees one, and a row without a score has no place in their order."
        )
    if is_expression(y_prob):
        return between_expression(widened(y_prob), *decided_at(c, option), missing)
    if capacity is None:
        columns = {"y_prob": to_floats(to_array(y_prob, "y_prob"), "y_prob")}
        found = decide_present(
            columns, missing, lambda y_prob: face_actions(check_scores(y_prob), c, option), DEFERRING
        )
        return found.astype(np.int8)
    score = check_scores(to_array(y_prob, "y_prob"))
    table = ScoreTable.from_sample(BinarySample(np.zeros(len(score), dtype=bool), score, None))
    return capped_actions(score, c, option, capacity_price(table, c, option, check_capacity(capacity)))


def face_actions(score: Floats, c: float, deferral: Deferral) -> Actions:
    """Decide each row by its score; ties decide rather than defer, and act rather than wait."""
    return between(score, *decided_at(c, deferral))


def decided_at(c: float, deferral: Deferral) -> tuple[float, float]:
    """Wait below the first, act from the second on, defer in between."""
    zone = decided_zone(c, deferral)
    return (c, c) if zone is None else (float(np.nextafter(zone[0], 2.0)), zone[1])


def decided_zone(c: float, deferral: Deferral) -> tuple[float, float] | None:
    """Zone of the scores that gain more than rounding, so that a score at an end is decided; None where none is."""
    low, high = deferral.decided_zone(c)
    return None if low == high else (float(low), float(high))


def between(score: Floats, low: float, high: float) -> Actions:
    """Wait below ``low``, act from ``high`` on, defer in between."""
    return np.where(score >= high, ACT, np.where(score < low, WAIT, DEFER)).astype(np.int8)


def between_expression(score: Any, low: float, high: float, missing: str) -> Any:
    """Build the same decision as an expression; with doubles in ONNX, whose integers have no missing value."""
    kind = float if isinstance(score, Onnx) else int
    act, wait, defer = map(kind, (ACT, WAIT, DEFER))
    found = reaching(score, high, act, reaching(score, low, defer, wait))
    return decided(found, [score], missing, within=(0.0, 1.0), kind=kind)


def gain(score: Floats, c: float, deferral: Deferral) -> Floats:
    """Expected saving by deferring each row, equal on either side where only rounding differs."""
    own = np.minimum(c * (1.0 - score), (1.0 - c) * score)
    a, b = deferral.false_positive_rate, deferral.false_negative_rate
    deferred = deferral.fee + (1.0 - score) * a * c + score * b * (1.0 - c)
    return np.asarray(np.round(own - deferred, _DECIMALS), dtype=np.float64)


def capacity_price(table: ScoreTable, c: float, deferral: Deferral, capacity: int | Fraction) -> float:
    """Gain above which rows are deferred: the levels of largest gain that fit the capacity.

    It is what one more unit of capacity would be worth, and by so much the fee may as well be higher.
    """
    gains = gain(table.scores, c, deferral)
    distinct, place = np.unique(-gains[gains > 0.0], return_inverse=True)
    weight = np.bincount(place.ravel(), (table.positives + table.negatives)[gains > 0.0], len(distinct))
    fits = np.cumsum(weight) <= rows_within(capacity, table.total)
    return 0.0 if fits.all() else float(-distinct[int(np.argmin(fits))])


def at_capacity(table: ScoreTable, c: float, deferral: Deferral, capacity: int | Fraction) -> Deferral:
    """Return the option at the fee at which it defers no more of these rows than the capacity."""
    return replace(deferral, fee=deferral.fee + capacity_price(table, c, deferral, capacity))


def capped_actions(score: Floats, c: float, deferral: Deferral, price: float) -> Actions:
    """Decide each row by its score where only rows with a gain above the price are deferred."""
    return np.where(gain(score, c, deferral) > price, DEFER, np.where(score >= c, ACT, WAIT)).astype(np.int8)


def action_costs(y: Bools, actions: Actions, c: float, deferral: Deferral) -> Floats:
    """Cost of each row under the action taken."""
    a, b = deferral.false_positive_rate, deferral.false_negative_rate
    deferred = deferral.fee + np.where(y, b * (1.0 - c), a * c)
    own = np.where(actions == ACT, np.where(y, 0.0, c), np.where(y, 1.0 - c, 0.0))
    return np.where(actions == DEFER, deferred, own)


# The two thresholds that cost least on labelled rows: wait below the lower, act from the upper on, defer in between.
#
# The cost of a pair of boundaries i <= j in the sorted levels is U(i) + V(j), so the best i for every j is a running
# minimum of U: over all levels below j, or over a window of them where a capacity limits what lies between.

_FORMAT = "stakes-deferral-1"
_TIED = 12  # decimals of a mean cost, beyond which two pairs differ by rounding


@dataclass(frozen=True, repr=False)
class DeferralPair(DecidesByScore, Tabular):
    """Two thresholds and what they cost on the rows that they were fitted to.

    Parameters
    ----------
    low, high : float
        Do not act below ``low``, defer from there on, act from ``high`` on; infinite above every score.
    cost : float
        Per decision on these rows, which is too low for others.
    share : float
        Share of the rows deferred.
    unique : bool
        Whether no other pair of levels costs as little and defers as few.

    Examples
    --------
    >>> from stakes.actions import fit_deferral
    >>> pair = fit_deferral([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8], costs=0.5, deferral=0.1)
    >>> pair.predict([0.1, 0.5, 0.9]).tolist()  # wait, defer, act
    [0, -1, 1]
    """

    _choices = DEFERRING

    low: float
    high: float
    cost: float
    share: float
    unique: bool

    def predict(self, y_prob: ArrayLike, *, missing: MissingOrDefer = "refuse") -> NDArray[np.int8]:
        """Decide by the pair.

        Parameters
        ----------
        y_prob : array_like of shape (n,)
            Scores. An expression of narwhals, polars, SQL (:func:`stakes.tables.sql_column`) or ONNX gives an
            expression. Scores of single or half precision meet thresholds rounded to it; engines and ONNX compare in
            double precision.
        missing : {"refuse", "act", "wait", "defer"}, default "refuse"
            Raise where a score is missing (nan), or decide so there; an expression is NULL where this would raise.

        Returns
        -------
        ndarray of shape (n,)
            1 to act, 0 not to, -1 to defer.

        Raises
        ------
        ValueError
            For scores outside [0, 1], and missing ones unless ``missing`` says otherwise.
        """
        found = self._predicted("y_prob", y_prob, missing)
        return found if is_expression(found) else found.astype(np.int8)

    def _rounded(self, score: NDArray[Any]) -> DeferralPair:
        return replace(self, low=float(rounded(self.low, score)), high=float(rounded(self.high, score)))

    def _decide(self, score: Floats) -> NDArray[np.int8]:
        return between(check_scores(score, "y_prob"), self.low, self.high)

    def _expression(self, score: Any, missing: str) -> Any:
        return between_expression(score, self.low, self.high, missing)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the pair as JSON that :meth:`from_json` reads.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes.actions import DeferralPair
        >>> DeferralPair.from_json(DeferralPair(0.2, 0.6, 0.05, 0.4, unique=True).to_json()).low
        0.2
        """
        return delivered(json.dumps(json_ready({"format": _FORMAT, **vars(self)}), indent=1), path)

    @classmethod
    def from_json(cls, text: str) -> DeferralPair:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        DeferralPair

        Raises
        ------
        ValueError
            For another format, or a damaged text, naming the first entry that is wrong.

        Examples
        --------
        >>> from stakes.actions import DeferralPair
        >>> DeferralPair.from_json("{}")
        Traceback (most recent call last):
        ...
        ValueError: text must be a pair of thresholds of format 'stakes-deferral-1', got format None.
        """
        content = JsonReader.read(text, "pair of thresholds", _FORMAT)
        low, high = (content.number(name, infinite=True) for name in ("low", "high"))
        cost, share = content.number("cost"), content.number("share")
        if low > high:
            raise content.broken("low", "at most high")
        if not (0.0 <= cost < math.inf and 0.0 <= share <= 1.0):
            raise content.broken("share", "in [0, 1], and cost a number >= 0")
        return cls(low, high, cost, share, content.flag("unique"))

    def _records(self) -> list[dict[str, Any]]:
        return [vars(self)]

    def __repr__(self) -> str:
        where = f"defer from {self.low:.4g}, act from {self.high:.4g}"
        return f"DeferralPair({where}: cost {self.cost:.4g} here, {percent(self.share)} deferred)"


def fit_deferral(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike,
    deferral: Deferral | float,
    capacity: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> DeferralPair:
    """Find the two thresholds with the lowest cost on labelled rows.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class; its calibration does not matter, only its order.
    costs : CostDistribution, tuple of float, or float
        The cost ratio c; of several the mean, since one pair serves all of them.
    deferral : Deferral or float
        What deferring costs, or its fee alone.
    capacity : int or float, optional
        How many rows may be deferred at most (their weight, where rows are weighted), or which share of them in (0, 1);
        rows of one score are deferred together.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    DeferralPair
        Among pairs of equal cost the one that defers fewest, and then acts on most.

    Raises
    ------
    ValueError
        For invalid data, costs, fee or capacity.

    Notes
    -----
    Without a capacity this is Chow's rule on the isotonic recalibration of the scores, at every price. The cost is
    that of the rows fitted to: in a simulation with 200 rows the pair cost a fifth more on others.

    Examples
    --------
    >>> from stakes.actions import fit_deferral
    >>> fit_deferral([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8], costs=0.5, deferral=0.1)
    DeferralPair(defer from 0.4, act from 0.8: cost 0.05 here, 50% deferred)
    """
    c = ratio_of_costs(costs)
    cap = None if capacity is None else check_capacity(capacity)
    refuse_first_column(y_true, y_prob, pos_label, "y_prob")
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    return best_pair(data.table, c, as_deferral(deferral), cap)


def best_pair(table: ScoreTable, c: float, deferral: Deferral, capacity: int | Fraction | None = None) -> DeferralPair:
    """Minimise the cost over all pairs of levels of a table."""
    a, b = deferral.false_positive_rate, deferral.false_negative_rate
    n0, n1 = table.negatives, table.positives
    fee = min(deferral.fee, 2.0)  # no mistake costs more than 1; a larger fee would swamp the sums
    deferred = _from_zero(fee * (n0 + n1) + a * c * n0 + b * (1.0 - c) * n1)
    below = _from_zero((1.0 - c) * n1) - deferred
    above = deferred + c * np.append(np.cumsum(n0[::-1])[::-1], 0.0)
    mass = _from_zero(n0 + n1)
    rounded = np.round(below, _TIED - math.ceil(math.log10(table.total)))
    if capacity is None:
        start = _running_argmin(rounded)
    else:
        first = np.searchsorted(mass, mass - rows_within(capacity, table.total), side="left")
        start = _window_argmin(rounded, first)
    cost, between_, tied = below[start] + above, mass - mass[start], 10.0**-_TIED * table.total
    equal = np.flatnonzero(cost <= cost.min() + tied)
    fewest = equal[between_[equal] <= between_[equal].min() + tied]
    stop = int(fewest[0])
    edges = np.append(table.scores, np.inf)
    low, high = float(edges[start[stop]]), float(edges[stop])
    # rounding of the sums leaves a cost just below 0, or a share just above 1
    per_case = max(float(cost[stop] / table.total), 0.0), min(float(between_[stop] / table.total), 1.0)
    return DeferralPair(low, high, *per_case, unique=len(fewest) == 1)


def _from_zero(parts: ArrayLike) -> Floats:
    return np.concatenate([[0.0], np.cumsum(parts)])


def _running_argmin(values: Floats) -> Integers:
    """Last index of the smallest value up to each place."""
    smallest = values == np.minimum.accumulate(values)
    return np.maximum.accumulate(np.where(smallest, np.arange(len(values)), 0))


def _window_argmin(values: Floats, first: Integers) -> Integers:
    """Last index of the smallest value from ``first`` to each place: the smaller of two windows of a power of two."""
    last = np.arange(len(values))
    level = np.frexp(last - first + 1.0)[1] - 1
    found, place = last.copy(), last.copy()  # place[i]: of the smallest among the 2 ** k values from i on
    for k in range(int(level.max()) + 1):
        if k:
            left, right = place[: -(1 << (k - 1))], place[1 << (k - 1) :]
            place = np.where(values[right] <= values[left], right, left)
        mine = np.flatnonzero(level == k)
        left, right = place[first[mine]], place[last[mine] - (1 << k) + 1]
        found[mine] = np.where(values[right] <= values[left], right, left)
    return found


# Cost of decisions over the share of cases decided, most confident first, and the areas under that curve.


def risk_coverage_score(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike | None = None,
    discrete: bool = False,
    generalized: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> float:
    """Area under the risk-coverage curve (AURC): the cost of a decided case, averaged over every share decided.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float, optional
        How much each cost ratio counts; by default the error rate of decisions at 1/2.
    discrete : bool, default False
        Average over the n shares k/n instead (Geifman and El-Yaniv 2018), in expectation over the order of ties. It
        depends on the number of rows, and takes no weights.
    generalized : bool, default False
        Average the cost of the decided as a share of all cases (AUGRC, Traub et al. 2024).
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    float
        Lower is better, as of any area of risk, although the name it is known by ends in "score".

    Raises
    ------
    ValueError
        For invalid data or costs, and for weights with ``discrete=True``.

    Notes
    -----
    The surest decision is that of the lowest expected cost; cases as sure as each other are decided together, each in
    part. Nobody pays for coverage uniformly: ``deferral_curve`` over the fee says what a price per case costs. Geifman
    and El-Yaniv, arXiv:1805.08206; Traub et al., arXiv:2407.01032.

    Examples
    --------
    >>> from stakes.actions import risk_coverage_score
    >>> round(risk_coverage_score([0, 1, 0, 1], [0.1, 0.6, 0.7, 0.9]), 6)
    0.119188
    """
    if check_flag(discrete, "discrete") and (sample_weight is not None or prevalence is not None):
        raise ValueError("discrete=True counts rows and takes neither sample_weight nor prevalence.")
    if check_flag(generalized, "generalized") and discrete:
        raise ValueError("discrete and generalized cannot both be True.")
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    table = data.table
    counts, squares = table.positives + table.negatives, table.positives_squared + table.negatives_squared
    if discrete and not np.array_equal(counts, squares):
        raise ValueError(f"discrete=True counts rows and takes no weights, got {table!r}, whose rows count unequally.")
    mass, loss = coverage_levels(table, costs)
    return _discrete(mass, loss) if discrete else area(mass, loss, generalized=generalized)


def coverage_levels(table: ScoreTable, costs: CostsLike | None) -> tuple[Floats, Floats]:
    """Weight and cost of the cases at each level of confidence, in descending order."""
    measure: CostDistribution = 2.0 * Fixed(0.5) if costs is None else as_costs(costs)
    unit = 1.0 if costs is None else 1.0 / measure.mass
    negative, positive = (unit * each for each in losses_by_score(table.scores, measure, "score"))
    confidence = -((1.0 - table.scores) * negative + table.scores * positive)
    loss = table.negatives * negative + table.positives * positive
    return by_confidence(confidence, table.negatives + table.positives, loss)


def by_confidence(confidence: Floats, mass: Floats, loss: Floats) -> tuple[Floats, Floats]:
    """Pool cases of equal confidence, in descending order of confidence."""
    _, place = np.unique(-np.round(confidence, _DECIMALS), return_inverse=True)
    pooled = [np.bincount(place.ravel(), part).astype(np.float64) for part in (mass, loss)]
    return pooled[0], pooled[1]


def area(mass: Floats, loss: Floats, *, generalized: bool) -> float:
    """Integral of the cost of the decided over the share decided, per case decided or per case."""
    total = mass.sum()
    m, s = mass / total, loss / total
    before, lost = (np.append(0.0, np.cumsum(part)[:-1]) for part in (m, s))  # a difference would lose a tiny first one
    if generalized:
        return float(np.sum(lost * m + 0.5 * s * m))
    rate = s / m
    with np.errstate(divide="ignore"):
        longer = np.log1p(m / before)
    longer[0] = 0.0  # the risk is constant on the first level
    return float(np.sum(s + (lost - before * rate) * longer))


def _discrete(mass: Floats, loss: Floats) -> float:
    """Mean over k = 1 to n of the cost of the k most confident rows, in expectation over the order of ties."""
    from scipy.special import digamma

    before, lost, rate = np.cumsum(mass) - mass, np.cumsum(loss) - loss, loss / mass
    harmonic = digamma(before + mass + 1.0) - digamma(before + 1.0)
    return float(np.sum(loss + (lost - before * rate) * harmonic) / mass.sum())


# What cases cost with the option to defer: over its fee, the share that may be deferred, or the share decided.

Axis = Literal["fee", "capacity", "coverage"]
KIND = "cost with deferral"
_LABELS = {"fee": "fee", "capacity": "largest share deferred", "coverage": "share decided"}


def deferral_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike,
    deferral: Deferral | float = 0.0,
    over: Axis = "fee",
    rule: str = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> Curve:
    """Cost of a case with the option to defer, over the price of the option, or over how much of it there is.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float
        The cost ratio c, in (0, 1); of several the mean, since one decision is made for all of them.
    deferral : Deferral or float, default 0
        What deferring costs, or its fee alone. Over the fee only its error rates count, over coverage nothing of it.
    over : {"fee", "capacity", "coverage"}, default "fee"
        Cost per case over the fee; cost per case over the largest share deferred, whole levels of equal gain only;
        or cost per *decided* case over the share decided, the surest first (the risk-coverage curve).
    rule : {"score", "optimal"}, default "score"
        Take the scores at face value, or the pair of thresholds that is best for each fee, which is optimistic on the
        same rows and offered over the fee only.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    Curve
        Exact. Over the fee it ends at c (1 - c), where no case is worth its fee; its slope is the share deferred.

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    With the best pairs the cost is concave in the fee. At face value it may jump, and deferring may do harm: the curve
    then lies above that of deciding all.

    Examples
    --------
    >>> from stakes.actions import deferral_curve
    >>> curve = deferral_curve([0, 1, 0, 1], [0.1, 0.6, 0.3, 0.9], costs=0.2)
    >>> curve.at([0.0, 0.02, 0.16]).round(6).tolist()
    [0.0, 0.015, 0.05]
    """
    c = check_unit(ratio_of_costs(costs), "costs", open_low=True, open_high=True)
    check_choice(over, "over", tuple(_LABELS))
    check_choice(rule, "rule", ("score", "optimal"))
    if rule == "optimal" and over != "fee":
        raise ValueError(f'rule="optimal" is offered over="fee" only, got over={over!r}.')
    option = as_deferral(deferral)
    table = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    ).table
    if rule == "optimal":
        table = table.recalibrated()
    over_axis = {"fee": _over_fee, "capacity": _over_capacity, "coverage": _over_coverage}[over]
    return replace(over_axis(table, c, option, name), about=table.about)


def _levels(table: ScoreTable, c: float, deferral: Deferral) -> tuple[Floats, Floats, Floats, float, float]:
    """Distinct positive gains, descending; then, as the levels of each join the deferred: weight, and what they save.

    The saving is that of the decision given up, less the mistakes made then; fees are not counted. Last, the cost
    where nothing is deferred. All as shares of the weight.
    """
    n0, n1 = table.negatives / table.total, table.positives / table.total
    own = np.where(table.scores >= c, c * n0, (1.0 - c) * n1)
    errors = deferral.false_positive_rate * c * n0 + deferral.false_negative_rate * (1.0 - c) * n1
    gains = gain(table.scores, c, deferral)
    used = gains > 0.0
    distinct, place = np.unique(-gains[used], return_inverse=True)
    columns = (np.bincount(place.ravel(), each[used], len(distinct)) for each in (n0 + n1, own - errors))
    weight, saved = map(_from_zero, columns)
    return -distinct, weight, saved, float(errors.sum()), float(own.sum())


def _over_fee(table: ScoreTable, c: float, deferral: Deferral, name: str) -> Curve:
    gains, weight, saved, errors, cost = _levels(table, c, replace(deferral, fee=0.0))
    top = c * (1.0 - c)
    ends = {"decide all": (cost, cost), "defer all": (errors, errors + top)}
    return _steps("fee", name, np.append(gains[::-1], top), (cost - saved[::-1], weight[::-1]), ends)


def _over_capacity(table: ScoreTable, c: float, deferral: Deferral, name: str) -> Curve:
    _, weight, saved, _, cost = _levels(table, c, deferral)
    costs = cost - saved + deferral.fee * weight
    pieces = costs, np.zeros(len(costs))
    return _steps("capacity", name, np.append(weight[1:], 1.0), pieces, {"decide all": (cost, cost)})


def _steps(
    over: Axis, name: str, ends: Floats, pieces: tuple[Floats, Floats], references: dict[str, tuple[float, float]]
) -> Curve:
    """Pieces from 0 to these ends, each with its lower end."""
    level, slope = pieces
    top, label = float(ends[-1]), _LABELS[over]
    inner = ends[ends < top * (1.0 - 1e-14)]
    knots, count = np.concatenate([[0.0], inner, [top]]), len(inner) + 1
    lines = {key: straight(KIND, key, label, line, (0.0, top)) for key, line in references.items()}
    told: dict[str, Any] = {"name": name, "x_label": label, "closed": "left", "references": lines}
    return Curve(KIND, knots, level[:count], slope[:count], start=float(level[-1]), **told)


def _over_coverage(table: ScoreTable, c: float, _deferral: Deferral, name: str) -> Curve:
    mass, loss = (_from_zero(part) / table.total for part in coverage_levels(table, c))
    mass[-1] = 1.0
    return RatioCurve(**ratio_of((mass, loss, mass), KIND, name, _LABELS["coverage"]))


# A certified error rate among decided cases: tested by level of confidence in descending order, to the first failure.

_LEAST_SHARE = 0.2  # of the rows, where the sequence of tests starts
_SETS = 10
TARGETS = ("selective", "undetected", "expected undetected")


@dataclass(frozen=True, repr=False)
class DecidedCertificate:
    """How many cases may be decided so that mistakes stay below a limit, with stated confidence.

    Parameters
    ----------
    max_error : float
        The limit.
    confidence_level : float or None
        Over repetitions, a set that breaks the limit is certified with probability at most 1 less this; None for
        "expected undetected", which holds on average.
    target : str
        "selective": mistakes per case decided; "undetected" and "expected undetected": per case.
    zone : tuple of float or None
        Defer where low < p < high, decide elsewhere; None where nothing could be certified.
    coverage : float
        Share of these rows that is decided; 0 where nothing could be certified.
    decided, errors, n_rows : int
        Rows decided and mistakes among them, and all rows.
    tested : int
        Levels tested.
    rows_needed : int or None
        Rows decided that the least promise needs, or the first test, where there are fewer; None otherwise.
    new_cases, new_decided : int or None
        The new cases that the promise is about, where they were given, and how many of them are decided.

    Examples
    --------
    >>> from stakes.actions import certify_decided
    >>> y_true, y_prob = [0] * 95 + [1] * 5 + [0, 1] * 50, [0.02] * 95 + [0.05] * 5 + [0.5] * 100
    >>> certify_decided(y_true, y_prob, threshold=0.5, max_error=0.1)
    DecidedCertificate(mistakes per case decided <= 10%, confidence 95%: 47.5% of cases decided, 0 mistakes in 95)
    """

    max_error: float
    confidence_level: float | None
    target: str
    zone: tuple[float, float] | None
    coverage: float
    decided: int
    errors: int
    n_rows: int
    tested: int
    rows_needed: int | None = None
    new_cases: int | None = None
    new_decided: int | None = None

    @property
    def certified(self) -> bool:
        """Whether any case may be decided under the limit."""
        return self.coverage > 0.0

    @property
    def sentence(self) -> str:
        """The conclusion for a report."""
        what = "mistakes per case decided" if self.target == "selective" else "undetected mistakes per case"
        sure = "on average" if self.confidence_level is None else f"confidence {level_name(self.confidence_level)}"
        promise = f"{what} <= {percent(self.max_error)}, {sure}"
        if self.new_cases is not None:
            new = f"these {count(self.new_cases)} new cases, {count(self.new_decided or 0)} of them decided"
            promise += f", among {new}"
        if self.certified:
            mistakes = f"{count(self.errors)} mistake{'' if self.errors == 1 else 's'} in {count(self.decided)}"
            return f"{promise}: {percent(self.coverage)} of cases decided, {mistakes}"
        if self.rows_needed is not None:
            delta = 1.0 - (self.confidence_level or 0.0)
            first = self.target == "selective" and self.rows_needed > fewest_rows(self.max_error, delta)
            how = "at the first test" if first else "without a mistake"
            needed = f"it takes {count(self.rows_needed)} rows decided {how}, and there are"
            return f"{promise}: no certificate, for {needed} {count(self.n_rows)}"
        few = "" if self.new_cases is None else "too few rows or "
        return f"{promise}: no certificate, {few}too many mistakes among the surest cases"

    def __repr__(self) -> str:
        return f"DecidedCertificate({self.sentence})"


def certify_decided(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    threshold: float,
    max_error: float,
    confidence_level: float = 0.95,
    target: str = "selective",
    min_rows: int | None = None,
    new_prob: ArrayLike | None = None,
    pos_label: object = None,
    logits: bool = False,
) -> DecidedCertificate:
    """Find how many cases may be decided, the surest first, so that mistakes among them stay below a limit.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values, of rows that neither trained nor tuned the score.
    y_prob : array_like of shape (n,) or (n, 2)
        Probability of the positive class.
    threshold : float
        The cost ratio c, in (0, 1): decisions are taken at it, and those of lowest expected cost are the surest.
    max_error : float
        Largest share of mistakes, in (0, 1).
    confidence_level : float, default 0.95
        Of the promise, in (0, 1).
    target : {"selective", "undetected", "expected undetected"}, default "selective"
        Mistakes per case decided (a sequence of exact binomial tests that ends at the first failure); mistakes among
        the decided per case, with confidence (Clopper-Pearson) or in expectation (conformal risk control).
    min_rows : int, optional
        Rows decided at the first test. By default a fifth of the rows, and at least as many as the limit needs without
        a mistake. It must not be chosen by looking at mistakes. Only for "selective".
    new_prob : array_like of shape (m,), optional
        Probabilities of new cases of the same population: the promise is then about the observed share of mistakes
        among these very cases, once their labels are known, and not about the population. It takes more rows.
    pos_label : object, optional
        The label of the positive class.
    logits : bool, default False
        Whether the scores are log-odds, those of new cases too.

    Returns
    -------
    DecidedCertificate

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    Rows are independent and count alike: there are no weights. The promise is about new cases of the same
    population. The largest coverage whose observed share of mistakes is below the limit can break it in nine samples
    of ten. The observed share among a finite number of new cases varies beside the risk: in one of eight halvings of a
    sample it breaks a limit that the population keeps. With ``new_prob`` ten sets, fixed by scores alone, are each
    tested at a tenth of the level against every number of mistakes among all cases (hypergeometric).
    Angelopoulos et al., arXiv:2110.01052 (tests in a fixed sequence); arXiv:2208.02814 (conformal risk control).

    Examples
    --------
    >>> from stakes.actions import certify_decided
    >>> certify_decided([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.6], threshold=0.5, max_error=0.1).sentence
    'mistakes per case decided <= 10%, confidence 95%: no certificate, for it takes 29 rows ... and there are 4'
    """
    c = check_unit(threshold, "threshold", open_low=True, open_high=True)
    limit = check_unit(max_error, "max_error", open_low=True, open_high=True)
    if limit < SQUARED_WELL[0]:
        raise ValueError(f"max_error must be at least {SQUARED_WELL[0]:g}, got {max_error!r}.")
    level = check_level(confidence_level)
    check_choice(target, "target", TARGETS)
    sample = evaluation_data(y_true, y_prob, pos_label=pos_label, logits=logits).rows
    if sample.origin is not None:
        raise ValueError(f"{type(y_true).__name__} cannot stand for labels here: a certificate takes no weights.")
    rows = _DecidedRows(sample.score, (sample.score >= c) != sample.y, c)
    if min_rows is not None and target != "selective":
        raise ValueError(f'min_rows= goes with target="selective", got target={target!r}.')
    if new_prob is None:
        return _for_population(rows, limit, level, target, min_rows)
    if target != "selective" or min_rows is not None:
        raise ValueError('new_prob= goes with target="selective" and without min_rows=.')
    return _for_new_cases(rows, check_scores(to_array(new_prob, "new_prob"), "new_prob", logits=logits), limit, level)


class _DecidedRows(NamedTuple):
    """Labelled rows, whether the decision about each is a mistake, and the cost ratio."""

    score: Floats
    wrong: Bools
    c: float


def _for_population(rows: _DecidedRows, limit: float, level: float, target: str, min_rows: Any) -> DecidedCertificate:
    """The largest set up to which every test is passed."""
    levels, place = np.unique(_expected(rows.score, rows.c), return_inverse=True)
    counts = np.cumsum(np.bincount(place.ravel(), minlength=len(levels)))
    errors = np.cumsum(np.bincount(place.ravel(), rows.wrong, len(levels))).astype(np.intp)
    n, average = len(rows.wrong), target == "expected undetected"
    needed = math.ceil(1 / as_fraction(limit, "max_error")) - 1 if average else fewest_rows(limit, 1.0 - level)
    least = max(needed, math.ceil(_LEAST_SHARE * n)) if min_rows is None else check_whole(min_rows, "min_rows", 1)
    start = int(np.searchsorted(counts, least)) if target == "selective" else 0
    passes = _passes(target, errors, counts, limit, level)[start:]
    stop = start + int(np.argmin(np.append(passes, False)))  # the first that fails
    last, sure = stop - 1, None if average else level
    tested, decided = min(stop + 1, len(levels)) - start, int(counts[last]) if stop > start else 0
    if not decided:
        most = max(needed, least if target == "selective" else 0)
        return DecidedCertificate(limit, sure, target, None, 0.0, 0, 0, n, tested, most if n < most else None)
    zone = _zone(rows.score, float(levels[last]), rows.c)
    return DecidedCertificate(limit, sure, target, zone, decided / n, decided, int(errors[last]), n, tested)


def _expected(score: Floats, c: float) -> Floats:
    """Expected cost of the decision about each row, smallest for the most confident."""
    return np.asarray(np.round(np.where(score >= c, c * (1.0 - score), (1.0 - c) * score), _DECIMALS), np.float64)


def _passes(target: str, errors: Integers, counts: Integers, limit: float, level: float) -> Bools:
    """Whether the test of each level, taken alone, is passed."""
    rows = np.full(len(counts), counts[-1])
    if target == "expected undetected":
        return np.asarray(errors + 1 <= math.floor(as_fraction(limit, "max_error") * (int(counts[-1]) + 1)))
    return np.asarray(binomial_tail(errors, counts if target == "selective" else rows, limit) <= 1.0 - level)


def _for_new_cases(rows: _DecidedRows, new_score: Floats, limit: float, level: float) -> DecidedCertificate:
    """The largest of some sets, fixed by the scores of all cases, that passes its test for the new ones."""
    old, new = _expected(rows.score, rows.c), _expected(new_score, rows.c)
    both = np.sort(np.concatenate([old, new]))
    cuts = np.unique(both[np.ceil(np.arange(1, _SETS + 1) / _SETS * len(both)).astype(np.intp) - 1])
    found = [(int(np.sum(old <= cut)), int(np.sum(rows.wrong & (old <= cut))), int(np.sum(new <= cut))) for cut in cuts]
    # a set without a new case would promise nothing
    passed = [k for k, part in enumerate(found) if part[2] and new_cases_tail(*part, limit) <= (1.0 - level) / _SETS]
    decided, errors, new_decided = found[passed[-1]] if passed else (0, 0, 0)
    zone = _zone(np.concatenate([rows.score, new_score]), float(cuts[passed[-1]]), rows.c) if passed else None
    counts = decided / len(old), decided, errors, len(old), len(cuts), None, len(new), new_decided
    return DecidedCertificate(limit, level, "selective", zone, *counts)


def new_cases_tail(decided: int, errors: int, new: int, limit: float) -> float:
    """Largest probability of so few observed mistakes while the new cases exceed the limit."""
    from scipy.stats import hypergeom

    most = math.floor(as_fraction(limit, "max_error") * new) + 1  # the fewest new mistakes that break the limit
    if most > new:
        return 0.0
    few = np.arange(errors + 1)
    return float(hypergeom.cdf(few, decided + new, few + most, decided).max())


def binomial_tail(errors: Integers, rows: Integers, limit: float) -> Floats:
    """Binomial probability of at most this many errors at the limit's error rate."""
    from scipy.special import betainc

    every = errors >= rows
    tail = betainc(np.where(every, 1, rows - errors), errors + 1.0, 1.0 - limit)
    return np.asarray(np.where(every, 1.0, tail), dtype=np.float64)


def _zone(score: Floats, cut: float, c: float) -> tuple[float, float]:
    """Range of scores whose decisions have an expected cost above the cut."""
    sure = _expected(score, c) <= cut
    low = np.max(score[sure & (score < c)], initial=min(cut / (1.0 - c), c))
    high = np.min(score[sure & (score >= c)], initial=max(1.0 - cut / c, c))
    return float(low), float(high)


def fewest_rows(limit: float, delta: float) -> int:
    """Rows without a mistake that a binomial test of the limit needs."""
    return math.ceil(math.log(delta) / math.log1p(-limit))
