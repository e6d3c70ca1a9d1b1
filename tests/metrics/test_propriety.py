"""Propriety by the definition: reference verdicts, and the claim of every registered metric."""

import itertools
import json
import math
from inspect import signature

import numpy as np
import pytest

from stakes.metrics import METRICS, Metric, check_proper, penalized_brier_loss
from tests.conftest import existing


def brier(p, k):
    return sum((v - (j == k)) ** 2 for j, v in enumerate(p))


def log(p, k):
    return -math.log(p[k]) if p[k] > 0 else math.inf


def clipped_log(p, k):
    return -math.log(min(max(p[k], 0.1), 0.9))


def spherical(p, k):
    return 1 - p[k] / math.sqrt(sum(v * v for v in p))


def focal(p, k):
    return (1 - p[k]) ** 2 * log(p, k) if p[k] < 1 else 0.0


def penalized(rule):
    def loss(p, k):
        top = [j for j, v in enumerate(p) if v == max(p)]
        miss = {"correct": k not in top, "wrong": top != [k], "first": k != top[0]}
        miss["fraction"] = 1 - (k in top) / len(top)
        return brier(p, k) + (len(p) - 1) / len(p) * miss[rule]

    return loss


def bounded_brier(p, k):
    t = min(max(p[1], 0.1), 0.3)
    return (t * t - 0.01) / 2 if k == 0 else (0.3 - t) * (1.7 - t) / 2


def matrix_cost(p, k):
    """What the action of least expected cost costs, the first of equals."""
    matrix = ((0, 1, 2), (1, 0, 1), (5, 2, 0))
    expected = [sum(q * row[a] for q, row in zip(p, matrix, strict=True)) for a in range(3)]
    return matrix[k][expected.index(min(expected))]


def deferred_cost(p, k):
    """Chow's rule at c = 1/4 and fee 1/16: not act up to 1/12, act from 3/4 on."""
    return (0.25, 0.0)[k] if p[1] >= 0.75 else 0.0625 if p[1] > 1 / 12 else (0.0, 0.75)[k]


LOSSES = {
    "brier2": (brier, 2, True, True),
    "brier3": (brier, 3, True, True),
    "log3": (log, 3, True, True),
    "spherical3": (spherical, 3, True, True),
    "absolute2": (lambda p, k: sum(abs(v - (j == k)) for j, v in enumerate(p)), 2, False, False),
    "bounded_brier2": (bounded_brier, 2, True, False),
    "clipped_log2": (clipped_log, 2, True, False),
    "cost_matrix3": (matrix_cost, 3, True, False),
    "deferral2": (deferred_cost, 2, True, False),
    "zero_one3": (lambda p, k: float(p.index(max(p)) != k), 3, True, False),
    "focal2": (focal, 2, False, False),
    "penalized_correct3": (penalized("correct"), 3, False, False),
    "penalized_correct2": (penalized("correct"), 2, False, False),
    "penalized_wrong3": (penalized("wrong"), 3, False, False),
    "penalized_first3": (penalized("first"), 3, True, True),
    "penalized_fraction3": (penalized("fraction"), 3, True, True),
}
# least excess on the lattice, from exact fractions: Brier 2 / 24^2 for two classes, 2 / 12^2 for three
EXCESSES = {
    "brier2": 2 / 24**2,
    "brier3": 2 / 12**2,
    "zero_one3": 0.0,
    "absolute2": -0.25,
    "penalized_correct3": -0.375,
}


