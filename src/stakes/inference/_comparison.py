"""Paired differences between models, and dominance over a range of cost ratios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.validation import Floats, Integers, check_kind, check_names, check_number, check_same_order
from stakes.core.options import EvaluationData, Options
from stakes.core.score_table import Rule, ScoreTable, losses_by_score
from stakes.costs import CostsLike, Scale, as_costs
from stakes.curves import TIE, error_pieces, lower_envelope
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import level_name, percent
from stakes.variance.checks import CLASSES, EVERY_ORDER, FLOOR, ROUNDING, Broken, digits, place_of_pair
from stakes.variance.decisions import Decisions, PairSums
from stakes.variance.dependence import PairedRows
from stakes.variance.sums import effective, record_of

Stretch = tuple[float, float, str]


# Whether one model costs less than another at every cost ratio of a range, exactly.

EQUAL = ("equal", "neither", "none")
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Dominance(Tabular):
    """Where each of two models has the lower regret on these rows, over a whole range of cost ratios.

    Parameters
    ----------
    a, b : str
        Names of the models.
    low, high : float
        The range, both ends included.
    stretches : tuple of (float, float, str)
        Cost ratios from low (exclusive, but for the first) to high (inclusive), and the better model or "equal"
        ("neither" where a model is called "equal").

    Examples
    --------
    >>> from stakes import ScoreTable
    >>> from stakes.inference import dominance
    >>> a = ScoreTable.from_predictions([0, 1], [0.2, 0.4])
    >>> b = ScoreTable.from_predictions([0, 1], [0.6, 0.8])
    >>> print(dominance(a, b, low=0.1, high=0.3))
    a costs no more than b at every cost ratio from 0.1 to 0.3, and less at some
    """

    a: str
    b: str
    low: float
    high: float
    stretches: tuple[Stretch, ...]

    @property
    def winner(self) -> str:
        """The model whose regret is never higher and somewhere lower; "equal" for equal curves, "" where they cross."""
        better = {name for _, _, name in self.stretches} - {self._equal}
        return self._equal if not better else better.pop() if len(better) == 1 else ""

    @property
    def _equal(self) -> str:
        """What stretches call a draw: a word that names no model."""
        return equal_beside(self.a, self.b)

    def share(self, name: str) -> float:
        """Share of the range in which a model, or "equal", has it.

        Parameters
        ----------
        name : str
            A model, or the word of ``stretches`` for a draw.

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
        if self.winner == self._equal:
            return f"{self.a} and {self.b} cost the same {where}"
        if self.winner:
            other = self.b if self.winner == self.a else self.a
            how = "less" if one else "no more"
            return f"{self.winner} costs {how} than {other} {where}{'' if one else ', and less at some'}"
        shares = [f"{name} is better in {percent(self.share(name))}" for name in (self.a, self.b)]
        return f"neither is better {where}: {', '.join(shares)} of the range"


