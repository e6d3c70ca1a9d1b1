"""Value of information: the oracle's cells, predtools in R, a published study, and simulation of the definition."""

import numpy as np
import pytest
from scipy.special import gammaincc, gammaln
from scipy.stats import beta

from stakes import costs, evaluate, value_of_information
from stakes.information._value import _study, cell_value, pseudo_rows


def rows_of(tp, fp, fn, tn, t):
    return [1] * tp + [0] * fp + [1] * fn + [0] * tn, [t + 0.01] * (tp + fp) + [t / 2] * (fn + tn)


def test_cells_of_the_oracle(actions_reference):
    for case in actions_reference["voi"]["cells"]:
        t, cells = case["t"], [case[key] for key in ("tp", "fp", "fn", "tn")]
        for prior, stated in case["dirichlet"].items():
            up, down = pseudo_rows(prior, t)
            found = cell_value(tuple(np.add(cells, [up, down, up, down])), t)
            assert found.evpi == pytest.approx(stated["evpi"], abs=1e-12)
            useful = stated["p_model_beats_all"] * stated["p_model_beats_none"]
            assert found.p_model == pytest.approx(useful, abs=1e-12)


@pytest.mark.parametrize(("cells", "t"), [((100, 900, 100, 900), 0.1), ((49, 50, 49, 49), 0.5)])
def test_cells_of_many_rows_by_simulation_of_gamma_variables(cells, t):
    rng, odds = np.random.default_rng(0), t / (1 - t)
    tp, fp, fn, tn = (rng.gamma(count, size=1_000_000) for count in cells)
    model, everyone = tp - odds * fp, fn - odds * tn  # what acting on the model, and on the others too, gains
    gain = np.maximum(0, np.maximum(model, model + everyone))
    now = max(0.0, cells[0] - odds * cells[1], cells[0] - odds * cells[1] + cells[2] - odds * cells[3])
    found, n = cell_value(tuple(map(float, cells)), t), sum(cells)
    assert found.evpi == pytest.approx((gain.mean() - now) / n, abs=4.5 * gain.std() / 1000 / n)
    assert found.p_model == pytest.approx(np.mean((model > 0) & (everyone < 0)), abs=0.0025)
    assert found.p_all == pytest.approx(np.mean((everyone > 0) & (model + everyone > 0)), abs=0.0025)


@pytest.mark.parametrize(
    ("cells", "t"),
    [
        ((30_000.5, 70_200.5, 70_100.5, 29_900.5), 0.5),
        ((10_000.3, 60_000.7, 37_000.3, 50_000.7), 0.3),
        ((9, 9e5, 1e6, 8), 0.5),
    ],
)
def test_a_reversed_model_of_many_rows_leaves_the_choice_to_the_event_rate(cells, t):
    tp, fp, fn, tn = cells
    a, b = tp + fn, fp + tn  # the model is never best, so that the gain of treating all has one Beta posterior
    exact, mean = beta.sf(t, a, b), a / (a + b)
    evpi = (mean * beta.sf(t, a + 1, b) - t * exact - max(mean - t, 0.0)) / (1 - t)
    found = cell_value(tuple(map(float, cells)), t)
    assert (found.p_all, found.p_none) == pytest.approx((exact, 1 - exact), abs=1e-7)
    assert found.evpi == pytest.approx(evpi, abs=1e-9)


def test_gusto_as_published():
    """Acceptance 9. Sadatsafavi et al. 2023, 500 rows: difference .0020, EVPI .0005; three priors of the oracle."""
    y, p = rows_of(41, 310, 2, 147, 0.02)
    stated = {"haldane": 0.0005069791, "indifference": 0.0005092148, "uniform": 0.0013300619}
    for prior, evpi in stated.items():
        found = value_of_information(y, p, threshold=0.02, prior=prior)
        assert found.evpi == pytest.approx(evpi, abs=5e-11)
        assert found.chosen == "model"
        assert found.deciding_rows == 2
    assert value_of_information(y, p, threshold=0.02, prior="haldane").p_useful["model"] == pytest.approx(
        0.7978241170, abs=1e-9
    )


