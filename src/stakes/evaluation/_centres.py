"""Models in each of several centres, over them, and in another one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes import inference
from stakes.base import validation
from stakes.base.multiclass import models_by_name
from stakes.base.outcome import Outcome
from stakes.core.options import evaluation_data
from stakes.costs import CostsLike, as_costs
from stakes.evaluation._groups import coded
from stakes.outcomes import BeyondFollowUpError, TimeToEvent
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import PaperTable
from stakes.outputs.text import level_name, names_of, percent
from stakes.variance.influence import cells_of

CENTRE_HEADS = {"auc": "AUC", "o_e_ratio": "O:E", "calibration_in_the_large": "Intercept", "slope": "Slope"}
CENTRE_HEADS |= {"net_benefit": "Net benefit", "regret": "Regret"}
_CALIBRATION = ("o_e_ratio", "calibration_in_the_large", "slope")
_ROUGH = 50  # rows of the rarer class; with 27 in each of 20 centres, intervals of the mean covered .91 to .94
_FEWEST = 3  # centres that are pooled
_ROUNDING = 1e-12  # of a value
_DEEPEST = 2  # dimensions: rows, and columns that are crossed
ALL_CENTRES, ANOTHER_CENTRE = "all centres", "another centre"

Found = inference.Estimate | inference.Comparison


@dataclass(frozen=True, eq=False, repr=False)
class CentreEvaluation(PaperTable):
    """AUC, calibration, net benefit and regret of each model in each centre, over all, and in another one.

    Made by :func:`evaluate_centres`.

    Parameters
    ----------
    sizes : dict of str to tuple of int
        Rows of each centre, and how many of them are known to be positive.
    estimates : dict of str to dict of str to dict of str to Estimate or Comparison
        By model and by the difference of each two ("a - b"); by centre; by measure: "auc", "o_e_ratio",
        "calibration_in_the_large", "slope", and "net_benefit" and "regret" where they were asked for. Every interval is
        of the one number alone.
    pooled : dict of str to dict of str to RandomEffects
        By model or difference, and by measure: the mean over centres and what to expect in another one. Absent where
        fewer than three centres have an estimate with an error.
    left_out : dict of str to dict of str to tuple of str
        By model or difference, and by measure: the centres that were not pooled, for want of an error.
    threshold : float or None
        Of the net benefit.
    confidence_level : float
        Of each interval.
    not_followed : tuple of str, default ()
        Centres that were not followed to the horizon: their estimates are nan, and they are left out everywhere.

    Examples
    --------
    >>> from stakes.evaluation import evaluate_centres
    >>> y, p = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 12, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 12
    >>> found = evaluate_centres(y, {"model": p}, ["a"] * 40 + ["b"] * 40 + ["c"] * 40)
    >>> found.pooled["model"]["auc"].centres
    3
    """

    sizes: dict[str, tuple[int, int]]
    estimates: dict[str, dict[str, dict[str, Found]]]
    pooled: dict[str, dict[str, inference.RandomEffects]]
    left_out: dict[str, dict[str, tuple[str, ...]]]
    threshold: float | None
    confidence_level: float
    not_followed: tuple[str, ...] = ()

    def _records(self) -> list[dict[str, Any]]:
        return [record for name in self.estimates for record in self._records_of(name)]

    def _records_of(self, name: str) -> Iterator[dict[str, Any]]:
        """Records of a model: its centres, the mean over them, and the range of another one."""
        for centre, found in self.estimates[name].items():
            rows, positives = self.sizes[centre]
            numbers = {key: (estimated_value(each), each.interval) for key, each in found.items()}
            yield {"model": name, "centre": centre, "rows": rows, "positives": positives} | self._numbers(numbers)
        rows, positives = np.sum(list(self.sizes.values()), axis=0).tolist()
        over = self.pooled[name]
        mean = {key: (each.value, each.interval) for key, each in over.items()}
        further = {key: (each.value, each.prediction_interval) for key, each in over.items()}
        for title, numbers in ((ALL_CENTRES, mean), (ANOTHER_CENTRE, further)):
            yield {"model": name, "centre": title, "rows": rows, "positives": positives} | self._numbers(numbers)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, without their differences."""
        return tuple(name for name, of in self.estimates.items() if "slope" in next(iter(of.values())))

    @property
    def measures(self) -> tuple[str, ...]:
        """What was estimated of models."""
        return tuple(next(iter(next(iter(self.estimates.values())).values())))

    def _numbers(self, found: Mapping[str, tuple[float, tuple[float, float]]]) -> dict[str, float]:
        numbers: dict[str, float] = {}
        for key in self.measures:
            value, (low, high) = found.get(key, (math.nan, (math.nan, math.nan)))
            numbers |= {key: value, f"{key}_ci_low": low, f"{key}_ci_high": high}
        return numbers

    def _heads(self) -> dict[str, str]:
        at = "" if self.threshold is None else f" at {percent(self.threshold)}"
        heads = {key: CENTRE_HEADS[key] + at * (key == "net_benefit") for key in self.measures}
        return {"model": "Model", "centre": "Centre", "rows": "Rows", "positives": "Positives"} | heads

    def _footnotes(self) -> tuple[str, ...]:
        level = level_name(self.confidence_level)
        followed = {centre: size for centre, size in self.sizes.items() if centre not in self.not_followed}
        few = [centre for centre, (rows, events) in followed.items() if min(events, rows - events) < _ROUGH]
        late = ", ".join(self.not_followed)
        return (
            f"In brackets the {level} interval of each number alone; of {ANOTHER_CENTRE}, the prediction interval.",
            "Pooled by random effects: restricted maximum likelihood, Hartung and Knapp's interval.",
            *((f"Errors are rough where a class has fewer than {_ROUGH} rows: {', '.join(few)}.",) if few else ()),
            *((f"Left out, as not followed to the horizon: {late}.",) if late else ()),
            *(f"Not pooled, for want of an error: {each}." for each in self._missing()),
        )

    def _missing(self) -> Iterator[str]:
        for name, of in self.left_out.items():
            for key, centres in of.items():
                unpooled = [centre for centre in centres if centre not in self.not_followed]
                if unpooled:
                    yield f"{CENTRE_HEADS[key]} of {name} in {', '.join(unpooled)}"

    def plot(self, *args: Any, **options: Any) -> Any:
        """Draw a forest plot; see :class:`stakes.display.ForestDisplay`."""
        return draw(self, *args, **options)

    def __repr__(self) -> str:
        return f"CentreEvaluation({', '.join(self.estimates)}; {len(self.sizes)} centres)"


