"""Why values differ, as numbers: with the one change that the reason names, stakes has the other package's value.

`python -m conformance --show NAME` prints, for each difference that bears the name, what the package says, what stakes
says, and what stakes (or the formula in full) says with the change, which must be the package's value.
"""

import math

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import expit, logit
from scipy.stats import binom, norm

from conformance import _answers
from conformance._inputs import load
from conformance._suite import apart, kept_cases
from stakes import RowCosts, TimeToEvent, curves, inference, metrics

LINES = {}


def _line(function):
    LINES[function.__name__] = function
    return function


def show(name):
    """Print the lines of a difference, and return those that do not show what they should."""
    wrong = []
    for where, theirs, ours, changed, tolerance, of in LINES[name]():
        print(f"{name}: {where}: theirs {theirs:.12g}, stakes {ours:.12g}, by the change {changed:.12g} (that of {of})")
        if apart(changed, ours if of == "stakes" else theirs) > tolerance or apart(ours, theirs) <= tolerance:
            wrong.append(f"{name}: {where}: the change does not explain the difference")
    return wrong


def _pairs(package, function, changed, *, tolerance=1e-10, of="theirs", asked=None, **wanted):
    """Give the kept values of a call that differ, ours, and what a function of the case makes of the rows."""
    found = []
    for case in kept_cases(package, function=function, **wanted):
        options, data = case.get("options", {}), load(case["input"])
        if asked and options["question"] != asked:
            continue
        ours = _answers.answer(case["question"], data, options)
        if max(map(apart, ours, case["values"])) <= case["tolerance"]:
            continue
        ways = np.ravel(changed(case["question"], data, options)).astype(float)
        for k, (value, own, way) in enumerate(zip(case["values"], ours, ways, strict=True)):
            if apart(own, value) > max(case["tolerance"], tolerance):
                where = f"{package}, {case['function']} on {case['input']} [{k}]"
                found.append((where, value, own, way, tolerance, of))
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
    """Drop the points of our curve at which the steps of both counts stay as they were."""

    def corners(_, data, __):
        found = curves.roc_curve(data["y"], data["p"])
        rates = np.array([found.false_positive_rate, found.true_positive_rate])
        counts = rates * np.array([[(data["y"] == 0).sum()], [data["y"].sum()]])
        turns = np.abs(np.diff(counts[:, 1:], 2)).max(axis=0) > 1e-9
        return turns.sum() + 3  # the first and the last threshold, and no one acted on

    return _pairs("scikit-learn", "roc_curve, number of points", corners)


@_line
def clipped_log_loss():
    """Clip the probabilities."""

    def clipped(question, data, options):
        least = np.finfo(float).eps
        return _ask(question, data | {"classes": np.clip(data["classes"], least, 1 - least)}, options)

    return _pairs("scikit-learn", "log_loss", clipped, tolerance=1e-9, question="classes")


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
        lost = getattr(metrics, options["name"].replace("_skill_score", "_loss"))
        loss = lost(data["y"] == 1, data["p"], pos_label=True)
        return -math.inf if "brier" in options["name"] else 1 - loss / -math.log(1 - np.finfo(float).eps)

    names = ("d2_brier_score", "d2_log_loss_score")
    return [line for name in names for line in _pairs("scikit-learn", name, quotient, tolerance=1e-9)]


@_line
def absent_class():
    """Count the class that occurs alone."""

    def alone(question, data, options):
        return 2 * _ask(question, data, options)

    return _pairs("scikit-learn", "balanced_accuracy_score", alone)


