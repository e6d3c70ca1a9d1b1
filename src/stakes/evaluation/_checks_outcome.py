"""What to look at where an outcome is an event by a horizon: who left, who stayed, and which way the scores run."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.outcome import Origin
from stakes.core.regret import row_losses
from stakes.evaluation._finding import LEVEL, Evidence, Observation, slots
from stakes.inference import FEW_AMOUNTS, carriers, to_expect
from stakes.inference._dependence import Design
from stakes.outcomes import BeyondFollowUpError, RowCosts, TimeToEvent
from stakes.shown.words import number, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.options import Options
    from stakes.core.outcome import Outcome
    from stakes.evaluation._standings import Standings
    from stakes.inference import PairedRows
    from stakes.outcomes import CensoringTest

    Floats = NDArray[np.float64]

FEW_AT_RISK = 20
FEW_EFFECTIVE = 50
HEAVY = 0.05
OFF = 0.05  # from 1, of the sum of weights over the rows; nearer they do no harm
_FIFTHS = np.arange(1, 5) / 5


def _outcome(standings: Standings) -> TimeToEvent | None:
    """The follow-up by which rows are weighed; None where every status is known, so that none are."""
    origin = None if standings.rows is None else standings.rows.origin
    return None if origin is None else _follow_up(origin.outcome)


def _follow_up(outcome: Outcome | None) -> TimeToEvent | None:
    outcome = outcome.inner if isinstance(outcome, RowCosts) else outcome
    return outcome if isinstance(outcome, TimeToEvent) else None


def censoring_follows_score(standings: Standings) -> Observation | None:
    """Whether people with some scores were lost earlier than others, and what that may have changed."""
    outcome, rows = _outcome(standings), standings.rows
    if outcome is None or rows is None or not outcome.pooled:
        return None
    tests = [outcome.censoring_test(score) for score in rows.every_score]
    level = LEVEL / len(tests)
    index = min(range(len(tests)), key=lambda i: tests[i].p_value)
    if not tests[index].p_value < level:
        return None
    name, found = standings.models[index], tests[index]
    values, change = _regrouped(standings, outcome, index)
    if not values:
        told = "Censoring cannot be estimated in five groups of the score: one has nobody followed for so long."
    else:
        told = (
            f"Its cost is {number(values[0])} as it stands and {number(values[1])} with censoring estimated in five "
            f"groups of the score, a change of {change:.1f} of its standard errors."
        )
    evidence: Evidence = {"trend_z": found.trend_z, "logrank": found.logrank, "p_value": found.p_value}
    return Observation(f"{_who_left(found, level)} {told}", (name,), evidence)


def _who_left(found: CensoringTest, level: float) -> str:
    if 2.0 * found.trend_p_value < level:
        return f"People with higher scores from {{0}} left {'earlier' if found.trend_z > 0 else 'later'} than others."
    return "How long people were followed differs between fifths of the scores of {0}."


def _regrouped(standings: Standings, outcome: TimeToEvent, index: int) -> tuple[tuple[float, ...], float]:
    """Cost as it stands and with censoring in fifths of the score, and their difference over its standard error."""
    rows, options = standings.rows, standings.options
    if rows is None or options.rule == "optimal":
        return (), math.nan
    score = rows.every_score[index]
    groups = np.searchsorted(np.quantile(score[outcome.present], _FIFTHS), score, side="right")
    try:
        both = outcome, outcome.within(groups)
    except BeyondFollowUpError:
        return (), math.nan
    losses = options.factor * row_losses(outcome.y, score, options.costs, options.plain_rule)
    values, parts = [], []
    for each in both:
        places = np.flatnonzero(each.weight)
        design = Design(each.y[places], each.weight[places], origin=Origin(each, places, score))
        values.append(float(np.dot(design.share, losses[places])))
        parts.append(design.parts(design.centred(losses[places])))
    error = float(np.linalg.norm(parts[0] - parts[1]))
    return tuple(values), abs(values[0] - values[1]) / error if error > 0.0 else 0.0


def thin_follow_up(standings: Standings) -> Observation | None:
    """Whether few people were followed to the horizon."""
    outcome = _outcome(standings)
    if outcome is None or outcome.at_risk >= FEW_AT_RISK:
        return None
    template = (
        f"Only {outcome.at_risk} of {standings.n_rows:,} people were followed to the horizon {outcome.horizon:g}: what "
        "happened to the others by then is told by these few."
    )
    return Observation(template, (), {"at_risk": float(outcome.at_risk), "needed": float(FEW_AT_RISK)})


def nobody_censored(standings: Standings) -> Observation | None:
    """Whether nobody is censored before the horizon, though rows without the event by then were followed unequally."""
    outcome = _follow_up(standings.outcome)
    if outcome is None:
        return None
    use, horizon = outcome.present, outcome.horizon
    rest = outcome.follow_up.time[use & ~outcome.y]
    if np.any(use & ~outcome.known) or not len(rest) or rest.min() == rest.max():
        return None
    others = int(np.count_nonzero(use & outcome.competing))
    template = (
        f"Nobody is censored before the horizon {horizon:g}, although follow-up of the {len(rest):,} rows without the "
        f"event by then ends at times from {rest.min():.3g} to {rest.max():.3g}"
        f"{f', for {others:,} of them with another event by the horizon' if others else ''}."
    )
    ends = {"shortest": float(rest.min()), "longest": float(rest.max())}
    return Observation(template, (), {"rows": float(len(rest)), **ends, "horizon": horizon})


def competing_takes_most(standings: Standings) -> Observation | None:
    """Whether more than half of the events by the horizon are of causes that only compete."""
    outcome = _follow_up(standings.outcome)
    if outcome is None:
        return None
    competing = int(np.count_nonzero(outcome.present & outcome.competing))
    events = competing + int(np.count_nonzero(outcome.present & outcome.y))
    if competing * 2 <= events:
        return None
    template = (
        f"Of the {events:,} events by the horizon {outcome.horizon:g}, {competing:,} ({percent(competing / events)}) "
        "are of causes other than that of interest: these rows count as negatives for good, not as censored."
    )
    return Observation(template, (), {"events": float(events), "competing": float(competing)})


def heavy_weights(standings: Standings) -> Observation | None:
    """Whether few rows stand for many."""
    outcome = _outcome(standings)
    if outcome is None:
        return None
    largest = float(outcome.weight.max() / outcome.weight.sum())
    if outcome.effective_rows >= FEW_EFFECTIVE and largest <= HEAVY:
        return None
    template = (
        f"The weights are as uneven as {outcome.effective_rows:.0f} equal ones, and the largest is {percent(largest)} "
        "of all."
    )
    return Observation(template, (), {"effective_rows": outcome.effective_rows, "largest_share": largest})


def weights_off(standings: Standings) -> Observation | None:
    """Whether given probabilities not to be censored make weights that do not stand for all rows."""
    outcome = _outcome(standings)
    if outcome is None or outcome.estimated:
        return None
    share = outcome.weight_share
    beyond = NormalDist().inv_cdf(1.0 - LEVEL / 2.0) * outcome.weight_share_error
    if abs(share - 1.0) <= max(OFF, beyond):
        return None
    template = (
        f"With the probabilities not to be censored that were given, the rows of known status stand for "
        f"{percent(share)} of the rows, not for all."
    )
    return Observation(template, (), {"weight_share": share})


def looks_like_survival(standings: Standings) -> Observation | None:
    """Whether scores look like the probability of being free of the event."""
    outcome, rows = _outcome(standings), standings.rows
    if outcome is None or rows is None:
        return None
    weight = np.ones(len(outcome.y)) if outcome.sample_weight is None else outcome.sample_weight
    means = {
        name: float(np.average(score, weights=weight))
        for name, score in zip(standings.models, rows.every_score, strict=True)
    }
    rate = outcome.prevalence
    found = {
        name: mean
        for name, mean in means.items()
        if standings[name].auc < 0.5 and abs(1.0 - mean - rate) < abs(mean - rate)
    }
    if not found:
        return None
    template = (
        f"The scores of {slots(len(found))} fall where risk rises, and 1 less their mean is nearer to the share with "
        f"the event, {percent(rate)}, than their mean: they look like probabilities of being free of the event."
    )
    return Observation(template, tuple(found), {"mean_score": found, "prevalence": rate})


def few_amounts_decide(standings: Standings) -> Observation | None:
    """Whether a few large amounts make most of what the best model's mistakes cost."""
    rows, options = standings.rows, standings.options
    if rows is None or rows.weight is None or not options.per_stake or options.rule == "optimal":
        return None
    name = standings.best.name
    score = rows.scores[standings.models.index(name)]
    losses = row_losses(rows.y, score, options.costs, options.plain_rule)
    count = min(carriers(rows.weight * losses, rows.y), to_expect(rows.y, _mistakes(rows, score, options)))
    if count >= FEW_AMOUNTS:
        return None
    template = f"What mistakes of {{0}} cost is as uneven as {count:.3g} equal amounts: a few large ones decide."
    return Observation(template, (name,), {"effective_rows": count, "needed": float(FEW_AMOUNTS)})


def _mistakes(rows: PairedRows, score: Floats, options: Options) -> tuple[Floats, Floats]:
    """What each row's mistake would cost were it a negative, and were it a positive."""
    outcome = None if rows.origin is None else rows.origin.outcome
    if not isinstance(outcome, RowCosts) or rows.origin is None:
        raise TypeError("rows that count by amounts come from RowCosts")
    places, as_class = rows.origin.places, (np.zeros(len(score), dtype=bool), np.ones(len(score), dtype=bool))
    losses = [row_losses(y, score, options.costs, options.plain_rule) for y in as_class]
    amounts = outcome.false_positive[places], outcome.false_negative[places]
    counted = outcome.counted[places]
    return counted * amounts[0] * losses[0], counted * amounts[1] * losses[1]
