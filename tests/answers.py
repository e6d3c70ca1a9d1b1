"""What the public functions answer on fixed rows, in numbers, of which a table is kept.

``python -m tests.answers`` writes the table anew; what then differs from the last commit was changed. Other tests hold
that the numbers are right, each on what can be worked out by hand; here they only stay as they are, with every option.
"""

import contextlib
import dataclasses
import functools
import inspect
import json
import math
import re
import warnings
import zlib
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import numpy as np

import stakes
from stakes import (
    PartlyVerified,
    RowCosts,
    TimeToEvent,
    actions,
    boundary,
    correction,
    costs,
    evaluation,
    inference,
    information,
    monitoring,
    outcomes,
    uncertainty,
    utility,
)
from tests import soak_calls as calls, soak_values as values

KEPT = Path(__file__).with_name("answers.json")
ROWS = 60
RNG = np.random.default_rng(11)
P = np.round(RNG.beta(1.0, 2.0, ROWS), 2)
Y = (RNG.random(ROWS) < P).astype(int)
OPTIONS = {
    "sample_weight": RNG.choice([0.5, 1.0, 2.0], ROWS),
    "prevalence": 0.2,
    "clusters": np.arange(ROWS) // 3,
    "groups": np.where(np.arange(ROWS) % 2, "a", "b"),
    "confidence_level": 0.8,
    "rule": "optimal",
    "harm": 0.05,
    "lags": 2,
    "pos_label": 0,
    "simultaneous": False,
    "reference": "treat all",
    "deferral": 0.02,
    "resolution": 10,
    "per": 1000.0,
    "costs": costs.Beta(2.0, 8.0),
    "bounds": (0.2, 0.2),
    "n_bins": 4,
    "binning": "uniform",
}
DEPTH = 5
FEW = {
    "inference.difference_band": ["clusters"],
    "inference.best_models": ["prevalence"],
    "actions.evaluate_deferral": ["sample_weight"],
    "inference.confidence_band": ["clusters", "harm"],
}