def dominance(
    a: ScoreTable,
    b: ScoreTable,
    *,
    low: float = 0.0,
    high: float = 1.0,
    rule: Rule = "score",
    names: tuple[str, str] = ("a", "b"),
) -> Dominance:
    """Say at which cost ratios of a range each of two models has the lower regret on these rows.

    Parameters
    ----------
    a, b : ScoreTable
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
    from stakes.core.options import check_rule

    for argument, table in (("a", a), ("b", b)):
        check_kind(table, argument, ScoreTable)
    names = check_names(names)
    low, high = check_number(low, "low"), check_number(high, "high")
    if not 0.0 <= low <= high <= 1.0:
        raise ValueError(f"low and high must satisfy 0 <= low <= high <= 1, got {low} and {high}.")
    rule = check_rule(rule, a, b)
    pieces = [error_pieces(table, rule) for table in (a, b)]
    # ties go to the first curve, so each model wins strictly only when it is second
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
    labels = (equal_beside(*names), *names)
    ends = np.append(low, edges[:-1][inside]), np.append(low, upper[inside])
    ends[1][-1] = high  # also where the last stretch was rounding
    stretches = _merge_adjacent(*ends, np.append(at_low, better[inside]))
    if len(stretches) > 1 and stretches[0][1] == low and stretches[0][2] == 0:
        stretches = stretches[1:]  # a single point where the two are equal says nothing
    return Dominance(*names, low, high, tuple((a, b, labels[k]) for a, b, k in stretches))


def equal_beside(a: str, b: str) -> str:
    """A word for equal regret that names neither of two models."""
    return next(word for word in EQUAL if word not in (a, b))


def _height(knots: Floats, alarms: Floats, misses: Floats, c: float) -> float:
    """Regret at one cost ratio."""
    piece = max(int(np.searchsorted(knots, c, side="left")) - 1, 0)
    return c * float(alarms[piece]) + (1.0 - c) * float(misses[piece])


def _merge_adjacent(low: Floats, high: Floats, better: Integers) -> list[tuple[float, float, int]]:
    """Merge adjacent intervals with the same winner."""
    new = np.flatnonzero(np.append(True, better[1:] != better[:-1]))
    return list(zip(low[new].tolist(), np.append(low[new][1:], high[-1]).tolist(), better[new].tolist(), strict=True))


# The paired difference between two models on the same rows, with its interval and p-value.

PAIRED_NEEDS_ROWS = (
    "a paired difference needs the rows of both models: two separate ScoreTables do not say which scores belong "
    "together. Pass y_true and the scores."
)


@dataclass(frozen=True)
class Comparison(Tabular):
    """How much lower the expected cost of one model is than that of another, and how sure that is.

    Parameters
    ----------
    a, b : str
        Names of the models.
    difference : float
        Score of the first minus score of the second: negative means that the first is better.
    standard_error : float
        Of the paired difference.
    interval : tuple of float
        Two-sided confidence interval.
    p_value : float
        Two-sided, for no difference.
    scale : str
        "regret", "integral" or "loss"; "regret per EUR at stake" for amounts by row in euros.
    confidence_level : float
        Of the interval.
    note : str
        On how few rows of which class the difference rests, and how many would do; empty where there are enough.
    judge : callable, optional
        Gives ``dominance``, which is worked out when it is first asked for.

    Examples
    --------
    >>> from stakes import compare, costs
    >>> y_true = [0, 1, 0, 1] * 9
    >>> compare(y_true, [0.1, 0.8, 0.3, 0.6] * 9, [0.4, 0.6, 0.5, 0.4] * 9, costs=costs.Uniform(0, 1), scale="loss")
    Comparison(a - b = -0.1575, 95% interval [-0.1673, -0.1477], p = 9.16e-28, scale='loss')
    """

    a: str
    b: str
    difference: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    scale: str
    confidence_level: float
    note: str = ""
    judge: Callable[[], Dominance] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def dominance(self) -> Dominance | None:
        """Whether one of the two costs less at every cost ratio of the range; None without score tables."""
        return None if self.judge is None else self.judge()

    @property
    def significant(self) -> bool:
        """Whether the interval excludes zero."""
        return self.interval[0] > 0.0 or self.interval[1] < 0.0

    def _records(self) -> list[dict[str, Any]]:
        return [record_of(self) | {"dominance": "" if self.dominance is None else str(self.dominance)}]

    def __repr__(self) -> str:
        low, high = self.interval
        sure = f"{level_name(self.confidence_level)} interval [{low:.4g}, {high:.4g}], p = {self.p_value:.3g}"
        return (
            f"Comparison({self.a} - {self.b} = {self.difference:.4g}, {sure}, "
            f"scale={self.scale!r}{', ' + self.note if self.note else ''})"
        )


def comparison_from_moments(
    moments: Decisions, pair: tuple[int, int], names: tuple[str, str], options: Options
) -> Comparison:
    """Scale the paired difference of two rules and attach its interval."""
    found, level = moments.difference(*pair).scaled(options.factor), options.confidence_level
    interval, p, scale = found.interval(level), found.p_value(), options.scale_words
    return Comparison(*names, found.value, found.standard_error, interval, p, scale, level, found.note)


def check_paired(y_true: Any, a: Any, b: Any, **beside: Any) -> None:
    """Refuse tables if rows are needed, and rows of two models in different orders."""
    check_same_order(y_true=y_true, a=a, b=b, **beside)
    if any(isinstance(value, ScoreTable) for value in (y_true, a, b)):
        raise ValueError(PAIRED_NEEDS_ROWS)


def compare(
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    costs: CostsLike,
    rule: Rule = "score",
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    names: tuple[str, str] = ("a", "b"),
    confidence_level: float = 0.95,
) -> Comparison:
    """Say whether one model's expected cost is really lower than another's on the same rows.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values.
    a, b : array_like of shape (n,) or (n, 2)
        Probabilities of the positive class from the two models.
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
    rule : "score" or float, default "score"
        How scores become decisions. ``"optimal"`` has no closed-form interval and is refused.
    scale : {"regret", "integral", "loss"}, optional
        By default "regret", or "loss" where the mass of ``costs`` is infinite.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients or states: only rows of different clusters are independent.
    lags : int or "auto", optional
        For rows in order of time (the test of Diebold and Mariano). "auto" estimates the long-run variance by slow
        cosines, with Student t intervals; a number of lags is Newey and West's estimate.
    names : tuple of str, default ("a", "b")
        What to call the models.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).

    Returns
    -------
    Comparison
        ``difference`` is a minus b: negative means that a is better. ``dominance`` says whether one of them is better
        at every cost ratio of the range on these rows. Where a loss is infinite, so is the difference, and its interval
        is nan. Where too few rows carry the difference, the interval is widened, and ``note`` says how many rows would
        do.

    Raises
    ------
    ValueError
        For invalid data, two score tables, or ``rule="optimal"``.

    Notes
    -----
    Rows are independent unless ``clusters`` or ``lags`` says otherwise. The interval is Student's t of the per-row loss
    differences, with as many degrees of freedom as rows carry the spread; where fewer than five do, with the rule of
    three for what was not seen.

    Examples
    --------
    >>> from stakes import compare, costs
    >>> y_true = [0, 1, 0, 1] * 5
    >>> result = compare(y_true, [0.1, 0.8, 0.3, 0.6] * 5, [0.4, 0.6, 0.5, 0.4] * 5, costs=costs.Uniform(0, 1))
    >>> result.significant
    True
    >>> print(result.dominance)
    a costs no more than b at every cost ratio from 0 to 1, and less at some
    """
    check_paired(y_true, a, b, sample_weight=sample_weight, clusters=clusters)
    about: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
    about |= {"logits": logits, "clusters": clusters, "lags": lags, "confidence_level": confidence_level}
    options = Options(costs=as_costs(costs), rule=rule, scale=scale, **about).checked().of_amounts(y_true)
    if options.rule == "optimal":
        raise ValueError(
            'rule="optimal" is fitted to the same rows and has no closed-form interval; compare by "score".'
        )
    data = [options.data(y_true, scores, name=argument, amounts=True) for argument, scores in (("a", a), ("b", b))]
    moments = Decisions.from_scores(PairedRows.of([item.rows for item in data], options), options.costs, options.rule)
    names = check_names(names)
    found = comparison_from_moments(moments, (0, 1), names, options)
    return replace(found, judge=partial(_dominance_of, data, options, names))


def _dominance_of(data: Sequence[EvaluationData], options: Options, names: tuple[str, str]) -> Dominance:
    low, high = options.costs.low, options.costs.high
    return dominance(*(each.table for each in data), low=low, high=high, rule=options.rule, names=names)


# Whether sums over pairs of models agree with the score tables of the same models, over which each loss is a sum.


def check_against_tables(pairs: PairSums, tables: Sequence[ScoreTable], broken: Broken) -> None:
    """Refuse pair sums that contradict the models' score tables of the same rows."""
    for i, table in enumerate(tables):
        for k in (0, 1):
            _check_cells(pairs, i, table, k, broken)
    for i, j in combinations(range(len(tables)), 2):
        one, other = tables[i].scores, tables[j].scores
        alike = len(one) == len(other) and np.allclose(one, other, rtol=ROUNDING, atol=0.0)
        if not alike and not pairs.apart[:, _place(pairs, i, j)].any():
            both = f"{pairs.models[i]!r} and {pairs.models[j]!r}"
            raise broken("apart", f"above 0, as the tables of {both} differ, got 0")


