"""Deferral: zone, losses over any costs, the best pair and capacities, from `reference/actions_oracle.py`."""

import itertools
import json
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from fresh_cases import gains_tied_in_fresh, tied_in_fresh
from hypothesis import example, given, strategies as st
from scipy.integrate import quad

from stakes import ScoreTable, costs, decompose, expected_regret
from stakes.actions import DeferralPair, apply_deferral, deferral_curve, deferral_zone, evaluate_deferral, fit_deferral
from stakes.actions._deferral import (
    _window_argmin,
    action_costs,
    at_capacity,
    best_pair,
    between,
    capacity_price,
    capped_actions,
    decided_at,
    face_actions,
)
from stakes.base.numerics import rows_within
from stakes.base.validation import check_capacity

DENSITIES = {
    "uniform": costs.Uniform,
    "logodds": costs.LogOddsUniform,
    "beta25": lambda low, high: costs.Beta(2, 5, low, high),
}


def option(case):
    return costs.Deferral(case["fee"], case["fpr"], case["fnr"])


def brute_loss(p, y, fee, a, b):
    """The definition: at each cost ratio the cheapest of three by its expected cost."""

    def cost(c):
        row = [(0, 1 - c)[y], (c, 0)[y], (fee + a * c, fee + b * (1 - c))[y]]
        expected = [p * (1 - c), (1 - p) * c, fee + (1 - p) * a * c + p * b * (1 - c)]
        return row[2] if expected[2] < min(expected[:2]) else row[1 if p >= c else 0]

    grid = np.linspace(0, 1, 2001)
    return sum(quad(cost, low, high)[0] for low, high in itertools.pairwise(grid))


def test_zone_of_the_textbook():
    """Acceptance 1: Chow's thresholds at c = 0.2 and fee 0.05, and the fee from which on there are none."""
    assert deferral_zone(0.2, 0.05) == pytest.approx((0.0625, 0.75), abs=1e-15)
    assert deferral_zone(0.2, 0.16) is None
    assert deferral_zone(0.2, 0.159) is not None
    assert deferral_zone(0.25, costs.Deferral(0, 0.25, 0.25)) == pytest.approx((0.1, 0.5), abs=1e-15)
    assert costs.Deferral.from_cost(50, fp=200, fn=800).fee == 0.05


def test_best_pair_of_the_oracle(actions_reference):
    """Acceptance 2: the minimum over all pairs, which is Chow's rule on the recalibrated scores."""
    cases = actions_reference["deferral"]["point"]
    for case in cases:
        found = fit_deferral(case["y"], case["p"], costs=case["c"], deferral=option(case), sample_weight=case["w"])
        assert_pair(found, case["best"])
        by_pav = expected_regret(
            case["y"], case["p"], costs=case["c"], deferral=option(case), rule="optimal", sample_weight=case["w"]
        )
        assert by_pav == pytest.approx(found.cost, abs=2e-14)  # deferring must gain 1e-14: rounding does not
        if tied_in_fresh(case):
            continue
        actions = face_actions(np.array(case["p"]), case["c"], option(case))
        assert np.where(actions < 0, 2, actions).tolist() == case["face"]["actions"]
        face = expected_regret(case["y"], case["p"], costs=case["c"], deferral=option(case), sample_weight=case["w"])
        assert face == pytest.approx(case["face"]["cost"], abs=2e-14)
    assert len(cases) == 40


def assert_pair(found, stated):
    low, high = (math.inf if stated[end] is None else stated[end] for end in ("low", "high"))
    assert (found.low, found.high, found.unique) == (low, high, stated["unique"])
    assert (found.cost, found.share) == pytest.approx((stated["cost"], stated["share"]), abs=1e-15)


