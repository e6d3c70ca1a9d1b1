"""The smooth calibration curve that reporting guidelines ask for: local lines of the label on the score.

Local linear regression with tricube weights over the nearest share of the rows. Long tables are pooled into some
thousand cells first, fine against the bandwidth, so that the work does not grow with the data. Over the log-odds of the
score and fewer rows the bias of smoothing is small against the noise, and the band covers the true rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from stakes.core.inputs import evaluation_data, refuse_weighing
from stakes.core.logistic import logit
from stakes.core.validation import check_choice, check_level, check_unit
from stakes.curves._bins import jeffreys
from stakes.curves._curve import Curve, straight, through

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]

Axis = Literal["score", "log-odds"]
SPAN = 2.0 / 3.0
AXES = ("score", "log-odds")
_LEAST = 1e-6  # scores nearer to 0 or 1 are taken for this near
_POINTS = 200  # at which lines over the log-odds are fitted
_CELLS = 1000  # by rank, and as many by score
_FLAT = 1e-9  # spread of the neighbours, as a share of the squared bandwidth, below which no slope is fitted
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
        from stakes.shown.frames import build_frame

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
    table = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    ).table
    return smooth_calibration_curve_of(table, name, span=width, axis=axis)


def smooth_calibration_curve_of(
    table: ScoreTable, name: str = "model", *, span: float | None = None, axis: Axis = "score"
) -> SmoothCalibrationCurve:
    """Smooth calibration curve from a clean table."""
    span = span or (SPAN if axis == "score" else _near(table))
    at, rate, error, size, factor = _smoothed(table, span) if axis == "score" else _over_log_odds(table, span)
    return SmoothCalibrationCurve(
        "smooth calibration",
        start=float(rate[0]),
        name=name,
        x_label="score",
        references={"perfect": straight("smooth calibration", "perfect", "score", (0.0, 1.0))},
        **through(at, rate),
        standard_error=np.resize(error, max(len(at), 2)),
        effective_n=np.resize(size, max(len(at), 2)),
        span=span,
        odds_factor=factor,
        about=table.about,
    )


def curve_over_log_odds(table: ScoreTable) -> SmoothCalibrationCurve:
    """The smooth calibration curve over the log-odds, kept as long as its table: a report asks for it twice."""
    if table not in _KEPT:
        _KEPT[table] = smooth_calibration_curve_of(table, axis="log-odds")
    return _KEPT[table]


def smoothed_rates(table: ScoreTable, span: float = SPAN) -> Floats:
    """Smoothed event rate at each distinct score of a table."""
    at, (score, weight, ups, _), reach = _neighbourhoods(table, span)
    rate = np.array([np.dot(row, ups[within]) for within, row in _local_weights(at, score, weight, reach)])
    return np.interp(table.scores, at, np.clip(rate, 0.0, 1.0))


@dataclass(frozen=True)
class LocalFits:
    """Local polynomials of the label on the score at some scores, as the matrix that makes them of cells' positives.

    ``cell`` is the cell of each score of the table, ``ups``, ``ups_squared`` and ``downs_squared`` the weight of
    positives in each cell and the squared weights of both classes.
    """

    at: Floats
    matrix: Floats
    score: Floats
    cell: NDArray[np.intp]
    ups: Floats
    ups_squared: Floats
    downs_squared: Floats

    @property
    def rate(self) -> Floats:
        """Event rate at each score; not held to [0, 1]."""
        return np.asarray(self.matrix @ self.ups)


def local_fits(table: ScoreTable, at: Floats, *, span: float = SPAN, degree: int = 1) -> LocalFits:
    """Local linear (degree 1) or quadratic (degree 2) fits at ascending scores."""
    before = np.concatenate([[0.0], np.cumsum(table.positives + table.negatives)])
    starts = _starts(table, before)
    score, weight, ups, _ = _cells(table, before)
    matrix = _smoother(at, score, weight, _bandwidths(at, table.scores, before, span), degree)
    squared = (np.add.reduceat(part, starts) for part in (table.positives_squared, table.negatives_squared))
    cell = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(table.scores)))
    return LocalFits(at, matrix, score, cell, ups, *squared)


def local_limits(table: ScoreTable, at: Floats, level: float) -> tuple[Floats, Floats]:
    """Limits of the event rates at ascending scores by local lines over the log-odds."""
    rate, size, factor = _local_rates(table, at, _near(table))
    low, high = jeffreys(rate, size, level)
    return times_odds(low, factor), times_odds(high, factor)


def times_odds(rate: Floats, factor: Floats | float) -> Floats:
    """The rate after its odds are multiplied by a factor."""
    return rate * factor / (rate * factor + 1.0 - rate)


def _local_rates(table: ScoreTable, at: Floats, span: float) -> tuple[Floats, Floats, float]:
    """Event rates if both classes weighed one a row, how many rows would tell as much, and the factor of the odds."""
    moved, factor = _evened(replace(table, scores=_log_odds(table.scores)))
    fits = local_fits(moved, _log_odds(at), span=span)
    rate = np.clip(fits.rate, 0.0, 1.0)
    return rate, 1.0 / (fits.matrix**2 @ (fits.ups_squared + fits.downs_squared)), factor


def _evened(table: ScoreTable) -> tuple[ScoreTable, float]:
    """A table whose classes weigh one a row, and the factor of the odds that this takes away."""
    squares = table.positives_squared, table.negatives_squared
    classes = zip((table.positives, table.negatives), squares, strict=True)
    up, down = (float(square.sum() / weight.sum()) if weight.any() else 1.0 for weight, square in classes)
    if up == down == 1.0:
        return table, 1.0
    even = replace(
        table,
        positives=table.positives / up,
        negatives=table.negatives / down,
        positives_squared=squares[0] / up**2,
        negatives_squared=squares[1] / down**2,
    )
    return even, up / down


def _near(table: ScoreTable) -> float:
    """Share of the rows at which the bias of smoothing stays small against the noise, which falls with more rows."""
    return float(0.2 * min(1.0, (1000.0 / table.n_rows) ** 0.25))


def _log_odds(score: Floats) -> Floats:
    return np.asarray(logit(np.clip(score, _LEAST, 1.0 - _LEAST)))


def _over_log_odds(table: ScoreTable, span: float) -> tuple[Floats, Floats, Floats, Floats, float]:
    """As ``_smoothed`` over the log-odds, at scores of equal rank and of equal distance."""
    rows = _evened(table)[0]
    share = np.cumsum(rows.positives + rows.negatives) / rows.total
    by_rank = table.scores[np.searchsorted(share, np.linspace(0.0, share[-1], _POINTS))]
    even = np.linspace(table.scores[0], table.scores[-1], _POINTS // 4)
    by_score = table.scores[np.minimum(np.searchsorted(table.scores, even), len(table.scores) - 1)]
    at = np.unique(np.concatenate([by_rank, by_score]))
    plain, size, factor = _local_rates(table, at, span)
    error = factor / (plain * factor + 1.0 - plain) ** 2 * np.sqrt(plain * (1.0 - plain) / size)
    return at, times_odds(plain, factor), error, size, factor


def _smoothed(table: ScoreTable, span: float) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Points from the smallest to the largest score, event rate at each, its standard error, the rows it rests on."""
    at, (score, weight, ups, squares), reach = _neighbourhoods(table, span)
    smoother = _smoother(at, score, weight, reach)
    rate = np.clip(smoother @ ups, 0.0, 1.0)
    spread = np.interp(score, at, rate)
    np.square(smoother, out=smoother)
    error = np.sqrt(smoother @ (squares * spread * (1.0 - spread)))
    return at, rate, error, 1.0 / (smoother @ squares), 1.0


