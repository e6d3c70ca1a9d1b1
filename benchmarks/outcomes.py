"""Outcomes that are not plain labels: censored follow-up, amounts by row."""

import numpy as np

import stakes
from benchmarks._rows import Entry, Goal, Row
from stakes.inference import confidence_band, difference_band

SIZES = (10**5, 10**6)
SEED = 20261122
HORIZON = 1.0
RATIOS = (0.3, 0.7)
PLAIN = "evaluate of plain rows"
THRESHOLDS = np.arange(0.045, 0.5, 0.05)  # between hundredths


def follow_up(inputs):
    """Times that give the event by the horizon to the positives, and censoring that hides a third of the rows."""
    rng = np.random.default_rng(SEED)
    n = len(inputs.y)
    time = np.where(inputs.y == 1, rng.uniform(0.0, HORIZON, n), HORIZON + rng.exponential(1.0, n))
    left = rng.exponential(2.5, n)
    second = np.clip(inputs.score + rng.normal(0.0, 0.05, n), 0.0, 1.0)
    return {"event": time <= left, "time": np.minimum(time, left), "horizon": HORIZON}, inputs.score, second


def rounded(inputs):
    """The same with scores in hundredths: the work grows with the number of distinct scores."""
    rows, score, second = follow_up(inputs)
    return rows, np.round(score, 2), second


def structured(inputs):
    """The same as scikit-survival takes it: pairs of event and time, and the probability to be free of the event."""
    rows, score, _ = follow_up(inputs)
    y = np.empty(len(score), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rows["event"], rows["time"]
    return y, 1.0 - score[:, None]


def framed(inputs):
    """The same as dcurves takes it."""
    import pandas as pd

    rows, score, _ = rounded(inputs)
    return pd.DataFrame({"event": rows["event"].astype(int), "time": rows["time"], "score": score})


def amounts(inputs):
    """Labels, scores and what a false negative costs."""
    return inputs.y, inputs.score, np.random.default_rng(SEED).lognormal(4.0, 1.0, len(inputs.y))


def acted(ready):
    rows, score, _ = ready
    return stakes.net_benefit_curve(stakes.TimeToEvent(**rows), score, censoring="acted").at(THRESHOLDS)


def acted_everywhere(ready):
    rows, score, _ = ready
    return stakes.net_benefit_curve(stakes.TimeToEvent(**rows), score, censoring="acted")


def acted_by_dcurves(frame):
    import dcurves

    return dcurves.dca(
        data=frame,
        outcome="event",
        modelnames=["score"],
        thresholds=THRESHOLDS,
        time=HORIZON,
        time_to_outcome_col="time",
    )


def of_model(found):
    return found[found.model == "score"].sort_values("threshold").net_benefit.to_numpy()


def brier(ready):
    rows, score, _ = ready
    return stakes.bounded_brier_loss(stakes.TimeToEvent(**rows), score)


def brier_by_scikit_survival(ready):
    from sksurv.metrics import brier_score

    y, free = ready
    return float(brier_score(y, y, free, [HORIZON])[1][0])


def survival_study(ready):
    rows, score, second = ready
    outcome = stakes.TimeToEvent(**rows)
    stakes.net_benefit_curve(outcome, score)
    confidence_band(outcome, score, "net_benefit")
    return difference_band(outcome, score, second, "net_benefit")


def judged(ready):
    y, score, stake = ready
    return stakes.evaluate(stakes.RowCosts(y, false_positive=20.0, false_negative=stake), score, costs=RATIOS)


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
    Row(
        "net benefit at 10 thresholds, scores in hundredths, censoring estimated among the rows acted on",
        Entry("stakes", 'net_benefit_curve(censoring="acted")', acted, prepare=rounded, answer=np.asarray),
        (Entry("dcurves", "dca", acted_by_dcurves, prepare=framed, answer=of_model, max_rows=10**5),),
    ),
    Row(
        "decision curve, censoring estimated among the rows acted on at each distinct score",
        Entry("stakes", 'net_benefit_curve(censoring="acted")', acted_everywhere, prepare=follow_up, max_rows=10**5),
        goals=(Goal("at most 10 s", lambda by: by["stakes"].best, 10.0, "s", rows=10**5),),
    ),
    Row(
        "Brier score at a horizon, censored",
        Entry("stakes", "bounded_brier_loss(TimeToEvent)", brier, prepare=follow_up, answer=float),
        (Entry("scikit-survival", "brier_score", brier_by_scikit_survival, prepare=structured, answer=float),),
    ),
    Row(
        "evaluation with amounts by row, beside that of plain rows",
        Entry("stakes", "evaluate(RowCosts)", judged, prepare=amounts),
        (Entry("stakes", PLAIN, lambda ready: stakes.evaluate(*ready[:2], costs=RATIOS), prepare=amounts),),
        goals=(Goal("at most 1.5 x", lambda by: by["stakes"].best / by[PLAIN].best, 1.5, "x", rows=10**6),),
    ),
    Row("regret with amounts by row", Entry("stakes", "expected_regret(RowCosts)", by_amount, prepare=amounts)),
)
