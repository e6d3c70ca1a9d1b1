"""FINDINGS, ACTION_FINDINGS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from stakes.base.validation import check_kind
from stakes.evaluation import _changes as changes, _checks_data as data, _checks_models as models
from stakes.evaluation._finding import LEVEL, SEVERITIES, Check, Findings, Observation
from stakes.inference import FEW_AMOUNTS
from stakes.outputs.result_table import markdown_table
from stakes.outputs.text import join, number, p_value, shorten, visible

if TYPE_CHECKING:
    from stakes.actions import ActionEvaluation
    from stakes.evaluation._standings import Standings


# The coded checks of an evaluation, each with its rule and its remedy; what they find can be silenced by code.

_BEYOND_CHANCE = f"at level {LEVEL:g}, shared among the models"

FINDINGS: dict[str, Check] = {
    check.code: check
    for check in (
        Check(
            "hard-labels",
            "warning",
            "scores are 0 and 1 only: decisions, not probabilities",
            "every score is 0 or 1, unless a deployed threshold is evaluated",
            "A test with two outcomes is judged as it is. A classifier should give its probabilities (predict_proba, "
            "not predict), or be evaluated as a deployed threshold (rule=0.5).",
            data.hard_labels,
            of_amounts=True,
        ),
        Check(
            "inverted",
            "error",
            "scores fall where events rise",
            f"the AUC is below one half beyond chance {_BEYOND_CHANCE}, and the slope of recalibration is below zero",
            "Look whether the label or the score is turned round: pos_label= (--pos-label) names the positive label, "
            "and the probability of the other class is 1 less the score.",
            models.inverted,
            of_rows="clustered",
        ),
        Check(
            "constant",
            "error",
            "every row has the same score",
            "a model has one distinct score",
            "Look whether the column of scores was filled: such a model is one decision for everybody.",
            models.constant,
        ),
        Check(
            "worse-than-prevalence",
            "error",
            "miscalibration exceeds discrimination in the range",
            f"the skill is below zero beyond chance {_BEYOND_CHANCE}, and scores that were calibrated would hardly "
            "ever do so badly at the same level",
            "Recalibrate on rows that were not used for training (isotonic or logistic regression), then evaluate "
            "again; until then do not act on these scores at these thresholds.",
            models.miscalibrated,
            of_rows="clustered",
        ),
        Check(
            "calibration-in-the-large",
            "warning",
            "the risks are too high or too low on average",
            f"observed to expected events differ from 1 beyond chance {_BEYOND_CHANCE}, for these rows and for "
            f"calibrated scores, and the odds of the mean score and of an event differ by a factor of "
            f"{models.FAR:g}",
            "The training rows tell the causes apart. Mean score as far off there: weights or resampling; undo just "
            "those (correction.undo_class_weight, undo_sampling). Right there, and the slope as here: another "
            "prevalence (correction.shift_prior). Right there, with a slope nearer to 1: overfitting; recalibrate on "
            "other rows. The ranking stays as it is.",
            models.off_in_the_large,
            of_rows="clustered",
        ),
        Check(
            "acts-like-constant",
            "warning",
            "scores never reach the range, so the model decides the same for everybody",
            "averaged over the thresholds, 99% of decisions are those of treating everyone or no one, and the cost is "
            "within 1% of theirs",
            "If the scores are lower or higher than the event rates, recalibrate them. If they are calibrated, these "
            "thresholds call for one decision for all, and no model is needed.",
            data.acts_like_constant,
        ),
        Check(
            "not-better",
            "warning",
            "the best model is not shown to be better than treating everyone or no one",
            "the interval of the difference in cost does not lie below zero, and that decision may be the best one or "
            "the model may not",
            "Do not claim that the model helps at these thresholds. More rows narrow the interval; recalibration may "
            "lower the cost.",
            models.not_better,
            of_amounts=True,
        ),
        Check(
            "curves-cross",
            "warning",
            "another decision costs less at some thresholds of the range",
            "a band over 61 thresholds of the range, and over all pairs of models at once, shows it",
            "If you can say in which part of the range your thresholds lie, evaluate that part alone: it may have "
            "another answer. evaluation.best_by_bounds() shows it for every part.",
            models.dearer_somewhere,
            of_rows="apart",
        ),
        Check(
            "auc-disagrees",
            "warning",
            "AUC prefers a model that costs more in the range",
            f"both differences are beyond chance at level {LEVEL:g}, shared among the pairs of models",
            "Choose by the cost in this range. If the model that AUC prefers is badly calibrated here, recalibrate it "
            "on other rows and compare again: its ranking may then pay.",
            models.auc_disagrees,
            of_rows="always",
        ),
        Check(
            "group-not-as-promised",
            "warning",
            "a model costs more or less in a group than its own scores promise there",
            "the cost less what the scores expect differs from zero at the evaluation's level after Holm's correction "
            "over groups and models, where groups were asked for",
            "Recalibrate within the group, on other rows. The share of positives and the mix of cases explain no such "
            "difference: scores that are right keep their promise in every group.",
            models.group_not_as_promised,
        ),
        Check(
            "looks-like-survival",
            "error",
            "scores fall where the risk of the event rises",
            "with a time to event: the AUC's interval, at the evaluation's level shared among the models, lies below "
            "one half, and 1 less the mean score is nearer to the event rate than the mean score",
            "Pass the probability of the event by the horizon, 1 - S(t), not that of being free of it.",
            data.looks_like_survival,
        ),
        Check(
            "censoring-follows-score",
            "warning",
            "people with some scores left earlier than others",
            f"of a test of trend and one between fifths of the score, the smaller p-value twice is below {LEVEL:g}, "
            "shared among the models; of rows in clusters or in order the trend alone counts",
            "Estimate censoring in groups of the score: TimeToEvent(groups=...), the same groups for all models.",
            data.censoring_follows_score,
        ),
        Check(
            "censoring-reading",
            "info",
            "dcurves would estimate the net benefit otherwise",
            "with a time to event and no stated prevalence: at the ends or the middle of the range the net benefit of "
            "the best model differs by more than its standard error where censoring is estimated from those acted on "
            "alone",
            'net_benefit_curve(..., censoring="acted") gives the other curve. Both assume that censoring does not '
            "depend on the score; where it does, estimate it in groups of the score: TimeToEvent(groups=...).",
            data.censoring_reading,
        ),
        Check(
            "competing-takes-most",
            "warning",
            "most events are of causes other than that of interest",
            "with a time to event: more than half of the events by the horizon compete",
            "Nothing, if these events rule out that of interest. If one of their codes means censored, name it "
            "(censored=, --censored); if it counts as the event, too, add it to cause= (--cause).",
            data.competing_takes_most,
            of_amounts=True,
        ),
        Check(
            "thin-follow-up",
            "warning",
            "few people were followed to the horizon",
            f"fewer than {data.FEW_AT_RISK} rows; with fewer than 5 there are no intervals",
            "Choose an earlier horizon, or wait for more follow-up.",
            data.thin_follow_up,
            of_amounts=True,
        ),
        Check(
            "heavy-weights",
            "warning",
            "few rows carry most of the weight",
            f"the weights of a time to event are as uneven as fewer than {data.FEW_EFFECTIVE} equal ones, or one "
            f"has more than {data.HEAVY:.0%} of the whole",
            "Choose an earlier horizon, or read the intervals as rough.",
            data.heavy_weights,
            of_amounts=True,
        ),
        Check(
            "weights-off",
            "warning",
            "given probabilities of censoring do not fit the rows",
            f"the weights that they make sum to {data.OFF:.0%} more or less than the rows, beyond chance at level "
            f"{LEVEL:g}",
            "Estimate censoring from these rows (the default), or mend the model of censoring.",
            data.weights_off,
            of_amounts=True,
        ),
        Check(
            "few-events",
            "warning",
            "too few positives or negatives for the interval",
            f"one class has fewer than {data.FEW:g} rows (effective rows, if weighted), or so few carry the "
            "cost of the best model that its interval was widened",
            "Read the intervals as rough, and look for more rows of the rare class: more of the other class help "
            "little.",
            data.few_events,
            of_amounts=True,
        ),
        Check(
            "few-amounts-decide",
            "warning",
            "few mistakes, or a few large amounts, make most of the cost",
            f"with amounts by row: what the best model's mistakes cost is as uneven as fewer than {FEW_AMOUNTS} equal "
            "amounts, those of the mistakes or as many of all rows",
            "Look at the largest amounts one by one, and read the intervals as too short: those of money say so, or "
            "are withheld.",
            data.few_amounts_decide,
            of_amounts=True,
        ),
        Check(
            "neighbours-alike",
            "warning",
            "rows near each other resemble each other, as rows in order of time do",
            f"the costs of the best model in neighbouring rows correlate at level {data.CLEAR:g} and make its interval "
            f"{data.WIDER:g} times as wide or wider; not where the rows are sorted by label or score",
            'Rows in order of time: lags="auto" (--lags auto). Rows in groups, such as patients: clusters= '
            "(--clusters). Rows sorted by something else: nothing, or shuffle them.",
            data.neighbours_alike,
            of_rows="apart",
        ),
        Check(
            "tied-scores",
            "warning",
            "so many ties that AUC hangs on how they are counted",
            f"{data.MANY_TIED_PAIRS:.0%} or more of the pairs of a positive and a negative are tied",
            "Give the scores with all their digits. Where they are this coarse by nature, prefer the cost in the "
            "range, which needs no rule for ties, to AUC and the area under the precision-recall curve.",
            data.tied_scores,
        ),
        Check(
            "score-on-threshold",
            "warning",
            "many cases score exactly a threshold that counts",
            f"{data.MANY_ON_THRESHOLD:.0%} or more of cases score exactly a single threshold of the costs, or the "
            "deployed one; not where they count as half acted on",
            "Move the threshold between two scores, or count such cases as half acted on: costs.Fixed(t, tie=0.5).",
            data.score_on_threshold,
        ),
        Check(
            "deferral-harms",
            "warning",
            "leaving cases to someone else costs more than it saves",
            f"the value of the option is below zero beyond chance {_BEYOND_CHANCE}, and with scores that were "
            "calibrated it would hardly ever be so low at the same level",
            "Recalibrate the scores before deferring by them, or fit the thresholds (evaluate_deferral, "
            'rule="optimal"); at face value they send the wrong cases.',
            models.harms,
        ),
        Check(
            "deferring-all",
            "warning",
            "with the option to defer, no model is shown to be needed",
            "the limit of the difference from deferring every case, valid after selection, does not lie below zero",
            "At this fee compare with having every case decided by someone else; state their errors too.",
            models.no_model_needed,
        ),
        Check(
            "most-deferred",
            "info",
            "more cases are deferred than decided",
            f"more than {models.MOST:.0%} of the cases of the best model with the option",
            "Say the share deferred beside any number about the cases decided.",
            models.most_deferred,
        ),
        Check(
            "nobody-censored",
            "info",
            "nobody is censored before the horizon, although follow-up differs",
            "with a time to event: no row is censored before the horizon, and the rows without the event by then do "
            "not all end at one time",
            "Nothing, if everybody was followed to the horizon or to an event. Else look whether a code of the events "
            "means censored (censored=, --censored), censored rows were left out, or time and horizon differ in unit.",
            data.nobody_censored,
            of_amounts=True,
        ),
        Check(
            "tells-less-in-group",
            "info",
            "the best model tells events from the rest less well in a group",
            "its AUC there is lower than in the other groups at the evaluation's level after Holm's correction, where "
            "groups were asked for",
            "Nothing, if the cases of the group are more alike: a narrower mix lowers an AUC. Else better predictors "
            "or more rows of the group.",
            models.tells_less_in_group,
        ),
        Check(
            "dearer",
            "info",
            "a model costs more than before, or in one group more than in all others",
            "where it is looked for, by check(against=): the difference is above zero at the evaluation's level after "
            "Holm's correction over models and groups",
            "Look at what changed: KeptEvaluation.compare (stakes compare) tells a dearer mix of cases, which scores "
            "foresee, from a broken promise, which calls for recalibration. To look every day, use stakes watch.",
            changes.dearer,
            of_amounts=True,
        ),
        Check(
            "half-outside",
            "info",
            "accuracy's threshold of 0.5 lies outside the range",
            "0.5 lies below the smallest threshold chosen or above the largest",
            "Do not select, tune or report by accuracy or by F1 at 0.5 here.",
            data.half_outside,
        ),
    )
}


def run_checks(standings: Standings, ignore: Iterable[str] = ()) -> Findings:
    """Run every check that is not silenced; the gravest findings come first."""
    silenced = [ignore] if isinstance(ignore, str) else list(ignore)
    for code in silenced:
        if code not in FINDINGS:
            raise ValueError(f"ignore must name findings ({', '.join(FINDINGS)}), got {code!r}.")
    found = [check.run(standings) for code, check in FINDINGS.items() if code not in silenced]
    seen = [finding for finding in found if finding is not None]
    return Findings(sorted(seen, key=lambda finding: SEVERITIES.index(finding.severity)))


def findings_table(checks: Mapping[str, Check] = FINDINGS) -> str:
    """Return the checks as a Markdown table: code, severity, what it finds, when it is raised, what to do.

    Parameters
    ----------
    checks : mapping of str to Check, default FINDINGS
        Those of an evaluation, or ``ACTION_FINDINGS``.

    Returns
    -------
    str
        One line for each check, the gravest first.

    Examples
    --------
    >>> from stakes.evaluation import findings_table
    >>> print(findings_table().splitlines()[0])
    | code | severity | what it finds | raised when | what to do |
    """
    check_kind(checks, "checks", Mapping, "a mapping of codes to checks, such as FINDINGS")
    for code, check in checks.items():
        check_kind(check, f"checks[{code!r}]", Check, "a Check")
    header = ["code", "severity", "what it finds", "raised when", "what to do"]
    cells = [
        [f"`{check.code}`", check.severity, check.summary, check.raised, check.remedy] for check in checks.values()
    ]
    return markdown_table(header, cells)


# Coded checks of decisions among many actions, and of leaving cases to someone else.

FEW_ROWS = 20
FEW_EFFECTIVE, NOTICED = 5, 0.1  # as intervals say which rows are scarce, and what one more matters
_LONGEST = 300


def _plain(text: object) -> str:
    """A name that a template takes literally."""
    return shorten(visible(str(text)), _LONGEST).replace("{", "{{").replace("}", "}}")


def _not_better(found: ActionEvaluation) -> Observation | None:
    """The best model beside the single actions that no model is needed for."""
    chosen = found.selection
    if chosen.chosen in chosen.references:
        words = f"{_plain(chosen.chosen)} costs no more than {{0}}, the best model"
        return Observation(words, (chosen.best_model,), {"cost": chosen.cost})
    unshown = [name for name, other in chosen.against.items() if name in chosen.references and not other.shown]
    if not unshown:
        return None
    limits = {name: chosen.against[name].limit for name in unshown}
    return Observation(
        f"{{0}} is not shown to cost less than {_plain(join(unshown))}", (chosen.chosen,), {"limits": limits}
    )


def _unlike_announced(found: ActionEvaluation) -> Observation | None:
    """Actions whose cost is not what the probabilities say."""
    off = [row for row in found.calibration()._records() if row["holm_p_value"] < LEVEL]
    if not off:
        return None
    worst = max(off, key=lambda row: row["share"] * abs(row["gap"]))
    words = (
        f"decisions by {{0}} for {_plain(worst['action'])} cost {number(worst['incurred'])} and were announced to cost "
        f"{number(worst['announced'])} (p {p_value(worst['holm_p_value'])})"
    )
    gaps = {str(row["action"]): float(row["gap"]) for row in off}
    return Observation(words, (found.best.model,), {"gaps": gaps})


def _few_rows(found: ActionEvaluation) -> Observation | None:
    """Classes that too few rows stand for."""
    counts = np.bincount(found.rows.index, minlength=len(found.rows.classes))
    few = {str(name): float(count) for name, count in zip(found.rows.classes, counts, strict=True) if count < FEW_ROWS}
    if not few:
        return None
    said = join([f"{name} ({count:.0f})" for name, count in few.items()])
    return Observation(f"few rows are of the class{'es' * (len(few) > 1)} {_plain(said)}", (), {"rows": few})


def _unseen_costs(found: ActionEvaluation) -> Observation | None:
    """Classes of which few rows show what the chosen model costs beyond the usual, where one more row would matter."""
    chosen, rows = found.selection, found.rows
    if chosen.chosen in chosen.references:
        return None
    place = [each.model for each in found.models].index(chosen.chosen)
    costs, total = found.cost_rows.costs[:, place], float(rows.weight.sum())
    error = float(np.sqrt(found.cost_rows.spread(np.array([place]), np.array([-1])).variance[0]))
    one_more: dict[str, float] = {}
    for k, name in enumerate(rows.classes):
        mine = rows.index == k
        if not mine.any():
            continue
        usual = float(np.median(costs[mine]))
        beyond = rows.weight[mine] * (costs[mine] - usual)
        second, fourth = float((beyond**2).sum()), float((beyond**4).sum())
        brings = float(rows.problem.mean_matrix[k].max() - usual) * float(rows.weight[mine].mean()) / total
        if brings > NOTICED * error and (fourth == 0.0 or second**2 / fourth < FEW_EFFECTIVE):
            one_more[str(name)] = brings
    if not one_more:
        return None
    worst = max(one_more, key=lambda name: one_more[name])
    classes, most = _plain(join(list(one_more))), number(one_more[worst])
    words = (
        f"few rows of {classes} show what {{0}} costs when it errs there: one more of {_plain(worst)} might bring "
        f"{most} per decision, where the standard error is {number(error)}"
    )
    return Observation(words, (chosen.chosen,), {"one_more": one_more, "standard_error": error})


def _never_taken(found: ActionEvaluation) -> Observation | None:
    """Actions that no row calls for."""
    shares = found.best.confusion.sum(axis=0)
    never = [str(action) for action, share in zip(found.rows.actions, shares, strict=True) if share == 0.0]
    if not never:
        return None
    return Observation(
        f"{{0}} never takes the action{'s' * (len(never) > 1)} {_plain(join(never))}", (found.best.model,)
    )


ACTION_FINDINGS: dict[str, Check] = {
    check.code: check
    for check in (
        Check(
            "not-better-than-one-action",
            "warning",
            "the best model is not shown to cost less than one action for all",
            "the limit of the difference, valid after selection, does not lie below zero",
            "Do not claim that the model helps under these costs. More rows narrow the limit; recalibration may help.",
            _not_better,
            of_amounts=True,
        ),
        Check(
            "cost-not-as-announced",
            "warning",
            "decisions cost more or less than their probabilities announce",
            f"the test of an action's costs by the best model has a p-value, adjusted after Holm, below {LEVEL:g}",
            "Recalibrate on rows that were not used for training (temperature scaling), then evaluate again.",
            _unlike_announced,
            of_amounts=True,
        ),
        Check(
            "few-rows-of-a-class",
            "warning",
            "a class has so few rows that its costs are hardly known",
            f"fewer than {FEW_ROWS} rows",
            "Collect rows of that class, or state its costs as unknown; intervals are widened for unseen costs.",
            _few_rows,
            of_amounts=True,
        ),
        Check(
            "unseen-costs",
            "warning",
            "a class might cost much more than its rows show",
            f"fewer than {FEW_EFFECTIVE} effective rows of a class differ from its usual cost by the chosen model, and "
            f"one more might bring over {NOTICED:g} standard errors",
            "Intervals are widened for it: collect rows of these classes before relying on a cost.",
            _unseen_costs,
            of_amounts=True,
        ),
        Check(
            "action-never-taken",
            "info",
            "the best model never takes an action",
            "no row calls for it at any of the matrices",
            "Nothing, if another is always cheaper; else see whether the probabilities ever are extreme enough.",
            _never_taken,
            of_amounts=True,
        ),
    )
}


def action_findings(found: ActionEvaluation) -> Findings:
    """Look for what is wrong with decisions among many actions.

    Parameters
    ----------
    found : ActionEvaluation
        What :func:`stakes.actions.evaluate_actions` returned.

    Returns
    -------
    Findings
        The gravest first.

    Raises
    ------
    ValueError
        For another thing than :func:`stakes.actions.evaluate_actions` returned.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> from stakes.evaluation import action_findings
    >>> action_findings(evaluate_actions([0, 1] * 9, [[0.7, 0.3], [0.2, 0.8]] * 9, matrices=[[0, 1], [1, 0]])).codes
    ('few-rows-of-a-class', 'unseen-costs')
    """
    from stakes.actions import ActionEvaluation

    check_kind(found, "found", ActionEvaluation, "what evaluate_actions returned")
    seen = [finding for check in ACTION_FINDINGS.values() if (finding := check.run(found)) is not None]
    return Findings(sorted(seen, key=lambda finding: SEVERITIES.index(finding.severity)))
