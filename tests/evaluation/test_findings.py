"""Each finding is raised by data that have what it names, not by their neighbours, and seldom by chance."""

import json
import math
import re
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import t

from replications import false_alarms
from stakes import ScoreTable, costs, evaluate, evaluate_frame
from stakes.evaluation import FINDINGS
from stakes.evaluation._checks_data import few_events
from stakes.evaluation._checks_models import excess_tail
from stakes.evaluation._finding import SEVERITIES
from stakes.inference import metric_difference
from stakes.outcomes import Imputed

NARROW = (0.0166 / 1.0166, 0.03 / 1.03)  # the thresholds of arXiv:2504.04528, Table 2, which reads them as odds


def risks(n=4000, prevalence=0.15, spread=1.5, seed=5):
    rng = np.random.default_rng(seed)
    risk = expit(logit(prevalence) + spread * rng.normal(size=n))
    return rng.random(n) < risk, risk


def codes(y, scores, bounds=(0.05, 0.3), **options):
    return set(evaluate(y, scores, costs=bounds, **options).findings.codes) - {"half-outside"}


def finding(code, evaluation):
    (found,) = [f for f in evaluation.findings if f.code == code]
    return found


@pytest.fixture(scope="module")
def bcsc(load_data):
    data = load_data("bcsc_predictions/bcsc_predictions")
    return evaluate(data["cancer"], data.drop(columns="cancer"), costs=NARROW)


def one(evaluation, model):
    """Evaluate one of the models alone."""
    return evaluate(evaluation.score_tables[evaluation.models.index(model)], costs=evaluation.costs)


def test_good_models_raise_nothing():
    y, risk = risks()
    rng = np.random.default_rng(1)
    assert codes(y, {"a": risk, "b": np.clip(risk + 0.02 * rng.normal(size=len(y)), 1e-4, 1 - 1e-4)}) == set()


# scores that never reach the range


def test_published_models_that_never_reach_the_range_act_like_treating_no_one(bcsc):
    found = finding("acts-like-constant", bcsc)
    assert {"logistic_minimal", "logistic_+_density", "xgboost"} <= set(found.models)
    assert "xgboost_2pct" not in found.models
    assert "act like treating no one, acting on at most" in found.sentence
    assert all(found.evidence["share_in_range"][name] < 0.002 for name in found.models)
    assert found.evidence["highest_score"]["logistic_minimal"] < NARROW[0]


def test_model_that_always_acts():
    y, risk = risks()
    high = 0.4 + 0.6 * risk
    found = finding("acts-like-constant", evaluate(y, {"high": high, "fine": risk}, costs=(0.05, 0.3)))
    assert (found.models, "treating everyone, acting on all cases" in found.sentence) == (("high",), True)
    assert "acts-like-constant" not in codes(y, 0.15 + 0.85 * risk)


# AUC and cost disagree


def bent_rival(y, risk, seed=2):
    """A sharper ranking, shifted as by class weights, against honest scores of a blurred one."""
    rng = np.random.default_rng(seed)
    blurred = 0.6 * (logit(risk) - logit(0.15)) + 0.9 * rng.normal(size=len(y))
    order = np.argsort(np.argsort(blurred))
    honest = np.sort(risk)[order] * 0.7 + 0.3 * risk.mean()
    return {"sharp": expit(logit(risk) + 3.0), "honest": honest}


def test_auc_prefers_the_sharper_ranking_and_cost_the_honest_scores():
    y, risk = risks()
    evaluation = evaluate(y, bent_rival(y, risk), costs=(0.05, 0.3))
    found = finding("auc-disagrees", evaluation)
    assert found.models == ("sharp", "honest")
    assert evaluation["sharp"].auc > evaluation["honest"].auc
    assert evaluation.ranking == ("honest", "sharp")
    assert found.sentence.startswith("AUC prefers sharp to honest (0.8")
    assert max(found.evidence["auc_p_value"], found.evidence["cost_p_value"]) < 0.01


def test_disagreement_is_found_among_many_models_too():
    y, risk = risks()
    rng = np.random.default_rng(1)
    others = {f"other {k}": np.clip(risk + 0.001 * rng.normal(size=len(y)), 0.0, 1.0) for k in range(10)}
    alone = finding("auc-disagrees", evaluate(y, bent_rival(y, risk), costs=(0.05, 0.3)))
    assert finding("auc-disagrees", evaluate(y, bent_rival(y, risk) | others, costs=(0.05, 0.3))) == alone


@pytest.mark.parametrize("order", [("sharp", "honest", "middle"), ("middle", "honest", "sharp")])
def test_of_several_disagreements_that_of_the_areas_furthest_apart_is_told(order):
    y, risk = risks()
    models = bent_rival(y, risk)
    models["middle"] = expit(logit(models["sharp"]) + 0.8 * np.random.default_rng(3).normal(size=len(y)))
    result = evaluate(y, {name: models[name] for name in order}, costs=(0.05, 0.3))
    apart = {}
    for dear, cheap in permutations(order, 2):
        area, cost = metric_difference(y, models[dear], models[cheap], "roc_auc_score"), result.compare(dear, cheap)
        if area.difference > 0.0 and cost.difference > 0.0 and max(area.p_value, cost.p_value) < 0.01 / 3:
            apart[dear, cheap] = area.difference
    assert len(apart) > 1
    assert finding("auc-disagrees", result).models == max(apart, key=apart.__getitem__)


