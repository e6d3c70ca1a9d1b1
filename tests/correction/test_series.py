"""Shares and weights of classes in a Series of pandas belong to the names in its index, by arithmetic by hand."""

import numpy as np
import pytest

from stakes.correction import (
    LossCorrectedClassifier,
    apply_class_weight,
    apply_sampling,
    correct_probabilities,
    estimate_prior,
    loss_calibration_test,
    shift_prior,
    undo_class_weight,
    undo_sampling,
)
from stakes.metrics import cost_matrix_loss, multilabel_loss, one_vs_rest_bounded_loss
from stakes.training import MetricMonitor
from stakes.uncertainty import _posterior_network

pd = pytest.importorskip("pandas")
PROB = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
LABELS = ["a", "b", "c"]
SHARES = pd.Series(["b"] * 60 + ["c"] * 30 + ["a"] * 10).value_counts(
    normalize=True
)  # b, c, a: the most frequent first


def by_hand(factors):
    """Multiply each column by its factor and divide the rows by their sums."""
    products = PROB * np.array(factors)
    return products / products.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("call", "factors"),
    [
        (lambda s: shift_prior(PROB, training_prior=s, prior=[1 / 3] * 3, labels=LABELS), [1 / 0.1, 1 / 0.6, 1 / 0.3]),
        (lambda s: shift_prior(PROB, training_prior=[1 / 3] * 3, prior=s, labels=LABELS), [0.1, 0.6, 0.3]),
        (lambda s: undo_class_weight(PROB, class_weight=s, labels=LABELS), [1 / 0.1, 1 / 0.6, 1 / 0.3]),
        (lambda s: undo_class_weight(PROB, class_weight=s.sort_index()), [1 / 0.1, 1 / 0.6, 1 / 0.3]),
        (lambda s: apply_class_weight(PROB, class_weight=s, labels=LABELS), [0.1, 0.6, 0.3]),
        (lambda s: undo_sampling(PROB, keep=s, labels=LABELS), [1 / 0.1, 1 / 0.6, 1 / 0.3]),
        (lambda s: apply_sampling(PROB, repeat=10 * s, labels=LABELS), [1, 6, 3]),
        (
            lambda s: correct_probabilities(PROB, class_weight=s, training_prior=s, prior=[1 / 3] * 3, labels=LABELS),
            [1 / 0.01, 1 / 0.36, 1 / 0.09],
        ),
    ],
)
def test_a_series_is_read_by_its_index(call, factors):
    assert call(SHARES) == pytest.approx(by_hand(factors), rel=1e-12)


ORDER = ["low", "mid", "high"]
OLD, NEW = pd.Series([0.6, 0.3, 0.1], index=ORDER), pd.Series([0.3, 0.3, 0.4], index=ORDER)
BY_NAME = [
    (lambda x, kind: shift_prior(x, training_prior=kind(OLD), prior=kind(NEW)), [0.5, 1.0, 4.0]),
    (lambda x, kind: shift_prior(x, training_prior=kind(OLD), prior=NEW[[*x.columns]].tolist()), [0.5, 1.0, 4.0]),
    (lambda x, kind: undo_class_weight(x, class_weight=kind(OLD)), [1 / 6, 1 / 3, 1.0]),
    (lambda x, kind: apply_class_weight(x, class_weight=kind(OLD)), [6.0, 3.0, 1.0]),
    (lambda x, _: undo_class_weight(x, class_weight="balanced", y_train=[*ORDER, "low", "low"]), [3.0, 1.0, 1.0]),
    (lambda x, kind: undo_sampling(x, keep=kind(OLD), repeat=kind(10 * OLD)), [1 / 36, 1 / 9, 1.0]),
    (
        lambda x, kind: correct_probabilities(
            x, class_weight=kind(OLD), keep=kind(OLD), training_prior=kind(OLD), prior=kind(NEW)
        ),
        [0.3 / 0.6**3, 0.3 / 0.3**3, 0.4 / 0.1**3],
    ),
]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("kind", [dict, pd.Series, pd.Series.sort_values])
@pytest.mark.parametrize("columns", [ORDER, sorted(ORDER), ORDER[::-1]])
@pytest.mark.parametrize(("call", "factors"), BY_NAME)
def test_names_of_columns_say_which_class_a_number_is_of(library, kind, columns, call, factors):
    prob = pytest.importorskip(library).DataFrame(dict(zip(ORDER, PROB.T, strict=True)))[columns]
    wanted = by_hand(factors)[:, [ORDER.index(name) for name in columns]]
    assert call(prob, kind) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, **o: shift_prior(x, training_prior=OLD, prior=NEW, **o),
        lambda x, **o: shift_prior(x, training_prior=OLD, prior=[0.3, 0.3, 0.4], **o),
        lambda x, **o: shift_prior(x, training_prior=[0.6, 0.3, 0.1], prior=NEW, **o),
        lambda x, **o: correct_probabilities(x, training_prior=dict(OLD), prior=NEW, **o),
        lambda x, **o: undo_class_weight(x, class_weight=OLD, **o),
        lambda x, **o: apply_class_weight(x, class_weight=OLD, **o),
        lambda x, **o: undo_sampling(x, keep=OLD, **o),
        lambda x, **o: apply_sampling(x, repeat=10 * OLD, **o),
        lambda x, **o: estimate_prior(x, training_prior=OLD, n_resamples=0, **o).prior,
    ],
)
def test_texts_that_are_not_sorted_need_an_order_beside_columns_without_names(call):
    message = r"the order \['low', 'mid', 'high'\], and sorted they are \['high', 'low', 'mid'\].*: pass labels= in"
    for prob in (PROB, PROB.tolist(), pd.DataFrame(PROB), pd.DataFrame(PROB).add_prefix("p_")):
        with pytest.raises(ValueError, match=message):
            call(prob)
    assert call(PROB, labels=ORDER) == pytest.approx(call(pd.DataFrame(PROB, columns=ORDER)), rel=1e-12)


