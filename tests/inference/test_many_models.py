"""The pairs of many models, worked out when asked for: against plain formulas and against two models alone."""

import numpy as np
import pytest

from stakes import compare, costs, evaluate
from stakes.variance.decisions import _FEW, Decisions
from stakes.variance.dependence import PairedRows

RANGE = costs.Uniform(0.05, 0.4)
MODELS = _FEW + 2


def rows(n=5000):  # more than a block of so many models
    rng = np.random.default_rng(1)
    p = rng.beta(1, 4, n)
    scores = [np.clip(p + 0.02 * k * rng.normal(size=n), 0, 1) for k in range(MODELS - 1)]
    return rng.random(n) < p, [*scores, scores[0].copy()], rng.gamma(2.0, size=n)


def test_pairs_and_covariance_are_those_of_the_plain_formulas():
    y, scores, _ = rows()
    losses = np.array([np.where(y, RANGE.positive_loss(s), RANGE.negative_loss(s)) for s in scores])
    found = Decisions.from_scores(PairedRows(y, scores, None), RANGE, "score", constants=True)
    cov = np.cov(losses) / len(y)
    assert found.covariance[:MODELS, :MODELS] == pytest.approx(cov, rel=1e-10)
    constants = np.where(y, 0.0, 0.5 * 0.35 * 0.45), np.where(y, 0.5 * 0.35 * 1.55, 0.0)  # half of d^2 between the ends
    known = [[np.cov(line, loss)[0, 1] / len(y) for loss in losses] for line in constants]
    assert found.covariance[MODELS:, :MODELS] == pytest.approx(np.array(known), rel=1e-10)
    for i, j in ((0, 1), (7, 3), (2, 9)):
        gap = losses[i] - losses[j]
        moments = found.difference(i, j)
        assert (moments.value, moments.variance) == pytest.approx((gap.mean(), gap.var(ddof=1) / len(y)), rel=1e-10)
    assert found.difference(0, MODELS - 1).room == found.difference(0, MODELS - 1).variance == 0.0


@pytest.mark.parametrize("given", [{"sample_weight": True}, {"prevalence": 0.3}])
def test_a_pair_of_many_is_as_the_two_alone(given):
    y, scores, weight = rows()
    given = {"sample_weight": weight} if "sample_weight" in given else given
    found = evaluate(y, {f"m{k}": s for k, s in enumerate(scores)}, costs=RANGE, **given)
    known = compare(y, scores[2], scores[5], costs=RANGE, **given)
    mine = found.compare("m2", "m5")
    assert (mine.difference, *mine.interval) == pytest.approx((known.difference, *known.interval), rel=1e-10)
    alone = evaluate(y, {"a": scores[2], "b": scores[5]}, costs=RANGE, **given).moments.covariance
    some = [2, 5, MODELS, MODELS + 1]
    assert found.moments.covariance[np.ix_(some, some)] == pytest.approx(alone, rel=1e-9, abs=1e-18)


@pytest.mark.parametrize("clustered", [False, True])
def test_differences_of_many_pairs_are_those_of_each(clustered):
    y, scores, weight = rows(400)
    codes = np.arange(400) // 4 if clustered else None
    found = Decisions.from_scores(PairedRows(y, scores, weight, clusters=codes), RANGE, "score", constants=True)
    first, second = np.triu_indices(MODELS + 2, 1)
    many = found.differences(first, second)
    each = [found.difference(i, j) for i, j in zip(first.tolist(), second.tolist(), strict=True)]
    assert many.value.tolist() == [one.value for one in each]
    assert many.p_values() == pytest.approx([one.p_value() for one in each], rel=1e-12, nan_ok=True)


def test_an_infinite_cost_leaves_the_others_their_spread():
    y, scores, _ = rows(200)
    scores[4][np.argmax(y)] = 0.0  # a positive that was certain to be none
    models = {f"m{k}": np.clip(s, 1e-9, 1 - 1e-9) if k != 4 else s for k, s in enumerate(scores)}
    found = evaluate(y, models, costs=costs.LogOddsUniform(0, 1))
    assert found["m4"].score == np.inf
    assert np.isfinite(found.moments.covariance[0, 1])
    assert np.isnan(found.moments.covariance[4, 1])


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("count", [3, 12])
def test_a_copy_cannot_differ_and_another_model_may_though_no_row_shows_it(clustered, count):
    rng = np.random.default_rng(5)
    y, score = rng.random(400) < 0.3, rng.uniform(0.4, 0.9, 400)
    scores = {"model": score, "copy": score.copy(), "above": score + 0.05}  # all act on everyone in the range
    scores |= {f"other {k}": rng.uniform(0.0, 0.2, 400) for k in range(count - 3)}
    found = evaluate(y, scores, costs=(0.1, 0.3), clusters=np.arange(400) // 4 if clustered else None)
    assert found.compare("model", "copy").interval == (0.0, 0.0)
    another = found.compare("model", "above")
    low, high = another.interval
    assert low < another.difference == 0.0 < high
    assert "tells the two apart" in another.note
