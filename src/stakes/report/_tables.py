"""ResultTable as HTML."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.evaluation import FINDINGS
from stakes.inference import ROWS_NEEDED, decomposition_interval
from stakes.outputs.text import count, decimals_for, number, p_value, say, shorten
from stakes.report._page import (
    NAME_LIMIT,
    REFERENCE_DASHES,
    fixed,
    follows,
    interval,
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
    from collections.abc import Iterable, Sequence

    from stakes.evaluation import Evaluation, Finding, GroupResult, ModelResult
    from stakes.inference import CalibrationSummary, Comparison
    from stakes.metrics import Decomposition
    from stakes.report._page import Cell, Model


# The ranking table: cost with its interval, the difference to the best, skill, and the two references.

_WIDTH = 96.0
_METRIC_LIMIT = 40
_NONE = "&ndash;"
_SCALES = {"integral": "integral of regret", "loss": "loss"}


def cost_words(evaluation: Evaluation) -> str:
    """What the expected cost is, and in which unit."""
    return regret_words(evaluation) if evaluation.scale == "regret" else _SCALES[evaluation.scale]


def ranking_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Models from the best to the worst, then treating all and treating none, on every scale."""
    results = [model.result for model in models]
    decimals = decimals_for([r.standard_error for r in results], [r.score for r in results])
    ends = _ends(results)
    named = [
        (
            model.result,
            f'<span class="rank">{model.rank}</span>',
            _head(model.sample + _acts_like(model.result), model.rank - 1),
        )
        for model in models
    ]
    for name, dash in REFERENCE_DASHES.items():
        sample = f'<span data-reference="{name}">{swatch("--reference", dash)} {name}</span>'
        named.append((evaluation[name], "", _head(sample)))
    scales = _scales(evaluation)
    places = {name: decimals_for([], [factor * r.score for r in results]) for name, factor in scales.items()}
    rows: list[list[Cell]] = []
    for result, rank, head in named:
        cells: list[Cell] = [
            (_cost(result, decimals, ends), result.score)
            if name == evaluation.scale
            else (fixed(factor * result.score, places[name]), factor * result.score)
            for name, factor in scales.items()
        ]
        rows.append([rank, head, *cells, *_judged(evaluation, result, decimals)])
    columns = _columns(evaluation)
    heads = [head + (f"<br><small>{detail}</small>" if detail else "") for head, detail in columns]
    labels = [head for head, _ in columns]
    return table(caption("ranking", evaluation), heads, rows, key="ranking", labels=labels, follow="ranking")


def _head(name: str, model: int | None = None) -> str:
    place = "" if model is None else f' data-model="{model}"'
    return f'<th scope="row" role="rowheader"{place}>{name}</th>'


def _scales(evaluation: Evaluation) -> dict[str, float]:
    """Factors from the evaluation's scale to every scale; nan where one is not defined."""
    costs = evaluation.costs
    if evaluation.options.per_stake:
        return {evaluation.scale: 1.0}
    units = evaluation.unit_cost * evaluation.per
    factors = {
        "regret": units / costs.mass if 0.0 < costs.mass < math.inf else math.nan,
        "integral": 1.0,
        "loss": math.nan if costs.loss_factor is None else costs.loss_factor,
    }
    return {name: factor / evaluation.factor for name, factor in factors.items()}


def _columns(evaluation: Evaluation) -> list[tuple[str, str]]:
    level = f"{evaluation.confidence_level * 100:g}%"
    versus = f"difference, pointwise {level} interval, p; of this pair alone"
    words = {"regret": "Mean regret", "integral": "Integral", "loss": "Loss"}
    unit = f"{unit_words(evaluation)}, " if evaluation.scale == "regret" else ""
    scales = [
        (words[name], f"{unit}pointwise {level} interval" if name == evaluation.scale else "")
        for name in _scales(evaluation)
    ]
    return [
        ("#", ""),
        ("Model", ""),
        *scales,
        ("More than the best", versus),
        ("Skill", ""),
        ("Against treat all", versus),
        ("Against treat none", versus),
    ]


