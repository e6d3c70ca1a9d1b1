"""Conclusion, methods, units."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from stakes._version import __version__
from stakes.costs import Fixed, LogOddsUniform, Uniform
from stakes.evaluation._followed import follow_up_of
from stakes.evaluation._words import counted
from stakes.outcomes import NEEDED_AT_RISK, TimeToEvent
from stakes.outputs.text import join, level_name, number, percent, percents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stakes.evaluation._standings import Standings
    from stakes.inference import PairedRows


# A methods paragraph for exactly what an evaluation computed, with its references.

PAPERS = {
    "flores": "Flores G, Schiff A, Smith AH, Fukuyama JA, Wilson AC. A consequentialist critique of binary "
    "classification evaluation practices. arXiv:2504.04528, 2025.",
    "vickers": "Vickers AJ, Elkin EB. Decision curve analysis: a novel method for evaluating prediction models. "
    "Medical Decision Making 2006;26:565-574. doi:10.1177/0272989X06295361",
    "three": "Hanley JA, Lippman-Hand A. If nothing goes wrong, is everything all right? JAMA 1983;249:1743-1745. "
    "doi:10.1001/jama.1983.03330370053031",
    "cosines": "Lazarus E, Lewis DJ, Stock JH, Watson MW. HAR inference: recommendations for practice. Journal of "
    "Business & Economic Statistics 2018;36:541-559. doi:10.1080/07350015.2018.1506926",
    "newey": "Newey WK, West KD. A simple, positive semi-definite, heteroskedasticity and autocorrelation consistent "
    "covariance matrix. Econometrica 1987;55:703-708. doi:10.2307/1913610",
    "hsu": "Hsu JC. Constrained simultaneous confidence intervals for multiple comparisons with the best. Annals of "
    "Statistics 1984;12:1136-1144. doi:10.1214/aos/1176346732",
    "corp": "Dimitriadis T, Gneiting T, Jordan AI. Stable reliability diagrams for probabilistic classifiers. PNAS "
    "2021;118:e2016191118. doi:10.1073/pnas.2016191118",
    "delong": "DeLong ER, DeLong DM, Clarke-Pearson DL. Comparing the areas under two or more correlated receiver "
    "operating characteristic curves. Biometrics 1988;44:837-845. doi:10.2307/2531595",
    "rubin": "Barnard J, Rubin DB. Small-sample degrees of freedom with multiple imputation. Biometrika 1999;86:"
    "948-955. doi:10.1093/biomet/86.4.948",
    "achilles": "Van Calster B, McLernon DJ, van Smeden M, Wynants L, Steyerberg EW. Calibration: the Achilles heel of "
    "predictive analytics. BMC Medicine 2019;17:230. doi:10.1186/s12916-019-1466-7",
    "ici": "Austin PC, Steyerberg EW. The Integrated Calibration Index (ICI) and related metrics. Statistics in "
    "Medicine 2019;38:4051-4065. doi:10.1002/sim.8281",
    "kaplan": "Kaplan EL, Meier P. Nonparametric estimation from incomplete observations. Journal of the American "
    "Statistical Association 1958;53:457-481. doi:10.1080/01621459.1958.10501452",
    "aalen": "Aalen OO, Johansen S. An empirical transition matrix for non-homogeneous Markov chains based on censored "
    "observations. Scandinavian Journal of Statistics 1978;5:141-150.",
    "graf": "Graf E, Schmoor C, Sauerbrei W, Schumacher M. Assessment and comparison of prognostic classification "
    "schemes for survival data. Statistics in Medicine 1999;18:2529-2545.",
    "uno": "Uno H, Cai T, Tian L, Wei LJ. Evaluating prediction rules for t-year survivors with censored regression "
    "models. Journal of the American Statistical Association 2007;102:527-537. doi:10.1198/016214507000000149",
    "blanche": "Blanche P, Dartigues JF, Jacqmin-Gadda H. Estimating and comparing time-dependent areas under receiver "
    "operating characteristic curves for censored event times with competing risks. Statistics in Medicine "
    "2013;32:5381-5397. doi:10.1002/sim.5958",
    "begg": "Begg CB, Greenes RA. Assessment of diagnostic tests when disease verification is subject to selection "
    "bias. Biometrics 1983;39:207-215. doi:10.2307/2530820",
    "bahnsen": "Correa Bahnsen A, Aouada D, Ottersten B. Example-dependent cost-sensitive logistic regression for "
    "credit scoring. International Conference on Machine Learning and Applications 2014:263-269. "
    "doi:10.1109/ICMLA.2014.48",
    "holm": "Holm S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics "
    "1979;6:65-70.",
}
_CITED = re.compile(r"\[(\w+)\]")


def methods_text(standings: Standings, *, calibration: bool) -> str:
    """One paragraph, and the references it cites, numbered in their order."""
    text = " ".join(_sentences(standings, calibration=calibration))
    cited = list(dict.fromkeys(_CITED.findall(text)))
    numbered = _CITED.sub(lambda found: f"[{cited.index(found[1]) + 1}]", text)
    listed = [f"{number}. {PAPERS[key]}" for number, key in enumerate(cited, start=1)]
    return "\n".join([numbered, "", "References", *listed])


def _sentences(standings: Standings, *, calibration: bool) -> Iterator[str]:
    yield from _data(standings)
    yield (
        "We compared them by expected regret, the mean cost of decisions beyond those of a perfect forecast, a false "
        f"positive costing t and a false negative 1 - t at a decision threshold of t [flores], {_costs(standings)}; "
        "net benefit is the prevalence less regret divided by 1 - t [vickers]."
    )
    yield _rule(standings)
    if standings.harms:
        each = join([f"{number(value)} ({name})" for name, value in standings.harms.items()])
        yield (
            f"Obtaining a score was taken to cost each case {each} missed positives, the test harm of decision curve "
            "analysis [vickers]; costs and net benefit count it."
        )
    if standings.rule != "optimal":
        yield from _intervals(standings)
    if standings.selection is not None:
        yield from _choice_method(standings)
    decided = "" if standings.rule == "score" else " of the scores at face value"
    yield (
        f"Expected regret{decided} was decomposed into miscalibration, discrimination and uncertainty by isotonic "
        "recalibration on the same rows [corp]; skill is the share of the cost of forecasting the prevalence that a "
        "model saves."
    )
    if not standings.options.per_stake:
        if not standings.clusters_unseen:
            yield _area_method(standings)
        if calibration:
            yield _calibration_method(standings)
    if standings.groups:
        yield from _groups_method(standings)
    yield f"Computed with stakes {__version__}."


def _area_method(standings: Standings) -> str:
    """What the AUC compares and how its error is worked out."""
    rows = (standings.imputations or (standings,))[0].rows
    outcome = None if rows is None or rows.origin is None else rows.origin.outcome
    if not isinstance(outcome, TimeToEvent) or outcome.plain:
        clustered, ordered = rows is not None and rows.clusters is not None, rows is not None and rows.lags is not None
        of = "its placements [delong]" if clustered or ordered else "DeLong et al. [delong]"
        of = of if outcome is None or outcome.plain else "its weighted placements"
        over = " over clusters" * clustered or " over rows in order" * ordered
        return f"The area under the ROC curve has the variance of {of}{over} and an interval of Wilson's form."
    competes = bool((outcome.competing & outcome.present).any())
    others = ", who were free of any event or had one of another cause first [blanche]" if competes else " [uno]"
    return (
        "The area under the ROC curve is the cumulative/dynamic one: cases with the event by the horizon against all "
        f"others{others}; its variance is that of the weighted placements, with an interval of Wilson's form."
    )


def _groups_method(standings: Standings) -> Iterator[str]:
    """How subgroups were compared, and how censoring was estimated that weighs their rows."""
    adjusted = ([row.p_adjusted, row.skill_p_adjusted, row.more_than_promised_p_adjusted] for row in standings.groups)
    holm = "" if all(math.isnan(p) for each in adjusted for p in each) else "; p-values were adjusted after Holm [holm]"
    yield f"Subgroups were compared with all other rows{holm}."
    outcome = None if standings.rows is None or standings.rows.origin is None else standings.rows.origin.outcome
    followed = follow_up_of(outcome)
    if followed is None or not followed.estimated:
        return
    within = standings.groups.within
    if within:
        yield f"Rows of subgroups by {join(within)} were weighed by censoring estimated within each subgroup."
    if any(math.isnan(row.prevalence) for row in standings.groups):
        yield (
            f"Subgroups that lost cases and of which fewer than {NEEDED_AT_RISK} were followed to the horizon have no "
            "numbers and are not among the other rows."
        )
    if not followed.pooled:
        yield "Rows of subgroups keep their weights: censoring was estimated within the groups given to the outcome."


def _data(standings: Standings) -> Iterator[str]:
    count, rows = len(standings.models), (standings.imputations or (standings,))[0].rows
    stated = " (stated, the classes being reweighted to it)" if standings.score_tables[0].fixed_prevalence else ""
    models = "1 model" if count == 1 else f"{count:,} models"
    amounts = standings.options.per_stake
    weighed = " weighted" if _weighted(standings, rows) and not amounts else ""
    share = "of what is at stake on positives" if amounts else "of them positive"
    yield (
        f"Predictions of {models} were evaluated on {standings.n_rows:,}{weighed} rows, "
        f"{percent(standings.prevalence)} {share}{stated}."
    )
    if standings.n_dropped:
        yield f"{standings.n_dropped:,} incomplete rows were left out."
    if standings._charged is not None:
        yield from standings._charged.totals.methods
    if rows is not None and rows.origin is not None:
        yield from rows.origin.outcome.methods
        if stated:
            yield f"The classes were then reweighted to the stated {percent(standings.prevalence)}."
    if standings.options.per_stake:
        yield f"Costs are per {standings.options.per_stake}."


def _weighted(standings: Standings, rows: PairedRows | None) -> bool:
    """Whether rows have weights: beside a stated prevalence, which sets those of classes, unlike ones in a class."""
    table = standings.score_tables[0]
    if rows is not None and rows.weight is not None and not table.fixed_prevalence:
        return True
    classes = (table.positives, table.positives_squared), (table.negatives, table.negatives_squared)
    effective = sum(float(w.sum()) ** 2 / float(squares.sum()) for w, squares in classes if w.any())
    return not math.isclose(effective, standings.n_rows, rel_tol=1e-9)


def _costs(standings: Standings) -> str:
    costs = standings.costs
    low, high = percents([costs.low, costs.high])
    if type(costs) is Fixed:
        return f"at a threshold of {low}"
    if type(costs) is Uniform:
        return f"averaged over thresholds from {low} to {high} that count alike"
    if type(costs) is LogOddsUniform:
        return f"averaged over thresholds from {low} to {high} that count alike on the log-odds scale"
    return f"averaged over thresholds from {low} to {high} by {costs!r}"


def _rule(standings: Standings) -> str:
    tie = standings.costs.tie
    reached, tied = ("reached", "") if tie == 1.0 else ("exceeded", f"; one at the threshold counted {counted(tie)}")
    if standings.rule != "optimal" and standings.options.per_stake:
        share = "A case of risk p with amounts a for a false positive and b for a false negative was acted on when "
        share += "p b / (p b + (1 - p) a)"
        if standings.rule == "score":
            return f"{share} {reached} the threshold, which is 1/2 for amounts as stated{tied}."
        return f"{share} reached {standings.rule:g}, whatever the threshold."
    if standings.rule == "score":
        return f"A case was acted on when its predicted risk {reached} the threshold{tied}."
    if standings.rule == "optimal":
        return (
            "Decisions were the best that the ranking allows in hindsight (isotonic regression on the same rows), so "
            "no interval of the costs is given."
        )
    return f"A case was acted on when its score reached {standings.rule:g}, whatever the threshold."


def _intervals(standings: Standings) -> Iterator[str]:
    yield (
        f"Pointwise {level_name(standings.confidence_level)} confidence intervals, of one number alone (ci_low, "
        "ci_high), are Student's t, with as many degrees of freedom as rows carry the spread (from the fourth moment); "
        "where fewer than five effective rows of a class do, they are widened for costs that were not seen by the rule "
        "of three [three]."
    )
    if standings.imputations:
        yield (
            f"Each of {len(standings.imputations)} completed data sets was evaluated; costs, differences, areas and "
            "calibration were pooled by Rubin's rules, the area on the scale of log-odds, with Barnard and Rubin's "
            "degrees of freedom where they are fewer [rubin]; other numbers are means over the data sets. Values were "
            "assumed to be missing at random given what the imputation used."
        )
    rows = standings.rows
    if standings.moments.clusters:
        yield "Variances are those of leaving out clusters in turn; rows of one cluster may depend on each other."
    if rows is not None and rows.lags is not None:
        how = "slow cosines [cosines]" if rows.lags == "auto" else f"{rows.lags} lags [newey]"
        yield f"Variances allow for rows in order of time that depend on each other, by {how}."


def _choice_method(standings: Standings) -> Iterator[str]:
    tried = standings.options.n_tried
    among = "" if tried is None else f" of {tried:,} that were tried"
    yield (
        f"The choice among the models{among}, acting on every case and acting on none allows for selection: the set of "
        "decisions that may be the best rests on multiple comparisons with the best [hsu]. Simultaneous intervals "
        "(simultaneous_low, simultaneous_high) hold for all rows of a column, both references included: those of costs "
        "rest on the largest of all studentised errors, those of differences from the first model on the largest of "
        "the differences between all models and of the references from the first."
    )


def _calibration_method(standings: Standings) -> str:
    low, high = percents([standings.costs.low, standings.costs.high])
    where = f"at {low}" if low == high else f"from {low} to {high}"
    return (
        "Calibration was summarised by the ratio of observed to expected events, calibration in the large, the slope "
        "of logistic recalibration [achilles] and the Integrated Calibration Index [ici] with lowess over two thirds "
        f"of the rows, over all rows and over those scored {where}."
    )
