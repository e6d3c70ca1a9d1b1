"""Rows in single and half precision are decided as the same rows in doubles, though limits lie on their values."""

import numpy as np
import pytest

from stakes.actions import fit_deferral
from stakes.boundary import fit_boundary, precision_recall_frontier, uncertainty_calibrate
from stakes.boundary._rules import LevelRule, RankedRule
from stakes.utility import population_threshold

RNG = np.random.default_rng(0)
EVIDENCE, Q = RNG.choice([2, 5, 50], 3000), RNG.beta(1, 2, 3000)
SCORE, U = RNG.binomial(EVIDENCE, Q) / EVIDENCE, 1.0 / EVIDENCE
Y = RNG.random(3000) < Q
KINDS = [np.float16, np.float32]
SOLVERS = ["exact", "single_threshold", "greedy", "isotonic", "equal_weight_dp", "variable_weight_dp", "ranker"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_boundary_selects_the_same_rows_in_any_precision(solver, kind):
    boundary = fit_boundary(Y, SCORE, U, min_precision=0.6, solver=solver)
    known = boundary.predict(SCORE, U)
    assert 0 < known.sum() < len(Y)
    assert (boundary.predict(SCORE.astype(kind), U.astype(kind)) == known).all()
    assert (boundary.predict(SCORE.astype(kind), U) == known).all()
    assert (boundary.predict(SCORE, U.astype(kind)) == known).all()
    features = SCORE[:, None]
    apart = boundary.explain(features, score=SCORE, uncertainty=U).to_json()
    assert boundary.explain(features, score=SCORE.astype(kind), uncertainty=U.astype(kind)).to_json() == apart


@pytest.mark.parametrize("kind", KINDS)
def test_frontiers_and_calibrations_know_the_same_rows_in_any_precision(kind):
    frontier, calibration = precision_recall_frontier(Y, SCORE, U), uncertainty_calibrate(Y, SCORE, U)
    rows = SCORE.astype(kind), U.astype(kind)
    for least in (0.5, 0.7, 0.9):
        known = frontier.predict(SCORE, U, min_precision=least)
        assert (frontier.predict(*rows, min_precision=least) == known).all()
    assert (calibration.predict(*rows) == calibration.predict(SCORE, U)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_thresholds_on_the_score_decide_the_same_rows_in_any_precision(kind):
    score = np.round(Q, 1)
    for fee in (0.01, 0.05, 0.1):
        pair = fit_deferral(Y, score, costs=0.3, deferral=fee)
        assert (pair.predict(score.astype(kind)) == pair.predict(score)).all()
    for measure in ("f1", "accuracy"):
        for values in (score, 1.0 - score):
            found = population_threshold(Y, values, measure, n_resamples=0)
            assert (found.predict(values.astype(kind)) == found.predict(values)).all()


def test_a_region_that_ends_at_a_score_keeps_the_rows_there():
    fitted = fit_boundary(Y, SCORE, U, min_precision=0.7, solver="ranker")._rule
    inside = np.array([[0.3, np.nextafter(0.7, 1.0), 0.9]] * len(fitted.ranker.knots))
    rule = RankedRule(fitted.ranker, fitted.threshold, inside)
    score = np.arange(11) / 10
    for kind in KINDS:
        found = rule.decide(score.astype(kind), np.full(11, 0.5, dtype=kind), "refuse")
        assert found.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1]


def test_rows_in_double_precision_meet_limits_as_they_are():
    rule = LevelRule(np.array([0.2]), np.array([0.7, 0.9]))
    near = [0.7, np.nextafter(0.7, 0.0), float(np.float32(0.7)), 0.9]
    assert rule.decide(near, [0.2] * 4, "refuse").tolist() == [1, 0, 0, 1]
    assert rule.decide([0.8, 0.8], [0.2, float(np.float32(0.2))], "refuse").tolist() == [1, 0]
    beyond = LevelRule(np.array([]), np.array([1e300]))
    assert beyond.decide(np.array([1e30], np.float32), np.zeros(1), "refuse").tolist() == [0]
