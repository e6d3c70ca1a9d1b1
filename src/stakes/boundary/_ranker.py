"""A learned order of score and uncertainty: logistic regression on [z, z^2, v, v z, v^2].

z is the log-odds of the score (or the standardised score where it is no probability), v the rank of the uncertainty, in
steps from one quantile to the next, so that at each of them the order is one of the score alone.
The order only decides where to look: no guarantee rests on the model being right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.logistic import fit_logistic, sigmoid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._options import Floats, Ints
    from stakes.boundary._rows import Bools
    from stakes.shown.entries import Entries

N_COEFFICIENTS = 6
_EDGE = 1e-6  # keeps the log-odds of scores 0 and 1 finite, and their order
_KNOTS = 101
_RIDGE = 1e-3


@dataclass(frozen=True)
class Ranker:
    """Coefficients, and how score and uncertainty become z and v."""

    coefficients: Floats
    log_odds: bool
    centre: float
    scale: float
    knots: Floats
    ranks: Floats

    @classmethod
    def fit(cls, y: Bools, score: Floats, uncertainty: Floats, weight: Ints | None = None) -> Ranker:
        """Maximise the likelihood with a slight ridge, by Newton's method; a row of weight k counts as k rows."""
        log_odds = bool(score.min() >= 0.0 and score.max() <= 1.0)
        z = _log_odds(score) if log_odds else score
        centre = float(np.average(z, weights=weight))
        spread = float(np.sqrt(np.average((z - centre) ** 2, weights=weight)))
        knots, ranks = _rank_scale(uncertainty, weight)
        model = cls(np.zeros(N_COEFFICIENTS), log_odds, centre, spread if spread > 0.0 else 1.0, knots, ranks)
        design = np.column_stack(model._columns(score, uncertainty))
        count = np.ones(len(y)) if weight is None else weight.astype(np.float64)
        return replace(model, coefficients=fit_logistic(design, count * y, count * ~y, ridge=_RIDGE).coefficients)

    def rank(self, score: Floats, uncertainty: Floats) -> Floats:
        """Estimated probability of a positive."""
        # column by column: a matrix product may round a row differently in another batch, and ties meet thresholds
        eta = sum(c * column for c, column in zip(self.coefficients, self._columns(score, uncertainty), strict=True))
        return np.asarray(sigmoid(eta))

    def level(self, uncertainty: Floats) -> NDArray[np.intp]:
        """Place of the first quantile that is not below; the last beyond it."""
        return np.minimum(np.searchsorted(self.knots, uncertainty, side="left"), len(self.knots) - 1)

    def score_at(self, z: Floats) -> Floats:
        """Score with this z, to rounding."""
        place = self.centre + z * self.scale
        if not self.log_odds:
            return place
        return np.asarray(sigmoid(place) * (1.0 + 2.0 * _EDGE) - _EDGE)

    def _columns(self, score: Floats, uncertainty: Floats) -> list[Floats]:
        z = ((_log_odds(score) if self.log_odds else score) - self.centre) / self.scale
        v = self.ranks[self.level(uncertainty)]
        return [np.ones_like(z), z, z * z, v, v * z, v * v]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "coefficients": self.coefficients.tolist(),
            "log_odds": self.log_odds,
            "centre": self.centre,
            "scale": self.scale,
            "knots": self.knots.tolist(),
            "ranks": self.ranks.tolist(),
        }

    @classmethod
    def read(cls, described: Entries) -> Ranker:
        """Read what :meth:`to_dict` wrote, whose entries may come from anywhere."""
        arrays = {name: described.numbers(name) for name in ("coefficients", "knots", "ranks")}
        if len(arrays["coefficients"]) != N_COEFFICIENTS:
            raise described.broken("coefficients", f"{N_COEFFICIENTS} numbers")
        if not len(arrays["knots"]) or np.any(np.diff(arrays["knots"]) <= 0.0):
            raise described.broken("knots", "one or more numbers, strictly increasing")
        if len(arrays["ranks"]) != len(arrays["knots"]):
            raise described.broken("ranks", f"{len(arrays['knots'])} numbers, as knots are")
        centre, scale = described.number("centre"), described.number("scale")
        if scale <= 0.0:
            raise described.broken("scale", f"above 0, got {scale}")
        return cls(log_odds=described.flag("log_odds"), centre=centre, scale=scale, **arrays)


def _log_odds(score: Floats) -> Floats:
    """Log-odds of scores in [0, 1], the ends kept finite; new scores beyond the ends count as the ends."""
    share = np.clip(score, 0.0, 1.0)
    return np.asarray(np.log((share + _EDGE) / (1.0 - share + _EDGE)))


def _rank_scale(uncertainty: Floats, weight: Ints | None) -> tuple[Floats, Floats]:
    """Quantiles of the uncertainty and their relative midranks."""
    order = np.argsort(uncertainty, kind="stable")
    ordered = uncertainty[order]
    below = np.arange(len(order) + 1) if weight is None else np.r_[0, np.cumsum(weight[order])]
    places = np.linspace(0, below[-1] - 1, _KNOTS).astype(np.int64)
    knots = np.unique(ordered[np.searchsorted(below[1:], places, side="right")])
    around = below[np.searchsorted(ordered, knots, "left")] + below[np.searchsorted(ordered, knots, "right")]
    return knots, around / (2 * below[-1])
