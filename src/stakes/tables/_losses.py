"""What the rows of each model cost, its squares and what their scores promise, summed by a data engine in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.base.validation import is_missing
from stakes.outputs.hooks import nw
from stakes.tables._columns import run
from stakes.tables._engines import expressible, row_loss, rows_with_gaps
from stakes.tables._predictions import frame_columns, from_native, roles_in

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
    groups: Sequence[str] = (),
) -> dict[tuple[str, str | None, Any], dict[str, float]] | None:
    """Sum the integrated cost of each row, its square and its promise, for each model and in each group.

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
    groups : sequence of str, default ()
        Columns of groups: one more query each.

    Returns
    -------
    dict or None
        By model, column of groups and group (None and None for all rows) ``n``, ``total``, ``squares`` and
        ``promised``; None for costs whose losses no engine can compute.

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
    >>> found = sum_losses(frame, label="y", models=["a"], costs=costs.Fixed(0.5))["a", None, None]
    >>> {name: round(value, 12) for name, value in found.items()}
    {'n': 3, 'total': 0.5, 'squares': 0.25, 'promised': 0.25}
    """
    if not expressible(costs):
        return None
    native = from_native(frame).lazy()
    roles = roles_in(native, label=label, models=models, weight=None, groups=groups)
    rows, _ = rows_with_gaps(native, roles, costs, rule, pos_label)
    sums = {"n": nw.len(), "whole": nw.col("off").count(), "off": nw.col("off").sum()}
    for i in range(len(models)):
        score, loss = nw.col(f"s{i}"), nw.col(f"l{i}")
        positive, negative = (row_loss(score, nw.col("y") >= least, costs, rule) for least in (0, 2))
        promise = score * positive + (1.0 - score) * negative
        sums |= {f"total{i}": loss.sum(), f"squares{i}": (loss * loss).sum(), f"promised{i}": promise.sum()}
    asked = [expression.alias(name) for name, expression in sums.items()]
    lines: list[tuple[str | None, Any, dict[str, Any]]] = [
        (None, None, line) for line in run(rows.select(*asked)).iter_rows(named=True)
    ]
    for place, column in enumerate(groups):
        table = run(rows.group_by(nw.col(f"g{place}").alias("group")).agg(*asked))
        lines += [(column, line["group"], line) for line in table.iter_rows(named=True)]
    if any(line["whole"] != line["n"] or line["off"] != 0.0 for _, _, line in lines) or any(
        is_missing(group) for column, group, _ in lines if column is not None
    ):
        frame_columns(frame, label=label, models=models, pos_label=pos_label, groups=groups)  # which names the value
    each = ("total", "squares", "promised")
    return {
        (model, column, group): {"n": int(line["n"]), **{key: float(line[f"{key}{i}"]) for key in each}}
        for column, group, line in lines
        for i, model in enumerate(models)
    }