# rows of several models, classes and levels of doubt, in 240 rows
N = 240
SCORE = np.round(RNG.beta(1.0, 3.0, N), 3)
ILL = (RNG.random(N) < SCORE).astype(int)
OTHER = np.round(np.clip(SCORE + RNG.normal(0.0, 0.1, N), 0.01, 0.99), 1)
DOUBT = RNG.random(N).round(2)
WEIGHT = RNG.choice([0.5, 1.0, 3.0], N)
OWNER = np.sort(RNG.integers(0, 60, N))
PART = np.where(RNG.random(N) < 0.3, "few", "many")
TIME = np.ceil(10.0 * RNG.exponential(2.0 * (1.2 - SCORE))) / 10.0
MODELS = {"a": SCORE, "b": OTHER, "late": SCORE**2}
FORECAST = RNG.dirichlet([2.0, 1.0, 1.0], N).round(3)
FORECAST /= FORECAST.sum(axis=1, keepdims=True)
KIND = (RNG.random((N, 1)) > FORECAST.cumsum(axis=1)).sum(axis=1)
MATRICES = [[[0, 5, 9], [4, 0, 3], [30, 6, 0]], [[0, 1, 2], [4, 0, 3], [9, 6, 1]]]
TWO = {"own": FORECAST, "flat": np.full((N, 3), 1.0 / 3.0)}
SEEN = np.where((SCORE > 0.3) | (np.arange(N) % 2 == 0), ILL, np.nan)
TAKEN = {
    "times": TimeToEvent(event=np.where(TIME > 2.0, 2, ILL), time=TIME, horizon=1.5, cause=1, censored=0),
    "times in groups": TimeToEvent(event=ILL, time=TIME, horizon=1.5, groups=PART),
    "amounts": RowCosts(ILL, false_positive=5.0, false_negative=10.0 + WEIGHT * 30.0, unit="EUR"),
    "verified": PartlyVerified(SEEN, groups=SCORE > 0.3),
    "verified by design": PartlyVerified(SEEN, probability=np.where(SCORE > 0.3, 1.0, 0.5)),
}
MADE_BY = {
    "evaluate": lambda y: stakes.evaluate(y, MODELS, costs=(0.05, 0.4)),
    "evaluate at a threshold": lambda y: stakes.evaluate(y, SCORE, costs=0.2),
    "compare": lambda y: stakes.compare(y, SCORE, OTHER, costs=(0.05, 0.4)),
    "select": lambda y: inference.select_best(y, MODELS, costs=(0.05, 0.4), incumbent="b"),
    "band": lambda y: inference.confidence_band(y, SCORE, "net_benefit", thresholds=[0.1, 0.2, 0.4], n_resamples=1000),
    "thresholds": lambda y: inference.threshold_intervals(y, SCORE, thresholds=[0.1, 0.3], costs=0.2),
    "regret": lambda y: stakes.regret_curve(y, OTHER),
    "brier": lambda y: inference.metric_interval(y, OTHER, "bounded_brier_loss", bounds=(0.05, 0.4)),
    "auc": lambda y: inference.metric_interval(y, OTHER, "roc_auc_score"),
    "two aucs": lambda y: inference.metric_difference(y, SCORE, OTHER, "roc_auc_score"),
}
WEIGHED = {"sample_weight": WEIGHT}
OWNED = {"clusters": OWNER}
OF_ACTIONS = {"matrices": MATRICES}
DEFERRED = {"costs": (0.1, 0.4), "deferral": 0.03}
BOUNDARIES = {
    "recall": {"min_precision": 0.4},
    "precision": {"goal": "precision", "min_recall": 0.6},
    "f beta": {"goal": "f_beta", "f_beta": 2.0},
    "cost": {"goal": "cost", "costs": 0.2},
    "capacity": {"capacity": 0.2, "levels": 4},
    "certified": {"min_precision": 0.2, "confidence_level": 0.9},
    "tuned": {"min_precision": 0.4, "tune": "cv"},
    "levels by folds": {"min_precision": 0.4, "levels": "cv", "tune": "cv", "score_bins": 5},
    "weights": {"min_precision": 0.4, "sample_weight": 1 + OWNER % 3, "binning": "equal_span", "score_bins": 8},
    "ranked": {"min_precision": 0.3, "solver": "heuristic_recalibration"},
}
QUESTIONS = {
    "net benefit": {
        "question": "net_benefit",
        "prevalence": 0.3,
        "threshold": 0.1,
        "sensitivity": 0.8,
        "specificity": 0.7,
        "width": 0.04,
    },
    "o to e": {"question": "o_to_e", "prevalence": 0.3, "width": 0.2},
    "auc": {"question": "auc", "prevalence": 0.3, "auc": 0.75, "width": 0.1},
    "slope": {"question": "slope", "linear_predictor": (-1.8, 0.9), "width": 0.3},
}


def _monitor(kind, **options):
    found = kind((0.05, 0.3), **options)
    for day in range(1, 41):
        total = 9.0 + (7.0 if day > 25 else 0.0) - (0.0 if options else 12.0)
        promised = {"promised": 9.0} if options else {}
        found.update_sums(day, n=200, total=total + day % 3, squares=6.0, **promised)
    return found


