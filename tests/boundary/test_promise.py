"""The replication of the promise runs, keeps its bounds on a few data sets, and finds one threshold's recall."""

from __future__ import annotations

import numpy as np
import pytest

from replications import boundary_promise


@pytest.mark.parametrize("method", [boundary_promise.CERTIFIED, *boundary_promise.WITHOUT_PROMISE])
def test_true_precision_is_near_the_promise(method):
    recall, precision = boundary_promise.simulate("evidence", method, 3, seed=0)
    assert np.sum(np.isnan(precision)) <= 1
    assert 0.05 < np.mean(recall) < 0.25
    assert abs(np.nanmean(precision) - 0.9) < (0.04 if method == "plain, 11 levels" else 0.03)


@pytest.mark.parametrize("design", ["1% useless", "1% useful"])
def test_recall_is_that_of_one_threshold_or_more(design):
    certified, *others = (
        boundary_promise.simulate(design, method, 3, seed=0)[0].mean()
        for method in (boundary_promise.CERTIFIED, *boundary_promise.SEQUENCES)
    )
    assert certified > max(others) - 0.01  # three data sets; a single threshold with 0.46, the learned order with 0.48


@pytest.mark.parametrize("name", ["useful", "1% useful", "evidence"])
def test_points_of_the_population_have_the_prevalence_of_rows_drawn(name):
    design = boundary_promise.DESIGNS[name][0]
    truth = design.draw(1_000_000, np.random.default_rng(0))[2]
    population = design.population()
    assert population.share.sum() == pytest.approx(1.0)
    assert population.share @ population.rate == pytest.approx(truth.mean(), rel=0.01)
    top = population.rate > 0.8
    assert population.share[top].sum() == pytest.approx(np.mean(truth > 0.8), rel=0.03) or name == "evidence"
