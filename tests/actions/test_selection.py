"""Choosing among models for many actions: two classes and actions are the binary case, whose selection is known."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from stakes import evaluate
from stakes.actions import evaluate_actions
from stakes.evaluation import action_findings
from stakes.inference import select_best


@pytest.fixture(scope="module")
def binary():
    rng = np.random.default_rng(2)
    risk = rng.beta(1.0, 4.0, 800)
    models = {f"m{k}": np.clip(risk + 0.06 * rng.normal(size=800), 0.0, 1.0) for k in range(4)}
    return rng.random(800) < risk, models


def test_two_actions_are_chosen_among_as_by_select_best(binary):
    y, models = binary
    expected = select_best(y, models, costs=0.2, incumbent="m1", n_tried=9)
    found = evaluate_actions(
        y.astype(int),
        {name: np.stack([1.0 - p, p], axis=1) for name, p in models.items()},
        matrices=[[0.2, 0.0], [0.0, 0.8]],  # act first: ties are acted on
        actions=["act", "wait"],
        incumbent="m1",
        n_tried=9,
    ).selection
    assert found.chosen == expected.chosen
    assert found.references == ("always act", "always wait")
    assert found.corrected_cost == pytest.approx(expected.corrected_cost, rel=1e-10)
    assert found.expected_regret == pytest.approx(expected.expected_regret, rel=1e-9)
    assert found.interval == pytest.approx(expected.interval, rel=0.02)  # no class is known to be rare here
    renamed = {"treat all": "always act", "treat none": "always wait"}
    assert found.possible == tuple(renamed.get(name, name) for name in expected.possible)
    limits = {renamed.get(name, name): other.limit for name, other in expected.against.items()}
    assert {name: other.limit for name, other in found.against.items()} == pytest.approx(limits, rel=0.05)


def test_a_constant_added_to_a_class_changes_no_choice(binary):
    y, models = binary
    probs = {name: np.stack([1.0 - p, p], axis=1) for name, p in models.items()}
    plain, moved = (
        evaluate_actions(y.astype(int), probs, matrices=m, actions=["act", "wait"]).selection
        for m in ([[0.2, 0.0], [0.0, 0.8]], [[0.2, 0.0], [-5.0, -4.2]])
    )
    assert moved.cost == pytest.approx(plain.cost - 5.0 * y.mean(), abs=1e-12)
    assert moved.possible == plain.possible
    assert moved.p_best == pytest.approx(plain.p_best, abs=0.01)  # of draws


def test_a_gain_is_a_negative_cost_wherever_a_cost_is_stated():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 600, p=[0.6, 0.3, 0.1])
    prob = np.exp(2.0 * np.eye(3)[y] + rng.normal(size=(600, 3)) + np.log([0.6, 0.3, 0.1]))
    prob /= prob.sum(axis=1, keepdims=True)
    matrix, names = np.array([[0.0, 1.0, 3.0], [2.0, -4.0, 1.0], [8.0, 5.0, -10.0]]), ["wait", "test", "treat"]
    found = evaluate_actions(y, prob, matrices=matrix, actions=names)
    incurred = matrix[y, (prob @ matrix).argmin(axis=1)]
    means = {"model": incurred.mean(), **{f"always {name}": matrix[y, k].mean() for k, name in enumerate(names)}}
    assert found.selection.costs == pytest.approx(means, abs=1e-12)
    assert {row["model"]: row["cost"] for row in found.tables()["ranking"].rows} == pytest.approx(means, abs=1e-12)
    alone = ttest_1samp(incurred, 0.0).confidence_interval()
    assert found.selection.pointwise["model"] == pytest.approx(tuple(alone), rel=0.01)
    low, high = found.selection.interval
    assert (low < alone.low, alone.high < high) == (True, True)
    assert found.conclusion[0].startswith(f"model costs {incurred.mean():.2f} per decision (95% interval {low:.2f} to ")
    assert "Mean cost of a decision" in found.to_html()


def test_findings_name_what_is_wrong():
    rng = np.random.default_rng(4)
    prob = rng.dirichlet([4.0, 4.0, 0.05], 400)
    y = (rng.random((400, 1)) > prob.cumsum(axis=1)).sum(axis=1)
    bold = prob**6 / (prob**6).sum(axis=1, keepdims=True)
    matrix = [[0, 1, 3], [1, 0, 3], [1, 1, 0]]
    found = {key: action_findings(evaluate_actions(y, p, matrices=matrix)) for key, p in {"a": prob, "b": bold}.items()}
    assert "few-rows-of-a-class" in found["a"].codes
    assert "cost-not-as-announced" not in found["a"].codes
    assert "cost-not-as-announced" in found["b"].codes
    useless = action_findings(evaluate_actions(y, np.tile([0.6, 0.3, 0.1], (400, 1)), matrices=matrix))
    assert {"not-better-than-one-action", "action-never-taken"} <= set(useless.codes)
    names = ["a{0}", "b}", "c"]
    odd = evaluate_actions(y, np.tile([0.6, 0.3, 0.1], (400, 1)), matrices=matrix, actions=names)
    assert "b}" in " ".join(finding.sentence for finding in action_findings(odd))


def test_an_action_that_costs_the_same_whatever_the_class_is_never_off():
    rng = np.random.default_rng(1)
    prob = rng.dirichlet([3.0, 2.0, 1.0], 500)
    y = (rng.random((500, 1)) > prob.cumsum(axis=1)).sum(axis=1)
    # by the third action every class costs 0.7: what is left of its announced cost is rounding
    found = evaluate_actions(y, prob, matrices=[[0.0, 0.9, 0.7], [0.9, 0.0, 0.7], [4.0, 4.0, 0.7]])
    (third,) = [row for row in found.calibration()._records() if row["action"] == 2]
    assert (third["gap"], third["announced"], np.isnan(third["p_value"])) == (0.0, pytest.approx(0.7), True)
    assert "cost-not-as-announced" not in action_findings(found).codes


def test_the_bill_of_a_picked_model_allows_for_its_having_been_picked():
    rng = np.random.default_rng(6)
    prob = rng.dirichlet([2.0, 2.0], 300)
    y = (rng.random(300) < prob[:, 1]).astype(int)
    bold = {f"m{k}": np.stack([1 - p, p], axis=1) for k, p in enumerate(prob[:, 1] ** power for power in (2.0, 1.0))}
    found = evaluate_actions(y, bold, matrices=[[0, 1], [1, 0]], n_tried=5)
    named, picked = found.calibration(found.best.model), found.calibration()
    assert (named.picked, picked.picked) == (1, 5)
    assert picked.p_value == pytest.approx(min(5 * named.p_value, 1.0))
    for alone, among in zip(named._records(), picked._records(), strict=True):
        assert among["holm_p_value"] == pytest.approx(min(5 * alone["holm_p_value"], 1.0))
    assert "corrected for selection among 5)." in " ".join(found.conclusion)
    assert "corrected for selection" not in named.sentence


def test_a_dear_class_whose_errors_no_row_shows_is_named():
    y = np.repeat(["a", "b", "dear"], [500, 460, 40])
    prob = np.tile([0.48, 0.46, 0.06], (1000, 1))
    prob[:300], prob[500:700] = [0.97, 0.02, 0.01], [0.02, 0.97, 0.01]  # decided; for no row of the dear class
    matrix = [[0.0, 0.5, 1.0], [1.0, 0.0, 1.0], [20.0, 20.0, 1.0]]
    stated = {"matrices": matrix, "labels": ["a", "b", "dear"], "actions": ["A", "B", "check"]}
    found = evaluate_actions(y, prob, **stated)
    (said,) = [finding for finding in action_findings(found) if finding.code == "unseen-costs"]
    # a row of the class costs 1 as all 40 do, and 20 if it were decided: 19 of 1,000 rows
    assert said.evidence["one_more"] == {"dear": pytest.approx(0.019)}
    assert said.sentence.startswith(
        "few rows of dear show what model costs when it errs there: one more of dear might bring 0.0190 per decision"
    )
    seen = prob.copy()
    seen[960:980] = [0.97, 0.02, 0.01]
    shown = evaluate_actions(y, seen, **stated)
    assert "unseen-costs" not in action_findings(shown).codes


def test_a_model_called_like_a_single_action_is_refused(binary):
    y, models = binary
    prob = {"always 1": np.stack([1.0 - models["m0"], models["m0"]], axis=1)}
    with pytest.raises(ValueError, match="must not call a model 'always 1': that names an action for all rows"):
        _ = evaluate_actions(y.astype(int), prob, matrices=[[0, 1], [1, 0]]).selection


@pytest.mark.parametrize("bad", [None, 1, "a", [1], {}, np.zeros(3), evaluate([0, 1] * 5, [0.2, 0.7] * 5, costs=0.2)])
def test_findings_of_other_things_than_decisions_among_actions_are_refused(bad):
    with pytest.raises(ValueError, match=f"found must be what evaluate_actions returned, got {type(bad).__name__}"):
        action_findings(bad)
