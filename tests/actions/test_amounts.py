"""Amounts by row and the option to defer together: money counted row by row by hand, simulated and on real loans."""

import numpy as np
import pytest

from stakes import costs
from stakes.actions import evaluate_deferral
from stakes.outcomes import RowCosts


def in_money(y, p, a, b, fee, human):  # noqa: PLR0917
    """Each row takes the cheapest of acting, not acting, and paying a share of what is at stake to one who errs."""
    act, wait, stake = (1.0 - p) * a, p * b, (1.0 - p) * a + p * b
    defer = fee * stake + human * stake
    choice = np.argmin([act, wait, defer], axis=0)
    at_stake = np.where(y, b, a)
    paid = np.select([choice == 0, choice == 1], [np.where(y, 0.0, a), np.where(y, b, 0.0)], (fee + human) * at_stake)
    alone = np.where(act <= wait, np.where(y, 0.0, a), np.where(y, b, 0.0))
    return paid.sum() / at_stake.sum(), alone.sum() / at_stake.sum()


@pytest.mark.parametrize(("fee", "human"), [(0.1, 0.0), (0.0, 0.25), (0.05, 0.1)])
def test_costs_are_those_of_money_counted_by_hand(fee, human):
    rng = np.random.default_rng(0)
    p = rng.beta(1.0, 4.0, 1500)
    y, a, b = rng.random(1500) < p, rng.lognormal(3.0, 0.5, 1500), rng.lognormal(4.5, 0.8, 1500)
    # half of the fee, for a false positive and a false negative cost 1 together; and the whole cost twice
    found = evaluate_deferral(
        RowCosts(y, false_positive=a, false_negative=b),
        p,
        costs=0.5,
        deferral=costs.Deferral(fee / 2.0, human, human),
        unit_cost=2.0,
    )
    assert (found.cost, found.cost_without) == pytest.approx(in_money(y, p, a, b, fee, human), rel=1e-12)
    low, high = found.estimates["value"].interval
    assert low < found.value < high


def test_shares_and_the_sentence_are_of_what_is_at_stake_and_a_capacity_is_refused():
    y, p = np.array([0, 1, 0, 1] * 20), np.array([0.1, 0.6, 0.3, 0.9] * 20)
    outcome = RowCosts(y, false_positive=np.where(p == 0.3, 90.0, 10.0), false_negative=10.0)
    given = {"costs": 0.5, "deferral": 0.05, "unit_cost": 2.0}
    found = evaluate_deferral(outcome, p, **given)
    # at 0.6 acting is expected to cost 4, not acting 6, and a tenth of both 1; at 0.3 they are 63, 3 and 6.6
    assert found.shares["deferred"] == pytest.approx(10 / (10 + 10 + 90 + 10), rel=1e-12)
    assert "per unit at stake" in found.sentence
    assert found.sentence.endswith("with 8.33% of what is at stake deferred.")
    plain = evaluate_deferral(y, p, costs=0.5, deferral=0.05, capacity=0.5)
    assert plain.sentence.endswith("of cases deferred.")
    for capacity in (0.5, 10):
        with pytest.raises(ValueError, match="capacity= does not fit amounts by row: it counts cases, not money"):
            evaluate_deferral(outcome, p, **given, capacity=capacity)


def test_credit_default_with_amounts_and_deferral(load_data):
    """Loans: a default loses what is owed, a refusal a twentieth of it; whoever looks closer charges 1% of that."""
    frame = load_data("credit_default/credit_default")
    label = next(name for name in frame.columns if "default" in name.lower())
    y, owed = frame[label].to_numpy() == 1, frame["LIMIT_BAL" if "LIMIT_BAL" in frame else "limit_bal"].to_numpy()
    late = frame[next(name for name in frame.columns if name.lower() in {"pay_0", "pay_1"})].clip(0, 4).to_numpy()
    rate = np.array([y[late == k].mean() for k in range(5)])
    p, a, b = rate[late.astype(int)], 0.05 * owed.astype(float), owed.astype(float)
    found = evaluate_deferral(
        RowCosts(y, false_positive=a, false_negative=b), p, costs=0.5, deferral=0.005, unit_cost=2.0
    )
    assert (found.cost, found.cost_without) == pytest.approx(in_money(y, p, a, b, 0.01, 0.0), rel=1e-12)
