"""The predictions of one run: read, refused where they cannot be judged, and described."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from stakes.cli._console import note
from stakes.shown.text import shown_name as name
from stakes.shown.words import percent

if TYPE_CHECKING:
    from stakes.core.options import Options
    from stakes.core.outcome import Columns
    from stakes.evaluation import Evaluation
    from stakes.tables import Predictions

STANDARD_INPUT = "-"
_LONGEST_LIST = 60


@dataclass(frozen=True)
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
    outcome: Columns | None = None

    @property
    def roles(self) -> list[str]:
        """Names of the columns that are read beside the models."""
        outcome = () if self.outcome is None else (*self.outcome.numbers, *self.outcome.groups)
        return [self.label, *([] if self.weight is None else [self.weight]), *(self.groups or ()), *outcome]

    def read(self, *, one_class: bool = False) -> Predictions:
        """Read the rows; one class alone is refused where it cannot show what a model is worth."""
        from stakes.tables import read_predictions

        if self.file == STANDARD_INPUT and sys.stdin.isatty():
            note("reading predictions from the terminal; Ctrl-D ends them")
        options = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "file"}
        predictions = read_predictions(self.file, **options)
        if not one_class:
            _refuse_one_class(predictions, self.label)
        _refuse_reserved_names(predictions)
        return predictions


def _refuse_one_class(predictions: Predictions, label: str) -> None:
    from stakes.tables import DataError

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
    from stakes.shown.sentences import REFERENCES
    from stakes.tables import DataError

    for model in predictions.models:
        if model in REFERENCES:
            raise DataError(
                "is the name of a reference and cannot be a model: rename the column",
                file=predictions.source,
                column=model,
            )


def remark(
    source: Source, options: Options, predictions: Predictions | Evaluation, *, listed: bool, whole_range: bool
) -> None:
    """Say on stderr what was assumed, and what was left out."""
    if whole_range:
        note(
            "no range of thresholds was given, so all count, from 0 to 1. That is seldom what is meant: name the "
            "plausible ones, for example --costs 0.02:0.10"
        )
    if source.models is None and not listed:
        note(f"models taken: {_listed(predictions.models)} (every other numeric column; --models names others)")
    if predictions.n_dropped:
        rows = predictions.n_rows + predictions.n_dropped
        note(f"{predictions.n_dropped:,} of {rows:,} rows dropped, for a value is missing")
    if options.rule == "optimal":
        note("--rule optimal is fitted to these same rows: the costs are optimistic and have no intervals")


def describe(source: Source, options: Options, evaluation: Evaluation) -> list[str]:
    """Head the output with the rows, the share of positives and the models."""
    share, what = percent(evaluation.prevalence), "of it on positives" if evaluation.options.per_stake else "positive"
    positive = f"{share} {what} in {name(source.label)!r}"
    if options.prevalence is not None:
        pairs = evaluation.pairs
        ups = evaluation.moments.rows[1] if pairs is None else int(pairs.rows[1])
        ups = ups if evaluation.rows is None else int(evaluation.rows.y.sum())
        positive = f"{ups:,} positive in {name(source.label)!r}, reweighted to {share}"
    weighted = "" if source.weight is None else f", weighted by {name(source.weight)!r}"
    automatic = " (every other numeric column; --models names others)" if source.models is None else ""
    count = len(evaluation.models)
    rows = f"{evaluation.data_line}; " if evaluation.data_line else f"{evaluation.n_rows:,} rows, "
    return [
        f"{name(evaluation.source or source.file, _LONGEST_LIST)}: {rows}{positive}{weighted}",
        f"{count} model{'s' * (count != 1)}: {_listed(evaluation.models)}{automatic}",
    ]


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(name, names))
