"""Calibration in a handful of numbers with intervals, as reporting guidelines for prediction models ask for."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes.core.inputs import evaluation_data
from stakes.core.random_state import generator
from stakes.core.row_order import check_same_order
from stakes.core.validation import check_choice, check_level, check_whole
from stakes.curves._bins import binned_reliability_of
from stakes.curves._smooth import SPAN, Neighbourhoods
from stakes.inference._calibration_curve import WITHHELD, curve_estimates
from stakes.inference._calibration_intervals import recalibration_estimates
from stakes.inference._dependence import dependence_of
from stakes.inference._influence import cells_of
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.inference._dependence import Design
    from stakes.inference._estimate import Estimate
    from stakes.inference._influence import Cells

    Floats = NDArray[np.float64]

Binning = Literal["quantile", "uniform"]
Smoother = Literal["lowess", "loess"]
_MOST_POINTS = 1000  # at which loess is fitted
SMOOTHERS = {"lowess": (SPAN, 1), "loess": (0.75, 2)}  # share of the rows in a neighbourhood, degree
_BINS = 1 << 14  # of a histogram of distances


@dataclass(frozen=True)
class CalibrationSummary(Tabular):
    """How far a score is from the event rates it promises, and how sure that is.

    Parameters
    ----------
    observed, expected : float
        Event rate and mean score.
    ece : float
        Expected calibration error over the bins: mean absolute gap between event rate and mean score. It depends on the
        bins and has no interval.
    n_bins : int
        Number of bins that hold rows.
    binning : str
        "quantile" or "uniform".
    smoother : str
        "lowess" or "loess".
    n_rows, n_positives : int
        Rows, and positive ones.
    estimates : tuple of Estimate
        Everything below, each with ``value``, ``standard_error``, ``interval`` and ``note``.

    Attributes
    ----------
    o_e_ratio : float
        observed / expected; 1 is calibrated in the large.
    calibration_in_the_large : float
        Logistic recalibration intercept with the slope held at 1; 0 is calibrated, positive means scores are too low.
    slope : float
        Logistic recalibration slope; 1 is calibrated, below 1 means scores are too extreme.
    joint_intercept : float
        Logistic recalibration intercept fitted together with the slope.
    ici, e50, e90, emax : float
        Mean (integrated calibration index), median, 90th percentile and largest absolute distance between the score and
        its smoothed event rate.

    Examples
    --------
    >>> from stakes.inference import calibration_summary
    >>> summary = calibration_summary(
    ...     [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5
    ... )
    >>> [round(end, 3) for end in summary.interval("o_e_ratio")]
    [0.79, 1.217]
    """

    observed: float
    expected: float
    ece: float
    n_bins: int
    binning: str
    smoother: str
    n_rows: int
    n_positives: int
    estimates: tuple[Estimate, ...]

    def _named(self, name: str) -> Estimate:
        check_choice(name, "name", tuple(estimate.metric for estimate in self.estimates))
        return next(estimate for estimate in self.estimates if estimate.metric == name)

    def interval(self, name: str) -> tuple[float, float]:
        """Two-sided interval of one number; nan where there is none, for the reason in its note.

        Parameters
        ----------
        name : str
            Such as "o_e_ratio" or "slope".

        Returns
        -------
        tuple of float

        Raises
        ------
        ValueError
            For another name.
        """
        return self._named(name).interval

    @property
    def note(self) -> str:
        """Why numbers that can have an interval have none, or on how few rows they rest; empty where all is well."""
        notes = (estimate.note for estimate in self.estimates if estimate.metric not in WITHHELD)
        return "; ".join(dict.fromkeys(filter(None, notes)))

    @property
    def o_e_ratio(self) -> float:
        """Observed to expected events."""
        return self._named("o_e_ratio").value

    @property
    def calibration_in_the_large(self) -> float:
        """Intercept of logistic recalibration with the slope held at 1."""
        return self._named("calibration_in_the_large").value

    @property
    def slope(self) -> float:
        """Slope of logistic recalibration."""
        return self._named("slope").value

    @property
    def joint_intercept(self) -> float:
        """Intercept of logistic recalibration fitted together with the slope."""
        return self._named("joint_intercept").value

    @property
    def ici(self) -> float:
        """Mean distance between the score and its smoothed event rate."""
        return self._named("ici").value

    @property
    def e50(self) -> float:
        """Median of that distance."""
        return self._named("e50").value

    @property
    def e90(self) -> float:
        """90th percentile of that distance."""
        return self._named("e90").value

    @property
    def emax(self) -> float:
        """Largest of these distances."""
        return self._named("emax").value

    def _records(self) -> list[dict[str, Any]]:
        return [record for estimate in self.estimates for record in estimate._records()]

    def __repr__(self) -> str:
        shown = {"o_e_ratio": "O:E", "calibration_in_the_large": "in the large", "slope": "slope", "ici": "ICI"}
        parts = []
        for name, label in shown.items():
            found = self._named(name)
            parts.append(f"{label} {found.value:.3g} [{found.interval[0]:.3g}, {found.interval[1]:.3g}]")
        return f"CalibrationSummary({', '.join(parts)})"


def calibration_summary(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 10,
    binning: Binning = "quantile",
    smoother: Smoother = "lowess",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> CalibrationSummary:
    """Observed to expected ratio, calibration in the large, slope, ICI, E50, E90 and Emax of a score, with intervals.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    n_bins : int, default 10
        Number of bins of the expected calibration error, which depends on it.
    binning : {"quantile", "uniform"}, default "quantile"
        Bins of about equal weight (tied scores stay together), or of equal width.
    smoother : {"lowess", "loess"}, default "lowess"
        What ICI, E50, E90 and Emax smooth the events with: local lines over two thirds of the rows, as in ``rms``, or
        local parabolas over three quarters, as Austin and Steyerberg's ``loess``.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients or states: only rows of different clusters are independent.
    lags : int or "auto", optional
        For rows in order of time, as in :func:`compare`; ICI and E90 then have no interval.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        Of the intervals of ICI and E90; None for other draws each time.

    Returns
    -------
    CalibrationSummary
        Intercepts and slope are nan with a warning for one class only or a score of exactly 0 or 1; the slope is
        infinite where the scores separate the classes. An interval needs five rows of each class: it is nan otherwise,
        and the note says why.

    Raises
    ------
    ValueError
        For invalid data, binning, smoother or number of bins.

    Notes
    -----
    Van Calster et al. (2019), doi:10.1186/s12916-019-1466-7, for the hierarchy of calibration; Austin and Steyerberg
    (2019), doi:10.1002/sim.8281, for ICI, E50 and E90. The intervals of the ratio (on the log scale), the intercepts
    and the slope are Student's t in closed form; those of ICI and E90 come from the noise of the smoothed curve at the
    given scores and reach 0 where the score may be calibrated; docs/intervals.md has their coverage, and where it falls
    short. E50 and Emax have none: those tried covered too seldom. Smoothing flattens sharp bends, so these four belong
    to the smoothed curve. The binned error is biased upwards and depends on the bins: prefer the
    miscalibration of :func:`decompose`.

    Examples
    --------
    >>> from stakes.inference import calibration_summary
    >>> summary = calibration_summary([0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.4, 0.8, 0.6, 0.9], n_bins=3)
    >>> round(summary.slope, 4), round(summary.ece, 4)
    (1.4652, 0.1167)
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, clusters=clusters)
    n_bins = check_whole(n_bins, "n_bins", 1)
    check_choice(binning, "binning", ("quantile", "uniform"))
    check_choice(smoother, "smoother", tuple(SMOOTHERS))
    level = check_level(confidence_level)
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    if data.sample is None and not clusters is lags is None:
        raise ValueError("clusters= and lags= need the rows: pass y_true and y_prob instead of a ScoreTable.")
    cells = cells_of(data, fixed_prevalence=prevalence is not None)
    known = (None, None) if data.sample is None else dependence_of(data.rows, clusters, lags, sample_weight)
    design = cells.design(*known)
    found, status = calibration_of(
        cells, design, n_bins=n_bins, binning=binning, smoother=smoother, level=level, rng=generator(random_state)
    )
    if status:
        _warn(f"the recalibration intercept or slope is undefined: {status}.")
    return found


