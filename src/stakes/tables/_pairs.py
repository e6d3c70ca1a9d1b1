"""Sums over rows for every pair of decisions, made by a data engine in one pass: the rows stay where they are."""

from __future__ import annotations

from functools import partial, reduce
from itertools import combinations
from operator import add, mul
from typing import TYPE_CHECKING, Any, NoReturn

import narwhals.stable.v2 as nw
import numpy as np

from stakes.core.expressions import LARGEST, choose
from stakes.tables._collect import run
from stakes.tables._errors import DataError, Origin
from stakes.tables._groups import group_scores
from stakes.tables._losses import NO_CLOSED_FORM, expressible, row_loss
from stakes.tables._roles import choose_roles
from stakes.tables._rows import column_names
from stakes.tables._values import encode_labels, positive_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from stakes.costs import CostDistribution
    from stakes.tables._roles import Roles


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
    roles = choose_roles(column_names(frame), (), label=label, models=models, weight=weight, groups=None)
    rows, worst = rows_with_gaps(frame, roles, costs, rule, pos_label)
    sums = _collected(rows, len(roles.models), powers, weighted=weight is not None)
    if not (np.array_equal(sums["whole"], sums["rows"]) and np.all(sums["off"] == 0.0)):
        _refuse(frame, roles, pos_label)
    return _assembled(sums, roles, powers, worst)


def _refuse(frame: nw.LazyFrame[Any], roles: Roles, pos_label: object) -> NoReturn:
    """Say what is wrong with a model's column, in the words of its table."""
    for model in roles.models:
        group_scores(frame, label=roles.label, score=model, weight=roles.weight, pos_label=pos_label)
    raise Origin(ordered=False).error("a score or a weight is missing or out of bounds")


def rows_with_gaps(
    frame: nw.LazyFrame[Any], roles: Roles, costs: CostDistribution, rule: float | str, pos_label: object
) -> tuple[nw.LazyFrame[Any], tuple[float, float]]:
    """Rows that count: class, weight, groups, losses and differences; and the most that each class can cost."""
    weight, worst = roles.weight, (float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf)))
    counted = frame if weight is None else frame.filter((nw.col(weight) != 0.0) | nw.col(weight).is_null())
    rows = _rows(counted, roles, _positive(counted, roles, pos_label, partial(_refuse, frame, roles, pos_label)))
    return _with_gaps(rows, len(roles.models), costs, rule, worst), worst


def _positive(frame: nw.LazyFrame[Any], roles: Roles, pos_label: object, refuse: Callable[[], NoReturn]) -> nw.Expr:
    """An expression that is true for positive rows, once every label has been looked at."""
    found = run(frame.select(nw.col(roles.label).alias("label")).group_by("label").agg(nw.len().alias("count")))
    origin = Origin(ordered=False)
    values, codes = encode_labels(found["label"].alias(roles.label), origin)
    if not len(codes) or np.any(codes < 0):
        refuse()
    try:
        is_positive = positive_labels(values, codes, pos_label, origin, roles.label)
    except DataError:
        refuse()
    mine = [values[code] for code, yes in zip(codes, is_positive, strict=True) if yes]
    if not mine:
        return nw.col(roles.label).is_null()  # no row is
    kind = nw.String if isinstance(mine[0], str) else nw.Float64
    return nw.col(roles.label).cast(kind) == (mine[0] if kind is nw.String else float(mine[0]))


