"""The three answers of the test, the implied weight, the curve, several classes."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_softmax, logit, softmax
from scipy.stats import chi2, norm

from stakes import ScoreTable, reliability_curve
from stakes.correction import (
    apply_class_weight,
    apply_sampling,
    implied_weight,
    loss_calibration_curve,
    loss_calibration_test,
    undo_class_weight,
)
from stakes.correction._loss_calibration import _basis, _multinomial_data, _start, holm


@pytest.fixture(scope="module")
def weighted():
    """Labels, their probabilities, and the scores of a model with positive share 0.9."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 5, 4000)
    y = (rng.random(4000) < p).astype(int)
    return y, p, apply_class_weight(p, positive_share=0.9)


def test_right_weight_stands_and_the_correction_is_what_is_left(weighted):
    y, p, scores = weighted
    found = loss_calibration_test(y, scores, positive_share=0.9, n_resamples=199, random_state=0)
    direct = loss_calibration_test(y, p, n_resamples=199, random_state=0)
    assert found.loss_calibrated
    assert found.largest_e_value == pytest.approx(direct.largest_e_value, rel=1e-8)
    assert found.likelihood_ratio == pytest.approx(direct.likelihood_ratio, abs=1e-8)
    assert found.after.brier == pytest.approx(np.mean((p - y) ** 2), abs=1e-12)
    assert found.before.brier == pytest.approx(np.mean((scores - y) ** 2), abs=1e-12)
    assert found.after.log_loss == pytest.approx(-np.mean(np.where(y, np.log(p), np.log1p(-p))), abs=1e-10)
    assert found.best.log_loss <= found.after.log_loss < found.before.log_loss
    assert found.implied.ci_low < 0.9 < found.implied.ci_high
    assert "is compatible with" in found.answers[0]


def test_wrong_weight_is_rejected_and_the_best_one_named(weighted):
    y, _, scores = weighted
    found = loss_calibration_test(y, scores, scale_pos_weight=3, n_resamples=99, random_state=0)
    assert not found.loss_calibrated
    assert found.miscalibration_p_value == 0.01
    assert found.largest_e_value > 1e6
    assert "is rejected by" in found.answers[0]
    assert "positive_share 0.9" in found.answers[1]
    assert found.best.miscalibration < found.after.miscalibration < found.before.miscalibration


@pytest.mark.parametrize("weight", [None, 3.0])
@pytest.mark.parametrize("events", [35, 50, 70])
def test_one_score_only_is_tested_by_its_intercept(events, weight):
    y, n = np.arange(200) < events, 200
    sample_weight = None if weight is None else np.full(n, weight)
    found = loss_calibration_test(y, np.full(n, 0.5), class_weight=[1, 3], sample_weight=sample_weight, n_resamples=0)
    g = 2 * (events * math.log(events / n / 0.25) + (n - events) * math.log((n - events) / n / 0.75))
    assert found.likelihood_ratio == pytest.approx(g, abs=1e-9)
    assert found.p_value == pytest.approx(chi2.sf(g, 1), abs=1e-9)
    assert found.loss_calibrated == (events == 50)
    assert ("is compatible with" if events == 50 else "is rejected by") in found.answers[0]
    assert found.status == "all scores are equal: their intercept alone was tested"


def test_what_cannot_be_tested_is_not_called_rejected():
    for scores in ([0.1, 0.2, 0.3], [0.2, 0.2, 0.2]):
        found = loss_calibration_test([0, 0, 0], scores, n_resamples=0)
        assert math.isnan(found.p_value)
        assert found.loss_calibrated
        assert found.answers[0].endswith(" could not be tested by the likelihood ratio: only one class is present")


def test_large_weights_are_written_as_ratios_for_shares_would_round_to_one():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 40, 20000) * 0.05
    y = rng.random(20000) < p
    scores = apply_class_weight(p, scale_pos_weight=50_000)
    found = loss_calibration_test(y, scores, scale_pos_weight=25_000, n_resamples=0)
    best, low, high = (share / (1 - share) for share in (found.implied.positive_share, *found.implied.interval))
    assert low < 50_000 < high
    assert found.answers[0].startswith("scale_pos_weight 25,000 is rejected by the labels")
    assert found.answers[1] == f"scale_pos_weight {best:,.0f} fits best (95% interval {low:,.0f} to {high:,.0f})"
    assert f"ImpliedWeight(scale_pos_weight={best:,.0f}, 95% interval {low:,.0f} to {high:,.0f}," in repr(found.implied)
    curve = loss_calibration_curve(y, scores, scale_pos_weight=25_000)
    assert repr(curve) == "LossCalibrationCurve(model, scale_pos_weight 25,000)"


