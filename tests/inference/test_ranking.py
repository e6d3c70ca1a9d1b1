"""Multiplicity: Holm as a closed test, ranks by their definition, dominance by counting, levels by simulation."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from stakes import ScoreTable, compare, costs, evaluate, expected_regret
from stakes.inference import dominance, holm, metric_interval
from stakes.variance.sums import raised_to_one

COSTS = costs.Uniform(0.05, 0.4)


def test_holm_step_by_step():
    # 10 * 0.010, 9 * 0.013, 8 * 0.014 (less than the one before), 7 * 0.19
    p = [0.010, 0.013, 0.014, 0.190, 0.350, 0.500, 0.630, 0.670, 0.750, 0.810]
    expected = [0.1, 0.117, 0.117, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert holm(p) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(p):
    """A hypothesis is rejected if every intersection that holds it is rejected by Bonferroni."""
    n = len(p)
    closed = np.zeros(n)
    for size in range(1, n + 1):
        for chosen in itertools.combinations(range(n), size):
            joint = min(1.0, size * min(p[i] for i in chosen))
            closed[list(chosen)] = np.maximum(closed[list(chosen)], joint)
    assert holm(p) == pytest.approx(closed, abs=1e-12)


@pytest.mark.parametrize("p", [[0.5, 0.5], [0.01, 0.4, 0.6, 0.3], [1.0], [0.2, 0.3]])
def test_p_values_said_to_be_raised_to_one_are(p):
    raised, below = raised_to_one(np.array(p)), sorted(p)
    assert np.all(holm(p)[raised] == 1.0)
    assert raised.any() == any((len(p) - k) * each >= 1.0 for k, each in enumerate(below))


def test_untested_hypotheses_do_not_count():
    adjusted = holm([0.01, math.nan, 0.03])
    assert adjusted[[0, 2]].tolist() == [0.02, 0.03]
    assert math.isnan(adjusted[1])


@pytest.mark.parametrize("p", [[0.1, 1.01], [-0.01, 0.1], [[0.1, 0.2]], 0.1])
def test_only_a_list_of_numbers_from_0_to_1_is_adjusted(p):
    with pytest.raises(ValueError, match=r"p_values must be a list of numbers in \[0, 1\], got "):
        holm(p)
    assert holm([0.0, 1.0]).tolist() == [0.0, 1.0]


def sample(n, seed, models=5, spread=0.02):
    rng = np.random.default_rng(seed)
    q = rng.beta(1, 4, n)
    y = rng.random(n) < q
    return y, {f"m{k}": np.clip(q + spread * k * rng.normal(size=n), 0, 1) for k in range(models)}


def test_ranks_follow_the_adjusted_pairwise_tests():
    y, models = sample(3000, 2)
    result = evaluate(y, models, costs=COSTS)
    names = list(models)
    pairs = list(itertools.combinations(names, 2))
    adjusted = dict(
        zip(pairs, holm([compare(y, models[a], models[b], costs=COSTS).p_value for a, b in pairs]), strict=True)
    )
    for row in result.adjusted_ranking():
        better = worse = 0
        for other in names:
            if other == row.model or adjusted[tuple(sorted((row.model, other), key=names.index))] > 0.05:
                continue
            lower = expected_regret(y, models[other], costs=COSTS) < expected_regret(y, models[row.model], costs=COSTS)
            better, worse = better + lower, worse + (not lower)
        assert (row.rank_low, row.rank_high) == (1 + better, len(names) - worse)
    assert [row.model for row in result.adjusted_ranking()] == list(result.ranking)


def holm_by_definition(p):
    """Adjusted p-values: the largest multiple of those up to each, at most 1."""
    order, adjusted = np.argsort(p, kind="stable"), np.empty(len(p))
    for place, k in enumerate(order):
        adjusted[k] = min(1.0, max(p[j] * (len(p) - before) for before, j in enumerate(order[: place + 1])))
    return adjusted


@pytest.mark.parametrize(("spread", "share"), [(0.0002, 0.4), (0.01, 0.9)])
@pytest.mark.parametrize("given", [{}, {"prevalence": 0.1}, {"sample_weight": True}])
def test_ranks_of_many_models_are_those_of_every_pair_though_few_are_computed(spread, share, given):
    y, models = sample(600, 4, models=30, spread=spread)
    models |= {"copy": models["m3"].copy(), "moved": np.clip(models["m0"] + 0.1, 0, 1), "constant": np.full(600, 0.2)}
    rng = np.random.default_rng(1)
    models |= {f"other {k}": np.clip(models["m0"] + 0.1 * rng.normal(size=600), 0, 1) for k in range(7)}
    given = {"sample_weight": rng.gamma(2.0, size=600)} if "sample_weight" in given else given
    result = evaluate(y, models, costs=COSTS, **given)
    found, count = result.adjusted_ranking(), len(models)
    first, second = np.triu_indices(count, 1)
    assert 0 < result.moments.losses.computed.sum() < share * len(first)
    adjusted = holm_by_definition(result.moments.differences(first, second).p_values())
    gaps = result.moments.means[first] - result.moments.means[second]
    for row in found:
        i, lead = list(models).index(row.model), list(models).index(found[0].model)
        mine = (adjusted <= 0.05) & ((first == i) | (second == i))
        behind = np.where(first == i, gaps, -gaps)[mine] > 0.0
        assert (row.rank_low, row.rank_high) == (1 + behind.sum(), count - (~behind).sum())
        pair = (first == min(i, lead)) & (second == max(i, lead))
        assert [row.p_value] == adjusted[pair].tolist() or i == lead


@pytest.mark.simulation
def test_the_truly_best_model_is_kept():
    """Six models of equal quality: each is thrown out of the best set at most as often as the level says."""
    thrown = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        q = rng.beta(1, 4, 400)
        y = rng.random(400) < q
        models = {f"m{k}": np.clip(q + 0.1 * rng.normal(size=400), 0, 1) for k in range(6)}
        thrown += len(evaluate(y, models, costs=COSTS).adjusted_ranking().best) < 6
    assert thrown / 300 <= 0.08


def test_one_model_has_the_only_rank():
    y, models = sample(200, 1, models=1)
    (row,) = evaluate(y, models, costs=COSTS).adjusted_ranking()
    assert (row.rank, row.rank_low, row.rank_high) == (1, 1, 1)
    assert math.isnan(row.p_value)


def regret_on_both_sides(y, score, c):
    """Regret at c, and just above it, by counting."""
    at, above = score >= c, score > c
    return [np.mean(np.where(y, (1 - c) * ~acting, c * acting)) for acting in (at, above)]


@given(st.integers(0, 10**6))
@example(40296)  # a crossing one rounding below the upper end
def test_dominance_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    y = rng.random(n) < 0.5
    if y.all() or not y.any():
        y[0] = not y[0]
    a, b = rng.integers(0, 9, (2, n)) / 8
    low, high = sorted(rng.choice(np.arange(17) / 16, 2, replace=False))
    found = dominance(*(ScoreTable.from_predictions(y, s) for s in (a, b)), low=low, high=high)
    # every piece is straight: its ends decide, approached from within
    points = np.unique(np.concatenate([[low, high], a, b]))
    points = points[(points >= low) & (points <= high)]
    gaps = []
    for c in points:
        (left_a, right_a), (left_b, right_b) = (regret_on_both_sides(y, s, c) for s in (a, b))
        gaps.append(left_a - left_b)
        if c < high:
            gaps.append(right_a - right_b)
    gaps = np.round(gaps, 12)
    if np.all(gaps == 0):
        assert found.winner == "equal"
    elif np.all(gaps <= 0):
        assert found.winner == "a"
    elif np.all(gaps >= 0):
        assert found.winner == "b"
    else:
        assert found.winner == ""
    assert found.stretches[0][0] == low or found.stretches[0][1] == low
    assert found.stretches[-1][1] == high
    for left, right, better in found.stretches:
        if left == right:
            continue
        inside = left + (right - left) * np.array([0.11, 0.37, 0.5, 0.83])
        gaps = [round(regret_on_both_sides(y, a, c)[0] - regret_on_both_sides(y, b, c)[0], 12) for c in inside]
        # curves may touch at a single point of a stretch
        least, most = min(gaps), max(gaps)
        assert {"a": most <= 0 and least < 0, "b": least >= 0 and most > 0, "equal": least == most == 0}[better]


def test_dominance_counts_the_lower_end_itself():
    """At c = 0.2 exactly a still acts on its score of 0.2, just above it no longer does."""
    y = [0, 1]
    tables = [ScoreTable.from_predictions(y, s) for s in ([0.2, 0.9], [0.1, 0.9])]
    assert dominance(*tables, low=0.2, high=0.2).winner == "b"
    assert dominance(*tables, low=0.21, high=0.5).winner == "equal"
    assert dominance(*tables, low=0.2, high=0.5).winner == "b"


def test_shares_and_sentences():
    y = [0, 1]
    a, b = (ScoreTable.from_predictions(y, s) for s in ([0.2, 0.4], [0.6, 0.8]))
    found = dominance(a, b, low=0.1, high=0.5)
    assert found.share("a") + found.share("b") + found.share("equal") == pytest.approx(1.0)
    assert str(found).startswith("neither is better at every cost ratio from 0.1 to 0.5")
    assert str(dominance(a, a)) == "a and b cost the same at every cost ratio from 0 to 1"
    alone = dominance(a, b, low=0.3, high=0.3)
    assert str(alone) == "a costs less than b at the cost ratio 0.3"
    assert (alone.share("a"), alone.share("b"), alone.share("equal")) == (1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="low and high must satisfy"):
        dominance(a, b, low=0.5, high=0.1)


def test_dominance_is_worked_out_when_asked_for_and_once(monkeypatch):
    from stakes.inference import _comparison

    asked = []
    monkeypatch.setattr(_comparison, "dominance", lambda *_, **options: asked.append(options) or len(asked))
    y = [0, 1, 0, 1] * 5
    found = compare(y, [0.1, 0.8, 0.3, 0.6] * 5, [0.4, 0.6, 0.5, 0.4] * 5, costs=(0.2, 0.6))
    assert repr(found)
    assert asked == []
    assert (found.dominance, found.dominance) == (1, 1)
    assert asked == [{"low": 0.2, "high": 0.6, "rule": "score", "names": ("a", "b")}]


def test_comparison_survives_pickling_with_its_dominance():
    y = [0, 1, 0, 1] * 5
    models = {"first": [0.1, 0.8, 0.3, 0.6] * 5, "second": [0.4, 0.6, 0.5, 0.4] * 5}
    for found in (
        compare(y, *models.values(), costs=(0.2, 0.6), names=tuple(models)),
        evaluate(y, models, costs=(0.2, 0.6)).compare("first", "second"),
    ):
        again = pickle.loads(pickle.dumps(found))  # noqa: S301  (our own bytes)
        assert (again, str(again.dominance)) == (found, str(found.dominance))


def test_cross_fitting_draws_its_folds_from_seed_zero_where_none_is_given():
    y = np.arange(60) % 2
    score = 0.3 * y + 0.7 * np.random.default_rng(0).random(60)
    seeds = {}, {"random_state": 0}, {"random_state": 1}
    plain, zero, one = (metric_interval(y, score, "hull_auc", **seed).value for seed in seeds)
    assert plain == zero != one


@pytest.mark.parametrize("names", [("equal", "b"), ("a", "equal"), ("equal", "neither")])
def test_a_model_called_equal_is_not_taken_for_a_draw(names):
    """The same two models under other names: the same stretches, winner and sentence."""
    y, good, poor = [0, 1] * 20, [0.1, 0.9] * 20, [0.6, 0.4] * 20
    plain = compare(y, good, poor, costs=(0.01, 0.9), names=("first", "second")).dominance
    found = compare(y, good, poor, costs=(0.01, 0.9), names=names).dominance
    assert [plain.stretches[0][2], plain.winner] == ["equal", "first"]
    assert found.winner == names[0]
    assert str(found) == str(plain).replace("first", names[0]).replace("second", names[1])
    called = {"first": names[0], "equal": found.stretches[0][2]}
    assert called["equal"] not in names
    assert [better for *_, better in found.stretches] == [called[better] for *_, better in plain.stretches]


@pytest.mark.parametrize("unit", [1e-2, 1e-7])
def test_costs_that_are_small_for_every_row_are_ranked_as_they_are_compared(unit):
    rng, y = np.random.default_rng(0), np.arange(2000) % 2 == 1
    models = {
        name: np.where(y, rng.random(2000) < hits, (rng.random(2000) < alarms) * 1e-3).astype(float)
        for name, hits, alarms in (("a", 0.9, 0.2), ("b", 0.8, 0.6))
    }
    result = evaluate(y, models, costs=(unit, 2.0 * unit), prevalence=unit)
    first, second = result.adjusted_ranking()
    known = result.compare("a", "b").p_value
    assert (first.model, second.model) == ("a", "b")
    assert second.p_value == pytest.approx(known, rel=1e-9)
    assert known < 1e-8
