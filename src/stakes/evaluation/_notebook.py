"""An evaluation in a notebook: the ranking, the conclusion and the findings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from stakes._html import LONGEST_NAME, MOST_ROWS, listed, plain, short, table
from stakes._results import cell_text

if TYPE_CHECKING:
    from stakes.evaluation._evaluation import Evaluation

_LONGEST_SENTENCE = 2_000
_VERSUS = {"best": "vs best", "treat_all": "vs treat all", "treat_none": "vs treat none"}


def evaluation_html(evaluation: Evaluation) -> str:
    """Return what a notebook shows in the place of an evaluation."""
    records = evaluation._records()
    rows = [_row(record) for record in [*records[: len(evaluation.models)][: MOST_ROWS - 2], *records[-2:]]]
    header = ["", "model", evaluation.scale, *_VERSUS.values(), "skill", "AUC"]
    parts = [table(header, rows, _caption(evaluation))]
    parts.append(listed(_sentence(evaluation, sentence) for sentence in evaluation.conclusion))
    findings = [
        f"<b>{plain(finding.severity)} {plain(finding.code)}</b>: {plain(finding.told(short), _LONGEST_SENTENCE)}"
        for finding in evaluation.findings
    ]
    if findings:
        parts.append(f"<p>Findings (the remedies are in <code>.findings</code>):</p>{listed(findings)}")
    if evaluation.groups:
        parts.append("<p>Subgroups: <code>.groups</code>.</p>")
    return "".join(parts)


def _caption(evaluation: Evaluation) -> str:
    shown = min(len(evaluation.models), MOST_ROWS - 2)
    models = "1 model" if len(evaluation.models) == 1 else f"{len(evaluation.models):,} models"
    best = "" if shown == len(evaluation.models) else f", the best {shown} shown"
    return (
        f"{evaluation.n_rows:,} rows, {100.0 * evaluation.prevalence:.3g}% positive; {models}{best}; "
        f"{evaluation.costs!r}; {100.0 * evaluation.confidence_level:.6g}% intervals"
    )


def _row(record: dict[str, Any]) -> list[str]:
    number = "" if record["rank"] is None else str(record["rank"])
    cells = [_with_interval(record["score"], record["ci_low"], record["ci_high"])]
    for key in _VERSUS:
        ends = record[f"vs_{key}_low"], record[f"vs_{key}_high"]
        itself = math.isnan(record[f"vs_{key}_p_value"]) and ends == (0.0, 0.0)
        cells.append("" if itself else _with_interval(record[f"vs_{key}"], *ends))
    return [number, short(record["model"]), *cells, cell_text(record["skill"]), cell_text(record["auc"])]


def _with_interval(value: float, low: float, high: float) -> str:
    text = cell_text(value)
    return text if math.isnan(low) or math.isnan(high) else f"{text} ({cell_text(low)} to {cell_text(high)})"


def _sentence(evaluation: Evaluation, sentence: str) -> str:
    for model in sorted(evaluation.models, key=len, reverse=True):
        if len(model) > LONGEST_NAME:
            sentence = sentence.replace(model, short(model))
    return plain(sentence, _LONGEST_SENTENCE)
