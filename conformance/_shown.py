"""Why values differ, as numbers: with the one change that the reason names, stakes has the other package's value.

`python -m conformance --show NAME` prints, for each difference that bears the name, what the package says, what stakes
says, and what stakes (or the formula in full) says with the change, which must be the package's value.
"""

import math

import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom

from conformance import _answers
from conformance._inputs import load
from conformance._suite import kept_cases
from stakes import RowCosts, TimeToEvent, curves, inference, metrics

LINES = {}


def _line(function):
    LINES[function.__name__] = function
    return function


def show(name):
    """Print the lines of a difference, and return those that do not show what they should."""
    wrong = []
    for where, theirs, ours, changed, tolerance in LINES[name]():
        print(f"{name}: {where}: theirs {theirs:.12g}, stakes {ours:.12g}, stakes with the change {changed:.12g}")
        alike = theirs == changed or abs(theirs - changed) <= tolerance or (np.isnan(theirs) and np.isnan(changed))
        if not alike or ours == theirs:
            wrong.append(f"{name}: {where}: the change does not explain the difference")
    return wrong


def _pairs(package, function, changed, *, tolerance=1e-10, **wanted):
    """Give the kept values of a call that differ, and ours with the change that a function of the case makes."""
    found = []
    for case in kept_cases(package, function=function, **wanted):
        options, data = case.get("options", {}), load(case["input"])
        ours = _answers.answer(case["question"], data, options)
        ways = np.ravel(changed(case["question"], data, options)).astype(float)
        for k, (value, own, way) in enumerate(zip(case["values"], ours, ways, strict=True)):
            if not abs(value - own) <= case["tolerance"]:
                found.append((f"{package} {function} on {case['input']} [{k}]", value, own, way, tolerance))
    if not found:
        raise ValueError(f"no value of {package} {function} differs.")
    return found


def _ask(question, data, options):
    return _answers.answer(question, data, options)


@_line
def threshold_zero():
    """Decide just above 0: scores of 0 are not acted on."""

    def above(question, data, options):
        return _ask(question, data, options | {"at": [max(cut, 1e-9) for cut in options["at"]]})

    return [line for package in ("dcurves", "dcurves-r") for line in _pairs(package, None, above, tolerance=1e-8)]


@_line
def collinear_points():
    """Drop the points of our curve that lie on a line between their neighbours."""

    def corners(_, data, options):
        found = curves.roc_curve(data["y"], data[options.get("model", "p")])
        steps = np.array([np.diff(found.false_positive_rate), np.diff(found.true_positive_rate)])
        ups, downs = steps[1] * (data["y"] == 1).sum(), steps[0] * (data["y"] == 0).sum()
        turns = np.abs(ups[1:] * downs[:-1] - ups[:-1] * downs[1:]) > 1e-9
        return turns.sum() + 2

    return _pairs("scikit-learn", "roc_curve, number of points", corners)


@_line
def clipped_log_loss():
    """Clip the probabilities."""

    def clipped(question, data, options):
        least = np.finfo(float).eps
        return _ask(question, data | {"classes": np.clip(data["classes"], least, 1 - least)}, options)

    return _pairs("scikit-learn", "log_loss", clipped, tolerance=1e-9)


@_line
def no_false_positives():
    """Divide nothing by nothing where there are no false positives."""

    def undefined(question, data, options):
        counts = curves.threshold_table(data["y"], data["p"], thresholds=options["at"], sample_weight=data.get("w"))
        return np.where(counts.fp > 0, _ask(question, data, options), np.nan)

    return _pairs("scikit-learn", "class_likelihood_ratios", undefined)


@_line
def no_loss_to_save():
    """Divide by what scikit-learn has for the reference: 0, or the log loss of its clipped prevalence."""

    def quotient(_, data, options):
        loss = getattr(metrics, options["name"].replace("_skill_score", "_loss"))(data["y"] == 1, data["p"], pos_label=True)
        return -math.inf if "brier" in options["name"] else 1 - loss / -math.log(1 - np.finfo(float).eps)

    names = ("d2_brier_score", "d2_log_loss_score")
    return [line for name in names for line in _pairs("scikit-learn", name, quotient, tolerance=1e15)]


@_line
def absent_class():
    """Count the class that occurs alone."""

    def alone(question, data, options):
        return 2 * _ask(question, data, options)

    return _pairs("scikit-learn", "balanced_accuracy_score", alone)


@_line
def edges_of_bins():
    """Move scores up by a hair: those at an edge fall into the upper bin."""

    def moved(question, data, options):
        return _ask(question, data | {"p": data["p"] + 1e-12}, options)

    names = [("netcal", name) for name in ("ACE", "MCE", "ECE")] + [("torchmetrics", "binary_calibration_error")]
    return [line for package, name in names for line in _pairs(package, name, moved, input="tied")]