def test_disagreement_within_chance_is_none():
    y, risk = risks(n=150)
    evaluation = evaluate(y, bent_rival(y, risk), costs=(0.05, 0.3))
    assert evaluation["sharp"].auc > evaluation["honest"].auc
    assert evaluation.ranking == ("honest", "sharp")
    assert "auc-disagrees" not in evaluation.findings.codes
    y, risk = risks()
    less_bent = evaluate(y, {**bent_rival(y, risk), "sharp": expit(logit(risk) + 1.4)}, costs=(0.05, 0.3))
    assert less_bent.ranking == ("honest", "sharp")
    assert less_bent.compare("honest", "sharp").p_value > 0.05
    assert "auc-disagrees" not in less_bent.findings.codes
    unbent = {**bent_rival(y, risk), "sharp": risk}
    assert "auc-disagrees" not in codes(y, unbent)


def test_a_dear_test_is_no_disagreement_of_auc_and_cost():
    y, risk = risks()
    blurred = expit(logit(risk) + np.random.default_rng(4).normal(size=len(y)))
    harmed = evaluate(y, {"sharp": risk, "blurred": blurred}, costs=(0.05, 0.3), harm={"sharp": 0.1})
    assert harmed["sharp"].auc > harmed["blurred"].auc
    assert harmed.ranking == ("blurred", "sharp")
    assert harmed.compare("blurred", "sharp").p_value < 1e-6
    assert "auc-disagrees" not in harmed.findings.codes
    bent = evaluate(y, bent_rival(y, risk), costs=(0.05, 0.3), harm={"sharp": 0.01})
    assert "auc-disagrees" in bent.findings.codes


