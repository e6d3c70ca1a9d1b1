"""Intervals of threshold tables where an outcome weighs the rows: errors by small steps, coverage by simulation."""

from statistics import NormalDist

import numpy as np
import pytest

from stakes import PartlyVerified, RowCosts, TimeToEvent, evaluate
from stakes.curves import threshold_table
from stakes.display._thresholds import thinned, to_the_ends
from stakes.inference import confidence_band, threshold_intervals
from stakes.inference._simultaneous import mid_p_limits
from stakes.inference._thresholds import MEASURES

N, AT = 150, [0.15, 0.3]
Z = NormalDist().inv_cdf(0.975)


def rows(n, rng):
    p = rng.beta(2, 5, n)
    time, left = rng.exponential(-1.0 / np.log1p(-p)), rng.exponential(1.5, n)
    return {"event": time <= left, "time": np.minimum(time, left), "horizon": 1.0}, p


def followed(n, rng):
    given, p = rows(n, rng)
    return TimeToEvent(**given), p


def test_shares_have_the_limits_of_as_many_rows_as_their_error_says():
    given, p = rows(N, np.random.default_rng(6))
    p = p.round(2)  # some rows score a threshold exactly, and are acted on
    assert all(np.count_nonzero(p == t) for t in AT)
    outcome, names = TimeToEvent(**given), ("sensitivity", "specificity", "ppv", "npv")
    found, table = threshold_intervals(outcome, p, thresholds=AT), threshold_table(outcome, p, thresholds=AT)

    def shares_where(row, weight):
        every = np.where(np.arange(N) == row, weight, 1.0)
        table = threshold_table(TimeToEvent(**given, sample_weight=every), p, thresholds=AT)
        return np.stack([getattr(table, name) for name in names])

    step, slopes = 1e-5, []
    for row in range(N):  # the derivative to the weight of each row, by small steps either way
        up, down = (shares_where(row, 1.0 + way * step) for way in (1, -1))
        slopes.append((up - down) / (2 * step))
    for name, variance in zip(names, np.sum(np.square(slopes), axis=0) * N / (N - 1), strict=True):
        share = found.estimate[name]
        assert share == pytest.approx(getattr(table, name), rel=1e-14)
        size = share * (1.0 - share) / variance
        low, high = mid_p_limits(share * size, size, Z)
        assert found.low[name] == pytest.approx(low, rel=1e-6)
        assert found.high[name] == pytest.approx(high, rel=1e-6)


@pytest.mark.parametrize("weight", [None, np.arange(N) % 3], ids=["alone", "weighted"])
@pytest.mark.parametrize("kind", ["followed", "few followed", "verified"])
def test_the_share_flagged_is_that_of_all_rows_whatever_happened_to_them(kind, weight):
    pytest.importorskip("pandas")
    rng = np.random.default_rng(6)
    given, p = rows(N, rng)
    if kind == "few followed":
        given["horizon"] = np.sort(given["time"])[-4]
    labels = np.where(rng.random(N) < 0.3 + 0.6 * (p > 0.25), given["event"], np.nan)
    outcome = TimeToEvent(**given, sample_weight=weight)
    if kind == "verified":
        outcome = PartlyVerified(labels, groups=p > 0.25, sample_weight=weight)
    table, found = threshold_table(outcome, p, thresholds=AT), threshold_intervals(outcome, p, thresholds=AT)
    share = [np.average(p >= t, weights=weight) for t in AT]
    assert table.share_flagged == pytest.approx(share, rel=1e-12)
    assert table.frame("pandas").share_flagged.tolist() == table.share_flagged.tolist()
    assert evaluate(outcome, {"m": p}, costs=AT[0])["m"].share_acted_on == pytest.approx(share[0], rel=1e-12)
    other = threshold_intervals(rng.random(N) < 0.5, p, thresholds=AT, sample_weight=weight)  # labels of no meaning
    for mine, its in ((found.estimate, other.estimate), (found.low, other.low), (found.high, other.high)):
        assert mine["share_flagged"] == pytest.approx(its["share_flagged"], rel=1e-9)
    if kind != "verified":
        money = RowCosts(TimeToEvent(**given, sample_weight=weight), false_positive=1.0, false_negative=3.0)
        assert threshold_table(money, p, thresholds=AT).share_flagged == pytest.approx(share, rel=1e-12)
    drawn = to_the_ends(thinned(threshold_table(outcome, p)), upwards=True)
    assert (drawn.share_flagged[0], drawn.share_flagged[-1]) == (1.0, 0.0)
    shares = [np.average(p >= t, weights=weight) for t in drawn.threshold[1:-1]]
    assert drawn.share_flagged[1:-1] == pytest.approx(shares, rel=1e-12)


def test_costs_have_the_limits_of_the_band():
    outcome, p = followed(N, np.random.default_rng(6))
    found = threshold_intervals(outcome, p, thresholds=AT)
    for kind in ("regret", "net_benefit"):
        band = confidence_band(outcome, p, kind, thresholds=AT)
        assert found.low[kind] == pytest.approx(band.low, rel=1e-12)
        assert found.high[kind] == pytest.approx(band.high, rel=1e-12)


def test_outcomes_that_know_every_row_are_plain_labels():
    rng = np.random.default_rng(7)
    p = rng.random(N)
    y = rng.random(N) < p
    plain = threshold_intervals(y, p, thresholds=AT)
    sure = TimeToEvent(event=y, time=np.where(y, 0.5, 1.0), horizon=1), PartlyVerified(y, groups=np.zeros(N))
    for outcome in sure:
        found = threshold_intervals(outcome, p, thresholds=AT)
        for name in MEASURES:
            assert (found.low[name] == plain.low[name]).all()
            assert (found.high[name] == plain.high[name]).all()


def test_too_few_people_at_the_horizon_leave_no_interval():
    rng = np.random.default_rng(3)
    time, p = rng.exponential(size=100), rng.random(100)
    outcome = TimeToEvent(event=rng.integers(0, 2, 100), time=time, horizon=np.sort(time)[-4])
    found = threshold_intervals(outcome, p, thresholds=AT)
    of_classes = [name for name in MEASURES if name != "share_flagged"]
    assert all(np.isnan(found.low[name]).all() and np.isnan(found.high[name]).all() for name in of_classes)
    assert np.isfinite(found.estimate["ppv"]).all()


@pytest.mark.simulation
def test_every_entry_covers_its_truth():
    """Calibrated scores: the truth is that of the probabilities."""
    grid = np.sort(np.random.default_rng(0).beta(2, 5, 400_000))
    t, act, rng, held = 0.3, grid >= 0.3, np.random.default_rng(9), dict.fromkeys(MEASURES, 0)
    tp, fp = (grid * act).mean(), ((1 - grid) * act).mean()
    fn, tn = (grid * ~act).mean(), ((1 - grid) * ~act).mean()
    rates = tp / (tp + fn), fp / (fp + tn)
    shares = rates[0], 1 - rates[1], tp / (tp + fp), tn / (tn + fn)
    ratios = rates[0] / rates[1], (1 - rates[0]) / (1 - rates[1])
    every = *shares, *ratios, tp + fp, t * fp + (1 - t) * fn, tp - t / (1 - t) * fp
    for _ in range(400):
        found = threshold_intervals(*followed(400, rng), thresholds=[t])
        for name, value in zip(MEASURES, every, strict=True):
            held[name] += found.low[name][0] <= value <= found.high[name][0]
    assert all(0.92 <= count / 400 <= 0.98 for count in held.values()), held
