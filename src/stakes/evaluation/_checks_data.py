"""Rows, scores, outcomes."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.outcome import Origin
from stakes.base.validation import Bools, Floats, blocks
from stakes.core.score_table import ScoreTable, class_factors, row_losses
from stakes.evaluation._calibration import area_of
from stakes.evaluation._finding import LEVEL, Evidence, Observation, slots
from stakes.evaluation._followed import follow_up_of
from stakes.evaluation._words import Unit, counted
from stakes.inference import FEW_AMOUNTS, Borne, Moments, PairedRows, fewest_borne, ordered_variance
from stakes.outcomes import CENSORED, BeyondFollowUpError, CensoringTest, RowCosts, TimeToEvent, censoring_trend
from stakes.outputs.text import REFERENCES, join, number, percent, percents
from stakes.variance.dependence import Design

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.options import Options
    from stakes.evaluation._standings import Standings


# Checks of the rows: whether there are enough of them, and whether neighbours resemble each other.

FEW = 10.0
WIDER = 1.1
CLEAR = 0.001
_LEAST_ROWS = 50
_ROUNDING = 1e-9


def few_events(standings: Standings) -> Observation | None:
    """Whether one class is too small for an interval of the best model that can be trusted, or for any."""
    table = standings.score_tables[0]
    counts = {
        "positives": _effective(table.positives, table.positives_squared),
        "negatives": _effective(table.negatives, table.negatives_squared),
    }
    name, count = min(counts.items(), key=lambda item: item[1])
    evidence = {**counts, "needed": FEW}
    if count < FEW:
        weighted = "" if count.is_integer() else " (rows of equal weight that would tell as much)"
        only = f"is only 1 {name[:-1]}" if count == 1.0 else f"are only {math.floor(count * 100.0) / 100.0:.3g} {name}"
        template = f"There {only}{weighted}; with fewer than {FEW:g} an interval means little."
        return Observation(template, (), evidence)
    moments = standings.moments.of(standings.models.index(standings.best.name))
    if moments.reason:
        return Observation(f"There is no interval for {{0}}: {moments.reason}.", (standings.best.name,), evidence)
    if moments.scarcity:
        return Observation(f"With {{0}}, {moments.scarcity}.", (standings.best.name,), evidence)
    return None


def neighbours_alike(standings: Standings) -> Observation | None:
    """Whether the best model's costs in neighbouring rows resemble each other, as in rows in order of time."""
    rows, place = standings.rows, standings.models.index(standings.best.name)
    if rows is None or rows.dependent or standings.rule == "optimal" or len(rows.y) < _LEAST_ROWS:
        return None
    if any(_sorted(values) for values in (rows.y, rows.scores[place])):
        return None
    n_rows = len(rows.y)
    whole = n_rows if rows.weight is None else float(rows.weight.sum())
    mean = math.fsum(float(_terms(standings, place, part).sum()) for part in blocks(n_rows)) / whole
    if not math.isfinite(mean):
        return None
    total = together = spread = 0.0
    for part in blocks(n_rows):
        terms = _terms(standings, place, slice(max(part.start - 1, 0), part.stop), mean)
        products = terms[1:] * terms[:-1]
        mine = terms[-(part.stop - part.start) :]
        total += float(mine @ mine)
        together += float(products.sum())
        spread += float(products @ products)
    if total == 0.0:
        return None
    correlation = together / total
    # by their own spread, so that a few large costs that happen to be neighbours prove nothing
    chance = 0.5 * math.erfc(together / math.sqrt(2.0 * spread))
    if chance > CLEAR or (wider := _wider(_terms(standings, place, slice(None), mean))) < WIDER:
        return None
    template = (
        f"The costs of {{0}} in neighbouring rows resemble each other (correlation {number(correlation)}): if the rows "
        f"stand in order of time or in groups, its interval should be about {number(wider)} times as wide."
    )
    return Observation(template, (standings.best.name,), {"correlation": correlation, "wider": wider})


