"""Reliability curves: isotonic, binned, and smooth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.numerics import logit
from stakes.base.validation import Floats, blocks, check_choice, check_level, check_unit, check_whole
from stakes.core.options import EvaluationData, evaluation_data, refuse_weighing
from stakes.core.score_table import COLUMNS, ScoreTable, in_narrow_cells
from stakes.curves._curve import Curve, straight, through
from stakes.outcomes import BeyondFollowUpError, TimeToEvent
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import Tabular, build_frame

# Reliability: the event rate at each score, by isotonic regression.


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityCurve(Curve):
    """A reliability curve and the isotonic blocks behind it.

    Parameters
    ----------
    block_low, block_high : ndarray
        Smallest and largest score of each block.
    block_rate : ndarray
        Observed event rate of each block.
    block_weight : ndarray
        Total weight of each block.

    Examples
    --------
    >>> from stakes import reliability_curve
    >>> reliability_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).block_rate.tolist()
    [0.0, 0.5, 1.0]
    """

    block_low: Floats = None  # type: ignore[assignment]
    block_high: Floats = None  # type: ignore[assignment]
    block_rate: Floats = None  # type: ignore[assignment]
    block_weight: Floats = None  # type: ignore[assignment]

    def frame(self, backend: Any = None) -> Any:
        """Return one row for each isotonic block as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``score_low``, ``score_high``, ``event_rate``, ``weight``.

        Examples
        --------
        >>> from stakes import reliability_curve
        >>> reliability_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).frame("polars").shape
        (3, 4)
        """
        columns = {
            "score_low": self.block_low,
            "score_high": self.block_high,
            "event_rate": self.block_rate,
            "weight": self.block_weight,
        }
        return build_frame(columns, backend)


def reliability_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> ReliabilityCurve:
    """Observed event rate against the score, without bins: the diagonal is perfect calibration.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
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
    ReliabilityCurve
        Defined from the smallest to the largest score, linear between isotonic blocks.

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    CORP: Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118. Tied scores are pooled first.

    Examples
    --------
    >>> from stakes import reliability_curve
    >>> reliability_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).at([0.35, 0.6]).tolist()
    [0.5, 0.75]
    """
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
    return reliability_curve_of(data.table, name)


def reliability_curve_of(table: ScoreTable, name: str = "model") -> ReliabilityCurve:
    """Reliability curve from a clean table."""
    starts = table.pav_starts
    low, high = table.scores[starts[:-1]], table.scores[starts[1:] - 1]
    rate = table.pav_values
    weight = np.add.reduceat(table.positives, starts[:-1]) + np.add.reduceat(table.negatives, starts[:-1])
    wide = high > low
    x = np.column_stack([low, high]).ravel()[np.column_stack([np.ones_like(wide), wide]).ravel()]
    y = np.repeat(rate, 1 + wide)
    found: dict[str, Any] = through(x, y) | {"start": float(y[0]), "name": name, "about": table.about}
    found |= {"block_low": low, "block_high": high, "block_rate": rate, "block_weight": weight}
    return ReliabilityCurve("reliability", x_label="score", **found)


# Calibration by bins: event rate against mean score in bins of equal weight or equal width, with intervals.

Binning = Literal["quantile", "uniform"]
Interval = Literal["wilson", "clopper-pearson"]
BINNINGS = ("quantile", "uniform")
INTERVALS = ("wilson", "clopper-pearson")


@dataclass(frozen=True, eq=False, repr=False)
class BinnedReliability(Tabular):
    """Event rate and mean score of each bin that holds rows.

    Parameters
    ----------
    score_low, score_high : ndarray of shape (k,)
        Smallest and largest score in each bin.
    mean_score, event_rate : ndarray of shape (k,)
        Weighted means of the score and of the label.
    weight : ndarray of shape (k,)
        Total weight.
    effective_n : ndarray of shape (k,)
        Squared total weight over the total of squared weights (Kish): the number of rows where all weigh the same. The
        limits rest on that of each class.
    ci_low, ci_high : ndarray of shape (k,)
        Confidence interval of the event rate.
    confidence_level : float
        Of every interval.
    interval, binning : str
        How intervals and bins were made.
    name : str
        The model.
    about : str, default ""
        What a picture must say of the rows: the horizon, what weighs them.

    Examples
    --------
    >>> from stakes.curves import binned_reliability
    >>> bins = binned_reliability([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.8], n_bins=2)
    >>> bins.mean_score.round(6).tolist(), bins.event_rate.tolist()
    ([0.2, 0.6], [0.0, 1.0])
    """

    _count_columns: ClassVar[tuple[str, ...]] = ("weight", "effective_n")

    score_low: Floats
    score_high: Floats
    mean_score: Floats
    event_rate: Floats
    weight: Floats
    effective_n: Floats
    ci_low: Floats
    ci_high: Floats
    confidence_level: float
    interval: str
    binning: str
    name: str = "model"
    about: str = ""

    @property
    def expected_calibration_error(self) -> float:
        """Mean distance between event rate and mean score over the bins; it depends on the bins.

        Examples
        --------
        >>> from stakes.curves import binned_reliability
        >>> round(binned_reliability([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.8], n_bins=2).expected_calibration_error, 6)
        0.3
        """
        gap = np.abs(self.event_rate - self.mean_score)
        return float(np.dot(self.weight, gap) / self.weight.sum())

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the bins with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to :meth:`stakes.display.BinnedReliabilityDisplay.plot`.

        Returns
        -------
        stakes.display.BinnedReliabilityDisplay

        Examples
        --------
        >>> from stakes.curves import binned_reliability
        >>> bins = binned_reliability([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.8], n_bins=2)
        >>> bins.plot().ax_.get_ylabel()
        'Observed event rate'
        """
        return draw(self, ax, **options)

    def _records(self) -> list[dict[str, Any]]:
        columns = {key: value.tolist() for key, value in vars(self).items() if isinstance(value, np.ndarray)}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def __repr__(self) -> str:
        error = self.expected_calibration_error
        return f"BinnedReliability({len(self.weight)} {self.binning} bins, expected calibration error {error:.4g})"


