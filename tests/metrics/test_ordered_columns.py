"""One-hot classes of the ordinal loss stand in an order that somebody stated; the ranked probability score by hand."""

import numpy as np
import pytest

from stakes.metrics import ordinal_loss

pd = pytest.importorskip("pandas")
ORDER = ["lo", "mid", "hi"]
PROB = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6], [0.2, 0.6, 0.2], [0.7, 0.2, 0.1]])
KIND = np.array([0, 2, 1, 0])
TRUTH = np.eye(3)[KIND]
SCORE = np.mean(np.sum((PROB.cumsum(axis=1) - TRUTH.cumsum(axis=1)) ** 2, axis=1))
TEXT = pd.Series(np.array(ORDER)[KIND])
FRAME = pd.DataFrame(PROB, columns=ORDER)
SORTED = [2, 0, 1]  # hi, lo, mid
REFUSED = (
    r"one-hot y_true must say the order of its classes, got columns named \['hi', 'lo', 'mid'\].*: pass labels= in"
)


@pytest.mark.parametrize("prob", [FRAME, FRAME[sorted(ORDER)], PROB[:, SORTED]], ids=["named", "sorted", "array"])
def test_texts_that_pandas_sorted_are_no_order(prob):
    dummies = pd.get_dummies(TEXT)
    with pytest.raises(ValueError, match=REFUSED):
        ordinal_loss(dummies, prob)
    stated = prob if isinstance(prob, pd.DataFrame) else PROB
    assert ordinal_loss(dummies, stated, labels=ORDER) == pytest.approx(SCORE)


def test_rows_without_names_beside_columns_that_are_sorted_texts_are_refused():
    with pytest.raises(ValueError, match=REFUSED):
        ordinal_loss(TRUTH[:, SORTED], FRAME[sorted(ORDER)])
    assert ordinal_loss(TRUTH, FRAME) == pytest.approx(SCORE)
    assert ordinal_loss(TRUTH, PROB) == pytest.approx(SCORE)


def test_an_order_that_somebody_stated_needs_no_labels():
    own = pd.get_dummies(TEXT)[ORDER]
    for prob in (FRAME, PROB, FRAME.add_prefix("p_"), pd.DataFrame(PROB)):
        assert ordinal_loss(own, prob) == pytest.approx(SCORE)
    with pytest.raises(ValueError, match=r"named \['lo', 'mid', 'hi'\] beside those of y_prob, \['hi', 'lo', 'mid'\]"):
        ordinal_loss(own, FRAME[sorted(ORDER)])
    ordered = pd.get_dummies(pd.Categorical(TEXT, categories=ORDER, ordered=True))
    for prob in (FRAME, FRAME[sorted(ORDER)], PROB):
        assert ordinal_loss(ordered, prob) == pytest.approx(SCORE)
    letters = pd.get_dummies(pd.Categorical(np.array(list("abc"))[KIND], ordered=True))
    assert ordinal_loss(letters, PROB) == pytest.approx(SCORE)  # sorted, and stated to be so


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("turned", [[0, 1, 2], [2, 0, 1], [1, 0, 2]])
@pytest.mark.parametrize("numbers", [(0, 1, 2), (1, 2, 3), (8, 9, 10), (0.5, 1.5, 2.5)], ids=str)
def test_columns_named_by_numbers_are_in_the_order_of_these(library, turned, numbers):
    if library == "polars" and isinstance(numbers[0], float):
        return  # names of polars are texts
    module = pytest.importorskip(library)
    names = list(numbers) if library == "pandas" else list(map(str, numbers))
    own, prob = (module.DataFrame(dict(zip(names, rows.T, strict=True))) for rows in (TRUTH, PROB))
    mixed = [names[k] for k in turned]
    assert ordinal_loss(own[mixed], prob) == pytest.approx(SCORE)
    assert ordinal_loss(own, prob[mixed]) == pytest.approx(SCORE)
    assert ordinal_loss(own[mixed], prob[mixed[::-1]]) == pytest.approx(SCORE)
    assert ordinal_loss(own, PROB) == pytest.approx(SCORE)
    if mixed != names:
        with pytest.raises(ValueError, match="one-hot y_true must say the order of its classes, got columns named"):
            ordinal_loss(own[mixed], PROB)
