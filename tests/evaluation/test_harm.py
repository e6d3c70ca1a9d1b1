"""What obtaining a score costs, the test harm of decision curve analysis, wherever an evaluation speaks of costs."""

import json
import math

import numpy as np
import pytest

import stakes
from stakes import costs, evaluate, evaluate_frame, net_benefit_curve
from stakes.evaluation import best_by_cost
from stakes.inference import difference_band

HARM = {"a": 0.02, "b": 0.005}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    risk = rng.beta(1.0, 4.0, 600)
    y = rng.random(600) < risk
    noisy = np.clip(risk + 0.1 * rng.standard_normal((2, 600)), 0.001, 0.999)
    return y, {"a": risk, "b": noisy[0], "c": noisy[1]}


def net_benefit(y, score, t, harm):
    """As dcurves defines it: true positives less false positives at the odds, per case, less the harm of the test."""
    act = score >= t
    return np.mean(act & y) - np.mean(act & ~y) * t / (1.0 - t) - harm


def regret(y, score, t, harm):
    """What is lost to perfect decisions, whose net benefit is the prevalence; a missed positive costs 1 - t."""
    return (1.0 - t) * (np.mean(y) - net_benefit(y, score, t, harm))


@pytest.mark.parametrize("t", [0.05, 0.2, 0.5])
def test_the_cost_at_a_threshold_is_what_net_benefit_with_test_harm_leaves(rows, t):
    y, models = rows
    found = evaluate(y, models, costs=t, harm=HARM)
    for name, score in models.items():
        assert found[name].score == pytest.approx(regret(y, score, t, HARM.get(name, 0.0)), rel=1e-12)
        assert found.curves("net_benefit")[name].at(t) == pytest.approx(
            net_benefit(y, score, t, HARM.get(name, 0.0)), rel=1e-12
        )
        assert found.curves("regret")[name].at(t) == pytest.approx(found[name].score, rel=1e-12)
    assert found["treat all"].score == pytest.approx(t * np.mean(~y), rel=1e-12)
    assert found["treat none"].score == pytest.approx((1.0 - t) * np.mean(y), rel=1e-12)


@pytest.mark.parametrize("measure", [(0.1, 0.4), costs.LogOddsUniform(0.05, 0.5), costs.Beta(2, 8)], ids=repr)
@pytest.mark.parametrize("scale", ["regret", "integral"])
def test_over_a_range_the_harm_is_averaged_as_missed_positives_are(rows, measure, scale):
    y, models = rows
    plain, harmed = (evaluate(y, models, costs=measure, scale=scale, harm=h) for h in (0.0, HARM))
    # treating no one misses every positive: what so many missed positives cost is known from its cost
    missed = plain["treat none"].score / np.mean(y)
    for name in models:
        assert harmed[name].score - plain[name].score == pytest.approx(HARM.get(name, 0.0) * missed, rel=1e-9)
    assert harmed["treat none"] == plain["treat none"]


def test_a_uniform_range_is_the_mean_of_its_thresholds(rows):
    y, models = rows
    middles = 0.1 + 0.3 * (np.arange(30_000) + 0.5) / 30_000
    knots = np.searchsorted(np.sort(models["a"]), middles)
    order = np.argsort(models["a"])
    positives = np.cumsum(np.append(0, y[order]))[knots]
    negatives = (~y).sum() - np.cumsum(np.append(0, ~y[order]))[knots]
    by_hand = np.mean((middles * negatives + (1.0 - middles) * positives) / len(y) + 0.02 * (1.0 - middles))
    assert evaluate(y, models, costs=(0.1, 0.4), harm=HARM)["a"].score == pytest.approx(by_hand, abs=1e-6)


