"""Which metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from stakes.base.validation import check_capacity, check_choice, check_unit
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import percent

if TYPE_CHECKING:
    from collections.abc import Mapping


# What to measure in each situation, and what accuracy, F1 and AUC would do there: data, no code.
#
# The table of arXiv:2504.04528 (independent decisions or a budget; threshold known, a range, unknown) with its errors
# mended: the Brier score is twice the mean regret; the bounded Brier score is not the average net benefit; AUC-PR has
# no place in it; and for an unknown budget AUC is the exact answer.

DECISIONS = ("independent", "budget")
KNOWLEDGE = ("known", "range", "unknown")


@dataclass(frozen=True, eq=False, repr=False)
class Situation:
    """One cell of the table; ``advise`` fills in what is in braces, such as ``{cost}`` or ``{capacity}``."""

    metric: str
    why: str
    call: str
    accuracy: str
    f1: str
    auc: str


_F1_INDEPENDENT = (
    "F1 ignores true negatives, and the threshold that maximises it is half of its own maximum: the exchange of false "
    "alarms for misses then follows from the model and the prevalence, not from what mistakes cost."
)
_AUC_INDEPENDENT = (
    "AUC pairs each threshold with the event rate at that score as its cost ratio, wherever that lies: every model is "
    "judged by other costs, none of them chosen by you, and no miscalibration is seen."
)
_F1_BUDGET = (
    "The threshold that maximises F1 acts on a number of cases of its own choosing, another one for each model. "
    "Computed for {few} it would rank models as precision does."
)
_ACCURACY_BUDGET = (
    "Accuracy at 0.5 acts on all cases that score 0.5 or more, not on {few}. Computed for these it would rank models "
    "as precision does."
)

INDEPENDENT: Mapping[str, Situation] = {
    "known": Situation(
        metric="net_benefit_score",
        why=(
            "Each case is decided on its own and the cost ratio is {cost}, so the calibrated decision is to act from a "
            "score of {cost} on, and what that costs is regret at this one ratio. Net benefit is the prevalence less "
            "regret / (1 - {cost}): it ranks models as expected_regret(..., costs=Fixed({cost})) does."
        ),
        call=("from stakes import net_benefit_score\n\nnet_benefit_score(y_true, y_prob, threshold={cost})"),
        accuracy=(
            "Accuracy is 1 - 2 x regret at a cost ratio of 0.5: it prices a false alarm as high as a miss, and you do "
            "not."
        ),
        f1=_F1_INDEPENDENT,
        auc=_AUC_INDEPENDENT,
    ),
    "range": Situation(
        metric="bounded_brier_loss",
        why=(
            "Each case is decided on its own and the cost ratio lies between {low} and {high}. The bounded Brier score "
            "is twice the integral of regret over this range, strictly proper within it and blind outside it. "
            "bounded_log_loss counts the same range evenly in log-odds, which suits odds such as 1:50 to 1:10; "
            "average_net_benefit_score divides regret by 1 - c and can rank models differently on a wide range."
        ),
        call=("from stakes import bounded_brier_loss\n\nbounded_brier_loss(y_true, y_prob, bounds=({low}, {high}))"),
        accuracy="Accuracy knows one cost ratio, 0.5, {half}",
        f1=_F1_INDEPENDENT,
        auc=_AUC_INDEPENDENT,
    ),
    "unknown": Situation(
        metric="bounded_brier_loss",
        why=(
            "Each case is decided on its own and nothing is known of the cost ratio, so every one from 0 to 1 counts: "
            "evenly, that is the Brier score (twice the mean regret); evenly in log-odds, the log loss "
            "(bounded_log_loss), which weighs extreme ratios more and is infinite for a confident mistake. Most of "
            "this range is seldom plausible: if anybody can name two ends, take a range instead."
        ),
        call=("from stakes import bounded_brier_loss\n\nbounded_brier_loss(y_true, y_prob, bounds=(0, 1))"),
        accuracy="Accuracy is 1 - 2 x regret at the one cost ratio of 0.5: of all the others it says nothing.",
        f1=_F1_INDEPENDENT,
        auc=(
            "AUC pairs each threshold with the event rate at that score as its cost ratio: the costs differ from model "
            "to model, and no miscalibration is seen, though it is you who will act on the scores."
        ),
    ),
}

BUDGET: Mapping[str, Situation] = {
    "known": Situation(
        metric="top_k_scores",
        why=(
            "You act on the {k} highest scores whatever they are. With K fixed the cost is c K + (1 - c) P less the "
            "positives found, so precision, recall and cost at K rank models alike for every cost ratio c, and only "
            "the order of the scores matters. Ties at the K-th score are averaged."
        ),
        call=(
            "from stakes.metrics import top_k_scores\n\ntop_k_scores(y_true, y_score, capacity={capacity}).precision[0]"
        ),
        accuracy=_ACCURACY_BUDGET,
        f1=_F1_BUDGET,
        auc=("AUC averages recall over all budgets: the better model by AUC may find fewer positives in {few}."),
    ),
    "range": Situation(
        metric="top_k_scores",
        why=(
            "You act on the highest scores, and how many lies between {low} and {high}. For each budget the cost falls "
            "by one for each positive found, whatever the cost ratio, so the cost averaged over the budgets is ranked "
            "by recall averaged over them (precision averaged over them would weigh the small budgets more)."
        ),
        call=(
            "from stakes.metrics import top_k_scores\n\n"
            "top_k_scores(y_true, y_score, capacity=range({low}, {high} + 1)).recall.mean()"
        ),
        accuracy=_ACCURACY_BUDGET,
        f1=_F1_BUDGET,
        auc="AUC averages recall over all budgets, most of them outside your range.",
    ),
    "unknown": Situation(
        metric="roc_auc_score",
        why=(
            "You act on the highest scores, and any number of them may be affordable. Recall averaged over all budgets "
            "is prevalence / 2 + (1 - prevalence) x AUC, so the cost averaged over the budgets is ranked by AUC for "
            "every cost ratio. Only the order of the scores matters: no calibration is needed."
        ),
        call="from stakes.metrics import roc_auc_score\n\nroc_auc_score(y_true, y_score)",
        accuracy=_ACCURACY_BUDGET,
        f1=_F1_BUDGET,
        auc=(
            "Nothing: this is the question that AUC answers. The area under the precision-recall curve is no such "
            "average."
        ),
    ),
}

TABLE: Mapping[str, Mapping[str, Situation]] = {"independent": INDEPENDENT, "budget": BUDGET}

# scores that only rank: no cost ratio says where to cut them, so the cuts are fitted
_RANKED_ACCURACY = "Accuracy at 0.5 cuts scores that are not probabilities at a point that means nothing for them."
_RANKED_AUC = (
    "AUC asks only for the ranking, as you must, but pairs each threshold with the event rate at that score as its "
    "cost ratio: the costs differ from model to model."
)
_RANKED = (
    "The scores only rank, so no cost ratio says where to act, and {what} has to be fitted: isotonic recalibration "
    "does it for every cost ratio at once. Fitted on these very rows it is optimistic; fit it on other rows before "
    "anybody acts, and then ask again for probabilities."
)

RANKING: Mapping[str, Situation] = {
    "known": Situation(
        metric="expected_regret",
        why=_RANKED.replace("{what}", "the best threshold"),
        call=(
            "from stakes import ScoreTable, costs, expected_regret\n\n"
            "table = ScoreTable.from_predictions(y_true, y_score, probability=False)\n"
            "expected_regret(table.recalibrated(), costs=costs.Fixed({cost}))"
        ),
        accuracy=_RANKED_ACCURACY,
        f1=_F1_INDEPENDENT,
        auc=_RANKED_AUC,
    ),
    "range": Situation(
        metric="expected_regret",
        why=_RANKED.replace("{what}", "the best threshold for each of them"),
        call=(
            "from stakes import ScoreTable, costs, expected_regret\n\n"
            "table = ScoreTable.from_predictions(y_true, y_score, probability=False)\n"
            "expected_regret(table.recalibrated(), costs=costs.Uniform({low}, {high}))"
        ),
        accuracy=_RANKED_ACCURACY,
        f1=_F1_INDEPENDENT,
        auc=_RANKED_AUC,
    ),
    "unknown": Situation(
        metric="h_measure_score",
        why=(
            _RANKED.replace("{what}", "the best threshold for each of them")
            + " The H-measure is the share of the cost of acting on the prevalence alone that these thresholds save, "
            "over Beta-distributed cost ratios that are the same for every model."
        ),
        call="from stakes.metrics import h_measure_score\n\nh_measure_score(y_true, y_score)",
        accuracy=_RANKED_ACCURACY,
        f1=_F1_INDEPENDENT,
        auc=_RANKED_AUC,
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class Kind:
    """An outcome that is not plain labels: what to import, how it is made, and why."""

    name: str
    made: str
    why: str


AMOUNTS = "amounts"
OUTCOMES: Mapping[str, Kind | None] = {
    "labels": None,
    "time_to_event": Kind(
        "TimeToEvent",
        "TimeToEvent(event=event, time=time, horizon=horizon)",
        "Follow-up ends early for some, so the outcome is the event by a horizon, known rows standing for those lost; "
        "the scores must be risks of the event by it.",
    ),
    "partly_verified": Kind(
        "PartlyVerified",
        "PartlyVerified(y_true, groups=groups)",
        "Labels are known for some rows only, so those known stand for the others of their group: what it depended on "
        "whether somebody looked.",
    ),
    AMOUNTS: Kind(
        "RowCosts",
        "RowCosts(y_true, false_positive=false_positive, false_negative=false_negative)",
        "What a mistake costs differs by row: a row is worth acting on where its probability times the cost of a miss "
        "exceeds the rest times the cost of a false alarm.",
    ),
}
MONEY = Situation(
    metric="money",
    why="The amounts are known, so the answer is in money: what the decisions cost, gain and save.",
    call="from stakes.inference import money\n\nmoney(y_true, y_prob)",
    accuracy="Accuracy counts mistakes, and a few large ones may cost more than all others together.",
    f1="F1 counts mistakes, and acts from one threshold where each row has its own.",
    auc="AUC ranks all rows on one scale; which of them are worth acting on depends on their amounts as well.",
)
UNSURE_MONEY = Situation(
    metric="expected_regret",
    why="How the amounts compare is known within a range only, so what the decisions cost is averaged over it: 1/3 to "
    "2/3 is half to double the stated cost of a false alarm.",
    call=(
        "from stakes import costs, expected_regret\n\n"
        "expected_regret(y_true, y_prob, costs=costs.LogOddsUniform({low}, {high}))"
    ),
    accuracy=MONEY.accuracy,
    f1=MONEY.f1,
    auc=MONEY.auc,
)


# Which metric answers the question, from how decisions are made and what is known of the threshold.

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
    knowledge : str
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
    >>> advise(decisions="budget", knowledge="unknown")
    Advice(budget, threshold unknown: roc_auc_score(y_true, y_score))
    """

    decisions: str
    knowledge: str
    metric: str
    why: str
    call: str
    wrong: dict[str, str] = field(hash=False)

    _code_columns = ("call",)

    def _records(self) -> list[dict[str, Any]]:
        named = {name: getattr(self, name) for name in ("decisions", "knowledge", "metric", "why", "call")}
        return [{**named, **{f"wrong_with_{name}": text for name, text in self.wrong.items()}}]

    def __repr__(self) -> str:
        return f"Advice({self.decisions}, threshold {self.knowledge}: {self.call.splitlines()[-1]})"


