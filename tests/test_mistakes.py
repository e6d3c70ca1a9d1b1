"""The likeliest mistakes with every public function of the methods: the message is ours and names the argument."""

from __future__ import annotations

import importlib
import inspect
import linecache
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from stakes import (
    RowCosts,
    ScoreTable,
    TimeToEvent,
    actions,
    correction,
    costs,
    evaluate,
    evaluation,
    inference,
    metrics,
    utility,
)
from stakes.information import value_of_information

PACKAGE = Path(costs.__file__).resolve().parents[1]
ROOMS = ["costs", "metrics", "curves", "inference"]

Y = np.array([0, 1, 0, 1, 1, 0, 0, 1] * 10)
P = np.tile([0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9], 10)
GAP = P.copy()
GAP[3] = np.nan
THREE = np.tile([0.2, 0.3, 0.5], (80, 1))
TABLE = ScoreTable.from_predictions(Y, P)

# values that a parameter of this name takes, where it is required
VALID = {
    "y_true": Y,
    "y_prob": P,
    "y_score": P,
    "costs": (0.1, 0.3),
    "deferral": 0.05,
    "bounds": (0.1, 0.3),
    "fpr_bounds": (0.0, 0.2),
    "threshold": 0.2,
    "thresholds": [0.2, 0.5],
    "median": 0.2,
    "capacity": 10,
    "p_values": [0.01, 0.2],
    "matrices": [[0, 1], [4, 0]],
    "metric": "bounded_brier_loss",
    "kind": "regret",
    "odds": "1:9",
    "ratio": 0.1,
    "false_alarms": 9,
    "tn": 0,
    "fp": 1,
    "fn": 9,
    "tp": 0,
    "parts": [costs.Uniform(0, 1)],
    "weights": [1.0],
    "table": TABLE,
    "rule": "score",
    "outcome": RowCosts(Y, false_positive=1, false_negative=np.where(Y, 9, 5)),
    "values": [0.1, 0.2],
    "standard_errors": [0.01, 0.02],
    "horizons": [2.0, 4.0],
}
OWN = {
    "integrated_metric": {"outcome": TimeToEvent(event=Y, time=np.arange(80) % 7 + 1.0, horizon=4.0)},
    "beta_loss": {"a": 2, "b": 8},
    "expected_regret": {"costs": (0.1, 0.3)},  # only amounts by row need none
    "penalized_brier_loss": {"y_prob": np.column_stack([1 - P, P])},
    "penalized_log_loss": {"y_prob": np.column_stack([1 - P, P])},
    "compare": {"a": P, "b": P**2},
    "metric_difference": {"a": P, "b": P**2},
    "difference_band": {"a": P, "b": P**2},
    "dominance": {"a": TABLE, "b": TABLE},
    **{key: {"y_prob": {"new": P, "old": P**2}} for key in ("best_models", "select_best")},
    "random_effects": {"values": [0.1, 0.2, 0.3], "standard_errors": [0.1, 0.2, 0.1]},
    "Mixture": {"weights": [1.0]},
    "multilabel_loss": {"y_true": np.column_stack([1 - Y, Y]), "y_prob": np.column_stack([1 - P, P])},
    "check_proper": {"loss": lambda p, k: 1.0 - p[k]},
}
# by index in the table: no mistakes here (any ranking score, three classes), and what is checked elsewhere
ALLOWED = {
    ("cost_curve", "y_prob"): [2],
    ("promised_regret", "y_prob"): [0],  # of any length, for there are no labels
    ("difference_band", "harm"): [2],  # of two models
    **{
        (f"{name}_loss", "y_prob"): [5]
        for name in ("cost_matrix", "one_vs_rest_bounded", "ordinal", "penalized_brier", "penalized_log")
    },
}
# makers of other things, or functions for results of the library itself
OTHER = {
    *["get_scorer", "register", "metrics_table", "comparison_from_moments", "rank_models"],
    *["table_standard_error", "select", "largest_of"],
}