def of_their_own():
    """Return the calls that take several models, outcomes, classes, or fit something."""
    found = {
        f"{name} of {what}": functools.partial(call, y) for name, call in MADE_BY.items() for what, y in TAKEN.items()
    }
    for name, given in {"weights": WEIGHED, "clusters": OWNED, "both": WEIGHED | OWNED, "lags": {"lags": 3}}.items():
        found[f"evaluation, {name}"] = functools.partial(stakes.evaluate, ILL, MODELS, costs=(0.05, 0.4), **given)
    for name, given in {"plain": {}, "weights": WEIGHED, "clusters": OWNED, "share": {"prevalence": 0.1}}.items():
        found |= {
            f"groups, {name}": functools.partial(stakes.evaluate, ILL, MODELS, costs=(0.05, 0.4), groups=PART, **given),
            f"best, {name}": functools.partial(inference.select_best, ILL, MODELS, costs=0.2, n_tried=5, **given),
            f"band of calibration, {name}": functools.partial(
                inference.confidence_band, ILL, OTHER, "smooth", thresholds=[0.1, 0.2], n_resamples=1000, **given
            ),
            f"resampled, {name}": functools.partial(
                inference.bootstrap, ILL, MODELS, "roc_auc_score", n_resamples=40, **given
            ),
            f"deferral, {name}": functools.partial(actions.evaluate_deferral, ILL, MODELS["b"], **DEFERRED, **given),
        }
        if name != "share":
            found[f"actions, {name}"] = functools.partial(actions.evaluate_actions, KIND, TWO, **OF_ACTIONS, **given)
    for name, given in BOUNDARIES.items():
        found[f"boundary, {name}"] = functools.partial(boundary.fit_boundary, ILL, SCORE, DOUBT, **given)
        if name in {"precision", "capacity"}:
            found[f"gain, {name}"] = functools.partial(_gain, given)
    for name, given in QUESTIONS.items():
        found[f"rows, {name}"] = functools.partial(information.rows_needed, **given)
    return found | {
        "actions, weighted matrices": lambda: actions.evaluate_actions(
            KIND, TWO, **OF_ACTIONS, matrix_weights=[1.0, 3.0]
        ),
        "actions, incumbent": lambda: actions.evaluate_actions(KIND, TWO, **OF_ACTIONS, incumbent="flat", n_tried=4),
        "deferral by data": lambda: actions.evaluate_deferral(
            ILL, SCORE, costs=0.2, deferral=0.03, rule="optimal", capacity=0.2, cv=4
        ),
        "decisions": lambda: actions.decision_calibration_test(KIND, FORECAST, **OF_ACTIONS),
        "decisions, weights": lambda: actions.decision_calibration_test(KIND, FORECAST, **OF_ACTIONS, **WEIGHED),
        "certified decisions": lambda: actions.certify_decided(ILL, SCORE, threshold=0.2, max_error=0.3),
        "copies": lambda: inference.metric_interval(ILL, outcomes.Imputed([SCORE, OTHER, SCORE**2]), "roc_auc_score"),
        "horizons": lambda: inference.integrated_metric(
            TimeToEvent(event=ILL, time=TIME, horizon=1.5),
            np.stack([SCORE**2, SCORE], axis=1),
            "bounded_brier_loss",
            horizons=[1.0, 1.5],
        ),
        "rows": lambda: outcomes.decide_rows(SCORE, false_positive=WEIGHT, false_negative=9.0),
        "information": lambda: information.value_of_information(ILL, MODELS, costs=(0.05, 0.4)),
        "information, savings": lambda: information.value_of_information(
            ILL,
            MODELS,
            threshold=0.2,
            decisions=[1e5, 1e5],
            unit_cost=50.0,
            row_cost=20.0,
            fixed_cost=100.0,
            discount=0.03,
        ),
        "monitor": lambda: _monitor(monitoring.CostMonitor, budget=0.05),
        "challenger": lambda: _monitor(monitoring.ChallengerMonitor),
        "plan": lambda: monitoring.plan_watch(_referred(), rows_per_day=100, rises=[0.5]),
        "spread of days": lambda: monitoring.day_spread([100, 200, 150], [9.0, 16.0, 11.0], [5.0, 9.0, 6.0]),
        "update": lambda: correction.update(ILL, np.clip(OTHER, 0.01, 0.99)),
        "bins of a loss": lambda: correction.loss_calibration_curve(ILL, OTHER, positive_share=0.6, n_bins=5),
        "implied weight": lambda: correction.implied_weight(ILL, OTHER),
        "population": lambda: utility.population_threshold(ILL, SCORE, "f1", n_resamples=20),
        "utility": lambda: utility.expected_utility(SCORE[:50], "f1"),
        "ensemble": lambda: uncertainty.from_ensemble(np.stack([SCORE, OTHER, SCORE**2])),
        "precision watched": lambda: boundary.PrecisionMonitor(0.5).update(ILL[SCORE > 0.3]),
    }


def _referred():
    reference = stakes.evaluate(ILL, {"a": SCORE}, costs=(0.05, 0.3))
    return monitoring.CostMonitor((0.05, 0.3), reference=evaluation.KeptEvaluation.of(reference), model="a")


