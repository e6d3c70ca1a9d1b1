"""What is listed by class beside a frame whose columns stand in another order, and one-hot columns out of order."""

import numpy as np
import pytest

from stakes.correction import loss_calibration_test, undo_class_weight
from stakes.metrics import one_vs_rest_bounded_loss, penalized_brier_loss
from stakes.training import MetricMonitor
from stakes.uncertainty import from_ensemble

pd = pytest.importorskip("pandas")
ORDER = ["lo", "mid", "hi"]
RNG = np.random.default_rng(0)
KIND = RNG.choice(3, 200, p=[0.5, 0.3, 0.2])
PROB = RNG.dirichlet([1, 1, 1], 200) * 0.5 + 0.5 * np.eye(3)[KIND]
TEXT = np.array(ORDER)[KIND]
FRAME = pd.DataFrame(PROB, columns=ORDER)
MESSAGE = r"is read in the order of the classes, \['hi', 'lo', 'mid'\], and .* \['lo', 'mid', 'hi'\]: pass labels="


@pytest.mark.parametrize(
    "listed", [{"class_weight": [0.0, 1.0, 2.0]}, {"bounds": [(0, 0.5), (0, 1), (0.5, 1)]}], ids=str
)
def test_lists_by_class_need_the_order_of_the_columns(listed):
    wanted = one_vs_rest_bounded_loss(KIND, PROB, **listed)
    assert one_vs_rest_bounded_loss(TEXT, FRAME, labels=ORDER, **listed) == pytest.approx(wanted)
    turned = {name: [values[k] for k in (2, 0, 1)] for name, values in listed.items()}
    assert one_vs_rest_bounded_loss(TEXT, FRAME[sorted(ORDER)], **turned) == pytest.approx(wanted)
    with pytest.raises(ValueError, match=f"{next(iter(listed))} {MESSAGE}"):
        one_vs_rest_bounded_loss(TEXT, FRAME, **listed)
    assert one_vs_rest_bounded_loss(TEXT, FRAME, bounds=(0.1, 0.5)) > 0.0


def test_weights_of_a_test_of_loss_calibration_belong_to_the_names_of_the_columns():
    def statistic(y, prob, weight, **options):
        return loss_calibration_test(y, prob, class_weight=weight, n_resamples=9, **options).vector_statistic

    wanted = statistic(KIND, PROB, [1.0, 2.0, 6.0])
    weights = dict(zip(ORDER, (1.0, 2.0, 6.0), strict=True))
    dummies = pd.get_dummies(pd.Series(TEXT))
    for y in (TEXT, dummies, dummies[ORDER], dummies[["mid", "lo", "hi"]]):
        for given in (weights, pd.Series(weights)[::-1]):
            assert statistic(y, FRAME, given) == pytest.approx(wanted, rel=1e-6)
    assert statistic(TEXT, FRAME, [1.0, 2.0, 6.0], labels=ORDER) == pytest.approx(wanted, rel=1e-6)
    assert statistic(TEXT, FRAME[sorted(ORDER)], [6.0, 1.0, 2.0]) == pytest.approx(wanted, rel=1e-6)
    with pytest.raises(ValueError, match=f"class_weight {MESSAGE}"):
        statistic(TEXT, FRAME, [1.0, 2.0, 6.0])


def test_members_whose_positive_column_stands_first_are_refused():
    members = [pd.DataFrame({1: [0.9, 0.2], 0: [0.1, 0.8]})] * 2
    with pytest.raises(
        ValueError, match=r"columns of member_probs\[0\] must be \[0, 1\] where 1 is the positive class"
    ):
        from_ensemble(members)
    assert from_ensemble([each[[0, 1]] for each in members]).score == pytest.approx([0.9, 0.2])


def test_one_hot_columns_beside_a_tensor_are_of_the_labels_that_they_name():
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")
    dummies = pd.get_dummies(pd.Series(TEXT))  # hi, lo, mid
    wanted = np.mean(np.sum((PROB - np.eye(3)[KIND]) ** 2, axis=1))
    found = penalized_brier_loss(dummies, torch.tensor(PROB), labels=ORDER, penalty=0)
    assert float(found) == pytest.approx(wanted)
    with pytest.raises(ValueError, match="one-hot y_true must have columns named as labels"):
        penalized_brier_loss(dummies.add_prefix("is_"), torch.tensor(PROB), labels=ORDER, penalty=0)


def test_lists_beside_numbered_columns_in_another_order_are_refused_unless_labels_states_theirs():
    turned, weight, bounds = pd.DataFrame(PROB)[[2, 0, 1]], [6.0, 1.0, 2.0], [(0.5, 1), (0, 0.5), (0, 1)]
    assert list(turned.columns) == [2, 0, 1]
    calls = {
        "class_weight": [
            lambda **by: loss_calibration_test(KIND, turned, class_weight=weight, n_resamples=0, **by).vector_p_value,
            lambda **by: one_vs_rest_bounded_loss(KIND, turned, class_weight=weight, **by),
            lambda **by: MetricMonitor(correct={"class_weight": weight}, **by).evaluate(KIND, turned),
            lambda **by: MetricMonitor(correct={"class_weight": weight}, **by).evaluate(np.eye(3)[KIND], turned),
            lambda **by: MetricMonitor("one_vs_rest_bounded_loss", class_weight=weight, **by).evaluate(KIND, turned),
        ],
        "bounds": [
            lambda **by: one_vs_rest_bounded_loss(KIND, turned, bounds=bounds, **by),
            lambda **by: MetricMonitor("one_vs_rest_bounded_loss", bounds=bounds, **by).evaluate(KIND, turned),
        ],
    }
    for name, of_name in calls.items():
        for call in of_name[:3]:
            assert np.isfinite(call(labels=[2, 0, 1]))
        for call in of_name:
            with pytest.raises(ValueError, match=rf"{name} is read in the order of the classes, \[0, 1, 2\], and .*"):
                call()
    corrected = undo_class_weight(PROB, class_weight=[1.0, 2.0, 6.0])
    monitor = MetricMonitor(penalty=0, correct={"class_weight": weight}, labels=[2, 0, 1])
    wanted = np.mean(np.sum((corrected - np.eye(3)[KIND]) ** 2, axis=1))
    assert monitor.evaluate(KIND, turned) == pytest.approx(wanted)
    by_name = MetricMonitor(penalty=0, correct={"class_weight": {0: 1.0, 1: 2.0, 2: 6.0}})
    assert by_name.evaluate(KIND, turned) == pytest.approx(wanted)