@pytest.mark.parametrize(("seed", "most"), [(15, 2), (10, 3)])
def test_level_of_a_disagreement_is_divided_by_the_number_of_pairs(seed, most):
    y, risk = risks(n=300, seed=seed)
    models = bent_rival(y, risk)
    found = finding("auc-disagrees", evaluate(y, models, costs=(0.05, 0.3)))
    p = max(found.evidence["auc_p_value"], found.evidence["cost_p_value"])
    assert 0.01 / (most * (most + 1) // 2) < p <= 0.01 / (most * (most - 1) // 2)
    for extra in (1, 2, 3):  # models that are no part of it
        more = {**models, **{f"constant {k}": np.full(300, 0.1 + 0.01 * k) for k in range(extra)}}
        assert ("auc-disagrees" in codes(y, more)) == (2 + extra <= most)


# miscalibration exceeds discrimination


def test_published_models_are_worse_than_acting_on_the_prevalence(bcsc):
    # bounded skill of logistic_minimal against climatology: -0.18 at these bounds for the Brier weighting
    found = finding("worse-than-prevalence", bcsc)
    assert {"logistic_minimal", "logistic_+_density", "xgboost"} <= set(found.models)
    assert found.severity == "error"
    for name in found.models:
        assert found.evidence["miscalibration"][name] > found.evidence["discrimination"][name]
        assert found.evidence["skill"][name] < 0.0
    assert "climatological" not in found.models


def test_negative_skill_within_chance_is_none():
    # calibrated scores of which a handful reaches the range, none of them positive: skill is below zero and its own
    # interval says so, for losses that are all the same do not vary
    y = np.repeat([0, 1, 0], [960, 25, 15])
    scores = np.repeat([0.025, 0.025, 0.1], [960, 25, 15])
    evaluation = evaluate(y, scores, costs=(0.08, 0.2))
    assert evaluation.best.decomposition.skill < 0.0
    assert "worse-than-prevalence" not in evaluation.findings.codes
    many = evaluate(np.tile(y, 10), np.tile(scores, 10), costs=(0.08, 0.2))
    assert "worse-than-prevalence" in many.findings.codes


def test_miscalibrated_scores_with_a_skill_near_zero_are_none():
    y, risk = risks(n=1500)
    noise = np.random.default_rng(0).permutation(risk)
    near, far = (evaluate(y, (1 - b) * risk + b * noise, costs=(0.05, 0.3)) for b in (0.85, 1.0))
    assert -0.05 < near.best.decomposition.skill < 0.0
    assert excess_tail(near.score_tables[0], near.costs, near.prevalence) < 1e-3
    assert "worse-than-prevalence" not in near.findings.codes
    assert "worse-than-prevalence" in far.findings.codes


@pytest.mark.parametrize("copies", [1, 5])
def test_skill_at_a_stated_prevalence_has_the_error_of_stated_classes_with_clusters_too(copies):
    """Clusters of one row each say as much as rows alone, and rows repeated in their clusters as much as once."""
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    scores = expit(rng.normal(size=300) + y - 1.3)
    asked = {"costs": (0.1, 0.4), "prevalence": 0.1}
    assert "worse-than-prevalence" in evaluate(y, scores, **asked).findings.codes
    y, scores, clusters = (np.repeat(values, copies) for values in (y, scores, np.arange(300)))
    assert "worse-than-prevalence" in evaluate(y, scores, clusters=clusters, **asked).findings.codes
    if copies == 1:
        assert "worse-than-prevalence" in evaluate(y, scores, lags="auto", **asked).findings.codes


# risks off on average


@pytest.mark.parametrize(("ratio", "words"), [(5.0, "times too high"), (0.2, "times too low")])
def test_risks_off_on_average_are_told_in_the_words_of_the_field(ratio, words):
    y, risk = risks()
    bent = expit(logit(risk) + math.log(ratio))
    bent[:2] = 0.0, 1.0  # where the logit is infinite a shift changes nothing
    y[:2] = False, True
    found = finding("calibration-in-the-large", evaluate(y, {"bent": bent, "fine": risk}, costs=(0.05, 0.3)))
    assert found.models == ("bent",)
    observed_to_expected = y.mean() / bent.mean()
    assert found.evidence["observed_to_expected"]["bent"] == pytest.approx(observed_to_expected)
    assert found.evidence["implied_weight"]["bent"] == pytest.approx(ratio, rel=0.15)
    times = observed_to_expected if ratio < 1.0 else 1.0 / observed_to_expected
    assert f"bent {times:.3g} {words} (" in found.sentence
    assert "Causes that fit: class weights or sampling in training (as if a positive had counted" in found.sentence


def test_real_risks_off_on_average_by_how_much_and_the_likeliest_cause_of_each(bcsc):
    pair = evaluate(
        bcsc.rows.y, {name: bcsc.rows.scores[bcsc.place(name)] for name in ("logistic_+_density", "xgboost_2pct")}
    )
    said = finding("calibration-in-the-large", pair).sentence
    assert said.startswith(
        "Risks are off on average: logistic_+_density 9.07 times too low (8.09 to 10.2; slope 0.951) and xgboost_2pct "
        "4.91 times too high (4.37 to 5.51; slope 0.442). Causes for logistic_+_density that fit: class weights or "
        "sampling in training (as if a positive had counted 0."
    )
    assert said.endswith("Causes for xgboost_2pct that fit: scores that are too extreme, most often from overfitting.")
    whole = finding("calibration-in-the-large", bcsc)
    assert "climatological" not in whole.models
    assert " and 3 more." in whole.sentence
    assert "its risks are 4.91 times too high (4.37 to 5.51)" in finding("worse-than-prevalence", pair).sentence


@pytest.mark.parametrize(("count", "left"), [(3, ""), (4, "1 more"), (5, "2 more")])
def test_models_off_on_average_are_named_or_counted(count, left):
    y, risk = risks()
    models = {f"m{k}": expit(logit(risk) + 1.5 + 0.1 * k) for k in range(count)}
    said = finding("calibration-in-the-large", evaluate(y, models, costs=(0.05, 0.3))).sentence
    assert said.partition(". ")[0].count(" times too high ") == 3
    assert (f" and {left}." in said) if left else (" more." not in said)


def sixty_patients(copies):
    """Risks of 60 patients that are too high, each patient so many times, and who is who."""
    rng = np.random.default_rng(3)
    y = rng.random(60) < 0.4
    score = expit(0.8 * rng.normal(size=60) + 1.5 * y + 0.9)
    return [np.repeat(values, copies) for values in (y, score, np.arange(60))]


@pytest.mark.parametrize("copies", [1, 20])
def test_the_weight_that_scores_imply_rests_on_clusters(copies):
    """The errors are those of the sandwich over the 60 patients, computed here, however often each is in the rows."""
    y, score, clusters = sixty_patients(copies)
    found = finding("calibration-in-the-large", evaluate(y, {"m": score}, costs=(0.1, 0.4), clusters=clusters))
    first, patients = slice(None, None, copies), 60
    x, seen = logit(score[first]), y[first]
    weight, slope = found.evidence["implied_weight"]["m"], found.evidence["slope"]["m"]
    risk = expit(x - math.log(weight))
    assert (seen - risk).sum() == pytest.approx(0.0, abs=1e-6)
    error = math.sqrt(((seen - risk) ** 2).sum() * patients / (patients - 1)) / (risk * (1.0 - risk)).sum()
    told = re.search(r"counted (\S+) times, (\S+) to (\S+)\)", found.sentence)
    quantile = t.ppf(0.975, patients - 1)
    wanted = [weight * math.exp(sign * quantile * error) for sign in (-1.0, 1.0)]
    assert [float(end) for end in told.groups()[1:]] == pytest.approx(wanted, rel=0.03)
    intercept = brentq(lambda a: (seen - expit(a + slope * x)).sum(), -10.0, 10.0)
    risk, design = expit(intercept + slope * x), np.stack([np.ones(patients), x])
    assert design @ (seen - risk) == pytest.approx([0.0, 0.0], abs=1e-6)
    bread = np.linalg.inv((design * risk * (1.0 - risk)) @ design.T)
    error = math.sqrt((bread @ (design * (seen - risk) ** 2) @ design.T @ bread)[1, 1] * patients / (patients - 1))
    assert found.evidence["slope_high"]["m"] == pytest.approx(slope + quantile * error, rel=0.03)
    assert found.evidence["slope_low"]["m"] == pytest.approx(slope - quantile * error, rel=0.03)
    assert "too timid" not in found.sentence


def test_scores_fitted_to_rows_in_clusters_are_not_said_to_be_off():
    y, score, clusters = sixty_patients(20)
    asked = {"costs": (0.1, 0.4), "rule": "optimal"}
    assert "calibration-in-the-large" in evaluate(y, {"m": score}, **asked).findings.codes
    fitted = evaluate(y, {"m": score}, clusters=clusters, **asked)
    assert "calibration-in-the-large" not in fitted.findings.codes
    assert "too high" not in fitted.answer.calibration


def test_certain_scores_that_are_right_leave_the_interval_of_clusters():
    y, score, clusters = sixty_patients(20)
    scores = {"m": score, "sure": np.r_[score, [0.0, 1.0]]}
    y_more, more = np.r_[y, [False, True]], np.r_[clusters, [60, 61]]
    alone = finding("calibration-in-the-large", evaluate(y, scores["m"], costs=(0.1, 0.4), clusters=clusters))
    sure = finding("calibration-in-the-large", evaluate(y_more, scores["sure"], costs=(0.1, 0.4), clusters=more))
    assert sure.evidence["slope_high"]["model"] == pytest.approx(alone.evidence["slope_high"]["model"])
    assert sure.sentence.partition("counted")[2] == alone.sentence.partition("counted")[2]


def test_the_weight_that_imputed_scores_imply_rests_on_clusters():
    y, score, clusters = sixty_patients(20)
    moved = Imputed([expit(logit(score) + shift) for shift in (-0.1, 0.0, 0.1)])
    found = finding("calibration-in-the-large", evaluate(y, moved, costs=(0.1, 0.4), clusters=clusters))
    one = finding("calibration-in-the-large", evaluate(y, score, costs=(0.1, 0.4), clusters=clusters))
    assert found.evidence["slope_high"]["model"] == pytest.approx(one.evidence["slope_high"]["model"], rel=0.1)
    assert "too timid" not in found.sentence


def test_other_miscalibration_is_not_off_on_average():
    y, risk = risks(prevalence=0.5)
    for slope in (0.5, 2.0):
        assert "calibration-in-the-large" not in codes(y, expit(slope * logit(risk)))
    y, risk = risks()
    assert "calibration-in-the-large" not in codes(y, expit(logit(risk) + math.log(1.3)))
    few, risk = risks(n=40, prevalence=0.4, seed=7)
    bent = expit(logit(risk) + math.log(1.8))
    assert "calibration-in-the-large" not in codes(few, bent)


def test_an_overfit_booster_on_few_rows_is_not_told_of_class_weights():
    ensemble = pytest.importorskip("sklearn.ensemble")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1300, 8))
    y = rng.random(1300) < expit(x[:, 0] - 1.5)
    model = ensemble.HistGradientBoostingClassifier(max_iter=300, learning_rate=0.3, min_samples_leaf=3)
    prob = model.fit(x[:300], y[:300]).predict_proba(x[300:])[:, 1]
    result = evaluate(y[300:], prob, costs=(0.1, 0.4))
    told = " ".join(found.sentence for found in result.findings)
    assert "too extreme, most often from overfitting" in told
    assert "counted" not in told
    assert "class weights" not in told


