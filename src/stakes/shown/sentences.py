"""Every sentence that is written both by the library and, for a range of the reader's own, by the page of the report.

The page takes these templates as they are and fills their slots with numbers and names of its own, so that a sentence
is changed here and nowhere else. A slot is a name in braces.
"""

from __future__ import annotations

REFERENCES = ("treat all", "treat none")

SENTENCES = {
    # the range of thresholds
    "at": "At a threshold of {low}",
    "average": "On average over thresholds from {low} to {high}{weighting}",
    "uniform": "",
    "log-odds": ", uniform in log-odds",
    # the choice, said so that having picked the best does not make it false; {where} is empty or ends in ", "
    "costs_least": "{where}{best} costs least on these {rows} rows: {amount} per {decisions}{sure}.",
    "costs": "{where}{best} costs {amount} per {decisions}{sure} on these {rows} rows.",
    "costs_shared": "{where}{best} share the lowest cost on these {rows} rows: {amount} per {decisions}{sure}.",
    "no_model": "{where}no model costs less than {best} on these {rows} rows: {best} costs {amount} per {decisions}"
    "{sure}, {other}.",
    "other_model": "{model} {amount}",
    "other_best_model": "{model}, the best model, {amount}",
    "other_same": "{models} the same",
    "sure": " ({unit}{interval})",
    "sure_picked": " ({unit}{corrected} after allowing for having been picked among {among}; {interval}, valid after "
    "selection)",
    "unit": "{scale}; ",
    "sure_untried": " ({unit}what picking it among {count} tried adds is worked out for the range as reported only)",
    "picked_interval": "{level} interval {low} to {high}",
    "picked_no_interval": "no interval",
    "among_shown": "the {count} shown",
    "among_tried": "{count} tried",
    "only_possible": "{best} is the only possible {what}{included} ({level}).",
    "best_among": "The {what}{included} is among {names} ({level}).",
    "best_shown": "best of the {count} shown",
    "best_decision": "best decision",
    "included": ", {references} included",
    "all_or_none": "treating everyone or no one",
    "count_of": "{count}: {names}",
    "more": "{count} more",
    "probable": "{best} is the best decision with probability {share}{aside}.",
    "probable_each": "Probability of being the best decision: {each}.",
    "share_of": "{name} {share}",
    "sure_share": "above 99%",
    "choosing": "Choosing {best}",
    "choice_loss": "{choosing} now is expected to cost {loss} more per 1,000 {decisions} than the truly best decision.",
    "less_than": "less than {amount}",
    "shown": "{best} is shown to cost less than {shown}: {limits}.",
    "not_shown": "{best} is not shown to cost less than {unshown}: {limits}.",
    "shown_partly": "{best} is shown to cost less than {shown}, but is not shown to cost less than {unshown}: "
    "{limits}.",
    "by_at_least": "{name} (by at least {amount})",
    "beforehand": "{name}, named beforehand",
    "limits": "limits of {level} for all of these at once, valid after selection",
    "carried": "Note: {note}.",
    "few_carry": "Note: the cost of {decision} rests on few rows of a class: the interval has room for costs not yet "
    "seen.",
    # what obtaining a score costs each case, in positives missed
    "harm": "Obtaining a score costs each case as much as {harm} missed positives (test harm): the costs of models, "
    "their differences and net benefit count it; decomposition, skill and AUC do not.",
    "harms": "Obtaining a score costs each case as much as so many missed positives (test harm): {each}. The costs of "
    "models, their differences and net benefit count it; decomposition, skill and AUC do not.",
    "harm_of": "{name} {harm}",
    "unsaid": "Which decision is best cannot be said with confidence here, for {why}.",
    # the same at every threshold, or not
    "every_threshold": "{best} is shown to cost less than {other} at every threshold from {low} to {high}.",
    "every_unsaid": "Whether it costs less at every threshold is worked out for the range as reported only.",
    "crossing": "{best} {cost} least on average over the range, not at every threshold: {clauses}.",
    "crossing_one": "{other} is shown to cost less {there}",
    "crossing_both": "{other} is shown to cost less {there}, {best} {here}",
    "stretch": "from {low} to {high}",
    "stretch_point": "at {low}",
    # the conclusion
    "lead": "{where}, {best} has the lowest expected cost: {amount} per {decisions} ({unit}){note}.",
    "lead_alone": "{where}, {best} has an expected cost of {amount} per {decisions} ({unit}){note}.",
    "in_units": "{scale}, in units of cost",
    "hindsight": "; its thresholds are fitted to these very rows, so this is optimistic",
    "aside": " ({text})",
    "boundless_one": "{others} has an infinite cost: a score of exactly 0 for a positive case, or of exactly 1 for a "
    "negative one.",
    "boundless": "{others} have an infinite cost: a score of exactly 0 for a positive case, or of exactly 1 for a "
    "negative one.",
    # these three only on the page, which has no intervals for some models
    "unsure_far": "the approximation fails so near to 0 or 1",
    "unsure_unranked": "only the best models as reported have intervals",
    "unsure_here": "there are no intervals, for {why}.",
    "treat all": "treating everyone",
    "treat none": "treating no one",
    "cases": "{share} of cases get a score between {low} and {high} from {best}: their mean score is {mean}, and "
    "{rate} of them were positive.",
    "all_cases": "All cases get a score in this range from {best}: their mean score is {mean}, and {rate} of them were "
    "positive.",
    "recalibrate": "Recalibrating {best} would save about {saving} of its cost on these rows, on new ones usually "
    "less.",
    "recalibrate_little": "Recalibrating {best} would save little there: about {saving} of its cost on these rows.",
    "acts_like": "In this range {models} practically acts like {constant}.",
    "act_like": "In this range {models} practically act like {constant}.",
    # what a threshold says
    "no_cost": "false alarms cost nothing",
    "no_miss": "missed positives cost nothing",
    "one_alarm": "one missed positive is as bad as {times} false alarm",
    "alarms": "one missed positive is as bad as {times} false alarms",
    "misses": "one false alarm is as bad as {times} missed positives",
    "meaning_one": "To act from a threshold of {low} on is to say that {says}.",
    "meaning_whole": "This is the whole range of thresholds: every exchange of false alarms for misses, from free "
    "false alarms to free misses. If you can say which are plausible for your decision, the answer becomes sharper.",
    "meaning": "To act from a threshold of {low} on is to say that {says}; at {high}, that {says_high}. The thresholds "
    "in between are those that someone might plausibly hold.",
    # tables and figures
    "shaded_one": "The line marks the threshold {low} (odds {odds}).",
    "shaded": "Shaded: the plausible thresholds, {low} to {high} (odds {odds} to {odds_high}).",
    "exact": "Computed in this page from the table it holds, as the library computes it: exact but for rounding; "
    "{sureness}",
    "thinned": "Computed in this page from the table it holds, as the library computes it; the table is thinned, and "
    "{reach}; {sureness}",
    "within": "costs are within {bound} of those of all rows",
    "boundless_error": "so near to 0 or 1 no bound of the error can be given",
    "approximate": "intervals and p-values are approximate.",
    "over_one": "at threshold {low}",
    "over": "over thresholds from {low} to {high}",
    "ranking": "Models by expected cost {over}; lower is better, a negative difference favours the model of the row",
    "decomposition": "Decomposition of the expected cost {over}, in-sample",
    "in_range": "Cases with a score between {low} and {high}",
}


def say(sentence: str, **filled: str) -> str:
    """Fill the slots of a sentence.

    Examples
    --------
    >>> say("at", low="2%")
    'At a threshold of 2%'
    """
    return SENTENCES[sentence].format(**filled)
