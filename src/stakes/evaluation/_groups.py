"""For whom a model holds: the same numbers in every subgroup, and whether a subgroup differs from the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import EvaluationData
from stakes.core.validation import BinarySample, is_missing, to_array
from stakes.inference import Moments, PairedRows, decomposition_interval, holm
from stakes.inference._group_gap import gap_moments
from stakes.inference._influence import Cells, Influence, cells_of, loss_influence, skill_influence
from stakes.inference._influence_moments import influence_moments
from stakes.metrics._rank import area_under_roc
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.core.options import Options

    Bools = NDArray[np.bool_]

_NO_INTERVAL = (math.nan, math.nan)
_NEEDED = 20  # of each class, for a miscalibration that is not mostly noise
_MOST_GROUPS = 1000


@dataclass(frozen=True)
class GroupResult:
    """One model in one subgroup, on the scale of the evaluation.

    Parameters
    ----------
    column, group : str
        What divides the rows, and the part.
    model : str
        The model.
    n_rows, n_positives : int
        Rows of the group, and positive ones.
    prevalence : float
        Weighted share of positives.
    score, standard_error : float
        Expected cost in the group. It depends on the prevalence: compare groups by skill.
    interval : tuple of float
        Of the score.
    skill : float
        Share of the cost of the group's own prevalence forecast that the model saves; nan for one class.
    skill_interval : tuple of float
        Of the skill; nan where ``note`` says why.
    auc : float
        Area under the ROC curve in the group.
    miscalibration : float
        Corrected for the optimism of recalibrating on the same rows; nan with fewer than 20 rows of a class, where a
        loss may be infinite, and for weight on single cost ratios.
    miscalibration_interval : tuple of float
        Its interval.
    difference, p_value, p_adjusted : float
        Score less that of all other rows, and its p-value, as it is and after Holm over the groups.
    skill_difference, skill_p_value, skill_p_adjusted : float
        The same for skill: negative means that the group is served worse.
    note : str
        On how few rows of which class the score rests, and how many would do; empty where there are enough.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true, a = [0, 1, 0, 1] * 20, [0.1, 0.8, 0.3, 0.6] * 20
    >>> result = evaluate(y_true, {"a": a}, groups=["young"] * 40 + ["old"] * 40)
    >>> [(row.group, row.n_rows, row.n_positives) for row in result.groups]
    [('old', 40, 20), ('young', 40, 20)]
    """

    column: str
    group: str
    model: str
    n_rows: int
    n_positives: int
    prevalence: float
    score: float
    standard_error: float
    interval: tuple[float, float]
    skill: float
    skill_interval: tuple[float, float]
    auc: float
    miscalibration: float
    miscalibration_interval: tuple[float, float]
    difference: float
    p_value: float
    p_adjusted: float
    skill_difference: float
    skill_p_value: float
    skill_p_adjusted: float
    note: str


class Groups(tuple[GroupResult, ...], Tabular):  # noqa: SLOT001  (a mix-in without slots)
    """Every model in every subgroup.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true, a = [0, 1, 0, 1] * 20, [0.1, 0.8, 0.3, 0.6] * 20
    >>> evaluate(y_true, {"a": a}, groups=["young"] * 40 + ["old"] * 40).groups.of("a")[0].prevalence
    0.5
    """

    def of(self, model: str) -> tuple[GroupResult, ...]:
        """Return the results of one model.

        Parameters
        ----------
        model : str
            Its name.

        Returns
        -------
        tuple of GroupResult

        Examples
        --------
        >>> from stakes import evaluate
        >>> result = evaluate([0, 1] * 40, {"a": [0.1, 0.8] * 40}, groups=["x"] * 40 + ["y"] * 40)
        >>> len(result.groups.of("a"))
        2
        """
        return tuple(row for row in self if row.model == model)

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for row in self:
            record: dict[str, Any] = {}
            for name, value in vars(row).items():
                if isinstance(value, tuple):
                    stem = "ci" if name == "interval" else name.replace("interval", "ci")
                    record[f"{stem}_low"], record[f"{stem}_high"] = value
                else:
                    record[name] = value
            records.append(record)
        return records


def check_groups(options: Options, n_rows: int) -> dict[str, NDArray[Any]]:
    """Labels of the groups of each row that counts, by what divides them; or raise."""
    groups, weight = options.groups, options.sample_weight
    if groups is None:
        return {}
    columns = groups if isinstance(groups, Mapping) else {"group": groups}
    if not columns:
        raise ValueError("groups must name at least one column, got none.")
    present = None if weight is None else to_array(weight, "sample_weight") > 0.0
    return {str(name): _labels(values, str(name), n_rows, present) for name, values in columns.items()}


def _labels(values: Any, name: str, n_rows: int, present: Bools | None) -> NDArray[Any]:
    found = to_array(values, "groups")
    given = n_rows if present is None else len(present)
    if found.shape != (given,):
        raise ValueError(f"groups must have one value for each of the {given} rows, got shape {found.shape} ({name}).")
    found = found if present is None else found[present]
    missing = np.array([is_missing(value) for value in found.tolist()])
    if missing.any():
        raise ValueError(f"groups must name the group of every row, got a missing one in row {int(missing.argmax())}.")
    labels = found.astype(str)
    count = len(np.unique(labels))
    if count > _MOST_GROUPS:
        raise ValueError(
            f"groups must name at most {_MOST_GROUPS:,} groups, got {count:,} ({name}): bin numbers first."
        )
    return labels


def evaluate_groups(
    models: Sequence[str], rows: PairedRows, groups: Mapping[str, NDArray[Any]], options: Options
) -> Groups:
    """Every model in every group, and against all other rows."""
    results: list[GroupResult] = []
    for column, labels in groups.items():
        parts = {str(name): labels == name for name in np.unique(labels)}
        for index, model in enumerate(models):
            mine = replace(rows, scores=[rows.scores[index]])
            found = [_measure(mine, chosen, options) for chosen in parts.values()]
            gaps = [_gaps(mine, chosen, options) if len(parts) > 1 else None for chosen in parts.values()]
            results += _results(column, model, list(parts), found, gaps, level=options.confidence_level)
    return Groups(results)


@dataclass(frozen=True)
class _Measured:
    n_rows: int
    n_positives: int
    prevalence: float
    score: Moments
    skill: Moments
    auc: float
    miscalibration: tuple[float, tuple[float, float]]


def _influences(rows: PairedRows, options: Options) -> tuple[Cells, Influence, Influence]:
    """Influence of each row on the score, on the scale asked for, and on the skill."""
    cells = cells_of(EvaluationData(_sample(rows), None), fixed_prevalence=False)
    score = loss_influence(cells, options.costs, options.plain_rule).scaled(options.factor)
    return cells, score, skill_influence(cells, options.costs, options.plain_rule, None)


def _sample(rows: PairedRows) -> BinarySample:
    return BinarySample(rows.y, rows.scores[0], rows.weight)


def _measure(rows: PairedRows, chosen: Bools, options: Options) -> _Measured:
    mine = rows.taken(chosen)
    cells, score, skill = _influences(mine, options)
    ups = int(np.count_nonzero(mine.y))
    area = area_under_roc(cells.table) if 0 < ups < len(mine.y) else math.nan
    return _Measured(
        len(mine.y),
        ups,
        cells.prevalence,
        influence_moments(cells, score, mine.clusters, mine.lags),
        influence_moments(cells, skill, mine.clusters, mine.lags),
        area,
        _miscalibration(_sample(mine), options),
    )


def _gaps(rows: PairedRows, chosen: Bools, options: Options) -> tuple[Moments, Moments]:
    """Score and skill of a group less those of all other rows."""
    cells, *own = _influences(rows.taken(chosen), options)
    others, *rest = _influences(rows.taken(~chosen), options)
    score, skill = (
        gap_moments((cells, mine), (others, theirs), chosen, rows.clusters, rows.lags)
        for mine, theirs in zip(own, rest, strict=True)
    )
    return score, skill


def _miscalibration(sample: BinarySample, options: Options) -> tuple[float, tuple[float, float]]:
    costs = options.costs
    finite = math.isfinite(float(costs.positive_loss(0.0)) + float(costs.negative_loss(1.0)))
    ups = int(np.count_nonzero(sample.y))
    single = len(costs.atoms[0]) > 0
    if single or not finite or options.plain_rule != "score" or min(ups, len(sample.y) - ups) < _NEEDED:
        return math.nan, _NO_INTERVAL
    terms = decomposition_interval(
        sample.y,
        sample.score,
        costs=costs,
        scale="integral",
        sample_weight=sample.weight,
        confidence_level=options.confidence_level,
        random_state=0,
    ).miscalibration
    low, high = terms.interval
    return options.factor * terms.value, (options.factor * low, options.factor * high)


def _results(
    column: str,
    model: str,
    names: list[str],
    found: list[_Measured],
    gaps: list[tuple[Moments, Moments] | None],
    *,
    level: float,
) -> list[GroupResult]:
    p_values = [[gap[k].p_value() if gap else math.nan for gap in gaps] for k in (0, 1)]
    # two groups are each other's rest: one test, not two
    adjusted = [p if len(names) == 2 else holm(p).tolist() for p in p_values]
    results = []
    for k, (name, mine, gap) in enumerate(zip(names, found, gaps, strict=True)):
        (low, high), bounds = mine.score.interval(level), mine.skill.interval(level)
        results.append(
            GroupResult(
                column=column,
                group=name,
                model=model,
                n_rows=mine.n_rows,
                n_positives=mine.n_positives,
                prevalence=mine.prevalence,
                score=mine.score.value,
                standard_error=mine.score.standard_error,
                interval=(max(low, 0.0) if mine.score.value >= 0.0 else low, high),
                skill=mine.skill.value,
                skill_interval=(bounds[0], min(bounds[1], 1.0) if math.isfinite(bounds[1]) else bounds[1]),
                auc=mine.auc,
                miscalibration=mine.miscalibration[0],
                miscalibration_interval=mine.miscalibration[1],
                difference=gap[0].value if gap else math.nan,
                p_value=p_values[0][k],
                p_adjusted=adjusted[0][k],
                skill_difference=gap[1].value if gap else math.nan,
                skill_p_value=p_values[1][k],
                skill_p_adjusted=adjusted[1][k],
                note=mine.score.note or mine.skill.note,
            )
        )
    return results
