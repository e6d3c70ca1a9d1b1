"""Time-to-event outcomes: follow-up, censoring, and a test of independent censoring."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.outcome import Outcome
from stakes.base.validation import (
    Bools,
    Floats,
    Integers,
    absent,
    brief,
    check_same_order,
    check_size,
    check_weights,
    near,
    plain_labels,
    refuse,
    refuse_missing,
    row_labels,
    to_array,
    to_floats,
)
from stakes.outputs.result_table import build_frame
from stakes.outputs.text import percent

# Recorded follow-up of each row: how long it lasted, and how it ended.

CENSORED, OF_INTEREST, OTHER = 0, 1, 2
_NOT_IN_GROUPS = "groups= estimates censoring in each group: it cannot be given beside an array of censoring=."
_MOST_CODES = 20  # causes; more distinct codes are probably another quantity
KAPLAN_MEIER = "kaplan-meier"


@dataclass(frozen=True, eq=False, repr=False)
class FollowUp:
    """Clean rows: time, how it ended (censored, event of interest, other event), weight, stratum, known censoring."""

    time: Floats
    ended: NDArray[np.int8]
    weight: Floats | None
    strata: NDArray[Any] | None
    given: Floats | None

    def taken(self, rows: Any) -> FollowUp:
        """Select rows, possibly repeatedly."""
        return replace(self, **{name: part[rows] for name, part in vars(self).items() if part is not None})


def check_horizon(horizon: Any) -> float:
    """Return a finite time after the start, or raise."""
    if np.ndim(horizon) and not isinstance(horizon, str):
        raise ValueError(f"horizon must be one time, got {horizon!r}: for several, evaluate_horizons(..., horizons=).")
    return check_size(horizon, "horizon")


def _in_precision(horizon: float, times: Floats) -> float:
    """The horizon in single precision, where some time equals it there and all times are numbers of that precision."""
    with np.errstate(over="ignore"):
        single = float(np.float32(horizon))
        same = single != horizon and bool(np.any(times == single)) and np.array_equal(times, times.astype(np.float32))
    return single if same else horizon


def _check_times(times: NDArray[Any], sample_weight: Any) -> tuple[Floats, Floats | None]:
    """Return times and weights; the times of rows of weight zero are not looked at."""
    if times.ndim != 1:
        raise ValueError(
            f"time must hold one end of follow-up per row, got shape {times.shape}: late entry (start and stop), "
            "interval censoring and covariates that change with time are not supported."
        )
    if not len(times):
        raise ValueError("time must hold at least one row, got none.")
    found, weight = to_floats(times, "time"), check_weights(sample_weight, len(times))
    bad = ~(np.isfinite(found) & (found >= 0.0))
    refuse(bad if weight is None else bad & (weight > 0.0), found, "time must be finite and >= 0")
    return np.where(bad, 0.0, found) if bad.any() else found, weight


def _filled(labels: NDArray[Any], weight: Floats | None) -> NDArray[Any]:
    """Labels in which rows of weight zero without one have that of a row that counts."""
    if weight is None or np.all(weight) or labels.shape != weight.shape:
        return labels
    return labels[np.where((weight == 0.0) & absent(labels), int(np.argmax(weight)), np.arange(len(labels)))]


def _check_events(labels: NDArray[Any], censored: Any, cause: Any) -> NDArray[np.int8]:
    """Code how each row's follow-up ended."""
    refuse_missing(labels, "event")
    numbers = plain_labels(labels)  # numbers may stand in an array of objects
    labels = numbers if numbers.dtype.kind in "biuf" else labels
    if np.ndim(censored):
        raise ValueError(f"censored must be one label, got {censored!r}.")
    if labels.dtype.kind in "biuf":
        if labels.dtype.kind != "b":
            refuse((labels < 0) | (labels != np.round(labels)), labels, "event must hold whole codes >= 0")
        labels = labels.astype(np.int64)
        censored = _check_censored(labels, censored)
    elif cause is None or censored is None:
        shown = ", ".join(repr(str(value)) for value in np.unique(labels.astype(str))[:5])
        raise ValueError(f"event holds labels ({shown}): pass censored= and cause= to say what they mean.")
    elif not np.any(labels == censored):
        held = sorted(map(str, set(labels.tolist())))
        raise ValueError(
            f"censored must be the label of censored rows, one of {_listed(held)} (where nobody is, pass whole codes "
            f"and censored=0), got {censored!r}{near(censored, held)}"
        )
    is_event = labels != censored
    mine = is_event if cause is None else np.isin(labels, _among(cause, labels, any_event=bool(is_event.any())))
    if cause is None:
        _refuse_several(labels[is_event])
    elif (mine & ~is_event).any():
        raise ValueError(f"cause must name events, got the label of censored rows: {censored!r}.")
    return np.where(mine, OF_INTEREST, np.where(is_event, OTHER, CENSORED)).astype(np.int8)


