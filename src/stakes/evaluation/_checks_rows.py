"""Checks of the rows: whether there are enough of them, and whether neighbours resemble each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.regret import row_losses
from stakes.core.sums import blocks
from stakes.evaluation._finding import Observation
from stakes.inference import ordered_variance
from stakes.shown.words import number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.evaluation._standings import Standings

    Floats = NDArray[np.float64]

FEW = 10.0
WIDER = 1.1
CLEAR = 0.001
_LEAST_ROWS = 50


def few_events(standings: Standings) -> Observation | None:
    """Whether one class is too small for an interval of the best model that can be trusted, or for any."""
    table = standings.tables[0]
    counts = {
        "positives": _effective(table.positives, table.positives_squared),
        "negatives": _effective(table.negatives, table.negatives_squared),
    }
    name, count = min(counts.items(), key=lambda item: item[1])
    evidence = {**counts, "needed": FEW}
    if count < FEW:
        weighted = "" if count.is_integer() else " (rows of equal weight that would tell as much)"
        template = f"There are only {count:.3g} {name}{weighted}; with fewer than {FEW:g} an interval means little."
        return Observation(template, (), evidence)
    scarcity = standings.moments.of(standings.models.index(standings.best.name)).scarcity
    if scarcity:
        return Observation(f"For {{0}} {scarcity}.", (standings.best.name,), evidence)
    return None


def neighbours_alike(standings: Standings) -> Observation | None:
    """Whether the best model's costs in neighbouring rows resemble each other, as in rows in order of time."""
    rows, place = standings.rows, standings.models.index(standings.best.name)
    if rows is None or rows.dependent or standings.rule == "optimal" or len(rows.y) < _LEAST_ROWS:
        return None
    if any(_sorted(values) for values in (rows.y, rows.scores[place])):
        return None
    n_rows = len(rows.y)
    whole = n_rows if rows.weight is None else float(rows.weight.sum())
    mean = math.fsum(float(_terms(standings, place, part).sum()) for part in blocks(n_rows)) / whole
    if not math.isfinite(mean):
        return None
    total = together = spread = 0.0
    for part in blocks(n_rows):
        terms = _terms(standings, place, slice(max(part.start - 1, 0), part.stop), mean)
        products = terms[1:] * terms[:-1]
        mine = terms[-(part.stop - part.start) :]
        total += float(mine @ mine)
        together += float(products.sum())
        spread += float(products @ products)
    if total == 0.0:
        return None
    correlation = together / total
    # by their own spread, so that a few large costs that happen to be neighbours prove nothing
    chance = 0.5 * math.erfc(together / math.sqrt(2.0 * spread))
    if chance > CLEAR or (wider := _wider(_terms(standings, place, slice(None), mean))) < WIDER:
        return None
    template = (
        f"The costs of {{0}} in neighbouring rows resemble each other (correlation {number(correlation)}): if the rows "
        f"stand in order of time or in groups, its interval should be about {number(wider)} times as wide."
    )
    return Observation(template, (standings.best.name,), {"correlation": correlation, "wider": wider})


def _wider(terms: Floats) -> float:
    """How many times as wide an interval is that allows for the order of the rows."""
    return math.sqrt(float(ordered_variance(terms, "auto")[0]) / float(terms @ terms))


def _terms(standings: Standings, place: int, part: slice, mean: float = 0.0) -> Floats:
    """How much more than the mean some rows cost with a model, by their weight."""
    rows: Any = standings.rows
    terms = row_losses(rows.y[part], rows.scores[place][part], standings.costs, standings.rule) - mean
    return terms if rows.weight is None else terms * rows.weight[part]


def _sorted(values: NDArray[np.bool_] | Floats) -> bool:
    rising = falling = True
    for part in blocks(len(values) - 1):
        here, there = values[part], values[part.start + 1 : part.stop + 1]
        rising, falling = rising and bool(np.all(here <= there)), falling and bool(np.all(here >= there))
        if not (rising or falling):
            return False
    return True


def _effective(weights: np.ndarray, squares: np.ndarray) -> float:
    """Rows of equal weight that would tell as much (Kish)."""
    total = float(weights.sum())
    return total * total / float(squares.sum()) if total > 0.0 else 0.0