_RANGES = ["0.1:0.3", b"0.1", (0.3, 0.1), (2, 10), (0.1, 0.2, 0.3), ("0.1", "0.3"), {}]
_NUMBERS = ["0.1", b"1", None, (0.1, 0.2), -1]
_WHOLE = [0, -3, 2.5, "10", None]
_FLAGS = ["no", 3, np.array([0.1, 0.2])]
_SCORES = {"one short": P[:-1], "a gap": GAP, "percent": 100 * P, "bytes": b"0.1", "text": ["0.1"] * 80, "three": THREE}
MISTAKES = {
    "y_true": [Y[:-1], None, b"01", "0101", np.arange(80), np.where(Y, 1.0, np.nan), P],
    "y_prob": list(_SCORES.values()),
    "y_score": [P[:-1], GAP, b"0.1", ["0.1"] * 80, THREE],
    "costs": _RANGES,
    "deferral": ["0.1", b"1", (0.1, 0.2), -1],
    "bounds": [*_RANGES, 0.1, None],
    "fpr_bounds": [*_RANGES, 0.1, None],
    "threshold": [*_NUMBERS, 10],
    "thresholds": ["0.1", b"1", [0.5, np.nan], [[0.1], [0.2]], {}],
    "confidence_level": [95, "0.95", None, 0, True],
    "sample_weight": [np.ones(79), -np.ones(80), ["heavy"] * 80, b"1", 1.0],
    "rule": ["best", None, [0.1], b"score", 20, -1, np.nextafter(1.0, 2.0)],
    "scale": ["brier", 3, b"loss", ("loss",)],
    "prevalence": [10, "0.1", (0.1, 0.2), 0, b"1"],
    "pos_label": ["yes", 7],
    "median": [*_NUMBERS, 10],
    "capacity": ["5", None, -1, 1000, b"1"],
    "n_bins": _WHOLE,
    "cv": _WHOLE,
    "n_resamples": _WHOLE,
    "metric": ["nonsense", None, Y, b"roc_auc_score"],
    "kind": ["nonsense", None, Y, b"regret"],
    "clusters": [[1, 2], b"a"],
    "lags": [-1, "yes", 2.5, b"auto"],
    "block_length": [0, "yes", 2.5, b"auto"],
    "unit_cost": [0, "100", None, (1, 2), np.nan],
    "per": [0, "100", (1, 2), np.nan],
    "harm": ["0.1", None, (0.1, 0.2), np.nan],
    "span": ["0.1", None, 10, (0.1, 0.2)],
    "severity_ratio": ["1", -1, (1, 2), b"1"],
    "binning": ["nonsense", None, 3],
    "weighting": ["nonsense", None, 3],
    "axis": ["nonsense", None, 3],
    "ties": ["nonsense", None, 3],
    "cost": ["nonsense", None, 3],
    "interval": ["nonsense", 3],
    "reference": [10, "x", [0.1, 0.2], b"1"],
    "matrices": ["text", None, [[0, 1, 2]], b"1"],
    "labels": [[0], "ab"],
    "penalty": ["big", -1, (1, 2)],
    "eps": ["x", -1, None],
    "names": ["ab", ("a",), None],
    "random_state": ["seed", -1, 0.5],
    "odds": ["one to nine", b"1:9", None, -1],
    "ratio": [*_NUMBERS],
    "false_alarms": [*_NUMBERS],
    "table": [P, None],
    "p_values": ["0.1", [2.0], None],
    "parts": [[], None, ["uniform"]],
    "weights": [[1.0, 2.0], ["x"], b"1"],
    "matrix_weights": [[1.0, 2.0], ["x"], b"1"],
    "n_classes": [1, "2", None, 2.5],
    "low": ["0.1", -1, None],
    "high": ["0.1", 10, None],
    "grid": [0, "24", 2.5],
    "outcome": [Y, None],
    "factor": ["2", -1, None, (1, 2)],
    "values": [[0.1], ["0.1", "0.2"], None, [0.1, np.nan]],
    "standard_errors": [[0.1], ["0.1", "0.2"], None, [0.1, -0.1]],
    "horizons": [2.0, [2.0], [4.0, 2.0], [2.0, np.nan], "2:4", None, [1.0, 99.0]],
}
_OF_BETA = {"a": ["2", -1, None, (1, 2)], "b": ["2", -1, None, (1, 2)]}
_OF_MODELS = {"a": list(_SCORES.values()), "b": list(_SCORES.values())}
_MAPPED = {"y_prob": [P, {}, {"new": P[:-1]}, {"new": GAP}, {"new": 100 * P}, None]}
_UNUSUAL = dict.fromkeys(("beta_loss", "h_measure_score", "churn_profit"), _OF_BETA)
_UNUSUAL |= {"dominance": {"a": [P, None], "b": [P, None]}, "best_models": _MAPPED, "select_best": _MAPPED}
# what the message may call an argument beside its own name
ALSO = {
    "y_true": "labels|y_prob|y_score|rows",
    "y_prob": "probabilities|column|new|model",
    "y_score": "rows",
    "a": "y_prob|probabilities|column|scores|severity|ScoreTable",
    "b": "y_prob|probabilities|column|scores|severity|ScoreTable",
    "table": "ScoreTable",
    "low": "bounds",
    "high": "bounds",
    "parts": "factors|cost distribution|weights",
    "horizons": "horizon",
}


