"""Censoring estimated anew among the rows acted on at each threshold: R's values, and the product limit in words."""

import numpy as np
import pytest

from stakes import TimeToEvent, net_benefit_curve
from stakes.outcomes import _time_to_event as _acted, acted_shares

SINGLE = {"horizon": 1.5}
SMALL = {"event": [1, 0, 1, 0, 2, 0, 1, 0], "time": [1, 2, 2, 2, 3, 3, 4, 5], "horizon": 3.5, "cause": 1}
SCORE = [0.9, 0.1, 0.8, 0.3, 0.5, 0.2, 0.4, 0.3]


@pytest.fixture(scope="module")
def df_surv(load_data):
    return load_data("dcurves/df_surv")


def event_rate(event, time, weight, horizon):
    """Aalen and Johansen's estimate of event 1, event by event."""
    free, rate = 1.0, 0.0
    for now in sorted(set(time[(event > 0) & (time <= horizon)])):
        at_risk = weight[time >= now].sum()
        ended = [weight[(time == now) & (event == cause)].sum() for cause in (1, 2)]
        rate += free * ended[0] / at_risk
        free *= (at_risk - sum(ended)) / at_risk
    last = time.max()
    return np.nan if last < horizon and np.any(event[time == last] == 0) else rate


def random_rows(rng, causes, weighted):
    n = int(rng.integers(2, 60))
    weight = rng.integers(0, 4, n) * rng.uniform(0.5, 2.0) if weighted else np.ones(n)
    weight[0] = 1.0
    time = np.round(rng.exponential(2.0, n), int(rng.integers(0, 3)))
    event = rng.integers(0, 1 + causes, n)
    event[0], time[0] = 0, 99.0  # somebody is followed to the horizon
    event[1] = 1  # and somebody has the event of interest, at some time
    return event, time, weight, np.round(rng.random(n), int(rng.integers(1, 4)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("causes", [1, 2])
def test_shares_are_those_of_a_product_limit_at_each_score(causes, weighted):
    rng, unknown = np.random.default_rng(8), 0
    for _ in range(60):
        event, time, weight, score = random_rows(rng, causes, weighted)
        outcome = TimeToEvent(event=event, time=time, horizon=2.5, cause=1, sample_weight=weight)
        cuts, hits, alarms = acted_shares(outcome, score)
        assert cuts.tolist() == np.unique(score[weight > 0]).tolist()
        for cut, hit, alarm in zip(cuts, hits, alarms, strict=True):
            acted = (score >= cut) & (weight > 0)
            rate = event_rate(event[acted], time[acted], weight[acted], 2.5)
            share = weight[acted].sum() / weight.sum()
            assert hit == pytest.approx(share * rate, abs=1e-14, nan_ok=True)
            assert alarm == pytest.approx(share * (1.0 - rate), abs=1e-14, nan_ok=True)
            unknown += np.isnan(rate)
    assert unknown > 10


@pytest.mark.parametrize(
    ("column", "horizon", "file"),
    [("cancerpredmarker", 1.0, "r_case2_results"), ("famhistory", 1.5, "r_simple_surv_dca_result_df")],
)
def test_product_limit_among_the_rows_acted_on_is_that_of_r(load_data, df_surv, column, horizon, file):
    printed = load_data(f"dcurves/expected/{file}")
    printed = printed[(printed.variable == column) & printed.net_benefit.notna() & (printed.threshold > 0)]
    outcome = TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, horizon=horizon)
    curve = net_benefit_curve(outcome, df_surv[column].astype(float), censoring="acted")
    assert curve.at(printed.threshold) == pytest.approx(printed.net_benefit.to_numpy(), abs=2e-14)


def test_net_benefit_of_the_table_and_of_the_rows_acted_on_differ(df_surv):
    outcome, score = TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, **SINGLE), df_surv.cancerpredmarker
    assert net_benefit_curve(outcome, score, censoring="acted").at(0.2) == pytest.approx(0.123606, abs=5e-7)
    assert net_benefit_curve(outcome, score).at(0.2) == pytest.approx(0.136858, abs=5e-7)


def test_rows_acted_on_need_a_time_to_event():
    with pytest.raises(ValueError, match="needs a TimeToEvent"):
        net_benefit_curve([0, 1], [0.2, 0.3], censoring="acted")
    with pytest.raises(ValueError, match="neither rule="):
        net_benefit_curve(TimeToEvent(**SMALL), SCORE, censoring="acted", standardized=True)
    curve = net_benefit_curve(TimeToEvent(**SMALL), SCORE, censoring="acted")
    assert np.isnan(curve.at(0.25)) == np.isnan(curve.at(0.15)) == np.False_
    assert curve.at(0.95) == 0.0


def test_chosen_thresholds_have_the_net_benefit_of_the_whole_curve(df_surv):
    outcome, score = TimeToEvent(event=df_surv.cancer, time=df_surv.ttcancer, **SINGLE), df_surv.cancerpredmarker
    chosen = np.linspace(0.01, 0.99, 50)
    whole = net_benefit_curve(outcome, score, censoring="acted")
    few = net_benefit_curve(outcome, score, censoring="acted", thresholds=chosen)
    assert np.array_equal(few.at(chosen), whole.at(chosen), equal_nan=True)
    assert len(few.knots) <= 52 < len(whole.knots)
    with pytest.raises(ValueError, match="thresholds= belongs to censoring"):
        net_benefit_curve(outcome, score, thresholds=chosen)
    with pytest.raises(ValueError, match=r"thresholds must lie in \[0, 1\]"):
        net_benefit_curve(outcome, score, censoring="acted", thresholds=[2.0])


def test_too_much_work_is_refused_with_what_to_do_instead(monkeypatch):
    monkeypatch.setattr(_acted, "MOST_WORK", 20)
    outcome = TimeToEvent(**SMALL)
    with pytest.raises(ValueError, match=r"3 times of events out anew at each of 7 distinct scores: .* thresholds="):
        net_benefit_curve(outcome, SCORE, censoring="acted")
    found = net_benefit_curve(outcome, SCORE, censoring="acted", thresholds=[0.2, 0.4])
    monkeypatch.undo()
    assert np.array_equal(found.at([0.2, 0.4]), net_benefit_curve(outcome, SCORE, censoring="acted").at([0.2, 0.4]))


def test_treating_all_costs_the_odds_of_those_without_the_event():
    outcome = TimeToEvent(**SMALL)
    curve = net_benefit_curve(outcome, SCORE, censoring="acted")
    for t in (0.1, 0.3, 0.6):
        expected = outcome.prevalence - (1.0 - outcome.prevalence) * t / (1.0 - t)
        assert float(curve.references["treat all"].at(t)) == pytest.approx(expected, abs=1e-12)
        assert float(curve.references["treat none"].at(t)) == 0.0
