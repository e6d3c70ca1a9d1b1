"""Maximum profit measures as cost distributions: the profit of the best threshold, what acting brings being unsure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.core.validation import check_number
from stakes.costs._density import Density
from stakes.costs._discrete import Fixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from stakes.costs._base import CostDistribution

    Floats = NDArray[np.float64]


class Profit(NamedTuple):
    """The maximum profit is ``factor * (prevalence * offset - integral of optimal regret over costs)``.

    Parameters
    ----------
    costs : CostDistribution
        How much each cost ratio counts.
    offset : float
        What acting on a positive brings on average, where it brings anything.
    factor : float
        From there to money.

    Examples
    --------
    >>> from stakes import costs, expected_regret
    >>> y_true, y_prob = [0, 1, 0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9]
    >>> law, offset, factor = costs.churn_profit()
    >>> regret = expected_regret(y_true, y_prob, costs=law, rule="optimal", scale="integral")
    >>> round(factor * (0.5 * offset - regret), 6)
    23.875593
    """

    costs: CostDistribution
    offset: float
    factor: float


def churn_profit(
    *, a: float = 6.0, b: float = 14.0, clv: float = 200.0, incentive: float = 10.0, contact: float = 1.0
) -> Profit:
    """Expected maximum profit of a retention campaign: contact those likely to leave, some of whom accept an offer.

    Parameters
    ----------
    a, b : float, default 6 and 14
        Beta distribution of the share that accepts.
    clv : float, default 200
        Lifetime value of a customer.
    incentive, contact : float, default 10 and 1
        What the offer and contacting someone cost.

    Returns
    -------
    Profit
        With ``rule="optimal"``; customers' own values are the ``sample_weight`` where costs are fractions of them.

    Raises
    ------
    ValueError
        For values that are not positive, or an offer that costs as much as a customer is worth.

    Notes
    -----
    Verbraken, Verbeke and Baesens (2013), doi:10.1109/TKDE.2012.50.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.churn_profit().costs.low, 3)
    0.055
    """
    from scipy.special import betainc, betaln

    given = {"a": a, "b": b, "clv": clv, "incentive": incentive, "contact": contact}
    a, b, clv, incentive, contact = (check_number(value, name) for name, value in given.items())
    if not (a > 0.0 and b > 0.0 and clv > 0.0 and incentive >= 0.0 and contact >= 0.0 and incentive + contact > 0.0):
        raise ValueError(
            "a, b, clv and the cost of an offer, incentive + contact, must be > 0, got "
            f"{(a, b, clv, incentive, contact)}."
        )
    if incentive + contact >= clv:
        raise ValueError(f"incentive + contact must be less than clv, got {incentive + contact} and {clv}.")
    delta, phi = incentive / clv, contact / clv
    low, scale = delta + phi, 1.0 - delta

    def density(c: Floats) -> Floats:
        share = np.clip((low / c - delta) / scale, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            logs = (a - 1.0) * np.log(share) + (b - 1.0) * np.log1p(-share) - betaln(a, b)
        return np.asarray(low * low / (c**3 * scale) * np.exp(logs))

    least = phi / scale  # share that must accept for contacting to pay
    gained = a / (a + b) * (1.0 - betainc(a + 1.0, b, least))
    offset = scale * gained - phi * (1.0 - betainc(a, b, least))
    return Profit(_law(density, low, given), float(offset), float(clv))


def credit_profit(*, p_no_loss: float = 0.55, p_full_loss: float = 0.1, roi: float = 0.2644) -> Profit:
    """Expected maximum profit of refusing loans, where a defaulter loses nothing, all, or some share of the loan.

    Parameters
    ----------
    p_no_loss, p_full_loss : float, default 0.55 and 0.1
        Probability that a default loses nothing, and that it loses all; otherwise the share is uniform.
    roi : float, default 0.2644
        Return on a loan that is paid back, as a share of it.

    Returns
    -------
    Profit
        Per unit lent, with ``rule="optimal"``; the loans are the ``sample_weight``.

    Raises
    ------
    ValueError
        For probabilities that do not fit together, or a return that is not positive.

    Notes
    -----
    Verbraken, Bravo, Weber and Baesens (2014), doi:10.1016/j.ejor.2014.04.001.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.credit_profit().offset, 3)
    0.275
    """
    given = {"p_no_loss": p_no_loss, "p_full_loss": p_full_loss, "roi": roi}
    p_no_loss, p_full_loss, roi = (check_number(value, name) for name, value in given.items())
    rest = 1.0 - p_no_loss - p_full_loss
    if not (min(p_no_loss, p_full_loss) >= 0.0 and rest >= -1e-12 and rest + p_full_loss > 0.0 and 0.0 < roi < np.inf):
        raise ValueError(
            f"p_no_loss and p_full_loss must be shares that leave a loss, and roi > 0, got "
            f"{(p_no_loss, p_full_loss, roi)}."
        )
    low = roi / (1.0 + roi)
    parts: list[CostDistribution] = []
    if rest > 1e-12:
        parts.append(_law(lambda c: rest * roi**2 / c**3, low, given))
    if p_full_loss > 0.0:
        parts.append(Fixed(low) * (p_full_loss * (1.0 + roi)))
    law = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return Profit(law, p_full_loss + 0.5 * max(rest, 0.0), 1.0)


def _law(density: Callable[[Floats], Floats], low: float, given: dict[str, Any]) -> Density:
    """The density from a cost ratio on; where floats cannot hold it, the error names what it is made of."""
    try:
        return Density(density, low, 1.0)
    except ValueError as error:
        raise ValueError(f"{', '.join(given)} must make a density that floats can hold, got {given}: {error}") from None
