"""Which rows are acted on, not acted on or deferred, at the score's face value: Chow's rule, and under a capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from stakes.core.exact import rows_within
from stakes.core.expressions import check_missing, decided, is_expression, reaching
from stakes.core.onnx import Onnx
from stakes.core.rules import decide_present
from stakes.core.score_table import ScoreTable
from stakes.core.validation import BinarySample, check_scores, check_unit, to_array, to_floats
from stakes.costs import as_deferral

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.costs import Deferral

    Floats = NDArray[np.float64]
    Actions = NDArray[np.int8]

ACT, WAIT, DEFER = 1, 0, -1
MissingOrDefer = Literal["refuse", "act", "wait", "defer"]
DEFERRING = get_args(MissingOrDefer)


def deferral_zone(threshold: float, deferral: Deferral | float) -> tuple[float, float] | None:
    """Return the probabilities between which a case is left to someone else.

    Parameters
    ----------
    threshold : float
        The cost ratio c, in [0, 1]: without the option, act from this probability on.
    deferral : Deferral or float
        What deferring costs, or its fee alone.

    Returns
    -------
    tuple of float or None
        Defer where low < p < high, act from high on; None where deferring never pays.

    Raises
    ------
    ValueError
        If the threshold lies outside [0, 1], or for an invalid fee.

    Notes
    -----
    Chow (1970), doi:10.1109/TIT.1970.1054406. The zone holds the threshold, and is centred on it only at 1/2.

    Examples
    --------
    >>> from stakes.actions import deferral_zone
    >>> low, high = deferral_zone(0.2, 0.05)
    >>> round(low, 12), round(high, 12)
    (0.0625, 0.75)
    >>> deferral_zone(0.2, 0.16) is None
    True
    """
    low, high = as_deferral(deferral).zone(check_unit(threshold, "threshold"))
    return None if low == high else (float(low), float(high))


def apply_deferral(
    y_prob: ArrayLike,
    *,
    threshold: float,
    deferral: Deferral | float,
    capacity: float | None = None,
    missing: MissingOrDefer = "refuse",
) -> Actions:
    """Decide about rows whose labels are not known: act, do not act, or defer.

    Parameters
    ----------
    y_prob : array_like of shape (n,)
        Calibrated probabilities of the positive class. An expression of narwhals, polars, SQL
        (:func:`stakes.tables.sql_column`) or ONNX gives an expression.
    threshold : float
        The cost ratio c, in [0, 1].
    deferral : Deferral or float
        What deferring costs, or its fee alone.
    capacity : float, optional
        Largest share of these rows deferred, in [0, 1]: those that gain most by it, rows of one score together. Not
        with an expression, which sees one row at a time, and not with missing scores.
    missing : {"refuse", "act", "wait", "defer"}, default "refuse"
        Raise where a score is missing (nan), or decide so there; an expression is NULL where this would raise.

    Returns
    -------
    ndarray of shape (n,)
        1 to act, 0 not to, -1 to defer.

    Raises
    ------
    ValueError
        For scores outside [0, 1], missing ones unless ``missing`` says otherwise, or an invalid threshold, fee or
        capacity.

    Examples
    --------
    >>> from stakes.actions import apply_deferral
    >>> apply_deferral([0.05, 0.1, 0.3, 0.8], threshold=0.2, deferral=0.05).tolist()
    [0, -1, -1, 1]
    """
    c, option = check_unit(threshold, "threshold"), as_deferral(deferral)
    check_missing(missing, DEFERRING)
    if (is_expression(y_prob) or missing != "refuse") and capacity is not None:
        raise ValueError(
            f'capacity must be None for an expression, and where missing= is not "refuse", got {capacity}: it is a '
            "share of all rows, but an expression sees one, and a row without a score has no place in their order."
        )
    if is_expression(y_prob):
        return between_expression(y_prob, *_decided_at(c, option), missing)
    if capacity is None:
        columns = {"y_prob": to_floats(to_array(y_prob, "y_prob"), "y_prob")}
        found = decide_present(
            columns, missing, lambda y_prob: face_actions(check_scores(y_prob), c, option), DEFERRING
        )
        return found.astype(np.int8)
    score = check_scores(to_array(y_prob, "y_prob"))
    table = ScoreTable.from_sample(BinarySample(np.zeros(len(score), dtype=bool), score, None))
    return capped_actions(score, c, option, capacity_price(table, c, option, check_unit(capacity, "capacity")))


def face_actions(score: Floats, c: float, deferral: Deferral) -> Actions:
    """Decide each row by its score; ties decide rather than defer, and act rather than wait."""
    return between(score, *_decided_at(c, deferral))


def _decided_at(c: float, deferral: Deferral) -> tuple[float, float]:
    """Wait below the first, act from the second on, defer in between."""
    zone = deferral_zone(c, deferral)
    return (c, c) if zone is None else (float(np.nextafter(zone[0], 2.0)), zone[1])


def between(score: Floats, low: float, high: float) -> Actions:
    """Wait below ``low``, act from ``high`` on, defer in between."""
    return np.where(score >= high, ACT, np.where(score < low, WAIT, DEFER)).astype(np.int8)


def between_expression(score: Any, low: float, high: float, missing: str) -> Any:
    """The same as an expression of an expression; doubles in ONNX, where whole numbers leave none for no decision."""
    kind = float if isinstance(score, Onnx) else int
    act, wait, defer = map(kind, (ACT, WAIT, DEFER))
    found = reaching(score, high, act, reaching(score, low, defer, wait))
    return decided(found, [score], missing, within=(0.0, 1.0), kind=kind)


def gain(score: Floats, c: float, deferral: Deferral) -> Floats:
    """What deferring a row is expected to save."""
    own = np.minimum(c * (1.0 - score), (1.0 - c) * score)
    a, b = deferral.false_positive_rate, deferral.false_negative_rate
    return np.asarray(own - (deferral.fee + (1.0 - score) * a * c + score * b * (1.0 - c)))


def capacity_price(table: ScoreTable, c: float, deferral: Deferral, capacity: float) -> float:
    """Gain above which rows are deferred: as many whole levels as the capacity holds, those of largest gain first.

    It is what one more unit of capacity would be worth, and by so much the fee may as well be higher.
    """
    gains = gain(table.scores, c, deferral)
    distinct, place = np.unique(-gains[gains > 0.0], return_inverse=True)
    weight = np.bincount(place.ravel(), (table.positives + table.negatives)[gains > 0.0], len(distinct))
    fits = np.cumsum(weight) <= rows_within(capacity, table.total)
    return 0.0 if fits.all() else float(-distinct[int(np.argmin(fits))])


def capped_actions(score: Floats, c: float, deferral: Deferral, price: float) -> Actions:
    """Decide each row by its score where only rows with a gain above the price are deferred."""
    return np.where(gain(score, c, deferral) > price, DEFER, np.where(score >= c, ACT, WAIT)).astype(np.int8)


def action_costs(y: NDArray[np.bool_], actions: Actions, c: float, deferral: Deferral) -> Floats:
    """Cost of each row under the action taken."""
    a, b = deferral.false_positive_rate, deferral.false_negative_rate
    deferred = deferral.fee + np.where(y, b * (1.0 - c), a * c)
    own = np.where(actions == ACT, np.where(y, 0.0, c), np.where(y, 1.0 - c, 0.0))
    return np.where(actions == DEFER, deferred, own)
