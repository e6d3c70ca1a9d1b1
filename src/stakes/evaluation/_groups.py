"""Subgroups, money."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import compress, islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stakes.base.numerics import CellSums, counting
from stakes.base.validation import BinarySample, as_column, by_name, is_missing, plain_label, to_array
from stakes.core.options import EvaluationData, Options
from stakes.core.score_table import COLUMNS, Rule, ScoreTable, class_factors, weigh_classes
from stakes.costs import CostDistribution, Fixed, NoMeanError, held
from stakes.evaluation._followed import Followed, weighed_within
from stakes.inference import (
    MONEY_SCALES,
    AmountLaw,
    Borne,
    DecompositionInterval,
    Estimate,
    Moments,
    Money,
    MoneySums,
    PairedRows,
    PairSums,
    area_estimate,
    decomposition_interval,
    group_areas,
    holm,
    law_of,
    money_of,
)
from stakes.outcomes import AmountTotals, RowCosts, rows_for_money
from stakes.outputs.result_table import ResultTable, TableColumn, Tabular
from stakes.outputs.serialization import JsonReader, Location
from stakes.outputs.text import name_key, names_of
from stakes.tables import INCOMPLETE_HINT, group_scores_by, stream_amounts, streams
from stakes.variance.influence import (
    UNKNOWN,
    GroupedRows,
    Influence,
    WeightedCells,
    cells_of,
    clustered_group_moments,
    gap_moments,
    group_moments,
    group_moments_of_tables,
    group_promises,
    hides_weights,
    influence_moments,
    loss_influence,
    promise_moments,
    side_by_side,
    skill_influence,
)
from stakes.variance.largest import ManyMoments, pairs
from stakes.variance.sums import sum_powers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Columns = dict[str, list[Any]]  # the fields of the results of one model, side by side over the groups
    ManyPair = tuple[ManyMoments, ManyMoments]  # score and skill

GroupTables = dict[tuple[str, str, str], tuple[ScoreTable, int]]


# Which group each row belongs to: the names of the groups, and the code of each row's.

_MOST_GROUPS = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class Grouping:
    """Names of the groups in order, and the place among them of each row that counts; the values of all rows."""

    names: list[str]
    codes: NDArray[np.intp]
    values: NDArray[Any]

    def among(self, chosen: Bools) -> Grouping:
        """Only the chosen groups, and the rows in them."""
        place = np.cumsum(chosen) - 1
        return Grouping(list(compress(self.names, chosen)), place[self.codes[chosen[self.codes]]], self.values)

    def members(self) -> list[NDArray[np.intp]]:
        """All rows of each group, those that do not count too."""
        distinct, codes = coded(self.values)
        place = {name: code for code, name in enumerate(self.names, start=1)}
        missing = map(is_missing, distinct)
        named = [0 if none else place.get(name, 0) for none, name in zip(missing, names_of(distinct), strict=True)]
        code = np.array(named, dtype=np.intp)[codes]
        ends = np.cumsum(np.bincount(code, minlength=len(place) + 1))
        return np.split(np.argsort(code, kind="stable"), ends[:-1])[1:]


def check_groups(options: Options, n_rows: int, sample: BinarySample | None = None) -> dict[str, Grouping]:
    """Group of each row that counts, by what divides them; or raise."""
    groups, weight, origin = options.groups, options.sample_weight, None
    if groups is None:
        return {}
    if sample is not None:
        weight, origin = weight if sample.given_weight is None else sample.given_weight, sample.origin
    columns = by_name(groups, "groups") if isinstance(groups, Mapping) else {"group": groups}
    if not columns:
        raise ValueError("groups must name at least one column, got none.")
    present = None if weight is None else to_array(weight, "sample_weight") > 0.0
    if origin is not None:  # the outcome knows the class of some of its rows
        present = np.isin(np.arange(len(origin.score)), origin.places)
    return {name: _grouping(values, name, n_rows, present) for name, values in columns.items()}


def _grouping(values: Any, name: str, n_rows: int, present: Bools | None) -> Grouping:
    found = to_array(values, "groups")
    given = n_rows if present is None else len(present)
    if found.shape != (given,):
        wrong = as_column(values, name) if isinstance(values, str) else f"shape {found.shape} ({name})"
        raise ValueError(f"groups must have one value for each of the {given} rows, got {wrong}.")
    distinct, codes = coded(found if present is None else found[present])
    missing = np.array([is_missing(value) for value in distinct])
    if missing.any():
        row = int(missing[codes].argmax())
        row = row if present is None else int(np.flatnonzero(present)[row])
        raise ValueError(f"groups must name the group of every row, got a missing one in row {row}.")
    names, merged = group_names(distinct, name)
    return Grouping(names, merged[codes], found)


def group_names(distinct: NDArray[Any], name: str) -> tuple[list[str], NDArray[np.intp]]:
    """Names of the groups in order, and the place of each distinct value: those of several types may share a name."""
    names, merged = np.unique(names_of(distinct), return_inverse=True)
    if len(names) > _MOST_GROUPS:
        raise ValueError(
            f"groups must name at most {_MOST_GROUPS:,} groups, got {len(names):,} ({name}): bin numbers first."
        )
    return names.tolist(), merged.reshape(-1)


def coded(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct values, and the code of each: texts by their hashes, since to sort them is slow."""
    if values.dtype.kind not in "OUS":
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct, codes.reshape(-1)
    rows = values.tolist()
    place = {value: code for code, value in enumerate(dict.fromkeys(rows))}
    distinct = np.empty(len(place), values.dtype)
    distinct[:] = list(place)
    return distinct, np.fromiter(map(place.__getitem__, rows), np.intp, len(rows))


