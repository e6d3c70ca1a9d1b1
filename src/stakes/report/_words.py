"""The sentences of the page, which Python and the scripts of the page fill alike."""

from __future__ import annotations

SPOKEN = {
    # the answer for a range of the reader's own, after whose choice no model can be claimed to be best
    "meaning": "{acting} from a risk of {where}{weighting}: one missed {event} is {bad}.",
    "meaning_rule": "{acting} from a score of {rule}, judged at thresholds of {where}{weighting}: one missed {event} "
    "is {bad}.",
    "low_to_high": "{low} to {high}",
    "uniform": "",
    "log-odds": ", counted alike in log-odds",
    "worse": "worse than any number of false alarms",
    "any_number": "as bad as any number of false alarms",
    "at_most": "as bad as {many} false alarms at most",
    "at_least": "as bad as {many} false alarms at least",
    "as_bad": "as bad as {many} false alarm{plural}",
    "least": "On these rows {best} costs least.",
    "no_model": "{best}: no model costs less on these rows.",
    "same_cost": "{models} cost the same on these rows.",
    "looked": "Range chosen after looking: intervals of single models hold, claims over models do not.",
    "costs": "{best} costs {cost} {per}{level}, {against}.",
    "alone": " ({level}: {low} to {high})",
    "infinite": "{best} has an infinite cost: a score of exactly 0 or 1 on the wrong side.",
    "best_model": "{best}, the best model, {cost}",
    "other_cost": "{other} {cost}",
    "as_much": "as much as {other}",
    "less": "{share} less than {other}",
    "dearer": "{share} more than {other}",
    "note_like": "acts like “{constant}”",
    "below": "below {least}",
    "interval_head": "{level} interval",
    "answer_alone": "Costs {per}. Each interval is of its row alone.",
    "at_threshold": "Per {count} cases at a threshold of {at} (odds {odds}): one missed {event} is {bad}",
    "within": "costs {per} are within {bound} of those of all rows",
    "approximate": "intervals are approximate.",
    # tables and figures
    "shaded_one": "The line marks the threshold {low} (odds {odds}).",
    "shaded": "Shaded: the plausible thresholds, {low} to {high} (odds {odds} to {odds_high}).",
    "exact": "Computed in this page from the table it holds, as the library computes it: exact but for rounding; "
    "{sureness}",
    "thinned": "Computed in this page from the table it holds, as the library computes it; the table is thinned, and "
    "{reach}; {sureness}",
    "boundless_error": "so near to 0 or 1 no bound of the error can be given",
    "unsure_here": "there are no intervals, for {why}.",
    "over_one": "at threshold {low}",
    "over": "over thresholds from {low} to {high}",
    "decomposition": "Decomposition of the cost {per} {over}, in-sample",
    "in_range": "Cases with a score between {low} and {high}",
}


def say(sentence: str, **filled: str) -> str:
    """Fill the slots of a sentence of the page.

    Examples
    --------
    >>> say("less", share="9%", other="treating everyone")
    '9% less than treating everyone'
    """
    return SPOKEN[sentence].format(**filled)
