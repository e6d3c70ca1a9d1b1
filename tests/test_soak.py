"""Short runs of the harness of `python -m tests.soak`, and what its long runs have found."""

from importlib import import_module

import numpy as np
import pytest

from stakes import ScoreTable, actions, correction, costs, curves, evaluation, inference, information, metrics, outcomes
from tests import soak_calls, soak_meanings
from tests.mistakes import assert_named

Y, P = np.array([0, 1, 0, 1, 1, 0, 0, 1]), np.array([0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9])
ARRAY = np.array([[0.1, 0.2]])
PLAN = {"question": "net_benefit", "prevalence": 0.3, "sensitivity": 0.8, "specificity": 0.7, "threshold": 0.2}
FOUND = {
    "name unhashable": ("name", lambda: metrics.get_scorer({"a": 1})),
    "mode text": ("mode", lambda: costs.Triangular(0.0, "0.1", 0.5)),
    "bounds arrays": ("bounds", lambda: costs.Uniform(0.0, ARRAY)),
    "pair beyond floats": ("costs", lambda: costs.as_costs((0, 10**400))),
    "pdf no function": ("pdf", lambda: costs.Density(["a"], 0, 1)),
    "covariance shape": ("covariance", lambda: inference.largest_of([0.1, 0.2], (0.3, 0.1))),
    "edges infinite": ("edges", lambda: evaluation.best_by_bounds({"a": inference_table()}, edges=np.inf)),
    "references array": ("references", lambda: evaluation.best_by_cost({"a": inference_table()}, references=ARRAY)),
    "weights a number": ("weights", lambda: costs.Mixture([costs.Uniform(0, 1)], -1)),
    "loss no function": ("loss", lambda: metrics.check_proper("brier")),
    "points no numbers": ("points", lambda: metrics.check_proper(lambda p, k: 1 - p[k], points="a")),
    "class_weight no numbers": ("class_weight", lambda: metrics.one_vs_rest_bounded_loss(Y, two(), class_weight=len)),
    "actions a flag": (
        "actions",
        lambda: actions.evaluate_actions(Y, {"a": two()}, matrices=[[0, 1], [4, 0]], actions=True),
    ),
    "missing labels": ("y_true", lambda: actions.evaluate_actions([None] * 8, {"a": two()}, matrices=[[0, 1], [4, 0]])),
    "pos_label array": ("pos_label", lambda: metrics.bounded_brier_loss(Y, P, pos_label=ARRAY)),
    "more_rows a number": ("more_rows", lambda: information.value_of_information(Y, P, costs=0.2, more_rows=1e308)),
    "decisions no number": ("decisions", lambda: information.value_of_information(Y, P, costs=0.2, decisions=object())),
    "width too small": ("width", lambda: information.rows_needed(**PLAN, width=1e-300)),
    "method array": ("method", lambda: inference.metric_interval(Y, P, "roc_auc_score", method=ARRAY)),
    "probability array": ("probability", lambda: inference.bootstrap(Y, P, "roc_auc_score", probability=ARRAY)),
    "prevalence subnormal": ("prevalence", lambda: metrics.bounded_brier_loss(Y, P, prevalence=5e-324)),
    "scale array": ("scale", lambda: metrics.expected_regret(Y, P, costs=0.2, scale=ARRAY)),
    "lags array": ("lags", lambda: evaluation.evaluate(Y, P, costs=0.2, lags=np.array([]))),
    "metrics nested": ("metrics", lambda: evaluation.evaluate(Y, P, costs=0.2, metrics=[[0.1]])),
    "cause no label": ("cause", lambda: outcomes.TimeToEvent(event=Y, time=P + 1, horizon=4.0, cause=["a", "b"])),
    "censored array": (
        "censored",
        lambda: outcomes.TimeToEvent(event=Y, time=P + 1, horizon=4.0, censored=[0.1, np.nan]),
    ),
    "roi infinite": ("roi", lambda: costs.credit_profit(roi=np.inf)),
    "flag of a curve": ("drop_intermediate", lambda: curves.roc_curve(Y, P, drop_intermediate=ARRAY)),
    "flag array": ("return_misfit", lambda: correction.undo_loss_matrix(two(), [[1, 2], [3, 1]], return_misfit=[])),
}


