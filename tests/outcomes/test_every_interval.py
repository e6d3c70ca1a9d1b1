"""Every function that says how sure a number is either allows for estimated weights or refuses them with a sentence."""

import importlib
import inspect

import numpy as np
import pytest

from stakes import RowCosts, TimeToEvent
from stakes.outcomes import OutcomeColumns

ROOMS = ["", ".inference", ".metrics", ".curves", ".correction", ".information", ".utility", ".actions", ".boundary"]
N = 240
RNG = np.random.default_rng(5)
X = RNG.normal(size=N)
TIME, LEFT = RNG.exponential(np.exp(-X)), RNG.exponential(1.5, N)
P = 1.0 - np.exp(-0.7 * np.exp(X))
Q = np.clip(P + RNG.normal(0, 0.2, N), 0.01, 0.99)
FOLLOW_UP = {"event": (TIME <= LEFT).astype(int), "time": np.minimum(TIME, LEFT).round(2), "horizon": 0.7}
COLUMNS = {"ended": FOLLOW_UP["event"], "years": FOLLOW_UP["time"], "p": P}
SENTENCE = "takes weights as known, and those of|cannot stand for (labels|y_true) here"


def of_bands(band):
    return float((band.simultaneous_high - band.simultaneous_low).sum())


def of_shares(found):
    return float(sum((found.high[name] - found.low[name]).sum() for name in ("ppv", "npv", "regret")))


# a number that grows with the standard error, from the outcome, or from its known rows with weights as they are
ALLOWS = {
    "compare": lambda f, y, p, q, **w: f(y, p, q, costs=(0.1, 0.4), **w).standard_error,
    "evaluate": lambda f, y, p, q, **w: f(y, {"p": p, "q": q}, costs=(0.1, 0.4), **w).results[0].standard_error,
    "select_best": lambda f, y, p, q, **w: np.diff(f(y, {"p": p, "q": q}, costs=(0.1, 0.4), **w).interval)[0],
    "bootstrap": lambda f, y, p, _, **w: f(y, p, "bounded_brier_loss", n_resamples=99, **w).standard_errors[0, 0],
    "metric_interval": lambda f, y, p, _, **w: f(y, p, "bounded_brier_loss", **w).standard_error,
    "metric_difference": lambda f, y, p, q, **w: f(y, p, q, "bounded_brier_loss", **w).standard_error,
    "calibration_summary": lambda f, y, p, _, **w: np.diff(f(y, p, **w).interval("o_e_ratio"))[0],
    "confidence_band": lambda f, y, p, _, **w: of_bands(f(y, p, "net_benefit", thresholds=[0.2, 0.4], **w)),
    "difference_band": lambda f, y, p, q, **w: of_bands(f(y, p, q, "net_benefit", thresholds=[0.2, 0.4], **w)),
    "threshold_intervals": lambda f, y, p, _, **w: of_shares(f(y, p, thresholds=[0.2, 0.4], **w)),
    "decomposition_interval": lambda f, y, p, _, **w: np.diff(f(y, p, costs=(0.1, 0.4), **w).score.interval)[0],
}
REFUSES = {
    "best_models": lambda f, y: f(y, {"p": P, "q": Q}),
    "certify_decided": lambda f, y: f(y, P, threshold=0.5, max_error=0.2),
    "consistency_band": lambda f, y: f(y, P),
    "decision_calibration_test": lambda f, y: f(y, np.c_[1 - P, P], matrices=[[0, 1], [1, 0]]),
    "evaluate_actions": lambda f, y: f(y, {"p": np.c_[1 - P, P]}, matrices=[[0, 1], [1, 0]]),
    "evaluate_deferral": lambda f, y: f(y, P, costs=0.3, deferral=0.05),
    "fit_boundary": lambda f, y: f(y, P, Q, min_precision=0.5),
    "implied_weight": lambda f, y: f(y, P),
    "loss_calibration_test": lambda f, y: f(y, P),
    "population_threshold": lambda f, y: f(y, P, "f1"),
    "update": lambda f, y: f(y, P),
    "value_of_information": lambda f, y: f(y, {"p": P, "q": Q}, costs=(0.1, 0.4)),
}
ELSEWHERE = {"evaluate_frame", "integrated_metric", "money"}  # held below, and over horizons
ELSEWHERE |= {"binned_reliability"}  # each bin has its own Kaplan-Meier estimate


def functions():
    """Every public function that takes rows and has a confidence level, or is named after what more rows are worth."""
    found = {"value_of_information": importlib.import_module("stakes.information").value_of_information}
    for room in ROOMS:
        module = importlib.import_module(f"stakes{room}")
        for name in getattr(module, "__all__", dir(module)):
            each = getattr(module, name)
            taken = set(inspect.signature(each).parameters) if inspect.isfunction(each) else set()
            if "confidence_level" in taken and {"y_true", "outcome"} & taken:
                found[name] = each
    return found


FUNCTIONS = functions()


def test_no_function_is_left_out():
    assert set(FUNCTIONS) == {*ALLOWS, *REFUSES, *ELSEWHERE}


@pytest.mark.parametrize("name", ALLOWS)
def test_interval_allows_for_the_estimation_of_weights(name):
    outcome = TimeToEvent(**FOLLOW_UP)
    known = outcome.weight > 0
    found = ALLOWS[name](FUNCTIONS[name], outcome, P, Q)
    as_known = ALLOWS[name](FUNCTIONS[name], outcome.y[known], P[known], Q[known], sample_weight=outcome.weight[known])
    assert found != pytest.approx(as_known, rel=1e-4)
    assert found == pytest.approx(as_known, rel=0.4)


@pytest.mark.parametrize("name", REFUSES)
def test_interval_that_takes_weights_as_known_is_refused(name):
    with pytest.raises(ValueError, match=SENTENCE):
        REFUSES[name](FUNCTIONS[name], TimeToEvent(**FOLLOW_UP))


def test_money_and_frames_allow_for_it_too():
    pl = pytest.importorskip("polars")
    told = OutcomeColumns(time="years", horizon=0.7)
    frame = FUNCTIONS["evaluate_frame"](pl.DataFrame(COLUMNS), label="ended", costs=(0.1, 0.4), outcome=told)
    rows = FUNCTIONS["evaluate"](TimeToEvent(**FOLLOW_UP), {"p": P}, costs=(0.1, 0.4))
    assert frame.results[0].standard_error == rows.results[0].standard_error
    outcome, amounts = TimeToEvent(**FOLLOW_UP), {"false_positive": 2.0, "false_negative": np.linspace(3, 9, N)}
    known = outcome.weight > 0
    found = FUNCTIONS["money"](RowCosts(outcome, **amounts), P, per=1).cost
    amounts["false_negative"] = amounts["false_negative"][known]
    plain = RowCosts(outcome.y[known], **amounts, sample_weight=outcome.weight[known])
    as_known = FUNCTIONS["money"](plain, P[known], per=1).cost
    assert found.value == pytest.approx(as_known.value, rel=1e-12)
    assert found.standard_error != pytest.approx(as_known.standard_error, rel=1e-4)
