"""The section of groups: for whom a model holds."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from stakes.report._escaped import named, text_html
from stakes.report._html import table
from stakes.report._models import NAME_LIMIT
from stakes.report._numbers import fixed, interval, percent, skill_percent
from stakes.shown.text import shorten
from stakes.shown.words import count, decimals_for, p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation, GroupResult
    from stakes.report._html import Cell
    from stakes.report._models import Model

_GAP = "Skill less that of the others"
_HEADS = ("Rows", "Positive", "Expected cost", "Skill", _GAP)
_OF_PROBABILITIES = ("Miscalibration, corrected", "AUC")
_OF_AMOUNTS = ("Cost per row", "Gain per row")


def groups_tables(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """One table for each column that divides the rows, over the range as reported."""
    by_name = {model.name: model for model in models}
    order = {model.name: model.rank for model in models}
    parts = []
    for column in dict.fromkeys(row.column for row in evaluation.groups):
        mine = sorted((row for row in evaluation.groups if row.column == column), key=lambda row: order[row.model])
        decimals = decimals_for([row.standard_error for row in mine], [row.score for row in mine])
        rows: list[list[Cell]] = [
            [by_name[row.model].html, text_html(row.group, NAME_LIMIT) + _note(row), *_cells(row, decimals)]
            for row in mine
        ]
        name = shorten(named(column), NAME_LIMIT)
        shown = (*_HEADS, *(_OF_AMOUNTS if evaluation.options.per_stake else _OF_PROBABILITIES))
        heads, labels = ["Model", "Group", *shown], ["", "", *shown]
        labels[labels.index(_GAP)] = "Skill less others'"
        parts.append(table(f"Every model in every group of {name}", heads, rows, labels=labels, kind="groups"))
    level = f"{evaluation.confidence_level * 100:g}%"
    return (
        "<p>Over the range as reported. Expected cost depends on how many positives a group has: compare groups by "
        f"skill.{_stake_words(evaluation)} Intervals are pointwise {level} intervals; p-values are "
        "adjusted for the number of groups (Holm).</p>"
    ) + "".join(parts)


def _cells(row: GroupResult, decimals: int) -> list[str]:
    score = fixed(row.score, decimals) + f"<small>{interval(row.interval, decimals)}</small>"
    skill = skill_percent(row.skill) + f"<small>{share_interval(row.skill_interval)}</small>"
    gap = "&ndash;"
    if not math.isnan(row.skill_difference):
        gap = skill_percent(row.skill_difference)
        if not math.isnan(row.skill_p_adjusted):
            gap += f"<small>p {html.escape(p_value(row.skill_p_adjusted))}</small>"
    return [count(row.n_rows), percent(row.prevalence), score, skill, gap, *_further(row, decimals)]


def _further(row: GroupResult, decimals: int) -> list[str]:
    """Calibration and ranking, or money where each row has amounts of its own."""
    if row.charge is None:
        area = fixed(row.auc, 3) + f"<small>{interval(row.auc_interval, 3)}</small>"
        ends = interval(row.corrected_miscalibration_interval, decimals)
        return [fixed(row.corrected_miscalibration, decimals) + f"<small>{ends}</small>", area]
    if row.money is None:
        return ["&ndash;", "&ndash;"]
    parts = row.money.cost, row.money.gain
    places = decimals_for([row.money.cost.standard_error], [row.money.cost.value])
    return [f"{fixed(part.value, places)}<small>{interval(part.interval, places)}</small>" for part in parts]


def _stake_words(evaluation: Evaluation) -> str:
    stake = evaluation.options.per_stake
    words = " Positive is their share of what is at stake; cost and gain per row are with amounts as stated, in money."
    return words if stake else ""


def _note(row: GroupResult) -> str:
    """What to know of the interval, under the name of the group, where a long text may break."""
    return f'<small class="note">{html.escape(row.note)}</small>' if row.note else ""


def share_interval(ends: tuple[float, float]) -> str:
    """An interval of a share in percent."""
    return "no interval" if any(map(math.isnan, ends)) else f"{fixed(100 * ends[0], 1)}% to {fixed(100 * ends[1], 1)}%"