def test_slope_that_no_weight_explains_is_said(weighted):
    y, p, _ = weighted
    found = loss_calibration_test(y, expit(1.7 * logit(p)), n_resamples=0)
    assert "no weight alone explains" in found.answers[1]


def test_sampling_and_weights_are_undone_together(weighted):
    y, p, _ = weighted
    both = apply_sampling(apply_class_weight(p, class_weight={1: 3}), keep={0: 0.25})
    found = loss_calibration_test(y, both, class_weight={1: 3}, keep={0: 0.25}, n_resamples=0)
    direct = loss_calibration_test(y, p, n_resamples=0)
    assert found.likelihood_ratio == pytest.approx(direct.likelihood_ratio, abs=1e-8)
    assert found.positive_share == pytest.approx(12 / 13)


def test_table_gives_the_same_except_what_needs_order(weighted):
    y, _, scores = weighted
    rows = loss_calibration_test(y, scores, positive_share=0.8, n_resamples=99, random_state=3)
    table = loss_calibration_test(
        ScoreTable.from_predictions(y, scores), positive_share=0.8, n_resamples=99, random_state=3
    )
    assert (table.p_value, table.z, table.miscalibration_p_value) == (rows.p_value, rows.z, rows.miscalibration_p_value)
    assert np.isnan(table.largest_e_value)
    assert "order" in table.status
    assert math.isnan(table._records()[-1]["p_value"])


def test_weighted_table_needs_its_rows_for_the_bootstrap():
    table = ScoreTable.from_predictions([0, 1, 0, 1], [0.2, 0.6, 0.5, 0.9], sample_weight=[1, 2, 1.5, 1])
    with pytest.raises(ValueError, match="needs its rows"):
        loss_calibration_test(table)
    assert np.isnan(loss_calibration_test(table, n_resamples=0).miscalibration_p_value)


def test_weights_enter_every_part_and_zero_weights_are_absent(weighted):
    y, _, scores = weighted
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    w[::3] = 0.0
    kept = w > 0
    one = loss_calibration_test(y, scores, positive_share=0.9, sample_weight=w, n_resamples=49, random_state=0)
    two = loss_calibration_test(
        y[kept], scores[kept], positive_share=0.9, sample_weight=w[kept], n_resamples=49, random_state=0
    )
    assert one.to_json() == two.to_json()
    assert one.after.brier == pytest.approx(
        np.average((undo_class_weight(scores, positive_share=0.9) - y) ** 2, weights=w)
    )


def test_logits_and_labels_of_other_kinds(weighted):
    y, _, scores = weighted
    plain = loss_calibration_test(y, scores, positive_share=0.9, n_resamples=0)
    words = np.where(y == 1, "yes", "no")
    other = loss_calibration_test(
        words, logit(scores), class_weight={"no": 1, "yes": 9}, pos_label="yes", logits=True, n_resamples=0
    )
    assert other.likelihood_ratio == pytest.approx(plain.likelihood_ratio, abs=1e-8)


@pytest.mark.parametrize("names", [(0, 1), (False, True), (-1, 1), ("fraud", "ok")])
@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize(("stated", "factors"), [("class_weight", (2, 5)), ("keep", (0.1, 1)), ("repeat", (3, 1))])
def test_numbers_in_the_order_of_two_columns_are_those_of_the_named_classes(names, positive, stated, factors):
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    labels = np.array(names)[(rng.random(3000) < p).astype(int)]
    odds = np.column_stack([1 - p, p]) * factors
    columns, pos_label = odds / odds.sum(axis=1, keepdims=True), names[positive]
    listed, named = (
        loss_calibration_test(labels, columns, pos_label=pos_label, n_resamples=0, **{stated: way})
        for way in (list(factors), dict(zip(names, factors, strict=True)))
    )
    assert listed.to_json() == named.to_json()
    assert listed.positive_share == pytest.approx(factors[positive] / sum(factors), abs=1e-12)
    assert listed.p_value > 0.01
    curve = loss_calibration_curve(labels, columns, pos_label=pos_label, **{stated: np.array(factors)})
    assert curve.positive_share == pytest.approx(listed.positive_share, abs=1e-12)
    if positive == 0:
        with pytest.raises(ValueError, match=rf"{stated} must be a mapping .* pos_label={pos_label!r} sorts first"):
            loss_calibration_test(labels, columns[:, 0], pos_label=pos_label, **{stated: list(factors)})


