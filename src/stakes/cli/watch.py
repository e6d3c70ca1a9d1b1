"""``stakes watch``: has the cost risen since a model was taken into use? Start, add, show, plan."""

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from rich.console import Console
from rich.text import Text

from stakes.cli import console, options
from stakes.cli.options import argument, flag
from stakes.cli.program import Group
from stakes.cli.reading import read_number, read_share, split_names
from stakes.cli.summary import STYLE, read_kept, rich_table
from stakes.cli.task import at_hand
from stakes.outputs.files import DataError, json_ready
from stakes.outputs.result_table import TableColumn, Tabular
from stakes.outputs.text import number, percent, shown_name as name

if TYPE_CHECKING:
    from stakes.monitoring import CostMonitors
    from stakes.tables import Content


FORMAT = "stakes-watch-1"
_KEPT_FILES = 730
_DAY = re.compile(r"(?:^|[/\\])day=([^/\\*?\[\]]+?)(?:\.[A-Za-z]\w*)*\.?(?=[/\\*?\[\]]|$)")  # without a file's endings
_DATE = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_ABOUT = "Has the cost risen since a model was taken into use? Evidence that is valid at every look."


class _Watch(Group):
    about: ClassVar = {
        "start": ("watch", "Begin to watch the models of a kept evaluation: its cost becomes the budget."),
        "add": ("watch", "Take in the files of further days; the exit code is 4 from an alarm on."),
        "show": ("watch", "Say what is known: the running cost, its limits, the evidence, what changed."),
        "plan": ("watch", "Say how many days a rise of the cost would take to be seen."),
    }


GROUP = _Watch(name="watch", help=_ABOUT)

StateFile = Annotated[str, flag("--state", "STATE.json", "The file that holds what is known.")]
Tolerance = Annotated[
    str,
    flag("--tolerance", "SHARE", "How much dearer than the reference the model may become: 0.1 is a tenth."),
]
Alpha = Annotated[str, flag("--alpha", "SHARE", "Probability of ever raising a false alarm, of all together.")]


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """The monitors, the column of labels that every file must have, and the digests of the files by their days."""

    watch: "CostMonitors"
    label: str
    files: dict[str, list[str]] = field(default_factory=dict)
    held: bytes | None = None  # what was read

    def to_json(self) -> str:
        """Return everything as JSON; of the files, those of the latest days."""
        files = dict(list(self.files.items())[-_KEPT_FILES:])
        content = {"format": FORMAT, "label": self.label, "files": files, "watch": self.watch._content()}
        return json.dumps(content) + "\n"

    @classmethod
    def read(cls, path: str) -> "State":
        """Read the state that an earlier run left."""
        from stakes.monitoring import CostMonitors
        from stakes.outputs.serialization import JsonReader

        try:
            held = Path(path).read_bytes()
            entries = JsonReader.read(held.decode(), "state", FORMAT)
            watch = CostMonitors._from_entries(entries.inside("watch", form="stakes-cost-monitors-1"))
            files = entries.at("files")
            if not isinstance(files, dict) or not all(_is_list_of_texts(each) for each in files.values()):
                raise entries.broken("files", "lists of digests by day")
            return cls(watch, entries.text("label"), files, held)
        except FileNotFoundError:
            raise console.UsageError(
                f"--state {name(path, 200)!r}: there is no such file; stakes watch start makes it"
            ) from None
        except ValueError as error:
            reason = str(error).removesuffix(".")
            raise DataError(f"is no state of `stakes watch`: {reason}", file=path) from None


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def day_of(file: str, stated: str | None) -> int | str:
    """Return the day of a file: what is stated, its folder day=..., or the only date in its name."""
    found = {stated} if stated is not None else set(_DAY.findall(file)) or set(_DATE.findall(file))
    if len(found) != 1:
        many = "names several days" if found else "names no day"
        raise console.UsageError(
            f"{name(file, 200)!r} {many}: give --day, or a name with one date such as day=2026-11-23"
        )
    day = found.pop()
    return int(day) if day.isdecimal() else day


