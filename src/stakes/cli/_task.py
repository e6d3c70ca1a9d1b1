"""What the commands that judge predictions share: read the file, let the library judge, and head the output."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from stakes.cli._console import note, working
from stakes.cli._errors import UsageError
from stakes.cli._source import Source, describe, remark
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from stakes.cli._deliver import Delivery
    from stakes.cli._judging import Judging, Reading
    from stakes.cli._outcomes import Told
    from stakes.core.options import Options
    from stakes.evaluation import Evaluation
    from stakes.tables import Predictions

_OPTIONS = {"n_tried": "--tried", "incumbent": "--incumbent", "harm": "--harm"}
_ARGUMENTS = re.compile(rf"^({'|'.join(_OPTIONS)})\b")


_ASKED = (
    *("costs", "rule", "scale", "prevalence", "confidence_level", "unit_cost", "per", "metrics", "harm"),
    *("groups", "clusters", "incumbent", "n_tried"),
)


@dataclass(frozen=True)
class Task:
    """What was asked for, checked before any data are read."""

    source: Source
    options: Options
    delivery: Delivery
    whole_range: bool = False
    horizons: tuple[float, ...] = ()
    engine: str = "auto"

    @classmethod
    def of(cls, reading: Reading, told: Told, judging: Judging, delivery: Delivery, models: list[str] | None) -> Task:
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
        return cls(source, options, delivery, judging.whole_range and not amounts, horizons, reading.engine)

    def read(self) -> Predictions:
        """Read the rows, and say what was assumed of them."""
        with working(f"Reading {name(self.source.file)}"):
            predictions = self.source.read()
        listed = self.delivery.prints_text
        remark(self.source, self.options, predictions, listed=listed, whole_range=self.whole_range)
        return predictions

    def judged(self, doing: str) -> dict[float, Evaluation]:
        """Evaluate several files, or a large one, where they lie, and all else in memory; by horizon, 0 without one."""
        from stakes.tables import scan_parquet

        source = self.source
        frame = None
        if not source.format:
            frame = scan_parquet(source.file, engine=self.engine, columns=source.roles, models=source.models)
        if frame is not None and self.source.outcome is None:
            return {0.0: self._scanned(frame, doing)}
        predictions = self.read() if frame is None else self._gathered(frame)
        with working(f"{doing} {len(predictions.models)} models on {predictions.n_rows:,} rows"):
            return {time: self.evaluate(self._at(predictions, time)) for time in self.horizons or (0.0,)}

    def _at(self, predictions: Predictions, horizon: float) -> Predictions:
        """The same rows with their outcome at another horizon."""
        from stakes.outcomes import TimeToEvent
        from stakes.tables import DataError

        if not isinstance(predictions.outcome, TimeToEvent):
            return predictions
        try:
            return replace(predictions, outcome=predictions.outcome.at(horizon))
        except ValueError as error:
            raise DataError(str(error).removesuffix("."), file=predictions.source) from None

    def _gathered(self, frame: Any) -> Predictions:
        """Take the rows of several files, or of a large one, into memory."""
        from stakes.tables import DataError, frame_columns

        source = self.source
        what: dict[str, Any] = {
            key: getattr(source, key) for key in ("label", "models", "weight", "pos_label", "groups")
        }
        try:
            found = frame_columns(frame, **what, on_missing=source.on_missing, outcome=source.outcome)  # type: ignore[arg-type]
        except DataError as error:
            error.file = source.file
            raise
        predictions = replace(found, source=source.file)
        remark(source, self.options, predictions, listed=self.delivery.prints_text, whole_range=self.whole_range)
        return predictions

    def _scanned(self, frame: Any, doing: str) -> Evaluation:
        """Evaluate a lazy frame; what an engine cannot say of clusters takes the rows into memory."""
        from stakes.evaluation import evaluate_frame
        from stakes.tables import DataError, in_memory, why_clusters_need_rows

        source, options = self.source, self.options
        if options.lags is not None:
            raise DataError("rows of several files have no order that lags could follow", file=source.file)
        what: dict[str, Any] = {key: getattr(options, key) for key in _ASKED}
        what |= {key: getattr(source, key) for key in ("label", "models", "weight", "pos_label", "on_missing")}
        with working(f"{doing} {name(source.file)}"):
            try:
                if options.clusters is not None and why_clusters_need_rows(options.costs, options.rule, options.groups):
                    frame = in_memory(frame)
                found = evaluate_frame(frame, **what)
            except DataError as error:
                error.file = source.file
                raise
            except ValueError as error:  # columns that the rows do not bear
                said = str(error).removesuffix(".")
                column = options.clusters if said.startswith("clusters") else None
                raise DataError(said, file=source.file, column=column) from None
        evaluation = replace(found, source=source.file)
        listed = self.delivery.prints_text
        remark(source, options, evaluation, listed=listed, whole_range=self.whole_range)
        if evaluation.rows is None:
            and_areas = ", and so do intervals of areas and of calibration over clusters"
            needing = f"some findings needs them{and_areas if evaluation.clusters_unseen else ''}"
            note(f"the rows are not kept in memory: what is said of single thresholds and {needing}")
        return evaluation

    def heading(self, evaluation: Evaluation) -> list[str]:
        """Head the output with the rows, the share of positives and the models."""
        return describe(self.source, self.options, evaluation)

    def evaluate(self, predictions: Predictions) -> Evaluation:
        """Let the library judge; columns and lags that the rows do not bear are bad data."""
        from stakes.evaluation._evaluate import divided, evaluate_predictions
        from stakes.evaluation._group_labels import check_groups
        from stakes.inference import check_contest
        from stakes.inference._dependence import check_dependence
        from stakes.tables import DataError

        options, n_rows = divided(predictions, self.options), len(predictions.y)
        try:
            check_groups(options, n_rows)
            check_dependence(options.clusters, options.lags, n_rows)
            check_contest(predictions.models, options.incumbent, options.n_tried)
            options.check_harmed(predictions.models)
        except ValueError as error:
            said = _ARGUMENTS.sub(lambda found: _OPTIONS[found[0]], str(error).rstrip("."))
            raise DataError(said, file=predictions.source, column=self.options.clusters) from None
        try:
            return evaluate_predictions(predictions, self.options)
        except ValueError as error:
            if predictions.outcome is None:
                raise
            raise DataError(str(error).rstrip("."), file=predictions.source) from None
