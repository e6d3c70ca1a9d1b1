"""Rows of one cell and fold count as one where there are many: the answer is that of the rows, but for the folds."""

from __future__ import annotations

import numpy as np
import pytest

from stakes import ScoreTable, costs
from stakes.core.options import EvaluationData
from stakes.inference import _cross_fitting as cross_fitting, decomposition_interval

MEASURE = costs.Uniform(0.1, 0.5)
TERMS = (
    "score",
    "miscalibration",
    "discrimination",
    "uncertainty",
    "recalibrated",
    "skill",
    "potential_skill",
    "saving",
)


def table(rows, seed=5):
    rng = np.random.default_rng(seed)
    risk = rng.random(rows) ** 2
    y = rng.random(rows) < risk
    return ScoreTable.from_predictions(y, np.clip(risk + 0.2 * (rng.random(rows) - 0.5), 0, 1).round(2))


@pytest.mark.parametrize("prevalence", [None, 0.05])
def test_cells_by_fold_give_what_their_rows_give(monkeypatch, prevalence):
    """The same folds, once as cells with counts and once as the rows that they count."""
    mine = table(20_000) if prevalence is None else table(20_000).with_prevalence(prevalence)
    monkeypatch.setattr(cross_fitting, "_MANY", 1)
    data = EvaluationData(None, mine)
    cells = cross_fitting.cross_fit_rows(data, fixed_prevalence=False, cv=10, random_state=0, by_cell=True)
    assert cells.counts is not None
    counts = cells.counts.astype(int)
    sample = cross_fitting.BinarySample(
        cells.sample.y.repeat(counts),
        cells.sample.score.repeat(counts),
        (cells.sample.weight / cells.counts).repeat(counts),
    )
    folds = cells.fit.fold.repeat(counts)
    fit = cross_fitting.cross_fit(sample, 10, np.random.default_rng(0), folds)
    rows = cross_fitting.CrossFitRows(sample, fit, cells.fixed)
    found, known = (cross_fitting.estimate_terms(each, MEASURE, 1.0, "integral", 0.95) for each in (cells, rows))
    assert len(sample.y) == 20_000
    for term in TERMS:
        one, other = getattr(found, term), getattr(known, term)
        assert one.value == pytest.approx(other.value, rel=1e-9, abs=1e-13)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9, abs=1e-13)
        assert one.interval == pytest.approx(other.interval, rel=1e-8, abs=1e-12)


def test_many_rows_in_few_cells_are_not_expanded(monkeypatch):
    mine = table(30_000)
    known = decomposition_interval(mine, costs=MEASURE)
    monkeypatch.setattr(cross_fitting, "_MANY", 20_000)
    monkeypatch.setattr(cross_fitting, "expanded_rows", None)
    found = decomposition_interval(mine, costs=MEASURE)
    for term in TERMS:  # other folds
        one, other = getattr(found, term), getattr(known, term)
        assert abs(one.value - other.value) <= 0.5 * other.standard_error + 1e-12
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.01, abs=1e-12)


def test_too_few_positives_are_refused_by_their_rows(monkeypatch):
    monkeypatch.setattr(cross_fitting, "_MANY", 1)
    counted = ScoreTable.from_predictions([1] * 19 + [0] * 981, [0.5] * 1000)
    with pytest.raises(ValueError, match=r"at least 20 positives .* got 19 of 1000 rows\.$"):
        decomposition_interval(counted, costs=MEASURE)


@pytest.mark.parametrize("most", [10**9, 1])
def test_folds_of_cells_hold_every_row_and_are_of_equal_size(monkeypatch, most):
    monkeypatch.setattr(cross_fitting, "_MOST_DRAWN", most)
    counts = np.array([0, 1, 7, 500, 123_456])
    folds = cross_fitting._folds_of_cells(counts, 10, np.random.default_rng(0))
    assert folds.sum(axis=1).tolist() == counts.tolist()
    sizes = folds.sum(axis=0)
    assert sizes.max() - sizes.min() <= (1 if most > 1 else 6 * np.sqrt(counts.sum() / 10))