def test_ties_of_pairs_are_those_of_exact_fractions():
    found = fit_deferral([1, 0], [0.6, 0.8], costs=0.7, deferral=0.15)  # acting on no one costs 0.3 / 2 as well
    assert (found.share, found.cost) == (0.0, pytest.approx(0.15))
    rng = np.random.default_rng(3)
    for _ in range(600):
        n = int(rng.integers(2, 25))
        y, p = np.append(rng.integers(0, 2, n - 2), [0, 1]), rng.integers(0, 11, n) / 10
        c, fee = (
            Fraction(int(rng.integers(1, 20)), 20),
            Fraction(int(rng.integers(0, 9)), int(rng.choice([20, 40, 100]))),
        )
        capacity = None if rng.random() < 0.5 else int(rng.integers(1, n + 1))
        pairs, ends = [], np.append(np.unique(p), np.inf)
        for i, low in enumerate(ends):
            for high in ends[i:]:
                deferred, acted = int(np.sum((p >= low) & (p < high))), int(np.sum(p >= high))
                false, missed = int(np.sum((p >= high) & (y == 0))), int(np.sum((p < low) & (y == 1)))
                pairs.append((fee * deferred + c * false + (1 - c) * missed, deferred, -acted))
        pairs = [pair for pair in pairs if capacity is None or pair[1] <= capacity]
        cost, deferred, acted = min(pairs)
        found = fit_deferral(y, p, costs=float(c), deferral=float(fee), capacity=capacity)
        assert found.cost == pytest.approx(float(cost / n), abs=1e-12)
        assert (round(found.share * n), int(np.sum(p >= found.high))) == (deferred, -acted)
        assert found.unique == ([pair[:2] for pair in pairs].count((cost, deferred)) == 1)


def test_capacities_of_the_oracle(actions_reference):
    """Acceptance 2: 120 queries, at face value and for the best pair."""
    deferral = actions_reference["deferral"]
    for query in deferral["capacity"]:
        case = deferral["point"][query["case"]]
        c, y, p, w = case["c"], np.array(case["y"]) == 1, np.array(case["p"]), np.array(case["w"])
        table, capacity = ScoreTable.from_predictions(y, p, sample_weight=w), Fraction(str(query["q"]))
        assert_pair(best_pair(table, c, option(case), capacity), query["best"])
        if capacity > 0:
            pair = fit_deferral(y, p, costs=c, deferral=option(case), sample_weight=w, capacity=query["q"])
            assert_pair(pair, query["best"])
        if gains_tied_in_fresh(case):
            continue
        actions = capped_actions(p, c, option(case), capacity_price(table, c, option(case), capacity))
        cost = w @ action_costs(y, actions, c, option(case)) / w.sum()
        share = w[actions < 0].sum() / w.sum()
        assert (cost, share) == pytest.approx((query["face"]["cost"], query["face"]["share"]), abs=1e-15)
    assert len(deferral["capacity"]) == 120


@pytest.mark.parametrize("wrong", [0, 0.0, 1.0, -1, 2.5, True, "many"])
def test_a_capacity_is_a_count_or_a_share(wrong):
    y, p = np.arange(40) % 2, np.linspace(0.02, 0.98, 40)
    for call in (
        lambda: fit_deferral(y, p, costs=0.5, deferral=0.0, capacity=wrong),
        lambda: apply_deferral(p, costs=0.5, deferral=0.0, capacity=wrong),
        lambda: evaluate_deferral(y, p, costs=0.5, deferral=0.0, capacity=wrong),
    ):
        with pytest.raises(ValueError, match=r"^capacity( must be a |=1\.0 can mean one row, or a share of 1)"):
            call()


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_capacity_of_any_precision_is_the_share_that_it_is_written_as(kind):
    """A share of 0.7 of 10 rows was 6 of them in single precision."""
    for tenths in range(1, 10):
        assert check_capacity(kind(tenths / 10)) == Fraction(tenths, 10)
        deferred = apply_deferral(np.arange(1, 11) / 11, costs=0.5, deferral=0.0, capacity=kind(tenths / 10)) == -1
        assert np.count_nonzero(deferred) == tenths - tenths % 2  # of equal gains on either side of a half all or none


def test_a_capacity_in_rows_is_that_share_of_them():
    y, p = np.arange(40) % 2, np.linspace(0.02, 0.98, 40)
    for rule in ("score", "optimal"):
        by_count, by_share = (
            evaluate_deferral(y, p, costs=0.5, deferral=0.0, capacity=each, rule=rule) for each in (10, 0.25)
        )
        assert (by_count.cost, by_count.shares) == (by_share.cost, by_share.shares)
    assert np.sum(apply_deferral(p, costs=0.5, deferral=0.0, capacity=10) == -1) == 10
    assert fit_deferral(y, p, costs=0.5, deferral=0.0, capacity=4).share <= 0.1
    whole = apply_deferral(p, costs=0.5, deferral=0.0, capacity=999)
    assert whole.tolist() == apply_deferral(p, costs=0.5, deferral=0.0).tolist()


