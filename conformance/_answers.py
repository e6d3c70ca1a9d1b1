"""What stakes says: one function for each kind of question, with the columns of an input and the case's options."""

import warnings

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from conformance._inputs import load
from stakes import RowCosts, TimeToEvent, correction, costs, curves, decompose, inference, information, metrics, utility
from stakes.evaluation import evaluate_horizons

_SUMMARIES = {}


def scored(data, *, model="p", weighted=False, horizon=None, cause=None, followed=None, **options):
    """Return what stands first in every call: labels (or times to an event), scores, and the weights among the rest.

    With ``followed="beyond"`` the chance of being followed beyond each row's end is given as known, with the name of an
    input as that of this input's rows; without, stakes estimates that of being followed until then.
    """
    y = data.get("y")
    if "y" in data and len(np.unique(y)) == 1:
        options["pos_label"], y = "yes", np.where(y == 1, "yes", "no")
    if horizon is not None:
        event = data["event" if cause is None else "cause"]
        known = {}
        if followed is not None:
            others = data if followed == "beyond" else load(followed)
            known = {"censoring": _followed_beyond(others, np.minimum(data["time"], horizon))}
        if weighted:
            known, weighted = known | {"sample_weight": data["w"]}, False
        y = TimeToEvent(event=event, time=data["time"], horizon=horizon, cause=cause, **known)
    given = {"sample_weight": data["w"]} if weighted else {}
    return (y, data.get(model)), given | options


def _followed_beyond(data, ends):
    """Product limit of these rows' censoring at times, censorings at that very time included."""
    times, place = np.unique(data["time"], return_inverse=True)
    left = np.bincount(place)
    censored = np.bincount(place, weights=1 - data["event"])
    at_risk = left[::-1].cumsum()[::-1] - (left - censored)  # events at a time come before its censorings
    limit = np.cumprod(1 - censored / np.maximum(at_risk, 1))
    return np.append(1.0, limit)[np.searchsorted(times, ends, side="right")]


def metric(data, *, name, per_row=False, **options):
    """A metric; per row of all, in place of per weight, where known weights do not sum to the number of rows."""
    pair, given = scored(data, **options)
    return getattr(metrics, name)(*pair, **given) * (pair[0].weight_share if per_row else 1)


def curve(data, *, name, at, **options):
    """Points of a curve."""
    pair, given = scored(data, **options)
    return getattr(curves, name)(*pair, **given).at(at)


def of_curve(data, *, name, read, count=False, **options):
    """What a curve knows of itself: its area, the rates at its corners, or how many corners there are."""
    pair, given = scored(data, **options)
    found = getattr(getattr(curves, name)(*pair, **given), read)
    return len(found) if count else found


def counted(data, *, at, column, **options):
    """A column of the threshold table."""
    pair, given = scored(data, **options)
    table = curves.threshold_table(*pair, thresholds=at, **given)
    return getattr(table, column)


def measured(data, *, measure, at, beta=None, **options):
    """A measure of the confusion matrix at thresholds."""
    pair, given = scored(data, **options)
    found = utility.FBeta(beta) if beta else measure
    return utility.utility_curve(*pair, found, **given).at(at)


def decomposed(data, *, of, **options):
    """Score, miscalibration, discrimination, uncertainty."""
    pair, given = scored(data, **options)
    kinds = {"brier": costs.Uniform(), "log": costs.LogOddsUniform(), "error": costs.Fixed(0.5, tie=0.5)}
    found = decompose(*pair, costs=kinds[of], scale="loss", **given)
    return [found.score, found.miscalibration, found.discrimination, found.uncertainty]


def elementary(data, *, at, share=1.0, **options):
    """The elementary score at thresholds, which is the regret at that cost ratio."""
    pair, given = scored(data, **options)
    return [share * metrics.expected_regret(*pair, costs=costs.Fixed(t), **given) for t in at]


def skills(data, *, at, **options):
    """Share that decisions at thresholds save of the regret of acting on everybody or nobody, whichever is less."""
    pair, given = scored(data, **options)
    return [metrics.regret_skill_score(*pair, costs=costs.Fixed(t), **given) for t in at]


def profit(data, *, kind, **options):
    """Expected maximum profit: what acting on everyone worth it earns, less the regret of the best thresholds."""
    (y, p), given = scored(data, **options)
    found = getattr(costs, f"{kind}_profit")(**given)
    regret = metrics.expected_regret(y, p, costs=found.costs, rule="optimal", scale="integral")
    return found.factor * (np.mean(y) * found.offset - regret)


def amounts(data, *, read, false_positive, true_positive=None, **options):
    """Money with amounts by row: a miss costs the amount, an alarm the same whether false or true unless given."""
    (y, p), _ = scored(data, **options)
    matrix = (0.0, false_positive, data["amount"], false_positive if true_positive is None else true_positive)
    outcome = RowCosts(y, matrix=matrix, on_dominated="set_aside")
    return getattr(inference.money(outcome, p, per=len(y)), read).value


def spent(data, *, read, matrix):
    """Money by amounts of the cells tn, fp, fn, tp, one number or one for each row; nan where stakes refuses them."""
    try:
        outcome = RowCosts(data["y"], matrix=tuple(matrix), on_dominated="set_aside")
    except ValueError as error:
        if "nothing is at stake" not in str(error):
            raise
        return np.nan
    return getattr(inference.money(outcome, data["p"], per=len(data["y"])), read).value