def _check_censored(codes: NDArray[np.int64], censored: Any) -> Any:
    """Return the code of censored rows, by default 0; raise if it is ambiguous."""
    held = np.unique(codes).tolist()
    listed = _listed(held)
    if censored is None and 0 not in held and len(held) > _MOST_CODES:
        raise ValueError(
            f"event must hold codes of events, got {len(held)} different ones ({listed}): are event= and time= the "
            "wrong way round?"
        )
    if censored is None and 0 not in held and len(held) > 1:
        raise ValueError(
            f"no code 0 among the event codes {listed}; if one of them means censored, pass censored={held[0]} "
            f"(--censored {held[0]}); if nobody is censored, pass censored=0 (--censored 0)."
        )
    if censored is None:
        return 0
    if not any(code == censored for code in (0, *held)):
        raise ValueError(
            f"censored must be the event code of censored rows, one of {listed} (or 0 where nobody is), got "
            f"{censored!r}."
        )
    return censored


def _among(cause: Any, labels: NDArray[Any], *, any_event: bool) -> NDArray[Any]:
    """Return the causes in the type of the labels, or raise if one never occurs although there are events."""
    if hasattr(cause, "__array__"):
        causes = np.asarray(cause).ravel().tolist()
    else:
        causes = list(cause) if isinstance(cause, list | tuple | set) else [cause]
    if not causes:
        raise ValueError("cause must name an event, got none.")
    try:
        held = set(labels.tolist())
        absent = [each for each in causes if each not in held]
    except TypeError:
        raise ValueError(f"cause must name labels of event, got {cause!r}.") from None
    if absent and any_event:
        raise ValueError(f"cause must name events that occur, got {absent[0]!r}: event holds {_listed(held)}.")
    return np.array([each for each in causes if each in held], dtype=labels.dtype).ravel()


def _listed(values: Iterable[Any]) -> str:
    """List the first five values in a message, sorted."""
    held = list(values)
    held.sort(key=None if all(isinstance(value, int) for value in held) else str)
    return ", ".join(map(repr, held[:5])) + (", ..." if len(held) > 5 else "")


def _refuse_several(events: NDArray[Any]) -> None:
    codes, counts = np.unique(events, return_counts=True)
    if len(codes) > 1:
        listed = ", ".join(f"{code} ({count} rows)" for code, count in zip(codes.tolist(), counts, strict=True))
        raise ValueError(
            f"event holds several causes, {listed}: pass cause= to say which is of interest; the others then compete."
        )
    if not len(codes):
        raise ValueError("event holds no event at all: pass cause= to say which code would be one.")


def check_groups(groups: Any, n: int, weight: Floats | None = None) -> NDArray[Any]:
    """Return one label per row, or raise; those of rows of weight zero are not looked at."""
    labels = to_array(groups, "groups")
    if labels.shape != (n,):
        raise ValueError(f"groups must have one value for each of the {n} rows, got shape {labels.shape}.")
    labels = _filled(labels, weight)
    refuse_missing(labels, "groups")
    return plain_labels(labels)


def _check_places(rows: Any, weight: Floats) -> NDArray[Any]:
    """Return indices of rows, or which of them, at least one of positive weight; or raise."""
    places, n = to_array(rows, "rows"), len(weight)
    fits = places.shape == (n,) if places.dtype == bool else places.ndim == 1 and places.dtype.kind in "iu"
    if not fits and places.size:
        raise ValueError(f"rows must be indices, or True or False for each of the {n} rows, got {brief(rows)}.")
    if places.dtype != bool:
        places = places.astype(np.intp)
        refuse((places < -n) | (places >= n), places, f"rows must lie in 0 to {n - 1}")
    if not weight[places].any():
        raise ValueError("rows must hold a row of positive weight, got none.")
    return places


def _check_censoring(censoring: Any, n: int) -> Floats | None:
    if isinstance(censoring, str):
        if censoring != KAPLAN_MEIER:
            hint = ": that estimator belongs to net_benefit_curve" if censoring == "acted" else ""
            raise ValueError(f'censoring must be "{KAPLAN_MEIER}" or one probability per row, got {censoring!r}{hint}.')
        return None
    given = to_floats(to_array(censoring, "censoring"), "censoring")
    if given.shape != (n,):
        raise ValueError(f"censoring must have one probability per row, got shape {given.shape} for {n} rows.")
    return given


