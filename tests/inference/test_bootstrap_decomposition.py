"""Intervals of MCB, DSC, H and hull AUC: coverage against quadrature, the cross-fit against scikit-learn, refusals."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import logit
from sklearn.isotonic import IsotonicRegression

from replications import coverage_decomposition as coverage
from stakes import ScoreTable, costs, decompose
from stakes.base.numerics import stratified_folds
from stakes.base.validation import BinarySample
from stakes.inference import Moments, decomposition_interval, metric_interval
from stakes.inference._cross_fitting import cross_fit, non_negative_interval
from stakes.metrics import h_measure_score, roc_auc_score

BRIER = costs.Uniform(0, 1)
COLUMN = {name: index for index, name in enumerate(coverage.COLUMNS)}
TERMS = (
    *("score", "miscalibration", "discrimination", "uncertainty", "recalibrated", "skill", "potential_skill", "saving"),
)


def rows(n=600, seed=1, decimals=None):
    rng = np.random.default_rng(seed)
    q = rng.beta(1, 2, n)
    score = q**1.3
    return rng.random(n) < q, score if decimals is None else score.round(decimals)


@pytest.fixture(scope="module")
def simulated():
    """Coverage and bias over 150 runs of 1,000 rows; the 2,000 runs of each design are in the documentation."""
    return {
        name: coverage.simulate(coverage.designs(0.3)[name], 0.3, 1000, 150)[:2]
        for name in ("calibrated", "underconfident", "biased, tied")
    }


@pytest.mark.simulation
def test_intervals_cover_the_truth(simulated):
    # 150 runs of a true 95% fall below 90% once in 150 times
    for name, (covered, _) in simulated.items():
        assert np.all(covered >= 0.9), name
    assert simulated["calibrated"][0][COLUMN["MCB"]] >= 0.97


@pytest.mark.simulation
def test_leading_bias_is_gone(simulated):
    # in-sample values are more than four standard deviations too high here, cross-fitted ones more than one too low
    for name, (_, bias) in simulated.items():
        assert np.all(np.abs(bias) <= 0.3), name


@pytest.mark.simulation
def test_percentile_interval_never_covers_a_calibrated_forecast():
    hits = coverage.alternatives(coverage.designs(0.3)["calibrated"], 0.3, 500, 20, resamples=100)
    assert hits["percentile bootstrap"][0] == 0.0
    assert hits["decomposition_interval"][0] >= 0.9


def test_true_values_by_another_integration():
    # MCB of an overconfident forecast is the mean squared distance to the risk, for half the Brier score
    design = coverage.designs(0.3)["overconfident"]
    q = np.random.default_rng(0).beta(*design.shape, 400_000)
    gap = (design.distort(q) - q) ** 2 / 2
    spread = (q - 0.3) ** 2 / 2
    true = coverage.truth(design, 0.3)
    assert true[COLUMN["MCB"]] == pytest.approx(gap.mean(), abs=4 * gap.std() / 632)
    assert true[COLUMN["DSC"]] == pytest.approx(spread.mean(), abs=4 * spread.std() / 632)
    assert true[COLUMN["UNC"]] == pytest.approx(0.105, abs=1e-6)
    # two values exchanged: pooled by hand
    population = coverage.designs(0.3)["two values exchanged, tied"].population()
    rates, weights = population.rate[2:4], population.weight[2:4]
    assert population.best()[2:4] == pytest.approx(np.average(rates, weights=weights))


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_fit_is_isotonic_regression_on_the_other_folds(decimals, weighted):
    y, score = rows(200, decimals=decimals)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 200) if weighted else None
    fit = cross_fit(BinarySample(y, score, weight), 5, np.random.default_rng(3))
    used = np.ones(200) if weight is None else weight
    whole = IsotonicRegression().fit(score, y, sample_weight=used)
    np.testing.assert_allclose(fit.values[fit.fitted], whole.predict(score), atol=1e-12)
    mixed, in_sample, others = fit.losses(BRIER)
    squares = [(fit.values[place] - y) ** 2 / 2 for place in (fit.fitted, fit.below, fit.above)]
    np.testing.assert_allclose(in_sample, squares[0], atol=1e-12)
    unseen = (squares[1] + squares[2]) / 2
    np.testing.assert_allclose(others, unseen, atol=1e-12)
    np.testing.assert_allclose(mixed, (1 - fit.share) * squares[0] + fit.share * unseen, atol=1e-12)
    block = np.round(whole.predict(score), 12)
    alone = [len(np.unique(score[block == rate])) == 1 for rate in block]
    assert fit.share.tolist() == np.where(alone, 0.5, 0.75).tolist()
    for k in range(5):
        mine = fit.fold == k
        others = IsotonicRegression(out_of_bounds="clip").fit(score[~mine], y[~mine], sample_weight=used[~mine])
        trained = np.unique(score[~mine])
        for at, s in zip(np.flatnonzero(mine), score[mine], strict=True):
            below, above = trained[trained <= s], trained[trained >= s]
            left = below[-1] if len(below) else above[0]
            right = above[0] if len(above) else below[-1]
            expected = others.predict([left, right])
            np.testing.assert_allclose([fit.values[fit.below[at]], fit.values[fit.above[at]]], expected, atol=1e-12)


def isotonic_blocks(score, y, weight):
    """Distinct scores, the block of each and the rate of each block: neighbours whose rates do not rise are merged."""
    blocks = []
    for s in np.unique(score):
        mine = score == s
        blocks.append([[s], weight[mine & y].sum(), weight[mine].sum()])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            last = blocks.pop()
            blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
    return blocks


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_fit_of_few_rows_is_that_of_blocks_merged_one_by_one(weighted):
    rng = np.random.default_rng(8)
    for _ in range(60):
        n = int(rng.integers(4, 12))
        y, score = rng.random(n) < rng.random(), rng.integers(0, rng.integers(1, 8), n) / 8.0
        weight = rng.choice([0.5, 1.0, 2.0], n) if weighted else np.ones(n)
        fit = cross_fit(BinarySample(y, score, weight if weighted else None), 2, np.random.default_rng(1))
        whole = isotonic_blocks(score, y, weight)
        mine = [next(block for block in whole if s in block[0]) for s in score]
        assert fit.share.tolist() == [0.5 if len(scores) == 1 else 0.75 for scores, _, _ in mine]
        rates = [[ups / total for _, ups, total in mine], [], []]
        for s, fold in zip(score, fit.fold, strict=True):
            rest = fit.fold != fold
            others = {t: u / w for ts, u, w in isotonic_blocks(score[rest], y[rest], weight[rest]) for t in ts}
            rates[1].append(others[max((t for t in others if t <= s), default=min(others))])
            rates[2].append(others[min((t for t in others if t >= s), default=max(others))])
        np.testing.assert_allclose(fit.values[[fit.fitted, fit.below, fit.above]], rates, atol=1e-12)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(2, 10), st.integers(0, 99))
def test_folds_share_each_class_evenly(labels, cv, seed):
    y = np.array(labels)
    fold = stratified_folds(y, cv, np.random.default_rng(seed))
    for mine in (y, ~y, np.ones(len(y), dtype=bool)):
        sizes = np.bincount(fold[mine], minlength=cv)
        assert sizes.max() - sizes.min() <= 1


def test_scores_that_never_pool_are_mixed_half_and_half():
    y = np.array([0] * 9 + [1] + [0] * 5 + [1] * 5 + [1] * 9 + [0], dtype=bool)
    alone = cross_fit(BinarySample(y, np.repeat([0.1, 0.5, 0.9], 10), None), 3, np.random.default_rng(0))
    assert set(alone.share) == {0.5}
    turned = cross_fit(BinarySample(y, np.repeat([0.5, 0.1, 0.9], 10), None), 3, np.random.default_rng(0))
    assert turned.share.tolist() == [0.75] * 20 + [0.5] * 10


def test_terms_add_up_and_in_sample_values_are_those_of_decompose():
    y, score = rows()
    for scale in ("regret", "loss", "integral"):
        result = decomposition_interval(y, score, costs=BRIER, scale=scale, random_state=0)
        s, mcb, dsc, unc, recalibrated, skill, potential, _ = (getattr(result, term).value for term in TERMS)
        assert s == pytest.approx(mcb - dsc + unc)
        assert recalibrated == pytest.approx(s - mcb)
        assert skill == pytest.approx((dsc - mcb) / unc)
        assert potential == pytest.approx(dsc / unc)
        plain = decompose(y, score, costs=BRIER, scale=scale)
        assert [result.in_sample[term] for term in (*TERMS[:4], "skill")] == pytest.approx(
            [plain.score, plain.miscalibration, plain.discrimination, plain.uncertainty, plain.skill]
        )
        assert (s, unc) == pytest.approx((plain.score, plain.uncertainty))
        assert mcb < plain.miscalibration
        assert dsc < plain.discrimination


def test_standard_error_of_the_score_is_that_of_a_mean():
    y, score = rows()
    result = decomposition_interval(y, score, costs=BRIER, scale="loss", random_state=0)
    assert result.score.standard_error == pytest.approx(((score - y) ** 2).std(ddof=1) / np.sqrt(len(y)))


def jackknife(statistic, *columns):
    n = len(columns[0])
    values = np.array([statistic(*(np.delete(column, i) for column in columns)) for i in range(n)])
    return np.sqrt((n - 1) / n * np.sum((values - values.mean()) ** 2))


def test_standard_errors_without_pooling_are_the_jackknifes():
    # eleven scores whose event rates rise: nothing is pooled, and the terms are smooth functions of counts
    rng = np.random.default_rng(0)
    score = np.repeat(np.linspace(0.05, 0.95, 4), 150)
    y = rng.random(600) < score**1.5
    result = decomposition_interval(y, score, costs=BRIER, random_state=0)

    def terms(labels, scores):
        parts = decompose(labels, scores, costs=BRIER)
        return np.array([parts.miscalibration, parts.discrimination, parts.uncertainty, parts.skill])

    n = len(y)
    values = np.array([terms(np.delete(y, i), np.delete(score, i)) for i in range(n)])
    expected = np.sqrt((n - 1) / n * np.sum((values - values.mean(axis=0)) ** 2, axis=0))
    found = [
        getattr(result, term).standard_error for term in ("miscalibration", "discrimination", "uncertainty", "skill")
    ]
    np.testing.assert_allclose(found, expected, rtol=0.06)


def test_default_costs_of_h_carry_the_sampling_error_of_the_prevalence():
    score = np.repeat([0.0, 1.0], 300)
    y = np.concatenate([np.arange(300) < 6, np.arange(300) < 150])
    ratio = y.mean() / (1 - y.mean())
    moving = metric_interval(y, score, "h_measure_score", random_state=0)
    fixed = metric_interval(y, score, "h_measure_score", severity_ratio=ratio, random_state=0)
    assert fixed.value == pytest.approx(moving.value)
    assert moving.standard_error < 0.9 * fixed.standard_error
    assert moving.standard_error == pytest.approx(jackknife(h_measure_score, y, score), rel=0.02)
    stated = jackknife(lambda a, b: h_measure_score(a, b, severity_ratio=ratio), y, score)
    assert fixed.standard_error == pytest.approx(stated, rel=0.02)


def test_hull_takes_the_larger_error_and_lies_between_its_parts():
    y, score = rows(400)
    estimate = metric_interval(y, score, "hull_auc", random_state=0)
    fitted = IsotonicRegression().fit_transform(score, y)
    errors = [metric_interval(y, s, "roc_auc_score").standard_error for s in (score, fitted)]
    assert estimate.standard_error == pytest.approx(max(errors))
    fit = cross_fit(BinarySample(y, score, None), 10, np.random.default_rng(0))
    unseen = [
        roc_auc_score(y[fit.fold == k], fit.values[place][fit.fold == k])
        for k in range(10)
        for place in (fit.below, fit.above)
    ]
    share = fit.share.mean()
    expected = (1 - share) * roc_auc_score(y, fitted) + share * np.mean(unseen)
    assert estimate.value == pytest.approx(expected)


def test_weights_scale_out_and_rows_of_weight_zero_are_absent():
    y, score = rows()
    expected = decomposition_interval(y, score, costs=BRIER, random_state=0)
    equal = decomposition_interval(y, score, costs=BRIER, sample_weight=np.full(len(y), 3.0), random_state=0)
    padded = decomposition_interval(
        np.append(y, [True]), np.append(score, [0.4]), costs=BRIER, sample_weight=[1.0] * len(y) + [0.0], random_state=0
    )
    for result in (equal, padded):
        for term in TERMS:
            one, other = getattr(result, term), getattr(expected, term)
            assert (one.value, one.standard_error, *one.interval) == pytest.approx(
                (other.value, other.standard_error, *other.interval)
            )


def test_table_stands_for_its_rows():
    y, score = rows(decimals=1)
    for weight in (None, np.full(len(y), 2.0)):
        table = ScoreTable.from_predictions(y, score, sample_weight=weight)
        result = decomposition_interval(table, costs=BRIER, random_state=0)
        by_rows = decomposition_interval(y, score, costs=BRIER, random_state=0)
        for term in TERMS:
            one, other = getattr(result, term), getattr(by_rows, term)
            # only the folds differ
            assert one.value == pytest.approx(other.value, abs=0.5 * other.standard_error)
            assert one.standard_error == pytest.approx(other.standard_error, rel=0.1)
        assert result.score.standard_error == pytest.approx(by_rows.score.standard_error)
    with pytest.raises(ValueError, match="must weigh the same"):
        decomposition_interval(ScoreTable.from_predictions(y, score, sample_weight=1 + score), costs=BRIER)


def test_known_prevalence_has_no_sampling_error():
    y, score = rows()
    for data, known in (
        ((y, score), {"prevalence": 0.1}),
        ((ScoreTable.from_predictions(y, score).with_prevalence(0.1),), {}),
    ):
        result = decomposition_interval(*data, costs=BRIER, scale="loss", random_state=0, **known)
        assert result.uncertainty.value == pytest.approx(0.09)
        assert result.uncertainty.standard_error == pytest.approx(0.0, abs=1e-12)
        loss = (score - y) ** 2
        by_class = 0.9**2 * loss[~y].var() / (~y).sum() + 0.1**2 * loss[y].var() / y.sum()
        assert result.score.standard_error == pytest.approx(np.sqrt(by_class), rel=0.005)


def test_only_the_ranking_counts_for_h_and_hull():
    y, score = rows()
    other = logit(np.clip(score, 1e-9, 1 - 1e-9))
    for name in ("h_measure_score", "hull_auc"):
        assert metric_interval(y, score, name, random_state=0) == metric_interval(y, other, name, random_state=0)
    discrimination = [
        decomposition_interval(y, s, costs=BRIER, random_state=0).discrimination for s in (score, score**2)
    ]
    assert discrimination[0] == discrimination[1]


def test_same_seed_same_folds():
    y, score = rows()
    values = [
        decomposition_interval(y, score, costs=BRIER, random_state=seed).miscalibration.value
        for seed in (1, 1, np.random.default_rng(1), 2)
    ]
    assert values[0] == values[1] == values[2] != values[3]


def test_h_is_the_potential_skill_under_its_costs():
    y, score = rows()
    measure = metric_interval(y, score, "h_measure_score", a=2, b=3, random_state=0)
    potential = decomposition_interval(y, score, costs=costs.Beta(2, 3), random_state=0).potential_skill
    assert (measure.value, *measure.interval) == pytest.approx((potential.value, *potential.interval))
    assert measure.value < h_measure_score(y, score, a=2, b=3)


def test_useless_scores_do_not_get_a_positive_lower_end():
    rng = np.random.default_rng(2)
    y, score = rng.random(500) < 0.3, rng.random(500)
    result = decomposition_interval(y, score, costs=BRIER, random_state=0)
    assert result.discrimination.interval[0] == 0.0
    assert result.potential_skill.interval[0] == 0.0
    assert metric_interval(y, score, "h_measure_score", random_state=0).interval[0] == 0.0
    assert metric_interval(y, score, "hull_auc", random_state=0).interval[0] == 0.5
    # scores not shown to rank may call for a constant: the error of that comparison is the larger one
    loss = (score - y) ** 2 - (y.mean() - y) ** 2
    wide = decomposition_interval(y, score, costs=BRIER, scale="loss", random_state=0).miscalibration
    assert wide.standard_error >= loss.std(ddof=1) / np.sqrt(500) * (1 - 1e-9)


@given(st.floats(-1.0, 1.0), st.floats(1e-6, 1.0), st.floats(0.0, 2.0))
def test_interval_of_a_non_negative_quantity(value, error, optimism):
    moments = Moments(value, error**2, degrees=50)
    low, high = non_negative_interval(moments, value + optimism, 0.95)
    assert 0.0 <= low <= high
    assert high >= 2.0 * error
    if value <= 2.0 * error:
        assert low == 0.0
    if value > 2.1 * error:
        assert low > 0.0
    narrow = non_negative_interval(moments, value + optimism, 0.8)
    assert low <= narrow[0]
    assert narrow[1] <= high


def test_square_root_scale_far_from_zero():
    # the delta method on the root, squared back: (sqrt(v) -+ t e / (2 sqrt(v)))^2
    value, error, t = 4.0, 0.1, 2.008559112100761  # 97.5% quantile of Student's t with 50 degrees of freedom
    ends = [(2.0 + sign * t * error / 4.0) ** 2 for sign in (-1, 1)]
    assert non_negative_interval(Moments(value, error**2, degrees=50), value, 0.95) == pytest.approx(ends, rel=1e-9)


def test_table_of_the_result():
    y, score = rows()
    result = decomposition_interval(y, score, costs=BRIER, confidence_level=0.9, random_state=0)
    records = result._records()
    assert [record["term"] for record in records] == list(TERMS)
    assert all(record["ci_low"] <= max(record["value"], 0.0) <= record["ci_high"] for record in records)
    assert {record["confidence_level"] for record in records} == {0.9}
    assert repr(result).startswith("DecompositionInterval(MCB ")


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (decomposition_interval, {"costs": BRIER}),
        (metric_interval, {"metric": "h_measure_score"}),
        (metric_interval, {"metric": "hull_auc"}),
    ],
)
def test_refusals_name_the_rows_needed(function, arguments):
    score = np.linspace(0.1, 0.9, 200)
    few = np.arange(200) >= 181
    with pytest.raises(ValueError, match=r"at least 20 positives .* got 19 of 200 rows"):
        function(few, score, **arguments)
    with pytest.raises(ValueError, match=r"at least 20 negatives .* got 19 of 200 rows"):
        function(~few, score, **arguments)
    function(np.arange(200) % 10 == 0, score, random_state=0, **arguments)  # twenty will do
    for cv in (1, 21, 2.5, True):
        with pytest.raises(ValueError, match="cv must be a whole number from 2 to 20"):
            function(few, score, cv=cv, **arguments)
    with pytest.raises(ValueError, match="confidence_level"):
        function(few, score, confidence_level=0.0, **arguments)


def test_refusals_of_costs():
    y, score = rows()
    with pytest.raises(ValueError, match=r"finite loss at the probabilities 0 and 1.*restrict"):
        decomposition_interval(y, score, costs=costs.LogOddsUniform(0, 1))
    decomposition_interval(y, score, costs=costs.LogOddsUniform(0.01, 0.99), random_state=0)
    for single in (costs.Fixed(0.2), costs.Uniform(0.1, 0.4) + costs.Fixed(0.2), costs.Empirical([0.1, 0.2])):
        with pytest.raises(ValueError, match="no weight on single cost ratios"):
            decomposition_interval(y, score, costs=single, scale="integral")
    with pytest.raises(ValueError, match='scale="regret" is undefined'):
        decomposition_interval(y, score, costs=costs.LogOddsUniform(0, 1), scale="regret")
    with pytest.raises(ValueError, match="pass both a and b"):
        metric_interval(y, score, "h_measure_score", a=2)
    with pytest.raises(ValueError, match="severity_ratio and its inverse must be finite numbers > 0, got 0"):
        metric_interval(y, score, "h_measure_score", severity_ratio=0)


def test_what_a_cross_fitted_interval_does_not_take_is_refused():
    y, score = rows()
    with pytest.raises(TypeError, match="hull_auc takes no parameter 'a'"):
        metric_interval(y, score, "hull_auc", a=2)
    for known in ({"lags": "auto"}, {"clusters": list(range(len(y)))}, {"clusters": np.arange(len(y))}):
        with pytest.raises(ValueError, match="clusters= and lags= have no cross-fitted interval"):
            metric_interval(y, score, "h_measure_score", **known)
    with pytest.raises(ValueError, match="prevalence= does not change hull_auc"):
        metric_interval(y, score, "hull_auc", prevalence=0.1)


def test_interval_of_the_skill_reaches_as_far_to_both_sides_as_the_jackknife_says():
    y, score = rows()
    skill = decomposition_interval(y, score, costs=BRIER, random_state=0).skill
    n, loss = len(y), (score - y) ** 2
    without = [(total - each) / (n - 1) for total, each in ((loss.sum(), loss), (y.sum(), y))]
    left_out = 1.0 - without[0] / (without[1] * (1.0 - without[1]))
    spread = np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2))
    assert skill.value == pytest.approx(1.0 - loss.mean() / (y.mean() * (1.0 - y.mean())))
    assert skill.interval == pytest.approx(
        (skill.value - 1.96 * spread, skill.value + 1.96 * spread), abs=0.02 * spread
    )


def test_saving_is_that_of_isotonic_regression_on_the_other_folds():
    y, score = rows()
    found = decomposition_interval(y, score, costs=BRIER, scale="integral", random_state=3).saving
    fold = stratified_folds(y, 10, np.random.default_rng(3))  # scores in another order: the folds alike in law alone
    saved = np.empty(len(y))
    for k in range(10):
        mine = fold == k
        others = IsotonicRegression(out_of_bounds="clip").fit(score[~mine], y[~mine])
        saved[mine] = ((score[mine] - y[mine]) ** 2 - (others.predict(score[mine]) - y[mine]) ** 2) / 2
    assert found.value == pytest.approx(saved.mean(), abs=0.1 * found.standard_error)
    assert found.standard_error == pytest.approx(saved.std() / np.sqrt(len(y)), rel=0.05)
