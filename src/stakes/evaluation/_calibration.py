"""Calibration of every model: over all cases, and over those scored within the plausible thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from stakes import inference
from stakes.base.validation import check_choice, generator
from stakes.core.options import EvaluationData
from stakes.core.score_table import in_narrow_cells
from stakes.evaluation._groups import decomposed_among, decomposed_in
from stakes.outputs.result_table import ResultTable, TableColumn, Tabular
from stakes.variance.influence import WeightedCells, cells_of, hides_rows, promise_moments

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from stakes.evaluation._standings import Standings
    from stakes.variance.dependence import Design

NUMBERS = ("o_e_ratio", "calibration_in_the_large", "slope", "joint_intercept", "ici", "e50", "e90", "emax")
PAPER = {"model": "Model", "cases": "Cases", "n_rows": "n", "n_positives": "Events", "o_e_ratio": "O:E"}
PAPER |= {"calibration_in_the_large": "In the large", "slope": "Slope", "ici": "ICI"}
_COLUMNS = (
    *(TableColumn("rank", "#", "rank"), TableColumn("model", "model", "text")),
    *(TableColumn("cases", "cases", "text"), TableColumn("n_rows", "rows", "count")),
    *(
        TableColumn(key, head, "number", decimals, f"{key}_ci")
        for key, head, decimals in (
            *(("o_e_ratio", "O:E", 2), ("calibration_in_the_large", "in the large", 2), ("slope", "slope", 2)),
            *(("ici", "ICI", 4), ("e90", "E90", 4)),
        )
    ),
)
_FITTED = "no interval: the scores of rows that depend on each other are not kept where decisions are fitted to them"
_IN_ENGINE = "no interval: it needs the rows of each cluster: collect the columns into memory first"


@dataclass(frozen=True)
class ModelCalibration:
    """Calibration of one model, worked out when it is first asked for.

    Parameters
    ----------
    model : str
        Its name.
    summarise : callable
        Makes the summary of the cases scored between two ends, or None where there are none.
    ends : tuple of float
        The lowest and the highest plausible threshold.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true, a = [0, 1, 0, 1, 1, 0] * 20, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5] * 20
    >>> found = evaluate(y_true, {"a": a}, costs=(0.2, 0.6)).calibration.of("a")
    >>> found.overall.n_rows, found.in_range.n_rows
    (120, 80)
    """

    model: str
    summarise: Callable[[float, float], inference.CalibrationSummary | None] = field(repr=False, compare=False)
    ends: tuple[float, float]

    @cached_property
    def overall(self) -> inference.CalibrationSummary:
        """Of all cases."""
        return cast("inference.CalibrationSummary", self.summarise(0.0, 1.0))

    @cached_property
    def in_range(self) -> inference.CalibrationSummary | None:
        """Of the cases scored within the plausible thresholds: only their decision depends on these."""
        return self.summarise(*self.ends)

    def parts(self) -> dict[str, inference.CalibrationSummary | None]:
        """Return the two summaries by the cases they are of.

        Examples
        --------
        >>> from stakes import evaluate
        >>> list(evaluate([0, 1] * 20, [0.1, 0.8] * 20).calibration[0].parts())
        ['all', 'in range']
        """
        return {"all": self.overall, "in range": self.in_range}


class Calibrations(tuple[ModelCalibration, ...], Tabular):  # noqa: SLOT001  (a mix-in without slots)
    """Calibration of every model, in the order of the ranking.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true, a = [0, 1, 0, 1, 1, 0] * 20, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5] * 20
    >>> round(evaluate(y_true, {"a": a}).calibration.of("a").overall.slope, 2)
    2.53
    """

    _paper: ClassVar[Mapping[str, str]] = PAPER

    def of(self, model: str) -> ModelCalibration:
        """Return the calibration of one model.

        Parameters
        ----------
        model : str
            Its name.

        Returns
        -------
        ModelCalibration

        Raises
        ------
        ValueError
            For an unknown model.

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1] * 20, {"a": [0.1, 0.8] * 20}).calibration.of("a").overall.o_e_ratio.__round__(3)
        1.111
        """
        check_choice(model, "model", tuple(row.model for row in self))
        return next(row for row in self if row.model == model)

    def table(self, models: Collection[str]) -> ResultTable:
        """Two rows for each of these models: all cases, and those within the range (None where there are none)."""

        def rows() -> list[dict[str, Any]]:
            mine = [(rank, row) for rank, row in enumerate(self, start=1) if row.model in models]
            found = [(rank, row.model, *part) for rank, row in mine for part in row.parts().items()]
            return [
                {"rank": rank} | _record(model, cases, part) | (dict.fromkeys(NUMBERS) if part is None else {})
                for rank, model, cases, part in found
            ]

        return ResultTable("Calibration over all cases, and of those within the range", _COLUMNS, rows)

    def _records(self) -> list[dict[str, Any]]:
        return [_record(row.model, cases, found) for row in self for cases, found in row.parts().items()]


def _record(model: str, cases: str, found: inference.CalibrationSummary | None) -> dict[str, Any]:
    record: dict[str, Any] = {"model": model, "cases": cases, "n_rows": 0, "n_positives": 0}
    for name in ("observed", "expected", *NUMBERS, "ece"):
        record[name] = math.nan if found is None else getattr(found, name)
        if name in NUMBERS:
            ends = (math.nan, math.nan) if found is None else found.interval(name)
            record[f"{name}_ci_low"], record[f"{name}_ci_high"] = ends
    if found is not None:
        record |= {"n_rows": found.n_rows, "n_positives": found.n_positives}
    record["note"] = "no score in the range" if found is None else found.note
    return record


def calibrate(standings: Standings) -> Calibrations:
    """Calibration of every model of an evaluation, by the closed forms and the smoother of ``calibration_summary``."""
    ends = standings.costs.low, standings.costs.high
    return Calibrations(ModelCalibration(name, partial(_summary, standings, name), ends) for name in standings.ranking)


def area_of(standings: Standings, model: str, level: float | None = None) -> inference.Estimate:
    """Area under the ROC curve of the scores, with its interval."""
    each = [_area(one, model) for one in standings.imputations or (standings,)]
    area = inference.pooled(each, standings.units, log_odds=True)
    level = level or standings.confidence_level
    found = inference.Estimate("roc_auc_score", area.value, area.standard_error, area.interval(level), level, area.note)
    return _without_lost(standings, found)


def _area(standings: Standings, model: str) -> inference.Area:
    data, codes, lags = cast("tuple[EvaluationData, Any, Any]", _rows(standings, model, 0.0, 1.0, exact=True))
    if data.sample is None:
        return inference.table_area(data.table)
    return inference.area_estimate(
        cells_of(data, fixed_prevalence=standings.score_tables[0].fixed_prevalence), (codes, lags)
    )


def _lost(standings: Standings) -> str:
    """Why only the table has the scores of rows that depend on each other; empty where the rows have them too."""
    if standings.clusters_unseen:
        return _IN_ENGINE
    rows = standings.rows
    fitted = standings.rule == "optimal" and rows is not None and rows.origin is None and rows.dependent
    return _FITTED if fitted else ""


def _summary(standings: Standings, model: str, *ends: float) -> inference.CalibrationSummary | None:
    if standings.imputations:
        each = [_summary(one, model, *ends) for one in standings.imputations]
        found = [one for one in each if one is not None]
        return inference.pooled_calibration(found, standings.units) if len(found) == len(each) else None
    taken = _rows(standings, model, *ends)
    if taken is None:
        return None
    fixed = ends == (0.0, 1.0) and standings.score_tables[0].fixed_prevalence
    summary, _ = inference.calibration_of(
        *_cells(*taken, fixed=fixed), level=standings.confidence_level, rng=generator(0)
    )
    counts = {} if taken[0].sample is not None else _counts(standings, model, *ends)
    return replace(summary, estimates=tuple(_without_lost(standings, each) for each in summary.estimates), **counts)


def _counts(standings: Standings, model: str, low: float, high: float) -> dict[str, Any]:
    """Rows and positives between two ends as far as they are known, where a table hides them."""
    table = standings.score_table(model)
    if not hides_rows(table):
        return {}
    if table.scores[0] < low or table.scores[-1] > high:
        return {"n_rows": None, "n_positives": None}
    return {"n_rows": standings.n_rows, "n_positives": standings._positives}


def _without_lost(standings: Standings, found: inference.Estimate) -> inference.Estimate:
    """The estimate, without its interval where only the table has the scores of rows that depend on each other."""
    lost = _lost(standings)
    return replace(found, standard_error=math.nan, interval=(math.nan, math.nan), note=lost) if lost else found


def decomposition_of(standings: Standings, model: str) -> inference.DecompositionInterval | None:
    """Decomposition of a model's cost over all rows for the population, or None without intervals."""
    place = standings.models.index(model)
    if place not in standings.decompositions:
        standings.decompositions[place] = _decomposition(standings, place)
    return standings.decompositions[place]