# The Kaplan-Meier estimate of censoring, and its effect on the error of weighted estimates.
#
# Events come before censorings at equal times, so that whoever is censored exactly at the horizon is known to be free
# of the event. Within each stratum the rows stand in order of time, and every sum over those still followed is a
# suffix sum.


@dataclass(frozen=True, eq=False, repr=False)
class Stratum:
    """Rows of one stratum in order of time, and the distinct times at which some of them left before the horizon.

    ``gone``, ``later`` and ``risk`` are the weight of those who leave at each such time, of those followed for longer,
    and of both; ``after`` is the place of the first row followed for longer, ``left`` the rows that leave, ``at`` at
    which time, and ``seen`` how many times each row is at risk of leaving.
    """

    rows: Integers
    gone: Floats
    later: Floats
    after: Integers
    left: Integers
    at: Integers
    seen: Integers
    last: float
    beyond: bool

    @classmethod
    def of(cls, rows: Integers, time: Floats, censored: Bools, weight: Floats, horizon: float) -> Stratum:
        """Compute the sums over rows sorted by time."""
        t, v = time[rows], weight[rows]
        leaves = censored[rows] & (t < horizon)
        left = np.flatnonzero(leaves)
        new = np.append(True, np.diff(t[left]) > 0.0)[: len(left)]
        times, at = t[left[new]], np.cumsum(new) - 1
        gone = np.bincount(at, weights=v[left], minlength=len(times)).astype(np.float64)
        after = np.searchsorted(t, times, side="right")
        later = _suffix_sums(v)[after]
        seen = np.cumsum(np.bincount(after, minlength=len(t) + 1)[: len(t)])  # times before that of each row
        seen[left] = at + 1
        held = t[v > 0.0]
        last = float(held[-1]) if len(held) else math.inf
        beyond = bool(np.any(leaves[v > 0.0] & (held == last)))
        return cls(rows, gone, later, after, left, at, seen, last, beyond)

    @property
    def risk(self) -> Floats:
        return self.later + self.gone

    @cached_property
    def hazard(self) -> Floats:
        """Hazard of censoring at each time: the share of those at risk who are censored."""
        return np.divide(self.gone, self.risk, out=np.zeros_like(self.gone), where=self.risk > 0.0)

    @cached_property
    def places(self) -> Integers:
        """Position of each row in the order of time, for a single stratum."""
        places = np.empty(len(self.rows), dtype=np.intp)
        places[self.rows] = np.arange(len(self.rows))
        return places

    def weights(self) -> Floats:
        """Inverse of the probability of remaining uncensored just before each row's end or the horizon."""
        stay = np.divide(self.later, self.risk, out=np.ones_like(self.later), where=self.risk > 0.0)
        free = np.concatenate([[1.0], np.cumprod(stay)])
        return np.divide(1.0, free[self.seen], out=np.zeros(len(self.rows)), where=free[self.seen] > 0.0)

    def estimated(self, parts: Floats) -> Floats:
        """Contribution of weight estimation to each row's error, per unit of sample weight."""
        at_risk = np.take(_suffix_sums(parts), self.after, axis=-1)
        mean = np.divide(at_risk, self.later, out=np.zeros_like(at_risk), where=self.later > 0.0)
        cumulated = np.zeros((*parts.shape[:-1], len(self.gone) + 1))
        np.cumsum(mean * self.hazard, axis=-1, out=cumulated[..., 1:])
        found = np.take(np.negative(cumulated, out=cumulated), self.seen, axis=-1)
        found[..., self.left] += mean[..., self.at]
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Censoring:
    """The estimated censoring distribution of each stratum."""

    strata: tuple[Stratum, ...]
    weight: Floats

    @classmethod
    def of(cls, time: Floats, censored: Bools, weight: Floats, codes: Integers | None, horizon: float) -> Censoring:
        """Estimate the censoring distribution with one sort of the times."""
        strata = (Stratum.of(rows, time, censored, weight, horizon) for rows in _in_order(time, codes))
        return cls(tuple(strata), weight)

    @cached_property
    def _sorted(self) -> bool:
        """Whether the rows are already sorted by time."""
        rows = self.strata[0].rows
        return len(self.strata) == 1 and bool(np.array_equal(rows, np.arange(len(rows))))

    def weights(self) -> Floats:
        """Inverse-probability weight of each row, as if its status were known."""
        found = np.empty(len(self.weight))
        for stratum in self.strata:
            found[stratum.rows] = stratum.weights()
        return found

    def estimated(self, parts: Floats) -> Floats:
        """Contribution of weight estimation to each row's error (last axis), per unit of sample weight."""
        if self._sorted:
            return self.strata[0].estimated(parts)
        if len(self.strata) == 1:  # np.take is several times faster than an index
            found = self.strata[0].estimated(np.take(parts, self.strata[0].rows, axis=-1))
            return np.take(found, self.strata[0].places, axis=-1)
        found = np.empty_like(parts)
        for stratum in self.strata:
            found[..., stratum.rows] = stratum.estimated(np.take(parts, stratum.rows, axis=-1))
        return found