@pytest.mark.parametrize(("negative", "positive"), [("no", "yes"), ("ok", "fraud"), (1, 0)])
def test_stated_weights_are_those_of_the_positive_class(weighted, negative, positive):
    y, _, scores = weighted
    named = np.where(y == 1, positive, negative)
    plain = loss_calibration_test(y, scores, positive_share=0.9, n_resamples=0)
    ways = [
        {"class_weight": {negative: 1, positive: 9}},
        {"class_weight": {positive: 9}},
        {"class_weight": {positive: 3}, "keep": {negative: 1 / 3}},
        {"class_weight": [1, 9], "labels": [negative, positive]},
        {"class_weight": "balanced", "y_train": np.repeat([negative, positive], [90, 10])},
        {"class_weight": {negative: 1, positive: 9}, "labels": [negative, positive]},
    ]
    for stated in ways:
        found = loss_calibration_test(named, scores, pos_label=positive, n_resamples=0, **stated)
        assert found.likelihood_ratio == pytest.approx(plain.likelihood_ratio, abs=1e-8)
        drawn = loss_calibration_curve(named, scores, pos_label=positive, **stated)
        assert drawn.positive_share == pytest.approx(0.9, abs=1e-12)
    with pytest.raises(ValueError, match=r"labels must end with the positive class, pos_label="):
        loss_calibration_test(named, scores, pos_label=positive, class_weight=[1, 9], labels=[positive, negative])
    if {negative, positive} == {0, 1}:  # positive_share is then that of class 1, whichever comes last in labels=
        for function in (loss_calibration_test, loss_calibration_curve):
            with pytest.raises(ValueError, match=r"labels must end with the positive class, pos_label=1, got \[1, 0\]"):
                function(1 - named, scores, class_weight={0: 1, 1: 9}, labels=[1, 0])
    with pytest.raises(ValueError, match=r"labels must end with the positive class, pos_label=.*got \[\]"):
        loss_calibration_curve(named, scores, pos_label=positive, class_weight=[1, 9], labels=[])
    with pytest.raises(ValueError, match=r"y_train must be 1-D with at least one label, got shape \(\)"):
        loss_calibration_test(named, scores, pos_label=positive, class_weight="balanced", y_train=-0.0)
    for several in ({"a": 1}, {1}):
        with pytest.raises(ValueError, match=rf"pos_label must be one label, got {several!r}"):
            loss_calibration_test([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.3], pos_label=several, repeat={0: 2, 1: 1})
    with pytest.raises(ValueError, match=r"pos_label must be one label, got array\(\[\], dtype=float64\)"):
        loss_calibration_curve(named, scores, pos_label=np.array([]), labels="0.5")
    same = loss_calibration_curve(named, scores, pos_label=np.array(positive), class_weight={negative: 1, positive: 9})
    assert same.positive_share == pytest.approx(0.9, abs=1e-12)
    for none, shape in (([[0.1]], "1, 1"), ([], "0,")):
        with pytest.raises(ValueError, match=rf"y_train must be 1-D with at least one label, got shape \({shape}\)"):
            loss_calibration_test(named, scores, pos_label=positive, class_weight="balanced", y_train=none)


def test_results_are_tables(weighted):
    y, _, scores = weighted
    found = loss_calibration_test(y, scores, positive_share=0.9, n_resamples=19, random_state=0)
    rows = found._records()
    assert [row["test"] for row in rows] == ["likelihood ratio", "Spiegelhalter z", "CORP miscalibration", "e-value"]
    assert rows[-1]["p_value"] == pytest.approx(min(1.0, 1.0 / found.largest_e_value))
    assert found.to_markdown().startswith("| test | statistic | p_value |")
    weak = replace(found, largest_e_value=0.5)
    assert weak._records()[-1]["p_value"] == 1.0


@pytest.mark.parametrize("n_resamples", [-1, 1.5])
def test_number_of_draws_is_checked(n_resamples):
    with pytest.raises(ValueError, match="n_resamples must be a whole number"):
        loss_calibration_test([0, 1], [0.2, 0.6], n_resamples=n_resamples)


# The implied weight


def test_implied_weight_by_a_general_optimiser(weighted):
    y, _, scores = weighted
    x = logit(scores)

    def loss(t, slope=1.0):
        return np.logaddexp(0.0, np.where(y, -1, 1) * (t + slope * x)).sum()

    best = minimize(lambda t: loss(t[0]), [0.0], tol=1e-12)
    free = minimize(lambda t: loss(*t), [0.0, 1.0], tol=1e-12)
    found = implied_weight(y, scores)
    assert found.positive_share == pytest.approx(expit(-best.x[0]), abs=1e-6)
    assert found.p_value == pytest.approx(chi2.sf(2 * (loss(0.0) - best.fun), 1), rel=1e-4)
    assert found.slope == pytest.approx(free.x[1], abs=1e-5)
    assert found.slope_p_value == pytest.approx(chi2.sf(2 * (best.fun - free.fun), 1), abs=1e-5)
    assert found.scale_pos_weight == pytest.approx(np.exp(-best.x[0]), rel=1e-5)


