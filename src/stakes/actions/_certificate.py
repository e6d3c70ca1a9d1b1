"""A promise about mistakes among the cases decided: tested level by level, the surest first, to the first failure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.inputs import evaluation_data
from stakes.core.validation import check_choice, check_unit, check_whole
from stakes.shown.words import count, percent

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

_LEAST_SHARE = 0.2  # of the rows, where the sequence of tests starts
_DECIMALS = 14
TARGETS = ("selective", "undetected", "expected undetected")


@dataclass(frozen=True, repr=False)
class DecidedCertificate:
    """How many cases may be decided so that mistakes stay below a limit, with stated confidence.

    Parameters
    ----------
    max_error : float
        The limit.
    confidence_level : float or None
        Over repetitions, a set that breaks the limit is certified with probability at most 1 less this; None for
        "expected undetected", which holds on average.
    target : str
        "selective": mistakes per case decided; "undetected" and "expected undetected": per case.
    zone : tuple of float or None
        Defer where low < p < high, decide elsewhere; None where nothing could be certified.
    coverage : float
        Share of these rows that is decided; 0 where nothing could be certified.
    decided, errors, n_rows : int
        Rows decided and mistakes among them, and all rows.
    tested : int
        Levels tested.
    rows_needed : int or None
        Rows decided that the least promise needs, where these are fewer; None otherwise.

    Examples
    --------
    >>> from stakes.actions import certify_decided
    >>> y_true, y_prob = [0] * 95 + [1] * 5 + [0, 1] * 50, [0.02] * 95 + [0.05] * 5 + [0.5] * 100
    >>> certify_decided(y_true, y_prob, threshold=0.5, max_error=0.1)
    DecidedCertificate(mistakes per case decided <= 10%, confidence 95%: 47.5% of cases decided, 0 mistakes in 95)
    """

    max_error: float
    confidence_level: float | None
    target: str
    zone: tuple[float, float] | None
    coverage: float
    decided: int
    errors: int
    n_rows: int
    tested: int
    rows_needed: int | None = None

    @property
    def certified(self) -> bool:
        """Whether any case may be decided under the promise."""
        return self.coverage > 0.0

    @property
    def sentence(self) -> str:
        """What a report says of it."""
        what = "mistakes per case decided" if self.target == "selective" else "undetected mistakes per case"
        sure = "on average" if self.confidence_level is None else f"confidence {percent(self.confidence_level)}"
        promise = f"{what} <= {percent(self.max_error)}, {sure}"
        if self.certified:
            found = f"{percent(self.coverage)} of cases decided, {count(self.errors)} mistakes in {count(self.decided)}"
            return f"{promise}: {found}"
        if self.rows_needed is not None:
            needed = f"it takes {count(self.rows_needed)} rows decided without a mistake, and there are"
            return f"{promise}: no certificate, for {needed} {count(self.n_rows)}"
        return f"{promise}: no certificate, too many mistakes among the surest cases"

    def __repr__(self) -> str:
        return f"DecidedCertificate({self.sentence})"


def certify_decided(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    threshold: float,
    max_error: float,
    confidence_level: float = 0.95,
    target: str = "selective",
    min_rows: int | None = None,
    pos_label: object = None,
    logits: bool = False,
) -> DecidedCertificate:
    """Find how many cases may be decided, the surest first, so that mistakes among them stay below a limit.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values, of rows that neither trained nor tuned the score.
    y_prob : array_like of shape (n,) or (n, 2)
        Probability of the positive class.
    threshold : float
        The cost ratio c, in (0, 1): decisions are taken at it, and those of lowest expected cost are the surest.
    max_error : float
        Largest share of mistakes, in (0, 1).
    confidence_level : float, default 0.95
        Of the promise, in (0, 1).
    target : {"selective", "undetected", "expected undetected"}, default "selective"
        Mistakes per case decided (a sequence of exact binomial tests that ends at the first failure); mistakes among
        the decided per case, with confidence (Clopper-Pearson) or in expectation (conformal risk control).
    min_rows : int, optional
        Rows decided at the first test. By default a fifth of the rows, and at least as many as the limit needs without
        a mistake. It must not be chosen by looking at mistakes.
    pos_label : object, optional
        The label of the positive class.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    DecidedCertificate

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    Rows are independent and count alike: there are no weights. The promise is about new cases of the same
    population. The largest coverage whose observed share of mistakes is below the limit can break it in nine samples
    of ten.
    Angelopoulos et al., arXiv:2110.01052 (tests in a fixed sequence); arXiv:2208.02814 (conformal risk control).

    Examples
    --------
    >>> from stakes.actions import certify_decided
    >>> certify_decided([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.6], threshold=0.5, max_error=0.1).sentence
    'mistakes per case decided <= 10%, confidence 95%: no certificate, for it takes 29 rows ... and there are 4'
    """
    c = check_unit(threshold, "threshold", open_low=True, open_high=True)
    limit = check_unit(max_error, "max_error", open_low=True, open_high=True)
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    check_choice(target, "target", TARGETS)
    sample = evaluation_data(y_true, y_prob, pos_label=pos_label, logits=logits).rows
    expected = np.round(np.where(sample.score >= c, c * (1.0 - sample.score), (1.0 - c) * sample.score), _DECIMALS)
    levels, place = np.unique(expected, return_inverse=True)
    wrong = (sample.score >= c) != sample.y
    counts = np.cumsum(np.bincount(place.ravel(), minlength=len(levels)))
    errors = np.cumsum(np.bincount(place.ravel(), wrong, len(levels))).astype(np.intp)
    n, needed = len(wrong), fewest_rows(limit, 1.0 - level)
    least = max(needed, math.ceil(_LEAST_SHARE * n)) if min_rows is None else check_whole(min_rows, "min_rows", 1)
    if target == "selective":
        passes = binomial_tail(errors, counts, limit) <= 1.0 - level
    elif target == "undetected":
        passes = binomial_tail(errors, np.full(len(levels), n), limit) <= 1.0 - level
    else:
        passes = (errors + 1.0) / (n + 1.0) <= limit
    start = int(np.searchsorted(counts, least)) if target == "selective" else 0
    stop = start + int(np.argmin(np.append(passes[start:], False)))  # the first that fails
    last, decided = stop - 1, int(counts[stop - 1]) if stop > start else 0
    return DecidedCertificate(
        limit,
        None if target == TARGETS[2] else level,
        target,
        _zone(sample.score, float(levels[last]), c) if decided else None,
        decided / n,
        decided,
        int(errors[last]) if decided else 0,
        n,
        min(stop + 1, len(levels)) - start,
        needed if not decided and n < needed else None,
    )


def binomial_tail(errors: Integers, rows: Integers, limit: float) -> Floats:
    """Probability of at most so many errors where each row is one with the probability of the limit."""
    from scipy.special import betainc

    every = errors >= rows
    tail = betainc(np.where(every, 1, rows - errors), errors + 1.0, 1.0 - limit)
    return np.where(every, 1.0, tail)


def _zone(score: Floats, cut: float, c: float) -> tuple[float, float]:
    """Scores between which decisions have a larger expected cost than the cut; those seen at it are outside."""
    sure = np.where(score >= c, c * (1.0 - score), (1.0 - c) * score) <= cut + 10.0**-_DECIMALS
    low = np.max(score[sure & (score < c)], initial=min(cut / (1.0 - c), c))
    high = np.min(score[sure & (score >= c)], initial=max(1.0 - cut / c, c))
    return float(low), float(high)


def fewest_rows(limit: float, delta: float) -> int:
    """Rows without a mistake that a binomial test of the limit needs."""
    return math.ceil(math.log(delta) / math.log1p(-limit))