@pytest.mark.parametrize("weight", [1.0, 0.1, 0.7])
@pytest.mark.parametrize("positives", [1, 7, 9, 10])
@pytest.mark.parametrize("few", ["positives", "negatives"])
def test_few_rows_are_counted_alike_whatever_all_of_them_weigh(weight, positives, few):
    y = (np.arange(60) < positives) == (few == "positives")
    scores = np.where(y, 0.6, 0.1) + 0.3 * np.random.default_rng(0).random(60)
    told = few_events(evaluate(y, scores, costs=(0.1, 0.8), sample_weight=np.full(60, weight)))
    only = "is only 1 " + few[:-1] if positives == 1 else f"are only {positives} {few}"
    if positives < 10:
        assert told.template == f"There {only}; with fewer than 10 an interval means little."
    else:
        assert told is None or "There " not in told.template


def test_rows_that_tell_a_little_less_than_ten_are_not_rounded_up_to_them():
    y = np.arange(60) < 10
    scores = np.where(y, 0.6, 0.1) + 0.3 * np.random.default_rng(0).random(60)
    weight = np.where(np.arange(60) == 0, 1.05, 1.0)
    told = few_events(evaluate(y, scores, costs=(0.1, 0.8), sample_weight=weight)).template
    assert told.startswith("There are only 9.99 positives (rows of equal weight that would tell as much); with fewer")


def test_risks_far_off_are_said_where_scores_of_0_or_1_were_wrong():
    y = np.arange(1200) % 10 == 0
    sure, rest = np.arange(1200) < 1000, 0.05 + 0.1 * np.random.default_rng(0).random(1200)
    for score in (0.0, 1.0):
        assert "calibration-in-the-large" in codes(y, np.where(sure, score, rest))


@pytest.mark.parametrize("tiny", [0.0, 1e-30])
def test_risks_far_too_low_are_said_beside_scores_next_to_zero_as_beside_zeros(tiny):
    y = np.arange(1008) < 8
    assert "calibration-in-the-large" in codes(y, np.where(y, 0.3, tiny))


@pytest.mark.parametrize("score", [1e-17, 1e-300, 1e-320])
def test_constant_score_next_to_zero_is_shown_with_what_is_wrong_with_it(score):
    found = evaluate([0, 1] * 10, np.full(20, score), costs=(0.1, 0.3))
    assert "calibration-in-the-large" in found.findings.codes
    assert "<table" in found._repr_html_()


# rows, ties, hard labels, one half


def test_hard_labels(load_data):
    data = load_data("dcurves/df_binary")
    y = data["cancer"].to_numpy()
    evaluation = evaluate(y, data[["famhistory", "cancerpredmarker"]], costs=(0.05, 0.3))
    found = finding("hard-labels", evaluation)
    assert found.models == ("famhistory",)
    assert found.evidence["share_of_ones"]["famhistory"] == pytest.approx(data["famhistory"].mean())
    assert (found.severity, FINDINGS["hard-labels"].severity) == ("warning", "warning")
    assert "worse-than-prevalence" not in codes(y, data["famhistory"], (0.5, 0.9))
    assert "hard-labels" not in codes(y, data["famhistory"] * 0.9 + 0.05)
    assert "hard-labels" not in codes(y, data["famhistory"], rule=0.5)
    assert "tied-scores" not in evaluation.findings.codes


def test_coarse_scores_leave_auc_open():
    y, risk = risks()
    found = finding("tied-scores", evaluate(y, {"coarse": risk.round(1), "fine": risk}, costs=(0.05, 0.3)))
    assert found.models == ("coarse",)
    pairs = (risk.round(1)[y][:, None] == risk.round(1)[~y][None, :]).mean()
    assert found.evidence["tied_pairs"]["coarse"] == pytest.approx(pairs)
    wins = (risk.round(1)[y][:, None] > risk.round(1)[~y][None, :]).mean()
    assert f"from {wins:.3f} to {wins + pairs:.3f} as ties" in found.sentence
    assert "tied-scores" not in codes(y, risk.round(2))
    assert "tied-scores" not in codes(y, np.full(len(y), 0.15))