@pytest.mark.simulation
def test_intervals_of_the_implied_weight_cover():
    rng = np.random.default_rng(2)
    share, slope = 0, 0
    for _ in range(300):
        p = rng.beta(2, 6, 500)
        y = rng.random(500) < p
        found = implied_weight(y, apply_class_weight(p, positive_share=0.8), confidence_level=0.9)
        share += found.ci_low <= 0.8 <= found.ci_high
        slope += found.slope_ci_low <= 1.0 <= found.slope_ci_high
    assert 247 <= share <= 293  # 270 expected, 5.2 of standard error
    assert 247 <= slope <= 293


@pytest.mark.parametrize("factor", [0.5, 1.0, 40.0])
@pytest.mark.parametrize("uneven", [False, True])
def test_scale_of_weights_does_not_matter_where_scores_separate_the_classes(factor, uneven):
    y, scores = np.repeat([0, 1], 8), np.linspace(0.1, 0.9, 16)
    w = np.linspace(0.5, 2.0, 16) if uneven else np.ones(16)
    # with an infinite slope every row is fitted exactly; the intercept alone at slope 1 is fitted by a root
    shift = brentq(lambda c: w @ (expit(logit(scores) + c) - y), -10.0, 10.0)
    gain = 2.0 * w @ np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * (logit(scores) + shift))
    effect = (w @ w) / w.sum()
    found = implied_weight(y, scores, sample_weight=factor * w)
    assert found.slope_p_value == pytest.approx(chi2.sf(gain / effect, 1), rel=1e-9)


def test_weights_widen_the_interval_of_the_implied_weight(weighted):
    y, _, scores = weighted
    w = np.random.default_rng(3).exponential(1.0, len(y)) + 0.01
    plain, uneven = implied_weight(y, scores), implied_weight(y, scores, sample_weight=w)
    ratio = (uneven.ci_high - uneven.ci_low) / (plain.ci_high - plain.ci_low)
    assert ratio == pytest.approx(math.sqrt(2.0), rel=0.15)  # E w^2 / (E w)^2 = 2 for exponential weights


@pytest.mark.parametrize(
    ("y", "scores", "reason"),
    [
        ([0, 0, 0], [0.1, 0.2, 0.3], "only one class"),
        ([0, 1, 1], [0.1, 0.0, 0.3], "exactly 0 or 1 was wrong"),
        ([0, 1, 1], [0.0, 1.0, 1.0], "every score is exactly 0 or 1"),
    ],
)
def test_undefined_weight_says_why(y, scores, reason):
    found = implied_weight(y, scores)
    assert np.isnan([found.positive_share, found.ci_low, found.p_value]).all()
    assert reason in found.status
    assert reason in repr(found)


def test_certain_scores_are_left_aside_and_one_score_has_no_slope():
    found = implied_weight([0, 1, 0, 1], [0.0, 0.4, 0.4, 1.0])
    assert found.positive_share == pytest.approx(0.4)
    assert np.isnan(found.slope)
    assert "left aside" in found.status
    assert "all scores are equal" in found.status


@pytest.mark.parametrize("constant", [1e-20, 1e-200, 1e-300])
@pytest.mark.parametrize("weighted", [False, True])
def test_very_small_scores_have_the_slope_of_their_logarithms(constant, weighted):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p = rng.beta(1, 4, 200)
        y, s = rng.random(200) < p, p * 30 / (p * 30 + 1 - p)
        w = rng.exponential(1.0, 200) if weighted else np.ones(200)

        def loss(t, y=y, s=s, w=w):
            eta = t[0] + t[1] * (np.log(s) - np.log(s).mean())
            return (w * (np.logaddexp(0.0, eta) - y * eta)).sum()

        best = minimize(loss, [0.0, 1.0], tol=1e-10).x
        found = implied_weight(y, s * constant, sample_weight=w)
        assert found.slope == pytest.approx(best[1], rel=1e-3)
        assert found.slope_ci_low < best[1] < found.slope_ci_high
        test = loss_calibration_test(y, s * constant, sample_weight=w, n_resamples=0)
        assert test.p_value < 1e-6


def test_table_and_prevalence_are_accepted(weighted):
    y, _, scores = weighted
    table = ScoreTable.from_predictions(y, scores)
    assert implied_weight(table) == implied_weight(y, scores)
    # twice the odds of the classes among the judged rows is half the weight
    odds = table.prevalence / (1 - table.prevalence)
    doubled = implied_weight(table, prevalence=2 * odds / (1 + 2 * odds))
    assert doubled.scale_pos_weight == pytest.approx(implied_weight(table).scale_pos_weight / 2, rel=0.02)


# The curve