def functions():
    for room in ROOMS:
        module = importlib.import_module(f"stakes.{room}")
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)) and name not in OTHER:
                yield name, getattr(module, name)


FUNCTIONS = dict(functions())


def called(function, arguments):
    """Call with keywords, but for what is taken by position only."""
    kinds = {key: parameter.kind for key, parameter in inspect.signature(function).parameters.items()}
    by_position = [key for key, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_ONLY and key in arguments]
    rest = {key: value for key, value in arguments.items() if key not in by_position}
    return function(*(arguments[key] for key in by_position), **rest)


def valid_arguments(name, function):
    known = inspect.signature(function).parameters.values()
    given = {p.name: VALID[p.name] for p in known if p.name in VALID and (p.default is p.empty or p.name[:2] == "y_")}
    return (
        given
        | {key: VALID[key] for key in ("metric", "kind") if key in inspect.signature(function).parameters}
        | OWN.get(name, {})
    )


def mistakes():
    for name, function in FUNCTIONS.items():
        for parameter in inspect.signature(function).parameters.values():
            table = {**_OF_MODELS, **MISTAKES, **_UNUSUAL.get(name, {})}
            usual = _FLAGS if isinstance(parameter.default, bool) else []
            allowed = ALLOWED.get((name, parameter.name), ())
            values = [bad for index, bad in enumerate(table.get(parameter.name, usual)) if index not in allowed]
            if parameter.default is None and parameter.name not in {"metric", "kind"}:
                values = [bad for bad in values if bad is not None]
            if values:
                yield pytest.param(name, parameter.name, values, id=f"{name}-{parameter.name}")


def parameters_of(name):
    return inspect.signature(FUNCTIONS[name]).parameters


def as_decimal(value):
    return tuple(map(as_decimal, value)) if isinstance(value, tuple) else Decimal(str(value))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_arguments_that_mistakes_start_from_are_valid(name):
    called(FUNCTIONS[name], valid_arguments(name, FUNCTIONS[name]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "parameter", "values"), list(mistakes()))
def test_mistakes_are_named_in_our_own_words(name, parameter, values):
    for bad in values:
        check_mistake(name, parameter, bad)


def check_mistake(name, parameter, bad):
    with pytest.raises((ValueError, TypeError)) as error:
        called(FUNCTIONS[name], {**valid_arguments(name, FUNCTIONS[name]), parameter: bad})
    place = error.traceback[-1]
    line = linecache.getline(str(place.path), place.lineno + 1)
    assert Path(place.path).is_relative_to(PACKAGE), f"{place.path}: {error.value}"
    assert line.strip().startswith("raise"), f"{line.strip()}: {error.value}"
    assert re.search(rf"\b({parameter}|{ALSO.get(parameter, parameter)})\b", str(error.value)), str(error.value)


