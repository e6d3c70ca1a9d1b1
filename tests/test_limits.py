"""Every documented range of a number, at its limits, just inside and just outside; every default, as the text says it.

The ranges stand here by the name of the parameter, with those functions beside them that have another.
"""

import importlib
import inspect
import math
import re
from unittest import mock

import numpy as np
import pytest

from stakes.actions import evaluate_deferral
from stakes.boundary import fit_boundary
from stakes.information import rows_needed
from stakes.metrics import bounded_brier_loss
from stakes.monitoring import CostMonitor
from tests import answers, soak_calls, soak_values

NEAR = 1e-9
ROOMS = [*soak_calls.ROOMS, "training", "display"]


def span(low, high, *, closed=""):
    """Numbers inside and outside of a range that is open unless ``closed`` names an end."""
    step = NEAR * max(1.0, abs(low) if math.isfinite(low) else 0.0)
    most = high if math.isfinite(high) else 1e6
    inside, outside = [low + step, 0.5 * (low + most), most - step], [low - step, math.nan, -math.inf, math.inf]
    (inside if "low" in closed else outside).append(low)
    if math.isfinite(high):
        (inside if "high" in closed else outside).append(high)
        outside.append(high + step)
    return inside, outside


def whole(least):
    """Whole numbers of at least so much."""
    return [least, least + 1], [least - 1, least + 0.5, math.nan, math.inf]


# the least prevalence whose weights keep their digits, and the last level whose normal quantile is finite
LEAST, LAST = 1e-140, 1.0 - 2.0**-52

SHARE, OPEN, LARGE, SIZE = span(0, 1, closed="low high"), span(0, 1), span(0, math.inf), span(0, math.inf, closed="low")
BELOW_ONE = span(0, 1, closed="low")
RANGES = {
    "prevalence": OPEN,
    "confidence_level": (
        [*span(0.5, 1, closed="low")[0], LAST],
        [*span(0.5, 1, closed="low")[1], math.nextafter(LAST, 1.0)],
    ),
    "fee": SIZE,
    "false_positive_rate": SHARE,
    "false_negative_rate": SHARE,
    "tie": SHARE,
    "c": SHARE,
    "median": OPEN,
    "incentive": SIZE,
    "contact": SIZE,
    "roi": LARGE,
    "false_alarms": SIZE,
    "ratio": SIZE,
    "unit_cost": LARGE,
    "per": LARGE,
    "deferral": SIZE,
    "severity_ratio": LARGE,
    "threshold": OPEN,
    "penalty": SIZE,
    "eps": OPEN,
    "n_bins": whole(1),
    "harm": BELOW_ONE,
    "span": span(0, 1, closed="high"),
    "block_length": whole(1),
    "lags": ([0, 1, 2], [-1, 0.5, math.nan, math.inf]),
    "cv": whole(2),
    "factor": LARGE,
    "positive_share": OPEN,
    "pos_weight": LARGE,
    "scale_pos_weight": LARGE,
    "beta": LARGE,
    "zero_division": SHARE,
    "min_precision": span(0, 1, closed="high"),
    "min_recall": span(0, 1, closed="high"),
    "max_error": ([*OPEN[0], LEAST], [*OPEN[1], math.nextafter(LEAST, 0.0)]),
    "min_rows": whole(1),
    "score_bins": whole(1),
    "cost_ratio": OPEN,
    "sensitivity": OPEN,
    "specificity": OPEN,
    "score": SHARE,
    "undersampling": LARGE,
    "horizon": LARGE,
    "decisions": SIZE,
    "n_classes": ([2, 3], [1, 0, -1, 2.5]),
    "a": LARGE,
    "b": LARGE,
    "training_prior": OPEN,
    "max_iterations": whole(0),
    "capacity": ([NEAR, 0.5, 1.0 - NEAR, 1, 2], [0, -NEAR, -1, 1.0 + NEAR, 1.5, math.nan, math.inf]),
}
OF_LOSSES = ("beta_loss", "bounded_brier_loss", "bounded_log_loss", "shifted_brier_loss")
ONE = [1], [1.0 + NEAR, 0, -1, math.nan, math.inf]
OTHERS = {
    **{f"metrics.{name} {key}": ONE for name in OF_LOSSES for key in ("per", "unit_cost")},
    "metrics.net_benefit_score threshold": BELOW_ONE,
    "boundary.PrecisionMonitor min_precision": OPEN,
    "evaluation.evaluate n_tried": whole(1),
}
# where a number is ignored, or its range hangs on others
NOT_SO = {
    "inference.consistency_band confidence_level",  # so many draws as its level needs
    "actions.evaluate_deferral cv",  # of rule="optimal" alone
    "information.rows_needed threshold",  # below what the accuracy allows
    "information.value_of_information threshold",  # in place of costs
    "evaluation.advise capacity",
    "evaluation.best_by_bounds harm",  # by model
    "evaluation.best_by_cost harm",
    "metrics.h_measure_score a",  # two together
    "metrics.h_measure_score b",
    "correction.apply_class_weight scale_pos_weight",  # one of several ways
    "correction.undo_class_weight scale_pos_weight",
    "inference.difference_band harm",  # of two models
    "uncertainty.estimation_bias score",  # an array
    "inference.decomposition_interval costs",
    "inference.compare a",
    "evaluation.advise prevalence",
    "metrics.top_k_scores capacity",  # of a share that is one row at least
    "correction.apply_class_weight pos_weight",  # one of several ways
    "correction.undo_class_weight pos_weight",
    "correction.correct_probabilities training_prior",  # two together
    "information.rows_needed max_error",  # of another question
    "outcomes.TimeToEvent horizon",  # within what was seen
}


