"""Selection of the best of many decisions with valid inference after selection, and rankings of models."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from stakes.base.multiclass import refuse_both_classes
from stakes.base.numerics import EQUAL, ascending
from stakes.base.validation import BinarySample, by_name, check_flag, check_level, check_same_order, generator, one_of
from stakes.core.options import Options, check_rule, check_units, evaluation_data
from stakes.core.score_table import Rule, ScoreTable
from stakes.costs import CostDistribution, CostsLike, Scale, as_costs, check_scale
from stakes.inference._comparison import PAIRED_NEEDS_ROWS
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import (
    REFERENCES,
    capital,
    join,
    level_name,
    listed,
    named,
    number,
    percent,
    say as fill,
    stated,
)
from stakes.variance.decisions import Contest, CostRows, Decisions, Spread
from stakes.variance.dependence import dependence_of
from stakes.variance.largest import (
    ROUNDING,
    Leads,
    closed_quantile,
    draws_of,
    largest_of,
    largest_of_draws,
    largest_quantile,
    normal_draws,
    pair_variances,
    same_values,
)
from stakes.variance.sums import holm, raised_to_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.intp]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Intervals = dict[str, tuple[float, float]]
    Differences = dict[str, tuple[float, float, float]]


# The result of a selection, as numbers and as sentences.


@dataclass(frozen=True)
class Against:
    """The chosen decision beside one that was named beforehand.

    Parameters
    ----------
    difference : float
        Cost of the chosen one less that of the other: negative means that the chosen one costs less.
    limit : float
        Upper limit of the difference, valid for everything named beforehand and although the chosen one was picked.

    Examples
    --------
    >>> from stakes.inference import Against
    >>> Against(-0.02, -0.01).shown
    True
    """

    difference: float
    limit: float

    @property
    def shown(self) -> bool:
        """Whether the chosen decision is significantly cheaper."""
        return self.limit < 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Tabular):
    """Which decision is best on these rows, and what may be said of it although it was picked for that.

    Parameters
    ----------
    chosen : str
        The decision with the lowest cost: a model, "treat all" or "treat none", which come first where costs are equal.
    tied : tuple of str
        All decisions with that same lowest cost, the chosen one among them.
    best_model : str
        The model with the lowest cost.
    cost : float
        Of the chosen decision on these rows.
    corrected_cost : float
        The same after correction for selection.
    interval : tuple of float
        For the cost of the chosen decision, simultaneous and so valid after selection: around ``cost``, not around
        ``corrected_cost``.
    possible : tuple of str
        The best of the decisions shown is among these with the stated confidence.
    p_best : dict of str to float
        Probability that each decision is the best of those shown, by a flat prior; identical decisions share theirs.
    expected_regret : float
        What choosing now is expected to cost more than the truly best decision would, models tried and not shown
        included.
    against : dict of str to Against
        The chosen decision against the incumbent, "treat all" and "treat none".
    costs, intervals, p_values : dict of str
        Of each decision: cost, simultaneous interval (all of them hold at once), and one-sided p-value for costing more
        than the chosen one, adjusted by Holm for all decisions, models tried and not shown included.
    pointwise : dict of str
        Interval of the cost of each decision alone, which does not allow for the choice.
    n_models, n_rows : int
        Models shown, and rows.
    n_tried : int or None
        Models tried on these rows, where it was said.
    incumbent : str or None
        The model named beforehand.
    critical_value : float
        How many standard errors the interval reaches.
    confidence_level : float
        Of the set and of the intervals.
    scale : str
        "regret", "integral" or "loss"; of decisions among many actions "cost".
    per : float
        Number of decisions that costs are counted in.
    unit : str
        What costs are counted per: a decision, or money at stake.
    note : str
        Where few rows carry the interval, or why there is none; empty otherwise.
    sentences : tuple of str
        What a report says of it.

    Examples
    --------
    >>> from stakes.inference import select_best
    >>> y_true = [0, 1, 0, 1] * 50
    >>> found = select_best(y_true, {"a": [0.1, 0.8, 0.3, 0.6] * 50, "b": [0.4, 0.6, 0.5, 0.4] * 50}, costs=(0.2, 0.6))
    >>> found
    Selection(a, the only possible best of 4 decisions, cost 0.01562 [0.002847, 0.0284])
    """

    chosen: str
    tied: tuple[str, ...]
    best_model: str
    cost: float
    corrected_cost: float
    interval: tuple[float, float]
    possible: tuple[str, ...]
    p_best: dict[str, float]
    expected_regret: float
    against: dict[str, Against]
    costs: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    p_values: dict[str, float]
    pointwise: dict[str, tuple[float, float]]
    n_models: int
    n_rows: int
    n_tried: int | None
    incumbent: str | None
    critical_value: float
    confidence_level: float
    scale: str = "regret"
    per: float = 1.0
    unit: str = "decision"
    note: str = ""
    sentences: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The headline of a report."""
        return " ".join(self.sentences)

    @property
    def _all_shown(self) -> bool:
        """Whether no other model is said to have been tried."""
        return (self.n_tried or 0) <= self.n_models

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.costs)[: self.n_models]

    @property
    def references(self) -> tuple[str, ...]:
        """Names of the references that compete."""
        return tuple(self.costs)[self.n_models :]

    def _records(self) -> list[dict[str, Any]]:
        costs = list(self.costs.items())
        return [
            {
                "decision": name,
                "cost": cost,
                "ci_low": self.pointwise[name][0],
                "ci_high": self.pointwise[name][1],
                "simultaneous_low": self.intervals[name][0],
                "simultaneous_high": self.intervals[name][1],
                "may_be_best": name in self.possible,
                "p_value_vs_chosen": self.p_values[name],
            }
            for name, cost in (costs[place] for place in ascending(list(self.costs.values())))
        ]

    def __repr__(self) -> str:
        among = f"best of {len(self.costs)} decisions{'' if self._all_shown else ' shown'}"
        place = f"the only possible {among}"
        if len(self.possible) > 1:
            place = f"one of {len(self.possible)} that may be the {among}"
        return (
            f"Selection({self.chosen}, {place}, cost {self.cost:.4g} [{self.interval[0]:.4g}, {self.interval[1]:.4g}])"
        )


