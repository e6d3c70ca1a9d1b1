"""Figures."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.curves import net_benefit_curve_of, regret_curve_of
from stakes.evaluation import cost_of_terms
from stakes.outputs.text import level_name, number, odds, percents, stated, visible
from stakes.report._any_range import encoded, no_bands, no_smooth_band, own_weighting, passing, shapes_beside
from stakes.report._page import (
    NAME_LIMIT,
    REFERENCE_DASHES,
    Model,
    counted_per,
    filled,
    follows,
    line,
    path,
    percent_text,
    say,
    swatch,
    table,
    text_html,
    word,
)
from stakes.report._sections import HTML, label_of, model_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from stakes.evaluation import Evaluation

    Floats = NDArray[np.float64]


# A figure of the page: its legend, its buttons, the place of the drawing, its words.

# so many bands can be told apart
_FEW = 3
_BUTTONS = {"near": "Plausible range", "whole": "Whole range"}
_SHAPES = {
    "isotonic": ("Isotonic", "steps that never fall, without bins"),
    "smooth": ("Smooth", "local fits over the log-odds of the score, which may fall"),
    "binned": ("Binned", "ten groups of cases with neighbouring scores and equal weight"),
    "followed": ("Binned", "ten groups of neighbouring scores, each with its Kaplan-Meier (Aalen-Johansen) estimate"),
}


@dataclass(frozen=True, eq=False, repr=False)
class Figure:
    """What is said about a figure.

    Parameters
    ----------
    key : str
        Identifier in the page.
    axis : str
        What the vertical axis shows, as text.
    label : str
        The figure in words, for those who do not see it, as text.
    caption : str
        HTML.
    references : tuple of str
        References drawn, for the legend, from ready HTML.
    near : bool
        Whether there is a closer look at the plausible thresholds.
    band : str
        What the light band is, for the legend, as text, where the reader can choose whose is drawn.
    shapes : tuple of str
        How the curve may be drawn, if there is a choice.
    below : str
        Identifier of a second drawing under the first, if there is one.
    settings : str
        HTML of further settings of the page that stand with it.
    """

    key: str
    axis: str
    label: str
    caption: str
    references: tuple[str, ...] = ()
    near: bool = False
    band: str = ""
    shapes: tuple[str, ...] = ()
    below: str = ""
    settings: str = ""

    def html(self, models: Sequence[Model], legend: str = "") -> str:
        """A figure: legend (that of the models, if no other is given), buttons, the drawing itself, caption."""
        below = f'<div class="plot low" id="plot-{self.below}" aria-hidden="true"></div>' if self.below else ""
        label = escape(self.label)
        return (
            f'<figure id="figure-{self.key}"><p class="axis">{escape(self.axis)}</p>'
            f'<div class="plot" id="plot-{self.key}" role="img" aria-label="{label}" data-label="{label}"></div>{below}'
            "<noscript><p>The figure needs JavaScript; the tables do not.</p></noscript>"
            f"{_tools(self, models)}{legend or _legend(self, models)}"
            f"<figcaption>{self.caption}</figcaption></figure>"
        )


def _legend(figure: Figure, models: Sequence[Model]) -> str:
    items = [
        f'<label><input type="checkbox" checked data-show="{model.rank - 1}"> '
        f'<span class="rank">{model.rank}</span> {model.sample}</label>'
        for model in models
    ]
    items += figure.references
    if figure.band:
        items.append(f'<span class="reference"><span class="sample"></span> {escape(figure.band)}</span>')
    return f'<fieldset class="legend"><legend>Models shown</legend>{"".join(items)}</fieldset>'


def _bands(models: Sequence[Model]) -> str:
    """Which models have their band drawn."""
    options = [("best", "best model"), *((str(model.rank - 1), escape(model.short)) for model in models)]
    if 1 < len(models) <= _FEW:
        options.append(("all", "every model"))
    items = "".join(f'<option value="{value}">{words}</option>' for value, words in [*options, ("none", "none")])
    return f"<label>Band of <select data-band>{items}</select></label>"


def _tools(figure: Figure, models: Sequence[Model]) -> str:
    """Whose band to draw and which range to show, if there is a choice, and to save the picture."""
    choice = _choice("Range shown", "view", _BUTTONS) if figure.near else ""
    shapes = {shape: _SHAPES[shape][0] for shape in figure.shapes}
    shape = _choice("Shape of the curve", "shape", shapes) if shapes else ""
    band = _bands(models) if figure.band else ""
    save = '<button type="button" data-save>Save picture</button>'
    return f'<p class="tools">{choice}{shape}{band}{figure.settings}{save}</p>'


def _choice(label: str, name: str, options: Mapping[str, str]) -> str:
    """Buttons of which one is pressed, the first at the start."""
    buttons = [
        f'<button type="button" data-{name}="{key}" aria-pressed="{str(not k).lower()}">{words}</button>'
        for k, (key, words) in enumerate(options.items())
    ]
    return f'<span role="group" aria-label="{label}">{"".join(buttons)}</span>'


# The figures: what stands around each drawing. The drawing itself is made in the page.

REFERENCES = ("treat all", "treat none")


def figures(evaluation: Evaluation, models: Sequence[Model]) -> dict[str, str]:
    """HTML of every figure by its key."""
    every = (*_threshold_figures(evaluation, models), *_other_figures(evaluation, len(models)))
    return {figure.key: figure.html(models) for figure in every}


def _threshold_figures(evaluation: Evaluation, models: Sequence[Model]) -> Iterator[Figure]:
    """Regret and net benefit against the threshold."""
    shaded, banded = follows("shaded", shaded_words(evaluation), "span"), _band_words(evaluation)
    band = "" if no_bands(evaluation) else f"{level_name(evaluation.confidence_level)} band over the range as reported"
    lines = f"for {len(models)} of {len(evaluation.models)} models, for acting on everyone and on no one"
    references = tuple(_reference_items(evaluation, REFERENCES))
    per = (
        visible(evaluation.answer.per)
        if evaluation.scale == "regret"
        else f"per {stated(counted_per(evaluation))} decisions"
    )
    of_kinds = (
        ("regret", "regret", f"cost {per}, at each threshold (lower is better)", follows("precision", "", "span")),
        ("decision", "net_benefit", f"net benefit {per.replace('decisions', 'cases')} (higher is better)", ""),
    )
    for key, kind, axis, precision in of_kinds:
        words = f"Line chart of {kind.replace('_', ' ')} against the threshold, {lines}."
        caption = filled(f"caption_{key}.html", precision=precision, range=shaded, band=banded)
        label = f"{words} {_middle(evaluation, models, kind)}"
        settings = filled("settings.html", weightings=_weightings(evaluation)) if key == "regret" else ""
        yield Figure(key, axis, label, caption, references, near=True, band=band, settings=settings)


def _weightings(evaluation: Evaluation) -> str:
    """How thresholds may count, as options."""
    names = {"uniform": "uniform", "log-odds": "uniform in log-odds"}
    if own_weighting(evaluation.costs)["weighting"] == "given":
        names["given"] = "as reported"
    return "".join(f'<option value="{value}">{words}</option>' for value, words in names.items())


def _other_figures(evaluation: Evaluation, count: int) -> Iterator[Figure]:
    """Reliability, decomposition and ROC."""
    level = level_name(evaluation.confidence_level)
    why = no_smooth_band(evaluation)
    alone = "" if why else f"{level} interval at each score, of the smooth curve"
    band = f"No band is drawn, for {why}." if why else f"The light band is its {level} interval at each score alone."
    shapes = ("isotonic", *shapes_beside(evaluation))
    words = " ".join(f"{name}: {meaning}." for name, meaning in (_SHAPES[shape] for shape in shapes))
    yield Figure(
        "reliability",
        "observed share of positives (above), share of cases scored lower (below)",
        f"Reliability diagram of {count} models, with the distribution of their scores below. "
        "The table beside it has every model's numbers within the range.",
        filled("caption_reliability.html", shapes=words, band=band),
        near=True,
        band=alone,
        shapes=shapes,
        below="scores",
    )
    yield Figure(
        "decomposition",
        "discrimination DSC (more is better)",
        f"Chart of miscalibration against discrimination for {count} models. The table below has the numbers.",
        filled(
            "caption_decomposition.html", cost=cost_of_terms(evaluation), costs=cost_of_terms(evaluation).capitalize()
        ),
    )
    yield Figure(
        "roc",
        "share of positives acted on (true positive rate)",
        f"ROC curves of {count} models. The part that the plausible thresholds use is thick.",
        filled("caption_roc.html"),
    )


def shaded_words(evaluation: Evaluation) -> str:
    """What is shaded."""
    low, high = evaluation.costs.low, evaluation.costs.high
    ends = dict(zip(("low", "high"), percents([low, high]), strict=True)) | {"odds": odds(low), "odds_high": odds(high)}
    return say("shaded_one" if low == high else "shaded", **ends)


def in_range_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """What scores within the plausible thresholds came to."""
    low, high = percents([evaluation.costs.low, evaluation.costs.high])
    found = evaluation.tables()["ranking"]
    columns = found.view(f"{what}_in_range" for what in ("share", "mean_score", "positives"))
    rows = model_rows(found.rows[: len(models)], columns, models, HTML)
    heads = ["#", "Model", "Share of cases", "Mean score", "Observed positives"]
    shown = table(say("in_range", low=low, high=high), heads, rows, follow="in-range")
    return f"<details><summary>The numbers within the range</summary>{shown}</details>"


def _band_words(evaluation: Evaluation) -> str:
    why = no_bands(evaluation)
    if why:
        return f"No band is drawn, for {why}."
    level = level_name(evaluation.confidence_level)
    return f"The light band is simultaneous over the range as reported: all of the curve there, at {level} confidence."


def _middle(evaluation: Evaluation, models: Sequence[Model], kind: str) -> str:
    """The best model and the references in the middle of the range as reported, in words."""
    at = min(0.5 * (evaluation.costs.low + evaluation.costs.high), 0.99)
    table = passing(evaluation.score_tables[evaluation.models.index(models[0].name)])
    if evaluation.rule == "score":
        table = table.at_threshold(at)  # all that matters there, and small
    make = regret_curve_of if kind == "regret" else net_benefit_curve_of
    curve = make(table, evaluation.rule, harm=evaluation.options.harm_of(models[0].name))
    by = counted_per(evaluation) * (evaluation.unit_cost if kind == "regret" else 1.0)
    lines = {models[0].short: curve, **{label_of(evaluation, name): each for name, each in curve.references.items()}}
    values = ", ".join(f"{name} {by * float(line.at(at)):.3g}" for name, line in lines.items())
    return f"At a threshold of {percent_text(at)}: {values}."


# The section on curves that are shown to cross: the difference of two decisions over the range, with its band.


def crossing_section(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """The figure, or nothing where no curves are shown to cross."""
    if not evaluation.crossing or evaluation.selection is None:
        return ""
    chosen = evaluation.selection.chosen
    level = level_name(evaluation.confidence_level)
    low, high = percents([evaluation.costs.low, evaluation.costs.high])
    by_name = {model.name: model for model in models}
    first = _html(chosen, by_name, evaluation)
    caption = (
        f"<p>What {first} costs beyond each other decision at every threshold of the range as reported, {low} to "
        f"{high}; the figure does not follow a range that is dragged. Below 0 {first} costs less, above 0 the other "
        f"does. All that the light bands leave on one side of 0 is shown at once, over all pairs of decisions, at "
        f"{level} confidence.</p>"
    )
    label = f"Line chart of differences in regret against the threshold: {len(evaluation.crossing)} with a band."
    figure = Figure("crossing", f"difference in cost {visible(evaluation.answer.per)}", label, caption)
    items = "".join(
        f'<span class="reference">{_swatch(name, by_name)} {first} &minus; {_html(name, by_name, evaluation)}</span>'
        for name in evaluation.crossing
    )
    return figure.html((), f'<div class="legend">{items}</div>')


def crossing_payload(evaluation: Evaluation, models: Sequence[Model]) -> list[dict[str, Any]]:
    """What the page draws: for each difference its thresholds, values, limits, and how its line looks."""
    by_name = {model.name: model for model in models}
    return [
        {
            "name": by_name[name].short if name in by_name else name,
            "model": by_name[name].rank - 1 if name in by_name else None,
            "x": encoded(band.thresholds),
            "y": encoded(band.estimate, "f4"),
            "limits": encoded(np.concatenate([band.simultaneous_low, band.simultaneous_high]), "f4"),
        }
        for name, band in evaluation.crossing.items()
    ]


def _html(name: str, models: dict[str, Model], evaluation: Evaluation) -> str:
    return models[name].html if name in models else text_html(evaluation.words.decision(name), NAME_LIMIT)


def _swatch(name: str, models: dict[str, Model]) -> str:
    if name in models:
        return swatch(f"--model-{models[name].colour}", models[name].dash)
    return swatch("--reference", REFERENCE_DASHES[name])


# The drawing of what acting costs if false positives cost more or less than stated.

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 304, 48, 16, 8, 52
_POINTS = 241
_FAR = 4.0  # times the stated amount, either way, at least
_FURTHEST = 99.0
_MOST_TIMES = 3.0  # the references do not squash the models more
_MOST_LINES = 20


def cost_figure(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """What each model costs, in the unit of the answer, by threshold or by the factor on amounts."""
    shown, factors = models[:_MOST_LINES], _factors(evaluation)
    at = factors / (1.0 + factors)
    amounts = bool(evaluation.options.per_stake)
    held = 2.0 * (1.0 - at) if amounts else 1.0  # a regret counts false negatives 2 (1 - c) times, at 1/2 as stated
    curves, by = evaluation.curves("regret"), evaluation.unit_cost * counted_per(evaluation) / held
    costs = {model.name: by * curves[model.name].at(at) for model in shown}
    constants = {name: by * line.at(at) for name, line in curves[shown[0].name].references.items()}
    most, cheaper = float(np.max(list(costs.values()))), float(np.max(np.minimum(*constants.values())))
    high = 1.06 * max(most, min(cheaper, _MOST_TIMES * most)) or 1.0
    x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * np.linspace(0.0, 1.0, _POINTS)

    def y(values: Floats) -> Floats:
        return np.asarray(_TOP + (_HEIGHT - _TOP - _BOTTOM) * (1.0 - values / high))

    drawn = [line(x, y(costs[model.name]), model) for model in shown]
    drawn += [path(x, y(values), "--reference", REFERENCE_DASHES[name]) for name, values in constants.items()]
    axis = f"cost {visible(evaluation.answer.per)}, " + ("by what false positives cost" if amounts else "by threshold")
    where = 0.5 if amounts else math.sqrt(at[0] * at[-1])
    said = ", ".join(f"{model.short} {number(float(np.interp(where, at, costs[model.name])))}" for model in shown)
    label = html.escape(f"Line chart of the {axis}. {'As stated' if amounts else f'At {percent_text(where)}'}: {said}.")
    words = _OF_AMOUNTS if amounts else _OF_THRESHOLDS
    return (
        f'<figure id="figure-cost"><p class="axis">{html.escape(axis)} (lower is better)</p>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}" class="drawing">'
        f'<clipPath id="inside"><rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH - _LEFT - _RIGHT}" '
        f'height="{_HEIGHT - _TOP - _BOTTOM}"/></clipPath>{_shade(evaluation, factors)}'
        f"{_grid(high)}{_marks(factors, amounts=amounts)}"
        f'<g clip-path="url(#inside)">{"".join(drawn)}</g></svg>'
        f'<p class="legend">{_amounts_legend(shown, evaluation)}</p><figcaption>{words}'
        f"{_left_out(models)}</figcaption>"
        "</figure>"
    )


_OF_AMOUNTS = (
    "Amounts of false negatives are as stated; those of false positives are multiplied by the factor on the axis."
)
_OF_THRESHOLDS = "Means over the completed data sets; the axis is even in log-odds."


def _left_out(models: Sequence[Model]) -> str:
    if len(models) <= _MOST_LINES:
        return ""
    return f" Only the {_MOST_LINES} models that cost least are drawn, of {len(models):,}."


def _amounts_legend(models: Sequence[Model], evaluation: Evaluation) -> str:
    items = [f'<span class="reference"><span class="rank">{m.rank}</span> {m.sample}</span>' for m in models]
    return " ".join([*items, *_reference_items(evaluation, REFERENCES)])


def _reference_items(evaluation: Evaluation, names: Sequence[str]) -> list[str]:
    """References in a legend."""
    labels = [text_html(label_of(evaluation, name), NAME_LIMIT) for name in names]
    dashes = [swatch("--reference", REFERENCE_DASHES[name]) for name in names]
    return [f'<span class="reference">{dash} {label}</span>' for dash, label in zip(dashes, labels, strict=True)]


def _factors(evaluation: Evaluation) -> Floats:
    """Factors on false positives, even on the log scale, around those as reported."""
    low, high = (_factor(end) for end in (evaluation.costs.low, evaluation.costs.high))
    return np.geomspace(min(1.0 / _FAR, low / 1.5), max(_FAR, 1.5 * high), _POINTS)


def _factor(ratio: float) -> float:
    return min(max(ratio / (1.0 - ratio) if ratio < 1.0 else math.inf, 1.0 / _FURTHEST), _FURTHEST)


def _place(factor: float, factors: Floats) -> float:
    share = math.log(factor / factors[0]) / math.log(factors[-1] / factors[0])
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * share


def _shade(evaluation: Evaluation, factors: Floats) -> str:
    """The cost ratios as reported."""
    ends = [_place(_factor(end), factors) for end in (evaluation.costs.low, evaluation.costs.high)]
    bottom = _HEIGHT - _BOTTOM
    if ends[0] == ends[1]:
        return f'<path d="M{ends[0]:.1f} {_TOP}V{bottom}" stroke="var(--band-edge)" stroke-width="1.5"/>'
    return (
        f'<rect x="{ends[0]:.1f}" y="{_TOP}" width="{ends[1] - ends[0]:.1f}" height="{bottom - _TOP}" '
        'fill="var(--band)"/>'
    )


def _grid(high: float) -> str:
    """Horizontal lines at round costs, with their numbers."""
    power = 10.0 ** math.floor(math.log10(high / 5.0))
    step = power * next(nice for nice in (1.0, 2.0, 5.0, 10.0) if nice * power >= high / 5.0)
    parts = []
    for k in range(math.floor(high / step) + 1):
        y = _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1.0 - k * step / high)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="var(--grid-strong)"/>')
        parts.append(word(_LEFT - 6, y + 4, f"{k * step:.6g}", "end"))
    return "".join(parts)


def _marks(factors: Floats, *, amounts: bool) -> str:
    """Factors below the picture, in powers of two, or thresholds."""
    bottom, powers = _HEIGHT - _BOTTOM, range(math.ceil(math.log2(factors[0])), math.floor(math.log2(factors[-1])) + 1)
    told = {power: f"1/{2**-power}" if power < 0 else str(2**power) for power in powers}
    last = "times the stated amounts of false positives"
    if not amounts:
        told = {power: percent_text(2.0**power / (1.0 + 2.0**power), 2) for power in powers}
        last = "threshold"
    marks = [word(_place(2.0**power, factors), bottom + 22, text, "middle") for power, text in told.items()]
    middle = _LEFT + (_WIDTH - _LEFT - _RIGHT) / 2
    return "".join(marks) + word(middle, bottom + 44, last, "middle")
