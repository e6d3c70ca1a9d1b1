"""The best of many: published rules by brute force, sentences, ties, references, units; coverage is in replications."""

import numpy as np
import pytest
from scipy import stats

from stakes import costs, evaluate, expected_regret
from stakes.inference import Contest, select, select_best

COSTS = costs.Uniform(0.1, 0.3)


def contest(means, covariance, models=None, n_rows=1000):
    names = tuple(f"m{k}" for k in range(len(means)))
    return Contest(names, models or len(means), np.asarray(means, float), np.asarray(covariance, float), n_rows)


def rows(n=2000, seed=0, spreads=(0.3, 0.4, 0.5, 2.0)):
    rng = np.random.default_rng(seed)
    q = rng.beta(1, 4, n)
    logit = np.log(q / (1 - q))
    models = {f"m{k}": 1 / (1 + np.exp(-(logit + s * rng.normal(size=n)))) for k, s in enumerate(spreads)}
    return (rng.random(n) < q).astype(int), models


def test_values_of_the_oracle(actions_reference):
    stated = actions_reference["selection"]
    found = select(contest(stated["mean"], stated["cov"], n_rows=40))
    assert found.chosen == f"m{stated['chosen']}"
    assert found.p_values[found.chosen] != found.p_values[found.chosen]
    for place, p in stated["holm_one_sided"].items():
        assert found.p_values[f"m{place}"] == pytest.approx(p, abs=1e-12)


def test_means_and_covariance_of_rows(actions_reference):
    from stakes.inference import CostRows

    stated = actions_reference["selection"]
    losses = np.array(stated["losses"])
    own = CostRows(losses, np.arange(40) % 2 == 0, np.ones(40), None, np.ones((2, 4)))
    assert own.means == pytest.approx(stated["mean"], abs=1e-12)
    assert own.covariance() == pytest.approx(np.array(stated["cov"]), abs=1e-12)


def test_equal_models_by_the_closed_forms(actions_reference):
    """Ten equal models of equal correlation: optimism sqrt(1 - rho) times 1.5388, max-T 2.6862 at rho 1/2 (nine)."""
    for count, rho, quantile in actions_reference["selection"]["max_abs_two_sided"]:
        if count == 9:
            covariance = 0.0004 * (rho + (1 - rho) * np.eye(9))
            found = select(contest(np.full(9, 0.1) + 1e-9 * np.arange(9), covariance))
            assert found.critical_value == pytest.approx(quantile, abs=1e-12)
            assert found.interval == pytest.approx((0.1 - 0.02 * quantile, 0.1 + 0.02 * quantile), abs=1e-12)
    covariance = 0.0004 * (0.75 + 0.25 * np.eye(10))
    found = select(contest(np.full(10, 0.1), covariance))
    assert found.corrected_cost - found.cost == pytest.approx(0.02 * 0.5 * 1.5387527308351732, abs=1e-12)
    assert found.expected_regret == pytest.approx(0.02 * 0.5 * 1.5387527308351732, abs=1e-12)


def brute_set(means, covariance, level, rng):
    """Hsu's rule word by word, with draws of its own."""
    errors = rng.multivariate_normal(np.zeros(len(means)), covariance, 200_000)
    kept = []
    for i in range(len(means)):
        others = [j for j in range(len(means)) if j != i]
        theta = np.array([np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]) for j in others])
        q = np.quantile(((errors[:, [i]] - errors[:, others]) / theta).max(axis=1), level)
        kept.append(bool(np.all((means[i] - means[others]) / theta <= q)))
    return kept


@pytest.mark.simulation
def test_possible_set_by_brute_force():
    rng = np.random.default_rng(5)
    for _ in range(8):
        root = rng.normal(size=(6, 6))
        covariance, means = root @ root.T, rng.normal(scale=4, size=6)
        found = select(contest(means + 20, covariance))
        nearly = [brute_set(means, covariance, level, rng) for level in (0.945, 0.955)]
        for k, (less, more) in enumerate(zip(*nearly, strict=True)):
            if less == more:
                assert (f"m{k}" in found.possible) == less