def functions():
    """Every call with a number whose range is known: function, arguments, parameter."""
    with mock.patch.object(soak_values, "rows", answers.rows):
        for path, function in soak_calls.functions().items():
            given = soak_calls.arguments(path, function, np.random.default_rng(3))
            for key, parameter in inspect.signature(function).parameters.items() if given else ():
                taken = given.get(key, parameter.default)
                is_number = taken is None or (isinstance(taken, (int, float)) and not isinstance(taken, bool))
                if is_number and key in RANGES and f"{path} {key}" not in NOT_SO:
                    yield pytest.param(path, function, given, key, id=f"{path} {key}")


@pytest.mark.parametrize(("path", "function", "given", "key"), list(functions()))
def test_a_number_is_taken_within_its_range_and_refused_outside(path, function, given, key):
    inside, outside = OTHERS.get(f"{path} {key}", RANGES[key])
    for value in inside:
        _, error, _ = soak_calls.outcome_of(function, {**given, key: value})
        assert error is None, (value, error)
    for value in outside:
        _, error, _ = soak_calls.outcome_of(function, {**given, key: value})
        assert isinstance(error, ValueError), value
        assert re.search(rf"\b{key}\b", str(error)), error
        forms = (str(value), f"{value:g}", repr(float(value)), "need scale=")  # some have no unit without a scale
        assert any(form in str(error) for form in forms), error


