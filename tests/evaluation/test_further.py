"""An evaluation with deferral and the value of more rows: the numbers of the functions that answer these alone."""

import json
import math
import re

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import ttest_1samp

from stakes import costs, evaluate, expected_regret, value_of_information
from stakes.actions import evaluate_deferral
from stakes.evaluation._checks_models import _harms_if_right
from stakes.inference import select_best
from stakes.report import render_report


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(8)
    risk = rng.beta(1.0, 4.0, 500)
    y = rng.random(500) < risk
    return y, {f"m{k}": np.clip(risk + (0.04 + 0.1 * k) * rng.normal(size=500), 0.0, 1.0) for k in range(2)}


def test_more_rows_are_worth_what_the_function_says_in_the_unit_of_the_evaluation(rows):
    y, models = rows
    years = [1000.0, 1000.0]
    study = {"more_rows": (300, 3000), "decisions": years, "discount": 0.05}
    result = evaluate(y, models, costs=(0.1, 0.3), unit_cost=50.0, per=100.0)
    found = result.with_information(**study, row_cost=0.01, fixed_cost=2.0).information
    plain = value_of_information(y, models, costs=(0.1, 0.3), **study)
    assert found.evpi == pytest.approx(5000.0 * plain.evpi, rel=1e-12)
    assert found.total == pytest.approx(50.0 * plain.evpi * (1000.0 + 1000.0 / 1.05), rel=1e-12)
    saved = 50.0 * plain.evsi[3000] * (1000.0 + 1000.0 / 1.05)
    assert found.study_records()[1]["net_gain"] == pytest.approx(saved - 2.0 - 30.0, rel=1e-9)
    assert saved < 32.0
    assert found.conclusion[-1] == "No study of these sizes is worth its price."


def test_at_one_threshold_the_unit_is_cost_and_not_net_benefit(rows):
    y, models = rows
    found = evaluate(y, models, costs=0.2).with_information().information
    plain = value_of_information(y, models, threshold=0.2)
    assert (found.scale, plain.scale) == ("regret", "net benefit")
    assert found.evpi == pytest.approx(0.8 * plain.evpi, rel=1e-12)
    assert found.method == plain.method


def test_models_are_judged_with_the_option_as_one_by_one(rows):
    y, models = rows
    option = costs.Deferral(0.02, 0.1, 0.05)
    result = evaluate(y, models, costs=(0.1, 0.3), incumbent="m1").with_deferral(option)
    found = result.deferral
    for name, prob in models.items():
        alone = evaluate_deferral(y, prob, costs=(0.1, 0.3), deferral=option)
        assert found[name].estimates["value"] == alone.estimates["value"]
        fee = costs.Deferral(found.fees[7], 0.1, 0.05)
        by_hand = expected_regret(y, prob, costs=(0.1, 0.3), deferral=fee)
        assert found.over_fees[name][7] == pytest.approx(by_hand, rel=1e-12)
    chosen = select_best(y, models, costs=option.applied_to(costs.Uniform(0.1, 0.3)), incumbent="m1")
    both = [name for name in chosen.costs if "treat" not in name]
    assert [found.selection.costs[name] for name in both] == pytest.approx([chosen.costs[name] for name in both])
    # deferring all: the fee, and the other's mistakes
    bar_c, share = 0.2, y.mean()
    all_deferred = 0.02 + (1.0 - share) * 0.1 * bar_c + share * 0.05 * (1.0 - bar_c)
    assert found.selection.costs["deferring all"] == pytest.approx(all_deferred, rel=1e-12)