def test_scores_on_a_single_threshold():
    y, risk = risks()
    coarse = risk.round(2)
    found = finding("score-on-threshold", evaluate(y, coarse, costs=costs.Fixed(0.1)))
    assert found.evidence["share_on_threshold"]["model"] == pytest.approx(np.mean(coarse == 0.1))
    assert "score-on-threshold" in codes(y, coarse, costs.Uniform(0.05, 0.3), rule=0.1)
    assert "score-on-threshold" not in codes(y, coarse, costs.Fixed(0.105))
    assert "score-on-threshold" not in codes(y, coarse, costs.Uniform(0.1, 0.3))
    assert "score-on-threshold" not in codes(y, coarse, costs.Fixed(0.1), rule="optimal")


@pytest.mark.parametrize(
    ("tie", "convention"),
    [(1.0, "such a case is acted on"), (0.0, "such a case counts as not acted on"), (0.25, "counts as 25% acted on")],
)
def test_what_is_said_of_scores_on_the_threshold_follows_its_tie(tie, convention):
    y, scores = [0, 1] * 50, np.tile([0.3, 0.6, 0.1, 0.3], 25)
    found = evaluate(y, scores, costs=costs.Fixed(0.3, tie=tie))
    assert found.best.share_acted_on == pytest.approx(np.where(scores == 0.3, tie, scores > 0.3).mean())
    assert finding("score-on-threshold", found).sentence.endswith(f"{convention}.")
    deployed = evaluate(y, scores, costs=costs.Fixed(0.3, tie=tie), rule=0.3)
    assert deployed.best.share_acted_on == 0.75
    assert finding("score-on-threshold", deployed).sentence.endswith("such a case is acted on.")


def test_scores_on_a_threshold_where_they_are_half_acted_on_are_settled():
    y, scores = [0, 1] * 50, np.tile([0.3, 0.6, 0.1, 0.3], 25)
    assert "score-on-threshold" not in codes(y, scores, costs.Fixed(0.3, tie=0.5))
    mixed = 0.5 * costs.Fixed(0.3, tie=0.0) + 0.5 * costs.Fixed(0.6)
    said = finding("score-on-threshold", evaluate(y, scores, costs=mixed)).sentence
    assert said.endswith("such a case counts by the tie of each threshold.")


@pytest.mark.parametrize(("positives", "raised"), [(9, True), (10, False)])
@pytest.mark.parametrize("swap", [False, True])
def test_few_events(positives, raised, swap):
    y = np.arange(400) < positives
    scores = np.where(y, 0.2, 0.01) + np.linspace(0.0, 0.2, 400)
    y, scores = (~y, 1.0 - scores) if swap else (y, scores)
    bounds = (0.7, 0.95) if swap else (0.05, 0.3)
    assert ("few-events" in codes(y, scores, bounds)) == raised


def test_few_rows_that_carry_a_cost(bcsc):
    found = finding("few-events", one(bcsc, "xgboost_2pct"))
    assert found.models == ("model",)
    assert found.sentence == f"With model, {bcsc['xgboost_2pct'].note}."
    assert "few-events" not in one(bcsc, "logistic_minimal").findings.codes


def test_where_clusters_allow_no_interval_no_finding_rests_on_one():
    rng = np.random.default_rng(0)
    risk = rng.beta(1.0, 6.0, 3000)
    y = rng.random(3000) < np.clip(1.6 * risk, 0.0, 1.0)
    clusters = rng.integers(0, 60, 3000)
    assert finding("calibration-in-the-large", evaluate(y, risk, costs=(0.05, 0.3), clusters=clusters))
    clusters[:1950] = 0  # one of them holds 65% and more of all rows
    share = (clusters == 0).mean()
    found = evaluate(y, risk, costs=(0.05, 0.3), clusters=clusters)
    assert math.isnan(found["model"].interval[0])
    assert "calibration-in-the-large" not in found.findings.codes
    why = f"one cluster holds {100 * share:.3g}% of all weight: an interval needs half at most"
    assert finding("few-events", found).sentence == f"There is no interval for model: {why}."


def test_few_rows_that_carry_the_cost_of_another_than_the_best_model_are_none():
    y, risk = risks()
    worst = np.where(np.arange(len(y)) < 3, 0.99, 0.001)  # a handful of rows tells this one from treating no one
    result = evaluate(y, {"good": risk, "worst": worst}, costs=(0.3, 0.6))
    assert result["worst"].note == "" or "few-events" not in result.findings.codes
    assert "few-events" not in result.findings.codes


def test_rows_in_order_of_time_get_a_word_on_lags():
    rng = np.random.default_rng(3)
    weather = np.zeros(1500)
    for day in range(1, 1500):
        weather[day] = 0.95 * weather[day - 1] + 0.3 * rng.normal()
    y = rng.random(1500) < expit(2.0 * weather - 1.0)
    blind = np.full(1500, 0.3) + 0.1 * rng.random(1500)
    result = evaluate(y, blind, costs=(0.1, 0.6))
    found = finding("neighbours-alike", result)
    assert "if the rows stand in order of time or in groups, its interval should be about" in found.sentence
    assert 'lags="auto"' in found.remedy
    lagged = evaluate(y, blind, costs=(0.1, 0.6), lags="auto")
    assert found.evidence["wider"] == pytest.approx(lagged.best.standard_error / result.best.standard_error, rel=0.01)
    assert "neighbours-alike" not in lagged.findings.codes
    mixed = rng.permutation(1500)
    assert "neighbours-alike" not in codes(y[mixed], blind[mixed])
    for label in (y, ~y):
        by_label = np.argsort(label, kind="stable")
        assert "neighbours-alike" not in codes(y[by_label], blind[by_label])


