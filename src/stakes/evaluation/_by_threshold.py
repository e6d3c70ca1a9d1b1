"""Whether the decision that costs least on average does so at every threshold, and where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.logistic import logit, sigmoid
from stakes.core.score_table import ScoreTable
from stakes.costs import LogOddsUniform
from stakes.inference import dominance, reached, shown_band, shown_less
from stakes.shown.sentences import REFERENCES, say
from stakes.shown.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from stakes.core.options import Options
    from stakes.core.regret import Rule
    from stakes.costs import CostDistribution
    from stakes.inference import Band, PairedRows, Selection

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

_POINTS = 61
_BIN = np.int8  # counts up to as many
_ROWS = 1 << 18  # of a table that are looked at at once
MOST_RIVALS = 3


@dataclass(frozen=True, eq=False)
class ByThreshold:
    """Where the chosen decision is shown to cost less than each other one (``less``), and where more (``more``).

    All these statements hold at once with the evaluation's confidence, whichever decision was chosen.
    ``everywhere`` names those that it is shown to beat at all thresholds of the range; ``bands`` holds the difference
    to those in ``dearer``, at most three.
    """

    thresholds: Floats
    less: dict[str, Bools]
    more: dict[str, Bools]
    everywhere: tuple[str, ...]
    bands: dict[str, Band]

    @property
    def dearer(self) -> tuple[str, ...]:
        """Decisions that are shown to cost less somewhere, those with the longest stretch first."""
        return dearer_of(self.more)

    def renamed(self, names: Mapping[str, str]) -> ByThreshold:
        """The same with other names in place of those of models."""
        less, more = ({names.get(k, k): v for k, v in found.items()} for found in (self.less, self.more))
        bands = {names.get(k, k): band for k, band in self.bands.items()}
        return ByThreshold(self.thresholds, less, more, tuple(names.get(k, k) for k in self.everywhere), bands)

    def told(self, where: Bools) -> str:
        """Stretches of thresholds in words."""
        return " and ".join(
            say("stretch_point" if low == high else "stretch", low=percent(low), high=percent(high))
            for low, high in self.stretches(where)
        )

    def stretches(self, where: Bools) -> list[tuple[float, float]]:
        """First and last threshold of each run of neighbours."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], where, [0]])))
        return [
            (float(self.thresholds[a]), float(self.thresholds[b - 1]))
            for a, b in zip(edges[::2], edges[1::2], strict=True)
        ]


def by_threshold(
    rows: PairedRows | None, tables: dict[str, ScoreTable], choice: Selection | None, options: Options
) -> ByThreshold | None:
    """Compare the chosen decision with every other at many thresholds; None where no band can be given."""
    costs = options.costs
    if choice is None or rows is None or rows.dependent or _uneven(rows) or costs.low == costs.high:
        return None
    if options.per_stake:  # amounts, not thresholds, order these rows
        return None
    thresholds = thresholds_of(costs)
    bins = {
        name: reached(_acted(s, options.rule), thresholds, _BIN) for name, s in zip(tables, rows.scores, strict=True)
    }
    for name, all_or_none in zip(REFERENCES, (len(thresholds), 0), strict=True):
        bins[name] = np.broadcast_to(_BIN(all_or_none), len(rows.y))
    count, chosen = max(len(tables), options.n_tried or 0), choice.chosen
    level, others = shared_level(options.confidence_level, count), compared(choice, bins)
    harms = {name: _harm(options, chosen) - _harm(options, name) for name in others}
    shown = {
        name: shown_less(rows, (bins[chosen], bins[name]), thresholds, level, more=harms[name] * (1.0 - thresholds))
        for name in others
    }
    less, more = ({name: found[k] for name, found in shown.items()} for k in (0, 1))
    always = [name for name in others if less[name].all()]
    curves = {name: _table(name, tables, options) for name in (chosen, *always)}
    # what lies between thresholds is looked up on the rows alone, which a larger harm of the chosen one would change
    sure = [name for name in always if harms[name] <= 0.0]
    everywhere = [name for name in sure if _dominates(curves[chosen], curves[name], costs)]
    bands = {
        name: shown_band(
            *(rows, (bins[chosen], bins[name]), thresholds, options.confidence_level),
            shared=level,
            name=f"{chosen} - {name}",
            more=harms[name] * (1.0 - thresholds),
        )
        for name in dearer_of(more)[:MOST_RIVALS]
    }
    return ByThreshold(thresholds, less, more, tuple(everywhere), bands)


