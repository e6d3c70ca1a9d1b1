"""A region whose precision is promised: learn where to look on some rows, test it on the others.

Given the rows that it was learned from, a region and the order of testing are fixed, so the true positives among the
selected rows set aside are exactly binomial; testing in a fixed order, stopping at the first failure, certifies a
region that breaks the promise with probability at most delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._ranker import Ranker
from stakes.boundary._rules import RankedRule

if TYPE_CHECKING:
    from numpy.random import Generator

    from stakes.boundary._options import Floats
    from stakes.boundary._rows import Rows

LEARNING_SHARE = 0.2
_CANDIDATES = 40  # up to a quarter of the rows; beyond, where few problems go, at steps of _RATIO
_RATIO = 0.15
_STEPS = 8
_SMALLEST = 4
_LOWEST_Z = -1.0
_POWER_Z = 0.8416212335729143  # of probability 0.8
_FEWEST_TO_LEARN = 5


@dataclass(frozen=True)
class Certificate:
    """With the stated confidence, the precision of the region is at least ``min_precision``.

    Parameters
    ----------
    min_precision : float
        The promise.
    confidence_level : float
        1 - delta: over repetitions, a region that breaks the promise is certified with probability at most delta.
    abstained : bool
        Whether no region could be certified; then nothing is selected.
    tested_rows, selected, true_positives : int
        Rows set aside for the test, and the counts of the region among them (of the first region tried, if abstained).
    lower_bound : float
        Exact (Clopper-Pearson) lower confidence bound of the precision of that region.
    p_value : float
        Of the exact binomial test that the precision is below the promise.
    regions_tested : int
        Length of the fixed sequence up to its end or its first failure.
    rows_needed : int or None
        Rows with which a region would be certified with probability about 0.8, if the learned model is right, or the
        region tried first is as precise as it was seen to be; None where neither reaches the promised precision. Given
        only where ``abstained``.

    Examples
    --------
    >>> from stakes.boundary import Certificate
    >>> Certificate(0.9, 0.95, False, 1000, 200, 190, 0.917, 0.0074, 3, None)
    Certificate(precision >= 0.9 with confidence 0.95: 190 of 200 selected rows positive, lower bound 0.917)
    """

    min_precision: float
    confidence_level: float
    abstained: bool
    tested_rows: int
    selected: int
    true_positives: int
    lower_bound: float
    p_value: float
    regions_tested: int
    rows_needed: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON.

        Returns
        -------
        dict
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Certificate:
        """Rebuild a certificate from plain values.

        Parameters
        ----------
        content : dict
            What :meth:`to_dict` returned.

        Returns
        -------
        Certificate
        """
        return cls(**content)

    def __repr__(self) -> str:
        promise = f"precision >= {self.min_precision:g} with confidence {self.confidence_level:g}"
        if not self.abstained:
            return (
                f"Certificate({promise}: {self.true_positives} of {self.selected} selected rows positive, "
                f"lower bound {self.lower_bound:.4g})"
            )
        need = "no region is predicted to reach it"
        if self.rows_needed is not None:
            need = f"about {self.rows_needed} rows would be needed"
        return f"Certificate({promise}: abstained, {need})"


def certify(
    rows: Rows, min_precision: float, confidence_level: float, rng: Generator
) -> tuple[RankedRule, Certificate, Rows]:
    """Learn an order on a fifth of the rows, certify the deepest region it can on the others, and return those."""
    order = rng.permutation(len(rows))
    n_learn = round(LEARNING_SHARE * len(rows))
    learn, test = rows.take(order[:n_learn]), rows.take(order[n_learn:])
    delta = 1.0 - confidence_level
    if n_learn < _FEWEST_TO_LEARN or not np.any(learn.y):
        needed = _fewest_rows(min_precision, delta) if n_learn < _FEWEST_TO_LEARN and np.any(rows.y) else None
        return RankedRule(_flat(rows), math.inf), _abstention(min_precision, confidence_level, len(test), needed), test
    ranker = Ranker.fit(learn.y, learn.score, learn.uncertainty)
    learned = np.sort(ranker.rank(learn.score, learn.uncertainty))[::-1]
    sizes = candidate_sizes(learned, len(test), min_precision)
    ranked = ranker.rank(test.score, test.uncertainty)
    ranks, inside = np.sort(ranked), ranked[test.y]
    best: tuple[float, int, int, float] | None = None
    first = (0, 0, 1.0, 0)
    tested = 0
    for k in sizes:
        threshold = float(learned[k - 1])
        n = len(ranks) - int(np.searchsorted(ranks, threshold, side="left"))
        tp = int(np.count_nonzero(inside >= threshold))
        p_value = binomial_tail(tp, n, min_precision)
        tested += 1
        first = (n, tp, p_value, tested) if tested == 1 else first
        if p_value > delta:
            break
        best = (threshold, n, tp, p_value)
    if best is None:
        needed = rows_needed(learned, min_precision, delta)
        if needed is not None and needed <= len(rows):  # the learned model was too hopeful: take what was seen
            needed = _rows_for(
                np.array([first[1] / max(first[0], 1)]), np.array([first[0] / len(test)]), min_precision, delta
            )
        certificate = _abstention(min_precision, confidence_level, len(test), needed, first)
        return RankedRule(ranker, math.inf), certificate, test
    threshold, n, tp, p_value = best
    certificate = Certificate(
        min_precision,
        confidence_level,
        abstained=False,
        tested_rows=len(test),
        selected=n,
        true_positives=tp,
        lower_bound=lower_limit(tp, n, delta),
        p_value=p_value,
        regions_tested=tested,
        rows_needed=None,
    )
    return RankedRule(ranker, threshold), certificate, test


def _flat(rows: Rows) -> Ranker:
    """Order by nothing: a handful of rows, or one class, teaches nothing."""
    return Ranker.fit(np.zeros(len(rows), dtype=bool), rows.score, rows.uncertainty)


def _fewest_rows(min_precision: float, delta: float) -> int | None:
    """Rows that any certificate needs: enough to learn from, and as many set aside as pure positives must be."""
    if min_precision >= 1.0:
        return None
    pure = math.log(delta) / math.log(min_precision)
    return math.ceil(max(pure / (1.0 - LEARNING_SHARE), _FEWEST_TO_LEARN / LEARNING_SHARE))


def _abstention(
    min_precision: float,
    confidence_level: float,
    tested_rows: int,
    needed: int | None,
    first: tuple[int, int, float, int] = (0, 0, 1.0, 0),
) -> Certificate:
    n, tp, p_value, tested = first
    return Certificate(
        min_precision,
        confidence_level,
        abstained=True,
        tested_rows=tested_rows,
        selected=n,
        true_positives=tp,
        lower_bound=lower_limit(tp, n, 1.0 - confidence_level),
        p_value=p_value,
        regions_tested=tested,
        rows_needed=needed,
    )


def candidate_sizes(learned: Floats, n_test: int, min_precision: float) -> list[int]:
    """Sizes of the regions to test, smallest first, by what the learned model predicts for the rows set aside.

    The sequence starts where the predicted test statistic is largest and goes on while it stays above -1.
    """
    n = len(learned)
    smallest, quarter = min(_SMALLEST, n), max(n / 4, min(_SMALLEST, n))
    beyond = quarter * np.geomspace(1.0, n / quarter, 1 + math.ceil(math.log(n / quarter) / _RATIO))[1:]
    sizes = np.unique(np.round(np.r_[np.geomspace(smallest, quarter, _CANDIDATES), beyond]).astype(int))
    excess = np.cumsum(learned)[sizes - 1] - min_precision * sizes
    spread = math.sqrt(max(min_precision * (1.0 - min_precision), 1e-12))
    z = excess * math.sqrt(n_test / n) / (spread * np.sqrt(sizes))
    start = int(np.argmax(z))
    kept = [int(sizes[start]), *sizes[start + 1 :][z[start + 1 :] > _LOWEST_Z].tolist()]
    places = np.unique(np.round(np.linspace(0, len(kept) - 1, _STEPS)).astype(int))
    return [kept[place] for place in places]


def binomial_tail(tp: int, n: int, p: float) -> float:
    """Probability of at least tp successes in n trials."""
    from scipy.special import betainc

    return 1.0 if tp == 0 else float(betainc(tp, n - tp + 1, p))


def lower_limit(tp: int, n: int, delta: float) -> float:
    """Exact lower confidence limit of a binomial probability."""
    from scipy.special import betaincinv

    return 0.0 if tp == 0 else float(betaincinv(tp, n - tp + 1, delta))


def rows_needed(learned: Floats, min_precision: float, delta: float) -> int | None:
    """Rows with which the most favourable region of the learned model would pass the test with probability 0.8."""
    sizes = np.arange(1, len(learned) + 1)
    return _rows_for(np.minimum(np.cumsum(learned) / sizes, 1.0), sizes / len(learned), min_precision, delta)


def _rows_for(precision: Floats, share: Floats, min_precision: float, delta: float) -> int | None:
    """Rows with which the most favourable of regions with these precisions and shares of the rows would pass."""
    from scipy.special import ndtri

    good = precision > min_precision
    if min_precision >= 1.0 or not np.any(good):
        return None
    z = -float(ndtri(delta))
    spread = math.sqrt(min_precision * (1.0 - min_precision))
    own = np.sqrt(precision * (1.0 - precision))
    region = ((z * spread + _POWER_Z * own)[good] / (precision[good] - min_precision)) ** 2
    region = np.maximum(region, math.log(delta) / math.log(min_precision))  # so many pure positives at least
    return math.ceil(float(np.min(region / share[good])) / (1.0 - LEARNING_SHARE))
