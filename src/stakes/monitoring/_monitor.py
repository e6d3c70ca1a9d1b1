"""`CostMonitor`: whether the cost has risen since a model was taken into use, asked at every look, for ever.

The mathematics of the evidence comes first, then the monitor, then how long an alarm would take. A monitor keeps the
sums of its latest days, which say since when the cost has been higher, and of all earlier days only what the evidence
and the running mean need: its state stays small.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from stakes.base.validation import (
    SQUARED_WELL,
    brief,
    check_kind,
    check_number,
    check_same_order,
    check_scores,
    check_unit,
    check_whole,
    to_array,
)
from stakes.core.options import check_rule
from stakes.costs import CostDistribution, as_costs
from stakes.monitoring._question import (
    FEW_DAYS,
    UNITS,
    DaySums,
    Question,
    Reference,
    ask,
    check_unit_fits,
    day_spread,
    largest_cost,
    of_two_rows,
    read_days,
    sizes_matter,
    spread_beyond_chance,
)
from stakes.outputs.files import json_ready
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import Tabular
from stakes.outputs.serialization import JsonReader
from stakes.outputs.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from stakes.evaluation import KeptEvaluation

    Floats = NDArray[np.float64]
    Day = int | str
    from numpy.typing import NDArray


BETS = np.array([0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])  # share of the budget at stake
_PSI = -np.log1p(-BETS) - BETS


def day_factors(mean: Floats | float, budget: float) -> Floats:
    """Log factor of each bet for a day's mean cost, whatever its rows are and have in common: each day counts alike."""
    return np.log1p(BETS / budget * (np.asarray(mean)[..., None] - budget))


def row_factors(rows: Floats | float, total: Floats | float, squares: Floats | float, budget: Floats | float) -> Floats:
    """Log factor of each bet for the sums of a day whose rows have nothing in common, a lower bound of the exact."""
    excess = np.asarray(total - budget * rows)[..., None]
    spread = np.asarray(squares - 2.0 * budget * total + rows * budget * budget)[..., None]
    return np.asarray(BETS / budget * excess - _PSI / budget**2 * spread)


def exact_factors(costs: Floats, budget: float) -> Floats:
    """Log factor of each bet for the costs of a day's rows that have nothing in common."""
    return np.array([np.log1p(bet / budget * (costs - budget)).sum() for bet in BETS])


def start_weight(day: int) -> float:
    """Stake on a rise that begins on a day, from 1: one half on the first; all days together make 1."""
    return 0.5 if day == 1 else 0.5 / (day * (day - 1.0))


def advance(log_capital: Floats, factors: Floats, day: int) -> Floats:
    """Add the stake of a day to the capital of each bet (last axis), and multiply by the day's factors."""
    return np.logaddexp(log_capital, math.log(start_weight(day))) + factors


def log_evidence(log_capital: Floats, day: int) -> Floats:
    """Log of the mean capital of all bets after a day, with what is not yet staked."""
    return np.logaddexp(_log_mean(log_capital), math.log(0.5 / day))


def by_start(factors: Floats) -> Floats:
    """Log evidence of a rise that began on each of some days (first axis), at the last of them."""
    return _log_mean(np.cumsum(factors[::-1], axis=0)[::-1])


def limits(
    rows: Floats, total: Floats, squares: Floats, *, centre: float, largest: float, alpha: float
) -> tuple[Floats, Floats]:
    """Lower and upper limits of the mean at each look, from the sums up to it; all hold at once at 1 - alpha.

    ``centre`` is any number in (0, largest) that was fixed beforehand: the nearer to the mean, the narrower they are.
    """
    low = _lower(rows, total, squares, centre, alpha)
    others = rows * largest - total, rows * largest**2 - 2.0 * largest * total + squares
    high = largest - _lower(rows, *others, largest - centre, alpha)
    return np.maximum(low, 0.0), np.minimum(high, largest)


def _lower(rows: Floats, total: Floats, squares: Floats, centre: float, alpha: float) -> Floats:
    spread = squares - 2.0 * centre * total + rows * centre * centre
    bet = BETS / centre
    price = _PSI / (bet * centre**2) * spread[..., None] + math.log(2 * len(BETS) / alpha) / bet
    return ((total[..., None] - price) / rows[..., None]).max(axis=-1)


def _log_mean(logs: Floats) -> Floats:
    return np.logaddexp.reduce(logs, axis=-1) - math.log(logs.shape[-1])


KEPT_DAYS = {"day": 730, "row": 730, "exact": 180}  # an exact day keeps a factor of each bet
_EXACT = 1e-9
_ASKED = ("budget", "largest", "centre", "alpha", "unit", "rule", "pos_label", "tolerance", "shift")
_COLUMNS = ("total", "squares", "promised")
_KINDS = {int: "whole number", datetime: "date"}


@dataclass(frozen=True, eq=False, repr=False)
class _Past:
    """Days whose own sums are no longer kept: their number, their sums by row and by day, and the capital of bets."""

    days: int = 0
    rows: int = 0
    total: float = 0.0
    squares: float = 0.0
    day_means: float = 0.0
    day_squares: float = 0.0
    log_capital: tuple[float, ...] = (-math.inf,) * len(BETS)

    def with_day(self, sums: DaySums, factors: Floats) -> _Past:
        """Add the day that follows."""
        mean, days = sums.total / sums.rows, self.days + 1
        capital = advance(np.array(self.log_capital), factors, days)
        return _Past(
            days,
            self.rows + sums.rows,
            self.total + sums.total,
            self.squares + sums.squares,
            self.day_means + mean,
            self.day_squares + mean * mean,
            tuple(capital.tolist()),
        )


def read_day(day: Any) -> tuple[Day, Any]:
    """Return a day as it is kept, and what orders it: a whole number, a date, or a text in the form of ISO 8601."""
    if isinstance(day, np.datetime64):
        day = str(np.datetime_as_string(day, unit="auto"))  # midnight is the day
    if isinstance(day, date):  # a time of day too
        day = day.isoformat()
    if isinstance(day, str):
        try:
            moment = datetime.fromisoformat(day)
        except ValueError:
            moment = None
        if moment is not None and moment.tzinfo is None:
            return day, moment
        raise ValueError(f"day must be a date such as '2026-11-23', a time without zone, or a number, got {day!r}.")
    whole = check_whole(day, "day")
    return whole, whole


