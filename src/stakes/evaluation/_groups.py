"""For whom a model holds: the same numbers in every subgroup, and whether a subgroup differs from the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stakes.core.inputs import EvaluationData
from stakes.core.score_table import ScoreTable
from stakes.evaluation._money import money_by_model
from stakes.inference import Moments, PairedRows, area_estimate, decomposition_interval, holm
from stakes.inference._group_gap import gap_moments
from stakes.inference._group_sums import UNKNOWN, GroupedRows, group_moments, group_moments_of_tables
from stakes.inference._influence import Cells, Influence, cells_of, loss_influence, skill_influence
from stakes.inference._influence_moments import influence_moments
from stakes.outcomes import TimeToEvent
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from stakes.core.options import Options
    from stakes.core.validation import BinarySample
    from stakes.evaluation._group_labels import Grouping
    from stakes.inference import Money

    Integers = NDArray[np.intp]
    Pair = tuple[Moments, Moments]  # score and skill

PAPER = {"column": "By", "group": "Group", "model": "Model", "n_rows": "n", "n_positives": "Events"}
PAPER |= {"score": "Expected cost", "skill": "Skill", "auc": "AUC", "skill_p_adjusted": "p (skill)"}
_NO_INTERVAL = (math.nan, math.nan)
_NEEDED = 20  # of each class, for a miscalibration that is not mostly noise; or followed, to estimate censoring from


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
        Rows of the group whose class is known, and positive ones.
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
        Area under the ROC curve in the group; nan for one class.
    auc_interval : tuple of float
        Of the area; nan with fewer than three rows of a class.
    difference, p_value, p_adjusted : float
        Score less that of all other rows, and its p-value, as it is and after Holm over the groups.
    skill_difference, skill_p_value, skill_p_adjusted : float
        The same for skill: negative means that the group is served worse.
    note : str
        On how few rows of which class the score rests, and how many would do; empty where there are enough.
    judge : callable
        Gives the corrected miscalibration and its interval, which are worked out when one of them is first asked for.
    count : callable
        Gives the table of the group's scores, which :class:`KeptEvaluation` keeps.
    charge : callable, optional
        Gives ``money`` in the same way.

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
    auc_interval: tuple[float, float]
    difference: float
    p_value: float
    p_adjusted: float
    skill_difference: float
    skill_p_value: float
    skill_p_adjusted: float
    note: str
    judge: Callable[[], tuple[float, tuple[float, float]]] = field(repr=False, compare=False)
    count: Callable[[], ScoreTable] = field(repr=False, compare=False)
    charge: Callable[[], Money | None] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def money(self) -> Money | None:
        """What acting on the model costs and saves per row of the group, as stated; None without amounts by row."""
        return None if self.charge is None else self.charge()

    @property
    def corrected_miscalibration(self) -> float:
        """Cross-fitted: corrected for the optimism of recalibrating on the same rows; 0 where that leaves less.

        It is nan with fewer than 20 rows of a class, where a loss may be infinite, and for weight on single ratios.
        """
        return self._judged[0]

    @property
    def corrected_miscalibration_interval(self) -> tuple[float, float]:
        """Interval of the cross-fitted miscalibration."""
        return self._judged[1]

    @cached_property
    def _judged(self) -> tuple[float, tuple[float, float]]:
        return self.judge()


class Groups(tuple[GroupResult, ...], Tabular):  # noqa: SLOT001  (a mix-in without slots)
    """Every model in every subgroup.

    ``within`` names the columns in whose groups censored follow-up was weighed group by group.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true, a = [0, 1, 0, 1] * 20, [0.1, 0.8, 0.3, 0.6] * 20
    >>> evaluate(y_true, {"a": a}, groups=["young"] * 40 + ["old"] * 40).groups.of("a")[0].prevalence
    0.5
    """

    within: tuple[str, ...] = ()
    _paper: ClassVar[Mapping[str, str]] = PAPER

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
        names = [part.name for part in fields(GroupResult) if part.name not in {"judge", "count", "charge"}]
        at = names.index("difference")
        names[at:at] = ["corrected_miscalibration", "corrected_miscalibration_interval"]
        records = []
        for row in self:
            record: dict[str, Any] = {}
            for name in names:
                value = getattr(row, name)
                if isinstance(value, tuple):
                    stem = "ci" if name == "interval" else name.replace("interval", "ci")
                    record[f"{stem}_low"], record[f"{stem}_high"] = value
                else:
                    record[name] = value
            if row.money is not None:
                record |= {"cost": row.money.cost.value, "gain": row.money.gain.value, "unit": row.money.unit}
            records.append(record)
        return records


def evaluate_groups(
    models: Sequence[str], rows: PairedRows, groups: Mapping[str, Grouping], options: Options
) -> Groups:
    """Every model in every group, and against all other rows."""
    results: list[GroupResult] = []
    within = {column: mine for column, each in groups.items() if (mine := _followed_within(rows, each))}
    together = rows
    for column, grouping in groups.items():
        rows = within.get(column, together)
        grouped = GroupedRows.of(rows, grouping.codes, len(grouping.names))
        for index, (model, score) in enumerate(zip(models, rows.scores, strict=True)):
            mine = replace(rows, scores=[score], every_score=rows.every_score[index : index + 1])
            if not rows.dependent:
                own, gaps = group_moments(grouped, score, options.costs, options.plain_rule)
            else:
                own, gaps = _dependent(mine, grouping, options)
            found = []
            for name, part, moments, gap in zip(grouping.names, grouped.parts, own, gaps, strict=True):
                places = grouped.order[part]
                about: dict[str, Any] = {"column": column, "group": name, "model": model}
                later = partial(_miscalibration, mine, places, options)
                taken = mine.taken(places)
                sample = _sample(taken)
                about |= {"n_rows": len(sample.y), "n_positives": int(np.count_nonzero(sample.y)), "judge": later}
                about["count"] = partial(_table, mine, places)
                data = EvaluationData(sample, None)
                if options.per_stake:  # amounts, not scores, order these rows
                    about |= {"auc": math.nan, "auc_interval": _NO_INTERVAL}
                    about["charge"] = partial(_money, mine, places, model, options)
                else:
                    about |= _area(data, options, taken.clusters, taken.lags)
                found.append(_result(data, moments, gap, options, about))
            results += _adjusted(found)
    whole = Groups(results)
    whole.within = tuple(within)
    return whole


def _followed_within(rows: PairedRows, grouping: Grouping) -> PairedRows | None:
    """The rows weighed by censoring within each group; None where a group has few that were followed for so long."""
    origin = rows.origin
    outcome = None if origin is None else origin.outcome
    if origin is None or not (isinstance(outcome, TimeToEvent) and outcome.pooled and outcome.estimated):
        return None
    codes = grouping.of_all_rows()
    if codes is None:
        return None
    there = outcome.present
    followed = there & (outcome.follow_up.time >= outcome.horizon)
    if np.bincount(codes[followed], minlength=codes.max() + 1)[np.unique(codes[there])].min() < _NEEDED:
        return None
    own = outcome.within(codes)
    return replace(rows, weight=own.weight[origin.places], origin=replace(origin, outcome=own))


def groups_of_tables(
    column: str, names: Sequence[str], model: str, tables: Sequence[tuple[ScoreTable, int]], options: Options
) -> list[GroupResult]:
    """One model in every group of a column, by the groups' tables and their numbers of positive rows."""
    own, gaps = group_moments_of_tables(tables, options.costs, options.plain_rule)
    found = []
    for name, (table, ups), moments, gap in zip(names, tables, own, gaps, strict=True):
        about: dict[str, Any] = {"column": column, "group": name, "model": model}
        equal = np.array_equal(table.positives + table.negatives, table.positives_squared + table.negatives_squared)
        later = partial(_miscalibration_of, table, ups if equal else 0, options)
        about |= {"n_rows": table.n_rows, "n_positives": ups, "judge": later, "count": partial(replace, table)}
        data = EvaluationData(None, table)
        found.append(_result(data, moments, gap, options, about | _area(data, options)))
    return _adjusted(found)


