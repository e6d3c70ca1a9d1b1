"""Curves over the fee, the capacity and the coverage, and the areas under risk-coverage curves."""

import time

import numpy as np
import pytest

from stakes import ScoreTable, expected_regret
from stakes.actions import deferral_curve, evaluate_deferral, fit_deferral, risk_coverage_score
from stakes.actions._deferral import _discrete, area, by_confidence
from stakes.costs import Deferral


def simulated(n, seed, decimals=2):
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(1, 2, n), decimals)
    return (rng.random(n) < p**1.3).astype(int), p


def test_areas_of_the_oracle(actions_reference):
    """Acceptance 5: integrals by quadrature; the discrete form by every order of the ties."""
    discrete = 0
    for case in actions_reference["deferral"]["risk_coverage"]:
        conf, w = np.array(case["conf"]), np.array(case["w"])
        mass, loss = by_confidence(conf, w, w * np.array(case["loss"]))
        assert area(mass, loss, generalized=False) == pytest.approx(case["aurc"], abs=1e-12)
        assert area(mass, loss, generalized=True) == pytest.approx(case["augrc"], abs=1e-12)
        knots = np.column_stack([np.cumsum(mass) / mass.sum(), np.cumsum(loss) / np.cumsum(mass)])
        assert knots == pytest.approx(np.array(case["curve"]), abs=1e-12)
        if "aurc_discrete" in case:
            discrete += 1
            assert _discrete(mass, loss) == pytest.approx(case["aurc_discrete"], abs=1e-12)
    assert discrete == 5


@pytest.mark.parametrize("costs", [None, 0.2, (0.1, 0.4)])
def test_area_knows_no_order_and_no_copies(costs):
    y, p = simulated(300, 0)
    weight = np.random.default_rng(1).integers(1, 4, 300)
    value = risk_coverage_score(y, p, costs=costs, sample_weight=weight)
    order = np.random.default_rng(2).permutation(300)
    assert risk_coverage_score(y[order], p[order], costs=costs, sample_weight=weight[order]) == pytest.approx(
        value, abs=1e-13
    )
    assert risk_coverage_score(np.repeat(y, weight), np.repeat(p, weight), costs=costs) == pytest.approx(
        value, abs=1e-13
    )
    twice = risk_coverage_score(np.tile(y, 2), np.tile(p, 2), costs=costs, sample_weight=np.tile(weight, 2))
    assert twice == pytest.approx(value, abs=1e-13)


def test_area_is_the_integral_of_the_curve_and_ends_at_the_cost_of_deciding_all():
    y, p = simulated(300, 3)
    curve = deferral_curve(y, p, costs=0.2, over="coverage")
    assert curve.integral() == pytest.approx(risk_coverage_score(y, p, costs=0.2), abs=1e-12)
    assert float(curve.at(1.0)) == pytest.approx(expected_regret(y, p, costs=0.2))


def test_area_of_error_rates_by_the_definition():
    """Scores apart from each other: the mean over k of the error rate of the k rows with the largest max(p, 1 - p)."""
    rng = np.random.default_rng(4)
    p = rng.random(50)
    y = (rng.random(50) < p).astype(int)
    wrong = ((p >= 0.5) != y)[np.argsort(-np.maximum(p, 1 - p))]
    by_hand = np.mean(np.cumsum(wrong) / np.arange(1, 51))
    assert risk_coverage_score(y, p, discrete=True) == pytest.approx(by_hand, abs=1e-14)


@pytest.mark.parametrize("rule", ["score", "optimal"])
@pytest.mark.parametrize("rates", [(0, 0), (0.1, 0.05)])
def test_curve_over_the_fee_is_the_cost_at_each_fee(rule, rates):
    y, p = simulated(120, 5)
    curve = deferral_curve(y, p, costs=0.25, deferral=Deferral(0.3, *rates), rule=rule)
    inner = curve.knots[1:-1]
    fees = np.concatenate([curve.knots, (curve.knots[1:] + curve.knots[:-1]) / 2])
    for fee in fees:
        if rule == "score" and np.min(np.abs(inner - fee)) < 1e-12:
            continue  # deferring and deciding are expected to cost the same there, and rounding chooses
        cost = expected_regret(y, p, costs=0.25, deferral=Deferral(float(fee), *rates), rule=rule)
        assert float(curve.at(fee)) == pytest.approx(cost, abs=1e-13)


