"""Many actions: cases, segments and dominance of `reference/actions_oracle.py`, and what the mathematics promises."""

import numpy as np
import pytest
from scipy.stats import binom, multinomial, t as student

from stakes import costs, expected_regret
from stakes.actions import decision_calibration_test, evaluate_actions
from stakes.correction import shift_prior
from stakes.metrics import cost_matrix_loss, multilabel_loss, ordinal_loss
from stakes.metrics._multiclass import check_problem, walk

THREE = [[0, 1, 2], [1, 0, 1], [5, 2, 0]]


def simulated(n, k, seed):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(k), n)
    return (rng.random((n, 1)) > prob.cumsum(axis=1)).sum(axis=1), prob


def names(matrix):
    return [f"do {a}" for a in range(len(matrix[0]))]


def test_cases_of_the_oracle(actions_reference):
    """Acceptance 7."""
    pytest.importorskip("pandas")
    for case in actions_reference["actions"]["cases"]:
        found = evaluate_actions(
            case["y"],
            case["prob"],
            matrices=case["C"],
            actions=names(case["C"]),
            labels=range(len(case["C"])),
            sample_weight=case["w"],
        )
        stated = [case[key] for key in ("cost", "oracle", "regret")]
        assert (found.cost, found.oracle, found.regret) == pytest.approx(stated, abs=1e-12)
        model = found["model"]
        assert model.best_constant == pytest.approx(case["best_constant_cost"], abs=1e-12)
        if case["skill"] is not None:
            assert found.skill == pytest.approx(case["skill"], abs=1e-12)
        assert model.confusion == pytest.approx(np.array(case["confusion"]), abs=1e-12)
        assert model.class_costs[:2] == pytest.approx([row[2] for row in case["by_class"]][:2], abs=1e-12)
        by_action = found.by_action(backend="pandas").set_index("action")
        for a, share, _, incurred, _ in case["by_action"]:
            assert by_action.loc[f"do {a}"].tolist() == pytest.approx([share, incurred], abs=1e-12)
        assert found.by_class(backend="pandas")["oracle"].tolist() == np.min(case["C"], axis=1).tolist()


def test_decision_calibration_of_the_oracle(actions_reference):
    """Acceptance 8."""
    for case in actions_reference["actions"]["cases"]:
        found = decision_calibration_test(
            case["y"], case["prob"], matrices=case["C"], actions=names(case["C"]), sample_weight=case["w"]
        )
        assert (found.announced, found.gap.value) == pytest.approx((case["announced"], case["gap"]), abs=1e-12)
        n = len(case["y"])
        assert found.gap.standard_error == pytest.approx(case["gap_se"] * (n / (n - 1)) ** 0.5, rel=1e-9)
        z = np.nan if case["z_under_model"] is None else case["z_under_model"]  # none where the model is certain
        assert found.z == pytest.approx(z, abs=1e-12, nan_ok=True)
        rows = [[row[key] for key in ("share", "announced", "incurred", "gap")] for row in found.by_action]
        assert np.array(rows) == pytest.approx(np.array([row[1:] for row in case["by_action"]]), abs=1e-12)


def test_size_of_the_decision_calibration_test():
    """Acceptance 8: nominal 5% at 300 rows, where the sample's own variance gives 8%."""
    rng = np.random.default_rng(20261122)
    rejected = 0
    for _ in range(2000):
        prob = rng.dirichlet(np.ones(3), 300)
        y = (rng.random((300, 1)) > prob.cumsum(axis=1)).sum(axis=1)
        problem = check_problem(THREE, range(3))
        costed = problem.class_costs(prob)
        announced = (prob * costed).sum(axis=1)
        gap = costed[np.arange(300), y] - announced
        z = gap.sum() / np.sqrt((prob * (costed - announced[:, None]) ** 2).sum())
        rejected += abs(z) > 1.959964
    assert 0.03 <= rejected / 2000 <= 0.07
    assert decision_calibration_test(y, prob, matrices=THREE).z == pytest.approx(z, abs=1e-12)


def test_p_value_where_one_row_weighs_as_much_as_fifty_of_a_thousand_others_is_that_of_drawn_labels():
    rng = np.random.default_rng(0)
    weight, y = np.append(50.0, np.ones(1000)), np.append(True, rng.random(1000) < 0.42)
    prob = np.tile([0.6, 0.4], (1001, 1))
    found = decision_calibration_test(y, prob, matrices=[[0, 1], [1, 0]], sample_weight=weight)
    drawn = np.abs((rng.random((10_000, 1001)) < 0.4) @ weight - 0.4 * weight.sum())
    as_far = np.mean(drawn >= abs(y @ weight - 0.4 * weight.sum()) - 1e-9)
    assert found.by_action[0]["p_value"] == pytest.approx(as_far, abs=0.04)  # three standard errors of 1,999 draws


DEAR = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [500.0, 400.0, 0.0]])


@pytest.mark.parametrize("counts", [(160, 39, 1), (170, 30, 0), (150, 50, 0), (158, 40, 2)])
def test_p_values_where_a_dear_class_is_expected_less_than_once_are_those_of_the_counts(counts):
    prob = np.array([0.8, 0.1995, 0.0005])
    found = decision_calibration_test(
        np.repeat([0, 1, 2], counts), np.tile(prob, (200, 1)), matrices=DEAR, labels=[0, 1, 2], actions=["w", "t", "r"]
    )
    many = np.array([(200 - k - m, k, m) for m in range(8) for k in range(201 - m)])
    gaps = np.abs(many @ DEAR[:, 0] - 200.0 * (prob @ DEAR[:, 0]))
    as_far = gaps >= abs(np.array(counts) @ DEAR[:, 0] - 200.0 * (prob @ DEAR[:, 0])) - 1e-9
    exact = multinomial(200, prob).pmf(many)[as_far].sum()
    assert [found.p_value, found.by_action[0]["p_value"]] == pytest.approx([exact] * 2, abs=0.015)