def _neighbourhoods(table: ScoreTable, span: float) -> tuple[Floats, tuple[Floats, Floats, Floats, Floats], Floats]:
    """Points from the smallest to the largest score, the cells of the table, and how far each point looks."""
    before = np.concatenate([[0.0], np.cumsum(table.positives + table.negatives)])
    cells = _cells(table, before)
    at = np.unique(np.concatenate([table.scores[[0]], cells[0], table.scores[[-1]]]))
    return at, cells, _bandwidths(at, table.scores, before, span)


def _cells(table: ScoreTable, before: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean score, weight, weight of positives and squared weight of cells, each a small share of weight and range."""
    score, weight, ups = table.scores, table.positives + table.negatives, table.positives
    squares = table.positives_squared + table.negatives_squared
    if len(score) <= 2 * _CELLS:
        return score, weight, ups, squares
    starts = _starts(table, before)
    mass = np.add.reduceat(weight, starts)
    mean = np.add.reduceat(weight * score, starts) / mass
    # rounding takes it no further than the scores of the cell, where a point would not find it
    mean = np.clip(mean, score[starts], score[np.append(starts[1:], 0) - 1])
    return mean, mass, np.add.reduceat(ups, starts), np.add.reduceat(squares, starts)


def _starts(table: ScoreTable, before: Floats) -> NDArray[np.intp]:
    """Where in the table each cell starts; short tables are their own cells."""
    score = table.scores
    if len(score) <= 2 * _CELLS:
        return np.arange(len(score))
    by_rank = np.searchsorted(before, np.linspace(0.0, before[-1], _CELLS + 1)[1:-1])
    by_score = np.searchsorted(score, np.linspace(score[0], score[-1], _CELLS + 1)[1:-1])
    starts = np.unique(np.concatenate([[0], by_rank, by_score]))
    return starts[starts < len(score)]


def _smoother(at: Floats, score: Floats, weight: Floats, reach: Floats, degree: int = 1) -> Floats:
    """Matrix that turns the weight of positives in each cell into local polynomial fits at some points."""
    matrix = np.zeros((len(at), len(score)))
    for row, (within, weights) in zip(matrix, _local_weights(at, score, weight, reach, degree), strict=True):
        row[within] = weights
    return matrix


def _local_weights(
    at: Floats, score: Floats, weight: Floats, reach: Floats, degree: int = 1
) -> Iterator[tuple[slice, Floats]]:
    """Which cells each point looks at, and what the weight of positives in each adds to its fit."""
    first, last = np.searchsorted(score, at - reach, side="left"), np.searchsorted(score, at + reach, side="right")
    for row in range(len(at)):  # at most two thousand, however long the data
        within = slice(int(first[row]), int(last[row]))  # beyond it the kernel is zero
        u, kernel = _kernel(score[within] - at[row], float(reach[row]))
        if not kernel.any():  # all cells lie where the neighbourhood ends, or beyond: the nearest count
            within = slice(None)
            u, kernel = _kernel(score - at[row], float(reach[row]))
            gap = np.abs(score - at[row])
            kernel[gap <= max(reach[row], gap.min()) * (1.0 + _FLAT)] = 1.0
        pull = kernel * weight[within]
        mass = pull.sum()
        centre = np.dot(pull, u) / mass
        u -= centre
        spread = np.dot(pull, u * u) / mass
        if spread > _FLAT:
            tilt = 1.0 - centre / spread * u
            kernel *= tilt if degree == 1 else tilt + _bend(u, pull / mass, centre, spread)
        kernel /= mass
        yield within, kernel


def _kernel(gap: Floats, reach: float) -> tuple[Floats, Floats]:
    """Distances in units of the reach, and the tricube weights that they have; the gaps passed in are used up."""
    if reach > _TINY:
        gap /= reach
    else:
        with np.errstate(over="ignore"):
            gap = gap / reach if reach > 0.0 else np.sign(gap)
    u = np.minimum(gap, 1.0, out=gap)
    np.maximum(u, -1.0, out=u)
    near = np.abs(u)
    kernel = 1.0 - near * near * near
    kernel *= kernel * kernel
    return u, kernel


def _bend(u: Floats, share: Floats, centre: float, spread: float) -> Floats | float:
    """What a quadratic adds to a local line at the point that lies ``centre`` below the mean; 0 for two scores only."""
    skew = float(np.dot(share, u**3)) / spread
    bow = u * u - spread - skew * u  # orthogonal to the constant and the line
    size = float(np.dot(share, bow * bow))
    return (centre * centre - spread + skew * centre) / size * bow if size > _FLAT * spread else 0.0


def _bandwidths(at: Floats, score: Floats, before: Floats, span: float) -> Floats:
    """Distance from each point within which the given share of the weight lies; ``before`` is that below each score."""
    needed = span * before[-1] * (1.0 - 1e-12)
    last = len(score) - 1
    # last start with enough weight above; a weight that rounding loses is held by any one score
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
