"""Three reports, writing."""

from __future__ import annotations

import html
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes._version import __version__
from stakes.actions import ActionEvaluation
from stakes.base.validation import check_kind
from stakes.evaluation import ACTION_FINDINGS, Evaluation, action_findings
from stakes.outputs.files import check_target, delivered
from stakes.outputs.text import count, decimals_for, level_name, short_names, shorten, visible
from stakes.report import _sections
from stakes.report._any_range import LAST_THRESHOLD, MAX_DRAWN, Json, payload
from stakes.report._figures import cost_figure, crossing_payload, crossing_section, figures, in_range_table
from stakes.report._page import (
    NAME_LIMIT,
    Cell,
    Model,
    answer_html,
    asset,
    bullets,
    facts,
    fixed,
    interval,
    json_for_script,
    made_now,
    models_of,
    named,
    page_script,
    percent_text,
    table,
    text_html,
    typeset,
    whole_page,
)
from stakes.report._sections import (
    HTML,
    calibration_section,
    decomposition_table,
    deferral_section,
    finding_html,
    finding_items,
    findings_list,
    further_table,
    groups_tables,
    information_section,
    model_rows,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from stakes.outputs.result_table import ResultTable


# The report of decisions in rows with amounts of their own: a page of tables and one drawing, without scripts.

_AMOUNTS_TITLE = "What acting on these predictions would cost in money"
_HEADS = ("#", "Model", "Cost", "Gain over<br>acting on nobody", "Savings", "Acts on")
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
    >>> "EUR per 1,000 rows" in render_amounts(evaluate(orders, [0.02, 0.3, 0.2, 0.1] * 20))
    True
    """
    check_kind(evaluation, "evaluation", Evaluation, "what evaluate returned")
    models, made = models_of(evaluation), made_now()
    said, figure = answer_html(evaluation, models), cost_figure(evaluation, models)
    bodies = {
        "stake": ("The answer", _sections.first_screen(evaluation, models, said, figure)),
        "money": ("In money", _money(evaluation, models)),
        "groups": ("Groups", groups_tables(evaluation, models) if evaluation.groups else ""),
        "findings": ("Findings", findings_list(evaluation, models)),
        "data": ("Data", _sections.data(evaluation, models, made, __version__)),
        "method": ("Method and references", _method(evaluation)),
    }
    return whole_page(
        named(_AMOUNTS_TITLE if title is None else title),
        typeset(visible(evaluation.answer.read)),
        {key: section for key, section in bodies.items() if section[1]},
        made=made,
    )


def _money(evaluation: Evaluation, models: Sequence[Model]) -> str:
    if not evaluation.money:
        return "<p>Money is not shown: it is that of acting by the cost ratio, and these follow another rule.</p>"
    unit, level = f"{_unit(evaluation)} {evaluation.options.money_words}", level_name(evaluation.confidence_level)
    short = short_names(evaluation.models)
    notes = [f"{short[model]}, {said}" for model in evaluation.ranking for said in evaluation.money[model]._notes()]
    words = (
        f"<p>{html.escape(unit)}, with amounts as stated; intervals are pointwise {level} intervals, of "
        "each number alone. Savings are the share of the cost of the cheaper of acting on everybody and on nobody.</p>"
    )
    words += "".join(f"<p>Note: {typeset(visible(note))}.</p>" for note in notes)
    tables = evaluation.tables()
    shown = _money_table(f"Cost and gain of each model, {unit}", tables["money"], models, "")
    parts = [
        _money_table(
            f"Mean over the cost ratios as reported, {unit}: {_HELD[held]}",
            tables["scales"],
            models,
            held,
        )
        for held in evaluation.money_over_costs
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


def _money_table(caption: str, found: ResultTable, models: Sequence[Model], held: str) -> str:
    mine = [row for row in found.rows if row["held"] == held]
    decimals = decimals_for([row["standard_error"] for row in mine], [row["cost"] for row in mine])
    columns = found.view(("cost", "gain", "savings", "acted"), decimals=decimals)
    return table(caption, _HEADS, model_rows(mine, columns, models, HTML))


def _method(evaluation: Evaluation) -> str:
    paragraph, *references = evaluation.methods(calibration=False).split("\n")
    cited = "<br>".join(map(html.escape, references[2:]))
    return (
        f"<p>{html.escape(visible(paragraph))}</p><p>Amounts, not probabilities, order these rows: the page shows no "
        "ROC curve, no reliability and no calibration of the scores that amounts make of them, for these would say "
        f"nothing of the models.</p><p>{cited}</p>"
    )


# The page as a whole: sections in order, numbers as data, scripts under a policy that lets nothing else run.

_TITLE = "What acting on these predictions would cost"
_HEADINGS = {
    "stake": "The answer",
    "decision": "Decision curve",
    "crossing": "Where another decision costs less",
    "threshold": "At one threshold",
    "reliability": "Reliability",
    "groups": "Groups",
    "deferral": "Leaving cases to someone else",
    "information": "Is it worth more rows?",
    "findings": "Findings",
    "calibration": "Calibration in numbers",
    "decomposition": "Where the cost comes from",
    "further": "Further numbers",
    "roc": "ROC curves, and what they assume",
    "data": "Data",
    "method": "Method and references",
}
# of interest to experts
_CLOSED = ("calibration", "decomposition", "further", "roc", "data", "method")


def render_report(evaluation: Evaluation, *, title: str | None = None) -> str:
    """Return the report of an evaluation as one interactive HTML page that needs no network.

    Parameters
    ----------
    evaluation : Evaluation
        What to report.
    title : str, optional
        Heading of the page.

    Returns
    -------
    str
        HTML with styles, scripts and data in it, to be written as UTF-8.

    Notes
    -----
    The page holds a thinned table of each model's scores, from which it computes every other range of thresholds as the
    library would; see ``docs/report.md`` for the bound of the error. Rows with amounts of their own have the page of
    :func:`render_amounts`.

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.report import render_report
    >>> page = render_report(evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6]}, costs=(0.2, 0.6)))
    >>> page.startswith("<!doctype html>")
    True
    """
    check_kind(evaluation, "evaluation", Evaluation, "what evaluate returned")
    if evaluation.options.per_stake:
        return render_amounts(evaluation, title=title)
    if evaluation.imputations:
        return _render_imputed(evaluation, _TITLE if title is None else title)
    models = models_of(evaluation)
    content = payload(evaluation, models) | {"crossing": crossing_payload(evaluation, models)}
    made = made_now()
    bodies = _bodies(evaluation, models, content, made)
    return whole_page(
        named(_TITLE if title is None else title),
        typeset(visible(evaluation.answer.read)),
        {key: (_HEADINGS[key], body) for key, body in bodies.items()},
        closed=_CLOSED,
        made=made,
        controls=asset("controls.html"),
        script=page_script(),
        payload=json_for_script(content),
    )


def _render_imputed(evaluation: Evaluation, title: str) -> str:
    """Page of tables and one drawing: another range of thresholds would need the completed data sets in the page."""
    models, made = models_of(evaluation), made_now()
    said, figure = answer_html(evaluation, models), cost_figure(evaluation, models)
    paragraph, *references = evaluation.methods().split("\n")
    cited = "<br>".join(map(html.escape, references[2:]))
    bodies = {
        "stake": _sections.first_screen(evaluation, models, said, figure),
        "threshold": _at_thresholds(evaluation),
        "findings": findings_list(evaluation, models),
        "calibration": calibration_section(evaluation, models[:MAX_DRAWN]),
        "further": _further(evaluation, models, said),
        "data": _sections.data(evaluation, models, made, __version__),
        "method": f"<p>{html.escape(visible(paragraph))}</p><p>{cited}</p>",
    }
    headings = _HEADINGS | {"threshold": "Net benefit at single thresholds"}
    sections = {key: (headings[key], body) for key, body in bodies.items() if body}
    return whole_page(named(title), typeset(visible(evaluation.answer.read)), sections, closed=_CLOSED, made=made)


_SHOWN_THRESHOLDS = 5


def _at_thresholds(evaluation: Evaluation) -> str:
    """Net benefit of every model, each with its interval, at thresholds over the range; nothing where there is none."""
    low, high = evaluation.costs.low, min(evaluation.costs.high, LAST_THRESHOLD)
    none = evaluation.moments.reason or evaluation.options.lags is not None or evaluation.clusters_unseen
    if low > high or evaluation.rule != "score" or none:
        return ""
    at = np.linspace(low, high, _SHOWN_THRESHOLDS) if low < high else np.array([low])
    found, level = evaluation.bands("net_benefit", at, references=True), level_name(evaluation.confidence_level)
    ranks = {name: str(k) for k, name in enumerate(evaluation.ranking[:MAX_DRAWN], start=1)}
    rows: list[list[Cell]] = []
    for name in [*ranks, *found.keys() - set(evaluation.models)]:
        band = found[name]
        numbers = zip(band.estimate.tolist(), band.low.tolist(), band.high.tolist(), strict=True)
        cells = [f"{fixed(value, 3)}<small>{interval(tuple(ends), 3)}</small>" for value, *ends in numbers]
        rows.append([ranks.get(name, ""), text_html(evaluation.words.row(name), NAME_LIMIT), *cells])
    heads = ["#", "Model", *(f"at {percent_text(float(threshold))}" for threshold in at)]
    return table(f"Net benefit at single thresholds, with pointwise {level} intervals", heads, rows)


def _bodies(evaluation: Evaluation, models: Sequence[Model], content: Json, made: str) -> dict[str, str]:
    """Every section by its key, in order; that of groups only where there are any."""
    shown = models[:MAX_DRAWN]
    drawn, said = figures(evaluation, shown), answer_html(evaluation, models)
    bodies = {
        "stake": _sections.first_screen(evaluation, models, said, drawn.pop("regret")),
        "further": _further(evaluation, models, said),
        "crossing": crossing_section(evaluation, models),
        "threshold": asset("threshold.html") + ("" if content["counted"] else _at_thresholds(evaluation)),
        "calibration": calibration_section(evaluation, shown),
        "deferral": deferral_section(evaluation, shown),
        "information": information_section(evaluation),
        "groups": groups_tables(evaluation, models) if evaluation.groups else "",
        "findings": findings_list(evaluation, models),
        "data": _sections.data(evaluation, models, made, __version__),
        "method": _sections.method(evaluation, content),
        **drawn,
    }
    bodies["reliability"] += in_range_table(evaluation, models)
    bodies["decomposition"] += decomposition_table(evaluation, models)
    return {key: bodies[key] for key in _HEADINGS if bodies[key]}


def _further(evaluation: Evaluation, models: Sequence[Model], said: Mapping[str, Sequence[str]]) -> str:
    numbers = bullets(said["details"]) + further_table(evaluation, models)
    if len(models) <= MAX_DRAWN:
        return numbers
    return f"{numbers}<p>The figures show the {MAX_DRAWN} best of the {len(models)} models.</p>"


# The report of decisions among many actions: a page of tables, without scripts.

_ACTIONS_TITLE = "What acting on these class probabilities would cost"
_ACTION_HEADS = ("Action", "Share of decisions", "Mean cost", "Announced", "p (Holm)")
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
    classes = ["Class", "Share of rows", "Mean cost", "Least", *map(_name, rows.actions)]
    bodies = {
        "stake": ("The answer", _actions_stake(found)),
        "ranking-section": ("Ranking", _actions_ranking(found)),
        "classes": (
            "By true class",
            _by_model(found, "classes", "Share of each class that takes each action by {model}", classes),
        ),
        "actions": (
            "By action",
            _by_model(found, "actions", "Cost of each action by {model}, and what was announced", _ACTION_HEADS),
        ),
        "costs": ("Costs", _costs(found)),
        "findings": ("Findings", _findings(found)),
        "data": ("Data", facts(_data(found))),
        "method": ("Method and references", f"<p>{_METHOD}</p>"),
    }
    source = f"{text_html(found.source, 60)} · " if found.source else ""
    size = f"{count(len(rows.index))} rows, {len(rows.classes)} classes, {len(rows.actions)} actions"
    return whole_page(named(_ACTIONS_TITLE if title is None else title), source + size, bodies)


def _actions_stake(found: ActionEvaluation) -> str:
    first, *others = (typeset(visible(text)) for text in found.told())
    grave = [finding for finding in action_findings(found) if finding.severity in {"error", "warning"}]
    others += [finding_html(finding, _names(found)) for finding in grave]
    lead, _, detail = first.partition(" (")
    beside = f'<p class="cost">({detail}</p>' if detail else ""
    return f'<p class="advice">{lead}</p>{beside}{bullets(others)}'


def _name(text: object) -> str:
    return text_html(str(text), NAME_LIMIT)


def _actions_ranking(found: ActionEvaluation) -> str:
    ranking = found.tables()["ranking"]
    columns, models = ranking.view(("cost", "gap", "skill")), len(found.models)
    cells = HTML.rows(ranking.rows[:models], columns)
    cells += replace(HTML, missing="").rows(ranking.rows[models:], columns)
    rows = [[str(row["rank"] or ""), _name(row["model"]), *mine] for row, mine in zip(ranking.rows, cells, strict=True)]
    level = level_name(found.confidence_level)
    heads = ["#", "Model", "Mean cost of a decision", "Less that of the best", "Skill"]
    words = (
        f"<p>Intervals of the cost are simultaneous {level} intervals, of all rows at once, the others "
        "pointwise. “Always …” takes one "
        "action for every case. Skill is the share saved of what lies between the best of these and perfect "
        "knowledge.</p>"
    )
    return words + table("Models by mean cost; lower is better", heads, rows)


def _by_model(found: ActionEvaluation, key: str, caption: str, heads: Sequence[str]) -> str:
    """A table of classes or actions for each model."""
    parts, short = [], short_names(each.model for each in found.models)
    for each in found.models:
        shown = found.tables(each.model)[key]
        cells = HTML.rows(shown.rows, shown.columns[1:])
        rows = [["", _name(row[heads[0].lower()]), *mine] for row, mine in zip(shown.rows, cells, strict=True)]
        parts.append(table(caption.format(model=short[each.model]), ["", *heads], rows))
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


# Write the report beside its place and rename it, so that no half-written file is ever there.

_ENDINGS = (".html", ".htm")


def write_report(
    evaluation: Any, path: str | Path, *, title: str | None = None, render: Callable[..., str] | None = None
) -> Path:
    """Write the report of an evaluation: one HTML file that needs no network.

    Parameters
    ----------
    evaluation : Evaluation or ActionEvaluation
        What to report.
    path : str or Path
        The file to write; one that exists is replaced once the new one is complete.
    title : str, optional
        Heading of the page.
    render : callable, optional
        Makes the page: :func:`render_report` by default, :func:`render_actions` for many actions.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    ValueError
        If the path names a folder or a device, or does not end in .html or .htm.
    FileNotFoundError, PermissionError
        If its folder does not exist, or nothing can be written there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stakes import evaluate
    >>> from stakes.report import write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_report(evaluate([0, 1], [0.1, 0.8]), pathlib.Path(folder) / "report.html")
    >>> written.name
    'report.html'
    """
    deliver_report(evaluation, path, title=title, render=render)
    return Path(path)


def deliver_report(
    evaluation: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    render: Callable[..., str] | None = None,
) -> str:
    """Return the page, and write it where a path is given, which is checked before the work."""
    if path is not None:
        _check(Path(path))
    return delivered((render or render_report)(evaluation, title=title), path)


def _check(target: Path) -> None:
    check_target(target)
    if target.suffix.lower() not in _ENDINGS:
        raise ValueError(
            f"path must end in .html or .htm, got {str(target)!r}: it is a page, which a browser prints to PDF."
        )