def test_spreads_stay_and_differences_move(rows):
    y, models = rows
    plain, harmed = (evaluate(y, models, costs=0.2, harm=h) for h in (0.0, HARM))
    for first, second, more in (("a", "b", 0.015), ("a", "treat all", 0.02), ("b", "c", 0.005), ("c", "a", -0.02)):
        before, after = plain.compare(first, second), harmed.compare(first, second)
        assert after.difference - before.difference == pytest.approx(0.8 * more, rel=1e-9)
        assert after.standard_error == pytest.approx(before.standard_error, rel=1e-12)
        assert np.subtract(after.interval, before.interval) == pytest.approx([0.8 * more] * 2, rel=1e-9)


def test_a_test_that_costs_too_much_makes_another_decision_the_best(rows):
    y, models = rows
    free, dear = evaluate(y, models, costs=(0.1, 0.4)), evaluate(y, models, costs=(0.1, 0.4), harm=0.5)
    assert free.selection.chosen == "a"
    assert dear.selection.chosen in {"treat all", "treat none"}
    assert "no model is shown to cost less" in dear.conclusion[0]
    one = evaluate(y, models, costs=(0.1, 0.4), harm={"a": 0.5})
    assert one.ranking[-1] == "a"
    assert "a" not in one.selection.possible


def test_the_same_scores_with_another_harm_are_told_apart(rows):
    y, models = rows
    found = evaluate(y, {"free": models["a"], "dear": models["a"]}, costs=0.2, harm={"dear": 0.01})
    assert found.selection.tied == ("free",)
    assert found.compare("dear", "free").interval == pytest.approx((0.008, 0.008))


def test_what_counts_the_harm_is_said(rows):
    y, models = rows
    same, unlike = evaluate(y, models, costs=0.2, harm=0.01), evaluate(y, models, costs=0.2, harm=HARM)
    whole = (
        "Obtaining a score costs each case as much as 0.0100 missed positives (test harm): the costs of models, their "
        "differences and net benefit count it; decomposition, skill and AUC do not."
    )
    assert any(whole in line for line in same.conclusion)
    assert any("missed positives (test harm): a 0.0200, b 0.00500 and c 0." in line for line in unlike.conclusion)
    assert not any("test harm" in line for line in evaluate(y, models, costs=0.2).conclusion)
    assert json.loads(unlike.to_json())["harm"] == HARM | {"c": 0.0}
    assert "harm" not in json.loads(evaluate(y, models, costs=0.2).to_json())
    assert "cost each case 0.0200 (a), 0.00500 (b) and 0 (c) missed positives, the test harm" in unlike.methods()
    assert (unlike["a"].decomposition, unlike["a"].auc) == (
        evaluate(y, models, costs=0.2)["a"].decomposition,
        evaluate(y, models, costs=0.2)["a"].auc,
    )


def test_groups_and_clusters_and_tables_count_it(rows):
    y, models = rows
    groups, clusters = np.arange(600) % 3, np.arange(600) // 2
    for about in ({"groups": groups}, {"groups": groups, "clusters": clusters}):
        plain, harmed = (evaluate(y, models, costs=0.2, harm=h, **about) for h in (0.0, HARM))
        for before, after in zip(plain.groups, harmed.groups, strict=True):
            assert after.score - before.score == pytest.approx(0.8 * HARM.get(after.model, 0.0), abs=1e-12)
            assert (after.difference, after.skill) == (before.difference, before.skill)
    tables = {name: stakes.ScoreTable.from_predictions(y, score) for name, score in models.items()}
    found = evaluate(tables, costs=0.2, harm=HARM)
    assert found["a"].score == pytest.approx(evaluate(y, models, costs=0.2, harm=HARM)["a"].score, rel=1e-12)


def test_claims_about_thresholds_count_it(rows):
    y, models = rows
    found = evaluate(y, models, costs=(0.02, 0.5), harm=0.03)
    # with a harm of .03 treating all is the cheaper decision at the lowest thresholds, whatever the model
    assert found.selection.chosen == "a"
    assert found.by_threshold.dearer == ("treat all",)
    for t in found.by_threshold.thresholds[found.by_threshold.more["treat all"]]:
        assert t * np.mean(~y) < regret(y, models["a"], t, 0.03)
    band = found.crossing["treat all"]
    plain = difference_band(y, models["a"], np.ones(600), "regret", thresholds=band.thresholds)
    assert band.estimate == pytest.approx(plain.estimate + 0.03 * (1.0 - band.thresholds), abs=1e-12)
    assert "treat all" not in found.by_threshold.everywhere
    assert "curves-cross" in found.findings.codes