def new_digests(file: "str | Content", counted: Mapping[str, list[str]]) -> list[str]:
    """Digests of the files that a name or a pattern covers; one counted already or twice is refused if it has rows."""
    import glob

    from stakes.tables import file_digest

    named: list[str | Content] = [file]
    if isinstance(file, str) and not Path(file).exists():
        named = [*sorted(glob.glob(file, recursive=True))] or named  # noqa: PTH207  (of any root)
    full = {os.fspath(each): file_digest(each) for each in named}
    mine = {each: _short(digest) for each, digest in full.items()}
    before = {digest: day for day, digests in counted.items() for digest in digests}
    # a state may hold one digest of all files of a pattern, as was written before
    for each, digest in {os.fspath(file): _short("".join(sorted(full.values()))), **mine}.items():
        if digest in before and _has_rows(each):
            raise DataError(f"was counted already, on day {name(before[digest])}", file=each)
    first = {digest: each for each, digest in reversed(mine.items())}
    copy = next((each for each, digest in mine.items() if first[digest] != each and _has_rows(each)), None)
    if copy is not None:
        raise DataError(f"is a copy of {name(first[mine[copy]], 200)!r}, and each file counts once", file=copy)
    return list(mine.values())


def _short(digest: str) -> str:
    return hashlib.sha256(digest.encode()).hexdigest()[:16]


def _has_rows(file: str) -> bool:
    """Whether Parquet files have rows, as parts that engines write may not; other files always do."""
    from stakes.tables import count_rows, scan_parquet

    frame = scan_parquet(file, models=(), large=0)
    return frame is None or count_rows(frame)[0] > 0


KeptFile = Annotated[str, argument("KEPT.json", "A kept evaluation, as KeptEvaluation.to_json writes it.")]
Unit = Annotated[
    str,
    flag(
        "--unit",
        "day|row",
        "day counts each day alike, however few its rows; row sees a rise sooner, where the rows of a day have nothing "
        "in common.",
    ),
]
Models = Annotated[
    list[str] | None,
    flag("--models", "COLUMN,...", "Which of its models; without it, all. May be repeated."),
]
START_EPILOG = """\b
Example:
  stakes watch start kept.json --label cancer --tolerance 0.1 --state watch.json
"""
ADD_EPILOG = """\b
Example:
  stakes watch add 'day=2026-11-23/*.parquet' --state watch.json
"""
SHOW_EPILOG = """\b
Example:
  stakes watch show --state watch.json --report watch.html
"""
PLAN_EPILOG = """\b
Example:
  stakes watch plan kept.json --tolerance 0.1 --rows-per-day 200
"""


@dataclass(frozen=True, eq=False, repr=False)
class Asked:
    """How models are to be watched."""

    tolerance: float
    alpha: float
    unit: str
    models: list[str] | None

    @classmethod
    def of(cls, tolerance: str, alpha: str, unit: str, models: list[str] | None) -> "Asked":
        """Check what was typed."""
        if unit not in {"day", "row"}:
            raise console.UsageError(f"--unit must be day or row, got {name(unit)!r}")
        try:
            share = float(read_number(tolerance) or 0)
        except ValueError:
            share = math.nan
        if not 0.0 <= share < math.inf:
            raise console.UsageError(f"--tolerance must be a share >= 0, got {name(tolerance)!r}")
        return cls(share, read_share("--alpha", alpha), unit, split_names(models, "--models"))

    def start(self, path: str) -> "CostMonitors":
        """Begin to watch the models of a kept evaluation."""
        from stakes.monitoring import CostMonitors

        kept = read_kept(path)
        asked: dict[str, Any] = {"tolerance": self.tolerance, "alpha": self.alpha, "unit": self.unit}
        try:
            watch = CostMonitors(kept.options.costs, reference=kept, models=self.models, force=True, **asked)
        except ValueError as error:
            said = str(error).removesuffix(".")
            raise DataError(
                f"--{said}" if said.startswith(("models ", "alpha ", "tolerance ")) else said, file=path
            ) from None
        harmed = [name(model) for model in watch.models if kept.options.harm_of(model)]
        if harmed:
            console.note(
                f"--harm of {', '.join(harmed)}, which no day changes, is left out of the budget and of every cost"
            )
        return watch


