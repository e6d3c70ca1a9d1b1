"""Subgroups by the tables of their scores: from an engine, from rows that were evaluated, or kept and added up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.score_table import ScoreTable
from stakes.core.table_parts import class_factors, weigh_classes
from stakes.evaluation._group_labels import group_names
from stakes.evaluation._groups import Groups, groups_of_tables
from stakes.tables import group_scores_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stakes.core.options import Options

    # a table and its number of positive rows, by column, group and model
    GroupTables = dict[tuple[str, str, str], tuple[ScoreTable, int]]


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
    found = [groups_of_tables(c, list(mine), m, list(mine.values()), options) for (c, m), mine in each.items()]
    return Groups(row for rows in found for row in rows)