def test_a_deliberate_test_with_two_outcomes_raises_no_error():
    y, risk = risks()
    result = evaluate(y, {"test": (risk > 0.2) * 1.0}, costs=(0.05, 0.6))
    assert "error" not in {found.severity for found in result.findings}
    assert {"worse-than-prevalence", "calibration-in-the-large"}.isdisjoint(result.findings.codes)


def test_weights_make_rows_fewer():
    y = np.arange(400) < 40
    scores = np.where(y, 0.2, 0.01) + np.linspace(0.0, 0.2, 400)
    weight = np.where(np.arange(400) < 4, 100.0, 1.0)
    evaluation = evaluate(y, scores, costs=(0.05, 0.3), sample_weight=weight)
    effective = weight[y].sum() ** 2 / (weight[y] ** 2).sum()
    assert finding("few-events", evaluation).evidence["positives"] == pytest.approx(effective)
    assert "few-events" not in codes(y, scores, sample_weight=np.full(400, 0.01))


@pytest.mark.parametrize(
    ("measure", "raised"),
    [
        ((0.02, 0.49), True),
        ((0.02, 0.5), False),
        ((0.5, 0.9), False),
        ((0.51, 0.9), True),
        (costs.Fixed(0.5), False),
        (costs.Fixed(0.1), True),
    ],
)
def test_one_half_outside_the_range(measure, raised):
    y, risk = risks(n=500)
    assert ("half-outside" in evaluate(y, risk, costs=measure).findings.codes) == raised


# better than deciding the same for everybody


@pytest.mark.parametrize(
    ("score", "told"), [(0.9, "everyone, acting on all cases"), (0.01, "no one, acting on none of the cases")]
)
def test_decisions_that_are_all_alike_are_not_counted_as_at_least_all_or_at_most_none(score, told):
    y = np.repeat([0, 1], [70, 30])
    found = finding("acts-like-constant", evaluate(y, {"m": np.linspace(score, score + 0.05, 100)}, costs=(0.1, 0.3)))
    assert found.sentence == f"m acts like treating {told}."


def test_useful_model_is_better_than_both_constants_and_a_useless_one_is_not(bcsc):
    y, risk = risks()
    assert "not-better" not in codes(y, risk)
    useless = evaluate(y, np.random.default_rng(0).permutation(risk), costs=(0.05, 0.3))
    found = finding("not-better", useless)
    assert found.sentence.startswith("model is shown to cost more than treating everyone (difference ")
    more = float(re.search(r"\(difference ([\d.]+) per 1,000 decisions, 95%", found.sentence)[1])
    assert more == pytest.approx(1e3 * useless.compare("model", "treat all").difference, abs=0.5)
    assert found.evidence["vs_treat_all"] == pytest.approx(useless.compare("model", "treat all").difference)
    assert found.evidence["vs_treat_all"] > 0.0
    assert finding("not-better", one(bcsc, "logistic_minimal")).evidence["vs_treat_none"] == 0.0
    few, risk = risks(n=40)
    assert "not-better" in codes(few, risk)


@pytest.mark.parametrize("timid", [True, False])
def test_a_model_that_is_shown_to_cost_more_than_a_constant_is_said_to(timid):
    rng = np.random.default_rng(0)
    logits = 1.2 * rng.normal(size=600) - 1.0
    y = (rng.random(600) < 1.0 / (1.0 + np.exp(-logits))).astype(int)
    scores = 1.0 / (1.0 + np.exp(-(0.3 * logits - 2.5))) if timid else 0.1 + 0.2 * (rng.random(600) > 0.02)
    acts = scores >= 0.2
    gap = np.where(y == 1, 0.8 * ~acts, 0.2 * acts) - 0.2 * (y == 0)  # beyond treating everyone, at a threshold of 20%
    error = gap.std(ddof=1) / math.sqrt(600)
    found = finding("not-better", evaluate(y, {"m": scores}, costs=0.2))
    assert (gap.mean() > 3.0 * error) == ("m is shown to cost more than treating everyone (" in found.sentence)
    assert ("more rows will not" in found.remedy) == ("is shown to cost more" in found.sentence)
    assert ("More rows narrow the interval" in found.remedy) == found.sentence.startswith("m is not shown to cost less")
    assert timid == (gap.mean() > 3.0 * error)


def test_model_that_alone_may_be_best_is_better_than_both_constants_whatever_the_two_sided_interval():
    draws = np.random.default_rng(126)
    y = draws.integers(0, 2, 60)
    models = {"a": np.clip(0.25 + 0.5 * y + draws.normal(0, 0.2, 60), 0.02, 0.98), "b": draws.random(60)}
    result = evaluate(y, models, costs=(0.3, 0.5))
    assert result.more_than_first["treat all"][1] < 0.0  # all differences at once, two-sided
    assert result.answer.advice.startswith("USE a.")
    assert "not-better" not in result.findings.codes


def test_constant_that_may_be_best_is_said_to_be_so_by_finding_and_answer():
    for seed in range(12):
        y, risk = risks(n=60, seed=seed)
        result = evaluate(y, {"m": risk}, costs=(0.05, 0.3))
        possible = result.selection.possible
        asked = [name for name in ("treat all", "treat none") if name in possible or "m" not in possible]
        open_ = [name for name in asked if not result.more_than_first[name][1] > 0.0]
        assert ("not-better" in result.findings.codes) is bool(open_)
        assert not (result.answer.advice.startswith("USE") and open_)


