"""Confidence bands of curves, and reliability bands."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import (
    BinarySample,
    Bools,
    Floats,
    Integers,
    check_choice,
    check_level,
    check_names,
    check_number,
    check_same_order,
    check_whole,
    generator,
    in_percent,
    to_array,
    to_floats,
)
from stakes.core.options import (
    EvaluationData,
    check_harm,
    evaluation_data,
    refuse_amounts,
    refuse_weighing,
    with_fixed_weights,
)
from stakes.core.score_table import ScoreTable, class_ratio
from stakes.curves import LocalLogisticFits, bin_starts, local_limits, rarer_rows, reliability_curve_of, times_odds
from stakes.inference._comparison import check_paired
from stakes.inference._imputation import pooled_band
from stakes.inference._simultaneous import (
    Band,
    Pieces,
    Totals,
    band_of,
    counts_of,
    critical_value,
    curve_pieces,
    dependent_pieces,
    difference_pieces,
    pair_counts_of,
    reached,
    shifted,
)
from stakes.outcomes import Imputed
from stakes.outputs.text import percent
from stakes.variance.dependence import Design, count_clusters, dependence_of
from stakes.variance.sums import effective

_Columns = tuple[Floats, Floats, Floats, Floats, Floats, Floats]  # estimate, error, limits, simultaneous limits


# Bounds of the true event rate over the score, if it never falls: those of the band hold for every number of rows.
#
# The event rate of rows with scores up to x is at most the true rate at x, so that a lower confidence limit of the
# one is a lower limit of the other; rows from x on give upper limits. Clopper-Pearson limits of groups of
# neighbouring blocks of rows are shared out by Bonferroni (Dimitriadis, Duembgen, Henzi, Puke and Ziegel 2023,
# doi:10.1093/biomet/asac068).

_MOST_BLOCKS = 128
_MOST_TIED = 0.05  # share of weight at one score above which groups of rows are more informative


def reliability_band(table: ScoreTable, points: Floats, name: str, level: float) -> Band:
    """Isotonic curve with its confidence band at scores between the smallest and the largest."""
    starts = _blocks(table)
    lows, highs = table.scores[starts], table.scores[np.append(starts[1:], len(table.scores)) - 1]
    # blocks that lie wholly up to each score, and the first that lies wholly from it on
    before, after = np.searchsorted(highs, points, side="right"), np.searchsorted(lows, points, side="left")
    groups = _ScoreGroups(table, starts)
    n = len(starts)
    together = (1.0 - level) / (n * (n + 1))
    lower, upper = groups.limits(together)
    bounds = np.maximum.accumulate(lower)[before], np.minimum.accumulate(upper[::-1])[::-1][after]
    # at each score alone, only groups of 1, 2, 4, ... adjacent blocks share the level
    lengths = 2 ** np.arange(n.bit_length())
    lower, upper = groups.limits((1.0 - level) / (2 * len(lengths)), lengths)
    low, high = lower[before], upper[after]
    # the groups that end elsewhere may happen to say more; the band gives that up, so as to hold the intervals
    outer = np.minimum(bounds[0], low), np.maximum(bounds[1], high)
    if np.max(table.positives + table.negatives) <= _MOST_TIED * table.total:
        low, high = (np.clip(ends, *outer) for ends in local_limits(table, points, level))
        outer = np.minimum(outer[0], low), np.maximum(outer[1], high)  # where the true rate falls they may cross
    estimate, unknown = reliability_curve_of(table, name).at(points), np.full(points.shape, np.nan)
    critical = -NormalDist().inv_cdf(together)
    return _over_scores(
        "reliability", table, points, (estimate, unknown, low, high, *outer), critical, level=level, name=name
    )


def _over_scores(
    kind: str, table: ScoreTable, points: Floats, columns: _Columns, critical: float, *, level: float, **told: Any
) -> Band:
    """A band over the score."""
    positives = float(effective(np.float64(table.total_positives), table.positives_squared.sum()))
    told |= {"n_rows": table.n_rows, "n_positives": positives, "about": table.about}
    return Band(kind, points, *columns, critical, level, **told)


def _blocks(table: ScoreTable) -> Integers:
    """First score of each block of about equally many rows, unweighted so that labels do not influence the blocks.

    The number of blocks is proportional to the cube root of the rows, the resolution of an isotonic curve.
    """
    hits = effective(table.positives, table.positives_squared)
    rows = replace(table, positives=hits, negatives=effective(table.negatives, table.negatives_squared))
    return bin_starts(rows, int(min(np.ceil(2.0 * np.cbrt(table.n_rows)), _MOST_BLOCKS)), "quantile")


class _SmoothDesign(NamedTuple):
    """Whether the class totals are known, the clusters, and the draws of the Gaussian process."""

    fixed: bool
    codes: Integers | None
    draws: int
    rng: np.random.Generator


class _ScoreGroups:
    """All groups of consecutive blocks, with limits of their event rates."""

    def __init__(self, table: ScoreTable, starts: Integers) -> None:
        self.n = len(starts)
        names = ("negatives", "positives", "negatives_squared", "positives_squared")
        columns = [np.add.reduceat(getattr(table, name), starts) for name in names]
        self.totals = [float(column.sum()) for column in columns]
        # at [i, j]: from block i to block j, where i <= j; differences of cumulative sums would leave rounding
        self.sums = [np.cumsum(np.triu(np.tile(column, (self.n, 1))), axis=1) for column in columns]

    def limits(self, tail: float, lengths: Integers | None = None) -> tuple[Floats, Floats]:
        """Largest lower limit of the groups that end at each block, smallest upper limit of those that start there."""
        from scipy.special import betaincinv

        first, last = np.triu_indices(self.n)
        if lengths is not None:
            kept = np.isin(last - first + 1, lengths)
            first, last = first[kept], last[kept]
        # Clopper-Pearson, from the effective numbers of rows of each class and its mean weight
        downs, ups, downs_squared, ups_squared = (column[first, last] for column in self.sums)
        misses, hits = effective(downs, downs_squared), effective(ups, ups_squared)
        factor = self._mean_weight(ups, ups_squared, 1) / self._mean_weight(downs, downs_squared, 0)
        some, rest = hits > 0.0, misses > 0.0
        low = np.where(some, betaincinv(np.where(some, hits, 1.0), misses + 1.0, tail), 0.0)
        high = np.where(rest, betaincinv(hits + 1.0, np.where(rest, misses, 1.0), 1.0 - tail), 1.0)
        lower, upper = np.zeros((self.n, self.n)), np.ones((self.n, self.n))
        lower[first, last], upper[first, last] = times_odds(low, factor), times_odds(high, factor)
        return np.append(0.0, lower.max(axis=0)), np.append(upper.min(axis=1), 1.0)

    def _mean_weight(self, weight: Floats, squared: Floats, k: int) -> Floats:
        """Mean weight of a class in each group; of the class, or of all rows, for a group without rows of it."""
        of_all = sum(self.totals[2:]) / sum(self.totals[:2])
        usual = self.totals[2 + k] / self.totals[k] if self.totals[k] > 0.0 else of_all
        return np.divide(squared, weight, out=np.full(weight.shape, usual), where=weight > 0.0)


# The smoothed event rate over the score, where it may fall, with errors that allow for estimated weights and clusters.
#
# A logistic regression on the log-odds of the score in a neighbourhood is exact where the model is off by intercept and
# slope. The error of its log-odds is a sum over rows: what a row pulls times the distance of its label from the fit;
# for rows of an outcome the estimation of their weights adds to it. Limits are Student's t on the log-odds, with as
# many degrees of freedom as the neighbourhood has effective rows of the rarer class.

RATES_NEEDED = 20.0  # effective rows of each class
_TOO_SMOOTH = 0.5  # share of the rows in a neighbourhood above which a bend is hardly seen
_SMOOTH_POINTS, _ENDS = 41, (0.03, 0.97)  # by default: scores between these shares of the rows


def smooth_band(data: EvaluationData, thresholds: Any, name: str, level: float, rest: _SmoothDesign) -> Band:
    """Local logistic regressions with pointwise and simultaneous limits."""
    from scipy.special import expit, ndtr, stdtrit

    table, sample = data.table, data.sample
    if sample is None:
        raise ValueError("y_true and y_prob must be the rows for the band of a smooth curve, got a ScoreTable.")
    rare = rarer_rows(table)
    if rare < RATES_NEEDED:
        needed = f"y_true must hold at least {RATES_NEEDED:g} effective rows of each class for a smooth curve"
        raise ValueError(f"{needed}, got {rare:.3g} of the rarer one.")
    points = _inner_scores(table) if thresholds is None else check_scores_asked(thresholds, table, "smooth")
    fits = LocalLogisticFits.at(table, points)
    covariance = _covariance(fits, table, sample, rest)
    # the sandwich does not see the noise of labels where there are hardly any of one class
    error = np.sqrt(np.maximum(np.diag(covariance), fits.variance))
    critical = _largest_error(covariance / np.outer(error, error), level, rest)
    degrees = fits.span * rare
    alone, largest = (-float(stdtrit(degrees, tail)) for tail in ((1.0 - level) / 2.0, float(ndtr(-critical))))
    rate = expit(fits.log_odds)
    ends = (expit(fits.log_odds + sign * reach * error) for reach in (alone, largest) for sign in (-1.0, 1.0))
    columns = rate, rate * (1.0 - rate) * error, *ends
    band = _over_scores("smooth", table, points, columns, largest, level=level, name=name)
    if fits.span <= _TOO_SMOOTH:
        return band
    wide = f"smoothed over {percent(fits.span, 2)} of the rows, for lack of others"
    return replace(band, about=f"{band.about}, {wide}" if band.about else wide)


def _inner_scores(table: ScoreTable) -> Floats:
    """Scores without the smallest and the largest few, which have neighbours on one side only."""
    share = np.cumsum(table.positives + table.negatives) / table.total
    low, high = np.interp(_ENDS, share, table.scores)
    return np.unique(np.linspace(low, high, _SMOOTH_POINTS))


def _covariance(fits: LocalLogisticFits, table: ScoreTable, sample: BinarySample, rest: _SmoothDesign) -> Floats:
    """Covariances of the log-odds at the scores."""
    weight = np.ones(len(sample.y)) if sample.weight is None else sample.weight
    cell = fits.cells.cell[np.searchsorted(table.scores, sample.score)]
    total, design = float(weight.sum()), Design(sample.y, weight, None, rest.fixed, rest.codes, None, sample.origin)

    def values(points: slice) -> Floats:
        return np.asarray(total * fits.pull[points][:, cell] * (sample.y - fits.rates[points][:, cell]))

    return design.covariances(values, len(fits.pull))


def _largest_error(correlation: Floats, level: float, rest: _SmoothDesign) -> float:
    """Quantile of the largest studentised error, from draws of a Gaussian process."""
    values, vectors = np.linalg.eigh(correlation)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    drawn = rest.rng.standard_normal((rest.draws, len(values)))
    return float(np.quantile(np.abs(drawn @ root).max(axis=1), level))


# Pointwise intervals and simultaneous bands of curves, for one model and for the difference of two.
#
# At given thresholds a curve is linear in the shares of rows of each class above them, so its covariance has a closed
# form; the bounds allow for few rows, and none, beyond a threshold. See docs/uncertainty.md for the coverage.

DIFFERENCE_KINDS = ("regret", "net_benefit", "interventions_avoided")
BAND_KINDS = (*DIFFERENCE_KINDS, "reliability", "smooth")
_SPANS = {"net_benefit": "[0, 1)", "interventions_avoided": "(0, 1)"}
_MOST_THRESHOLDS = 1000
_LEAST_DRAWS = 1000


def confidence_band(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    kind: str | None = None,
    *,
    thresholds: ArrayLike | None = None,
    per: float = 100.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    harm: float = 0.0,
    name: str = "model",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: int | np.random.Generator | None = 0,
) -> Band:
    """Say how sure a curve is, at each threshold and at all of them at once.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2) or Imputed, optional
        Probability of the positive class.
    kind : {"regret", "net_benefit", "interventions_avoided", "reliability", "smooth"}
        Which curve; "smooth" is the event rate over the score, which may fall, for rows of every kind.
    thresholds : array_like of shape (m,), optional
        Where to read the curve, ascending, at most 1,000: in [0, 1] for regret, [0, 1) for net benefit, (0, 1) for
        interventions avoided, between the smallest and the largest score for reliability and smooth. By default 1%, 2%,
        ..., 99%, or 101 scores from the smallest to the largest, or 41 between the 3% and the 97% quantile of the
        scores for smooth.
    per : float, default 100
        Number of cases that avoided interventions are counted in.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, which is then taken as known.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Patients or whatever only differs independently: bounds then rest on the clusters.
    harm : float, default 0
        What obtaining the score costs each case, in true positives, as in :func:`net_benefit_curve`; not of
        reliability.
    name : str, default "model"
        What to call the model.
    confidence_level : float, default 0.95
        Of the intervals and of the band, in (0, 1).
    n_resamples : int, default 10,000
        Draws of the Gaussian process whose largest error gives the critical value; reliability needs none.
    random_state : int, numpy Generator or None, default 0
        For these draws.

    Returns
    -------
    Band

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    The curve is a sum of two shares of rows, such as false positives and misses, times coefficients. Each share has
    mid-p binomial limits (Lancaster 1961), which stay honest where few rows or none lie beyond a threshold; the limits
    of the sum come from the method of variance estimates recovery (Zou and Donner 2008, doi:10.1002/sim.3095). The band
    does the same with the quantile of the largest studentised error, drawn from a Gaussian process that has the curve's
    covariance in closed form plus that of one unseen row in every stretch of thresholds (this mends small samples and
    vanishes with more rows). Both are approximate; docs/uncertainty.md has their coverage by simulation. The band is
    about the thresholds asked for, not those in between. Rows are taken as independent and thresholds as chosen without
    looking at the labels. In a table with binned scores each cell counts as its mean score.

    Reliability: at a score x, bounds of the event rates of groups of rows with scores up to x are lower bounds of the
    true rate at x, and of groups from x on upper bounds, *if the true event rate never falls as the score rises*. The
    bounds are Clopper-Pearson limits shared out among the groups (Bonferroni), as in Dimitriadis et al. (2023),
    doi:10.1093/biomet/asac068, here over groups of blocks of rows; so the band covers at least as often as stated,
    without large samples, and more often than stated. With unequal weights, effective numbers of rows make this
    approximate. The intervals at single scores are so too where scores are tied; elsewhere they are Jeffreys' of a
    local line over the log-odds, within the band, as in :func:`smooth_calibration_curve`.

    Smooth: logistic regressions on the log-odds of the score (Loader 1999, chapter 4), each in a neighbourhood of a
    fifth of the rows (less beyond 1,000), or of as many as hold 50 effective rows of the rarer class. Errors are
    the larger of the sandwich, with clusters and the estimation of the weights of an outcome (censoring,
    verification), and of what labels of the fitted rates have if weights are known, which is seldom too small: with
    censoring the limits are mostly those of known weights, a little too wide. Limits are Student's t on the
    log-odds, those of the band by the quantile of the largest error of a Gaussian process. Needs 20 effective rows
    of each class; below 100 ``about`` says how wide neighbourhoods are, and bends are smoothed away. In simulation
    (docs/uncertainty.md) the band covers .95 to .98 where scores are right, and .82 of a bent curve at 50.

    Examples
    --------
    >>> from stakes.inference import confidence_band
    >>> y, p = [0, 0, 1, 0, 1, 1] * 20, [0.1, 0.2, 0.3, 0.5, 0.7, 0.9] * 20
    >>> band = confidence_band(y, p, "net_benefit", thresholds=[0.1, 0.2, 0.4])
    >>> band.estimate.round(3).tolist()
    [0.444, 0.417, 0.222]
    >>> band.simultaneous_low.round(2).tolist(), band.simultaneous_high.round(2).tolist()
    ([0.33, 0.3, 0.1], [0.55, 0.53, 0.34])
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, clusters=clusters)
    kind, said = check_choice(kind, "kind", BAND_KINDS), ""
    level, draws = check_level(confidence_level), check_whole(n_resamples, "n_resamples", _LEAST_DRAWS)
    asked: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    if isinstance(y_prob, Imputed):
        asked |= {"thresholds": thresholds, "per": per, "logits": logits, "clusters": clusters, "harm": harm}
        asked |= {"name": name, "confidence_level": level, "n_resamples": draws, "random_state": random_state}
        each = [confidence_band(y_true, p, _pooled_kind(kind), **asked) for p in y_prob.scores]
        return pooled_band(each, 0 if clusters is None else count_clusters(clusters, sample_weight))
    if isinstance(y_true, ScoreTable) and kind != "reliability":
        y_true, said = with_fixed_weights(y_true)
    data, fixed = evaluation_data(y_true, y_prob, **asked, logits=logits, amounts=True), prevalence is not None
    cost = check_harm(harm)
    if kind in {"reliability", "smooth"}:
        _check_rates(kind, y_true, cost, clusters)
    if kind == "smooth":
        codes = None if data.sample is None else dependence_of(data.sample, clusters, None, sample_weight)[0]
        return smooth_band(data, thresholds, name, level, _SmoothDesign(fixed, codes, draws, generator(random_state)))
    if kind == "reliability":
        return reliability_band(data.table, check_scores_asked(thresholds, data.table), name, level)
    points = check_thresholds(thresholds, kind)
    counts = counts_of(data, points, fixed_prevalence=fixed)
    pieces = curve_pieces(kind, counts, points, _check_per(per))
    if data.sample is not None:
        codes, _ = dependence_of(data.sample, clusters, None, sample_weight)
        bins = [reached(data.sample.score, points)]
        pieces = dependent_pieces(pieces, kind, data.sample, bins, fixed_prevalence=fixed, codes=codes)
    elif clusters is not None:
        raise ValueError("clusters= need the rows: pass y_true and y_prob instead of a ScoreTable.")
    told = {"kind": kind, "per": per, "thresholds": points, "level": level, "name": name}
    told["about"] = data.about + (f", {said}" if said else "")
    return _banded(pieces, counts.totals, data.sample, cost, (draws, generator(random_state)), **told)


