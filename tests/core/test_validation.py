"""Each rule for labels, scores and weights: what is taken, and the message where it is not."""

from __future__ import annotations

import re
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from strategies import samples

import stakes
from stakes.actions import fit_deferral
from stakes.base.formulas import refuse_first_column
from stakes.base.validation import (
    check_choice,
    check_labels,
    check_sample,
    check_scores,
    check_unit,
    check_weights,
    pick_positive_column,
    plain_labels,
    positive_is_first,
    to_array,
    to_floats,
)
from stakes.boundary import fit_boundary
from stakes.core.options import evaluation_data
from stakes.correction import update
from stakes.utility import optimal_decisions, population_threshold

NAN, INF = float("nan"), float("inf")
Y, S = [0, 1, 1], [0.1, 0.7, 0.4]


def refused(message, *arguments, **options):
    with pytest.raises(ValueError, match=message):
        check_sample(*arguments, **options)


@given(samples())
def test_clean_rows_pass_through_and_zero_weights_are_dropped(sample):
    found = check_sample(sample.y, sample.score, sample_weight=sample.weight)
    weight = np.ones(len(sample.y)) if sample.weight is None else np.array(sample.weight)
    kept = weight > 0
    np.testing.assert_array_equal(found.y, np.array(sample.y)[kept] == 1)
    np.testing.assert_array_equal(found.score, np.array(sample.score)[kept])
    assert (found.y.dtype, found.score.dtype) == (bool, np.float64)
    if sample.weight is None:
        assert found.weight is None
    else:
        np.testing.assert_array_equal(found.weight, weight[kept])


def test_rows_of_weight_zero_can_be_kept_for_losses_per_row():
    kept = check_sample([0, 1], [0.1, 0.9], sample_weight=[0, 2], keep_zero_weight=True)
    assert (kept.y.tolist(), kept.score.tolist(), kept.weight.tolist()) == ([False, True], [0.1, 0.9], [0.0, 2.0])
    refused(r"^sample_weight must not be all zero", [0, 1], [0.1, 0.9], sample_weight=[0, 0], keep_zero_weight=True)


# --------------------------------------------------------------------------------------------------------- labels
@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([0, 1, 1], [0, 1, 1]),
        ([0.0, 1.0, 1.0], [0, 1, 1]),
        ([-1, 1, 1], [0, 1, 1]),
        ([False, True, True], [0, 1, 1]),
        ([1, 1, 1], [1, 1, 1]),
        ([0, 0, 0], [0, 0, 0]),
        ([-1, -1, -1], [0, 0, 0]),
        (np.array([0, 1, 1], dtype=np.uint8), [0, 1, 1]),
        (np.array([0, 1, 1], dtype=object), [0, 1, 1]),
    ],
)
def test_labels_zero_one_and_minus_one_one_need_no_pos_label(labels, positive):
    assert check_sample(labels, S).y.tolist() == [bool(p) for p in positive]


@pytest.mark.parametrize(
    ("labels", "pos_label", "positive"),
    [
        (["b", "m", "b"], "m", [0, 1, 0]),
        (["b", "m", "b"], "b", [1, 0, 1]),
        ([1, 2, 2], 2, [0, 1, 1]),
        ([0, 1, 1], 0, [1, 0, 0]),
        ([0, 1, 1], True, [0, 1, 1]),
        (["b", "b", "b"], "m", [0, 0, 0]),
        (["m", "m", "m"], "m", [1, 1, 1]),
        (np.array([None, "m", "m"], dtype=object)[1:], "m", [1, 1]),
        ([b"b", b"m", b"m"], b"m", [0, 1, 1]),
    ],
)
def test_pos_label_names_the_positive_class(labels, pos_label, positive):
    assert check_sample(labels, S[: len(labels)], pos_label=pos_label).y.tolist() == [bool(p) for p in positive]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 2], r"^y_true must hold two values, got 3 \(0, 1, 2\); the third, 2, is first seen at index 2\.$"),
        (["a", "c", "b", "c"], r"got 3 \('a', 'b', 'c'\); the third, 'c', is first seen at index 1"),
        (list(range(9)), r"got 9 \(0, 1, 2, 3, 4, \.\.\.\); the third, 2, is first seen at index 2"),
        ([0, "a", 1], r"got 3 \("),
        (["no", "yes"], r"^y_true holds 'no', 'yes': pass pos_label= to say which label is positive"),
        ([1, 2], r"^y_true holds 1, 2: pass pos_label="),
        ([-1, 0], r"^y_true holds -1, 0: pass pos_label="),
        ([3, 3], r"^y_true holds 3: pass pos_label="),
    ],
)
def test_other_labels_are_refused(labels, message):
    refused(message, labels, [0.5] * len(labels))


