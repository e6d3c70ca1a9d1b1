"""The drawing of what acting gains if false positives cost more or less than stated."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

import numpy as np

from stakes.outcomes import RowCosts
from stakes.report._drawing import line, path, word
from stakes.report._models import REFERENCE_DASHES, swatch
from stakes.shown.text import shorten, visible
from stakes.shown.words import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.evaluation import Evaluation
    from stakes.report._models import Model

    Floats = NDArray[np.float64]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 320, 76, 16, 12, 44
_POINTS = 241
_FAR = 4.0  # times the stated amount, either way, at least
_FURTHEST = 99.0
_MOST_LINES = 20


def gain_figure(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """What each model gains over acting on nobody, per row, against the factor on false positives."""
    rows = evaluation.rows
    if rows is None or rows.origin is None or not isinstance(rows.origin.outcome, RowCosts):
        return ""
    outcome, shown = rows.origin.outcome, models[:_MOST_LINES]
    size = float(outcome.present.sum() if outcome.sample_weight is None else outcome.sample_weight.sum())
    factors = _factors(evaluation)
    at = factors / (1.0 + factors)
    curves = evaluation.curves("net_benefit")
    money = {model.name: curves[model.name].at(at) * outcome.at_stake / size for model in shown}
    every = curves[shown[0].name].references["treat all"].at(at) * outcome.at_stake / size
    low, high = _limits([*money.values(), every])
    x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * np.linspace(0.0, 1.0, _POINTS)

    def y(values: Floats) -> Floats:
        inside = np.clip(values, low, high)
        return np.asarray(_TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - inside) / (high - low))

    drawn = [line(x, y(money[model.name]), model) for model in shown]
    drawn += [path(x, y(values), "--reference", REFERENCE_DASHES[name]) for name, values in _constants(every).items()]
    unit = html.escape(visible(shorten(outcome.unit, 20))) or "money"
    label = f"Line chart of the gain over acting on nobody, in {unit} per row, against the factor on false positives."
    told = ", ".join(
        f"{html.escape(model.short)} {number(float(np.interp(0.5, at, money[model.name])))}" for model in shown
    )
    return (
        f'<figure><p class="legend">{_legend(shown)}</p><p class="axis">gain over acting on nobody, {unit} per row</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Gain over acting on nobody"><svg '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label} As stated: {told}." '
        f'style="width: 100%; min-width: 32rem">{_shade(evaluation, factors)}{_grid(low, high)}{_marks(factors)}'
        f"{''.join(drawn)}</svg></div><figcaption>Amounts of false negatives are as stated; those of false positives "
        "are multiplied by the factor below. Drawn at "
        f"{_POINTS} factors; a line that leaves the picture runs along its edge.{_left_out(models)}</figcaption>"
        "</figure>"
    )


def _left_out(models: Sequence[Model]) -> str:
    if len(models) <= _MOST_LINES:
        return ""
    return f" Only the {_MOST_LINES} models that cost least are drawn, of {len(models):,}."


def _constants(every: Floats) -> dict[str, Floats]:
    return {"treat all": every, "treat none": np.zeros(_POINTS)}


def _legend(models: Sequence[Model]) -> str:
    items = [f'<span class="reference"><span class="rank">{m.rank}</span> {m.sample}</span>' for m in models]
    items += [
        f'<span class="reference">{swatch("--reference", dash)} {name}</span>'
        for name, dash in REFERENCE_DASHES.items()
    ]
    return " ".join(items)


def _factors(evaluation: Evaluation) -> Floats:
    """Factors on false positives, even on the log scale, around those as reported."""
    low, high = (_factor(end) for end in (evaluation.costs.low, evaluation.costs.high))
    return np.geomspace(min(1.0 / _FAR, low / 1.5), max(_FAR, 1.5 * high), _POINTS)


def _factor(ratio: float) -> float:
    return min(max(ratio / (1.0 - ratio) if ratio < 1.0 else math.inf, 1.0 / _FURTHEST), _FURTHEST)


def _limits(lines: Sequence[Floats]) -> tuple[float, float]:
    """Lowest and highest gain shown; the plunge of acting on everybody does not squash the rest."""
    top = max(float(values.max()) for values in lines)
    own = min(float(values.min()) for values in lines[:-1])
    unit = top or -own or 1.0
    return min(own, 0.0, -0.3 * unit) - 0.02 * abs(unit), max(top, 0.0) + 0.05 * abs(unit)


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


def _grid(low: float, high: float) -> str:
    """Horizontal lines at round gains, with their numbers."""
    raw = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(nice for nice in (1.0, 2.0, 5.0, 10.0) if nice * power >= raw)
    parts = []
    for k in range(math.ceil(low / step), math.floor(high / step) + 1):
        y = _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - k * step) / (high - low)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="var(--grid-strong)"/>')
        parts.append(word(_LEFT - 6, y + 4, f"{k * step:.6g}".replace("-", "\N{MINUS SIGN}"), "end"))
    return "".join(parts)


def _marks(factors: Floats) -> str:
    """Factors below the picture, in powers of two."""
    bottom, powers = _HEIGHT - _BOTTOM, range(math.ceil(math.log2(factors[0])), math.floor(math.log2(factors[-1])) + 1)
    told = {power: f"1/{2**-power}" if power < 0 else str(2**power) for power in powers}
    marks = [word(_place(2.0**power, factors), bottom + 17, text, "middle") for power, text in told.items()]
    middle = _LEFT + (_WIDTH - _LEFT - _RIGHT) / 2
    return "".join(marks) + word(middle, bottom + 36, "times the stated amounts of false positives", "middle")
