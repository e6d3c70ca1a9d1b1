"""The advice names the metric that the mathematics names, and its code runs."""

import itertools

import numpy as np
import pytest

import stakes
from stakes import advise, costs, expected_regret

SITUATIONS = list(itertools.product(("independent", "budget"), ("known", "range", "unknown")))
VALUES = {
    ("independent", "known"): {"cost_ratio": 0.3},
    ("independent", "range"): {"bounds": (0.1, 0.4)},
    ("budget", "known"): {"capacity": 7},
    ("budget", "range"): {"capacity": (3, 30)},
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    risk = rng.beta(1.0, 3.0, 60)
    return rng.random(60) < risk, risk


def answer(advice, y_true, scores, **further):
    """Run the code of an advice as a reader would who pastes it."""
    names = {"y_true": y_true, "y_prob": scores, "y_score": scores, **further}
    *before, last = advice.call.splitlines()
    exec("\n".join(before), names)  # noqa: S102  (the code is the library's own)
    return eval(last, names)  # noqa: S307


@pytest.mark.parametrize("probabilities", [True, False])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_call_runs_and_uses_the_metric_it_names(situation, given, probabilities, data):
    decisions, threshold = situation
    values = VALUES.get(situation, {}) if given else {}
    advice = advise(decisions=decisions, knowledge=threshold, probabilities=probabilities, **values)
    assert np.isfinite(answer(advice, *data))
    assert advice.metric in advice.call
    assert callable(getattr(stakes.metrics, advice.metric))
    assert sorted(advice.wrong) == ["AUC", "F1", "accuracy"]
    for text in (advice.why, advice.call, *advice.wrong.values()):
        assert "{" not in text
        assert "}" not in text


@pytest.mark.parametrize("outcome", ["time_to_event", "partly_verified", "amounts"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_call_makes_the_outcome_that_was_asked_for(situation, outcome, data):
    decisions, threshold = situation
    if outcome == "amounts" and decisions == "budget":
        with pytest.raises(ValueError, match="independent decisions"):
            advise(decisions=decisions, knowledge=threshold, outcome=outcome)
        return
    y, risk = data
    columns = {"event": y, "time": np.where(y, 1.0, 3.0), "horizon": 2.0, "groups": np.arange(60) % 2}
    columns |= {"false_positive": 3.0, "false_negative": np.linspace(5, 50, 60)}
    advice = advise(decisions=decisions, knowledge=threshold, outcome=outcome)
    found = answer(advice, y, risk, **columns)
    if outcome == "amounts":  # as the rows would be decided one by one
        act = risk * columns["false_negative"] >= (1 - risk) * 3.0
        cost = 1000 * np.where(y, columns["false_negative"] * ~act, 3.0 * act).mean()
        assert threshold != "known" or found.cost.value == pytest.approx(cost, rel=1e-12)
    else:  # every status is known here
        assert found == answer(advise(decisions=decisions, knowledge=threshold), y, risk)


@pytest.mark.parametrize("situation", [s for s in SITUATIONS if s[0] == "independent"])
def test_scores_that_only_rank_may_be_any_numbers(situation, data):
    y, risk = data
    advice = advise(decisions=situation[0], knowledge=situation[1], probabilities=False)
    stretched = answer(advice, y, 50.0 * np.sqrt(risk) - 20.0)
    assert stretched == pytest.approx(answer(advice, y, risk), abs=1e-14)


def fixed_cost(y, score, cut, c):
    acted = score >= cut
    return np.mean(c * (acted & ~y) + (1.0 - c) * (~acted & y))


def test_known_cost_ratio_ranks_by_cost(data):
    y, risk = data
    rivals = [risk, risk**2, np.sqrt(risk), 1.0 - risk]
    advice = advise(decisions="independent", knowledge="known", cost_ratio=0.3)
    benefits = [answer(advice, y, s) for s in rivals]
    by_hand = [np.mean(y) - fixed_cost(y, s, 0.3, 0.3) / 0.7 for s in rivals]
    assert benefits == pytest.approx(by_hand, abs=1e-14)


def test_range_is_twice_the_integral_of_cost(data):
    y, risk = data
    advice = advise(decisions="independent", knowledge="range", bounds=(0.1, 0.4))
    grid = np.linspace(0.1, 0.4, 30_001)
    middle = (grid[1:] + grid[:-1]) / 2
    by_hand = 2 * 0.3 * np.mean([fixed_cost(y, risk, c, c) for c in middle])
    assert answer(advice, y, risk) == pytest.approx(by_hand, abs=1e-6)


def test_unknown_cost_ratio_is_the_brier_score(data):
    y, risk = data
    advice = advise(decisions="independent", knowledge="unknown")
    assert answer(advice, y, risk) == pytest.approx(np.mean((risk - y) ** 2), abs=1e-14)


def budget_cost(y, score, k, c):
    found = np.zeros(len(y), dtype=bool)
    found[np.argsort(-score, kind="stable")[:k]] = True
    return c * np.sum(found & ~y) + (1.0 - c) * np.sum(~found & y)


@pytest.mark.parametrize("c", [0.1, 0.5, 0.8])
@pytest.mark.parametrize(("threshold", "budgets"), [("known", [7]), ("range", range(3, 31)), ("unknown", range(1, 61))])
def test_budget_metrics_rank_by_cost_whatever_the_cost_ratio(threshold, budgets, c, data):
    y, risk = data
    rng = np.random.default_rng(8)
    rivals = [risk + s * rng.normal(size=len(y)) for s in (0.0, 0.1, 0.2, 0.4, 0.8)]
    advice = advise(decisions="budget", knowledge=threshold, **VALUES.get(("budget", threshold), {}))
    values = np.array([answer(advice, y, s) for s in rivals])
    cost = np.array([np.mean([budget_cost(y, s, k, c) for k in budgets]) for s in rivals])
    # affine with a negative slope: equal up to rounding after both are standardised
    spread = np.polyfit(values, cost, 1)
    assert spread[0] < 0.0
    assert np.polyval(spread, values) == pytest.approx(cost, abs=1e-10)


def test_accuracy_is_right_at_one_half_and_nowhere_else(data):
    y, risk = data
    accuracy = np.mean((risk >= 0.5) == y)
    assert accuracy == pytest.approx(1 - 2 * expected_regret(y, risk, costs=costs.Fixed(0.5)))
    at_half = advise(decisions="independent", knowledge="known", cost_ratio=0.5)
    assert "is right" in at_half.wrong["accuracy"]
    elsewhere = advise(decisions="independent", knowledge="known", cost_ratio=0.4)
    assert "is right" not in elsewhere.wrong["accuracy"]
    for bounds, said in (((0.1, 0.4), "not in your range"), ((0.4, 0.6), "only one point of your range")):
        assert said in advise(decisions="independent", knowledge="range", bounds=bounds).wrong["accuracy"]


def test_auc_is_wrong_except_for_an_unknown_budget():
    right = [s for s in SITUATIONS if advise(decisions=s[0], knowledge=s[1]).wrong["AUC"].startswith("Nothing")]
    assert right == [("budget", "unknown")]


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.03, "Never acting has an accuracy of 97% here."), (0.8, "Always acting has an accuracy of 80% here.")],
)
def test_imbalance_is_told_in_numbers(share, said):
    advice = advise(decisions="independent", knowledge="unknown", prevalence=share)
    assert advice.wrong["accuracy"].endswith(said)


