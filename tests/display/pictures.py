"""What stands in a picture, in numbers, and the pictures of which a table is kept.

``python -m tests.display.pictures`` writes the table anew; what then differs from the last commit was changed.
"""

import json
import math
import re
from pathlib import Path

import numpy as np

from stakes import RowCosts, TimeToEvent, costs, evaluate
from stakes.actions import evaluate_actions
from stakes.boundary import fit_boundary
from stakes.correction import loss_calibration_curve
from stakes.curves import binned_reliability, lift_curve, roc_curve
from stakes.display import (
    BandDisplay,
    BinnedReliabilityDisplay,
    BoundaryDisplay,
    CostCurveDisplay,
    CostDistributionDisplay,
    DecisionCurveDisplay,
    DecompositionDisplay,
    DeferralDisplay,
    ExpectedUtilityDisplay,
    GainsDisplay,
    InterventionsAvoidedDisplay,
    LiftCurveDisplay,
    LossCalibrationDisplay,
    PrecisionRecallDisplay,
    RegretCurveDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
    SmoothCalibrationDisplay,
    StandardizedDecisionCurveDisplay,
    ThresholdDisplay,
    UtilityCurveDisplay,
)
from stakes.inference import confidence_band, difference_band
from stakes.information import value_of_information
from stakes.monitoring import ChallengerMonitor, CostMonitor
from stakes.training import compare_monitors
from stakes.utility import expected_utility

KEPT = Path(__file__).with_name("pictures.json")
PLACES = (0.0, 0.1, 0.25, 0.5, 0.8, 1.0)

RNG = np.random.default_rng(7)
TRUTH = RNG.beta(1.0, 4.0, size=300)
Y = (RNG.random(300) < TRUTH).astype(int)
SHARP, COARSE = np.round(TRUTH, 3), np.round(TRUTH, 1)
MODELS = {"sharp": SHARP, "coarse": COARSE, "shifted": np.round(np.clip(TRUTH + 0.1, 0.0, 1.0), 2)}
TEN = {f"model {k}": np.clip(SHARP + 0.01 * k, 0.0, 1.0) for k in range(10)}
RARE = np.round(TRUTH / 20.0, 4)
FEW = (RNG.random(300) < RARE).astype(int)
AMOUNTS = RowCosts(Y, false_positive=1.0 + np.arange(300) % 3, false_negative=9.0)
FOLLOWED = TimeToEvent(event=Y, time=1.0 + np.arange(300) % 7, horizon=4.0)
THREE = RNG.dirichlet(np.ones(3), 300)
KIND = (RNG.random((300, 1)) > THREE.cumsum(axis=1)).sum(axis=1)
DOUBT = RNG.random(300)
CONSTANT, WIDE = np.full(300, 0.4), (0.1, 0.3)
HISTORY = {
    "f1": [0.2, 0.5, 0.4, 0.3, 0.6],
    "log": [math.inf, 0.4, 0.5, 0.6, 0.3],
    "accuracy": [0.1, 0.5, 0.4, 0.6, 0.7],
}
OVER_COSTS = {
    "regret": RegretCurveDisplay,
    "decision": DecisionCurveDisplay,
    "standardized": StandardizedDecisionCurveDisplay,
    "avoided": InterventionsAvoidedDisplay,
}
SEEN = {
    "as it is": (MODELS, {}),
    "log-odds": (MODELS, {"x_scale": "log-odds"}),
    "bounds": (MODELS, {"bounds": (0.1, 0.3)}),
    "bounds in log-odds": (MODELS, {"bounds": (0.02, 0.3), "x_scale": "log-odds", "legend": "below"}),
    "one threshold": (MODELS["coarse"], {"bounds": (0.2, 0.2), "references": False}),
    "one threshold in log-odds": (MODELS["coarse"], {"bounds": (0.2, 0.2), "x_scale": "log-odds"}),
    "low bounds": (MODELS, {"bounds": (0.0, 0.05), "legend": None}),
    "ten": (TEN, {"legend": "below"}),
    "optimal": (MODELS, {"rule": "optimal", "legend": "inside", "prevalence": 0.3}),
    "constant": (np.full(300, 0.3), {}),
    "rare": (RARE, {}),
    "rare in log-odds": (RARE, {"x_scale": "log-odds"}),
}

