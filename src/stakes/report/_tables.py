"""ResultTable as HTML."""

from __future__ import annotations

import html
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.evaluation import FINDINGS
from stakes.inference import ROWS_NEEDED, decomposition_interval
from stakes.outputs.result_table import CellStyle
from stakes.outputs.text import count, decimals_for, number, p_value, say, shorten
from stakes.report._page import (
    NAME_LIMIT,
    REFERENCE_DASHES,
    fixed,
    follows,
    named,
    percent_text,
    regret_words,
    skill_percent,
    swatch,
    table,
    text_html,
    typeset,
    unit_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stakes.evaluation import Evaluation, Finding
    from stakes.outputs.result_table import TableColumn

    Rows = Sequence[Mapping[str, Any]]
    from stakes.report._page import Cell, Model


# The ranking table: cost with its interval, the difference to the best, skill, and the two references.

_WIDTH = 96.0
_METRIC_LIMIT = 40
_WORDS = {"regret": "Mean regret", "integral": "Integral", "loss": "Loss"}
_SCALES = {"integral": "integral of regret", "loss": "loss"}
HTML = CellStyle(
    fixed,
    {
        "difference": partial(fixed, sign=True),
        "skill": lambda share, _: skill_percent(share),
        "end": lambda share, _: f"{fixed(100 * share, 1)}%",
        "p": lambda value, _: html.escape(p_value(value)),
        "count": lambda value, _: count(value),
        "significant": lambda value, _: f"{value:.4g}",
        "probability": lambda share, _: f"{100.0 * share:.0f}%",
        **dict.fromkeys(("share", "acted", "savings"), lambda share, _: percent_text(share)),
    },
    missing="&ndash;",
    interval="{value}<small>{low} to {high}</small>",
    unknown="{value}<small>no interval</small>",
    p="<small>p {}</small>",
    ends={"skill": "end", "savings": "end"},
)
_SPANNED: dict[str, Any] = {
    "interval": "<span>{value}</span><small>{low} to {high}</small>",
    "unknown": "<span>{value}</span><small>no interval</small>",
}


def model_rows(
    rows: Rows, columns: Sequence[TableColumn], models: Sequence[Model], style: CellStyle, *, values: bool = False
) -> list[list[Cell]]:
    """Number, name and cells of each row; with ``values`` the numbers are in attributes too."""
    by_name = {model.name: model for model in models}
    return [
        [str(row["rank"]), by_name[row["model"]].sample, *(_valued(row, columns, cells) if values else cells)]
        for row, cells in zip(rows, style.rows(rows, columns), strict=True)
    ]


def _valued(record: Mapping[str, Any], columns: Sequence[TableColumn], cells: Sequence[str]) -> list[Cell]:
    values = [record[column.key] for column in columns]
    return [text if value is None else (text, value) for text, value in zip(cells, values, strict=True)]


def cost_words(evaluation: Evaluation) -> str:
    """What the expected cost is, and in which unit."""
    return regret_words(evaluation) if evaluation.scale == "regret" else _SCALES[evaluation.scale]


def ranking_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Models from the best to the worst, then treating all and treating none, on every scale."""
    found, by_name = evaluation.tables()["ranking"], {model.name: model for model in models}
    results, heads = found.rows[: len(models)], _columns(evaluation)
    decimals = decimals_for([row["standard_error"] for row in results], [row["score"] for row in results])
    style, ends = replace(HTML, decimals=decimals, ends={"difference": "number"}, **_SPANNED), _ends(results)
    columns = [
        replace(
            column,
            interval=column.interval.replace("simultaneous", "ci"),
            decimals=decimals_for([], [row[column.key] for row in results]) if column.key in _WORDS else None,
        )
        for column in found.view(heads)
    ]
    rows: list[list[Cell]] = []
    for record, cells in zip(found.rows, style.rows(found.rows, columns), strict=True):
        name, place = record["model"], list(heads).index("score")
        cells[place] = _whisker(record, ends) + cells[place]
        if name in by_name:
            model, like = by_name[name], record["acts_like"]
            note = f'<small class="note">acts like {like}</small>' if like else ""
            rank, head = f'<span class="rank">{model.rank}</span>', _head(model.sample + note, model.rank - 1)
        else:
            sample = f'<span data-reference="{name}">{swatch("--reference", REFERENCE_DASHES[name])} {name}</span>'
            rank, head = "", _head(sample)
        rows.append([rank, head, *_valued(record, columns, cells)])
    named = [("#", ""), ("Model", ""), *heads.values()]
    shown = [head + (f"<br><small>{detail}</small>" if detail else "") for head, detail in named]
    labels = [head for head, _ in named]
    return table(caption("ranking", evaluation), shown, rows, key="ranking", labels=labels, follow="ranking")


def _head(name: str, model: int | None = None) -> str:
    place = "" if model is None else f' data-model="{model}"'
    return f'<th scope="row" role="rowheader"{place}>{name}</th>'


def _columns(evaluation: Evaluation) -> dict[str, tuple[str, str]]:
    """Head and detail of each column of the ranking."""
    level, scale = f"{evaluation.confidence_level * 100:g}%", evaluation.scale
    versus = f"difference, pointwise {level} interval, p; of this pair alone"
    unit = f"{unit_words(evaluation)}, " if scale == "regret" else ""
    found: dict[str, tuple[str, str]] = {name: (word, "") for name, word in _WORDS.items()}
    if evaluation.options.per_stake:
        found = {scale: found[scale]}
    heads = {"score" if name == scale else name: each for name, each in found.items()}
    heads["score"] = _WORDS[scale], f"{unit}pointwise {level} interval"
    return heads | {"vs_best": ("More than the best", versus), "skill": ("Skill", "")}


def further_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Numbers beside the expected cost, and the metrics that were asked for."""
    found, asked = evaluation.tables()["ranking"], list(evaluation.results[0].metrics)
    areas = [evaluation.auc(model.name).interval for model in models]
    pairs = zip(found.rows, areas, strict=False)
    rows = [row | {"auc_low": low, "auc_high": high} for row, (low, high) in pairs]
    columns = found.view(["auc"], interval="auc") + found.view(["share_acted_on"])
    for name in asked:
        columns += found.view([name], decimals=decimals_for([], [row[name] for row in rows]))
    heads = ["#", "Model", "AUC", "Share acted on", *(text_html(name, _METRIC_LIMIT) for name in asked)]
    level = f"{evaluation.confidence_level * 100:g}%"
    caption = (
        f"Further numbers of each model, the area with its pointwise {level} interval; not what the ranking goes by"
    )
    return table(caption, heads, model_rows(rows, columns, models, replace(HTML, **_SPANNED)))


def caption(of: str, evaluation: Evaluation) -> str:
    """What a table shows, over which thresholds."""
    low, high = evaluation.costs.low, evaluation.costs.high
    return say(of, over=say("over_one" if low == high else "over", low=percent_text(low), high=percent_text(high)))


def _ends(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float] | None:
    numbers = [row[key] for row in rows for key in ("score", "ci_low", "ci_high") if math.isfinite(row[key])]
    return (min(numbers), max(numbers)) if numbers and min(numbers) < max(numbers) else None


def _whisker(record: Mapping[str, Any], ends: tuple[float, float] | None) -> str:
    """Cost and interval as a dot on a line, all rows on one scale; empty where they lie outside it."""
    score, low, high = record["score"], record["ci_low"], record["ci_high"]
    if ends is None or not math.isfinite(score) or not ends[0] <= score <= ends[1]:
        return ""
    x = _place(score, ends)
    line = ""
    if math.isfinite(low) and math.isfinite(high):
        line = f'<path d="M{_place(low, ends):.1f} 8H{_place(high, ends):.1f}" class="whisker"/>'
    return (
        f'<svg viewBox="0 0 {_WIDTH:.0f} 16" width="{_WIDTH:.0f}" height="16" aria-hidden="true">{line}'
        f'<circle cx="{x:.1f}" cy="8" r="4" class="dot"/></svg>'
    )


def _place(value: float, ends: tuple[float, float]) -> float:
    share = (value - ends[0]) / (ends[1] - ends[0])
    return 5.0 + (_WIDTH - 10.0) * min(max(share, 0.0), 1.0)


# The section of groups: for whom a model holds.

_GAP = "Skill less that of the others"
_HEADS = {
    "n_rows": "Rows",
    "prevalence": "Positive",
    "score": "Expected cost",
    "skill": "Skill",
    "skill_difference": _GAP,
}
_OF_PROBABILITIES = {"corrected_miscalibration": "Miscalibration, corrected", "auc": "AUC"}
_OF_AMOUNTS = {"cost": "Cost per 1,000 rows", "gain": "Gain per 1,000 rows"}


def groups_tables(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """One table for each column that divides the rows, over the range as reported."""
    by_name, found = {model.name: model for model in models}, evaluation.tables()["groups"]
    shown = _HEADS | (_OF_AMOUNTS if evaluation.options.per_stake else _OF_PROBABILITIES)
    columns, parts = found.view(shown), []
    labels = ["", "", *("Skill less others'" if head == _GAP else head for head in shown.values())]
    for column in dict.fromkeys(row["column"] for row in found.rows):
        mine = [row for row in found.rows if row["column"] == column]
        mine.sort(key=lambda row: by_name[row["model"]].rank)
        decimals = decimals_for([row["standard_error"] for row in mine], [row["score"] for row in mine])
        rows: list[list[Cell]] = [
            [
                by_name[row["model"]].html,
                text_html(row["group"], NAME_LIMIT) + _group_note(row["note"]),
                *_group_cells(row, columns, decimals),
            ]
            for row in mine
        ]
        name, heads = shorten(named(column), NAME_LIMIT), ["Model", "Group", *shown.values()]
        parts.append(table(f"Every model in every group of {name}", heads, rows, labels=labels, kind="groups"))
    level = f"{evaluation.confidence_level * 100:g}%"
    return (
        "<p>Over the range as reported. Expected cost depends on how many positives a group has: compare groups by "
        f"skill.{_stake_words(evaluation)} Intervals are pointwise {level} intervals; p-values are "
        "adjusted for the number of groups (Holm).</p>"
    ) + "".join(parts)


def _group_cells(row: Mapping[str, Any], columns: Sequence[TableColumn], decimals: int) -> list[str]:
    """Money has the decimals that its own error asks for."""
    if row.get("cost") is not None:
        own = decimals_for([row["money_error"]], [row["cost"]])
        columns = [replace(each, decimals=own) if each.kind == "money" else each for each in columns]
    return [replace(HTML, decimals=decimals).cell(row, column) for column in columns]


def _stake_words(evaluation: Evaluation) -> str:
    stake = evaluation.options.per_stake
    words = " Positive is their share of what is at stake; cost and gain per 1,000 rows are with amounts as stated, "
    return f"{words}in money." if stake else ""


def _group_note(note: str) -> str:
    """What to know of the interval, under the name of the group, where a long text may break."""
    return f'<small class="note">{html.escape(note)}</small>' if note else ""


# The section of calibration: what reporting guidelines for prediction models ask for.

_NUMBERS = {
    "o_e_ratio": ("O:E", "observed to expected; 1 is calibrated"),
    "calibration_in_the_large": ("In the large", "intercept with slope 1; 0 is calibrated"),
    "slope": ("Slope", "below 1: too extreme"),
    "ici": ("ICI", "mean distance to the smooth curve"),
    "e90": ("E90", "its 90th percentile"),
}


def calibration_section(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """A table with two rows for each model, and what the numbers are."""
    ends = tuple(percent_text(end) for end in (evaluation.costs.low, evaluation.costs.high))
    where = f"scored at {ends[0]}" if ends[0] == ends[1] else f"scored {ends[0]} to {ends[1]}"
    found = evaluation.tables([model.name for model in models])["calibration"]
    rows = model_rows(found.rows, found.view(_NUMBERS), models, HTML)
    for record, cells in zip(found.rows, rows, strict=True):
        words = "all cases" if record["cases"] == "all" else where
        cells[1] = f'{cells[1]}<small class="note">{words}</small>'
        known = f"{count(record['n_rows'])}<small>{count(record['n_positives'])} positive</small>"
        cells.insert(2, "0" if record["slope"] is None else known)
    heads = [f"{head}<br><small>{meaning}</small>" for head, meaning in _NUMBERS.values()]
    labels = ["", "", "Cases", *(head for head, _ in _NUMBERS.values())]
    shown = table(
        f"Calibration over all cases, and of those {where}", ["#", "Model", "Cases", *heads], rows, labels=labels
    )
    level = f"{evaluation.confidence_level * 100:g}%"
    notes = dict.fromkeys(row["note"] for row in found.rows[::2] if row["note"])
    return (
        "<p>O:E above 1 and calibration in the large above 0 say that risks are too low, below that they are too high. "
        f"Only cases {where} are decided differently by the plausible thresholds, the range as reported. Intervals are "
        f"pointwise {level} intervals.</p>{shown}" + "".join(f"<p>{text_html(note, 200)}</p>" for note in notes)
    )


# The decomposition table: where each model's cost comes from.


_TERMS = ("decomposed", "miscalibration", "discrimination", "uncertainty")


def decomposition_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """The terms of every model."""
    found = evaluation.tables()["ranking"]
    results = found.rows[: len(models)]
    terms = {row["model"]: [row[key] for key in _TERMS] for row in results}
    errors = [row["standard_error"] for row in results]
    style = replace(HTML, decimals=decimals_for(errors, [term for mine in terms.values() for term in mine]))
    rows = model_rows(results, found.view((*_TERMS, "skill")), models, style, values=True)
    heads = ["#", "Model", f"Cost<br><small>{cost_words(evaluation)}</small>", "MCB", "DSC", "UNC", "Skill"]
    missing = [model.html for model in models if not all(map(math.isfinite, terms[model.name]))]
    note = f"<p>Not drawn, because a term is infinite or undefined: {', '.join(missing)}.</p>" if missing else ""
    shown = table(caption("decomposition", evaluation), heads, rows, follow="decomposition")
    return shown + follows("missing", note) + _on_new_rows(evaluation, models[0])


def _on_new_rows(evaluation: Evaluation, best: Model) -> str:
    """What recalibrating the best model would save on rows it is not fitted to; nothing where that cannot be said."""
    rows, costs = evaluation.rows, evaluation.costs
    if rows is None or rows.dependent or evaluation.rule != "score":
        return ""
    if min(np.bincount(rows.y, minlength=2)) < ROWS_NEEDED:
        return ""
    if len(costs.atoms[0]) or not math.isfinite(float(costs.positive_loss(0.0)) + float(costs.negative_loss(1.0))):
        return ""
    y, score, _, weight = rows.arguments(*2 * [evaluation.models.index(best.name)])
    prevalence = evaluation.prevalence if rows.fixed_prevalence else None
    options: dict[str, Any] = {"sample_weight": weight, "prevalence": prevalence}
    options["confidence_level"] = evaluation.confidence_level
    found = decomposition_interval(y, score, costs=costs, scale="integral", **options).miscalibration
    value, low, high = (number(evaluation.factor * end) for end in (found.value, *found.interval))
    sure = f"{100.0 * found.confidence_level:g}% interval {low} to {high}; cross-fitted, over the range as reported"
    if found.interval[0] <= 0.0:
        return f"<p>Recalibrating {best.html} is not shown to save anything on new rows ({sure}).</p>"
    return f"<p>On new rows recalibrating {best.html} would save about {value} ({sure}).</p>"


# The section of findings: what to know before acting on the result, and what to do about it.

_GRAVE = ("error", "warning")


def findings_list(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Every finding with its severity, code and remedy, or that there are none."""
    if len(evaluation.findings) == 0:
        made = sum(check.of_amounts or not evaluation.options.per_stake for check in FINDINGS.values())
        return f"<p>None of the {made} checks found anything.</p>"
    names = {model.name: f"<b>{model.html}</b>" for model in models}
    return finding_items(evaluation.findings, names)


def grave_findings(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """The errors and warnings, which stand under the headline: they may make it worth little."""
    names = {model.name: f"<b>{model.html}</b>" for model in models}
    return grave_items(evaluation.findings, names, " (the range as reported)")


def grave_items(findings: Iterable[Finding], names: dict[str, str], where: str = "") -> str:
    """Errors and warnings of all findings, with the names of models as ready HTML."""
    grave = [finding for finding in findings if finding.severity in _GRAVE]
    return f'<p class="grave">Before acting on this{where}:</p>{finding_items(grave, names)}' if grave else ""


def finding_items(findings: Iterable[Finding], names: dict[str, str]) -> str:
    """A list of findings, with the names of models as ready HTML."""
    return f'<ul class="checks">{"".join(_item(finding, names) for finding in findings)}</ul>'


def _item(finding: Finding, names: dict[str, str]) -> str:
    # the template is escaped before the names, which are ready HTML, take their places in it
    groups = (f"<b>{text_html(group, NAME_LIMIT)}</b>" for group in finding.groups)
    sentence = typeset(finding.template).format(*(names[model] for model in finding.models), *groups)
    return (
        f'<li><span class="severity {finding.severity}">{finding.severity}</span> <code>{finding.code}</code>'
        f'<p>{sentence}</p><p class="remedy">{html.escape(finding.remedy)}</p></li>'
    )