@pytest.mark.parametrize("name", LOSSES)
def test_verdicts_on_known_losses(name):
    loss, n_classes, proper, strict = LOSSES[name]
    result = check_proper(loss, n_classes)
    assert (result.proper, result.strict) == (proper, strict)
    gain = sum(q * (loss(result.report, k) - loss(result.truth, k)) for k, q in enumerate(result.truth) if q > 0)
    assert result.excess == pytest.approx(gain, rel=1e-12, abs=1e-15)
    if name in EXCESSES:
        assert result.excess == pytest.approx(EXCESSES[name], abs=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_excess_agrees_with_the_reference(name, reference_dir):
    """Acceptance 12: sixteen losses, on the lattices of the oracle."""
    text = existing(reference_dir / "reference" / "actions_reference.json").read_text(encoding="utf-8")
    reference = json.loads(text)["propriety"][name]
    loss, n_classes, proper, _ = LOSSES[name]
    grid = {"bounded_brier2": 40, "clipped_log2": 40, "deferral2": 32}.get(name)  # others have the default
    worst = reference["worst"]
    if name == "penalized_correct2":  # q / 2 - 2 (1/2 - q)^2 at a truth q: 11/24 on the lattice, here next to 1/2
        assert worst == pytest.approx(11 / 48 - 2 / 24**2, abs=1e-12)
        worst = 0.25
    assert check_proper(loss, n_classes, grid=grid).excess == pytest.approx(-worst, abs=1e-12)
    assert proper == (reference["worst"] <= 1e-12)
    assert len(LOSSES) == 16


def test_a_loss_may_be_strict_within_a_range_only():
    assert not check_proper(clipped_log).strict
    assert check_proper(clipped_log).proper
    assert check_proper(clipped_log, low=0.1, high=0.9).strict


@pytest.mark.parametrize(("options", "most"), [({}, 1e-12), ({"atol": 1e-3}, 1e-3), ({"atol": 0.0}, 0.0)])
def test_a_report_may_gain_as_much_as_is_tolerated(options, most):
    def loss_less(gain):
        return lambda p, _: -gain if p[0] == 0.5 else 0.0  # the same for all reports but one

    assert check_proper(loss_less(0.9 * most), **options).proper
    assert not check_proper(loss_less(1.1 * most + 1e-13), **options).proper


def test_a_gain_beside_a_tie_of_two_classes_is_seen():
    # between 1/2 and its neighbours only: no lattice point but the tie itself is better than honest
    result = check_proper(penalized("correct"), grid=2)
    assert not result.proper
    assert result.report == (0.5, 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_classes": 1}, "n_classes must be a whole number >= 2, got 1"),
        ({"grid": 0}, "grid must be a whole number >= 1, got 0"),
        ({"grid": 2.5}, "grid must be a whole number >= 1, got 2.5"),
        ({"low": 0.4, "high": 0.2}, "low, high must satisfy"),
        ({"n_classes": 3, "high": 0.2}, "low, high must leave a point of the lattice of 3 classes"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        check_proper(brier, **arguments)


def forgotten(p, k):
    (1 - p[k]) ** 2


def forgotten_for_one_class(p, k):
    return abs(1 - p[k]) if k == 1 else None


@pytest.mark.parametrize(
    ("loss", "got"),
    [
        (forgotten, r"None for p = \(0\.0, 1\.0\) and k = 0"),
        (forgotten_for_one_class, r"None for p = \(0\.0, 1\.0\) and k = 0"),
        (lambda p, k: log(p, k) - log(p, 0), r"nan for p = \(0\.0, 1\.0\) and k = 0"),
    ],
)
def test_a_loss_without_a_value_is_refused_where_it_has_none(loss, got):
    with pytest.raises(ValueError, match="^loss must return a number, or inf, for every p and k, got " + got):
        check_proper(loss)


@pytest.mark.parametrize(
    "loss",
    [
        lambda _p, _k: math.inf,
        lambda p, k: math.inf if k else 1 - p[k],
        lambda p, k: math.inf if p[k] < 1 else 0.0,
    ],
)
def test_reports_that_all_cost_infinity_are_not_told_apart(loss):
    def expected(truth, report):
        return sum(q * loss(report, k) for k, q in enumerate(truth) if q > 0)

    lattice = [((4 - i) / 4, i / 4) for i in range(5)]
    pairs = [(expected(q, p), expected(q, q)) for q in lattice for p in lattice if p != q]
    found = check_proper(loss, grid=4)
    assert found.proper == all(report >= truth for report, truth in pairs)
    assert not found.strict
    assert not all(report > truth for report, truth in pairs)
    assert found.excess == 0.0


def row_loss(metric):
    """Loss of one report, lower is better, up to a positive factor and a constant of the class."""
    known, sign = signature(metric.function).parameters, -1.0 if metric.greater_is_better else 1.0
    if metric.task == "multiclass":
        further = {**metric.parameters, "per_sample": True}
        return lambda p, k: sign * float(metric.function([k], [p], labels=range(len(p)), **further)[0])
    if "reference" in known:  # a share saved: beside one fixed row of the other class it is linear in the loss
        further = {**metric.parameters, "reference": 0.5}
        return lambda p, k: sign * metric.function([k, 1 - k], [p[1], 0.5], **further)
    return lambda p, k: sign * metric.function([k], [p[1]], **metric.parameters)


def verdict(metric):
    low, high = metric.parameters.get("bounds", (0.0, 1.0))
    points = [] if metric.costs is None else metric.costs(**metric.parameters).atoms[0]
    return check_proper(row_loss(metric), 2 if metric.task == "binary" else 3, low=low, high=high, points=points)


def keeps_its_claim(metric):
    found = verdict(metric)
    return found.strict if metric.propriety == "strict" else found.proper


CLAIMS = {name: entry for name, entry in METRICS.items() if entry.propriety in {"strict", "proper"}}


@pytest.mark.parametrize("name", CLAIMS)
def test_registered_claim_of_propriety_holds(name):
    assert keeps_its_claim(CLAIMS[name]), verdict(CLAIMS[name])


def claimed(metric, claim, function=None):
    fields = {key: getattr(metric, key) for key in Metric.__dataclass_fields__}
    return Metric(**{**fields, "propriety": claim, "function": function or metric.function})


@pytest.mark.filterwarnings("ignore::stakes.metrics.ImproperScoreWarning")
def test_false_claims_are_found():
    assert not keeps_its_claim(claimed(METRICS["net_benefit_score"], "strict"))
    assert not keeps_its_claim(claimed(METRICS["expected_regret"], "strict"))

    def lenient(y_true, y_prob, **options):
        return penalized_brier_loss(y_true, y_prob, ties="correct", **options)

    assert not keeps_its_claim(claimed(METRICS["penalized_brier_loss"], "proper", lenient))


def test_what_ranks_only_is_not_claimed_to_be_proper():
    assert {name for name in METRICS if name not in CLAIMS} == {
        name for name, entry in METRICS.items() if entry.propriety in {"rank", "none"}
    }
    assert np.all([METRICS[name].response == "probability" for name in CLAIMS])


@pytest.mark.parametrize("grid", [3, 10, 24])
def test_the_brier_score_is_strictly_proper_over_every_range(grid):
    """The excess of a report q for a truth p is (p - q) ** 2, so over any range the least is that of neighbours."""
    for ends in itertools.combinations([k / grid for k in range(grid + 1)] + [0.1, 0.3333333333, 0.9], 2):
        low, high = sorted(ends)
        if high - low > 1e-3:
            found = check_proper(lambda p, k: (1 - p[k]) ** 2, low=low, high=high, grid=grid)
            assert (found.proper, found.strict) == (True, True), (low, high, found)
    assert not check_proper(lambda p, k: abs(1 - p[k]), low=1 / 3, high=2 / 3, grid=grid).proper
