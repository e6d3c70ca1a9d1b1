"""ResultTables by rich."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from stakes.cli.console import natural_width, print_table
from stakes.evaluation import INTERVAL, ranking_cells, ranking_header, ranking_records, with_interval
from stakes.outputs.text import LONGEST_NAME, MISSING, decimals_needed, fixed, percent, visible
from stakes.outputs.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from stakes.evaluation import Evaluation, Finding, Findings
    from stakes.inference import CalibrationSummary


# An evaluation as a person reads it on a terminal: the data, the ranking, the reasons, the conclusion.

_MOST_DECIMALS = 9
_NAMES = 1  # the column of names
_COSTS = 6  # columns of the ranking up to the last difference; skill and AUC have a table of their own
_STACKED = "{value}\n{low} to {high}"
_GROUPS = (
    "The best model by subgroup; compare them by skill, for the cost depends on the share of positives. "
    "x to y: pointwise {level} intervals, of each number alone. p: skill less that of all other rows, adjusted for the "
    "number of groups."
)
_CORRECTED = " corrected MCB: of recalibration judged on rows that it was not fitted to."
_STAKES = " positive: share of what is at stake; cost and gain: per row, with amounts as stated."
_SCALES = (
    "The same on average over the cost ratios; held: whose amounts are as stated, the others following by the ratio."
)
_STYLES = {"error": "bold red", "warning": "bold yellow", "info": "cyan"}
_MEANING = {
    "regret": "regret: cost per {decisions} beyond a perfect forecast's, in units of {unit}.",
    "integral": "integral: regret summed over the thresholds with their weights.",
    "loss": "loss: the proper score for this range (the Brier score or log loss where it is 0 to 1).",
}


def print_evaluation(console: Console, evaluation: Evaluation, heading: list[str]) -> None:
    """Print everything that a person should see of an evaluation: the answer and what speaks against it first."""
    console.print(Text("\n".join(map(visible, heading))), end="\n\n")
    headline, *others = _sentences(evaluation)
    console.print(Text(headline, style="bold"))
    alarms, facts = _by_gravity(evaluation.findings)
    if alarms:
        console.print(Text("\nFindings (stakes check says what to do):"))
        console.print(findings_grid(alarms))
    console.print()
    ranking = ranking_table(evaluation, INTERVAL)
    if natural_width(console, ranking) > console.width:  # then the ends of the intervals go under the numbers
        ranking = ranking_table(evaluation, "{value}\n{low} to\n{high}")
    _print_table(console, ranking)
    console.print(Text(_explanation(evaluation), style="dim"), end="\n\n")
    if evaluation.money:
        _print_table(console, money_table(evaluation))
        console.print(Text(_money_words(evaluation), style="dim"), end="\n\n")
    if evaluation.money_over_costs:
        _print_table(console, scales_table(evaluation))
        console.print(Text(_SCALES, style="dim"), end="\n\n")
    _print_table(console, reasons_table(evaluation))
    console.print(Text(_terms(evaluation), style="dim"), end="\n\n")
    if evaluation.results[0].metrics:
        _print_table(console, metrics_table(evaluation))
    if evaluation.groups:
        _print_table(console, groups_table(evaluation))
        words = _GROUPS.format(level=percent(evaluation.confidence_level))
        words += _STAKES if evaluation.options.per_stake else _CORRECTED
        console.print(Text(words, style="dim"), end="\n\n")
    console.print(listed(others))
    if facts:
        console.print()
        console.print(findings_grid(facts))


def _by_gravity(findings: Findings) -> tuple[list[Finding], list[Finding]]:
    """Errors and warnings, and the rest."""
    alarms = [finding for finding in findings if finding.severity != "info"]
    return alarms, [finding for finding in findings if finding.severity == "info"]


def _print_table(console: Console, table: Table) -> None:
    print_table(console, table, _NAMES)
    console.print()


def ranking_table(evaluation: Evaluation, interval: str) -> Table:
    """What acting on each model costs, and how that differs from the best, from treating all and from treating none."""
    decimals, heads = _decimals(evaluation), ranking_header(evaluation.scale)[:_COSTS]
    rows = ranking_cells(ranking_records(evaluation), lambda value: fixed(value, decimals), interval=interval)
    table = _table(*heads)
    for place, (number, model, *cells) in enumerate(rows, start=1):
        shown = [cell or MISSING for cell in cells[: _COSTS - 2]]
        last, style = place == len(evaluation.models), "bold" if place == 1 else ""
        table.add_row(number, Text(name(model)), *shown, style=style, end_section=last)
    return table


def reasons_table(evaluation: Evaluation) -> Table:
    """Why the models cost what they cost."""
    table, found = _table("#", "model", "is best", "skill", "AUC", "MCB", "DSC", "acts on"), evaluation.selection
    decimals = _decimals(evaluation)
    for rank, model in enumerate(evaluation.ranking, start=1):
        result = evaluation[model]
        parts = result.decomposition
        terms = [] if parts is None else [parts.miscalibration, parts.discrimination]
        skill = math.nan if parts is None else parts.skill
        acts = fixed(100.0 * result.share_acted_on, 1)
        best = MISSING if found is None else f"{100.0 * found.p_best[model]:.0f}%"
        cells = [best, fixed(skill, 3), fixed(result.auc, 3), *(fixed(term, decimals) for term in terms)]
        table.add_row(str(rank), Text(name(model)), *cells, acts if acts == MISSING else f"{acts}%")
    return table


def money_table(evaluation: Evaluation) -> Table:
    """What acting by each model costs in money, what that gains over acting on nobody, and the share saved."""
    table = _table("#", "model", "cost", "gain", "savings")
    for rank, model in enumerate(evaluation.ranking, start=1):
        found = evaluation.money[model]
        shows = partial(fixed, decimals=2), partial(fixed, decimals=2), partial(fixed, decimals=3)
        parts = zip((found.cost, found.gain, found.savings), shows, strict=True)
        cells = [with_interval(part.value, part.interval, show, interval=_STACKED) for part, show in parts]
        table.add_row(str(rank), Text(name(model)), *cells)
    return table


def scales_table(evaluation: Evaluation) -> Table:
    """Mean cost and gain over the cost ratios, by which amounts cost what they were stated to."""
    table = _table("#", "model", "held", "cost", "gain", "savings")
    for rank, model in enumerate(evaluation.ranking, start=1):
        for scale, by_model in evaluation.money_over_costs.items():
            found = by_model[model]
            cells = fixed(found.cost.value, 2), fixed(found.gain.value, 2), fixed(found.savings.value, 3)
            table.add_row(str(rank), Text(name(model)), scale.replace("_", " "), *cells)
    return table


def _money_words(evaluation: Evaluation) -> str:
    found = evaluation.money[evaluation.ranking[0]]
    unit = f" in {name(found.unit)}" if found.unit else ""
    notes = dict.fromkeys(f" {part.note}." for part in (found.cost, found.gain, found.savings) if part.note)
    return (
        f"cost: per row{unit}, with amounts as stated; gain: over acting on nobody; savings: share of the cost of the "
        f"better of acting on all and on nobody. x to y: pointwise {percent(evaluation.confidence_level)} intervals."
        + "".join(notes)
    )


def metrics_table(evaluation: Evaluation) -> Table:
    """The further metrics that were asked for."""
    names = list(evaluation.results[0].metrics)
    table = _table("#", "model", *names)
    for rank, model in enumerate(evaluation.ranking, start=1):
        values = [evaluation[model].metrics[key] for key in names]
        cells = [MISSING if math.isnan(value) else f"{value:.4g}" for value in values]
        table.add_row(str(rank), Text(name(model)), *cells)
    return table


def groups_table(evaluation: Evaluation) -> Table:
    """The best model in every subgroup."""
    last = ["cost", "gain"] if evaluation.options.per_stake else ["AUC", "corrected MCB"]
    table = _table("", "group", "rows", "positive", evaluation.scale, "skill", *last, "p")
    decimals = _decimals(evaluation)
    columns = {row.column for row in evaluation.groups}
    for row in evaluation.groups.of(evaluation.ranking[0]):
        label = row.group if len(columns) == 1 else f"{row.column}: {row.group}"
        score = with_interval(row.score, row.interval, lambda value: fixed(value, decimals), interval=_STACKED)
        skill = with_interval(row.skill, row.skill_interval, lambda value: fixed(value, 3), interval=_STACKED)
        further = [fixed(row.auc, 3), fixed(row.corrected_miscalibration, decimals)]
        if evaluation.options.per_stake:
            further = (
                [MISSING] * 2 if row.money is None else [fixed(row.money.cost.value, 2), fixed(row.money.gain.value, 2)]
            )
        cells = [f"{row.n_rows:,}", percent(row.prevalence), score, skill, *further, fixed(row.skill_p_adjusted, 4)]
        table.add_row("", Text(name(label)), *cells)
    return table


def listed(sentences: Iterable[str]) -> Table:
    """List plain sentences."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    for sentence in sentences:
        grid.add_row("-", Text(sentence))
    return grid