class WatchSummary(Tabular):
    """What each monitor says, one record for each."""

    def __init__(self, watch: "CostMonitors") -> None:
        self.watch = watch

    def _records(self) -> list[dict[str, Any]]:
        found = []
        for key, monitor in self.watch.monitors.items():
            last = monitor._records()[-1] if monitor.n_days else {}
            low, high = monitor.limits
            record = {"monitor": key, "alarm": monitor.alarm, "alarm_day": monitor.alarm_day, "since": monitor.since}
            record |= {"last_day": monitor.last_day, "n_days": monitor.n_days, "n_rows": monitor.n_rows}
            record |= {"budget": monitor.budget, "mean": monitor.mean, "simultaneous_low": low}
            record |= {"simultaneous_high": high, "last": last.get("cost"), "promised": last.get("promised")}
            found.append({**record, "log_evidence": monitor.log_evidence, "log_alarm": monitor.log_alarm})
        return found

    def _content(self) -> dict[str, Any]:
        """Whether any raised an alarm, and each."""
        return {"alarm": self.watch.alarm, "monitors": self._records()}

    def to_html(self, path: Any = None) -> str:
        """Return the page, and write it where a path is given."""
        return self.watch.to_html(path)

    def show(self, out: Console) -> None:
        """Print a table per 1,000 decisions, and what each monitor says."""
        keys, records = ("budget", "mean", "last", "promised"), self._records()
        rows = []
        for record in records:
            shown = {key: 1000.0 * _known(record[key]) for key in keys}
            if record["last_day"] != records[0]["last_day"]:  # a group without rows on the day that every model has
                shown |= {"last": math.nan, "promised": math.nan}
            alarm = "-" if record["alarm_day"] is None else str(record["alarm_day"])
            rows.append({**record, **shown, "evidence": _power(record["log_evidence"]), "alarm": alarm})
        heads = {"budget": "budget", "mean": "so far", "last": "last day", "promised": "promised"}
        columns = [TableColumn("monitor", "per 1,000 decisions", "text"), TableColumn("n_days", "days", "count")]
        columns += [TableColumn(key, head, "metric") for key, head in heads.items()]
        columns += [TableColumn("evidence", "evidence", "text"), TableColumn("alarm", "alarm", "text")]
        console.print_table(out, rich_table(rows, columns, STYLE, names=0, close=True), names=0)
        out.print()
        for line in self.watch.describe().splitlines():
            out.print(Text(line))


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _power(log: float) -> str:
    return number(math.exp(log)) if abs(log) < 20.0 else f"10^{log / math.log(10.0):.0f}"


# ``stakes watch start``: the state of monitors that have seen nothing yet.