def _check_rates(kind: str, y_true: Any, harm: float, clusters: Any) -> None:
    """Refuse what the event rate over the score does not take."""
    if harm:
        raise ValueError(f"harm must be 0 for {kind}, got {harm:g}: obtaining a score changes no event rate.")
    refuse_amounts(y_true)
    if kind == "reliability":
        if clusters is not None:
            raise ValueError("clusters must be None for reliability: its band takes the rows as independent.")
        refuse_weighing(y_true, 'the band of a reliability curve (kind="smooth" allows for that)')


def _pooled_kind(kind: str) -> str:
    """Refuse curves over the score, which is another in each completed data set."""
    if kind in {"reliability", "smooth"}:
        raise ValueError(
            f"kind must be one of {', '.join(DIFFERENCE_KINDS)} for Imputed scores, got {kind!r}: there is no rule to "
            "pool event rates over scores that differ between the data sets."
        )
    return kind


def difference_band(
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    kind: str,
    *,
    thresholds: ArrayLike | None = None,
    per: float = 100.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    harm: tuple[float, float] = (0.0, 0.0),
    names: tuple[str, str] = ("a", "b"),
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: int | np.random.Generator | None = 0,
) -> Band:
    """Say how sure the difference between the curves of two models on the same rows is.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values.
    a, b : array_like of shape (n,) or (n, 2)
        Probabilities of the positive class from the two models.
    kind : {"regret", "net_benefit", "interventions_avoided"}
        Which curve. Regret is better where it is lower, the others where they are higher.
    thresholds : array_like of shape (m,), optional
        Where to read the curves, ascending, at most 1,000. By default 1%, 2%, ..., 99%.
    per : float, default 100
        Number of cases that avoided interventions are counted in.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, which is then taken as known.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Patients or whatever only differs independently: bounds then rest on the clusters.
    harm : tuple of float, default (0, 0)
        What obtaining the score of each model costs each case, as in :func:`confidence_band`.
    names : tuple of str, default ("a", "b")
        What to call the models.
    confidence_level : float, default 0.95
        Of the intervals and of the band, in (0, 1).
    n_resamples : int, default 10,000
        Draws of the Gaussian process whose largest error gives the critical value.
    random_state : int, numpy Generator or None, default 0
        For these draws.

    Returns
    -------
    Band
        Of a less b.

    Raises
    ------
    ValueError
        For invalid data or settings, and for score tables, which do not say which scores belong together.

    Notes
    -----
    As in :func:`confidence_band`, from the shares of rows of each class that only one of the models acts on. Where no
    row tells the models apart, the bounds are those of an event not seen in n rows, not zero; they are zero where each
    row has the same score twice.

    Examples
    --------
    >>> from stakes.inference import difference_band
    >>> y, a, b = [0, 1, 0, 1] * 30, [0.1, 0.8, 0.3, 0.6] * 30, [0.4, 0.6, 0.5, 0.4] * 30
    >>> difference_band(y, a, b, "regret", thresholds=[0.2, 0.35])
    Band(regret of a - b at 2 thresholds in [0.2, 0.35], 95%, below zero at 2, above at 0, 120 rows with 60 positives)
    """
    check_paired(y_true, a, b, sample_weight=sample_weight, clusters=clusters)
    check_choice(kind, "kind", DIFFERENCE_KINDS)
    less = _check_harms(harm)
    level, draws = check_level(confidence_level), check_whole(n_resamples, "n_resamples", _LEAST_DRAWS)
    points = check_thresholds(thresholds, kind)
    asked: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    first, second = (
        evaluation_data(y_true, scores, **asked, logits=logits, amounts=True, name=argument).rows
        for argument, scores in (("a", a), ("b", b))
    )
    counts = pair_counts_of(first, second.score, points, fixed_prevalence=prevalence is not None)
    pieces = difference_pieces(kind, counts, points, _check_per(per))
    bins = [reached(sample.score, points) for sample in (first, second)]
    codes, _ = dependence_of(first, clusters, None, sample_weight)
    pieces = dependent_pieces(pieces, kind, first, bins, fixed_prevalence=prevalence is not None, codes=codes)
    told = {"kind": kind, "per": per, "thresholds": points, "level": level, "is_difference": True}
    told |= {"name": " - ".join(check_names(names)), "about": first.about}
    band = _banded(pieces, counts.totals, first, less, (draws, generator(random_state)), **told)
    if not np.array_equal(first.score, second.score):
        return band
    alone = band.estimate
    return replace(band, low=alone, high=alone, simultaneous_low=alone, simultaneous_high=alone)


