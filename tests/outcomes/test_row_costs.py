"""Costs per row: the simulated money of every decision, published values of empulse, and what refuses amounts."""

import json
import math
from itertools import product

import numpy as np
import pytest

from stakes import (
    RowCosts,
    ScoreTable,
    TimeToEvent,
    bounded_brier_loss,
    compare,
    evaluate,
    expected_regret,
    metric_interval,
    net_benefit_score,
    precision_recall_curve,
    reliability_curve,
    roc_curve,
)
from stakes.inference import calibration_summary, confidence_band, money, threshold_intervals
from stakes.metrics import METRICS, roc_auc_score, top_k_scores
from stakes.outcomes import RowDecisions, decide_rows
from stakes.outcomes._row_costs import dominated
from stakes.utility import population_threshold

AMOUNTS, LONG = np.array([100.0, 50.0]), np.arange(1000.0)


def simulated(y, p, matrix, factor):
    """What each row costs where it is acted on exactly if that is cheaper by expectation."""
    total = 0.0
    for k, (positive, prob) in enumerate(zip(y, p, strict=True)):
        tn, fp, fn, tp = (float(np.broadcast_to(part, len(y))[k]) for part in matrix)
        act = prob * (fn - tp) >= factor * (1 - prob) * (fp - tn)
        if positive:
            total += tp if act else fn
        else:
            total += tn + (factor * (fp - tn) if act else 0.0)
    return total


def random_case(seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 3, 50)
    p[:2] = 0.0, 1.0
    y = rng.random(50) < p
    return y, p, (rng.normal(0, 2, 50), 20 + rng.random(50), rng.lognormal(4, 1, 50) + 5, rng.random(50))


