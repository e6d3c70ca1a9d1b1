"""Apply, monitor."""

import hashlib
import json
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console

from stakes.cli import boundary_fit, console, options
from stakes.cli.boundary_fit import (
    BoundaryColumns,
    as_typed,
    choose_columns,
    print_levels,
    print_text,
    read_boundary,
    read_rows,
)
from stakes.cli.options import argument, flag, spread
from stakes.cli.reading import read_number, read_share
from stakes.cli.task import STANDARD_INPUT, Source
from stakes.outputs.files import DataError, json_ready
from stakes.outputs.result_table import TableColumn, Tabular
from stakes.outputs.text import percent, shown_name as name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stakes.boundary import Boundary, PrecisionMonitor
    from stakes.outputs.serialization import JsonReader
    from stakes.tables import Copied


# ``stakes boundary apply``: decisions about the rows of a file by a boundary, streamed from file to file.

APPLY_EPILOG = """\b
Example:
  stakes boundary apply boundary.json scored.csv -o decided.csv
"""


def apply(
    boundary: boundary_fit.BoundaryFile,
    file: options.File,
    *,
    score: boundary_fit.SameScore = None,
    uncertainty: boundary_fit.SameUncertainty = None,
    column: Annotated[str, flag("--column", "NAME", "Name of the new column: 1 selected, 0 not.")] = "decision",
    on_missing: options.Missing = options.OnMissing.RAISE,
    file_format: options.FileFormat = None,
    any_size: options.AnySize = False,  # noqa: ARG001  (its callback lifts the limit)
    as_json: options.AsJson = False,
    output: options.RowsOutput = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Decide about each row of a file by a boundary: every column is copied, and one with the decisions is added.

    No outcomes are needed. Large files are streamed. With --on-missing drop an incomplete row is kept, without a
    decision.
    """
    where = console.plan_rows("boundary-apply", output, console.ROW_ENDINGS, as_json=as_json)
    given = {"score": score, "uncertainty": uncertainty}
    return partial(run_apply, ApplyJob(boundary, file, given, column, on_missing, file_format), where)


@dataclass(frozen=True, eq=False, repr=False)
class ApplyJob:
    """What is decided by which boundary."""

    boundary: str
    file: str
    columns: dict[str, str | None]
    column: str
    on_missing: str
    file_format: str | None


class Tally:
    """Decide, and count by level."""

    def __init__(self, boundary: "Boundary") -> None:
        import numpy as np

        self.boundary = boundary
        self.rows = np.zeros(len(boundary.rows), dtype=np.int64)
        self.selected = self.rows.copy()

    def decide(self, score: "NDArray[np.float64]", uncertainty: "NDArray[np.float64]") -> "NDArray[np.int64]":
        """Return 1 inside the boundary and 0 outside."""
        import numpy as np

        from stakes.base.formulas import rounded

        score, uncertainty = _as_written(score), _as_written(uncertainty)
        decision = self.boundary.predict(score, uncertainty)
        level = np.searchsorted(rounded(self.boundary.cuts, uncertainty), uncertainty, side="left")
        self.rows += np.bincount(level, minlength=len(self.rows))
        self.selected += np.bincount(level[decision == 1], minlength=len(self.rows))
        return decision


def _as_written(column: "NDArray[np.float64]") -> "NDArray[Any]":
    """Return a column in single precision if the file held it so: if each number is one; 0.7 is 0.69999999 then."""
    import numpy as np

    from stakes.base.numerics import is_single

    return column.astype(np.float32) if is_single(column) else column


def run_apply(request: ApplyJob, where: console.RowsOut) -> None:
    """Read the boundary, decide while copying, and say what was decided."""
    boundary, named = read_boundary(request.boundary)
    columns = choose_columns(named, request.columns, ("score", "uncertainty"))
    if not boundary.selected.any():
        console.warn("this boundary selects nothing: none was found, or no promise could be made")
    tally, copied = Tally(boundary), []
    where.deliver(
        lambda path: copied.append(_copy(request, columns, tally, path)),
        console.ROW_ENDINGS[0],
        lambda out: show_apply(copied[0], tally, out),
        lambda: json.dumps(_record(request, columns, copied[0], tally, where.target), indent=2),
    )
    if undecided := copied[0].n_incomplete:
        console.note(f"{undecided:,} of {copied[0].n_rows:,} rows get no decision, for a value is missing")
    if where.target is not None:
        console.note(f"decisions written to {name(str(where.target), 200)}, in column {name(request.column)}")
    elif not where.piped:
        console.note("no file was written; -o OUT writes the rows with their decisions")


def _copy(request: ApplyJob, columns: BoundaryColumns, tally: Tally, target: Path | None) -> "Copied":
    from stakes.tables import NewColumns, copy_with_columns

    new = NewColumns(
        [columns.score, columns.uncertainty],
        [request.column],
        lambda score, uncertainty: [tally.decide(score, uncertainty)],
        option="--column",
        remedy="--on-missing drop leaves incomplete rows without a decision.",
        probability=False,
        whole=True,
    )
    with console.working(f"Deciding about {name(request.file)}"):
        copied = copy_with_columns(
            request.file,
            target,
            new,
            on_missing=request.on_missing,  # type: ignore[arg-type]
            format=request.file_format,
        )
    if int(tally.rows.sum()) != copied.n_rows - copied.n_incomplete:
        raise RuntimeError(f"{int(tally.rows.sum())} decisions about {copied.n_rows} rows")
    return copied


def _record(
    request: ApplyJob, columns: BoundaryColumns, copied: "Copied", tally: Tally, target: Path | None
) -> dict[str, Any]:
    from stakes.outputs.files import json_ready

    names = ("uncertainty_above", "uncertainty_up_to", "threshold")
    levels = [
        {**{key: record[key] for key in names}, "rows": int(rows), "selected": int(chosen)}
        for record, rows, chosen in zip(tally.boundary._records(), tally.rows, tally.selected, strict=True)
    ]
    page: dict[str, Any] = json_ready(
        {
            "source": copied.source,
            "goal": tally.boundary.goal,
            "columns": {"score": columns.score, "uncertainty": columns.uncertainty, "decision": request.column},
            "rows": copied.n_rows,
            "undecided": copied.n_incomplete,
            "selected": int(tally.selected.sum()),
            "levels": levels,
            "output": None if target is None else str(target),
        }
    )
    return page


def show_apply(copied: "Copied", tally: Tally, out: Console) -> None:
    """Print how many rows are selected, and whether that is the share that the boundary was fitted to."""
    boundary = tally.boundary
    print_text(out, f"{name(copied.source, 60)}: {copied.n_rows:,} rows, {int(tally.selected.sum()):,} selected")
    print_text(out, name(boundary.goal, 200))
    out.print()
    found = boundary.tables()["levels"]
    counts = [(int(rows), int(chosen)) for rows, chosen in zip(tally.rows, tally.selected, strict=True)]
    counts.append((int(tally.rows.sum()), int(tally.selected.sum())))
    rows = []
    for level, (n, chosen) in zip(found.rows, counts, strict=False):
        fitted = level["selected"] / level["rows"] if level["rows"] else math.nan
        own = {"rows": n, "selected": chosen, "share": chosen / n if n else math.nan, "fitted": fitted}
        rows.append(level | own)
    columns = [each for each in found.columns if each.key in {"level", "threshold", "rows", "selected"}]
    columns += [TableColumn("share", "share", "share"), TableColumn("fitted", "when fitted", "share")]
    print_levels(out, rows, columns, len(boundary.rows))


# ``stakes boundary monitor``: whether the precision of a boundary still holds, label by label after deployment.

FORMAT = "stakes-monitor-1"
_UPDATE = ("rows", "true_positives", "e_value", "alarm")
_ROOM = 1.0 + 1e-9  # rows in one part and in several give the same evidence to rounding
MONITOR_EPILOG = """\b
Example:
  stakes boundary monitor boundary.json scored.csv --state watch.json
"""


@dataclass(frozen=True, eq=False, repr=False)
class Watching:
    """Which columns are read, what is watched, and where the state is kept."""

    label: Annotated[
        str | None, flag("--label", "COLUMN", "Column with the outcome. Without it: as the boundary was fitted.")
    ] = None
    score: boundary_fit.SameScore = None
    uncertainty: boundary_fit.SameUncertainty = None
    decision: Annotated[
        str | None,
        flag(
            "--decision",
            "COLUMN",
            "Column with the decisions that were made (1 selected, 0 not), in place of score and uncertainty.",
        ),
    ] = None
    min_precision: Annotated[
        str | None, flag("--min-precision", "SHARE", "The promise. Without it: that of the boundary.")
    ] = None
    confidence_level: Annotated[
        str, flag("--confidence-level", "LEVEL", "1 less the probability of ever raising a false alarm.")
    ] = "0.95"
    state: Annotated[
        str | None,
        flag("--state", "STATE.json", "Go on from this file, if it is there, and write what is known now to it."),
    ] = None


@dataclass(frozen=True, eq=False, repr=False)
class Printing:
    """Where the result goes, and what every command takes."""

    as_json: options.AsJson = False
    output: options.Output = None
    config: options.Config = None  # the parser reads it
    debug: options.Debug = False  # the program reads it


@spread()
def monitor(
    boundary: boundary_fit.BoundaryFile,
    files: Annotated[
        list[str],
        argument("FILE...", "Rows with their outcomes, in the order of time; - is standard input."),
    ],
    *,
    watching: Watching,
    reading: boundary_fit.BoundaryInput,
    printing: Printing,
) -> options.Job:
    """Watch the promised precision on labelled rows after deployment, and raise an alarm when it no longer holds.

    Only rows that the boundary selects count, in the order of the files. It may be run as often as you like: the
    probability of ever raising a false alarm stays below 1 - LEVEL. With --state each run goes on where the last one
    stopped, and a file that was counted is refused.

    Exit codes: 0 no alarm, 4 an alarm (also one raised in an earlier run); 1, 2 and 3 as ever.
    """
    if watching.decision is not None and (watching.score is not None or watching.uncertainty is not None):
        raise console.UsageError("--decision stands in place of --score and --uncertainty")
    kept = console.check_target("--state", watching.state, (".json",))
    delivery = console.plan_delivery("boundary-monitor", None, printing.output, as_json=printing.as_json)
    level = read_share("--confidence-level", watching.confidence_level)
    promise = Promise(read_promise(watching.min_precision), level)
    given = {key: getattr(watching, key) for key in ("label", "score", "uncertainty")}
    read = MonitorInput(
        given | {"pos_label": reading.pos_label}, watching.decision, reading.on_missing, reading.file_format
    )
    return partial(run_monitor, MonitorJob(boundary, files, promise, read, kept), delivery)


@dataclass(frozen=True, eq=False, repr=False)
class Promise:
    """What is watched: a precision (None: that of the boundary), and how rarely it may raise a false alarm."""

    min_precision: Fraction | None
    confidence_level: float

    def start(self, boundary: "Boundary") -> "PrecisionMonitor":
        """Begin to watch."""
        from stakes.boundary import PrecisionMonitor

        if self.min_precision is not None:
            return PrecisionMonitor(self.min_precision, confidence_level=self.confidence_level)
        try:
            return PrecisionMonitor.from_boundary(boundary, confidence_level=self.confidence_level)
        except ValueError:  # it was asked for none, or for a precision of 1, which no odds can be laid against
            goal = name(boundary.goal, 200)
            raise console.UsageError(
                f"the boundary promises no precision below 1 ({goal}): name one with --min-precision"
            ) from None


def read_promise(text: str | None) -> Fraction | None:
    """Read a precision that can be watched."""
    if text is None:
        return None
    from stakes.base.validation import as_fraction

    number = read_number(text)
    try:
        share = as_fraction(number, "--min-precision")
    except ValueError:
        share = Fraction(0)
    if not 0 < share < 1:
        raise console.UsageError(f"--min-precision must be a share between 0 and 1, got {name(text)!r}")
    return share


@dataclass(frozen=True, eq=False, repr=False)
class MonitorInput:
    """How the files are read."""

    given: dict[str, str | None]
    decision: str | None
    on_missing: str
    file_format: str | None

    def neg_label(self, named: dict[str, str]) -> str | float | None:
        """The label beside the positive one, if the boundary names it and not another positive one is asked for."""
        from stakes.base.validation import plain_label

        asked, kept = self.given["pos_label"], named.get("neg_label")
        return None if kept is None or asked not in (None, named.get("pos_label")) else plain_label(kept)

    def source(self, named: dict[str, str]) -> Source:
        """Say which columns are needed; the file is still to be named."""
        if self.decision is None:
            columns = choose_columns(named, self.given, ("score", "uncertainty", "label"))
            return columns.source("", None, self.on_missing, self.file_format)
        label = self.given["label"] or named.get("label")
        if label is None:
            raise console.UsageError("the boundary does not name its columns: give --label")
        positive = self.given["pos_label"] or named.get("pos_label")
        return Source("", label, [self.decision], None, positive, self.on_missing, self.file_format)


@dataclass(frozen=True, eq=False, repr=False)
class Watched(Tabular):
    """The monitor after the files of this run, and what each of them added."""

    monitor: "PrecisionMonitor"
    files: list[dict[str, Any]] = field(default_factory=list)
    alarm: dict[str, Any] | None = None
    neg_label: str | float | None = None  # the label beside the positive one, once it is known
    held: bytes | None = None  # what was read of the state

    def _content(self) -> dict[str, Any]:
        """What is known, and what each file of this run added."""
        watch = self.monitor
        counts = ("n_rows", "true_positives", "e_value", "max_e_value", "p_value", "alarm_row")
        names = ("min_precision", "confidence_level", *counts)
        return {"alarm": self.alarm, **{key: getattr(watch, key) for key in names}, "files": self._records()}

    def _records(self) -> list[dict[str, Any]]:
        return [{key: value for key, value in record.items() if key != "sha256"} for record in self.files]


@dataclass(frozen=True, eq=False, repr=False)
class MonitorJob:
    """One run."""

    boundary: str
    files: list[str]
    promise: Promise
    reading: MonitorInput
    state: Path | None


@dataclass(frozen=True, eq=False, repr=False)
class SelectedBy:
    """What selects the rows that are watched: the digest of a boundary's rule, and whether decisions were read."""

    boundary: str
    decision: bool
    file: str

    @classmethod
    def of(cls, boundary: "Boundary", request: MonitorJob) -> "SelectedBy":
        """Tell the rule by its numbers: the names of columns do not count."""
        rule = json.dumps(json.loads(boundary.to_json())["rule"], sort_keys=True)
        digest = hashlib.sha256(rule.encode()).hexdigest()[:16]
        return cls(digest, request.reading.decision is not None, request.boundary)

    def check(self, kept: dict[str, Any], path: Path) -> None:
        """Refuse a state of rows that were selected otherwise, where it says so."""
        words = {False: "the rows that the boundary selects", True: "--decision"}
        where = f"--state {name(str(path), 200)!r} watches"
        if kept["decision"] is not None and kept["decision"] != self.decision:
            raise console.UsageError(f"{where} {words[kept['decision']]}, not {words[self.decision]}")
        if kept["boundary"] not in (None, self.boundary):
            raise console.UsageError(
                f"{where} the rows that another boundary selects, not those of {name(self.file, 200)!r}"
            )


def run_monitor(request: MonitorJob, delivery: console.Delivery) -> int:
    """Read the boundary and the state, take in each file, and leave what is known."""
    state = request.state
    boundary, named = read_boundary(request.boundary)
    source = request.reading.source(named)
    selection = SelectedBy.of(boundary, request)
    past = Watched(request.promise.start(boundary), neg_label=request.reading.neg_label(named))
    if state is not None and state.exists():
        past = read_state(state, past, selection)
    now = replace(past, files=[])
    for file in request.files:
        now = take_in(replace(source, file=file), boundary, now, [*past.files, *now.files])
    with console.Staged() as staged:
        if state is not None:
            text = _state_text(now, [*past.files, *now.files], selection)
            staged.instead(state, past.held).write_text(text, encoding="utf-8")
        console.deliver(
            now, console.Delivery(delivery.command, None, delivery.output, delivery.as_json), partial(show_monitor, now)
        )
        staged.commit()
    if state is not None:
        console.note(f"state written to {name(str(state), 200)}")
    if now.alarm is None:
        return console.DONE
    console.fail(
        f"the promise of {percent(now.monitor.min_precision)} is broken: alarm at row {now.alarm['row']:,} of "
        f"{name(now.alarm['file'], 200)} (evidence {now.alarm['e_value']:.4g})"
    )
    return console.CHECK_FAILED


def take_in(source: Source, boundary: "Boundary", now: Watched, counted: list[dict[str, Any]]) -> Watched:
    """Let the monitor see the labels of the selected rows of one more file."""
    from stakes.base.validation import check_other_label, plain_label
    from stakes.boundary import PrecisionMonitor

    digest = _digest(source.file, counted)
    rows = read_rows(source, one_class=True)
    try:
        seen = [] if rows.neg_label is None else [rows.neg_label]
        other = check_other_label(seen, plain_label(source.pos_label), now.neg_label)
    except ValueError as error:
        said = str(error).removeprefix("y_true ").removesuffix(".")
        raise DataError(said, file=rows.source, column=source.label) from None
    chosen = _selected(rows, boundary)
    labels = rows.y[chosen]
    watch = PrecisionMonitor.from_dict(now.monitor.to_dict())
    watch.update(labels)
    alarm = now.alarm
    if alarm is None and watch.alarm_row is not None:
        last = watch.alarm_row - now.monitor.n_rows  # labels of this file up to the alarm
        place = int(chosen[last - 1])
        row = place if rows.rows is None else int(rows.rows[place])
        evidence = PrecisionMonitor.from_dict(now.monitor.to_dict()).update(labels[:last]).e_value
        alarm = {"file": rows.source, "row": row + 1, "selected_row": watch.alarm_row, "e_value": evidence}
    record = {
        "file": rows.source,
        "rows": rows.n_rows,
        "selected": len(chosen),
        "true_positives": int(labels.sum()),
        "precision": float(labels.mean()) if len(chosen) else None,
        "e_value": watch.e_value,
        "alarm": alarm is not None,
        "sha256": digest,
    }
    return Watched(watch, [*now.files, record], alarm, other if now.neg_label is None else now.neg_label)


def _digest(file: str, counted: list[dict[str, Any]]) -> str | None:
    """Tell a file by its bytes, and refuse one that was counted: the same labels twice are no new evidence."""
    from stakes.tables import file_digest, is_pipe

    if file == STANDARD_INPUT or is_pipe(file):  # what is read twice must be there twice
        return None
    digest = file_digest(file)
    before = next((record for record in counted if record["sha256"] == digest), None)
    if before is not None:
        raise DataError(f"was counted already, as {name(str(before['file']), 200)!r}", file=file)
    return digest


def _selected(rows: Any, boundary: "Boundary") -> "NDArray[np.intp]":
    if len(rows.scores) == 2:
        return boundary.predict(*map(_as_written, rows.scores)).nonzero()[0]
    (decision,) = rows.scores
    odd = (decision != 0.0) & (decision != 1.0)
    if odd.any():
        first = int(odd.argmax())
        row = first if rows.rows is None else int(rows.rows[first])
        where: dict[str, Any] = {"file": rows.source, "column": rows.models[0], "row": row + 1}
        raise DataError("must be 1 or 0", **where, value=decision[first], count=int(odd.sum()), total=len(odd))
    return decision.nonzero()[0]


def read_state(path: Path, begun: Watched, selection: SelectedBy) -> Watched:
    """Go on where an earlier run stopped, if it watched what is asked for now."""
    from stakes.boundary import PrecisionMonitor
    from stakes.outputs.serialization import JsonReader

    try:
        held = path.read_bytes()
        content = JsonReader.read(held.decode(), "state", FORMAT)
        watch = PrecisionMonitor.from_dict(content.at("monitor"))
        files = _read_files(content, watch)
        alarm = _read_alarm(content, watch)
        known = content.label("neg_label") if "neg_label" in content.content else begun.neg_label
        selected = {
            "boundary": content.text("boundary") if "boundary" in content.content else None,
            "decision": content.flag("decision") if "decision" in content.content else None,
        }
    except ValueError as error:
        reason = str(error).removesuffix(".")
        raise DataError(f"is no state of `stakes boundary monitor`: {reason}", file=str(path)) from None
    for option in ("min_precision", "confidence_level"):
        kept, wanted = getattr(watch, option), getattr(begun.monitor, option)
        if kept != wanted:
            raise console.UsageError(
                f"--state {name(str(path), 200)!r} watches {as_typed(option)} {kept:g}, not {wanted:g}"
            )
    selection.check(selected, path)
    return Watched(watch, files, alarm, known, held)


def _read_files(content: "JsonReader", watch: "PrecisionMonitor") -> list[dict[str, Any]]:
    """Read what each file added, which together is what the monitor saw."""
    records = content.at("files")
    if not isinstance(records, list):
        raise content.broken("files", "a list of files")
    found: list[dict[str, Any]] = []
    for place, each in enumerate(records):
        mine = replace(content, content=each, path=f"files[{place}].")
        rows, selected, ups = (mine.count(key) for key in ("rows", "selected", "true_positives"))
        if not ups <= selected <= rows:
            raise mine.broken("selected", f"from true_positives to rows, got {selected} of {rows} with {ups}")
        precision, digest = mine.number_or_none("precision"), mine.at("sha256")
        if precision != (ups / selected if selected else None):
            raise mine.broken("precision", f"true_positives / selected, got {precision}")
        record = {"file": mine.text("file"), "rows": rows, "selected": selected, "true_positives": ups}
        record |= {"precision": precision, "e_value": mine.number("e_value"), "alarm": mine.flag("alarm")}
        found.append({**record, "sha256": None if digest is None else mine.text("sha256")})
    _check_files(content, found, watch)
    return found


def _check_files(content: "JsonReader", files: list[dict[str, Any]], watch: "PrecisionMonitor") -> None:
    """Refuse files that are not those whose selected rows the monitor saw, one update each."""
    updates = iter(watch.to_dict()["history"])
    last: dict[str, Any] = {"rows": 0, "true_positives": 0, "e_value": 1.0, "alarm": False}
    rows = positives = 0
    for place, record in enumerate(files):
        rows, positives = rows + record["selected"], positives + record["true_positives"]
        last = next(updates, last) if record["selected"] else last
        seen = {"selected": rows, "true_positives": positives, "e_value": record["e_value"], "alarm": record["alarm"]}
        for (key, found), wanted in zip(seen.items(), (last[entry] for entry in _UPDATE), strict=True):
            if found != wanted:
                total = " up to here" if key in {"selected", "true_positives"} else ""
                raise content.broken(f"files[{place}].{key}", f"{wanted}{total}, as monitor.history says, got {found}")
    if next(updates, None) is not None:
        raise content.broken("files", "as many as monitor.history has updates")


def _read_alarm(content: "JsonReader", watch: "PrecisionMonitor") -> dict[str, Any] | None:
    """Read where the alarm was raised, which the monitor knows too."""
    if (content.at("alarm") is None) is watch.alarm:
        raise content.broken("alarm", "there if monitor.alarm_row is, and null if not")
    if content.at("alarm") is None:
        return None
    mine = content.inside("alarm")
    row, selected, evidence = mine.count("row"), mine.count("selected_row"), mine.number("e_value")
    if selected != watch.alarm_row:
        raise mine.broken("selected_row", f"monitor.alarm_row, {watch.alarm_row}, got {selected}")
    if row < 1 or not watch.alarm_at <= evidence <= watch.max_e_value * _ROOM:
        limits = f"{watch.alarm_at:.10g} to {watch.max_e_value:.10g}"
        raise mine.broken("row and e_value", f"a row from 1 on and evidence from {limits}, got {row} and {evidence}")
    return {"file": mine.text("file"), "row": row, "selected_row": selected, "e_value": evidence}


def _state_text(now: Watched, files: list[dict[str, Any]], selection: SelectedBy) -> str:
    page = {"format": FORMAT, "boundary": selection.boundary, "decision": selection.decision}
    page |= {} if now.neg_label is None else {"neg_label": now.neg_label}
    page |= {"monitor": now.monitor.to_dict(), "alarm": now.alarm, "files": files}
    return json.dumps(json_ready(page), indent=1) + "\n"


def show_monitor(now: Watched, out: Console) -> None:
    """Print whether the promise holds, and what each file added."""
    watch = now.monitor
    promise = f"precision >= {percent(watch.min_precision)}"
    said = f"No alarm: nothing speaks against {promise} beyond chance."
    if now.alarm is not None:
        said = f"Alarm: {promise} no longer holds."
    print_text(out, said, "bold")
    seen = f"{watch.true_positives:,} of {watch.n_rows:,} selected rows positive"
    share = f" ({percent(watch.true_positives / watch.n_rows)})" if watch.n_rows else ""
    evidence = f"evidence {watch.e_value:.4g}, at most {watch.max_e_value:.4g} so far"
    print_text(out, f"{seen}{share}; {evidence}; the alarm is at {watch.alarm_at:.4g}")
    out.print()
    heads = {"rows": "rows", "selected": "selected", "true_positives": "positive"}
    columns = [TableColumn("file", "file", "file"), *(TableColumn(key, head, "count") for key, head in heads.items())]
    columns += [TableColumn("precision", "precision", "share"), TableColumn("e_value", "evidence", "metric")]
    print_levels(out, now.files, columns)