def test_the_best_by_cost_and_by_bounds_count_it(rows):
    y, models = rows
    two = {"a": models["a"], "b": models["b"]}
    found = evaluate(y, two, costs=(0.1, 0.4), harm=HARM)
    for c in (0.07, 0.2, 0.33):
        by_hand = {name: regret(y, score, c, HARM[name]) for name, score in two.items()}
        assert found.best_by_cost().at(c) == pytest.approx(by_hand, rel=1e-12)
    cells = found.best_by_bounds(edges=[0.1, 0.4])
    assert cells.at(0.1, 0.4)["a"] == pytest.approx(found["a"].score, rel=1e-9)
    with pytest.raises(ValueError, match=r"^harm must name models among 'a', 'b', got 'z'\.$"):
        best_by_cost(dict(zip(two, found.score_tables, strict=True)), harm={"z": 0.1})


def test_no_dominance_is_claimed_of_scores_whose_harms_differ(rows):
    y, models = rows
    found = evaluate(y, models, costs=(0.1, 0.4), harm=HARM)
    assert found.compare("a", "b").dominance is None
    assert evaluate(y, models, costs=(0.1, 0.4), harm=0.01).compare("a", "b").dominance is not None


def test_a_frame_takes_it_too(rows):
    pl = pytest.importorskip("polars")
    y, models = rows
    frame = pl.DataFrame({"y": y.astype(int), **models})
    for each in (frame, frame.lazy()):
        found = evaluate_frame(each, label="y", costs=0.2, harm=HARM)
        assert found["b"].score == pytest.approx(regret(y, models["b"], 0.2, 0.005), rel=1e-12)
    curve = net_benefit_curve(y, models["b"], harm=0.005)
    assert found.curves("net_benefit")["b"].at(0.3) == pytest.approx(float(curve.at(0.3)), rel=1e-12)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (-0.1, r"^harm must be a finite number >= 0, got -0\.1\.$"),
        (math.inf, r"^harm must be a finite number >= 0, got inf\.$"),
        ({"a": math.nan}, r"^harm must be "),
        ({"z": 0.1}, r"^harm must name models among 'a', 'b', 'c', got 'z'\.$"),
        ("0.1", r"^harm must be "),
        (5, r"^harm must be < 1, got 5: .* If finding one positive is worth obtaining 5 scores, pass harm=1/5\.$"),
        ({"a": 30.0}, r"^harm must be < 1, got 30\.0: .* pass harm=1/30\.0\.$"),
        (1.0, r"^harm must be < 1, got 1\.0: .* at that price no score pays\.$"),
        (1.2, r"^harm must be < 1, got 1\.2: .* pass harm=1/1\.2\.$"),
    ],
)
def test_a_harm_that_is_none_is_refused(rows, harm, message):
    y, models = rows
    with pytest.raises(ValueError, match=message):
        evaluate(y, models, costs=0.2, harm=harm)


def test_a_harm_is_refused_where_it_has_no_meaning(rows):
    y, models = rows
    with pytest.raises(ValueError, match=r"^harm counts in positives missed, and missing one costs infinitely much"):
        evaluate(y, models, costs=costs.LogOddsUniform(0.0, 1.0), harm=0.1)
    outcome = stakes.RowCosts(y, false_positive=1.0, false_negative=2.0)
    with pytest.raises(ValueError, match=r"^harm= does not fit amounts by row\.$"):
        evaluate(outcome, models, harm=0.1)
    found = evaluate(y, models, costs=0.2, harm=0.1)
    with pytest.raises(ValueError, match=r"^value of information does not count harm=: evaluate without it\.$"):
        found.with_information()
    with pytest.raises(ValueError, match=r"^deferral does not count harm=: evaluate without it\.$"):
        found.with_deferral(0.01)
