"""What the page computes with: thinned and recalibrated tables, covariances, bands, as JSON with numbers in base64."""

from __future__ import annotations

import base64
import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from stakes.costs import Beta, Fixed, LogOddsUniform, Uniform
from stakes.curves._reliability import reliability_curve_of
from stakes.inference import confidence_band
from stakes.report._numbers import decisions, regret_words, unit_words
from stakes.report._spread import spread_of
from stakes.report._thin import Thinned, passing, thinned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.costs import CostDistribution
    from stakes.evaluation import Evaluation
    from stakes.report._models import Model
    from stakes.score_table import ScoreTable

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
# net benefit falls without bound towards a threshold of 1
_LAST_THRESHOLD = 0.99


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
        **_quantile(evaluation),
        "unsure": no_intervals(evaluation),
        "rows": list(evaluation.moments.rows),
        "spread": _spread(evaluation, drawn),
        "bands": None if thresholds is None else encoded(thresholds),
    }


def own_weighting(costs: CostDistribution) -> Json:
    """The range and weighting of the evaluation, for which the page holds the library's own numbers.

    Examples
    --------
    >>> from stakes import costs
    >>> own_weighting(costs.Beta(2, 8))
    {'low': 0.0, 'high': 1.0, 'weighting': 'beta', 'a': 2.0, 'b': 8.0}
    """
    own: Json = {"low": costs.low, "high": costs.high, "weighting": "given"}
    if type(costs) is Uniform or (type(costs) is Fixed and costs.tie == 1.0 and costs.mass == 1.0):
        own["weighting"] = "uniform"
    elif type(costs) is LogOddsUniform:
        own["weighting"] = "log-odds"
    elif type(costs) is Beta:
        own |= {"weighting": "beta", "a": costs.a, "b": costs.b}
    return own


def _words(evaluation: Evaluation) -> Json:
    """How regret is called, and in which units it is."""
    return {
        "regret": regret_words(evaluation),
        "unitWords": unit_words(evaluation),
        "decisions": decisions(evaluation),
        "inUnits": evaluation.unit_cost != 1.0,
    }


def _quantile(evaluation: Evaluation) -> Json:
    """Of the normal distribution, or of Student's with the degrees of freedom of clusters or of rows in order."""
    degrees, upper = evaluation.moments.degrees, 0.5 + evaluation.confidence_level / 2.0
    if math.isinf(degrees):
        return {"degrees": None, "z": NormalDist().inv_cdf(upper)}
    return {"degrees": degrees, "z": float(stdtrit(degrees, upper))}


def no_intervals(evaluation: Evaluation) -> str:
    """Why the page can make no intervals, or nothing."""
    return "the decisions were fitted to these same rows" if evaluation.rule == "optimal" else ""


def no_bands(evaluation: Evaluation) -> str:
    """Why the page has no bands, or nothing."""
    rows = evaluation.rows
    if rows is not None and not (rows.clusters is None and rows.lags is None):
        return "a band would take the rows as independent"
    if not 0.0 < evaluation.prevalence < 1.0:
        return "there is only one class"
    if evaluation.costs.low > _LAST_THRESHOLD:
        return "the thresholds are too near to 1"
    return no_intervals(evaluation)


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
        found["band"] = None if thresholds is None else _bands(evaluation, table, thresholds)
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
    return {
        "cuts": encoded(found.cuts),
        "size": len(found.cuts) - 1,
        "pairs": [list(pair) for pair in found.pairs],
        "covariances": encoded(found.covariances.ravel(), "f4"),
    }


def _band_thresholds(evaluation: Evaluation) -> Floats | None:
    """Where bands are read: over the plausible range."""
    if no_bands(evaluation):
        return None
    costs = evaluation.costs
    last = min(costs.high, _LAST_THRESHOLD)
    return np.linspace(costs.low, last, _BAND_POINTS) if costs.low < last else np.array([costs.low])


def _bands(evaluation: Evaluation, table: ScoreTable, thresholds: Floats) -> Json:
    """Simultaneous bands of regret and net benefit over the plausible range; the reader says which are drawn."""
    level, ends = evaluation.confidence_level, {}
    if not isinstance(evaluation.rule, str):
        # at exactly 0 a hard label of 0 would count as acted on, which the deployed threshold does not do
        table, thresholds = table.at_threshold(evaluation.rule), np.maximum(thresholds, np.finfo(float).tiny)
    # what lies between two thresholds is decided alike
    starts = np.unique(np.append(0, np.searchsorted(table.scores, thresholds)))
    starts = starts[starts < len(table.scores)]
    pooled = table._pooled(table.scores[starts], starts)
    for kind in ("regret", "net_benefit"):
        band = confidence_band(kind, pooled, thresholds=thresholds, confidence_level=level, n_draws=_BAND_DRAWS)
        limits = np.concatenate([band.simultaneous_low, band.simultaneous_high])
        ends[kind] = encoded(limits, "f4") if np.all(np.isfinite(limits)) else None
    return ends


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
