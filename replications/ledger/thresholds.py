"""The ledger's part about every threshold: where one decision is said to cost less, and where in truth it does not."""

from __future__ import annotations

import numpy as np

from stakes import ScoreTable
from stakes.costs import as_costs
from stakes.evaluation._standings import compared, shared_level, thresholds_of
from stakes.inference import PairedRows, dominance, reached, shown_less

FINER = 10  # points at which the truth is known, for each step between thresholds that are asked about
TIES = 1e-12
LEVEL = 0.95


class Curves:
    """The true cost of every decision of a population at many thresholds; the last two treat all, and no one."""

    def __init__(self, people, costs, weight):
        self.thresholds = thresholds_of(as_costs(costs))
        steps = np.arange(FINER * (len(self.thresholds) - 1) + 1) / FINER
        self.before, self.after = np.floor(steps).astype(int), np.ceil(steps).astype(int)
        fine = np.interp(steps, np.arange(len(self.thresholds)), self.thresholds)
        fine[::FINER] = self.thresholds
        self.risks = np.column_stack([people.risks, np.ones(len(people.y)), np.zeros(len(people.y))])
        self.bins = np.stack([reached(column, self.thresholds) for column in self.risks.T])
        weight = weight / weight.sum()
        self.truth = np.stack(
            [
                fine * _at_least(column, fine, weight * ~people.y)
                + (1.0 - fine) * (weight @ people.y - _at_least(column, fine, weight * people.y))
                for column in self.risks.T
            ]
        )

    def judge(self, at, y, weight, names, choice):
        """What is said of the chosen decision at every threshold in one sample, and whether it is false."""
        rows, first = PairedRows(y, [], weight), names.index(choice.chosen)
        level = shared_level(LEVEL, len(names) - 2)
        wrong, crossing, everywhere = False, False, False
        for second in map(names.index, compared(choice, names)):
            pair = self.bins[first][at], self.bins[second][at]
            (less,), (more,) = shown_less(rows, pair, self.thresholds, level)
            gap = self.truth[first] - self.truth[second]
            wrong |= bool(np.any(self._between(less) & (gap > -TIES)) or np.any(self._between(more) & (gap < TIES)))
            crossing |= bool(more.any())
            if less.all() and self._dominates(at, y, weight, first, second):
                everywhere, wrong = True, wrong or bool(np.any(gap > -TIES))
        return {"false thresholds": wrong, "crossing": crossing, "every threshold": everywhere}

    def _between(self, shown):
        """The finer points within what is shown."""
        return shown[self.before] & shown[self.after]

    def _dominates(self, at, y, weight, first, second):
        tables = [ScoreTable.from_predictions(y, self.risks[at, k], sample_weight=weight) for k in (first, second)]
        return dominance(*tables, low=self.thresholds[0], high=self.thresholds[-1]).winner == "a"


def _at_least(scores, thresholds, weight):
    """Weight of the rows at or above each threshold."""
    order = np.argsort(scores)
    above = np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
    return above[np.searchsorted(scores[order], thresholds)]
