"""Sums computed inside a data engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import combinations
from operator import add, mul
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from stakes.base.formulas import LARGEST, Formula, at_least, at_most, choose, decided, is_nan, where_known, widened
from stakes.base.numerics import count_cells, count_groups, count_sample
from stakes.base.validation import BinarySample, Bools, Floats, check_unit, plain_label
from stakes.costs import (
    CostDistribution,
    CostsLike,
    Empirical,
    Fixed,
    LogOddsUniform,
    Scale,
    Uniform,
    Weighted,
    as_costs,
    check_scale,
)
from stakes.outputs.hooks import nw
from stakes.outputs.serialization import DataError, Location
from stakes.tables._columns import (
    Gathered,
    Roles,
    as_array,
    check_flat,
    collected,
    encode,
    encode_labels,
    positive_labels,
    run,
    to_floats,
)
from stakes.tables._predictions import INCOMPLETE_HINT, PROBABILITY_HINT, clean_rows, from_native, is_missing, roles_in

Gaps = Sequence[tuple[str | float, str | float]]


# A score table needs only one group-by over label and score, in the engine that holds the data.

_MOST_HELD = 1 << 24  # rows; more of them may hold few distinct scores, and leave the engine as these only


def count_exactly(frame: nw.LazyFrame[Any], roles: Roles, pos_label: object) -> dict[str, Any]:
    """Count classes at each distinct score; columns of a local engine that are short are sorted here, which is faster.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes.tables._columns import Roles
    >>> from stakes.tables._engines import count_exactly
    >>> frame = nw.from_native(pl.LazyFrame({"y": [0, 1, 1], "a": [0.1, 0.3, 0.3]}))
    >>> count_exactly(frame, Roles("y", ("a",), None, (), automatic=False), None)["positives"].tolist()
    [0.0, 2.0]
    """
    kind = frame.implementation
    if kind.is_polars() or kind.is_duckdb():
        found = collected(frame.select(*roles.used).head(_MOST_HELD + 1))
        if len(found) <= _MOST_HELD:
            rows = clean_rows(Gathered.from_frame(found, roles, Location(ordered=False)), roles, pos_label=pos_label)
            return count_sample(BinarySample(rows.y, rows.scores[0], rows.weight)) | {"neg_label": rows.neg_label}
    return GroupedScores.collect(frame, roles, None).table(pos_label, None)


@dataclass(frozen=True, eq=False, repr=False)
class GroupedScores:
    """The result of the group-by: one row for each label and score, or label and score bin."""

    roles: Roles
    origin: Location
    labels: tuple[list[Any], NDArray[np.signedinteger[Any]]]
    groups: tuple[list[Any], NDArray[np.int64]] | None
    column: dict[str, Floats]

    @classmethod
    def collect(cls, frame: nw.LazyFrame[Any], roles: Roles, resolution: int | None) -> GroupedScores:
        """Run the group-by in the engine; invalid values form separate groups."""
        origin = Location(ordered=False)
        found = run(_grouped(_rows(frame, roles), resolution))
        column = {name: to_floats(found[name], origin) for name in found.columns if name not in {"label", "group"}}
        cell, count = column["cell"], column["count"]
        column = (
            dict.fromkeys(("weight", "squared", "least"), count) | {"bad": 0.0 * count, "missing": 0.0 * count} | column
        )
        column["moment"] = column.get("moment", cell)
        column |= {name: column.get(name, cell) + 0.0 for name in ("lower", "upper")}
        labels = encode_labels(found["label"].alias(roles.label), origin)
        return cls(
            roles, origin, labels, encode(found["group"].alias(roles.groups[0])) if roles.groups else None, column
        )

    def table(self, pos_label: object, resolution: int | None) -> dict[str, Any]:
        """Check the groups and pool them into the columns of a score table."""
        positive = self._checked(pos_label, exact=resolution is None)
        values, codes = self.labels
        other = None if positive.all() else plain_label(values[codes[np.argmin(positive)]])
        return self._pooled(positive, resolution) | {"neg_label": other}

    def tables_by_group(
        self, pos_label: object, resolution: int | None
    ) -> tuple[NDArray[Any], list[tuple[dict[str, Any], int]]]:
        """Check the groups, and pool those of each value of the dividing column."""
        positive = self._checked(pos_label, exact=resolution is None)
        values, codes = self.groups or ([], np.empty(0, dtype=np.int64))
        self._refuse("must not be missing", codes < 0, column=self.roles.groups[0], hint=INCOMPLETE_HINT)
        order = np.argsort(codes, kind="stable")
        found = []
        for part in np.split(order, np.searchsorted(codes[order], np.arange(1, len(values)))):
            own = replace(self, column={name: values[part] for name, values in self.column.items()})
            n_positives = int(own.column["count"][positive[part]].sum())
            found.append((own._pooled(positive[part], resolution), n_positives))
        return as_array(values), found

    def _pooled(self, positive: Bools, resolution: int | None) -> dict[str, Any]:
        column, n_rows = self.column, int(self.column["count"].sum())
        if resolution is None:
            return count_groups(column["cell"], positive, column["weight"], column["squared"], n_rows)
        sums = [np.where(by, column[name], 0.0) for name in ("weight", "squared") for by in (positive, ~positive)]
        spans = (column["lower"], column["upper"], column["moment"])
        return count_cells(column["cell"], spans, sums, n_rows=n_rows, resolution=resolution)

    def _checked(self, pos_label: object, *, exact: bool) -> Bools:
        score = self.roles.models[0]
        values, codes = self.labels
        if not len(codes):
            rule = "there are no rows" if self.roles.weight is None else "there are no rows of positive weight"
            raise self.origin.error(rule, column=self.roles.weight)
        self._refuse("must not be missing", codes < 0, column=self.roles.label, hint=INCOMPLETE_HINT)
        self._refuse("must not be missing", np.isnan(self.column["cell"]), column=score, hint=INCOMPLETE_HINT)
        if self.column["bad"].any():
            self._refuse_weights()
        positive = positive_labels(values, codes, pos_label, self.origin, self.roles.label)
        lower, upper = self.column["lower"], self.column["upper"]
        outside = (lower < 0.0) | (upper > 1.0)
        if outside.any():
            first = int(np.argmax(outside))
            value = lower[first] if lower[first] < 0.0 else upper[first]
            # a bin may hold valid rows too, so only distinct scores can be counted
            details = {"column": score, "value": value, "hint": PROBABILITY_HINT}
            if not exact:
                raise self.origin.error("must lie in [0, 1]", **details)
            self._refuse("must lie in [0, 1]", outside, **details)
        return positive

    def _refuse(self, rule: str, bad: Bools, **details: Any) -> None:
        if bad.any():
            count, total = int(self.column["count"][bad].sum()), int(self.column["count"].sum())
            raise self.origin.error(rule, count=count, total=total, **details)

    def _refuse_weights(self) -> None:
        details: dict[str, Any] = {"column": self.roles.weight, "total": int(self.column["count"].sum())}
        missing = int(self.column["missing"].sum())
        if missing:
            raise self.origin.error("must not be missing", count=missing, hint=INCOMPLETE_HINT, **details)
        least = float(self.column["least"].min())
        value, count = least if least < 0.0 else np.inf, int(self.column["bad"].sum())
        raise self.origin.error("must be finite and >= 0", value=value, count=count, **details)


def check_types(frame: nw.LazyFrame[Any], roles: Roles) -> None:
    """Refuse numbers of another type, of which a cast may make some, and labels and groups that are nested."""
    schema, origin = frame.collect_schema(), Location(ordered=False)
    for name in roles.numbers:
        if not (schema[name].is_numeric() or schema[name] == nw.Boolean):
            to_floats(run(frame.select(name).filter(~nw.col(name).is_null()).head(1))[name], origin)
    for name in (roles.label, *roles.groups):
        check_flat(name, schema[name], origin)


def _rows(frame: nw.LazyFrame[Any], roles: Roles) -> nw.LazyFrame[Any]:
    """Select label, score and weight as float64, without the rows of weight zero."""
    check_types(frame, roles)
    numbers = {"score": roles.models[0]} | ({} if roles.weight is None else {"weight": roles.weight})
    selected = frame.select(
        nw.col(roles.label).alias("label"),
        *(nw.col(name).alias("group") for name in roles.groups),
        *(nw.col(name).cast(nw.Float64).alias(role) for role, name in numbers.items()),
    )
    if roles.weight is None:
        return selected
    weight = nw.col("weight")
    missing = weight.is_null() | is_nan(weight)
    fine = (weight >= 0.0) & (weight <= LARGEST) & ~missing
    return selected.filter((weight != 0.0) | weight.is_null()).with_columns(
        (weight * weight).alias("squared"),
        nw.when(fine).then(nw.lit(0)).otherwise(nw.lit(1)).alias("bad"),
        nw.when(missing).then(nw.lit(1)).otherwise(nw.lit(0)).alias("missing"),
    )


def _grouped(rows: nw.LazyFrame[Any], resolution: int | None) -> nw.LazyFrame[Any]:
    score, sums = nw.col("score"), []
    names = rows.collect_schema().names()
    weighted = "weight" in names
    if weighted:
        sums = [nw.col(name).sum() for name in ("weight", "squared", "bad", "missing")] + [
            nw.col("weight").min().alias("least")
        ]
    if resolution is None:
        rows = rows.with_columns(score.alias("cell"))
    else:
        rounded = (score * resolution).round(0)
        # engines cast and divide differently; rounding down from the nearest integer is the same everywhere
        below = nw.when(rounded > score * resolution).then(rounded - 1.0).otherwise(rounded)
        moment = score * nw.col("weight") if weighted else score
        rows = rows.with_columns(below.alias("cell"), moment.alias("moment"))
        sums += [nw.col("moment").sum(), score.min().alias("lower"), score.max().alias("upper")]
    keys = [name for name in ("label", "group", "cell") if name in [*names, "cell"]]
    return rows.group_by(*keys).agg(nw.len().alias("count"), *sums)


# Losses of rows as expressions of a data engine, for the cost distributions that have a short closed form.

_MOST_ATOMS = 100
NO_CLOSED_FORM = (
    "have no losses that a data engine computes, as Fixed, Empirical (up to 100 values), Uniform, LogOddsUniform and "
    "sums of them have: for differences evaluate the rows in memory"
)


def expressible(costs: CostDistribution) -> bool:
    """Whether a data engine can compute the losses of rows.

    Examples
    --------
    >>> from stakes import costs
    >>> from stakes.tables import expressible
    >>> expressible(costs.Uniform(0.1, 0.4)), expressible(costs.Beta(2, 2))
    (True, False)
    """
    if isinstance(costs, Weighted):
        return all(map(expressible, costs.parts))
    return type(costs) in _FAMILIES and len(costs.atoms[0]) <= _MOST_ATOMS


def loss_expression(
    score: Any, positive: Any, costs: CostsLike, *, rule: float | str = "score", scale: Scale | None = None
) -> Any:
    """Return what each row costs as an expression of an engine, SQL or ONNX.

    Parameters
    ----------
    score : expression of narwhals, Sql or Onnx
        Probabilities.
    positive : expression of the same kind
        A condition, true for positive rows.
    costs : CostDistribution, tuple of float, or float
        ``Fixed``, ``Empirical`` (up to 100 values), ``Uniform`` and sums of them; with narwhals ``LogOddsUniform`` too.
    rule : "score" or float, default "score"
        How scores become decisions.
    scale : {"regret", "integral", "loss"}, optional
        Regret, the plain integral over the cost ratios, or the customary loss (``costs.loss_factor`` times the
        integral), as for :func:`expected_regret`. By default "regret".

    Returns
    -------
    narwhals.Expr, Sql or Onnx
        Its mean is the regret of :func:`evaluate`, or the integral or loss asked for. NULL (in ONNX NaN) where the
        score is missing or outside [0, 1], and where it is not known whether the row is positive.

    Raises
    ------
    ValueError
        For costs whose losses are no such expression, and an unknown scale.

    Examples
    --------
    >>> from stakes.tables import loss_expression, sql_column
    >>> print(loss_expression(sql_column("risk"), sql_column("cancer") >= 1, 0.25, rule=0.5))
    CASE WHEN (CASE WHEN ... IS NOT NULL) THEN CASE WHEN ... ELSE CAST('0.75' AS DOUBLE) END ... END END
    """
    measure = as_costs(costs)
    if isinstance(rule, str) and rule != "score":
        raise ValueError(f'rule must be "score" or a threshold, got {rule!r}.')
    if not expressible(measure):
        raise ValueError(f"costs={measure!r} {NO_CLOSED_FORM}.")
    score, factor = widened(score), check_scale(scale, measure)[1]
    loss = row_loss(score, positive, measure, rule if isinstance(rule, str) else check_unit(rule, "rule"))
    if factor != 1.0:
        loss = loss * factor
    return where_known(positive, decided(loss, [score], within=(0.0, 1.0)))


def row_loss(score: Any, positive: Any, costs: CostDistribution, rule: float | str) -> Any:
    """Build the integrated cost of each row as an expression, equal to that of arrays."""
    if not isinstance(rule, str):
        always, never = float(costs.negative_loss(math.inf)), float(costs.positive_loss(-math.inf))
        acting = at_least(score, rule)
        return _as_double(choose(positive, choose(acting, 0.0, never), choose(acting, always, 0.0)), score)
    if isinstance(costs, Weighted):
        parts = (row_loss(score, positive, p, rule) * float(f) for f, p in zip(costs.factors, costs.parts, strict=True))
        return reduce(add, parts)
    return _FAMILIES[type(costs)](score, positive, costs)


def _atoms(score: Any, positive: Any, costs: Any) -> Any:
    losses = []
    for value, weight in zip(*(part.tolist() for part in costs.atoms), strict=True):
        acting, waiting = value * weight, (1.0 - value) * weight
        above, below = at_least(score, value), at_most(score, value)
        negative = choose(above, choose(below, costs.tie * acting, acting), 0.0)
        missed = choose(below, choose(above, (1.0 - costs.tie) * waiting, waiting), 0.0)
        losses.append(_as_double(choose(positive, missed, negative), score))
    return reduce(add, losses)


def _as_double(loss: Any, score: Any) -> Any:
    # Ibis and SQLFrame make decimals of numbers, with other sums and without fourth powers; a score is a double
    return loss if isinstance(score, Formula) else loss + score * 0.0


def _uniform(score: Any, positive: Any, costs: Any) -> Any:
    # one expression for both classes, as for arrays: conditionals are slow in engines
    low, high = costs.low, costs.high
    if isinstance(score, Formula):
        at = choose(at_least(score, high), high, choose(at_most(score, low), low, score))
    else:
        at = score.clip(low, high)
    y, best = choose(positive, 1.0, 0.0), choose(positive, high, low)
    return (best - at) * ((y - best) + (y - at)) * 0.5


def _log_odds(score: Any, positive: Any, costs: Any) -> Any:
    """Losses at scores between the bounds, and exactly those of the constant decisions beyond them."""
    if isinstance(score, Formula):
        raise ValueError(f"costs={costs!r} take logarithms, of which SQL and ONNX are not written here.")
    always, never = float(costs.negative_loss(math.inf)), float(costs.positive_loss(-math.inf))
    inside = math.log1p(-costs.low) - _logarithm(1.0 - score), math.log(costs.high) - _logarithm(score)
    negative, missed = (
        choose(score <= costs.low, below, choose(score >= costs.high, above, loss))
        for loss, below, above in ((inside[0], 0.0, always), (inside[1], never, 0.0))
    )
    return choose(positive, missed, negative)


def _logarithm(value: nw.Expr) -> nw.Expr:
    # some engines refuse the logarithm of 0
    inside = nw.when(value > 0.0).then(value).otherwise(nw.lit(1.0)).log()
    return nw.when(value > 0.0).then(inside).otherwise(nw.lit(-math.inf))


_FAMILIES: dict[type[Any], Callable[[Any, Any, Any], Any]] = {
    Fixed: _atoms,
    Empirical: _atoms,
    Uniform: _uniform,
    LogOddsUniform: _log_odds,
}


# Sums over rows for every pair of decisions, computed by a data engine in one pass over its rows.


def sum_pairs(
    frame: nw.LazyFrame[Any],
    *,
    label: str,
    models: Iterable[str],
    costs: CostDistribution,
    rule: float | str,
    powers: Sequence[tuple[int, int]],
    weight: str | None = None,
    pos_label: object = None,
) -> dict[str, Any]:
    """Sum powers of the differences of losses for every pair of models, "treat all", "treat none" and "nothing".

    Parameters
    ----------
    frame : narwhals LazyFrame
        The rows.
    label : str
        Column with the labels.
    models : iterable of str
        Columns with probabilities.
    costs : CostDistribution
        One of those whose losses are short expressions.
    rule : "score" or float
        How scores become decisions.
    powers : sequence of (int, int)
        Powers of the weight and of the difference in each sum.
    weight : str, optional
        Column with weights.
    pos_label : object, optional
        The label of the positive class.

    Returns
    -------
    dict
        Arrays by name, with the classes and then the pairs as their last axes.

    Raises
    ------
    DataError
        For invalid values, and ValueError for costs without a short form.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> from stakes import costs
    >>> from stakes.tables import sum_pairs
    >>> frame = nw.from_native(pl.LazyFrame({"y": [0, 1], "a": [0.1, 0.8]}))
    >>> found = sum_pairs(frame, label="y", models=["a"], costs=costs.Fixed(0.5), rule="score", powers=[(1, 1)])
    >>> found["rows"].tolist()
    [1.0, 1.0]
    """
    if not expressible(costs):
        raise ValueError(f"costs={costs!r} {NO_CLOSED_FORM}.")
    roles = roles_in(frame, label=label, models=models, weight=weight, groups=None)
    rows, max_loss = rows_with_gaps(frame, roles, costs, rule, pos_label)
    sums = _collected(rows, len(roles.models), powers, weighted=weight is not None)
    if not (np.array_equal(sums["whole"], sums["rows"]) and np.all(sums["off"] == 0.0)):
        refuse(frame, roles, pos_label)
    return _assembled(sums, roles, powers, max_loss)


def refuse(frame: nw.LazyFrame[Any], roles: Roles, pos_label: object) -> NoReturn:
    """Raise the error for a model's column, as its score table would."""
    for model in roles.models:
        count_exactly(frame, Roles(roles.label, (model,), roles.weight, (), automatic=False), pos_label)
    raise Location(ordered=False).error("a score or a weight is missing or out of bounds")