def test_sorted_texts_numbers_and_mappings_need_no_order_beside_columns_without_names():
    by_place = undo_class_weight(PROB, class_weight=[1.0, 2.0, 6.0])
    for weights in (
        pd.Series({"a": 1.0, "b": 2.0, "c": 6.0}),
        pd.Series({30: 6.0, 10: 1.0, 20: 2.0}),
        {"c": 6.0, "a": 1.0, "b": 2.0},
    ):
        assert np.array_equal(undo_class_weight(PROB, class_weight=weights), by_place)
    with pytest.raises(ValueError, match=r"\['yes', 'no'\], and sorted they are \['no', 'yes'\]"):
        undo_class_weight(PROB[:, :2] * 2, class_weight=pd.Series({"yes": 2.0, "no": 1.0}), logits=True)


def test_counts_of_two_classes_of_which_the_positive_one_is_more_frequent():
    shares = pd.Series([1] * 60 + [0] * 40).value_counts(normalize=True)
    odds = 0.3 / 0.7 * (0.1 / 0.9) / (0.6 / 0.4)
    found = shift_prior([[0.7, 0.3]], training_prior=shares, prior=0.1)
    assert found[0] == pytest.approx([1 / (1 + odds), odds / (1 + odds)], rel=1e-12)
    assert shift_prior([0.3], training_prior=shares, prior=0.1) == pytest.approx([odds / (1 + odds)], rel=1e-12)


def test_the_prior_of_an_estimate_is_read_by_its_index():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet([1.0, 6.0, 3.0], 500)
    found, wanted = (
        estimate_prior(prob, training_prior=prior, labels=LABELS, n_resamples=0).prior
        for prior in (SHARES, [0.1, 0.6, 0.3])
    )
    assert found == pytest.approx(wanted, abs=1e-12)


def test_labels_as_numbers_are_found_in_the_index_in_any_order():
    weights = pd.Series([1.0, 2.0, 6.0], index=pd.Index([0, 1, 2]))
    found = undo_class_weight(PROB, class_weight=weights, labels=[2, 1, 0])
    assert found == pytest.approx(by_hand([1 / 6, 1 / 2, 1]), rel=1e-12)


def test_an_index_that_counts_rows_has_no_names():
    weights = pd.Series([1.0, 2.0, 6.0])
    for labels in (None, LABELS, [1, 2, 3]):
        assert undo_class_weight(PROB, class_weight=weights, labels=labels) == pytest.approx(by_hand([1, 1 / 2, 1 / 6]))
    with pytest.raises(ValueError, match=r"index.*\[0, 1, 2\].*labels.*\[2, 1, 0\].*loc\[\[2, 1, 0\]\] .*to_numpy\(\)"):
        undo_class_weight(PROB, class_weight=weights, labels=[2, 1, 0])


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (["a", "b", "d"], r"class_weight names the class 'd', which is not among the labels \['a', 'b', 'c'\]"),
        (["a", "b", "b"], r"class_weight must name each class once in its index, got \['a', 'b', 'b'\]"),
        ([3, 4, 5], r"class_weight names the class 3, which is not among the labels \['a', 'b', 'c'\]"),
    ],
)
def test_names_that_are_not_the_labels_are_refused(index, message):
    with pytest.raises(ValueError, match=message):
        undo_class_weight(PROB, class_weight=pd.Series([1.0, 2.0, 6.0], index=index), labels=LABELS)