def test_optimism_is_what_resampling_finds():
    rng = np.random.default_rng(6)
    root = rng.normal(size=(5, 5))
    covariance, means = root @ root.T, rng.normal(size=5) + 10
    errors = rng.multivariate_normal(np.zeros(5), covariance, 400_000)
    picked = (means + errors).argmin(axis=1)
    optimism = -errors[np.arange(len(errors)), picked].mean()
    found = select(contest(means, covariance))
    assert found.corrected_cost - found.cost == pytest.approx(optimism, rel=0.03)


def test_limits_hold_for_all_that_was_named_beforehand():
    """By the definition: the .975 quantile of the largest studentised lead of any decision over any named one."""
    rng = np.random.default_rng(7)
    root = rng.normal(size=(5, 5))
    covariance, means = root @ root.T, np.array([10.0, 11, 12, 13, 14])
    found = select(contest(means, covariance, models=3), incumbent="m1")
    assert list(found.against) == ["m1", "m3", "m4"]
    errors = rng.multivariate_normal(np.zeros(5), covariance, 400_000)

    def theta(i, j):
        return np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])

    leads = [(errors[:, r] - errors[:, j]) / theta(r, j) for r in (1, 3, 4) for j in range(5) if j != r]
    q = np.quantile(np.max(leads, axis=0), 0.975)
    for name, place in (("m1", 1), ("m3", 3), ("m4", 4)):
        expected = means[0] - means[place] + q * theta(0, place)
        assert found.against[name].limit == pytest.approx(expected, abs=0.03 * theta(0, place))


def test_one_model_alone_has_its_plain_interval_and_shares_a_column_with_the_references():
    y, models = rows()
    found = select_best(y, {"m0": models["m0"]}, costs=COSTS)
    assert found.corrected_cost == found.cost
    assert found.sentences[0].startswith("m0 costs 0.0")
    assert "selection among" not in found.sentence
    alone = select_best(y, {"m0": models["m0"]}, costs=COSTS, references=False)
    assert len(alone.sentences) == 1
    assert alone.critical_value == pytest.approx(1.959963984540054, abs=1e-12)
    assert alone.interval == pytest.approx(found.pointwise["m0"], abs=1e-14)
    assert 1.96 < found.critical_value < 2.24  # the references' errors are one but for the sign: two errors at most


def test_costs_are_those_of_evaluate():
    y, models = rows()
    found, evaluation = select_best(y, models, costs=COSTS), evaluate(y, models, costs=COSTS)
    for name in models:
        assert found.costs[name] == pytest.approx(evaluation[name].score, abs=1e-14)
    assert found.costs["treat none"] == pytest.approx(0.8 * y.mean(), abs=1e-14)
    assert found.costs["treat all"] == pytest.approx(0.2 * (1 - y.mean()), abs=1e-14)


def test_more_models_tried_widen_the_interval_and_the_correction():
    y, models = rows()
    found = [select_best(y, models, costs=COSTS, n_tried=count) for count in (None, 4, 20, 200)]
    assert found[0].interval == found[1].interval
    widths = [each.interval[1] - each.interval[0] for each in found[1:]]
    corrections = [each.corrected_cost - each.cost for each in found[1:]]
    assert widths == sorted(widths)
    assert widths[0] < widths[2]
    assert corrections == sorted(corrections)
    assert [each.possible for each in found] == [found[0].possible] * 4
    assert "after correction for selection among 4 models;" in found[0].sentence
    assert "after correction for selection among 20 models tried;" in found[2].sentence


def test_the_only_possible_best_of_the_decisions_shown_need_not_be_the_best_of_those_tried():
    """Of 20 models whose order is known, the one of lowest cost is shown: it is said to be the best of those shown."""
    wrong, noise, said = 0, np.linspace(0.3, 0.7, 20), []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=1000)
        y = rng.random(1000) < 1.0 / (1.0 + np.exp(1.8 - 1.2 * z))
        scores = 1.0 / (1.0 + np.exp(1.8 - (z + noise[:, None] * rng.normal(size=(20, 1000)))))
        best = min(range(20), key=lambda k: expected_regret(y, scores[k], costs=COSTS))
        found = select_best(y, {"mine": scores[best]}, costs=COSTS, n_tried=20)
        wrong += best != 0
        assert found.possible == ("mine",)
        assert "the only possible best of 3 decisions shown," in repr(found)
        said.append(found.sentences[1])
    assert wrong >= 5
    shown = "best of the decisions shown, treating everyone or no one included"
    assert set(said) == {f"mine is the only possible {shown} (95%); 20 models were tried."}
    both = {"mine": scores[best], "other": scores[best]}
    assert select_best(y, both, costs=COSTS, n_tried=20).sentences[1] == (
        f"The {shown}, is among mine and other (95%); 20 models were tried."
    )
    alone = select_best(y, both, costs=COSTS, n_tried=2)
    assert "shown" not in alone.sentences[1] + repr(alone)


