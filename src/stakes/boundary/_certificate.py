"""A region with certified precision: some rows teach an order of score and uncertainty, the others test regions.

The order, the regions and the sequence in which they are tested are fixed before a test row is looked at, so that each
test is an exact binomial one and the first region that breaks the promise is certified with probability at most delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.base.numerics import fit_logistic, sigmoid
from stakes.base.validation import Bools, Floats
from stakes.boundary._problem import BoundaryRows, Ints
from stakes.boundary._rules import TIED, LevelRule, RankedRule, Ranker, Rule
from stakes.outputs.serialization import JsonReader

if TYPE_CHECKING:
    from numpy.random import Generator

LEARNING_SHARE = 0.2  # of the rows, at most
_LEAST_SHARE = 0.05
_LEAST_ROWS = 1000
_FEWEST_TO_LEARN = 5
_POSITIVES = 50  # to learn from, ...
_MORE_POSITIVES = 300  # ... and where the uncertainty seems to have a bearing
_SIGN = 4.64  # the 80% quantile of chi-square with 3 degrees of freedom
_BEARING = 6.25  # the 90% quantile
_WORSE = 0.5  # standard deviations by which the learned order may be predicted to do worse than the score
_NEAR = 0.1  # of the promise: rows less probable have no bearing on the regions
_FEWEST_TO_REFIT = 10
_RIDGE = 1e-3
_SMALLEST = 4
_GROWTH = 0.005  # from a region to the next
_PROBABILITY = 1e-6  # to which tails of the binomial agree between versions of scipy
_TINY = 1e-300
_POWER_Z = 0.8416212335729143  # of probability 0.8


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
        well are. At a confidence of 0.9 the true precision lay below it in 13, 18 and 14% of the certificates issued
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
        "p_value": float(binomial_tail(found.true_positives, found.selected, found.min_precision)),
        "lower_bound": lower_limit(found.true_positives, found.selected, delta),
    }
    for name, value in wanted.items():
        if not math.isclose(getattr(found, name), value, rel_tol=_PROBABILITY, abs_tol=_TINY):
            raise content.broken(name, f"{value:.10g}, as the counts say, got {getattr(found, name)}")
    most = _most_regions(found.tested_rows)
    if not (found.selected > 0) <= found.regions_tested <= most:
        raise content.broken("regions_tested", f"from 1 to {most}, or 0 if selected is, got {found.regions_tested}")
    passed = found.p_value <= delta and found.regions_tested > 0
    if passed is found.abstained:
        raise content.broken("abstained", f"{str(not passed).lower()}, as p_value and regions_tested say")
    if found.rows_needed is not None and not found.abstained:
        raise content.broken("rows_needed", f"null where a region was certified, got {found.rows_needed}")


class _Tested(NamedTuple):
    """A tested region: its counts on the test rows, and the p-value of the precision."""

    selected: int = 0
    true_positives: int = 0
    p_value: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
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


@dataclass(frozen=True, eq=False, repr=False)
class _Order:
    """An order of the rows: its values, its log-odds of a positive up to a line, and the region from a value on."""

    values: Callable[[BoundaryRows], Floats]
    log_odds: Callable[[BoundaryRows], Floats]
    rule: Callable[[float], Rule]
    tied: float

    @classmethod
    def by_score(cls, ranker: Ranker) -> _Order:
        """Order rows by the score alone."""
        return cls(lambda rows: rows.score, lambda rows: ranker.standardised(rows.score), _one_threshold, 0.0)

    @classmethod
    def learned(cls, ranker: Ranker) -> _Order:
        """Order rows by the learned ranking."""

        def values(rows: BoundaryRows) -> Floats:
            return ranker.rank(rows.score, rows.uncertainty)

        def log_odds(rows: BoundaryRows) -> Floats:
            return ranker.log_odds_of(rows.score, rows.uncertainty)

        return cls(values, log_odds, partial(RankedRule.of, ranker), TIED)


def _one_threshold(threshold: float) -> LevelRule:
    return LevelRule(np.empty(0), np.array([threshold]))


class _RegionSequence(NamedTuple):
    """An order with the values and estimated probabilities of the rows learned from, and the predicted statistics."""

    order: _Order
    values: Floats
    chance: Floats
    z: Floats

    @classmethod
    def of(cls, order: _Order, learn: BoundaryRows, promise: _Target) -> _RegionSequence:
        """Sort the rows learned from and predict the test statistic of each region that ends at one of them."""
        values = order.values(learn)
        descending = np.argsort(-values, kind="stable")
        floor = _NEAR * promise.min_precision
        chance = estimate_chances(learn.y[descending], order.log_odds(learn)[descending], floor)
        z = predicted_statistics(chance, promise.tested_rows, promise.min_precision)
        return cls(order, values[descending], chance, z)

    @property
    def prospect(self) -> float:
        """The largest predicted statistic."""
        return float(self.z.max())

    def thresholds(self) -> Floats:
        """Return the values at which the regions end, in descending order."""
        n = len(self.values)
        return values_at(self.values, region_sizes(int(np.argmax(self.z)) + 1, n))


def certify(
    rows: BoundaryRows, min_precision: float, confidence_level: float, rng: Generator
) -> tuple[Rule, Certificate, BoundaryRows]:
    """Learn an order on some rows, certify the largest region possible on the others, and return those.

    Rows are drawn in random order. How many teach is decided while they are drawn, by nothing but the rows drawn so
    far (a stopping time), so the others are independent of them and of the same population. Given the rows that teach,
    regions R_1, R_2, ... and their order are fixed; of the N_k test rows in R_k, the number of positives is binomial
    with the true precision of R_k. Let R_j be the first region whose precision is below the promise. A region that
    breaks the promise is certified only if R_j passes, since testing stops at the first failure, and the exact
    binomial test of R_j passes with probability at most delta. So the promise is broken with probability at most
    delta, however good the order is, and however many regions there are.
    """
    learn, test, ranker, sign = _split(rows, rng)
    promise = _Target(min_precision, confidence_level, len(test))
    if ranker is None:  # too few rows, or no positive
        few = len(learn) < _FEWEST_TO_LEARN and np.any(rows.y)
        needed = _fewest_rows(min_precision, promise.delta) if few else None
        return _one_threshold(math.inf), promise.certificate(_Tested(), 0, abstained=True, needed=needed), test
    plan = _RegionSequence.of(_Order.by_score(ranker), learn, promise)
    if sign > _BEARING:
        learned = _RegionSequence.of(_Order.learned(ranker), learn, promise)
        plan = learned if learned.prospect >= plan.prospect - _WORSE else plan
    rule, region, tested = _test_regions(plan, test, promise)
    if region.p_value <= promise.delta:
        return rule, promise.certificate(region, tested), test
    needed = rows_needed(np.sort(plan.chance)[::-1], min_precision, promise.delta)
    if needed is not None and needed <= len(rows):  # the learned model was too optimistic: use the observed precision
        precision, share = region.true_positives / max(region.selected, 1), region.selected / len(test)
        needed = _rows_for(np.array([precision]), np.array([share]), min_precision, promise.delta)
    return plan.order.rule(math.inf), promise.certificate(region, tested, abstained=True, needed=needed), test


def _split(rows: BoundaryRows, rng: Generator) -> tuple[BoundaryRows, BoundaryRows, Ranker | None, float]:
    """Draw rows to learn from until they teach enough; return them, the others, and what was learned."""
    order = rng.permutation(len(rows))
    most = round(LEARNING_SHARE * len(rows))
    found = np.cumsum(rows.y[order[:most]])

    def drawn(positives: int, least: int) -> int:
        return min(max(least, int(np.searchsorted(found, positives)) + 1), most)

    n = drawn(_POSITIVES, max(_LEAST_ROWS, round(_LEAST_SHARE * len(rows))))
    learn = rows.take(order[:n])
    if n < _FEWEST_TO_LEARN or not np.any(learn.y):
        return learn, rows.take(order[n:]), None, 0.0
    ranker, sign = _learn(learn)
    more = drawn(_MORE_POSITIVES, n)
    if sign > _SIGN and more > n:
        n, learn = more, rows.take(order[:more])
        ranker, sign = _learn(learn)
    return learn, rows.take(order[n:]), ranker, sign


def _learn(rows: BoundaryRows) -> tuple[Ranker, float]:
    """Fit a ranking, and the likelihood-ratio statistic of its terms in the uncertainty."""
    ranker = Ranker.fit(rows.y, rows.score, rows.uncertainty)
    return ranker, ranker.bearing_of_uncertainty(rows.y, rows.score, rows.uncertainty)


def estimate_chances(y: Bools, log_odds: Floats, floor: float) -> Floats:
    """Estimate the probability of a positive by a logistic line, fitted again to the rows where it exceeds a floor.

    The order may be right and its probabilities wrong, above all among few probable rows beside many improbable ones.
    """
    intercept, slope = _line(y, log_odds)
    chance = np.asarray(sigmoid(intercept + slope * log_odds))
    top = chance >= floor
    if min(np.count_nonzero(y[top]), np.count_nonzero(~y[top])) >= _FEWEST_TO_REFIT:
        intercept, slope = _line(y[top], log_odds[top])
        if slope > 0.0:
            return np.asarray(sigmoid(intercept + slope * log_odds))
    return chance


def _line(y: Bools, log_odds: Floats) -> Floats:
    design = np.column_stack([np.ones_like(log_odds), log_odds])
    return fit_logistic(design, y.astype(np.float64), (~y).astype(np.float64), ridge=_RIDGE).coefficients


def predicted_statistics(chance: Floats, n_test: int, min_precision: float) -> Floats:
    """Predict the test statistics of the regions that end at each row learned from; minus infinity below 4 rows."""
    sizes = np.arange(1, len(chance) + 1)
    excess = np.cumsum(chance) - min_precision * sizes
    spread = math.sqrt(max(min_precision * (1.0 - min_precision), 1e-12))
    z = excess * math.sqrt(n_test / len(chance)) / (spread * np.sqrt(sizes))
    return np.asarray(np.where(sizes < min(_SMALLEST, len(chance)), -np.inf, z))


def region_sizes(first: int, last: int) -> Floats:
    """Sizes of the regions among the rows learned from, each about half a per cent larger than the one before."""
    return np.geomspace(first, last, 2 + int(math.log(last / first) / _GROWTH))


def values_at(values: Floats, sizes: Floats) -> Floats:
    """Return the distinct values of sizes between whole numbers, linear in between, in descending order."""
    below = np.minimum(sizes.astype(np.int64), len(values)) - 1
    part = sizes - 1.0 - below
    after = values[np.minimum(below + 1, len(values) - 1)]
    return np.unique(values[below] * (1.0 - part) + after * part)[::-1]


def _most_regions(tested_rows: int) -> int:
    """Return a number of regions that no sequence exceeds: fewer rows teach than are tested."""
    return 2 + int(math.log(max(tested_rows, 1)) / _GROWTH)


def _test_regions(plan: _RegionSequence, test: BoundaryRows, promise: _Target) -> tuple[Rule, _Tested, int]:
    """Test regions in ascending size to the first failure; return the last that passed, or the first."""
    thresholds, order = plan.thresholds(), plan.order
    limits = thresholds - order.tied * np.abs(thresholds)
    first_inside = np.searchsorted(-limits, -order.values(test))
    counts = (
        np.cumsum(np.bincount(place, minlength=len(limits) + 1)[:-1]) for place in (first_inside, first_inside[test.y])
    )
    selected, found = counts
    failed = np.flatnonzero(binomial_tail(found, selected, promise.min_precision) > promise.delta)
    passed = int(failed[0]) if len(failed) else len(limits)
    rule = order.rule(float(thresholds[max(passed - 1, 0)]))
    inside = rule.select(test.score, test.uncertainty)
    n, tp = int(np.count_nonzero(inside)), int(np.count_nonzero(inside & test.y))
    p_value = float(binomial_tail(tp, n, promise.min_precision))
    return rule, _Tested(n, tp, p_value), min(passed + 1, len(limits))


def _fewest_rows(min_precision: float, delta: float) -> int | None:
    """Smallest number of rows for any certificate: enough to learn from, and to test if all were positive."""
    if min_precision >= 1.0:
        return None
    return max(_in_all(_fewest_pure(min_precision, delta)), math.ceil(_FEWEST_TO_LEARN / LEARNING_SHARE))


def _fewest_pure(min_precision: float, delta: float) -> int:
    """Smallest number of rows of a region, all of them positive, that pass the test."""
    return math.ceil(math.log(delta) / math.log(min_precision) - 1e-9)  # a whole number may come out just above


def _in_all(tested: float) -> int:
    """Smallest number of rows of which so many are left to test on."""
    start = max(math.ceil(tested / (1.0 - LEARNING_SHARE)) - 2, 1)
    return next(n for n in count(start) if n - round(LEARNING_SHARE * n) >= tested)


def binomial_tail(tp: Ints | int, n: Ints | int, p: float) -> Floats:
    """Probability of at least tp successes in n trials."""
    from scipy.special import betainc

    none = np.asarray(tp) == 0
    return np.asarray(np.where(none, 1.0, betainc(np.maximum(tp, 1), np.subtract(n, tp) + 1.0, p)))


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
    good = precision > min_precision
    if not np.any(good):
        return None
    z = _quantile(delta)
    spread = math.sqrt(min_precision * (1.0 - min_precision))
    deviation = np.sqrt(precision * (1.0 - precision))
    region = ((z * spread + _POWER_Z * deviation)[good] / (precision[good] - min_precision)) ** 2
    region = np.maximum(region, _fewest_pure(min_precision, delta))
    return _in_all(float(np.min(region / share[good])))


def _quantile(delta: float) -> float:
    """Standard normal quantile that is exceeded with probability delta."""
    from scipy.special import ndtri

    return -float(ndtri(delta))