RARE = {
    "density that vanishes": ("roi", lambda: costs.credit_profit(roi=5e-324)),
    "density without room": ("roi", lambda: costs.credit_profit(roi=1e300)),
    "share that vanishes": ("a", lambda: costs.churn_profit(a=5e-324)),
    "price of no decisions": ("row_cost", lambda: value_of_information(Y, P, costs=0.2, row_cost=0.5)),
    "study paid to be made": (
        "fixed_cost",
        lambda: value_of_information(Y, P, costs=0.2, decisions=9, fixed_cost=-1.0),
    ),
    "study without end": ("fixed_cost", lambda: value_of_information(Y, P, costs=0.2, decisions=9, fixed_cost=np.inf)),
    "row paid to be drawn": ("row_cost", lambda: value_of_information(Y, P, costs=0.2, decisions=9, row_cost=-1.0)),
    "pooled from no row": ("n_rows", lambda: inference.pool([0.1, 0.2], [0.1, 0.1], n_rows=0)),
    "pooled from one row": ("n_rows", lambda: inference.pool([0.1, 0.2], [0.1, 0.1], n_rows=1)),
    "proper within less than nothing": ("atol", lambda: metrics.check_proper(lambda p, k: 1 - p[k], atol=-1.0)),
    "proper within anything": ("atol", lambda: metrics.check_proper(lambda p, k: 1 - p[k], atol=np.inf)),
    "level that rounds to 1": (
        "confidence_level",
        lambda: inference.threshold_intervals(Y, P, thresholds=[0.5], confidence_level=1.0 - 2.0**-53),
    ),
    "correction to one number": ("correction", lambda: utility.expected_utility(P, "f1", correction=len)),
    "one cause in no list": (
        "cause",
        lambda: TimeToEvent(event=Y, time=P, horizon=0.5, cause=np.array(0.3)),
    ),
    "codes 1 and 2 of R": (
        "censored",
        lambda: TimeToEvent(event=Y + 1, time=P, horizon=0.5, cause=2),
    ),
    "cause that never occurs": (
        "cause",
        lambda: TimeToEvent(event=Y, time=P, horizon=0.5, cause=2),
    ),
    "records for events": (
        "event",
        lambda: TimeToEvent(event=np.zeros(80, [("a", float), ("b", float)]), time=P, horizon=0.5),
    ),
    "blocks of no length": (
        "block_length",
        lambda: inference.bootstrap(Y, P, "roc_auc_score", block_length=np.zeros(0)),
    ),
    "no incumbent": (
        "incumbent",
        lambda: inference.select_best(Y, {"new": P, "old": P**2}, costs=0.2, incumbent=np.array([])),
    ),
    "label without end": (
        "pos_label",
        lambda: ScoreTable.from_predictions(np.zeros(80), P, pos_label=10**400),
    ),
    "unit without end": (
        "per",
        lambda: inference.select_best(Y, {"new": P, "old": P**2}, costs=0.2, per=1e200),
    ),
    "ratio that vanishes": ("severity_ratio", lambda: metrics.h_measure_score(Y, P, severity_ratio=5e-324)),
    "error that vanishes": ("max_error", lambda: actions.certify_decided(Y, P, threshold=0.5, max_error=5e-324)),
    "factor that is all": ("factor", lambda: inference.money(VALID["outcome"], P, factor=1e308)),
    "factor that is nothing": (
        "factor",
        lambda: inference.money(RowCosts(Y, false_positive=1, false_negative=1), P, factor=5e-324),
    ),
    "share that vanishes before": (
        "training_prior",
        lambda: correction.estimate_prior(P, training_prior=5e-324, n_resamples=0),
    ),
    "unit that vanishes": ("unit_cost", lambda: evaluate(Y, P, costs=0.2, unit_cost=1e-200)),
    "one number for bounds": (
        "bounds",
        lambda: metrics.one_vs_rest_bounded_loss(np.zeros(80, int), THREE, bounds=np.array(0.3)),
    ),
    "resamples without end": (
        "n_resamples",
        lambda: inference.bootstrap(Y, P, "roc_auc_score", n_resamples=10**400),
    ),
    "measure that is smooth somehow": ("smooth", lambda: utility.ConfusionMeasure(max, smooth="no")),
    "measure that is better somehow": ("higher_is_better", lambda: utility.ConfusionMeasure(max, higher_is_better=3)),
    "measure that rises somehow": ("rises_with_tp", lambda: utility.ConfusionMeasure(max, rises_with_tp="no")),
}


@pytest.mark.parametrize(("argument", "call"), RARE.values(), ids=RARE)
def test_a_rare_mistake_is_named_too(argument, call):
    with pytest.raises((ValueError, TypeError), match=rf"\b{argument}\b") as error:
        call()
    assert Path(error.traceback[-1].path).is_relative_to(PACKAGE)