def test_normal_form_of_predtools(actions_reference):
    """R package predtools 0.0.3, evpi_val(method = "asymptotic"), and the oracle's value of further rows."""
    from stakes.inference import largest_of

    for case in actions_reference["voi"]["cells"]:
        mean, covariance = np.zeros(3), np.zeros((3, 3))
        mean[1:], covariance[1:, 1:] = case["mean"], case["cov"]
        assert largest_of(mean, covariance).excess == pytest.approx(case["normal"], rel=1e-9, abs=1e-15)
        n = sum(case[key] for key in ("tp", "fp", "fn", "tn"))
        for extra, stated in case["evsi_normal"]:
            found = largest_of(mean, covariance * extra / (n + extra)).excess
            assert found == pytest.approx(stated, rel=1e-8, abs=1e-13)
    for tp, fp, fn, tn, t, _, _, evpi, sd_model, sd_all, _ in actions_reference["voi"]["predtools"]:
        n, odds = tp + fp + fn + tn, t / (1 - t)
        gains = np.array([[0, 1, 1], [0, -odds, -odds], [0, 0, 1], [0, 0, -odds]])
        shares = np.array([tp, fp, fn, tn]) / n
        mean = shares @ gains
        covariance = ((gains.T * shares) @ gains - np.outer(mean, mean)) / n
        assert np.sqrt(np.diag(covariance)[1:]) == pytest.approx([sd_model, sd_all], rel=1e-11)
        assert largest_of(mean, covariance).excess == pytest.approx(evpi, rel=1e-11, abs=2e-17)


def test_probabilities_by_simulation_of_the_posterior():
    cells, t = (6.0, 30.0, 3.0, 25.0), 0.12
    draws = np.random.default_rng(0).dirichlet(cells, 400_000)
    odds = t / (1 - t)
    model, rest = draws[:, 0] - odds * draws[:, 1], draws[:, 2] - odds * draws[:, 3]
    values = np.stack([model, model + rest, np.zeros(len(model))], axis=1)
    found = cell_value(cells, t)
    shares = np.bincount(values.argmax(axis=1), minlength=3) / len(values)
    assert [found.p_model, found.p_all, found.p_none] == pytest.approx(shares, abs=0.004)
    now = values.mean(axis=0).argmax()
    lost = values.max(axis=1) - values[:, now]
    assert found.evpi == pytest.approx(lost.mean(), abs=5 * lost.std() / len(lost) ** 0.5)


def test_two_copies_of_a_model_by_joint_cells():
    y, p = rows_of(41, 310, 2, 147, 0.02)
    found = value_of_information(y, {"a": p, "b": p}, threshold=0.02)
    assert found.evpi == pytest.approx(0.0005092148, rel=0.05)
    assert found.p_useful["a"] == found.p_useful["b"] == pytest.approx(0.797, abs=0.02)


@pytest.mark.parametrize(("n", "method"), [(60, "draws of the Bayesian bootstrap"), (5000, "normal")])
def test_range_of_costs(n, method):
    rng = np.random.default_rng(4)
    q = rng.beta(1, 4, n)
    y = rng.random(n) < q
    models = {"a": q, "b": np.clip(q + rng.normal(0, 0.05, n), 0, 1)}
    found = value_of_information(y, models, costs=(0.1, 0.3))
    assert method in found.method
    assert (found.deciding_rows < 40) == (method != "normal")
    assert sum(found.p_best.values()) == pytest.approx(1.0, abs=1e-9)
    assert 0.0 <= found.evsi[100] <= found.evsi[1000]
    # the definition, with draws of its own
    losses = np.stack([costs.Uniform(0.1, 0.3).row_loss(y, score) for score in models.values()], axis=1) / 0.2
    losses = np.column_stack([losses, np.where(y, 0, 0.2), np.where(y, 0.8, 0)])
    weight = rng.dirichlet(np.ones(n), 4000)
    drawn = weight @ losses
    lost = drawn[:, losses.mean(axis=0).argmin()] - drawn.min(axis=1)
    assert found.evpi == pytest.approx(lost.mean(), abs=5 * lost.std() / 4000**0.5 + 1e-7, rel=0.15)


def test_value_over_years():
    y, p = rows_of(41, 310, 2, 147, 0.02)
    found = value_of_information(y, p, threshold=0.02, decisions=[100, 100], discount=0.25)
    assert found.n_decisions == 180.0
    assert found.total == pytest.approx(180 * found.evpi)