def test_curve_holds_reliability_before_and_after(weighted):
    y, p, scores = weighted
    curve = loss_calibration_curve(y, scores, positive_share=0.9, n_bins=10, name="model")
    at = np.linspace(scores.min(), scores.max(), 50)
    assert curve.before.at(at) == pytest.approx(reliability_curve(y, scores).at(at))
    assert curve.after.block_rate == pytest.approx(curve.before.block_rate)
    assert curve.after.block_low == pytest.approx(undo_class_weight(curve.before.block_low, positive_share=0.9))
    assert curve.bins_after.mean_score == pytest.approx(np.sort(p).reshape(10, 400).mean(axis=1), rel=1e-6)
    assert curve.expected_rate([0.0, 0.9, 1.0]) == pytest.approx([0.0, 0.5, 1.0])
    rows = curve._records()
    assert len(rows) == 10
    assert np.mean([row["ci_low"] <= row["expected_rate"] <= row["ci_high"] for row in rows]) >= 0.7


def test_curve_refuses_bad_input():
    with pytest.raises(ValueError, match="n_bins must be a whole number"):
        loss_calibration_curve([0, 1], [0.2, 0.6], n_bins=0)
    with pytest.raises(ValueError, match="exactly one of"):
        loss_calibration_curve([0, 1], [0.2, 0.6], pos_weight=2, positive_share=0.5)


def test_no_class_weight_is_needed_where_every_cell_has_the_shares_it_states():
    cells = np.array([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.4, 0.2, 0.4], [0.3, 0.1, 0.6]])
    y = np.concatenate([np.repeat([0, 1, 2], np.rint(10 * cell).astype(int)) for cell in cells])
    found = loss_calibration_test(y, np.repeat(cells, 10, axis=0), n_resamples=0)
    assert found.vector_statistic == pytest.approx(0.0, abs=1e-9)
    assert found.vector_p_value == pytest.approx(1.0)


def test_scores_that_become_equal_are_pooled():
    scores = 1.0 - np.array([4, 3, 2, 1]) * 2.0**-53
    curve = loss_calibration_curve([0, 1, 0, 1], scores, positive_share=1e-3)
    assert curve.after.block_weight.tolist() == [4.0]
    assert curve.after.block_rate.tolist() == [0.5]


# Several classes


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(4)
    p = rng.dirichlet([2.0, 1.0, 0.7], 1500)
    y = (rng.random((1500, 1)) > p.cumsum(axis=1)).sum(axis=1)
    return y, p, apply_class_weight(p, class_weight=[1.0, 3.0, 8.0])


def test_vector_test_by_a_general_optimiser(three):
    y, p, scores = three
    found = loss_calibration_test(y, scores, class_weight=[1.0, 3.0, 8.0], n_resamples=0)
    ratios = np.log(p[:, 1:] / p[:, :1])
    design = np.column_stack([np.ones(len(p)), ratios])

    def loss(t):
        eta = np.column_stack([np.zeros(len(p)), design @ t.reshape(2, 3).T])
        return -log_softmax(eta, axis=1)[np.arange(len(p)), y].sum()

    start = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    best = minimize(loss, start, tol=1e-10)
    assert found.vector_statistic == pytest.approx(2 * (loss(start) - best.fun), abs=1e-5)
    assert found.vector_degrees == 6
    assert found.vector_p_value == pytest.approx(chi2.sf(found.vector_statistic, 6))


def test_each_coordinate_is_the_binary_test_of_its_class(three):
    y, p, scores = three
    found = loss_calibration_test(y, scores, class_weight=[1.0, 3.0, 8.0], n_resamples=49, random_state=0)
    for k in range(3):
        alone = loss_calibration_test(y == k, p[:, k], n_resamples=0)
        assert found.p_value[k] == pytest.approx(alone.p_value, rel=1e-6)
        assert found.z_p_value[k] == pytest.approx(alone.z_p_value, rel=1e-6)
        assert found.miscalibration[k] == pytest.approx(alone.miscalibration, abs=1e-10)
    assert [row["class"] for row in found._records()] == [0, 1, 2]


def test_implied_weights_of_several_classes_and_wrong_ones(three):
    y, _, scores = three
    found = loss_calibration_test(y, scores, n_resamples=0)
    assert found.vector_p_value < 1e-10
    assert found.class_weight[0] == 1.0
    assert np.all((found.ci_low[1:] < [3.0, 8.0]) & (found.ci_high[1:] > [3.0, 8.0]))
    assert np.all(found.holm_p_value >= found.p_value)


def test_intervals_of_several_weights_come_from_the_curvature(three):
    y, _, scores = three
    found = loss_calibration_test(y, scores, n_resamples=0)

    def loss(c):
        eta = np.log(scores) + np.append(0.0, c)
        return -log_softmax(eta, axis=1)[np.arange(len(y)), y].sum()

    at, step = -np.log(found.class_weight[1:]), 1e-3
    moves = np.eye(2) * step
    hessian = [
        [(loss(at + a + b) - loss(at + a - b) - loss(at - a + b) + loss(at - a - b)) / (4 * step**2) for b in moves]
        for a in moves
    ]
    error = np.sqrt(np.diag(np.linalg.inv(hessian)))
    assert np.log(found.ci_high[1:] / found.ci_low[1:]) / (2 * 1.959964) == pytest.approx(error, rel=1e-3)