def test_a_series_beside_labels_of_rows_belongs_to_the_names_in_its_index():
    rng = np.random.default_rng(1)
    prob = rng.beta(1, 3, 400)
    y = np.where(rng.random(400) < prob, "bad", "good")  # the positive class sorts first
    weights = {"good": 1.0, "bad": 5.0}
    options = {"pos_label": "bad", "n_resamples": 19, "random_state": 0}
    found, wanted = (
        loss_calibration_test(y, prob, class_weight=weight, **options).p_value
        for weight in (pd.Series(weights), weights)
    )
    assert found == wanted
    monitors = [
        MetricMonitor("bounded_brier_loss", pos_label="bad", correct={"class_weight": weight})
        for weight in (pd.Series(weights), weights)
    ]
    for monitor in monitors:
        monitor.update(y, prob)
    assert monitors[0].compute() == monitors[1].compute()


def test_an_estimator_reads_a_series_by_its_index():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 1))
    y = np.where(x[:, 0] + rng.normal(size=300) > 1, "yes", "no")
    stated = {"class_weight": {"yes": 4.0, "no": 1.0}, "prior": {"yes": 0.1, "no": 0.9}}
    found, wanted = (
        LossCorrectedClassifier(LogisticRegression(), **each).fit(x, y).predict_proba(x)
        for each in ({name: pd.Series(given) for name, given in stated.items()}, stated)
    )
    assert np.array_equal(found, wanted)


def test_weights_of_classes_and_labels_in_a_sum_of_losses_are_read_by_name():
    y, weights = ["a", "c"], pd.Series({"c": 2.0, "a": 1.0, "b": 0.0})
    by_class = ((PROB - np.array([[1, 0, 0], [0, 0, 1]])) ** 2).mean(axis=0)  # of Brier, class against the rest
    found = one_vs_rest_bounded_loss(y, PROB, class_weight=weights, labels=LABELS)
    assert found == pytest.approx(by_class @ [1.0, 0.0, 2.0])
    frame = pd.DataFrame([[1, 0], [0, 1]], columns=["rain", "wind"])
    found = multilabel_loss(
        frame, [[0.7, 0.4], [0.2, 0.9]], costs=(0, 1), scale="loss", label_weight=pd.Series({"wind": 3.0, "rain": 1.0})
    )
    assert found == pytest.approx((0.3**2 + 0.2**2) / 2 + 3 * (0.4**2 + 0.1**2) / 2)
    with pytest.raises(ValueError, match=r"label_weight must name the classes \['rain', 'wind'\].*'snow'"):
        multilabel_loss(frame, [[0.7, 0.4], [0.2, 0.9]], costs=(0, 1), label_weight=pd.Series({"snow": 3, "rain": 1}))


def test_the_prior_of_a_network_is_read_by_its_index():
    assert _posterior_network._prior(pd.Series({"b": 4.0, "a": 1.0}), ["a", "b"]) == [1.0, 4.0]
    assert _posterior_network._prior(2.0, ["a", "b"]) == [2.0, 2.0]
    with pytest.raises(ValueError, match=r"prior must name the classes \['a', 'b'\] in its index, got \['b', 'c'\]"):
        _posterior_network._prior(pd.Series({"b": 4.0, "c": 1.0}), ["a", "b"])


def test_ratios_of_separate_questions_belong_to_the_columns_of_their_names():
    frame = pd.DataFrame([[0.8, 0.6]], columns=["wind", "rain"])
    ratios = pd.Series({"rain": 3.0, "wind": 2.0})
    wanted = [0.8 / (0.8 + 0.2 * 2), 0.6 / (0.6 + 0.4 * 3)]
    assert undo_class_weight(frame, pos_weight=ratios)[0] == pytest.approx(wanted)
    assert undo_class_weight(frame.to_numpy(), pos_weight=ratios, labels=["wind", "rain"])[0] == pytest.approx(wanted)
    message = r"pos_weight names \['rain', 'wind'\] in its index, .*: pass labels= with the names of its 2 columns"
    for prob in (frame.to_numpy(), frame.set_axis([0, 1], axis=1)):  # wind, rain, so that sorted names would be wrong
        with pytest.raises(ValueError, match=message):
            undo_class_weight(prob, pos_weight=ratios)
    levels = ratios.set_axis(pd.MultiIndex.from_tuples([("it", "rain"), ("it", "wind")]))
    with pytest.raises(ValueError, match=r"pos_weight must name each class once in its index, got 2 levels"):
        undo_class_weight(frame, pos_weight=levels)


