"""The ROC curve is scikit-learn's, its hull is isotonic recalibration, and chance among tied scores is linear."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics as sklearn_metrics
from sklearn.exceptions import UndefinedMetricWarning
from strategies import samples

from stakes import ScoreTable
from stakes.curves import roc_curve
from stakes.metrics import roc_auc_score


def two_classes(sample):
    weight = np.ones(len(sample.y)) if sample.weight is None else np.asarray(sample.weight)
    return len(set(np.asarray(sample.y)[weight > 0].tolist())) == 2


both = samples().filter(two_classes)


def points(sample):
    """Rates at every threshold, one by one from the definition."""
    y, s = np.asarray(sample.y), np.asarray(sample.score)
    w = np.ones(len(y)) if sample.weight is None else np.asarray(sample.weight, dtype=float)
    thresholds = [np.inf, *sorted(set((s[w > 0] + 0.0).tolist()), reverse=True)]
    fpr = [w[(y == 0) & (s >= t)].sum() / w[y == 0].sum() for t in thresholds]
    tpr = [w[(y == 1) & (s >= t)].sum() / w[y == 1].sum() for t in thresholds]
    return np.array(thresholds), np.array(fpr), np.array(tpr)


@pytest.mark.parametrize("seed", range(30))
def test_points_that_are_dropped_are_those_that_scikit_learn_drops(seed):
    # the highest score starts no bend here, but scikit-learn keeps its point
    rng = np.random.default_rng(seed)
    s, y = rng.integers(0, 8, 12) / 8, np.arange(12) % 3 == 0
    thresholds = sklearn_metrics.roc_curve(y, s, drop_intermediate=True)[2]
    np.testing.assert_array_equal(roc_curve(y, s, drop_intermediate=True).thresholds, thresholds)


@given(both)
def test_points_are_the_rates_at_every_threshold(sample):
    curve = roc_curve(sample.y, sample.score, sample_weight=sample.weight)
    thresholds, fpr, tpr = points(sample)
    assert curve.thresholds.tolist() == thresholds.tolist()
    np.testing.assert_allclose(curve.false_positive_rate, fpr, atol=1e-12)
    np.testing.assert_allclose(curve.true_positive_rate, tpr, atol=1e-12)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_curve_and_area_are_those_of_scikit_learn(drop, weighted):
    rng = np.random.default_rng(1)
    s = rng.integers(0, 60, 500) / 60
    y = (rng.random(500) < s).astype(int)
    w = rng.integers(1, 4, 500).astype(float) if weighted else None
    fpr, tpr, thresholds = sklearn_metrics.roc_curve(y, s, sample_weight=w, drop_intermediate=drop)
    curve = roc_curve(y, s, sample_weight=w, drop_intermediate=drop)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    np.testing.assert_allclose(curve.false_positive_rate, fpr, atol=1e-14)
    np.testing.assert_allclose(curve.true_positive_rate, tpr, atol=1e-14)
    assert curve.auc == pytest.approx(sklearn_metrics.roc_auc_score(y, s, sample_weight=w), abs=1e-14)


@given(both)
def test_area_is_the_auc_score_and_that_of_the_hull_the_score_after_recalibration(sample):
    curve = roc_curve(sample.y, sample.score, sample_weight=sample.weight)
    table = ScoreTable.from_predictions(sample.y, sample.score, sample_weight=sample.weight)
    assert curve.auc == pytest.approx(roc_auc_score(table), abs=1e-12)
    assert curve.hull_auc == pytest.approx(roc_auc_score(table.recalibrated()), abs=1e-12)
    assert curve.hull_auc >= curve.auc - 1e-12


@given(both)
def test_hull_is_the_upper_convex_hull_of_the_points(sample):
    from scipy.spatial import ConvexHull

    curve = roc_curve(sample.y, sample.score, sample_weight=sample.weight)
    hull = curve.hull
    assert set(hull.thresholds.tolist()) <= set(curve.thresholds.tolist())
    probe = np.linspace(0.0, 1.0, 7)
    assert np.all(hull.at(curve.false_positive_rate) >= curve.true_positive_rate - 1e-12)
    # another implementation: the hull of the points and the corner (1, 0)
    cloud = np.unique(np.column_stack([[*curve.false_positive_rate, 1.0], [*curve.true_positive_rate, 0.0]]), axis=0)
    equations = ConvexHull(cloud).equations if len(cloud) > 2 else []
    upper = [(a, b, c) for a, b, c in equations if b > 1e-12]
    heights = [min((-c - a * x) / b for a, b, c in upper) for x in probe] if upper else probe
    np.testing.assert_allclose(hull.at(probe), heights, atol=1e-9)


@given(both, st.integers(0, 4096).map(lambda k: k / 4096))
def test_height_is_the_highest_that_the_false_positive_rate_allows(sample, x):
    curve = roc_curve(sample.y, sample.score, sample_weight=sample.weight)
    _, fpr, tpr = points(sample)
    at = np.flatnonzero(fpr <= x + 1e-15)[-1]
    expected = tpr[at]
    if at + 1 < len(fpr):
        expected += (tpr[at + 1] - tpr[at]) * (x - fpr[at]) / (fpr[at + 1] - fpr[at])
    assert float(curve.at(x)) == pytest.approx(expected, abs=1e-9)


@given(both, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_partial_area_is_that_under_the_broken_line(sample, a, b):
    low, high = sorted((a, b))
    curve = roc_curve(sample.y, sample.score, sample_weight=sample.weight)
    edges = np.unique(np.clip([low, *curve.false_positive_rate, high], low, high))
    trapezia = np.diff(edges) * (curve.at(edges[:-1], side="right") + curve.at(edges[1:], side="left")) / 2
    assert curve.integral(low, high) == pytest.approx(trapezia.sum(), abs=1e-12)


@pytest.mark.parametrize("max_fpr", [0.1, 0.35, 0.9])
def test_partial_area_is_what_scikit_learn_standardises(max_fpr):
    rng = np.random.default_rng(2)
    s = rng.integers(0, 40, 300) / 40
    y = (rng.random(300) < s).astype(int)
    raw = roc_curve(y, s).integral(0.0, max_fpr)
    least, most = max_fpr**2 / 2, max_fpr
    standardised = (1 + (raw - least) / (most - least)) / 2
    assert standardised == pytest.approx(sklearn_metrics.roc_auc_score(y, s, max_fpr=max_fpr), abs=1e-13)


def test_concave_hull_auc_of_solar_flare_forecasts(load_data):
    # Dimitriadis, Gneiting, Jordan and Vogel (2024): AUC and the AUC of the concave hull
    published = {"NOAA": (0.839, 0.842), "SIDC": (0.781, 0.791), "ASSA": (0.730, 0.739), "MCSTAT": (0.782, 0.790)}
    data = load_data("solar_flares_c1/solar_flares_c1")
    for forecaster, areas in published.items():
        curve = roc_curve(data["y"], data[forecaster])
        assert (round(curve.auc, 3), round(curve.hull_auc, 3)) == areas


def test_auc_stored_in_the_yardstick_tests(load_data):
    data = load_data("tidymodels_predictions/two_class_example")
    curve = roc_curve(data["truth"], data["Class1"], pos_label="Class1")
    assert curve.auc == pytest.approx(0.939313857389967, abs=1e-14)
    weighted = roc_curve(data["truth"], data["Class1"], pos_label="Class1", sample_weight=data["weight"])
    assert weighted.auc == pytest.approx(0.9324405222925298, abs=1e-14)


def test_one_class_only_is_undefined_with_a_warning():
    with pytest.warns(UndefinedMetricWarning, match="roc_curve is undefined: only one class is present"):
        curve = roc_curve([1, 1, 1], [0.1, 0.5, 0.5])
    assert np.isnan(curve.auc)
    assert np.isnan(curve.hull_auc)
    assert np.isnan(curve.at(0.3))
    assert np.isnan(curve.false_positive_rate).all()
    assert curve.true_positive_rate.tolist() == [0.0, 2 / 3, 1.0]


def test_scores_that_only_rank_are_welcome():
    curve = roc_curve([0, 1, 0, 1], [-5.0, 3.0, 2.0, 40.0])
    assert (curve.auc, curve.thresholds.tolist()) == (1.0, [np.inf, 40.0, 3.0, 2.0, -5.0])


def test_prevalence_changes_nothing():
    plain, weighted = (roc_curve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8], prevalence=p) for p in (None, 0.01))
    np.testing.assert_allclose(plain.at([0.0, 0.3, 1.0]), weighted.at([0.0, 0.3, 1.0]), atol=1e-15)


def test_picture_starts_at_no_one_and_ends_at_everyone():
    rng = np.random.default_rng(3)
    s = rng.random(20_000)
    y = rng.random(20_000) < s
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x, drawn, error = roc_curve(y, s).thinned(400)
    assert (x[0], drawn[0], x[-1], drawn[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert len(x) < 1200
    probe = rng.random(500)
    assert np.max(np.abs(np.interp(probe, x, drawn) - roc_curve(y, s).at(probe))) <= error + 1e-3
    few_x, few, _ = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).thinned()
    assert list(zip(few_x, few, strict=True)) == [(0, 0), (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1), (1, 1)]


def test_frame_holds_every_threshold():
    pytest.importorskip("polars")
    frame = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).frame("polars")
    assert frame.columns == ["threshold", "false_positive_rate", "true_positive_rate"]
    assert frame.row(2) == (0.4, 0.5, 0.5)