# scores that are turned round, or all the same


def test_scores_that_are_turned_round_are_not_called_overfit():
    y, risk = risks(n=1000)
    result = evaluate(y, {"turned": 1.0 - risk, "fine": risk}, costs=(0.05, 0.3))
    found = finding("inverted", result)
    assert found.severity == "error"
    assert found.sentence.startswith("The score of turned (AUC 0.")
    assert found.models == ("turned",)
    said = " ".join(each.sentence for each in result.findings) + " ".join(result.conclusion)
    assert "overfitting" not in said
    assert "Recalibrating turned" not in said
    assert "worse-than-prevalence" not in result.findings.codes
    assert "the label or the score is turned round" in finding("calibration-in-the-large", result).sentence


@pytest.mark.parametrize("right", [0, 1])  # rows whose score is not turned round
def test_scores_turned_round_that_separate_the_classes_are_named(right):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    risk = np.where(y == 1, 0.8, 0.2) + rng.uniform(-0.1, 0.1, 300)
    result = evaluate(y, {"turned": np.where(np.arange(300) < right, risk, 1.0 - risk)}, costs=(0.1, 0.4))
    assert finding("inverted", result).models == ("turned",)
    assert result.conclusion[0].startswith("Decide nothing yet")
    assert "Recalibrating" not in " ".join(result.conclusion)


def test_useless_scores_are_not_called_turned_round():
    y, risk = risks(n=1000)
    assert "inverted" not in codes(y, np.random.default_rng(2).permutation(risk))


def test_one_score_for_every_row_is_an_error():
    y, risk = risks(n=500)
    result = evaluate(y, {"flat": np.full(500, 0.2), "fine": risk}, costs=(0.05, 0.3))
    found = finding("constant", result)
    assert found.severity == "error"
    assert found.sentence == "flat (0.200) gives every row the same score: it tells no row from another."
    assert "constant" not in codes(y, risk)


def test_two_models_that_give_one_score_each_are_spoken_of_as_two():
    y, _ = risks(n=1000)
    found = finding("constant", evaluate(y, {"a": np.full(1000, 0.3), "b": np.full(1000, 0.4)}, costs=(0.05, 0.3)))
    assert (
        found.sentence == "a (0.300) and b (0.400) each give every row the same score: they tell no row from another."
    )


def test_only_of_several_models_one_is_called_the_best():
    rng = np.random.default_rng(0)
    y, models = rng.random(80) < 0.3, {"a": rng.random(80), "b": rng.random(80)}
    for few in (["a"], ["a", "b"]):
        result = evaluate(y, {name: models[name] for name in few}, costs=(0.05, 0.3))
        begins = "a is not shown" if len(few) == 1 else f"The best model, {result.best.name}, is not shown"
        assert finding("not-better", result).sentence.startswith(f"{begins} to cost less than treating everyone")


def test_one_positive_is_not_positives():
    y = np.arange(200) == 0
    found = finding("few-events", evaluate(y, np.linspace(0.3, 0.1, 200), costs=(0.05, 0.3)))
    assert found.sentence == "There is only 1 positive; with fewer than 10 an interval means little."


@pytest.mark.parametrize("action", ["refuse", "re{0}fuse <b>"])
def test_findings_call_the_action_what_it_is_called(action):
    y, risk = risks(n=400)
    low = evaluate(y, {"low": 1e-3 * risk, "noise": np.sort(risk)}, costs=(0.05, 0.3), action=action).findings
    said = " ".join(each.sentence for each in low)
    acting = "refusing" if action == "refuse" else "re{0}fusing <b>"
    assert f"low acts like {acting} no one, acting on" in said
    assert f"is not shown to cost less than {acting} everyone" in said
    assert "treating" not in said


def test_a_slope_that_is_undefined_tells_no_causes_apart():
    y, risk = risks(n=1000)
    bent = expit(logit(risk) + 1.5)
    bent[np.flatnonzero(~y)[0]] = 1.0
    said = finding("calibration-in-the-large", evaluate(y, {"bent": bent}, costs=(0.05, 0.3))).sentence
    assert "slope undefined" in said
    assert "the rows do not distinguish the causes" in said
    assert "class weights" not in said
    assert said.endswith("undefined (a score of exactly 0 or 1 was wrong, which no class weight explains).")


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        ((0.2, 0.2), "(all scores are equal)"),
        ((0.05, 0.3), "(the scores separate the classes)"),
        ((0.0, 0.2), "(scores of exactly 0 and 1 were left aside; only one class is present)"),
    ],
)
def test_a_slope_is_undefined_for_the_reason_that_is_named(scores, why):
    y = np.array([0, 1] * 200)
    said = finding("calibration-in-the-large", evaluate(y, np.array(scores)[y], costs=(0.1, 0.4))).sentence
    assert said.endswith(f"the rows do not distinguish the causes, for the slope is undefined {why}.")


# what can be asked of findings


def test_findings_come_the_gravest_first_and_can_be_silenced(bcsc):
    grades = [SEVERITIES.index(f.severity) for f in bcsc.findings]
    assert grades == sorted(grades)
    left = bcsc.check(ignore=["acts-like-constant", "half-outside"])
    assert left.codes == tuple(c for c in bcsc.findings.codes if c not in {"acts-like-constant", "half-outside"})
    assert bcsc.check(ignore="half-outside").codes == bcsc.findings.codes[:-1]
    with pytest.raises(ValueError, match=r"ignore must name findings \(hard-labels, .*\), got 'typo'"):
        bcsc.check(ignore=["typo"])


