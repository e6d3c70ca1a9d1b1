"""Maximum profit measures: empulse 0.13.1 with its defaults, and the best threshold by brute force."""

import numpy as np
import pytest
from scipy import stats

from stakes import costs, expected_regret

Y, S = [0, 1, 0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9]


def maximum_profit(profit, y=Y, s=S):
    regret = expected_regret(y, s, costs=profit.costs, rule="optimal", scale="integral")
    return profit.factor * (np.mean(y) * profit.offset - regret)


def test_churn_and_credit_have_the_values_of_empulse():
    assert maximum_profit(costs.churn_profit()) == pytest.approx(23.875593418348124, rel=1e-9)
    assert maximum_profit(costs.credit_profit()) == pytest.approx(0.09747017050000001, rel=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "clv", "incentive", "contact"), [(3, 5, 100, 8, 2), (0.5, 0.8, 0.5, 0.0, 0.1), (0.5, 0.8, 0.5, 0.1, 0.0)]
)
def test_churn_is_the_mean_of_the_best_threshold_over_the_acceptance(a, b, clv, incentive, contact):
    rng = np.random.default_rng(4)
    y, s = rng.integers(0, 2, 30), rng.random(30)
    cuts = [*np.unique(s), 2.0]
    tps, fps = (np.array([((s >= t) & (y == k)).mean() for t in cuts]) for k in (1, 0))
    accepted = stats.beta(a, b).ppf((np.arange(20000) + 0.5) / 20000)[:, None]
    gains = (accepted * (clv - incentive) - contact) * tps - (incentive + contact) * fps
    profit = costs.churn_profit(a=a, b=b, clv=clv, incentive=incentive, contact=contact)
    assert maximum_profit(profit, y, s) == pytest.approx(gains.max(axis=1).mean(), rel=1e-5)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.2, 0.0)])
def test_credit_needs_no_atom_and_no_density(shares):
    rng = np.random.default_rng(5)
    y, s = rng.integers(0, 2, 30), rng.random(30)
    cuts = [*np.unique(s), 2.0]
    tps, fps = (np.array([((s >= t) & (y == k)).mean() for t in cuts]) for k in (1, 0))
    none, full = shares

    def best(loss):
        return max(0.0, np.max(loss * tps - 0.3 * fps))

    expected = full * best(1.0) + (1 - none - full) * np.mean([best(x) for x in (np.arange(20000) + 0.5) / 20000])
    profit = costs.credit_profit(p_no_loss=none, p_full_loss=full, roi=0.3)
    assert maximum_profit(profit, y, s) == pytest.approx(expected, rel=1e-6)


def test_bad_values_are_refused():
    with pytest.raises(ValueError, match="must be less than clv"):
        costs.churn_profit(incentive=300)
    with pytest.raises(ValueError, match=r"must be less than clv, got 100\.0 and 100\.0"):
        costs.churn_profit(clv=100, incentive=90, contact=10)
    with pytest.raises(ValueError, match="must be > 0"):
        costs.churn_profit(a=0)
    for name in ("a", "b", "clv"):
        with pytest.raises(ValueError, match="must be > 0"):
            costs.churn_profit(**{name: 0})
    for incentive, contact in ((0, 0), (-1, 5), (5, -1)):
        with pytest.raises(ValueError, match="must be > 0"):
            costs.churn_profit(incentive=incentive, contact=contact)
    with pytest.raises(ValueError, match="must be shares"):
        costs.credit_profit(p_no_loss=0.9, p_full_loss=0.2)
