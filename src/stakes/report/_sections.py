"""Sections of words."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.outputs.text import count, decimals_for, fixed, number, odds, visible
from stakes.report._any_range import cut_points, no_bands, no_intervals
from stakes.report._page import (
    at_most,
    bullets,
    facts,
    filled,
    follows,
    interval,
    line,
    percent_text,
    table,
    text_html,
    typeset,
    word,
)
from stakes.report._tables import answer_table, finding_html, names_html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stakes.evaluation import Evaluation
    from stakes.report._page import Cell, Model


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
        level=f"{evaluation.confidence_level * 100:g}%",
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
    return (
        "Such a range is chosen after looking at the results: intervals of single models hold, claims over models do "
        "not, and the page makes none. The intervals are approximate: they come from covariances of the losses over "
        f"{len(cut_points(evaluation.costs)) - 1} stretches of the axis, which are exact only where a range ends at "
        "their cut points and all thresholds count alike. The degrees of freedom are those over the range as reported."
    )


def _band_words(evaluation: Evaluation) -> str:
    why = no_bands(evaluation)
    if why:
        return f"are not drawn, for {why}."
    level = f"{evaluation.confidence_level * 100:g}%"
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
        return "A case is acted on when its score reaches the threshold."
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
    return f"Between {percent_text(low)} and {percent_text(high)} (odds {odds(low)} to {odds(high)}): {words}."


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
    for model in (each for each in models if each.name in found.models):
        each = found[model.name]
        worth = f"{fixed(each.value, decimals)}<small>{interval(each.estimates['value'].interval, decimals)}</small>"
        zone = "&ndash;" if each.zone is None else f"{percent_text(each.zone[0])} to {percent_text(each.zone[1])}"
        costs = fixed(each.cost, decimals), fixed(each.cost_without, decimals), worth
        rows.append([f"{model.rank}", model.html, *costs, percent_text(each.shares["deferred"]), zone])
    heads = ["#", "Model", "Cost with the option", "Cost without", "Worth", "Cases deferred", "Scores deferred"]
    fee = f"The fee is {number(found.deferral.fee)}, where a false positive and a false negative cost 1 together. "
    most = found.capacity
    limit = ""
    if most is not None:
        limit = f"At most {most:,} cases" if most >= 1 else f"At most {percent_text(most)} of cases"
        limit += " are deferred. "
    words = f"<p>{fee}{limit}Models are compared on the whole cost, never on the cases that each decides.</p>"
    shown = table("Costs with and without the option to defer, as reported", heads, rows)
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
    return bullets(typeset(visible(sentence)) for sentence in sentences)


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