def _wider(terms: Floats) -> float:
    """How many times as wide an interval is that allows for the order of the rows."""
    return math.sqrt(float(ordered_variance(terms, "auto")[0]) / float(terms @ terms))


def _terms(standings: Standings, place: int, part: slice, mean: float = 0.0) -> Floats:
    """How much more than the mean some rows cost with a model, by their weight."""
    rows: Any = standings.rows
    terms = row_losses(rows.y[part], rows.scores[place][part], standings.costs, standings.rule) - mean
    return terms if rows.weight is None else terms * rows.weight[part]


def _sorted(values: NDArray[np.bool_] | Floats) -> bool:
    rising = falling = True
    for part in blocks(len(values) - 1):
        here, there = values[part], values[part.start + 1 : part.stop + 1]
        rising, falling = rising and bool(np.all(here <= there)), falling and bool(np.all(here >= there))
        if not (rising or falling):
            return False
    return True


def _effective(weights: np.ndarray, squares: np.ndarray) -> float:
    """Rows of equal weight that would tell as much (Kish)."""
    total = float(weights.sum())
    found = total * total / float(squares.sum()) if total > 0.0 else 0.0
    whole = float(round(found))
    return whole if abs(found - whole) <= _ROUNDING * found else found


# Checks of the scores themselves: whether they reach the range, are probabilities at all, are tied.

MANY_TIED_PAIRS = 0.05
MANY_ON_THRESHOLD = 0.01
_HARD = (0.0, 1.0)


def decisions_of(standings: Standings) -> dict[str, str]:
    """What acting on everyone and on no one are called in the template of a sentence."""
    return {name: standings.words.decision(name).replace("{", "{{").replace("}", "}}") for name in REFERENCES}


def acts_like_constant(standings: Standings) -> Observation | None:
    """Models whose decisions are practically the same for every case."""
    found = [result for result in standings.results[: len(standings.models)] if result.acts_like]
    if not found:
        return None
    found.sort(key=lambda result: result.acts_like)
    names = tuple(result.name for result in found)
    clauses = []
    for reference, phrase in decisions_of(standings).items():
        group = [i for i, result in enumerate(found) if result.acts_like == reference]
        if group:
            acted = [found[i].share_acted_on for i in group]
            end, share = ("least", min(acted)) if reference == "treat all" else ("most", max(acted))
            told = {"100%": "all", "0%": "none of the"}.get(percent(share), f"at {end} {percent(share)} of")
            verb = "acts" if len(group) == 1 else "act"
            clauses.append(f"{join([f'{{{i}}}' for i in group])} {verb} like {phrase}, acting on {told} cases")
    evidence = {
        "share_acted_on": {result.name: result.share_acted_on for result in found},
        "share_in_range": {result.name: result.in_range[0] for result in found},
        "lowest_score": {name: float(standings.score_table(name).scores[0]) for name in names},
        "highest_score": {name: float(standings.score_table(name).scores[-1]) for name in names},
    }
    return Observation(f"{'; '.join(clauses)}.", names, evidence)


def hard_labels(standings: Standings) -> Observation | None:
    """Models that give decisions in place of probabilities."""
    if not isinstance(standings.rule, str):
        return None
    tables = {name: standings.score_table(name) for name in standings.models}
    names = tuple(name for name, table in tables.items() if is_hard(table) and len(table.scores) > 1)
    if not names:
        return None
    verb = "gives" if len(names) == 1 else "give"
    template = (
        f"{slots(len(names))} {verb} only the scores 0 and 1: decisions that no threshold changes, not probabilities."
    )
    return Observation(template, names, {"share_of_ones": {name: _share_of_ones(standings, name) for name in names}})


def is_hard(table: ScoreTable) -> bool:
    """Whether every score is 0 or 1."""
    return bool(np.isin(table.scores, _HARD).all())