def value_counts(frame):
    """Shares by class of a frame of one column, in whose index pandas puts tuples of one."""
    return frame.value_counts(normalize=True)


@pytest.mark.parametrize(("call", "factors"), BY_NAME)
def test_the_shares_that_a_frame_counts_are_read_as_those_of_its_column(call, factors):
    def kind(shares):
        total = shares.sum()
        rows = np.repeat(shares.index, np.round(10 * shares / total).astype(int))
        counted = value_counts(pd.DataFrame({"y": rows}))
        assert isinstance(counted.index, pd.MultiIndex)
        return total * counted

    frame = pd.DataFrame(PROB, columns=ORDER)
    assert call(frame, kind) == pytest.approx(by_hand(factors), rel=1e-12)


def test_the_counts_of_a_frame_are_of_two_numbers_or_of_texts_in_a_stated_order():
    two = value_counts(pd.DataFrame({"y": [0] * 8 + [1] * 2}))
    odds = 0.3 / 0.7 / (0.2 / 0.8)
    assert undo_class_weight([0.3], class_weight=two)[0] == pytest.approx(odds / (1 + odds))
    three = value_counts(pd.DataFrame({"y": np.repeat(LABELS, [1, 6, 3])}))
    assert undo_class_weight(PROB, class_weight=three, labels=LABELS) == pytest.approx(by_hand([10, 10 / 6, 10 / 3]))
    with pytest.raises(ValueError, match=r"order \['b', 'c', 'a'\], and sorted they are \['a', 'b', 'c'\]; nothing"):
        undo_class_weight(PROB, class_weight=three)
    found = one_vs_rest_bounded_loss(["a", "c"], PROB, class_weight=three, labels=LABELS)
    assert found == one_vs_rest_bounded_loss(["a", "c"], PROB, class_weight=[0.1, 0.6, 0.3], labels=LABELS)
    matrix = pd.DataFrame([[0, 1, 2], [4, 0, 1], [20, 10, 0]], index=LABELS)
    tupled = matrix.set_axis(pd.MultiIndex.from_tuples([("a",), ("b",), ("c",)]))
    found, wanted = (cost_matrix_loss(["a", "c"], PROB, matrices=each, labels=LABELS) for each in (tupled, matrix))
    assert found == wanted


@pytest.mark.parametrize("columns", [LABELS, None])
def test_an_index_of_several_levels_is_refused_by_name(columns):
    rows = pd.DataFrame({"y": LABELS * 2, "site": [1, 2, 2, 3, 1, 1]})
    prob = PROB if columns is None else pd.DataFrame(PROB, columns=columns)
    message = r"must name each class once.*2 levels.*\['y', 'site'\].*groupby\(level=0\)\.sum\(\)"
    for counts in (rows.value_counts(), rows.value_counts().sort_index(), rows[:3].value_counts().sort_index()):
        for labels in (LABELS, None):
            with pytest.raises(ValueError, match=f"class_weight {message}"):
                undo_class_weight(prob, class_weight=counts, labels=labels)
            with pytest.raises(ValueError, match=f"training_prior {message}"):
                shift_prior(prob, training_prior=counts, prior=[1 / 3] * 3, labels=labels)
    with pytest.raises(ValueError, match=f"class_weight {message}"):
        one_vs_rest_bounded_loss(LABELS, np.eye(3), class_weight=rows.value_counts()[:3])
    matrix = pd.DataFrame(np.eye(3), index=pd.MultiIndex.from_frame(rows[:3]))
    with pytest.raises(ValueError, match=f"matrices {message}"):
        cost_matrix_loss(LABELS, np.eye(3), matrices=matrix)


def test_names_that_are_no_numbers_are_never_sorted_in_silence():
    days = pd.to_datetime(["2024-03-01", "2024-01-01", "2024-02-01"])
    for index in (
        days,
        pd.Index([("x", 2), ("x", 3), ("x", 1)], tupleize_cols=False),
        pd.Index([b"b", b"c", b"a"]),
        pd.interval_range(0, 3)[[2, 0, 1]],
    ):
        with pytest.raises(ValueError, match=r"class_weight names the classes in the order .*pass labels="):
            undo_class_weight(PROB, class_weight=pd.Series([0.6, 0.3, 0.1], index=index))
    numbers = pd.Series([0.6, 0.3, 0.1], index=[2.5, 3.5, 1.5])
    assert undo_class_weight(PROB, class_weight=numbers) == pytest.approx(by_hand([10, 10 / 6, 10 / 3]))
