"""A missing value in a list of texts is refused, or left out, as it is in an array of objects: it is no text "nan"."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from stakes import PartlyVerified, RowCosts, TimeToEvent, compare, evaluate, net_benefit_score
from stakes.actions import evaluate_actions
from stakes.base.validation import to_array
from stakes.correction import LossCorrectedClassifier, undo_class_weight
from stakes.evaluation import evaluate_centres
from stakes.metrics import one_vs_rest_bounded_loss, penalized_brier_loss, roc_auc_score
from stakes.training import HBlockSplit, compare_monitors, segment_windows
from stakes.utility import PlugInThresholdClassifier

NAN = math.nan
N = 400
P = np.linspace(0.01, 0.99, N)
Y = np.random.default_rng(1).uniform(size=N) < P
P2 = np.column_stack([1 - P, P])
SEEN = ["yes" if v else NAN for v in Y]
TWO = [NAN if i % 10 == 3 else "yes" if v else "no" for i, v in enumerate(Y)]
PATIENT = [NAN if i % 4 == 2 else f"p{i // 2}" for i in range(N)]
SITE = [NAN if i % 4 == 2 else "abc"[i % 3] for i in range(N)]
COUNTRY = [(site, 1 + i % 2) for i, site in enumerate(SITE)]


def follow_up(**given):
    return TimeToEvent(**{"event": Y.astype(int), "time": P + 0.1, "horizon": 0.5} | given)


REFUSALS = {
    "labels, one of them": (SEEN, lambda v: net_benefit_score(v, P, threshold=0.2, pos_label="yes")),
    "labels, two of them": (TWO, lambda v: evaluate(v, P, costs=0.2, pos_label="yes")),
    "labels of a score": (TWO, lambda v: roc_auc_score(v, P, pos_label="yes")),
    "labels beside amounts": (TWO, lambda v: RowCosts(v, false_positive=1, false_negative=2, pos_label="yes")),
    "clusters": (PATIENT, lambda v: compare(Y, P, P**0.5, costs=(0.1, 0.3), clusters=v)),
    "groups": (SITE, lambda v: evaluate(Y, P, costs=(0.1, 0.3), groups=v)),
    "groups by name": (SITE, lambda v: evaluate(Y, P, costs=(0.1, 0.3), groups={"site": v})),
    "centres": (SITE, lambda v: evaluate_centres(Y, {"m": P}, centres=v, costs=0.2)),
    "nested centres": (COUNTRY, lambda v: evaluate_centres(Y, {"m": P}, centres=v, costs=0.2)),
    "strata": (SITE, lambda v: follow_up(groups=v)),
    "events": (SEEN, lambda v: follow_up(event=v, censored="nan", cause="yes")),
    "labels of training": (SEEN, lambda v: undo_class_weight(P2, class_weight="balanced", y_train=v)),
    "classes of a penalised loss": (SEEN, lambda v: penalized_brier_loss(v, P2)),
    "classes, one against the rest": (SEEN, lambda v: one_vs_rest_bounded_loss(v, P2, bounds=(0.1, 0.3))),
    "classes of actions": (SEEN, lambda v: evaluate_actions(v, P2, matrices=[[0, 1], [1, 0]])),
    "runs": (SITE, lambda v: compare_monitors({"f1": P, "trial": v}, criteria={"f1": "higher"}, run="trial")),
    "classes to fit to": (SEEN, lambda v: PlugInThresholdClassifier(measure="f1").fit(P2, v)),
    "classes to correct": (SEEN, lambda v: LossCorrectedClassifier(class_weight={"yes": 2, "nan": 1}).fit(P2, v)),
    "trials": (SITE, lambda v: next(HBlockSplit(2, gap=0).split(v, groups=v))),
    "trials of windows": (SITE, lambda v: segment_windows(range(N), width=2, groups=v)),
}


@pytest.mark.parametrize("entrance", REFUSALS)
@pytest.mark.parametrize("form", [list, tuple])
def test_a_missing_value_is_refused_as_in_an_array_of_objects(entrance, form):
    values, call = REFUSALS[entrance]
    with pytest.raises(ValueError, match="missing") as oracle:
        call(np.array(values, dtype=object))
    with pytest.raises(ValueError, match="missing") as found:
        call(form(values))
    assert str(found.value) == str(oracle.value)


@pytest.mark.parametrize("form", [list, tuple, lambda v: np.array(v, dtype=object)])
def test_a_label_that_was_not_looked_up_may_be_nan_in_a_list(form):
    outcome = PartlyVerified(form(TWO), groups=P > 0.5, pos_label="yes")
    looked_up = np.array([isinstance(value, str) for value in TWO])
    assert np.array_equal(outcome.weight > 0, looked_up)
    assert np.array_equal(outcome.y[looked_up], Y[looked_up])


@pytest.mark.parametrize("values", [["a", "b"], [b"a", b"b"], [["a", "b"], ["c", "d"]], [0.5, NAN], [[0, 1], [1, 0]]])
def test_lists_of_one_kind_are_what_numpy_makes_of_them(values):
    found, expected = to_array(values, "x"), np.asarray(values)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_long_lists_of_texts_take_little_longer():
    values = ["yes", "no"] * 200_000

    def seconds(work):
        taken = []
        for _ in range(5):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
        return min(taken)

    assert seconds(lambda: to_array(values, "x")) < 4 * seconds(lambda: np.asarray(values))