def _dependent(rows: PairedRows, grouping: Grouping, options: Options) -> tuple[list[Pair], list[Pair]]:
    """Score and skill of rows in clusters or in order, in each group and against all other rows."""
    own, gaps = [], []
    for g in range(len(grouping.names)):
        chosen = grouping.codes == g
        inside = _influences(rows.taken(chosen), options)
        clusters = rows.taken(chosen).clusters
        own.append(_pair(influence_moments(*part, clusters, rows.lags) for part in inside))
        if len(grouping.names) == 1:
            gaps.append((UNKNOWN, UNKNOWN))
            continue
        outside = _influences(rows.taken(~chosen), options)
        gaps.append(
            _pair(gap_moments(*parts, chosen, rows.clusters, rows.lags) for parts in zip(inside, outside, strict=True))
        )
    return own, gaps


def _influences(rows: PairedRows, options: Options) -> list[tuple[Cells, Influence]]:
    """Influence of each row on the score and on the skill."""
    cells = cells_of(EvaluationData(_sample(rows), None), fixed_prevalence=False)
    score = loss_influence(cells, options.costs, options.plain_rule)
    return [(cells, score), (cells, skill_influence(cells, options.costs, options.plain_rule, None))]


def _sample(rows: PairedRows) -> BinarySample:
    return rows.sample(0)