def _banded(
    pieces: Pieces, totals: Totals, rows: BinarySample | None, harm: float, drawn: tuple[int, Any], **told: Any
) -> Band:
    """Build the band of a curve from its terms, shifted by the cost of obtaining the score."""
    if rows is not None and rows.origin is not None:  # those of unknown class are counted too
        totals = totals._replace(n_rows=rows.origin.n_rows)
    draws, rng = drawn
    critical = critical_value(pieces, told["level"], lambda size: rng.standard_normal((draws, size), dtype=np.float32))
    told["per"] = float(told["per"]) if told["kind"] == "interventions_avoided" else None
    band = band_of(pieces, totals, critical, **told)
    if harm == 0.0:
        return band
    t, per = band.thresholds, band.per
    if band.kind == "regret":
        return shifted(band, harm * (1.0 - t))
    return shifted(band, -harm if per is None else -per * harm * (1.0 - t) / t)


def _check_harms(harm: Any) -> float:
    if not isinstance(harm, tuple | list) or len(harm) != 2:
        raise ValueError(f"harm must be a pair, those of both models, got {harm!r}.")
    first, second = map(check_harm, harm)
    return first - second


def check_thresholds(thresholds: Any, kind: str) -> Floats:
    """Return ascending thresholds within the domain of the curve, or raise."""
    if thresholds is None:
        return np.arange(1, 100) / 100.0
    points, span = _check_ascending(thresholds), _SPANS.get(kind, "[0, 1]")
    above = points > 0.0 if span.startswith("(") else points >= 0.0
    below = points < 1.0 if span.endswith(")") else points <= 1.0
    _require(above & below, points, f"of {kind} must lie in {span}")
    return points