@_line
def edges_of_bins():
    """Let a score at the edge of two bins, as computed, fall into the upper one."""

    def upper(package):
        def gap(_, data, options):
            edges = np.linspace(0, 1, options["n_bins"] + 1)
            if package == "torchmetrics":  # torch counts them from both ends
                steps = np.arange(len(edges)) * (1 / options["n_bins"])
                edges = np.where(steps < 0.5, steps, 1 - steps[::-1])
            place = np.searchsorted(edges, data["p"], side="right")
            bins = [place == part for part in np.unique(place)]
            apart_by = np.array([abs(data["y"][rows].mean() - data["p"][rows].mean()) for rows in bins])
            sizes = [np.count_nonzero(rows) for rows in bins]
            found = {"mean": apart_by.mean(), "largest": apart_by.max()}
            found["root mean square"] = math.sqrt(np.average(apart_by**2, weights=sizes))
            return found[options["of"]] if "of" in options else np.average(apart_by, weights=sizes)

        return gap

    names = [("netcal", name) for name in ("ACE", "MCE", "ECE")] + [("torchmetrics", "binary_calibration_error")]
    return [line for package, name in names for line in _pairs(package, name, upper(package), input="tied")]


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
            _ask(
                "metric",
                data,
                {"name": options["name"], "model": options["model"], "followed": "beyond"}
                | {"horizon": horizon, "per_row": True},
            )[0]
            for horizon in options["horizons"]
        ]
        return trapezoid(at, options["horizons"]) / (options["horizons"][-1] - options["horizons"][0])

    names = ("brier_score", "cumulative_dynamic_auc", "integrated_brier_score")
    return [line for name in names for line in _pairs("scikit-survival", name, beyond, input="survival")]


@_line
def censored_at_horizon():
    """Ask for a time just beyond the horizon: how rows censored at it fared is not known then."""

    def beyond(question, data, options):
        return _ask(question, data, options | {"horizon": options["horizon"] + 1e-9})

    return _pairs("riskregression", "Score", beyond, tolerance=1e-9, input="competing", horizon=1.0)


@_line
def derivative_of_censoring():
    """Change the weight of each row by a little: the estimate's derivatives give our standard error."""

    def derivatives(_, data, options):
        def value(weight):
            given = {key: data[key] for key in ("event", "time")}
            outcome = TimeToEvent(**given, horizon=options["horizon"], sample_weight=weight)
            return getattr(metrics, options["metric"])(outcome, data[options["model"]])

        step = 1e-4
        rows = step * np.eye(len(data["time"]))
        slopes = [(value(1 + row) - value(1 - row)) / (2 * step) for row in rows]
        return np.linalg.norm(slopes) * math.sqrt(len(rows) / (len(rows) - 1))

    how = {"input": "survival", "horizon": 0.505, "tolerance": 1e-9, "of": "stakes"}
    found = (("riskregression", "Score, standard error"), ("timeroc", "timeROC, standard error"))
    return [line for package, function in found for line in _pairs(package, function, derivatives, **how)]


@_line
def before_the_horizon():
    """Count as cases the events before the horizon alone, and as controls who is followed beyond it."""

    def before(question, data, options):
        time, cause, horizon = data["time"], data["event"], options["horizon"]
        ends = {"event": 1 - cause, "time": time - 1e-6 * cause}  # of two at one time, the event comes first
        beyond = TimeToEvent(**ends, horizon=horizon)
        until = [TimeToEvent(**ends, horizon=end - 1e-9).prevalence for end in time]
        cases, controls = (time < horizon) & (cause == 1), time > horizon
        weight = np.where(cases, 1 / (1 - np.array(until)), controls / (1 - beyond.prevalence))
        if question == "followed":
            return weight[cases].sum() / len(time)
        rows = {"y": cases.astype(int), "p": data[options["model"]], "w": weight}
        rows = {key: column[weight > 0] for key, column in rows.items()}
        if question == "interval":
            return _ask("metric", rows, {"name": options["metric"], "weighted": True})
        return _ask("counted", rows, {"at": options["at"], "column": options["column"], "weighted": True})

    names = ("timeROC", "timeROC, cumulative incidence", "SeSpPPVNPV")
    return [line for name in names for line in _pairs("timeroc", name, before, input="survival", horizon=1.0)]