def calibration_of(
    cells: Cells,
    design: Design,
    *,
    n_bins: int = 10,
    binning: Binning = "quantile",
    smoother: Smoother = "lowess",
    level: float,
    rng: np.random.Generator,
) -> tuple[CalibrationSummary, str]:
    """Calibration of clean cells whose dependence a design holds, and why recalibration is undefined, if it is."""
    estimates, status = calibration_estimates(cells, design, smoother=smoother, level=level, rng=rng)
    bins = binned_reliability_of(cells.table, n_bins=n_bins, binning=binning)
    found = CalibrationSummary(
        observed=cells.table.prevalence,
        expected=cells.mean_score,
        ece=bins.expected_calibration_error,
        n_bins=len(bins.weight),
        binning=binning,
        smoother=smoother,
        n_rows=round(sum(cells.rows)),
        n_positives=round(cells.rows[1]),
        estimates=estimates,
    )
    return found, status


def calibration_estimates(
    cells: Cells, design: Design, *, smoother: str, level: float, rng: np.random.Generator
) -> tuple[tuple[Estimate, ...], str]:
    """Everything that has an interval, and why recalibration is undefined, if it is."""
    closed, status = recalibration_estimates(cells, design, level)
    smoothed, how = Neighbourhoods(cells.table), SMOOTHERS[smoother]
    values = smoothed_distances(smoothed, *how)
    return (*closed, *curve_estimates(cells, design, smoothed, values, how, level=level, rng=rng)), status


