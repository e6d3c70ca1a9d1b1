"""Intervals of fitted thresholds: how much wider than the rows say, by definition and by coverage."""

import numpy as np
import pytest

from replications import deferral
from stakes.actions import evaluate_deferral
from stakes.actions._widening import Refitted
from stakes.core.validation import BinarySample


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y, p = deferral.sample(rng, n)
    return y, p, rng.integers(0, 5, n)


def known(sample, folds):  # noqa: ARG001
    """Costs that rest on no fit."""
    return np.column_stack([sample.score, sample.y.astype(float)])


def test_what_is_not_fitted_is_about_as_certain_as_its_rows_say():
    """The resampled mean less the sample's own, of what every fit judges alike, varies as the rows do."""
    y, p, folds = rows(2000)
    for codes, by_class in ((None, False), (np.arange(2000) // 4, False)):
        found = Refitted(BinarySample(y, p, None), folds, codes, known, by_class).widening(np.random.default_rng(1))
        assert found == pytest.approx([1.0, 1.0], abs=3 * (2 * 60) ** -0.5)
        assert np.all(found >= 1.0)
    # where the share of positives is known the second has no error, and needs no widening
    fixed = Refitted(BinarySample(y, p, None), folds, None, known, by_class=True).widening(np.random.default_rng(1))
    assert fixed[1] == 1.0


def test_errors_of_clusters_are_those_of_their_sums():
    y, p, folds = rows(400)
    pairs = np.repeat(np.arange(400), 2)
    twice = Refitted(BinarySample(np.repeat(y, 2), np.repeat(p, 2), None), np.repeat(folds, 2), pairs, known)
    once = Refitted(BinarySample(y, p, None), folds, None, known)
    assert twice._row_errors() == pytest.approx(once._row_errors(), rel=1e-12)
    weighted = Refitted(BinarySample(y, p, np.full(400, 3.0)), folds, None, known)
    assert weighted._row_errors() == pytest.approx([p.std() / 20.0, y.std() / 20.0], rel=1e-12)


def test_many_rows_are_told_by_some_of_them_and_no_cluster_is_divided():
    y, p, folds = rows(9000)
    codes = np.arange(9000) // 3
    some = Refitted(BinarySample(y, p, None), folds, codes, known)._some(np.random.default_rng(0))
    assert 2000 <= len(some.folds) <= 2003
    assert set(np.bincount(some.codes)) == {3}
    alone = Refitted(BinarySample(y, p, None), folds, None, known)._some(np.random.default_rng(0))
    assert len(alone.folds) == 2000


def test_intervals_of_fitted_thresholds_are_wider_than_their_rows_say():
    y, p, _ = rows(300, 4)
    fitted = evaluate_deferral(y, p, costs=0.2, deferral=0.05, rule="optimal")
    face = evaluate_deferral(y, p, costs=0.2, deferral=0.05)
    assert fitted.estimates["deferred"].standard_error > 1.5 * face.estimates["deferred"].standard_error
    assert fitted.sentence.count("known") == 0
    same = evaluate_deferral(y, p, costs=0.2, deferral=0.05, rule="optimal")
    assert same.interval == fitted.interval


@pytest.mark.simulation
def test_the_value_of_fitted_thresholds_lies_within_its_interval_as_often_as_stated():
    """40 samples of 200 rows, nominal 5%; thresholds taken as known missed in 11%."""
    below, above, wrong = deferral.missed(40, 200, "optimal", 0.2, 0.05)
    assert below + above <= 0.05
    assert wrong <= 0.05


@pytest.mark.parametrize("options", [{}, {"prevalence": 0.2}, {"capacity": 0.5}, {"costs": (0.1, 0.4)}])
def test_few_rows_have_intervals_too(options):
    options = {"costs": 0.2, "deferral": 0.05, "rule": "optimal", "n_folds": 2, **options}
    found = evaluate_deferral([0, 1, 0, 1], [0.2, 0.6, 0.4, 0.3], **options)
    low, high = found.estimates["value"].interval
    assert low <= found.value <= high