MOST = ("log-odds", "bounds", "optimal", "rare")
OF_THEIR_OWN = ("decision, bounds", "decision, ten", "decision, constant", "roc", "deferral, capacity", "actions")
OF_THEIR_OWN += ("boundary", "lift", "thresholds, linear, regret", "costs, linear", "reliability, both", "follow-up")
OF_THEIR_OWN += ("loss calibration, logit, False", "utility", "expected utility", "cost curve, log, as it is", "band")


def _over_costs(display, scores, options):
    return lambda ax: display.from_predictions(Y, scores, ax=ax, **options)


def _cost_curve(axis, scores, bounds):
    return lambda ax: CostCurveDisplay.from_predictions(Y, scores, axis=axis, bounds=bounds, ax=ax)


def _thresholds(scale, value, cost):
    options = {"bounds": WIDE, "x_scale": scale, "value": value, "costs": cost}
    return lambda ax: ThresholdDisplay.from_predictions(Y, SHARP, ax=ax, **options)


def _monitor(kind, *, dated):
    found = CostMonitor((0.05, 0.3), budget=0.05) if kind is CostMonitor else ChallengerMonitor((0.05, 0.3))
    for day in range(1, 61):
        name = str(np.datetime64("2026-01-01") + day) if dated else day
        total = (9.0 if day < 31 else 16.0) - (0.0 if kind is CostMonitor else 15.0)
        promised = {"promised": 9.0} if kind is CostMonitor else {}
        found.update_sums(name, n=200, total=total, squares=6.0, **promised)
    return found


PICTURES = {
    f"{name}, {how}": _over_costs(display, scores, options)
    for name, display in OVER_COSTS.items()
    for how, (scores, options) in SEEN.items()
    if name == "decision" or how in MOST
}
for _shape in ("isotonic", "smooth", "both"):
    PICTURES[f"reliability, {_shape}"] = lambda ax, shape=_shape: ReliabilityDisplay.from_predictions(
        Y, MODELS, shape=shape, bounds=(0.1, 0.3), ax=ax
    )
for _axis in ("probability cost", "linear", "quadratic", "log", "log-odds"):
    for _how, _options in {"as it is": (MODELS, WIDE), "rare": (RARE, None), "constant": (CONSTANT, WIDE)}.items():
        PICTURES[f"cost curve, {_axis}, {_how}"] = _cost_curve(_axis, *_options)
for _scale in ("linear", "log-odds"):
    for _value, _costs in {"net_benefit": None, "regret": 0.2}.items():
        PICTURES[f"thresholds, {_scale}, {_value}"] = _thresholds(_scale, _value, _costs)
    PICTURES[f"costs, {_scale}"] = lambda ax, scale=_scale: CostDistributionDisplay(
        {
            "uniform": costs.Uniform(0.1, 0.4),
            "beta": costs.Beta(2.0, 5.0),
            "fixed": costs.Fixed(0.2),
            "both": costs.Uniform(0.2, 0.3) + 0.02 * costs.Fixed(0.6),
        }
    ).plot(ax, scale=scale)
    PICTURES[f"costs, peaked, {_scale}"] = lambda ax, scale=_scale: CostDistributionDisplay(costs.Beta(0.5, 0.5)).plot(
        ax, scale=scale
    )
for _scale in ("logit", "log", "linear"):
    for _corrected in (False, True):
        PICTURES[f"loss calibration, {_scale}, {_corrected}"] = lambda ax, scale=_scale, corrected=_corrected: (
            LossCalibrationDisplay(
                {
                    name: loss_calibration_curve(Y, scores, positive_share=0.6, n_bins=5)
                    for name, scores in MODELS.items()
                }
            ).plot(ax, scale=scale, corrected=corrected)
        )
for _axis in ("log", "log-odds", "linear"):
    PICTURES[f"cost curve, {_axis}, certain"] = _cost_curve(_axis, np.round(TRUTH), None)