def estimated_value(found: Found) -> float:
    """The value of an estimate, or of a difference."""
    return found.difference if isinstance(found, inference.Comparison) else found.value


def evaluate_centres(
    y_true: ArrayLike | TimeToEvent,
    y_prob: Mapping[str, ArrayLike],
    centres: ArrayLike,
    *,
    threshold: float | None = None,
    costs: CostsLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    confidence_level: float = 0.95,
) -> CentreEvaluation:
    """Say how well models do in each centre, on average over centres, and what to expect in another one.

    Parameters
    ----------
    y_true : array_like of shape (n,) or TimeToEvent
        Labels with two values; or follow-up, whose censoring is then estimated within each centre. A centre that was
        not followed to the horizon is left out, and named.
    y_prob : mapping of str to array_like of shape (n,)
        Probabilities of the positive class, by model.
    centres : array_like of shape (n,) or (n, k)
        The centre of each row; several columns are crossed ("Oslo / 2024").
    threshold : float, optional
        Risk in (0, 1) from which one acts, for the net benefit.
    costs : CostDistribution, tuple of float, or float, optional
        The plausible cost ratios, for the regret.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0 of labels; those of follow-up are given to the outcome. A centre without weight is as if absent.
    pos_label : object, optional
        The label of the positive class.
    confidence_level : float, default 0.95
        Of each interval, in (0, 1).

    Returns
    -------
    CentreEvaluation

    Raises
    ------
    ValueError
        For invalid data, fewer than two centres, or a centre with labels of one class only.

    Notes
    -----
    Areas are pooled on the log-odds scale, O:E on the log scale (Debray et al. 2017, doi:10.1136/bmj.i6460), everything
    else as it is; see :func:`stakes.inference.random_effects`. Few events in a centre make its errors rough, and
    pooling takes them as known.

    Examples
    --------
    >>> from stakes.evaluation import evaluate_centres
    >>> y, p = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 12, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 12
    >>> found = evaluate_centres(y, {"model": p}, ["a"] * 40 + ["b"] * 40 + ["c"] * 40, threshold=0.35)
    >>> round(found.estimates["model"]["a"]["net_benefit"].value, 3), round(found.pooled["model"]["slope"].value, 2)
    (0.392, 2.11)
    """
    validation.check_same_order(y_true=y_true, y_prob=y_prob, centres=centres, sample_weight=sample_weight)
    level, asked = validation.check_level(confidence_level), _asked(threshold, costs)
    models = models_by_name(y_prob)
    if isinstance(y_true, Outcome) and not isinstance(y_true, TimeToEvent):
        raise ValueError(f"y_true must be labels or a TimeToEvent, got a {type(y_true).__name__}.")
    rows_of, scores, (counted, positives) = _rows(y_true, models, sample_weight, pos_label)
    each = _centres(centres, counted)
    names = (*scores, *(f"{a} - {b}" for a, b in combinations(scores, 2)))
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise ValueError(f"y_prob must not name a model {repeated!r}: that names the difference of two others.")
    sizes: dict[str, tuple[int, int]] = {}
    found: dict[str, dict[str, dict[str, Found]]] = {}
    for centre, mine in each.items():
        labels, weight = rows_of(mine, centre)
        sizes[centre] = int(np.sum(mine & counted)), int(np.sum(mine & counted & positives))
        if labels is not None:
            given = {name: score[mine] for name, score in scores.items()}
            found[centre] = _of_centre(labels, given, weight, asked, level)
    if not found:
        raise ValueError(f"y_true must be followed to the horizon in some centre, got none of {len(each)}.")
    late = tuple(centre for centre in each if centre not in found)
    nothing = {name: {key: _unknown(one) for key, one in of.items()} for name, of in next(iter(found.values())).items()}
    estimates = {name: {centre: found.get(centre, nothing)[name] for centre in each} for name in names}
    pooled, left_out, least = {}, {}, _rounding([found for name in scores for found in estimates[name].values()])
    for name, by_centre in estimates.items():
        pooled[name], left_out[name] = _pooled(by_centre, level, least)
    return CentreEvaluation(sizes, estimates, pooled, left_out, threshold, level, late)