def test_a_pos_label_that_is_not_there_is_refused():
    refused(
        r"^pos_label must be one of the labels \('no', 'yes'\), got 'Yes'\.$",
        ["no", "yes"],
        [0.1, 0.2],
        pos_label="Yes",
    )
    refused(r"^pos_label must be one of the labels \('0', '1'\), got 1\.$", ["0", "1"], [0.1, 0.2], pos_label=1)


@pytest.mark.parametrize(
    "labels",
    [
        [0, NAN, 1, NAN],
        np.array([0.0, NAN, 1.0, NAN]),
        [0, None, 1, None],
        np.array(["a", None, "b", None], dtype=object),
    ],
)
def test_missing_labels_are_counted_and_the_first_is_shown(labels):
    refused(r"^y_true must not be missing, got 2 of 4 missing, the first at index 1\.$", labels, [0.5] * 4)


@pytest.mark.parametrize("kind", ["Int64", "float64", "object", "category"])
def test_missing_pandas_labels_are_counted(kind):
    pd = pytest.importorskip("pandas")
    labels = pd.Series([0, None, 1], dtype=kind)
    refused(r"^y_true must not be missing, got 1 of 3 missing, the first at index 1", labels, S)


@pytest.mark.parametrize("kind", ["boolean", "string", "list"])
def test_pandas_na_counts_as_missing(kind):
    pd = pytest.importorskip("pandas")
    labels = (
        [0, pd.NA, 1]
        if kind == "list"
        else pd.Series([True, None, False] if kind == "boolean" else ["a", None, "b"], dtype=kind)
    )
    refused(r"^y_true must not be missing, got 1 of 3 missing, the first at index 1", labels, S, pos_label=1)


def test_polars_and_arrow_nulls_count_as_missing():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for labels in (
        pl.Series([0, None, 1]),
        pl.Series(["a", None, "b"]),
        pl.Series([True, None, False]),
        pa.chunked_array([[0, None, 1]]),
    ):
        refused(r"^y_true must not be missing, got 1 of 3 missing, the first at index 1", labels, S)
    for scores in (pl.Series([0.1, None, 0.2]), pa.chunked_array([[0.1, None, 0.2]]), pa.array([0.1, None, 0.2])):
        refused(r"^y_prob must be finite, got nan at index 1 \(1 of 3", Y, scores)


# --------------------------------------------------------------------------------------------------------- scores
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.1, NAN, INF], r"^y_prob must be finite, got nan at index 1 \(2 of 3 are not finite\)"),
        ([0.1, -INF, 0.2], r"^y_prob must be finite, got -inf at index 1 \(1 of 3"),
        ([0.1, 0.2, None], r"^y_prob must be finite, got nan at index 2"),
        (
            [0.1, 1.5, -2.0],
            r"^y_prob must lie in \[0, 1\], got 1.5 at index 1 \(2 of 3 lie outside\)\. Pass the probability",
        ),
        ([0.1, np.nextafter(1, 2), 0.2], r"^y_prob must lie in \[0, 1\], got 1.0000000000000002 at index 1"),
        ([0.1, -5e-324, 0.2], r"^y_prob must lie in \[0, 1\], got -5e-324 at index 1"),
        ([0.1, "high", 0.2], r"^y_prob must be numeric, got 'high' at index 1"),
        ([0.1, {}, 0.2], r"^y_prob must be numeric, got \{\} at index 1"),
        ([], r"^y_prob must hold at least one row"),
        (0.5, r"^y_prob must be 1-D, or the two columns of predict_proba, got shape \(\)"),
        (np.full((3, 2, 1), 0.5), r"^y_prob must be 1-D, or the two columns of predict_proba, got shape \(3, 2, 1\)"),
        (np.full((3, 3), 1 / 3), r"^y_prob must be 1-D.*got shape \(3, 3\); multi-class probabilities go to"),
        ([0.1, 0.2], r"^y_true and y_prob must have the same length, got 3 and 2"),
    ],
    ids=str,
)
def test_bad_scores_are_refused_with_value_and_index(scores, message):
    refused(message, Y, scores)


