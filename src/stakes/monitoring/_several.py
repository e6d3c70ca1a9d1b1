"""`CostMonitors`: several models and groups watched at once, each with an equal share of the false alarms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.base.validation import (
    brief,
    check_kind,
    check_same_order,
    check_unit,
    is_missing,
    match_label,
    one_of,
    pick_positive_column,
    to_array,
)
from stakes.evaluation import KeptEvaluation
from stakes.monitoring._monitor import CostMonitor
from stakes.monitoring._question import known_labels
from stakes.outputs.hooks import report
from stakes.outputs.result_table import Tabular
from stakes.outputs.serialization import JsonReader
from stakes.outputs.text import name_key, names_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.monitoring._question import DaySums

_FORM, _WHAT = "stakes-cost-monitors-1", "state of cost monitors"
_NEEDED = {"n", "total", "squares"}
_EACH = ("total", "squares", "promised")
_ALIKE = ("costs", "rule", "pos_label", "alpha", "unit", "tolerance")


class CostMonitors(Tabular):
    """Monitors by name, of models and of their groups; the first alarm of any is false with probability alpha at most.

    Alpha is split evenly: each of k monitors is held to alpha / k.

    Parameters
    ----------
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts.
    reference : KeptEvaluation
        An evaluation from before, of these models; its groups are watched too, and its harm is left out.
    models : sequence of str, optional
        Which of its models; by default all.
    tolerance, alpha, unit, force
        As for :class:`CostMonitor`; alpha is that of all monitors together.
    reference_days : mapping of str to tuple of three array_like, optional
        By the monitor's name, as for :class:`CostMonitor`: each model and group has days of its own, and one that is
        left out has none. Where one monitor is all, the three suffice.

    Attributes
    ----------
    monitors : dict of str to CostMonitor
        By the model's name, with ", COLUMN = GROUP" for a group.
    alarm : bool
        Whether any of them raised an alarm.

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.evaluation import KeptEvaluation
    >>> from stakes.monitoring import CostMonitors
    >>> scores = {"old": [0.1, 0.8, 0.3, 0.6] * 30, "new": [0.4, 0.6, 0.5, 0.4] * 30}
    >>> kept = KeptEvaluation.of(evaluate([0, 1, 0, 0] * 30, scores, costs=(0.2, 0.6)))
    >>> watch = CostMonitors((0.2, 0.6), reference=kept, tolerance=0.1)
    >>> watch.update("2026-11-23", [0, 1, 0], {"old": [0.2, 0.7, 0.3], "new": [0.4, 0.5, 0.6]}).alarm
    False
    """

    def __init__(
        self,
        costs: Any,
        *,
        reference: KeptEvaluation,
        models: Sequence[str] | None = None,
        tolerance: float = 0.0,
        alpha: float = 0.05,
        unit: str = "day",
        reference_days: Mapping[str, Sequence[ArrayLike] | None] | Sequence[ArrayLike] | None = None,
        force: bool = False,
    ) -> None:
        check_kind(reference, "reference", KeptEvaluation, remedy="keep it by KeptEvaluation.of(evaluation)")
        if isinstance(models, str):
            raise ValueError(f"models must be a list of names, got {models!r}: pass [{models!r}].")
        chosen = list(reference.tables if models is None else models)
        if not chosen:
            raise ValueError(f"models must name at least one of {', '.join(map(repr, reference.tables))}, got none.")
        unknown = next((name for name in chosen if name not in reference.tables), None)
        if unknown is not None:
            raise ValueError(f"models must each be {one_of(reference.tables, unknown)}")
        tables = {name: (name, reference.tables[name]) for name in chosen}
        for (column, group, model), (table, _) in reference.groups.items():
            if model in chosen:
                tables[_new_name(model, column, group, tables)] = model, table
        level = check_unit(alpha, "alpha", open_low=True, open_high=True)
        asked: dict[str, Any] = {"tolerance": tolerance, "alpha": level / len(tables), "unit": unit, "force": force}
        days = _days_of(reference_days, list(tables))
        self.monitors = {}
        for name, (model, table) in tables.items():
            alone = KeptEvaluation({model: table}, None, reference.options)
            try:
                self.monitors[name] = CostMonitor(costs, reference=alone, reference_days=days.get(name), **asked)
            except ValueError as error:
                raise ValueError(f"{name}: {error}" if name != model or days else str(error)) from None

    def update(
        self, day: Any, y_true: Any, y_prob: Any, *, groups: Mapping[str, Any] | None = None, missing: str | None = None
    ) -> Self:
        """Take in the rows of the next day for every monitor, or for none where one refuses them.

        Parameters
        ----------
        day : int, str or date
            Later than the day before.
        y_true : array_like of shape (n,)
            Labels.
        y_prob : mapping of str to array_like
            Probability of the positive class from each model.
        groups : mapping of str to array_like, optional
            The columns of groups, where they are watched; a row whose group is missing (None, NaN) is in none.
        missing : {"cost"}, optional
            As for :meth:`CostMonitor.update`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For another model, group or column of groups, a day that is not later than the last, and invalid rows.

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> from stakes.monitoring import CostMonitors
        >>> kept = KeptEvaluation.of(evaluate([0, 1, 0, 0] * 30, {"a": [0.1, 0.8, 0.3, 0.6] * 30}, costs=(0.2, 0.6)))
        >>> CostMonitors((0.2, 0.6), reference=kept).update(1, [0, 1], {"b": [0.1, 0.9]})
        Traceback (most recent call last):
        ValueError: y_prob must hold the models that are watched, 'a', got 'b'.
        """
        if not isinstance(y_prob, Mapping) or set(y_prob) != set(self.models):
            got = ", ".join(map(repr, y_prob)) if isinstance(y_prob, Mapping) else type(y_prob).__name__
            watched = ", ".join(map(repr, self.models))
            raise ValueError(f"y_prob must hold the models that are watched, {watched}, got {got}.")
        if not (groups is None or isinstance(groups, Mapping)):
            raise ValueError(f"groups must be columns by name, got {brief(groups)}.")
        check_same_order(y_true=y_true, y_prob=y_prob, groups=groups)
        labels = to_array(y_true, "y_true")
        # which of two columns is positive is seen from all labels: those of a group may be of one class
        known = labels[known_labels(y_true, missing)[1]]
        pos_label = match_label(next(iter(self.monitors.values()))._question.pos_label, known.tolist())
        scores = {
            name: pick_positive_column(values, known, pos_label, f"y_prob[{name!r}]") for name, values in y_prob.items()
        }
        for name, each in scores.items():
            if len(each) != len(labels):
                raise ValueError(f"y_prob[{name!r}] must have {len(labels)} values, as y_true has, got {len(each)}.")
        found: dict[str, DaySums] = {}
        for name, model, rows in self._parts(labels, groups or {}):
            if rows.any():
                found[name] = self.monitors[name]._question.sums(
                    labels[rows], scores[model][rows], missing, name=f"y_prob[{model!r}]"
                )
        return self._take(day, found)

    def update_sums(self, day: Any, sums: Mapping[str, Mapping[str, Any]]) -> Self:
        """Take in the sums of the next day, ``{name: {"n": ..., "total": ..., "squares": ...}}``, for every monitor.

        Parameters
        ----------
        day : int, str or date
            Later than the day before.
        sums : mapping of str to mapping
            What :meth:`CostMonitor.update_sums` takes, by the name of the monitor; a group without rows is left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For another name, a day that is not later than the last, and sums that no rows have.

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> from stakes.monitoring import CostMonitors
        >>> kept = KeptEvaluation.of(evaluate([0, 1, 0, 0] * 30, {"a": [0.1, 0.8, 0.3, 0.6] * 30}, costs=(0.2, 0.6)))
        >>> watch = CostMonitors((0.2, 0.6), reference=kept)
        >>> watch.update_sums(1, {"a": {"n": 100, "total": 9.0, "squares": 2.0}}).monitors["a"].n_rows
        100
        """
        unknown = next((name for name in sums if name not in self.monitors), None)
        lacking = next((name for name in self.models if name not in sums), None)
        if unknown is not None or lacking is not None:
            raise ValueError(f"sums must hold {', '.join(map(repr, self.monitors))}, got {', '.join(map(repr, sums))}.")
        each: Any
        for name, each in sums.items():
            if not (isinstance(each, Mapping) and _NEEDED <= set(each) <= _NEEDED | {"promised"}):
                got = list(each) if isinstance(each, Mapping) else brief(each)
                raise ValueError(f"sums[{name!r}] must hold n, total, squares and, if known, promised, got {got}.")
        return self._take(day, {name: self.monitors[name]._sums_of(**given) for name, given in sums.items()})

    def _sums(self, y: Any, scores: Mapping[str, Any], groups: Mapping[str, Any] | None) -> dict[str, dict[str, float]]:
        """Sums of rows whose labels are booleans, by monitor, as :meth:`update_sums` takes them."""
        found = {}
        for name, model, rows in self._parts(y, groups or {}):
            if rows.any():
                asked = replace(self.monitors[name]._question, pos_label=None)
                sums = asked.sums(y[rows].astype(int), scores[model][rows])
                found[name] = {"n": sums.rows, **{each: getattr(sums, each) for each in _EACH}}
        return found

    def _see_label(self, label: str | float | None) -> None:
        """Keep the label beside the positive one of the rows to come, or raise for a third one."""
        for monitor in self.monitors.values():
            monitor._question = monitor._question.seeing([] if label is None else [label])

    def _named(self, sums: Mapping[tuple[str, str | None, Any], Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Name integrated sums by model, column and group after their monitors, as :meth:`update_sums` takes them."""
        mass, found = next(iter(self.monitors.values()))._question.costs.mass, {}
        for (model, column, group), part in sums.items():
            named = None if column is None else self._watched(column, [group], [str(group)])[0]
            if column is not None and named is None:
                continue
            name = model if column is None else group_name(model, column, named)
            scaled = {"total": part["total"] / mass, "squares": part["squares"] / mass**2}
            found[name] = {"n": part["n"], **scaled, "promised": part["promised"] / mass}
        return found

    def _take(self, day: Any, found: Mapping[str, DaySums]) -> Self:
        for name in found:
            self.monitors[name]._check_day(day)
        for name, sums in found.items():
            try:
                self.monitors[name]._check_sums(sums)
            except ValueError as error:
                raise ValueError(f"sums[{name!r}]: {error}") from None
        for name, sums in found.items():
            self.monitors[name]._take(day, sums)
        return self

    def _parts(self, labels: Any, groups: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
        """Yield each monitor's name, its model, and which rows are its own."""
        of_rows = {column: self._of_rows(column, groups, len(labels)) for column in self.group_columns}
        for name in self.monitors:
            model, column, group = self._key(name)
            yield name, model, np.ones(len(labels), dtype=bool) if column is None else of_rows[column] == group

    def _of_rows(self, column: str, groups: Mapping[str, Any], n_rows: int) -> NDArray[Any]:
        """Name of the group of each row; None where it is missing."""
        if column not in groups:
            raise ValueError(f"groups must hold the column {column!r}, whose groups are watched.")
        values = to_array(groups[column], f"groups[{column!r}]")
        if len(values) != n_rows:
            raise ValueError(f"groups[{column!r}] must have {n_rows} values, as y_true has, got {len(values)}.")
        found = self._watched(column, list(values), names_of(values))
        if all(group is None for group in found):
            raise ValueError(f"groups[{column!r}] must name a group that is watched, but is missing in every row.")
        return np.array(found, dtype=object)

    @cached_property
    def _groups_of(self) -> dict[str, set[str]]:
        """The groups that are watched of each column."""
        found: dict[str, set[str]] = {column: set() for column in self.group_columns}
        for _, column, group in map(self._key, self.monitors):
            if column is not None:
                found[column].add(group)
        return found

    def _watched(self, column: str, values: list[Any], texts: list[str]) -> list[str | None]:
        """The watched group that each value names, 1 and 1.0 alike; None for a missing one, and raise for any other."""
        watched = self._groups_of[column]
        by_key: dict[str, str | None] = {}
        for name in watched:  # what two of them share tells neither
            by_key[name_key(name)] = None if name_key(name) in by_key else name
        found: list[str | None] = []
        for value, text in zip(values, texts, strict=True):
            if is_missing(value):  # there may be a group called "None" or "nan"
                found.append(None)
            else:
                found.append(text if text in watched else by_key.get(name_key(text)))
        odd = {t: None for v, t, group in zip(values, texts, found, strict=True) if group is None and not is_missing(v)}
        if odd:
            shown = ", ".join(map(repr, [*odd][:5])) + (", ..." if len(odd) > 5 else "")
            raise ValueError(
                f"groups[{column!r}] must hold groups that are watched, or None for a row in none of them, got {shown}."
            )
        return found

    def _key(self, name: str) -> tuple[str, str | None, str]:
        reference = self.monitors[name].reference
        model = name if reference is None else reference.model
        if name == model:
            return model, None, ""
        column, _, group = name.removeprefix(f"{model}, ").partition(" = ")
        return model, column, group

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(dict.fromkeys(self._key(name)[0] for name in self.monitors))

    @property
    def group_columns(self) -> list[str]:
        """Columns of the groups that are watched."""
        return list(dict.fromkeys(column for _, column, _ in map(self._key, self.monitors) if column is not None))

    @property
    def alarm(self) -> bool:
        """Whether any monitor raised an alarm."""
        return any(monitor.alarm for monitor in self.monitors.values())

    def describe(self) -> str:
        """Return in words what each monitor says.

        Returns
        -------
        str
            One line each.

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> from stakes.monitoring import CostMonitors
        >>> kept = KeptEvaluation.of(evaluate([0, 1, 0, 0] * 30, {"a": [0.1, 0.8, 0.3, 0.6] * 30}, costs=(0.2, 0.6)))
        >>> print(CostMonitors((0.2, 0.6), reference=kept).describe())
        a: No alarm: nothing shows that the mean of the days' costs, each day alike, exceeds ... per 1,000 decisions...
        """
        return "\n".join(f"{name}: {monitor.describe()}" for name, monitor in self.monitors.items())

    def to_html(self, path: Any = None) -> str:
        """Return one page with what each monitor says, its picture and its latest days; it needs no network.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed.

        Returns
        -------
        str

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> from stakes.monitoring import CostMonitors
        >>> kept = KeptEvaluation.of(evaluate([0, 1, 0, 0] * 30, {"a": [0.1, 0.8, 0.3, 0.6] * 30}, costs=(0.2, 0.6)))
        >>> CostMonitors((0.2, 0.6), reference=kept).to_html()[:15]
        '<!doctype html>'
        """
        page: str = report(self, path)
        return page

    def _records(self) -> list[dict[str, Any]]:
        return [{"monitor": name, **record} for name, monitor in self.monitors.items() for record in monitor._records()]

    def _content(self) -> dict[str, Any]:
        states = {name: monitor._content() for name, monitor in self.monitors.items()}
        return {"format": _FORM, "monitors": states}

    def to_json(self, path: Any = None) -> str:
        """Return the whole state as JSON that :meth:`from_json` reads, and write it where a path is given.

        Parameters
        ----------
        path : str or path, optional
            Written beside and renamed.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes import evaluate
        >>> from stakes.evaluation import KeptEvaluation
        >>> from stakes.monitoring import CostMonitors
        >>> kept = KeptEvaluation.of(evaluate([0, 1, 0, 0] * 30, {"a": [0.1, 0.8, 0.3, 0.6] * 30}, costs=(0.2, 0.6)))
        >>> list(CostMonitors.from_json(CostMonitors((0.2, 0.6), reference=kept).to_json()).monitors)
        ['a']
        """
        return super().to_json(path)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote, to go on where the monitors stopped.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        CostMonitors

        Raises
        ------
        ValueError
            For another format, or a state that was damaged or edited, naming the first entry that is wrong.

        Examples
        --------
        >>> from stakes.monitoring import CostMonitors
        >>> CostMonitors.from_json("{}")
        Traceback (most recent call last):
        ValueError: text must be a state of cost monitors of format 'stakes-cost-monitors-1', got format None.
        """
        return cls._from_entries(JsonReader.read(text, _WHAT, _FORM))

    @classmethod
    def _from_entries(cls, entries: JsonReader) -> Self:
        names = entries.at("monitors")
        if not isinstance(names, dict) or not names:
            raise entries.broken("monitors", "states by name")
        found = cls.__new__(cls)
        found.monitors = {
            name: CostMonitor._from_entries(entries.inside("monitors", name, form=CostMonitor._form)) for name in names
        }
        found._check(entries)
        return found

    def _check(self, entries: JsonReader) -> None:
        """Refuse monitors that were not made together: by their names, or by what is asked of them."""
        first = next(iter(self.monitors.values()))._question
        for name, monitor in self.monitors.items():
            asked, model = monitor._question, "" if monitor.reference is None else monitor.reference.model
            of_group = name.startswith(f"{model}, ") and " = " in name.removeprefix(f"{model}, ")
            if name != model and not (model in self.monitors and of_group):
                raise entries.broken(f"monitors.{name}", "named after its reference.model, which is watched too")
            for key in _ALIKE:
                mine, its = getattr(asked, key), getattr(first, key)
                if mine != its:
                    raise entries.broken(f"monitors.{name}.{key}", f"that of the first monitor, {its!r}, got {mine!r}")

    def __repr__(self) -> str:
        alarms = [name for name, monitor in self.monitors.items() if monitor.alarm]
        state = f"alarm: {', '.join(alarms)}" if alarms else "no alarm"
        return f"CostMonitors({state}; {len(self.monitors)} monitors)"


def _new_name(model: str, column: str, group: object, taken: Mapping[str, object]) -> str:
    """Name of the monitor of a group, which tells the column from the group and is nobody else's."""
    if " = " in column:
        raise ValueError(f"reference must name its columns of groups without ' = ', got {column!r}.")
    name = group_name(model, column, group)
    if name in taken:
        raise ValueError(
            f"reference must not give two monitors one name, got {name!r} for the group {group!r} of {model!r} too."
        )
    return name


def _days_of(reference_days: Any, names: list[str]) -> Mapping[str, Any]:
    """Days of the reference of each monitor for which they are stated; refuse those of one for several."""
    if isinstance(reference_days, Mapping):
        unknown = next((name for name in reference_days if name not in names), None)
        if unknown is not None:
            raise ValueError(f"reference_days must be by the names of monitors, each {one_of(names, unknown)}")
        return reference_days
    if reference_days is None:
        return {}
    if len(names) > 1:
        raise ValueError(
            "reference_days must be (n, totals, squares) of days by the name of each monitor, whose costs are its own: "
            f"{', '.join(map(repr, names))}, got {type(reference_days).__name__}."
        )
    return {names[0]: reference_days}


def group_name(model: str, column: str, group: object) -> str:
    """Name of the monitor of a group."""
    return f"{model}, {column} = {group}"
