"""Sections of the report, and `ResultTable` as HTML."""

from __future__ import annotations

import html
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.evaluation import FINDINGS, Evaluation, Finding, cost_of_terms, counted
from stakes.outputs import text
from stakes.outputs.result_table import CellStyle, TableColumn
from stakes.outputs.text import (
    count,
    decimals_for,
    level_name,
    number,
    odds,
    p_value,
    percent,
    percents,
    shorten,
    stated,
    visible,
)
from stakes.report._any_range import cut_points, is_even, no_bands, no_intervals
from stakes.report._page import (
    NAME_LIMIT,
    REFERENCE_DASHES,
    Cell,
    Model,
    at_most,
    bullets,
    facts,
    filled,
    fixed,
    follows,
    interval,
    line,
    named,
    percent_text,
    say,
    skill_percent,
    swatch,
    table,
    text_html,
    typeset,
    word,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Rows = Sequence[Mapping[str, Any]]


# The sections of words: what is at stake, the data, the method and what it rests on.

# shown once another range is chosen
_OWN = '<span class="own">For the range as reported: </span>'
_SOURCE_LIMIT = 100
_COSTS_LIMIT = 300


def first_screen(
    evaluation: Evaluation, models: Sequence[Model], said: Mapping[str, Sequence[str]], figure: str
) -> str:
    """The answer: what the range means, the advice and its cost, the curve beside the table, what is shown."""
    names = names_html(models)
    advice = "".join(f'<p class="{kind}">{text}</p>' for kind in ("advice", "cost") for text in said[kind])
    others = [finding for finding in evaluation.answer.findings if finding.severity != "error"]
    grave = [finding for finding in evaluation.answer.findings if finding.severity == "error"]
    errors = "".join(f'<p class="grave">{_OWN}{finding_html(finding, names)}</p>' for finding in grave)
    beneath = [text for key in ("unit", "shown", "not_shown", "calibration") for text in said[key]]
    beneath += [finding_html(finding, names) for finding in others]
    return (
        f'<p class="range">{follows("meaning", said["meaning"][0], "span")}</p>{follows("advice", advice)}{errors}'
        f'<div class="screen">{figure}<div>{answer_table(evaluation, models)}'
        f"{follows('beneath', bullets(beneath))}</div></div>"
    )


def data(evaluation: Evaluation, models: Sequence[Model], made: str, version: str) -> str:
    """Where the numbers come from."""
    pairs = [
        ("Source", text_html(evaluation.source, _SOURCE_LIMIT) if evaluation.source else "arrays in memory"),
        *_provenance(evaluation),
        ("Rows", count(evaluation.n_rows)),
        *([("Outcome", html.escape(evaluation.data_line))] if evaluation.data_line else []),
        ("Rows dropped as incomplete", count(evaluation.n_dropped)),
        ("Positives", _prevalence(evaluation)),
        ("Weights", _weights(evaluation)),
        ("Models", count(len(models))),
        ("Distinct scores", _distinct(evaluation)),
        ("Made", f"{made}, stakes {version}"),
    ]
    return facts(pairs) + _full_names(models)


def _provenance(evaluation: Evaluation) -> list[tuple[str, str]]:
    """What is known of the file: its digest, and the columns of labels and weights."""
    known = evaluation.provenance
    pairs = [("SHA-256", f"<code>{html.escape(known['sha256'])}</code>")] if known.get("sha256") else []
    for key, words in (("label", "Label"), ("weight", "Weight")):
        if known.get(key):
            pairs.append((f"{words} column", text_html(known[key], _SOURCE_LIMIT)))
    return pairs


def _prevalence(evaluation: Evaluation) -> str:
    given = " (stated, not counted)" if evaluation.score_tables[0].fixed_prevalence else ""
    what = "what is at stake" if evaluation.options.per_stake else "the weight"
    return f"{percent_text(evaluation.prevalence, 4)} of {what}{given}"


def _weights(evaluation: Evaluation) -> str:
    scores = evaluation.score_tables[0]
    if evaluation.options.per_stake:
        return "what is at stake in each row"
    if np.array_equal(scores.positives, scores.positives_squared) and np.array_equal(
        scores.negatives, scores.negatives_squared
    ):
        return "none: every row counts once"
    return f"weighted; total weight {count(scores.total)}"


def _distinct(evaluation: Evaluation) -> str:
    numbers = [len(scores.scores) for scores in evaluation.score_tables]
    low, high = count(min(numbers)), count(max(numbers))
    return low if low == high else f"{low} to {high} a model"


def _full_names(models: Sequence[Model]) -> str:
    long = [model for model in models if model.full != model.short]
    if not long:
        return ""
    items = "".join(
        f'<dt>{model.html}</dt><dd tabindex="0">{text_html(model.full, len(model.full))}</dd>' for model in long
    )
    return f'<details><summary>Names in full</summary><dl class="names">{items}</dl></details>'


def method(evaluation: Evaluation, content: Mapping[str, Any]) -> str:
    """How the numbers were made and what they do not say."""
    paragraph, *references = evaluation.methods().split("\n")
    return filled(
        "method.html",
        paragraph=html.escape(paragraph),
        cited="<br>".join(map(html.escape, references[2:])),
        scale=_scale_words(evaluation),
        rule=_rule_words(evaluation),
        costs=_costs_words(evaluation),
        level=level_name(evaluation.confidence_level),
        dependence=_dependence_words(evaluation),
        thinned=_thinned_words(content),
        intervals=_interval_words(evaluation),
        bands=_band_words(evaluation),
    )


def _dependence_words(evaluation: Evaluation) -> str:
    rows = evaluation.rows
    if rows is None or rows.origin is None or not rows.origin.outcome.estimated:
        return _rows_words(evaluation)
    return f"Weights were estimated from the rows, and they allow for it. {_rows_words(evaluation)}"


def _rows_words(evaluation: Evaluation) -> str:
    rows = evaluation.rows
    if evaluation.moments.clusters:
        return f"They take only the {count(evaluation.moments.clusters)} clusters as independent, not the rows in them."
    if rows is not None and rows.lags is not None:
        how = "slow cosines" if rows.lags == "auto" else f"the estimate of Newey and West, {rows.lags} lags"
        return f"They allow for rows in order of time that depend on each other ({how})."
    return (
        "They take the rows as independent: cases measured twice, days in a row or clusters such as centres make them "
        "too narrow."
    )


def _interval_words(evaluation: Evaluation) -> str:
    why = no_intervals(evaluation)
    if why:
        return f"They have no intervals, for {why}."
    chosen = (
        "Such a range is chosen after looking at the results: intervals of single models hold, claims over models do "
        "not, and the page makes none. "
    )
    if is_even(evaluation):
        return f"{chosen}The intervals follow from the table of the page, as those of the library do from all rows."
    return (
        f"{chosen}The intervals are approximate: they come from covariances of the losses over "
        f"{len(cut_points(evaluation.costs)) - 1} stretches of the axis, which are exact only where a range ends at "
        "their cut points and all thresholds count alike. Degrees of freedom and the allowance for few rows follow the "
        "table of the page, as far as rows or clusters of unlike weight let them."
    )


def _band_words(evaluation: Evaluation) -> str:
    why = no_bands(evaluation)
    if why:
        return f"are not drawn, for {why}."
    level = level_name(evaluation.confidence_level)
    return (
        f"in the figures of regret and net benefit are simultaneous {level} bands over the range as reported: of the "
        "model that is best now, or of those that the reader chooses."
    )


def _thinned_words(content: Mapping[str, Any]) -> str:
    bound = max(model["integralBound"] for model in content["models"])
    if bound == 0.0:
        return "every distinct score of every model, so that costs are exact but for rounding"
    share = max(model["shareBound"] for model in content["models"])
    return (
        f"neighbouring scores are pooled, so that the integral of regret over any range is within {at_most(bound)} of "
        f"that of all rows where thresholds count alike, and shares at one threshold within {at_most(share)}; the page "
        "states the bound for the range and weighting in use"
    )


def _scale_words(evaluation: Evaluation) -> str:
    words = {
        "regret": "The regret averaged over the plausible thresholds",
        "integral": "The integral of regret over the plausible thresholds",
        "loss": "The integral of regret times the customary factor, so that the whole range gives the Brier score or "
        "the log loss",
    }
    return typeset(visible(f"{words[evaluation.scale]}, {evaluation.answer.per}. {evaluation.answer.unit}"))


def _rule_words(evaluation: Evaluation) -> str:
    if evaluation.rule == "score":
        tie = evaluation.costs.tie
        reaches, tied = ("reaches", "") if tie == 1.0 else ("exceeds", f"; one at the threshold counts {counted(tie)}")
        return f"A case is acted on when its score {reaches} the threshold{tied}."
    if evaluation.rule == "optimal":
        return (
            "Decisions are the best that the ranking allows in hindsight (isotonic regression on these rows): "
            "in-sample, optimistic, and without intervals."
        )
    return f"A case is acted on when its score reaches {evaluation.rule:g}, whatever the cost ratio."


def _costs_words(evaluation: Evaluation) -> str:
    low, high = evaluation.costs.low, evaluation.costs.high
    words = text_html(repr(evaluation.costs), _COSTS_LIMIT)
    if low == high:
        return f"Only {percent_text(low)} (odds {odds(low)}): {words}."
    return f"Between {' and '.join(percents([low, high]))} (odds {odds(low)} to {odds(high)}): {words}."


# The sections that an evaluation has where they were asked for: deferral, and what more rows would be worth.

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 240, 64, 34


def deferral_section(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """What each model costs with the option to defer, and over its fee."""
    found = evaluation.deferral
    if found is None:
        return ""
    every = found.models.values()
    decimals = decimals_for([each.estimates["value"].standard_error for each in every], [each.cost for each in every])
    rows: list[list[Cell]] = []
    for model in models:
        each = found[model.name]
        worth = (
            f"{text.fixed(each.value, decimals)}<small>{interval(each.estimates['value'].interval, decimals)}</small>"
        )
        zone = "&ndash;" if each.zone is None else f"{percent_text(each.zone[0])} to {percent_text(each.zone[1])}"
        costs = text.fixed(each.cost, decimals), text.fixed(each.cost_without, decimals), worth
        rows.append([f"{model.rank}", model.html, *costs, percent_text(each.shares["deferred"]), zone])
    heads = ["#", "Model", "Cost with the option", "Cost without", "Worth", "Cases deferred", "Scores deferred"]
    fee = f"The fee is {number(found.deferral.fee)}, where a false positive and a false negative cost 1 together. "
    most = found.capacity
    limit = ""
    if most is not None:
        cases = (
            f"{percent_text(most)} of cases are" if most < 1 else f"{most:,} {'cases are' if most > 1 else 'case is'}"
        )
        limit = f"At most {cases} deferred. "
    words = f"<p>{fee}{limit}Models are compared on the whole cost, never on the cases that each decides.</p>"
    shown = table("Costs with and without the option to defer, as reported", heads, rows)
    return _said(found.conclusion) + words + shown + _over_fees(evaluation, models)


def information_section(evaluation: Evaluation) -> str:
    """What choosing now may lose, and what further rows save."""
    found = evaluation.information
    if found is None:
        return ""
    keys = {"saving": "Expected saving", "total_saving": "Over all decisions", "net_gain": "Less its price"}
    decisions = "decision" if found.per == 1.0 else f"{stated(found.per)} decisions"
    heads = ["", "Further rows", f"{keys['saving']} per {decisions}", keys["total_saving"], keys["net_gain"]]
    rows: list[list[Cell]] = [
        ["", f"{row['more_rows']:,}", *("&ndash;" if row[key] is None else typeset(number(row[key])) for key in keys)]
        for row in found.study_records()
    ]
    most = f"Perfect information would save {number(found.evpi)} per {decisions}; worked out by {found.method}."
    return _said(found.conclusion) + f"<p>{most}</p>" + table("What further rows would save", heads, rows)


def _said(sentences: Sequence[str]) -> str:
    return bullets(typeset(visible(sentence)) for sentence in sentences)


def _over_fees(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """A drawing of the cost over the fee; its numbers are in the JSON of the evaluation."""
    found = evaluation.deferral
    if found is None or found.fees[-1] <= 0.0:
        return ""
    top = 1.05 * max(float(np.max(found.over_fees[model.name])) for model in models) or 1.0
    bottom = _HEIGHT - _BOTTOM
    x = _LEFT + (_WIDTH - _LEFT - 10) * found.fees / found.fees[-1]
    lines = [line(x, 8.0 + (bottom - 8.0) * (1.0 - found.over_fees[model.name] / top), model) for model in models]
    at = _LEFT + (_WIDTH - _LEFT - 10) * min(found.deferral.fee / float(found.fees[-1]), 1.0)
    frame = f'<path d="M{_LEFT} 8V{bottom}H{_WIDTH - 10}" stroke="var(--line)" fill="none"/>'
    mark = f'<path d="M{at:.1f} 8V{bottom}" stroke="var(--muted)" stroke-dasharray="2 3" fill="none"/>'
    words = [
        word(_LEFT, bottom + 16, "0", "middle"),
        word(_WIDTH - 10, bottom + 16, f"{found.fees[-1]:.3g}", "end"),
        word(at, bottom + 30, f"fee {found.deferral.fee:.3g}", "start" if at < _WIDTH / 2 else "end"),
        word(_LEFT - 6, bottom, "0", "end"),
        word(_LEFT - 6, 16, number(top / 1.05), "end"),
    ]
    cases = "a case" if evaluation.per == 1.0 else f"{stated(evaluation.per)} cases"
    label = (
        f"Line chart of the cost of {cases} with the option to defer over its fee. The table has the numbers at the "
        "fee."
    )
    legend = " ".join(f'<span class="name">{model.sample}</span>' for model in models)
    return (
        f"<figure><figcaption>Cost of {cases} over the fee, from deferring for nothing to where no case is worth it. "
        f'{legend}</figcaption><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}" '
        f'style="max-width: 40rem; width: 100%">{frame}{mark}{"".join(lines)}{"".join(words)}</svg></figure>'
    )


# The ranking table: cost with its interval, the difference to the best, skill, and the two references.

_METRIC_LIMIT = 40
HTML = CellStyle(
    fixed,
    {
        "difference": partial(fixed, sign=True),
        "skill": lambda share, _: skill_percent(share),
        "end": lambda share, _: f"{fixed(100 * share, 1)}%",
        "p": lambda value, _: html.escape(p_value(value)).removeprefix("= "),
        "count": lambda value, _: count(value),
        "significant": lambda value, _: f"{value:.4g}",
        "probability": lambda share, _: percent(share, 2),
        **dict.fromkeys(("share", "acted", "savings"), lambda share, _: percent_text(share)),
    },
    missing="&ndash;",
    interval="{value}<small>{low} to {high}</small>",
    unknown="{value}<small>no interval</small>",
    p="<small>p {}</small>",
    ends={"skill": "end", "savings": "end"},
)
_ANSWERED: dict[str, Callable[[Any, int], str]] = {
    "yes": lambda value, _: "yes" if value else "no",
    "area": lambda value, places: "" if math.isnan(value) else fixed(value, places).removeprefix("0"),
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
    return [(text, value) if type(value) is float else text for text, value in zip(cells, values, strict=True)]


def answer_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Models from the best to the worst, then the references: cost, more than the first, may be best, AUC."""
    answer, by_name = evaluation.answer, {model.name: model for model in models}
    style = replace(HTML, decimals=answer.decimals, number=_cost, formats=_ANSWERED)
    # amounts of their own make no AUC
    keys = ("cost", "more", "may_be_best", *([] if evaluation.options.per_stake else ["auc"]))
    columns = [replace(each, kind="area") if each.key == "auc" else each for each in answer.table.view(keys)]
    rows: list[list[Cell]] = []
    for place, record in enumerate(answer.table.rows):
        shown = record | {"more": record["more"] if place else None}
        cells = _valued(shown, columns, style.rows([shown], columns)[0])
        name, model = record["model"], by_name.get(record["model"])
        if model is None:
            sample = f"{swatch('--reference', REFERENCE_DASHES[name])} {text_html(record['label'], NAME_LIMIT)}"
            rows.append(["", _head(f'<span data-reference="{name}">{sample}</span>'), *cells])
            continue
        like = evaluation[name].acts_like
        note = f'<small class="note">{_like(evaluation, like)}</small>' if like else ""
        head = _head(model.sample + note, model.rank - 1)
        rows.append([f'<span class="rank">{model.rank}</span>', head, *cells])
    level = f"{level_name(evaluation.confidence_level)} interval"
    heads = [f"{head}<br><small>{level}</small>" for head in ("Cost", "More than the first")]
    caption = f"Costs {answer.per}; intervals hold for all rows of a column at once"
    heads = ["#", "Model", *heads, "May be best", *(["AUC"] if "auc" in keys else [])]
    return table(caption, heads, rows, key="answer", follow="answer")


def _like(evaluation: Evaluation, reference: str) -> str:
    return html.escape(say("note_like", constant=label_of(evaluation, reference)))


def label_of(evaluation: Evaluation, reference: str) -> str:
    """What acting on everyone or on no one is called."""
    return next(row["label"] for row in evaluation.answer.table.rows if row["model"] == reference)


def _cost(value: float, decimals: int) -> str:
    """A cost, or that it is less than the decimals show."""
    least = 10.0**-decimals
    return say("below", least=fixed(least, decimals)) if 0.0 < abs(value) < least / 2.0 else fixed(value, decimals)


def _head(name: str, model: int | None = None) -> str:
    place = "" if model is None else f' data-model="{model}"'
    return f'<th scope="row"{place}>{name}</th>'


def further_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Numbers beside those of the answer, each with an interval of its own, and the metrics that were asked for."""
    tables, asked = evaluation.tables(), list(evaluation.results[0].metrics)
    rows = [more | row for more, row in zip(tables["ranking"].rows, tables["details"].rows, strict=False)]
    columns = tables["details"].view(("cost", "auc", "skill", "share_acted_on"))
    for name in asked:
        columns += tables["ranking"].view([name], decimals=decimals_for([], [row[name] for row in rows]))
    heads = ["#", "Model", "Cost", "AUC", "Skill", "Acts on", *(text_html(name, _METRIC_LIMIT) for name in asked)]
    style = replace(HTML, decimals=evaluation.answer.decimals)
    return table("Further numbers of each model", heads, model_rows(rows, columns, models, style))


# The section of groups: for whom a model holds.

_HEADS = {"n_rows": "Rows", "prevalence": "Positive", "score": "Cost"}
_PROMISED = {"more_than_promised": "More than its scores promise", "more_than_promised_p_adjusted": "p (Holm)"}
_SKILL = {"skill": "Skill", "skill_difference": "Skill less that of the others"}
_OF_PROBABILITIES = {"corrected_miscalibration": "Miscalibration, corrected", "auc": "AUC"}
_COSTS = ("more_than_promised", "corrected_miscalibration")
_ENDS = (f"{cost}_ci_{end}" for cost in _COSTS for end in ("low", "high"))
_IN_UNIT = ("score", "ci_low", "ci_high", "standard_error", *_COSTS, *_ENDS)
_COMPARED = ("skill", "what the model's own scores promise there")


def groups_tables(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """One table for each column that divides the rows, over the range as reported."""
    by_name, found = {model.name: model for model in models}, evaluation.tables()["groups"]
    records = [row | {key: evaluation.answer.factor * row[key] for key in _IN_UNIT} for row in found.rows]
    amounts, per = bool(evaluation.options.per_stake), evaluation.options.money_words
    # where decisions do not follow the scores, these promise nothing
    own = _PROMISED if evaluation.rule == "score" and not amounts else _SKILL
    shown = _HEADS | own | ({"cost": f"Cost {per}", "gain": f"Gain {per}"} if amounts else _OF_PROBABILITIES)
    columns, parts = found.view(shown), []
    for column in dict.fromkeys(row["column"] for row in records):
        mine = [row for row in records if row["column"] == column]
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
        parts.append(table(f"Every model in every group of {name}", heads, rows, kind="groups"))
    return f"<p>{_groups_words(evaluation, _COMPARED[own is _PROMISED])}</p>" + "".join(parts)


def _groups_words(evaluation: Evaluation, by: str) -> str:
    """What the tables of groups show, and what to compare these by."""
    words = f"Over the range as reported; costs {html.escape(evaluation.answer.per)}. "
    words += "The cost depends on how many positives a group has"
    if evaluation.rule == "optimal":
        return (
            f"{words}; the thresholds are fitted to all rows, so that of a group it alone is "
            f"known.{_stake_words(evaluation)}"
        )
    level = level_name(evaluation.confidence_level)
    return (
        f"{words}: compare groups by {by}.{_stake_words(evaluation)} Intervals are pointwise {level} intervals; "
        "p-values are adjusted for several comparisons (Holm)."
    )


def _group_cells(row: Mapping[str, Any], columns: Sequence[TableColumn], decimals: int) -> list[str]:
    """Money has the decimals that its own error asks for."""
    if row.get("cost") is not None:
        own = decimals_for([row["money_error"]], [row["cost"]])
        columns = [replace(each, decimals=own) if each.kind == "money" else each for each in columns]
    return [replace(HTML, decimals=decimals).cell(row, column) for column in columns]


def _stake_words(evaluation: Evaluation) -> str:
    if not evaluation.options.per_stake:
        return ""
    words = f"cost and gain {evaluation.options.money_words} are with amounts as stated, in money"
    return f" Positive is their share of what is at stake; {words}."


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
    ends = percents([evaluation.costs.low, evaluation.costs.high])
    where = f"scored at {ends[0]}" if ends[0] == ends[1] else f"scored {ends[0]} to {ends[1]}"
    found = evaluation.tables([model.name for model in models])["calibration"]
    lines = model_rows(found.rows, found.view(_NUMBERS), models, HTML)
    for record, cells in zip(found.rows, lines, strict=True):
        words = "all cases" if record["cases"] == "all" else where
        cells[1] = f'{cells[1]}<small class="note">{words}</small>'
        rows, ups = record["n_rows"], record["n_positives"]
        known = HTML.missing if rows is None else count(rows)
        known += "" if ups is None else f"<small>{count(ups)} positive</small>"
        cells.insert(2, "0" if record["slope"] is None else known)
    heads = [f"{head}<br><small>{meaning}</small>" for head, meaning in _NUMBERS.values()]
    shown = table(f"Calibration over all cases, and of those {where}", ["#", "Model", "Cases", *heads], lines)
    level = level_name(evaluation.confidence_level)
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
    found, by = evaluation.tables()["ranking"], evaluation.answer.factor
    results = [row | {key: by * row[key] for key in _TERMS} for row in found.rows[: len(models)]]
    columns = found.view((*_TERMS, "skill"), decimals=None)
    style = replace(HTML, decimals=evaluation.answer.decimals)
    rows = model_rows(results, columns, models, style, values=True)
    heads = ["#", "Model", cost_of_terms(evaluation).capitalize(), "MCB", "DSC", "UNC", "Skill"]
    missing = [
        model.html
        for model, row in zip(models, results, strict=True)
        if not all(math.isfinite(row[key]) for key in _TERMS)
    ]
    note = f"<p>Not drawn, because a term is infinite or undefined: {', '.join(missing)}.</p>" if missing else ""
    low, high = percents([evaluation.costs.low, evaluation.costs.high])
    over = say("over_one" if low == high else "over", low=low, high=high)
    caption = say("decomposition", per=evaluation.answer.per, over=over)
    shown = table(caption, heads, rows, follow="decomposition")
    return shown + follows("missing", note)


# The section of findings: what to know before acting on the result, and what to do about it.


def findings_list(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Every finding with its severity, code and remedy, or that there are none."""
    if len(evaluation.findings) == 0:
        made = sum(check.of_amounts or not evaluation.options.per_stake for check in FINDINGS.values())
        return f"<p>None of the {made} checks found anything.</p>"
    return finding_items(evaluation.findings, names_html(models))


def names_html(models: Sequence[Model]) -> dict[str, str]:
    """How the sentences of findings write the names of models."""
    return {model.name: f"<b>{model.html}</b>" for model in models}


def finding_html(finding: Finding, names: dict[str, str]) -> str:
    """What was found, after how grave it is."""
    return f"{_severity(finding)} {_sentence(finding, names)}"


def _severity(finding: Finding) -> str:
    return f'<span class="severity {finding.severity}">{finding.severity}</span>'


def _sentence(finding: Finding, names: dict[str, str]) -> str:
    # the template is escaped before the names, which are ready HTML, take their places in it
    groups = (f"<b>{text_html(group, NAME_LIMIT)}</b>" for group in finding.groups)
    return typeset(finding.template).format(*(names[model] for model in finding.models), *groups)


def finding_items(findings: Iterable[Finding], names: dict[str, str]) -> str:
    """A list of findings, with the names of models as ready HTML."""
    return f'<ul class="checks">{"".join(_item(finding, names) for finding in findings)}</ul>'


def _item(finding: Finding, names: dict[str, str]) -> str:
    return (
        f"<li>{_severity(finding)} <code>{finding.code}</code>"
        f'<p>{_sentence(finding, names)}</p><p class="remedy">{html.escape(finding.remedy)}</p></li>'
    )