def rows_with_gaps(
    frame: nw.LazyFrame[Any], roles: Roles, costs: CostDistribution, rule: float | str, pos_label: object
) -> tuple[nw.LazyFrame[Any], tuple[float, float]]:
    """Select rows of positive weight: class, weight, groups, losses and differences; also the largest cost by class."""
    max_loss = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
    rows = counted_rows(frame, roles, pos_label)
    # NULL for a missing number, and nonzero or NaN for one out of bounds (or an infinite weight). Cheaper than
    # comparisons, and DuckDB cannot answer it from the statistics of Parquet files, which leave NaN out.
    numbers = {f"s{i}": 1.0 for i in range(len(roles.models))} | ({} if roles.weight is None else {"w": LARGEST})
    off = [(nw.col(name) - nw.col(name).clip(0.0, most)).abs() for name, most in numbers.items()]
    rows = rows.with_columns(reduce(add, off).alias("off"))
    return _with_gaps(rows, len(roles.models), costs, rule, max_loss), max_loss


def counted_rows(frame: nw.LazyFrame[Any], roles: Roles, pos_label: object) -> nw.LazyFrame[Any]:
    """Check the labels; select class, scores, weight and groups of rows of positive weight under internal names."""
    check_types(frame, roles)
    counted = weighing(frame, roles)
    labels = labels_of(counted, roles, pos_label, partial(refuse, frame, roles, pos_label))
    positive = is_positive(counted, roles, labels)
    return renamed(counted, roles, nw.when(positive).then(nw.lit(1)).otherwise(nw.lit(0)))


