"""Files of predictions: CSV, Parquet, Arrow and JSON lines, from a path or from standard input."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from stakes.core.validation import check_choice
from stakes.tables._content import Content
from stakes.tables._csv import CsvFile
from stakes.tables._jsonl import JsonFile
from stakes.tables._roles import choose_roles
from stakes.tables._rows import ON_MISSING, OnMissing, Predictions, clean_rows
from stakes.tables._table import Gathered
from stakes.tables._typed import TypedFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stakes.core.outcome import Columns
    from stakes.tables._table import Table


def open_table(path: str | os.PathLike[str], stated: str | None, wanted: str, *, survey: bool = False) -> Table:
    """Open a file of rows in the format stated, or in that which it shows; the name of one column helps to tell.

    A survey learns the names of columns that first appear in late rows.
    """
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"path must name a file, got {type(path).__name__}: frame_columns takes data frames.")
    if not find_spec("polars"):
        raise ImportError("reading files needs polars: pip install 'stakes[cli]'")
    content = Content.of(path)
    kind = content.kind(stated)
    if kind == "csv":
        return CsvFile.open(content, wanted)
    if kind != "jsonl":
        return TypedFile(content, kind)
    found = JsonFile(content)
    if survey:
        found.survey()
    return found


def read_predictions(
    path: str | os.PathLike[str],
    *,
    label: str,
    models: Iterable[str] | None = None,
    weight: str | None = None,
    groups: Iterable[str] | None = None,
    pos_label: object = None,
    on_missing: OnMissing = "raise",
    format: str | None = None,  # noqa: A002  (the name that users of every data library know)
    probability: bool = True,
    outcome: Columns | None = None,
) -> Predictions:
    """Read labels and scores of one or many models from a file.

    Parameters
    ----------
    path : str or path
        A CSV (.csv, .tsv, .csv.gz; separated by commas, semicolons or tabs), Parquet, Arrow or JSON lines file,
        or "-" for standard input.
    label : str
        Name of the column with the labels.
    models : iterable of str, optional
        Names of the columns with the models' probabilities; by default every other numeric column that has a name, if
        they are 100 at most.
        In a CSV or JSON lines file a column is numeric if most of its first 1,000 values are.
    weight : str, optional
        Name of the column with weights >= 0; a row of weight zero is as if absent.
    groups : iterable of str, optional
        Names of the columns that divide the rows into groups.
    pos_label : object, optional
        The label of the positive class; text is matched to numeric labels by value.
    on_missing : {"raise", "drop"}, default "raise"
        What to do with rows in which a needed value is missing (empty, null, NA, N/A or NaN).
    format : {"csv", "parquet", "arrow", "jsonl"}, optional
        What the file holds; by default its first bytes, then its name, tell.
    probability : bool, default True
        Whether the models' columns must lie in [0, 1]; otherwise any finite numbers will do.
    outcome : OutcomeColumns, optional
        Which columns say what happened beside the label; see :class:`stakes.outcomes.OutcomeColumns`.

    Returns
    -------
    Predictions

    Raises
    ------
    DataError
        For anything in the file that cannot be evaluated, with the column, row and value.
    ImportError
        If polars is not installed.

    Examples
    --------
    >>> from importlib import resources
    >>> from stakes.tables import read_predictions
    >>> rows = read_predictions(resources.files("stakes") / "data" / "breast_cancer.csv", label="malignant")
    >>> rows.n_rows, rows.models
    (569, ('logistic_regression', 'random_forest', 'naive_bayes'))
    """
    check_choice(on_missing, "on_missing", ON_MISSING)
    table = open_table(path, format, label)
    roles = choose_roles(
        table.names,
        table.numeric,
        label=label,
        models=models,
        weight=weight,
        groups=groups,
        file=table.origin.file,
        probability=probability,
        outcome=outcome,
    )
    hints = {name: roles.hint if name in roles.models else None for name in roles.numbers}
    rows = Gathered.of(table, hints, roles.groups, label)
    return clean_rows(rows, roles, rows.origin, pos_label=pos_label, on_missing=on_missing)