@pytest.mark.parametrize("factor", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("seed", [1, 2])
def test_money_of_the_table_is_that_of_every_decision(seed, factor):
    y, p, matrix = random_case(seed)
    outcome, c = RowCosts(y, matrix=matrix), factor / (1 + factor)
    expected = simulated(y, p, matrix, factor)
    found = outcome.base + outcome.at_stake * expected_regret(outcome, p, costs=c) / (1 - c)
    assert found == pytest.approx(expected, abs=1e-9)
    result = money(outcome, p, factor=factor, per=len(y))
    assert result.cost.value == pytest.approx(expected, abs=1e-9)
    gain = outcome.at_stake * net_benefit_score(outcome, p, threshold=c)
    assert result.gain.value == pytest.approx(gain, abs=1e-9)
    acted = outcome.scores(p) >= c
    assert np.array_equal(acted, p >= outcome.thresholds(factor))


KEPT_SEED = 20261122  # of the kept reference values

# empulse 0.13.1: cost_loss and savings_score on the cases of the reference
PUBLISHED = {
    "fraud": (155.0, 0.225),
    "credit": (809.652, 0.25328006286210725),
    "constant": (13.0, 0.45833333333333337),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_costs_and_savings_are_those_of_empulse(outcomes_reference, name):
    case, expected = outcomes_reference["inputs"]["money"][name], outcomes_reference["expected"]["money"][name]
    outcome = RowCosts(case["y"], matrix=(case["tn"], case["fp"], case["fn"], case["tp"]))
    found = money(outcome, case["p"], per=len(case["y"]))
    simulated = expected["factor=1.0"]
    assert found.cost.value == pytest.approx(simulated["cost_total"], rel=1e-12)
    assert found.savings.value == pytest.approx(simulated["savings"], rel=1e-12)
    if outcomes_reference["seed"] == KEPT_SEED:
        assert (found.cost.value, found.savings.value) == pytest.approx(PUBLISHED[name], rel=1e-12)
    per_row = money(outcome, case["p"], per=1)
    up = math.sqrt(len(case["y"]) / (len(case["y"]) - 1))
    assert per_row.gain.standard_error / up == pytest.approx(expected["factor=1.0"]["se_gain_per_row"], rel=1e-12)
    assert per_row.acted == pytest.approx(expected["factor=1.0"]["acted"] / len(case["y"]))


def test_error_of_savings_is_the_jackknifes():
    y, p, matrix = random_case(3)
    y, p, matrix = np.tile(y, 4), np.tile(p, 4), tuple(np.tile(part, 4) for part in matrix)
    keep = ~np.eye(200, dtype=bool)
    left_out = [money(RowCosts(y[k], matrix=tuple(part[k] for part in matrix)), p[k]).savings.value for k in keep]
    by_jackknife = math.sqrt(199 / 200 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    found = money(RowCosts(y, matrix=matrix), p).savings
    assert found.standard_error == pytest.approx(by_jackknife, rel=0.03)


def test_few_large_amounts_have_no_interval():
    y, p = [0, 1] * 50, [0.1, 0.3] * 50
    amounts = np.ones(100)
    amounts[1] = 1000.0
    found = money(RowCosts(y, false_positive=1, false_negative=amounts), p)
    assert math.isnan(found.gain.interval[0])
    assert "the amounts of about 1 rows decide" in found.gain.note


def test_set_aside_rows_cost_what_their_decision_costs():
    rows = {"false_positive": [5, -2, 5, 5], "false_negative": [50, 50, 50, -3]}
    outcome = RowCosts([0, 0, 1, 1], **rows, on_dominated="set_aside")
    # row 1 is acted on and gains 2, row 3 is not acted on and gains 3
    assert (outcome.n_set_aside, outcome.base, outcome.at_stake) == (2, -5.0, 55.0)
    assert np.isnan(outcome.thresholds()[[1, 3]]).all()
    with pytest.raises(ValueError, match="factor must be 1 where rows are set aside"):
        money(outcome, [0.1, 0.2, 0.3, 0.4], factor=2.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"false_positive": [5, -2], "false_negative": 5}, "acting never hurts in 1 rows and never helps in 0"),
        ({"false_positive": [5, 2], "false_negative": [5, -1]}, "never helps in 1, the first at index 1"),
        ({"false_positive": -1, "false_negative": -1}, "transposed or the labels are swapped"),
        ({"false_positive": 0, "false_negative": 0}, "nothing is at stake"),
        ({"false_positive": 1}, "belong together"),
        ({}, "either false_positive= and false_negative=, or matrix="),
        ({"matrix": (0, 1, 1, 0), "false_positive": 1}, "either false_positive= and false_negative=, or matrix="),
        ({"matrix": (0, 1, 1)}, "matrix must hold four entries"),
        ({"matrix": (0, 1, AMOUNTS)}, r"matrix must hold four entries, \(tn, fp, fn, tp\), got \(0, 1, array"),
        ({"matrix": [[0, 15], [100, 0]]}, r"got shape \(2, 2\): .*it is matrix=\(0, 15, 100, 0\)"),
        ({"matrix": np.array([[0, 15], [100, 0]])}, r"got shape \(2, 2\): .*it is matrix=\(0, 15, 100, 0\)"),
        ({"matrix": [[0, 15], [AMOUNTS, 0]]}, r"it is matrix=\(0, 15, array\(\[100., +50.\]\), 0\)"),
        ({"matrix": {"tn": 0, "fp": 1}}, "matrix must hold four entries, .* got {'tn': 0, 'fp': 1}"),
        ({"matrix": [[0, [1, 2]], [LONG, 0]]}, r"it is matrix=\(0, \[1, 2\], ndarray, 0\)"),
        ({"matrix": np.array(3)}, r"matrix must hold four entries, \(tn, fp, fn, tp\), got array\(3\)"),
        ({"false_positive": 1, "false_negative": 1, "unit": None}, "unit must be text, got None"),
        ({"false_positive": 1, "false_negative": 1, "unit": 1000}, "unit must be text, got 1000"),
        ({"false_positive": [1, 2, 3], "false_negative": 1}, "one for each of the 2 rows"),
        ({"false_positive": [1, math.inf], "false_negative": 1}, "must be finite, got inf at index 1"),
    ],
)
def test_bad_amounts_are_refused_with_a_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        RowCosts([0, 1], **given)