class CostMonitor(Tabular):
    """Raise an alarm when the mean cost is shown to exceed a budget, valid at every look, for ever.

    Parameters
    ----------
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts; a row costs its regret, averaged over it.
    budget : float, optional
        The mean cost of a decision that must not be exceeded.
    reference : KeptEvaluation, optional
        In its place, an evaluation from before: the budget is the upper limit of its mean cost at level ``alpha / 2``,
        and the evidence is held to the other half of ``alpha``. The limit takes its rows for independent: where the
        rows of a day have something in common, it is too low, and false alarms exceed ``alpha``, unless
        ``reference_days`` are given. Its ``harm``, the same on every day, is left out.
    tolerance : float, default 0.0
        How much dearer than the reference the model may become: 0.1 adds a tenth to its upper limit.
    alpha : float, default 0.05
        Probability of ever raising a false alarm.
    unit : {"day", "row", "exact"}, default "day"
        What is independent of what came before, but for its mean. Days hold whatever their rows have in common, but
        each counts alike, however few its rows: what is watched is no cost per decision where days of few rows are
        dearer or cheaper. Rows (by sums, or "exact", which needs the rows) see a rise sooner, but hold only where the
        rows of a day have nothing in common.
    model : str, optional
        Which model of a reference that has several.
    largest : float, optional
        With ``budget``: the most that a row can cost, where costs are watched that follow from no cost ratio, such as
        amounts. By default that of ``costs``.
    reference_days : tuple of three array_like, optional
        n, totals and squares of days before, which must bear out a ``unit`` of rows. With a reference they are its own,
        of all its rows (a day of one row is put to the next), and refused where their sums are others. For days, the
        budget from a reference is the limit that days of such a spread give (Student's t), and a warning says where
        those of few rows cost otherwise.
    force : bool, default False
        Take rows as the unit without that.

    Attributes
    ----------
    budget : float
        The mean cost above which the evidence grows.
    n_days, n_rows : int
        Days and rows so far.
    log_evidence : float
        Log of the evidence against the budget now.
    alarm : bool
        Whether it ever reached ``log_alarm``.
    log_alarm : float
        Log of 1 / alpha, or of 2 / alpha with a reference.
    alarm_day : int, str or None
        The day on which it did.

    Notes
    -----
    Days on which nothing is wrong and days of a rise are not told apart by name: a rise may begin on any day, and the
    evidence is spread over all of them. See the guide, and Shin, Ramdas and Rinaldo (2024), NEJSDS 2.

    Examples
    --------
    >>> from stakes.monitoring import CostMonitor
    >>> monitor = CostMonitor((0.05, 0.3), budget=0.05)
    >>> for day in range(1, 41):
    ...     _ = monitor.update_sums(day, n=200, total=9.0 if day < 11 else 18.0, squares=6.0)
    >>> monitor
    CostMonitor(mean cost <= 0.05: alarm on day 21, since about day 11; 40 days, 8000 rows)
    """

    _form: ClassVar[str] = "stakes-cost-monitor-1"
    _word: ClassVar[str] = "mean cost"

    def __init__(
        self,
        costs: Any,
        *,
        budget: float | None = None,
        reference: KeptEvaluation | None = None,
        tolerance: float = 0.0,
        alpha: float = 0.05,
        unit: str = "day",
        model: str | None = None,
        largest: float | None = None,
        reference_days: Sequence[ArrayLike] | None = None,
        force: bool = False,
    ) -> None:
        days = None if reference_days is None else read_days(reference_days)
        question = ask(
            costs,
            budget=budget,
            reference=reference,
            tolerance=tolerance,
            alpha=alpha,
            unit=unit,
            model=model,
            largest=largest,
            days=days,
        )
        check_unit_fits(unit, days, force, question.largest)
        self._start(question)

    def _start(self, question: Question) -> None:
        self._question, self._past = question, _Past()
        self._now = self._past
        self._days: list[Day] = []
        self._sums: list[DaySums] = []
        self._factors: list[Floats] = []
        self._evidence: list[float] = []
        self.alarm_day: Day | None = None
        self._since: Day | None = None

    def update(
        self, day: Any, y_true: Any, y_prob: Any = None, *, missing: str | None = None, sample_weight: Any = None
    ) -> Self:
        """Take in the rows of the next day, all of whose labels are known.

        Parameters
        ----------
        day : int, str or date
            Later than the day before: a whole number, or a date (with a time, for shorter looks).
        y_true : array_like of shape (n,) or ScoreTable
            Labels, or a table that stands for labels and scores.
        y_prob : array_like of shape (n,), optional
            Probability of the positive class.
        missing : {"cost"}, optional
            Count rows without a label (None or nan) as the dearer of the two outcomes, once their labels are given up.
            An alarm may then come from what is missing; limits from above hold.
        sample_weight : None
            Weighted rows are refused: a budget for them has no bound on what one row can cost.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a day that is not later than the last, missing labels, sample weights, and invalid rows.

        Examples
        --------
        >>> from stakes.monitoring import CostMonitor
        >>> CostMonitor(0.2, budget=0.1).update("2026-11-23", [0, 1, 1, 0], [0.1, 0.7, 0.3, 0.4]).n_rows
        4
        """
        if sample_weight is not None:
            raise ValueError(
                "sample_weight is not taken: every row counts once, and no row may cost more than another."
            )
        return self._take(day, self._question.sums(y_true, y_prob, missing))

    def update_sums(self, day: Any, *, n: int, total: float, squares: float, promised: float = math.nan) -> Self:
        """Take in the sums of the next day, as any data engine makes them.

        Parameters
        ----------
        day : int, str or date
            Later than the day before.
        n : int
            Rows.
        total, squares : float
            Sums of what each row cost and of its square.
        promised : float, optional
            Sum of what their scores promised.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a day that is not later than the last, and sums that no rows have.

        Examples
        --------
        >>> from stakes.monitoring import CostMonitor
        >>> CostMonitor(0.2, budget=0.1).update_sums(1, n=200, total=18.0, squares=12.0).n_rows
        200
        """
        return self._take(day, self._sums_of(n, total, squares, promised))

    def _sums_of(self, n: int, total: float, squares: float, promised: float = math.nan) -> DaySums:
        if self._question.unit == "exact":
            raise ValueError("unit='exact' needs the rows: use update or update_costs, or the unit 'row'.")
        whole, part, square = check_whole(n, "n"), check_number(total, "total"), check_number(squares, "squares")
        return DaySums(whole, part, square, check_number(promised, "promised"))

    def update_costs(self, day: Any, costs: ArrayLike) -> Self:
        """Take in what each row of the next day cost.

        Parameters
        ----------
        day : int, str or date
            Later than the day before.
        costs : array_like of shape (n,)
            From 0 to the most that a row can cost.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a day that is not later than the last, and costs out of bounds.

        Examples
        --------
        >>> from stakes.monitoring import CostMonitor
        >>> CostMonitor(0.5, budget=40.0, largest=500.0).update_costs(1, [0.0, 120.0, 0.0]).n_rows
        3
        """
        return self._take(day, DaySums.of_costs(self._question.check_costs(costs)))

    def promised(self, y_prob: ArrayLike) -> float:
        """Mean cost of rows without labels as their own scores say; right as far as the scores are.

        Parameters
        ----------
        y_prob : array_like of shape (n,)
            Probability of the positive class.

        Returns
        -------
        float

        Examples
        --------
        >>> from stakes.monitoring import CostMonitor
        >>> round(CostMonitor(0.2, budget=0.1).promised([0.1, 0.5]), 6)
        0.09
        """
        return self._question.promised(check_scores(to_array(y_prob, "y_prob")))

    def _take(self, day: Any, sums: DaySums) -> Self:
        kept = self._check(day, sums)
        self._add(kept, sums, self._factors_of(sums))
        self._question = self._question.seeing([] if sums.neg_label is None else [sums.neg_label])
        if self.alarm_day is None and self.log_evidence >= self.log_alarm:
            self.alarm_day, self._since = kept, self._best_start()
        return self

    def _check(self, day: Any, sums: DaySums) -> Day:
        """Refuse a day that does not follow the last, and sums that no rows have."""
        kept = self._check_day(day)
        self._check_sums(sums)
        return kept

    def _check_day(self, day: Any) -> Day:
        kept, place = read_day(day)
        if self._days:
            last = read_day(self._days[-1])[1]
            if type(place) is not type(last):
                raise ValueError(f"day must be a {_KINDS[type(last)]} as before, {self._days[-1]!r}, got {kept!r}.")
            if place <= last:
                again = "was counted already" if place == last else "is earlier"
                raise ValueError(f"day must be later than the last, {self._days[-1]!r}, but {kept!r} {again}.")
        return kept

    def _check_sums(self, sums: DaySums) -> None:
        asked = self._question
        sums.check(0.0 - asked.shift, asked.largest - asked.shift)

    def _factors_of(self, sums: DaySums) -> Floats:
        asked, shift = self._question, self._question.shift
        if asked.unit == "day":
            return day_factors(sums.total / sums.rows + shift, asked.budget)
        if asked.unit == "exact" and sums.costs is not None:
            return exact_factors(sums.costs, asked.budget)
        if asked.unit == "exact":
            raise ValueError("unit='exact' needs the rows of a day, not their table or sums.")
        total, squares = _shifted(sums.rows, sums.total, sums.squares, shift)
        return row_factors(sums.rows, total, squares, asked.budget)

    def _add(self, day: Day, sums: DaySums, factors: Floats) -> None:
        self._now = self._now.with_day(sums, factors)
        evidence = float(log_evidence(np.array(self._now.log_capital), self._now.days))
        new = day, replace(sums, costs=None), factors, evidence
        lists: tuple[list[Any], ...] = (self._days, self._sums, self._factors, self._evidence)
        for each, value in zip(lists, new, strict=True):
            each.append(value)
        if len(self._days) > KEPT_DAYS[self._question.unit]:
            self._past = self._past.with_day(self._sums[0], self._factors[0])
            for each in lists:
                del each[0]

    def _best_start(self) -> Day | None:
        found = by_start(np.array(self._factors))
        best = int(np.argmax(found))
        return self._days[best] if found[best] > 0.0 else None

    @property
    def budget(self) -> float:
        """The mean cost that must not be exceeded."""
        return self._question.budget - self._question.shift

    @property
    def costs(self) -> CostDistribution:
        """How much each cost ratio counts."""
        return self._question.costs

    @property
    def reference(self) -> Reference | None:
        """The evaluation that the budget comes from."""
        return self._question.reference

    @property
    def n_days(self) -> int:
        """Days so far."""
        return self._now.days

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return self._now.rows

    @property
    def last_day(self) -> Day | None:
        """The day taken in last."""
        return self._days[-1] if self._days else None

    @property
    def log_evidence(self) -> float:
        """Log of the evidence now; 0 before the first day."""
        return self._evidence[-1] if self._evidence else 0.0

    @property
    def log_alarm(self) -> float:
        """Log of the evidence at which there is an alarm."""
        return -math.log(self._question.alpha)

    @property
    def alarm(self) -> bool:
        """Whether there was ever an alarm."""
        return self.alarm_day is not None

    @property
    def since(self) -> Day | None:
        """About the day on which the rise began that the alarm, or the evidence now, speaks of; None without one."""
        if self.alarm or not self._days:
            return self._since
        return self._best_start()

    @property
    def mean(self) -> float:
        """Mean cost so far, of days or of rows as the unit says; nan before the first day."""
        now = self._now
        if not now.days:
            return math.nan
        return now.day_means / now.days if self._question.unit == "day" else now.total / now.rows

    @property
    def _by_rows(self) -> float:
        return self._now.total / self._now.rows

    @property
    def limits(self) -> tuple[float, float]:
        """Limits of the mean so far that hold at all looks together at 1 - alpha; wide where days are the unit."""
        if not self._days:
            return 0.0 - self._question.shift, self._question.largest - self._question.shift
        low, high = self._all_limits()
        return float(low[-1]), float(high[-1])

    @property
    def spread(self) -> float:
        """Spread of the kept days' means over what their rows explain, as of :func:`day_spread`; nan if unknown.

        Days of a single row are left out.
        """
        rows, total, squares = of_two_rows(*self._columns())
        try:
            return day_spread(rows, *_shifted(rows, total, squares, self._question.shift))
        except ValueError:
            return math.nan

    def _columns(self) -> list[Floats]:
        """Rows, total and squares of each kept day."""
        return [np.array([getattr(day, name) for day in self._sums], dtype=float) for name in ("rows", *_COLUMNS[:2])]

    def _running(self) -> tuple[Floats, Floats, Floats]:
        """Sums of units up to each kept day: units, total, squares."""
        past = self._past
        rows, total, squares = self._columns()
        if self._question.unit == "day":
            means = total / rows
            parts = (past.days, np.ones_like(rows)), (past.day_means, means), (past.day_squares, means * means)
        else:
            parts = (past.rows, rows), (past.total, total), (past.squares, squares)
        first, second, third = (before + np.cumsum(each) for before, each in parts)
        return first, second, third

    def _all_limits(self) -> tuple[Floats, Floats]:
        n, total, squares = self._running()
        asked, shift = self._question, self._question.shift
        total, squares = _shifted(n, total, squares, shift)
        alpha = 2.0 * asked.alpha if asked.reference else asked.alpha
        low, high = limits(n, total, squares, centre=asked.centre, largest=asked.largest, alpha=alpha)
        return low - shift, high - shift

    def _records(self) -> list[dict[str, Any]]:
        if not self._days:
            return []
        n, total, _ = self._running()
        rows = zip(self._days, self._sums, total / n, *self._all_limits(), self._evidence, strict=True)
        return [
            {
                "day": day,
                "rows": sums.rows,
                "cost": sums.total / sums.rows,
                "promised": sums.promised / sums.rows,
                "mean": float(mean),
                "simultaneous_low": float(low),
                "simultaneous_high": float(high),
                "log_evidence": evidence,
            }
            for day, sums, mean, low, high, evidence in rows
        ]

    def change(self) -> dict[str, tuple[float, float]]:
        """Observed and promised mean cost of the kept days before the rise, and from it to the alarm or now.

        Returns
        -------
        dict of str to tuple of float
            By "before" and "since", the observed and the promised cost (nan if unknown); empty without a rise.

        Examples
        --------
        >>> from stakes.monitoring import CostMonitor
        >>> CostMonitor(0.2, budget=0.1).change()
        {}
        """
        if self.since is None or self.since not in self._days:
            return {}
        first = self._days.index(self.since)
        last = self._days.index(self.alarm_day) if self.alarm_day in self._days else len(self._days) - 1
        return {"before": _means(self._sums[:first]), "since": _means(self._sums[first : last + 1])}

    def describe(self) -> str:
        """Return in words whether the cost has risen, its limits, and what changed.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes.monitoring import CostMonitor
        >>> print(CostMonitor(0.2, budget=0.1).update_sums(1, n=200, total=18.0, squares=12.0).describe())
        No alarm: nothing shows that the mean of the days' costs, each day alike, exceeds 100 per 1,000 decisions...
        """
        return " ".join(self._sentences())

    def _sentences(self) -> list[str]:
        limit = f"{_per_1000(self.budget)} per 1,000 decisions"
        what = "mean of the days' costs, each day alike," if self._question.unit == "day" else self._word
        against = f"evidence {_power(self.log_evidence)}, an alarm at {_power(self.log_alarm)}"
        said = [f"No alarm: nothing shows that the {what} exceeds {limit} ({against})."]
        if self.alarm:
            since = "" if self.since is None else f", since about day {self.since}"
            said = [f"Alarm on day {self.alarm_day}: the {what} is shown to exceed {limit}{since}."]
        if self._days:
            low, high = self.limits
            mean = "mean of days" if self._question.unit == "day" else "mean"
            seen = f"{self.n_days:,} day{'s' * (self.n_days != 1)}, {self.n_rows:,} rows"
            held = f"{_per_1000(low)} and {_per_1000(high)}"
            now = _per_1000(self.mean)
            said.append(f"The {mean} so far is {now}, and the true one between {held}, at every look ({seen}).")
            if high < self.budget and not self.alarm and self._by_rows <= self.budget:
                said.append(f"Since the first day the {what} is shown to be below {limit}.")
        said += self._size_words()
        said += self._change_words()
        if len(of_two_rows(*self._columns())[0]) >= FEW_DAYS and self.spread > 0.0:
            said.append(f"Day means spread {self.spread:.3g} times as much as their rows explain.")
        return said + self._budget_words()

    def _budget_words(self) -> list[str]:
        """Say where days spread more than the rows of the reference explain, which its limit takes for independent."""
        known, first = self.reference, self._days.index(self.since) if self.since in self._days else 0
        if self._question.unit != "day" or known is None or known.days:
            return []
        steady = slice(first) if 2 * first >= len(self._days) else slice(first, None)  # before or since a rise
        if not spread_beyond_chance(*(column[steady] for column in self._columns())):
            return []
        why = "The budget takes the rows of the reference for independent, but days differ by more than that explains"
        so = "if those of the reference did too, it is too low, and false alarms exceed alpha"
        return [f"{why}: {so}.", "State their sums by reference_days= (in Python)."]

    def _size_words(self) -> list[str]:
        """What rows say of the budget where days, each alike, say otherwise."""
        if self._question.unit != "day" or not self._days:
            return []
        since = self.change().get("since", (math.nan,))[0] if self.alarm else math.nan
        across = (self.mean > self.budget) is not (self._by_rows > self.budget) or since <= self.budget
        near = math.isclose(self._by_rows, self.mean, rel_tol=_EXACT)
        otherwise = sizes_matter(*self._columns())
        if (near or not across) and not otherwise:
            return []
        means = _per_1000(self._by_rows) + ("" if math.isnan(since) else f" and, from the rise on, {_per_1000(since)}")
        said = f"By rows the mean so far is {means} (budget {_per_1000(self.budget)})."
        why = "Days of few rows cost otherwise than those of many."
        remedy = 'Take the unit "row" where days before allow it, or days of like size, such as weeks.'
        return [said, why, remedy] if otherwise else [said, remedy]

    def _change_words(self) -> list[str]:
        found = self.change()
        if not self.alarm or not found or any(math.isnan(x) for pair in found.values() for x in pair):
            return []
        (old, promised), (new, now_promised) = found["before"], found["since"]
        seen = f"From {_per_1000(old)} before to {_per_1000(new)} since"
        own = f"as its own scores say, from {_per_1000(promised)} to {_per_1000(now_promised)}"
        meant = "Where the promise rose as much, cases became harder; where it did not, the scores no longer hold."
        return [f"{seen}; {own}.", meant]

    def plot(self, figure: Any = None) -> Any:
        """Draw the cost of each day with its promise, the running mean with its limits, and the evidence.

        Parameters
        ----------
        figure : matplotlib figure or subfigure, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CostMonitorDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.monitoring import CostMonitor
        >>> display = CostMonitor(0.2, budget=0.1).update_sums(1, n=200, total=18.0, squares=12.0).plot()
        >>> len(display.axes_)
        2
        """
        return draw(self, figure)

    def _content(self) -> dict[str, Any]:
        asked, now = self._question, self._now
        columns = {
            name: [getattr(sums, name) for sums in self._sums] for name in ("rows", "total", "squares", "promised")
        }
        factors = [each.tolist() for each in self._factors] if asked.unit == "exact" else None
        return json_ready(
            {
                "format": self._form,
                "costs": asked.costs.to_dict(),
                **{name: getattr(asked, name) for name in _ASKED},
                **({} if asked.neg_label is None else {"neg_label": asked.neg_label}),
                "reference": None if asked.reference is None else _kept_reference(asked.reference),
                "past": asdict(self._past),
                "days": self._days,
                **columns,
                "factors": factors,
                "log_capital": list(now.log_capital),
                "alarm_day": self.alarm_day,
                "since": self._since,
            }
        )

    def to_json(self, path: Any = None) -> str:
        """Return the whole state as JSON that :meth:`from_json` reads, and write it where a path is given.

        Parameters
        ----------
        path : str or path, optional
            Written beside and renamed: whoever is killed leaves the old state or the new one.

        Returns
        -------
        str
            Below 100 kB, however many days there were.

        Examples
        --------
        >>> from stakes.monitoring import CostMonitor
        >>> len(CostMonitor(0.2, budget=0.1).to_json()) < 2000
        True
        """
        return super().to_json(path)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote, to go on where the monitor stopped.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        CostMonitor

        Raises
        ------
        ValueError
            For another format, or a state that was damaged or edited, naming the first entry that is wrong.

        Examples
        --------
        >>> from stakes.monitoring import CostMonitor
        >>> text = CostMonitor(0.2, budget=0.1).update_sums(1, n=200, total=18.0, squares=12.0).to_json()
        >>> CostMonitor.from_json(text).update_sums(2, n=100, total=9.0, squares=6.0).n_rows
        300
        """
        return cls._from_entries(JsonReader.read(text, "state of a cost monitor", cls._form))

    @classmethod
    def _from_entries(cls, entries: JsonReader) -> Self:
        monitor = cls.__new__(cls)
        monitor._start(_read_question(entries))
        monitor._past = monitor._now = _read_past(entries)
        monitor._read_days(entries)
        capital = entries.numbers("log_capital", infinite=True)
        told = np.array(monitor._now.log_capital)
        if capital.shape != told.shape or not np.allclose(capital, told, rtol=_EXACT, atol=_EXACT):
            raise entries.broken("log_capital", "what past and days say")
        monitor._read_alarm(entries)
        return monitor

    def _read_days(self, entries: JsonReader) -> None:
        """Take in the kept days once more."""
        days = entries.at("days")
        if not isinstance(days, list) or len(days) > KEPT_DAYS[self._question.unit]:
            raise entries.broken("days", f"a list of at most {KEPT_DAYS[self._question.unit]} days")
        rows = entries.counts("rows", shape=(len(days),))
        columns = [entries.numbers(name, undefined=name == "promised") for name in ("total", "squares", "promised")]
        short = next((name for name, each in zip(_COLUMNS, columns, strict=True) if len(each) != len(days)), None)
        if short is not None:
            raise entries.broken(short, f"{len(days)} numbers, one for each day")
        exact = _read_factors(entries, len(days)) if self._question.unit == "exact" else None
        if exact is None and entries.content.get("factors") is not None:
            raise entries.broken("factors", f"null, as unit is {self._question.unit!r}")
        for place, day in enumerate(days):
            total, squares, promised = (float(each[place]) for each in columns)
            sums = DaySums(int(rows[place]), total, squares, promised)
            try:
                kept = self._check(day, sums)
                factors = self._factors_of(sums) if exact is None else self._check_factors(sums, exact[place])
            except ValueError as error:
                raise entries.broken(f"day {place} of days", f"whole ({str(error).removesuffix('.')})") from None
            self._add(kept, sums, factors)

    def _check_factors(self, sums: DaySums, factors: Floats) -> Floats:
        """Refuse factors of exact rows below those of their sums, or above those of their mean."""
        budget = self._question.budget
        low = row_factors(sums.rows, sums.total, sums.squares, budget)
        high = sums.rows * day_factors(sums.total / sums.rows, budget)
        room = _EXACT * (1.0 + np.abs(low))
        if not np.all((factors >= low - room) & (factors <= high + room)):
            raise ValueError("factors must be those of rows with these sums.")
        return factors

    def _read_alarm(self, entries: JsonReader) -> None:
        """Read the alarm, which the kept days must bear out."""
        day, since = entries.at("alarm_day"), entries.at("since")
        crossed = [at for at, value in zip(self._days, self._evidence, strict=True) if value >= self.log_alarm]
        first = crossed[0] if crossed else None
        for name, value in (("alarm_day", day), ("since", since)):
            if value is not None and not _is_day(value):
                raise entries.broken(name, f"null or a day, got {value!r}")
        dropped = bool(self._past.days and day is not None and day not in self._days)
        if dropped and not (self._days and _before(day, self._days[0])):
            raise entries.broken("alarm_day", f"one of days, or earlier, got {day!r}")
        if not dropped and day != first:
            raise entries.broken("alarm_day", f"{first!r}, as days say, got {day!r}")
        if day is None and since is not None:
            raise entries.broken("since", f"null, as there is no alarm, got {since!r}")
        self.alarm_day, self._since = day, since

    def __repr__(self) -> str:
        state = "no alarm"
        if self.alarm:
            state = f"alarm on day {self.alarm_day}" + ("" if self.since is None else f", since about day {self.since}")
        return (
            f"{type(self).__name__}({self._word} <= {self.budget:.4g}: {state}; {self.n_days} days, {self.n_rows} rows)"
        )


class ChallengerMonitor(CostMonitor):
    """Raise an alarm when model a is shown to cost more than model b on the same rows, by more than a margin.

    Parameters
    ----------
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts.
    margin : float, default 0.0
        How much more per decision a may cost.
    alpha : float, default 0.05
        Probability of ever raising a false alarm.

    Notes
    -----
    Differences of rows are the unit: what the rows of a day have in common must not favour one of the models.

    Examples
    --------
    >>> from stakes.monitoring import ChallengerMonitor
    >>> monitor = ChallengerMonitor((0.05, 0.3), margin=0.002)
    >>> for day in range(1, 41):
    ...     _ = monitor.update_sums(day, n=200, total=2.0, squares=3.0)
    >>> monitor
    ChallengerMonitor(mean difference in cost <= 0.002: alarm on day 16, since about day 1; 40 days, 8000 rows)
    """

    _form: ClassVar[str] = "stakes-challenger-monitor-1"
    _word: ClassVar[str] = "mean difference in cost"

    def __init__(self, costs: Any, *, margin: float = 0.0, alpha: float = 0.05) -> None:
        measure = as_costs(costs)
        most, more = largest_cost(measure), check_number(margin, "margin")
        if not -most < more < most:
            raise ValueError(
                f"margin must lie between -{most:g} and {most:g}, the most that rows differ by, got {margin!r}."
            )
        level = check_unit(alpha, "alpha", open_low=True, open_high=True)
        self._start(Question(measure, most + more, 2.0 * most, most, level, "row", shift=most))

    def update(  # type: ignore[override]
        self, day: Any, y_true: Any, a: Any, b: Any, *, sample_weight: Any = None
    ) -> Self:
        """Take in the rows of the next day, scored by both models.

        Parameters
        ----------
        day : int, str or date
            Later than the day before.
        y_true : array_like of shape (n,)
            Labels.
        a, b : array_like of shape (n,)
            Probability of the positive class from each model.
        sample_weight : None
            Weighted rows are refused.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a day that is not later than the last, sample weights, and invalid rows.

        Examples
        --------
        >>> from stakes.monitoring import ChallengerMonitor
        >>> ChallengerMonitor(0.2).update(1, [0, 1, 1], [0.1, 0.1, 0.6], [0.3, 0.7, 0.6]).mean > 0
        True
        """
        if sample_weight is not None:
            raise ValueError(
                "sample_weight is not taken: every row counts once, and no row may cost more than another."
            )
        check_same_order(y_true=y_true, a=a, b=b)
        first, second = (self._question.sums(y_true, score, name=name).costs for name, score in (("a", a), ("b", b)))
        if first is None or second is None:
            raise ValueError("y_true must hold labels of rows: two tables do not say which rows they share.")
        return self._take(day, DaySums.of_costs(first - second))


def _shifted(rows: Any, total: Any, squares: Any, shift: float) -> tuple[Any, Any]:
    """Total and squares of costs that are all larger by an amount."""
    return total + shift * rows, squares + 2.0 * shift * total + shift * shift * rows


def _is_day(value: Any) -> bool:
    try:
        return type(value) in {int, str} and bool(read_day(value)[0] == value)
    except ValueError:
        return False


def _before(day: Any, other: Day) -> bool:
    mine, its = read_day(day)[1], read_day(other)[1]
    return type(mine) is type(its) and bool(mine < its)


def _means(sums: Sequence[DaySums]) -> tuple[float, float]:
    """Observed and promised mean cost of some days."""
    rows = sum(each.rows for each in sums)
    if not rows:
        return math.nan, math.nan
    return sum(each.total for each in sums) / rows, sum(each.promised for each in sums) / rows


def _per_1000(cost: float) -> str:
    return number(1000.0 * cost)


def _power(log: float) -> str:
    """Write the evidence, which may be larger than a float."""
    return number(math.exp(log)) if abs(log) < 20.0 else f"10^{log / math.log(10.0):.0f}"


def _read_question(entries: JsonReader) -> Question:
    """Read what was asked, by the rules of those who ask."""
    try:
        costs = CostDistribution.from_dict(entries.plain("costs"))
        rule = check_rule(entries.plain("rule"))
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise entries.broken("costs and rule", f"whole ({str(error).removesuffix('.')})") from None
    budget, largest, centre, alpha, tolerance, shift = (
        entries.number(name) for name in ("budget", "largest", "centre", "alpha", "tolerance", "shift")
    )
    unit, label = entries.text("unit"), entries.at("pos_label")
    rules = {
        "largest": (0.0 < largest <= SQUARED_WELL[1], f"above 0, at most {SQUARED_WELL[1]:g}"),
        "budget": (SQUARED_WELL[0] <= budget < largest, f"between {SQUARED_WELL[0]:g} and largest, {largest:g}"),
        "centre": (0.0 < centre < largest, f"between 0 and largest, {largest:g}"),
        "alpha": (0.0 < alpha < 1.0, "between 0 and 1"),
        "tolerance": (
            tolerance >= 0.0 and (not tolerance or entries.at("reference")),
            ">= 0, and 0 without a reference",
        ),
        "shift": (0.0 <= shift < largest, "from 0 to below largest"),
        "unit": (unit in UNITS, f"one of {', '.join(UNITS)}"),
    }
    for name, (holds, wanted) in rules.items():
        if not holds:
            raise entries.broken(name, f"{wanted}, got {entries.at(name)!r}")
    reference = None if entries.at("reference") is None else _read_reference(entries.inside("reference"), largest)
    _check_derived(entries, reference, {"costs": costs, "largest": largest, "centre": centre, "shift": shift})
    if reference is not None and not math.isclose(budget, (1.0 + tolerance) * reference.upper, rel_tol=_EXACT):
        raise entries.broken("budget", f"(1 + tolerance) times reference.upper, got {budget}")
    pos_label = None if label is None else entries.label("pos_label")
    other = entries.label("neg_label") if "neg_label" in entries.content else None
    if other is not None and other == pos_label:
        raise entries.broken("neg_label", f"another label than pos_label, {pos_label!r}")
    asked = budget, largest, centre, alpha, unit, rule, pos_label, tolerance, reference, shift, other
    return Question(costs, *asked)


def _check_derived(entries: JsonReader, reference: Reference | None, kept: dict[str, Any]) -> None:
    """Refuse bounds that are not those of the costs where nobody named them, and a centre that nobody would take."""
    if reference is None and not kept["shift"]:
        return
    try:
        most = largest_cost(kept["costs"])
    except ValueError as error:
        raise entries.broken("costs", f"whole ({str(error).removesuffix('.')})") from None
    wanted = {"largest": most} if reference is not None else {"shift": most, "largest": 2.0 * most}
    if reference is not None and reference.mean > 0.0:
        wanted["centre"] = reference.mean
    for name, value in wanted.items():
        if not math.isclose(kept[name], value, rel_tol=_EXACT):
            source = "reference.mean" if name == "centre" else "costs"
            raise entries.broken(name, f"{value:.10g}, as {source} says, got {kept[name]:.10g}")


def _read_reference(mine: JsonReader, largest: float) -> Reference:
    mean, square, upper = (mine.number(name) for name in ("mean", "square", "upper"))
    room = 1.0 + _EXACT
    if not (0.0 <= mean <= upper and mean * mean <= square * room and square <= largest * mean * room):
        rule = "such that 0 <= mean <= upper and mean^2 <= square <= largest * mean"
        raise mine.broken("mean, square and upper", f"{rule}, got {mean:g}, {square:g} and {upper:g}")
    days = mine.count("days") if "days" in mine.content else 0
    day_variance = mine.number("day_variance") if "day_variance" in mine.content else 0.0
    if day_variance < 0.0 or (day_variance and not days):
        raise mine.broken("day_variance", f">= 0, and 0 without days, got {day_variance}")
    return Reference(mine.text("model"), mine.count("rows"), mean, square, upper, days, day_variance)


def _kept_reference(known: Reference) -> dict[str, Any]:
    return {name: value for name, value in asdict(known).items() if name != "day_variance" or known.days}


def _read_past(entries: JsonReader) -> _Past:
    mine = entries.inside("past")
    days, rows = mine.count("days"), mine.count("rows")
    total, squares, means, mean_squares = (
        mine.number(name) for name in ("total", "squares", "day_means", "day_squares")
    )
    capital = mine.numbers("log_capital", infinite=True)
    if capital.shape != BETS.shape or np.any(np.isfinite(capital) != (days > 0)):
        raise mine.broken("log_capital", f"{len(BETS)} numbers, -inf without days")
    if rows < days or (not days and any([rows, total, squares, means, mean_squares])):
        raise mine.broken("rows", f"at least days, and all sums 0 without days, got {rows} of {days} days")
    low = 0.0 - entries.number("shift")
    high = low + entries.number("largest")
    sums = {"total and squares": (rows, total, squares), "day_means and day_squares": (days, means, mean_squares)}
    for name, (n, first, second) in sums.items() if days else ():
        try:
            DaySums(n, first, second).check(low, high)
        except ValueError:
            rule = f"sums of {n} numbers from {low:g} to {high:g} and of their squares, got {first:g} and {second:g}"
            raise mine.broken(name, rule) from None
    return _Past(days, rows, total, squares, means, mean_squares, tuple(capital.tolist()))


def _read_factors(entries: JsonReader, days: int) -> list[Floats]:
    found = entries.at("factors")
    if not isinstance(found, list) or len(found) != days:
        raise entries.broken("factors", f"a list of {days} lists")
    each = [JsonReader({"factors": mine}, entries.what).numbers("factors") for mine in found]
    if any(len(mine) != len(BETS) for mine in each):
        raise entries.broken("factors", f"lists of {len(BETS)} numbers")
    return each


MOST_DAYS = 3650  # a rise that takes longer is not seen
_MOST_RISE = 5.0  # larger numbers are percents
_NODES = 60


@dataclass(frozen=True)
class WatchPlan(Tabular):
    """Days from a rise to its alarm, about the median.

    Parameters
    ----------
    delays : dict of tuple to int or None
        By the rise and the day on which it begins; None where it is not seen within ten years, or cannot be planned.
    rows_per_day : int
        Rows of each day.
    budget, mean : float
        The mean cost above which the evidence grows, and that of the reference.
    largest_rise : float
        The rise for which every row becomes dearer: a larger one cannot be planned, nor any if no row costs anything.

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.evaluation import KeptEvaluation
    >>> from stakes.monitoring import CostMonitor, plan_watch
    >>> scores = [0.1, 0.8, 0.3, 0.6, 0.2] * 200
    >>> kept = KeptEvaluation.of(evaluate([0, 1, 1, 0, 0] * 200, {"a": scores}, costs=(0.2, 0.6)))
    >>> plan = plan_watch(CostMonitor((0.2, 0.6), reference=kept), rows_per_day=200)
    >>> plan.delays[0.5, 1] < plan.delays[0.2, 1]
    True
    """

    delays: dict[tuple[float, int], int | None]
    rows_per_day: int
    budget: float
    mean: float
    largest_rise: float

    def _records(self) -> list[dict[str, Any]]:
        return [{"rise": rise, "begins": day, "days": found} for (rise, day), found in self.delays.items()]


def plan_watch(
    monitor: CostMonitor,
    *,
    rows_per_day: int,
    rises: Sequence[float] = (0.1, 0.2, 0.5),
    begins: Sequence[int] = (1, 201),
) -> WatchPlan:
    """Say how many days a monitor would take to see that the cost has risen.

    Parameters
    ----------
    monitor : CostMonitor
        With a reference, whose mean and spread are those of the rows to come. Days differ as its ``reference_days``
        did, and by chance of their rows alone where none were stated: where days differ by more, alarms come later.
        Units of rows by sums are taken for exact ones, which are somewhat faster.
    rows_per_day : int
        Labelled rows of each day. With some twenty or fewer a plan is rough: up to a third too long, and more than
        twice where most days have none of the dearest rows.
    rises : sequence of float, default (0.1, 0.2, 0.5)
        How much dearer than the reference: 0.2 is a fifth. Any rows become dearer: those that cost nothing as dear as
        others, and those the dearest that one can be. Where only cheap rows become more, alarms come sooner.
    begins : sequence of int, default (1, 201)
        The days on which the rise begins.

    Returns
    -------
    WatchPlan

    Raises
    ------
    ValueError
        For a monitor without a reference, and numbers out of bounds, such as rises of 5 or more, which are percents.
    TypeError
        For rises and begins that are no lists.

    Examples
    --------
    >>> from stakes.monitoring import CostMonitor, plan_watch
    >>> plan_watch(CostMonitor(0.2, budget=0.1), rows_per_day=200)
    Traceback (most recent call last):
    ValueError: monitor must have a reference=, whose mean and spread a plan needs.
    """
    check_kind(monitor, "monitor", CostMonitor, remedy="of CostMonitors pass each of its monitors")
    asked, known = monitor._question, monitor.reference
    if known is None:
        raise ValueError("monitor must have a reference=, whose mean and spread a plan needs.")
    rows = check_whole(rows_per_day, "rows_per_day", 1)
    shares = [_check_rise(rise) for rise in _listed(rises, "rises", "shares")]
    days = [check_whole(day, "begins", 1) for day in _listed(begins, "begins", "days")]
    found = {(rise, day): delay(asked, known, rows, rise, day) for rise in shares for day in days}
    return WatchPlan(found, rows, monitor.budget, known.mean, largest_rise(known, asked.largest))


def _listed(values: Any, name: str, what: str) -> list[Any]:
    """Return the values of a list, or raise for a single one and for none."""
    listed = to_array(values, name)
    if listed.ndim != 1 or not len(listed):
        remedy = f": pass [{values}]" if isinstance(values, (int, float)) else ""
        raise TypeError(f"{name} must be a list of {what}, got {brief(values)}{remedy}.")
    return list(listed.tolist())


def _check_rise(rise: Any) -> float:
    share = check_number(rise, "rises")
    if not 0.0 < share < _MOST_RISE:
        remedy = f"; {share:g}% is written {share / 100.0:g}" if 0.0 < share < math.inf else ""
        raise ValueError(f"rises must hold shares > 0 and below {_MOST_RISE:g}, got {rise!r}{remedy}.")
    return share


def delay(asked: Question, known: Reference, rows: int, rise: float, begins: int) -> int | None:
    """Days until the evidence reaches the alarm where each day adds what is expected of it."""
    if rise > largest_rise(known, asked.largest):
        return None
    usual, risen = (_expected(asked, known, rows, factor) for factor in (1.0, 1.0 + rise))
    capital = np.full(len(BETS), -math.inf)
    for day in range(1, begins + MOST_DAYS):
        capital = advance(capital, usual if day < begins else risen, day)
        if day >= begins and log_evidence(capital, day) >= -math.log(asked.alpha):
            return day - begins + 1
    return None


def _expected(asked: Question, known: Reference, rows: int, factor: float) -> Floats:
    """Expected log factor of each bet for a day of rows that cost so many times as much, as on every other day."""
    mean, square = _risen(known, factor, asked.largest)
    if asked.unit != "day":
        return row_factors(rows, rows * mean, rows * square, asked.budget)
    variance = max(square - mean * mean, 0.0)
    between = min(factor**2 * known.day_variance, variance)
    means, weights = _bounded_law(mean, between + (variance - between) / rows, asked.largest)
    return np.asarray(weights @ day_factors(means, asked.budget))


def largest_rise(known: Reference, largest: float) -> float:
    """Rise for which every row becomes dearer, as of :func:`_risen`; 0 where no row costs anything."""
    return known.square / known.mean**2 + largest * known.mean / known.square - 2.0 if known.mean > 0.0 else 0.0


def _risen(known: Reference, factor: float, largest: float) -> tuple[float, float]:
    """Mean and mean square of costs so many times as high, of rows that become dearer, whichever they are.

    Rows that cost nothing or ``dear`` have the reference's moments: what cost nothing comes to cost ``dear``, and what
    was dear the most that a row can.
    """
    dear = known.square / known.mean
    often, share = known.mean / dear, (factor - 1.0) / largest_rise(known, largest)
    more = (1.0 - often) * dear**2 + often * (largest**2 - dear**2)
    return factor * known.mean, known.square + share * more


def _bounded_law(mean: float, variance: float, largest: float) -> tuple[Floats, Floats]:
    """Values and chances with the moments of a scaled beta law on [0, largest], by Gauss quadrature.

    They come from the recurrence of Jacobi polynomials (Golub and Welsch 1969), written for the mean q as a share of
    largest, and the variance v as a share of the most that the mean allows: q and v give Beta(q (1/v - 1), (1 - q)
    (1/v - 1)). Both ends are kept: v = 0 is a constant, v = 1 is nothing or the largest.
    """
    q, v = mean / largest, 0.0 if variance == 0.0 else min(variance / (mean * (largest - mean)), 1.0)
    n = np.arange(2.0, _NODES)
    middle = (2.0 * q - 1.0) * (1.0 - v) * (1.0 - 3.0 * v) / ((1.0 + (2.0 * n - 3.0) * v) * (1.0 + (2.0 * n - 1.0) * v))
    middle = np.concatenate([[2.0 * q - 1.0, (2.0 * q - 1.0) * (1.0 - 3.0 * v) / (1.0 + v)], middle])
    low, high = (n - 1.0) * v + q * (1.0 - v), (n - 1.0) * v + (1.0 - q) * (1.0 - v)
    beside = 4.0 * n * v * low * high * (1.0 + (n - 3.0) * v)
    beside /= (1.0 + (2.0 * n - 3.0) * v) ** 2 * (1.0 + (2.0 * n - 2.0) * v) * (1.0 + (2.0 * n - 4.0) * v)
    beside = np.sqrt(np.concatenate([[4.0 * q * (1.0 - q) * v], beside]))
    nodes, vectors = np.linalg.eigh(np.diag(middle) + np.diag(beside, 1) + np.diag(beside, -1))
    return np.clip((1.0 + nodes) / 2.0, 0.0, 1.0) * largest, vectors[0] ** 2
