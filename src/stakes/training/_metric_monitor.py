"""A metric accumulated over batches, and its adapters for training libraries."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from threading import get_ident
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base import validation
from stakes.base.multiclass import (
    class_columns,
    class_names,
    is_tensor,
    named_values,
    positive_last,
    refuse_mixed,
    refuse_other_order,
    rows_to_host,
    stated_labels,
    to_host,
    two_labels,
)
from stakes.base.outcome import Outcome
from stakes.core.score_table import ScoreTable, common_label
from stakes.correction import FRACTIONS_BY_CLASS, UNBALANCED, undo_class_weight, undo_sampling
from stakes.metrics import METRICS, MONEY, Metric, check_parameters, guess_metric
from stakes.outcomes import MONEY_PER, RowCosts, check_money_per, rows_for_money
from stakes.training._settings import in_full, settled

# Scores as a model gives them in training become probabilities: weights and sampling undone, logits transformed.

_OF_POSITIVE = ("positive_share", "scale_pos_weight", "pos_weight")
_OF_WEIGHTS = ("positive_share", "class_weight", "scale_pos_weight", "pos_weight")
_OF_SAMPLING = ("keep", "repeat")
_BY_CLASS = ("class_weight", "keep", "repeat")
_BESIDE = ("y_train", "labels")
_ORDER = np.array([False, True])  # of two columns


class TrainingScores:
    """What was done to the classes in training, and what kind of scores the model gives.

    Parameters
    ----------
    correct : mapping or None
        Settings of :func:`undo_class_weight` and :func:`undo_sampling`.
    logits : bool
        Whether scores are log-odds of the positive class (n,) or logits of all classes (n, K).
    labels : list or None
        Labels in the order of the columns, where ``correct`` does not name them.
    pos_label : object, optional
        The label of the positive class, of two.
    """

    def __init__(
        self, correct: Any = None, *, logits: bool = False, labels: Any = None, pos_label: object = None
    ) -> None:
        validation.check_flag(logits, "logits")
        self.correct, self.logits, self.labels, self.pos_label = _check_correct(correct), logits, labels, pos_label
        named = (self.correct or {}).get("labels")
        self._named = None if named is None else np.atleast_1d(validation.to_array(named, "labels")).tolist()
        if self._named is not None and pos_label is not None and pos_label not in self._named:
            raise ValueError(f"labels of correct must hold pos_label={pos_label!r}, got {self._named}.")
        self.listed = [
            name
            for name, value in (self.correct or {}).items()
            if name in _BY_CLASS and not isinstance(value, (Mapping, str))
        ]

    @property
    def by_order(self) -> bool:
        """Whether what is undone depends on which of two classes sorts first."""
        return bool(self.listed) if self._named is None else self.pos_label is None

    @property
    def as_given(self) -> bool:
        """Whether scores are probabilities already."""
        return self.correct is None and not self.logits

    def of_classes(self, y_prob: Any, labels: Any = None) -> validation.Floats:
        """Probabilities of all classes, or of the positive one of two, in the population.

        ``labels``: those of the columns, where names of columns state them.
        """
        labels = labels if self.labels is None else self.labels
        scores = self._undone(validation.to_array(y_prob, "y_prob"), {"labels": labels} | (self.correct or {}))
        return _probabilities(scores) if self.logits else scores

    def of_positive(
        self, scores: NDArray[Any], *, first: bool, probability: bool, seen: Sequence[Any] = ()
    ) -> validation.Floats:
        """Probability of the positive class in the population; log-odds stay what they are where scores only rank.

        ``first``: whether the positive class has the first of two columns. ``seen``: labels of the rows.
        """
        given = self._positive_last(first=first, columns=scores.ndim, seen=seen)
        if self.logits and scores.shape[1:] == (2,):
            scores = np.subtract(*self._checked(scores).T[:: 1 if first else -1])
        scores = self._undone(validation.pick_positive_column(scores, _ORDER, not first), given)
        return _probabilities(scores) if self.logits and probability else scores

    def settings(self) -> dict[str, Any]:
        """Settings that differ from plain probabilities, to compare two monitors."""
        given: dict[str, Any] = {}
        if self.correct is not None:
            given["correct"] = {name: settled(value) for name, value in sorted(self.correct.items())}
        return given | ({"logits": True} if self.logits else {})

    def _positive_last(self, *, first: bool, columns: int, seen: Sequence[Any]) -> dict[str, Any]:
        """What is undone for the positive class: labels and sequences of which it is the first are reversed."""
        labels = self.labels if len(seen) < 2 else positive_last(self.pos_label, seen, set())
        given = {"labels": labels} | (self.correct or {})
        if self._named is not None:
            positive = sorted(self._named)[0 if first else -1] if self.pos_label is None else self.pos_label
            if positive == self._named[-1]:
                return given
            given["labels"] = self._named[::-1]
        elif not (first and self.listed):
            return given
        elif columns == 1:
            raise ValueError(
                f"{self.listed[0]} of correct must be a mapping of label to number beside one column of scores where "
                f"the positive label sorts first, got {validation.brief(given[self.listed[0]])}."
            )
        return given | {name: np.atleast_1d(validation.to_array(given[name], name))[::-1] for name in self.listed}

    def _undone(self, scores: NDArray[Any], given: dict[str, Any]) -> validation.Floats:
        if self.correct is None:
            return self._checked(scores)
        given = dict(given)
        sampling = {name: given.pop(name, None) for name in _OF_SAMPLING}
        if any(name in given for name in _OF_WEIGHTS):
            scores = undo_class_weight(scores, **given, logits=self.logits)
        if all(value is None for value in sampling.values()):
            return scores
        return undo_sampling(scores, **sampling, labels=given["labels"], logits=self.logits)

    def _checked(self, scores: NDArray[Any]) -> validation.Floats:
        return validation.check_scores(scores.ravel(), probability=not self.logits).reshape(scores.shape)


def _probabilities(logits: validation.Floats) -> validation.Floats:
    from scipy.special import expit, softmax

    return np.asarray(expit(logits) if logits.ndim == 1 else softmax(logits, axis=1))


def _check_correct(correct: Any) -> dict[str, Any] | None:
    """Refuse what neither function takes, and a mapping that corrects nothing."""
    if correct is None:
        return None
    known = (*_OF_WEIGHTS, *_OF_SAMPLING, *_BESIDE)
    if isinstance(correct, str) and correct == "auto":
        raise ValueError(
            'correct="auto" needs a booster that says its own class weight, which only lightgbm_metric can ask: '
            'state it, such as correct={"scale_pos_weight": 58}.'
        )
    if not isinstance(correct, Mapping):
        raise ValueError(
            'correct must be a mapping of what undo_class_weight and undo_sampling take, such as {"scale_pos_weight": '
            f'58}} or {{"keep": {{0: 0.1, 1: 1}}}}, got {correct!r}.'
        )
    unknown = [name for name in correct if name not in known]
    if unknown:
        raise ValueError(f"correct must hold some of {', '.join(known)}, got {unknown[0]!r}.")
    if all(correct.get(name) is None for name in (*_OF_WEIGHTS, *_OF_SAMPLING)):
        raise ValueError(f"correct must hold one of {', '.join((*_OF_WEIGHTS, *_OF_SAMPLING))}, got {dict(correct)!r}.")
    return {
        name: named_values(value, name) if name in _BY_CLASS else value
        for name, value in correct.items()
        if value is not None
    }


# The value of one metric over batches: updated where the model is evaluated, merged across processes, exact.

_RESERVED = ("sample_weight", "per_sample")
_AMOUNTS, _WEIGHT = ("false_positive", "false_negative"), "weight"
_NO_WEIGHTS = "an amount is to be passed as the weight of each row, and no weights were passed."
_OTHER_COLUMN = (
    "the positive class has the first of the two columns of y_prob by the labels of some batches, and the second by "
    "those of others, of which one may lack a class: pass the column of the positive class."
)
_ON_DEVICE = ("penalized_brier_loss", "penalized_log_loss")


class _Columns(NamedTuple):
    """What the batches so far have shown of the columns of scores."""

    labels: Sequence[Any] = ()
    first: bool | None = None  # whether the positive class has the first of two, once that is known

    @property
    def named(self) -> Sequence[Any] | None:
        """The labels, unless they count from 0."""
        return None if [*self.labels] == [*range(len(self.labels))] else self.labels

    def joined(self, other: _Columns) -> _Columns:
        """Return what both have shown, or raise where they differ."""
        first = {self.first, other.first} - {None}
        if len(first) == 2:
            raise ValueError(_OTHER_COLUMN)
        if not first and self.labels and other.labels and self.labels != other.labels:
            raise ValueError(
                f"y_prob must have columns of the same labels in every batch, got {self.labels} and {other.labels} by "
                "their names and the labels of the rows: pass labels= in the order of the columns."
            )
        return _Columns(max(self.labels, other.labels, key=len), next(iter(first), None))


class MetricMonitor:
    """Streaming value of any registered metric on validation data, by default of the penalized Brier loss.

    Parameters
    ----------
    metric : str or Metric, default "penalized_brier_loss"
        A registered metric, binary or multi-class; or "money", what acting costs where rows have amounts, as in
        :func:`stakes.money`.
    correct : mapping, optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: it is undone before the metric is
        evaluated. ``labels`` among it are by default those of the metric.
    logits : bool, default False
        Whether scores are log-odds of the positive class, or logits of every class.
    **params
        What the metric takes: ``labels=``, ``penalty=``, ``ties=``, ``bounds=``, ``costs=``, ``pos_label=`` ... "money"
        takes ``false_positive=``, ``false_negative=``, ``factor=`` and ``per=``; of the two amounts each is a number,
        or "weight" for what is passed as the weight of the row.

    Attributes
    ----------
    metric : Metric
        What is monitored.
    params : dict
        Its settings.

    Raises
    ------
    ValueError
        For a name that is not registered, or a setting that the metric refuses.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    A multi-class loss is a mean, kept as a compensated sum of losses and the sum of weights; a binary metric is a
    function of the score table, which merges by addition. Either way the value is that of all rows at once, whatever
    the batches: nothing is binned or averaged over batches. Monitors can be pickled and sent to another process.

    A :class:`stakes.RowCosts` may stand for the labels of a batch where a metric takes amounts by row, as costs, regret
    and net benefit do.

    Batches need not show every class, so labels that are not column numbers or one-hot rows need ``labels=``.

    Examples
    --------
    >>> from stakes.training import MetricMonitor
    >>> monitor = MetricMonitor()
    >>> monitor.update([1, 0], [[0.33, 0.34, 0.33], [0.6, 0.2, 0.2]]).update([1], [[0.51, 0.49, 0.0]])
    MetricMonitor(penalized_brier_loss of 3 rows: 0.6934)
    >>> round(monitor.compute(), 4)
    0.6934
    """

    def __init__(
        self,
        metric: str | Metric = "penalized_brier_loss",
        *,
        correct: Mapping[str, Any] | None = None,
        logits: bool = False,
        **params: Any,
    ) -> None:
        metric = _registered(metric)
        check_parameters(metric, params)
        for name in _RESERVED:
            if name in params:
                raise TypeError(f"{name} is no setting of a monitor: rows and weights go to update().")
        if metric.task == "multiclass" and not metric.per_sample:
            raise ValueError(f"a multi-class metric must give per-row values to be monitored, got {metric.name}.")
        self.metric = metric
        self.params = params
        correct = _check_correct(correct)
        labels, positive = _labels_to_undo(params, correct), params.get("pos_label")
        self._scores = TrainingScores(correct, logits=logits, labels=labels, pos_label=positive)
        self._try_settings()
        self.reset()

    @property
    def name(self) -> str:
        """Name of the metric."""
        return self.metric.name

    @property
    def greater_is_better(self) -> bool:
        """Direction of the metric."""
        return self.metric.greater_is_better

    @property
    def correct(self) -> dict[str, Any] | None:
        """The correction applied before the metric is evaluated."""
        return self._scores.correct

    def correcting(self, correct: Mapping[str, Any]) -> MetricMonitor:
        """Make a monitor of the same metric, without rows, that undoes other weights.

        Parameters
        ----------
        correct : mapping
            As of the class.

        Returns
        -------
        MetricMonitor
            A new one.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> monitor = MetricMonitor("bounded_brier_loss").correcting({"scale_pos_weight": 9})
        >>> round(monitor.evaluate([0], [0.9]), 4)  # 0.9 was 0.5 before the positives counted nine times
        0.25
        """
        return MetricMonitor(self.metric, correct=correct, logits=self._scores.logits, **self.params)

    @property
    def n_rows(self) -> int:
        """Rows seen since the last reset."""
        return self._rows

    def reset(self) -> Self:
        """Discard the rows seen so far.

        Returns
        -------
        MetricMonitor
            This object.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> MetricMonitor().update([0], [[0.6, 0.4]]).reset().n_rows
        0
        """
        self._rows = 0
        self._loss = _RunningSum()
        self._weight = _RunningSum()
        self._tables: list[ScoreTable] = []
        self._other: str | float | None = None  # the label beside the positive one
        self._columns = _Columns()
        return self

    def update(self, y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of rows.

        Parameters
        ----------
        y_true : array_like of shape (n,), (n, 1) or (n, classes), or RowCosts
            Labels, or one-hot rows for a multi-class metric.
        y_prob : array_like or PyTorch tensor
            Of shape (n, classes) for a multi-class metric; of shape (n,), (n, 1) or (n, 2) for a binary one.
            Probabilities, unless the monitor was made with ``logits=True``.
        sample_weight : array_like of shape (n,) or (n, 1), optional
            Weights >= 0; a batch of zeros adds nothing.

        Returns
        -------
        MetricMonitor
            This object.

        Raises
        ------
        ValueError
            For rows that the metric refuses; the monitor then keeps what it had.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> auc = MetricMonitor("roc_auc_score").update([0, 1], [0.2, 0.4]).update([0, 1], [0.3, 0.1])
        >>> auc.compute()
        0.5
        """
        validation.check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
        y_true, y_prob = _as_vector(y_true, "y_true"), _as_vector(y_prob, "y_prob")
        sample_weight = _as_vector(sample_weight, "sample_weight")
        if not isinstance(y_true, Outcome) and not self.amount_is_weight and _all_zero(sample_weight, y_prob):
            return self
        if self.metric is MONEY:
            return self._add_money(self._priced(to_host(y_true), to_host(sample_weight)), self._on_host(y_prob))
        if self.metric.task == "binary":
            table, columns = self._table(y_true, y_prob, sample_weight)
            self._other = common_label(table.pos_label, self._other, table.neg_label, "update needs batches")
            self._columns = columns
            self._tables.append(replace(table, neg_label=None))
            self._rows += table.n_rows
            return self
        if not (is_tensor(y_prob) and self.name in _ON_DEVICE and self._scores.as_given):
            y_true, y_prob, sample_weight = to_host(y_true), self._on_host(y_prob), to_host(sample_weight)
        labels, columns = self._labels(y_true, y_prob)
        for name in self._listed:
            refuse_other_order(name, class_names(y_true, labels, np.shape(y_prob)[-1]), y_prob)
        if not self._scores.as_given:
            y_prob = class_columns(y_true, y_prob, labels, validation.to_array(y_prob, "y_prob"))
            y_prob = self._scores.of_classes(y_prob, validation.frame_names(y_true) or columns.named)
        options = self.params | {"labels": labels}
        losses = self.metric.function(y_true, y_prob, per_sample=True, sample_weight=sample_weight, **options)
        loss, weight = _totals(losses, sample_weight)
        self._loss.add(loss)
        self._weight.add(weight)
        self._rows += len(losses)
        self._columns = columns
        return self

    def merge(self, other: MetricMonitor) -> MetricMonitor:
        """Add what another monitor of the same metric has seen, on other rows.

        Parameters
        ----------
        other : MetricMonitor
            With the same metric and settings.

        Returns
        -------
        MetricMonitor
            A new one.

        Raises
        ------
        ValueError
            If the metric or a setting differs, the labels, or which of two columns is that of the positive class.
        TypeError
            If it is no monitor.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> one = MetricMonitor().update([0], [[0.6, 0.4]])
        >>> other = MetricMonitor().update([0], [[0.4, 0.6]])
        >>> round(one.merge(other).compute(), 4)
        0.77
        """
        if not isinstance(other, MetricMonitor):
            raise TypeError(f"other must be a MetricMonitor, got {other!r}.")
        if self.settings() != other.settings():
            raise ValueError(f"monitors must be alike to be merged, got {self.settings()} and {other.settings()}.")
        both = copy(self)
        positive = validation.plain_label(self.params.get("pos_label"))
        both._other = common_label(positive, self._other, other._other, "merge needs monitors")
        both._columns = self._columns.joined(other._columns)
        both._rows = self._rows + other._rows
        both._loss, both._weight = self._loss.plus(other._loss), self._weight.plus(other._weight)
        both._tables = [*self._tables, *other._tables]
        return both

    def compute(self) -> float:
        """Value of the metric on all rows since the last reset.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there was no row.

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> MetricMonitor("bounded_brier_loss").update([0, 1], [0.0, 0.5]).compute()
        0.125
        """
        if self._rows == 0:
            raise ValueError("the monitor has seen no row of positive weight: call update() first.")
        if self.metric is MONEY:
            rows = self._weight.value()
            return rows_for_money(check_money_per(self.params.get("per", MONEY_PER)), rows) * self._loss.value() / rows
        if self.metric.task == "multiclass":
            return self._loss.value() / self._weight.value()
        while len(self._tables) > 1:  # in pairs, so that each row is merged log(batches) times
            pairs = zip(self._tables[::2], self._tables[1::2], strict=False)
            last = self._tables[-1:] if len(self._tables) % 2 else []
            self._tables = [first.merge(second) for first, second in pairs] + last
        return self._of_table(self._tables[0])

    def evaluate(self, y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Evaluate the metric on these rows alone, without using or changing the rows seen before.

        Parameters
        ----------
        y_true, y_prob, sample_weight : array_like
            As in :meth:`update`.

        Returns
        -------
        float

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> MetricMonitor(penalty=0).evaluate([0], [[0.6, 0.4]])
        0.32...
        """
        if self.metric.task != "binary" or not self.metric.per_sample:
            return copy(self).reset().update(y_true, y_prob, sample_weight).compute()
        # a mean over rows needs no table of sorted scores
        validation.check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
        labels, weight = (
            to_host(_as_vector(values, name)) for values, name in ((y_true, "y_true"), (sample_weight, "sample_weight"))
        )
        scores, _ = self._corrected(self._on_host(_as_vector(y_prob, "y_prob")), labels, weight, seen=_Columns())
        return float(self.metric.function(labels, scores, sample_weight=weight, **self.params))

    def settings(self) -> dict[str, Any]:
        """Name of the metric and its parameters as text, to compare two monitors.

        Returns
        -------
        dict

        Examples
        --------
        >>> from stakes.training import MetricMonitor
        >>> MetricMonitor("bounded_brier_loss", bounds=(0.1, 0.2)).settings()
        {'metric': 'bounded_brier_loss', 'bounds': '(0.1, 0.2)'}
        """
        given = self.params | self._scores.settings()
        return {"metric": self.name, **{name: repr(in_full(value)) for name, value in sorted(given.items())}}

    def __getstate__(self) -> dict[str, Any]:
        """Pickle a registered metric by name, since its functions may not be picklable."""
        registered = self.metric is MONEY or METRICS.get(self.name) is self.metric
        return self.__dict__ | {"metric": self.name if registered else self.metric}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, metric=_registered(state["metric"]))

    def __repr__(self) -> str:
        seen = f"{self._rows} rows: {self.compute():.4g}" if self._rows else "no rows yet"
        return f"MetricMonitor({self.name} of {seen})"

    def _try_settings(self) -> None:
        """Check the settings early by evaluating the metric on two rows."""
        if self.metric is MONEY:
            MONEY.function([0, 1], [0.25, 0.75], **self.params | self._try_amounts() | {"pos_label": None})
        elif self.metric.task == "binary":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a warning is for the rows of the user
                self._of_table(ScoreTable.from_predictions([0, 1], [0.25, 0.75]))
        if self.metric.task == "binary" and not self._scores.as_given:
            self._scores.of_classes([0.25, 0.75])

    def _try_amounts(self) -> dict[str, Any]:
        """Amounts of two rows as they were set, one where they come with the rows."""
        stated: dict[str, Any] = {name: self.params.get(name) for name in _AMOUNTS}
        for name, value in stated.items():
            if np.ndim(value) or (isinstance(value, str) and value != _WEIGHT):
                raise ValueError(
                    f'{name} must be a number, or "weight" for what is passed as the weight of the row, got {value!r}; '
                    "amounts by row go into a RowCosts, which stands for the labels."
                )
        if stated == dict.fromkeys(_AMOUNTS):
            return dict.fromkeys(_AMOUNTS, 1.0)
        return {name: 1.0 if value == _WEIGHT else value for name, value in stated.items()}

    @property
    def amount_is_weight(self) -> bool:
        """Whether an amount is passed as the weight of the row."""
        return self.metric is MONEY and _WEIGHT in (self.params.get(name) for name in _AMOUNTS)

    def _add_money(self, outcome: RowCosts, y_prob: Any) -> Self:
        scores, columns = self._corrected(y_prob, outcome, None, seen=self._columns)
        factor = self.params.get("factor", 1.0)
        self._loss.add(MONEY.function(outcome, scores, factor=factor, per="total"))
        self._weight.add(float(outcome.counted.sum()))
        self._rows += int(np.count_nonzero(outcome.counted))
        self._columns = columns
        return self

    def _priced(self, y_true: Any, weight: Any) -> RowCosts:
        """Labels of a batch with their amounts, unless they have them."""
        stated: dict[str, Any] = {name: self.params.get(name) for name in _AMOUNTS}
        beside = {**stated, "sample_weight": weight, "pos_label": self.params.get("pos_label")}
        if isinstance(y_true, RowCosts) and all(value is None for value in beside.values()):
            return y_true
        if isinstance(y_true, RowCosts):
            name = next(name for name, value in beside.items() if value is not None)
            raise ValueError(
                f"y_true must be labels or an outcome without amounts beside {name}=, got a RowCosts: it has its own "
                f"{name}=, pass it there."
            )
        if self.amount_is_weight:
            if weight is None:
                raise ValueError(_NO_WEIGHTS)
            stated = {name: weight if value == _WEIGHT else value for name, value in stated.items()}
            beside |= {**stated, "sample_weight": None}
        return RowCosts(y_true, **beside)

    def _on_host(self, y_prob: Any) -> Any:
        return to_host(y_prob) if self._scores.logits else rows_to_host(y_prob)

    def _of_table(self, table: ScoreTable) -> float:
        given = {name: value for name, value in self.params.items() if name != "pos_label"}
        return float(self.metric.function(table, None, **given))

    def _labels(self, y_true: Any, y_prob: Any) -> tuple[Any, _Columns]:
        """Labels in column order, and what is known of the columns then.

        Without labels= or columns named by them, y_true holds column numbers, for a batch may lack a class.
        """
        given = self.params.get("labels")
        if given is not None or np.ndim(y_true) == 2:
            return given, self._columns
        stated = None if is_tensor(y_prob) else stated_labels(y_true, y_prob, None)
        count = max((2, *np.shape(y_prob)[1:2]))
        labels = stated or self._columns.labels or list(range(count))
        return labels, self._columns.joined(_Columns(labels))

    @property
    def _listed(self) -> list[str]:
        """What is listed in the order of the classes, of which no labels= states it."""
        if self.params.get("labels") is not None:
            return []
        by_metric = {"class_weight": 1, "bounds": 2}  # dimensions of what is listed
        return [
            *self._scores.listed,
            *(name for name, n in by_metric.items() if np.ndim(named_values(self.params.get(name), name)) == n),
        ]

    def _table(self, y_true: Any, y_prob: Any, sample_weight: Any) -> tuple[ScoreTable, _Columns]:
        probability = self.metric.response == "probability"
        labels, positive = to_host(y_true), self.params.get("pos_label")
        weight = to_host(sample_weight)
        scores, columns = self._corrected(self._on_host(y_prob), labels, weight, seen=self._columns)
        table = ScoreTable.from_predictions(
            labels, scores, sample_weight=weight, pos_label=positive, probability=probability
        )
        return table, columns

    def _corrected(self, y_prob: Any, labels: Any, weight: Any, *, seen: _Columns) -> tuple[Any, _Columns]:
        """Scores of the positive class, corrected for the training, and what is known of the columns then.

        ``seen``: what batches before have shown of them; a batch of one class cannot say.
        """
        scores, columns = validation.to_array(y_prob, "y_prob"), seen
        if scores.size and (scores.ndim == 2 or self._scores.by_order):
            columns = _two_columns(labels, self.params.get("pos_label"), weight, seen=seen)
            scores = validation.by_label(scores, y_prob, columns.labels)
        if not self._scores.as_given:
            probability = self.metric.response == "probability"
            held = () if self._scores.pos_label is None else _labels_of_rows(labels, self._scores.pos_label, weight)[2]
            undone = self._scores.of_positive(scores, first=bool(columns.first), probability=probability, seen=held)
            return undone, columns
        if seen.first is None or scores.ndim == 1:
            return y_prob, columns
        present = np.ones(len(scores)) if weight is None else validation.to_array(weight, "sample_weight")
        scores = np.where(present[:, None] > 0.0, scores, 0.5)  # rows of weight zero count as absent
        return validation.pick_positive_column(scores, _ORDER, not columns.first), columns


Criterion = str | Metric | MetricMonitor


def as_monitor(
    metric: Criterion, params: Mapping[str, Any] | None = None, *, correct: Any = None, logits: bool = False
) -> MetricMonitor:
    """Build a monitor from a metric or its name; return a monitor unchanged."""
    if not isinstance(metric, MetricMonitor):
        return MetricMonitor(metric, correct=correct, logits=logits, **(params or {}))
    beside = [*(params or {}), *(["correct"] if correct is not None else []), *(["logits"] if logits else [])]
    if beside:
        raise TypeError(f"a MetricMonitor carries its own settings, got {beside[0]}= beside it.")
    return metric


def _as_vector(values: Any, name: str) -> Any:
    """Take a single column for a vector: losses of PyTorch and Keras want labels of their scores' shape, (n, 1)."""
    if values is None or isinstance(values, Outcome):
        return values
    found = values if is_tensor(values) else validation.to_array(values, name)
    if found.ndim == 0:
        raise ValueError(
            f"{name} must be 1-D, got shape (): squeeze() drops the row of a batch of one, squeeze(1) keeps it."
        )
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else values


def _all_zero(sample_weight: Any, y_prob: Any) -> bool:
    """Whether no row of a batch counts."""
    weight = None if sample_weight is None else validation.to_array(to_host(sample_weight), "sample_weight")
    return weight is not None and weight.shape == (len(y_prob),) and not weight.any()


def _two_columns(labels: Any, pos_label: object, weight: Any, *, seen: _Columns) -> _Columns:
    """Two columns follow the sorted labels: which these are, and whether the positive one is the first."""
    y, first, held = _labels_of_rows(labels, pos_label, weight)
    if seen.first is not None and y.all():
        return seen
    if first is None:
        raise ValueError(
            "the two classes cannot be distinguished where all labels are alike: pass the column of the positive "
            "class, and what was done to each class in training by its label."
        )
    return seen.joined(_Columns(held, first))


def _labels_of_rows(labels: Any, pos_label: object, weight: Any) -> tuple[validation.Bools, bool | None, Sequence[Any]]:
    """Which of the rows that count are positive, whether that label sorts first, and their labels."""
    if not isinstance(labels, Outcome):
        labels = np.atleast_1d(validation.to_array(labels, "y_true"))
        weight = validation.check_weights(weight, len(labels))
        labels = labels if weight is None else labels[weight > 0.0]
    return two_labels(labels, pos_label)


def _labels_to_undo(params: Mapping[str, Any], correct: dict[str, Any] | None) -> Any:
    """Labels in the order of the columns that are undone: those of the metric, or of two the positive one last."""
    positive = params.get("pos_label")
    if positive is None or correct is None:
        return params.get("labels")
    named = {label for value in correct.values() if isinstance(value, Mapping) for label in value}
    if correct.get("y_train") is not None:
        named |= set(validation.to_array(correct["y_train"], "y_train").ravel().tolist())
    return positive_last(positive, (), named)


def _registered(metric: object) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if metric == MONEY.name:
        return MONEY
    if not isinstance(metric, str) or metric not in METRICS:
        names, near = ", ".join(sorted(METRICS)), guess_metric(str(metric), METRICS) or "."
        raise ValueError(f"metric must be the name of a registered metric ({names}) or a Metric, got {metric!r}{near}")
    return METRICS[metric]


class _RunningSum:
    """A running sum with compensation of rounding errors (Neumaier)."""

    def __init__(self, high: float = 0.0, low: float = 0.0) -> None:
        self.high, self.low = high, low

    def add(self, value: float) -> None:
        total = self.high + value
        if np.isfinite(total):
            self.low += (self.high - total) + value if abs(self.high) >= abs(value) else (value - total) + self.high
        self.high = total

    def plus(self, other: _RunningSum) -> _RunningSum:
        both = _RunningSum(self.high, self.low + other.low)
        both.add(other.high)
        return both

    def value(self) -> float:
        return self.high + self.low


def _totals(losses: Any, sample_weight: Any) -> tuple[float, float]:
    """Weighted sum of the losses of a batch, and its weight; an infinite loss of weight zero is absent."""
    if is_tensor(losses):
        losses = losses.detach()
    if sample_weight is None:
        return float(losses.sum()), float(len(losses))
    if is_tensor(losses):
        weight = losses.new_tensor(np.asarray(to_host(sample_weight), dtype=np.float64))
    else:
        weight = np.asarray(validation.to_array(sample_weight, "sample_weight"), dtype=np.float64)
    keep = weight > 0
    return float((losses[keep] * weight[keep]).sum()), float(weight.sum())


# Metrics of the library as evaluation metrics of XGBoost and LightGBM, in their own and their scikit-learn interface.
#
# Both libraries call a metric with predictions and their data object, or, in the scikit-learn interface, with labels
# and predictions. Their own early stopping then works on the value, so the direction must be the one that they
# expect.

# Without being told, XGBoost takes a metric whose name begins so as better when higher, and any other as a loss.
_MAXIMISED = ("auc", "map", "ndcg", "pre")
_SINGLE = 1e-6  # the libraries hold weights in single precision


def xgboost_metric(
    metric: Criterion = "penalized_brier_loss",
    *,
    correct: Mapping[str, Any] | None = None,
    logits: bool = False,
    outcome: RowCosts | Sequence[RowCosts] | None = None,
    **params: Any,
) -> XGBoostMetric:
    """Make a metric of the library an evaluation metric of XGBoost.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    correct : mapping, optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: undone before the metric is
        evaluated. XGBoost hands a metric no settings of the booster, so they are stated here.
    logits : bool, default False
        Whether scores are raw: log-odds, or logits of every class, as "binary:logitraw" and objectives of
        one's own give.
    outcome : RowCosts or sequence of RowCosts, optional
        Labels and amounts of the rows of an evaluation set, in its order, for "money" and other costs; one for each set
        where several are evaluated. Weights of these rows belong to it.
    **params
        What the metric takes, such as ``bounds=``. "money" takes ``false_positive=`` and ``false_negative=`` without
        ``outcome=``, of which each is a number, or "weight" for what the library passes as the weight of the row.

    Returns
    -------
    callable
        For ``xgboost.train(custom_metric=...)`` and for ``XGBClassifier(eval_metric=...)``. XGBoost minimises what it
        does not know, so a score is reported with its sign changed, as ``neg_`` and its name; a loss whose name
        XGBoost would take for a score's, as ``loss_`` and its name.

    Raises
    ------
    ValueError
        For a metric that is not registered, or a correction that is not understood.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    Objectives "binary:logistic" and "multi:softprob" hand it probabilities. ``early_stopping_rounds=``,
    ``xgboost.callback.EarlyStopping`` and ``cv`` follow it.

    With ``scale_pos_weight`` the model's scores are above the probabilities, and a loss of bounded costs may then be
    least before the first tree: pass ``correct=``.

    XGBoost gives the probability of the label 1; with ``pos_label=0`` that of the label 0 is judged. Several classes
    have the columns of their numbers, also where ``labels=`` states another order, as for "ordinal_loss".

    Examples
    --------
    >>> from stakes.training import xgboost_metric
    >>> metric = xgboost_metric("bounded_brier_loss", bounds=(0.02, 0.1))
    >>> metric.__name__, round(metric([0, 1], [0.05, 0.05]), 6)
    ('bounded_brier_loss', 0.0473)
    >>> xgboost_metric("roc_auc_score").__name__
    'neg_roc_auc_score'

    What decisions cost per 1,000 rows, by the amounts of the rows that early stopping looks at:

    >>> from stakes import RowCosts
    >>> metric = xgboost_metric("money", outcome=RowCosts([0, 1], false_positive=5, false_negative=[15, 45]))
    >>> metric([0, 1], [0.3, 0.05])
    25000.0
    """
    return XGBoostMetric(_of_class_1(as_monitor(metric, params, correct=correct, logits=logits)), _outcomes(outcome))


def lightgbm_metric(
    metric: Criterion = "penalized_brier_loss",
    *,
    correct: Mapping[str, Any] | Literal["auto"] | None = None,
    logits: bool = False,
    outcome: RowCosts | Sequence[RowCosts] | None = None,
    **params: Any,
) -> LightGBMMetric:
    """Make a metric of the library an evaluation metric of LightGBM.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    correct : mapping or "auto", optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: undone before the metric is
        evaluated. "auto" asks the booster for its ``scale_pos_weight``:
        list the metric's ``callbacks`` among those of the training.
    logits : bool, default False
        Whether scores are raw: log-odds, or logits of every class, as objectives of one's own give.
    outcome : RowCosts or sequence of RowCosts, optional
        Labels and amounts of the rows of an evaluation set, in its order, for "money" and other costs; one for each set
        where several are evaluated. Weights of these rows belong to it.
    **params
        What the metric takes, such as ``bounds=``. "money" takes ``false_positive=`` and ``false_negative=`` without
        ``outcome=``, of which each is a number, or "weight" for what the library passes as the weight of the row.

    Returns
    -------
    callable
        For ``lightgbm.train(feval=...)`` and for ``LGBMClassifier().fit(eval_metric=...)``; it tells LightGBM the
        direction.

    Raises
    ------
    ValueError
        For a metric that is not registered, or a correction that is not understood.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    Built-in objectives hand it probabilities. ``lightgbm.early_stopping`` follows it, and every other metric too:
    ``metric="None"`` among the model's settings leaves this one alone.

    With ``scale_pos_weight`` the model's scores are above the probabilities, and a loss of bounded costs may then be
    least after the first tree: pass ``correct=``. ``is_unbalance``, weights of the training rows (such as those that
    ``class_weight`` makes) and other objectives than "binary" are refused by "auto", since the booster does not say
    what they amount to.

    LightGBM gives the probability of the label 1; with ``pos_label=0`` that of the label 0 is judged. Its classifier
    codes other labels in sorted order: "bad" as 0, "good" as 1. It hands over these codes only, so of two classes
    ``pos_label=`` and what ``correct=`` states by class name the codes: of labels 1 and 2, 1 is that of the label 2.
    Several classes stand in that order too, for what is given by class and for "ordinal_loss", unless ``labels=``
    states another: ``labels=["low", "medium", "high"]``.

    Examples
    --------
    >>> from stakes.training import lightgbm_metric
    >>> name, value, greater_is_better = lightgbm_metric("bounded_brier_loss", bounds=(0.02, 0.1))([0, 1], [0.05, 0.05])
    >>> name, round(value, 6), greater_is_better
    ('bounded_brier_loss', 0.0473, False)
    """
    auto = isinstance(correct, str) and correct == "auto"
    undone: Any = {"scale_pos_weight": 1.0} if auto else correct
    monitor = _of_class_1(as_monitor(metric, params, correct=undone, logits=logits))
    return LightGBMMetric(monitor, _outcomes(outcome), BoosterWeight(monitor) if auto else None)


@dataclass(frozen=True, eq=False, repr=False)
class XGBoostMetric:
    """A metric under the name and with the sign that XGBoost expects; it can be pickled with a fitted model."""

    monitor: MetricMonitor
    outcomes: tuple[RowCosts, ...] = ()

    @property
    def __name__(self) -> str:
        name = self.monitor.name
        if self.monitor.greater_is_better:
            return f"neg_{name}"
        return f"loss_{name}" if name.startswith(_MAXIMISED) else name

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Any:
        labels, scores, weight = _rows(first, second, sample_weight)
        labels, scores = _by_label(self.monitor, labels, scores, coded=False)
        value = _evaluated(self.monitor, labels, scores, weight, self.outcomes)
        value = -value if self.monitor.greater_is_better else value
        return (self.__name__, value) if _is_data(second) else value


class BoosterWeight:
    """The class weight of LightGBM's booster, read before each iteration and used in the evaluation after it."""

    def __init__(self, monitor: MetricMonitor) -> None:
        self._plain = monitor
        self._read: dict[int, MetricMonitor] = {}  # by thread: trainings side by side may share a metric

    def __deepcopy__(self, memo: Any) -> BoosterWeight:
        """Return itself: LightGBM's classifier copies the metric but not the callbacks that share this object."""
        return self

    @property
    def monitor(self) -> MetricMonitor:
        """Monitor that corrects for the weight of the current iteration."""
        if get_ident() not in self._read:
            raise ValueError(
                'correct="auto" reads scale_pos_weight in a callback: pass callbacks=[*metric.callbacks, '
                "lightgbm.early_stopping(5)] to the training, or state the weight, such as "
                'correct={"scale_pos_weight": 58}.'
            )
        return self._read[get_ident()]

    def callbacks(self) -> list[Any]:
        """Make two for LightGBM: one reads the weight before an iteration, one drops it before others stop the run."""

        def read(env: Any) -> None:
            self._read[get_ident()] = self._plain.correcting({"scale_pos_weight": _weight_of_booster(env)})

        def drop(_env: Any) -> None:
            self._read.pop(get_ident(), None)

        read.before_iteration, drop.order = True, 0  # type: ignore[attr-defined]
        return [read, drop]


def _weight_of_booster(env: Any) -> float:
    """``scale_pos_weight`` of a booster, where it is all that weighs the classes."""
    instead = 'correct="auto" cannot know: state it, such as correct={"scale_pos_weight": 58}.'
    objective = env.params.get("objective")
    if objective != "binary":
        raise ValueError(f"what the class weights of the objective {objective!r} amount to, {instead}")
    for name in UNBALANCED:
        if env.params.get(name) not in (None, False, "false"):
            raise ValueError(f"what {name}={env.params[name]!r} of LightGBM amounts to, {instead}")
    for name in FRACTIONS_BY_CLASS:
        if env.params.get(name) not in (None, 1):
            raise ValueError(f"what {name}={env.params[name]!r} of LightGBM amounts to, {instead}")
    for booster in getattr(env.model, "boosters", [env.model]):
        if booster.train_set.get_weight() is not None:
            raise ValueError(f"whether the weights of the training rows are those of their classes, {instead}")
    weight = env.params.get("scale_pos_weight")
    return 1.0 if weight is None else float(weight)


@dataclass(frozen=True, eq=False, repr=False)
class LightGBMMetric:
    """A metric with its name and direction, as LightGBM expects them; it can be pickled with a fitted model."""

    monitor: MetricMonitor
    outcomes: tuple[RowCosts, ...] = ()
    weight: BoosterWeight | None = None

    @property
    def __name__(self) -> str:
        return self.monitor.name

    @property
    def callbacks(self) -> list[Any]:
        """Callbacks to pass to the training with ``correct="auto"``."""
        return [] if self.weight is None else self.weight.callbacks()

    # LightGBM counts the parameters: with three of them the scikit-learn interface passes the weights
    def __call__(self, first: Any, second: Any, weight: Any = None) -> tuple[str, float, bool]:
        monitor = self.monitor if self.weight is None else self.weight.monitor
        labels, scores, weight = _rows(first, second, weight)
        labels, scores = _by_label(monitor, labels, scores, coded=not _is_data(second))
        value = _evaluated(monitor, labels, scores, weight, self.outcomes)
        return monitor.name, value, monitor.greater_is_better


def _of_class_1(monitor: MetricMonitor) -> MetricMonitor:
    """Return the monitor; raise where it undoes what was done to the class 1 as if to another positive class."""
    done = [name for name in _OF_POSITIVE if name in (monitor.correct or {})]
    if done and monitor.params.get("pos_label") not in (None, 1):
        raise ValueError(
            f"{done[0]} of correct is that of the label 1 in training, got pos_label={monitor.params['pos_label']!r} "
            "beside it: state class_weight={0: 1, 1: 58}, say."
        )
    return monitor


def _both_columns(monitor: MetricMonitor, scores: Any) -> Any:
    """Scores of the class 1, as libraries give one column, with those of the other where this is the positive one."""
    if np.ndim(scores) != 1 or monitor.params.get("pos_label") in (None, 1):
        return scores
    return _two_of(monitor, scores)


def _two_of(monitor: MetricMonitor, scores: Any) -> validation.Floats:
    """Scores of two classes, from those of the second."""
    mine = np.asarray(scores, dtype=np.float64)
    return np.column_stack([0.0 * mine if monitor._scores.logits else 1.0 - mine, mine])


def _by_label(monitor: MetricMonitor, labels: Any, scores: Any, *, coded: bool) -> tuple[Any, Any]:
    """Labels as ``labels=`` names them and columns in its order, from codes and columns of the sorted labels.

    The classifier of LightGBM has ``coded`` them; its other training takes codes alone.
    """
    stated = monitor.params.get("labels")
    if stated is None:
        return labels, scores
    order = validation.to_array(stated, "labels")
    refuse_mixed(order.tolist(), "labels")
    known, columns = np.unique(order), _two_of(monitor, scores) if np.ndim(scores) == 1 else np.asarray(scores)
    if len(known) != len(order) or len(known) != columns.shape[1] or not (coded or _counted(known)):
        return labels, scores  # which the metric refuses
    return known[np.asarray(labels).astype(np.intp)], columns[:, np.searchsorted(known, order)]


def _counted(labels: NDArray[Any]) -> bool:
    return labels.tolist() == list(range(len(labels)))


def _is_data(values: Any) -> bool:
    """Whether a value is the data object of a library's native interface, not an array."""
    return hasattr(values, "get_label")


def _rows(first: Any, second: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Labels, predictions and weights, from these or from predictions and a data object."""
    if not _is_data(second):
        return first, second, weight
    weight = second.get_weight()
    return second.get_label(), first, weight if weight is not None and len(weight) else None


def _evaluated(monitor: MetricMonitor, labels: Any, scores: Any, weight: Any, outcomes: Sequence[RowCosts]) -> float:
    """Value for labels, predictions and weights."""
    if not outcomes:
        return monitor.evaluate(labels, _both_columns(monitor, scores), weight)
    return monitor.evaluate(_outcome_of(np.asarray(labels), weight, outcomes), scores)


def _outcomes(given: Any) -> tuple[RowCosts, ...]:
    """Outcomes of evaluation sets, that their labels tell apart."""
    found = () if given is None else tuple(given) if isinstance(given, (list, tuple)) else (given,)
    for place, each in enumerate(found):
        validation.check_kind(each, "outcome", RowCosts, "a RowCosts, or one for each evaluation set")
        if any(np.array_equal(each.y, other.y) for other in found[:place]):
            raise ValueError("outcome must hold sets of rows that their labels tell apart, got two with the same.")
    return found


def _outcome_of(labels: NDArray[Any], weight: Any, outcomes: Sequence[RowCosts]) -> RowCosts:
    """Find the outcome of an evaluation set by its labels, of which the library knows 0 and 1."""
    found = next((each for each in outcomes if np.array_equal(each.y, labels)), None)
    if found is None:
        raise ValueError(
            f"outcome must hold a RowCosts with the labels of every evaluation set, in their order; none has those of "
            f"the set of {len(labels):,} rows."
        )
    if weight is not None and not np.allclose(found.units, weight, rtol=_SINGLE, atol=0.0):
        raise ValueError("weights of rows with amounts belong to RowCosts(sample_weight=): the library passes others.")
    return found


# Metrics of the library in the logs of Keras 3, where Keras's own callbacks find them, on any backend.


def keras_metric(
    metric: Criterion = "penalized_brier_loss",
    *,
    validation_data: Any,
    batch_size: int = 256,
    correct: Mapping[str, Any] | None = None,
    logits: bool = False,
    **params: Any,
) -> Any:
    """Make a callback that adds a metric of the library to the logs of ``keras.Model.fit``.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    validation_data : tuple of arrays or iterable of batches
        ``(x, y)`` or ``(x, y, sample_weight)``, or an iterable of such batches that can be gone through once in each
        epoch; a RowCosts may stand for ``y``. The model's output are probabilities, unless ``logits=True``.
    batch_size : int, default 256
        Rows predicted at a time, where arrays are given.
    correct : mapping, optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: undone before the metric is
        evaluated.
    logits : bool, default False
        Whether scores are raw, the output of a last layer without sigmoid or softmax.
    **params
        What the metric takes, such as ``bounds=``.

    Returns
    -------
    keras.callbacks.Callback
        Its ``name`` is ``val_`` and the metric's name, its ``mode`` "min" or "max": pass both on to
        ``EarlyStopping``, ``ModelCheckpoint`` or ``ReduceLROnPlateau``, and list these after it.

    Raises
    ------
    ValueError
        For a metric that is not registered, for a correction that is not understood, or in training for validation
        data of another form.
    TypeError
        For a parameter that the metric does not take, or a missing one.
    ImportError
        If Keras is not installed (``pip install 'stakes[keras]'``).

    Notes
    -----
    A ``keras.metrics.Metric`` becomes part of the backend's graph, where only sums over batches can be kept; AUC, skill
    and exact sums need all rows, so the value is computed at the end of the epoch.

    Examples
    --------
    >>> from stakes.training import keras_metric
    >>> brier = keras_metric("bounded_brier_loss", validation_data=(x, y), bounds=(0.02, 0.1))  # doctest: +SKIP
    >>> stopping = keras.callbacks.EarlyStopping(brier.name, mode=brier.mode, patience=5)  # doctest: +SKIP
    >>> model.fit(x_train, y_train, epochs=100, callbacks=[brier, stopping])  # doctest: +SKIP
    """
    monitor = _of_class_1(as_monitor(metric, params, correct=correct, logits=logits))
    return _callback_class()(monitor, validation_data, validation.check_whole(batch_size, "batch_size", 1))


@cache
def _callback_class() -> Any:
    try:
        import keras
    except ModuleNotFoundError as error:
        if error.name != "keras":  # its backend, of which Keras says more
            raise
        raise ImportError("a Keras metric needs Keras: pip install 'stakes[keras]'") from error

    class KerasMetric(keras.callbacks.Callback):  # type: ignore[misc]  # Keras ships no annotations
        """Evaluate at the end of each epoch, and add the value to the logs."""

        def __init__(self, monitor: Any, validation_data: Any, batch_size: int) -> None:
            super().__init__()
            self.monitor, self.validation_data, self.batch_size = monitor, validation_data, batch_size
            self.name = f"val_{monitor.name}"
            self.mode = "max" if monitor.greater_is_better else "min"

        def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
            del epoch
            self.monitor.reset()
            for y_true, y_prob, weight in _predicted(self.model, self.validation_data, self.batch_size):
                self.monitor.update(y_true, _both_columns(self.monitor, y_prob), weight)
            if logs is not None:
                logs[self.name] = self.monitor.compute()

    return KerasMetric


def _predicted(model: Any, data: Any, batch_size: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield labels, probabilities and weights batch by batch."""
    arrays, batch = isinstance(data, tuple), None
    for batch in [data] if arrays else data:
        if not isinstance(batch, (tuple, list)) or len(batch) not in {2, 3}:
            raise ValueError("validation_data must hold (x, y) or (x, y, sample_weight), or an iterable of these.")
        validation.check_same_order(validation_data=batch)
        x, y_true, *weight = batch
        y_prob = model.predict(x, batch_size=batch_size, verbose=0) if arrays else model.predict_on_batch(x)
        yield y_true, _as_vector(y_prob, "y_prob"), weight[0] if weight else None
    if batch is None:
        raise ValueError(
            "validation_data must give batches in every epoch, got none: a generator can be gone through once only, so "
            "pass a list of its batches."
        )


# Metrics of the library as torchmetrics, which Lightning logs, follows and merges over all processes.


def lightning_metric(
    metric: Criterion = "penalized_brier_loss",
    *,
    correct: Mapping[str, Any] | None = None,
    logits: bool = False,
    **params: Any,
) -> Any:
    """Make a metric of the library a ``torchmetrics.Metric``, for ``LightningModule.log``.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    correct : mapping, optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: undone before the metric is
        evaluated.
    logits : bool, default False
        Whether scores are raw, the output of a last layer without sigmoid or softmax.
    **params
        What the metric takes, such as ``bounds=``. "money" takes ``false_positive=`` and ``false_negative=``, of which
        each is a number, or "weight" for what is passed as ``weight``.

    Returns
    -------
    torchmetrics.Metric
        ``update(preds, target, weight=None)`` takes probabilities or logits first, as every torchmetric does.
        Lightning's ``EarlyStopping`` and ``ModelCheckpoint`` follow it by the name it is logged under; give them
        ``mode="max"`` where its ``higher_is_better`` is true.

    Raises
    ------
    ValueError
        For a metric that is not registered, for a correction that is not understood.
    TypeError
        For a parameter that the metric does not take, or a missing one.
    ImportError
        If torchmetrics, which comes with Lightning, is not installed (``pip install 'stakes[lightning]'``).

    Notes
    -----
    It keeps the rows of an epoch, so that the value is that of all rows at once. In distributed training those of
    every process are gathered; Lightning pads the parts to equal lengths by repeated rows unless its sampler is
    replaced.

    Examples
    --------
    >>> from stakes.training import lightning_metric
    >>> self.brier = lightning_metric("bounded_brier_loss", bounds=(0.02, 0.1))  # doctest: +SKIP
    >>> self.brier.update(y_prob, y)  # doctest: +SKIP
    >>> self.log("val_brier", self.brier)  # doctest: +SKIP
    """
    return _metric_class()(as_monitor(metric, params, correct=correct, logits=logits))


@cache
def _metric_class() -> Any:
    try:
        import torch
        import torchmetrics
    except ImportError as error:
        raise ImportError("a Lightning metric needs Lightning: pip install 'stakes[lightning]'") from error

    class LightningMetric(torchmetrics.Metric):  # type: ignore[misc]  # a class of an optional library
        """Collect the rows, and evaluate them all."""

        full_state_update = False

        def __init__(self, monitor: Any) -> None:
            super().__init__()
            self.monitor = monitor
            for name in ("preds", "target", "weight"):
                self.add_state(name, default=[], dist_reduce_fx="cat")

        @property
        def higher_is_better(self) -> bool:
            return self.monitor.greater_is_better

        def __reduce__(self) -> Any:  # this class is made in a function, where pickle does not find it
            return lightning_metric, (self.monitor,), self.__getstate__()

        def update(self, preds: Any, target: Any, weight: Any = None) -> None:
            if weight is None and self.monitor.amount_is_weight:
                raise ValueError(_NO_WEIGHTS)
            preds, target = _as_vector(preds, "preds"), _as_vector(target, "target")
            weight = torch.ones(len(target), device=preds.device) if weight is None else _as_vector(weight, "weight")
            if not len(preds) == len(target) == len(weight):
                lengths = f"{len(preds)}, {len(target)} and {len(weight)}"
                raise ValueError(f"preds, target and weight must have the same length, got {lengths}.")
            self.preds.append(preds.detach())
            self.target.append(target.detach())
            self.weight.append(weight.detach())

        def compute(self) -> Any:
            preds, target, weight = map(torchmetrics.utilities.dim_zero_cat, (self.preds, self.target, self.weight))
            wide = torch.float32 if preds.device.type == "mps" else torch.float64
            return torch.tensor(self.monitor.evaluate(target, preds, weight), dtype=wide, device=preds.device)

    return LightningMetric