def start(
    kept: KeptFile,
    *,
    label: Annotated[str, flag("--label", "COLUMN", "Column with the outcome in every file.")],
    state: StateFile,
    tolerance: Tolerance = "0",
    alpha: Alpha = "0.05",
    unit: Unit = "day",
    models: Models = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Begin to watch: the budget is the upper limit of the kept evaluation's cost, and the tolerance on top.

    Every model of it and every group is watched; they share the false alarms evenly. A state that is there is refused.
    """
    target = console.check_target("--state", state, (".json",))
    return partial(run_start, kept, label, Asked.of(tolerance, alpha, unit, models), target or Path(state))


def run_start(kept: str, label: str, asked: Asked, target: Path) -> None:
    """Make the state, unless there is one."""
    if target.exists():
        raise console.UsageError(
            f"--state {name(str(target), 200)!r} is there already: it watches; remove it to begin anew"
        )
    watch = asked.start(kept)
    with console.Staged() as staged:
        staged.instead(target, None).write_text(State(watch, label).to_json(), encoding="utf-8")
        staged.commit()
    for key, monitor in watch.monitors.items():
        known = monitor.reference
        if known is not None:
            above = percent(monitor.budget / known.mean - 1.0) if known.mean > 0.0 else "all"
            console.note(
                f"{name(key)} cost {number(1000 * known.mean)} per 1,000 decisions; the budget is "
                f"{number(1000 * monitor.budget)}: a rise of less than {above} is not looked for"
            )
    if asked.unit == "row":
        console.note(
            "--unit row holds only where the rows of a day have nothing in common: stakes watch show says how far"
        )
    else:
        console.note(
            "--unit day counts each day alike, however few its rows: stakes watch show says where rows say otherwise"
        )
        console.note(
            "the budget takes the rows of the kept evaluation for independent: where its days differ by more, false "
            "alarms exceed --alpha; stakes watch show says where days do"
        )
    console.note(f"state written to {name(str(target), 200)}")


# ``stakes watch add``: the files of further days, all of them or none.


def add(
    files: Annotated[
        list[str],
        argument(
            "FILE...", "Labelled rows: a file or a pattern in quotes; the day is in its name: day=2026-11-23/*.parquet."
        ),
    ],
    *,
    state: StateFile,
    day: Annotated[str | None, flag("--day", "DAY", "The day of all these files: a date or a whole number.")] = None,
    file_format: options.FileFormat = None,
    any_size: options.AnySize = False,  # noqa: ARG001  (its callback lifts the limit)
    as_json: options.AsJson = False,
    output: options.Output = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Take in further days, in order: every day once, when all its labels are known.

    Files of one day are added up. A file or a day that was counted is refused, and then nothing of this run counts.

    Exit codes: 0 no alarm, 4 an alarm (also one raised in an earlier run); 1, 2 and 3 as ever.
    """
    console.check_target("--state", state, (".json",))
    delivery = console.plan_delivery("watch-add", None, output, as_json=as_json)
    days = [(day_of(file, day), file) for file in files]
    return partial(run_add, state, days, file_format, delivery)


def run_add(path: str, days: list[tuple[int | str, str]], file_format: str | None, delivery: console.Delivery) -> int:
    """Read each day, and leave the new state only when all is well."""
    state = State.read(path)
    for day, group in groupby(days, lambda pair: pair[0]):
        take_in(state, day, [file for _, file in group], file_format)
    result = WatchSummary(state.watch)
    with console.Staged() as staged:
        staged.instead(Path(path), state.held).write_text(state.to_json(), encoding="utf-8")
        console.deliver(result, delivery, result.show)
        staged.commit()
    if not state.watch.alarm:
        return console.DONE
    alarms = {key: monitor.alarm_day for key, monitor in state.watch.monitors.items() if monitor.alarm}
    console.fail("alarm: " + ", ".join(f"{name(key)} (on day {day})" for key, day in alarms.items()))
    return console.CHECK_FAILED


def take_in(state: State, day: int | str, files: list[str], file_format: str | None) -> None:
    """Add up the files of a day, and let the monitors see their sums."""
    found: dict[str, dict[str, float]] = {}
    digests: list[str] = []
    for file in map(at_hand, files):
        digests += new_digests(file, {**state.files, str(day): [*state.files.get(str(day), ()), *digests]})
        with console.working(f"Reading {name(os.fspath(file))}"):
            sums = read_sums(state, file, file_format)
        for key, part in sums.items():
            total = found.setdefault(key, dict.fromkeys(part, 0))
            found[key] = {entry: total[entry] + part[entry] for entry in part}
    try:
        state.watch.update_sums(day, found)
    except ValueError as error:
        raise DataError(str(error).removesuffix("."), file=files[0]) from None
    state.files[str(day)] = digests


def read_sums(state: State, file: "str | Content", file_format: str | None) -> Mapping[str, dict[str, float]]:
    """Sums of a file by monitor: in the engine for Parquet files, else in memory."""
    from stakes.tables import frame_columns, other_label, read_predictions, scan_parquet, sum_losses

    watch = state.watch
    asked = next(iter(watch.monitors.values()))._question
    models, groups = watch.models, watch.group_columns
    what: dict[str, Any] = {"label": state.label, "models": models, "pos_label": asked.pos_label}
    try:
        frame = None
        if file_format is None and isinstance(file, str):
            frame = scan_parquet(file, columns=[state.label, *groups], models=models, large=0)
        if frame is not None:
            sums = sum_losses(frame, **what, costs=asked.costs, rule=asked.rule, groups=groups)
            if sums is not None:
                watch._see_label(other_label(frame, **what))
                return watch._named(sums)
        read = (
            partial(frame_columns, frame) if frame is not None else partial(read_predictions, file, format=file_format)
        )
        rows = read(**what, groups=groups)
        watch._see_label(rows.neg_label)
        return watch._sums(rows.y, dict(zip(rows.models, rows.scores, strict=True)), rows.groups)
    except DataError as error:
        error.file = error.file or os.fspath(file)
        if error.hint is not None and "on_missing" in error.hint:
            early = "A day enters when all its labels are known: those that come early may be of other cases."
            error.hint = early if error.column == state.label else None
        raise
    except ValueError as error:  # a group that no monitor has, a label that no row had before
        said = str(error).removesuffix(".").replace(", or None for a row in none of them", "")
        hint = "Leave these rows out, or watch an evaluation that has their groups."
        if said.startswith("y_true "):
            raise DataError(said.removeprefix("y_true "), file=os.fspath(file), column=state.label) from None
        raise DataError(said, file=os.fspath(file), hint=hint if said.startswith("groups[") else None) from None


# ``stakes watch show``: what is known, on a terminal or as a page.


def show(
    *,
    state: StateFile,
    report: options.Report = None,
    as_json: options.AsJson = False,
    output: options.Output = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Say what is known of each model: cost so far with its limits, promise, evidence, and what changed."""
    delivery = console.plan_delivery("watch-show", report, output, as_json=as_json)
    return partial(run_show, state, delivery)


def run_show(path: str, delivery: console.Delivery) -> None:
    """Read the state, and show it."""
    result = WatchSummary(State.read(path).watch)
    console.deliver(result, delivery, result.show)


# ``stakes watch plan``: how long a rise takes to be seen.


def plan(
    kept: KeptFile,
    *,
    rows_per_day: Annotated[str, flag("--rows-per-day", "NUMBER", "Labelled rows of a day.")],
    tolerance: Tolerance = "0",
    alpha: Alpha = "0.05",
    unit: Unit = "day",
    models: Models = None,
    as_json: options.AsJson = False,
    output: options.Output = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Say how many days a rise of 10, 20 and 50% would take to be seen, from the first day on and from day 201 on."""
    from stakes.cli.boundary_fit import read_whole

    delivery = console.plan_delivery("watch-plan", None, output, as_json=as_json)
    rows = read_whole("--rows-per-day", rows_per_day, 1)
    return partial(run_plan, kept, rows, Asked.of(tolerance, alpha, unit, models), delivery)


class Delays(Tabular):
    """The plan of each monitor."""

    def __init__(self, watch: "CostMonitors", rows: int, unit: str) -> None:
        from stakes.monitoring import plan_watch

        self.unit = unit
        self.plans = {key: plan_watch(monitor, rows_per_day=rows) for key, monitor in watch.monitors.items()}

    def _records(self) -> list[dict[str, Any]]:
        return [{"monitor": key, **record} for key, plan in self.plans.items() for record in plan._records()]

    def show(self, out: Console) -> None:
        """Print days by monitor and rise."""
        rows = []
        for record in self._records():
            planned = record["rise"] <= self.plans[record["monitor"]].largest_rise
            never = "not in ten years" if planned else "cannot be planned"
            rows.append({**record, "rise": percent(record["rise"]), "days": str(record["days"] or never)})
        columns = [TableColumn("monitor", "model", "text"), TableColumn("rise", "rise", "text")]
        columns += [TableColumn("begins", "begins on day", "count"), TableColumn("days", "days to the alarm", "text")]
        console.print_table(out, rich_table(rows, columns, STYLE, names=0, close=True), names=0)
        out.print(Text("Half of all alarms come sooner, and half later, about; a tenth take twice as long."))
        if any(row["days"] == "cannot be planned" for row in rows):
            out.print(Text("A rise cannot be planned if costs would not rise so much even if every row became dearer."))
        if self.unit == "day":
            out.print(Text("Days that differ by more than chance delay alarms (reference_days= in Python)."))


def run_plan(kept: str, rows: int, asked: Asked, delivery: console.Delivery) -> None:
    """Plan for every monitor."""
    result = Delays(asked.start(kept), rows, asked.unit)
    console.deliver(result, delivery, result.show, lambda: json.dumps(json_ready(result._records()), indent=2))
