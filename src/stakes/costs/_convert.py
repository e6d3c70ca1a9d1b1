"""Cost ratios from the ways in which people state what a mistake costs."""

from __future__ import annotations

import math

from stakes.core.validation import check_number


def from_odds(odds: str | float) -> float:
    """Turn odds of false-positive to false-negative cost into a cost ratio: "1:50" is 1/51.

    Parameters
    ----------
    odds : str or float
        "1:50" or "1/50" (one missed positive is as bad as 50 false alarms), or the quotient 0.02.

    Returns
    -------
    float
        The cost ratio odds / (1 + odds), in [0, 1].

    Raises
    ------
    ValueError
        If the odds are not two non-negative numbers (or one), not both zero.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.from_odds("1:50") == 1 / 51
    True
    """
    try:
        parts = (
            [float(p) for p in odds.replace("/", ":").split(":")]
            if isinstance(odds, str)
            else [check_number(odds, "odds")]
        )
    except ValueError:
        raise ValueError(f'odds must look like "1:50", got {odds!r}.') from None
    for_acting, against = parts if len(parts) == 2 else (parts[0], 1.0)
    good = len(parts) <= 2 and for_acting >= 0.0 and against >= 0.0
    if not (good and 0.0 < for_acting + against < math.inf):
        raise ValueError(f'odds must be two non-negative finite numbers such as "1:50", not both zero, got {odds!r}.')
    return for_acting / (for_acting + against)


def from_false_alarms_per_miss(false_alarms: float) -> float:
    """Cost ratio at which one missed positive is as bad as this many false alarms: 50 gives 1/51.

    Parameters
    ----------
    false_alarms : float
        False alarms that weigh as much as one miss, >= 0.

    Returns
    -------
    float
        1 / (1 + false_alarms), in (0, 1].

    Raises
    ------
    ValueError
        If the number is negative or not finite.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.from_false_alarms_per_miss(9)
    0.1
    """
    number = check_number(false_alarms, "false_alarms")
    if not 0.0 <= number < math.inf:
        raise ValueError(f"false_alarms must be a finite number >= 0, got {false_alarms}.")
    return 1.0 / (1.0 + number)


def from_harm_to_benefit(ratio: float) -> float:
    """Cost ratio from the ratio of an intervention's harm to its benefit: h gives h / (1 + h).

    Parameters
    ----------
    ratio : float
        Harm of acting on a negative divided by benefit of acting on a positive, >= 0.

    Returns
    -------
    float
        The cost ratio, in [0, 1).

    Raises
    ------
    ValueError
        If the ratio is negative or not finite.

    Examples
    --------
    >>> from stakes import costs
    >>> costs.from_harm_to_benefit(0.25)
    0.2
    """
    number = check_number(ratio, "ratio")
    if not 0.0 <= number < math.inf:
        raise ValueError(f"ratio must be a finite number >= 0, got {ratio}.")
    return number / (1.0 + number)


def from_cost_matrix(tn: float, fp: float, fn: float, tp: float) -> float:
    """Cost ratio (best threshold) of a 2 x 2 cost matrix.

    Parameters
    ----------
    tn, fp, fn, tp : float
        Cost of a true negative, false positive, false negative and true positive; any finite numbers for which
        mistakes cost more than correct decisions.

    Returns
    -------
    float
        (fp - tn) / ((fp - tn) + (fn - tp)), in (0, 1).

    Raises
    ------
    ValueError
        If fp <= tn or fn <= tp, or a cost is not finite: then one decision is never worse and no threshold is needed.

    Notes
    -----
    C. Elkan, "The Foundations of Cost-Sensitive Learning", IJCAI 2001.

    Examples
    --------
    A missed bad loan costs 5, a refused good one 1.

    >>> from stakes import costs
    >>> round(costs.from_cost_matrix(tn=0, fp=1, fn=5, tp=0), 6)
    0.166667
    """
    given = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
    a, b, c, d = (check_number(value, name) for name, value in given.items())
    if not all(map(math.isfinite, (a, b, c, d))) or not (b > a and c > d):
        raise ValueError(f"costs must be finite with fp > tn and fn > tp, got tn={tn}, fp={fp}, fn={fn}, tp={tp}.")
    return (b - a) / ((b - a) + (c - d))