PICTURES |= {
    "decision, certain, log-odds": _over_costs(DecisionCurveDisplay, np.round(TRUTH), {"x_scale": "log-odds"}),
    "decision, certain": _over_costs(DecisionCurveDisplay, np.round(TRUTH), {}),
    "reliability, rare": lambda ax: ReliabilityDisplay.from_predictions(FEW, RARE, ax=ax),
    "reliability, constant": lambda ax: ReliabilityDisplay.from_predictions(Y, np.full(300, 0.3), ax=ax),
    "reliability, weights": lambda ax: ReliabilityDisplay.from_predictions(
        Y, COARSE, sample_weight=1.0 + np.arange(300) % 2, ax=ax
    ),
    "smooth calibration": lambda ax: SmoothCalibrationDisplay.from_predictions(Y, MODELS, ax=ax),
    "smooth calibration, rare": lambda ax: SmoothCalibrationDisplay.from_predictions(FEW, RARE, ax=ax),
    "bins": lambda ax: BinnedReliabilityDisplay.from_predictions(Y, MODELS, n_bins=5, ax=ax),
    "bins, rare": lambda ax: BinnedReliabilityDisplay(binned_reliability(FEW, RARE, n_bins=3)).plot(ax),
    "roc": lambda ax: RocCurveDisplay.from_predictions(Y, MODELS, ax=ax),
    "roc, unnamed": lambda ax: RocCurveDisplay(roc_curve(Y, SHARP)).plot(ax, references=False),
    "precision and recall": lambda ax: PrecisionRecallDisplay.from_predictions(Y, MODELS, ax=ax),
    "precision and recall, rare": lambda ax: PrecisionRecallDisplay.from_predictions(FEW, RARE, ax=ax),
    "lift": lambda ax: LiftCurveDisplay(lift_curve(Y, SHARP, name="sharp")).plot(ax),
    "lift, rare": lambda ax: LiftCurveDisplay.from_predictions(FEW, {"a": RARE, "b": COARSE}, ax=ax),
    "gains": lambda ax: GainsDisplay.from_predictions(Y, MODELS, ax=ax),
    "decomposition": lambda ax: DecompositionDisplay.from_predictions(Y, MODELS, costs=(0.1, 0.4), ax=ax),
    "decomposition, loss": lambda ax: DecompositionDisplay.from_predictions(
        Y, TEN, costs=costs.Beta(2.0, 5.0), scale="loss", ax=ax
    ),
    "decomposition, infinite": lambda ax: DecompositionDisplay.from_predictions(
        Y, {**MODELS, "hasty": np.where(COARSE > 0.4, 1.0, COARSE)}, costs=costs.LogOddsUniform(0.0, 1.0), ax=ax
    ),
    "deferral, fee": lambda ax: DeferralDisplay.from_predictions(Y, MODELS, costs=0.2, deferral=0.02, ax=ax),
    "deferral, capacity": lambda ax: DeferralDisplay.from_predictions(
        Y, MODELS, costs=(0.1, 0.3), deferral=0.02, over="capacity", ax=ax
    ),
    "deferral, coverage": lambda ax: DeferralDisplay.from_predictions(
        Y, SHARP, costs=0.2, over="coverage", references=False, ax=ax
    ),
    "expected utility": lambda ax: ExpectedUtilityDisplay.from_predictions(SHARP, "f1", ax=ax),
    "expected utility, several": lambda ax: ExpectedUtilityDisplay(
        [expected_utility(SHARP[:40], measure).as_curve() for measure in ("f1", "jaccard", "accuracy")]
    ).plot(ax),
    "utility": lambda ax: UtilityCurveDisplay.from_predictions(Y, MODELS, "f1", ax=ax),
    "utility, scores": lambda ax: UtilityCurveDisplay.from_predictions(Y, 8.0 * SHARP - 4.0, "jaccard", ax=ax),
    "information": lambda ax: value_of_information(Y, MODELS, costs=(0.1, 0.3), more_rows=(1000, 100)).plot(ax),
    "actions": lambda ax: evaluate_actions(
        KIND, {"sharp": THREE, "flat": np.full((300, 3), 1 / 3)}, matrices=[[-1, 1], [1, 0], [5, 2]]
    ).plot(ax),
    "boundary": lambda ax: BoundaryDisplay(fit_boundary(Y, SHARP, DOUBT, min_precision=0.4, levels=3)).plot(ax),
    "boundary, given": lambda ax: BoundaryDisplay(
        fit_boundary(Y, 8.0 * SHARP, DOUBT, capacity=50, levels=[0.2, 0.6])
    ).plot(ax, legend="inside"),
    "boundary, wavy": lambda ax: fit_boundary(
        Y, SHARP, DOUBT, min_precision=0.3, levels=2, solver="heuristic_recalibration"
    ).plot(ax),
    "band": lambda ax: BandDisplay(confidence_band(Y, SHARP, "regret", n_resamples=1000)).plot(ax),
    "band, log-odds": lambda ax: BandDisplay(confidence_band(Y, SHARP, "net_benefit", n_resamples=1000)).plot(
        ax, x_scale="log-odds", bounds=(0.1, 0.3)
    ),
    "band, one threshold": lambda ax: BandDisplay(
        confidence_band(Y, SHARP, "net_benefit", thresholds=[0.2], n_resamples=1000)
    ).plot(ax),
    "band, calibration": lambda ax: BandDisplay(confidence_band(Y, SHARP, "reliability", n_resamples=1000)).plot(ax),
    "band, difference": lambda ax: BandDisplay(difference_band(Y, SHARP, COARSE, "regret", n_resamples=1000)).plot(
        ax, bounds=(0.1, 0.3)
    ),
    "band, several": lambda ax: BandDisplay(
        {name: confidence_band(Y, scores, "regret", n_resamples=1000) for name, scores in MODELS.items()}
    ).plot(ax, legend="below"),
    "amounts": lambda ax: RegretCurveDisplay.from_predictions(AMOUNTS, MODELS, ax=ax, legend="below"),
    "follow-up": lambda ax: DecisionCurveDisplay.from_predictions(FOLLOWED, MODELS, ax=ax, legend="below"),
    "one beside another": lambda ax: RegretCurveDisplay.from_predictions(
        Y, {"other": COARSE}, ax=DecisionCurveDisplay.from_predictions(Y, {"one": SHARP}, ax=ax).ax_
    ),
}
OWN = {
    "evaluation": lambda: evaluate(Y, MODELS, costs=(0.1, 0.3)).plot(),
    "evaluation in log-odds": lambda: evaluate(Y, MODELS).plot(x_scale="log-odds", figsize=(7.0, 5.0)),
    "evaluation that crosses": lambda: evaluate(
        Y, {"timid": np.where(TRUTH < 0.3, 0.01, TRUTH), "bold": COARSE}, costs=(0.05, 0.8)
    ).plot(),
    "cost monitor": lambda: _monitor(CostMonitor, dated=False).plot().figure_,
    "cost monitor of days": lambda: _monitor(CostMonitor, dated=True).plot().figure_,
    "challenger": lambda: _monitor(ChallengerMonitor, dated=False).plot().figure_,
    "training": lambda: (
        compare_monitors(HISTORY, criteria={"log": "lower", "accuracy": "higher"}, patience=2).plot().figure_
    ),
}