# The headline: the best decision, the evidence for it, and the expected cost of a wrong choice.

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TOO_SMALL = 1e-4


def say(found: Selection, where: str = "") -> Iterator[str]:
    """Yield sentences about a selection, the most important first; ``where`` starts the first."""
    yield _write_headline(found, where)
    if len(found.costs) > 1:
        yield _best_set_sentence(found)
        yield _loss_sentence(found)
    if found.against:
        yield _comparison_sentence(found)
    if found.note:
        yield fill("carried", note=found.note)


def few_carry(what: str, rows: float) -> str:
    """Return the note on an estimate from few effective rows of a class; "" if there are enough."""
    if math.isinf(rows):
        return ""
    about = f"{rows:.2g}"
    few = f"{what} rests on about {about} row{'s' * (about != '1')} of a class"
    none = f"no row of a class shows how large {what} may be there"
    return f"{few if rows > 0.0 else none}: the interval is widened because so few carry the estimate"


def _write_headline(found: Selection, where: str) -> str:
    given = {
        "where": where,
        "rows": f"{found.n_rows:,}",
        "amount": number(found.cost),
        "decisions": found.unit if found.per == 1.0 else f"{stated(found.per)} {_plural(found)}",
        "sure": _interval_sentence(found),
    }
    if found.chosen in found.references:
        said = fill("no_model", best=named(found.chosen), other=_best_model_sentence(found), **given)
        return said if where else said[0].upper() + said[1:]
    if len(found.tied) > 1:
        return fill("costs_shared", best=join(found.tied), **given)
    return fill("costs" if found.n_models == 1 else "costs_least", best=found.chosen, **given)


def _best_model_sentence(found: Selection) -> str:
    """Sentence on the best model's cost if a reference is the cheapest decision."""
    best = found.best_model
    if best in found.tied:
        return fill("other_same", models=join([name for name in found.tied if name in found.models]))
    words = "other_best_model" if found.n_models > 1 else "other_model"
    return fill(words, model=best, amount=number(found.costs[best]))


def _interval_sentence(found: Selection) -> str:
    low, high = (number(end) for end in found.interval)
    unit = fill("unit", scale=found.scale) if found.scale in {"integral", "loss"} else ""
    words = "picked_interval" if math.isfinite(found.interval[1]) else "picked_no_interval"
    interval = fill(words, level=level_name(found.confidence_level), low=low, high=high)
    tried = max(found.n_tried or 0, found.n_models)
    if found.chosen in found.references or tried == 1:
        return fill("sure", unit=unit, interval=interval)
    among = fill("among_tried" if found.n_tried else "among_shown", count=f"{tried:,}")
    return fill("sure_picked", unit=unit, interval=interval, among=among, corrected=number(found.corrected_cost))


def _best_set_sentence(found: Selection) -> str:
    level, included = level_name(found.confidence_level), ""
    count = _NUMBERS[found.n_models] if found.n_models < len(_NUMBERS) else str(found.n_models)
    others = "" if found._all_shown else fill("other_models", count=f"{found.n_tried:,}")
    of_all = "best_decision" if found._all_shown else "best_decision_shown"
    what = fill(of_all) if found.references else fill("best_shown", count=count)
    if found.references:
        both = found.references == REFERENCES
        included = fill(
            "included", references=fill("all_or_none") if both else " or ".join(map(named, found.references))
        )
    if len(found.possible) == 1:
        alone = found.possible[0]
        best, included = capital(named(alone)), "" if alone in found.references else included
        return fill("only_possible", best=best, what=what, included=included, level=level, others=others)
    names = listed([named(name) for name in found.possible])
    known = {"what": what, "names": names, "level": level, "others": others}
    return fill("best_among", included=included and f"{included},", **known)


def _loss_sentence(found: Selection) -> str:
    loss = 1000.0 * found.expected_regret / found.per
    more = number(loss) if loss >= _TOO_SMALL else fill("less_than", amount=f"{_TOO_SMALL:g}")
    own_word = found.chosen in REFERENCES  # "treating everyone"; any other decision is worded like a model
    choosing = capital(named(found.chosen)) if own_word else fill("choosing", best=found.chosen)
    return fill("choice_loss", choosing=choosing, loss=more, decisions=_plural(found))