ITERATORS = {
    "generator": lambda v: (x for x in v),
    "map": lambda v: map(float, v),
    "zip": lambda v: zip(v, strict=True),
    "dict_values": lambda v: dict(enumerate(v)).values(),
    "dict_keys": lambda v: dict.fromkeys(v).keys(),
}


@pytest.mark.parametrize("kind", ITERATORS)
def test_what_yields_its_values_once_is_refused_with_the_way_to_keep_them(kind):
    once, rows = ITERATORS[kind], 40
    y, p = [0, 1] * rows, [0.1, 0.7] * rows
    for name, call in {
        "y_true": lambda: stakes.evaluate(once(y), p, costs=0.2),
        "y_prob": lambda: stakes.evaluate(y, once(p), costs=0.2),
        "y_prob['a']": lambda: stakes.evaluate(y, {"a": once(p)}, costs=0.2),
        "sample_weight": lambda: stakes.net_benefit_score(y, p, threshold=0.2, sample_weight=once(p)),
        "clusters": lambda: stakes.compare(y, p, p, costs=0.2, clusters=once(p)),
        "groups": lambda: stakes.evaluate(y, p, costs=0.2, groups=once(p)),
        "event": lambda: stakes.TimeToEvent(event=once(y), time=p, horizon=0.5),
        "y": lambda: stakes.correction.LossCorrectedClassifier().fit(np.array([p, p]).T, once(y)),
    }.items():
        said = f"{name} must be a list, an array or a column, got {kind}: pass list(...) of it."
        with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
            call()


@pytest.mark.parametrize("library", ["pandas", "polars", "numpy, days", "numpy, nanoseconds", "list"])
def test_times_are_shown_as_times_with_the_way_to_count_them(library):
    """1.5 days are 129,600,000,000,000 nanoseconds, which nobody should pass as a number of days."""
    days = [timedelta(days=2), timedelta(days=1)]
    columns = {
        "pandas": lambda: pytest.importorskip("pandas").Series(days, dtype="timedelta64[ns]"),
        "polars": lambda: pytest.importorskip("polars").Series(days),
        "numpy, days": lambda: np.array(days, "m8[D]"),
        "numpy, nanoseconds": lambda: np.array(days, "m8[ns]"),
        "list": lambda: days,
    }
    with pytest.raises(ValueError, match=r"^time must be numeric, got datetime\.timedelta\(days=2\) at index 0: count"):
        stakes.TimeToEvent(event=[1, 0], time=columns[library](), horizon=3)


def test_a_cell_of_a_table_that_is_no_number_is_named_by_row_and_column():
    with pytest.raises(ValueError, match=r"^cells must be numeric, got 'x' at index \(1, 0\)\.$"):
        to_floats(np.array([[1, 2], ["x", 3]], dtype=object), "cells")


@pytest.mark.parametrize("unit", ["ns", "us", "s", "D", "Y"])
def test_dates_are_shown_as_dates(unit):
    with pytest.raises(
        ValueError, match=r"got datetime\.datetime\(2024, 1, 1, 0, 0\) at index 0: count time in numbers"
    ):
        stakes.TimeToEvent(event=[1, 0], time=np.array(["2024-01-01", "2025-01-01"], f"M8[{unit}]"), horizon=3)