def test_p_value_of_a_rare_cost_beside_one_that_is_rarer_and_carries_the_variance_is_that_of_the_count():
    prob, n = np.array([1.0 - 6e-5 - 2e-7, 6e-5, 2e-7]), 500
    matrix = [[0.0, 1000.0], [5.0, 1000.0], [10_000.0, 1000.0]]
    found = decision_calibration_test(
        np.eye(1, n, dtype=int)[0], np.tile(prob, (n, 1)), matrices=matrix, labels=[0, 1, 2], actions=["leave", "treat"]
    )
    assert found.p_value == pytest.approx(1.0 - prob[0] ** n, abs=0.008)  # three standard errors of 4,999 draws


@pytest.mark.parametrize("seed", range(4))
def test_p_values_of_rows_that_differ_are_those_of_drawn_labels(seed):
    rng = np.random.default_rng(seed)
    prob = np.array([0.8, 0.1995, 0.0005]) * np.exp((0.3, 0.9)[seed % 2] * rng.normal(size=(120, 3)))
    prob /= prob.sum(axis=1, keepdims=True)
    weight = rng.uniform(0.5, 2.0, 120)
    costed = DEAR[:, (prob @ DEAR).argmin(axis=1)].T
    announced = (prob * costed).sum(axis=1)
    labels = (rng.random((20_000, 120, 1)) > prob.cumsum(axis=1)).sum(axis=2)
    drawn = np.abs((np.take_along_axis(costed[None], labels[:, :, None], axis=2)[:, :, 0] - announced) @ weight)
    for y, gap in zip(labels[:8], drawn[:8], strict=True):
        found = decision_calibration_test(
            y, prob, matrices=DEAR, sample_weight=weight, labels=[0, 1, 2], actions=["w", "t", "r"]
        )
        assert found.p_value == pytest.approx(np.mean(drawn >= gap - 1e-9), abs=0.025)


@pytest.mark.simulation
@pytest.mark.parametrize(("spread", "n"), [(0.0, 200), (0.3, 200), (0.5, 400), (0.7, 1000)])
def test_right_probabilities_of_a_rare_dear_class_are_seldom_accused(spread, n):
    said = np.zeros(2)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        prob = np.array([0.8, 0.1995, 0.0005]) * np.exp(spread * rng.normal(size=(n, 3)))
        prob /= prob.sum(axis=1, keepdims=True)
        y = (rng.random((n, 1)) > prob.cumsum(axis=1)).sum(axis=1)
        found = decision_calibration_test(y, prob, matrices=DEAR, labels=[0, 1, 2], actions=["w", "t", "r"])
        said += [found.p_value < 0.05, min(row["holm_p_value"] for row in found.by_action) < 0.01]
    assert np.all(said / 400 <= [0.075, 0.02])


@pytest.mark.simulation
def test_right_risks_that_are_mostly_tiny_are_seldom_accused_where_a_miss_is_dear():
    said = np.zeros(2)
    for seed in range(800):
        rng = np.random.default_rng(seed)
        risk = rng.beta(0.05, 20.0, 200)
        y = (rng.random(200) < risk).astype(int)
        prob = np.column_stack([1.0 - risk, risk])
        found = decision_calibration_test(y, prob, matrices=[[0, 1], [400, 0]], labels=[0, 1], actions=["no", "yes"])
        said += np.array([found.p_value < 0.05, found.p_value < 0.01])
    assert np.all(said / 800 <= [0.065, 0.018])


@pytest.mark.parametrize(("n", "prob", "seen"), [(400, 0.01, 20), (1000, 0.002, 14)])
def test_a_gap_beyond_all_draws_has_the_p_value_of_bennetts_inequality(n, prob, seen):
    y = np.arange(n) < seen
    given = {"matrices": [[0, 1], [400, 0]], "labels": [0, 1], "actions": ["no", "yes"]}
    found = decision_calibration_test(y.astype(int), np.tile([1.0 - prob, prob], (n, 1)), **given)
    variance, largest, gap = n * prob * (1.0 - prob), 1.0 - prob, seen - n * prob
    more = largest * gap / variance
    bound = 2.0 * np.exp(-variance / largest**2 * ((1.0 + more) * np.log1p(more) - more))  # on either side
    assert found.p_value == pytest.approx(bound, rel=1e-9)
    assert found.p_value > binom.sf(seen - 1, n, prob)


def test_few_rows_of_an_action_are_tested_by_draws():
    prob = [[0.9, 0.1]] * 40 + [[0.2, 0.8]] * 3
    found = decision_calibration_test([0] * 40 + [0, 0, 1], prob, matrices=[[0, 1], [4, 0]])
    rare = found.by_action[1]
    assert rare["action"] == 1
    # two of three costs of 1, each of chance 0.2: as far from 0.6 as 1.4 are two or three of them
    assert rare["p_value"] == pytest.approx(3 * 0.2**2 * 0.8 + 0.2**3, abs=0.025)
    assert rare["holm_p_value"] >= rare["p_value"]


def of_patients(seed, rows=10, patients=60):
    """Calibrated probabilities of patients, all rows of whom are of one class."""
    rng = np.random.default_rng(seed)
    risk = rng.beta(2, 2, patients)
    y = (rng.random(patients) < risk).astype(int)
    y, risk, clusters = (np.repeat(values, rows) for values in (y, risk, np.arange(patients)))
    return y, np.column_stack([1 - risk, risk]), clusters