def advise(
    *,
    decisions: Decisions,
    knowledge: Known,
    cost_ratio: float | None = None,
    bounds: tuple[float, float] | None = None,
    capacity: float | tuple[int, int] | None = None,
    probabilities: bool = True,
    prevalence: float | None = None,
    outcome: Happened = "labels",
) -> Advice:
    """Which metric to use, why, how to call it, and what accuracy, F1 or AUC would get wrong.

    Parameters
    ----------
    decisions : {"independent", "budget"}
        Whether each case is decided on its own, or the highest scores are acted on as far as a budget goes.
    knowledge : {"known", "range", "unknown"}
        What is known of where acting begins: the cost ratio for independent decisions, the number of cases acted on
        for a budget.
    cost_ratio : float, optional
        The known cost ratio in (0, 1), for independent decisions.
    bounds : tuple of float, optional
        The range of cost ratios, 0 <= low < high <= 1, for independent decisions.
    capacity : int, float or tuple of int, optional
        The known budget: a count of cases >= 1, or a share of them in (0, 1); or its range, in cases.
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
    >>> advice = advise(decisions="independent", knowledge="range", bounds=(0.02, 0.1))
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
    check_choice(knowledge, "knowledge", KNOWLEDGE)
    if not isinstance(probabilities, bool):
        raise ValueError(f"probabilities must be True or False, got {probabilities!r}.")
    check_choice(outcome, "outcome", tuple(OUTCOMES))
    value = _value(decisions, knowledge, cost_ratio=cost_ratio, bounds=bounds, capacity=capacity)
    words = _words(decisions, knowledge, value)
    ranked = decisions == "independent" and not probabilities
    if outcome == AMOUNTS:
        situation = _of_amounts(decisions == "budget" or ranked, cost_ratio, knowledge)
        words |= {} if value else {"low": "1 / 3", "high": "2 / 3", "example": ""}
    else:
        situation = (RANKING if ranked else TABLE[decisions])[knowledge]
    said = words.get("example") if value is None else ""
    example = f" {said} for example: put your own in its place." if said else ""
    accuracy = _HALF if words.get("cost") == "0.5" and not ranked else situation.accuracy
    return Advice(
        decisions,
        knowledge,
        situation.metric,
        _why(situation, outcome).format(**words) + example,
        _call(situation, outcome).format(**words),
        {
            "accuracy": accuracy.format(**words) + _imbalance(prevalence),
            "F1": situation.f1.format(**words),
            "AUC": situation.auc.format(**words),
        },
    )


def _of_amounts(otherwise: bool, cost_ratio: float | None, knowledge: str) -> Situation:  # noqa: FBT001
    if otherwise:
        raise ValueError("outcome='amounts' needs independent decisions by probabilities.")
    if cost_ratio is not None:
        raise ValueError("cost_ratio has no place with outcome='amounts': these say it for each row.")
    return MONEY if knowledge == "known" else UNSURE_MONEY


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


def _value(decisions: str, knowledge: str, **values: Any) -> Any:
    """Return the value that belongs to the situation, if it was given; refuse any other."""
    belongs = {
        ("independent", "known"): "cost_ratio",
        ("independent", "range"): "bounds",
        ("budget", "known"): "capacity",
        ("budget", "range"): "capacity",
    }.get((decisions, knowledge))
    for name, value in values.items():
        if value is not None and name != belongs:
            raise ValueError(
                f"{name} has no place with decisions={decisions!r} and knowledge={knowledge!r}, got {name}={value!r}."
            )
    return None if belongs is None else values[belongs]


def _words(decisions: str, knowledge: str, value: Any) -> dict[str, str]:
    """What stands in the texts and the code."""
    if knowledge == "unknown":
        return {"few": _FEW}
    return {
        ("independent", "known"): _known_ratio,
        ("independent", "range"): _ratio_range,
        ("budget", "known"): _known_budget,
        ("budget", "range"): _budget_range,
    }[decisions, knowledge](value)


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
    budget = check_capacity(_BUDGET if value is None else value)
    k = f"{budget}" if isinstance(budget, int) else f"{100.0 * float(budget):.12g}%"
    few, example = f"the {k} that you can act on", f"A budget of {k} stands"
    return {
        "k": k,
        "capacity": f"{budget if isinstance(budget, int) else float(budget)}",
        "few": few,
        "example": example,
    }


def _budget_range(value: Any) -> dict[str, str]:
    low, high = (_whole("capacity", end) for end in _pair("capacity", _BUDGETS if value is None else value))
    if low >= high:
        raise ValueError(f"capacity must ascend, got {value!r}.")
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
    return f" {constant} has an accuracy of {percent(max(share, 1.0 - share))} here."
