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
    "at_threshold": "Per {count} cases at a threshold of {at} (odds {odds}): one missed {event} is {bad}{sure}",
    "limits": "; {level} intervals, each of its number alone",
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

# of the page on which a file is dropped, for the range that was named before the answer was seen
DROPPED = {
    "read": "{file}: {rows} rows, {positives} {events} ({share}) in {label}; {models}",
    "use": "USE {best}.{instead}",
    "instead": " {rival} costs {more} more {per}{though}.",
    "though": ", though its AUC is higher",
    "cannot_tell": "These rows cannot tell {best} from {others}.",
    "no_model_shown": "{best}: no model is shown to cost less.",
    "either": "{models} cost the same on these rows: either will do.",
    "no_choice": "No decision can be called best here: the rows bear no interval.",
    "constant": "{all} at thresholds up to {most}, {none} above: {best} has that score for every row.",
    "answer_all": "Costs {per}; intervals hold for all rows of a column at once",
    "shown_less": "Shown ({level}, all at once): {best} costs less than {others}{average}.",
    "average": " on average over the range",
    "every_other": "every other",
    "not_shown": "Not shown: that {best} costs less than {others}.",
    "one_sided": "An interval reaches 0 or less beside a no: it is two-sided, and what may be best is judged by a "
    "one-sided limit.",
    "few": "Few rows carry the cost of {models}: the interval is widened for those that were not seen.",
    "checks": "Whether the scores can be taken at their word, stakes check says: see what this page leaves out.",
    "drawn": "Intervals of a whole column come from 20,000 draws of the errors, and so differ in the third digit from "
    "the command's.",
    "groups": "Over the range as reported; costs {per}, each interval of its number alone ({level}). The cost depends "
    "on how many positives a group has.",
    "no_groups": "No column divides the rows: choose one above to see each group.",
    "group_table": "Every model in every group of {group}",
    "beyond": "Computed here as the library computes it: costs, their intervals, which decisions may be best, "
    "decomposition, net benefit. The command does what follows too.",
}


def say(sentence: str, **filled: str) -> str:
    """Fill the slots of a sentence of the page.

    Examples
    --------
    >>> say("less", share="9%", other="treating everyone")
    '9% less than treating everyone'
    """
    return SPOKEN[sentence].format(**filled)