@_line
def steps_between_horizons():
    """Let the score stay as it is from one horizon to the next, in place of straight lines between them."""

    def steps(_, data, options):
        asked = {key: value for key, value in options.items() if key != "horizons"}
        scores = [_ask("metric", data, asked | {"horizon": horizon})[0] for horizon in options["horizons"][:-1]]
        return np.average(scores, weights=np.diff(options["horizons"]))

    return _pairs("pec", "crps", steps)


@_line
def cells_of_lrm():
    """Put risks into cells of 1 / 5,000: rms those given, CalibrationCurves those of the logistic fit."""

    def given(_, data, options):
        return metrics.roc_auc_score(data["y"], np.floor(5000 * expit(logit(data[options.get("model", "p")]))))

    def fitted(_, data, options):
        odds = logit(data[options.get("model", "p")])
        design = np.column_stack([np.ones_like(odds), odds])
        return metrics.roc_auc_score(data["y"], np.floor(5000 * expit(design @ _logistic(design, data["y"]))))

    how = {"question": "metric", "name": "roc_auc_score"}
    return _pairs("rms", None, given, **how) + _pairs("calibrationcurves", None, fitted, **how)


@_line
def early_stop_of_lrm():
    """Go on until nothing changes: that is our fit."""

    def solved(_, data, options):
        odds = logit(data[options["model"]])
        found = _logistic(np.column_stack([np.ones_like(odds), odds]), data["y"])
        return found[1] if options["read"] == ["slope"] else found[0]

    how = {"question": "calibration", "input": "small", "model": "q", "tolerance": 1e-9, "of": "stakes"}
    shown = (["joint_intercept:value"], ["slope"])
    return [line for read in shown for line in _pairs("rms", "val.prob", solved, read=read, **how)]


def _logistic(design, y):
    """Fit by Newton's method, until nothing changes."""
    found = np.zeros(design.shape[1])
    for _ in range(50):
        risk = expit(design @ found)
        curvature = design.T @ (design * (risk * (1 - risk))[:, np.newaxis])
        found = found + np.linalg.solve(curvature, design.T @ (y - risk))
    return found


@_line
def window_of_lowess():
    """Round the window down to whole rows; for rms also fit at every hundredth of the range alone."""

    def whole(_, data, __):
        p = data["p"]
        error = np.abs(p - np.clip(_smooth(p, data["y"], int(2 * len(p) / 3 + 1e-10), p), 0, 1))
        return [error.mean(), np.quantile(error, 0.9, method="averaged_inverted_cdf"), error.max()]

    def stepped(_, data, options):
        p = data[options.get("model", "p")]
        at = _stops(np.sort(p), 0.01 * np.ptp(p))
        error = np.abs(p - np.interp(p, at, _smooth(p, data["y"], int(2 * len(p) / 3 + 1e-10), at)))
        found = {"ici:value": error.mean(), "e90:value": np.quantile(error, 0.9), "emax:value": error.max()}
        return found[options["read"][0]]

    lowess = "lowess, delta = 0, within 0 and 1; quantile, type = 2"
    return [
        *_pairs("stats", lowess, whole, tolerance=1e-9),
        *_pairs("rms", "val.prob, smooth curve", stepped, tolerance=1e-9),
    ]


def _stops(x, delta):
    """Where R's lowess fits: at each score or, where they lie close, at the last within delta of the one before."""
    found = [x[0]]
    while found[-1] < x[-1]:
        later = x[x > found[-1]]
        near = later[later <= found[-1] + delta]
        found.append(near[-1] if len(near) else later[0])
    return np.array(found)


def _smooth(x, y, rows, at, degree=1):
    """Fit a polynomial at each point to its nearest rows, with tricube weights."""
    found = {}
    for point in np.unique(at):
        apart_by = np.abs(x - point)
        width = np.partition(apart_by, rows - 1)[rows - 1]
        weight = np.where(apart_by < 0.999 * width, (1 - (apart_by / width).clip(0, 1) ** 3) ** 3, 0.0)
        root = np.sqrt(weight)
        design = root[:, np.newaxis] * (x - point)[:, np.newaxis] ** np.arange(degree + 1)
        found[point] = np.linalg.lstsq(design, root * y, rcond=None)[0][0]
    return np.array([found[point] for point in at])


