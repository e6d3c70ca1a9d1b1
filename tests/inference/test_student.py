"""The pure core of the intervals against the 34-digit oracle `reference/intervals_oracle.py`, and against itself."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from stakes import costs
from stakes.core.score_table import row_losses
from stakes.inference._area import area_difference, area_of
from stakes.variance.dependence import Design
from stakes.variance.sums import Sums, Variance, half_width, moments_of, p_value, t_quantile

CLOSE = {"rel": 1e-12, "abs": 1e-12}
QUANTITIES = ("single", "single_90", "difference", "difference_99", "difference_weighted", "difference_by_class")
LEVELS = {"single_90": 0.9, "difference_99": 0.99}


@pytest.fixture(scope="module")
def reference(reference_dir):
    """Return the values of the oracle."""
    return json.loads((reference_dir / "reference" / "intervals_reference.json").read_text(encoding="utf-8"))


class Case:
    """Losses of the two models of a case, and what one row may cost at most."""

    def __init__(self, case):
        low, high = (case.get(f"{end}_bound", case[end]) for end in ("low", "high"))
        self.costs = costs.Uniform(low, high) if low < high else costs.Fixed(low)
        self.y = np.array(case["y"], dtype=bool)
        self.a = self.losses(case["a"])
        self.most = np.array([float(self.costs.negative_loss(np.inf)), float(self.costs.positive_loss(-np.inf))])
        self.most /= self.costs.mass
        if "b" in case:
            self.b, self.w = self.losses(case["b"]), np.array(case["weights"])

    def losses(self, scores):
        return row_losses(self.y, np.array(scores), self.costs, "score") / self.costs.mass

    def values(self, name):
        """Values and weights of a quantity of the oracle."""
        values = self.a if name.startswith("single") else self.a - self.b
        return values, self.w if name.endswith(("weighted", "by_class")) else np.ones(len(self.y))


def variance(values, y, w, most, *, fixed=False):
    return Sums.from_units(values, y, w).variance(most, fixed=fixed)


def check(found, value, expected, level=0.95):
    half = float(half_width(found.variance, found.degrees, found.unseen_variance, 1 - level))
    assert value == pytest.approx(float(expected["value"]), **CLOSE)
    assert found.variance == pytest.approx(float(expected["variance"]), **CLOSE)
    assert found.degrees == pytest.approx(float(expected["df"]), rel=1e-11)
    assert found.unseen_variance == pytest.approx(float(expected["room2"]), **CLOSE)
    assert (value - half, value + half) == pytest.approx((float(expected["low"]), float(expected["high"])), **CLOSE)
    assert p_value(value, found.variance, found.degrees, found.unseen_variance) == pytest.approx(
        float(expected["p_value"]), **CLOSE
    )
    if "scarce" in expected:
        assert found.carrying == pytest.approx([float(k) for k in expected["carrying"]], **CLOSE)
        assert np.flatnonzero(found.scarce).tolist() == sorted(expected["scarce"])


@pytest.mark.parametrize("name", QUANTITIES)
def test_means_and_differences_are_the_oracles(reference, name):
    checked = 0
    for record in reference["rows"]:
        if name not in record:
            continue
        case = Case(record)
        values, w = case.values(name)
        found = variance(values, case.y, w, case.most, fixed=name.endswith("by_class"))
        check(found, np.average(values, weights=w), record[name], LEVELS.get(name, 0.95))
        checked += 1
    assert checked > 0


@pytest.mark.parametrize("name", ["single", "difference", "difference_weighted"])
def test_clusters_are_the_oracles(reference, name):
    for record in reference["clusters"]:
        case = Case(reference["rows"][record["case"]])
        values, w = case.values(name)
        found, _, _ = Design(case.y, w, codes=np.array(record["codes"])).variance(values, case.most)
        check(found, np.average(values, weights=w), record[name])


def test_skill_is_the_oracles(reference):
    for record in reference["skill"]:
        case = Case(reference["rows"][record["case"]])
        y, n = case.y, len(case.y)
        base = case.losses(np.full(n, y.mean()))
        own, of_rate = case.a.mean(), base.mean()
        slope = own / of_rate * (base - of_rate) / of_rate - (case.a - own) / of_rate
        raw = Sums.from_units(case.a / of_rate, y)
        found = Sums.from_units(slope, y).variance(case.most / of_rate, raw=raw)
        check(found, 1 - own / of_rate, record)


def test_two_independent_samples_are_the_oracles(reference):
    for record in reference["independent"]:
        parts = []
        for index in record["cases"]:
            case = Case(reference["rows"][index])
            parts.append((case.a.mean(), variance(case.a, case.y, np.ones(len(case.y)), case.most)))
        first, second = (moments_of(value, found, (9, 9)) for value, found in parts)
        gap = first.minus(second)
        ends = gap.variance, gap.degrees, gap.room, gap.carrying, gap.carriers, gap.scarce, gap.equal, gap.short
        check(Variance(*map(np.array, ends)), gap.value, record)


def test_edges_are_the_oracles(reference):
    for record in reference["edges"]:
        if record["name"] == "auc_one":
            continue
        case = Case(record)
        found = variance(case.a, case.y, np.ones(len(case.y)), case.most)
        check(found, case.a.mean(), record)


def placements(y, score):
    beats = (score[y][:, None] > score[~y]) + 0.5 * (score[y][:, None] == score[~y])
    found = np.empty(len(y))
    found[y], found[~y] = beats.mean(axis=1), beats.mean(axis=0)
    return found


def test_areas_are_the_oracles(reference):
    edge = next(record for record in reference["edges"] if record["name"] == "auc_one")
    for record in [*reference["auc"], edge]:
        y = np.array(record["y"], dtype=bool)
        area = area_of(Sums.from_units(placements(y, np.array(record["a"])), y))
        # three positives are asked for; the edge has two
        area = replace(area, rows=(18, 3)) if area.rows[1] < 3 else area
        assert area.value == pytest.approx(float(record["area"]), **CLOSE)
        assert area.interval(0.95) == pytest.approx((float(record["low"]), float(record["high"])), **CLOSE)
        for name, value in (("variance", area.variance), ("df", area.degrees), ("hanley", area.floor)):
            assert value == pytest.approx(float(record.get(name, value)), **CLOSE)


def test_differences_of_areas_are_the_oracles(reference):
    joined = 0
    for record in reference["auc_difference"]:
        base = reference["auc"][record["case"]]
        y = np.array(base["y"], dtype=bool)
        both = [placements(y, np.array(score)) for score in (base["a"], record.get("b", base["b"]))]
        areas = [area_of(Sums.from_units(placement, y)) for placement in both]
        found = area_difference(tuple(areas), Sums.from_units(both[0] - both[1], y))
        for name, value in (
            ("value", found.value),
            ("variance", found.variance),
            ("df", found.degrees),
            ("r", found.correlation),
            ("floor", found.least),
            ("carrying", found.carrying),
        ):
            assert value == pytest.approx(float(record[name]), **CLOSE)
        assert found.interval(0.95) == pytest.approx((float(record["low"]), float(record["high"])), **CLOSE)
        joined += found.carrying < 3
    assert 0 < joined < len(reference["auc_difference"])


def test_cells_of_a_table_replace_their_rows_and_sums_of_blocks_merge():
    rng = np.random.default_rng(4)
    levels, count, weight = rng.random((2, 30)), rng.integers(1, 9, 30), rng.integers(1, 4, 30) / 2
    y = rng.random(30) < 0.4
    cells = Sums.from_units(levels, y, count * weight, count * weight**2)
    rows = [
        Sums.from_units(
            np.repeat(levels[:, part], count[part], axis=1),
            np.repeat(y[part], count[part]),
            np.repeat(weight[part], count[part]),
        )
        for part in (slice(0, 11), slice(11, 30))
    ]
    for cell, merged in zip(vars(cells).values(), vars(rows[0] + rows[1]).values(), strict=True):
        assert cell == pytest.approx(merged, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("degrees", [2.2, 30.0, math.inf])
def test_p_value_is_the_level_at_which_the_interval_reaches_the_null(degrees):
    variance, room = np.array([1.0, 1e-4, 0.3, 0.0]), np.array([0.2, 1.0, 1e-9, 0.5])
    gap = np.array([2.5, 4.0, 1.7, 3.0])
    found = p_value(-gap, variance, degrees, room)
    for k in range(4):
        level = optimize.brentq(
            lambda a, k=k: half_width(variance[k], degrees, room[k], a) - gap[k], 1e-12, 1 - 1e-9, xtol=1e-15
        )
        assert found[k] == pytest.approx(level, rel=1e-8)


@pytest.mark.parametrize(
    ("gap", "variance", "degrees", "room"),
    [
        (0.00317912, 0.4597429, 2.23878399, 3.10107737e-11),  # room that is next to nothing
        (1.866862328517882e-05, 89.52700624210298, 3.29206349284554, 9.863393554129684e-16),
        (2.0, 0.5, 7.0, 0.1),
        (2.0, 0.5, np.inf, 3.0),
        (30.0, 0.5, 40.0, 0.1),
        (1.0, 1e-9, 3.0, 0.2),
    ],
)
def test_p_values_with_room_are_the_root(gap, variance, degrees, room):
    law = stats.t(degrees) if np.isfinite(degrees) else stats.norm

    def reach(t):
        return t * t * variance + (np.log(2.0) + law.logsf(t)) ** 2 * room - gap * gap

    root = optimize.brentq(reach, 0.0, gap / np.sqrt(variance), xtol=1e-300, rtol=1e-15, maxiter=1000)
    assert p_value(gap, variance, degrees, room) == pytest.approx(2.0 * law.sf(root), rel=1e-10)


def test_p_values_at_the_ends():
    assert p_value([0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, np.nan], 5.0, 0.0) == pytest.approx(
        [1, 0, 1, np.nan], nan_ok=True
    )
    assert math.isnan(p_value(1.0, 1.0, 5.0, np.inf))
    assert p_value(60.0, 1.0, 1e6, 1.0) < 1e-20
    assert p_value(1.0, 1e-30, 9.0, 1e-30) == pytest.approx(0.0, abs=1e-100)


def test_quantiles_are_students():
    # solved for the regularised incomplete beta function with 40 digits by mpmath; older versions of scipy have eight
    known = {2.03: 4.2422895602226886, 4.7: 2.6207260753531704, 1e5: 1.9599877075346096, np.inf: 1.9599639845400542}
    for degrees, quantile in known.items():
        assert t_quantile(0.05, degrees) == pytest.approx(quantile, rel=1e-13)


def test_equal_rows_have_the_degrees_of_freedom_of_the_t_test_and_rare_ones_twice_their_number():
    y = np.arange(10_000) % 2 == 0
    half = variance((np.arange(10_000) % 4 < 2) * 1.0, y, np.ones(10_000), np.ones(2))
    assert half.degrees == 9999
    rare = variance((np.arange(10_000) < 8) * 1.0, y, np.ones(10_000), np.ones(2))
    assert rare.degrees == pytest.approx(16, rel=0.01)


def test_p_values_of_areas_agree_with_their_intervals():
    rng = np.random.default_rng(5)
    y = np.arange(80) < 24
    scores = np.round(rng.normal(size=(2, 80)) + y, 1)
    scores[1, 70:] = scores[0, 70:]
    both = [placements(y, score) for score in scores]
    first, second = (area_of(Sums.from_units(placement, y)) for placement in both)
    assert first.interval(1 - first.p_value(0.6))[0] == pytest.approx(0.6, abs=1e-12)
    gap = area_difference((first, second), Sums.from_units(both[0] - both[1], y))
    joined, least = replace(gap, carrying=2.0), replace(gap, carrying=3.0)
    assert least.interval(0.95) == gap.interval(0.95) != joined.interval(0.95)  # three rows are enough
    for found in (gap, joined):
        ends = found.interval(1 - found.p_value())
        assert min(abs(end) for end in ends) == pytest.approx(0.0, abs=1e-9)


def test_delongs_test_is_normal_and_has_no_floor():
    rng = np.random.default_rng(6)
    y = np.arange(90) < 40
    both = [placements(y, score) for score in rng.normal(size=(2, 90)) + 0.8 * y]
    areas = [area_of(Sums.from_units(placement, y)) for placement in both]
    gap = area_difference(tuple(areas), Sums.from_units(both[0] - both[1], y))
    # DeLong, DeLong and Clarke-Pearson (1988): contrasts of the covariances of the placements
    covariance = sum(np.cov([placement[mine] for placement in both]) / mine.sum() for mine in (y, ~y))
    error = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    difference = both[0][y].mean() - both[1][y].mean()
    interval, p = gap.delong(0.95)
    assert interval == pytest.approx((difference - 1.959963984540054 * error, difference + 1.959963984540054 * error))
    assert p == pytest.approx(2 * stats.norm.sf(abs(difference) / error), rel=1e-12)


@pytest.mark.parametrize("variance", [0.25, 1.0, 4.0])
def test_p_value_without_room_is_that_of_students_test(variance):
    found = p_value([1.5, 0.0], [variance, variance], [7.0, 7.0], [0.0, 0.0])
    assert found == pytest.approx([2.0 * stats.t.sf(1.5 / variance**0.5, 7.0), 1.0], rel=1e-12)
    assert p_value([1.5], [0.0], [7.0], [0.0]).tolist() == [0.0]
