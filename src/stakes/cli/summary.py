"""Results in the terminal: tables by rich, two days compared, and scores without labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from stakes.cli.console import Delivery, UsageError, deliver, natural_width, note, print_table, working
from stakes.cli.reading import EvaluationArguments, InputArguments, split_names
from stakes.metrics import promised_regret
from stakes.outputs.files import DataError
from stakes.outputs.result_table import CellStyle, ResultTable, TableColumn, Tabular
from stakes.outputs.text import (
    MISSING,
    count,
    fixed,
    join,
    level_name,
    number,
    p_value,
    percent,
    percents,
    short_names,
    shown_name as name,
    stated,
    threshold_name,
    visible,
    with_short_names,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rich.console import Console

    from stakes.actions import DeferredModels
    from stakes.evaluation import Answer, Evaluation, Finding
    from stakes.information import ValueOfInformation

    Rows = Sequence[Mapping[str, Any]]
    from collections.abc import Mapping

    from stakes.cli.options import Job
    from stakes.core.options import Options
    from stakes.evaluation import Change, Changes, KeptEvaluation, Unit
    from stakes.tables import ScoredFile


# An evaluation as a person reads it on a terminal: what was read, what to do, one table, and what is shown.

_NAMES = 1  # the column of names
_TEXTS = ("text", "once", "file")
_STACKED, _NARROW = "{value}\n{low} to {high}", "{value}\n{low} to\n{high}"
_MODEL = ("rank", "model")
_DETAILS = ("cost", "auc", "skill", "miscalibration", "discrimination", "share_acted_on")
_MONEY = ("cost", "gain", "savings")
_MOST_FINDINGS = 3
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
        "p": lambda value, _: MISSING if math.isnan(value) else p_value(value).removeprefix("= "),
        **dict.fromkeys(("metric", "significant"), lambda value, _: MISSING if math.isnan(value) else f"{value:.4g}"),
        "threshold": lambda value, _: threshold_name(value),
    },
    missing=MISSING,
    interval=_STACKED,
)


def style_of(models: Iterable[str], decimals: int = 0) -> CellStyle:
    """The style of a table of these models, whose names differ however long they are."""
    short = short_names(models)
    texts = dict.fromkeys(("rank", "text", "once"), lambda text, _: short.get(str(text)) or name(str(text)))
    return replace(STYLE, formats={**STYLE.formats, **texts}, decimals=decimals)


_IN_UNITS = ("score", "ci_low", "ci_high", "corrected_miscalibration")
_GROUPS = (
    "The best model by subgroup; compare them by skill, for the cost depends on the share of positives. "
    "x to y: pointwise {level} intervals, of each number alone. p: skill less that of all other rows, adjusted for the "
    "number of groups."
)
_FITTED_GROUPS = (
    "The best model by subgroup, at thresholds fitted to all rows: of a group its cost alone is known, which depends "
    "on the share of positives."
)
_CORRECTED = " corrected MCB: of recalibration judged on rows that it was not fitted to."
_STAKES = " positive: share of what is at stake; cost and gain: {per}, with amounts as stated."
_SCALES = (
    "The same on average over the cost ratios; held: whose amounts are as stated, the others following by the ratio."
)
_STYLES = {"error": "bold red", "warning": "bold yellow", "info": "cyan"}


def print_evaluation(console: Console, evaluation: Evaluation, *, more: str = "", details: bool = False) -> None:
    """Print the answer, what was asked for besides, and on request what it rests on."""
    found = evaluation.answer

    def write(text: str, style: str = "") -> None:
        console.print(Text(visible(with_short_names(text, evaluation.models)), style=style))

    write(found.read)
    write(found.meaning)
    console.print()
    write(found.advice, "bold")
    write(found.cost)
    console.print()
    print_table(console, _answer_table(console, found, short_names(evaluation.models)), _NAMES)
    write(found.unit, "dim")
    console.print()
    for paragraph in (" ".join((*found.shown, *found.not_shown)), found.calibration):
        if paragraph:
            write(paragraph)
    if found.findings:
        console.print(findings_grid(found.findings[:_MOST_FINDINGS], evaluation.models))
    left = len(found.findings) - _MOST_FINDINGS
    if left > 0:
        write(f"{left} more finding{'s' * (left > 1)}: stakes check lists all.")
    print_beneath(console, evaluation, details=details)
    if more:
        write(more, "dim")


def print_beneath(console: Console, evaluation: Evaluation, *, details: bool) -> None:
    """Print what was asked for besides the answer, and on request what it rests on."""
    _print_asked(console, evaluation)
    if details:
        _print_details(console, evaluation)


def _answer_table(console: Console, found: Answer, short: Mapping[str, str]) -> Table:
    """The table of the answer; its heads break where the terminal is not wide enough for them."""
    heads, *rows = found.cells()
    broken = [text.replace("may be best", "may be\nbest") for text in heads]
    for head, gap in ((heads, 2), (broken, 2), (broken, 1)):
        table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="")
        for place, text in enumerate(head):
            justify: Any = "left" if place <= _NAMES else "right"
            table.add_column(Text(text), justify=justify, overflow="fold", no_wrap=place != _NAMES)
        for place, cells in enumerate(rows):
            texts = [Text(short.get(cell) or name(cell) if at == _NAMES else cell) for at, cell in enumerate(cells)]
            table.add_row(*texts, style="bold" if place == 0 else "")
        if natural_width(console, table) <= console.width:
            break
    return table


def _print_asked(console: Console, evaluation: Evaluation) -> None:
    """Money, further metrics and groups, where there are any."""
    tables, style = evaluation.tables(), style_of(evaluation.models, evaluation.answer.decimals)
    metrics = list(evaluation.results[0].metrics)
    if not (metrics or evaluation.groups or "money" in tables):
        return
    console.print()
    _print_money(console, evaluation, tables, style)
    if metrics:
        found = tables["ranking"]
        rows = found.rows[: len(evaluation.models)]
        _print_table(console, rich_table(rows, found.view((*_MODEL, *metrics)), style))
    if evaluation.groups:
        asked, fitted = evaluation.options, evaluation.rule == "optimal"
        words = _FITTED_GROUPS if fitted else _GROUPS.format(level=level_name(evaluation.confidence_level))
        words += _STAKES.format(per=asked.money_words) if asked.per_stake else "" if fitted else _CORRECTED
        _print_table(console, _groups_table(evaluation, style), words)


def _print_details(console: Console, evaluation: Evaluation) -> None:
    """What the answer rests on."""
    found, style = evaluation.tables()["details"], style_of(evaluation.models, evaluation.answer.decimals + 1)
    shown = found.view((*_MODEL, *(key for key in _DETAILS if key in {column.key for column in found.columns})))
    console.print()
    _print_table(console, rich_table(found.rows, shown, style))
    console.print(listed(visible(with_short_names(each, evaluation.models)) for each in evaluation.answer.details))
    console.print()


def _print_money(console: Console, evaluation: Evaluation, tables: dict[str, ResultTable], style: CellStyle) -> None:
    if "money" in tables:
        found = tables["money"]
        _print_table(console, rich_table(found.rows, found.view((*_MODEL, *_MONEY)), style), _money_words(evaluation))
    if "scales" in tables:
        found, plain = tables["scales"], replace(style, interval="{value}")
        _print_table(console, rich_table(found.rows, found.view((*_MODEL, "held", *_MONEY)), plain), _SCALES)


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
    words = (
        f"cost: {evaluation.options.money_words}{unit}, with amounts as stated; gain: over acting on nobody; savings: "
        "share of the cost of the better of acting on all and on nobody. x to y: pointwise "
        f"{level_name(evaluation.confidence_level)} intervals."
    )
    short = short_names(evaluation.models)
    notes = [f"{short[model]}, {said}." for model in evaluation.ranking for said in evaluation.money[model]._notes()]
    return "\n".join([words, *notes])


def _groups_table(evaluation: Evaluation, style: CellStyle) -> Table:
    """The best model in every subgroup, with intervals of cost and skill."""
    found = evaluation.tables(evaluation.ranking[:1])["groups"]
    several = len({row["column"] for row in found.rows}) > 1
    factor = evaluation.answer.factor
    rows = [row | {key: factor * row[key] for key in _IN_UNITS} for row in found.rows]
    rows = [row | {"group": f"{row['column']}: {row['group']}"} for row in rows] if several else rows
    further = ("cost", "gain") if evaluation.options.per_stake else ("auc", "corrected_miscalibration")
    columns = found.view(("group", "n_rows", "prevalence")) + found.view(["score"], head="cost")
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


def findings_grid(findings: Sequence[Finding], models: Iterable[str], *, remedies: bool = False) -> Table:
    """List findings with severity and code, names of bearable length, and on request what to do."""
    short = short_names([*models, *(label for each in findings for label in (*each.models, *each.groups))])
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for place, finding in enumerate(findings):
        if remedies and place:
            grid.add_row()
        said = Text.assemble((finding.code, "bold"), ": ", finding.told(short.__getitem__))
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


# The calibration of every model as a person reads it on a terminal.


def print_calibration(console: Console, evaluation: Evaluation) -> None:
    """Print each model's calibration over all cases, and over those scored within the range."""
    console.print()
    found = evaluation.tables()["calibration"]
    columns = found.view(["rank"]) + found.view(["model"], kind="once") + [*found.columns[2:-1]]
    style, short = style_of(evaluation.models), short_names(evaluation.models)
    rows = [row | ({"rank": None, "model": None} if row["cases"] != "all" else {}) for row in found.rows]
    _print_fitting(console, rows, columns, style, replace(style, interval=_NARROW), ends=range(1, len(rows), 2))
    low, high = percents([evaluation.costs.low, evaluation.costs.high])
    words = (
        f"in range: scored from {low} to {high}, where the plausible thresholds decide. O:E observed to expected "
        "events (1 is calibrated); in the large: intercept on the logit scale with slope 1 (0); slope below 1: scores "
        f"too extreme; ICI: mean distance from the smoothed event rate. x to y: pointwise "
        f"{level_name(evaluation.confidence_level)} intervals."
    )
    notes = [f"{short[row.model]}: {row.overall.note}." for row in evaluation.calibration if row.overall.note]
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
    short = short_names(found.models)
    for model, each in found.models.items():
        low, high = each.estimates["value"].interval
        worth = f"{number(each.value)}\n{number(low)} to {number(high)}"
        zone = [MISSING] * 2 if each.zone is None else [f"{end:.4g}" for end in each.zone]
        costs = number(each.cost), number(each.cost_without), worth
        table.add_row("", Text(short[model]), *costs, percent(each.shares["deferred"]), *zone)
    _print_answer(console, table, found.conclusion)