def test_further_rows_as_by_the_sum_over_their_outcomes(actions_reference):
    """Model against treating all where all rows are not acted on: the oracle's beta-binomial sum."""
    from stakes.information._value import JointCells, priced, saved_by_cells

    for up, down, t, more, evsi, _ in actions_reference["voi"]["beta_binomial"]:
        cells = JointCells(np.zeros((1, 1)), np.array([float(up)]), np.array([float(down)]), np.ones((2, 1)))
        saved, _ = saved_by_cells(priced(cells, t), [more], np.random.default_rng(0))
        assert saved[0] / (1 - t) == pytest.approx(evsi, rel=0.06, abs=1e-7)


def test_very_many_rows_are_worth_what_perfect_information_is():
    y, p = rows_of(41, 310, 2, 147, 0.02)
    found = value_of_information(y, p, threshold=0.02, more_rows=(10_000_000,))
    assert found.evsi[10_000_000] == pytest.approx(found.evpi, rel=0.05)


def test_units_and_net_gain_of_a_study():
    """Sadatsafavi et al. 2023: .0005 a decision are 400 true or 19,600 false positives in 800,000 decisions."""
    y, p = rows_of(41, 310, 2, 147, 0.02)
    found = value_of_information(y, p, threshold=0.02, decisions=800_000, more_rows=(500, 5000))
    assert found.total == pytest.approx(400, rel=0.02)
    assert found.total_in_false_positives == pytest.approx(19_600, rel=0.02)
    gain = found.net_gain(0.05, fixed_cost=10)
    assert gain == {m: pytest.approx(800_000 * found.evsi[m] - 10 - 0.05 * m) for m in (500, 5000)}
    with pytest.raises(ValueError, match="net_gain needs to know how many decisions"):
        value_of_information(y, p, threshold=0.02).net_gain(1)
    with pytest.raises(ValueError, match="row_cost must be a finite number >= 0, got -1"):
        found.net_gain(-1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of costs and threshold"),
        ({"costs": 0.2, "threshold": 0.2}, "exactly one of costs and threshold"),
        ({"threshold": 0.2, "prior": "flat"}, "prior must be one of"),
        ({"threshold": 0.2, "more_rows": [0]}, "more_rows must hold whole numbers"),
        ({"threshold": 0.2, "discount": 0.1}, "discount needs decisions by year"),
        ({"threshold": 0.2, "discount": 0.1, "decisions": 100}, "discount needs decisions by year"),
        (
            {"threshold": 0.2, "discount": 3.5, "decisions": [1, 1]},
            r"discount must lie in \[0, 1\), got 3.5; 3.5% is 0.035",
        ),
        ({"threshold": 0.2, "discount": -0.1, "decisions": [1, 1]}, r"discount must lie in \[0, 1\), got -0.1"),
        ({"threshold": 0.2, "decisions": [1, -1]}, "decisions must be a finite number >= 0, got -1"),
        ({"threshold": 0.2, "decisions": []}, r"decisions must hold at least one year, got \[\]"),
        ({"threshold": 0.2, "fixed_cost": 5}, "net_gain needs to know how many decisions"),
        ({"threshold": 0.0}, "threshold must lie in"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        value_of_information([0, 1], [0.2, 0.7], **options)


def test_a_model_that_has_the_name_of_a_reference_is_refused():
    with pytest.raises(ValueError, match="y_prob must not call a model 'treat all': that names a reference"):
        value_of_information([0, 1] * 20, {"a": [0.2, 0.7] * 20, "treat all": [0.3, 0.6] * 20}, threshold=0.3)


def by_all_outcomes(cells, t, more):
    """The exact value of ``more`` rows in net benefit: the sum over all counts they may show, of beta-binomials."""
    from scipy.stats import betabinom

    tp, fp, fn, tn = cells
    odds, total, expected = t / (1 - t), sum(cells), 0.0
    for acted in range(more + 1):
        i, j = np.arange(acted + 1), np.arange(more - acted + 1)
        model = tp + i - odds * (fp + acted - i)
        rest = fn + j - odds * (tn + more - acted - j)
        best = np.maximum(np.maximum(model[:, None], model[:, None] + rest), 0.0) / (total + more)
        chance = betabinom.pmf(i, acted, tp, fp)[:, None] * betabinom.pmf(j, more - acted, fn, tn)
        expected += betabinom.pmf(acted, more, tp + fp, fn + tn) * (chance * best).sum()
    now = max(0.0, tp - odds * fp, tp - odds * fp + fn - odds * tn) / total
    return expected - now


@pytest.mark.parametrize("cells", [(5, 5, 0, 0), (0, 0, 2, 8), (3, 9, 1, 7), (2, 0, 1, 12)])
def test_further_rows_follow_the_prior_of_perfect_information(cells):
    """A model that acts on all rows, or on none, has a prior row among those that it treats the other way too."""
    t = 0.1
    found = value_of_information(*rows_of(*cells, t), threshold=t, more_rows=(10, 40, 120))
    for more, worth in found.evsi.items():
        exact = by_all_outcomes(np.add(cells, [t, 1 - t, t, 1 - t]), t, more)
        assert worth == pytest.approx(exact, rel=0.15, abs=2e-5)


def test_very_many_rows_reach_perfect_information_where_a_model_acts_on_all_rows():
    found = value_of_information([1] * 5 + [0] * 5, [0.3] * 10, threshold=0.1, more_rows=(100, 10_000_000))
    assert found.evpi == pytest.approx(0.0066, abs=5e-5)
    assert found.evsi[10_000_000] == pytest.approx(found.evpi, rel=1e-3)
    assert "less than 0.5%" not in " ".join(found.conclusion)


def designs():
    """Random rows under one to three models, among them models that act on all rows or on none, and rare classes."""
    rng = np.random.default_rng(29)
    for case in range(36):
        n, count = int(rng.integers(2, 120)), case % 3 + 1
        y = rng.random(n) < rng.choice([0.03, 0.2, 0.6])
        y[:2] = 0, 1
        scores = [rng.choice([rng.random(n) ** 2, np.full(n, 0.9), np.full(n, 0.001)]) for _ in range(count)]
        models = {str(k): np.clip(score + 0.2 * y * rng.random(), 0, 1) for k, score in enumerate(scores)}
        where = {"threshold": 0.15} if case % 2 else {"costs": (0.05, 0.3)}
        yield y.astype(int), models, {**where, "prior": ["indifference", "haldane", "uniform"][case // 2 % 3]}


def test_further_rows_save_more_the_more_they_are_up_to_perfect_information():
    sizes = (1, 3, 10, 100, 1000, 10_000, 1_000_000, 10**12)
    reached = 0
    for y, models, options in designs():
        found = value_of_information(y, models, more_rows=sizes, **options)
        saved = [found.evsi[m] for m in sizes]
        assert saved[0] >= 0.0
        assert saved == sorted(saved), (options, saved)
        assert saved[-1] <= found.evpi, (options, saved, found.evpi)
        if found.evpi > 1e-6:
            assert saved[-1] == pytest.approx(found.evpi, rel=1e-3), (options, saved, found.evpi)
            reached += 1
    assert reached > 20


def test_two_copies_of_a_model_that_acts_on_all_rows_are_worth_what_one_is():
    y, p = [1] * 5 + [0] * 5, [0.3] * 10
    one = value_of_information(y, p, threshold=0.1)
    two = value_of_information(y, {"a": p, "b": p}, threshold=0.1)
    assert two.evpi == pytest.approx(one.evpi, rel=0.05)
    assert two.evsi[1000] == pytest.approx(one.evsi[1000], rel=0.05)


def test_the_price_of_any_study_counts_alone_too():
    y, p = rows_of(41, 310, 2, 147, 0.02)
    study = {"threshold": 0.02, "decisions": 1000, "unit_cost": 500, "fixed_cost": 5000}
    alone, free = (value_of_information(y, p, **study, **more) for more in ({}, {"row_cost": 0}))
    assert alone.record() == free.record()
    assert [row["net_gain"] for row in alone.study_records()] == [1000 * alone.evsi[m] - 5000 for m in (100, 1000)]
    assert alone.conclusion[-1] == "No study of these sizes is worth its price."
    result = evaluate(y, p, costs=0.02, unit_cost=500).with_information(decisions=1000, fixed_cost=5000)
    assert result.information.study_records()[1]["net_gain"] < -4000


def test_a_study_that_gains_nothing_is_not_worth_its_price():
    assert _study({100: 0.0, 1000: -2.0}) == "No study of these sizes is worth its price."
    assert _study({100: 0.5, 1000: -2.0}) == "Of these studies that of 100 rows gains most: 0.500 after its price."


def test_no_study_is_spoken_of_where_none_is_asked_about():
    y, p = rows_of(41, 310, 2, 147, 0.02)
    found = value_of_information(y, p, threshold=0.02, more_rows=[], decisions=1000, row_cost=1)
    assert len(found.conclusion) == 1
    assert found.study_records() == []


def few_missed(n, centre, seed):
    """Rows whose scores are the true risks, of which few are events."""
    rng = np.random.default_rng(seed)
    risk = 1 / (1 + np.exp(-rng.normal(centre, 1, n)))
    return (rng.random(n) < risk).astype(int), risk


def mean_costs(y, scores, low, high):
    """Mean over cost ratios c of c FP + (1 - c) FN under each score: integrals of c, and of 1 - c, by hand."""
    falsely = [(np.clip(q, low, high) ** 2 - low**2) / 2 for q in scores]
    missed = [((1 - np.clip(q, low, high)) ** 2 - (1 - high) ** 2) / 2 for q in scores]
    return np.where(y == 0, falsely, missed).T / (high - low)


@pytest.mark.parametrize(("design", "bounds"), [((1000, -5, 106), (0.005, 0.05)), ((600, -3.5, 3), (0.02, 0.15))])
@pytest.mark.parametrize("models", [1, 2])
def test_further_rows_over_a_range_as_drawn_from_the_bayesian_bootstrap_of_few_deciding_rows(design, bounds, models):
    """By the definition: rows drawn from each draw of the posterior, and the choice made again with them."""
    y, risk = few_missed(*design)
    n = len(y)
    other = np.clip(risk * np.exp(0.4 * np.random.default_rng(9).normal(size=n)), 0, 1)
    scores = {"risk": risk, "other": other} if models == 2 else {"risk": risk}
    each = mean_costs(y, [*scores.values(), risk + 1, 0 * risk], *bounds)
    now, rng, lost, saved = each.mean(axis=0), np.random.default_rng(1), [], []
    for weight in rng.dirichlet(np.ones(n), 4000):
        true, later = weight @ each, n * now + rng.multinomial(n, weight) @ each
        lost.append(true[now.argmin()] - true.min())
        saved.append((later[now.argmin()] - later.min()) / (2 * n))
    found = value_of_information(y, scores, costs=bounds, more_rows=[n])
    assert found.deciding_rows < 40
    assert "bootstrap" in found.method
    assert found.evpi == pytest.approx(np.mean(lost), abs=4.5 * np.std(lost) / 4000**0.5)
    assert found.evsi[n] == pytest.approx(np.mean(saved), abs=4.5 * np.std(saved) / 4000**0.5 + 0.002 * found.evpi)


def test_few_deciding_rows_in_another_order_are_worth_the_same():
    y, risk = few_missed(1000, -5, 106)
    order = np.random.default_rng(0).permutation(1000)
    one, two = (value_of_information(y[r], risk[r], costs=(0.005, 0.05)) for r in (slice(None), order))
    assert (one.evpi, one.evsi, one.p_best) == (two.evpi, two.evsi, two.p_best)
    assert 0.0 <= one.evsi[100] < one.evsi[1000] < 0.1 * one.evpi


def test_one_cost_ratio_is_valued_as_the_threshold_that_it_is():
    y, risk = few_missed(1000, -5, 106)
    at = value_of_information(y, risk, threshold=0.0275, unit_cost=1)
    assert value_of_information(y, risk, costs=0.0275).record() == at.record()
    assert evaluate(y, risk, costs=0.0275).with_information().information.record() == at.record()


@pytest.mark.parametrize(("c", "best"), [(0.0, "treat all"), (1.0, "treat none")])
@pytest.mark.parametrize("count", [1, 2])
def test_where_one_kind_of_mistake_costs_nothing_there_is_nothing_to_learn(c, best, count):
    """All are treated, or none, whatever the rows say, and no model is better than that."""
    rng = np.random.default_rng(4)
    models = {f"m{k}": rng.random(60) for k in range(count)}
    y = rng.random(60) < models["m0"]
    for found in (
        value_of_information(y, models, costs=costs.Fixed(c), more_rows=(100,)),
        evaluate(y, models, costs=costs.Fixed(c)).with_information(more_rows=(100,)).information,
    ):
        assert (found.evpi, found.evsi) == (0.0, {100: 0.0})
        assert found.p_best[best] == 1.0
        assert found.p_useful == dict.fromkeys(models, 0.0)


def alike():
    """Three models of which the second decides as the first does at 0.1, and over the range too where it is a copy."""
    rng = np.random.default_rng(0)
    z = rng.normal(-2.2, 1, 3000)
    y = (rng.random(3000) < 1 / (1 + np.exp(-z))).astype(int)
    a, b = (1 / (1 + np.exp(-(z + rng.normal(0, 0.3, 3000)))) for _ in range(2))
    few = np.arange(3000) < 300
    at = {"threshold": 0.1}
    yield y, {"a": a, "alike": np.where(a >= 0.1, 0.5, 0.01), "b": b}, at, 0.003
    yield y, {"a": a, "alike": np.where(a >= 0.1, 0.5, 0.01)}, at, 0.003
    yield y[few], {"a": a[few], "alike": a[few].copy(), "b": b[few]}, {"costs": (0.05, 0.2)}, 0.03
    yield y, {"a": a, "alike": a.copy(), "b": b}, {"costs": (0.05, 0.2)}, 0.01


@pytest.mark.parametrize("case", range(4))
def test_of_models_that_decide_alike_each_is_as_likely_the_best_as_it_is_alone(case):
    y, models, where, error = list(alike())[case]
    names = [name for name in models if name != "alike"]
    alone = value_of_information(y, {name: models[name] for name in names}, **where)
    for order in (list(models), list(models)[::-1]):
        found = value_of_information(y, {name: models[name] for name in order}, **where)
        assert found.p_best["alike"] == found.p_best["a"]
        for name, p in alone.p_best.items():
            assert found.p_best[name] == pytest.approx(p, abs=error)


def test_a_model_that_acts_on_every_row_is_best_as_often_as_treating_all():
    rng = np.random.default_rng(4)
    p = rng.random(60)
    y = rng.random(60) < 0.3 + 0.1 * p
    models = {"everyone": np.full(60, 0.9), "p": p}
    for where in ({"costs": (0.2, 0.4)}, {"threshold": 0.3, "prior": "haldane"}):
        found = value_of_information(y, models, **where)
        assert found.p_best["everyone"] == found.p_best["treat all"] > 0.0


def test_years_count_in_full_without_a_discount():
    y, p = rows_of(41, 310, 2, 147, 0.02)
    assert value_of_information(y, p, threshold=0.02, decisions=[100, 100]).n_decisions == 200.0


def thinned(n=3000):
    """A sample whose negatives were kept one in ten, with weight 10, and scores of two models."""
    rng = np.random.default_rng(1)
    score = rng.beta(1, 4, n)
    y = rng.random(n) < score
    kept = rng.random(n) < np.where(y, 1.0, 0.1)
    y, score = y[kept], score[kept]
    other = np.clip(score + 0.02 * rng.standard_normal(len(y)), 0, 1)
    return y.astype(int), {"a": score, "b": other}, np.where(y, 1.0, 10.0)


def drawn_again(y, models, weight, thresholds):
    """Costs under each decision, and in 20,000 draws of the Bayesian bootstrap of weighted rows, and the draws."""
    t = np.asarray(thresholds)
    columns = [np.where(y, (p[:, None] < t) @ (1 - t), (p[:, None] >= t) @ t) / len(t) for p in models.values()]
    costs = np.stack([*columns, (y == 0) * t.mean(), (y == 1) * (1 - t).mean()], axis=1)
    each = np.random.default_rng(0).exponential(size=(20_000, len(y)))
    return costs, (weight * each) @ costs / (each @ weight)[:, None], each


@pytest.mark.parametrize(
    ("few", "at", "thresholds"),
    [
        (False, {"threshold": 0.2}, [0.2]),
        (False, {"costs": (0.18, 0.22)}, np.linspace(0.18, 0.22, 101)),
        (True, {"threshold": 0.3}, [0.3]),  # one model
    ],
)
def test_posterior_of_weighted_rows_is_that_of_rows_drawn_again(few, at, thresholds):
    y, models, weight = thinned()
    if few:
        y, p = map(np.array, rows_of(14, 9, 6, 4, 0.3))
        models, weight = {"a": p}, np.where(y, 1.0, 3.0)
    costs, drawn, _ = drawn_again(y, models, weight, thresholds)
    lost = drawn[:, (weight @ costs).argmin()] - drawn.min(axis=1)
    found = value_of_information(y, models, sample_weight=weight, prior="haldane", unit_cost=1, **at)
    assert found.method.startswith("20,000 draws")
    assert found.evpi == pytest.approx(lost.mean(), rel=0.08)
    shares = np.bincount(drawn.argmin(axis=1), minlength=drawn.shape[1]) / len(drawn)
    assert list(found.p_best.values()) == pytest.approx(shares.tolist(), abs=0.02)


def test_further_rows_of_a_weighted_sample_are_drawn_as_its_rows_were():
    y, models, weight = thinned()
    costs, drawn, each = drawn_again(y, models, weight, [0.2])
    now, rng, saved = (weight @ costs).argmin(), np.random.default_rng(1), []
    more = round(1000 * len(y) / (weight.sum() ** 2 / np.sum(weight**2)))  # behind 1,000 effective rows
    for truth, chance in zip(drawn[:5000], each, strict=False):
        later = weight * (1 + rng.multinomial(more, chance / chance.sum()))
        saved.append(truth[now] - truth[(later @ costs).argmin()])
    asked = {"threshold": 0.2, "prior": "haldane", "unit_cost": 1, "more_rows": (1000,)}
    found = value_of_information(y, models, sample_weight=weight, **asked)
    assert found.evsi[1000] == pytest.approx(np.mean(saved), abs=3.5 * np.std(saved) / 5000**0.5)


def test_rows_of_hardly_any_weight_are_as_if_absent_to_what_further_rows_save():
    rng = np.random.default_rng(2)
    y = rng.random(3000) < 0.3
    p = np.clip(0.3 + 0.12 * rng.standard_normal(3000) + 0.1 * (y - 0.3), 0.01, 0.99)
    q = np.clip(p + 0.12 * (y - 0.3) * rng.random(3000) + 0.25 * rng.standard_normal(3000), 0.01, 0.99)
    some = np.arange(3000) < 300
    for at in ({"costs": (0.2, 0.4)}, {"threshold": 0.3}):
        light = value_of_information(
            y, {"p": p, "q": q}, sample_weight=np.where(some, 1.0, 1e-9), more_rows=(300,), **at
        )
        absent = value_of_information(y[some], {"p": p[some], "q": q[some]}, more_rows=(300,), **at)
        assert light.evsi[300] == pytest.approx(absent.evsi[300], rel=0.02)


def test_the_decision_named_is_the_one_whose_loss_is_said():
    """With a prior that outweighs the rows, by draws of the posterior of the cells."""
    t = 0.0185
    y, p = rows_of(20, 60, 2, 148, t)
    found = value_of_information(y, p, threshold=t, prior="uniform", per=1000)
    rng = np.random.default_rng(0)
    tp, fp, fn, tn = rng.dirichlet(np.array([20, 60, 2, 148]) + np.array(uniform_rows(t)), size=400_000).T
    odds = t / (1.0 - t)
    benefit = {"model": tp - odds * fp, "treat all": tp + fn - odds * (fp + tn), "treat none": 0.0 * tp}
    best = np.maximum(np.maximum(benefit["model"], benefit["treat all"]), 0.0)
    lost = {name: 1000.0 * float((best - each).mean()) for name, each in benefit.items()}
    assert found.chosen == min(lost, key=lost.__getitem__) == "treat all"
    assert found.evpi == pytest.approx(lost["treat all"], rel=0.02)
    assert f"EVPI {found.evpi:.4g} net benefit per 1,000 decisions" in repr(found)


def uniform_rows(t):
    up, down = pseudo_rows("uniform", t)
    return up, down, up, down


def test_a_model_that_acts_on_every_row_is_never_better_than_treating_all():
    rng = np.random.default_rng(4)
    p = rng.random(60)
    y = rng.random(60) < p
    found = value_of_information(y, {"everyone": np.full(60, 0.9), "p": p}, costs=(0.2, 0.4))
    assert found.p_useful["everyone"] == 0.0
    assert 0.0 < found.p_useful["p"] <= 1.0


def gamma_points(shape):
    """Points and weights of a gamma variable: the trapezoid rule on an even grid of the logarithm."""
    logs = np.linspace(np.log(1e-14), np.log(shape + 60 + 14 * shape**0.5), 1500)
    return np.exp(logs), (logs[1] - logs[0]) * np.exp(shape * logs - np.exp(logs) - gammaln(shape))


@pytest.mark.parametrize(
    ("rows", "t"),
    [
        ((1, 3, 1, 1), 0.001),
        ((1, 5, 1, 10), 0.001),
        ((1, 3, 1, 1), 0.005),
        ((5, 20, 3, 40), 0.01),
        ((5, 2, 8, 3), 0.99),
        ((10, 1, 3, 1), 0.999),
        ((30, 60, 10, 300), 0.02),
    ],
)
def test_value_at_low_and_high_thresholds_is_that_of_a_fine_logarithmic_grid(rows, t):
    tp, fp, fn, tn = cells = tuple(np.add(rows, [t, 1 - t, t, 1 - t]).tolist())
    odds = t / (1 - t)
    top = min(fn + 60 + 14 * fn**0.5, odds * (fp + 60 + 14 * fp**0.5))
    logs = np.linspace(np.log(top * 1e-8), np.log(top), 400)
    (by_tn, of_tn), (by_tp, of_tp) = gamma_points(tn), gamma_points(tp)
    both = [
        (gammaincc(fn, z + odds * by_tn) @ of_tn) * (gammaincc(fp, (z + by_tp) / odds) @ of_tp) * z
        for z in np.exp(logs)
    ]
    overlap = sum(both) * (logs[1] - logs[0])

    def gained(a, b):  # E(A - odds B)+ for gamma variables, by the beta law of the share A / (A + B)
        return a * beta.sf(t, a + 1, b) - odds * b * beta.sf(t, a, b + 1)

    model, everyone = tp - odds * fp, fn - odds * tn
    # max(0, M, M + R) = M + R+ + M- less what both, -M and R, gain where both are positive
    best = model + gained(fn, tn) + gained(tp, fp) - model - overlap
    assert cell_value(cells, t).evpi * sum(cells) == pytest.approx(best - max(0.0, model, model + everyone), rel=2e-4)


@pytest.mark.parametrize("how", [{"costs": (0.1, 0.2)}, {"threshold": 0.15}], ids=["range", "threshold"])
def test_a_model_given_twice_changes_nothing(how):
    """The two leading decisions are then one: rows that decide are those beside the next that is another one."""
    rng = np.random.default_rng(1)
    y = rng.random(1000) < 0.2
    odds = np.where(y, -1.2, -1.6) + 0.5 * rng.normal(size=1000)
    a, b = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-odds - 0.5 * rng.normal(size=1000)))
    once = value_of_information(y, {"a": a, "b": b}, **how)
    twice = value_of_information(y, {"a": a, "again": a, "b": b}, **how)
    assert (twice.deciding_rows, twice.method) == (once.deciding_rows, once.method)
    assert once.deciding_rows > 0
    assert twice.evpi == pytest.approx(once.evpi, rel=0.25)  # other draws
    assert twice.p_best["a"] == twice.p_best["again"]
    assert twice.p_best["a"] == pytest.approx(once.p_best["a"], abs=0.01)


@pytest.mark.parametrize("rows", [50, 1000])
def test_a_model_that_treats_all_is_never_better_than_treating_all(rows):
    """By the normal form of many rows as by the draws of few."""
    y = np.arange(rows) % 10 < 3
    ranks = np.where(y ^ (np.arange(rows) % 7 == 0), 0.5, 0.05)
    found = value_of_information(y, {"all": np.ones(rows), "ranks": ranks}, costs=(0.1, 0.2))
    assert (found.method == "normal") == (rows == 1000)
    assert found.p_best["all"] == found.p_best["treat all"]
    assert found.p_useful["all"] == 0.0
    assert 0.1 < found.p_useful["ranks"] < 1.0


def test_models_that_decide_alike_have_the_exact_value_of_one_of_them():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y, alike = rng.random(200) < p, np.where(p >= 0.2, 0.9, 0.1)
    alone = value_of_information(y, p, threshold=0.2)
    both = value_of_information(y, {"p": p, "alike": alike}, threshold=0.2)
    assert both.method == alone.method == "exact, indifference prior"
    assert both.evpi == alone.evpi
    assert both.p_best["p"] == both.p_best["alike"] == alone.p_best["model"]
    assert both.p_useful["alike"] == alone.p_useful["model"]