@pytest.mark.parametrize("row", [[0.29], [0.9, 0.1], [0.5] * 100])
def test_a_list_in_a_row_is_shown_as_such(row):
    pl = pytest.importorskip("polars")
    frame = pl.Series([row, row]).to_frame("p")
    shown = re.escape(f"array({row})") if len(row) < 9 else "ndarray"
    for scores in (frame, {"p": frame["p"].to_numpy()}):
        with pytest.raises(ValueError, match=rf"^y_prob.* must be numeric, got {shown} at index 0\.$"):
            stakes.evaluate([0, 1], scores, costs=0.2)
    refused(rf"^y_prob must be numeric, got {shown} at index 0\.$", [0, 1], frame)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.complex64, np.complex128, object])
@pytest.mark.parametrize("value", [0.3 + 0j, np.complex64(0.3), 0.3 + 0.2j])
def test_complex_numbers_are_refused_without_a_warning(kind, value):
    for scores in (np.array([value, 0.5], kind), np.array([[value, 0.5]] * 2, kind)):
        refused(r"^y_prob must be numeric, got \(0\.3\d*\+", [0, 1], scores)


def test_the_message_uses_the_callers_name_for_the_scores():
    refused(r"^y_score must be finite, got nan at index 0", Y, [NAN, 1, 2], probability=False, name="y_score")
    refused(r"^y_true and forest must have the same length", Y, [0.1], name="forest")
    refused(r"^forest must lie in", Y, [7, 1, 1], name="forest")


def test_out_of_range_scores_point_to_logits_and_rank_only_scores():
    refused(r"logits=True.*h_measure_score or roc_auc_score", Y, [-3.0, 0.2, 4.0])


def test_the_ends_belong_to_the_range():
    assert check_sample(Y, [0.0, 1.0, -0.0]).score.tolist() == [0.0, 1.0, 0.0]


def test_scores_that_only_rank_may_have_any_finite_value():
    assert check_sample(Y, [-3, 0.2, 1e300], probability=False).score.tolist() == [-3.0, 0.2, 1e300]
    refused(r"^y_prob must be finite, got inf at index 2", Y, [1, 2, INF], probability=False)


def test_logits_are_turned_into_probabilities_and_still_checked():
    found = check_sample(Y, [-np.log(3), 0.0, 1000.0], logits=True).score
    np.testing.assert_allclose(found, [0.25, 0.5, 1.0], rtol=1e-15)
    refused(r"^y_prob must be finite, got nan at index 1", Y, [0.0, NAN, 1.0], logits=True)


def test_text_is_no_score():
    refused(r"y_prob must be numeric", Y, ["0.1", "0.2", "0.3"])