def _asked(threshold: float | None, costs: CostsLike | None) -> dict[str, dict[str, Any]]:
    """Metrics that are compared between models, with their arguments."""
    asked: dict[str, dict[str, Any]] = {"auc": {"metric": "roc_auc_score"}}
    if threshold is not None:
        if not 0.0 < validation.check_number(threshold, "threshold") < 1.0:
            raise ValueError(
                f"threshold must lie strictly between 0 and 1, got {threshold:g}{validation.in_percent(threshold)}."
            )
        asked["net_benefit"] = {"metric": "net_benefit_score", "threshold": float(threshold)}
    if costs is not None:
        asked["regret"] = {"metric": "expected_regret", "costs": as_costs(costs)}
    return asked


def _rows(
    y_true: Any, models: dict[str, Any], sample_weight: Any, pos_label: object
) -> tuple[
    Callable[[validation.Bools, str], tuple[Any, validation.Floats | None]],
    dict[str, validation.Floats],
    tuple[validation.Bools, validation.Bools],
]:
    """How to take the labels and weights of some rows, the clean scores of each model, and who counts and is positive.

    There are no labels of a centre that was not followed to the horizon.
    """
    followed = isinstance(y_true, TimeToEvent)
    samples = {
        name: validation.check_sample(
            y_true, prob, sample_weight, pos_label, keep_zero_weight=not followed, name=f"y_prob[{name!r}]"
        )
        for name, prob in models.items()
    }
    if followed:
        scores = {
            name: validation.to_floats(validation.to_array(prob, "y_prob"), "y_prob") for name, prob in models.items()
        }
        return lambda mine, _: (_followed(y_true, mine), None), scores, (y_true.present, y_true.y)
    first = next(iter(samples.values()))

    def labels(mine: validation.Bools, centre: str) -> tuple[Any, validation.Floats | None]:
        y, weight = first.y[mine], None if first.weight is None else first.weight[mine]
        counted = y if weight is None else y[weight > 0.0]
        if counted.all() or not counted.any():
            raise ValueError(
                f"y_true must hold both classes in every centre, got {len(counted):,} rows of {centre}, "
                f"{'all' if counted.any() else 'none'} of them positive: leave such centres out, and say so."
            )
        return y, weight

    present = np.ones(len(first.y), dtype=bool) if first.weight is None else first.weight > 0.0
    return labels, {name: sample.score for name, sample in samples.items()}, (present, first.y)


def _followed(outcome: TimeToEvent, mine: validation.Bools) -> TimeToEvent | None:
    """The follow-up of one centre; None where it was not followed to the horizon."""
    try:
        return outcome.take(mine)
    except BeyondFollowUpError:
        return None


def _unknown(found: Found) -> Found:
    """The same estimate where there is none."""
    numbers: dict[str, Any] = dict.fromkeys(vars(found).keys() & {"value", "difference", "p_value"}, math.nan)
    numbers |= {"standard_error": math.nan, "interval": (math.nan, math.nan)}
    return replace(found, **numbers, note="not followed to the horizon")