ROWS = [0, 1, 1, 0, 1, 0], [0.1, 0.4, 0.9, 0.3, 0.6, 0.5], [0, 1, 0, 1, 0, 1]
PLANNED = {"question": "net_benefit", "prevalence": 0.3, "sensitivity": 0.8, "specificity": 0.7}
PLANNED |= {"threshold": 0.2, "width": 0.05}
DEFERRED = {"costs": 0.3, "deferral": 0.1, "rule": "optimal"}
# numbers that belong to another choice of an argument
WITH_A_CHOICE = {
    "f_beta": (
        lambda **given: fit_boundary(*ROWS, goal="f_beta", **given),
        ([NEAR, 1, int(1e140)], [0, -NEAR, int(1e140) + 1, math.nan, math.inf]),
    ),
    "min_recall": (lambda **given: fit_boundary(*ROWS, goal="precision", **given), span(0, 1, closed="high")),
    "capacity": (
        lambda **given: fit_boundary(*ROWS, goal="recall", **given),
        ([0.2, 0.5, 1, 5, 6, 7], [0, -1, 1.0 + NEAR, 1.5, math.nan]),
    ),
    "prevalence": (
        lambda **given: bounded_brier_loss(*ROWS[:2], **given),
        ([*OPEN[0], LEAST], [*OPEN[1], math.nextafter(LEAST, 0.0)]),
    ),
    "width": (
        lambda **given: rows_needed(**{**PLANNED, **given}),
        ([0.01, 0.45], [0, -NEAR, 0.475, math.nan, math.inf]),
    ),
    "sensitivity": (lambda **given: rows_needed(**{**PLANNED, **given}), OPEN),
    "auc": (lambda **given: rows_needed(question="auc", prevalence=0.3, width=0.1, **given), OPEN),
    "o_to_e": (
        lambda **given: rows_needed(question="o_to_e", prevalence=0.3, width=0.2, **given),
        ([0.5, 2.0], [0, -NEAR, math.nan, math.inf]),
    ),
    "tolerance": (lambda **given: CostMonitor((0.1, 0.3), budget=0.05, **given), ([], [-NEAR, math.nan])),
    "alpha": (lambda **given: CostMonitor((0.1, 0.3), budget=0.05, **given), OPEN),
    "budget": (
        lambda **given: CostMonitor((0.1, 0.3), **given),
        ([NEAR, 0.4, 0.8 - NEAR], [0, -NEAR, 0.8, 1, math.nan]),
    ),
    "cv": (
        lambda **given: evaluate_deferral([0, 1] * 20, [0.2, 0.6] * 20, **DEFERRED, **given),
        whole(2),
    ),
}


@pytest.mark.parametrize("key", WITH_A_CHOICE)
def test_a_number_of_a_choice_is_taken_within_its_range(key):
    call, (inside, outside) = WITH_A_CHOICE[key]
    for value in inside:
        call(**{key: value})
    for value in outside:
        with pytest.raises(ValueError, match=rf"\b{key}\b"):
            call(**{key: value})


def documented(module):
    """Every default of a public function, class or method whose text gives one: its name, that text and the value."""
    for name in module.__all__:
        for path, one in _callables(name, getattr(module, name)):
            lines = re.findall(r"^([\w, *]+?) : (.*)$", inspect.getdoc(one) or "", re.MULTILINE)
            for keys, line in lines:
                yield from _defaults(path, one, [key.strip() for key in keys.split(",")], line)


def _callables(name, value):
    if inspect.isfunction(value) or inspect.isclass(value):
        yield name, value
    for key, method in inspect.getmembers(value, inspect.isroutine) if inspect.isclass(value) else ():
        if not key.startswith("_") and str(getattr(method, "__module__", "")).startswith("stakes"):
            yield f"{name}.{key}", method


def _defaults(path, one, keys, line):
    said = re.search(r"\bdefault (.+)$", line)
    parameters = inspect.signature(one).parameters if said else {}
    own = [key for key in keys if key in parameters and parameters[key].default is not inspect.Parameter.empty]
    texts = re.split(r" and |, (?![^(]*\))", said[1]) if said and len(own) > 1 else [said[1]] if said else []
    for key, text in zip(own, texts if len(texts) > 1 else texts * len(own), strict=True):
        if isinstance(parameters[key].default, (bool, int, float, str, tuple)):
            yield f"{path} {key}", text, parameters[key].default


def _as_written(value):
    """The ways to write a value in a text."""
    written = {repr(value), str(value), repr(value).replace("'", '"'), str(value).strip("()")}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        written |= {f"{value:g}", f"{value:,}", f"{value:,g}", re.sub("e-0", "e-", f"{value:.0e}")}
    if isinstance(value, tuple):
        inner = ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in value)
        written |= {f"({inner})", repr(value).replace("'", '"')}
    return written


@pytest.mark.parametrize("room", ROOMS)
def test_defaults_are_what_the_text_says(room):
    found = list(documented(importlib.import_module(f"stakes.{room}")))
    plain = {name: (text.strip().rstrip(".").strip('"'), value) for name, text, value in found}
    wrong = [name for name, (text, value) in plain.items() if text not in {w.strip('"') for w in _as_written(value)}]
    assert found
    assert wrong == []
