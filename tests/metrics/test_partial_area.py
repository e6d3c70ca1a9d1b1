"""Partial areas against pROC, against clipping the polygon exactly, and the coverage of their intervals."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from stakes import ScoreTable
from stakes.inference import metric_difference, metric_interval
from stakes.metrics import RocWindow, partial_auc_score, roc_auc_score

# set.seed(1); y <- rep(0:1, c(37, 23)); s <- round(rnorm(60) + y, 1)
NEGATIVES = """-0.6 0.2 -0.8 1.6 0.3 -0.8 0.5 0.7 0.6 -0.3 1.5 0.4 -0.6 -2.2 1.1 0 0 0.9 0.8 0.6 0.9 0.8 0.1 -2 0.6 -0.1
-0.2 -1.5 -0.5 0.4 1.4 -0.1 0.4 -0.1 -1.4 -0.4 -0.4"""
POSITIVES = "0.9 2.1 1.8 0.8 0.7 1.7 1.6 0.3 0.3 1.4 1.8 0.9 1.9 1.4 0.4 1.3 -0.1 2.4 3 0.6 0 1.6 0.9"
S = [float(part) for part in (NEGATIVES + " " + POSITIVES).split()]
Y = [0] * 37 + [1] * 23
# pROC 1.18.0: auc(roc, partial.auc=, partial.auc.focus="se" or "sp"), raw and partial.auc.correct=TRUE
PROC = [
    ({"tpr_bounds": (0.8, 1.0)}, 0.100634547591069, 0.723984854419637),
    ({"fpr_bounds": (0.0, 0.2)}, 0.102808460634548, 0.730023501762632),
    ({"tpr_bounds": (0.6, 0.9)}, 0.211700940070505, 0.803779866823345),
    ({"fpr_bounds": (0.1, 0.4)}, 0.213325499412456, 0.807389998694346),
    ({"tpr_bounds": (0.0, 0.3)}, 0.3, 1.0),
]
cuts = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.8, 1.0])
bounds = st.tuples(cuts, cuts).filter(lambda pair: pair[0] < pair[1])


def clipped_area(y, s, fpr_bounds, tpr_bounds):
    """Area of the polygon below the ROC curve within a rectangle, by cutting at every crossing, in fractions."""
    ups, downs = sum(y), len(y) - sum(y)
    fpr, tpr, points = Fraction(0), Fraction(0), [(Fraction(0), Fraction(0))]
    for score in sorted(set(s), reverse=True):
        tpr += Fraction(sum(1 for a, b in zip(y, s, strict=True) if b == score and a), ups)
        fpr += Fraction(sum(1 for a, b in zip(y, s, strict=True) if b == score and not a), downs)
        points.append((fpr, tpr))
    (left, right), (low, high) = (tuple(map(Fraction, pair)) for pair in (fpr_bounds, tpr_bounds))
    total = Fraction(0)
    for (f0, t0), (f1, t1) in pairwise(points):
        if f1 == f0:
            continue
        slope = (t1 - t0) / (f1 - f0)
        crossed = [f0 + (level - t0) / slope for level in (low, high)] if slope else []
        at = sorted({x for x in [f0, f1, left, right, *crossed] if max(f0, left) <= x <= min(f1, right)})
        for a, b in pairwise(at):
            heights = (min(max(t0 + slope * (x - f0), low), high) - low for x in (a, b))
            total += (b - a) * sum(heights) / 2
    return total


@pytest.mark.parametrize("seed", range(6))
def test_the_curve_enters_and_leaves_a_rectangle_where_its_lines_do(seed):
    rng = np.random.default_rng(seed)
    y, s = rng.permutation([0] * 29 + [1] * 31), rng.integers(0, 7, 60) / 8  # tied scores make lines that slope
    levels = sorted(set(s), reverse=True)
    fpr, tpr = ([0.0, *(np.mean(s[y == label] >= level) for level in levels)] for label in (0, 1))
    window = RocWindow.of((0.1234, 0.5678), (0.2345, 0.8765))
    left, right = (np.interp(level, tpr, fpr) for level in window.tpr)
    low, high = (np.interp(level, fpr, tpr) for level in window.fpr)
    (first, last), (bottom, top) = window._crossed(ScoreTable.from_predictions(y, s))
    assert (first, bottom) == pytest.approx((max(0.1234, left), max(0.2345, low)), abs=1e-12)
    assert last == pytest.approx(max(first, min(0.5678, right)), abs=1e-12)
    assert top == pytest.approx(max(bottom, min(0.8765, high)), abs=1e-12)


@pytest.mark.parametrize(("within", "raw", "standardised"), PROC, ids=str)
def test_partial_areas_are_those_of_proc(within, raw, standardised):
    assert partial_auc_score(Y, S, scale="raw", **within) == pytest.approx(raw, rel=1e-12)
    assert partial_auc_score(Y, S, **within) == pytest.approx(standardised, rel=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=14), bounds, bounds)
def test_two_way_areas_are_those_of_the_clipped_polygon(rows, fpr_bounds, tpr_bounds):
    y, s = [int(label) for label, _ in rows], [score for _, score in rows]
    if 0 < sum(y) < len(y):
        within = {"fpr_bounds": fpr_bounds, "tpr_bounds": tpr_bounds}
        exact = float(clipped_area(y, s, fpr_bounds, tpr_bounds))
        assert partial_auc_score(y, s, scale="raw", **within) == pytest.approx(exact, abs=1e-12)
        largest = (fpr_bounds[1] - fpr_bounds[0]) * (tpr_bounds[1] - tpr_bounds[0])
        assert partial_auc_score(y, s, scale="index", **within) == pytest.approx(exact / largest, abs=1e-12)


def test_bounds_on_the_true_positive_rate_are_those_on_the_false_one_with_the_classes_turned():
    turned = [1 - label for label in Y], [-score for score in S]
    assert partial_auc_score(*turned, fpr_bounds=(0.0, 0.2)) == pytest.approx(
        partial_auc_score(Y, S, tpr_bounds=(0.8, 1.0)), rel=1e-12
    )


def test_without_bounds_the_area_and_its_interval_are_those_of_the_whole_curve():
    whole, part = (metric_interval(Y, S, name) for name in ("roc_auc_score", "partial_auc_score"))
    assert partial_auc_score(Y, S) == pytest.approx(roc_auc_score(Y, S), rel=1e-12)
    assert part.interval == pytest.approx(whole.interval, rel=1e-9)
    assert part.standard_error == pytest.approx(whole.standard_error, rel=1e-9)


def test_chance_is_one_half_on_mcclishs_scale_and_bounds_that_it_fills_are_refused():
    y, s = [0, 1] * 20, [0.5] * 40
    assert partial_auc_score(y, s, fpr_bounds=(0.1, 0.4), tpr_bounds=(0.2, 0.9)) == pytest.approx(0.5)
    with pytest.raises(ValueError, match=r'scale must be "index" or "raw" for fpr_bounds=\(0.5, 1.0\)'):
        partial_auc_score(y, s, fpr_bounds=(0.5, 1.0), tpr_bounds=(0.0, 0.4))
    assert partial_auc_score(y, s, fpr_bounds=(0.5, 1.0), tpr_bounds=(0.0, 0.4), scale="index") == 1.0


@pytest.mark.parametrize("scale", ["mcclish", "index", "raw"])
def test_an_interval_is_moved_with_the_scale(scale):
    within = {"fpr_bounds": (0.0, 0.2), "scale": scale}
    found = metric_interval(Y * 4, S * 4, "partial_auc_score", **within)
    index = metric_interval(Y * 4, S * 4, "partial_auc_score", fpr_bounds=(0.0, 0.2), scale="index")
    shift, factor = {"mcclish": (1 - 0.5 / 0.9, 0.5 / 0.9), "index": (0.0, 1.0), "raw": (0.0, 0.2)}[scale]
    assert found.value == pytest.approx(partial_auc_score(Y, S, **within), rel=1e-12)
    assert found.interval == pytest.approx([shift + factor * end for end in index.interval], rel=1e-12)
    assert found.standard_error == pytest.approx(factor * index.standard_error, rel=1e-12)


def test_a_difference_of_partial_areas_is_that_of_the_two():
    other = [score + (i % 3) * 0.4 for i, score in enumerate(S * 4)]
    gap = metric_difference(Y * 4, S * 4, other, "partial_auc_score", tpr_bounds=(0.6, 1.0), scale="raw")
    values = [partial_auc_score(Y * 4, s, tpr_bounds=(0.6, 1.0), scale="raw") for s in (S * 4, other)]
    assert gap.difference == pytest.approx(values[0] - values[1], abs=1e-12)
    assert gap.interval[0] < gap.difference < gap.interval[1]


def test_rows_and_their_table_have_the_same_interval():
    chances = [(score + 3.0) / 6.0 for score in S]
    data, within = (ScoreTable.from_predictions(Y, chances),), {"fpr_bounds": (0.0, 0.3)}
    of_rows, of_table = (metric_interval(*each, metric="partial_auc_score", **within) for each in ((Y, S), data))
    assert of_table.interval == pytest.approx(of_rows.interval, rel=1e-12)


def test_few_rows_where_the_curve_cuts_a_corner_have_no_interval():
    within = {"fpr_bounds": (0.0, 0.3), "tpr_bounds": (0.6, 1.0)}
    found = metric_interval(Y, S, "partial_auc_score", **within)
    assert np.isnan(found.interval).all()
    assert "positives where the curve cuts the corner: an interval needs 20" in found.note
    rng = np.random.default_rng(1)
    y = np.arange(1000) % 2
    assert np.isfinite(
        metric_interval(y, rng.normal(size=1000) + 1.2 * y, "partial_auc_score", **within).interval
    ).all()


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("fpr_bounds", "tpr_bounds"), [((0, 0.1), (0, 1)), ((0, 1), (0.8, 1)), ((0, 0.3), (0.6, 1))], ids=str
)
def test_intervals_cover_the_partial_area_of_two_normal_distributions(fpr_bounds, tpr_bounds):
    rng, y, runs = np.random.default_rng(5), np.arange(1000) % 2, 300

    def height(f):
        return min(max(norm.cdf(1.2 + norm.ppf(f)), tpr_bounds[0]), tpr_bounds[1]) - tpr_bounds[0]

    truth = quad(height, *fpr_bounds, limit=400)[0]
    within = {"fpr_bounds": fpr_bounds, "tpr_bounds": tpr_bounds, "scale": "raw"}
    found = [metric_interval(y, rng.normal(size=1000) + 1.2 * y, "partial_auc_score", **within) for _ in range(runs)]
    missed = sum(not one.interval[0] <= truth <= one.interval[1] for one in found)
    assert missed <= 28  # of 300; at 95% as many or more have a probability of .001


@pytest.mark.parametrize(
    ("power", "fpr", "tpr"),
    [
        (0.5, (0.1, 0.5), (0.2, 0.6)),  # in at the left, out at the top
        (0.5, (0.0, 0.5), (0.2, 0.6)),  # the left is a side of the square
        (0.5, (0.1, 0.6), (0.2, 1.0)),  # left to right
        (0.5, (0.1, 0.5), (0.5, 0.6)),  # bottom to top
        (2.0, (0.2, 0.5), (0.1, 0.6)),  # in at the bottom, out at the right
        (2.0, (0.2, 0.5), (0.0, 0.6)),  # the bottom is a side of the square
        (2.0, (0.2, 1.0), (0.1, 0.6)),  # bottom to top
    ],
)
def test_a_curve_cuts_a_corner_where_it_crosses_two_sides_that_meet(power, fpr, tpr):
    x = np.linspace(0.0, 1.0, 20_001)  # the curve tpr = fpr ** power
    y = x**power
    inside = (x > fpr[0]) & (x < fpr[1]) & (y > tpr[0]) & (y < tpr[1])
    (x0, x1), (y0, y1) = ((v[inside][0], v[inside][-1]) for v in (x, y))
    left, bottom = abs(x0 - fpr[0]) < 1e-3, abs(y0 - tpr[0]) < 1e-3
    right, top = abs(x1 - fpr[1]) < 1e-3, abs(y1 - tpr[1]) < 1e-3
    corner = (left and top and fpr[0] > 0.0 and tpr[1] < 1.0) or (bottom and right and tpr[0] > 0.0 and fpr[1] < 1.0)
    share = np.arange(1, 501) / 500.0
    scores = np.concatenate([1.0 - share, 1.0 - share ** (1.0 / power)])
    table = ScoreTable.from_predictions(np.repeat([0, 1], 500), np.clip(scores, 0.0, 1.0))
    assert RocWindow.of(fpr, tpr, "raw").cuts_corner(table) == corner
