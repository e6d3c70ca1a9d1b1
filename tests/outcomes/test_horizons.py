"""A metric over several horizons: the reference's integrated Brier score, and plain rows by hand."""

import math

import numpy as np
import pytest

from stakes import TimeToEvent, metric_interval
from stakes.inference import integrated_metric

RNG = np.random.default_rng(4)
N = 120
TIME, SCORE = RNG.exponential(2.0, N), RNG.random((N, 3))
AT = np.array([0.5, 1.0, 2.5])


def test_integrated_brier_score_is_that_of_the_reference(outcomes_reference, load_data):
    data, expected = load_data("dcurves/df_surv"), outcomes_reference["expected"]["horizons"]
    outcome = TimeToEvent(event=data.cancer, time=data.ttcancer, horizon=1.0)
    found = integrated_metric(outcome, data.cancerpredmarker, "bounded_brier_loss", horizons=expected["horizons"])
    assert found.value == pytest.approx(expected["integrated"], abs=1e-15)
    assert found.standard_error / math.sqrt(750 / 749) == pytest.approx(expected["integrated_se"], rel=1e-12)


@pytest.mark.parametrize("weight", [None, np.arange(N) % 3])
def test_without_censoring_it_is_the_mean_of_what_each_row_loses(weight):
    outcome = TimeToEvent(event=np.ones(N), time=TIME, horizon=1.0, sample_weight=weight)
    used = np.ones(N) if weight is None else weight
    losses = ((TIME[:, None] <= AT) - SCORE) ** 2
    area = np.sum(np.diff(AT) * (losses[:, 1:] + losses[:, :-1]) / 2, axis=1) / 2.0
    mean, n = np.average(area, weights=used), np.count_nonzero(used)
    error = math.sqrt(np.sum((used * (area - mean)) ** 2) * n / (n - 1)) / used.sum()
    found = integrated_metric(outcome, SCORE, "bounded_brier_loss", horizons=AT)
    assert (found.value, found.standard_error) == pytest.approx((mean, error), rel=1e-12)


def test_one_column_serves_all_horizons_and_two_near_ones_are_one():
    left = RNG.exponential(3.0, N)
    outcome = TimeToEvent(event=left >= TIME, time=np.minimum(TIME, left), horizon=1.0)
    near = integrated_metric(outcome, SCORE[:, 0], "net_benefit_score", horizons=[1.0, 1.0 + 1e-9], threshold=0.3)
    single = metric_interval(outcome, SCORE[:, 0], "net_benefit_score", threshold=0.3)
    assert (near.value, near.standard_error) == pytest.approx((single.value, single.standard_error), rel=1e-9)


@pytest.mark.parametrize("metric", ["bounded_brier_loss", "expected_regret", "bounded_brier_skill_score"])
@pytest.mark.parametrize("events", [1, 3, 40])
def test_few_events_allow_no_more_at_two_near_horizons_than_at_one(events, metric):
    time, event = np.linspace(0.1, 6.0, N), np.isin(np.arange(N), np.arange(2, 80)[:: 78 // events][:events])
    outcome, options = TimeToEvent(event=event, time=time, horizon=4.0), {"costs": 0.1} if "regret" in metric else {}
    near = integrated_metric(outcome, SCORE[:, 0], metric, horizons=[4.0 - 1e-9, 4.0], **options)
    single = metric_interval(outcome, SCORE[:, 0], metric, **options)
    assert near.interval == pytest.approx(single.interval, rel=1e-9, abs=1e-12, nan_ok=True)
    assert near.note == single.note
    assert np.isnan(near.interval).all() == ("skill" in metric and events < 5)


def test_few_events_at_the_first_horizon_widen_the_mean_by_their_share():
    time, event = np.linspace(0.1, 6.0, N), np.arange(N) % 3 == 0
    time[event & (time < 2.0)] += 2.0
    time[0] = 0.5
    outcome = TimeToEvent(event=event, time=time, horizon=4.0)
    at = [1.0, 4.0]
    found = integrated_metric(outcome, SCORE[:, 0], "bounded_brier_loss", horizons=at)
    each = [metric_interval(outcome.at(t), SCORE[:, 0], "bounded_brier_loss") for t in at]
    assert found.note == each[0].note
    assert "the estimate rests on about 1 of 1 positives" in found.note
    assert found.value == pytest.approx(np.mean([one.value for one in each]))
    wide = [one.interval[1] - one.value for one in each]
    assert 0.5 * wide[0] < found.interval[1] - found.value < max(wide)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"horizons": [1.0]}, "horizons must be two or more ascending times"),
        ({"horizons": [1.0, 0.5]}, "horizons must be two or more ascending times"),
        ({"horizons": [1.0, 99.0]}, "horizon 99 lies beyond the last time anyone was followed"),
        ({"metric": "roc_auc_score"}, "metric must be the name of a mean over rows, got 'roc_auc_score'"),
        ({"y_prob": SCORE[:, :2], "horizons": AT}, r"one for each of 3 horizons, got shape \(120, 2\)"),
        ({"outcome": TIME > 1}, "outcome must be a TimeToEvent, got ndarray"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(given, message):
    outcome = TimeToEvent(event=np.arange(N) % 2, time=np.sort(TIME)[np.r_[0 : N - 2, N - 1, N - 2]], horizon=1.0)
    asked = {"outcome": outcome, "y_prob": SCORE[:, 0], "metric": "bounded_brier_loss", "horizons": [0.5, 1.0]}
    with pytest.raises(ValueError, match=message):
        integrated_metric(**asked | given)