@pytest.mark.parametrize("score", [[0.3, 0.7], [0.4, 0.6], [0.2, 0.8], [0.1, 0.9]])
@pytest.mark.parametrize("fee", [0.0, 0.01, 0.05])
def test_rows_of_equal_gain_are_deferred_together(score, fee):
    """In exact fractions the gains are equal on either side of a half, and whole levels join."""
    gains = {min(1 - p, p) / 2 - Fraction(str(fee)) for p in (Fraction(str(each)) for each in score)}
    assert len(gains) == 1
    alone = (np.array(score) >= 0.5).astype(int).tolist()
    both = apply_deferral(score, costs=0.5, deferral=fee, capacity=2).tolist()
    assert apply_deferral(score, costs=0.5, deferral=fee, capacity=1).tolist() == alone
    assert both == ([-1, -1] if gains.pop() > 0 else alone)
    curve = deferral_curve([1, 0], score, costs=0.5, deferral=fee, over="capacity")
    assert len(curve.knots) == 2
    found = evaluate_deferral([0, 1] * 9, score * 9, costs=0.5, deferral=fee, capacity=0.5)
    assert found.shares["deferred"] == 0.0


def deferred_exactly(p, c, fee, capacity):
    """Which rows the levels of largest positive gain that fit the capacity are, all in fractions."""
    p, c, fee = [Fraction(str(each)) for each in p], Fraction(str(c)), Fraction(str(fee))
    gains, mine = [min(c * (1 - each), (1 - c) * each) - fee for each in p], set()
    for level in sorted({gain for gain in gains if gain > 0}, reverse=True):
        if sum(gain >= level for gain in gains) > capacity * len(p):
            break
        mine = {place for place, gain in enumerate(gains) if gain >= level}
    return np.isin(np.arange(len(p)), list(mine))


def test_decisions_and_thresholds_under_a_capacity_are_those_of_exact_fractions():
    rng = np.random.default_rng(0)
    for _ in range(400):
        p = np.round(rng.random(30), 2)
        table, capacity = ScoreTable.from_predictions(rng.random(30) < p, p), Fraction(int(rng.integers(1, 9)), 10)
        c, fee = round(float(rng.uniform(0.05, 0.95)), 2), round(float(rng.uniform(0.0, 0.1)), 3)
        option, exact = costs.Deferral(fee), deferred_exactly(p.tolist(), c, fee, capacity)
        price = capacity_price(table, c, option, capacity)
        assert ((capped_actions(p, c, option, price) == -1) == exact).all()
        assert ((between(p, *decided_at(c, at_capacity(table, c, option, capacity))) == -1) == exact).all()


@pytest.mark.parametrize("shares", [(0.0, 0.0), (0.1, 0.2)])
@pytest.mark.parametrize("capacity", [None, 20])
def test_scores_at_which_deferring_gains_exactly_nothing_are_decided(shares, capacity):
    """The two scores between which deferring pays, in exact fractions, for every fee and cost ratio of two digits."""
    seen = 0
    for fee, c in itertools.product(range(30), range(5, 100, 5)):
        a, b, f, r = (Fraction(str(each)) for each in (*shares, fee / 100, c / 100))
        low, high = (f + a * r) / ((1 - r) * (1 - b) + a * r), (r * (1 - a) - f) / (r * (1 - a) + b * (1 - r))
        if not low < r < high:
            continue
        p = np.repeat([float(low), float(low) + 1e-12, float(high) - 1e-12, float(high)], 5)
        option, known = costs.Deferral(fee / 100, *shares), [0] * 5 + [-1] * 10 + [1] * 5
        assert apply_deferral(p, costs=c / 100, deferral=option, capacity=capacity).tolist() == known
        zone = evaluate_deferral(np.arange(20) % 2, p, costs=c / 100, deferral=option, capacity=capacity).zone
        assert ((p > zone[0]) & (p < zone[1])).tolist() == [each == -1 for each in known]
        seen += 1
    assert seen > 100