def _print_information(console: Console, found: ValueOfInformation) -> None:
    table = _table("", "further rows", "save per decision", "over all decisions", "less their price")
    if found.per != 1.0:
        table.columns[2].header = f"save per {stated(found.per)} decisions"
    for row in found.study_records():
        cells = [MISSING if row[key] is None else number(row[key]) for key in ("saving", "total_saving", "net_gain")]
        table.add_row("", f"{row['more_rows']:,}", *cells)
    _print_answer(console, table, found.conclusion)


def _print_answer(console: Console, table: Table, sentences: Iterable[str]) -> None:
    console.print()
    _print_table(console, table)
    console.print(listed(map(visible, sentences)))


_ROWS = 12  # of the table, so that the whole answer has 20 lines
_CELLS = replace(STYLE, formats={**STYLE.formats, "cell": lambda text, _: text})
_FIRST = ("prevalence", "cost", "o_e_ratio", "more_than_promised", "difference", "promised")


def read_kept(path: str) -> KeptEvaluation:
    """Read a kept evaluation."""
    from stakes.evaluation import KeptEvaluation

    try:
        return KeptEvaluation.from_json(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=path) from None
    except ValueError as error:
        raise DataError(f"is no kept evaluation: {str(error).removesuffix('.')}", file=path) from None