SHARE = {"prevalence": 0.25, "harm": 0.01, "per": 3.0, "unit_cost": 2.5, "confidence_level": 0.75, "span": 0.75}
SHARE |= {"fee": 0.05, "median": 0.25, "roi": 0.25, "severity_ratio": 0.5, "capacity": 0.5, "deferral": 0.05}
SHARE |= {"tn": 0.1, "fp": 1.1, "fn": 9.3, "tp": 0.2, "ratio": 0.1, "false_alarms": 9.5, "threshold": 0.25}
SHARE |= {"rule": 0.25, "costs": 0.25, "bounds": (0.125, 0.375), "fpr_bounds": (0.125, 0.375)}
DECIMALS = {f"{name}-{key}": (name, key) for name in FUNCTIONS for key in SHARE if key in parameters_of(name)}
del DECIMALS["difference_band-harm"], DECIMALS["decomposition_interval-costs"]  # of two models; only for ranges


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "key"), DECIMALS.values(), ids=DECIMALS)
def test_a_decimal_counts_as_the_number_it_writes(name, key):
    draws = 1000 if name.endswith("_band") else 10
    few = {"n_resamples": draws, **({"scale": "regret"} if "unit_cost" in parameters_of(name) else {})}
    given = {each: value for each, value in few.items() if each in parameters_of(name)}
    given |= valid_arguments(name, FUNCTIONS[name])
    plain, written = (repr(called(FUNCTIONS[name], {**given, key: of})) for of in (SHARE[key], as_decimal(SHARE[key])))
    address = re.compile("0x[0-9a-f]+")  # of a function that a result holds
    assert address.sub("", plain) == address.sub("", written)


def test_numbers_of_several_kinds_make_one_cost_ratio():
    assert costs.from_cost_matrix(tn=0, fp=Fraction(1, 2), fn=Decimal("1.5"), tp=0.0) == 0.25
    assert repr(costs.as_costs((Decimal("0.1"), Fraction(1, 2)))) == "Uniform(low=0.1, high=0.5)"


def test_a_gap_in_one_of_several_models_names_the_model():
    with pytest.raises(ValueError, match=r"old.*index 3"):
        inference.best_models(Y, {"new": P, "old": GAP})
    with pytest.raises(ValueError, match=r"\bb\b.*index 3"):
        inference.compare(Y, P, GAP, costs=0.2)


TWICE = {1: P, "1": 1.0 - P}
MATRICES = {"matrices": [[0, 1], [4, 0]]}
RISKS = dict.fromkeys(TWICE, np.tile([0.2, 0.4], (80, 1)))
TIMES = TimeToEvent(event=Y, time=np.arange(1, 81), horizon=40)


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("y_prob", lambda: evaluate(Y, TWICE, costs=0.3)),
        ("y_true", lambda: evaluate(dict.fromkeys(TWICE, TABLE), costs=0.3)),
        ("groups", lambda: evaluate(Y, P, costs=0.3, groups=dict.fromkeys(TWICE, Y))),
        ("harm", lambda: evaluate(Y, {"1": P}, costs=0.3, harm=dict.fromkeys(TWICE, 0.01))),
        ("y_prob", lambda: actions.evaluate_actions(Y, {k: np.c_[1 - p, p] for k, p in TWICE.items()}, **MATRICES)),
        ("y_prob", lambda: evaluation.evaluate_horizons(TIMES, RISKS, horizons=[20, 40])),
        ("y_prob", lambda: inference.select_best(Y, TWICE, costs=0.3)),
        ("y_prob", lambda: inference.best_models(Y, TWICE, thresholds=[0.2, 0.5])),
        ("y_prob", lambda: inference.bootstrap(Y, TWICE, "roc_auc_score", n_resamples=100)),
        ("y_prob", lambda: inference.PairSums.from_predictions(Y, TWICE, costs=0.3)),
        ("y_prob", lambda: value_of_information(Y, TWICE, threshold=0.3)),
    ],
)
def test_two_models_whose_names_are_one_text_are_refused(argument, call):
    """One of them was dropped, or both had the scores of one."""
    with pytest.raises(ValueError, match=rf"^{argument} must have names that differ as text, got 1 and '1'\.$"):
        call()