def binned_reliability(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 10,
    binning: Binning = "quantile",
    interval: Interval = "wilson",
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> BinnedReliability:
    """Observed event rate against the mean score in bins, with an interval for each: the customary calibration plot.

    Parameters
    ----------
    y_true : array_like of shape (n,), TimeToEvent or ScoreTable
        Labels with two values, or a table that stands for labels and scores; of follow-up each bin's rate is one less
        its own Kaplan-Meier estimate, or that of Aalen and Johansen where causes compete.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    n_bins : int, default 10
        Number of bins; those without rows are left out.
    binning : {"quantile", "uniform"}, default "quantile"
        Bins of about equal weight, in which tied scores stay together (each goes where the middle of its weight
        falls); or of equal width, each with its upper end.
    interval : {"wilson", "clopper-pearson"}, default "wilson"
        Interval of each event rate, with each class's effective number of rows where weights differ: at a stated
        prevalence that of the rows as they are, carried through the odds.
    confidence_level : float, default 0.95
        Of every interval, in (0, 1).
    sample_weight : array_like of shape (n,), optional
        Weights >= 0. Intervals take them for sampling weights, not for repeated rows.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the points in pictures.

    Returns
    -------
    BinnedReliability

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    Bins hide what happens within them and their number changes the picture: :func:`reliability_curve` needs none.
    Wilson (1927); Clopper and Pearson (1934).

    Examples
    --------
    >>> from stakes.curves import binned_reliability
    >>> bins = binned_reliability([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.8], n_bins=2)
    >>> bins.ci_low.round(4).tolist(), bins.ci_high.round(4).tolist()
    ([0.0, 0.3424], [0.6576, 1.0])
    """
    n_bins = check_whole(n_bins, "n_bins", 1)
    check_choice(binning, "binning", BINNINGS)
    check_choice(interval, "interval", INTERVALS)
    level = check_level(confidence_level)
    if isinstance(y_true, TimeToEvent):
        if prevalence is not None:
            raise ValueError(f"prevalence must be None for a TimeToEvent, whose rates it has, got {prevalence}.")
        known = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
        how: dict[str, Any] = {"n_bins": n_bins, "binning": binning, "interval": interval, "confidence_level": level}
        return _followed_bins(y_true, known, name, **how)
    refuse_weighing(y_true, "binned_reliability")
    table = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits).table
    return binned_reliability_of(table, name, n_bins=n_bins, binning=binning, interval=interval, confidence_level=level)


def binned_reliability_of(
    table: ScoreTable,
    name: str = "model",
    *,
    n_bins: int = 10,
    binning: Binning = "quantile",
    interval: Interval = "wilson",
    confidence_level: float = 0.95,
) -> BinnedReliability:
    """Calibration by bins from a clean table."""
    starts = bin_starts(table, n_bins, binning)
    weights = table.positives + table.negatives
    weight, ups = np.add.reduceat(weights, starts), np.add.reduceat(table.positives, starts)
    squares = np.add.reduceat(table.positives_squared + table.negatives_squared, starts)
    rate, size = ups / weight, weight**2 / squares
    low, high = _limits_by_class(table, starts, interval, confidence_level)
    first, last = table.scores[starts], table.scores[np.append(starts[1:], len(table.scores)) - 1]
    columns = first, last, np.add.reduceat(weights * table.scores, starts) / weight, rate, weight, size, low, high
    return BinnedReliability(*columns, confidence_level, interval, binning, name, table.about)