def _in_order(time: Floats, codes: Integers | None) -> Iterator[Integers]:
    """Yield the rows of each stratum in order of time."""
    if codes is None:
        yield np.arange(len(time)) if np.all(time[1:] >= time[:-1]) else np.argsort(time)
        return
    order = np.lexsort((time, codes))
    yield from np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _suffix_sums(values: Floats) -> Floats:
    """Compute suffix sums along the last axis, with a final zero."""
    found = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values[..., ::-1], axis=-1, out=found[..., -2::-1])
    return found


# Tests of censoring that depends on the score: a test of trend, and one between groups of the score.

GROUPS = 5


@dataclass(frozen=True)
class CensoringTest:
    """Whether censoring before the horizon depends on a score.

    Parameters
    ----------
    trend_z : float
        Score test of the hazard of censoring on the rank of the score, standard normal if it does not depend on it;
        positive where higher scores leave earlier. nan where nobody leaves.
    logrank : float
        Log-rank test between groups of the score, chi-square with ``degrees`` degrees of freedom.
    degrees : int
        One less than the groups.

    Examples
    --------
    >>> from stakes.outcomes import CensoringTest
    >>> round(CensoringTest(trend_z=-0.276, logrank=8.138, degrees=4).p_value, 3)
    0.173
    """

    trend_z: float
    logrank: float
    degrees: int

    @property
    def trend_p_value(self) -> float:
        """Two-sided p-value of the trend."""
        return math.erfc(abs(self.trend_z) / math.sqrt(2.0))

    @property
    def logrank_p_value(self) -> float:
        """P-value of the log-rank test; nan without groups."""
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees, self.logrank)) if self.degrees else math.nan

    @property
    def p_value(self) -> float:
        """Twice the smaller of the two p-values (Bonferroni)."""
        return min(1.0, 2.0 * float(np.fmin(self.trend_p_value, self.logrank_p_value)))


def censoring_test(time: Floats, censored: Bools, score: Floats, horizon: float) -> CensoringTest:
    """Test clean rows: a trend test with Breslow's ties, and a log-rank test between fifths of the score."""
    order = np.argsort(time, kind="stable")
    t, leaves = time[order], (censored & (time < horizon))[order]
    times, at = np.unique(t[leaves], return_inverse=True)
    if not len(times):
        return CensoringTest(math.nan, math.nan, 0)
    after, gone = np.searchsorted(t, times, side="right"), np.bincount(at).astype(float)

    def at_risk(values: Floats) -> Floats:
        """Sum over rows censored at each time or followed longer."""
        sums = np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])
        return np.asarray(sums[after] + np.bincount(at, values[leaves], len(times)))

    rank, n = _ranks(score)[order], at_risk(np.ones(len(t)))
    mean = at_risk(rank) / n
    slope = float(rank[leaves].sum() - np.dot(gone, mean))
    information = float(np.dot(gone, at_risk(rank * rank) / n - mean * mean))
    group = np.searchsorted(np.unique(np.quantile(score, np.arange(1, GROUPS) / GROUPS)), score, side="right")[order]
    _, group = np.unique(group, return_inverse=True)
    members = [group == k for k in range(int(group.max()) + 1)]
    share = np.stack([at_risk(mine.astype(float)) for mine in members]) / n
    excess = np.array([float(np.count_nonzero(mine & leaves)) for mine in members]) - share @ gone
    covariance = np.diag(share @ gone) - (share * gone) @ share.T
    logrank = float(excess[:-1] @ np.linalg.pinv(covariance[:-1, :-1]) @ excess[:-1]) if len(members) > 1 else math.nan
    z = slope / math.sqrt(information) if information > 0.0 else math.nan
    return CensoringTest(z, logrank, len(members) - 1)


