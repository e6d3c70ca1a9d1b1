"""Numbers at the edges of floats, against exact fractions and 50 digits: nothing may lose more than the last digits."""

from fractions import Fraction

import numpy as np
import pytest

from stakes import ScoreTable, bounded_log_loss, costs, decompose, expected_regret, net_benefit_score
from stakes.metrics import roc_auc_score

BOUND = 1e-15  # relative; of parts of a decomposition relative to the whole
BOUNDS = [(0.0, 1.0), (0.1, 0.4), (1e-3, 0.3)]
RNG = np.random.default_rng(0)
EDGES = [5e-324, 1e-323, 1e-310, 2.2e-308, 1e-200, np.nextafter(0.3, 0), 0.3, np.nextafter(0.3, 1), 0.5, 1 - 2**-53]
CASES = {
    "subnormal and adjacent to 1": (RNG.random(40) < 0.5, np.tile(EDGES, 4), np.ones(40)),
    "adjacent": (RNG.random(600) < 0.3, np.nextafter(0.3, RNG.integers(0, 2, 600)), np.ones(600)),
    "weights from 1e-140 to 1e140": (RNG.random(600) < 0.3, RNG.random(600), 10.0 ** RNG.uniform(-140, 140, 600)),
    "two rows": (np.array([True, False]), np.array([0.2, 0.7]), np.ones(2)),
    "two tied rows": (np.array([True, False]), np.array([0.4, 0.4]), np.ones(2)),
    "one positive": (np.arange(500) == 77, RNG.random(500) * 1e-3, np.ones(500)),
}
ROWS = pytest.mark.parametrize("rows", CASES.values(), ids=CASES)


def exact(rows):
    """Labels with scores and weights as the fractions that these floats are."""
    y, score, weight = rows
    return list(zip(y.tolist(), map(Fraction, score.tolist()), map(Fraction, weight.tolist()), strict=True))


def mean_regret(rows, low, high):
    """Mean over rows and over cost ratios, uniform from low to high, as an exact fraction."""
    a, b, total = Fraction(low), Fraction(high), Fraction(0)
    for positive, score, weight in rows:
        end = min(max(score, a), b)
        total += weight * ((1 - end) ** 2 - (1 - b) ** 2 if positive else end**2 - a**2)
    return total / 2 / (b - a) / sum(weight for _, _, weight in rows)


def recalibrated(rows):
    """The same rows with isotonic scores: blocks in which pairs of neighbours are pooled until they rise."""
    blocks = []
    for score in sorted({score for _, score, _ in rows}):
        mine = [(positive, weight) for positive, other, weight in rows if other == score]
        blocks.append([score, score, sum(w for up, w in mine if up), sum(w for _, w in mine)])
        while len(blocks) > 1 and blocks[-2][2] * blocks[-1][3] >= blocks[-1][2] * blocks[-2][3]:
            (first, _, ups, all_), (_, last, more, others) = blocks[-2:]
            blocks[-2:] = [[first, last, ups + more, all_ + others]]
    risen = [(first, last, Fraction(ups) / all_) for first, last, ups, all_ in blocks]
    return [(up, next(r for a, b, r in risen if a <= score <= b), weight) for up, score, weight in rows]


def close(found, true, scale=None):
    return abs(Fraction(float(found)) - true) <= BOUND * abs(true if scale is None else scale)


@ROWS
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_regret_is_right_to_the_last_digits(rows, low, high):
    true, (y, score, weight) = mean_regret(exact(rows), low, high), rows
    measure = costs.Uniform(low, high)
    assert close(expected_regret(y, score, costs=measure, sample_weight=weight), true)
    assert close(expected_regret(ScoreTable.from_predictions(y, score, sample_weight=weight), costs=measure), true)


@ROWS
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_log_loss_is_right_to_the_last_digits(rows, low, high):
    mpmath = pytest.importorskip("mpmath")
    y, score, weight = rows
    with mpmath.workdps(50):
        a, b, total = mpmath.mpf(low), mpmath.mpf(high), mpmath.mpf(0)
        for positive, value, times in zip(*(part.tolist() for part in rows), strict=True):
            end = min(max(mpmath.mpf(value), a), b)
            loss = mpmath.log(b) - mpmath.log(end) if positive else mpmath.log1p(-a) - mpmath.log1p(-end)
            total += times * loss
        true = total / mpmath.fsum(weight.tolist())
        table = ScoreTable.from_predictions(y, score, sample_weight=weight)
        by_rows = bounded_log_loss(y, score, bounds=(low, high), scale="integral", sample_weight=weight)
        for found in (by_rows, bounded_log_loss(table, bounds=(low, high), scale="integral")):
            assert abs(mpmath.mpf(float(found)) - true) <= BOUND * true


@ROWS
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_decomposition_is_right_to_the_last_digits_of_the_whole(rows, low, high):
    given, (y, score, weight) = exact(rows), rows
    share = sum(w for up, _, w in given if up) / sum(w for _, _, w in given)
    whole, best = mean_regret(given, low, high), mean_regret(recalibrated(given), low, high)
    constant = mean_regret([(up, share, w) for up, _, w in given], low, high)
    found = decompose(y, score, costs=costs.Uniform(low, high), sample_weight=weight)
    scale = max(whole, constant)
    assert close(found.score, whole)
    assert close(found.miscalibration, whole - best, scale)
    assert close(found.discrimination, constant - best, scale)
    assert close(found.uncertainty, constant)


@ROWS
def test_area_and_net_benefit_are_right_to_the_last_digits(rows):
    given, (y, score, weight) = exact(rows), rows
    ups, downs = ([(s, w) for up, s, w in given if up is mine] for mine in (True, False))
    wins = sum(u * d * (1 if s > t else Fraction(1, 2)) for s, u in ups for t, d in downs if s >= t)
    area = wins / sum(w for _, w in ups) / sum(w for _, w in downs)
    assert close(roc_auc_score(y, score, sample_weight=weight), area, 1)
    total, at = sum(w for _, _, w in given), Fraction(0.3)
    hits, alarms = (sum(w for s, w in mine if s >= at) / total for mine in (ups, downs))
    benefit = net_benefit_score(y, score, threshold=0.3, sample_weight=weight)
    assert close(benefit, hits - alarms * at / (1 - at), hits + alarms)


@pytest.mark.thorough
def test_ten_million_equal_scores_and_one_positive_in_ten_million():
    n = 10_000_000
    y = np.arange(n) == 12_345
    tied = np.full(n, 0.1 + 0.2)
    share, score = Fraction(1, n), Fraction(0.1 + 0.2)
    true = (share * (1 - score) ** 2 + (1 - share) * score**2) / 2
    assert close(expected_regret(y, tied, costs=(0.0, 1.0)), true)
    table = ScoreTable.from_predictions(y, tied)
    assert (len(table.scores), table.positives.sum(), table.negatives.sum()) == (1, 1.0, n - 1.0)
    assert roc_auc_score(table) == 0.5
    spread = np.linspace(0.0, 1.0, n)
    assert close(roc_auc_score(y, spread), Fraction(12_345, n - 1))