def weighing(frame: nw.LazyFrame[Any], roles: Roles) -> nw.LazyFrame[Any]:
    """Leave out the rows of weight zero."""
    weight = roles.weight
    return frame if weight is None else frame.filter((nw.col(weight) != 0.0) | nw.col(weight).is_null())


def renamed(rows: nw.LazyFrame[Any], roles: Roles, label: nw.Expr) -> nw.LazyFrame[Any]:
    """Select label, scores, weight and groups under internal names."""
    numbers = {f"s{i}": name for i, name in enumerate(roles.models)}
    numbers |= {} if roles.weight is None else {"w": roles.weight}
    numbers |= {f"m_{name}": name for name in roles.measured}
    return rows.select(
        label.alias("y"),
        *(nw.col(name).cast(nw.Float64).alias(own) for own, name in numbers.items()),
        *(nw.col(name).alias(f"g{i}") for i, name in enumerate(roles.groups)),
    )


def is_positive(frame: nw.LazyFrame[Any], roles: Roles, labels: Iterable[tuple[Any, bool]]) -> nw.Expr:
    """Return an expression that is true for positive rows, of labels that :func:`labels_of` found."""
    mine = [label for label, positive in labels if positive]
    if not mine:
        return nw.col(roles.label).is_null()  # no row is
    value, label = mine[0], nw.col(roles.label)
    if isinstance(value, int) and not isinstance(value, bool):  # as floats, integers of 17 digits may be equal
        return (label if frame.collect_schema()[roles.label].is_integer() else label.cast(nw.Int64)) == value
    kind = nw.String if isinstance(value, str) else nw.Float64
    return label.cast(kind) == (value if kind is nw.String else float(value))