def test_models_tried_and_not_shown_have_the_correlation_of_those_shown():
    """Five of fifty equal models shown: the critical value and the optimism of all fifty."""
    covariance = 0.0001 * (0.5 + 0.5 * np.eye(50))
    means = np.full(50, 0.1)
    everything = select(contest(means, covariance))
    five = select(contest(means[:5], covariance[:5, :5]), n_tried=50)
    assert five.critical_value == pytest.approx(everything.critical_value, abs=1e-12)
    assert five.corrected_cost == pytest.approx(everything.corrected_cost, abs=1e-12)


def test_few_of_many_equal_models_shown_are_held_to_the_standard_of_all():
    """Two of fifty equal models shown, and the one in use: the limit, the set and p-values of all fifty-one."""
    count, means = 51, np.full(51, 10.0)
    covariance, names = 0.5 + 0.5 * np.eye(count), tuple(f"m{k}" for k in range(count))
    means[0] = 7.4  # in standard errors of a difference 2.6 ahead
    few = [0, 1, 50]
    asked = {"incumbent": "m50", "confidence_level": 0.95}
    every = select(Contest(names, count, means, covariance, 500), **asked)
    part = Contest(tuple(names[k] for k in few), 3, means[few], covariance[np.ix_(few, few)], 500)
    alone, told = select(part, **asked), select(part, **asked, n_tried=count)
    assert alone.against["m50"].shown
    assert not told.against["m50"].shown
    assert told.against["m50"].limit == pytest.approx(every.against["m50"].limit, abs=0.03)
    assert alone.possible == ("m0",)
    assert told.possible == ("m0", "m1", "m50")
    assert len(every.possible) == count
    plain = stats.norm.sf(2.6)
    assert told.p_values["m50"] == pytest.approx(50 * plain)
    assert told.p_values["m50"] == pytest.approx(every.p_values["m50"])
    assert alone.p_values["m50"] == pytest.approx(2 * plain)
    assert told.p_best == alone.p_best


@pytest.mark.parametrize("tried", [3, 5])
def test_models_tried_and_not_shown_are_like_those_shown_in_whatever_order_these_stand(tried):
    """A cheap model and a dear one: the third is as cheap as the cheap one, so that choosing among them flatters."""
    means, covariance = np.array([1.0, 9.0]), np.diag([1.0, 0.5])
    places = [[0, 1], [1, 0]]
    asked = [
        Contest(("cheap", "dear") if k[0] == 0 else ("dear", "cheap"), 2, means[k], covariance[np.ix_(k, k)], 500)
        for k in places
    ]
    first, second = (select(each, n_tried=tried) for each in asked)
    cheap = (tried + 1) // 2  # of those tried; the others never come first
    draws = np.random.default_rng(1).standard_normal((100_000, cheap)).min(axis=1)
    for found in (first, second):
        assert found.corrected_cost == pytest.approx(1.0 - draws.mean(), abs=0.02)
    assert second.expected_regret == pytest.approx(first.expected_regret, rel=0.03)


def test_a_model_whose_cost_has_no_error_leaves_the_correction_for_models_not_shown():
    """One that acts on all at a stated prevalence, far from best, changes nothing of what is said of the others."""
    covariance = np.zeros((4, 4))
    covariance[:3, :3] = 0.5 + 0.5 * np.eye(3)
    three, four = (select(contest([7.4, 10, 10, 20][:k], covariance[:k, :k]), n_tried=k + 47) for k in (3, 4))
    assert four.critical_value == pytest.approx(three.critical_value, abs=0.02)
    assert four.corrected_cost == pytest.approx(three.corrected_cost, abs=0.02)
    assert four.expected_regret == pytest.approx(three.expected_regret, abs=0.05)