# What the models of an evaluation cost in money, where each row has amounts of its own: in all rows and in groups.

AS_STATED = 0.5  # the cost ratio at which amounts count as they are


def money_by_model(
    models: Sequence[str],
    rows: PairedRows | None,
    options: Options,
    *,
    costs: CostDistribution | None = None,
    scale: str = "false_negative",
    among: Bools | None = None,
) -> dict[str, Money]:
    """Money of every model, in all or in some rows; empty where it has no mean or no row counts.

    ``costs`` says how sure the ratio of the amounts is; without, they count as stated.
    """
    outcome = None if rows is None or rows.origin is None else rows.origin.outcome
    if rows is None or not isinstance(outcome, RowCosts) or options.rule != "score":
        return {}
    if outcome.n_set_aside and costs is not None:
        return {}
    try:
        law = law_of(outcome, costs or Fixed(AS_STATED), scale)
    except NoMeanError:
        return {}
    counted = outcome.counted if among is None else outcome.counted * among
    if not counted.any():
        return {}
    level, codes = options.confidence_level, rows.clusters
    size = rows_for_money(options.money_per, float(counted.sum()))
    return {
        name: money_of(outcome, score, law, size, level=level, codes=codes, among=among)
        for name, score in zip(models, rows.every_score, strict=True)
    }


@dataclass(frozen=True, eq=False, repr=False)
class Charged:
    """What rows with amounts cost that an engine streamed: they are not kept.

    ``acted`` is the share of rows that each model acts on, ``bearing`` the rows that bear what its mistakes
    cost, None where that is not known; ``money`` and, by what is held, ``over_costs`` are those of
    :func:`money_by_model`.
    """

    totals: AmountTotals
    acted: tuple[float, ...]
    bearing: tuple[Borne | None, ...]
    money: dict[str, Money]
    over_costs: dict[str, dict[str, Money]]


def why_amounts_need_rows(options: Options, frame: Any) -> str:
    """Why rows with an outcome cannot be streamed; "" if they can.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.core.options import Options
    >>> from stakes.evaluation import why_amounts_need_rows
    >>> from stakes.outcomes import OutcomeColumns
    >>> outcome = OutcomeColumns(false_positive=5, false_negative="eur")
    >>> why_amounts_need_rows(Options(outcome=outcome, groups=["country"]), nw.from_native(pl.LazyFrame({"y": [1]})))
    'amounts with groups= need the rows'
    """
    outcome: Any = options.outcome
    if not outcome.streamable:
        return "an outcome other than a label or amounts needs the rows"
    given = [f"{name}=" for name in ("groups", "clusters") if getattr(options, name)]
    given += [] if options.rule == "score" else [f"rule={options.rule!r}"]
    if given:
        return f"amounts with {given[0]} need the rows"
    return "" if streams(frame) else "amounts need rows that stream, and this engine streams none: they need the rows"


def charge_streamed(rows: Any, options: Options, cells: Sequence[CellSums], **what: Any) -> tuple[PairSums, Charged]:
    """Sum what decisions about rows with amounts cost over the rows of an engine, which are read twice.

    The mapped scores of each model are counted in its cells, if there are any.
    """
    outcome: Any = options.outcome
    amounts, models, costs = (outcome.false_positive, outcome.false_negative), what["models"], options.costs
    stream = partial(stream_amounts, rows, amounts=amounts, outcome=outcome, **what)
    totals, laws = AmountTotals(outcome.unit, outcome.on_dominated), _laws(costs)
    sums, law, acted = MoneySums(laws, len(models)), AmountLaw(costs, costs, ""), np.zeros(len(models))
    alike = laws[-1].costs == costs

    def weighing() -> Iterator[tuple[Bools, list[Floats], Floats]]:
        for y, scores, weight, given in stream():
            part = totals.add(y, weight, given)
            if part is None:
                continue
            mapped = [part.scores(score) for score in scores]
            sums.add(part, mapped)
            if not alike:
                acted[:] += [part.counted @ law.acted(score) for score in mapped]
            used = slice(None) if part.weight.all() else part.weight > 0.0
            yield part.y[used], [score[used] for score in mapped], part.weight[used]

    found: dict[str, Any] = sum_powers(counting(weighing(), cells), len(models), costs, options.rule)
    _refuse_amounts(totals, amounts)
    idle, label = totals.rows - float(found["rows"].sum()), plain_label(what["pos_label"])
    pairs = PairSums(tuple(models), costs, options.rule, **found, pos_label=label, idle=idle)
    size = rows_for_money(options.money_per, sums.counted)
    for y, scores, weight, given in stream():
        part = totals.part(y, weight, given)
        sums.spread(part, [part.scores(score) for score in scores], size)
    by_law = [
        {name: sums.money(k, i, size, outcome.unit, options.confidence_level) for i, name in enumerate(models)}
        for k in range(len(laws))
    ]
    over = {} if totals.set_aside else {law.scale: by_model for law, by_model in zip(laws[1:], by_law[1:], strict=True)}
    shares = (sums.acted[-1] if alike else acted) / sums.counted
    known = costs == laws[0].costs and not totals.set_aside
    bearing = tuple(sums.bearing(0, i) if known else None for i in range(len(models)))
    return pairs, Charged(totals, tuple(shares.tolist()), bearing, by_law[0], over)