@pytest.mark.parametrize("shares", [(0.0, 0.0), (0.1, 0.2)])
def test_the_expected_regret_decides_ties_as_the_decisions_do(shares):
    """Rows whose cost is an exact fraction, at scores of two digits and at the two ends of each zone."""
    a, b = (Fraction(str(each)) for each in shares)
    ties = 0
    for c, fee in itertools.product(range(5, 100, 5), (0, 1, 2, 5, 10)):
        r, f = Fraction(c, 100), Fraction(fee, 100)
        low, high = (f + a * r) / ((1 - r) * (1 - b) + a * r), (r * (1 - a) - f) / (r * (1 - a) + b * (1 - r))
        low, high, ends = (low, high, {low, high} - {0, 1}) if low < r < high else (r, r, set())
        ties += len(ends)
        act, wait, defer = r / 2, (1 - r) / 2, f + (a * r + b * (1 - r)) / 2  # half of the rows are positive
        scores = sorted(ends | {Fraction(k, 20) for k in range(1, 20)})
        wanted = [float(act if p >= high else wait if p <= low else defer) for p in scores]
        y, prob, option = [0, 1] * len(scores), np.repeat(scores, 2).astype(float), costs.Deferral(fee / 100, *shares)
        for kind in (costs.Fixed(c / 100), costs.Empirical([c / 100])):
            rows = expected_regret(y, prob, costs=kind, deferral=option, per_sample=True)
            assert rows.reshape(-1, 2).mean(axis=1) == pytest.approx(wanted, abs=1e-12)
            found = evaluate_deferral(y, prob, costs=kind, deferral=option)
            assert found.cost == pytest.approx(np.mean(wanted), abs=1e-12)
            assert found.shares["deferred"] == pytest.approx(np.mean([low < p < high for p in scores]), abs=1e-12)
    assert ties > 20


def test_intervals_of_shares_end_at_none_and_at_all():
    p = np.linspace(0.01, 0.99, 40)
    found = evaluate_deferral(np.arange(40) % 2, p, costs=0.5, deferral=0.01).estimates
    assert found["deferred"].value == 0.95
    assert found["deferred"].interval[1] == 1.0
    assert found["act"].interval[0] == 0.0


def test_losses_over_cost_distributions_of_the_oracle(actions_reference):
    """Acceptance 3: 252 rows of both classes by 30-digit quadrature of the definition."""
    rows = actions_reference["deferral"]["distribution"]
    for kind, low, high, fee, a, b, p, negative, positive in rows:
        spread = costs.Deferral(fee, a, b).applied_to(DENSITIES[kind](low, high))
        found = float(spread.negative_loss(p)), float(spread.positive_loss(p))
        assert found == pytest.approx((negative, positive), abs=1e-12)
    assert len(rows) == 252


@pytest.mark.parametrize("measure", [costs.Uniform(0.1, 0.4), costs.LogOddsUniform(0, 1), costs.Beta(2, 5)])
def test_a_fee_too_high_changes_no_bit(measure):
    p = np.concatenate([np.linspace(0, 1, 1001), [-np.inf, np.inf]])
    spread = costs.Deferral(0.25).applied_to(measure)
    assert np.array_equal(spread.negative_loss(p), measure.negative_loss(p))
    assert np.array_equal(spread.positive_loss(p), measure.positive_loss(p))


@pytest.mark.parametrize(("fee", "a", "b", "p"), [(0.05, 0, 0, 0.25), (0.02, 0.1, 0.05, 0.4), (0.01, 0.3, 0.2, 0.9)])
def test_losses_are_integrals_of_the_cheapest_action(fee, a, b, p):
    spread = costs.Deferral(fee, a, b).applied_to(costs.Uniform(0, 1))
    found = float(spread.negative_loss(p)), float(spread.positive_loss(p))
    assert found == pytest.approx([brute_loss(p, y, fee, a, b) for y in (0, 1)], abs=1e-6)


def test_brier_score_is_the_bill_of_who_may_defer_at_an_unknown_price():
    """Acceptance 4: c = 1/2, fee uniform on (0, 1/2), costs doubled."""
    rng = np.random.default_rng(0)
    p, y = np.round(rng.random(60), 2), rng.integers(0, 2, 60)
    weight = rng.integers(1, 4, 60)
    table = ScoreTable.from_predictions(y, p, sample_weight=weight)
    knots = np.unique(np.concatenate([[0.0, 0.25], np.minimum(p, 1 - p) / 2]))
    # between knots the cost is linear in the fee: its middle value is its mean
    bill = [expected_regret(table, costs=0.5, deferral=fee) for fee in (knots[1:] + knots[:-1]) / 2]
    assert 4 * 2 * np.dot(bill, np.diff(knots)) == pytest.approx(np.average((p - y) ** 2, weights=weight), abs=1e-12)


fees, rates = st.floats(0, 0.3), st.floats(0, 1)