def labels_of(
    frame: nw.LazyFrame[Any], roles: Roles, pos_label: object, refuse: Callable[[], NoReturn]
) -> list[tuple[Any, bool]]:
    """Check the labels and return each with whether it is positive."""
    found = run(frame.select(nw.col(roles.label).alias("label")).group_by("label").agg(nw.len().alias("count")))
    origin = Location(ordered=False)
    values, codes = encode_labels(found["label"].alias(roles.label), origin)
    if not len(codes) or np.any(codes < 0):
        refuse()
    try:
        is_positive = positive_labels(values, codes, pos_label, origin, roles.label)
    except DataError:
        refuse()
    return [(values[code], bool(positive)) for code, positive in zip(codes, is_positive, strict=True)]


def other_label(
    frame: Any, *, label: str, models: Sequence[str], weight: str | None = None, pos_label: object = None
) -> str | float | None:
    """Return the label beside the positive one of the rows that count, None where all are positive.

    Parameters
    ----------
    frame : lazy frame of any engine
        The rows.
    label, weight : str
        Columns with the labels and with weights.
    models : sequence of str
        Columns with probabilities.
    pos_label : object, optional
        The label of the positive class.

    Returns
    -------
    str, int, float or None

    Raises
    ------
    DataError
        For labels that are missing or more than two.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.tables import other_label
    >>> other_label(pl.LazyFrame({"y": [2, 1, 1], "a": [0.1, 0.8, 0.2]}), label="y", models=["a"], pos_label=1)
    2
    """
    native = from_native(frame).lazy()
    roles = roles_in(native, label=label, models=models, weight=weight, groups=None)
    found = labels_of(weighing(native, roles), roles, pos_label, partial(refuse, native, roles, pos_label))
    return next((plain_label(each) for each, positive in found if not positive), None)


