"""What the rows of each model cost, its squares and what their scores promise, summed by a data engine in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from stakes.tables._columns import choose_roles, run
from stakes.tables._engines import expressible, row_loss, rows_with_gaps
from stakes.tables._predictions import column_names, frame_columns, from_native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.costs import CostDistribution


def sum_losses(
    frame: Any,
    *,
    label: str,
    models: Sequence[str],
    costs: CostDistribution,
    rule: float | str = "score",
    pos_label: object = None,
) -> dict[str, dict[str, float]] | None:
    """Sum the integrated cost of each row, its square and its promise, for each model.

    Parameters
    ----------
    frame : lazy frame of any engine
        The rows.
    label : str
        Column with the labels.
    models : sequence of str
        Columns with probabilities.
    costs : CostDistribution
        How much each cost ratio counts.
    rule : "score" or float, default "score"
        How scores become decisions.
    pos_label : object, optional
        The label of the positive class.

    Returns
    -------
    dict or None
        By model ``n``, ``total``, ``squares`` and ``promised``; None for costs whose losses no engine can compute.

    Raises
    ------
    DataError
        For invalid or missing values.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes import costs
    >>> from stakes.tables import sum_losses
    >>> frame = pl.LazyFrame({"y": [0, 1, 1], "a": [0.1, 0.8, 0.2]})
    >>> found = sum_losses(frame, label="y", models=["a"], costs=costs.Fixed(0.5))["a"]
    >>> {name: round(value, 12) for name, value in found.items()}
    {'n': 3, 'total': 0.5, 'squares': 0.25, 'promised': 0.25}
    """
    if not expressible(costs):
        return None
    native = from_native(frame).lazy()
    roles = choose_roles(column_names(native), (), label=label, models=models, weight=None, groups=None)
    rows, _ = rows_with_gaps(native, roles, costs, rule, pos_label)
    sums = {"n": nw.len(), "whole": nw.col("off").count(), "off": nw.col("off").sum()}
    for i in range(len(models)):
        score, loss = nw.col(f"s{i}"), nw.col(f"l{i}")
        positive, negative = (row_loss(score, nw.col("y") >= least, costs, rule) for least in (0, 2))
        promise = score * positive + (1.0 - score) * negative
        sums |= {f"total{i}": loss.sum(), f"squares{i}": (loss * loss).sum(), f"promised{i}": promise.sum()}
    found = {name: values[0] for name, values in _row(rows, sums).items()}
    if found["whole"] != found["n"] or found["off"] != 0.0:
        frame_columns(frame, label=label, models=models, pos_label=pos_label)  # which names the value
    each = ("total", "squares", "promised")
    return {
        name: {"n": int(found["n"]), **{key: float(found[f"{key}{i}"]) for key in each}}
        for i, name in enumerate(models)
    }


def _row(rows: nw.LazyFrame[Any], sums: dict[str, nw.Expr]) -> dict[str, list[Any]]:
    table = run(rows.select(*(sum_.alias(name) for name, sum_ in sums.items())))
    return {name: table[name].to_list() for name in sums}
