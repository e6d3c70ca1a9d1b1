"""What is said of equally good, useless or tied models and of one named beforehand, and that it is seldom false."""

import numpy as np
import pytest
from scipy.special import expit

from replications import false_alarms
from stakes import evaluate

TEN = false_alarms.DESIGNS["ten"]


def ten_equal(seed):
    """Ten calibrated models of the same worth, none of which costs less than another."""
    return false_alarms.simulate(TEN, false_alarms.intercept(TEN), np.random.default_rng(seed))


def test_the_best_of_ten_equal_models_is_not_said_to_beat_the_others():
    y, models = ten_equal(0)
    result = evaluate(y, models, costs=TEN.bounds)
    chosen, said = result.best.name, " ".join(result.conclusion)
    assert result.conclusion[0].startswith(f"These rows cannot tell {chosen} from model ")
    assert f"Shown (95%, all at once): {chosen} costs less than treating everyone or no one" in said
    assert f"Not shown: that {chosen} costs less than model " in said
    assert "beyond chance" not in said
    assert " after correction for selection among 10 models." in " ".join(result.answer.details)
    assert set(result.by_threshold.everywhere) <= {"treat all", "treat none"}


@pytest.mark.simulation
def test_claims_about_ten_equal_models_are_seldom_false():
    false = 0
    for seed in range(60):
        y, models = ten_equal(seed)
        result = evaluate(y, models, costs=TEN.bounds, incumbent="model 3")
        found, band = result.selection, result.by_threshold
        beaten = "model 3" in found.against and found.against["model 3"].shown
        alone = len(found.possible) == 1
        false += beaten or alone or bool(set(band.everywhere) & set(models)) or bool(band.dearer)
    assert false <= 8  # nine or more of 60 happen once in 250 runs at a rate of 5%


def test_useless_models_lose_to_treating_no_one_by_name():
    rng = np.random.default_rng(4)
    y = rng.random(2000) < 0.1
    result = evaluate(y, {name: rng.random(2000) for name in ("noise", "more noise")}, costs=(0.2, 0.4))
    assert result.conclusion[0] == "Treat no one: no model is shown to cost less."
    assert result.conclusion[1].startswith("Treating no one costs ")
    assert result.selection.possible == ("treat none",)
    assert "not-better" in result.findings.codes


def test_tied_models_share_the_place():
    rng = np.random.default_rng(1)
    risk = expit(1.5 * rng.normal(size=2000) - 1.5)
    y = rng.random(2000) < risk
    result = evaluate(y, {"one": risk, "other": risk.copy(), "blunt": 0.5 * risk + 0.1}, costs=(0.1, 0.4))
    assert result.conclusion[0] == "one and other cost the same on each of these rows: either will do."
    assert result.selection.tied == ("one", "other")


def wrong_at(*places):
    """Scores of sixty rows, every other one positive, that decide wrongly in some."""
    return np.where(np.isin(np.arange(60), places) ^ (np.arange(60) % 2 == 1), 0.9, 0.1)


def test_equal_means_of_unequal_losses_are_no_equal_models():
    y, first = np.arange(60) % 2, wrong_at(*range(6))
    answers = {
        name: evaluate(y, {"a": first, "b": other, **more}, costs=0.5).answer
        for name, other, more in (
            ("elsewhere", wrong_at(*range(20, 26)), {}),
            ("same", first + 0.01, {}),
            ("three", first + 0.01, {"c": first - 0.01}),
            ("open", first + 0.01, {"c": wrong_at(*range(20, 27))}),
        )
    }
    said = {name: (answer.advice, answer.not_shown) for name, answer in answers.items()}
    assert said["elsewhere"] == ("These rows cannot tell a from b.", ("Not shown: that a costs less than b.",))
    assert said["same"] == ("a and b cost the same on each of these rows: either will do.", ())
    assert said["three"] == ("a, b and c cost the same on each of these rows: any of them will do.", ())
    assert said["open"][0] == "These rows cannot tell a and b, which cost the same on each, from c."
    assert said["open"][1][0].startswith("Not shown: that a costs less than c; ")


def test_equal_sums_of_clusters_are_no_equal_models():
    y, clusters = np.arange(60) % 2, np.arange(60) // 10
    first, other = (wrong_at(*range(k, 60, 10)) for k in (0, 2))
    assert evaluate(y, {"a": first, "b": other}, costs=0.5, clusters=clusters).conclusion[0].startswith("These rows")
    same = evaluate(y, {"a": first, "b": first.copy()}, costs=0.5, clusters=clusters).conclusion[0]
    assert same == "a and b cost the same on each of these rows: either will do."


@pytest.mark.parametrize("seed", [0, 16, 60])
def test_a_tie_by_chance_hides_no_rival(seed):
    rng, y = np.random.default_rng(seed), np.arange(30) % 3 == 0
    wrong = rng.permuted(np.tile(np.arange(30) < 7, (2, 1)), axis=1)
    models = {name: np.where(y ^ mine, 0.9, 0.1) for name, mine in zip("ab", wrong, strict=True)}
    result = evaluate(y, models, costs=0.5)
    assert result.selection.tied == ("a", "b")
    for name in ("b", "treat none"):
        assert name in result.selection.possible
        assert name.replace("treat none", "treating no one") in result.conclusion[0]


def test_a_model_named_beforehand_and_those_tried_stand_in_the_sentences():
    y, models = ten_equal(2)
    result = evaluate(y, models, costs=TEN.bounds, incumbent="model 3", n_tried=40)
    said = " ".join(result.conclusion)
    assert "after correction for selection among 40 models tried" in " ".join(result.answer.details)
    assert "model 3, named beforehand" in said
    width = np.ptp(result.selection.interval)
    assert width > np.ptp(evaluate(y, models, costs=TEN.bounds).selection.interval)


def test_a_deliberate_test_with_two_outcomes_is_judged_by_its_cost():
    rng = np.random.default_rng(1)
    risk = expit(2.0 * rng.normal(size=3000) - 1.5)
    y = rng.random(3000) < risk
    result = evaluate(y, {"test": (risk > 0.2) * 1.0}, costs=(0.1, 0.4))
    assert result.conclusion[0] == "USE test."
    assert result.conclusion[1].startswith("test costs ")
    assert result.findings.codes == ("hard-labels", "half-outside")
    assert result.findings[0].sentence == (
        "test gives only the scores 0 and 1: decisions that no threshold changes, not probabilities."
    )


def test_a_published_decision_of_yes_or_no_is_no_error(load_data):
    data = load_data("dcurves/df_binary")
    result = evaluate(data["cancer"], data["famhistory"], costs=(0.05, 0.35))
    assert all(found.severity != "error" for found in result.findings)
