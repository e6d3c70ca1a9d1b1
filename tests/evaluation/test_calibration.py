"""Calibration in an evaluation: that of the summary, within the range too, with clusters, weights, order, tables."""

import json
import math

import numpy as np
import pytest

from stakes import ScoreTable, evaluate
from stakes.inference import calibration_summary

RNG = np.random.default_rng(3)
Q = RNG.beta(1.2, 5, 1500)
Y = RNG.random(1500) < Q
MODELS = {"sharp": 1 / (1 + np.exp(-1.6 * np.log(Q / (1 - Q)))), "fair": Q}
RANGE = (0.1, 0.4)
CLUSTERS = np.arange(1500) // 3


def same(found, expected):
    for name in ("o_e_ratio", "calibration_in_the_large", "slope", "joint_intercept", "ici", "e90"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-9), name
        assert found.interval(name) == pytest.approx(expected.interval(name), rel=1e-6, nan_ok=True), name


@pytest.mark.parametrize(
    "options",
    [{}, {"sample_weight": RNG.integers(1, 4, 1500)}, {"clusters": CLUSTERS}, {"lags": "auto"}, {"prevalence": 0.3}],
    ids=lambda options: "".join(options) or "plain",
)
def test_calibration_of_an_evaluation_is_that_of_the_summary(options):
    found = evaluate(Y, MODELS, costs=RANGE, **options).calibration
    for name, scores in MODELS.items():
        same(found.of(name).overall, calibration_summary(Y, scores, **options))


@pytest.mark.parametrize("options", [{}, {"clusters": CLUSTERS}], ids=["rows", "clusters"])
def test_calibration_within_the_range_is_that_of_the_cases_scored_there(options):
    found = evaluate(Y, MODELS, costs=RANGE, **options).calibration
    for name, scores in MODELS.items():
        inside = (scores >= RANGE[0]) & (scores <= RANGE[1])
        mine = {key: value[inside] for key, value in options.items()}
        same(found.of(name).in_range, calibration_summary(Y[inside], scores[inside], **mine))
        assert found.of(name).in_range.n_rows == inside.sum()


def test_a_table_that_stands_for_the_rows_has_the_same_calibration():
    table = ScoreTable.from_predictions(Y, Q)
    found, expected = evaluate(table, costs=RANGE).calibration[0], evaluate(Y, Q, costs=RANGE).calibration[0]
    same(found.overall, expected.overall)
    same(found.in_range, expected.in_range)


def test_decisions_fitted_to_dependent_rows_leave_the_calibration_of_the_scores_without_intervals():
    found = evaluate(Y, MODELS, costs=RANGE, rule="optimal", clusters=CLUSTERS).calibration.of("fair").overall
    assert found.slope == pytest.approx(calibration_summary(Y, Q).slope)
    assert np.isnan(found.interval("slope")).all()
    assert "where decisions are fitted" in found.note


def test_a_range_without_scores_says_so():
    pytest.importorskip("pandas")
    record = evaluate(Y, Q / 10, costs=(0.5, 0.6)).calibration.frame("pandas").iloc[1]
    assert (record["cases"], record["n_rows"], record["note"]) == ("in range", 0, "no score in the range")
    assert math.isnan(record["slope"])


def test_table_has_two_rows_for_each_model_in_the_order_of_the_ranking():
    pytest.importorskip("pandas")
    evaluation = evaluate(Y, MODELS, costs=RANGE)
    frame = evaluation.calibration.frame("pandas")
    assert list(frame["model"]) == [name for name in evaluation.ranking for _ in range(2)]
    assert list(frame["cases"]) == ["all", "in range"] * 2
    assert {"o_e_ratio_ci_low", "slope_ci_high", "ici", "n_positives"} <= set(frame.columns)
    assert np.isnan(frame["emax_ci_low"]).all()
    assert (frame["note"] == "").all()


def test_json_holds_the_calibration_on_request():
    evaluation = evaluate(Y, MODELS, costs=RANGE)
    assert "calibration" not in json.loads(evaluation.to_json())
    found = json.loads(evaluation.to_json(calibration=True))["calibration"]
    assert found[0]["slope"] == evaluation.calibration[0].overall.slope


def test_part_of_a_table_is_the_table_of_its_rows():
    weight = RNG.integers(1, 4, 1500)
    score = np.round(Q, 2)
    inside = (score >= 0.1) & (score <= 0.4)
    found = ScoreTable.from_predictions(Y, score).within(0.1, 0.4)
    expected = ScoreTable.from_predictions(Y[inside], score[inside])
    assert found.n_rows == expected.n_rows
    assert np.array_equal(found.scores, expected.scores)
    assert np.array_equal(found.positives, expected.positives)
    weighted = ScoreTable.from_predictions(Y, score, sample_weight=weight).within(0.1, 0.4)
    assert weighted.prevalence == pytest.approx(np.average(Y[inside], weights=weight[inside]))
    with pytest.raises(ValueError, match=r"low and high must hold scores of the table, got \(0.995, 1\)"):
        ScoreTable.from_predictions(Y, score).within(0.995, 1)
