"""From clean rows, or from the table that stands for them, to the answer sheet."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from stakes.core.score_table import ScoreTable
from stakes.core.sums import blocks, weighted_sum
from stakes.core.validation import plain_label
from stakes.decomposition import decompose_table
from stakes.evaluation._evaluation import Evaluation
from stakes.evaluation._group_labels import check_groups
from stakes.evaluation._groups import evaluate_groups
from stakes.evaluation._request import further_metrics
from stakes.evaluation._standings import ModelResult
from stakes.inference import (
    UNPAIRED,
    LossMoments,
    check_against_tables,
    check_contest,
    loss_moments,
    unpaired_moments,
)
from stakes.inference._comparison import paired_rows
from stakes.metrics._rank import area_under_roc
from stakes.shown.progress import tell
from stakes.shown.sentences import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from stakes.core.options import Options
    from stakes.core.outcome import Outcome
    from stakes.core.regret import Rule
    from stakes.core.validation import BinarySample
    from stakes.costs import CostDistribution
    from stakes.inference import PairedRows, PairSums

    Floats = NDArray[np.float64]

# a model acts like a constant decision if both its decisions and its cost are within this share of the constant's
_SAME_DECISIONS = 0.01
_Found = TypeVar("_Found")
_NOWHERE = (math.nan, math.nan, math.nan)
_SAME_WEIGHTS = 1e-9  # sums of weights in another order


def evaluate_rows(rows: Mapping[str, BinarySample], options: Options, **about: Any) -> Evaluation:
    """Evaluate clean rows of models that share labels and weights."""
    _check_names(tuple(rows), options)
    origin = next(iter(rows.values())).origin
    options = options.of_amounts(None if origin is None else origin.outcome)
    fixed = options.prevalence is not None
    label = plain_label(options.pos_label)
    tables = tuple(
        _told(_table(sample, fixed=fixed, pos_label=label), k, 2 * len(rows))
        for k, sample in enumerate(rows.values(), 1)
    )
    _refuse_one_class(tables[0], about.get("outcome"))
    samples = list(rows.values())
    if options.rule == "optimal":
        samples = [
            replace(sample, score=table.pav_by_score()[np.searchsorted(table.scores, sample.score)])
            for table, sample in zip(tables, samples, strict=True)
        ]
    paired = paired_rows(samples, options)
    groups = check_groups(options, len(paired.y), paired.origin)
    moments = loss_moments(paired, options.costs, options.plain_rule, constants=True)
    by_group = evaluate_groups(tuple(rows), paired, groups, options)
    return _assemble(tuple(rows), tables, moments, options, rows=paired, groups=by_group, **about)


def _table(sample: BinarySample, *, fixed: bool, pos_label: str | float) -> ScoreTable:
    return replace(ScoreTable.from_sample(sample), fixed_prevalence=fixed, pos_label=pos_label)


def _told(found: _Found, done: int, of: int) -> _Found:
    """Hand on what was found, and say how far the work is."""
    tell(done, of)
    return found


def evaluate_tables(
    tables: Mapping[str, ScoreTable], options: Options, pairs: PairSums | None = None, why: str = UNPAIRED, **about: Any
) -> Evaluation:
    """Evaluate models by their tables; differences need the sums of their pairs, or ``why`` says why there are none."""
    check_tables(tables, options, pairs)
    names, each = tuple(tables), tuple(tables.values())
    if pairs is None:
        moments = unpaired_moments(each, options.costs, options.rule, why)
    else:
        moments = pairs.moments(each[0].prevalence if each[0].fixed_prevalence else None)
    return _assemble(names, each, moments, options, pairs=pairs, **about)


def check_tables(tables: Mapping[str, ScoreTable], options: Options, pairs: PairSums | None) -> None:
    """Refuse tables of other rows or another positive class, and sums of pairs that contradict them."""
    names, each = tuple(tables), tuple(tables.values())
    _check_names(names, options)
    for name, table in tables.items():
        _refuse_one_class(table)
        _check_same_rows(f"the table of {name!r}", _totals(table), each[0], names[0])
        _check_alike(f"the table of {name!r}", table, each[0], names[0])
    if pairs is None:
        return
    asked = {"models": names, "costs": options.costs, "rule": options.rule, "pos_label": each[0].pos_label}
    for what, mine in asked.items():
        if getattr(pairs, what) != mine:
            raise ValueError(f"pairs must have the {what} of the evaluation, {mine!r}, got {getattr(pairs, what)!r}.")
    table = each[0]
    ups = pairs.mass.sum() * table.prevalence if table.fixed_prevalence else pairs.mass[1]
    _check_same_rows("pairs", (float(pairs.rows.sum()), float(pairs.mass.sum()), float(ups)), table, names[0])
    check_against_tables(pairs, each, lambda entry, rule: ValueError(f"pairs.{entry} must be {rule}."))


def _totals(table: ScoreTable) -> tuple[float, float, float]:
    return float(table.n_rows), table.total, table.total_positives


def _check_alike(what: str, table: ScoreTable, other: ScoreTable, name: str) -> None:
    """Raise unless two tables speak of the same class, weighted alike."""
    if table.pos_label != other.pos_label:
        raise ValueError(
            f"{what} must have the pos_label of the table of {name!r}, {other.pos_label!r}, got {table.pos_label!r}."
        )
    if table.fixed_prevalence != other.fixed_prevalence:
        raise ValueError(f"{what} and that of {name!r} must both be of a stated prevalence, or neither.")
    for column in ("positives_squared", "negatives_squared"):
        found, wanted = (float(getattr(each, column).sum()) for each in (table, other))
        if not math.isclose(found, wanted, rel_tol=_SAME_WEIGHTS):
            raise ValueError(
                f"{what} must rest on the rows of the table of {name!r}, whose {column} add up to {wanted:,.10g}, "
                f"got {found:,.10g}."
            )


def _check_same_rows(what: str, found: tuple[float, float, float], table: ScoreTable, name: str) -> None:
    wanted = _totals(table)
    if found[0] != wanted[0] or not np.allclose(found, wanted, rtol=_SAME_WEIGHTS, atol=0.0):
        rows, _, ups = (f"{value:,.10g}" for value in found)
        raise ValueError(
            f"{what} must rest on the rows of the table of {name!r}, {wanted[0]:,.10g} rows with a weight of positives "
            f"of {wanted[2]:,.10g}, got {rows} and {ups}."
        )


def _check_names(names: tuple[str, ...], options: Options) -> None:
    taken = [name for name in names if name in REFERENCES]
    if taken:
        raise ValueError(f"a model cannot be called {taken[0]!r}: that names a reference.")
    check_contest(names, options.incumbent, options.n_tried)
    options.check_harmed(names)


def _refuse_one_class(table: ScoreTable, outcome: Outcome | None = None) -> None:
    if not 0.0 < table.prevalence < 1.0:
        kind = "positive" if table.prevalence else "negative"
        hint = "" if outcome is None else outcome.one_class_hint
        raise ValueError(
            f"y_true must hold both classes, got {table.n_rows:,} rows that are all {kind}: what mistakes cost cannot "
            f"be judged from one class. {hint}".rstrip()
        )


def _assemble(
    names: tuple[str, ...], tables: tuple[ScoreTable, ...], moments: LossMoments, options: Options, **about: Any
) -> Evaluation:
    if options.rule == "optimal":  # the thresholds are fitted to these rows: their plug-in error is not honest
        moments = moments.without_intervals(len(names))
    moments = moments.costing(np.append(options.harms(names), np.zeros(len(REFERENCES))))
    rows: PairedRows | None = about.get("rows")
    results = [
        _told(
            _result(name, _everyone(table, rows, index), index, moments, options),
            len(names) + index + 1,
            2 * len(names),
        )
        for index, (name, table) in enumerate(zip(names, tables, strict=True))
    ]
    results += [
        _scaled(name, index, moments, options, share_acted_on=float(name == REFERENCES[0]))
        for index, name in enumerate(REFERENCES, start=len(names))
    ]
    kept = replace(options, sample_weight=None, groups=None, clusters=None)  # the rows hold them now
    return Evaluation(names, tables, moments, tuple(results), kept, tables[0].n_rows, **about)


class _Scored(NamedTuple):
    """A table, and the scores and weights of all rows in any order, of which it may know the class of some only.

    The weights are the sum of the columns, which is never held whole.
    """

    table: ScoreTable
    scores: Floats
    columns: tuple[Floats, ...]
    ordered: bool = False

    @property
    def whole(self) -> float:
        """All weight."""
        return math.fsum(float(column.sum()) for column in self.columns)

    def within(self, low: float, high: float) -> tuple[_Scored, float]:
        """Leave out rows that score less or more than a range, and say what those above weigh; only if in order."""
        if not self.ordered:
            return self, 0.0
        inside = _between(self.scores, low, high)
        above = math.fsum(float(column[inside.stop :].sum()) for column in self.columns)
        columns = tuple(column[inside] for column in self.columns)
        return self._replace(scores=self.scores[inside], columns=columns), above

    def pieces(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield scores and weights of some of the rows."""
        for part in blocks(len(self.scores)):
            own = [column[part] for column in self.columns]
            yield self.scores[part], own[0] + own[1] if len(own) > 1 else own[0]