def test_two_classes_as_a_vector_are_the_binary_test(weighted):
    from stakes.correction._loss_calibration import _vector

    y, p, _ = weighted
    statistic, degrees, *_ = _vector(np.column_stack([1 - p, p]), y, None)
    assert degrees == 2
    assert statistic == pytest.approx(loss_calibration_test(y, p, n_resamples=0).likelihood_ratio, abs=1e-7)


@pytest.mark.parametrize("rows", [[[0.5, 0.3, 0.2]], [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]]])
@pytest.mark.parametrize("weight", [None, 2.0])
def test_vector_of_few_distinct_rows_is_the_g_test_of_the_counts(rows, weight):
    rng, groups = np.random.default_rng(3), [np.array(row) for row in rows]
    y = [rng.choice(3, 200, p=[0.42, 0.33, 0.25]) for _ in groups]
    scores = np.repeat(groups, 200, axis=0)
    sample_weight = None if weight is None else np.full(len(scores), weight)
    found = loss_calibration_test(np.concatenate(y), scores, sample_weight=sample_weight, n_resamples=0)
    counts = [np.bincount(each, minlength=3) for each in y]
    g = sum(2 * (n * np.log(n / 200 / row)).sum() for n, row in zip(counts, groups, strict=True))
    assert found.vector_statistic == pytest.approx(g, rel=1e-8)
    assert found.vector_degrees == 2 * len(groups)
    assert found.vector_p_value == pytest.approx(chi2.sf(g, 2 * len(groups)))


@pytest.mark.parametrize("weighted", [False, True])
def test_several_classes_with_very_small_scores(weighted):
    rng = np.random.default_rng(4)
    small = rng.random((300, 2)) * [1e-200, 1e-300]
    scores = np.column_stack([1.0 - small.sum(axis=1), small])
    y, weight = rng.choice(3, 300, p=[0.5, 0.3, 0.2]), rng.exponential(1.0, 300) if weighted else None
    found = loss_calibration_test(y, scores, sample_weight=weight, n_resamples=0)
    assert found.vector_p_value < 1e-9
    # the weights that fit make the mean odds those of the labels: far from 1, on a scale of logarithms
    assert np.log10(found.class_weight[1:]) == pytest.approx([-200, -300], abs=2)
    assert np.all(found.ci_low <= found.class_weight)
    assert np.all(found.class_weight <= found.ci_high)


@pytest.mark.parametrize(("far", "seed"), [(10.0, 59), (10.0, 88), (10.0, 126), (30.0, 11), (30.0, 41)])
def test_weights_of_classes_meet_the_counts_however_far_the_scores_are(far, seed):
    """The likeliest weights are those whose corrected scores add up to the rows of each class."""
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(10.0 ** rng.uniform(-2.0, 1.0, 3), 60)
    y = (rng.random((60, 1)) > prob.cumsum(axis=1)[:, :-1]).sum(axis=1)
    scores = softmax(far / 10.0 * np.log(np.clip(prob, 1e-60, 1.0)) + rng.normal(0.0, far, 3), axis=1)
    scores = np.clip(scores, 1e-250, 1.0)
    scores /= scores.sum(axis=1, keepdims=True)
    found = loss_calibration_test(y, scores, n_resamples=0)
    log = np.log(scores) - np.log(found.class_weight)
    assert softmax(log, axis=1).sum(axis=0) == pytest.approx(np.bincount(y), abs=1e-3)
    assert np.all((found.ci_low <= found.class_weight) & (found.class_weight <= found.ci_high))


def test_weights_of_separated_classes_have_no_ends():
    """Of the ratios 1e-200 and 1e+200 any weight between them fits."""
    scores = np.repeat([[1.0, 1e-200, 1e-220], [1e-200, 1.0, 1e-220], [1e-200, 1e-220, 1.0]], 20, axis=0)
    found = loss_calibration_test(np.repeat([0, 1, 2], 20), scores, n_resamples=0)
    assert found.ci_low.tolist() == [1.0, 0.0, 0.0]
    assert found.ci_high.tolist() == [1.0, np.inf, np.inf]


def test_a_fit_to_scores_far_from_the_shares_of_the_classes_begins_near_these():
    counts, score = np.array([3.0, 600.0, 297.0]), np.array([1.0 - 1e-90 - 1e-200, 1e-90, 1e-200])
    index = np.repeat(np.arange(3), counts.astype(int))
    data = _multinomial_data(np.tile(score, (900, 1)), index, None)
    assert data.probabilities(data.predictor(_start(data)))[0] == pytest.approx((counts[1:] + 0.5) / 901.5)


