"""Regret integrated from rows and from tables against definitions and the 34-digit oracle, under every rule."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracles
import pytest
from cost_cases import CASES
from hypothesis import given, settings, strategies as st
from oracles import Measure, Rows
from sklearn.metrics import brier_score_loss, log_loss
from strategies import GRID, distributions, samples

from stakes import ScoreTable, costs, expected_regret
from stakes.base.validation import check_sample
from stakes.core.options import check_rule, check_units
from stakes.core.score_table import losses_by_score, regret_at, row_integral, row_losses, table_integral
from stakes.costs import check_scale
from stakes.curves import cost_curve
from stakes.evaluation import best_by_cost, lc_index
from stakes.inference import dominance

RULES = st.one_of(st.just("score"), st.just("optimal"), GRID, st.floats(-0.5, 1.5))
COLUMN_RULES = st.one_of(st.just("score"), GRID, st.floats(-0.5, 1.5))


def table_of(sample):
    return ScoreTable.from_predictions(sample.y, sample.score, sample_weight=sample.weight)


def rows_of(sample):
    return check_sample(sample.y, sample.score, sample_weight=sample.weight)


# ------------------------------------------------------------------- values of reference/eval_oracle.py, 34 digits
def reference_costs(weight, a, b):
    """The cost distribution of a row of eval_reference.json."""
    name, *shape = weight
    return {
        "uniform": lambda: costs.Uniform(a, b),
        "logit": lambda: costs.LogOddsUniform(a, b),
        "netbenefit": lambda: costs.NetBenefitUniform(a, b),
        "beta": lambda: costs.Beta(*shape, a, b),
        "shift": lambda: costs.Shifted(*shape, a, b),
    }[name]()


# rows and values copied from eval_reference.json, binary / ties_weights_edges
TIES = (
    [0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1],
    [0.0, 0.05, 0.05, 0.1, 0.1, 0.1, 0.2, 0.2, 0.5, 0.8, 0.8, 1.0],
    [1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 1.0, 2.5, 1.0, 0.25, 2.0, 1.0],
)
SAMPLE_VALUES = [
    # weight, a, b, integral, integral under the optimal rule
    (("uniform",), 0.0, 1.0, 0.10272388059701493, 0.06459119238969985),
    (("uniform",), 0.05, 0.2, 0.011399253731343284, 0.008638059701492538),
    (("logit",), 0.05, 0.2, 0.11011401062653467, 0.07927582450174278),
    (("netbenefit",), 0.05, 0.2, 0.01317106369400388, 0.010063419623751334),
    (("beta", 2, 2), 0.05, 0.2, 0.007754430970149255, 0.006145947994402986),
    (("beta", 2, 8), 0.05, 0.2, 0.03784746304561684, 0.028636648705649356),
    (("beta", 0.5, 0.5), 0.05, 0.2, 0.011134385769189563, 0.008229276986747294),
    (("shift", 0.125), 0.05, 0.2, 0.02626658346424586, 0.018964464000814286),
    (("shift", 0.5), 0.05, 0.2, 0.011399253731343284, 0.008638059701492538),
    (("shift", 0.9), 0.05, 0.2, 0.0016359274231094539, 0.0012576453944209752),
]
SAMPLE_REGRETS = [
    # cost ratio, regret acting on the score, regret at the best threshold
    (0.0, 0.0, 0.0),
    (0.05, 0.023134328358208958, 0.023134328358208958),
    (0.1, 0.06119402985074627, 0.046268656716417916),
    (0.2, 0.08656716417910448, 0.08656716417910448),
    (0.35, 0.16044776119402984, 0.08432835820895522),
    (0.5, 0.12686567164179105, 0.08208955223880597),
    (0.8, 0.07164179104477611, 0.059701492537313425),
    (1.0, 0.0, 0.0),
]


@pytest.mark.parametrize(("weight", "a", "b", "score", "optimal"), SAMPLE_VALUES)
def test_integral_has_the_oracles_values(weight, a, b, score, optimal):
    made = reference_costs(weight, a, b)
    y, s, w = TIES
    table, rows = ScoreTable.from_predictions(y, s, sample_weight=w), check_sample(y, s, sample_weight=w)
    assert row_integral(rows, made, "score") == pytest.approx(score, rel=1e-12, abs=0)
    assert table_integral(table, made, "score") == pytest.approx(score, rel=1e-12, abs=0)
    assert table_integral(table, made, "optimal") == pytest.approx(optimal, rel=1e-12, abs=0)


@pytest.mark.parametrize(("c", "score", "optimal"), SAMPLE_REGRETS)
def test_regret_curve_has_the_oracles_values(c, score, optimal):
    table = ScoreTable.from_predictions(TIES[0], TIES[1], sample_weight=TIES[2])
    assert regret_at(table, np.array([c]), "score")[0] == pytest.approx(score, rel=1e-12, abs=1e-15)
    assert regret_at(table, np.array([c]), "optimal")[0] == pytest.approx(optimal, rel=1e-12, abs=1e-15)


def test_every_integral_of_the_reference_file(eval_reference):
    compared = 0
    for name, data in eval_reference["binary"].items():
        table = ScoreTable.from_predictions(data["y"], data["s"], sample_weight=data["w"])
        rows = check_sample(data["y"], data["s"], sample_weight=data["w"])
        for interval in data["intervals"]:
            for entry in interval["weights"]:
                made = reference_costs(entry["weight"], interval["a"], interval["b"])
                where = f"{name}, {made!r}"
                close = {"rel": 1e-12, "abs": 1e-16}
                score, optimal = float(entry["integral"]), float(entry["integral_optimal"])
                assert row_integral(rows, made, "score") == pytest.approx(score, **close), where
                assert table_integral(table, made, "score") == pytest.approx(score, **close), where
                assert table_integral(table, made, "optimal") == pytest.approx(optimal, **close), where
                assert table_integral(table.recalibrated(), made, "score") == pytest.approx(optimal, **close), where
                assert made.mass == pytest.approx(float(entry["mass"]), rel=1e-12), where
                compared += 1
    assert compared == 12 * 5 * 9


def test_every_regret_of_the_reference_file(eval_reference):
    for name, data in eval_reference["binary"].items():
        table = ScoreTable.from_predictions(data["y"], data["s"], sample_weight=data["w"])
        assert table.prevalence == pytest.approx(data["prevalence"], rel=1e-14), name
        at = np.array([entry["c"] for entry in data["regret"]])
        for rule in ("score", "optimal"):
            expected = [entry[rule] for entry in data["regret"]]
            np.testing.assert_allclose(regret_at(table, at, rule), expected, rtol=1e-12, atol=1e-15, err_msg=name)


def test_prevalence_reweighting_of_the_reference_file(eval_reference):
    data = eval_reference["binary"]["ties_weights_edges"]
    table = ScoreTable.from_predictions(data["y"], data["s"], sample_weight=data["w"])
    assert len(eval_reference["prevalence_reweighted"]) == 3
    for entry in eval_reference["prevalence_reweighted"]:
        moved = table.with_prevalence(entry["target"])
        for key in ("uniform", "logit"):
            made = reference_costs([key], entry["a"], entry["b"])
            assert table_integral(moved, made, "score") == pytest.approx(entry[key], rel=1e-12)


# ------------------------------------------------------------------------------------ the definition, piece by piece
DEFINED = {
    case.name: case
    for case in CASES
    if case.proper and not isinstance(case.costs, costs.Density) and "beta-" not in case.name
}
DEFINED["beta-2-8"] = next(case for case in CASES if case.name.startswith("beta-2.0-8.0"))


@pytest.mark.parametrize("rule", ["score", "optimal", 0.125, 0.3, 0.0, 1.0, 1.5])
@pytest.mark.parametrize("name", DEFINED)
def test_integral_is_the_area_under_the_regret_curve(name, rule):
    case = DEFINED[name]
    y, s, w = [0, 0, 1, 1, 0, 1, 0, 1], [0.0, 0.125, 0.125, 0.25, 0.25, 0.5, 0.75, 1.0], [1, 2, 1, 1, 3, 2, 1, 1]
    expected = Rows(y, s, w).integral(case.measure, rule)
    table = ScoreTable.from_predictions(y, s, sample_weight=w)
    found = [table_integral(table, case.costs, rule)]
    if rule != "optimal":
        found.append(row_integral(check_sample(y, s, sample_weight=w), case.costs, rule))
    assert found == pytest.approx([expected] * len(found), rel=1e-12, abs=1e-16)


@given(samples(max_size=8), st.sampled_from(["uniform", "log", "atoms"]), RULES)
@settings(max_examples=40)
def test_integral_of_any_rows_is_the_area_under_their_regret_curve(sample, family, rule):
    atoms = ((0.125, 0.5), (0.5, 0.25), (0.75, 0.25))
    made, measure = {
        "uniform": (costs.Uniform(0.05, 0.7), Measure(oracles.uniform, 0.05, 0.7)),
        "log": (costs.LogOddsUniform(0.05, 0.7), Measure(oracles.log_odds_uniform, 0.05, 0.7)),
        "atoms": (
            costs.Empirical(*zip(*atoms, strict=True), tie=0.25),
            Measure(low=0.125, high=0.75, atoms=atoms, tie=0.25),
        ),
    }[family]
    expected = Rows(sample.y, sample.score, sample.weight).integral(measure, rule)
    found = table_integral(table_of(sample), made, rule)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-15)


# ------------------------------------------------------------------------------------------------ rows and tables
@given(samples(), distributions(), COLUMN_RULES)
def test_rows_and_table_agree(sample, made, rule):
    from_rows = row_integral(rows_of(sample), made, rule)
    assert table_integral(table_of(sample), made, rule) == pytest.approx(from_rows, rel=1e-10, abs=1e-15)


@given(samples(), distributions(), COLUMN_RULES)
def test_integral_is_the_weighted_mean_of_the_row_losses(sample, made, rule):
    rows = rows_of(sample)
    loss = row_losses(rows.y, rows.score, made, rule)
    negative, positive = losses_by_score(rows.score, made, rule)
    np.testing.assert_allclose(loss, np.where(rows.y, positive, negative), rtol=1e-9, atol=1e-15)
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    total = math.fsum(weight * loss) / math.fsum(weight)
    assert row_integral(rows, made, rule) == pytest.approx(total, rel=1e-12, abs=1e-300)


@given(samples(), distributions(), RULES)
def test_losses_at_the_scores_of_a_table_sum_to_the_integral(sample, made, rule):
    table = table_of(sample)
    scores, own = (table.pav_by_score(), "score") if rule == "optimal" else (table.scores, rule)
    negative, positive = losses_by_score(scores, made, own)
    assert len(negative) == len(positive) == len(table.scores)
    with np.errstate(invalid="ignore"):
        terms = np.concatenate([table.negatives * negative, table.positives * positive])
    used = np.concatenate([table.negatives, table.positives]) > 0
    total = terms[used].sum() / table.total
    assert table_integral(table, made, rule) == pytest.approx(total, rel=1e-12, abs=1e-15)


@given(samples(weight=st.sampled_from([0.5, 1.0, 3.0])), distributions(), st.sampled_from([0.25, 4.0]), RULES)
def test_scaling_all_weights_changes_nothing(sample, made, factor, rule):
    weight = [1.0] * len(sample.y) if sample.weight is None else sample.weight
    scaled = ScoreTable.from_predictions(sample.y, sample.score, sample_weight=[factor * w for w in weight])
    assert table_integral(scaled, made, rule) == table_integral(table_of(sample), made, rule)


@given(samples(), distributions(), RULES)
def test_the_best_threshold_is_never_worse_than_any_rule(sample, made, rule):
    table = table_of(sample)
    best, other = (table_integral(table, made, r) for r in ("optimal", rule))
    assert best <= other + 1e-13 * max(1.0, abs(best))
    assert best >= 0.0
    assert np.isfinite(best)


@given(samples(), distributions())
def test_the_optimal_rule_is_the_score_rule_on_recalibrated_scores(sample, made):
    table = table_of(sample)
    expected = table_integral(table.recalibrated(), made, "score")
    assert table_integral(table, made, "optimal") == pytest.approx(expected, rel=1e-13, abs=1e-16)


@given(samples(score=GRID), st.sampled_from([0.0625, 0.25, 0.5, 0.3, 0.9]), st.sampled_from([0.03, 0.25, 0.6]))
def test_a_fixed_threshold_is_the_score_rule_on_hard_labels(sample, threshold, c):
    table, made = table_of(sample), costs.Fixed(c) + costs.Uniform(0.1, 0.9)
    expected = table_integral(table.at_threshold(threshold), made, "score")
    assert table_integral(table, made, threshold) == pytest.approx(expected, rel=1e-13, abs=1e-16)


@given(samples(score=GRID), st.sampled_from(["uniform", "log", "beta"]))
def test_swapping_classes_scores_and_costs_changes_nothing(sample, family):
    made = {"uniform": costs.Uniform(0.125, 0.5), "log": costs.LogOddsUniform(0, 1), "beta": costs.Beta(2, 5)}[family]
    swapped = ScoreTable.from_predictions(
        [1 - y for y in sample.y], [1 - s for s in sample.score], sample_weight=sample.weight
    )
    expected = table_integral(table_of(sample), made, "score")
    assert table_integral(swapped, made.flip(), "score") == pytest.approx(expected, rel=1e-12, abs=1e-16)


@pytest.mark.parametrize("weighted", [False, True])
def test_long_samples_are_summed_across_blocks(weighted):
    rng = np.random.default_rng(4)
    n = 3 * (1 << 15) + 17
    score, weight = rng.random(n), rng.random(n) if weighted else None
    y = rng.random(n) < score
    brier = np.average((score - y) ** 2, weights=weight)
    rows = check_sample(y, score, sample_weight=weight)
    table = ScoreTable.from_predictions(y, score, sample_weight=weight)
    assert 2 * row_integral(rows, costs.Uniform(), "score") == pytest.approx(brier, rel=1e-13)
    assert 2 * table_integral(table, costs.Uniform(), "score") == pytest.approx(brier, rel=1e-13)
    error_rate = np.average((score >= 0.5) != y, weights=weight)
    assert 2 * row_integral(rows, costs.Fixed(0.5), 0.5) == pytest.approx(error_rate, rel=1e-13)
    assert 2 * table_integral(table, costs.Fixed(0.5), 0.5) == pytest.approx(error_rate, rel=1e-13)


def test_brier_score_and_log_loss_are_scikit_learns():
    rng = np.random.default_rng(5)
    score, weight = rng.uniform(0.001, 0.999, 500), rng.random(500)
    y = rng.random(500) < score
    for w in (None, weight):
        rows = check_sample(y, score, sample_weight=w)
        brier, logistic = (loss(y, score, sample_weight=w) for loss in (brier_score_loss, log_loss))
        assert 2 * row_integral(rows, costs.Uniform(), "score") == pytest.approx(brier, rel=1e-12)
        assert row_integral(rows, costs.LogOddsUniform(), "score") == pytest.approx(logistic, rel=1e-12)


# ------------------------------------------------------------------------------------------------- infinite losses
@pytest.mark.parametrize("weight", [None, [1.0, 2.0]])
def test_certainty_that_was_wrong_costs_infinity_and_is_not_hidden(weight):
    made = costs.LogOddsUniform()
    for y in ([1, 0], [0, 1]):
        sure = ([0.0, 0.5] if y[0] else [1.0, 0.5], [float(v) for v in y])
        for score, expected in zip(sure, (math.inf, 0.0), strict=True):
            rows = check_sample(y, score, sample_weight=weight)
            table = ScoreTable.from_predictions(y, score, sample_weight=weight)
            assert row_integral(rows, made, "score") == expected
            assert table_integral(table, made, "score") == expected
            assert table_integral(table, made, "optimal") < math.inf


def test_a_row_of_weight_zero_hides_its_infinity():
    rows = check_sample([1, 0], [0.0, 0.5], sample_weight=[0.0, 1.0])
    table = ScoreTable.from_predictions([1, 0], [0.0, 0.5], sample_weight=[0.0, 1.0])
    for found in (
        row_integral(rows, costs.LogOddsUniform(), "score"),
        table_integral(table, costs.LogOddsUniform(), "score"),
    ):
        assert found == pytest.approx(math.log(2), rel=1e-15)


def test_infinite_loss_of_an_absent_class_counts_nothing():
    # only a negative lies at 0 and only a positive at 1: the other class would lose infinitely much there
    table = ScoreTable.from_predictions([0, 1, 1], [0.0, 1.0, 0.5])
    assert table_integral(table, costs.LogOddsUniform(), "score") == pytest.approx(math.log(2) / 3, rel=1e-15)


@pytest.mark.parametrize("y", [0, 1])
def test_one_class_alone_has_finite_regret_and_none_at_the_best_threshold(y):
    table = ScoreTable.from_predictions([y, y], [0.25, 0.75])
    brier = np.mean([(0.25 - y) ** 2, (0.75 - y) ** 2])
    assert 2 * table_integral(table, costs.Uniform(), "score") == pytest.approx(brier, rel=1e-15)
    assert table_integral(table, costs.Uniform(), "optimal") == 0.0


# -------------------------------------------------------------------------------------------- the curve, pointwise
def around(values):
    """Each value and its neighbours within [0, 1], and the ends."""
    near = {0.0, 1.0, *(t for v in values for t in (np.nextafter(v, 0), v, np.nextafter(v, 1)))}
    return np.array(sorted(t for t in near if 0 <= t <= 1))


@given(samples(), st.lists(st.floats(0, 1), max_size=3))
def test_regret_curve_at_its_knots_and_beside_them(sample, extra):
    table, rows = table_of(sample), Rows(sample.y, sample.score, sample.weight)
    at = around([*rows.levels, *extra])
    for rule in ("score", 0.5, rows.levels[0], float(np.nextafter(rows.levels[-1], 2)), -1.0):
        expected = [float(rows.regret(c, rule)) for c in at]
        np.testing.assert_allclose(regret_at(table, at, rule), expected, rtol=1e-13, atol=1e-16)


@given(samples())
def test_best_regret_at_its_knots_and_beside_them_is_the_lowest_of_all_thresholds(sample):
    table, rows = table_of(sample), Rows(sample.y, sample.score, sample.weight)
    at = around([*rows.levels, *map(float, rows.isotonic())])
    expected = [float(rows.regret(c, "optimal")) for c in at]
    np.testing.assert_allclose(regret_at(table, at, "optimal"), expected, rtol=1e-12, atol=1e-15)


def test_regret_steps_right_of_a_score_by_its_miscalibration():
    # errata 1.1: R(t+) - R(t) = m (r - t); half the rows at 0.25 are positive, a quarter of all rows lies there
    table = ScoreTable.from_predictions([0, 1, 0, 1, 0, 0, 1, 1], [0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1.0, 0.0])
    left, right = regret_at(table, np.array([0.25, np.nextafter(0.25, 1)]), "score")
    assert right - left == pytest.approx(0.25 * (0.5 - 0.25), rel=1e-12)


def test_positives_at_score_zero_are_missed_from_just_above_zero():
    table = ScoreTable.from_predictions([1, 0], [0.0, 0.5])
    assert regret_at(table, np.array([0.0, 5e-324]), "score").tolist() == [0.0, 0.5]


# ------------------------------------------------------------------------------------------------ rules and scales
@pytest.mark.parametrize("rule", ["score", "optimal", 0.5, 0, 1, np.float32(0.25), Fraction(1, 3), Decimal("0.2")])
def test_rules_are_two_names_or_a_threshold(rule):
    assert check_rule(rule) == (rule if isinstance(rule, str) else float(rule))


@pytest.mark.parametrize("rule", [-2, 3.5, 20, 400])
def test_scores_that_only_rank_have_any_finite_threshold(rule):
    y, ranks = [0, 1, 1, 0], [-2.0, 0.3, 3.5, 20.0]
    wrong = [(0.7 if label else 0.3) * ((rank >= rule) != label) for label, rank in zip(y, ranks, strict=True)]
    table = ScoreTable.from_predictions(y, ranks, probability=False)
    # half the rows are positive: at a cost ratio of 0.3 deciding everything wrong costs 1/2, 0.35 of it for positives
    assert cost_curve(y, ranks, rule=rule).at([0.7])[0] * 0.5 == pytest.approx(np.mean(wrong), rel=1e-12)
    assert best_by_cost({"a": table}, rule=rule).models == ("a",)
    assert "the same" in str(dominance(table, table, rule=rule, low=0.3, high=0.3))
    assert lc_index(table, table, rule=rule) == 0.0


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("best", r'^rule must be "score", "optimal" or a threshold, got \'best\''),
        ("0.5", r'^rule must be "score", "optimal" or a threshold, got \'0.5\''),
        (True, r'^rule must be "score", "optimal" or a threshold, got True'),
        ([0.5], r'^rule must be "score", "optimal" or a threshold, got \[0.5\]'),
        (float("nan"), r"^rule must be a finite threshold, got nan"),
        (float("inf"), r"^rule must be a finite threshold, got inf"),
        (20, r"^rule must lie in \[0, 1\], got 20; 20% is 0\.2\."),
        (-0.1, r"^rule must lie in \[0, 1\], got -0\.1\."),
    ],
)
def test_other_rules_are_refused(rule, message):
    with pytest.raises(ValueError, match=message):
        check_rule(rule)


PROPER, IMPROPER = costs.Uniform(0.25, 0.75), costs.LogOddsUniform()
UNLIKE = costs.LogOddsUniform() + costs.Uniform()


@pytest.mark.parametrize(
    ("scale", "made", "resolved", "factor"),
    [
        ("regret", PROPER, "regret", 2.0),
        ("integral", PROPER, "integral", 1.0),
        ("loss", PROPER, "loss", 2.0),
        (None, PROPER, "regret", 2.0),
        (None, IMPROPER, "loss", 1.0),
        (None, UNLIKE, "integral", 1.0),
        ("loss", IMPROPER, "loss", 1.0),
        ("integral", IMPROPER, "integral", 1.0),
    ],
    ids=str,
)
def test_scales_are_factors_on_the_integral(scale, made, resolved, factor):
    assert check_scale(scale, made) == (resolved, factor)


def test_regret_is_undefined_where_the_mass_is_infinite():
    scale, factor = check_scale("regret", IMPROPER)
    assert scale == "regret"
    assert math.isnan(factor)


def test_loss_is_refused_where_parts_have_unlike_factors():
    with pytest.raises(ValueError, match=r'^scale="loss" is not defined for LogOddsUniform.* unlike loss factors'):
        check_scale("loss", UNLIKE)


def test_unknown_scales_are_refused():
    with pytest.raises(ValueError, match=r"^scale must be one of 'regret', 'integral', 'loss', got 'brier'"):
        check_scale("brier", PROPER)


@pytest.mark.parametrize(
    "made", [costs.Beta(3000, 30000, 0.9, 0.95), costs.Uniform(0, 5e-324), costs.Uniform(0, 1e-309)], ids=str
)
@pytest.mark.parametrize("scale", ["regret", None])
def test_regret_of_a_measure_without_mass_is_refused(made, scale):
    with pytest.raises(ValueError, match=r'^scale="regret" divides by the mass of costs, .* got (Beta|Uniform)\('):
        check_scale(scale, made)
    with pytest.raises(ValueError, match=r"which must be at least 2\.23e-308"):
        expected_regret([0, 1], [0.1, 0.2], costs=made)
    assert math.isfinite(expected_regret([0, 1], [0.1, 0.2], costs=made, scale="loss"))


def test_integer_cost_ratios_do_not_cut_the_threshold():
    table = ScoreTable.from_predictions([0, 1], [0.25, 0.75])
    assert regret_at(table, np.array([1]), 0.5).tolist() == regret_at(table, np.array([1.0]), 0.5).tolist()


@pytest.mark.parametrize("name", ["unit_cost", "per"])
def test_units_multiply_and_are_above_zero(name):
    assert check_units("regret", 300.0, 1000.0) == 300_000.0
    with pytest.raises(ValueError, match=rf"{name} must be a finite number > 0, got 0"):
        check_units("regret", **{"unit_cost": 1.0, "per": 1.0, name: 0.0})


def test_units_reach_to_where_squares_can_be_held():
    assert (check_units("regret", 1e-140, 1.0), check_units("regret", 1e70, 1e70)) == (1e-140, 1e140)
    for unit, per in ((1e-140, 0.99), (1e70, 1.01e70)):
        with pytest.raises(ValueError, match="unit_cost times per"):
            check_units("regret", unit, per)