def tied_scores(standings: Standings) -> Observation | None:
    """Models whose AUC hangs on how ties between positives and negatives are counted."""
    shares = {}
    for name in standings.models:
        table = standings.score_table(name)
        if len(table.scores) > 1 and not is_hard(table):
            shares[name] = _tied_pairs(table)
    names = tuple(name for name, share in shares.items() if share >= MANY_TIED_PAIRS)
    if not names:
        return None
    worst = max(names, key=shares.__getitem__)
    half = shares[worst] / 2.0
    auc = standings[worst].auc
    whose = f"for {{{names.index(worst)}}} " if len(names) > 1 else ""
    template = (
        f"Many scores of {slots(len(names))} are tied: {whose}{percent(shares[worst])} of the pairs of a positive and "
        f"a negative, so that its AUC is anything from {auc - half:.3f} to {auc + half:.3f} as ties are counted."
    )
    evidence = {
        "tied_pairs": {name: shares[name] for name in names},
        "distinct_scores": {name: float(len(standings.score_table(name).scores)) for name in names},
        "auc": {name: standings[name].auc for name in names},
    }
    return Observation(template, names, evidence)


def score_on_threshold(standings: Standings) -> Observation | None:
    """Models for which many cases score exactly a threshold that counts, unless such a case is half acted on."""
    costs, own = standings.costs, isinstance(standings.rule, str)
    atoms, tie = (costs.atoms[0], costs.tie) if own else (np.array([standings.rule]), 1.0)
    shares = {}
    for name in standings.models:
        table = standings.score_table(name)
        on = np.isin(table.scores, atoms)
        shares[name] = float(table.positives[on].sum() + table.negatives[on].sum()) / table.total
    names = tuple(name for name, share in shares.items() if share >= MANY_ON_THRESHOLD)
    if not names or standings.rule == "optimal" or tie == 0.5:
        return None
    verb, convention = "scores" if len(names) == 1 else "score", "is acted on"
    if tie != 1.0:
        convention = f"counts {counted(tie)}"
    share = f"{percent(max(shares.values()))} of cases{' or fewer' if len(names) > 1 else ''}"
    template = (
        f"{slots(len(names))} {verb} {share} exactly at a threshold that "
        f"counts: what that costs hangs on the convention that such a case {convention}."
    )
    return Observation(template, names, {"share_on_threshold": {name: shares[name] for name in names}})


def half_outside(standings: Standings) -> Observation | None:
    """Whether accuracy's threshold is one that nobody holds."""
    low, high = standings.costs.low, standings.costs.high
    if low <= 0.5 <= high:
        return None
    place = (
        f"is not your threshold of {percent(low)}"
        if low == high
        else f"lies outside your thresholds, {' to '.join(percents([low, high]))}"
    )
    template = f"The threshold of 50% {place}: accuracy and F1 at 0.5 judge decisions that you would not take."
    return Observation(template, (), {"low": low, "high": high})


def _share_of_ones(standings: Standings, name: str) -> float:
    table = standings.score_table(name)
    ones = table.scores == 1.0
    return float(table.positives[ones].sum() + table.negatives[ones].sum()) / table.total


def _tied_pairs(table: ScoreTable) -> float:
    return float(np.dot(table.positives, table.negatives)) / (table.total_positives * table.total_negatives)


# What to look at where an outcome is an event by a horizon: who left, who stayed, and which way the scores run.

FEW_AT_RISK = 20
FEW_EFFECTIVE = 50
HEAVY = 0.05
OFF = 0.05  # from 1, of the sum of weights over the rows; nearer they do no harm
_FIFTHS = np.arange(1, 5) / 5


def _outcome(standings: Standings) -> TimeToEvent | None:
    """The follow-up by which rows are weighed; None where every status is known, so that none are."""
    origin = None if standings.rows is None else standings.rows.origin
    return None if origin is None else follow_up_of(origin.outcome)


