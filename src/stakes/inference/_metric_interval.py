"""Intervals of any metric, and pooling over horizons and centres."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from stakes.base import validation
from stakes.base.outcome import Outcome
from stakes.core.options import evaluation_data, with_fixed_weights
from stakes.core.score_table import ScoreTable
from stakes.inference._area import (
    AREAS,
    Area,
    AreaDifference,
    AreaRegret,
    PartialArea,
    area_estimate,
    area_gap,
    area_regret,
    mean_moments,
    metric_range,
    partial_area,
    partial_area_gap,
    row_mean,
)
from stakes.inference._bands import confidence_band
from stakes.inference._comparison import PAIRED_NEEDS_ROWS, Comparison
from stakes.inference._cross_fitting import CROSS_FITTED, CrossFitted, cross_fitted
from stakes.inference._imputation import pooled
from stakes.metrics import METRICS, RocWindow, check_parameters
from stakes.outcomes import Imputed, TimeToEvent
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import percent
from stakes.variance.dependence import Design, check_dependence, count_clusters, dependence_of
from stakes.variance.influence import WeightedCells, cells_of, influence_moments
from stakes.variance.sums import Estimate, Moments, moments_of

Dependence = tuple[validation.Integers | None, int | str | None]


# A metric over several horizons of the same follow-up: its mean by the trapezoidal rule, with an interval.


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
    validation.check_same_order(outcome=outcome, y_prob=y_prob)
    level = validation.check_level(confidence_level)
    if not isinstance(outcome, TimeToEvent):
        raise ValueError(f"outcome must be a TimeToEvent, got {type(outcome).__name__}.")
    times = validation.to_floats(validation.to_array(horizons, "horizons"), "horizons")
    if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0.0):
        raise ValueError(f"horizons must be two or more ascending times, got {horizons!r}.")
    mean, columns = row_mean(_check_metric(metric), options), _score_columns(y_prob, len(times))
    share = np.convolve(np.diff(times), [0.5, 0.5]) / (times[-1] - times[0])
    each, contributions = [], np.zeros(int(np.count_nonzero(outcome.present)))
    for part, time, score in zip(share, times, columns, strict=True):
        cells = cells_of(evaluation_data(outcome.at(float(time)), score), fixed_prevalence=False)
        found, design = mean.influence(cells), cells.design()
        each.append(influence_moments(cells, found))
        contributions += part * design.contributions(found.slope)
    variance, degrees, _ = design.variance_of(contributions)
    moments = _over_horizons(each, share, float(variance), float(degrees)).within(*metric_range(metric, options))
    name = f"{metric}, horizons {times[0]:g} to {times[-1]:g}"
    return Estimate(name, moments.value, moments.standard_error, moments.interval(level), level, moments.note)


def _over_horizons(each: Sequence[Moments], share: validation.Floats, variance: float, degrees: float) -> Moments:
    """Moments of the mean over horizons: it has no interval, or a wider one, where one of the horizons does."""
    scarcest = next((e for e in each if math.isnan(e.interval(0.5)[0])), next((e for e in each if e.scarcity), each[0]))
    value = float(np.dot(share, [one.value for one in each]))
    root = float(np.dot(share, [math.sqrt(one.room) for one in each]))
    # a row that was not seen may count at all horizons
    return replace(scarcest, value=value, variance=variance, degrees=degrees, room=root**2)


def _check_metric(metric: Any) -> str:
    if isinstance(metric, str) and metric not in AREAS:
        return metric
    raise ValueError(f"metric must be the name of a mean over rows, got {metric!r}.")


def _score_columns(y_prob: ArrayLike, count: int) -> list[validation.Floats]:
    scores = validation.to_array(y_prob, "y_prob")
    if scores.ndim == 2 and scores.shape[1] == count:
        return list(scores.T)
    if scores.ndim != 1:
        raise ValueError(f"y_prob must hold one column, or one for each of {count} horizons, got shape {scores.shape}.")
    return [scores] * count


# Any metric with its interval, and the paired difference in a metric between two models.

Method = Literal["student", "delong"]
_FOR_AMOUNTS = ("expected_regret", "net_benefit_score", "average_net_benefit_score")
_METHODS = ("student", "delong")


def metric_interval(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    metric: str | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    confidence_level: float = 0.95,
    method: Method = "student",
    **options: Any,
) -> Estimate:
    """How sure a metric is on these rows: its standard error and interval in closed form.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values (more for multi-class losses), or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2) or Imputed, optional
        Probability of the positive class (any score for metrics of rankings); of every class for multi-class losses;
        or the scores of several completed data sets, over which the result is pooled.
    metric : str
        Name of a mean loss, a skill score, "net_benefit_score", "average_net_benefit_score", "roc_auc_score",
        "partial_auc_score", "auc_regret", "h_measure_score", or "hull_auc" (the area under the convex hull of the ROC
        curve).
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data: class totals are then known.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients or states: only rows of different clusters are independent.
    lags : int or "auto", optional
        For rows in order of time. "auto" estimates the long-run variance by slow cosines, with Student t intervals; a
        number of lags is Newey and West's estimate, which is too small for strong autocorrelation.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).
    method : {"student", "delong"}, default "student"
        For AUC, "delong" is the normal interval of DeLong's variance as pROC's ``ci.auc`` has it. It is too narrow
        where a class has few rows.
    **options
        Further arguments of the metric, such as ``bounds=`` or ``threshold=``; for "h_measure_score" and "hull_auc"
        also ``cv=`` (2 to 20, by default 10) and ``random_state=`` (by default 0: the same folds
        at every call).

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        For invalid data or options, a metric without a closed form, or clusters or lags without rows.
    TypeError
        For an argument that the metric does not take, or one that it needs and did not get.

    Notes
    -----
    Means are sums over rows; skill follows by the delta method. The interval is Student's t, with as many degrees of
    freedom as rows carry the spread; where fewer than five do, with the rule of three for what was not seen, and
    ``note`` says how many rows would do. Clusters are left out in turn. The variance of AUC is that of DeLong, DeLong
    and Clarke-Pearson (1988, doi:10.2307/2531595), and at least that of Hanley and McNeil (1982,
    doi:10.1148/radiology.143.1.7063747); its interval has Wilson's form and needs three rows of each class, that of
    skill five. A partial area is treated alike, by what each row adds to the share of its window below the curve.

    Net benefit has the limits of its curve, from those of the two shares that it is made of, as
    :func:`confidence_band` does; with ``lags``, or at a threshold that the rule does not act on, those of a mean.

    "h_measure_score" and "hull_auc" estimate the population's value by cross-fitted recalibration, without the optimism
    of the same rows, as :func:`decomposition_interval` does: they need 20 positives and 20 negatives, and the value is
    smaller than that on the rows. The default costs of the H-measure depend on the prevalence, whose sampling error is
    then part of the standard error. That of the hull is DeLong's, for the scores or the recalibrated scores, whichever
    is larger.

    Imputed scores are pooled by Rubin's rules: the variances within the columns and between them add up, the degrees of
    freedom are the fewer of Barnard and Rubin's and of those above, the squares of the widenings for unseen rows are
    averaged, and an area has its mean on the scale of log-odds. Columns that agree have the interval of one.

    Examples
    --------
    >>> from stakes.inference import metric_interval
    >>> y_true = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5
    >>> y_prob = [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5
    >>> metric_interval(y_true, y_prob, "bounded_brier_loss", bounds=(0.2, 0.6))
    Estimate(bounded_brier_loss = 0.078, 95% interval [0.0455, 0.1105])
    """
    validation.check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, clusters=clusters)
    said = ""
    if y_prob is None and isinstance(y_true, ScoreTable):  # the rows that the weights were estimated from are not here
        y_true, said = with_fixed_weights(y_true)
    level, name = validation.check_level(confidence_level), _check_asked(metric, method)
    data: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    data["logits"] = logits
    about = data | {"probability": _needs_probability(name), "amounts": name in _FOR_AMOUNTS}
    if not isinstance(y_prob, Imputed):
        found = _estimate(name, _measured(name, (y_true, y_prob), about, options, (clusters, lags)), level, method)
        found = replace(found, note="; ".join(filter(None, (found.note, said))))
    else:
        each = [_measured(name, (y_true, scores), about, options, (clusters, lags)) for scores in y_prob.scores]
        more = {"log_odds": True} if name == "roc_auc_score" else {}
        found = _estimate(name, pooled(each, _count(y_true, clusters, sample_weight), **more), level, method)
        ones = [_estimate(name, one, level, method) for one in each]
        found = replace(found, note=_note([(one.note, one.interval) for one in ones]))
    if (
        name != "net_benefit_score"
        or lags is not None
        or options.get("rule", "score") not in ("score", options["threshold"])
        # rows or clusters that allow no interval allow no band
        or (math.isnan(found.interval[0]) and (clusters is not None or isinstance(y_true, Outcome)))
    ):
        return found
    about = data | {"clusters": clusters, "confidence_level": level}
    band = confidence_band(y_true, y_prob, "net_benefit", thresholds=[options["threshold"]], **about)
    interval = (float(band.low[0]), float(band.high[0]))
    return replace(found, interval=interval, note=found.note if math.isnan(interval[0]) else said)


def _measured(
    name: str, data: tuple[Any, Any], about: dict[str, Any], options: dict[str, Any], dependence: tuple[Any, Any]
) -> Area | AreaRegret | PartialArea | Moments | CrossFitted:
    """Estimate a metric from labels and one column of scores."""
    if name in METRICS and METRICS[name].task == "multiclass":
        return _multiclass(name, data, about, options, dependence)
    checked, fixed = evaluation_data(*data, **about), about["prevalence"] is not None
    if name in CROSS_FITTED:
        if any(part is not None for part in dependence):
            raise ValueError(f"clusters= and lags= have no cross-fitted interval, which {name!r} needs.")
        return cross_fitted(name, checked, options, fixed_prevalence=fixed)
    cells, rows = cells_of(checked, fixed_prevalence=fixed), checked.sample
    if rows is None and any(part is not None for part in dependence):
        raise ValueError("clusters= and lags= need the rows: pass y_true and y_prob instead of a ScoreTable.")
    known = (None, None) if rows is None else dependence_of(rows, *dependence, about["sample_weight"])
    if name not in AREAS:
        return mean_moments(row_mean(name, options), (cells,), known)
    _check_area(name, options)
    if name == "partial_auc_score":
        return partial_area(RocWindow.of(**options), cells, known)
    area = area_estimate(cells, known)
    return area if name == "roc_auc_score" else area_regret((cells,), area, known)


def _check_area(metric: str, options: dict[str, Any]) -> None:
    """Refuse options of a metric of AREAS that it does not take, or that its closed form would leave out."""
    check_parameters(METRICS[metric], options)
    if metric == "auc_regret":
        plain: dict[str, Any] = {"bounds": (0.0, 1.0), "cost": "event_rate"}
        given = [key for key, value in options.items() if key in plain and not np.array_equal(value, plain[key])]
        if given:
            raise ValueError(
                f"{given[0]} of auc_regret has a closed-form interval at {plain[given[0]]!r} only, got "
                f"{options[given[0]]!r}; bootstrap serves the others."
            )


def metric_difference(
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    /,
    metric: str,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    names: tuple[str, str] = ("a", "b"),
    confidence_level: float = 0.95,
    method: Method = "student",
    **options: Any,
) -> Comparison:
    """Say whether two models really differ in a metric, on the same rows.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values.
    a, b : array_like of shape (n,) or (n, 2) or Imputed
        Scores of the two models.
    metric : str
        As for :func:`metric_interval`, closed forms only.
    sample_weight, pos_label, prevalence, logits, clusters, lags, confidence_level
        As for :func:`metric_interval`.
    names : tuple of str, default ("a", "b")
        What to call the models.
    method : {"student", "delong"}, default "student"
        For AUC, "delong" is the normal test of DeLong as pROC's ``roc.test`` has it. It is too sure of itself where few
        rows of a class tell the models apart.
    **options
        Further arguments of the metric.

    Returns
    -------
    Comparison
        ``difference`` is the metric of a minus that of b, whichever way is better.

    Raises
    ------
    ValueError
        For invalid data or options, or two score tables.

    Notes
    -----
    The variance is that of the difference of the rows' influences: for AUC it is DeLong's, for a mean loss with
    ``lags`` that of Diebold and Mariano (1995, doi:10.1080/07350015.1995.10524599). Intervals are as for
    :func:`metric_interval`; that of a difference of two areas is at least as wide as Hanley and McNeil's variances make
    it, and joins the intervals of the two (Zou 2007, doi:10.1037/1082-989X.12.4.399) where fewer than three rows of a
    class tell the models apart.

    Examples
    --------
    >>> from stakes.inference import metric_difference
    >>> y_true = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5
    >>> a = [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5
    >>> b = [0.2, 0.6, 0.7, 0.5, 0.3, 0.4, 0.1, 0.7, 0.6, 0.8] * 5
    >>> metric_difference(y_true, a, b, "roc_auc_score").difference.__round__(3)
    0.18
    """
    validation.check_same_order(y_true=y_true, a=a, b=b, sample_weight=sample_weight, clusters=clusters)
    level = validation.check_level(confidence_level)
    if any(isinstance(value, ScoreTable) for value in (y_true, a, b)):
        raise ValueError(PAIRED_NEEDS_ROWS)
    name = _check_asked(metric, method)
    data: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    data |= {"logits": logits, "probability": _needs_probability(name), "amounts": name in _FOR_AMOUNTS}
    each = []
    for pair in _paired(a, b):
        read = [
            evaluation_data(y_true, scores, name=argument, **data) for argument, scores in zip("ab", pair, strict=True)
        ]
        first, second = (cells_of(model, fixed_prevalence=prevalence is not None) for model in read)
        dependence = dependence_of(read[0].rows, clusters, lags, sample_weight)
        each.append(_difference(name, (first, second), options, dependence))
    gap = each[0] if len(each) == 1 else pooled(each, _count(y_true, clusters, sample_weight))
    found = gap.interval(level), gap.p_value()
    if method == "delong" and isinstance(gap, AreaDifference):
        found = gap.delong(level)
    note = _note([(one.note, one.interval(level)) for one in each])
    return Comparison(*validation.check_names(names), gap.value, gap.standard_error, *found, name, level, note=note)


def _difference(
    metric: str, cells: tuple[WeightedCells, WeightedCells], options: dict[str, Any], dependence: Dependence
) -> AreaDifference | AreaRegret | PartialArea | Moments:
    """Estimate the metric of the first scores minus that of the second, on the same rows."""
    if metric in AREAS:
        _check_area(metric, options)
        if metric == "partial_auc_score":
            return partial_area_gap(RocWindow.of(**options), cells, dependence)
        gap = area_gap(*cells, dependence)
        return gap if metric == "roc_auc_score" else area_regret(cells, gap, dependence)
    return mean_moments(row_mean(metric, options), cells, dependence)


def _note(each: list[tuple[str, tuple[float, float]]]) -> str:
    """The first note of a data set; if some have no interval, the first of these."""
    first = sorted(each, key=lambda one: not math.isnan(one[1][0]))
    return next((note for note, _ in first if note), "")


def _paired(a: Any, b: Any) -> list[tuple[Any, Any]]:
    """Pair the scores of two models by completed data set; scores without imputation repeat."""
    if not isinstance(a, Imputed) and not isinstance(b, Imputed):
        return [(a, b)]
    counts = {len(part.scores) for part in (a, b) if isinstance(part, Imputed)}
    if len(counts) > 1:
        raise ValueError(f"a and b must come from the same completed data sets, got {sorted(counts)} columns.")
    columns = [part.scores if isinstance(part, Imputed) else (part,) * max(counts) for part in (a, b)]
    return list(zip(*columns, strict=True))


def _count(y_true: Any, clusters: Any, sample_weight: Any) -> int:
    """Format the number of rows (clusters) for messages."""
    if clusters is not None:
        return count_clusters(clusters, sample_weight)
    if isinstance(y_true, Outcome):
        return int(np.count_nonzero(y_true.present))
    return len(validation.to_array(y_true, "y_true")) if sample_weight is None else int(np.count_nonzero(sample_weight))


def _check_asked(metric: Any, method: Any) -> str:
    if not isinstance(metric, str):
        raise ValueError(
            f"metric must be the name of a metric, such as 'bounded_brier_loss', got {validation.brief(metric)}."
        )
    if not isinstance(method, str) or method not in _METHODS or (method == "delong" and metric != "roc_auc_score"):
        raise ValueError(f'method must be "student", or "delong" for "roc_auc_score", got {method!r} for {metric!r}.')
    return metric


def _needs_probability(metric: str) -> bool:
    return METRICS[metric].response == "probability" if metric in METRICS else metric not in CROSS_FITTED


def _estimate(
    metric: str, moments: Area | AreaRegret | PartialArea | Moments | CrossFitted, level: float, method: Method
) -> Estimate:
    """Build the interval of a registered metric, clipped to its range."""
    if isinstance(moments, CrossFitted):
        return moments.estimate(level)
    if method == "delong" and isinstance(moments, Area):
        return Estimate(metric, moments.value, moments.standard_error, moments.delong(level), level, moments.reason)
    (low, high), known = moments.interval(level), METRICS[metric]
    interval = (max(low, known.low), min(high, known.high)) if math.isfinite(low) else (low, high)
    return Estimate(metric, moments.value, moments.standard_error, interval, level, moments.note)


def _multiclass(
    metric: str, data: tuple[Any, Any], about: dict[str, Any], options: dict[str, Any], dependence: tuple[Any, Any]
) -> Moments:
    """Moments of a mean over rows of several classes."""
    for name, default in (("pos_label", None), ("prevalence", None), ("logits", False)):
        if about[name] is not default:
            raise ValueError(f"{name}= is for metrics of two classes, which {metric!r} is not, got {about[name]!r}.")
    check_parameters(METRICS[metric], options)
    values = np.asarray(METRICS[metric].function(*data, per_sample=True, **options), dtype=np.float64)
    weight = validation.check_weights(about["sample_weight"], len(values))
    if weight is not None:
        values, weight = values[weight > 0.0], weight[weight > 0.0]
    codes, lags = check_dependence(*dependence, len(values), about["sample_weight"])
    ones = np.ones(len(values))
    # one class of rows: what they cost is bounded by the metric's range, if that has an end
    design = Design(ones > 0.0, ones if weight is None else weight, codes=codes, lags=lags)
    found, rows, reason = design.variance(values, np.array([0.0, METRICS[metric].high]))
    value = float(np.dot(design.share, values))
    return moments_of(value, found, rows, reason=reason, clustered=codes is not None, names=("row", "row"))


# Random-effects pooling of estimates from several centres.

_LEAST = 3  # estimates that a variance between them needs
_TOLERANCE = 1e-14
_SMALL_STEP, _STEPS_PER_FOLD, _MOST_FOLDS = 1e-3, 8, 200  # of the variances at which a likelihood is looked at
_VARIANCES = 400  # points of the confidence distribution of the variance between centres
_HALVINGS = 60
_FAR = 9.0  # standard deviations beyond which nothing is


@dataclass(frozen=True)
class RandomEffects(Tabular):
    """The mean of what centres truly have, how much they differ, and what to expect in another one.

    Parameters
    ----------
    value, standard_error : float
        Estimated mean over centres.
    interval : tuple of float
        Of the mean.
    prediction_interval : tuple of float
        In which the true value of another such centre is expected.
    tau : float
        Standard deviation of the true values between centres, by restricted maximum likelihood.
    i_squared : float
        Share of the variation of the estimates that is not noise, in [0, 1).
    q : float
        Cochran's Q, chi-square with one degree of freedom less than centres where all are truly alike.
    centres : int
        How many.
    confidence_level : float
        Of both intervals.

    Examples
    --------
    >>> from stakes.inference import random_effects
    >>> random_effects([0.1, 0.3, 0.08, 0.11], [0.01, 0.02, 0.015, 0.01])
    RandomEffects(0.1466 [-0.01532, 0.3085], another centre [-0.2155, 0.51], I2 98%, 4 centres)
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    prediction_interval: tuple[float, float]
    tau: float
    i_squared: float
    q: float
    centres: int
    confidence_level: float

    def _records(self) -> list[dict[str, Any]]:
        ends = {"ci_low": self.interval[0], "ci_high": self.interval[1]}
        ends |= {"prediction_low": self.prediction_interval[0], "prediction_high": self.prediction_interval[1]}
        spread = {"tau": self.tau, "i_squared": self.i_squared, "q": self.q, "centres": self.centres}
        return [{"value": self.value, "standard_error": self.standard_error, **ends, **spread}]

    def __repr__(self) -> str:
        mean, another = ("[{:.4g}, {:.4g}]".format(*ends) for ends in (self.interval, self.prediction_interval))
        return (
            f"RandomEffects({self.value:.4g} {mean}, another centre {another}, I2 {percent(self.i_squared, 2)}, "
            f"{self.centres} centres)"
        )


def random_effects(values: ArrayLike, standard_errors: ArrayLike, *, confidence_level: float = 0.95) -> RandomEffects:
    """Pool estimates of several centres whose true values differ.

    Parameters
    ----------
    values, standard_errors : array_like of shape (k,)
        One of each for every centre, at least three, on a scale on which they are about normal: the log-odds of an
        AUC, the log of a ratio.
    confidence_level : float, default 0.95
        Of both intervals, in (0, 1).

    Returns
    -------
    RandomEffects

    Raises
    ------
    ValueError
        For fewer than three estimates, numbers that do not pair, or errors that are not above 0.

    Notes
    -----
    The variance between centres is the restricted maximum-likelihood estimate, the interval of the mean that of Hartung
    and Knapp (2001, doi:10.1002/sim.1009), never narrower than one that takes the centres to be alike (Rover et al.
    2015, doi:10.1186/s12874-015-0091-1), with Student's t of one degree of freedom less than centres: as
    ``rma(method="REML", test="adhoc")`` of R's metafor.

    The prediction interval does not take the estimated variance for the true one, which with few centres is 0 too
    often. It mixes the normal distributions that follow from each variance over its confidence distribution, from the
    generalised Q (Nagashima, Noma and Furukawa 2019, doi:10.1177/0962280218773520), and holds the interval of the mean.

    Examples
    --------
    >>> from stakes.inference import random_effects
    >>> found = random_effects([-0.4, -0.2, -0.9, -0.5, -0.1], [0.2, 0.1, 0.3, 0.2, 0.1])
    >>> round(found.value, 3), round(found.tau, 3)
    (-0.326, 0.185)
    """
    from scipy.special import stdtrit

    level = validation.check_level(confidence_level)
    y, errors = (
        validation.to_floats(np.asarray(values), "values"),
        validation.to_floats(np.asarray(standard_errors), "standard_errors"),
    )
    if y.ndim != 1 or y.shape != errors.shape or len(y) < _LEAST:
        raise ValueError(
            f"values and standard_errors must pair, at least {_LEAST} of them, got shapes {y.shape} and {errors.shape}."
        )
    if not (np.isfinite(y).all() and np.isfinite(errors).all() and errors.min() > 0.0):
        raise ValueError(f"values must be finite and standard_errors > 0, got {y.tolist()} and {errors.tolist()}.")
    k, v = len(y), np.square(errors)
    tau2 = _variance_between(y, v)
    w = 1.0 / (v + tau2)
    mean = float(w @ y / w.sum())
    scale = max(1.0, float(w @ np.square(y - mean)) / (k - 1))
    error = math.sqrt(scale / float(w.sum()))
    t = float(stdtrit(k - 1, 0.5 + 0.5 * level))
    least, most = _expected_elsewhere(y, v, 0.5 * (1.0 - level))
    alike = 1.0 / v
    common = float(alike @ y / alike.sum())
    pairs = float(alike[1:] @ np.cumsum(alike)[:-1])  # half of the squared sum less the sum of squares, which cancel
    typical = (k - 1) * float(alike.sum()) / (2.0 * pairs)  # Higgins and Thompson
    return RandomEffects(
        mean,
        error,
        (mean - t * error, mean + t * error),
        (min(least, mean - t * error), max(most, mean + t * error)),
        math.sqrt(tau2),
        tau2 / (tau2 + typical),
        float(alike @ np.square(y - common)),
        k,
        level,
    )


def _variance_between(y: validation.Floats, v: validation.Floats) -> float:
    """Where the restricted log-likelihood is highest: at 0, or at one of the places where its slope falls through 0."""
    from scipy.optimize import brentq

    def weighted(tau2: Any) -> tuple[validation.Floats, validation.Floats, validation.Floats]:
        w = 1.0 / (v + np.asarray(tau2)[..., None])
        total = w.sum(axis=-1)
        return w, total, y - (w @ y / total)[..., None]

    def slope(tau2: Any) -> validation.Floats:
        w, total, gap = weighted(tau2)
        return np.asarray(np.square(w * gap).sum(axis=-1) - total + np.square(w).sum(axis=-1) / total)

    def likelihood(tau2: float) -> float:
        w, total, gap = weighted(tau2)
        return float(np.log(w).sum() - np.log(total) - (w * np.square(gap)).sum())

    spread = float(np.var(y, ddof=1))
    high = 2.0 * max(spread, math.sqrt(spread) * math.sqrt(float(v.max())))  # beyond it the likelihood only falls
    grid = _steps(float(v.min()), high)
    rises = slope(grid) > 0.0
    places = zip(grid[:-1], grid[1:], rises[:-1] & ~rises[1:], strict=True)
    tops = [float(brentq(slope, a, b, xtol=_TOLERANCE * b, rtol=_TOLERANCE)) for a, b, top in places if top]
    return max(tops if rises[0] else [0.0, *tops], key=likelihood)


def _steps(least: float, high: float) -> validation.Floats:
    """From 0 to a variance between centres, so close that the slope of a likelihood turns at most once in a step."""
    low = _SMALL_STEP * least
    if high <= low:
        return np.array([0.0, high])
    steps = math.ceil(_STEPS_PER_FOLD * min(math.log(high) - math.log(low), _MOST_FOLDS)) + 1
    return np.concatenate([[0.0], np.geomspace(low, high, steps)])


def _expected_elsewhere(y: validation.Floats, v: validation.Floats, tail: float) -> tuple[float, float]:
    """Quantiles of another centre's true value, over the confidence distribution of the variance between centres."""
    from scipy.optimize import brentq
    from scipy.special import chdtri, ndtr

    tau2 = _solve_q(y, v, chdtri(len(y) - 1, (np.arange(_VARIANCES) + 0.5) / _VARIANCES))
    w = 1.0 / (v + tau2[:, None])
    total = w.sum(axis=1)
    mean, spread = w @ y / total, np.sqrt(tau2 + 1.0 / total)

    def below(x: float) -> float:
        return float(ndtr((x - mean) / spread).mean())

    low, high = float((mean - _FAR * spread).min()), float((mean + _FAR * spread).max())
    first, last = (float(brentq(lambda x, p=p: below(x) - p, low, high)) for p in (tail, 1.0 - tail))
    return first, last


def _solve_q(y: validation.Floats, v: validation.Floats, goal: validation.Floats) -> validation.Floats:
    """The variances at which the generalised Q, which falls in them, has these values; 0 where it starts below."""

    def q(tau2: validation.Floats) -> validation.Floats:
        w = 1.0 / (v + tau2[:, None])
        gap = y - (w @ y / w.sum(axis=1))[:, None]
        return np.asarray((w * np.square(gap)).sum(axis=1))

    low, high = np.zeros(len(goal)), np.full(len(goal), float(np.var(y)) + float(v.max()))
    while np.any(behind := q(high) > goal):
        high = np.where(behind, 4.0 * high, high)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = q(middle) > goal
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(q(np.zeros(len(goal))) > goal, 0.5 * (low + high), 0.0)
