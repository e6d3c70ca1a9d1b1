"""Whether one model costs less than another at every cost ratio of a range, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.score_table import ScoreTable
from stakes.core.validation import check_kind, check_names, check_number
from stakes.curves._decision import error_pieces
from stakes.curves._envelope import TIE, lower_envelope
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.regret import Rule

    Floats = NDArray[np.float64]
    Stretch = tuple[float, float, str]

EQUAL = "equal"
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Dominance(Tabular):
    """Where each of two models has the lower regret on these rows, over a whole range of cost ratios.

    Parameters
    ----------
    first, second : str
        Names of the models.
    low, high : float
        The range, both ends included.
    stretches : tuple of (float, float, str)
        Cost ratios from low (exclusive, but for the first) to high (inclusive), and the better model or "equal".

    Examples
    --------
    >>> from stakes import ScoreTable
    >>> from stakes.inference import dominance
    >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
    >>> b = ScoreTable.from_predictions([0, 1], [0.6, 0.8])
    >>> print(dominance(a, b, low=0.1, high=0.3))
    a costs no more than b at every cost ratio from 0.1 to 0.3, and less at some
    """

    first: str
    second: str
    low: float
    high: float
    stretches: tuple[Stretch, ...]

    @property
    def winner(self) -> str:
        """The model whose regret is never higher and somewhere lower; "equal" for equal curves, "" where they cross."""
        better = {name for _, _, name in self.stretches} - {EQUAL}
        return EQUAL if not better else better.pop() if len(better) == 1 else ""

    def share(self, name: str) -> float:
        """Share of the range in which a model, or "equal", has it.

        Parameters
        ----------
        name : str
            A model, or "equal".

        Returns
        -------
        float

        Examples
        --------
        >>> from stakes import ScoreTable
        >>> from stakes.inference import dominance
        >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
        >>> b = ScoreTable.from_predictions([0, 1], [0.6, 0.8])
        >>> dominance(a, b, low=0.1, high=0.3).share("a").__round__(6)
        0.5
        """
        if self.low == self.high:
            return float(self.stretches[0][2] == name)
        held = sum(high - low for low, high, better in self.stretches if better == name)
        return held / (self.high - self.low)

    def _records(self) -> list[dict[str, Any]]:
        return [{"low": low, "high": high, "better": better} for low, high, better in self.stretches]

    def __str__(self) -> str:
        one = self.low == self.high
        where = f"at the cost ratio {self.low:g}" if one else f"at every cost ratio from {self.low:g} to {self.high:g}"
        if self.winner == EQUAL:
            return f"{self.first} and {self.second} cost the same {where}"
        if self.winner:
            other = self.second if self.winner == self.first else self.first
            how = "less" if one else "no more"
            return f"{self.winner} costs {how} than {other} {where}{'' if one else ', and less at some'}"
        shares = [f"{name} is better in {100 * self.share(name):.3g}%" for name in (self.first, self.second)]
        return f"neither is better {where}: {', '.join(shares)} of the range"


def dominance(
    first: ScoreTable,
    second: ScoreTable,
    *,
    low: float = 0.0,
    high: float = 1.0,
    rule: Rule = "score",
    names: tuple[str, str] = ("a", "b"),
) -> Dominance:
    """Say at which cost ratios of a range each of two models has the lower regret on these rows.

    Parameters
    ----------
    first, second : ScoreTable
        Two models over the same rows.
    low, high : float, default 0 and 1
        The range, 0 <= low <= high <= 1, both ends included.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions.
    names : tuple of str, default ("a", "b")
        What to call the models.

    Returns
    -------
    Dominance
        A model that dominates is better under every cost distribution on the range. A statement on these rows: whether
        it holds beyond chance is what :func:`difference_band` says.

    Raises
    ------
    ValueError
        For bounds out of order or an invalid rule.

    Notes
    -----
    Both curves are straight between the scores, so they are compared at every score from both sides.

    Examples
    --------
    >>> from stakes import ScoreTable
    >>> from stakes.inference import dominance
    >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
    >>> b = ScoreTable.from_predictions([0, 1], [0.6, 0.8])
    >>> dominance(a, b).stretches[:2]
    ((0.0, 0.2, 'equal'), (0.2, 0.4, 'a'))
    """
    from stakes.core.regret import check_rule

    for argument, table in (("first", first), ("second", second)):
        check_kind(table, argument, ScoreTable)
    names = check_names(names)
    low, high = check_number(low, "low"), check_number(high, "high")
    if not 0.0 <= low <= high <= 1.0:
        raise ValueError(f"low and high must satisfy 0 <= low <= high <= 1, got {low} and {high}.")
    pieces = [error_pieces(table, check_rule(rule)) for table in (first, second)]
    # equal curves go to the one named first, so each is strictly better where it wins though named second
    knots, beaten = lower_envelope(pieces, low, high)
    others, won = lower_envelope(pieces[::-1], low, high)
    edges = np.unique(np.concatenate([knots, others, [low, high]]))
    upper = edges[1:]
    behind = beaten[np.searchsorted(knots, upper, side="left") - 1] == 1
    ahead = won[np.searchsorted(others, upper, side="left") - 1] == 1
    better = np.where(ahead, 1, np.where(behind, 2, 0))
    # a crossing that is computed twice, or beside a knot, leaves a stretch of rounding
    rounding = upper - edges[:-1] <= _ROUNDING
    inside = (edges[:-1] >= low) & (upper <= high) & ~rounding
    # the curves are continuous from the left: the lower end itself belongs to the stretch before
    point = [_height(*curve, low) for curve in pieces]
    gap = point[0] - point[1]
    at_low = 0 if abs(gap) <= TIE * max(point) else 1 if gap < 0.0 else 2
    labels = (EQUAL, *names)
    ends = np.append(low, edges[:-1][inside]), np.append(low, upper[inside])
    ends[1][-1] = high  # also where the last stretch was rounding
    stretches = _joined(*ends, np.append(at_low, better[inside]))
    if len(stretches) > 1 and stretches[0][1] == low and stretches[0][2] == 0:
        stretches = stretches[1:]  # a single point where the two are equal says nothing
    return Dominance(*names, low, high, tuple((a, b, labels[k]) for a, b, k in stretches))


def _height(knots: Floats, alarms: Floats, misses: Floats, c: float) -> float:
    """Regret at one cost ratio."""
    piece = max(int(np.searchsorted(knots, c, side="left")) - 1, 0)
    return c * float(alarms[piece]) + (1.0 - c) * float(misses[piece])


def _joined(low: Floats, high: Floats, better: NDArray[np.intp]) -> list[tuple[float, float, int]]:
    """Neighbouring stretches of the same verdict become one."""
    new = np.flatnonzero(np.append(True, better[1:] != better[:-1]))
    return list(zip(low[new].tolist(), np.append(low[new][1:], high[-1]).tolist(), better[new].tolist(), strict=True))