def test_matrix_that_is_transposed_is_refused_whatever_becomes_of_dominated_rows():
    rows = {"false_positive": [5, -1, 5], "false_negative": [5, -1, -5]}
    with pytest.raises(ValueError, match=r"in 1 rows, the first at index 1: the matrix is transposed"):
        RowCosts([0, 1, 1], **rows, on_dominated="set_aside")


def test_rows_with_nothing_at_stake_count_for_nothing():
    outcome = RowCosts([0, 1, 0, 1], false_positive=[5, 0, 0, 5], false_negative=[50, 0, 0, 20])
    assert outcome.weight.tolist() == [5, 0, 0, 20]
    without = RowCosts([0, 1], false_positive=[5, 5], false_negative=[50, 20])
    p = np.array([0.1, 0.9, 0.8, 0.3])
    assert expected_regret(outcome, p, costs=0.5) == expected_regret(without, p[[0, 3]], costs=0.5)


def test_amounts_on_censored_follow_up_multiply_weights():
    rows = {"event": [1, 0, 1, 0, 0, 1] * 20, "time": np.arange(120) % 7 + 1.0, "horizon": 4}
    inner = TimeToEvent(**rows)
    amount = np.linspace(10, 50, 120)
    outcome = RowCosts(inner, false_positive=3, false_negative=amount)
    assert outcome.weight == pytest.approx(inner.weight * np.where(inner.y, amount, 3))
    p = np.tile([0.2, 0.05, 0.4], 40)
    assert outcome.estimated
    # the derivative of the mean cost to the weight of every row, by small steps
    step, slope = 1e-5, np.empty(120)
    for i in range(120):
        ends = []
        for sign in (1, -1):
            weight = np.ones(120)
            weight[i] += sign * step
            nested = RowCosts(TimeToEvent(**rows, sample_weight=weight), false_positive=3, false_negative=amount)
            ends.append(expected_regret(nested, p, costs=0.5))
        slope[i] = (ends[0] - ends[1]) / (2 * step)
    found = metric_interval(outcome, p, "net_benefit_score", threshold=0.5)
    nested = compare(outcome, p, np.zeros(120), costs=0.5)
    assert math.isfinite(found.standard_error)
    own = confidence_band(outcome, p, "regret", thresholds=[0.5]).standard_error[0]
    assert own / math.sqrt(120 / 119) == pytest.approx(math.sqrt(slope @ slope), rel=1e-5)
    assert nested.standard_error > 0


def test_nesting_goes_one_level_deep():
    outcome = RowCosts([0, 1], false_positive=1, false_negative=1)
    with pytest.raises(ValueError, match="nest once"):
        RowCosts(outcome, false_positive=1, false_negative=1)
    with pytest.raises(ValueError, match="belong to TimeToEvent"):
        RowCosts(
            TimeToEvent(event=[1, 0], time=[1, 3], horizon=2), false_positive=1, false_negative=1, sample_weight=[1, 1]
        )


@pytest.mark.parametrize(
    "ask",
    [
        roc_auc_score,
        roc_curve,
        precision_recall_curve,
        reliability_curve,
        calibration_summary,
        bounded_brier_loss,
        METRICS["bounded_log_loss"].function,
        METRICS["bounded_brier_skill_score"].function,
        lambda y, p: top_k_scores(y, p, capacity=1),
        lambda y, p: metric_interval(y, p, "roc_auc_score"),
        lambda y, p: confidence_band(y, p, "reliability"),
        lambda y, p: threshold_intervals(y, p, thresholds=[0.2]),
        lambda y, p: population_threshold(y, p, "f1"),
        lambda y, p: roc_auc_score(ScoreTable.from_predictions(y, p)),
        lambda y, p: evaluate(ScoreTable.from_json(ScoreTable.from_predictions(y, p).to_json())),
    ],
)
def test_what_ranks_or_calibrates_refuses_amounts(ask):
    outcome = RowCosts([0, 1] * 20, false_positive=1, false_negative=np.arange(40) + 1.0)
    with pytest.raises(ValueError, match="amounts, not probabilities, order these rows"):
        ask(outcome, [0.1, 0.3] * 20)


