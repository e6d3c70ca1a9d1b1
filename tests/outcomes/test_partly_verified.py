"""Labels seen for some rows: Begg and Greenes's estimates, errors of the oracle, and refusals."""

import math

import numpy as np
import pytest

from stakes import PartlyVerified, RowCosts, ScoreTable, metric_interval
from stakes.metrics import METRICS

KEPT_SEED = 20261122  # of the kept reference values


def of_case(case, **how):
    return PartlyVerified(case["y"], **({"groups": case["group"]} | how if "probability" not in how else how))


def test_sensitivity_and_specificity_are_those_of_begg_and_greenes(outcomes_reference):
    case = outcomes_reference["inputs"]["verified"]
    outcome, test = of_case(case), np.array(case["group"]) == 1
    sensitivity = outcome.weight[outcome.y & test].sum() / outcome.weight[outcome.y].sum()
    negative = outcome.known & ~outcome.y
    specificity = outcome.weight[negative & ~test].sum() / outcome.weight[negative].sum()
    group, seen = np.array(case["group"]), np.array(case["seen"]) == 1
    y = np.array([label == 1 for label in case["y"]])
    rate = [y[seen & (group == k)].mean() for k in (0, 1)]  # of the seen rows of each group, taken for all its rows
    ill = [(group == k).sum() * rate[k] for k in (0, 1)]
    well = [(group == k).sum() * (1 - rate[k]) for k in (0, 1)]
    by_definition = ill[1] / sum(ill), well[0] / sum(well)
    assert (sensitivity, specificity) == pytest.approx(by_definition, abs=1e-14)
    assert outcome.weight.sum() == pytest.approx(len(y), abs=1e-12)
    assert outcome.prevalence == pytest.approx(sum(ill) / len(y), abs=1e-14)
    if outcomes_reference["seed"] == KEPT_SEED:
        assert by_definition == pytest.approx((0.853483606557377, 0.6431784107946027), abs=1e-14)


@pytest.mark.parametrize(("kind", "column"), [("estimated", "se"), ("known", "se")])
def test_estimates_and_errors_are_those_of_the_oracle(outcomes_reference, kind, column):
    case = outcomes_reference["inputs"]["verified"]
    expected = outcomes_reference["expected"]["verified"][kind]
    outcome = of_case(case) if kind == "estimated" else of_case(case, probability=case["probability"])
    assert outcome.weight == pytest.approx(expected["weight"], abs=1e-14)
    up = math.sqrt(60 / 59)
    for name, options, label in (
        ("bounded_brier_loss", {}, "brier"),
        ("net_benefit_score", {"threshold": 0.2}, "net_benefit(0.2)"),
    ):
        found = metric_interval(outcome, case["score"], name, **options)
        assert found.value == pytest.approx(expected["table"][label], abs=1e-14)
        assert found.standard_error / up == pytest.approx(expected[label][column], rel=1e-12)
    table = ScoreTable.from_predictions(outcome, case["score"])
    assert METRICS["roc_auc_score"].function(table) == pytest.approx(expected["table"]["auc"], abs=1e-14)
    assert table.estimated_weights == (kind == "estimated")


def test_all_labels_seen_are_plain_labels():
    y, p = [0, 1, 1, 0] * 5, [0.1, 0.6, 0.4, 0.3] * 5
    outcome = PartlyVerified(y, groups=[0, 1] * 10)
    assert metric_interval(outcome, p, "roc_auc_score") == metric_interval(y, p, "roc_auc_score")


def test_amounts_count_where_the_label_was_seen():
    outcome = PartlyVerified([1, None, 0, 0, 1, None], groups=[1, 1, 0, 0, 1, 0])
    nested = RowCosts(outcome, false_positive=2, false_negative=10)
    assert nested.weight == pytest.approx(outcome.weight * [10, 2, 2, 2, 10, 2])


@pytest.mark.parametrize(
    ("labels", "how", "message"),
    [
        ([1, None, 0], {}, r"1 of 3 labels are missing: pass groups= or probability="),
        ([1, None, 0], {"groups": ["a", "b", "a"]}, "no row of group 'b' was seen"),
        ([1, math.nan, 0], {"probability": [0.5, 0.5, 0.0]}, r"must lie in \(0, 1\] where a label was seen, got 0.0"),
        ([1, None, 0], {"probability": [0.5, 0.5, 1.5]}, "got 1.5 at 2"),
        ([1, None, 0], {"groups": [1, 1, 1], "probability": [1, 1, 1]}, "cannot both be given"),
        ([1, None, 0], {"groups": [1, 1]}, "one value for each of the 3 rows"),
        ([None, None], {"groups": [1, 1]}, "must hold some labels"),
        ([1, 2, 0], {}, "must hold two values"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(labels, how, message):
    with pytest.raises(ValueError, match=message):
        PartlyVerified(labels, **how)


def test_weights_are_one_over_the_share_of_the_group_that_was_seen():
    y = [1, None, 0, None, None, 1, 0, 0]
    groups = ["a", "a", "a", "a", "b", "b", "b", "b"]
    outcome = PartlyVerified(y, groups=groups)
    assert outcome.weight.tolist() == pytest.approx([2.0, 0.0, 2.0, 0.0, 0.0, 4 / 3, 4 / 3, 4 / 3], rel=1e-15)
    assert outcome.weight.sum() == pytest.approx(len(y), rel=1e-15)
    weighed = PartlyVerified(y, groups=groups, sample_weight=[1, 3, 2, 0, 5, 1, 1, 1])
    assert weighed.weight.tolist() == pytest.approx([2.0, 0.0, 4.0, 0.0, 0.0, 8 / 3, 8 / 3, 8 / 3], rel=1e-15)


def test_labels_that_were_all_seen_are_plain_only_where_that_was_sure():
    y = [0, 1, 1, 0]
    assert PartlyVerified(y).plain
    assert PartlyVerified(y).about == ""
    assert PartlyVerified(y, probability=[1.0] * 4).plain
    assert PartlyVerified(y, probability=np.ones(4)).weight.tolist() == [1.0] * 4
    chancy = PartlyVerified(y, probability=[1.0, 1.0, 0.5, 1.0])
    assert not chancy.plain
    assert chancy.about == "rows weighted for labels not looked up"
    assert chancy.weight.tolist() == [1.0, 1.0, 2.0, 1.0]
    # a row without weight says nothing of that
    assert PartlyVerified(y, probability=[1.0, 1.0, 0.5, 1.0], sample_weight=[1, 1, 0, 1]).plain
    for share in (0.0, 1.25):
        with pytest.raises(ValueError, match=r"probability must lie in \(0, 1\]"):
            PartlyVerified(y, probability=[1.0, share, 1.0, 1.0])


def test_group_of_no_weight_may_be_unseen():
    outcome = PartlyVerified([1, 0, None], groups=["a", "a", "b"], sample_weight=[1, 1, 0])
    assert outcome.weight.tolist() == [1.0, 1.0, 0.0]
    with pytest.raises(ValueError, match="no row of group 'b' was seen"):
        PartlyVerified([1, 0, None], groups=["a", "a", "b"])