def censoring_follows_score(standings: Standings) -> Observation | None:
    """Whether people with some scores were lost earlier than others, and what that may have changed."""
    outcome, rows = _outcome(standings), standings.rows
    if outcome is None or rows is None or not outcome.pooled:
        return None
    tests = [_censoring_test(rows, outcome, score) for score in rows.every_score]
    level = LEVEL / len(tests)
    index = min(range(len(tests)), key=lambda i: tests[i].p_value)
    if not tests[index].p_value < level:
        return None
    name, found = standings.models[index], tests[index]
    words = [_who_left(found, level)]
    if standings.options.rule != "optimal":  # its thresholds would change with the censoring
        words.append(_regrouped(standings, rows, outcome, index))
    evidence: Evidence = {"trend_z": found.trend_z, "logrank": found.logrank, "p_value": found.p_value}
    return Observation(" ".join(words), (name,), evidence)


def _censoring_test(rows: PairedRows, outcome: TimeToEvent, score: Floats) -> CensoringTest:
    """Whether censoring depends on a score; of rows that depend on each other by the trend alone."""
    from scipy.special import ndtri

    if rows.clusters is None and rows.lags is None:
        return outcome.censoring_test(score)
    use, follow_up = outcome.present, outcome.follow_up
    parts = censoring_trend(follow_up.time[use], follow_up.ended[use] == CENSORED, score[use], outcome.horizon)
    design = Design(outcome.y[use], np.ones(len(parts)), codes=rows.clusters, lags=rows.lags)
    variance, degrees, reason = design.variance_of(parts)
    trend = Moments(float(parts.sum()), float(variance), float(degrees), reason=reason)
    return CensoringTest(math.copysign(float(ndtri(0.5 * trend.p_value())), trend.value), math.nan, 0)


def _who_left(found: CensoringTest, level: float) -> str:
    if 2.0 * found.trend_p_value < level:
        return f"People with higher scores from {{0}} left {'earlier' if found.trend_z > 0 else 'later'} than others."
    return "How long people were followed differs between fifths of the scores of {0}."


def _regrouped(standings: Standings, rows: PairedRows, outcome: TimeToEvent, index: int) -> str:
    """Cost as it stands and with censoring in fifths of the score, and their difference in its standard errors."""
    options = standings.options
    score = rows.every_score[index]
    groups = np.searchsorted(np.quantile(score[outcome.present], _FIFTHS), score, side="right")
    try:
        both = outcome, outcome.within(groups)
    except BeyondFollowUpError:
        return "Censoring cannot be estimated in five groups of the score: one has nobody followed for so long."
    harm = float(options.harms([standings.models[index]])[0])
    losses = options.factor * (row_losses(outcome.y, score, options.costs, options.plain_rule) + harm)
    values, parts = [], []
    for each in both:
        places = np.flatnonzero(each.weight)
        design = _design(rows, each, places, score, options.prevalence)
        values.append(float(np.dot(design.share, losses[places])))
        parts.append(design.contributions(design.centred(losses[places])))
    error = math.sqrt(float(design.variance_of(parts[0] - parts[1])[0]))
    unit = Unit.of(options, values, [values[1] - values[0]])
    change = abs(values[0] - values[1]) / error if error != 0.0 else 0.0
    errors = "" if math.isnan(change) else f", a difference of {change:.1f} of the difference's standard errors"
    return (
        f"Its cost is {unit.fixed(values[0])} {unit.per} as it stands and {unit.fixed(values[1])} with censoring "
        f"estimated in five groups of the score{errors}."
    )


def _design(
    rows: PairedRows, outcome: TimeToEvent, places: NDArray[np.intp], score: Floats, prevalence: float | None = None
) -> Design:
    """How the rows of known status weigh, and which of all depend on each other."""
    y, weight, origin = outcome.y[places], outcome.weight[places], Origin(outcome, places, score)
    if prevalence is not None:
        up, down = class_factors(prevalence, float(weight[y].sum()), float(weight[~y].sum()))
        weight = weight * np.where(y, up, down)
    return Design(y, weight, None, prevalence is not None, rows.clusters, rows.lags, origin)