@example(fee=0.25, a=1.0, b=5e-324, low=0.25, width=0.25)
@given(fee=fees, a=rates, b=rates, low=st.floats(0.01, 0.5), width=st.floats(0.01, 0.4))
def test_the_option_spreads_the_costs_and_keeps_their_mass_and_mean(fee, a, b, low, width):
    for measure in (costs.Uniform(low, low + width), costs.Empirical([low, low + width], [1, 2])):
        spread = costs.Deferral(fee, a, b).applied_to(measure)
        assert spread.mass == pytest.approx(measure.mass, rel=1e-12)
        assert spread.mean() == pytest.approx(measure.mean(), rel=1e-9)
        assert 0.0 <= spread.low <= measure.low
        assert measure.high <= spread.high <= 1.0


@given(fee=fees, a=rates, b=rates, p=st.floats(0, 1))
def test_many_atoms_cost_what_each_of_them_does(fee, a, b, p):
    deferral, values = costs.Deferral(fee, a, b), [0.1, 0.2, 0.5, 0.9]
    together = deferral.applied_to(costs.Empirical(values))
    alone = [deferral.applied_to(costs.Fixed(c)) for c in values]
    assert float(together.negative_loss(p)) == pytest.approx(np.mean([w.negative_loss(p) for w in alone]), abs=1e-14)
    assert float(together.positive_loss(p)) == pytest.approx(np.mean([w.positive_loss(p) for w in alone]), abs=1e-14)


def test_density_draws_and_description_are_those_of_the_losses():
    measure = costs.Deferral(0.02, 0.1, 0.05).applied_to(costs.Beta(2, 5))
    assert quad(lambda s: s * float(measure.density(s)), 0.2, 0.35)[0] == pytest.approx(
        float(measure.negative_loss(0.35) - measure.negative_loss(0.2)), abs=1e-9
    )
    drawn = measure.sample(200_000, random_state=0)
    assert np.mean(np.where(drawn < 0.3, drawn, 0)) == pytest.approx(float(measure.negative_loss(0.3)), abs=1e-3)
    again = costs.CostDistribution.from_dict(json.loads(json.dumps(measure.to_dict())))
    assert again == measure
    assert float(measure.flip().negative_loss(0.7)) == pytest.approx(float(measure.positive_loss(0.3)), abs=1e-14)


def test_decomposition_of_a_loss_with_deferral():
    rng = np.random.default_rng(1)
    p = rng.beta(1, 3, 500)
    y = rng.random(500) < p**1.5
    found = decompose(y, p, costs=costs.Deferral(0.03).applied_to(costs.Uniform(0.1, 0.5)))
    assert min(found.miscalibration, found.discrimination) >= 0.0
    assert found.score == pytest.approx(expected_regret(y, p, costs=(0.1, 0.5), deferral=0.03))