def test_expected_regret_counts_models_tried_and_not_shown():
    """Of eleven equal models the best and the one in use are shown: on average as all eleven say."""
    rng = np.random.default_rng(0)
    covariance, names, found = 0.8 + 0.2 * np.eye(11), tuple(f"m{k}" for k in range(11)), []
    for _ in range(40):
        means = 10.0 + rng.multivariate_normal(np.zeros(11), covariance)
        few = [int(means[:10].argmin()), 10]
        part = Contest(tuple(names[k] for k in few), 2, means[few], covariance[np.ix_(few, few)], 500)
        every = select(Contest(names, 11, means, covariance, 500))
        found.append([one.expected_regret for one in (every, select(part, n_tried=11), select(part))])
    every, told, alone = np.mean(found, axis=0)
    assert every < told < 1.4 * every
    assert alone < 0.4 * every


@pytest.mark.simulation
@pytest.mark.parametrize("shown", [1, 2, 10])
def test_claims_about_the_best_of_ten_hold_however_few_are_shown(shown):
    """Ten models as good as the one in use: shown cheaper in at most 2.5% of samples, p <= .05 in at most 5%."""
    rng, covariance, false = np.random.default_rng(1), 0.8 + 0.2 * np.eye(11), []
    for _ in range(250):
        means = 10.0 + rng.multivariate_normal(np.zeros(11), covariance)
        few = [*np.argsort(means[:10])[:shown].tolist(), 10]
        names = tuple(f"m{k}" for k in few)
        part = Contest(names, shown + 1, means[few], covariance[np.ix_(few, few)], 500)
        found = select(part, incumbent="m10", n_tried=11)
        picked = found.chosen != "m10"
        claims = picked and found.against["m10"].shown, "m10" not in found.possible, found.p_values["m10"] <= 0.05
        false.append(claims)
    assert np.all(np.mean(false, axis=0) <= np.array([0.025, 0.05, 0.05]) + 2.5 * np.sqrt(0.05 * 0.95 / 250))


def test_identical_models_share_the_place():
    y, models = rows()
    found = select_best(y, {"a": models["m0"], "b": models["m0"], "c": models["m3"]}, costs=COSTS)
    once = select_best(y, {"a": models["m0"], "c": models["m3"]}, costs=COSTS)
    assert found.tied == ("a", "b")
    assert found.possible == ("a", "b")
    assert found.p_best["a"] == found.p_best["b"] == pytest.approx(once.p_best["a"], abs=0.01)
    assert found.critical_value == pytest.approx(once.critical_value, abs=0.03)
    assert found.sentence.startswith("a and b share the lowest cost on these 2,000 rows")


def test_no_model_is_crowned_where_none_beats_treating_all_or_no_one():
    y, models = rows(spreads=(3.0, 4.0))
    found = select_best(y, models, costs=(0.01, 0.02))
    assert found.chosen == "treat all"
    assert found.best_model == "m0"
    assert found.sentence.startswith("No model costs less than treating everyone on these 2,000 rows")
    assert "m0 costs least" not in found.sentence
    assert "m0, the best model, " in found.sentence
    alone = select_best(y, {"m0": models["m0"]}, costs=(0.01, 0.02)).sentence
    assert "m0 0." in alone
    assert "best model" not in alone
    copies = select_best(y, {"a": np.full(len(y), 0.5)}, costs=(0.01, 0.02))
    assert copies.chosen == "treat all"
    assert copies.tied == ("a", "treat all")
    assert "a the same" in copies.sentence
    assert copies.against["treat none"].shown


def test_sentence_never_says_significantly_better_and_only_possible_best_alone():
    for seed in range(6):
        y, models = rows(n=500, seed=seed)
        found = select_best(y, models, costs=COSTS, incumbent="m2")
        assert "significant" not in found.sentence
        assert ("only possible best" in found.sentence) == (len(found.possible) == 1)
        shown = [name for name, other in found.against.items() if other.shown]
        assert ("is shown to cost less than" in found.sentence) == bool(shown)
        assert ("not shown to cost less than" in found.sentence) == (len(shown) < len(found.against))


def test_real_units_and_per_thousand():
    y, models = rows()
    plain = select_best(y, models, costs=COSTS)
    scaled = select_best(y, models, costs=COSTS, unit_cost=50.0, per=1000)
    assert scaled.cost == pytest.approx(50_000 * plain.cost)
    assert scaled.expected_regret == pytest.approx(50_000 * plain.expected_regret)
    assert scaled.interval == pytest.approx([50_000 * end for end in plain.interval])
    assert "per 1,000 decisions" in scaled.sentence