def _rows(frame: nw.LazyFrame[Any], roles: Roles, positive: nw.Expr) -> nw.LazyFrame[Any]:
    """Class, scores and weight of the rows that count, under names of our own, and what tells whether they are fine."""
    chosen = {f"s{i}": nw.col(name).cast(nw.Float64) for i, name in enumerate(roles.models)}
    if roles.weight is not None:
        chosen["w"] = nw.col(roles.weight).cast(nw.Float64)
    rows = frame.select(
        nw.when(positive).then(nw.lit(1)).otherwise(nw.lit(0)).alias("y"),
        *(value.alias(name) for name, value in chosen.items()),
        *(nw.col(name).alias(f"g{i}") for i, name in enumerate(roles.groups)),
    )
    # Missing where a number is; not zero, or NaN, where one is out of bounds: infinity is no weight. Cheaper than to
    # compare, and DuckDB cannot answer it from the statistics of Parquet files, which leave NaN out.
    off = [(nw.col(name) - nw.col(name).clip(0.0, LARGEST if name == "w" else 1.0)).abs() for name in chosen]
    return rows.with_columns(reduce(add, off).alias("off"))


def _with_gaps(
    rows: nw.LazyFrame[Any], models: int, costs: CostDistribution, rule: float | str, worst: tuple[float, float]
) -> nw.LazyFrame[Any]:
    """Add the loss of every model, that less the most that its class can cost, and the differences between models."""
    is_positive = nw.col("y") == 1
    constant = choose(is_positive, worst[1], worst[0])
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
    """Sums of each class by name: of powers of w, of weighted powers of every difference, and of what carries it."""
    gaps, apart = gap_names(models), [f"{i}_{j}" for i, j in combinations(range(models), 2)]
    terms: dict[str, nw.Expr] = {f"a{pair}": _differ(*pair.split("_")) for pair in apart}
    terms["off"] = nw.col("off")
    for gap in gaps:
        terms[f"c{gap}"] = _is(nw.col(gap) != 0.0)
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
    """Columns with a model's loss, with that less the most its class can cost, and with the difference of two."""
    alone = [f"{kind}{i}" for kind in "le" for i in range(models)]
    return alone + [f"d{i}_{j}" for i, j in combinations(range(models), 2)]


def pair_gaps(models: int, worst: tuple[float, float]) -> list[tuple[str, str] | tuple[float, float]]:
    """What differs between the decisions of every pair, in order, for each class: a column, or one number for all rows.

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
            gaps = [sign * cost if sign else 0.0 for sign, cost in zip(signs, worst, strict=True)]
            found.append((gaps[0], gaps[1]))
    return found


def _by_class(table: nw.LazyFrame[Any], sums: Sequence[nw.Expr]) -> Iterator[nw.DataFrame[Any]]:
    """Sum over each class; polars takes less to add whole columns of one class than of two groups."""
    if not table.implementation.is_polars():
        yield run(table.group_by("y").agg(*sums))
        return
    for k in (0, 1):
        yield run(table.filter(nw.col("y") == k).select(nw.lit(k).alias("y"), *sums))


def _assembled(
    sums: dict[str, Any], roles: Roles, powers: Sequence[tuple[int, int]], worst: tuple[float, float]
) -> dict[str, Any]:
    """Sums of every pair in order."""
    models, columns, carriers, apart = len(roles.models), [], [], []
    for (i, j), gaps in zip(combinations(range(models + 3), 2), pair_gaps(models, worst), strict=True):
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
    """The negatives' sum of one and the positives' of the other."""
    return np.array([negatives[0], positives[1]])


def _constant(weights: Any, gaps: Sequence[float], power: int) -> Any:
    """Sums over rows that all differ alike; an infinite difference that no row has counts nothing."""
    return np.array([float(w) * gap**power if w else 0.0 for w, gap in zip(weights, gaps, strict=True)])


def _differ(i: str, j: str) -> nw.Expr:
    return _is(nw.col(f"s{i}") != nw.col(f"s{j}"))


def _power(gap: nw.Expr, b: int, a: int) -> nw.Expr:
    factors = [nw.col("w")] * a + [gap] * b
    return reduce(mul, factors)


def _is(condition: nw.Expr) -> nw.Expr:
    # a choice between 1 and 0 takes DuckDB longer, and of a wider type polars keeps the width of the sum
    return condition.cast(nw.Int8)