def test_best_cost_is_concave_in_the_fee_and_its_slope_is_the_share():
    y, p = simulated(200, 6)
    curve = deferral_curve(y, p, costs=0.2, rule="optimal")
    assert np.all(np.diff(curve.slope) < 0.0)
    assert float(curve.at(0.0)) == pytest.approx(0.0, abs=1e-15)
    assert float(curve.at(0.16)) == pytest.approx(expected_regret(y, p, costs=0.2, rule="optimal"))
    middle = (curve.knots[3] + curve.knots[4]) / 2
    assert curve.slope[3] == pytest.approx(fit_deferral(y, p, costs=0.2, deferral=middle).share)


def test_price_curve_and_coverage_curve_are_duals():
    """Section 1.7: with calibrated scores the cost at a fee d is the least over shares of L(share) + d (1 - share)."""
    y, p = simulated(300, 7)
    table = ScoreTable.from_predictions(y, p).recalibrated()
    price = deferral_curve(table, costs=0.2)
    risk = deferral_curve(table, costs=0.2, over="coverage")
    share = np.concatenate([[0.0], risk.knots[1:]])
    lost = np.concatenate([[0.0], risk.knots[1:] * risk.at(risk.knots[1:])])
    for fee in (0.0, 0.01, 0.05, 0.1, 0.15):
        assert float(price.at(fee)) == pytest.approx(np.min(lost + fee * (1 - share)), abs=1e-13)


def test_curve_over_the_capacity_is_the_cost_under_each():
    y, p = simulated(150, 8)
    option = Deferral(0.02, 0.05, 0.1)
    curve = deferral_curve(y, p, costs=0.2, deferral=option, over="capacity")
    for cap in (0.05, 0.1, 0.33, 0.5, None):
        found = evaluate_deferral(y, p, costs=0.2, deferral=option, capacity=cap)
        assert float(curve.at(1.0 if cap is None else cap)) == pytest.approx(found.cost, abs=1e-13)


def test_curve_over_the_fee_of_a_million_rows_takes_a_second_at_most():
    p = np.random.default_rng(9).random(1_000_000)
    table = ScoreTable.from_predictions(p < 0.3, p)
    start = time.process_time()
    deferral_curve(table, costs=0.2).at(np.linspace(0, 0.16, 100))
    assert time.process_time() - start < 1.0


def weighted(y, p, first):
    return ScoreTable.from_predictions(y, p, sample_weight=np.where(np.arange(len(y)) == 0, first, 1.0))


def test_the_discrete_area_of_a_table_is_that_of_its_rows():
    y, p = simulated(20, 0)
    found = risk_coverage_score(ScoreTable.from_predictions(y, p), discrete=True)
    assert found == risk_coverage_score(weighted(y, p, 1.0), discrete=True) == risk_coverage_score(y, p, discrete=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, p: deferral_curve(y, p, costs=0.2, over="price"), "over must be one of"),
        (lambda y, p: deferral_curve(y, p, costs=0.0), r"costs must lie in \(0, 1\)"),
        (
            lambda y, p: deferral_curve(y, p, costs=0.2, over="capacity", rule="optimal"),
            'rule="optimal" is offered over="fee"',
        ),
        (lambda y, p: risk_coverage_score(y, p, discrete=True, sample_weight=np.ones(20)), "discrete=True counts rows"),
        (lambda y, p: risk_coverage_score(weighted(y, p, 0.5), discrete=True), "discrete=True counts rows"),
        (lambda y, p: risk_coverage_score(weighted(y, p, 2.0), discrete=True), "discrete=True counts rows"),
        (lambda y, p: risk_coverage_score(y, p, discrete=True, generalized=True), "cannot both be True"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call(*simulated(20, 0))


@pytest.mark.parametrize("weight", [1e-30, 1e-100, 1e-130])
@pytest.mark.parametrize("generalized", [False, True])
def test_surest_row_of_next_to_no_weight_adds_next_to_nothing(weight, generalized):
    y, p = np.array([0, 1, 0, 1]), np.array([0.01, 0.8, 0.3, 0.4])
    light = risk_coverage_score(y, p, sample_weight=[weight, 1.0, 2.0, 1.0], generalized=generalized)
    rest = risk_coverage_score(y[1:], p[1:], sample_weight=[1.0, 2.0, 1.0], generalized=generalized)
    assert light == pytest.approx(rest, rel=1e-12)