def _plural(found: Selection) -> str:
    return "decisions" if found.unit == "decision" else found.unit


def _comparison_sentence(found: Selection) -> str:
    words = {
        name: fill("beforehand", name=named(name)) if name == found.incumbent else named(name) for name in found.against
    }
    shown = [
        fill("by_at_least", name=words[name], amount=number(-other.limit))
        for name, other in found.against.items()
        if other.shown
    ]
    unshown = [words[name] for name, other in found.against.items() if not other.shown]
    return fill(
        "shown_partly" if shown and unshown else "shown" if shown else "not_shown",
        best=capital(named(found.chosen)),
        shown=join(shown) if shown else "",
        unshown=join(unshown) if unshown else "",
        limits=fill("limits", level=percent(0.5 + found.confidence_level / 2.0)),
    )


# The order of many models, with what multiple comparisons leave of it.


@dataclass(frozen=True)
class RankedModel:
    """One model's place.

    Parameters
    ----------
    model : str
        Its name.
    score : float
        Expected cost.
    rank : int
        On these rows, 1 for the lowest cost.
    rank_low, rank_high : int
        Ranks that the data allow; all models' ranges hold at once with the stated confidence.
    p_value : float
        Adjusted, for the difference from the model ranked first on these rows.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true = [0, 1, 0, 1] * 10
    >>> evaluate(y_true, {"a": [0.1, 0.8, 0.3, 0.6] * 10, "b": [0.4, 0.6, 0.5, 0.4] * 10}).adjusted_ranking()[
    ...     1
    ... ].rank_low
    2
    """

    model: str
    score: float
    rank: int
    rank_low: int
    rank_high: int
    p_value: float


class Ranking(tuple[RankedModel, ...], Tabular):  # noqa: SLOT001  (a mix-in without slots)
    """Models in order of expected cost, with confidence intervals of their ranks.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true = [0, 1, 0, 1] * 10
    >>> evaluate(y_true, {"a": [0.1, 0.8, 0.3, 0.6] * 10, "b": [0.4, 0.6, 0.5, 0.4] * 10}).adjusted_ranking().best
    ('a',)
    """

    @property
    def best(self) -> tuple[str, ...]:
        """Models that may be the best: with the stated confidence the truly best is among them."""
        return tuple(row.model for row in self if row.rank_low == 1)

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "model": row.model,
                "score": row.score,
                "rank": row.rank,
                "rank_low": row.rank_low,
                "rank_high": row.rank_high,
                "p_value_vs_first": row.p_value,
                "may_be_best": row.rank_low == 1,
            }
            for row in self
        ]


def rank_models(names: Sequence[str], scores: Sequence[float], moments: Decisions, level: float) -> Ranking:
    """Rank by score; Holm's method over all pairs bounds each rank, and only pairs that count for it are computed."""
    count = len(names)
    adjusted = np.full((count, count), np.nan)
    first, second = np.triu_indices(count, 1)
    some = ~raised_to_one(moments.least_p_values(first, second))
    found = moments.differences(first[some], second[some])
    p_values, gaps = np.ones(len(first)), np.zeros(len(first))
    p_values[some], gaps[some] = found.p_values(), found.value
    adjusted[first, second] = adjusted[second, first] = p_values = holm(p_values)
    ahead, behind = np.where(gaps < 0.0, (first, second), (second, first))[:, p_values <= 1.0 - level]
    better, worse = (np.bincount(places, minlength=count) for places in (behind, ahead))  # significant differences
    order = ascending(scores)
    rows = []
    for rank, i in enumerate(order, start=1):
        p = float(adjusted[i, order[0]])
        rows.append(RankedModel(names[i], scores[i], rank, 1 + int(better[i]), count - int(worse[i]), p))
    return Ranking(rows)


# The best of many decisions on the same rows, with inference that is valid after selection.
#
# Works on means and their covariance, wherever these come from. Four statements, each valid although the best was
# picked: the decisions that may be the best (multiple comparisons with the best), the cost of the chosen one
# (corrected for selection; max-T interval), its advantage over prespecified decisions (max-T limits), and the expected
# loss of choosing it.

MOST_TRIED = 2000
_MOST_RIVALS = 100_000  # pairs of a decision and one of several equal rivals that are looked at one by one
_MOST_VALUES = 1_500_000  # draws times decisions, for each decision whose place is open
_LEAST_DRAWS = 4_000
_FEW = 3
_FIRST = 8  # rivals by which most fields are seen not to be equally correlated


