"""Sums of pairs say of the differences what the rows say, add up, and come back from a file as they were."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stakes import costs
from stakes.core.options import Options
from stakes.inference import Decisions, PairSums, _comparison, select
from stakes.variance.checks import _possible
from stakes.variance.dependence import PairedRows

pytest.importorskip("pyarrow")

KEPT = Path(__file__).parent / "kept"
ARRAYS = ("rows", "mass", "powers", "carriers", "apart")


def drawn(rows, seed, weights=(1.0,), models=3):
    rng = np.random.default_rng(seed)
    risk = rng.random(rows)
    y = rng.random(rows) < risk
    y[:2] = [False, True]
    scores = [np.clip(risk + rng.normal(0.0, 0.1 * (m + 1), rows), 0.01, 0.99).round(2) for m in range(models)]
    return y, dict(zip("abcdef", scores, strict=False)), rng.choice(weights, rows)


def assert_same(one, two, rtol=0.0):
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=rtol, atol=rtol, err_msg=name)


@settings(max_examples=40)
@given(
    st.integers(2, 300),
    st.integers(0, 10**6),
    st.sampled_from([(1.0,), (1.0, 2.0, 7.0), (0.0, 0.3, 1.0)]),
    st.sampled_from([costs.Uniform(0.1, 0.5), costs.Fixed(0.3), costs.LogOddsUniform(0.05, 0.6), costs.Beta(2, 5)]),
    st.sampled_from([("score", None), (0.4, None), ("score", 0.07), (0.4, 0.07)]),
)
def test_moments_are_those_of_the_rows(rows, seed, weights, measure, asked):
    rule, prevalence = asked
    y, models, weight = drawn(rows, seed, weights)
    weight[:2] = 1.0
    sums = PairSums.from_predictions(y, models, costs=measure, rule=rule, sample_weight=weight)
    by = weight.copy()
    if prevalence is not None:
        for mine, share in ((y, prevalence), (~y, 1.0 - prevalence)):
            by[mine] *= share * weight.sum() / weight[mine].sum()
    some = by > 0.0
    paired = PairedRows(y[some], [s[some] for s in models.values()], by[some], fixed_prevalence=prevalence is not None)
    known = Decisions.from_scores(paired, measure, rule, constants=True)
    found = sums.moments(prevalence)
    np.testing.assert_allclose(found.means, known.means, rtol=1e-12, atol=1e-15)
    assert found.rows == known.rows
    scale = np.nanmax(np.abs(known.matrices.variance), initial=1e-30)
    for name, atol in {"variance": 1e-12 * scale, "unseen_variance": 1e-14, "carrying": 1e-9, "carriers": 0.0}.items():
        mine, its = getattr(found.matrices, name), getattr(known.matrices, name)
        np.testing.assert_allclose(mine, its, rtol=1e-10, atol=atol, err_msg=name)
    np.testing.assert_array_equal(found.matrices.scarce, known.matrices.scarce)
    moving = known.matrices.variance > 1e-10 * scale
    np.testing.assert_allclose(found.matrices.degrees[moving], known.matrices.degrees[moving], rtol=1e-8)


def test_sums_of_parts_add_up_to_those_of_all_rows():
    y, models, weight = drawn(1000, 5, (1.0, 2.0))
    whole = PairSums.from_predictions(y, models, costs=(0.1, 0.4), sample_weight=weight)
    day, parts = np.arange(1000) % 3, []
    for d in range(3):
        mine = day == d
        scores = {name: score[mine] for name, score in models.items()}
        parts.append(PairSums.from_predictions(y[mine], scores, costs=(0.1, 0.4), sample_weight=weight[mine]))
    merged = PairSums.from_json(parts[0].to_json()).merge(parts[1]).merge(parts[2])
    assert_same(merged, whole, rtol=1e-13)
    for name in ("rows", "mass", "carriers", "apart"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))


def test_sums_come_back_from_both_forms(tmp_path):
    y, models, weight = drawn(200, 1, (0.1, 3.0))
    for measure in (costs.Uniform(0.1, 0.4), costs.LogOddsUniform(0, 1), 2.0 * costs.Fixed(0.2) + costs.Beta(2, 2)):
        scores = models | {"sure": np.where(y, 0.0, 1.0)}  # costs an infinite log loss
        sums = PairSums.from_predictions(y, scores, costs=measure, rule="score", sample_weight=weight)
        sums.to_parquet(tmp_path / "p.parquet")
        for back in (PairSums.from_json(sums.to_json()), PairSums.from_parquet(tmp_path / "p.parquet")):
            assert_same(back, sums)
            assert (back.models, back.costs, back.rule) == (sums.models, sums.costs, sums.rule)
    assert PairSums.from_json(PairSums.from_predictions(y, models, costs=0.5, rule=0.25).to_json()).rule == 0.25


def test_files_of_version_2_are_read():
    sums = PairSums.from_predictions([0, 1, 1], {"a": [0.1, 0.8, 0.3], "b": [0.3, 0.6, 0.3]}, costs=(0.2, 0.5))
    assert_same(PairSums.from_json((KEPT / "pairs-2.json").read_text()), sums)
    assert_same(PairSums.from_parquet(KEPT / "pairs-2.parquet"), sums)


def test_an_infinite_loss_stays_infinite():
    y, models, _ = drawn(100, 2)
    models["sure"] = np.where(y, 0.0, 1.0)
    found = PairSums.from_predictions(y, models, costs=costs.LogOddsUniform(0, 1)).moments()
    assert found.means[3] == math.inf
    assert math.isnan(found.difference(0, 3).standard_error)
    assert found.difference(0, 1).standard_error > 0.0


def test_sums_of_other_models_costs_or_rules_do_not_add_up():
    y, models, _ = drawn(50, 2)
    sums = PairSums.from_predictions(y, models, costs=(0.1, 0.4))
    with pytest.raises(ValueError, match=r"^other must be a PairSums, got ndarray"):
        sums.merge(y)
    for other, what in [
        (PairSums.from_predictions(y, {"a": models["a"]}, costs=(0.1, 0.4)), "models"),
        (PairSums.from_predictions(y, models, costs=(0.1, 0.5)), "costs"),
        (PairSums.from_predictions(y, models, costs=(0.1, 0.4), rule=0.3), "rule"),
    ]:
        with pytest.raises(ValueError, match=f"merge needs sums of the same {what}"):
            sums.merge(other)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": "a"}, "models must be a list of names"),
        ({"costs": {"kind": "unknown"}}, "costs must be a cost distribution"),
        ({"costs": 3}, "costs must be a cost distribution"),
        ({"rule": "optimal"}, "rule must be a number"),
        ({"w2_d1": [1.0]}, "w2_d1 must be 30 numbers, two for each pair"),
        ({"carriers": [None] * 30}, "carriers must be a list of numbers"),
        ({"carriers": [-1] * 30}, "carriers must be made of finite numbers >= 0"),
    ],
)
def test_damaged_sums_are_refused_by_their_first_wrong_entry(changes, message):
    y, models, _ = drawn(50, 2)
    content = json.loads(PairSums.from_predictions(y, models, costs=(0.1, 0.4)).to_json())
    with pytest.raises(ValueError, match=f"text is no whole set of pair sums: {message}"):
        PairSums.from_json(json.dumps(content | changes))


def test_a_rule_fitted_to_the_rows_has_no_sums():
    with pytest.raises(ValueError, match='rule="optimal" is fitted to the same rows'):
        PairSums.from_predictions([0, 1], {"a": [0.1, 0.8]}, costs=0.5, rule="optimal")


def test_selection_is_that_of_the_rows():
    y, models, _ = drawn(400, 9)
    options = Options(costs=costs.Uniform(0.1, 0.4)).checked()
    names = (*models, "treat all", "treat none")
    sums = PairSums.from_predictions(y, models, costs=options.costs)
    known = Decisions.from_scores(PairedRows(y, list(models.values()), None), options.costs, "score", constants=True)
    said = [select(part.contest(names, 3, 400, factor=options.factor)) for part in (sums.moments(), known)]
    assert said[0].sentences == said[1].sentences


def test_sums_of_rows_that_are_not_fine_are_refused_even_if_no_table_says_why(monkeypatch):
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"y": [0, 1, 1], "a": [0.2, 0.7, 1.5]})
    with pytest.raises(ValueError, match=r"a.*1\.5"):
        PairSums.from_frame(frame, label="y", models=["a"], costs=(0.1, 0.4))
    monkeypatch.setattr("stakes.tables._engines.count_exactly", lambda *_, **__: None)
    with pytest.raises(ValueError, match="a score or a weight is missing or out of bounds"):
        PairSums.from_frame(frame, label="y", models=["a"], costs=(0.1, 0.4))


ROWS = {"a": [0.1, 0.2, 0.3, 0.9, 0.8, 0.7], "b": [0.6, 0.7, 0.3, 0.3, 0.8, 0.9]}  # at 0.5 b is wrong twice, then once
PAIR, ALONE = 0, 6  # of ten pairs, negatives first: "a" less "b", and "b" less "nothing"


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("apart", {PAIR: 2.5}, "a whole number for 'a' less 'b' among negatives, got 2.5"),
        ("rows", dict.fromkeys(range(20), 2.0**63), "a whole number for 'a' less 'b' among negatives"),
        ("rows", {9: 4}, "the same for every pair .3. for 'treat none' less 'nothing' among negatives, got 4"),
        ("carriers", {PAIR: 4}, "at most the rows .3. for 'a' less 'b'"),
        ("apart", {10 + PAIR: 4}, "at most the rows .3. for 'a' less 'b' among positives, got 4"),
        ("apart", {PAIR: 1}, "at least the carriers .2. for 'a' less 'b' among negatives, got 1"),
        ("apart", {ALONE: 3}, "equal to the carriers .2. for 'b' less 'nothing' among negatives, got 3"),
        ("carriers", {PAIR: 1}, "at least what those of both alone differ by .2. for 'a' less 'b'"),
    ],
)
def test_kept_counts_are_whole_numbers_in_order(name, changes, message):
    content = json.loads(PairSums.from_predictions([0, 0, 0, 1, 1, 1], ROWS, costs=0.5, rule=0.5).to_json())
    assert content["carriers"][PAIR] == content["carriers"][ALONE] == 2
    for place, value in changes.items():
        content[name][place] = value
    with pytest.raises(ValueError, match=f"{name} must be {message}"):
        PairSums.from_json(json.dumps(content))


def test_kept_counts_of_two_models_are_at_most_those_of_both_alone():
    content = json.loads(PairSums.from_predictions([0, 0, 0, 1, 1, 1], ROWS, costs=0.5, rule=0.5).to_json())
    content["carriers"][PAIR] = content["apart"][PAIR] = 3  # "a" is never wrong among negatives, "b" twice
    with pytest.raises(ValueError, match=r"carriers must be at most those of both alone \(2\) for 'a' less 'b'"):
        PairSums.from_json(json.dumps(content))


def test_sums_made_of_numbers_are_of_the_usual_positive_class():
    sums = PairSums.from_predictions([0, 0, 0, 1, 1, 1], ROWS, costs=0.5)
    numbers = {name: getattr(sums, name) for name in ("models", "costs", "rule", *ARRAYS)}
    assert PairSums(**numbers).merge(sums).rows.tolist() == [6.0, 6.0]


@pytest.mark.parametrize(
    ("name", "places", "value", "message"),
    [
        ("w2_d0", range(10), 10.0, r"w2_d0 must be at most the square of mass \(9\)"),
        ("w2_d0", range(10), 2.9, r"w2_d0 must be at least the square of mass / rows"),
        ("w4_d0", range(10), 10, r"w4_d0 must be at most the square of w2_d0 \(9\)"),
        ("w4_d0", range(10), 2.9, r"w4_d0 must be at least the square of w2_d0 / rows"),
        ("mass", [9], 3.5, "mass must be one number for every pair"),
        ("w4_d0", [19], 3.5, "w4_d0 must be one number for every pair"),
        ("w1_d1", [PAIR], -1.0001, "w1_d1 must be the difference of the sums of the two"),
        ("w4_d1", [10 + PAIR], 0.0001, "w4_d1 must be the difference of the sums of the two"),
        ("w2_d2", [PAIR], -0.5, "w2_d2 must be >= 0"),
        ("w4_d2", [PAIR], -0.5, "w4_d2 must be >= 0"),
        ("w2_d2", [PAIR], 0.499, r"w2_d2 must be at least \(w1_d1\)\^2 / carriers"),  # a sum of -1 over 2 rows
        ("w4_d4", [PAIR], 0.124, r"w4_d4 must be at least \(w2_d2\)\^2 / carriers"),  # 0.5^2 over 2 rows
        ("w4_d4", [PAIR], 0.251, "w2_d2 must be at least the root of w4_d4"),  # 0.5
        ("w4_d2", [PAIR], 0.751, "w4_d2 must be at most what the largest loss allows"),  # 3 rows at 0.5^2
        ("w4_d4", [PAIR], 0.126, "w4_d4 must be at most what the largest loss allows"),  # w4_d2 times 0.5^2
        ("w4_d3", [PAIR], -0.251, "w4_d3 must be at most what the largest loss allows"),  # w4_d2 times 0.5
        ("w4_d2", [PAIR], 0.501, "w4_d2 must be w2_d2, as no row is weighted"),
        # each of three negatives costs 0.5 less than "treat all" under "a", and nothing more than "treat none"
        (
            "w2_d2",
            [1],
            0.7,
            r"w2_d2 must be what follows from the sums of the model alone \(0\.75\) for 'a' less 'treat all'",
        ),
        (
            "w2_d2",
            [2],
            0.05,
            r"w2_d2 must be what follows from the sums of the model alone \(0\) for 'a' less 'treat none'",
        ),
        (
            "w2_d2",
            [12],
            0.7,
            r"w2_d2 must be what follows from the sums of the model alone \(0\.75\) for 'a' less 'treat none'",
        ),
    ],
)
def test_kept_powers_are_those_of_one_set_of_rows(name, places, value, message):
    for unit in (1.0, 1e-20, 1e20):
        measure = unit * costs.Fixed(0.5)
        content = json.loads(PairSums.from_predictions([0, 0, 0, 1, 1, 1], ROWS, costs=measure, rule=0.5).to_json())
        for place in places:
            content[name][place] = value * unit ** int(name.partition("_d")[2] or 0)
        with pytest.raises(ValueError, match=message if unit == 1.0 else message.partition(r" \(")[0]):
            PairSums.from_json(json.dumps(content))


@pytest.mark.parametrize("unit", [1.0, 1e-20, 1e20])
@pytest.mark.parametrize("weight", [1.0, 1e-8])
def test_kept_powers_may_differ_by_rounding_in_any_unit_of_cost(unit, weight):
    rng, labels = np.random.default_rng(2), np.array([0, 0, 0, 1, 1, 1])
    for y in (labels, labels[:3], labels[3:]):  # both classes, and one alone
        models, about = {name: values[: len(y)] for name, values in ROWS.items()}, {"rule": 0.5, "pos_label": 1}
        about |= {"costs": unit * costs.Fixed(0.5), "sample_weight": np.full(len(y), weight)}
        sums = PairSums.from_predictions(y, models, **about)
        content = json.loads(sums.to_json())
        assert_same(PairSums.from_json(json.dumps(content)), sums)
        for a in (1, 2, 4):
            noise = np.zeros((len(y), 2, 10))  # of the difference of each row, in all pairs but those of no model
            noise[np.arange(len(y)), y, :7] = rng.uniform(-1e-14, 1e-14, (len(y), 7)) * 0.5 * unit
            for b in range(1, a + 1):
                moved = weight**a * (noise**b).sum(axis=0).ravel()
                content[f"w{a}_d{b}"] = (np.array(content[f"w{a}_d{b}"]) + moved).tolist()
        PairSums.from_json(json.dumps(content))


@pytest.mark.parametrize("tiny", [1e-6, 1e-9, 1e-12])
def test_sums_of_models_that_are_nearly_always_right_come_back(tiny):
    rng, y = np.random.default_rng(0), np.arange(50) % 3 == 0
    sure = {name: np.where(y, 1.0 - tiny * rng.random(50), tiny * rng.random(50)) for name in "ac"}
    sums = PairSums.from_predictions(y, sure | {"b": rng.random(50)}, costs=costs.Uniform(0, 1))
    assert_same(PairSums.from_json(sums.to_json()), sums)


@pytest.mark.parametrize(
    ("scores", "squares", "fourths", "message"),
    [
        ([0.6, 0.1, 0.6, 0.6], [1.75, -0.5, 1.25, 0.75], [1.5, -0.25, 1.75, 1.25], "w2_d2"),
        ([0.5, 0.6, 0.3, 0.1], [1.0, 0.0, 1.5, 0.25], [1.75, -0.25, 1.25, 0.75], "w4_d3"),
        ([0.5, 0.7, 0.4, 0.7], [1.5, -0.25, 0.5, 1.0], [-0.25, 1.75, 1.5, -0.5], "w4_d3"),
        ([0.4, 0.4, 0.1, 0.2], [1.5, 1.5, -0.25, 0.75], [2.0, 1.5, 0.25, -0.25], "w4_d3"),
    ],
)
def test_no_square_of_a_weight_is_negative(scores, squares, fourths, message):
    mass = np.full(4, sum(squares) ** 0.5 / 3.0)
    powers = {"w1": mass, "ma": mass, "w2": squares, "w4": fourths}
    each = [
        json.loads(PairSums.from_predictions([0], {"a": [s]}, costs=costs.Uniform(0, 1), pos_label=1).to_json())
        for s in scores
    ]
    content = dict(each[0])
    for name, values in content.items():
        if isinstance(values, list) and name != "models":
            by = powers.get(name[:2], np.ones(4))
            content[name] = sum(w * np.array(one[name], dtype=float) for w, one in zip(by, each, strict=True)).tolist()
    with pytest.raises(ValueError, match=f"{message} must be a power of the same differences as the other powers"):
        PairSums.from_json(json.dumps(content))


def test_squares_of_differences_are_those_of_two_losses():
    scores = {"a": [0.8, 0.01, 0.02, 0.9], "b": [0.01, 0.02, 0.01, 0.8]}
    sums = PairSums.from_predictions([0, 0, 0, 1], scores, costs=costs.Uniform(0, 1), sample_weight=[1, 2, 1, 1])
    content = json.loads(sums.to_json())
    content["w2_d2"][PAIR] *= 1.3  # "b" costs next to nothing among negatives: the square is that of "a"
    with pytest.raises(ValueError, match="w2_d2 must be what products of two losses allow for 'a' less 'b'"):
        PairSums.from_json(json.dumps(content))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_products_of_losses_are_possible_or_not_in_any_unit(unit):
    assert _possible(unit * np.array([[1.0, 0.9], [0.9, 1.0]]))
    assert not _possible(unit * np.array([[1.0, 1.1], [1.1, 1.0]]))
    assert _possible(unit * np.array([[0.0, 0.0], [0.0, 1.0]]))


def test_scores_without_weight_add_nothing_even_where_their_loss_is_infinite():
    weight, losses = np.array([2.0, 0.0, 3.0, 0.0]), np.array([0.5, 0.25, 1.0, math.inf])
    for power in (1, 2, 3):
        assert _comparison._total(weight, losses, power) == pytest.approx(2.0 * 0.5**power + 3.0)