def _check_cells(pairs: PairSums, i: int, table: ScoreTable, k: int, broken: Broken) -> None:
    """Check the sums of a model over one class against those over the cells of its table."""
    kind, mass, at = CLASSES[k], float(pairs.mass[k]), _place(pairs, i, len(pairs.models) + 2)
    where = f"for {pairs.models[i]!r} less 'nothing' among {kind}"
    weight, squared = getattr(table, kind), getattr(table, f"{kind}_squared")
    if table.fixed_prevalence and mass:  # as before reweighting to a stated prevalence
        by = float(weight.sum()) / mass
        weight, squared = weight / by, squared / by**2
    # smallest and largest loss of a row of each cell; equal for a cell of one score
    lower, upper = (table.scores if end is None else end for end in (table.lower, table.upper))
    low = high = losses_by_score(lower, pairs.costs, pairs.rule)[k]
    if lower is not upper:
        above = losses_by_score(upper, pairs.costs, pairs.rule)[k]
        low, high = np.minimum(low, above), np.maximum(low, above)
    for order, (a, b) in enumerate(EVERY_ORDER[:4]):
        column, found = weight if a == 1 else squared, float(pairs.powers[order][k, at])
        least = most = _total(column, low, b)
        if high is not low:
            most = _total(column, high, b)
        tolerance = ROUNDING * most + FLOOR * float(column.sum()) if np.isfinite(most) else 0.0
        if not least - tolerance <= found <= most + tolerance:
            wanted = digits(least) if least == most else f"{digits(least)} to {digits(most)}"
            raise broken(f"w{a}_d{b}", f"that over the table, {wanted}, {where}, got {digits(found)}")
    fewest, rows, carriers = effective(weight, squared), float(pairs.rows[k]), float(pairs.carriers[k, at])
    if float(fewest.sum()) * (1.0 - ROUNDING) > rows:
        needed = digits(float(fewest.sum()))
        raise broken("rows", f"at least those of the table, {needed}, {where}, got {digits(rows)}")
    least, most = float(fewest[low > 0.0].sum()), rows - float(fewest[high == 0.0].sum())
    if not least * (1.0 - ROUNDING) <= carriers <= most + ROUNDING * rows:
        wanted = f"the rows of the table that cost something, {digits(least)} to {digits(most)}"
        raise broken("carriers", f"{wanted}, {where}, got {digits(carriers)}")


def _place(pairs: PairSums, i: int, j: int) -> int:
    """Index of a pair among all pairs."""
    return int(place_of_pair(i, j, len(pairs.models) + 3))


def _total(weight: Floats, losses: Floats, power: int) -> float:
    """Weighted sum of powers of losses that ignores entries of weight zero, even infinite ones."""
    if not np.isfinite(losses[-1] + losses[0]):  # the largest stands at an end of the scores
        weight, losses = weight[weight > 0.0], losses[weight > 0.0]
    return float(np.dot(weight, losses**power))