def _ranks(score: Floats) -> Floats:
    """Mean ranks as shares of the rows, less their mean."""
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks: Floats = np.cumsum(counts) - 0.5 * (counts - 1.0) - 0.5 * (len(score) + 1.0)
    return ranks[place] / len(score)


def censoring_trend(time: Floats, censored: Bools, score: Floats, horizon: float) -> Floats:
    """What each row adds to the score of the test of trend: sums over clusters show its spread (Lin and Wei 1989)."""
    order = np.argsort(time, kind="stable")
    t, rank, leaves = time[order], _ranks(score)[order], (censored & (time < horizon))[order]
    times, at = np.unique(t[leaves], return_inverse=True)
    after, gone = np.searchsorted(t, times, side="right"), np.bincount(at, minlength=len(times))
    # rows that end at the time at which others are censored are at risk there if they are censored themselves
    n = len(t) - after + gone
    later = np.concatenate([np.cumsum(rank[::-1])[::-1], [0.0]])[after]
    mean = (later + np.bincount(at, rank[leaves], len(times))) / n
    hazard, drift = (np.concatenate([[0.0], np.cumsum(each)]) for each in (gone / n, gone / n * mean))
    passed = np.searchsorted(times, t) + leaves
    found, sorted_ = np.empty(len(t)), drift[passed] - hazard[passed] * rank
    sorted_[leaves] += rank[leaves] - mean[at]
    found[order] = sorted_
    return found


# Whether an event has happened by a horizon, where follow-up of some rows ended earlier.
#
# A row's status is known if its event was seen or it was followed to the horizon; those known stand for those not
# known, with one over the probability of having been followed (Graf et al. 1999; with competing causes Schoop et al.
# 2011). All metrics, curves and decompositions are then those of weighted rows.

NEEDED_AT_RISK = 5
_FAR = 5.0  # times the follow-up, beyond which a horizon is probably in another unit
_LARGE_DEVIATION = 0.05  # deviation from 1 of the ratio of weights to rows, above which a summary mentions it


