"""What an evaluation is asked to do, checked once: costs, rule, scale, units, confidence, further metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from stakes._inputs import as_costs
from stakes._kernel import check_rule, check_scale, check_units
from stakes._validation import check_unit
from stakes.metrics import METRICS

if TYPE_CHECKING:
    from stakes._kernel import Rule, Scale
    from stakes.costs import CostDistribution
    from stakes.score_table import ScoreTable

MetricsRequest = Sequence[str] | Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Settings:
    """Checked settings of an evaluation; ``factor`` takes the integral of regret to the scale and unit asked for."""

    costs: CostDistribution
    rule: Rule
    scale: Scale
    factor: float
    confidence_level: float
    unit_cost: float
    per: float
    metrics: Mapping[str, Mapping[str, Any]]

    @property
    def plain_rule(self) -> Rule:
        """The rule once scores are recalibrated where it asks for that."""
        return "score" if self.rule == "optimal" else self.rule

    def further(self, table: ScoreTable) -> dict[str, float]:
        """Values of the further metrics that were asked for."""
        return {name: METRICS[name].function(table, **options) for name, options in self.metrics.items()}


def make_settings(
    costs: CostDistribution | tuple[float, float] | None = None,
    rule: Rule = "score",
    scale: Scale | None = None,
    *,
    confidence_level: float = 0.95,
    unit_cost: float = 1.0,
    per: float = 1.0,
    metrics: MetricsRequest = (),
) -> Settings:
    """Check what the caller asked for."""
    measure = as_costs(costs)
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    name, factor = check_scale(scale, measure)
    factor *= check_units(name, unit_cost, per)
    return Settings(
        measure, check_rule(rule), name, factor, level, float(unit_cost), float(per), _requested(metrics, measure)
    )


def _requested(metrics: MetricsRequest, costs: CostDistribution) -> dict[str, dict[str, Any]]:
    """Further metrics with their arguments; bounds and costs are those of the evaluation unless given."""
    if isinstance(metrics, str):
        raise ValueError(f"metrics must be a list of names or a mapping of names to arguments, got {metrics!r}.")  # noqa: TRY004
    asked = metrics if isinstance(metrics, Mapping) else {name: {} for name in metrics}
    binary = [name for name, entry in METRICS.items() if entry.task == "binary"]
    requested: dict[str, dict[str, Any]] = {}
    for name, options in asked.items():
        if name not in binary:
            raise ValueError(f"metrics must be registered for two classes ({', '.join(sorted(binary))}), got {name!r}.")
        known = signature(METRICS[name].function).parameters
        defaults: dict[str, Any] = {"costs": costs}
        if costs.low < costs.high:
            defaults["bounds"] = (costs.low, costs.high)
        filled = {**{key: value for key, value in defaults.items() if key in known}, **options}
        _check_arguments(name, filled, known)
        requested[name] = filled
    return requested


def _check_arguments(name: str, options: Mapping[str, Any], known: Mapping[str, Parameter]) -> None:
    unknown = [key for key in options if key not in known]
    missing = [
        key
        for key, parameter in known.items()
        if parameter.kind is Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty and key not in options
    ]
    if unknown:
        raise ValueError(f"{name} takes no argument {unknown[0]!r}.")
    if missing:
        raise ValueError(f"{name} needs {missing[0]}=, for instance metrics={{{name!r}: {{{missing[0]!r}: ...}}}}.")