@_line
def above_the_threshold():
    """Act above the threshold and not at it."""

    def above(question, data, options):
        return _ask(question, data, options | {"at": np.nextafter(options["at"], 1)})

    return [
        line
        for question in ("measured", "counted")
        for line in _pairs("torchmetrics", None, above, tolerance=1e-6, input="tied", question=question)
    ]


@_line
def followed_beyond():
    """Take the chance of being followed beyond each row's end, in place of that until then, for known."""

    def beyond(question, data, options):
        asked = options | {"followed": "beyond"}
        if question == "metric":
            return _ask(question, data, asked | {"per_row": "brier" in options["name"]})
        at = [
            _ask("metric", data, {"name": options["name"], "model": options["model"], "followed": "beyond"}
                 | {"horizon": horizon, "per_row": True})[0]
            for horizon in options["horizons"]
        ]
        return np.trapezoid(at, options["horizons"]) / (options["horizons"][-1] - options["horizons"][0])

    names = ("brier_score", "cumulative_dynamic_auc", "integrated_brier_score")
    return [line for name in names for line in _pairs("scikit-survival", name, beyond, input="survival")]


@_line
def censored_at_horizon():
    """Move rows censored at the horizon to just before it: nobody knows then how they fared."""

    def before(question, data, options):
        moved = np.where((data["cause"] == 0) & (data["time"] == options["horizon"]), data["time"] - 1e-9, data["time"])
        return _ask(question, data | {"time": moved}, options)

    return _pairs("riskregression", None, before, tolerance=1e-7, input="competing", horizon=1.0)


@_line
def rows_less_one():
    """Undo the factor n / (n - 1), or take the sandwich where the model's error is larger and ours is that."""

    def sandwich(_, data, options):
        odds = logit(data[options["model"]])
        design = np.column_stack([np.ones_like(odds), odds])
        read = {"read": ["joint_intercept:value", "slope"], "model": options["model"]}
        risk = expit(design @ _ask("calibration", data, read))
        bread = np.linalg.inv(design.T @ (design * (risk * (1 - risk))[:, np.newaxis]))
        half = (design * (data["y"] - risk)[:, np.newaxis]) @ bread
        found, n = np.linalg.norm(half, axis=0), len(odds)
        ours = np.maximum(found * math.sqrt(n / (n - 1)), np.sqrt(np.diag(bread)))
        np.testing.assert_allclose(_ask("calibration", data, options), ours, rtol=1e-7)
        return found

    return _pairs("statsmodels", "GLM, standard errors", sandwich, tolerance=1e-8)


@_line
def mistakes_rounded_up():
    """Find the exact lower limit with one mistake more, at which the p-value is the chance of so many or fewer."""

    def one_more(_, data, options):
        acted = data["p"] >= options["threshold"]
        wrong, level = np.count_nonzero(data["y"][acted] == 0), (1 - options["confidence_level"]) / 2
        return 1 - _root(lambda share: binom.cdf(wrong + 1, acted.sum(), share) - level)

    return _pairs("mapie", "BinaryClassificationController, p-value", one_more, tolerance=1e-6)


def _root(function, low=1e-9, high=1 - 1e-9):
    from scipy.optimize import brentq

    return brentq(function, low, high, xtol=1e-14)


def _decided(data, options):
    """What decisions by the scores cost, and those that act on everybody and on nobody."""
    alarm, found = options["false_positive"], options["true_positive"]
    matrix = (0.0, alarm, data["amount"], found)
    pays = data["p"] * (data["amount"] - found) >= (1 - data["p"]) * alarm
    acts = np.where(data["y"] == 1, found, alarm)
    misses = np.where(data["y"] == 1, data["amount"], 0.0)
    assert np.isclose(inference.money(RowCosts(data["y"], matrix=matrix, on_dominated="set_aside"), data["p"],
                                      per=len(acts)).cost.value, np.where(pays, acts, misses).sum())
    return np.where(pays, acts, misses).sum(), acts.sum(), misses.sum()


@_line
def share_of_a_gain():
    """Divide by the gain as if it were a cost."""
    return _savings(-15.0)


@_line
def rows_without_a_decision():
    """Act on everybody in the baseline, on rows in which that never pays too."""
    return _savings(60.0)


def _savings(true_positive):
    def share(_, data, options):
        cost, everybody, nobody = _decided(data, options)
        return 1 - cost / min(everybody, nobody)

    return _pairs("empulse", "savings_score", share, true_positive=true_positive)


@_line
def whole_rows():
    """Take whole rows, and of tied scores the last."""

    def top(_, data, options):
        taken = data["y"][np.argsort(data["p"])[::-1][: math.ceil(options["at"][0] * len(data["y"]))]]
        return taken.mean() / data["y"].mean()

    return _pairs("empulse", "lift_score", top)