def further_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Numbers beside the expected cost, and the metrics that were asked for."""
    asked = list(evaluation.results[0].metrics)
    heads = ["#", "Model", "AUC", "Share acted on", *(text_html(name, _METRIC_LIMIT) for name in asked)]
    decimals = [decimals_for([], [model.result.metrics[name] for model in models]) for name in asked]
    rows = [
        [
            str(model.rank),
            model.sample,
            _with_details(fixed(model.result.auc, 3), interval(evaluation.auc(model.name).interval, 3)),
            percent_text(model.result.share_acted_on),
            *(fixed(model.result.metrics[name], places) for name, places in zip(asked, decimals, strict=True)),
        ]
        for model in models
    ]
    level = f"{evaluation.confidence_level * 100:g}%"
    caption = (
        f"Further numbers of each model, the area with its pointwise {level} interval; not what the ranking goes by"
    )
    return table(caption, heads, rows)


def caption(of: str, evaluation: Evaluation) -> str:
    """What a table shows, over which thresholds."""
    low, high = evaluation.costs.low, evaluation.costs.high
    return say(of, over=say("over_one" if low == high else "over", low=percent_text(low), high=percent_text(high)))


def _acts_like(result: ModelResult) -> str:
    return f'<small class="note">acts like {result.acts_like}</small>' if result.acts_like else ""


def _cost(result: ModelResult, decimals: int, ends: tuple[float, float] | None) -> str:
    numbers = _with_details(fixed(result.score, decimals), interval(result.interval, decimals))
    return _whisker(result, ends) + numbers


def _judged(evaluation: Evaluation, result: ModelResult, decimals: int) -> list[Cell]:
    """Against the best model, the prevalence as forecast, and the references."""
    best = _versus(evaluation, result.name, evaluation.ranking[0], decimals)
    against = [_versus(evaluation, result.name, other, decimals) for other in REFERENCE_DASHES]
    parts = result.decomposition
    skill: Cell = (skill_percent(parts.skill), parts.skill) if parts else _NONE
    return [best, skill, *against]


def _versus(evaluation: Evaluation, name: str, other: str, decimals: int) -> Cell:
    if name == other:
        return _NONE
    found: Comparison = evaluation.difference(name, other)
    details = [interval(found.interval, decimals)]
    if not math.isnan(found.p_value):
        details.append(f"p {html.escape(p_value(found.p_value))}")
    text = _with_details(fixed(found.difference, decimals, sign=True), *details)
    return text, found.difference


def _with_details(number: str, *details: str) -> str:
    return f"<span>{number}</span>" + "".join(f"<small>{detail}</small>" for detail in details)


def _ends(results: Sequence[ModelResult]) -> tuple[float, float] | None:
    numbers = [x for r in results for x in (r.score, *r.interval) if math.isfinite(x)]
    return (min(numbers), max(numbers)) if numbers and min(numbers) < max(numbers) else None


def _whisker(result: ModelResult, ends: tuple[float, float] | None) -> str:
    """Cost and interval as a dot on a line, all rows on one scale; empty where they lie outside it."""
    low, high = result.interval
    if ends is None or not math.isfinite(result.score) or not ends[0] <= result.score <= ends[1]:
        return ""
    x = _place(result.score, ends)
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
            [by_name[row.model].html, text_html(row.group, NAME_LIMIT) + _group_note(row), *_group_cells(row, decimals)]
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


def _group_cells(row: GroupResult, decimals: int) -> list[str]:
    score = fixed(row.score, decimals) + f"<small>{interval(row.interval, decimals)}</small>"
    skill = skill_percent(row.skill) + f"<small>{share_interval(row.skill_interval)}</small>"
    gap = "&ndash;"
    if not math.isnan(row.skill_difference):
        gap = skill_percent(row.skill_difference)
        if not math.isnan(row.skill_p_adjusted):
            gap += f"<small>p {html.escape(p_value(row.skill_p_adjusted))}</small>"
    return [count(row.n_rows), percent_text(row.prevalence), score, skill, gap, *_further(row, decimals)]


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


def _group_note(row: GroupResult) -> str:
    """What to know of the interval, under the name of the group, where a long text may break."""
    return f'<small class="note">{html.escape(row.note)}</small>' if row.note else ""


def share_interval(ends: tuple[float, float]) -> str:
    """An interval of a share in percent."""
    return "no interval" if any(map(math.isnan, ends)) else f"{fixed(100 * ends[0], 1)}% to {fixed(100 * ends[1], 1)}%"


# The section of calibration: what reporting guidelines for prediction models ask for.

_NUMBERS = {
    "o_e_ratio": ("O:E", "observed to expected; 1 is calibrated", 2),
    "calibration_in_the_large": ("In the large", "intercept with slope 1; 0 is calibrated", 2),
    "slope": ("Slope", "below 1: too extreme", 2),
    "ici": ("ICI", "mean distance to the smooth curve", 4),
    "e90": ("E90", "its 90th percentile", 4),
}


def calibration_section(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """A table with two rows for each model, and what the numbers are."""
    ends = tuple(percent_text(end) for end in (evaluation.costs.low, evaluation.costs.high))
    where = f"scored at {ends[0]}" if ends[0] == ends[1] else f"scored {ends[0]} to {ends[1]}"
    found = [(model, evaluation.calibration.of(model.name)) for model in models]
    rows: list[list[Cell]] = [
        [f"{model.rank}", model.sample + f'<small class="note">{words}</small>', *_calibration_cells(summary)]
        for model, mine in found
        for words, summary in (("all cases", mine.overall), (where, mine.in_range))
    ]
    heads = [f"{head}<br><small>{meaning}</small>" for head, meaning, _ in _NUMBERS.values()]
    labels = ["", "", "Cases", *(head for head, _, _ in _NUMBERS.values())]
    shown = table(
        f"Calibration over all cases, and of those {where}", ["#", "Model", "Cases", *heads], rows, labels=labels
    )
    level = f"{evaluation.confidence_level * 100:g}%"
    notes = dict.fromkeys(mine.overall.note for _, mine in found if mine.overall.note)
    return (
        "<p>O:E above 1 and calibration in the large above 0 say that risks are too low, below that they are too high. "
        f"Only cases {where} are decided differently by the plausible thresholds, the range as reported. Intervals are "
        f"pointwise {level} intervals.</p>{shown}" + "".join(f"<p>{text_html(note, 200)}</p>" for note in notes)
    )


def _calibration_cells(found: CalibrationSummary | None) -> list[str]:
    if found is None:
        return ["0", *["&ndash;"] * len(_NUMBERS)]
    cells = [f"{count(found.n_rows)}<small>{count(found.n_positives)} positive</small>"]
    for name, (_, _, places) in _NUMBERS.items():
        value = fixed(getattr(found, name), places)
        cells.append(f"{value}<small>{interval(found.interval(name), places)}</small>")
    return cells


# The decomposition table: where each model's cost comes from.


def decomposition_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """The terms of every model."""
    parts = {model: model.result.decomposition for model in models}
    known = {model: p for model, p in parts.items() if p is not None}
    errors = [model.result.standard_error for model in known]
    decimals = decimals_for(errors, [term for p in known.values() for term in _terms(p)])
    rows: list[list[Cell]] = [
        [
            f"{model.rank}",
            model.sample,
            *((fixed(term, decimals), term) for term in _terms(p)),
            (skill_percent(p.skill), p.skill),
        ]
        for model, p in known.items()
    ]
    heads = ["#", "Model", f"Cost<br><small>{cost_words(evaluation)}</small>", "MCB", "DSC", "UNC", "Skill"]
    missing = [model.html for model, p in known.items() if not all(map(math.isfinite, _terms(p)))]
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


def _terms(parts: Decomposition) -> tuple[float, float, float, float]:
    return parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty


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