def censoring_reading(standings: Standings) -> Observation | None:
    """Whether the estimator of dcurves, which estimates censoring among those acted on, gives another net benefit."""
    outcome, rows = _outcome(standings), standings.rows
    if (
        outcome is None
        or rows is None
        or not outcome.pooled
        or rows.fixed_prevalence  # the other estimator takes none
        or standings.options.per_stake
        or standings.rule != "score"
    ):
        return None
    name, ends = standings.best.name, (standings.costs.low, standings.costs.high)
    score = rows.every_score[standings.models.index(name)]
    found = []
    for threshold in sorted({ends[0], sum(ends) / 2.0, ends[1]}):
        acted = (score >= threshold) & outcome.present
        if 0.0 < threshold < 1.0 and acted.any():
            found.append(_two_readings(rows, outcome, score, acted, threshold))
    at = max(found, key=lambda one: one["errors"], default={"errors": 0.0})
    if not at["errors"] > 1.0:
        return None
    at |= {key: at[key] - standings.harms.get(name, 0.0) for key in ("net_benefit", "acted")}
    template = (
        f"At {percent(at['threshold'])} the net benefit of {{0}} is {number(at['net_benefit'])} with censoring "
        f"estimated from all rows, as here, and {number(at['acted'])} with censoring estimated from those acted on, as "
        f"in dcurves: {at['errors']:.1f} of its standard errors apart."
    )
    return Observation(template, (name,), at)


def _two_readings(
    rows: PairedRows, outcome: TimeToEvent, score: Floats, acted: Bools, threshold: float
) -> dict[str, float]:
    """Net benefit at a threshold by both estimators of censoring, and their difference in standard errors of ours."""
    odds = threshold / (1.0 - threshold)
    places = np.flatnonzero(outcome.weight)
    design = _design(rows, outcome, places, score)
    values = np.where(acted, np.where(outcome.y, 1.0, -odds), 0.0)[places]
    ours = float(np.dot(design.share, values))
    error = math.sqrt(float(design.variance_of(design.contributions(design.centred(values)))[0]))
    units = outcome.units
    try:
        rate = outcome.take(acted).prevalence
    except BeyondFollowUpError:  # nobody acted on was followed to the horizon: there is no other estimate
        return {"errors": 0.0}
    other = float(units[acted].sum() / units.sum()) * (rate - (1.0 - rate) * odds)
    errors = abs(ours - other) / error if error != 0.0 else 0.0
    return {"threshold": threshold, "net_benefit": ours, "acted": other, "standard_error": error, "errors": errors}


def thin_follow_up(standings: Standings) -> Observation | None:
    """Whether few people were followed to the horizon."""
    outcome = _outcome(standings)
    if outcome is None or outcome.at_risk >= FEW_AT_RISK:
        return None
    template = (
        f"Only {outcome.at_risk} of {standings.n_rows:,} people were followed to the horizon {outcome.horizon:g}: what "
        "happened to the others by then is estimated from these few."
    )
    return Observation(template, (), {"at_risk": float(outcome.at_risk), "needed": float(FEW_AT_RISK)})