def check_scores_asked(thresholds: Any, table: ScoreTable, kind: str = "reliability") -> Floats:
    """Return ascending scores within those of a table, or raise."""
    low, high = float(table.scores[0]), float(table.scores[-1])
    if thresholds is None:
        return np.unique(np.clip(np.linspace(low, high, 101), low, high))
    points, span = _check_ascending(thresholds), f"[{low:g}, {high:g}]"
    within = (points >= low) & (points <= high)
    _require(within, points, f"of {kind} must lie between the smallest and the largest score, {span}")
    return points


def _require(good: Bools, points: Floats, rule: str) -> None:
    if not good.all():
        first = int(np.argmin(good))
        raise ValueError(f"thresholds {rule}, got {points[first]} at index {first}{in_percent(points[first])}.")


def _check_ascending(thresholds: Any) -> Floats:
    points = to_floats(to_array(thresholds, "thresholds"), "thresholds")
    if points.ndim != 1 or not 1 <= len(points) <= _MOST_THRESHOLDS:
        raise ValueError(f"thresholds must be 1 to {_MOST_THRESHOLDS} numbers, got shape {points.shape}.")
    _require(np.isfinite(points), points, "must be finite")
    if np.any(np.diff(points) <= 0.0):
        first = int(np.argmax(np.diff(points) <= 0.0)) + 1
        raise ValueError(
            f"thresholds must be strictly ascending, got {points[first]} at index {first} after {points[first - 1]}."
        )
    return points + 0.0


