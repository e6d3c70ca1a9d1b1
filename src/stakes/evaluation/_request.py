"""What an evaluation is asked to do, checked once: the options, and the further metrics among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from stakes.core.options import Options, check_options
from stakes.metrics import METRICS, guess_metric

if TYPE_CHECKING:
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution

MetricsRequest = Sequence[str] | Mapping[str, Mapping[str, Any]]


def check_request(**given: Any) -> Options:
    """Check what the caller asked for; without costs the whole range counts, and metrics get their arguments."""
    options = check_options(**{**given, "costs": (0.0, 1.0) if given.get("costs") is None else given["costs"]})
    return replace(options, metrics=_requested(options.metrics, options.costs))


def further_metrics(options: Options, table: ScoreTable) -> dict[str, float]:
    """Values of the further metrics that were asked for."""
    return {name: METRICS[name].function(table, **arguments) for name, arguments in options.metrics.items()}


def _requested(metrics: MetricsRequest, costs: CostDistribution) -> dict[str, dict[str, Any]]:
    """Further metrics with their arguments; bounds and costs are those of the evaluation unless given."""
    if isinstance(metrics, str) or not isinstance(metrics, (Mapping, Sequence)):
        raise ValueError(f"metrics must be a list of names or a mapping of names to arguments, got {metrics!r}.")
    asked = metrics.items() if isinstance(metrics, Mapping) else [(name, {}) for name in metrics]
    binary = [name for name, entry in METRICS.items() if entry.task == "binary"]
    requested: dict[str, dict[str, Any]] = {}
    for name, options in asked:
        if name not in binary:
            near = guess_metric(str(name), binary) or "."
            listed = ", ".join(sorted(binary))
            raise ValueError(f"metrics must be registered for two classes ({listed}), got {name!r}{near}")
        if not isinstance(options, Mapping):
            raise ValueError(f"metrics must map {name} to a mapping of its arguments, got {options!r}.")
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