def described(ax, *, ticks):
    """Describe what stands in axes: names, limits, and each line, area, patch, text and legend."""
    found = {
        "names": [ax.get_xlabel(), ax.get_ylabel(), *_titles(ax)],
        "limits": [*map(_number, ax.get_xlim()), *map(_number, ax.get_ylim())],
        "scales": [ax.get_xscale(), ax.get_yscale(), str(ax.get_aspect())],
        "lines": [_line(line) for line in ax.lines],
        "areas": [_area(area) for area in ax.collections],
        "patches": [_patch(patch) for patch in ax.patches],
        "texts": [_text(text, placed=ticks) for text in ax.texts],
        "legend": ax.get_legend() and _legend(ax.get_legend()),
        "within": [described(child, ticks=ticks) for child in ax.child_axes],
    }
    if ticks:
        found["ticks"] = [_ticks(axis, axis.get_view_interval()) for axis in (ax.xaxis, ax.yaxis)]
    return found


def _ticks(axis, shown):
    """The ticks within the limits, but for those of a logarithmic axis, which matplotlib places as its version does."""
    low, high = sorted(shown)
    if axis.get_scale() == "log":
        return []
    texts = [label.get_text().replace("\N{MINUS SIGN}", "-") for label in axis.get_majorticklabels()]
    places = list(map(_number, axis.get_majorticklocs()))
    ticks = [(place, text) for place, text in zip(places, texts, strict=False) if low <= place <= high]
    return [*(place for place, _ in ticks), *(text for _, text in ticks)]


def _titles(ax):
    return [ax.get_title(loc=loc) for loc in ("left", "center", "right")] if hasattr(ax, "get_title") else []


def _colour(colour):
    from matplotlib.colors import to_hex

    colours = np.atleast_2d(np.asarray(colour)) if not isinstance(colour, str) else [colour]
    return to_hex(colours[0], keep_alpha=True) if len(colours) else ""


def _number(value):
    value = float(value)
    return float(f"{value:.6g}") if math.isfinite(value) else str(value)


def _points(points):
    points = np.asarray(points, dtype=float).reshape(-1)
    finite = points[np.isfinite(points)]
    chosen = [points[round(place * (len(points) - 1))] for place in PLACES] if len(points) else []
    return [len(points), _number(finite.mean() if len(finite) else 0.0), *map(_number, chosen)]


