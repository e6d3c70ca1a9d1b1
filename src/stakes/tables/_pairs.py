"""Sums over rows for every pair of decisions, made by a data engine in one pass: the rows stay where they are."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from stakes.tables._errors import Origin
from stakes.tables._groups import group_scores, run
from stakes.tables._losses import NO_CLOSED_FORM, expressible, row_loss
from stakes.tables._roles import choose_roles
from stakes.tables._rows import column_names
from stakes.tables._values import encode_labels, positive_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    positive = _positive(frame, roles, pos_label)
    rows = _with_gaps(_rows(frame, roles, positive), len(roles.models), costs, rule)
    return _collected(rows, len(roles.models), powers, weighted=weight is not None)


def _positive(frame: nw.LazyFrame[Any], roles: Roles, pos_label: object) -> nw.Expr:
    """An expression that is true for positive rows, once every value has been looked at."""
    bad = [_bad(nw.col(name).cast(nw.Float64), 1.0).alias(f"bad{i}") for i, name in enumerate(roles.models)]
    if roles.weight is not None:
        # not more than the largest number: infinity is no weight
        bad.append(_bad(nw.col(roles.weight).cast(nw.Float64), float(np.finfo(float).max)).alias("bad"))
    seen = frame.select(nw.col(roles.label).alias("label"), *bad)
    names = [name for name in seen.collect_schema().names() if name != "label"]
    found = run(seen.group_by("label").agg(nw.len().alias("count"), *(nw.col(name).sum() for name in names)))
    for model in roles.models:
        if any(found[name].sum() for name in names) or found["label"].null_count():
            group_scores(frame, label=roles.label, score=model, weight=roles.weight, pos_label=pos_label)
    origin = Origin(ordered=False)
    values, codes = encode_labels(found["label"].alias(roles.label), origin)
    if not len(codes):
        raise origin.error("there are no rows")
    is_positive = positive_labels(values, codes, pos_label, origin, roles.label)
    mine = [values[code] for code, yes in zip(codes, is_positive, strict=True) if yes]
    if not mine:
        return nw.col(roles.label).is_null()  # no row is
    kind = nw.String if isinstance(mine[0], str) else nw.Float64
    return nw.col(roles.label).cast(kind) == (mine[0] if kind is nw.String else float(mine[0]))


def _bad(value: nw.Expr, most: float) -> nw.Expr:
    fine = (value >= 0.0) & (value <= most)
    return nw.when(fine).then(nw.lit(0)).otherwise(nw.lit(1))


def _rows(frame: nw.LazyFrame[Any], roles: Roles, positive: nw.Expr) -> nw.LazyFrame[Any]:
    """Class, scores and weight of the rows that count, under names of our own."""
    chosen = [nw.col(name).cast(nw.Float64).alias(f"s{i}") for i, name in enumerate(roles.models)]
    if roles.weight is not None:
        chosen.append(nw.col(roles.weight).cast(nw.Float64).alias("w"))
    rows = frame.select(nw.when(positive).then(nw.lit(1)).otherwise(nw.lit(0)).alias("y"), *chosen)
    return rows if roles.weight is None else rows.filter(nw.col("w") > 0.0)


def _with_gaps(rows: nw.LazyFrame[Any], models: int, costs: CostDistribution, rule: float | str) -> nw.LazyFrame[Any]:
    """Add the loss of every model, then the difference of every pair; the constant decisions cost a class alike."""
    is_positive = nw.col("y") == 1
    always, never = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
    constants = [
        nw.when(is_positive).then(nw.lit(0.0)).otherwise(nw.lit(always)),
        nw.when(is_positive).then(nw.lit(never)).otherwise(nw.lit(0.0)),
        nw.lit(0.0),
    ]
    rows = rows.with_columns(
        *(row_loss(nw.col(f"s{i}"), is_positive, costs, rule).alias(f"l{i}") for i in range(models)),
        *(loss.alias(f"l{i}") for i, loss in enumerate(constants, start=models)),
    )
    gaps = {(i, j): nw.col(f"l{i}") - nw.col(f"l{j}") for i, j in combinations(range(models + 3), 2)}
    return rows.with_columns(*(gap.alias(f"d{i}_{j}") for (i, j), gap in gaps.items()))


def _collected(
    rows: nw.LazyFrame[Any], models: int, powers: Sequence[tuple[int, int]], *, weighted: bool
) -> dict[str, Any]:
    pairs = list(combinations(range(models + 3), 2))
    terms: dict[str, nw.Expr] = {"mass": nw.col("w") if weighted else nw.lit(1.0)}
    for i, j in pairs:
        gap = nw.col(f"d{i}_{j}")
        terms |= {
            f"p{a}_{b}_{i}_{j}": _power(gap, b, a if weighted else 0) for a, b in _needed(powers, weighted=weighted)
        }
        terms[f"c{i}_{j}"] = _is(gap != 0.0)
        if j < models:
            terms[f"a{i}_{j}"] = _is(nw.col(f"s{i}") != nw.col(f"s{j}"))
    table = rows.select("y", *(term.alias(name) for name, term in terms.items()))
    found = run(table.group_by("y").agg(nw.len().alias("rows"), *(nw.col(name).sum() for name in terms)))
    place = found["y"].to_numpy().astype(np.intp)

    def column(name: str) -> Any:
        both = np.zeros(2)
        both[place] = found[name].cast(nw.Float64).to_numpy()
        return both

    def sums(a: int, b: int) -> Any:
        names = [f"p{a if weighted else 1}_{b}_{i}_{j}" for i, j in pairs]
        return np.stack([column("rows" if b == 0 and not weighted else name) for name in names], axis=-1)

    return {
        "rows": column("rows"),
        "mass": column("mass"),
        "powers": np.stack([sums(a, b) for a, b in powers]),
        "carriers": np.stack([column(f"c{i}_{j}") for i, j in pairs], axis=-1),
        "apart": np.stack([column(f"{'a' if j < models else 'c'}{i}_{j}") for i, j in pairs], axis=-1),
    }


def _needed(powers: Sequence[tuple[int, int]], *, weighted: bool) -> list[tuple[int, int]]:
    """Powers without those that say the same where every weight is one."""
    return list(powers) if weighted else sorted({(1, b) for _, b in powers if b})


def _power(gap: nw.Expr, b: int, a: int) -> nw.Expr:
    term = nw.col("w") if a else gap
    for _ in range(a - 1):
        term = term * nw.col("w")
    for _ in range(b if a else b - 1):
        term = term * gap
    return term


def _is(condition: nw.Expr) -> nw.Expr:
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))
