"""`KeptEvaluation`: what an evaluation rests on, kept, added up and compared without its rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from stakes.base.validation import check_kind, check_whole
from stakes.core.options import Options
from stakes.core.score_table import ScoreTable, common_label, in_cells
from stakes.costs import CostDistribution
from stakes.evaluation._changes import Changes, changes_between
from stakes.evaluation._evaluate import check_request, check_tables, evaluate_tables
from stakes.evaluation._evaluation import Evaluation
from stakes.evaluation._groups import (
    GroupTables,
    check_groups_add_up,
    columns_of,
    groups_from,
    kept_groups,
    merged,
    read_groups,
    tables_of,
)
from stakes.inference import PairSums
from stakes.outputs.files import delivered, json_ready
from stakes.outputs.serialization import JsonReader

if TYPE_CHECKING:
    import os


# What an evaluation rests on, kept and added up: two days make one evaluation, without their rows.

_WHAT, _FORM = "kept evaluation", "stakes-evaluation-3"
_ASKED = (
    *("rule", "harm", "scale", "confidence_level", "unit_cost", "per", "prevalence", "incumbent", "n_tried"),
    *("action", "event"),
)


_MOST_SCORES, _CELLS = 100_000, 2048  # kept of each table as they are; cells of a longer one


def _alike(kept: ScoreTable, table: ScoreTable) -> bool:
    """Whether a table that was kept, perhaps in wider cells, has the numbers of another."""
    if kept.n_rows != table.n_rows:
        return False
    if kept.resolution != table.resolution:
        if kept.resolution is None or (table.lower is not None and (table.resolution or 0) % kept.resolution):
            return False
        table = in_cells(table, kept.resolution)
    columns = table._kept()[1]
    return all(np.array_equal(values, columns.get(name, ())) for name, values in kept._kept()[1].items())


def _cells_to_keep(tables: Iterable[ScoreTable]) -> int | None:
    """How many cells the tables are pooled into; None keeps them as they are."""
    resolutions = {table.resolution for table in tables}
    if resolutions == {None}:
        return _CELLS if any(len(table.scores) > _MOST_SCORES for table in tables) else None
    return _CELLS if all(each and each > _CELLS and each % _CELLS == 0 for each in resolutions) else None


@dataclass(frozen=True, eq=False, repr=False)
class KeptEvaluation:
    """The tables, sums and settings of an evaluation, from which it is made again.

    Further metrics are not kept.

    Parameters
    ----------
    tables : dict of str to ScoreTable
        One for each model.
    pairs : PairSums or None
        What says how sure differences between models are; without it each model has its own numbers.
    options : Options
        What was asked for.
    n_dropped : int
        Incomplete rows that were dropped.
    groups : dict of tuple to tuple
        By column, group and model the table of the group and its number of positive rows.

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.evaluation import KeptEvaluation
    >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 30, "b": [0.4, 0.6, 0.5, 0.4] * 30}
    >>> yesterday = KeptEvaluation.of(evaluate([0, 1, 0, 1] * 30, models, costs=(0.2, 0.6))).to_json()
    >>> today = KeptEvaluation.of(evaluate([0, 1, 1, 1] * 30, models, costs=(0.2, 0.6)))
    >>> KeptEvaluation.from_json(yesterday).merge(today).evaluate()
    Evaluation(best: a, regret 0.05937; 2 models, 240 rows, costs=Uniform(low=0.2, high=0.6))
    """

    tables: dict[str, ScoreTable]
    pairs: PairSums | None
    options: Options
    n_dropped: int = 0
    groups: GroupTables = field(default_factory=dict)

    @classmethod
    def of(cls, evaluation: Evaluation, *, resolution: int | Literal["auto"] | None = "auto") -> Self:
        """Keep an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            Of rows, of a lazy frame or of tables.
        resolution : int, "auto" or None, default "auto"
            Pool the scores of each table into this many cells of equal width. None keeps every score; by default
            tables are pooled into 2,048 cells if one has more than 100,000 scores, or multiples of these cells. Costs
            of all rows and their differences do not change where there are ``pairs``; what comes from a table, such as
            the costs of groups and of tables without pairs, does by ``ScoreTable.error_bound`` at most.

        Returns
        -------
        KeptEvaluation

        Raises
        ------
        ValueError
            For clusters, lags and outcomes, whose errors need the rows, and a resolution that is no positive integer,
            or does not divide that of the tables.

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> list(KeptEvaluation.of(evaluate([0, 1], {"a": [0.1, 0.8]}, costs=0.3)).tables)
        ['a']
        """
        check_kind(evaluation, "evaluation", Evaluation, "an Evaluation", remedy="see evaluate")
        if evaluation.imputations:
            raise ValueError("evaluation must be of one column of scores for each model: Imputed ones are not kept.")
        if resolution is not None and resolution != "auto":
            resolution = check_whole(resolution, "resolution", 1)
        rows, pairs = evaluation.rows, evaluation.pairs
        unkept = evaluation.moments.clusters or evaluation._charged is not None
        if unkept or (rows is not None and (rows.dependent or rows.origin is not None)):
            raise ValueError(
                "clusters=, lags= and outcomes cannot be kept without the rows: evaluate all rows at once."
            )
        if rows is not None and evaluation.rule != "optimal":
            samples = {name: rows.sample(place) for place, name in enumerate(evaluation.models)}
            pairs = PairSums.from_samples(samples, evaluation.costs, evaluation.rule)
            pairs = replace(pairs, pos_label=evaluation.score_tables[0].pos_label)
        tables = dict(zip(evaluation.models, evaluation.score_tables, strict=True))
        options, label = replace(evaluation.options, metrics={}), evaluation.score_tables[0].pos_label
        groups = {
            key: (replace(table, pos_label=label), ups) for key, (table, ups) in tables_of(evaluation.groups).items()
        }
        if resolution == "auto":  # recalibrated groups rest on the scores of all rows as they are
            resolution = None if evaluation.rule == "optimal" else _cells_to_keep(tables.values())
        if resolution is not None:
            tables = {name: in_cells(table, resolution) for name, table in tables.items()}
            groups = {key: (in_cells(table, resolution), ups) for key, (table, ups) in groups.items()}
        return cls(tables, pairs, options, evaluation.n_dropped, groups)

    @property
    def pos_label(self) -> str | float:
        """The label of the positive class."""
        return next(iter(self.tables.values())).pos_label

    def evaluate(self) -> Evaluation:
        """Evaluate what is kept.

        Returns
        -------
        Evaluation
            Its curves, findings and report are those of tables: what needs the rows says so.

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> KeptEvaluation.of(evaluate([0, 1], {"a": [0.1, 0.8]}, costs=0.3)).evaluate().n_rows
        2
        """
        groups = groups_from(self.groups, self.options)
        return evaluate_tables(self.tables, self.options, self.pairs, n_dropped=self.n_dropped, groups=groups)

    def merge(self, other: KeptEvaluation) -> Self:
        """Add what is kept of other rows.

        Parameters
        ----------
        other : KeptEvaluation
            Of the same models and settings.

        Returns
        -------
        KeptEvaluation
            With the counts of all rows to the last bit; without ``pairs`` where one of the two has none.

        Raises
        ------
        ValueError
            If ``other`` is no kept evaluation, models, costs, labels, other settings, columns of groups or the way in
            which a number or a time names its group differ, or the prevalence was set: set that of the sum.

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> one = KeptEvaluation.of(evaluate([0, 1], {"a": [0.1, 0.8]}, costs=0.3))
        >>> one.merge(one).evaluate().n_rows
        4
        """
        check_kind(other, "other", KeptEvaluation, remedy="keep it by KeptEvaluation.of(evaluation)")
        mine, its = (
            {"models": list(kept.tables), **kept._settings(), "groups": columns_of(kept.groups)}
            for kept in (self, other)
        )
        differing = [name for name in mine if mine[name] != its[name]]
        if differing:
            name = differing[0]
            one, two = (mine[name], its[name]) if name != "costs" else (self.options.costs, other.options.costs)
            raise ValueError(f"merge needs evaluations of the same {name}, got {one!r} and {two!r}.")
        label = common_label(self.pos_label, self.options.neg_label, other.options.neg_label, "merge needs evaluations")
        tables = {name: table.merge(other.tables[name]) for name, table in self.tables.items()}
        pairs = None if self.pairs is None or other.pairs is None else self.pairs.merge(other.pairs)
        groups = merged(self.groups, other.groups, self.options)
        options, n_dropped = replace(self.options, neg_label=label), self.n_dropped + other.n_dropped
        return replace(self, tables=tables, pairs=pairs, options=options, n_dropped=n_dropped, groups=groups)

    def compare(self, other: KeptEvaluation) -> Changes:
        """Say what changed from another evaluation of independent rows, such as yesterday's.

        Parameters
        ----------
        other : KeptEvaluation
            Of the same models and settings, and of other rows: none may count in both.

        Returns
        -------
        Changes
            This evaluation less the other: above zero, it is dearer now. Of every model the cost, how much of it the
            scores promise (the mix of cases) and how much is more than that, and O:E; the difference of every pair of
            models; the prevalence. Of tables in cells, what is promised has the error of ``ScoreTable.error_bound``.

        Raises
        ------
        ValueError
            If ``other`` is no kept evaluation, models, costs, labels or other settings differ, or
            ``rule="optimal"``, whose thresholds are fitted to each evaluation.

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 30}
        >>> yesterday = KeptEvaluation.of(evaluate([0, 1, 0, 1] * 30, models, costs=(0.2, 0.6)))
        >>> today = KeptEvaluation.of(evaluate([0, 1, 1, 1] * 30, models, costs=(0.2, 0.6)))
        >>> print(*today.compare(yesterday).sentences)
        a costs 88 (50 to 125) more per 1,000 decisions than before (p < 0.001).
        """
        check_kind(other, "other", KeptEvaluation, remedy="keep it by KeptEvaluation.of(evaluation)")
        return changes_between(replace(other, groups={}).evaluate(), replace(self, groups={}).evaluate())

    def _is_of(self, tables: Mapping[str, ScoreTable]) -> bool:
        """Whether this was kept of the rows of these tables: its models have the same scores, as often."""
        return all(_alike(table, tables[name]) for name, table in self.tables.items())

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return everything as JSON that :meth:`from_json` reads.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        str
            With the format and its version; numbers come back to the last bit.

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> KeptEvaluation.of(evaluate([0, 1], {"a": [0.1, 0.8]}, costs=0.3)).to_json()[:34]
        '{"format": "stakes-evaluation-3", '
        """
        content = {
            "format": _FORM,
            "n_dropped": self.n_dropped,
            **self._settings(),
            **({} if self.options.neg_label is None else {"neg_label": self.options.neg_label}),
            "tables": {name: json.loads(table.to_json()) for name, table in self.tables.items()},
            "pairs": None if self.pairs is None else json.loads(self.pairs.to_json()),
        } | ({"groups": kept_groups(self.groups)} if self.groups else {})
        return delivered(json.dumps(json_ready(content)), path)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        KeptEvaluation

        Raises
        ------
        ValueError
            For another format, or a damaged text, naming the first entry that is wrong.

        Examples
        --------
        >>> from stakes.evaluation import KeptEvaluation
        >>> KeptEvaluation.from_json("{}")
        Traceback (most recent call last):
        ValueError: text must be a kept evaluation of format 'stakes-evaluation-3', got format None.
        """
        entries = JsonReader.read(text, _WHAT, _FORM)
        n_dropped, names = entries.count("n_dropped"), entries.at("tables")
        if not isinstance(names, dict) or not names:
            raise entries.broken("tables", "score tables by name")
        asked = {name: entries.plain(name) for name in _ASKED}
        asked["neg_label"] = entries.label("neg_label") if "neg_label" in entries.content else None
        try:
            options = check_request(Options(costs=CostDistribution.from_dict(entries.plain("costs")), **asked))
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise entries.broken("what was asked for", f"whole ({str(error).removesuffix('.')})") from None
        tables = {
            name: ScoreTable._from_entries(entries.inside("tables", name, form=ScoreTable._form)) for name in names
        }
        pairs = None
        if entries.at("pairs") is not None:
            pairs = PairSums._from_entries(entries.inside("pairs", form=PairSums._form))
        found = cls(tables, pairs, options, n_dropped, read_groups(entries, tuple(tables)))
        found._check(entries)
        return found

    def _check(self, entries: JsonReader) -> None:
        """Refuse what was read where one entry contradicts another."""
        for name, table in self.tables.items():
            where = f"tables.{name}"
            if not 0.0 <= table.scores[0] <= table.scores[-1] <= 1.0:
                raise entries.broken(f"{where}.scores", f"probabilities in [0, 1], got {table!r}")
            if table.pos_label == self.options.neg_label:
                raise entries.broken("neg_label", f"another label than the positive one, {table.pos_label!r}")
            if None not in (other := (table.neg_label, self.options.neg_label)) and other[0] != other[1]:
                raise entries.broken(f"{where}.neg_label", f"that of the evaluation, got {table.neg_label!r}")
            if table.pos_label != entries.label("pos_label"):
                raise entries.broken(f"{where}.pos_label", f"that of the evaluation, got {table.pos_label!r}")
            stated = self.options.prevalence
            if stated is not None and not (table.fixed_prevalence and math.isclose(table.prevalence, stated)):
                raise entries.broken(
                    "prevalence", f"that of the table of {name!r} ({table.prevalence:.10g}), got {stated}"
                )
        try:
            check_tables(self.tables, self.options, self.pairs)
        except ValueError as error:
            raise ValueError(f"text is no whole {_WHAT}: {error}") from None
        wholes = self.tables
        if self.options.rule == "optimal":  # the groups have the scores that were recalibrated on all rows
            wholes = {name: table.recalibrated() for name, table in wholes.items()}
        check_groups_add_up(self.groups, wholes, self.pairs, entries)

    def _settings(self) -> dict[str, Any]:
        asked = {name: getattr(self.options, name) for name in _ASKED}
        return {"costs": self.options.costs.to_dict(), "pos_label": self.pos_label, **asked}

    def __repr__(self) -> str:
        rows = next(iter(self.tables.values())).n_rows
        plural = "model" if len(self.tables) == 1 else "models"
        return f"KeptEvaluation({len(self.tables)} {plural}, {rows} rows, costs={self.options.costs!r})"