def _gain(given):
    fitted = boundary.fit_boundary(ILL, SCORE, DOUBT, **given)
    return [fitted.gain(), fitted.report()]


def rows(_rng):
    return Y, P


def cases():
    """Return every call: the name of a function and the option that is added."""
    found = {}
    with mock.patch.object(values, "rows", rows):
        for path, function in calls.functions().items():
            given = calls.arguments(path, function, np.random.default_rng(3))
            if given is None:
                continue
            found[path] = functools.partial(calls.called, function, given)
            for option, value in OPTIONS.items():
                if option in FEW.get(path, OPTIONS) and option in inspect.signature(function).parameters:
                    found[f"{path}, {option}"] = functools.partial(calls.called, function, {**given, option: value})
    return found | of_their_own()


def numbers_of(answer):
    """Return what an answer holds, public attributes too: by attribute, the numbers and a checksum of the words."""
    named = dict(_inner(answer)) | _shown(answer) if _is_whole(answer) else {"": answer}
    return {name: summed(list(_flat(value, DEPTH))) for name, value in named.items()}


def _is_whole(answer):
    return not isinstance(answer, (str, int, float, np.generic, np.ndarray, list, tuple)) and answer is not None


def _shown(answer):
    """What readers see of it, words too: as a text, as rows, and as a table of a page."""
    if not type(answer).__module__.startswith("stakes"):
        return {}
    shown = {"repr()": repr(answer)}
    for name in ("to_markdown", "_repr_html_", "describe"):
        if hasattr(answer, name):
            shown[f"{name}()"] = getattr(answer, name)()
    shown = {name: re.sub(r" at 0x[0-9a-f]+|\s", "", text) for name, text in shown.items()}
    records = getattr(answer, "_records", None)  # a frame needs a library
    return shown | ({"records": records()} if records else {})


def summed(parts):
    """Return how many numbers there are, their weighted sum, the sum of their sizes, and a checksum of the rest."""
    numbers = np.array([part for part in parts if isinstance(part, float)])
    weights = 1.0 + np.arange(len(numbers)) * 0.6180339887498949 % 1.0
    words = "".join(part for part in parts if isinstance(part, str))
    sums = [float(f"{value:.9g}") for value in (weights @ numbers, np.abs(numbers).sum())] if len(numbers) else []
    return [len(numbers), *sums, zlib.crc32(words.encode())]


def _flat(answer, depth):
    """Go through all numbers and words; of a sentence only the numbers that it names."""
    if isinstance(answer, (str, bool, np.bool_)) or answer is None:
        words = str(answer)
        yield words if " " not in words else " ".join(re.findall(r"\d[\d.,]*", words))
    elif isinstance(answer, (int, float, np.number)):
        yield float(answer) if math.isfinite(answer) else str(answer)
    elif depth and not callable(answer):
        inner = answer.reshape(-1).tolist() if isinstance(answer, np.ndarray) else answer
        for part in inner if isinstance(inner, (list, tuple)) else (each for _, each in _inner(inner)):
            yield from _flat(part, depth - 1)


def _inner(answer):
    if isinstance(answer, Mapping):
        yield from answer.items()
        return
    kinds = (property, functools.cached_property)
    names = {each.name for each in dataclasses.fields(answer)} if dataclasses.is_dataclass(answer) else set()
    for name in sorted(names | {name for name, each in inspect.getmembers(type(answer)) if isinstance(each, kinds)}):
        if not name.startswith("_") and name != "outcome":  # what was given
            with contextlib.suppress(Exception):
                yield name, getattr(answer, name)


def answer(call):
    """Return the numbers of an answer, or that it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {str(name): value for name, value in numbers_of(call()).items()}
    except (ValueError, TypeError) as error:
        return f"refused: {type(error).__name__}"


def write():
    """Write the table of all answers."""
    kept = {name: answer(call) for name, call in cases().items()}
    lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}" for name, value in kept.items())
    KEPT.write_text(f"{{{lines}}}\n", encoding="utf-8")


if __name__ == "__main__":
    write()