@pytest.mark.parametrize("seed", [0, 2, 5, 7])
def test_copies_of_rows_in_clusters_make_no_difference_from_the_announced_cost_surer(seed):
    found = []
    for rows in (10, 100):
        y, prob, clusters = of_patients(seed, rows)
        found.append(evaluate_actions(y, prob, matrices=[[0, 1], [3, 0]], clusters=clusters).calibration())
    y, prob, _ = of_patients(seed, 1)
    gap = np.where(prob[:, 1] >= 0.25, 1.0 * (y == 0) - prob[:, 0], 3.0 * (y == 1) - 3.0 * prob[:, 1])
    t = gap.mean() / (gap.std(ddof=1) / 60**0.5)
    for each in found:
        assert each.z == pytest.approx(t, rel=1e-9)
        assert each.p_value >= 2.0 * student.sf(abs(t), 59.0) * (1.0 - 1e-9)
    for ten, hundred in zip(*(each.by_action for each in found), strict=True):
        assert (ten["z"], ten["p_value"]) == pytest.approx((hundred["z"], hundred["p_value"]), rel=0.3)


@pytest.mark.parametrize("seed", range(4))
def test_with_clusters_the_p_value_is_the_level_at_which_the_interval_of_the_gap_reaches_zero(seed):
    y, prob, clusters = of_patients(seed)
    prob = np.column_stack([1.0 - prob[:, 1] ** 0.4, prob[:, 1] ** 0.4])
    for matrix in ([[0, 1], [3, 0]], [[0, 1], [3, 0.5]]):
        found = evaluate_actions(y, prob, matrices=matrix, clusters=clusters, actions=["w", "a"]).calibration()
        level = 1.0 - found.p_value
        gap = evaluate_actions(y, prob, matrices=matrix, clusters=clusters, actions=["w", "a"], confidence_level=level)
        assert min(np.abs(gap.calibration().gap.interval)) == pytest.approx(0.0, abs=1e-9)
    always = evaluate_actions(y, prob, matrices=[[0, 9], [1, 9]], clusters=clusters, actions=["w", "a"]).calibration()
    assert [row["p_value"] for row in always.by_action] == pytest.approx([always.p_value], rel=1e-12)


def test_a_cluster_of_most_rows_leaves_the_announced_cost_untested():
    y, prob, clusters = of_patients(1)
    found = evaluate_actions(y, prob, matrices=[[0, 1], [3, 0]], clusters=np.maximum(clusters, 40)).calibration()
    assert np.isnan([found.z, found.p_value, *(row["holm_p_value"] for row in found.by_action)]).all()
    assert found.sentence.endswith("; one cluster holds too much of the weight to test the difference.")


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "not beyond chance"), (0.7, "beyond chance")])
def test_a_difference_is_said_to_be_beyond_chance_where_its_p_value_is_small(factor, verdict):
    rng = np.random.default_rng(2)
    p = rng.uniform(0.05, 0.4, 600)
    y = rng.random(600) < p
    said = np.stack([1.0 - factor * p, factor * p], axis=1)
    found = decision_calibration_test(y.astype(int), said, matrices=[[0, 1], [3, 0]])
    assert (found.p_value < 0.05) == (verdict == "beyond chance")
    assert f", a difference {verdict} (p" in found.sentence
    for over, said_of_it in ((0.99, "not beyond chance"), (1.01, "beyond chance")):  # levels on either side of it
        level = 1.0 - over * found.p_value
        again = decision_calibration_test(y.astype(int), said, matrices=[[0, 1], [3, 0]], confidence_level=level)
        assert f", a difference {said_of_it} (p" in again.sentence


@pytest.mark.simulation
def test_calibrated_probabilities_of_patients_are_seldom_beyond_chance():
    said = np.zeros(2)
    for seed in range(200):
        y, prob, clusters = of_patients(seed)
        found = evaluate_actions(y, prob, matrices=[[0, 1], [3, 0]], clusters=clusters).calibration()
        said += [found.p_value < 0.05, min(row["holm_p_value"] for row in found.by_action) < 0.05]
    assert np.all(said / 200 <= 0.07)  # 57% by rows that count as independent


def test_a_class_said_to_be_impossible_that_occurs_is_beyond_chance():
    """The limit of ever smaller probabilities, whose p-values fall to 0."""
    y, certain = [0, 1, 1, 0] * 25, np.array([[0, 1], [0, 1], [1, 0], [1, 0]] * 25, dtype=float)

    def of(prob, labels=y):
        return decision_calibration_test(labels, prob, matrices=[[0, 1], [4, 0]])

    near = [of(np.abs(certain - e)).p_value for e in (0.1, 0.01, 1e-4)]
    assert 1e-6 > near[0] > near[1] >= near[2]
    found = of(certain)
    assert (found.z, found.p_value, found.announced, found.incurred) == (np.inf, 0.0, 0.0, 1.25)
    assert found.sentence.endswith("announced to cost 0; a class of probability 0 occurred, beyond chance (p < 0.001).")
    assert [(row["z"], row["holm_p_value"]) for row in found.by_action] == [(np.inf, 0.0)] * 2
    # by action: the other one is tested as by its own rows
    mixed = np.where(certain[:, :1] == 1.0, certain, np.abs(certain - 0.3))
    waited, acted = of(mixed).by_action
    rows = certain[:, 1] == 1.0
    alone = of(mixed[rows], np.array(y)[rows])
    assert (waited["p_value"], acted["z"]) == (0.0, pytest.approx(alone.z, rel=1e-12))
    assert (of(mixed).z, of(mixed).p_value) == (np.inf, 0.0)


def test_a_certain_model_that_is_right_leaves_no_doubt_to_test():
    y = [0, 1, 1, 0] * 25
    for prob, matrix in ((np.eye(2)[y], [[0, 1], [4, 0]]), ([[1.0, 0.0]] * 100, [[0.1, 3.0], [0.1, 4.0]])):
        found = decision_calibration_test(y, prob, matrices=matrix, actions=["wait", "act"])  # or classes cost the same
        assert np.isnan([found.z, found.p_value, *(row["p_value"] for row in found.by_action)]).all()
        assert found.sentence.endswith("; the probabilities leave no doubt to test.")
    third = [[1 / 3, 2 / 3, 0.0]] * 60 + [[0.1, 0.9, 0.0]] * 60  # a cost that equals the mean but for rounding
    spread = [[0.1, 1.0], [0.7, 1.0], [0.1 / 3 + 1.4 / 3, 1.0]]
    found = decision_calibration_test([2] * 60 + [0, 1] * 30, third, matrices=spread, actions=["wait", "act"])
    assert np.isfinite(found.z)


