"""The epoch that each criterion would have chosen in a recorded training history, and its correlation with F1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes.base.arrays import Floats
from stakes.base.validation import check_level, check_whole, to_array
from stakes.metrics import METRICS
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import Tabular, backend_of
from stakes.training._checkpoint import BestEpoch

RULES = ("early stopping", "checkpoint")
_COLUMNS = ("criterion", "rule", "epoch", "epochs_trained", "correlation")


@dataclass(frozen=True)
class MonitorChoice:
    """What one criterion chose in one run by one rule."""

    run: Any
    criterion: str
    rule: str
    epoch: int | None
    epochs_trained: int
    correlation: float
    report: dict[str, float]


@dataclass(frozen=True)
class MonitorComparison(Tabular):
    """Epochs chosen by each criterion, made by :func:`compare_monitors`.

    Parameters
    ----------
    choices : tuple
        One for each run, criterion and rule.
    runs : mapping of run to mapping of str to ndarray
        The columns of each run.
    criteria : mapping of str to bool
        Whether greater is better, by criterion.
    target : str
        The column that criteria are correlated with.
    report : tuple of str
        The columns read at the chosen epoch.

    Examples
    --------
    >>> from stakes.training import compare_monitors
    >>> history = {"f1": [0.2, 0.5, 0.4, 0.6], "brier": [0.5, 0.3, 0.4, 0.35]}
    >>> result = compare_monitors(history, criteria={"brier": "lower"}, patience=2)
    >>> result.choices[0].epoch, round(result.choices[0].correlation, 3)
    (1, 0.886)
    """

    choices: tuple[MonitorChoice, ...]
    runs: Mapping[Any, Mapping[str, Floats]]
    criteria: Mapping[str, bool]
    target: str
    report: tuple[str, ...]
    backend: Any = None

    def _records(self) -> list[dict[str, Any]]:
        several = len(self.runs) > 1
        return [
            {
                **({"run": choice.run} if several else {}),
                **{name: getattr(choice, name) for name in _COLUMNS},
                **choice.report,
            }
            for choice in self.choices
        ]

    def differences(self, baseline: str, *, confidence_level: float = 0.95) -> ChoiceDifferences:
        """Compare the chosen epochs of each criterion with those of a baseline, run by run.

        Parameters
        ----------
        baseline : str
            The criterion to compare with.
        confidence_level : float, default 0.95
            Of the t-interval for the mean of the paired differences.

        Returns
        -------
        ChoiceDifferences
            Mean difference (criterion less baseline) and interval, for each rule, criterion and reported column, and
            for the correlation with the target.

        Raises
        ------
        ValueError
            For an unknown baseline or a single run.

        Examples
        --------
        >>> from stakes.training import compare_monitors
        >>> run = {"f1": [0.2, 0.5, 0.4], "brier": [0.5, 0.3, 0.4], "accuracy": [0.2, 0.4, 0.6]}
        >>> both = compare_monitors(
        ...     {name: values * 2 for name, values in run.items()} | {"seed": [1, 1, 1, 2, 2, 2]},
        ...     criteria={"brier": "lower", "accuracy": "higher"},
        ...     run="seed",
        ... )
        >>> [(row["rule"], row["of"], round(row["difference"], 2)) for row in both.differences("brier")._records()][:2]
        [('early stopping', 'f1', -0.1), ('checkpoint', 'f1', -0.1)]
        """
        if baseline not in list(self.criteria):
            raise ValueError(f"baseline must be one of {', '.join(map(repr, self.criteria))}, got {baseline!r}.")
        if len(self.runs) < 2:
            raise ValueError("paired differences need at least 2 runs, got 1: pass run=.")
        confidence_level = check_level(confidence_level)
        records = []
        for criterion in self.criteria:
            if criterion == baseline:
                continue
            for of in self.report:
                for rule in RULES:
                    gap = self._column(criterion, rule, of) - self._column(baseline, rule, of)
                    records.append({"criterion": criterion, "rule": rule, "of": of, **_paired(gap, confidence_level)})
            gap = self._column(criterion, RULES[0], None) - self._column(baseline, RULES[0], None)
            shown = {"criterion": criterion, "rule": "", "of": f"correlation with {self.target}"}
            records.append({**shown, **_paired(gap, confidence_level)})
        return ChoiceDifferences(baseline, tuple(records), self.backend)

    def _column(self, criterion: str, rule: str, of: str | None) -> Floats:
        """A reported column at the epochs chosen by one criterion, or else the correlations."""
        chosen = [choice for choice in self.choices if (choice.criterion, choice.rule) == (criterion, rule)]
        return np.array([choice.correlation if of is None else choice.report[of] for choice in chosen])

    def plot(self, figure: Any = None, *, run: Any = None) -> Any:
        """Draw the target and each criterion over the epochs of one run, with the chosen epochs.

        Parameters
        ----------
        figure : matplotlib figure or subfigure, optional
            Where to draw; by default a new figure.
        run : object, optional
            Which run; by default the first.

        Returns
        -------
        stakes.display.MonitorDisplay

        Raises
        ------
        ValueError
            For a run that is not there.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.training import compare_monitors
        >>> history = {"f1": [0.2, 0.5, 0.4, 0.6], "brier": [0.5, 0.3, 0.4, 0.35]}
        >>> display = compare_monitors(history, criteria={"brier": "lower"}).plot()
        >>> [ax.get_ylabel() for ax in display.axes_]
        ['f1', 'brier']
        """
        return draw(self, figure, run=run)

    def __repr__(self) -> str:
        runs = f"{len(self.runs)} runs, " if len(self.runs) > 1 else ""
        return f"MonitorComparison({runs}criteria {', '.join(self.criteria)}, against {self.target})"


@dataclass(frozen=True)
class ChoiceDifferences(Tabular):
    """Paired differences between criteria, made by :meth:`MonitorComparison.differences`."""

    baseline: str
    records: tuple[dict[str, Any], ...]
    backend: Any = None

    def _records(self) -> list[dict[str, Any]]:
        return list(self.records)


def compare_monitors(
    history: Any,
    *,
    criteria: Mapping[str, str] | Sequence[str],
    target: str = "f1",
    report: Sequence[str] | None = None,
    patience: int = 10,
    min_delta: float = 0.0,
    run: str | None = None,
) -> MonitorComparison:
    """Say which epoch of a recorded training history each criterion would have chosen, and how well it follows F1.

    Parameters
    ----------
    history : mapping of str to array_like, or data frame
        One row for each epoch, in order; columns with the criteria and F1 on validation data, and others to report.
    criteria : mapping of str to {"lower", "higher"}, or sequence of str
        The columns to choose by, and which values are better; the direction may be left out for metrics of the library.
    target : str, default "f1"
        The column that criteria are correlated with.
    report : sequence of str, optional
        Columns to read at the chosen epoch, such as test F1 and test accuracy; by default the target.
    patience : int, default 10
        Epochs without improvement after which early stopping ends the training.
    min_delta : float, default 0.0
        Smallest change that counts as an improvement.
    run : str, optional
        Column that tells runs apart, such as the seed.

    Returns
    -------
    MonitorComparison
        ``early stopping`` takes the best epoch until the patience was spent, ``checkpoint`` the best of all epochs; the
        first of equally good ones. The correlation (Pearson) is over all epochs of a run, with losses negated, so that
        1 is best; it is undefined (nan) for a constant or infinite criterion.

    Raises
    ------
    ValueError
        For missing columns, no rows, missing values, or a criterion without a direction.

    Notes
    -----
    Tables 2 and 3 and Figure 3 of arXiv:2407.17697 for any data. The mean penalized Brier score is the Brier score plus
    penalty * (1 - accuracy): where classes are balanced F1 is close to accuracy, so a part of the higher correlation is
    there by construction. Put accuracy among the criteria to see how much.

    Examples
    --------
    >>> from stakes.training import compare_monitors
    >>> history = {"f1": [0.2, 0.5, 0.4, 0.6], "brier": [0.5, 0.3, 0.4, 0.35]}
    >>> print(compare_monitors(history, criteria={"brier": "lower"}, patience=2).to_markdown())
    | criterion | rule | epoch | epochs_trained | correlation | f1 |
    | --- | --- | --- | --- | --- | --- |
    | brier | early stopping | 1 | 4 | 0.8857 | 0.5 |
    | brier | checkpoint | 1 | 4 | 0.8857 | 0.5 |
    """
    directions = _directions(criteria)
    if isinstance(report, str) or not isinstance(report, (Sequence, type(None))):
        raise ValueError(f"report must be a list of columns, got {report!r}.")
    shown = (target,) if report is None else tuple(report)
    _check_names({"target": [target], "report": shown, "run": [] if run is None else [run]})
    patience = check_whole(patience, "patience", 1)
    runs = _runs(history, run, [*directions, target, *shown])
    choices = [
        MonitorChoice(name, criterion, rule, epoch, trained, correlation, {of: _at(columns[of], epoch) for of in shown})
        for name, columns in runs.items()
        for criterion, greater in directions.items()
        for correlation in [_correlation(columns[criterion] if greater else -columns[criterion], columns[target])]
        for rule in RULES
        for epoch, trained in [_chosen(columns[criterion], greater, min_delta, patience if rule == RULES[0] else None)]
    ]
    return MonitorComparison(tuple(choices), runs, directions, target, shown, backend_of(history))


def _directions(criteria: Mapping[str, str] | Sequence[str]) -> dict[str, bool]:
    if not isinstance(criteria, (Mapping, list, tuple)) or not criteria:
        raise ValueError(f"criteria must name at least one column in a list or mapping, got {criteria!r}.")
    if isinstance(criteria, Mapping):
        for name, way in criteria.items():
            if way not in ("lower", "higher"):
                raise ValueError(f'criteria[{name!r}] must be "lower" or "higher", got {way!r}.')
        return {name: way == "higher" for name, way in criteria.items()}
    _check_names({"criteria": criteria})
    unknown = [name for name in criteria if name not in METRICS]
    if unknown:
        raise ValueError(f'criteria must say what is better, as in {{{unknown[0]!r}: "lower"}}: it is no metric here.')
    return {name: METRICS[name].greater_is_better for name in criteria}


def _check_names(given: Mapping[str, Sequence[Any]]) -> None:
    for argument, names in given.items():
        for name in names:
            if not isinstance(name, str):
                raise ValueError(f"{argument} must name columns, got {name!r}.")


def _runs(history: Any, run: str | None, names: list[str]) -> dict[Any, dict[str, Floats]]:
    """Read the columns of each run as numbers, one row for each epoch."""
    if not isinstance(history, Mapping) and not hasattr(history, "columns"):
        raise TypeError(f"history must be a mapping of columns or a data frame, got {type(history).__name__}.")
    known = list(history.keys()) if isinstance(history, Mapping) else list(history.columns)
    known = [name if isinstance(name, str) else getattr(name, "_name", name) for name in known]
    columns: dict[str, Floats] = {}
    for name in dict.fromkeys(names):
        if name not in known:
            raise ValueError(f"history must have the column {name!r}, got {', '.join(map(str, known))}.")
        columns[name] = _numbers(history[name], name)
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError(f"columns must be equally long, got { {name: len(c) for name, c in columns.items()} }.")
    if run is None:
        return {None: columns}
    if run not in known:
        raise ValueError(f"history must have the column {run!r} that run= names, got {', '.join(map(str, known))}.")
    labels = to_array(history[run], run)
    if len(labels) != len(next(iter(columns.values()))):
        raise ValueError(f"columns must be equally long, got {len(labels)} values of {run!r}.")
    return {
        label: {name: column[labels == label] for name, column in columns.items()}
        for label in dict.fromkeys(labels.tolist())
    }


def _numbers(values: Any, name: str) -> Floats:
    """Check one number for each epoch."""
    values = to_array(values, name)
    if values.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold numbers, got {values.dtype}.")
    column = values.astype(np.float64)
    if column.ndim != 1 or len(column) == 0:
        raise ValueError(f"{name} must hold one value for each epoch, got shape {column.shape}.")
    missing = np.flatnonzero(np.isnan(column))
    if len(missing):
        raise ValueError(f"{name} must not be missing, got nan in row {missing[0]}.")
    return column


def _chosen(values: Floats, greater: bool, min_delta: float, patience: int | None) -> tuple[int | None, int]:  # noqa: FBT001
    progress = BestEpoch(greater_is_better=greater, min_delta=min_delta)
    for value in values.tolist():
        progress.add(value)
        if patience is not None and progress.wait >= patience:
            break
    return progress.best_epoch, len(progress.history)


def _at(column: Floats, epoch: int | None) -> float:
    return math.nan if epoch is None else float(column[epoch])


def _correlation(values: Floats, target: Floats) -> float:
    varies = len(values) > 1 and all(np.isfinite(v).all() and np.ptp(v) > 0.0 for v in (values, target))
    return float(np.corrcoef(values, target)[0, 1]) if varies else math.nan


def _paired(gap: Floats, level: float) -> dict[str, float]:
    """Mean of paired differences with its t-interval."""
    from scipy.stats import t

    mean, count = float(gap.mean()), len(gap)
    half = float(t.ppf(0.5 + level / 2.0, count - 1)) * float(gap.std(ddof=1)) / math.sqrt(count)
    return {"difference": mean, "ci_low": mean - half, "ci_high": mean + half, "runs": count}