def _with_gaps(
    rows: nw.LazyFrame[Any], models: int, costs: CostDistribution, rule: float | str, max_loss: tuple[float, float]
) -> nw.LazyFrame[Any]:
    """Add each model's loss, its loss minus the class's largest cost, and the differences between models."""
    is_positive = nw.col("y") == 1
    constant = choose(is_positive, max_loss[1], max_loss[0])
    rows = rows.with_columns(
        *(row_loss(nw.col(f"s{i}"), is_positive, costs, rule).alias(f"l{i}") for i in range(models))
    )
    return rows.with_columns(
        *((nw.col(f"l{i}") - constant).alias(f"e{i}") for i in range(models)),
        *((nw.col(f"l{i}") - nw.col(f"l{j}")).alias(f"d{i}_{j}") for i, j in combinations(range(models), 2)),
    )


def _collected(
    rows: nw.LazyFrame[Any], models: int, powers: Sequence[tuple[int, int]], *, weighted: bool
) -> dict[str, Any]:
    """Collect sums by class: of powers of w, of weighted powers of every difference, and of its nonzero rows."""
    gaps, apart = gap_names(models), combinations(range(models), 2)
    terms: dict[str, nw.Expr] = {f"a{i}_{j}": _is(nw.col(f"s{i}") != nw.col(f"s{j}")) for i, j in apart}
    terms["off"] = nw.col("off")
    for gap in gaps:
        terms[f"c{gap}"] = _is((nw.col(gap) != 0.0) & ~is_nan(nw.col(gap)))  # two infinite losses have no difference
        for a, b in powers if weighted else [(1, b) for b in {b for _, b in powers}]:
            if b:
                terms[f"p{a}_{b}_{gap}"] = _power(nw.col(gap), b, a if weighted else 0)
    if weighted:
        terms |= {f"w{a}": _power(nw.lit(1.0), 0, a) for a in {a for a, _ in powers}}
    table = rows.select("y", *(term.alias(name) for name, term in terms.items()))
    sums = nw.len().alias("rows"), nw.col("off").count().alias("whole"), *(nw.col(name).sum() for name in terms)
    both = {name: np.zeros(2) for name in ("rows", "whole", *terms)}
    for found in _by_class(table, sums):
        place = found["y"].to_numpy().astype(np.intp)
        for name, values in both.items():
            values[place] = found[name].cast(nw.Float64).to_numpy()
    if not weighted:  # where every weight is one, its powers are too
        both |= {f"w{a}": both["rows"] for a, _ in powers}
        both |= {f"p{a}_{b}_{gap}": both[f"p1_{b}_{gap}"] for a, b in powers if b for gap in gaps}
    return both


