"""What the library itself keeps is read again, at its edges too: one row, one class, no loss, no evidence."""

import itertools
import json
import math

import numpy as np
import pytest

from stakes import ScoreTable, costs, evaluate
from stakes.actions import fit_deferral
from stakes.boundary import Boundary, Certificate, PrecisionMonitor, fit_boundary
from stakes.correction import update
from stakes.costs import CostDistribution
from stakes.evaluation import KeptEvaluation
from stakes.inference import PairSums
from stakes.monitoring import ChallengerMonitor, CostMonitor
from stakes.outcomes import decide_rows
from stakes.utility import population_threshold

RNG = np.random.default_rng(0)
LABELS = {
    "one negative": [0],
    "one positive": [1],
    "one of each": [0, 1],
    "negatives": [0, 0, 0],
    "positives": [1, 1],
    "some": [0, 1, 1, 0, 0, 1],
}
SCORES = {
    "alike": lambda y: np.full(len(y), 0.3),
    "perfect": lambda y: np.asarray(y, dtype=float),
    "the other way round": lambda y: 1.0 - np.asarray(y),
    "any": lambda y: np.linspace(0.05, 0.95, len(y)),
    "tied": lambda y: np.where(np.arange(len(y)) % 2, 0.2, 0.6),
}
WEIGHTS = {
    "rows": lambda _: None,
    "some without": lambda n: np.where(np.arange(n) == 0, 1.0, 0.0),
    "tiny": lambda n: np.full(n, 1e-59),
    "large": lambda n: 1e12 * (1.0 + np.arange(n)),
}
COSTS = {
    "one": 0.3,
    "on a score": 0.6,
    "range": (0.1, 0.5),
    "all": costs.Uniform(0.0, 1.0),
    "log loss": costs.LogOddsUniform(0.0, 1.0),
    "atoms": costs.Empirical([0.2, 0.3, 0.6]),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("scores", SCORES)
def test_tables_and_sums_of_pairs_come_back(labels, scores):
    y = LABELS[labels]
    p = SCORES[scores](y)
    case = list(LABELS).index(labels) * len(SCORES) + list(SCORES).index(scores)
    for i, weight in enumerate(make(len(y)) for make in WEIGHTS.values()):
        table = ScoreTable.from_predictions(y, p, sample_weight=weight)
        assert ScoreTable.from_json(table.to_json()).to_json() == table.to_json()
        # each weight meets each cost under all labels, and under all scores
        for asked in [asked for j, asked in enumerate(COSTS.values()) if (case + i + j) % 3 == 0]:
            models = {"a": p, "b": SCORES["tied"](y), "c": p}
            sums = PairSums.from_predictions(y, models, costs=asked, sample_weight=weight)
            assert PairSums.from_json(sums.to_json()).to_json() == sums.to_json()


@pytest.mark.parametrize("rule", ["score", "optimal", 0.3])
@pytest.mark.parametrize("asked", ["on a score", "range", "atoms"])
def test_evaluations_come_back(asked, rule):
    for y, scores in itertools.product(([0, 1], [0, 1, 1, 0, 0, 1]), SCORES):
        models = {"a": SCORES[scores](y), "b": SCORES["any"](y)}
        kept = KeptEvaluation.of(evaluate(y, models, costs=COSTS[asked], rule=rule, groups=np.arange(len(y)) % 2))
        assert KeptEvaluation.from_json(kept.to_json()).to_json() == kept.to_json()


def test_sums_of_a_lazy_frame_are_those_of_the_rows_where_losses_are_infinite():
    pl = pytest.importorskip("polars")
    rows = {
        "y": [0, 1, 1, 0, 1],
        "a": [1.0, 0.0, 0.5, 0.2, 0.0],
        "b": [1.0, 0.0, 0.5, 0.7, 0.4],
        "c": [1.0, 0.2, 0.0, 1.0, 0.0],
    }
    whole = PairSums.from_predictions(
        rows["y"], {name: rows[name] for name in "abc"}, costs=costs.LogOddsUniform(0.0, 1.0)
    )
    lazy = PairSums.from_frame(
        pl.LazyFrame(rows), label="y", models=["a", "b", "c"], costs=costs.LogOddsUniform(0.0, 1.0)
    )
    again = PairSums.from_json(lazy.to_json())
    assert np.array_equal(again.carriers, whole.carriers)
    # of a and b, which are both infinite in the first two rows, the last two differ: one of each class
    assert again.carriers[:, 0].tolist() == [1.0, 1.0]


ROWS = 60
DOUBT, SCORE = RNG.random(ROWS).round(1), RNG.random(ROWS).round(1)
GOALS = {
    "every row": {"min_precision": 0.01},
    "none": {"min_precision": 1},
    "recall of 1": {"goal": "precision", "min_recall": 1},
    "one row": {"capacity": 1},
    "nearly all rows": {"capacity": ROWS - 1},
    "cost": {"goal": "cost", "costs": 0.3},
    "one level": {"min_precision": 0.5, "levels": 1},
    "shifted": {"min_precision": 0.5, "solver": "heuristic_recalibration"},
    "ranked": {"min_precision": 0.5, "solver": "ranker"},
    "single": {"min_precision": 0.5, "solver": "single_threshold"},
    "abstained": {"min_precision": 0.99, "confidence_level": 0.99},
    "certified": {"min_precision": 0.05, "confidence_level": 0.5},
}


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("rate", [0.02, 0.5, 0.98])
def test_boundaries_come_back_and_decide_the_same(goal, rate):
    y = np.arange(ROWS) < rate * ROWS
    for labels in (y, y[::-1], rate > SCORE):
        fitted = fit_boundary(labels, SCORE, DOUBT, **GOALS[goal])
        again = Boundary.from_json(fitted.to_json())
        assert again.to_json() == fitted.to_json()
        grid = np.repeat(np.linspace(0, 1, 21), 11), np.tile(np.linspace(0, 1, 11), 21)
        assert np.array_equal(again.predict(*grid), fitted.predict(*grid))


def test_certificates_come_back_up_to_the_ends_of_their_ranges():
    for promise, level, selected in itertools.product((1e-9, 0.5, 1.0), (0.5, math.nextafter(1.0, 0.0)), (0, 1, 40)):
        # all of those selected are positive: the p-value is promise^selected, the limit delta^(1 / selected)
        delta = 1.0 - level
        p_value, limit = promise**selected, delta ** (1.0 / selected) if selected else 0.0
        passed = selected > 0 and p_value <= delta
        one = Certificate(
            promise,
            level,
            abstained=not passed,
            tested_rows=50,
            selected=selected,
            true_positives=selected,
            lower_bound=limit,
            p_value=p_value,
            regions_tested=int(selected > 0),
            rows_needed=None,
        )
        assert Certificate.from_dict(json.loads(json.dumps(one.to_dict()))) == one


WRONG_CERTIFICATES = {
    "min_precision": (0.0, -0.1, math.nextafter(1.0, 2.0), 1.4),
    "confidence_level": (0.0, 1.0, 1.4),
    "regions_tested": (0, -1),
    "selected": (201, 1),
    "rows_needed": (1,),
}


@pytest.mark.parametrize("name", WRONG_CERTIFICATES)
def test_certificates_beyond_their_ranges_are_refused(name):
    whole = {"min_precision": 0.5, "confidence_level": 0.5, "abstained": False, "tested_rows": 200, "selected": 2}
    whole |= {"true_positives": 2, "lower_bound": 0.5**0.5, "p_value": 0.25, "regions_tested": 1, "rows_needed": None}
    assert Certificate.from_dict(whole).to_dict() == whole
    for value in WRONG_CERTIFICATES[name]:
        with pytest.raises(ValueError, match=name):
            Certificate.from_dict({**whole, name: value})


@pytest.mark.parametrize(("selected", "fewest"), [(0, 0), (1, 1), (2, 1), (200, 1)])
def test_rows_are_selected_by_a_region_that_was_tested(selected, fewest):
    kept = {"min_precision": 0.5, "confidence_level": 0.5, "abstained": True, "tested_rows": 200, "selected": selected}
    kept |= {"true_positives": 0, "lower_bound": 0.0, "p_value": 1.0, "rows_needed": 1000}
    for regions in range(3):
        if regions < fewest:
            with pytest.raises(ValueError, match=r"regions_tested must be from 1 to .*, or 0 if selected is, got 0"):
                Certificate.from_dict({**kept, "regions_tested": regions})
        else:
            assert Certificate.from_dict({**kept, "regions_tested": regions}).regions_tested == regions


def test_nothing_is_certified_at_any_level_where_no_region_was_tested():
    kept = {"min_precision": 0.5, "confidence_level": 1e-20, "tested_rows": 3, "selected": 0, "true_positives": 0}
    kept |= {"lower_bound": 0.0, "p_value": 1.0, "regions_tested": 0, "rows_needed": None}
    assert Certificate.from_dict({**kept, "abstained": True}).abstained
    with pytest.raises(ValueError, match="abstained must be true"):
        Certificate.from_dict({**kept, "abstained": False})


@pytest.mark.parametrize("promise", [0.001, 0.5, 0.999])
@pytest.mark.parametrize("level", [0.5, 0.95, math.nextafter(1.0, 0.0) - 1e-15])
def test_monitors_of_precision_come_back_after_every_update(promise, level):
    for labels in ([], [1], [0], [1] * 50, [0] * 50, [0, 1] * 25):
        monitor = PrecisionMonitor(promise, confidence_level=level)
        for part in (labels[:1], labels[1:]):
            monitor = monitor.update(part) if part else monitor
            again = PrecisionMonitor.from_json(monitor.to_json())
            assert again.to_json() == monitor.to_json()
            assert again.update([1, 0]).e_value == monitor.update([1, 0]).e_value


def days(*, totals, promised):
    for place, total in enumerate(totals):
        yield (
            place + 1,
            {"n": 10, "total": total, "squares": total * total / 10.0 if total in {0.0, 8.0} else 0.5 * total}
            | promised,
        )


@pytest.mark.parametrize("totals", [[], [0.0], [0.0] * 5, [2.0] * 40, [0.0, 5.0, 1.0], [8.0, 8.0, 0.0]])
def test_monitors_of_costs_come_back(totals):
    for budget, alpha in itertools.product((1e-9, 0.05, 0.79), (1e-9, 0.05, 0.999)):
        monitor = CostMonitor((0.1, 0.3), budget=budget, alpha=alpha)
        for day, given in days(totals=totals, promised={"promised": 0.3}):
            monitor.update_sums(day, **given)
        assert CostMonitor.from_json(monitor.to_json()).to_json() == monitor.to_json()
    rival = ChallengerMonitor((0.1, 0.3))
    for day, given in days(totals=totals, promised={}):
        rival.update_sums(day, **{**given, "total": given["total"] * (-1) ** day})
    assert ChallengerMonitor.from_json(rival.to_json()).to_json() == rival.to_json()


def test_a_monitor_beyond_its_ranges_is_refused():
    content = json.loads(CostMonitor((0.1, 0.3), budget=0.05).to_json())
    wrong = {
        "alpha": (0.0, 1.0, -0.1, 1.4),
        "budget": (0.0, -0.1, content["largest"]),
        "centre": (0.0, -0.1, content["largest"]),
        "largest": (0.0, -1.0),
        "tolerance": (-1e-9,),
        "shift": (-1e-9, content["largest"]),
    }
    for name, values in wrong.items():
        for value in values:
            text = json.dumps({**content, name: value})
            with pytest.raises(ValueError, match=name):
                CostMonitor.from_json(text)


@pytest.mark.parametrize("asked", COSTS)
def test_costs_come_back(asked):
    measure = COSTS[asked] if isinstance(COSTS[asked], CostDistribution) else costs.Uniform(0.1, 0.5)
    for one in (measure, 2.0 * measure + 0.5 * costs.Fixed(0.2, tie=0.5), costs.Beta(2.0, 3.0, 0.1, 0.9)):
        again = CostDistribution.from_dict(json.loads(json.dumps(one.to_dict())))
        assert again == one
        assert again.to_dict() == one.to_dict()


def test_rules_come_back():
    y, p = (SCORE > DOUBT).astype(int), np.clip(SCORE, 0.05, 0.95)
    rules = [
        fit_deferral(y, p, costs=0.2, deferral=0.05),
        fit_deferral(y, p, costs=(0.1, 0.4), deferral=0.0),
        fit_deferral(y, p, costs=0.2, deferral=0.5),
        population_threshold(y, p, "f1", n_resamples=20),
        population_threshold([0, 1], [0.2, 0.2], "accuracy", n_resamples=20),
        decide_rows(p, false_positive=1.0, false_negative=9.0),
        update(y, p),
        update(y, p, method="isotonic"),
    ]
    for rule in rules:
        assert type(rule).from_json(rule.to_json()).to_json() == rule.to_json()
