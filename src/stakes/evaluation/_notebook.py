"""An evaluation in a notebook: the ranking, the conclusion and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.evaluation._ranking import ranking_cells, ranking_header
from stakes.shown.html import MOST_ROWS, listed, plain, table
from stakes.shown.tabular import cell_text
from stakes.shown.text import LONGEST_NAME, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stakes.evaluation._finding import Findings
    from stakes.evaluation._standings import Standings

_LONGEST_SENTENCE = 2_000


def evaluation_html(
    standings: Standings, records: list[dict[str, Any]], conclusion: Iterable[str], findings: Findings
) -> str:
    """Return what a notebook shows in the place of an evaluation."""
    count = len(standings.models)
    shown = [*records[:count][: MOST_ROWS - 2], *records[-2:]]
    rows = [[number, shorten(model), *cells] for number, model, *cells in ranking_cells(shown, cell_text)]
    parts = [table(["", *ranking_header(standings.scale)[1:]], rows, _caption(standings))]
    parts.append(listed(_sentence(standings, sentence) for sentence in conclusion))
    said = [
        f"<b>{plain(finding.severity)} {plain(finding.code)}</b>: {plain(finding.told(shorten), _LONGEST_SENTENCE)}"
        for finding in findings
    ]
    if said:
        parts.append(f"<p>Findings (the remedies are in <code>.findings</code>):</p>{listed(said)}")
    if standings.groups:
        parts.append("<p>Subgroups: <code>.groups</code>.</p>")
    return "".join(parts)


def _caption(standings: Standings) -> str:
    shown = min(len(standings.models), MOST_ROWS - 2)
    models = "1 model" if len(standings.models) == 1 else f"{len(standings.models):,} models"
    positive = "of the stake on positives" if standings.options.per_stake else "positive"
    best = "" if shown == len(standings.models) else f", the best {shown} shown"
    return (
        f"{standings.n_rows:,} rows, {100.0 * standings.prevalence:.3g}% {positive}; {models}{best}; "
        f"{standings.costs!r}; simultaneous {100.0 * standings.confidence_level:.6g}% intervals"
    )


def _sentence(standings: Standings, sentence: str) -> str:
    for model in sorted(standings.models, key=len, reverse=True):
        if len(model) > LONGEST_NAME:
            sentence = sentence.replace(model, shorten(model))
    return plain(sentence, _LONGEST_SENTENCE)