def _laws(costs: CostDistribution) -> list[AmountLaw]:
    """Amounts as stated, and over a range of cost ratios by what is held, where that has a mean."""
    found = [AmountLaw(Fixed(AS_STATED), held(Fixed(AS_STATED), MONEY_SCALES[0]), MONEY_SCALES[0])]
    for scale in MONEY_SCALES if costs.low < costs.high else ():
        with suppress(NoMeanError):
            found.append(AmountLaw(costs, held(costs, scale), scale))
    return found


def _refuse_amounts(totals: AmountTotals, amounts: tuple[str | float, str | float]) -> None:
    origin = Location(ordered=False)
    for amount, count in zip(amounts, totals.broken, strict=True):
        if count:
            column = amount if isinstance(amount, str) else None
            rule = "must be finite and not missing"
            raise origin.error(rule, column=column, count=count, total=totals.rows, hint=INCOMPLETE_HINT)
    try:
        totals.check()
    except ValueError as error:
        raise origin.error(str(error).removesuffix(".")) from None


# For whom a model holds: the same numbers in every subgroup, and whether a subgroup differs from the rest.

PAPER = {"column": "By", "group": "Group", "model": "Model", "n_rows": "n", "n_positives": "Events"}
PAPER |= {"score": "Expected cost", "skill": "Skill", "auc": "AUC", "skill_p_adjusted": "p (skill)"}
_SHOWN = (
    *(TableColumn(key, key, "text") for key in ("column", "group", "model")),
    *(TableColumn("n_rows", "rows", "count"), TableColumn("prevalence", "positive", "share")),
    *(TableColumn("score", "score", interval="ci"), TableColumn("skill", "skill", "skill", 3, "skill_ci")),
    TableColumn("skill_difference", "skill difference", "skill", 3, p="skill_p_adjusted"),
    *(TableColumn(key, key, "money", 2, f"{key}_ci") for key in ("cost", "gain")),
    TableColumn("auc", "AUC", "number", 3, "auc_ci"),
    TableColumn("more_than_promised", "more than promised", "difference", interval="more_than_promised_ci"),
    TableColumn("more_than_promised_p_adjusted", "p", "p"),
    TableColumn("corrected_miscalibration", "corrected MCB", interval="corrected_miscalibration_ci"),
    TableColumn("skill_p_adjusted", "p", "p"),
)
_NO_INTERVAL = (math.nan, math.nan)
_FITTED = 'rule="optimal" is fitted to all rows: of a group its cost alone is known'
_WELL_KNOWN = 400  # degrees of freedom; beyond, fourth powers of weights change an interval by 3% in 2 of 86 groups
_NARROW = (
    "rows of unlike weights share a score, of which sums alone are known: intervals may be too narrow, by some 5% on "
    "average and seldom by more than a fifth; evaluate the rows in memory for theirs"
)
_LONG = 1000  # rows of a group, of which each takes longer than the group
_NEEDED = 20  # of each class, for a miscalibration that is not mostly noise


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
        Share of the cost of the group's own prevalence forecast that the model saves, of its scores at face value; nan
        for one class.
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
    more_than_promised : float
        Score less what the model's own scores promise in the group; nan for amounts by row, and where decisions do not
        follow the scores.
    more_than_promised_interval : tuple of float
        Its interval, of this number alone.
    more_than_promised_p_adjusted : float
        Its p-value after Holm over groups and models.
    note : str
        On how few rows of which class the score rests, and how many would do; empty where there are enough. Under
        ``rule="optimal"``, that the cost alone is known. That too few of a group were followed to the horizon: it then
        has no numbers, and is not among the other rows of another group. That intervals from a table may be too narrow.
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
    more_than_promised: float
    more_than_promised_interval: tuple[float, float]
    more_than_promised_p_adjusted: float
    note: str
    judge: Callable[[], tuple[float, tuple[float, float]]] = field(repr=False, compare=False)
    count: Callable[[], ScoreTable] = field(repr=False, compare=False)
    charge: Callable[[], Money | None] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def money(self) -> Money | None:
        """What acting on the model costs and saves in the group; None without amounts by row."""
        return None if self.charge is None else self.charge()

    @property
    def corrected_miscalibration(self) -> float:
        """Cross-fitted: corrected for the optimism of recalibrating on the same rows; 0 where that leaves less.

        It is nan with fewer than 20 rows of a class, where a loss may be infinite, for weight on single ratios, and
        with ``clusters=`` or ``lags=``: its folds would judge rows by others that depend on them.
        """
        return self._judged[0]

    @property
    def corrected_miscalibration_interval(self) -> tuple[float, float]:
        """Interval of the cross-fitted miscalibration."""
        return self._judged[1]

    @cached_property
    def _judged(self) -> tuple[float, tuple[float, float]]:
        return self.judge()


