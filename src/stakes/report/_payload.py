"""What the page computes with: thinned and recalibrated tables, covariances, bands, as JSON with numbers in base64."""

from __future__ import annotations

import base64
import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.costs import Fixed, LogOddsUniform, Uniform
from stakes.curves import curve_over_log_odds
from stakes.curves._reliability import reliability_curve_of
from stakes.inference import confidence_band
from stakes.inference._student import t_quantile
from stakes.report._left_out import LAST_THRESHOLD, no_bands, no_intervals, no_plain_bands
from stakes.report._spread import spread_of
from stakes.report._thin import Thinned, passing, thinned
from stakes.report._units import decisions, regret_words, unit_words
from stakes.shown.sentences import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution
    from stakes.evaluation import Evaluation
    from stakes.report._models import Model

    Floats = NDArray[np.float64]
    Json = dict[str, Any]

# a figure with more lines than this cannot be read, nor a page with so many pairs be small
MAX_DRAWN = 20
# scores of all models together: with their recalibration they take less than two megabytes
_SCORES = 40_000
_MOST_SCORES = 8000
_MOST_BLOCKS = 1500
_RELIABILITY = 300
_BAND_POINTS = 61
_BAND_DRAWS = 2000


def payload(evaluation: Evaluation, models: Sequence[Model]) -> Json:
    """Everything that the scripts of the page read."""
    drawn, thresholds = models[:MAX_DRAWN], _band_thresholds(evaluation)
    shares = evaluation.tables[0].shares
    return {
        "models": [_model(evaluation, model, len(models), thresholds) for model in models],
        "drawn": len(drawn),
        "shares": {"negative": shares[0], "positive": shares[1]},
        "rule": "score" if isinstance(evaluation.rule, str) else evaluation.rule,
        "own": own_weighting(evaluation.costs),
        "scale": evaluation.scale,
        "unit": evaluation.unit_cost * evaluation.per,
        **_words(evaluation),
        "level": evaluation.confidence_level,
        "z": NormalDist().inv_cdf(0.5 + evaluation.confidence_level / 2.0),
        "fixed": evaluation.tables[0].fixed_prevalence,
        "unsure": no_intervals(evaluation),
        "rows": list(evaluation.moments.rows),
        "n": evaluation.n_rows,
        "per": evaluation.per,
        "tried": evaluation.options.n_tried,
        "incumbent": _place(evaluation, evaluation.options.incumbent),
        "spread": _spread(evaluation, drawn),
        "bands": None if thresholds is None else encoded(thresholds),
        "harmed": evaluation.harm_line,
        "sentences": SENTENCES,
    }


def _place(evaluation: Evaluation, name: str | None) -> int | None:
    return None if name is None else evaluation.place(name)


def own_weighting(costs: CostDistribution) -> Json:
    """The range and weighting of the evaluation, for which the page holds the library's own numbers.

    Examples
    --------
    >>> from stakes import costs
    >>> own_weighting(costs.Beta(2, 8))
    {'low': 0.0, 'high': 1.0, 'weighting': 'given'}
    """
    own: Json = {"low": costs.low, "high": costs.high, "weighting": "given"}
    if type(costs) is Uniform or (type(costs) is Fixed and costs.tie == 1.0 and costs.mass == 1.0):
        own["weighting"] = "uniform"
    elif type(costs) is LogOddsUniform:
        own["weighting"] = "log-odds"
    return own


def _words(evaluation: Evaluation) -> Json:
    """How regret is called, and in which units it is."""
    return {
        "regret": regret_words(evaluation),
        "unitWords": unit_words(evaluation),
        "decisions": decisions(evaluation),
        "inUnits": evaluation.unit_cost != 1.0,
    }


