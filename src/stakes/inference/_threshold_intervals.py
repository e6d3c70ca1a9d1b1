"""How sure the entries of a threshold table are: sensitivity, predictive values, likelihood ratios, cost."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data, refuse_weighing
from stakes.core.score_table import ScoreTable
from stakes.core.validation import check_level
from stakes.costs import as_costs
from stakes.curves._thresholds import threshold_table_of
from stakes.inference._band_counts import counts_of, reached
from stakes.inference._band_dependent import dependent_pieces
from stakes.inference._band_limits import combined_limits, mid_p_limits
from stakes.inference._band_pieces import curve_pieces
from stakes.inference._bands import check_thresholds
from stakes.inference._dependence import Design
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.validation import BinarySample
    from stakes.costs import CostsLike
    from stakes.inference._band_counts import Counts
    from stakes.inference._band_pieces import Pieces

    Floats = NDArray[np.float64]
    Limits = tuple[Floats, Floats]

_SHARES = ("sensitivity", "specificity", "ppv", "npv", "share_flagged")
MEASURES = (
    "sensitivity",
    "specificity",
    "ppv",
    "npv",
    "lr_positive",
    "lr_negative",
    "share_flagged",
    "regret",
    "net_benefit",
)


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
        low, high = self.threshold[0], self.threshold[-1]
        return (
            f"ThresholdIntervals({len(self.threshold)} thresholds in [{low:g}, {high:g}], {self.confidence_level:.0%})"
        )


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
    prevalence the predictive values follow from the likelihood ratio by Bayes' rule. Of rows that an outcome weighs, as
    many count for a share p as make p (1 - p) over their number the variance of its estimate, weights estimated anew.

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
    ratio = None if costs is None else as_costs(costs).mean()
    counts = counts_of(data, points, fixed_prevalence=prevalence is not None)
    entries = threshold_table_of(data.table, points, ratio)
    estimate = {name: np.asarray(getattr(entries, name)) for name in MEASURES}
    rows = _Rows(None if data.sample is None or data.sample.origin is None else data.sample, points, estimate)
    limits = _limits(counts, entries.cost_ratio, estimate, NormalDist().inv_cdf(0.5 + level / 2.0), rows)
    unknown = bool(rows.reason)
    low, high = (
        {name: np.where(unknown | np.isnan(estimate[name]), np.nan, limits[name][end]) for name in MEASURES}
        for end in (0, 1)
    )
    return ThresholdIntervals(points, estimate, low, high, level)


class _Rows:
    """Rows that an outcome weighs: how many equal independent ones would make each share as sure as it is."""

    def __init__(self, sample: BinarySample | None, points: Floats, estimate: dict[str, Floats]) -> None:
        self.sample, self.points = sample, points
        self.reason = "" if sample is None or sample.origin is None else sample.origin.outcome.reason
        if sample is None:
            self.sizes = dict.fromkeys(_SHARES, np.full(len(points), np.nan))
            return
        weight = np.ones(len(sample.y)) if sample.weight is None else sample.weight
        design = Design(sample.y, weight, origin=sample.origin)
        shares = np.stack([estimate[name] for name in _SHARES])
        variance = np.empty(shares.shape)
        for k, t in enumerate(points):
            acted, y = sample.score >= t, sample.y
            whole = np.stack([y, ~y, acted, ~acted, np.ones(len(y), dtype=bool)])
            part = np.stack([y & acted, ~(y | acted), y & acted, ~(y | acted), acted])
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = (part - shares[:, k, None] * whole) / (whole @ design.share)[:, None]
            variance[:, k] = design.variance_of(design.parts(slope))[0]
        spread = shares * (1.0 - shares)
        found = np.full(shares.shape, np.nan)
        np.divide(spread, variance, out=found, where=(spread > 0.0) & (variance > 0.0))
        self.sizes = dict(zip(_SHARES, found, strict=True))

    def pieces(self, kind: str, counts: Counts, ratio: Floats) -> Pieces:
        """Pieces of a curve at these thresholds."""
        found = curve_pieces(kind, counts, ratio, 1.0)
        if self.sample is None or self.reason:
            return found
        bins = [reached(self.sample.score, self.points)]
        return dependent_pieces(found, kind, self.sample, bins, fixed_prevalence=counts.totals.fixed_prevalence)


def _limits(counts: Counts, ratio: Floats, estimate: dict[str, Floats], z: float, rows: _Rows) -> dict[str, Limits]:
    above, below, sizes = counts.above, counts.below, rows.sizes
    sensitivity = _share(above[:, 1], below[:, 1], z, sizes["sensitivity"])
    alarms = _share(above[:, 0], below[:, 0], z, sizes["specificity"])
    limits = {
        "sensitivity": sensitivity,
        "specificity": (1.0 - alarms[1], 1.0 - alarms[0]),
        "ppv": _share(above[:, 1], above[:, 0], z, sizes["ppv"]),
        "npv": _share(below[:, 0], below[:, 1], z, sizes["npv"]),
        "share_flagged": _share(above.sum(axis=1), below.sum(axis=1), z, sizes["share_flagged"]),
    }
    p, q = estimate["sensitivity"], 1.0 - estimate["specificity"]
    limits["lr_positive"] = _quotient(p, sensitivity, q, alarms)
    spared, missed = (1.0 - alarms[1], 1.0 - alarms[0]), (1.0 - sensitivity[1], 1.0 - sensitivity[0])
    limits["lr_negative"] = _quotient(1.0 - p, missed, 1.0 - q, spared)
    if counts.totals.fixed_prevalence:
        odds = counts.totals.weight[1] / counts.totals.weight[0]
        limits["ppv"] = _from_odds(odds * limits["lr_positive"][0]), _from_odds(odds * limits["lr_positive"][1])
        high, low = (_from_odds(odds * limit) for limit in limits["lr_negative"])
        limits["npv"] = 1.0 - low, 1.0 - high
        rate = odds / (1.0 + odds)
        reach = [np.hypot(rate * (sensitivity[k] - p), (1.0 - rate) * (alarms[k] - q)) for k in (0, 1)]
        ends = estimate["share_flagged"] - reach[0], estimate["share_flagged"] + reach[1]
        limits["share_flagged"] = np.maximum(ends[0], 0.0), np.minimum(ends[1], 1.0)
    limits["regret"] = combined_limits(rows.pieces("regret", counts, ratio), z)
    inner = np.where(ratio < 1.0, ratio, 0.0)
    limits["net_benefit"] = combined_limits(rows.pieces("net_benefit", counts, inner), z)
    return limits


def _share(part: Floats, rest: Floats, z: float, known: Floats) -> Limits:
    """Limits of a share; ``part`` and ``rest`` hold weights and squared weights, ``known`` effective sizes or nan."""
    weight, squared = part[0] + rest[0], part[1] + rest[1]
    size = np.divide(weight**2, squared, out=np.zeros_like(weight), where=squared > 0.0)
    size = np.where(np.isnan(known), size, known)
    share = np.divide(part[0], weight, out=np.zeros_like(weight), where=weight > 0.0)
    return mid_p_limits(share * size, size, z)


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
