"""The report of decisions in rows with amounts of their own: a page of tables and one drawing, without scripts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from stakes._version import __version__
from stakes.core.validation import check_kind
from stakes.evaluation import Evaluation
from stakes.report import _sections
from stakes.report._amounts_figure import gain_figure
from stakes.report._escaped import named, text_html
from stakes.report._findings import findings_list, grave_findings
from stakes.report._groups import groups_tables, share_interval
from stakes.report._html import table
from stakes.report._models import conclusion_html, models_of, typeset
from stakes.report._numbers import fixed, interval, percent
from stakes.report._page import made_now, whole_page
from stakes.report._ranking import ranking_table
from stakes.shown.text import shorten, visible
from stakes.shown.words import decimals_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stakes.inference import Estimate, Money
    from stakes.report._html import Cell
    from stakes.report._models import Model

_TITLE = "What acting on these predictions would cost in money"
_HEADS = ("#", "Model", "Cost", "Gain over<br>acting on nobody", "Savings", "Acts on")
_LABELS = ("#", "Model", "Cost", "Gain", "Savings", "Acts on")
_HELD = {
    "false_negative": "amounts of false negatives as stated, those of false positives by the ratio",
    "false_positive": "amounts of false positives as stated, those of false negatives by the ratio",
    "sum": "one amount of each together as stated, divided by the ratio",
}


def render_amounts(evaluation: Evaluation, *, title: str | None = None) -> str:
    """Return the report of an evaluation of rows with amounts as one page of HTML.

    Parameters
    ----------
    evaluation : Evaluation
        What to report.
    title : str, optional
        Heading of the page.

    Returns
    -------
    str
        HTML with its styles in it, to be written as UTF-8.

    Examples
    --------
    >>> from stakes import RowCosts, evaluate
    >>> from stakes.report import render_amounts
    >>> orders = RowCosts([0, 1, 0, 1] * 20, false_positive=30, false_negative=[100, 200, 50, 20] * 20, unit="EUR")
    >>> "EUR per row" in render_amounts(evaluate(orders, [0.02, 0.3, 0.2, 0.1] * 20))
    True
    """
    check_kind(evaluation, "evaluation", Evaluation, "what evaluate returned")
    models, made = models_of(evaluation), made_now()
    bodies = {
        "stake": ("What is at stake", _stake(evaluation, models)),
        "money": ("In money", _money(evaluation, models)),
        "ranking-section": ("Ranking", _ranking(evaluation, models)),
        "gain": ("If false positives cost more or less than stated", gain_figure(evaluation, models)),
        "groups": ("Groups", groups_tables(evaluation, models) if evaluation.groups else ""),
        "findings": ("Findings", findings_list(evaluation, models)),
        "data": ("Data", _sections.data(evaluation, models, made, __version__)),
        "method": ("Method and references", _method(evaluation)),
    }
    source = f"{text_html(evaluation.source, 60)} · " if evaluation.source else ""
    return whole_page(
        named(_TITLE if title is None else title),
        f"{source}{html.escape(visible(evaluation.data_line))}",
        {key: section for key, section in bodies.items() if section[1]},
        made=made,
    )


def _stake(evaluation: Evaluation, models: Sequence[Model]) -> str:
    lead, *others = conclusion_html(evaluation, models)
    items = "".join(f"<li>{sentence}</li>" for sentence in others)
    return f'<p class="lead">{lead}</p><ul class="findings">{items}</ul>{grave_findings(evaluation, models)}'


def _money(evaluation: Evaluation, models: Sequence[Model]) -> str:
    if not evaluation.money:
        return "<p>Money is not shown: it is that of acting by the cost ratio, and these follow another rule.</p>"
    unit, level = _unit(evaluation), f"{evaluation.confidence_level * 100:g}%"
    notes = dict.fromkeys(
        part.note for found in evaluation.money.values() for part in (found.cost, found.gain, found.savings)
    )
    words = (
        f"<p>{html.escape(unit)} per row, with amounts as stated; intervals are pointwise {level} intervals, of each "
        "number alone. Savings are the share of the cost of the cheaper of acting on everybody and on nobody.</p>"
    )
    words += "".join(f"<p>Note: {typeset(visible(note))}.</p>" for note in notes if note)
    shown = _money_table(f"Cost and gain of each model, {unit} per row", evaluation.money, models)
    parts = [
        _money_table(f"Mean over the cost ratios as reported, {unit} per row: {_HELD[scale]}", by_model, models)
        for scale, by_model in evaluation.money_over_costs.items()
    ]
    if len(parts) < len(_HELD) and evaluation.costs.low < evaluation.costs.high:
        words += (
            "<p>Not every mean over the cost ratios is shown: rows that are set aside have no common factor, and "
            "towards a ratio of 0 or 1 the mean is infinite.</p>"
        )
    if not parts:
        return words + shown
    return (
        f"{words}{shown}<details open><summary>With the ratio of the amounts unsure</summary><p>Three ways to put a "
        f"mean over ratios in money; they differ in what costs as stated.</p>{''.join(parts)}</details>"
    )


def _unit(evaluation: Evaluation) -> str:
    """What money is counted in, as text."""
    return visible(shorten(next(iter(evaluation.money.values())).unit, 20)) or "money"


def _money_table(caption: str, by_model: Mapping[str, Money], models: Sequence[Model]) -> str:
    errors = [found.cost.standard_error for found in by_model.values()]
    decimals = decimals_for(errors, [found.cost.value for found in by_model.values()])
    rows: list[list[Cell]] = []
    for model in models:
        found = by_model[model.name]
        money = (_with_interval(part, decimals) for part in (found.cost, found.gain))
        share = f"{percent(found.savings.value)}<small>{share_interval(found.savings.interval)}</small>"
        rows.append([f"{model.rank}", model.sample, *money, share, percent(found.acted)])
    return table(caption, _HEADS, rows, labels=_LABELS)


def _with_interval(part: Estimate, decimals: int) -> str:
    return f"{fixed(part.value, decimals)}<small>{interval(part.interval, decimals)}</small>"


def _ranking(evaluation: Evaluation, models: Sequence[Model]) -> str:
    stake = html.escape(visible(evaluation.options.per_stake))
    return (
        f"<p>Cost beyond that of right decisions, per {stake}: what mistakes cost over what they could cost. Skill is "
        "the share saved of what the better constant decision costs.</p>"
    ) + ranking_table(evaluation, models)


def _method(evaluation: Evaluation) -> str:
    paragraph, *references = evaluation.methods(calibration=False).split("\n")
    cited = "<br>".join(map(html.escape, references[2:]))
    return (
        f"<p>{html.escape(visible(paragraph))}</p><p>Amounts, not probabilities, order these rows: the page shows no "
        "ROC curve, no reliability and no calibration of the scores that amounts make of them, for these would say "
        f"nothing of the models.</p><p>{cited}</p>"
    )
