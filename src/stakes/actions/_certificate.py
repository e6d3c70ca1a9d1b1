"""A promise about mistakes among the cases decided: tested level by level, the surest first, to the first failure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.core.exact import as_fraction
from stakes.core.inputs import evaluation_data
from stakes.core.validation import (
    SQUARED_WELL,
    check_choice,
    check_level,
    check_scores,
    check_unit,
    check_whole,
    to_array,
)
from stakes.shown.words import count, percent

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

_LEAST_SHARE = 0.2  # of the rows, where the sequence of tests starts
_DECIMALS = 14
_SETS = 10
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
    new_cases, new_decided : int or None
        The new cases that the promise is about, where they were given, and how many of them are decided.

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
    new_cases: int | None = None
    new_decided: int | None = None

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
        if self.new_cases is not None:
            promise += (
                f", among these {count(self.new_cases)} new cases, {count(self.new_decided or 0)} of them decided"
            )
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
    new_prob: ArrayLike | None = None,
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
    new_prob : array_like of shape (m,), optional
        Probabilities of new cases of the same population: the promise is then about the observed share of mistakes
        among these very cases, once their labels are known, and not about the population. It takes more rows.
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
    of ten. The observed share among a finite number of new cases varies beside the risk: in one of eight halvings of a
    sample it breaks a limit that the population keeps. With ``new_prob`` ten sets, fixed by scores alone, are each
    tested at a tenth of the level against every number of mistakes among all cases (hypergeometric).
    Angelopoulos et al., arXiv:2110.01052 (tests in a fixed sequence); arXiv:2208.02814 (conformal risk control).

    Examples
    --------
    >>> from stakes.actions import certify_decided
    >>> certify_decided([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.6], threshold=0.5, max_error=0.1).sentence
    'mistakes per case decided <= 10%, confidence 95%: no certificate, for it takes 29 rows ... and there are 4'
    """
    c = check_unit(threshold, "threshold", open_low=True, open_high=True)
    limit = check_unit(max_error, "max_error", open_low=True, open_high=True)
    if limit < SQUARED_WELL[0]:
        raise ValueError(f"max_error must be at least {SQUARED_WELL[0]:g}, got {max_error!r}.")
    level = check_level(confidence_level)
    check_choice(target, "target", TARGETS)
    sample = evaluation_data(y_true, y_prob, pos_label=pos_label, logits=logits).rows
    if sample.origin is not None:
        raise ValueError(f"{type(y_true).__name__} cannot stand for labels here: a certificate takes no weights.")
    wrong = (sample.score >= c) != sample.y
    if new_prob is None:
        return _for_population(_Rows(sample.score, wrong, c), limit, level, target, min_rows)
    if target != "selective" or min_rows is not None:
        raise ValueError('new_prob= goes with target="selective" and without min_rows=.')
    new = check_scores(to_array(new_prob, "new_prob"), name="new_prob")
    return _for_new_cases(_Rows(sample.score, wrong, c), new, limit, level)


class _Rows(NamedTuple):
    """Labelled rows, whether the decision about each is a mistake, and the cost ratio."""

    score: Floats
    wrong: NDArray[np.bool_]
    c: float


def _for_population(rows: _Rows, limit: float, level: float, target: str, min_rows: Any) -> DecidedCertificate:
    """The largest set up to which every test is passed."""
    levels, place = np.unique(_expected(rows.score, rows.c), return_inverse=True)
    counts = np.cumsum(np.bincount(place.ravel(), minlength=len(levels)))
    errors = np.cumsum(np.bincount(place.ravel(), rows.wrong, len(levels))).astype(np.intp)
    n, needed = len(rows.wrong), fewest_rows(limit, 1.0 - level)
    least = max(needed, math.ceil(_LEAST_SHARE * n)) if min_rows is None else check_whole(min_rows, "min_rows", 1)
    start = int(np.searchsorted(counts, least)) if target == "selective" else 0
    passes = _passes(target, errors, counts, limit, level)[start:]
    stop = start + int(np.argmin(np.append(passes, False)))  # the first that fails
    last, decided = stop - 1, int(counts[stop - 1]) if stop > start else 0
    return DecidedCertificate(
        limit,
        None if target == TARGETS[2] else level,
        target,
        _zone(rows.score, float(levels[last]), rows.c) if decided else None,
        decided / n,
        decided,
        int(errors[last]) if decided else 0,
        n,
        min(stop + 1, len(levels)) - start,
        needed if not decided and n < needed else None,
    )