def _limits_by_class(
    table: ScoreTable, starts: NDArray[np.intp], interval: Interval, level: float
) -> tuple[Floats, Floats]:
    """Limits of the event rates of bins: of each class's effective rows, carried through the odds to the weights.

    One effective size for both classes would hold only where weights have nothing to do with the class.
    """
    ups, downs, *squares = (np.add.reduceat(getattr(table, name), starts) for name in COLUMNS)
    hits, rest = (
        np.divide(each**2, square, out=np.zeros_like(each), where=each > 0.0)
        for each, square in zip((ups, downs), squares, strict=True)
    )
    factor = np.full(len(starts), _rescale_classes(table)[1])  # for bins with one class only
    np.divide(ups * rest, downs * hits, out=factor, where=(hits > 0.0) & (rest > 0.0))
    bounds = wilson if interval == "wilson" else clopper_pearson
    low, high = bounds(hits / (hits + rest), hits + rest, level)
    return times_odds(low, factor), times_odds(high, factor)


def _followed_bins(
    outcome: TimeToEvent, data: EvaluationData, name: str, *, n_bins: int, binning: Binning, **how: Any
) -> BinnedReliability:
    """Event rates by the horizon in bins of all rows, censoring estimated within each bin."""
    origin = data.rows.origin
    if origin is None:  # nobody is censored before the horizon
        return binned_reliability_of(data.table, name, n_bins=n_bins, binning=binning, **how)
    score = origin.score
    table = ScoreTable.from_predictions(outcome.y, score, sample_weight=outcome.sample_weight)
    starts = bin_starts(table, n_bins, binning)
    place = np.searchsorted(table.scores[starts], score, side="right") - 1
    rows = [_followed_bin(outcome, score, (place == k) & outcome.present) for k in range(len(starts))]
    first, last, mean, rate, weight, size = np.array(rows).T
    bounds = wilson if how["interval"] == "wilson" else clopper_pearson
    ends = bounds(rate, size, how["confidence_level"])
    columns = first, last, mean, rate, weight, size, *ends
    return BinnedReliability(*columns, how["confidence_level"], how["interval"], binning, name, data.about)


def _followed_bin(outcome: TimeToEvent, score: Floats, mine: NDArray[np.bool_]) -> tuple[float, ...]:
    """Smallest, largest and mean score of some rows, their event rate and weight, and how many rows it is worth."""
    try:
        part = outcome.take(mine)
    except BeyondFollowUpError as beyond:
        raise BeyondFollowUpError(
            f"n_bins must leave somebody followed to the horizon in each bin: {beyond}"
        ) from beyond
    weight, inside, rate = outcome.units[mine], score[mine], part.prevalence
    total = float(weight.sum())
    variance = float(np.square(weight * part.influence(part.y - rate)).sum()) / total**2
    uneven = variance > 0.0 and 0.0 < rate < 1.0
    size = rate * (1.0 - rate) / variance if uneven else total**2 / float(np.square(weight).sum())
    return float(inside.min()), float(inside.max()), float(weight @ inside) / total, rate, total, size


def bin_starts(table: ScoreTable, n_bins: int, binning: Binning) -> NDArray[np.intp]:
    """Index of the first score of each nonempty bin."""
    if binning == "uniform":
        inner = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
        cuts = np.searchsorted(table.scores, inner, side="right")
    else:
        weights = table.positives + table.negatives
        middle = np.cumsum(weights) - 0.5 * weights
        cuts = np.searchsorted(middle, np.arange(1, n_bins) / n_bins * table.total, side="left")
    starts = np.unique(np.concatenate([[0], cuts]))
    return starts[starts < len(table.scores)].astype(np.intp)


def wilson(rate: Floats, size: Floats, confidence_level: float) -> tuple[Floats, Floats]:
    """Wilson score interval of a proportion."""
    z2 = NormalDist().inv_cdf(0.5 + confidence_level / 2.0) ** 2
    centre = rate + z2 / (2.0 * size)
    half = np.sqrt(z2 * (rate * (1.0 - rate) / size + z2 / (4.0 * size**2)))
    shrink = 1.0 + z2 / size
    low, high = (centre - half) / shrink, (centre + half) / shrink
    return np.where(rate > 0.0, np.maximum(low, 0.0), 0.0), np.where(rate < 1.0, np.minimum(high, 1.0), 1.0)


