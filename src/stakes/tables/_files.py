"""Files of predictions: CSV, Parquet, Arrow and JSON lines, from a path or from standard input."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from stakes._validation import check_choice
from stakes.tables._content import Content, file_digest
from stakes.tables._csv import read_csv
from stakes.tables._errors import Origin
from stakes.tables._jsonl import read_jsonl
from stakes.tables._roles import choose_roles
from stakes.tables._rows import ON_MISSING, OnMissing, Predictions, clean_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    import polars as pl

    from stakes.tables._roles import Roles

__all__ = ["file_digest", "read_predictions"]


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
        Names of the columns with the models' probabilities; by default every other numeric column that has a name.
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
    if not find_spec("polars"):
        raise ImportError("reading files needs polars: pip install 'stakes[cli]'")
    content = Content.of(path)
    kind = content.kind(format)
    columns = {"label": label, "models": models, "weight": weight, "groups": groups}
    if kind == "csv":
        frame, roles, origin = read_csv(content, **columns)
    elif kind == "jsonl":
        frame, roles, origin = read_jsonl(content, **columns)
    else:
        frame, roles, origin = _read_binary(content, kind, **columns)
    rows: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
    return clean_rows(rows, roles, origin, pos_label=pos_label, on_missing=on_missing)


def _read_binary(content: Content, kind: str, **columns: Any) -> tuple[pl.DataFrame, Roles, Origin]:
    """Read the needed columns of a typed format."""
    import polars as pl

    origin = Origin(content.name)
    title = {"parquet": "Parquet", "arrow": "Arrow"}[kind]
    try:
        whole = None
        if kind == "parquet":
            schema = pl.read_parquet_schema(content.native)
        elif content.head().startswith(b"ARROW1"):
            schema = pl.read_ipc_schema(content.native)
        else:  # the streaming form of the format can only be read from end to end
            whole = pl.read_ipc_stream(content.native)
            schema = whole.schema
        numeric = [name for name, dtype in schema.items() if dtype.is_numeric()]
        roles = choose_roles(list(schema), numeric, file=content.name, **columns)
        used = list(roles.used)
        if whole is not None:
            return whole.select(used), roles, origin
        if kind == "arrow":
            return pl.read_ipc(content.native, columns=used), roles, origin
        return pl.read_parquet(content.native, columns=used), roles, origin
    except pl.exceptions.DuplicateError:
        raise origin.error("column names must be distinct, one occurs more than once") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise origin.error(f"cannot be read as {title}: {reason}") from None