def refuse_settings(given: Mapping[str, Any], usual: Mapping[str, Any]) -> None:
    """Refuse what was typed beside two kept evaluations, whose settings were kept with them."""
    for field, value in given.items():
        if value != usual[field]:
            option = "--format" if field == "file_format" else f"--{field.replace('_', '-')}"
            raise UsageError(
                f"{option} goes with one FILE: two FILEs are kept evaluations, which have their settings with them "
                "(several Parquet files are one FILE by a pattern in quotes, such as 'day=*/*.parquet')"
            )


def run_days(before: str, after: str, delivery: Delivery) -> None:
    """Read both, compare, deliver."""
    days = [read_kept(path) for path in (before, after)]
    try:
        changes = days[1].compare(days[0])
    except ValueError as error:
        raise DataError(
            f"cannot be compared with {name(before, 200)}: {str(error).removesuffix('.')}", file=after
        ) from None
    if days[1]._is_of(days[0].tables) or days[0]._is_of(days[1].tables):  # either may be kept in cells
        raise DataError(
            f"holds the same evaluation as {name(before, 200)}: the rows of two kept evaluations must be others",
            file=after,
        )
    heads = [f"{name(path, 60)}: {_rows(kept)}" for path, kept in zip((before, after), days, strict=True)]
    deliver(changes, delivery, partial(show_changes, changes=changes, heads=heads))


