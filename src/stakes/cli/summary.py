"""ResultTables by rich."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from stakes.cli.console import natural_width, print_table
from stakes.outputs.result_table import CellStyle
from stakes.outputs.text import (
    MISSING,
    decimals_needed,
    fixed,
    number,
    percent,
    threshold_name,
    visible,
    with_short_names,
)
from stakes.outputs.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rich.console import Console

    from stakes.actions import DeferredModels
    from stakes.evaluation import Evaluation, Finding, Findings
    from stakes.information import ValueOfInformation
    from stakes.outputs.result_table import ResultTable, TableColumn

    Rows = Sequence[Mapping[str, Any]]


# An evaluation as a person reads it on a terminal: the data, the ranking, the reasons, the conclusion.

_MOST_DECIMALS = 9
_NAMES = 1  # the column of names
_TEXTS = ("text", "once", "file")
_STACKED, _NARROW = "{value}\n{low} to {high}", "{value}\n{low} to\n{high}"
_MODEL = ("rank", "model")
_RANKING = ("score", "vs_best", "vs_treat_all", "vs_treat_none")
_REASONS = ("p_best", "skill", "auc", "miscalibration", "discrimination", "share_acted_on")
_MONEY = ("cost", "gain", "savings")
STYLE = CellStyle(
    fixed,
    {
        **dict.fromkeys(("rank", "text", "once"), lambda text, _: name(str(text))),
        "file": lambda file, _: name(file, 60),
        "word": lambda text, _: text.replace("_", " "),
        "probability": lambda share, _: _percent(share, 0),
        "acted": lambda share, _: _percent(share, 1),
        "share": lambda share, _: percent(share),
        "count": lambda count, _: f"{count:,}",
        "p": lambda value, _: fixed(value, 4),
        **dict.fromkeys(("metric", "significant"), lambda value, _: MISSING if math.isnan(value) else f"{value:.4g}"),
        "threshold": lambda value, _: threshold_name(value),
    },
    missing=MISSING,
    interval=_STACKED,
)
_GROUPS = (
    "The best model by subgroup; compare them by skill, for the cost depends on the share of positives. "
    "x to y: pointwise {level} intervals, of each number alone. p: skill less that of all other rows, adjusted for the "
    "number of groups."
)
_CORRECTED = " corrected MCB: of recalibration judged on rows that it was not fitted to."
_STAKES = " positive: share of what is at stake; cost and gain: per 1,000 rows, with amounts as stated."
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
    sentences = (with_short_names(sentence, evaluation.models, name) for sentence in evaluation.conclusion)
    headline, *others = map(visible, sentences)
    console.print(Text(headline, style="bold"))
    alarms, facts = _by_gravity(evaluation.findings)
    if alarms:
        console.print(Text("\nFindings (stakes check says what to do):"))
        console.print(findings_grid(alarms))
    console.print()
    tables, style = evaluation.tables(), replace(STYLE, decimals=_decimals(evaluation))
    ranking, models, metrics = tables["ranking"], len(evaluation.models), list(evaluation.results[0].metrics)
    wide, narrow = replace(style, interval=CellStyle.interval), replace(style, interval=_NARROW)
    _print_fitting(
        console, ranking.rows, ranking.view((*_MODEL, *_RANKING)), wide, narrow, bold=True, ends=[models - 1]
    )
    console.print()
    console.print(Text(_explanation(evaluation), style="dim"), end="\n\n")
    _print_money(console, evaluation, tables, style)
    rows = ranking.rows[:models]
    _print_table(console, rich_table(rows, ranking.view((*_MODEL, *_REASONS)), style), _terms(evaluation))
    if metrics:
        _print_table(console, rich_table(rows, ranking.view((*_MODEL, *metrics)), style))
    if evaluation.groups:
        words = _GROUPS.format(level=percent(evaluation.confidence_level))
        words += _STAKES if evaluation.options.per_stake else _CORRECTED
        _print_table(console, _groups_table(evaluation, style), words)
    console.print(listed(others))
    if facts:
        console.print()
        console.print(findings_grid(facts))


def _print_money(console: Console, evaluation: Evaluation, tables: dict[str, ResultTable], style: CellStyle) -> None:
    if "money" in tables:
        found = tables["money"]
        _print_table(console, rich_table(found.rows, found.view((*_MODEL, *_MONEY)), style), _money_words(evaluation))
    if "scales" in tables:
        found, plain = tables["scales"], replace(style, interval="{value}")
        _print_table(console, rich_table(found.rows, found.view((*_MODEL, "held", *_MONEY)), plain), _SCALES)


def _by_gravity(findings: Findings) -> tuple[list[Finding], list[Finding]]:
    """Errors and warnings, and the rest."""
    alarms = [finding for finding in findings if finding.severity != "info"]
    return alarms, [finding for finding in findings if finding.severity == "info"]


def _print_table(console: Console, table: Table, words: str = "") -> None:
    print_table(console, table, _NAMES)
    console.print()
    if words:
        console.print(Text(words, style="dim"), end="\n\n")


def _print_fitting(
    console: Console, rows: Rows, columns: Sequence[TableColumn], wide: CellStyle, narrow: CellStyle, **marks: Any
) -> None:
    """Print a table, in the narrow style where the terminal is not wide enough for the other."""
    table = rich_table(rows, columns, wide, **marks)
    if natural_width(console, table) > console.width:
        table = rich_table(rows, columns, narrow, **marks)
    print_table(console, table, _NAMES)


def rich_table(
    rows: Rows,
    columns: Sequence[TableColumn],
    style: CellStyle,
    *,
    names: int = _NAMES,
    bold: bool = False,
    ends: Collection[int] = (),
    close: bool = False,
) -> Table:
    """Lay out records with names in a given column, the first row in bold, and lines below those in ``ends``."""
    lead = [""] * (names - next(place for place, each in enumerate(columns) if each.kind in _TEXTS))
    table = _table(*lead, *(column.head for column in columns), names=names, close=close)
    for place, cells in enumerate(style.rows(rows, columns)):
        emphasis = "bold" if bold and place == 0 else ""
        table.add_row(*lead, *map(Text, cells), style=emphasis, end_section=place in ends)
    return table


def _percent(share: float, decimals: int) -> str:
    text = fixed(100.0 * share, decimals)
    return text if text == MISSING else f"{text}%"


def _money_words(evaluation: Evaluation) -> str:
    found = evaluation.money[evaluation.ranking[0]]
    unit = f" in {name(found.unit)}" if found.unit else ""
    notes = dict.fromkeys(f" {part.note}." for part in (found.cost, found.gain, found.savings) if part.note)
    return (
        f"cost: per 1,000 rows{unit}, with amounts as stated; gain: over acting on nobody; savings: share of the cost "
        "of the better of acting on all and on nobody. x to y: pointwise "
        f"{percent(evaluation.confidence_level)} intervals." + "".join(notes)
    )


def _groups_table(evaluation: Evaluation, style: CellStyle) -> Table:
    """The best model in every subgroup, with intervals of cost and skill."""
    found = evaluation.tables(evaluation.ranking[:1])["groups"]
    several = len({row["column"] for row in found.rows}) > 1
    rows = [row | {"group": f"{row['column']}: {row['group']}"} for row in found.rows] if several else found.rows
    further = ("cost", "gain") if evaluation.options.per_stake else ("auc", "corrected_miscalibration")
    columns = found.view(("group", "n_rows", "prevalence")) + found.view(["score"], head=evaluation.scale)
    columns += found.view(["skill"]) + found.view((*further, "skill_p_adjusted"), interval="")
    return rich_table(rows, columns, style)


def listed(sentences: Iterable[str]) -> Table:
    """List plain sentences."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    for sentence in sentences:
        grid.add_row("-", Text(sentence))
    return grid


