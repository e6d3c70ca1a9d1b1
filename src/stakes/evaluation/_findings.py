"""The coded checks of an evaluation, each with its rule and its remedy; what they find can be silenced by code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stakes.core.validation import check_kind
from stakes.evaluation import _checks_calibration as calibration
from stakes.evaluation import _checks_deferral as deferral
from stakes.evaluation import _checks_models as models
from stakes.evaluation import _checks_outcome as outcome
from stakes.evaluation import _checks_rows as rows
from stakes.evaluation import _checks_scores as scores
from stakes.evaluation._finding import LEVEL, SEVERITIES, Check, Findings
from stakes.inference import FEW_AMOUNTS
from stakes.shown.markdown import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stakes.evaluation._standings import Standings

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
            scores.hard_labels,
            of_amounts=True,
        ),
        Check(
            "worse-than-prevalence",
            "error",
            "miscalibration exceeds discrimination in the range",
            f"the skill is below zero beyond chance {_BEYOND_CHANCE}, and scores that were calibrated would hardly "
            "ever do so badly at the same level",
            "Recalibrate on rows that were not used for training (isotonic or logistic regression), then evaluate "
            "again; until then do not act on these scores at these thresholds.",
            calibration.miscalibrated,
        ),
        Check(
            "calibration-in-the-large",
            "warning",
            "the risks are too high or too low on average",
            f"observed to expected events differ from 1 beyond chance {_BEYOND_CHANCE}, for these rows and for "
            f"calibrated scores, and the odds of the mean score and of an event differ by a factor of "
            f"{calibration.FAR:g}",
            "The training rows tell the causes apart. Mean score as far off there: weights or resampling; undo just "
            "those (correction.undo_class_weight, undo_sampling). Right there, and the slope as here: another "
            "prevalence (correction.shift_prior). Right there, with a slope nearer to 1: overfitting; recalibrate on "
            "other rows. The ranking stays as it is.",
            calibration.off_in_the_large,
        ),
        Check(
            "acts-like-constant",
            "warning",
            "scores never reach the range, so the model decides the same for everybody",
            "averaged over the thresholds, 99% of decisions are those of treating everyone or no one, and the cost is "
            "within 1% of theirs",
            "If the scores are lower or higher than the event rates, recalibrate them. If they are calibrated, these "
            "thresholds call for one decision for all, and no model is needed.",
            scores.acts_like_constant,
        ),
        Check(
            "not-better",
            "warning",
            "the best model is not shown to be better than treating everyone or no one",
            "the interval of the difference in cost does not lie below zero",
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
        ),
        Check(
            "auc-disagrees",
            "warning",
            "AUC prefers a model that costs more in the range",
            f"both differences are beyond chance at level {LEVEL:g}, shared among the pairs of models",
            "Choose by the cost in this range. If the model that AUC prefers is badly calibrated here, recalibrate it "
            "on other rows and compare again: its ranking may then pay.",
            models.auc_disagrees,
        ),
        Check(
            "worse-group",
            "warning",
            "the best model serves a group worse than the other rows",
            f"its skill in the group is lower at level {LEVEL:g} after Holm's correction over the groups, where groups "
            "were asked for",
            "Look at the group's corrected miscalibration and AUC in evaluation.groups: miscalibration can be mended "
            "by recalibrating within the group, a poor ranking only by better predictors or more rows of the group.",
            models.group_served_worse,
        ),
        Check(
            "looks-like-survival",
            "error",
            "scores fall where the risk of the event rises",
            "with a time to event: AUC is below one half, and 1 less the mean score is nearer to the event rate than "
            "the mean score",
            "Pass the probability of the event by the horizon, 1 - S(t), not that of being free of it.",
            outcome.looks_like_survival,
        ),
        Check(
            "censoring-follows-score",
            "warning",
            "people with some scores left earlier than others",
            f"of a test of trend and one between fifths of the score, the smaller p-value twice is below {LEVEL:g}, "
            "shared among the models",
            "Estimate censoring in groups of the score: TimeToEvent(groups=...), the same groups for all models.",
            outcome.censoring_follows_score,
        ),
        Check(
            "competing-takes-most",
            "warning",
            "most events are of causes other than that of interest",
            "with a time to event: more than half of the events by the horizon compete",
            "Nothing, if these events rule out that of interest. If one of their codes means censored, name it "
            "(censored=, --censored); if it counts as the event, too, add it to cause= (--cause).",
            outcome.competing_takes_most,
            of_amounts=True,
        ),
        Check(
            "thin-follow-up",
            "warning",
            "few people were followed to the horizon",
            f"fewer than {outcome.FEW_AT_RISK} rows; with fewer than 5 there are no intervals",
            "Choose an earlier horizon, or wait for more follow-up.",
            outcome.thin_follow_up,
            of_amounts=True,
        ),
        Check(
            "heavy-weights",
            "warning",
            "few rows stand for many",
            f"the weights of a time to event are as uneven as fewer than {outcome.FEW_EFFECTIVE} equal ones, or one "
            f"has more than {outcome.HEAVY:.0%} of the whole",
            "Choose an earlier horizon, or read the intervals as rough.",
            outcome.heavy_weights,
            of_amounts=True,
        ),
        Check(
            "weights-off",
            "warning",
            "given probabilities of censoring do not fit the rows",
            f"the weights that they make sum to {outcome.OFF:.0%} more or less than the rows, beyond chance at level "
            f"{LEVEL:g}",
            "Estimate censoring from these rows (the default), or mend the model of censoring.",
            outcome.weights_off,
            of_amounts=True,
        ),
        Check(
            "few-events",
            "warning",
            "too few positives or negatives for the interval",
            f"one class has fewer than {rows.FEW:g} rows (effective rows, if weighted), or so few carry the "
            "cost of the best model that its interval was widened",
            "Read the intervals as rough, and look for more rows of the rare class: more of the other class help "
            "little.",
            rows.few_events,
            of_amounts=True,
        ),
        Check(
            "few-amounts-decide",
            "warning",
            "a few large amounts make most of the cost",
            f"with amounts by row: what the best model's mistakes cost is as uneven as fewer than {FEW_AMOUNTS} equal "
            "amounts, those of the mistakes or as many of all rows",
            "Look at the largest amounts one by one, and read the intervals as too short: those of money say so, or "
            "are withheld.",
            outcome.few_amounts_decide,
            of_amounts=True,
        ),
        Check(
            "neighbours-alike",
            "warning",
            "rows near each other resemble each other, as rows in order of time do",
            f"the costs of the best model in neighbouring rows correlate at level {rows.CLEAR:g} and make its interval "
            f"{rows.WIDER:g} times as wide or wider; not where the rows are sorted by label or score",
            'Rows in order of time: lags="auto" (--lags auto). Rows in groups, such as patients: clusters= '
            "(--clusters). Rows sorted by something else: nothing, or shuffle them.",
            rows.neighbours_alike,
        ),
        Check(
            "tied-scores",
            "warning",
            "so many ties that AUC hangs on how they are counted",
            f"{scores.MANY_TIED_PAIRS:.0%} or more of the pairs of a positive and a negative are tied",
            "Give the scores with all their digits. Where they are this coarse by nature, prefer the cost in the "
            "range, which needs no rule for ties, to AUC and the area under the precision-recall curve.",
            scores.tied_scores,
        ),
        Check(
            "score-on-threshold",
            "warning",
            "many cases score exactly a threshold that counts",
            f"{scores.MANY_ON_THRESHOLD:.0%} or more of cases score exactly a single threshold of the costs, or the "
            "deployed one",
            "Move the threshold between two scores, or count such cases as half acted on: costs.Fixed(t, tie=0.5).",
            scores.score_on_threshold,
        ),
        Check(
            "deferral-harms",
            "warning",
            "leaving cases to someone else costs more than it saves",
            "the interval of the value of the option lies below zero",
            "Recalibrate the scores before deferring by them, or fit the thresholds (evaluate_deferral, "
            'rule="optimal"); at face value they send the wrong cases.',
            deferral.harms,
        ),
        Check(
            "deferring-all",
            "warning",
            "with the option to defer, no model is shown to be needed",
            "the limit of the difference from deferring every case, valid after selection, does not lie below zero",
            "At this fee compare with having every case decided by someone else; state their errors too.",
            deferral.no_model_needed,
        ),
        Check(
            "most-deferred",
            "info",
            "more cases are deferred than decided",
            f"more than {deferral.MOST:.0%} of the cases of the best model with the option",
            "Say the share deferred beside any number about the cases decided.",
            deferral.most_deferred,
        ),
        Check(
            "nobody-censored",
            "info",
            "nobody is censored before the horizon, although follow-up differs",
            "with a time to event: no row is censored before the horizon, and the rows without the event by then do "
            "not all end at one time",
            "Nothing, if everybody was followed to the horizon or to an event. Else look whether a code of the events "
            "means censored (censored=, --censored), censored rows were left out, or time and horizon differ in unit.",
            outcome.nobody_censored,
            of_amounts=True,
        ),
        Check(
            "half-outside",
            "info",
            "accuracy's threshold of 0.5 lies outside the range",
            "0.5 is not among the thresholds chosen",
            "Do not select, tune or report by accuracy or by F1 at 0.5 here.",
            scores.half_outside,
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