def priced(n=400):
    rng = np.random.default_rng(17)
    p = rng.beta(1, 4, n)
    y, amount = rng.random(n) < p, rng.lognormal(3, 0.5, n)
    models = {"a": p, "b": np.clip(p + rng.normal(0, 0.2, n), 0, 1)}
    return y, amount, models


def test_evaluation_counts_costs_per_unit_of_money_at_stake():
    y, amount, models = priced()
    found = evaluate(RowCosts(y, false_positive=7.0, false_negative=amount, unit="EUR"), models)
    stake = np.where(y, amount, 7.0)
    for name, p in models.items():
        act = p * amount >= (1 - p) * 7.0
        cost = stake[act != y].sum()  # every decision, one by one
        assert found[name].score == pytest.approx(cost / stake.sum(), rel=1e-12)
        assert found.money[name].cost.value == pytest.approx(1000 * cost / len(y), rel=1e-12)
        assert found[name].share_acted_on == pytest.approx(act.mean(), rel=1e-12)
    assert found.conclusion[0].startswith("USE a. b costs ")
    assert found.conclusion[0].endswith("more per 1,000 EUR at stake.")
    assert json.loads(found.to_json())["money"][0]["model"] == "a"


def test_evaluation_of_amounts_says_nothing_of_probabilities():
    y, amount, models = priced()
    found = evaluate(RowCosts(y, false_positive=7.0, false_negative=amount), models)
    assert math.isnan(found["a"].auc)
    assert not set(found.findings.codes) & {"calibration-in-the-large", "worse-than-prevalence", "auc-disagrees"}
    asked = [lambda: found.calibration, lambda: found.auc("a"), lambda: found.curves("reliability")]
    for ask in asked:
        with pytest.raises(ValueError, match="amounts, not probabilities"):
            ask()
    for refused in ({"metrics": ["roc_auc_score"]}, {"prevalence": 0.1}, {"unit_cost": 2}, {"scale": "loss"}):
        with pytest.raises(ValueError, match="does not fit amounts by row"):
            evaluate(RowCosts(y, false_positive=7.0, false_negative=amount), models, **refused)


def test_few_large_amounts_are_found():
    y, amount, models = priced()
    assert "few-amounts-decide" not in evaluate(RowCosts(y, false_positive=7, false_negative=amount), models).findings
    row = int(np.flatnonzero(y)[0])
    amount[row], models["a"][row], models["b"][row] = 1e4, 1e-6, 1e-6
    found = evaluate(RowCosts(y, false_positive=7, false_negative=amount), models).findings
    (said,) = [each.sentence for each in found if each.code == "few-amounts-decide"]
    assert said == "A few large amounts, among mistakes made or still to come, decide what mistakes of a cost."


@pytest.mark.parametrize(
    ("alarms", "misses", "said"),
    [
        (0, 0, "model made no mistake that costs anything in these rows"),
        (40, 0, "comes from its false positives, of which these rows hold only 40."),
        (40, 5, "comes from its false negatives, of which these rows hold only 5."),  # 40 * 10^2 < 5 * 50^2
        (9, 0, "comes from its false negatives, of which these rows hold none."),  # 9 * 10^2 < 50^2, should one come
    ],
)
def test_few_mistakes_of_equal_amounts_are_not_called_uneven(alarms, misses, said):
    y = np.array([0, 1] * 500)
    p = np.where(y == 1, 0.9, 0.1)
    p[: 2 * alarms : 2], p[1 : 2 * misses : 2] = 0.9, 0.1
    found = evaluate(RowCosts(y, false_positive=10.0, false_negative=50.0), p).findings
    (sentence,) = [each.sentence for each in found if each.code == "few-amounts-decide"]
    assert said in sentence
    assert "uneven" not in sentence