class BeyondFollowUpError(ValueError):
    """No row was followed up to the horizon."""


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
    Events precede censorings at equal times, so that a row censored exactly at the horizon is a negative. Times in
    single precision equal the horizon where they do in that precision. The weights sum to the number of rows, and the
    prevalence is one less the Kaplan-Meier estimate, or that of Aalen and Johansen where causes compete. Errors allow
    for the estimation of censoring: that of the prevalence is Greenwood's.

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
        stated, labels = to_array(time, "time"), to_array(event, "event")
        times, weight = _check_times(stated, sample_weight)
        n = len(times)
        if labels.shape != times.shape:
            raise ValueError(f"event and time must have the same length, got shapes {labels.shape} and {times.shape}.")
        ended, given = _check_events(_filled(labels, weight), censored, cause), _check_censoring(censoring, n)
        ended[absent(labels) | (times != to_floats(stated, "time"))] = CENSORED  # in rows of weight zero
        if given is not None and groups is not None:
            raise ValueError(_NOT_IN_GROUPS)
        strata = None if groups is None else check_groups(groups, n, weight)
        self._set(FollowUp(times, ended, weight, strata, given), check_horizon(horizon))

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
        self.follow_up, self.sample_weight = follow_up, follow_up.weight
        self.horizon = _in_precision(horizon, follow_up.time)
        by_then = follow_up.time <= self.horizon
        self.y: Bools = (follow_up.ended == OF_INTEREST) & by_then
        self.known: Bools = (follow_up.ended != CENSORED) | (follow_up.time >= self.horizon)
        self.weight = self._inverse_weights() * self.units
        self._refuse_beyond()

    def _with(self, follow_up: FollowUp, horizon: float | None = None) -> Self:
        """Build the outcome of the same rows with other follow-up."""
        found = type(self).__new__(type(self))
        found._set(follow_up, self.horizon if horizon is None else horizon)
        found.row_labels = self.row_labels
        return found

    @cached_property
    def _censoring(self) -> Censoring:
        rows = self.follow_up
        codes = None if rows.strata is None else np.unique(rows.strata, return_inverse=True)[1].reshape(-1)
        return Censoring.of(rows.time, rows.ended == CENSORED, self.units, codes, self.horizon)

    def _inverse_weights(self) -> Floats:
        given = self.follow_up.given
        if given is None:
            return np.where(self.known, self._censoring.weights(), 0.0)
        stays = "the probability not to be censored before the end of each row or the horizon, in (0, 1]"
        counts, fine = self.known & self.present, (given > 0.0) & (given <= 1.0)
        refuse(counts & ~fine, given, f"censoring must hold {stays}")
        return np.divide(1.0, given, out=np.zeros(len(given)), where=counts & fine)

    def _refuse_beyond(self) -> None:
        if self.follow_up.given is not None:
            if not self.weight.any():
                raise BeyondFollowUpError(f"no row has a known status at the horizon {self.horizon:g}.")
            return
        ends = [stratum for stratum in self._censoring.strata if stratum.beyond]
        if not ends:
            return
        unknown, strata = 1.0 - float(self.weight.sum()) / float(self.units.sum()), self.follow_up.strata
        last = min(stratum.last for stratum in ends)
        where = "" if strata is None else f" in group {str(strata[ends[0].rows[0]])!r}"
        raise BeyondFollowUpError(
            f"horizon {self.horizon:g} lies beyond the last time anyone was followed{where}, {last:g}: nothing is "
            f"known about {unknown:.3g} of the weight. {self._what_to_do(last)}"
        )

    def _what_to_do(self, last: float) -> str:
        """What to do about a horizon after the last time anyone was followed."""
        far = self.horizon > _FAR * last
        return "Are times and horizon in the same unit?" if far else "Pass an earlier one."

    @property
    def pooled(self) -> bool:
        """Whether censoring is estimated from all rows without strata."""
        return self.follow_up.given is None and self.follow_up.strata is None

    @property
    def plain(self) -> bool:
        """Whether the status of every row is known, so that all weights are one."""
        return self.follow_up.given is None and bool(np.all(self.known[self.present]))

    @property
    def estimated(self) -> bool:
        """Whether the weights were estimated from the rows."""
        return self.follow_up.given is None and not self.plain

    @property
    def in_order(self) -> tuple[Outcome, NDArray[np.intp]] | None:
        """The rows sorted by time, and that order; None if censoring is not estimated from all rows together."""
        if not self.pooled:
            return None
        order = self._censoring.strata[0].rows
        found = self._with(self.follow_up.taken(order))
        found.row_labels = None
        return found, order

    @property
    def prevalence(self) -> float:
        """Estimated share of rows with the event of interest by the horizon."""
        return float(self.weight[self.y].sum() / self.weight.sum())

    @property
    def competing(self) -> Bools:
        """Whether a competing event was seen by the horizon."""
        return (self.follow_up.ended == OTHER) & (self.follow_up.time <= self.horizon)

    @property
    def at_risk(self) -> int:
        """Number of rows followed to the horizon."""
        return int(np.count_nonzero((self.follow_up.time >= self.horizon) & self.present))

    @property
    def unknown_share(self) -> float:
        """Share of rows of unknown status."""
        return 1.0 - float(np.count_nonzero(self.known & self.present)) / float(np.count_nonzero(self.present))

    @property
    def effective_rows(self) -> float:
        """Effective number of rows of the weights (Kish)."""
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

        Raises
        ------
        ValueError
            For another horizon than that of probabilities that ``censoring=`` gave.

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=4)
        >>> [round(outcome.at(t).prevalence, 3) for t in (1, 2, 3)]
        [0.25, 0.25, 0.625]
        """
        horizon = _in_precision(check_horizon(horizon), self.follow_up.time)
        if self.follow_up.given is not None and horizon != self.horizon:
            raise ValueError(
                f"horizon must stay {self.horizon:g} where censoring= is an array, got {horizon:g}: its probabilities "
                "reach to that horizon. Build an outcome with those for the other one."
            )
        return self._with(self.follow_up, horizon)

    def within(self, groups: ArrayLike) -> Self:
        """Return the outcome of the same rows with censoring estimated in groups.

        Parameters
        ----------
        groups : array_like of shape (n,)
            The groups, such as fifths of a score.

        Returns
        -------
        TimeToEvent

        Raises
        ------
        ValueError
            Where probabilities were given by ``censoring=``.

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=4)
        >>> outcome.within(["a", "a", "a", "b"]).weight.tolist()
        [1.0, 0.0, 2.0, 1.0]
        """
        check_same_order(event=self, groups=groups)
        if self.follow_up.given is not None:
            raise ValueError(_NOT_IN_GROUPS)
        return self._with(replace(self.follow_up, strata=check_groups(groups, len(self.y), self.sample_weight)))

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
        places = _check_places(rows, self.units)
        found = self._with(self.follow_up.taken(places))
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
        counts = to_floats(to_array(times, "times"), "times")
        if counts.shape != self.y.shape:
            raise ValueError(f"times must have one number for each of the {len(self.y)} rows, got {counts.shape}.")
        refuse(~((counts >= 0.0) & (counts == np.floor(counts))), counts, "times must hold whole numbers >= 0")
        weight = counts * self.units
        if not weight.any():
            raise ValueError("times must leave a row of positive weight, got none.")
        return self._with(replace(self.follow_up, weight=weight))

    def parts(self, parts: Floats) -> Floats:
        """Contributions of all rows to an error, including the estimation of censoring."""
        if self.follow_up.given is not None:
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
        if self.follow_up.given is None:
            borne = borne + self._censoring.estimated(self.units * borne)
        return np.asarray(borne * (float(self.units.sum()) / float(self.weight.sum())))

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
        rows, use = self.follow_up, self.present
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
        columns = {"time": self.follow_up.time, "event": self.y, "known": self.known, "weight": self.weight}
        return build_frame(columns, backend)

    @property
    def summary(self) -> str:
        """One line that describes the rows: events, event-free, unknown, and the largest weight."""
        use, known = self.present, self.known & self.present
        n, events, unknown = int(use.sum()), int((self.y & known).sum()), int((use & ~known).sum())
        share = f" ({percent(unknown / n, 2)})" if unknown else ""
        # weights from known censoring probabilities may not sum to the number of rows
        off = abs(self.weight_share - 1.0) > _LARGE_DEVIATION
        total = f", weights sum to {percent(self.weight_share)} of the rows" if off else ""
        return (
            f"{n:,} rows, horizon {self.horizon:g}: {events:,} events, {n - unknown - events:,} event-free, "
            f"{unknown:,} of unknown status{share}, largest weight {self.weight.max():.1f}{total}"
        )

    @property
    def about(self) -> str:
        """A note for figures: the horizon, and the weighting for censoring if there is any."""
        return f"event by horizon {self.horizon:g}{'' if self.plain else ', rows weighted for censoring'}"

    @property
    def methods(self) -> tuple[str, ...]:
        """Sentences on horizon, competing events, and how censoring was estimated; [names] cite the papers."""
        competes = bool(np.any((self.follow_up.ended == OTHER) & self.present))
        of_interest, other = "", ""
        if competes:
            of_interest = " of interest"
            other = " Events of other causes compete: who had one first counts as negative, and not as censored."
        status = (
            f"A case counts as positive if it had the event{of_interest} by the horizon of {self.horizon:g}, in the "
            f"unit of the times, and as negative if it was followed to the horizon without it.{other}"
        )
        if self.plain:
            return status, "Nobody was censored before the horizon, so no case is weighted."
        share = "is the Aalen-Johansen estimate [aalen]" if competes else "is 1 less the Kaplan-Meier estimate [kaplan]"
        return status, *self._censoring_methods(share)

    def _censoring_methods(self, share: str) -> tuple[str, ...]:
        weighed = (
            f"The status of {percent(self.unknown_share)} of the cases, censored before the horizon, is unknown; "
            "all others were weighted by the inverse of the probability of being uncensored until their event or the "
            "horizon [graf]"
        )
        strata = self.follow_up.strata
        if self.follow_up.given is not None:
            known = (
                "These probabilities were given and are taken as known; that censoring depends on nothing else that "
            )
            return f"{weighed}.", f"{known}bears on the event is assumed."
        count = 1 if strata is None else len(np.unique(strata[self.present]))
        where, within = (
            ("over all cases", "") if strata is None else (f"within each of {count:,} groups", " in a group")
        )
        how = f", by the Kaplan-Meier estimate of censoring {where}, events preceding censorings at equal times."
        assumed = f"That censoring depends on nothing{within} that bears on the event is assumed."
        return (
            weighed + how,
            assumed,
            f"The share of positives {share}; standard errors allow for the estimated weights.",
        )

    @property
    def one_class_hint(self) -> str:
        """What to check if all rows are of one class: whether times and horizon have one unit."""
        time = self.follow_up.time[self.present]
        return (
            f"Times run from {time.min():.3g} to {time.max():.3g} and the horizon is {self.horizon:g}: are they in one "
            "unit, such as days or years?"
        )

    @property
    def weight_share(self) -> float:
        """Sum of the weights over the number of rows; 1 if censoring is estimated from these rows."""
        return float(self.weight.sum()) / float(self.units.sum())

    @property
    def weight_share_error(self) -> float:
        """Standard error of ``weight_share`` if censoring is known."""
        units = self.units
        return float(np.linalg.norm(self.weight - self.weight_share * units)) / float(units.sum())


# The estimator of the dcurves packages: the Kaplan-Meier estimate among the rows acted on, at every threshold.
#
# It differs from one weighted table: true positives may rise with the threshold, and above the prevalence. As the
# threshold falls rows are acted on one by one, and each changes who is at risk at every time before its own: the
# product over the times of events is worked out anew for each distinct score, from sums that are only added to.

MOST_WORK = 2 * 10**10  # distinct scores times times of events: a minute


def acted_shares(outcome: TimeToEvent, score: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares of true and of false positives where all with at least each distinct score are acted on.

    Parameters
    ----------
    outcome : TimeToEvent
        Of all rows.
    score : ndarray of shape (n,)
        Their scores.

    Returns
    -------
    tuple of ndarray of shape (m,)
        Distinct scores, true positives, false positives; nan where nobody acted on was followed for long enough.

    Raises
    ------
    ValueError
        For so many distinct scores and times of events that it would take minutes.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes import TimeToEvent
    >>> from stakes.outcomes import acted_shares
    >>> outcome = TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=4)
    >>> acted_shares(outcome, np.array([0.9, 0.3, 0.3, 0.9]))[1].tolist()
    [0.625, 0.25]
    """
    use = outcome.present
    order = np.flatnonzero(use)[np.argsort(-score[use], kind="stable")]
    rows, falling = outcome.follow_up.taken(order), score[order]
    weight = np.ones(len(order)) if rows.weight is None else rows.weight
    ends = np.flatnonzero(np.append(np.diff(falling) != 0.0, True)) + 1  # of rows with the same score
    share = np.cumsum(weight)[ends - 1] / weight.sum()
    event = _event_rates(rows, weight, outcome.horizon, ends)
    # whether the longest follow-up among the first k rows, for each k, was censored before the horizon
    last = np.maximum.accumulate(rows.time)
    censored = np.maximum.accumulate(np.where(rows.ended == CENSORED, rows.time, -1.0))
    event[((censored == last) & (last < outcome.horizon))[ends - 1]] = np.nan
    return falling[ends - 1][::-1], (share * event)[::-1], (share * (1.0 - event))[::-1]


