"""A metric over several horizons of the same follow-up: its mean by the trapezoidal rule, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data
from stakes.core.row_order import check_same_order
from stakes.core.validation import check_level, to_array, to_floats
from stakes.inference._estimate import Estimate
from stakes.inference._influence import cells_of
from stakes.inference._moments import Moments
from stakes.inference._row_mean import AREAS, metric_range, row_mean
from stakes.outcomes import TimeToEvent

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def integrated_metric(
    outcome: TimeToEvent,
    y_prob: ArrayLike,
    metric: str,
    *,
    horizons: ArrayLike,
    confidence_level: float = 0.95,
    **options: Any,
) -> Estimate:
    """Mean of a metric over horizons, by the trapezoidal rule between the first and the last, with an interval.

    Parameters
    ----------
    outcome : TimeToEvent
        Rows; its own horizon is not used.
    y_prob : array_like of shape (n,) or (n, k)
        Probability of the event by each of the horizons, or one column for all.
    metric : str
        The name of a metric that is a mean over rows, such as "bounded_brier_loss", or a skill.
    horizons : array_like of shape (k,)
        Two or more times > 0, ascending.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).
    **options
        Passed to the metric, such as ``threshold``.

    Returns
    -------
    Estimate
        Its error is that of the same combination of the rows' parts in the errors at each horizon: the estimates at
        two horizons depend on each other, and each allows for the estimation of censoring.

    Raises
    ------
    ValueError
        For invalid data, horizons beyond follow-up, or a metric that is no mean over rows.

    Examples
    --------
    >>> from stakes import TimeToEvent
    >>> from stakes.inference import integrated_metric
    >>> outcome = TimeToEvent(event=[1, 0, 1, 0, 1] * 8, time=[1, 2, 3, 5, 6] * 8, horizon=4)
    >>> integrated_metric(outcome, [0.9, 0.3, 0.6, 0.2, 0.4] * 8, "bounded_brier_loss", horizons=[2, 4])
    Estimate(bounded_brier_loss, horizons 2 to 4 = 0.115, 95% interval [0.08441, 0.1456])
    """
    check_same_order(outcome=outcome, y_prob=y_prob)
    level = check_level(confidence_level)
    if not isinstance(outcome, TimeToEvent):
        raise ValueError(f"outcome must be a TimeToEvent, got {type(outcome).__name__}.")
    times, mean = _check_horizons(horizons), row_mean(_check_metric(metric), options)
    columns = _columns(y_prob, len(times))
    share = np.convolve(np.diff(times), [0.5, 0.5]) / (times[-1] - times[0])
    value, parts = 0.0, np.zeros(int(np.count_nonzero(outcome.present)))
    for part, time, score in zip(share, times, columns, strict=True):
        cells = cells_of(evaluation_data(outcome.at(float(time)), score), fixed_prevalence=False)
        found, design = mean.influence(cells), cells.design()
        value += float(part) * found.value
        parts += part * design.parts(found.slope)
    # fewest are followed to the last horizon
    variance, degrees, reason = design.variance_of(parts)
    moments = Moments(value, float(variance), float(degrees), reason=reason).within(*metric_range(metric, options))
    name = f"{metric}, horizons {times[0]:g} to {times[-1]:g}"
    return Estimate(name, value, moments.standard_error, moments.interval(level), level, moments.note)


def _check_metric(metric: Any) -> str:
    if isinstance(metric, str) and metric not in AREAS:
        return metric
    raise ValueError(f"metric must be the name of a mean over rows, got {metric!r}.")


def _check_horizons(horizons: ArrayLike) -> Floats:
    times = to_floats(to_array(horizons, "horizons"), "horizons")
    if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0.0):
        raise ValueError(f"horizons must be two or more ascending times, got {horizons!r}.")
    return times


def _columns(y_prob: ArrayLike, count: int) -> list[Floats]:
    scores = to_array(y_prob, "y_prob")
    if scores.ndim == 2 and scores.shape[1] == count:
        return list(scores.T)
    if scores.ndim != 1:
        raise ValueError(f"y_prob must hold one column, or one for each of {count} horizons, got shape {scores.shape}.")
    return [scores] * count