def test_segments_of_the_oracle(actions_reference):
    """Acceptance 7: exact knots and losses by class, against quadrature."""
    densities = {"uniform": costs.Uniform(0, 1), "beta25": costs.Beta(2, 5)}
    for case in actions_reference["actions"]["segment"]:
        ends = np.array([case["C0"], np.add(case["C0"], case["C1"])])
        prob, k = np.array([case["prob"]]), len(case["C0"])
        path = [(int(action[0]), float(low[0])) for _, action, low, _ in walk(prob, ends)]
        assert [step[0] for step in path] == [step[0] for step in case["path"]]
        assert [step[1] for step in path] == pytest.approx([step[1] for step in case["path"]], abs=1e-12)
        for name, theta in densities.items():
            found = [cost_matrix_loss([y], prob, matrices=ends, theta=theta, labels=list(range(k))) for y in range(k)]
            assert found == pytest.approx(case["loss"][name], abs=1e-12)


def test_dominance_of_the_oracle(actions_reference):
    """Acceptance 7: signs, crossings and averages against exact fractions."""
    for case in actions_reference["actions"]["dominance"]:
        ends = [case["C0"], np.add(case["C0"], case["C1"])]
        models = {"a": case["a"], "b": case["b"]}
        evaluation = evaluate_actions(
            case["y"], models, matrices=ends, theta=(0, 1), actions=["x", "y", "z"], labels=[0, 1, 2]
        )
        found = evaluation.dominance("a", "b")
        assert found.a_better == pytest.approx(case["share_where_a_is_better"], abs=1e-12)
        assert found.difference == pytest.approx(case["difference_uniform"], abs=1e-12)
        for low, high, left, right in case["pieces"]:
            if high - low < 1e-9:
                continue
            for part in (0.25, 0.75):
                place = low + part * (high - low)
                k = int(np.searchsorted(found.high, place))
                share = (place - found.low[k]) / (found.high[k] - found.low[k])
                ours = found.left[k] + share * (found.right[k] - found.left[k])
                assert ours == pytest.approx(left + part * (right - left), abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 8])
def test_dominance_is_the_difference_at_every_matrix_of_the_segment(seed):
    rng = np.random.default_rng([seed, 1])
    y, prob = simulated(6, 3, seed)
    other, ends = rng.dirichlet(np.ones(3), 6), rng.integers(0, 9, (2, 3, 3)).astype(float)
    given = {"matrices": ends, "theta": (0, 1), "labels": [0, 1, 2], "actions": ["u", "v", "w"]}
    found = evaluate_actions(y, {"a": prob, "b": other}, **given).dominance("a", "b")
    grid = (np.arange(4000) + 0.5) / 4000
    matrix = ends[0] + grid[:, None, None] * (ends[1] - ends[0])
    paid = [matrix[:, y, :][np.arange(4000)[:, None], np.arange(6), (p @ matrix).argmin(axis=2)] for p in (prob, other)]
    gap = (paid[0] - paid[1]).mean(axis=1)
    k = np.searchsorted(found.high, grid)
    share = (grid - found.low[k]) / (found.high - found.low)[k]
    assert found.left[k] + share * (found.right - found.left)[k] == pytest.approx(gap, abs=1e-12)
    crossed = (found.left[1:] == 0.0) & (found.right[:-1] == 0.0) & (found.right[1:] * found.left[:-1] < 0.0)
    assert crossed.any()
    assert np.all(found.low < found.high)
    assert not np.any(found.left * found.right < 0.0)
    shares = np.mean(gap < -1e-12), np.mean(gap > 1e-12)
    assert (found.a_better, found.b_better) == pytest.approx(shares, abs=len(found.low) / 4000)
    assert found.difference == pytest.approx(gap.mean(), abs=1e-3)


def test_shares_of_a_segment_are_of_the_whole_mass_of_its_measure():
    y, prob = simulated(40, 2, 3)
    other = np.random.default_rng(4).dirichlet(np.ones(2), 40)
    ends = [[[0, 0], [1, 0]], [[0, 1], [0, 0]]]
    once, thrice = (
        evaluate_actions(y, {"a": prob, "b": other}, matrices=ends, theta=k * costs.Uniform(0, 1)).dominance("a", "b")
        for k in (1.0, 3.0)
    )
    assert 0.0 < once.a_better < once.a_better + once.b_better <= 1.0
    assert (thrice.a_better, thrice.b_better) == pytest.approx((once.a_better, once.b_better), rel=1e-12)


def test_who_costs_less_on_a_segment_is_said_in_a_sentence():
    # the cost of a false alarm grows from 0 to 1 as that of a miss falls from 1 to 0
    ends = [[[0, 0], [1, 0]], [[0, 1], [0, 0]]]
    sharp, wrong, dull = [[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]]
    models = {"sharp": sharp * 5, "again": sharp * 5, "wrong": wrong * 5, "dull": dull * 5}
    found = evaluate_actions([0, 1] * 5, models, matrices=ends, theta=(0, 1))
    assert (
        found.dominance("sharp", "again").sentence == "sharp and again cost the same on all of the segment of matrices."
    )
    said = found.dominance("sharp", "wrong")
    assert said.sentence.startswith("sharp costs no more than wrong anywhere, less on 80% of the segment of matrices; ")
    assert found.dominance("wrong", "sharp").sentence.startswith("sharp costs no more than wrong anywhere, less on 80%")
    both = evaluate_actions(
        [0, 0, 0, 1] * 5, {"low": sharp[:1] * 20, "high": sharp[1:] * 20}, matrices=ends, theta=(0, 1)
    )
    # all alike: never acting costs (1 - t) / 4, always acting t 3 / 4, and at first and last the two decide alike
    said = both.dominance("low", "high")
    assert (said.a_better, said.b_better) == pytest.approx((0.65, 0.15))
    assert said.sentence.startswith(
        "low costs less on 65%, high costs less on 15% of the segment of matrices; on average"
    )
    assert said.difference == pytest.approx(np.mean(said.left + said.right) / 2, abs=0.2)