@pytest.mark.parametrize("most", [50, 0.1])
def test_deferring_all_is_no_decision_where_fewer_may_be_deferred(most):
    rng = np.random.default_rng(2)
    risk = expit(1.3 * rng.normal(size=500) - 2.0)
    y = rng.random(500) < risk
    result = evaluate(y, {"a": risk}, costs=0.2).with_deferral(0.02, capacity=most)
    # any pair of thresholds with at most 50 cases between them: misses below it, fees in it, false alarms above it
    ordered = y[np.argsort(risk)]
    missed, alarms = (np.append(0, np.cumsum(mine)) for mine in (ordered, ~ordered))
    least = min(
        0.8 * missed[low] + 0.02 * (high - low) + 0.2 * (alarms[-1] - alarms[high])
        for low in range(501)
        for high in range(low, min(low + 50, 500) + 1)
    )
    found = result.deferral.selection
    assert min(found.costs.values()) >= least / 500
    assert found.possible == ("a",)
    assert "deferring all" not in " ".join(result.deferral.conclusion)
    assert "deferring-all" not in result.findings.codes
    allowed = evaluate(y, {"a": risk}, costs=0.2).with_deferral(0.02, capacity=500).deferral.selection
    assert allowed.costs["deferring all"] == pytest.approx(0.02)


@pytest.mark.parametrize("asked", [(0.1, 0.3), (0.2, 0.9), 0.7])
@pytest.mark.parametrize("errors", [(0.0, 0.0), (0.1, 0.25)])
def test_fees_reach_to_where_no_case_is_worth_deferring(rows, asked, errors):
    y, models = rows
    found = evaluate(y, models, costs=asked).with_deferral(costs.Deferral(0.02, *errors)).deferral
    low, high = asked if isinstance(asked, tuple) else (asked, asked)
    p, c = np.linspace(0.0, 1.0, 1001), np.linspace(low, high, 201)[:, None]
    alarm, miss = c * (1.0 - p), (1.0 - c) * p
    saved = np.minimum(alarm, miss) - errors[0] * alarm - errors[1] * miss
    assert found.fees[-1] == pytest.approx(saved.max(), abs=2e-3)
    assert found.fees[0] == 0.0


def test_costs_over_the_fee_are_drawn_as_high_as_they_are(rows):
    y, models = rows
    result = evaluate(y, models, costs=(0.1, 0.3)).with_deferral(0.02)
    _, _, after = render_report(result).partition("Line chart of the cost of a case")
    picture = after[: after.index("</svg>")]
    left, top, bottom, right = map(float, re.search(r"M(\S+) (\S+)V(\S+)H(\S+)\"", picture).groups())
    drawn = [
        np.array([point.split(",") for point in line.split()], dtype=float)
        for line in re.findall(r'polyline points="([^"]+)"', picture)
    ]
    curves = sorted(result.deferral.over_fees.values(), key=lambda curve: curve[-1])
    assert len(drawn) == len(curves) == len(models)
    scale = 0.95 * (bottom - top) / max(curve.max() for curve in curves)
    for line, curve in zip(sorted(drawn, key=lambda line: -line[-1, 1]), curves, strict=True):
        assert line[:, 0] == pytest.approx(np.linspace(left, right, len(curve)), abs=0.1)
        assert bottom - line[:, 1] == pytest.approx(scale * curve, abs=0.6)


def test_report_json_and_findings_have_what_was_asked_for(rows):
    y, models = rows
    result = evaluate(y, models, costs=0.2)
    assert "Leaving cases" not in render_report(result)
    further = result.with_deferral(0.01, capacity=0.2).with_information(more_rows=[50])
    page = render_report(further)
    assert "Leaving cases to someone else" in page
    assert "Is it worth more rows?" in page
    content = json.loads(further.to_json())
    assert content["deferral"]["models"][0]["deferred"] <= 0.2
    assert content["value_of_information"]["studies"][0]["more_rows"] == 50
    assert {"deferring-all", "most-deferred"} <= set(result.with_deferral(1e-4).findings.codes)
    unsure_and_right = {"m": np.where(y, 0.25, 0.15)}
    harmed = evaluate(y, unsure_and_right, costs=0.2).with_deferral(0.02)
    assert harmed.deferral["m"].value == pytest.approx(-0.02)
    (found,) = [each for each in harmed.findings if each.code == "deferral-harms"]
    assert found.sentence.endswith("costs more than it saves (20.0 per 1,000 decisions)")
    per_hundred = evaluate(y, unsure_and_right, costs=0.2, per=100).with_deferral(0.02)
    assert "(2.00 per 100 decisions)" in " ".join(each.sentence for each in per_hundred.findings)
    assert "with the option 100 cases cost 2.00, without it 0" in per_hundred.deferral.conclusion[1]


