"""A refusal points at what is wrong: the place and the value of a row, how many, and the class that is not there."""

import inspect
import math
import re
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

from tests import answers, soak_calls, soak_values

ROWS, PLACE, LATER = answers.ROWS, 7, 41
ARRAYS = ("y_true", "y_prob", "y_score", "a", "b", "uncertainty", "sample_weight", "time", "event")
# what no row may hold
WRONG = {
    "y_prob": (math.nan, math.inf, -0.25, 1.25),
    "a": (math.nan, math.inf, -0.25, 1.25),
    "b": (math.nan, math.inf, -0.25, 1.25),
    "y_score": (math.nan, -math.inf),
    "uncertainty": (math.nan, math.inf),
    "sample_weight": (math.nan, math.inf, -1.0),
    "time": (math.nan, -1.0),
}
OTHER_WORDS = {
    "y_prob": "y_prob|y_score|score|column|probabilit",
    "y_score": "y_score|y_prob|score",
    "a": "a|y_prob|scores",
    "b": "b|y_prob|scores",
}


def calls(wanted):
    """Every call with rows, or with a parameter of that name: function, arguments."""
    with mock.patch.object(soak_values, "rows", answers.rows):
        for path, function in soak_calls.functions().items():
            given = soak_calls.arguments(path, function, np.random.default_rng(3))
            if given is not None and wanted(inspect.signature(function).parameters, given):
                yield path, function, given


# scores of any size are taken, or others must be given besides
APART = {"curves.cost_curve", "correction.apply_sampling", "correction.undo_sampling", "curves.net_benefit_curve"}


def of_rows():
    for path, function, given in calls(lambda *_: True):
        for key in () if path in APART else ARRAYS:
            known = inspect.signature(function).parameters
            if key == "sample_weight" and key in known and isinstance(given.get("y_true"), np.ndarray):
                if np.shape(given.get("y_true")) == (ROWS,) and "boundary" not in path:
                    yield pytest.param(function, {**given, key: np.ones(ROWS)}, key, id=f"{path} {key}")
            elif isinstance(given.get(key), np.ndarray) and np.shape(given[key]) == (ROWS,) and key in WRONG:
                yield pytest.param(function, given, key, id=f"{path} {key}")


@pytest.mark.parametrize(("function", "given", "key"), list(of_rows()))
def test_a_wrong_row_is_named_by_its_place_and_its_value(function, given, key):
    _, error, _ = soak_calls.outcome_of(function, given)
    assert error is None or "needs" in str(error)
    for value in WRONG[key]:
        spoiled = np.array(given[key], dtype=float)
        spoiled[[PLACE, LATER]] = value
        _, error, _ = soak_calls.outcome_of(function, {**given, key: spoiled})
        if key == "time" and value == -1.0 and error is None:
            continue
        assert isinstance(error, ValueError), value
        assert re.search(rf"\b({OTHER_WORDS.get(key, key)})", str(error)), error
        assert f"{value} at index {PLACE}" in str(error), error
        told = re.search(r"\((\d+) of (\d+)", str(error))
        assert told is None or told.groups() == ("2", str(ROWS)), error


def with_classes():
    for path, function, given in calls(lambda known, given: "prevalence" in known and "y_true" in given):
        if np.shape(given["y_true"]) == (ROWS,):
            yield pytest.param(function, given, id=path)


@pytest.mark.parametrize(("function", "given"), list(with_classes()))
def test_a_prevalence_of_one_class_is_refused(function, given):
    for label in (0, 1):
        one = {**given, "y_true": np.full(ROWS, label), "prevalence": 0.3}
        one |= {"pos_label": 1} if "pos_label" in inspect.signature(function).parameters else {}
        _, error, _ = soak_calls.outcome_of(function, one)
        assert isinstance(error, ValueError), label
        assert re.search("class|positive|negative|label", str(error)), error


def with_thresholds():
    for path, function, given in calls(lambda known, _: "thresholds" in known):
        if path not in APART:
            yield pytest.param(function, given, id=path)


@pytest.mark.parametrize(("function", "given"), list(with_thresholds()))
def test_thresholds_that_do_not_rise_are_named_by_their_place(function, given):
    low, high = 0.2, 0.45
    for wrong, place in (([low, high, high], 2), ([low, high, 0.3], 2), ([high, low], 1), ([0.1, low, low, high], 2)):
        _, error, _ = soak_calls.outcome_of(function, {**given, "thresholds": wrong})
        if error is None:  # some take them in any order
            assert soak_calls.outcome_of(function, {**given, "thresholds": sorted(set(wrong))})[1] is None
            continue
        assert re.search(r"thresholds must", str(error)), error
        if " at index " in str(error):
            assert f"got {wrong[place]} at index {place}" in str(error)


@pytest.mark.parametrize("most", [1e140, 1e-140])
def test_weights_are_taken_up_to_their_limits(most):
    from stakes import ScoreTable

    y, p = [0, 1, 1], [0.1, 0.2, 0.6]
    assert ScoreTable.from_predictions(y, p, sample_weight=[most, 1.0, most]).total > 0.0
    beyond = math.nextafter(most, math.inf if most > 1.0 else 0.0)
    with pytest.raises(
        ValueError, match=rf"sample_weight must be 0 or lie in .*, got {re.escape(str(beyond))} at index 2"
    ):
        ScoreTable.from_predictions(y, p, sample_weight=[1.0, 1.0, beyond])


@pytest.mark.parametrize("constant", [1.0, 1e-70, 1e100])
def test_weights_that_no_constant_brings_within_the_limits_have_a_remedy(constant):
    pl = pytest.importorskip("polars")

    import stakes

    rng = np.random.default_rng(0)
    score = rng.beta(1, 3, 60)
    y = (rng.random(60) < score).astype(int)
    weight = np.exp(-(rng.uniform(-24, 24, 60) ** 2)) * constant  # a kernel: 250 decades

    def by_arrays(weight):
        return stakes.evaluate(y, score, costs=(0.1, 0.4), sample_weight=weight)

    def by_frame(weight, form=lambda frame: frame):
        frame = form(pl.DataFrame({"y": y, "s": score, "w": weight}))
        return stakes.evaluate_frame(frame, label="y", models=["s"], costs=(0.1, 0.4), weight="w")

    def by_lazy(weight):
        return by_frame(weight, pl.DataFrame.lazy)

    remedy = "ivide all weights by a constant, .* first replace those below 1e-140 times the largest by 0"
    for evaluated in (by_arrays, by_frame, by_lazy):
        for divisor in (1.0, weight.max(), weight.max() * 1e-60):
            with pytest.raises(ValueError, match=remedy):
                evaluated(weight / divisor)
    kept = np.where(weight < 1e-140 * weight.max(), 0.0, weight) / weight.max()
    exact = [Fraction(value) for value in weight]
    share = sum(w for w, one in zip(exact, y, strict=True) if one) / sum(exact)
    for evaluated in (by_arrays, by_frame, by_lazy):
        assert evaluated(kept).prevalence == pytest.approx(float(share), rel=1e-12)