def _check_per(per: float) -> float:
    if not 0.0 < check_number(per, "per") < math.inf:
        raise ValueError(f"per must be a finite number > 0, got {per}.")
    return float(per)


# Consistency bands: reliability curves of labels drawn from the scores, as if these were calibrated.

_CELLS = 1000


def consistency_band(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    logits: bool = False,
    name: str = "model",
    confidence_level: float = 0.95,
    n_resamples: int = 5000,
    random_state: int | np.random.Generator | None = 0,
) -> Band:
    """Show where the reliability curve would lie if the scores were calibrated: outside, they are not.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    thresholds : array_like of shape (m,), optional
        Scores at which to read the curve, ascending, between the smallest and the largest; by default 101 of them.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0. Rows of one score count as an effective number of equal rows; where the classes weigh
        differently at the same score, labels are drawn as if rows had been sampled by them.
    pos_label : object, optional
        The label of the positive class.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        What to call the model.
    confidence_level : float, default 0.95
        Of the band, in (0, 1).
    n_resamples : int, default 5000
        How often labels are drawn, at least 1,000.
    random_state : int, numpy Generator or None, default 0
        For these draws.

    Returns
    -------
    Band
        ``estimate`` is the reliability curve itself, ``standard_error`` the spread of the curves of drawn labels.
        ``low`` and ``high`` hold a calibrated score's curve at one score, ``simultaneous_low`` and
        ``simultaneous_high`` at all of them, each with probability ``confidence_level``.

    Raises
    ------
    ValueError
        For invalid data or settings, and for tables reweighted to a prevalence, which rows drawn from the scores would
        not have.

    Notes
    -----
    Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118: y is drawn from Bernoulli(score) and the
    isotonic curve fitted anew. The simultaneous band is a global rank envelope (Myllymäki et al. 2017,
    doi:10.1111/rssb.12172). Beyond 2,000 distinct scores, neighbouring ones are pooled for the drawing into about 1,000
    cells of equal weight and 1,000 of equal width, smaller at the ends.

    Examples
    --------
    >>> from stakes.inference import consistency_band
    >>> band = consistency_band([0, 0, 0, 1] * 50, [0.1, 0.4, 0.6, 0.8] * 50, thresholds=[0.1, 0.4, 0.6])
    >>> band.excludes(band.thresholds).any(), (band.estimate < band.simultaneous_low).tolist()
    (np.False_, [True, True, True])
    """
    level = check_level(confidence_level)
    n_resamples = check_whole(n_resamples, "n_resamples", _LEAST_DRAWS)
    refuse_weighing(y_true, "consistency_band")
    table = evaluation_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, logits=logits).table
    if table.fixed_prevalence:
        raise ValueError("consistency_band needs the rows as they were sampled, got a table with a set prevalence.")
    points = check_scores_asked(thresholds, table)
    rng = generator(random_state)
    curves = drawn_curves(table, points, n_resamples, rng)
    low, high = np.quantile(curves, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    outer = rank_envelope(curves, level)
    ends = low, high, np.minimum(outer[0], low), np.maximum(outer[1], high)
    estimate, error = np.interp(points, table.scores, table.pav_by_score()), curves.std(axis=0, ddof=1)
    told: dict[str, Any] = {"level": level, "name": name, "is_consistency": True}
    return _over_scores("reliability", table, points, (estimate, error, *ends), math.nan, **told)


def drawn_curves(table: ScoreTable, points: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Isotonic curves of labels drawn from the scores, at some points: one row for each draw.

    A drawn label brings the weight of its class; rows whose positives weigh r times as much were sampled by the
    outcome, and have the odds of the scores over r.
    """
    curves = np.empty((n_resamples, len(points)))
    from scipy.optimize import isotonic_regression

    ratio = class_ratio(table)
    score, each, size = _cells(table, ratio)
    chance = times_odds(score, 1.0 / ratio)
    for line in curves:
        ups = rng.binomial(size, chance)
        total = ratio * ups + (size - ups)
        line[:] = np.interp(points, score, isotonic_regression(ratio * ups / total, weights=each * total).x)
    return curves


def rank_envelope(curves: Floats, level: float) -> tuple[Floats, Floats]:
    """Rank envelope: the narrowest bounds, of equal rank at every point, that contain a new curve.

    A curve that others are held against counts itself among those not beyond it, one that is new does not: its rank is
    lower by one.
    """
    ordered = np.sort(curves, axis=0)
    ranks = np.empty(curves.shape, dtype=np.intp)
    for column in range(curves.shape[1]):
        values = curves[:, column]
        below = np.searchsorted(ordered[:, column], values, side="right")
        above = len(values) - np.searchsorted(ordered[:, column], values, side="left")
        ranks[:, column] = np.minimum(below, above)
    extreme = np.sort(ranks.min(axis=1))
    rank = int(extreme[int((1.0 - level) * len(extreme))]) - 1
    if rank < 1:
        raise ValueError(
            f"n_resamples must be larger: {len(extreme)} are too few to tell a {level:.6g} band over "
            f"{curves.shape[1]} thresholds. Ask for more of the ones, fewer of the others, or a lower confidence_level."
        )
    return ordered[rank - 1], ordered[-rank]


def _cells(table: ScoreTable, ratio: float) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Mean score, weight of a negative and effective number of rows by score, or by cell of neighbouring scores.

    A positive weighs ``ratio`` times as much as a negative.
    """
    score, weight = table.scores, table.positives + table.negatives
    like = table.positives / ratio + table.negatives
    squared = table.positives_squared / ratio**2 + table.negatives_squared
    if len(score) > 2 * _CELLS:
        before = np.concatenate([[0.0], np.cumsum(weight)])
        by_rank = np.searchsorted(before, np.linspace(0.0, before[-1], _CELLS + 1)[1:-1])
        by_score = np.searchsorted(score, np.linspace(score[0], score[-1], _CELLS + 1)[1:-1])
        # the first and last blocks of an isotonic curve are short: cells grow from single scores at either end
        ends = np.unique(np.geomspace(1.0, len(score), _CELLS // 5).astype(np.intp))
        starts = np.unique(np.concatenate([[0], by_rank, by_score, ends, len(score) - ends]))
        starts = starts[starts < len(score)]
        score = np.add.reduceat(weight * score, starts) / np.add.reduceat(weight, starts)
        like, squared = np.add.reduceat(like, starts), np.add.reduceat(squared, starts)
    size = np.maximum(np.rint(like**2 / squared), 1.0).astype(np.int64)
    return np.clip(score, 0.0, 1.0), like / size, size
