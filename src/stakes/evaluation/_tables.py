"""Neutral tables."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from stakes.outputs.result_table import MOST_ROWS, cell_text, listed, plain, table
from stakes.outputs.text import LONGEST_NAME, REFERENCES, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stakes.evaluation._finding import Findings
    from stakes.evaluation._standings import ModelResult, Standings

    Record = dict[str, Any]


# The ranking as a table: which rows and columns, in which order, and what each cell says; faces only render it.

PAPER = {"model": "Model", "score": "Expected cost", "p_best": "P(best)", "vs_best": "More than the best"}
PAPER |= {"vs_treat_all": "Against treat all", "vs_treat_none": "Against treat none", "skill": "Skill", "auc": "AUC"}
_VERSUS = {"best": "vs best", "treat_all": "vs treat all", "treat_none": "vs treat none"}
INTERVAL = "{value} ({low} to {high})"


def ranking_records(standings: Standings) -> list[Record]:
    """One record for each model from the lowest cost to the highest, then for treating all and treating none.

    ``ci_low`` and ``ci_high`` are pointwise, of the one number alone, as ``.interval`` of a result is. Intervals from
    ``simultaneous_low`` to ``simultaneous_high`` hold for the whole column, so that having picked the best does not
    make one false.
    """
    ranked = [standings[name] for name in (*standings.ranking, *REFERENCES)]
    return [_record(standings, rank, result) for rank, result in enumerate(ranked, start=1)]


def _record(standings: Standings, rank: int, result: ModelResult) -> Record:
    parts, found = result.decomposition, standings.selection
    unknown = math.nan, math.nan
    terms = ("skill", "miscalibration", "discrimination", "uncertainty")
    return {
        "model": result.name,
        "kind": "reference" if parts is None else "model",
        "rank": None if parts is None else rank,
        "score": result.score,
        "standard_error": result.standard_error,
        **_ends("ci", result.interval),
        **_ends("simultaneous", unknown if found is None else found.intervals[result.name]),
        "may_be_best": None if found is None else result.name in found.possible,
        "p_best": math.nan if found is None else found.p_best[result.name],
        **{term: math.nan if parts is None else getattr(parts, term) for term in terms},
        "auc": result.auc,
        "share_acted_on": result.share_acted_on,
        **_differences(standings, result.name),
        "acts_like": result.acts_like,
        **{name: result.metrics.get(name, math.nan) for name in standings.results[0].metrics},
    }


def _differences(standings: Standings, name: str) -> Record:
    """What the row costs more than the best model, treating all and treating none; nothing more than itself.

    The simultaneous intervals of a column hold for all models at once, and adjusted p-values for as many comparisons.
    """
    found: Record = {}
    for label, other in zip(_VERSUS, (standings.ranking[0], *REFERENCES), strict=True):
        alone = None if other == name else standings.difference(name, other)
        together = None if other == name else standings.adjusted_difference(name, other)
        found[f"vs_{label}"] = alone.difference if alone else 0.0
        found |= _ends(f"vs_{label}_ci", alone.interval if alone else (0.0, 0.0))
        found |= _ends(f"vs_{label}_simultaneous", together.interval if together else (0.0, 0.0))
        found[f"vs_{label}_p_value"] = alone.p_value if alone else math.nan
        found[f"vs_{label}_p_adjusted"] = together.p_value if together else math.nan
    return found


def _ends(stem: str, interval: tuple[float, float]) -> Record:
    return {f"{stem}_low": interval[0], f"{stem}_high": interval[1]}


def flat_metrics(records: Iterable[Record]) -> dict[str, float]:
    """Every number of the ranking by "model/column", in names that trackers of experiments take."""
    found: dict[str, float] = {}
    for record in records:
        name = re.sub(r"[^\w.\- :]|^\.+", "_", record["model"])
        if f"{name}/score" in found:
            raise ValueError(f"models must differ in letters, digits or one of '_-. :', got a second {name!r}.")
        numbers = ((column, value) for column, value in record.items() if isinstance(value, (int, float)))
        found |= {f"{name}/{column}": float(value) for column, value in numbers}
    return found


def ranking_header(scale: str) -> list[str]:
    """Heads of the columns of :func:`ranking_cells`."""
    return ["#", "model", scale, *_VERSUS.values(), "skill", "AUC"]


def ranking_cells(
    records: Iterable[Record], show: Callable[[float], str], *, interval: str = INTERVAL
) -> list[list[str]]:
    """Every cell as text, with simultaneous intervals, numbers as ``show`` writes them; no difference from itself."""
    return [
        [
            "" if record["rank"] is None else str(record["rank"]),
            record["model"],
            with_interval(record["score"], _simultaneous(record, ""), show, interval=interval),
            *(_versus(record, label, show, interval) for label in _VERSUS),
            show(record["skill"]),
            show(record["auc"]),
        ]
        for record in records
    ]


def _versus(record: Record, label: str, show: Callable[[float], str], interval: str) -> str:
    ends = _simultaneous(record, f"vs_{label}_")
    if math.isnan(record[f"vs_{label}_p_value"]) and ends == (0.0, 0.0):
        return ""
    return with_interval(record[f"vs_{label}"], ends, show, interval=interval)


def _simultaneous(record: Record, stem: str) -> tuple[float, float]:
    return record[f"{stem}simultaneous_low"], record[f"{stem}simultaneous_high"]


def with_interval(
    value: float, ends: tuple[float, float], show: Callable[[float], str], *, interval: str = INTERVAL
) -> str:
    """A number with the ends of its interval, where it has one."""
    if any(map(math.isnan, ends)):
        return show(value)
    return interval.format(value=show(value), low=show(ends[0]), high=show(ends[1]))


# An evaluation in a notebook: the ranking, the conclusion and the findings.

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
