"""Metrics that are means of row values, and skills, which compare such a mean with that of a constant decision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.regret import check_rule, row_losses
from stakes.core.sums import blocks
from stakes.core.validation import check_unit
from stakes.inference._central_sums import BLOCK, CentralSums, mean_spread, skill_spread
from stakes.inference._influence import NEEDED_FOR_SKILL, Influence, mean_influence, skill_influence
from stakes.inference._influence_moments import influence_moments
from stakes.inference._moments import Moments, moments_of
from stakes.metrics import METRICS, guess_metric
from stakes.metrics._scorers import check_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from stakes.core.regret import Rule
    from stakes.costs import CostDistribution
    from stakes.inference._central_sums import Part
    from stakes.inference._influence import Cells

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Options = Mapping[str, Any]

AREAS = ("roc_auc_score", "auc_regret")  # of another form: see _area_rows
_SKILLS = ("bounded_brier_skill_score", "bounded_log_skill_score", "regret_skill_score")


@dataclass(frozen=True)
class Constant:
    """The constant forecast that a skill compares with, by default the prevalence, and what the losses follow from."""

    costs: CostDistribution
    rule: Rule
    reference: float | None

    def losses(self, prevalence: float) -> Floats:
        """What it costs a row of each class."""
        # the prevalence is the best constant, so that its own error moves the reference's loss to second order only
        guess = np.array([prevalence if self.reference is None else self.reference])
        return np.append(self.costs.negative_loss(guess), self.costs.positive_loss(guess))


@dataclass(frozen=True)
class RowMean:
    """A mean of row values; with ``constant`` one less the mean over that of the constant.

    ``best`` and ``worst`` are the values of perfect and of opposite decisions for each class.
    """

    values: Callable[[Bools, Floats], Floats]
    best: tuple[float, float]
    worst: tuple[float, float]
    constant: Constant | None = None

    def influence(self, cells: Cells) -> Influence:
        """What each row contributes to the error."""
        if self.constant is None:
            return mean_influence(cells, self.values(cells.y, cells.score), self.best, self.worst)
        return skill_influence(cells, self.constant.costs, self.constant.rule, self.constant.reference)


def _value_range(mean: RowMean, masses: Floats, *, fixed: bool, paired: bool) -> tuple[float, float]:
    """Least and largest value that rows can give, the shares of the classes known or not; of a difference if paired."""
    if mean.constant is not None:
        return -np.inf, np.inf if paired else 1.0
    ends = np.sort(np.stack([mean.best, mean.worst]), axis=0)  # least and largest by class
    if paired:
        ends = np.stack([ends[0] - ends[1], ends[1] - ends[0]])
    low, high = ends @ (masses / masses.sum()) if fixed else (ends[0].min(), ends[1].max())
    return float(low), float(high)


def row_mean(name: str, options: Options) -> RowMean:
    """Return a registered metric of two classes as a mean of row values, or raise for one without a closed form."""
    if name in METRICS:
        check_parameters(METRICS[name], dict(options))
    if name in METRICS and (name in _SKILLS or name == "net_benefit_score" or METRICS[name].per_sample):
        rule = check_rule(options.get("rule", "score"))
        if rule == "optimal":
            raise ValueError(
                'rule="optimal" is fitted to the same rows and has no closed-form interval; compare by "score".'
            )
        if name in _SKILLS:
            return _skill(name, rule, options)
        return _net_benefit(rule, options) if name == "net_benefit_score" else _per_sample(name, options)
    known = sorted(
        {"net_benefit_score", *_SKILLS, *AREAS, *(key for key, entry in METRICS.items() if entry.per_sample)}
    )
    near = "" if name in METRICS else guess_metric(name, known)
    raise ValueError(
        f"metric must have a closed-form interval ({', '.join(known)}), got {name!r}"
        f"{near or '; bootstrap serves the others.'}"
    )


def metric_range(name: str, options: Options) -> tuple[float, float]:
    """Least and largest value of a registered metric with these options, whatever the rows."""
    if METRICS[name].task == "binary" and (METRICS[name].per_sample or name == "net_benefit_score"):
        others = {key: value for key, value in options.items() if key != "rule"}  # on which the range does not depend
        return _value_range(row_mean(name, others), np.ones(2), fixed=False, paired=False)
    return METRICS[name].low, METRICS[name].high


def mean_moments(mean: RowMean, cells: Sequence[Cells], dependence: tuple[Any, Any] = (None, None)) -> Moments:
    """Moments of a metric, or of its difference between the first and the second of two models on the same rows."""
    paired = len(cells) == 2
    if cells[0].design(*dependence).dependent:
        influence = mean.influence(cells[0])
        if paired:
            influence = influence.minus(mean.influence(cells[1]))
        moments = influence_moments(cells[0], influence, *dependence, paired=paired)
        masses = np.array([float(cells[0].weight[mine].sum()) for mine in (~cells[0].y, cells[0].y)])
        return moments.within(*_value_range(mean, masses, fixed=cells[0].fixed_prevalence, paired=paired))
    best = np.zeros(2) if paired else np.array(mean.best)
    most = np.abs(np.subtract(mean.worst, mean.best))
    sums, fixed = CentralSums.of(_parts(mean, cells, best)), cells[0].fixed_prevalence
    rows = round(float(sums.rows[0])), round(float(sums.rows[1]))
    if mean.constant is None:
        value = float(sums.value + sums.masses @ best / sums.masses.sum())
        ends = _value_range(mean, sums.masses, fixed=fixed, paired=paired)
        return moments_of(value, mean_spread(sums, value - best, most, fixed=fixed), rows, paired=paired).within(*ends)
    constant = mean.constant.losses(float(sums.masses[1] / sums.masses.sum()))
    ratio, base, spread = skill_spread(sums, constant, most, fixed=fixed)
    needed = NEEDED_FOR_SKILL if base > 0.0 else 0
    ends = _value_range(mean, sums.masses, fixed=fixed, paired=paired)
    return moments_of((0.0 if paired else 1.0) - float(ratio), spread, rows, least=needed, paired=paired).within(*ends)


def _parts(mean: RowMean, cells: Sequence[Cells], best: Floats) -> Iterator[Part]:
    """Values of the rows of each class, block by block, less the best; or the differences between two models."""
    first = cells[0]
    for part in blocks(len(first.y), BLOCK):
        for k, mine in enumerate((~first.y[part], first.y[part])):
            y = first.y[part][mine]
            values = mean.values(y, first.score[part][mine]) if len(y) else np.empty(0)
            if len(cells) == 2 and len(y):
                values = values - mean.values(y, cells[1].score[part][mine])
            elif best[k] != 0.0:
                values = values - best[k]
            weights = (None, None) if first.plain else (first.weight[part][mine], first.square[part][mine])
            yield k, values, *weights


def _skill(name: str, rule: Rule, options: Options) -> RowMean:
    metric, free = METRICS[name], {key: value for key, value in options.items() if key not in ("rule", "reference")}
    if metric.costs is None:
        raise ValueError(f"{name} has no cost distribution.")
    costs = metric.costs(**({"bounds": (0.0, 1.0), **free} if metric.bounded else free))
    reference = options.get("reference")
    constant = Constant(costs, rule, None if reference is None else check_unit(reference, "reference"))
    worst = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
    return RowMean(partial(row_losses, costs=costs, rule=rule), (0.0, 0.0), worst, constant)


def _net_benefit(rule: Rule, options: Options) -> RowMean:
    t = check_unit(options["threshold"], "threshold", open_high=True)
    odds, cut = t / (1.0 - t), t if isinstance(rule, str) else rule

    def values(y: Bools, score: Floats) -> Floats:
        return np.where(score >= cut, np.where(y, 1.0, -odds), 0.0)

    return RowMean(values, (0.0, 1.0), (-odds, 0.0))


def _per_sample(name: str, options: Options) -> RowMean:
    function = partial(METRICS[name].function, per_sample=True, **options)
    ends = [float(end) for end in function([0, 1, 0, 1], [0.0, 1.0, 1.0, 0.0])]
    return RowMean(
        lambda y, score: np.asarray(function(y, score), dtype=np.float64), (ends[0], ends[1]), (ends[2], ends[3])
    )