def test_pair_of_a_million_rows_is_found_in_a_third_of_a_second():
    p = np.random.default_rng(0).random(1_000_000)
    y = np.random.default_rng(1).random(1_000_000) < p
    table = ScoreTable.from_predictions(y, p)
    spent = []
    for _ in range(3):
        start = time.process_time()
        best_pair(table, 0.2, costs.Deferral(0.05))
        spent.append(time.process_time() - start)
    assert min(spent) < 0.3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: costs.Deferral(-0.1), "fee must be a finite number >= 0, got -0.1"),
        (lambda: costs.Deferral(0, 1.2), r"false_positive_rate must lie in \[0, 1\], got 1.2"),
        (lambda: costs.as_deferral("0.1"), "deferral must be a number, got '0.1'"),
        (lambda: costs.Deferral.from_cost(1, fp=0, fn=0), "fp and fn must be finite numbers >= 0, not both zero"),
        (
            lambda: fit_deferral([0, 1], [0.1, 0.2], costs=0.2, deferral=0.1, capacity=1.5),
            "capacity must be a count",
        ),
        (lambda: expected_regret([0, 1], [0.1, 0.2], costs=0.2, deferral=0.1, rule=0.3), 'deferral needs rule="score"'),
        (lambda: costs.Deferral(0.1).applied_to(costs.Uniform(0, 1)).restrict(0, 0.5), "restrict them first"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_pair_defers_from_its_low_end_on_and_acts_from_its_high_end_on():
    assert between(np.array([0.39, 0.4, 0.79, 0.8, 1.0]), 0.4, 0.8).tolist() == [0, -1, -1, 1, 1]
    assert between(np.array([0.39, 0.4]), 0.4, 0.4).tolist() == [0, 1]


def test_a_fee_as_high_as_what_it_can_save_defers_nobody_whatever_the_rounding():
    p = np.arange(1, 100) / 100
    for skill, wrong in ((1.0, 0.0), (0.5, 0.25)):
        for k, most in enumerate(p * (1.0 - p) * skill):
            for fee in (most, np.nextafter(most, 0.0), np.nextafter(most, 1.0)):
                option = costs.Deferral(fee, wrong, wrong)
                low, high, deferred = option.deferred_between(p[k])
                assert (low, high, bool(deferred)) == (p[k], p[k], False)
                assert option.zone(p[k]) == (p[k], p[k])
            less = costs.Deferral(most * (1.0 - 1e-12), wrong, wrong)
            assert less.deferred_between(p[k])[2]
            assert less.zone(p[k])[0] < p[k]


def test_fees_that_make_deferral_free_or_useless_are_said():
    assert "is free and never wrong" in costs.Deferral().note_at(0.2)
    assert costs.Deferral(0.16).note_at(0.2).endswith("below 0.16, and it is 0.16")
    assert "at any fee" in costs.Deferral(0.01, 0.6, 0.5).note_at(0.2)
    assert "costs nothing there" in costs.Deferral(0.01).note_at(0.0)
    assert costs.Deferral(0.05).note_at(0.2) == ""


@pytest.mark.parametrize("bad", [[0.2, float("nan")], ["0.2", "0.3"], None, [[0.1, 0.2, 0.7]]])
def test_a_pair_decides_no_scores_that_are_none(bad):
    pair = fit_deferral([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8], costs=0.5, deferral=0.1)
    with pytest.raises(ValueError, match="y_prob"):
        pair.predict(bad)


@pytest.mark.parametrize("fee", [3.0, 1e20, 1e308])
def test_fee_beyond_every_mistake_leaves_the_best_single_threshold(fee):
    y, p = [0, 1, 0, 1, 0, 1, 1], [0.1, 0.4, 0.4, 0.8, 0.35, 0.3, 0.05]
    c = 0.3
    cuts = [*sorted(set(p)), math.inf]
    best = min(sum(c * (s >= t) if not k else (1 - c) * (s < t) for k, s in zip(y, p, strict=True)) for t in cuts) / 7
    found = fit_deferral(y, p, costs=c, deferral=fee)
    assert found.share == 0.0
    assert found.cost == pytest.approx(best, abs=1e-15)


@given(fee=fees, a=rates, b=rates, p=st.floats(0.01, 0.99))
def test_what_atoms_cost_where_they_are_deferred_is_that_of_the_cheapest_action(fee, a, b, p):
    values, weights = [0.07, 0.21, 0.53, 0.88], [1.0, 2.0, 3.0, 0.5]
    act = [c * (1.0 - p) for c in values]
    leave = [(1.0 - c) * p for c in values]
    ask = [fee + a * c * (1.0 - p) + b * (1.0 - c) * p for c in values]
    if any(
        abs(x - y) < 1e-9 for three in zip(act, leave, ask, strict=True) for x, y in itertools.combinations(three, 2)
    ):
        return  # whoever is indifferent may do either
    deferred = [x < min(y, z) for x, y, z in zip(ask, act, leave, strict=True)]
    acted = [not x and y < z for x, y, z in zip(deferred, act, leave, strict=True)]
    shares = np.array(weights) / sum(weights)
    known = [
        float(shares @ (np.array(deferred) * values)),
        float(shares @ (np.array(deferred) * np.subtract(1.0, values))),
        float(shares @ np.array(acted)),
    ]
    for law, factor in ((costs.Empirical(values, weights), 1.0), (3 * costs.Empirical(values, weights), 3.0)):
        found = costs.Deferral(fee, a, b).where_deferred(law, [p])
        assert [float(each[0]) for each in found] == pytest.approx([factor * each for each in known], abs=1e-12)


@pytest.mark.parametrize("tie", [0.0, 0.25, 1.0])
def test_the_share_acted_on_is_that_of_ties_where_deferring_never_pays(tie):
    law = costs.Empirical([0.2, 0.5], [1.0, 3.0], tie=tie) + costs.Fixed(0.5, tie=1.0 - tie)
    _, _, acted = costs.Deferral(fee=0.4).where_deferred(law, [0.1, 0.2, 0.5, 0.6])
    assert acted == pytest.approx([0.0, 0.25 * tie, 0.25 + 0.75 * tie + 1.0 - tie, 2.0], abs=1e-15)
    found = evaluate_deferral([0, 1, 1], [0.5, 0.5, 0.2], costs=costs.Empirical([0.5], tie=tie), deferral=0.4)
    assert found.shares["act"] == pytest.approx(2 / 3 * tie)


def test_smallest_of_a_window_is_the_last_of_equals():
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 40, 200):
        values = rng.integers(0, 4, n).astype(float)
        first = np.maximum.accumulate(np.maximum(np.arange(n) - rng.integers(3, 20, n), 0))
        known = [max(range(a, b + 1), key=lambda k: (-values[k], k)) for b, a in enumerate(first.tolist())]
        assert _window_argmin(values, first).tolist() == known