def test_a_coordinate_that_cannot_be_tested_is_said_without_a_warning(recwarn):
    found = loss_calibration_test([0] * 30, np.tile([0.5, 0.3, 0.2], (30, 1)), n_resamples=0)
    assert "no coordinate could be tested" in repr(found)
    assert not recwarn.list


@pytest.mark.simulation
def test_size_of_the_vector_test():
    rng = np.random.default_rng(5)
    p_values = []
    for _ in range(300):
        p = rng.dirichlet([2.0, 1.0, 1.0], 300)
        y = (rng.random((300, 1)) > p.cumsum(axis=1)).sum(axis=1)
        p_values.append(loss_calibration_test(y, p, n_resamples=0).vector_p_value)
    assert 3 <= np.sum(np.array(p_values) <= 0.05) <= 32


def test_weighted_rows_of_several_classes(three):
    y, _, scores = three
    w = np.random.default_rng(6).uniform(0.5, 2.0, len(y))
    w[:100] = 0.0
    found = loss_calibration_test(y, scores, class_weight=[1, 3, 8], sample_weight=w, n_resamples=19, random_state=0)
    same = loss_calibration_test(
        y[100:], scores[100:], class_weight=[1, 3, 8], sample_weight=w[100:], n_resamples=19, random_state=0
    )
    assert found.to_json() == same.to_json()
    assert found.vector_p_value > 1e-4


def test_weighted_intervals_of_each_class_are_those_of_the_jackknife(three):
    y, _, scores = three
    y, scores = y[:400], scores[:400]
    w = np.where(y == 2, np.random.default_rng(5).exponential(4.0, 400), 1.0)  # one class alone is unevenly weighted

    def logs(rows):
        found = loss_calibration_test(y[rows], scores[rows], sample_weight=w[rows], n_resamples=0)
        return np.log([found.class_weight, found.ci_low, found.ci_high])[:, 1:]

    everything, groups = np.arange(400), np.arange(400) % 100  # four rows at a time
    without = np.array([logs(everything[groups != group])[0] for group in range(100)])
    spread = np.sqrt(99 / 100 * np.sum((without - without.mean(axis=0)) ** 2, axis=0))
    _, low, high = logs(everything)
    assert (high - low) / (2 * norm.ppf(0.975)) == pytest.approx(spread, rel=0.12)  # 1.5 with a common factor


@pytest.mark.parametrize("unit", [1e-40, 1e-12, 1e12])
def test_answers_of_several_classes_do_not_depend_on_the_unit_of_weights(unit, three):
    y, _, scores = three
    w = np.random.default_rng(7).uniform(0.5, 2.0, 400)
    plain, found = (loss_calibration_test(y[:400], scores[:400], sample_weight=u * w, n_resamples=0) for u in (1, unit))
    for name in ("class_weight", "ci_low", "ci_high", "likelihood_ratio", "vector_statistic"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-6)


def test_weighted_slope_is_tested_with_its_own_variance():
    rng = np.random.default_rng(10)
    x = rng.normal(-1.0, 1.5, 2000)
    y, w = rng.random(2000) < expit(0.9 * x), np.where(x > 0.5, 8.0, 1.0)  # weights go with the score
    found = implied_weight(y, expit(x), sample_weight=w)

    def slope(rows):
        return implied_weight(y[rows], expit(x[rows]), sample_weight=w[rows]).slope

    groups = np.arange(2000) % 100  # the jackknife, 20 rows at a time
    without = np.array([slope(groups != group) for group in range(100)])
    spread = math.sqrt(99 / 100 * np.sum((without - without.mean()) ** 2))
    assert norm.isf(found.slope_p_value / 2) == pytest.approx(abs(found.slope - 1.0) / spread, rel=0.05)


def test_zeros_and_few_rows_are_said(three):
    y, _, scores = three
    rows = scores.copy()
    rows[0] = np.eye(3)[y[0]]
    assert "1 rows with a probability of 0" in loss_calibration_test(y, rows, n_resamples=0).status
    rows[0] = np.eye(3)[(y[0] + 1) % 3]
    wrong = loss_calibration_test(y, rows, n_resamples=0)
    assert (wrong.vector_statistic, wrong.vector_p_value) == (math.inf, 0.0)
    few = loss_calibration_test(y[:20], scores[:20], n_resamples=0)
    assert np.isnan(few.vector_p_value)
    assert "too few rows (20)" in few.status


def test_holm_adjustment_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03, np.nan])) == pytest.approx([0.03, 0.06, 0.06, np.nan], nan_ok=True)
    assert holm(np.array([0.6, 0.7])).tolist() == [1.0, 1.0]