# ------------------------------------------------------------------------------------------------------ two columns
COLUMNS = [[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]


def test_the_second_of_two_columns_is_the_positive_class():
    for columns in (COLUMNS, np.array(COLUMNS), np.array(COLUMNS, dtype=np.float32)):
        np.testing.assert_allclose(check_sample(Y, columns).score, S, rtol=1e-6)
    np.testing.assert_array_equal(check_sample([-1, 1, 1], COLUMNS).score, S)
    np.testing.assert_array_equal(check_sample([1, 2, 2], COLUMNS, pos_label=2).score, S)


def test_the_first_of_two_columns_belongs_to_the_smaller_label():
    found = check_sample(Y, COLUMNS, pos_label=0)
    np.testing.assert_array_equal(found.score, [0.9, 0.3, 0.6])
    assert found.y.tolist() == [True, False, False]


@pytest.mark.parametrize(("pos_label", "column"), [("yes", 1), ("no", 0)])
def test_two_columns_go_with_text_labels(pos_label, column):
    found = check_sample(["no", "yes", "yes"], COLUMNS, pos_label=pos_label)
    np.testing.assert_array_equal(found.score, np.array(COLUMNS)[:, column])


def test_two_columns_with_one_class_do_not_take_the_wrong_column():
    for labels, pos_label, column in (([1, 1, 1], 0, 0), ([0, 0, 0], 1, 1), ([0, 0, 0], 0, 0), ([-1] * 3, -1, 0)):
        score = check_sample(labels, COLUMNS, pos_label=pos_label).score
        np.testing.assert_array_equal(score, np.array(COLUMNS)[:, column])
    for labels, pos_label in ((["no"] * 3, "no"), (["no"] * 3, "yes"), ([2, 2, 2], 2), ([1, 1, 1], 2)):
        refused(r"^the two columns of y_prob cannot be distinguished", labels, COLUMNS, pos_label=pos_label)


@pytest.mark.parametrize(("pos_label", "first"), [(1, False), (0, True), (-1, True), (2, None), ("yes", None)])
def test_of_rows_of_the_positive_class_alone_the_other_label_is_known_for_numbers(pos_label, first):
    labels = np.array([pos_label] * 3)
    assert positive_is_first(labels, np.ones(3, dtype=bool), pos_label) is first


def test_one_column_is_flattened():
    np.testing.assert_array_equal(check_sample(Y, np.array(S)[:, None]).score, S)


NAMED = np.column_stack([S, 1 - np.array(S)])  # the positive class first


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("labels", "positive", "names"),
    [
        (["no", "yes", "yes"], "yes", ["yes", "no"]),
        (["ok", "fraud", "fraud"], "fraud", ["fraud", "ok"]),
        (["fraud", "ok", "ok"], "ok", ["ok", "fraud"]),
        (Y, None, ["1", "0"]),
        ([0.0, 1.0, 1.0], None, ["1", "0"]),
        ([-1, 1, 1], None, ["1", "-1"]),
        ([False, True, True], None, ["True", "False"]),
        ([False, True, True], None, ["1", "0"]),
        ([1, 2, 2], 2, ["2", "1"]),
        ([1, 1, 1], None, ["1", "0"]),  # of one class: the other is known
        ([0, 0, 0], 0, ["0", "1"]),
        ([1, 1, 1], None, ["1", "-1"]),
        (np.array([b"a", b"b", b"b"]), b"b", ["b", "a"]),
        (np.array(["ä".encode(), b"z", b"z"], dtype=object), b"z", ["z", "ä"]),
        (np.array([0.1, 0.2, 0.2], dtype=np.float32), np.float32(0.2), ["0.2", "0.1"]),
        ([0.1, 0.25, 0.25], 0.25, ["0.25", "0.1"]),
    ],
    ids=str,
)
def test_columns_that_are_named_as_the_labels_are_taken_by_name(library, labels, positive, names):
    frame = pytest.importorskip(library).DataFrame(dict(zip(names, NAMED.T, strict=True)))
    turned = frame[names[::-1]]
    for columns in (frame, turned):
        np.testing.assert_array_equal(check_sample(labels, columns, pos_label=positive).score, S)
        taken = pick_positive_column(columns, np.array(labels), positive)
        np.testing.assert_array_equal(taken, S)
        np.testing.assert_array_equal(check_sample(labels, columns, [1, 1, 0], positive).score, S[:2])
        rows = stakes.RowCosts(labels, false_positive=1, false_negative=1, pos_label=positive)
        np.testing.assert_array_equal(check_sample(rows, columns).score, S)
    refuse_first_column(labels, turned, positive, "y_prob")
    with pytest.raises(ValueError, match=r"^y_prob must be 1-D where the positive class is the first of two columns"):
        refuse_first_column(labels, frame, positive, "y_prob")


@pytest.mark.parametrize("names", [["a", "b"], ["1", "b"], ["no", "1"], [0, 1], ["a", "0"]])
def test_columns_of_other_names_are_taken_by_position(names):
    frame = pytest.importorskip("pandas").DataFrame(np.array(COLUMNS), columns=names)
    np.testing.assert_array_equal(check_sample(Y, frame).score, S)
    np.testing.assert_array_equal(check_sample(np.array(["no", "yes", "yes"]), frame, pos_label="yes").score, S)