@pytest.mark.parametrize("share", [0.29, 0.57, 0.58, 0.07, 0.14])
def test_a_share_of_the_rows_is_read_as_it_is_written(share):
    rows = round(100 * share)
    score = np.random.default_rng(0).permutation(np.linspace(0.01, 0.49, 100))
    assert np.sum(apply_deferral(score, costs=0.5, deferral=0.0, capacity=share) == -1) == rows
    y = np.arange(100) % 2 == 0
    found = evaluate_deferral(y, score, costs=0.5, deferral=0.0, capacity=share)
    assert found.shares["deferred"] == pytest.approx(rows / 100, abs=1e-12)
    mistaken = [1] * (rows // 2) + [0] * (rows - rows // 2)  # without a mistake if all of these are deferred
    labels = [0] * 20 + mistaken + [1] * (80 - rows)
    pair = fit_deferral(labels, np.arange(100.0) / 99, costs=0.5, deferral=0.0, capacity=share)
    assert (pair.cost, pair.share) == (0.0, rows / 100)
    assert rows_within(check_capacity(share), 100.0) == rows


def test_a_share_of_weighted_rows_is_rounded_down_to_a_double():
    rng = np.random.default_rng(1)
    for share, total in zip(rng.random(500).round(3).tolist(), rng.random(500).tolist(), strict=True):
        found, exact = rows_within(Fraction(repr(share)), total), Fraction(repr(share)) * Fraction(total)
        assert Fraction(found) <= exact < Fraction(np.nextafter(found, 2.0))


@pytest.mark.parametrize(
    ("rows", "asked", "cost"),
    [
        (([0, 1, 1, 1, 0], [0.75, 0.75, 0.0, 0.75, 0.25], [0.1, 0.5, 0.2, 0.5, 0.1]), (0.3, 0.0), 0.0),
        (([0, 1, 0], [0.75, 0.25, 0.25], [0.1 * 3, 0.1, 0.2]), (0.2, costs.Deferral(0.02, 0.3, 0.3)), 0.11),
    ],
)
def test_a_pair_that_defers_every_weighted_row_can_be_kept_and_read(rows, asked, cost):
    y, score, weight = rows
    pair = fit_deferral(y, score, costs=asked[0], deferral=asked[1], sample_weight=weight)
    assert (pair.cost, pair.share) == (pytest.approx(cost, abs=1e-15), 1.0)
    assert DeferralPair.from_json(pair.to_json()) == pair


def test_no_weights_defer_more_than_all_rows_or_cost_less_than_nothing():
    rng = np.random.default_rng(0)
    for _ in range(300):
        y, weight, score = (rng.integers(low, high, 5) for low, high in ((0, 2), (1, 9), (0, 4)))
        pair = fit_deferral(y, score / 4, costs=0.3, deferral=0.0, sample_weight=weight / 10, pos_label=1)
        assert pair.cost >= 0.0, (y, weight, score)
        assert 0.0 <= pair.share <= 1.0, (y, weight, score)


@pytest.mark.parametrize("over", ["capacity", "coverage"])
def test_the_best_pairs_are_offered_over_the_fee_only(over):
    with pytest.raises(ValueError, match=f'^rule="optimal" is offered over="fee" only, got over=\'{over}\''):
        deferral_curve([0, 1, 1], [0.2, 0.4, 0.9], costs=0.3, over=over, rule="optimal")


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e7 / 3.0])
@pytest.mark.parametrize("seed", [6, 7, 10, 16, 32])
def test_of_pairs_that_only_rounding_tells_apart_the_one_is_found_that_defers_fewest(seed, scale):
    """Levels whose rows cost as much deferred as not acted on, or as acted on, in exact fractions."""
    rng = np.random.default_rng(seed)
    kinds = np.array([[30, 1], [6, 1], [2, 2], [1, 2], [1, 9]])[np.sort(rng.integers(0, 5, 9))]
    n0, n1 = (rng.integers(1, 9, 9) * kinds.T).tolist()
    edges = [*(np.arange(1, 10) / 10).tolist(), math.inf]
    weight = scale * np.ravel([n0, n1], order="F")
    pair = fit_deferral([0, 1] * 9, np.repeat(edges[:9], 2), costs=0.3, deferral=0.1, sample_weight=weight)
    known = []
    for i, j in itertools.combinations_with_replacement(range(10), 2):
        mass = sum(n0[i:j] + n1[i:j])
        known.append((Fraction(7, 10) * sum(n1[:i]) + Fraction(1, 10) * mass + Fraction(3, 10) * sum(n0[j:]), mass, j))
    cost, mass, j = min(known)
    total = sum(n0 + n1)
    assert (pair.cost, pair.share) == pytest.approx((float(cost / total), mass / total), rel=1e-9)
    assert pair.high == edges[j]
    assert pair.unique == (sum(each[:2] == (cost, mass) for each in known) == 1)


