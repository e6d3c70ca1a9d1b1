"""The tables of an evaluation: the ranking, calibration, money and further metrics, from its records."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from stakes.evaluation._calibration import area_of
from stakes.evaluation._standings import TERMS, Record, Standings, interval_ends
from stakes.outputs.result_table import PaperTable, ResultTable, TableColumn
from stakes.outputs.text import percents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from stakes.inference import Band, Estimate, Money


# The ranking as a table: which rows and columns, in which order, and what each cell says; faces only render it.

PAPER = {"model": "Model", "score": "Expected cost", "vs_best": "More than the first"}
PAPER |= {"may_be_best": "May be best", "skill": "Skill", "auc": "AUC"}
_WITHIN = ("share_in_range", "mean_score_in_range", "positives_in_range")


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
    *(TableColumn("decomposed", "cost"), TableColumn("miscalibration", "MCB")),
    *(
        TableColumn("discrimination", "DSC"),
        TableColumn("uncertainty", "UNC"),
        TableColumn("skill", "skill", "skill", 3),
    ),
    *(TableColumn(key, key.replace("_", " "), "share") for key in _WITHIN),
)
_MONEY = (
    *(TableColumn("held", "held", "word"), TableColumn("acted", "acts on", "share")),
    *(TableColumn(key, key, "number", 2, f"{key}_ci") for key in ("cost", "gain")),
    TableColumn("savings", "savings", "savings", 3, "savings_ci"),
)


def ranking_table(standings: Standings, models: Collection[str], records: Sequence[Record]) -> ResultTable:
    """Every number of these models and the references, also what costs are made of and the further metrics."""
    columns = (TableColumn(name, name, "metric") for name in standings.results[0].metrics)
    rows = partial(_ranking_rows, standings, models, scale_factors(standings), records)
    return ResultTable("Models by expected cost", (*_MODEL, *_RANKING, *columns), rows)


def _ranking_rows(
    standings: Standings, models: Collection[str], scales: dict[str, float], records: Sequence[Record]
) -> list[Record]:
    """The ranking with what further tables show; None for what a row is not compared with, or does not have."""
    rows = []
    for record in records:
        result = standings[record["model"]]
        parts = result.decomposition
        if result.name in models or parts is None:
            more: Record = {"vs_best": None} if result.name == standings.ranking[0] else {}
            more |= {scale: factor * result.score for scale, factor in scales.items()}
            more |= {"skill": None} if parts is None else {"decomposed": parts.score}
            rows.append(record | more | dict(zip(_WITHIN, result.in_range, strict=True)))
    return rows


_DETAILS = (
    *(TableColumn("cost", "cost", interval="cost_ci"), TableColumn("auc", "AUC", "number", 3, "auc_ci")),
    TableColumn("skill", "skill", "skill", 3),
    *(TableColumn("miscalibration", "MCB"), TableColumn("discrimination", "DSC")),
    TableColumn("share_acted_on", "acts on", "acted"),
)


def details_table(standings: Standings, models: Collection[str], factor: float) -> ResultTable:
    """What the answer rests on, costs and their terms in its unit, every interval of one number alone."""
    amounts = bool(standings.options.per_stake)
    columns = [column for column in _DETAILS if not (amounts and column.key == "auc")]

    def rows() -> list[Record]:
        found = []
        for rank, name in enumerate(standings.ranking, start=1):
            result, parts = standings[name], standings[name].decomposition
            if name not in models or parts is None:
                continue
            record: Record = {"rank": rank, "model": name, "cost": factor * result.score}
            record |= interval_ends("cost_ci", (factor * result.interval[0], factor * result.interval[1]))
            if not amounts:
                record |= {"auc": result.auc} | interval_ends("auc_ci", area_of(standings, name).interval)
            record |= {"skill": parts.skill, "share_acted_on": result.share_acted_on}
            found.append(record | {term: factor * getattr(parts, term) for term in TERMS})
        return found

    return ResultTable("What the answer rests on", (*_MODEL, *columns), rows)


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


# The table of a paper: a row for each model, its AUC, and its net benefit at a few thresholds.

_SHOWN = {"net_benefit": "Net benefit", "regret": "Regret"}


@dataclass(frozen=True, eq=False, repr=False)
class ClinicalTable(PaperTable):
    """AUC and net benefit, or regret, of each model at a few thresholds, each cell with its interval.

    Made by :meth:`Evaluation.clinical_table`.

    Parameters
    ----------
    bands : dict of str to Band
        By model, then "treat all": its curve at the thresholds, with an interval at each.
    areas : dict of str to Estimate
        AUC of each model.
    notes : tuple of str
        What stands below the table.

    Examples
    --------
    >>> from stakes import evaluate
    >>> found = evaluate([0, 1, 0, 1] * 25, {"a": [0.1, 0.8, 0.3, 0.6] * 25, "b": [0.4, 0.6, 0.5, 0.4] * 25})
    >>> print(found.clinical_table([0.1, 0.45]).to_markdown().splitlines()[2])
    | a | 1.000 (0.960 to 1.000) | 0.444 (0.336 to 0.553) | 0.500 (0.400 to 0.597) |
    """

    bands: dict[str, Band]
    areas: dict[str, Estimate]
    notes: tuple[str, ...]

    def _records(self) -> list[Record]:
        return [self._record(name, band) for name, band in self.bands.items()]

    def _record(self, name: str, band: Band) -> Record:
        area = self.areas.get(name)
        record: Record = {"model": name, "auc": math.nan if area is None else area.value}
        record |= interval_ends("auc_ci", (math.nan, math.nan) if area is None else area.interval)
        for t, value, low, high in zip(band.thresholds.tolist(), band.estimate, band.low, band.high, strict=True):
            key = f"{band.kind}_at_{t:g}"
            record |= {key: float(value)} | interval_ends(f"{key}_ci", (float(low), float(high)))
        return record

    def _heads(self) -> dict[str, str]:
        band = next(iter(self.bands.values()))
        points = band.thresholds.tolist()
        names = zip(points, percents(points), strict=True)
        shown = {f"{band.kind}_at_{t:g}": f"{_SHOWN[band.kind]} at {name}" for t, name in names}
        return {"model": "Model", "auc": "AUC"} | shown

    def _footnotes(self) -> tuple[str, ...]:
        return self.notes

    def __repr__(self) -> str:
        band = next(iter(self.bands.values()))
        return f"ClinicalTable({len(self.areas)} models at {len(band.thresholds)} thresholds)"