def label_of(row: GroupResult) -> str:
    """What a group is called in sentences."""
    return row.group if row.column == "group" else f"{row.column} {row.group}"


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

    def table(self, models: Collection[str]) -> ResultTable:
        """These models in every subgroup; None where a row has no money, or no other rows to compare skill with."""

        def rows() -> list[dict[str, Any]]:
            mine, found = Groups(row for row in self if row.model in models), []
            for row, record in zip(mine, mine._records(), strict=True):
                money = {} if row.money is None else row.money.record()
                none = dict.fromkeys(("cost", "gain") if row.money is None else ())
                none |= {"skill_difference": None} if math.isnan(row.skill_difference) else {}
                found.append(money | {"money_error": money.get("standard_error")} | record | none)
            return found

        return ResultTable("Every model in every group", _SHOWN, rows)

    def _records(self) -> list[dict[str, Any]]:
        names = [part.name for part in fields(GroupResult) if part.name not in {"judge", "count", "charge"}]
        at = names.index("difference")
        names[at:at] = ["corrected_miscalibration", "corrected_miscalibration_interval"]
        records, priced = [], any(row.money is not None for row in self)
        for row in self:
            record: dict[str, Any] = {}
            for name in names:
                value = getattr(row, name)
                if isinstance(value, tuple):
                    stem = "ci" if name == "interval" else name.replace("interval", "ci")
                    record[f"{stem}_low"], record[f"{stem}_high"] = value
                else:
                    record[name] = value
            if priced:
                money = row.money
                cost, gain = (math.nan, math.nan) if money is None else (money.cost.value, money.gain.value)
                record |= {"cost": cost, "gain": gain, "unit": "" if money is None else money.unit}
            records.append(record)
        return records


def evaluate_groups(
    models: Sequence[str], rows: PairedRows, groups: Mapping[str, Grouping], options: Options
) -> Groups:
    """Every model in every group, and against all other rows."""
    found: list[Columns] = []
    together, within = rows, []
    for column, grouping in groups.items():
        followed = Followed.of(together, len(grouping.names), grouping.members)
        rows = weighed_within(together, followed.own)
        within += [column] if followed.own else []
        every = GroupedRows.of(rows, grouping.codes, len(grouping.names))
        about = {"group": grouping.names, "n_rows": every.sizes.tolist(), "n_positives": every.counts[1::2].tolist()}
        part, some = rows, grouping
        if followed.known.any() and not followed.known.all():
            part, some = rows.taken(followed.known[grouping.codes]), grouping.among(followed.known)
        grouped = GroupedRows.of(part, some.codes, len(some.names))
        share = grouped.sums(grouped.rows.y.astype(np.float64)).value.tolist()
        for index, model in enumerate(models):
            all_rows, mine = (_of_model(each, index) for each in (rows, part))
            columns = {"prevalence": share} | _of_rows(mine, model, some, grouped, options)
            tables = [partial(_table, all_rows, every.order[where]) for where in every.parts]
            found.append(_named(column, model, about | _at_places(columns, followed) | {"count": tables}))
    whole = _results(found, options)
    whole.within = tuple(within)
    return whole


def _of_model(rows: PairedRows, index: int) -> PairedRows:
    return replace(rows, scores=[rows.scores[index]], every_score=rows.every_score[index : index + 1])


def _at_places(columns: Columns, followed: Followed) -> Columns:
    """Results of the groups of which enough is known, at their places among all; the others have none."""
    if followed.known.all():
        return columns
    found: Columns = {}
    for name, values in columns.items():
        each = iter(values)
        none = _NO_INTERVAL if "interval" in name else _NOTHING.get(name, math.nan)
        found[name] = [next(each) if known else none for known in followed.known]
    found["note"] = [
        note if known else why for note, known, why in zip(found["note"], followed.known, followed.notes, strict=True)
    ]
    return found


