"""The replications reproduce what they claim."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.stats import beta, betabinom

from replications import assel, expected_utility, information, published, risk_curves, selection
from replications._kept import kept, markdown
from replications.boundary import calibration, designs, methods, positivity, tables
from stakes.boundary._problem import SortedLevel


def test_population_values_of_the_oracle(eval_reference):
    names = {"all positive", "all negative", "highly sensitive", "highly specific", "calibrated binormal d=0.95"}
    for name, stated in eval_reference["population_comparison"].items():
        assert name in names or name.startswith("as tabulated")
        row = assel.ROWS[name]
        brier, *benefits, twice_regret, average = assel.exact(row)
        assert brier == pytest.approx(stated["brier"], abs=1e-12)
        assert benefits == pytest.approx(stated["net_benefit_5_10_20"], abs=1e-12)
        assert twice_regret / 2 == pytest.approx(stated["mean_regret_5_20"], abs=1e-12)
        assert average == pytest.approx(stated["mean_net_benefit_5_20"], abs=1e-12)
        if "mean_score" in stated:
            assert row.mean_score() == pytest.approx(stated["mean_score"], abs=1e-10)


# The corrected table: the models are calibrated, over- and underestimating as their names say.
CORRECTED = {
    "highly sensitive": (0.4100, 0.1689, 0.1456, 0.0900, 0.1175, 0.1317),
    "calibrated binormal d=0.95": (0.1375, 0.1596, 0.1240, 0.0730, 0.1529, 0.1114),
    "same, intercept +1.021 (over)": (0.1708, 0.1583, 0.1160, 0.0428, 0.1765, 0.0975),
    "all positive": (0.8000, 0.1579, 0.1111, 0.0000, 0.2000, 0.0835),
    "same, intercept -1.047 (under)": (0.1540, 0.1468, 0.0971, 0.0416, 0.2008, 0.0838),
    "highly specific": (0.1400, 0.0979, 0.0956, 0.0900, 0.1850, 0.0942),
    "same, intercept -2.046 (severe)": (0.1760, 0.0901, 0.0375, 0.0085, 0.2912, 0.0326),
    "all negative": (0.2000, 0.0, 0.0, 0.0, 0.3500, 0.0),
}


@pytest.mark.parametrize("name", CORRECTED)
def test_corrected_table_to_its_digits(name):
    # the shifted intercepts are printed to three digits, which moves the last digit of two net benefits
    digits = 1.0e-4 if name.startswith("same") else 0.5e-4
    assert assel.exact(assel.ROWS[name]) == pytest.approx(CORRECTED[name], abs=digits)


def test_printed_column_is_twice_the_mean_regret():
    # arXiv:2504.04528 App. F prints 0.35 for "all negative": mean regret is 0.175 (0.875 * 0.2), not 0.35
    assert assel.exact(assel.ROWS["all negative"])[4] == pytest.approx(2 * 0.875 * 0.2)


def test_simulated_patients_agree_with_the_integrals():
    rng = np.random.default_rng(1)
    for row in (assel.ROWS["highly sensitive"], assel.ROWS["as tabulated: overestimating"]):
        assert assel.simulated(row, 200_000, rng) == pytest.approx(assel.exact(row), abs=0.004)


def test_printed_tables_of_published_files_to_their_digits(reference_dir, monkeypatch):
    monkeypatch.setenv("STAKES_REFERENCE_DIR", str(reference_dir))
    for row in published.risk_models():
        digits = len(row["printed"].split(".")[1])
        assert round(float(row["file"]), digits) == float(row["printed"]), row
    rows = published.correlations()
    apart = [row["network"] for row in rows if any(row[f"{c}: printed"] != row[f"{c}: file"] for c in ("brier", "pbs"))]
    assert apart == ["User_Identification_From_Walking"]
    for row in rows:
        for rule in ("early stopping", "checkpoint"):
            brier, pbs = map(float, row[f"F1, {rule}"].split(" / "))
            assert pbs >= brier


def few_rows(seed, n=10):
    """Hold-out rows so few that every precision that differs is further than a hundredth from the next, with ties."""
    rng = np.random.default_rng(seed)
    return designs.Sample(rng.random(n) < 0.5, rng.integers(0, 8, n) / 8, rng.integers(0, 3, n) / 3)


def rows_above(sample, cut):
    return int(np.sum(sample.y & (sample.score >= cut))), int(np.sum(sample.score >= cut))


@pytest.mark.parametrize("seed", range(20))
def test_matched_recall_is_the_best_of_all_precisions_aimed_at(seed):
    hold_out, test = few_rows(seed), few_rows(1000 + seed, 60)
    family = methods.Family(methods.ST, hold_out, methods.Judge(test))
    counts = {cut: rows_above(hold_out, cut) for cut in (np.inf, *hold_out.score)}
    aims = {Fraction(a, b) for b in range(1, 11) for a in range(1, b + 1) if 2 * a >= b}
    for bound in methods.BOUNDS:
        best = 0
        for aim in aims:
            kept = [cut for cut, (tp, n) in counts.items() if tp >= aim * n]
            # the most positives, of equals the fewest rows
            tp, n = rows_above(test, max(kept, key=lambda cut: (counts[cut][0], -counts[cut][1])))
            best = max(best, tp if tp >= bound * n else 0)
        assert family.matched(bound) == best


def test_matched_keeps_a_precision_exactly():
    tp, n = np.array([6, 7, 9, 0]), np.array([10, 11, 15, 0])
    assert methods.matched(tp, n, Fraction(3, 5)) == 9
    assert methods.matched(tp, n, Fraction(63, 100)) == 7
    assert methods.matched(tp, n, Fraction(9, 10)) == 0


def test_judge_counts_the_rows_that_a_boundary_selects():
    sample = few_rows(3, 200)
    cuts, thresholds = np.array([0.0, 1 / 3]), np.array([[0.5, 0.25, np.inf], [0.125, 0.9, 0.0]])
    tp, n = methods.Judge(sample).counts(cuts, thresholds, sample.score)
    for row, found, chosen in zip(thresholds, tp, n, strict=True):
        # a level holds its upper cut
        level = (sample.uncertainty > 0.0).astype(int) + (sample.uncertainty > 1 / 3)
        inside = sample.score >= row[level]
        assert (found, chosen) == (np.sum(sample.y & inside), np.sum(inside))


@pytest.mark.parametrize("seed", range(5))
def test_dynamic_programme_over_bins_finds_the_most_positives_for_every_number_of_bins(seed):
    rng = np.random.default_rng(seed)
    totals = rng.integers(0, 5, (3, 4))
    ups = rng.binomial(totals, 0.4)
    levels = [tuple(np.r_[0, np.cumsum(one[k])] for one in (ups, totals)) for k in range(3)]
    chosen, tp, n = methods.by_size(levels)
    best = {}
    for choice in product(range(5), repeat=3):
        counts = [sum(int(levels[k][i][m]) for k, m in enumerate(choice)) for i in (0, 1)]
        best[sum(choice)] = max(best.get(sum(choice), (-1, 0)), (counts[0], -counts[1]))
    assert [(a, -b) for a, b in zip(tp, n, strict=True)] == [best[size] for size in range(13)]
    assert np.array_equal(chosen.sum(axis=1), np.arange(13))
    assert np.array_equal(tp, [sum(levels[k][0][m] for k, m in enumerate(row)) for row in chosen])


def test_bins_keep_ties_together_and_stay_where_they_are_empty():
    # ascending scores 1 1 1 2 3 3: cuts at ranks 1, 3, 4 are 1, 1, 2, each in the bin below
    score, y = np.array([3.0, 3.0, 2.0, 1.0, 1.0, 1.0]), np.array([1, 0, 1, 0, 0, 1])
    level = SortedLevel(score, np.cumsum(y), np.arange(1, 7))
    positives, rows, lowest = methods.bin_counts(level, "equal_weight", 4)
    assert rows.tolist() == [0, 2, 3, 3, 6]
    assert positives.tolist() == [0, 1, 2, 2, 3]
    assert lowest.tolist() == [np.inf, 3.0, 2.0, 2.0, 1.0]


@pytest.mark.parametrize("name", designs.DESIGNS)
def test_design_has_the_moments_of_its_beta_distribution(name):
    design = replace(designs.DESIGNS[name], most=60)
    a, b = design.true_prior
    share, score, rate = design.population()
    assert share.sum() == pytest.approx(1.0)
    assert np.sum(share * rate) == pytest.approx(a / (a + b))
    sample = design.draw(100_000, np.random.default_rng(0))
    error = np.sqrt(a * b / (a + b) ** 2 / 100_000)
    assert sample.y.mean() == pytest.approx(a / (a + b), abs=4 * error)
    assert sample.truth.var() == pytest.approx(a * b / (a + b) ** 2 / (a + b + 1), rel=0.03)
    log_seen = (np.log(design.fewest) + np.log(design.most + 1)) / 2
    assert np.log(sample.seen + 0.5).mean() == pytest.approx(log_seen, abs=0.06)
    # positives among the rows that were kept: q is thinned to tau q / (tau q + 1 - q)
    thinned = quad(
        lambda q: design.undersampling * q / (design.undersampling * q + 1 - q) * beta.pdf(q, a, b), 0, 1, limit=200
    )[0]
    assert np.mean(sample.positives / sample.seen) == pytest.approx(thinned, abs=0.006)
    assert np.average(score, weights=share) == pytest.approx(sample.score.mean(), abs=0.006)


def test_population_without_undersampling_is_beta_binomial():
    design = designs.DESIGNS["D"]
    share, _, rate = replace(design, fewest=7, most=7).population()
    assert share == pytest.approx(betabinom.pmf(np.arange(8), 7, 1.0, 4.0))
    assert rate == pytest.approx((1.0 + np.arange(8)) / 12.0)


def test_largest_recall_in_the_population():
    share, rate = np.array([0.1, 0.2, 0.7]), np.array([0.9, 0.6, 0.1])
    # 0.09 of 0.1, 0.21 of 0.3, 0.28 of 1: precisions 0.9, 0.7, 0.28
    assert designs.recall_at(rate, share, rate, 0.7) == pytest.approx(0.21 / 0.28)
    assert designs.recall_at(rate, share, rate, 0.71) == pytest.approx(0.09 / 0.28)
    assert designs.recall_at(rate, share, rate, 0.95) == 0.0
    # ties are selected together
    assert designs.recall_at(np.ones(3), share, rate, 0.28) == pytest.approx(1.0)
    assert designs.recall_at(np.ones(3), share, rate, 0.7) == 0.0


def test_simulated_recall_of_one_threshold_is_that_of_the_population():
    design = replace(designs.DESIGNS["A"], most=60)
    rng = np.random.default_rng(2)
    records = methods.study(design.draw(100_000, rng), design.draw(200_000, rng), [methods.ST])
    for record in records:
        by_score, by_posterior = design.best_recalls(record["bound"])
        assert record["matched"] == pytest.approx(by_score, abs=0.015)
        assert by_posterior >= by_score - 1e-9


def test_rates_of_positives_follow_the_closed_form():
    found = list(positivity.slices(designs.DESIGNS["C"], seed=4, sizes=(2, 8, 32)))
    rows, observed, expected = (np.concatenate([one[k] for one in found]) for k in (2, 3, 4))
    cells, squared, largest = positivity.agreement(rows, observed, expected)
    assert cells > 20
    assert squared < 1.9
    assert largest < 4.5


def test_errors_of_calibration_by_hand():
    y, prob = np.array([1, 0, 1, 1]), np.array([0.5, 0.5, 0.5, 0.75])
    found = calibration.errors(y, prob, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    # bins: 0.5 - 0.5 = 0, 0.5 + 0.25 = 0.75; cells: 0.5, -0.5, 0.5, 0.25; sums over bins: 0, 0.75
    expected = (0.75 / 4, 1.75 / 4, 0.75 / 4, 0.75 / 8, (3 * 0.25 + 0.0625) / 4)
    assert tuple(found.values()) == pytest.approx(expected)


def test_cumulative_errors_of_calibration_cancel():
    found = calibration.errors(np.array([1, 1, 0, 0]), np.full(4, 0.5), np.array([0, 0, 1, 1]), np.zeros(4, int))
    assert found["ECE"] == pytest.approx(0.5)
    assert found["largest cumulative"] == pytest.approx(0.25)
    assert found["mean cumulative"] == pytest.approx(0.125)


def test_paired_tests_are_those_of_scipy():
    rng = np.random.default_rng(6)
    one, two = rng.random(12), rng.random(12)
    mean, p, q = tables.paired(one, two)
    assert (mean, p) == pytest.approx((np.mean(one - two), stats.ttest_rel(one, two).pvalue))
    assert q == stats.wilcoxon(one, two).pvalue
    assert tables.paired(one, one) == (0.0, 1.0, 1.0)


@pytest.mark.simulation
def test_gains_of_a_design_are_found_out_of_fold():
    from replications.boundary_gain import gains

    useful, useless = (gains(name, 40_000, 4, {}) for name in ("useful", "useless"))
    assert np.mean([gain.difference for gain in useful]) > 0.02
    assert abs(np.mean([gain.difference for gain in useless])) < 0.02
    assert sum(gain.helps for gain in useful) > sum(gain.helps for gain in useless)


def test_finished_settings_are_not_worked_out_again(tmp_path):
    asked = []

    def work(a, b):
        asked.append((a, b))
        return {"sum": a + b}

    path = tmp_path / "new" / "kept.jsonl"
    first = list(kept(path, [(1, 2), (3, 4)], work))
    again = list(kept(path, [(3, 4), (5, 6), (1, 2)], work))
    assert asked == [(1, 2), (3, 4), (5, 6)]
    assert [record["sum"] for record in first + again] == [3, 7, 7, 11, 3]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3
    assert markdown(["a", "b"], [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_expected_maximum_of_the_oracle(actions_reference):
    for count, expected in actions_reference["selection"]["expected_maximum"]:
        assert selection.expected_maximum(count) == pytest.approx(expected, abs=1e-10)


def test_noise_leaves_each_risk_on_its_side_of_the_edge():
    rng = np.random.default_rng(0)
    _, models = selection.two_models(rng, 5000, 0.125, (0.7, 0.7), (0.2, 1.2))
    assert np.array_equal(models[0] < 0.125, models[1] < 0.125)
    below = models[:, models[0] < 0.125]
    assert np.mean(np.abs(np.diff(below, axis=0)) > 0) > 0.5


def test_normal_form_errs_as_the_reference_says():
    """Section 3.1: largest error in standard errors, by how many rows decide."""
    for deciding, stated in ((1, 0.10), (5, 0.041), (8, 0.031), (20, 0.019), (40, 0.013)):
        assert information.normal(deciding)["worst"] == pytest.approx(stated, abs=0.0025)


def test_heights_of_the_risk_models_are_counts_of_false_alarms_and_misses(load_data):
    data = load_data("bcsc_predictions/bcsc_predictions")
    cancer, n = data["cancer"].to_numpy() == 1, len(data)
    regret, benefit = (
        {name: [float(cell) for cell in cells] for name, *cells in risk_curves.rows(make)}
        for make in (risk_curves.regret_curve, risk_curves.net_benefit_curve)
    )
    assert list(regret) == [*published.MODELS, "treat all", "treat none"]
    for name in published.MODELS:
        risk = data[name].to_numpy()
        for k, t in enumerate(risk_curves.THRESHOLDS):
            alarms, misses, found = (
                ((risk >= t) & ~cancer).sum(),
                ((risk < t) & cancer).sum(),
                ((risk >= t) & cancer).sum(),
            )
            assert regret[name][k] == pytest.approx(1000 * (t * alarms + (1 - t) * misses) / n, abs=5e-4)
            assert benefit[name][k] == pytest.approx(1000 * (found - alarms * t / (1 - t)) / n, abs=5e-4)


def test_rows_with_several_labels_are_read_from_svmlight_and_rare_topics_left_out(tmp_path):
    # rows of topics 0 (even numbers), 1 (below 40) and 7 (two rows); features: the number, and 1 for topic 0
    lines = []
    for row in range(80):
        topics = [t for t, has in ((0, row % 2 == 0), (1, row < 40), (7, row in {3, 5})) if has]
        lines.append(f"{','.join(map(str, topics))} 1:{row} 2:{int(row % 2 == 0)}")
    path = tmp_path / "data" / "scene" / "scene.svm"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n")
    X, problems, left_out = expected_utility.read(tmp_path, "scene")
    assert X.toarray().tolist() == [[row, row % 2 == 0] for row in range(80)]
    assert left_out == ", problems with fewer than 30 events left out: 1"
    assert {topic: y.tolist() for topic, y in problems.items()} == {
        0.0: [row % 2 == 0 for row in range(80)],
        1.0: [row < 40 for row in range(80)],
    }
    values, fact = expected_utility.run(tmp_path, "scene", 2)
    assert fact == "80 rows, problems with fewer than 30 events left out: 1, 2 one-vs-rest problems"
    assert values.shape == (2, 4, 4)
    assert values[:, 0, expected_utility.APPROACHES.index("one half")].min() > 0.8  # both topics can be told


def test_two_classes_of_web_pages_are_one_problem(tmp_path):
    path = tmp_path / "data" / "webpage" / "webpage.svm"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{(-1, 1)[row % 2]} 1:{row}\n" for row in range(60)))
    _, problems, left_out = expected_utility.read(tmp_path, "webpage")
    assert {topic: y.tolist() for topic, y in problems.items()} == {1.0: [row % 2 for row in range(60)]}
    assert left_out == ""


def test_a_data_set_that_is_not_there_is_refused_with_where_to_get_it(tmp_path):
    with pytest.raises(SystemExit, match=r"reuters\.svm is not there: taken to be Reuters-21578"):
        expected_utility.read(tmp_path, "reuters")


def test_cells_of_table_2_are_means_and_ranges_beside_what_is_printed():
    values = np.zeros((2, 4, 4))
    values[:, 0, 0], values[:, 0, 2], values[:, 0, 3] = (0.5, 0.7), (0.25, 0.25), (0.1, 0.3)
    rows = list(expected_utility.cells("spambase", values))
    assert rows[0] == [
        *("spambase", "F1", "0.6000 (0.5000 to 0.7000)", ".9636"),
        *("0.2500 (0.2500 to 0.2500)", "0.2000 (0.1000 to 0.3000)"),
    ]
    assert [row[1] for row in rows] == ["F1", "Jaccard", "AM", "G-TP/PR"]
    assert [row[3] for row in rows] == [".9636", ".7314", "", ""]