def test_columns_of_pandas_that_are_named_by_numbers_are_taken_by_name():
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(check_sample(Y, pandas.DataFrame(NAMED, columns=[1, 0])).score, S)
    for kind in (np.float32, np.float64):
        labels = np.array([0.1, 0.2, 0.2], dtype=kind)
        for named in ([0.2, 0.1], pandas.Index([0.2, 0.1], dtype=np.float32), [b"0.2", b"0.1"]):
            frame = pandas.DataFrame(NAMED, columns=named)
            np.testing.assert_array_equal(check_sample(labels, frame, pos_label=labels[1]).score, S)


@pytest.mark.parametrize("names", [[1, 0], [True, False], ["1", "0"], ["1", "-1"]], ids=str)
@pytest.mark.parametrize(
    "decide",
    [
        lambda y, p: population_threshold(y, p, "f1", n_resamples=0).predict,
        lambda y, p: lambda x: population_threshold(y, p, "f1", n_resamples=0).predict(x, missing="act"),
        lambda y, p: update(y, p, method="logistic").predict,
        lambda *_: lambda x: optimal_decisions(x, "f1"),
        lambda y, p: lambda x: fit_boundary(y, p, p * (1 - p), min_precision=0.7).predict(x, p * (1 - p)),
        lambda y, p: fit_deferral(y, p, costs=0.3, deferral=0.1).predict,
    ],
)
def test_rules_refuse_columns_named_1_and_0_and_say_of_which_positive_class_that_is_wrong(names, decide):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.01, 0.99, 300)
    predict = decide((rng.uniform(size=300) < p).astype(int), p)
    frame = pytest.importorskip("pandas").DataFrame(np.column_stack([p, 1 - p]), columns=names)
    np.testing.assert_array_equal(np.asarray(predict(frame.iloc[:, ::-1])), np.asarray(predict(p)))
    remedy = "order them so, or pass that of the positive class alone"
    with pytest.raises(ValueError, match=rf"must be \[.*\] where .* is the positive class, got .*: {remedy}"):
        predict(frame)
    frame.columns = ["b", "a"]  # nothing is known of these
    np.testing.assert_array_equal(np.asarray(predict(frame)), np.asarray(predict(np.asarray(frame))))


@pytest.mark.parametrize(("row", "shown"), [([0.5, 0.6], r"\[0.5, 0.6\]"), ([0.4, NAN], r"\[0.4, nan\]")])
def test_two_columns_must_sum_to_one(row, shown):
    refused(
        rf"^the two columns of y_prob must sum to 1 in every row, got {shown} at index 1",
        Y,
        [COLUMNS[0], row, COLUMNS[2]],
    )


def test_two_columns_of_single_precision_sum_to_one():
    rng = np.random.default_rng(0)
    p = rng.random(1000).astype(np.float32)
    columns = np.column_stack([np.float32(1) - p, p])
    np.testing.assert_array_equal(check_sample(p > 0.5, columns).score, p.astype(float))


# -------------------------------------------------------------------------------------------------------- weights
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -2, -3], r"^sample_weight must be finite and >= 0, got -2.0 at index 1 \(2 of 3\)"),
        ([1, 1, NAN], r"^sample_weight must be finite and >= 0, got nan at index 2 \(1 of 3\)"),
        ([INF, 1, 1], r"^sample_weight must be finite and >= 0, got inf at index 0"),
        ([0, 0, 0], r"^sample_weight must not be all zero, got 3 zeros"),
        ([1, 2], r"^sample_weight must have one value per row, got shape \(2,\) for 3 rows"),
        ([[1], [2], [3]], r"^sample_weight must have one value per row, got shape \(3, 1\) for 3 rows"),
        (1.0, r"^sample_weight must have one value per row, got shape \(\) for 3 rows"),
        ([1, "x", 3], r"^sample_weight must be numeric"),
    ],
    ids=str,
)
def test_bad_weights_are_refused(weight, message):
    refused(message, Y, S, sample_weight=weight)


