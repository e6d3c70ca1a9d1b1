"""
Has the cost risen since we took the model into use?
=====================================================

Two hundred days of a risk model. From day 101 on patients fall ill more often than their scores say. The evidence may
be looked at every day; the promise of the scores does not move, so it is not the mix of cases that changed.
"""

import numpy as np

from stakes import evaluate
from stakes.evaluation import KeptEvaluation
from stakes.monitoring import CostMonitor

rng = np.random.default_rng(0)


def day(rows, drift=0.0):
    risk = rng.beta(1, 9, rows)
    return (rng.random(rows) < np.clip(risk + drift, 0, 1)).astype(int), risk


y, risk = day(20_000)
kept = KeptEvaluation.of(evaluate(y, {"risk": risk}, costs=(0.05, 0.3)))
monitor = CostMonitor((0.05, 0.3), reference=kept, tolerance=0.05)
for number in range(1, 201):
    monitor.update(number, *day(300, drift=0.06 if number > 100 else 0.0))
display = monitor.plot()