def test_a_sentence_on_a_segment_does_not_speak_of_what_theta_does_not_count():
    # always acting costs theta / 2, never acting (1 - theta) / 2: the first is cheaper below one half only
    ends = [[[0, 0], [1, 0]], [[0, 1], [0, 0]]]
    models = {"always": [[0.0, 1.0]] * 10, "never": [[1.0, 0.0]] * 10, "like": [[0.4, 0.6]] * 10}
    low, whole = (evaluate_actions([0, 1] * 5, models, matrices=ends, theta=(0, most)) for most in (0.3, 1))
    assert [who for _, _, who in low.dominance("always", "never").intervals()] == ["always", "never"]
    expected = "always costs no more than never wherever theta counts, less on 100% of the segment of matrices; "
    assert low.dominance("always", "never").sentence.startswith(expected)
    assert low.dominance("never", "always").sentence.startswith(expected)
    # with a probability of 0.6 acting pays where theta is below 0.6, which is all that counts here
    alike = low.dominance("always", "like")
    assert alike.sentence == "always and like cost the same on all of the segment of matrices that theta counts."
    assert alike.intervals() == [(0.0, 0.6, "same"), (0.6, 1.0, "like")]
    # over the whole segment each is as much the cheaper one as the other
    half = whole.dominance("always", "never")
    assert half.difference == 0.0
    assert half.sentence == (
        "always costs less on 50%, never costs less on 50% of the segment of matrices; on average over it both cost "
        "the same."
    )


def test_means_of_a_segment_that_only_rounding_tells_apart_are_the_same():
    # an error costs 0.1 and 0.3, or the other way round, at either end: two opposite models cost 0.2 each on average
    ends = 0.1 * np.array([[[0, 1], [3, 0]], [[0, 3], [1, 0]]])
    models = {"a": [[0.7, 0.3]] * 18, "b": [[0.3, 0.7]] * 18}
    for share in (0.1, 0.7):
        found = evaluate_actions([0, 1] * 9, models, matrices=share * ends, theta=(0, 1)).dominance("a", "b")
        assert found.sentence.endswith("; on average over it both cost the same.")


@pytest.mark.parametrize("seed", [28, 53, 90])
def test_there_is_no_skill_where_one_action_is_the_best_for_every_class(seed):
    rng = np.random.default_rng(seed)
    y, prob = simulated(30, 3, seed)
    # each action costs as much whatever the class: nobody gains by knowing it
    ends = rng.random((2, 1, 3)) + rng.random((1, 3, 1))
    found = evaluate_actions(y, prob, matrices=ends, theta=(0, 1), actions=("a", "b", "c"))
    assert np.isnan(found.skill)
    assert "what lies between" not in " ".join(found.conclusion)
    # what the one that costs least at each matrix costs
    assert found["model"].best_constant == pytest.approx(found.oracle, rel=1e-12)


def test_a_segment_is_the_limit_of_a_list():
    y, prob = simulated(200, 4, 0)
    rng = np.random.default_rng(1)
    ends = rng.random((2, 4, 3))
    grid = (np.arange(4000) + 0.5) / 4000
    many = (1 - grid)[:, None, None] * ends[0] + grid[:, None, None] * ends[1]
    segment = evaluate_actions(y, prob, matrices=ends, theta=(0, 1))
    listed = evaluate_actions(y, prob, matrices=many)
    assert (segment.cost, segment.oracle) == pytest.approx((listed.cost, listed.oracle), abs=1e-5)
    assert segment["model"].best_constant == pytest.approx(listed["model"].best_constant, abs=1e-6)
    assert segment["model"].confusion == pytest.approx(listed["model"].confusion, abs=1e-4)
    assert segment["model"].confusion.sum() == pytest.approx(1.0, abs=1e-12)
    for at, weights in (([0.2, 0.7], [1, 3]), ([0.0, 0.4, 1.0], [2, 1, 3])):  # the ends of the segment included
        points = evaluate_actions(y, prob, matrices=ends, theta=costs.Empirical(at, weights))
        alike = [(1.0 - t) * ends[0] + t * ends[1] for t in at]
        listed = evaluate_actions(y, prob, matrices=alike, matrix_weights=weights)
        assert points.cost == pytest.approx(listed.cost, abs=1e-14)


def test_two_classes_on_a_segment_are_the_binary_regret():
    y, prob = simulated(300, 2, 2)
    found = evaluate_actions(y, prob, matrices=[[[0, 0], [1, 0]], [[0, 1], [0, 0]]], theta=(0.1, 0.6))
    assert found.cost == pytest.approx(expected_regret(y, prob[:, 1], costs=(0.1, 0.6)), abs=1e-14)
    assert found.oracle == pytest.approx(0.0, abs=1e-15)


def test_a_constant_added_to_a_row_changes_no_decision_and_no_regret():
    y, prob = simulated(200, 3, 3)
    models = {"a": prob, "b": prob[:, [1, 0, 2]]}
    plain = evaluate_actions(y, models, matrices=THREE)
    moved = evaluate_actions(y, models, matrices=np.add(THREE, [[3], [-1], [7]]))
    assert np.array_equal(plain["a"].confusion, moved["a"].confusion)
    assert moved.regret == pytest.approx(plain.regret, abs=1e-13)
    assert moved.compare("a", "b").difference == pytest.approx(plain.compare("a", "b").difference, abs=1e-13)


def test_a_shifted_prior_is_a_scaled_matrix():
    _, prob = simulated(200, 3, 4)
    old, new = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2])
    scaled = np.array(THREE) * (new / old)[:, None]
    by_prior = check_problem(THREE, range(3)).pieces(np.asarray(shift_prior(prob, training_prior=old, prior=new)))
    by_matrix = check_problem(scaled, range(3)).pieces(prob)
    assert np.array_equal(next(by_prior)[1], next(by_matrix)[1])


