"""Which metric answers the question, from how decisions are made and what is known of the threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from stakes.core.validation import check_choice, check_unit
from stakes.evaluation._advice_table import (
    AMOUNTS,
    DECISIONS,
    MONEY,
    OUTCOMES,
    RANKING,
    TABLE,
    THRESHOLDS,
    UNSURE_MONEY,
    Situation,
)
from stakes.shown.tabular import Tabular

Decisions = Literal["independent", "budget"]
Known = Literal["known", "range", "unknown"]
Happened = Literal["labels", "time_to_event", "partly_verified", "amounts"]

_RATIO, _BOUNDS, _BUDGET, _BUDGETS = 0.1, (0.05, 0.2), 10, (5, 20)  # where the caller names none
_FEW = "as many cases as you can act on"
_HALF = "At this one cost ratio accuracy, cut at 0.5, is right: it is 1 - 2 x regret."


@dataclass(frozen=True, repr=False)
class Advice(Tabular):
    """The metric that fits a situation, the reason, the code, and what other metrics would get wrong there.

    Parameters
    ----------
    decisions : str
        "independent" or "budget".
    threshold : str
        "known", "range" or "unknown".
    metric : str
        The function to call.
    why : str
        Why it fits.
    call : str
        Code that runs where ``y_true`` and ``y_prob`` (or ``y_score``, where only the order counts) are arrays.
    wrong : dict of str to str
        What accuracy, F1 and AUC would do instead.

    Examples
    --------
    >>> from stakes import advise
    >>> advise(decisions="budget", threshold="unknown")
    Advice(budget, threshold unknown: roc_auc_score(y_true, y_score))
    """

    decisions: str
    threshold: str
    metric: str
    why: str
    call: str
    wrong: dict[str, str] = field(hash=False)

    def _records(self) -> list[dict[str, Any]]:
        named = {name: getattr(self, name) for name in ("decisions", "threshold", "metric", "why", "call")}
        return [{**named, **{f"wrong_with_{name}": text for name, text in self.wrong.items()}}]

    def __repr__(self) -> str:
        return f"Advice({self.decisions}, threshold {self.threshold}: {self.call.splitlines()[-1]})"


def advise(
    *,
    decisions: Decisions,
    threshold: Known,
    cost_ratio: float | None = None,
    bounds: tuple[float, float] | None = None,
    k: int | tuple[int, int] | None = None,
    probabilities: bool = True,
    prevalence: float | None = None,
    outcome: Happened = "labels",
) -> Advice:
    """Which metric to use, why, how to call it, and what accuracy, F1 or AUC would get wrong.

    Parameters
    ----------
    decisions : {"independent", "budget"}
        Whether each case is decided on its own, or the highest scores are acted on as far as a budget goes.
    threshold : {"known", "range", "unknown"}
        What is known of where acting begins: the cost ratio for independent decisions, the number of cases acted on
        for a budget.
    cost_ratio : float, optional
        The known cost ratio in (0, 1), for independent decisions.
    bounds : tuple of float, optional
        The range of cost ratios, 0 <= low < high <= 1, for independent decisions.
    k : int or tuple of int, optional
        The known budget >= 1, or its range.
    probabilities : bool, default True
        Whether the scores are meant as probabilities; False for scores that only rank.
    prevalence : float, optional
        Share of positives in (0, 1), for what accuracy would make of it.
    outcome : {"labels", "time_to_event", "partly_verified", "amounts"}, default "labels"
        What is known of each row: its label; how long it was followed and what ended that; its label where somebody
        looked; or its label and what a mistake costs there.

    Returns
    -------
    Advice

    Raises
    ------
    ValueError
        For an unknown situation, or a value that does not belong to it.

    Notes
    -----
    The table of arXiv:2504.04528, section 5, corrected: the Brier score is *twice* the mean regret; bounded Brier and
    average net benefit are different averages; for an unknown budget AUC is exact and needs no calibration, since
    recall averaged over all budgets is prevalence / 2 + (1 - prevalence) AUC, while AUC-PR is no such average.

    Examples
    --------
    >>> from stakes import advise
    >>> advice = advise(decisions="independent", threshold="range", bounds=(0.02, 0.1))
    >>> advice.metric
    'bounded_brier_loss'
    >>> print(advice.call)
    from stakes import bounded_brier_loss
    <BLANKLINE>
    bounded_brier_loss(y_true, y_prob, bounds=(0.02, 0.1))
    >>> print(advice.wrong["accuracy"])
    Accuracy knows one cost ratio, 0.5, and that is not in your range.
    """
    check_choice(decisions, "decisions", DECISIONS)
    check_choice(threshold, "threshold", THRESHOLDS)
    if not isinstance(probabilities, bool):
        raise ValueError(f"probabilities must be True or False, got {probabilities!r}.")
    check_choice(outcome, "outcome", tuple(OUTCOMES))
    value = _value(decisions, threshold, cost_ratio=cost_ratio, bounds=bounds, k=k)
    words = _words(decisions, threshold, value)
    ranked = decisions == "independent" and not probabilities
    if outcome == AMOUNTS:
        situation = _of_amounts(decisions == "budget" or ranked, cost_ratio, threshold)
        words |= {} if value else {"low": "1 / 3", "high": "2 / 3", "example": ""}
    else:
        situation = (RANKING if ranked else TABLE[decisions])[threshold]
    said = words.get("example") if value is None else ""
    example = f" {said} for example: put your own in its place." if said else ""
    accuracy = _HALF if words.get("cost") == "0.5" and not ranked else situation.accuracy
    return Advice(
        decisions,
        threshold,
        situation.metric,
        _why(situation, outcome).format(**words) + example,
        _call(situation, outcome).format(**words),
        {
            "accuracy": accuracy.format(**words) + _imbalance(prevalence),
            "F1": situation.f1.format(**words),
            "AUC": situation.auc.format(**words),
        },
    )


def _of_amounts(otherwise: bool, cost_ratio: float | None, threshold: str) -> Situation:  # noqa: FBT001
    if otherwise:
        raise ValueError("outcome='amounts' needs independent decisions by probabilities.")
    if cost_ratio is not None:
        raise ValueError("cost_ratio has no place with outcome='amounts': these say it for each row.")
    return MONEY if threshold == "known" else UNSURE_MONEY


def _why(situation: Situation, outcome: str) -> str:
    kind = OUTCOMES[outcome]
    return situation.why if kind is None else f"{kind.why} {situation.why}"


def _call(situation: Situation, outcome: str) -> str:
    """The code, with the outcome made first where labels are not all."""
    kind = OUTCOMES[outcome]
    if kind is None:
        return situation.call
    imports, _, code = situation.call.partition("\n\n")
    code = code.replace("y_true", "outcome")
    return f"from stakes import {kind.name}\n{imports}\n\noutcome = {kind.made}\n{code}"


def _value(decisions: str, threshold: str, **values: Any) -> Any:
    """Return the value that belongs to the situation, if it was given; refuse any other."""
    belongs = {
        ("independent", "known"): "cost_ratio",
        ("independent", "range"): "bounds",
        ("budget", "known"): "k",
        ("budget", "range"): "k",
    }.get((decisions, threshold))
    for name, value in values.items():
        if value is not None and name != belongs:
            raise ValueError(
                f"{name} has no place with decisions={decisions!r} and threshold={threshold!r}, got {name}={value!r}."
            )
    return None if belongs is None else values[belongs]


def _words(decisions: str, threshold: str, value: Any) -> dict[str, str]:
    """What stands in the texts and the code."""
    if threshold == "unknown":
        return {"few": _FEW}
    return {
        ("independent", "known"): _known_ratio,
        ("independent", "range"): _ratio_range,
        ("budget", "known"): _known_budget,
        ("budget", "range"): _budget_range,
    }[decisions, threshold](value)


def _known_ratio(value: Any) -> dict[str, str]:
    ratio = check_unit(_RATIO if value is None else value, "cost_ratio", open_low=True, open_high=True)
    return {"cost": f"{ratio!r}", "example": f"A cost ratio of {ratio!r} stands"}


def _ratio_range(value: Any) -> dict[str, str]:
    pair = _pair("bounds", _BOUNDS if value is None else value)
    low, high = (check_unit(end, "bounds") for end in pair)
    if low >= high:
        raise ValueError(f"bounds must satisfy 0 <= low < high <= 1, got {value!r}.")
    half = "and it is only one point of your range." if low <= 0.5 <= high else "and that is not in your range."
    return {"low": f"{low!r}", "high": f"{high!r}", "half": half, "example": f"{low!r} to {high!r} stands"}


def _known_budget(value: Any) -> dict[str, str]:
    budget = _whole("k", _BUDGET if value is None else value)
    return {"k": f"{budget}", "few": f"the {budget} that you can act on", "example": f"A budget of {budget} stands"}


def _budget_range(value: Any) -> dict[str, str]:
    low, high = (_whole("k", end) for end in _pair("k", _BUDGETS if value is None else value))
    if low >= high:
        raise ValueError(f"k must ascend, got {value!r}.")
    return {"low": f"{low}", "high": f"{high}", "few": _FEW, "example": f"{low} to {high} cases stand"}


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    try:
        low, high = value
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be (low, high), got {value!r}.") from None
    return low, high


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise ValueError(f"{name} must be a whole number >= 1, got {value!r}.")
    return int(value.__index__())


def _imbalance(prevalence: float | None) -> str:
    if prevalence is None:
        return ""
    share = check_unit(prevalence, "prevalence", open_low=True, open_high=True)
    constant = "Never acting" if share <= 0.5 else "Always acting"
    return f" {constant} has an accuracy of {100.0 * max(share, 1.0 - share):.3g}% here."