def inference_table():
    return ScoreTable.from_predictions(Y, P)


def two():
    return np.column_stack([1.0 - P, P])


@pytest.mark.parametrize("case", FOUND)
def test_mistake_that_a_long_run_found_is_named(case):
    assert_named(*FOUND[case])


def test_score_next_to_zero_for_a_positive_does_not_end_the_test_of_calibration():
    p = [0.971498797, 0.0304287589, 0.425879751, 5e-324, 0.937236012, 0.0738037647, 0.954906417]
    assert 0.0 <= correction.loss_calibration_test([0, 1, 0, 1, 0, 0, 1], p, n_resamples=5).p_value <= 1.0


def test_band_of_the_least_confidence_is_a_band():
    band = inference.consistency_band(Y, P, n_resamples=1000, confidence_level=0.5)
    assert np.all(band.low <= band.high)


def test_numbers_of_other_kinds_give_the_same_answers():
    masked = np.ma.masked_array(Y, mask=False)
    plain = actions.evaluate_deferral(Y, P, costs=0.2, deferral=0.05)
    assert repr(actions.evaluate_deferral(masked, P, costs=0.2, deferral=0.05)) == repr(plain)


def test_random_calls_are_answered_or_refused_by_name():
    counts, problems = soak_calls.soak(100)
    assert problems == []
    assert counts["answered"] > 20
    assert counts["refused"] > 20


@pytest.mark.parametrize("kind", soak_meanings.KINDS)
def test_data_said_in_another_way_give_the_same_answer_or_are_refused_by_name(kind):
    if kind == "order":
        pytest.importorskip("pandas")
    counts, problems = soak_meanings.soak(5 if kind == "estimators" else 40, kinds=[kind])
    assert problems == []
    assert counts["answered"] + counts["refused"] > 0


def test_harness_sees_that_other_rows_are_paired():
    pytest.importorskip("pandas")

    def paired(y_true, y_prob):
        return metrics.bounded_brier_loss(np.asarray(y_true), np.asarray(y_prob))

    def aligned(y_true, y_prob):
        y_true, y_prob = (column.sort_index() if hasattr(column, "index") else column for column in (y_true, y_prob))
        return metrics.bounded_brier_loss(np.asarray(y_true), np.asarray(y_prob))

    for function, wrong in ((paired, True), (aligned, False)):
        known = {"metrics.bounded_brier_loss": function}
        found = [soak_meanings.order(np.random.default_rng(seed), known)[1] for seed in range(20)]
        assert any(problem is not None for problem in found) == wrong


def test_harness_sees_a_wrong_answer_and_a_refusal_without_a_name(monkeypatch):
    known = {"metrics.bounded_brier_loss": metrics.bounded_brier_loss}
    assert all(soak_calls.run_case(seed, known)[1] is None for seed in range(30))
    wrong = {"metrics.bounded_brier_loss": lambda y_true, y_prob: float(np.mean(np.abs(y_true - y_prob)))}
    assert any("plain Python" in (soak_calls.run_case(seed, wrong)[1] or "") for seed in range(30))
    monkeypatch.setattr(soak_calls, "PACKAGE", soak_calls.PACKAGE / "core" / "nowhere")
    assert any("raised in" in (soak_calls.run_case(seed, known)[1] or "") for seed in range(30))


def test_damaged_files_are_copied_whole_or_refused():
    pytest.importorskip("click")
    pytest.importorskip("pyarrow", minversion="16")  # the other reader must know polars' types
    codes, problems = import_module("tests.soak_files").soak(100)
    assert problems == []
    assert sum(codes.values()) == 100
    assert {code for _, _, code in codes} <= {0, 2, 3}


def test_damaged_texts_and_odd_command_lines_end_as_they_may():
    pytest.importorskip("click")
    pytest.importorskip("polars")
    soaks = import_module("tests.soak_texts")
    counts, problems = soaks.soak_texts(150)
    assert problems == []
    assert counts["refused"] > 60
    codes, problems = soaks.soak_commands(5)
    assert problems == []
    assert set(codes) <= {0, 2, 3, 4}
