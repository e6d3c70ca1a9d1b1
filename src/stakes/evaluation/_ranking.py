"""The ranking as a table: which rows and columns, in which order, and what each cell says; faces only render it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from stakes.shown.sentences import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stakes.evaluation._standings import ModelResult, Standings

    Record = dict[str, Any]

PAPER = {"model": "Model", "score": "Expected cost", "p_best": "P(best)", "vs_best": "More than the best"}
PAPER |= {"vs_treat_all": "Against treat all", "vs_treat_none": "Against treat none", "skill": "Skill", "auc": "AUC"}
_VERSUS = {"best": "vs best", "treat_all": "vs treat all", "treat_none": "vs treat none"}
INTERVAL = "{value} ({low} to {high})"


def ranking_records(standings: Standings) -> list[Record]:
    """One record for each model from the lowest cost to the highest, then for treating all and treating none.

    The intervals of the costs hold for all rows at once, so that having picked the best does not make one false.
    """
    ranked = [standings[name] for name in (*standings.ranking, *REFERENCES)]
    return [_record(standings, rank, result) for rank, result in enumerate(ranked, start=1)]


def _record(standings: Standings, rank: int, result: ModelResult) -> Record:
    parts, found = result.decomposition, standings.selection
    low, high = result.interval if found is None else found.intervals[result.name]
    terms = ("skill", "miscalibration", "discrimination", "uncertainty")
    return {
        "model": result.name,
        "kind": "reference" if parts is None else "model",
        "rank": None if parts is None else rank,
        "score": result.score,
        "standard_error": result.standard_error,
        "ci_low": low,
        "ci_high": high,
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

    The intervals of a column hold for all models at once, and its p-values are adjusted for their number.
    """
    found: Record = {}
    for label, other in zip(_VERSUS, (standings.ranking[0], *REFERENCES), strict=True):
        versus = None if other == name else standings.adjusted_difference(name, other)
        found[f"vs_{label}"] = versus.difference if versus else 0.0
        found[f"vs_{label}_ci_low"], found[f"vs_{label}_ci_high"] = versus.interval if versus else (0.0, 0.0)
        found[f"vs_{label}_p_value"] = versus.p_value if versus else math.nan
    return found


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
    """Every cell as text, numbers as ``show`` writes them; a difference from itself stays empty."""
    return [
        [
            "" if record["rank"] is None else str(record["rank"]),
            record["model"],
            with_interval(record["score"], (record["ci_low"], record["ci_high"]), show, interval=interval),
            *(_versus(record, label, show, interval) for label in _VERSUS),
            show(record["skill"]),
            show(record["auc"]),
        ]
        for record in records
    ]


def _versus(record: Record, label: str, show: Callable[[float], str], interval: str) -> str:
    ends = record[f"vs_{label}_ci_low"], record[f"vs_{label}_ci_high"]
    if math.isnan(record[f"vs_{label}_p_value"]) and ends == (0.0, 0.0):
        return ""
    return with_interval(record[f"vs_{label}"], ends, show, interval=interval)


def with_interval(
    value: float, ends: tuple[float, float], show: Callable[[float], str], *, interval: str = INTERVAL
) -> str:
    """A number with the ends of its interval, where it has one."""
    if any(map(math.isnan, ends)):
        return show(value)
    return interval.format(value=show(value), low=show(ends[0]), high=show(ends[1]))