@pytest.mark.parametrize("fee", [0.0, 0.01, 0.5])
def test_a_pair_is_read_as_it_was_written_whatever_it_defers(fee):
    pair = fit_deferral([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8], costs=0.5, deferral=fee)
    assert pair.share == {0.0: 0.5, 0.01: 0.5, 0.5: 0.0}[fee]
    assert DeferralPair.from_json(pair.to_json()) == pair


@pytest.mark.parametrize(("cost", "share"), [(0.1, 1.2), (0.1, -0.1), (-0.1, 0.5)])
def test_a_pair_of_an_impossible_cost_or_share_is_refused(cost, share):
    pair = DeferralPair(0.2, 0.6, cost, share, unique=True)
    with pytest.raises(ValueError, match=r"share must be in \[0, 1\], and cost a number >= 0"):
        DeferralPair.from_json(pair.to_json())


@pytest.mark.parametrize("over", ["fee", "capacity"])
def test_a_score_at_the_cost_ratio_acts_on_a_curve_too(over):
    # acting on all four costs 0.2 for each of three negatives; not acting would cost 0.8 for the positive
    curve = deferral_curve([0, 0, 0, 1], [0.2] * 4, costs=0.2, deferral=0.01, over=over)
    assert curve.references["decide all"].at([0.0]) == pytest.approx([0.15], abs=1e-15)
    assert len(curve.slope) == len(curve.knots) - 1
    if over == "capacity":
        assert curve.at([0.0, 0.5, 1.0]) == pytest.approx([0.15, 0.15, 0.01], abs=1e-15)
    else:
        assert curve.at([0.0, 0.08, curve.knots[-1]]) == pytest.approx([0.0, 0.08, 0.15], abs=1e-15)


@pytest.mark.parametrize("c", [0.1, 0.25, 0.8])
def test_the_curve_over_the_fee_ends_where_no_case_is_worth_its_fee(c):
    # the surest gain is that of a score at c, which saves c (1 - c) of expected cost
    curve = deferral_curve([0, 1, 0, 1], [0.1, 0.6, 0.3, 0.9], costs=c, deferral=costs.Deferral(0.0, 0.2, 0.1))
    assert curve.knots[-1] == pytest.approx(c * (1.0 - c), abs=1e-15)
    # half of the rows are negative, of which a fifth are mistaken, and a tenth of the positives
    errors, fees = 0.5 * 0.2 * c + 0.5 * 0.1 * (1.0 - c), np.array([0.0, 0.05, curve.knots[-1]])
    assert curve.references["defer all"].at(fees) == pytest.approx(errors + fees, abs=1e-15)
    assert curve.at([curve.knots[-1]]) == pytest.approx(curve.references["decide all"].at([0.0]), abs=1e-15)


def test_a_row_that_gains_nothing_is_not_deferred_on_the_curve_over_the_capacity():
    # at the fee 0.2 (1 - 0.2) a score of 0.2 gains nothing: acting costs 0.15 here, and deferring would cost 0.16
    curve = deferral_curve([0, 0, 0, 1], [0.2] * 4, costs=0.2, deferral=0.16, over="capacity")
    assert curve.at([0.0, 0.5, 1.0]) == pytest.approx([0.15] * 3, abs=1e-15)
