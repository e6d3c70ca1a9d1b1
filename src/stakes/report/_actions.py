"""The report of decisions among many actions: a page of tables, without scripts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from stakes.actions import ActionEvaluation
from stakes.core.validation import check_kind
from stakes.evaluation import ACTION_FINDINGS, action_findings
from stakes.report._escaped import named, text_html
from stakes.report._findings import finding_items, grave_items
from stakes.report._html import facts, table
from stakes.report._models import NAME_LIMIT, typeset
from stakes.report._numbers import fixed, interval, percent, skill_percent
from stakes.report._page import whole_page
from stakes.shown.text import shorten, visible
from stakes.shown.words import count, decimals_for, p_value

if TYPE_CHECKING:
    from stakes.report._html import Cell

_TITLE = "What acting on these class probabilities would cost"
_METHOD = (
    "Each row takes the action of lowest expected cost by its probabilities, the first of equals. Costs are means over "
    "rows; the best of several decisions is chosen on the same rows, and what is said of it allows for that: its "
    "interval reaches as far as the largest of all studentised errors (max-T), the set of possible best decisions is "
    "that of multiple comparisons with the best (Hsu 1981). Announced costs are the mean expected costs of the actions "
    "taken; whether incurred costs differ is tested with the variance that the probabilities imply (Zhao, Kim, Sahoo, "
    "Ma and Ermon 2021, arXiv:2107.05719), action by action with p-values adjusted after Holm."
)


def render_actions(found: ActionEvaluation, *, title: str | None = None) -> str:
    """Return the report of an evaluation of many actions as one page of HTML.

    Parameters
    ----------
    found : ActionEvaluation
        What to report.
    title : str, optional
        Heading of the page.

    Returns
    -------
    str
        HTML with its styles in it, to be written as UTF-8.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> from stakes.report import render_actions
    >>> found = evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])
    >>> "<script" in render_actions(found)
    False
    """
    check_kind(found, "found", ActionEvaluation, "what evaluate_actions returned")
    rows = found.rows
    bodies = {
        "stake": ("What is at stake", _stake(found)),
        "ranking-section": ("Ranking", _ranking(found)),
        "classes": ("By true class", _classes(found)),
        "actions": ("By action", _actions(found)),
        "costs": ("Costs", _costs(found)),
        "findings": ("Findings", _findings(found)),
        "data": ("Data", facts(_data(found))),
        "method": ("Method and references", f"<p>{_METHOD}</p>"),
    }
    source = f"{text_html(found.source, 60)} · " if found.source else ""
    size = f"{count(len(rows.index))} rows, {len(rows.classes)} classes, {len(rows.actions)} actions"
    return whole_page(named(_TITLE if title is None else title), source + size, bodies)


def _stake(found: ActionEvaluation) -> str:
    lead, *others = (typeset(visible(text)) for text in found.told(lambda name: shorten(named(name), NAME_LIMIT)))
    items = "".join(f"<li>{text}</li>" for text in others)
    grave = grave_items(action_findings(found), _names(found))
    return f'<p class="lead">{lead}</p><ul class="findings">{items}</ul>{grave}'


def _name(text: object) -> str:
    return text_html(str(text), NAME_LIMIT)


def _ranking(found: ActionEvaluation) -> str:
    chosen, ranked = found.selection, sorted(found.models, key=lambda each: each.cost.value)
    decimals = decimals_for([each.cost.standard_error for each in ranked])
    rows: list[list[Cell]] = []
    for rank, each in enumerate(ranked, start=1):
        gap = found.compare(each.model, ranked[0].model)
        beside = f"{fixed(gap.difference, decimals, sign=True)}<small>{interval(gap.interval, decimals, sign=True)}"
        skill = skill_percent(each.skill)
        rows.append([f"{rank}", _name(each.model), *_cost(found, each.model, decimals), skill])
        rows[-1].insert(3, "&ndash;" if rank == 1 else f"{beside}</small>")
    for single in chosen.references:
        cost, best = _cost(found, single, decimals)
        rows.append(["", _name(single), cost, "", best, ""])
    level = f"{found.confidence_level * 100:g}%"
    heads = ["#", "Model", f"Mean {chosen.scale} of a decision", "Less that of the best", "Is best", "Skill"]
    words = (
        f"<p>Intervals of the {chosen.scale} are simultaneous {level} intervals, of all rows at once, the others "
        "pointwise. “Always …” takes one "
        "action for every case. Skill is the share saved of what lies between the best of these and perfect "
        "knowledge.</p>"
    )
    return words + table("Models by mean cost; lower is better", heads, rows, labels=heads)


def _cost(found: ActionEvaluation, name: str, decimals: int) -> list[str]:
    chosen = found.selection
    ends = interval(chosen.intervals[name], decimals)
    return [f"{fixed(chosen.costs[name], decimals)}<small>{ends}</small>", f"{100.0 * chosen.p_best[name]:.0f}%"]


def _classes(found: ActionEvaluation) -> str:
    actions = [str(action) for action in found.rows.actions]
    heads = ["Share of rows", "Mean cost", "Least", *(_name(action) for action in actions)]
    parts = []
    for each in found.models:
        rows: list[list[Cell]] = []
        for row in found.class_records(each.model):
            taken = [percent(part / row["share"]) if row["share"] else "&ndash;" for part in row["taken"].values()]
            cost = f"{row['cost']:.4g}" if row["share"] else "&ndash;"
            rows.append(["", _name(row["class"]), percent(row["share"]), cost, f"{row['oracle']:.4g}", *taken])
        caption = f"Share of each class that takes each action by {shorten(named(each.model), NAME_LIMIT)}"
        parts.append(table(caption, ["", "Class", *heads], rows))
    return "".join(parts)


def _actions(found: ActionEvaluation) -> str:
    parts = []
    for each in found.models:
        rows: list[list[Cell]] = [
            [
                *("", _name(row["action"]), percent(row["share"])),
                *(f"{row['incurred']:.4g}", f"{row['announced']:.4g}", html.escape(p_value(row["holm_p_value"]))),
            ]
            for row in found.calibration(each.model)._records()
        ]
        caption = f"Cost of each action by {shorten(named(each.model), NAME_LIMIT)}, and what was announced"
        parts.append(table(caption, ["", "Action", "Share of decisions", "Mean cost", "Announced", "p (Holm)"], rows))
    return "".join(parts)


def _costs(found: ActionEvaluation) -> str:
    rows, problem = found.rows, found.rows.problem
    heads = ["", "Class", *(_name(action) for action in rows.actions)]
    names = ["Costs by class and action"]
    if problem.theta is not None:
        where = f"theta from {problem.theta.low:g} to {problem.theta.high:g}"
        names = [f"Costs at one end of the segment (theta 0; {where})", "Costs at the other (theta 1)"]
    elif len(problem.matrices) > 1:
        names = [f"Costs, matrix {k + 1} of {len(problem.matrices)}" for k in range(len(problem.matrices))]
    return "".join(
        table(
            name,
            heads,
            [["", _name(each), *(f"{c:g}" for c in row)] for each, row in zip(rows.classes, matrix, strict=True)],
        )
        for name, matrix in zip(names, problem.matrices, strict=True)
    )


def _findings(found: ActionEvaluation) -> str:
    findings = action_findings(found)
    if not findings:
        return f"<p>None of the {len(ACTION_FINDINGS)} checks found anything.</p>"
    return finding_items(findings, _names(found))


def _names(found: ActionEvaluation) -> dict[str, str]:
    return {each.model: f"<b>{_name(each.model)}</b>" for each in found.models}


def _data(found: ActionEvaluation) -> list[tuple[str, str]]:
    rows = found.rows
    weighted = "none: every row counts once" if (rows.weight == 1.0).all() else "weighted"
    clusters = [] if rows.clusters is None else [("Clusters", count(len(set(rows.clusters.tolist()))))]
    return [
        ("Source", text_html(found.source, 100) if found.source else "arrays in memory"),
        ("Rows", count(len(rows.index))),
        ("Weights", weighted),
        *clusters,
        ("Models", count(len(found.models))),
    ]