def _centres(centres: Any, counted: validation.Bools) -> dict[str, NDArray[np.bool_]]:
    """All rows of each centre that has a row that counts."""
    labels, n = validation.to_array(centres, "centres"), len(counted)
    if labels.shape[:1] != (n,) or labels.ndim > _DEEPEST:
        raise ValueError(f"centres must have one value for each of the {n} rows, got shape {labels.shape}.")
    for column in labels.reshape(n, -1).T:
        validation.refuse_missing(column, "centres")
    parts = [coded(column) for column in labels.reshape(n, -1).T]
    places, code = np.unique(np.column_stack([codes for _, codes in parts]), axis=0, return_inverse=True)
    written = [names_of(distinct) for distinct, _ in parts]
    names = [" / ".join(of[k] for of, k in zip(written, place, strict=True)) for place in places.tolist()]
    twice = next((name for name, following in pairwise(sorted(names)) if name == following), None)
    if twice is not None:
        raise ValueError(f"centres must have names that tell them apart, got {twice!r} for two of them.")
    code = code.reshape(-1)
    used, n_counted = set(code[counted].tolist()), int(np.count_nonzero(counted))
    if not 1 < len(used) <= n_counted // 2:
        raise ValueError(
            f"centres must name two or more centres of several rows each, got {len(used)} in {n_counted} rows."
        )
    taken = {*names} & {ALL_CENTRES, ANOTHER_CENTRE}
    if taken:
        raise ValueError(f"centres must not be called {min(taken)!r}: that names a row of the table.")
    order = np.argsort(validation.plain_labels(parts[0][0]) if len(parts) == 1 else np.array(names), kind="stable")
    return {names[k]: code == k for k in order.tolist() if k in used}


def _of_centre(
    labels: Any,
    scores: Mapping[str, validation.Floats],
    weight: validation.Floats | None,
    asked: Mapping[str, dict[str, Any]],
    level: float,
) -> dict[str, dict[str, Found]]:
    """Estimates of each model, and of each difference, in one centre."""
    how: dict[str, Any] = {"sample_weight": weight, "confidence_level": level}
    found: dict[str, dict[str, Found]] = {}
    for name, score in scores.items():
        cells = cells_of(evaluation_data(labels, score, weight), fixed_prevalence=False)
        calibration = {each.metric: each for each in inference.recalibration_estimates(cells, cells.design(), level)[0]}
        performance: dict[str, Found] = {
            key: inference.metric_interval(labels, score, **of, **how) for key, of in asked.items()
        }
        known = {key: calibration[key] for key in _CALIBRATION}
        found[name] = {"auc": performance.pop("auc"), **known, **performance}
    for a, b in combinations(scores, 2):
        both = scores[a], scores[b]
        found[f"{a} - {b}"] = {
            key: inference.metric_difference(labels, *both, names=(a, b), **of, **how) for key, of in asked.items()
        }
    return found


def _rounding(models: Sequence[dict[str, Found]]) -> dict[str, float]:
    """Up to which size an error of each measure is one of rounding, beside the largest value of any model."""
    return {
        key: _ROUNDING * max((abs(v) for each in models if math.isfinite(v := estimated_value(each[key]))), default=0.0)
        for key in models[0]
    }


def _pooled(
    by_centre: Mapping[str, dict[str, Found]], level: float, least: Mapping[str, float]
) -> tuple[dict[str, inference.RandomEffects], dict[str, tuple[str, ...]]]:
    """Random effects by measure, and the centres that have no part in them."""
    pooled, left_out = {}, {}
    for key in next(iter(by_centre.values())):
        found = {centre: each[key] for centre, each in by_centre.items()}
        points = {centre: _to_normal(key, each) for centre, each in found.items()}
        usable = {c: point for c, point in points.items() if math.isfinite(sum(point)) and point[1] > least[key]}
        left_out[key] = tuple(centre for centre in points if centre not in usable)
        if len(usable) >= _FEWEST:
            values, errors = zip(*usable.values(), strict=True)
            on_scale = inference.random_effects(values, errors, confidence_level=level)
            difference = isinstance(next(iter(found.values())), inference.Comparison)
            pooled[key] = on_scale if difference else _from_normal(key, on_scale)
    return pooled, left_out


def _to_normal(key: str, found: Found) -> tuple[float, float]:
    """Value and standard error on the scale on which they are about normal."""
    value, error = estimated_value(found), found.standard_error
    if isinstance(found, inference.Comparison) or key not in ("auc", "o_e_ratio"):
        return value, error
    if key == "o_e_ratio":
        return (math.log(value), error / value) if value > 0.0 else (math.nan, math.nan)
    if not 0.0 < value < 1.0:
        return math.nan, math.nan
    return math.log(value / (1.0 - value)), error / (value * (1.0 - value))


def _from_normal(key: str, found: inference.RandomEffects) -> inference.RandomEffects:
    """Mean and intervals back on the scale of the measure; the spread between centres stays where it is normal."""
    if key not in ("auc", "o_e_ratio"):
        return found

    def back(x: float) -> float:
        return 1.0 / (1.0 + math.exp(-x)) if key == "auc" else math.exp(x)

    value, (low, high), (least, most) = back(found.value), found.interval, found.prediction_interval
    error = found.standard_error * (value * (1.0 - value) if key == "auc" else value)
    mean, further = (back(low), back(high)), (back(least), back(most))
    return replace(found, value=value, standard_error=error, interval=mean, prediction_interval=further)