def clopper_pearson(rate: Floats, size: Floats, confidence_level: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson ("exact") interval of a proportion."""
    from scipy.special import betaincinv

    tail = (1.0 - confidence_level) / 2.0
    hits, rest = rate * size, (1.0 - rate) * size
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(hits > 0.0, betaincinv(hits, rest + 1.0, tail), 0.0)
        high = np.where(rest > 0.0, betaincinv(hits + 1.0, rest, 1.0 - tail), 1.0)
    return low, high


def jeffreys(rate: Floats, size: Floats, confidence_level: float) -> tuple[Floats, Floats]:
    """Equal-tailed interval of a proportion under Jeffreys' prior, widened to hold a proportion next to 0 or 1."""
    from scipy.special import betaincinv

    tail = (1.0 - confidence_level) / 2.0
    hits, rest = rate * size + 0.5, (1.0 - rate) * size + 0.5
    return np.minimum(betaincinv(hits, rest, tail), rate), np.maximum(betaincinv(hits, rest, 1.0 - tail), rate)


# The smooth calibration curve of reporting guidelines: local linear regression of the label on the score.
#
# Local linear regression with tricube weights over the nearest share of the rows. Long tables are pooled into some
# thousand cells first, fine against the bandwidth, so that the work does not grow with the data. Over the log-odds of
# the score and fewer rows the bias of smoothing is small against the noise, and the band covers the true rate.

Axis = Literal["score", "log-odds"]
SPAN = 2.0 / 3.0
AXES = ("score", "log-odds")
_LEAST = 1e-6  # scores nearer to 0 or 1 are taken for this near
_POINTS = 200  # at which lines over the log-odds are fitted
_CELLS = 1000  # evenly spaced in rank, and as many in score
_FLAT = 1e-9  # spread of the neighbours, as a share of the squared bandwidth, below which no slope is fitted
_AT_ONCE = 16  # points whose kernels fit into the cache
_EVENTS_EACH = 50.0  # effective rows of the rarer class in a neighbourhood
_STEPS, _CONVERGED = 50, 1e-9  # of the method of Newton
_RIDGE, _FARTHEST = 1e-9, 20.0  # a trace of shrinkage, and the largest log-odds
_TINY = 1e-300  # a reach by which a gap can be divided


_KEPT: WeakKeyDictionary[ScoreTable, SmoothCalibrationCurve] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False, repr=False)
class SmoothCalibrationCurve(Curve):
    """A smoothed event rate over the score, with its standard error.

    Parameters
    ----------
    standard_error : ndarray
        Of the smoothed rate at each knot; without the bias of smoothing.
    effective_n : ndarray
        How many rows of equal weight would tell the rate at each knot as well.
    span : float
        Share of the weight in each neighbourhood.
    odds_factor : float
        What a stated prevalence multiplies the odds of the rows with.

    Examples
    --------
    >>> from stakes.curves import smooth_calibration_curve
    >>> smooth_calibration_curve([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]).at([0.2, 0.8]).round(3).tolist()
    [0.321, 0.857]
    """

    standard_error: Floats = None  # type: ignore[assignment]
    effective_n: Floats = None  # type: ignore[assignment]
    span: float = SPAN
    odds_factor: float = 1.0

    def band(self, confidence_level: float = 0.95) -> tuple[Floats, Floats]:
        """Pointwise band at the knots: Jeffreys' interval of a proportion seen in ``effective_n`` rows.

        Over the log-odds it covers the true rate nearly as often as stated (``docs/calibration.md``); over the score it
        holds the mean of the smoothed curve, and misses the true rate where that bends.

        Parameters
        ----------
        confidence_level : float, default 0.95
            In (0, 1).

        Returns
        -------
        low, high : ndarray
            One value for each of ``knots``.

        Examples
        --------
        >>> from stakes.curves import smooth_calibration_curve
        >>> low, high = smooth_calibration_curve([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]).band()
        >>> float(low.min()) >= 0, float(high.max()) <= 1
        (True, True)
        """
        level = check_level(confidence_level)
        rate = times_odds(self.at(self.knots), 1.0 / self.odds_factor)
        low, high = jeffreys(rate, self.effective_n, level)
        return times_odds(low, self.odds_factor), times_odds(high, self.odds_factor)

    def frame(self, backend: Any = None) -> Any:
        """Return the knots, the smoothed event rates, their standard errors and the 95% band as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``score``, ``event_rate``, ``standard_error``, ``ci_low``, ``ci_high``.

        Examples
        --------
        >>> from stakes.curves import smooth_calibration_curve
        >>> smooth_calibration_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).frame("polars").shape
        (4, 5)
        """
        low, high = self.band()
        columns = {
            "score": self.knots,
            "event_rate": self.at(self.knots),
            "standard_error": self.standard_error,
            "ci_low": low,
            "ci_high": high,
        }
        return build_frame(columns, backend)