def smoothed_distances(smoothed: Neighbourhoods, span: float, degree: int) -> dict[str, float]:
    """ICI, E50, E90 and Emax on the rows."""
    table = smoothed.table
    weight = table.positives + table.negatives
    distance = np.abs(_rates(smoothed, span, degree) - table.scores)
    half, most = _weighted_quantiles(distance, weight, (0.5, 0.9))
    return {
        "ici": float(np.dot(weight, distance)) / table.total,
        "e50": half,
        "e90": most,
        "emax": float(distance.max()),
    }


def _rates(smoothed: Neighbourhoods, span: float, degree: int) -> Floats:
    """Smoothed event rate at each score; loess is not held to [0, 1], as it is not where it comes from."""
    if degree == 1:
        return smoothed.rates(span)
    at = scores = smoothed.table.scores
    if len(at) > _MOST_POINTS:
        at = at[np.unique(np.linspace(0, len(at) - 1, _MOST_POINTS).astype(int))]
    return np.interp(scores, at, smoothed.fits(at, span=span, degree=degree).rate)


def _weighted_quantiles(values: Floats, weight: Floats, levels: Sequence[float]) -> list[float]:
    """Smallest values >= 0 with at least these shares of the weight at or below (averaged where a share is exact).

    A histogram tells between which values each lies: only these are sorted.
    """
    cell = (values / (values.max() or 1.0) * _BINS).astype(np.intp)
    up_to, found = np.cumsum(np.bincount(cell, weight)), []
    for level in levels:
        near = level * up_to[-1] * (1.0 - 1e-14), level * up_to[-1] * (1.0 + 1e-14)
        bins = np.searchsorted(up_to, near[0], side="left"), np.searchsorted(up_to, near[1], side="right")
        inside = (cell >= bins[0]) & (cell <= bins[1])
        some, order = values[inside], np.argsort(values[inside])
        total = np.cumsum(weight[inside][order]) + (up_to[bins[0] - 1] if bins[0] else 0.0)
        ends = np.searchsorted(total, near[0], side="left"), np.searchsorted(total, near[1], side="right")
        first, last = (float(some[order[min(int(end), len(some) - 1)]]) for end in ends)
        found.append((first + last) / 2.0)
    return found


def _warn(message: str) -> None:
    from sklearn.exceptions import UndefinedMetricWarning

    warnings.warn(message, UndefinedMetricWarning, stacklevel=3)
