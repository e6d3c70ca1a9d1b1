"""The sections that an evaluation has where they were asked for: deferral, and what more rows would be worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.report._drawing import line, word
from stakes.report._html import table
from stakes.report._models import typeset
from stakes.report._numbers import interval, percent
from stakes.shown.text import visible
from stakes.shown.words import decimals_for, fixed, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation
    from stakes.report._html import Cell
    from stakes.report._models import Model

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 240, 64, 34


def deferral_section(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """What each model costs with the option to defer, and over its fee."""
    found = evaluation.deferral
    if found is None:
        return ""
    every = found.models.values()
    decimals = decimals_for([each.estimates["value"].standard_error for each in every], [each.cost for each in every])
    rows: list[list[Cell]] = []
    for model in (each for each in models if each.name in found.models):
        each = found[model.name]
        worth = f"{fixed(each.value, decimals)}<small>{interval(each.estimates['value'].interval, decimals)}</small>"
        zone = "&ndash;" if each.zone is None else f"{percent(each.zone[0])} to {percent(each.zone[1])}"
        costs = fixed(each.cost, decimals), fixed(each.cost_without, decimals), worth
        rows.append([f"{model.rank}", model.html, *costs, percent(each.shares["deferred"]), zone])
    heads = ["#", "Model", "Cost with the option", "Cost without", "Worth", "Cases deferred", "Scores deferred"]
    fee = f"The fee is {number(found.deferral.fee)}, where a false positive and a false negative cost 1 together. "
    limit = "" if found.capacity is None else f"At most {percent(found.capacity)} of cases are deferred. "
    words = f"<p>{fee}{limit}Models are compared on the whole cost, never on the cases that each decides.</p>"
    shown = table("Costs with and without the option to defer, as reported", heads, rows, labels=heads)
    return _said(found.conclusion) + words + shown + _over_fees(evaluation, models)


def information_section(evaluation: Evaluation) -> str:
    """What choosing now may lose, and what further rows save."""
    found = evaluation.information
    if found is None:
        return ""
    keys = {"saving": "Expected saving", "total_saving": "Over all decisions", "net_gain": "Less its price"}
    decisions = "decision" if found.per == 1.0 else f"{found.per:,g} decisions"
    heads = ["", "Further rows", f"{keys['saving']} per {decisions}", keys["total_saving"], keys["net_gain"]]
    rows: list[list[Cell]] = [
        ["", f"{row['more_rows']:,}", *("&ndash;" if row[key] is None else typeset(number(row[key])) for key in keys)]
        for row in found.study_records()
    ]
    most = f"Perfect information would save {number(found.evpi)} per {decisions}; worked out by {found.method}."
    return _said(found.conclusion) + f"<p>{most}</p>" + table("What further rows would save", heads, rows)


def _said(sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{typeset(visible(sentence))}</li>" for sentence in sentences)
    return f'<ul class="findings">{items}</ul>'


def _over_fees(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """A drawing of the cost over the fee; its numbers are in the JSON of the evaluation."""
    found = evaluation.deferral
    if found is None or found.fees[-1] <= 0.0:
        return ""
    shown = [model for model in models if model.name in found.over_fees]
    top = 1.05 * max(float(np.max(found.over_fees[model.name])) for model in shown) or 1.0
    bottom = _HEIGHT - _BOTTOM
    x = _LEFT + (_WIDTH - _LEFT - 10) * found.fees / found.fees[-1]
    lines = [line(x, 8.0 + (bottom - 8.0) * (1.0 - found.over_fees[model.name] / top), model) for model in shown]
    at = _LEFT + (_WIDTH - _LEFT - 10) * min(found.deferral.fee / float(found.fees[-1]), 1.0)
    frame = f'<path d="M{_LEFT} 8V{bottom}H{_WIDTH - 10}" stroke="var(--line)" fill="none"/>'
    mark = f'<path d="M{at:.1f} 8V{bottom}" stroke="var(--muted)" stroke-dasharray="2 3" fill="none"/>'
    words = [
        word(_LEFT, bottom + 16, "0", "middle"),
        word(_WIDTH - 10, bottom + 16, f"{found.fees[-1]:.3g}", "end"),
        word(at, bottom + 16, f"fee {found.deferral.fee:.3g}", "middle"),
        word(_LEFT - 6, bottom, "0", "end"),
        word(_LEFT - 6, 16, number(top / 1.05), "end"),
    ]
    label = (
        "Line chart of the cost of a case with the option to defer over its fee. The table has the numbers at the fee."
    )
    legend = " ".join(f'<span class="name">{model.sample}</span>' for model in shown)
    return (
        f"<figure><figcaption>Cost of a case over the fee, from deferring for nothing to where no case is worth it. "
        f'{legend}</figcaption><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}" '
        f'style="max-width: 40rem; width: 100%">{frame}{mark}{"".join(lines)}{"".join(words)}</svg></figure>'
    )
