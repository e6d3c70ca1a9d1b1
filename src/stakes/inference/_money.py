"""Costs and savings of decisions in money with amounts by row, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.outcome import Origin
from stakes.base.validation import Bools, Floats, Integers, check_choice, check_level, check_same_order
from stakes.core.options import evaluation_data
from stakes.costs import SCALES, CostDistribution, CostsLike, Fixed, as_costs, held
from stakes.outcomes import MONEY_PER, RowCosts, check_factor, check_money_per, rows_for_money
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import join
from stakes.variance.dependence import Design, dependence_of
from stakes.variance.sums import Estimate, Moments, effective, pooled_variance

FEW_AMOUNTS = 50  # effective rows that carry a sum of amounts
# with fewer there is no interval: among all that could have come, and among those that did. The second is low because
# a sample without its large amounts looks even: to ask for many there keeps the intervals that miss
_NEEDED, _NEEDED_SEEN = 12, 8
MONEY_SCALES = SCALES


@dataclass(frozen=True)
class Money(Tabular):
    """What decisions cost in money, and what they save.

    Parameters
    ----------
    cost : Estimate
        Of acting where it pays by the model's probabilities.
    gain : Estimate
        What that saves over acting on nobody.
    savings : Estimate
        Share that it saves of the cost of the cheaper of acting on everybody and on nobody; nan, with a note, where
        that one costs nothing or brings a gain as it is.
    unit : str
        What costs are counted in.
    per : float
        For how many rows.
    acted : float
        Share of rows acted on.
    scale : str
        Which amounts cost as stated, where their ratio is uncertain: those of a "false_negative", of a
        "false_positive", or the "sum" of both.

    Examples
    --------
    >>> from stakes import RowCosts
    >>> from stakes.inference import money
    >>> outcome = RowCosts([0, 1, 0, 1] * 20, false_positive=30, false_negative=[100, 200, 50, 20] * 20, unit="EUR")
    >>> money(outcome, [0.02, 0.3, 0.2, 0.1] * 20, per=1)
    Money(cost 5 EUR [3.06, 6.94], gain 50 EUR [30.6, 69.4], savings 0.6667 [0.484, 0.85])
    """

    cost: Estimate
    gain: Estimate
    savings: Estimate
    unit: str
    per: float
    acted: float
    scale: str = "false_negative"

    def _records(self) -> list[dict[str, Any]]:
        parts = self.cost, self.gain, self.savings
        shared = {"scale": self.scale, "per": self.per}
        return [record | shared for part in parts for record in part._records()]

    def _notes(self) -> list[str]:
        """Each note, and before it the numbers that it is about."""
        about: dict[str, list[str]] = {}
        for part in (self.cost, self.gain, self.savings):
            about.setdefault(part.note, []).append(part.metric)
        return [f"{join(metrics)}: {note}" for note, metrics in about.items() if note]

    def record(self) -> dict[str, Any]:
        """Cost, gain and savings with their intervals, and the share acted on, as plain values."""
        found = {"acted": self.acted, "unit": self.unit, "standard_error": self.cost.standard_error}
        for key in ("cost", "gain", "savings"):
            part: Estimate = getattr(self, key)
            found |= {key: part.value, f"{key}_ci_low": part.interval[0], f"{key}_ci_high": part.interval[1]}
        return found

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        told = [
            f"{part.metric} {part.value:.4g}{suffix} [{part.interval[0]:.3g}, {part.interval[1]:.3g}]"
            for part, suffix in ((self.cost, unit), (self.gain, unit), (self.savings, ""))
        ]
        return f"Money({', '.join(told)})"


def money(
    outcome: RowCosts,
    y_prob: ArrayLike,
    *,
    factor: float = 1.0,
    costs: CostsLike | None = None,
    scale: str = "false_negative",
    per: float | Literal["total"] = MONEY_PER,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Money:
    """What acting by a model's probabilities costs in money, where each row has amounts of its own.

    Parameters
    ----------
    outcome : RowCosts
        Labels and amounts.
    y_prob : array_like of shape (n,) or (n, 2)
        Probability of the positive class.
    factor : float, default 1
        By how much false positives cost more than stated.
    costs : CostDistribution, tuple of float, or float, optional
        In place of ``factor``, how sure it is: cost ratios c, at which false positives cost c / (1 - c) times the
        stated amount beside false negatives; money is the mean over them.
    scale : {"false_negative", "false_positive", "sum"}, default "false_negative"
        Which amounts cost as stated where their ratio is uncertain: those of false negatives, those of false positives,
        or half the sum of one stated amount of each. At c = 1/2 they agree.
    per : float or "total", default 1,000
        Number of rows that costs are for: 1 for the mean row, "total" for all of them as they are weighed.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Clusters, such as customers: only rows of different clusters are independent.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).

    Returns
    -------
    Money

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    Bahnsen, Aouada and Ottersten (2014) define savings. Errors are those of sums over rows, by the delta method for
    savings. Where a few large amounts carry a number, with fewer than 50 effective rows, its interval is too short, and
    ``note`` says so; with fewer than 12 it has none. The rows are counted by the amounts of all rows, whatever their
    class, in proportion to those of the class that carries most: what has not come yet may be larger than what has.
    It has none either where fewer rows are expected to bear an amount than the squared skewness of a lognormal
    distribution with the spread of the amounts above their median: some 40 rows where their logarithms have a
    standard deviation of 1, and 1,100 where it is 1.5. With fewer, 95% intervals cover .88 to .91. With ``clusters``
    these are counted in place of rows.

    Examples
    --------
    >>> from stakes import RowCosts
    >>> from stakes.inference import money
    >>> outcome = RowCosts([0, 1, 0, 1] * 20, false_positive=30, false_negative=[100, 200, 50, 20] * 20, unit="EUR")
    >>> money(outcome, [0.02, 0.3, 0.2, 0.1] * 20).cost.value
    5000.0
    """
    check_same_order(outcome=outcome, y_prob=y_prob, clusters=clusters)
    if not isinstance(outcome, RowCosts):
        raise ValueError(f"outcome must be a RowCosts, got {type(outcome).__name__}.")
    level = check_level(confidence_level)
    law = law_of(outcome, _ratios(factor, costs), check_choice(scale, "scale", MONEY_SCALES))
    rows = evaluation_data(outcome, y_prob, logits=logits, amounts=True).rows
    codes, _ = dependence_of(rows, clusters, None)
    size = rows_for_money(check_money_per(per), float(outcome.counted.sum()))
    return money_of(outcome, _scores(rows, outcome), law, size, level=level, codes=codes)


def _ratios(factor: float, costs: CostsLike | None) -> CostDistribution:
    k = check_factor(factor)
    if costs is None:
        if k / (1.0 + k) == 1.0:
            raise ValueError(f"factor must be below 1e16, where its cost ratio is not yet 1, got {factor}.")
        if k < np.finfo(float).tiny:
            raise ValueError(f"factor must be 2.3e-308 or more, so that false positives cost something, got {factor}.")
        return Fixed(k / (1.0 + k))
    if k != 1.0:
        raise ValueError("factor= and costs= cannot both be given: a factor k is the cost ratio k / (1 + k).")
    return as_costs(costs)


class AmountLaw(NamedTuple):
    """A distribution of cost ratios, and the measure of the money lost by mistakes under it."""

    costs: CostDistribution
    measure: CostDistribution
    scale: str

    def acted(self, score: Floats) -> Floats:
        """Probability that a row is acted on: the mass of cost ratios at or below its score."""
        never = float(self.costs.positive_loss(-np.inf))
        found = self.costs.negative_loss(score) + (never - self.costs.positive_loss(score))
        return np.asarray(found / self.costs.mass)

    def charged(self, outcome: RowCosts, score: Floats | float) -> Floats:
        """Mean cost of each row under decisions by its score."""
        return outcome.charged(self.measure.negative_loss(score), self.measure.positive_loss(score))

    def lines(self, outcome: RowCosts, score: Floats | float) -> Floats:
        """Mean cost of each row, and its cost as a negative and as a positive."""
        each = outcome.mistakes(self.measure.negative_loss(score), self.measure.positive_loss(score))
        found = np.empty((3, len(outcome.y)))
        np.add(outcome.correct, np.where(outcome.y, each[1], each[0]), out=found[0])
        for line, right, mistake in zip(found[1:], outcome.right, each, strict=True):
            np.add(right, mistake, out=line)
        return found


def law_of(outcome: RowCosts, costs: CostDistribution, scale: str) -> AmountLaw:
    """Build the law of costs over cost ratios; raise if it has no mean or rows were set aside."""
    if outcome.n_set_aside and (costs.low, costs.high) != (0.5, 0.5):
        raise ValueError(
            f"factor must be 1 where rows are set aside ({outcome.n_set_aside}), and costs 1/2: what their decisions "
            "cost has no common factor."
        )
    return AmountLaw(costs, held(costs, scale), scale)


def money_of(
    outcome: RowCosts,
    score: Floats,
    law: AmountLaw,
    size: float,
    *,
    level: float,
    codes: NDArray[np.intp] | None,
    among: Bools | None = None,
) -> Money:
    """Estimate costs in money from transformed scores and checked settings, possibly for some of the rows."""
    counted = outcome.counted if among is None else np.where(among, outcome.counted, 0.0)
    at: dict[str, Any] = {"none": -np.inf, "all": np.inf, "own": score}
    lines = {name: law.lines(outcome, scores) for name, scores in at.items()}
    places = np.flatnonzero(counted)
    origin = Origin(outcome, places, counted, among)
    design = Design(outcome.y[places], counted[places], codes=codes, origin=origin)
    means = {name: float(np.average(line[0], weights=counted)) for name, line in lines.items()}
    turnover = [float(np.average(np.abs(lines[name][0]), weights=counted)) for name in _BOUNDS]
    best, least = _cheaper([means[name] for name in _BOUNDS], turnover)
    shared = float(np.average(outcome.right[0], weights=counted))  # what all rows cost alike carries no estimate
    found = {
        "cost": (size * means["own"], size * (lines["own"] - shared)),
        "gain": (size * (means["none"] - means["own"]), size * (lines["none"] - lines["own"])),
    }
    if least > 0.0:
        ratio = means["own"] / least
        found["savings"] = 1.0 - ratio, (ratio * lines[_BOUNDS[best]] - lines["own"]) / least
    weight = np.ones(len(score)) if outcome.sample_weight is None else outcome.sample_weight
    weight = weight if among is None else weight * among
    amounts = counted[places] * outcome.false_positive[places], counted[places] * outcome.false_negative[places]
    taken = {name: (value, each[:, places]) for name, (value, each) in found.items()}
    parts = {name: _estimate(name, pair, design, level, amounts) for name, pair in taken.items()}
    return Money(
        **{"savings": _no_savings(_BOUNDS[best], least, level), **parts},
        unit=outcome.unit,
        per=size,
        acted=float(np.average(law.acted(score), weights=weight)),
        scale=law.scale,
    )


_BOUNDS = "none", "all"  # acting on nobody and on everybody
_ROUNDING = 1e-12


def _cheaper(means: Sequence[float] | Floats, turnover: Sequence[float] | Floats) -> tuple[int, float]:
    """Which of acting on nobody and on everybody costs less, and what; nobody where both cost the same.

    ``turnover`` is the mean of what either costs whatever its sign: a trillionth of that is rounding.
    """
    best = int(means[1] < means[0] - _ROUNDING * (turnover[0] + turnover[1]))
    return best, float(means[best]) if abs(means[best]) > _ROUNDING * turnover[best] else 0.0


def _no_savings(best: str, cost: float, level: float) -> Estimate:
    """Savings if the cheaper of treating all and treating none already costs nothing avoidable."""
    who = "nobody" if best == "none" else "everybody"
    note = f"savings need a cost to save, but acting on {who} costs {cost:.4g} a row"
    return Estimate("savings", np.nan, np.nan, (np.nan, np.nan), level, note)


def _scores(rows: Any, outcome: RowCosts) -> Floats:
    return np.asarray(rows.origin.score) if rows.origin is not None else np.zeros(len(outcome.y))


def carriers(values: Floats, y: Bools | Integers, codes: Integers | None = None) -> float:
    """Effective number of amounts, or of clusters, of the class that contributes most to the variance."""
    return _carrying([_size_sums(mine) for mine in _by_class(values, y, codes)])


def _by_class(values: Floats, y: Bools | Integers, codes: Integers | None) -> list[Floats]:
    """Values of the rows of each class, or their sums over its clusters."""
    return [_units(values[y == k], None if codes is None else codes[y == k]) for k in (False, True)]


def _units(values: Floats, codes: Integers | None) -> Floats:
    """Sums over clusters; the values themselves where rows are independent."""
    return values if codes is None else np.bincount(codes, values).astype(np.float64)


def _size_sums(values: Floats) -> tuple[float, float]:
    """Sum of sizes and sum of squares."""
    return float(np.sum(np.abs(values))), float(np.sum(values**2))


def _carrying(by_class: Sequence[Sequence[float]]) -> float:
    """Effective number of amounts of the class with the larger sum of squares, from the sums of both."""
    size, square = max(reversed(by_class), key=itemgetter(1))
    return float(effective(np.float64(size), np.float64(square)))


class Borne(NamedTuple):
    """Expectations from the amounts of all rows, of the class that spreads their sum most.

    ``effective`` is the effective number of rows that bear an amount, ``rows`` their plain number; ``needed`` is how
    many of them a t interval for a mean needs, by the spread of the amounts. ``positive`` is the class and ``seen`` how
    many rows of it do bear an amount. Of rows in clusters the clusters are counted.
    """

    effective: float
    rows: float
    needed: float = 0.0
    positive: bool = True
    seen: float = np.inf


def to_expect(
    y: Bools | Integers,
    either: tuple[Floats, Floats],
    amounts: tuple[Floats, Floats],
    codes: Integers | None = None,
) -> Borne:
    """Expected numbers of rows, or of clusters by their ``codes``, that bear an amount.

    ``either`` are what each row would bear were it a negative, and were it a positive, and ``amounts`` what mistakes in
    it would cost then. Infinitely many where nothing could be borne.
    """
    sums = []
    for positive, every in enumerate(either):
        sizes = _units(np.abs(every), codes)
        mine = _units(np.abs(every) * (y == positive), codes)
        sums.append((float(np.count_nonzero(mine)), float(np.count_nonzero(sizes)), *_size_sums(sizes)))
    return _to_bear(sums, [partial(_skewness_of, amount) for amount in amounts])


def _skewness_of(amount: Floats) -> float:
    return squared_skewness(amount[amount > 0.0])


def _to_bear(sums: Sequence[Sequence[float]], needed: Sequence[Callable[[], float]]) -> Borne:
    """Of each class: its rows that bear an amount, all that would, the sum of their sizes and of their squares."""
    expected = []
    for positive, ((mine, bearing, size, square), rows_needed) in enumerate(zip(sums, needed, strict=True)):
        if bearing:
            share = (mine + 1.0) / (bearing + 1.0)
            rows = share * float(effective(np.float64(size), np.float64(square))), share * bearing
            expected.append((share * square, Borne(*rows, rows_needed(), bool(positive), float(mine))))
    return max(expected)[1] if expected else Borne(np.inf, np.inf)


def fewest_borne(
    y: Bools | Integers,
    values: Floats,
    either: tuple[Floats, Floats],
    amounts: tuple[Floats, Floats],
    codes: Integers | None = None,
) -> Borne:
    """Rows, or clusters, that bear an amount, those seen or those to expect, whichever are effectively fewer."""
    by_class = _by_class(values, y, codes)
    counts = [float(np.count_nonzero(mine)) for mine in by_class]
    return _fewest([_size_sums(mine) for mine in by_class], to_expect(y, either, amounts, codes), counts)


def _fewest(seen: Sequence[Sequence[float]], expected: Borne, counts: Sequence[float]) -> Borne:
    rows, positive = _carrying(seen), seen[1][1] >= seen[0][1]
    if expected.effective <= rows:
        return expected
    return Borne(rows, counts[positive], positive=positive, seen=counts[positive])


def squared_skewness(sizes: Floats) -> float:
    """Squared skewness of the lognormal distribution with the spread that positive amounts have above their median.

    Its standard deviation on the log scale is the distance from the median to the 84% quantile, or from there to the
    98% quantile where that is less. The skewness of a sample is no guide: few rows seldom hold the large amounts that
    make it.
    """
    return _skewness_from(np.quantile(sizes, _SHARES)) if sizes.size else 0.0


_SHARES = [NormalDist().cdf(steps) for steps in (0.0, 1.0, 2.0)]


def _skewness_from(quantiles: Floats) -> float:
    growth = np.exp(min(np.diff(np.log(quantiles)).min() ** 2, 100.0))
    return float((growth + 2.0) ** 2 * (growth - 1.0))


def _estimate(
    name: str, found: tuple[float, Floats], design: Design, level: float, amounts: tuple[Floats, Floats]
) -> Estimate:
    value, (values, *either) = found
    error = design.variance_of(design.contributions(design.centred(values)))
    each = design.weight * either[0], design.weight * either[1]
    codes, origin = design.codes, design.origin
    own = codes if codes is None or origin is None else codes[origin.among_present]
    borne = carriers(design.weight * values, design.y, own), to_expect(design.y, each, amounts, own)
    return _with_interval(name, value, error, borne, level, clustered=own is not None)


def _with_interval(
    name: str,
    value: float,
    error: tuple[Any, Any, str],
    borne: tuple[float, Borne],
    level: float,
    *,
    clustered: bool = False,
) -> Estimate:
    """From variance, degrees of freedom and a reason against both; few rows that bear amounts allow no interval."""
    (variance, degrees, reason), (seen, expected) = error, borne
    rows, units = min(seen, expected.effective), "clusters" if clustered else "rows"
    if seen < _NEEDED_SEEN or expected.effective < _NEEDED:
        reason = reason or f"the amounts of about {rows:.0f} {units} decide: an interval needs {_NEEDED}"
    elif expected.rows < expected.needed:
        needed = float(f"{expected.needed:.2g}")
        reason = reason or (
            f"amounts as uneven as these need about {needed:,.0f} {units} that bear one for an interval, and "
            f"about {expected.rows:.0f} do"
        )
    moments = Moments(value, float(variance), float(degrees), reason=reason, clustered=clustered)
    decide = f"the amounts of about {rows:.0f} {units} decide"
    few = f"{decide}: the interval may be too short" if rows < FEW_AMOUNTS else ""
    return Estimate(name, value, moments.standard_error, moments.interval(level), level, moments.note or few)


# The same of rows that are looked at part by part, twice: for the means, and for how the rows spread about them.

_CELL_BITS = 40  # of a number that are dropped, so that a cell is a 4,096th of its numbers wide at most
_KINDS = "cost", "gain", "savings"


class MoneySums:
    """Sums over the rows from which money follows for several laws of costs (AmountLaw) and several models.

    Call ``add`` with every part of the rows, then ``spread`` with every part again, and ask for ``money``. What it says
    is that of :func:`money_of`, but for quantiles of the amounts, which are those of cells a 4,096th wide: these say
    how many rows an interval needs.

    Parameters
    ----------
    laws : sequence of AmountLaw
        By which amounts cost.
    models : int
        How many.
    """

    def __init__(self, laws: Sequence[AmountLaw], models: int) -> None:
        self.laws, self.models, self.rows, self.counted, self.right = laws, models, 0, 0.0, 0.0
        self.bounds, self.own = np.zeros((len(laws), 2)), np.zeros((len(laws), models))
        self.turnover, self.acted = np.zeros((len(laws), 2)), np.zeros((len(laws), models))
        self.sizes = _Sizes(), _Sizes()
        self.spreads = [[[_Spread() for _ in _KINDS] for _ in range(models)] for _ in laws]

    def add(self, part: RowCosts, scores: Sequence[Floats]) -> None:
        """Add rows and the scores of each model, which are those of amounts, to the means."""
        weight = part.counted
        self.rows, self.counted = self.rows + len(part.y), self.counted + float(weight.sum())
        self.right += float(weight @ part.right[0])
        for sizes, amounts in zip(self.sizes, (part.false_positive, part.false_negative), strict=True):
            sizes.add(weight * amounts)
        for at, law in enumerate(self.laws):
            bounds = [law.charged(part, end) for end in (-np.inf, np.inf)]
            self.bounds[at] += [float(weight @ charged) for charged in bounds]
            self.turnover[at] += [float(weight @ np.abs(charged)) for charged in bounds]
            for model, score in enumerate(scores):
                self.own[at, model] += float(weight @ law.charged(part, score))
                self.acted[at, model] += float(weight @ law.acted(score))

    def spread(self, part: RowCosts, scores: Sequence[Floats], size: float) -> None:
        """Add rows to what errors of money for so many rows rest on; after ``add`` of all."""
        shared, unit = self.right / self.counted, part.counted.strides == (0,)
        kinds = (~part.y, part.y)
        rows = _Part(None if unit else part.counted, kinds, [mine.astype(np.float64) for mine in kinds])
        for at, law in enumerate(self.laws):
            bounds = [law.lines(part, end) for end in (-np.inf, np.inf)]
            means, (best, least) = self.bounds[at] / self.counted, self._cheaper(at)
            for model, score in enumerate(scores):
                own, mean = law.lines(part, score), float(self.own[at, model] / self.counted)
                values = {"cost": (size * (own - shared), size * (mean - shared))}
                values["gain"] = size * (bounds[0] - own), size * (means[0] - mean)
                if least > 0.0:
                    values["savings"] = ((mean / least) * bounds[best] - own) / least, 0.0
                for sums, kind in zip(self.spreads[at][model], _KINDS, strict=True):
                    if kind in values:
                        sums.add(rows, *values[kind])

    def _cheaper(self, law: int) -> tuple[int, float]:
        return _cheaper(self.bounds[law] / self.counted, self.turnover[law] / self.counted)

    def bearing(self, law: int, model: int) -> Borne:
        """Rows that bear the amounts that make the cost of one model by one law, where none is set aside."""
        sums = self.spreads[law][model][0]
        needed = [sizes.squared_skewness for sizes in self.sizes]
        return _fewest(sums.seen.tolist(), _to_bear(sums.either.tolist(), needed), sums.either[:, 0].tolist())

    def money(self, law: int, model: int, size: float, unit: str, level: float) -> Money:
        """Money of one model by one law."""
        means, mean = self.bounds[law] / self.counted, float(self.own[law, model] / self.counted)
        best, least = self._cheaper(law)
        found = {"cost": size * mean, "gain": size * (float(means[0]) - mean)}
        if least > 0.0:
            found["savings"] = 1.0 - mean / least
        needed = [sizes.squared_skewness for sizes in self.sizes]
        parts = {}
        for kind, sums in zip(_KINDS, self.spreads[law][model], strict=True):
            if kind in found:
                error = sums.error(self.rows, self.counted)
                borne = _carrying(sums.seen.tolist()), _to_bear(sums.either.tolist(), needed)
                parts[kind] = _with_interval(kind, found[kind], error, borne, level)
        nothing = _no_savings(_BOUNDS[best], least, level)
        acted = float(self.acted[law, model] / self.counted)
        return Money(**{"savings": nothing, **parts}, unit=unit, per=size, acted=acted, scale=self.laws[law].scale)


class _Part(NamedTuple):
    """Weights of some rows, or None for ones, and which are negatives and positives, also as numbers."""

    weight: Floats | None
    kinds: Sequence[Bools]
    ones: Sequence[Floats]


class _Spread:
    """Sums over rows that the error of one estimate rests on.

    ``powers`` are squares and fourth powers of weighted values about their mean; ``seen`` and ``either``, by class,
    are what :func:`carriers` and :func:`to_expect` sum.
    """

    def __init__(self) -> None:
        self.powers, self.seen, self.either = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 4))

    def add(self, part: _Part, values: Floats, centre: float) -> None:
        away = values[0] - centre
        if part.weight is not None:
            values, away = values * part.weight, away * part.weight
        borne, *either = values
        squares, sizes, own = away * away, np.abs(borne), borne * borne
        self.powers += squares.sum(), squares @ squares
        for seen, sums, mine, ones, every in zip(self.seen, self.either, part.kinds, part.ones, either, strict=True):
            seen += sizes @ ones, own @ ones  # noqa: PLW2901  (rows of the arrays)
            bears = every != 0.0
            counts = np.count_nonzero(bears & mine), np.count_nonzero(bears)
            sums += *counts, np.abs(every).sum(), every @ every  # noqa: PLW2901

    def error(self, rows: int, counted: float) -> tuple[Floats, Floats, str]:
        """Variance of the mean, and its degrees of freedom."""
        second, fourth = self.powers[:1] / counted**2, self.powers[1:] / counted**4
        variance, degrees = pooled_variance(np.array([float(rows)]), second, fourth)
        return variance, degrees, ""


class _Sizes:
    """Counts and sums of positive numbers in cells a 4,096th of them wide, for their quantiles."""

    def __init__(self) -> None:
        self.counts, self.sums = (np.zeros(1 << (63 - _CELL_BITS)) for _ in range(2))
        self.first, self.last = len(self.counts), 0

    def add(self, sizes: Floats) -> None:
        """Count those that are > 0."""
        sizes = sizes[sizes > 0.0]
        if not len(sizes):
            return
        cells = sizes.view(np.int64) >> _CELL_BITS  # the bits of positive numbers are in their order
        first, last = int(cells.min()), int(cells.max()) + 1
        cells -= first
        self.counts[first:last] += np.bincount(cells)
        self.sums[first:last] += np.bincount(cells, sizes)
        self.first, self.last = min(self.first, first), max(self.last, last)

    def squared_skewness(self) -> float:
        """That of the numbers, from the means of the cells in which their quantiles lie."""
        counts, sums = self.counts[self.first : self.last], self.sums[self.first : self.last]
        used = counts > 0.0
        if not used.any():
            return 0.0
        means, ends = sums[used] / counts[used], np.cumsum(counts[used])
        places = np.array(_SHARES) * (ends[-1] - 1.0)
        below, above = (means[np.searchsorted(ends, at(places), side="right")] for at in (np.floor, np.ceil))
        return _skewness_from(below + (above - below) * (places - np.floor(places)))
