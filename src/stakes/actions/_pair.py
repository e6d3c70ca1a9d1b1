"""The two thresholds that cost least on labelled rows: wait below the lower, act from the upper on, defer in between.

The cost of a pair of boundaries i <= j in the sorted levels is U(i) + V(j), so the best i for every j is a running
minimum of U: over all levels below j, or over a window of them where a capacity limits what lies between.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.actions._zone import DEFERRING, between, between_expression
from stakes.core.exact import rows_within
from stakes.core.expressions import is_expression
from stakes.core.inputs import evaluation_data
from stakes.core.rules import DecidesByScore
from stakes.core.validation import check_scores, check_unit
from stakes.costs import as_deferral
from stakes.shown.entries import Entries
from stakes.shown.tabular import Tabular, json_ready
from stakes.shown.words import percent

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.actions._zone import MissingOrDefer
    from stakes.core.score_table import ScoreTable
    from stakes.costs import Deferral

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

_FORMAT = "stakes-deferral-1"


@dataclass(frozen=True, repr=False)
class DeferralPair(DecidesByScore, Tabular):
    """Two thresholds and what they cost on the rows that they were fitted to.

    Parameters
    ----------
    low, high : float
        Do not act below ``low``, defer from there on, act from ``high`` on; infinite above every score.
    cost : float
        Per decision on these rows, which is too low for others.
    share : float
        Share of the rows deferred.
    unique : bool
        Whether no other pair of levels costs as little and defers as few.

    Examples
    --------
    >>> from stakes.actions import fit_deferral
    >>> pair = fit_deferral([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8], threshold=0.5, deferral=0.1)
    >>> pair.predict([0.1, 0.5, 0.9]).tolist()  # wait, defer, act
    [0, -1, 1]
    """

    _choices = DEFERRING

    low: float
    high: float
    cost: float
    share: float
    unique: bool

    def predict(self, y_prob: ArrayLike, *, missing: MissingOrDefer = "refuse") -> NDArray[np.int8]:
        """Decide by the pair.

        Parameters
        ----------
        y_prob : array_like of shape (n,)
            Scores. An expression of narwhals, polars, SQL (:func:`stakes.tables.sql_column`) or ONNX gives an
            expression.
        missing : {"refuse", "act", "wait", "defer"}, default "refuse"
            Raise where a score is missing (nan), or decide so there; an expression is NULL where this would raise.

        Returns
        -------
        ndarray of shape (n,)
            1 to act, 0 not to, -1 to defer.

        Raises
        ------
        ValueError
            For scores outside [0, 1], and missing ones unless ``missing`` says otherwise.
        """
        found = self._predicted("y_prob", y_prob, missing)
        return found if is_expression(found) else found.astype(np.int8)

    def _decide(self, score: Floats) -> NDArray[np.int8]:
        return between(check_scores(score, "y_prob"), self.low, self.high)

    def _expression(self, score: Any, missing: str) -> Any:
        return between_expression(score, self.low, self.high, missing)

    def to_json(self) -> str:
        """Return the pair as JSON that :meth:`from_json` reads.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes.actions import DeferralPair
        >>> DeferralPair.from_json(DeferralPair(0.2, 0.6, 0.05, 0.4, unique=True).to_json()).low
        0.2
        """
        return json.dumps(json_ready({"format": _FORMAT, **vars(self)}), indent=1)

    @classmethod
    def from_json(cls, text: str) -> DeferralPair:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON, which may come from anywhere.

        Returns
        -------
        DeferralPair

        Raises
        ------
        ValueError
            For another format, or a damaged text, naming the first entry that is wrong.

        Examples
        --------
        >>> from stakes.actions import DeferralPair
        >>> DeferralPair.from_json("{}")
        Traceback (most recent call last):
        ...
        ValueError: text must be a pair of thresholds of format 'stakes-deferral-1', got format None.
        """
        content = Entries.read(text, "pair of thresholds", _FORMAT)
        low, high = (content.number(name, infinite=True) for name in ("low", "high"))
        cost, share = content.number("cost"), content.number("share")
        if low > high:
            raise content.broken("low", "at most high")
        if not (0.0 <= cost < math.inf and 0.0 <= share <= 1.0):
            raise content.broken("share", "in [0, 1], and cost a number >= 0")
        return cls(low, high, cost, share, content.flag("unique"))

    def _records(self) -> list[dict[str, Any]]:
        return [vars(self)]

    def __repr__(self) -> str:
        where = f"defer from {self.low:.4g}, act from {self.high:.4g}"
        return f"DeferralPair({where}: cost {self.cost:.4g} here, {percent(self.share)} deferred)"


