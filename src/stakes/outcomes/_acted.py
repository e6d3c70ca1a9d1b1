"""The estimator of the packages named dcurves: the product limit among the rows acted on, anew at every threshold.

It is not that of one weighted table: true positives may rise with the threshold, and beyond the prevalence. As the
threshold falls rows are acted on one by one, and each changes who is at risk at every time before its own: the product
over the times of events is worked out anew for each distinct score, from sums that are only added to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.outcomes._events import CENSORED, OF_INTEREST, OTHER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.outcomes._events import FollowUp
    from stakes.outcomes._time_to_event import TimeToEvent

    Floats = NDArray[np.float64]

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
    event[_beyond(rows, outcome.horizon)[ends - 1]] = np.nan
    return falling[ends - 1][::-1], (share * event)[::-1], (share * (1.0 - event))[::-1]


def _beyond(rows: FollowUp, horizon: float) -> NDArray[np.bool_]:
    """Whether the longest follow-up among the first rows ended by censoring, before the horizon."""
    last = np.maximum.accumulate(rows.time)
    censored = np.maximum.accumulate(np.where(rows.ended == CENSORED, rows.time, -1.0))
    return (censored == last) & (last < horizon)


def _event_rates(rows: FollowUp, weight: Floats, horizon: float, ends: NDArray[np.intp]) -> Floats:
    """Share with the event of interest by the horizon among the first rows, at each number of them."""
    happens = (rows.ended != CENSORED) & (rows.time <= horizon)
    times = np.unique(rows.time[happens])
    if len(ends) * len(times) > MOST_WORK:
        raise ValueError(
            f'censoring="acted" works the product limit over {len(times):,} times of events out anew at each of '
            f"{len(ends):,} distinct scores: too many. Pass thresholds=, such as numpy.linspace(0.01, 0.5, 50)."
        )
    reached = np.searchsorted(times, rows.time, side="right")  # how many times of events each row was at risk at
    stayed = reached - happens  # and lived through
    followed, staying, share = np.zeros(len(times)), np.zeros(len(times)), np.ones(len(times))
    causes = bool(np.any(happens & (rows.ended == OTHER)))
    of_interest = happens & (rows.ended == OF_INTEREST)
    hits = np.zeros(len(times))
    found, start, longest = np.empty(len(ends)), 0, 0
    for k, end in enumerate(ends):
        part = slice(start, end)
        top = _add(followed, reached[part], weight[part])
        _add(staying, stayed[part], weight[part])
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


def _add(sums: Floats, counts: NDArray[np.intp], weight: Floats) -> int:
    """Add each row's weight to so many of the first sums, and return how many of them it changed."""
    if len(counts) == 1:
        sums[: counts[0]] += weight[0]
        return int(counts[0])
    top = int(counts.max())
    sums[:top] += np.cumsum(np.bincount(counts, weights=weight, minlength=top + 1)[:0:-1])[::-1]
    return top
