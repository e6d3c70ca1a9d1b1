"""Score tables against counting by hand, isotonic regression by its min-max formula, and other libraries."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracles import Rows
from scipy.optimize import isotonic_regression
from strategies import Sample, samples

from stakes import RowCosts, ScoreTable, TimeToEvent, evaluate

# of weights on this grid every sum is exact
EXACT = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 3.0])
exact_samples = samples(weight=EXACT)


def table_of(sample, **options):
    return ScoreTable.from_predictions(sample.y, sample.score, sample_weight=sample.weight, **options)


def assert_same(one, other, rtol=0.0):
    np.testing.assert_array_equal(one.scores, other.scores)
    for name in ("positives", "negatives", "positives_squared", "negatives_squared"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=0, err_msg=name)
    assert one.n_rows == other.n_rows


# ------------------------------------------------------------------------------------------------------ counting
@given(exact_samples)
def test_table_counts_each_class_at_each_distinct_score(sample):
    table, rows = table_of(sample), Rows(sample.y, sample.score, sample.weight)
    assert table.scores.tolist() == rows.levels
    assert not np.any(np.signbit(table.scores))
    for name, power in (("", 1), ("_squared", 2)):
        assert getattr(table, f"positives{name}").tolist() == rows.at_level(positive=True, power=power)
        assert getattr(table, f"negatives{name}").tolist() == rows.at_level(positive=False, power=power)
    assert table.n_rows == len(rows.y)
    assert (table.total, table.total_positives) == (rows.total, sum(rows.at_level(positive=True)))
    assert table.prevalence == pytest.approx(float(sum(rows.at_level(positive=True)) / rows.total), rel=1e-15)


@given(samples())
def test_any_weights_are_summed_to_rounding(sample):
    table, rows = table_of(sample), Rows(sample.y, sample.score, sample.weight)
    np.testing.assert_allclose(table.positives, [float(v) for v in rows.at_level(positive=True)], rtol=1e-14)
    np.testing.assert_allclose(table.negatives, [float(v) for v in rows.at_level(positive=False)], rtol=1e-14)


@given(exact_samples, st.randoms(use_true_random=False))
def test_order_of_the_rows_does_not_matter(sample, shuffler):
    order = list(range(len(sample.y)))
    shuffler.shuffle(order)
    weight = None if sample.weight is None else [sample.weight[i] for i in order]
    shuffled = Sample([sample.y[i] for i in order], [sample.score[i] for i in order], weight)
    assert_same(table_of(shuffled), table_of(sample))


@given(samples(weight=st.integers(0, 3)))
def test_integer_weights_are_repeated_rows(sample):
    if sample.weight is None:
        return
    y, score = np.repeat(sample.y, sample.weight), np.repeat(sample.score, sample.weight)
    weighted, repeated = table_of(sample), ScoreTable.from_predictions(y, score)
    np.testing.assert_array_equal(weighted.scores, repeated.scores)
    np.testing.assert_array_equal(weighted.positives, repeated.positives)
    np.testing.assert_array_equal(weighted.negatives, repeated.negatives)


@given(exact_samples)
def test_weights_of_one_are_no_weights(sample):
    plain = Sample(sample.y, sample.score, None)
    ones = Sample(sample.y, sample.score, [1.0] * len(sample.y))
    assert_same(table_of(ones), table_of(plain))


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 1.0, 1.0]], ids=["unweighted", "weighted"])
def test_minus_zero_is_pooled_with_zero(weight):
    table = ScoreTable.from_predictions([1, 0, 1, 0], [-0.0, 0.0, 0.5, -0.0], sample_weight=weight)
    assert table.scores.tolist() == [0.0, 0.5]
    assert not np.any(np.signbit(table.scores))
    assert table.positives.tolist() == [1.0, 1.0]


def test_rows_of_weight_zero_are_absent():
    table = ScoreTable.from_predictions([0, 1, 1], [0.1, 0.5, 0.9], sample_weight=[1, 0, 2])
    assert (table.scores.tolist(), table.n_rows, table.total) == ([0.1, 0.9], 2, 3.0)


@given(
    samples(score=st.one_of(st.integers(-3, 3).map(float), st.floats(-1e300, 1e300), st.sampled_from([-0.0, -5e-324])))
)
def test_scores_that_only_rank_may_be_negative(sample):
    table, rows = table_of(sample, probability=False), Rows(sample.y, sample.score, sample.weight)
    assert table.scores.tolist() == rows.levels
    np.testing.assert_allclose(table.positives, [float(v) for v in rows.at_level(positive=True)], rtol=1e-14)
    np.testing.assert_allclose(table.negatives, [float(v) for v in rows.at_level(positive=False)], rtol=1e-14)


@pytest.mark.parametrize("rows", [1, 2, (1 << 15) - 1, 1 << 15, (1 << 15) + 1, 3 * (1 << 15) + 5])
@pytest.mark.parametrize("distinct", [None, 3, 5000], ids=["all-distinct", "3-scores", "5000-scores"])
def test_long_tables_are_counted_across_blocks(rows, distinct):
    rng = np.random.default_rng(rows)
    score = rng.random(rows) if distinct is None else rng.integers(0, distinct, rows) / distinct
    y = rng.random(rows) < score
    table = ScoreTable.from_predictions(y, score)
    levels, index = np.unique(score, return_inverse=True)
    np.testing.assert_array_equal(table.scores, levels)
    np.testing.assert_array_equal(table.positives, np.bincount(index, y, len(levels)))
    np.testing.assert_array_equal(table.negatives, np.bincount(index, ~y, len(levels)))


def test_counting_leaves_the_callers_arrays_alone():
    y, score, weight = np.array([1, 0, 1]), np.array([0.5, -0.0, 0.1]), np.array([1.0, 2.0, 0.0])
    kept = y.copy(), score.copy(), weight.copy()
    for array in (y, score, weight):
        array.flags.writeable = False
    ScoreTable.from_predictions(y, score).recalibrated()
    ScoreTable.from_predictions(y, score, sample_weight=weight).with_prevalence(0.5)
    for array, before in zip((y, score, weight), kept, strict=True):
        np.testing.assert_array_equal(array, before)
        np.testing.assert_array_equal(np.signbit(array), np.signbit(before))


def test_nearly_equal_and_subnormal_scores_stay_apart():
    score = [0.1, np.nextafter(0.1, 1), np.nextafter(0.1, 0), 0.0, 5e-324, 1e-323, 1 - 2**-53, 1.0]
    y = [1, 0, 1, 0, 1, 0, 1, 1]
    for weight in (None, [1.0] * 8):
        table = ScoreTable.from_predictions(y, score, sample_weight=weight)
        assert table.scores.tolist() == sorted(score)
        assert table.positives.tolist() == [y[score.index(s)] for s in sorted(score)]


def test_log_odds_become_probabilities():
    table = ScoreTable.from_predictions([0, 1, 1], [-np.log(3), 0.0, np.log(4)], logits=True)
    np.testing.assert_allclose(table.scores, [0.25, 0.5, 0.8], rtol=1e-15)


# ----------------------------------------------------------------------------------------------------- containers
Y = [0, 1, 1, 0, 1]
S = [0.125, 0.5, 0.125, 0.25, 0.75]
W = [1.0, 2.0, 0.0, 0.5, 1.0]


@pytest.mark.parametrize("labels", [list, tuple, np.int8, np.uint8, np.int64, bool, np.float32, object])
@pytest.mark.parametrize("numbers", [list, tuple, np.float16, np.float32, np.float64, np.longdouble, object])
def test_lists_and_numpy_arrays_of_any_type_agree(labels, numbers):
    def convert(values, kind):
        return kind(values) if kind in (list, tuple) else np.array(values, dtype=kind)

    expected = ScoreTable.from_predictions(Y, S, sample_weight=W)
    found = ScoreTable.from_predictions(convert(Y, labels), convert(S, numbers), sample_weight=convert(W, numbers))
    assert_same(found, expected)
    assert found.scores.dtype == found.positives.dtype == np.float64


def test_strided_and_reversed_arrays_agree():
    wide = np.array([S, S]).T.copy()[:, 1]
    assert_same(ScoreTable.from_predictions(np.array(Y)[::-1], wide[::-1]), ScoreTable.from_predictions(Y, S))


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        ([-1, 1, 1, -1, 1], None),
        ([False, True, True, False, True], None),
        (["no", "yes", "yes", "no", "yes"], "yes"),
        ([5, 2, 2, 5, 2], 2),
        ([1, 0, 0, 1, 0], 0),
        ([True, False, False, True, False], False),
    ],
)
def test_labels_of_any_two_values_agree(labels, pos_label):
    found = ScoreTable.from_predictions(labels, S, sample_weight=W, pos_label=pos_label)
    assert_same(found, ScoreTable.from_predictions(Y, S, sample_weight=W))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_data_frames_agree(library):
    module = pytest.importorskip(library)
    data = {"y": Y, "s": S, "w": W}
    frame = module.table(data) if library == "pyarrow" else module.DataFrame(data)
    found = ScoreTable.from_predictions(frame["y"], frame["s"], sample_weight=frame["w"])
    assert_same(found, ScoreTable.from_predictions(Y, S, sample_weight=W))
    both = {"p0": [1 - s for s in S], "p1": S}
    columns = module.table(both) if library == "pyarrow" else module.DataFrame(both)
    assert_same(ScoreTable.from_predictions(frame["y"], columns), ScoreTable.from_predictions(Y, S))


def test_pandas_rows_of_one_index_go_by_position_whatever_its_order():
    pd = pytest.importorskip("pandas")
    y, s = pd.Series(Y, index=[9, 7, 5, 3, 3]), pd.Series(S, index=[9, 7, 5, 3, 3])
    assert_same(ScoreTable.from_predictions(y, s), ScoreTable.from_predictions(Y, S))
    assert_same(ScoreTable.from_predictions(y, S), ScoreTable.from_predictions(Y, S))


@pytest.mark.parametrize("kind", ["category", "string", "Int64", "boolean"])
def test_pandas_extension_types_agree(kind):
    pd = pytest.importorskip("pandas")
    as_text = kind in {"category", "string"}
    labels = pd.Series(["no", "yes", "yes", "no", "yes"] if as_text else Y).astype(kind)
    found = ScoreTable.from_predictions(labels, pd.Series(S, dtype="Float64"), pos_label="yes" if as_text else None)
    assert_same(found, ScoreTable.from_predictions(Y, S))


# -------------------------------------------------------------------------------------------- merging, reweighting
@given(exact_samples, exact_samples)
def test_merging_is_concatenating_the_rows(one, other):
    weight = [w for s in (one, other) for w in (s.weight if s.weight is not None else [1.0] * len(s.y))]
    together = Sample(one.y + other.y, one.score + other.score, weight)
    merged = table_of(one).merge(table_of(other))
    assert_same(merged, table_of(together))
    assert_same(table_of(other).merge(table_of(one)), merged)


@given(samples(), st.floats(0.001, 0.999))
def test_prevalence_is_set_by_weighting_the_classes(sample, prevalence):
    table = table_of(sample)
    if not 0 < table.prevalence < 1:
        with pytest.raises(ValueError, match="both classes"):
            table.with_prevalence(prevalence)
        return
    moved = table.with_prevalence(prevalence)
    assert moved.prevalence == pytest.approx(prevalence, rel=1e-12)
    assert moved.total == pytest.approx(table.total, rel=1e-12)
    weight = np.ones(len(sample.y)) if sample.weight is None else np.array(sample.weight)
    positive = np.array(sample.y) == 1
    shares = [weight[positive].sum() / weight.sum(), weight[~positive].sum() / weight.sum()]  # 1 - share would cancel
    ups = np.where(positive, prevalence / shares[0], (1 - prevalence) / shares[1])
    assert_same(moved, ScoreTable.from_predictions(sample.y, sample.score, sample_weight=weight * ups), rtol=1e-12)
    assert (moved.fixed_prevalence, table.fixed_prevalence) == (True, False)
    assert moved.recalibrated().fixed_prevalence
    assert moved.at_threshold(0.5).fixed_prevalence


@pytest.mark.parametrize("prevalence", [0, 1, -0.1, 1.5, float("nan")])
def test_prevalence_must_lie_inside_0_and_1(prevalence):
    with pytest.raises(ValueError, match=rf"prevalence must lie in \(0, 1\), got {prevalence}"):
        ScoreTable.from_predictions(Y, S).with_prevalence(prevalence)


def test_merging_reweighted_or_binned_tables_is_refused():
    table = ScoreTable.from_predictions(Y, S)
    binned = ScoreTable(
        *(table.scores, table.positives, table.negatives, table.positives, table.negatives, 5),
        lower=table.scores,
        upper=table.scores,
    )
    for other in (table.with_prevalence(0.5), binned):
        for one, two in ((table, other), (other, table)):
            with pytest.raises(ValueError, match="merge needs tables as they were counted"):
                one.merge(two)


# -------------------------------------------------------------------------------------------------- recalibration
@given(exact_samples)
def test_recalibrated_scores_are_the_min_max_formula(sample):
    table, rates = table_of(sample), Rows(sample.y, sample.score, sample.weight).isotonic()
    np.testing.assert_allclose(table.pav_by_score(), [float(r) for r in rates], rtol=1e-15, atol=0)
    assert table.recalibrated().scores.tolist() == pytest.approx([float(r) for r in sorted(set(rates))], rel=1e-15)


@given(exact_samples)
def test_recalibration_pools_rows_and_keeps_them(sample):
    table = table_of(sample)
    again = table.recalibrated()
    assert np.all(np.diff(again.scores) > 0)
    assert (again.total_positives, again.total_negatives) == (table.total_positives, table.total_negatives)
    assert again.n_rows == table.n_rows
    np.testing.assert_array_equal(again.positives_squared.sum(), table.positives_squared.sum())
    np.testing.assert_array_equal(again.scores, again.positives / (again.positives + again.negatives))


@given(exact_samples)
def test_recalibrating_twice_changes_nothing(sample):
    once = table_of(sample).recalibrated()
    assert_same(once.recalibrated(), once)


def test_tied_scores_are_pooled_before_the_isotonic_fit():
    # row by row, 1 before 0 at the tied score would give 1/2, 1/2, ... and 0 before 1 would give 0, 1
    for y in ([0, 1, 1], [1, 0, 1]):
        table = ScoreTable.from_predictions(y, [0.3, 0.3, 0.9])
        assert table.pav_by_score().tolist() == [0.5, 1.0]


def test_blocks_of_equal_rate_are_one_block():
    table = ScoreTable.from_predictions([0, 1] * 3, [0.1, 0.1, 0.2, 0.2, 0.3, 0.3])
    assert table.recalibrated().scores.tolist() == [0.5]


@pytest.mark.parametrize("shape", ["noise", "falling", "rising", "sawtooth", "slow"])
@pytest.mark.parametrize("weighted", [False, True])
def test_long_isotonic_fits_agree_with_scipy(shape, weighted):
    rng = np.random.default_rng(11)
    n = 80_000
    score = np.arange(n) / n
    rate = {
        "noise": score**2,
        "falling": 1 - score,
        "rising": score,
        "sawtooth": (np.arange(n) % 97) / 97,
        "slow": np.abs(np.sin(np.sqrt(np.arange(n)))),
    }[shape]
    y = rng.random(n) < rate
    weight = rng.integers(1, 9, n) / 4 if weighted else None
    table = ScoreTable.from_predictions(y, score, sample_weight=weight)
    expected = isotonic_regression(y.astype(float), weights=weight).x
    np.testing.assert_allclose(table.pav_by_score(), expected, rtol=1e-12, atol=0)


def test_isotonic_fit_agrees_with_scipy_where_few_scores_merge_at_a_time():
    # nearly calibrated groups: hardly any neighbours fall, so that the sequential algorithm has to finish the work
    rng = np.random.default_rng(2)
    groups, size = 3000, 40
    positives = np.sort(rng.binomial(size, np.linspace(0.1, 0.9, groups)) + rng.choice([0, 0, 0, 0, 0, -2], groups))
    swap = rng.permutation(groups - 1)[:200]
    positives[swap], positives[swap + 1] = positives[swap + 1], positives[swap].copy()
    y = np.concatenate([np.r_[np.ones(p), np.zeros(size - p)] for p in np.clip(positives, 0, size)])
    score = np.repeat(np.arange(groups) / groups, size)
    expected = isotonic_regression(np.clip(positives, 0, size) / size).x
    np.testing.assert_allclose(ScoreTable.from_predictions(y, score).pav_by_score(), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-170, 1e160])
def test_recalibration_does_not_depend_on_the_scale_of_the_weights(scale):
    positives, negatives = scale * np.array([0, 1, 0, 1, 1.0]), scale * np.array([1, 0, 1, 0, 0.0])
    table = ScoreTable(np.arange(5) / 5, positives, negatives, positives, negatives, n_rows=5)
    assert table.pav_by_score().tolist() == [0.0, 0.5, 0.5, 1.0, 1.0]


def test_weights_whose_squares_overflow_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight must be 0 or lie in .*, got 1e\+160 at index 1"):
        ScoreTable.from_predictions([0, 1], [0.1, 0.2], sample_weight=[1.0, 1e160])


@given(st.data())
def test_recalibrated_scores_ascend_for_weights_that_round(data):
    # multiples of 0.1 and of 1/3: equal rates whose floats differ
    rows = data.draw(st.integers(2, 8))
    parts = st.sampled_from([k * unit for k in range(1, 8) for unit in (0.1, 1 / 3, 0.7)])
    positive, negative = (np.array(data.draw(st.lists(parts, min_size=rows, max_size=rows))) for _ in range(2))
    score = np.arange(rows) / rows
    table = ScoreTable.from_predictions(
        np.repeat([1, 0], rows), np.tile(score, 2), sample_weight=np.concatenate([positive, negative])
    )
    assert np.all(np.diff(table.recalibrated().scores) >= -1e-15)
    expected = Rows(np.repeat([1, 0], rows), np.tile(score, 2), np.concatenate([positive, negative])).isotonic()
    np.testing.assert_allclose(table.pav_by_score(), [float(r) for r in expected], rtol=1e-12)


def test_recalibrated_scores_of_equal_rates_are_one_score():
    positive, negative = [3 * 0.3, 0.3], [3 * 0.1, 0.1]  # 3/4 twice, to rounding
    table = ScoreTable.from_predictions([1, 1, 0, 0], [0.1, 0.2] * 2, sample_weight=positive + negative)
    assert np.all(np.diff(table.recalibrated().scores) > 0)


# ---------------------------------------------------------------------------------------------------- thresholds
@given(exact_samples, st.one_of(st.floats(-0.5, 1.5), st.sampled_from([0.0, 0.5, 1.0, 0.0625])))
def test_hard_labels_act_from_the_threshold_on(sample, threshold):
    table = table_of(sample)
    for cut in (threshold, *table.scores[:3], np.nextafter(table.scores[0], 2), np.nextafter(table.scores[-1], -1)):
        hard = table.at_threshold(float(cut))
        expected = Sample(sample.y, [float(s >= cut) for s in sample.score], sample.weight)
        assert_same(hard, table_of(expected))


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), -float("inf")])
def test_threshold_must_be_finite(threshold):
    with pytest.raises(ValueError, match=f"threshold must be finite, got {threshold}"):
        ScoreTable.from_predictions(Y, S).at_threshold(threshold)


@given(exact_samples)
def test_error_rates_are_those_of_acting_from_each_score_on(sample):
    table, rows = table_of(sample), Rows(sample.y, sample.score, sample.weight)
    errors = [rows.errors(t) for t in [*rows.levels, float("inf")]]
    np.testing.assert_allclose(table.false_positives, [float(fp) for fp, _ in errors], rtol=1e-15, atol=0)
    np.testing.assert_allclose(table.false_negatives, [float(fn) for _, fn in errors], rtol=1e-15, atol=0)


def test_rare_errors_keep_their_digits_beside_common_ones():
    table = ScoreTable.from_predictions([0, 0, 1, 1], [0.1, 0.9, 0.1, 0.9], sample_weight=[1e8, 1e-8, 1e-8, 1e8])
    np.testing.assert_allclose(table.false_positives[1:], [1e-8 / 2e8, 0.0], rtol=1e-12)
    np.testing.assert_allclose(table.false_negatives[:2], [0.0, 1e-8 / 2e8], rtol=1e-12)


# ---------------------------------------------------------------------------------------------------------- faces
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frame_holds_the_columns_in_the_named_library(library):
    module = pytest.importorskip(library)
    table = ScoreTable.from_predictions(Y, S, sample_weight=W)
    for backend in (library, module):
        frame = table.frame(backend)
        assert type(frame).__module__.split(".")[0] == library
        columns = frame.to_pydict() if library == "pyarrow" else {c: frame[c].to_list() for c in frame.columns}
        assert columns == {
            "score": table.scores.tolist(),
            "positives": table.positives.tolist(),
            "negatives": table.negatives.tolist(),
        }


def test_frame_of_an_unknown_library_names_the_known_ones():
    with pytest.raises(ValueError, match="backend must be one of pandas, polars, pyarrow, got 'excel'"):
        ScoreTable.from_predictions(Y, S).frame("excel")


def test_representation_answers_the_first_questions():
    table = ScoreTable.from_predictions(Y, S, sample_weight=W)
    assert repr(table) == f"ScoreTable(4 rows, 4 distinct scores in [0.125, 0.75], prevalence {3 / 4.5:.6g})"
    assert (
        repr(ScoreTable.from_predictions([0], [0.5]))
        == "ScoreTable(1 rows, 1 distinct score in [0.5, 0.5], prevalence 0)"
    )


def test_tables_do_not_change_under_the_reader():
    table = ScoreTable.from_predictions(Y, S)
    with pytest.raises(AttributeError):
        table.scores = table.scores
    assert table.prevalence == 0.6


@pytest.mark.parametrize("decimals", [1, 2, 4])
def test_tied_scores_are_counted_across_the_pieces_that_are_read_at_once(decimals):
    rng = np.random.default_rng(0)
    scores = np.round(rng.random(30_000), decimals)
    y = rng.random(30_000) < scores
    table = ScoreTable.from_predictions(y, scores)
    distinct, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    ups = np.bincount(place, weights=y)
    assert np.array_equal(table.scores, distinct)
    assert np.array_equal(table.positives, ups)
    assert np.array_equal(table.negatives, count - ups)


@pytest.mark.parametrize("equal", [0, 3, 900, 9000], ids=lambda k: f"{k} of 20000 equal")
def test_tables_of_many_rows_hold_each_score_once_and_know_their_knots(equal):
    rng = np.random.default_rng(3)
    score = rng.random(20_000)
    score[:equal] = score[rng.integers(equal, 20_000, equal)]
    for extra in ([], [0.0, 1.0, 1.0]):
        values = np.concatenate([score, extra])
        y = rng.random(len(values)) < 0.3
        table = ScoreTable.from_predictions(y, values)
        distinct, level = np.unique(values, return_inverse=True)
        np.testing.assert_array_equal(table.scores, distinct)
        np.testing.assert_array_equal(table.positives, np.bincount(level, y))
        np.testing.assert_array_equal(table.negatives, np.bincount(level, ~y))
        inner = distinct[(distinct > 0.0) & (distinct < 1.0)]
        np.testing.assert_array_equal(table.knots, np.concatenate([[0.0], inner, [1.0]]))
        part = table.within(0.0, 0.5)
        inner = part.scores[part.scores > 0.0]
        np.testing.assert_array_equal(part.knots, np.concatenate([[0.0], inner, [1.0]]))


def test_knots_are_right_whatever_stands_around_the_scores_in_memory():
    ones = np.ones(2)
    for framed in ([0, 0.2, 0.5], [0, 0.2, 0.5, 1], [0, 0.2, 0.5, 0.9], [0.1, 0.2, 0.5, 1], [0, 0.2, 0.5, 1, 1.5]):
        table = ScoreTable(np.array(framed, dtype=float)[1:3], ones, ones, ones, ones, n_rows=4)
        assert table.knots.tolist() == [0.0, 0.2, 0.5, 1.0]
        # no copy where 0 and 1 stand beside the scores already
        assert np.shares_memory(table.knots, table.scores) == (framed[0] == 0 and framed[3:4] == [1])
    # a score of 0 or 1 is an end itself
    for scores, knots in (([0.0, 0.5], [0.0, 0.5, 1.0]), ([0.5, 1.0], [0.0, 0.5, 1.0]), ([0.0, 1.0], [0.0, 1.0])):
        table = ScoreTable(np.array([0.0, *scores, 1.0])[1:3], ones, ones, ones, ones, n_rows=4)
        assert table.knots.tolist() == knots
    one = np.ones(1)
    for end in (0.0, 1.0):
        assert ScoreTable(np.array([end]), one, one, one, one, n_rows=2).knots.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("other", "positive"), [(0, 1), (2, 1), ("no", "yes"), (True, False)])
def test_tables_keep_the_label_beside_the_positive_one(other, positive):
    y, p = np.array([0, 1, 0, 1, 1]), np.array([0.1, 0.7, 0.3, 0.2, 0.4])
    labels = np.array([positive if each else other for each in y], dtype=object)
    table = ScoreTable.from_predictions(labels, p, pos_label=positive)
    assert table.neg_label == other
    assert ScoreTable.from_json(table.to_json()).neg_label == other
    assert table.merge(ScoreTable.from_predictions(labels[y == 1], p[y == 1], pos_label=positive)).neg_label == other
    more = np.array([*labels, "odd"], dtype=object)
    counted = ScoreTable.from_predictions(more, [*p, 0.5], sample_weight=[1] * 5 + [0], pos_label=positive)
    assert counted.neg_label == other  # rows of weight zero are as if absent
    odd = ScoreTable.from_predictions(np.where(y == 1, labels, "odd"), p, pos_label=positive)
    for refused in (lambda: table.merge(odd), lambda: evaluate({"a": table, "b": odd}, costs=0.3)):
        with pytest.raises(ValueError, match=r"of the same labels, got .* beside .* and beside 'odd'"):
            refused()
    content = json.loads(table.to_json())
    with pytest.raises(ValueError, match="neg_label must be another label than the positive one"):
        ScoreTable.from_json(json.dumps({**content, "neg_label": content["pos_label"]}))


@pytest.mark.parametrize("resolution", [None, 8])
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("engine", ["eager", "lazy", "duckdb"])
def test_tables_of_frames_keep_the_label_beside_the_positive_one(engine, weight, resolution):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"y": [2, 1, 1, 2, 3], "p": [0.1, 0.8, 0.4, 0.3, 0.5], "w": [1.0, 2.0, 1.0, 1.0, 0.0]})
    frame = frame if weight else frame[:4]
    given = frame.lazy() if engine == "lazy" else frame
    if engine == "duckdb":
        given = pytest.importorskip("duckdb").sql("select * from frame")
    table = ScoreTable.from_frame(given, label="y", score="p", weight=weight, pos_label=1, resolution=resolution)
    assert (table.pos_label, table.neg_label) == (1, 2)


def test_tables_of_other_outcomes_or_units_are_not_added():
    y, p = [0, 1, 0, 1] * 50, [0.1, 0.8, 0.3, 0.6] * 50
    time = np.arange(1.0, 201.0) / 10.0
    euros, yen = (
        RowCosts(y, false_positive=15.0 * k, false_negative=np.arange(1.0, 201.0) * k, unit=unit)
        for k, unit in ((1, "EUR"), (160, "JPY"))
    )
    five, ten = (TimeToEvent(event=y, time=time, horizon=horizon) for horizon in (5, 10))
    by = {
        "labels": y,
        "rows weighted by EUR at stake": euros,
        "rows weighted by JPY at stake": yen,
        "event by horizon 5, rows weighted for censoring": five,
        "event by horizon 10, rows weighted for censoring": ten,
    }
    tables = {about: ScoreTable.from_predictions(outcome, p) for about, outcome in by.items()}
    for one, two in permutations(by, 2):
        each = (repr(about.removesuffix(", rows weighted for censoring")) for about in (one, two))
        message = f"^merge needs tables of the same outcome and unit of amounts, got {' and '.join(each)}.$"
        with pytest.raises(ValueError, match=message):
            tables[one].merge(tables[two])
    for about, table in tables.items():
        assert table.merge(table).about == about.replace("labels", "")
    seen = ScoreTable.from_predictions(TimeToEvent(event=y, time=np.where(y, time, 20.0), horizon=5), p)
    censored = tables["event by horizon 5, rows weighted for censoring"]
    for both in (seen.merge(censored), censored.merge(seen)):
        assert (seen.estimated_weights, both.estimated_weights) == (False, True)  # no row of one part is censored
        assert both.about == "event by horizon 5, rows weighted for censoring"


@pytest.mark.parametrize("wrong", ["0.35", None, True, [0.35]])
def test_a_threshold_and_ends_that_are_no_numbers_are_refused_by_name(wrong):
    table = ScoreTable.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8])
    for name, call in (
        ("threshold", lambda: table.at_threshold(wrong)),
        ("low", lambda: table.within(wrong, 1.0)),
        ("high", lambda: table.within(0.0, wrong)),
    ):
        with pytest.raises(ValueError, match=f"^{name} must be a number, got "):
            call()