@pytest.mark.parametrize("per", [1.0, 1000.0])
def test_sentence_says_what_choosing_now_may_lose_per_thousand_decisions(per):
    found = select(contest(per * np.full(2, 0.1), per**2 * 0.0002 * np.eye(2)), per=per)
    # the lower of two equal normal costs is their spread / sqrt(pi) below their mean: sqrt(0.0002 / pi) = 0.00797885
    assert "is expected to cost 7.98 more per 1,000 decisions than the truly best decision" in found.sentence


def test_weights_are_repetitions_in_the_estimates():
    y, models = rows(n=300)
    weight = np.random.default_rng(2).integers(0, 4, 300)
    found = select_best(y, models, costs=COSTS, sample_weight=weight)
    repeated = select_best(
        np.repeat(y, weight), {name: np.repeat(p, weight) for name, p in models.items()}, costs=COSTS
    )
    assert found.costs == pytest.approx(repeated.costs, abs=1e-12)


def test_infinite_costs_are_shown_and_never_chosen():
    y, models = rows(n=200)
    broken = models["m0"].copy()
    broken[np.flatnonzero(y)[0]] = 0.0
    found = select_best(y, {"broken": broken, "m1": models["m1"]}, costs=costs.LogOddsUniform(0, 1))
    assert found.chosen == "m1"
    assert found.costs["broken"] == np.inf
    assert "broken" not in found.possible
    assert found.p_best["broken"] == 0.0
    with pytest.raises(ValueError, match="at least one decision a finite cost"):
        select_best(y, {"broken": broken}, costs=costs.LogOddsUniform(0, 1))


def test_same_answer_twice():
    y, models = rows()
    first, second = (select_best(y, models, costs=COSTS) for _ in range(2))
    assert first.interval == second.interval
    assert first.expected_regret == second.expected_regret


def test_clusters_widen():
    y, models = rows(n=400)
    twice = {name: np.tile(p, 2) for name, p in models.items()}
    clusters = np.tile(np.arange(400), 2)
    found = select_best(np.tile(y, 2), twice, costs=COSTS, clusters=clusters)
    once = select_best(y, models, costs=COSTS)
    assert found.interval == pytest.approx(once.interval, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"incumbent": "other"}, "incumbent must be one of 'm0', 'm1', 'm2', 'm3', got 'other'"),
        ({"n_tried": 3}, "n_tried must be a whole number from 4"),
        ({"n_tried": 2001}, "n_tried must be a whole number from 4, the models shown, to 2,000, got 2001"),
        ({"n_tried": 4.0}, "n_tried must be a whole number"),
        ({"rule": "optimal"}, "fitted to the same rows"),
        ({"confidence_level": 1.0}, "confidence_level"),
    ],
)
def test_refusals(options, message):
    y, models = rows(n=100)
    with pytest.raises(ValueError, match=message):
        select_best(y, models, costs=COSTS, **options)


def test_refusals_of_models():
    y, models = rows(n=100)
    with pytest.raises(ValueError, match="must map the names of models"):
        select_best(y, models["m0"], costs=COSTS)
    with pytest.raises(ValueError, match="names a reference"):
        select_best(y, {"treat all": models["m0"]}, costs=COSTS)
    with pytest.raises(ValueError, match="at least one model"):
        select_best(y, {}, costs=COSTS)