@_line
def window_of_loess():
    """Fit a parabola at every row to three quarters of the rows, rounded down."""

    def whole(_, data, __):
        p = data["p"]
        return np.mean(np.abs(p - _smooth(p, data["y"], int(0.75 * len(p)), p, degree=2)))

    return _pairs("stats", "loess, surface = direct", whole, tolerance=1e-6)


@_line
def loess_interpolated():
    """Fit a parabola at every row: that is ours, and R's between the corners of its tree is not."""

    def everywhere(_, data, options):
        p, y = data[options.get("model", "p")], data["y"]
        return np.mean(np.abs(p - _smooth(p, y, int(0.75 * len(p)), p, degree=2)))

    how = {"smoother": "loess", "tolerance": 1e-9, "of": "stakes"}
    inputs = ("calibrated", "overconfident", "underconfident", "tied")  # three quarters of them are whole rows
    return [line for name in inputs for line in _pairs("calibrationcurves", None, everywhere, input=name, **how)]


@_line
def steps_of_width():
    """Ask for the width of the first step of 1e-4 that passes it."""

    def stepped(question, data, options):
        z = norm.ppf(0.975)
        errors = np.arange(1, 20_000) * 1e-4
        widths = np.exp(z * errors) - np.exp(-z * errors)
        return _ask(question, data, options | {"width": widths[np.searchsorted(widths, options["width"])]})

    how = {"question": "rows", "tolerance": 1e-9, "asked": "o_to_e"}
    return [line for stem in ("pmvalsampsize", "pmvalsampsize-r") for line in _pairs(stem, None, stepped, **how)]


@_line
def rounded_error():
    """Ask for the width of the standard error rounded to three digits."""

    def rounded(question, data, options):
        z = norm.ppf(0.975)
        return _ask(question, data, options | {"width": 2 * z * round(options["width"] / (2 * z), 3)})

    return _pairs("pmvalsampsize-r", None, rounded, tolerance=0, asked="standardized_net_benefit")


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
    assert np.isclose(
        inference.money(
            RowCosts(data["y"], matrix=matrix, on_dominated="set_aside"), data["p"], per=len(acts)
        ).cost.value,
        np.where(pays, acts, misses).sum(),
    )
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
def no_costly_mistake():
    """Add what the decisions cost, whether or not a decision could be wrong."""

    def added(_, data, options):
        def cost(acts):
            return sum(np.where(data["y"] == 1, tp if act else fn, fp if act else tn)[k] for k, act in enumerate(acts))

        tn, fp, fn, tp = (np.broadcast_to(amount, len(data["y"])) for amount in options["matrix"])
        spent = cost(data["p"])
        return spent if options["read"] == "cost" else 1 - spent / min(cost(data["p"] * 0), cost(data["p"] * 0 + 1))

    how = {"input": "empulse, acts 1100", "question": "spent"}
    return [line for name in ("cost_loss", "savings_score") for line in _pairs("empulse-tests", name, added, **how)]


@_line
def acting_at_equality():
    """Lower every score by a little: who is just at the threshold is not acted on."""

    def below(question, data, options):
        return _ask(question, data | {"p": data["p"] - 1e-9}, options)

    names = [f"empulse, scores {scores}" for scores in ("0.51 0.5 0.5 0.51", "0.5 0.51 0.51 0.5")]
    names += [f"empulse, scores {scores}" for scores in ("0.26 0.25 0.25 0.25", "0.25 0.26 0.26 0.25")]
    return [line for name in names for line in _pairs("empulse-tests", "cost_loss", below, input=name)]


@_line
def whole_rows():
    """Take whole rows; of tied scores those that its sort puts last, which depends on NumPy, so none is shown."""

    def top(_, data, options):
        taken = data["y"][np.argsort(data["p"])[::-1][: round(options["at"][0] * len(data["y"]))]]
        return taken.mean() / data["y"].mean()

    return _pairs("empulse", "lift_score", top, input="cells")