def test_an_option_harms_only_beyond_what_many_models_explain():
    """Of one of ten models that give the risk at their feature, the option is worth less than nothing by chance."""
    rng = np.random.default_rng(24)
    y = rng.random(300) < 0.3
    logits = math.log(0.3 / 0.7) + 1.5 * (rng.normal(size=(300, 10)) + 1.5 * y[:, None]) - 1.125
    models = {f"m{k}": expit(column) for k, column in enumerate(logits.T)}
    p = models["m0"]
    lost = np.where(y, 0.7 * (p < 0.3), 0.3 * (p >= 0.3)) - 0.2
    saved = np.where(np.minimum(0.3 * (1.0 - p), 0.7 * p) > 0.2, lost, 0.0)
    assert ttest_1samp(saved, 0.0).pvalue == pytest.approx(0.003, abs=0.0005)
    assert evaluate_deferral(y, p, costs=0.3, deferral=0.2).value == pytest.approx(saved.mean(), rel=1e-12)
    for shown, raised in ({"m0": p}, True), (models, False), (models | {"m0": np.where(y, 0.31, 0.29)}, True):
        found = evaluate(y, shown, costs=0.3).with_deferral(0.2).findings
        assert [each.models for each in found if each.code == "deferral-harms"] == [("m0",)] * raised


def test_an_option_harms_only_beyond_what_scores_that_are_right_explain():
    """Few events, most of those deferred as negatives would not have had one: labels are drawn anew from the scores."""
    rng, c, fee = np.random.default_rng(20), 0.05, 0.045125
    y = rng.random(1000) < 0.05
    p = expit(math.log(0.05 / 0.95) + rng.normal(size=1000) + y - 0.5)
    zone = np.minimum(c * (1.0 - p), (1.0 - c) * p) > fee

    def saved(labels):
        return np.sum(np.where(labels, (1.0 - c) * (p < c), c * (p >= c))[..., zone] - fee, axis=-1)

    result = evaluate(y, p, costs=c).with_deferral(fee)
    assert result.deferral["model"].value == pytest.approx(saved(y) / 1000.0, rel=1e-9)
    assert result.deferral["model"].p_value < 0.005
    chance = np.mean(saved(rng.random((20_000, 1000)) < p) <= saved(y) + 1e-12)
    assert _harms_if_right(result, "model") == pytest.approx(chance, rel=0.1)
    assert chance > 0.05
    assert "deferral-harms" not in result.findings.codes


@pytest.mark.parametrize("rule", ["score", "optimal"])
def test_the_p_value_of_an_option_is_the_level_at_which_its_interval_ends_at_zero(rows, rule):
    y, models = rows
    asked = {"costs": 0.2, "deferral": 0.1, "rule": rule, "random_state": 0}
    found = evaluate_deferral(y, models["m1"], **asked)
    assert 1e-6 < found.p_value < 0.9
    ends = evaluate_deferral(y, models["m1"], confidence_level=1.0 - found.p_value, **asked).estimates["value"].interval
    assert min(map(abs, ends)) == pytest.approx(0.0, abs=1e-9)


def test_what_cannot_be_answered_is_refused(rows):
    y, models = rows
    with pytest.raises(ValueError, match='deferral needs rule="score"'):
        evaluate(y, models, costs=0.2, rule=0.5).with_deferral(0.1)
    with pytest.raises(ValueError, match="needs independent rows at their own prevalence"):
        evaluate(y, models, costs=0.2, clusters=np.arange(500) // 2).with_information()
    with pytest.raises(ValueError, match="net_gain needs to know how many decisions"):
        evaluate(y, models, costs=0.2).with_information(row_cost=1.0)
    with pytest.raises(ValueError, match="per must be a finite number > 0, got 0"):
        value_of_information(y, models, costs=0.2, per=0)
