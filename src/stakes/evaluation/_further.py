"""Further questions to an evaluation: what more rows would be worth, and what leaving cases to someone else saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.actions import DeferredModels, deferred_models
from stakes.core.random_state import generator
from stakes.core.validation import BinarySample, check_choice
from stakes.costs import Fixed
from stakes.inference import PAIRED_NEEDS_ROWS, CostRows
from stakes.information import PRIORS, Asked, ValueOfInformation, check_study, value_of
from stakes.shown.sentences import REFERENCES

if TYPE_CHECKING:
    from stakes.costs import Deferral
    from stakes.evaluation._standings import Standings


def samples_of(standings: Standings, what: str) -> dict[str, BinarySample]:
    """Clean rows by model, of an evaluation at face value that knows its rows."""
    rows = standings.rows
    if rows is None:
        raise ValueError(PAIRED_NEEDS_ROWS)
    if standings.rule != "score":
        raise ValueError(f'{what} needs rule="score", got {standings.rule!r}.')
    if rows.origin is not None:
        raise ValueError(f"{what} needs plain labels: rows of another outcome are not worth one row each.")
    if standings.options.harms(standings.models).any():
        raise ValueError(f"{what} does not count harm=: evaluate without it.")
    scores = zip(standings.models, rows.scores, strict=True)
    return {name: BinarySample(rows.y, score, rows.weight) for name, score in scores}


def information_of(standings: Standings, prior: str, **study: Any) -> ValueOfInformation:
    """What choosing now may lose and more rows would save, on the scale of the evaluation."""
    what, options = "value of information", standings.options
    samples, rows = samples_of(standings, what), standings.rows
    if rows is not None and (rows.clusters is not None or rows.lags is not None or rows.fixed_prevalence):
        raise ValueError(
            f"{what} needs independent rows at their own prevalence: clusters, lags, prevalence change it."
        )
    if standings.scale != "regret":
        raise ValueError(f'{what} needs scale="regret", got {standings.scale!r}.')
    measure = options.costs
    threshold = measure.c if isinstance(measure, Fixed) and measure.tie == 1.0 and 0.0 < measure.c < 1.0 else None
    asked = Asked(
        threshold,
        check_choice(prior, "prior", PRIORS),
        *check_study(**study, unit_cost=options.unit_cost, per=options.per),
    )
    costs = CostRows.of(list(samples.values()), measure, factor=1.0 / measure.mass)
    names = (*standings.models, *REFERENCES)
    return value_of(costs, names, [sample.score for sample in samples.values()], asked, generator(0))


def deferral_of(standings: Standings, deferral: Deferral | float, capacity: float | None) -> DeferredModels:
    """What each model costs with the option to defer."""
    samples, rows = samples_of(standings, "deferral"), standings.rows
    codes = None if rows is None else rows.clusters
    if rows is not None and rows.lags is not None:
        raise ValueError("deferral needs independent rows or clusters, and lags= says that they are in order.")
    return deferred_models(samples, standings.options, deferral, capacity, codes)