def _of_rows(rows: PairedRows, model: str, grouping: Grouping, grouped: GroupedRows, options: Options) -> Columns:
    """One model in every group."""
    places, score = [grouped.order[part] for part in grouped.parts], rows.scores[0]
    if rows.lags is not None:  # within a group its rows stand by class
        places = [np.sort(some) for some in places]
    alone = rows.clusters is None and rows.lags is None  # the folds of cross-fitting divide rows that depend on another
    judge = [partial(miscalibration_among, rows, some, options) if alone else _unjudged for some in places]
    found: Columns = {"judge": judge}
    if options.per_stake:
        found["charge"] = [partial(_money, rows, everyone, model, options) for everyone in grouping.members()]
    if rows.dependent:
        moments = partial(_dependent, rows, grouping, options.costs)
    else:
        moments = partial(group_moments, grouped, score, options.costs)
    found |= _compared(*_at_face_value(moments, options.plain_rule), model, options)
    if rows.dependent or rows.origin is not None or len(rows.y) > _LONG * len(places):
        return found | _one_by_one(
            ((_data(part), part.clusters, part.lags) for part in map(rows.taken, places)), options
        )
    value, low, high = group_areas(grouped, score, options.confidence_level)
    promises = group_promises(grouped, score, options.costs) if options.rule == "score" else None
    return found | {"auc": value.tolist(), "auc_interval": pairs(low, high)} | _promised(promises, len(places), options)


def groups_of_tables(
    column: str, names: Sequence[str], model: str, tables: Sequence[tuple[ScoreTable, int]], options: Options
) -> Columns:
    """One model in every group of a column, by the groups' tables and their numbers of positive rows."""
    found: Columns = {"group": list(names), "n_rows": [table.n_rows for table, _ in tables]}
    found |= {"n_positives": [ups for _, ups in tables], "judge": [], "count": []}
    for table, ups in tables:
        equal = np.array_equal(table.positives + table.negatives, table.positives_squared + table.negatives_squared)
        found["judge"].append(partial(miscalibration_in, table, ups if equal else 0, options))
        found["count"].append(partial(replace, table))
    data = [EvaluationData(None, table) for table, _ in tables]
    found["prevalence"] = [each.prevalence for each in data]
    moments = partial(group_moments_of_tables, tables, options.costs)
    own, gaps = _at_face_value(moments, options.plain_rule)
    found |= _compared(own, gaps, model, options)
    few = own[0].degrees < _WELL_KNOWN
    narrow = [_NARROW if some and hides_weights(*each) else "" for some, each in zip(few, tables, strict=True)]
    found["note"] = ["; ".join(filter(None, notes)) for notes in zip(found["note"], narrow, strict=True)]
    return _named(column, model, found | _one_by_one(((each, None, None) for each in data), options))


def _at_face_value(moments: Callable[[Rule], tuple[ManyPair, ManyPair]], rule: Rule) -> tuple[ManyPair, ManyPair]:
    """Costs of decisions by a rule, and the skill of the scores at face value, as that of all rows is."""
    own, gaps = moments(rule)
    if rule == "score":
        return own, gaps
    (_, skill), (_, skill_gap) = moments("score")
    return (own[0], skill), (gaps[0], skill_gap)


def _dependent(rows: PairedRows, grouping: Grouping, costs: CostDistribution, rule: Rule) -> tuple[ManyPair, ManyPair]:
    """Score and skill of rows in clusters or in order, in each group and against all other rows."""
    if rows.clusters is not None and rows.origin is None:
        return clustered_group_moments(rows, grouping.codes, costs, rule)
    own: list[tuple[Moments, ...]] = []
    gaps: list[tuple[Moments, ...]] = []
    for g in range(len(grouping.names)):
        chosen = grouping.codes == g
        inside = _influences(rows.taken(chosen), costs, rule)
        clusters = rows.taken(chosen).clusters
        own.append(tuple(influence_moments(*part, clusters, rows.lags) for part in inside))
        if len(grouping.names) == 1:
            gaps.append((UNKNOWN, UNKNOWN))
            continue
        outside = _influences(rows.taken(~chosen), costs, rule)
        gaps.append(
            tuple(gap_moments(*parts, chosen, rows.clusters, rows.lags) for parts in zip(inside, outside, strict=True))
        )
    return side_by_side(own), side_by_side(gaps)


def _influences(rows: PairedRows, costs: CostDistribution, rule: Rule) -> list[tuple[WeightedCells, Influence]]:
    """Influence of each row on the score and on the skill."""
    cells = cells_of(_data(rows), fixed_prevalence=False)
    return [(cells, loss_influence(cells, costs, rule)), (cells, skill_influence(cells, costs, rule, None))]


def _sample(rows: PairedRows) -> BinarySample:
    return rows.sample(0)


def _data(rows: PairedRows) -> EvaluationData:
    return EvaluationData(_sample(rows), None)


def _table(rows: PairedRows, places: Integers) -> ScoreTable:
    """Table of some of the rows."""
    return ScoreTable.from_sample(_sample(rows.taken(places)))


def _one_by_one(parts: Iterable[tuple[EvaluationData, Any, Any]], options: Options) -> Columns:
    """Area and promise of groups whose rows depend on each other, are many, or of which tables are known."""
    areas, promises = [], []
    for data, *dependence in parts:
        cells = cells_of(data, fixed_prevalence=False)
        if options.per_stake:  # amounts, not scores, order these rows
            areas.append((math.nan, _NO_INTERVAL))
            continue
        area = area_estimate(cells, (dependence[0], dependence[1]))
        areas.append((area.value, area.interval(options.confidence_level)))
        if options.rule == "score":
            promises.append(promise_moments(cells, options.costs, *dependence))
    values, intervals = zip(*areas, strict=True)
    each = ManyMoments.of(promises) if promises else None
    return {"auc": list(values), "auc_interval": list(intervals)} | _promised(each, len(areas), options)


