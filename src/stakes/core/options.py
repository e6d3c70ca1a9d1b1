"""How predictions are judged: checked once, and carried as one thing from every entrance to every result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import EvaluationData, evaluation_data
from stakes.core.outcome import Outcome
from stakes.core.regret import check_harm, check_rule, check_units
from stakes.core.scale import check_scale
from stakes.core.validation import check_level, check_prevalence
from stakes.costs import CostDistribution, Uniform, as_costs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from stakes.core.outcome import Columns
    from stakes.core.regret import Rule
    from stakes.core.scale import Scale


@dataclass(frozen=True, eq=False)
class Options:
    """What was asked for; ``factor`` takes the integral of regret to the scale and unit.

    ``harm`` is what obtaining a score costs each case, in positives missed: one number, or one for some of the models.

    ``per_stake`` names what costs are counted per where rows count by what is at stake in them, such as "EUR at stake".

    What belongs to the rows (weights, clusters, groups) stands for one value per row, or for the name of a column
    until the columns are read.
    """

    costs: CostDistribution = field(default_factory=lambda: Uniform(0.0, 1.0))
    rule: Rule = "score"
    harm: float | Mapping[str, float] = 0.0
    scale: Scale = "regret"
    confidence_level: float = 0.95
    unit_cost: float = 1.0
    per: float = 1.0
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prevalence: float | None = None
    sample_weight: Any = None
    groups: Any = None
    clusters: Any = None
    lags: Any = None
    incumbent: str | None = None
    n_tried: int | None = None
    pos_label: Any = None
    outcome: Columns | None = None
    logits: bool = False
    factor: float = 1.0
    per_stake: str = ""

    @property
    def scale_words(self) -> str:
        """What costs are, and per what where amounts by row say so."""
        return f"{self.scale} per {self.per_stake}" if self.per_stake else self.scale

    @property
    def plain_rule(self) -> Rule:
        """The rule once scores are recalibrated where it asks for that."""
        return "score" if self.rule == "optimal" else self.rule

    @property
    def dividing_columns(self) -> list[str]:
        """Names of the columns that divide the rows, into subgroups or clusters."""
        return list(dict.fromkeys([*(self.groups or ()), *([] if self.clusters is None else [self.clusters])]))

    def harm_of(self, name: str) -> float:
        """What obtaining the score of a model costs each case, in positives missed; treating all or none needs none."""
        return self.harm.get(name, 0.0) if isinstance(self.harm, Mapping) else float(self.harm)

    def harms(self, models: Iterable[str]) -> NDArray[np.float64]:
        """That of each model, over the cost distribution: what so many missed positives cost."""
        each = np.array([self.harm_of(name) for name in models])
        return each * float(self.costs.positive_loss(-np.inf)) if each.any() else each

    def renamed(self, names: Mapping[str, str]) -> Options:
        """Return the same where models have other names."""
        harm = {names[name]: each for name, each in self.harm.items()} if isinstance(self.harm, Mapping) else self.harm
        return replace(self, incumbent=names.get(self.incumbent or ""), harm=harm)

    def check_harmed(self, models: Sequence[str]) -> None:
        """Raise unless the harm is of these models."""
        unknown = [name for name in self.harm if name not in models] if isinstance(self.harm, Mapping) else []
        if unknown:
            raise ValueError(f"harm must name models among {', '.join(map(repr, models))}, got {unknown[0]!r}.")

    def of_amounts(self, outcome: object) -> Options:
        """Count costs per unit of money at stake where rows have amounts; refuse what these have no meaning for."""
        if not isinstance(outcome, Outcome) or not outcome.by_amount:
            return self
        asked = {"metrics": self.metrics or None, "harm": self.harm or None, "prevalence": self.prevalence}
        given = [name for name, value in asked.items() if value is not None]
        given += [name for name in ("unit_cost", "per") if getattr(self, name) != 1.0]
        if given or self.scale != "regret":
            what = given[0] if given else "scale"
            instead = ": weigh the rows instead, by sample_weight= of RowCosts" if what == "prevalence" else ""
            raise ValueError(f"{what}= does not fit amounts by row{instead}.")
        unit = getattr(outcome, "unit", "") or "unit"
        # at the ratio 1/2 a wrong decision then costs what was stated
        return replace(self, factor=2.0 * self.factor, unit_cost=2.0, per_stake=f"{unit} at stake")

    def data(self, y_true: Any, y_prob: Any, name: str = "y_prob", *, amounts: bool = False) -> EvaluationData:
        """Validate the rows of one model, or the table that stands for them."""
        return evaluation_data(
            y_true,
            y_prob,
            sample_weight=self.sample_weight,
            pos_label=self.pos_label,
            prevalence=self.prevalence,
            logits=self.logits,
            amounts=amounts,
            name=name,
        )


def check_options(**given: Any) -> Options:
    """Check what a caller asked for; what is left out keeps its default, and the scale follows from the costs."""
    asked = Options(**given)
    if asked.clusters is not None and asked.lags is not None:
        raise ValueError("clusters= and lags= (rows in order) cannot both be given.")
    costs = as_costs(asked.costs)
    scale, factor = check_scale(given.get("scale"), costs)
    if math.isnan(factor):
        raise ValueError(
            f'scale="regret" is undefined for {costs!r}, whose mass is {costs.mass:g}; use "loss" or "integral".'
        )
    return replace(
        asked,
        costs=costs,
        rule=check_rule(asked.rule),
        harm=_check_harms(asked.harm, costs),
        scale=scale,
        prevalence=None if asked.prevalence is None else check_prevalence(asked.prevalence),
        confidence_level=check_level(asked.confidence_level),
        factor=factor * check_units(scale, asked.unit_cost, asked.per),
        unit_cost=float(asked.unit_cost),
        per=float(asked.per),
    )


def _check_harms(harm: Any, costs: CostDistribution) -> float | dict[str, float]:
    """Return the harm of obtaining a score, for all models alike or by name, or raise."""
    mapped = isinstance(harm, Mapping)
    found = {str(name): check_harm(each) for name, each in harm.items()} if mapped else check_harm(harm)
    each = found.values() if isinstance(found, dict) else [found]
    if any(each) and not math.isfinite(float(costs.positive_loss(-np.inf))):
        raise ValueError(f"harm counts in positives missed, and missing one costs infinitely much under {costs!r}.")
    return found