def select(
    contest: Contest,
    *,
    incumbent: str | None = None,
    n_tried: int | None = None,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    scale: str = "regret",
    per: float = 1.0,
    where: str = "",
    unit: str = "decision",
) -> Selection:
    """Say which decision is best from mean costs and their covariance.

    Parameters
    ----------
    contest : Contest
        Decisions on the same rows.
    incumbent : str, optional
        A model that was named before these rows were seen.
    n_tried : int, optional
        How many models were tried on these rows, those not shown included.
    confidence_level : float, default 0.95
        Of the set and of the intervals.
    random_state : int, numpy Generator or None, default 0
        For draws from the normal distribution of the errors.
    scale : str, default "regret"
        What the costs are.
    per : float, default 1
        Number of decisions that costs are counted in.
    where : str, default ""
        What the first sentence begins with.
    unit : str, default "decision"
        What costs are counted per.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        For another thing than a contest, or invalid settings.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.inference import Contest, select
    >>> means, covariance = np.array([0.10, 0.11, 0.2]), 0.0001 * np.eye(3)
    >>> select(Contest(("a", "b", "c"), 3, means, covariance, 500)).possible
    ('a', 'b')
    """
    _check(contest, incumbent, n_tried, confidence_level)
    field = _Field.of(contest, generator(random_state))
    (place, tied), names = field.first_place(), field.names
    tried = field.with_untried(n_tried)
    critical = _two_sided(tried.covariance, tried.errors, confidence_level)
    intervals, alone = field.intervals(critical), field.intervals(_normal(0.5 + confidence_level / 2.0))
    largest, gain = largest_of(-field.means, field.covariance, errors=field.errors), field.optimism(place, tried)
    asked: dict[str, Any] = {"n_tried": n_tried, "incumbent": incumbent, "confidence_level": confidence_level}
    asked |= {"scale": scale, "per": per, "unit": unit, "n_models": contest.n_models, "n_rows": contest.n_rows}
    found = Selection(
        chosen=names[place],
        tied=tuple(names[k] for k in tied),
        best_model=contest.names[ascending(contest.means[: contest.n_models])[0]],
        cost=float(field.means[place]),
        corrected_cost=float(field.means[place]) + gain,
        interval=intervals[names[place]],
        possible=tuple(names[k] for k in np.flatnonzero(field.possible(tried, confidence_level))),
        p_best=dict.fromkeys(contest.names, 0.0) | dict(zip(names, largest.p_best.tolist(), strict=True)),
        expected_regret=largest.excess if len(tried.means) == len(names) else tried.excess(gain),
        against=field.against(place, incumbent, tried, confidence_level),
        costs=dict(zip(contest.names, contest.means.tolist(), strict=True)),
        intervals=intervals,
        p_values=field.p_values(place, tried),
        pointwise=alone,
        critical_value=critical,
        note=field.note(place),
        **asked,
    )
    return replace(found, sentences=tuple(say(found, where)))


def differences_from(
    contest: Contest, first: str, *, n_tried: int | None = None, confidence_level: float = 0.95
) -> Differences:
    """How much more each decision costs than one that was picked among the models, with simultaneous intervals."""
    field = _Field.of(contest, generator(0), all_draws=n_tried is not None)
    if first not in field.names:
        return dict.fromkeys(contest.names, (math.nan, math.nan, math.nan))
    return field.more_than(field.names.index(first), field.with_untried(n_tried), confidence_level)


def _check(contest: Any, incumbent: Any, n_tried: Any, level: float) -> None:
    """Check the type and consistency of a contest, and its settings."""
    check_level(level)
    if not isinstance(contest, Contest):
        kind = type(contest).__name__
        raise ValueError(f"contest must be a Contest, got {kind}: select_best takes labels and scores.")
    count = len(contest.names)
    shapes = np.shape(contest.means), np.shape(contest.covariance)
    if shapes != ((count,), (count, count)):
        raise ValueError(
            f"contest must hold one mean and one row and column of the covariance for each of its {count} names, "
            f"got shapes {shapes[0]} and {shapes[1]}."
        )
    if not 1 <= contest.n_models <= count:
        raise ValueError(f"contest must hold 1 to {count} models, as many as it has names, got {contest.n_models!r}.")
    check_contest(contest.names[: contest.n_models], incumbent, n_tried)


