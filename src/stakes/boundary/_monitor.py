"""Monitor a precision after deployment with evidence that is valid at any time, after every label.

Betting against the precision: with g the claimed precision and p < g, a positive multiplies a unit of capital by p / g
and a negative by (1 - p) / (1 - g). While the claim holds capital is not expected to grow, however the rows depend
on the past (a supermartingale), so by Ville's inequality it ever exceeds 1 / a with probability at most a.
Bets are spread over several p, and over the time from which the claim fails: half on the start, the rest on row
s = 2, 3, ... with weight 1 / (2 s (s - 1)).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.numerics import sigmoid
from stakes.base.validation import Floats, as_fraction, check_labels, check_level, check_unit, to_array
from stakes.boundary._boundary import Boundary
from stakes.outputs.files import json_ready
from stakes.outputs.result_table import Tabular
from stakes.outputs.serialization import JsonReader

_BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.5])  # how far below, in log-odds
_ROUNDING = 1e-9
_MOST = 700.0  # the exponential of more is infinite
_FORMAT = "stakes-precision-monitor-1"
_COUNTS = ("n_rows", "true_positives", "alarm_row")
_EVIDENCE = ("e_value", "max_e_value")


def _read_history(entries: JsonReader) -> list[dict[str, Any]]:
    """Read the state after each update, and refuse decreasing counts."""
    found: list[dict[str, Any]] = []
    history = entries.at("history")
    if not isinstance(history, list):
        raise entries.broken("history", "a list of updates")
    before: dict[str, Any] = {"rows": 0, "true_positives": 0, "alarm": False}
    for place, content in enumerate(history):
        mine = replace(entries, content=content, path=f"{entries.path}history[{place}].")
        record = {name: mine.count(name) for name in ("rows", "true_positives")}
        precision, evidence, alarm = mine.number("precision"), mine.number("e_value"), mine.flag("alarm")
        more = {name: record[name] - before[name] for name in record}
        if not (0 <= more["true_positives"] <= more["rows"] and more["rows"] > 0):
            raise mine.broken("rows and true_positives", f"counts that grow, by rows at least, got {record}")
        if not math.isclose(precision, record["true_positives"] / record["rows"], rel_tol=_ROUNDING):
            raise mine.broken("precision", f"true_positives / rows, got {precision}")
        if evidence < 0.0 or (before["alarm"] and not alarm):
            raise mine.broken("e_value and alarm", f">= 0, and true once it was, got {evidence} and {alarm}")
        before = {**record, "precision": precision, "e_value": evidence, "alarm": alarm}
        found.append(before)
    return found


class PrecisionMonitor(Tabular):
    """Raise an alarm when a promised precision no longer holds, valid at any time.

    Parameters
    ----------
    min_precision : float, Fraction or str
        The promise, in (0, 1).
    confidence_level : float, default 0.95
        1 less the probability of ever raising an alarm while the promise holds.

    Attributes
    ----------
    n_rows, true_positives : int
        Labelled rows seen so far, and the positives among them.
    e_value : float
        Evidence against the promise now: capital grown from 1.
    max_e_value : float
        The largest so far; its inverse is a p-value that is valid at any time.
    alarm : bool
        Whether the evidence ever reached ``alarm_at``.
    alarm_at : float
        1 / (1 - confidence_level).
    alarm_row : int or None
        The labelled row, from 1, at which it did.

    Notes
    -----
    Feed it the true labels of rows that the boundary selected, in order: all of them, or a random sample.

    Examples
    --------
    >>> from stakes.boundary import PrecisionMonitor
    >>> monitor = PrecisionMonitor(0.9)
    >>> monitor.update([1, 1, 1, 0, 1, 1, 1, 1, 1, 1]).alarm
    False
    >>> monitor.update([0, 1, 0, 0, 1, 0, 0, 1, 0]).alarm
    True
    >>> monitor
    PrecisionMonitor(precision >= 0.9: alarm at row 19, 12 of 19 rows positive, evidence ...)
    """

    def __init__(self, min_precision: float | Fraction | str, *, confidence_level: float = 0.95) -> None:
        promise = float(as_fraction(min_precision, "min_precision"))
        self.min_precision = check_unit(promise, "min_precision", open_low=True, open_high=True)
        self.confidence_level = check_level(confidence_level)
        self.alarm_at = float(1 / (1 - as_fraction(confidence_level, "confidence_level")))  # 20, not 19.999...
        odds = math.log(promise) - math.log1p(-promise)
        rivals = sigmoid(odds - _BETS)
        self._gains = np.log((1.0 - rivals) / (1.0 - promise)), np.log(rivals / promise)
        self._log_capital = np.full(len(rivals), -np.inf)  # in bets that have started
        self._history: list[dict[str, Any]] = []
        self.n_rows = self.true_positives = 0
        self.e_value = self.max_e_value = 1.0
        self.alarm_row: int | None = None

    @classmethod
    def from_boundary(cls, boundary: Boundary, *, confidence_level: float = 0.95) -> PrecisionMonitor:
        """Watch the precision that a boundary was asked for.

        Parameters
        ----------
        boundary : Boundary
            Fitted under ``min_precision=``.
        confidence_level : float, default 0.95
            1 less the probability of a false alarm.

        Returns
        -------
        PrecisionMonitor

        Raises
        ------
        ValueError
            For a boundary without a precision bound.

        Examples
        --------
        >>> from stakes.boundary import PrecisionMonitor, fit_boundary
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=0.8)
        >>> PrecisionMonitor.from_boundary(boundary).min_precision
        0.8
        """
        if not isinstance(boundary, Boundary):
            raise ValueError(f"boundary must be what fit_boundary returned, got {boundary!r}.")
        promise = boundary._problem.min_precision
        if promise is None:
            raise ValueError(f"boundary must be fitted under min_precision=, got {boundary.goal!r}.")
        return cls(promise, confidence_level=confidence_level)

    def to_dict(self) -> dict[str, Any]:
        """Return the complete state as plain values for JSON, so that another process can continue.

        Returns
        -------
        dict

        Examples
        --------
        >>> from stakes.boundary import PrecisionMonitor
        >>> state = PrecisionMonitor(0.9).update([1, 0, 1]).to_dict()
        >>> PrecisionMonitor.from_dict(state).update([1]).n_rows
        4
        """
        state = {name: getattr(self, name) for name in ("min_precision", "confidence_level", *_COUNTS, *_EVIDENCE)}
        return json_ready({**state, "log_capital": self._log_capital.tolist(), "history": self._history})

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> PrecisionMonitor:
        """Rebuild a monitor, to go on where it stopped.

        Parameters
        ----------
        content : dict
            What :meth:`to_dict` returned.

        Returns
        -------
        PrecisionMonitor

        Raises
        ------
        ValueError
            For content that is damaged.

        Examples
        --------
        >>> from stakes.boundary import PrecisionMonitor
        >>> PrecisionMonitor.from_dict({"min_precision": 0.9})
        Traceback (most recent call last):
        ...
        ValueError: content is no whole state of a monitor: confidence_level must be there.
        """
        return cls._from_entries(JsonReader(content, "state of a monitor", given="content"))

    def _content(self) -> dict[str, Any]:
        return {"format": _FORMAT, **self.to_dict()}

    @classmethod
    def from_json(cls, text: str) -> PrecisionMonitor:
        """Read what :meth:`to_json` wrote, to go on where the monitor stopped.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        PrecisionMonitor

        Raises
        ------
        ValueError
            For another format, or content that is damaged.

        Examples
        --------
        >>> from stakes.boundary import PrecisionMonitor
        >>> text = PrecisionMonitor(0.9).update([1, 0, 1]).to_json()
        >>> PrecisionMonitor.from_json(text).update([1]).n_rows
        4
        """
        return cls._from_entries(JsonReader.read(text, "state of a monitor", _FORMAT))

    @classmethod
    def _from_entries(cls, entries: JsonReader) -> PrecisionMonitor:
        promise, level = entries.number("min_precision"), entries.number("confidence_level")
        try:
            monitor = cls(promise, confidence_level=level)
        except ValueError as error:
            raise entries.broken("what is watched", f"whole ({str(error).removesuffix('.')})") from None
        monitor.n_rows, monitor.true_positives = entries.count("n_rows"), entries.count("true_positives")
        monitor.alarm_row = entries.count_or_none("alarm_row")
        monitor.e_value, monitor.max_e_value = (entries.number(name) for name in _EVIDENCE)
        monitor._log_capital = entries.numbers("log_capital", infinite=True)
        monitor._history = _read_history(entries)
        monitor._check(entries)
        return monitor

    def _check(self, entries: JsonReader) -> None:
        """Refuse an inconsistent state."""
        rows, ups, capital = self.n_rows, self.true_positives, self._log_capital
        if ups > rows:
            raise entries.broken("true_positives", f"at most n_rows, {rows}, got {ups}")
        if self.alarm_row is not None and not 1 <= self.alarm_row <= rows:
            raise entries.broken("alarm_row", f"null or a row from 1 to {rows}, got {self.alarm_row}")
        if capital.shape != (len(_BETS),):
            raise entries.broken("log_capital", f"{len(_BETS)} numbers, got {len(capital)}")
        low, high = self._capital_limits()
        if not np.all((capital >= low) & (capital <= high)):
            place = int(np.argmin((capital >= low) & (capital <= high)))
            limits = f"from {low[place]:.10g} to {high[place]:.10g} at place {place}, as the counts say"
            raise entries.broken("log_capital", f"{limits}, got {capital[place]:.10g}")
        waiting = 0.5 / rows if rows else 1.0
        evidence = float(np.exp(np.minimum(capital, _MOST)).sum()) / len(_BETS) + waiting
        if not math.isclose(self.e_value, evidence, rel_tol=_ROUNDING):
            raise entries.broken("e_value", f"{evidence:.10g}, as log_capital says, got {self.e_value:.10g}")
        self._check_history(entries)

    def _check_history(self, entries: JsonReader) -> None:
        """Refuse a state that does not follow from its history."""
        rows, ups = self.n_rows, self.true_positives
        seen = [1.0, *(record["e_value"] for record in self._history)]
        won = (rows - ups) * self._gains[0]  # all negatives first
        most = float(np.mean(np.exp(np.minimum(won, _MOST)))) * (1.0 + _ROUNDING)
        if not max(seen) <= self.max_e_value <= most:
            limits = f"from {max(seen):.10g}, as history says, to {most:.10g}"
            raise entries.broken("max_e_value", f"{limits}, got {self.max_e_value:.10g}")
        if self.alarm is not (self.max_e_value >= self.alarm_at):
            rule = "null" if self.alarm else "a row"
            raise entries.broken("alarm_row", f"{rule}, as max_e_value and confidence_level say")
        quiet = [0, *(record["rows"] for record in self._history if not record["alarm"])]
        first = next((record["rows"] for record in self._history if record["alarm"]), rows)
        if self.alarm_row is not None and not quiet[-1] < self.alarm_row <= first:
            raise entries.broken("alarm_row", f"from {quiet[-1] + 1} to {first}, as history says, got {self.alarm_row}")
        last = self._history[-1] if self._history else {"rows": 0, "true_positives": 0, "e_value": 1.0, "alarm": False}
        for name, value in self._state().items():
            if name != "precision" and last[name] != value:
                raise entries.broken("history", f"such that its last {name} is that of the state, {value}")

    def _capital_limits(self) -> tuple[Floats, Floats]:
        """Smallest and largest log capital after these counts, over all orders of the labels."""
        if not self.n_rows:
            return np.full(len(_BETS), -np.inf), np.full(len(_BETS), -np.inf)
        lost, won = self.true_positives * self._gains[1], (self.n_rows - self.true_positives) * self._gains[0]
        room = _ROUNDING * (1.0 - lost + won)
        low: Floats = math.log(0.5) + lost + won - room
        high: Floats = won + room
        return low, high

    @property
    def alarm(self) -> bool:
        """Whether the evidence ever reached ``alarm_at``."""
        return self.alarm_row is not None

    @property
    def p_value(self) -> float:
        """Valid at any time: 1 / max_e_value, at most 1."""
        return 1.0 / self.max_e_value

    def update(self, y_true: ArrayLike, *, pos_label: object = None) -> PrecisionMonitor:
        """Take in the true labels of more selected rows, in order.

        Parameters
        ----------
        y_true : array_like of shape (n,)
            Labels of rows that were selected; n may be zero.
        pos_label : optional
            The positive label.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For labels that are not two-valued.

        Examples
        --------
        >>> from stakes.boundary import PrecisionMonitor
        >>> PrecisionMonitor(0.8).update([1, 0, 1]).n_rows
        3
        """
        labels = to_array(y_true, "y_true")
        if labels.ndim != 1:
            raise ValueError(f"y_true must be 1-D, got shape {labels.shape}.")
        if not len(labels):
            return self
        positive = np.asarray(check_labels(labels, pos_label))
        evidence = self._advance(positive)
        crossed = np.flatnonzero(evidence >= self.alarm_at)
        if self.alarm_row is None and len(crossed):
            self.alarm_row = self.n_rows + int(crossed[0]) + 1
        self.n_rows += len(labels)
        self.true_positives += int(np.count_nonzero(positive))
        self.e_value = float(evidence[-1])
        self.max_e_value = max(self.max_e_value, float(evidence.max()))
        self._history.append(self._state())
        return self

    def _state(self) -> dict[str, Any]:
        counts = {"rows": self.n_rows, "true_positives": self.true_positives}
        precision = self.true_positives / self.n_rows if self.n_rows else math.nan
        return {**counts, "precision": precision, "e_value": self.e_value, "alarm": self.alarm}

    def _advance(self, y: np.ndarray) -> Floats:
        """Compute the evidence after each of these labels.

        Capital S_t = f_t (S_{t-1} + w_t) of each bet, w_t the stake that starts at row t, unrolled to
        S_t = F_t (S_0 + sum of w_s / F_{s-1}) with F the running products of f.
        """
        row = self.n_rows + np.arange(1, len(y) + 1)
        with np.errstate(divide="ignore"):
            stake = np.where(row == 1, math.log(0.5), -np.log(2.0 * row * np.maximum(row - 1, 1)))
        waiting = 0.5 / row  # not yet staked: 1/2 - sum over s = 2..t of 1 / (2 s (s - 1))
        total = np.zeros(len(y))
        for k in range(len(_BETS)):
            steps = np.where(y, self._gains[1][k], self._gains[0][k])
            running = np.cumsum(steps)
            started = np.logaddexp.accumulate(np.r_[self._log_capital[k], stake - (running - steps)])[1:]
            log_capital = running + started
            self._log_capital[k] = log_capital[-1]
            total += np.exp(np.minimum(log_capital, _MOST))
        return np.asarray(total / len(_BETS) + waiting)

    def _records(self) -> list[dict[str, Any]]:
        return self._history

    def __repr__(self) -> str:
        state = "no alarm" if self.alarm_row is None else f"alarm at row {self.alarm_row}"
        return (
            f"PrecisionMonitor(precision >= {self.min_precision:g}: {state}, {self.true_positives} of {self.n_rows} "
            f"rows positive, evidence {self.e_value:.4g} against {self.alarm_at:.4g})"
        )