def smooth_calibration_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    span: float | None = None,
    axis: Axis = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> SmoothCalibrationCurve:
    """Event rate over the score, smoothed: the flexible calibration curve of the reporting guidelines.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    span : float, optional
        Share of the weight in each neighbourhood, in (0, 1]: smaller follows the data more closely. By default 2/3 over
        the score; over the log-odds 1/5, less the more rows beyond 1,000 there are (to the power of -1/4).
    axis : {"score", "log-odds"}, default "score"
        What the lines are fitted over: the score, as others do, or its log-odds, whose band has little bias.
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
    SmoothCalibrationCurve
        Defined from the smallest to the largest score; ``references`` holds "perfect" (the diagonal).

    Raises
    ------
    ValueError
        For invalid data or span.

    Notes
    -----
    Cleveland's (1979) lowess without robustness iterations and clipped to [0, 1], as in Harrell's ``rms::val.prob``;
    Van Calster et al. (2016), doi:10.1016/j.jclinepi.2015.12.005, use the quadratic ``loess`` in its place. Above
    2,000 distinct scores the rows are pooled into at most 2,000 cells. A span is a choice: :func:`reliability_curve`
    needs none.

    Examples
    --------
    >>> from stakes.curves import smooth_calibration_curve
    >>> curve = smooth_calibration_curve([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
    >>> curve.at([0.1, 0.5, 0.9]).round(3).tolist()
    [0.0, 0.411, 1.0]
    """
    check_choice(axis, "axis", AXES)
    width = None if span is None else check_unit(span, "span", open_low=True)
    refuse_weighing(y_true, "smooth_calibration_curve")
    table = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits).table
    return smooth_calibration_curve_of(table, name, span=width, axis=axis)


def smooth_calibration_curve_of(
    table: ScoreTable, name: str = "model", *, span: float | None = None, axis: Axis = "score"
) -> SmoothCalibrationCurve:
    """Smooth calibration curve from a clean table."""
    span = span or (SPAN if axis == "score" else _neighbour_share(table))
    at, rate, error, size, factor = _smoothed(table, span) if axis == "score" else _over_log_odds(table, span)
    kind, n = "smooth calibration", max(len(at), 2)
    found: dict[str, Any] = through(at, rate) | {"start": float(rate[0]), "name": name, "about": table.about}
    found |= {"standard_error": np.resize(error, n), "effective_n": np.resize(size, n)}
    found["references"] = {"perfect": straight(kind, "perfect", "score", (0.0, 1.0))}
    return SmoothCalibrationCurve(kind, x_label="score", span=span, odds_factor=factor, **found)


def curve_over_log_odds(table: ScoreTable) -> SmoothCalibrationCurve:
    """The smooth calibration curve over the log-odds, cached with its table since a report needs it twice."""
    table = in_narrow_cells(table)
    if table not in _KEPT:
        _KEPT[table] = smooth_calibration_curve_of(table, axis="log-odds")
    return _KEPT[table]


