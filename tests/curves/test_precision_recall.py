"""Precision over recall: scikit-learn's points, nan where no one is selected, and chance among tied scores between."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from sklearn import metrics as sklearn_metrics
from sklearn.exceptions import UndefinedMetricWarning
from strategies import samples

from stakes.curves import precision_recall_curve


def has_positives(sample):
    weight = np.ones(len(sample.y)) if sample.weight is None else np.asarray(sample.weight)
    return bool(weight[np.asarray(sample.y) == 1].sum() > 0)


with_positives = samples().filter(has_positives)
ends = st.one_of(st.just(0.0), st.floats(1e-4, 1.0))  # closer to 0, quadrature sees nothing


def curve_of(sample):
    return precision_recall_curve(sample.y, sample.score, sample_weight=sample.weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_points_and_average_precision_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(1)
    s = rng.integers(0, 60, 500) / 60
    y = (rng.random(500) < s).astype(int)
    w = rng.integers(1, 4, 500).astype(float) if weighted else None
    precision, recall, thresholds = sklearn_metrics.precision_recall_curve(y, s, sample_weight=w)
    curve = precision_recall_curve(y, s, sample_weight=w)
    np.testing.assert_array_equal(curve.thresholds[1:], thresholds[::-1])
    np.testing.assert_allclose(curve.precision[1:], precision[:-1][::-1], atol=1e-14)
    np.testing.assert_allclose(curve.recall, recall[::-1], atol=1e-14)
    expected = sklearn_metrics.average_precision_score(y, s, sample_weight=w)
    assert curve.average_precision == pytest.approx(expected, abs=1e-14)


def test_average_precision_stored_in_the_yardstick_tests(load_data):
    data = load_data("tidymodels_predictions/two_class_example")
    published = load_data("tidymodels_predictions/expected/yardstick_reference_values")
    rows = published[(published["metric"] == "average_precision") & (published["dataset"] == "two_class_example")]
    assert len(rows) == 2
    for weighted, value in zip(rows["weighted"], rows["value"], strict=True):
        weight = data["weight"] if weighted else None
        curve = precision_recall_curve(data["truth"], data["Class1"], pos_label="Class1", sample_weight=weight)
        assert curve.average_precision == pytest.approx(value, abs=1e-14)


@given(with_positives, st.floats(0.0, 1.0))
def test_height_is_the_precision_when_tied_scores_are_selected_by_chance(sample, x):
    y, s = np.asarray(sample.y), np.asarray(sample.score) + 0.0
    w = np.ones(len(y)) if sample.weight is None else np.asarray(sample.weight, dtype=float)
    wanted = x * w[y == 1].sum()
    hits = alarms = 0.0
    for t in sorted(set(s[w > 0].tolist()), reverse=True):  # select level by level until enough positives are found
        up, down = w[(s == t) & (y == 1)].sum(), w[(s == t) & (y == 0)].sum()
        if hits + up >= wanted * (1 - 1e-15):
            share = (wanted - hits) / up if up > 0 else 0.0
            hits, alarms = hits + share * up, alarms + share * down
            break
        hits, alarms = hits + up, alarms + down
    if wanted > 1e-9 * w.sum():
        assert float(curve_of(sample).at(x)) == pytest.approx(hits / (hits + alarms), abs=1e-6)


@given(with_positives, ends, ends)
def test_area_agrees_with_quadrature(sample, a, b):
    low, high = sorted((a, b))
    curve = curve_of(sample)
    edges = np.unique(np.clip([low, *curve.recall, high], low, high))
    pieces = [quad(lambda r: float(curve.at(r)), u, v)[0] for u, v in pairwise(edges)]
    assert curve.integral(low, high) == pytest.approx(sum(pieces), abs=1e-7)


def test_interpolation_between_thresholds_is_a_hyperbola_not_a_line():
    # Davis and Goadrich (2006), their example: 20 positives, 2000 negatives; points TP 5, FP 5 and TP 10, FP 30
    y = [1] * 5 + [0] * 5 + [1] * 5 + [0] * 25 + [1] * 10 + [0] * 1970
    s = [0.9] * 10 + [0.5] * 30 + [0.1] * 1980
    curve = precision_recall_curve(y, s)
    published = {0.25: 0.5, 0.3: 0.375, 0.35: 0.318, 0.4: 0.286, 0.45: 0.265, 0.5: 0.25}
    assert {x: round(float(curve.at(x)), 3) for x in published} == published


def test_precision_without_a_selection_is_undefined():
    curve = precision_recall_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    assert np.isnan(curve.precision[0])
    assert np.isnan(curve.at(0.0))
    assert float(curve.at(0.0, side="right")) == 1.0
    worst_first = precision_recall_curve([1, 0], [0.1, 0.8])
    assert float(worst_first.at(0.0, side="right")) == 0.0


def test_most_precise_threshold_counts_where_several_have_one_recall():
    curve = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    assert float(curve.at(0.5)) == 1.0
    assert float(curve.at(0.5, side="right")) == 0.5


def test_prevalence_moves_precision():
    curve = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.3], prevalence=0.1)
    assert float(curve.at(1.0)) == pytest.approx(0.1 / (0.1 + 0.45))
    assert float(curve.references["treat all"].at(0.3)) == pytest.approx(0.1)


def test_without_positives_it_is_undefined_with_a_warning():
    with pytest.warns(UndefinedMetricWarning, match="precision_recall_curve is undefined: there are no positives"):
        curve = precision_recall_curve([0, 0], [0.1, 0.5])
    assert np.isnan(curve.average_precision)
    assert np.isnan(curve.integral())
    assert curve.precision[1:].tolist() == [0.0, 0.0]


def test_without_negatives_precision_is_one():
    curve = precision_recall_curve([1, 1], [0.1, 0.5])
    assert (curve.average_precision, curve.integral(), float(curve.at(0.3))) == (1.0, 1.0, 1.0)


def test_picture_bends_between_thresholds():
    y = [1] * 5 + [0] * 5 + [1] * 5 + [0] * 25
    curve = precision_recall_curve(y, [0.9] * 10 + [0.5] * 30)
    x, drawn, _ = curve.thinned()
    probe = np.linspace(0.51, 1.0, 57)
    assert np.max(np.abs(np.interp(probe, x, drawn) - curve.at(probe))) < 1e-3
    assert not np.isnan(drawn).any()


def test_frame_holds_every_threshold():
    pytest.importorskip("polars")
    frame = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).frame("polars")
    assert frame.columns == ["threshold", "recall", "precision"]
    assert frame.row(2) == (0.4, 0.5, 0.5)
