"""File read and judged."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from stakes.cli.console import Delivery, UsageError, note, working
from stakes.cli.memory import physical_memory
from stakes.cli.reading import EvaluationArguments, InputArguments, OutcomeArguments, read_resolution
from stakes.outputs.files import DataError
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import join, short_names, shown_name as name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console

    from stakes.base.outcome import OutcomeFromColumns
    from stakes.core.options import Options
    from stakes.evaluation import Check, Evaluation
    from stakes.tables import Content, Predictions


# The predictions of one run: read, refused where they cannot be judged, and described.

STANDARD_INPUT = "-"


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """Which file, and what its columns mean."""

    file: str
    label: str
    models: list[str] | None = None
    weight: str | None = None
    pos_label: str | None = None
    on_missing: str = "raise"
    format: str | None = None
    groups: list[str] | None = None
    probability: bool = True
    outcome: OutcomeFromColumns | None = None

    @property
    def roles(self) -> list[str]:
        """Names of the columns that are read beside the models."""
        outcome = () if self.outcome is None else (*self.outcome.numbers, *self.outcome.groups)
        return [self.label, *([] if self.weight is None else [self.weight]), *(self.groups or ()), *outcome]

    def read(self, content: str | Content | None = None, *, one_class: bool = False) -> Predictions:
        """Read the rows; one class alone is refused where it cannot show what a model is worth.

        ``content`` is the file where it was opened already.
        """
        from stakes.tables import read_predictions

        options = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "file"}
        try:
            predictions = read_predictions(at_hand(self.file) if content is None else content, **options)
        except DataError as error:
            error.rule = with_options(error.rule)
            raise
        if not one_class:
            _refuse_one_class(predictions, self.label)
        _refuse_reserved_names(predictions)
        return predictions


def at_hand(file: str) -> str | Content:
    """Read a pipe or standard input, which can be read only once, so that it can be read again."""
    from stakes.tables import Content, is_pipe

    if file == STANDARD_INPUT and sys.stdin.isatty():
        note("reading from the terminal; Ctrl-D ends it")
    return Content.of(file) if file == STANDARD_INPUT or is_pipe(file) else file


def _refuse_one_class(predictions: Predictions, label: str) -> None:
    positives = int(predictions.y.sum())
    if 0 < positives < predictions.n_rows:
        return
    kind = "positive" if positives else "negative"
    more = "" if predictions.outcome is None else predictions.outcome.one_class_hint
    raise DataError(
        f"must hold both classes, but all {predictions.n_rows:,} rows are {kind}",
        file=predictions.source,
        column=label,
        hint=f"What mistakes cost cannot be judged from one class. {more}".rstrip(),
    )


def _refuse_reserved_names(predictions: Predictions) -> None:
    from stakes.outputs.text import REFERENCES

    for model in predictions.models:
        if model in REFERENCES:
            raise DataError(
                "is the name of a reference and cannot be a model: rename the column",
                file=predictions.source,
                column=model,
            )


def remark(source: Source, options: Options, predictions: Predictions | Evaluation, *, whole_range: bool) -> None:
    """Say on stderr what was assumed, and what was left out."""
    if whole_range:
        note(
            "no range of thresholds was given, so all count, from 0 to 1. That is seldom what is meant: name the "
            "plausible ones, for example --costs 0.02:0.10"
        )
    if source.models is None:
        note(f"models taken: {_listed(predictions.models)} (every other numeric column; --models names others)")
    if predictions.n_dropped:
        rows = predictions.n_rows + predictions.n_dropped
        note(f"{predictions.n_dropped:,} of {rows:,} rows dropped, for a value is missing")
    if options.rule == "optimal":
        note("--rule optimal is fitted to these same rows: the costs are optimistic and have no intervals")


def _tell_bound(evaluation: Evaluation, cells: int) -> None:
    """Say what pooling the scores may have changed."""
    tables = [*evaluation.score_tables, *(row.count() for row in evaluation.groups)]
    bounds = [table.error_bound(evaluation.costs, evaluation.rule) for table in tables]
    bound = f"{max(bounds) * evaluation.factor:.2g} (--resolution exact counts every score)"
    exact = "costs, differences and their intervals do not change; an average cost read from the cells"
    if evaluation.groups:
        groups = "costs and intervals of groups come from the cells, and an average cost read from them"
        exact = f"costs, differences and their intervals over all rows do not change; {groups}"
    what = "an average cost" if evaluation.pairs is None else exact
    told = f"{what} is off by at most {bound}"
    note(f"scores were pooled into {cells:,} cells: {told}")


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(short_names(names).values())


# What the commands that judge predictions share: read the file, let the library judge, and head the output.

_MANY, _CELLS = 1_000_000, 8192  # rows above which scores are pooled, and into how many cells
# bytes that a number of a row takes while it is judged, and where rows were followed; from where on a note says so
_BYTES, _FOLLOWED, _REPORTED = 75, 115, 1 << 29
_KEYWORD = re.compile(r"\b(\w+)=(?= )")
_ORDERED = "auto", "memory", "polars"  # which keep the order of the rows of a file
_OPTIONS = {"y_true": "--label"} | {
    each: f"--{each.replace('_', '-')}"
    for each in ("n_tried", "incumbent", "harm", "lags", "event", "cause", "censored", "pos_label")
}
_ARGUMENTS = re.compile(rf"^({'|'.join(_OPTIONS)})\b|\b({'|'.join(_OPTIONS)})=(\w?)")


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """What was asked for, checked before any data are read."""

    source: Source
    options: Options
    delivery: Delivery
    whole_range: bool = False
    horizons: tuple[float, ...] = ()
    engine: str = "auto"
    resolution: int | str = "auto"

    @classmethod
    def of(
        cls,
        reading: InputArguments,
        told: OutcomeArguments,
        judging: EvaluationArguments,
        delivery: Delivery,
        models: list[str] | None,
    ) -> Task:
        """Put together what was typed; ``models`` are the columns, or None for every other numeric one."""
        label, horizons, outcome = told.label(reading.label), told.horizons, told.columns()
        if len(horizons) > 1 and delivery.report is not None:
            raise UsageError("--report is of one --horizon: write one for each")
        amounts = outcome is not None and outcome.by_amount
        if reading.engine != "auto" and reading.file_format is not None:
            raise UsageError("--engine is for Parquet files, and takes no --format")
        options = judging.options(outcome)
        source = Source(
            reading.file,
            label,
            models,
            reading.weight,
            reading.pos_label,
            reading.on_missing,
            reading.file_format,
            options.dividing_columns,
            outcome=outcome,
        )
        cells = read_resolution(reading.resolution)
        if cells not in ("auto", "exact") and outcome is not None and not outcome.streamable:
            raise UsageError("--resolution is of labels and amounts: another outcome needs the rows as they are")
        whole_range = judging.whole_range and not amounts
        return cls(source, options, delivery, whole_range, horizons, reading.engine, cells)

    def read(self) -> Predictions:
        """Read the rows, and say what was assumed of them."""
        with working(f"Reading {name(self.source.file)}"):
            predictions = self.source.read()
        remark(self.source, self.options, predictions, whole_range=self.whole_range)
        return predictions

    def judged(self, doing: str, needing: str = "") -> dict[float, Evaluation]:
        """Evaluate several files, or a large one, where they lie, and all else in memory; by horizon, 0 without one.

        ``needing`` is why the rows are needed for what is asked afterwards.
        """
        from stakes.evaluation import why_rows_are_needed
        from stakes.tables import ENDINGS, scan_parquet

        source = self.source
        frame, pooled = None, isinstance(self.resolution, int)
        if not source.format:
            scanned = pooled and self.engine == "auto" and source.file.lower().endswith(ENDINGS["parquet"])
            engine = "polars" if scanned else self.engine
            frame = scan_parquet(source.file, engine=engine, columns=source.roles, models=source.models)
        if pooled and frame is None:
            raise UsageError("--resolution pools the scores of Parquet files: all others are read and counted whole")
        why = "" if frame is None else needing or why_rows_are_needed(self._asked(), frame)
        if why and pooled:
            raise UsageError(f"--resolution pools the scores of rows that are not held, and {_as_typed(why)} in memory")
        if frame is not None and not why:
            return {0.0: self._scanned(frame, doing)}
        predictions = self.read() if frame is None else self._gathered(frame, why)
        with working(f"{doing} {len(predictions.models)} models on {predictions.n_rows:,} rows"):
            return {time: self.evaluate(self._at(predictions, time)) for time in self.horizons or (0.0,)}

    def unseen(self) -> list[Check]:
        """Findings that are not looked for where the rows, of labels or with amounts, are not kept."""
        from stakes.evaluation import FINDINGS

        clustered, by_amount = self.options.clusters is not None, self.source.outcome is not None
        return [each for each in FINDINGS.values() if each.needs_rows(clustered=clustered, by_amount=by_amount)]

    def _at(self, predictions: Predictions, horizon: float) -> Predictions:
        """The same rows with their outcome at another horizon."""
        from stakes.outcomes import TimeToEvent

        if not isinstance(predictions.outcome, TimeToEvent):
            return predictions
        try:
            return replace(predictions, outcome=predictions.outcome.at(horizon))
        except ValueError as error:
            raise DataError(str(error).removesuffix("."), file=predictions.source) from None

    def _asked(self) -> Options:
        """The options, with the columns of an outcome."""
        return replace(self.options, outcome=self.source.outcome)

    def _gathered(self, frame: Any, why: str) -> Predictions:
        """Take the rows of several files, or of a large one, into memory."""
        from stakes.tables import frame_columns

        source = self.source
        if self.options.lags is not None and (self.engine not in _ORDERED or not Path(source.file).is_file()):
            rows = "rows of several files" if self.engine in _ORDERED else f"rows read by {self.engine}"
            raise DataError(f"{rows} have no order that lags could follow", file=source.file)
        self._check_memory(frame, why)
        what: dict[str, Any] = {
            key: getattr(source, key) for key in ("label", "models", "weight", "pos_label", "groups")
        }
        try:
            found = frame_columns(frame, **what, on_missing=source.on_missing, outcome=source.outcome)  # type: ignore[arg-type]
        except DataError as error:
            error.file = source.file
            raise
        predictions = replace(found, source=source.file)
        remark(source, self.options, predictions, whole_range=self.whole_range)
        return predictions

    def _check_memory(self, frame: Any, why: str) -> None:
        """Say before the rows of a lazy frame are read that they must be, and refuse more than this machine holds."""
        from stakes.tables import count_rows

        (rows, columns), held = count_rows(frame), physical_memory()
        if self.source.models is not None:
            columns = len({*self.source.models, *self.source.roles})
        needed = rows * columns * (_FOLLOWED if self.horizons else _BYTES)
        if needed < _REPORTED:
            return
        said = f"{_as_typed(why)} in memory: {rows:,} rows take about {needed / 1e9:.1f} GB"
        remedy = "some of the files, or a sample of the rows, take less"
        if held is not None and needed > held:
            raise DataError(f"{said}, and this machine has {held / 1e9:.1f} GB: {remedy}", file=self.source.file)
        note(f"{said}; {remedy}")

    def _cells(self, frame: Any) -> int | None:
        """How many cells the scores of a lazy frame are pooled into."""
        from stakes.tables import count_rows

        if isinstance(self.resolution, int):
            return self.resolution
        exact = self.resolution == "exact" or self.options.rule == "optimal"
        return None if exact or count_rows(frame)[0] <= _MANY else _CELLS

    def _scanned(self, frame: Any, doing: str) -> Evaluation:
        """Evaluate a lazy frame, whose rows are not kept."""
        from stakes.evaluation import evaluate_frame

        source, options = self.source, self._asked()
        asked = {field.name for field in fields(options)} & signature(evaluate_frame).parameters.keys()
        what: dict[str, Any] = {key: getattr(options, key) for key in asked}
        what |= {key: getattr(source, key) for key in ("label", "models", "weight", "pos_label", "on_missing")}
        if options.outcome is not None:  # amounts, for which per= is the number of rows of money
            what["per"] = options.money_per
        with working(f"{doing} {name(source.file)}"):
            try:
                cells = self._cells(frame)
                found = evaluate_frame(frame, **what, resolution=cells)
            except DataError as error:
                error.file = source.file
                raise
            except ValueError as error:  # columns that the rows do not bear
                said = str(error).removesuffix(".")
                column = options.clusters if said.startswith("clusters") else None
                raise DataError(said, file=source.file, column=column) from None
        evaluation = self._about(found, source.file)
        remark(source, options, evaluation, whole_range=self.whole_range)
        if evaluation.rows is None:
            codes = [check.code for check in self.unseen()]
            parts = ["what is said of single thresholds", *([f"some findings ({', '.join(codes)})"] if codes else [])]
            parts += ["intervals of areas and of calibration over clusters"] if evaluation.clusters_unseen else []
            note(f"the rows are not kept in memory: {join(parts)} need{'' if codes else 's'} them")
        if cells is not None:
            _tell_bound(evaluation, cells)
        return evaluation

    def _about(self, evaluation: Evaluation, file: str | None) -> Evaluation:
        """Name the file and its columns."""
        known = {"label": self.source.label, "weight": self.source.weight or ""}
        return replace(evaluation, source=file, provenance=known)

    def evaluate(self, predictions: Predictions) -> Evaluation:
        """Let the library judge; columns and lags that the rows do not bear are bad data."""
        from stakes.evaluation import check_groups, divided, evaluate_predictions
        from stakes.inference import check_contest
        from stakes.variance.dependence import check_dependence

        options, n_rows = divided(predictions, self.options), len(predictions.y)
        try:
            check_groups(options, n_rows)
            check_dependence(options.clusters, options.lags, n_rows)
            check_contest(predictions.models, options.incumbent, options.n_tried)
            options.check_harmed(predictions.models)
        except ValueError as error:
            said = with_options(str(error).rstrip("."))
            raise DataError(said, file=predictions.source, column=self.options.clusters) from None
        try:
            asked = replace(self.options, pos_label=self.source.pos_label, sample_weight=self.source.weight)
            return self._about(evaluate_predictions(predictions, asked), predictions.source)
        except DataError as error:
            error.file = predictions.source
            raise
        except ValueError as error:
            if predictions.outcome is None:
                raise
            raise DataError(str(error).rstrip("."), file=predictions.source) from None


def with_options(message: str) -> str:
    """Write arguments that a message names as options, where it does not name the options itself."""

    def option(found: re.Match[str]) -> str:
        value = f" {found[3]}" if found[3] else ""
        return _OPTIONS[found[1] or found[2]] + value

    return message if "--" in message else _ARGUMENTS.sub(option, message)


def _as_typed(why: str) -> str:
    """The reason with arguments as they are written on the command line."""
    return _KEYWORD.sub(lambda found: f"--{found[1].replace('_', '-')}", why)


# One answer for each horizon, in one file or page.


@dataclass(frozen=True, eq=False, repr=False)
class ByHorizon(Tabular):
    """Answers by horizon, and how each becomes JSON."""

    answers: Mapping[float, Tabular]
    json_of: Callable[[Any], str]

    def _records(self) -> list[dict[str, Any]]:
        return [{"horizon": time, **record} for time, answer in self.answers.items() for record in answer._records()]

    def _content(self) -> dict[str, Any]:
        """A list of answers, each with its horizon."""
        found = {time: json.loads(self.json_of(answer)) for time, answer in self.answers.items()}
        one = {time: answer[0] if isinstance(answer, list) else answer for time, answer in found.items()}
        return {"horizons": [{"horizon": time, **answer} for time, answer in one.items()]}

    def show(self, console: Console, one: Callable[[Console, float], None]) -> None:
        """Print one answer after the other."""
        for number, time in enumerate(self.answers):
            console.print(Text(f"{chr(10) * (number > 0)}Horizon {time:g}", style="bold"), end="\n\n")
            one(console, time)