def integrated(data, *, name, horizons, **options):
    """Mean of a metric over horizons."""
    (outcome, p), given = scored(data, horizon=horizons[0], **options)
    return inference.integrated_metric(outcome, p, name, horizons=horizons, **given).value


def interval(data, *, read, **options):
    """Estimate, standard error, ends of the interval."""
    pair, given = scored(data, **options)
    found = inference.metric_interval(*pair, **given)
    low, high = found.interval
    return [{"value": found.value, "se": found.standard_error, "low": low, "high": high}[key] for key in read]


def difference(data, *, read, metric, **options):
    """Paired difference of two models: p less q."""
    (y, p), given = scored(data, **options)
    found = inference.metric_difference(y, p, data["q"], metric, **given)
    low, high = found.interval
    known = {"value": found.difference, "se": found.standard_error, "low": low, "high": high, "p": found.p_value}
    return [known[key] for key in read]


def calibration(data, *, read, **options):
    """Numbers of the calibration summary, by their names."""
    asked = (id(data), *sorted(options.items()))  # inputs stay in memory once they are loaded
    if asked not in _SUMMARIES:
        pair, given = scored(data, **options)
        _SUMMARIES[asked] = inference.calibration_summary(*pair, **given)
    found = _SUMMARIES[asked]
    estimates = {estimate.metric: estimate for estimate in found.estimates}
    values = []
    for key in read:
        name, _, part = key.partition(":")
        values.append(getattr(estimates[name], part) if part else getattr(found, name))
    return values


def spiegelhalter(data, *, read, **options):
    """Spiegelhalter's test, which the test of loss-calibration with equal weights reports."""
    pair, given = scored(data, **options)
    return getattr(correction.loss_calibration_test(*pair, positive_share=0.5, n_resamples=1, **given), read)


def followed(data, *, read, **options):
    """What times to an event say of themselves."""
    return getattr(scored(data, **options)[0][0], read)


def concordance(data, *, horizon, read):
    """Harrell's or Uno's C, by scikit-survival."""
    outcome = TimeToEvent(event=data["event"], time=data["time"], horizon=horizon)
    return evaluate_horizons(outcome, {"p": data["p"][:, np.newaxis]}, horizons=[horizon]).concordance().rows[0][read]


def binned(data, *, read, **options):
    """Bins of a calibration plot."""
    pair, given = scored(data, **options)
    return getattr(curves.binned_reliability(*pair, **given), read)


def gaps(data, *, of, **options):
    """Gaps between event rate and mean score of the bins: their mean, the largest, their weighted root mean square."""
    pair, given = scored(data, **options)
    found = curves.binned_reliability(*pair, **given)
    apart = np.abs(found.event_rate - found.mean_score)
    return {
        "mean": apart.mean(),
        "largest": apart.max(),
        "root mean square": np.sqrt(np.average(apart**2, weights=found.weight)),
    }[of]


def grouped(data, *, threshold, column, weighted=False):
    """A column of the threshold table at one threshold in each of three groups of rows by their amount."""
    group = data["amount"] % 3
    parts = [{key: data[key][group == part] for key in data} for part in np.unique(group)]
    return np.ravel([counted(part, at=[threshold], column=column, weighted=weighted) for part in parts])


def precision_limit(data, *, threshold, confidence_level, **options):
    """Lower limit of the share of positives among rows at or above a threshold, by Clopper and Pearson."""
    (y, p), given = scored(data, **options)
    acted, how = p >= threshold, {"n_bins": 1, "interval": "clopper-pearson"}
    return curves.binned_reliability(y[acted], p[acted], confidence_level=confidence_level, **how, **given).ci_low


def pooled(_, *, centres, read):
    """Estimates of several centres, pooled."""
    found = inference.random_effects(*centres)
    return [getattr(found, key) for key in read]


def classes(data, *, name, weighted=False, share=1.0, **options):
    """A metric of many classes."""
    given = {"sample_weight": data["w"]} if weighted else {}
    return share * getattr(metrics, name)(data["y"], data["classes"], **given, **options)


def rows(_, **options):
    """How many rows a validation needs."""
    return information.rows_needed(**options).rows


def evpi_of_cells(_, *, cells, threshold):
    """Value of perfect information by the normal form, with the errors of two net benefits: model and treat all."""
    tp, fp, fn, tn = cells
    y, acted = np.repeat([1, 0, 1, 0], cells), np.repeat([1, 1, 0, 0], cells)
    odds = threshold / (1 - threshold)
    gains = np.array([np.zeros(len(y)), acted * (y - (1 - y) * odds), y - (1 - y) * odds])
    covariance = np.cov(gains, ddof=0) / (tp + fp + fn + tn)
    excess = inference.largest_of(gains.mean(axis=1), covariance).excess
    return [excess, *np.sqrt(np.diag(covariance)[1:])]


QUESTIONS = {
    function.__name__: function
    for function in (
        *(
            metric,
            curve,
            of_curve,
            counted,
            measured,
            decomposed,
            elementary,
            profit,
            amounts,
            interval,
            difference,
            calibration,
        ),
        *(spiegelhalter, followed, binned, classes, rows, evpi_of_cells),
        *(skills, spent, concordance, integrated, gaps, grouped, precision_limit, pooled),
    )
}


def answer(question, data, options):
    """Return what stakes says, as numbers in a row; where a number is undefined it is nan, and its warning unheard."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return np.ravel(np.asarray(QUESTIONS[question](data, **options), dtype=float))