def test_weights_may_be_booleans_and_integers():
    found = check_sample(Y, S, sample_weight=np.array([True, False, True]))
    assert (found.weight.tolist(), found.weight.dtype) == ([1.0, 1.0], np.float64)
    assert found.score.tolist() == [0.1, 0.4]


# ---------------------------------------------------------------------------------------------------------- shapes
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], r"^y_true must hold at least one row, got none"),
        (1, r"^y_true must be 1-D, got shape \(\)"),
        ([[0, 1], [1, 0]], r"^y_true must be 1-D, got shape \(2, 2\)"),
    ],
)
def test_labels_have_one_value_per_row(labels, message):
    refused(message, labels, S)


@pytest.mark.parametrize("ragged", [[[0.1], [0.2, 0.3], [0.4]], [0.1, [0.2, 0.3], 0.4]])
def test_ragged_rows_are_refused(ragged):
    with pytest.raises(ValueError):  # noqa: PT011  (the message is numpy's: see the next test)
        check_sample(Y, ragged)


def test_ragged_rows_are_refused_by_name():
    refused(r"y_prob", Y, [[0.1], [0.2, 0.3], [0.4]])


# -------------------------------------------------------------------------------------------------- small checks
@pytest.mark.parametrize(("value", "ends"), [(0, "[]"), (1, "[]"), (0.5, "()"), (1.0, "(]"), (0.0, "[)")])
def test_unit_interval_includes_the_ends_that_it_says(value, ends):
    assert check_unit(value, "t", open_low=ends[0] == "(", open_high=ends[1] == ")") == value


@pytest.mark.parametrize(
    ("value", "ends"), [(0, "()"), (0, "(]"), (1, "()"), (1, "[)"), (-0.1, "[]"), (1.1, "[]"), (NAN, "[]")]
)
def test_unit_interval_refuses_what_lies_outside(value, ends):
    left, right = ends
    with pytest.raises(ValueError, match=rf"^t must lie in \{left}0, 1\{right}, got {value}\.$"):
        check_unit(value, "t", open_low=left == "(", open_high=right == ")")


def test_choice_lists_the_choices():
    assert check_choice("a", "rule", ("a", "b")) == "a"
    with pytest.raises(ValueError, match=r"^rule must be one of 'a', 'b', got 'c'\.$"):
        check_choice("c", "rule", ("a", "b"))


def test_parts_of_the_check_can_be_used_alone():
    assert check_labels(np.array([0, 1])).tolist() == [False, True]
    assert check_scores(np.array([0.1, 0.2])).tolist() == [0.1, 0.2]
    assert check_weights(None, 3) is None
    assert to_array([1, 2], "x").tolist() == [1, 2]


def test_rows_of_weight_zero_may_hold_anything():
    expected = check_sample([0, 1], [0.1, 0.7], sample_weight=[1, 2])
    for label, score in ((1, NAN), (NAN, 0.2), (7, 3.0), (0, -INF)):
        found = check_sample([0, label, 1], [0.1, score, 0.7], sample_weight=[1, 0, 2])
        np.testing.assert_array_equal(found.y, expected.y)
        np.testing.assert_array_equal(found.score, expected.score)
    refused(r"got nan at index 2", [0, 1, 1], [0.1, NAN, NAN], sample_weight=[1, 0, 2])


def test_shuffled_pandas_rows_are_refused_with_the_first_that_differs():
    pd = pytest.importorskip("pandas")
    y = pd.Series([0, 1, 1, 0], index=[3, 1, 2, 0])
    p = pd.Series([0.1, 0.8, 0.7, 0.2], index=[3, 2, 1, 0])
    with pytest.raises(ValueError, match=r"y_true and y_score hold the same index labels .* row 1 \(1 and 2\)"):
        stakes.metrics.roc_auc_score(y, p)
    with pytest.raises(ValueError, match="y_true and sample_weight hold the same index labels"):
        stakes.bounded_brier_loss(y, p.to_numpy(), sample_weight=pd.Series(1.0, index=[0, 1, 2, 3]))
    aligned = stakes.bounded_brier_loss(y, p.loc[y.index])
    assert aligned == pytest.approx(np.mean((y - p.loc[y.index]) ** 2), abs=1e-15)