def _sentences(evaluation: Evaluation) -> Iterator[str]:
    """The conclusion, with names of bearable length."""
    for sentence in evaluation.conclusion:
        text = sentence
        for model in sorted(evaluation.models, key=len, reverse=True):
            if len(model) > LONGEST_NAME:
                text = text.replace(model, name(model))
        yield visible(text)


def findings_grid(findings: Iterable[Finding], *, remedies: bool = False) -> Table:
    """List findings with severity and code, names of bearable length, and on request what to do."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for number, finding in enumerate(findings):
        if remedies and number:
            grid.add_row()
        said = Text.assemble((finding.code, "bold"), ": ", finding.told(name))
        grid.add_row(Text(finding.severity, style=_STYLES[finding.severity]), said)
        if remedies:
            grid.add_row(Text(), Text(finding.remedy, style="dim"))
    return grid


def _table(*headers: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="")
    for position, header in enumerate(headers):
        is_name = position == _NAMES
        table.add_column(header, justify="left" if is_name else "right", overflow="fold", no_wrap=not is_name)
    return table


def _decimals(evaluation: Evaluation) -> int:
    """Decimals that show three digits of the lowest cost and two of the margins of the differences from it."""
    scores = [result.score for result in evaluation.results if 0.0 < result.score < math.inf]
    least = decimals_needed(min(scores, default=0.0), 3)
    best = evaluation.ranking[0]
    intervals = [evaluation.compare(other, best).interval for other in evaluation.ranking[1:]]
    margins = [decimals_needed((high - low) / 2.0, 2) for low, high in intervals]
    return min(max([least, *margins]), least + 2, _MOST_DECIMALS)


def _explanation(evaluation: Evaluation) -> str:
    level, stake = percent(evaluation.confidence_level), evaluation.options.per_stake
    if stake:
        return (
            f"regret: cost beyond that of right decisions, per {name(stake)}. vs: the row minus best, treat all or "
            f"treat none; below zero the row costs less. x to y: simultaneous {level} intervals, of all "
            "the rows of a column."
        )
    unit = "one miss plus one false alarm"
    if evaluation.unit_cost != 1.0:
        unit = f"which {unit} cost {evaluation.unit_cost:,g}"
    decisions = "decision" if evaluation.per == 1.0 else f"{evaluation.per:,g} decisions"
    meaning = _MEANING[evaluation.scale].format(decisions=decisions, unit=unit)
    return (
        f"{meaning} vs: the row minus best, treat all or treat none; below zero the row costs less. "
        f"x to y: simultaneous {level} intervals, of all the rows of a column."
    )


def _terms(evaluation: Evaluation) -> str:
    parts = evaluation.best.decomposition
    uncertainty = MISSING if parts is None else fixed(parts.uncertainty, _decimals(evaluation))
    of = evaluation.scale if evaluation.rule == "score" else f"the {evaluation.scale} of the scores at face value"
    of = f"{of} without the harm" if evaluation.harms else of
    return (
        f"MCB miscalibration, DSC discrimination: {of} = MCB - DSC + {uncertainty}, the last being what acting on the "
        "prevalence costs; skill: the share of it that is saved. acts on: share of rows, averaged over the thresholds; "
        "is best: the probability of being the best decision."
    )


# The calibration of every model as a person reads it on a terminal.

_DECIMALS = {"o_e_ratio": 2, "calibration_in_the_large": 2, "slope": 2, "ici": 4}
_HEADS = ("O:E", "in the large", "slope", "ICI")


def print_calibration(console: Console, evaluation: Evaluation) -> None:
    """Print each model's calibration over all cases, and over those scored within the range."""
    console.print()
    table = calibration_table(evaluation, _STACKED)
    if natural_width(console, table) > console.width:
        table = calibration_table(evaluation, "{value}\n{low} to\n{high}")
    print_table(console, table, 1)
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    words = (
        f"in range: scored from {low} to {high}, where the plausible thresholds decide. O:E observed to expected "
        "events (1 is calibrated); in the large: intercept on the logit scale with slope 1 (0); slope below 1: scores "
        f"too extreme; ICI: mean distance from the smoothed event rate. x to y: pointwise "
        f"{percent(evaluation.confidence_level)} intervals."
    )
    notes = [f"{name(row.model)}: {row.overall.note}." for row in evaluation.calibration if row.overall.note]
    console.print()
    console.print(Text("\n".join([words, *notes]), style="dim"))


def calibration_table(evaluation: Evaluation, interval: str) -> Table:
    """Two rows for each model, numbers above their intervals."""
    table = _table("#", "model", "cases", "rows", *_HEADS)
    for rank, row in enumerate(evaluation.calibration, start=1):
        for cases, found in row.parts().items():
            lead = (str(rank), Text(name(row.model))) if cases == "all" else ("", Text())
            rows = "0" if found is None else f"{found.n_rows:,}"
            table.add_row(*lead, cases, rows, *_cells(found, interval), end_section=cases != "all")
    return table


def _cells(found: CalibrationSummary | None, interval: str) -> list[str]:
    if found is None:
        return ["-"] * len(_HEADS)
    return [
        with_interval(
            getattr(found, number),
            found.interval(number),
            lambda value, places=places: fixed(value, places),  # type: ignore[misc]
            interval=interval,
        )
        for number, places in _DECIMALS.items()
    ]