def nobody_censored(standings: Standings) -> Observation | None:
    """Whether nobody is censored before the horizon, though rows without the event by then were followed unequally."""
    outcome = follow_up_of(standings.outcome)
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
    outcome = follow_up_of(standings.outcome)
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
    outcome, rows = follow_up_of(standings.outcome), standings.rows
    if outcome is None or rows is None:
        return None
    weight, scores = outcome.units, rows.every_score
    if rows.origin is None:
        weight, scores = weight[outcome.present], rows.scores
    rate, level = outcome.prevalence, 1.0 - (1.0 - standings.confidence_level) / len(standings.models)
    means = {name: float(np.average(each, weights=weight)) for name, each in zip(standings.models, scores, strict=True)}
    found = {
        name: mean
        for name, mean in means.items()
        if standings[name].auc < 0.5
        and abs(1.0 - mean - rate) < abs(mean - rate)
        and area_of(standings, name, level).interval[1] < 0.5
    }
    if not found:
        return None
    template = (
        f"The scores of {slots(len(found))} fall where risk rises, and 1 less their mean is nearer to the share with "
        f"the event, {percent(rate)}, than their mean: they look like probabilities of being free of the event."
    )
    return Observation(template, tuple(found), {"mean_score": found, "prevalence": rate})


def few_amounts_decide(standings: Standings) -> Observation | None:
    """Whether few mistakes, or a few large amounts, make most of what the best model's mistakes cost."""
    if not standings.options.per_stake or standings.options.rule == "optimal":
        return None
    name = standings.best.name
    place = standings.models.index(name)
    found = _bearing(standings, place) if standings._charged is None else standings._charged.bearing[place]
    if found is None or found.effective >= FEW_AMOUNTS:
        return None
    evidence = {"effective_rows": found.effective, "needed": float(FEW_AMOUNTS)}
    clustered = standings.rows is not None and standings.rows.clusters is not None
    return Observation(_few_or_uneven(found, clustered=clustered), (name,), evidence)


def _few_or_uneven(found: Borne, *, clustered: bool) -> str:
    """Whether mistakes are few, or amounts uneven; of rows in clusters these are counted."""
    if found.effective == 0.0:
        return "{0} made no mistake that costs anything in these rows: they do not show what its mistakes cost."
    if found.rows < FEW_AMOUNTS and found.effective >= found.rows / 2.0:
        which = "negatives" if found.positive else "positives"
        hold = f"of which these rows hold {f'only {found.seen:.0f}' if found.seen else 'none'}"
        if clustered and found.seen:
            hold = f"which only {found.seen:.0f} cluster{' holds' if found.seen == 1.0 else 's hold'}"
        return f"Most of the uncertainty about what mistakes of {{0}} cost comes from its false {which}, {hold}."
    if found.effective < 1.0:
        return "A few large amounts, among mistakes made or still to come, decide what mistakes of {0} cost."
    equal = f"{found.effective:.3g} equal amounts{' of one cluster each' if clustered else ''}"
    return f"What mistakes of {{0}} cost is as uneven as {equal}: a few large ones decide."


def _bearing(standings: Standings, place: int) -> Borne | None:
    """Rows that bear what the mistakes of a model cost; None where rows are not known."""
    rows, options = standings.rows, standings.options
    if rows is None or rows.weight is None:
        return None
    score = rows.scores[place]
    losses = row_losses(rows.y, score, options.costs, options.plain_rule)
    codes = rows.clusters
    codes = codes if codes is None or rows.origin is None else codes[rows.origin.among_present]
    return fewest_borne(rows.y, rows.weight * losses, *_mistakes(rows, score, options), codes)


def _mistakes(rows: PairedRows, score: Floats, options: Options) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """What each row's mistake would cost were it a negative, and were it a positive; and the amounts behind that."""
    outcome = None if rows.origin is None else rows.origin.outcome
    if not isinstance(outcome, RowCosts) or rows.origin is None:
        raise TypeError("rows that count by amounts come from RowCosts")
    places, as_class = rows.origin.places, (np.zeros(len(score), dtype=bool), np.ones(len(score), dtype=bool))
    losses = [row_losses(y, score, options.costs, options.plain_rule) for y in as_class]
    counted = outcome.counted[places]
    amounts = counted * outcome.false_positive[places], counted * outcome.false_negative[places]
    return (amounts[0] * losses[0], amounts[1] * losses[1]), amounts