def _dated(data):
    return np.asarray(data).astype("datetime64[D]").astype(float) if np.asarray(data).dtype.kind in "MO" else data


def _line(line):
    words = [str(line.get_gid()), re.sub("^_(?!nolegend_).*", "", line.get_label()), _colour(line.get_color())]
    words += [str(line.get_linestyle()), str(line.get_marker()), _colour(line.get_markerfacecolor())]
    look = [line.get_linewidth(), line.get_zorder(), line.get_markersize(), line.get_alpha() or 0.0, line.get_clip_on()]
    return [*words, *map(float, look), *_points(_dated(line.get_xdata())), *_points(_dated(line.get_ydata()))]


def _area(area):
    faces, edges = area.get_facecolor(), area.get_edgecolor()
    paths = [path.vertices for path in area.get_paths()]
    inner = np.concatenate(paths) if paths else np.empty((0, 2))
    widths = np.atleast_1d(area.get_linewidth())
    look = [area.get_zorder(), widths[0] if len(widths) else 0.0, area.get_alpha() or 0.0]
    words = [
        type(area).__name__.removeprefix("FillBetween"),
        re.sub("^_child.*", "", area.get_label()),
        _colour(faces),
        _colour(edges),
    ]
    data = area.get_array()
    return [*words, *map(float, look), *_points(inner), *_points([] if data is None else np.ma.filled(data, -1.0))]


def _patch(patch):
    box = patch.get_path().transformed(patch.get_patch_transform()).get_extents()  # some are polygons in older versions
    look = [patch.get_linewidth(), patch.get_zorder(), patch.get_alpha() or 0.0]
    words = [str(patch.get_gid()), re.sub("^_child.*", "", patch.get_label())]
    words += [_colour(patch.get_facecolor()), _colour(patch.get_edgecolor()), str(patch.get_hatch())]
    return [*words, *map(float, look), *map(_number, (box.x0, box.y0, box.x1, box.y1))]


def _text(text, *, placed):
    words = [text.get_text(), str(text.get_gid()), text.get_ha(), text.get_va(), _colour(text.get_color())]
    look = [*words, float(text.get_fontsize()), float(text.get_zorder())]
    if not placed:  # where layout moves it
        return look
    place = getattr(text, "xyann", text.get_position())
    return [*look, _number(text.get_rotation() % 360.0), *map(_number, place), *_where(text)]


def _where(text):
    place = getattr(text, "xy", ())
    return [_number(part) for part in place if isinstance(part, (int, float))]


def _legend(legend):
    look = [legend.get_texts()[0].get_fontsize(), legend.get_frame_on(), legend._ncols, legend.columnspacing]
    look += [legend._loc, legend.borderaxespad, legend.get_frame().get_alpha() or 0.0]
    return [*(text.get_text() for text in legend.get_texts()), *map(float, look), *_anchor(legend)]


def _anchor(legend):
    box = legend.get_bbox_to_anchor()
    return [_number(part) for part in (box.x0, box.y0)] if legend.figure is not legend.parent else []


def picture(name):
    """Draw one of the pictures and describe it; one of its own without the ticks, which layout moves."""
    import matplotlib.pyplot as plt

    if name in OWN:
        figure = OWN[name]()
        found = {"axes": [described(ax, ticks=False) for ax in figure.axes], "size": _size(figure)}
        found["legends"] = [_legend(legend) for legend in figure.legends]
    else:
        figure = plt.figure(figsize=(6.0, 4.5))
        ax = figure.add_axes((0.15, 0.25, 0.8, 0.6))
        PICTURES[name](ax)
        found = {"axes": [described(each, ticks=True) for each in figure.axes]}
    plt.close(figure)
    return json.loads(json.dumps(found))


def in_own_figure(name):
    """Draw one of the pictures in a figure of its own, and describe the figure."""
    import matplotlib.pyplot as plt

    figure = PICTURES[name](None).figure_
    found = {"size": _size(figure), "legends": [_legend(legend) for legend in figure.legends]}
    plt.close(figure)
    return json.loads(json.dumps(found))


def _size(figure):
    return [*map(_number, figure.get_size_inches()), len(figure.axes)]


def write():
    """Write the table of all pictures."""
    import matplotlib as mpl

    mpl.use("Agg")
    kept = {name: picture(name) for name in [*PICTURES, *OWN]}
    kept |= {f"{name}, of its own": in_own_figure(name) for name in OF_THEIR_OWN}
    KEPT.write_text(json.dumps(kept, indent=None, separators=(",", ":")).replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    write()
