"""What stakes says: one function for each kind of question, with the columns of an input and the case's options."""

import numpy as np

from stakes import RowCosts, TimeToEvent, correction, costs, curves, decompose, inference, information, metrics, utility

_SUMMARIES = {}


def scored(data, *, model="p", weighted=False, horizon=None, cause=None, **options):
    """Return what stands first in every call: labels (or times to an event), scores, and the weights among the rest."""
    y = data.get("y")
    if horizon is not None:
        event = data["event" if cause is None else "cause"]
        y = TimeToEvent(event=event, time=data["time"], horizon=horizon, cause=cause)
    given = {"sample_weight": data["w"]} if weighted else {}
    return (y, data[model]), given | options


def metric(data, *, name, **options):
    """A metric."""
    pair, given = scored(data, **options)
    return getattr(metrics, name)(*pair, **given)


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


def profit(data, *, kind, **options):
    """Expected maximum profit: what acting on everyone worth it earns, less the regret of the best thresholds."""
    (y, p), given = scored(data, **options)
    found = getattr(costs, f"{kind}_profit")(**given)
    regret = metrics.expected_regret(y, p, costs=found.costs, rule="optimal", scale="integral")
    return found.factor * (np.mean(y) * found.offset - regret)


def amounts(data, *, read, false_positive, **options):
    """Money with amounts by row: a miss costs the amount, an alarm always the same and what is due besides."""
    (y, p), _ = scored(data, **options)
    matrix = (0.0, false_positive, data["amount"], false_positive)
    return getattr(inference.money(RowCosts(y, matrix=matrix), p, per=len(y)), read).value


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


def binned(data, *, read, **options):
    """Bins of a calibration plot."""
    pair, given = scored(data, **options)
    return getattr(curves.binned_reliability(*pair, **given), read)


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
    )
}


def answer(question, data, options):
    """Return what stakes says, as numbers in a row."""
    return np.ravel(np.asarray(QUESTIONS[question](data, **options), dtype=float))