def test_rows_in_which_one_decision_is_never_worse_get_that_one():
    amounts = {"false_positive": [2.0, -1.0, 3.0, 0.0], "false_negative": [6.0, 4.0, -2.0, 0.0]}
    with pytest.raises(ValueError, match="acting never hurts in 1 rows and never helps in 1"):
        decide_rows([0.25, 0.0, 1.0, 0.5], **amounts)
    found = decide_rows([0.25, 0.0, 1.0, 0.5], **amounts, on_dominated="set_aside")
    assert found.act.tolist() == [True, True, False, False]
    assert found.n_set_aside == 2
    assert found.threshold[0] == 0.25
    assert np.isnan(found.threshold[1:]).all()
    assert found.expected_cost == 0.75 * 2 - 1 - 2
    everyone = decide_rows([0.25, 0.5], false_positive=-1.0, false_negative=1.0, on_dominated="set_aside")
    assert everyone.n_set_aside == 2
    assert RowDecisions.from_json(everyone.to_json()).n_set_aside == 2
    assert decide_rows([0.25], false_positive=2, false_negative=6, factor=1.1).act.tolist() == [False]


def test_amounts_of_rows_that_do_not_count_are_not_counted_as_wrong():
    amounts = [1.0, math.nan, math.nan, 2.0]
    assert (
        RowCosts([0, 1, 0, 1], false_positive=1, false_negative=amounts, sample_weight=[1, 0, 0, 1]).weight.sum() == 3.0
    )
    with pytest.raises(ValueError, match=r"must be finite, got nan at index 2 \(1 rows\)"):
        RowCosts([0, 1, 0, 1], false_positive=1, false_negative=amounts, sample_weight=[1, 0, 1, 1])


def test_rows_in_which_one_decision_is_never_worse_by_hand():
    cases = {(0, 1): 1, (-1, 1): 1, (-1, 0): 1, (0, 2): 1, (1, 0): -1, (1, -1): -1, (0, -1): -1, (0, 0): 0, (1, 1): 0}
    a, b = (np.array(part, dtype=float) for part in zip(*cases, strict=True))
    for k, known in enumerate(cases.values()):
        ones = np.ones(2)
        if known:
            never = "hurts in 1 rows and never helps in 0" if known > 0 else "hurts in 0 rows and never helps in 1"
            with pytest.raises(ValueError, match=f"acting never {never}, the first at index 1"):
                dominated(np.array([1.0, a[k]]), np.array([1.0, b[k]]), ones, "raise")
        else:
            assert dominated(np.array([1.0, a[k]]), np.array([1.0, b[k]]), ones, "raise").tolist() == [0, 0]
    assert dominated(a, b, np.ones(len(a)), "set_aside").tolist() == list(cases.values())
    # rows that do not count decide nothing, and swapped labels in them are nobody's mistake
    assert dominated(a - 2.0, b - 2.0, np.zeros(len(a)), "raise").tolist() == [0] * len(a)
    with pytest.raises(ValueError, match="right decisions cost more than wrong ones in 1 rows, the first at index 1"):
        dominated(np.array([1.0, -1.0]), np.array([1.0, -1.0]), np.ones(2), "set_aside")


def test_amounts_of_rows_that_are_set_aside_are_those_of_their_decision():
    outcome = RowCosts(
        [0, 1, 1, 0], false_positive=[5, 0, 4, 3], false_negative=[15, 2, 0, 6], on_dominated="set_aside"
    )
    assert outcome.decided.tolist() == [False, True, True, False]
    act = np.array([True, True, False, False])
    # acted on by necessity, and left by necessity: neither is a mistake
    negative, positive = outcome.mistakes(np.ones(4), np.ones(4))
    assert (negative.tolist(), positive.tolist()) == ([5.0, 0.0, 0.0, 3.0], [15.0, 0.0, 0.0, 6.0])
    assert (outcome.money(act) - outcome.correct).tolist() == [5.0, 0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match=r"factor must be 1 where rows are set aside \(2\), got 2"):
        outcome.money(act, 2.0)
    assert outcome.scores([0.5, 0.5, 0.5, 0.25]).tolist() == [0.75, 1.0, 0.0, 0.4]