def _everyone(table: ScoreTable, rows: PairedRows | None, index: int) -> _Scored:
    if rows is None or rows.origin is None:
        return _Scored(table, table.scores, (table.positives, table.negatives), ordered=True)
    outcome, score = rows.origin.outcome, rows.every_score[index]
    weight = np.ones(len(score)) if outcome.sample_weight is None else outcome.sample_weight
    return _Scored(table, score, (weight,))


def _result(name: str, scored: _Scored, index: int, moments: LossMoments, options: Options) -> ModelResult:
    table = scored.table
    acted_on = share_acted_on(scored, options.costs, options.rule)
    return _scaled(
        name,
        index,
        moments,
        options,
        decomposition=decompose_table(table, options.costs, options.scale, options.factor),
        auc=math.nan if table.by_amount else area_under_roc(table),
        share_acted_on=acted_on,
        in_range=_NOWHERE if table.by_amount else _in_range(scored, options.costs.low, options.costs.high),
        acts_like=_acts_like(acted_on, moments, index),
        metrics=further_metrics(options, table),
    )


def _scaled(name: str, index: int, moments: LossMoments, options: Options, **facts: Any) -> ModelResult:
    mine = moments.of(index).scaled(options.factor)
    return ModelResult(
        name, mine.value, mine.standard_error, mine.interval(options.confidence_level), note=mine.note, **facts
    )