@pytest.mark.parametrize("clusters", [None, np.repeat(np.arange(20), 5)], ids=["rows", "clusters"])
def test_models_with_the_same_probabilities_differ_in_nothing(clusters):
    y, prob = simulated(100, 3, 5)
    models = {"a": prob, "b": prob.copy(), "c": prob**1.001 / (prob**1.001).sum(axis=1, keepdims=True)}
    found = evaluate_actions(y, models, matrices=THREE, clusters=clusters)
    same, near = found.compare("a", "b"), found.compare("a", "c")
    assert (same.difference, same.standard_error, same.interval, same.p_value, same.note) == (
        0.0,
        0.0,
        (0.0, 0.0),
        1.0,
        "",
    )
    # no row seen is decided otherwise, but rows between the two would be
    assert near.difference == 0.0
    assert near.interval[0] < 0.0 < near.interval[1]


def test_intervals_and_comparisons_are_those_of_means():
    pytest.importorskip("pandas")
    y, prob = simulated(1000, 3, 5)
    models = {"a": prob, "b": np.full((1000, 3), 1 / 3)}
    found = evaluate_actions(y, models, matrices=THREE)
    rows = [cost_matrix_loss(y, each, matrices=THREE, per_sample=True) for each in models.values()]
    error = (rows[0] - rows[1]).std(ddof=1) / 1000**0.5
    comparison = found.compare("a", "b")
    assert comparison.standard_error == pytest.approx(error, rel=1e-12)
    assert comparison.difference == pytest.approx(rows[0].mean() - rows[1].mean(), abs=1e-14)
    assert comparison.p_value < 1e-6
    assert found["a"].cost.standard_error == pytest.approx(rows[0].std(ddof=1) / 1000**0.5, rel=1e-12)
    clusters = np.repeat(np.arange(200), 5)
    assert evaluate_actions(y, models, matrices=THREE, clusters=clusters)["a"].cost.standard_error > 0.0
    assert found.frame("pandas")["model"].tolist() == ["a", "b"]
    assert found.conclusion[0].startswith("a costs least on these 1,000 rows: 0.")


def test_ordered_classes_of_the_oracle(actions_reference):
    """Acceptance 7: half the ranked probability score; distances ask for the median."""
    for case in actions_reference["actions"]["ordinal_rps"]:
        labels = list(range(len(case["prob"])))
        found = [ordinal_loss([case["y"]], [case["prob"]], labels=labels, scale=s) for s in ("integral", "loss")]
        assert found == pytest.approx([case["integral"], case["rps"]], abs=1e-13)
    for case in actions_reference["actions"]["ordinal"]:
        k, power = case["K"], case["power"]
        matrix = np.abs(np.subtract.outer(range(k), range(k))) ** power / (k - 1) ** power
        _, action, _ = next(check_problem(matrix, range(k)).pieces(np.array(case["prob"])))
        assert action.tolist() == case["action"] == case["median" if power == 1 else "nearest_mean"]


def test_ordinal_loss_at_one_half_is_the_cost_of_distance():
    y, prob = simulated(200, 4, 6)
    distance = np.abs(np.subtract.outer(range(4), range(4))) / 2
    found = ordinal_loss(y, prob, costs=costs.Fixed(0.5, tie=0.0), scale="regret")
    assert found == pytest.approx(cost_matrix_loss(y, prob, matrices=distance), abs=1e-14)


def test_many_labels_cost_the_sum_of_each():
    rng = np.random.default_rng(7)
    prob = rng.random((50, 3))
    y = (rng.random((50, 3)) < prob).astype(int)
    found = multilabel_loss(y, prob, costs=[0.2, (0.1, 0.4), 0.5], label_weight=[1, 2, 3])
    each = [expected_regret(y[:, k], prob[:, k], costs=c) for k, c in enumerate([0.2, (0.1, 0.4), 0.5])]
    assert found == pytest.approx(each[0] + 2 * each[1] + 3 * each[2], abs=1e-14)
    with pytest.raises(ValueError, match="costs must be a list with one for each of the 3 labels, got 2"):
        multilabel_loss(y, prob, costs=[0.1, 0.2])


def test_an_array_of_costs_has_one_for_each_label_as_a_list_has():
    y, prob = [[0, 1], [1, 1]], [[0.3, 0.6], [0.1, 0.9]]
    each = [expected_regret(np.array(y)[:, k], np.array(prob)[:, k], costs=c) for k, c in enumerate((0.2, 0.5))]
    for given in ([0.2, 0.5], np.array([0.2, 0.5])):
        assert multilabel_loss(y, prob, costs=given) == pytest.approx(sum(each), abs=1e-14)
    both = expected_regret([0, 1, 1, 1], [0.3, 0.1, 0.6, 0.9], costs=(0.2, 0.5))
    assert multilabel_loss(y, prob, costs=(0.2, 0.5)) == pytest.approx(2 * both, abs=1e-14)


@pytest.mark.parametrize("count", [2, 0])
def test_labels_that_are_not_0_and_1_or_none_at_all_are_refused(count):
    y, prob = np.array([[-1, 1], [1, 1]])[:, :count], np.full((2, count), 0.3)
    message = "y_true must hold only 0 and 1, got .*-1, 1.* in column 0" if count else r"\(n, labels\), got \(2, 0\)"
    with pytest.raises(ValueError, match=message):
        multilabel_loss(y, prob, costs=0.2)


@pytest.mark.parametrize("column", [[2, 2], ["0", "1"], [2, 0], [0.5, 1.0]])
def test_labels_of_many_are_refused_without_naming_an_argument_that_is_not_there(column):
    y = np.column_stack([np.array([0, 1], dtype=object), np.array(column, dtype=object)])
    for given in (y, y.tolist(), y.astype(float) if "0" not in column else y):
        with pytest.raises(ValueError, match=r"^y_true must hold only 0 and 1, got \[.*\] in column 1\.$"):
            multilabel_loss(given, np.full((2, 2), 0.3), costs=0.2)


