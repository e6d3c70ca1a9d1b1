"""The bootstrap: resampled tables against brute force, standard errors against closed forms, refusals."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

from stakes import ScoreTable, bounded_brier_loss, net_benefit_score
from stakes.base.validation import BinarySample
from stakes.inference import bootstrap, metric_interval
from stakes.inference._bootstrap import (
    RowSource,
    TableSource,
    draw_blocks,
    draw_clusters,
    draw_counts,
    draw_rows,
    row_counts,
)
from stakes.metrics import roc_auc_score


def rows(n=400, seed=1):
    rng = np.random.default_rng(seed)
    q = rng.beta(1, 3, n)
    return rng.random(n) < q, q


def brier(table):
    return bounded_brier_loss(table)


def same_tables(found, expected):
    for name in ("scores", "positives", "negatives", "positives_squared", "negatives_squared"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)


@given(st.integers(1, 30), st.integers(0, 10**6), st.booleans())
def test_resampled_table_is_that_of_the_repeated_rows(n, seed, weighted):
    rng = np.random.default_rng(seed)
    y, score = rng.random(n) < 0.5, rng.integers(0, 6, n) / 5
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    draw = draw_rows([np.arange(n)], n)
    source = RowSource.of([BinarySample(y, score, weight)], draw, None)
    (table,) = source.tables(np.random.default_rng(seed))
    times = draw(np.random.default_rng(seed))
    again = np.repeat(np.arange(n), times)
    picked = None if weight is None else weight[again]
    same_tables(table, ScoreTable.from_predictions(y[again].astype(int), score[again], sample_weight=picked))
    assert table.n_rows == n


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 10**6))
def test_blocks_are_consecutive_and_add_up_to_the_rows(n, length, seed):
    length = min(length, n)
    counts = draw_blocks(n, length)(np.random.default_rng(seed))
    starts = np.random.default_rng(seed).integers(0, n, math.ceil(n / length))
    drawn = np.concatenate([np.arange(s, s + length) % n for s in starts])[:n]
    np.testing.assert_array_equal(counts, np.bincount(drawn, minlength=n))


def test_clusters_are_drawn_whole_and_as_many_as_there_are():
    codes = np.array([0, 0, 1, 2, 2, 2, 3])
    counts = draw_clusters(codes)(np.random.default_rng(0))
    per_cluster = [set(counts[codes == k]) for k in range(4)]
    assert all(len(values) == 1 for values in per_cluster)
    assert sum(values.pop() for values in per_cluster) == 4


def test_strata_keep_their_sizes():
    strata = [np.array([0, 3]), np.array([1, 2, 4])]
    counts = draw_rows(strata, 5)(np.random.default_rng(3))
    assert [counts[rows].sum() for rows in strata] == [2, 3]


@pytest.mark.parametrize("counts", [[3, 0, 1, 2, 1, 0, 1], [300, 100, 0, 600]], ids=["few rows", "many rows"])
def test_cell_counts_are_multinomial(counts):
    counts = np.array(counts)
    draw, rng, n = draw_counts(counts), np.random.default_rng(2), counts.sum()
    sample = np.array([draw(rng).copy() for _ in range(4000)])
    assert np.all(sample.sum(axis=1) == n)
    share = counts / n
    error = np.sqrt(n * share * (1 - share) / 4000)
    assert np.all(np.abs(sample.mean(axis=0) - counts) <= 4 * error)
    np.testing.assert_allclose(sample.var(axis=0), n * share * (1 - share), rtol=0.12)


def test_table_source_keeps_class_totals_only_under_a_fixed_prevalence():
    y, score = rows()
    table = ScoreTable.from_predictions(y, score.round(2))
    rng = np.random.default_rng(0)
    free = [TableSource.of(table).tables(rng)[0].total_positives for _ in range(20)]
    assert len(set(free)) > 1
    fixed = TableSource.of(table.with_prevalence(0.1))
    for _ in range(20):
        (again,) = fixed.tables(rng)
        assert again.prevalence == pytest.approx(0.1, abs=1e-12)
        assert again.total == pytest.approx(table.total)
        assert again.fixed_prevalence


def test_rows_of_a_table_are_counted_whatever_they_weigh():
    table = ScoreTable.from_predictions([0, 1, 1, 0], [0.2, 0.2, 0.7, 0.7], sample_weight=[3.0, 3.0, 3.0, 3.0])
    (negatives, positives), units = row_counts(table)
    assert (negatives.tolist(), positives.tolist(), units) == ([1, 1], [1, 1], (3.0, 3.0))
    rng = np.random.default_rng(0)
    for _ in range(5):
        (again,) = TableSource.of(table).tables(rng)
        np.testing.assert_array_equal(again.positives_squared, 3 * again.positives)  # k rows of 3: 9 k and 3 k
        np.testing.assert_array_equal(again.negatives_squared, 3 * again.negatives)
    uneven = ScoreTable.from_predictions([0, 1, 1, 0], [0.2, 0.2, 0.7, 0.7], sample_weight=[3.0, 1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="the positives of the table must weigh the same"):
        row_counts(uneven)
    one_cell = ScoreTable.from_predictions([1, 1, 0], [0.2, 0.2, 0.7], sample_weight=[1.0, 3.0, 1.0])
    with pytest.raises(ValueError, match="the positives of the table must weigh the same"):
        row_counts(one_cell)


@pytest.mark.parametrize("prevalence", [None, 0.3], ids=["free", "fixed prevalence"])
@pytest.mark.parametrize("decimals", [1, 2, 16], ids=["cells are drawn", "ties", "no ties"])
def test_areas_without_tables_are_those_of_the_resampled_tables(decimals, prevalence):
    y, score = rows()
    table = ScoreTable.from_predictions(y, score.round(decimals), sample_weight=np.full(len(y), 0.7))
    by_name = bootstrap(table, metric="roc_auc_score", n_resamples=100, prevalence=prevalence)
    by_table = bootstrap(table, metric=roc_auc_score, n_resamples=100, prevalence=prevalence)
    np.testing.assert_allclose(by_name.replicates, by_table.replicates, rtol=0, atol=1e-13)


@pytest.mark.filterwarnings("ignore:.*leave the statistic undefined")
def test_areas_without_tables_are_undefined_where_one_class_is_missing():
    y, score = [1, 1, 0, 0, 0, 0, 0, 0], np.arange(8) / 8
    by_name = bootstrap(y, score, "roc_auc_score", n_resamples=200).replicates
    by_table = bootstrap(y, score, roc_auc_score, n_resamples=200).replicates
    assert 0 < np.isnan(by_name).sum() < 200
    np.testing.assert_array_equal(by_name, by_table)


def test_binned_tables_keep_their_cells():
    pandas = pytest.importorskip("pandas")
    y, score = rows()
    frame = pandas.DataFrame({"y": y.astype(int), "s": score})
    table = ScoreTable.from_frame(frame, label="y", score="s", resolution=50)
    (again,) = TableSource.of(table).tables(np.random.default_rng(0))
    places = np.searchsorted(table.scores, again.scores)
    np.testing.assert_array_equal(again.lower, table.lower[places])
    np.testing.assert_array_equal(again.upper, table.upper[places])


def test_standard_error_of_a_mean_is_its_closed_form():
    y, score = rows()
    loss = (score - y) ** 2
    expected = loss.std() / math.sqrt(len(y))
    for result in (
        bootstrap(y, score, brier, n_resamples=2000, random_state=1),
        bootstrap(ScoreTable.from_predictions(y, score), metric=brier, n_resamples=2000, random_state=2),
        bootstrap(y, {"a": score, "b": score}, brier, n_resamples=2000, random_state=3),
    ):
        np.testing.assert_allclose(result.standard_errors, expected, rtol=0.05)
        np.testing.assert_allclose(result.values, loss.mean(), rtol=1e-12)


def test_weighted_rows_are_drawn_with_their_weights():
    y, score = rows()
    weight = np.random.default_rng(5).uniform(0.2, 4.0, len(y))
    loss = (score - y) ** 2
    mean = np.average(loss, weights=weight)
    expected = np.sqrt(np.sum((weight * (loss - mean)) ** 2)) / weight.sum()
    result = bootstrap(y, score, brier, sample_weight=weight, n_resamples=3000, random_state=1)
    assert result.values[0, 0] == pytest.approx(mean)
    assert result.standard_errors[0, 0] == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("weighted", [False, True])
def test_stated_prevalence_draws_class_by_class(weighted):
    y, score = rows()
    weight = np.ones(len(y)) if weighted else None  # by way of rows, and by way of the table
    loss = (score - y) ** 2
    p = 0.1
    by_class = [loss[~y].var() / (~y).sum(), loss[y].var() / y.sum()]
    expected = math.sqrt((1 - p) ** 2 * by_class[0] + p**2 * by_class[1])
    result = bootstrap(y, score, brier, sample_weight=weight, prevalence=p, n_resamples=3000, random_state=1)
    assert result.values[0, 0] == pytest.approx((1 - p) * loss[~y].mean() + p * loss[y].mean())
    assert result.standard_errors[0, 0] == pytest.approx(expected, rel=0.05)


def test_stated_prevalence_never_loses_a_class():
    y, score = np.arange(30) < 1, np.linspace(0.1, 0.9, 30)
    for weight in (None, np.ones(30)):
        result = bootstrap(y, score, brier, sample_weight=weight, prevalence=0.1, n_resamples=50, random_state=1)
        assert np.isfinite(result.replicates).all()


@pytest.mark.simulation
def test_clusters_and_blocks_see_what_independent_rows_do_not():
    # each row ten times: the standard error is that of the distinct rows, not of ten times as many
    y, score = (np.repeat(values, 10) for values in rows(300))
    loss = ((score - y) ** 2)[::10]
    expected = loss.std() / math.sqrt(len(loss))
    names = np.repeat([f"case {i}" for i in range(300)], 10)
    clusters = bootstrap(y, score, brier, clusters=names, n_resamples=2000, random_state=1)
    assert clusters.scheme == "clusters"
    assert clusters.standard_errors[0, 0] == pytest.approx(expected, rel=0.06)
    blocks = bootstrap(y, score, brier, block_length=100, n_resamples=2000, random_state=1)
    assert blocks.scheme == "blocks"
    assert blocks.standard_errors[0, 0] == pytest.approx(expected, rel=0.2)
    naive = bootstrap(y, score, brier, n_resamples=2000, random_state=1)
    assert naive.standard_errors[0, 0] == pytest.approx(expected / math.sqrt(10), rel=0.06)


def test_default_block_length_is_the_cube_root():
    y, score = rows(1000)
    by_rule = bootstrap(y, score, brier, block_length="auto", n_resamples=20, random_state=1)
    by_hand = bootstrap(y, score, brier, block_length=10, n_resamples=20, random_state=1)
    np.testing.assert_array_equal(by_rule.replicates, by_hand.replicates)


def test_models_share_each_resample():
    y, score = rows()
    result = bootstrap(y, {"a": score, "b": score**3}, "roc_auc_score", n_resamples=200, random_state=1)
    gap = result.difference("a", "b")
    assert np.all(gap.replicates == 0.0)
    assert gap.models == ("a - b",)
    noisy = np.clip(score + 0.02 * np.random.default_rng(0).normal(size=len(y)), 0, 1)
    losses = ((score - y) ** 2) - ((noisy - y) ** 2)
    pair = bootstrap(y, {"a": score, "b": noisy}, brier, n_resamples=3000, random_state=1).difference("a", "b")
    assert pair.values[0, 0] == pytest.approx(losses.mean())
    assert pair.standard_errors[0, 0] == pytest.approx(losses.std() / math.sqrt(len(y)), rel=0.06)
    with pytest.raises(ValueError, match="the model must be one of 'a', 'b', got 'c'"):
        result.difference("a", "c")


def test_intervals_of_each_kind():
    y, score = rows()
    result = bootstrap(y, score, "roc_auc_score", n_resamples=500, random_state=1, confidence_level=0.8)
    draws, value = result.replicates[:, 0, 0], result.values[0, 0]
    low, high = np.quantile(draws, [0.1, 0.9])
    assert result.intervals()[:, 0, 0] == pytest.approx([low, high])
    assert result.intervals("basic")[:, 0, 0] == pytest.approx([2 * value - high, 2 * value - low])
    half = 1.2815515655446004 * draws.std(ddof=1)
    assert result.intervals("normal")[:, 0, 0] == pytest.approx([value - half, value + half])
    with pytest.raises(ValueError, match="kind must be one of"):
        result.intervals("bca")


def test_same_seed_same_resamples():
    y, score = rows()
    draws = [
        bootstrap(y, score, brier, n_resamples=30, random_state=seed).replicates
        for seed in (4, 4, np.random.default_rng(4), 5)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], draws[3])


def test_several_numbers_at_once_and_their_table():
    y, score = rows()

    def both(table):
        return {"brier": bounded_brier_loss(table), "auc": roc_auc_score(table)}

    result = bootstrap(y, {"m": score}, both, n_resamples=50, random_state=1)
    records = result._records()
    assert [(row["model"], row["statistic"]) for row in records] == [("m", "brier"), ("m", "auc")]
    assert records[1]["value"] == pytest.approx(roc_auc_score(y, score))
    assert records[0]["ci_low"] < records[0]["value"] < records[0]["ci_high"]
    assert "m brier = " in repr(bootstrap(y, {"m": score, "n": score}, both, n_resamples=5, random_state=1))


def test_progress_is_silent_unless_asked_for(capsys):
    y, score = rows(50)
    bootstrap(y, score, brier, n_resamples=5, random_state=1)
    assert capsys.readouterr() == ("", "")
    bootstrap(y, score, brier, n_resamples=250, random_state=1, progress=True)
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.rstrip(" \n").endswith("\rbootstrap: 250 of 250")
    assert "\rbootstrap: 125 of 250, about 0 s left" in written.err
    assert (written.err.count("\n"), written.err[-1]) == (1, "\n")
    seen = []
    bootstrap(y, score, brier, n_resamples=3, random_state=1, progress=lambda done, of: seen.append((done, of)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_optimism_is_reported():
    y, score = rows()
    with pytest.warns(UserWarning, match=r'h_measure_score lie .* above .*metric_interval of "h_measure'):
        bootstrap(y, score, "h_measure_score", n_resamples=100, random_state=1)


def test_undefined_resamples_are_counted():
    with pytest.warns(UserWarning, match=r"\d+ of 100 resamples leave the statistic undefined"):
        result = bootstrap([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], "roc_auc_score", n_resamples=100, random_state=1)
    assert np.isnan(result.replicates).any()
    assert np.isfinite(result.intervals()).all()


def test_infinite_losses_stay_infinite():
    result = bootstrap([0, 1] * 10, [0.2, 0.0] * 10, "bounded_log_loss", bounds=(0, 1), n_resamples=20, random_state=1)
    assert result.values[0, 0] == math.inf
    assert not np.isfinite(result.standard_errors[0, 0])


def test_scores_that_only_rank():
    y, score = rows()
    by_name = bootstrap(y, 10 * score - 3, "roc_auc_score", n_resamples=20, random_state=1)
    function = bootstrap(y, 10 * score - 3, roc_auc_score, probability=False, n_resamples=20, random_state=1)
    np.testing.assert_array_equal(by_name.replicates, function.replicates)
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        bootstrap(y, 10 * score - 3, brier, n_resamples=20)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_resamples": 1}, "n_resamples must be a whole number >= 2, got 1"),
        ({"n_resamples": True}, "n_resamples must be a number, got True"),
        ({"metric": "brier"}, "metric must be one of"),
        ({"metric": "penalized_brier_loss"}, "metric must be one of"),
        ({"bounds": (0, 1)}, "options are for metrics by name, got bounds"),
        ({"clusters": [1, 2] * 200, "block_length": 3}, "cannot both be given"),
        ({"clusters": [1, 2] * 200}, "clusters must hold at least 5 clusters, got 2"),
        ({"block_length": 0}, 'block_length must be "auto" or a whole number from 1 to 80, .*, got 0'),
        ({"block_length": 401}, "at least 5 blocks, got 401"),
        # one block that wraps around holds every row once: all resamples are the rows themselves
        ({"block_length": 400}, "at least 5 blocks, got 400"),
        ({"block_length": 81}, "at least 5 blocks, got 81"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"y_prob": {}}, "y_prob must hold at least one model"),
        ({"y_prob": None}, "y_prob is missing"),
    ],
)
def test_refusals(changes, message):
    y, score = rows()
    given = {"metric": brier, "y_true": y, "y_prob": score} | changes
    with pytest.raises(ValueError, match=message):
        bootstrap(given.pop("y_true"), given.pop("y_prob"), **given)


def test_tables_refuse_what_needs_rows():
    y, score = rows()
    table = ScoreTable.from_predictions(y, score)
    with pytest.raises(ValueError, match="clusters= and block_length= need the rows"):
        bootstrap(table, metric=brier, clusters=np.arange(len(y)))
    with pytest.raises(ValueError, match="must weigh the same"):
        bootstrap(ScoreTable.from_predictions(y, score, sample_weight=1.0 + score), metric=brier)


def games(load_data):
    data = load_data("fivethirtyeight/sports_games")
    data = data[data["outcome1"].isin([0.0, 1.0]) & (data["league"] == "nfl")]
    return data["outcome1"].to_numpy().astype(int), data["prob1"].to_numpy()


def flares(load_data):
    data = load_data("solar_flares_c1/solar_flares_c1")
    return data["y"].to_numpy(), data["NOAA"].to_numpy()


@pytest.mark.parametrize("source", [flares, games], ids=["solar_flares_c1", "fivethirtyeight"])
def test_bootstrap_and_closed_form_agree_on_real_data(load_data, source):
    from stakes.inference import metric_interval

    y, score = source(load_data)

    def three(table):
        return {
            "brier": bounded_brier_loss(table, bounds=(0.1, 0.6)),
            "benefit": net_benefit_score(table, threshold=0.4),
            "auc": roc_auc_score(table),
        }

    result = bootstrap(y, score, three, n_resamples=4000, random_state=1)
    closed = [
        metric_interval(y, score, "bounded_brier_loss", bounds=(0.1, 0.6)),
        metric_interval(y, score, "net_benefit_score", threshold=0.4),
        metric_interval(y, score, "roc_auc_score", method="delong"),  # the other one leaves room for unseen rows
    ]
    low, high = result.intervals()
    for k, estimate in enumerate(closed):
        error = estimate.standard_error
        assert result.values[0, k] == pytest.approx(estimate.value, rel=1e-9)
        assert result.standard_errors[0, k] == pytest.approx(error, rel=0.05)
        assert [low[0, k], high[0, k]] == pytest.approx(estimate.interval, abs=0.15 * error)


def test_a_function_may_keep_its_tables_and_a_metric_by_name_draws_the_same():
    y, score = rows()
    kept, seen = [], []

    def area(table):
        kept.append(table)
        seen.append(table.positives.tolist())
        return roc_auc_score(table)

    by_function = bootstrap(y, score, area, n_resamples=50, random_state=4)
    assert [table.positives.tolist() for table in kept] == seen
    by_name = bootstrap(y, score, "roc_auc_score", n_resamples=50, random_state=4)
    np.testing.assert_array_equal(by_function.replicates, by_name.replicates)
    rng, order = np.random.default_rng(4), np.lexsort((score, y))  # cells in order: negatives, then positives
    for replicate in by_name.replicates[:5, 0, 0]:
        drawn = order[rng.integers(0, len(y), len(y))]
        assert replicate == pytest.approx(roc_auc_score(y[drawn], score[drawn]), abs=1e-12)


def test_resamples_without_a_class_that_a_stated_prevalence_needs_are_left_out():
    """The same draws by hand: undefined where no positive was drawn, else the loss of the repeated rows."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(8), 10)
    y, score = (clusters < 2) & (rng.random(80) < 0.7), rng.random(80).round(2)
    with pytest.warns(UserWarning, match=r"\d+ of 60 resamples leave the statistic undefined"):
        found = bootstrap(
            y, {"a": score, "b": score**2}, "bounded_brier_loss", clusters=clusters, prevalence=0.1, n_resamples=60
        )
    rng, draw, expected = np.random.default_rng(0), draw_clusters(clusters), []
    for _ in range(60):
        again = np.repeat(np.arange(80), draw(rng))
        known = y[again].any()
        losses = [bounded_brier_loss(y[again], s[again], prevalence=0.1) for s in (score, score**2)] if known else None
        expected.append(losses or [math.nan, math.nan])
    assert 0 < np.isnan(expected).any(axis=1).sum() < 30
    np.testing.assert_allclose(found.replicates[:, :, 0], expected, rtol=1e-12)


def test_a_cluster_of_more_than_half_of_a_class_is_warned_of_where_metric_interval_gives_no_interval():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(20), 30)
    for many in (0.3, 1.0):
        y = rng.random(600) < np.where(clusters == 0, many, 0.03)
        score = 1 / (1 + np.exp(-rng.normal(size=600) - y))
        for metric, options in (
            ("roc_auc_score", {}),
            ("bounded_brier_loss", {}),
            ("bounded_brier_loss", {"prevalence": 0.2}),
        ):
            reason = metric_interval(y, score, metric, clusters=clusters, **options).note
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                bootstrap(y, score, metric, clusters=clusters, n_resamples=50, random_state=0, **options)
            assert [str(each.message) for each in seen if each.filename == __file__] == (
                [f"{reason}, and these are too short."] if reason.startswith("one cluster") else []
            )
            assert reason.startswith("one cluster") is (many == 1.0 and (metric, options) != ("bounded_brier_loss", {}))