@dataclass(frozen=True, eq=False, repr=False)
class _Field:
    """The decisions of finite cost: means, covariance, draws of their errors (columns), and equal decisions."""

    contest: Contest
    places: Integers
    means: Floats
    covariance: Floats
    errors: Floats
    variance: Floats
    same: Integers

    @classmethod
    def of(cls, contest: Contest, rng: np.random.Generator, *, all_draws: bool = True) -> _Field:
        places = np.flatnonzero(np.isfinite(contest.means))
        if not len(places):
            count = len(contest.names)
            raise ValueError(f"costs must leave at least one decision a finite cost, got infinity for all {count}.")
        means, covariance = contest.means[places], contest.covariance[np.ix_(places, places)]
        varies = np.diag(covariance) > (ROUNDING * means) ** 2  # treating all does not where the prevalence is known
        covariance = covariance * np.outer(varies, varies)
        errors = normal_draws(covariance, rng, None if all_draws else _draws_of_pairs(len(places)))
        variance = pair_variances(covariance)
        return cls(contest, places, means, covariance, errors, variance, same_values(means, covariance))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.contest.names[k] for k in self.places)

    @property
    def is_reference(self) -> Bools:
        return np.asarray(self.places >= self.contest.n_models)

    def spread(self, first: Integers, second: Integers | int) -> Spread:
        """Variances of differences of decisions by their index here; -1 is a cost of zero."""
        seconds = np.broadcast_to(np.asarray(second), first.shape)
        return self.contest.spread_of(self.places[first], np.where(seconds < 0, -1, self.places[seconds]))

    def first_place(self) -> tuple[int, list[int]]:
        """Index of the lowest cost; references win ties, since they need no model."""
        lowest = float(self.means.min())
        tied = np.flatnonzero(self.means - lowest <= EQUAL * abs(lowest)).tolist()
        return next((k for k in tied if self.is_reference[k]), tied[0]), tied

    def with_untried(self, n_tried: int | None) -> _Field:
        """The field with models that were tried and not shown, which come last and have the place -1."""
        models = int(np.count_nonzero(~self.is_reference))
        means, covariance, errors = _with_untried(self.means, self.covariance, self.errors, n_tried, models)
        if len(means) == len(self.means):
            return self
        places = np.pad(self.places, (0, len(means) - len(self.means)), constant_values=-1)
        variance, same = pair_variances(covariance), same_values(means, covariance)
        return _Field(self.contest, places, means, covariance, errors, variance, same)

    def optimism(self, place: int, tried: _Field) -> float:
        """How much less the chosen decision costs here than it should, for having been chosen."""
        family = np.ones(len(tried.means), dtype=bool) if self.is_reference[place] else ~tried.is_reference
        covariance = tried.covariance[np.ix_(family, family)]
        return largest_of(-tried.means[family], covariance, errors=tried.errors[family]).gain

    def excess(self, gain: float) -> float:
        """How much more the best decision shown is expected to cost than the best of all that were tried.

        What models not shown cost on these rows is unknown: as much as those shown without their gain from selection,
        and an error of their own.
        """
        hidden, error = self.places < 0, np.sqrt(np.diag(self.covariance))
        shown = ~(hidden | self.is_reference) & (error > 0.0)
        covariance = self.covariance[np.ix_(hidden, shown)]
        shared = (covariance / np.outer(error[hidden], error[shown])).mean(axis=1)  # by two models, on average
        own = error[hidden] * np.sqrt(np.clip(1.0 - shared, 0.0, 1.0))
        errors, rng = self.errors.copy(), np.random.default_rng(np.count_nonzero(hidden))
        errors[hidden] += own[:, None] * rng.standard_normal(errors[hidden].shape)
        return largest_of_draws(-self.means - gain * hidden, errors).excess

    def more_than(self, first: int, tried: _Field, level: float) -> Differences:
        """How much more each decision costs than one of the models, with intervals that hold for all at once.

        They allow for that model having been picked: the critical value is that of the differences between all models,
        and of the references from this one.
        """
        critical = tried.critical_of_pairs(self.is_reference, first, level)
        places = np.arange(len(self.means))
        others = places[(self.same != self.same[first]) & (places != first)]
        span = self.contest.highest - self.contest.lowest
        found = dict.fromkeys(self.contest.names, (math.nan, math.nan, math.nan))
        found |= dict.fromkeys((self.names[k] for k in places if k not in others), (0.0, 0.0, 0.0))
        reach = self.spread(others, first).reach(critical) if len(others) else np.empty(0)
        gaps = self.means[others] - self.means[first]
        gaps = np.where(np.abs(gaps) <= EQUAL * (np.abs(self.means[others]) + abs(self.means[first])), 0.0, gaps)
        for k, gap, far in zip(others, gaps, reach, strict=True):
            found[self.names[k]] = float(gap), max(float(gap - far), -span), min(float(gap + far), span)
        return found

    def intervals(self, critical: float) -> Intervals:
        """Intervals of the costs of all decisions at a normal critical value, converted to Student's t."""
        reach = self.spread(np.arange(len(self.means)), -1).reach(critical)
        low = np.maximum(self.means - reach, self.contest.lowest).tolist()
        high = np.minimum(self.means + reach, self.contest.highest).tolist()
        found = dict.fromkeys(self.contest.names, (math.nan, math.nan))
        return found | dict(zip(self.names, zip(low, high, strict=True), strict=True))

    def note(self, place: int) -> str:
        """Why there is no interval of the chosen decision, or that few rows determine it."""
        if self.contest.reason:
            return self.contest.reason
        spread = self.spread(np.array([place]), -1)
        return few_carry(f"the cost of {self.names[place]}", float(spread.scarce[0]))

    def possible(self, tried: _Field, level: float) -> Bools:
        """Multiple comparisons with the best (Hsu 1981), with unequal variances: decisions that no rival excludes.

        A decision is excluded only if the rival with the largest studentised lead, or the leader, also exceeds the
        limit that accounts for degrees of freedom, for unseen rows and for all models that were tried; of several such
        rivals, the one that unseen rows leave the least room.
        """
        gaps = self.means[:, None] - self.means[None]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(gaps == 0.0, 0.0, gaps / np.sqrt(self.variance))
        ratio[self.same[:, None] == self.same[None]] = -np.inf
        behind = np.flatnonzero((ratio.max(axis=1) > _normal(level)) & (self.same == np.arange(len(self.means))))
        if not len(behind):
            return np.ones(len(self.means), dtype=bool)
        far, lowest = ratio[behind], self.means == self.means.min()
        ahead = far >= far.max(axis=1, keepdims=True) * (1.0 - EQUAL)
        leaders = np.broadcast_to(lowest, ahead.shape)
        witness = np.stack([self._clearest(behind, rivals, level) for rivals in (ahead, leaders)])
        lead, spread = self.means[behind] - self.means[witness], self.spread(np.tile(behind, 2), witness.ravel())

        def exceeded(critical: Floats) -> Bools:
            return np.asarray((lead > spread.reach(np.tile(critical, 2)).reshape(lead.shape)).any(axis=0))

        critical = np.full(len(behind), _normal(1.0 - (1.0 - level) / (len(tried.means) - 1)))
        unsure = exceeded(np.full(len(behind), _normal(level))) & ~exceeded(critical)  # only these need draws
        critical[unsure] = [tried.largest_lead(i, level) for i in behind[unsure].tolist()]
        return ~np.isin(self.same, behind[exceeded(critical)])

    def _clearest(self, behind: Integers, rivals: Bools, level: float) -> Integers:
        """Of the rivals of each decision, the one whose lead exceeds its limit by most."""
        found = rivals.argmax(axis=1)
        several = rivals & (rivals.sum(axis=1) > 1)[:, None]
        rows, others = np.nonzero(several)
        if 0 < len(rows) <= _MOST_RIVALS:
            leads = self.means[behind[rows]] - self.means[others]
            margin = np.full(rivals.shape, -np.inf)
            margin[rows, others] = leads - self.spread(behind[rows], others).reach(_normal(level))
            found = np.where(several.any(axis=1), margin.argmax(axis=1), found)
        return np.asarray(found)

    @cached_property
    def leads(self) -> Leads:
        """As many draws of all differences as each decision whose place is open gets."""
        return Leads(self.errors[:, : _draws_of_pairs(len(self.means))], self.covariance)

    def largest_lead(self, i: int, level: float) -> float:
        """Quantile of the largest studentised lead of others over decision i."""
        variance = np.where(self.same == np.arange(len(self.same)), self.variance[i], 0.0)
        rivals, covariance = np.flatnonzero(variance > 0.0), self.covariance
        for some in (rivals[:_FIRST], rivals):
            scale = np.sqrt(variance[some])
            gaps = covariance[i, i] - covariance[i, some][:, None] - covariance[i, some][None]
            correlation = (gaps + covariance[np.ix_(some, some)]) / np.outer(scale, scale)
            np.fill_diagonal(correlation, 1.0)
            closed = closed_quantile(correlation, level, two_sided=False)
            if closed is None:  # all are equally correlated only where the first few are
                return max(self.leads.quantile(np.array([i]), variance[None], level), _normal(level))
        return cast("float", closed)

    def critical_of_pairs(self, is_reference: Bools, first: int, level: float) -> float:
        """Quantile of the largest studentised difference between models, and between references and one of them."""
        count, shown = len(self.means), len(is_reference)
        reference, hidden = np.append(is_reference, np.zeros(count - shown, dtype=bool)), np.arange(count) >= shown
        compared = ~(reference | reference[:, None] | (hidden & hidden[:, None]))  # not two that were never shown
        compared[first, reference] = compared[reference, first] = True
        variance = np.where(compared, self.variance, 0.0)
        pairs = np.argwhere(np.triu(variance) > 0.0)
        if count <= _FEW and 0 < len(pairs) <= 2:  # closed forms
            contrasts = np.zeros((len(pairs), count))
            for row, (i, j) in enumerate(pairs):
                contrasts[row, [i, j]] = np.array([1.0, -1.0]) / math.sqrt(variance[i, j])
            correlation = contrasts @ self.covariance @ contrasts.T
            return largest_quantile(correlation, contrasts @ self.errors, level, two_sided=True)
        return max(self.leads.quantile(np.arange(count), variance, level), _normal(0.5 + level / 2.0))

    def against(self, place: int, incumbent: str | None, tried: _Field, level: float) -> dict[str, Against]:
        """One-sided limits against prespecified decisions, with one critical value for all, whichever was picked."""
        named = [k for k, name in enumerate(self.names) if self.is_reference[k] or name == incumbent]
        others = np.array([k for k in named if k != place], dtype=np.intp)
        if not len(others):
            return {}
        one_sided = 0.5 + level / 2.0
        scale, largest = np.sqrt(tried.variance), np.zeros(tried.errors.shape[1])
        for k, rival in np.argwhere(tried.variance[named] > 0.0).tolist():
            mine = named[k]  # row by row: all differences at once would leave the cache
            np.maximum(largest, (tried.errors[mine] - tried.errors[rival]) / scale[rival, mine], out=largest)
        critical = max(float(np.quantile(largest, one_sided)), _normal(one_sided))
        reach = self.spread(np.full(len(others), place), others).reach(critical)
        gaps = self.means[place] - self.means[others]
        most = np.minimum(gaps + reach, self.contest.highest - self.contest.lowest)
        limits = np.where(self.same[others] == self.same[place], 0.0, most)
        pairs = zip(gaps.tolist(), limits.tolist(), strict=True)
        return {self.names[k]: Against(*pair) for k, pair in zip(others, pairs, strict=True)}

    def p_values(self, place: int, tried: _Field) -> dict[str, float]:
        """One-sided p-values for costing more than the chosen decision, adjusted by Holm for all that were tried."""
        others = np.flatnonzero(np.arange(len(self.means)) != place)
        found = dict.fromkeys(self.contest.names, math.nan)
        if not len(others):
            return found
        p = self.spread(others, place).tail(self.means[others] - self.means[place])
        adjusted = holm(np.append(p, np.ones(len(tried.means) - len(self.means))))[: len(p)].tolist()
        return found | dict(zip((self.names[k] for k in others), adjusted, strict=True))