def fit_deferral(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    threshold: float,
    deferral: Deferral | float,
    capacity: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> DeferralPair:
    """Find the two thresholds with the lowest cost on labelled rows.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class; its calibration does not matter, only its order.
    threshold : float
        The cost ratio c.
    deferral : Deferral or float
        What deferring costs, or its fee alone.
    capacity : float, optional
        Largest share of the rows that may be deferred, in [0, 1]; rows of one score are deferred together.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    DeferralPair
        Among pairs of equal cost the one that defers fewest, and then acts on most.

    Raises
    ------
    ValueError
        For invalid data, threshold, fee or capacity.

    Notes
    -----
    Without a capacity this is Chow's rule on the isotonic recalibration of the scores, at every price. The cost is
    that of the rows fitted to: in a simulation with 200 rows the pair cost a fifth more on others.

    Examples
    --------
    >>> from stakes.actions import fit_deferral
    >>> fit_deferral([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8], threshold=0.5, deferral=0.1)
    DeferralPair(defer from 0.4, act from 0.8: cost 0.05 here, 50% deferred)
    """
    c = check_unit(threshold, "threshold")
    cap = None if capacity is None else check_unit(capacity, "capacity")
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    return best_pair(data.table, c, as_deferral(deferral), cap)


def best_pair(table: ScoreTable, c: float, deferral: Deferral, capacity: float | None = None) -> DeferralPair:
    """Minimise the cost over all pairs of levels of a table."""
    a, b = deferral.false_positive_rate, deferral.false_negative_rate
    n0, n1 = table.negatives, table.positives
    fee = min(deferral.fee, 2.0)  # no mistake costs more than 1; a larger fee would swamp the sums
    deferred = _from_zero(fee * (n0 + n1) + a * c * n0 + b * (1.0 - c) * n1)
    below = _from_zero((1.0 - c) * n1) - deferred
    above = deferred + c * np.append(np.cumsum(n0[::-1])[::-1], 0.0)
    mass = _from_zero(n0 + n1)
    if capacity is None:
        start = _running_argmin(below)
    else:
        first = np.searchsorted(mass, mass - rows_within(capacity, table.total), side="left")
        start = _window_argmin(below, first)
    cost, between_ = below[start] + above, mass - mass[start]
    equal = np.flatnonzero(cost == cost.min())
    fewest = equal[between_[equal] == between_[equal].min()]
    stop = int(fewest[0])
    edges = np.append(table.scores, np.inf)
    return DeferralPair(
        low=float(edges[start[stop]]),
        high=float(edges[stop]),
        cost=float(cost[stop] / table.total),
        share=float(between_[stop] / table.total),
        unique=len(fewest) == 1,
    )


def _from_zero(parts: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(parts)])


def _running_argmin(values: Floats) -> Integers:
    """Last index of the smallest value up to each place."""
    smallest = values == np.minimum.accumulate(values)
    return np.maximum.accumulate(np.where(smallest, np.arange(len(values)), 0))


def _window_argmin(values: Floats, first: Integers) -> Integers:
    """Last index of the smallest value from ``first`` to each place: the smaller of two windows of a power of two."""
    last = np.arange(len(values))
    level = np.frexp(last - first + 1.0)[1] - 1
    found, place = last.copy(), last.copy()  # place[i]: of the smallest among the 2 ** k values from i on
    for k in range(int(level.max()) + 1):
        if k:
            left, right = place[: -(1 << (k - 1))], place[1 << (k - 1) :]
            place = np.where(values[right] <= values[left], right, left)
        mine = np.flatnonzero(level == k)
        left, right = place[first[mine]], place[last[mine] - (1 << k) + 1]
        found[mine] = np.where(values[right] <= values[left], right, left)
    return found