def _promised(found: ManyMoments | None, count: int, options: Options) -> Columns:
    """What groups cost more than their own scores promise there, with intervals and p-values."""
    stem, none = "more_than_promised", [math.nan] * count
    if found is None:
        return {stem: none, f"{stem}_interval": [_NO_INTERVAL] * count, f"{stem}_p_adjusted": none}
    found = found.scaled(options.factor)
    ends, p_values = found.intervals(options.confidence_level), found.p_values().tolist()
    return {stem: found.value.tolist(), f"{stem}_interval": ends, f"{stem}_p_adjusted": p_values}


def _compared(own: ManyPair, gaps: ManyPair, model: str, options: Options) -> Columns:
    """Score and skill in every group, and against all other rows; two groups are each other's rest: one test."""
    harm, level = float(options.harms([model])[0]), options.confidence_level  # the same in every group
    score, skill = own[0].shifted(harm).scaled(options.factor), own[1]
    gap, skill_gap = gaps[0].scaled(options.factor), gaps[1]
    p_value, skill_p_value = gap.p_values(), skill_gap.p_values()
    adjust = np.asarray if len(p_value) == 2 else holm
    notes = score.notes(np.ones(len(p_value), dtype=bool))
    of_skill = skill.notes(np.array([not note for note in notes]))
    return {
        "score": score.value.tolist(),
        "standard_error": np.sqrt(score.variance).tolist(),
        "interval": score.intervals(level),
        "skill": skill.value.tolist(),
        "skill_interval": skill.intervals(level),
        "difference": gap.value.tolist(),
        "p_value": p_value.tolist(),
        "p_adjusted": adjust(p_value).tolist(),
        "skill_difference": skill_gap.value.tolist(),
        "skill_p_value": skill_p_value.tolist(),
        "skill_p_adjusted": adjust(skill_p_value).tolist(),
        "note": [one or other for one, other in zip(notes, of_skill, strict=True)],
    }


def _named(column: str, model: str, found: Columns) -> Columns:
    count = len(found["group"])
    return {"column": [column] * count, "model": [model] * count} | found


def _withheld(columns: Columns, options: Options) -> Columns:
    """What is known of groups where the scores were recalibrated on these very rows: their costs alone."""
    if options.rule != "optimal":
        return columns
    count, kept = len(columns["group"]), ("score", "prevalence", "difference")
    known = {name: each for name, each in columns.items() if name in kept or not _is_estimated(each)}
    withheld = {name: [_NO_INTERVAL if "interval" in name else math.nan] * count for name in columns}
    notes = [
        note if math.isnan(share) else _FITTED
        for note, share in zip(columns["note"], columns["prevalence"], strict=True)
    ]
    return {**withheld, **known, "judge": [_unjudged] * count, "note": notes}


def _is_estimated(column: list[Any]) -> bool:
    return isinstance(column[0], float | tuple)


def _unjudged() -> tuple[float, tuple[float, float]]:
    return math.nan, _NO_INTERVAL


_NOTHING = {"judge": _unjudged, "charge": None}


def _results(each: Iterable[Columns], options: Options) -> Groups:
    """The results of all models, the p-values of promises adjusted over groups and models."""
    each = [_withheld(columns, options) for columns in each]
    name = "more_than_promised_p_adjusted"
    found: list[GroupResult] = []
    adjusted = iter(holm([p for columns in each for p in columns[name]]).tolist())
    for columns in each:
        columns[name] = list(islice(adjusted, len(columns[name])))
        for row in zip(*columns.values(), strict=True):
            one = object.__new__(GroupResult)  # to set frozen fields one by one takes a fifth of all time
            vars(one).update(zip(columns, row, strict=True))
            found.append(one)
    return Groups(found)


def miscalibration_among(rows: PairedRows, places: Integers, options: Options) -> tuple[float, tuple[float, float]]:
    """Miscalibration of some of the rows with its interval, or nan where it has none."""
    sample = _sample(rows.taken(places))
    return miscalibration_in(sample, int(np.count_nonzero(sample.y)), options)


def miscalibration_in(sample: Any, ups: int, options: Options) -> tuple[float, tuple[float, float]]:
    """The same for rows, or the table of rows of equal weight, of which so many are positive."""
    found = decomposed_in(sample, ups, options)
    return (math.nan, _NO_INTERVAL) if found is None else times(options.factor, found.miscalibration, least=0.0)


def times(factor: float, part: Estimate, least: float = -math.inf) -> tuple[float, tuple[float, float]]:
    """An estimate, which is not below the least, and its interval on another scale."""
    low, high = part.interval
    return factor * max(part.value, least), (factor * low, factor * high)


