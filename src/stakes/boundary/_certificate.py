"""A region with certified precision: learn a ranking on some rows, test regions on the others.

Given the rows that it was learned from, a region and the order of testing are fixed, so the true positives among the
selected rows set aside are exactly binomial; testing in a fixed order, stopping at the first failure, certifies a
region that breaks the promise with probability at most delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.base.arrays import Floats
from stakes.boundary._problem import BoundaryRows
from stakes.boundary._rules import RankedRule, Ranker
from stakes.outputs.serialization import JsonReader

if TYPE_CHECKING:
    from numpy.random import Generator


LEARNING_SHARE = 0.2
_CANDIDATES = 40  # up to a quarter of the rows; beyond, in steps of _RATIO
_RATIO = 0.15
_STEPS = 8
_PROBABILITY = 1e-6  # to which tails of the binomial agree between versions of scipy
_TINY = 1e-300
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
        Exact (Clopper-Pearson) lower confidence bound of the precision of that region, as if it had been named before
        the test. It describes what was seen and promises nothing once a certificate is issued: only regions that did
        well are. At a confidence of 0.9 the true precision lay below it in 16, 35 and 15% of the certificates issued
        in three simulated designs of 8,000 rows, and in all of them where no region keeps the promise. A bound that
        allows for having been issued exists, and was zero for most. Rely on ``min_precision``.
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
    Certificate(precision >= 0.9 with confidence 0.95: 190 of 200 selected rows positive, ... had it been tested alone)
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

        Raises
        ------
        ValueError
            For entries that are missing or contradict each other, naming the first.
        """
        return read_certificate(JsonReader(content, "certificate", given="content"))

    def __repr__(self) -> str:
        promise = f"precision >= {self.min_precision:g} with confidence {self.confidence_level:g}"
        if not self.abstained:
            return (
                f"Certificate({promise}: {self.true_positives} of {self.selected} selected rows positive, "
                f"lower bound {self.lower_bound:.4g} had it been tested alone)"
            )
        need = "no region is predicted to reach it"
        if self.rows_needed is not None:
            need = f"about {self.rows_needed} rows would be needed"
        return f"Certificate({promise}: abstained, {need})"


def read_certificate(content: JsonReader) -> Certificate:
    """Read a certificate and check its probabilities against its counts."""
    read: dict[str, Any] = {"rows_needed": content.count_or_none("rows_needed")}
    for name in ("tested_rows", "selected", "true_positives", "regions_tested"):
        read[name] = content.count(name)
    for name in ("min_precision", "confidence_level", "lower_bound", "p_value"):
        read[name] = content.number(name)
    found = Certificate(**read, abstained=content.flag("abstained"))
    for name, below in (("min_precision", 1.0), ("confidence_level", math.nextafter(1.0, 0.0))):
        if not 0.0 < read[name] <= below:
            raise content.broken(name, f"a share between 0 and 1, got {read[name]}")
    if not found.true_positives <= found.selected <= found.tested_rows:
        got = f"{found.true_positives}, {found.selected} and {found.tested_rows}"
        raise content.broken("true_positives, selected and tested_rows", f"in ascending order, got {got}")
    _check_test(content, found)
    return found


def _check_test(content: JsonReader, found: Certificate) -> None:
    """Refuse probabilities that do not follow from the counts, or that contradict the verdict."""
    delta = 1.0 - found.confidence_level
    wanted = {
        "p_value": binomial_tail(found.true_positives, found.selected, found.min_precision),
        "lower_bound": lower_limit(found.true_positives, found.selected, delta),
    }
    for name, value in wanted.items():
        if not math.isclose(getattr(found, name), value, rel_tol=_PROBABILITY, abs_tol=_TINY):
            raise content.broken(name, f"{value:.10g}, as the counts say, got {getattr(found, name)}")
    if not (found.selected > 0) <= found.regions_tested <= _STEPS:
        raise content.broken("regions_tested", f"from 1 to {_STEPS}, or 0 if selected is, got {found.regions_tested}")
    passed = found.p_value <= delta and found.regions_tested > 0
    if passed is found.abstained:
        raise content.broken("abstained", f"{str(not passed).lower()}, as p_value and regions_tested say")
    if found.rows_needed is not None and not found.abstained:
        raise content.broken("rows_needed", f"null where a region was certified, got {found.rows_needed}")


class _Tested(NamedTuple):
    """A tested region: its counts on the test rows, and the p-value of the precision."""

    rule: RankedRule | None = None
    selected: int = 0
    true_positives: int = 0
    p_value: float = 1.0