@dataclass(frozen=True, eq=False, repr=False)
class Neighbourhoods:
    """Cells of a table, each with a small share of weight and range, and local polynomials over them.

    Short tables are their own cells.
    """

    table: ScoreTable

    @cached_property
    def _column(self) -> Floats:
        return self.table.positives + self.table.negatives

    @cached_property
    def before(self) -> Floats:
        """Weight below each score, and the total weight."""
        return np.concatenate([[0.0], np.cumsum(self._column)])

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Index in the table at which each cell starts."""
        score, before = self.table.scores, self.before
        if len(score) <= 2 * _CELLS:
            return np.arange(len(score))
        by_rank = np.searchsorted(before, np.linspace(0.0, before[-1], _CELLS + 1)[1:-1])
        by_score = np.searchsorted(score, np.linspace(score[0], score[-1], _CELLS + 1)[1:-1])
        starts = np.unique(np.concatenate([[0], by_rank, by_score]))
        return starts[starts < len(score)]

    @property
    def cell(self) -> NDArray[np.intp]:
        """The cell of each score of the table."""
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.table.scores)))

    def sums(self, column: Floats) -> Floats:
        """Sum over the scores of each cell."""
        return np.asarray(np.add.reduceat(column, self.starts))

    @cached_property
    def score(self) -> Floats:
        """Mean score of each cell, clipped to its scores against rounding."""
        first, last = (self.table.scores[at] for at in (self.starts, np.append(self.starts[1:], 0) - 1))
        return np.clip(self.sums(self._column * self.table.scores) / self.weight, first, last)

    @cached_property
    def weight(self) -> Floats:
        """Weight of each cell."""
        return self.sums(self._column)

    @cached_property
    def ups(self) -> Floats:
        """Weight of the positives of each cell."""
        return self.sums(self.table.positives)

    @cached_property
    def squares(self) -> Floats:
        """Squared weight of each cell."""
        return self.sums(self.table.positives_squared + self.table.negatives_squared)

    @cached_property
    def points(self) -> Floats:
        """Points from the smallest to the largest score, including the cells' means."""
        return np.unique(np.concatenate([self.table.scores[[0]], self.score, self.table.scores[[-1]]]))

    def rates(self, span: float = SPAN) -> Floats:
        """Smoothed event rate at each distinct score."""
        rate = np.concatenate([pull @ self.ups[near] for _, near, pull in self._local_weights(self.points, span)])
        return np.interp(self.table.scores, self.points, np.clip(rate, 0.0, 1.0))

    def fits(self, at: Floats, *, span: float = SPAN, degree: int = 1) -> LocalFits:
        """Local linear (degree 1) or quadratic (degree 2) fits at ascending scores."""
        matrix = np.zeros((len(at), len(self.starts)))
        for part, near, pull in self._local_weights(at, span, degree):
            matrix[part, near] = pull
        return LocalFits(at, matrix, self)

    def _local_weights(self, at: Floats, span: float, degree: int = 1) -> Iterator[tuple[slice, slice, Floats]]:
        """Yield blocks of points, the cells in their neighbourhoods, and the weights of their local fits."""
        for part, near, u, kernel in self.kernels(at, span):
            yield part, near, _polynomial(u, kernel, self.weight[near], degree)

    def kernels(self, at: Floats, span: float) -> Iterator[tuple[slice, slice, Floats, Floats]]:
        """Yield blocks of points, the cells in their neighbourhoods, scaled distances and kernel weights."""
        reach = _bandwidths(at, self.table.scores, self.before, span)
        first = np.searchsorted(self.score, at - reach, side="left")
        last = np.searchsorted(self.score, at + reach, side="right")
        for part in blocks(len(at), _AT_ONCE):  # at most some thousand points, however long the data
            near = slice(int(first[part].min()), int(last[part].max()))  # beyond it the kernels are zero
            x, wide = at[part, None], reach[part, None]
            u, kernel = _kernel(self.score[near] - x, wide)
            alone = ~kernel.any(axis=1, keepdims=True)
            if alone.any():  # all cells lie where the neighbourhood ends, or beyond: the nearest count
                near = slice(None)
                u, kernel = _kernel(self.score - x, wide)
                gap = np.abs(self.score - x)
                closest = gap <= np.maximum(wide, gap.min(axis=1, keepdims=True)) * (1.0 + _FLAT)
                kernel[alone & closest] = 1.0
            yield part, near, u, kernel


@dataclass(frozen=True, eq=False, repr=False)
class LocalFits:
    """Local polynomial fits at some scores, as the linear smoother matrix on the cells' positives."""

    at: Floats
    matrix: Floats
    cells: Neighbourhoods

    @property
    def rate(self) -> Floats:
        """Event rate at each score, not clipped to [0, 1]."""
        return np.asarray(self.matrix @ self.cells.ups)


@dataclass(frozen=True, eq=False, repr=False)
class LocalLogisticFits:
    """Logistic regressions on the log-odds of the score around some scores, weighted by kernels.

    ``pull`` is what one unit of weight in each cell, one above its fitted rate, adds to the log-odds at each score.
    """

    log_odds: Floats
    pull: Floats
    rates: Floats
    span: float
    cells: Neighbourhoods

    @classmethod
    def at(cls, table: ScoreTable, scores: Floats) -> LocalLogisticFits:
        """Fit around ascending scores, each in a neighbourhood with enough effective rows of the rarer class."""
        cells = Neighbourhoods(replace(table, scores=_log_odds(table.scores)))
        span = min(1.0, max(_neighbour_share(table), _EVENTS_EACH / rarer_rows(table)))
        log_odds, shape = np.empty(len(scores)), (len(scores), len(cells.starts))
        pull, rates = np.zeros(shape), np.zeros(shape)
        for part, near, u, kernel in cells.kernels(_log_odds(scores), span):
            found = _local_logistic(u, kernel * cells.weight[near], kernel * cells.ups[near])
            log_odds[part], pull[part, near], rates[part, near] = found[0], kernel * found[1], found[2]
        return cls(log_odds, pull, rates, span, cells)

    @property
    def variance(self) -> Floats:
        """Variance of each log-odds if labels have the fitted rates."""
        return np.asarray((self.pull**2 * self.rates * (1.0 - self.rates)) @ self.cells.squares)