def decomposed_among(rows: PairedRows, options: Options) -> DecompositionInterval | None:
    """The decomposition of the cost of one model over rows, for the population; None where it has no intervals."""
    sample = _sample(rows)
    return decomposed_in(sample, int(np.count_nonzero(sample.y)), options)


def decomposed_in(sample: Any, ups: int, options: Options) -> DecompositionInterval | None:
    """The same for rows, or the table of rows of equal weight, of which so many are positive."""
    costs, count = options.costs, sample.n_rows if isinstance(sample, ScoreTable) else len(sample.y)
    finite = math.isfinite(float(costs.positive_loss(0.0)) + float(costs.negative_loss(1.0)))
    single = len(costs.atoms[0]) > 0
    if single or not finite or options.plain_rule != "score" or min(ups, count - ups) < _NEEDED:
        return None
    level = options.confidence_level
    return decomposition_interval(sample, costs=costs, scale="integral", confidence_level=level, random_state=0)


def _money(rows: PairedRows, places: Integers, model: str, options: Options) -> Money | None:
    """Money of one model in some of all rows, those included whose decision is given or makes no difference."""
    if rows.origin is None:
        return None
    among = np.zeros(len(rows.origin.score), dtype=bool)
    among[places] = True
    return money_by_model([model], rows, options, among=among).get(model)


# Subgroups by the tables of their scores: from an engine, from rows that were evaluated, or kept and added up.

_ROUNDING = 1e-9  # of sums over many rows, in any order


def tables_in_engine(rows: Any, wholes: Mapping[str, ScoreTable], options: Options, **what: Any) -> GroupTables:
    """Tables of every group of a lazy frame; ``wholes`` are those of all rows, before they are weighted."""
    found = {}
    for column in options.groups or ():
        for model, whole in wholes.items():
            values, counted = group_scores_by(rows, score=model, by=column, resolution=whole.resolution, **what)
            names, place = group_names(values, column)
            for i in np.argsort(place).tolist():
                table = _as_asked(ScoreTable(**counted[i][0], resolution=whole.resolution), whole, options)
                found[column, names[place[i]], model] = table, counted[i][1]
    return found


def _as_asked(table: ScoreTable, whole: ScoreTable, options: Options) -> ScoreTable:
    """Weigh the classes of a group, and recalibrate its scores, as those of all rows are."""
    if options.prevalence is not None:
        by = class_factors(options.prevalence, whole.total_positives, whole.total_negatives)
        table, whole = replace(table, **weigh_classes(table, *by)), whole.with_prevalence(options.prevalence)
    if options.rule != "optimal":
        return table
    ends = whole.scores if whole.upper is None else whole.upper
    scores = whole.pav_by_score()[np.minimum(np.searchsorted(ends, table.scores), len(ends) - 1)]
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    return table.pooled(scores[starts], starts)


def groups_from(tables: GroupTables, options: Options) -> Groups:
    """Every model in every group, and against all other rows."""
    each: dict[tuple[str, str], dict[str, tuple[ScoreTable, int]]] = {}
    for (column, group, model), counted in tables.items():
        each.setdefault((column, model), {})[group] = counted
    found = (groups_of_tables(c, list(mine), m, list(mine.values()), options) for (c, m), mine in each.items())
    return _results(found, options)


def tables_of(groups: Groups) -> GroupTables:
    """What an evaluation's groups follow from."""
    return {(row.column, row.group, row.model): (row.count(), row.n_positives) for row in groups}


def columns_of(tables: GroupTables) -> list[str]:
    """The columns that divide the rows, in order."""
    return list(dict.fromkeys(column for column, _, _ in tables))


def merged(first: GroupTables, second: GroupTables, options: Options) -> GroupTables:
    """Add up what is known of the groups of two parts of the rows; a group may have rows in one of them only."""
    if first and options.rule == "optimal":
        raise ValueError('groups with rule="optimal" are fitted to their own rows: evaluate all rows at once.')
    columns, models = columns_of(first), list(dict.fromkeys(model for _, _, model in first))
    for column in columns:
        _refuse_two_names(column, *({group for by, group, _ in part if by == column} for part in (first, second)))
    found: GroupTables = {}
    for key in sorted({*first, *second}, key=lambda key: (columns.index(key[0]), models.index(key[2]), key[1])):
        mine, its = (part.get(key) for part in (first, second))
        both = mine and its and (mine[0].merge(its[0]), mine[1] + its[1])
        found[key] = both or mine or second[key]
    return found


def _refuse_two_names(column: str, mine: set[str], its: set[str]) -> None:
    """Refuse one group under two names: a number or a time that each part of the rows writes in its own way."""
    known = {name_key(name): name for name in mine - its}
    twice = next((name for name in sorted(its - mine) if name_key(name) in known), None)
    if twice is not None:
        raise ValueError(
            f"merge needs names of the groups of {column!r} alike, got {known[name_key(twice)]!r} and {twice!r}: give "
            "the column the same type in both."
        )


def kept_groups(tables: GroupTables) -> list[dict[str, Any]]:
    """What JSON holds of them."""
    return [
        {"column": c, "group": g, "model": m, "n_positives": ups, "table": json.loads(table.to_json())}
        for (c, g, m), (table, ups) in tables.items()
    ]