@dataclass(frozen=True)
class _Target:
    """The precision to certify, the confidence level, and the number of test rows."""

    min_precision: float
    confidence_level: float
    tested_rows: int

    @property
    def delta(self) -> float:
        return 1.0 - self.confidence_level

    def certificate(
        self, region: _Tested, tested: int, *, abstained: bool = False, needed: int | None = None
    ) -> Certificate:
        """Build the certificate of the certified region, or of the first one tested."""
        return Certificate(
            self.min_precision,
            self.confidence_level,
            abstained=abstained,
            tested_rows=self.tested_rows,
            selected=region.selected,
            true_positives=region.true_positives,
            lower_bound=lower_limit(region.true_positives, region.selected, self.delta),
            p_value=region.p_value,
            regions_tested=tested,
            rows_needed=needed,
        )


def certify(
    rows: BoundaryRows, min_precision: float, confidence_level: float, rng: Generator
) -> tuple[RankedRule, Certificate, BoundaryRows]:
    """Learn a ranking on a fifth of the rows, certify the largest region possible on the others, and return those."""
    order = rng.permutation(len(rows))
    n_learn = round(LEARNING_SHARE * len(rows))
    learn, test = rows.take(order[:n_learn]), rows.take(order[n_learn:])
    promise = _Target(min_precision, confidence_level, len(test))
    if n_learn < _FEWEST_TO_LEARN or not np.any(learn.y):
        few = n_learn < _FEWEST_TO_LEARN and np.any(rows.y)
        needed = _fewest_rows(min_precision, promise.delta) if few else None
        # too few rows, or a single class: a ranker without positives is constant
        ranker = Ranker.fit(np.zeros(len(rows), dtype=bool), rows.score, rows.uncertainty)
        nothing = RankedRule.of(ranker, math.inf)
        return nothing, promise.certificate(_Tested(), 0, abstained=True, needed=needed), test
    ranker = Ranker.fit(learn.y, learn.score, learn.uncertainty)
    learned = np.sort(ranker.rank(learn.score, learn.uncertainty))[::-1]
    tried = _test_regions(ranker, learned, test, promise)
    passed = [region for region in tried if region.p_value <= promise.delta]
    if passed and passed[-1].rule is not None:
        return passed[-1].rule, promise.certificate(passed[-1], len(tried)), test
    first = tried[0]
    needed = rows_needed(learned, min_precision, promise.delta)
    if needed is not None and needed <= len(rows):  # the learned model was too optimistic: use the observed precision
        precision, share = first.true_positives / max(first.selected, 1), first.selected / len(test)
        needed = _rows_for(np.array([precision]), np.array([share]), min_precision, promise.delta)
    nothing = RankedRule.of(ranker, math.inf)
    return nothing, promise.certificate(first, len(tried), abstained=True, needed=needed), test


def _test_regions(ranker: Ranker, learned: Floats, test: BoundaryRows, promise: _Target) -> list[_Tested]:
    """Test regions in ascending size; stop at the first failure."""
    tried: list[_Tested] = []
    for k in candidate_sizes(learned, len(test), promise.min_precision):
        rule = RankedRule.of(ranker, float(learned[k - 1]))
        inside = rule.select(test.score, test.uncertainty)
        n, tp = int(np.count_nonzero(inside)), int(np.count_nonzero(inside & test.y))
        tried.append(_Tested(rule, n, tp, binomial_tail(tp, n, promise.min_precision)))
        if tried[-1].p_value > promise.delta:
            break
    return tried


def _fewest_rows(min_precision: float, delta: float) -> int | None:
    """Smallest number of rows for any certificate: enough to learn from, and to test if all were positive."""
    if min_precision >= 1.0:
        return None
    pure = math.log(delta) / math.log(min_precision)
    return math.ceil(max(pure / (1.0 - LEARNING_SHARE), _FEWEST_TO_LEARN / LEARNING_SHARE))


def candidate_sizes(learned: Floats, n_test: int, min_precision: float) -> list[int]:
    """Sizes of the regions to test, smallest first, from the learned model's predictions for the test rows.

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
    """Number of rows at which the best region of the learned model passes the test with probability 0.8."""
    sizes = np.arange(1, len(learned) + 1)
    return _rows_for(np.minimum(np.cumsum(learned) / sizes, 1.0), sizes / len(learned), min_precision, delta)


def _rows_for(precision: Floats, share: Floats, min_precision: float, delta: float) -> int | None:
    """Number of rows at which the best of regions with these precisions and shares of rows passes the test."""
    from scipy.special import ndtri

    good = precision > min_precision
    if min_precision >= 1.0 or not np.any(good):
        return None
    z = -float(ndtri(delta))
    spread = math.sqrt(min_precision * (1.0 - min_precision))
    deviation = np.sqrt(precision * (1.0 - precision))
    region = ((z * spread + _POWER_Z * deviation)[good] / (precision[good] - min_precision)) ** 2
    region = np.maximum(region, math.log(delta) / math.log(min_precision))  # at least this many if all are positive
    return math.ceil(float(np.min(region / share[good])) / (1.0 - LEARNING_SHARE))