def test_what_is_wrong_with_many_labels_is_said_alone():
    y, prob = [[0, 1], [1, 1]], [[0.3, 0.6], [0.1, 0.9]]
    with pytest.raises(ValueError, match=r"^costs must be a list with one for each of the 2 labels, got 1\.$"):
        multilabel_loss(y, prob, costs=[0.1])
    with pytest.raises(
        ValueError, match=r"^label_weight must be finite, >= 0 for each of the 2 labels, got \[1\.0\]\.$"
    ):
        multilabel_loss(y, prob, costs=0.1, label_weight=[1])


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("names", [["cat", "dog", "owl"], ["0", "1", "2"], ["3", "1", "2"]])
def test_columns_of_many_labels_are_paired_by_the_names_of_two_frames(library, names):
    frame = pytest.importorskip(library).DataFrame
    rng = np.random.default_rng(0)
    y, prob = rng.integers(0, 2, (40, 3)), rng.random((40, 3))
    each, weight = [0.2, (0.1, 0.4), 0.5], [1.0, 2.0, 3.0]
    alone = zip(y.T, prob.T, each, weight, strict=True)
    expected = sum(w * expected_regret(labels, p, costs=c) for labels, p, c, w in alone)
    truth, scores = (frame({name: of[:, k] for k, name in enumerate(names)}) for of in (y, prob))
    for order in (names, names[::-1], [names[1], names[2], names[0]]):
        found = multilabel_loss(truth, scores[order], costs=each, label_weight=weight)
        assert found == pytest.approx(expected, abs=1e-14)
    other = frame({name: prob[:, k] for k, name in enumerate("abc")})
    assert multilabel_loss(truth, other, costs=each, label_weight=weight) == pytest.approx(expected, abs=1e-14)
    wrong = frame({name: prob[:, k] + (k == 0) for k, name in reversed([*enumerate(names)])})
    with pytest.raises(ValueError, match=r"^y_prob\[:, 2\] must lie in \[0, 1\]"):
        multilabel_loss(truth, wrong, costs=each)


def test_columns_that_pandas_counts_are_numbers_of_labels():
    frame = pytest.importorskip("pandas").DataFrame
    y, prob = np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.1], [0.1, 0.9]])
    assert multilabel_loss(frame(y), frame(prob)[[1, 0]], costs=0.5) == 0.0
    assert multilabel_loss(frame(y)[[1, 0]], frame(prob), costs=0.5) == 0.0
    assert multilabel_loss(frame(y)[[1, 0]], prob, costs=0.5) > 0.0


