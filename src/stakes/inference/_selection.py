"""The best of many decisions on the same rows, said so that choosing it after looking does not make it false.

Works on means and their covariance, wherever these come from. Four statements, each valid although the best was
picked: which decisions may be the best (multiple comparisons with the best), what the chosen one costs (corrected for
its having been picked; max-T interval), by how much it beats what was named beforehand (max-T limits), and what
choosing it may lose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.random_state import generator
from stakes.core.remedies import one_of
from stakes.core.validation import check_level
from stakes.inference._ranking import holm
from stakes.inference._selection_normal import ROUNDING, draws_of, largest_of, normal_draws, pair_variances, same_values
from stakes.inference._selection_quantile import largest_quantile
from stakes.inference._selection_result import Against, Selection
from stakes.inference._selection_rows import Contest
from stakes.inference._selection_words import few_carry, say

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.inference._selection_rows import Spread

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Bools = NDArray[np.bool_]
    Intervals = dict[str, tuple[float, float]]

MOST_TRIED = 2000
_MOST_VALUES = 1_500_000  # draws times decisions, for each decision whose place is open
_LEAST_DRAWS = 4_000


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
    critical, optimism = field.picked(place, n_tried, confidence_level)
    intervals, alone = field.intervals(critical), field.intervals(_normal(0.5 + confidence_level / 2.0))
    largest = largest_of(-field.means, field.covariance, errors=field.errors)
    asked: dict[str, Any] = {"n_tried": n_tried, "incumbent": incumbent, "confidence_level": confidence_level}
    asked |= {"scale": scale, "per": per, "unit": unit, "n_models": contest.n_models, "n_rows": contest.n_rows}
    found = Selection(
        chosen=names[place],
        tied=tuple(names[k] for k in tied),
        best_model=contest.names[int(np.argmin(contest.means[: contest.n_models]))],
        cost=float(field.means[place]),
        corrected_cost=float(field.means[place]) + optimism,
        interval=intervals[names[place]],
        possible=tuple(names[k] for k in np.flatnonzero(field.possible(confidence_level))),
        p_best=dict.fromkeys(contest.names, 0.0) | dict(zip(names, largest.p_best.tolist(), strict=True)),
        expected_regret=largest.excess,
        against=field.against(place, incumbent, confidence_level),
        costs=dict(zip(contest.names, contest.means.tolist(), strict=True)),
        intervals=intervals,
        p_values=field.p_values(place),
        pointwise=alone,
        critical_value=critical,
        note=field.note(place),
        **asked,
    )
    return replace(found, sentences=tuple(say(found, where)))


def _check(contest: Any, incumbent: Any, n_tried: Any, level: float) -> None:
    """Refuse another thing than a contest, one whose numbers do not fit together, or settings that do not fit it."""
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


@dataclass(frozen=True)
class _Field:
    """The decisions of finite cost: their means, covariance, draws of their errors (columns), and who equals whom."""

    contest: Contest
    places: Integers
    means: Floats
    covariance: Floats
    errors: Floats
    variance: Floats
    same: Integers

    @classmethod
    def of(cls, contest: Contest, rng: np.random.Generator) -> _Field:
        places = np.flatnonzero(np.isfinite(contest.means))
        if not len(places):
            count = len(contest.names)
            raise ValueError(f"costs must leave at least one decision a finite cost, got infinity for all {count}.")
        means, covariance = contest.means[places], contest.covariance[np.ix_(places, places)]
        varies = np.diag(covariance) > (ROUNDING * means) ** 2  # treating all does not where the prevalence is known
        covariance = covariance * np.outer(varies, varies)
        errors, variance = normal_draws(covariance, rng), pair_variances(covariance)
        return cls(contest, places, means, covariance, errors, variance, same_values(means, covariance))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.contest.names[k] for k in self.places)

    @property
    def is_reference(self) -> Bools:
        return np.asarray(self.places >= self.contest.n_models)

    def spread(self, first: Integers, second: Integers | int) -> Spread:
        """Spread of differences of decisions by their place in this field; -1 is no cost at all."""
        seconds = np.broadcast_to(np.asarray(second), first.shape)
        return self.contest.spread_of(self.places[first], np.where(seconds < 0, -1, self.places[seconds]))

    def first_place(self) -> tuple[int, list[int]]:
        """The lowest cost; a reference comes before the models that cost as much, for it needs none."""
        lowest = float(self.means.min())
        tied = np.flatnonzero(self.means - lowest <= 64 * np.finfo(float).eps * abs(lowest)).tolist()
        return next((k for k in tied if self.is_reference[k]), tied[0]), tied

    def picked(self, place: int, n_tried: int | None, level: float) -> tuple[float, float]:
        """Critical value and optimism, for the chosen one of all that might have been chosen."""
        family = np.ones(len(self.means), dtype=bool) if self.is_reference[place] else ~self.is_reference
        covariance = self.covariance[np.ix_(family, family)]
        means, covariance, errors = _with_untried(self.means[family], covariance, self.errors[family], n_tried)
        optimism = largest_of(-means, covariance, errors=errors).gain
        critical = _two_sided(covariance, errors, level)
        return critical, optimism

    def intervals(self, critical: float) -> Intervals:
        """Intervals of the costs of all decisions, as far as ``critical`` normal standard errors would reach."""
        reach = self.spread(np.arange(len(self.means)), -1).reach(critical)
        low = np.maximum(self.means - reach, 0.0).tolist()
        high = np.minimum(self.means + reach, self.contest.highest).tolist()
        found = dict.fromkeys(self.contest.names, (math.nan, math.nan))
        return found | dict(zip(self.names, zip(low, high, strict=True), strict=True))

    def note(self, place: int) -> str:
        """Where few rows carry the interval of the chosen decision."""
        spread = self.spread(np.array([place]), -1)
        return few_carry(f"the cost of {self.names[place]}", float(spread.scarce[0]))

    def possible(self, level: float) -> Bools:
        """Multiple comparisons with the best (Hsu 1981), with unequal variances: whom no other shuts out.

        A decision is out only where a witness, the rival with the largest studentised lead or the leader, is beyond the
        limit that allows for the degrees of freedom and for unseen rows too.
        """
        gaps = self.means[:, None] - self.means[None]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(gaps == 0.0, 0.0, gaps / np.sqrt(self.variance))
        ratio[self.same[:, None] == self.same[None]] = -np.inf
        keep = np.ones(len(self.means), dtype=bool)
        behind = ratio.max(axis=1) > _normal(level)
        for i in np.flatnonzero(behind & (self.same == np.arange(len(keep)))):
            keep[self.same == i] = not self._shut_out(int(i), int(ratio[i].argmax()), level)
        return keep

    def _shut_out(self, i: int, rival: int, level: float) -> bool:
        """Whether a witness leads decision i by more than the largest of all leads would by chance."""
        witness = np.unique([rival, int(self.means.argmin())])
        lead, spread = self.means[i] - self.means[witness], self.spread(np.full(len(witness), i), witness)
        least, most = _normal(level), _normal(1.0 - (1.0 - level) / (len(self.means) - 1))
        if not np.any(lead > spread.reach(least)) or np.any(lead > spread.reach(most)):
            return bool(np.any(lead > spread.reach(most)))  # no need of draws
        rivals = np.flatnonzero((self.same == np.arange(len(self.same))) & (self.variance[i] > 0.0))
        leads = self.covariance[i, i] - self.covariance[i, rivals][:, None] - self.covariance[i, rivals][None]
        scale = np.sqrt(self.variance[i, rivals])
        correlation = (leads + self.covariance[np.ix_(rivals, rivals)]) / np.outer(scale, scale)
        np.fill_diagonal(correlation, 1.0)
        some = slice(max(_MOST_VALUES // len(self.means), _LEAST_DRAWS))
        errors = (self.errors[i, some] - self.errors[rivals, some]) / scale[:, None]
        critical = largest_quantile(correlation, errors, level, two_sided=False)
        return bool(np.any(lead > spread.reach(critical)))

    def against(self, place: int, incumbent: str | None, level: float) -> dict[str, Against]:
        """One-sided limits against what was named beforehand; one critical value for all, whoever is chosen."""
        named = [k for k, name in enumerate(self.names) if self.is_reference[k] or name == incumbent]
        others = np.array([k for k in named if k != place], dtype=np.intp)
        if not len(others):
            return {}
        largest = np.zeros(self.errors.shape[1])  # where no two decisions differ nothing is larger
        for k in named:
            rivals = np.flatnonzero(self.variance[:, k] > 0.0)
            if len(rivals):
                leads = (self.errors[k] - self.errors[rivals]) / np.sqrt(self.variance[rivals, k])[:, None]
                np.maximum(largest, leads.max(axis=0), out=largest)
        one_sided = 0.5 + level / 2.0
        critical = max(float(np.quantile(largest, one_sided)), _normal(one_sided))
        reach = self.spread(np.full(len(others), place), others).reach(critical)
        gaps = self.means[place] - self.means[others]
        limits = np.where(self.same[others] == self.same[place], 0.0, gaps + reach)
        pairs = zip(gaps.tolist(), limits.tolist(), strict=True)
        return {self.names[k]: Against(*pair) for k, pair in zip(others, pairs, strict=True)}

    def p_values(self, place: int) -> dict[str, float]:
        """One-sided, for costing more than the chosen decision; adjusted by Holm."""
        others = np.flatnonzero(np.arange(len(self.means)) != place)
        found = dict.fromkeys(self.contest.names, math.nan)
        if not len(others):
            return found
        p = self.spread(others, place).tail(self.means[others] - self.means[place])
        return found | dict(zip((self.names[k] for k in others), holm(p).tolist(), strict=True))


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
    means: Floats, covariance: Floats, errors: Floats, n_tried: int | None
) -> tuple[Floats, Floats, Floats]:
    """Add the models that were tried and not shown: as good as those shown, and correlated with them as these are.

    One model alone tells nothing of correlations: the others are then taken as uncorrelated, which widens most.
    """
    count = len(means)
    extra = 0 if n_tried is None else max(n_tried - count, 0)
    error = np.sqrt(np.diag(covariance))
    if extra == 0 or not np.all(error > 0.0):
        return means, covariance, errors
    correlation = covariance / np.outer(error, error)
    shared = float(correlation[~np.eye(count, dtype=bool)].mean()) if count > 1 else 0.0
    shared = min(max(shared, 0.0), 1.0)  # errors that are the same are correlated by 1, but for rounding
    average = float(correlation.mean())
    slope = shared / average if average > 0.0 else 0.0  # of a model not shown on the mean of those shown
    wide = np.full((count + extra, count + extra), shared)
    wide[:count, :count] = correlation
    wide[:count, count:] = slope * correlation.mean(axis=1)[:, None]
    wide[count:, :count] = wide[:count, count:].T
    np.fill_diagonal(wide, 1.0)
    like = np.concatenate([np.arange(count), np.arange(extra) % count])
    draws, rng = errors[:, : draws_of(count + extra)], np.random.default_rng(extra)
    untried = slope * (draws / error[:, None]).mean(axis=0)
    untried = untried + math.sqrt(max(shared - slope**2 * average, 0.0)) * rng.standard_normal(draws.shape[1])
    untried = untried + math.sqrt(1.0 - shared) * rng.standard_normal((extra, draws.shape[1]))
    untried = untried * error[like[count:], None]
    return means[like], wide * np.outer(error[like], error[like]), np.concatenate([draws, untried])


def _two_sided(covariance: Floats, errors: Floats, level: float) -> float:
    """Quantile of the largest studentised error in size."""
    error = np.sqrt(np.diag(covariance))
    moving = np.flatnonzero(error > 0.0)
    if not len(moving):
        return _normal(0.5 + level / 2.0)
    correlation = covariance[np.ix_(moving, moving)] / np.outer(error[moving], error[moving])
    distinct = np.unique(same_values(np.zeros(len(moving)), correlation))
    kept = moving[distinct]
    correlation = correlation[np.ix_(distinct, distinct)]
    return largest_quantile(correlation, errors[kept] / error[kept, None], level, two_sided=True)


def _normal(level: float) -> float:
    return NormalDist().inv_cdf(level)