def _local_logistic(u: Floats, weight: Floats, ups: Floats) -> tuple[Floats, Floats, Floats]:
    """Log-odds at zero, what each unit pulls at it and fitted rates, one logistic regression a row, by Newton steps."""
    from scipy.special import expit

    basis = np.stack([np.ones_like(u), u])
    total, mean = weight.sum(axis=1), (ups.sum(axis=1) + 0.5) / (weight.sum(axis=1) + 1.0)
    beta = np.stack([np.log(mean / (1.0 - mean)), np.zeros(len(u))])
    for _ in range(_STEPS):
        rate = expit(np.clip(np.einsum("kp,kpc->pc", beta, basis), -_FARTHEST, _FARTHEST))
        information = np.einsum("kpc,lpc,pc->pkl", basis, basis, weight * rate * (1.0 - rate))
        information[:, [0, 1], [0, 1]] += _RIDGE * total[:, None]
        inverse = np.linalg.inv(information)
        step = np.einsum("pkl,lp->kp", inverse, np.einsum("kpc,pc->kp", basis, ups - weight * rate))
        beta = np.clip(beta + np.clip(step, -2.0, 2.0), -_FARTHEST, _FARTHEST)
        if np.abs(step).max() < _CONVERGED:
            break
    return beta[0], np.einsum("pk,kpc->pc", inverse[:, 0], basis), rate


def rarer_rows(table: ScoreTable) -> float:
    """Effective number of rows of the rarer class."""
    classes = (table.total_positives, table.positives_squared), (table.total_negatives, table.negatives_squared)
    return min(float(total) ** 2 / float(squares.sum()) if total else 0.0 for total, squares in classes)


def local_limits(table: ScoreTable, at: Floats, level: float) -> tuple[Floats, Floats]:
    """Limits of the event rates at ascending scores by local lines over the log-odds."""
    rescaled, factor = _rescale_classes(replace(table, scores=_log_odds(table.scores)))
    low, high = jeffreys(*_local_rates(Neighbourhoods(rescaled), at, _neighbour_share(table)), level)
    return times_odds(low, factor), times_odds(high, factor)


def times_odds(rate: Floats, factor: Floats | float) -> Floats:
    """Multiply the odds of a rate by a factor."""
    return rate * factor / (rate * factor + (1.0 - rate))


def _local_rates(rescaled: Neighbourhoods, at: Floats, span: float) -> tuple[Floats, Floats]:
    """Event rates over log-odds at some scores, and their effective numbers of rows."""
    fits = rescaled.fits(_log_odds(at), span=span)
    return np.clip(fits.rate, 0.0, 1.0), 1.0 / (fits.matrix**2 @ rescaled.squares)


def _rescale_classes(table: ScoreTable) -> tuple[ScoreTable, float]:
    """Rescale each class to a mean weight of one; also return the factor that this removes from the odds."""
    squares = table.positives_squared, table.negatives_squared
    classes = zip((table.positives, table.negatives), squares, strict=True)
    up, down = (float(square.sum() / weight.sum()) if weight.any() else 1.0 for weight, square in classes)
    if up == down == 1.0:
        return table, 1.0
    divisors = zip(COLUMNS, (up, down, up**2, down**2), strict=True)
    return replace(table, **{name: getattr(table, name) / by for name, by in divisors}), up / down


def _neighbour_share(table: ScoreTable) -> float:
    """Share of rows in a neighbourhood for which smoothing bias is small relative to noise; falls with the rows."""
    return float(0.2 * min(1.0, (1000.0 / table.n_rows) ** 0.25))


def _log_odds(score: Floats) -> Floats:
    return np.asarray(logit(np.clip(score, _LEAST, 1.0 - _LEAST)))


