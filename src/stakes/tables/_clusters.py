"""What leaving out each cluster changes, summed by a data engine: neither rows nor clusters leave it."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from stakes.core.expressions import choose
from stakes.tables._collect import run
from stakes.tables._errors import Origin
from stakes.tables._losses import expressible
from stakes.tables._pairs import gap_names, pair_gaps, rows_with_gaps
from stakes.tables._roles import choose_roles
from stakes.tables._rows import INCOMPLETE_HINT, column_names, is_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]
    Gaps = Sequence[tuple[str | float, str | float]]


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
    weight : str, optional
        Column with weights.
    pos_label : object, optional
        The label of the positive class.

    Returns
    -------
    dict
        Number of ``clusters``, ``largest``, ``second`` and ``fourth`` powers of their shares, ``rows`` of each class
        and their ``squares``, clusters that ``have`` each class; by pair the ``moved`` powers, and by class and pair
        the number and the powers of the sums that ``carry`` it.

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
    roles = choose_roles(column_names(frame), (), label=label, models=models, weight=weight, groups=[clusters])
    rows, worst = rows_with_gaps(frame, roles, costs, rule, pos_label)
    missing = choose(is_missing(nw.col("g0"), frame.collect_schema()[clusters]), 1, 0)
    names, gaps = gap_names(len(roles.models)), pair_gaps(len(roles.models), worst)
    each = _each_cluster(rows, names, missing, weighted=weight is not None)
    sums = _sums(each, names, gaps, centres, shares, weighted=weight is not None)
    found = {name: float(values[0]) for name, values in run(sums).to_dict(as_series=False).items()}
    total = int(found["n0"] + found["n1"])
    if found["gone"]:
        details: dict[str, Any] = {"count": int(found["gone"]), "total": total, "hint": INCOMPLETE_HINT}
        raise Origin(ordered=False).error("must not be missing", column=clusters, **details)
    return _assembled(found, gaps)


def why_clusters_need_rows(costs: CostDistribution, rule: float | str, groups: Sequence[str] | None) -> str:
    """Why an engine cannot say how sure clusters are; empty where it can.

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
    """One row for each cluster: sums of each class of rows, weights and weighted differences."""
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
    table: nw.LazyFrame[Any], names: Sequence[str], gaps: Gaps, centres: Floats, shares: Floats, *, weighted: bool
) -> nw.LazyFrame[Any]:
    """One row for all clusters."""
    mass = [nw.col(f"{'m' if weighted else 'n'}{k}").cast(nw.Float64) for k in (0, 1)]
    share = reduce(add, (float(part) * its for part, its in zip(shares, mass, strict=True)))
    table = table.with_columns(share.alias("share"), (nw.col("n0") + nw.col("n1")).cast(nw.Float64).alias("size"))
    rest = choose(nw.col("share") < 1.0, 1.0 - nw.col("share"), 1.0)  # a single cluster has no interval
    moved = {}
    for at, pair in enumerate(gaps):
        parts = []
        for k, gap in enumerate(pair):
            centre, part = float(centres[k, at]), float(shares[k])
            if isinstance(gap, str):
                parts.append((nw.col(f"x{k}_{gap}") - centre * mass[k]) * part)
            else:
                parts.append(mass[k] * ((gap - centre) * part))
        moved[f"u{at}"] = reduce(add, parts) / rest
    table = table.with_columns(*(value.alias(name) for name, value in moved.items()))
    terms = {"largest": nw.col("share").max(), "gone": nw.col("gone").sum()}
    for name in ("share", "size", *moved):
        squares = nw.col(name) * nw.col(name)
        terms |= {f"{name}_2": squares.sum(), f"{name}_4": (squares * squares).sum()}
    for k in (0, 1):
        terms |= {f"n{k}": nw.col(f"n{k}").sum(), f"has{k}": (nw.col(f"n{k}") > 0).cast(nw.Int8).sum()}
        values = {name: nw.col(f"x{k}_{name}") for name in names} | {"": mass[k]}
        for name, value in values.items():
            squares = value * value
            terms |= {f"k{k}_{name}": (value != 0.0).cast(nw.Int8).sum(), f"k{k}_{name}_2": squares.sum()}
            terms[f"k{k}_{name}_4"] = (squares * squares).sum()
    return table.select(nw.len().alias("clusters"), *(term.alias(name) for name, term in terms.items()))


def _assembled(found: dict[str, float], gaps: Gaps) -> dict[str, Floats]:
    carry = np.zeros((3, 2, len(gaps)))
    for at, pair in enumerate(gaps):
        for k, gap in enumerate(pair):
            name, by = (gap, 1.0) if isinstance(gap, str) else ("", gap)
            sums = (found[f"k{k}_{name}{power}"] for power in ("", "_2", "_4"))
            powers = zip(sums, (0, 2, 4), strict=True)
            carry[:, k, at] = [one * by**power if by and one else 0.0 for one, power in powers]
    moved = [[found[f"u{at}_{power}"] for at in range(len(gaps))] for power in (2, 4)]
    told = {"clusters": "clusters", "largest": "largest", "second": "share_2", "fourth": "share_4", "squares": "size_2"}
    both = {"rows": "n", "have": "has"}
    return {
        **{name: np.array(found[column]) for name, column in told.items()},
        **{name: np.array([found[f"{column}{k}"] for k in (0, 1)]) for name, column in both.items()},
        "moved": np.array(moved),
        "carry": carry,
    }