def test_pandas_rows_of_other_labels_are_refused_unless_taken_by_position():
    pd = pytest.importorskip("pandas")
    y, p = pd.Series([0, 1], index=[7, 9]), pd.Series([0.25, 0.5])
    with pytest.raises(
        ValueError, match=r"different index labels, first at row 0 \(7 and 0\): pass y_prob\.to_numpy\(\)"
    ):
        stakes.bounded_brier_loss(y, p)
    assert stakes.bounded_brier_loss(y, p.to_numpy()) == pytest.approx((0.0625 + 0.25) / 2, abs=1e-15)


@pytest.mark.parametrize("value", ["no", "False", 0, 1, None, 2.5])
def test_a_flag_is_true_or_false_and_nothing_else(value):
    with pytest.raises(ValueError, match=r"logits must be True or False, got "):
        stakes.bounded_brier_loss([0, 1], [-1.0, 2.0], logits=value)


def test_whole_numbers_beyond_every_float_are_refused_by_name():
    with pytest.raises(ValueError, match=r"y_prob must be numeric, got 1000"):
        stakes.bounded_brier_loss([0, 1], [10**400, 0.5])
    with pytest.raises(ValueError, match=r"costs must be a number, got 1000"):
        stakes.expected_regret([0, 1], [0.2, 0.5], costs=10**400)
    with pytest.raises(ValueError, match=r"fp must be a number, got 1000"):
        stakes.costs.from_cost_matrix(0, 10**400, 1, 0)


@pytest.mark.parametrize("value", ["0.5", b"0.5", True, 10**400, None, [0.5]])
def test_text_and_truth_values_are_no_numbers(value):
    with pytest.raises(ValueError, match=r"threshold must be a number, got "):
        stakes.net_benefit_score([0, 1], [0.2, 0.7], threshold=value)


@pytest.mark.parametrize(("given", "table"), [([[0, 1], [5, 0]], True), ([[0.1, 0.2, 0.3]] * 2, False)])
def test_two_rows_of_two_are_taken_for_a_table_of_costs(given, table):
    with pytest.raises(ValueError, match="costs must be a cost distribution") as raised:
        stakes.evaluate([0, 1], [0.1, 0.2], costs=given)
    assert ("from_cost_matrix" in str(raised.value)) == table


@pytest.mark.parametrize(
    ("labels", "plain"),
    [
        ([1, 2, 1], [1, 2, 1]),
        ([1, "a"], ["1", "a"]),
        ([2**53, 2**53 + 1, 0.5], ["9007199254740992", "9007199254740993", "0.5"]),  # two of them round alike
        ([2**70, 1], ["1180591620717411303424", "1"]),
    ],
)
def test_labels_of_any_kind_become_numbers_or_texts_that_stay_apart(labels, plain):
    found = plain_labels(np.array(labels, dtype=object))
    assert found.dtype.kind == np.array(plain).dtype.kind
    assert found.tolist() == plain


def test_a_range_in_percent_is_suggested_from_half_a_percent_too():
    with pytest.raises(ValueError, match=re.escape("got (0.5, 30); 0.5 to 30% is (0.005, 0.3)")):
        stakes.evaluate(Y, S, costs=(0.5, 30))


def test_scores_of_rows_without_weight_are_not_in_the_table_though_the_rows_are_kept():
    data = evaluation_data([0, 1, 1, 0], [0.1, 0.5, 0.7, 0.9], sample_weight=[1, 1, 0, 1], per_sample=True)
    assert data.rows.score.tolist() == [0.1, 0.5, 0.7, 0.9]
    assert data.table.scores.tolist() == [0.1, 0.5, 0.9]
