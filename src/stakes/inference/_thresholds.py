"""Intervals of threshold tables, and the best models by threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.multiclass import models_by_name
from stakes.base.validation import (
    BinarySample,
    Bools,
    Floats,
    Integers,
    blocks,
    check_flag,
    check_level,
    check_same_order,
    generator,
    to_array,
)
from stakes.core.options import evaluation_data, refuse_weighing
from stakes.core.score_table import ScoreTable, regret_at
from stakes.costs import CostsLike, as_costs
from stakes.curves import flagged_among, threshold_table_of
from stakes.inference import _simultaneous
from stakes.inference._bands import check_thresholds, difference_band
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import level_name
from stakes.variance.dependence import Design, PairedRows
from stakes.variance.sums import ratio

Limits = tuple[Floats, Floats]
Bins = Integers


# Intervals of the entries of a threshold table: sensitivity, predictive values, likelihood ratios, cost.

_SHARES = ("sensitivity", "specificity", "ppv", "npv")
MEASURES = (*_SHARES, "lr_positive", "lr_negative", "share_flagged", "regret", "net_benefit")


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdIntervals(Tabular):
    """Rates and costs at decision thresholds, each with its interval.

    Parameters
    ----------
    threshold : ndarray of shape (k,)
        Ascending.
    estimate, low, high : dict of str to ndarray of shape (k,)
        By measure: "sensitivity", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "share_flagged", "regret",
        "net_benefit". nan where the measure is undefined.
    confidence_level : float
        Of each interval by itself.

    Examples
    --------
    >>> from stakes.inference import threshold_intervals
    >>> found = threshold_intervals([0, 0, 1, 1] * 25, [0.1, 0.4, 0.35, 0.8] * 25, thresholds=[0.3])
    >>> found.low["ppv"].round(3).tolist(), found.high["ppv"].round(3).tolist()
    ([0.554], [0.766])
    """

    threshold: Floats
    estimate: dict[str, Floats]
    low: dict[str, Floats]
    high: dict[str, Floats]
    confidence_level: float

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for k, threshold in enumerate(self.threshold.tolist()):
            record = {"threshold": threshold}
            for name in MEASURES:
                record[name] = float(self.estimate[name][k])
                record[f"{name}_ci_low"], record[f"{name}_ci_high"] = (float(x[name][k]) for x in (self.low, self.high))
            records.append(record)
        return records

    def __repr__(self) -> str:
        span = f"{len(self.threshold)} thresholds in [{self.threshold[0]:g}, {self.threshold[-1]:g}]"
        return f"ThresholdIntervals({span}, {level_name(self.confidence_level)})"


def threshold_intervals(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike,
    costs: CostsLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    confidence_level: float = 0.95,
) -> ThresholdIntervals:
    """How sure sensitivity, specificity, predictive values, likelihood ratios and cost are at chosen thresholds.

    Parameters
    ----------
    y_true : array_like of shape (n,), Outcome or ScoreTable
        Labels with two values, or a table that stands for labels and scores; the intervals of an outcome's rows allow
        for the estimation of their weights.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    thresholds : array_like of shape (k,)
        Ascending, in [0, 1], chosen without looking at these labels.
    costs : CostDistribution, tuple of float, or float, optional
        The cost ratio of regret and net benefit, or a range or distribution whose mean it is; by default each threshold
        itself.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0; effective numbers of rows take the place of counts.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, which is then taken as known.
    logits : bool, default False
        Whether the scores are log-odds.
    confidence_level : float, default 0.95
        Of each interval, in (0, 1).

    Returns
    -------
    ThresholdIntervals

    Raises
    ------
    ValueError
        For invalid data, thresholds or costs.

    Notes
    -----
    Shares have mid-p binomial limits (Lancaster 1961), which stay honest for few rows and for none. Those of a
    likelihood ratio combine the limits of its two shares (Donner and Zou 2012, doi:10.1177/0962280210370265), those of
    regret and net benefit the limits of false positives and of misses, as :func:`confidence_band` does. Under a stated
    prevalence the predictive values follow from the likelihood ratio by Bayes' rule. Of weighted rows, as many count
    for a share p as make p (1 - p) over their number the variance of its estimate, an outcome's weights estimated anew.

    Examples
    --------
    >>> from stakes.inference import threshold_intervals
    >>> found = threshold_intervals([0, 0, 1, 1] * 25, [0.1, 0.4, 0.35, 0.8] * 25, thresholds=[0.3, 0.5])
    >>> found.estimate["sensitivity"].tolist(), found.low["sensitivity"].round(3).tolist()
    ([1.0, 0.5], [0.942, 0.363])
    """
    level = check_level(confidence_level)
    points = check_thresholds(thresholds, "regret")
    if isinstance(y_true, ScoreTable):
        refuse_weighing(y_true, "threshold_intervals")
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    fixed = prevalence is not None
    counts = _simultaneous.counts_of(data, points, fixed_prevalence=fixed)
    every = counts if fixed else _simultaneous.counts_of(data.everyone, points, fixed_prevalence=False)
    entries = threshold_table_of(data.table, points, None if costs is None else as_costs(costs).mean())
    entries = entries if fixed else flagged_among(data, entries)
    estimate = {name: np.asarray(getattr(entries, name)) for name in MEASURES}
    origin = None if data.sample is None else data.sample.origin
    weighted, reason = (None, "") if origin is None else (data.sample, origin.outcome.reason)
    at, z = entries.cost_ratio, NormalDist().inv_cdf(0.5 + level / 2.0)
    limits = _limits(counts, every, estimate, z, _sizes(weighted, points, estimate))
    for kind, inner in (("regret", at), ("net_benefit", np.where(at < 1.0, at, 0.0))):
        pieces = _simultaneous.curve_pieces(kind, counts, inner, 1.0, points)
        if weighted is not None and not reason:
            bins = [_simultaneous.reached(weighted.score, points)]
            pieces = _simultaneous.dependent_pieces(pieces, kind, weighted, bins, fixed_prevalence=fixed)
        limits[kind] = _simultaneous.combined_limits(pieces, z)
    # who is flagged is known whatever follow-up says
    unknown = {name: np.isnan(estimate[name]) | (bool(reason) and name != "share_flagged") for name in MEASURES}
    low, high = ({name: np.where(unknown[name], np.nan, limits[name][end]) for name in MEASURES} for end in (0, 1))
    return ThresholdIntervals(points, estimate, low, high, level)


def _sizes(sample: BinarySample | None, points: Floats, estimate: dict[str, Floats]) -> dict[str, Floats]:
    """Effective number of rows behind each share, of rows that an outcome weighs; nan without one."""
    nothing = np.full((len(_SHARES), len(points)), np.nan)
    if sample is None:
        return dict(zip(_SHARES, nothing, strict=True))
    weight = np.ones(len(sample.y)) if sample.weight is None else sample.weight
    design = Design(sample.y, weight, origin=sample.origin)
    shares = np.stack([estimate[name] for name in _SHARES])
    variance = np.empty(shares.shape)
    for k, t in enumerate(points):
        acted, y = sample.score >= t, sample.y
        whole = np.stack([y, ~y, acted, ~acted])
        part = np.stack([y & acted, ~(y | acted), y & acted, ~(y | acted)])
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (part - shares[:, k, None] * whole) / (whole @ design.share)[:, None]
        variance[:, k] = design.variance_of(design.contributions(slope))[0]
    return dict(zip(_SHARES, _simultaneous.effective_sizes(shares, variance, nothing), strict=True))


def _limits(
    counts: _simultaneous.Counts,
    everyone: _simultaneous.Counts,
    estimate: dict[str, Floats],
    z: float,
    sizes: dict[str, Floats],
) -> dict[str, Limits]:
    above, below, totals = counts.above, counts.below, counts.totals
    # what a row of each class weighs
    negative, positive = ratio(totals.squared, totals.weight, 1.0)
    largest = max(ratio(everyone.totals.squared, everyone.totals.weight, 1.0))
    sensitivity = _share(above[:, 1], below[:, 1], (positive, positive), z, sizes["sensitivity"])
    alarms = _share(above[:, 0], below[:, 0], (negative, negative), z, sizes["specificity"])
    flagged = _share(everyone.above.sum(axis=1), everyone.below.sum(axis=1), (largest, largest), z, np.array(np.nan))
    limits = {
        "sensitivity": sensitivity,
        "specificity": _rest(alarms),
        "ppv": _share(above[:, 1], above[:, 0], (positive, negative), z, sizes["ppv"]),
        "npv": _share(below[:, 0], below[:, 1], (negative, positive), z, sizes["npv"]),
        "share_flagged": flagged,
    }
    p, q = estimate["sensitivity"], 1.0 - estimate["specificity"]
    limits["lr_positive"] = _quotient(p, sensitivity, q, alarms)
    limits["lr_negative"] = _quotient(1.0 - p, _rest(sensitivity), 1.0 - q, _rest(alarms))
    if counts.totals.fixed_prevalence:
        odds = counts.totals.weight[1] / counts.totals.weight[0]
        positive, negative = limits["lr_positive"], limits["lr_negative"]
        limits["ppv"] = _from_odds(odds * positive[0]), _from_odds(odds * positive[1])
        limits["npv"] = _rest((_from_odds(odds * negative[0]), _from_odds(odds * negative[1])))
        rate = odds / (1.0 + odds)
        reach = [np.hypot(rate * (sensitivity[k] - p), (1.0 - rate) * (alarms[k] - q)) for k in (0, 1)]
        ends = estimate["share_flagged"] - reach[0], estimate["share_flagged"] + reach[1]
        limits["share_flagged"] = np.maximum(ends[0], 0.0), np.minimum(ends[1], 1.0)
    return limits


def _share(part: Floats, rest: Floats, each: tuple[float, float], z: float, known: Floats) -> Limits:
    """Limits of a share; ``part`` and ``rest`` hold weights and squared weights, ``known`` effective sizes or nan.

    As many rows count as make p (1 - p) over their number the variance of the weighted share; where no row of ``part``
    or none of ``rest`` was seen, as many of the weight that a row of it would have, which ``each`` says.
    """
    weight = part[0] + rest[0]
    share = ratio(part[0], weight, 0.0)
    variance = ratio((1.0 - share) ** 2 * part[1] + share**2 * rest[1], weight**2, 0.0)
    size = _simultaneous.effective_sizes(share, variance, weight / np.where(part[0] > 0.0, each[1], each[0]))
    size = np.where(np.isnan(known), size, known)
    return _simultaneous.mid_p_limits(share * size, size, z)


def _rest(limits: Limits) -> Limits:
    """Limits of what a share leaves."""
    return 1.0 - limits[1], 1.0 - limits[0]


def _quotient(p: Floats, of_p: Limits, q: Floats, of_q: Limits) -> Limits:
    """Limits of p / q from those of p and q, independent (Donner and Zou 2012, equation 9)."""
    product = p * q
    low = of_p[0] * (2.0 * p - of_p[0])
    high = of_q[0] * (2.0 * q - of_q[0])
    lower_root = np.sqrt(product**2 - low * of_q[1] * (2.0 * q - of_q[1]))
    upper_root = np.sqrt(np.maximum(product**2 - high * of_p[1] * (2.0 * p - of_p[1]), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        # the lower limit is written so that it stays defined where no q was seen
        bottom = np.where(low > 0.0, low / (product + lower_root), 0.0)
        return bottom, np.where(high > 0.0, (product + upper_root) / high, np.inf)


def _from_odds(odds: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(odds), 1.0, odds / (1.0 + odds))


# Thresholds at which one decision is significantly cheaper, from the band of the difference of two curves.
#
# The claim holds simultaneously for all thresholds, at a level that the caller divides among many pairs of
# decisions.

_DRAWS = 10_000
_PAIRS_AT_ONCE = 256
_IN_TAIL = 10.0  # draws beyond a quantile, below which their noise makes it worse than Bonferroni's bound


def shown_less(
    rows: PairedRows,
    bins: Sequence[Bins],
    thresholds: Floats,
    confidence_level: float,
    *,
    more: Floats | float = 0.0,
) -> tuple[Bools, Bools]:
    """Say at which thresholds the first decision is shown to cost less than each other, and at which the other does.

    Parameters
    ----------
    rows : PairedRows
        Labels and weights of independent rows.
    bins : sequence of ndarray of int
        How many of the thresholds each row's score reaches, for the first decision and then for k others.
    thresholds : ndarray of shape (m,)
        Ascending cost ratios in (0, 1].
    confidence_level : float
        Of all claims about one of the others at once.
    more : ndarray of shape (k, m) or float, default 0
        What the first costs more than each other at each threshold than the rows say, such as the harm of its test.

    Returns
    -------
    tuple of ndarray of bool of shape (k, m)

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.inference import PairedRows, shown_less
    >>> rows = PairedRows(np.array([True, False] * 50), [], None)
    >>> act, wait = np.full(100, 2), np.zeros(100, dtype=int)
    >>> [found.tolist() for found in shown_less(rows, (act, wait), np.array([0.1, 0.5]), 0.95)]
    [[[True, False]], [[False, False]]]
    """
    first, *others = bins
    shape = len(others), len(thresholds)
    more, less = np.broadcast_to(more, shape), np.zeros((2, *shape), dtype=bool)
    for part in blocks(len(others), _PAIRS_AT_ONCE):
        each = [_pieces(rows, (first, other), thresholds)[0] for other in others[part]]
        less[:, part] = _shown_less(each, confidence_level, more[part])
    return less[0], less[1]


def _shown_less(each: Sequence[_simultaneous.Pieces], level: float, more: Floats) -> Bools:
    """The same from the terms of each difference: (2, k, m)."""
    pieces, count = _simultaneous.side_by_side(each), more.shape[1]

    def outside(critical: float) -> Bools:
        return np.reshape(_outside(pieces, critical, more.ravel()), (2, *more.shape))

    found = outside(_simultaneous.pointwise_value(pieces, level, count))
    if _rests_on_bonferroni(level):
        return found
    # elsewhere the answer is the same whatever the critical value between these two
    unsure = (found != outside(_simultaneous.pointwise_value(pieces, level))).any(axis=(0, 2))
    for k in np.flatnonzero(unsure).tolist():
        found[:, k] = _outside(each[k], _critical(each[k], level), more[k])
    return found


def shown_band(
    rows: PairedRows,
    bins: tuple[Bins, Bins],
    thresholds: Floats,
    confidence_level: float,
    *,
    shared: float,
    name: str,
    more: Floats | float = 0.0,
) -> _simultaneous.Band:
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
    told: dict[str, Any] = {"kind": "regret", "thresholds": thresholds, "level": confidence_level, "name": name}
    about = "" if rows.origin is None else rows.origin.outcome.about
    found = _simultaneous.band_of(pieces, totals, _critical(pieces, shared), **told, is_difference=True, about=about)
    return _simultaneous.shifted(found, more)


def _pieces(
    rows: PairedRows, bins: tuple[Bins, Bins], thresholds: Floats
) -> tuple[_simultaneous.Pieces, _simultaneous.Totals]:
    fixed, width = rows.fixed_prevalence, len(thresholds) + 1
    counts = _simultaneous.binned_pair(rows.y, bins, rows.weight, width, fixed_prevalence=fixed)
    pieces = _simultaneous.difference_pieces("regret", counts, thresholds, 1.0)
    return _simultaneous.dependent_pieces(
        pieces, "regret", rows, bins, fixed_prevalence=fixed, codes=rows.clusters
    ), counts.totals


def _critical(pieces: _simultaneous.Pieces, level: float) -> float:
    bonferroni = _simultaneous.pointwise_value(pieces, level, len(pieces.estimate))
    if _rests_on_bonferroni(level):
        return bonferroni
    return min(_simultaneous.critical_value(pieces, level, _normals), bonferroni)


def _rests_on_bonferroni(level: float) -> bool:
    """Whether too few draws lie beyond the quantile for them to do better."""
    return (1.0 - level) * _DRAWS < _IN_TAIL


def _outside(pieces: _simultaneous.Pieces, critical: float, more: Floats | float) -> tuple[Bools, Bools]:
    low, high = _simultaneous.combined_limits(pieces, critical)
    return high + more < 0.0, low + more > 0.0


@cache
def _normals(count: int) -> NDArray[np.float32]:
    """Normal draws for ``count`` thresholds, the same for every pair."""
    return generator(0).standard_normal((_DRAWS, count), dtype=np.float32)


# The models that may be the best at each threshold, simultaneously for many models and all thresholds.

CONSTANTS = {"treat all": 1.0, "treat none": 0.0}


@dataclass(frozen=True, eq=False, repr=False)
class BestModels(Tabular):
    """Which models may be the best at each threshold.

    Parameters
    ----------
    models : tuple of str
        Names, then "treat all" and "treat none" where they compete.
    thresholds : ndarray of shape (m,)
        Ascending cost ratios.
    regret : ndarray of shape (m, k)
        Of each model on these rows.
    possible : ndarray of bool of shape (m, k)
        Whether no other model is shown to be better: at all thresholds at once, the truly best model is among the
        possible ones with the stated confidence.
    confidence_level : float
        Of all these sets at once.

    Examples
    --------
    >>> from stakes.inference import best_models
    >>> y_true = [0, 1, 0, 1] * 30
    >>> found = best_models(
    ...     y_true, {"a": [0.1, 0.8, 0.3, 0.6] * 30, "b": [0.4, 0.6, 0.5, 0.4] * 30}, thresholds=[0.05, 0.45]
    ... )
    >>> found.sets()
    [('a', 'b'), ('a',)]
    """

    models: tuple[str, ...]
    thresholds: Floats
    regret: Floats
    possible: Bools
    confidence_level: float

    def sets(self) -> list[tuple[str, ...]]:
        """Return the models that may be the best at each threshold.

        Returns
        -------
        list of tuple of str

        Examples
        --------
        >>> from stakes.inference import best_models
        >>> best_models([0, 1] * 30, {"a": [0.1, 0.8] * 30}, thresholds=[0.5]).sets()
        [('a',)]
        """
        return [tuple(np.array(self.models, dtype=object)[row]) for row in self.possible]

    def surely(self, model: str) -> Floats:
        """Return the thresholds at which one model alone may be the best.

        Parameters
        ----------
        model : str
            Its name.

        Returns
        -------
        ndarray

        Raises
        ------
        ValueError
            For an unknown name.

        Examples
        --------
        >>> from stakes.inference import best_models
        >>> best_models([0, 1] * 30, {"a": [0.1, 0.8] * 30}, thresholds=[0.5]).surely("a").tolist()
        [0.5]
        """
        if model not in self.models:
            raise ValueError(f"model must be one of {', '.join(map(repr, self.models))}, got {model!r}.")
        alone = self.possible[:, self.models.index(model)] & (self.possible.sum(axis=1) == 1)
        return self.thresholds[alone]

    def _records(self) -> list[dict[str, Any]]:
        lowest = self.regret.argmin(axis=1)
        return [
            {"threshold": threshold, "lowest": self.models[best], "may_be_best": ", ".join(names)}
            for threshold, best, names in zip(self.thresholds.tolist(), lowest.tolist(), self.sets(), strict=True)
        ]

    def __repr__(self) -> str:
        settled = int((self.possible.sum(axis=1) == 1).sum())
        return f"BestModels({len(self.models)} models, settled at {settled} of {len(self.thresholds)} thresholds)"


def best_models(
    y_true: ArrayLike,
    y_prob: Mapping[str, ArrayLike],
    *,
    thresholds: ArrayLike | None = None,
    references: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> BestModels:
    """At each threshold, say which of several models may be the one with the lowest regret.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values.
    y_prob : mapping of str to array_like of shape (n,) or (n, 2)
        Probabilities of the positive class, by model.
    thresholds : array_like of shape (m,), optional
        Cost ratios, ascending in [0, 1], at most 2,000. By default 1%, 2%, ..., 99%.
    references : bool, default False
        Whether "treat all" and "treat none" compete too.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, which is then taken as known.
    logits : bool, default False
        Whether the scores are log-odds.
    confidence_level : float, default 0.95
        With which the best model is kept at all thresholds at once, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        For the draws behind the bands.

    Returns
    -------
    BestModels

    Raises
    ------
    ValueError
        For invalid data or settings, or no model.

    Notes
    -----
    Every pair of models is compared by its simultaneous difference band, the error probability shared out equally among
    the pairs (Bonferroni). A model is left out where the band of some other model against it lies wholly below zero.

    Examples
    --------
    >>> from stakes.inference import best_models
    >>> y_true, a = [0, 1, 0, 1] * 30, [0.1, 0.8, 0.3, 0.6] * 30
    >>> best_models(y_true, {"a": a}, thresholds=[0.05, 0.5], references=True)
    BestModels(3 models, settled at 1 of 2 thresholds)
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    level = check_level(confidence_level)
    points = check_thresholds(thresholds, "regret")
    options: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    refuse_weighing(y_true, "best_models")
    scores = _scores(y_true, y_prob, logits=logits, **options)
    labels = to_array(y_true, "y_true")
    if sample_weight is not None:
        present = to_array(sample_weight, "sample_weight") > 0.0
        labels, options["sample_weight"] = labels[present], to_array(sample_weight, "sample_weight")[present]
    if check_flag(references, "references"):
        scores |= {name: np.full(len(labels), value) for name, value in CONSTANTS.items()}
    columns = list(scores.values())
    tables = (evaluation_data(labels, score, **options).table for score in columns)
    regret = np.stack([regret_at(table, points, "score") for table in tables], axis=1)
    # every pair has the same draws, and is taken the same way round, whatever the order of the models
    seed = int(generator(random_state).integers(2**63))
    order = sorted(range(len(columns)), key=lambda k: (regret[:, k].tolist(), np.sort(columns[k]).tobytes()))
    possible = np.ones(regret.shape, dtype=bool)
    drawn = options | {"random_state": seed}
    possible[:, order] = _undefeated(labels, [columns[k] for k in order], points, level, drawn)
    return BestModels(tuple(scores), points, regret, possible, level)


def _scores(y_true: Any, y_prob: Any, **options: Any) -> dict[str, Floats]:
    """Check the scores of each model."""
    models = models_by_name(y_prob)
    taken = [name for name in models if name in CONSTANTS]
    if taken:
        raise ValueError(f"a model cannot be called {taken[0]!r}: that names a reference.")
    return {
        name: evaluation_data(y_true, prob, name=f"y_prob[{name!r}]", **options).rows.score
        for name, prob in models.items()
    }


def _undefeated(labels: Any, columns: list[Floats], points: Floats, level: float, options: dict[str, Any]) -> Bools:
    """Mark, at each threshold, the models that no pairwise band shows to be worse than another."""
    pairs = list(combinations(range(len(columns)), 2))
    shared = 1.0 - (1.0 - level) / max(len(pairs), 1)
    possible = np.ones((len(points), len(columns)), dtype=bool)
    for i, j in pairs:
        asked = options | {"thresholds": points, "confidence_level": shared}
        band = difference_band(labels, columns[i], columns[j], "regret", **asked)
        possible[:, j] &= ~(band.simultaneous_high < 0.0)
        possible[:, i] &= ~(band.simultaneous_low > 0.0)
    return possible