def gap_names(models: int) -> list[str]:
    """Names of the columns of a model's loss, its loss minus the class's largest cost, and a difference of two."""
    alone = [f"{kind}{i}" for kind in "le" for i in range(models)]
    return alone + [f"d{i}_{j}" for i, j in combinations(range(models), 2)]


def pair_gaps(models: int, max_loss: tuple[float, float]) -> list[tuple[str, str] | tuple[float, float]]:
    """Loss differences of every pair of decisions by class: a column, or one number for all rows.

    "Treat all" and "treat none" cost one class the most, and the other nothing.
    """
    found: list[tuple[str, str] | tuple[float, float]] = []
    for i, j in combinations(range(models + 3), 2):
        if j < models:
            found.append((f"d{i}_{j}", f"d{i}_{j}"))
        elif i < models:
            found.append((f"{'e' if j == models else 'l'}{i}", f"{'e' if j == models + 1 else 'l'}{i}"))
        else:
            signs = [(i - models == k) - (j - models == k) for k in (0, 1)]
            gaps = [sign * cost if sign else 0.0 for sign, cost in zip(signs, max_loss, strict=True)]
            found.append((gaps[0], gaps[1]))
    return found


def _by_class(table: nw.LazyFrame[Any], sums: Sequence[nw.Expr]) -> Iterator[nw.DataFrame[Any]]:
    """Sum by class; in polars, filtered sums are faster than a group-by with two groups."""
    if not table.implementation.is_polars():
        yield run(table.group_by("y").agg(*sums))
        return
    for k in (0, 1):
        yield run(table.filter(nw.col("y") == k).select(nw.lit(k).alias("y"), *sums))


def _assembled(
    sums: dict[str, Any], roles: Roles, powers: Sequence[tuple[int, int]], max_loss: tuple[float, float]
) -> dict[str, Any]:
    """Assemble the sums of every pair in order."""
    models, columns, carriers, apart = len(roles.models), [], [], []
    for (i, j), gaps in zip(combinations(range(models + 3), 2), pair_gaps(models, max_loss), strict=True):
        if isinstance(gaps[0], str):
            columns.append(
                [_classes(*(sums[f"p{a}_{b}_{n}"] for n in gaps)) if b else sums[f"w{a}"] for a, b in powers]
            )
            carriers.append(_classes(*(sums[f"c{n}"] for n in gaps)))
        else:
            columns.append([_constant(sums[f"w{a}"], gaps, b) for a, b in powers])
            carriers.append(np.where(np.array(gaps) != 0.0, sums["rows"], 0.0))
        apart.append(sums[f"a{i}_{j}"] if j < models else carriers[-1])
    stacked = np.moveaxis(np.array(columns), 0, -1)
    return {
        "rows": sums["rows"],
        "mass": sums["w1"],
        "powers": stacked,
        "carriers": np.stack(carriers, axis=-1),
        "apart": np.stack(apart, axis=-1),
    }


def _classes(negatives: Any, positives: Any) -> Any:
    """Combine the sum of the negatives and that of the positives."""
    return np.array([negatives[0], positives[1]])


def _constant(weights: Any, gaps: Sequence[float], power: int) -> Any:
    """Sums of a constant difference; infinite differences of weight zero are ignored."""
    return np.array([float(w) * gap**power if w else 0.0 for w, gap in zip(weights, gaps, strict=True)])


def _power(gap: nw.Expr, b: int, a: int) -> nw.Expr:
    return reduce(mul, [nw.col("w")] * a + [gap] * b)


def _is(condition: nw.Expr) -> nw.Expr:
    # a conditional is slower in DuckDB, and in polars the type of the sum follows the input
    return condition.cast(nw.Int8)


# Sums for leave-one-cluster-out errors, computed by a data engine without collecting rows or clusters.