def test_money_is_that_of_one_decision_for_each_row_and_of_nothing_else():
    outcome = RowCosts([0, 1, 0, 1], false_positive=[5, 6, 7, 8], false_negative=[15, 25, 35, 45])
    for act in ([True, False, False, True], np.array([1, 0, 0, 1]), np.array([True, False, False, True], dtype=object)):
        assert outcome.money(act).tolist() == [5.0, 25.0, 0.0, 0.0]
        assert outcome.money(act, 3.0).tolist() == [15.0, 25.0, 0.0, 0.0]
    for act in ([True], [True, False], True, np.ones((2, 4), dtype=bool), np.ones((4, 1), dtype=bool)):
        with pytest.raises(ValueError, match=r"^act must hold True or False for each of the 4 rows, got shape \(.*\)"):
            outcome.money(act)
    for act, odd in (
        ([0.3, 0.0, 1.0, 0.9], "0.3 at index 0"),
        ([1, 0, 2, 0], "2 at index 2"),
        ([1, np.nan, 0, 0], "nan"),
    ):
        with pytest.raises(ValueError, match=f"^act must hold True or False, got {odd}.*thresholds"):
            outcome.money(act)
    with pytest.raises(ValueError, match=r"^act must be numeric, got 'yes' at index 0"):
        outcome.money(["yes", "no", "no", "yes"])
    for factor in (-1.0, 0.0, np.inf, "2"):
        with pytest.raises(ValueError, match=r"^factor must be a"):
            outcome.money([True] * 4, factor)


@pytest.mark.parametrize("length", [1, 3, 5])
def test_scores_of_other_rows_are_not_mapped(length):
    outcome = RowCosts([0, 1, 0, 1], false_positive=5, false_negative=[15, 25, 35, 45])
    with pytest.raises(ValueError, match=f"^y_true and y_prob must have the same length, got 4 and {length}"):
        outcome.scores([0.1] * length)


def test_rows_without_stake_or_weight_have_no_share():
    outcome = RowCosts([0, 1, 1], false_positive=[5, 5, 0], false_negative=[15, 15, 0], sample_weight=[1, 1, 0])
    assert outcome.n_set_aside == 0
    assert outcome.scores([0.5, 0.0, 0.5]).tolist() == [0.75, 0.0, 0.0]


def test_amounts_that_are_missing_in_rows_that_do_not_count_are_none():
    missing = {"false_positive": [5, math.nan, 2], "false_negative": [15, 4, math.inf]}
    outcome = RowCosts([0, 1, 1], **missing, sample_weight=[1, 0, 0])
    assert (outcome.false_positive.tolist(), outcome.false_negative.tolist()) == ([5.0, 0.0, 2.0], [15.0, 4.0, 0.0])
    with pytest.raises(ValueError, match=r"false_positive must be finite, got nan at index 1 \(1 rows\)"):
        RowCosts([0, 1, 1], **missing, sample_weight=[1, 1, 0])


def test_thresholds_are_those_of_the_amounts_as_they_stand_unless_a_factor_is_given():
    outcome = RowCosts([0, 1, 0], false_positive=[1.0, 2.0, 3.0], false_negative=[3.0, 2.0, 1.0])
    assert outcome.thresholds().tolist() == [0.25, 0.5, 0.75]
    assert outcome.thresholds(3.0).tolist() == [0.5, 0.75, 0.9]