def check_contest(names: tuple[str, ...], incumbent: Any, n_tried: Any) -> int | None:
    """Refuse an incumbent that is no model, or fewer models tried than are shown.

    Parameters
    ----------
    names : tuple of str
        The models.
    incumbent : str or None
        The one named beforehand.
    n_tried : int or None
        How many were tried.

    Returns
    -------
    int or None
        How many were tried.

    Raises
    ------
    ValueError
        Where one of them does not fit the models.

    Examples
    --------
    >>> from stakes.inference import check_contest
    >>> check_contest(("a", "b"), "a", 5)
    5
    """
    if incumbent is not None and not (isinstance(incumbent, str) and incumbent in names):
        raise ValueError(f"incumbent must be {one_of(names, incumbent)}")
    count = len(names)
    if n_tried is None:
        return None
    whole = isinstance(n_tried, (int, np.integer)) and not isinstance(n_tried, bool)
    if not whole or not count <= n_tried <= MOST_TRIED:
        raise ValueError(
            f"n_tried must be a whole number from {count}, the models shown, to {MOST_TRIED:,}, got {n_tried!r}."
        )
    return int(n_tried)


def _with_untried(
    means: Floats, covariance: Floats, errors: Floats, n_tried: int | None, models: int
) -> tuple[Floats, Floats, Floats]:
    """Add models that were tried and not shown, with the mean and correlation of those shown, which come first.

    They are like those shown in turn, the cheapest and least certain first, whatever the order of the models. One shown
    model gives no correlation: the others are then taken as uncorrelated, which is conservative.
    """
    count = len(means)
    extra = 0 if n_tried is None else max(n_tried - models, 0)
    error = np.sqrt(np.diag(covariance))
    known = np.flatnonzero(error[:models] > 0.0)  # the cost of a model that acts on all may have none
    if extra == 0 or not len(known):
        return means, covariance, errors
    scale = np.where(error > 0.0, error, 1.0)
    correlation = covariance / np.outer(scale, scale)
    shown = correlation[np.ix_(known, known)]
    shared = float(shown[~np.eye(len(known), dtype=bool)].mean()) if len(known) > 1 else 0.0
    shared = min(max(shared, 0.0), 1.0)  # errors that are the same are correlated by 1, but for rounding
    average = float(shown.mean())
    slope = shared / average if average > 0.0 else 0.0  # of a model not shown on the mean of those shown
    wide = np.full((count + extra, count + extra), shared)
    wide[:count, :count] = correlation
    wide[:count, count:] = slope * correlation[:, known].mean(axis=1)[:, None]
    wide[count:, :count] = wide[:count, count:].T
    np.fill_diagonal(wide[count:, count:], 1.0)
    in_turn = known[np.argsort(-error[known], kind="stable")]
    in_turn = in_turn[ascending(means[in_turn])]
    like = np.concatenate([np.arange(count), in_turn[np.arange(extra) % len(in_turn)]])
    draws, rng = errors[:, : draws_of(count + extra)], np.random.default_rng(extra)
    untried = slope * (draws[known] / error[known, None]).mean(axis=0)
    untried = untried + math.sqrt(max(shared - slope**2 * average, 0.0)) * rng.standard_normal(draws.shape[1])
    untried = untried + math.sqrt(1.0 - shared) * rng.standard_normal((extra, draws.shape[1]))
    untried = untried * error[like[count:], None]
    return means[like], wide * np.outer(scale[like], scale[like]), np.concatenate([draws, untried])