def findings_grid(findings: Iterable[Finding], *, remedies: bool = False) -> Table:
    """List findings with severity and code, names of bearable length, and on request what to do."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for place, finding in enumerate(findings):
        if remedies and place:
            grid.add_row()
        said = Text.assemble((finding.code, "bold"), ": ", finding.told(name))
        grid.add_row(Text(finding.severity, style=_STYLES[finding.severity]), said)
        if remedies:
            grid.add_row(Text(), Text(finding.remedy, style="dim"))
    return grid


def _table(*headers: str, names: int = _NAMES, close: bool = False) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=close, header_style="")
    for place, header in enumerate(headers):
        table.add_column(
            Text(header), justify="left" if place == names else "right", overflow="fold", no_wrap=place != names
        )
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
    unit = "one miss plus one false alarm"
    if evaluation.unit_cost != 1.0:
        unit = f"which {unit} cost {evaluation.unit_cost:,g}"
    decisions = "decision" if evaluation.per == 1.0 else f"{evaluation.per:,g} decisions"
    meaning = _MEANING[evaluation.scale].format(decisions=decisions, unit=unit)
    meaning = f"regret: cost beyond that of right decisions, per {name(stake)}." if stake else meaning
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


def print_calibration(console: Console, evaluation: Evaluation) -> None:
    """Print each model's calibration over all cases, and over those scored within the range."""
    console.print()
    found = evaluation.tables()["calibration"]
    columns = found.view(["rank"]) + found.view(["model"], kind="once") + [*found.columns[2:-1]]
    rows = [row | ({"rank": None, "model": None} if row["cases"] != "all" else {}) for row in found.rows]
    _print_fitting(console, rows, columns, STYLE, replace(STYLE, interval=_NARROW), ends=range(1, len(rows), 2))
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


# The answers to further questions: what leaving cases to someone else saves, and what more rows would be worth.


def print_further(console: Console, evaluation: Evaluation) -> None:
    """Print the answers that were asked for."""
    if evaluation.deferral is not None:
        _print_deferral(console, evaluation.deferral)
    if evaluation.information is not None:
        _print_information(console, evaluation.information)


def _print_deferral(console: Console, found: DeferredModels) -> None:
    table = _table("", "with deferral", "cost", "without", "worth", "deferred", "defer from", "to")
    for model, each in found.models.items():
        low, high = each.estimates["value"].interval
        worth = f"{number(each.value)}\n{number(low)} to {number(high)}"
        zone = [MISSING] * 2 if each.zone is None else [f"{end:.4g}" for end in each.zone]
        costs = number(each.cost), number(each.cost_without), worth
        table.add_row("", Text(name(model)), *costs, percent(each.shares["deferred"]), *zone)
    _print_answer(console, table, found.conclusion)


def _print_information(console: Console, found: ValueOfInformation) -> None:
    table = _table("", "further rows", "save per decision", "over all decisions", "less their price")
    if found.per != 1.0:
        table.columns[2].header = f"save per {found.per:,g} decisions"
    for row in found.study_records():
        cells = [MISSING if row[key] is None else number(row[key]) for key in ("saving", "total_saving", "net_gain")]
        table.add_row("", f"{row['more_rows']:,}", *cells)
    _print_answer(console, table, found.conclusion)


def _print_answer(console: Console, table: Table, sentences: Iterable[str]) -> None:
    console.print()
    _print_table(console, table)
    console.print(listed(map(visible, sentences)))