def sum_clusters(
    frame: nw.LazyFrame[Any],
    *,
    label: str,
    models: Iterable[str],
    clusters: str,
    costs: CostDistribution,
    rule: float | str,
    centres: Floats,
    shares: Floats,
    prevalence: float | None = None,
    most: Floats | None = None,
    weight: str | None = None,
    pos_label: object = None,
) -> dict[str, Floats]:
    """Sum over clusters powers of what leaving out each of them changes in the differences of :func:`sum_pairs`.

    Parameters
    ----------
    frame : narwhals LazyFrame
        The rows, which ``sum_pairs`` found to be fine.
    label : str
        Column with the labels.
    models : iterable of str
        Columns with probabilities.
    clusters : str
        Column of what only differs independently.
    costs : CostDistribution
        One of those whose losses are short expressions.
    rule : "score" or float
        How scores become decisions.
    centres : ndarray of shape (2, p)
        What the differences of each class are centred on, by pair.
    shares : ndarray of shape (2,)
        Part of a weight of one in all weight, by class.
    prevalence : float, optional
        The stated share of positives: without a cluster, the rest of its own is left of each class.
    most : ndarray of shape (2, p), optional
        The largest difference that a row of each class can have, by pair; given with a stated prevalence.
    weight : str, optional
        Column with weights.
    pos_label : object, optional
        The label of the positive class.

    Returns
    -------
    dict
        Number of ``clusters``, ``largest``, ``second`` and ``fourth`` powers of their shares, the largest share
        ``largest_of`` each class, ``rows`` of each class and their ``squares``, clusters that ``have`` each class; by
        pair the ``moved`` powers, and by class and pair the number and the powers of the sums that ``carry`` it; with
        ``most``, also the squares of what they are ``lacking`` to it, and of it.

    Raises
    ------
    DataError
        For rows without a cluster.

    Examples
    --------
    >>> import narwhals as nw
    >>> import numpy as np
    >>> import polars as pl
    >>> from stakes import costs
    >>> from stakes.tables import sum_clusters
    >>> frame = nw.from_native(pl.LazyFrame({"y": [0, 1, 0, 1], "a": [0.1, 0.8, 0.6, 0.3], "of": ["x", "x", "y", "z"]}))
    >>> asked = {"label": "y", "models": ["a"], "clusters": "of", "costs": costs.Fixed(0.5), "rule": "score"}
    >>> found = sum_clusters(frame, **asked, centres=np.zeros((2, 6)), shares=np.full(2, 0.25))
    >>> float(found["clusters"]), float(found["largest"]), found["have"].tolist()
    (3.0, 0.5, [2.0, 2.0])
    """
    roles = roles_in(frame, label=label, models=models, weight=weight, groups=[clusters])
    rows, max_loss = rows_with_gaps(frame, roles, costs, rule, pos_label)
    missing = choose(is_missing(nw.col("g0"), frame.collect_schema()[clusters]), 1, 0)
    names, gaps = gap_names(len(roles.models)), pair_gaps(len(roles.models), max_loss)
    each = _each_cluster(rows, names, missing, weighted=weight is not None)
    signed = None if most is None else np.copysign(most, centres)
    how: dict[str, Any] = {"prevalence": prevalence, "most": signed, "weighted": weight is not None}
    sums = _sums(each, names, gaps, centres, shares, **how)
    found = {name: float(values[0]) for name, values in run(sums).to_dict(as_series=False).items()}
    total = int(found["n0"] + found["n1"])
    if found["gone"]:
        details: dict[str, Any] = {"count": int(found["gone"]), "total": total, "hint": INCOMPLETE_HINT}
        raise Location(ordered=False).error("must not be missing", column=clusters, **details)
    return _assembled_clusters(found, gaps, signed)


def why_clusters_need_rows(costs: CostDistribution, rule: float | str, groups: Sequence[str] | None) -> str:
    """Why an engine cannot compute cluster-robust errors; "" if it can.

    Examples
    --------
    >>> from stakes import costs
    >>> from stakes.tables import why_clusters_need_rows
    >>> why_clusters_need_rows(costs.Fixed(0.3), "optimal", None)
    'clusters= with rule="optimal" needs the rows'
    """
    if rule == "optimal":
        return 'clusters= with rule="optimal" needs the rows'
    if groups:
        return "clusters= with groups= needs the rows"
    return "" if expressible(costs) else f"clusters= with costs={costs!r} needs the rows"


def _each_cluster(
    rows: nw.LazyFrame[Any], names: Sequence[str], missing: nw.Expr, *, weighted: bool
) -> nw.LazyFrame[Any]:
    """Aggregate by cluster: sums by class of rows, weights and weighted differences."""
    terms = {"gone": missing}
    for k in (0, 1):
        mine = nw.col("y") == k
        terms[f"n{k}"] = choose(mine, 1, 0)
        if weighted:
            terms[f"m{k}"] = choose(mine, nw.col("w"), 0.0)
        for name in names:
            terms[f"x{k}_{name}"] = choose(mine, nw.col("w") * nw.col(name) if weighted else nw.col(name), 0.0)
    table = rows.select("g0", *(term.alias(name) for name, term in terms.items()))
    return table.group_by("g0").agg(*(nw.col(name).sum() for name in terms))