def test_logits_of_several_classes_are_refused(three):
    y, p, _ = three
    with pytest.raises(ValueError, match="pass the softmax"):
        loss_calibration_test(y, np.log(p), logits=True)


def test_five_rows_per_parameter_are_enough(three):
    y, _, scores = three
    found = loss_calibration_test(y[:30], scores[:30], n_resamples=0)  # a vector of three classes has six parameters
    assert np.isfinite(found.vector_p_value)
    assert "too few rows" not in found.status


def test_weight_of_zero_leaves_nothing_to_correct():
    found = loss_calibration_test([1] * 18 + [0] * 2, [5e-324] * 20, n_resamples=0)
    assert found.implied.scale_pos_weight == 0.0
    assert all(np.isnan(part) for part in vars(found.best).values())


def test_a_weight_is_of_the_class_that_names_its_column():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet([1.0] * 3, 400)
    y = np.array([1 + rng.choice(3, p=row) for row in prob])
    frame = pytest.importorskip("pandas").DataFrame(prob, columns=["1", "2", "3"])
    options = {"class_weight": {1: 5.0}, "n_resamples": 99, "random_state": 0}
    found = loss_calibration_test(y, frame, **options)
    expected = loss_calibration_test(y, prob, labels=[1, 2, 3], **options)
    assert found.classes == expected.classes == (1, 2, 3)
    assert found.vector_statistic == expected.vector_statistic
    assert found.p_value.tolist() == expected.p_value.tolist()


@pytest.mark.parametrize("names", [["low", "medium", "high"], [20, 10, 30]])
@pytest.mark.parametrize("rows", ["labels", "one-hot"])
def test_answers_of_classes_have_their_names_whatever_the_order_of_the_columns(three, names, rows):
    y, p, scores = three
    pd = pytest.importorskip("pandas")
    labels, weights = np.array(names)[y], dict(zip(names, [1.0, 3.0, 8.0], strict=True))
    if rows == "one-hot":
        labels = pd.get_dummies(labels).astype(int)
    turned = pd.DataFrame(scores, columns=names)[names[::-1]]
    found = loss_calibration_test(labels, turned, class_weight=weights, n_resamples=0)
    assert {*found.classes} == {*names}
    assert [row["class"] for row in found._records()] == [*found.classes]
    first = weights[found.classes[0]]
    for name, weight, p_value in zip(found.classes, found.class_weight, found.p_value, strict=True):
        alone = loss_calibration_test(y == names.index(name), p[:, names.index(name)], n_resamples=0)
        assert weight == pytest.approx(weights[name] / first, rel=0.4)
        assert p_value == pytest.approx(alone.p_value, rel=1e-6)


@pytest.mark.parametrize("labels", [(0, 1), (1, 0), ("good", "bad"), ("bad", "good")])
def test_a_table_knows_which_class_is_which(labels):
    # a table carries the names of its classes, so what is stated by class is that of the rows
    rng = np.random.default_rng(0)
    scores = rng.random(60)
    y = np.array(labels)[(rng.random(60) < scores).astype(int)]
    table = ScoreTable.from_predictions(y, scores, pos_label=labels[1])
    for stated in (
        {"class_weight": {labels[1]: 4, labels[0]: 1}},
        {"keep": {labels[0]: 0.25}},
        {"class_weight": "balanced", "y_train": [labels[0]] * 4 + [labels[1]]},
        {"class_weight": [1, 4], "labels": list(labels)},
        {"scale_pos_weight": 4},
    ):
        for function in (partial(loss_calibration_test, n_resamples=0), loss_calibration_curve):
            assert function(table, **stated).positive_share == pytest.approx(0.8)
            assert function(y, scores, pos_label=labels[1], **stated).positive_share == pytest.approx(0.8)


def test_what_is_listed_in_the_order_of_classes_needs_a_mapping_where_the_positive_class_of_a_table_sorts_first():
    table = ScoreTable.from_predictions([0, 1, 1], [0.3, 0.4, 0.2], pos_label=0)
    with pytest.raises(ValueError, match=r"^class_weight must be a mapping of label to number beside one column"):
        loss_calibration_test(table, class_weight=[4, 1])
    with pytest.raises(ValueError, match=r"^labels must end with the positive class of the table, 0, got \[0, 1\]"):
        loss_calibration_test(table, class_weight={0: 4}, labels=[0, 1])


def test_columns_span_as_many_dimensions_as_differ():
    x = np.random.default_rng(0).normal(size=50)
    for columns, rank in ((np.zeros((50, 2)), 0), (np.column_stack([x, 2.0 * x]), 1), (np.column_stack([x, x**2]), 2)):
        basis = _basis(columns)
        assert basis.shape == (50, rank)
        np.testing.assert_allclose(basis.T @ basis, 50.0 * np.eye(rank), atol=1e-9)
