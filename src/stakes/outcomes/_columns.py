"""Outcomes from columns of a data frame or file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from stakes.base.outcome import Outcome
from stakes.base.validation import Floats, match_label
from stakes.outcomes._partly_verified import PartlyVerified
from stakes.outcomes._row_costs import RowCosts
from stakes.outcomes._time_to_event import TimeToEvent, check_horizon


@dataclass(frozen=True, kw_only=True)
class OutcomeColumns:
    """Names of the columns that say what happened, where labels alone do not; for :func:`stakes.evaluate_frame`.

    Parameters
    ----------
    time : str, optional
        When follow-up ended; the label then says what ended it: see :class:`TimeToEvent`. Needs ``horizon``.
    horizon : float, optional
        The scores are probabilities of the event by this time.
    cause, censored
        The label's values of the event of interest, and of rows that were censored (0 unless given), as for
        :class:`TimeToEvent`.
    verified_by : str, optional
        What it depended on whether a label was looked up: see :class:`PartlyVerified`. A missing label was not.
    false_positive, false_negative : str or float, optional
        What wrong decisions cost in each row, a column or one amount for all: see :class:`RowCosts`.
    unit : str, default ""
        What these are counted in, such as "EUR".
    on_dominated : {"raise", "set_aside"}, default "raise"
        What to do with rows in which one decision is never worse, as for :class:`RowCosts`.

    Raises
    ------
    ValueError
        For names that do not belong together, or none.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes import evaluate_frame
    >>> from stakes.outcomes import OutcomeColumns
    >>> frame = pl.DataFrame({"ill": [1, 0, 1, 0, 0], "years": [1, 2, 3, 5, 5], "risk": [0.9, 0.3, 0.6, 0.2, 0.4]})
    >>> evaluate_frame(frame, label="ill", costs=(0.1, 0.3), outcome=OutcomeColumns(time="years", horizon=4)).data_line
    '5 rows, horizon 4: 2 events, 2 event-free, 1 of unknown status (20%), largest weight 1.3'
    """

    time: str | None = None
    horizon: float | None = None
    cause: Any = None
    censored: Any = None
    verified_by: str | None = None
    false_positive: str | float | None = None
    false_negative: str | float | None = None
    unit: str = ""
    on_dominated: str = "raise"

    def __post_init__(self) -> None:
        """Refuse inconsistent combinations of column names."""
        if self.time is self.verified_by is self.false_positive is self.false_negative is None:
            raise ValueError("an outcome needs time=, verified_by=, or false_positive= and false_negative=.")
        if (self.time is None) != (self.horizon is None):
            raise ValueError("time= and horizon= belong together, got one of them.")
        if self.time is not None and self.verified_by is not None:
            raise ValueError("time= and verified_by= cannot both be given.")
        if (self.false_positive is None) != (self.false_negative is None):
            raise ValueError("false_positive= and false_negative= belong together, got one of them.")
        if self.horizon is not None:
            check_horizon(self.horizon)

    @property
    def by_amount(self) -> bool:
        """Whether rows are weighted by amounts."""
        return self.false_positive is not None

    @property
    def streamable(self) -> bool:
        """Whether each row says by itself how much it counts: amounts of labels do."""
        return self.by_amount and self.time is self.verified_by is None

    @property
    def partly(self) -> bool:
        """Whether a missing label means that it was not verified."""
        return self.verified_by is not None

    @property
    def numbers(self) -> dict[str, float]:
        """Numeric columns, each with its smallest allowed value."""
        amounts = (self.false_positive, self.false_negative)
        found = {name: float("-inf") for name in amounts if isinstance(name, str)}
        return found if self.time is None else {self.time: 0.0, **found}

    @property
    def groups(self) -> tuple[str, ...]:
        """Columns of group labels."""
        return () if self.verified_by is None else (self.verified_by,)

    def made(self, label: NDArray[Any], cells: Mapping[str, NDArray[Any]], weight: Floats | None, pos: Any) -> Outcome:
        """Build the outcome from the label, the other columns, the weights and the positive label.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes.outcomes import OutcomeColumns
        >>> told = OutcomeColumns(time="years", horizon=2)
        >>> told.made(np.array([1, 0]), {"years": np.array([1.0, 3.0])}, None, None).prevalence
        0.5
        """
        inner: Outcome | None = None
        if self.time is not None and pos is not None:
            raise ValueError(
                f"pos_label= (--pos-label) does not say how follow-up ended, got {pos!r}: pass cause= (--cause) to "
                "name the event, and censored= (--censored) to name what stands in censored rows."
            )
        if self.time is not None:
            inner = self._time_to_event_outcome(label, cells[self.time], weight)
        elif self.verified_by is not None:
            inner = self._partly_verified(label, cells[self.verified_by], pos, weight)
        if inner is not None and not self.by_amount:
            return inner
        wrong = (self.false_positive, self.false_negative)
        a, b = (cells[amount] if isinstance(amount, str) else amount for amount in wrong)
        options: dict[str, Any] = {"unit": self.unit, "on_dominated": self.on_dominated}
        if inner is None:
            options |= {"sample_weight": weight, "pos_label": pos}
        return RowCosts(label if inner is None else inner, false_positive=a, false_negative=b, **options)

    def _partly_verified(self, label: Any, groups: Any, pos: Any, weight: Floats | None) -> PartlyVerified:
        try:
            return PartlyVerified(label, groups=groups, pos_label=pos, sample_weight=weight)
        except ValueError as error:
            if not str(error).startswith("groups "):
                raise
            raise ValueError(f"verified_by={self.verified_by!r} (--verified-by): its {error}") from None

    def _time_to_event_outcome(self, label: NDArray[Any], time: Floats, weight: Floats | None) -> TimeToEvent:
        values = list(set(label.tolist()))
        asked = [self.cause] if isinstance(self.cause, str) or self.cause is None else self.cause
        causes = [match_label(cause, values) for cause in (asked if isinstance(asked, list | tuple) else [asked])]
        return TimeToEvent(
            event=label,
            time=time,
            horizon=self.horizon or 0.0,
            cause=None if causes == [None] else causes,
            censored=match_label(self.censored, values),
            sample_weight=weight,
        )
