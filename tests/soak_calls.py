"""Public functions called with what nobody should pass, and with the same numbers in other forms.

Allowed are an answer (the same for the same numbers, and that of plain Python where it is written here) and a
ValueError or TypeError that the package itself raises and that names an argument which was changed.
"""

import importlib
import inspect
import math
import re
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import stakes
from tests import soak_values as values

PACKAGE = Path(stakes.__file__).resolve().parent
ROOMS = ["costs", "metrics", "curves", "inference", "correction", "utility", "boundary", "actions", "evaluation"]
ROOMS += ["information", "monitoring", "outcomes", "uncertainty"]
CLASSES = [
    "PartlyVerified",
    "RowCosts",
    "TimeToEvent",
    "PrecisionMonitor",
    "FBeta",
    "FractionalLinear",
    "ConfusionMeasure",
]
CLASSES += [
    "Uniform",
    "LogOddsUniform",
    "NetBenefitUniform",
    "Beta",
    "Shifted",
    "Triangular",
    "PiecewiseLinear",
    "Empirical",
]
CLASSES += ["Fixed", "Density", "Deferral", "Imputed"]
# functions for results of the library itself, and those whose arguments are models
OTHERS = ["register", "select", "comparison_from_moments", "rank_models", "mc_dropout"]
OTHERS += [
    "table_standard_error",
    "evaluate_estimator",
    "select_estimator",
    "evaluate_frame",
    "from_bagging",
    "metrics_table",
    "findings_table",
]
SLOW = 3.0  # seconds of processor time
# what a message may call an argument beside its own name
ALSO = {
    "y_true": "labels|y_prob|y_score|rows?|outcome|classes|event",
    "y_prob": "probabilities|column|y_true|rows?|beta|new|old|models?",
    "y_score": "rows?|y_true|y_prob",
    "a": "y_prob|probabilities|column|scores|severity|y_true|rows?|tables?|ScoreTable",
    "b": "y_prob|probabilities|column|scores|severity|y_true|rows?|tables?|ScoreTable",
    "low": "bounds",
    "high": "bounds|low",
    "mode": "low",
    "parts": "factors|cost distribution|weights",
    "tables": "new|old|model|models|table",
    "costs": "costs?|bounds|cost distribution",
    "sample_weight": "rows?|weights?|frequency",
    "uncertainty": "y_score|rows?|y_true",
    "event": "time|rows?|events?|horizon",
    "time": "event|rows?|horizon",
    "horizon": "event|time",
    "metric": "takes no",
    "n_examples": "positives|score",
    "positives": "n_examples",
    "covariance": "means",
    "standard_errors": "values",
    "pos_label": "labels?|y_true",
    "score": "n_examples|model_prior|true_prior",
    "true_prior": "score|model_prior",
    "model_prior": "score|true_prior",
    "undersampling": "score",
    "false_positive": "amounts",
    "false_negative": "amounts",
    "censored": "event|horizon",
    "clv": "pdf",
    "means": "covariance",
    "alpha": "beta",
    "beta": "alpha",
    "min_precision": "precision",
    "min_recall": "recall",
    "capacity": "rows selected|cost ratio",
}


def functions():
    """Return every public function, and the classes that people make themselves, by room and name."""
    found = {}
    for room in ROOMS:
        module = importlib.import_module(f"stakes.{room}")
        for name in module.__all__:
            value = getattr(module, name)
            if (inspect.isfunction(value) and name not in OTHERS) or name in CLASSES:
                found[f"{room}.{name}"] = value
    return found


def arguments(path, function, rng):
    """Return valid arguments, some of the optional ones too; None for a function whose arguments are not known here."""
    name = path.partition(".")[2]
    known, given = values.valid(rng), {}
    own = values.OWN.get(name, {})
    if own is None:
        return None
    for key, parameter in inspect.signature(function).parameters.items():
        required = parameter.default is parameter.empty and parameter.kind not in (2, 4)
        required |= (name, key) == ("expected_regret", "costs")  # which only amounts by row may lack
        if required or key in {"y_prob", "y_score", "metric", "kind"}:
            if key not in known and key not in own:
                return None
            given[key] = known.get(key)
    given |= {key: few for key, few in values.FEW.items() if key in inspect.signature(function).parameters}
    if name in values.TWO_COLUMNS:
        given["y_prob"] = known["two"]
    if name in values.MODELS:
        given["y_prob"] = known["models"]
    if name in values.TABLES:
        given |= {"a": known["table"], "b": known["other table"]}
    return given | own


def called(function, given):
    """Call with keywords, but for what is taken by position only."""
    kinds = {key: parameter.kind for key, parameter in inspect.signature(function).parameters.items()}
    first = [key for key, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_ONLY and key in given]
    return function(*(given[key] for key in first), **{key: value for key, value in given.items() if key not in first})