def test_rounding_in_the_variance_of_a_decision_that_has_none_changes_nothing():
    means, covariance = [0.11, 0.12, 0.13, 0.4, 0.1], np.zeros((5, 5))
    covariance[:3, :3] = 1e-6 * (np.eye(3) + 1.0)
    noise = 1e-33 * np.random.default_rng(0).normal(size=(5, 5))
    clean, noisy = (select(contest(means, covariance + part @ part.T / 1e-33, models=3)) for part in (0 * noise, noise))
    assert noisy.chosen == "m4"
    assert noisy.critical_value == pytest.approx(clean.critical_value, abs=0.02)
    assert noisy.corrected_cost == pytest.approx(clean.corrected_cost, rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_costs_without_error_have_the_critical_value_of_one_interval(level):
    """That of one error, however small, from which it does not jump where there is none."""
    none, small = (
        select(contest([0.1, 0.2], part * np.eye(2)[:1].T @ np.eye(2)[:1]), confidence_level=level)
        for part in (0.0, 1e-20)
    )
    assert none.critical_value == pytest.approx(stats.norm.isf((1.0 - level) / 2.0), rel=1e-9)
    assert small.critical_value == pytest.approx(none.critical_value, rel=1e-9)
    assert (none.intervals, none.possible) == ({"m0": (0.1, 0.1), "m1": (0.2, 0.2)}, ("m0",))


@pytest.mark.parametrize("bad", [None, 1, "a", [0.1, 0.2], {"a": 0.1}, np.zeros(3)])
def test_other_things_than_a_contest_are_refused(bad):
    with pytest.raises(ValueError, match="contest must be a Contest, got"):
        select(bad)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((("a", "b"), 2, np.array([0.1]), np.eye(2), 50), r"contest must hold one mean .* each of its 2 names"),
        ((("a", "b"), 2, np.array([0.1, 0.2]), np.eye(3), 50), r"contest must hold .* got shapes \(2,\) and \(3, 3\)"),
        ((("a", "b"), 3, np.array([0.1, 0.2]), np.eye(2), 50), "contest must hold 1 to 2 models.* got 3"),
    ],
)
def test_contest_whose_numbers_do_not_fit_together_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        select(Contest(*given))


def test_settings_of_a_selection_are_named():
    own = contest([0.1, 0.2], np.eye(2) / 1e4)
    for option, value in {"confidence_level": 2, "n_tried": 1, "incumbent": "c", "random_state": "x"}.items():
        with pytest.raises(ValueError, match=option):
            select(own, **{option: value})


@pytest.mark.parametrize("tried", [5, 200])
def test_untried_models_like_equal_ones_change_nothing(tried):
    y, p = [0, 1], [1.0, 0.1]  # equal errors, whose correlation is 1 and a rounding here
    bounds = (0.4569960616228804, 0.9948072571761711)
    options = {"costs": costs.Uniform(*bounds), "references": False}
    plain = select_best(y, {"a": p, "b": p}, **options)
    more = select_best(y, {"a": p, "b": p}, **options, n_tried=tried)
    assert more.interval == pytest.approx(plain.interval, rel=1e-6)
    assert more.corrected_cost == pytest.approx(plain.corrected_cost, rel=1e-6)
    assert evaluate(y, {"a": p, "b": p}, costs=options["costs"], n_tried=tried).best.name == "a"


def test_a_copy_at_a_harm_is_never_the_best_wherever_it_stands():
    """It costs its harm more than the model that it is a copy of on any row, seen or not."""
    y, score = np.repeat([1, 0], [5, 3]), np.linspace(0.2, 0.9, 8)
    models = {"copy": score, "model": score, "other": score[::-1]}  # which all act on every row
    for names in (list(models), list(models)[::-1], ["other", "copy", "model"]):
        found = evaluate(y, {name: models[name] for name in names}, costs=(0.02, 0.06), harm={"copy": 0.05})
        assert set(found.selection.possible) == {"model", "other", "treat all"}


@pytest.mark.parametrize(("stated", "most"), [(None, 0.775), (0.5, 0.5 * 0.225 + 0.5 * 0.775)])
def test_no_limit_lies_beyond_what_decisions_can_cost(stated, most):
    """Two positives of forty rows tell next to nothing; a mean cost lies between 0 and that of nothing but mistakes."""
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], [2, 38])
    models = {"a": rng.random(40), "b": rng.random(40), "c": 0.5 * y + 0.5 * rng.random(40)}
    options = {"costs": (0.05, 0.4), "prevalence": stated, "incumbent": "a"}
    found, alone = evaluate(y, models, **options), select_best(y, models, **options)
    for _, low, high in found.more_than_first.values():
        assert -most - 1e-12 <= low <= high <= most + 1e-12
    for selection in (found.selection, alone):
        assert all(each.limit <= most + 1e-12 for each in selection.against.values())
        assert all(-1e-12 <= low <= high <= most + 1e-12 for low, high in selection.intervals.values())
        if stated:
            assert max(high for _, high in selection.intervals.values()) == pytest.approx(most)
