"""Identities that hold on every sample, ties and weights included."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from sklearn import metrics as sk
from strategies import intervals, samples

from stakes import ScoreTable, bounded_brier_loss, bounded_log_loss, costs, decompose, expected_regret, regret_curve
from stakes.metrics import beta_loss, h_measure_score, roc_auc_score, shifted_brier_loss, top_k_scores

FAMILIES = {
    "uniform": costs.Uniform,
    "log-odds": costs.LogOddsUniform,
    "net benefit": costs.NetBenefitUniform,
    "beta": lambda a, b: costs.Beta(2.0, 8.0, a, b),
    "shifted": lambda a, b: costs.Shifted(0.125, a, b),
}
family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
inside = st.floats(0.01, 0.99)


def table_of(sample):
    return ScoreTable.from_predictions(sample.y, sample.score, sample_weight=sample.weight)


def both_classes(sample):
    table = table_of(sample)
    return table.total_positives > 0 and table.total_negatives > 0


@given(samples(score=inside))
def test_whole_range_gives_the_brier_score_and_the_log_loss(sample):
    rows = {"sample_weight": sample.weight}
    y, s = np.array(sample.y), np.array(sample.score)
    assert bounded_brier_loss(y, s, **rows) == pytest.approx(np.average((s - y) ** 2, weights=sample.weight), abs=1e-13)
    expected = sk.log_loss(y, s, labels=[0, 1], sample_weight=sample.weight)
    assert bounded_log_loss(y, s, **rows) == pytest.approx(expected, abs=1e-12)


@given(samples(), intervals())
def test_beta_1_1_and_shifted_one_half_are_uniform(sample, bounds):
    table = table_of(sample)
    uniform = bounded_brier_loss(table, bounds=bounds)
    assert beta_loss(table, a=1.0, b=1.0, bounds=bounds) == pytest.approx(uniform, abs=1e-13)
    assert shifted_brier_loss(table, median=0.5, bounds=bounds) == pytest.approx(uniform, abs=1e-13)


@family
@given(sample=samples(), ends=st.lists(st.floats(0.01, 0.95), min_size=3, max_size=3, unique=True).map(sorted))
def test_integrals_over_adjacent_ranges_add_up(family, sample, ends):
    a, b, c = ends
    assume(b - a > 1e-6 and c - b > 1e-6)
    table = table_of(sample)

    def integral(low, high, rule):
        return expected_regret(table, costs=family(low, high), scale="integral", rule=rule)

    for rule in ("score", "optimal"):
        assert integral(a, b, rule) + integral(b, c, rule) == pytest.approx(integral(a, c, rule), rel=1e-11, abs=1e-14)


@given(samples(), st.floats(0.0, 1.0))
def test_optimal_regret_is_never_above_the_score_driven_one(sample, c):
    table = table_of(sample)
    best, ours = (float(regret_curve(table, rule=rule).at(c)) for rule in ("optimal", "score"))
    assert best <= ours + 1e-14


@family
@given(sample=samples(), bounds=intervals().filter(lambda b: b[0] > 0.0 and b[1] < 1.0))
def test_optimal_rule_is_the_score_rule_on_recalibrated_scores_and_recalibration_is_idempotent(family, sample, bounds):
    table = table_of(sample)
    again = table.recalibrated()
    optimal = expected_regret(table, costs=family(*bounds), rule="optimal", scale="integral")
    assert expected_regret(again, costs=family(*bounds), scale="integral") == pytest.approx(optimal, abs=1e-13)
    np.testing.assert_allclose(again.recalibrated().scores, again.scores, atol=1e-15)


@family
@given(sample=samples(weight=st.integers(0, 3)), bounds=intervals().filter(lambda b: b[0] > 0.0 and b[1] < 1.0))
def test_decomposition_counts_weights_as_repetition_and_ignores_their_scale(family, sample, bounds):
    w = [1] * len(sample.y) if sample.weight is None else sample.weight
    measure = family(*bounds)
    ours = decompose(sample.y, sample.score, sample_weight=w, costs=measure, scale="integral")
    repeated = decompose(np.repeat(sample.y, w), np.repeat(sample.score, w), costs=measure, scale="integral")
    scaled = decompose(sample.y, sample.score, sample_weight=0.3 * np.array(w), costs=measure, scale="integral")
    for other in (repeated, scaled):
        for term in ("score", "miscalibration", "discrimination", "uncertainty"):
            assert getattr(ours, term) == pytest.approx(getattr(other, term), abs=1e-13)


dyadic = st.sets(st.integers(1, 15), min_size=2, max_size=2).map(lambda k: tuple(i / 16 for i in sorted(k)))


@family
@given(sample=samples(), bounds=dyadic)  # so that 1 - c is exact
def test_swapping_the_classes_flips_the_costs(family, sample, bounds):
    measure = family(*bounds)
    ours = expected_regret(table_of(sample), costs=measure, scale="integral")
    swapped = expected_regret(
        1 - np.array(sample.y),
        1.0 - np.array(sample.score),
        sample_weight=sample.weight,
        costs=measure.flip(),
        scale="integral",
    )
    assert swapped == pytest.approx(ours, abs=1e-12)


@given(samples().filter(both_classes))
def test_h_measure_lies_in_0_1_and_ignores_increasing_transforms(sample):
    rows = {"sample_weight": sample.weight}
    s = np.round(np.array(sample.score) * 16) / 16  # so that the transform keeps ties and order
    h = h_measure_score(sample.y, s, **rows)
    assert -1e-12 <= h <= 1 + 1e-12
    assert h_measure_score(sample.y, np.expm1(3 * s) - 5, **rows) == pytest.approx(h, abs=1e-12)


@given(samples().filter(both_classes))
def test_recall_averaged_over_a_continuous_budget_is_affine_in_auc(sample):
    table = table_of(sample)
    # the recall is linear between the ends of tied groups: the trapezoidal rule over them is exact
    taken = np.append(0.0, np.cumsum((table.positives + table.negatives)[::-1]))
    taken[-1] = table.total
    # a budget of at most 1 is said as a share, and one of all weight finds all
    shares = [float(w) if w > 1.0 else Fraction(w) / Fraction(table.total) for w in taken[1:-1]]
    found = top_k_scores(table, capacity=shares).recall if shares else []
    recall = np.concatenate([[0.0], found, [1.0]])
    mean = float(np.dot(np.diff(taken), recall[1:] + recall[:-1])) / 2 / table.total
    negatives = table.total_negatives / table.total
    assert mean == pytest.approx(table.prevalence / 2 + negatives * roc_auc_score(table), abs=1e-10)


def test_prevalence_reweighting_of_the_oracle(eval_reference):
    data = eval_reference["binary"]["ties_weights_edges"]
    for row in eval_reference["prevalence_reweighted"]:
        rows = {"y_true": data["y"], "y_prob": data["s"], "prevalence": row["target"]}
        bounds = (row["a"], row["b"])
        uniform = expected_regret(**rows, sample_weight=data["w"], costs=costs.Uniform(*bounds), scale="integral")
        logit = expected_regret(**rows, sample_weight=data["w"], costs=costs.LogOddsUniform(*bounds), scale="integral")
        assert uniform == pytest.approx(row["uniform"], abs=1e-12)
        assert logit == pytest.approx(row["logit"], abs=1e-12)
        table = ScoreTable.from_predictions(data["y"], data["s"], sample_weight=data["w"]).with_prevalence(
            row["target"]
        )
        benefit = table.prevalence - float(regret_curve(table).at(0.1)) / 0.9
        assert benefit == pytest.approx(row["net_benefit_at_0.1"], abs=1e-12)
        assert roc_auc_score(table) == pytest.approx(row["auc"], abs=1e-12)
