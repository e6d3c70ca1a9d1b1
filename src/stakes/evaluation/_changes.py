"""What changed between two evaluations of independent rows: cost, mix of cases, calibration, differences of models.

The error of each change follows from the two variances, since no row counts in both evaluations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.score_table import common_label, outcome_of, promised_losses
from stakes.evaluation._calibration import all_cells
from stakes.evaluation._finding import Observation
from stakes.evaluation._groups import label_of
from stakes.evaluation._words import Unit
from stakes.inference import Decisions, Moments, holm, log_ratio_moments
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import name_key, p_value
from stakes.variance.influence import influence_moments, mean_influence, promise_moments
from stakes.variance.sums import record_of, worst_losses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stakes.core.options import Options
    from stakes.evaluation._groups import GroupResult
    from stakes.evaluation._standings import Standings


@dataclass(frozen=True)
class Change:
    """How one number changed between two evaluations.

    Parameters
    ----------
    quantity : str
        "prevalence"; of each model "cost", "promised" (what its scores expect, with its harm: the mix of cases),
        "more_than_promised" (the rest of the cost) and "o_e_ratio"; of each pair "difference" in cost.
    model : str
        The model, or the pair as "a - b", in quotes where two pairs would read alike; empty for the prevalence.
    before, after : float
        The number in the two evaluations.
    change : float
        After less before; for "o_e_ratio" after divided by before.
    standard_error : float
        Of the change.
    interval : tuple of float
        Of the change, for this number alone.
    p_value : float
        Two-sided, for no change.
    p_adjusted : float
        After Holm's correction over the models, or the pairs, of the same quantity.
    note : str
        On how few rows of which class the change rests, and which test harm it counts; else empty.

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.evaluation import KeptEvaluation
    >>> days = [KeptEvaluation.of(evaluate(y * 20, [0.1, 0.8, 0.3] * 20)) for y in ([0, 1, 0], [0, 1, 1])]
    >>> change = days[1].compare(days[0])[0]
    >>> change.quantity, round(change.before, 3), round(change.after, 3)
    ('prevalence', 0.333, 0.667)
    """

    quantity: str
    model: str
    before: float
    after: float
    change: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    p_adjusted: float
    note: str = ""


class Changes(tuple[Change, ...], Tabular):  # noqa: SLOT001  (a mix-in without slots)
    """What changed between two evaluations, as :meth:`KeptEvaluation.compare` gives it.

    ``options`` are those of both evaluations.

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.evaluation import KeptEvaluation
    >>> days = [KeptEvaluation.of(evaluate(y * 20, [0.1, 0.8, 0.3] * 20)) for y in ([0, 1, 0], [0, 1, 1])]
    >>> days[1].compare(days[0]).dearer
    ('model',)
    """

    options: Options

    @property
    def dearer(self) -> tuple[str, ...]:
        """Models that are shown to cost more than before; all these statements hold at once at the confidence level."""
        return tuple(each.model for each in self._sure("cost") if each.change > 0.0)

    @property
    def cheaper(self) -> tuple[str, ...]:
        """Models that are shown to cost less than before, in the same way."""
        return tuple(each.model for each in self._sure("cost") if each.change < 0.0)

    def of(self, quantity: str) -> tuple[Change, ...]:
        """Return the changes of one quantity.

        Parameters
        ----------
        quantity : str
            See :class:`Change`.

        Returns
        -------
        tuple of Change

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> day = KeptEvaluation.of(evaluate([0, 1, 1] * 20, {"a": [0.1, 0.8, 0.3] * 20}))
        >>> [change.change for change in day.compare(day).of("cost")]
        [0.0]
        """
        return tuple(each for each in self if each.quantity == quantity)

    def _sure(self, quantity: str) -> Iterator[Change]:
        level = 1.0 - self.options.confidence_level
        return (each for each in self.of(quantity) if each.p_adjusted <= level)

    @property
    def sentences(self) -> list[str]:
        """What is shown, and what is not.

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> day = KeptEvaluation.of(evaluate([0, 1, 1] * 20, {"a": [0.1, 0.8, 0.3] * 20}))
        >>> day.compare(day).sentences
        ['No change of cost is shown.']
        """
        unit = Unit.of(self.options, [each.after for each in self.of("cost")])
        several = len(self.of("cost"))
        corrected = f" after Holm over {several} models" if several > 1 else ""
        clauses = []
        for word, models in (("more", self.dearer), ("less", self.cheaper)):
            for each in (one for one in self.of("cost") if one.model in models):
                low, high = sorted(map(abs, each.interval))
                amount = f"{unit.fixed(abs(each.change))} ({unit.fixed(low)} to {unit.fixed(high)})"
                sure = f"p {p_value(each.p_adjusted)}{corrected}"
                clauses.append(f"{each.model} costs {amount} {word} {unit.per} than before ({sure}).")
        return clauses or ["No change of cost is shown."]

    def _records(self) -> list[dict[str, Any]]:
        return [record_of(each) for each in self]

    def _content(self) -> dict[str, Any]:
        about: dict[str, Any] = {"dearer": list(self.dearer), "cheaper": list(self.cheaper)}
        return {"costs": self.options.costs.to_dict(), "scale": self.options.scale, **about, "changes": self._records()}

    def __repr__(self) -> str:
        dearer, cheaper = (", ".join(models) or "none shown" for models in (self.dearer, self.cheaper))
        return f"Changes(dearer: {dearer}; cheaper: {cheaper})"


def changes_between(before: Standings, after: Standings) -> Changes:
    """Changes from one evaluation to another of independent rows, the same models and settings."""
    _refuse_others("compare", before, after)
    days, models, found = (before, after), before.models, []
    if not before.score_tables[0].fixed_prevalence:
        found += _family("prevalence", {"": [_prevalence(day) for day in days]}, before)
    found += cost_changes(before, after)
    pairs: dict[str, tuple[str, ...]] = {f"{a} - {b}": (a, b) for a, b in combinations(models, 2)}
    if 2 * len(pairs) < len(models) * (len(models) - 1):  # "a" and "b - c" read as "a - b" and "c" do
        pairs = {f"{a!r} - {b!r}": (a, b) for a, b in combinations(models, 2)}
    gaps = {
        name: [day.moments.difference(*map(day.place, pair)).scaled(day.factor) for day in days]
        for name, pair in pairs.items()
    }
    found += _family("difference", gaps, before)
    for quantity, of in (("promised", _promised), ("more_than_promised", _more_than_promised), ("o_e_ratio", _ratio)):
        found += _family(quantity, {name: [of(day, name) for day in days] for name in models}, before)
    alone: dict[str, tuple[str, ...]] = {name: (name,) for name in models}
    counting = {"cost": alone, "promised": alone, "difference": pairs}
    changes = Changes(_with_harm(each, counting.get(each.quantity, {}).get(each.model, ()), before) for each in found)
    changes.options = before.options
    return changes


def _with_harm(change: Change, models: Sequence[str], standings: Standings) -> Change:
    """A change, with a note where it counts what obtaining the scores of these models costs."""
    return replace(change, note="; ".join(filter(None, (change.note, standings.harm_counted(*models)))))


_SAME = ("rule", "harm", "scale", "confidence_level", "unit_cost", "per", "prevalence", "per_stake")


def _refuse_others(what: str, before: Standings, after: Standings) -> None:
    """Raise unless two evaluations are of the same models and settings."""
    mine, its = (
        {
            "models": sorted(day.models),
            "costs": day.costs.to_dict(),
            "pos_label": day.score_tables[0].pos_label,
            **{name: getattr(day.options, name) for name in _SAME},
            "outcome": outcome_of(day.score_tables[0]),
        }
        for day in (after, before)
    )
    for name, value in mine.items():
        if value != its[name]:
            readable: dict[str, Any] = {
                "models": [", ".join(day.models) for day in (after, before)],
                "costs": [after.costs, before.costs],
            }
            one, other = readable.get(name, (value, its[name]))
            alike = "evaluate the rows of both alike"
            raise ValueError(f"{what} needs evaluations of the same {name}, got {one!r} and {other!r}: {alike}.")
    labels = after.options.neg_label, before.options.neg_label
    common_label(after.score_tables[0].pos_label, *labels, f"{what} needs evaluations")
    if before.rule == "optimal":
        raise ValueError(
            'rule="optimal" fits the thresholds to the rows of each evaluation, whose costs then have no error: '
            "evaluate by another rule."
        )


def cost_changes(before: Standings, after: Standings) -> list[Change]:
    """Changes of the cost of every model."""
    days = before, after
    costs = {name: [day.moments.of(day.place(name)).scaled(day.factor) for day in days] for name in before.models}
    return _family("cost", costs, before)


def _prevalence(day: Standings) -> Moments:
    cells = all_cells(day, day.models[0])[0]
    positive = cells.y.astype(np.float64)
    return influence_moments(cells, mean_influence(cells, positive, (0.0, 0.0), (0.0, 1.0))).within(0.0, 1.0)


def _promised(day: Standings, model: str) -> Moments:
    """What the scores of a model expect its decisions to cost, with its harm."""
    cells, most = all_cells(day, model)[0], float(worst_losses(day.costs).max())
    values = promised_losses(cells.score, day.costs, day.rule)
    found = influence_moments(cells, mean_influence(cells, values, (0.0, 0.0), (most, most)))
    return found.within(0.0, most).shifted(float(day.options.harms([model])[0])).scaled(day.factor)


def _more_than_promised(day: Standings, model: str) -> Moments:
    """What the decisions cost beyond that; a change of it asks for no right scores."""
    return promise_moments(all_cells(day, model)[0], day.costs, rule=day.rule, right=False).scaled(day.factor)


def _ratio(day: Standings, model: str) -> Moments:
    """Logarithm of observed to expected events."""
    cells = all_cells(day, model)[0]
    return log_ratio_moments(cells, cells.design())


def _family(quantity: str, moments: dict[str, list[Moments]], standings: Standings) -> list[Change]:
    """Changes of one quantity, whose p-values are corrected together."""
    found = [
        _change(quantity, model, before, after, standings.confidence_level)
        for model, (before, after) in moments.items()
    ]
    adjusted = holm(np.array([each.p_value for each in found])).tolist()
    return [replace(each, p_adjusted=p) for each, p in zip(found, adjusted, strict=True)]


def _change(quantity: str, model: str, before: Moments, after: Moments, level: float) -> Change:
    gap = after.minus(before)
    values, error, ends = (before.value, after.value), gap.standard_error, gap.interval(level)
    found = Change(quantity, model, *values, gap.value, error, ends, gap.p_value(), math.nan, gap.note)
    if quantity != "o_e_ratio":
        return found
    ratio, ends = math.exp(gap.value), (math.exp(ends[0]), math.exp(ends[1]))  # logarithms were compared
    about: dict[str, Any] = {"change": ratio, "standard_error": ratio * error, "interval": ends}
    return replace(found, before=math.exp(before.value), after=math.exp(after.value), **about)


# Which models are shown to cost more than a kept evaluation, or in one group more than in all others.

GROUPS = "groups"
_MOST_NAMED = 3
_Rise = tuple[str, str, float, float, str]  # model, group, by how much it is dearer, p-value, and than what


def dearer(standings: Standings) -> Observation | None:
    """Models that cost more than what they are held against, beyond chance in all comparisons together."""
    against = standings._against
    if against is None:
        return None
    rises = _between_groups(standings) if isinstance(against, str) else _since(standings, against)
    adjusted = holm(np.array([rise[3] for rise in rises])).tolist()
    shown = [(*rise, p) for rise, p in zip(rises, adjusted, strict=True) if rise[2] > 0.0]
    shown = [rise for rise in shown if rise[-1] <= 1.0 - standings.confidence_level]
    if not shown:
        return None
    shown.sort(key=lambda rise: -rise[2])
    named, unit = shown[:_MOST_NAMED], Unit.of(standings.options, [each.score for each in standings.results])
    names = tuple(dict.fromkeys(model for model, *_ in named))
    groups = tuple(group for _, group, *_ in named if group)
    clauses: list[str] = []
    for model, group, change, _, than, p in named:
        where = f" in {{{len(names) + len(clauses)}}}" if group else ""
        more = f"costs {unit.fixed(change)} more {unit.per}{where} than {than}"
        clauses.append(f"{{{names.index(model)}}} {more} (p {p_value(p)})")
    if len(shown) > len(named):
        clauses.append(f"{len(shown) - len(named)} more")
    keys = [f"{model}: {group}" if group else model for model, group, *_ in shown]
    evidence: dict[str, Any] = {"comparisons": float(len(rises))}
    evidence["change"] = {key: rise[2] for key, rise in zip(keys, shown, strict=True)}
    evidence["p_adjusted"] = {key: rise[-1] for key, rise in zip(keys, shown, strict=True)}
    corrected = f"; after Holm over {len(rises)} comparisons" if len(rises) > 1 else ""
    return Observation(f"{'; '.join(clauses)}{corrected}.", names, evidence, groups)


def _between_groups(standings: Standings) -> list[_Rise]:
    if not standings.groups:
        raise ValueError('against="groups" needs groups=: the columns that divide the rows.')
    if standings.rule == "optimal":
        raise ValueError('against= takes no rule="optimal": its thresholds are fitted to these rows.')
    than = "in all other rows"
    return [(row.model, label_of(row), row.difference, row.p_value, than) for row in standings.groups]


def _since(standings: Standings, before: Standings) -> list[_Rise]:
    """Rises of the whole, or of every group, over an earlier evaluation: over the same group of it, if it has that."""
    _refuse_others("check", before, standings)
    if not standings.groups:
        return [
            (each.model, "", each.change, each.p_value, "what was kept") for each in cost_changes(before, standings)
        ]
    for rows in (day.rows for day in (standings, before) if day.groups):
        if rows is not None and (rows.dependent or rows.origin is not None):
            raise ValueError(
                "against= a kept evaluation, groups= need independent rows with plain labels: leave one out."
            )
    kept, rises = {_key(row): row for row in before.groups}, []
    for row in standings.groups:
        than, past = "what was kept of it", kept.get(_key(row))
        if past is None:
            than, earlier = "all rows of what was kept", before.moments.of(before.place(row.model))
        else:
            earlier = _cost_in(before, past)
        gap = _cost_in(standings, row).minus(earlier).scaled(standings.factor)
        rises.append((row.model, label_of(row), gap.value, gap.p_value(), than))
    return rises


def _key(row: GroupResult) -> tuple[str, str, str]:
    return row.column, name_key(row.group), row.model


def _cost_in(standings: Standings, row: GroupResult) -> Moments:
    """Cost of a model in a group, with its harm."""
    found = Decisions.from_table(row.count(), standings.costs, standings.rule).of(0)
    return found.shifted(float(standings.options.harms([row.model])[0]))
