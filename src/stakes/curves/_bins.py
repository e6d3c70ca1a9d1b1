"""Calibration by bins: event rate against mean score in bins of equal weight or equal width, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes.core.inputs import evaluation_data, refuse_weighing
from stakes.core.validation import check_choice, check_level, check_whole
from stakes.shown.faces import draw
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]

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
        Squared total weight over the total of squared weights (Kish): the number of rows where all weigh the same.
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
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    n_bins : int, default 10
        Number of bins; those without rows are left out.
    binning : {"quantile", "uniform"}, default "quantile"
        Bins of about equal weight, in which tied scores stay together (each goes where the middle of its weight
        falls); or of equal width, each with its upper end.
    interval : {"wilson", "clopper-pearson"}, default "wilson"
        Interval of each event rate, with the effective number of rows where weights differ.
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
    refuse_weighing(y_true, "binned_reliability")
    table = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    ).table
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
    bounds = wilson if interval == "wilson" else clopper_pearson
    low, high = bounds(rate, size, confidence_level)
    return BinnedReliability(
        table.scores[starts],
        table.scores[np.append(starts[1:], len(table.scores)) - 1],
        np.add.reduceat(weights * table.scores, starts) / weight,
        rate,
        weight,
        size,
        low,
        high,
        confidence_level,
        interval,
        binning,
        name,
        about=table.about,
    )


def bin_starts(table: ScoreTable, n_bins: int, binning: Binning) -> NDArray[np.intp]:
    """Position of the first score of each bin that holds rows."""
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
    """Equal-tailed interval of a proportion under Jeffreys' prior; it reaches 0 and 1 where the proportion does."""
    from scipy.special import betaincinv

    tail = (1.0 - confidence_level) / 2.0
    hits, rest = rate * size + 0.5, (1.0 - rate) * size + 0.5
    low = np.where(rate > 0.0, betaincinv(hits, rest, tail), 0.0)
    return low, np.where(rate < 1.0, betaincinv(hits, rest, 1.0 - tail), 1.0)