def _decomposition(standings: Standings, place: int) -> inference.DecompositionInterval | None:
    rows, options, table = standings.rows, standings.options, standings.score_tables[place]
    dependent = standings.moments.clusters or (rows is not None and rows.dependent)
    if standings.imputations or options.per_stake or dependent or options.rule != "score":
        return None
    same = table.positives is table.positives_squared and table.negatives is table.negatives_squared  # counts of rows
    equal = same or np.array_equal(table.positives + table.negatives, table.positives_squared + table.negatives_squared)
    few = in_narrow_cells(table)
    if rows is None or (equal and few is not table):
        return decomposed_in(few, int(table.total_positives) if equal else 0, options)
    mine = replace(rows, scores=[rows.scores[place]], every_score=rows.every_score[place : place + 1])
    return decomposed_among(mine, options)


def promise_of(standings: Standings, model: str) -> inference.Moments:
    """What a model costs more than its own scores promise over all rows, on the scale of the evaluation."""
    if standings.rule != "score" or standings.options.per_stake or standings.clusters_unseen:
        return inference.Moments(math.nan, math.nan)
    if standings.imputations:
        return inference.pooled([promise_of(one, model) for one in standings.imputations], standings.units)
    cells, codes, lags = all_cells(standings, model, exact=len(standings.costs.atoms[0]) > 0)
    return promise_moments(cells, standings.costs, codes, lags).scaled(standings.factor)


