"""Evaluate the columns of a lazy frame by what its engine groups and sums: the rows themselves are not kept here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from stakes.core.score_table import ScoreTable
from stakes.evaluation._assemble import evaluate_tables
from stakes.evaluation._group_tables import groups_from, tables_in_engine
from stakes.inference import PairSums
from stakes.shown.frames import backend_of
from stakes.tables import (
    NO_CLOSED_FORM,
    complete_rows,
    expressible,
    model_columns,
    why_clusters_need_rows,
)

if TYPE_CHECKING:
    from stakes.core.options import Options
    from stakes.evaluation._evaluation import Evaluation

_NEEDS_ROWS = (
    "lags= and outcome= need the rows, and those of a lazy frame are not kept here: collect the columns into memory "
    "first, and evaluate that frame. Amounts by row can be expressions: docs/outcomes.md."
)


def evaluate_lazy(
    frame: Any,
    options: Options,
    *,
    label: str,
    models: list[str] | None,
    on_missing: Any = "raise",
    resolution: int | None = None,
    **about: Any,
) -> Evaluation:
    """Evaluate by one group-by for each model, and one pass of sums for their pairs."""
    if not options.lags is options.outcome is None:
        raise ValueError(_NEEDS_ROWS)
    why = "" if options.clusters is None else why_clusters_need_rows(options.costs, options.rule, options.groups)
    if why:
        raise ValueError(f"{why}: collect the columns into memory first.")
    by = options.dividing_columns
    chosen = model_columns(frame, label=label, models=models, weight=options.sample_weight, groups=by)
    rows, n_dropped = complete_rows(nw.from_native(frame), chosen, on_missing)
    what: dict[str, Any] = {"label": label, "weight": options.sample_weight, "pos_label": options.pos_label}
    wholes = {name: ScoreTable.from_frame(rows, score=name, resolution=resolution, **what) for name in chosen.models}
    prevalence, tables = options.prevalence, wholes
    if prevalence is not None:
        tables = {name: table.with_prevalence(prevalence) for name, table in wholes.items()}
    pairs = None
    if options.rule != "optimal" and expressible(options.costs):
        asked: dict[str, Any] = {"costs": options.costs, "rule": options.rule, "clusters": options.clusters}
        pairs = PairSums.from_frame(rows, models=chosen.models, prevalence=prevalence, **asked, **what)
    groups = groups_from(tables_in_engine(rows, wholes, options, **what), options)
    about |= {"backend": backend_of(frame), "n_dropped": n_dropped, "groups": groups}
    return evaluate_tables(tables, options, pairs, why=f"costs={options.costs!r} {NO_CLOSED_FORM}", **about)