def _expected(score: Floats, c: float) -> Floats:
    """Expected cost of the decision about each row: what the surest have least of."""
    return np.asarray(np.round(np.where(score >= c, c * (1.0 - score), (1.0 - c) * score), _DECIMALS), np.float64)


def _passes(target: str, errors: Integers, counts: Integers, limit: float, level: float) -> NDArray[np.bool_]:
    """Whether the test of each level, taken alone, is passed."""
    rows = np.full(len(counts), counts[-1])
    if target == "expected undetected":
        return np.asarray((errors + 1.0) / (rows + 1.0) <= limit)
    return np.asarray(binomial_tail(errors, counts if target == "selective" else rows, limit) <= 1.0 - level)


def _for_new_cases(rows: _Rows, new_score: Floats, limit: float, level: float) -> DecidedCertificate:
    """The largest of some sets, fixed by the scores of all cases, that passes its test for the new ones."""
    old, new = _expected(rows.score, rows.c), _expected(new_score, rows.c)
    both = np.sort(np.concatenate([old, new]))
    cuts = np.unique(both[np.ceil(np.arange(1, _SETS + 1) / _SETS * len(both)).astype(np.intp) - 1])
    found = [(int(np.sum(old <= cut)), int(np.sum(rows.wrong & (old <= cut))), int(np.sum(new <= cut))) for cut in cuts]
    passed = [k for k, counts in enumerate(found) if new_cases_tail(*counts, limit) <= (1.0 - level) / _SETS]
    decided, errors, new_decided = found[passed[-1]] if passed else (0, 0, 0)
    return DecidedCertificate(
        limit,
        level,
        "selective",
        _zone(np.concatenate([rows.score, new_score]), float(cuts[passed[-1]]), rows.c) if passed else None,
        decided / len(old),
        decided,
        errors,
        len(old),
        len(cuts),
        None,
        len(new),
        new_decided,
    )


def new_cases_tail(decided: int, errors: int, new: int, limit: float) -> float:
    """Largest probability, over all numbers of mistakes, of so few here while more than the limit are among the new."""
    from scipy.stats import hypergeom

    most = math.floor(as_fraction(limit, "max_error") * new) + 1  # the fewest new mistakes that break the limit
    if most > new:
        return 0.0
    few = np.arange(errors + 1)
    return float(hypergeom.cdf(few, decided + new, few + most, decided).max())


def binomial_tail(errors: Integers, rows: Integers, limit: float) -> Floats:
    """Probability of at most so many errors where each row is one with the probability of the limit."""
    from scipy.special import betainc

    every = errors >= rows
    tail = betainc(np.where(every, 1, rows - errors), errors + 1.0, 1.0 - limit)
    return np.asarray(np.where(every, 1.0, tail), dtype=np.float64)


def _zone(score: Floats, cut: float, c: float) -> tuple[float, float]:
    """Scores between which decisions have a larger expected cost than the cut; those seen at it are outside."""
    sure = _expected(score, c) <= cut
    low = np.max(score[sure & (score < c)], initial=min(cut / (1.0 - c), c))
    high = np.min(score[sure & (score >= c)], initial=max(1.0 - cut / c, c))
    return float(low), float(high)


def fewest_rows(limit: float, delta: float) -> int:
    """Rows without a mistake that a binomial test of the limit needs."""
    return math.ceil(math.log(delta) / math.log1p(-limit))