def _event_rates(rows: FollowUp, weight: Floats, horizon: float, ends: NDArray[np.intp]) -> Floats:
    """Estimate the probability of the event of interest by the horizon among the first rows, for each of ``ends``."""
    happens = (rows.ended != CENSORED) & (rows.time <= horizon)
    times = np.unique(rows.time[happens])
    if len(ends) * len(times) > MOST_WORK:
        raise ValueError(
            f'censoring="acted" works the product limit over {len(times):,} times of events out anew at each of '
            f"{len(ends):,} distinct scores: too many. Pass thresholds=, such as numpy.linspace(0.01, 0.5, 50)."
        )
    reached = np.searchsorted(times, rows.time, side="right")  # number of event times at which each row was at risk
    stayed = reached - happens  # number of event times that each row survived
    followed, staying, share = np.zeros(len(times)), np.zeros(len(times)), np.ones(len(times))
    causes = bool(np.any(happens & (rows.ended == OTHER)))
    of_interest = happens & (rows.ended == OF_INTEREST)
    hits = np.zeros(len(times))
    found, start, longest = np.empty(len(ends)), 0, 0
    for k, end in enumerate(ends):
        part = slice(start, end)
        top = _add_to_prefixes(followed, reached[part], weight[part])
        _add_to_prefixes(staying, stayed[part], weight[part])
        np.divide(staying[:top], followed[:top], out=share[:top])
        start, longest = end, max(longest, top)
        if not causes:
            found[k] = 1.0 - np.multiply.reduce(share[:longest])
            continue
        mine = np.flatnonzero(of_interest[part])
        np.add.at(hits, reached[part][mine] - 1, weight[part][mine])
        free = np.cumprod(share[:longest])
        chance = hits[:longest] / followed[:longest]
        found[k] = chance[:1].sum() + np.dot(free[:-1], chance[1:])
    return found


def _add_to_prefixes(sums: Floats, counts: NDArray[np.intp], weight: Floats) -> int:
    """Add each row's weight to its first ``counts`` sums; return how many sums changed."""
    if len(counts) == 1:
        sums[: counts[0]] += weight[0]
        return int(counts[0])
    top = int(counts.max())
    sums[:top] += np.cumsum(np.bincount(counts, weights=weight, minlength=top + 1)[:0:-1])[::-1]
    return top