def test_rows_of_no_known_class_have_no_decision_either_where_one_is_never_worse():
    event, time = [1, 0, 1, 0, 0, 1] * 5, [0.5, 0.4, 0.7, 2.0, 2.0, 1.5] * 5
    outcome = TimeToEvent(event=event, time=time, horizon=1.0)
    call = np.where(np.arange(30) == 1, -1.0, 5.0)  # censored before the horizon
    with pytest.raises(ValueError, match="acting never hurts in 1 rows and never helps in 0, the first at index 1"):
        RowCosts(outcome, false_positive=call, false_negative=20.0)
    found = RowCosts(outcome, false_positive=call, false_negative=20.0, on_dominated="set_aside")
    scores = found.scores(np.full(30, 0.1))
    assert scores[1] == 1.0
    assert np.all((scores >= 0.0) & (scores <= 1.0))


HUNDREDTHS = np.arange(1, 100)


def test_a_row_is_acted_on_from_the_threshold_that_is_printed_on():
    import sqlite3

    p, amounts = HUNDREDTHS / 100, {"false_positive": HUNDREDTHS, "false_negative": 100 - HUNDREDTHS}
    decided = decide_rows(p, **amounts)
    assert decided.threshold.tolist() == p.tolist()
    assert decided.act.all()
    assert not decided.predict(np.nextafter(p, 0.0), **amounts).any()
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE t (p, a, b)")  # whole amounts are not divided as whole numbers
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", [(k / 100, k, 100 - k) for k in HUNDREDTHS.tolist()])
        query = decided.to_sql("p", "a", "b", dialect="sqlite")
        assert base.execute(f"SELECT sum({query}), count(*) FROM t").fetchone() == (99, 99)  # noqa: S608


@pytest.mark.parametrize("alarm", [1, 3, 7, 30, 61])
def test_equal_amounts_in_all_rows_decide_as_their_ratio_does(alarm):
    y = np.append(True, HUNDREDTHS % 3 == 0)
    p = np.append(0.5, HUNDREDTHS / 100)
    outcome = RowCosts(y, false_positive=float(alarm), false_negative=100.0 - alarm)
    assert ((outcome.scores(p) >= 0.5) == (p >= alarm / 100)).all()
    by_hand = np.where(p >= alarm / 100, alarm * ~y, (100 - alarm) * y).sum()
    assert money(outcome, p, per="total").cost.value == pytest.approx(by_hand)


@pytest.mark.parametrize("on_dominated", ["raise", "set_aside"])
@pytest.mark.parametrize("amounts", [*product((-5, 0, 5), (-10, 0, 10)), (-5, "b"), ("a", -10)])
def test_amounts_of_which_no_decision_follows_are_no_expression_either(amounts, on_dominated):
    import sqlite3

    rule = decide_rows([0.5], false_positive=5, false_negative=15, on_dominated=on_dominated)
    columns = {"a": 2.0, "b": 3.0}
    stated = dict(zip(("false_positive", "false_negative"), (columns.get(each, each) for each in amounts), strict=True))
    try:
        (decision,) = rule.predict([0.5], **stated)
    except ValueError:
        for write in (rule.to_expression, rule.to_sql, rule.to_onnx):
            with pytest.raises(ValueError, match=r"^false_positive .* and false_negative .* leave no decision"):
                write("p", *amounts)
        return
    query = rule.to_sql("p", *amounts, dialect="sqlite")
    with sqlite3.connect(":memory:") as base:
        (found,) = base.execute(f"SELECT {query} FROM (SELECT 0.5 AS p, 2.0 AS a, 3.0 AS b)").fetchone()  # noqa: S608
    assert found == decision


def test_a_row_on_the_threshold_of_its_amounts_has_the_score_one_half_or_the_number_below():
    k = np.arange(1, 1000)
    outcome = RowCosts(k % 2, false_positive=1.0 * k, false_negative=1000.0 - k)
    at = outcome.scores(k / 1000.0)  # the threshold is k / 1000 in each row, rounded on either way
    np.testing.assert_allclose(at, 0.5, rtol=1e-12)
    assert np.array_equal(at >= 0.5, k / 1000.0 >= 1.0 * k / (1.0 * k + (1000.0 - k)))
    assert np.any(np.divide(k / 1000.0 * (1000.0 - k), (1.0 - k / 1000.0) * k + k / 1000.0 * (1000.0 - k)) < 0.5)
