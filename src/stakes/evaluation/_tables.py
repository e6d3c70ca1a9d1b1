"""Neutral tables."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from stakes.outputs.result_table import (
    MOST_ROWS,
    CellStyle,
    ResultTable,
    TableColumn,
    cell_text,
    listed,
    plain,
    table,
)
from stakes.outputs.text import REFERENCES, shorten, with_short_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from stakes.evaluation._finding import Findings
    from stakes.evaluation._standings import ModelResult, Standings
    from stakes.inference import Money

    Record = dict[str, Any]


# The ranking as a table: which rows and columns, in which order, and what each cell says; faces only render it.

PAPER = {"model": "Model", "score": "Expected cost", "p_best": "P(best)", "vs_best": "More than the best"}
PAPER |= {"vs_treat_all": "Against treat all", "vs_treat_none": "Against treat none", "skill": "Skill", "auc": "AUC"}
_VERSUS = {"best": "vs best", "treat_all": "vs treat all", "treat_none": "vs treat none"}
_WITHIN = ("share_in_range", "mean_score_in_range", "positives_in_range")


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


_MODEL = (TableColumn("rank", "#", "rank"), TableColumn("model", "model", "text"))
_RANKING = (
    *(TableColumn("skill", "skill", "skill", 3), TableColumn("auc", "AUC", "number", 3)),
    *(TableColumn("p_best", "is best", "probability"), TableColumn("share_acted_on", "acts on", "acted")),
    *(TableColumn("miscalibration", "MCB"), TableColumn("discrimination", "DSC")),
    *(TableColumn("uncertainty", "UNC"), TableColumn("decomposed", "cost")),
    *(TableColumn(key, key.replace("_", " "), "share") for key in _WITHIN),
    *(
        TableColumn(f"vs_{key}", head, "difference", None, f"vs_{key}_simultaneous", f"vs_{key}_p_value")
        for key, head in _VERSUS.items()
    ),
)
_MONEY = (
    *(TableColumn("held", "held", "word"), TableColumn("acted", "acts on", "share")),
    *(TableColumn(key, key, "number", 2, f"{key}_ci") for key in ("cost", "gain")),
    TableColumn("savings", "savings", "savings", 3, "savings_ci"),
)


def ranking_table(standings: Standings, models: Collection[str], records: Sequence[Record]) -> ResultTable:
    """Every number of these models and the references, also what costs are made of and the further metrics."""
    scales, metrics = scale_factors(standings), standings.results[0].metrics
    columns = (
        TableColumn("score", standings.scale, interval="simultaneous"),
        *(TableColumn(name, name) for name in scales),
        *(TableColumn(name, name, "metric") for name in metrics),
    )
    rows = partial(_ranking_rows, standings, models, scales, records)
    return ResultTable("Models by expected cost", (*_MODEL, *_RANKING, *columns), rows)


def _ranking_rows(
    standings: Standings, models: Collection[str], scales: dict[str, float], records: Sequence[Record]
) -> list[Record]:
    """The ranking with what further tables show; None for what a row is not compared with, or does not have."""
    others, rows = dict(zip(_VERSUS, (standings.ranking[0], *REFERENCES), strict=True)), []
    for record in records:
        result = standings[record["model"]]
        parts = result.decomposition
        if result.name in models or parts is None:
            more: Record = {f"vs_{label}": None for label, other in others.items() if other == result.name}
            more |= {scale: factor * result.score for scale, factor in scales.items()}
            more |= {"skill": None} if parts is None else {"decomposed": parts.score}
            rows.append(record | more | dict(zip(_WITHIN, result.in_range, strict=True)))
    return rows


def money_table(
    standings: Standings, models: Collection[str], by_scale: Mapping[str, Mapping[str, Money]]
) -> ResultTable:
    """What each model costs and saves in money; over the cost ratios, by whose amounts are held as stated."""

    def rows() -> list[Record]:
        ranked = [(rank, name) for rank, name in enumerate(standings.ranking, start=1) if name in models]
        scales = by_scale.items()
        return [{"rank": k, "model": n, "held": scale, **of[n].record()} for k, n in ranked for scale, of in scales]

    return ResultTable("Cost, gain and savings in money", (*_MODEL, *_MONEY), rows)


def scale_factors(standings: Standings) -> dict[str, float]:
    """Factors from the evaluation's scale to every scale; nan where one is not defined."""
    costs = standings.costs
    if standings.options.per_stake:
        return {standings.scale: 1.0}
    factors = {
        "regret": standings.unit_cost * standings.per / costs.mass if 0.0 < costs.mass < math.inf else math.nan,
        "integral": 1.0,
        "loss": math.nan if costs.loss_factor is None else costs.loss_factor,
    }
    return {name: factor / standings.factor for name, factor in factors.items()}


# An evaluation in a notebook: the ranking, the conclusion and the findings.

_LONGEST_SENTENCE = 2_000
_NOTEBOOK = CellStyle(lambda value, _: cell_text(value), {"text": lambda text, _: shorten(text)})


def evaluation_html(standings: Standings, ranking: ResultTable, conclusion: Iterable[str], findings: Findings) -> str:
    """Return what a notebook shows in the place of an evaluation."""
    shown = [*ranking.rows[: len(standings.models)][: MOST_ROWS - 2], *ranking.rows[-2:]]
    columns = ranking.view(["rank", "model", "score", *(f"vs_{label}" for label in _VERSUS), "skill", "auc"])
    header = ["", *(column.head for column in columns[1:])]
    parts = [table(header, _NOTEBOOK.rows(shown, columns), _caption(standings))]
    short = (with_short_names(sentence, standings.models) for sentence in conclusion)
    parts.append(listed(plain(sentence, _LONGEST_SENTENCE) for sentence in short))
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