def _draws_of_pairs(count: int) -> int:
    """How many draws the differences between so many decisions get."""
    return max(_MOST_VALUES // count, _LEAST_DRAWS)


def _two_sided(covariance: Floats, errors: Floats, level: float) -> float:
    """Quantile of the largest absolute studentised error."""
    error = np.sqrt(np.diag(covariance))
    moving = np.flatnonzero(error > 0.0)
    if not len(moving):
        return _normal(0.5 + level / 2.0)
    correlation = covariance[np.ix_(moving, moving)] / np.outer(error[moving], error[moving])
    distinct = np.unique(same_values(np.zeros(len(moving)), correlation))
    kept = moving[distinct]
    correlation = correlation[np.ix_(distinct, distinct)]
    return largest_quantile(correlation, (errors[k] / error[k] for k in kept), level, two_sided=True)


def _normal(level: float) -> float:
    return NormalDist().inv_cdf(level)


# ``select_best``: the public entrance to selection from labels and scores.


def select_best(
    y_true: ArrayLike,
    y_prob: Mapping[str, ArrayLike],
    *,
    costs: CostsLike,
    incumbent: str | None = None,
    references: bool = True,
    n_tried: int | None = None,
    rule: Rule = "score",
    scale: Scale | None = None,
    unit_cost: float = 1.0,
    per: float = 1.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> Selection:
    """Pick the model with the lowest expected cost, and say what may be said of it although it was picked for that.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values; of a :class:`stakes.RowCosts` costs are per unit of money at stake.
    y_prob : mapping of str to array_like of shape (n,) or (n, 2)
        Probabilities of the positive class, by model.
    costs : CostDistribution, tuple of float or float
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, a number for one ratio.
    incumbent : str, optional
        A model of ``y_prob`` that was named before these rows were seen, such as the one in use.
    references : bool, default True
        Whether "treat all" and "treat none" compete too.
    n_tried : int, optional
        How many models were tried on these rows, those not shown included: the more, the larger the correction, of all
        but ``p_best``. The ones not shown are taken to be as good as those shown, and as correlated.
    rule : "score" or float, default "score"
        How scores become decisions.
    scale : {"regret", "integral", "loss"}, optional
        By default "regret", or "loss" where the mass of ``costs`` is infinite.
    unit_cost : float, default 1
        What a false positive and a false negative cost together.
    per : float, default 1
        Number of decisions that costs are counted in.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the errors.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, which is then taken as known.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients: only rows of different clusters are independent.
    confidence_level : float, default 0.95
        Of the set of possible best decisions and of the intervals, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        For draws from the normal distribution of the errors.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    The best of many equally good models looks better than it is: its plain 95% interval covers its true cost in 73.5
    to 88% of samples of 50 models. Here the point is corrected by the expected optimism of the one picked, the interval
    reaches as far as the largest of all models' studentised errors does in 95% of draws (max-T), and "possible" is the
    set of multiple comparisons with the best (Hsu 1981) with unequal variances. Limits against the incumbent and
    against treating all or no one are one-sided, at (1 + confidence_level) / 2 for all of them at once. Errors have
    Student's t distribution with degrees of freedom from the fourth moment, and room for costs that few rows show.

    Examples
    --------
    >>> from stakes.inference import select_best
    >>> y_true = [0, 1, 0, 1] * 50
    >>> a, b = [0.1, 0.8, 0.3, 0.6] * 50, [0.4, 0.6, 0.5, 0.4] * 50
    >>> found = select_best(y_true, {"a": a, "b": b}, costs=(0.2, 0.6), incumbent="b")
    >>> found.possible, found.against["b"].shown
    (('a',), True)
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, clusters=clusters)
    level = check_level(confidence_level)
    names, rng = check_models(y_true, y_prob), generator(random_state)
    n_tried = check_contest(names, incumbent, n_tried)
    distribution, rule = as_costs(costs), _check_fixed(rule)
    units = _units(y_true, distribution, scale, unit_cost=unit_cost, per=per, prevalence=prevalence)
    asked = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence, "logits": logits}
    samples = samples_of(y_true, y_prob, **asked, amounts=True)
    codes, _ = dependence_of(samples[0], clusters, None, sample_weight)
    how: dict[str, Any] = {"references": check_flag(references, "references"), "by_class": prevalence is not None}
    rows = CostRows.of(samples, distribution, rule, units.factor, clusters=codes, **how)
    contest = rows.contest((*names, *(REFERENCES if references else ())), len(names))
    told: dict[str, Any] = {"scale": units.scale, "per": units.per, "unit": units.per_stake or "decision"}
    return select(contest, incumbent=incumbent, n_tried=n_tried, confidence_level=level, random_state=rng, **told)


def _units(
    y_true: Any, costs: CostDistribution, scale: Scale | None, *, unit_cost: float, per: float, **given: Any
) -> Options:
    """Return the unit of costs, and the factor from the integral of regret."""
    scale, factor = check_scale(scale, costs)
    factor *= check_units(scale, unit_cost, per)
    return Options(scale=scale, unit_cost=float(unit_cost), per=float(per), factor=factor, **given).of_amounts(y_true)


def check_models(y_true: Any, y_prob: Any) -> tuple[str, ...]:
    """Check the names of the models."""
    if isinstance(y_true, ScoreTable):
        raise ValueError(PAIRED_NEEDS_ROWS)
    if not hasattr(y_prob, "items"):
        raise ValueError(f"y_prob must map the names of models to probabilities, got {type(y_prob).__name__}.")
    refuse_both_classes(y_prob)
    names = tuple(by_name(y_prob, "y_prob"))
    if not names:
        raise ValueError("y_prob must hold at least one model, got none.")
    taken = [name for name in names if name in REFERENCES]
    if taken:
        raise ValueError(f"y_prob must not call a model {taken[0]!r}: that names a reference.")
    return names


def samples_of(y_true: Any, y_prob: Mapping[str, ArrayLike], **options: Any) -> list[BinarySample]:
    """Read the rows of each model; messages name the model."""
    return [evaluation_data(y_true, prob, name=f"y_prob[{name!r}]", **options).rows for name, prob in y_prob.items()]


def _check_fixed(rule: Rule) -> Rule:
    """Return a rule that is not fitted to the rows, or raise."""
    if check_rule(rule) == "optimal":
        raise ValueError('rule must be "score" or a threshold, got "optimal": it is fitted to the same rows.')
    return rule