def _model(evaluation: Evaluation, model: Model, count: int, thresholds: Floats | None) -> Json:
    index = evaluation.models.index(model.name)
    table = passing(evaluation.tables[index])
    limit = min(_SCORES // count, _MOST_SCORES)
    costs = evaluation.costs
    focus = (costs.low, costs.high)
    scores = thinned(table, limit, focus)
    blocks = thinned(table.recalibrated(), min(limit, _MOST_BLOCKS), focus)
    found: Json = {
        "name": model.short,
        "harm": evaluation.options.harm_of(model.name),
        "given": index,
        "colour": model.colour,
        "dash": [] if model.dash == "solid" else [float(x) for x in model.dash.replace("px", "").split(",")],
        "scores": _columns(scores),
        "blocks": _columns(blocks),
        "integralBound": scores.integral_bound,
        "shareBound": scores.share_bound,
        "ownParts": _parts(model),
    }
    if evaluation.rule == "optimal":
        found["acted"] = "blocks"
    elif not isinstance(evaluation.rule, str):
        found["deployed"] = _columns(thinned(table.at_threshold(evaluation.rule), 2, focus))
        found["acted"] = "deployed"
        found |= {"integralBound": 0.0, "shareBound": 0.0}
    else:
        found["acted"] = "scores"
    if model.rank <= MAX_DRAWN:
        x, y, _ = reliability_curve_of(table).thinned(_RELIABILITY)
        found["reliability"] = {"x": encoded(x, "f4"), "y": encoded(y, "f4")}
        found["smooth"] = _smooth(evaluation, table)
        found["band"] = None if thresholds is None else _bands(evaluation, index, thresholds)
    return found


def _smooth(evaluation: Evaluation, table: ScoreTable) -> Json:
    """The smooth calibration curve, with its band where that may take the rows as they are."""
    curve = curve_over_log_odds(table)
    found: Json = {"x": encoded(curve.knots, "f4"), "y": encoded(curve.at(curve.knots), "f4"), "limits": None}
    if not no_plain_bands(evaluation):
        found["limits"] = encoded(np.concatenate(curve.band(evaluation.confidence_level)), "f4")
    return found


def _parts(model: Model) -> Json | None:
    """The decomposition of the evaluation; None where a term is not finite."""
    parts = model.result.decomposition
    if parts is None:
        return None
    terms = {
        "score": parts.score,
        "miscalibration": parts.miscalibration,
        "discrimination": parts.discrimination,
        "uncertainty": parts.uncertainty,
    }
    return terms if all(map(math.isfinite, terms.values())) else None


def _columns(table: Thinned) -> Json:
    return {
        "scores": encoded(table.scores),
        "positives": encoded(table.positives),
        "negatives": encoded(table.negatives),
    }


def _spread(evaluation: Evaluation, models: Sequence[Model]) -> Json | None:
    chosen = [evaluation.models.index(model.name) for model in models]
    found = spread_of(evaluation, chosen)
    if found is None:
        return None
    # those of the evaluation's own range stand for every range
    rules = [*chosen, *range(len(evaluation.models), len(evaluation.models) + 3)]
    degrees = [float(evaluation.moments.spread_at(rules[i], rules[j]).degrees) for i, j in found.pairs]
    return {
        "cuts": encoded(found.cuts),
        "degrees": encoded(np.array(degrees)),
        "quantiles": encoded(t_quantile(1.0 - evaluation.confidence_level, degrees)),
        "size": len(found.cuts) - 1,
        "pairs": [list(pair) for pair in found.pairs],
        "covariances": encoded(found.covariances.ravel(), "f4"),
    }


def _band_thresholds(evaluation: Evaluation) -> Floats | None:
    """Where bands are read: over the plausible range."""
    if no_bands(evaluation):
        return None
    costs = evaluation.costs
    last = min(costs.high, LAST_THRESHOLD)
    return np.linspace(costs.low, last, _BAND_POINTS) if costs.low < last else np.array([costs.low])


def _bands(evaluation: Evaluation, index: int, thresholds: Floats) -> Json:
    """Simultaneous bands of regret and net benefit over the plausible range; the reader says which are drawn."""
    level, ends = evaluation.confidence_level, {}
    if not isinstance(evaluation.rule, str):
        # at exactly 0 a hard label of 0 would count as acted on, which the deployed threshold does not do
        thresholds = np.maximum(thresholds, np.finfo(float).tiny)
    data, options = _banded(evaluation, index, thresholds)
    harm = evaluation.options.harm_of(evaluation.models[index])
    for kind in ("regret", "net_benefit"):
        options |= {
            "kind": kind,
            "harm": harm,
            "thresholds": thresholds,
            "confidence_level": level,
            "n_draws": _BAND_DRAWS,
        }
        band = confidence_band(*data, **options)
        limits = np.concatenate([band.simultaneous_low, band.simultaneous_high])
        ends[kind] = encoded(limits, "f4") if np.all(np.isfinite(limits)) else None
    return ends


def _banded(evaluation: Evaluation, index: int, thresholds: Floats) -> tuple[tuple[Any, ...], Json]:
    """What a band is made from: the rows where clusters hold them, else a table as small as the thresholds allow."""
    rows, rule = evaluation.rows, evaluation.rule
    if rows is not None and rows.clusters is not None:
        scores = rows.scores[index] if isinstance(rule, str) else (rows.scores[index] >= rule) * 1.0
        known = {"prevalence": evaluation.prevalence if rows.fixed_prevalence else None}
        return (rows.y, scores), {"sample_weight": rows.weight, "clusters": rows.clusters, **known}
    table = evaluation.tables[index] if isinstance(rule, str) else evaluation.tables[index].at_threshold(rule)
    # what lies between two thresholds is decided alike
    starts = np.unique(np.append(0, np.searchsorted(table.scores, thresholds)))
    starts = starts[starts < len(table.scores)]
    return (table.pooled(table.scores[starts], starts),), {}


def encoded(values: Floats, kind: str = "f8") -> Json:
    """Numbers for the page: little-endian, base64.

    Examples
    --------
    >>> import numpy as np
    >>> encoded(np.array([0.5, 1.0]), "f4")
    {'f4': 'AAAAPwAAgD8='}
    """
    data = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return {kind: base64.b64encode(data).decode("ascii")}
