"""Coded checks of decisions among many actions, and of leaving cases to someone else."""

from __future__ import annotations

import numpy as np

from stakes.actions import ActionEvaluation
from stakes.core.validation import check_kind
from stakes.evaluation._finding import LEVEL, SEVERITIES, Check, Findings, Observation
from stakes.shown.text import shorten, visible
from stakes.shown.words import join, number, p_value

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
            "Collect rows of that class, or state its costs as unknown; intervals have room for costs not yet seen.",
            _few_rows,
            of_amounts=True,
        ),
        Check(
            "unseen-costs",
            "warning",
            "a class might cost much more than its rows show",
            f"fewer than {FEW_EFFECTIVE} effective rows of a class differ from its usual cost by the chosen model, and "
            f"one more might bring over {NOTICED:g} standard errors",
            "Intervals have room for it and are wide: collect rows of these classes before relying on a cost.",
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
    check_kind(found, "found", ActionEvaluation, "what evaluate_actions returned")
    seen = [finding for check in ACTION_FINDINGS.values() if (finding := check.run(found)) is not None]
    return Findings(sorted(seen, key=lambda finding: SEVERITIES.index(finding.severity)))
