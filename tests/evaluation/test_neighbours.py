"""Rows that resemble their neighbours, as rows in order of time do: what counts as alike, and how much it widens."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from stakes import evaluate
from stakes.evaluation._checks_data import neighbours_alike


@pytest.mark.parametrize(("seed", "said"), [(69, False), (112, True), (170, True), (185, False)])
def test_neighbours_are_called_alike_where_chance_makes_them_so_in_less_than_one_sample_of_a_thousand(seed, said):
    """By the sum of the products of neighbours beside its error, which their squares give."""
    rng = np.random.default_rng(seed)
    drift = np.convolve(rng.normal(size=409), np.full(10, 0.5), "valid")
    y, score = rng.random(400) < expit(drift), 0.35 + 0.05 * rng.random(400)
    off = np.where(y, 0.0, 0.3) - 0.3 * np.mean(~y)
    products = off[1:] * off[:-1]
    p = norm.sf(products.sum() / np.sqrt(np.sum(products**2)))
    assert 0.0008 < p < 0.001 if said else 0.001 < p < 0.002
    assert (neighbours_alike(evaluate(y, score, costs=0.3)) is not None) is said


@pytest.mark.parametrize("rows", [1500, 8194])  # also where the last pair is a piece of its own
@pytest.mark.parametrize("sign", [1, -1])
def test_rows_sorted_by_score_say_nothing_of_time_and_those_with_one_out_of_place_do(rows, sign):
    rng = np.random.default_rng(3)
    z = np.sort(sign * rng.normal(size=rows))[::sign]
    y, score = rng.random(rows) < expit(2.0 * z - 1.0), 0.35 + 0.01 * np.tanh(z)
    assert neighbours_alike(evaluate(y, score, costs=0.3)) is None
    for place in (1, rows // 2, rows - 2, rows - 1):
        order = np.arange(rows)
        order[[place - 1, place]] = place, place - 1
        assert neighbours_alike(evaluate(y[order], score[order], costs=0.3)) is not None


@pytest.mark.parametrize("weighted", [False, True])
def test_correlation_of_neighbours_is_that_of_all_rows_where_they_come_in_many_pieces(weighted):
    rng = np.random.default_rng(3)
    drift = np.convolve(rng.normal(size=30_040), np.ones(40), "valid")[:30_000]
    y, blind = rng.random(30_000) < expit(0.5 * drift - 1.0), 0.2 + 0.2 * rng.random(30_000)
    weight = rng.choice([0.5, 1.0, 4.0], 30_000) if weighted else np.ones(30_000)
    result = evaluate(y, blind, costs=0.3, sample_weight=weight if weighted else None)
    found = neighbours_alike(result)
    loss = np.where(blind >= 0.3, 0.3 * ~y, 0.7 * y)
    off = weight * (loss - np.average(loss, weights=weight))
    assert found.evidence["correlation"] == pytest.approx(off[1:] @ off[:-1] / (off @ off), rel=1e-9)
    lagged = evaluate(y, blind, costs=0.3, sample_weight=weight if weighted else None, lags="auto")
    assert found.evidence["wider"] == pytest.approx(lagged.best.standard_error / result.best.standard_error, rel=1e-3)


def slow_cosines(n):
    """The cosines of Lazarus, Lewis, Stock and Watson (2018) for n rows in order, by row."""
    return np.cos(np.pi * np.arange(1, int(0.4 * n ** (2 / 3)) + 1)[:, None] * (np.arange(n) + 0.5) / n)


def neighbours(y, weight, cosines):
    """How surely costs of 1/2 for each event resemble their neighbours', and how much wider that makes an interval."""
    off = weight * (0.5 * y - np.average(0.5 * y, weights=weight))
    products = off[1:] * off[:-1]
    chance = norm.sf(products.sum() / np.sqrt(products @ products))
    return chance, np.sqrt(2 * np.mean((cosines @ off) ** 2) / (off @ off)), products.sum() / (off @ off)


def told_of_neighbours(y, weight):
    scores = 0.2 + 0.2 * np.random.default_rng(0).random(len(y))  # below the threshold: each event costs 1/2
    return neighbours_alike(evaluate(y, scores, costs=0.5, sample_weight=weight))


@pytest.mark.parametrize(
    ("n", "stay", "limit", "weighted"),
    [
        (300, 0.62, "level", False),
        (300, 0.64, "level", True),
        (2000, 0.56, "width", False),
        (2000, 0.56, "width", True),
    ],
)
def test_neighbours_are_alike_at_one_in_a_thousand_where_intervals_are_a_tenth_wider(n, stay, limit, weighted):
    below = above = None
    cosines = slow_cosines(n)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.cumsum(rng.random(n) > stay) % 2  # it stays what it was more often than not
        weight = rng.choice([1.0, 2.0], n) if weighted else np.ones(n)
        chance, wider, _ = neighbours(y, weight, cosines)
        if limit == "level" and wider > 1.1:
            at = 0.001 / chance
        elif limit == "width" and chance < 0.001:
            at = wider / 1.1
        else:
            continue
        if at < 1.0 and (below is None or at > below[0]):
            below = at, y, weight
        if at > 1.0 and (above is None or at < above[0]):
            above = at, y, weight
    assert 0.7 < below[0] < 1.0 < above[0] < 1.4
    assert told_of_neighbours(*below[1:]) is None
    found = told_of_neighbours(*above[1:])
    _, wider, correlation = neighbours(*above[1:], cosines)
    assert found.evidence == pytest.approx({"correlation": correlation, "wider": wider}, rel=1e-9)


@pytest.mark.parametrize("n", [49, 50])
def test_of_less_than_fifty_rows_none_are_said_to_resemble_their_neighbours(n):
    assert (told_of_neighbours(np.arange(n) // 8 % 2, np.ones(n)) is not None) == (n >= 50)


@pytest.mark.parametrize("odd", ["none", "first", "last"])
def test_rows_out_of_order_at_one_end_alone_are_not_sorted(odd):
    y = np.repeat([0, 1], 40)
    y = {"none": y, "first": np.append(1, y), "last": np.append(y, 0)}[odd]
    assert (told_of_neighbours(y, np.ones(len(y))) is None) == (odd == "none")


@pytest.mark.parametrize("right", [True, False])
def test_rows_that_all_cost_the_same_are_not_said_to_resemble_their_neighbours(right):
    y = np.arange(80) // 8 % 2
    scores = np.where((y == 1) == right, 0.8, 0.2) + 0.1 * np.random.default_rng(0).random(80)
    assert neighbours_alike(evaluate(y, scores, costs=0.5)) is None
