"""The estimator of the packages named dcurves: the product limit among the rows acted on, anew at every threshold.

It is not that of one weighted table: true positives may rise with the threshold, and beyond the prevalence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.outcomes._time_to_event import BeyondFollowUpError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.outcomes._time_to_event import TimeToEvent

    Floats = NDArray[np.float64]


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

    Examples
    --------
    >>> import numpy as np
    >>> from stakes import TimeToEvent
    >>> from stakes.outcomes import acted_shares
    >>> outcome = TimeToEvent(event=[1, 0, 1, 0], time=[1, 2, 3, 5], horizon=4)
    >>> acted_shares(outcome, np.array([0.9, 0.3, 0.3, 0.9]))[1].tolist()
    [0.625, 0.25]
    """
    weight = np.ones(len(score)) if outcome.sample_weight is None else outcome.sample_weight
    cuts = np.unique(score[weight > 0.0])
    share, event = np.empty(len(cuts)), np.empty(len(cuts))
    for k, cut in enumerate(cuts):
        acted = (score >= cut) & (weight > 0.0)
        share[k] = weight[acted].sum() / weight.sum()
        try:
            event[k] = outcome.take(acted).prevalence
        except BeyondFollowUpError:
            event[k] = np.nan
    return cuts, share * event, share * (1.0 - event)
