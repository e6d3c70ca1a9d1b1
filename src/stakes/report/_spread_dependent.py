"""Covariances of losses in stretches where rows depend on each other: in clusters, or in order of time.

In each case the covariance is that of sums which are taken as independent: of clusters; of windows of rows in order,
whose squares add up to the estimate of Newey and West; or of slow cosine waves. Where an outcome estimated the weights
from all its rows, it is that of what all of them add. See ``inference/_dependence.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks
from stakes.inference._dependence import Design, cosine_sums
from stakes.inference._power_sums import freed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from stakes.inference import PairedRows
    from stakes.report._class_losses import Stretches

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]
    Part = Places | slice

_BLOCK = 1 << 13


class _Terms:
    """What each row adds to the errors of the mean losses of every rule in every stretch."""

    def __init__(
        self,
        rows: PairedRows,
        scores: Sequence[Callable[[Part], Floats]],
        kinds: tuple[Stretches, Stretches],
        centres: Sequence[Floats],
    ) -> None:
        self.rows, self.scores, self.kinds, self.centres = rows, scores, kinds, centres
        self.weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        self.total = float(self.weight.sum())

    def summed(self, part: Part, groups: Places, count: int) -> Floats:
        """Sums over groups of some rows, of shape (groups, rules, stretches)."""
        y, weight = self.rows.y[part], self.weight[part] / self.total
        found = np.zeros((count, len(self.scores) + 2, self.kinds[0].size))
        for k, kind in enumerate(self.kinds):
            mine = y if k else ~y
            held = np.bincount(groups[mine], weight[mine], minlength=count)
            for model, scores in enumerate(self.scores):
                placed = kind.placed(scores(part)[mine])
                found[:, model] += kind.summed(placed, weight[mine], groups[mine], count)
            # treating all costs the negatives everything, treating none the positives
            found[:, len(self.scores) + k] += np.outer(held, kind.full)
            found -= held[:, None, None] * self.centres[k]
        return found

    def columns(self, rule: int) -> Iterator[Floats]:
        """The same for every row, one stretch of one rule at a time."""
        y, share = self.rows.y, self.weight / self.total
        everything = slice(None)
        placed = [] if rule >= len(self.scores) else [kind.placed(self.scores[rule](everything)) for kind in self.kinds]
        for stretch in range(self.kinds[0].size):
            terms = np.empty((2, len(y)))
            for k, kind in enumerate(self.kinds):
                full, own = kind.full[stretch], kind.size - 1 - stretch if kind.positive else stretch
                loss: Floats | float = full if rule - len(self.scores) == k else 0.0
                if placed:
                    places, parts = placed[k]
                    loss = np.where(places > own, full, np.where(places == own, parts, 0.0))
                terms[k] = share * (loss - self.centres[k][rule, stretch])
            yield np.where(y, terms[1], terms[0])


def dependent_covariances(
    rows: PairedRows,
    scores: Sequence[Callable[[Part], Floats]],
    kinds: tuple[Stretches, Stretches],
    centres: Sequence[Floats],
) -> dict[tuple[int, int], Floats]:
    """Covariances of every pair of rules: the models, "treat all", "treat none".

    ``scores`` are functions that return some rows' scores as they are acted on; ``centres`` what the losses of each
    class are centred on, by rule and stretch.
    """
    terms = _Terms(rows, scores, kinds, centres)
    count = len(rows.y)
    rules, size = len(scores) + 2, kinds[0].size
    gram = np.zeros((rules * size, rules * size))
    if rows.origin is not None:
        parts, factor = _of_outcome(terms, rows, rules), 1.0
    elif rows.clusters is not None:
        parts, clusters = _clusters(terms, rows.clusters)
        factor = (clusters - 1.0) / clusters
    elif rows.lags == "auto":
        waves = max(int(0.4 * count ** (2.0 / 3.0)), 1)
        parts, factor = _waves(terms, rules, waves), count / waves
    else:
        last = int(rows.lags or 0)
        parts, factor = _windows(terms, count, last), float(freed(count)) / (last + 1)
    for part in parts:
        flat = part.reshape(len(part), -1)
        gram += flat.T @ flat
    found = factor * gram.reshape(rules, size, rules, size)
    return {(i, j): found[i, :, j] for i in range(rules) for j in range(i, rules)}


def _clusters(terms: _Terms, codes: Places) -> tuple[Iterator[Floats], int]:
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ends = np.append(starts[1:], len(codes))

    def sums() -> Iterator[Floats]:
        first = 0
        while first < len(starts):
            # whole clusters, about so many rows at a time
            last = max(int(np.searchsorted(ends, starts[first] + _BLOCK, side="right")), first + 1)
            part = slice(int(starts[first]), int(ends[last - 1]))
            groups = np.repeat(np.arange(last - first), ends[first:last] - starts[first:last])
            held = np.bincount(groups, terms.weight[order[part]]) / terms.total
            # what leaving out the cluster changes
            yield terms.summed(order[part], groups, last - first) / (1.0 - held)[:, None, None]
            first = last

    return sums(), len(starts)


def _windows(terms: _Terms, count: int, last: int) -> Iterator[Floats]:
    """Sums over every window of so many rows and one, those that reach over the ends among them."""
    for part in blocks(count + last, max(_BLOCK, last)):
        before, after = max(part.start - last, 0), min(part.stop, count)
        values = terms.summed(slice(before, after), np.arange(after - before), after - before)
        sums = np.zeros((part.stop - part.start + last + 1, *values.shape[1:]))
        at = before - (part.start - last) + 1
        np.cumsum(values, axis=0, out=sums[at : at + len(values)])
        sums[at + len(values) :] = sums[at + len(values) - 1]
        yield sums[last + 1 :] - sums[: -last - 1]


def _of_outcome(terms: _Terms, rows: PairedRows, rules: int) -> Iterator[Floats]:
    """Independent parts of the errors where an outcome weighs the rows: they rest on all its rows."""
    design = Design(rows.y, terms.weight, codes=rows.clusters, lags=rows.lags, origin=rows.origin)
    lines = [[design.unit_parts(design.whole(column)) for column in terms.columns(rule)] for rule in range(rules)]
    yield np.moveaxis(np.array(lines), -1, 0)


def _waves(terms: _Terms, rules: int, count: int) -> Iterator[Floats]:
    lines = [[cosine_sums(column, count) for column in terms.columns(rule)] for rule in range(rules)]
    yield np.moveaxis(np.array(lines), -1, 0)
