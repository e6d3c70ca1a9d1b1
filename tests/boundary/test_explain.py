"""Rows that a boundary decides otherwise than one threshold, against a count by hand."""

import numpy as np
import pytest

from stakes.boundary import Boundary, fit_boundary

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    score, doubt = rng.random(3000), rng.random(3000)
    y = rng.random(3000) < score ** (0.3 + 2.0 * doubt)
    features = {"doubt": doubt, "age": rng.normal(50, 10, 3000), "new": (rng.random(3000) < 0.2).astype(int)}
    return y, score, doubt, features, fit_boundary(y, score, doubt, min_precision=0.9, levels=3)


def level_thresholds(boundary, doubt):
    return boundary.thresholds[np.searchsorted(boundary.cuts, doubt, side="left")]


def test_added_and_dropped_rows_are_those_on_other_sides_of_the_two(data):
    _, score, doubt, features, boundary = data
    inside, above = score >= level_thresholds(boundary, doubt), score >= boundary.threshold
    found = boundary.explain(features)
    assert (found.added == (inside & ~above)).all()
    assert (found.dropped == (above & ~inside)).all()
    assert found.added.sum() > 20
    assert found.dropped.sum() > 20


def test_differences_are_of_means_over_the_root_of_the_mean_variance(data):
    features, found = data[3], data[4].explain(data[3])
    groups = {"added": found.added, "dropped": found.dropped, "unchanged": ~(found.added | found.dropped)}
    for record in found.frame("pandas").to_dict("records"):
        values = features[record["feature"]]
        for name, rows in groups.items():
            assert record[f"mean_{name}"] == pytest.approx(values[rows].mean())
        for a, b in (("added", "dropped"), ("added", "unchanged"), ("dropped", "unchanged")):
            spread = np.sqrt((np.var(values[groups[a]]) + np.var(values[groups[b]])) / 2)
            apart = (values[groups[a]].mean() - values[groups[b]].mean()) / spread
            assert record[f"{a}_less_{b}"] == pytest.approx(apart)
    assert "most apart in 'doubt': -" in repr(found)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).to_arrow()])
def test_frames_are_read_by_their_columns(data, kind):
    found = data[4].explain(kind(data[3]))
    assert found.features == ("doubt", "age", "new")
    assert found.difference() == pytest.approx(data[4].explain(data[3]).difference())
    array = np.column_stack(list(data[3].values()))
    assert data[4].explain(array).difference() == pytest.approx(found.difference())


def test_a_kept_boundary_explains_rows_that_are_given(data):
    _, score, doubt, features, boundary = data
    kept = Boundary.from_json(boundary.to_json())
    found = kept.explain(features, score=score, uncertainty=doubt)
    assert found.difference() == pytest.approx(boundary.explain(features).difference())
    with pytest.raises(ValueError, match="holds no rows"):
        kept.explain(features)


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(4)
    score, doubt, age, weight = *rng.random((3, 600)), rng.integers(1, 4, 600)
    y = rng.random(600) < score ** (0.3 + 2.0 * doubt)
    weighted = fit_boundary(y, score, doubt, sample_weight=weight, min_precision=0.8, levels=[0.5])
    repeated = [np.repeat(part, weight) for part in (y, score, doubt)]
    whole = fit_boundary(*repeated, min_precision=0.8, levels=[0.5])
    found = weighted.explain({"age": age}), whole.explain({"age": np.repeat(age, weight)})
    assert found[0].means == pytest.approx(found[1].means)
    assert found[0].variances == pytest.approx(found[1].variances)


@pytest.mark.parametrize(
    ("features", "rule"),
    [
        ({"a": [1.0, 2.0]}, "X must have 3000 rows"),
        ({"a": np.r_[np.nan, np.ones(2999)]}, "X must hold finite numbers, got nan at index 0 of 'a' \\(1 of 3000\\)"),
        ({"a": ["x"] * 3000}, "column 'a' of X"),
        ({}, "X must have one or more columns"),
        (np.ones(3000), "X must have rows and columns"),
    ],
)
def test_features_that_cannot_be_compared_are_refused(data, features, rule):
    with pytest.raises(ValueError, match=rule):
        data[4].explain(features)
    with pytest.raises(ValueError, match="given together"):
        data[4].explain(data[3], score=data[1])


def test_constant_features_do_not_differ_or_differ_without_end():
    y, score, doubt = [1, 0, 1, 0] * 3, [0.9, 0.4, 0.6, 0.5] * 3, [0, 0, 1, 1] * 3
    boundary = fit_boundary([1, 1, 0, 1], [0.9, 0.6, 0.8, 0.5], [0, 0, 1, 1], min_precision=1, levels=[0.5])
    found = boundary.explain({"same": [7.0] * 4, "apart": [0.0, 1.0, 0.0, 0.0]})
    assert found.added.tolist() == [False, True, False, False]
    assert found.difference("added", "unchanged").tolist() == [0.0, np.inf]
    assert np.isnan(found.difference()).all()
    with pytest.raises(ValueError, match="group must be one of"):
        fit_boundary(y, score, doubt, capacity=2).explain({"a": [1.0] * 12}).difference("other")
