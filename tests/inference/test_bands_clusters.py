"""Bands of rows in clusters, by leaving each out, and of tests that do harm themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from stakes import ScoreTable
from stakes.inference import confidence_band, difference_band, metric_interval
from tests.inference.test_bands import CURVES, FIELDS, THRESHOLDS, rows


@pytest.mark.parametrize("kind", CURVES)
def test_errors_with_clusters_are_those_of_leaving_each_out(kind):
    y, a, b, weight = rows(120)
    codes = np.random.default_rng(3).integers(0, 9, 120)
    options = {"thresholds": THRESHOLDS[1:5]}
    band = confidence_band(y, a, kind, clusters=codes, sample_weight=weight, **options)
    pair = difference_band(y, a, b, kind, clusters=codes, sample_weight=weight, **options)
    for found, scores in ((band, (a,)), (pair, (a, b))):
        left = []
        for code in range(9):
            kept = codes != code
            curves = [CURVES[kind](y[kept], score[kept], sample_weight=weight[kept]) for score in scores]
            heights = [curve.at(options["thresholds"]) for curve in curves]
            left.append(heights[0] - (heights[1] if len(heights) > 1 else 0.0))
        variance = 8 / 9 * np.sum((np.array(left) - found.estimate) ** 2, axis=0)
        assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-10)


def test_few_clusters_widen_intervals_and_bands_by_student_t():
    y, a, _, _ = rows(3000)
    widths = {}
    for count in (3000, 8):
        band = confidence_band(y, a, "regret", clusters=np.arange(3000) % count, thresholds=[0.2])
        widths[count] = (band.high - band.low)[0] / (2 * band.standard_error[0])
        assert band.critical_value == pytest.approx(stats.t(count - 1).ppf(0.975), rel=0.02)
    assert widths[3000] == pytest.approx(1.96, rel=0.02)
    assert widths[8] == pytest.approx(stats.t(7).ppf(0.975), rel=0.05)


@pytest.mark.parametrize("kind", ["net_benefit", "interventions_avoided"])
def test_harm_of_the_test_lowers_the_curve_and_its_bounds(kind):
    y, a, b, _ = rows()
    plain, harmed = (confidence_band(y, a, kind, thresholds=THRESHOLDS[:4], harm=h) for h in (0.0, 0.01))
    shift = harmed.estimate - plain.estimate
    assert harmed.estimate == pytest.approx(CURVES[kind](y, a, harm=0.01).at(THRESHOLDS[:4]), abs=1e-13)
    for name in FIELDS[2:]:
        assert getattr(harmed, name) - getattr(plain, name) == pytest.approx(shift, abs=1e-13)
    pair, free = (difference_band(y, a, b, kind, thresholds=THRESHOLDS[:4], harm=h) for h in ((0.01, 0.03), (0, 0)))
    assert pair.estimate - free.estimate == pytest.approx(-2 * shift, abs=1e-13)


def test_harm_of_the_test_adds_to_regret_what_as_many_missed_positives_cost():
    y, a, b, _ = rows()
    t = np.array(THRESHOLDS[:4])
    plain, harmed = (confidence_band(y, a, "regret", thresholds=t, harm=h) for h in (0.0, 0.01))
    for name in FIELDS[2:]:
        assert getattr(harmed, name) - getattr(plain, name) == pytest.approx(0.01 * (1.0 - t), abs=1e-13)
    pair, free = (difference_band(y, a, b, "regret", thresholds=t, harm=h) for h in ((0.01, 0.03), (0, 0)))
    assert pair.estimate - free.estimate == pytest.approx(-0.02 * (1.0 - t), abs=1e-13)


def test_bands_refuse_what_they_cannot_take():
    y, a, b, _ = rows()
    with pytest.raises(ValueError, match=r"harm must be 0 for reliability, got 0\.1"):
        confidence_band(y, a, "reliability", harm=0.1)
    with pytest.raises(ValueError, match=r"harm must be a pair, those of both models, got 0\.1"):
        difference_band(y, a, b, "net_benefit", harm=0.1)
    with pytest.raises(ValueError, match="clusters= need the rows"):
        confidence_band(ScoreTable.from_predictions(y, a), kind="regret", clusters=np.arange(len(y)))
    with pytest.raises(ValueError, match="clusters must be None for reliability"):
        confidence_band(y, a, "reliability", clusters=np.arange(len(y)))
    with pytest.raises(ValueError, match=r"there is no band: one cluster holds 91\.3% of all weight"):
        confidence_band(y, a, "regret", clusters=np.maximum(np.arange(len(y)) - 269, 0) % 7)


@pytest.mark.parametrize("n", [32, 40])  # the shares of 40 rows add up to a little more than they are
def test_a_cluster_may_hold_half_of_all_rows_and_no_more(n):
    y, score = np.arange(n) % 2, np.linspace(0.05, 0.95, n)
    half, more = (np.maximum(np.arange(n) - last, 0) for last in (n // 2 - 1, n // 2))
    found = metric_interval(y, score, "expected_regret", costs=(0.1, 0.4), clusters=half)
    assert np.all(np.isfinite(found.interval))
    found = metric_interval(y, score, "expected_regret", costs=(0.1, 0.4), clusters=more)
    assert not np.any(np.isfinite(found.interval))