def event_ratio(standings: Standings, model: str, level: float) -> inference.Estimate:
    """Observed to expected events of all cases."""
    if standings.imputations:
        return inference.pooled_estimate(
            [event_ratio(one, model, level) for one in standings.imputations], standings.units, log=True
        )
    cells, codes, lags = all_cells(standings, model)
    return _without_lost(standings, inference.observed_to_expected(cells, cells.design(codes, lags), level))


def all_cells(standings: Standings, model: str, *, exact: bool = False) -> tuple[WeightedCells, Any, Any]:
    """Cells of all rows, their clusters and lags; of very many scores narrow cells, unless exact."""
    data, codes, lags = cast("tuple[EvaluationData, Any, Any]", _rows(standings, model, 0.0, 1.0, exact=exact))
    return cells_of(data, fixed_prevalence=standings.score_tables[0].fixed_prevalence), codes, lags


def _cells(data: EvaluationData, codes: Any, lags: Any, *, fixed: bool) -> tuple[WeightedCells, Design]:
    cells = cells_of(data, fixed_prevalence=fixed)
    return cells, cells.design(codes, lags)


def _rows(
    standings: Standings, model: str, low: float, high: float, *, exact: bool = False
) -> tuple[EvaluationData, Any, Any] | None:
    """Rows, clusters and lags; the table where it says as much, or the rows were recalibrated or are not known."""
    rows, place = standings.rows, standings.models.index(model)
    if rows is not None and rows.origin is not None and standings.rule == "optimal":  # it keeps the scores themselves
        rows = replace(rows, scores=[score[rows.origin.places] for score in rows.every_score])
    elif rows is None or (rows.weight is None and not rows.dependent) or standings.rule == "optimal":
        table = standings.score_tables[place]
        first, last = int(np.searchsorted(table.scores, low)), int(np.searchsorted(table.scores, high, side="right"))
        if first == last:
            return None
        part = table if (first, last) == (0, len(table.scores)) else table.within(low, high)
        return EvaluationData(None, part if exact else in_narrow_cells(part, like=table)), None, None
    rows = rows.taken((rows.scores[place] >= low) & (rows.scores[place] <= high))
    if not len(rows.y):
        return None
    sample = rows.sample(place)
    if sample.origin is not None:
        inside = (sample.origin.score >= low) & (sample.origin.score <= high)
        sample = replace(sample, origin=replace(sample.origin, among=inside))
    return EvaluationData(sample, None), rows.clusters, rows.lags
