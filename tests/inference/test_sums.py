"""Sums of weighted powers about means: however the units come, they give the same variance, to rounding."""

import numpy as np
import pytest

from stakes import costs, evaluate
from stakes.inference import Decisions, PairedRows
from stakes.variance.sums import BLOCK, Sums, joined

MOST = np.array([1.0, 2.0])


def units(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, size=(3, n)), rng.random(n) < 0.3, rng.gamma(2.0, size=n)


def assert_same(found, known, rel=1e-12):
    """Compare all sums; powers of differences from a mean, relative to the even powers."""
    scale = max(np.abs(known.second).max(), np.abs(known.fourth).max())
    for name, mine in vars(found).items():
        absolute = 1e-13 * scale if name in ("second", "fourth") else 0.0
        assert mine == pytest.approx(getattr(known, name), rel=rel, abs=absolute), name


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_the_plain_formulas(weighted):
    values, y, weight = units()
    weight = weight if weighted else np.ones(len(y))
    found = Sums.from_units(values, y, weight)
    for k, mine in enumerate((~y, y)):
        mean = np.average(values[:, mine], weights=weight[mine], axis=1)
        away = values[:, mine] - mean[:, None]
        assert found.mean[k] == pytest.approx(mean, rel=1e-13)
        assert found.second[2, k] == pytest.approx((away**2) @ weight[mine] ** 2, rel=1e-12)
        assert found.fourth[4, k] == pytest.approx((away**4) @ weight[mine] ** 4, rel=1e-12)
    centre = np.array([0.3, -0.1, 2.0])
    powers = [((values - centre[:, None]) ** 2 * weight**2)[:, mine].sum(axis=1) for mine in (~y, y)]
    assert found.about(centre)[0] == pytest.approx(np.array(powers), rel=1e-12)


@pytest.mark.parametrize("idle", [0, 3])
def test_further_units_of_no_weight_count_among_those_drawn(idle):
    values, y, weight = units(n=6, seed=4)
    found = Sums.from_units(values, y, weight).variance(np.full(2, np.inf), idle=float(idle)).variance
    away = weight * (values - np.average(values, weights=weight, axis=1)[:, None])
    n = 6 + idle
    assert found == pytest.approx(n / (n - 1) * (away**2).sum(axis=1) / weight.sum() ** 2, rel=1e-12)


def test_raw_powers_and_classes_by_code_give_the_same():
    values, y, weight = units(seed=1)
    known = Sums.from_units(values, y, weight)
    orders = ((1, 1), *((2, j) for j in range(3)), *((4, j) for j in range(5)))
    raw = [[(values[:, mine] ** b) @ weight[mine] ** a for mine in (~y, y)] for a, b in orders]
    assert_same(Sums.from_powers(known.count, known.weight, np.array(raw), known.nonzero), known, rel=1e-11)
    assert_same(Sums.from_units(values, y.astype(np.intp), weight), known)
    first, second = (Sums.from_units(values[:, part], y[part], weight[part]) for part in (slice(700), slice(700, None)))
    assert_same(first + second, known)


@pytest.mark.parametrize("groups", [2, 7])
def test_groups_and_the_units_outside_each(groups):
    values, y, weight = units(seed=2)
    codes = np.arange(len(y)) ** 2 % groups
    order = np.lexsort((y, codes))
    ends = np.cumsum(np.bincount(2 * codes + y, minlength=2 * groups))
    found = Sums.by_group(values[0][order], ends, weight[order])
    for some, mine in ((found, lambda g: codes == g), (found.others(), lambda g: codes != g)):
        known = joined([Sums.from_units(values[0][mine(g)], y[mine(g)], weight[mine(g)]) for g in range(groups)])
        assert_same(some, known)


@pytest.mark.parametrize("weighted", [False, True])
def test_long_short_and_empty_parts_of_groups_sum_alike(weighted):
    sizes = np.array([3, 0, BLOCK + 5, 0, 0, 1, 2 * BLOCK, 7, BLOCK // 2, BLOCK // 2 + 9])
    rng = np.random.default_rng(5)
    values, ends = rng.random(sizes.sum()), np.cumsum(sizes)
    weight = rng.gamma(1.0, size=len(values)) if weighted else None
    codes = np.repeat(np.arange(len(sizes)) // 2, sizes)
    y = np.repeat(np.arange(len(sizes)) % 2 == 1, sizes)
    found = Sums.by_group(values, ends, weight)
    for g in range(len(sizes) // 2):
        mine = codes == g
        known = Sums.from_units(values[mine], y[mine], None if weight is None else weight[mine])
        assert_same(found.changed(lambda part, g=g: part[..., g]), known)


def test_shifted_values_have_the_variance_of_the_others():
    values, y, _ = units(seed=3)
    sums, shift = Sums.from_units(values, y), np.array([-2.0, 0.5])
    moved = values + shift[y.astype(int)]
    known = Sums.from_units(moved, y)
    assert_same(sums.shifted(shift, known.nonzero), known)


def test_differences_of_a_millionth_keep_all_their_digits_over_many_blocks():
    rng = np.random.default_rng(4)
    values, y = 1.0 + 1e-6 * rng.normal(size=3 * BLOCK), rng.random(3 * BLOCK) < 0.5
    exact = values.astype(np.longdouble) - values.astype(np.longdouble).mean()
    found = Sums.from_units(values, y)
    second, fourth = (part.sum() for part in found.about(found.value))
    # the values themselves have sixteen digits, their differences ten: as many as the mean of all can have
    assert second == pytest.approx(float((exact**2).sum()), rel=1e-12)
    assert fourth == pytest.approx(float((exact**4).sum()), rel=1e-12)


@pytest.mark.parametrize("fixed", [False, True])
def test_constants_have_no_variance_and_copies_no_allowance(fixed):
    y = np.arange(40_000) % 5 == 0
    found = Sums.from_units(np.where(y, 0.1, 0.1), y).variance(MOST, fixed=fixed)
    assert (found.variance, found.unseen_variance) == (0.0, 0.0)
    score = np.random.default_rng(5).random(500)
    rows = PairedRows(y[:500], [score, score.copy()], None, fixed)
    same = Decisions.from_scores(rows, costs.Uniform(0.1, 0.4), "score").difference(0, 1)
    assert (same.value, same.variance, same.room) == (0.0, 0.0, 0.0)


def test_an_infinite_loss_leaves_no_variance_and_no_warning():
    values, y, weight = units(seed=6)
    values[1, 3] = np.inf
    found = Sums.from_units(values, y, weight).variance(MOST)
    assert np.isnan(found.variance).tolist() == [False, True, False]
    y, score = np.arange(60) % 3 == 0, np.linspace(0.1, 0.9, 60)
    score[np.argmax(y)] = 0.0
    infinite = evaluate(y, {"a": score, "b": np.full(60, 0.3)}, costs=costs.LogOddsUniform(0, 1))
    assert infinite["a"].score == np.inf
    assert np.isnan(infinite.moments.of(0).variance)