def _over_log_odds(table: ScoreTable, span: float) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Like ``_smoothed`` over the log-odds, at scores evenly spaced in rank and in value."""
    rescaled, factor = _rescale_classes(replace(table, scores=_log_odds(table.scores)))
    cells = Neighbourhoods(rescaled)
    share = cells.before[1:] / rescaled.total
    by_rank = table.scores[np.searchsorted(share, np.linspace(0.0, share[-1], _POINTS))]
    even = np.linspace(table.scores[0], table.scores[-1], _POINTS // 4)
    by_score = table.scores[np.minimum(np.searchsorted(table.scores, even), len(table.scores) - 1)]
    at = np.unique(np.concatenate([by_rank, by_score]))
    plain, size = _local_rates(cells, at, span)
    error = factor / (plain * factor + 1.0 - plain) ** 2 * np.sqrt(plain * (1.0 - plain) / size)
    return at, times_odds(plain, factor), error, size, factor


def _smoothed(table: ScoreTable, span: float) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Return points from the smallest to the largest score, with event rate, standard error and effective rows."""
    cells = Neighbourhoods(table)
    fits = cells.fits(cells.points, span=span)
    rate = np.clip(fits.rate, 0.0, 1.0)
    spread = np.interp(cells.score, fits.at, rate)
    squared = np.square(fits.matrix, out=fits.matrix)
    error = np.sqrt(squared @ (cells.squares * spread * (1.0 - spread)))
    return fits.at, rate, error, 1.0 / (squared @ cells.squares), 1.0


def _polynomial(u: Floats, kernel: Floats, weight: Floats, degree: int) -> Floats:
    """Convert kernels (one row for each point) to local polynomial smoother weights, overwriting the arguments."""
    pull = kernel * weight
    mass = pull.sum(axis=1, keepdims=True)
    centre = _along(pull, u) / mass
    u -= centre
    pull *= u
    spread = _along(pull, u) / mass
    bent = spread > _FLAT
    tilt = np.where(bent, centre / np.where(bent, spread, 1.0), 0.0) * u
    np.subtract(1.0, tilt, out=tilt)
    if degree == 2:
        tilt += np.where(bent, _bend(u, kernel * weight / mass, centre, np.where(bent, spread, 1.0)), 0.0)
    kernel *= tilt
    kernel /= mass
    return kernel


def _along(a: Floats, b: Floats) -> Floats:
    """Row-wise dot product."""
    return np.asarray(np.einsum("ij,ij->i", a, b)[:, None])


def _kernel(gap: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """Return scaled distances and their tricube weights, overwriting the distances passed."""
    if reach.min() > _TINY:
        gap /= reach
    else:
        with np.errstate(over="ignore"):
            gap = np.where(reach > 0.0, gap / np.where(reach > 0.0, reach, 1.0), np.sign(gap))
    u = np.minimum(gap, 1.0, out=gap)
    np.maximum(u, -1.0, out=u)
    near = np.abs(u)
    kernel = near * near
    kernel *= near
    np.subtract(1.0, kernel, out=kernel)
    np.multiply(kernel, kernel, out=near)
    kernel *= near
    return u, kernel


def _bend(u: Floats, share: Floats, centre: Floats, spread: Floats) -> Floats:
    """Contribution of a quadratic term to a local line at ``centre`` below the mean; 0 for only two scores."""
    skew = _along(share, u**3) / spread
    bow = u * u - spread - skew * u  # orthogonal to the constant and the line
    size = _along(share, bow * bow)
    told = size > _FLAT * spread
    return np.where(told, (centre * centre - spread + skew * centre) / np.where(told, size, 1.0), 0.0) * bow


def _bandwidths(at: Floats, score: Floats, before: Floats, span: float) -> Floats:
    """Bandwidth at each point: the distance that contains a share of the weight; ``before`` is the weight below."""
    needed = span * before[-1] * (1.0 - 1e-12)
    last = len(score) - 1
    # last start with enough weight above; a weight lost to rounding fits a single score
    most = min(int(np.searchsorted(before, before[-1] - needed, side="right")) - 1, last)

    def end(start: NDArray[np.intp]) -> Floats:
        return score[np.clip(np.searchsorted(before, before[start] + needed, side="left") - 1, start, last)]

    # as the start of a window moves up, its end moves away from the point: search where the end becomes the farther one
    low, high = np.zeros(len(at), dtype=np.intp), np.full(len(at), most, dtype=np.intp)
    while np.any(low < high):
        middle = (low + high) // 2
        far = end(middle) - at >= at - score[middle]
        low, high = np.where(far, low, np.minimum(middle + 1, high)), np.where(far, middle, high)
    reach = np.maximum(end(low) - at, at - score[low])
    return np.where(low > 0, np.minimum(reach, at - score[low - 1]), reach)
