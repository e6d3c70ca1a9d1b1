"""Outcomes that are not plain labels: censored follow-up, amounts by row."""

import numpy as np

import stakes
from benchmarks._rows import Entry, Goal, Row
from stakes.inference import confidence_band, difference_band

SIZES = (10**5, 10**6)
SEED = 20261122
HORIZON = 1.0


def follow_up(inputs):
    """Times that give the event by the horizon to the positives, and censoring that hides a third of the rows."""
    rng = np.random.default_rng(SEED)
    n = len(inputs.y)
    time = np.where(inputs.y == 1, rng.uniform(0.0, HORIZON, n), HORIZON + rng.exponential(1.0, n))
    left = rng.exponential(2.5, n)
    second = np.clip(inputs.score + rng.normal(0.0, 0.05, n), 0.0, 1.0)
    return {"event": time <= left, "time": np.minimum(time, left), "horizon": HORIZON}, inputs.score, second


def amounts(inputs):
    rng = np.random.default_rng(SEED)
    return inputs.y, inputs.score, rng.lognormal(4.0, 1.0, len(inputs.y))


def survival_study(ready):
    rows, score, second = ready
    outcome = stakes.TimeToEvent(**rows)
    stakes.net_benefit_curve(outcome, score)
    confidence_band(outcome, score, "net_benefit")
    return difference_band(outcome, score, second, "net_benefit")


def by_amount(ready):
    y, score, stake = ready
    return stakes.expected_regret(stakes.RowCosts(y, false_positive=20.0, false_negative=stake), score, costs=0.5)


ROWS = (
    Row(
        "decision curve, its band and the band of a difference, censored",
        Entry("stakes", "net_benefit_curve, confidence_band, difference_band", survival_study, prepare=follow_up),
        goals=(Goal("at most 2 s", lambda by: by["stakes"].best, 2.0, "s", rows=10**5),),
    ),
    Row(
        "weights of censored rows, beside a sort of the times",
        Entry("stakes", "TimeToEvent", lambda ready: stakes.TimeToEvent(**ready[0]), prepare=follow_up),
        (Entry("numpy", "np.sort", lambda ready: np.sort(ready[0]["time"]), prepare=follow_up),),
        goals=(Goal("at most 4 sorts", lambda by: by["stakes"].best / by["numpy"].best, 4.0, "x", rows=10**6),),
    ),
    Row("regret with amounts by row", Entry("stakes", "expected_regret(RowCosts)", by_amount, prepare=amounts)),
)