def _harm(options: Options, name: str) -> float:
    return 0.0 if name in REFERENCES else options.harm_of(name)


def _uneven(rows: PairedRows) -> bool:
    """Whether rows of a class weigh unalike: with few such rows these claims were false in 9% of samples."""
    return rows.weight is not None and any(
        bool(mine.any()) and float(np.ptp(rows.weight[mine])) > 0.0 for mine in (rows.y, ~rows.y)
    )


def dearer_of(more: dict[str, Bools]) -> tuple[str, ...]:
    """Names of what costs less somewhere, the longest stretch first."""
    return tuple(sorted((name for name in more if more[name].any()), key=lambda name: -int(more[name].sum())))


def shared_level(confidence_level: float, models: int) -> float:
    """Of one pair, so that those of all models, and of each with the references, hold at once."""
    return 1.0 - (1.0 - confidence_level) / (models * (models - 1) // 2 + len(REFERENCES) * models)


def compared(choice: Selection, names: Iterable[str]) -> list[str]:
    """The decisions that the chosen one is compared with at every threshold."""
    return [name for name in names if name not in choice.tied and {name, choice.chosen} != set(REFERENCES)]


def _acted(scores: Floats, rule: Rule) -> Floats:
    return scores if isinstance(rule, str) else np.where(scores >= rule, 1.0, 0.0)


def thresholds_of(costs: CostDistribution) -> Floats:
    """Thresholds over the range, as its weighting spaces them; at 0 all decisions to act cost the same."""
    even, low, high = np.linspace(0.0, 1.0, _POINTS), costs.low, costs.high
    points = low + (high - low) * even
    if isinstance(costs, LogOddsUniform) and 0.0 < low < high < 1.0:
        ends = logit(np.array([low, high]))
        points[1:-1] = sigmoid(ends[0] + (ends[1] - ends[0]) * even[1:-1])
    return points[points > 0.0]


def _dominates(first: ScoreTable, second: ScoreTable, costs: CostDistribution) -> bool:
    """Whether the first costs less on these rows between the thresholds too, looked at some rows at a time."""
    more = max(first, second, key=lambda table: len(table.scores)).scores
    within = more[np.searchsorted(more, costs.low, side="right") : np.searchsorted(more, costs.high, side="left")]
    cuts = np.array([costs.low, *within[_ROWS::_ROWS], costs.high])
    better: set[str] = set()
    for low, high, one, two in zip(cuts, cuts[1:], _stretches(first, cuts), _stretches(second, cuts), strict=False):
        found = dominance(one, two, low=low, high=high).stretches
        # the lower end belongs to the stretch before
        better |= {name for start, stop, name in found if start < stop or low == costs.low}
        if "b" in better:
            return False
    return "a" in better


def _table(name: str, tables: dict[str, ScoreTable], options: Options) -> ScoreTable:
    if name in REFERENCES:
        return _single(float(name == REFERENCES[0]), next(iter(tables.values())))
    return tables[name] if isinstance(options.rule, str) else tables[name].at_threshold(options.rule)


def _single(score: float, table: ScoreTable) -> ScoreTable:
    """The table in which all rows have one score."""
    ups, downs = np.array([table.total_positives]), np.array([table.total_negatives])
    return _pooled(table, np.array([score]), ups, downs)


def _stretches(table: ScoreTable, cuts: Floats) -> Iterator[ScoreTable]:
    """Tables with the same curves between neighbouring cuts: all scores below are pooled, and all above."""
    starts = np.maximum(np.searchsorted(table.scores, cuts[:-1], side="left") - 1, 0)
    stops = np.minimum(np.searchsorted(table.scores, cuts[1:], side="right") + 1, len(table.scores))
    weights = table.positives, table.negatives
    below = [np.cumsum([w[a:b].sum() for a, b in zip([0, *starts], starts, strict=False)]) for w in weights]
    above = [np.cumsum([w[a:b].sum() for a, b in zip(stops, [*stops[1:], None], strict=True)][::-1]) for w in weights]
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        columns = [w[start:stop].copy() for w in weights]
        for column, low, high in zip(columns, below, above, strict=True):
            column[0] += low[k]
            column[-1] += high[len(cuts) - 2 - k]
        yield _pooled(table, table.scores[start:stop], *columns)


def _pooled(table: ScoreTable, scores: Floats, ups: Floats, downs: Floats) -> ScoreTable:
    """A table of other scores; no curve asks for squared weights, in whose place the weights stand."""
    return ScoreTable(scores, ups, downs, ups, downs, table.n_rows, table.fixed_prevalence)