def outcome_of(function, given):
    """Return what came back, the error, and the seconds of processor time."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return called(function, given), None, time.process_time() - began
    except Exception as error:  # noqa: BLE001  (which ones are allowed is the question)
        return None, error, time.process_time() - began


def problem_with(error, changed):
    """Say what is wrong with a refusal, if anything is."""
    if {"loss", "pdf", "f", "correction"} & set(changed):  # the function of a user may raise what it likes
        return None
    if not isinstance(error, (ValueError, TypeError)):
        return f"ends in {type(error).__name__}"
    place = inspect.getinnerframes(error.__traceback__)[-1]
    if not Path(place.filename).resolve().is_relative_to(PACKAGE) or not re.match(r"\s*(raise|\))", _line(place)):
        return f"raised in {Path(place.filename).name}:{place.lineno}"
    words = "|".join(filter(None, (f"{key}|{ALSO.get(key, '')}".strip("|") for key in changed)))
    if re.search(rf"\b({words})\b", str(error)) is None:
        return "names no argument"
    return None


def _line(place):
    # in a call of several lines the frame stands on one within it
    return "raise" if any("raise" in line for line in place.code_context or []) else _above(place)


def _above(place):
    lines = Path(place.filename).read_text(encoding="utf-8").splitlines()
    return "raise" if any("raise" in line for line in lines[max(0, place.lineno - 8) : place.lineno]) else ""


def plain_answer(path, given):
    """The answer of plain Python, for some functions with nothing but labels and scores: a sum of one line."""
    y, p = given.get("y_true"), given.get("y_prob", given.get("y_score"))
    if path == "metrics.bounded_brier_loss":
        return math.fsum((int(a) - float(b)) ** 2 for a, b in zip(y, p, strict=True)) / len(y)
    if path == "metrics.bounded_log_loss":
        lost = [b if a else 1.0 - b for a, b in zip(y.tolist(), p.tolist(), strict=True)]
        return math.inf if 0.0 in lost else -math.fsum(math.log(b) for b in lost) / len(y)
    if path == "metrics.roc_auc_score":
        ups, downs = p[y == 1].tolist(), p[y == 0].tolist()
        return sum((u > d) + 0.5 * (u == d) for u in ups for d in downs) / (len(ups) * len(downs))
    if path == "metrics.net_benefit_score":
        t = given["threshold"]
        act = [(a, b >= t) for a, b in zip(y.tolist(), p.tolist(), strict=True)]
        return math.fsum((1.0 if a else -t / (1.0 - t)) for a, acts in act if acts) / len(y)
    if path == "metrics.expected_regret" and isinstance(given["costs"], float):
        c = given["costs"]
        return math.fsum((1 - c) * (s < c) if a else c * (s >= c) for a, s in zip(y, p, strict=True)) / len(y)
    return None


def same_answer(one, other):
    """Compare two answers through what they show, which holds their numbers."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    return re.sub(" at 0x[0-9a-f]+", "", repr(one)) == re.sub(" at 0x[0-9a-f]+", "", repr(other))


def run_case(seed, known):
    """Run one case; return what became of it and what is wrong with it, if anything."""
    rng = np.random.default_rng(seed)
    path = list(known)[int(rng.integers(len(known)))]
    function = known[path]
    given = arguments(path, function, rng)
    if given is None:
        return "unknown", None
    if rng.random() < 0.4:
        return _same_numbers(path, function, given, rng)
    return _strange_values(path, function, given, rng)


def _same_numbers(path, function, given, rng):
    answer, error, _ = outcome_of(function, given)
    if error is not None:
        problem = problem_with(error, list(given))
        return "refused", problem and f"{path}: valid arguments: {problem}: {error!r:.200}"
    expected = plain_answer(path, given)
    if expected is not None and not math.isclose(answer, expected, rel_tol=1e-12, abs_tol=1e-13):
        return "answered", f"{path}: got {answer!r}, plain Python {expected!r}"
    changed = [key for key in given if key in values.ROWS and np.ndim(given[key]) == 1]
    if not changed:
        return "answered", None
    key = changed[int(rng.integers(len(changed)))]
    form = values.same_forms(given[key], rng)
    again, error, _ = outcome_of(function, {**given, key: form})
    if error is not None:
        problem = problem_with(error, [key])
        return "refused", problem and f"{path}({key}={type(form).__name__}): {problem}: {error!r:.200}"
    same = same_answer(answer, again)
    return "answered", None if same else f"{path}({key}={type(form).__name__}): {again!r:.120}, not {answer!r:.120}"


def _strange_values(path, function, given, rng):
    known = [
        key
        for key, p in inspect.signature(function).parameters.items()
        if p.kind not in (2, 4) and key not in {"name", "progress"}
    ]
    if not known:
        return "answered", None
    changed = {known[int(rng.integers(len(known)))] for _ in range(1 + (rng.random() < 0.2))}
    right = dict(given)
    for key in sorted(changed):
        as_rows = key in values.ROWS and np.ndim(right.get(key, right.get("y_true"))) == 1 and rng.random() < 0.8
        wrong = values.strange_array(right.get(key, right.get("y_true")), rng) if as_rows else values.strange(rng)
        if key in {*values.FEW, "cv", "grid", "horizons"} and isinstance(wrong, (int, float)) and abs(wrong) < 1e300:
            wrong = -1  # so many are work, no mistake
        given[key] = wrong
    _, error, seconds = outcome_of(function, given)
    shown = ", ".join(f"{key}={given[key]!r:.80}" for key in sorted(changed))
    if seconds > SLOW:
        return "slow", f"{path}({shown}): {seconds:.1f} s of processor time"
    if error is None:
        return "answered", None
    own = "metric" in changed and callable(given["metric"])  # as above
    problem = None if own else problem_with(error, changed)
    if problem == "names no argument" and str(outcome_of(function, right)[1]) == str(error):
        problem = None  # it is right rows that are refused here: too few, of one class
    return "refused", problem and f"{path}({shown}): {problem}: {error!r:.200}"


def soak(cases, start=0):
    """Run so many cases; return how often each came to what, and the problems."""
    counts, problems, known = Counter(), [], functions()
    for seed in range(start, start + cases):
        what, problem = run_case(seed, known)
        counts[what] += 1
        if problem:
            problems.append(f"seed {seed} {problem}")
    return counts, problems