def share_acted_on(scored: _Scored, costs: CostDistribution, rule: Rule) -> float:
    """Share of weight acted on, averaged over the cost distribution; nan where its mass is infinite."""
    table, whole = scored.table, scored.whole
    if not isinstance(rule, str):
        return math.fsum(float(weight[scores >= rule].sum()) for scores, weight in scored.pieces()) / whole
    if not math.isfinite(costs.mass):
        return math.nan
    fitted = table.pav_by_score() if rule == "optimal" else None
    never, total = float(costs.positive_loss(-np.inf)), 0.0
    if fitted is None:
        scored, above = scored.within(costs.low, costs.high)
        total = above * costs.mass
    for scores, weight in scored.pieces():
        at = scores
        if fitted is not None:
            at = fitted[np.minimum(np.searchsorted(table.scores, scores), len(fitted) - 1)]
        # mass at or below a score = what acting on a negative costs + what acting on a positive saves
        below = costs.negative_loss(at) + (never - costs.positive_loss(at))
        total += weighted_sum(weight, below)
    return total / (costs.mass * whole)


def _in_range(scored: _Scored, low: float, high: float) -> tuple[float, float, float]:
    table, inside = scored.table, _between(scored.table.scores, low, high)
    whole, mass, moment = scored.whole, 0.0, 0.0
    for scores, weight in scored.within(low, high)[0].pieces():
        within = weight * ((scores >= low) & (scores <= high))
        mass += float(within.sum())
        moment += float(np.dot(within, scores))
    ups, downs = (float(column[inside].sum()) for column in (table.positives, table.negatives))
    return (
        mass / whole,
        moment / mass if mass else math.nan,
        ups / (ups + downs) if ups + downs else math.nan,
    )


def _between(scores: Floats, low: float, high: float) -> slice:
    return slice(int(np.searchsorted(scores, low, side="left")), int(np.searchsorted(scores, high, side="right")))


def _acts_like(acted_on: float, moments: LossMoments, index: int) -> str:
    count = len(moments.means) - len(REFERENCES)
    for offset, name in enumerate(REFERENCES):
        other = acted_on if name == REFERENCES[1] else 1.0 - acted_on
        cost, own = float(moments.means[count + offset]), float(moments.means[index])  # inf - inf: nan, not a warning
        if other <= _SAME_DECISIONS and abs(own - cost) <= _SAME_DECISIONS * cost:
            return name
    return ""