def test_numbers_that_are_examples_are_called_so():
    assert "for example" in advise(decisions="budget", knowledge="known").why
    assert "for example" not in advise(decisions="budget", knowledge="known", capacity=12).why
    shared = advise(decisions="budget", knowledge="known", capacity=0.05)
    assert "the 5% highest scores" in shared.why
    assert "capacity=0.05)" in shared.call
    assert "capacity=12)" in advise(decisions="budget", knowledge="known", capacity=12).call


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decisions": "both", "knowledge": "known"}, "decisions must be one of 'independent', 'budget', got 'both'"),
        ({"decisions": "budget", "knowledge": "some"}, "knowledge must be one of"),
        ({"decisions": "budget", "knowledge": "known", "cost_ratio": 0.1}, "cost_ratio has no place"),
        ({"decisions": "independent", "knowledge": "known", "capacity": 3}, "capacity has no place"),
        ({"decisions": "independent", "knowledge": "unknown", "bounds": (0.1, 0.2)}, "bounds has no place"),
        ({"decisions": "independent", "knowledge": "known", "cost_ratio": 1.0}, r"cost_ratio must lie in \(0, 1\)"),
        ({"decisions": "independent", "knowledge": "range", "bounds": (0.3, 0.1)}, "bounds must satisfy"),
        ({"decisions": "independent", "knowledge": "range", "bounds": 0.3}, r"bounds must be \(low, high\), got 0.3"),
        (
            {"decisions": "budget", "knowledge": "known", "capacity": 0},
            "capacity must be a count of rows >= 1 or a share of them in .0, 1., got 0",
        ),
        (
            {"decisions": "budget", "knowledge": "known", "capacity": 2.5},
            "capacity must be a count of rows >= 1 or a share of them in .0, 1., got 2.5",
        ),
        ({"decisions": "budget", "knowledge": "known", "capacity": (2, 3)}, "capacity must be a finite number"),
        ({"decisions": "budget", "knowledge": "range", "capacity": (5, 5)}, r"capacity must ascend, got \(5, 5\)"),
        ({"decisions": "budget", "knowledge": "range", "capacity": 5}, r"capacity must be \(low, high\), got 5"),
        ({"decisions": "budget", "knowledge": "unknown", "prevalence": 1.2}, "prevalence must lie in"),
        ({"decisions": "budget", "knowledge": "unknown", "probabilities": "no"}, "probabilities must be True or False"),
    ],
)
def test_values_that_do_not_belong_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        advise(**options)


def test_a_range_of_budgets_goes_from_one_case_on_in_whole_numbers(data):
    y, risk = data
    asked = {"decisions": "budget", "knowledge": "range"}
    of_two = [answer(advise(**asked, capacity=pair), y, risk) for pair in ((1, 2), (np.int64(1), np.int32(2)))]
    first, second = y[np.argsort(-risk, kind="stable")[:2]] / np.sum(y)  # shares of the positives that are caught
    assert of_two == pytest.approx([first + second / 2.0] * 2)
    for low in (0, -1, True, 1.0, "1"):
        with pytest.raises(ValueError, match=f"^capacity must be a whole number >= 1, got {low!r}"):
            advise(**asked, capacity=(low, 30))


def test_advice_is_a_table_of_one_row():
    advice = advise(decisions="budget", knowledge="unknown")
    assert "| budget | unknown | roc_auc_score |" in advice.to_markdown()
