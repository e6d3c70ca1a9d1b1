"""Whether an event has happened by a horizon, where some rows were not followed for so long.

A row's status is known if its event was seen or it was followed to the horizon; those known stand for those not known,
with one over the probability of having been followed (Graf et al. 1999; with competing causes Schoop et al. 2011). All
metrics, curves and decompositions are then those of weighted rows.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.core.outcome import Outcome
from stakes.core.row_order import check_same_order, row_labels
from stakes.core.validation import to_array, to_floats
from stakes.outcomes._censoring import Censoring
from stakes.outcomes._censoring_test import CensoringTest, censoring_test
from stakes.outcomes._events import (
    CENSORED,
    KAPLAN_MEIER,
    OF_INTEREST,
    OTHER,
    FollowUp,
    check_given,
    check_groups,
    check_horizon,
    read_follow_up,
)
from stakes.shown.frames import build_frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

NEEDED_AT_RISK = 5
_OFF = 0.05  # from 1, of the sum of weights over the rows: more is told


class BeyondFollowUpError(ValueError):
    """Nobody was followed for as long as the horizon."""


class TimeToEvent(Outcome):
    """An event by a horizon, with censored follow-up; stands where ``y_true`` stands.

    Parameters
    ----------
    event : array_like of shape (n,)
        What ended the follow-up: booleans, codes 0 (censored), 1, 2, ..., or labels with ``censored`` and ``cause``.
    time : array_like of shape (n,)
        When it ended, >= 0.
    horizon : float
        The scores are probabilities of the event *by* this time (not of being free of it).
    cause : object or list of them, optional
        The event of interest, which must occur; by default the only one there is. Others compete: they make a row a
        negative for good.
    censored : object, optional
        The label of censored rows; by default the code 0. Must be given for several codes without 0, such as R's 1
        (censored) and 2: 0 says that nobody was censored.
    groups : array_like of shape (n,), optional
        Estimate censoring in each of these groups, such as fifths of the score, where it may depend on them.
    censoring : "kaplan-meier" or array_like of shape (n,), default "kaplan-meier"
        How censoring is estimated; or the known probability of each row not to be censored before its end or the
        horizon, whichever comes first.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0; weight k equals k repeated rows.

    Attributes
    ----------
    y, known : ndarray of shape (n,)
        Whether the event of interest was seen by the horizon, and whether the row's status is known.
    weight : ndarray of shape (n,)
        Sample weight over the probability of having been followed; 0 where the status is unknown.

    Raises
    ------
    ValueError
        For invalid data, several causes of which none is named, a cause that never occurs, several codes of which none
        means censored, or a horizon after the last time anyone was followed.

    Notes
    -----
    Events precede censorings at equal times, so that a row censored exactly at the horizon is a negative. The weights
    sum to the number of rows, and the prevalence is one less the Kaplan-Meier estimate, or that of Aalen and Johansen
    where causes compete. Errors allow for the estimation of censoring: that of the prevalence is Greenwood's.

    Censoring must not depend on the risk of the event, other than through ``groups``; :meth:`censoring_test` tests
    whether it depends on a score.

    Examples
    --------
    >>> from stakes import TimeToEvent, net_benefit_score
    >>> outcome = TimeToEvent(event=[1, 0, 1, 0, 0], time=[1, 2, 3, 5, 5], horizon=4)
    >>> outcome
    TimeToEvent(5 rows, horizon 4: 2 events, 2 event-free, 1 of unknown status (20%), largest weight 1.3)
    >>> outcome.weight.round(3).tolist()
    [1.0, 0.0, 1.333, 1.333, 1.333]
    >>> round(net_benefit_score(outcome, [0.9, 0.3, 0.6, 0.2, 0.4], threshold=0.25), 4)
    0.3778
    """

    def __init__(
        self,
        *,
        event: ArrayLike,
        time: ArrayLike,
        horizon: float,
        cause: Any = None,
        censored: Any = None,
        groups: ArrayLike | None = None,
        censoring: str | ArrayLike = KAPLAN_MEIER,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self.row_labels = row_labels(
            event=event, time=time, groups=groups, censoring=censoring, sample_weight=sample_weight
        )
        self._set(
            read_follow_up(
                event,
                time,
                cause=cause,
                censored=censored,
                groups=groups,
                censoring=censoring,
                sample_weight=sample_weight,
            ),
            check_horizon(horizon),
        )

    @classmethod
    def from_structured(cls, y: NDArray[Any], *, horizon: float, **options: Any) -> Self:
        """Read scikit-survival's structured array of an event and a time.

        Parameters
        ----------
        y : structured ndarray of shape (n,)
            With a boolean field, the event, and a numeric one, the time.
        horizon : float
            As for the class.
        **options
            Further arguments of the class.

        Returns
        -------
        TimeToEvent

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import TimeToEvent
        >>> y = np.array([(True, 1.0), (False, 3.0)], dtype=[("event", bool), ("time", float)])
        >>> TimeToEvent.from_structured(y, horizon=2).prevalence
        0.5
        """
        kinds = {name: y.dtype[name].kind for name in getattr(y, "dtype", np.dtype(float)).names or ()}
        events = [name for name, kind in kinds.items() if kind == "b"]
        times = [name for name, kind in kinds.items() if kind in "iuf"]
        if len(kinds) != 2 or len(events) != 1 or len(times) != 1:
            raise ValueError(f"y must be a structured array of one boolean and one numeric field, got fields {kinds}.")
        return cls(event=y[events[0]], time=y[times[0]], horizon=horizon, **options)

    def _set(self, follow_up: FollowUp, horizon: float) -> None:
        self._follow_up, self.horizon, self.sample_weight = follow_up, horizon, follow_up.weight
        by_then = follow_up.time <= horizon
        self.y: Bools = (follow_up.ended == OF_INTEREST) & by_then
        self.known: Bools = (follow_up.ended != CENSORED) | (follow_up.time >= horizon)
        self.weight = self._inverse_weights() * self._units
        self._refuse_beyond()

    def _like(self, follow_up: FollowUp, horizon: float | None = None) -> Self:
        """The outcome of other follow-up of the same rows."""
        found = self._of(follow_up, self.horizon if horizon is None else horizon)
        found.row_labels = self.row_labels
        return found

    @classmethod
    def _of(cls, follow_up: FollowUp, horizon: float) -> Self:
        found = cls.__new__(cls)
        found._set(follow_up, horizon)
        return found

    @property
    def _units(self) -> Floats:
        weight = self._follow_up.weight
        return np.ones(len(self._follow_up.time)) if weight is None else weight

    @cached_property
    def _censoring(self) -> Censoring:
        rows = self._follow_up
        codes = None if rows.strata is None else np.unique(rows.strata, return_inverse=True)[1].reshape(-1)
        return Censoring.of(rows.time, rows.ended == CENSORED, self._units, codes, self.horizon)

    def _inverse_weights(self) -> Floats:
        given = self._follow_up.given
        if given is None:
            return np.where(self.known, self._censoring.weights(), 0.0)
        check_given(given, self.known)
        return np.divide(1.0, given, out=np.zeros(len(given)), where=self.known)

    def _refuse_beyond(self) -> None:
        if self._follow_up.given is not None:
            if not self.weight.any():
                raise ValueError(f"no row has a known status at the horizon {self.horizon:g}.")
            return
        ends = [stratum for stratum in self._censoring.strata if stratum.beyond]
        if not ends:
            return
        unknown, strata = 1.0 - float(self.weight.sum()) / float(self._units.sum()), self._follow_up.strata
        last = min(stratum.last for stratum in ends)
        where = "" if strata is None else f" in group {str(strata[ends[0].rows[0]])!r}"
        raise BeyondFollowUpError(
            f"horizon {self.horizon:g} lies beyond the last time anyone was followed{where}, {last:g}: nothing is "
            f"known about {unknown:.3g} of the weight."
        )

    @property
    def follow_up(self) -> FollowUp:
        """The clean rows."""
        return self._follow_up

    @property
    def pooled(self) -> bool:
        """Whether censoring is estimated, from all rows at once."""
        return self._follow_up.given is None and self._follow_up.strata is None

    @property
    def plain(self) -> bool:
        """Whether the status of every row is known, so that no row stands for others."""
        return self._follow_up.given is None and bool(np.all(self.known[self.present]))

    @property
    def estimated(self) -> bool:
        """Whether the weights were estimated from the rows."""
        return self._follow_up.given is None and not self.plain

    @property
    def in_order(self) -> tuple[Outcome, NDArray[np.intp]] | None:
        """The same rows in order of time, and that order; None where censoring is not estimated from all at once."""
        if not self.pooled:
            return None
        order = self._censoring.strata[0].rows
        return self._of(self._follow_up.taken(order), self.horizon), order

    @property
    def prevalence(self) -> float:
        """Estimated share of rows with the event of interest by the horizon."""
        return float(self.weight[self.y].sum() / self.weight.sum())

    @property
    def competing(self) -> Bools:
        """Whether another event than that of interest was seen by the horizon."""
        return (self._follow_up.ended == OTHER) & (self._follow_up.time <= self.horizon)

    @property
    def at_risk(self) -> int:
        """Number of rows followed to the horizon."""
        return int(np.count_nonzero((self._follow_up.time >= self.horizon) & self.present))

    @property
    def unknown_share(self) -> float:
        """Share of rows of unknown status."""
        return 1.0 - float(np.count_nonzero(self.known & self.present)) / float(np.count_nonzero(self.present))

    @property
    def effective_rows(self) -> float:
        """How many equal weights would be as uneven a sum as these."""
        return float(self.weight.sum() ** 2 / np.dot(self.weight, self.weight))

    @property
    def reason(self) -> str:
        """Why estimates have no interval; empty where they have."""
        if self.plain or self.at_risk >= NEEDED_AT_RISK:
            return ""
        return f"only {self.at_risk} rows were followed to the horizon: an interval needs {NEEDED_AT_RISK}"

    def at(self, horizon: float) -> Self:
        """Return the outcome of the same rows at another horizon.

        Parameters
        ----------
        horizon : float
            Another time.

        Returns
        -------
        TimeToEvent

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=4)
        >>> [round(outcome.at(t).prevalence, 3) for t in (1, 2, 3)]
        [0.25, 0.25, 0.625]
        """
        return self._like(self._follow_up, check_horizon(horizon))

    def within(self, groups: ArrayLike) -> Self:
        """Return the outcome of the same rows with censoring estimated in groups.

        Parameters
        ----------
        groups : array_like of shape (n,)
            The groups, such as fifths of a score.

        Returns
        -------
        TimeToEvent

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=4)
        >>> outcome.within(["a", "a", "a", "b"]).weight.tolist()
        [1.0, 0.0, 2.0, 1.0]
        """
        check_same_order(event=self, groups=groups)
        return self._like(replace(self._follow_up, strata=check_groups(groups, len(self.y))))

    def take(self, rows: ArrayLike) -> Self:
        """Return some of the rows, or some repeatedly, with censoring estimated anew.

        Parameters
        ----------
        rows : array_like
            Indices, or booleans of shape (n,).

        Returns
        -------
        TimeToEvent

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=4)
        >>> outcome.take([0, 2, 3, 3]).prevalence
        0.5
        """
        places = np.asarray(rows)
        found = self._of(self._follow_up.taken(places), self.horizon)
        if self.row_labels is not None:
            name, index = self.row_labels
            found.row_labels = name, index[places]
        return found

    def repeated(self, times: ArrayLike) -> Self:
        """Return the outcome in which each row stands so many times, with censoring estimated anew.

        Parameters
        ----------
        times : array_like of shape (n,)
            Whole numbers >= 0.

        Returns
        -------
        TimeToEvent
            Of as many rows, whose sample weight is multiplied.

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=4)
        >>> outcome.repeated([1, 0, 1, 2]).prevalence
        0.5
        """
        check_same_order(event=self, times=times)
        return self._like(replace(self._follow_up, weight=np.asarray(times) * self._units))

    def parts(self, parts: Floats) -> Floats:
        """Parts of all rows in an error: those of the known rows, and what estimating censoring adds."""
        if self._follow_up.given is not None:
            return parts
        found = self._censoring.estimated(parts)
        if self.sample_weight is not None:
            found *= self.sample_weight
        found += parts
        return found

    def influence(self, slope: ArrayLike) -> Floats:
        """Influence of each row on an estimate, with censoring estimated anew.

        Parameters
        ----------
        slope : array_like of shape (n,)
            Derivative of the estimate to the weight of each row, times the sum of weights; for a mean loss, each
            row's loss less the mean. Rows of unknown status are ignored.

        Returns
        -------
        ndarray of shape (n,)
            Derivative of the estimate to the sample weight of each row, times the sum of these: the standard error is
            the root of the sum of squares of weight times influence, over the sum of weights.

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=4)
        >>> outcome.influence(outcome.y - outcome.prevalence).round(3).tolist()
        [0.375, -0.125, 0.625, -0.875]
        """
        check_same_order(event=self, slope=slope)
        d = to_floats(to_array(slope, "slope"), "slope")
        if d.shape != self.y.shape:
            raise ValueError(f"slope must have one value for each of the {len(self.y)} rows, got shape {d.shape}.")
        borne = np.where(self.known, self._inverse_weights() * d, 0.0)
        if self._follow_up.given is None:
            borne = borne + self._censoring.estimated(self._units * borne)
        return np.asarray(borne * (float(self._units.sum()) / float(self.weight.sum())))

    def censoring_test(self, y_score: ArrayLike) -> CensoringTest:
        """Test whether censoring before the horizon depends on a score.

        Parameters
        ----------
        y_score : array_like of shape (n,)
            The score.

        Returns
        -------
        CensoringTest
            A score test of trend in its ranks, and a log-rank test between its fifths.

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> outcome = TimeToEvent(event=[1, 0, 0, 1, 0, 0] * 5, time=range(30), horizon=20)
        >>> round(outcome.censoring_test([0.1, 0.2, 0.3] * 10).p_value, 2)
        0.1
        """
        check_same_order(event=self, y_score=y_score)
        score = to_floats(to_array(y_score, "y_score"), "y_score")
        if score.shape != self.y.shape:
            raise ValueError(f"y_score must have one value for each of the {len(self.y)} rows, got {score.shape}.")
        rows, use = self._follow_up, self.present
        return censoring_test(rows.time[use], rows.ended[use] == CENSORED, score[use], self.horizon)

    def frame(self, backend: Any = None) -> Any:
        """Return the rows as a data frame with columns time, event, known, weight.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> TimeToEvent(event=[1, 0], time=[1, 3], horizon=2).frame("polars").shape
        (2, 4)
        """
        columns = {"time": self._follow_up.time, "event": self.y, "known": self.known, "weight": self.weight}
        return build_frame(columns, backend)

    @property
    def summary(self) -> str:
        """One line on the rows: events, event-free, unknown, and the largest weight."""
        use, known = self.present, self.known & self.present
        n, events, unknown = int(use.sum()), int((self.y & known).sum()), int((use & ~known).sum())
        share = f" ({unknown / n:.0%})" if unknown else ""
        return (
            f"{n:,} rows, horizon {self.horizon:g}: {events:,} events, {n - unknown - events:,} event-free, "
            f"{unknown:,} of unknown status{share}, largest weight {self.weight.max():.1f}{self._off}"
        )

    @property
    def about(self) -> str:
        """The horizon, and that rows are weighted for censoring where some are."""
        return f"event by horizon {self.horizon:g}{'' if self.plain else ', rows weighted for censoring'}"

    @property
    def one_class_hint(self) -> str:
        """The range of the times beside the horizon, and the question whether they are in one unit."""
        time = self._follow_up.time[self.present]
        return (
            f"Times run from {time.min():.3g} to {time.max():.3g} and the horizon is {self.horizon:g}: are they in one "
            "unit, such as days or years?"
        )

    @property
    def weight_share(self) -> float:
        """Sum of the weights over that of the rows; 1 where censoring is estimated from them."""
        return float(self.weight.sum()) / float(self._units.sum())

    @property
    def weight_share_error(self) -> float:
        """Standard error of that share where censoring is known."""
        units = self._units
        return float(np.linalg.norm(self.weight - self.weight_share * units)) / float(units.sum())

    @property
    def _off(self) -> str:
        """What is wrong with given probabilities of censoring: their weights should stand for all rows."""
        share = self.weight_share
        return f", weights sum to {share:.1%} of the rows" if abs(share - 1.0) > _OFF else ""

    def __repr__(self) -> str:
        return f"TimeToEvent({self.summary})"