def _table(rows: PairedRows, places: Integers) -> ScoreTable:
    """Table of some of the rows."""
    return ScoreTable.from_sample(_sample(rows.taken(places)))


def _area(data: EvaluationData, options: Options, clusters: Any = None, lags: Any = None) -> dict[str, Any]:
    """Area under the ROC curve of a group, with its interval."""
    area = area_estimate(cells_of(data, fixed_prevalence=False), (clusters, lags))
    return {"auc": area.value, "auc_interval": area.interval(options.confidence_level)}


def _result(data: EvaluationData, own: Pair, gap: Pair, options: Options, about: dict[str, Any]) -> GroupResult:
    harm = float(options.harms([about["model"]])[0])  # the same in every group
    score = own[0].shifted(harm).scaled(options.factor)
    difference, skill = gap[0].scaled(options.factor), own[1]
    interval, skill_interval = (part.interval(options.confidence_level) for part in (score, skill))
    p_value, skill_p_value = difference.p_value(), gap[1].p_value()
    return GroupResult(
        prevalence=data.prevalence,
        score=score.value,
        standard_error=score.standard_error,
        interval=interval,
        skill=skill.value,
        skill_interval=skill_interval,
        difference=difference.value,
        p_value=p_value,
        p_adjusted=p_value,
        skill_difference=gap[1].value,
        skill_p_value=skill_p_value,
        skill_p_adjusted=skill_p_value,
        note=score.note or skill.note,
        **about,
    )


def _adjusted(results: list[GroupResult]) -> list[GroupResult]:
    """Results of one model with p-values adjusted over the groups; two groups are each other's rest: one test."""
    if len(results) == 2:
        return results
    both = (holm([row.p_value for row in results]), holm([row.skill_p_value for row in results]))
    return [
        replace(row, p_adjusted=float(score), skill_p_adjusted=float(skill))
        for row, score, skill in zip(results, *both, strict=True)
    ]


def _miscalibration(rows: PairedRows, places: Integers, options: Options) -> tuple[float, tuple[float, float]]:
    """Miscalibration of some of the rows with its interval, or nan where it has none."""
    sample = _sample(rows.taken(places))
    return _miscalibration_of(sample, int(np.count_nonzero(sample.y)), options)


def _miscalibration_of(sample: Any, ups: int, options: Options) -> tuple[float, tuple[float, float]]:
    """The same for rows, or the table of rows of equal weight, of which so many are positive."""
    costs, count = options.costs, sample.n_rows if isinstance(sample, ScoreTable) else len(sample.y)
    finite = math.isfinite(float(costs.positive_loss(0.0)) + float(costs.negative_loss(1.0)))
    single = len(costs.atoms[0]) > 0
    if single or not finite or options.plain_rule != "score" or min(ups, count - ups) < _NEEDED:
        return math.nan, _NO_INTERVAL
    terms = decomposition_interval(
        sample,
        costs=costs,
        scale="integral",
        confidence_level=options.confidence_level,
        random_state=0,
    ).miscalibration
    low, high = terms.interval
    # a miscalibration is not negative, and its interval has no negative value; its unbiased estimate may be
    return options.factor * max(terms.value, 0.0), (options.factor * low, options.factor * high)


def _money(rows: PairedRows, places: Integers, model: str, options: Options) -> Money | None:
    """Money of one model in some of the rows."""
    if rows.origin is None:
        return None
    among = np.zeros(len(rows.origin.score), dtype=bool)
    among[rows.origin.places[places]] = True
    return money_by_model([model], rows, options, among=among).get(model)


def _pair(two: Iterable[Moments]) -> Pair:
    score, skill = two
    return score, skill