def _rows(kept: KeptEvaluation) -> str:
    table = next(iter(kept.tables.values()))
    count = len(kept.tables)
    return f"{table.n_rows:,} rows, {percent(table.prevalence)} positive; {count:,} model{'s' * (count != 1)}"


def show_changes(out: Console, changes: Changes, heads: list[str]) -> None:
    """Print what is dearer or cheaper, and the numbers behind it."""
    from stakes.evaluation import Unit

    unit = Unit.of(changes.options, [each.after for each in changes.of("cost")])
    short = short_names(each.model for each in changes)
    said = [f"{word} than before: {join([short[each] for each in models])}." for word, models in _shown(changes)]
    out.print(Text("\n".join(map(visible, heads))), end="\n\n")
    out.print(Text(" ".join(said) or "No change of cost is shown.", style="bold"), end="\n\n")
    ordered = sorted(changes, key=lambda each: _FIRST.index(each.quantity))
    shown = ordered[:_ROWS]
    level = level_name(changes.options.confidence_level)
    titles = {"name": "", "before": "before", "after": "after"}
    titles |= {"change": f"change ({level} interval)", "p_adjusted": "p (Holm)"}
    kinds = {"name": "file", "p_adjusted": "p"}
    columns = [TableColumn(key, head, kinds.get(key, "cell")) for key, head in titles.items()]
    cells = [{"p_adjusted": each.p_adjusted, **_cells(each, unit, short[each.model])} for each in shown]
    print_table(out, rich_table(cells, columns, _CELLS, names=0, close=True), names=0)
    left = len(ordered) - len(shown)
    more = f" {left} more: --json." if left else ""
    harm = " Costs and what is promised count --harm." if any(map(changes.options.harm_of, _models(changes))) else ""
    out.print(Text(f"Costs {unit.per}; O:E by a factor. p: over models.{harm}{more}", style="dim"))


def _models(changes: Changes) -> list[str]:
    return [each.model for each in changes.of("cost")]


def _shown(changes: Changes) -> list[tuple[str, tuple[str, ...]]]:
    found = (("Dearer", changes.dearer), ("Cheaper", changes.cheaper))
    return [(word, models) for word, models in found if models]


def _cells(each: Change, unit: Unit, model: str) -> dict[str, str]:
    """A change as text, in the unit of its quantity."""
    if each.quantity == "prevalence":
        values = [f"{fixed(100.0 * share, 2)}%" for share in (each.before, each.after)]
        change, low, high = (fixed(100.0 * end, 2, sign=True) for end in (each.change, *each.interval))
    elif each.quantity == "o_e_ratio":
        values = [fixed(ratio, 2) for ratio in (each.before, each.after)]
        change, low, high = (fixed(end, 2) for end in (each.change, *each.interval))
        change = f"x {change}"
    else:
        values = [unit.fixed(cost) for cost in (each.before, each.after)]
        change, low, high = (
            fixed(unit.factor * end, unit.decimals, sign=True) for end in (each.change, *each.interval)
        )
    ends = "" if math.isnan(each.interval[0]) else f" ({low} to {high})"
    words = {"o_e_ratio": "O:E", "difference": "cost"}
    quantity = words.get(each.quantity, each.quantity.replace("_", " "))
    of = f"{model}: " if each.model else ""
    return {"name": f"{of}{quantity}", "before": values[0], "after": values[1], "change": f"{change}{ends}"}


_USED = {"costs", "odds", "false_alarms_per_miss", "weighting", "groups", "unit_cost", "per", "scale"}
_USED |= {"action_name", "event_name"}