def read_groups(entries: JsonReader, models: tuple[str, ...]) -> GroupTables:
    """Read and check what :func:`kept_groups` gave, where it is there."""
    content, found = entries.content.get("groups", []), {}
    if not isinstance(content, list):
        raise entries.broken("groups", "a list of groups")
    for place, each in enumerate(content):
        mine = JsonReader(each, f"{entries.what} (group {place + 1})")
        key = mine.text("column"), mine.text("group"), mine.text("model")
        if key[2] not in models:
            raise mine.broken("the model", "among the tables")
        if key in found:
            raise mine.broken("the group", "named once")
        table = ScoreTable._from_entries(mine.inside("table", form=ScoreTable._form))
        _check_positives(mine, table)
        found[key] = table, mine.count("n_positives")
    return found


def _check_positives(mine: JsonReader, table: ScoreTable) -> None:
    """Refuse a number of positive rows that the weights of the group's classes contradict."""
    ups = mine.at("n_positives")
    if type(ups) is not int or not 0 <= ups <= table.n_rows:
        raise mine.broken("n_positives", f"a whole number of its rows, {table.n_rows:,} at most, got {ups!r}")
    for kind, rows in (("positives", ups), ("negatives", table.n_rows - ups)):
        weight, squared = getattr(table, kind), getattr(table, f"{kind}_squared")
        fewest = float(np.sum(weight**2 / np.where(squared > 0.0, squared, np.inf)))
        if fewest > rows * (1.0 + _ROUNDING) or (rows > 0) != bool(weight.any()):
            raise mine.broken("n_positives", f"such that {rows:,} rows can have the weights of its {kind}, got {ups:,}")


def check_groups_add_up(
    groups: GroupTables, wholes: Mapping[str, ScoreTable], pairs: PairSums | None, entries: JsonReader
) -> None:
    """Refuse kept groups that do not divide the rows of the tables of all rows."""
    for column in columns_of(groups):
        mine = {key: each for key, each in groups.items() if key[0] == column}
        names = list(dict.fromkeys(group for _, group, _ in mine))
        known: dict[str, tuple[int, int]] = {}
        for model, whole in wholes.items():
            lost = [group for group in names if (column, group, model) not in mine]
            if lost:
                raise entries.broken("groups", f"one for each model, but {lost[0]!r} of {column!r} lacks {model!r}")
            each = [mine[column, group, model] for group in names]
            counts = dict(zip(names, [(table.n_rows, ups) for table, ups in each], strict=True))
            for group, (rows, ups) in counts.items():
                first = known.setdefault(group, (rows, ups))
                if first != (rows, ups):
                    what = f"of as many rows and positives for every model, {first} of {group!r}"
                    raise entries.broken(f"groups of {column!r}", f"{what}, got {(rows, ups)} for {model!r}")
            positives = None if pairs is None else float(pairs.rows[1])
            _check_sum(f"groups of {column!r}", each, (model, whole), positives, entries)


def _check_sum(
    what: str,
    each: list[tuple[ScoreTable, int]],
    model: tuple[str, ScoreTable],
    positives: float | None,
    entries: JsonReader,
) -> None:
    name, whole = model
    rows, ups = (sum(counts) for counts in zip(*((table.n_rows, ups) for table, ups in each), strict=True))
    if rows != whole.n_rows:
        raise entries.broken(what, f"of {whole.n_rows:,} rows together, as {name!r} is, got {rows:,}")
    if positives is not None and ups != positives:
        raise entries.broken(what, f"of {positives:,.0f} positives together, as the pairs are, got {ups:,}")
    tables = [table for table, _ in each]
    if any(table.pos_label != whole.pos_label for table in tables):
        raise entries.broken(what, f"of the pos_label of {name!r}, {whole.pos_label!r}")
    if any(table.fixed_prevalence for table in tables):  # the share of positives in a group is never stated
        raise entries.broken(what, "without fixed_prevalence")
    for kind in COLUMNS:
        wanted, found = (_by_score(some, kind) for some in ([whole], tables))
        places = sorted({*wanted, *found}) if whole.lower is None and tables[0].lower is None else [None]
        for place in places:
            one, other = (sum(by.values()) if place is None else by.get(place, 0.0) for by in (wanted, found))
            if not math.isclose(one, other, rel_tol=_ROUNDING):
                at = "" if place is None else f" at the score {place!r}"
                raise entries.broken(what, f"a division of the {kind} of {name!r}, {one:.10g}{at}, got {other:.10g}")


def _by_score(tables: list[ScoreTable], kind: str) -> dict[float, float]:
    """Weight at each score of some tables together."""
    scores = np.concatenate([table.scores for table in tables])
    distinct, place = np.unique(scores, return_inverse=True)
    sums = np.bincount(place.reshape(-1), weights=np.concatenate([getattr(table, kind) for table in tables]))
    return dict(zip(distinct.tolist(), sums.tolist(), strict=True))