def test_every_finding_has_numbers_and_a_remedy(bcsc):
    for found in bcsc.findings:
        assert found.remedy == FINDINGS[found.code].remedy
        assert found.severity == FINDINGS[found.code].severity
        assert found.evidence
        assert "{" not in found.sentence
        numbers = [
            v for value in found.evidence.values() for v in (value.values() if isinstance(value, dict) else [value])
        ]
        assert all(isinstance(v, float) for v in numbers)
        assert set(found.models) <= set(bcsc.models)
    assert [f["code"] for f in json.loads(bcsc.to_json())["findings"]] == list(bcsc.findings.codes)


def test_names_with_braces_are_names():
    y, risk = risks(n=500)
    found = finding("hard-labels", evaluate(y, {"{0} {x}": (risk > 0.2) * 1.0, "{1}": (risk > 0.3) * 1.0}))
    assert found.sentence.startswith("{0} {x} and {1} give only the scores 0 and 1")
    assert found.told(lambda name: f"<{name}>").startswith("<{0} {x}> and <{1}> give")


def test_findings_are_a_table_even_without_any():
    pytest.importorskip("polars")
    y, risk = risks()
    empty = evaluate(y, risk, costs=(0.05, 0.6)).findings
    assert len(empty) == 0
    assert list(empty.frame("polars").columns) == ["code", "severity", "sentence", "remedy"]
    assert empty.to_markdown().count("\n") == 1
    assert empty.to_json() == "[]"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    "measure",
    [costs.Uniform(0, 1), costs.LogOddsUniform(0, 1), costs.Fixed(0.0), costs.Beta(2, 8), costs.Empirical([0.1])],
)
@pytest.mark.parametrize("rule", ["score", "optimal", 0.3])
@pytest.mark.parametrize("data", ["usual", "zero and one", "table", "case control", "two rows"])
def test_checks_survive_every_kind_of_evaluation(data, rule, measure):
    y, risk = risks(n=80)
    options = {}
    if data == "zero and one":
        risk = np.where(np.arange(80) % 2, risk, risk > 0.5)
    elif data == "table":
        y, risk = ScoreTable.from_predictions(y, risk), None
    elif data == "case control":
        options = {"prevalence": 0.01}
    elif data == "two rows":
        y, risk = [1, 0], [0.3, 0.3]
    findings = evaluate(y, risk, costs=measure, rule=rule, **options).findings
    assert all("nan" not in f.sentence for f in findings)


@pytest.mark.simulation
@pytest.mark.parametrize("name", false_alarms.DESIGNS)
def test_false_alarms_are_rare(name):
    design = false_alarms.DESIGNS[name]
    counts, any_false = false_alarms.alarms(design, 40, np.random.default_rng(7))
    # 7 or more of 40 happen once in 300 runs at a rate of 5 %
    assert any_false <= 6
    for code, count in counts.items():
        assert count <= 6 or code in design.true_codes


@pytest.mark.parametrize("name", false_alarms.DESIGNS)
def test_simulated_forecasts_are_calibrated_and_as_common_as_stated(name):
    design = false_alarms.DESIGNS[name]
    middle = false_alarms.intercept(design)
    draws = [false_alarms.simulate(design, middle, np.random.default_rng(s)) for s in range(1 + 50_000 // design.rows)]
    y = np.concatenate([d[0] for d in draws])
    assert y.mean() == pytest.approx(design.prevalence, abs=5 * np.sqrt(design.prevalence / len(y)))
    for model in draws[0][1]:
        scores = np.concatenate([d[1][model] for d in draws])
        for part in np.array_split(np.argsort(scores), 5):
            error = np.sqrt(scores[part].mean() / len(part))
            assert abs(y[part].mean() - scores[part].mean()) < 4.5 * error


def test_fitted_thresholds_are_the_reason_for_no_interval_and_no_sign_of_few_events():
    frames = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    risk = rng.beta(2, 4, 2000)
    other = np.clip(risk + rng.normal(0, 0.05, 2000), 0, 1)
    frame = frames.DataFrame({"y": (rng.random(2000) < risk).astype(int), "a": risk, "b": other})
    for rows in (frame, frame.lazy()):
        found = evaluate_frame(rows, label="y", costs=(0.1, 0.5), rule="optimal")
        assert "few-events" not in {finding.code for finding in found.findings}
        assert found.compare("a", "b").note == "the thresholds are fitted to these very rows"
        assert found["a"].note == ""


def test_a_constant_score_of_one_is_not_said_to_give_two_scores():
    found = evaluate([0, 1, 0, 1] * 20, {"ones": np.ones(80), "labels": [0, 1, 1, 1] * 20}, costs=(0.1, 0.3)).findings
    sentences = {finding.code: finding.sentence for finding in found}
    assert sentences["hard-labels"].startswith("labels gives only the scores 0 and 1")
    assert sentences["constant"].startswith("ones ")


def test_the_share_of_one_model_on_a_threshold_is_said_as_it_is():
    y = [0, 1, 0, 1] * 20
    on, off = np.tile([0.2, 0.2, 0.1, 0.7], 20), np.tile([0.2, 0.8, 0.1, 0.7], 20)
    alone, both = (evaluate(y, models, costs=0.2).findings for models in ({"on": on}, {"on": on, "off": off}))
    said = [next(f.sentence for f in found if f.code == "score-on-threshold") for found in (alone, both)]
    assert said[0].startswith("on scores 50% of cases exactly at a threshold that counts")
    assert said[1].startswith("on and off score 50% of cases or fewer exactly at a threshold that counts")