@dataclass(frozen=True, eq=False, repr=False)
class PromisedCosts(Tabular):
    """What each model's scores promise, over all rows and in groups."""

    scored: ScoredFile
    options: Options
    weight: str | None

    def _records(self) -> list[dict[str, Any]]:
        every = np.ones(len(self.scored.rows), dtype=bool)
        parts = [("", "", every)]
        for column, values in self.scored.groups.items():
            parts += [(column, str(each), values == each) for each in np.unique(values)]
        return [
            {"model": model, "column": column, "group": group, "n_rows": int((mine & self._counted).sum())}
            | {"promised": self._promised(scores, mine)}
            for column, group, mine in parts
            for model, scores in zip(self.scored.models, self.scored.scores, strict=True)
        ]

    @property
    def _counted(self) -> Any:
        """Which rows have a weight above 0."""
        weight = 1.0 if self.weight is None else self.scored.numbers[self.weight]
        return np.broadcast_to(weight, len(self.scored.rows)) > 0.0

    def _promised(self, scores: Any, mine: Any) -> float:
        weight = None if self.weight is None else self.scored.numbers[self.weight][mine]
        units: dict[str, Any] = {"unit_cost": self.options.unit_cost, "per": self.options.per}
        units |= {"costs": self.options.costs, "scale": self.options.scale}
        return promised_regret(scores[mine], sample_weight=weight, **units)

    def show(self, console: Console) -> None:
        """Print the promises as a person reads them."""
        from stakes.evaluation import Unit, meaning

        records, short = self._records(), short_names(self.scored.models)
        unit = Unit.of(self.options, [record["promised"] for record in records])
        weighted = "" if self.weight is None else f", weighted by {name(self.weight)!r}"
        rows, models = f"{int(self._counted.sum()):,} rows without outcomes{weighted}", len(self.scored.models)
        console.print(Text(visible(f"{self.scored.source}: {rows}; {models} model{'s' * (models != 1)}")))
        console.print(Text(f"{meaning(self.options)}\n"))
        table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
        heads = ["", unit.per, "rows", "promised"]
        for place, head in enumerate(heads):
            justify: Any = "left" if place < 2 else "right"
            table.add_column(Text(head), justify=justify, overflow="fold", no_wrap=place != 1)
        for record in records:
            where = f" in {name(record['column'])} {name(record['group'])}" if record["column"] else ""
            told = count(record["n_rows"]), unit.fixed(record["promised"])
            table.add_row("", Text(f"{short[record['model']]}{where}"), *told)
        print_table(console, table, 1)
        console.print(Text("Cost as its own scores say: it is kept where the scores are right. Outcomes will tell."))


def plan_unlabelled(reading: InputArguments, judging: EvaluationArguments, delivery: Delivery) -> Job:
    """Check everything that can be known before the file is read."""
    if reading.label is not None:
        raise UsageError("--unlabelled is of rows without outcomes, and takes no --label")
    models = split_names(reading.models, "--models")
    if models is None:
        raise UsageError("--unlabelled needs --models: without outcomes nothing says which columns are scores")
    if delivery.report is not None:
        raise UsageError("--report needs outcomes, and --unlabelled has none")
    unused: list[tuple[Any, Any]] = [(judging, field) for field in fields(judging) if field.name not in _USED]
    unused += [(reading, field) for field in fields(reading) if field.name in {"pos_label", "engine", "resolution"}]
    for given, field in unused:
        if getattr(given, field.name) != field.default:
            raise UsageError(f"--{field.name.replace('_', '-')} has no meaning with --unlabelled")
    options = judging.options(None)
    asked: dict[str, Any] = {"models": models, "groups": options.groups or ()}
    asked |= {"numbers": [reading.weight] if reading.weight else [], "on_missing": reading.on_missing}

    def run() -> None:
        from stakes.tables import read_scores

        with working(f"Reading {name(reading.file)}"):
            scored = read_scores(reading.file, **asked, format=reading.file_format)
        if scored.n_dropped:
            note(f"{scored.n_dropped:,} rows dropped, for a value is missing")
        found = PromisedCosts(scored, options, reading.weight)
        try:
            found._records()
        except ValueError as error:  # weights that are none
            raise DataError(str(error).rstrip("."), file=scored.source, column=reading.weight) from None
        deliver(found, delivery, found.show)

    return run
