"""Labels in an ordered Categorical: columns with names are taken by these, others only where the order is sorted."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from stakes.actions import decision_calibration_test, evaluate_actions
from stakes.correction import loss_calibration_test
from stakes.metrics import (
    cost_matrix_loss,
    one_vs_rest_bounded_loss,
    ordinal_loss,
    penalized_brier_loss,
    penalized_log_loss,
)
from stakes.training import MetricMonitor

pd = pytest.importorskip("pandas")
ORDER = ["lo", "mid", "hi"]
RNG = np.random.default_rng(0)
KIND = RNG.choice(3, 200, p=[0.5, 0.3, 0.2])
PROB = RNG.dirichlet([1, 1, 1], 200) * 0.5 + 0.5 * np.eye(3)[KIND]
COSTS = np.array([[0.0, 1, 2], [4, 0, 1], [20, 10, 0]])
MATRIX = pd.DataFrame(COSTS, index=ORDER)
NAMED = pd.DataFrame(PROB, columns=ORDER)
CALLS = {
    "ordinal_loss": ordinal_loss,
    "cost_matrix_loss": lambda y, prob, **o: cost_matrix_loss(y, prob, matrices=MATRIX, **o),
    "evaluate_actions": lambda y, prob, **o: evaluate_actions(y, prob, matrices=MATRIX, **o).cost,
    "decision_calibration_test": lambda y, prob, **o: (
        decision_calibration_test(y, prob, matrices=MATRIX, **o).gap.value
    ),
    "one_vs_rest_bounded_loss": lambda y, prob, **o: one_vs_rest_bounded_loss(
        y, prob, class_weight=pd.Series({"hi": 20, "lo": 1, "mid": 2}), **o
    ),
    "penalized_brier_loss": penalized_brier_loss,
    "penalized_log_loss": lambda y, prob, **o: penalized_log_loss(y, prob, ties="first", **o),
    "loss_calibration_test": lambda y, prob, **o: (
        loss_calibration_test(y, prob, class_weight={"lo": 1.0, "hi": 6.0}, n_resamples=9, **o).vector_statistic
    ),
}
WANTED = {
    "ordinal_loss": (((PROB.cumsum(axis=1) - (np.arange(3) >= KIND[:, None]))[:, :2]) ** 2).sum(axis=1).mean(),
    "cost_matrix_loss": COSTS[KIND, (PROB @ COSTS).argmin(axis=1)].mean(),
    "evaluate_actions": COSTS[KIND, (PROB @ COSTS).argmin(axis=1)].mean(),
    "one_vs_rest_bounded_loss": ((PROB - np.eye(3)[KIND]) ** 2 @ [1, 2, 20]).mean(),
    "penalized_log_loss": log_loss(KIND, PROB) + 2 / 3 * (PROB.argmax(axis=1) != KIND).mean(),
}


def as_ordered(kind, order=ORDER, categories=ORDER):
    return pd.Series(pd.Categorical(np.array(order)[kind], categories=categories, ordered=True))


@pytest.mark.parametrize("name", CALLS)
def test_columns_with_names_are_taken_by_these_and_others_are_asked_for_their_order(name):
    call, y = CALLS[name], as_ordered(KIND)
    wanted = call(np.array(ORDER)[KIND], PROB, labels=ORDER)
    if name in WANTED:
        assert wanted == pytest.approx(WANTED[name], rel=1e-12)
    for labels in (y, y.array, pd.Series(pd.Categorical(y, ["none", *ORDER], ordered=True))):
        for columns in (ORDER, sorted(ORDER), ORDER[::-1]):
            assert call(labels, NAMED[columns]) == pytest.approx(wanted, rel=1e-9)
        assert call(labels, PROB, labels=ORDER) == pytest.approx(wanted, rel=1e-9)
        for prob in (PROB, PROB.tolist(), pd.DataFrame(PROB), NAMED.add_prefix("p_")):
            with pytest.raises(ValueError, match=r"ordered.*\['lo', 'mid', 'hi'\].*not sorted.*pass labels="):
                call(labels, prob)
    letters = as_ordered(KIND, list("abc"), list("abc"))
    if name in ("ordinal_loss", "penalized_brier_loss", "penalized_log_loss"):
        assert call(letters, PROB) == pytest.approx(wanted, rel=1e-12)  # sorted


@pytest.mark.parametrize("name", ["cost_matrix_loss", "evaluate_actions", "decision_calibration_test"])
def test_matrices_without_names_are_taken_in_the_order_of_sorted_categories(name):
    functions = {
        "cost_matrix_loss": cost_matrix_loss,
        "evaluate_actions": lambda *given, **o: evaluate_actions(*given, **o).cost,
        "decision_calibration_test": lambda *given, **o: decision_calibration_test(*given, **o).gap.value,
    }
    call, y = functions[name], as_ordered(KIND, list("abc"), list("abc"))
    wanted = call(KIND, PROB, matrices=COSTS)
    for labels in (y, y.array, y.cat.set_categories(["_", *"abcd"])):
        for prob in (PROB, PROB.tolist(), pd.DataFrame(PROB, columns=list("abc"))):
            assert call(labels, prob, matrices=COSTS) == wanted
    for labels in (y.astype(str), y.cat.as_unordered()):
        with pytest.raises(ValueError, match="matrices do not say which row is of which class"):
            call(labels, PROB, matrices=COSTS)
    with pytest.raises(ValueError, match="matrices do not say which row is of which class"):
        call(y, pd.DataFrame(PROB, columns=list("abc"))[list("cab")], matrices=COSTS)


def test_numbers_in_another_order_are_labels_like_texts():
    y = as_ordered(KIND, [3, 2, 1], [3, 2, 1])
    named = NAMED.set_axis([3, 2, 1], axis=1)
    for columns in ([3, 2, 1], [1, 2, 3]):
        assert ordinal_loss(y, named[columns]) == pytest.approx(WANTED["ordinal_loss"], rel=1e-12)
    assert ordinal_loss(y, PROB, labels=[3, 2, 1]) == pytest.approx(WANTED["ordinal_loss"], rel=1e-12)
    counted = as_ordered(KIND, [2, 1, 0], [2, 1, 0])
    for prob in (PROB, pd.DataFrame(PROB)):
        with pytest.raises(ValueError, match=r"ordered.*\[2, 1, 0\].*not sorted.*astype\(str\)"):
            ordinal_loss(counted, prob)
    by_name = pd.DataFrame(PROB[:, ::-1], columns=np.array([0, 1, 2]).astype(str))
    assert ordinal_loss(counted, by_name) == pytest.approx(WANTED["ordinal_loss"], rel=1e-12)
    # the categories name the columns, though no row is of the first
    some = KIND > 0
    late = as_ordered(KIND[some], [0, 1, 2], [0, 1, 2])
    wanted = cost_matrix_loss(KIND[some], PROB[some], matrices=COSTS, labels=range(3))
    assert cost_matrix_loss(late, PROB[some], matrices=COSTS) == wanted
    later = as_ordered(KIND[KIND < 2], [1, 2, 3], [1, 2, 3])
    wanted = cost_matrix_loss(KIND[KIND < 2], PROB[KIND < 2], matrices=COSTS)
    assert cost_matrix_loss(later, PROB[KIND < 2], matrices=COSTS) == wanted


def test_one_hot_columns_out_of_their_own_order_need_names_beside_them():
    hot = pd.DataFrame(np.eye(3)[KIND], columns=pd.CategoricalIndex(ORDER, ORDER, ordered=True))
    turned = hot[["hi", "lo", "mid"]]
    assert ordinal_loss(turned, NAMED) == ordinal_loss(hot, PROB) == pytest.approx(WANTED["ordinal_loss"], rel=1e-12)
    with pytest.raises(ValueError, match=r"order, \['lo', 'mid', 'hi'\], beside .* got \['hi', 'lo', 'mid'\]: order"):
        ordinal_loss(turned, PROB[:, [2, 0, 1]])
    for prob in (PROB[:, [2, 0, 1]], NAMED):
        assert cost_matrix_loss(turned, prob, matrices=MATRIX) == pytest.approx(WANTED["cost_matrix_loss"], rel=1e-12)


def test_a_monitor_takes_ordered_labels_as_the_metric_does():
    monitor = MetricMonitor("ordinal_loss")
    for rows in (slice(0, 9), slice(9, 200)):
        monitor.update(as_ordered(KIND)[rows].reset_index(drop=True), NAMED[rows].reset_index(drop=True))
    assert monitor.compute() == pytest.approx(WANTED["ordinal_loss"], rel=1e-12)
    with pytest.raises(ValueError, match="not sorted"):
        MetricMonitor("ordinal_loss").update(as_ordered(KIND), PROB)


def test_lists_by_class_are_refused_where_the_names_of_the_columns_have_another_order():
    y, turned = as_ordered(KIND), NAMED[sorted(ORDER)]
    for prob, labels in ((NAMED, None), (turned, ORDER), (NAMED, ORDER)):
        assert cost_matrix_loss(y, prob, matrices=COSTS, labels=labels) == pytest.approx(WANTED["cost_matrix_loss"])
        found = one_vs_rest_bounded_loss(y, prob, class_weight=[1, 2, 20], labels=labels)
        assert found == pytest.approx(WANTED["one_vs_rest_bounded_loss"])
    for call in (
        lambda: cost_matrix_loss(y, turned, matrices=COSTS),
        lambda: evaluate_actions(y, turned, matrices=COSTS),
        lambda: one_vs_rest_bounded_loss(y, turned, class_weight=[1, 2, 20]),
        lambda: loss_calibration_test(y, turned, class_weight=[1.0, 2.0, 6.0], n_resamples=9),
    ):
        with pytest.raises(ValueError, match="pass labels= in the order of"):
            call()