def test_a_transposed_matrix_is_named():
    y, prob = simulated(50, 3, 8)
    with pytest.warns(UserWarning, match=r"for class 2 the action 2 costs 3, the action 0 1\. Rows are true classes"):
        evaluate_actions(y, prob, matrices=[[0, 1, 1], [1, 0, 1], [1, 2, 3]])
    evaluate_actions(y, prob, matrices=[[0, 1, 1], [1, 0, 1], [1, 2, 3]], actions=["x", "y", "z"])
    with pytest.raises(ValueError, match=r"got shape \(2, 3\); rows are classes: is it transposed\?"):
        evaluate_actions(y, prob, matrices=[[0, 1, 2], [3, 0, 1]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"matrices": [[0, 1, 2], [1, float("nan"), 1], [2, 1, 0]]},
            "matrices must be finite, got nan for class 1 and action 1 of matrix 0",
        ),
        ({"matrices": [[0, 1], [1, 0]]}, r"with 3 classes, got shape \(2, 2\)\.$"),
        ({"matrices": [0, 1, 1]}, r"with 3 classes, got shape \(3,\)"),
        ({"matrices": THREE, "theta": (0, 1)}, "theta needs the two matrices at its ends, got 1 matrices"),
        (
            {"matrices": [THREE, THREE], "theta": (0, 1), "matrix_weights": [1, 2]},
            r"matrix_weights= is for a list of matrices, .* got \[1, 2\] beside theta=\(0, 1\)",
        ),
        ({"matrices": [THREE, THREE], "theta": costs.LogOddsUniform(0, 1)}, "theta must have a mass in"),
        ({"matrices": THREE, "actions": ["a", "b"]}, "actions must name the 3 columns"),
        ({"matrices": THREE, "actions": ["a", "b", "a"]}, "actions must name the 3 columns of the matrices once each"),
        ({"matrices": THREE, "labels": ["a", "b", "c"]}, "y_true must hold only the labels"),
        ({"matrices": [THREE], "matrix_weights": [0]}, "matrix_weights must hold 1 finite numbers"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        evaluate_actions(*simulated(50, 3, 9), **options)


@pytest.mark.parametrize(
    ("y", "labels", "kinds"),
    [
        (np.array(["1970-01-01", "1970-01-02"], "datetime64[s]"), ["a", "b"], "datetime, str"),
        (np.array(["a", 1], object), ["a", "b"], "int, str"),
        (np.array(["a", 1], object), None, "int, str"),
        (np.array(["a", "b"]), [None, "a"], "NoneType, str"),
    ],
)
def test_labels_without_an_order_are_refused(y, labels, kinds):
    with pytest.raises(ValueError, match=f"y_true and labels must be of one kind, got values of {kinds}"):
        evaluate_actions(y, [[0.2, 0.8], [0.7, 0.3]], matrices=[[0, 1], [1, 0]], labels=labels)


def test_dominance_needs_a_segment():
    y, prob = simulated(50, 3, 10)
    with pytest.raises(ValueError, match="dominance needs a segment"):
        evaluate_actions(y, {"a": prob, "b": prob}, matrices=THREE).dominance("a", "b")


def test_least_and_most_of_each_class_are_those_of_the_best_and_the_worst_action():
    rng = np.random.default_rng(1)  # no action is dearer than another in every class
    matrices = rng.uniform(-2.0, 5.0, (3, 4))
    probs = rng.dirichlet(np.ones(3), 30)
    rows = evaluate_actions(np.arange(30) % 3, probs, matrices=matrices, actions=list("wxyz")).rows
    assert rows.best() == pytest.approx(matrices.min(axis=1), rel=1e-12)
    assert rows.max_loss() == pytest.approx(matrices.max(axis=1), rel=1e-12)
    several = rng.uniform(-2.0, 5.0, (5, 3, 4))
    rows = evaluate_actions(np.arange(30) % 3, probs, matrices=several, actions=list("wxyz")).rows
    share = rows.problem.weights / rows.problem.weights.sum()
    scale = rows.problem.weights.sum()
    assert rows.best() == pytest.approx(scale * (share @ several.min(axis=2)), rel=1e-12)
    assert rows.max_loss() == pytest.approx(scale * (share @ several.max(axis=2)), rel=1e-12)


@pytest.mark.parametrize("theta", [None, (0.0, 1.0)])
def test_an_action_that_no_probability_asks_for_says_nothing_of_the_most_that_a_class_may_cost(theta):
    y, probs = np.arange(30) % 2, np.tile([0.4, 0.6], (30, 1))
    ends = np.array([[[0.0, 1.0, 0.5], [4.0, 0.0, 0.9]], [[0.0, 2.0, 0.5], [3.0, 0.0, 0.9]]])
    dearer = ends.max(axis=2) + np.array([[0.1, 0.2], [0.3, 0.4]])
    for extra in (dearer, ends[:, :, 1] + [0.0, 5.0], ends[:, :, 1] + [7.0, 0.0], ends[:, :, 0]):
        matrices = np.concatenate([ends, extra[:, :, None]], axis=2)
        plain, more = (evaluate_actions(y, probs, matrices=each, theta=theta, actions=list("wxyz")[: each.shape[2]])
                       for each in (ends, matrices))  # fmt: skip
        assert more.rows.max_loss() == pytest.approx(plain.rows.max_loss(), rel=1e-12)
        assert more["model"].cost == plain["model"].cost
    first = np.concatenate([(ends[:, :, 1] + [7.0, 0.0])[:, :, None], ends], axis=2)  # taken where the class is certain
    certain = evaluate_actions(y, np.eye(2)[1 - y], matrices=first, theta=theta, actions=list("wxyz"))
    assert certain["model"].confusion[:, 0] == pytest.approx([0.5, 0.0])
    assert certain.rows.max_loss()[0] == certain["model"].class_costs[0] == pytest.approx(8.5)


def test_classes_are_named_by_their_labels_in_the_order_of_the_columns():
    probs = np.tile([0.2, 0.3, 0.5], (6, 1))
    costs_of = {"matrices": np.ones((3, 3)) - np.eye(3)}
    named = evaluate_actions(["b", "c", "a"] * 2, probs, **costs_of).rows
    assert named.classes == ("a", "b", "c")
    assert named.index.tolist() == [1, 2, 0, 1, 2, 0]
    ordered = evaluate_actions(["b", "c", "a"] * 2, probs, labels=["c", "a", "b"], **costs_of).rows
    assert ordered.classes == ("c", "a", "b")
    assert ordered.index.tolist() == [2, 0, 1, 2, 0, 1]
    numbers = evaluate_actions([1, 2, 1, 2, 1, 2], probs, labels=range(3), **costs_of).rows  # no row of class 0
    assert numbers.classes == (0, 1, 2)
    assert numbers.index.tolist() == [1, 2] * 3
    one_hot = evaluate_actions(np.eye(3, dtype=int)[[2, 0, 1] * 2], probs, **costs_of).rows
    assert one_hot.classes == (0, 1, 2)
    assert one_hot.index.tolist() == [2, 0, 1] * 2


def test_memberships_of_classes_keep_the_numbers_of_their_columns():
    prob = [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.0, 0.1, 0.9]] * 9
    given = np.eye(3)[[0, 2, 2] * 9]
    found = evaluate_actions(given, prob, matrices=[[0, 1, 2], [1, 0, 1], [5, 2, 0]])
    assert found.rows.classes == (0, 1, 2)


def test_two_rows_are_enough():
    found = evaluate_actions([0, 1], [[0.7, 0.3], [0.9, 0.1]], matrices=[[0, 1], [5, 0]])
    assert found.cost == 3.0  # of the first action 0.3 * 5 is expected at once, so that 1 and then 5 are paid


def test_whole_numbers_that_are_not_counted_from_0_name_their_own_classes_and_actions():
    y, prob = simulated(90, 3, 5)
    pytest.importorskip("polars")
    asked = {"matrices": [[0, 1, 1], [1, 0, 1], [5, 2, 0]]}
    found, text = (evaluate_actions(labels, prob, **asked) for labels in (y + 1, np.array(["1", "2", "3"])[y]))
    assert [str(each) for each in found.by_class(backend="polars")["class"]] == ["1", "2", "3"]
    assert list(map(str, found.by_action(backend="polars")["action"])) == ["1", "2", "3"]
    assert found.selection.references == text.selection.references
    kept, texts = (decision_calibration_test(labels, prob, **asked) for labels in (y + 1, np.array(["1", "2", "3"])[y]))
    assert [str(each["action"]) for each in kept.by_action] == [each["action"] for each in texts.by_action]


def test_a_model_that_costs_more_than_one_action_for_all_adds_to_its_cost():
    # wrong in every row: 1 a row, where either action alone costs 0.5 and perfect knowledge 0
    found = evaluate_actions([0, 1] * 50, [[0.3, 0.7], [0.8, 0.2]] * 50, matrices=[[0, 1], [1, 0]])
    assert "the best single action 0.500: model costs more, by 100% of what lies between." in found.conclusion[-2]