def _sums(
    table: nw.LazyFrame[Any],
    names: Sequence[str],
    gaps: Gaps,
    centres: Floats,
    shares: Floats,
    *,
    prevalence: float | None,
    most: Floats | None,
    weighted: bool,
) -> nw.LazyFrame[Any]:
    """Aggregate over all clusters into one row."""
    mass = [nw.col(f"{'m' if weighted else 'n'}{k}").cast(nw.Float64) for k in (0, 1)]
    share = reduce(add, (float(part) * its for part, its in zip(shares, mass, strict=True)))
    table = table.with_columns(share.alias("share"), (nw.col("n0") + nw.col("n1")).cast(nw.Float64).alias("size"))
    share_of = [nw.col("share")] * 2
    if prevalence is not None:
        stated = 1.0 - prevalence, prevalence
        share_of = [mine * float(part / whole) for mine, part, whole in zip(mass, shares, stated, strict=True)]
    # what one cluster holds alone has no interval
    rest = [choose(its < 1.0, 1.0 - its, 1.0).alias(f"rest{k}") for k, its in enumerate(share_of)]
    table = table.with_columns(*rest)
    moved = {}
    for at, pair in enumerate(gaps):
        parts = []
        for k, gap in enumerate(pair):
            centre, part = float(centres[k, at]), float(shares[k])
            if isinstance(gap, str):
                parts.append((nw.col(f"x{k}_{gap}") - centre * mass[k]) * part / nw.col(f"rest{k}"))
            else:
                parts.append(mass[k] * ((gap - centre) * part) / nw.col(f"rest{k}"))
        moved[f"u{at}"] = reduce(add, parts)
    table = table.with_columns(*(value.alias(name) for name, value in moved.items()))
    terms = {"largest": nw.col("share").max(), "gone": nw.col("gone").sum()}
    for name in ("share", "size", *moved):
        squares = nw.col(name) * nw.col(name)
        terms |= {f"{name}_2": squares.sum(), f"{name}_4": (squares * squares).sum()}
    for k in (0, 1):
        terms |= {f"n{k}": nw.col(f"n{k}").sum(), f"has{k}": (nw.col(f"n{k}") > 0).cast(nw.Int8).sum()}
        terms |= {f"most{k}": mass[k].max(), f"mass{k}": mass[k].sum()}
        values = {name: nw.col(f"x{k}_{name}") for name in names} | {"": mass[k]}
        for name, value in values.items():
            squares = value * value
            terms |= {f"k{k}_{name}": (value != 0.0).cast(nw.Int8).sum(), f"k{k}_{name}_2": squares.sum()}
            terms[f"k{k}_{name}_4"] = (squares * squares).sum()
    terms |= {} if most is None else _lacking(gaps, most, mass)
    return table.select(nw.len().alias("clusters"), *(term.alias(name) for name, term in terms.items()))


def _lacking(gaps: Gaps, most: Floats, mass: Sequence[nw.Expr]) -> dict[str, nw.Expr]:
    """Squares of what the rows of each class of a cluster are lacking to the largest difference, by pair."""
    terms = {}
    for at, pair in enumerate(gaps):
        for k, gap in enumerate(pair):
            found = nw.col(f"x{k}_{gap}") if isinstance(gap, str) else mass[k] * gap
            lacking = mass[k] * float(most[k, at]) - found
            terms[f"lack{k}_{at}"] = (lacking * lacking).sum()
    return terms


def _assembled_clusters(found: dict[str, float], gaps: Gaps, most: Floats | None) -> dict[str, Floats]:
    carry = np.zeros((3, 2, len(gaps)))
    for at, pair in enumerate(gaps):
        for k, gap in enumerate(pair):
            name, by = (gap, 1.0) if isinstance(gap, str) else ("", gap)
            sums = (found[f"k{k}_{name}{power}"] for power in ("", "_2", "_4"))
            powers = zip(sums, (0, 2, 4), strict=True)
            carry[:, k, at] = [one * by**power if by and one else 0.0 for one, power in powers]
    moved = [[found[f"u{at}_{power}"] for at in range(len(gaps))] for power in (2, 4)]
    told = {"clusters": "clusters", "largest": "largest", "second": "share_2", "fourth": "share_4", "squares": "size_2"}
    both, lacking = {"rows": "n", "have": "has"}, {}
    if most is not None:
        squares = [[found[f"lack{k}_{at}"] for at in range(len(gaps))] for k in (0, 1)]
        lacking["lacking"] = np.array([squares, most**2 * np.array([[found["k0__2"]], [found["k1__2"]]])])
    return {
        **{name: np.array(found[column]) for name, column in told.items()},
        **{name: np.array([found[f"{column}{k}"] for k in (0, 1)]) for name, column in both.items()},
        "largest_of": np.array([found[f"most{k}"] / (found[f"mass{k}"] or 1.0) for k in (0, 1)]),
        "moved": np.array(moved),
        "carry": carry,
        **lacking,
    }
